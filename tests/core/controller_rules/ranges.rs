//! Ranges among the callback keys: begins and ends come in pairs, at the moments at which the playhead is there.

use super::support::*;
use bevy_marionette::model::{ClipTiming, PlaybackMode};
use bevy_marionette::{
    controller::{
        AnimationController, AnimationTrack, CallbackKind, CallbackTime, FiredCallback,
        PlaybackEvent, TrackId, Transition,
    },
    internals::controller::KeyRef,
};
use fastrand::Rng;
use std::collections::HashMap;

fn with_ranges(
    name: &str,
    duration: f64,
    playback: PlaybackMode,
    ranges: &[(f64, f64, &str)],
) -> ClipTiming {
    let mut timing = clip(name, duration, playback, &[]);
    for (begin, end, range) in ranges {
        timing.add_range(*begin, *end, *range, ());
    }
    timing
}

fn loop_of(ranges: &[(f64, f64, &str)]) -> Vec<ClipTiming> {
    vec![
        with_ranges("a", 1.0, PlaybackMode::Loop, ranges),
        clip("b", 1.0, PlaybackMode::Loop, &[]),
    ]
}

fn fired_in(events: &[PlaybackEvent]) -> impl Iterator<Item = &FiredCallback> {
    events.iter().filter_map(|event| {
        if let PlaybackEvent::Callback(callback) = event {
            Some(callback)
        } else {
            None
        }
    })
}

/// `+name` and `-name` for begins and ends, each with its time.
fn story(events: &[PlaybackEvent]) -> String {
    let word = |callback: &FiredCallback| {
        let sign = match callback.kind {
            CallbackKind::Key => "",
            CallbackKind::Begin => "+",
            CallbackKind::End => "-",
        };
        format!(
            "{sign}{} {}",
            callback.name,
            (callback.time * 1e6).round() / 1e6
        )
    };
    fired_in(events).map(word).collect::<Vec<_>>().join(", ")
}

fn played(clips: &[ClipTiming], track: AnimationTrack, seconds: f64, steps: u32) -> String {
    let (mut controller, _) = with_track(track);
    let step = seconds / f64::from(steps);
    let events: Vec<_> = (0..steps)
        .flat_map(|_| advance(&mut controller, clips, step))
        .collect();
    story(&events)
}

#[test]
fn a_range_begins_and_ends_where_it_says_at_any_frame_rate() {
    let clips = loop_of(&[(0.25, 0.5, "hit")]);
    for steps in [1, 2, 4, 7, 64, 600] {
        let forward = played(&clips, AnimationTrack::new("a"), 2.0, steps);
        assert_eq!(
            forward, "+hit 0.25, -hit 0.5, +hit 1.25, -hit 1.5",
            "{steps} steps"
        );
        let back = played(&clips, AnimationTrack::new("a").reversed(), 1.25, steps);
        assert_eq!(back, "+hit 0.5, -hit 0.75", "{steps} steps");
        let fast = played(&clips, AnimationTrack::new("a").speed(4.0), 0.5, steps);
        assert_eq!(fast, "+hit 0.0625, -hit 0.125, +hit 0.3125, -hit 0.375");
    }
    let (mut controller, track) = with_track(AnimationTrack::new("a"));
    let events = advance(&mut controller, &clips, 0.5);
    let all: Vec<_> = fired_in(&events).collect();
    assert_eq!(
        (all[0].clip_time, all[1].clip_time, all[0].track),
        (0.25, 0.5, track)
    );
    assert_eq!(
        (all[0].key, all[1].key, all[0].weight),
        (KeyRef::Clip(0), KeyRef::Clip(0), 1.0)
    );
}

