//! However time is divided into steps, the same happens; and it is what brute force finds.

use super::support::*;
use bevy_marionette::controller::{
    AnimationController, AnimationTrack, PlaybackEvent, TrackId, TransitionCurve,
};
use bevy_marionette::model::{
    BlendPoint, BlendSpace, BlendSync, ClipTiming, PlaybackMode, RootDelta,
};
use fastrand::Rng;
use glam::DVec3;
use std::time::Duration;

/// A random space of a line or a plane over random clips, some of them with two steps.
pub(super) fn cast(random: &mut Rng) -> Cast {
    loop {
        let count = random.usize(1..7);
        let clip = |i: usize, random: &mut Rng| {
            let length = [0.0, 0.2 + random.f64() * 2.0][usize::from(random.u8(..8) > 0)];
            let (left, right) = (
                random.f64() * 0.5 * length,
                (0.5 + random.f64() * 0.5) * length,
            );
            let mut clip = steps(
                &format!("c{i}"),
                length,
                &[(left, "left"), (right, "right")][..random.usize(..3)],
            );
            for _ in 0..random.usize(..3) {
                clip.add_callback(random.f64() * length, "key", ());
            }
            clip
        };
        let clips: Vec<ClipTiming> = (0..count).map(|i| clip(i, random)).collect();
        let plane = random.bool();
        let place = |random: &mut Rng| {
            (
                f64::from(random.u8(..5)),
                if plane {
                    f64::from(random.u8(..4))
                } else {
                    0.0
                },
            )
        };
        let points: Vec<_> = (0..count)
            .map(|i| (format!("c{i}"), place(random)))
            .collect();
        let space = match plane {
            true => BlendSpace::plane("s", points),
            false => BlendSpace::line("s", points.into_iter().map(|(clip, (x, _))| (clip, x))),
        };
        let Ok(space) = space else { continue };
        let smoothing = [0.0, 0.3, 2.0][random.usize(..3)];
        let sync =
            [BlendSync::Fraction, BlendSync::Keys(vec!["step".into()])][random.usize(..2)].clone();
        let mut cast = Cast::new(clips, vec![space.smoothed(smoothing).unwrap().synced(sync)]);
        for i in 0..count {
            if cast.clips[i].duration > 0.0 && random.bool() {
                cast.carry(
                    &format!("c{i}"),
                    random.f64() * 3.0,
                    [0.0, random.f64() - 0.5][random.usize(..2)],
                );
            }
        }
        return cast;
    }
}

fn point(random: &mut Rng) -> BlendPoint {
    BlendPoint::new(random.f64() * 6.0 - 1.0, random.f64() * 5.0 - 1.0)
}

/// Changes of the parameters, each followed by some time.
fn plan(random: &mut Rng) -> Vec<(BlendPoint, f64)> {
    (0..random.usize(1..6))
        .map(|_| (point(random), random.f64() * 1.5))
        .collect()
}

fn begin(random: &mut Rng) -> (AnimationController, TrackId) {
    let mut controller = AnimationController::default();
    let speed = [1.0, 1.0, -0.8, 2.5][random.usize(..4)];
    let id = controller.add_track(
        AnimationTrack::blend_space("s")
            .at(point(random))
            .speed(speed),
    );
    if random.u8(..3) == 0 {
        let (to, start, duration) = (
            random.f64() * 4.0 - 2.0,
            random.f64(),
            Duration::from_secs_f64(random.f64() * 2.0),
        );
        let curve = [TransitionCurve::Linear, TransitionCurve::EaseInEaseOut][random.usize(..2)];
        controller
            .timeline_mut()
            .key_speed(id, to, start, duration, curve);
    }
    (controller, id)
}

/// Plays a plan, with the time of each part cut by `cut`. Returns what happened and how far it went.
fn run(
    cast: &Cast,
    (mut controller, id): (AnimationController, TrackId),
    plan: &[(BlendPoint, f64)],
    mut cut: impl FnMut() -> f64,
) -> (Vec<PlaybackEvent>, RootDelta, AnimationController) {
    let (mut events, mut root) = (Vec::new(), RootDelta::IDENTITY);
    for (point, seconds) in plan {
        controller.track_mut(id).unwrap().set_parameters(*point);
        // In whole nanoseconds, so that all ways to cut it have the same sum.
        let mut left = (seconds * 1e9).round() as u64;
        while left > 0 {
            let step = ((cut() * 1e9) as u64).clamp(1, left);
            left -= step;
            let dt = step as f64 / 1e9;
            root = root.then(
                controller
                    .advance_with_root_motion(dt, cast, &mut events)
                    .unwrap(),
            );
        }
    }
    (events, root, controller)
}

