//! Ray casts against posed skin, triangle by triangle.
//!
//! Vertices are skinned in single precision, as the GPU does it. The ray is tested in double precision
//! (Möller and Trumbore, *Fast, Minimum Storage Ray/Triangle Intersection*, 1997), so that it cannot
//! slip through between two triangles.

use super::skin::blend_matrices;
use crate::model::{BoundingBox, CombinedJoints, Influences, JointIndex};
use glam::{DVec3, Mat4, Vec3};

/// Casts a ray against the posed skin of one part. Triangles are hit from both sides.
///
/// The slices are laid out as in a mesh. The ray is in the space of the palette: in world space for a
/// palette in world space.
#[derive(Clone, Copy, Debug)]
pub struct PickSkin<'a> {
    /// The origin of the ray.
    pub origin: Vec3,
    /// The direction of the ray. Its length is the unit of distances.
    pub direction: Vec3,
    /// The vertices in their bind pose.
    pub positions: &'a [[f32; 3]],
    /// Four palette indices per vertex; empty for a part without joints.
    pub joints: &'a [[u16; 4]],
    /// Four weights per vertex, one for each of `joints`.
    pub weights: &'a [[f32; 4]],
    /// Three vertices per triangle. A triangle with a missing vertex is skipped.
    pub indices: TriangleIndices<'a>,
    /// One matrix per palette entry, from [`Palette`](super::Palette). An influence past its end counts
    /// as the identity.
    pub palette: &'a [Mat4],
    /// The palette's joints, used to name the joint at the hit; may be empty.
    pub remap: &'a [JointIndex],
    /// The palette's entries after its joints.
    pub combined: &'a CombinedJoints,
    /// Takes vertices without influences to the space of the ray.
    pub place: Mat4,
}

/// Vertex indices, as a mesh stores them.
#[derive(Clone, Copy, Debug)]
pub enum TriangleIndices<'a> {
    /// For up to 65,536 vertices.
    U16(&'a [u16]),
    /// For any number of vertices.
    U32(&'a [u32]),
}

/// The point where a ray hits a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinHit {
    /// Distance along the ray, in lengths of the ray's direction; ≥ 0.
    pub distance: f32,
    /// The triangle; its first index is at three times this number.
    pub triangle: usize,
    /// Barycentric coordinates of the hit: the weights of the triangle's three vertices, summing to one.
    pub barycentrics: [f32; 3],
    /// The joint with the most influence on the skin there; `None` if no joint moves it.
    pub joint: Option<JointIndex>,
}

impl TriangleIndices<'_> {
    /// The vertices of a triangle.
    fn triangle(&self, triangle: usize) -> Option<[usize; 3]> {
        let range = triangle * 3..triangle * 3 + 3;
        match self {
            Self::U16(list) => list
                .get(range)
                .map(|t| [t[0].into(), t[1].into(), t[2].into()]),
            Self::U32(list) => list
                .get(range)
                .map(|t| [t[0] as usize, t[1] as usize, t[2] as usize]),
        }
    }
}

impl PickSkin<'_> {
    /// Returns the nearest hit. `posed` is working memory; afterwards it holds the posed vertices.
    pub fn run(&self, posed: &mut Vec<Vec3>) -> Option<SkinHit> {
        posed.clear();
        posed.extend((0..self.positions.len()).map(|vertex| self.skinned(vertex)));
        let (origin, direction) = (self.origin.as_dvec3(), self.direction.as_dvec3());
        let corner = |vertex: usize| posed.get(vertex).map(|p| p.as_dvec3());
        let mut nearest: Option<(f64, usize, [f64; 2])> = None;
        let mut triangle = 0;
        while let Some([a, b, c]) = self.indices.triangle(triangle) {
            if let (Some(a), Some(b), Some(c)) = (corner(a), corner(b), corner(c))
                && let Some((distance, shares)) = ray_triangle(origin, direction, [a, b, c])
                && nearest.is_none_or(|(best, ..)| distance < best)
            {
                nearest = Some((distance, triangle, shares));
            }
            triangle += 1;
        }
        let (distance, triangle, [u, v]) = nearest?;
        let barycentrics = [1.0 - u - v, u, v].map(|share| share as f32);
        let joint = self.joint_at(triangle, barycentrics);
        Some(SkinHit {
            distance: distance as f32,
            triangle,
            barycentrics,
            joint,
        })
    }

    fn skinned(&self, vertex: usize) -> Vec3 {
        let position = Vec3::from(self.positions[vertex]);
        let (Some(slots), Some(weights)) = (self.joints.get(vertex), self.weights.get(vertex))
        else {
            return self.place.transform_point3(position);
        };
        blend_matrices(self.palette, slots, weights).transform_point3(position)
    }

    /// The joint with the most influence on a point of a triangle; the first one of equals.
    fn joint_at(&self, triangle: usize, barycentrics: [f32; 3]) -> Option<JointIndex> {
        let vertices = self.indices.triangle(triangle)?;
        let influences = |vertex: usize| {
            let (palette, weights) = (*self.joints.get(vertex)?, *self.weights.get(vertex)?);
            Some(
                self.combined
                    .resolve(self.remap.len(), Influences { palette, weights }),
            )
        };
        let shares = vertices
            .into_iter()
            .zip(barycentrics)
            .flat_map(|(vertex, barycentric)| {
                influences(vertex)
                    .into_iter()
                    .flatten()
                    .map(move |(slot, weight)| (slot, barycentric * weight))
            });
        // Three vertices have a few dozen influences at most, so searching the list is fast enough.
        let mut largest = (None, 0.0);
        for (slot, _) in shares.clone() {
            let share = shares
                .clone()
                .filter(|(other, _)| *other == slot)
                .map(|(_, share)| share)
                .sum();
            if share > largest.1 {
                largest = (Some(slot), share);
            }
        }
        self.remap.get(largest.0?).copied()
    }
}

