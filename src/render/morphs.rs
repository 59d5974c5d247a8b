//! Morph weights in Bevy's renderer, where lists of weights have any length, and mostly none.

use crate::character::GrownMorphs;
use bevy::{
    mesh::morph::MeshMorphWeights,
    pbr::{MeshesToReextractNextFrame, MorphIndices, MorphUniforms, extract_morphs},
    prelude::*,
    render::{Extract, ExtractSchedule, Render, RenderSystems, sync_world::MainEntity},
};

/// Adds what Bevy's systems expect of weights whose number changes.
pub(super) fn add_systems(render_app: &mut SubApp) {
    render_app.add_systems(
        ExtractSchedule,
        (
            forget_previous.before(extract_morphs),
            never_empty.after(extract_morphs),
        ),
    );
    // After the meshes are prepared, which empties the list of those to extract again.
    render_app.add_systems(
        Render,
        extract_again.in_set(RenderSystems::PrepareResources),
    );
}

/// Forgets the previous weights of parts whose list has grown: motion vectors would take those of another part for what is
/// new.
fn forget_previous(indices: Option<ResMut<MorphIndices>>, grown: Extract<Res<GrownMorphs>>) {
    if grown.0.is_empty() {
        return;
    }
    if let Some(MorphIndices::Storage {
        morph_weights_info, ..
    }) = indices.map(ResMut::into_inner)
    {
        for &part in &grown.0 {
            morph_weights_info.remove(&MainEntity::from(part));
        }
    }
}

/// Extracts parts once more that have just come into view.
///
/// Bevy knows a mesh's weights from the frame on after it was first prepared, and tells the GPU about them only when it prepares
/// the mesh. A part that doesn't move by itself, as ours, would never show them.
fn extract_again(
    indices: Option<Res<MorphIndices>>,
    again: Option<ResMut<MeshesToReextractNextFrame>>,
) {
    let (Some(indices), Some(mut again)) = (indices, again) else {
        return;
    };
    if let MorphIndices::Storage {
        morph_weights_info,
        gpu_descriptor_indices,
        ..
    } = &*indices
    {
        let is_unknown = |part: &&MainEntity| !gpu_descriptor_indices.contains_key(*part);
        again.extend(morph_weights_info.keys().filter(is_unknown).copied());
    }
}

/// Keeps a weight in the buffer. If all faces are at rest, it would be empty; Bevy then has no buffer to bind, and draws none of
/// them.
fn never_empty(
    uniforms: Option<ResMut<MorphUniforms>>,
    faces: Extract<Query<(), With<MeshMorphWeights>>>,
) {
    if let Some(mut uniforms) = uniforms
        && uniforms.current_buffer.is_empty()
        // Without storage buffers, lists are padded to one length.
        && uniforms.descriptors_buffer.is_some()
        && !faces.is_empty()
    {
        uniforms.current_buffer.push(0.0);
    }
}
