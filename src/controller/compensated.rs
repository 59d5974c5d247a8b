//! Sums that do not depend on how time is divided into steps.
//!
//! A clock that adds a thousand small steps in plain `f64` drifts away from one that adds a single large
//! step. A callback key at the end of that step is then passed by one clock and not by the other. Here a
//! number carries the rounding error of its sum along (a *double-double*: T. J. Dekker, "A floating-point
//! technique for extending the available precision", 1971), so both clocks round to the same `f64`.

use serde::{Deserialize, Serialize};
use std::ops::{Add, Sub};

/// Rounds seconds to a grid of 2⁻³⁰ s (about a nanosecond) and returns the number of grid steps.
///
/// Numbers that would be equal without rounding errors, such as the end of a frame and a key right on it, are
/// compared on this grid, so it does not matter which of them was rounded up. Grid steps are whole numbers:
/// unlike a comparison with a tolerance, theirs cannot hold twice, or not at all.
#[inline]
pub(crate) fn tick(seconds: f64) -> f64 {
    // Adding 1.5·2⁵² leaves no bits for a fraction, so this rounds to a whole number without a call.
    const SHIFT: f64 = 1.5 * (1_u64 << 52) as f64;
    let steps = seconds * (1_u64 << 30) as f64;
    if steps.abs() < (1_u64 << 51) as f64 {
        (steps + SHIFT) - SHIFT
    } else {
        steps
    }
}

/// A number with about 106 bits of mantissa: the unevaluated sum of two `f64`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "(f64, f64)", into = "(f64, f64)")]
pub(crate) struct CompensatedF64 {
    hi: f64,
    lo: f64,
}

impl CompensatedF64 {
    pub(crate) const ZERO: Self = Self { hi: 0.0, lo: 0.0 };

    /// Returns the number without an error term; 0 if it is not finite.
    #[inline]
    pub(crate) fn new(value: f64) -> Self {
        Self {
            hi: if value.is_finite() { value } else { 0.0 },
            lo: 0.0,
        }
    }

    /// Returns the nearest `f64`.
    #[inline]
    pub(crate) fn value(self) -> f64 {
        self.hi
    }

    /// Returns the product with a plain number.
    #[inline]
    pub(crate) fn scale(self, factor: f64) -> Self {
        if factor == 1.0 {
            return self;
        }
        let hi = self.hi * factor;
        // The product's rounding error, exactly.
        let error = self.hi.mul_add(factor, -hi);
        Self::renormalized(hi, self.lo.mul_add(factor, error))
    }

    /// Returns `true` if this is less than `other`, both unrounded.
    #[inline]
    pub(crate) fn is_before(self, other: Self) -> bool {
        self.hi < other.hi || (self.hi == other.hi && self.lo < other.lo)
    }

    /// Returns the lesser of two.
    pub(crate) fn min(self, other: Self) -> Self {
        if other.is_before(self) { other } else { self }
    }

    /// Splits `hi + lo` into the rounded sum and what rounding loses. Overflow saturates.
    #[inline]
    fn renormalized(hi: f64, lo: f64) -> Self {
        let sum = hi + lo;
        if sum.is_finite() {
            let rest = lo - (sum - hi);
            Self {
                hi: sum,
                lo: if rest.is_finite() { rest } else { 0.0 },
            }
        } else if hi.is_nan() {
            Self::ZERO
        } else {
            Self {
                hi: f64::MAX.copysign(hi),
                lo: 0.0,
            }
        }
    }
}

/// Returns the sum of a number and a lesser one, and its rounding error (T. J. Dekker).
#[inline]
fn quick_two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// Returns a sum and its rounding error (D. E. Knuth, TAOCP 2, theorem 4.2.2B).
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

impl Add for CompensatedF64 {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        let (hi, error) = two_sum(self.hi, other.hi);
        let (lo, rest) = two_sum(self.lo, other.lo);
        let (sum, error) = quick_two_sum(hi, error + lo);
        let (sum, error) = quick_two_sum(sum, error + rest);
        if (sum + error).is_finite() {
            return Self { hi: sum, lo: error };
        }
        // Near the greatest number, or beyond it.
        Self {
            hi: if sum.is_finite() {
                sum
            } else {
                f64::MAX.copysign(hi)
            },
            lo: 0.0,
        }
    }
}

impl Sub for CompensatedF64 {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        self + Self {
            hi: -other.hi,
            lo: -other.lo,
        }
    }
}

impl From<(f64, f64)> for CompensatedF64 {
    fn from((hi, lo): (f64, f64)) -> Self {
        if hi.is_finite() && lo.is_finite() {
            Self::renormalized(hi, lo)
        } else {
            Self::ZERO
        }
    }
}

impl From<CompensatedF64> for (f64, f64) {
    fn from(number: CompensatedF64) -> Self {
        (number.hi, number.lo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_steps_sum_to_the_large_one() {
        for parts in [3_u32, 7, 60, 144, 240, 1000, 36_000] {
            let step = CompensatedF64::new(10.0 / f64::from(parts));
            let sum = (0..parts).fold(CompensatedF64::ZERO, |sum, _| sum + step);
            let plain = (0..parts).fold(0.0, |sum, _| sum + step.value());
            assert!(
                (sum.value() - 10.0).abs() <= 2e-15,
                "{parts}: {}",
                sum.value()
            );
            assert!((sum.value() - 10.0).abs() <= f64::abs(plain - 10.0));
        }
    }

    #[test]
    fn scaling_a_sum_is_summing_scaled_parts() {
        let step = CompensatedF64::new(1.0 / 240.0);
        let (mut whole, mut scaled) = (CompensatedF64::ZERO, CompensatedF64::ZERO);
        for _ in 0..100_000 {
            whole = whole + step;
            scaled = scaled + step.scale(1.37);
        }
        assert_eq!(whole.scale(1.37).value(), scaled.value());
    }

    #[test]
    fn ticks_are_whole_numbers_in_order() {
        let step = 1.0 / f64::from(1 << 30);
        assert_eq!(
            [0.4, -0.4, 0.6, 1.0, -7.3].map(|steps| tick(steps * step)),
            [0.0, 0.0, 1.0, 1.0, -7.0]
        );
        let rising = [
            -f64::MAX,
            -1e18,
            -2e6,
            -1.0,
            0.0,
            0.1 + 0.2,
            0.301,
            2e6,
            2.2e6,
            1e300,
            f64::MAX,
        ];
        assert!(rising.is_sorted_by(|a, b| tick(*a) <= tick(*b)));
        assert_eq!(tick(0.1 + 0.2), tick(0.3));
    }

    #[test]
    fn overflow_saturates_and_nan_never_appears() {
        let huge = CompensatedF64::new(f64::MAX);
        assert_eq!((huge + huge).value(), f64::MAX);
        assert_eq!(huge.scale(-3.0).value(), -f64::MAX);
        assert_eq!(huge.scale(0.0).value(), 0.0);
        assert_eq!(CompensatedF64::new(f64::NAN), CompensatedF64::ZERO);
        assert_eq!(
            CompensatedF64::from((f64::INFINITY, f64::NAN)),
            CompensatedF64::ZERO
        );
        let (hi, lo) = (huge - huge + huge).into();
        assert!(hi.is_finite() && lo.is_finite());
    }
}
