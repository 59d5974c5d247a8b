//! Products of 3×4 matrices, two columns at a time where the processor can.
//!
//! A character is mostly such products: one a joint for the hierarchy and two for its palette. With
//! AVX, vectors are twice as wide and a number is spread over one while it is loaded. Every element
//! is worked out by the same operations in the same order as without, each rounded by itself (AVX
//! has no fused ones), so the bits are the same: a test compares them.

use glam::{Affine3A, Mat4};

/// A way to multiply.
pub(crate) trait Product: Copy {
    /// `a · b`.
    fn of(self, a: &Affine3A, b: &Affine3A) -> Affine3A;
    /// `a · b` with its last row.
    fn matrix(self, a: &Affine3A, b: &Affine3A) -> Mat4;
}

/// With what every processor has.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Product for Portable {
    #[inline(always)]
    fn of(self, a: &Affine3A, b: &Affine3A) -> Affine3A {
        *a * *b
    }

    #[inline(always)]
    fn matrix(self, a: &Affine3A, b: &Affine3A) -> Mat4 {
        Mat4::from(*a * *b)
    }
}

/// Calls a method that takes a [`Product`] first with the best one there is.
macro_rules! dispatch {
    ($self:ident.$method:ident($($argument:expr),*)) => {{
        #[cfg(target_arch = "x86_64")]
        if let Some(avx) = $crate::pose::product::avx::Avx::find() {
            return avx.enter(#[inline(always)] |avx| $self.$method(avx, $($argument),*));
        }
        $self.$method($crate::pose::product::Portable, $($argument),*)
    }};
}
pub(crate) use dispatch;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx {
    use super::Product;
    use glam::{Affine3A, Mat3A, Mat4, Vec3A, Vec4};
    use std::arch::x86_64::*;

    /// Proof that the processor has AVX: only [`Avx::find`] makes one.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx(());

    impl Avx {
        #[inline(always)]
        pub(crate) fn find() -> Option<Self> {
            std::is_x86_feature_detected!("avx").then_some(Self(()))
        }

        /// Runs `work`, compiled for AVX.
        #[inline(always)]
        pub(crate) fn enter<R>(self, work: impl FnOnce(Self) -> R) -> R {
            #[target_feature(enable = "avx")]
            fn with_avx<R>(avx: Avx, work: impl FnOnce(Avx) -> R) -> R {
                work(avx)
            }
            // SAFETY: an `Avx` exists, so the processor has AVX.
            unsafe { with_avx(self, work) }
        }
    }

    impl Product for Avx {
        #[inline(always)]
        fn of(self, a: &Affine3A, b: &Affine3A) -> Affine3A {
            // SAFETY: an `Avx` exists, so the processor has AVX.
            unsafe { of(a, b) }
        }

        #[inline(always)]
        fn matrix(self, a: &Affine3A, b: &Affine3A) -> Mat4 {
            // SAFETY: an `Avx` exists, so the processor has AVX.
            unsafe { matrix(a, b) }
        }
    }

    #[target_feature(enable = "avx")]
    #[inline]
    fn of(a: &Affine3A, b: &Affine3A) -> Affine3A {
        let [x, y, z, t] = columns(a, b);
        let column = |v| Vec3A::from_vec4(Vec4::from(v));
        Affine3A { matrix3: Mat3A::from_cols(column(x), column(y), column(z)), translation: column(t) }
    }

    #[target_feature(enable = "avx")]
    #[inline]
    fn matrix(a: &Affine3A, b: &Affine3A) -> Mat4 {
        let [x, y, z, t] = columns(a, b).map(Vec4::from);
        Mat4::from_cols(x.with_w(0.0), y.with_w(0.0), z.with_w(0.0), t.with_w(1.0))
    }

    /// The columns of `a · b`; their fourth lanes hold nothing.
    #[target_feature(enable = "avx")]
    #[inline]
    fn columns(a: &Affine3A, b: &Affine3A) -> [__m128; 4] {
        let both = |v: Vec3A| {
            let v = __m128::from(v);
            _mm256_set_m128(v, v)
        };
        let pair = |first: Vec3A, second: Vec3A| _mm256_set_m128(second.into(), first.into());
        let (x, y, z) = (both(a.matrix3.x_axis), both(a.matrix3.y_axis), both(a.matrix3.z_axis));
        let product = |b: __m256| {
            let by_x = _mm256_mul_ps(x, _mm256_permute_ps::<0b00_00_00_00>(b));
            let by_y = _mm256_mul_ps(y, _mm256_permute_ps::<0b01_01_01_01>(b));
            let by_z = _mm256_mul_ps(z, _mm256_permute_ps::<0b10_10_10_10>(b));
            _mm256_add_ps(_mm256_add_ps(by_x, by_y), by_z)
        };
        let xy = product(pair(b.matrix3.x_axis, b.matrix3.y_axis));
        let zt = product(pair(b.matrix3.z_axis, b.translation));
        let t = _mm_add_ps(_mm256_extractf128_ps::<1>(zt), a.translation.into());
        [_mm256_castps256_ps128(xy), _mm256_extractf128_ps::<1>(xy), _mm256_castps256_ps128(zt), t]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_multiply_gives_the_same_bits() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut number = || match random.u32(..8) {
            0 => [0.0, -0.0, 1.0, -1.0][random.usize(..4)],
            1 => (random.f32() - 0.5) * 1e20,
            2 => (random.f32() - 0.5) * 1e-20,
            _ => random.f32() * 4.0 - 2.0,
        };
        for _ in 0..20_000 {
            let [a, b] = [0; 2].map(|_| Affine3A::from_cols_array(&[0; 12].map(|_| number())));
            let expected = Portable.of(&a, &b).to_cols_array().map(f32::to_bits);
            let matrix = Portable.matrix(&a, &b).to_cols_array().map(f32::to_bits);
            #[cfg(target_arch = "x86_64")]
            if let Some(avx) = avx::Avx::find() {
                assert_eq!(avx.of(&a, &b).to_cols_array().map(f32::to_bits), expected);
                assert_eq!(avx.matrix(&a, &b).to_cols_array().map(f32::to_bits), matrix);
            }
            // The last row is (0, 0, 0, 1), the rest the same product.
            let rows = [0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14].map(|i| matrix[i]);
            assert_eq!(rows, expected);
            assert_eq!([3, 7, 11, 15].map(|i| f32::from_bits(matrix[i])), [0.0, 0.0, 0.0, 1.0]);
        }
    }
}
