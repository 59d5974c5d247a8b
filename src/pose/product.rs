//! Products of 3×4 matrices, two columns at a time where the processor can.
//!
//! A character is mostly such products: one a joint for the hierarchy and two for its palette. With
//! AVX, vectors are twice as wide and a number is spread over one while it is loaded. Every element
//! is worked out by the same operations in the same order as without, each rounded by itself (AVX
//! has no fused ones), so the bits are the same: a test compares them.

use crate::model::{SoaQuat, SoaTransform};
use glam::{Affine3A, Mat3A, Mat4, Vec3A, Vec4};

/// A way to multiply.
pub(crate) trait Product: Copy {
    /// A matrix laid out to be the right factor.
    type Local: Copy;

    /// `a · b`.
    fn of(self, a: &Affine3A, b: &Affine3A) -> Affine3A;
    /// `a · b` with its last row.
    fn matrix(self, a: &Affine3A, b: &Affine3A) -> Mat4;
    /// `a · b`.
    fn of_local(self, a: &Affine3A, b: Self::Local) -> Affine3A;
    /// The matrices of four joints.
    fn locals(self, elements: &Elements) -> [Self::Local; 4];
}

/// The elements of the matrices `T · R · S` of four joints, one joint to a lane.
pub(crate) struct Elements {
    x_axis: [Vec4; 3],
    y_axis: [Vec4; 3],
    z_axis: [Vec4; 3],
    translation: [Vec4; 3],
}

impl Elements {
    /// Of four joints' transforms, rotations of unit length.
    #[inline(always)]
    pub(crate) fn new(row: &SoaTransform) -> Self {
        let SoaTransform { translation: t, rotation: SoaQuat { x, y, z, w }, scale: s } = *row;
        let (x2, y2, z2) = (x + x, y + y, z + z);
        let (xx, xy, xz) = (x * x2, x * y2, x * z2);
        let (yy, yz, zz) = (y * y2, y * z2, z * z2);
        let (wx, wy, wz) = (w * x2, w * y2, w * z2);
        let one = Vec4::ONE;
        Self {
            x_axis: [(one - (yy + zz)) * s.x, (xy + wz) * s.x, (xz - wy) * s.x],
            y_axis: [(xy - wz) * s.y, (one - (xx + zz)) * s.y, (yz + wx) * s.y],
            z_axis: [(xz + wy) * s.z, (yz - wx) * s.z, (one - (xx + yy)) * s.z],
            translation: [t.x, t.y, t.z],
        }
    }
}

