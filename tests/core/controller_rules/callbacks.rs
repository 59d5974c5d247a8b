//! Rule 7: callback keys, each exactly once.

use super::support::*;
use bevy_marionette::model::{ClipTiming, PlaybackMode};
use bevy_marionette::{
    controller::{AnimationController, AnimationTrack, CallbackTime, PlaybackEvent, Transition},
    internals::controller::KeyRef,
};

fn all(clip: &str, speed: f64, steps: &[f64]) -> Vec<String> {
    let clips = clips();
    let (mut controller, _) = with_track(AnimationTrack::new(clip).speed(speed));
    steps
        .iter()
        .flat_map(|dt| fired(&mut controller, &clips, *dt))
        .collect()
}

#[test]
fn rule_7_one_long_advance_of_a_loop_fires_every_key_in_order() {
    assert_eq!(
        all("step", 1.0, &[2.75]),
        ["0", "half", "0", "half", "0", "half"]
    );
}

#[test]
fn rule_7_cutting_the_time_changes_nothing() {
    let whole = all("step", 1.0, &[2.75]);
    assert_eq!(all("step", 1.0, &[0.25; 11]), whole);
    assert_eq!(all("step", 1.0, &[2.75 / 64.0; 64]), whole);
    // Steps that no f64 holds exactly, and an end right on a key.
    for steps in [3, 7, 10, 30, 60, 144, 240, 1000, 6000] {
        let cut = vec![2.5 / f64::from(steps); steps as usize];
        assert_eq!(all("step", 1.0, &cut), whole, "{steps} steps");
    }
}

#[test]
fn rule_7_the_end_of_an_interval_belongs_to_it_and_its_start_does_not() {
    let clips = clips();
    let (mut controller, _) = with_track(AnimationTrack::new("step"));
    assert_eq!(fired(&mut controller, &clips, 0.5), ["0", "half"]);
    assert_eq!(fired(&mut controller, &clips, 0.25), [""; 0]);
    assert_eq!(fired(&mut controller, &clips, 0.25), ["0"]);
    assert_eq!(fired(&mut controller, &clips, 0.25), [""; 0]);
}

#[test]
fn rule_7_reverse_fires_the_same_keys_in_reverse_order() {
    let clips = clips();
    let (mut controller, track) = with_track(AnimationTrack::new("step"));
    let mut forward = fired(&mut controller, &clips, 2.75);
    controller.track_mut(track).unwrap().speed = -1.0;
    let backward = fired(&mut controller, &clips, 2.75);
    forward.reverse();
    assert_eq!(backward, forward);
    assert_eq!(position(&controller, track), 0.0);
}

#[test]
fn rule_7_turning_round_on_a_key_does_not_fire_it_again() {
    let clips = clips();
    let (mut controller, track) = with_track(AnimationTrack::new("step"));
    assert_eq!(fired(&mut controller, &clips, 0.5), ["0", "half"]);
    controller.track_mut(track).unwrap().speed = -1.0;
    assert_eq!(fired(&mut controller, &clips, 0.25), [""; 0]);
    controller.track_mut(track).unwrap().speed = 1.0;
    assert_eq!(fired(&mut controller, &clips, 0.5), ["half"]);
}

#[test]
fn rule_7_a_reversed_loop_begins_at_its_end() {
    let clips = [clip(
        "c",
        1.0,
        PlaybackMode::Loop,
        &[(0.0, "0"), (0.5, "half"), (1.0, "end")],
    )];
    let (mut controller, _) = with_track(AnimationTrack::new("c").reversed());
    let names = fired(&mut controller, &clips, 1.5);
    assert_eq!(names, ["end", "half", "0", "end", "half"]);
}

#[test]
fn rule_7_once_fires_its_end_key_once_ever() {
    let clips = clips();
    let (mut controller, track) = with_track(AnimationTrack::new("once"));
    assert_eq!(
        fired(&mut controller, &clips, 10.0),
        ["start", "middle", "end"]
    );
    for _ in 0..100 {
        assert_eq!(fired(&mut controller, &clips, 0.5), [""; 0]);
    }
    assert_eq!(position(&controller, track), 1.0);
    assert_eq!(
        all("once", 1.0, &[1.0 / 3.0; 9]),
        ["start", "middle", "end"]
    );
}

