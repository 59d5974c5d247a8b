//! A grid on which times are compared.

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
