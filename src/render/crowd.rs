//! Collects characters whose pose is not stored, by asset, to pose them in batches.

use super::palette::PaletteSlot;
use crate::{
    asset::Character,
    character::FoundPose,
    pose::{PoseBatch, Stream},
};
use bevy::asset::AssetId;
use glam::Mat4;
use std::mem;

/// Assets that are collected at the same time. If more than these alternate, batches are not always full.
const ASSETS: usize = 8;

/// The working memory of [`Crowd`].
pub(super) type Batches = [PoseBatch<'static>; ASSETS];

/// Characters that wait for others of their asset.
pub(super) struct Crowd<'a, 'scope, 'env, 'slot> {
    batches: [PoseBatch<'a>; ASSETS],
    waiting: [Option<Waiting<'a, 'scope, 'slot>>; ASSETS],
    stream: Option<&'scope Stream<'scope, 'env>>,
}

/// The characters of a batch, and their palettes.
struct Waiting<'a, 'scope, 'slot> {
    asset: AssetId<Character>,
    character: &'a Character,
    slots: [&'scope mut [PaletteSlot<'slot>]; PoseBatch::MOST],
}

impl<'a, 'scope, 'env, 'slot> Crowd<'a, 'scope, 'env, 'slot> {
    pub(super) fn new(memory: &mut Batches, stream: Option<&'scope Stream<'scope, 'env>>) -> Self {
        Self { batches: mem::take(memory), waiting: Default::default(), stream }
    }

    /// Adds a character with a pose that is streamed, and the palettes to write for it.
    pub(super) fn add(&mut self, found: &FoundPose<'a>, slots: &'scope mut [PaletteSlot<'slot>]) {
        let FoundPose { asset, character, .. } = *found;
        let place = self.place_for(asset);
        let waiting =
            self.waiting[place].get_or_insert_with(|| Waiting { asset, character, slots: Default::default() });
        let batch = &mut self.batches[place];
        waiting.slots[batch.len()] = slots;
        found.add_to(batch);
        if batch.len() == PoseBatch::MOST {
            self.write(place);
        }
    }

    /// Writes what is left, and returns the memory.
    pub(super) fn finish(mut self) -> Batches {
        (0..ASSETS).for_each(|place| self.write(place));
        self.batches.map(PoseBatch::recycled)
    }

    /// The place of an asset, or an empty one for it.
    fn place_for(&mut self, asset: AssetId<Character>) -> usize {
        let same = |waiting: &Option<Waiting>| waiting.as_ref().is_some_and(|waiting| waiting.asset == asset);
        if let Some(place) = self.waiting.iter().position(same) {
            return place;
        }
        if let Some(place) = self.waiting.iter().position(Option::is_none) {
            return place;
        }
        let fullest = (0..ASSETS).max_by_key(|&place| self.batches[place].len()).unwrap_or_default();
        self.write(fullest);
        fullest
    }

    /// Writes the palettes of the characters in a place, and empties it.
    fn write(&mut self, place: usize) {
        let Some(Waiting { character, mut slots, .. }) = self.waiting[place].take() else { return };
        let batch = &mut self.batches[place];
        for (index, part) in (0..).zip(&character.parts) {
            let mut out: [&mut [Mat4]; PoseBatch::MOST] = Default::default();
            for (out, slots) in out.iter_mut().zip(&mut slots) {
                let fits = |slot: &&mut PaletteSlot| slot.part == index && slot.out.len() == part.palette_len();
                if let Some(slot) = slots.iter_mut().find(fits) {
                    *out = mem::take(&mut slot.out);
                }
            }
            let (remap, combined) = (&part.palette, &part.combined_joints);
            match self.stream {
                Some(stream) => batch.stream(&character.skeleton, remap, combined, out, stream),
                None => batch.write(&character.skeleton, remap, combined, out),
            }
        }
        batch.clear();
    }
}
