//! Filters that are exact for any time step, and functions of angles that have the same bits on every platform.

use crate::trig::sin_cos_f32;
use glam::{Quat, Vec3A};
use serde::{Deserialize, Serialize};
use std::ops::{Add, Mul, Sub};

/// A critically damped spring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub(crate) struct Spring<T> {
    pub(crate) value: T,
    /// Per second.
    pub(crate) velocity: T,
}

/// A time step of springs with one rate, in 1/s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    rate: f32,
    dt: f32,
    decay: f32,
}

impl Step {
    /// No time passes.
    pub(super) const STILL: Self = Self {
        rate: 0.0,
        dt: 0.0,
        decay: 1.0,
    };

    #[inline(always)]
    pub(super) fn new(rate: f32, dt: f32) -> Self {
        Self {
            rate,
            dt,
            decay: decay(rate * dt),
        }
    }
}

/// Values that springs can move.
pub(super) trait Length {
    /// The largest of the components, by amount.
    fn largest(&self) -> f32;
}

impl Length for f32 {
    #[inline(always)]
    fn largest(&self) -> f32 {
        self.abs()
    }
}

impl Length for Vec3A {
    #[inline(always)]
    fn largest(&self) -> f32 {
        self.abs().max_element()
    }
}

impl<T: Copy + Default + Length + Add<Output = T> + Sub<Output = T> + Mul<f32, Output = T>>
    Spring<T>
{
    /// Settles toward zero.
    #[inline(always)]
    pub(super) fn settle(&mut self, Step { rate, dt, decay }: Step) {
        if dt > 0.0 {
            // The exact solution of a critically damped spring after `dt`.
            let push = self.velocity + self.value * rate;
            self.value = (self.value + push * dt) * decay;
            self.velocity = (self.velocity - push * (rate * dt)) * decay;
            // Numbers that are much smaller are slow on many processors (subnormals).
            if self.value.largest() < 1e-9 && self.velocity.largest() < 1e-9 {
                *self = Self::default();
            }
        }
    }

    /// Settles toward `goal`.
    #[inline(always)]
    pub(super) fn toward(&mut self, goal: T, step: Step) {
        if step.dt > 0.0 {
            self.value = self.value - goal;
            self.settle(step);
            self.value = self.value + goal;
        }
    }
}

/// e to the power of −`x`, for `x` ≥ 0.
#[inline(always)]
fn decay(x: f32) -> f32 {
    // A series for `x / 64`, then squared six times. The library's function differs between
    // platforms.
    let x = -f64::from(x.clamp(0.0, 60.0)) / 64.0;
    let mut power =
        1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0 + x * (1.0 / 120.0)))));
    for _ in 0..6 {
        power *= power;
    }
    power as f32
}

/// 0 up to 0, 1 from 1 on, and smooth in between.
#[inline(always)]
pub(super) fn smoothstep(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// The arc sine, for up to 60°.
#[inline(always)]
pub(super) fn arc_sine(sine: f32) -> f32 {
    // Taylor's series. The last coefficient is larger, to make up for the terms that are left out.
    let s = sine * sine;
    sine * (1.0
        + s * (1.0 / 6.0
            + s * (3.0 / 40.0 + s * (15.0 / 336.0 + s * (105.0 / 3456.0 + s * 0.0363)))))
}

/// A rotation about a unit axis.
#[inline(always)]
pub(super) fn rotation(axis: Vec3A, angle: f32) -> Quat {
    let (sine, cosine) = sin_cos_f32(0.5 * angle);
    Quat::from_vec4((axis * sine).extend(cosine))
}

/// The angle between two rotations, in radians.
#[inline(always)]
pub(crate) fn angle(a: Quat, b: Quat) -> f32 {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    // The chord is twice the sine of a quarter of the angle, which is at most 45°.
    let sine = 0.5 * (a - b).length();
    4.0 * arc_sine(sine.min(1.0))
}

/// Turns from one rotation toward another by at most an angle in radians. `other` returns a larger
/// limit, and is called only if the first one is too small.
#[inline(always)]
pub(crate) fn turn_toward(from: Quat, to: Quat, most: f32, other: impl FnOnce() -> f32) -> Quat {
    let near = if from.dot(to) < 0.0 { -to } else { to };
    // The square of an angle is less than 5 times that of the chord between the quaternions.
    if 5.0 * (from - near).length_squared() <= most * most {
        return to;
    }
    let whole = angle(from, near);
    // Rounding is not a turn.
    if whole <= most + 1e-5 {
        return to;
    }
    let most = most.max(other());
    if whole <= most + 1e-5 {
        return to;
    }
    let side = near - from * from.dot(near);
    let length = side.length();
    if length < 1e-9 {
        return from;
    }
    let (sine, cosine) = sin_cos_f32(0.5 * most);
    (from * cosine + side * (sine / length)).normalize()
}

#[cfg(test)]
#[path = "tests/filters.rs"]
mod tests;
