//! A plain model of states: maps of names, and times in whole nanoseconds. It shares no code with the crate.

use bevy_marionette::model::{Exit, Origins, Speed, State, Then};
use std::collections::{BTreeMap, VecDeque};

/// A clip: how long it is, where its key is, and whether it loops.
#[derive(Clone, Copy, Debug)]
pub struct Clip {
    pub length: u64,
    pub key: Option<u64>,
    pub loops: bool,
}

/// Where a character is.
#[derive(Clone, Debug)]
pub struct Model<'s> {
    states: &'s BTreeMap<String, State>,
    clips: &'s BTreeMap<String, Clip>,
    pub state: String,
    /// What the game has set named speeds to: whole numbers.
    pub speeds: BTreeMap<String, u64>,
    /// A moment, and the place in what plays at which it was then.
    anchor: (u64, u64),
    /// How much of what plays has passed: its key and its end, in turns.
    seen: u64,
    /// When the present state was entered.
    pub since: u64,
    opened: bool,
    ended: bool,
    /// Whether what plays was looked up.
    known: bool,
    back: String,
    pub destination: Option<String>,
    /// The states entered, with the time of each.
    pub entered: Vec<(u64, String)>,
}

impl<'s> Model<'s> {
    pub fn new(states: &'s BTreeMap<String, State>, clips: &'s BTreeMap<String, Clip>) -> Self {
        let start = states.iter().find(|(_, state)| state.start).unwrap().0;
        Self {
            states,
            clips,
            state: start.clone(),
            speeds: BTreeMap::new(),
            anchor: (0, 0),
            seen: 0,
            since: 0,
            opened: false,
            ended: false,
            known: false,
            back: start.clone(),
            destination: None,
            entered: vec![(0, start.clone())],
        }
    }

    /// Whether the game may go from one state to another, and whether at once.
    fn way(&self, from: &str, to: &str) -> Option<bool> {
        match &self.states[to].from {
            Origins::None => None,
            Origins::Any => (self.states[from].exit != Exit::Never).then_some(true),
            Origins::These(these) => {
                let is_left = self.states[from].exit != Exit::Never;
                (is_left && these.contains_key(from)).then_some(false)
            }
        }
    }

    fn then(&self, state: &str) -> Option<&str> {
        match &self.states[state].then {
            Some(Then::State(to)) => Some(to),
            _ => None,
        }
    }

    /// The first state on the way to another. Where the present one goes back to may be on it.
    fn next(&self, to: &str) -> Option<String> {
        let then = self.states[&self.state].then.as_ref();
        if then == Some(&Then::Back) && to == self.back {
            return Some(to.to_owned());
        }
        if to == self.state && self.way(to, to).is_some() {
            return Some(to.to_owned());
        }
        if let Some(next) = self.shortest(&self.state, to) {
            return Some(next);
        }
        if !self.goes_back() || (to != self.back && self.shortest(&self.back, to).is_none()) {
            return None;
        }
        match then? {
            Then::Back => Some(self.back.clone()),
            Then::State(next) => Some(next.clone()),
        }
    }

    /// The first state on the shortest way from one to another.
    fn shortest(&self, from: &str, to: &str) -> Option<String> {
        let mut first: BTreeMap<&str, &str> = BTreeMap::new();
        let mut queue: VecDeque<&str> = [from].into();
        while let Some(at) = queue.pop_front() {
            let ways = self.states.keys().filter(|to| self.way(at, to).is_some());
            for next in ways.map(String::as_str).chain(self.then(at)) {
                if next != from && !first.contains_key(next) {
                    let step = if at == from { next } else { first[at] };
                    first.insert(next, step);
                    queue.push_back(next);
                }
            }
        }
        first.get(to).map(|step| step.to_string())
    }

    /// Wishes to be in a state at a moment. Returns `None` if there is no way, and otherwise whether it is there already.
    pub fn go(&mut self, to: &str, now: u64) -> Option<bool> {
        if to == self.state && self.way(to, to).is_none() {
            self.destination = None;
            return Some(true);
        }
        let next = self.next(to)?;
        if self.is_closed() && self.way(&self.state, &next) != Some(true) {
            return None;
        }
        self.destination = Some(to.to_owned());
        self.go_on(now, false);
        Some(self.destination.is_none())
    }

    /// Whether the exit was missed for good.
    fn is_closed(&self) -> bool {
        let Self { ended, opened, .. } = self;
        let state = &self.states[&self.state];
        let lacks_key = |clip: &String| self.clips[clip].key.is_none();
        let is_over = *ended || self.known && state.plays.iter().all(lacks_key);
        matches!(state.exit, Exit::Key(_)) && state.then.is_none() && is_over && !opened
    }

