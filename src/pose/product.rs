//! Products of 3×4 matrices, two columns at a time where the processor can, and rows in pairs.
//!
//! A character is mostly such products: one a joint for the hierarchy and two for its palette. With
//! AVX, vectors are twice as wide and a number is spread over one while it is loaded. Every element
//! is worked out by the same operations in the same order as without, each rounded by itself (AVX
//! has no fused ones), so the bits are the same: a test compares them.

use crate::model::{SoaQuat, SoaTransform};
use glam::{Affine3A, Mat3A, Mat4, Vec3A, Vec4};

/// A way to reckon: products of matrices, and numbers in pairs of rows.
pub(crate) trait Product: Copy {
    /// A matrix laid out to be the left factor.
    type Left: Copy;
    /// A matrix laid out to be the right factor.
    type Right: Copy;
    /// The matrices of four joints laid out to be right factors.
    type Locals: Copy;
    /// Two rows of four numbers, such as the x and the y of four joints.
    type Pair: Copy;

    /// `a` as a left factor.
    fn left(self, a: &Affine3A) -> Self::Left;
    /// `b` as a right factor.
    fn right(self, b: &Affine3A) -> Self::Right;
    /// `a · b`, to be the right factor of another product.
    fn of(self, a: Self::Left, b: Self::Right) -> Self::Right;
    /// Writes `a · b` with its last row.
    fn write_matrix(self, a: Self::Left, b: Self::Right, out: &mut Mat4);
    /// The matrices of four joints, laid out to be right factors.
    fn locals(self, elements: &Elements) -> Self::Locals;
    /// Writes `a · b`, where `b` is the matrix of the joint in lane 0 to 3.
    fn write_lane(self, a: Self::Left, b: &Self::Locals, lane: usize, out: &mut Affine3A);

    fn pair(self, rows: &[Vec4; 2]) -> Self::Pair;
    fn rows(self, pair: Self::Pair) -> [Vec4; 2];
    fn add(self, a: Self::Pair, b: Self::Pair) -> Self::Pair;
    fn sub(self, a: Self::Pair, b: Self::Pair) -> Self::Pair;
    fn mul(self, a: Self::Pair, b: Self::Pair) -> Self::Pair;
    /// The same row twice.
    fn both(self, row: Vec4) -> Self::Pair;
}

/// The elements of the matrices `T · R · S` of four joints, one joint to a lane.
pub(crate) struct Elements {
    x_axis: [Vec4; 3],
    y_axis: [Vec4; 3],
    z_axis: [Vec4; 3],
    translation: [Vec4; 3],
}

impl Elements {
    /// Of four joints' transforms, rotations of unit length. Where not `SCALE`, every scale is one,
    /// by which nothing need be multiplied.
    #[inline(always)]
    pub(crate) fn new<const SCALE: bool>(row: &SoaTransform) -> Self {
        let SoaTransform { translation: t, rotation: SoaQuat { x, y, z, w }, scale: s } = *row;
        let (x2, y2, z2) = (x + x, y + y, z + z);
        let (xx, xy, xz) = (x * x2, x * y2, x * z2);
        let (yy, yz, zz) = (y * y2, y * z2, z * z2);
        let (wx, wy, wz) = (w * x2, w * y2, w * z2);
        let one = Vec4::ONE;
        let scaled = |axis: [Vec4; 3], s: Vec4| if SCALE { axis.map(|element| element * s) } else { axis };
        Self {
            x_axis: scaled([one - (yy + zz), xy + wz, xz - wy], s.x),
            y_axis: scaled([xy - wz, one - (xx + zz), yz + wx], s.y),
            z_axis: scaled([xz + wy, yz - wx, one - (xx + yy)], s.z),
            translation: [t.x, t.y, t.z],
        }
    }
}

/// The quaternions of four joints in two pairs of rows.
#[derive(Clone, Copy)]
pub(crate) struct Turns<P: Product> {
    pub(crate) xy: P::Pair,
    pub(crate) zw: P::Pair,
}

impl<P: Product> Turns<P> {
    /// Of the rows x, y, z, w.
    #[inline(always)]
    pub(crate) fn read(p: P, &[x, y, z, w]: &[Vec4; 4]) -> Self {
        Self { xy: p.pair(&[x, y]), zw: p.pair(&[z, w]) }
    }

    /// The way `t` to `other`, straight.
    #[inline(always)]
    pub(crate) fn lerp(self, p: P, other: Self, t: Vec4) -> Self {
        let t = p.both(t);
        Self {
            xy: p.add(self.xy, p.mul(p.sub(other.xy, self.xy), t)),
            zw: p.add(self.zw, p.mul(p.sub(other.zw, self.zw), t)),
        }
    }

