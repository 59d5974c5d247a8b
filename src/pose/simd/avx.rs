//! The backend for x86-64 processors with AVX2 and FMA: two rows to a register.

mod unpack;

use super::Simd;
use glam::{Affine3A, Mat3A, Mat4, Vec4};
use std::arch::x86_64::*;

/// Proof that the processor has AVX2 and FMA: only [`Avx::detect`] makes one.
#[derive(Clone, Copy)]
pub(crate) struct Avx(());

impl Avx {
    #[inline(always)]
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(test)]
        if super::BACKEND.get() == super::Backend::Portable {
            return None;
        }
        let found = std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
        found.then_some(Self(()))
    }

    /// Runs `work` in a function compiled for AVX2 and FMA, and twice as many registers where the processor has them
    /// (AVX-512VL). For loops that need them: there is another copy of the code.
    #[inline(always)]
    pub(crate) fn enter_wide<R>(self, work: impl FnOnce(Self) -> R) -> R {
        #[target_feature(enable = "avx2,fma,avx512f,avx512vl")]
        fn with_more_registers<R>(avx: Avx, work: impl FnOnce(Avx) -> R) -> R {
            work(avx)
        }
        #[cfg(test)]
        if super::BACKEND.get() == super::Backend::Avx {
            return self.enter(work);
        }
        if std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("avx512vl") {
            // SAFETY: that was just checked, and an `Avx` exists, so the processor has AVX2 and FMA.
            unsafe { with_more_registers(self, work) }
        } else {
            self.enter(work)
        }
    }

    /// Runs `work` in a function compiled for AVX2 and FMA.
    #[inline(always)]
    pub(crate) fn enter<R>(self, work: impl FnOnce(Self) -> R) -> R {
        #[target_feature(enable = "avx2,fma")]
        fn with_avx<R>(avx: Avx, work: impl FnOnce(Avx) -> R) -> R {
            work(avx)
        }
        // SAFETY: an `Avx` exists, so the processor has AVX2 and FMA.
        unsafe { with_avx(self, work) }
    }
}

// SAFETY, of each block: an `Avx` exists, so the processor has AVX2 and FMA.
impl Simd for Avx {
    type Pair = __m256;

    const STREAMS: bool = true;

    #[inline(always)]
    fn pair(self, first: Vec4, second: Vec4) -> __m256 {
        unsafe { _mm256_set_m128(register(second), register(first)) }
    }

    #[inline(always)]
    fn rows(self, pair: __m256) -> [Vec4; 2] {
        unsafe {
            [
                row(_mm256_castps256_ps128(pair)),
                row(_mm256_extractf128_ps::<1>(pair)),
            ]
        }
    }

    #[inline(always)]
    fn add(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_add_ps(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_sub_ps(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_mul_ps(a, b) }
    }

    #[inline(always)]
    fn div(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_div_ps(a, b) }
    }

    #[inline(always)]
    fn sqrt(self, a: __m256) -> __m256 {
        unsafe { _mm256_sqrt_ps(a) }
    }

