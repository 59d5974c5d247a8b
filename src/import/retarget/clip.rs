//! The frames of a retargeted clip.

use super::{
    Drive, Retarget, RetargetError, above,
    body::{Arm, unit},
    feet::{Feet, LegFrame},
    limbs, rotations,
};
use crate::{
    import::ImportLimits,
    model::{ClipFrames, JointIndex, JointTransform, RawClip, SkeletalClip},
    pose::{ClipLayer, Evaluate, Scratch},
};
use glam::{Affine3A, Quat, Vec3, Vec3A};

/// Seconds between frames, at most, as long as that doesn't make too many of them.
const STEP: f64 = 1.0 / 60.0;
const MOST_FRAMES: usize = 100_000;

/// Makes the frames of [`Retarget::run`], which can be edited before a clip is built of them.
pub(in crate::import) fn retarget_frames(
    map: &Retarget,
    clip: &SkeletalClip,
    limits: &ImportLimits,
) -> Result<RawClip, RetargetError> {
    let clip = &clip.bind(map.source);
    let (times, is_even) = if map.is_same && map.is_joint_by_joint() {
        given(clip)
    } else {
        times(clip)
    };
    let joints = map.target.len();
    // Known before anything is made, so that a short file can't ask for gigabytes.
    let bytes = times
        .len()
        .saturating_mul(joints)
        .saturating_mul(size_of::<JointTransform>());
    if bytes as u64 > limits.clip_bytes {
        let clip = clip.timing.name.to_string();
        return Err(RetargetError::TooLarge {
            clip,
            frames: times.len(),
            joints,
        });
    }
    let animated = animated(map, clip);
    let mut out = ClipFrames {
        joints: map.target.names().clone(),
        animated: animated.clone(),
        transforms: Vec::with_capacity(times.len() * joints),
    };
    let moves_feet = !clip.additive
        && !map.is_same
        && map.to.legs.is_some_and(|legs| {
            legs.iter()
                .flat_map(|leg| leg.joints)
                .chain([map.to.hips])
                .all(|joint| animated[usize::from(joint)])
        });
    let mut feet = Feet::new(map, clip).filter(|_| moves_feet);
    let arms = arms(map, &animated, clip);
    let mut hands: Vec<[Option<Vec3>; 2]> = Vec::new();
    let mut scratch = Scratch::default();
    for &(time, shown) in &times {
        let layers = [ClipLayer::new(clip, shown)];
        Evaluate::new(map.source, &layers).run_clips(None, &mut scratch);
        let pose = SourcePose::new(map, &scratch);
        let frame = frame(map, &animated, &pose, &mut out.transforms);
        if let Some(feet) = &mut feet {
            feet.push(time, |side| {
                let (from, to) = (map.from.legs?[side], map.to.legs?[side]);
                let [thigh, _, foot] = to.joints.map(usize::from);
                let source_foot = usize::from(from.joints[2]);
                Some(LegFrame {
                    thigh: frame.model[thigh].translation.into(),
                    ankle: frame.model[foot].translation.into(),
                    rotation: frame.rotations[foot],
                    source: from.contacts.map(|contact| {
                        pose.places[source_foot] + pose.rotations[source_foot] * contact
                    }),
                    source_ankle: pose.places[source_foot],
                })
            });
        }
        if arms.iter().any(Option::is_some) {
            hands.push(arms.map(|arm| arm.map(|arm| arm.reach(&pose.places))));
        }
    }
    map.travel(clip, &mut out.transforms);
    let feet = feet.map(|feet| feet.goals());
    limbs::place(map, feet.as_deref(), &hands, &mut out.transforms);
    if clip.additive {
        // Differences from the source's rest pose as it is retargeted.
        Evaluate::new(map.source, &[]).run_clips(None, &mut scratch);
        let mut rest = Vec::with_capacity(joints);
        frame(map, &animated, &SourcePose::new(map, &scratch), &mut rest);
        for (at, transform) in out.transforms.iter_mut().enumerate() {
            *transform = transform.difference_to(&rest[at % joints]);
        }
    }
    let times = times.iter().filter(|_| !is_even).map(|(time, _)| *time);
    let mut raw = RawClip::new(clip.timing.clone(), out, times.collect());
    raw.additive = clip.additive;
    raw.rate = clip.frame_rate();
    raw.morphs = clip.morph_frames();
    raw.morphs.bind(map.target.morphs());
    Ok(raw)
}

/// The same frames as those of a clip.
fn given(clip: &SkeletalClip) -> (Vec<(f64, f64)>, bool) {
    let time = |frame: usize| (clip.frame_time(frame), clip.time_showing(frame));
    (
        (0..clip.frame_count()).map(time).collect(),
        clip.frame_times().is_none(),
    )
}

