//! Speeds at which clips turn joints.

use super::feet::angle;
use crate::model::{ChannelSlot, JointIndex, SkeletalClip, Skeleton};
use glam::Vec4;

/// The fastest rotation of each joint in the clips of a character.
///
/// Rigs turn joints no faster than at multiples of these speeds, so that their motion suits the
/// character.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnSpeeds {
    /// In radians per second, relative to the parent.
    joints: Vec<f32>,
}

impl TurnSpeeds {
    /// Speed of joints that no clip turns faster, in radians per second.
    pub const SLOWEST: f32 = 2.0;

    /// Finds the fastest turns in clips, which must be bound to the skeleton. Additive clips don't
    /// count.
    pub fn new<'c>(skeleton: &Skeleton, clips: impl IntoIterator<Item = &'c SkeletalClip>) -> Self {
        // Joints that no clip turns must be able to reach for goals, too.
        let mut joints = vec![Self::SLOWEST; skeleton.len()];
        let bound = clips
            .into_iter()
            .filter(|clip| clip.rows().len() == skeleton.rows());
        for clip in bound.filter(|clip| !clip.additive) {
            for (row, fastest) in joints.chunks_mut(4).enumerate() {
                raise(fastest, clip, row);
            }
        }
        Self { joints }
    }

    /// Returns the fastest rotation of a joint, in radians per second; at least [`Self::SLOWEST`].
    pub fn of(&self, joint: JointIndex) -> f32 {
        self.joints
            .get(usize::from(joint))
            .copied()
            .unwrap_or(Self::SLOWEST)
    }
}

/// Raises the speeds of a row's joints to those of a clip.
fn raise(fastest: &mut [f32], clip: &SkeletalClip, row: usize) {
    // Most joints of most clips don't turn, so there is no need to go through their frames.
    if matches!(clip.rows()[row].rotation, ChannelSlot::Constant(_)) {
        return;
    }
    let mut before = clip.rotations_at(row, 0);
    for frame in 1..clip.frame_count() {
        let now = clip.rotations_at(row, frame);
        let change = [
            now.x - before.x,
            now.y - before.y,
            now.z - before.z,
            now.w - before.w,
        ];
        let chords = change
            .into_iter()
            .map(|change| change * change)
            .sum::<Vec4>();
        before = now;
        let seconds = (clip.frame_time(frame) - clip.frame_time(frame - 1)) as f32;
        for (lane, fastest) in fastest.iter_mut().enumerate() {
            // The square of an angle is less than 5 times that of the chord between the
            // quaternions, which is cheaper to test. A step takes no time, so it isn't a turn.
            let is_faster = seconds > 0.0 && 5.0 * chords[lane] > (*fastest * seconds).powi(2);
            if is_faster && clip.animates(row * 4 + lane) {
                let [a, b] = [frame - 1, frame]
                    .map(|frame| clip.transform_at(row * 4 + lane, frame).rotation);
                *fastest = fastest.max(angle(a, b) / seconds);
            }
        }
    }
}
