//! Whatever a controller does, it does the same in one step, in sixty frames per second and in any other division of time.

mod corners;

use bevy_marionette::controller::{
    AnimationController, AnimationTrack, BlendMode, Clips, PlaybackEvent, QueueFallback, TrackId,
    TrackPriority, Transition, TransitionCurve,
};
use bevy_marionette::{
    internals::model::{BoundBlendSpace, RootPath},
    model::{BlendSpace, BlendSync, ClipTiming, PlaybackMode, RootDelta},
};
use fastrand::Rng;
use glam::DVec3;
use std::{sync::Arc, time::Duration};

/// Clips, some of which carry the character, some of which don't move the root joint, and blend spaces over them.
#[derive(Debug, Default)]
struct Cast {
    clips: Vec<ClipTiming>,
    paths: Vec<Option<RootPath>>,
    reaches_root: Vec<bool>,
    spaces: Vec<BoundBlendSpace>,
}

impl Clips for Cast {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.clips.index_of(name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        self.clips.get(index)
    }

    fn root_path(&self, index: usize) -> Option<&RootPath> {
        self.paths.get(index)?.as_ref()
    }

    fn reaches_root(&self, index: usize) -> bool {
        self.reaches_root[index]
    }

    fn root_mask(&self, mask: &str) -> f32 {
        if mask == "half" { 0.5 } else { 0.0 }
    }

    fn blend_spaces(&self) -> &[BoundBlendSpace] {
        &self.spaces
    }
}

impl Cast {
    fn add(&mut self, clip: ClipTiming, path: Option<RootPath>, reaches_root: bool) -> &mut Self {
        self.clips.push(clip);
        self.paths.push(path);
        self.reaches_root.push(reaches_root);
        self
    }

    fn add_space(&mut self, space: BlendSpace) -> &mut Self {
        self.spaces
            .push(Arc::new(space).bind(&self.clips, |_| Vec::new()).unwrap());
        self
    }

    fn random(random: &mut Rng) -> Self {
        let mut cast = Self::default();
        let count = random.usize(2..6);
        for i in 0..count {
            let length = if random.u8(..12) == 0 {
                0.0
            } else {
                0.15 + 1.5 * random.f64()
            };
            let playback = [
                PlaybackMode::Loop,
                PlaybackMode::Loop,
                PlaybackMode::Once,
                PlaybackMode::PingPong,
            ];
            let mut clip = ClipTiming {
                playback: playback[random.usize(..4)],
                ..ClipTiming::new(format!("c{i}"), length)
            };
            let place = |random: &mut Rng| [0.0, length, random.f64() * length][random.usize(..3)];
            for _ in 0..random.usize(..3) {
                clip.add_callback(place(random), ["step", "key"][random.usize(..2)], i as u32);
            }
            for _ in 0..random.usize(..2) {
                let (a, b) = (place(random), place(random));
                clip.add_range(a.min(b), a.max(b), "range", ());
            }
            let turn = [0.0, random.f64() * 2.0 - 1.0][random.usize(..2)];
            let ahead = RootDelta::new(DVec3::NEG_Z * random.f64() * 2.0, turn);
            let path = (length > 0.0 && random.bool())
                .then(|| RootPath::steady(length, ahead))
                .flatten();
            cast.add(clip, path, random.u8(..3) > 0);
        }
        let name = |random: &mut Rng| format!("c{}", random.usize(..count));
        let points: Vec<_> = (0..random.usize(1..4))
            .map(|i| (name(random), i as f64))
            .collect();
        let line = BlendSpace::line("line", points).unwrap();
        let plane: Vec<_> = [(0.0, 0.0), (2.0, 0.0), (1.0, 2.0), (2.0, 2.0)]
            .map(|at| (name(random), at))
            .to_vec();
        let plane = BlendSpace::plane("plane", plane).unwrap();
        for space in [line, plane] {
            let sync = [BlendSync::Fraction, BlendSync::Keys(vec!["step".into()])]
                [random.usize(..2)]
            .clone();
            let space = space
                .smoothed([0.0, 0.4, 1.5][random.usize(..3)])
                .unwrap()
                .synced(sync);
            cast.add_space(space);
        }
        cast
    }

