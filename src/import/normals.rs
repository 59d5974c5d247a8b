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
/// Returns the vertices whose normals were missing, and how many had a length that was off by more than 1 %.
pub(super) fn repair_normals(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    normals: &mut [Vec3],
) -> (Vec<usize>, usize) {
    let (mut missing, mut off) = (Vec::new(), 0);
    for (vertex, normal) in normals.iter_mut().enumerate() {
        let squared = normal.length_squared();
        if (squared - 1.0).abs() < 1e-6 {
            continue;
        }
        match usable(*normal) {
            Some(unit) => {
                off += usize::from((squared.sqrt() - 1.0).abs() > 0.01);
                *normal = unit;
            }
            None => missing.push(vertex),
        }
    }
    if !missing.is_empty() {
        let computed = smooth_normals(positions, triangles);
        for &vertex in &missing {
            normals[vertex] = computed[vertex];
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
#[path = "tests/normals.rs"]
mod tests;
