//! Mirroring: finding a joint's counterpart on the other side, and mirroring a pose override to it.

use crate::{
    model::{JointIndex, JointTransform, MirrorPlane, RestFrame, Sides, Skeleton},
    pose::{JointOverride, JointSpace},
};
use glam::{Quat, Vec3};

/// Finds a joint's counterpart on the other side; see [`Skeleton::other_side`].
pub fn mirror_joint(skeleton: &Skeleton, joint: JointIndex) -> Option<JointIndex> {
    skeleton.other_side(joint)
}

/// Mirrors an override to the joint on the other side; `None` if there is no such joint.
///
/// The change from the rest pose is reflected in the plane between the two sides, so the orientation of the joints' own
/// axes doesn't matter. Scale is copied axis by axis.
pub fn mirror_override(skeleton: &Skeleton, given: &JointOverride) -> Option<JointOverride> {
    let to = mirror_joint(skeleton, given.joint)?;
    Mirror::new(skeleton).mirrored(given, to)
}

/// Mirrors a whole pose: overrides change sides, and those of joints without a counterpart are mirrored in place.
///
/// Each is mirrored like with [`mirror_override`]; mirroring a pose twice gives the pose again. Overrides that cannot be
/// mirrored, because a joint's scale is zero, are left out.
pub fn mirror_pose(skeleton: &Skeleton, pose: &[JointOverride]) -> Vec<JointOverride> {
    let mirror = Mirror::new(skeleton);
    let within = pose
        .iter()
        .filter(|given| usize::from(given.joint) < skeleton.len());
    let other = |joint| mirror_joint(skeleton, joint).unwrap_or(joint);
    within
        .filter_map(|given| mirror.mirrored(given, other(given.joint)))
        .collect()
}

struct Mirror<'a> {
    skeleton: &'a Skeleton,
    plane: MirrorPlane,
    frames: Vec<RestFrame>,
}

impl<'a> Mirror<'a> {
    fn new(skeleton: &'a Skeleton) -> Self {
        Self {
            skeleton,
            plane: Sides::new(skeleton).plane(),
            frames: RestFrame::all(skeleton),
        }
    }