#[test]
fn rule_7_ping_pong_fires_inner_keys_both_ways_and_outer_keys_once_a_turn() {
    let turn = ["low", "pass", "high", "pass"];
    let two: Vec<_> = turn.iter().chain(&turn).chain(&["low"]).copied().collect();
    assert_eq!(all("swing", 1.0, &[4.0]), two);
    assert_eq!(all("swing", 1.0, &[0.125; 32]), two);
    assert_eq!(all("swing", 0.7, &[4.0 / 0.7]), two);
    // Backwards from a turning point is the same path mirrored.
    assert_eq!(all("swing", -1.0, &[4.0]), two);
}

#[test]
fn rule_7_ping_pong_events_lie_at_k_and_at_twice_the_length_less_k() {
    let clips = clips();
    let (mut controller, _) = with_track(AnimationTrack::new("swing"));
    let times: Vec<f64> = advance(&mut controller, &clips, 2.0)
        .iter()
        .filter_map(|event| match event {
            PlaybackEvent::Callback(callback) => Some(callback.time),
            _ => None,
        })
        .collect();
    assert_eq!(times, [0.0, 0.25, 1.0, 1.75, 2.0]);
}

#[test]
fn rule_7_seeking_fires_nothing_and_playing_on_fires_what_comes_after() {
    let clips = clips();
    let (mut controller, track) = with_track(AnimationTrack::new("step"));
    assert_eq!(fired(&mut controller, &clips, 0.25), ["0"]);
    for place in [3.75, 0.0, 0.5] {
        controller.track_mut(track).unwrap().seek(place);
        assert_eq!(fired(&mut controller, &clips, 0.0), [""; 0]);
    }
    assert_eq!(fired(&mut controller, &clips, 0.25), [""; 0]);
    assert_eq!(fired(&mut controller, &clips, 0.25), ["0"]);
}

#[test]
fn rule_7_scrubbing_fires_what_lies_on_the_way_even_while_paused() {
    let clips = clips();
    let (mut controller, track) = with_track(AnimationTrack::new("step").starting_at(0.25));
    assert_eq!(fired(&mut controller, &clips, 0.125), [""; 0]);
    controller.paused = true;
    controller.track_mut(track).unwrap().scrub(1.25);
    assert_eq!(fired(&mut controller, &clips, 0.125), ["half", "0"]);
    controller.track_mut(track).unwrap().scrub(0.25);
    assert_eq!(fired(&mut controller, &clips, 0.0), ["0", "half"]);
    assert_eq!(position(&controller, track), 0.25);
    assert_eq!(controller.time(), 0.125);
}

#[test]
fn rule_7_no_time_or_a_pause_fires_nothing() {
    let clips = clips();
    let (mut controller, track) = with_track(AnimationTrack::new("step"));
    assert!(advance(&mut controller, &clips, 0.0).is_empty());
    controller.paused = true;
    assert!(advance(&mut controller, &clips, 5.0).is_empty());
    controller.paused = false;
    controller.track_mut(track).unwrap().paused = true;
    assert!(advance(&mut controller, &clips, 5.0).is_empty());
    controller.track_mut(track).unwrap().paused = false;
    controller.track_mut(track).unwrap().enabled = false;
    assert!(advance(&mut controller, &clips, 5.0).is_empty());
    controller.track_mut(track).unwrap().enabled = true;
    assert_eq!(fired(&mut controller, &clips, 0.5), ["0", "half"]);
}

#[test]
fn rule_7_a_track_without_weight_fires_and_says_so() {
    let clips = clips();
    let (mut controller, _) = with_track(AnimationTrack::new("step").weight(0.0));
    controller.add_track(AnimationTrack::new("run").weight(0.75));
    let weights: Vec<(String, f32)> = advance(&mut controller, &clips, 0.5)
        .iter()
        .filter_map(|event| match event {
            PlaybackEvent::Callback(callback) => Some((callback.name.to_string(), callback.weight)),
            _ => None,
        })
        .collect();
    assert_eq!(
        weights,
        [
            ("0".into(), 0.0),
            ("left".into(), 0.75),
            ("half".into(), 0.0)
        ]
    );
}

