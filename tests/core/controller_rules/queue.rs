//! The clip queue and what follows it.

use super::support::*;
use bevy_marionette::controller::{AnimationController, QueueFallback};
use std::time::Duration;

fn story(controller: &mut AnimationController, dts: &[f64]) -> Vec<String> {
    let clips = clips();
    dts.iter()
        .flat_map(|dt| words(&advance(controller, &clips, *dt), &clips))
        .collect()
}

#[test]
fn queued_clips_follow_each_other_at_the_very_end_of_each() {
    let expected = [
        "once started",
        "start",
        "middle",
        "end",
        "once finished",
        "walk started",
        "left",
        "right",
        "walk looped",
        "run started",
        "left",
        "right",
        "run looped",
        "left",
    ];
    for steps in [1, 2, 11, 160, 1000] {
        let mut controller = AnimationController::playing("once");
        controller.queue_mut().extend(["walk", "run"]);
        let dts = vec![4.375 / f64::from(steps); steps as usize];
        assert_eq!(story(&mut controller, &dts), expected, "{steps} steps");
        assert_eq!(controller.current(), Some("run"));
        assert_close(controller.current_track().unwrap().position(), 0.375);
        assert_eq!(controller.tracks().count(), 1);
    }
}

#[test]
fn a_loop_ends_with_the_round_it_is_in() {
    let mut controller = AnimationController::playing("walk");
    story(&mut controller, &[5.0]);
    controller.queue_mut().extend(["step"]);
    assert_eq!(
        story(&mut controller, &[0.75, 0.5]),
        ["right", "walk looped", "step started", "0"]
    );
    assert_close(controller.current_track().unwrap().position(), 0.25);
}

#[test]
fn a_ping_pong_ends_when_it_is_back() {
    let mut controller = AnimationController::playing("swing");
    controller.queue_mut().extend(["idle"]);
    let words = story(&mut controller, &[2.5]);
    assert_eq!(
        words,
        [
            "swing started",
            "low",
            "pass",
            "high",
            "pass",
            "swing looped",
            "low",
            "idle started"
        ]
    );
}

#[test]
fn without_a_current_clip_the_first_of_the_queue_starts() {
    let mut controller = AnimationController::default();
    controller.queue_mut().extend(["once", "idle"]);
    assert_eq!(
        controller.queue().iter().collect::<Vec<_>>(),
        ["once", "idle"]
    );
    assert_eq!(story(&mut controller, &[0.25]), ["once started", "start"]);
    assert_eq!(
        (controller.current(), controller.queue().len()),
        (Some("once"), 1)
    );
}

#[test]
fn a_looped_queue_comes_round_again() {
    let mut controller = AnimationController::default();
    controller.queue_mut().extend(["once", "run"]);
    controller.queue_mut().set_looping(true);
    let words = story(&mut controller, &[0.65; 10]);
    let begun: Vec<_> = words
        .iter()
        .filter(|word| word.ends_with("started"))
        .map(String::as_str)
        .collect();
    let round = ["once started", "run started"];
    assert_eq!(
        begun,
        [round, round, round]
            .as_flattened()
            .iter()
            .chain(&round[..1])
            .copied()
            .collect::<Vec<_>>()
    );
    controller.queue_mut().set_looping(false);
    controller.queue_mut().clear();
    assert_eq!(controller.queue().len(), 0);
}

#[test]
fn without_a_fallback_the_last_clip_loops_on_or_holds_its_last_frame() {
    let mut controller = AnimationController::playing("walk");
    controller.queue_mut().extend(["once"]);
    story(&mut controller, &[50.0]);
    assert_eq!(
        (
            controller.current(),
            controller.current_track().map(|track| track.position())
        ),
        (Some("once"), Some(1.0))
    );
    assert!(controller.is_finished());
    controller.queue_mut().extend(["run"]);
    assert!(!controller.is_finished());
    assert_eq!(story(&mut controller, &[0.25]), ["run started", "left"]);
    story(&mut controller, &[50.0]);
    assert_eq!(
        controller.current_track().map(|track| track.position()),
        Some(0.25)
    );
}

#[test]
fn the_idle_clip_follows_a_one_shot_and_the_last_of_the_queue() {
    let mut controller = AnimationController::playing("once");
    controller.queue_mut().set_idle_clip("idle");
    assert_eq!(
        story(&mut controller, &[1.5]).last().unwrap(),
        "idle started"
    );
    assert_close(controller.current_track().unwrap().position(), 0.5);
    // The last of a queue, though it is a loop.
    controller.play("once");
    controller.queue_mut().extend(["run"]);
    assert_eq!(
        story(&mut controller, &[2.5])
            .iter()
            .filter(|word| word.ends_with("started"))
            .count(),
        3
    );
    assert_eq!(controller.current(), Some("idle"));
    // A loop that was asked for by name goes on.
    controller.play("run");
    story(&mut controller, &[2.5]);
    assert_eq!(controller.current(), Some("run"));
}

#[test]
fn the_rest_pose_can_follow() {
    let clips = clips();
    let mut controller = AnimationController::playing("once");
    controller.queue_mut().set_fallback(QueueFallback::RestPose);
    story(&mut controller, &[0.5]);
    assert_eq!(controller.layers(&clips).count(), 1);
    story(&mut controller, &[1.0]);
    assert_eq!(
        (
            controller.layers(&clips).count(),
            controller.current(),
            controller.is_finished()
        ),
        (0, None, true)
    );
}

