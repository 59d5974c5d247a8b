//! Overlays: tracks that fade in, play over the others and remove themselves.

use super::support::*;
use bevy_marionette::{
    controller::{AnimationController, AnimationTrack, BlendMode, PlaybackEvent},
    model::PlaybackMode,
};
use std::time::Duration;

const QUARTER: Duration = Duration::from_millis(250);

/// `walk` with `once`, of 1 s and weight 0.8, over it.
fn waving() -> AnimationController {
    let mut controller = AnimationController::playing("walk");
    controller.play_over(AnimationTrack::new("once").weight(0.8), QUARTER, QUARTER);
    controller
}

fn overlay(controller: &AnimationController) -> Option<f32> {
    controller
        .tracks()
        .nth(1)
        .map(|track| (track.weight * 1000.0).round() / 1000.0)
}

#[test]
fn an_overlay_fades_in_plays_once_fades_out_with_its_end_and_is_gone() {
    let clips = clips();
    let mut controller = waving();
    let (mut weights, mut story) = (Vec::new(), Vec::new());
    for _ in 0..8 {
        story.extend(words(&advance(&mut controller, &clips, 0.125), &clips));
        weights.push(overlay(&controller));
    }
    let rise = [0.4, 0.8, 0.8, 0.8, 0.8, 0.8, 0.4].map(Some);
    assert_eq!((&weights[..7], weights[7]), (&rise[..], None));
    assert_eq!(
        story,
        [
            "walk started",
            "once started",
            "start",
            "left",
            "middle",
            "end",
            "once finished"
        ]
    );
    assert_eq!(
        (
            controller.tracks().count(),
            controller.scheduled_changes().next().is_none()
        ),
        (1, true)
    );
    assert!(controller.is_playing("walk") && !controller.is_playing("once"));
}

#[test]
fn an_overlay_does_not_depend_on_the_frame_rate() {
    let clips = clips();
    for (speed, reversed) in [(1.0, false), (0.7, false), (1.3, true)] {
        let run = |steps: u32| {
            let mut controller = AnimationController::playing("walk");
            let wave = AnimationTrack::new("once").speed(speed);
            controller.play_over(
                if reversed { wave.reversed() } else { wave },
                QUARTER,
                Duration::from_millis(300),
            );
            let mut story = Vec::new();
            for _ in 0..steps {
                let events = advance(&mut controller, &clips, 2.0 / f64::from(steps));
                story.extend(
                    words(&events, &clips)
                        .into_iter()
                        .zip(events.iter().map(|e| (e.time() * 1e6).round())),
                );
            }
            (story, controller.tracks().count())
        };
        assert_eq!(run(1).1, 1);
        for steps in [7, 60, 977] {
            assert_eq!(run(steps), run(1), "{speed} in {steps} steps");
        }
    }
}

#[test]
fn an_overlay_too_short_for_its_fades_holds_its_last_frame_while_it_fades_out() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    controller.play_over(
        AnimationTrack::new("once"),
        Duration::from_millis(500),
        Duration::from_secs(1),
    );
    advance(&mut controller, &clips, 1.5);
    assert_eq!(overlay(&controller), Some(0.5));
    assert_eq!(controller.tracks().nth(1).unwrap().position(), 1.0);
    advance(&mut controller, &clips, 0.5);
    assert_eq!(overlay(&controller), None);
}

#[test]
fn an_overlay_of_a_clip_that_loops_plays_it_once() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    controller.play_over(AnimationTrack::new("run"), Duration::ZERO, QUARTER);
    advance(&mut controller, &clips, 0.875);
    assert_eq!(overlay(&controller), Some(0.5), "it is fading out");
    advance(&mut controller, &clips, 0.125);
    assert_eq!(overlay(&controller), None);
}

#[test]
fn a_looping_overlay_stays_until_it_is_faded_out() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    let run = controller.play_over(
        AnimationTrack::new("run")
            .weight(0.5)
            .playback(PlaybackMode::Loop),
        Duration::ZERO,
        QUARTER,
    );
    advance(&mut controller, &clips, 50.0);
    assert_eq!(overlay(&controller), Some(0.5));
    controller.timeline_mut().fade_out(run, QUARTER);
    advance(&mut controller, &clips, 0.125);
    assert_eq!(overlay(&controller), Some(0.25));
    assert!(!controller.is_playing("run"));
    // Brought back before it is gone.
    controller.timeline_mut().fade(run, 1.0, QUARTER);
    advance(&mut controller, &clips, 5.0);
    assert_eq!(overlay(&controller), Some(1.0));
    controller.timeline_mut().fade_out(run, Duration::ZERO);
    assert_eq!(controller.tracks().count(), 1);
}

#[test]
fn fading_out_the_current_clip_leaves_the_other_tracks() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    controller.add_track(AnimationTrack::new("run"));
    controller.queue_mut().push("once");
    advance(&mut controller, &clips, 0.1);
    let current = controller.current_track().unwrap().id();
    controller.timeline_mut().fade_out(current, QUARTER);
    assert_eq!(
        (controller.current(), controller.queue().is_empty()),
        (None, true)
    );
    advance(&mut controller, &clips, 0.5);
    assert_eq!(mix(&controller, &clips), [("run".to_owned(), 1.0)]);
}

#[test]
fn a_clone_without_timeline_has_its_overlays_at_their_full_weight() {
    let clips = clips();
    let mut controller = waving();
    advance(&mut controller, &clips, 0.125);
    let mut copy = controller.clone_without_timeline();
    assert_eq!(overlay(&copy), Some(0.8));
    advance(&mut copy, &clips, 2.0);
    assert_eq!(copy.tracks().count(), 1);
}

#[test]
fn the_time_scale_slows_everything_down() {
    let clips = clips();
    let mut controller = waving();
    controller.time_scale = 0.5;
    advance(&mut controller, &clips, 0.25);
    assert_eq!(
        (controller.time(), overlay(&controller)),
        (0.125, Some(0.4))
    );
    assert_eq!(
        controller.current_track().map(|track| track.position()),
        Some(0.125)
    );
    for still in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        controller.time_scale = still;
        assert!(advance(&mut controller, &clips, 5.0).is_empty());
    }
    assert_eq!(
        controller.current_track().map(|track| track.position()),
        Some(0.125)
    );
}

#[test]
fn an_overlay_of_a_clip_that_does_not_exist_is_reported_once_and_removed() {
    let clips = clips();
    let mut controller = AnimationController::playing("idle");
    let mut told = 0;
    for playback in [None, Some(PlaybackMode::Loop), Some(PlaybackMode::Once)] {
        for _ in 0..20 {
            let mut track = AnimationTrack::new("forgotten").blend(BlendMode::Override);
            track.playback = playback;
            controller.play_over(
                track,
                Duration::from_millis(100),
                Duration::from_millis(100),
            );
            let events = advance(&mut controller, &clips, 0.01);
            told += events
                .iter()
                .filter(|event| matches!(event, PlaybackEvent::UnknownClip { .. }))
                .count();
            assert_eq!(controller.tracks().count(), 1);
            assert_eq!(controller.scheduled_changes().count(), 0);
        }
    }
    assert_eq!(told, 1);
}
