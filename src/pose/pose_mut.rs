//! A pose to be changed: local transforms and model matrices together.

use super::{LocalToModel, adjust::unit};
use crate::model::{JointIndex, JointTransform, Skeleton, SoaTransform};
use glam::{Affine3A, Quat, Vec3, Vec3A};
use std::ops::Range;

/// A pose as local transforms and as the matrices computed from them, for code that reads positions in model space
/// and writes rotations to joints.
///
/// Rotations in model space assume uniform, unmirrored scales above the joint.
#[derive(Debug)]
pub struct PoseMut<'a> {
    /// The skeleton of the pose.
    pub skeleton: &'a Skeleton,
    /// Joints relative to their parents.
    pub local: &'a mut [SoaTransform],
    /// Joint space → model space.
    pub model: &'a mut [Affine3A],
    /// The joints among which are all whose matrices are to be updated before they are read.
    stale: Range<usize>,
}

impl<'a> PoseMut<'a> {
    /// A pose whose matrices are those of its local transforms.
    pub fn new(skeleton: &'a Skeleton, local: &'a mut [SoaTransform], model: &'a mut [Affine3A]) -> Self {
        Self { skeleton, local, model, stale: 0..0 }
    }
}

impl PoseMut<'_> {
    /// A joint's position in model space.
    #[inline(always)]
    pub fn position(&self, joint: JointIndex) -> Vec3 {
        self.model[usize::from(joint)].translation.into()
    }

    /// A joint relative to its parent.
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
        self.local[joint / 4].set(joint % 4, transform);
    }

    /// A joint's rotation relative to its parent.
    #[inline(always)]
    pub fn rotation(&self, joint: JointIndex) -> Quat {
        let joint = usize::from(joint);
        self.local[joint / 4].rotation.get(joint % 4)
    }

    /// The product of the rotations of a joint's ancestors: from its parent's space to model space.
    pub fn rotation_above(&self, joint: JointIndex) -> Quat {
        let above = self.skeleton.ancestors(joint);
        unit(above.fold(Quat::IDENTITY, |below, above| self.rotation(above) * below))
    }

    /// A joint's rotation in model space.
    pub fn model_rotation(&self, joint: JointIndex) -> Quat {
        unit(self.rotation_above(joint) * self.rotation(joint))
    }

    /// A joint's rotation relative to its parent after a turn in model space, about the joint's own position.
    ///
    /// The turn is one of the pose that the matrices hold: if joints above have been turned since, it is carried along.
    #[inline(always)]
    pub fn turned(&self, joint: JointIndex, turn: Quat) -> Quat {
        let before = self.rotation(joint);
        let Some(parent) = self.skeleton.parents()[usize::from(joint)] else { return unit(turn * before) };
        let vector = Vec3A::from_vec4(turn.into());
        let axis = self.model[usize::from(parent)].matrix3.transpose() * vector;
        // Rotations have no scale, but matrices do.
        let (sin, square) = (vector.length_squared(), axis.length_squared());
        if !(square > 1e-30 && square < f32::MAX) {
            return before;
        }
        let axis = if (sin - square).abs() > 1e-5 * sin { axis * (sin / square).sqrt() } else { axis };
        unit(Quat::from_vec4(axis.extend(turn.w)) * before)
    }

    /// Turns a joint in model space, about its own position. Its matrix and those below it are out of date until
    /// [`Self::update_from`].
    ///
    /// The turn is one of the pose that the matrices hold: if joints above have been turned since, it is carried along.
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

    /// Takes note that the matrices of a joint and of its descendants are out of date. Of what several limbs move, such
    /// as fingers, matrices are then computed only once.
    pub(crate) fn update_later(&mut self, joint: JointIndex) {
        let below = usize::from(joint)..usize::from(self.skeleton.last_descendant(joint)) + 1;
        if below.start >= self.stale.end || below.end <= self.stale.start {
            self.update();
            self.stale = below;
        } else {
            self.stale = self.stale.start.min(below.start)..self.stale.end.max(below.end);
        }
    }

    /// Computes those matrices that are out of date among the first joints, up to this one.
    pub(crate) fn update_until(&mut self, joint: JointIndex) {
        self.update_range(self.stale.start..self.stale.end.min(usize::from(joint) + 1));
    }

    /// Computes all matrices that are out of date.
    pub(crate) fn update(&mut self) {
        self.update_range(self.stale.clone());
    }

    fn update_range(&mut self, joints: Range<usize>) {
        if !joints.is_empty() {
            self.stale.start = joints.end;
            LocalToModel { parents: self.skeleton.parents(), local: self.local, root: None, unit_scale: false }
                .run_range(joints, self.model);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Joint;

    #[test]
    fn matrices_are_right_wherever_they_were_updated() {
        let parents = [None, Some(0), Some(1), Some(1), Some(3), Some(0), Some(5), None, Some(7), Some(5)];
        let rest = JointTransform::new(Vec3::new(0.3, 1.0, -0.2), Quat::from_rotation_x(0.4));
        let joint = |parent| Joint { name: "".into(), parent, rest, inverse_bind: Affine3A::IDENTITY };
        let skeleton = Skeleton::new(parents.map(joint).to_vec()).unwrap();
        let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
        let mut pose = PoseMut::new(&skeleton, &mut local, &mut model);
        let mut whole = vec![Affine3A::IDENTITY; skeleton.len()];
        let mut random = 7_u32;
        let mut next = |most: usize| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 16) as usize % most
        };
        for _ in 0..2000 {
            let joint = next(skeleton.len()) as JointIndex;
            pose.set_rotation(joint, Quat::from_rotation_z(next(100) as f32 * 0.06));
            pose.update_later(joint);
            let until = match next(3) {
                0 => next(skeleton.len()),
                1 => skeleton.len() - 1,
                _ => continue,
            };
            pose.update_until(until as JointIndex);
            LocalToModel { parents: skeleton.parents(), local: pose.local, root: None, unit_scale: false }
                .run(&mut whole);
            assert_eq!(pose.model[..=until], whole[..=until]);
        }
        pose.update();
        assert_eq!(pose.model, whole);
    }
}
