//! Finds the first of equal things without sorting them.

use crate::random::mix;

/// A table of indices in which each finds the first that is equal to it.
pub(super) struct Firsts {
    /// Open addressing; at least twice as many slots as indices.
    slots: Vec<u32>,
}

impl Firsts {
    const EMPTY: u32 = u32::MAX;

    /// Slots that are tried before an index counts as unlike all others. Only hashes that a hostile
    /// file made collide get there, and they must not cost the square of their number.
    const MOST: usize = 128;

    /// Creates a table for `count` indices.
    pub(super) fn new(count: usize) -> Self {
        Self {
            slots: vec![Self::EMPTY; (2 * count).next_power_of_two()],
        }
    }

    /// Returns the first of the indices given so far that `is_equal`, or else adds `index` and returns it. Equal things
    /// have equal `words`.
    #[inline]
    pub(super) fn first<const N: usize>(
        &mut self,
        words: [u64; N],
        index: u32,
        is_equal: impl Fn(u32) -> bool,
    ) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = hash(words) as usize & mask;
        for step in 1..=Self::MOST {
            let found = self.slots[at];
            if found == Self::EMPTY {
                self.slots[at] = index;
                return index;
            }
            if is_equal(found) {
                return found;
            }
            // By triangular numbers, which visit every slot of a power of two.
            at = (at + step) & mask;
        }
        index
    }
}

fn hash<const N: usize>(words: [u64; N]) -> u64 {
    let words = words.into_iter();
    words.fold(0, |hash: u64, word| mix(hash.rotate_left(5) ^ word))
}

#[cfg(test)]
#[path = "tests/firsts.rs"]
mod tests;
