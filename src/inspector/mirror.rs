//! Mirroring: finding a joint's counterpart on the other side, and mirroring a pose override to it.

use crate::{
    model::{JointIndex, JointTransform, Skeleton},
    pose::{JointOverride, JointSpace},
};
use glam::{Affine3A, Mat3A, Quat, Vec3, Vec3A};

/// Finds a joint's counterpart on the other side by name.
///
/// Recognizes `.L`/`.R`, `_l`/`_r` and the like anywhere in the name, `Left…`/`Right…`, a final capital as in `handL`,
/// and a leading letter as in `larm`.
pub fn mirror_joint(skeleton: &Skeleton, joint: JointIndex) -> Option<JointIndex> {
    let name = skeleton.names().get(usize::from(joint))?;
    mirrored_names(name).iter().find_map(|name| skeleton.joint(name))
}

/// Returns candidate names for the other side, most reliable first.
fn mirrored_names(name: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (left, right) in [("Left", "Right"), ("left", "right"), ("LEFT", "RIGHT")] {
        match (name.contains(left), name.contains(right)) {
            (true, false) => names.push(name.replace(left, right)),
            (false, true) => names.push(name.replace(right, left)),
            _ => {}
        }
    }
    let letters: Vec<char> = name.chars().collect();
    let with = |at: usize, other: char| -> String {
        letters.iter().enumerate().map(|(i, &letter)| if i == at { other } else { letter }).collect()
    };
    let separates = |letter: Option<&char>| letter.is_none_or(|letter| matches!(letter, '.' | '_' | '-' | ' ' | ':'));
    let sides = || letters.iter().enumerate().filter_map(|(at, &letter)| Some((at, other_side(letter)?)));
    // A side is most often at the end of the name.
    for (at, other) in sides().rev() {
        if separates(at.checked_sub(1).and_then(|before| letters.get(before))) && separates(letters.get(at + 1)) {
            names.push(with(at, other));
        }
    }
    if let Some((at, other)) = sides().next_back()
        && at > 0
        && at + 1 == letters.len()
        && other.is_uppercase()
        && letters[at - 1].is_lowercase()
    {
        names.push(with(at, other));
    }
    if let Some((0, other)) = sides().next() {
        names.push(with(0, other));
    }
    names
}

fn other_side(letter: char) -> Option<char> {
    match letter {
        'l' => Some('r'),
        'r' => Some('l'),
        'L' => Some('R'),
        'R' => Some('L'),
        _ => None,
    }
}

/// Mirrors an override to the joint on the other side; `None` if there is no such joint.
///
/// The change from the rest pose is reflected in the plane between the two sides, so the orientation of the joints' own
/// axes doesn't matter. Scale is copied axis by axis.
pub fn mirror_override(skeleton: &Skeleton, given: &JointOverride) -> Option<JointOverride> {
    let to = mirror_joint(skeleton, given.joint)?;
    mirrored(skeleton, &Plane::between_sides(skeleton, skeleton.rest_model()), given, to)
}

/// Mirrors a whole pose: overrides change sides, and those of joints without a counterpart are mirrored in place.
///
/// Each is mirrored like with [`mirror_override`]; mirroring a pose twice gives the pose again. Overrides that cannot be
/// mirrored, because a joint's scale is zero, are left out.
pub fn mirror_pose(skeleton: &Skeleton, pose: &[JointOverride]) -> Vec<JointOverride> {
    let plane = Plane::between_sides(skeleton, skeleton.rest_model());
    let within = pose.iter().filter(|given| usize::from(given.joint) < skeleton.len());
    let other = |joint| mirror_joint(skeleton, joint).unwrap_or(joint);
    within.filter_map(|given| mirrored(skeleton, &plane, given, other(given.joint))).collect()
}

