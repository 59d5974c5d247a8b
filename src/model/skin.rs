//! Skin: vertices and the joints that move them.

use super::{BoundingBox, JointIndex, MorphTarget};
use glam::{Vec2, Vec3, Vec3A, Vec4};

/// Up to four joints that move a vertex.
///
/// A vertex of a file with more has a *combined joint* among them, which stands for the rest.
///
/// ```
/// # use bevy_marionette::model::{Influences, SkinPart};
/// // Half the upper arm, which is first in the part's palette, and half the forearm.
/// let elbow = Influences { palette: [0, 1, 0, 0], weights: [0.5, 0.5, 0.0, 0.0] };
/// let sleeve = SkinPart { palette: vec![7, 8], influences: vec![elbow], ..SkinPart::default() };
/// assert!(sleeve.joint_weights(0).eq([(0, 0.5), (1, 0.5)]));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Influences {
    /// Indices into [`SkinPart::palette`], or past its end, of combined joints; unused slots are 0.
    pub palette: [u16; 4],
    /// Weights, largest first, ≥ 0, with a sum of one; unused slots are 0.
    pub weights: [f32; 4],
}

/// A part of the skin, drawn with one material.
///
/// The vertex lists have one entry per vertex. Vertices are stored in the pose in which
/// [`Skeleton::inverse_bind`](super::Skeleton::inverse_bind) cancels the joints.
///
/// ```
/// # use bevy_marionette::model::{JointIndex, SkinPart};
/// /// Returns the vertices that mostly follow one joint, such as those of the head.
/// fn vertices_of(part: &SkinPart, joint: JointIndex) -> Vec<usize> {
///     let follows = |&vertex: &usize| {
///         part.joint_weights(vertex).any(|(at, weight)| part.palette[at] == joint && weight > 0.5)
///     };
///     (0..part.positions.len()).filter(follows).collect()
/// }
/// ```
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
    /// Texture coordinates of the maps in the second set; empty if all use the first.
    pub second_tex_coords: Vec<Vec2>,
    /// Linear RGBA colors that multiply the material's; empty if there are none.
    pub colors: Vec<Vec4>,
    /// Influences; empty for a static model.
    pub influences: Vec<Influences>,
    /// Triangles as vertex indices, counterclockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// The joints this part uses: palette index → joint.
    pub palette: Vec<JointIndex>,
    /// Entries of the palette after the joints, for vertices with more than four of them. Mostly empty.
    #[doc(hidden)]
    pub combined_joints: CombinedJoints,
    /// Morph targets, by [`MorphTarget::morph`] in ascending order, one for each name at most; empty for most parts.
    #[doc(hidden)]
    pub morphs: Vec<MorphTarget>,
    /// Per vertex, its index in the source file, counted across subsets and submeshes.
    pub source_vertices: Vec<u32>,
}

/// Palette entries that are weighted means of a part's joints, so that a vertex can have more than four.
///
/// Skinning is linear in the matrices: a vertex that follows three joints and the mean of all its others moves exactly
/// as with all of them, and the GPU still sees four.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CombinedJoints {
    /// The joints of all entries, as palette indices, with their shares.
    shares: Vec<(u16, f32)>,
    /// Per entry, its end in `shares`.
    ends: Vec<u32>,
}

