//! Movers: the clips that carry a character, each on its way along its path.

use super::super::clock::Nanos;
use crate::{
    controller::ramp::Ramp,
    model::{Member, PlaybackMode, RootDelta, RootPath, Twist},
};

/// Places in a cell at which shares are found, as parts of it: those of Gauss's quadrature of order 6.
pub(super) const NODES: [f64; 3] = [0.5 - NODE, 0.5, 0.5 + NODE];
/// √15 / 10.
const NODE: f64 = 0.387_298_334_620_741_7;

/// The most by which a share may be off a straight line in a cell.
const ROUGH: f64 = 0.003;

/// A clip that has a share of the pose at the root joint, between two happenings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mover<'c> {
    /// `None` if it stands still.
    pub(super) path: Option<&'c RootPath>,
    pub(super) part: Part,
    /// The clip of a blend space, if it is one, and its weight in it.
    pub(super) member: Option<&'c Member>,
    pub(super) in_space: Value,
    pub(super) set: Set,
    /// `true` if it moves the root joint.
    pub(super) reaches: bool,
    /// Its weight at the moment looked at, with and without the mask.
    pub(super) weighs: f64,
    pub(super) full: f64,
    /// Its share of the pose at the root joint at that moment, and at the nodes of a cell.
    pub(super) share: f64,
    pub(super) shares: [f64; NODES.len()],
    /// The positions of its track at both ends of a cell.
    pub(super) from: f64,
    pub(super) to: f64,
    /// The change of its speed: its position is `x + bend · x · (1 − x)` of the way after a part x of the cell.
    pub(super) bend: f64,
    /// Its place in its clip at the end of a piece of the cell.
    pub(super) place: f64,
    /// The place of the next knot, and the part of the cell after which it is there: infinite if that is later.
    pub(super) knot_place: f64,
    pub(super) knot: f64,
}

/// A track's part in the pose at the root joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The index of the track.
    pub(super) track: usize,
    pub(super) playback: PlaybackMode,
    pub(super) weight: Value,
    /// The mask's weight at the root joint.
    pub(super) mask: f64,
    pub(super) group: Group,
}

/// The tracks that a track is blended with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Group {
    Low,
    High,
    Over,
}

/// The set that a mover is blended with before its group, as layers of a [`Mix`](crate::pose::Mix) are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Set {
    Alone,
    Base,
    /// The clips of a track's blend space.
    Space(usize),
    /// The clips on a layer of states, the first of which is on this track.
    Layer(usize),
}

/// A value that changes between two happenings: a polynomial of the seconds since a moment, in ascending powers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) since: Nanos,
    pub(super) terms: [f64; 4],
}

impl Value {
    /// A steady value, or that of a scheduled change in its place.
    pub(super) fn new(steady: impl Into<f64>, ramp: Option<Ramp>) -> Self {
        match ramp {
            Some(ramp) if ramp.from != ramp.to => Self {
                since: ramp.begin,
                terms: ramp.terms(0.0),
            },
            ramp => Self::steady(ramp.map_or_else(|| steady.into(), |ramp| ramp.from)),
        }
    }

    pub(super) const fn steady(value: f64) -> Self {
        Self {
            since: Nanos::ZERO,
            terms: [value, 0.0, 0.0, 0.0],
        }
    }

    pub(super) fn is_steady(&self) -> bool {
        self.terms[1..] == [0.0; 3]
    }

    #[inline]
    pub(super) fn at(&self, moment: Nanos) -> f64 {
        let ([a, b, c, d], seconds) = (self.terms, moment.since(self.since));
        a + seconds * (b + seconds * (c + seconds * d))
    }
}

