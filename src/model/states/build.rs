//! States as they are written down → a machine: everything is checked, and names become indices.

use super::{
    Entering, Entry, Exit, MachineState, Opening, Origins, Speed, State, StateError, StateMachine,
    StateProblem, Successor, Then, Way,
};
use std::{collections::BTreeMap, ops::Range};

impl StateMachine {
    /// Checks states and makes a machine of them.
    ///
    /// # Errors
    /// All that is wrong, each with the state it is about. What is only odd is among the [warnings](Self::warnings).
    pub fn new(states: &BTreeMap<String, State>) -> Result<Self, Vec<StateError>> {
        let mut builder = Builder::default();
        let start = builder.add(states, "", &Exit::Anytime, Entering::default(), 1);
        if !builder.errors.is_empty() {
            // Without all states and their starts, names cannot be resolved.
            return Err(builder.errors);
        }
        builder.link(start)
    }
}

/// A state that has none inside, as it is written down.
struct Flat<'s> {
    name: String,
    state: &'s State,
    /// Its own, or that of the state around it.
    exit: &'s Exit,
    entering: Entering,
}

/// A state that has others inside.
struct Group<'s> {
    name: String,
    state: &'s State,
    inside: Range<usize>,
    /// The one inside in which it begins.
    start: usize,
}

/// States on their way to a machine.
#[derive(Default)]
struct Builder<'s> {
    flat: Vec<Flat<'s>>,
    groups: Vec<Group<'s>>,
    errors: Vec<StateError>,
    warnings: Vec<StateError>,
}

impl<'s> Builder<'s> {
    /// Adds states and those inside them. Returns the index of the one that a character begins in.
    fn add(
        &mut self,
        states: &'s BTreeMap<String, State>,
        scope: &str,
        exit: &'s Exit,
        entering: Entering,
        level: usize,
    ) -> usize {
        let mut starts = Vec::new();
        for (name, state) in states {
            let full = join(scope, name);
            if self.flat.len() >= StateMachine::MOST_STATES {
                self.wrong(full, StateProblem::TooMany);
                break;
            }
            if name.is_empty() || name.contains('/') || ["Any", "Back"].contains(&name.as_str()) {
                self.wrong(full.clone(), StateProblem::BadName);
            }
            self.check(&full, state);
            // States inside inherit the exit of the one around them.
            let exit = if state.exit == Exit::Anytime {
                exit
            } else {
                &state.exit
            };
            let entering = Entering::of(state).or(entering);
            let first = self.flat.len();
            let begins_in = if state.states.is_empty() {
                self.flat.push(Flat {
                    name: full,
                    state,
                    exit,
                    entering,
                });
                first
            } else if level >= StateMachine::MOST_LEVELS {
                self.wrong(full, StateProblem::TooDeep);
                continue;
            } else {
                // States inside come one after the other, so a group is a range.
                let start = self.add(&state.states, &full, exit, entering, level + 1);
                self.groups.push(Group {
                    name: full,
                    state,
                    inside: first..self.flat.len(),
                    start,
                });
                start
            };
            if state.start {
                starts.push(begins_in);
            }
        }
        match *starts.as_slice() {
            [start] => return start,
            [] => self.wrong(scope.to_owned(), StateProblem::NoStart),
            _ => self.wrong(scope.to_owned(), StateProblem::SeveralStarts),
        }
        // There is an error, so nothing is built from this.
        0
    }

    fn wrong(&mut self, state: String, problem: StateProblem) {
        if self.errors.len() < StateError::MOST {
            self.errors.push(StateError::new(state, problem));
        }
    }

