//! The character's place in the world, and the ground around it.

use super::{GroundHit, filters::arc_sine};
use crate::rig::math::direction;
use glam::{Affine3A, Mat3A, Vec3, Vec3A};
use serde::{Deserialize, Serialize};

/// A plane of the ground, in world space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub(super) struct GroundPlane {
    pub(super) point: Vec3,
    /// The horizontal direction in which the ground rises; its length is rise over run.
    pub(super) slope: Vec3,
}

/// The character's place in the world.
pub(super) struct Space {
    pub(super) place: Vec3,
    pub(super) up: Vec3,
    /// A horizontal direction that turns with the character.
    pub(super) heading: Vec3,
    model_up: Vec3,
    /// Model → world and back, for vectors.
    matrix: Mat3A,
    inverse: Mat3A,
    /// Model units per world unit, and the inverse.
    pub(super) to_model: f32,
    pub(super) to_world: f32,
}

/// The steepest ground that counts as such, as rise over run.
const STEEPEST: f32 = 8.0;
/// The angle of a turn of more than 60° in a frame, after which nothing is held.
const FAR: f32 = 10.0;

impl Space {
    /// `None` if the transform has no inverse.
    pub(super) fn new(world: &Affine3A, model_up: Vec3) -> Option<Self> {
        let (matrix, inverse) = (world.matrix3, world.matrix3.inverse());
        let vector = |v: Vec3| Vec3::from(matrix * Vec3A::from(v));
        let to_world = vector(model_up).length();
        let up = direction(vector(model_up))?;
        let heading = vector(model_up.any_orthonormal_vector());
        let heading = direction(heading - up * heading.dot(up))?;
        let to_model = 1.0 / to_world;
        let place: Vec3 = world.translation.into();
        let is_valid = inverse.is_finite() && matrix.is_finite() && place.is_finite() && to_model.is_finite();
        is_valid.then_some(Self { place, up, heading, model_up, matrix, inverse, to_model, to_world })
    }

    /// A vector of the world in model space.
    pub(super) fn to_model(&self, vector: Vec3) -> Vec3 {
        (self.inverse * Vec3A::from(vector)).into()
    }

    /// A vector of model space in the world.
    pub(super) fn to_world(&self, vector: Vec3) -> Vec3 {
        (self.matrix * Vec3A::from(vector)).into()
    }

    /// The horizontal part of a vector of the world.
    pub(super) fn flat(&self, vector: Vec3) -> Vec3 {
        vector - self.up * vector.dot(self.up)
    }

    /// How far the character has turned about its up axis since it had another heading, in radians.
    pub(super) fn turned(&self, since: Vec3) -> f32 {
        let sine = since.cross(self.heading).dot(self.up);
        if since.dot(self.heading) < 0.5 {
            return FAR.copysign(sine);
        }
        arc_sine(sine.clamp(-1.0, 1.0))
    }

    /// The plane of the ground at a hit; `None` if it is too steep to stand on.
    pub(super) fn plane(&self, hit: GroundHit) -> Option<GroundPlane> {
        let rise = hit.normal.dot(self.up);
        let slope = self.up - hit.normal / rise;
        let is_ground = hit.point.is_finite() && rise > 0.0 && slope.length_squared() < STEEPEST * STEEPEST;
        is_ground.then_some(GroundPlane { point: hit.point, slope })
    }

    /// The height of a plane above the model's origin, under or above a place in model space, in model units.
    pub(super) fn height(&self, ground: &GroundPlane, place: Vec3) -> f32 {
        // Relative to the character first, so that no digits are lost far from the world's origin.
        let root = self.place - ground.point;
        let place = self.to_world(place - self.model_up * self.model_up.dot(place));
        let height = (ground.slope.dot(root + place) - self.up.dot(root)) * self.to_model;
        if height.is_finite() { height } else { 0.0 }
    }
}