#[test]
fn rule_7_a_huge_step_fires_the_first_ones_and_warns_once() {
    let clips = clips();
    let (mut controller, track) = with_track(AnimationTrack::new("step"));
    let events = advance(&mut controller, &clips, 1e9);
    let names = callbacks(&events);
    assert_eq!(names.len(), AnimationController::DEFAULT_CALLBACK_LIMIT);
    assert!(names.chunks(2).all(|pair| pair == ["0", "half"]));
    let floods = |events: &[PlaybackEvent]| {
        events
            .iter()
            .filter(|e| matches!(e, PlaybackEvent::TooManyCallbacks { limit: 1024, .. }))
            .count()
    };
    assert_eq!(floods(&events), 1);
    assert_eq!(position(&controller, track), 1e9);
    assert_eq!(floods(&advance(&mut controller, &clips, 1e9)), 0);
    // And goes on exactly.
    assert_eq!(fired(&mut controller, &clips, 1.0), ["half", "0"]);
    // A clip of next to no length, without keys and with one, at any speed.
    let tiny = [
        clip("t", 1e-300, PlaybackMode::Loop, &[(0.0, "k")]),
        clip("u", 5e-324, PlaybackMode::PingPong, &[]),
    ];
    for name in ["t", "u"] {
        let (mut controller, track) = with_track(AnimationTrack::new(name).speed(-1e300));
        for dt in [1.0, f64::MAX, 1e-300] {
            assert!(fired(&mut controller, &tiny, dt).len() <= 1024);
            assert!(position(&controller, track).is_finite());
        }
    }
}

#[test]
fn rule_7_the_limit_can_be_set() {
    let clips = clips();
    let (mut controller, _) = with_track(AnimationTrack::new("step"));
    controller.callback_limit = 3;
    assert_eq!(fired(&mut controller, &clips, 10.0), ["0", "half", "0"]);
}

#[test]
fn rule_7_events_of_several_tracks_come_in_order_of_time() {
    let clips = clips();
    let (mut controller, _) = with_track(AnimationTrack::new("step"));
    controller.add_track(AnimationTrack::new("run").speed(0.5));
    let events = advance(&mut controller, &clips, 2.0);
    assert!(events.is_sorted_by(|a, b| a.time() <= b.time()));
    assert_eq!(
        callbacks(&events),
        ["0", "half", "left", "0", "half", "right", "0"]
    );
}

#[test]
fn rule_7_simultaneous_events_keep_the_order_of_the_tracks_however_time_is_cut() {
    let clips = [
        clip("a", 0.3, PlaybackMode::Loop, &[(0.1, "a")]),
        clip("b", 0.9, PlaybackMode::Loop, &[(0.3, "b")]),
    ];
    let run = |steps: u32| {
        let (mut controller, _) = with_track(AnimationTrack::new("b").speed(3.0));
        controller.add_track(AnimationTrack::new("a"));
        let names: Vec<_> = (0..steps)
            .flat_map(|_| fired(&mut controller, &clips, 3.05 / f64::from(steps)))
            .collect();
        names
    };
    let whole = run(1);
    assert_eq!(
        (whole.len(), &whole[..2]),
        (20, &["b".to_owned(), "a".to_owned()][..])
    );
    for steps in [5, 13, 61, 183] {
        assert_eq!(run(steps), whole, "{steps} steps");
    }
}

#[test]
fn rule_7_an_event_lies_at_the_moment_its_key_is_passed() {
    let clips = clips();
    let (mut controller, track) = with_track(AnimationTrack::new("walk").speed(0.5));
    controller.add_track(AnimationTrack::new("idle"));
    advance(&mut controller, &clips, 0.75);
    let events = advance(&mut controller, &clips, 1.0);
    let PlaybackEvent::Callback(callback) = &events[0] else {
        panic!("{events:?}")
    };
    assert_eq!(
        (callback.time, callback.clip_time, callback.track),
        (1.0, 0.5, track)
    );
    assert_eq!((callback.clip, callback.key), (1, KeyRef::Clip(0)));
}

