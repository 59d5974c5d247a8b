//! Products of 3×4 matrices, two columns at a time where the processor can, and rows in pairs.
//!
//! A character is mostly such products: one a joint for the hierarchy and two for its palette. With
//! AVX, vectors are twice as wide, and with FMA a product and a sum are one operation, rounded once. Every
//! element is worked out by the same operations in the same order on every processor: where there is no
//! fused one, its result is made of several. So the bits are the same: a test compares them.

// The one place with `unsafe`: 256-bit vectors where the processor has them.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
pub(crate) mod avx;

use crate::model::{SoaQuat, SoaTransform};
use glam::{Affine3A, Mat3A, Mat4, Vec3A, Vec4, Vec4Swizzles};

/// A way to reckon: products of matrices, and numbers in pairs of rows.
pub(crate) trait Product: Copy {
    /// A matrix laid out to be the left factor.
    type Left: Copy;
    /// A matrix laid out to be the right factor.
    type Right: Copy;
    /// The matrices of four joints laid out to be right factors.
    type Locals: Copy;
    /// A place to be moved to.
    type Place: Copy;
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
    fn place(self, translation: Vec3A) -> Self::Place;
    /// Writes `a · b` with its last row, moved to a place.
    fn write_placed(self, place: Self::Place, a: Self::Left, b: Self::Right, out: &mut Mat4);
    /// The matrices of four joints, laid out to be right factors.
    fn locals(self, elements: &Elements) -> Self::Locals;
    /// Writes `a · b`, where `b` is the matrix of the joint in lane 0 to 3.
    fn write_lane(self, a: Self::Left, b: &Self::Locals, lane: usize, out: &mut Affine3A);

    fn pair(self, rows: &[Vec4; 2]) -> Self::Pair;
    fn rows(self, pair: Self::Pair) -> [Vec4; 2];
    fn sub(self, a: Self::Pair, b: Self::Pair) -> Self::Pair;
    fn mul(self, a: Self::Pair, b: Self::Pair) -> Self::Pair;
    /// `a · b + c`, rounded once.
    fn fused(self, a: Self::Pair, b: Self::Pair, c: Self::Pair) -> Self::Pair;
    /// `a · b + c` of one row, rounded once.
    fn fused_row(self, a: Vec4, b: Vec4, c: Vec4) -> Vec4;
    /// `a · b − c` of one row, rounded once.
    fn fused_less_row(self, a: Vec4, b: Vec4, c: Vec4) -> Vec4;
    /// `c − a · b` of one row, rounded once.
    fn less_fused_row(self, a: Vec4, b: Vec4, c: Vec4) -> Vec4;
    /// The same row twice.
    fn both(self, row: Vec4) -> Self::Pair;
    /// The sum of both rows, twice over.
    fn total(self, pair: Self::Pair) -> Self::Pair;
    /// `a` ≥ 0 with the signs of `b`.
    fn signed(self, a: Self::Pair, b: Self::Pair) -> Self::Pair;
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
    pub(crate) fn new<P: Product, const SCALE: bool>(p: P, row: &SoaTransform) -> Self {
        let SoaTransform { translation: t, rotation: SoaQuat { x, y, z, w }, scale: s } = *row;
        let (x2, y2, z2) = (x + x, y + y, z + z);
        let (less_xx, less_yy) = (p.less_fused_row(x, x2, Vec4::ONE), p.less_fused_row(y, y2, Vec4::ONE));
        let (wx, wy, wz) = (w * x2, w * y2, w * z2);
        let mut x_axis = [p.less_fused_row(z, z2, less_yy), p.fused_row(x, y2, wz), p.fused_less_row(x, z2, wy)];
        let mut y_axis = [p.fused_less_row(x, y2, wz), p.less_fused_row(z, z2, less_xx), p.fused_row(y, z2, wx)];
        let mut z_axis = [p.fused_row(x, z2, wy), p.fused_less_row(y, z2, wx), p.less_fused_row(y, y2, less_xx)];
        if SCALE {
            for i in 0..3 {
                (x_axis[i], y_axis[i], z_axis[i]) = (x_axis[i] * s.x, y_axis[i] * s.y, z_axis[i] * s.z);
            }
        }
        Self { x_axis, y_axis, z_axis, translation: [t.x, t.y, t.z] }
    }
}

