//! Joint overrides.

use super::PoseMut;
use crate::{
    model::{JointIndex, JointTransform},
    numbers::{clamp_weight, unit},
};
use glam::Affine3A;
use serde::{Deserialize, Serialize};

/// The space of a [`JointOverride`]'s transform.
///
/// ```
/// # use bevy_marionette::{model::JointTransform, pose::{JointOverride, JointSpace}};
/// # use glam::{Quat, Vec3};
/// # let hand = 7;
/// // Holds the hand at a steering wheel, wherever the arm is: the place is in the character's space.
/// let wheel = JointTransform::new(Vec3::new(0.2, 1.1, -0.4), Quat::IDENTITY);
/// let held = JointOverride { space: JointSpace::Model, ..JointOverride::local(hand, wheel) };
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum JointSpace {
    /// Relative to the joint's parent: replaces the local transform.
    #[default]
    Parent,
    /// In model space: places the joint there, wherever its parents are. Shear from scaled parents
    /// is lost.
    Model,
    /// Relative to the animated joint: rotates, moves and scales it on top of its clips.
    Joint,
}

/// Overrides one joint on top of the playing clips. Its descendants follow.
///
/// ```
/// # use bevy_marionette::{model::JointTransform, pose::{JointOverride, JointSpace}};
/// # use glam::Vec3;
/// # let head = 5;
/// // The cheat with the big heads: twice the size that the clips give them.
/// let big = JointTransform { scale: Vec3::splat(2.0), ..JointTransform::IDENTITY };
/// let big_head = JointOverride { space: JointSpace::Joint, ..JointOverride::local(head, big) };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct JointOverride {
    /// The joint. The override is ignored if the skeleton has no such joint.
    pub joint: JointIndex,
    /// The new transform. The override is ignored if it is not finite; the rotation need not have unit length.
    pub transform: JointTransform,
    /// The share of the way from the joint's animated transform to the override, 0..=1.
    pub weight: f32,
    /// The space of `transform`.
    pub space: JointSpace,
}

impl JointOverride {
    /// Creates an override that replaces a joint's local transform completely.
    pub const fn local(joint: JointIndex, transform: JointTransform) -> Self {
        Self {
            joint,
            transform,
            weight: 1.0,
            space: JointSpace::Parent,
        }
    }

    /// The joint's new local transform, given its current one and its parent's model matrix.
    fn resolve(&self, local: JointTransform, parent: Option<&Affine3A>) -> JointTransform {
        let given = JointTransform {
            rotation: unit(self.transform.rotation),
            ..self.transform
        };
        let to = match self.space {
            JointSpace::Parent => given,
            JointSpace::Joint => JointTransform {
                translation: local.translation + local.rotation * (local.scale * given.translation),
                rotation: (local.rotation * given.rotation).normalize(),
                scale: local.scale * given.scale,
            },
            JointSpace::Model => match parent {
                Some(parent) => JointTransform::from_affine(parent.inverse() * given.to_affine()),
                None => given,
            },
        };
        let mixed = mix(local, to, clamp_weight(self.weight));
        // A parent scaled to zero has no inverse.
        if mixed.is_finite() { mixed } else { local }
    }
}

/// Applies joint overrides to a pose, without updating its matrices. Later ones see the result of earlier ones.
pub(super) fn apply_overrides(pose: &mut PoseMut, overrides: &[JointOverride]) {
    let skeleton = pose.skeleton;
    for change in overrides {
        let joint = change.joint;
        let is_there = usize::from(joint) < skeleton.len();
        if !is_there || !change.transform.is_finite() || clamp_weight(change.weight) == 0.0 {
            continue;
        }
        let parent = skeleton.parents()[usize::from(joint)];
        // Only overrides in model space read a matrix. The others leave matrices out of date until the end.
        if change.space == JointSpace::Model {
            pose.update_joints(parent);
        }
        let parent = parent.map(|parent| &pose.model[usize::from(parent)]);
        pose.set_transform(joint, change.resolve(pose.transform(joint), parent));
        pose.update_later(joint);
    }
}

/// Interpolates from one transform to another: linearly, and by nlerp along the shorter arc.
fn mix(from: JointTransform, to: JointTransform, weight: f32) -> JointTransform {
    // A quaternion and its negative are the same rotation. Take the one on the shorter arc.
    let target = if from.rotation.dot(to.rotation) < 0.0 {
        -to.rotation
    } else {
        to.rotation
    };
    JointTransform {
        translation: from.translation * (1.0 - weight) + to.translation * weight,
        rotation: (from.rotation * (1.0 - weight) + target * weight).normalize(),
        scale: from.scale * (1.0 - weight) + to.scale * weight,
    }
}

#[cfg(test)]
#[path = "tests/adjust.rs"]
mod tests;
