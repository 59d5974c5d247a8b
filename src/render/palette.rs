//! Skinning matrices (palettes), written where Bevy's renderer reads them.
//!
//! Bevy gives every [`SkinnedMesh`] in view a range of one staging buffer, and fills it from joint entities.
//! Characters have none. Instead there is a second buffer of the same layout. While the renderer is still busy
//! with the previous frame, [`write_palettes`] writes `world · model · inverse bind` into it for each part in
//! view whose character changed, in parallel. That leaves little to do when the frame is extracted:
//! [`extract_palettes`] adds the parts that just came into view, and swaps the two buffers.
//!
//! So one of the buffers has a character that stops as it was one frame before: its ranges are copied once.
//!
//! Motion vectors compare with the previous frame's buffer, at the same range. A part that has no previous
//! frame there, because it came into view or jumped, gets this frame's matrices in that buffer as well.

use super::crowd::{Batches, Crowd};
use crate::{
    character::{self, CharacterSystems, DirtyPalettes, PaletteJob, PaletteRange, PartOf, Poses},
    pose::{self, Palette, Scratch, Stream},
};
use bevy::{
    asset::prelude::AssetChanged,
    camera::visibility::ViewVisibility,
    mesh::skinning::SkinnedMesh,
    pbr::{SkinUniforms, extract_skins, prepare_skins},
    prelude::*,
    render::{Extract, ExtractSchedule, Render, RenderApp, RenderSystems, renderer::RenderQueue},
    tasks::ComputeTaskPool,
    utils::Parallel,
};
use glam::Mat4;
use std::{
    mem,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard},
};

/// Writes the skinning matrices of characters in view to Bevy's skin buffer.
///
/// Part of [`MarionettePlugins`](crate::MarionettePlugins). Without a renderer it does nothing.
pub struct PalettePlugin;

impl Plugin for PalettePlugin {
    fn build(&self, app: &mut App) {
        // Servers and tests have no renderer.
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
        let next = NextFrame::default();
        render_app
            .insert_resource(next.clone())
            .init_resource::<PaletteWriter>()
            .init_resource::<WithoutHistory>()
            .configure_sets(ExtractSchedule, CharacterSystems::ExtractPalettes.after(extract_skins))
            .add_systems(ExtractSchedule, extract_palettes.in_set(CharacterSystems::ExtractPalettes))
            .add_systems(Render, write_history.in_set(RenderSystems::PrepareResources).after(prepare_skins));
        app.insert_resource(next)
            .init_resource::<PaletteWriter>()
            .add_systems(PostUpdate, write_palettes.in_set(CharacterSystems::PosePalettes));
    }
}

/// What the renderer takes at the end of the frame. Both worlds have it, and never use it at the same time.
#[derive(Resource, Clone, Default)]
struct NextFrame(Arc<Mutex<Buffer>>);

#[derive(Default)]
struct Buffer {
    matrices: Vec<Mat4>,
    /// Ranges written this frame.
    written: Vec<Range<u32>>,
    /// Ranges that are up to date in the other buffer only.
    settled: Vec<Range<u32>>,
    /// Ranges of parts that jumped.
    jumped: Vec<Range<u32>>,
}

impl NextFrame {
    fn lock(&self) -> MutexGuard<'_, Buffer> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Ranges whose previous frame is to be overwritten with this one.
#[derive(Resource, Default)]
struct WithoutHistory(Vec<Range<u32>>);

/// Palettes to write, and the memory to do it in; kept from frame to frame.
#[derive(Resource, Default)]
struct PaletteWriter {
    jobs: Vec<PaletteJob>,
    /// Where each job's range starts, and its index.
    starts: Vec<(u32, u32)>,
    slots: Vec<PaletteSlot<'static>>,
    scratch: Parallel<WriterScratch>,
}

/// The working memory of one thread.
#[derive(Default)]
struct WriterScratch {
    pose: Scratch,
    batches: Batches,
}

/// A palette and its place in the buffer, which is empty if there is none.
pub(super) struct PaletteSlot<'a> {
    pub(super) part: u32,
    character: Entity,
    pub(super) out: &'a mut [Mat4],
}

/// Fewer matrices than this are written by one thread.
const WORTH_A_TASK: usize = 512;

/// From this size on, in bytes, the buffer is written past the caches, which would not hold it until it is uploaded.
const STREAMED_FROM: usize = 2 << 20;

