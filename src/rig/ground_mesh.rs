//! Triangles that feet stand on, sorted so that a ray only meets a few of them.

use super::{GroundHit, GroundRay, math::direction};
use crate::{model::BoundingBox, pose::ray_enters_box};
use glam::{Affine3A, Vec3, Vec3A};

/// The triangles of a mesh, to cast rays against: a tree of bounding boxes.
///
/// Rays hit the side of a triangle from which its corners are counterclockwise in the mesh's own space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroundMesh {
    triangles: Vec<[Vec3; 3]>,
    /// Each box is followed by those inside it.
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Node {
    bounds: BoundingBox,
    /// The triangles inside.
    first: u32,
    count: u32,
    /// The node after the last one inside this one. A leaf is followed by it.
    next: u32,
}

/// Triangles in a leaf.
const FEW: usize = 4;

impl GroundMesh {
    /// Sorts triangles. Those that are not finite are left out, and so are all after the first two billion.
    pub fn new(triangles: impl IntoIterator<Item = [Vec3; 3]>) -> Self {
        let is_finite = |triangle: &[Vec3; 3]| triangle.iter().all(|corner| corner.is_finite());
        let triangles: Vec<_> = triangles
            .into_iter()
            .filter(is_finite)
            // A tree has fewer than twice as many nodes as triangles, and their indices have 32 bits.
            .take(u32::MAX as usize / 2)
            .collect();
        let mut mesh = Self {
            nodes: Vec::with_capacity(triangles.len()),
            triangles,
        };
        if !mesh.triangles.is_empty() {
            mesh.split(0, mesh.triangles.len());
        }
        mesh
    }

    fn split(&mut self, first: usize, count: usize) {
        let inside = &mut self.triangles[first..first + count];
        let Some(bounds) = BoundingBox::enclosing(inside.iter().flatten().copied()) else {
            return;
        };
        let node = self.nodes.len();
        self.nodes.push(Node {
            bounds,
            first: first as u32,
            count: count as u32,
            next: 0,
        });
        if count > FEW {
            // Halves along the longest side: the tree is no deeper than a logarithm.
            // Divided first, since the sum of three large corners may overflow.
            let middle =
                |triangle: &[Vec3; 3]| triangle[0] / 3.0 + triangle[1] / 3.0 + triangle[2] / 3.0;
            let size = BoundingBox::enclosing(inside.iter().map(middle))
                .map_or(Vec3::ZERO, |b| b.max - b.min);
            let axis = usize::from(size.y > size.x);
            let axis = if size.z > size[axis] { 2 } else { axis };
            // Partitioned at the median, in linear time. Sorting each level would take longer.
            inside.select_nth_unstable_by(count / 2, |a, b| {
                middle(a)[axis].total_cmp(&middle(b)[axis])
            });
            self.split(first, count / 2);
            self.split(first + count / 2, count - count / 2);
        }
        // Known only now that all nodes inside exist.
        self.nodes[node].next = self.nodes.len() as u32;
    }

    /// Returns the nearest hit of a ray, with the mesh placed in the world by `world`; `None` if the ray hits nothing, or if
    /// `world` has no inverse.
    pub fn cast(&self, world: &Affine3A, ray: &GroundRay) -> Option<GroundHit> {
        let inverse = world.inverse();
        if !inverse.is_finite() {
            return None;
        }
        // The direction keeps its length, so that distances along the ray stay the same.
        let (origin, way) = (
            inverse.transform_point3(ray.origin),
            inverse.transform_vector3(ray.direction),
        );
        let (mut nearest, mut normal) = (ray.length, None);
        // Nodes are in depth-first order. A miss skips to `next`, and a hit continues with the node
        // that follows, so no stack is needed.
        let mut node = 0;
        while let Some(at) = self.nodes.get(node) {
            if ray_enters_box(origin, way, at.bounds).is_none() {
                node = at.next as usize;
                continue;
            }
            node += 1;
            if at.count as usize > FEW {
                continue;
            }
            let (first, count) = (at.first as usize, at.count as usize);
            for triangle in &self.triangles[first..first + count] {
                // `<=`, so that the end of the ray counts.
                if let Some((distance, face)) = meet(triangle, origin, way)
                    && distance <= nearest
                {
                    (nearest, normal) = (distance, Some(face));
                }
            }
        }
        // Normals are transformed by the inverse transpose.
        let normal = direction(inverse.matrix3.transpose() * Vec3A::from(normal?))?;
        Some(GroundHit {
            point: ray.origin + ray.direction * nearest,
            normal: normal.into(),
        })
    }
}

/// The distance along a ray to a triangle, and its normal.
fn meet(triangle: &[Vec3; 3], origin: Vec3, way: Vec3) -> Option<(f32, Vec3)> {
    let [a, b, c] = *triangle;
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(ac);
    let across = way.cross(ac);
    let determinant = ab.dot(across);
    // Feet stand on the front of a face. From behind, they would stick to ceilings.
    if way.dot(normal) >= 0.0 || determinant == 0.0 {
        return None;
    }
    let from = origin - a;
    let u = from.dot(across) / determinant;
    let q = from.cross(ab);
    let v = way.dot(q) / determinant;
    let distance = ac.dot(q) / determinant;
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance >= 0.0).then_some((distance, normal))
}

#[cfg(test)]
#[path = "tests/ground_mesh.rs"]
mod tests;
