//! Rule 8 and the everyday words: play, cross-fade, pause, reverse.

use super::support::*;
use bevy_marionette::controller::{
    AnimationController, AnimationTrack, TrackPriority, Transition, TransitionCurve,
};
use std::time::Duration;

const QUARTER: Duration = Duration::from_millis(250);

fn rounded(mix: Vec<(String, f32)>) -> Vec<(String, f32)> {
    mix.into_iter()
        .map(|(clip, weight)| (clip, (weight * 1000.0).round() / 1000.0))
        .collect()
}

fn pairs(mix: &[(&str, f32)]) -> Vec<(String, f32)> {
    mix.iter()
        .map(|(clip, weight)| ((*clip).to_owned(), *weight))
        .collect()
}

#[test]
fn rule_8_a_cross_fade_takes_the_old_weight_to_0_and_the_new_one_to_1() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    advance(&mut controller, &clips, 1.0);
    let run = controller.cross_fade("run", QUARTER);
    assert_eq!(
        (
            controller.current(),
            controller.current_track().map(|track| track.id())
        ),
        (Some("run"), Some(run))
    );
    advance(&mut controller, &clips, 0.0625);
    assert_eq!(
        mix(&controller, &clips),
        pairs(&[("walk", 0.75), ("run", 0.25)])
    );
    advance(&mut controller, &clips, 0.125);
    assert_eq!(
        mix(&controller, &clips),
        pairs(&[("walk", 0.25), ("run", 0.75)])
    );
    let events = advance(&mut controller, &clips, 0.125);
    assert_eq!(words(&events, &clips), ["left", "run faded in"]);
    assert_eq!(events[1].time(), 1.25);
    assert_eq!(mix(&controller, &clips), pairs(&[("run", 1.0)]));
    assert_eq!(controller.tracks().count(), 1);
    assert_eq!(controller.scheduled_changes().count(), 0);
}

#[test]
fn rule_8_the_recipe_by_hand_on_a_pair_of_tracks() {
    let clips = clips();
    let (mut controller, old) = with_track(AnimationTrack::new("idle"));
    let new = controller.add_track(AnimationTrack::default().weight(0.0));
    advance(&mut controller, &clips, 1.0);
    let (now, fade) = (controller.time(), 0.25);
    controller.track_mut(new).unwrap().set_clip("run");
    controller.timeline_mut().unkey_track(old);
    controller.timeline_mut().unkey_track(new);
    controller
        .timeline_mut()
        .key_enabled(old, false, now + fade);
    controller
        .timeline_mut()
        .key_weight(old, 0.0, now, secs(fade), TransitionCurve::Linear);
    controller.timeline_mut().key_enabled(new, true, now);
    controller
        .timeline_mut()
        .key_weight(new, 1.0, now, secs(fade), TransitionCurve::Linear);
    advance(&mut controller, &clips, 0.125);
    assert_eq!(
        mix(&controller, &clips),
        pairs(&[("idle", 0.5), ("run", 0.5)])
    );
    advance(&mut controller, &clips, 0.125);
    assert_eq!(mix(&controller, &clips), pairs(&[("run", 1.0)]));
    assert!(!controller.track(old).unwrap().enabled);
}

#[test]
fn rule_8_the_weights_of_a_fade_do_not_depend_on_the_frame_rate() {
    let clips = clips();
    let run = |steps: u32| {
        let mut controller = AnimationController::playing("walk");
        advance(&mut controller, &clips, 0.5);
        controller.play_with(
            "run",
            Transition::fade(Duration::from_secs(1)).along(TransitionCurve::EaseInEaseOut),
        );
        (0..steps).for_each(|_| drop(advance(&mut controller, &clips, 0.25 / f64::from(steps))));
        rounded(mix(&controller, &clips))
    };
    assert_eq!(run(1), pairs(&[("walk", 0.844), ("run", 0.156)]));
    assert_eq!(run(77), run(1));
}

