//! Rules 1, 2 and 6: an advance, the layers of the blend, the periodic position.

use super::support::*;
use bevy_marionette::controller::{
    AdvanceError, AnimationController, AnimationTrack, BlendMode, PlaybackEvent, TrackId,
    TrackPriority, TransitionCurve,
};
use bevy_marionette::model::{ClipTiming, PlaybackMode};

#[test]
fn rule_1_time_goes_on_and_every_enabled_track_moves_by_its_speed() {
    let clips = clips();
    let (mut controller, plain) = with_track(AnimationTrack::new("walk"));
    let fast = controller.add_track(AnimationTrack::new("run").speed(2.5));
    let back = controller.add_track(AnimationTrack::new("idle").speed(-1.0));
    let off = controller.add_track(AnimationTrack::new("step").enabled(false));
    advance(&mut controller, &clips, 0.5);
    advance(&mut controller, &clips, 0.75);
    assert_eq!(controller.time(), 1.25);
    assert_eq!(
        [plain, fast, back, off].map(|id| position(&controller, id)),
        [1.25, 3.125, -1.25, 0.0]
    );
}

#[test]
fn rule_1_a_step_that_is_negative_or_no_number_is_refused_and_changes_nothing() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    advance(&mut controller, &clips, 0.5);
    let before = controller.clone();
    for dt in [
        -0.25,
        -f64::MIN_POSITIVE,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ] {
        let mut out = Vec::new();
        let error = controller.advance(dt, &clips, &mut out).unwrap_err();
        assert!(matches!(error, AdvanceError { dt: refused } if refused.to_bits() == dt.to_bits()));
        assert!(out.is_empty() && controller == before);
    }
}

#[test]
fn rule_1_scheduled_changes_are_applied_before_the_callbacks_are_collected() {
    let clips = clips();
    let (mut controller, track) = with_track(AnimationTrack::new("step"));
    controller.timeline_mut().key_position(track, 0.75, 0.0);
    assert_eq!(fired(&mut controller, &clips, 0.25), ["0"]);
}

#[test]
fn rule_1_while_the_clips_are_not_loaded_no_time_passes() {
    let mut controller = AnimationController::playing("step");
    let track = controller.current_track().unwrap().id();
    controller
        .timeline_mut()
        .key_weight(track, 0.0, 1.0, secs(1.0), Default::default());
    let before = controller.clone();
    let mut out = Vec::new();
    controller
        .advance(5.0, &None::<Vec<ClipTiming>>, &mut out)
        .unwrap();
    assert!(out.is_empty() && controller == before);
    controller.advance(0.5, &Some(clips()), &mut out).unwrap();
    assert_eq!(callbacks(&out), ["0", "half"]);
}

#[test]
fn rule_1_tracks_of_d3dx_start_disabled_and_named_tracks_enabled() {
    assert!(!AnimationTrack::default().enabled);
    assert!(AnimationTrack::new("walk").enabled);
    let clips = clips();
    let (mut controller, track) = with_track(AnimationTrack::default());
    assert!(advance(&mut controller, &clips, 1.0).is_empty());
    assert_eq!(position(&controller, track), 0.0);
}

#[test]
fn rule_1_track_names_are_never_used_again() {
    let (mut controller, first) = with_track(AnimationTrack::new("walk"));
    let copy = controller.track(first).unwrap().clone();
    assert_eq!(
        controller
            .remove_track(first)
            .map(|track| track.clip().to_owned()),
        Some("walk".into())
    );
    let second = controller.add_track(copy);
    assert_ne!(first, second);
    assert!(controller.track(first).is_none() && controller.remove_track(first).is_none());
    assert_eq!(
        controller
            .tracks()
            .map(AnimationTrack::id)
            .collect::<Vec<_>>(),
        [second]
    );
}