#[test]
fn unknown_names_in_the_queue_are_said_once_and_skipped() {
    let mut controller = AnimationController::playing("once");
    controller.queue_mut().extend(["what", "run", "what"]);
    controller.queue_mut().set_looping(true);
    let words = story(&mut controller, &[0.5; 9]);
    assert_eq!(
        words.iter().filter(|word| word.contains("unknown")).count(),
        1
    );
    assert_eq!(controller.current(), Some("run"));
    // Nothing known at all.
    let mut controller = AnimationController::playing("who");
    controller.queue_mut().extend(["what", "why"]);
    controller.queue_mut().set_looping(true);
    controller.queue_mut().set_idle_clip("where");
    let words = story(&mut controller, &[0.5; 4]);
    assert_eq!(
        words,
        [
            "who unknown",
            "what unknown",
            "why unknown",
            "where unknown"
        ]
    );
}

#[test]
fn a_queue_may_fade() {
    let clips = clips();
    let mut controller = AnimationController::playing("once");
    controller.queue_mut().set_fade(Duration::from_millis(500));
    controller.queue_mut().extend(["walk"]);
    story(&mut controller, &[1.125]);
    assert_eq!(
        mix(&controller, &clips),
        [("once".into(), 0.75), ("walk".into(), 0.25)]
    );
    assert_eq!(
        controller
            .layers(&clips)
            .map(|layer| layer.time)
            .collect::<Vec<_>>(),
        [1.0, 0.125]
    );
    story(&mut controller, &[0.5]);
    assert_eq!(mix(&controller, &clips), [("walk".into(), 1.0)]);
}

#[test]
fn clips_without_length_in_a_looped_queue_hang_nothing() {
    let mut controller = AnimationController::default();
    controller.queue_mut().extend(["pose", "pose"]);
    controller.queue_mut().set_looping(true);
    let words = story(&mut controller, &[0.5, 0.5]);
    assert!(words.len() > 100 && words.len() < 10_000);
    assert_eq!(controller.time(), 1.0);
    // Between clips that have length they take no time.
    let mut controller = AnimationController::playing("run");
    controller.queue_mut().extend(["pose", "run"]);
    let words = story(&mut controller, &[1.25]);
    let tail: Vec<_> = words.iter().skip(3).map(String::as_str).collect();
    assert_eq!(
        tail,
        ["run looped", "pose started", "posed", "run started", "left"]
    );
}

#[test]
fn the_queue_follows_a_clip_played_backwards() {
    let mut controller = AnimationController::playing("walk");
    story(&mut controller, &[1.0]);
    // Of this clip alone.
    let walk = controller.current_track().unwrap().id();
    controller.track_mut(walk).unwrap().speed = -2.0;
    controller.queue_mut().extend(["step"]);
    assert_eq!(
        story(&mut controller, &[0.75]),
        ["left", "walk looped", "step started", "0"]
    );
    assert_close(controller.current_track().unwrap().position(), 0.25);
}

#[test]
fn a_new_order_ends_the_queue() {
    let mut controller = AnimationController::playing("walk");
    controller.queue_mut().extend(["run"]);
    controller.cross_fade("idle", Duration::ZERO);
    assert_eq!(controller.queue().len(), 0);
    story(&mut controller, &[20.0]);
    assert_eq!(controller.current(), Some("idle"));
}

#[test]
fn a_clip_that_ends_in_the_middle_of_its_fade_is_followed_without_a_jump() {
    let clips = clips();
    for fallback in [QueueFallback::Clip("idle".into()), QueueFallback::RestPose] {
        let mut controller = AnimationController::playing("walk");
        controller.queue_mut().set_fallback(fallback.clone());
        story(&mut controller, &[0.25]);
        controller.cross_fade("once", Duration::from_millis(2500));
        let walk = |controller: &AnimationController| {
            mix(controller, &clips)
                .iter()
                .find(|(clip, _)| clip == "walk")
                .map_or(0.0, |(_, weight)| *weight)
        };
        let mut last = 1.0;
        for _ in 0..60 {
            story(&mut controller, &[0.05]);
            let now = walk(&controller);
            assert!((last - now).abs() < 0.05, "{fallback:?}: {last} to {now}");
            last = now;
        }
        assert_eq!(last, 0.0);
    }
}

#[test]
fn the_rest_pose_takes_the_queues_fade() {
    let clips = clips();
    let mut controller = AnimationController::playing("once");
    controller
        .queue_mut()
        .set_fallback(QueueFallback::RestPose)
        .set_fade(Duration::from_millis(500));
    story(&mut controller, &[1.25]);
    assert_eq!(
        (mix(&controller, &clips), controller.current()),
        (vec![("once".into(), 0.5)], None)
    );
    story(&mut controller, &[0.5]);
    assert!(mix(&controller, &clips).is_empty());
}

#[test]
fn a_queue_that_never_ends_is_reported_once() {
    let mut controller = AnimationController::default();
    controller.queue_mut().extend(["pose"]).set_looping(true);
    let words = story(&mut controller, &[0.5; 4]);
    assert_eq!(
        words
            .iter()
            .filter(|word| word.starts_with("TooManyClips"))
            .count(),
        1
    );
}
