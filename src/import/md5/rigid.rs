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
mod tests {
    use super::*;

    #[test]
    fn the_missing_w_is_not_positive_and_what_is_written_reads_back() {
        let sixty = DQuat::from_rotation_z(1.0);
        for rotation in [sixty, -sixty] {
            let [position, orientation] = Rigid {
                rotation,
                translation: DVec3::X,
            }
            .to_md5();
            let read = Rigid::from_md5(position, orientation);
            assert!(read.rotation.w < 0.0);
            assert!(read.rotation.dot(sixty).abs() > 1.0 - 1e-12);
            assert_eq!(read.translation, DVec3::X);
        }
        // Longer than unit length.
        let over = Rigid::from_md5([0.0; 3], [0.6, 0.8, 0.01]);
        assert!(over.rotation.is_normalized() && over.rotation.w == 0.0);
    }

    #[test]
    fn half_turns_are_written_so_that_the_missing_w_is_close() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut worst: f64 = 0.0;
        for i in 0..2000 {
            let [x, y, z] = [(); 3].map(|()| random.f64() - 0.5);
            let w = if i % 2 == 0 {
                0.0
            } else {
                -0.05 * random.f64()
            };
            let rotation = DQuat::from_xyzw(x, y, z, w).normalize();
            let [position, orientation] = Rigid {
                rotation,
                translation: DVec3::ZERO,
            }
            .to_md5();
            worst = worst.max(
                Rigid::from_md5(position, orientation)
                    .rotation
                    .angle_between(rotation),
            );
        }
        assert!(worst < 1e-4, "{worst}");
        let half = DQuat::from_xyzw(0.5f64.sqrt(), 0.5f64.sqrt(), 0.0, 0.0);
        let [_, orientation] = Rigid {
            rotation: half,
            translation: DVec3::ZERO,
        }
        .to_md5();
        assert!(
            Rigid::from_md5([0.0; 3], orientation).rotation.w > -1e-6,
            "{orientation:?}"
        );
    }

    #[test]
    fn the_inverse_undoes_a_product() {
        let a = Rigid::from_md5([1.0, 2.0, 3.0], [0.1, -0.2, 0.3]);
        let b = Rigid::from_md5([-4.0, 0.0, 1.0], [0.5, 0.5, 0.5]);
        let point = DVec3::new(0.3, -7.0, 2.0);
        let there = a.after(&b).apply(point);
        assert!((there - a.apply(b.apply(point))).length() < 1e-12);
        assert!((a.after(&b).inverse().apply(there) - point).length() < 1e-12);
    }
}
