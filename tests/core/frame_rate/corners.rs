//! What once depended on how time was cut, or went wrong in itself, each with what has to happen.

use super::*;
use bevy_marionette::controller::{CallbackKind, FiredCallback};

/// A clip of a second.
fn once(name: &str) -> ClipTiming {
    ClipTiming {
        playback: PlaybackMode::Once,
        ..ClipTiming::new(name, 1.0)
    }
}

fn looping(name: &str, length: f64) -> ClipTiming {
    ClipTiming {
        playback: PlaybackMode::Loop,
        ..ClipTiming::new(name, length)
    }
}

/// A clip that carries its character ahead by a meter per second, turning by some radians per second.
fn walk(name: &str, length: f64, turn: f64) -> (ClipTiming, Option<RootPath>) {
    let path = RootPath::steady(length, RootDelta::new(DVec3::NEG_Z * length, turn * length));
    (looping(name, length), path)
}

/// Advances to the end of a time, in one step, in frames, and in uneven ones.
fn each_cut(mut work: impl FnMut(&mut dyn FnMut() -> f64)) {
    let mut random = Rng::with_seed(1);
    work(&mut || f64::INFINITY);
    work(&mut || 1.0 / 60.0);
    (0..20).for_each(|_| work(&mut || odd(&mut random, 0.07)));
}

/// Advances by some time in steps, and returns what happened and how far the character went.
fn go(
    controller: &mut AnimationController,
    cast: &Cast,
    seconds: f64,
    cut: &mut dyn FnMut() -> f64,
) -> (Vec<PlaybackEvent>, RootDelta) {
    let (mut events, mut root, mut left) = (Vec::new(), RootDelta::IDENTITY, seconds);
    while left > 1e-9 {
        let dt = cut().min(left);
        root = root.then(
            controller
                .advance_with_root_motion(dt, cast, &mut events)
                .unwrap(),
        );
        left -= dt;
    }
    (events, root)
}

fn fired(events: &[PlaybackEvent], kind: CallbackKind) -> Vec<FiredCallback> {
    let callback = |event: &PlaybackEvent| match event {
        PlaybackEvent::Callback(callback) if callback.kind == kind => Some(callback.clone()),
        _ => None,
    };
    events.iter().filter_map(callback).collect()
}

#[track_caller]
fn assert_near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b}");
}

// ---- ranges of a clip that plays once --------------------------------------------------------------

#[test]
fn a_clip_that_waits_at_its_start_leaves_its_ranges_when_its_speed_turns_around() {
    let mut slash = once("slash");
    slash.add_range(0.0, 0.25, "hit", ());
    let mut cast = Cast::default();
    cast.add(slash, None, true);
    each_cut(|cut| {
        let mut controller = AnimationController::playing("slash");
        // A name that isn't known is looked for in every step.
        controller.add_track(AnimationTrack::new("unknown"));
        let track = controller.current_track().unwrap().id();
        go(&mut controller, &cast, 0.001, &mut || 0.001);
        let waiting = controller.track_mut(track).unwrap();
        waiting.paused = true;
        waiting.seek(0.0);
        controller
            .timeline_mut()
            .key_speed(
                track,
                -1.0,
                0.1,
                Duration::from_secs(1),
                TransitionCurve::Linear,
            )
            .unwrap();
        let (events, _) = go(&mut controller, &cast, 2.0, cut);
        let ends = fired(&events, CallbackKind::End);
        // From 1 to −1 in a second.
        assert_eq!((ends.len(), ends[0].time), (1, 0.6));
    });
}

#[test]
fn a_seek_to_the_end_of_a_clip_that_plays_once_or_beyond_ends_its_ranges() {
    for to in [1.0, 1.5, f64::MAX] {
        for speed in [1.0, 0.0] {
            let mut slash = once("slash");
            slash.add_range(0.25, 1.0, "hit", ());
            let mut cast = Cast::default();
            cast.add(slash, None, true);
            let mut controller = AnimationController::playing("slash");
            let (events, _) = go(&mut controller, &cast, 0.5, &mut || 0.1);
            assert_eq!(fired(&events, CallbackKind::Begin).len(), 1);
            controller.set_speed(speed);
            controller.current_track_mut().unwrap().seek(to);
            assert!(controller.range("hit").is_none());
            let (events, _) = go(&mut controller, &cast, 0.1, &mut || 0.1);
            let ends = fired(&events, CallbackKind::End);
            assert_eq!((ends.len(), ends[0].time, ends[0].clip_time), (1, 0.5, 1.0));
            assert!(controller.ranges().next().is_none());
        }
    }
}