/// Mirrors an override of one joint to another, or in place. Both joints are within the skeleton.
fn mirrored(skeleton: &Skeleton, plane: &Plane, given: &JointOverride, to: JointIndex) -> Option<JointOverride> {
    let rest = skeleton.rest_model();
    let (from_at, to_at) = (usize::from(given.joint), usize::from(to));
    let parent =
        |joint: usize| skeleton.parents()[joint].map_or(Affine3A::IDENTITY, |parent| rest[usize::from(parent)]);
    let transform = match given.space {
        JointSpace::Parent => {
            let (from_rest, to_rest) = (skeleton.rest_of(given.joint), skeleton.rest_of(to));
            let (from_frame, to_frame) = (Frame::new(&parent(from_at)), Frame::new(&parent(to_at)));
            let turn = given.transform.rotation * from_rest.rotation.inverse();
            let shift = given.transform.translation - from_rest.translation;
            let ratio = given.transform.difference_to(&from_rest).scale;
            JointTransform {
                translation: to_rest.translation + plane.carry_shift(shift, &from_frame, &to_frame),
                rotation: plane.carry_turn(turn, &from_frame, &to_frame) * to_rest.rotation,
                scale: to_rest.scale * ratio,
            }
        }
        JointSpace::Joint => {
            let (from_frame, to_frame) = (Frame::new(&rest[from_at]), Frame::new(&rest[to_at]));
            JointTransform {
                translation: plane.carry_shift(given.transform.translation, &from_frame, &to_frame),
                rotation: plane.carry_turn(given.transform.rotation, &from_frame, &to_frame),
                scale: given.transform.scale,
            }
        }
        JointSpace::Model => {
            let (from_rest, to_rest) = (&rest[from_at], &rest[to_at]);
            let turn = given.transform.rotation * Frame::new(from_rest).rotation.inverse();
            let shift = given.transform.translation - Vec3::from(from_rest.translation);
            JointTransform {
                translation: Vec3::from(to_rest.translation) + plane.reflect(shift),
                rotation: plane.reflect_turn(turn) * Frame::new(to_rest).rotation,
                scale: given.transform.scale,
            }
        }
    };
    let transform = JointTransform { rotation: transform.rotation.normalize(), ..transform };
    transform.is_finite().then_some(JointOverride { joint: to, transform, ..*given })
}

/// A joint's frame in the rest pose, in model space.
struct Frame {
    matrix: Mat3A,
    rotation: Quat,
}

impl Frame {
    fn new(affine: &Affine3A) -> Self {
        Self { matrix: affine.matrix3, rotation: JointTransform::from_affine(*affine).rotation }
    }
}

/// The mirror plane, perpendicular to one of the model's axes.
struct Plane {
    axis: usize,
}

impl Plane {
    /// Picks the axis along which pairs of joints are farthest apart; x if there are no pairs.
    fn between_sides(skeleton: &Skeleton, rest: &[Affine3A]) -> Self {
        let mut apart = Vec3A::ZERO;
        for joint in 0..skeleton.len() {
            let Some(other) = mirror_joint(skeleton, joint as JointIndex) else { continue };
            apart += (rest[joint].translation - rest[usize::from(other)].translation).abs();
        }
        let axis = if apart.x >= apart.y && apart.x >= apart.z { 0 } else { 1 + usize::from(apart.z > apart.y) };
        Self { axis }
    }

    fn reflect(&self, shift: Vec3) -> Vec3 {
        let mut shift = shift;
        shift[self.axis] = -shift[self.axis];
        shift
    }

    /// Reflects a rotation. Its axis is a pseudovector: the part along the normal stays, the rest flips.
    fn reflect_turn(&self, turn: Quat) -> Quat {
        let mut axis = -Vec3::new(turn.x, turn.y, turn.z);
        axis[self.axis] = -axis[self.axis];
        Quat::from_xyzw(axis.x, axis.y, axis.z, turn.w)
    }

    fn carry_turn(&self, turn: Quat, from: &Frame, to: &Frame) -> Quat {
        let in_model = from.rotation * turn * from.rotation.inverse();
        to.rotation.inverse() * self.reflect_turn(in_model) * to.rotation
    }

