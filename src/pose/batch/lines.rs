//! Writing eight palettes at a time, in whole cache lines.

use super::{PoseBatch, lanes::Lanes};
use crate::pose::simd::Simd;
use glam::{Mat4, Vec4};
use std::slice::IterMut;

/// Where the palettes are written to.
///
/// What is written past the caches must fill whole lines of 64 bytes, or takes three times as long. A matrix has 64 bytes,
/// but allocators mostly start 16 bytes behind the beginning of a line. So a line ends with the first columns of an entry,
/// `split` of them, and begins with the others of the entry before.
pub(super) struct Lines<'o> {
    split: usize,
    /// What comes before the first whole line.
    heads: [&'o mut [Vec4]; PoseBatch::MOST],
    lines: [IterMut<'o, [Vec4; 4]>; PoseBatch::MOST],
    tails: [&'o mut [Vec4]; PoseBatch::MOST],
    /// Number of entries so far.
    count: usize,
    /// The columns of the last two entries, of each pair of lanes. Those of entries with odd numbers are the last four.
    columns: [[Lanes; 4]; 8],
}

impl<'o> Lines<'o> {
    /// For `length` matrices at the beginning of each of `out`, or none where it is empty.
    pub(super) fn new(out: &'o mut [&mut [Mat4]; PoseBatch::MOST], length: usize) -> Self {
        let split = out.iter().find(|out| !out.is_empty()).map_or(4, |out| columns_to_line_end(out));
        let mut new = Self {
            split,
            heads: Default::default(),
            lines: Default::default(),
            tails: Default::default(),
            count: 0,
            columns: [[Lanes::default(); 4]; 8],
        };
        for (lane, out) in out.iter_mut().enumerate().filter(|(_, out)| !out.is_empty()) {
            let (head, rest) = bytemuck::cast_slice_mut(&mut out[..length]).split_at_mut(split % 4);
            let (whole, tail) = rest.as_chunks_mut();
            (new.heads[lane], new.lines[lane], new.tails[lane]) = (head, whole.iter_mut(), tail);
        }
        new
    }

    /// Writes the next entry: its columns, of each pair of lanes. What does not fill a line waits for the next.
    #[inline(always)]
    pub(super) fn push<S: Simd, const STREAM: bool>(&mut self, s: S, entry: &[[S::Pair; 4]; 4]) {
        let Self { split, lines, count, columns, .. } = self;
        let first = *count % 2 * 4;
        *count += 1;
        for column in 0..4 {
            for pair in 0..4 {
                s.store(entry[column][pair], &mut columns[first + column][pair].0);
            }
        }
        if *count == 1 && *split < 4 {
            return write_columns::<S, STREAM>(s, &columns[..*split], &mut self.heads);
        }
        // From the entry before, unless lines are entries.
        let first = first + 4 + *split;
        let [a, b, c, d] =
            [&columns[first % 8], &columns[(first + 1) % 8], &columns[(first + 2) % 8], &columns[(first + 3) % 8]];
        for pair in 0..4 {
            let [first, fifth] = s.halves(s.load(&a[pair].0), s.load(&b[pair].0));
            let [second, sixth] = s.halves(s.load(&c[pair].0), s.load(&d[pair].0));
            if let Some(out) = lines[pair].next() {
                s.write_line::<STREAM>([first, second], out);
            }
            if let Some(out) = lines[pair + 4].next() {
                s.write_line::<STREAM>([fifth, sixth], out);
            }
        }
    }

    /// Writes what is left.
    #[inline(always)]
    pub(super) fn finish<S: Simd, const STREAM: bool>(mut self, s: S) {
        let last = &self.columns[self.count.wrapping_sub(1) % 2 * 4..][self.split..4];
        write_columns::<S, STREAM>(s, last, &mut self.tails);
    }
}

/// Number of columns up to the end of a cache line, 1 to 4.
#[inline(always)]
fn columns_to_line_end(matrices: &[Mat4]) -> usize {
    4 - matrices.as_ptr().addr() / size_of::<Vec4>() % 4
}

/// Writes some columns of an entry, as many as `out` has room for.
#[inline(always)]
fn write_columns<S: Simd, const STREAM: bool>(s: S, columns: &[[Lanes; 4]], out: &mut [&mut [Vec4]; PoseBatch::MOST]) {
    for lane in 0..PoseBatch::MOST {
        for (column, out) in columns.iter().zip(out[lane].iter_mut()) {
            s.write_row::<STREAM>(column[lane % 4].0[lane / 4], out);
        }
    }
}
