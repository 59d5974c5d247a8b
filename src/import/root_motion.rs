//! Extracts the movement of a clip's root from its pose.
//!
//! The path of the root joint is that of the character: over the ground, up and down, and in the
//! direction that it faces. The whole pose is moved back by it, so that pose and movement together
//! are the clip as it was.

use super::{ClipEntry, Manifest, RootMotionEntry};
use crate::model::{
    ClipFrames, JointIndex, JointTransform, RawClip, RootDelta, RootPath, SkeletalClip, Skeleton,
    turned,
};
use glam::{Affine3A, DQuat, DVec3, Quat, Vec3};
use std::sync::Arc;

/// The movements to extract from a clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Channels {
    ground: bool,
    height: bool,
    turn: bool,
    steady: bool,
}

impl Channels {
    pub(super) fn of(manifest: &Manifest, entry: &ClipEntry) -> Option<Self> {
        if manifest.root_motion.is_none() && entry.root_motion.is_none() {
            return None;
        }
        let RootMotionEntry {
            ground,
            height,
            turn,
            steady,
            ..
        } = manifest.root_motion.clone().unwrap_or_default();
        let own = entry.root_motion.unwrap_or_default();
        let channels = Self {
            ground: own.ground.unwrap_or(ground),
            height: own.height.unwrap_or(height),
            turn: own.turn.unwrap_or(turn),
            steady: own.steady.unwrap_or(steady),
        };
        (channels.ground || channels.height || channels.turn).then_some(channels)
    }
}

/// Returns the path of a clip that carries its character forward at a speed.
pub(super) fn steady_path(clip: &SkeletalClip, speed: f32) -> Option<Arc<RootPath>> {
    let duration = clip.timing.duration;
    let total = RootDelta::new(DVec3::NEG_Z * (f64::from(speed) * duration), 0.0);
    RootPath::steady(duration, total).map(Arc::new)
}

/// Returns the joint that the manifest names for root motion, or the skeleton's first root.
pub(crate) fn root_joint(manifest: &Manifest, skeleton: &Skeleton) -> JointIndex {
    let named = manifest
        .root_motion
        .as_ref()
        .and_then(|entry| skeleton.joint(entry.joint.as_deref()?));
    named.unwrap_or(0)
}

/// Moves the root's movement from the frames of a clip to its path. Returns `false` if there is none.
pub(super) fn put_in_place(
    clip: &mut RawClip,
    joint: usize,
    channels: Channels,
    skeleton: &Skeleton,
) -> bool {
    let joints = skeleton.len();
    if joint >= joints || clip.frame_count() < 2 || clip.frames.joints != *skeleton.names() {
        return false;
    }
    let times = (0..clip.frame_count()).map(|frame| clip.frame_time(frame));
    let times: Vec<f64> = times.collect();
    let mut places = placements(&clip.frames, joint, channels, skeleton);
    let total = places[places.len() - 1];
    let path = match channels.steady {
        true => RootPath::steady(clip.timing.duration, total),
        false => RootPath::new(&times, &places),
    };
    // Movements within the rounding of files don't count.
    let least = 1e-4 * size(skeleton);
    let still = |place: &RootDelta| place.translation.length() < least && place.turn.abs() < 1e-4;
    let Some(path) = path.filter(|_| {
        if channels.steady {
            !still(&total)
        } else {
            !places.iter().all(still)
        }
    }) else {
        return false;
    };
    if channels.steady {
        for (place, time) in places.iter_mut().zip(&times) {
            *place = path.at(*time);
        }
    }
    // The whole pose moves with the topmost joints that the clip moves. Joints at rest stay with the character.
    let mut below: Vec<bool> = Vec::with_capacity(joints);
    let mut tops = Vec::new();
    for (joint, &animated) in clip.frames.animated.iter().enumerate() {
        let above = skeleton.parents()[joint].is_some_and(|parent| below[usize::from(parent)]);
        if animated && !above {
            tops.push(joint);
        }
        below.push(above || animated);
    }
    for (frame, place) in clip.frames.transforms.chunks_mut(joints).zip(&places) {
        let back = place.inverse();
        for &top in &tops {
            let parent =
                skeleton.parents()[top].map(|parent| skeleton.rest_model()[usize::from(parent)]);
            frame[top] = moved_by(frame[top], back, parent);
        }
    }
    clip.root_path = Some(Arc::new(path));
    true
}

