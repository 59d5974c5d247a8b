//! Normals: computed where a file has none, repaired where its own are broken.
//!
//! They are angle-weighted means over all triangles that meet in a *place*, so that vertices
//! doubled for a texture seam share theirs.

use super::{
    lanes::{BLOCK, Lanes, Vectors, edges, gather},
    weld::Places,
};
use glam::{DVec3, Vec3};
use std::f64::consts::PI;

/// Unit normals for a mesh: means of the triangles around each place, weighted by angle.
///
/// Counter-clockwise triangles give outward normals. Vertices of triangles without area, and of
/// none, take the normal of their place, or +Y. The two sides of a sheet modelled twice, once for
/// each side, keep a normal each.
pub(super) fn smooth_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let places = Places::new(positions);
    let mut own = vec![DVec3::ZERO; positions.len()];
    let mut block = Block::NOTHING;
    for triangles in triangles.chunks(BLOCK) {
        block.run(positions, triangles);
        for (lane, triangle) in triangles.iter().enumerate() {
            let normal = block.normals.get(lane);
            for (&vertex, angle) in triangle.iter().zip(&block.angles) {
                own[vertex as usize] += normal * angle[lane];
            }
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
        // What cancels out in one place is a sheet's two sides, each better off by itself.
        let shared = unit(shared, 0.1 * reach).filter(|shared| own.is_none_or(|own| own.dot(*shared) > 0.1));
        shared.or(own).map_or(Vec3::Y, |normal| normal.as_vec3())
    };
    own.iter().zip(&places.of_vertex).map(normal).collect()
}

/// Brings every normal to unit length and computes those that are missing (zero or not finite).
///
/// The number of missing ones; the number whose length was off by more than 1 %.
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

/// The unit vector along `v`, if `v` has a direction.
pub(super) fn usable(v: Vec3) -> Option<Vec3> {
    // Through f64, so that very short and very long vectors keep theirs.
    unit(v.as_dvec3(), 1e-6).map(|v| v.as_vec3())
}

/// Triangles, their unit normals, and the angles at their corners; 0 where there are none.
struct Block {
    corners: [Vectors<f32>; 3],
    edges: [Vectors<f64>; 3],
    normals: Vectors<f64>,
    angles: [Lanes<f64>; 3],
}

impl Block {
    const NOTHING: Self = Self {
        corners: [Vectors::<f32>::ZERO; 3],
        edges: [Vectors::<f64>::ZERO; 3],
        normals: Vectors::<f64>::ZERO,
        angles: [[0.0; BLOCK]; 3],
    };

    fn run(&mut self, positions: &[Vec3], triangles: &[[u32; 3]]) {
        gather(&mut self.corners, positions, triangles.iter().copied());
        edges(&self.corners, &mut self.edges);
        unit_normals(&self.edges, &mut self.normals);
        angles(&self.edges, &mut self.angles);
    }
}

fn unit_normals([ab, _, ca]: &[Vectors<f64>; 3], normals: &mut Vectors<f64>) {
    for lane in 0..BLOCK {
        let cross = ab.get(lane).cross(-ca.get(lane));
        let length = cross.length();
        let normal = cross / length;
        let sound = length > 0.0 && length < f64::INFINITY;
        let or_nothing = |x: f64| if sound { x } else { 0.0 };
        normals.set(lane, DVec3::new(or_nothing(normal.x), or_nothing(normal.y), or_nothing(normal.z)));
    }
}

fn angles([ab, bc, ca]: &[Vectors<f64>; 3], [at_a, at_b, at_c]: &mut [Lanes<f64>; 3]) {
    // First the cosines.
    for lane in 0..BLOCK {
        let (ab, bc, ca) = (ab.get(lane), bc.get(lane), ca.get(lane));
        let (ab2, bc2, ca2) = (ab.length_squared(), bc.length_squared(), ca.length_squared());
        at_a[lane] = -ab.dot(ca) / (ab2 * ca2).sqrt();
        at_b[lane] = -bc.dot(ab) / (bc2 * ab2).sqrt();
    }
    for lane in 0..BLOCK {
        let (a, b) = (arc_cosine(at_a[lane]), arc_cosine(at_b[lane]));
        let or_nothing = |angle: f64| if angle > 0.0 { angle } else { 0.0 };
        (at_a[lane], at_b[lane], at_c[lane]) = (or_nothing(a), or_nothing(b), or_nothing(PI - a - b));
    }
}

/// The arc cosine to 2e-8 (Abramowitz and Stegun 4.4.46); arguments beyond ±1 count as that.
///
/// Weights need no more digits, and the library's takes half of the time of a mesh's normals.
#[inline]
pub(super) fn arc_cosine(x: f64) -> f64 {
    const TERMS: [f64; 8] = [
        -0.001_262_491_1,
        0.006_670_090_1,
        -0.017_088_125_6,
        0.030_891_881_0,
        -0.050_174_304_6,
        0.088_978_987_4,
        -0.214_598_801_6,
        1.570_796_305_0,
    ];
    let size = x.abs().min(1.0);
    let near = (1.0 - size).sqrt() * TERMS.iter().fold(0.0, |sum, term| sum * size + term);
    if x < 0.0 { PI - near } else { near }
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
    fn the_arc_cosine_is_that_of_the_library() {
        for i in -1000..=1000 {
            let x = f64::from(i) / 1000.0;
            assert!((arc_cosine(x) - x.acos()).abs() < 3e-8, "{x}");
        }
        assert_eq!([arc_cosine(2.0), arc_cosine(-2.0)], [0.0, PI]);
    }

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
