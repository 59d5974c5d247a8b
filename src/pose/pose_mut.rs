//! A pose to be changed: local transforms and model matrices together.

use super::LocalToModel;
use crate::{
    model::{JointIndex, JointTransform, Skeleton, SoaTransform},
    numbers::unit,
};
use glam::{Affine3A, Quat, Vec3, Vec3A};
use std::ops::Range;

/// A pose as local transforms and as the matrices computed from them, for code that reads positions in model space
/// and writes rotations to joints.
///
/// It keeps track of matrices that are out of date: those below joints that were changed, and all
/// those of a pose that [`Evaluate::run_local`](super::Evaluate::run_local) or [`Self::from_local`]
/// begins. Bring what you read up to date with [`Self::update_joints`], and all in the end with
/// [`Self::update`].
///
/// Rotations in model space assume uniform, unmirrored scales above the joint.
#[derive(Debug)]
pub struct PoseMut<'a> {
    /// The skeleton of the pose.
    pub skeleton: &'a Skeleton,
    /// Joint space → model space; only those that are up to date count.
    pub model: &'a mut [Affine3A],
    /// Joints relative to their parents.
    local: &'a mut [SoaTransform],
    facts: PoseFacts,
}

/// Facts about a pose's transforms and matrices.
#[derive(Clone, Debug, Default)]
pub(crate) struct PoseFacts {
    /// `true` if all scales are known to be one.
    unit_scale: bool,
    /// The first joints whose matrices are out of date, one bit each.
    stale: u128,
    /// The range that contains all other joints whose matrices are out of date.
    rest: Range<usize>,
}

impl PoseFacts {
    /// Returns `true` if all matrices are up to date.
    #[cfg_attr(not(feature = "bevy"), expect(dead_code))]
    pub(crate) fn is_up_to_date(&self) -> bool {
        self.stale == 0 && self.rest.is_empty()
    }
}

impl<'a> PoseMut<'a> {
    /// Creates a pose whose matrices are those of its local transforms.
    pub fn new(
        skeleton: &'a Skeleton,
        local: &'a mut [SoaTransform],
        model: &'a mut [Affine3A],
    ) -> Self {
        Self {
            skeleton,
            local,
            model,
            facts: PoseFacts::default(),
        }
    }

    /// Creates a pose whose matrices are all out of date.
    pub fn from_local(
        skeleton: &'a Skeleton,
        local: &'a mut [SoaTransform],
        model: &'a mut [Affine3A],
    ) -> Self {
        let facts = PoseFacts {
            unit_scale: false,
            stale: skeleton.first_joints(),
            rest: Skeleton::FIRST..skeleton.len(),
        };
        Self {
            facts,
            ..Self::new(skeleton, local, model)
        }
    }

    /// With all scales of the local pose known to be one, or not.
    pub(super) fn with_unit_scale(mut self, unit_scale: bool) -> Self {
        self.facts.unit_scale = unit_scale;
        self
    }

    /// Starts from matrices computed for the same pose before.
    #[cfg_attr(not(feature = "bevy"), expect(dead_code))]
    pub(crate) fn with_facts(self, facts: PoseFacts) -> Self {
        Self { facts, ..self }
    }
}

