//! Four joints' transforms in the registers of a [`Simd`] backend, two rows of numbers to a register.

use super::rotations::Rotations;
use super::simd::Simd;
use super::soa::{sqrt, toward};
use crate::model::{SoaQuat, SoaTransform, SoaVec3};
use glam::Vec4;

/// The transforms of four joints. If not `SCALE`, all scales are one and never read.
#[derive(Clone, Copy)]
pub(crate) struct PackedTransforms<S: Simd, const SCALE: bool> {
    pub(crate) translation: Vectors4<S>,
    pub(crate) rotation: Quats4<S>,
    pub(crate) scale: Vectors4<S>,
}

/// Four vectors: x and y in a pair, z in a row.
#[derive(Clone, Copy)]
pub(crate) struct Vectors4<S: Simd> {
    pub(super) xy: S::Pair,
    pub(super) z: Vec4,
}

/// Four quaternions in two pairs.
#[derive(Clone, Copy)]
pub(crate) struct Quats4<S: Simd> {
    pub(super) xy: S::Pair,
    pub(super) zw: S::Pair,
}

impl<S: Simd, const SCALE: bool> PackedTransforms<S, SCALE> {
    #[inline(always)]
    pub(crate) fn read(s: S, row: &SoaTransform) -> Self {
        let SoaTransform {
            translation: t,
            rotation: r,
            scale,
        } = row;
        Self {
            translation: Vectors4::read(s, &[t.x, t.y, t.z]),
            rotation: Quats4::read(s, &[r.x, r.y, r.z, r.w]),
            scale: if SCALE {
                Vectors4::read(s, &[scale.x, scale.y, scale.z])
            } else {
                Vectors4::one(s)
            },
        }
    }

    #[inline(always)]
    pub(crate) fn to_row(self, s: S) -> SoaTransform {
        SoaTransform {
            translation: self.translation.to_soa(s),
            rotation: self.rotation.to_soa(s),
            scale: if SCALE {
                self.scale.to_soa(s)
            } else {
                SoaVec3::ONE
            },
        }
    }

    /// `self + other · weight`, with rotations scaled to the root of `square`.
    #[inline(always)]
    pub(crate) fn plus(self, s: S, other: Self, weight: Vec4, square: Vec4) -> Self {
        let translation = self.translation.plus(s, other.translation, weight);
        let scale = if SCALE {
            self.scale.plus(s, other.scale, weight)
        } else {
            self.scale
        };
        Self {
            translation,
            rotation: self.rotation.with(s, other.rotation, weight, square),
            scale,
        }
    }

    /// The mean of two by weights that sum to one, and the square of the factor by which [rotations](Rotations::mix) grow.
    #[inline(always)]
    pub(crate) fn mix(self, s: S, weight: Vec4, other: Self, other_weight: Vec4) -> (Self, Vec4) {
        let (rotation, square) = (self.rotation).mix(s, weight, other.rotation, other_weight);
        let translation = self.translation.times(s, weight);
        let scale = if SCALE {
            let scale = self.scale.times(s, weight);
            scale.plus(s, other.scale, other_weight)
        } else {
            self.scale
        };
        let mean = Self {
            translation: translation.plus(s, other.translation, other_weight),
            rotation,
            scale,
        };
        (mean, square)
    }

    /// `self` with the differences `delta` added, by a weight ≥ 0 per joint.
    #[inline(always)]
    pub(crate) fn plus_difference(self, s: S, delta: Self, weight: Vec4) -> Self {
        // 1 − w + w · Δr/|Δr|, times |Δr|. Never zero: its real part is at least 1 − w, and only reaches 0 when
        // x, y, z remain.
        let length = sqrt(delta.rotation.dot(s, delta.rotation));
        let SoaQuat { x, y, z, w } = delta.rotation.to_soa(s);
        let turn = toward(weight, w);
        let turn = SoaQuat {
            x: x * turn,
            y: y * turn,
            z: z * turn,
            w: w * turn + (Vec4::ONE - weight) * length,
        };
        let SoaQuat { x, y, z, w } = self.rotation.to_soa(s).mul(turn);
        Self {
            translation: self.translation.plus(s, delta.translation, weight),
            rotation: Quats4::read(s, &[x, y, z, w]).normalized(s),
            scale: match SCALE {
                true => self
                    .scale
                    .mul(s, Vectors4::one(s).lerp(s, delta.scale, weight)),
                false => self.scale,
            },
        }
    }

