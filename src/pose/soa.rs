//! Arithmetic on rows of four joints.
//!
//! Only sums, products, quotients and square roots, each correctly rounded (no reciprocal estimates),
//! so every build on every machine returns the same bits.

use crate::model::{SoaQuat, SoaTransform, SoaVec3};
use glam::Vec4;

impl SoaVec3 {
    pub(crate) const ONE: Self = Self {
        x: Vec4::ONE,
        y: Vec4::ONE,
        z: Vec4::ONE,
    };
}

impl SoaQuat {
    /// The Hamilton product `self · other`: `other` is applied first.
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
    /// Returns the difference from `reference` to `self`, as
    /// [`JointTransform::difference_to`](crate::model::JointTransform::difference_to) does, for
    /// rotations of any length.
    #[inline(always)]
    pub(crate) fn difference_to(&self, reference: &Self) -> Self {
        let (t, r, s) = (self.translation, self.rotation, self.scale);
        let (t0, r0, s0) = (reference.translation, reference.rotation, reference.scale);
        Self {
            translation: SoaVec3 {
                x: t.x - t0.x,
                y: t.y - t0.y,
                z: t.z - t0.z,
            },
            // The conjugate, which is the inverse of a unit rotation. For other lengths it differs
            // from the inverse by a positive factor, which disappears when the result is
            // normalized.
            rotation: SoaQuat {
                x: -r0.x,
                y: -r0.y,
                z: -r0.z,
                w: r0.w,
            }
            .mul(r),
            scale: SoaVec3 {
                x: ratio(s.x, s0.x),
                y: ratio(s.y, s0.y),
                z: ratio(s.z, s0.z),
            },
        }
    }

    /// `self` in the lanes where `condition` > 0, `other` in the rest.
    #[inline(always)]
    pub(crate) fn or(self, condition: Vec4, other: &Self) -> Self {
        let mask = condition.cmpgt(Vec4::ZERO);
        let or = |a, b| Vec4::select(mask, a, b);
        let (t, r, s) = (self.translation, self.rotation, self.scale);
        let (t0, r0, s0) = (other.translation, other.rotation, other.scale);
        Self {
            translation: SoaVec3 {
                x: or(t.x, t0.x),
                y: or(t.y, t0.y),
                z: or(t.z, t0.z),
            },
            rotation: SoaQuat {
                x: or(r.x, r0.x),
                y: or(r.y, r0.y),
                z: or(r.z, r0.z),
                w: or(r.w, r0.w),
            },
            scale: SoaVec3 {
                x: or(s.x, s0.x),
                y: or(s.y, s0.y),
                z: or(s.z, s0.z),
            },
        }
    }
}

/// `a / b`, or 1 where that is not finite.
#[inline(always)]
fn ratio(a: Vec4, b: Vec4) -> Vec4 {
    // A reference scale of 0 makes this infinite or NaN. A ratio of 1 then leaves the scale alone.
    let ratio = a / b;
    Vec4::select(ratio.is_finite_mask(), ratio, Vec4::ONE)
}

/// The square root of each lane, for lanes ≥ 0.
#[inline(always)]
pub(crate) fn sqrt(v: Vec4) -> Vec4 {
    Vec4::new(v.x.sqrt(), v.y.sqrt(), v.z.sqrt(), v.w.sqrt())
}

/// `weight` ≥ 0 with the sign of `dot`: adds a quaternion in the hemisphere of the one `dot` was taken with.
#[inline(always)]
pub(crate) fn toward(weight: Vec4, dot: Vec4) -> Vec4 {
    // Adding +0 turns −0 into +0, so a product with an empty sum never flips.
    weight.copysign(dot + Vec4::ZERO)
}
