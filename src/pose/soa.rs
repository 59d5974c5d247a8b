//! Arithmetic on structure-of-arrays rows: the same operation on four joints at once.
//!
//! Only additions, multiplications, divisions and square roots, each rounded by itself (no reciprocal
//! estimates), so every build on every machine gives the same bits. What is fused, [`product`](super::product)
//! does, with the same bits too.

use crate::model::{SoaQuat, SoaTransform, SoaVec3};
use glam::{BVec4A, Vec4};

impl SoaVec3 {
    pub(crate) const ONE: Self = Self { x: Vec4::ONE, y: Vec4::ONE, z: Vec4::ONE };

    /// `self` in the lanes of `mask`, `other` in the rest.
    #[inline(always)]
    pub(crate) fn or(self, mask: BVec4A, other: Self) -> Self {
        Self {
            x: Vec4::select(mask, self.x, other.x),
            y: Vec4::select(mask, self.y, other.y),
            z: Vec4::select(mask, self.z, other.z),
        }
    }
}

impl SoaQuat {
    /// `self` in the lanes of `mask`, `other` in the rest.
    #[inline(always)]
    pub(crate) fn or(self, mask: BVec4A, other: Self) -> Self {
        Self {
            x: Vec4::select(mask, self.x, other.x),
            y: Vec4::select(mask, self.y, other.y),
            z: Vec4::select(mask, self.z, other.z),
            w: Vec4::select(mask, self.w, other.w),
        }
    }

    /// The Hamilton product `self · other`: `other` first, then `self`.
    #[inline(always)]
    pub(crate) fn mul(self, o: Self) -> Self {
        Self {
            x: self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
            y: self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
            z: self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w,
            w: self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
        }
    }
}

impl SoaTransform {
    /// `self` in the lanes of `mask`, `other` in the rest.
    #[inline(always)]
    pub(crate) fn or(self, mask: BVec4A, other: &Self) -> Self {
        Self {
            translation: self.translation.or(mask, other.translation),
            rotation: self.rotation.or(mask, other.rotation),
            scale: self.scale.or(mask, other.scale),
        }
    }
}

/// Square root of each lane, for lanes ≥ 0.
#[inline(always)]
pub(crate) fn sqrt(v: Vec4) -> Vec4 {
    Vec4::new(v.x.sqrt(), v.y.sqrt(), v.z.sqrt(), v.w.sqrt())
}

/// `turn` ≥ 0 with the sign of `dot`: a quaternion times that lies in the hemisphere that `dot` looks at.
#[inline(always)]
pub(crate) fn toward(turn: Vec4, dot: Vec4) -> Vec4 {
    // Adding +0 turns −0 into +0, so a product with an empty sum never flips.
    turn.copysign(dot + Vec4::ZERO)
}