/// Returns the times of the frames, each with the time at which the source shows it, and `true` if
/// they are evenly spaced.
fn times(clip: &SkeletalClip) -> (Vec<(f64, f64)>, bool) {
    let (given, duration) = (clip.frame_count(), clip.timing.duration);
    if given < 2 || duration <= 0.0 {
        return (vec![(0.0, 0.0)], true);
    }
    let parts = |length: f64| ((length / STEP).ceil() as usize).max(1);
    let is_long = duration / STEP > MOST_FRAMES as f64;
    if clip.frame_times().is_none() {
        // Frames stay where they are, with others between them.
        let gaps = given - 1;
        let count = if is_long {
            gaps
        } else {
            gaps * parts(duration / gaps as f64)
        };
        let time = |frame: usize| {
            if frame == count {
                duration
            } else {
                duration * frame as f64 / count as f64
            }
        };
        return (
            (0..=count)
                .map(|frame| (time(frame), time(frame)))
                .collect(),
            true,
        );
    }
    // Here, too: feet land and lift off at frames, and two frames at one time are a step.
    let mut out = vec![(0.0, clip.time_showing(0))];
    for frame in 1..given {
        let (from, to) = (clip.frame_time(frame - 1), clip.frame_time(frame));
        let cuts = if is_long { 1 } else { parts(to - from) };
        let between = (1..cuts).map(|cut| from + (to - from) * cut as f64 / cuts as f64);
        out.extend(between.map(|time| (time, time)));
        out.push((to, clip.time_showing(frame)));
    }
    (out, false)
}

/// Returns, per joint of the target, `true` if the clip moves it: the joints that the source moves
/// and, if that is the whole body, all of it, unless both rest alike.
// A clip that moves the body as a whole would otherwise leave joints in the target's rest pose that
// the source keeps in its own.
fn animated(map: &Retarget, clip: &SkeletalClip) -> Vec<bool> {
    let moves = |joint: JointIndex| clip.animates(usize::from(joint));
    let whole = !clip.additive
        && !map.is_same
        && (moves(map.from.hips) || map.from.root.is_some_and(moves));
    // A joint that takes over what joints above its source do, which the target lacks.
    let above = |drive: &Drive| {
        let [from, _] = drive.from;
        let is_free = map.is_same && drive.same.is_none() && from != map.from.hips;
        is_free && map.source.ancestors(from).any(moves)
    };
    map.drives
        .iter()
        .map(|drive| {
            drive.is_some_and(|drive| whole || drive.from.into_iter().any(moves) || above(&drive))
        })
        .collect()
}

/// The arms whose hands are placed.
fn arms(map: &Retarget, animated: &[bool], clip: &SkeletalClip) -> [Option<ArmPair>; 2] {
    [0, 1].map(|side| {
        let (source, target) = (map.from.arms[side]?, map.to.arms[side]?);
        let is_moved = !clip.additive
            && !map.is_same
            && target
                .joints
                .iter()
                .all(|joint| animated[usize::from(*joint)]);
        is_moved.then_some(ArmPair {
            source,
            ratio: target.length / source.length,
        })
    })
}

/// An arm of the source, and its size relative to the target's.
#[derive(Clone, Copy, Debug)]
struct ArmPair {
    source: Arm,
    /// The length of the target's arm relative to the source's.
    ratio: f32,
}

impl ArmPair {
    /// The way from the target's shoulder to its hand.
    fn reach(&self, places: &[Vec3]) -> Vec3 {
        let [shoulder, _, hand] = self.source.joints.map(|joint| places[usize::from(joint)]);
        self.ratio * (hand - shoulder)
    }
}

/// The source in the target's model space.
struct SourcePose {
    /// Relative to the parents, in the source's own space.
    local: Vec<JointTransform>,
    places: Vec<Vec3>,
    /// In the source's own axes, turned.
    rotations: Vec<Quat>,
    /// From rest.
    turns: Vec<Quat>,
}

impl SourcePose {
    fn new(map: &Retarget, scratch: &Scratch) -> Self {
        let local =
            |joint: JointIndex| scratch.local()[usize::from(joint) / 4].get(usize::from(joint) % 4);
        let local: Vec<JointTransform> = map.source.joints().map(local).collect();
        let turn = |joint: JointIndex| unit(local[usize::from(joint)].rotation);
        let rotations: Vec<Quat> = rotations(map.source, turn)
            .into_iter()
            .map(|r| map.turn * r)
            .collect();
        let rest = map
            .from
            .rotations
            .iter()
            .map(|rest| (map.turn * *rest).conjugate());
        Self {
            places: scratch
                .model()
                .iter()
                .map(|joint| map.turn * Vec3::from(joint.translation))
                .collect(),
            turns: rotations
                .iter()
                .zip(rest)
                .map(|(now, rest)| unit(*now * rest))
                .collect(),
            rotations,
            local,
        }
    }
}

