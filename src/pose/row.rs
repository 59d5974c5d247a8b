//! A row of a pose as a [`Product`] reckons with it: two rows of numbers to a vector where there are
//! such vectors.

use super::product::Product;
use super::soa::{sqrt, toward};
use crate::model::{SoaQuat, SoaTransform, SoaVec3};
use glam::{BVec4A, Vec4};

/// The transforms of four joints. Where not `SCALE`, every scale is one, and none is looked at.
#[derive(Clone, Copy)]
pub(crate) struct Row<P: Product, const SCALE: bool> {
    pub(crate) translation: Vectors<P>,
    pub(crate) rotation: Turns<P>,
    pub(crate) scale: Vectors<P>,
}

impl<P: Product, const SCALE: bool> Row<P, SCALE> {
    #[inline(always)]
    pub(crate) fn read(p: P, row: &SoaTransform) -> Self {
        let SoaTransform { translation: t, rotation: r, scale: s } = row;
        Self {
            translation: Vectors::read(p, &[t.x, t.y, t.z]),
            rotation: Turns::read(p, &[r.x, r.y, r.z, r.w]),
            scale: if SCALE { Vectors::read(p, &[s.x, s.y, s.z]) } else { Vectors::one(p) },
        }
    }

    #[inline(always)]
    pub(crate) fn transform(self, p: P) -> SoaTransform {
        SoaTransform {
            translation: self.translation.vec3(p),
            rotation: self.rotation.quat(p),
            scale: if SCALE { self.scale.vec3(p) } else { SoaVec3::ONE },
        }
    }

    #[inline(always)]
    pub(crate) fn zero(p: P) -> Self {
        let zero = p.both(Vec4::ZERO);
        let vectors = Vectors { xy: zero, z: Vec4::ZERO };
        Self { translation: vectors, rotation: Turns { xy: zero, zw: zero }, scale: vectors }
    }

    /// Everything by `weight`, but the rotations by `turn`.
    #[inline(always)]
    pub(crate) fn weighted(self, p: P, weight: Vec4, turn: Vec4) -> Self {
        let translation = self.translation.scaled(p, weight);
        let scale = if SCALE { self.scale.scaled(p, weight) } else { self.scale };
        Self { translation, rotation: self.rotation.scaled(p, turn), scale }
    }

    /// With `other` added, weighted as by [`Self::weighted`].
    #[inline(always)]
    pub(crate) fn plus_weighted(self, p: P, other: Self, weight: Vec4, turn: Vec4) -> Self {
        let translation = self.translation.plus_scaled(p, other.translation, weight);
        let scale = if SCALE { self.scale.plus_scaled(p, other.scale, weight) } else { self.scale };
        Self { translation, rotation: self.rotation.plus_scaled(p, other.rotation, turn), scale }
    }
}

impl<P: Product, const SCALE: bool> Row<P, SCALE> {
    /// The mean of two by weights that come to one: rotations by the short arc, of any length, and not normalised.
    /// And the square of what rotations of unit length would have been multiplied by.
    #[inline(always)]
    pub(crate) fn mix(self, p: P, weight: Vec4, other: Self, other_weight: Vec4) -> (Self, Vec4) {
        // wa · a/|a| ± wb · b/|b|, times |a| |b|²: one root instead of two, and no division.
        let (a, b) = (self.rotation, other.rotation);
        let (aa, bb) = (a.dot(p, a), b.dot(p, b));
        let (turn, other_turn) = (weight * bb, toward(other_weight * sqrt(aa * bb), a.dot(p, b)));
        (self.weighted(p, weight, turn).plus_weighted(p, other, other_weight, other_turn), aa * bb * bb)
    }

    /// With `other` added by `weight`; rotations by `turn` ≥ 0, in the hemisphere of `self`.
    #[inline(always)]
    pub(crate) fn plus_turned(self, p: P, other: Self, weight: Vec4, turn: Vec4) -> Self {
        let translation = self.translation.plus_scaled(p, other.translation, weight);
        let scale = if SCALE { self.scale.plus_scaled(p, other.scale, weight) } else { self.scale };
        let (a, b) = (self.rotation, other.rotation);
        // In pairs all the way, for each layer waits for the one before it.
        let dot = p.total(p.fused(a.zw, b.zw, p.mul(a.xy, b.xy)));
        let turn = p.signed(p.both(turn), dot);
        let rotation = Turns { xy: p.fused(b.xy, turn, a.xy), zw: p.fused(b.zw, turn, a.zw) };
        Self { translation, rotation, scale }
    }

