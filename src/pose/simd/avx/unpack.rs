//! Unpacking numbers of a few bits with AVX2: eight at a time.

use super::Avx;
use crate::model::{NumberFormat, STEP_SHIFT, SixteenNumbers};
use crate::pose::simd::numbers::{ChannelVectors, Moments, SUM_STEP_BASE, Unpack};
use std::arch::x86_64::*;

/// The format of eight numbers.
struct Half {
    /// For each number, the four bytes of the window that hold it.
    bytes: __m256i,
    /// By how much they are shifted to the right, so that the number of the first frame begins at bit 0.
    right: __m256i,
    /// By how much they are shifted to the left, so that the number of the second frame begins at bit 16.
    left: __m256i,
    mask: __m256i,
    steps: __m256,
    lows: __m256,
}

impl Unpack for Avx {
    #[inline(always)]
    fn channel<const N: usize, const M: usize>(
        self,
        format: &NumberFormat<N>,
        moments: &Moments<M>,
        out: &mut [ChannelVectors; M],
    ) {
        let format = format.sixteen();
        // SAFETY: an `Avx` exists, so the processor has AVX2.
        let halves = unsafe { [half::<0>(&format), half::<1>(&format)] };
        let places = format
            .bytes
            .map(|byte| (byte, moments.frames_with(byte, 16).as_ptr()));
        for (moment, out) in out.iter_mut().enumerate() {
            let out = out.0.as_mut_ptr().cast::<f32>();
            for half in 0..if N > 2 { 2 } else { 1 } {
                let (byte, frames) = places[half];
                let windows = moments.places(moment, byte);
                // SAFETY: an `Avx` exists, so the processor has AVX2 and FMA. 16 bytes from both places on lie in `frames`, or
                // `frames_with` would have panicked. `out` is 16 numbers.
                unsafe {
                    let windows = windows.map(|at| {
                        _mm256_broadcastsi128_si256(_mm_loadu_si128(frames.add(at).cast()))
                    });
                    let shares = _mm256_set1_epi32(moments.shares(moment).joined());
                    let between = interpolated(&halves[half], windows, shares);
                    _mm256_storeu_ps(out.add(8 * half), between);
                }
            }
        }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn half<const HALF: usize>(format: &SixteenNumbers) -> Half {
    let each = |bytes: [u8; 8]| _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(bytes)));
    let (starts, widths) = (each(format.starts[HALF]), each(format.widths[HALF]));
    // The bytes that hold each number: the first one, four times, plus 0, 1, 2 and 3.
    let first_bytes = _mm256_shuffle_epi8(
        _mm256_srli_epi32::<3>(starts),
        _mm256_broadcastsi128_si256(_mm_set_epi8(
            12, 12, 12, 12, 8, 8, 8, 8, 4, 4, 4, 4, 0, 0, 0, 0,
        )),
    );
    let bytes = _mm256_add_epi8(first_bytes, _mm256_set1_epi32(0x0302_0100));
    let right = _mm256_and_si256(starts, _mm256_set1_epi32(7));
    // The compiler must see that they are below 32, or it adds instructions for others.
    let widths = _mm256_and_si256(widths, _mm256_set1_epi32(31));
    let one = _mm256_set1_epi32(1);
    let mask = _mm256_sub_epi32(_mm256_sllv_epi32(one, widths), one);
    let steps = _mm256_slli_epi32::<{ STEP_SHIFT as i32 }>(each(format.steps[HALF]));
    let steps = _mm256_add_epi32(steps, _mm256_set1_epi32(SUM_STEP_BASE as i32));
    // SAFETY: eight numbers of 16 bits.
    let lows = unsafe { _mm_loadu_si128(format.lows[HALF].as_ptr().cast()) };
    let lows = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(lows));
    Half {
        bytes,
        right,
        left: _mm256_sub_epi32(_mm256_set1_epi32(16), right),
        mask: _mm256_or_si256(mask, _mm256_slli_epi32::<16>(mask)),
        steps: _mm256_castsi256_ps(steps),
        lows: _mm256_mul_ps(lows, _mm256_set1_ps(format.unit)),
    }
}

/// The numbers in windows of two frames, interpolated.
///
/// Those of the first frame end up in the lower halves of eight integers and those of the second frame in the upper halves, so
/// that one instruction multiplies both with their shares and adds them up.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn interpolated(format: &Half, [first, second]: [__m256i; 2], shares: __m256i) -> __m256 {
    let first = _mm256_srlv_epi32(_mm256_shuffle_epi8(first, format.bytes), format.right);
    let second = _mm256_sllv_epi32(_mm256_shuffle_epi8(second, format.bytes), format.left);
    let both = _mm256_blend_epi16::<0b1010_1010>(first, second);
    let sums = _mm256_madd_epi16(_mm256_and_si256(both, format.mask), shares);
    _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums), format.steps, format.lows)
}