#[test]
fn the_same_happens_however_time_is_divided() {
    let mut random = Rng::with_seed(1);
    let mut told = 0;
    for round in 0..400 {
        let cast = cast(&mut random);
        let (start, plan) = (begin(&mut random), plan(&mut random));
        let (whole, root, end) = run(&cast, start.clone(), &plan, || f64::INFINITY);
        let (cut, cut_root, cut_end) =
            run(&cast, start.clone(), &plan, || random.f64() * 0.05 + 1e-4);
        assert_eq!(whole, cut, "round {round}");
        assert_eq!(end, cut_end, "round {round}");
        told += whole.len();
        let far = root
            .translation
            .distance(cut_root.translation)
            .max((root.turn - cut_root.turn).abs());
        // Within a millionth of the distance.
        let most = 1e-6 * root.translation.length().max(1.0);
        assert!(far < most, "round {round}: {root:?} {cut_root:?}");
    }
    assert!(told > 3000, "{told}");
}

#[test]
fn a_clip_that_ends_while_parameters_move_changes_nothing_about_the_way() {
    let wave = ClipTiming {
        playback: PlaybackMode::Once,
        ..ClipTiming::new("wave", 0.5)
    };
    let space = BlendSpace::line("s", [("walk", 0.0), ("run", 1.0)])
        .unwrap()
        .smoothed(2.0)
        .unwrap();
    let mut cast = Cast::new(
        vec![
            ClipTiming::new("walk", 1.0),
            ClipTiming::new("run", 0.7),
            wave,
        ],
        vec![space],
    );
    cast.carry("walk", 1.0, 0.0);
    cast.carry("run", 3.0, 0.6);
    let mut alone = AnimationController::default();
    let id = alone.add_track(AnimationTrack::blend_space("s"));
    cast.advance(&mut alone, 0.1);
    alone.track_mut(id).unwrap().set_parameters(1.0);
    let mut waving = alone.clone();
    // With its hands only, until it fades out.
    waving.play_over(
        AnimationTrack::new("wave").mask("hands"),
        Duration::ZERO,
        Duration::from_millis(100),
    );
    let [way, same] = [alone, waving].map(|mut controller| {
        let way = controller
            .advance_with_root_motion(0.6, &cast, &mut Vec::new())
            .unwrap();
        assert_near(
            controller.track(id).unwrap().smoothed_parameters().x,
            0.3,
            1e-12,
        );
        way
    });
    assert!(
        way.translation.distance(same.translation) < 1e-9 && (way.turn - same.turn).abs() < 1e-9,
        "{way:?} {same:?}"
    );
}

#[test]
fn an_ordinary_frame_does_what_a_full_one_does() {
    let mut random = Rng::with_seed(2);
    for _ in 0..200 {
        let cast = cast(&mut random);
        let (mut quick, id) = begin(&mut random);
        let mut full = quick.clone();
        // Something scheduled for long after takes the full step.
        full.timeline_mut().key_enabled(id, true, 1e6);
        for step in 0..150 {
            if step % 40 == 0 {
                let to = point(&mut random);
                for controller in [&mut quick, &mut full] {
                    controller.track_mut(id).unwrap().set_parameters(to);
                }
            }
            let mut events: [Vec<PlaybackEvent>; 2] = Default::default();
            let dt = [1.0 / 60.0, 1.0 / 64.0, 0.0][random.usize(..3)];
            let a = quick
                .advance_with_root_motion(dt, &cast, &mut events[0])
                .unwrap();
            let b = full
                .advance_with_root_motion(dt, &cast, &mut events[1])
                .unwrap();
            assert_eq!((a, &events[0]), (b, &events[1]));
            assert_eq!(cast.layers(&quick), cast.layers(&full));
            let at = |controller: &AnimationController| {
                controller.track(id).unwrap().unwrapped_position().to_bits()
            };
            assert_eq!(at(&quick), at(&full));
        }
    }
}

