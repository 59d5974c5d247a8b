//! Unpacking: reading the numbers of a few bits that compressed clips have in place of frames.
//!
//! All channels of a clip are read in one pass, before its pose is blended: formats and numbers are then read in the order in
//! which they are in memory, without branches, and code for it isn't part of each kernel that blends.

#[cfg(target_arch = "x86_64")]
use super::simd::avx512::Avx512;
use super::simd::{
    dispatch,
    numbers::{ChannelVectors, Moments, Unpack},
};
use crate::model::{NumberFormat, PackedNumbers};

/// Reads all channels at each of `M` moments: first those of rotations, then those of translations and scales, or of morph
/// weights.
pub(super) fn unpack<const M: usize>(
    packed: &PackedNumbers,
    moments: &Moments<M>,
    out: &mut [[ChannelVectors; M]],
) {
    #[cfg(target_arch = "x86_64")]
    if let Some(wide) = Avx512::detect() {
        return wide.enter(
            #[inline(always)]
            |s| unpack_with(s, packed, moments, out),
        );
    }
    dispatch!(s => unpack_with(s, packed, moments, out));
}

#[inline(always)]
fn unpack_with<S: Unpack, const M: usize>(
    s: S,
    packed: &PackedNumbers,
    moments: &Moments<M>,
    out: &mut [[ChannelVectors; M]],
) {
    let (quats, others) = out.split_at_mut(packed.quats.len());
    let (vectors, weights) = others.split_at_mut(packed.vectors.len());
    unpack_channels(s, &packed.quats, moments, quats);
    unpack_channels(s, &packed.vectors, moments, vectors);
    unpack_channels(s, &packed.weights, moments, weights);
}

#[inline(always)]
fn unpack_channels<S: Unpack, const N: usize, const M: usize>(
    s: S,
    formats: &[NumberFormat<N>],
    moments: &Moments<M>,
    out: &mut [[ChannelVectors; M]],
) {
    for (format, out) in formats.iter().zip(out) {
        s.channel(format, moments, out);
    }
}

#[cfg(test)]
#[path = "tests/unpack.rs"]
mod tests;
