//! Limbs that reach for targets, by either solver.

use super::{ChainIk, IkScratch, TwoBoneIk};
use crate::pose::PoseMut;
use serde::{Deserialize, Serialize};

/// A limb and its target, for either solver.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum Ik {
    /// A limb of two bones.
    TwoBone(TwoBoneIk),
    /// A chain of any number of bones.
    Chain(ChainIk),
}

impl Ik {
    /// Rotates the limb's joints. Returns `false`, leaving the pose as it is, if there is nothing to solve: see
    /// [`TwoBoneIk::run`] and [`ChainIk::run`].
    ///
    /// # Panics
    /// If the pose is too short for its skeleton.
    pub fn run(&self, scratch: &mut IkScratch, pose: &mut PoseMut) -> bool {
        let is_solved = self.solve(scratch, pose);
        pose.update();
        is_solved
    }

    /// As [`Self::run`], without updating the matrices.
    pub(super) fn solve(&self, scratch: &mut IkScratch, pose: &mut PoseMut) -> bool {
        match self {
            Self::TwoBone(limb) => limb.solve(pose),
            Self::Chain(chain) => chain.solve(scratch, pose),
        }
    }
}

#[cfg(test)]
#[path = "tests/ik.rs"]
mod tests;
