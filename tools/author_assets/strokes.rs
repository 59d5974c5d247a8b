//! Brush strokes shared by the characters' paints. Lengths are in the unit of the coordinate.

use super::{
    bake::Texel,
    maths::{noise, smoothstep, wave},
};
use glam::DVec3;

/// 1 within `radius`, fading to 0 over `soft`.
pub fn spot(distance: f64, radius: f64, soft: f64) -> f64 {
    1.0 - smoothstep(radius - soft * 0.5, radius + soft * 0.5, distance)
}

/// A line: 1 where |x| is less than half the width.
pub fn line(x: f64, width: f64) -> f64 {
    spot(x.abs(), width * 0.5, width * 0.5)
}

/// A dashed line of stitches along a coordinate, 9 mm apart.
pub fn dash(x: f64) -> f64 {
    smoothstep(-0.3, 0.3, wave(x / 0.009) + 0.4)
}

/// Worn, grained leather.
pub fn leather(p: DVec3, base: DVec3) -> Texel {
    let grain = noise(p * 190.0);
    let wear = noise(p * 18.0) + 0.5 * noise(p * 50.0);
    Texel {
        color: base * (1.0 + 0.10 * wear + 0.06 * grain),
        height: 0.0003 * grain + 0.0006 * wear,
    }
}
