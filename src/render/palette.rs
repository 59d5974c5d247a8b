//! Skinning matrices (palettes), written where Bevy's renderer reads them.
//!
//! Bevy gives every [`SkinnedMesh`] in view a range of one staging buffer, and fills it from joint entities.
//! Characters have none. Instead the renderer lends the buffer to the main world as soon as it has uploaded it.
//! While it is busy with the rest of the frame, [`write_palettes`] writes `world · model · inverse bind` for each part in
//! view whose character changed, in parallel. That leaves little to do when the next frame is extracted:
//! [`extract_palettes`] adds the parts that just came into view.
//!
//! Bevy uploads the buffer late, after it has waited for an image to draw to. [`upload`] does so at once.
//! If the main world gets there even before that, it writes nothing, and [`extract_palettes`] writes everything.
//!
//! Motion vectors compare with the previous frame's buffer, at the same range. A part that has no previous
//! frame there, because it came into view or jumped, gets this frame's matrices in that buffer as well.

use super::{
    crowd::{Crowd, CrowdMemory},
    order::{PaletteOrder, PaletteOut, PaletteOuts, Place},
};
use crate::{
    character::{self, CharacterSystems, DirtyPalettes, PaletteJob, PaletteRange, PartOf, Poses},
    pose::{self, Palette, Scratch, Stream, recycle},
};
use bevy::{
    asset::prelude::AssetChanged,
    camera::visibility::ViewVisibility,
    mesh::skinning::SkinnedMesh,
    pbr::{SkinUniforms, extract_skins, prepare_skins},
    prelude::*,
    render::{
        Extract, ExtractSchedule, Render, RenderApp, RenderSystems,
        renderer::{RenderDevice, RenderQueue},
    },
    tasks::ComputeTaskPool,
    utils::Parallel,
};
use glam::Mat4;
use std::{
    iter, mem,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard},
};

/// Writes the skinning matrices of characters in view to Bevy's skin buffer.
///
/// Part of [`MarionettePlugins`](crate::MarionettePlugins). Without a renderer it does nothing.
pub(crate) struct PalettePlugin;

impl Plugin for PalettePlugin {
    fn build(&self, _: &mut App) {}

    fn finish(&self, app: &mut App) {
        // Now, because Bevy's renderer may have been added later. Servers and tests have none.
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
            return;
        };
        super::morphs::add_systems(render_app);
        let lent = LentBuffer::default();
        render_app
            .insert_resource(lent.clone())
            .init_resource::<PaletteWriter>()
            .init_resource::<WithoutHistory>()
            .configure_sets(
                ExtractSchedule,
                CharacterSystems::ExtractPalettes.after(extract_skins),
            )
            .configure_sets(
                Render,
                CharacterSystems::UploadPalettes
                    .after(RenderSystems::ExtractCommands)
                    .before(RenderSystems::PrepareViews),
            )
            .add_systems(ExtractSchedule, take_back.before(extract_skins))
            .add_systems(
                ExtractSchedule,
                extract_palettes.in_set(CharacterSystems::ExtractPalettes),
            )
            .add_systems(Render, upload.in_set(CharacterSystems::UploadPalettes));
        app.insert_resource(lent)
            .init_resource::<PaletteWriter>()
            .add_systems(
                PostUpdate,
                write_palettes.in_set(CharacterSystems::PosePalettes),
            );
    }
}

/// The renderer's staging buffer while the main world has it, and the work that is left to the
/// renderer. Shared by both worlds.
#[derive(Resource, Clone, Default)]
struct LentBuffer(Arc<Mutex<Lent>>);

#[derive(Default)]
struct Lent {
    /// `None` while the renderer has it.
    matrices: Option<Vec<Mat4>>,
    /// Palettes that wait for the buffer to be written.
    left: Vec<PaletteJob>,
    /// Ranges of parts that jumped.
    jumped: Vec<Range<u32>>,
}