#[test]
fn a_range_up_to_the_end_ends_with_each_round_and_one_from_the_start_begins_with_it() {
    let clips = loop_of(&[(0.0, 1.0, "all"), (0.75, 1.0, "last")]);
    for steps in [1, 8, 30] {
        assert_eq!(
            played(&clips, AnimationTrack::new("a"), 2.0, steps),
            "+all 0, +last 0.75, -all 1, +all 1, -last 1, +last 1.75, -all 2, +all 2, -last 2"
        );
    }
    let once = [with_ranges(
        "a",
        1.0,
        PlaybackMode::Once,
        &[(0.5, 1.0, "end"), (0.0, 0.25, "start")],
    )];
    for steps in [1, 8] {
        assert_eq!(
            played(&once, AnimationTrack::new("a"), 3.0, steps),
            "+start 0, -start 0.25, +end 0.5, -end 1"
        );
        let back = played(&once, AnimationTrack::new("a").reversed(), 3.0, steps);
        assert_eq!(back, "+end 0, -end 0.5, +start 0.75, -start 1");
    }
}

#[test]
fn a_ping_pong_clip_does_not_leave_a_range_in_which_it_turns_around() {
    let clips = [with_ranges(
        "a",
        1.0,
        PlaybackMode::PingPong,
        &[
            (0.0, 0.25, "low"),
            (0.5, 0.625, "middle"),
            (0.75, 1.0, "high"),
        ],
    )];
    for steps in [1, 5, 32] {
        assert_eq!(
            played(&clips, AnimationTrack::new("a"), 2.5, steps),
            "+low 0, -low 0.25, +middle 0.5, -middle 0.625, +high 0.75, -high 1.25, +middle 1.375, -middle 1.5, \
             +low 1.75, -low 2.25, +middle 2.5"
        );
    }
    let whole = [with_ranges(
        "a",
        1.0,
        PlaybackMode::PingPong,
        &[(0.0, 1.0, "all")],
    )];
    assert_eq!(played(&whole, AnimationTrack::new("a"), 1e9, 1), "+all 0");
}

#[test]
fn a_range_without_length_begins_and_ends_at_once() {
    let clips = loop_of(&[(0.0, 0.0, "start"), (0.5, 0.5, "flash")]);
    for steps in [1, 2, 16] {
        let events = played(&clips, AnimationTrack::new("a"), 1.5, steps);
        assert_eq!(
            events,
            "+start 0, -start 0, +flash 0.5, -flash 0.5, +start 1, -start 1, +flash 1.5, -flash 1.5"
        );
    }
    let pose = [with_ranges(
        "a",
        0.0,
        PlaybackMode::Loop,
        &[(0.0, 0.0, "posed")],
    )];
    assert_eq!(
        played(&pose, AnimationTrack::new("a"), 1.0, 4),
        "+posed 0, -posed 0"
    );
}

#[test]
fn turning_around_right_at_an_end_begins_again() {
    let clips = loop_of(&[(0.25, 0.5, "hit")]);
    let (mut controller, track) = with_track(AnimationTrack::new("a"));
    let mut events = advance(&mut controller, &clips, 0.5);
    controller.track_mut(track).unwrap().speed = -1.0;
    events.extend(advance(&mut controller, &clips, 0.125));
    controller.track_mut(track).unwrap().speed = 1.0;
    events.extend(advance(&mut controller, &clips, 0.125));
    assert_eq!(story(&events), "+hit 0.25, -hit 0.5, +hit 0.5, -hit 0.75");
}

/// What follows a begin at 0.25 if something is done at 0.375.
fn after(act: impl FnOnce(&mut AnimationController, TrackId)) -> String {
    let mut clips = loop_of(&[(0.25, 0.5, "hit")]);
    clips[1].add_range(0.0, 0.125, "other", ());
    let mut controller = AnimationController::playing("a");
    let mut events = advance(&mut controller, &clips, 0.375);
    let track = controller.current_track().unwrap().id();
    act(&mut controller, track);
    events.extend(advance(&mut controller, &clips, 0.0625));
    let story = story(&events);
    let rest = story
        .strip_prefix("+hit 0.25")
        .unwrap_or_else(|| panic!("{story}"));
    rest.trim_start_matches(", ").to_owned()
}