/// Returns the place of the character in each frame according to the root, relative to the first.
fn placements(
    frames: &ClipFrames,
    joint: usize,
    channels: Channels,
    skeleton: &Skeleton,
) -> Vec<RootDelta> {
    let chain: Vec<usize> = std::iter::successors(Some(joint), |&joint| {
        skeleton.parents()[joint].map(usize::from)
    })
    .collect();
    let root = |frame: &[JointTransform]| {
        chain.iter().rev().fold(
            (DVec3::ZERO, DQuat::IDENTITY, DVec3::ONE),
            |(at, turn, scale), &joint| {
                let local = if frames.animated[joint] {
                    frame[joint]
                } else {
                    skeleton.rest_of(joint as JointIndex)
                };
                let at = at + turn * (scale * local.translation.as_dvec3());
                (
                    at,
                    // Products of many rotations drift from unit length.
                    (turn * local.rotation.as_dquat()).normalize(),
                    scale * local.scale.as_dvec3(),
                )
            },
        )
    };
    let mut first = None;
    let mut yaw = 0.0;
    let place = |frame: &[JointTransform]| {
        let (at, turn, _) = root(frame);
        let (start, rest) = *first.get_or_insert((at, turn));
        if channels.turn {
            let turned = yaw_of(turn * rest.inverse());
            // The shorter way around from the frame before.
            let step = turned - yaw;
            yaw += step - (step / std::f64::consts::TAU).round() * std::f64::consts::TAU;
        }
        let mut translation = DVec3::ZERO;
        if channels.ground {
            let ground = |v: DVec3| DVec3::new(v.x, 0.0, v.z);
            // A root beside the origin is moved by a turn around the origin. That part isn't travel.
            translation = ground(at) - turned(ground(start), yaw);
        }
        if channels.height {
            translation.y = at.y - start.y;
        }
        RootDelta::new(translation, yaw)
    };
    frames
        .transforms
        .chunks(skeleton.len())
        .map(place)
        .collect()
}

/// Returns the angle of a rotation about the up axis: that of the turn which, followed by a tilt,
/// makes up the rotation.
fn yaw_of(rotation: DQuat) -> f64 {
    let angle = 2.0 * rotation.y.atan2(rotation.w);
    // Rounded, so that it is the same on every platform.
    const STEPS: f64 = (1_u64 << 40) as f64;
    (angle * STEPS).round() / STEPS
}

/// Moves a joint in model space, given its parent's matrix.
fn moved_by(joint: JointTransform, by: RootDelta, parent: Option<Affine3A>) -> JointTransform {
    let JointTransform {
        translation,
        rotation,
        scale,
    } = joint;
    let turn = by.rotation();
    match parent {
        None => {
            let at = turned(translation.as_dvec3(), by.turn) + by.translation;
            JointTransform {
                translation: at.as_vec3(),
                rotation: (turn * rotation).normalize(),
                scale,
            }
        }
        Some(parent) => {
            let at =
                turned(parent.transform_point3(translation).as_dvec3(), by.turn) + by.translation;
            // The turn is about model space's up axis, and must be expressed in the parent's axes.
            let (_, above, _) = parent.to_scale_rotation_translation();
            let rotation: Quat = above.inverse() * turn * above * rotation;
            let at: Vec3 = parent.inverse().transform_point3(at.as_vec3());
            JointTransform {
                translation: at,
                rotation: rotation.normalize(),
                scale,
            }
        }
    }
}

/// The largest extent of the joints at rest, 1 if there is none.
fn size(skeleton: &Skeleton) -> f64 {
    let places = || {
        skeleton
            .rest_model()
            .iter()
            .map(|joint| joint.translation.as_dvec3())
    };
    let low = places().fold(DVec3::MAX, DVec3::min);
    let size = (places().fold(DVec3::MIN, DVec3::max) - low).max_element();
    if size > 0.0 && size.is_finite() {
        size
    } else {
        1.0
    }
}

#[cfg(test)]
#[path = "tests/root_motion.rs"]
mod tests;