impl LentBuffer {
    /// Waits while the renderer uploads the buffer.
    fn lock(&self) -> MutexGuard<'_, Lent> {
        self.0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Ranges whose previous frame is to be overwritten with this one.
#[derive(Resource, Default)]
struct WithoutHistory(Vec<Range<u32>>);

/// Palettes to write, and the memory to do it in; kept from frame to frame.
#[derive(Resource, Default)]
struct PaletteWriter {
    order: PaletteOrder,
    jobs: Vec<&'static [PaletteJob]>,
    outs: Vec<PaletteOut<'static>>,
    scratch: Parallel<WriterScratch>,
}

/// The working memory of one thread.
#[derive(Default)]
struct WriterScratch {
    pose: Scratch,
    crowd: CrowdMemory,
}

/// The fewest matrices for which a task of its own pays off.
const WORTH_A_TASK: usize = 512;

/// From this size in bytes on, the buffer is written past the caches, which would not hold it until it is uploaded.
///
/// Most processors' last cache has 16 to 32 MB, which a game needs for other things, too.
const STREAMED_FROM: usize = 8 << 20;

/// Writes the palettes of the characters that changed.
fn write_palettes(
    mut writer: ResMut<PaletteWriter>,
    lent: Res<LentBuffer>,
    mut palettes: ResMut<DirtyPalettes>,
    poses: Poses,
) {
    // Locked for the whole write; `upload`, on the render thread, waits until it is done.
    let Lent {
        matrices,
        left,
        jumped,
    } = &mut *lent.lock();
    match matrices {
        Some(matrices) => {
            jumped.extend(
                palettes
                    .lists()
                    .flatten()
                    .filter(|job| job.jumped)
                    .map(|job| job.range.clone()),
            );
            writer.run(palettes.lists(), &poses, matrices);
        }
        None => left.extend(palettes.lists().flatten().cloned()),
    }
    palettes.clear();
}

/// Gives the buffer back to the renderer.
fn take_back(lent: Res<LentBuffer>, mut uniforms: ResMut<SkinUniforms>) {
    if let Some(matrices) = lent.lock().matrices.take() {
        uniforms.current_staging_buffer = matrices;
    }
}

/// Writes the palettes of parts that came into view, and those that the main world left.
fn extract_palettes(
    mut writer: ResMut<PaletteWriter>,
    mut jobs: Local<Vec<PaletteJob>>,
    mut revoked: Local<Vec<u32>>,
    mut without_history: ResMut<WithoutHistory>,
    lent: Res<LentBuffer>,
    uniforms: ResMut<SkinUniforms>,
    poses: Extract<Poses>,
    // The conditions under which Bevy allocates a new range or takes it back.
    reallocated: Extract<
        Query<
            (Entity, &PartOf, &ViewVisibility, &PaletteRange),
            Or<(
                Changed<ViewVisibility>,
                Changed<SkinnedMesh>,
                AssetChanged<SkinnedMesh>,
            )>,
        >,
    >,
) {
    let (uniforms, without_history) = (uniforms.into_inner(), &mut without_history.0);
    let Lent { left, jumped, .. } = &mut *lent.lock();
    revoked.clear();
    for (entity, part, visibility, range) in &reallocated {
        // Bevy's index may have changed with either component, so the old range is given up in any
        // case.
        revoked.extend(range.get().map(|range| range.start));
        let first = if visibility.get() {
            uniforms.skin_index(entity.into())
        } else {
            None
        };
        range.set(first);
        if let Some(range) = range.get() {
            let &PartOf { character, part } = part;
            jobs.push(PaletteJob {
                character,
                part: part as u32,
                range,
                jumped: true,
            });
        }
    }
    // A range that was taken back may belong to another skin now.
    revoked.sort_unstable();
    let count = left.len();
    jobs.extend(
        left.drain(..)
            .filter(|job| revoked.binary_search(&job.range.start).is_err()),
    );
    character::trim(left, count);

    let jumps = jumped.len();
    without_history.clear();
    without_history.append(jumped);
    without_history.extend(
        jobs.iter()
            .filter(|job| job.jumped)
            .map(|job| job.range.clone()),
    );
    character::trim(without_history, without_history.len());
    character::trim(jumped, jumps);

    trim(&mut uniforms.current_staging_buffer);
    let count = jobs.len();
    writer.run(
        iter::once(&jobs[..]),
        &poses,
        &mut uniforms.current_staging_buffer,
    );
    jobs.clear();
    character::trim(&mut jobs, count);
}

/// Uploads all skinning matrices, Bevy's own included, and lends the buffer to the main world.
///
/// Bevy's own [`prepare_skins`] finds no matrices afterward, and does nothing.
fn upload(
    device: Res<RenderDevice>,
    queue: Res<RenderQueue>,
    // Bevy's system takes a `ResMut`; a set gives it one and keeps the other.
    mut uniforms: ParamSet<(ResMut<SkinUniforms>,)>,
    without_history: Res<WithoutHistory>,
    lent: Res<LentBuffer>,
) {
    let mut lent = lent.lock();
    prepare_skins(device, Res::clone(&queue), uniforms.p0());
    let mut uniforms = uniforms.p0();
    // Copies this frame's matrices to the previous frame for parts without one, so that they leave no motion.
    for range in &without_history.0 {
        if let Some(matrices) = uniforms
            .current_staging_buffer
            .get(range.start as usize..range.end as usize)
        {
            let offset = u64::from(range.start) * size_of::<Mat4>() as u64;
            queue.write_buffer(
                &uniforms.prev_buffer,
                offset,
                bytemuck::cast_slice(matrices),
            );
        }
    }
    lent.matrices = Some(mem::take(&mut uniforms.current_staging_buffer));
}

/// Gives back memory. A list that grows takes up to twice the memory that it needs, and this one is
/// a third of a crowd's memory.
fn trim(matrices: &mut Vec<Mat4>) {
    if matrices.capacity() > matrices.len() + matrices.len() / 16 {
        matrices.shrink_to(matrices.len() + matrices.len() / 32);
    }
}

impl PaletteWriter {
    /// Writes palettes to their ranges of `matrices`.
    fn run<'a>(
        &mut self,
        jobs: impl Iterator<Item = &'a [PaletteJob]>,
        poses: &Poses,
        matrices: &mut [Mat4],
    ) {
        let Self {
            order,
            jobs: jobs_memory,
            outs: outs_memory,
            scratch,
        } = self;
        let mut lists: Vec<&[PaletteJob]> = recycle(mem::take(jobs_memory));
        let mut outs: Vec<PaletteOut> = mem::take(outs_memory);
        lists.extend(jobs);
        order.clear();
        lists.iter().for_each(|list| order.extend(list));
        let count = order.len();
        outs.resize_with(count, Default::default);
        // By the size of the whole buffer, which must stay in the cache until it is uploaded.
        let streamed = size_of_val(matrices) >= STREAMED_FROM;
        let total = split(matrices, order.sort(), &mut outs);

        let pool = ComputeTaskPool::get();
        let threads = pool.thread_num();
        let tasks = if threads == 1 {
            1
        } else {
            // A few tasks per thread, because some take longer than others.
            (total / WORTH_A_TASK).clamp(1, threads * 4)
        };
        let (size, mut rest) = (count.div_ceil(tasks), &mut outs[..]);
        let mut next_task = |list: &mut &'a [PaletteJob]| {
            let mut end = size.min(list.len());
            // A character's parts stay in one task, so that its pose is evaluated once.
            while end < list.len() && list[end].character == list[end - 1].character {
                end += 1;
            }
            (
                list.split_off(..end).unwrap_or_default(),
                rest.split_off_mut(..end).unwrap_or_default(),
            )
        };
        if tasks == 1 {
            let scratch = &mut scratch.borrow_local_mut();
            for list in &mut lists {
                while !list.is_empty() {
                    write(next_task(list), poses, scratch, streamed);
                }
            }
        } else {
            pool.scope(|scope| {
                let scratch = &*scratch;
                for list in &mut lists {
                    while !list.is_empty() {
                        let task = next_task(list);
                        scope.spawn(async move {
                            write(task, poses, &mut scratch.borrow_local_mut(), streamed)
                        });
                    }
                }
            });
        }
        *jobs_memory = recycle(lists);
        *outs_memory = recycle(outs);
        character::trim(outs_memory, count);
    }
}