/// A frame of the target before its feet are placed.
struct Frame {
    rotations: Vec<Quat>,
    model: Vec<Affine3A>,
}

fn frame(
    map: &Retarget,
    animated: &[bool],
    pose: &SourcePose,
    out: &mut Vec<JointTransform>,
) -> Frame {
    let (joints, first) = (map.target.len(), out.len());
    let mut frame = Frame {
        rotations: Vec::with_capacity(joints),
        model: Vec::with_capacity(joints),
    };
    // Joints come parents first, so everything above is final.
    for joint in map.target.joints() {
        let at = usize::from(joint);
        let mut local = map.target.rest_of(joint);
        let over = above(&frame.model, map.target, at);
        let parent = map.target.parents()[at].map_or(Quat::IDENTITY, |parent| {
            frame.rotations[usize::from(parent)]
        });
        match map.drives[at].filter(|_| animated[at]) {
            Some(Drive {
                from: [from, _],
                same: Some(same),
                ..
            }) => local = same.carry(&pose.local[usize::from(from)]),
            Some(Drive {
                from: [a, b],
                share,
                align,
                ..
            }) => {
                let [a, b] = [a, b].map(|from| pose.turns[usize::from(from)]);
                let turn = if share > 0.0 { a.slerp(b, share) } else { a };
                local.rotation =
                    unit(parent.conjugate() * unit(turn * align * map.to.rotations[at]));
                let place = if joint == map.to.hips {
                    Some(moved(map, pose, map.from.hips, at))
                } else if map.to.root == Some(joint) {
                    map.from.root.map(|root| moved(map, pose, root, at))
                } else {
                    None
                };
                let translation = place.map(|place| over.inverse().transform_point3(place));
                local.translation = translation
                    .filter(|at| at.is_finite())
                    .unwrap_or(local.translation);
            }
            None => {}
        }
        frame.rotations.push(unit(parent * unit(local.rotation)));
        frame.model.push(over * local.to_affine());
        out.push(local);
    }
    // Rotations alone leave the legs' length to the target. The hips make up for the difference.
    let hips = usize::from(map.to.hips);
    let shift = hips_shift(map, pose, &frame).filter(|_| animated[hips] && !map.is_same);
    if let Some(shift) = shift {
        let over = above(&frame.model, map.target, hips).inverse();
        out[first + hips].translation += Vec3::from(over.matrix3 * Vec3A::from(shift));
        let below = (map.to.hips..=map.target.last_descendant(map.to.hips))
            .filter(|&joint| joint == map.to.hips || map.target.descends(joint, map.to.hips));
        below.for_each(|joint| frame.model[usize::from(joint)].translation += Vec3A::from(shift));
    }
    frame
}

/// Returns the place of a joint of the target that moves like one of the source, in proportion.
fn moved(map: &Retarget, pose: &SourcePose, source: JointIndex, target: usize) -> Vec3 {
    let source = usize::from(source);
    map.to.places[target] + map.ratio * (pose.places[source] - map.turn * map.from.places[source])
}

/// Returns the movement of the hips, and everything below, that makes the legs, above the ankles,
/// as high as the source's and takes them as far, in proportion.
fn hips_shift(map: &Retarget, pose: &SourcePose, frame: &Frame) -> Option<Vec3> {
    let (from, to, up) = (&map.from, &map.to, map.to.up);
    let carries = to
        .legs?
        .iter()
        .all(|leg| map.target.descends(leg.joints[0], to.hips));
    let model = |joint: JointIndex| Vec3::from(frame.model[usize::from(joint)].translation);
    // The shift moves the hips, so it must move all of the legs.
    let here = to.center(model).filter(|_| carries)?;
    let now = from.center(|joint| pose.places[usize::from(joint)])?;
    let then = from.center(|joint| map.turn * from.places[usize::from(joint)])?;
    let center = to.center(|joint| to.places[usize::from(joint)])? + map.ratio * (now - then);
    let height = to.floor + to.ankle + map.ratio * (up.dot(now) - from.floor - from.ankle);
    let shift = center + up * (height - up.dot(center)) - here;
    shift.is_finite().then_some(shift)
}
