//! The parameters of a blend space, and their way to what they are set to.

use super::compensated::{CompensatedF64, tick};
use crate::model::{BlendPoint, BoundBlendSpace};
use serde::{Deserialize, Serialize};

/// The parameters of a track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Steering {
    /// What they were set to.
    pub(super) target: BlendPoint,
    /// The target that the rest was made for.
    aim: BlendPoint,
    /// Where they were at the last advance, within the space.
    pub(super) now: BlendPoint,
    /// How they get to the target.
    pub(super) way: Option<Way>,
}

/// Parameters on their way, straight and at a steady speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Way {
    from: BlendPoint,
    to: BlendPoint,
    /// When they set off, in seconds of global time.
    pub(super) since: f64,
    /// How long they take, > 0.
    seconds: f64,
}

impl Steering {
    /// They were never set.
    pub(super) const ORDINARY: Self = Self {
        target: BlendPoint::new(0.0, 0.0),
        aim: BlendPoint::new(0.0, 0.0),
        now: BlendPoint::new(0.0, 0.0),
        way: None,
    };

    /// Where they are at a time up to the next cut, if they have [set off](Self::settle).
    #[inline]
    pub(super) fn at(&self, time: CompensatedF64) -> BlendPoint {
        self.way.as_ref().map_or(self.now, |way| way.at(time))
    }

    /// Where they are shown: at the last advance, or at once where they are set to.
    #[inline]
    pub(super) fn shown(&self, space: &BoundBlendSpace, begun: bool) -> BlendPoint {
        let jumps = space.smoothing() == 0.0 || !begun;
        if jumps && self.target != self.aim {
            space.nearest(self.target)
        } else {
            self.now
        }
    }

    /// Sets off to a new target; jumps there if the track has yet to begin.
    #[inline]
    pub(super) fn settle(&mut self, time: CompensatedF64, space: &BoundBlendSpace, begun: bool) {
        if self.target == self.aim && begun {
            return;
        }
        let (from, to) = (self.at(time), space.nearest(self.target));
        let (since, seconds) = (
            time.value(),
            if begun {
                space.seconds_between(from, to)
            } else {
                0.0
            },
        );
        let takes_time = seconds.is_finite() && tick(since + seconds) > tick(since);
        self.way = takes_time.then_some(Way {
            from,
            to,
            since,
            seconds,
        });
        self.now = if takes_time { from } else { to };
        self.aim = self.target;
    }

    /// Notes where they are at a time up to the next cut.
    #[inline]
    pub(super) fn arrive(&mut self, time: CompensatedF64) {
        if let Some(way) = &self.way {
            let part = way.part(time);
            self.now = way.after(part);
            if part >= 1.0 {
                self.way = None;
            }
        }
    }

    pub(super) fn is_sound(&self) -> bool {
        let way = self.way.is_none_or(
            |Way {
                 from,
                 to,
                 since,
                 seconds,
             }| {
                from.is_finite()
                    && to.is_finite()
                    && since.is_finite()
                    && seconds.is_finite()
                    && seconds > 0.0
            },
        );
        way && [self.target, self.aim, self.now]
            .iter()
            .all(|point| point.is_finite())
    }
}

/// Seconds that count as one moment.
pub(super) const MOMENT: f64 = 2e-9;

impl Way {
    #[inline]
    fn part(&self, time: CompensatedF64) -> f64 {
        let end = self.since + self.seconds;
        if tick(time.value()) >= tick(end) {
            return 1.0;
        }
        ((time - CompensatedF64::new(self.since)).value() / self.seconds).clamp(0.0, 1.0)
    }

    #[inline]
    fn at(&self, time: CompensatedF64) -> BlendPoint {
        self.after(self.part(time))
    }

    #[inline]
    fn after(&self, part: f64) -> BlendPoint {
        let Self { from, to, .. } = self;
        if part >= 1.0 {
            return *to;
        }
        BlendPoint::new(
            from.x + (to.x - from.x) * part,
            from.y + (to.y - from.y) * part,
        )
    }

    /// The next moment after the present at which a weight may change its slope, the arrival included.
    pub(super) fn next_bend(
        &self,
        now: CompensatedF64,
        space: &BoundBlendSpace,
    ) -> Option<CompensatedF64> {
        let mut after = self.part(now);
        let moment = |part: f64| {
            CompensatedF64::new(self.since) + CompensatedF64::new(self.seconds).scale(part)
        };
        // Less than that is rounding: a cut there would make a stretch of no length.
        let is_later = |moment: CompensatedF64| (moment - now).value() > MOMENT;
        while let Some(part) = space.next_bend(self.from, self.to, after) {
            if is_later(moment(part)) {
                return Some(moment(part));
            }
            after = part;
        }
        Some(moment(1.0)).filter(|end| is_later(*end))
    }
}