/// With what every processor has.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Product for Portable {
    type Left = Affine3A;
    type Right = Affine3A;
    type Locals = [Affine3A; 4];
    type Place = Vec3A;
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
        product(&a, &b)
    }

    #[inline(always)]
    fn write_matrix(self, a: Affine3A, b: Affine3A, out: &mut Mat4) {
        *out = Mat4::from(self.of(a, b));
    }

    #[inline(always)]
    fn place(self, translation: Vec3A) -> Vec3A {
        translation
    }

    #[inline(always)]
    fn write_placed(self, place: Vec3A, a: Affine3A, b: Affine3A, out: &mut Mat4) {
        let Affine3A { matrix3, translation } = self.of(a, b);
        *out = Mat4::from(Affine3A { matrix3, translation: translation + place });
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
    fn sub(self, a: [Vec4; 2], b: [Vec4; 2]) -> [Vec4; 2] {
        [a[0] - b[0], a[1] - b[1]]
    }

    #[inline(always)]
    fn mul(self, a: [Vec4; 2], b: [Vec4; 2]) -> [Vec4; 2] {
        [a[0] * b[0], a[1] * b[1]]
    }

    #[inline(always)]
    fn fused(self, a: [Vec4; 2], b: [Vec4; 2], c: [Vec4; 2]) -> [Vec4; 2] {
        [fused(a[0], b[0], c[0]), fused(a[1], b[1], c[1])]
    }

    #[inline(always)]
    fn fused_row(self, a: Vec4, b: Vec4, c: Vec4) -> Vec4 {
        fused(a, b, c)
    }

    #[inline(always)]
    fn fused_less_row(self, a: Vec4, b: Vec4, c: Vec4) -> Vec4 {
        fused(a, b, -c)
    }

    #[inline(always)]
    fn less_fused_row(self, a: Vec4, b: Vec4, c: Vec4) -> Vec4 {
        fused(-a, b, c)
    }

    #[inline(always)]
    fn both(self, row: Vec4) -> [Vec4; 2] {
        [row; 2]
    }

    #[inline(always)]
    fn total(self, pair: [Vec4; 2]) -> [Vec4; 2] {
        [pair[0] + pair[1]; 2]
    }

    #[inline(always)]
    fn signed(self, a: [Vec4; 2], b: [Vec4; 2]) -> [Vec4; 2] {
        [a[0].copysign(b[0]), a[1].copysign(b[1])]
    }

    #[inline(always)]
    fn write_lane(self, a: Affine3A, b: &[Affine3A; 4], lane: usize, out: &mut Affine3A) {
        *out = self.of(a, b[lane]);
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

/// `a · b`, fused.
#[cfg_attr(any(target_arch = "aarch64", target_feature = "fma"), inline)]
#[cfg_attr(not(any(target_arch = "aarch64", target_feature = "fma")), inline(never))]
fn product(a: &Affine3A, b: &Affine3A) -> Affine3A {
    let [x, y, z, t] = [a.matrix3.x_axis, a.matrix3.y_axis, a.matrix3.z_axis, a.translation].map(row);
    let rest = |b: Vec3A, by_x: Vec4| fused(z, row(b).zzzz(), fused(y, row(b).yyyy(), by_x));
    let turned = |b: Vec3A| Vec3A::from_vec4(rest(b, x * row(b).xxxx()));
    Affine3A {
        matrix3: Mat3A::from_cols(turned(b.matrix3.x_axis), turned(b.matrix3.y_axis), turned(b.matrix3.z_axis)),
        translation: Vec3A::from_vec4(rest(b.translation, fused(x, row(b.translation).xxxx(), t))),
    }
}

#[inline(always)]
fn row(v: Vec3A) -> Vec4 {
    v.extend(0.0)
}

/// `a · b + c`, rounded once, by an instruction where every processor of the architecture has one.
#[cfg(any(target_arch = "aarch64", target_feature = "fma"))]
#[inline(always)]
fn fused(a: Vec4, b: Vec4, c: Vec4) -> Vec4 {
    a.mul_add(b, c)
}

/// `a · b + c`, rounded once: some ten times the work of two operations.
#[cfg(not(any(target_arch = "aarch64", target_feature = "fma")))]
#[inline(never)]
fn fused(a: Vec4, b: Vec4, c: Vec4) -> Vec4 {
    Vec4::new(
        fused_number(a.x, b.x, c.x),
        fused_number(a.y, b.y, c.y),
        fused_number(a.z, b.z, c.z),
        fused_number(a.w, b.w, c.w),
    )
}

/// `a · b + c`, rounded once. In twice the precision the product is exact. The sum is rounded to odd (Boldo
/// and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd"),
/// so that rounding it again is as good as rounding once.
#[cfg_attr(any(target_arch = "aarch64", target_feature = "fma"), allow(dead_code))]
#[inline]
fn fused_number(a: f32, b: f32, c: f32) -> f32 {
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    // What the sum lost (Knuth's two-sum).
    let of_c = sum - product;
    let lost = (product - (sum - of_c)) + (c - of_c);
    let bits = sum.to_bits();
    if lost == 0.0 || bits & 1 == 1 || !sum.is_finite() {
        return sum as f32;
    }
    let odd = if (lost > 0.0) == (sum > 0.0) { bits + 1 } else { bits - 1 };
    f64::from_bits(odd) as f32
}

impl Portable {
    /// Runs `work` in a function of its own. All that is inlined there has room on the stack by itself where
    /// nothing is optimised, and a caller of several such functions must not need the room of all.
    #[inline(never)]
    pub(crate) fn enter<R>(self, work: impl FnOnce(Self) -> R) -> R {
        work(self)
    }
}

/// Calls a method that takes a [`Product`] first with the best one there is.
macro_rules! dispatch {
    ($self:ident.$method:ident $(::<$($generic:ident),*>)? ($($argument:expr),*)) => {{
        #[cfg(target_arch = "x86_64")]
        if let Some(avx) = $crate::pose::product::avx::Avx::find() {
            return avx.enter(
                #[inline(always)]
                |avx| $self.$method $(::<_, $($generic),*>)? (avx, $($argument),*),
            );
        }
        $crate::pose::product::Portable.enter(
            #[inline(always)]
            |portable| $self.$method $(::<_, $($generic),*>)? (portable, $($argument),*),
        )
    }};
}
pub(crate) use dispatch;

#[cfg(test)]
thread_local! {
    static PORTABLY: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Does `work` with what every processor has.
#[cfg(test)]
pub(crate) fn portably<R>(work: impl FnOnce() -> R) -> R {
    PORTABLY.set(true);
    let done = work();
    PORTABLY.set(false);
    done
}

// Not where tests are compiled optimised: there LLVM 22 crashes over them, though not over what they test.
#[cfg(all(test, debug_assertions))]
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
            product.write_placed(product.place(b.translation), product.left(a), right, &mut matrix);
            numbers.extend(matrix.to_cols_array());
        }
        let elements = [Elements::new::<P, true>(product, row), Elements::new::<P, false>(product, row)];
        for locals in elements.map(|elements| product.locals(&elements)) {
            for lane in 0..4 {
                product.write_lane(product.left(a), &locals, lane, &mut affine);
                numbers.extend(affine.to_cols_array());
            }
        }
        let (x, y) = (product.pair(&[row.rotation.x, row.rotation.y]), product.both(row.rotation.z));
        let signed = product.signed(product.mul(x, x), y);
        for pair in [product.sub(x, y), product.mul(x, y), product.fused(x, y, x), product.total(x), signed] {
            numbers.extend(product.rows(pair).iter().flat_map(|row| row.to_array()));
        }
        let (a, b, c) = (row.rotation.x, row.rotation.y, row.rotation.z);
        for row in [product.fused_row(a, b, c), product.fused_less_row(a, b, c), product.less_fused_row(a, b, c)] {
            numbers.extend(row.to_array());
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
                let wide = bits(avx, &a, &b, &row);
                assert_eq!(wide, portable);
            }
            let expected = std::array::from_fn(|column| {
                let [x, y, z] = b.to_cols_array_2d()[column];
                let first = a.matrix3.x_axis * x;
                let columns = a.to_cols_array_2d();
                std::array::from_fn::<_, 3, _>(|i| {
                    let by_x = if column < 3 { first[i] } else { columns[0][i].mul_add(x, columns[3][i]) };
                    columns[2][i].mul_add(z, columns[1][i].mul_add(y, by_x))
                })
            });
            let expected = Mat4::from(Affine3A::from_cols_array_2d(&expected));
            assert_eq!(portable[..16], expected.to_cols_array().map(bits_of));
        }
    }

    #[test]
    fn a_fused_operation_made_of_several_rounds_once() {
        let mut random = fastrand::Rng::with_seed(9);
        let mut number = || match random.u32(..6) {
            0 => [0.0, -0.0, 1.0, -1.0, f32::MIN_POSITIVE, f32::MAX, f32::INFINITY, f32::NAN][random.usize(..8)],
            // Few digits: sums that lie halfway between two numbers, or all but.
            1 => (1.0 + random.u32(..8) as f32 * f32::EPSILON) * f32::powi(2.0, random.i32(-30..30)),
            2 => f32::from_bits(random.u32(..)),
            3 => f32::from_bits(random.u32(..1 << 24)),
            _ => random.f32() * 4.0 - 2.0,
        };
        for _ in 0..if cfg!(miri) { 1000 } else { 2_000_000 } {
            let [a, b, c] = [number(), number(), number()];
            assert_eq!(bits_of(fused_number(a, b, c)), bits_of(a.mul_add(b, c)), "{a:e} {b:e} {c:e}");
        }
    }
}
