//! State of springs from frame to frame.

use super::{
    Springs,
    step::{Body, STEP},
};
use glam::{Affine3A, Mat3A, Vec3A};
use serde::{Deserialize, Serialize};

/// State of a character's springs from frame to frame: save and restore it to roll back.
///
/// The default is a state in which nothing has happened yet: with it, springs begin where they would come to rest.
/// A state takes memory once, when it is first used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct SpringState {
    pub(super) points: Vec<SpringPoint>,
    /// Each collider's center, and the vector to its other end.
    pub(super) colliders: Vec<[Track; 2]>,
    /// The world matrix of the last frame. Positions are relative to its translation, so that they are as exact far
    /// from the world's origin as near it.
    pub(super) world: Affine3A,
    /// Seconds from the last step to the last frame.
    pub(super) remainder: f32,
    /// Seconds that the last frame took, and the one before it.
    pub(super) dt: [f32; 2],
    pub(super) wind: Vec3A,
}

/// A joint's share of a [`SpringState`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub(super) struct SpringPoint {
    /// The bone's end at the last step, relative to its target.
    pub(super) deviation: Vec3A,
    pub(super) velocity: Vec3A,
    /// The target in the last step.
    pub(super) target: Vec3A,
    pub(super) target_velocity: Vec3A,
    /// The joint at the last step.
    pub(super) anchor: Vec3A,
    /// The animated pose: from the parent to the joint, and from the joint to the bone's end.
    pub(super) offset: Track,
    pub(super) bone: Track,
}

/// Something that moves with the animated pose, in the last frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub(super) struct Track {
    pub(super) at: Vec3A,
    /// Its mean velocity between the last two frames.
    pub(super) velocity: Vec3A,
    /// The second divided difference of its path: half of its acceleration.
    pub(super) bend: Vec3A,
}

impl SpringState {
    /// Resets everything: springs begin again where they would come to rest.
    pub fn reset(&mut self) {
        self.points.clear();
        self.remainder = 0.0;
    }

    /// Returns the approximate number of bytes that the state has allocated.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.points[..]) + size_of_val(&self.colliders[..])
    }

    /// Returns the seconds from the last step to the last frame.
    pub(super) fn since(&self) -> f64 {
        let since = f64::from(self.remainder);
        if since > 0.0 { since.min(STEP) } else { 0.0 }
    }

    /// Returns `true` if the state belongs to `springs`.
    pub(super) fn fits(&self, springs: &Springs) -> bool {
        self.points.len() == springs.joints.len() && self.colliders.len() == springs.colliders.len()
    }

    /// Moves the springs to another place, as if they had always been there.
    pub(super) fn carry(&mut self, world: &Affine3A) {
        // Positions are relative to the character, so only its rotation and scale matter.
        let by = world.matrix3 * self.world.matrix3.inverse();
        self.world = *world;
        if !by.is_finite() {
            return self.reset();
        }
        self.points.iter_mut().for_each(|point| point.turn(&by));
        self.colliders
            .iter_mut()
            .flatten()
            .for_each(|end| end.turn(&by));
    }
}

impl SpringPoint {
    #[inline(always)]
    pub(super) fn body(&self) -> Body {
        let Self {
            deviation,
            velocity,
            target_velocity,
            ..
        } = *self;
        Body {
            deviation,
            velocity,
            target_velocity,
        }
    }

    fn turn(&mut self, by: &Mat3A) {
        let Self {
            deviation,
            velocity,
            target,
            target_velocity,
            anchor,
            offset,
            bone,
        } = self;
        for vector in [deviation, velocity, target, target_velocity, anchor] {
            *vector = *by * *vector;
        }
        offset.turn(by);
        bone.turn(by);
    }
}

impl Track {
    pub(super) fn still(at: Vec3A) -> Self {
        Self {
            at,
            ..Self::default()
        }
    }

    fn turn(&mut self, by: &Mat3A) {
        *self = Self {
            at: *by * self.at,
            velocity: *by * self.velocity,
            bend: *by * self.bend,
        };
    }
}
