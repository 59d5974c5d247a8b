//! Counting the vertices that each joint deforms.

use crate::{
    asset::{Character, CharacterPart},
    model::JointIndex,
};
use bevy::{
    asset::Assets,
    mesh::{Mesh, VertexAttributeValues},
};

/// Number of vertices of each part that each joint deforms, for one version of one character.
pub(super) struct Influences {
    version: u64,
    /// A count per joint for each part; `None` for a mesh that is only on the GPU.
    parts: Vec<Option<Vec<u32>>>,
}

impl Influences {
    pub(super) fn count(character: &Character, meshes: Option<&Assets<Mesh>>) -> Self {
        let joints = character.skeleton.len();
        let parts = character
            .parts
            .iter()
            .map(|part| count_part(part, meshes?.get(&part.mesh)?, joints));
        Self {
            version: character.version,
            parts: parts.collect(),
        }
    }

    /// Returns `true` if these are the counts of this version of the character.
    pub(super) fn is_current(&self, character: &Character) -> bool {
        self.version == character.version
    }

    /// Describes what a joint deforms, part by part.
    pub(super) fn describe(&self, character: &Character, joint: JointIndex) -> String {
        if self.parts.iter().any(Option::is_none) {
            return "vertex count unknown: a mesh is only on the GPU".to_owned();
        }
        let count = |counts: &Option<Vec<u32>>| counts.as_ref()?.get(usize::from(joint)).copied();
        let counts = self.parts.iter().map(|counts| count(counts).unwrap_or(0));
        let (mut total, mut parts) = (0, Vec::new());
        for (part, count) in character
            .parts
            .iter()
            .zip(counts)
            .filter(|&(_, count)| count > 0)
        {
            total += count as usize;
            parts.push(format!("{} {count}", part.name));
        }
        if total == 0 {
            return "deforms no vertices".to_owned();
        }
        format!(
            "deforms {} vertices: {}",
            super::widgets::grouped(total),
            parts.join(", ")
        )
    }
}

fn count_part(part: &CharacterPart, mesh: &Mesh, joints: usize) -> Option<Vec<u32>> {
    let mut counts = vec![0; joints];
    if part.palette.is_empty() {
        return Some(counts);
    }
    let Ok(VertexAttributeValues::Uint16x4(slots)) =
        mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_INDEX)
    else {
        return None;
    };
    let Ok(VertexAttributeValues::Float32x4(weights)) =
        mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT)
    else {
        return None;
    };
    for (slots, weights) in slots.iter().zip(weights) {
        for (slot, _) in part.joint_weights(*slots, *weights) {
            if let Some(count) = counts.get_mut(usize::from(part.palette[slot])) {
                *count += 1;
            }
        }
    }
    Some(counts)
}
