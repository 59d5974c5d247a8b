//! With AVX and FMA, on x86-64: two columns, or two rows, to a register. The one place of `unsafe` code.

use super::{Elements, Product};
use glam::{Affine3A, Mat3A, Mat4, Vec3A, Vec4};
use std::arch::x86_64::*;

/// Proof that the processor has AVX and FMA: only [`Avx::find`] makes one.
#[derive(Clone, Copy)]
pub(crate) struct Avx(());

impl Avx {
    #[inline(always)]
    pub(crate) fn find() -> Option<Self> {
        #[cfg(test)]
        if super::PORTABLY.get() {
            return None;
        }
        let found = std::is_x86_feature_detected!("avx") && std::is_x86_feature_detected!("fma");
        found.then_some(Self(()))
    }

    /// Runs `work`, compiled for both.
    #[inline(always)]
    pub(crate) fn enter<R>(self, work: impl FnOnce(Self) -> R) -> R {
        #[target_feature(enable = "avx,fma")]
        fn with_avx<R>(avx: Avx, work: impl FnOnce(Avx) -> R) -> R {
            work(avx)
        }
        // SAFETY: an `Avx` exists, so the processor has AVX and FMA.
        unsafe { with_avx(self, work) }
    }
}

/// The columns x and y, and z and the translation.
#[derive(Clone, Copy)]
pub(crate) struct Pairs {
    xy: __m256,
    zt: __m256,
}

/// The columns x, y and z, each twice; and the translation, after what changes no sum.
#[derive(Clone, Copy)]
pub(crate) struct Spread {
    x: __m256,
    y: __m256,
    z: __m256,
    translation: __m256,
}

// SAFETY, of each block: an `Avx` exists, so the processor has AVX and FMA.
impl Product for Avx {
    type Left = Spread;
    type Right = Pairs;
    type Locals = [[__m256; 3]; 2];
    type Place = __m256;
    type Pair = __m256;

    #[inline(always)]
    fn left(self, a: &Affine3A) -> Spread {
        unsafe { spread(a) }
    }

    #[inline(always)]
    fn right(self, b: &Affine3A) -> Pairs {
        unsafe { pairs(b) }
    }

    #[inline(always)]
    fn of(self, a: Spread, b: Pairs) -> Pairs {
        unsafe { product(a, b) }
    }

    #[inline(always)]
    fn write_matrix(self, a: Spread, b: Pairs, out: &mut Mat4) {
        unsafe { write_matrix(product(a, b), out) }
    }

    #[inline(always)]
    fn place(self, translation: Vec3A) -> __m256 {
        // −0 is what changes nothing when it is added, zeros and their signs included.
        unsafe { _mm256_set_m128(translation.into(), _mm_set1_ps(-0.0)) }
    }

    #[inline(always)]
    fn write_placed(self, place: __m256, a: Spread, b: Pairs, out: &mut Mat4) {
        unsafe {
            let Pairs { xy, zt } = product(a, b);
            write_matrix(Pairs { xy, zt: _mm256_add_ps(zt, place) }, out)
        }
    }

    #[inline(always)]
    fn locals(self, elements: &Elements) -> [[__m256; 3]; 2] {
        unsafe { self::elements(elements) }
    }

    #[inline(always)]
    fn write_lane(self, a: Spread, b: &[[__m256; 3]; 2], lane: usize, out: &mut Affine3A) {
        unsafe {
            let product = match lane {
                0 => product_of_lane::<0b00_00_00_00>(a, b),
                1 => product_of_lane::<0b01_01_01_01>(a, b),
                2 => product_of_lane::<0b10_10_10_10>(a, b),
                _ => product_of_lane::<0b11_11_11_11>(a, b),
            };
            write(product, out)
        }
    }

    #[inline(always)]
    fn pair(self, rows: &[Vec4; 2]) -> __m256 {
        unsafe { _mm256_set_m128(rows[1].into(), rows[0].into()) }
    }

