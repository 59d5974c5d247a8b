//! Root motion: what carries a character adds up to the same, however time is divided into steps.

use bevy_marionette::controller::{
    AnimationController, AnimationTrack, BlendMode, Clips, PlaybackEvent, TrackPriority,
    Transition, TransitionCurve,
};
use bevy_marionette::import::{ImportLimits, Imported, Manifest, open_manifest};
use bevy_marionette::{
    internals::model::{RootPath, SoaTransform},
    model::{ClipFrames, ClipTiming, JointTransform, PlaybackMode, RootDelta, SkeletalClip},
};
use bevy_marionette::{
    internals::pose::{ClipLayer, Evaluate, Mix, Scratch},
    pose::Mask,
};
use fastrand::Rng;
use glam::DVec3;
use std::{fs, time::Duration};

/// Clips with the ways they go. A mask `half` reaches the root with half its weight.
struct Walks(Vec<(ClipTiming, Option<RootPath>)>);

impl Clips for Walks {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|(timing, _)| &*timing.name == name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        Some(&self.0.get(index)?.0)
    }

    fn root_path(&self, index: usize) -> Option<&RootPath> {
        self.0.get(index)?.1.as_ref()
    }

    fn is_additive(&self, index: usize) -> bool {
        self.timing(index)
            .is_some_and(|timing| &*timing.name == "breathe")
    }

    fn reaches_root(&self, index: usize) -> bool {
        self.timing(index)
            .is_some_and(|timing| &*timing.name != "wave")
    }

    fn root_mask(&self, mask: &str) -> f32 {
        if mask == "half" { 0.5 } else { 0.0 }
    }
}

/// A path of `frames` with uneven speeds, over `seconds` and on the whole `ahead` and turned by `turn`.
fn path(seed: u64, seconds: f64, frames: usize, ahead: f64, turn: f64) -> RootPath {
    let mut random = Rng::with_seed(seed);
    let times: Vec<f64> = (0..=frames)
        .map(|i| seconds * i as f64 / frames as f64)
        .collect();
    let mut place = RootDelta::IDENTITY;
    let mut places = vec![place];
    for _ in 0..frames {
        let (share, mut part) = (1.0 / frames as f64, || random.f64() + 0.5);
        let step = DVec3::new(0.1 * (part() - 1.0), 0.2 * (part() - 1.0), -ahead * part()) * share;
        place = place.then(RootDelta::new(step, turn * share * part()));
        places.push(place);
    }
    RootPath::new(&times, &places).unwrap()
}

fn walks() -> Walks {
    let walk = |name: &str, seconds: f64, playback: PlaybackMode, path: Option<RootPath>| {
        (
            ClipTiming {
                playback,
                ..ClipTiming::new(name, seconds)
            },
            path,
        )
    };
    use PlaybackMode::{Loop, Once, PingPong};
    Walks(vec![
        walk("idle", 3.1, Loop, None),
        walk(
            "walk",
            32.0 / 30.0,
            Loop,
            Some(path(1, 32.0 / 30.0, 32, 1.28, 0.0)),
        ),
        walk("curve", 1.2, Loop, Some(path(2, 1.2, 18, 1.5, 0.6))),
        walk(
            "circle",
            0.9,
            Loop,
            RootPath::steady(0.9, RootDelta::new(DVec3::NEG_Z, -0.8)),
        ),
        walk("turn", 0.8, Once, Some(path(3, 0.8, 24, 0.1, 1.6))),
        walk("rock", 0.7, PingPong, Some(path(4, 0.7, 9, 0.4, 0.3))),
        walk("breathe", 2.0, Loop, Some(path(5, 2.0, 9, 5.0, 1.0))),
        walk("wave", 1.0, Loop, Some(path(6, 1.0, 9, 5.0, 1.0))),
    ])
}

fn advance(controller: &mut AnimationController, clips: &Walks, dt: f64) -> RootDelta {
    controller
        .advance_with_root_motion(dt, clips, &mut Vec::new())
        .unwrap()
}

