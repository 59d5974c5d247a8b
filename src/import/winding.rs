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
pub(super) mod tests {
    use super::*;

    /// A unit cube around the origin with two triangles a side, counter-clockwise from outside.
    pub(in crate::import) fn cube() -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let corner =
            |i: u32| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2 & 1) as f32) - 0.5;
        let quads = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let triangles = quads
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
            .collect();
        ((0..8).map(corner).collect(), triangles)
    }

    #[test]
    fn a_cube_faces_outward_until_it_is_flipped() {
        let (positions, mut triangles) = cube();
        assert_eq!(outwardness(&positions, &triangles), 1.0);
        turn_over(&mut triangles);
        assert_eq!(outwardness(&positions, &triangles), -1.0);
    }

    #[test]
    fn triangles_are_flipped_one_by_one_to_face_with_their_normals() {
        let (positions, sound) = cube();
        let normals: Vec<_> = positions.iter().map(|p| p.normalize()).collect();
        let mut mixed = sound.clone();
        mixed[3].swap(1, 2);
        mixed[7].swap(1, 2);
        assert_eq!(
            facing(&positions, &normals, &mixed),
            Facing {
                with_normals: 10,
                against_normals: 2
            }
        );
        assert_eq!(agree_with_normals(&positions, &normals, &mut mixed), 2);
        assert_eq!(mixed, sound);
    }

    #[test]
    fn flat_empty_and_overflowing_meshes_have_no_outside() {
        let flat = [Vec3::ZERO, Vec3::X, Vec3::Z];
        assert_eq!(outwardness(&flat, &[[0, 1, 2]]), 0.0);
        assert_eq!(outwardness(&[], &[]), 0.0);
        let far = [Vec3::MAX, Vec3::MIN, Vec3::new(f32::MAX, f32::MIN, 0.0)];
        assert!(outwardness(&far, &[[0, 1, 2]]).is_finite());
    }
}
