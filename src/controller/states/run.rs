//! The state of a character in one machine, and the things that take it further.

use super::error::StatesError;
use crate::{
    controller::{TrackId, clock::Nanos},
    model::{Choice, Entry, Opening, StateMachine, Successor},
    random,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The state of a character in one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::controller) struct StateRun {
    /// The present state.
    pub(super) state: usize,
    /// Moment at which it was entered.
    pub(super) since: Nanos,
    /// The state that the game asked for, if the character isn't there yet.
    pub(super) destination: Option<usize>,
    /// The state that [`Successor::Back`] leads to.
    pub(super) back: usize,
    /// `true` if the exit's key was passed in this loop, or its range is open.
    pub(super) opened: bool,
    /// `true` if the clip has come to its end and stays there.
    pub(super) ended: bool,
    /// `true` if the exit opens at a callback key that nothing that the state plays has.
    pub(super) barred: bool,
    /// `true` if the state's own clip doesn't play: the game plays another one, or it is missing.
    pub(super) replaced: bool,
    /// For each state that chooses, what it chose last, plus one.
    pub(super) choices: Vec<u8>,
    /// State of the generator of random choices.
    pub(super) seed: u64,
    /// The track of the present state.
    pub(super) track: Option<TrackId>,
}

/// The result of asking for a state.
///
/// ```
/// # use bevy_marionette::controller::{AnimationController, Go, StatesError};
/// # fn strike(controller: &mut AnimationController) -> Result<(), StatesError> {
/// if controller.go("attack")? == Go::Waits {
///     println!("as soon as the present state may be left");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// The state is entered now.
    Entered,
    /// The character is there already. It stays, and forgets where else it was going.
    Stays,
    /// The character goes on until it may leave its present state, and then enters the state, or the next one on the way to
    /// it.
    Waits,
}

/// A clip or blend space to play from now on, or nothing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Enter {
    pub(super) plays: Option<Arc<str>>,
    pub(super) entry: Entry,
    /// The state that was entered, and the one that was left; `None` if it only plays something else.
    pub(super) change: Option<(Option<usize>, usize)>,
}

impl StateRun {
    /// Starts in a machine's first state. Returns what plays there.
    pub(super) fn start(machine: &StateMachine, seed: u64, now: Nanos) -> (Self, Enter) {
        let mut run = Self {
            state: machine.start(),
            since: now,
            destination: None,
            back: machine.start(),
            opened: false,
            ended: false,
            barred: false,
            replaced: false,
            choices: Vec::new(),
            seed,
            track: None,
        };
        let enter = run.enter(machine, run.state, machine.states()[run.state].entry, now);
        let cut = Entry {
            duration: Default::default(),
            in_phase: false,
            ..enter.entry
        };
        let change = Some((None, run.state));
        (
            run,
            Enter {
                entry: cut,
                change,
                ..enter
            },
        )
    }

    /// One that goes where another goes.
    pub(super) fn following(leader: &Self, track: Option<TrackId>) -> Self {
        Self {
            destination: None,
            choices: Vec::new(),
            track,
            ..leader.clone()
        }
    }

    /// Takes the way to a state as far as it is open. `None` if there is no way.
    pub(super) fn go(
        &mut self,
        machine: &StateMachine,
        to: usize,
        now: Nanos,
    ) -> Option<(Go, Option<Enter>)> {
        if to == self.state && machine.step(to, to).is_none() {
            self.destination = None;
            return Some((Go::Stays, None));
        }
        if !self.can_go(machine, to) {
            return None;
        }
        self.destination = Some(to);
        let entered = self.go_on(machine, now, false);
        let answer = if self.destination.is_none() {
            Go::Entered
        } else {
            Go::Waits
        };
        Some((answer, entered))
    }

    /// Returns `true` if there is a way to a state that is open, or may still open.
    pub(super) fn can_go(&self, machine: &StateMachine, to: usize) -> bool {
        let Some(next) = self.next(machine, to) else {
            return to == self.state;
        };
        !self.is_closed(machine) || self.open_way(machine, next, false).is_some()
    }

    /// Returns why the character can't go to a state.
    pub(super) fn refusal(&self, machine: &StateMachine, to: usize) -> StatesError {
        let [from, to_state] = [self.state, to].map(|state| &machine.states()[state]);
        let (name, target) = (from.name.to_string(), to_state.name.to_string());
        match &from.exit {
            Opening::Key(key) if self.next(machine, to).is_some() => StatesError::Closed {
                from: name,
                to: target,
                key: key.to_string(),
            },
            _ => {
                let ways = from.ways.iter().map(|way| &machine.states()[way.to].name);
                StatesError::NoWay {
                    from: name,
                    to: target,
                    ways: ways.map(|name| name.to_string()).collect(),
                }
            }
        }
    }