#[test]
fn rule_2_layers_are_the_enabled_tracks_with_weight_in_their_order() {
    let clips = clips();
    let (mut controller, low) =
        with_track(AnimationTrack::new("walk").weight(0.4).starting_at(2.5));
    let high = controller.add_track(
        AnimationTrack::new("run")
            .weight(0.6)
            .priority(TrackPriority::High)
            .mask("upper")
            .blend(BlendMode::Override),
    );
    controller.add_track(AnimationTrack::new("step").weight(0.0));
    controller.add_track(AnimationTrack::new("idle").enabled(false));
    controller.add_track(AnimationTrack::new("nowhere"));
    controller.add_track(AnimationTrack::new("idle").weight(f32::NAN));
    controller.add_track(AnimationTrack::new("idle").weight(-1.0));
    let check = |controller: &AnimationController, now: f64| {
        let layers: Vec<_> = controller.layers(&clips).collect();
        assert_eq!(
            layers
                .iter()
                .map(|layer| (layer.track, layer.clip))
                .collect::<Vec<_>>(),
            [(low, 1), (high, 2)]
        );
        assert_eq!(
            (layers[0].time, layers[0].weight, layers[0].mask),
            (0.5 + now, 0.4, None)
        );
        assert_eq!(
            (layers[1].time, layers[1].priority, layers[1].mask),
            (now, TrackPriority::High, Some(&"upper".into()))
        );
        assert_eq!(
            (layers[0].mode, layers[1].mode),
            (BlendMode::Blend, BlendMode::Override)
        );
    };
    check(&controller, 0.0);
    advance(&mut controller, &clips, 0.25);
    check(&controller, 0.25);
    assert_eq!(controller.priority_blend, 0.5);
    // What is beyond its range counts as the nearest end.
    for (blend, half_way) in [(7.0, 0.5), (-7.0, 0.0), (f32::NAN, 0.0)] {
        let mut controller = controller.clone();
        controller.priority_blend = blend;
        let (now, second) = (controller.time(), secs(1.0));
        let mut timeline = controller.timeline_mut();
        timeline.key_priority_blend(0.0, now, second, TransitionCurve::Linear);
        advance(&mut controller, &clips, 0.5);
        assert_eq!(controller.priority_blend, half_way);
    }
}

#[test]
fn rule_6_a_loop_wraps_once_holds_and_a_ping_pong_comes_back() {
    let place = |playback: PlaybackMode, position: f64| {
        let clips = [clip("c", 2.0, playback, &[])];
        let (mut controller, track) =
            with_track(AnimationTrack::new("c").starting_at(position).speed(0.0));
        advance(&mut controller, &clips, 1.0);
        let time = controller.track(track).unwrap().position();
        assert_eq!(controller.layers(&clips[..]).next().unwrap().time, time);
        assert_eq!(clips[0].periodic(position), time);
        time
    };
    let at = [-0.5, 0.0, 1.5, 2.0, 2.5, 4.5, 6.5];
    assert_eq!(
        at.map(|p| place(PlaybackMode::Loop, p)),
        [1.5, 0.0, 1.5, 0.0, 0.5, 0.5, 0.5]
    );
    assert_eq!(
        at.map(|p| place(PlaybackMode::Once, p)),
        [0.0, 0.0, 1.5, 2.0, 2.0, 2.0, 2.0]
    );
    assert_eq!(
        at.map(|p| place(PlaybackMode::PingPong, p)),
        [0.5, 0.0, 1.5, 2.0, 1.5, 0.5, 1.5]
    );
}

#[test]
fn rule_6_a_clip_without_length_is_its_pose_and_never_no_number() {
    for playback in [
        PlaybackMode::Loop,
        PlaybackMode::Once,
        PlaybackMode::PingPong,
    ] {
        for duration in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut broken = clip("c", 0.0, playback, &[(0.0, "k")]);
            broken.duration = duration;
            let clips = [broken];
            let (mut controller, track) = with_track(AnimationTrack::new("c").speed(-3.0));
            let names: Vec<_> = (0..3)
                .flat_map(|_| fired(&mut controller, &clips, 0.5))
                .collect();
            assert_eq!(names, ["k"]);
            let track = controller.track(track).unwrap();
            assert_eq!(
                (track.position(), track.is_finished()),
                (0.0, playback == PlaybackMode::Once)
            );
            assert_eq!(controller.layers(&clips[..]).next().unwrap().time, 0.0);
        }
    }
}

#[test]
fn rule_6_a_finished_clip_stays_on_its_last_frame_and_turns_round_at_once() {
    let clips = clips();
    let (mut controller, track) = with_track(AnimationTrack::new("once"));
    advance(&mut controller, &clips, 100.0);
    assert_eq!(controller.track(track).unwrap().position(), 1.0);
    assert!(controller.track(track).unwrap().is_finished());
    controller.track_mut(track).unwrap().speed = -1.0;
    assert_eq!(fired(&mut controller, &clips, 0.5), ["middle"]);
    assert!(!controller.track(track).unwrap().is_finished());
    assert_eq!(fired(&mut controller, &clips, 0.75), ["start"]);
    assert!(controller.track(track).unwrap().is_finished());
}

#[test]
fn rule_6_a_track_can_override_the_playback_of_its_clip() {
    let clips = clips();
    let (mut controller, track) =
        with_track(AnimationTrack::new("step").playback(PlaybackMode::Once));
    let events = advance(&mut controller, &clips, 5.0);
    assert_eq!(
        words(&events, &clips),
        ["step started", "0", "half", "step finished"]
    );
    controller.track_mut(track).unwrap().playback = None;
    assert_eq!(fired(&mut controller, &clips, 1.0), ["half", "0"]);
}

