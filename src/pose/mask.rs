//! Masks: which joints a layer reaches, and how much.

use crate::model::{JointIndex, Skeleton};
use glam::Vec4;

/// A share in 0..=1 for every joint of a skeleton, in rows of four.
///
/// Every share is a finite number in that range; the lanes past the last joint are 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mask {
    rows: Vec<Vec4>,
    joints: usize,
}

impl Mask {
    /// 1 for each of `joints` joints.
    pub fn full(joints: usize) -> Self {
        Self::empty(joints).inverted()
    }

    /// 0 for each of `joints` joints.
    pub fn empty(joints: usize) -> Self {
        Self { rows: vec![Vec4::ZERO; joints.div_ceil(4)], joints }
    }

    /// 1 for the `roots` and all that hangs from them, fading out over the `falloff` joints above each.
    ///
    /// Going up from a root, the k-th joint (its parent is the first) has `1 − k / (falloff + 1)`;
    /// from `falloff + 1` on it is 0, and a falloff of 0 ends sharply at the roots. Joints that hang
    /// from a faded joint, but not from a root, stay 0. Where several roots reach a joint the largest
    /// share counts. Roots that the skeleton lacks are passed over.
    pub fn from_roots(skeleton: &Skeleton, roots: &[JointIndex], falloff: u32) -> Self {
        let mut mask = Self::empty(skeleton.len());
        for &root in roots.iter().filter(|&&root| usize::from(root) < skeleton.len()) {
            mask.set(usize::from(root), 1.0);
        }
        // Parents come first, so whole branches are filled in one pass.
        for (joint, parent) in skeleton.parents().iter().enumerate() {
            if parent.is_some_and(|parent| mask.get(usize::from(parent)) == 1.0) {
                mask.set(joint, 1.0);
            }
        }
        for &root in roots {
            let parent = |joint: JointIndex| skeleton.parents().get(usize::from(joint)).copied().flatten();
            let above = std::iter::successors(parent(root), |&joint| parent(joint));
            for (k, joint) in (1..=falloff).zip(above) {
                let share = 1.0 - k as f32 / (falloff as f32 + 1.0);
                let joint = usize::from(joint);
                mask.set(joint, share.max(mask.get(joint)));
            }
        }
        mask
    }

    /// A mask with a share for each joint; each is clamped to 0..=1, and 0 where not a number.
    pub fn from_weights(shares: impl IntoIterator<Item = f32>) -> Self {
        let mut mask = Self::default();
        for share in shares {
            if mask.joints.is_multiple_of(4) {
                mask.rows.push(Vec4::ZERO);
            }
            mask.joints += 1;
            mask.set(mask.joints - 1, share);
        }
        mask
    }

    /// One less each share.
    pub fn inverted(&self) -> Self {
        Self::from_weights((0..self.joints).map(|joint| 1.0 - self.get(joint)))
    }

    /// The shares in rows of four joints, as the jobs take them.
    pub fn rows(&self) -> &[Vec4] {
        &self.rows
    }

    /// Number of joints.
    pub fn len(&self) -> usize {
        self.joints
    }

    /// Whether the mask is for no joint at all.
    pub fn is_empty(&self) -> bool {
        self.joints == 0
    }

    /// A joint's share; 0 for a joint the mask does not have.
    pub fn get(&self, joint: usize) -> f32 {
        self.rows.get(joint / 4).map_or(0.0, |row| row[joint % 4])
    }

    /// Sets a joint's share, clamped to 0..=1, and to 0 where not a number. A joint the mask does not
    /// have is passed over.
    pub fn set(&mut self, joint: usize, share: f32) {
        if joint < self.joints {
            self.rows[joint / 4][joint % 4] = if share > 0.0 { share.min(1.0) } else { 0.0 };
        }
    }

    /// The joints with their shares, in order.
    pub fn iter(&self) -> impl Iterator<Item = f32> + '_ {
        (0..self.joints).map(|joint| self.get(joint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Joint, JointTransform};
    use glam::Affine3A;

    /// hips 0 → spine 1 → chest 2 → (head 3, arm 4 → hand 5); hips → leg 6
    fn skeleton() -> Skeleton {
        let joint = |parent| Joint {
            name: "".into(),
            parent,
            rest: JointTransform::IDENTITY,
            inverse_bind: Affine3A::IDENTITY,
        };
        let parents = [None, Some(0), Some(1), Some(2), Some(2), Some(4), Some(0)];
        Skeleton::new(parents.map(joint).to_vec()).unwrap()
    }

    fn shares(roots: &[JointIndex], falloff: u32) -> Vec<f32> {
        Mask::from_roots(&skeleton(), roots, falloff).iter().collect()
    }

    #[test]
    fn all_that_hangs_from_a_root_is_in() {
        assert_eq!(shares(&[2], 0), [0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
        assert_eq!(shares(&[3, 6], 0), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
        assert_eq!(shares(&[], 3), [0.0; 7]);
        assert_eq!(shares(&[77], 3), [0.0; 7]);
    }

    #[test]
    fn the_chain_above_a_root_fades_and_its_other_branches_stay_out() {
        assert_eq!(shares(&[2], 1), [0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 0.0]);
        assert_eq!(shares(&[4], 3), [0.25, 0.5, 0.75, 0.0, 1.0, 1.0, 0.0]);
        assert_eq!(shares(&[4], 1000).len(), 7, "a falloff past the root of the skeleton ends there");
    }

    #[test]
    fn of_several_roots_the_largest_share_counts() {
        assert_eq!(shares(&[5, 2], 2), [1.0 - 2.0 / 3.0, 1.0 - 1.0 / 3.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn shares_stay_in_range_and_an_inverted_mask_leaves_no_lane_past_the_end() {
        let mask = Mask::from_weights([f32::NAN, -1.0, 2.0, 0.25, 1.0]);
        assert_eq!(mask.iter().collect::<Vec<_>>(), [0.0, 0.0, 1.0, 0.25, 1.0]);
        let inverted = mask.inverted();
        assert_eq!(inverted.rows(), [Vec4::new(1.0, 1.0, 0.0, 0.75), Vec4::ZERO]);
        assert_eq!(inverted.inverted(), mask);
        assert_eq!(Mask::full(5).rows(), [Vec4::ONE, Vec4::X]);
        assert_eq!(mask.get(99), 0.0);
    }
}