    /// `self` in the lanes where `condition` > 0, `other` in the rest.
    #[inline(always)]
    pub(crate) fn or(self, s: S, condition: Vec4, other: Self) -> Self {
        Self::read(s, &self.to_row(s).or(condition, &other.to_row(s)))
    }
}

impl<S: Simd> Vectors4<S> {
    /// From the rows x, y, z.
    #[inline(always)]
    pub(crate) fn read(s: S, &[x, y, z]: &[Vec4; 3]) -> Self {
        Self {
            xy: s.pair(x, y),
            z,
        }
    }

    #[inline(always)]
    pub(crate) fn one(s: S) -> Self {
        Self {
            xy: s.both(Vec4::ONE),
            z: Vec4::ONE,
        }
    }

    #[inline(always)]
    pub(crate) fn lerp(self, s: S, other: Self, t: Vec4) -> Self {
        self.plus(
            s,
            Self {
                xy: s.sub(other.xy, self.xy),
                z: other.z - self.z,
            },
            t,
        )
    }

    #[inline(always)]
    pub(crate) fn times(self, s: S, factor: Vec4) -> Self {
        Self {
            xy: s.mul(self.xy, s.both(factor)),
            z: self.z * factor,
        }
    }

    /// `self + other · factor`.
    #[inline(always)]
    pub(crate) fn plus(self, s: S, other: Self, factor: Vec4) -> Self {
        Self {
            xy: s.fma(other.xy, s.both(factor), self.xy),
            z: s.fma_row(other.z, factor, self.z),
        }
    }

    /// Element by element.
    #[inline(always)]
    pub(crate) fn mul(self, s: S, other: Self) -> Self {
        Self {
            xy: s.mul(self.xy, other.xy),
            z: self.z * other.z,
        }
    }

    #[inline(always)]
    pub(crate) fn to_soa(self, s: S) -> SoaVec3 {
        let [x, y] = s.rows(self.xy);
        SoaVec3 { x, y, z: self.z }
    }
}

impl<S: Simd> Quats4<S> {
    /// From the rows x, y, z, w.
    #[inline(always)]
    pub(crate) fn read(s: S, &[x, y, z, w]: &[Vec4; 4]) -> Self {
        Self {
            xy: s.pair(x, y),
            zw: s.pair(z, w),
        }
    }

    /// Element by element, without regard to hemispheres.
    #[inline(always)]
    pub(crate) fn lerp(self, s: S, other: Self, t: Vec4) -> Self {
        self.plus(
            s,
            Self {
                xy: s.sub(other.xy, self.xy),
                zw: s.sub(other.zw, self.zw),
            },
            t,
        )
    }

    #[inline(always)]
    pub(crate) fn to_soa(self, s: S) -> SoaQuat {
        let ([x, y], [z, w]) = (s.rows(self.xy), s.rows(self.zw));
        SoaQuat { x, y, z, w }
    }
}

impl<S: Simd> Rotations<S> for Quats4<S> {
    type Number = Vec4;

    #[inline(always)]
    fn dot(self, s: S, other: Self) -> Vec4 {
        let [a, b] = s.rows(s.fma(self.zw, other.zw, s.mul(self.xy, other.xy)));
        a + b
    }

    #[inline(always)]
    fn times(self, s: S, factor: Vec4) -> Self {
        let factor = s.both(factor);
        Self {
            xy: s.mul(self.xy, factor),
            zw: s.mul(self.zw, factor),
        }
    }

    #[inline(always)]
    fn plus(self, s: S, other: Self, factor: Vec4) -> Self {
        let factor = s.both(factor);
        Self {
            xy: s.fma(other.xy, factor, self.xy),
            zw: s.fma(other.zw, factor, self.zw),
        }
    }

    #[inline(always)]
    fn one(_: S) -> Vec4 {
        Vec4::ONE
    }

    #[inline(always)]
    fn product(_: S, a: Vec4, b: Vec4) -> Vec4 {
        a * b
    }

    #[inline(always)]
    fn ratio(_: S, a: Vec4, b: Vec4) -> Vec4 {
        a / b
    }

    #[inline(always)]
    fn root(_: S, a: Vec4) -> Vec4 {
        sqrt(a)
    }

    #[inline(always)]
    fn toward(_: S, weight: Vec4, dot: Vec4) -> Vec4 {
        toward(weight, dot)
    }
}