#[test]
fn whatever_becomes_of_a_track_its_ranges_end_once() {
    assert_eq!(after(|_, _| {}), "");
    assert_eq!(
        after(|controller, _| controller.current_track_mut().unwrap().seek(0.75)),
        "-hit 0.375"
    );
    assert_eq!(
        after(|controller, _| controller.current_track_mut().unwrap().seek(0.26)),
        ""
    );
    assert_eq!(
        after(|controller, _| controller.current_track_mut().unwrap().scrub_to(0.75)),
        "-hit 0.375"
    );
    assert_eq!(
        after(|controller, track| drop(controller.remove_track(track))),
        "-hit 0.375"
    );
    assert_eq!(
        after(|controller, track| controller.track_mut(track).unwrap().enabled = false),
        "-hit 0.375"
    );
    assert_eq!(
        after(|controller, track| controller.track_mut(track).unwrap().set_clip("b")),
        "-hit 0.375, +other 0.375"
    );
    assert_eq!(
        after(|controller, _| controller.fade_out(secs(0.0))),
        "-hit 0.375"
    );
    assert_eq!(
        after(|controller, _| {
            controller.play("b");
        }),
        "-hit 0.375, +other 0.375"
    );
    assert_eq!(
        after(|controller, _| {
            controller.play_with("b", Transition::switch(secs(0.2)));
        }),
        "-hit 0.375, +other 0.375"
    );
    assert_eq!(
        after(|controller, _| controller.fade_out(secs(0.03125))),
        "-hit 0.40625"
    );
    assert_eq!(
        after(|controller, track| {
            controller.timeline_mut().key_enabled(track, false, 0.40625);
        }),
        "-hit 0.40625"
    );
    assert_eq!(
        after(|controller, track| {
            *controller.track_mut(track).unwrap() = AnimationTrack::new("b");
        }),
        "-hit 0.375, +other 0.375"
    );
    assert_eq!(
        after(|controller, track| controller.track_mut(track).unwrap().paused = true),
        ""
    );
    assert_eq!(after(|controller, _| controller.paused = true), "");
}

#[test]
fn a_range_ends_when_its_clip_or_its_key_goes_with_a_reload() {
    let clips = loop_of(&[(0.25, 0.5, "hit")]);
    let inside = || {
        let (mut controller, _) = with_track(AnimationTrack::new("a"));
        assert_eq!(story(&advance(&mut controller, &clips, 0.375)), "+hit 0.25");
        controller
    };
    let mut controller = inside();
    let events = advance(&mut controller, &clips[1..], 0.0625);
    assert_eq!(story(&events), "-hit 0.375");
    assert_eq!(fired_in(&events).next().unwrap().clip, usize::MAX);
    // Back again, it is inside.
    assert_eq!(story(&advance(&mut controller, &clips, 0.0)), "+hit 0.4375");
    assert_eq!(
        story(&advance(&mut inside(), &loop_of(&[]), 0.0)),
        "-hit 0.375"
    );
    assert_eq!(
        story(&advance(
            &mut inside(),
            &loop_of(&[(0.5, 0.75, "hit")]),
            0.0
        )),
        "-hit 0.375"
    );
    assert_eq!(
        story(&advance(
            &mut inside(),
            &loop_of(&[(0.25, 0.5, "block")]),
            0.0
        )),
        "-hit 0.375, +block 0.375"
    );
    assert_eq!(
        story(&advance(
            &mut inside(),
            &loop_of(&[(0.0, 0.75, "hit")]),
            0.0625
        )),
        ""
    );
    // The clip is at another place in the list.
    let moved: Vec<_> = clips.iter().rev().cloned().collect();
    assert_eq!(story(&advance(&mut inside(), &moved, 0.125)), "-hit 0.5");
}

