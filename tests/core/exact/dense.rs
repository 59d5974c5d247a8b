//! Root motion, against the sum of very short steps: in each, the clips of the controller's layers go on by what their times say,
//! and the character makes the mean of their ways by their shares of the pose.

use super::programs::{Cast, act, advance, begin, cast, span};
use bevy_marionette::controller::{AnimationController, BlendMode, Clips, PlaybackEvent, TrackId};
use bevy_marionette::{
    internals::controller::LayerInfo,
    internals::model::SoaTransform,
    internals::pose::{ClipLayer, Mix},
    model::{ClipFrames, ClipTiming, JointTransform, PlaybackMode, RootDelta, SkeletalClip},
    pose::Mask,
};
use fastrand::Rng;
use glam::{DQuat, DVec3};

/// Nanoseconds of a step, and of one in which something happens.
const STEP: u64 = 100_000;
const LEAST: u64 = 400;

/// A clip's share of the pose at the root joint, and its place in it.
struct Part {
    track: TrackId,
    clip: usize,
    share: f64,
    place: f64,
    /// How fast it went there; NaN if that isn't known.
    pace: f64,
}

/// Poses of a single joint: one of a clip that moves it, and one of a clip that doesn't.
struct Poses {
    moves: SkeletalClip,
    stays: SkeletalClip,
    masks: [Mask; 2],
}

impl Poses {
    fn new() -> Self {
        let [moves, stays] = [true, false].map(|moves| {
            let frames = ClipFrames {
                joints: ["root".into()].into(),
                animated: vec![moves],
                transforms: vec![JointTransform::IDENTITY],
            };
            SkeletalClip::new(ClipTiming::new("pose", 0.0), &frames).unwrap()
        });
        let masks = [Mask::from_weights([0.5]), Mask::empty(1)];
        Self {
            moves,
            stays,
            masks,
        }
    }

    fn parts(&self, controller: &AnimationController, cast: &Cast) -> Vec<Part> {
        let infos: Vec<_> = controller
            .layers(cast)
            .filter(|info| info.mode != BlendMode::Additive && !cast.is_additive(info.clip))
            .collect();
        let layer = |info: &LayerInfo| {
            let clip = match cast.reaches_root(info.clip) {
                true => &self.moves,
                false => &self.stays,
            };
            let mask = info.mask.map(|mask| match cast.root_mask(mask) {
                0.0 => &self.masks[1],
                _ => &self.masks[0],
            });
            ClipLayer {
                weight: info.weight,
                set: info.set,
                priority: info.priority,
                mode: info.mode,
                base: info.base,
                mask,
                ..ClipLayer::new(clip, 0.0)
            }
        };
        let layers: Vec<_> = infos.iter().map(layer).collect();
        let rest = [SoaTransform::IDENTITY];
        let mix = Mix {
            layers: &layers,
            priority_blend: controller.priority_blend,
            rest: &rest,
            unit_scale: true,
        };
        let part = |(info, share): (&LayerInfo, f32)| Part {
            track: info.track,
            clip: info.clip,
            share: share.into(),
            place: info.time,
            pace: f64::NAN,
        };
        infos.iter().zip(mix.shares(0)).map(part).collect()
    }

    /// The way of a short step, given the parts of the pose before and after it. `None` if something happened in it.
    fn way(
        &self,
        cast: &Cast,
        before: &[Part],
        after: &mut [Part],
        seconds: f64,
    ) -> Option<RootDelta> {
        let same = |(a, b): (&Part, &Part)| (a.track, a.clip) == (b.track, b.clip);
        let is_same = before.len() == after.len() && before.iter().zip(&*after).all(same);
        if !is_same {
            return None;
        }
        let mut sum = RootDelta::IDENTITY;
        for (a, b) in before.iter().zip(after) {
            let timing = cast.timing(a.clip)?;
            let mut way = b.place - a.place;
            // A loop may have begun anew, in the track's own playback.
            if way.abs() > 0.5 * timing.duration {
                way -= timing.duration.copysign(way);
            }
            b.pace = way / seconds;
            let is_steady = a.pace.is_nan() || (b.pace - a.pace).abs() < 0.05;
            let is_plausible =
                is_steady && way.abs() < 30.0 * seconds && (a.share - b.share).abs() < 0.02;
            if !is_plausible {
                return None;
            }
            let Some(path) = cast.root_path(a.clip) else {
                continue;
            };
            let way = path.between(PlaybackMode::Loop, a.place, a.place + way);
            let share = 0.5 * (a.share + b.share);
            sum.translation += turned(way.translation, -0.5 * way.turn) * share;
            sum.turn += way.turn * share;
        }
        Some(RootDelta::new(
            turned(sum.translation, 0.5 * sum.turn),
            sum.turn,
        ))
    }

