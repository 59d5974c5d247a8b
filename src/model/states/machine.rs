//! A checked machine of states: every name is an index, and every way is known.

use super::{
    Choice, Entering, LONGEST_TRANSITION, MOST_CLIPS, MOST_LEVELS, MOST_STATES, Speed, StateError,
    StateProblem,
};
#[cfg(doc)]
use super::{Exit, Then};
use std::{sync::Arc, time::Duration};

/// States and the ways between them, checked and ready to run.
///
/// States inside states are laid flat: `"combat/aim"` is a state like any other, and `"combat"` stands for the one in which
/// it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct StateMachine {
    states: Vec<MachineState>,
    start: usize,
    /// Outer states, with the inner one in which each begins, by name.
    groups: Vec<(Arc<str>, usize)>,
    /// For each pair of states, the first step on the shortest way from one to the other, or `NO_WAY`.
    steps: Vec<u8>,
    warnings: Vec<StateError>,
}

const NO_WAY: u8 = u8::MAX;

/// A state of a `StateMachine`.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineState {
    /// Its full name.
    pub name: Arc<str>,
    /// The clips or blend spaces of which one plays. If there are none, nothing plays.
    pub plays: Vec<Arc<str>>,
    /// Rule for choosing one of them.
    pub choose: Choice,
    /// Speed of what plays.
    pub speed: Speed,
    /// Moments at which the game may leave it.
    pub exit: Opening,
    /// State that follows by itself.
    pub then: Option<Successor>,
    /// Transition into the state, used where the way to it doesn't name another.
    pub entry: Entry,
    /// Ways that the game may take from here, in the order of the states they lead to.
    pub ways: Vec<Way>,
}

/// Moments at which the game may leave a state. See [`Exit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    /// At any time.
    Anytime,
    /// From a callback key on, or inside a range.
    Key(Arc<str>),
    /// At the end.
    End,
    /// Never.
    Never,
}

/// State that follows another by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Successor {
    /// The state of an index.
    State(usize, Entry),
    /// The state that was interrupted.
    Back,
}

/// A way from one state to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    /// The index of the other state.
    pub to: usize,
    /// The transition.
    pub entry: Entry,
    /// If `true`, it may be taken even while the exit is closed.
    pub interrupts: bool,
}

/// A transition into a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Switch or cross-fade.
    pub kind: TransitionKind,
    /// Length of the transition.
    pub duration: Duration,
    /// If `true`, the clip starts at the same fraction of its length as the clip before.
    pub in_phase: bool,
    /// Start of the clip if it isn't in phase, in seconds, ≥ 0.
    pub at: f64,
}

/// The kind of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionKind {
    /// The new clip takes over at once, and the offset from the old pose decays.
    Switch,
    /// The clips fade into each other.
    Fade,
}

impl StateMachine {
    /// The most states of a machine.
    pub const MOST_STATES: usize = MOST_STATES;
    /// The most clips that one state chooses from.
    pub const MOST_CLIPS: usize = MOST_CLIPS;
    /// The most levels of nested states.
    pub const MOST_LEVELS: usize = MOST_LEVELS;
    /// The longest transition, in seconds.
    pub const LONGEST_TRANSITION: f64 = LONGEST_TRANSITION;

    /// Makes a machine of states whose ways are known one by one.
    pub(super) fn of(
        states: Vec<MachineState>,
        start: usize,
        groups: Vec<(Arc<str>, usize)>,
        warnings: Vec<StateError>,
    ) -> Self {
        let mut machine = Self {
            states,
            start,
            groups,
            steps: Vec::new(),
            warnings,
        };
        machine.find_ways();
        let odd = machine.oddities();
        machine.warnings.extend(odd);
        machine.warnings.truncate(StateError::MOST);
        machine
    }

    /// Makes a machine of states of which only the names are known, such as those of a saved game whose character isn't
    /// loaded yet. Nothing plays, and there are no ways.
    pub(crate) fn of_names(names: impl IntoIterator<Item = Arc<str>>) -> Self {
        let states = names.into_iter().map(|name| MachineState {
            name,
            plays: Vec::new(),
            choose: Choice::default(),
            speed: Speed::default(),
            exit: Opening::Anytime,
            then: None,
            entry: Entry::of(Entering::default()),
            ways: Vec::new(),
        });
        Self {
            states: states.collect(),
            start: 0,
            groups: Vec::new(),
            steps: Vec::new(),
            warnings: Vec::new(),
        }
    }

    pub(super) fn states_mut(&mut self) -> &mut [MachineState] {
        &mut self.states
    }

    pub(super) fn forget_warnings(&mut self) {
        self.warnings.clear();
    }

    /// Returns the states, in the order of their names.
    pub fn states(&self) -> &[MachineState] {
        &self.states
    }

