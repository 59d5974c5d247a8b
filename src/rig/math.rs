//! Directions and rotations that are safe for any input.

use crate::{
    model::JointIndex,
    pose::{PoseMut, unit},
};
use glam::{Quat, Vec3};

/// The direction of `v`; `None` if it is too short to have one.
pub(super) fn direction(v: Vec3) -> Option<Vec3> {
    let largest = v.abs().max_element();
    (largest > 1e-12 && largest.is_finite()).then(|| (v / largest).normalize())
}

/// The direction of `v` perpendicular to a unit vector; `None` if they are parallel.
pub(super) fn across(v: Vec3, along: Vec3) -> Option<Vec3> {
    let v = direction(v)?;
    let rejected = v - along * v.dot(along);
    if rejected.length() > 1e-4 { direction(rejected) } else { None }
}

/// The shortest rotation from one direction to another; the identity if either has no direction.
pub(super) fn arc(from: Vec3, to: Vec3) -> Quat {
    let (Some(from), Some(to)) = (direction(from), direction(to)) else { return Quat::IDENTITY };
    let cos = from.dot(to);
    if cos < -0.999 {
        return Quat::from_rotation_arc(from, to);
    }
    // `Quat::from_rotation_arc` leaves out angles of less than 0.04°.
    let axis = from.cross(to);
    Quat::from_xyzw(axis.x, axis.y, axis.z, 1.0 + cos).normalize()
}

/// The rotation about a unit axis that takes `from` to `to`, both projected onto the plane of rotation.
pub(super) fn arc_about(axis: Vec3, from: Vec3, to: Vec3) -> Quat {
    let (Some(from), Some(to)) = (across(from, axis), across(to, axis)) else { return Quat::IDENTITY };
    // Half the angle, without trigonometric functions.
    let half = Quat::from_xyzw(0.0, 0.0, 0.0, 1.0 + from.dot(to));
    let turn = from.cross(to).dot(axis);
    let q = Quat::from_xyzw(axis.x * turn, axis.y * turn, axis.z * turn, half.w);
    if q.length_squared() > 1e-12 { q.normalize() } else { Quat::from_xyzw(axis.x, axis.y, axis.z, 0.0) }
}

/// The fraction `weight` of a rotation, by nlerp from the identity.
pub(super) fn part(turn: Quat, weight: f32) -> Quat {
    let turn = if turn.w < 0.0 { -turn } else { turn };
    unit(Quat::IDENTITY * (1.0 - weight) + turn * weight)
}

/// The point at the distance `length` from `from`, in the direction of `toward`.
pub(super) fn at_distance(from: Vec3, toward: Vec3, length: f32) -> Vec3 {
    from + direction(toward - from).unwrap_or(Vec3::X) * length
}

/// Rotates the tip of a limb to a rotation in model space. Its matrix is out of date afterwards.
pub(super) fn turn_tip(pose: &mut PoseMut, tip: JointIndex, rotation: Option<Quat>, weight: f32) {
    let Some(rotation) = rotation.filter(|rotation| rotation.is_finite()) else { return };
    let above = pose.rotation_above(tip);
    let turn = unit(rotation) * (above * pose.rotation(tip)).conjugate();
    pose.turn(tip, above, part(turn, weight));
}
