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
    let transform =
        |at: Vec3, x, y, z| JointTransform::new(at, Quat::from_euler(glam::EulerRot::XYZ, x, y, z));
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
