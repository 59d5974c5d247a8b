//! Joints of eight characters at a time: each lane of a register belongs to another character.

use super::PoseBatch;
use crate::model::{JointIndex, SoaQuat, SoaTransform, SoaVec3};
use crate::pose::simd::Simd;
use glam::{Affine3A, Vec4};

/// A number in each lane.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct Lanes(pub(super) [Vec4; 2]);

/// A 3×4 matrix in each lane: the columns x, y, z and the translation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Matrices(pub(super) [[Lanes; 3]; 4]);

/// The transforms of four joints, each with a character in each lane. If not `SCALE`, all scales are one.
pub(super) struct Joints<S: Simd, const SCALE: bool> {
    pub(super) translation: [[S::Pair; 4]; 3],
    pub(super) rotation: [[S::Pair; 4]; 4],
    pub(super) scale: [[S::Pair; 4]; 3],
}

impl Matrices {
    /// A matrix for each lane.
    #[inline(always)]
    pub(super) fn new<S: Simd>(s: S, matrices: &[Affine3A; PoseBatch::MOST]) -> Self {
        let mut columns = [[Vec4::ZERO; 4]; PoseBatch::MOST];
        for lane in 0..PoseBatch::MOST {
            columns[lane] = s.columns(&matrices[lane]);
        }
        let mut out = Self::default();
        for (column, out) in out.0.iter_mut().enumerate() {
            // Lanes 0 to 3 are the first rows of pairs, and lanes 4 to 7 the second ones.
            let pair = |lane: usize| s.pair(columns[lane][column], columns[lane + 4][column]);
            let [x, y, z, _] = s.transposed([pair(0), pair(1), pair(2), pair(3)]);
            s.store(x, &mut out[0].0);
            s.store(y, &mut out[1].0);
            s.store(z, &mut out[2].0);
        }
        out
    }

    /// `self · b`, with the same `b` for all lanes.
    #[inline(always)]
    pub(super) fn times<S: Simd>(&self, s: S, b: &Affine3A) -> [[S::Pair; 3]; 4] {
        let mut product = [[s.both(Vec4::ZERO); 3]; 4];
        let columns = s.columns(b);
        for column in 0..4 {
            let b = columns[column];
            let [x, y, z] = [
                s.both(Vec4::splat(b.x)),
                s.both(Vec4::splat(b.y)),
                s.both(Vec4::splat(b.z)),
            ];
            product[column] = self.times_column(s, [x, y, z], column == 3);
        }
        product
    }

    /// A column of a product, or its translation: the operations of [`Left::times`](crate::pose::matrix::Left::times).
    #[inline(always)]
    fn times_column<S: Simd>(
        &self,
        s: S,
        [bx, by, bz]: [S::Pair; 3],
        translation: bool,
    ) -> [S::Pair; 3] {
        let Self([x, y, z, t]) = self;
        let mut out = [bx; 3];
        for i in 0..3 {
            let x = s.load(&x[i].0);
            // Only the translation has a summand. A product with an added 0 would turn −0 into +0.
            let by_x = if translation {
                s.fma(x, bx, s.load(&t[i].0))
            } else {
                s.mul(x, bx)
            };
            out[i] = s.fma(s.load(&z[i].0), bz, s.fma(s.load(&y[i].0), by, by_x));
        }
        out
    }
}

impl<S: Simd, const SCALE: bool> Joints<S, SCALE> {
    #[inline(always)]
    pub(super) fn new(s: S, [a, b, c, d, e, f, g, h]: [&SoaTransform; PoseBatch::MOST]) -> Self {
        macro_rules! each {
            ($part:ident) => {
                [
                    &a.$part, &b.$part, &c.$part, &d.$part, &e.$part, &f.$part, &g.$part, &h.$part,
                ]
            };
        }
        let scale = if SCALE {
            vectors(s, each!(scale))
        } else {
            [[s.both(Vec4::ONE); 4]; 3]
        };
        Self {
            translation: vectors(s, each!(translation)),
            rotation: quats(s, each!(rotation)),
            scale,
        }
    }