impl PoseMut<'_> {
    #[cfg_attr(not(feature = "bevy"), expect(dead_code))]
    pub(crate) fn facts(&self) -> &PoseFacts {
        &self.facts
    }

    /// Returns the joints' transforms relative to their parents.
    pub fn local(&self) -> &[SoaTransform] {
        self.local
    }

    /// Returns a joint's position in model space, if its matrix is up to date.
    #[inline(always)]
    pub fn position(&self, joint: JointIndex) -> Vec3 {
        self.model[usize::from(joint)].translation.into()
    }

    /// Returns a joint's transform relative to its parent.
    #[inline(always)]
    pub fn transform(&self, joint: JointIndex) -> JointTransform {
        let joint = usize::from(joint);
        self.local[joint / 4].get(joint % 4)
    }

    /// Sets a joint relative to its parent. Its matrix and those below it are out of date until
    /// [`Self::update_from`].
    #[inline(always)]
    pub fn set_transform(&mut self, joint: JointIndex, transform: JointTransform) {
        let joint = usize::from(joint);
        // Never set again: that would take a look at all other joints.
        self.facts.unit_scale &= transform.scale == Vec3::ONE;
        self.local[joint / 4].set(joint % 4, transform);
    }

    /// Returns a joint's rotation relative to its parent.
    #[inline(always)]
    pub fn rotation(&self, joint: JointIndex) -> Quat {
        let joint = usize::from(joint);
        self.local[joint / 4].rotation.get(joint % 4)
    }

    /// Returns the product of the rotations of a joint's ancestors: from its parent's space to model space.
    pub fn rotation_above(&self, joint: JointIndex) -> Quat {
        // From the joint up, so each ancestor is multiplied from the left.
        let above = self.skeleton.ancestors(joint);
        unit(above.fold(Quat::IDENTITY, |below, above| self.rotation(above) * below))
    }

    /// Returns a joint's rotation in model space.
    pub fn model_rotation(&self, joint: JointIndex) -> Quat {
        unit(self.rotation_above(joint) * self.rotation(joint))
    }

    /// Returns a joint's rotation relative to its parent after a turn in model space, about the joint's own position.
    ///
    /// The turn refers to the pose that the matrices hold: if joints above have been turned since,
    /// it is carried along.
    #[inline(always)]
    pub fn turned(&self, joint: JointIndex, turn: Quat) -> Quat {
        let before = self.rotation(joint);
        let Some(parent) = self.skeleton.parents()[usize::from(joint)] else {
            return unit(turn * before);
        };
        let vector = Vec3A::from_vec4(turn.into());
        // Into the parent's space, by the transpose instead of the inverse: with uniform scales,
        // the two differ only by a factor.
        let axis = self.model[usize::from(parent)].matrix3.transpose() * vector;
        let square = axis.length_squared();
        // A parent scaled to almost nothing has no directions.
        if !(square > 1e-30 && square < f32::MAX) {
            return before;
        }
        // Rotations have no scale, but matrices may have one.
        let sin = if self.facts.unit_scale {
            square
        } else {
            vector.length_squared()
        };
        let axis = if (sin - square).abs() > 1e-5 * sin {
            axis * (sin / square).sqrt()
        } else {
            axis
        };
        unit(Quat::from_vec4(axis.extend(turn.w)) * before)
    }

    /// Turns a joint in model space, about its own position. Its matrix and those below it are out of date until
    /// [`Self::update_from`].
    ///
    /// The turn refers to the pose that the matrices hold: if joints above have been turned since,
    /// it is carried along.
    #[inline(always)]
    pub fn turn(&mut self, joint: JointIndex, turn: Quat) {
        self.set_rotation(joint, self.turned(joint, turn));
    }

    /// Sets a joint's rotation relative to its parent. Its matrix and those below it are out of date until
    /// [`Self::update_from`].
    #[inline(always)]
    pub fn set_rotation(&mut self, joint: JointIndex, rotation: Quat) {
        let joint = usize::from(joint);
        self.local[joint / 4].rotation.set(joint % 4, rotation);
    }

    /// Computes the matrices of a joint and of its descendants.
    pub fn update_from(&mut self, joint: JointIndex) {
        self.update_later(joint);
        self.update();
    }

    /// Marks the matrices of a joint and of its descendants as out of date, without computing them.
    /// Joints that several limbs move, such as fingers, are then computed only once.
    pub fn update_later(&mut self, joint: JointIndex) {
        self.facts.stale |= self.skeleton.first_below(joint);
        let below = usize::from(joint).max(Skeleton::FIRST)
            ..usize::from(self.skeleton.last_descendant(joint)) + 1;
        // The range may come to contain joints that are up to date. Computing these again does no harm.
        if self.facts.rest.is_empty() {
            self.facts.rest = below;
        } else if !below.is_empty() {
            self.facts.rest =
                self.facts.rest.start.min(below.start)..self.facts.rest.end.max(below.end);
        }
    }

    /// Brings the matrices of some joints, and of all above them, up to date.
    #[inline]
    pub fn update_joints(&mut self, joints: impl IntoIterator<Item = JointIndex>) {
        let mut wanted = 0;
        for joint in joints {
            match self.skeleton.first_above(joint) {
                Some(above) => wanted |= above,
                // Joints past the first ones have no bit of their own, so everything up to them is
                // updated.
                None => self.update_until(joint),
            }
        }
        self.update_some(wanted & self.facts.stale);
    }

    /// Brings all matrices up to date.
    pub fn update(&mut self) {
        self.update_some(self.facts.stale);
        self.update_rest(self.facts.rest.end);
    }

    fn update_until(&mut self, joint: JointIndex) {
        self.update_some(self.facts.stale);
        self.update_rest(usize::from(joint) + 1);
    }

    /// Updates those of the others that come before `end`.
    fn update_rest(&mut self, end: usize) {
        let joints = self.facts.rest.start..self.facts.rest.end.min(end);
        if !joints.is_empty() {
            self.facts.rest.start = joints.end;
            let (parents, unit_scale) = (self.skeleton.parents(), self.facts.unit_scale);
            LocalToModel {
                parents,
                local: self.local,
                root: None,
                unit_scale,
            }
            .run_range(joints, self.model);
        }
    }

    fn update_some(&mut self, joints: u128) {
        if joints == 0 {
            return;
        }
        self.facts.stale &= !joints;
        let all = self.skeleton.first_joints();
        let (parents, unit_scale) = (self.skeleton.parents(), self.facts.unit_scale);
        let job = LocalToModel {
            parents,
            local: self.local,
            root: None,
            unit_scale,
        };
        // A whole pose needs no test per row.
        if joints == all {
            job.run_range(0..parents.len().min(Skeleton::FIRST), self.model);
        } else {
            job.run_some(joints, self.model);
        }
    }
}

#[cfg(test)]
#[path = "tests/pose_mut.rs"]
mod tests;