    #[inline(always)]
    fn fma(self, a: __m256, b: __m256, c: __m256) -> __m256 {
        unsafe { _mm256_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn with_signs(self, a: __m256, signs: __m256) -> __m256 {
        unsafe {
            let sign = _mm256_set1_ps(-0.0);
            _mm256_or_ps(_mm256_andnot_ps(sign, a), _mm256_and_ps(sign, signs))
        }
    }

    #[inline(always)]
    fn fma_row(self, a: Vec4, b: Vec4, c: Vec4) -> Vec4 {
        unsafe { row(_mm_fmadd_ps(register(a), register(b), register(c))) }
    }

    #[inline(always)]
    fn lane<const LANE: usize>(self, pair: __m256) -> __m256 {
        unsafe {
            match LANE {
                0 => _mm256_permute_ps::<0b00_00_00_00>(pair),
                1 => _mm256_permute_ps::<0b01_01_01_01>(pair),
                2 => _mm256_permute_ps::<0b10_10_10_10>(pair),
                _ => _mm256_permute_ps::<0b11_11_11_11>(pair),
            }
        }
    }

    #[inline(always)]
    fn with_last(self, pair: __m256, [first, second]: [f32; 2]) -> __m256 {
        unsafe {
            let last = _mm256_set_ps(second, 0.0, 0.0, 0.0, first, 0.0, 0.0, 0.0);
            _mm256_blend_ps::<0b1000_1000>(pair, last)
        }
    }

    #[inline(always)]
    fn write<const STREAM: bool>(self, xy: __m256, zw: __m256, out: &mut Mat4) {
        let ([x, y], [z, w]) = (self.rows(xy), self.rows(zw));
        // Streamed vectors must be aligned, which they are where glam's are registers.
        if !STREAM || align_of::<Mat4>() < 16 {
            *out = Mat4::from_cols(x, y, z, w);
            return;
        }
        let out = std::ptr::from_mut(out).cast::<f32>();
        // SAFETY: `out` is 16 numbers, aligned for vectors. `Stream` calls `fence` before anyone else can read them.
        unsafe {
            _mm_stream_ps(out, register(x));
            _mm_stream_ps(out.add(4), register(y));
            _mm_stream_ps(out.add(8), register(z));
            _mm_stream_ps(out.add(12), register(w));
        }
    }

    #[inline(always)]
    fn write_row<const STREAM: bool>(self, row: Vec4, out: &mut Vec4) {
        if !STREAM || align_of::<Vec4>() < 16 {
            *out = row;
            return;
        }
        // SAFETY: `out` is four numbers, aligned for vectors. `Stream` calls `fence` before anyone else can read them.
        unsafe { _mm_stream_ps(std::ptr::from_mut(out).cast(), register(row)) };
    }

    #[inline(always)]
    fn write_line<const STREAM: bool>(self, [first, second]: [__m256; 2], out: &mut [Vec4; 4]) {
        let out = out.as_mut_ptr().cast::<f32>();
        // SAFETY: `out` is 16 numbers. Only addresses aligned for registers are streamed to, and
        // `Stream` calls `fence` before anyone else can read it.
        unsafe {
            if STREAM && out.addr().is_multiple_of(32) {
                _mm256_stream_ps(out, first);
                _mm256_stream_ps(out.add(8), second);
            } else {
                _mm256_storeu_ps(out, first);
                _mm256_storeu_ps(out.add(8), second);
            }
        }
    }

    #[inline(always)]
    fn halves(self, a: __m256, b: __m256) -> [__m256; 2] {
        unsafe {
            [
                _mm256_permute2f128_ps::<0x20>(a, b),
                _mm256_permute2f128_ps::<0x31>(a, b),
            ]
        }
    }

    #[inline(always)]
    fn fence(self) {
        // On processors with AVX there is SSE.
        unsafe { _mm_sfence() }
    }

    #[inline(always)]
    fn load(self, rows: &[Vec4; 2]) -> __m256 {
        // SAFETY: two rows are eight numbers.
        unsafe { _mm256_loadu_ps(rows.as_ptr().cast()) }
    }

    /// Stores both rows in one piece. A load of 32 bytes can't be forwarded from two stores of 16,
    /// so it would wait for them.
    #[inline(always)]
    fn store(self, pair: __m256, rows: &mut [Vec4; 2]) {
        // SAFETY: two rows are eight numbers.
        unsafe { _mm256_storeu_ps(rows.as_mut_ptr().cast(), pair) }
    }

    #[inline(always)]
    fn transposed(self, [a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
        unsafe {
            let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
            let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
            [
                _mm256_shuffle_ps::<0b01_00_01_00>(ab_low, cd_low),
                _mm256_shuffle_ps::<0b11_10_11_10>(ab_low, cd_low),
                _mm256_shuffle_ps::<0b01_00_01_00>(ab_high, cd_high),
                _mm256_shuffle_ps::<0b11_10_11_10>(ab_high, cd_high),
            ]
        }
    }

    #[inline(always)]
    fn kept_pair(self, first: Vec4, second: Vec4) -> __m256 {
        unsafe { keep(self.pair(first, second)) }
    }

    /// Reads the columns as they are in memory, if glam's vectors are SIMD registers.
    #[inline(always)]
    fn columns(self, m: &Affine3A) -> [Vec4; 4] {
        if align_of::<Vec4>() < 16 {
            let Mat3A {
                x_axis,
                y_axis,
                z_axis,
            } = m.matrix3;
            return [
                x_axis.extend(0.0),
                y_axis.extend(0.0),
                z_axis.extend(0.0),
                m.translation.extend(0.0),
            ];
        }
        // SAFETY: both are four registers in the same order.
        unsafe { std::mem::transmute::<Affine3A, [Vec4; 4]>(*m) }
    }
}

// Not `From`, which glam lacks where its feature `scalar-math` is on; both types are four floats.
#[inline(always)]
fn register(row: Vec4) -> __m128 {
    // SAFETY: a `Vec4` is four floats without padding, and any bits are floats.
    unsafe { std::mem::transmute(row) }
}

#[inline(always)]
fn row(register: __m128) -> Vec4 {
    // SAFETY: as above.
    unsafe { std::mem::transmute(register) }
}

/// Keeps the compiler from building a pair of two rows again each time it is read.
#[target_feature(enable = "avx")]
#[inline]
fn keep(mut pair: __m256) -> __m256 {
    // SAFETY: no instruction.
    unsafe {
        std::arch::asm!("/* {0} */", inout(ymm_reg) pair, options(pure, nomem, nostack, preserves_flags))
    };
    pair
}
