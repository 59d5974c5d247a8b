//! The sides to which triangles face.
//!
//! A triangle's geometric normal is `(b − a) × (c − a)`: in a right-handed space it points to the side
//! from which the triangle is seen counter-clockwise.

use glam::{DVec3, Vec3};

/// Number of triangles that face with their vertex normals, and against them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Facing {
    pub(super) with_normals: usize,
    pub(super) against_normals: usize,
}

/// Compares every triangle with its vertices' normals. Triangles without area or normals do not count.
pub(super) fn facing(positions: &[Vec3], normals: &[Vec3], triangles: &[[u32; 3]]) -> Facing {
    let mut out = Facing::default();
    for triangle in triangles {
        let agreement = agreement(positions, normals, triangle);
        out.with_normals += usize::from(agreement > 0.0);
        out.against_normals += usize::from(agreement < 0.0);
    }
    out
}

/// Flips each triangle that faces against its vertex normals. Returns how many did.
pub(super) fn agree_with_normals(
    positions: &[Vec3],
    normals: &[Vec3],
    triangles: &mut [[u32; 3]],
) -> usize {
    let mut turned = 0;
    for triangle in triangles {
        if agreement(positions, normals, triangle) < 0.0 {
            triangle.swap(1, 2);
            turned += 1;
        }
    }
    turned
}

/// Flips every triangle.
pub(super) fn turn_over(triangles: &mut [[u32; 3]]) {
    triangles
        .iter_mut()
        .for_each(|triangle| triangle.swap(1, 2));
}

/// Returns how consistently the triangles face away from the middle of the mesh, from −1 (all
/// inward) to 1 (all outward).
///
/// For a closed mesh this has the sign of its volume. It is 0 for a mesh without volume, such as a flat
/// sheet, and where numbers overflow.
pub(super) fn outwardness(positions: &[Vec3], triangles: &[[u32; 3]]) -> f32 {
    // The normal, twice as long as the triangle is large, and the center.
    let area_and_center = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|vertex| positions[vertex as usize].as_dvec3());
        ((b - a).cross(c - a), (a + b + c) / 3.0)
    };
    // The middle by area, so that densely modeled places pull no harder than others.
    let (mut middle, mut total) = (DVec3::ZERO, 0.0);
    for (area, center) in triangles.iter().map(area_and_center) {
        middle += center * area.length();
        total += area.length();
    }
    middle /= total;
    let (mut sum, mut absolute) = (0.0, 0.0);
    for (area, center) in triangles.iter().map(area_and_center) {
        let outward = area.dot(center - middle);
        sum += outward;
        absolute += outward.abs();
    }
    let out = (sum / absolute) as f32;
    if out.is_finite() { out } else { 0.0 }
}

#[inline]
fn agreement(positions: &[Vec3], normals: &[Vec3], triangle: &[u32; 3]) -> f32 {
    let [a, b, c] = triangle.map(|v| positions[v as usize]);
    let [l, m, n] = triangle.map(|v| normals[v as usize]);
    (b - a).cross(c - a).dot(l + m + n)
}

#[cfg(test)]
#[path = "tests/winding.rs"]
pub(super) mod tests;
