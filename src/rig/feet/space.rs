//! The character's place in the world, and the ground around it.

use super::{filters::arc_sine, frame::GroundHit};
use crate::rig::math::{across, direction};
use glam::{Affine3A, Mat3A, Vec3A};
use serde::{Deserialize, Serialize};

/// A plane of the ground, in world space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub(super) struct GroundPlane {
    pub(super) point: Vec3A,
    /// The horizontal direction in which the ground rises; its length is rise over run.
    pub(super) slope: Vec3A,
}

/// The character's place in the world.
pub(super) struct Space {
    pub(super) place: Vec3A,
    pub(super) up: Vec3A,
    model_up: Vec3A,
    /// Model → world, for vectors.
    matrix: Mat3A,
    /// Model units per world unit, and the inverse.
    pub(super) to_model: f32,
    pub(super) to_world: f32,
}

/// The steepest ground that counts as such, as rise over run.
const STEEPEST: f32 = 8.0;
/// The angle returned for a turn of more than 60° in a frame, after which no foot stays locked.
const FAR: f32 = 10.0;

impl Space {
    /// `None` if the transform has no inverse.
    #[inline(always)]
    pub(super) fn new(world: &Affine3A, model_up: Vec3A) -> Option<Self> {
        let (matrix, place) = (world.matrix3, world.translation);
        let up = matrix * model_up;
        let square = up.length_squared();
        let (up, to_model, to_world) = if (square - 1.0).abs() < 1e-4 {
            // Few characters are scaled, and for them a step of Newton's method takes the place of the root.
            let to_model = 1.5 - 0.5 * square;
            (up * to_model, to_model, 0.5 + 0.5 * square)
        } else {
            let to_world = up.length();
            (direction(up)?, 1.0 / to_world, to_world)
        };
        let is_valid = matrix.is_finite() && place.is_finite() && (to_model * to_model).is_finite();
        is_valid.then_some(Self {
            place,
            up,
            model_up,
            matrix,
            to_model,
            to_world,
        })
    }

    /// A horizontal direction that turns with the character.
    #[inline(always)]
    pub(super) fn heading(&self) -> Vec3A {
        let heading = self.matrix * self.model_up.any_orthonormal_vector();
        across(heading, self.up).unwrap_or_else(|| self.up.any_orthonormal_vector())
    }

    /// A vector of the world in model space.
    #[inline(always)]
    pub(super) fn to_model(&self, vector: Vec3A) -> Vec3A {
        // With a uniform scale, the inverse is the transpose divided by the scale squared.
        self.matrix.transpose() * (vector * (self.to_model * self.to_model))
    }

    /// A vector of model space in the world.
    #[inline(always)]
    pub(super) fn to_world(&self, vector: Vec3A) -> Vec3A {
        self.matrix * vector
    }

    /// The horizontal part of a vector of the world.
    #[inline(always)]
    pub(super) fn flat(&self, vector: Vec3A) -> Vec3A {
        vector - self.up * vector.dot(self.up)
    }

    /// Returns the turn of the character about its up axis from one heading to another, in radians and in model space: a mirrored
    /// character turns the other way there.
    #[inline(always)]
    pub(super) fn turned(&self, since: Vec3A, heading: Vec3A) -> f32 {
        let side = 1.0_f32.copysign(self.matrix.determinant());
        let sine = since.cross(heading).dot(self.up) * side;
        if since.dot(heading) < 0.5 {
            return FAR.copysign(sine);
        }
        arc_sine(sine.clamp(-1.0, 1.0))
    }

    /// The plane of the ground at a hit; `None` if it is too steep to stand on.
    #[inline(always)]
    pub(super) fn plane(&self, hit: GroundHit) -> Option<GroundPlane> {
        let (point, normal) = (Vec3A::from(hit.point), Vec3A::from(hit.normal));
        let rise = normal.dot(self.up);
        // `normal / rise` has the height 1, so its horizontal part, negated, is rise over run.
        let slope = self.up - normal * (1.0 / rise);
        let is_ground =
            point.is_finite() && rise > 0.0 && slope.length_squared() < STEEPEST * STEEPEST;
        is_ground.then_some(GroundPlane { point, slope })
    }

    /// The horizontal vector, in the world, from the character to a place in model space.
    #[inline(always)]
    pub(super) fn way(&self, place: Vec3A) -> Vec3A {
        self.to_world(place - self.model_up * self.model_up.dot(place))
    }

    /// The height of a plane above the model's origin, in model units, at the end of a way from the character.
    #[inline(always)]
    pub(super) fn height(&self, ground: &GroundPlane, way: Vec3A) -> f32 {
        // Relative to the character first, so that no digits are lost far from the world's origin.
        let root = self.place - ground.point;
        let height = (ground.slope.dot(root + way) - self.up.dot(root)) * self.to_model;
        if height.is_finite() { height } else { 0.0 }
    }
}

#[cfg(test)]
#[path = "tests/space.rs"]
mod tests;
