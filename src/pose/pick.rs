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
#[path = "tests/pick.rs"]
mod tests;
