//! Values that change over time, and the distance covered at a changing speed.

use super::clock::Nanos;
use serde::{Deserialize, Serialize};

/// The course of a value from its start to its end.
///
/// ```
/// # use bevy_marionette::controller::TransitionCurve;
/// // A camera that moves in step with an eased fade, a quarter of the time into it.
/// let eased = TransitionCurve::EaseInEaseOut.at(0.25);
/// assert_eq!(eased, 0.15625);
/// # let (near, far) = (2.0, 6.0);
/// let distance = near + (far - near) * eased;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum TransitionCurve {
    /// At a constant rate.
    #[default]
    Linear,
    /// Slow at both ends: `Q(t) = 2(x−y)t³ + 3(y−x)t² + x` for t in 0..=1, from x to y.
    EaseInEaseOut,
}

impl TransitionCurve {
    /// Returns the fraction of the change that is done after a fraction `t` of the time, both in `0..=1`.
    pub fn at(self, t: f64) -> f64 {
        let t = t.clamp(0.0, 1.0);
        match self {
            Self::Linear => t,
            Self::EaseInEaseOut => t * t * (3.0 - 2.0 * t),
        }
    }
}

/// A value on its way from one to another, in global time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ramp {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(super) begin: Nanos,
    /// The moment at which it arrives, after its beginning.
    pub(super) end: Nanos,
    pub(crate) transition: TransitionCurve,
}

impl Ramp {
    /// Returns its length in seconds, > 0.
    pub(crate) fn duration(&self) -> f64 {
        self.end.since(self.begin)
    }

    /// The seconds from its begin to a moment.
    pub(super) fn seconds_to(&self, moment: Nanos) -> f64 {
        moment.since(self.begin)
    }

    /// The fraction of the time that has passed after some seconds, in 0..=1.
    fn progress(&self, seconds: f64) -> f64 {
        let t = seconds / self.duration();
        if t.is_nan() { 1.0 } else { t.clamp(0.0, 1.0) }
    }

    /// Returns `true` if it stays where it is.
    fn is_level(&self) -> bool {
        self.from == self.to
    }

    /// The value as a polynomial of the seconds after some seconds from its begin, in ascending powers.
    pub(super) fn terms(&self, seconds: f64) -> [f64; 4] {
        let [a, b, c] = self.slope(seconds);
        [self.after(seconds), a, b / 2.0, c / 3.0]
    }

    /// The value at a moment.
    pub(super) fn at(&self, moment: Nanos) -> f64 {
        self.after(self.seconds_to(moment))
    }

    /// The value some seconds after its begin.
    pub(crate) fn after(&self, seconds: f64) -> f64 {
        if self.is_level() {
            return self.from;
        }
        let share = self.transition.at(self.progress(seconds));
        // Both ends are exact, whatever the rounding between them.
        if share >= 1.0 {
            self.to
        } else {
            self.from + (self.to - self.from) * share
        }
    }

    /// The rate of change, as the polynomial `c[0] + c[1]·s + c[2]·s²` of the seconds s after some seconds
    /// within the ramp.
    pub(crate) fn slope(&self, seconds: f64) -> [f64; 3] {
        let change = (self.to - self.from) / self.duration();
        match self.transition {
            TransitionCurve::Linear => [change, 0.0, 0.0],
            TransitionCurve::EaseInEaseOut => {
                let (t, dt) = (self.progress(seconds), 1.0 / self.duration());
                [t * (1.0 - t), dt * (1.0 - 2.0 * t), -dt * dt].map(|c| 6.0 * change * c)
            }
        }
    }
}

/// Returns the roots of `c + b·x + a·x²`, the lesser one first; not finite where there is none.
pub(crate) fn roots([c, b, a]: [f64; 3]) -> [f64; 2] {
    let q = -0.5 * (b + (b * b - 4.0 * a * c).sqrt().copysign(b));
    let (first, second) = (q / a, c / q);
    if second < first {
        [second, first]
    } else {
        [first, second]
    }
}

/// Finds the least number in `low..=high` at which a condition holds that stays true from there on; `high` if none.
pub(crate) fn bisect(mut low: f64, mut high: f64, reached: impl Fn(f64) -> bool) -> f64 {
    // 64 halvings of 0..=1 reach adjacent numbers.
    for _ in 0..64 {
        let middle = low + (high - low) * 0.5;
        if middle <= low || middle >= high {
            break;
        }
        if reached(middle) {
            high = middle
        } else {
            low = middle
        }
    }
    high
}

#[cfg(test)]
#[path = "tests/ramp.rs"]
mod tests;