fn secs(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn apart(a: RootDelta, b: RootDelta) -> f64 {
    a.translation
        .distance(b.translation)
        .max((a.turn - b.turn).abs())
}

#[track_caller]
fn assert_near(a: RootDelta, b: RootDelta, tolerance: f64) {
    assert!(
        apart(a, b) <= tolerance,
        "{a:?} is not {b:?}: {} apart",
        apart(a, b)
    );
}

/// Hours with fades, a queue, ramps of speed through zero, an overlay and slow motion.
fn eventful() -> AnimationController {
    let mut controller = AnimationController::playing("curve");
    let curve = controller.current_track().unwrap().id();
    let rock = controller.add_track(AnimationTrack::new("rock").weight(0.0).starting_at(0.2));
    let events = &mut controller.timeline_mut();
    for hour in 0..4 {
        let at = f64::from(hour) * 3600.0;
        for (seconds, speed) in [(10.0, 1.7), (500.0, -0.8), (900.0, 1.0)] {
            events.key_speed(
                curve,
                speed,
                at + seconds,
                secs(3.0),
                TransitionCurve::EaseInEaseOut,
            );
        }
        for (seconds, weight) in [(11.0, 0.6), (14.0, 0.0), (2000.0, 1.5), (2005.0, 0.0)] {
            events.key_weight(
                rock,
                weight,
                at + seconds,
                secs(1.5),
                TransitionCurve::Linear,
            );
        }
    }
    controller.time_scale = 0.9;
    controller
}

#[test]
fn a_million_random_steps_equal_a_single_step() {
    let clips = walks();
    let mut random = Rng::with_seed(7);
    let steps: Vec<f64> = (0..1_000_000).map(|_| random.f64() / 30.0).collect();
    let mut many = eventful();
    let mut one = many.clone();
    let (mut moved, mut events) = (RootDelta::IDENTITY, Vec::new());
    for dt in &steps {
        moved = moved.then(
            many.advance_with_root_motion(*dt, &clips, &mut events)
                .unwrap(),
        );
        events.clear();
    }
    let total = steps.iter().sum();
    let whole = advance(&mut one, &clips, total);
    println!(
        "{} s, {whole:?}: {:e} apart",
        many.time(),
        apart(moved, whole)
    );
    assert_near(moved, whole, 1e-5);
    assert!(whole.turn.abs() > 1000.0);
}

#[test]
fn a_million_steps_of_a_straight_blend_equal_a_single_step() {
    let clips = walks();
    let mut many = AnimationController::playing("walk");
    many.add_track(AnimationTrack::new("idle").weight(0.25));
    let mut one = many.clone();
    let (mut moved, mut events, mut random) = (RootDelta::IDENTITY, Vec::new(), Rng::with_seed(8));
    let mut total = 0.0;
    for _ in 0..1_000_000 {
        let dt = random.f64() / 30.0;
        total += dt;
        moved = moved.then(
            many.advance_with_root_motion(dt, &clips, &mut events)
                .unwrap(),
        );
        events.clear();
    }
    let whole = advance(&mut one, &clips, total);
    assert_near(moved, whole, 1e-5);
    let speed = 0.8 * clips.root_path(1).unwrap().total().translation.length()
        / clips.timing(1).unwrap().duration;
    assert!((whole.translation.length() / total / speed - 1.0).abs() < 1e-4);
}

/// Does something that a game would.
fn disturb(controller: &mut AnimationController, random: &mut Rng) {
    const NAMES: [&str; 8] = [
        "idle", "walk", "curve", "circle", "turn", "rock", "breathe", "wave",
    ];
    let name = NAMES[random.usize(..8)];
    let track = controller
        .tracks()
        .nth(random.usize(..6))
        .map(AnimationTrack::id);
    let fade = secs(random.f64());
    let curve = [TransitionCurve::Linear, TransitionCurve::EaseInEaseOut][random.usize(..2)];
    let now = controller.time();
    match (random.u8(..14), track) {
        (0 | 1, _) => drop(controller.cross_fade(name, fade)),
        (2, _) => drop(controller.play_with(name, Transition::fade(fade).in_phase())),
        (3, _) => drop(controller.queue_mut().set_fade(fade).extend(["turn", name])),
        (4 | 5, Some(id)) => {
            let _ =
                controller
                    .timeline_mut()
                    .key_speed(id, random.f64() * 4.0 - 2.0, now, fade, curve);
        }
        (6 | 7, Some(id)) => {
            let _ = controller
                .timeline_mut()
                .key_weight(id, random.f32(), now, fade, curve);
        }
        (8, Some(id)) => controller.track_mut(id).unwrap().seek(random.f64() * 3.0),
        (9, Some(id)) => controller.track_mut(id).unwrap().mask = Some("half".into()),
        (10, _) => {
            let _ = controller
                .timeline_mut()
                .key_priority_blend(random.f32(), now, fade, curve);
        }
        (11, Some(id)) => controller.track_mut(id).unwrap().paused ^= true,
        (12, _) => {
            let track = AnimationTrack::new(name).blend(BlendMode::Override);
            controller.play_over(track, fade, fade);
        }
        _ => {
            let priority = [TrackPriority::Low, TrackPriority::High][random.usize(..2)];
            let track = AnimationTrack::new(name)
                .priority(priority)
                .weight(random.f32())
                .speed(random.f64() * 2.0);
            controller.add_track(track);
        }
    }
}

#[test]
fn any_steps_through_anything_equal_a_single_one() {
    let clips = walks();
    let (mut random, mut worst, mut far) = (Rng::with_seed(9), 0.0_f64, 0.0);
    for round in 0..400 {
        let mut many = AnimationController::playing("walk");
        for _ in 0..6 {
            disturb(&mut many, &mut random);
            let mut one = many.clone();
            let (mut moved, mut steps) = (RootDelta::IDENTITY, Vec::new());
            for _ in 0..random.usize(1..60) {
                steps.push(random.f64() * [0.001, 0.03, 0.2][random.usize(..3)]);
                moved = moved.then(advance(&mut many, &clips, steps[steps.len() - 1]));
            }
            let whole = advance(&mut one, &clips, steps.iter().sum());
            far += whole.translation.length();
            worst = worst.max(apart(moved, whole));
            assert!(
                apart(moved, whole) < 1e-5,
                "round {round}: {moved:?} is not {whole:?}"
            );
        }
    }
    println!("{far} m, at most {worst:e} apart");
    assert!(far > 500.0);
}

// The base moves the root joint only as far as `circle` weighs, and has its share of the group only as far as it moves it: the
// share grows with the fourth power of time, and is a polynomial of too high a degree for the quadrature.
#[test]
fn the_beginning_of_a_fade_from_a_clip_without_the_root_is_the_same_in_one_step() {
    let clips = walks();
    for curve in [TransitionCurve::Linear, TransitionCurve::EaseInEaseOut] {
        let mut one = AnimationController::playing("wave");
        one.play_with("circle", Transition::fade(secs(4.0)).along(curve));
        one.add_track(AnimationTrack::new("idle"));
        let mut many = one.clone();
        for _ in 0..5 {
            let whole = advance(&mut one, &clips, 0.4);
            let steps = (0..4000).map(|_| advance(&mut many, &clips, 1e-4));
            let moved = steps.fold(RootDelta::IDENTITY, RootDelta::then);
            assert_near(moved, whole, 1e-6 * whole.translation.length());
        }
    }
}

#[test]
fn an_ordinary_step_gives_the_bits_of_one_that_looks_for_everything() {
    let clips = walks();
    let mut random = Rng::with_seed(10);
    for _ in 0..100 {
        let mut fast = AnimationController::playing(["walk", "curve", "rock"][random.usize(..3)]);
        fast.add_track(
            AnimationTrack::new("circle")
                .weight(random.f32())
                .speed(random.f64() - 0.5),
        );
        let mut full = fast.clone();
        // An event to come takes the short way out.
        full.timeline_mut()
            .key_priority_blend(0.5, 1e9, secs(1.0), TransitionCurve::Linear);
        for _ in 0..100 {
            let dt = random.f64() * 0.05;
            assert_eq!(
                advance(&mut fast, &clips, dt),
                advance(&mut full, &clips, dt)
            );
        }
    }
}

#[test]
fn a_restored_controller_goes_the_same_way_to_the_bit() {
    let clips = walks();
    let mut random = Rng::with_seed(11);
    for _ in 0..50 {
        let mut controller = AnimationController::playing("walk");
        (0..4).for_each(|_| disturb(&mut controller, &mut random));
        advance(&mut controller, &clips, random.f64());
        let snapshot = controller.clone();
        let text = ron::to_string(&snapshot).unwrap();
        let steps: Vec<f64> = (0..60).map(|_| random.f64() * 0.1).collect();
        let go = |controller: &mut AnimationController| -> Vec<RootDelta> {
            steps
                .iter()
                .map(|dt| advance(controller, &clips, *dt))
                .collect()
        };
        let first = go(&mut controller);
        controller.restore(&snapshot);
        assert_eq!(go(&mut controller), first);
        let mut loaded = AnimationController::default();
        loaded.restore(&ron::from_str(&text).unwrap());
        assert_eq!(go(&mut loaded), first);
    }
}

#[test]
fn the_character_moves_by_the_shares_of_the_pose_at_the_root() {
    let mut random = Rng::with_seed(12);
    let clips = walks();
    let masks = [Mask::full(1), Mask::from_weights([0.5]), Mask::empty(1)];
    for _ in 0..2000 {
        let mut controller = AnimationController::default();
        let mut layers = Vec::new();
        let posed = |name: &str| {
            let frames = ClipFrames {
                joints: [name.into()].into(),
                animated: vec![],
                transforms: vec![],
            };
            let frames = ClipFrames {
                transforms: vec![JointTransform::IDENTITY],
                ..frames
            };
            SkeletalClip::new(ClipTiming::new(name, 0.0), &frames).unwrap()
        };
        let names = ["idle", "walk", "curve", "circle"];
        let poses = names.map(posed);
        controller.priority_blend = random.f32();
        for _ in 0..random.usize(1..5) {
            let (clip, mask) = (random.usize(..4), random.usize(..3));
            let priority = [TrackPriority::Low, TrackPriority::High][random.usize(..2)];
            let mode = [BlendMode::Blend, BlendMode::Blend, BlendMode::Override][random.usize(..3)];
            let weight = random.f32() * 1.5;
            let track = AnimationTrack::new(names[clip])
                .priority(priority)
                .blend(mode)
                .weight(weight);
            controller.add_track(match mask {
                0 => track,
                mask => track.mask(["", "half", "none"][mask]),
            });
            let layer = ClipLayer {
                weight,
                priority,
                mode,
                mask: Some(&masks[mask]),
                ..ClipLayer::new(&poses[clip], 0.0)
            };
            layers.push((clip, layer));
        }
        let rest = [SoaTransform::IDENTITY];
        let all: Vec<ClipLayer> = layers.iter().map(|(_, layer)| *layer).collect();
        let mix = Mix {
            layers: &all,
            priority_blend: controller.priority_blend,
            rest: &rest,
            unit_scale: true,
        };
        let dt = 1e-6;
        let mut expected = RootDelta::IDENTITY;
        for ((clip, _), share) in layers.iter().zip(mix.shares(0)) {
            if let Some(path) = clips.root_path(*clip) {
                let way = path.at(dt);
                expected.translation += way.translation * f64::from(share);
                expected.turn += way.turn * f64::from(share);
            }
        }
        let moved = advance(&mut controller, &clips, dt);
        assert!(
            apart(moved, expected) < 1e-6 * dt * 10.0,
            "{moved:?} is not {expected:?}"
        );
    }
}

#[test]
fn additive_tracks_and_clips_without_the_root_carry_nothing_and_take_nothing_away() {
    let clips = walks();
    let mut alone = AnimationController::playing("walk");
    let mut with = alone.clone();
    with.add_track(AnimationTrack::new("breathe"));
    with.add_track(AnimationTrack::new("wave").priority(TrackPriority::High));
    with.add_track(AnimationTrack::new("circle").mask("arms"));
    assert_eq!(
        advance(&mut with, &clips, 0.7),
        advance(&mut alone, &clips, 0.7)
    );
    let mut nothing = AnimationController::playing("breathe");
    assert_eq!(advance(&mut nothing, &clips, 0.7), RootDelta::IDENTITY);
}

#[test]
fn only_time_that_passes_moves_the_character() {
    let clips = walks();
    let mut controller = AnimationController::playing("walk");
    assert_eq!(advance(&mut controller, &clips, 0.0), RootDelta::IDENTITY);
    let walk = controller.current_track().unwrap().id();
    controller.track_mut(walk).unwrap().seek(0.5);
    assert_eq!(advance(&mut controller, &clips, 0.0), RootDelta::IDENTITY);
    controller.track_mut(walk).unwrap().scrub(0.9);
    assert_eq!(advance(&mut controller, &clips, 0.0), RootDelta::IDENTITY);
    controller.paused = true;
    assert_eq!(advance(&mut controller, &clips, 1.0), RootDelta::IDENTITY);
    controller.paused = false;
    let path = clips.root_path(1).unwrap();
    assert_near(
        advance(&mut controller, &clips, 0.1),
        path.between(PlaybackMode::Loop, 0.9, 1.0),
        1e-12,
    );
    assert!(
        controller
            .advance_with_root_motion(-1.0, &clips, &mut Vec::new())
            .is_err()
    );
}

#[test]
fn backwards_is_the_way_back_and_there_and_back_is_nothing() {
    let clips = walks();
    let mut controller = AnimationController::playing("curve");
    let there = advance(&mut controller, &clips, 7.3);
    controller.set_speed(-1.0);
    let back = advance(&mut controller, &clips, 7.3);
    assert_near(there.then(back), RootDelta::IDENTITY, 1e-9);
    let mut rock = AnimationController::playing("rock");
    assert_near(
        advance(&mut rock, &clips, 1.4 * 1000.0),
        RootDelta::IDENTITY,
        1e-9,
    );
    let mut once = AnimationController::playing("turn");
    assert_near(
        advance(&mut once, &clips, 1e6),
        clips.root_path(4).unwrap().total(),
        1e-12,
    );
}

// Without limits it would take years.
#[test]
fn huge_steps_end_and_are_finite() {
    let clips = walks();
    for dt in [1e5, 1e15, f64::MAX] {
        for speed in [1.0, -3.0, 1e200] {
            let mut blend = AnimationController::playing("curve");
            blend.set_speed(speed);
            let circle =
                blend.add_track(AnimationTrack::new("circle").weight(0.7).speed(speed * 0.9));
            blend.timeline_mut().key_weight(
                circle,
                0.2,
                0.0,
                secs(1e9),
                TransitionCurve::EaseInEaseOut,
            );
            blend.timeline_mut().key_speed(
                circle,
                -speed,
                0.0,
                secs(1e7),
                TransitionCurve::EaseInEaseOut,
            );
            blend
                .queue_mut()
                .set_looping(true)
                .set_fade(secs(0.3))
                .extend(["turn", "walk", "curve"]);
            let mut events: Vec<PlaybackEvent> = Vec::new();
            let moved = blend
                .advance_with_root_motion(dt, &clips, &mut events)
                .unwrap();
            assert!(moved.is_finite(), "{dt} {speed}: {moved:?}");
        }
    }
}

/// The clips of a sample character.
struct Sample(Imported);

impl Clips for Sample {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.0
            .model
            .clips
            .iter()
            .position(|clip| &*clip.timing.name == name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        Some(&self.0.model.clips.get(index)?.timing)
    }

    fn root_path(&self, index: usize) -> Option<&RootPath> {
        self.0
            .model
            .clips
            .get(index)?
            .root_path()
            .map(|path| &**path)
    }

    fn reaches_root(&self, index: usize) -> bool {
        self.0.model.clips[index].animates(0)
    }
}

fn sample(name: &str) -> Sample {
    let manifest = Manifest::parse(name, &fs::read(crate::asset(name)).unwrap()).unwrap();
    let read = |file: &str| {
        Ok(fs::read(crate::asset(name).with_file_name(file))
            .unwrap()
            .into())
    };
    let imported = open_manifest(name, &manifest, &ImportLimits::default(), read).unwrap();
    Sample(imported)
}

#[test]
fn the_sample_characters_walk_as_fast_as_their_files_say_and_in_place() {
    for (name, clips) in [
        ("scout/scout.character.ron", [("walk", 1.2), ("jog", 2.4)]),
        (
            "scout/scout_m3d.character.ron",
            [("walk", 1.2), ("jog", 2.4)],
        ),
        (
            "hound/hound.character.ron",
            [("walk", 0.95), ("gallop", 6.4)],
        ),
        ("pup/pup.character.ron", [("walk", 0.475), ("gallop", 3.2)]),
    ] {
        let sample = sample(name);
        for (clip, speed) in clips {
            let index = sample.index_of(clip).unwrap();
            let path = sample
                .root_path(index)
                .unwrap_or_else(|| panic!("{name}: {clip} stays"));
            assert!(
                (path.ground_speed() - speed).abs() < 1e-3,
                "{name}: {clip} at {} m/s",
                path.ground_speed()
            );
            assert!(path.total().translation.z < 0.0 && !path.turns());
            let clip = &sample.0.model.clips[index];
            let ends =
                [0, clip.frame_count() - 1].map(|frame| clip.transform_at(0, frame).translation);
            assert!(ends[0].distance(ends[1]) < 2e-5, "{name}: {ends:?}");
        }
        assert!(sample.root_path(sample.index_of("idle").unwrap()).is_none());
    }
}

#[test]
fn a_walk_that_carries_the_character_does_not_slide() {
    let sample = sample("scout/scout.character.ron");
    let skeleton = &sample.0.model.skeleton;
    let clip = &sample.0.model.clips[sample.index_of("walk").unwrap()];
    let mut controller = AnimationController::playing("walk");
    let (mut place, mut random, mut scratch) =
        (RootDelta::IDENTITY, Rng::with_seed(13), Scratch::default());
    let (mut stood, mut worst, mut stances) = ([None; 2], 0.0_f64, 0);
    for _ in 0..3000 {
        place = place.then(advance_sample(
            &mut controller,
            &sample,
            random.f64() * 0.03,
        ));
        let time = controller.layers(&sample).next().unwrap().time;
        Evaluate::new(skeleton, &[ClipLayer::new(clip, time)]).run_clips(None, &mut scratch);
        for (at, (name, fall)) in [("foot.L", 0.25), ("foot.R", 0.75)].into_iter().enumerate() {
            let foot = skeleton.joint(name).unwrap();
            let local = scratch.model()[usize::from(foot)].translation.as_dvec3();
            let world = place.then(RootDelta::new(local, 0.0)).translation;
            // The foot is flat between 16 % and 58 % of its stance, which takes 62 % of the cycle.
            let phase = (time / clip.timing.duration - fall).rem_euclid(1.0) / 0.62;
            if !(0.18..0.56).contains(&phase) {
                stood[at] = None;
                continue;
            }
            let first: DVec3 = *stood[at].get_or_insert_with(|| {
                stances += 1;
                world
            });
            worst = worst.max(first.distance(world));
        }
    }
    println!("{stances} stances, at most {:.3} mm", worst * 1e3);
    assert!(stances > 60 && worst < 1e-3, "a foot slides by {worst} m");
    assert!((place.translation.z + 1.2 * controller.time()).abs() < 1e-3 * controller.time());
}

fn advance_sample(controller: &mut AnimationController, sample: &Sample, dt: f64) -> RootDelta {
    controller
        .advance_with_root_motion(dt, sample, &mut Vec::new())
        .unwrap()
}
