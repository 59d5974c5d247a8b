//! Which of equal things came first, found without sorting.

/// A table of indices in which each finds the first that is equal to it.
pub(super) struct Firsts {
    /// Open addressing; four times as many slots as indices or more, so that few are met taken.
    slots: Vec<u32>,
}

impl Firsts {
    const EMPTY: u32 = u32::MAX;

    /// Slots looked at before an index is left apart from its equals. Hashes that are spread never get
    /// there; those of a hostile file must not cost the square of its length.
    const MOST: usize = 128;

    /// Room for `count` indices.
    pub(super) fn new(count: usize) -> Self {
        Self { slots: vec![Self::EMPTY; (4 * count).next_power_of_two().max(2)] }
    }

    /// Forgets all indices.
    pub(super) fn clear(&mut self) {
        self.slots.fill(Self::EMPTY);
    }

    /// The first of the indices given so far that `is_equal`, or else `index` itself, which is
    /// remembered. Equal things have equal `bits`.
    #[inline]
    pub(super) fn first(&mut self, bits: u64, index: u32, is_equal: impl Fn(u32) -> bool) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = spread(bits) as usize & mask;
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

/// The finish of SplitMix64: every bit of `x` reaches every bit of the result.
fn spread(x: u64) -> u64 {
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finds_the_first_of_its_equals() {
        let things: Vec<u64> = (0..10_000).map(|i| i * i % 4099).collect();
        let mut firsts = Firsts::new(things.len());
        for _ in 0..2 {
            for (index, &thing) in things.iter().enumerate() {
                let first = firsts.first(thing, index as u32, |other| things[other as usize] == thing);
                assert_eq!(Some(first as usize), things.iter().position(|&other| other == thing));
            }
            firsts.clear();
        }
    }

    #[test]
    fn what_collides_on_purpose_is_left_apart_after_a_bounded_search() {
        const COUNT: u32 = 20_000;
        let mut firsts = Firsts::new(COUNT as usize);
        let looked_at = std::cell::Cell::new(0);
        let differs = |_| {
            looked_at.set(looked_at.get() + 1);
            false
        };
        assert!((0..COUNT).all(|index| firsts.first(7, index, differs) == index));
        assert!(looked_at.get() <= COUNT as usize * Firsts::MOST, "{}", looked_at.get());
    }
}
