//! Skin: vertices and the joints that move them.

use super::{BoundingBox, JointIndex};
use glam::{Vec2, Vec3, Vec4};

/// Up to four joints that move a vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Influences {
    /// Indices into the part's palette; unused slots are 0.
    pub palette: [u16; 4],
    /// Weights, largest first, ≥ 0, with a sum of one; unused slots are 0.
    pub weights: [f32; 4],
}

/// A part of the skin, drawn with one material.
///
/// The vertex lists have one entry per vertex. Vertices are stored in the pose in which
/// [`Skeleton::inverse_bind`](super::Skeleton::inverse_bind) cancels the joints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkinPart {
    /// Name, unique within the model.
    pub name: String,
    /// Index into [`Model::materials`](super::Model::materials).
    pub material: usize,
    /// Positions in model space.
    pub positions: Vec<Vec3>,
    /// Unit normals.
    pub normals: Vec<Vec3>,
    /// Unit tangents with the bitangent's sign (±1) in `w`: `bitangent = w · normal × tangent`.
    pub tangents: Vec<Vec4>,
    /// Texture coordinates, V down.
    pub tex_coords: Vec<Vec2>,
    /// Linear RGBA colors that multiply the material's; empty if there are none.
    pub colors: Vec<Vec4>,
    /// Influences; empty for a static model.
    pub influences: Vec<Influences>,
    /// Triangles as vertex indices, counterclockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// The joints this part uses: palette index → joint. At most [`Self::MAX_PALETTE`] of them.
    pub palette: Vec<JointIndex>,
    /// Per vertex, its index in the source file, counted across subsets and submeshes.
    pub source_vertices: Vec<u32>,
}

impl SkinPart {
    /// Most joints that a part may use: the capacity of devices without storage buffers.
    pub const MAX_PALETTE: usize = 256;

    /// Returns, per palette entry, the box around the vertices that the joint moves, in the joint's bind space;
    /// `None` for a joint without vertices.
    ///
    /// The posed part is inside the hull of these boxes, each moved by its joint, because a vertex is a
    /// weighted mean of points that are each in one of them.
    pub fn joint_boxes(&self, inverse_bind: &[glam::Affine3A]) -> Vec<Option<BoundingBox>> {
        let mut boxes: Vec<Option<BoundingBox>> = vec![None; self.palette.len()];
        for (position, influences) in self.positions.iter().zip(&self.influences) {
            for (&slot, &weight) in influences.palette.iter().zip(&influences.weights) {
                let slot = usize::from(slot);
                let Some(matrix) = self.palette.get(slot).and_then(|&j| inverse_bind.get(usize::from(j))) else {
                    continue;
                };
                if weight > 0.0 {
                    let point = BoundingBox::point(matrix.transform_point3(*position));
                    boxes[slot] = Some(boxes[slot].map_or(point, |bounds| bounds.union(point)));
                }
            }
        }
        boxes
    }
}
