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
#[path = "tests/skin.rs"]
mod tests;
