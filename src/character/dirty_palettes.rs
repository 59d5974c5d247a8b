//! The palettes to write this frame, from the characters in view to the renderer.

use super::threads::trim;
use bevy::{camera::visibility::ViewVisibility, prelude::*, utils::Parallel};
use std::{
    ops::Range,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

/// On each skinned part: the range of its palette in the renderer's buffer.
///
/// The renderer sets it while it can only read the world; hence the atomic.
#[derive(Component, Debug)]
pub(crate) struct PaletteRange {
    first: AtomicU32,
    /// Number of matrices.
    length: u32,
}

impl PaletteRange {
    const NONE: u32 = u32::MAX;

    pub(super) fn new(length: usize) -> Self {
        Self {
            first: AtomicU32::new(Self::NONE),
            length: length as u32,
        }
    }

    /// The range; `None` while the part is out of view.
    pub(crate) fn get(&self) -> Option<Range<u32>> {
        // No other memory depends on this value, so relaxed order is enough.
        let first = self.first.load(Relaxed);
        (first != Self::NONE).then(|| first..first + self.length)
    }

    /// Sets the range by its start. One that does not fit into a `u32` counts as `None`.
    pub(crate) fn set(&self, first: Option<u32>) {
        let first = first.filter(|first| first.checked_add(self.length).is_some());
        self.first.store(first.unwrap_or(Self::NONE), Relaxed);
    }
}

/// A palette to write.
#[derive(Clone, Debug)]
pub(crate) struct PaletteJob {
    pub(crate) character: Entity,
    /// Index into [`Character::parts`](crate::asset::Character::parts).
    pub(crate) part: u32,
    pub(crate) range: Range<u32>,
    /// `true` if the character moved here without passing through the space between.
    pub(crate) jumped: bool,
}

/// The palettes to write this frame, as collected by each thread.
#[derive(Resource, Default)]
pub(crate) struct DirtyPalettes(pub(super) Parallel<PaletteJobs>);

/// The palettes that one thread collected: those of characters that changed, character by
/// character.
#[derive(Default)]
pub(crate) struct PaletteJobs(pub(super) Vec<PaletteJob>);

impl DirtyPalettes {
    /// Each thread's palettes.
    pub(crate) fn lists(&mut self) -> impl Iterator<Item = &[PaletteJob]> {
        self.0.iter_mut().map(|list| &list.0[..])
    }

    /// Clears the lists, once the palettes are written.
    pub(crate) fn clear(&mut self) {
        for PaletteJobs(list) in self.0.iter_mut() {
            let count = list.len();
            list.clear();
            trim(list, count);
        }
    }
}

impl PaletteJobs {
    /// Adds the parts of a character that are in view. Returns `false` if there are none.
    pub(super) fn collect_visible(
        &mut self,
        character: Entity,
        parts: &[Entity],
        visible: &Query<(&ViewVisibility, Option<&PaletteRange>)>,
    ) -> bool {
        let mut any = false;
        for (part, &entity) in parts.iter().enumerate() {
            let Ok((visibility, range)) = visible.get(entity) else {
                continue;
            };
            if visibility.get() {
                any = true;
                if let Some(range) = range.and_then(PaletteRange::get) {
                    self.0.push(PaletteJob {
                        character,
                        part: part as u32,
                        range,
                        jumped: false,
                    });
                }
            }
        }
        any
    }

    /// Keeps the parts added from `first` on if their character changed; else drops them.
    pub(super) fn settle(&mut self, first: usize, changed: bool, jumped: bool) {
        if changed {
            self.0[first..]
                .iter_mut()
                .for_each(|job| job.jumped = jumped);
        } else {
            self.0.truncate(first);
        }
    }
}