    /// Checks what a state says of itself.
    fn check(&mut self, name: &str, state: &State) {
        let mut wrong = |problem| self.wrong(name.to_owned(), problem);
        let clips = state.plays.len();
        let has_clips = clips > 0;
        if clips > StateMachine::MOST_CLIPS {
            wrong(StateProblem::TooManyClips(clips));
        }
        if !state.states.is_empty() && (has_clips || state.then.is_some()) {
            wrong(StateProblem::PlaysAndStates);
        }
        let lasts = !has_clips || state.speed == Speed::Fixed(0.0);
        if state.states.is_empty() && lasts && (state.then.is_some() || state.exit == Exit::End) {
            wrong(StateProblem::NeverEnds);
        }
        match &state.speed {
            Speed::Fixed(value) if !value.is_finite() => wrong(StateProblem::BadNumber {
                field: "speed",
                value: *value,
            }),
            Speed::Named(name) if name.is_empty() => wrong(StateProblem::NamelessSpeed),
            _ => {}
        }
        let mut entering = vec![Entering::of(state)];
        if let Origins::These(these) = &state.from {
            entering.extend(these.values());
        }
        for entering in entering {
            let times = [
                ("switch", entering.switch),
                ("fade", entering.fade),
                ("at", entering.at),
            ];
            for (field, value) in times {
                let most = StateMachine::LONGEST_TRANSITION;
                if let Some(value) = value.filter(|value| !(0.0..=most).contains(value)) {
                    wrong(StateProblem::BadNumber { field, value });
                }
            }
            if entering.switch.is_some() && entering.fade.is_some() {
                wrong(StateProblem::SwitchAndFade);
            }
        }
    }