#[test]
fn a_seek_into_a_range_begins_it_even_while_paused() {
    let clips = loop_of(&[(0.25, 0.5, "hit")]);
    let (mut controller, track) = with_track(AnimationTrack::new("a"));
    advance(&mut controller, &clips, 0.125);
    controller.track_mut(track).unwrap().paused = true;
    controller.track_mut(track).unwrap().seek(0.375);
    assert_eq!(story(&advance(&mut controller, &clips, 1.0)), "+hit 0.125");
    assert!(controller.range("hit").is_some());
    controller.track_mut(track).unwrap().seek(0.625);
    assert!(
        controller.range("hit").is_none(),
        "it has left, though that is yet to be reported"
    );
    assert_eq!(story(&advance(&mut controller, &clips, 1.0)), "-hit 1.125");
    // A track may begin in the middle of one.
    let mut controller = AnimationController::default();
    controller.add_track(AnimationTrack::new("a").starting_at(0.375));
    assert_eq!(
        story(&advance(&mut controller, &clips, 0.25)),
        "+hit 0, -hit 0.125"
    );
}

#[test]
fn what_a_character_is_inside_of_can_be_asked_at_any_time() {
    let mut clips = loop_of(&[(0.25, 0.75, "hit")]);
    clips[0].add_range(0.5, 1.0, "trail", "red");
    let (mut controller, track) = with_track(AnimationTrack::new("a"));
    assert_eq!(controller.ranges().count(), 0);
    advance(&mut controller, &clips, 0.375);
    let hit = controller.range("hit").unwrap();
    assert_eq!(
        (hit.progress, hit.track, hit.clip, hit.weight),
        (0.25, track, "a", 1.0)
    );
    assert_eq!(
        (hit.key, controller.range("trail").is_some()),
        (KeyRef::Clip(0), false)
    );
    advance(&mut controller, &clips, 0.25);
    let names: Vec<_> = controller
        .ranges()
        .map(|range| (range.name, range.progress))
        .collect();
    assert_eq!(names, [("hit", 0.75), ("trail", 0.25)]);
    assert_eq!(
        controller
            .range("trail")
            .unwrap()
            .data
            .to::<String>()
            .unwrap(),
        "red"
    );
    controller.remove_track(track);
    assert_eq!(controller.ranges().count(), 0);
}

#[test]
fn ranges_can_be_added_to_one_controller_and_removed() {
    let clips = clips();
    let (mut controller, _) = with_track(AnimationTrack::new("idle"));
    controller.add_callback_range("idle", 0.5, 1.0, "early", "payload");
    let late = controller.add_callback_range(
        "idle",
        CallbackTime::Fraction(0.5),
        CallbackTime::End,
        "late",
        (),
    );
    let nothing = controller.add_callback_range("idle", 3.0, 2.0, "turned", ());
    assert_eq!(
        story(&advance(&mut controller, &clips, 2.5)),
        "+early 0.5, -early 1, +late 2"
    );
    assert_eq!(controller.range("late").unwrap().key, KeyRef::Added(late));
    assert_eq!(
        story(&advance(&mut controller, &clips, 0.625)),
        "+turned 3, -turned 3"
    );
    assert!(controller.remove_callback(late) && controller.remove_callback(nothing));
    assert_eq!(story(&advance(&mut controller, &clips, 0.0)), "-late 3.125");
    // Every second one: whole pairs.
    let (mut controller, _) = with_track(AnimationTrack::new("step"));
    let nth = controller.add_callback_range("step", 0.25, 0.75, "nth", ());
    controller.set_callback_every_nth(nth, 2);
    for steps in [1, 9] {
        let mut controller = controller.clone();
        let events: Vec<_> = (0..steps)
            .flat_map(|_| advance(&mut controller, &clips, 4.5 / f64::from(steps)))
            .collect();
        let ranges: Vec<_> = story(&events)
            .split(", ")
            .filter(|word| word.contains("nth"))
            .map(str::to_owned)
            .collect();
        assert_eq!(
            ranges,
            ["+nth 1.25", "-nth 1.75", "+nth 3.25", "-nth 3.75"],
            "{steps}"
        );
    }
}

