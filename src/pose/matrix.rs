//! Products of 3×4 matrices, two columns at a time.
//!
//! Posing a character is mostly such products: one per joint for the hierarchy and one or two more
//! for its palettes.

use super::simd::Simd;
use crate::model::{SoaQuat, SoaTransform};
use glam::{Affine3A, Mat3A, Mat4, Vec3A, Vec4};

/// A matrix laid out as the left factor of a product: each column twice.
#[derive(Clone, Copy)]
pub(crate) struct Left<S: Simd> {
    x: S::Pair,
    y: S::Pair,
    z: S::Pair,
    /// −0, which changes nothing when it is added, and the translation.
    translation: S::Pair,
}

/// A matrix as the right factor of a product, or the product itself: the columns x and y, z and the
/// translation. The fourth element of each column is unspecified.
#[derive(Clone, Copy)]
pub(crate) struct Columns<S: Simd> {
    xy: S::Pair,
    zt: S::Pair,
}

/// The matrices `T · R · S` of four joints, laid out as right factors: one joint to a lane, and the
/// elements of two columns to a pair.
#[derive(Clone, Copy)]
pub(crate) struct Elements<S: Simd> {
    xy: [S::Pair; 3],
    zt: [S::Pair; 3],
}

impl<S: Simd> Left<S> {
    #[inline(always)]
    pub(crate) fn new(s: S, a: &Affine3A) -> Self {
        let [x, y, z, t] = s.columns(a);
        Self {
            x: s.both(x),
            y: s.both(y),
            z: s.both(z),
            // −0 rather than 0: adding 0 would turn −0 into +0, and an ordinary product has no such
            // sum.
            translation: s.pair(Vec4::splat(-0.0), t),
        }
    }

    /// `self · b`.
    #[inline(always)]
    pub(crate) fn times(self, s: S, Columns { xy, zt }: Columns<S>) -> Columns<S> {
        self.times_elements(
            s,
            [s.lane::<0>(xy), s.lane::<1>(xy), s.lane::<2>(xy)],
            [s.lane::<0>(zt), s.lane::<1>(zt), s.lane::<2>(zt)],
        )
    }

    /// `self · b`, where `b` is the matrix of the joint in lane 0 to 3.
    #[inline(always)]
    pub(crate) fn times_lane<const LANE: usize>(
        self,
        s: S,
        Elements { xy, zt }: &Elements<S>,
    ) -> Columns<S> {
        self.times_elements(
            s,
            [
                s.lane::<LANE>(xy[0]),
                s.lane::<LANE>(xy[1]),
                s.lane::<LANE>(xy[2]),
            ],
            [
                s.lane::<LANE>(zt[0]),
                s.lane::<LANE>(zt[1]),
                s.lane::<LANE>(zt[2]),
            ],
        )
    }

    #[inline(always)]
    fn times_elements(self, s: S, xy: [S::Pair; 3], zt: [S::Pair; 3]) -> Columns<S> {
        // The pair of z and the translation has a sum, whose −0 leaves the product with z as it is.
        let (by_x, and_moved) = (s.mul(self.x, xy[0]), s.fma(self.x, zt[0], self.translation));
        Columns {
            xy: s.fma(self.z, xy[2], s.fma(self.y, xy[1], by_x)),
            zt: s.fma(self.z, zt[2], s.fma(self.y, zt[1], and_moved)),
        }
    }
}

impl<S: Simd> Columns<S> {
    #[inline(always)]
    pub(crate) fn new(s: S, m: &Affine3A) -> Self {
        let [x, y, z, t] = s.columns(m);
        Self {
            xy: s.pair(x, y),
            zt: s.pair(z, t),
        }
    }

    /// With `offset` added to the translation.
    #[inline(always)]
    pub(crate) fn moved(self, s: S, offset: Vec3A) -> Self {
        Self {
            zt: s.add(self.zt, s.pair(Vec4::splat(-0.0), offset.extend(0.0))),
            ..self
        }
    }

    /// The same matrix as a left factor.
    #[inline(always)]
    pub(crate) fn to_left(self, s: S) -> Left<S> {
        let ([x, y], [z, t]) = (s.rows(self.xy), s.rows(self.zt));
        Left {
            x: s.both(x),
            y: s.both(y),
            z: s.both(z),
            translation: s.pair(Vec4::splat(-0.0), t),
        }
    }

    #[inline(always)]
    pub(crate) fn to_affine(self, s: S) -> Affine3A {
        let ([x, y], [z, t]) = (s.rows(self.xy), s.rows(self.zt));
        let matrix3 = Mat3A::from_cols(
            Vec3A::from_vec4(x),
            Vec3A::from_vec4(y),
            Vec3A::from_vec4(z),
        );
        Affine3A {
            matrix3,
            translation: Vec3A::from_vec4(t),
        }
    }

    /// Writes the matrix with the last row 0, 0, 0, 1, past the caches if `STREAM`.
    #[inline(always)]
    pub(crate) fn write<const STREAM: bool>(self, s: S, out: &mut Mat4) {
        s.write::<STREAM>(
            s.with_last(self.xy, [0.0, 0.0]),
            s.with_last(self.zt, [0.0, 1.0]),
            out,
        );
    }
}

impl<S: Simd> Elements<S> {
    /// Creates the matrices of four joints' transforms, whose rotations have unit length. If not
    /// `SCALE`, all scales are one.
    #[inline(always)]
    pub(crate) fn new<const SCALE: bool>(s: S, row: &SoaTransform) -> Self {
        let SoaTransform {
            translation: t,
            rotation: SoaQuat { x, y, z, w },
            scale,
        } = *row;
        let (x2, y2, z2) = (x + x, y + y, z + z);
        // Negated by the factor −2, which is exact and saves a backend its negated forms of FMA.
        let (nx2, ny2, nz2) = (x * -2.0, y * -2.0, z * -2.0);
        let (less_xx, less_yy) = (s.fma_row(x, nx2, Vec4::ONE), s.fma_row(y, ny2, Vec4::ONE));
        let mut x_axis = [
            s.fma_row(z, nz2, less_yy),
            s.fma_row(x, y2, w * z2),
            s.fma_row(x, z2, w * ny2),
        ];
        let mut y_axis = [
            s.fma_row(x, y2, w * nz2),
            s.fma_row(z, nz2, less_xx),
            s.fma_row(y, z2, w * x2),
        ];
        let mut z_axis = [
            s.fma_row(x, z2, w * y2),
            s.fma_row(y, z2, w * nx2),
            s.fma_row(y, ny2, less_xx),
        ];
        // `R · S` scales the columns of `R`, one axis each.
        if SCALE {
            for i in 0..3 {
                (x_axis[i], y_axis[i], z_axis[i]) = (
                    x_axis[i] * scale.x,
                    y_axis[i] * scale.y,
                    z_axis[i] * scale.z,
                );
            }
        }
        let [xx, xy, xz] = x_axis;
        let [yx, yy, yz] = y_axis;
        let [zx, zy, zz] = z_axis;
        // Each pair is read once per joint, so it is built once and kept.
        Self {
            xy: [
                s.kept_pair(xx, yx),
                s.kept_pair(xy, yy),
                s.kept_pair(xz, yz),
            ],
            zt: [
                s.kept_pair(zx, t.x),
                s.kept_pair(zy, t.y),
                s.kept_pair(zz, t.z),
            ],
        }
    }
}

// Debug builds only: LLVM 22 crashes on these tests when they are optimized, though not on the code they test.
#[cfg(all(test, debug_assertions))]
#[path = "tests/matrix.rs"]
mod tests;
