//! Decides how many frames to add where joints turn so fast that nlerp would deviate from the arc.

use crate::model::ClipFrames;

/// Largest rotation of a joint from one frame to the next, in radians, that needs no extra frames.
///
/// For a rotation of θ, nlerp is up to about 0.032 · (θ/2)³ radians ahead of or behind slerp. At 13°, that is
/// 5·10⁻⁵, or a twenty-thousandth of a limb's length.
const LARGEST_TURN: f32 = 0.227;

/// Most steps that one frame becomes. Larger rotations are jumps.
const MOST: usize = 4;

/// Returns the number of steps to cut each frame into so that rotations between frames stay small.
pub(super) fn steps(frames: &ClipFrames) -> usize {
    let joints = frames.joints.len().max(1);
    let moving = |joint: usize| {
        frames
            .animated
            .get(joint)
            .copied()
            .unwrap_or(frames.animated.is_empty())
    };
    // The largest turn has the smallest cosine.
    let mut cosine: f32 = 1.0;
    for (frame, next) in frames
        .transforms
        .chunks_exact(joints)
        .zip(frames.transforms.chunks_exact(joints).skip(1))
    {
        for (_, (a, b)) in frame
            .iter()
            .zip(next)
            .enumerate()
            .filter(|(joint, _)| moving(*joint))
        {
            cosine = cosine.min(a.rotation.dot(b.rotation).abs());
        }
    }
    let turn = 2.0 * cosine.acos();
    ((turn / LARGEST_TURN).ceil() as usize).clamp(1, MOST)
}

#[cfg(test)]
#[path = "tests/subframes.rs"]
mod tests;
