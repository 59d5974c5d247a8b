//! Palettes, written where Bevy's renderer takes them from.
//!
//! Bevy gives every [`SkinnedMesh`] in view a range of one staging buffer and fills it from joint entities.
//! Ours have none. Instead there is a second buffer of the same layout: while the renderer is still busy with
//! the last frame, [`WritePalettes`] writes `world · model · inverse bind` into it for each part in view whose
//! character changed, in parallel. When the frame is extracted, [`ExtractPalettes`] has little to do: it adds
//! what came into view with this frame, and the two buffers change places.
//!
//! So a character that stops is in one of them as it was a frame ago; its ranges are copied over once.
//!
//! Motion vectors compare with the previous frame's buffer, at the same place. A part that has no
//! previous frame there (it came into view, or jumped) gets this frame's matrices in it as well.

use crate::{
    character::{CharacterSystems, Due, PaletteRange, PartOf, Poses, Redraw},
    pose::{Palette, Scratch},
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

/// Writes the palettes of visible characters into Bevy's skin buffer every frame.
pub struct PalettePlugin;

/// The set in `PostUpdate` in which palettes are written; after [`CharacterSystems::EvaluateLate`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WritePalettes;

/// The set in Bevy's `ExtractSchedule` in which palettes are handed over; after Bevy's `extract_skins`.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExtractPalettes;

impl Plugin for PalettePlugin {
    fn build(&self, app: &mut App) {
        // No renderer, no palettes: headless servers and tests run the rest.
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
        let next = NextFrame::default();
        render_app
            .insert_resource(next.clone())
            .init_resource::<Work>()
            .init_resource::<WithoutHistory>()
            .add_systems(ExtractSchedule, hand_over.in_set(ExtractPalettes).after(extract_skins))
            .add_systems(Render, write_history.in_set(RenderSystems::PrepareResources).after(prepare_skins));
        app.insert_resource(next)
            .init_resource::<Work>()
            .configure_sets(PostUpdate, WritePalettes.after(CharacterSystems::EvaluateLate))
            .add_systems(PostUpdate, write_palettes.in_set(WritePalettes));
    }
}

/// What the renderer takes at the end of the frame. Both worlds have it, and never ask for it at the same time.
#[derive(Resource, Clone, Default)]
struct NextFrame(Arc<Mutex<Buffer>>);

#[derive(Default)]
struct Buffer {
    matrices: Vec<Mat4>,
    /// Ranges that were written.
    written: Vec<Range<u32>>,
    /// Ranges that are right in the other buffer.
    kept: Vec<Range<u32>>,
    /// Ranges of parts that jumped.
    jumped: Vec<Range<u32>>,
}

impl NextFrame {
    fn lock(&self) -> MutexGuard<'_, Buffer> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Ranges of the skin buffer whose previous frame is to be overwritten with this one.
#[derive(Resource, Default)]
struct WithoutHistory(Vec<Range<u32>>);

/// Palettes to be written, and the memory to do it in; kept from frame to frame.
#[derive(Resource, Default)]
struct Work {
    due: Vec<Due>,
    jobs: Vec<Job<'static>>,
    scratch: Parallel<Scratch>,
}

/// A palette, and its place.
struct Job<'a> {
    /// Its place among the others by characters.
    order: u32,
    character: Entity,
    part: usize,
    out: &'a mut [Mat4],
}

/// Fewer matrices than this are written without asking other threads.
const WORTH_A_TASK: usize = 512;

/// Writes the palettes of the characters that changed.
fn write_palettes(mut work: ResMut<Work>, next: Res<NextFrame>, mut redraw: ResMut<Redraw>, poses: Poses) {
    let Buffer { matrices, written, kept, jumped } = &mut *next.lock();
    work.due.clear();
    for lists in redraw.lists() {
        work.due.append(&mut lists.due);
        kept.append(&mut lists.kept);
    }
    jumped.extend(work.due.iter().filter(|due| due.jumped).map(|due| due.range.clone()));
    work.run(&poses, matrices);
    written.extend(work.due.iter().map(|due| due.range.clone()));
}

/// Adds what came into view, and has the buffers change places.
fn hand_over(
    mut work: ResMut<Work>,
    mut revoked: Local<Vec<u32>>,
    mut without_history: ResMut<WithoutHistory>,
    next: Res<NextFrame>,
    uniforms: ResMut<SkinUniforms>,
    poses: Extract<Poses>,
    // The conditions under which Bevy deals out a new range, or takes it back.
    dealt: Extract<
        Query<
            (Entity, &PartOf, &ViewVisibility, &PaletteRange),
            Or<(Changed<ViewVisibility>, Changed<SkinnedMesh>, AssetChanged<SkinnedMesh>)>,
        >,
    >,
    others: Extract<Query<(Entity, &SkinnedMesh), Without<PaletteRange>>>,
) {
    let (uniforms, without_history) = (uniforms.into_inner(), &mut without_history.0);
    let Buffer { matrices, written, kept, jumped } = &mut *next.lock();
    matrices.resize(uniforms.current_staging_buffer.len(), Mat4::IDENTITY);
    work.due.clear();
    revoked.clear();
    for (entity, part, visibility, range) in &dealt {
        revoked.extend(range.get().map(|range| range.start));
        let first = if visibility.get() { uniforms.skin_index(entity.into()) } else { None };
        range.set(first);
        if let Some(range) = range.get() {
            let &PartOf { character, part } = part;
            work.due.push(Due { order: 0, character, part: part as u32, range, jumped: true });
        }
    }
    // Another's now, perhaps.
    revoked.sort_unstable();
    written.retain(|range| revoked.binary_search(&range.start).is_err());
    work.run(&poses, matrices);
    for due in &work.due {
        copy(matrices, &mut uniforms.current_staging_buffer, &due.range);
    }
    kept.drain(..).for_each(|range| copy(&uniforms.current_staging_buffer, matrices, &range));

    // Each buffer has what the other lacks: we wrote into one, Bevy what its own skins have into the other.
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
    without_history.clear();
    without_history.append(jumped);
    without_history.extend(work.due.iter().map(|due| due.range.clone()));
}

fn copy(from: &[Mat4], to: &mut [Mat4], range: &Range<u32>) {
    let range = range.start as usize..range.end as usize;
    if let (Some(from), Some(to)) = (from.get(range.clone()), to.get_mut(range)) {
        to.copy_from_slice(from);
    }
}

impl Work {
    /// Writes what is due to its ranges of `matrices`.
    fn run(&mut self, poses: &Poses, matrices: &mut [Mat4]) {
        let Self { due, jobs: memory, scratch } = self;
        // By ranges, so that the buffer splits between them, and back, so that parts share their character's pose.
        let mut jobs: Vec<Job> = mem::take(memory);
        due.iter_mut().zip(0..).for_each(|(due, order)| due.order = order);
        due.sort_unstable_by_key(|due| due.range.start);
        let (mut rest, mut end, mut total) = (matrices, 0, 0);
        for due in due.iter() {
            // Of a range that was given to another since, and of one that lies outside, nothing is written.
            let (Some(gap), length) = (due.range.start.checked_sub(end), due.range.len()) else { continue };
            let Some((_, out)) = rest.split_at_mut_checked(gap as usize) else { break };
            let Some((out, after)) = out.split_at_mut_checked(length) else { break };
            jobs.push(Job { order: due.order, character: due.character, part: due.part as usize, out });
            (rest, end, total) = (after, due.range.end, total + length);
        }
        jobs.sort_unstable_by_key(|job| job.order);

        let pool = ComputeTaskPool::get();
        let threads = pool.thread_num();
        let tasks = if threads == 1 { 1 } else { (total / WORTH_A_TASK).clamp(1, threads * 4) };
        if tasks == 1 {
            write(&mut jobs, poses, &mut scratch.borrow_local_mut());
        } else {
            let size = jobs.len().div_ceil(tasks);
            pool.scope(|scope| {
                let (mut rest, scratch) = (&mut jobs[..], &*scratch);
                while !rest.is_empty() {
                    let mut end = size.min(rest.len());
                    while end < rest.len() && rest[end].character == rest[end - 1].character {
                        end += 1;
                    }
                    let (chunk, after) = rest.split_at_mut(end);
                    rest = after;
                    scope.spawn(async move { write(chunk, poses, &mut scratch.borrow_local_mut()) });
                }
            });
        }
        *memory = emptied(jobs);
    }
}

fn write(jobs: &mut [Job], poses: &Poses, scratch: &mut Scratch) {
    for jobs in jobs.chunk_by_mut(|a, b| a.character == b.character) {
        poses.with_drawn(jobs[0].character, scratch, |character, &world, model| {
            let inverse_bind = character.skeleton.inverse_bind();
            for Job { part, out, .. } in jobs {
                let remap = character.parts.get(*part).map_or(&[][..], |part| &part.palette);
                if remap.len() == out.len() {
                    Palette { world, model, inverse_bind, remap }.run(out);
                }
            }
        });
    }
}

/// The same memory, holding nothing and free of the buffer's lifetime.
fn emptied(mut jobs: Vec<Job<'_>>) -> Vec<Job<'static>> {
    jobs.clear();
    // Collecting what has the same layout reuses the allocation; a test counts on it.
    jobs.into_iter().map(|_| -> Job<'static> { unreachable!("it was cleared") }).collect()
}

/// Gives parts without a previous frame this frame's matrices there, so that they leave no motion.
fn write_history(without_history: Res<WithoutHistory>, uniforms: Res<SkinUniforms>, queue: Res<RenderQueue>) {
    for range in &without_history.0 {
        if let Some(matrices) = uniforms.current_staging_buffer.get(range.start as usize..range.end as usize) {
            let offset = u64::from(range.start) * size_of::<Mat4>() as u64;
            queue.write_buffer(&uniforms.prev_buffer, offset, bytemuck::cast_slice(matrices));
        }
    }
}