impl CombinedJoints {
    /// Creates a list without entries.
    pub const fn new() -> Self {
        Self {
            shares: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Adds an entry: joints, as indices into [`SkinPart::palette`], and their shares with a sum of one.
    pub fn push(&mut self, shares: impl IntoIterator<Item = (u16, f32)>) {
        self.shares.extend(shares);
        self.ends.push(self.shares.len() as u32);
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns `true` if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the joints of an entry and their shares.
    pub fn get(&self, entry: usize) -> Option<&[(u16, f32)]> {
        let end = *self.ends.get(entry)?;
        let start = if entry > 0 { self.ends[entry - 1] } else { 0 };
        Some(&self.shares[start as usize..end as usize])
    }

    /// Returns the joints of each entry and their shares.
    pub fn iter(&self) -> impl Iterator<Item = &[(u16, f32)]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.shares[start as usize..end as usize])
    }

    /// Returns each joint of a vertex once, as an index into a palette of `joints` joints, with its weight above 0.
    ///
    /// Indices past the end of the palette are left out.
    pub fn joint_weights(
        &self,
        joints: usize,
        influences: Influences,
    ) -> impl Iterator<Item = (usize, f32)> + Clone + use<'_> {
        let all = self.resolve(joints, influences);
        let each = all.clone();
        let is_first = move |&(at, (joint, _)): &(usize, (usize, f32))| {
            !each.clone().take(at).any(|(other, _)| other == joint)
        };
        let weight = move |joint| {
            all.clone()
                .filter(|(other, _)| *other == joint)
                .map(|(_, weight)| weight)
                .sum()
        };
        let first = self
            .resolve(joints, influences)
            .enumerate()
            .filter(is_first);
        first.map(move |(_, (joint, _))| (joint, weight(joint)))
    }

    /// Like [`Self::joint_weights`], but a joint can occur twice, by itself and in a combined joint, each time with
    /// a part of its weight.
    pub(crate) fn resolve(
        &self,
        joints: usize,
        influences: Influences,
    ) -> impl Iterator<Item = (usize, f32)> + Clone + use<'_> {
        let Influences { palette, weights } = influences;
        let used = palette
            .into_iter()
            .zip(weights)
            .filter(|(_, weight)| *weight > 0.0);
        let joints_of = move |(slot, weight): (u16, f32)| {
            let entry = usize::from(slot).checked_sub(joints);
            let shares = entry.and_then(|entry| self.get(entry)).unwrap_or_default();
            let alone = entry.is_none().then_some((slot, weight));
            alone.into_iter().chain(
                shares
                    .iter()
                    .map(move |&(slot, share)| (slot, weight * share)),
            )
        };
        used.flat_map(joints_of)
            .map(|(slot, weight)| (usize::from(slot), weight))
            .filter(move |&(slot, weight)| slot < joints && weight > 0.0)
    }
}

impl SkinPart {
    /// The most palette entries of a part that every device can draw: Bevy's limit for a uniform
    /// buffer, on devices without storage buffers.
    pub const MAX_PALETTE: usize = 256;

    /// Returns the number of palette entries, joints and combined joints: one matrix for each.
    pub fn palette_len(&self) -> usize {
        self.palette.len() + self.combined_joints.len()
    }

    /// Returns each joint that moves a vertex once, as an index into [`Self::palette`], with its weight above 0.
    pub fn joint_weights(&self, vertex: usize) -> impl Iterator<Item = (usize, f32)> + Clone {
        let influences = self.influences.get(vertex).copied().unwrap_or_default();
        self.combined_joints
            .joint_weights(self.palette.len(), influences)
    }

    /// Returns, for each joint of the palette, the box around the vertices that it moves, in its bind space;
    /// `None` for a joint without vertices.
    ///
    /// The posed part is inside the hull of these boxes, each moved by its joint, because a vertex is a
    /// weighted mean of points that are each in one of them.
    pub(crate) fn joint_boxes(&self, inverse_bind: &[glam::Affine3A]) -> Vec<Option<BoundingBox>> {
        let joints = self.palette.len();
        let mut boxes: Vec<Option<[Vec3A; 2]>> = vec![None; joints];
        for (position, influences) in self.positions.iter().zip(&self.influences) {
            let position = Vec3A::from(*position);
            for (slot, _) in self.combined_joints.resolve(joints, *influences) {
                let Some(matrix) = inverse_bind.get(usize::from(self.palette[slot])) else {
                    continue;
                };
                let point = matrix.transform_point3a(position);
                let [min, max] = boxes[slot].get_or_insert([point; 2]);
                (*min, *max) = (min.min(point), max.max(point));
            }
        }
        let to_box = |[min, max]: [Vec3A; 2]| BoundingBox {
            min: min.into(),
            max: max.into(),
        };
        boxes.into_iter().map(|all| all.map(to_box)).collect()
    }
}

#[cfg(test)]
#[path = "tests/skin.rs"]
mod tests;
