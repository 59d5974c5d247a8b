//! Unpacking numbers of a few bits with AVX-512: sixteen at a time.
//!
//! Needs the instructions for bytes and bits that Intel's processors have since Ice Lake and AMD's since Zen 4 (BW, VBMI, and
//! VBMI2).

use super::numbers::{ChannelVectors, Moments, SUM_STEP_BASE, Unpack};
use crate::model::{NumberFormat, STEP_SHIFT};
use std::arch::x86_64::*;

/// Proof that the processor has these instructions: only [`Avx512::detect`] makes one.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    #[inline(always)]
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(test)]
        if super::BACKEND.get() != super::Backend::Fastest {
            return None;
        }
        let found = std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512bw")
            && std::is_x86_feature_detected!("avx512vl")
            && std::is_x86_feature_detected!("avx512vbmi")
            && std::is_x86_feature_detected!("avx512vbmi2");
        found.then_some(Self(()))
    }

    /// Runs `work` in a function compiled for these instructions.
    #[inline(always)]
    pub(crate) fn enter<R>(self, work: impl FnOnce(Self) -> R) -> R {
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
        fn with_avx512<R>(avx: Avx512, work: impl FnOnce(Avx512) -> R) -> R {
            work(avx)
        }
        // SAFETY: an `Avx512` exists, so the processor has these instructions.
        unsafe { with_avx512(self, work) }
    }
}

/// The format of a channel's sixteen numbers, which lie in the first 32 bytes from their first one on.
struct Format {
    /// For each number, two bytes of each frame. The number begins in the first of them.
    words: __m512i,
    /// The two bytes after those.
    next_words: __m512i,
    /// By how much both are shifted to the right, so that the number begins at bit 0.
    right: __m512i,
    /// The bits of the number.
    masks: __m512i,
    steps: __m512,
    lows: __m512,
}

impl Unpack for Avx512 {
    /// The numbers of the first frame end up in the lower halves of integers and those of the second frame in the upper
    /// halves, so that one instruction multiplies both with their shares and adds them up.
    #[inline(always)]
    fn channel<const N: usize, const M: usize>(
        self,
        format: &NumberFormat<N>,
        moments: &Moments<M>,
        out: &mut [ChannelVectors; M],
    ) {
        let byte = format.start / 8;
        let format = self.format(format);
        let frames = moments.frames_with(byte, BYTES).as_ptr();
        for (moment, out) in out.iter_mut().enumerate() {
            let [first, second] = moments.places(moment, byte);
            // SAFETY: an `Avx512` exists, so the processor has these instructions. 32 bytes from both places on lie in
            // `frames`, or `frames_with` would have panicked. `out` is 16 numbers, aligned for
            // vectors.
            unsafe {
                let first = _mm256_loadu_si256(frames.add(first).cast());
                let second = _mm256_loadu_si256(frames.add(second).cast());
                let both = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(first), second);
                let words = _mm512_shrdv_epi16(
                    _mm512_permutexvar_epi8(format.words, both),
                    _mm512_permutexvar_epi8(format.next_words, both),
                    format.right,
                );
                let shares = _mm512_set1_epi32(moments.shares(moment).joined());
                let sums = _mm512_madd_epi16(_mm512_and_si512(words, format.masks), shares);
                let rows = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums), format.steps, format.lows);
                _mm512_store_ps(out.0.as_mut_ptr().cast(), rows);
            }
        }
    }
}

/// The bytes that are read of each frame.
const BYTES: usize = 32;

impl Avx512 {
    #[inline(always)]
    fn format<const N: usize>(self, format: &NumberFormat<N>) -> Format {
        /// The `width` lowest bits, for each width of a number.
        const MASKS: [u16; 32] = {
            let (mut masks, mut width) = ([0; 32], 0);
            while width <= 16 {
                masks[width] = ((1_u32 << width) - 1) as u16;
                width += 1;
            }
            masks
        };
        let vectors = ((1_u32 << N) - 1) as u8;
        // SAFETY: an `Avx512` exists, so the processor has these instructions. They read `N` times four or eight bytes. `MASKS`
        // is of 64 bytes.
        unsafe {
            let load = |vectors_of: &[[u8; 4]; N]| {
                _mm_maskz_loadu_epi32(vectors, vectors_of.as_ptr().cast())
            };
            let ends = load(&format.ends);
            // A number starts where the one before it ends.
            let first_start = _mm_cvtsi32_si128((format.start % 8) as i32);
            let starts = _mm_or_si128(_mm_slli_si128::<1>(ends), first_start);
            let widths = _mm_sub_epi8(ends, starts);
            // Each of 16 bytes four times.
            let four_times = |bytes: __m128i| {
                let bytes = _mm512_cvtepu8_epi32(bytes);
                let first = _mm_set_epi32(0x0c0c_0c0c, 0x0808_0808, 0x0404_0404, 0);
                _mm512_shuffle_epi8(bytes, _mm512_broadcast_i32x4(first))
            };
            let (starts, widths) = (four_times(starts), four_times(widths));
            let first_bytes = _mm512_srli_epi16::<3>(starts);
            let first_bytes = _mm512_and_si512(first_bytes, _mm512_set1_epi8(0x1f));
            // The bytes of the second frame follow those of the first.
            let words = _mm512_add_epi8(first_bytes, _mm512_set1_epi32(0x2120_0100));
            let masks = _mm512_loadu_si512(MASKS.as_ptr().cast());
            let steps = _mm512_slli_epi32::<STEP_SHIFT>(_mm512_cvtepu8_epi32(load(&format.steps)));
            let steps = _mm512_add_epi32(steps, _mm512_set1_epi32(SUM_STEP_BASE as i32));
            let lows = _mm256_maskz_loadu_epi64(vectors, format.lows.as_ptr().cast());
            let lows = _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(lows));
            Format {
                words,
                next_words: _mm512_add_epi8(words, _mm512_set1_epi8(2)),
                right: _mm512_and_si512(starts, _mm512_set1_epi16(7)),
                masks: _mm512_permutexvar_epi16(widths, masks),
                steps: _mm512_castsi512_ps(steps),
                lows: _mm512_mul_ps(lows, _mm512_set1_ps(format.unit)),
            }
        }
    }
}