#[test]
fn synchronized_tracks_keep_the_fraction_of_the_first_one() {
    let clips = clips();
    let (mut controller, walk) = with_track(AnimationTrack::new("walk").sync(1));
    let run = controller.add_track(
        AnimationTrack::new("run")
            .sync(1)
            .speed(17.0)
            .starting_at(0.9),
    );
    let free = controller.add_track(AnimationTrack::new("idle").sync(2));
    let mut names = Vec::new();
    for _ in 0..50 {
        names.extend(fired(&mut controller, &clips, 0.1));
        assert_close(
            position(&controller, run),
            position(&controller, walk) / 2.0,
        );
    }
    assert_close(position(&controller, free), 5.0);
    // Same fraction, same moment: both feet fall together, and in the order of the tracks.
    let steps: Vec<_> = names
        .chunks(3)
        .take(1)
        .flatten()
        .map(String::as_str)
        .collect();
    assert_eq!(steps, ["left", "left", "right"]);
    // Without its leader the follower goes on by itself from where it is.
    controller.track_mut(walk).unwrap().enabled = false;
    let before = position(&controller, run);
    advance(&mut controller, &clips, 0.5);
    assert_close(position(&controller, run), before + 8.5);
}

#[test]
fn synchronized_tracks_fire_the_same_however_time_is_cut() {
    let clips = clips();
    let run = |steps: u32| {
        let (mut controller, leader) = with_track(AnimationTrack::new("walk").sync(1).speed(1.3));
        controller.add_track(AnimationTrack::new("step").sync(1));
        controller
            .timeline_mut()
            .key_speed(leader, -2.0, 0.7, secs(1.9), Default::default());
        let names: Vec<_> = (0..steps)
            .flat_map(|_| fired(&mut controller, &clips, 5.03 / f64::from(steps)))
            .collect();
        names
    };
    assert!(run(1).len() > 10);
    for steps in [2, 9, 77, 500] {
        assert_eq!(run(steps), run(1), "{steps} steps");
    }
}

#[test]
fn a_track_can_be_given_another_clip() {
    let clips = clips();
    let (mut controller, track) = with_track(AnimationTrack::new("step"));
    advance(&mut controller, &clips, 0.75);
    controller.track_mut(track).unwrap().set_clip("once");
    let events = advance(&mut controller, &clips, 0.5);
    assert_eq!(words(&events, &clips), ["once started", "start", "middle"]);
}

#[test]
fn nothing_that_is_no_number_survives_an_advance() {
    let clips = clips();
    let (mut controller, track) = with_track(
        AnimationTrack::new("walk")
            .starting_at(f64::NAN)
            .speed(f64::NAN),
    );
    controller.add_track(
        AnimationTrack::new("run")
            .speed(f64::INFINITY)
            .starting_at(f64::NEG_INFINITY),
    );
    controller.add_track(AnimationTrack::new("run").speed(f64::MAX));
    for dt in [1.0, 1e308, 1e308, f64::MAX] {
        advance(&mut controller, &clips, dt);
    }
    assert!(
        controller
            .tracks()
            .all(|track| track.unwrapped_position().is_finite() && track.position().is_finite())
    );
    assert!(controller.time().is_finite());
    assert_eq!(position(&controller, track), 0.0);
}

#[test]
fn events_name_their_track() {
    let clips = clips();
    let (mut controller, track) = with_track(AnimationTrack::new("once"));
    controller.add_track(AnimationTrack::new("nothing"));
    let events = advance(&mut controller, &clips, 2.0);
    let mine: Vec<Option<TrackId>> = events
        .iter()
        .filter(|event| !matches!(event, PlaybackEvent::UnknownClip { .. }))
        .map(PlaybackEvent::track)
        .collect();
    assert_eq!(mine, [Some(track); 5]);
}

#[test]
fn an_unknown_clip_is_described_with_the_name_that_was_probably_meant() {
    let clips = [
        ClipTiming::new("fight/hit", 1.0),
        ClipTiming::new("walk", 1.0),
    ];
    for (name, hint) in [
        ("hit", "; did you mean `fight/hit`?"),
        ("wakl", "; did you mean `walk`?"),
        ("somersault", ""),
    ] {
        let (mut controller, _) = with_track(AnimationTrack::new(name));
        let events = advance(&mut controller, &clips, 0.1);
        let described = events[0].describe(&clips);
        assert_eq!(described, format!("no clip `{name}`{hint}"));
    }
}
