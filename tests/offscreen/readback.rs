//! Bevy's joint buffers and morph weights, copied back from the GPU after every frame.
//!
//! Shaders may read them, but they cannot be copied, so a small compute pass copies them.

use bevy::{
    mesh::skinning::SkinnedMesh,
    pbr::{
        MeshInputUniform, MeshUniform, MorphIndices, MorphUniforms, RenderMeshInstances,
        SkinUniforms,
    },
    prelude::*,
    render::{
        Extract, ExtractSchedule, Render, RenderApp, RenderSystems,
        batching::gpu_preprocessing::BatchedInstanceBuffers,
        render_resource::{
            BindGroupEntries, BindGroupLayoutEntries, Buffer, BufferDescriptor, BufferUsages,
            CommandEncoderDescriptor, ComputePassDescriptor, MapMode, PipelineLayoutDescriptor,
            PollType, RawComputePipelineDescriptor, ShaderModuleDescriptor, ShaderSource,
            ShaderStages,
            binding_types::{storage_buffer_read_only_sized, storage_buffer_sized},
        },
        renderer::{RenderDevice, RenderQueue},
    },
};
use std::{
    collections::HashMap,
    fmt::Debug,
    ops::Deref,
    sync::{Arc, Mutex},
};

/// The last frame's buffers: the range of each part's entity, and all matrices.
#[derive(Resource, Clone, Default)]
pub struct SkinBuffers(Arc<Mutex<Frame>>);

#[derive(Default)]
struct Frame {
    ranges: HashMap<Entity, (usize, usize)>,
    current: Vec<Mat4>,
    previous: Vec<Mat4>,
    /// Where the weights of each part's morph targets are described, in the list of five numbers each.
    faces: HashMap<Entity, usize>,
    descriptors: Vec<u32>,
    weights: Vec<f32>,
    previous_weights: Vec<f32>,
}

impl SkinBuffers {
    /// The weights of a part's morph targets, now and in the frame before. `None` if the GPU knows nothing of them.
    pub fn weights(&self, part: Entity) -> Option<[Vec<f32>; 2]> {
        let frame = self.0.lock().unwrap();
        let at = *frame.faces.get(&part)? * 5;
        let &[now, before, _, _, count] = &frame.descriptors[at..at + 5] else {
            unreachable!("five numbers")
        };
        let count = count as usize;
        let list = |from: u32, weights: &[f32]| match from {
            u32::MAX => vec![],
            from => weights[from as usize..][..count].to_vec(),
        };
        Some([
            list(now, &frame.weights),
            list(before, &frame.previous_weights),
        ])
    }

    pub fn current(&self, part: Entity) -> Vec<Mat4> {
        let frame = self.0.lock().unwrap();
        let (first, length) = frame.ranges[&part];
        frame.current[first..first + length].to_vec()
    }

    pub fn previous(&self, part: Entity) -> Vec<Mat4> {
        let frame = self.0.lock().unwrap();
        let (first, length) = frame.ranges[&part];
        frame.previous[first..first + length].to_vec()
    }
}

pub struct ReadbackPlugin(pub SkinBuffers);

impl Plugin for ReadbackPlugin {
    fn build(&self, app: &mut App) {
        app.get_sub_app_mut(RenderApp)
            .expect("a graphics adapter: install a Vulkan driver, a software one will do (sh .ci/setup)")
            .insert_resource(self.0.clone())
            .add_systems(
                ExtractSchedule,
                note_ranges.after(bevy_marionette::character::CharacterSystems::ExtractPalettes),
            )
            .add_systems(Render, read_back.in_set(RenderSystems::Cleanup));
    }
}

fn note_ranges(
    buffers: Res<SkinBuffers>,
    uniforms: Res<SkinUniforms>,
    skins: Extract<Query<(Entity, &SkinnedMesh)>>,
) {
    let mut frame = buffers.0.lock().unwrap();
    frame.ranges.clear();
    for (entity, skin) in &skins {
        if let Some(first) = uniforms.skin_index(entity.into()) {
            frame
                .ranges
                .insert(entity, (first as usize, skin.joints.len()));
        }
    }
}

