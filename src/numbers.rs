//! Numbers as a game or a file gives them: any may be infinite, or no number at all.

use glam::Quat;

/// Clamps a weight to 0..=1; NaN becomes 0.
#[inline]
pub(crate) fn clamp_weight(weight: f32) -> f32 {
    if weight > 0.0 { weight.min(1.0) } else { 0.0 }
}

/// Returns a number, or 0 if it is not finite.
#[inline]
pub(crate) fn finite(number: f64) -> f64 {
    if number.is_finite() { number } else { 0.0 }
}

/// Returns the larger of two errors, or NaN if one is, which `max` would ignore.
#[inline]
pub(crate) fn worse<T: PartialOrd>(a: T, b: T) -> T {
    // Only NaN can't be compared with itself.
    if a >= b || a.partial_cmp(&a).is_none() {
        a
    } else {
        b
    }
}

/// Normalizes a finite quaternion; returns the identity for one too small to have a direction.
#[inline(always)]
pub(crate) fn unit(q: Quat) -> Quat {
    let square = q.length_squared();
    if (square - 1.0).abs() < 1e-4 {
        // Only rounded: a step of Newton's method does it.
        return q * (1.5 - 0.5 * square);
    }
    if square > 1e-12 && square < 1e12 {
        return q * (1.0 / square.sqrt());
    }
    // Divided by its largest component first, so that the squared length neither over- nor underflows.
    let largest = q.x.abs().max(q.y.abs()).max(q.z.abs()).max(q.w.abs());
    if largest > f32::MIN_POSITIVE {
        (q * (1.0 / largest)).normalize()
    } else {
        Quat::IDENTITY
    }
}

#[cfg(test)]
#[path = "tests/numbers.rs"]
mod tests;
