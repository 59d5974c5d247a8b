//! Variants of a part's mesh: mirrored, or colored by weight.
//!
//! They are made when first needed, shared by all characters that need the same, and dropped with the last.

use super::weight_view::{WeightView, vertex_colors};
use crate::asset::{Character, CharacterPart};
use bevy::{mesh::VertexAttributeValues, platform::collections::HashMap, prelude::*};

/// The difference of a part's mesh from the asset's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct MeshVariant {
    /// Inverted winding: Bevy culls by the winding on screen, which a mirroring transform reverses.
    pub(super) mirrored: bool,
    pub(super) view: Option<WeightView>,
}

impl MeshVariant {
    /// The variant a character needs.
    pub(super) fn of(world: &GlobalTransform, view: Option<&WeightView>) -> Self {
        Self {
            mirrored: world.affine().matrix3.determinant() < 0.0,
            view: view.copied(),
        }
    }
}

/// The variants made so far.
#[derive(Resource, Default)]
pub(super) struct MeshVariants {
    /// By original; `None` where the original cannot be read.
    made: HashMap<(AssetId<Mesh>, MeshVariant), Option<Handle<Mesh>>>,
    /// Variants made in this frame, too late for the GPU.
    fresh: Vec<(AssetId<Mesh>, MeshVariant)>,
}

impl MeshVariants {
    /// Starts the part of the frame after which new meshes reach the GPU a frame late.
    pub(super) fn begin_late(&mut self) {
        self.fresh.clear();
    }

    /// Forgets the variants of a mesh that changed. Returns `true` if there were any.
    pub(super) fn forget(&mut self, original: AssetId<Mesh>) -> bool {
        self.made
            .extract_if(|(source, _), _| *source == original)
            .count()
            > 0
    }

    /// Makes the meshes of a character's parts that do not exist yet. Returns `true` if all of them can be shown
    /// this frame.
    pub(super) fn prepare(
        &mut self,
        character: &Character,
        variant: MeshVariant,
        meshes: &mut Assets<Mesh>,
    ) -> bool {
        if variant == MeshVariant::default() {
            return true;
        }
        let mut all = true;
        for part in &character.parts {
            let key = (part.mesh.id(), variant);
            if self.made.contains_key(&key) {
                all &= !self.fresh.contains(&key);
                continue;
            }
            let mesh = meshes
                .get(&part.mesh)
                .and_then(|mesh| make(part, variant, mesh))
                .map(|mesh| meshes.add(mesh));
            if mesh.is_some() {
                self.fresh.push(key);
                all = false;
            } else {
                let name = &part.name;
                warn!(
                    "part `{name}` cannot show weights and is inside out when mirrored: its mesh is only on the GPU"
                );
            }
            // A failure is kept, too, so that the warning comes once.
            self.made.insert(key, mesh);
        }
        all
    }

    /// The mesh of a part; the asset's own if that cannot be read.
    pub(super) fn get(&self, part: &CharacterPart, variant: MeshVariant) -> Handle<Mesh> {
        self.made
            .get(&(part.mesh.id(), variant))
            .cloned()
            .flatten()
            .unwrap_or_else(|| part.mesh.clone())
    }

    /// Drops the meshes that no part shows.
    pub(super) fn drop_unused(&mut self) {
        let is_unused = |handle: &Handle<Mesh>| match handle {
            // Only this list still has the mesh.
            Handle::Strong(counted) => std::sync::Arc::strong_count(counted) == 1,
            Handle::Uuid(..) => false,
        };
        self.made
            .retain(|_, handle| !handle.as_ref().is_some_and(is_unused));
    }
}

fn make(part: &CharacterPart, variant: MeshVariant, original: &Mesh) -> Option<Mesh> {
    // A mesh that is only on the GPU cannot be copied.
    original.try_attribute(Mesh::ATTRIBUTE_POSITION).ok()?;
    let mut mesh = original.clone();
    if let Some(view) = variant.view {
        let colors = vertex_colors(part, view, original);
        mesh.insert_attribute(
            Mesh::ATTRIBUTE_COLOR,
            VertexAttributeValues::Float32x4(colors),
        );
    }
    if variant.mirrored {
        mesh.invert_winding().ok()?;
    }
    Some(mesh)
}