/// Writes the palettes of the characters that changed.
fn write_palettes(
    mut writer: ResMut<PaletteWriter>,
    next: Res<NextFrame>,
    mut palettes: ResMut<DirtyPalettes>,
    poses: Poses,
) {
    let Buffer { matrices, written, settled, jumped } = &mut *next.lock();
    writer.jobs.clear();
    for lists in palettes.lists() {
        writer.jobs.append(&mut lists.dirty);
        settled.append(&mut lists.settled);
    }
    jumped.extend(writer.jobs.iter().filter(|job| job.jumped).map(|job| job.range.clone()));
    let streamed = size_of_val(&matrices[..]) >= STREAMED_FROM;
    writer.run(&poses, matrices, streamed);
    written.extend(writer.jobs.iter().map(|job| job.range.clone()));
}

/// Adds what came into view, and swaps the buffers.
fn extract_palettes(
    mut writer: ResMut<PaletteWriter>,
    mut revoked: Local<Vec<u32>>,
    mut without_history: ResMut<WithoutHistory>,
    next: Res<NextFrame>,
    uniforms: ResMut<SkinUniforms>,
    poses: Extract<Poses>,
    // The conditions under which Bevy allocates a new range or takes it back.
    reallocated: Extract<
        Query<
            (Entity, &PartOf, &ViewVisibility, &PaletteRange),
            Or<(Changed<ViewVisibility>, Changed<SkinnedMesh>, AssetChanged<SkinnedMesh>)>,
        >,
    >,
    others: Extract<Query<(Entity, &SkinnedMesh), Without<PaletteRange>>>,
) {
    let (uniforms, without_history) = (uniforms.into_inner(), &mut without_history.0);
    let Buffer { matrices, written, settled, jumped } = &mut *next.lock();
    trim(&mut uniforms.current_staging_buffer);
    matrices.resize(uniforms.current_staging_buffer.len(), Mat4::IDENTITY);
    writer.jobs.clear();
    revoked.clear();
    for (entity, part, visibility, range) in &reallocated {
        revoked.extend(range.get().map(|range| range.start));
        let first = if visibility.get() { uniforms.skin_index(entity.into()) } else { None };
        range.set(first);
        if let Some(range) = range.get() {
            let &PartOf { character, part } = part;
            writer.jobs.push(PaletteJob { character, part: part as u32, range, jumped: true });
        }
    }
    // A range that was taken back may belong to another skin now.
    revoked.sort_unstable();
    written.retain(|range| revoked.binary_search(&range.start).is_err());
    writer.run(&poses, matrices, false);
    for job in &writer.jobs {
        copy(matrices, &mut uniforms.current_staging_buffer, &job.range);
    }
    settled.drain(..).for_each(|range| copy(&uniforms.current_staging_buffer, matrices, &range));

    // Each buffer lacks what the other has: we wrote to one, and Bevy wrote its own skins to the other.
    let theirs: usize = others.iter().map(|(_, skin)| skin.joints.len()).sum();
    if theirs < written.iter().map(Range::len).sum() {
        for (entity, skin) in &others {
            if let Some(first) = uniforms.skin_index(entity.into()) {
                copy(&uniforms.current_staging_buffer, matrices, &(first..first + skin.joints.len() as u32));
            }
        }
        mem::swap(&mut uniforms.current_staging_buffer, matrices);
    } else {
        written.iter().for_each(|range| copy(matrices, &mut uniforms.current_staging_buffer, range));
    }
    written.clear();
    let jumps = jumped.len();
    without_history.clear();
    without_history.append(jumped);
    without_history.extend(writer.jobs.iter().map(|job| job.range.clone()));
    character::trim(without_history, without_history.len());
    character::trim(jumped, jumps);
}

/// Gives back memory. A list that grows takes up to twice what it needs, and these are half of what a crowd takes.
fn trim(matrices: &mut Vec<Mat4>) {
    if matrices.capacity() > matrices.len() + matrices.len() / 16 {
        matrices.shrink_to(matrices.len() + matrices.len() / 32);
    }
}

fn copy(from: &[Mat4], to: &mut [Mat4], range: &Range<u32>) {
    let range = range.start as usize..range.end as usize;
    if let (Some(from), Some(to)) = (from.get(range.clone()), to.get_mut(range)) {
        to.copy_from_slice(from);
    }
}

