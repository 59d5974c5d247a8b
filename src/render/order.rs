//! Palettes in the order of their ranges in the buffer, to split the buffer among them.

use crate::{
    character::{self, PaletteJob},
    pose::recycle,
};
use glam::Mat4;
use std::{cmp::Reverse, collections::BinaryHeap, mem};

/// Sorts palettes by their ranges; kept for its memory.
///
/// Threads collect palettes in chunks, and within a chunk, ranges are nearly always in order. So there are runs to merge, and
/// few of them, until many parts have left the view and come back.
#[derive(Default)]
pub(super) struct PaletteOrder {
    places: Vec<Place>,
    merged: Vec<Place>,
    runs: Vec<Reverse<&'static [Place]>>,
}

/// The place of a palette in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) start: u32,
    pub(super) length: u32,
    /// The number of palettes that were added before it.
    pub(super) index: u32,
}

/// The matrices of a palette in the buffer; empty if it has no place there.
pub(super) type PaletteOut<'a> = &'a mut [Mat4];

/// The palettes of a character, and the matrices of each.
pub(super) type PaletteOuts<'scope, 'out> = (&'scope [PaletteJob], &'scope mut [PaletteOut<'out>]);

impl PaletteOrder {
    /// With fewer, sorting is faster than merging.
    const PALETTES_PER_RUN: usize = 16;

    /// Forgets everything that was added.
    pub(super) fn clear(&mut self) {
        self.places.clear();
    }

    /// Adds palettes.
    pub(super) fn extend(&mut self, jobs: &[PaletteJob]) {
        let place = |(index, PaletteJob { range, .. }): (u32, &PaletteJob)| Place {
            start: range.start,
            length: range.end - range.start,
            index,
        };
        self.places
            .extend((self.len() as u32..).zip(jobs).map(place));
    }

    /// The number of palettes that were added.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the palettes in the order in which their ranges begin.
    pub(super) fn sort(&mut self) -> &[Place] {
        let Self {
            places,
            merged,
            runs: memory,
        } = self;
        let count = places.len();
        merged.clear();
        // One run more than allowed is enough to know that there are too many.
        let most = 1 + count / Self::PALETTES_PER_RUN;
        let mut runs = mem::take(memory);
        runs.extend(places.chunk_by(Place::le).take(most + 1).map(Reverse));
        let is_merged = runs.len() <= most;
        if is_merged {
            // Merges runs by a heap of their first places; `Reverse` makes it a min-heap.
            let mut rest = BinaryHeap::from(runs);
            while let Some(Reverse(run)) = rest.pop() {
                // The part of the run that comes before the next run.
                let end = rest.peek().map_or(run.len(), |Reverse(next)| {
                    run.partition_point(|place| *place < next[0])
                });
                let (first, later) = run.split_at(end);
                merged.extend_from_slice(first);
                if !later.is_empty() {
                    rest.push(Reverse(later));
                }
            }
            runs = rest.into_vec();
        }
        *memory = recycle(runs);
        if !is_merged {
            places.sort_unstable();
        }
        character::trim(places, count);
        character::trim(merged, count);
        if is_merged { merged } else { places }
    }
}

#[cfg(test)]
#[path = "tests/order.rs"]
mod tests;