#[test]
fn rule_7_started_looped_and_finished_surround_the_keys() {
    let clips = [
        clip(
            "loop",
            1.0,
            PlaybackMode::Loop,
            &[(0.0, "first"), (1.0, "last")],
        ),
        clip(
            "once",
            1.0,
            PlaybackMode::Once,
            &[(0.0, "first"), (1.0, "last")],
        ),
        clip(
            "swing",
            1.0,
            PlaybackMode::PingPong,
            &[(0.0, "first"), (1.0, "last")],
        ),
    ];
    let story = |name: &str, speed: f64| {
        let (mut controller, track) = with_track(AnimationTrack::new(name).speed(speed));
        let mut events = advance(&mut controller, &clips, 2.0);
        controller.track_mut(track).unwrap().speed = -speed;
        events.push(PlaybackEvent::UnknownClip {
            track: None,
            name: "then".into(),
            time: 0.0,
        });
        events.extend(advance(&mut controller, &clips, 2.0));
        words(&events, &clips).join(", ")
    };
    assert_eq!(
        story("loop", 1.0),
        "loop started, first, last, loop looped, first, last, loop looped, first, then unknown, \
         first, loop looped, last, first, loop looped, last"
    );
    assert_eq!(
        story("once", 1.0),
        "once started, first, last, once finished, then unknown, first, once finished"
    );
    assert_eq!(
        story("swing", 1.0),
        "swing started, first, last, swing looped, first, then unknown, last, first, swing looped"
    );
}

#[test]
fn rule_7_callbacks_can_be_added_at_a_time_a_fraction_and_the_end() {
    let clips = clips();
    let (mut controller, _) = with_track(AnimationTrack::new("idle"));
    controller.add_callback("idle", 0.5, "time", "payload");
    controller.add_callback("idle", CallbackTime::Fraction(0.5), "fraction", ());
    let end = controller.add_callback("idle", CallbackTime::End, "end", ());
    controller.add_callback("walk", 0.1, "other", ());
    let events = advance(&mut controller, &clips, 5.0);
    assert_eq!(callbacks(&events), ["time", "fraction", "end", "time"]);
    let Some(PlaybackEvent::Callback(callback)) = events
        .iter()
        .find(|e| matches!(e, PlaybackEvent::Callback(_)))
    else {
        panic!("no callback")
    };
    assert_eq!(callback.data.to::<String>().unwrap(), "payload");
    assert!(controller.remove_callback(end) && !controller.remove_callback(end));
    assert_eq!(fired(&mut controller, &clips, 4.0), ["fraction", "time"]);
}

#[test]
fn rule_7_every_nth_counts_passings_however_time_is_cut() {
    let clips = clips();
    let run = |steps: u32| {
        let (mut controller, _) = with_track(AnimationTrack::new("idle").speed(4.0));
        let nth = controller.add_callback("idle", CallbackTime::End, "third", ());
        controller.set_callback_every_nth(nth, 3);
        let times: Vec<f64> = (0..steps)
            .flat_map(|_| advance(&mut controller, &clips, 10.5 / f64::from(steps)))
            .filter_map(|event| match event {
                PlaybackEvent::Callback(callback) => Some(callback.time),
                _ => None,
            })
            .collect();
        times
    };
    for steps in [1, 7, 600] {
        let times = run(steps);
        assert_eq!(times.len(), 3);
        times
            .iter()
            .zip([3.0, 6.0, 9.0])
            .for_each(|(time, expected)| assert_close(*time, expected));
    }
}