    fn name(&self, random: &mut Rng) -> Arc<str> {
        match random.usize(..self.clips.len() + 3) {
            0 => "line".into(),
            1 => "plane".into(),
            2 if random.u8(..8) == 0 => "unknown".into(),
            at => self.clips[at % self.clips.len()].name.clone(),
        }
    }
}

fn secs(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// Something that a game does between two steps.
#[derive(Clone, Debug)]
enum Order {
    Play(Arc<str>),
    CrossFade(Arc<str>, f64, bool),
    InPhase(Arc<str>, f64),
    Switch(Arc<str>, f64),
    Queue(Vec<Arc<str>>, f64, bool),
    Idle(Arc<str>),
    RestPose(bool),
    FadeOut(f64),
    Seek(f64),
    Scrub(f64),
    Reverse,
    Speed(f64),
    Parameters(f64, f64),
    TimeScale(f64),
    Pause(bool),
    KeySpeed(usize, f64, f64, f64, bool),
    KeyWeight(usize, f32, f64, f64, bool),
    KeyEnabled(usize, bool, f64),
    KeyPosition(usize, f64, f64),
    KeyParameters(usize, f64, f64, f64),
    KeyBlend(f32, f64, f64),
    Track(Box<AnimationTrack>, f64),
    PlayOver(Box<AnimationTrack>, f64, f64),
    FadeTrack(usize, f32, f64),
    FadeOutTrack(usize, f64),
    SeekTrack(usize, f64),
    SetParameters(usize, f64, f64),
    AddRange(f64, f64),
}

/// Off any number that something else happens at.
fn odd(random: &mut Rng, most: f64) -> f64 {
    most * (0.03 + 0.97 * random.f64())
}

impl Order {
    fn random(cast: &Cast, random: &mut Rng) -> Self {
        let seconds = |random: &mut Rng| {
            if random.u8(..4) == 0 {
                0.0
            } else {
                odd(random, 0.8)
            }
        };
        let position = |random: &mut Rng| [0.0, 5.0, random.f64() * 2.0, -1.0][random.usize(..4)];
        let speed =
            |random: &mut Rng| [0.0, 1.0, -1.0, random.f64() * 4.0 - 2.0][random.usize(..4)];
        let at = random.usize(..8);
        let parameter = |random: &mut Rng| random.f64() * 3.0 - 0.5;
        match random.u8(..30) {
            0 => Self::Play(cast.name(random)),
            1 | 2 => Self::CrossFade(cast.name(random), seconds(random), random.bool()),
            3 => Self::InPhase(cast.name(random), seconds(random)),
            4 => Self::Switch(cast.name(random), seconds(random)),
            5 | 6 => {
                let names: Vec<_> = (0..random.usize(1..3)).map(|_| cast.name(random)).collect();
                // How many clips without a length a looping queue starts is a limit of one advance.
                let has_length = |name: &Arc<str>| {
                    let is_space = cast.spaces.iter().any(|space| space.name() == name);
                    cast.clips
                        .iter()
                        .all(|clip| clip.duration > 0.0 || !(is_space || clip.name == *name))
                };
                let looping = random.u8(..3) == 0 && names.iter().all(has_length);
                Self::Queue(names, seconds(random), looping)
            }
            7 => Self::Idle(cast.name(random)),
            8 => Self::RestPose(random.bool()),
            9 => Self::FadeOut(seconds(random)),
            10 => Self::Seek(position(random)),
            11 => Self::Scrub(position(random)),
            12 => Self::Reverse,
            13 => Self::Speed(speed(random)),
            14 | 15 => Self::Parameters(parameter(random), parameter(random)),
            16 => Self::TimeScale(random.f64() * 2.0),
            17 => Self::Pause(random.bool()),
            18 => Self::KeySpeed(
                at,
                speed(random),
                odd(random, 1.0),
                seconds(random),
                random.bool(),
            ),
            19 => Self::KeyWeight(
                at,
                random.f32(),
                odd(random, 1.0),
                seconds(random),
                random.bool(),
            ),
            20 => Self::KeyEnabled(at, random.bool(), odd(random, 1.0)),
            21 => Self::KeyPosition(at, position(random), odd(random, 1.0)),
            22 => Self::KeyParameters(at, parameter(random), parameter(random), odd(random, 1.0)),
            23 => Self::KeyBlend(random.f32(), odd(random, 1.0), seconds(random)),
            24 | 25 => {
                let mut track = AnimationTrack::new(cast.name(random))
                    .weight(random.f32())
                    .speed(speed(random));
                track = track.at((parameter(random), parameter(random)));
                match random.u8(..6) {
                    0 => track = track.sync(1),
                    1 => track = track.priority(TrackPriority::High),
                    2 => track = track.blend(BlendMode::Override),
                    3 => track = track.mask("half"),
                    4 => track = track.reversed(),
                    _ => {}
                }
                if random.u8(..4) == 0 {
                    let playback = [
                        PlaybackMode::Loop,
                        PlaybackMode::Once,
                        PlaybackMode::PingPong,
                    ];
                    track = track.playback(playback[random.usize(..3)]);
                }
                let fade = seconds(random);
                if random.u8(..3) == 0 {
                    Self::PlayOver(Box::new(track), fade, seconds(random))
                } else {
                    Self::Track(Box::new(track), fade)
                }
            }
            26 => Self::FadeTrack(at, random.f32(), seconds(random)),
            27 => match random.bool() {
                true => Self::FadeOutTrack(at, seconds(random)),
                false => Self::SeekTrack(at, position(random)),
            },
            28 => Self::SetParameters(at, parameter(random), parameter(random)),
            _ => Self::AddRange(random.f64() * 0.5, 0.5 + random.f64()),
        }
    }

    fn give(&self, controller: &mut AnimationController) {
        let now = controller.time();
        let ids: Vec<TrackId> = controller.tracks().map(AnimationTrack::id).collect();
        let id = |at: usize| ids.get(at % ids.len().max(1)).copied();
        let curve = |ease: bool| {
            if ease {
                TransitionCurve::EaseInEaseOut
            } else {
                TransitionCurve::Linear
            }
        };
        match self {
            Self::Play(name) => {
                controller.play(name.clone());
            }
            Self::CrossFade(name, seconds, ease) => {
                controller.play_with(
                    name.clone(),
                    Transition::fade(secs(*seconds)).along(curve(*ease)),
                );
            }
            Self::InPhase(name, seconds) => {
                controller.play_with(name.clone(), Transition::fade(secs(*seconds)).in_phase());
            }
            Self::Switch(name, seconds) => {
                controller.play_with(name.clone(), Transition::switch(secs(*seconds)));
            }
            Self::Queue(names, fade, looping) => {
                controller
                    .queue_mut()
                    .extend(names.iter().cloned())
                    .set_fade(secs(*fade))
                    .set_looping(*looping);
            }
            Self::Idle(name) => {
                controller.queue_mut().set_idle_clip(name.clone());
            }
            Self::RestPose(rest) => {
                let fallback = if *rest {
                    QueueFallback::RestPose
                } else {
                    QueueFallback::Stay
                };
                controller.queue_mut().set_fallback(fallback);
            }
            Self::FadeOut(seconds) => controller.fade_out(secs(*seconds)),
            Self::Seek(_) | Self::Scrub(_) | Self::Reverse => {
                let Some(track) = controller.current_track_mut() else {
                    return;
                };
                match self {
                    Self::Seek(position) => track.seek(*position),
                    Self::Scrub(place) => track.scrub_to(*place),
                    _ => track.speed = -track.speed,
                }
            }
            Self::Speed(speed) => controller.set_speed(*speed),
            Self::Parameters(x, y) => controller.set_parameters((*x, *y)),
            Self::TimeScale(scale) => controller.time_scale = *scale,
            Self::Pause(true) => controller.paused = true,
            Self::Pause(false) => controller.paused = false,
            Self::KeySpeed(at, speed, start, seconds, ease) => {
                let Some(id) = id(*at) else { return };
                controller.timeline_mut().key_speed(
                    id,
                    *speed,
                    now + start,
                    secs(*seconds),
                    curve(*ease),
                );
            }
            Self::KeyWeight(at, weight, start, seconds, ease) => {
                let Some(id) = id(*at) else { return };
                controller.timeline_mut().key_weight(
                    id,
                    *weight,
                    now + start,
                    secs(*seconds),
                    curve(*ease),
                );
            }
            Self::KeyEnabled(at, enabled, start) => {
                let Some(id) = id(*at) else { return };
                controller
                    .timeline_mut()
                    .key_enabled(id, *enabled, now + start);
            }
            Self::KeyPosition(at, position, start) => {
                let Some(id) = id(*at) else { return };
                controller
                    .timeline_mut()
                    .key_position(id, *position, now + start);
            }
            Self::KeyParameters(at, x, y, start) => {
                let Some(id) = id(*at) else { return };
                controller
                    .timeline_mut()
                    .key_parameters(id, (*x, *y), now + start);
            }
            Self::KeyBlend(blend, start, seconds) => {
                controller.timeline_mut().key_priority_blend(
                    *blend,
                    now + start,
                    secs(*seconds),
                    curve(false),
                );
            }
            Self::Track(track, seconds) => {
                let id = controller.add_track(AnimationTrack::clone(track));
                controller
                    .timeline_mut()
                    .fade(id, track.weight, secs(*seconds));
            }
            Self::PlayOver(track, fade_in, fade_out) => {
                controller.play_over(
                    AnimationTrack::clone(track),
                    secs(*fade_in),
                    secs(*fade_out),
                );
            }
            Self::FadeTrack(at, weight, seconds) => {
                let Some(id) = id(*at) else { return };
                controller.timeline_mut().fade(id, *weight, secs(*seconds));
            }
            Self::FadeOutTrack(at, seconds) => {
                let Some(id) = id(*at) else { return };
                controller.timeline_mut().fade_out(id, secs(*seconds));
            }
            Self::SeekTrack(at, position) => {
                let Some(id) = id(*at) else { return };
                controller.track_mut(id).unwrap().seek(*position);
            }
            Self::SetParameters(at, x, y) => {
                let Some(id) = id(*at) else { return };
                controller.track_mut(id).unwrap().set_parameters((*x, *y));
            }
            Self::AddRange(begin, end) => {
                controller.add_callback_range("c0", *begin, *end, "added", ());
            }
        }
    }
}

/// Orders, each followed by some time.
type Program = Vec<(Vec<Order>, f64)>;

fn program(cast: &Cast, random: &mut Rng) -> Program {
    let orders = |random: &mut Rng| {
        (0..random.usize(1..4))
            .map(|_| Order::random(cast, random))
            .collect()
    };
    let mut program: Program = (0..random.usize(1..6))
        .map(|_| (orders(random), odd(random, 1.4)))
        .collect();
    program[0].0.insert(0, Order::Play(cast.name(random)));
    let track = AnimationTrack::new(cast.name(random)).weight(random.f32());
    program[0].0.insert(1, Order::Track(Box::new(track), 0.0));
    program
}

/// What came of a program.
#[derive(Debug)]
struct Outcome {
    events: Vec<PlaybackEvent>,
    root: RootDelta,
    controller: AnimationController,
}

/// Runs a program, with the time of each part cut by `cut`.
fn run(cast: &Cast, program: &Program, mut cut: impl FnMut() -> f64) -> Outcome {
    let (mut controller, mut events, mut root) = (
        AnimationController::default(),
        Vec::new(),
        RootDelta::IDENTITY,
    );
    controller.callback_limit = 1_000_000;
    for (orders, seconds) in program {
        orders.iter().for_each(|order| order.give(&mut controller));
        // In whole nanoseconds, so that all ways to cut it have the same sum.
        let mut left = (*seconds * 1e9).round() as u64;
        while left > 0 {
            let step = ((cut() * 1e9) as u64).clamp(1, left);
            let dt = step as f64 / 1e9;
            root = root.then(
                controller
                    .advance_with_root_motion(dt, cast, &mut events)
                    .unwrap(),
            );
            left -= step;
        }
    }
    Outcome {
        events,
        root,
        controller,
    }
}

/// Returns what differs between two outcomes of one program: nothing but the rounding of root motion may.
fn difference(a: &Outcome, b: &Outcome) -> Option<String> {
    let events = a.events.iter().zip(&b.events);
    if let Some((x, y)) = events.into_iter().find(|(x, y)| x != y) {
        return Some(format!("{x:?} is {y:?}"));
    }
    let more = a.events.len().max(b.events.len());
    if a.events.len() != b.events.len() {
        let last = a.events.get(more - 1).or(b.events.get(more - 1));
        return Some(format!("only one reports {last:?}"));
    }
    let apart = a
        .root
        .translation
        .distance(b.root.translation)
        .max((a.root.turn - b.root.turn).abs());
    if apart > 2e-4 {
        return Some(format!(
            "root motion is {apart:e} apart: {:?} {:?}",
            a.root, b.root
        ));
    }
    let [ours, theirs] = [a, b].map(|outcome| format!("{:#?}", outcome.controller));
    let mut lines = ours.lines().zip(theirs.lines());
    (a.controller != b.controller).then(|| format!("the state: {:?}", lines.find(|(x, y)| x != y)))
}

/// Compares a program in one step with the same in frames.
fn compare(cast: &Cast, program: &Program, random: &mut Rng) -> Option<String> {
    let whole = run(cast, program, || f64::INFINITY);
    let frames = run(cast, program, || 1.0 / 60.0);
    let uneven = run(cast, program, || odd(random, 0.07));
    difference(&whole, &frames).or_else(|| difference(&whole, &uneven))
}

/// Leaves out of a program what it differs without, to show what matters.
fn shrunk(cast: &Cast, mut program: Program, seed: u64) -> Program {
    let differs = |program: &Program| compare(cast, program, &mut Rng::with_seed(seed)).is_some();
    loop {
        let mut smaller = None;
        'search: for part in 0..program.len() {
            for order in 0..program[part].0.len() {
                let mut other = program.clone();
                other[part].0.remove(order);
                if differs(&other) {
                    smaller = Some(other);
                    break 'search;
                }
            }
        }
        match smaller {
            Some(other) => program = other,
            None => return program,
        }
    }
}

