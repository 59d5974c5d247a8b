//! The inputs of foot placement: legs, limits, the clips' plans, and the ground.

use crate::{model::JointIndex, rig::TurnSpeeds};
use glam::{Affine3A, Vec3};
use serde::{Deserialize, Serialize};

/// The joints of a leg: the input of [`Feet::new`](super::Feet::new).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LegJoints {
    /// The first joint of the leg: thigh, or upper arm of an animal's foreleg.
    pub root: JointIndex,
    /// The joint that bends: shin. `None` takes the joint between `root` and `tip` that is closest to the middle.
    pub mid: Option<JointIndex>,
    /// The joint of the foot: ankle, hock or wrist.
    pub tip: JointIndex,
    /// The joint of the toes, which carries the foot while the heel is up.
    pub toe: Option<JointIndex>,
    /// Point at which the heel touches the ground at rest, in model space. `None` takes the point below `tip`. Feet whose `tip` is
    /// a hock or a wrist, high above the ground, never stand on it.
    pub heel: Option<Vec3>,
}

/// Limits of foot placement. Lengths are in leg lengths.
///
/// ```ron
/// feet: (
///     hips: "hips",
///     legs: [(root: "thigh.L", tip: "foot.L"), (root: "thigh.R", tip: "foot.R")],
///     limits: (height: 0.2, slope: 0.3),
/// )
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
#[serde(deny_unknown_fields, default)]
pub struct FeetLimits {
    /// Largest distance by which feet and hips are raised and lowered. Ground farther away than twice this is ignored.
    pub height: f32,
    /// The steepest slope that feet tilt to, as rise over run: 1 is 45°.
    pub slope: f32,
    /// Largest distance of a locked foot from its place in the clip, beyond which it is released.
    pub stride: f32,
    /// Speed limit of joints that adapt, as a multiple of the fastest they turn in any clip; above 1.
    pub turn: f32,
}

impl Default for FeetLimits {
    fn default() -> Self {
        Self {
            height: 0.45,
            slope: 1.0,
            stride: 0.4,
            turn: 1.4,
        }
    }
}

/// A point of the ground.
///
/// ```
/// # use bevy_marionette::rig::{GroundHit, GroundRay};
/// # use glam::Vec3;
/// /// Finds a frozen lake at height 0.
/// fn ice(ray: &GroundRay) -> Option<GroundHit> {
///     let distance = -ray.origin.y / ray.direction.y;
///     let hit = GroundHit { point: ray.origin + distance * ray.direction, normal: Vec3::Y };
///     (0.0..=ray.length).contains(&distance).then_some(hit)
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct GroundHit {
    /// The point, in world space.
    pub point: Vec3,
    /// The direction away from the ground, in world space, of any length.
    pub normal: Vec3,
}

/// A ray for finding the ground, in world space.
///
/// ```
/// # use bevy_marionette::rig::{GroundHit, GroundRay};
/// # use glam::Vec3;
/// # struct Physics;
/// # impl Physics { fn cast_ray(&self, _from: Vec3, _direction: Vec3, _length: f32) -> Option<(f32, Vec3)> { None } }
/// fn ground(physics: &Physics, ray: &GroundRay) -> Option<GroundHit> {
///     let (distance, normal) = physics.cast_ray(ray.origin, ray.direction, ray.length)?;
///     Some(GroundHit { point: ray.origin + distance * ray.direction, normal })
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct GroundRay {
    /// Start of the ray, above the foot.
    pub origin: Vec3,
    /// Direction of the ray: the character's down; of length 1.
    pub direction: Vec3,
    /// Length of the ray. Ground farther away is out of reach.
    pub length: f32,
}

/// The inputs of [`Feet::run`](super::Feet::run) for one frame. The slices are in the order of the legs; missing ends count as 0 and
/// `None`.
#[derive(Clone, Copy, Debug)]
pub struct FeetFrame<'a> {
    /// The character's world transform: rotation, translation and uniform scale.
    pub world: Affine3A,
    /// Seconds since the last frame. 0 while paused.
    pub dt: f32,
    /// Share of the change that is made, 0..=1. At 0, the state is cleared.
    pub weight: f32,
    /// Plan of the clips for each foot: see [`Plants::plan`](crate::rig::Plants::plan).
    pub plans: &'a [FootPlan],
    /// Ground that [`Feet::rays`](super::Feet::rays) hit for each foot; `None` if nothing is in reach.
    pub ground: &'a [[Option<GroundHit>; 3]],
    /// Speeds at which the clips turn the joints; `None` if there are no clips. Adapting turns no joint of a leg faster than
    /// [`FeetLimits::turn`] times that.
    pub turn_speeds: Option<&'a TurnSpeeds>,
}

/// Plan of a clip for a foot at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FootPlan {
    /// Strength of the foot's contact, 0..=1.
    pub weight: f32,
    /// Next landing of the foot, if it is in the air.
    pub landing: Option<Landing>,
}

/// Place and time at which a foot lands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Landing {
    /// Seconds until the foot lands.
    pub seconds: f32,
    /// Heel and ball when it has landed, in model space.
    pub places: [Vec3; 2],
}
