//! The vertex last clicked in the view: its joints and weights in the panel, and a marker on the skin.

use super::{
    gizmos::{HIGHLIGHT, SkeletonGizmos, bone_size, in_world},
    style::{accent, bar_background},
};
use crate::{
    asset::{Character, CharacterPart},
    character::{CharacterRayHit, ModelPose, SkinnedCharacter},
    model::JointIndex,
};
use bevy::{
    mesh::{Indices, VertexAttributeValues},
    prelude::*,
};
use bevy_egui::egui::{self, RichText, Ui};

/// The vertex last clicked, if the last click hit a character.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ClickedVertex(pub(super) Option<PartVertex>);

/// A vertex of a part's mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PartVertex {
    pub(super) character: Entity,
    part: usize,
    vertex: usize,
}

impl PartVertex {
    /// Returns the corner of the triangle that a hit is closest to.
    pub(super) fn of_hit(
        hit: &CharacterRayHit,
        character: &Character,
        meshes: &Assets<Mesh>,
    ) -> Option<Self> {
        let mesh = meshes.get(&character.parts.get(hit.part)?.mesh)?;
        let [a, b, c] = hit.barycentrics;
        // The largest weight belongs to the nearest corner.
        let corner = if a >= b && a >= c {
            0
        } else {
            1 + usize::from(c > b)
        };
        let at = 3 * hit.triangle + corner;
        let vertex = match mesh.try_indices().ok()? {
            Indices::U16(list) => usize::from(*list.get(at)?),
            Indices::U32(list) => *list.get(at)? as usize,
        };
        Some(Self {
            character: hit.character,
            part: hit.part,
            vertex,
        })
    }

    /// Returns the vertex's part, which a reloaded character may lack.
    fn part<'a>(&self, character: &'a Character) -> Option<&'a CharacterPart> {
        character.parts.get(self.part)
    }

    /// Returns the joints that move the vertex, largest weight first; empty for a part without joints.
    fn weights(&self, part: &CharacterPart, mesh: &Mesh) -> Vec<(JointIndex, f32)> {
        let Ok(VertexAttributeValues::Uint16x4(slots)) =
            mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_INDEX)
        else {
            return Vec::new();
        };
        let Ok(VertexAttributeValues::Float32x4(weights)) =
            mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT)
        else {
            return Vec::new();
        };
        // Attributes of a mesh that the game made may have different lengths.
        let (Some(slots), Some(weights)) = (slots.get(self.vertex), weights.get(self.vertex))
        else {
            return Vec::new();
        };
        let weights = part.joint_weights(*slots, *weights);
        let mut weights: Vec<_> = weights
            .map(|(slot, weight)| (part.palette[slot], weight))
            .collect();
        weights.sort_by(|a, b| b.1.total_cmp(&a.1));
        weights
    }
}

/// Shows the joints that move the vertex, with their weights as bars. A click on a name selects the joint.
pub(super) fn show(
    ui: &mut Ui,
    clicked: PartVertex,
    selected: &mut Option<JointIndex>,
    character: &Character,
    meshes: &Assets<Mesh>,
) {
    let Some(part) = clicked.part(character) else {
        return;
    };
    let Some(mesh) = meshes.get(&part.mesh) else {
        return;
    };
    ui.horizontal(|ui| {
        ui.strong("Clicked vertex");
        let which = RichText::new(format!("{} of {}", clicked.vertex, part.name)).weak();
        ui.add(egui::Label::new(which).truncate());
    });
    let weights = clicked.weights(part, mesh);
    if weights.is_empty() {
        ui.weak("No joint moves it.");
    }
    for (joint, weight) in weights {
        let name = character
            .skeleton
            .names()
            .get(usize::from(joint))
            .map_or("", |name| name);
        ui.horizontal(|ui| {
            let (rect, _) = ui.allocate_exact_size(egui::vec2(90.0, 6.0), egui::Sense::hover());
            ui.painter()
                .rect_filled(rect, 3.0, bar_background(ui.visuals()));
            let size = egui::vec2(rect.width() * weight.clamp(0.0, 1.0), rect.height());
            ui.painter().rect_filled(
                egui::Rect::from_min_size(rect.min, size),
                3.0,
                accent(ui.visuals()),
            );
            ui.monospace(format!("{weight:.3}"));
            if ui.add(egui::Link::new(RichText::new(name))).clicked() {
                *selected = Some(joint);
            }
        });
    }
    ui.separator();
}

/// Marks the vertex on the posed skin with a small sphere.
pub(super) fn mark(
    mut gizmos: Gizmos<SkeletonGizmos>,
    clicked: Res<ClickedVertex>,
    assets: Res<Assets<Character>>,
    meshes: Res<Assets<Mesh>>,
    characters: Query<(&SkinnedCharacter, &ModelPose, &GlobalTransform)>,
) {
    let Some(vertex) = clicked.0 else { return };
    let Ok((handle, pose, world)) = characters.get(vertex.character) else {
        return;
    };
    let Some(character) = assets.get(handle.id()) else {
        return;
    };
    let Some(joints) = in_world(character, pose, world) else {
        return;
    };
    if let Some(at) = place(vertex, character, &meshes, &joints, world) {
        gizmos.sphere(
            at,
            0.04 * bone_size(&character.skeleton, &joints),
            HIGHLIGHT,
        );
    }
}

/// Returns where the posed vertex is in the world. `joints` are the joints' world transforms.
fn place(
    vertex: PartVertex,
    character: &Character,
    meshes: &Assets<Mesh>,
    joints: &[glam::Affine3A],
    world: &GlobalTransform,
) -> Option<Vec3> {
    let part = vertex.part(character)?;
    let mesh = meshes.get(&part.mesh)?;
    let Ok(VertexAttributeValues::Float32x3(positions)) =
        mesh.try_attribute(Mesh::ATTRIBUTE_POSITION)
    else {
        return None;
    };
    let position = Vec3::from(*positions.get(vertex.vertex)?);
    let weights = vertex.weights(part, mesh);
    // A part without joints moves with the character as a whole.
    if weights.is_empty() {
        return Some(world.transform_point(position));
    }
    let inverse_bind = character.skeleton.inverse_bind();
    // As the GPU does it: a weighted mean of the places to which each joint takes the vertex.
    let mut sum = Vec3::ZERO;
    for (joint, weight) in weights {
        let joint = usize::from(joint);
        sum += weight
            * joints
                .get(joint)?
                .transform_point3(inverse_bind.get(joint)?.transform_point3(position));
    }
    Some(sum)
}

#[cfg(test)]
#[path = "tests/vertex.rs"]
mod tests;
