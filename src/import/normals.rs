//! Computes missing normals and repairs broken ones.
//!
//! Normals are angle-weighted means over all triangles that meet in one *place*, so that vertices
//! duplicated along a texture seam share theirs.

use super::weld::Places;
use glam::{DVec3, Vec3};
use std::f64::consts::{FRAC_PI_2, PI};

/// Computes unit normals: means of the triangles around each place, weighted by angle.
///
/// Counter-clockwise triangles give outward normals. Vertices without triangles, or only with degenerate
/// ones, take the normal of their place, or +Y. The two sides of a sheet that is modeled twice, once for
/// each side, keep separate normals.
pub(super) fn smooth_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let places = Places::new(positions);
    let mut own = vec![DVec3::ZERO; positions.len()];
    for triangle in triangles {
        let corners = triangle.map(|vertex| positions[vertex as usize].as_dvec3());
        for (vertex, normal) in triangle.iter().zip(corner_normals(corners)) {
            own[*vertex as usize] += normal;
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
        // Normals that cancel out belong to the two sides of a sheet. What is left of them is noise.
        let shared = unit(shared, f64::max(0.1 * reach, 1e-9))
            .filter(|shared| own.is_none_or(|own| own.dot(*shared) > 0.1));
        shared.or(own).map_or(Vec3::Y, |normal| normal.as_vec3())
    };
    own.iter().zip(&places.of_vertex).map(normal).collect()
}

/// A triangle's normal at each of its corners, weighted by angle; 0 for a degenerate one.
pub(super) fn corner_normals([a, b, c]: [DVec3; 3]) -> [DVec3; 3] {
    let (ab, bc, ca) = (b - a, c - b, a - c);
    let Some(normal) = unit(ca.cross(ab), 0.0) else {
        return [DVec3::ZERO; 3];
    };
    let (at_a, at_b) = (angle(ab, -ca), angle(bc, -ab));
    // The angles sum to π, which saves the third arc cosine.
    [at_a, at_b, PI - at_a - at_b].map(|angle| normal * angle)
}

/// Normalizes every normal and computes those that are missing (zero or not finite).
///
/// Returns how many were missing, and how many had a length that was off by more than 1 %.
pub(super) fn repair_normals(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    normals: &mut [Vec3],
) -> (usize, usize) {
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
        for (normal, computed) in normals
            .iter_mut()
            .zip(computed)
            .filter(|(normal, _)| **normal == Vec3::ZERO)
        {
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
fn angle(a: DVec3, b: DVec3) -> f64 {
    arc_cosine(cosine(a, b))
}

/// The cosine of the angle between two vectors of any length.
#[inline]
pub(super) fn cosine(a: DVec3, b: DVec3) -> f64 {
    let cosine = a.dot(b) / (a.length_squared() * b.length_squared()).sqrt();
    cosine.clamp(-1.0, 1.0)
}

/// The arc cosine of −1 to 1, to within two units in the last place.
///
/// Unlike the library's, it is the same on every platform, and has no branches, which a processor
/// could not predict here. The library's took a fifth of the time of loading an `.md5mesh`.
#[inline]
pub(super) fn arc_cosine(x: f64) -> f64 {
    // For s up to 1/2 and z = s², asin(s) is s + s · z · P(z) / Q(z): interpolated at Chebyshev's nodes.
    const P: [f64; 6] = [
        3.4197032079123224e-05,
        0.0007824047361233684,
        -0.039804643833901816,
        0.20050098243982578,
        -0.32506281072499676,
        0.16666666666666666,
    ];
    const Q: [f64; 5] = [
        0.07648737359869638,
        -0.6850546943675666,
        2.0153183407399062,
        -2.4003768643499854,
        1.0,
    ];
    // The summand and the factor of the arc sine: up to 1/2, above, and the same for negative
    // numbers.
    const PARTS: [(f64, f64); 4] = [(FRAC_PI_2, -1.0), (0.0, 2.0), (FRAC_PI_2, 1.0), (PI, -2.0)];
    let size = x.abs();
    // The smaller one is s² up to 1/2, and the half angle's beyond.
    let z = f64::min(size * size, (1.0 - size) / 2.0);
    let polynomial = |terms: &[f64]| terms.iter().fold(0.0, |sum, term| sum * z + term);
    let s = z.sqrt();
    let sine = s + s * z * (polynomial(&P) / polynomial(&Q));
    let (start, times) = PARTS[usize::from(size > 0.5) + 2 * usize::from(x < 0.0)];
    start + times * sine
}

pub(super) fn unit(v: DVec3, longer_than: f64) -> Option<DVec3> {
    let length = v.length();
    (length > longer_than && length.is_finite()).then(|| v / length)
}

#[cfg(test)]
mod tests {
    use super::super::winding::tests::cube;
    use super::*;

    #[test]
    fn the_arc_cosine_is_that_of_the_library_to_the_last_digits() {
        for i in -100_000..=100_000 {
            let x = f64::from(i) / 100_000.0;
            assert!(
                (arc_cosine(x) - x.acos()).abs() <= 2.0 * f64::EPSILON * x.acos(),
                "{x}"
            );
        }
        assert!(arc_cosine(f64::NAN).is_nan());
    }

    #[test]
    fn doubled_vertices_share_the_normal_of_their_place() {
        let (positions, triangles) = cube();
        // Every triangle with corners of its own, a hair off.
        let loose: Vec<Vec3> = triangles
            .iter()
            .flatten()
            .map(|&v| positions[v as usize] * (1.0 + 1e-7))
            .collect();
        let apart: Vec<[u32; 3]> = (0..triangles.len() as u32)
            .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
            .collect();
        let normals = smooth_normals(&loose, &apart);
        for (normal, position) in normals.iter().zip(&loose) {
            // Angle weights make a cube's corners point straight out however its sides are cut.
            assert!(
                normal.dot(position.normalize()) > 0.999_999,
                "{normal} at {position}"
            );
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
    fn rounding_errors_of_normals_that_cancel_out_are_not_a_normal() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..20 {
            let mut corner =
                |x: f32, y: f32| Vec3::new(x + 0.2 * random.f32(), y + 0.2 * random.f32(), 0.0);
            let square = [
                corner(0.0, 0.0),
                corner(1.0, 0.0),
                corner(1.0, 1.0),
                corner(0.0, 1.0),
            ];
            // The back is cut along the other diagonal.
            let normals = smooth_normals(&square, &[[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]]);
            assert_eq!(normals, [Vec3::Y; 4]);
        }
    }

    #[test]
    fn size_does_not_matter_and_hopeless_triangles_give_a_unit_normal() {
        for size in [1e-30, 1e-12, 1.0, 1e30] {
            let (positions, triangles) = cube();
            let positions: Vec<_> = positions.iter().map(|p| *p * size).collect();
            let normals = smooth_normals(&positions, &triangles);
            assert!(
                normals
                    .iter()
                    .zip(cube().0)
                    .all(|(n, p)| n.dot(p.normalize()) > 0.999),
                "{size}: {normals:?}"
            );
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
        assert!(
            normals
                .iter()
                .zip(&sound)
                .all(|(a, b)| (*a - *b).length() < 1e-6)
        );
    }
}