    /// Multiplies a row of joints with the matrices of their parents.
    #[inline(always)]
    pub(super) fn solve(
        &self,
        s: S,
        row: usize,
        parents: &[Option<JointIndex>],
        roots: &Matrices,
        out: &mut [Matrices],
    ) {
        for (i, parent) in parents[row * 4..].iter().take(4).enumerate() {
            let (done, rest) = out.split_at_mut(row * 4 + i);
            let above = parent.map_or(roots, |parent| &done[usize::from(parent)]);
            let (columns, out) = (self.columns(s, i), &mut rest[0].0);
            for column in 0..4 {
                let product = above.times_column(s, columns[column], column == 3);
                for i in 0..3 {
                    s.store(product[i], &mut out[column][i].0);
                }
            }
        }
    }

    /// `T · R · S` of one of the joints: the operations of [`Elements::new`](crate::pose::matrix::Elements::new).
    #[inline(always)]
    fn columns(&self, s: S, joint: usize) -> [[S::Pair; 3]; 4] {
        let Self {
            translation: [tx, ty, tz],
            rotation: [x, y, z, w],
            scale,
        } = self;
        let (x, y, z, w) = (x[joint], y[joint], z[joint], w[joint]);
        let (one, minus_two) = (s.both(Vec4::ONE), s.both(Vec4::splat(-2.0)));
        let (x2, y2, z2) = (s.add(x, x), s.add(y, y), s.add(z, z));
        let (nx2, ny2, nz2) = (
            s.mul(x, minus_two),
            s.mul(y, minus_two),
            s.mul(z, minus_two),
        );
        // The diagonal is `1 − 2·(…)`. With negated factors, both differences are fused multiply-adds.
        let (less_xx, less_yy) = (s.fma(x, nx2, one), s.fma(y, ny2, one));
        let mut columns = [
            [
                s.fma(z, nz2, less_yy),
                s.fma(x, y2, s.mul(w, z2)),
                s.fma(x, z2, s.mul(w, ny2)),
            ],
            [
                s.fma(x, y2, s.mul(w, nz2)),
                s.fma(z, nz2, less_xx),
                s.fma(y, z2, s.mul(w, x2)),
            ],
            [
                s.fma(x, z2, s.mul(w, y2)),
                s.fma(y, z2, s.mul(w, nx2)),
                s.fma(y, ny2, less_xx),
            ],
            [tx[joint], ty[joint], tz[joint]],
        ];
        // Scales come last, as in `Elements::new`: another order would round differently.
        if SCALE {
            for (column, scale) in columns.iter_mut().zip(scale) {
                for element in column {
                    *element = s.mul(*element, scale[joint]);
                }
            }
        }
        columns
    }
}

/// From eight characters' numbers of four joints to four joints' numbers with a character in each lane.
macro_rules! by_joint {
    ($s:ident, [$a:ident, $b:ident, $c:ident, $d:ident, $e:ident, $f:ident, $g:ident, $h:ident], $of:ident) => {
        $s.transposed([
            $s.pair($a.$of, $e.$of),
            $s.pair($b.$of, $f.$of),
            $s.pair($c.$of, $g.$of),
            $s.pair($d.$of, $h.$of),
        ])
    };
}

#[inline(always)]
fn vectors<S: Simd>(
    s: S,
    [a, b, c, d, e, f, g, h]: [&SoaVec3; PoseBatch::MOST],
) -> [[S::Pair; 4]; 3] {
    [
        by_joint!(s, [a, b, c, d, e, f, g, h], x),
        by_joint!(s, [a, b, c, d, e, f, g, h], y),
        by_joint!(s, [a, b, c, d, e, f, g, h], z),
    ]
}

#[inline(always)]
fn quats<S: Simd>(
    s: S,
    [a, b, c, d, e, f, g, h]: [&SoaQuat; PoseBatch::MOST],
) -> [[S::Pair; 4]; 4] {
    [
        by_joint!(s, [a, b, c, d, e, f, g, h], x),
        by_joint!(s, [a, b, c, d, e, f, g, h], y),
        by_joint!(s, [a, b, c, d, e, f, g, h], z),
        by_joint!(s, [a, b, c, d, e, f, g, h], w),
    ]
}