/// The phase, and the place in each clip, stepped through in steps of 0.1 ms, by the documented rules.
struct Brute<'a> {
    cast: &'a Cast,
    now: BlendPoint,
    phase: f64,
    time: f64,
    fired: Vec<(String, f64)>,
    /// Keys that fire or not by rounding: those of clips that hardly weigh.
    faint: Vec<(String, f64)>,
}

const STEP: f64 = 1e-4;

impl Brute<'_> {
    fn weight(&self, clip: usize) -> f64 {
        let name = format!("c{clip}");
        self.cast.spaces[0]
            .weights(self.now)
            .filter(|(of, _)| *of == name)
            .map(|(_, weight)| weight)
            .sum()
    }

    /// In the unit of a walk across the space.
    fn extent(&self) -> (f64, f64) {
        let points = self.cast.spaces[0].points();
        let extent = |of: fn(BlendPoint) -> f64| {
            let all = || points.iter().map(|(_, at)| of(*at));
            all().fold(f64::MIN, f64::max) - all().fold(f64::MAX, f64::min)
        };
        (extent(|point| point.x), extent(|point| point.y))
    }

    fn step(&mut self, target: BlendPoint, speed: f64) {
        let space = &self.cast.spaces[0];
        let to = space.nearest(target);
        let (width, height) = self.extent();
        let part = |way: f64, size: f64| if size > 0.0 { way / size } else { 0.0 };
        let far = part(to.x - self.now.x, width).hypot(part(to.y - self.now.y, height));
        let share = if space.smoothing() == 0.0 {
            1.0
        } else {
            (STEP / space.smoothing() / far).min(1.0)
        };
        if far > 0.0 {
            self.now.x += (to.x - self.now.x) * share;
            self.now.y += (to.y - self.now.y) * share;
        }
        let pace = |clip: usize| {
            let length = self.cast.clips[clip].duration;
            if length > 0.0 {
                length.recip()
            } else {
                f64::NAN
            }
        };
        let rate: f64 = (0..self.cast.clips.len())
            .map(|clip| (self.weight(clip), pace(clip)))
            .filter(|(weight, _)| *weight > 0.0)
            .map(|(weight, pace)| weight * pace)
            .sum();
        let from = self.phase;
        self.phase += speed * rate * STEP;
        self.time += STEP;
        for (index, clip) in self.cast.clips.iter().enumerate() {
            let [from, to] = [from, self.phase].map(|phase| phase * clip.duration);
            for (key, callback) in clip.callbacks.iter().enumerate() {
                let round = |place: f64| ((place - callback.time) / clip.duration).floor();
                if round(from) != round(to) {
                    let what = (format!("{key} of {index}"), self.time);
                    match self.weight(index) {
                        weight if weight > 2e-3 => self.fired.push(what),
                        _ => self.faint.push(what),
                    }
                }
            }
        }
    }
}

#[test]
fn callbacks_fire_once_each_as_brute_force_finds() {
    let mut random = Rng::with_seed(3);
    let mut compared = 0;
    while compared < 60 {
        let cast = cast(&mut random);
        let poses = cast.clips.iter().any(|clip| clip.duration == 0.0);
        if poses || *cast.spaces[0].sync() != BlendSync::Fraction {
            continue;
        }
        let first = point(&mut random);
        let speed = [1.0, -0.7][random.usize(..2)];
        let mut controller = AnimationController::default();
        let id = controller.add_track(
            AnimationTrack::blend_space("s")
                .at(first)
                .speed(speed)
                .starting_at(100.5),
        );
        let plan = plan(&mut random);
        let now = cast.spaces[0].nearest(first);
        let mut brute = Brute {
            cast: &cast,
            now,
            phase: 100.5,
            time: 0.0,
            fired: vec![],
            faint: vec![],
        };
        // Until a track has begun, parameters jump.
        brute.step(first, speed);
        let mut events = cast.advance(&mut controller, STEP);
        for (target, seconds) in &plan {
            let steps = (seconds / STEP).round();
            (0..steps as usize).for_each(|_| brute.step(*target, speed));
            controller.track_mut(id).unwrap().set_parameters(*target);
            events.extend(cast.advance(&mut controller, steps * STEP));
        }
        let place = controller.track(id).unwrap().unwrapped_position();
        assert_near(place, brute.phase, 2e-3);
        let key = |callback: &bevy_marionette::controller::FiredCallback| {
            let bevy_marionette::internals::controller::KeyRef::Clip(key) = callback.key else {
                panic!()
            };
            (format!("{key} of {}", callback.clip), callback.time)
        };
        let mut ours: Vec<_> = callbacks(&events).map(key).collect();
        compared += 1;
        // Each of theirs is one of ours, and what is left of ours is faint.
        for (what, time) in &brute.fired {
            let found = ours
                .iter()
                .position(|(name, at)| name == what && (at - time).abs() < 1e-2);
            // At the very end, it may still come.
            let due = *time > brute.time - 1e-2;
            match found {
                Some(found) => drop(ours.remove(found)),
                None => assert!(due, "{what} at {time}: {ours:?}"),
            }
        }
        for (what, time) in &ours {
            let known = brute
                .faint
                .iter()
                .any(|(name, at)| name == what && (at - time).abs() < 1e-2);
            assert!(
                known || *time < 1e-2 || *time > brute.time - 1e-2,
                "{what} at {time}"
            );
        }
    }
}

