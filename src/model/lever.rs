//! Entities attached to a joint, whose errors count like those of the skin.

use super::{BoundingBox, Skeleton, SkinPart};
use crate::numbers::worse;
use glam::{Affine3A, Vec3, Vec3A};

/// The distance from each joint at which errors of its rotation count, as a share of the model's
/// size: a joint that moves no vertices may carry a weapon or a camera.
pub(crate) const LEVER: f64 = 0.1;

/// Returns the largest distance between the ends of a joint's axes in two poses, for axes of length
/// one if the joint is unscaled.
///
/// Rotations count fully at any scale.
pub(crate) fn axes_apart(one: &Affine3A, other: &Affine3A) -> f32 {
    let apart = |(one, other): (Vec3A, Vec3A)| {
        let lengths = (one.length() - other.length()).abs();
        let directions = one.normalize_or_zero() - other.normalize_or_zero();
        lengths
            + if one == Vec3A::ZERO || other == Vec3A::ZERO {
                0.0
            } else {
                directions.length()
            }
    };
    let columns = |m: &Affine3A| [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis];
    let apart = columns(one).into_iter().zip(columns(other)).map(apart);
    apart.fold(0.0, worse)
}

/// Returns the largest distance between what is attached to a joint in two poses, up to `lever` away from it.
pub(crate) fn attached_apart(one: &Affine3A, other: &Affine3A, lever: f32) -> f32 {
    let moved = one.translation - other.translation;
    let apart = |(one, other): (Vec3A, Vec3A)| {
        let longer = (one.length() - other.length()).abs();
        let turned = if one == Vec3A::ZERO || other == Vec3A::ZERO {
            Vec3A::ZERO
        } else {
            lever * (one.normalize_or_zero() - other.normalize_or_zero())
        };
        let ends = [moved + turned, moved - turned].map(Vec3A::length);
        ends[0].max(ends[1]) + lever * longer
    };
    let columns = |m: &Affine3A| [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis];
    let apart = columns(one).into_iter().zip(columns(other)).map(apart);
    apart.fold(0.0, worse)
}

/// Returns a model's size: the diagonal of the box around its vertices and joints at rest.
pub(crate) fn size_at_rest(skeleton: &Skeleton, parts: &[SkinPart]) -> f64 {
    let mut joints = skeleton
        .rest_model()
        .iter()
        .map(|joint| BoundingBox::point(joint.translation.into()));
    let first = joints.next().unwrap_or(BoundingBox::point(Vec3::ZERO));
    let positions = parts
        .iter()
        .flat_map(|part| &part.positions)
        .map(|&at| BoundingBox::point(at));
    let all = joints.chain(positions).fold(first, BoundingBox::union);
    (all.max.as_dvec3() - all.min.as_dvec3()).length()
}