    /// Returns the first state on the way to another. What was interrupted may be on it.
    pub(super) fn next(&self, machine: &StateMachine, to: usize) -> Option<usize> {
        let then = machine.states().get(self.state)?.then;
        if to == self.back && then == Some(Successor::Back) {
            return Some(to);
        }
        machine.step(self.state, to).or_else(|| {
            let leads = to == self.back || machine.step(self.back, to).is_some();
            let follows = match then? {
                Successor::State(next, _) => next,
                Successor::Back => self.back,
            };
            (leads && self.goes_back(machine)).then_some(follows)
        })
    }

    /// Returns `true` if the exit is closed for good: its key isn't to come any more, and nothing follows.
    pub(super) fn is_closed(&self, machine: &StateMachine) -> bool {
        let state = &machine.states()[self.state];
        let is_over = self.ended || self.barred || (state.plays.is_empty() && !self.replaced);
        is_over
            && state.then.is_none()
            && matches!(state.exit, Opening::Key(_))
            && !self.opened
            && !self.replaced
    }

    /// Returns how a state is entered from the present one, if the game may do so right now. `at_end` says whether what plays
    /// is right at its end.
    pub(super) fn open_way(
        &self,
        machine: &StateMachine,
        to: usize,
        at_end: bool,
    ) -> Option<Entry> {
        let state = machine.states().get(self.state)?;
        let is_over = self.ended || at_end;
        let is_open = match &state.exit {
            Opening::Anytime => true,
            // What plays in place of the state's clip may lack the key.
            Opening::Key(_) => self.opened || (self.replaced && is_over),
            Opening::End => is_over,
            Opening::Never => false,
        };
        // What follows by itself may follow early where a key says so, and late where all that follows was missing.
        let may_follow = self.opened || (self.replaced && is_over);
        let way = state.way_to(to);
        let way = way.filter(|way| way.interrupts || is_open);
        way.map(|way| way.entry).or(match state.then {
            Some(Successor::State(then, entry)) if then == to && may_follow => Some(entry),
            Some(Successor::Back) if self.back == to && may_follow => {
                Some(machine.states()[to].entry)
            }
            _ => None,
        })
    }

    /// Goes on toward the destination, as far as exits are open. `at_end` says whether what plays is right at its end.
    fn go_on(&mut self, machine: &StateMachine, now: Nanos, at_end: bool) -> Option<Enter> {
        let (from, ended) = (self.state, self.ended);
        let (mut entered, mut at_end) = (None, at_end);
        // Every step comes nearer; a way is never longer than there are states.
        for _ in 0..machine.states().len() {
            let Some(to) = self.destination else { break };
            let Some(next) = self.next(machine, to) else {
                self.destination = None;
                break;
            };
            let Some(entry) = self.open_way(machine, next, at_end) else {
                break;
            };
            if next == to {
                self.destination = None;
            }
            if !self.goes_back(machine) {
                self.back = self.state;
            }
            entered = Some(self.enter(machine, next, entry, now));
            at_end = false;
        }
        entered.map(|enter| self.left(from, ended, enter))
    }

    /// Notes that a key of the exit was passed, or that one of its ranges begins (`true`) or ends (`false`).
    pub(super) fn note_key(
        &mut self,
        machine: &StateMachine,
        opens: bool,
        now: Nanos,
    ) -> Option<Enter> {
        self.opened = opens;
        opens.then(|| self.go_on(machine, now, false)).flatten()
    }

    /// Notes that what plays has come to the end of a loop, and whether it `stays` there.
    pub(super) fn note_end(
        &mut self,
        machine: &StateMachine,
        stays: bool,
        now: Nanos,
    ) -> Option<Enter> {
        self.opened &= stays;
        self.ended = stays;
        let choose = machine.states()[self.state].choose;
        self.after_end(machine, choose, now)
    }

    /// Notes that nothing plays, because the clip is missing or was taken away.
    pub(super) fn note_loss(&mut self, machine: &StateMachine, now: Nanos) -> Option<Enter> {
        (self.ended, self.replaced) = (true, true);
        // In turns, all of the others are tried.
        self.after_end(machine, Choice::Sequence, now)
    }

