//! Numbers of a few bits in SIMD backends: reading a channel of a compressed clip.

use super::{Portable, fma};
use crate::model::{
    FrameShares, NumberFormat, PackedNumbers, STEP_BASE, STEP_SHIFT, SixteenNumbers, WINDOW, number,
};
use glam::Vec4;

/// The vectors of a channel. Those that it doesn't have are unspecified.
pub(crate) type ChannelVectors = [Vec4; 4];

/// The numbers of two adjacent frames of a clip, and a moment between them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NumberPair<'a> {
    /// The bytes from the first frame on.
    pub(crate) frames: &'a [u8],
    /// The bytes from it to the second frame; 0 if there is only one.
    pub(crate) stride: u32,
    pub(crate) shares: FrameShares,
}

/// A SIMD backend for unpacking.
pub(crate) trait Unpack: Copy {
    /// The place and the meaning of a channel's numbers.
    type Format;

    /// Prepares for reading a channel of `N` vectors.
    fn format<const N: usize>(self, format: &NumberFormat<N>) -> Self::Format;

    /// Reads the channel, interpolated between two frames.
    fn between<const N: usize>(
        self,
        format: &Self::Format,
        numbers: &NumberPair,
        out: &mut ChannelVectors,
    );
}

impl<'a> NumberPair<'a> {
    /// The frames `first` and `second`, which is the same one or the one after it, and a position between them, 0..=1.
    #[inline(always)]
    pub(crate) fn new(
        packed: &'a PackedNumbers,
        [first, second]: [usize; 2],
        fraction: f32,
    ) -> Self {
        Self {
            frames: packed.frames_from(first),
            stride: if second > first { packed.stride() } else { 0 },
            shares: FrameShares::new(fraction),
        }
    }

    /// The places of two windows in the first frame, and of the same windows in the second frame.
    ///
    /// # Panics
    /// Unless the first byte is at most the second, and all windows lie in [`Self::frames`].
    #[inline(always)]
    pub(super) fn windows(&self, bytes: [u32; 2]) -> [[usize; 2]; 2] {
        let ([first, second], stride) = (bytes.map(|byte| byte as usize), self.stride as usize);
        assert!(first <= second && second + stride + WINDOW <= self.frames.len());
        [[first, second], [first + stride, second + stride]]
    }
}

impl Unpack for Portable {
    type Format = SixteenNumbers;

    #[inline(always)]
    fn format<const N: usize>(self, format: &NumberFormat<N>) -> SixteenNumbers {
        format.sixteen()
    }

    #[inline(always)]
    fn between<const N: usize>(
        self,
        format: &SixteenNumbers,
        numbers: &NumberPair,
        out: &mut ChannelVectors,
    ) {
        let frames = numbers.windows(format.bytes);
        let [first, second] = numbers.shares.0;
        for (vector, out) in out[..N].iter_mut().enumerate() {
            let (mut sums, mut steps, mut lows) = ([0.0; 4], [0.0; 4], [0.0; 4]);
            for lane in 0..4 {
                let (half, at) = (vector / 2, vector % 2 * 4 + lane);
                let (start, width) = (format.starts[half][at], format.widths[half][at]);
                let [a, b] = frames.map(|windows| {
                    let byte = windows[half] + usize::from(start / 8);
                    let bytes = numbers.frames[byte..].first_chunk();
                    let bytes = bytes.expect("a window has 16 bytes and four more");
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

/// The distance from one number to the next, for numbers multiplied by [`FrameShares::WHOLE`], which is −2¹⁵.
fn sum_step(bits: u8) -> f32 {
    f32::from_bits((u32::from(bits) << STEP_SHIFT) + SUM_STEP_BASE)
}
pub(super) const SUM_STEP_BASE: u32 = (STEP_BASE - (15 << 23)) | (1 << 31);