/// Returns the distance and the weights of the second and third corner; `None` if the ray misses.
fn ray_triangle(origin: DVec3, direction: DVec3, [a, b, c]: [DVec3; 3]) -> Option<(f64, [f64; 2])> {
    let (along, across) = (b - a, c - a);
    let p = direction.cross(across);
    let determinant = along.dot(p);
    // A triangle seen edge-on or without area, and NaN.
    if determinant.is_nan() || determinant.abs() <= f64::MIN_POSITIVE {
        return None;
    }
    let from = origin - a;
    let u = from.dot(p) / determinant;
    let q = from.cross(along);
    let v = direction.dot(q) / determinant;
    let distance = across.dot(q) / determinant;
    // Neighbors round their common edge alike; this covers the rest.
    const EDGE: f64 = 1e-9;
    let inside = u >= -EDGE && v >= -EDGE && u + v <= 1.0 + EDGE;
    (inside && distance >= 0.0 && distance.is_finite()).then_some((distance, [u, v]))
}

/// Returns how far along a ray it enters a box, in lengths of `direction`: 0 if it starts inside, and `None` if it misses.
///
/// Larger than the faces by a rounding, so that it never rejects a point on the surface.
pub fn ray_enters_box(origin: Vec3, direction: Vec3, bounds: BoundingBox) -> Option<f32> {
    let BoundingBox {
        min: low,
        max: high,
    } = bounds;
    let (mut near, mut far) = (0.0_f32, f32::INFINITY);
    // In proportion to the numbers involved, as rounding errors are.
    let slack = (low.abs().max(high.abs()).max_element() + origin.abs().max_element()) * 1e-5
        + f32::MIN_POSITIVE;
    for axis in 0..3 {
        let (start, along) = (origin[axis], direction[axis]);
        let (low, high) = (low[axis] - slack, high[axis] + slack);
        if along == 0.0 {
            // Parallel to the slab: the ray is within it everywhere or nowhere.
            if !(start >= low && start <= high) {
                return None;
            }
            continue;
        }
        let (a, b) = ((low - start) / along, (high - start) / along);
        near = near.max(a.min(b));
        // Rounding must not reject a ray that only touches an edge of the box.
        far = far.min(a.max(b) * (1.0 + 1e-5));
    }
    (near <= far).then_some(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles at right angles: one goes with the first joint, the other with the second.
    const POSITIONS: [[f32; 3]; 4] = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
    ];
    const INDICES: [u16; 6] = [0, 1, 2, 0, 2, 3];

    fn pick<'a>(
        joints: &'a [[u16; 4]],
        weights: &'a [[f32; 4]],
        palette: &'a [Mat4],
    ) -> PickSkin<'a> {
        PickSkin {
            origin: Vec3::new(0.2, 0.2, 5.0),
            direction: Vec3::NEG_Z,
            positions: &POSITIONS,
            joints,
            weights,
            indices: TriangleIndices::U16(&INDICES),
            palette,
            remap: &[7, 9],
            combined: &NONE,
            place: Mat4::IDENTITY,
        }
    }

    static NONE: CombinedJoints = CombinedJoints::new();
    const FULL: [f32; 4] = [1.0, 0.0, 0.0, 0.0];

    #[test]
    fn a_hit_has_a_distance_a_triangle_and_a_joint() {
        let joints = [[0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]];
        let palette = [Mat4::from_translation(Vec3::Z); 2];
        let hit = pick(&joints, &[FULL; 4], &palette)
            .run(&mut Vec::new())
            .unwrap();
        assert_eq!((hit.distance, hit.triangle, hit.joint), (4.0, 0, Some(7)));
        let near = |a: f32, b: f32| (a - b).abs() < 1e-6;
        assert!(
            hit.barycentrics
                .into_iter()
                .zip([0.6, 0.2, 0.2])
                .all(|(a, b)| near(a, b)),
            "{hit:?}"
        );
        // Close to the corner that the other joint moves, that one has more.
        let near_corner = PickSkin {
            origin: Vec3::new(0.7, 0.1, 5.0),
            ..pick(&joints, &[FULL; 4], &palette)
        };
        assert_eq!(near_corner.run(&mut Vec::new()).unwrap().joint, Some(9));
        let behind = PickSkin {
            direction: Vec3::Z,
            ..near_corner
        };
        assert_eq!(behind.run(&mut Vec::new()), None);
    }

    #[test]
    fn a_part_without_joints_is_moved_by_its_place() {
        let part = PickSkin {
            place: Mat4::from_translation(Vec3::NEG_Z),
            ..pick(&[], &[], &[])
        };
        let hit = part.run(&mut Vec::new()).unwrap();
        assert_eq!((hit.distance, hit.joint), (6.0, None));
    }

    #[test]
    fn nonsense_neither_hits_nor_panics() {
        let joints = [[300, 0, 0, 0]; 4];
        for palette in [vec![], vec![Mat4::NAN; 301], vec![Mat4::ZERO; 301]] {
            let flat = pick(&joints, &[FULL; 4], &palette);
            let hit = flat.run(&mut Vec::new());
            assert!(
                hit.is_none() != palette.is_empty() && hit.is_none_or(|hit| hit.joint.is_none())
            );
            for direction in [Vec3::ZERO, Vec3::NAN, Vec3::INFINITY] {
                assert_eq!(PickSkin { direction, ..flat }.run(&mut Vec::new()), None);
            }
            let far = [0_u32, 1, 9, 2, 3, u32::MAX, 1];
            assert_eq!(
                PickSkin {
                    indices: TriangleIndices::U32(&far),
                    ..flat
                }
                .run(&mut Vec::new()),
                None
            );
        }
    }

    #[test]
    fn a_ray_meets_a_box_when_a_point_of_it_lies_within() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut place =
            |reach: f32| Vec3::from(std::array::from_fn(|_| (random.f32() * 2.0 - 1.0) * reach));
        let (mut met, mut missed) = (0, 0);
        for _ in 0..20_000 {
            let (origin, direction, a, b) = (place(4.0), place(1.0), place(2.0), place(2.0));
            let (low, high) = (a.min(b), a.max(b));
            let says = ray_enters_box(
                origin,
                direction,
                BoundingBox {
                    min: low,
                    max: high,
                },
            )
            .is_some();
            let inside = |step: i32| {
                let point = origin + direction * (step as f32 * 0.02);
                point.cmpge(low).all() && point.cmple(high).all()
            };
            let is_met = (0..2000).any(inside);
            assert!(says || !is_met, "a box the ray meets is never missed");
            met += usize::from(is_met);
            missed += usize::from(!says);
        }
        assert!(met > 300 && missed > 1000, "{met} {missed}");
        let unit = BoundingBox {
            min: Vec3::ZERO,
            max: Vec3::ONE,
        };
        assert_eq!(
            ray_enters_box(Vec3::splat(0.5), Vec3::X, unit),
            Some(0.0),
            "from within"
        );
        let along_an_edge = ray_enters_box(Vec3::new(-1.0, 0.0, 0.0), Vec3::X, unit).unwrap();
        assert!((along_an_edge - 1.0).abs() < 1e-4, "{along_an_edge}");
        let twice_as_fast = ray_enters_box(Vec3::new(-1.0, 0.5, 0.5), Vec3::X * 2.0, unit).unwrap();
        assert!((twice_as_fast - 0.5).abs() < 1e-4, "{twice_as_fast}");
        assert_eq!(
            ray_enters_box(Vec3::new(-1.0, 2.0, 0.0), Vec3::X, unit),
            None
        );
        assert_eq!(
            ray_enters_box(Vec3::new(-1.0, 0.5, 0.5), Vec3::NEG_X, unit),
            None,
            "behind"
        );
    }

    #[test]
    fn a_hit_names_the_largest_joint_even_if_it_is_part_of_a_combined_one() {
        let mut combined = CombinedJoints::default();
        combined.push([(0, 0.2), (1, 0.8)]);
        let (joints, weights) = ([[0, 2, 0, 0]; 4], [[0.4, 0.6, 0.0, 0.0]; 4]);
        let part = PickSkin {
            combined: &combined,
            ..pick(&joints, &weights, &[Mat4::IDENTITY; 3])
        };
        // 0.52 of the first joint, 0.48 of the second.
        assert_eq!(part.run(&mut Vec::new()).unwrap().joint, Some(7));
        let weights = [[0.3, 0.7, 0.0, 0.0]; 4];
        let part = PickSkin {
            weights: &weights,
            ..part
        };
        assert_eq!(part.run(&mut Vec::new()).unwrap().joint, Some(9));
    }
}
