//! The parameters of a blend space, and their way to what they are set to.

use super::clock::Nanos;
use crate::model::{BlendPoint, BoundBlendSpace};
use serde::{Deserialize, Serialize};

/// The parameters of a track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Steering {
    /// The values they were set to.
    pub(super) target: BlendPoint,
    /// The target that the rest was made for.
    aim: BlendPoint,
    /// Their present values, within the space.
    pub(super) now: BlendPoint,
    /// Their way to the target.
    pub(super) way: Option<Way>,
}

/// Parameters on their way, straight and at a steady speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Way {
    pub(super) from: BlendPoint,
    pub(super) to: BlendPoint,
    /// Moment at which they set off.
    pub(super) since: Nanos,
    /// Time that they take to arrive, > 0.
    pub(super) span: Nanos,
}

impl Steering {
    /// At the origin.
    pub(super) const ORIGIN: Self = Self {
        target: BlendPoint { x: 0.0, y: 0.0 },
        aim: BlendPoint { x: 0.0, y: 0.0 },
        now: BlendPoint { x: 0.0, y: 0.0 },
        way: None,
    };

    /// Returns the values to show: the present ones, or at once those they are set to.
    #[inline]
    pub(super) fn shown(&self, space: &BoundBlendSpace, begun: bool) -> BlendPoint {
        let jumps = space.smoothing() == 0.0 || !begun;
        if jumps && self.target != self.aim {
            space.nearest(self.target)
        } else {
            self.now
        }
    }

    /// Sets off to a new target; jumps there if the track has yet to begin. Returns `true` if the target is new.
    #[inline]
    pub(super) fn settle(&mut self, time: Nanos, space: &BoundBlendSpace, begun: bool) -> bool {
        if self.target == self.aim && begun {
            return false;
        }
        let is_new = self.target != self.aim;
        let (from, to) = (self.now, space.nearest(self.target));
        let seconds = if begun {
            space.seconds_between(from, to)
        } else {
            0.0
        };
        let span = Nanos::from_secs(seconds);
        let takes_time = seconds.is_finite() && span > Nanos::ZERO;
        self.way = takes_time.then_some(Way {
            from,
            to,
            since: time,
            span,
        });
        self.now = if takes_time { from } else { to };
        self.aim = self.target;
        is_new
    }

    /// Notes where they are at a time up to the next bend.
    #[inline]
    pub(super) fn move_to(&mut self, time: Nanos) {
        if let Some(way) = &self.way {
            self.now = way.at(time);
            if time >= way.end() {
                self.way = None;
            }
        }
    }

    pub(super) fn is_sound(&self) -> bool {
        let way = self.way.is_none_or(|Way { from, to, span, .. }| {
            from.is_finite() && to.is_finite() && span > Nanos::ZERO
        });
        way && [self.target, self.aim, self.now]
            .iter()
            .all(|point| point.is_finite())
    }
}

impl Way {
    pub(super) fn end(&self) -> Nanos {
        self.since.plus(self.span)
    }

    /// Returns their values at a time.
    #[inline]
    pub(super) fn at(&self, time: Nanos) -> BlendPoint {
        let Self { from, to, .. } = self;
        let part = time.since(self.since) / self.span.secs();
        if part >= 1.0 {
            return *to;
        }
        BlendPoint::new(
            from.x + (to.x - from.x) * part,
            from.y + (to.y - from.y) * part,
        )
    }

    /// The moments around a time between which no weight changes its slope.
    pub(super) fn stretch(&self, time: Nanos, space: &BoundBlendSpace) -> [Nanos; 2] {
        let (mut begin, mut after) = (self.since, 0.0);
        while let Some(part) = space.next_bend(self.from, self.to, after) {
            let bend = self.since.after(part * self.span.secs() * 1e9).0;
            if bend > time {
                return [begin, bend.min(self.end())];
            }
            (begin, after) = (bend, part);
        }
        [begin, self.end()]
    }
}
