//! Masks: which joints and morph targets a layer affects, and by how much.

use crate::{
    model::{JointIndex, MorphIndex, Skeleton, weights_of},
    numbers::clamp_weight,
};
use glam::Vec4;

/// A weight in 0..=1 for every joint of a skeleton, in rows of four.
///
/// Morph targets have weights of their own: a mask without them leaves the face alone. Weights are always finite and in
/// range, and lanes past the last joint are 0.
///
/// ```
/// # use bevy_marionette::{model::Skeleton, pose::Mask};
/// # fn upper_body(skeleton: &Skeleton) -> Option<Mask> {
/// // From the spine up, fading in over two joints.
/// let mask = Mask::from_roots(skeleton, &[skeleton.joint("spine")?], 2);
/// # Some(mask)
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mask {
    rows: Vec<Vec4>,
    joints: usize,
    morphs: Vec<Vec4>,
}

impl Mask {
    /// Creates a mask with the weight 1 for each of `joints` joints.
    pub fn full(joints: usize) -> Self {
        Self::empty(joints).inverted()
    }

    /// Creates a mask with the weight 0 for each of `joints` joints.
    pub fn empty(joints: usize) -> Self {
        Self {
            rows: vec![Vec4::ZERO; joints.div_ceil(4)],
            joints,
            morphs: Vec::new(),
        }
    }

    /// Creates a mask with the weight 1 for the `roots` and their descendants, fading out over the `falloff` joints
    /// above each root.
    ///
    /// The k-th ancestor of a root (its parent is the first) gets `1 − k / (falloff + 1)`, and 0 from
    /// k = `falloff + 1` on, so a falloff of 0 ends sharply at the roots. Other branches below these
    /// ancestors stay 0. If several roots reach a joint, the largest weight counts. Roots missing from
    /// the skeleton are ignored.
    pub fn from_roots(skeleton: &Skeleton, roots: &[JointIndex], falloff: u32) -> Self {
        let mut mask = Self::empty(skeleton.len());
        for &root in roots
            .iter()
            .filter(|&&root| usize::from(root) < skeleton.len())
        {
            mask.set(usize::from(root), 1.0);
        }
        // Parents come first, so one pass fills whole branches.
        for (joint, parent) in skeleton.parents().iter().enumerate() {
            if parent.is_some_and(|parent| mask.get(usize::from(parent)) == 1.0) {
                mask.set(joint, 1.0);
            }
        }
        for &root in roots {
            for (k, joint) in (1..=falloff).zip(skeleton.ancestors(root)) {
                let weight = 1.0 - k as f32 / (falloff as f32 + 1.0);
                // Another root may have given this joint a larger weight already.
                let joint = usize::from(joint);
                mask.set(joint, weight.max(mask.get(joint)));
            }
        }
        mask
    }

    /// Creates a mask with the given weight for each joint, clamped to 0..=1; NaN becomes 0.
    pub fn from_weights(weights: impl IntoIterator<Item = f32>) -> Self {
        let mut mask = Self::default();
        for weight in weights {
            if mask.joints.is_multiple_of(4) {
                mask.rows.push(Vec4::ZERO);
            }
            mask.joints += 1;
            mask.set(mask.joints - 1, weight);
        }
        mask
    }

    /// Returns the mask with every weight replaced by 1 minus the weight. Lanes past the last morph target don't
    /// matter.
    pub fn inverted(&self) -> Self {
        // By way of the joints, so that lanes past the last one stay 0.
        let joints = Self::from_weights((0..self.joints).map(|joint| 1.0 - self.get(joint)));
        let morphs = self.morphs.iter().map(|row| Vec4::ONE - *row).collect();
        Self { morphs, ..joints }
    }

    /// Returns the mask with the given weight for each morph target of the skeleton, clamped to 0..=1; NaN becomes 0.
    pub fn with_morphs(mut self, weights: impl IntoIterator<Item = f32>) -> Self {
        self.morphs.clear();
        for (at, weight) in weights.into_iter().enumerate() {
            if at % 4 == 0 {
                self.morphs.push(Vec4::ZERO);
            }
            self.morphs[at / 4][at % 4] = clamp_weight(weight);
        }
        self
    }

    /// Returns a morph target's weight; 0 for one the mask does not have.
    pub fn morph(&self, morph: MorphIndex) -> f32 {
        let weights = weights_of(&self.morphs, self.morphs.len() * 4);
        weights.get(usize::from(morph)).copied().unwrap_or(0.0)
    }

    /// Returns the weights in rows of four morph targets, as the jobs take them; empty if the mask has none.
    pub fn morph_rows(&self) -> &[Vec4] {
        &self.morphs
    }

    /// Returns the weights in rows of four joints, as the jobs take them.
    pub fn rows(&self) -> &[Vec4] {
        &self.rows
    }

    /// Returns the number of joints.
    pub fn len(&self) -> usize {
        self.joints
    }

    /// Returns `true` if the mask has no joints.
    pub fn is_empty(&self) -> bool {
        self.joints == 0
    }

    /// Returns a joint's weight; 0 for a joint the mask does not have.
    pub fn get(&self, joint: usize) -> f32 {
        self.rows.get(joint / 4).map_or(0.0, |row| row[joint % 4])
    }

    /// Sets a joint's weight, clamped to 0..=1; NaN becomes 0. Does nothing for a joint the mask does not
    /// have.
    pub fn set(&mut self, joint: usize, weight: f32) {
        if joint < self.joints {
            self.rows[joint / 4][joint % 4] = clamp_weight(weight);
        }
    }

    /// Returns the weights of the joints, in order.
    pub fn iter(&self) -> impl Iterator<Item = f32> + '_ {
        (0..self.joints).map(|joint| self.get(joint))
    }
}

#[cfg(test)]
#[path = "tests/mask.rs"]
mod tests;