#[test]
fn whether_a_range_of_a_clip_that_plays_once_is_open_follows_from_where_the_clip_is() {
    let mut random = Rng::with_seed(12);
    let (mut inside, mut at_ends) = (0, 0);
    for program in 0..programs(2000) {
        let [a, b] = [random.f64() * 0.5, 0.5 + random.f64() * 0.5];
        let (a, b) = ([0.0, a][random.usize(..2)], [1.0, b][random.usize(..2)]);
        let mut clip = once("once");
        clip.add_range(a, b, "range", ());
        let mut cast = Cast::default();
        cast.add(clip, None, true);
        let points = [("once", 0.0), ("once", 1.0)];
        cast.add_space(BlendSpace::line("space", points).unwrap());
        let name = ["once", "space"][random.usize(..2)];
        let mut controller = AnimationController::playing(name);
        let mut open = 0;
        for step in 0..20 {
            match random.u8(..6) {
                0 | 1 => controller
                    .current_track_mut()
                    .unwrap()
                    .seek([0.0, 1.0, 2.0, -1.0, random.f64()][random.usize(..5)]),
                2 => controller.set_speed([1.0, -1.0, 0.0, 0.4][random.usize(..4)]),
                3 => controller.current_track_mut().unwrap().speed *= -1.0,
                4 => {
                    let (id, now) = (controller.current_track().unwrap().id(), controller.time());
                    controller.timeline_mut().key_position(
                        id,
                        [0.0, 1.0, 3.0, random.f64()][random.usize(..4)],
                        now + 0.01,
                    );
                }
                _ => {}
            }
            let (events, _) = go(
                &mut controller,
                &cast,
                0.02 + random.f64() * 0.2,
                &mut || 0.05,
            );
            open += fired(&events, CallbackKind::Begin).len();
            open -= fired(&events, CallbackKind::End).len();
            let place = controller.current_track().unwrap().position();
            let is_over = if controller.speed() < 0.0 {
                place <= 0.0
            } else {
                place >= 1.0
            };
            let expected = !is_over && a <= place && place <= b;
            // Where it is exactly at an end and has yet to go, either is right.
            if is_over || ![a, b].contains(&place) {
                let where_to = (a, b, place, controller.speed());
                assert_eq!(
                    open,
                    usize::from(expected),
                    "program {program}, step {step}: {where_to:?}"
                );
                assert_eq!(
                    controller.range("range").is_some(),
                    expected,
                    "program {program}, step {step}: {where_to:?}"
                );
                inside += usize::from(expected);
                at_ends += usize::from(is_over);
            }
        }
    }
    assert!(inside > 1000 && at_ends > 1000, "{inside} {at_ends}");
}

// ---- ranges ----------------------------------------------------------------------------------------

#[test]
fn a_range_that_a_track_is_put_into_before_it_begins_is_entered_as_it_begins() {
    let mut clip = looping("clip", 1.0);
    clip.add_range(0.2, 0.8, "range", ());
    let mut cast = Cast::default();
    cast.add(clip, None, true);
    for speed in [0.0, 1.0] {
        each_cut(|cut| {
            let mut controller = AnimationController::playing("clip");
            controller.set_speed(speed);
            controller.current_track_mut().unwrap().seek(0.5);
            let (events, _) = go(&mut controller, &cast, 0.25, cut);
            let begins = fired(&events, CallbackKind::Begin);
            assert_eq!(
                (begins.len(), begins[0].time, begins[0].clip_time),
                (1, 0.0, 0.5)
            );
        });
    }
}

#[test]
fn a_range_that_ends_with_its_track_carries_the_weight_of_that_moment() {
    let mut clip = looping("clip", 2.0);
    clip.add_range(0.2, 1.8, "range", ());
    let mut cast = Cast::default();
    cast.add(clip, None, true);
    cast.add_space(BlendSpace::line("space", [("clip", 0.0)]).unwrap());
    for name in ["clip", "space"] {
        each_cut(|cut| {
            let mut controller = AnimationController::default();
            let id = controller.add_track(AnimationTrack::new(name));
            let mut events = controller.timeline_mut();
            events.key_weight(id, 0.0, 0.0, secs(1.6), TransitionCurve::Linear);
            events.key_enabled(id, false, 0.8);
            let (events, _) = go(&mut controller, &cast, 1.0, cut);
            let ends = fired(&events, CallbackKind::End);
            assert_eq!(ends.len(), 1);
            assert_near(ends[0].time, 0.8, 1e-9);
            assert_near(ends[0].weight.into(), 0.5, 1e-6);
        });
    }
}

// ---- blend spaces ----------------------------------------------------------------------------------

/// Two clips and a space from one to the other, which takes a second.
fn pair() -> Cast {
    let mut cast = Cast::default();
    let (walk, path) = walk("walk", 1.0, 0.0);
    cast.add(looping("stand", 1.0), None, false)
        .add(walk, path, true);
    cast.add_space(
        BlendSpace::line("space", [("stand", 0.0), ("walk", 1.0)])
            .unwrap()
            .smoothed(1.0)
            .unwrap(),
    );
    cast
}

#[test]
fn a_clip_that_begins_to_weigh_carries_its_character_by_its_weight_from_the_first_moment_on() {
    let cast = pair();
    each_cut(|cut| {
        let mut controller = AnimationController::playing("space");
        go(&mut controller, &cast, 0.25, cut);
        controller.set_parameters(1.0);
        // The other clip doesn't move the root joint: there, the rest pose stands in for it. So the speed is the weight.
        let (_, root) = go(&mut controller, &cast, 1.5, cut);
        assert!(
            root.translation.distance(DVec3::NEG_Z * (0.5 + 0.5)) < 1e-6,
            "{root:?}"
        );
        controller.fade_out(secs(0.5));
        let (_, root) = go(&mut controller, &cast, 0.5, cut);
        assert!(
            root.translation.distance(DVec3::NEG_Z * 0.25) < 1e-6,
            "{root:?}"
        );
    });
}

