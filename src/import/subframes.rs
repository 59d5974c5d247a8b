//! Frames between frames, where joints turn so far that a straight line between quaternions would stray
//! from the arc.

use super::arcs::Arcs;
use crate::model::{ChannelSlot, ClipFrames, ClipParts, JointTransform, dot};
use glam::{Quat, Vec3, Vec4};

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

/// [`subdivide`] for channels that are decoded already.
pub(super) fn subdivide_parts(parts: &mut ClipParts) -> usize {
    let (stride, count) = (parts.stride(), parts.frame_count);
    if stride == 0 || count < 2 {
        return 1;
    }
    let rotations: Vec<usize> = (parts.rows.iter())
        .filter_map(|row| if let ChannelSlot::Sampled(at) = row.rotation { Some(at as usize) } else { None })
        .collect();
    let quaternions = |frame: &[Vec4], at: usize| [frame[at], frame[at + 1], frame[at + 2], frame[at + 3]];
    let pairs = || parts.samples.chunks_exact(stride).zip(parts.samples.chunks_exact(stride).skip(1));
    let least = pairs().fold(Vec4::ONE, |least, (a, b)| {
        rotations.iter().fold(least, |least, &at| least.min(dot(quaternions(a, at), quaternions(b, at)).abs()))
    });
    let steps = steps(2.0 * least.min_element().acos());
    if steps == 1 {
        return 1;
    }
    let frame_count = (count - 1) * steps + 1;
    let mut straight = vec![true; stride];
    rotations.iter().for_each(|&at| straight[at..at + 4].fill(false));
    let straight: Vec<usize> = (0..stride).filter(|&at| straight[at]).collect();
    let mut fine = Vec::with_capacity(frame_count * stride);
    let mut arcs = Vec::with_capacity(rotations.len());
    for (a, b) in pairs() {
        arcs.clear();
        // What stands still is copied with the rest of the frame.
        let turning = rotations.iter().filter(|&&at| a[at..at + 4] != b[at..at + 4]);
        arcs.extend(turning.map(|&at| (at, Arcs::new(quaternions(a, at), quaternions(b, at)))));
        fine.extend_from_slice(a);
        for step in 1..steps {
            let t = step as f32 / steps as f32;
            let start = fine.len();
            fine.extend_from_slice(a);
            let frame = &mut fine[start..];
            for &at in &straight {
                frame[at] = Vec4::select(a[at].cmpeq(b[at]), a[at], a[at] * (1.0 - t) + b[at] * t);
            }
            for (at, arcs) in &arcs {
                frame[*at..at + 4].copy_from_slice(&arcs.at(t));
            }
        }
    }
    fine.extend_from_slice(&parts.samples[(count - 1) * stride..]);
    (parts.samples, parts.frame_count) = (fine, frame_count);
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
        rotation: arc(a.rotation, b.rotation, t),
        scale: mean(a.scale, b.scale),
    }
}

/// A place on the short arc.
fn arc(a: Quat, b: Quat, t: f32) -> Quat {
    let lanes = |q: Quat| q.to_array().map(Vec4::splat);
    let [x, y, z, w] = Arcs::new(lanes(a), lanes(b)).at(t);
    Quat::from_xyzw(x.x, y.x, z.x, w.x)
}

#[cfg(test)]
mod tests {
    use super::*;

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