    /// Advances in short steps, and returns the way and its length, with radians as meters.
    fn advance(
        &self,
        controller: &mut AnimationController,
        cast: &Cast,
        nanos: u64,
    ) -> (RootDelta, f64) {
        let (mut sum, mut length) = (RootDelta::IDENTITY, 0.0);
        let mut out: Vec<PlaybackEvent> = Vec::new();
        let (mut left, mut step) = (nanos, STEP);
        let mut before = self.parts(controller, cast);
        while left > 0 {
            let nanos = step.min(left);
            let saved = (nanos > LEAST).then(|| controller.clone());
            controller
                .advance(nanos as f64 / 1e9, cast, &mut out)
                .unwrap();
            out.clear();
            let mut after = self.parts(controller, cast);
            let way = self.way(cast, &before, &mut after, nanos as f64 / 1e9);
            if let (None, Some(saved)) = (way, saved) {
                *controller = saved;
                step = nanos / 4;
                continue;
            }
            let way = way.unwrap_or_default();
            length += way.translation.length() + way.turn.abs();
            sum = sum.then(way);
            (before, left) = (after, left - nanos);
            step = (step * 2).min(STEP);
        }
        (sum, length)
    }
}

fn turned(v: DVec3, turn: f64) -> DVec3 {
    DQuat::from_rotation_y(turn) * v
}

/// Plays a program, and returns its ways: that of the controller, that of short steps, and the length.
fn play(seed: u64, poses: &Poses) -> Vec<(RootDelta, RootDelta, f64)> {
    let mut random = Rng::with_seed(seed);
    let mut cast = cast(&mut random);
    let mut whole = begin(&mut random);
    let mut ways = Vec::new();
    for _ in 0..random.usize(2..5) {
        for _ in 0..random.usize(1..4) {
            act(&mut whole, &mut cast, &mut random);
        }
        let nanos = span(&mut random);
        // What the game did takes effect.
        whole.advance(0.0, &cast, &mut Vec::new()).unwrap();
        let mut dense = whole.clone();
        let (way, _) = advance(&mut whole, &cast, nanos, &mut Vec::new(), || 16_666_667);
        let (short, length) = poses.advance(&mut dense, &cast, nanos);
        ways.push((way, short, length));
    }
    ways
}

#[test]
fn root_motion_is_that_of_very_short_steps() {
    let (poses, mut far, mut worst) = (Poses::new(), 0.0, 0.0_f64);
    let (mut parts, mut wrong) = (0, Vec::new());
    let count = super::count() / 20;
    for seed in super::first()..super::first() + count {
        for (at, (way, short, length)) in play(seed, &poses).into_iter().enumerate() {
            let off = way
                .translation
                .distance(short.translation)
                .max((way.turn - short.turn).abs());
            let apart = off / length.max(0.01);
            if apart > 1e-4 {
                wrong.push(format!("program {seed}, part {at}: {way:?} is not {short:?}, {apart:e} of {length} m apart"));
            }
            (far, worst, parts) = (far + length, worst.max(apart), parts + 1);
        }
    }
    println!(
        "{parts} parts, {far:.1} m, at most {worst:e} of the way apart, {} wrong",
        wrong.len()
    );
    assert!(
        wrong.is_empty(),
        "{}",
        wrong[..wrong.len().min(12)].join("\n")
    );
}
