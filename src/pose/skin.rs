//! Skinning on the CPU, as the GPU does it: for export, picking and tests.

use crate::model::{Influences, SkinPart};
use glam::{Mat3, Mat4, Vec3};

/// Skins a part's vertices with a palette.
#[derive(Clone, Copy, Debug)]
pub struct SkinVertices<'a> {
    /// The part, in its bind pose.
    pub part: &'a SkinPart,
    /// One matrix per entry of the part's palette, from [`Palette`](super::Palette).
    pub palette: &'a [Mat4],
}

impl SkinVertices<'_> {
    /// Writes the skinned positions to `out`, which must have the part's length.
    ///
    /// Vertices without influences stay where they are. An influence past the end of the palette
    /// counts as the identity.
    ///
    /// # Panics
    /// If `out` is too short.
    pub fn positions(&self, out: &mut [Vec3]) {
        for (vertex, (out, position)) in out[..self.part.positions.len()]
            .iter_mut()
            .zip(&self.part.positions)
            .enumerate()
        {
            *out = self
                .matrix(vertex)
                .map_or(*position, |matrix| matrix.transform_point3(*position));
        }
    }

    /// Writes the skinned unit normals to `out`, which must have the part's length.
    ///
    /// They stay perpendicular to the skin however it is scaled. A normal whose skin is flattened
    /// keeps its direction.
    ///
    /// # Panics
    /// If `out` is too short.
    pub fn normals(&self, out: &mut [Vec3]) {
        for (vertex, (out, normal)) in out[..self.part.normals.len()]
            .iter_mut()
            .zip(&self.part.normals)
            .enumerate()
        {
            *out = self
                .matrix(vertex)
                .map_or(*normal, |matrix| turned(Mat3::from_mat4(matrix), *normal));
        }
    }

    /// A vertex's matrix.
    fn matrix(&self, vertex: usize) -> Option<Mat4> {
        let Influences { palette, weights } = self.part.influences.get(vertex)?;
        Some(blend_matrices(self.palette, palette, weights))
    }
}

/// The weighted mean of a vertex's palette matrices.
pub(super) fn blend_matrices(palette: &[Mat4], slots: &[u16; 4], weights: &[f32; 4]) -> Mat4 {
    let joint = |slot: &u16| {
        palette
            .get(usize::from(*slot))
            .copied()
            .unwrap_or(Mat4::IDENTITY)
    };
    slots
        .iter()
        .zip(weights)
        .fold(Mat4::ZERO, |sum, (slot, weight)| {
            sum + joint(slot) * *weight
        })
}

/// Transforms a normal by the inverse transpose of a matrix, up to length.
fn turned(m: Mat3, normal: Vec3) -> Vec3 {
    // Scaled to about 1 before anything is squared: scales as small as 1e-20 must not lose the direction.
    let m = m * (1.0 / largest(m.x_axis.abs().max(m.y_axis.abs()).max(m.z_axis.abs())));
    // The cofactors are the inverse transpose times the determinant, and exist even without an inverse.
    let cofactors = Mat3::from_cols(
        m.y_axis.cross(m.z_axis),
        m.z_axis.cross(m.x_axis),
        m.x_axis.cross(m.y_axis),
    );
    // The sign of the determinant: a mirroring turns the cofactors inside out.
    let mirrored = m.x_axis.dot(cofactors.x_axis) < 0.0;
    let turned = cofactors * normal;
    let turned = (turned / largest(turned)).try_normalize().unwrap_or(normal);
    if mirrored { -turned } else { turned }
}

/// Returns the largest magnitude in `v`, or 1 if it is no usable divisor.
fn largest(v: Vec3) -> f32 {
    let largest = v.abs().max_element();
    if largest.recip().is_normal() {
        largest
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part() -> SkinPart {
        let influence = |weights: [f32; 4]| Influences {
            palette: [0, 1, 0, 0],
            weights,
        };
        SkinPart {
            positions: vec![Vec3::X, Vec3::Y, Vec3::Z],
            normals: vec![Vec3::X, Vec3::Y, Vec3::new(0.0, 0.6, 0.8)],
            influences: [
                [1.0, 0.0, 0.0, 0.0],
                [0.5, 0.5, 0.0, 0.0],
                [0.0, 1.0, 0.0, 0.0],
            ]
            .map(influence)
            .to_vec(),
            ..SkinPart::default()
        }
    }

    fn skinned(part: &SkinPart, palette: &[Mat4]) -> (Vec<Vec3>, Vec<Vec3>) {
        let (mut positions, mut normals) = (part.positions.clone(), part.normals.clone());
        let job = SkinVertices { part, palette };
        job.positions(&mut positions);
        job.normals(&mut normals);
        (positions, normals)
    }

    #[test]
    fn vertices_follow_their_joints_by_weight() {
        let palette = [
            Mat4::from_translation(Vec3::X),
            Mat4::from_translation(Vec3::new(0.0, 4.0, 2.0)),
        ];
        let (positions, normals) = skinned(&part(), &palette);
        assert_eq!(
            positions,
            [
                Vec3::X * 2.0,
                Vec3::new(0.5, 3.0, 1.0),
                Vec3::new(0.0, 4.0, 3.0)
            ]
        );
        assert!(
            normals
                .iter()
                .zip(part().normals)
                .all(|(a, b)| a.abs_diff_eq(b, 1e-6))
        );
    }

    #[test]
    fn normals_stay_perpendicular_to_a_scaled_or_mirrored_skin() {
        for scale in [
            Vec3::new(1.0, 3.0, 0.5),
            Vec3::new(-1.0, 1.0, 1.0),
            Vec3::new(-2.0, -1.0, -1.0),
        ] {
            let matrix = Mat4::from_rotation_z(0.7) * Mat4::from_scale(scale);
            let (_, normals) = skinned(&part(), &[matrix; 2]);
            let surface =
                [Vec3::X, Vec3::new(0.0, -0.8, 0.6)].map(|edge| matrix.transform_vector3(edge));
            assert!(surface.iter().all(|edge| edge.dot(normals[2]).abs() < 1e-5));
            assert!(
                matrix.transform_vector3(part().normals[2]).dot(normals[2]) > 0.0,
                "still pointing outwards: {scale}"
            );
        }
    }

    #[test]
    fn flattened_skin_missing_palette_entries_and_missing_influences_are_fine() {
        let (positions, normals) = skinned(&part(), &[Mat4::ZERO, Mat4::ZERO]);
        assert!(positions.iter().all(|p| *p == Vec3::ZERO) && normals == part().normals);
        let (positions, _) = skinned(&part(), &[]);
        assert_eq!(positions, part().positions);
        let still = SkinPart {
            influences: vec![],
            ..part()
        };
        assert_eq!(
            skinned(&still, &[Mat4::from_rotation_x(1.0)]).0,
            part().positions
        );
    }

    #[test]
    fn normals_keep_their_length_and_direction_under_scales_of_any_size() {
        let part = part();
        let turn = Mat4::from_rotation_x(0.7);
        let (_, expected) = skinned(&part, &[turn, turn]);
        for scale in [1e-25, 1e-12, 1e-7, 1.0, 1e7, 1e12, 1e25] {
            let scaled = turn * Mat4::from_scale(Vec3::splat(scale));
            let (_, normals) = skinned(&part, &[scaled, scaled]);
            for (normal, expected) in normals.iter().zip(&expected) {
                assert!(
                    normal.abs_diff_eq(*expected, 1e-6),
                    "{scale:e}: {normal} for {expected}"
                );
            }
        }
    }
}
