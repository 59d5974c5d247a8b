//! How the weights of blended layers depend on the joint, if their clips don't all move the same ones.
//!
//! Found before a pose is blended: kernels in which each layer has one weight are the fastest, and most poses can do with them.

use super::{blend::BASE, layer::ClipLayer, row::Row};
use crate::controller::TrackPriority;
use crate::model::SkeletalClip;
use std::mem;

/// How the weights of blended layers depend on the joint.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum JointWeights {
    /// They are the same at each joint, with the rest pose in place of clips that don't move it.
    Same,
    /// At each joint, the layers whose clips move it share the weight.
    OfMoving,
    /// By masks, or with a share of the rest pose.
    Other,
}

/// What blended layers have in common, found layer by layer.
pub(super) struct Common<'a> {
    before: Option<(u32, &'a SkeletalClip)>,
    one_set: bool,
    /// `true` if no set has more than one layer.
    sets_apart: bool,
    has_base: bool,
    last_set: u32,
    same_joints: bool,
    all_joints: bool,
    unmasked: bool,
}

impl<'a> Common<'a> {
    pub(super) fn new() -> Self {
        Self {
            before: None,
            one_set: true,
            sets_apart: true,
            has_base: false,
            last_set: 0,
            same_joints: true,
            all_joints: true,
            unmasked: true,
        }
    }

    /// Of layers that all count.
    pub(super) fn of<R: Row>(layers: &[ClipLayer<'a>]) -> Self {
        let mut common = Self::new();
        layers.iter().for_each(|layer| common.add::<R>(layer));
        common
    }

    /// Adds a layer that counts.
    #[inline]
    pub(super) fn add<R: Row>(&mut self, layer: &ClipLayer<'a>) {
        let (set, clip) = (set_of(layer), layer.clip);
        // Comparing neighbors is enough: if each moves the same joints as the one before, all do.
        if let Some((set_before, before)) = self.before.replace((set, clip)) {
            self.one_set &= set == set_before && set != 0;
            self.same_joints = self.same_joints && R::moves_the_same(before, clip);
        }
        self.sets_apart &= match set {
            0 => true,
            BASE => !mem::replace(&mut self.has_base, true),
            _ => mem::replace(&mut self.last_set, set) != set,
        };
        self.all_joints &= R::animates_all(clip);
        self.unmasked &= layer.mask.is_none();
    }

    /// Returns `true` if some layer doesn't reach every joint.
    pub(super) fn lacks_joints(&self) -> bool {
        !self.all_joints || !self.unmasked
    }

    /// How weights depend on the joint if no other group reaches one, and if the base doesn't lack weight.
    pub(super) fn joint_weights(&self) -> JointWeights {
        if !self.lacks_joints() || (self.unmasked && (self.one_set || self.same_joints)) {
            JointWeights::Same
        } else if self.unmasked && self.sets_apart {
            JointWeights::OfMoving
        } else {
            JointWeights::Other
        }
    }
}

/// The set that a blended layer belongs to.
#[inline]
pub(super) fn set_of(layer: &ClipLayer) -> u32 {
    if layer.base && layer.priority == TrackPriority::Low {
        BASE
    } else {
        // A caller's own number must not collide with that of the base.
        layer.set.min(BASE - 1)
    }
}