impl Mover<'_> {
    pub(super) const NONE: Self = Self {
        path: None,
        part: Part {
            track: 0,
            playback: PlaybackMode::Once,
            weight: Value::steady(0.0),
            mask: 0.0,
            group: Group::Low,
        },
        member: None,
        in_space: Value::steady(1.0),
        set: Set::Alone,
        reaches: true,
        weighs: 0.0,
        full: 0.0,
        share: 0.0,
        shares: [0.0; NODES.len()],
        from: 0.0,
        to: 0.0,
        bend: 0.0,
        place: 0.0,
        knot_place: 0.0,
        knot: f64::INFINITY,
    };

    /// Returns `true` if its share changes by itself.
    pub(super) fn is_on_ramp(&self) -> bool {
        !self.part.weight.is_steady() || !self.in_space.is_steady()
    }

    /// Returns when its weight began to change as it does now.
    pub(super) fn changed(&self) -> Nanos {
        self.part.weight.since.max(self.in_space.since)
    }

    /// Returns its movement in a cell.
    pub(super) fn movement(&self) -> RootDelta {
        let [from, to] = [self.from, self.to].map(|position| self.place(position));
        self.path.map_or(RootDelta::IDENTITY, |path| {
            path.between(self.part.playback, from, to)
        })
    }

    /// Sets the position at the end of a cell, given those before, of which `bend` is the one in the middle.
    pub(super) fn set_end(&mut self, to: f64) {
        let way = to - self.from;
        self.bend = match way != 0.0 && self.path.is_some() {
            true => 4.0 * (self.bend - self.from) / way - 2.0,
            false => 0.0,
        };
        self.to = to;
    }

    /// Returns `true` if its share or its speed changes abruptly.
    pub(super) fn is_rough(&self) -> bool {
        let [a, b, c] = self.shares;
        (a - 2.0 * b + c).abs() > ROUGH || self.bend.abs() > 1.0
    }

    /// Sets off from the start of a cell.
    pub(super) fn set_off(&mut self) {
        self.bend = self.bend.clamp(-1.0, 1.0);
        self.place = self.place(self.from);
        self.find_knot();
    }

    /// Goes on to a part of the cell, and returns the arc there.
    pub(super) fn go_to(&mut self, part: f64) -> Twist {
        let Some(path) = self.path.filter(|_| self.from != self.to) else {
            return Twist::default();
        };
        let before = self.place;
        self.place = match part {
            _ if part == self.knot => self.knot_place,
            _ if part >= 1.0 => self.place(self.to),
            _ => {
                let way = part + self.bend * part * (1.0 - part);
                self.place(self.from + way * (self.to - self.from))
            }
        };
        if self.knot <= part {
            self.find_knot();
        }
        let playback = self.part.playback;
        path.arc(playback, before, self.place)
            .unwrap_or_else(|| Twist::between(path.between(playback, before, self.place)))
    }

    /// Returns its share times its speed relative to the mean in a piece of the cell: a parabola over the part of the piece, in
    /// ascending powers.
    pub(super) fn rate(&self, [begin, end]: [f64; 2]) -> [f64; 3] {
        let [a, b, c] = self.shares;
        let middle = 0.5 * (begin + end);
        let pace = |part: f64| 1.0 + self.bend * (1.0 - 2.0 * part);
        let mean = pace(middle).recip();
        let [first, middle, last] = [begin, middle, end].map(|part| {
            let x = (part - 0.5) / NODE;
            let share = b + 0.5 * x * (c - a + x * (a - 2.0 * b + c));
            share * pace(part) * mean
        });
        let curve = 2.0 * (first - 2.0 * middle + last);
        [first, last - first - curve, curve]
    }

    /// Finds the next place after the present one where its velocity may change otherwise than with its track's speed.
    fn find_knot(&mut self) {
        self.knot = f64::INFINITY;
        let way = self.to - self.from;
        let Some(path) = self.path.filter(|_| way != 0.0) else {
            return;
        };
        let forward = way > 0.0;
        let knot = path.next_knot(self.part.playback, self.place, forward);
        let bend = self
            .member
            .and_then(|member| member.next_bend(self.part.playback, self.place, forward));
        let nearer = |a: f64, b: f64| if forward { a.min(b) } else { a.max(b) };
        let Some(place) = knot.into_iter().chain(bend).reduce(nearer) else {
            return;
        };
        let part = (self.position(place) - self.from) / way;
        if part < 1.0 {
            let rate = 1.0 + self.bend;
            let root = (rate * rate - 4.0 * self.bend * part).max(0.0).sqrt();
            (self.knot_place, self.knot) = (place, 2.0 * part / (rate + root));
        }
    }

    /// Returns its place in its clip for a position of its track.
    #[inline]
    fn place(&self, position: f64) -> f64 {
        self.member.map_or(position, |member| {
            member.place(self.part.playback, position)
        })
    }

    /// Returns its track's position for a place in its clip.
    fn position(&self, place: f64) -> f64 {
        self.member
            .map_or(place, |member| member.phase(self.part.playback, place))
    }
}
