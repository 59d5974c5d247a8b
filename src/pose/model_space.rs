//! From joints relative to their parents to joints in model space.

use super::product::{self, Elements, Product};
use crate::model::{JointIndex, SoaTransform};
use glam::Affine3A;

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
    /// Whether every scale of `local` is one: then none is looked at.
    pub unit_scale: bool,
}

impl LocalToModel<'_> {
    /// Writes the 3×4 matrix of each joint to `out`, as many as there are parents.
    ///
    /// # Panics
    /// If `out` or `local` is too short, or a parent does not come before its child.
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
        if self.unit_scale {
            self.multiply::<P, false>(product, first, out);
        } else {
            self.multiply::<P, true>(product, first, out);
        }
    }

    #[inline(always)]
    fn multiply<P: Product, const SCALE: bool>(&self, product: P, first: usize, out: &mut [Affine3A]) {
        let count = self.parents.len();
        let out = &mut out[..count];
        let rows = &self.local[..count.div_ceil(4)];
        for (row, local) in rows.iter().enumerate().skip(first / 4) {
            let locals = product.locals(&Elements::new::<P, SCALE>(product, local));
            for lane in 0..4 {
                let joint = row * 4 + lane;
                if joint < first || joint >= count {
                    continue;
                }
                let (done, rest) = out.split_at_mut(joint);
                let above = match self.parents[joint] {
                    Some(parent) => &done[usize::from(parent)],
                    None => self.root.unwrap_or(&Affine3A::IDENTITY),
                };
                product.write_lane(product.left(above), &locals, lane, &mut rest[0]);
            }
        }
    }
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
        LocalToModel { parents: &PARENTS, local: &SoaTransform::rows(&local()), root, unit_scale: false }.run(&mut out);
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
            LocalToModel { parents: &PARENTS, local: &rows, root: None, unit_scale: false }.run_from(first, &mut out);
            assert_eq!(out, whole);
        }
    }

    #[test]
    fn no_joints_are_no_work() {
        LocalToModel { parents: &[], local: &[], root: None, unit_scale: true }.run(&mut []);
    }
}
