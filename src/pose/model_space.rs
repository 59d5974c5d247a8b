//! From joints relative to their parents to joints in model space.

use super::product::{self, Product};
use crate::model::{JointIndex, SoaQuat, SoaTransform};
use glam::{Affine3A, Mat3A, Mat4, Vec3A, Vec4};

/// Multiplies local transforms down the hierarchy, in one forward loop over joints parents first.
#[derive(Clone, Copy, Debug)]
pub struct LocalToModel<'a> {
    /// Each joint's parent, which comes before it; `None` for roots.
    pub parents: &'a [Option<JointIndex>],
    /// Transforms relative to the parents: `parents.len().div_ceil(4)` rows.
    pub local: &'a [SoaTransform],
    /// What the roots hang from; `None` is model space itself. The character's world matrix here
    /// gives world space matrices at no further cost.
    pub root: Option<&'a Affine3A>,
}

impl LocalToModel<'_> {
    /// Writes the 3×4 matrix of each joint to `out`, as many as there are parents.
    ///
    /// # Panics
    /// If `out` or `local` is too short, or a parent is not among the joints.
    pub fn run(&self, out: &mut [Affine3A]) {
        self.run_from(0, out);
    }

    /// Like [`Self::run`], for the joints from `first` on; `out` holds those before it.
    ///
    /// After a change to one joint's local transform only it and its descendants differ, and they
    /// come after it.
    ///
    /// # Panics
    /// As [`Self::run`].
    pub fn run_from(&self, first: usize, out: &mut [Affine3A]) {
        product::dispatch!(self.run_with(first, out));
    }

    #[inline(always)]
    fn run_with<P: Product>(&self, product: P, first: usize, out: &mut [Affine3A]) {
        let count = self.parents.len();
        let out = &mut out[..count];
        let rows = &self.local[..count.div_ceil(4)];
        for (row, local) in rows.iter().enumerate().skip(first / 4) {
            let locals = matrices(local);
            for (lane, local) in locals.iter().enumerate() {
                let joint = row * 4 + lane;
                if joint < first || joint >= count {
                    continue;
                }
                let parent = self.parents[joint];
                debug_assert!(parent.is_none_or(|p| usize::from(p) < joint), "joint {joint} comes before its parent");
                out[joint] = match (parent, self.root) {
                    (Some(parent), _) => product.of(&out[usize::from(parent)], local),
                    (None, Some(root)) => product.of(root, local),
                    (None, None) => *local,
                };
            }
        }
    }
}

/// The matrices `T · R · S` of four joints. Rotations are of unit length.
#[inline(always)]
fn matrices(row: &SoaTransform) -> [Affine3A; 4] {
    let SoaQuat { x, y, z, w } = row.rotation;
    let s = row.scale;
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (xx, xy, xz) = (x * x2, x * y2, x * z2);
    let (yy, yz, zz) = (y * y2, y * z2, z * z2);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    let one = Vec4::ONE;
    let x_axis = transposed((one - (yy + zz)) * s.x, (xy + wz) * s.x, (xz - wy) * s.x);
    let y_axis = transposed((xy - wz) * s.y, (one - (xx + zz)) * s.y, (yz + wx) * s.y);
    let z_axis = transposed((xz + wy) * s.z, (yz - wx) * s.z, (one - (xx + yy)) * s.z);
    let translation = transposed(row.translation.x, row.translation.y, row.translation.z);
    [0, 1, 2, 3].map(|lane| Affine3A {
        matrix3: Mat3A::from_cols(x_axis[lane], y_axis[lane], z_axis[lane]),
        translation: translation[lane],
    })
}

/// Four vectors from their x, y and z.
#[inline(always)]
fn transposed(x: Vec4, y: Vec4, z: Vec4) -> [Vec3A; 4] {
    let lanes = Mat4::from_cols(x, y, z, z).transpose();
    [lanes.x_axis, lanes.y_axis, lanes.z_axis, lanes.w_axis].map(Vec3A::from_vec4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JointTransform;
    use glam::{Quat, Vec3};

    fn local() -> Vec<JointTransform> {
        (0..7)
            .map(|i| JointTransform {
                translation: Vec3::new(i as f32, 1.0, -0.5),
                rotation: Quat::from_euler(glam::EulerRot::XYZ, 0.3 * i as f32, -0.7, 0.2),
                scale: Vec3::new(1.0, 1.5, 0.5 + 0.1 * i as f32),
            })
            .collect()
    }

    const PARENTS: [Option<JointIndex>; 7] = [None, Some(0), Some(1), Some(1), None, Some(4), Some(3)];

    fn run(root: Option<&Affine3A>) -> Vec<Affine3A> {
        let mut out = vec![Affine3A::NAN; 9];
        LocalToModel { parents: &PARENTS, local: &SoaTransform::rows(&local()), root }.run(&mut out);
        assert!(out[7..].iter().all(|m| m.is_nan()), "past the last joint nothing is written");
        out.truncate(7);
        out
    }

    #[test]
    fn each_joint_is_its_parent_times_its_own_transform() {
        let root = Affine3A::from_rotation_y(0.5) * Affine3A::from_translation(Vec3::Z);
        for root in [None, Some(&root)] {
            let out = run(root);
            for (joint, transform) in local().into_iter().enumerate() {
                let above = PARENTS[joint].map_or(root.copied().unwrap_or_default(), |p| out[usize::from(p)]);
                assert!(out[joint].abs_diff_eq(above * transform.to_affine(), 1e-5), "{joint}");
            }
        }
    }

    #[test]
    fn from_a_joint_on_only_what_follows_is_written() {
        let whole = run(None);
        let rows = SoaTransform::rows(&local());
        for first in 0..=7 {
            let mut out = whole.clone();
            out[first..].fill(Affine3A::NAN);
            LocalToModel { parents: &PARENTS, local: &rows, root: None }.run_from(first, &mut out);
            assert_eq!(out, whole);
        }
    }

    #[test]
    fn no_joints_are_no_work() {
        LocalToModel { parents: &[], local: &[], root: None }.run(&mut []);
    }
}
