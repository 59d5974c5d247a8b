//! Computes missing normals and repairs broken ones.
//!
//! Normals are angle-weighted means over all triangles that meet in one *place*, so that vertices
//! duplicated along a texture seam share theirs.

use super::weld::Places;
#[cfg(feature = "gltf")]
use crate::model::SkinPart;
use glam::{DVec3, Vec3};

/// Computes unit normals: means of the triangles around each place, weighted by angle.
///
/// Counter-clockwise triangles give outward normals. Vertices without triangles, or only with degenerate
/// ones, take the normal of their place, or +Y. The two sides of a sheet that is modeled twice, once for
/// each side, keep separate normals.
pub(super) fn smooth_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let places = Places::new(positions);
    let mut own = vec![DVec3::ZERO; positions.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|vertex| positions[vertex as usize].as_dvec3());
        let Some(normal) = unit((b - a).cross(c - a), 0.0) else { continue };
        for (vertex, angle) in triangle.iter().zip([angle(b - a, c - a), angle(c - b, a - b), angle(a - c, b - c)]) {
            own[*vertex as usize] += normal * angle;
        }
    }
    let mut shared = vec![DVec3::ZERO; places.count];
    let mut reach = vec![0.0; places.count];
    for (own, &place) in own.iter().zip(&places.of_vertex) {
        shared[place as usize] += *own;
        reach[place as usize] += own.length();
    }
    let normal = |(own, &place): (&DVec3, &u32)| {
        let (shared, reach) = (shared[place as usize], reach[place as usize]);
        let own = unit(*own, 1e-6);
        // Normals that cancel out belong to the two sides of a sheet.
        let shared = unit(shared, 0.1 * reach).filter(|shared| own.is_none_or(|own| own.dot(*shared) > 0.1));
        shared.or(own).map_or(Vec3::Y, |normal| normal.as_vec3())
    };
    own.iter().zip(&places.of_vertex).map(normal).collect()
}

/// Gives each triangle vertices of its own, with the triangle's normal; +Y for degenerate ones. Tangents are dropped.
#[cfg(feature = "gltf")]
pub(super) fn shade_flat(part: &mut SkinPart) {
    fn spread<T: Copy>(list: &mut Vec<T>, corners: &[u32]) {
        if !list.is_empty() {
            *list = corners.iter().map(|&vertex| list[vertex as usize]).collect();
        }
    }
    let corners = part.triangles.as_flattened();
    spread(&mut part.positions, corners);
    spread(&mut part.tex_coords, corners);
    spread(&mut part.colors, corners);
    spread(&mut part.influences, corners);
    spread(&mut part.source_vertices, corners);
    part.tangents.clear();
    part.triangles = (0..part.triangles.len() as u32).map(|at| [3 * at, 3 * at + 1, 3 * at + 2]).collect();
    let normal = |[a, b, c]: &[Vec3; 3]| {
        let normal = unit((*b - *a).as_dvec3().cross((*c - *a).as_dvec3()), 0.0);
        [normal.map_or(Vec3::Y, |normal| normal.as_vec3()); 3]
    };
    part.normals = part.positions.as_chunks().0.iter().flat_map(normal).collect();
}

/// Normalizes every normal and computes those that are missing (zero or not finite).
///
/// Returns how many were missing, and how many had a length that was off by more than 1 %.
pub(super) fn repair_normals(positions: &[Vec3], triangles: &[[u32; 3]], normals: &mut [Vec3]) -> (usize, usize) {
    let (mut missing, mut off) = (0, 0);
    for normal in &mut *normals {
        let squared = normal.length_squared();
        if (squared - 1.0).abs() < 1e-6 {
            continue;
        }
        match usable(*normal) {
            Some(unit) => {
                off += usize::from((squared.sqrt() - 1.0).abs() > 0.01);
                *normal = unit;
            }
            None => {
                missing += 1;
                *normal = Vec3::ZERO;
            }
        }
    }
    if missing > 0 {
        let computed = smooth_normals(positions, triangles);
        for (normal, computed) in normals.iter_mut().zip(computed).filter(|(normal, _)| **normal == Vec3::ZERO) {
            *normal = computed;
        }
    }
    (missing, off)
}

/// The unit vector along `v`, or `None` if `v` is too short or not finite.
pub(super) fn usable(v: Vec3) -> Option<Vec3> {
    // Through f64, so that very short and very long vectors keep theirs.
    unit(v.as_dvec3(), 1e-6).map(|v| v.as_vec3())
}

/// The angle between two vectors of any length.
pub(super) fn angle(a: DVec3, b: DVec3) -> f64 {
    let cosine = a.dot(b) / (a.length_squared() * b.length_squared()).sqrt();
    cosine.clamp(-1.0, 1.0).acos()
}

fn unit(v: DVec3, longer_than: f64) -> Option<DVec3> {
    let length = v.length();
    (length > longer_than && length.is_finite()).then(|| v / length)
}

#[cfg(test)]
mod tests {
    use super::super::winding::tests::cube;
    use super::*;

    #[test]
    fn doubled_vertices_share_the_normal_of_their_place() {
        let (positions, triangles) = cube();
        // Every triangle with corners of its own, a hair off.
        let loose: Vec<Vec3> = triangles.iter().flatten().map(|&v| positions[v as usize] * (1.0 + 1e-7)).collect();
        let apart: Vec<[u32; 3]> = (0..triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        let normals = smooth_normals(&loose, &apart);
        for (normal, position) in normals.iter().zip(&loose) {
            // Angle weights make a cube's corners point straight out however its sides are cut.
            assert!(normal.dot(position.normalize()) > 0.999_999, "{normal} at {position}");
        }
    }

    #[test]
    fn the_two_sides_of_a_sheet_keep_a_normal_each() {
        let square = [Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Z, Vec3::Z];
        let positions = [square, square].concat();
        let normals = smooth_normals(&positions, &[[0, 2, 1], [0, 3, 2], [4, 5, 6], [4, 6, 7]]);
        assert_eq!(normals, [[Vec3::Y; 4], [Vec3::NEG_Y; 4]].concat());
    }

    #[test]
    fn size_does_not_matter_and_hopeless_triangles_give_a_unit_normal() {
        for size in [1e-30, 1e-12, 1.0, 1e30] {
            let (positions, triangles) = cube();
            let positions: Vec<_> = positions.iter().map(|p| *p * size).collect();
            let normals = smooth_normals(&positions, &triangles);
            assert!(normals.iter().zip(cube().0).all(|(n, p)| n.dot(p.normalize()) > 0.999), "{size}: {normals:?}");
        }
        let hopeless = [Vec3::ZERO, Vec3::X, Vec3::X * 2.0, Vec3::MAX, Vec3::MIN];
        for normal in smooth_normals(&hopeless, &[[0, 1, 2], [0, 0, 1], [3, 4, 0]]) {
            assert!(normal.is_normalized());
        }
    }

    #[test]
    fn broken_normals_are_computed_and_long_ones_shortened() {
        let (positions, triangles) = cube();
        let sound = smooth_normals(&positions, &triangles);
        let mut normals = sound.clone();
        normals[0] = Vec3::ZERO;
        normals[1] = Vec3::NAN;
        normals[2] *= 40.0;
        assert_eq!(repair_normals(&positions, &triangles, &mut normals), (2, 1));
        assert!(normals.iter().zip(&sound).all(|(a, b)| (*a - *b).length() < 1e-6));
    }
}