    fn carry_shift(&self, shift: Vec3, from: &Frame, to: &Frame) -> Vec3 {
        to.matrix.inverse() * self.reflect(from.matrix * shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Joint;

    #[test]
    fn common_naming_schemes_for_sides_are_recognized() {
        for (name, other) in [
            ("hand.L", "hand.R"),
            ("hand_l", "hand_r"),
            ("L_Hand", "R_Hand"),
            ("mixamorig:LeftArm", "mixamorig:RightArm"),
            ("rightfoot", "leftfoot"),
            ("Bip01 L Thigh", "Bip01 R Thigh"),
            ("upper_arm.R.001", "upper_arm.L.001"),
            ("handL", "handR"),
            ("luparm", "ruparm"),
        ] {
            assert_eq!(mirrored_names(name).first().map(String::as_str), Some(other), "{name}");
        }
        assert!(mirrored_names("spine").is_empty());
        assert!(mirrored_names("head").is_empty());
    }

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
            joint("arm.L", Some(0), Vec3::new(1.0, 2.0, 0.3), Quat::from_rotation_z(0.4)),
            joint("arm.R", Some(0), Vec3::new(-1.0, 2.0, 0.3), Quat::from_euler(glam::EulerRot::XYZ, 1.0, 2.0, 3.0)),
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
            let transform =
                JointTransform::new(Vec3::new(1.2, 1.7, -0.4), Quat::from_euler(glam::EulerRot::XYZ, 0.5, -0.8, 0.3));
            let left = JointOverride { joint: 1, transform, weight: 0.7, space };
            let right = mirror_override(&skeleton, &left).unwrap();
            assert_eq!((right.joint, right.weight, right.space), (2, 0.7, space));
            for point in [Vec3::new(1.5, 2.0, 0.3), Vec3::new(2.0, 2.0, 0.0), Vec3::new(2.5, 1.0, 1.0)] {
                let expected = mirror(moved(&skeleton, &left, point));
                let found = moved(&skeleton, &right, mirror(point));
                assert!(found.abs_diff_eq(expected, 1e-4), "{space:?}: {found} is not {expected}");
            }
            let back = mirror_override(&skeleton, &right).unwrap();
            assert!(back.transform.translation.abs_diff_eq(transform.translation, 1e-4));
            assert!(back.transform.rotation.dot(transform.rotation).abs() > 1.0 - 1e-5);
        }
    }

    #[test]
    fn a_mirrored_pose_moves_every_joint_as_in_a_mirror_and_mirrored_again_is_the_same() {
        let skeleton = arms();
        let mirror = |p: Vec3| Vec3::new(1.0 - p.x, p.y, p.z);
        let transform = |at: Vec3, x, y, z| JointTransform::new(at, Quat::from_euler(glam::EulerRot::XYZ, x, y, z));
        let turned = |joint, transform, space| JointOverride { space, ..JointOverride::local(joint, transform) };
        let pose = [
            turned(0, transform(Vec3::new(0.6, 0.2, -0.1), 0.3, 0.4, -0.5), JointSpace::Parent),
            turned(1, transform(Vec3::new(0.3, 0.1, 0.2), 0.5, -0.8, 0.3), JointSpace::Joint),
            turned(2, transform(Vec3::new(-1.2, 1.7, -0.4), 0.9, 0.2, 0.1), JointSpace::Model),
            turned(2, transform(Vec3::new(0.1, 0.2, 0.3), -0.4, 0.6, 0.2), JointSpace::Parent),
        ];
        let other = mirror_pose(&skeleton, &pose);
        assert_eq!(other.iter().map(|change| change.joint).collect::<Vec<_>>(), [0, 2, 1, 1]);
        for (change, image) in pose.iter().zip(&other) {
            for point in [Vec3::new(1.5, 2.0, 0.3), Vec3::new(2.5, 1.0, 1.0)] {
                let expected = mirror(moved(&skeleton, change, point));
                let found = moved(&skeleton, image, mirror(point));
                assert!(found.abs_diff_eq(expected, 1e-4), "{change:?}: {found} is not {expected}");
            }
        }
        for (change, back) in pose.iter().zip(mirror_pose(&skeleton, &other)) {
            assert_eq!((back.joint, back.space), (change.joint, change.space));
            assert!(back.transform.translation.abs_diff_eq(change.transform.translation, 1e-4));
            assert!(back.transform.rotation.dot(change.transform.rotation).abs() > 1.0 - 1e-5);
        }
        let missing = [JointOverride::local(77, JointTransform::IDENTITY)];
        assert_eq!(mirror_pose(&skeleton, &missing), []);
    }

    #[test]
    fn a_joint_without_a_counterpart_has_no_mirror_image() {
        let skeleton = arms();
        assert!(mirror_override(&skeleton, &JointOverride::local(0, JointTransform::IDENTITY)).is_none());
        assert_eq!(mirror_joint(&skeleton, 3), Some(4));
        assert_eq!(mirror_joint(&skeleton, 77), None);
    }
}