#[test]
fn the_phase_is_kept_while_another_clip_becomes_the_heaviest() {
    let mut random = Rng::with_seed(4);
    for _ in 0..150 {
        let cast = cast(&mut random);
        let (mut controller, id) = begin(&mut random);
        cast.advance(&mut controller, 0.0);
        let mut before: Vec<(String, f64, f32)> = cast.layers(&controller);
        let mut last = controller.track(id).unwrap().unwrapped_position();
        for _ in 0..300 {
            if random.u8(..20) == 0 {
                controller
                    .track_mut(id)
                    .unwrap()
                    .set_parameters(point(&mut random));
            }
            cast.advance(&mut controller, 0.004);
            let now = cast.layers(&controller);
            let position = controller.track(id).unwrap().unwrapped_position();
            for (clip, time, _) in &now {
                let length = cast
                    .clips
                    .iter()
                    .find(|of| &*of.name == clip)
                    .unwrap()
                    .duration;
                let Some((_, then, _)) = before.iter().find(|layer| layer.0 == *clip) else {
                    continue;
                };
                // It has gone on as the phase has, stretched at most four times.
                let way = (time - then + 0.5 * length).rem_euclid(length.max(1e-9)) - 0.5 * length;
                let phase = (position - last) * length;
                assert!(
                    length == 0.0 || way.abs() <= 4.001 * phase.abs() + 1e-9,
                    "{clip}: {way} {phase}"
                );
                assert!(length == 0.0 || way * phase >= -1e-12);
            }
            (before, last) = (now, position);
        }
    }
}

#[test]
fn root_motion_is_the_mean_of_the_clips_ways() {
    let mut cast = locomotion();
    cast.paths = vec![None; 4];
    cast.carry("walk", 1.5, 0.0);
    cast.carry("jog", 3.0, 0.0);
    let mut controller = AnimationController::default();
    controller.add_track(AnimationTrack::blend_space("locomotion").at(2.25));
    let went = controller
        .advance_with_root_motion(10.0, &cast, &mut Vec::new())
        .unwrap();
    // Half the walk's 1.5 m and half the jog's 2.1 m per cycle.
    let cycles = 10.0 / cast.spaces[0].cycle_length(2.25);
    assert!(
        went.translation.distance(DVec3::NEG_Z * (cycles * 1.8)) < 0.05,
        "{went:?}"
    );
    assert_near(went.turn, 0.0, 0.0);
}

#[test]
fn hostile_numbers_end() {
    for smoothing in [0.0, 1e-12, 1e300] {
        let clips = vec![
            steps("c0", 2e-3, &[(1e-3, "left")]),
            steps("c1", 1e9, &[(1.0, "left")]),
        ];
        let space = BlendSpace::line("s", [("c0", -1e90), ("c1", 1e90)])
            .unwrap()
            .smoothed(smoothing)
            .unwrap();
        let cast = Cast::new(clips, vec![space]);
        let mut controller = AnimationController::default();
        let id = controller.add_track(AnimationTrack::blend_space("s").at(0.0).speed(1e3));
        for (x, dt) in [(1e300, 1e3), (-1e300, 1e3), (0.0, 1.0), (f64::MAX, 1e9)] {
            controller.track_mut(id).unwrap().set_parameters((x, -x));
            cast.advance(&mut controller, dt);
            assert!(
                cast.layers(&controller)
                    .iter()
                    .all(|layer| layer.1.is_finite() && layer.2.is_finite())
            );
        }
    }
}
