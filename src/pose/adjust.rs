//! Joint overrides.

use super::PoseMut;
use crate::{
    model::{JointIndex, JointTransform},
    numbers::{clamp_weight, unit},
};
use glam::Affine3A;
use serde::{Deserialize, Serialize};

/// The space of a [`JointOverride`]'s transform.
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
mod tests {
    use super::*;
    use crate::{
        model::{Joint, Skeleton, SoaTransform},
        pose::LocalToModel,
    };
    use glam::{Quat, Vec3};

    fn skeleton() -> Skeleton {
        let rest = JointTransform {
            translation: Vec3::Y,
            rotation: Quat::from_rotation_z(0.4),
            scale: Vec3::splat(1.1),
        };
        let joint = |parent| Joint {
            name: "".into(),
            parent,
            rest,
            inverse_bind: Affine3A::IDENTITY,
        };
        Skeleton::new(
            [None, Some(0), Some(1), Some(2), Some(3), Some(1)]
                .map(joint)
                .to_vec(),
        )
        .unwrap()
    }

    fn run(overrides: &[JointOverride]) -> (Vec<SoaTransform>, Vec<Affine3A>) {
        let skeleton = skeleton();
        let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
        let mut pose = PoseMut::new(&skeleton, &mut local, &mut model);
        apply_overrides(&mut pose, overrides);
        pose.update();
        let mut again = model.clone();
        LocalToModel {
            parents: skeleton.parents(),
            local: &local,
            root: None,
            unit_scale: false,
        }
        .run(&mut again);
        assert!(
            model
                .iter()
                .zip(&again)
                .all(|(a, b)| a.abs_diff_eq(*b, 1e-5)),
            "the matrices match the local pose"
        );
        (local, model)
    }

    fn target() -> JointTransform {
        JointTransform {
            translation: Vec3::new(3.0, -1.0, 2.0),
            rotation: Quat::from_rotation_x(1.0),
            scale: Vec3::splat(0.7),
        }
    }

    #[test]
    fn a_joint_goes_where_it_is_placed_in_each_space() {
        let put = |space| JointOverride {
            space,
            ..JointOverride::local(2, target())
        };
        let (local, _) = run(&[put(JointSpace::Parent)]);
        assert_eq!(local[0].get(2), target());
        let (_, model) = run(&[put(JointSpace::Model)]);
        assert!(model[2].abs_diff_eq(target().to_affine(), 1e-5));
        let (_, model) = run(&[put(JointSpace::Joint)]);
        assert!(model[2].abs_diff_eq(skeleton().rest_model()[2] * target().to_affine(), 1e-5));
    }

    #[test]
    fn a_model_space_override_sees_the_overrides_before_it() {
        let above = JointOverride::local(1, target());
        let below = JointOverride {
            space: JointSpace::Model,
            ..JointOverride::local(4, target())
        };
        for order in [[above, below], [above, above]] {
            let (_, model) = run(&order);
            assert_eq!(
                model[4].abs_diff_eq(target().to_affine(), 1e-5),
                order[1] == below
            );
        }
    }

    #[test]
    fn half_a_weight_goes_half_way() {
        let rest = skeleton().rest_of(2);
        let (local, _) = run(&[JointOverride {
            weight: 0.5,
            ..JointOverride::local(2, target())
        }]);
        let got = local[0].get(2);
        assert!(
            (got.translation - rest.translation.midpoint(target().translation)).length() < 1e-6
        );
        let (whole, half) = (
            rest.rotation.angle_between(target().rotation),
            rest.rotation.angle_between(got.rotation),
        );
        assert!((half - whole / 2.0).abs() < 1e-3);
    }

    #[test]
    fn nonsense_is_ignored() {
        let nan = JointTransform {
            translation: Vec3::NAN,
            ..target()
        };
        let flat = JointTransform {
            scale: Vec3::ZERO,
            ..target()
        };
        let (local, _) = run(&[
            JointOverride::local(77, target()),
            JointOverride::local(2, nan),
            JointOverride {
                weight: f32::NAN,
                ..JointOverride::local(3, target())
            },
        ]);
        assert_eq!(local, skeleton().rest());
        let under_zero = JointOverride {
            space: JointSpace::Model,
            ..JointOverride::local(2, target())
        };
        let (_, model) = run(&[JointOverride::local(1, flat), under_zero]);
        assert!(model.iter().all(|m| m.is_finite()));
        let long = JointTransform {
            rotation: Quat::from_xyzw(0.0, 1e30, 0.0, 1e30),
            ..target()
        };
        let (local, _) = run(&[JointOverride::local(2, long)]);
        assert!((local[0].get(2).rotation.length() - 1.0).abs() < 1e-6);
    }
}
