//! Palettes, written straight into Bevy's skin buffer.
//!
//! Bevy gives every [`SkinnedMesh`](bevy::mesh::skinning::SkinnedMesh) in view a range of one staging
//! buffer and fills it from joint entities. Ours have none: after Bevy has dealt out the ranges,
//! [`ExtractPalettes`] writes `world · model · inverse bind` for each visible part into its range, in
//! parallel, and only where something changed since the last frame (the buffer keeps its contents).
//!
//! Motion vectors compare with the previous frame's buffer, at the same place. A part that has no
//! previous frame there (it came into view, or jumped) gets this frame's matrices in it as well.

use crate::{
    asset::Character,
    character::{CharacterParts, ModelPose, SkinnedCharacter},
    pose::Palette,
};
use bevy::{
    camera::visibility::ViewVisibility,
    mesh::skinning::SkinnedMesh,
    pbr::{SkinUniforms, extract_skins, prepare_skins},
    prelude::*,
    render::{Extract, ExtractSchedule, Render, RenderApp, RenderSystems, renderer::RenderQueue},
    tasks::ComputeTaskPool,
};
use glam::Affine3A;
use std::ops::Range;

/// Writes the palettes of visible characters into Bevy's skin buffer every frame.
pub struct PalettePlugin;

/// The set in Bevy's `ExtractSchedule` in which palettes are written; after Bevy's `extract_skins`.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExtractPalettes;

impl Plugin for PalettePlugin {
    fn build(&self, app: &mut App) {
        // No renderer, no palettes: headless servers and tests run the rest.
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
        render_app
            .init_resource::<Work>()
            .add_systems(ExtractSchedule, write_palettes.in_set(ExtractPalettes).after(extract_skins))
            .add_systems(Render, write_history.in_set(RenderSystems::PrepareResources).after(prepare_skins));
    }
}

/// What is to be written this frame. The lists keep their memory from frame to frame.
#[derive(Resource, Default)]
struct Work {
    /// One job per part to write.
    jobs: Vec<Job>,
    /// Ranges of the staging buffer whose previous frame is to be overwritten with this one.
    without_history: Vec<Range<usize>>,
}

/// A part to write: its range of the staging buffer, and where its matrices come from.
#[derive(Clone, Copy)]
struct Job {
    first: usize,
    length: usize,
    character: Entity,
    part: usize,
    world: Affine3A,
}

/// Fewer matrices than this are written without asking other threads.
const WORTH_A_TASK: usize = 2048;

type Posed<'w> = (Entity, &'w SkinnedCharacter, &'w CharacterParts, Ref<'w, ModelPose>, Ref<'w, GlobalTransform>);

fn write_palettes(
    mut work: ResMut<Work>,
    uniforms: ResMut<SkinUniforms>,
    assets: Extract<Res<Assets<Character>>>,
    characters: Extract<Query<Posed>>,
    parts: Extract<Query<(Ref<ViewVisibility>, Ref<SkinnedMesh>)>>,
) {
    let Work { jobs, without_history } = &mut *work;
    let uniforms = uniforms.into_inner();
    jobs.clear();
    without_history.clear();
    for (character, _, spawned, pose, transform) in &characters {
        let moved = pose.is_changed() || transform.is_changed();
        for (part, &entity) in spawned.entities.iter().enumerate() {
            let Ok((visibility, skin)) = parts.get(entity) else { continue };
            // The conditions under which Bevy deals out a new range.
            let dealt = visibility.is_changed() || skin.is_changed();
            if !visibility.get() || !(moved || dealt) {
                continue;
            }
            let Some(first) = uniforms.skin_index(entity.into()) else { continue };
            let (first, length) = (first as usize, skin.joints.len());
            jobs.push(Job { first, length, character, part, world: transform.affine() });
            if dealt || spawned.jumped {
                without_history.push(first..first + length);
            }
        }
    }
    jobs.sort_unstable_by_key(|job| job.first);

    let write = |job: &Job, out: &mut [glam::Mat4]| {
        let Ok((_, handle, _, pose, _)) = characters.get(job.character) else { return };
        let Some(character) = assets.get(handle.id()) else { return };
        let Some(part) = character.parts.get(job.part) else { return };
        // A pose of another version of the asset is replaced before the next frame.
        if pose.joints.len() == character.skeleton.len() && part.palette.len() == out.len() {
            let inverse_bind = character.skeleton.inverse_bind();
            Palette { world: job.world, model: &pose.joints, inverse_bind, remap: &part.palette }.run(out);
        }
    };
    let pool = ComputeTaskPool::get();
    let total: usize = jobs.iter().map(|job| job.length).sum();
    let tasks = (total / WORTH_A_TASK).clamp(1, pool.thread_num() * 2);
    let run = |jobs: &[Job], first: usize, out: &mut [glam::Mat4]| {
        for job in jobs {
            if let Some(range) = out.get_mut(job.first - first..job.first - first + job.length) {
                write(job, range);
            }
        }
    };
    if tasks == 1 {
        run(jobs, 0, &mut uniforms.current_staging_buffer);
        return;
    }
    pool.scope(|scope| {
        // Ranges do not overlap and the jobs are in their order, so the buffer splits between them.
        let (mut rest, mut start) = (&mut uniforms.current_staging_buffer[..], 0);
        let mut chunks = jobs.chunks(jobs.len().div_ceil(tasks)).peekable();
        while let Some(chunk) = chunks.next() {
            let end = chunks.peek().map_or(start + rest.len(), |next| next[0].first);
            let (out, after) = rest.split_at_mut(end - start);
            let run = &run;
            scope.spawn(async move { run(chunk, start, out) });
            (rest, start) = (after, end);
        }
    });
}

/// Gives parts without a previous frame this frame's matrices there, so that they leave no motion.
fn write_history(work: Res<Work>, uniforms: Res<SkinUniforms>, queue: Res<RenderQueue>) {
    for range in &work.without_history {
        if let Some(matrices) = uniforms.current_staging_buffer.get(range.clone()) {
            let offset = (range.start * size_of::<glam::Mat4>()) as u64;
            queue.write_buffer(&uniforms.prev_buffer, offset, bytemuck::cast_slice(matrices));
        }
    }
}
