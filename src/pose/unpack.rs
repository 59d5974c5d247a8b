//! Unpacking: reading the numbers of a few bits that compressed clips have in place of frames.

use super::packed::{Quats4, Vectors4};
use super::sample::FrameSpan;
use super::simd::Simd;
use crate::model::{FrameShares, NumberFormat, PackedNumbers, WINDOW};

/// Two adjacent frames of a clip's numbers, and a moment between them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NumberPair<'a> {
    /// The bytes from the first frame on.
    frames: &'a [u8],
    /// The bytes from it to the second frame; 0 if there is only one.
    stride: u32,
    shares: FrameShares,
}

impl<'a> NumberPair<'a> {
    #[inline(always)]
    pub(super) fn new(numbers: &'a PackedNumbers, span: &FrameSpan) -> Self {
        let has_second = span.second > span.first;
        Self {
            frames: numbers.frames_from(span.first),
            stride: if has_second { numbers.stride() } else { 0 },
            shares: FrameShares::new(span.fraction),
        }
    }

    /// The windows of both frames. One bounds check covers both.
    #[inline(always)]
    fn windows(&self, byte: u32) -> [&'a [u8; WINDOW]; 2] {
        let end = byte as usize + self.stride as usize + WINDOW;
        let range = &self.frames[byte as usize..end];
        match (range.first_chunk(), range.last_chunk()) {
            (Some(first), Some(second)) => [first, second],
            _ => unreachable!("it holds a window"),
        }
    }
}

/// The format of eight numbers, prepared for reading many times.
pub(super) struct Eight<S: Simd> {
    byte: u32,
    format: S::Format,
}

impl<S: Simd> Eight<S> {
    #[inline(always)]
    pub(super) fn new<const FIRST: usize, const N: usize>(s: S, format: &NumberFormat<N>) -> Self {
        let eight = format.eight::<FIRST>();
        Self {
            byte: eight.byte,
            format: s.format(&eight),
        }
    }

    #[inline(always)]
    pub(super) fn read(&self, s: S, pair: &NumberPair) -> S::Pair {
        s.between(&self.format, pair.windows(self.byte), pair.shares)
    }
}

/// The format of vectors, prepared for reading.
pub(super) struct VectorsFormat<S: Simd> {
    xy: Eight<S>,
    z: Eight<S>,
}

impl<S: Simd> VectorsFormat<S> {
    #[inline(always)]
    pub(super) fn new(s: S, format: &NumberFormat<3>) -> Self {
        Self {
            xy: Eight::new::<0, 3>(s, format),
            z: Eight::new::<2, 3>(s, format),
        }
    }

    #[inline(always)]
    pub(super) fn read(&self, s: S, pair: &NumberPair) -> Vectors4<S> {
        let [z, _] = s.rows(self.z.read(s, pair));
        Vectors4 {
            xy: self.xy.read(s, pair),
            z,
        }
    }

    /// Reads x, y and z at each of two moments.
    #[inline(always)]
    pub(super) fn read_each(&self, s: S, [a, b]: [&NumberPair; 2]) -> [S::Pair; 3] {
        let [x, y] = s.halves(self.xy.read(s, a), self.xy.read(s, b));
        let windows = [a, b].map(|pair| pair.windows(self.z.byte));
        [
            x,
            y,
            s.between_each(&self.z.format, windows, [a.shares, b.shares]),
        ]
    }
}

/// The format of quaternions, prepared for reading.
pub(super) struct QuatsFormat<S: Simd> {
    xy: Eight<S>,
    zw: Eight<S>,
}

impl<S: Simd> QuatsFormat<S> {
    #[inline(always)]
    pub(super) fn new(s: S, format: &NumberFormat<4>) -> Self {
        Self {
            xy: Eight::new::<0, 4>(s, format),
            zw: Eight::new::<2, 4>(s, format),
        }
    }

    #[inline(always)]
    pub(super) fn read(&self, s: S, pair: &NumberPair) -> Quats4<S> {
        Quats4 {
            xy: self.xy.read(s, pair),
            zw: self.zw.read(s, pair),
        }
    }
}