#[test]
fn rule_8_back_and_forth_quickly_never_jumps_nor_freezes() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    advance(&mut controller, &clips, 1.0);
    let walk = controller.current_track().map(|track| track.id());
    controller.cross_fade("run", QUARTER);
    advance(&mut controller, &clips, 0.0625);
    controller.cross_fade("walk", QUARTER);
    assert_eq!(controller.current_track().map(|track| track.id()), walk);
    let mut last = 0.75;
    for _ in 0..8 {
        advance(&mut controller, &clips, 0.03125);
        let mix = mix(&controller, &clips);
        let total: f32 = mix.iter().map(|(_, weight)| weight).sum();
        assert!(
            (total - 1.0).abs() < 1e-6 && mix[0].0 == "walk" && mix[0].1 >= last,
            "{mix:?}"
        );
        last = mix[0].1;
    }
    assert_eq!(mix(&controller, &clips), pairs(&[("walk", 1.0)]));
    assert_eq!(position(&controller, walk.unwrap()), 1.3125);
    // Many times over.
    for i in 0..100 {
        controller.cross_fade(["run", "walk"][i % 2], QUARTER);
        advance(&mut controller, &clips, 0.015625);
        assert!(controller.tracks().count() <= 2);
    }
    advance(&mut controller, &clips, 0.25);
    assert_eq!(mix(&controller, &clips), pairs(&[("walk", 1.0)]));
}

#[test]
fn rule_8_many_fades_at_once_stay_few_tracks() {
    let mut clips = clips();
    clips.extend((0..100).map(|i| clip(&format!("c{i}"), 1.0, Default::default(), &[])));
    let mut controller = AnimationController::playing("walk");
    for i in 0..100 {
        controller.cross_fade(format!("c{i}"), Duration::from_secs(5));
        advance(&mut controller, &clips, 0.01);
        assert!(controller.tracks().count() <= 9 && !mix(&controller, &clips).is_empty());
    }
    advance(&mut controller, &clips, 5.0);
    assert_eq!(mix(&controller, &clips), pairs(&[("c99", 1.0)]));
}

#[test]
fn rule_8_from_and_to_a_finished_clip() {
    let clips = clips();
    let mut controller = AnimationController::playing("once");
    advance(&mut controller, &clips, 5.0);
    assert!(controller.is_finished());
    controller.cross_fade("walk", QUARTER);
    advance(&mut controller, &clips, 0.125);
    let layers: Vec<_> = controller
        .layers(&clips)
        .map(|layer| (layer.clip, layer.time, layer.weight))
        .collect();
    assert_eq!(layers, [(3, 1.0, 0.5), (1, 0.125, 0.5)]);
    // To a one-shot that is still fading out, finished: it starts anew.
    controller.cross_fade("once", QUARTER);
    let events = advance(&mut controller, &clips, 1.0);
    assert_eq!(words(&events, &clips)[..2], ["once started", "start"]);
    assert!(controller.is_finished());
    // To itself, finished.
    controller.cross_fade("once", QUARTER);
    assert!(!controller.is_finished());
    assert_eq!(fired(&mut controller, &clips, 0.75), ["start", "middle"]);
    assert_eq!(mix(&controller, &clips), pairs(&[("once", 1.0)]));
}

#[test]
fn rule_8_a_fade_of_no_length_is_a_cut() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    advance(&mut controller, &clips, 0.25);
    controller.cross_fade("run", Duration::ZERO);
    let events = advance(&mut controller, &clips, 0.25);
    assert_eq!(
        words(&events, &clips),
        ["run started", "run faded in", "left"]
    );
    assert_eq!(mix(&controller, &clips), pairs(&[("run", 1.0)]));
}

#[test]
fn rule_8_asking_for_the_same_fade_in_every_frame_is_one_fade() {
    let clips = clips();
    let mut controller = AnimationController::playing("idle");
    let mut story = Vec::new();
    for _ in 0..16 {
        controller.cross_fade("walk", QUARTER);
        story.extend(words(&advance(&mut controller, &clips, 0.0625), &clips));
    }
    assert_eq!(
        story,
        ["idle started", "walk started", "walk faded in", "left"]
    );
}

