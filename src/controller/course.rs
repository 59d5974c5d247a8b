//! Courses: the movement of a track in its blend space between two bends.
//!
//! Such a track's position is a phase: it rises by 1 per cycle, at a pace that depends on the parameters. Parameters that
//! are smoothed go straight to what they were set to, at a steady speed. Where their way crosses an edge of the space's
//! triangulation, it has a *bend*; between two bends all weights, and with them the pace, change evenly:
//!
//! ```text
//! parameter   ●━━━━━━━━━━┿━━━━━━━━━━━┿━━━━━●────────
//! walk        ╲__________╱───────────╲______________   weights, straight between bends
//! bends       ├──────────┼───────────┼─────┼────────
//! ```
//!
//! A course follows from the way of the parameters and the time alone.

use super::{
    clock::Nanos,
    motion::Pace,
    steering::{Steering, Way},
};
use crate::model::{BlendPoint, BoundBlendSpace, Cycle, Member};
use std::sync::Arc;

/// A clip of a blend space that weighs between two bends: its place among the members, and its weights at both ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weighing {
    pub(super) member: usize,
    pub(super) weights: [f64; 2],
}

/// The movement of a track in its blend space between two bends.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    begin: Nanos,
    /// Time of the next bend, if there is one.
    end: Option<Nanos>,
    /// The way of the parameters that it is a part of.
    way: Option<Way>,
    /// In the order of members.
    weighing: [Weighing; Self::MOST],
    count: usize,
    /// Cycles per second at both ends.
    pace: [f64; 2],
    /// The point at which it begins, and the clips that weigh there.
    first: (BlendPoint, Cycle),
    of: Option<Arc<[Member]>>,
}

impl Course {
    /// Clips that can weigh between two bends: those at both ends.
    pub(super) const MOST: usize = 6;

    /// Returns the clips that weigh at a point. They are known already if the course began there.
    #[inline]
    pub(super) fn cycle(&self, point: BlendPoint, space: &BoundBlendSpace) -> Cycle {
        if point == self.first.0 && self.is_of(space) {
            self.first.1
        } else {
            space.cycle(point)
        }
    }

    /// Returns `false` if clips were loaded anew.
    #[inline]
    pub(super) fn is_of(&self, space: &BoundBlendSpace) -> bool {
        let of = self.of.as_ref();
        of.is_some_and(|members| Arc::ptr_eq(members, space.members()))
    }

    /// Brings the course up to date at a time. Returns `true` if it changed.
    pub(super) fn settle(
        &mut self,
        steering: &Steering,
        time: Nanos,
        space: &BoundBlendSpace,
    ) -> bool {
        let is_of = self.is_of(space);
        let is_on_it = match self.end {
            Some(end) => self.begin <= time && time < end,
            None => steering.now == self.first.0,
        };
        if is_of && is_on_it && steering.way == self.way {
            return false;
        }
        let (ends, begin, end) = match &steering.way {
            Some(way) => {
                let [begin, end] = way.stretch(time, space);
                ([way.at(begin), way.at(end)], begin, Some(end))
            }
            None => ([steering.now; 2], self.begin, None),
        };
        self.way = steering.way;
        let stands = end.is_none() && self.end.is_none();
        if is_of && stands && ends[0] == self.first.0 {
            return false;
        }
        if !is_of {
            (self.of, self.count) = (Some(space.members().clone()), 0);
        }
        if !is_of || ends[0] != self.first.0 {
            self.first = (ends[0], space.cycle(ends[0]));
        }
        (self.begin, self.end) = (if end.is_some() { begin } else { Nanos::ZERO }, end);
        let first = self.first.1;
        let last = if end.is_some() {
            space.cycle(ends[1])
        } else {
            first
        };
        self.pace = [first.pace, last.pace];
        self.weigh(&first.weights, &last.weights);
        let member = |(member, _): &(usize, f64)| *member;
        let (first, last) = (first.weights, last.weights);
        if end.is_some() && !first.iter().map(member).eq(last.iter().map(member)) {
            // Bends are at whole nanoseconds: a clip that weighs just before one, or just after it, doesn't count here.
            let middle =
                BlendPoint::new(0.5 * (ends[0].x + ends[1].x), 0.5 * (ends[0].y + ends[1].y));
            let middle = space.cycle(middle).weights;
            let mut kept = 0;
            for at in 0..self.count {
                let ours = self.weighing[at].member;
                if middle.iter().any(|(member, _)| *member == ours) {
                    self.weighing[kept] = self.weighing[at];
                    kept += 1;
                }
            }
            self.count = kept;
        }
        true
    }

    /// Merges the weights at both ends. Both lists are in the order of members.
    fn weigh(&mut self, first: &[(usize, f64)], last: &[(usize, f64)]) {
        let next = |weights: &[(usize, f64)], at: usize| {
            weights.get(at).copied().unwrap_or((usize::MAX, 0.0))
        };
        let (mut at_begin, mut at_end) = (0, 0);
        self.count = 0;
        while at_begin < first.len() || at_end < last.len() {
            let (begin, end) = (next(first, at_begin), next(last, at_end));
            let member = begin.0.min(end.0);
            let weight = |(of, weight): (usize, f64)| if of == member { weight } else { 0.0 };
            self.weighing[self.count] = Weighing {
                member,
                weights: [weight(begin), weight(end)],
            };
            self.count += 1;
            at_begin += usize::from(begin.0 == member);
            at_end += usize::from(end.0 == member);
        }
    }

    /// The clips that weigh.
    #[inline]
    pub(super) fn weighing(&self) -> &[Weighing] {
        &self.weighing[..self.count]
    }

    /// Returns its length in seconds, if it ends.
    fn seconds(&self) -> Option<f64> {
        let seconds = self.end?.since(self.begin);
        (seconds > 0.0).then_some(seconds)
    }

    /// The change of a weight per second.
    #[inline]
    pub(super) fn slope(&self, [from, to]: [f64; 2]) -> f64 {
        self.seconds()
            .filter(|_| from != to)
            .map_or(0.0, |seconds| (to - from) / seconds)
    }

    /// A weight at a moment.
    #[inline]
    pub(super) fn share(&self, ends: [f64; 2], moment: Nanos) -> f64 {
        let slope = self.slope(ends);
        if slope == 0.0 {
            return ends[0];
        }
        (ends[0] + slope * moment.since(self.begin))
            .clamp(ends[0].min(ends[1]), ends[0].max(ends[1]))
    }

    /// The index of the heaviest clip at a moment; of those that differ by no more than rounding, the first.
    pub(super) fn heaviest(&self, moment: Nanos, space: &BoundBlendSpace) -> Option<usize> {
        let mut heaviest = None;
        for weighing in self.weighing() {
            let share = self.share(weighing.weights, moment);
            if heaviest.is_none_or(|(_, most)| share > most + 1e-9) {
                heaviest = Some((weighing.member, share));
            }
        }
        let (member, _) = heaviest?;
        Some(space.members().get(member)?.clip)
    }

    /// Returns the time of the next bend, if there is one.
    #[inline]
    pub(super) fn end(&self) -> Option<Nanos> {
        self.end
    }

    /// The pace of the cycle.
    pub(super) fn pace(&self) -> Pace {
        Pace {
            since: self.begin,
            pace: self.pace[0],
            change: self.slope(self.pace),
            until: self.end,
        }
    }
}
