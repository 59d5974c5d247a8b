//! Movement of a track's position between two happenings.

use super::{TransitionCurve, clock::Nanos};
use crate::controller::ramp::{Ramp, bisect};

/// The speed of a position as a polynomial of the seconds since an anchor, up to where another begins.
///
/// Every speed is one: a steady speed, a linear or an eased change, and each of them times the pace of a blend space, which
/// changes evenly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Motion {
    speed: [f64; 5],
    degree: u8,
    /// The direction in which it goes, all the way. Speed 0 counts as forward.
    pub(super) forward: bool,
    /// Time at which another motion takes over, if one does.
    pub(super) until: Option<Nanos>,
}

/// More seconds than any clock has.
const MOST: f64 = 9e9;

/// Beginning of a motion, to a part of a nanosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Instant {
    pub(super) moment: Nanos,
    /// Nanoseconds after the moment, from −½ to ½.
    pub(super) rest: f64,
}

impl Instant {
    /// The instant right at a moment.
    #[inline]
    pub(super) const fn at(moment: Nanos) -> Self {
        Self { moment, rest: 0.0 }
    }

    /// The seconds from here to a moment.
    #[inline]
    pub(super) fn seconds_to(self, moment: Nanos) -> f64 {
        moment.since(self.moment) - self.rest * 1e-9
    }

    /// Returns the instant some seconds later.
    #[inline]
    pub(super) fn after(self, seconds: f64) -> Self {
        let (moment, rest) = self.moment.after(seconds * 1e9 + self.rest);
        Self { moment, rest }
    }
}

/// A pace that changes evenly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    pub(super) since: Nanos,
    /// The pace then, and its change per second.
    pub(super) pace: f64,
    pub(super) change: f64,
    pub(super) until: Option<Nanos>,
}

impl Pace {
    /// The pace of a clip.
    pub(super) const EVEN: Self = Self {
        since: Nanos::ZERO,
        pace: 1.0,
        change: 0.0,
        until: None,
    };
}

impl Motion {
    /// No motion.
    pub(super) const STILL: Self = Self {
        speed: [0.0; 5],
        degree: 0,
        forward: true,
        until: None,
    };

    /// A steady speed.
    pub(super) fn steady(speed: f64) -> Self {
        Self {
            speed: [speed, 0.0, 0.0, 0.0, 0.0],
            forward: speed >= 0.0,
            ..Self::STILL
        }
    }

    /// Its speed, if that is all there is to it.
    pub(super) fn only_speed(&self) -> Option<f64> {
        (self.degree == 0 && self.until.is_none()).then_some(self.speed[0])
    }

    /// A steady speed, or one on a ramp, times a pace.
    pub(super) fn new(begin: Instant, steady: f64, ramp: Option<Ramp>, pace: Pace) -> Self {
        // A change from a speed to itself is steady, too.
        let steady = ramp.map_or(steady, |ramp| ramp.from);
        let mut speed = [steady, 0.0, 0.0, 0.0, 0.0];
        let (mut degree, mut until) = (0, pace.until);
        let ramp = ramp.filter(|ramp| ramp.from != ramp.to);
        if let Some(ramp) = ramp {
            let since = ramp.seconds_to(begin.moment) + begin.rest * 1e-9;
            let [a, b, c, d] = ramp.terms(since);
            speed = [a, b, c, d, 0.0];
            degree = if ramp.transition == TransitionCurve::Linear {
                1
            } else {
                3
            };
            let end = ramp.end;
            until = Some(until.map_or(end, |until| until.min(end)));
        }
        let (now, change) = (
            pace.pace - pace.change * begin.seconds_to(pace.since),
            pace.change,
        );
        for power in (0..5).rev() {
            let before = if power > 0 {
                speed[power - 1] * change
            } else {
                0.0
            };
            speed[power] = speed[power] * now + before;
        }
        degree += u8::from(change != 0.0);
        let mut motion = Self {
            speed,
            degree,
            forward: true,
            until,
        };
        if let (Some(ramp), Some(end)) = (ramp, until) {
            if let Some(turn) = turn_of(&ramp, begin.moment, end) {
                motion.until = Some(turn);
            }
            let end = motion.until.unwrap_or(end);
            let middle = 0.5 * begin.seconds_to(end).max(0.0);
            motion.forward = motion.speed_after(middle) >= 0.0;
        } else {
            motion.forward = steady >= 0.0;
        }
        motion
    }

    /// Returns `true` if it goes anywhere.
    pub(super) fn goes(&self) -> bool {
        self.speed.iter().any(|speed| *speed != 0.0)
    }

    /// The speed some seconds after the anchor.
    pub(super) fn speed_after(&self, seconds: f64) -> f64 {
        self.speed[..=usize::from(self.degree)]
            .iter()
            .rev()
            .fold(0.0, |sum, speed| sum * seconds + speed)
    }

    /// The distance covered in some seconds; never against the direction.
    #[inline]
    pub(super) fn distance(&self, seconds: f64) -> f64 {
        if self.degree == 0 {
            return self.speed[0] * seconds;
        }
        let parts = self.speed[..=usize::from(self.degree)]
            .iter()
            .enumerate()
            .rev();
        let way = parts.fold(0.0, |sum, (power, speed)| {
            sum * seconds + speed / (power + 1) as f64
        }) * seconds;
        if (way < 0.0) == self.forward && way != 0.0 {
            0.0
        } else {
            way
        }
    }

    /// The seconds in which a distance is covered, if that is before the motion ends.
    pub(super) fn seconds_of(&self, begin: Instant, distance: f64) -> Option<f64> {
        let [rate, slope, ..] = self.speed;
        if self.degree == 0 {
            let seconds = distance / rate;
            return (0.0..MOST).contains(&seconds).then_some(seconds);
        }
        let end = begin.seconds_to(self.until?).max(0.0);
        if self.distance(end).abs() < distance.abs() {
            return None;
        }
        if self.degree == 1 {
            let root = (rate * rate + 2.0 * slope * distance)
                .max(0.0)
                .sqrt()
                .copysign(if self.forward { 1.0 } else { -1.0 });
            let seconds = 2.0 * distance / (rate + root);
            if seconds.is_finite() {
                return Some(seconds.clamp(0.0, end));
            }
        }
        Some(bisect(0.0, end, |seconds| {
            self.distance(seconds).abs() >= distance.abs()
        }))
    }
}

/// The first moment at which a ramp has reversed its direction, if that is after `begin` and before `end`.
fn turn_of(ramp: &Ramp, begin: Nanos, end: Nanos) -> Option<Nanos> {
    if ramp.from == 0.0 || ramp.to == 0.0 || (ramp.from < 0.0) == (ramp.to < 0.0) {
        return None;
    }
    let at = |moment: Nanos| ramp.at(moment);
    let turned = |moment: Nanos| at(moment) == 0.0 || (at(moment) < 0.0) == (ramp.to < 0.0);
    if turned(begin) {
        return None;
    }
    let turn = Nanos::first(begin, end, turned);
    (turn > begin && turn < end).then_some(turn)
}

#[cfg(test)]
#[path = "tests/motion.rs"]
mod tests;
