//! Collects characters whose pose is not stored, by asset and clips, to pose them in batches.

use super::palette::PaletteSlot;
use crate::{
    character::FoundPose,
    pose::{PoseBatch, Stream, recycle},
};
use glam::Mat4;
use std::mem;

/// Groups that are collected at the same time. If more than these alternate, batches are not always full.
const GROUPS: usize = 32;

/// The working memory of [`Crowd`].
#[derive(Default)]
pub(super) struct CrowdMemory {
    batch: PoseBatch<'static>,
    groups: Vec<Group<'static, 'static, 'static>>,
}

/// Characters that wait for others of their group.
pub(super) struct Crowd<'a, 'scope, 'env, 'slot> {
    batch: PoseBatch<'a>,
    groups: Vec<Group<'a, 'scope, 'slot>>,
    stream: Option<&'scope Stream<'scope, 'env>>,
}

/// Characters of one asset that play the same clips, and their palettes.
type Group<'a, 'scope, 'slot> = Vec<(FoundPose<'a>, &'scope mut [PaletteSlot<'slot>])>;

impl<'a, 'scope, 'env, 'slot> Crowd<'a, 'scope, 'env, 'slot> {
    pub(super) fn new(memory: &mut CrowdMemory, stream: Option<&'scope Stream<'scope, 'env>>) -> Self {
        let CrowdMemory { batch, groups } = mem::take(memory);
        Self { batch, groups: groups.into_iter().map(recycle).collect(), stream }
    }

    /// Adds a character with a pose that is streamed, and the palettes to write for it.
    pub(super) fn add(&mut self, found: FoundPose<'a>, slots: &'scope mut [PaletteSlot<'slot>]) {
        let place = self.place_for(&found);
        let group = &mut self.groups[place];
        group.push((found, slots));
        if group.len() == PoseBatch::MOST {
            self.write(place);
        }
    }

    /// Writes what is left, and returns the memory.
    pub(super) fn finish(mut self) -> CrowdMemory {
        (0..self.groups.len()).for_each(|place| self.write(place));
        CrowdMemory { batch: self.batch.recycled(), groups: self.groups.into_iter().map(recycle).collect() }
    }

    /// The group of a character, or an empty one for it.
    fn place_for(&mut self, found: &FoundPose) -> usize {
        let same = |group: &Group| group.first().is_some_and(|(first, _)| first.group() == found.group());
        if let Some(place) = self.groups.iter().position(same) {
            return place;
        }
        if let Some(place) = self.groups.iter().position(Vec::is_empty) {
            return place;
        }
        if self.groups.len() < GROUPS {
            self.groups.push(Vec::with_capacity(PoseBatch::MOST));
            return self.groups.len() - 1;
        }
        let fullest = (0..GROUPS).max_by_key(|&place| self.groups[place].len()).unwrap_or_default();
        self.write(fullest);
        fullest
    }

    /// Writes the palettes of a group, and empties it.
    fn write(&mut self, place: usize) {
        let Self { batch, groups, stream } = self;
        let group = &mut groups[place];
        let Some((FoundPose { character, .. }, _)) = group.first() else { return };
        let character = *character;
        for (found, _) in &*group {
            found.add_to(batch);
        }
        for (index, part) in (0..).zip(&character.parts) {
            let mut out: [&mut [Mat4]; PoseBatch::MOST] = Default::default();
            for (out, (_, slots)) in out.iter_mut().zip(&mut *group) {
                let fits = |slot: &&mut PaletteSlot| slot.part == index && slot.out.len() == part.palette_len();
                if let Some(slot) = slots.iter_mut().find(fits) {
                    *out = mem::take(&mut slot.out);
                }
            }
            let (remap, combined) = (&part.palette, &part.combined_joints);
            match stream {
                Some(stream) => batch.stream(&character.skeleton, remap, combined, out, stream),
                None => batch.write(&character.skeleton, remap, combined, out),
            }
        }
        batch.clear();
        group.clear();
    }
}