#[test]
fn a_looping_space_that_plays_once_stops_at_its_end_beside_a_clip_that_turns() {
    let mut cast = pair();
    let (circle, path) = walk("circle", 0.9, 1.5);
    cast.add(circle, path, true);
    let (curve, path) = walk("curve", 0.7, -0.8);
    cast.add(curve, path, true);
    cast.add_space(BlendSpace::line("curves", [("walk", 0.0), ("curve", 1.0)]).unwrap());
    let mut ends = Vec::new();
    each_cut(|cut| {
        let mut controller = AnimationController::playing("circle");
        let track = AnimationTrack::blend_space("curves")
            .at(0.5)
            .playback(PlaybackMode::Once);
        controller.add_track(track);
        ends.push(go(&mut controller, &cast, 1.7, cut).1);
    });
    for end in &ends {
        assert!(
            end.translation.distance(ends[0].translation) < 1e-5,
            "{end:?} {:?}",
            ends[0]
        );
        assert_near(end.turn, ends[0].turn, 1e-5);
    }
}

#[test]
fn a_cross_fade_names_the_clip_that_is_heaviest_as_it_is_complete() {
    let cast = pair();
    for (seconds, heaviest) in [(0.45, "stand"), (0.55, "walk")] {
        each_cut(|cut| {
            let mut controller = AnimationController::playing("walk");
            go(&mut controller, &cast, 0.1, cut);
            controller.set_parameters(0.0);
            controller.cross_fade("space", secs(seconds));
            // Parameters jump until the track has begun.
            controller.advance(0.0, &cast, &mut Vec::new()).unwrap();
            let (mut events, _) = go(&mut controller, &cast, 1e-6, cut);
            controller.set_parameters(1.0);
            events.extend(go(&mut controller, &cast, 0.9, cut).0);
            let name = events.iter().find_map(|event| match event {
                PlaybackEvent::CrossFadeFinished { clip, .. } => Some(&*cast.clips[*clip].name),
                _ => None,
            });
            assert_eq!(name, Some(heaviest));
        });
    }
}

#[test]
fn of_clips_that_weigh_the_same_the_first_stands_for_a_space() {
    let cast = pair();
    each_cut(|cut| {
        let mut controller = AnimationController::playing("space");
        controller.set_parameters(1.0);
        controller.advance(0.0, &cast, &mut Vec::new()).unwrap();
        go(&mut controller, &cast, 0.1, cut);
        controller.set_parameters(0.5);
        let (events, _) = go(&mut controller, &cast, 4.0, cut);
        let looped: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                PlaybackEvent::Looped { clip, time, .. } if *time > 0.7 => {
                    Some(&*cast.clips[*clip].name)
                }
                _ => None,
            })
            .collect();
        assert_eq!(looped, ["stand"; 4]);
    });
}

#[test]
fn parameters_of_a_track_that_is_disabled_arrive() {
    let cast = pair();
    each_cut(|cut| {
        let mut controller = AnimationController::default();
        let id = controller.add_track(AnimationTrack::blend_space("space"));
        go(&mut controller, &cast, 0.1, cut);
        controller.track_mut(id).unwrap().set_parameters(1.0);
        controller.timeline_mut().key_enabled(id, false, 0.35);
        go(&mut controller, &cast, 0.5, cut);
        assert_near(
            controller.track(id).unwrap().smoothed_parameters().x,
            0.5,
            1e-9,
        );
        go(&mut controller, &cast, 2.0, cut);
        assert_near(
            controller.track(id).unwrap().smoothed_parameters().x,
            1.0,
            1e-9,
        );
    });
}

// ---- fades -----------------------------------------------------------------------------------------

#[test]
fn a_fade_of_no_length_is_reported_beside_a_queue() {
    let mut cast = Cast::default();
    cast.add(looping("a", 1.0), None, true)
        .add(looping("b", 0.3), None, true)
        .add(looping("c", 1.0), None, true);
    each_cut(|cut| {
        let mut controller = AnimationController::playing("a");
        go(&mut controller, &cast, 0.25, cut);
        controller.cross_fade("b", Duration::ZERO);
        controller.queue_mut().push("c").set_fade(secs(0.1));
        let (events, _) = go(&mut controller, &cast, 1.0, cut);
        let told: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                PlaybackEvent::Started { clip, .. } => Some(("started", &*cast.clips[*clip].name)),
                PlaybackEvent::CrossFadeFinished { clip, time, .. } => {
                    assert_near(*time, 0.25, 1e-9);
                    Some(("faded", &*cast.clips[*clip].name))
                }
                _ => None,
            })
            .collect();
        assert_eq!(told, [("started", "b"), ("faded", "b"), ("started", "c")]);
    });
}