    fn is_open(&self, at_end: bool) -> bool {
        match &self.states[&self.state].exit {
            Exit::Anytime => true,
            Exit::Key(_) => self.opened,
            Exit::End => self.ended || at_end,
            Exit::Never => false,
        }
    }

    /// Goes on toward the destination. Only the last state is noted.
    fn go_on(&mut self, now: u64, mut at_end: bool) -> bool {
        let mut moved = false;
        while let Some(to) = self.destination.clone() {
            let Some(next) = self.next(&to) else {
                self.destination = None;
                break;
            };
            match self.way(&self.state, &next) {
                Some(true) => {}
                Some(false) if self.is_open(at_end) => {}
                _ if self.opened && self.follows().as_ref() == Some(&next) => {}
                _ => break,
            }
            if !self.goes_back() {
                self.back = self.state.clone();
            }
            self.put(&next, now);
            (moved, at_end) = (true, false);
            if next == to {
                self.destination = None;
            }
        }
        if moved {
            self.entered.push((now, self.state.clone()));
        }
        moved
    }

    /// What follows the present state by itself.
    fn follows(&self) -> Option<String> {
        match self.states[&self.state].then.as_ref()? {
            Then::State(to) => Some(to.clone()),
            Then::Back => Some(self.back.clone()),
        }
    }

    /// Whether the present state, or what follows it by itself, ends by going back.
    fn goes_back(&self) -> bool {
        let mut at = self.state.as_str();
        for _ in 0..self.states.len() {
            match &self.states[at].then {
                Some(Then::Back) => return true,
                Some(Then::State(to)) => at = to,
                None => return false,
            }
        }
        false
    }

    fn put(&mut self, state: &str, now: u64) {
        self.state = state.to_owned();
        (self.anchor, self.seen, self.since) = ((now, 0), 0, now);
        (self.opened, self.ended, self.known) = (false, false, false);
    }

    fn speed(&self) -> u64 {
        match &self.states[&self.state].speed {
            Speed::Named(name) => self.speeds.get(name).copied().unwrap_or(1),
            Speed::Fixed(speed) => *speed as u64,
        }
    }

    /// The place in what plays at a moment.
    fn place(&self, now: u64) -> u64 {
        self.anchor.1 + (now - self.anchor.0) * self.speed()
    }

    /// The moment at which a place is reached, if it ever is.
    fn moment(&self, place: u64) -> Option<u64> {
        let way = place - self.anchor.1;
        if way == 0 {
            return Some(self.anchor.0);
        }
        Some(self.anchor.0 + way.checked_div(self.speed())?)
    }

    /// Sets a named speed at a moment.
    pub fn set_speed(&mut self, name: &str, speed: u64, now: u64) {
        self.anchor = (now, self.place(now));
        self.speeds.insert(name.to_owned(), speed);
    }

    /// Lets time pass up to a moment.
    pub fn advance(&mut self, until: u64) {
        loop {
            self.known = true;
            if self.is_closed() {
                self.destination = None;
            }
            let [name] = &self.states[&self.state].plays[..] else {
                return;
            };
            let Clip { length, key, loops } = self.clips[name];
            let round = self.seen / 2;
            if round > 0 && !loops {
                return;
            }
            let begin = round * length;
            if self.seen.is_multiple_of(2) {
                let place = begin + key.unwrap_or(0);
                let Some(now) = self.moment(place).filter(|now| *now <= until) else {
                    return;
                };
                self.seen += 1;
                let is_exit = matches!(self.states[&self.state].exit, Exit::Key(_));
                if key.is_some() && is_exit {
                    self.opened = true;
                    self.go_on(now, false);
                }
                continue;
            }
            let end = self.moment(begin + length).filter(|now| *now <= until);
            let Some(now) = end else {
                return;
            };
            self.seen += 1;
            self.opened &= !loops;
            self.ended = !loops;
            if self.go_on(now, true) {
                continue;
            }
            let Some(next) = self.follows() else {
                continue;
            };
            if let Some(wish) = self.destination.clone()
                && wish != next
                && self.next(&wish).as_ref() != Some(&next)
            {
                self.destination = None;
            }
            if self.destination.as_ref() == Some(&next) {
                self.destination = None;
            }
            self.put(&next, now);
            if !self.go_on(now, false) {
                self.entered.push((now, next));
            }
        }
    }
}
