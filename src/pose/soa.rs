//! Arithmetic on structure-of-arrays rows: the same operation on four joints at once.
//!
//! Only additions, multiplications, divisions and square roots, each rounded by itself (no reciprocal
//! estimates), so every build on every machine gives the same bits. What is fused, [`product`](super::product)
//! does, with the same bits too.

use crate::model::{SoaQuat, SoaTransform, SoaVec3};
use glam::{BVec4A, Vec4};

impl SoaVec3 {
    pub(crate) const ZERO: Self = Self { x: Vec4::ZERO, y: Vec4::ZERO, z: Vec4::ZERO };
    pub(crate) const ONE: Self = Self { x: Vec4::ONE, y: Vec4::ONE, z: Vec4::ONE };

    /// `self + (to − self) · t`.
    #[inline(always)]
    pub(crate) fn lerp(self, to: Self, t: Vec4) -> Self {
        Self { x: self.x + (to.x - self.x) * t, y: self.y + (to.y - self.y) * t, z: self.z + (to.z - self.z) * t }
    }

    /// `self + other · weight`.
    #[inline(always)]
    pub(crate) fn add_scaled(self, other: Self, weight: Vec4) -> Self {
        Self { x: self.x + other.x * weight, y: self.y + other.y * weight, z: self.z + other.z * weight }
    }

    /// `self · weight`.
    #[inline(always)]
    pub(crate) fn scaled(self, weight: Vec4) -> Self {
        Self { x: self.x * weight, y: self.y * weight, z: self.z * weight }
    }

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
    pub(crate) const ZERO: Self = Self { x: Vec4::ZERO, y: Vec4::ZERO, z: Vec4::ZERO, w: Vec4::ZERO };

    #[inline(always)]
    pub(crate) fn dot(self, other: Self) -> Vec4 {
        // In the order of `Turns::dot`.
        (self.x * other.x + self.z * other.z) + (self.y * other.y + self.w * other.w)
    }

    /// `self + (to − self) · t`, not normalised and without a look at the hemisphere.
    #[inline(always)]
    pub(crate) fn lerp(self, to: Self, t: Vec4) -> Self {
        Self {
            x: self.x + (to.x - self.x) * t,
            y: self.y + (to.y - self.y) * t,
            z: self.z + (to.z - self.z) * t,
            w: self.w + (to.w - self.w) * t,
        }
    }

    #[inline(always)]
    pub(crate) fn add_scaled(self, other: Self, weight: Vec4) -> Self {
        Self {
            x: self.x + other.x * weight,
            y: self.y + other.y * weight,
            z: self.z + other.z * weight,
            w: self.w + other.w * weight,
        }
    }

    #[inline(always)]
    pub(crate) fn scaled(self, weight: Vec4) -> Self {
        Self { x: self.x * weight, y: self.y * weight, z: self.z * weight, w: self.w * weight }
    }

    /// Of unit length. Not for quaternions near zero.
    #[inline(always)]
    pub(crate) fn normalized(self) -> Self {
        self.scaled(Vec4::ONE / sqrt(self.dot(self)))
    }

    #[inline(always)]
    pub(crate) fn or(self, mask: BVec4A, other: Self) -> Self {
        Self {
            x: Vec4::select(mask, self.x, other.x),
            y: Vec4::select(mask, self.y, other.y),
            z: Vec4::select(mask, self.z, other.z),
            w: Vec4::select(mask, self.w, other.w),
        }
    }

    /// The way `t` from `self` to `to` by the short arc, of unit length (nlerp).
    #[inline(always)]
    pub(crate) fn nlerp(self, to: Self, t: Vec4) -> Self {
        let keep = Vec4::ONE - t;
        // The dot product's sign, put on the second weight, takes `to` into the hemisphere of `self`.
        self.scaled(keep).add_scaled(to, t * sign(self.dot(to))).normalized()
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

    /// The way `t` (0..=1) to `to`: translation and scale straight, rotation by the short arc.
    #[inline(always)]
    pub(crate) fn mix(self, to: Self, t: Vec4) -> Self {
        Self {
            translation: self.translation.lerp(to.translation, t),
            rotation: self.rotation.nlerp(to.rotation, t),
            scale: self.scale.lerp(to.scale, t),
        }
    }
}

/// Square root of each lane, for lanes ≥ 0.
#[inline(always)]
pub(crate) fn sqrt(v: Vec4) -> Vec4 {
    Vec4::new(v.x.sqrt(), v.y.sqrt(), v.z.sqrt(), v.w.sqrt())
}

/// 1 with the sign of each lane; 1 for both zeros.
#[inline(always)]
pub(crate) fn sign(v: Vec4) -> Vec4 {
    // Adding +0 turns −0 into +0, so a product with an empty sum never flips.
    Vec4::ONE.copysign(v + Vec4::ZERO)
}