    /// Mirrors an override of one joint to another, or in place. Both joints are within the skeleton.
    fn mirrored(&self, given: &JointOverride, to: JointIndex) -> Option<JointOverride> {
        let Self {
            skeleton,
            plane,
            frames,
        } = self;
        let own = |joint: JointIndex| &frames[usize::from(joint)];
        let above = |joint: JointIndex| {
            skeleton.parents()[usize::from(joint)].map_or(&RestFrame::IDENTITY, own)
        };
        let carry_turn =
            |turn: Quat, from, to| plane.carry_turn(turn.as_dquat(), from, to).as_quat();
        let carry_shift =
            |shift: Vec3, from, to| plane.carry_shift(shift.as_dvec3(), from, to).as_vec3();
        let transform = match given.space {
            JointSpace::Parent => {
                let (from_rest, to_rest) = (skeleton.rest_of(given.joint), skeleton.rest_of(to));
                let (from, into) = (above(given.joint), above(to));
                // The change from rest in the parent's space, whose axes differ from side to side.
                let turn = given.transform.rotation * from_rest.rotation.inverse();
                let shift = given.transform.translation - from_rest.translation;
                let ratio = given.transform.difference_to(&from_rest).scale;
                JointTransform {
                    translation: to_rest.translation + carry_shift(shift, from, into),
                    rotation: carry_turn(turn, from, into) * to_rest.rotation,
                    scale: to_rest.scale * ratio,
                }
            }
            JointSpace::Joint => {
                let (from, into) = (own(given.joint), own(to));
                JointTransform {
                    translation: carry_shift(given.transform.translation, from, into),
                    rotation: carry_turn(given.transform.rotation, from, into),
                    scale: given.transform.scale,
                }
            }
            JointSpace::Model => {
                let place = |joint: JointIndex| {
                    Vec3::from(skeleton.rest_model()[usize::from(joint)].translation).as_dvec3()
                };
                // Model space is the space of the mirror plane, so nothing needs to be carried into other
                // axes.
                let turn =
                    given.transform.rotation.as_dquat() * own(given.joint).rotation.conjugate();
                let shift = given.transform.translation.as_dvec3() - place(given.joint);
                JointTransform {
                    translation: (place(to) + plane.reflect(shift)).as_vec3(),
                    rotation: (plane.reflect_turn(turn) * own(to).rotation).as_quat(),
                    scale: given.transform.scale,
                }
            }
        };
        // Products of rounded quaternions drift from unit length.
        let transform = JointTransform {
            rotation: transform.rotation.normalize(),
            ..transform
        };
        transform.is_finite().then_some(JointOverride {
            joint: to,
            transform,
            ..*given
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Joint;
    use glam::Affine3A;

    /// Two arms whose joint axes are unrelated.
    fn arms() -> Skeleton {
        let joint = |name: &str, parent, translation, rotation| Joint {
            name: name.into(),
            parent,
            rest: JointTransform::new(translation, rotation),
            inverse_bind: Affine3A::IDENTITY,
        };
        Skeleton::new(vec![
            joint("root", None, Vec3::new(0.5, 0.0, 0.0), Quat::IDENTITY),
            joint(
                "arm.L",
                Some(0),
                Vec3::new(1.0, 2.0, 0.3),
                Quat::from_rotation_z(0.4),
            ),
            joint(
                "arm.R",
                Some(0),
                Vec3::new(-1.0, 2.0, 0.3),
                Quat::from_euler(glam::EulerRot::XYZ, 1.0, 2.0, 3.0),
            ),
            joint("hand.L", Some(1), Vec3::new(1.0, 0.0, 0.0), Quat::IDENTITY),
            joint("hand.R", Some(2), Vec3::ZERO, Quat::from_rotation_x(0.7)),
        ])
        .unwrap()
    }

    /// Moves a point attached to a joint at rest by the override, in model space.
    fn moved(skeleton: &Skeleton, change: &JointOverride, point: Vec3) -> Vec3 {
        let rest = skeleton.rest_model();
        let joint = usize::from(change.joint);
        let parent = skeleton.parents()[joint].map_or(Affine3A::IDENTITY, |p| rest[usize::from(p)]);
        let now = match change.space {
            JointSpace::Parent => parent * change.transform.to_affine(),
            JointSpace::Joint => rest[joint] * change.transform.to_affine(),
            JointSpace::Model => change.transform.to_affine(),
        };
        (now * rest[joint].inverse()).transform_point3(point)
    }

    #[test]
    fn a_mirrored_override_moves_points_as_in_a_mirror_whatever_the_joints_axes() {
        let skeleton = arms();
        // The mirror plane is at x = 0.5, where the root is.
        let mirror = |p: Vec3| Vec3::new(1.0 - p.x, p.y, p.z);
        for space in [JointSpace::Parent, JointSpace::Joint, JointSpace::Model] {
            let transform = JointTransform::new(
                Vec3::new(1.2, 1.7, -0.4),
                Quat::from_euler(glam::EulerRot::XYZ, 0.5, -0.8, 0.3),
            );
            let left = JointOverride {
                joint: 1,
                transform,
                weight: 0.7,
                space,
            };
            let right = mirror_override(&skeleton, &left).unwrap();
            assert_eq!((right.joint, right.weight, right.space), (2, 0.7, space));
            for point in [
                Vec3::new(1.5, 2.0, 0.3),
                Vec3::new(2.0, 2.0, 0.0),
                Vec3::new(2.5, 1.0, 1.0),
            ] {
                let expected = mirror(moved(&skeleton, &left, point));
                let found = moved(&skeleton, &right, mirror(point));
                assert!(
                    found.abs_diff_eq(expected, 1e-4),
                    "{space:?}: {found} is not {expected}"
                );
            }
            let back = mirror_override(&skeleton, &right).unwrap();
            assert!(
                back.transform
                    .translation
                    .abs_diff_eq(transform.translation, 1e-4)
            );
            assert!(back.transform.rotation.dot(transform.rotation).abs() > 1.0 - 1e-5);
        }
    }

    #[test]
    fn a_mirrored_pose_moves_every_joint_as_in_a_mirror_and_mirrored_again_is_the_same() {
        let skeleton = arms();
        let mirror = |p: Vec3| Vec3::new(1.0 - p.x, p.y, p.z);
        let transform = |at: Vec3, x, y, z| {
            JointTransform::new(at, Quat::from_euler(glam::EulerRot::XYZ, x, y, z))
        };
        let turned = |joint, transform, space| JointOverride {
            space,
            ..JointOverride::local(joint, transform)
        };
        let pose = [
            turned(
                0,
                transform(Vec3::new(0.6, 0.2, -0.1), 0.3, 0.4, -0.5),
                JointSpace::Parent,
            ),
            turned(
                1,
                transform(Vec3::new(0.3, 0.1, 0.2), 0.5, -0.8, 0.3),
                JointSpace::Joint,
            ),
            turned(
                2,
                transform(Vec3::new(-1.2, 1.7, -0.4), 0.9, 0.2, 0.1),
                JointSpace::Model,
            ),
            turned(
                2,
                transform(Vec3::new(0.1, 0.2, 0.3), -0.4, 0.6, 0.2),
                JointSpace::Parent,
            ),
        ];
        let other = mirror_pose(&skeleton, &pose);
        assert_eq!(
            other.iter().map(|change| change.joint).collect::<Vec<_>>(),
            [0, 2, 1, 1]
        );
        for (change, image) in pose.iter().zip(&other) {
            for point in [Vec3::new(1.5, 2.0, 0.3), Vec3::new(2.5, 1.0, 1.0)] {
                let expected = mirror(moved(&skeleton, change, point));
                let found = moved(&skeleton, image, mirror(point));
                assert!(
                    found.abs_diff_eq(expected, 1e-4),
                    "{change:?}: {found} is not {expected}"
                );
            }
        }
        for (change, back) in pose.iter().zip(mirror_pose(&skeleton, &other)) {
            assert_eq!((back.joint, back.space), (change.joint, change.space));
            assert!(
                back.transform
                    .translation
                    .abs_diff_eq(change.transform.translation, 1e-4)
            );
            assert!(back.transform.rotation.dot(change.transform.rotation).abs() > 1.0 - 1e-5);
        }
        let missing = [JointOverride::local(77, JointTransform::IDENTITY)];
        assert_eq!(mirror_pose(&skeleton, &missing), []);
    }

    #[test]
    fn a_joint_without_a_counterpart_has_no_mirror_image() {
        let skeleton = arms();
        assert!(
            mirror_override(
                &skeleton,
                &JointOverride::local(0, JointTransform::IDENTITY)
            )
            .is_none()
        );
        assert_eq!(mirror_joint(&skeleton, 3), Some(4));
        assert_eq!(mirror_joint(&skeleton, 77), None);
    }
}