    /// Returns the index of the state in which a character begins.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Returns the index of the state with this name. The name of an outer state means the inner one in which it begins.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        let state = self.states.iter().position(|state| &*state.name == name);
        state.or_else(|| {
            let group = self.groups.iter().find(|(group, _)| &**group == name)?;
            Some(group.1)
        })
    }

    /// Returns the name of a state that was probably meant by one that doesn't exist.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        crate::spelling::nearest(name, self.names())
    }

    /// Returns the index of the first state on the shortest way from one state to another; `None` if there is no way.
    ///
    /// A way is made of steps that the game may take and of those that a state takes by itself. [`Then::Back`] is not
    /// among them, because where it leads isn't known in advance.
    pub fn step(&self, from: usize, to: usize) -> Option<usize> {
        let step = *self.steps.get(from * self.states.len() + to)?;
        (step != NO_WAY).then_some(step.into())
    }

    /// Returns what is odd, but doesn't keep the machine from running: states that are never reached or never left.
    pub fn warnings(&self) -> &[StateError] {
        &self.warnings
    }

    /// Returns the names of all states, and those of states around others.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        let groups = self.groups.iter().map(|(name, _)| &**name);
        self.states.iter().map(|state| &*state.name).chain(groups)
    }

    /// Finds the shortest ways, breadth first from each state.
    fn find_ways(&mut self) {
        let count = self.states.len();
        self.steps = vec![NO_WAY; count * count];
        let mut reached = Vec::new();
        for from in 0..count {
            let row = from * count;
            reached.clear();
            reached.push(from);
            let mut next = 0;
            while let Some(&at) = reached.get(next) {
                next += 1;
                for to in self.states[at].next() {
                    let seen = to == from || self.steps[row + to] != NO_WAY;
                    if !seen {
                        self.steps[row + to] = match at {
                            _ if at == from => to as u8,
                            _ => self.steps[row + at],
                        };
                        reached.push(to);
                    }
                }
            }
            // From a state to itself, where it may be entered again.
            if self.states[from].ways.iter().any(|way| way.to == from) {
                self.steps[row + from] = from as u8;
            }
        }
    }

    fn oddities(&self) -> Vec<StateError> {
        let all = 0..self.states.len();
        let leads = |from: usize, to: usize| self.step(from, to).is_some();
        let unreachable = (all.clone())
            .filter(|&state| state != self.start && !leads(self.start, state))
            .map(|state| (state, StateProblem::Unreachable));
        // From these, no way leads on, or only round and round. What goes back leads nowhere else.
        let goes_back = |state: usize| self.states[state].then == Some(Successor::Back);
        let stuck = all.clone().filter_map(|at| {
            let reached = all.clone().filter(|&to| to != at && leads(at, to));
            let (back, others): (Vec<usize>, Vec<usize>) = reached.partition(|&to| goes_back(to));
            let is_closed = others.iter().all(|&to| leads(to, at));
            let is_first = others.iter().all(|&to| to > at);
            let is_all = back.len() + others.len() + 1 == self.states.len();
            if goes_back(at) || !is_closed || !is_first || is_all {
                return None;
            }
            let has =
                |holds: &dyn Fn(usize) -> bool| holds(at) || others.iter().any(|&to| holds(to));
            // If it begins there, the others are those that can't be reached.
            let is_start = !others.is_empty() && has(&|state| state == self.start);
            let is_meant = has(&|state| self.states[state].exit == Opening::Never);
            if is_start || is_meant {
                return None;
            }
            let names = others.iter().map(|&to| self.states[to].name.to_string());
            let problem = match others.len() {
                0 => StateProblem::DeadEnd,
                _ => StateProblem::Circle(names.collect()),
            };
            Some((at, problem))
        });
        unreachable
            .chain(stuck)
            .take(StateError::MOST)
            .map(|(at, problem)| StateError::new(&*self.states[at].name, problem))
            .collect()
    }
}

impl MachineState {
    /// Returns the way to another state.
    pub fn way_to(&self, to: usize) -> Option<&Way> {
        let at = self.ways.binary_search_by_key(&to, |way| way.to);
        at.ok().map(|at| &self.ways[at])
    }

    /// The states that may follow: those that the game may go to, and the one that follows by itself.
    pub(super) fn next(&self) -> impl Iterator<Item = usize> {
        let then = match self.then {
            Some(Successor::State(to, _)) => Some(to),
            _ => None,
        };
        self.ways.iter().map(|way| way.to).chain(then)
    }
}

impl Entry {
    /// Length of a switch that isn't given one, in seconds.
    const DEFAULT_SWITCH: f64 = 0.2;

    pub(super) fn of(entering: Entering) -> Self {
        let (kind, seconds) = match entering.fade {
            Some(fade) => (TransitionKind::Fade, fade),
            None => (
                TransitionKind::Switch,
                entering.switch.unwrap_or(Self::DEFAULT_SWITCH),
            ),
        };
        Self {
            kind,
            duration: Duration::try_from_secs_f64(seconds).unwrap_or_default(),
            in_phase: entering.in_phase.unwrap_or(false),
            at: entering.at.unwrap_or(0.0),
        }
    }
}