    /// `self` in the lanes of `mask`, `other` in the rest.
    #[inline(always)]
    pub(crate) fn or(self, p: P, mask: BVec4A, other: Self) -> Self {
        Self::read(p, &self.transform(p).or(mask, &other.transform(p)))
    }
}

/// Vectors of four joints: a pair of rows and a row.
#[derive(Clone, Copy)]
pub(crate) struct Vectors<P: Product> {
    xy: P::Pair,
    z: Vec4,
}

impl<P: Product> Vectors<P> {
    /// Of the rows x, y, z.
    #[inline(always)]
    pub(crate) fn read(p: P, &[x, y, z]: &[Vec4; 3]) -> Self {
        Self { xy: p.pair(&[x, y]), z }
    }

    #[inline(always)]
    pub(crate) fn one(p: P) -> Self {
        Self { xy: p.both(Vec4::ONE), z: Vec4::ONE }
    }

    /// The way `t` to `other`.
    #[inline(always)]
    pub(crate) fn lerp(self, p: P, other: Self, t: Vec4) -> Self {
        self.plus_scaled(p, Self { xy: p.sub(other.xy, self.xy), z: other.z - self.z }, t)
    }

    #[inline(always)]
    pub(crate) fn scaled(self, p: P, by: Vec4) -> Self {
        Self { xy: p.mul(self.xy, p.both(by)), z: self.z * by }
    }

    /// `self + other · by`.
    #[inline(always)]
    pub(crate) fn plus_scaled(self, p: P, other: Self, by: Vec4) -> Self {
        Self { xy: p.fused(other.xy, p.both(by), self.xy), z: p.fused_row(other.z, by, self.z) }
    }

    /// Element by element.
    #[inline(always)]
    pub(crate) fn times(self, p: P, other: Self) -> Self {
        Self { xy: p.mul(self.xy, other.xy), z: self.z * other.z }
    }

    #[inline(always)]
    pub(crate) fn vec3(self, p: P) -> SoaVec3 {
        let [x, y] = p.rows(self.xy);
        SoaVec3 { x, y, z: self.z }
    }
}

/// The quaternions of four joints in two pairs of rows.
#[derive(Clone, Copy)]
pub(crate) struct Turns<P: Product> {
    xy: P::Pair,
    zw: P::Pair,
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
        self.plus_scaled(p, Self { xy: p.sub(other.xy, self.xy), zw: p.sub(other.zw, self.zw) }, t)
    }

    #[inline(always)]
    pub(crate) fn dot(self, p: P, other: Self) -> Vec4 {
        let [a, b] = p.rows(p.fused(self.zw, other.zw, p.mul(self.xy, other.xy)));
        a + b
    }

    #[inline(always)]
    pub(crate) fn scaled(self, p: P, by: Vec4) -> Self {
        let by = p.both(by);
        Self { xy: p.mul(self.xy, by), zw: p.mul(self.zw, by) }
    }

    /// `self + other · by`.
    #[inline(always)]
    pub(crate) fn plus_scaled(self, p: P, other: Self, by: Vec4) -> Self {
        let by = p.both(by);
        Self { xy: p.fused(other.xy, by, self.xy), zw: p.fused(other.zw, by, self.zw) }
    }

    /// Of unit length. Not for quaternions near zero.
    #[inline(always)]
    pub(crate) fn normalized(self, p: P) -> Self {
        self.scaled(p, Vec4::ONE / sqrt(self.dot(p, self)))
    }

    #[inline(always)]
    pub(crate) fn quat(self, p: P) -> SoaQuat {
        let ([x, y], [z, w]) = (p.rows(self.xy), p.rows(self.zw));
        SoaQuat { x, y, z, w }
    }
}