#[test]
fn rule_8_a_fade_to_an_unknown_clip_is_said_once_and_waits() {
    let mut clips = clips();
    let mut controller = AnimationController::playing("walk");
    advance(&mut controller, &clips, 0.25);
    let mut story = Vec::new();
    for _ in 0..4 {
        controller.cross_fade("wlak", QUARTER);
        story.extend(words(&advance(&mut controller, &clips, 0.25), &clips));
        controller.cross_fade("typo", QUARTER);
        story.extend(words(&advance(&mut controller, &clips, 0.25), &clips));
    }
    assert_eq!(
        story,
        [
            "wlak unknown",
            "left",
            "typo unknown",
            "right",
            "walk looped"
        ]
    );
    assert_eq!(mix(&controller, &clips), pairs(&[("walk", 1.0)]));
    assert_eq!(controller.tracks().count(), 2);
    // A hot reload brings it: the fade begins now.
    clips.insert(
        0,
        clip("typo", 1.0, Default::default(), &[(0.125, "at last")]),
    );
    assert_eq!(
        words(&advance(&mut controller, &clips, 0.125), &clips),
        ["typo started", "at last"]
    );
    assert_eq!(
        mix(&controller, &clips),
        pairs(&[("walk", 0.5), ("typo", 0.5)])
    );
}

#[test]
fn play_cuts_at_once_and_goes_on_if_it_plays_already() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    assert_eq!(
        words(&advance(&mut controller, &clips, 0.75), &clips),
        ["walk started", "left"]
    );
    controller.play("walk");
    assert_eq!(fired(&mut controller, &clips, 0.75), ["right"]);
    controller.play("walk");
    controller.current_track_mut().unwrap().restart();
    assert_eq!(
        words(&advance(&mut controller, &clips, 0.75), &clips),
        ["walk started", "left"]
    );
    controller.play("step");
    assert_eq!(
        words(&advance(&mut controller, &clips, 0.25), &clips),
        ["step started", "0"]
    );
    assert_eq!(mix(&controller, &clips), pairs(&[("step", 1.0)]));
    assert_eq!(controller.tracks().count(), 1);
}

#[test]
fn play_and_then_cross_fade_in_one_frame_fades_from_the_first() {
    let clips = clips();
    let mut controller = AnimationController::playing("idle");
    advance(&mut controller, &clips, 0.5);
    controller.play("walk");
    controller.cross_fade("run", QUARTER);
    advance(&mut controller, &clips, 0.125);
    assert_eq!(
        mix(&controller, &clips),
        pairs(&[("walk", 0.5), ("run", 0.5)])
    );
    // A fade called off in the frame in which it was asked for leaves no trace.
    controller.cross_fade("idle", QUARTER);
    controller.cross_fade("run", QUARTER);
    advance(&mut controller, &clips, 0.25);
    assert_eq!(mix(&controller, &clips), pairs(&[("run", 1.0)]));
}

#[test]
fn a_paused_game_shows_the_clip_that_was_asked_for() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    advance(&mut controller, &clips, 0.25);
    controller.paused = true;
    controller.play("run");
    assert!(advance(&mut controller, &clips, 0.25).is_empty());
    assert_eq!(mix(&controller, &clips), pairs(&[("run", 1.0)]));
    assert_eq!((controller.time(), controller.paused), (0.25, true));
}

#[test]
fn stop_leaves_the_users_own_tracks() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    controller.add_track(AnimationTrack::new("step").priority(TrackPriority::High));
    controller.queue_mut().extend(["run"]);
    advance(&mut controller, &clips, 0.25);
    controller.fade_out(Duration::ZERO);
    advance(&mut controller, &clips, 0.25);
    assert_eq!(mix(&controller, &clips), pairs(&[("step", 1.0)]));
    assert_eq!(
        (
            controller.current(),
            controller.is_finished(),
            controller.queue().len()
        ),
        (None, true, 0)
    );
}

