//! Rule 9, what animation controllers often get wrong, and the defects of bevy_animation 0.19.1.

use super::support::*;
use bevy_marionette::controller::{AnimationController, AnimationTrack, PlaybackEvent};
use bevy_marionette::model::{ClipTiming, PlaybackMode};
use std::time::Duration;

#[test]
fn rule_9_the_key_at_0_is_not_lost() {
    let clips = clips();
    for dt in [1e-9, 1.0 / 60.0, 0.4] {
        let mut controller = AnimationController::playing("step");
        assert_eq!(fired(&mut controller, &clips, dt), ["0"]);
        controller.play("step");
        controller.current_track_mut().unwrap().restart();
        assert_eq!(fired(&mut controller, &clips, dt), ["0"]);
    }
}

#[test]
fn rule_9_loops_are_not_counted_twice() {
    let clips = clips();
    for steps in [1, 10, 60, 100, 997] {
        let mut controller = AnimationController::playing("step");
        let mut loops = 0;
        for _ in 0..steps {
            let events = advance(&mut controller, &clips, 10.0 / f64::from(steps));
            loops += events
                .iter()
                .filter(|event| matches!(event, PlaybackEvent::Looped { .. }))
                .count();
        }
        assert_eq!(loops, 10, "{steps} steps");
    }
}

#[test]
fn rule_9_keys_close_together_are_neither_dropped_nor_doubled() {
    let gaps = [
        0.0,
        1e-15,
        1e-12,
        1e-9,
        1e-7,
        1e-5,
        1e-3,
        0.1,
        0.5,
        0.999_999_999_999,
    ];
    let mut dense = ClipTiming::new("dense", 1.0);
    for time in gaps {
        dense.add_callback(time, format!("{time:e}"), ron::Value::Unit);
    }
    let clips = [dense];
    let whole = {
        let mut controller = AnimationController::playing("dense");
        fired(&mut controller, &clips, 20.01)
    };
    assert_eq!(whole.len(), 207);
    for dt in [1e-3, 1.0 / 60.0, 1.0 / 3.0, 0.1] {
        let mut controller = AnimationController::playing("dense");
        let mut names = Vec::new();
        while controller.time() + dt < 20.01 {
            names.extend(fired(&mut controller, &clips, dt));
        }
        let rest = 20.01 - controller.time();
        names.extend(fired(&mut controller, &clips, rest));
        assert_eq!(names, whole, "steps of {dt}");
    }
}

#[test]
fn rule_9_a_callback_may_replay_its_own_clip() {
    let clips = clips();
    // A listener that restarts a one-shot at its end, frame after frame.
    let mut controller = AnimationController::playing("once");
    let mut heard = Vec::new();
    for _ in 0..100 {
        for name in fired(&mut controller, &clips, 0.0625) {
            if name == "end" {
                controller.play("once");
            }
            heard.push(name);
        }
    }
    assert_eq!(heard.len(), 3 * 6 + 1);
    assert!(
        heard
            .chunks(3)
            .all(|round| round == &["start", "middle", "end"][..round.len()])
    );
    // And one that restarts a loop in its middle: it never gets beyond.
    let mut controller = AnimationController::playing("walk");
    for _ in 0..50 {
        for name in fired(&mut controller, &clips, 0.125) {
            assert_eq!(name, "left");
            controller.play("walk");
            controller.current_track_mut().unwrap().restart();
        }
    }
}

#[test]
fn rule_9_fading_out_of_a_finished_clip_and_zero_fades_give_numbers() {
    let clips = clips();
    for from in ["once", "pose", "walk"] {
        for to in ["pose", "once", "run"] {
            for fade in [
                Duration::ZERO,
                Duration::from_nanos(1),
                Duration::from_millis(100),
            ] {
                let mut controller = AnimationController::playing(from);
                advance(&mut controller, &clips, 3.0);
                controller.cross_fade(to, fade);
                for dt in [0.0, 1e-10, 0.05, 0.05, 0.0] {
                    advance(&mut controller, &clips, dt);
                    let layers: Vec<_> = controller.layers(&clips).collect();
                    let total: f32 = layers.iter().map(|layer| layer.weight).sum();
                    assert!(layers.iter().all(|layer| layer.time.is_finite()));
                    assert!((total - 1.0).abs() < 1e-6, "{from} to {to}: {total}");
                }
            }
        }
    }
}

#[test]
fn bevy_an_unknown_clip_mutes_nothing_else() {
    let clips = clips();
    let (mut controller, missing) = with_track(AnimationTrack::new("missing"));
    controller.add_track(AnimationTrack::new("step"));
    let events = advance(&mut controller, &clips, 0.5);
    assert_eq!(
        words(&events, &clips),
        ["missing unknown", "step started", "0", "half"]
    );
    assert_eq!(
        words(&advance(&mut controller, &clips, 1.0), &clips),
        ["step looped", "0", "half"]
    );
    assert_eq!(position(&controller, missing), 0.0);
    // Found again after a reload, in another place; the other track keeps its position.
    let mut reloaded = clips.clone();
    reloaded.insert(
        0,
        clip("missing", 1.0, PlaybackMode::Loop, &[(0.125, "here")]),
    );
    let events = advance(&mut controller, &reloaded, 0.25);
    assert_eq!(words(&events, &reloaded), ["missing started", "here"]);
    // Gone again, and said again.
    assert_eq!(
        words(&advance(&mut controller, &clips, 0.5), &clips),
        ["missing unknown", "step looped", "0"]
    );
}

#[test]
fn bevy_one_advance_may_wrap_many_times() {
    let clips = clips();
    let mut controller = AnimationController::playing("step");
    let events = advance(&mut controller, &clips, 100.25);
    assert_eq!(callbacks(&events).len(), 201);
    assert_eq!(
        events
            .iter()
            .filter(|event| matches!(event, PlaybackEvent::Looped { .. }))
            .count(),
        100
    );
}

#[test]
fn bevy_the_time_of_a_finished_clip_is_clamped() {
    let clips = clips();
    let mut controller = AnimationController::playing("once");
    advance(&mut controller, &clips, 50.0);
    let track = controller.current_track().unwrap();
    assert_eq!((track.unwrapped_position(), track.position()), (1.0, 1.0));
}

#[test]
fn bevy_a_clip_of_no_length_has_a_time() {
    let clips = clips();
    let mut controller = AnimationController::playing("pose");
    let names: Vec<_> = (0..10)
        .flat_map(|_| fired(&mut controller, &clips, 0.1))
        .collect();
    assert_eq!(
        (
            names,
            controller.current_track().map(|track| track.position())
        ),
        (vec!["posed".to_owned()], Some(0.0))
    );
}

#[test]
fn bevy_scrubbing_while_paused_fires_events() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    advance(&mut controller, &clips, 0.25);
    controller.paused = true;
    controller.current_track_mut().unwrap().scrub_to(1.75);
    assert_eq!(fired(&mut controller, &clips, 1.0), ["left", "right"]);
}

#[test]
fn a_reload_keeps_positions_and_takes_new_lengths_and_keys() {
    let mut clips = clips();
    let mut controller = AnimationController::playing("walk");
    advance(&mut controller, &clips, 1.0);
    clips.reverse();
    let walk = clips.iter_mut().find(|clip| &*clip.name == "walk").unwrap();
    *walk = clip("walk", 4.0, PlaybackMode::Loop, &[(1.25, "new")]);
    assert_eq!(fired(&mut controller, &clips, 0.5), ["new"]);
    assert_eq!(
        controller.current_track().map(|track| track.position()),
        Some(1.5)
    );
}
