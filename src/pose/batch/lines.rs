//! Writing eight palettes at a time, in whole cache lines.

use super::{PoseBatch, lanes::Lanes};
use crate::pose::{
    simd::Simd,
    stream::{Stream, columns_to_line_end},
};
use glam::{Mat4, Vec4};

/// The memory that the palettes are written to, divided into cache lines.
///
/// Streaming must fill whole lines of 64 bytes, or it takes three times as long. A matrix has 64
/// bytes, but allocators mostly start 16 bytes after the beginning of a line. So a line ends with
/// the first columns of an entry, `split` of them, and begins with the remaining columns of the
/// entry before.
pub(super) struct Lines<'o> {
    split: usize,
    /// `true` to write past the caches.
    stream: bool,
    /// The columns before the first whole line.
    heads: [&'o mut [Vec4]; PoseBatch::MOST],
    lines: [&'o mut [[Vec4; 4]]; PoseBatch::MOST],
    tails: [&'o mut [Vec4]; PoseBatch::MOST],
    /// `true` once an entry has been written.
    begun: bool,
    /// Number of lines so far.
    count: usize,
    /// The columns of the last entry that don't fill a line, of each pair of lanes.
    kept: [[Lanes; 4]; 3],
}

impl<'o> Lines<'o> {
    /// Prepares to write `length` matrices to the beginning of each slice of `out`. Empty slices
    /// are left out. If `stream`, they are written past the caches where the processor can and it
    /// [pays off](Stream::pays_off).
    pub(super) fn new(
        out: &'o mut [&mut [Mat4]; PoseBatch::MOST],
        length: usize,
        stream: bool,
    ) -> Self {
        // One split serves all characters, since their slices mostly begin at the same place in a
        // line. A slice that doesn't is written correctly, only not past the caches.
        let first = out.iter().find(|out| !out.is_empty());
        let split = first.map_or(4, |out| columns_to_line_end(out));
        let stream = stream && first.is_some_and(|out| Stream::pays_off(out));
        let mut new = Self {
            split,
            stream,
            heads: Default::default(),
            lines: Default::default(),
            tails: Default::default(),
            begun: false,
            count: 0,
            kept: [[Lanes::default(); 4]; 3],
        };
        for (lane, out) in out
            .iter_mut()
            .enumerate()
            .filter(|(_, out)| !out.is_empty())
        {
            let (head, rest) = bytemuck::cast_slice_mut(&mut out[..length]).split_at_mut(split % 4);
            let (whole, tail) = rest.as_chunks_mut();
            (new.heads[lane], new.lines[lane], new.tails[lane]) = (head, whole, tail);
        }
        new
    }

    /// Writes the next entry: its columns, of each pair of lanes. Columns that don't fill a line
    /// are kept for the next one.
    #[inline(always)]
    pub(super) fn push<S: Simd>(&mut self, s: S, entry: &[[S::Pair; 4]; 4]) {
        // Chosen once per entry: choosing for each line takes 2 % of a crowd's time, and two copies of everything that
        // leads here take longer to compile.
        if S::STREAMS && self.stream {
            self.push_with::<S, true>(s, entry);
        } else {
            self.push_with::<S, false>(s, entry);
        }
    }

    #[inline(always)]
    fn push_with<S: Simd, const STREAM: bool>(&mut self, s: S, entry: &[[S::Pair; 4]; 4]) {
        // The split is a constant in each copy, so its loops are unrolled.
        match self.split {
            1 => self.push_split::<S, STREAM, 1>(s, entry),
            2 => self.push_split::<S, STREAM, 2>(s, entry),
            3 => self.push_split::<S, STREAM, 3>(s, entry),
            _ => self.push_split::<S, STREAM, 4>(s, entry),
        }
    }

    #[inline(always)]
    fn push_split<S: Simd, const STREAM: bool, const SPLIT: usize>(
        &mut self,
        s: S,
        entry: &[[S::Pair; 4]; 4],
    ) {
        let Self {
            heads,
            lines,
            begun,
            count,
            kept,
            ..
        } = self;
        if SPLIT < 4 && !*begun {
            let mut columns = [[Lanes::default(); 4]; SPLIT];
            for column in 0..SPLIT {
                store(s, &entry[column], &mut columns[column]);
            }
            write_columns::<S, STREAM>(s, &columns, heads);
            *begun = true;
        } else {
            for pair in 0..4 {
                // A pair holds the columns of the characters `pair` and `pair + 4`.
                let mut columns = [s.both(Vec4::ZERO); 4];
                for i in 0..4 {
                    // From the entry before, then from this one.
                    let of_this = (i + SPLIT).checked_sub(4);
                    columns[i] = match of_this {
                        None => s.load(&kept[i][pair].0),
                        Some(column) => entry[column][pair],
                    };
                }
                let [first, fifth] = s.halves(columns[0], columns[1]);
                let [second, sixth] = s.halves(columns[2], columns[3]);
                if let Some(out) = lines[pair].get_mut(*count) {
                    s.write_line::<STREAM>([first, second], out);
                }
                if let Some(out) = lines[pair + 4].get_mut(*count) {
                    s.write_line::<STREAM>([fifth, sixth], out);
                }
            }
            *count += 1;
        }
        for column in SPLIT..4 {
            store(s, &entry[column], &mut kept[column - SPLIT]);
        }
    }

    /// Writes the columns that are left.
    #[inline(always)]
    pub(super) fn finish<S: Simd>(&mut self, s: S) {
        let left = &self.kept[..4 - self.split];
        if S::STREAMS && self.stream {
            write_columns::<S, true>(s, left, &mut self.tails);
        } else {
            write_columns::<S, false>(s, left, &mut self.tails);
        }
    }
}

#[inline(always)]
fn store<S: Simd>(s: S, column: &[S::Pair; 4], out: &mut [Lanes; 4]) {
    for pair in 0..4 {
        s.store(column[pair], &mut out[pair].0);
    }
}

/// Writes some columns of an entry: those for which `out` has room.
#[inline(always)]
fn write_columns<S: Simd, const STREAM: bool>(
    s: S,
    columns: &[[Lanes; 4]],
    out: &mut [&mut [Vec4]; PoseBatch::MOST],
) {
    for lane in 0..PoseBatch::MOST {
        for (column, out) in columns.iter().zip(out[lane].iter_mut()) {
            s.write_row::<STREAM>(column[lane % 4].0[lane / 4], out);
        }
    }
}
