//! Root motion: the movement of a character by its clip, apart from the pose.
//!
//! The movement has four degrees of freedom: two over the ground, one up, and the turn about the up axis. It is kept in
//! double precision, so that it can be added up over hours.

mod path;

pub(crate) use path::Knot;
pub use path::RootPath;

use crate::trig::{sin_cos, sinc};
use glam::{DVec3, Quat, Vec3};
use serde::{Deserialize, Serialize};

/// A movement of a character: a translation, and a turn about its up axis.
///
/// Both are in the space that the character had before: −Z is ahead of it, and lengths are in model units after scaling,
/// before the scale of its transform.
///
/// ```
/// # use bevy_marionette::model::RootDelta;
/// # use glam::DVec3;
/// # use std::f64::consts::FRAC_PI_2;
/// // A clip that walks a meter ahead and then turns left comes back to its start in four loops.
/// let walk_and_turn = RootDelta::new(DVec3::NEG_Z, 0.0).then(RootDelta::new(DVec3::ZERO, FRAC_PI_2));
/// let square = walk_and_turn.repeated(4.0);
/// assert!(square.translation.length() < 1e-9);
/// assert_eq!(square.turn, 4.0 * FRAC_PI_2);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct RootDelta {
    /// The distance that the character moves: right, up and back.
    pub translation: DVec3,
    /// The angle that it turns, in radians; positive to the left. Whole turns count.
    pub turn: f64,
}

impl RootDelta {
    /// No movement.
    pub const IDENTITY: Self = Self {
        translation: DVec3::ZERO,
        turn: 0.0,
    };

    /// Creates a movement.
    pub const fn new(translation: DVec3, turn: f64) -> Self {
        Self { translation, turn }
    }

    /// Returns this movement followed by another, which is relative to where this one ends.
    #[must_use]
    #[inline]
    pub fn then(self, next: Self) -> Self {
        Self {
            translation: self.translation + turned(next.translation, self.turn),
            turn: self.turn + next.turn,
        }
    }

    /// Returns the movement back.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self {
            translation: -turned(self.translation, -self.turn),
            turn: -self.turn,
        }
    }

    /// Returns the movement repeated a number of times; negative for backwards. Takes the same time for any number.
    #[must_use]
    pub fn repeated(self, times: f64) -> Self {
        let Self {
            translation: DVec3 { x, y, z },
            turn,
        } = self;
        // Repeating sums turned copies, a geometric series of rotations: turned halfway, and
        // shorter like the chord of an arc.
        // Whole turns don't change the direction, and are left out to keep the sines exact.
        let part = turn - (turn / std::f64::consts::TAU).round() * std::f64::consts::TAU;
        let factor = if part == 0.0 {
            times
        } else {
            times * sinc(0.5 * times * part) / sinc(0.5 * part)
        };
        let over_ground = turned(DVec3::new(x, 0.0, z) * factor, 0.5 * (times - 1.0) * part);
        Self {
            translation: over_ground + DVec3::Y * (y * times),
            turn: turn * times,
        }
    }

    /// Returns the translation in single precision.
    pub fn translation(&self) -> Vec3 {
        self.translation.as_vec3()
    }

    /// Returns the turn as a rotation.
    pub fn rotation(&self) -> Quat {
        let (sin, cos) = sin_cos(0.5 * self.turn);
        Quat::from_xyzw(0.0, sin as f32, 0.0, cos as f32)
    }

    /// Returns `true` if nothing moves.
    pub fn is_identity(&self) -> bool {
        *self == Self::IDENTITY
    }

    /// Returns `true` if all numbers are finite.
    #[inline]
    pub fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.turn.is_finite()
    }

    /// Returns the part of a movement that is made after a fraction of it, in `0..=1`, along an arc.
    #[must_use]
    pub fn share(self, fraction: f64) -> Self {
        Twist::between(self).scaled(fraction).movement()
    }
}

#[cfg(feature = "bevy")]
impl From<RootDelta> for bevy::prelude::Transform {
    fn from(delta: RootDelta) -> Self {
        Self {
            translation: delta.translation(),
            rotation: delta.rotation(),
            ..Self::IDENTITY
        }
    }
}

/// A movement along an arc: its speeds times its duration.
///
/// Arcs of the same curvature add up, however they are divided, and so do shares of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Twist {
    /// The distance ahead as the character sees it, all the way.
    pub(crate) ahead: DVec3,
    pub(crate) turn: f64,
}

impl Twist {
    /// Returns the arc to the end of a movement of less than a turn.
    pub(crate) fn between(delta: RootDelta) -> Self {
        let RootDelta {
            translation: DVec3 { x, y, z },
            turn,
        } = delta;
        if turn == 0.0 {
            return Self {
                ahead: delta.translation,
                turn,
            };
        }
        // In a whole turn, an arc comes back to its start, so the formula is not exact beyond half
        // a turn.
        let chord = if turn.abs() <= std::f64::consts::PI {
            sinc(0.5 * turn)
        } else {
            1.0
        };
        Self {
            ahead: turned(DVec3::new(x, 0.0, z), -0.5 * turn) / chord + DVec3::Y * y,
            turn,
        }
    }

    /// Returns the movement from the start of the arc to its end.
    #[inline]
    pub(crate) fn movement(self) -> RootDelta {
        let Self {
            ahead: DVec3 { x, y, z },
            turn,
        } = self;
        if turn == 0.0 {
            return RootDelta {
                translation: self.ahead,
                turn,
            };
        }
        let over_ground = turned(DVec3::new(x, 0.0, z), 0.5 * turn) * sinc(0.5 * turn);
        RootDelta {
            translation: over_ground + DVec3::Y * y,
            turn,
        }
    }

    #[inline]
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self {
            ahead: self.ahead * factor,
            turn: self.turn * factor,
        }
    }

    #[inline]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            ahead: self.ahead + other.ahead,
            turn: self.turn + other.turn,
        }
    }

    fn is_finite(self) -> bool {
        self.ahead.is_finite() && self.turn.is_finite()
    }
}

/// Turns a vector about the up axis.
#[inline]
pub(crate) fn turned(v: DVec3, turn: f64) -> DVec3 {
    if turn == 0.0 {
        return v;
    }
    let (sin, cos) = sin_cos(turn);
    DVec3::new(v.x * cos + v.z * sin, v.y, v.z * cos - v.x * sin)
}

#[cfg(test)]
#[path = "tests/root_motion.rs"]
mod tests;