    /// Does what follows the end of what plays.
    fn after_end(&mut self, machine: &StateMachine, choose: Choice, now: Nanos) -> Option<Enter> {
        if let Some(enter) = self.go_on(machine, now, true) {
            return Some(enter);
        }
        let from = self.state;
        let state = &machine.states()[from];
        let (to, entry) = match state.then {
            Some(Successor::State(to, entry)) => (to, entry),
            Some(Successor::Back) => (self.back, machine.states()[self.back].entry),
            // Another choice.
            None if state.plays.len() > 1 => {
                (self.opened, self.ended, self.replaced) = (false, false, false);
                let entry = Entry {
                    in_phase: false,
                    ..state.entry
                };
                return Some(self.play(machine, entry, choose));
            }
            None => {
                self.drop_vain_wish(machine);
                return None;
            }
        };
        // An exit that didn't open in time was missed.
        let is_on_way = |wish: &usize| *wish == to || self.next(machine, *wish) == Some(to);
        self.destination = self.destination.filter(is_on_way);
        let ended = self.ended;
        let enter = self.follow(machine, to, entry, now);
        Some(self.left(from, ended, enter))
    }

    /// Forgets where the game wants to be, if the exit is closed for good.
    pub(super) fn drop_vain_wish(&mut self, machine: &StateMachine) {
        self.destination = self.destination.filter(|_| !self.is_closed(machine));
    }

    /// Says which state was left, and whether what it played had `ended`. In phase with that, a clip that plays once would be
    /// over before it has begun.
    fn left(&self, from: usize, ended: bool, enter: Enter) -> Enter {
        Enter {
            entry: Entry {
                in_phase: enter.entry.in_phase && !ended,
                ..enter.entry
            },
            change: Some((Some(from), self.state)),
            ..enter
        }
    }

    /// Enters the state that follows by itself, and goes on from there if the game wants to be elsewhere.
    fn follow(&mut self, machine: &StateMachine, to: usize, entry: Entry, now: Nanos) -> Enter {
        if self.destination == Some(to) {
            self.destination = None;
        }
        let enter = self.enter(machine, to, entry, now);
        self.go_on(machine, now, false).unwrap_or(enter)
    }

    /// Takes up the same state in a machine that was loaded anew. Returns `false` if it isn't there any more; then the run
    /// has to start anew.
    pub(super) fn adopt(&mut self, old: &StateMachine, new: &StateMachine) -> bool {
        let same = |state: usize| {
            let name = &old.states().get(state)?.name;
            new.states().iter().position(|state| state.name == *name)
        };
        let Some(state) = same(self.state) else {
            return false;
        };
        self.destination = self.destination.and_then(same);
        self.back = same(self.back).unwrap_or(new.start());
        self.state = state;
        let mut choices = vec![0; new.states().len()];
        for (at, choice) in self.choices.iter().enumerate() {
            if let Some(at) = same(at) {
                choices[at] = *choice;
            }
        }
        if choices.iter().all(|choice| *choice == 0) {
            choices.clear();
        }
        self.choices = choices;
        true
    }

    fn enter(&mut self, machine: &StateMachine, to: usize, entry: Entry, now: Nanos) -> Enter {
        self.state = to;
        self.since = now;
        (self.opened, self.ended, self.replaced) = (false, false, false);
        self.play(machine, entry, machine.states()[to].choose)
    }

    /// Returns the clip or blend space that the present state plays, chosen anew if there are several.
    fn play(&mut self, machine: &StateMachine, entry: Entry, choose: Choice) -> Enter {
        self.barred = false;
        let state = &machine.states()[self.state];
        let plays = match state.plays.len() {
            0 | 1 => state.plays.first(),
            count => state
                .plays
                .get(self.choose(machine.states().len(), count, choose)),
        };
        Enter {
            plays: plays.cloned(),
            entry,
            change: None,
        }
    }

    /// The place of what the present state plays among its clips.
    pub(super) fn choice(&self) -> usize {
        let choice = self.choices.get(self.state).copied().unwrap_or(0);
        usize::from(choice).saturating_sub(1)
    }

    /// Chooses one of several clips.
    fn choose(&mut self, states: usize, count: usize, choice: Choice) -> usize {
        self.choices.resize(states, 0);
        let last = usize::from(self.choices[self.state]);
        let next = match (choice, last) {
            (Choice::Sequence, last) => last % count,
            (Choice::Random, 0) => self.random(count),
            // Any but the last one.
            (Choice::Random, last) => (last + self.random(count - 1)) % count,
        };
        self.choices[self.state] = next as u8 + 1;
        next
    }

    /// A number below `count`.
    fn random(&mut self, count: usize) -> usize {
        self.seed = self.seed.wrapping_add(random::STEP);
        let bits = random::mix(self.seed);
        ((u128::from(bits) * count as u128) >> 64) as usize
    }

    /// Returns `true` if what follows by itself ends by going back.
    fn goes_back(&self, machine: &StateMachine) -> bool {
        let mut at = self.state;
        for _ in 0..machine.states().len() {
            match machine.states()[at].then {
                Some(Successor::Back) => return true,
                Some(Successor::State(to, _)) => at = to,
                None => return false,
            }
        }
        false
    }
}