fn programs(few: usize) -> usize {
    std::env::var("MARIONETTE_PROGRAMS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(few)
}

#[test]
fn any_program_does_the_same_however_time_is_cut() {
    let (mut told, mut different) = (0, Vec::new());
    let count = programs(1500);
    for seed in 0..count as u64 {
        let mut random = Rng::with_seed(seed);
        let cast = Cast::random(&mut random);
        let program = program(&cast, &mut random);
        if compare(&cast, &program, &mut Rng::with_seed(seed)).is_some() {
            let least = shrunk(&cast, program, seed);
            let what = compare(&cast, &least, &mut Rng::with_seed(seed));
            different.push(format!("{seed}: {what:?}\n{least:?}\n{:?}\n", cast.clips));
        }
        told += 1;
    }
    assert!(
        different.is_empty(),
        "{} of {told} differ:\n{}",
        different.len(),
        different[..different.len().min(12)].join("\n")
    );
}

#[test]
#[ignore = "for one program, by its seed"]
fn one_program() {
    let seed: u64 = std::env::var("MARIONETTE_SEED").unwrap().parse().unwrap();
    let mut random = Rng::with_seed(seed);
    let cast = Cast::random(&mut random);
    let program = shrunk(&cast, program(&cast, &mut random), seed);
    println!("{program:?}\n{:#?}\n{:?}", cast.clips, cast.reaches_root);
    for parts in 1..program.len() {
        for dt in [f64::INFINITY, 1.0 / 60.0] {
            let outcome = run(&cast, &program[..parts].to_vec(), || dt);
            let tracks = outcome
                .controller
                .tracks()
                .map(|track| (track.id(), track.weight, track.unwrapped_position()));
            println!("{parts}: {:?}", tracks.collect::<Vec<_>>());
        }
    }
    let whole = run(&cast, &program, || f64::INFINITY);
    let frames = run(&cast, &program, || 1.0 / 60.0);
    for outcome in [whole, frames] {
        println!("{:?}", outcome.root);
        outcome
            .events
            .iter()
            .for_each(|event| println!("{event:?}"));
        outcome
            .controller
            .tracks()
            .for_each(|track| println!("{track:?}"));
    }
}
