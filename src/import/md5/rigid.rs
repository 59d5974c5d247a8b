//! Rotation and translation in `f64`.

use crate::model::JointTransform;
use glam::{Affine3A, DAffine3, DQuat, DVec3, Vec3};

/// A rotation followed by a translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rigid {
    pub(super) rotation: DQuat,
    pub(super) translation: DVec3,
}

impl Rigid {
    pub(super) const IDENTITY: Self = Self {
        rotation: DQuat::IDENTITY,
        translation: DVec3::ZERO,
    };

    /// Creates it from a position and the x, y, z of a unit quaternion, as MD5 stores them.
    pub(super) fn from_md5(position: [f32; 3], orientation: [f32; 3]) -> Self {
        let [x, y, z] = orientation.map(f64::from);
        let rest = 1.0 - x * x - y * y - z * z;
        // Files don't store w, which is never positive. Rounding sometimes makes x² + y² + z² exceed one.
        let rotation = if rest >= 0.0 {
            DQuat::from_xyzw(x, y, z, -rest.sqrt())
        } else {
            DQuat::from_xyzw(x, y, z, -0.0).normalize()
        };
        Self {
            rotation,
            translation: Vec3::from(position).as_dvec3(),
        }
    }

    /// Returns the position and the x, y, z of the rotation, as MD5 stores them.
    pub(super) fn to_md5(self) -> [[f32; 3]; 2] {
        let rotation = self.rotation.normalize();
        // A quaternion and its negative are the same rotation. MD5 stores the one whose w isn't positive.
        let rotation = if rotation.w > 0.0 {
            -rotation
        } else {
            rotation
        };
        [self.translation.as_vec3().into(), rounded(rotation)]
    }

    /// Returns the rotation and translation of an affine map, without its scale and shear; identity if it has no
    /// rotation.
    pub(super) fn of_affine(affine: DAffine3) -> Self {
        let (_, rotation, translation) = affine.to_scale_rotation_translation();
        if !translation.is_finite() {
            return Self::IDENTITY;
        }
        let rotation = rotation.normalize();
        Self {
            rotation: if rotation.is_finite() {
                rotation
            } else {
                DQuat::IDENTITY
            },
            translation,
        }
    }

    pub(super) fn apply(&self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation
    }

    pub(super) fn inverse(&self) -> Self {
        let rotation = self.rotation.conjugate();
        Self {
            rotation,
            translation: rotation * -self.translation,
        }
    }

    /// Applies `other`, then `self`.
    pub(super) fn after(&self, other: &Self) -> Self {
        Self {
            // Normalized each time, because rounding would add up along a chain of joints.
            rotation: (self.rotation * other.rotation).normalize(),
            translation: self.apply(other.translation),
        }
    }

    pub(super) fn is_finite(&self) -> bool {
        self.rotation.is_finite() && self.translation.is_finite()
    }

    pub(super) fn to_transform(self) -> JointTransform {
        JointTransform::new(self.translation.as_vec3(), self.rotation.as_quat())
    }

    pub(super) fn to_affine(self) -> Affine3A {
        DAffine3::from_rotation_translation(self.rotation, self.translation).as_affine3a()
    }
}

/// Rounds x, y and z so that the w that readers compute from them is as close as possible. Near half a turn, where w is
/// next to 0, rounding each number on its own would turn a joint by up to 1e-3.
fn rounded(rotation: DQuat) -> [f32; 3] {
    let nearest: [f32; 3] = rotation.as_quat().xyz().into();
    // Far from half a turn, w hardly depends on the last digits.
    if rotation.w < -0.1 {
        return nearest;
    }
    let error = |xyz: [f32; 3]| (Rigid::from_md5([0.0; 3], xyz).rotation.w - rotation.w).abs();
    let [x, y, z] = nearest.map(|number| [number, number.next_down(), number.next_up()]);
    let mut best = (error(nearest), nearest);
    for i in 0..27 {
        let xyz = [x[i % 3], y[i / 3 % 3], z[i / 9]];
        let error = error(xyz);
        if error < best.0 {
            best = (error, xyz);
        }
    }
    best.1
}

/// Returns the matrix of a joint's transform.
pub(super) fn affine(transform: &JointTransform) -> DAffine3 {
    let JointTransform {
        translation,
        rotation,
        scale,
    } = *transform;
    let rotation = rotation.as_dquat().normalize();
    DAffine3::from_scale_rotation_translation(scale.as_dvec3(), rotation, translation.as_dvec3())
}

#[cfg(test)]
#[path = "tests/rigid.rs"]
mod tests;
