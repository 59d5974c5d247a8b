//! Time in whole nanoseconds.
//!
//! A clock that counts nanoseconds is at the same moment however time was divided into steps: sums of whole numbers have
//! no rounding. What a step or a [time scale](super::AnimationController::time_scale) leaves of a nanosecond is
//! carried over to the next step.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A moment, or a span of time, in whole nanoseconds: up to 292 years before and after 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub(super) struct Nanos(i64);

impl Nanos {
    pub(super) const ZERO: Self = Self(0);
    pub(super) const MAX: Self = Self(i64::MAX);

    /// Returns the nearest moment; 0 for NaN.
    pub(super) fn from_secs(seconds: f64) -> Self {
        Self(round(seconds * 1e9) as i64)
    }

    pub(super) fn secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the seconds that have passed since an earlier moment.
    #[inline]
    pub(super) fn since(self, earlier: Self) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 / 1e9
    }

    #[inline]
    pub(super) fn plus(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    #[inline]
    pub(super) fn minus(self, span: Self) -> Self {
        Self(self.0.saturating_sub(span.0))
    }

    /// Returns the moment that is nearest to `nanos` after this one, and the rest, in `-0.5..=0.5` nanoseconds.
    #[inline]
    pub(super) fn after(self, nanos: f64) -> (Self, f64) {
        let whole = round(nanos);
        (self.plus(Self(whole as i64)), nanos - whole)
    }

    /// Returns the ends of the cell of a grid that a moment lies in, given the nanoseconds of a cell.
    pub(super) fn cell(self, size: i64) -> [Self; 2] {
        let begin = Self(self.0.saturating_sub(self.0.rem_euclid(size)));
        [begin, begin.plus(Self(size))]
    }

    /// Returns the moment halfway to a later one.
    pub(super) fn middle(self, later: Self) -> Self {
        Self(self.0 + later.0.saturating_sub(self.0) / 2)
    }

    /// Finds the first moment after `low`, up to `high`, at which a condition holds that stays true from there on;
    /// `high` if none.
    pub(super) fn first(low: Self, high: Self, holds: impl Fn(Self) -> bool) -> Self {
        let (mut low, mut high) = (low.0, high.0);
        // Moments of a file may be further apart than the largest number.
        while high > low && high.abs_diff(low) > 1 {
            let middle = low.wrapping_add((high.abs_diff(low) / 2) as i64);
            if holds(Self(middle)) {
                high = middle
            } else {
                low = middle
            }
        }
        Self(high)
    }
}

impl From<Nanos> for Duration {
    /// Returns the span; zero if it is negative.
    fn from(span: Nanos) -> Self {
        Self::from_nanos(span.0.try_into().unwrap_or(0))
    }
}

impl From<Duration> for Nanos {
    fn from(duration: Duration) -> Self {
        Self(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
    }
}

/// Rounds to the nearest whole number, and to an even one from halfway.
#[inline]
pub(super) fn round(number: f64) -> f64 {
    // Adding 1.5·2⁵² leaves no bits for a fraction, so this takes no call.
    const SHIFT: f64 = 1.5 * (1_u64 << 52) as f64;
    if number.abs() < (1_u64 << 51) as f64 {
        (number + SHIFT) - SHIFT
    } else {
        number.round()
    }
}

/// A clock that time may pass faster or slower for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Clock {
    pub(super) now: Nanos,
    /// Rest of the steps below a nanosecond, in parts of 2⁻⁶⁴, rounded to the nearest: from −½ to ½.
    carry: i64,
}

/// 2⁶⁴.
const PARTS: f64 = 18_446_744_073_709_551_616.0;

impl Clock {
    /// Returns the clock after some seconds of real time, finite and ≥ 0, of which each takes `scale`, too.
    #[inline]
    pub(super) fn after(self, seconds: f64, scale: f64) -> Self {
        let mut nanos = seconds * 1e9;
        // A whole number of nanoseconds in seconds is one but for rounding.
        let near = round(nanos);
        if (nanos - near).abs() <= near * (2.0 * f64::EPSILON) {
            // Nearly always, nothing is multiplied, and there is no rest.
            if scale == 1.0 && near < 9.2e18 {
                let now = self.now.plus(Nanos(near as i64));
                return Self { now, ..self };
            }
            nanos = near;
        }
        if nanos >= 9.2e18 {
            return self.at_end(scale);
        }
        let whole = nanos as i64;
        let rest = nanos - whole as f64;
        if scale == 1.0 {
            // The parts are a carry from one word to the next.
            let biased = (self.carry as u64) ^ (1 << 63);
            let (biased, carries) = biased.overflowing_add((rest * PARTS) as u64);
            let passed = whole + i64::from(carries);
            return Self {
                now: self.now.plus(Nanos(passed)),
                carry: (biased ^ (1 << 63)) as i64,
            };
        }
        let Some(passed) = scaled(whole as u64, scale) else {
            return self.at_end(scale);
        };
        let rest = (rest * scale * PARTS) as i128;
        let sum = passed.checked_add(rest);
        let Some(sum) = sum.and_then(|sum| sum.checked_add(self.carry.into())) else {
            return self.at_end(scale);
        };
        // To the nearest.
        let passed = sum.saturating_add(1 << 63) >> 64;
        let now = i64::try_from(i128::from(self.now.0) + passed).unwrap_or(i64::MAX);
        Self {
            now: Nanos(now),
            carry: (sum - (passed << 64)) as i64,
        }
    }

    fn at_end(self, scale: f64) -> Self {
        let (now, carry) = (Nanos::MAX, 0);
        if scale > 0.0 {
            Self { now, carry }
        } else {
            self
        }
    }

    /// Sets the clock to 0, and returns where it was.
    pub(super) fn reset(&mut self) -> Nanos {
        std::mem::replace(&mut self.now, Nanos::ZERO)
    }
}

/// The product of whole nanoseconds and a scale, in parts of 2⁻⁶⁴ ns, without rounding: a sum of products is the product of
/// the sum. `None` if it is too large.
fn scaled(nanos: u64, scale: f64) -> Option<i128> {
    let whole = u128::from(nanos)
        .checked_mul(scale as u128)?
        .checked_mul(1 << 64)?;
    let parts = u128::from(nanos) * u128::from((scale.fract() * PARTS) as u64);
    i128::try_from(whole.checked_add(parts)?).ok()
}

#[cfg(test)]
#[path = "tests/clock.rs"]
mod tests;
