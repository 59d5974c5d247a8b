//! Unpacking: reading the numbers of a few bits that compressed clips have in place of frames.
//!
//! Many channels are read in one pass, before they are blended: formats and numbers are then read in the order in which they
//! are in memory, without branches, and code for it isn't part of each kernel that blends.

#[cfg(target_arch = "x86_64")]
use super::simd::avx512::Avx512;
use super::simd::{
    dispatch,
    numbers::{ChannelVectors, Moments, Unpack},
};
use crate::model::{NumberFormat, PackedNumbers};
use std::ops::Range;

/// Some channels of a clip.
#[derive(Clone, Debug, Default)]
pub(super) struct Channels {
    /// Those of rotations.
    pub(super) quats: Range<usize>,
    /// Those of translations and scales.
    pub(super) vectors: Range<usize>,
    /// Those of morph weights.
    pub(super) weights: Range<usize>,
}

impl Channels {
    /// All channels of a clip.
    pub(super) fn all(packed: &PackedNumbers) -> Self {
        Self {
            quats: 0..packed.quats.len(),
            vectors: 0..packed.vectors.len(),
            weights: 0..packed.weights.len(),
        }
    }

    /// Reads the channels at each of `M` moments. `out` has a place for each channel of the clip, those of rotations first.
    pub(super) fn unpack<const M: usize>(
        &self,
        packed: &PackedNumbers,
        moments: &Moments<M>,
        out: &mut [[ChannelVectors; M]],
    ) {
        #[cfg(target_arch = "x86_64")]
        if let Some(wide) = Avx512::detect() {
            return wide.enter(
                #[inline(always)]
                |s| self.unpack_with(s, packed, moments, out),
            );
        }
        dispatch!(s => self.unpack_with(s, packed, moments, out));
    }

    #[inline(always)]
    fn unpack_with<S: Unpack, const M: usize>(
        &self,
        s: S,
        packed: &PackedNumbers,
        moments: &Moments<M>,
        out: &mut [[ChannelVectors; M]],
    ) {
        let (quats, others) = out.split_at_mut(packed.quats.len());
        let (vectors, weights) = others.split_at_mut(packed.vectors.len());
        unpack_channels(s, &packed.quats, &self.quats, moments, quats);
        unpack_channels(s, &packed.vectors, &self.vectors, moments, vectors);
        unpack_channels(s, &packed.weights, &self.weights, moments, weights);
    }
}

#[inline(always)]
fn unpack_channels<S: Unpack, const N: usize, const M: usize>(
    s: S,
    formats: &[NumberFormat<N>],
    range: &Range<usize>,
    moments: &Moments<M>,
    out: &mut [[ChannelVectors; M]],
) {
    for (format, out) in formats[range.clone()].iter().zip(&mut out[range.clone()]) {
        s.channel(format, moments, out);
    }
}

#[cfg(test)]
#[path = "tests/unpack.rs"]
mod tests;