#[test]
fn rule_7_keys_out_of_order_or_out_of_range_are_neither_lost_nor_doubled() {
    let mut odd = clip(
        "odd",
        1.0,
        PlaybackMode::Loop,
        &[(0.75, "late"), (0.75, "late too"), (0.25, "early")],
    );
    odd.callbacks.reverse();
    odd.callbacks[0].time = 7.0;
    odd.callbacks[1].time = f64::NAN;
    let clips: Vec<ClipTiming> = vec![odd];
    let run = |steps: u32| {
        let (mut controller, _) = with_track(AnimationTrack::new("odd"));
        let mut names: Vec<_> = (0..steps)
            .flat_map(|_| fired(&mut controller, &clips, 2.0 / f64::from(steps)))
            .collect();
        names.sort();
        names
    };
    assert_eq!(run(1).len(), 7);
    assert_eq!(run(1), run(64));
}

#[test]
fn rule_7_the_limit_holds_for_the_whole_advance_in_order_of_time() {
    let clips = clips();
    let (mut controller, _) = with_track(AnimationTrack::new("step"));
    for _ in 0..9 {
        controller.add_track(AnimationTrack::new("run"));
    }
    controller.callback_limit = 30;
    let events = advance(&mut controller, &clips, 100.0);
    let times: Vec<f64> = events
        .iter()
        .filter_map(|event| {
            if let PlaybackEvent::Callback(callback) = event {
                Some(callback.time)
            } else {
                None
            }
        })
        .collect();
    // 0, nine at 0.25, half, nine at 0.75, 0 and nine more.
    assert_eq!((times.len(), times[29]), (30, 1.25));
    let floods = events
        .iter()
        .filter(|event| matches!(event, PlaybackEvent::TooManyCallbacks { .. }))
        .count();
    assert_eq!(floods, 10);
}

#[test]
fn rule_7_rounds_beyond_the_limit_are_reported() {
    let clips = clips();
    let mut controller = AnimationController::playing("idle");
    let events = advance(&mut controller, &clips, 1e6);
    assert_eq!(
        events
            .iter()
            .filter(|event| matches!(event, PlaybackEvent::Looped { .. }))
            .count(),
        1024
    );
    assert!(
        events
            .iter()
            .any(|event| matches!(event, PlaybackEvent::TooManyCallbacks { .. }))
    );
}

#[test]
fn rule_7_events_keep_their_order_after_centuries() {
    let clips = clips();
    let (mut controller, _) = with_track(AnimationTrack::new("walk"));
    controller.callback_limit = 0;
    // The clock ends after 292 years.
    advance(&mut controller, &clips, 9e9);
    controller.callback_limit = 1024;
    controller.add_track(AnimationTrack::new("run"));
    let events = advance(&mut controller, &clips, 2.0);
    assert!(callbacks(&events).len() >= 6);
    assert!(
        events.is_sorted_by(|a, b| a.time() <= b.time()),
        "{events:?}"
    );
}

#[test]
fn rule_7_a_loop_that_begins_at_0_backwards_fires_the_key_it_stands_on() {
    assert_eq!(all("step", -1.0, &[0.75]), ["0", "half"]);
    assert_eq!(all("step", -1.0, &[0.25, 0.25, 0.25]), ["0", "half"]);
}

#[test]
fn rule_7_callbacks_below_a_weight_or_beside_the_current_clip_can_be_told() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    advance(&mut controller, &clips, 0.25);
    controller.play_with("run", Transition::fade(secs(1.0)).in_phase());
    let events = advance(&mut controller, &clips, 0.5);
    let steps: Vec<bool> = events
        .iter()
        .filter_map(|event| {
            if let PlaybackEvent::Callback(callback) = event {
                Some(callback.current)
            } else {
                None
            }
        })
        .collect();
    // Both feet fall at once; one of them belongs to the current clip.
    assert_eq!(steps, [false, true]);
    let mut controller = AnimationController::playing("walk");
    controller.callback_threshold = 0.51;
    advance(&mut controller, &clips, 0.25);
    controller.play_with("run", Transition::fade(secs(1.0)).in_phase());
    assert_eq!(fired(&mut controller, &clips, 0.5), ["left"]);
}

#[test]
fn rule_7_a_clone_tells_the_callbacks_still_to_come() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    controller.set_speed(2.0);
    advance(&mut controller, &clips, 0.5);
    for ahead in [&mut controller.clone(), &mut controller] {
        assert_eq!(fired(ahead, &clips, 1.0), ["right", "left"]);
    }
}
