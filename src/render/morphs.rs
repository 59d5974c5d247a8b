//! Morph weights in Bevy's renderer, where lists of weights have any length, and mostly none.

use crate::character::GrownMorphs;
use bevy::{
    mesh::morph::MeshMorphWeights,
    pbr::{
        MeshInputUniform, MeshUniform, MorphIndices, MorphUniforms, RenderMeshInstances,
        collect_meshes_for_gpu_building, extract_morphs, prepare_morph_descriptors,
        set_mesh_motion_vector_flags,
    },
    prelude::*,
    render::{
        Extract, ExtractSchedule, Render, RenderSystems,
        batching::gpu_preprocessing::BatchedInstanceBuffers,
        mesh::{RenderMesh, allocator::MeshAllocator},
        render_asset::RenderAssets,
        sync_world::MainEntity,
    },
};

/// Adds what Bevy's systems expect of weights whose number changes.
pub(super) fn add_systems(render_app: &mut SubApp) {
    render_app.init_resource::<NewFaces>().add_systems(
        ExtractSchedule,
        (
            forget_previous.before(extract_morphs),
            never_empty.after(extract_morphs),
        ),
    );
    render_app.add_systems(
        Render,
        (
            find_new.before(prepare_morph_descriptors),
            (describe_again, point_at_descriptors)
                .chain()
                .after(collect_meshes_for_gpu_building)
                .before(set_mesh_motion_vector_flags)
                .run_if(|new: Res<NewFaces>| !new.0.is_empty()),
        )
            .chain()
            .in_set(RenderSystems::PrepareMeshes),
    );
}

/// Parts that came into view in this frame, or whose mesh was not ready in the frame before.
#[derive(Resource, Default)]
struct NewFaces(Vec<MainEntity>);

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

/// Finds the parts whose weights the GPU can't find yet.
fn find_new(indices: Option<Res<MorphIndices>>, mut new: ResMut<NewFaces>) {
    new.0.clear();
    if let Some(indices) = indices
        && let MorphIndices::Storage {
            morph_weights_info,
            gpu_descriptor_indices,
            ..
        } = &*indices
    {
        let is_new = |part: &&MainEntity| !gpu_descriptor_indices.contains_key(*part);
        new.0
            .extend(morph_weights_info.keys().filter(is_new).copied());
    }
}

/// Describes the weights of new parts in the frame in which they come into view.
///
/// Bevy describes the weights of the meshes that it knows, before it collects the new ones. So it would draw a new face at rest,
/// and a part that doesn't move by itself, as ours, would stay so until something else changed.
///
/// A system of its own, as Bevy's can't be added twice: others refer to it by its type.
fn describe_again(
    indices: ResMut<MorphIndices>,
    uniforms: ResMut<MorphUniforms>,
    instances: Res<RenderMeshInstances>,
    meshes: Res<RenderAssets<RenderMesh>>,
    allocator: Res<MeshAllocator>,
) {
    prepare_morph_descriptors(indices, uniforms, instances, meshes, allocator);
}

/// Makes the inputs of new parts, which Bevy has just collected, point at the descriptions of their weights.
fn point_at_descriptors(
    new: Res<NewFaces>,
    indices: Res<MorphIndices>,
    instances: Res<RenderMeshInstances>,
    buffers: Option<Res<BatchedInstanceBuffers<MeshUniform, MeshInputUniform>>>,
) {
    // Without GPU preprocessing, Bevy looks up the description when it draws.
    let (RenderMeshInstances::GpuBuilding(collected), Some(buffers)) = (&*instances, buffers)
    else {
        return;
    };
    for part in &new.0 {
        let (Some(instance), Some(descriptor)) =
            (collected.get(part), indices.morph_descriptor_index(*part))
        else {
            continue;
        };
        let at = instance.gpu_specific.current_uniform_index();
        let mut uniform = buffers.current_input_buffer.get_unchecked(at);
        uniform.morph_descriptor_index = *descriptor;
        buffers.current_input_buffer.set(at, uniform);
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