/// Gives each palette its range of `matrices`, and returns the number of matrices given.
///
/// Ranges that overlap an earlier one, because it was given to another skin, or that lie outside the buffer are skipped.
fn split<'a>(matrices: &'a mut [Mat4], places: &[Place], outs: &mut [PaletteOut<'a>]) -> usize {
    let (mut rest, mut end, mut total) = (matrices, 0, 0);
    for &Place {
        start,
        length,
        index,
    } in places
    {
        let Some(gap) = start.checked_sub(end) else {
            continue;
        };
        let Some((_, out)) = rest.split_at_mut_checked(gap as usize) else {
            break;
        };
        let Some((out, after)) = out.split_at_mut_checked(length as usize) else {
            break;
        };
        outs[index as usize] = out;
        (rest, end, total) = (after, start + length, total + length as usize);
    }
    total
}

fn write(palettes: PaletteOuts, poses: &Poses, scratch: &mut WriterScratch, streamed: bool) {
    if streamed {
        pose::stream(|stream| write_all(palettes, poses, scratch, Some(stream)));
    } else {
        write_all(palettes, poses, scratch, None);
    }
}

fn write_all<'scope>(
    (jobs, mut outs): PaletteOuts<'scope, '_>,
    poses: &Poses,
    scratch: &mut WriterScratch,
    stream: Option<&'scope Stream<'scope, '_>>,
) {
    let WriterScratch {
        pose,
        crowd: memory,
    } = scratch;
    let mut crowd = Crowd::new(memory, stream);
    for jobs in jobs.chunk_by(|a, b| a.character == b.character) {
        let Some(outs) = outs.split_off_mut(..jobs.len()) else {
            break;
        };
        // The character or its asset may be gone since the list was made.
        let Some(found) = poses.look_up(jobs[0].character) else {
            continue;
        };
        if found.is_streamed() {
            crowd.add(found, (jobs, outs));
            continue;
        }
        poses.with_found(found, pose, true, |character, &world, model| {
            let inverse_bind = character.skeleton.inverse_bind();
            for (job, out) in jobs.iter().zip(outs) {
                let part = character.parts.get(job.part as usize);
                // A range of another version of the mesh doesn't fit.
                let Some(part) = part.filter(|part| part.palette_len() == out.len()) else {
                    continue;
                };
                let (remap, combined) = (&part.palette, &part.combined_joints);
                let palette = Palette {
                    world,
                    model,
                    inverse_bind,
                    remap,
                    combined,
                };
                match stream {
                    Some(stream) => palette.stream(out, stream),
                    None => palette.run(out),
                }
            }
        });
    }
    *memory = crowd.finish();
}
