//! Math with bit-identical results on every machine.
//!
//! IEEE addition, multiplication, division and square roots are correctly rounded everywhere; `f64::sin` and friends
//! are not. So the generator uses only these functions, in `f64`, and rounds its output.

use glam::{DQuat, DVec3};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, TAU};

/// Sine and cosine, by reduction to an eighth of a turn and Taylor series.
pub fn sin_cos(x: f64) -> (f64, f64) {
    let quarter = (x * FRAC_2_PI).round();
    let r = x - quarter * FRAC_PI_2;
    let r2 = r * r;
    let series = |terms: &[f64]| terms.iter().rev().fold(1.0, |sum, n| 1.0 - r2 / n * sum);
    let sin = r * series(&[6.0, 20.0, 42.0, 72.0, 110.0, 156.0, 210.0]);
    let cos = series(&[2.0, 12.0, 30.0, 56.0, 90.0, 132.0, 182.0, 240.0]);
    match quarter.rem_euclid(4.0) as u8 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// Sine.
pub fn sin(x: f64) -> f64 {
    sin_cos(x).0
}

/// Sine of a phase in cycles.
pub fn wave(turns: f64) -> f64 {
    sin(turns * TAU)
}

/// Rotation by `degrees` about `axis`, which doesn't need to be normalized.
pub fn turn(axis: DVec3, degrees: f64) -> DQuat {
    let (s, c) = sin_cos(degrees.to_radians() * 0.5);
    let v = axis.normalize_or_zero() * s;
    DQuat::from_xyzw(v.x, v.y, v.z, c)
}

/// The shortest rotation from one direction to another.
pub fn arc(from: DVec3, to: DVec3) -> DQuat {
    let (from, to) = (from.normalize(), to.normalize());
    let cross = from.cross(to);
    let w = 1.0 + from.dot(to);
    if w < 1e-9 {
        turn(from.any_orthonormal_vector(), 180.0)
    } else {
        DQuat::from_xyzw(cross.x, cross.y, cross.z, w).normalize()
    }
}

/// Normalized interpolation of two rotations along the shorter arc.
pub fn mix_turn(a: DQuat, b: DQuat, t: f64) -> DQuat {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    (a * (1.0 - t) + b * t).normalize()
}

/// Linear interpolation.
pub fn mix(a: f64, b: f64, t: f64) -> f64 {
    a + (b - a) * t
}

/// 0 below `low`, 1 above `high`, smooth between.
pub fn smoothstep(low: f64, high: f64, x: f64) -> f64 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Smooth minimum that differs from `min` only where |a − b| < `k` (Quilez's quadratic polynomial).
pub fn smooth_min(a: f64, b: f64, k: f64) -> f64 {
    let h = (k - (a - b).abs()).max(0.0);
    if h > 0.0 {
        a.min(b) - h * h / (4.0 * k)
    } else {
        a.min(b)
    }
}

/// Smooth maximum, the counterpart of [`smooth_min`].
pub fn smooth_max(a: f64, b: f64, k: f64) -> f64 {
    -smooth_min(-a, -b, k)
}

/// Cubic Hermite curve from `a` (slope `da`) to `b` (slope `db`) at `t` in 0..=1.
pub fn hermite(a: DVec3, da: DVec3, b: DVec3, db: DVec3, t: f64) -> DVec3 {
    let (t2, t3) = (t * t, t * t * t);
    a * (2.0 * t3 - 3.0 * t2 + 1.0)
        + da * (t3 - 2.0 * t2 + t)
        + b * (3.0 * t2 - 2.0 * t3)
        + db * (t3 - t2)
}

/// A curve through `keys` of (time, value), easing in and out of each; constant outside.
pub fn eased(keys: &[(f64, f64)], time: f64) -> f64 {
    let after = keys.partition_point(|key| key.0 <= time);
    match (after.checked_sub(1).map(|i| keys[i]), keys.get(after)) {
        (Some(a), Some(b)) => mix(a.1, b.1, smoothstep(a.0, b.0, time)),
        (Some(key), None) | (None, Some(&key)) => key.1,
        (None, None) => 0.0,
    }
}

/// Deterministic noise of a lattice point in 0..1.
fn lattice(x: i64, y: i64, z: i64) -> f64 {
    let mut h = (x as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ (y as u64).wrapping_mul(0xC2B2_AE3D_27D4_EB4F)
        ^ (z as u64).wrapping_mul(0x1656_67B1_9E37_79F9);
    h = (h ^ (h >> 31)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    h ^= h >> 32;
    (h >> 11) as f64 / (1u64 << 53) as f64
}

/// Value noise in −1..1 with features about one unit wide.
pub fn noise(p: DVec3) -> f64 {
    let base = p.floor();
    let f = p - base;
    let w = f * f * (DVec3::splat(3.0) - f * 2.0);
    let (x, y, z) = (base.x as i64, base.y as i64, base.z as i64);
    let row = |dy: i64, dz: i64| {
        mix(
            lattice(x, y + dy, z + dz),
            lattice(x + 1, y + dy, z + dz),
            w.x,
        )
    };
    let plane = |dz: i64| mix(row(0, dz), row(1, dz), w.y);
    mix(plane(0), plane(1), w.z) * 2.0 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_agree_with_the_standard_library() {
        for i in -1000..1000 {
            let x = f64::from(i) * 0.0137;
            let (s, c) = sin_cos(x);
            assert!(
                (s - x.sin()).abs() < 1e-12 && (c - x.cos()).abs() < 1e-12,
                "{x}"
            );
        }
    }

    #[test]
    fn an_arc_takes_one_direction_to_the_other() {
        let (a, b) = (DVec3::new(0.3, -0.8, 0.1), DVec3::new(-1.0, 0.2, 0.7));
        assert!((arc(a, b) * a.normalize() - b.normalize()).length() < 1e-12);
        assert!((arc(a, -a) * a + a).length() < 1e-9);
    }
}