#[test]
fn what_is_not_reported_to_begin_is_not_reported_to_end() {
    let clips = loop_of(&[(0.25, 0.5, "hit")]);
    // Below the threshold, even if the weight rises inside.
    let (mut controller, track) = with_track(AnimationTrack::new("a").weight(0.25));
    controller.callback_threshold = 0.5;
    let mut events = advance(&mut controller, &clips, 0.375);
    controller.track_mut(track).unwrap().weight = 1.0;
    assert!(controller.range("hit").is_none());
    events.extend(advance(&mut controller, &clips, 1.0));
    assert_eq!(story(&events), "+hit 1.25");
    // A weight that falls inside ends nothing.
    controller.track_mut(track).unwrap().weight = 0.0;
    assert_eq!(story(&advance(&mut controller, &clips, 1.0)), "-hit 1.5");
    // Beyond the limit, in an advance of billions of rounds.
    for (weight, limit) in [(1.0, 3), (0.25, 3), (1.0, 0)] {
        let (mut controller, track) = with_track(AnimationTrack::new("a").weight(weight));
        controller.callback_threshold = 0.5;
        controller.callback_limit = limit;
        let mut events = advance(&mut controller, &clips, 1e9 + 0.375);
        let heard = fired_in(&events).count();
        assert_eq!(
            heard,
            if weight < 0.5 { 0 } else { 2 * limit },
            "{weight} {limit}"
        );
        controller.remove_track(track);
        events = advance(&mut controller, &clips, 1.0);
        assert_eq!(fired_in(&events).count(), 0);
    }
}

#[test]
fn a_saved_controller_ends_what_it_began_and_a_copy_for_another_character_begins_anew() {
    let clips = loop_of(&[(0.25, 0.5, "hit")]);
    let (mut controller, _) = with_track(AnimationTrack::new("a"));
    advance(&mut controller, &clips, 0.375);
    let mut again: AnimationController =
        ron::from_str(&ron::to_string(&controller).unwrap()).unwrap();
    assert_eq!(again, controller);
    assert!(again.range("hit").is_some());
    let mut copy = controller.clone_without_timeline();
    assert_eq!(story(&advance(&mut again, &clips, 0.25)), "-hit 0.5");
    assert_eq!(
        story(&advance(&mut copy, &clips, 0.25)),
        "+hit 0.375, -hit 0.5"
    );
    // Times in a save may be anything.
    let odd = ron::to_string(&controller)
        .unwrap()
        .replace("until:0.5", "until:NaN");
    let mut odd: AnimationController = ron::from_str(&odd).unwrap();
    odd.ranges().count();
    assert_eq!(story(&advance(&mut odd, &clips, 0.25)), "-hit 0.5");
}

fn random_clips(random: &mut Rng) -> Vec<ClipTiming> {
    let clip = |i: usize, random: &mut Rng| {
        let playback = [
            PlaybackMode::Loop,
            PlaybackMode::Once,
            PlaybackMode::PingPong,
        ][random.usize(..3)];
        let length = f64::from(random.u32(1..=16)) / 8.0;
        let mut timing = clip(&format!("c{i}"), length, playback, &[]);
        for _ in 0..random.usize(..4) {
            let [mut begin, mut end] = [0; 2].map(|_| length * f64::from(random.u32(0..=8)) / 8.0);
            if end < begin {
                std::mem::swap(&mut begin, &mut end);
            }
            timing.add_range(begin, end, format!("r{}", random.u8(..)), ());
        }
        timing
    };
    (0..3).map(|i| clip(i, random)).collect()
}