    #[inline(always)]
    pub(crate) fn dot(self, p: P, other: Self) -> Vec4 {
        let [a, b] = p.rows(p.add(p.mul(self.xy, other.xy), p.mul(self.zw, other.zw)));
        a + b
    }

    #[inline(always)]
    pub(crate) fn scaled(self, p: P, by: Vec4) -> Self {
        let by = p.both(by);
        Self { xy: p.mul(self.xy, by), zw: p.mul(self.zw, by) }
    }

    #[inline(always)]
    pub(crate) fn plus(self, p: P, other: Self) -> Self {
        Self { xy: p.add(self.xy, other.xy), zw: p.add(self.zw, other.zw) }
    }

    #[inline(always)]
    pub(crate) fn quat(self, p: P) -> SoaQuat {
        let ([x, y], [z, w]) = (p.rows(self.xy), p.rows(self.zw));
        SoaQuat { x, y, z, w }
    }
}

/// With what every processor has.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Product for Portable {
    type Left = Affine3A;
    type Right = Affine3A;
    type Locals = [Affine3A; 4];
    type Pair = [Vec4; 2];

    #[inline(always)]
    fn left(self, a: &Affine3A) -> Affine3A {
        *a
    }

    #[inline(always)]
    fn right(self, b: &Affine3A) -> Affine3A {
        *b
    }

    #[inline(always)]
    fn of(self, a: Affine3A, b: Affine3A) -> Affine3A {
        a * b
    }

    #[inline(always)]
    fn write_matrix(self, a: Affine3A, b: Affine3A, out: &mut Mat4) {
        *out = Mat4::from(a * b);
    }

    #[inline(always)]
    fn pair(self, rows: &[Vec4; 2]) -> [Vec4; 2] {
        *rows
    }

    #[inline(always)]
    fn rows(self, pair: [Vec4; 2]) -> [Vec4; 2] {
        pair
    }

    #[inline(always)]
    fn add(self, a: [Vec4; 2], b: [Vec4; 2]) -> [Vec4; 2] {
        [a[0] + b[0], a[1] + b[1]]
    }

    #[inline(always)]
    fn sub(self, a: [Vec4; 2], b: [Vec4; 2]) -> [Vec4; 2] {
        [a[0] - b[0], a[1] - b[1]]
    }

    #[inline(always)]
    fn mul(self, a: [Vec4; 2], b: [Vec4; 2]) -> [Vec4; 2] {
        [a[0] * b[0], a[1] * b[1]]
    }

    #[inline(always)]
    fn both(self, row: Vec4) -> [Vec4; 2] {
        [row; 2]
    }

    #[inline(always)]
    fn write_lane(self, a: Affine3A, b: &[Affine3A; 4], lane: usize, out: &mut Affine3A) {
        *out = a * b[lane];
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

/// Fetches what will soon be read or written into the cache, where the processor can be told so.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let bytes: *const i8 = items.as_ptr().cast();
        for line in (0..size_of_val(items)).step_by(64) {
            // SAFETY: it is a hint, which neither reads nor writes anything the program could see; and the
            // address lies within `items`.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.add(line)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = items;
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

    /// The columns x, y and z, each twice; and the translation, after what changes no sum.
    #[derive(Clone, Copy)]
    pub(crate) struct Spread {
        x: __m256,
        y: __m256,
        z: __m256,
        translation: __m256,
    }

    // SAFETY, of each block: an `Avx` exists, so the processor has AVX.
    impl Product for Avx {
        type Left = Spread;
        type Right = Pairs;
        type Locals = [[__m256; 3]; 2];
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
        fn both(self, row: Vec4) -> __m256 {
            unsafe { _mm256_set_m128(row.into(), row.into()) }
        }
    }

    #[target_feature(enable = "avx")]
    #[inline]
    fn pairs(m: &Affine3A) -> Pairs {
        let pair = |first: Vec3A, second: Vec3A| _mm256_set_m128(second.into(), first.into());
        Pairs { xy: pair(m.matrix3.x_axis, m.matrix3.y_axis), zt: pair(m.matrix3.z_axis, m.translation) }
    }

    #[target_feature(enable = "avx")]
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
            // −0 is what changes nothing when it is added, zeros and their signs included.
            translation: _mm256_set_m128(a.translation.into(), _mm_set1_ps(-0.0)),
        }
    }

    /// `a · b`; the fourth lanes hold nothing.
    #[target_feature(enable = "avx")]
    #[inline]
    fn product(Spread { x, y, z, translation }: Spread, b: Pairs) -> Pairs {
        let product = |b: __m256| {
            let by_x = _mm256_mul_ps(x, _mm256_permute_ps::<0b00_00_00_00>(b));
            let by_y = _mm256_mul_ps(y, _mm256_permute_ps::<0b01_01_01_01>(b));
            let by_z = _mm256_mul_ps(z, _mm256_permute_ps::<0b10_10_10_10>(b));
            _mm256_add_ps(_mm256_add_ps(by_x, by_y), by_z)
        };
        Pairs { xy: product(b.xy), zt: _mm256_add_ps(product(b.zt), translation) }
    }

    #[target_feature(enable = "avx")]
    #[inline]
    fn write(m: Pairs, out: &mut Affine3A) {
        let columns = [m.xy, m.zt].map(|pair| [_mm256_castps256_ps128(pair), _mm256_extractf128_ps::<1>(pair)]);
        let [x_axis, y_axis, z_axis, translation] =
            [columns[0][0], columns[0][1], columns[1][0], columns[1][1]].map(|column| Vec3A::from_vec4(column.into()));
        *out = Affine3A { matrix3: Mat3A { x_axis, y_axis, z_axis }, translation };
    }

    #[target_feature(enable = "avx")]
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
    #[target_feature(enable = "avx")]
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
    #[target_feature(enable = "avx")]
    #[inline]
    fn product_of_lane<const LANE: i32>(a: Spread, b: &[[__m256; 3]; 2]) -> Pairs {
        let Spread { x, y, z, translation } = a;
        let product = |b: &[__m256; 3]| {
            let by_x = _mm256_mul_ps(x, _mm256_permute_ps::<LANE>(b[0]));
            let by_y = _mm256_mul_ps(y, _mm256_permute_ps::<LANE>(b[1]));
            let by_z = _mm256_mul_ps(z, _mm256_permute_ps::<LANE>(b[2]));
            _mm256_add_ps(_mm256_add_ps(by_x, by_y), by_z)
        };
        Pairs { xy: product(&b[0]), zt: _mm256_add_ps(product(&b[1]), translation) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JointTransform;
    use glam::{Quat, Vec3};

    /// Everything a way to reckon can do, as bits.
    fn bits<P: Product>(product: P, a: &Affine3A, b: &Affine3A, row: &SoaTransform) -> Vec<u32> {
        let (mut affine, mut matrix) = (Affine3A::NAN, Mat4::NAN);
        let mut numbers = Vec::new();
        let right = product.right(b);
        for right in [right, product.of(product.left(a), right)] {
            product.write_matrix(product.left(a), right, &mut matrix);
            numbers.extend(matrix.to_cols_array());
        }
        for locals in [Elements::new::<true>(row), Elements::new::<false>(row)].map(|e| product.locals(&e)) {
            for lane in 0..4 {
                product.write_lane(product.left(a), &locals, lane, &mut affine);
                numbers.extend(affine.to_cols_array());
            }
        }
        let (x, y) = (product.pair(&[row.rotation.x, row.rotation.y]), product.both(row.rotation.z));
        for pair in [product.add(x, y), product.sub(x, y), product.mul(x, y)] {
            numbers.extend(product.rows(pair).iter().flat_map(|row| row.to_array()));
        }
        numbers.into_iter().map(bits_of).collect()
    }

    /// The sign of what is not a number is nobody's promise, and Miri throws dice for it.
    fn bits_of(x: f32) -> u32 {
        if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() }
    }

    #[test]
    fn every_way_to_reckon_gives_the_same_bits() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut number = || match random.u32(..8) {
            0 => [0.0, -0.0, 1.0, -1.0][random.usize(..4)],
            1 => (random.f32() - 0.5) * 1e20,
            2 => (random.f32() - 0.5) * 1e-20,
            _ => random.f32() * 4.0 - 2.0,
        };
        for _ in 0..if cfg!(miri) { 100 } else { 20_000 } {
            let [a, b] = [0; 2].map(|_| Affine3A::from_cols_array(&[0; 12].map(|_| number())));
            let row = SoaTransform::rows(&[0; 4].map(|_| JointTransform {
                translation: Vec3::from_array([0; 3].map(|_| number())),
                rotation: Quat::from_array([0; 4].map(|_| number())),
                scale: Vec3::from_array([0; 3].map(|_| number())),
            }))[0];
            let portable = bits(Portable, &a, &b, &row);
            #[cfg(target_arch = "x86_64")]
            if let Some(avx) = avx::Avx::find() {
                assert_eq!(bits(avx, &a, &b, &row), portable);
            }
            assert_eq!(portable[..16], Mat4::from(a * b).to_cols_array().map(bits_of));
        }
    }
}
