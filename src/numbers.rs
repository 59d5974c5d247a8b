//! Numbers as a game or a file gives them: any may be infinite, or no number at all.

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