#[test]
fn speed_reverse_and_seek_concern_the_clip_in_front() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    controller.set_speed(2.0);
    controller.current_track_mut().unwrap().seek(1.0);
    assert_eq!(
        words(&advance(&mut controller, &clips, 0.125), &clips),
        ["walk started"]
    );
    assert_eq!(
        controller.current_track().map(|track| track.position()),
        Some(1.25)
    );
    controller.current_track_mut().unwrap().speed *= -1.0;
    assert_eq!(controller.speed(), -2.0);
    assert_eq!(fired(&mut controller, &clips, 0.5), ["left"]);
    assert_eq!(
        controller.current_track().map(|track| track.position()),
        Some(0.25)
    );
    controller.current_track_mut().unwrap().scrub_to(1.75);
    assert_eq!(fired(&mut controller, &clips, 0.0), ["left", "right"]);
}

#[test]
fn a_one_shot_can_be_played_backwards_from_its_end() {
    let clips = clips();
    let (mut controller, track) = with_track(AnimationTrack::new("once").reversed());
    assert_eq!(controller.layers(&clips).next().unwrap().time, 1.0);
    let events = advance(&mut controller, &clips, 2.0);
    assert_eq!(
        words(&events, &clips),
        ["once started", "end", "middle", "start", "once finished"]
    );
    assert_eq!(position(&controller, track), 0.0);
}

#[test]
fn a_fade_in_phase_keeps_walk_and_run_on_the_same_foot() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    advance(&mut controller, &clips, 0.75);
    let walk = controller.current_track().unwrap().id();
    let run = controller.play_with("run", Transition::fade(QUARTER).in_phase());
    for _ in 0..3 {
        advance(&mut controller, &clips, 0.0625);
        assert_close(
            position(&controller, run) * 2.0,
            position(&controller, walk),
        );
    }
    advance(&mut controller, &clips, 0.0625);
    // From the middle of the fade on, it runs at its own pace.
    assert_close(position(&controller, run), 0.375 + 0.0625 + 0.125);
    advance(&mut controller, &clips, 0.25);
    assert_close(position(&controller, run), 0.8125);
}

#[test]
fn a_speed_lasts_through_fades_the_queue_and_play() {
    let clips = clips();
    let mut controller = AnimationController::default();
    controller.set_speed(2.0);
    controller.play("walk");
    advance(&mut controller, &clips, 0.25);
    assert_eq!(
        controller.current_track().map(|track| track.position()),
        Some(0.5)
    );
    controller.cross_fade("run", QUARTER);
    controller.queue_mut().push("idle");
    advance(&mut controller, &clips, 0.25);
    assert_eq!(
        (
            controller.speed(),
            controller.current_track().map(|track| track.position())
        ),
        (2.0, Some(0.5))
    );
    advance(&mut controller, &clips, 0.5);
    assert_eq!(
        (
            controller.current(),
            controller.current_track().map(|track| track.position())
        ),
        (Some("idle"), Some(0.5))
    );
    // A reversal is the clip's alone.
    controller.current_track_mut().unwrap().speed *= -1.0;
    controller.cross_fade("walk", QUARTER);
    assert_eq!(controller.speed(), 2.0);
}

#[test]
fn a_fade_beside_a_track_of_the_user_starts_at_weight_0() {
    let clips = clips();
    let (mut controller, _) = with_track(AnimationTrack::new("step"));
    advance(&mut controller, &clips, 0.25);
    controller.cross_fade("walk", QUARTER);
    advance(&mut controller, &clips, 0.0625);
    assert_eq!(
        mix(&controller, &clips),
        pairs(&[("step", 1.0), ("walk", 0.25)])
    );
    controller.fade_out(QUARTER);
    advance(&mut controller, &clips, 0.125);
    assert_eq!(
        mix(&controller, &clips),
        pairs(&[("step", 1.0), ("walk", 0.125)])
    );
    advance(&mut controller, &clips, 0.125);
    assert_eq!(mix(&controller, &clips), pairs(&[("step", 1.0)]));
}

#[test]
fn seeking_past_the_end_of_a_one_shot_finishes_it_without_an_event() {
    let clips = clips();
    let mut controller = AnimationController::playing("once");
    advance(&mut controller, &clips, 0.25);
    controller.current_track_mut().unwrap().seek(5.0);
    assert!(controller.is_finished() && advance(&mut controller, &clips, 0.25).is_empty());
}
