//! Bones → joints: parents first, named by their index in the file, with the rest pose from the offset matrices.
//!
//! Bones that mirror at rest become joints that don't: their x axis is reversed, and rotations are
//! as seen in the mirror.

use crate::{
    format::{
        FormatError,
        m3d::{M3d, M3dBone},
    },
    hierarchy::Hierarchy,
    import::{axes::Basis, report::Report},
    model::{Joint, JointIndex, JointTransform, Skeleton, affine_from_row_vector_matrix, is_near},
};
use glam::{Affine3A, DMat3, Quat, Vec3};

/// The conversion of a bone's key to that of its joint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Frame {
    /// `true` if the bone, or the one above it, mirrors at rest.
    mirrors: bool,
    above_mirrors: bool,
}

impl Frame {
    /// Converts a transform relative to the parent.
    pub(super) fn transform(self, local: JointTransform) -> JointTransform {
        let JointTransform {
            mut translation,
            mut rotation,
            mut scale,
        } = local;
        if self.above_mirrors {
            // A mirror keeps the plane of rotation and reverses its sense.
            translation.x = -translation.x;
            rotation = Quat::from_xyzw(rotation.x, -rotation.y, -rotation.z, rotation.w);
        }
        if self.above_mirrors != self.mirrors {
            scale.x = -scale.x;
        }
        JointTransform {
            translation,
            rotation,
            scale,
        }
    }
}

/// The skeleton of a file.
pub(super) struct Bones {
    pub(super) skeleton: Skeleton,
    /// The joint of each bone.
    pub(super) joints: Vec<JointIndex>,
    pub(super) frames: Vec<Frame>,
}

/// Imports the skeleton.
///
/// The rest pose is the bind pose; `.m3d` has no other.
pub(super) fn import(m3d: &M3d, basis: &Basis, report: &mut Report) -> Result<Bones, FormatError> {
    let bones = &m3d.bones;
    if bones.len() > Skeleton::MAX_JOINTS {
        let message = format!(
            "{} bones, but a skeleton holds at most {}",
            bones.len(),
            Skeleton::MAX_JOINTS
        );
        return Err(report.error("", message, ""));
    }
    let offsets = offsets(bones, report);
    let mut inverse_bind: Vec<Affine3A> = offsets.iter().map(|m| basis.affine(*m)).collect();
    let mirrors: Vec<bool> = inverse_bind
        .iter()
        .map(|m| m.as_daffine3().matrix3.determinant() < 0.0)
        .collect();
    for (matrix, _) in inverse_bind
        .iter_mut()
        .zip(&mirrors)
        .filter(|(_, mirrors)| **mirrors)
    {
        // The x axis is reversed in the joint's space, so that the matrix doesn't mirror any more.
        *matrix = Affine3A::from_scale(Vec3::new(-1.0, 1.0, 1.0)) * *matrix;
    }
    let hierarchy = Hierarchy::new(bones.iter().map(|bone| bone.parent));
    let joint_of_bone: Vec<_> = hierarchy
        .places()
        .into_iter()
        .map(|joint| joint as JointIndex)
        .collect();
    let joints = hierarchy.order.iter().map(|&bone| {
        let parent = hierarchy.parents[bone];
        // In f64, because the two matrices nearly cancel.
        let bind = inverse_bind[bone].as_daffine3().inverse();
        let rest = parent
            .map_or(bind, |p| inverse_bind[p].as_daffine3() * bind)
            .as_affine3a();
        Joint {
            name: format!("Bone{bone}").into(),
            parent: parent.map(|p| joint_of_bone[p]),
            rest: if rest.is_finite() {
                JointTransform::from_affine(rest)
            } else {
                JointTransform::IDENTITY
            },
            inverse_bind: inverse_bind[bone],
        }
    });
    let skeleton =
        Skeleton::new(joints.collect()).map_err(|error| report.error("", error.to_string(), ""))?;
    let above_mirrors = |bone: usize| hierarchy.parents[bone].is_some_and(|parent| mirrors[parent]);
    let frame = |(bone, &mirrors)| Frame {
        mirrors,
        above_mirrors: above_mirrors(bone),
    };
    Ok(Bones {
        skeleton,
        joints: joint_of_bone,
        frames: mirrors.iter().enumerate().map(frame).collect(),
    })
}

/// Returns the bones' offsets for column vectors; the identity for those that can't be used.
fn offsets(bones: &[M3dBone], report: &mut Report) -> Vec<Affine3A> {
    let offsets: Vec<Option<Affine3A>> = bones.iter().map(offset).collect();
    if let Some(first) = offsets.iter().position(Option::is_none) {
        let unusable = offsets.iter().filter(|offset| offset.is_none()).count();
        let message = format!(
            "{unusable} of {} offset matrices have no inverse or are not affine, the first of bone {first}",
            bones.len()
        );
        report.warn("", message, "the identity was used instead");
    }
    offsets.into_iter().map(Option::unwrap_or_default).collect()
}

/// A bone's offset for column vectors, if it is affine and has an inverse.
fn offset(bone: &M3dBone) -> Option<Affine3A> {
    let m = &bone.offset;
    let affine = (0..3).all(|row| m[row][3].abs() < 1e-4) && (m[3][3] - 1.0).abs() < 1e-4;
    let offset = affine_from_row_vector_matrix(m);
    let DMat3 {
        x_axis,
        y_axis,
        z_axis,
    } = offset.as_daffine3().matrix3;
    // Compare the volume with that of a box of the same sides, which does not depend on the model's units.
    let sides = x_axis.length() * y_axis.length() * z_axis.length();
    let volume = x_axis.cross(y_axis).dot(z_axis).abs();
    let inverse = offset.as_daffine3().inverse().as_affine3a();
    let near = |m: &Affine3A| {
        m.to_cols_array_2d()
            .into_iter()
            .all(|column| is_near(column.into()))
    };
    (affine && near(&offset) && volume > 1e-6 * sides && near(&inverse)).then_some(offset)
}

#[cfg(test)]
#[path = "tests/skeleton.rs"]
mod tests;
