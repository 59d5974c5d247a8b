//! Bones → joints: parents first, named by their index in the file, with the rest pose from the offset matrices.
//!
//! Bones that mirror at rest become joints that don't: their x axis is reversed, and rotations are
//! as seen in the mirror.

use crate::{
    format::{
        Diagnostic, FormatError,
        m3d::{M3d, M3dBone},
    },
    hierarchy::Hierarchy,
    import::axes::Basis,
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
pub(super) fn import(
    file: &str,
    m3d: &M3d,
    basis: &Basis,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Bones, FormatError> {
    let bones = &m3d.bones;
    if bones.len() > Skeleton::MAX_JOINTS {
        let message = format!(
            "{} bones, but a skeleton holds at most {}",
            bones.len(),
            Skeleton::MAX_JOINTS
        );
        return Err(FormatError::one(Diagnostic::error(file, message)));
    }
    let mut unusable = Vec::new();
    let mut inverse_bind: Vec<Affine3A> = bones
        .iter()
        .map(|bone| offset(bone).map_or(Affine3A::IDENTITY, |m| basis.affine(m)))
        .collect();
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
    unusable.extend((0..bones.len()).filter(|&b| offset(&bones[b]).is_none()));
    if let Some(first) = unusable.first() {
        let message = format!(
            "{} of {} offset matrices have no inverse or are not affine, the first of bone {first}",
            unusable.len(),
            bones.len()
        );
        warnings
            .push(Diagnostic::warning(file, message).with_hint("the identity was used instead"));
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
    let skeleton = Skeleton::new(joints.collect())
        .map_err(|error| FormatError::one(Diagnostic::error(file, error.to_string())))?;
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
mod tests {
    use super::*;
    use crate::import::{ImportSettings, UpAxis};
    use glam::Mat4;

    fn bone(parent: Option<u32>, bind: Mat4) -> M3dBone {
        // Columns of a column-vector matrix are the rows of the row-vector matrix.
        M3dBone {
            offset: bind.inverse().to_cols_array_2d(),
            parent,
        }
    }

    fn run(
        bones: Vec<M3dBone>,
        right_handed: bool,
    ) -> (Skeleton, Vec<JointIndex>, Vec<Diagnostic>) {
        let m3d = M3d {
            bones,
            ..M3d::default()
        };
        let basis = Basis::new("f", &ImportSettings::default(), right_handed, UpAxis::Y).unwrap();
        let mut warnings = Vec::new();
        let Bones {
            skeleton, joints, ..
        } = import("f", &m3d, &basis, &mut warnings).unwrap();
        (skeleton, joints, warnings)
    }

    #[test]
    fn children_before_parents_are_sorted_and_keep_their_names() {
        let at = |x: f32| Mat4::from_translation(Vec3::X * x);
        let bones = vec![
            bone(Some(2), at(3.0)),
            bone(None, at(1.0)),
            bone(Some(1), at(2.0)),
            bone(None, at(9.0)),
        ];
        let (skeleton, map, warnings) = run(bones, true);
        let names: Vec<&str> = skeleton.names().iter().map(|n| &**n).collect();
        assert_eq!(names, ["Bone1", "Bone2", "Bone0", "Bone3"]);
        assert_eq!(map, [2, 0, 1, 3]);
        assert_eq!(skeleton.parents(), [None, Some(0), Some(1), None]);
        assert!((skeleton.rest_of(2).translation - Vec3::X).length() < 1e-6);
        assert!(warnings.is_empty());
    }

    #[test]
    fn the_rest_pose_cancels_the_inverse_bind_in_either_hand() {
        let matrix = |angle: f32, x: f32| {
            Mat4::from_scale_rotation_translation(
                Vec3::splat(0.165),
                Quat::from_rotation_y(angle),
                Vec3::new(x, 2.0, 3.0),
            )
        };
        for right_handed in [false, true] {
            let bones = vec![
                bone(None, matrix(0.4, 1.0)),
                bone(Some(0), matrix(-1.2, 2.0)),
                bone(Some(1), matrix(2.0, -5.0)),
            ];
            let (skeleton, _, _) = run(bones, right_handed);
            for (rest, inverse_bind) in skeleton.rest_model().iter().zip(skeleton.inverse_bind()) {
                assert!((*rest * *inverse_bind).abs_diff_eq(Affine3A::IDENTITY, 1e-5));
            }
        }
    }

    #[test]
    fn matrices_without_an_inverse_are_replaced_with_one_warning() {
        let mut bones = vec![
            bone(None, Mat4::IDENTITY),
            bone(Some(0), Mat4::IDENTITY),
            bone(None, Mat4::IDENTITY),
        ];
        bones[0].offset = [[0.0; 4]; 4];
        bones[1].offset[0][3] = 1.0;
        bones[2].offset[3][0] = f32::NAN;
        let (skeleton, _, warnings) = run(bones, false);
        assert_eq!(warnings.len(), 1);
        assert_eq!(skeleton.inverse_bind(), [Affine3A::IDENTITY; 3]);
        assert_eq!(skeleton.parents().iter().filter(|p| p.is_none()).count(), 2);
    }
}