fn read_back(
    buffers: Res<SkinBuffers>,
    uniforms: Res<SkinUniforms>,
    (indices, morphs): (Res<MorphIndices>, Res<MorphUniforms>),
    meshes: Res<RenderMeshInstances>,
    inputs: Res<BatchedInstanceBuffers<MeshUniform, MeshInputUniform>>,
    device: Res<RenderDevice>,
    queue: Res<RenderQueue>,
) {
    let mut frame = buffers.0.lock().unwrap();
    frame.current = matrices(&copy(&uniforms.current_buffer, &device, &queue));
    frame.previous = matrices(&copy(&uniforms.prev_buffer, &device, &queue));
    frame.faces.clear();
    let (
        MorphIndices::Storage {
            morph_weights_info, ..
        },
        Some(descriptors),
        RenderMeshInstances::GpuBuilding(meshes),
    ) = (&*indices, &morphs.descriptors_buffer, &*meshes)
    else {
        return;
    };
    // What shaders look up: the index that Bevy keeps may be newer.
    let described = morph_weights_info.keys().filter_map(|part| {
        let at = meshes.get(part)?.gpu_specific.current_uniform_index();
        let input = inputs.current_input_buffer.get_unchecked(at);
        let index = input.morph_descriptor_index;
        (index != u32::MAX).then_some((part.id(), index as usize))
    });
    frame.faces.extend(described);
    let words = |buffer: Option<&Buffer>| -> Vec<u32> {
        let bytes = buffer.map_or(vec![], |buffer| copy(buffer, &device, &queue));
        let words = bytes.as_chunks::<4>().0.iter();
        words.map(|word| u32::from_le_bytes(*word)).collect()
    };
    let floats = |buffer| words(buffer).into_iter().map(f32::from_bits).collect();
    frame.descriptors = words(descriptors.buffer());
    frame.weights = floats(morphs.current_buffer.buffer());
    frame.previous_weights = floats(morphs.prev_buffer.buffer());
}

const SHADER: &str = "
    @group(0) @binding(0) var<storage, read> source: array<u32>;
    @group(0) @binding(1) var<storage, read_write> copied: array<u32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x < arrayLength(&source) { copied[id.x] = source[id.x]; }
    }
";

fn copy(from: &Buffer, device: &RenderDevice, queue: &RenderQueue) -> Vec<u8> {
    let size = from.size();
    let buffer = |usage| {
        device.create_buffer(&BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    };
    let middle = buffer(BufferUsages::STORAGE | BufferUsages::COPY_SRC);
    let readable = buffer(BufferUsages::MAP_READ | BufferUsages::COPY_DST);
    let entries = BindGroupLayoutEntries::sequential(
        ShaderStages::COMPUTE,
        (
            storage_buffer_read_only_sized(false, None),
            storage_buffer_sized(false, None),
        ),
    );
    let layout = device.create_bind_group_layout(None, &entries);
    let group = device.create_bind_group(
        None,
        &layout,
        &BindGroupEntries::sequential((from.as_entire_binding(), middle.as_entire_binding())),
    );
    let module = device.create_and_validate_shader_module(ShaderModuleDescriptor {
        label: None,
        source: ShaderSource::Wgsl(SHADER.into()),
    });
    let pipeline_layout = device.create_pipeline_layout(&PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let pipeline = device.create_compute_pipeline(&RawComputePipelineDescriptor {
        label: None,
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });
    let mut encoder = device.create_command_encoder(&CommandEncoderDescriptor::default());
    {
        let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups((size / 4).div_ceil(64) as u32, 1, 1);
    }
    encoder.copy_buffer_to_buffer(&middle, 0, &readable, 0, size);
    queue.submit([encoder.finish()]);
    let slice = readable.slice(..);
    slice.map_async(MapMode::Read, |result| {
        result.expect("the buffer is mapped")
    });
    device
        .poll(PollType::wait_indefinitely())
        .expect("the GPU answers");
    slice.get_mapped_range().to_vec()
}

fn matrices(bytes: &[u8]) -> Vec<Mat4> {
    bytes
        .chunks_exact(64)
        .map(|matrix| {
            let number = |i: usize| {
                f32::from_le_bytes(matrix[i * 4..i * 4 + 4].try_into().expect("four bytes"))
            };
            Mat4::from_cols_array(&std::array::from_fn(number))
        })
        .collect()
}

/// From Bevy 0.20 on, a mapped range comes in a `Result`; before, the call is `[T]::to_vec`.
trait ToVec {
    fn to_vec(self) -> Vec<u8>;
}

impl<V: Deref<Target = [u8]>, E: Debug> ToVec for Result<V, E> {
    fn to_vec(self) -> Vec<u8> {
        self.expect("the buffer is mapped")[..].to_vec()
    }
}
