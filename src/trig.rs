//! Trigonometric functions with the same bits on every platform, which those of the standard library don't promise: replays
//! and networked games compare where characters are.

/// Returns the sine and cosine of an angle in radians, to about 1e-16 for up to a million turns.
#[inline(always)]
pub(crate) fn sin_cos(angle: f64) -> (f64, f64) {
    let Some((x, quarters)) = without_quarters(angle) else {
        return (0.0, 1.0);
    };
    // Minimax polynomials of fdlibm (Sun Microsystems, 1993), on ±π/4.
    let z = x * x;
    let sin = 8.333_333_333_322_49e-3
        + z * (-1.984_126_982_985_795e-4
            + z * (2.755_731_370_707_006_8e-6
                + z * (-2.505_076_025_340_686_3e-8 + z * 1.589_690_995_211_55e-10)));
    let sin = x + x * z * (-1.666_666_666_666_663_2e-1 + z * sin);
    let cos = 2.480_158_728_947_673e-5
        + z * (-2.755_731_435_139_066_3e-7
            + z * (2.087_572_321_298_175e-9 - z * 1.135_964_755_778_819_5e-11));
    let cos = 1.0 - 0.5 * z
        + z * z * (4.166_666_666_666_66e-2 + z * (-1.388_888_888_887_411e-3 + z * cos));
    match quarters {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// [`sin_cos`] in single precision, to about 1e-7.
#[inline(always)]
pub(crate) fn sin_cos_f32(angle: f32) -> (f32, f32) {
    let Some((x, quarters)) = without_quarters(angle.into()) else {
        return (0.0, 1.0);
    };
    // Minimax polynomials of Cephes (Moshier, 1992), on ±π/4.
    let x = x as f32;
    let z = x * x;
    let sin = x + x * z * (-1.666_665_5e-1 + z * (8.332_161e-3 - z * 1.951_529_6e-4));
    let cos = 1.0 - 0.5 * z + z * z * (4.166_664_6e-2 + z * (-1.388_731_6e-3 + z * 2.443_315_7e-5));
    match quarters {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// Takes the nearest number of quarter turns off an angle; returns what is left of it, and their number but for whole
/// turns. `None` if the angle isn't finite, or is so many turns that nothing is known of the last one.
#[inline(always)]
fn without_quarters(angle: f64) -> Option<(f64, i64)> {
    // They are taken off in two parts, of which the first times their number is exact.
    const QUARTER: f64 = 1.570_796_326_734_125_6;
    const REST: f64 = 6.077_100_506_506_192e-11;
    // Adding so much rounds to a whole number.
    const ROUND: f64 = 1.5 / f64::EPSILON;
    let quarters = (angle * std::f64::consts::FRAC_2_PI + ROUND) - ROUND;
    let x = (angle - quarters * QUARTER) - quarters * REST;
    (x.abs() < 1.0).then_some((x, quarters as i64 & 3))
}

/// Returns the angle of the point (`x`, `y`) from the x axis, −π..=π, to about 5e-7; 0 at the origin.
#[inline(always)]
pub(crate) fn atan2(y: f32, x: f32) -> f32 {
    use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    let (a, b) = (x.abs(), y.abs());
    let (least, most) = (a.min(b), a.max(b));
    // Within ±π/8, after an eighth of a turn is taken off.
    let is_far = least > 0.414_213_57 * most;
    let (above, below) = if is_far {
        (least - most, least + most)
    } else {
        (least, most)
    };
    let t = if below > 0.0 { above / below } else { 0.0 };
    let z = t * t;
    // Minimax polynomial of Cephes (Moshier, 1989).
    let series = ((8.053_744_5e-2 * z - 1.387_768_6e-1) * z + 1.997_771_1e-1) * z - 3.333_295e-1;
    let angle = t + t * z * series + if is_far { FRAC_PI_4 } else { 0.0 };
    let angle = if b > a { FRAC_PI_2 - angle } else { angle };
    (if x < 0.0 { PI - angle } else { angle }).copysign(y)
}

/// Returns `sin(x) / x`.
pub(crate) fn sinc(x: f64) -> f64 {
    if x.abs() < 1e-4 {
        1.0 - x * x * (1.0 / 6.0)
    } else {
        sin_cos(x).0 / x
    }
}

#[cfg(test)]
#[path = "tests/trig.rs"]
mod tests;
