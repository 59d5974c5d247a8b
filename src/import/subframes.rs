//! Frames between frames, where joints turn so far that a straight line between quaternions would stray
//! from the arc.

use crate::model::{ClipFrames, JointTransform};
use glam::Vec3;

/// Largest turn of a joint from one frame to the next, in radians, that is left as it is.
///
/// Normalised linear interpolation runs up to about 0.032 · (θ/2)³ radians ahead of or behind the spherical
/// kind for a turn of θ; at 13° that is 5·10⁻⁵, a twenty-thousandth of a limb's length.
const LARGEST_TURN: f32 = 0.227;

/// Most frames that one becomes: what jumps further than this covers is meant to jump.
const MOST: usize = 4;

/// Puts as many frames at equal distance between each two as keep the turns small; returns how many
/// steps one has become. The frames that were there stay exact.
pub(super) fn subdivide(frames: &mut ClipFrames) -> usize {
    let joints = frames.joints.len();
    let count = frames.transforms.len().checked_div(joints).unwrap_or(0);
    let pairs = frames.transforms.iter().zip(frames.transforms.iter().skip(joints));
    let moving = |joint: usize| frames.animated.get(joint).copied().unwrap_or(frames.animated.is_empty());
    let turn = pairs
        .enumerate()
        .filter(|(i, _)| moving(i % joints))
        .map(|(_, (a, b))| 2.0 * a.rotation.dot(b.rotation).abs().clamp(0.0, 1.0).acos())
        .fold(0.0, f32::max);
    let steps = steps(turn);
    if steps == 1 || count < 2 {
        return 1;
    }
    let mut fine = Vec::with_capacity(((count - 1) * steps + 1) * joints);
    for (a, b) in frames.transforms.chunks_exact(joints).zip(frames.transforms.chunks_exact(joints).skip(1)) {
        fine.extend_from_slice(a);
        for step in 1..steps {
            let t = step as f32 / steps as f32;
            fine.extend(a.iter().zip(b).map(|(a, b)| between(a, b, t)));
        }
    }
    fine.extend_from_slice(&frames.transforms[(count - 1) * joints..]);
    frames.transforms = fine;
    steps
}

/// How many steps a frame becomes for a largest turn.
fn steps(turn: f32) -> usize {
    ((turn / LARGEST_TURN).ceil() as usize).clamp(1, MOST)
}

/// What stands still stays exactly where it is, so that its channel is a constant.
fn between(a: &JointTransform, b: &JointTransform, t: f32) -> JointTransform {
    let mean = |a: Vec3, b: Vec3| Vec3::select(a.cmpeq(b), a, a * (1.0 - t) + b * t);
    JointTransform {
        translation: mean(a.translation, b.translation),
        rotation: if a.rotation == b.rotation { a.rotation } else { a.rotation.slerp(b.rotation, t) },
        scale: mean(a.scale, b.scale),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Quat;

    fn turning(degrees: f32) -> ClipFrames {
        let at = |f: usize| {
            JointTransform::new(Vec3::X * f as f32, Quat::from_rotation_z((degrees * f as f32).to_radians()))
        };
        ClipFrames { joints: ["a".into()].into(), animated: vec![], transforms: (0..5).map(at).collect() }
    }

    #[test]
    fn slow_turns_stay_as_they_are_and_fast_ones_follow_the_arc() {
        let mut slow = turning(12.0);
        assert_eq!((subdivide(&mut slow), slow.transforms.len()), (1, 5));
        let mut fast = turning(30.0);
        let before = fast.transforms.clone();
        assert_eq!((subdivide(&mut fast), fast.transforms.len()), (3, 13));
        assert!(before.iter().enumerate().all(|(f, transform)| fast.transforms[f * 3] == *transform));
        let third = fast.transforms[4];
        assert!(third.rotation.abs_diff_eq(Quat::from_rotation_z(40_f32.to_radians()), 1e-6));
        assert!((third.translation.x - 4.0 / 3.0).abs() < 1e-6);
    }

    #[test]
    fn what_jumps_does_not_cost_the_world() {
        let mut jump = turning(170.0);
        assert_eq!(subdivide(&mut jump), MOST);
    }

    #[test]
    fn no_joints_and_single_frames_are_left_alone() {
        assert_eq!(subdivide(&mut ClipFrames::default()), 1);
        let mut one = turning(90.0);
        one.transforms.truncate(1);
        assert_eq!(subdivide(&mut one), 1);
    }
}
