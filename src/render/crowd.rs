//! Collects characters whose pose is not stored, by asset and clips, to pose them in batches.

use super::order::PaletteOuts;
use crate::{
    character::{FoundPose, PaletteJob},
    pose::{PoseBatch, Stream, recycle},
};
use glam::Mat4;
use std::mem;

/// Groups that are collected at the same time. If there are more, characters are mixed with others of their asset.
const GROUPS: usize = 32;

/// The working memory of [`Crowd`].
#[derive(Default)]
pub(super) struct CrowdMemory {
    batch: PoseBatch<'static>,
    groups: Vec<Group<'static, 'static, 'static>>,
    rest: Group<'static, 'static, 'static>,
}

/// Characters that wait for others of their group.
pub(super) struct Crowd<'a, 'scope, 'env, 'out> {
    batch: PoseBatch<'a>,
    groups: Vec<Group<'a, 'scope, 'out>>,
    /// Empty, except while groups are mixed.
    rest: Group<'a, 'scope, 'out>,
    stream: Option<&'scope Stream<'scope, 'env>>,
}

/// Characters of one asset that play the same clips.
type Group<'a, 'scope, 'out> = Vec<Waiting<'a, 'scope, 'out>>;

/// A character, and its palettes.
type Waiting<'a, 'scope, 'out> = (FoundPose<'a>, PaletteOuts<'scope, 'out>);

impl<'a, 'scope, 'env, 'out> Crowd<'a, 'scope, 'env, 'out> {
    pub(super) fn new(
        memory: &mut CrowdMemory,
        stream: Option<&'scope Stream<'scope, 'env>>,
    ) -> Self {
        let CrowdMemory {
            batch,
            groups,
            rest,
        } = mem::take(memory);
        Self {
            batch,
            groups: groups.into_iter().map(recycle).collect(),
            rest: recycle(rest),
            stream,
        }
    }

    /// Adds a character with a pose that is streamed, and the palettes to write for it.
    pub(super) fn add(&mut self, found: FoundPose<'a>, palettes: PaletteOuts<'scope, 'out>) {
        let place = self.place_for(&found);
        let Self {
            batch,
            groups,
            stream,
            ..
        } = self;
        let group = &mut groups[place];
        group.push((found, palettes));
        if group.len() == PoseBatch::MOST {
            write(group, batch, *stream);
            group.clear();
        }
    }

    /// Writes the remaining rows, and returns the memory.
    pub(super) fn finish(mut self) -> CrowdMemory {
        self.write_rest();
        let Self {
            batch,
            groups,
            rest,
            ..
        } = self;
        let groups = groups.into_iter().map(recycle).collect();
        CrowdMemory {
            batch: batch.recycled(),
            groups,
            rest: recycle(rest),
        }
    }

    /// The group of a character, or an empty one for it.
    fn place_for(&mut self, found: &FoundPose) -> usize {
        let same = |group: &Group| {
            group
                .first()
                .is_some_and(|(first, _)| first.group() == found.group())
        };
        if let Some(place) = self.groups.iter().position(same) {
            return place;
        }
        // Groups that were written keep their memory for others.
        if let Some(place) = self.groups.iter().position(Vec::is_empty) {
            return place;
        }
        if self.groups.len() < GROUPS {
            self.groups.push(Vec::with_capacity(PoseBatch::MOST));
            return self.groups.len() - 1;
        }
        // No group is free. Mixed batches are still faster than one character at a time.
        self.write_rest();
        0
    }

    /// Empties all groups, and mixes those of an asset.
    fn write_rest(&mut self) {
        let Self {
            batch,
            groups,
            rest,
            stream,
        } = self;
        // Groups of one asset become neighbors, those with the same clips first, so that batches
        // mix as few clips as possible.
        groups.iter_mut().for_each(|group| rest.append(group));
        rest.sort_unstable_by_key(|(found, _)| found.group());
        for of_asset in rest.chunk_by_mut(|(a, _), (b, _)| a.group().0 == b.group().0) {
            for waiting in of_asset.chunks_mut(PoseBatch::MOST) {
                write(waiting, batch, *stream);
            }
        }
        rest.clear();
    }
}

/// Writes the palettes of up to eight characters of one asset.
fn write<'a, 'scope>(
    waiting: &mut [Waiting<'a, 'scope, '_>],
    batch: &mut PoseBatch<'a>,
    stream: Option<&'scope Stream<'scope, '_>>,
) {
    let Some((FoundPose { character, .. }, _)) = waiting.first() else {
        return;
    };
    let character = *character;
    for (found, _) in &*waiting {
        found.add_to(batch);
    }
    // Each part takes the slices, so the list is empty again for the next one.
    let mut out: [&mut [Mat4]; PoseBatch::MOST] = Default::default();
    for (index, part) in (0..).zip(&character.parts) {
        let length = part.palette_len();
        for (out, (_, (jobs, outs))) in out.iter_mut().zip(&mut *waiting) {
            // A part out of view has no job, and its slice stays empty. Of a character in full view, jobs are those of all parts,
            // mostly in their order.
            let is_here = |job: &PaletteJob| job.part == index;
            let place = Some(index as usize)
                .filter(|&place| jobs.get(place).is_some_and(is_here))
                .or_else(|| jobs.iter().position(is_here));
            let found = place.and_then(|place| outs.get_mut(place));
            // A range of another version of the mesh doesn't fit.
            if let Some(found) = found.filter(|out| out.len() == length) {
                *out = mem::take(found);
            }
        }
        let (remap, combined) = (&part.palette, &part.combined_joints);
        match stream {
            Some(stream) => batch.stream(&character.skeleton, remap, combined, &mut out, stream),
            None => batch.write(&character.skeleton, remap, combined, &mut out),
        }
    }
    batch.clear();
}