impl PaletteWriter {
    /// Writes all jobs to their ranges of `matrices`, past the caches if `streamed`.
    fn run(&mut self, poses: &Poses, matrices: &mut [Mat4], streamed: bool) {
        let Self { jobs, starts, slots: memory, scratch } = self;
        character::trim(jobs, jobs.len());
        let mut slots: Vec<PaletteSlot> = mem::take(memory);
        slots.extend(jobs.iter().map(|&PaletteJob { character, part, .. }| PaletteSlot {
            part,
            character,
            out: &mut [],
        }));
        // In the order of their ranges, to split the buffer among the jobs.
        starts.extend(jobs.iter().zip(0..).map(|(job, index)| (job.range.start, index)));
        starts.sort_unstable_by_key(|&(start, _)| start);
        let (mut rest, mut end, mut total) = (matrices, 0, 0);
        for (start, index) in starts.drain(..) {
            let (range, slot) = (&jobs[index as usize].range, &mut slots[index as usize]);
            // Ranges that overlap an earlier one, because it was given to another skin, or that lie outside the
            // buffer are skipped.
            let (Some(gap), length) = (start.checked_sub(end), range.len()) else { continue };
            let Some((_, out)) = rest.split_at_mut_checked(gap as usize) else { break };
            let Some((out, after)) = out.split_at_mut_checked(length) else { break };
            (slot.out, rest, end, total) = (out, after, range.end, total + length);
        }
        character::trim(starts, jobs.len());

        let pool = ComputeTaskPool::get();
        let threads = pool.thread_num();
        let tasks = if threads == 1 { 1 } else { (total / WORTH_A_TASK).clamp(1, threads * 4) };
        if tasks == 1 {
            write(&mut slots, poses, &mut scratch.borrow_local_mut(), streamed);
        } else {
            let size = slots.len().div_ceil(tasks);
            pool.scope(|scope| {
                let (mut rest, scratch) = (&mut slots[..], &*scratch);
                while !rest.is_empty() {
                    let mut end = size.min(rest.len());
                    while end < rest.len() && rest[end].character == rest[end - 1].character {
                        end += 1;
                    }
                    let (chunk, after) = rest.split_at_mut(end);
                    rest = after;
                    scope.spawn(async move { write(chunk, poses, &mut scratch.borrow_local_mut(), streamed) });
                }
            });
        }
        let count = slots.len();
        *memory = recycle(slots);
        character::trim(memory, count);
    }
}

fn write(slots: &mut [PaletteSlot], poses: &Poses, scratch: &mut WriterScratch, streamed: bool) {
    if streamed {
        pose::stream(|stream| write_all(slots, poses, scratch, Some(stream)));
    } else {
        write_all(slots, poses, scratch, None);
    }
}

fn write_all<'scope>(
    slots: &'scope mut [PaletteSlot],
    poses: &Poses,
    scratch: &mut WriterScratch,
    stream: Option<&'scope Stream<'scope, '_>>,
) {
    let WriterScratch { pose, batches } = scratch;
    let mut crowd = Crowd::new(batches, stream);
    for slots in slots.chunk_by_mut(|a, b| a.character == b.character) {
        let Some(found) = poses.look_up(slots[0].character) else { continue };
        if found.is_streamed() {
            crowd.add(&found, slots);
            continue;
        }
        poses.with_found(found, pose, true, |character, &world, model| {
            let inverse_bind = character.skeleton.inverse_bind();
            for PaletteSlot { part, out, .. } in slots {
                let Some(part) = character.parts.get(*part as usize).filter(|part| part.palette_len() == out.len())
                else {
                    continue;
                };
                let (remap, combined) = (&part.palette, &part.combined_joints);
                let palette = Palette { world, model, inverse_bind, remap, combined };
                match stream {
                    Some(stream) => palette.stream(out, stream),
                    None => palette.run(out),
                }
            }
        });
    }
    *batches = crowd.finish();
}

/// Returns the memory of a list, empty and free of the buffer's lifetime.
fn recycle(mut slots: Vec<PaletteSlot<'_>>) -> Vec<PaletteSlot<'static>> {
    slots.clear();
    // Collecting into the same layout reuses the allocation; a test relies on it.
    slots.into_iter().map(|_| -> PaletteSlot<'static> { unreachable!("it was cleared") }).collect()
}

/// Copies this frame's matrices to the previous frame for parts without one, so that they leave no motion.
fn write_history(without_history: Res<WithoutHistory>, uniforms: Res<SkinUniforms>, queue: Res<RenderQueue>) {
    for range in &without_history.0 {
        if let Some(matrices) = uniforms.current_staging_buffer.get(range.start as usize..range.end as usize) {
            let offset = u64::from(range.start) * size_of::<Mat4>() as u64;
            queue.write_buffer(&uniforms.prev_buffer, offset, bytemuck::cast_slice(matrices));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_slots_keeps_its_memory() {
        let mut matrix = [Mat4::IDENTITY];
        let mut slots = Vec::with_capacity(7);
        slots.push(PaletteSlot { character: Entity::PLACEHOLDER, part: 0, out: &mut matrix });
        let memory = slots.as_ptr().addr();
        let slots = recycle(slots);
        assert_eq!((slots.len(), slots.capacity(), slots.as_ptr().addr()), (0, 7, memory));
    }
}
