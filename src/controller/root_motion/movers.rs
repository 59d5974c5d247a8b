//! Movers: the clips that carry a character, each on its way along its path.

use super::{super::clock::Nanos, gauss::COUNT};
use crate::{
    controller::ramp::Ramp,
    model::{Member, PlaybackMode, RootDelta, RootPath, Twist},
};

/// Movers that are kept on the stack: for most characters the smaller number is enough. More of them are allocated.
pub(super) const FEW: usize = 3;
pub(super) const SOME: usize = 8;

/// A clip that has a share of the pose at the root joint, between two happenings.
#[derive(Clone, Copy)]
pub(super) struct Mover<'c> {
    /// `None` if it stands still.
    pub(super) path: Option<&'c RootPath>,
    pub(super) playback: PlaybackMode,
    /// The clip of a blend space, if it is one.
    pub(super) member: Option<&'c Member>,
    /// The index of its track.
    pub(super) track: usize,
    /// The track's weight.
    pub(super) weight: Value,
    /// Its part of a blend space: how much at the first happening, and the change per second.
    pub(super) part: [f64; 2],
    /// The mask's weight at the root joint.
    pub(super) mask: f64,
    pub(super) group: Group,
    pub(super) set: Set,
    /// `true` if it moves the root joint.
    pub(super) reaches: bool,
    /// Its weight at the moment looked at, with and without the mask.
    pub(super) weighs: f64,
    pub(super) full: f64,
    /// Its share of the pose at the root joint at that moment.
    pub(super) share: f64,
    /// The share at the first node of a stretch.
    pub(super) first: f64,
    /// Its places in its clip at both ends of a stretch, and the arc between them.
    pub(super) now: f64,
    pub(super) next: f64,
    pub(super) way: Twist,
    /// Its speed at the nodes of a stretch, relative to the mean.
    pub(super) pace: [f64; COUNT],
}

/// The tracks that a track is blended with.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Group {
    Low,
    High,
    Over,
}

/// The set that a mover is blended with before its group, as layers of a [`Mix`](crate::pose::Mix) are.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Set {
    Alone,
    Base,
    /// The clips of a track's blend space.
    Space(usize),
    /// The clips on a layer of states, the first of which is on this track.
    Layer(usize),
}

/// A value that changes between two happenings: a polynomial of the seconds since the first of them, in ascending powers.
#[derive(Clone, Copy)]
pub(super) struct Value(pub(super) [f64; 4]);

impl Value {
    pub(super) fn steady(value: f64) -> Self {
        Self([value, 0.0, 0.0, 0.0])
    }

    /// A value with a scheduled change, from a moment on.
    pub(super) fn on_ramp(ramp: &Ramp, begin: Nanos) -> Self {
        if ramp.from == ramp.to {
            return Self::steady(ramp.from);
        }
        Self(ramp.terms(ramp.seconds_to(begin)))
    }

    pub(super) fn is_steady(&self) -> bool {
        self.0[1..] == [0.0; 3]
    }

    #[inline]
    pub(super) fn at(&self, seconds: f64) -> f64 {
        let [a, b, c, d] = self.0;
        a + seconds * (b + seconds * (c + seconds * d))
    }
}

/// All that carries a character between two happenings.
pub(super) struct Movers<'m, 'c> {
    room: &'m mut [Mover<'c>],
    count: usize,
}

impl<'m, 'c> Movers<'m, 'c> {
    /// None, with room for as many as there can be.
    pub(super) fn new(room: &'m mut [Mover<'c>]) -> Self {
        Self { room, count: 0 }
    }

    #[inline]
    pub(super) fn push(&mut self, mover: Mover<'c>) {
        self.room[self.count] = mover;
        self.count += 1;
    }

    pub(super) fn as_mut(&mut self) -> &mut [Mover<'c>] {
        &mut self.room[..self.count]
    }
}

impl Mover<'_> {
    pub(super) const NONE: Self = Self {
        path: None,
        playback: PlaybackMode::Once,
        member: None,
        track: 0,
        weight: Value([0.0; 4]),
        part: [1.0, 0.0],
        mask: 0.0,
        group: Group::Low,
        set: Set::Alone,
        reaches: true,
        weighs: 0.0,
        full: 0.0,
        share: 0.0,
        first: 0.0,
        now: 0.0,
        next: 0.0,
        way: Twist {
            ahead: glam::DVec3::ZERO,
            turn: 0.0,
        },
        pace: [1.0; COUNT],
    };

    /// Returns `true` if its share changes by itself.
    pub(super) fn is_on_ramp(&self) -> bool {
        !self.weight.is_steady() || self.part[1] != 0.0
    }

    /// Its weight without the mask, as a polynomial.
    pub(super) fn full_value(&self) -> [f64; 5] {
        let ([a, b, c, d], [part, change]) = (self.weight.0, self.part);
        [
            a * part,
            b * part + a * change,
            c * part + b * change,
            d * part + c * change,
            d * change,
        ]
    }

    /// Returns its place in its clip for a position of its track.
    #[inline]
    pub(super) fn place(&self, position: f64) -> f64 {
        self.member
            .map_or(position, |member| member.place(self.playback, position))
    }

    /// Returns its track's position for a place in its clip.
    pub(super) fn position(&self, place: f64) -> f64 {
        self.member
            .map_or(place, |member| member.phase(self.playback, place))
    }

    /// Returns its movement from one place to the other.
    pub(super) fn movement(&self, to: f64) -> RootDelta {
        self.path.map_or(RootDelta::IDENTITY, |path| {
            path.between(self.playback, self.now, to)
        })
    }

    /// Goes to a place, along the arc of a stretch.
    pub(super) fn go_to(&mut self, to: f64) {
        self.next = to;
        self.way = match self.path.filter(|_| to != self.now) {
            None => Twist::default(),
            Some(path) => path
                .arc(self.playback, self.now, to)
                .unwrap_or_else(|| Twist::between(path.between(self.playback, self.now, to))),
        };
    }

    /// Returns `true` if there is a knot between both ends of a stretch.
    pub(super) fn passes_knot(&self) -> bool {
        let Self { now, next, .. } = *self;
        let knot = self.next_knot(now, next > now);
        now != next && knot.is_some_and(|knot| if next > now { knot < next } else { knot > next })
    }

    /// The next place after another where its velocity may change on its way in a direction.
    pub(super) fn next_knot(&self, place: f64, forward: bool) -> Option<f64> {
        let knot = self.path?.next_knot(self.playback, place, forward);
        let bend = self
            .member
            .and_then(|member| member.next_bend(self.playback, place, forward));
        let nearer = |a: f64, b: f64| if forward { a.min(b) } else { a.max(b) };
        knot.into_iter().chain(bend).reduce(nearer)
    }
}