#[test]
fn at_every_moment_what_has_begun_is_where_brute_force_says_the_playhead_is() {
    let mut random = Rng::with_seed(21);
    let (mut checked, mut inside_at_all) = (0, 0);
    for round in 0..400 {
        let clips = random_clips(&mut random);
        let timing = &clips[0];
        let speed = [1.0, -1.0, 0.5, -2.0, 3.0, 0.7, -0.3][random.usize(..7)];
        let start = f64::from(random.i32(-20..20)) / 8.0;
        let start = if timing.playback == PlaybackMode::Once {
            start.clamp(0.0, timing.duration)
        } else {
            start
        };
        let (mut controller, _) =
            with_track(AnimationTrack::new("c0").speed(speed).starting_at(start));
        let (mut events, mut seconds) = (Vec::new(), 0.0);
        while seconds < 6.0 {
            let dt = [1.0 / 64.0, 0.125, 1.0, random.f64()][random.usize(..4)];
            events.extend(advance(&mut controller, &clips, dt));
            seconds += dt;
        }
        for sample in 0..150 {
            let time = f64::from(sample) * seconds / 150.0 + 1e-3;
            let place = timing.periodic(start + speed * time);
            for (index, key) in timing.callbacks.iter().enumerate() {
                let (begin, end) = (key.time, key.until.unwrap());
                // Too near to a boundary to tell.
                if (place - begin).abs() < 1e-6 || (place - end).abs() < 1e-6 {
                    continue;
                }
                let ours = fired_in(&events)
                    .filter(|fired| fired.key == KeyRef::Clip(index) && fired.time <= time);
                let open = ours.fold(0, |open, fired| match fired.kind {
                    CallbackKind::Begin => open + 1,
                    CallbackKind::End => open - 1,
                    CallbackKind::Key => panic!("{fired:?}"),
                });
                let inside = i32::from(begin < place && place < end);
                assert_eq!(
                    open, inside,
                    "round {round}, {timing:?} from {start} at {speed}, at {time}: {place}"
                );
                (checked, inside_at_all) = (checked + 1, inside_at_all + inside);
            }
        }
    }
    assert!(
        checked > 50_000 && inside_at_all > 10_000,
        "{checked} {inside_at_all}"
    );
}

/// Random operations at moments that are the same however time is cut.
fn disturb(controller: &mut AnimationController, clips: &mut Vec<ClipTiming>, random: &mut Rng) {
    let name = format!("c{}", random.usize(..4));
    let ids: Vec<_> = controller.tracks().map(AnimationTrack::id).collect();
    let id = ids.get(random.usize(..ids.len().max(1))).copied();
    let place = f64::from(random.u32(..16)) / 8.0;
    let span = secs(f64::from(random.u32(..8)) / 16.0);
    let now = controller.time();
    match random.u8(..22) {
        0 => drop(controller.play(name)),
        1 => drop(controller.cross_fade(name, span)),
        2 => drop(controller.play_with(name, Transition::switch(span))),
        3 => drop(controller.queue_mut().push(name)),
        4 => drop(id.map(|id| controller.remove_track(id))),
        5 => drop(controller.add_track(AnimationTrack::new(name).speed(1.5))),
        6 => controller.tracks_mut().for_each(|track| track.seek(place)),
        7 => controller.tracks_mut().for_each(|track| track.scrub(place)),
        8 => controller
            .tracks_mut()
            .for_each(|track| track.speed = -track.speed),
        9 => controller
            .tracks_mut()
            .for_each(|track| track.enabled = !track.enabled),
        10 => controller
            .tracks_mut()
            .for_each(|track| track.paused = !track.paused),
        11 => drop(id.map(|id| controller.timeline_mut().fade_out(id, span))),
        12 => drop(id.and_then(|id| {
            controller
                .timeline_mut()
                .key_enabled(id, place < 1.0, now + 0.1875)
        })),
        13 => drop(id.and_then(|id| {
            controller
                .timeline_mut()
                .key_position(id, place, now + 0.3125)
        })),
        14 => controller.fade_out(secs(0.0)),
        15 => controller.timeline_mut().reset_time(),
        16 => drop(controller.play_over(AnimationTrack::new(name), span, span)),
        17 => *clips = random_clips(random),
        18 => drop(id.map(|id| controller.track_mut(id).unwrap().set_clip(name))),
        19 => drop(controller.add_callback_range(name, place, place + 0.25, "added", ())),
        20 => controller.tracks_mut().for_each(|track| track.restart()),
        _ => drop(controller.queue_mut().set_fade(span).push(name)),
    }
}

