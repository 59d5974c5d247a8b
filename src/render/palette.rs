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
    character::{CharacterParts, ModelPose, PartOf, SkinnedCharacter},
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
    /// One job per part in view.
    jobs: Vec<Job>,
    /// Ranges of the staging buffer whose previous frame is to be overwritten with this one.
    without_history: Vec<Range<usize>>,
}

/// A part in view: its range of the staging buffer, and whose part it is.
#[derive(Clone, Copy)]
struct Job {
    first: u32,
    length: u32,
    part: PartOf,
    /// Whether the range is new this frame.
    dealt: bool,
    /// Whether the previous frame's matrices are to be those of this frame.
    without_history: bool,
}

impl Job {
    fn range(&self) -> Range<usize> {
        self.first as usize..(self.first + self.length) as usize
    }
}

/// Fewer matrices than this are written without asking other threads.
const WORTH_A_TASK: usize = 2048;

type Posed<'w> = (&'w SkinnedCharacter, &'w CharacterParts, Ref<'w, ModelPose>, Ref<'w, GlobalTransform>);

fn write_palettes(
    mut work: ResMut<Work>,
    uniforms: ResMut<SkinUniforms>,
    assets: Extract<Res<Assets<Character>>>,
    characters: Extract<Query<Posed>>,
    parts: Extract<Query<(Entity, &PartOf, Ref<ViewVisibility>, Ref<SkinnedMesh>)>>,
) {
    let Work { jobs, without_history } = &mut *work;
    let uniforms = uniforms.into_inner();
    jobs.clear();
    without_history.clear();
    for (entity, part, visibility, skin) in parts.iter().filter(|(_, _, visibility, _)| visibility.get()) {
        let Some(first) = uniforms.skin_index(entity.into()) else { continue };
        // The conditions under which Bevy deals out a new range.
        let dealt = visibility.is_changed() || skin.is_changed();
        let length = skin.joints.len() as u32;
        jobs.push(Job { first, length, part: *part, dealt, without_history: false });
    }
    jobs.sort_unstable_by_key(|job| job.first);

    let write = |job: &mut Job, out: &mut [glam::Mat4]| {
        let Ok((handle, spawned, pose, transform)) = characters.get(job.part.character) else { return };
        if !(job.dealt || pose.is_changed() || transform.is_changed()) {
            return;
        }
        let Some(character) = assets.get(handle.id()) else { return };
        let Some(part) = character.parts.get(job.part.part) else { return };
        // A pose of another version of the asset is replaced before the next frame.
        if pose.joints.len() == character.skeleton.len() && part.palette.len() == out.len() {
            let (world, inverse_bind) = (transform.affine(), character.skeleton.inverse_bind());
            Palette { world, model: &pose.joints, inverse_bind, remap: &part.palette }.run(out);
            job.without_history = job.dealt || spawned.jumped;
        }
    };
    // From the last to the first: the poses worked out last are the ones still at hand.
    let run = |jobs: &mut [Job], start: usize, out: &mut [glam::Mat4]| {
        for job in jobs.iter_mut().rev() {
            let Range { start: first, end } = job.range();
            if let Some(range) = out.get_mut(first - start..end - start) {
                write(job, range);
            }
        }
    };
    let pool = ComputeTaskPool::get();
    let total: usize = jobs.iter().map(|job| job.length as usize).sum();
    let tasks = (total / WORTH_A_TASK).clamp(1, pool.thread_num() * 2);
    if tasks == 1 {
        run(jobs, 0, &mut uniforms.current_staging_buffer);
    } else {
        pool.scope(|scope| {
            // Ranges do not overlap and the jobs are in their order, so the buffer splits between them.
            let mut rest = &mut uniforms.current_staging_buffer[..];
            let size = jobs.len().div_ceil(tasks);
            for chunk in jobs.rchunks_mut(size) {
                let start = chunk[0].first as usize;
                let (before, out) = rest.split_at_mut(start);
                let run = &run;
                scope.spawn(async move { run(chunk, start, out) });
                rest = before;
            }
        });
    }
    without_history.extend(jobs.iter().filter(|job| job.without_history).map(Job::range));
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