/// With what every processor has.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Product for Portable {
    type Local = Affine3A;

    #[inline(always)]
    fn of(self, a: &Affine3A, b: &Affine3A) -> Affine3A {
        *a * *b
    }

    #[inline(always)]
    fn matrix(self, a: &Affine3A, b: &Affine3A) -> Mat4 {
        Mat4::from(*a * *b)
    }

    #[inline(always)]
    fn of_local(self, a: &Affine3A, b: Affine3A) -> Affine3A {
        *a * b
    }

    #[inline(always)]
    fn locals(self, elements: &Elements) -> [Affine3A; 4] {
        let columns = |[x, y, z]: [Vec4; 3]| {
            let lanes = Mat4::from_cols(x, y, z, z).transpose();
            [lanes.x_axis, lanes.y_axis, lanes.z_axis, lanes.w_axis].map(Vec3A::from_vec4)
        };
        let (x_axis, y_axis, z_axis) = (columns(elements.x_axis), columns(elements.y_axis), columns(elements.z_axis));
        let translation = columns(elements.translation);
        [0, 1, 2, 3].map(|lane| Affine3A {
            matrix3: Mat3A::from_cols(x_axis[lane], y_axis[lane], z_axis[lane]),
            translation: translation[lane],
        })
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
    use super::{Elements, Product};
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

    /// The columns x and y, and z and the translation.
    #[derive(Clone, Copy)]
    pub(crate) struct Pairs {
        xy: __m256,
        zt: __m256,
    }

    // SAFETY, of each block: an `Avx` exists, so the processor has AVX.
    impl Product for Avx {
        type Local = Pairs;

        #[inline(always)]
        fn of(self, a: &Affine3A, b: &Affine3A) -> Affine3A {
            unsafe { affine(columns(a, pairs(b))) }
        }

        #[inline(always)]
        fn matrix(self, a: &Affine3A, b: &Affine3A) -> Mat4 {
            unsafe { matrix(columns(a, pairs(b))) }
        }

        #[inline(always)]
        fn of_local(self, a: &Affine3A, b: Pairs) -> Affine3A {
            unsafe { affine(columns(a, b)) }
        }

        #[inline(always)]
        fn locals(self, elements: &Elements) -> [Pairs; 4] {
            unsafe { locals(elements) }
        }
    }

    #[target_feature(enable = "avx")]
    #[inline]
    fn affine(columns: [__m128; 4]) -> Affine3A {
        let [x, y, z, t] = columns.map(|column| Vec3A::from_vec4(Vec4::from(column)));
        Affine3A { matrix3: Mat3A::from_cols(x, y, z), translation: t }
    }

    #[target_feature(enable = "avx")]
    #[inline]
    fn matrix(columns: [__m128; 4]) -> Mat4 {
        let [x, y, z, t] = columns.map(Vec4::from);
        Mat4::from_cols(x.with_w(0.0), y.with_w(0.0), z.with_w(0.0), t.with_w(1.0))
    }

    #[target_feature(enable = "avx")]
    #[inline]
    fn pairs(m: &Affine3A) -> Pairs {
        let pair = |first: Vec3A, second: Vec3A| _mm256_set_m128(second.into(), first.into());
        Pairs { xy: pair(m.matrix3.x_axis, m.matrix3.y_axis), zt: pair(m.matrix3.z_axis, m.translation) }
    }

    /// The columns of `a · b`; their fourth lanes hold nothing.
    #[target_feature(enable = "avx")]
    #[inline]
    fn columns(a: &Affine3A, b: Pairs) -> [__m128; 4] {
        let both = |v: Vec3A| {
            let v = __m128::from(v);
            _mm256_set_m128(v, v)
        };
        let (x, y, z) = (both(a.matrix3.x_axis), both(a.matrix3.y_axis), both(a.matrix3.z_axis));
        let product = |b: __m256| {
            let by_x = _mm256_mul_ps(x, _mm256_permute_ps::<0b00_00_00_00>(b));
            let by_y = _mm256_mul_ps(y, _mm256_permute_ps::<0b01_01_01_01>(b));
            let by_z = _mm256_mul_ps(z, _mm256_permute_ps::<0b10_10_10_10>(b));
            _mm256_add_ps(_mm256_add_ps(by_x, by_y), by_z)
        };
        let (xy, zt) = (product(b.xy), product(b.zt));
        let t = _mm_add_ps(_mm256_extractf128_ps::<1>(zt), a.translation.into());
        [_mm256_castps256_ps128(xy), _mm256_extractf128_ps::<1>(xy), _mm256_castps256_ps128(zt), t]
    }

    /// Turns two columns of four joints around at once.
    #[target_feature(enable = "avx")]
    #[inline]
    fn locals(elements: &Elements) -> [Pairs; 4] {
        let turned = |first: [Vec4; 3], second: [Vec4; 3]| {
            let [x, y, z] = [0, 1, 2].map(|i| _mm256_set_m128(second[i].into(), first[i].into()));
            let (xy_low, xy_high) = (_mm256_unpacklo_ps(x, y), _mm256_unpackhi_ps(x, y));
            [
                _mm256_shuffle_ps::<0b00_00_01_00>(xy_low, z),
                _mm256_shuffle_ps::<0b01_01_11_10>(xy_low, z),
                _mm256_shuffle_ps::<0b10_10_01_00>(xy_high, z),
                _mm256_shuffle_ps::<0b11_11_11_10>(xy_high, z),
            ]
        };
        let (xy, zt) = (turned(elements.x_axis, elements.y_axis), turned(elements.z_axis, elements.translation));
        [0, 1, 2, 3].map(|lane| Pairs { xy: xy[lane], zt: zt[lane] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JointTransform;
    use glam::{Quat, Vec3};

    #[test]
    fn every_way_to_multiply_gives_the_same_bits() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut number = || match random.u32(..8) {
            0 => [0.0, -0.0, 1.0, -1.0][random.usize(..4)],
            1 => (random.f32() - 0.5) * 1e20,
            2 => (random.f32() - 0.5) * 1e-20,
            _ => random.f32() * 4.0 - 2.0,
        };
        for _ in 0..if cfg!(miri) { 100 } else { 20_000 } {
            let [a, b] = [0; 2].map(|_| Affine3A::from_cols_array(&[0; 12].map(|_| number())));
            let expected = Portable.of(&a, &b).to_cols_array().map(f32::to_bits);
            let matrix = Portable.matrix(&a, &b).to_cols_array().map(f32::to_bits);
            #[cfg(target_arch = "x86_64")]
            if let Some(avx) = avx::Avx::find() {
                assert_eq!(avx.of(&a, &b).to_cols_array().map(f32::to_bits), expected);
                assert_eq!(avx.matrix(&a, &b).to_cols_array().map(f32::to_bits), matrix);
            }
            let rows = Elements::new(
                &SoaTransform::rows(&[0; 4].map(|_| JointTransform {
                    translation: Vec3::from_array([0; 3].map(|_| number())),
                    rotation: Quat::from_array([0; 4].map(|_| number())),
                    scale: Vec3::from_array([0; 3].map(|_| number())),
                }))[0],
            );
            let products = Portable.locals(&rows).map(|local| Portable.of_local(&a, local));
            #[cfg(target_arch = "x86_64")]
            if let Some(avx) = avx::Avx::find() {
                for (ours, portable) in avx.locals(&rows).into_iter().zip(products) {
                    let ours = avx.of_local(&a, ours).to_cols_array().map(f32::to_bits);
                    assert_eq!(ours, portable.to_cols_array().map(f32::to_bits));
                }
            }
            // The last row is (0, 0, 0, 1), the rest the same product.
            let rows = [0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14].map(|i| matrix[i]);
            assert_eq!(rows, expected);
            assert_eq!([3, 7, 11, 15].map(|i| f32::from_bits(matrix[i])), [0.0, 0.0, 0.0, 1.0]);
        }
    }
}