#[test]
fn begins_and_ends_come_in_pairs_whatever_is_done_and_however_time_is_cut() {
    let (mut pairs, mut left) = (0, 0);
    for seed in 0..600 {
        let run = |cut: u32| {
            let mut random = Rng::with_seed(seed);
            let mut clips = random_clips(&mut random);
            let mut controller = AnimationController::playing("c0");
            let (mut open, mut heard) = (HashMap::new(), Vec::new());
            let mut hear = |controller: &AnimationController,
                            events: Vec<PlaybackEvent>,
                            offset: f64| {
                for fired in fired_in(&events) {
                    let pair = (fired.track, format!("{:?}", fired.key));
                    match fired.kind {
                        CallbackKind::Begin => {
                            assert_eq!(open.insert(pair, fired.name.clone()), None, "{fired:?}")
                        }
                        CallbackKind::End => {
                            assert_eq!(open.remove(&pair), Some(fired.name.clone()), "{fired:?}")
                        }
                        CallbackKind::Key => panic!("there are no plain keys"),
                    }
                    let time = ((fired.time + offset) * 1e6).round();
                    heard.push((time, fired.name.to_string(), format!("{:?}", fired.kind)));
                }
                assert!(controller.ranges().count() <= open.len());
                open.len()
            };
            let mut offset = 0.0;
            for _ in 0..14 {
                let before = controller.time();
                disturb(&mut controller, &mut clips, &mut random);
                // What was reset is told apart no more.
                offset += before - controller.time();
                let seconds = f64::from(random.u32(1..24)) / 16.0;
                for _ in 0..cut {
                    let events = advance(&mut controller, &clips, seconds / f64::from(cut));
                    hear(&controller, events, offset);
                }
            }
            // In the end, all tracks go, and with them all ranges.
            let ids: Vec<_> = controller.tracks().map(AnimationTrack::id).collect();
            controller
                .queue_mut()
                .clear()
                .set_fallback(Default::default());
            ids.into_iter()
                .for_each(|id| drop(controller.remove_track(id)));
            let before = hear(&controller, Vec::new(), offset);
            let events = advance(&mut controller, &clips, 0.0);
            assert_eq!(hear(&controller, events, offset), 0);
            // Of what happens at one moment, tracks keep their order, but the end of a step may come first.
            heard.sort_by(|a, b| {
                a.0.total_cmp(&b.0)
                    .then_with(|| (&a.1, &a.2).cmp(&(&b.1, &b.2)))
            });
            (heard, before)
        };
        let (whole, before) = run(1);
        pairs += whole.len() / 2;
        left += before;
        for cut in [2, 8] {
            assert_eq!(run(cut).0, whole, "seed {seed}, {cut} steps");
        }
    }
    assert!(pairs > 2000 && left > 50, "{pairs} {left}");
}

#[test]
fn a_range_without_length_at_the_end_waits_for_the_end() {
    let mut clip = ClipTiming::new("walk", 1.0);
    clip.add_callback(1.0, "key", ());
    clip.add_range(1.0, 1.0, "flash", ());
    let (mut controller, clips) = (AnimationController::playing("walk"), [clip]);
    let mut events = Vec::new();
    controller.advance(0.5, &clips, &mut events).unwrap();
    assert_eq!(events.len(), 1, "only that it started: {events:?}");
    controller.advance(0.5, &clips, &mut events).unwrap();
    let [_, rest @ ..] = &events[..] else {
        panic!()
    };
    assert_eq!(
        rest.len(),
        4,
        "the key, a loop, and both ends of the range: {rest:?}"
    );
    assert!(rest.iter().all(|event| event.time() == 1.0));
}
