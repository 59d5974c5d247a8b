//! Directions and rotations that are safe for any input.

use crate::{model::JointIndex, numbers::unit, pose::PoseMut};
use glam::{Mat3A, Quat, Vec3A};

/// Squared lengths that are neither too large nor too small to work with.
const USUAL: std::ops::Range<f32> = 1e-24..1e24;

/// The direction of `v`; `None` if it is too short to have one.
#[inline(always)]
pub(super) fn direction(v: Vec3A) -> Option<Vec3A> {
    let square = v.length_squared();
    if USUAL.contains(&square) {
        return Some(v * (1.0 / square.sqrt()));
    }
    let largest = v.abs().max_element();
    (largest > 1e-12 && largest.is_finite()).then(|| (v / largest).normalize())
}

/// The direction of `v` perpendicular to a unit vector; `None` if they are parallel.
#[inline(always)]
pub(super) fn across(v: Vec3A, along: Vec3A) -> Option<Vec3A> {
    let square = v.length_squared();
    let (v, square) = if USUAL.contains(&square) {
        (v, square)
    } else {
        (direction(v)?, 1.0)
    };
    let rejected = v - along * v.dot(along);
    let left = rejected.length_squared();
    // Anything shorter is the rounding error of the subtraction.
    (left > 1e-8 * square && left > 0.0).then(|| rejected * (1.0 / left.sqrt()))
}

/// The shortest rotation from one direction to another; the identity if either has no direction.
#[inline(always)]
pub(super) fn arc(from: Vec3A, to: Vec3A) -> Quat {
    match (direction(from), direction(to)) {
        (Some(from), Some(to)) => unit_arc(from, to),
        _ => Quat::IDENTITY,
    }
}

/// The shortest rotation from one unit vector to another.
#[inline(always)]
pub(super) fn unit_arc(from: Vec3A, to: Vec3A) -> Quat {
    let (axis, half) = (from.cross(to), 1.0 + from.dot(to));
    if half < 1e-3 {
        return opposite_arc(from, to);
    }
    // A quaternion along `(axis · sin θ, 1 + cos θ)` rotates by θ, without trigonometry.
    // `Quat::from_rotation_arc` is not used because it ignores angles of less than 0.04°.
    Quat::from_vec4(axis.extend(half)).normalize()
}

/// The shortest rotation between unit vectors of nearly opposite directions, whose sum has no rounding error.
#[cold]
fn opposite_arc(from: Vec3A, to: Vec3A) -> Quat {
    let sum = from + to;
    match from.cross(sum).extend(0.5 * sum.length_squared()) {
        turn if turn.length_squared() > 1e-24 => Quat::from_vec4(turn * turn.length_recip()),
        _ => Quat::from_vec4(from.any_orthonormal_vector().extend(0.0)),
    }
}

/// The rotation about a unit axis that takes `from` to `to`, both projected onto the plane of rotation.
pub(super) fn arc_about(axis: Vec3A, from: Vec3A, to: Vec3A) -> Quat {
    let (Some(from), Some(to)) = (across(from, axis), across(to, axis)) else {
        return Quat::IDENTITY;
    };
    about(axis, from.cross(to).dot(axis), from.dot(to)).normalize()
}

/// A rotation about a unit axis by the angle with this sine and cosine; not normalized.
#[inline(always)]
fn about(axis: Vec3A, sin: f32, cos: f32) -> Quat {
    // Both have the tangent of half the angle. One of them vanishes without a turn, and the other with half a turn.
    Quat::from_vec4(if cos > 0.0 {
        (axis * sin).extend(1.0 + cos)
    } else {
        (axis * (1.0 - cos)).extend(sin)
    })
}

/// The fraction `weight` of a rotation, by nlerp from the identity.
#[inline(always)]
pub(super) fn part(turn: Quat, weight: f32) -> Quat {
    if weight == 1.0 {
        return turn;
    }
    let turn = if turn.w < 0.0 { -turn } else { turn };
    unit(Quat::IDENTITY * (1.0 - weight) + turn * weight)
}

/// The point at the distance `length` from `from`, in the direction of `toward`.
pub(super) fn at_distance(from: Vec3A, toward: Vec3A, length: f32) -> Vec3A {
    from + direction(toward - from).unwrap_or(Vec3A::X) * length
}

/// Rotates the tip of a limb to a rotation in model space. Its matrix is out of date afterwards.
pub(super) fn turn_tip(pose: &mut PoseMut, tip: JointIndex, rotation: Option<Quat>, weight: f32) {
    let Some(rotation) = rotation.filter(|rotation| rotation.is_finite()) else {
        return;
    };
    let now = pose.rotation(tip);
    // From model space into that of the joint.
    let turn = pose.rotation_above(tip).conjugate() * unit(rotation) * now.conjugate();
    pose.set_rotation(tip, unit(part(turn, weight) * now));
}

/// The turns of both bones of a limb, in model space, that fold it: they take its tip to the direction `along` at a
/// distance, bent toward `side`, a unit vector across that.
///
/// `bones` are unit vectors and `lengths` theirs. The second turn is the knee's, before the first one turns the whole limb.
#[inline(always)]
pub(super) fn fold(
    [upper, lower]: [Vec3A; 2],
    [l1, l2]: [f32; 2],
    along: Vec3A,
    distance: f32,
    side: Vec3A,
) -> [Quat; 2] {
    // Within the limb's reach, folded or straight.
    let distance = distance
        .min(l1 + l2)
        .max((l1 - l2).abs())
        .max(1e-6 * (l1 + l2));
    // The angle at the root, by the law of cosines.
    let cos = ((l1 * l1 + distance * distance - l2 * l2) / (2.0 * l1 * distance)).clamp(-1.0, 1.0);
    let sin = (1.0 - cos * cos).sqrt();
    let new_upper = along * cos + side * sin;
    // The limb's plane turns with it, so that the knee keeps bending about its own hinge.
    let hinge = upper.cross(lower);
    let knee_sin = hinge.length();
    // A straight limb has no hinge, so each bone takes the shortest way.
    if knee_sin <= 1e-3 {
        let new_lower = (along * distance - new_upper * l1) * (1.0 / l2);
        let first = unit_arc(upper, new_upper);
        return [first, arc(lower, first.conjugate() * new_lower)];
    }
    let hinge = hinge * (1.0 / knee_sin);
    let before = [upper, hinge, upper.cross(hinge)];
    let after = [new_upper, side.cross(along), side * cos - along * sin];
    // From one angle of the knee to the other.
    let knee_cos = upper.dot(lower);
    let (new_sin, new_cos) = (
        sin * distance * (1.0 / l2),
        (cos * distance - l1) * (1.0 / l2),
    );
    let knee = about(
        hinge,
        new_sin * knee_cos - new_cos * knee_sin,
        knee_cos * new_cos + knee_sin * new_sin,
    );
    [from_axes_to_axes(before, after), knee.normalize()]
}

/// Returns the rotation that takes three axes at right angles to three others.
#[inline(always)]
fn from_axes_to_axes(before: [Vec3A; 3], after: [Vec3A; 3]) -> Quat {
    let [[a, b, c], [x, y, z]] = [before, after];
    // The trace of the rotation matrix, and its antisymmetric part.
    let half = 1.0 + (a * x + b * y + c * z).element_sum();
    if half > 0.1 {
        return Quat::from_vec4((a.cross(x) + b.cross(y) + c.cross(z)).extend(half)).normalize();
    }
    // Nearly half a turn.
    Quat::from_mat3a(&(Mat3A::from_cols(x, y, z) * Mat3A::from_cols(a, b, c).transpose()))
}
