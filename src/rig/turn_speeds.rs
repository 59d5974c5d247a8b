//! How fast clips turn joints.

use super::feet::angle;
use crate::model::{JointIndex, SkeletalClip, Skeleton};

/// How fast each joint turns at most in the clips of a character.
///
/// Rigs that act on a pose turn joints by these speeds, so that nothing moves in a way that the character never does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnSpeeds {
    /// In radians per second, relative to the parent.
    joints: Vec<f32>,
}

impl TurnSpeeds {
    /// What joints can do that no clip turns faster, in radians per second.
    pub const SLOWEST: f32 = 2.0;

    /// The fastest turns in clips, which must be bound to the skeleton. Clips of differences don't count.
    pub fn new<'c>(skeleton: &Skeleton, clips: impl IntoIterator<Item = &'c SkeletalClip>) -> Self {
        let mut joints = vec![Self::SLOWEST; skeleton.len()];
        let bound = clips.into_iter().filter(|clip| clip.rows().len() == skeleton.rows());
        for clip in bound.filter(|clip| !clip.additive) {
            for (joint, fastest) in joints.iter_mut().enumerate().filter(|(joint, _)| clip.animates(*joint)) {
                let mut before = clip.transform_at(joint, 0).rotation;
                for frame in 1..clip.frame_count() {
                    let now = clip.transform_at(joint, frame).rotation;
                    let seconds = (clip.frame_time(frame) - clip.frame_time(frame - 1)) as f32;
                    // What a step changes isn't turned.
                    if seconds > 0.0 && now != before {
                        *fastest = fastest.max(angle(before, now) / seconds);
                    }
                    before = now;
                }
            }
        }
        Self { joints }
    }

    /// How fast a joint turns at most, in radians per second; at least [`Self::SLOWEST`].
    pub fn of(&self, joint: JointIndex) -> f32 {
        self.joints.get(usize::from(joint)).copied().unwrap_or(Self::SLOWEST)
    }
}