    #[inline(always)]
    fn rows(self, pair: __m256) -> [Vec4; 2] {
        unsafe { [_mm256_castps256_ps128(pair).into(), _mm256_extractf128_ps::<1>(pair).into()] }
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
    fn fused(self, a: __m256, b: __m256, c: __m256) -> __m256 {
        unsafe { _mm256_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn fused_row(self, a: Vec4, b: Vec4, c: Vec4) -> Vec4 {
        unsafe { _mm_fmadd_ps(a.into(), b.into(), c.into()).into() }
    }

    #[inline(always)]
    fn fused_less_row(self, a: Vec4, b: Vec4, c: Vec4) -> Vec4 {
        unsafe { _mm_fmsub_ps(a.into(), b.into(), c.into()).into() }
    }

    #[inline(always)]
    fn less_fused_row(self, a: Vec4, b: Vec4, c: Vec4) -> Vec4 {
        unsafe { _mm_fnmadd_ps(a.into(), b.into(), c.into()).into() }
    }

    #[inline(always)]
    fn total(self, pair: __m256) -> __m256 {
        unsafe { _mm256_add_ps(pair, _mm256_permute2f128_ps::<1>(pair, pair)) }
    }

    #[inline(always)]
    fn signed(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_or_ps(a, _mm256_and_ps(b, _mm256_set1_ps(-0.0))) }
    }

    #[inline(always)]
    fn both(self, row: Vec4) -> __m256 {
        unsafe { _mm256_set_m128(row.into(), row.into()) }
    }
}

#[target_feature(enable = "avx,fma")]
#[inline]
fn pairs(m: &Affine3A) -> Pairs {
    let pair = |first: Vec3A, second: Vec3A| _mm256_set_m128(second.into(), first.into());
    Pairs { xy: pair(m.matrix3.x_axis, m.matrix3.y_axis), zt: pair(m.matrix3.z_axis, m.translation) }
}

#[target_feature(enable = "avx,fma")]
#[inline]
fn spread(a: &Affine3A) -> Spread {
    let both = |v: Vec3A| {
        let v = __m128::from(v);
        _mm256_set_m128(v, v)
    };
    Spread {
        x: both(a.matrix3.x_axis),
        y: both(a.matrix3.y_axis),
        z: both(a.matrix3.z_axis),
        // −0, as for a place.
        translation: _mm256_set_m128(a.translation.into(), _mm_set1_ps(-0.0)),
    }
}

/// `a · b`; the fourth lanes hold nothing.
#[target_feature(enable = "avx,fma")]
#[inline]
fn product(Spread { x, y, z, translation }: Spread, b: Pairs) -> Pairs {
    let product = |b: __m256, by_x: __m256| {
        let by_y = _mm256_fmadd_ps(y, _mm256_permute_ps::<0b01_01_01_01>(b), by_x);
        _mm256_fmadd_ps(z, _mm256_permute_ps::<0b10_10_10_10>(b), by_y)
    };
    let [xy, zt] = [b.xy, b.zt].map(|b| _mm256_permute_ps::<0b00_00_00_00>(b));
    Pairs { xy: product(b.xy, _mm256_mul_ps(x, xy)), zt: product(b.zt, _mm256_fmadd_ps(x, zt, translation)) }
}

#[target_feature(enable = "avx,fma")]
#[inline]
fn write(m: Pairs, out: &mut Affine3A) {
    let columns = [m.xy, m.zt].map(|pair| [_mm256_castps256_ps128(pair), _mm256_extractf128_ps::<1>(pair)]);
    let [x_axis, y_axis, z_axis, translation] =
        [columns[0][0], columns[0][1], columns[1][0], columns[1][1]].map(|column| Vec3A::from_vec4(column.into()));
    *out = Affine3A { matrix3: Mat3A { x_axis, y_axis, z_axis }, translation };
}

#[target_feature(enable = "avx,fma")]
#[inline]
fn write_matrix(m: Pairs, out: &mut Mat4) {
    const LAST: i32 = 0b1000_1000;
    let xy = _mm256_blend_ps::<LAST>(m.xy, _mm256_setzero_ps());
    let zt = _mm256_blend_ps::<LAST>(m.zt, _mm256_set_ps(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0));
    let halves = |pair: __m256| [_mm256_castps256_ps128(pair), _mm256_extractf128_ps::<1>(pair)].map(Vec4::from);
    let ([x, y], [z, t]) = (halves(xy), halves(zt));
    *out = Mat4::from_cols(x, y, z, t);
}

/// The elements of two columns of four joints, in six vectors of which each joint's product takes a lane.
#[target_feature(enable = "avx,fma")]
#[inline]
fn elements(elements: &Elements) -> [[__m256; 3]; 2] {
    let both = |first: [Vec4; 3], second: [Vec4; 3]| {
        [0, 1, 2].map(|i| {
            let mut pair = _mm256_set_m128(second[i].into(), first[i].into());
            // SAFETY: no instruction. Without it the compiler makes each pair anew for each joint.
            unsafe {
                std::arch::asm!("/* {0} */", inout(ymm_reg) pair, options(pure, nomem, nostack, preserves_flags));
            }
            pair
        })
    };
    [both(elements.x_axis, elements.y_axis), both(elements.z_axis, elements.translation)]
}

/// The product of `a` and the matrix of the joint in a lane.
#[target_feature(enable = "avx,fma")]
#[inline]
fn product_of_lane<const LANE: i32>(a: Spread, b: &[[__m256; 3]; 2]) -> Pairs {
    let Spread { x, y, z, translation } = a;
    let product = |b: &[__m256; 3], by_x: __m256| {
        let by_y = _mm256_fmadd_ps(y, _mm256_permute_ps::<LANE>(b[1]), by_x);
        _mm256_fmadd_ps(z, _mm256_permute_ps::<LANE>(b[2]), by_y)
    };
    let [xy, zt] = [b[0][0], b[1][0]].map(|b| _mm256_permute_ps::<LANE>(b));
    Pairs { xy: product(&b[0], _mm256_mul_ps(x, xy)), zt: product(&b[1], _mm256_fmadd_ps(x, zt, translation)) }
}
