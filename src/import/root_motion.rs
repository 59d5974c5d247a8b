//! Extracts the movement of a clip's root from its pose.
//!
//! The path of the root joint is that of the character: over the ground, up and down, and in the
//! direction that it faces. The whole pose is moved back by it, so that pose and movement together
//! are the clip as it was.

use super::{ClipEntry, Manifest, RootMotionEntry, names::listed};
use crate::{
    format::{Diagnostic, FormatError},
    model::{
        ClipError, ClipFrames, JointIndex, JointTransform, Model, Reach, RootDelta, RootPath,
        SkeletalClip, Skeleton, turned,
    },
    spelling::did_you_mean,
};
use glam::{Affine3A, DQuat, DVec3, Quat, Vec3};
use std::{collections::HashMap, sync::Arc};

/// The movements to extract from a clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Channels {
    ground: bool,
    height: bool,
    turn: bool,
    steady: bool,
}

impl Channels {
    fn of(manifest: &Manifest, entry: &ClipEntry) -> Option<Self> {
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

/// Extracts the root motion from the clips of one character.
pub(super) struct RootMotion {
    joint: JointIndex,
    /// The clips done so far, so that clips that share their frames still do so afterwards. Each
    /// comes with the original clip, which keeps the key valid.
    done: HashMap<(usize, Channels), [SkeletalClip; 2]>,
}

impl RootMotion {
    /// # Errors
    /// The skeleton lacks the joint that the manifest names.
    pub(super) fn new(
        file: &str,
        manifest: &Manifest,
        skeleton: &Skeleton,
    ) -> Result<Self, FormatError> {
        let named = manifest
            .root_motion
            .as_ref()
            .and_then(|entry| entry.joint.as_deref());
        if let Some(name) = named.filter(|name| skeleton.joint(name).is_none()) {
            let names = || skeleton.names().iter().map(|name| &**name);
            let message = format!(
                "`root_motion`: the model has no joint `{name}`; it has {}",
                listed(names().collect::<Vec<_>>())
            );
            let error = Diagnostic::error(file, message);
            let hint = did_you_mean(name, names())
                .unwrap_or_else(|| "name the joint that travels".to_owned());
            return Err(FormatError::one(error.with_hint(hint)));
        }
        Ok(Self {
            joint: root_joint(manifest, skeleton),
            done: HashMap::new(),
        })
    }

    /// Returns a clip that stays in place, and separately the movement of the character.
    ///
    /// # Errors
    /// The frames in place hold numbers that are not finite.
    pub(super) fn take_out(
        &mut self,
        manifest: &Manifest,
        entry: &ClipEntry,
        clip: SkeletalClip,
        skeleton: &Skeleton,
    ) -> Result<SkeletalClip, ClipError> {
        // Differences have no path of their own.
        if clip.additive {
            return Ok(clip);
        }
        let mut clip = match Channels::of(manifest, entry) {
            None => clip,
            Some(channels) => {
                let key = (clip.frames_key(), channels);
                let mut done = match self.done.get(&key) {
                    Some([done, _]) => done.clone(),
                    None => {
                        let done = in_place(&clip, usize::from(self.joint), channels, skeleton)?;
                        self.done.insert(key, [done.clone(), clip.clone()]);
                        done
                    }
                };
                // Clips that share frames may differ in their timing.
                done.timing = clip.timing;
                done
            }
        };
        if let Some(speed) = entry.ground_speed {
            clip.set_root_path(steady_path(&clip, speed));
        }
        Ok(clip)
    }

    /// Extracts the root motion from the model's clips that no entry names. A clip that cannot be
    /// put in place stays as it is.
    pub(super) fn take_out_of_others(
        &mut self,
        manifest: &Manifest,
        model: &mut Model,
        reach: &mut Reach,
    ) {
        let others = |clip: &&mut SkeletalClip| !manifest.clips.contains_key(&*clip.timing.name);
        for clip in model.clips.iter_mut().filter(others) {
            let in_place = self.take_out(
                manifest,
                &ClipEntry::default(),
                clip.clone(),
                &model.skeleton,
            );
            if let Some(in_place) = in_place
                .ok()
                .filter(|in_place| reach.admit(&model.skeleton, in_place).is_ok())
            {
                *clip = in_place;
            }
        }
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

fn in_place(
    clip: &SkeletalClip,
    joint: usize,
    channels: Channels,
    skeleton: &Skeleton,
) -> Result<SkeletalClip, ClipError> {
    let joints = skeleton.len();
    if joint >= joints || clip.frame_count() < 2 || *clip.joints() != *skeleton.names() {
        return Ok(clip.clone());
    }
    let mut frames = clip.to_frames();
    let times: Vec<f64> = (0..clip.frame_count())
        .map(|frame| clip.frame_time(frame))
        .collect();
    let mut places = placements(clip, &frames, joint, channels, skeleton);
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
        return Ok(clip.clone());
    };
    if channels.steady {
        for (place, time) in places.iter_mut().zip(&times) {
            *place = path.at(*time);
        }
    }
    // The whole pose moves with the topmost joints that the clip moves. Joints at rest stay with the character.
    let mut below: Vec<bool> = Vec::with_capacity(joints);
    let mut tops = Vec::new();
    for joint in 0..joints {
        let above = skeleton.parents()[joint].is_some_and(|parent| below[usize::from(parent)]);
        if clip.animates(joint) && !above {
            tops.push(joint);
        }
        below.push(above || clip.animates(joint));
    }
    for (frame, place) in frames.transforms.chunks_mut(joints).zip(&places) {
        let back = place.inverse();
        for &top in &tops {
            let parent =
                skeleton.parents()[top].map(|parent| skeleton.rest_model()[usize::from(parent)]);
            frame[top] = moved_by(frame[top], back, parent);
        }
    }
    let mut out = match clip.frame_times() {
        None => SkeletalClip::new(clip.timing.clone(), &frames)?,
        Some(times) => SkeletalClip::at_times(clip.timing.clone(), &frames, times)?,
    };
    out.set_root_path(Some(Arc::new(path)));
    Ok(out.with_morphs_of(clip, skeleton))
}

/// Returns the place of the character in each frame according to the root, relative to the first.
fn placements(
    clip: &SkeletalClip,
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
                let local = if clip.animates(joint) {
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
mod tests {
    use super::*;
    use crate::model::{ClipTiming, Joint};
    use fastrand::Rng;

    const ALL: Channels = Channels {
        ground: true,
        height: true,
        turn: true,
        steady: false,
    };

    /// stand 0 → hips 1 → spine 2, and a target 3 beside them, all turned and shifted at rest.
    fn skeleton(random: &mut Rng) -> Skeleton {
        let joint = |(at, parent): (usize, Option<u16>)| Joint {
            name: ["stand", "hips", "spine", "target"][at].into(),
            parent,
            rest: transform(random, 3.0),
            inverse_bind: Affine3A::IDENTITY,
        };
        Skeleton::new(
            [None, Some(0), Some(1), None]
                .into_iter()
                .enumerate()
                .map(joint)
                .collect(),
        )
        .unwrap()
    }

    fn transform(random: &mut Rng, angle: f32) -> JointTransform {
        let mut number = || random.f32() - 0.5;
        let axis = Vec3::new(number(), number(), number() + 0.1).normalize();
        JointTransform::new(
            Vec3::new(number(), number(), number()),
            Quat::from_axis_angle(axis, angle * number()),
        )
    }

    /// A walk of ten frames on a curve, in which `moves` is moved about; the others turn on the spot.
    fn walk(
        random: &mut Rng,
        skeleton: &Skeleton,
        moves: usize,
        animated: [bool; 4],
    ) -> SkeletalClip {
        let mut transforms = Vec::new();
        for frame in 0..10 {
            for joint in 0..4_u16 {
                let mut local = skeleton.rest_of(joint);
                local.rotation = (transform(random, 0.2).rotation * local.rotation).normalize();
                if usize::from(joint) == moves {
                    let way = frame as f32 * 0.3;
                    let turn = Quat::from_rotation_y(way * 0.4);
                    local.translation =
                        turn * local.translation + Vec3::new(0.2 * way, 0.1 * way, -way);
                    local.rotation = turn * local.rotation;
                }
                transforms.push(local);
            }
        }
        let frames = ClipFrames {
            joints: skeleton.names().clone(),
            animated: animated.into(),
            transforms,
        };
        SkeletalClip::new(ClipTiming::new("walk", 0.9), &frames).unwrap()
    }

    /// The joints in model space.
    fn model(clip: &SkeletalClip, frame: usize, skeleton: &Skeleton) -> Vec<Affine3A> {
        let mut out: Vec<Affine3A> = Vec::new();
        for joint in 0..skeleton.len() {
            let rest = skeleton.rest_of(joint as JointIndex);
            let local = if clip.animates(joint) {
                clip.transform_at(joint, frame)
            } else {
                rest
            };
            let parent = skeleton.parents()[joint]
                .map_or(Affine3A::IDENTITY, |parent| out[usize::from(parent)]);
            out.push(parent * local.to_affine());
        }
        out
    }

    fn affine(delta: RootDelta) -> Affine3A {
        Affine3A::from_rotation_translation(delta.rotation(), delta.translation())
    }

    #[test]
    fn the_pose_in_place_and_the_way_are_the_clip_as_it_was() {
        let mut random = Rng::with_seed(1);
        for round in 0..60 {
            let skeleton = skeleton(&mut random);
            // The root moves, or the hips under a root that stays behind.
            let (joint, animated) = [(0, [true; 4]), (1, [false, true, true, true])][round % 2];
            let clip = walk(&mut random, &skeleton, joint, animated);
            let channels = Channels {
                steady: round % 3 == 0,
                height: round % 5 > 0,
                ..ALL
            };
            let found = in_place(&clip, joint, channels, &skeleton).unwrap();
            let path = found.root_path().expect("it travels");
            for frame in 0..10 {
                let carried = affine(path.at(found.frame_time(frame)));
                let [before, after] = [&clip, &found].map(|clip| model(clip, frame, &skeleton));
                for moved in (0..4).filter(|&moved| clip.animates(moved)) {
                    let there = carried * after[moved];
                    assert!(
                        there.abs_diff_eq(before[moved], 1e-4),
                        "{round} {frame} {moved}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_root_in_place_stays_over_its_spot_and_faces_the_same_way() {
        let mut random = Rng::with_seed(2);
        let skeleton = skeleton(&mut random);
        let clip = walk(&mut random, &skeleton, 0, [true; 4]);
        let found = in_place(&clip, 0, ALL, &skeleton).unwrap();
        let start = found.transform_at(0, 0);
        for frame in 0..10 {
            let root = found.transform_at(0, frame);
            assert!(root.translation.distance(start.translation) < 1e-5);
            let yaw = yaw_of((root.rotation * start.rotation.inverse()).as_dquat());
            assert!(yaw.abs() < 1e-5, "{yaw}");
        }
        // Without the turn, the way is in the axes of the first frame.
        let straight = in_place(
            &clip,
            0,
            Channels {
                turn: false,
                height: false,
                ..ALL
            },
            &skeleton,
        )
        .unwrap();
        let way = straight.root_path().unwrap().total();
        let moved = clip.transform_at(0, 9).translation - clip.transform_at(0, 0).translation;
        assert!(
            way.turn == 0.0 && way.translation().distance(Vec3::new(moved.x, 0.0, moved.z)) < 1e-6
        );
        assert!(
            (straight.transform_at(0, 9).translation.y - clip.transform_at(0, 9).translation.y)
                .abs()
                < 1e-6
        );
    }

    #[test]
    fn joints_at_rest_and_clips_that_stay_are_left_as_they_are() {
        let mut random = Rng::with_seed(3);
        let skeleton = skeleton(&mut random);
        let clip = walk(&mut random, &skeleton, 0, [true, true, true, false]);
        let found = in_place(&clip, 0, ALL, &skeleton).unwrap();
        assert!(!found.animates(3));
        // The stand does not move, whatever the target does.
        let clip = walk(&mut random, &skeleton, 3, [false, true, true, true]);
        let found = in_place(&clip, 0, ALL, &skeleton).unwrap();
        assert_eq!(
            (found.frames_key(), found.root_path()),
            (clip.frames_key(), None)
        );
    }

    #[test]
    fn more_than_a_whole_turn_is_counted() {
        let skeleton = skeleton(&mut Rng::with_seed(4));
        let turn = |frame: usize| {
            JointTransform::new(Vec3::ZERO, Quat::from_rotation_y(frame as f32 * 0.5))
        };
        let transforms = (0..41).flat_map(|frame| [turn(frame); 4]).collect();
        let frames = ClipFrames {
            joints: skeleton.names().clone(),
            animated: vec![],
            transforms,
        };
        let clip = SkeletalClip::new(ClipTiming::new("spin", 4.0), &frames).unwrap();
        for steady in [false, true] {
            let found = in_place(&clip, 0, Channels { steady, ..ALL }, &skeleton).unwrap();
            assert!((found.root_path().unwrap().total().turn - 20.0).abs() < 1e-4);
        }
    }

    #[test]
    fn what_is_steady_keeps_its_sway() {
        let skeleton = skeleton(&mut Rng::with_seed(5));
        let sway = |frame: usize| (frame as f32 * std::f32::consts::FRAC_PI_4).sin() * 0.1;
        let hips = |frame: usize| {
            JointTransform::new(
                Vec3::new(sway(frame), 1.0, frame as f32 * -0.2),
                Quat::from_rotation_y(sway(frame)),
            )
        };
        let rest = |joint: u16| skeleton.rest_of(joint);
        let transforms = (0..9)
            .flat_map(|frame| [hips(frame), rest(1), rest(2), rest(3)])
            .collect();
        let frames = ClipFrames {
            joints: skeleton.names().clone(),
            animated: vec![],
            transforms,
        };
        let clip = SkeletalClip::new(ClipTiming::new("walk", 1.0), &frames).unwrap();
        let found = in_place(
            &clip,
            0,
            Channels {
                steady: true,
                ..ALL
            },
            &skeleton,
        )
        .unwrap();
        assert!((found.root_path().unwrap().ground_speed() - 1.6).abs() < 1e-5);
        for frame in 0..9 {
            let expected = JointTransform {
                translation: Vec3::new(sway(frame), 1.0, 0.0),
                ..hips(frame)
            };
            let root = found.transform_at(0, frame);
            assert!(root.translation.distance(expected.translation) < 1e-5);
            assert!(root.rotation.angle_between(expected.rotation) < 1e-3);
        }
    }
}
