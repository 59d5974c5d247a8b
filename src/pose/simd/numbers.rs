//! Numbers of a few bits in SIMD backends: reading a channel of a compressed clip.

use super::{Portable, fma};
use crate::model::{FrameShares, NumberFormat, PackedNumbers, STEP_BASE, STEP_SHIFT, number};
use glam::Vec4;

/// The vectors of a channel. Those that it doesn't have are unspecified.
///
/// Aligned to a cache line, so that AVX-512 doesn't write across two.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct ChannelVectors(pub(crate) [Vec4; 4]);

/// Moments of a clip at which its numbers are read, each between two adjacent frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments<'a, const M: usize> {
    frames: &'a [u8],
    stride: usize,
    /// Where both frames begin, in bytes. None begins after `last`.
    starts: [[u32; 2]; M],
    shares: [FrameShares; M],
    last: u32,
}

/// A SIMD backend for unpacking.
pub(crate) trait Unpack: Copy {
    /// Reads a channel of `N` vectors at all moments, interpolated between their frames.
    ///
    /// # Panics
    /// If numbers lie outside the frames.
    fn channel<const N: usize, const M: usize>(
        self,
        format: &NumberFormat<N>,
        moments: &Moments<M>,
        out: &mut [ChannelVectors; M],
    );
}

impl<'a, const M: usize> Moments<'a, M> {
    /// All moments are at the first frame, until they are set.
    #[inline(always)]
    pub(crate) fn new(packed: &'a PackedNumbers) -> Self {
        Self::of_frames(packed.frames(), packed.stride())
    }

    #[inline(always)]
    pub(crate) const fn of_frames(frames: &'a [u8], stride: usize) -> Self {
        Self {
            frames,
            stride,
            starts: [[0; 2]; M],
            shares: [FrameShares([FrameShares::WHOLE, 0]); M],
            last: 0,
        }
    }

    /// Places a moment between the frames `first` and `second`, which is the same one or the one after it, by a position,
    /// 0..=1.
    #[inline(always)]
    pub(crate) fn set(&mut self, moment: usize, [first, second]: [usize; 2], fraction: f32) {
        let starts = [first, second].map(|frame| (frame * self.stride) as u32);
        self.starts[moment] = starts;
        self.shares[moment] = FrameShares::new(fraction);
        self.last = self.last.max(starts[0].max(starts[1]));
    }

    /// The shares of both frames of a moment.
    #[inline(always)]
    pub(super) fn shares(&self, moment: usize) -> FrameShares {
        self.shares[moment]
    }

    /// The places of a byte in both frames of a moment.
    #[inline(always)]
    pub(super) fn places(&self, moment: usize, byte: u32) -> [usize; 2] {
        self.starts[moment].map(|start| start as usize + byte as usize)
    }

    /// Returns the bytes of all frames, having checked that in the frames of every moment, this many can be read from `byte` on.
    ///
    /// # Panics
    /// If they can't.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn frames_with(&self, byte: u32, bytes: usize) -> &'a [u8] {
        // One check for all moments, where one for each would be a part of every read.
        assert!(self.last as usize + byte as usize + bytes <= self.frames.len());
        self.frames
    }
}

impl Unpack for Portable {
    #[inline(always)]
    fn channel<const N: usize, const M: usize>(
        self,
        format: &NumberFormat<N>,
        moments: &Moments<M>,
        out: &mut [ChannelVectors; M],
    ) {
        let format = format.sixteen();
        for (moment, out) in out.iter_mut().enumerate() {
            let [first, second] = moments.shares(moment).0;
            for (vector, out) in out.0[..N].iter_mut().enumerate() {
                let (mut sums, mut steps, mut lows) = ([0.0; 4], [0.0; 4], [0.0; 4]);
                for lane in 0..4 {
                    let (half, at) = (vector / 2, vector % 2 * 4 + lane);
                    let (start, width) = (format.starts[half][at], format.widths[half][at]);
                    let byte = format.bytes[half] + u32::from(start / 8);
                    let [a, b] = moments.places(moment, byte).map(|place| {
                        let bytes = moments.frames[place..].first_chunk();
                        let bytes = bytes.expect("four bytes from the first of each number on");
                        number(u32::from_le_bytes(*bytes) >> (start % 8), width)
                    });
                    sums[lane] = (a * i32::from(first) + b * i32::from(second)) as f32;
                    steps[lane] = sum_step(format.steps[half][at]);
                    lows[lane] = f32::from(format.lows[half][at]) * format.unit;
                }
                let [sums, steps, lows] = [sums, steps, lows].map(Vec4::from_array);
                *out = fma(sums, steps, lows);
            }
        }
    }
}

/// The distance from one number to the next, for numbers multiplied by [`FrameShares::WHOLE`], which is −2¹⁵.
fn sum_step(bits: u8) -> f32 {
    f32::from_bits((u32::from(bits) << STEP_SHIFT) + SUM_STEP_BASE)
}
pub(super) const SUM_STEP_BASE: u32 = (STEP_BASE - (15 << 23)) | (1 << 31);