    /// Resolves names.
    fn link(mut self, start: usize) -> Result<StateMachine, Vec<StateError>> {
        let states = self.flat.iter().map(|flat| MachineState {
            name: flat.name.as_str().into(),
            plays: flat
                .state
                .plays
                .iter()
                .map(|name| name.as_str().into())
                .collect(),
            choose: flat.state.choose,
            speed: flat.state.speed.clone(),
            exit: Opening::of(flat.exit),
            then: None,
            entry: Entry::of(flat.entering),
            ways: Vec::new(),
        });
        let mut states: Vec<MachineState> = states.collect();
        // Groups come first: a way to a state replaces one to the group that begins in it.
        for group in 0..self.groups.len() {
            let Group {
                name,
                state,
                inside,
                start,
            } = &self.groups[group];
            let (name, inside) = (name.clone(), inside.clone());
            self.link_ways(&mut states, *start, &name, state, inside);
        }
        for at in 0..self.flat.len() {
            let Flat { name, state, .. } = &self.flat[at];
            let name = name.clone();
            self.link_ways(&mut states, at, &name, state, 0..0);
        }
        // After the ways, because a successor is entered by the way to it, if there is one.
        for at in 0..self.flat.len() {
            let Flat { name, state, .. } = &self.flat[at];
            states[at].then = match &state.then {
                None => None,
                Some(Then::Back) => Some(Successor::Back),
                Some(Then::State(to)) => match self.resolve(to, scope_of(name)) {
                    Some(found) => {
                        let to = found.start;
                        let entry = states[at]
                            .way_to(to)
                            .map_or(states[to].entry, |way| way.entry);
                        Some(Successor::State(to, entry))
                    }
                    None => {
                        let (state, to) = (name.clone(), to.clone());
                        self.unknown(state, "then", to);
                        None
                    }
                },
            };
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let groups = self.groups.iter();
        let groups = groups.map(|group| (group.name.as_str().into(), group.start));
        let groups = groups.collect();
        Ok(StateMachine::of(states, start, groups, self.warnings))
    }

    /// Adds the ways that lead to a state. What is `inside` it doesn't count among any others.
    fn link_ways(
        &mut self,
        states: &mut [MachineState],
        to: usize,
        name: &str,
        state: &State,
        inside: Range<usize>,
    ) {
        let entering = Entering::of(state).or(self.flat[to].entering);
        match &state.from {
            Origins::None => {}
            Origins::Any => {
                let way = Way {
                    to,
                    entry: Entry::of(entering),
                    interrupts: true,
                };
                // Not even an interruption leaves a state that is never left, such as a death.
                let others = states.iter_mut().enumerate();
                others
                    .filter(|(at, from)| from.exit != Opening::Never && !inside.contains(at))
                    .for_each(|(_, from)| from.add_way(way));
            }
            Origins::These(these) => {
                for (origin, special) in these {
                    let Some(found) = self.resolve(origin, scope_of(name)) else {
                        self.unknown(name.to_owned(), "from", origin.clone());
                        continue;
                    };
                    let way = Way {
                        to,
                        entry: Entry::of(special.or(entering)),
                        interrupts: false,
                    };
                    let mut is_left = false;
                    for from in &mut states[found.all] {
                        if from.exit != Opening::Never {
                            from.add_way(way);
                            is_left = true;
                        }
                    }
                    if !is_left {
                        let problem = StateProblem::NeverLeft(origin.clone());
                        self.warnings.push(StateError::new(name, problem));
                    }
                }
            }
        }
    }

    /// Looks up a name as it is meant inside an outer state: the nearest one, going outward.
    fn resolve(&self, name: &str, scope: &str) -> Option<Found> {
        let mut scope = Some(scope);
        while let Some(inner) = scope {
            let full = join(inner, name);
            if let Some(at) = self.flat.iter().position(|flat| flat.name == full) {
                return Some(Found {
                    start: at,
                    all: at..at + 1,
                });
            }
            if let Some(group) = self.groups.iter().find(|group| group.name == full) {
                return Some(Found {
                    start: group.start,
                    all: group.inside.clone(),
                });
            }
            scope = (!inner.is_empty()).then(|| scope_of(inner));
        }
        None
    }

    fn unknown(&mut self, state: String, field: &'static str, name: String) {
        let known = self.flat.iter().map(|flat| &flat.name);
        let known = known.chain(self.groups.iter().map(|group| &group.name));
        let nearest = crate::spelling::nearest(&name, known.map(String::as_str));
        let nearest = nearest.map(str::to_owned);
        self.wrong(
            state,
            StateProblem::UnknownState {
                field,
                name,
                nearest,
            },
        );
    }
}

/// The states that a name stands for: one state, or all that are inside one.
struct Found {
    start: usize,
    all: Range<usize>,
}

impl MachineState {
    /// Adds a way, in place of another to the same state.
    fn add_way(&mut self, way: Way) {
        match self.ways.binary_search_by_key(&way.to, |way| way.to) {
            Ok(at) => self.ways[at] = way,
            Err(at) => self.ways.insert(at, way),
        }
    }
}

impl Entering {
    fn of(state: &State) -> Self {
        Self {
            switch: state.switch,
            fade: state.fade,
            in_phase: state.in_phase.then_some(true),
            at: (state.at != 0.0).then_some(state.at),
        }
    }

    /// Takes from another what this one leaves open. A switch or a fade stands for both.
    fn or(self, other: Self) -> Self {
        let says_kind = self.switch.is_some() || self.fade.is_some();
        let kind = if says_kind { self } else { other };
        Self {
            switch: kind.switch,
            fade: kind.fade,
            in_phase: self.in_phase.or(other.in_phase),
            at: self.at.or(other.at),
        }
    }
}

impl Opening {
    fn of(exit: &Exit) -> Self {
        match exit {
            Exit::Anytime => Self::Anytime,
            Exit::Key(name) => Self::Key(name.as_str().into()),
            Exit::End => Self::End,
            Exit::Never => Self::Never,
        }
    }
}

/// The name of the state around one of this name, or "".
fn scope_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(scope, _)| scope)
}

fn join(scope: &str, name: &str) -> String {
    if scope.is_empty() {
        name.to_owned()
    } else {
        format!("{scope}/{name}")
    }
}

#[cfg(test)]
#[path = "tests/build.rs"]
mod tests;
