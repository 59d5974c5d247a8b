//! Copies of a controller: clones without events, snapshots, saved states.

use super::support::*;
use bevy_marionette::controller::{
    AnimationController, AnimationTrack, PlaybackEvent, QueueFallback, TrackPriority,
    TransitionCurve,
};
use std::time::Duration;

/// A controller in the middle of everything.
fn busy() -> AnimationController {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    let wave = controller.add_track(
        AnimationTrack::new("swing")
            .weight(0.6)
            .priority(TrackPriority::High)
            .mask("upper_body")
            .sync(3),
    );
    controller.add_track(AnimationTrack::new("missing").speed(-1.5));
    controller
        .timeline_mut()
        .key_speed(wave, 2.5, 0.1, secs(5.0), TransitionCurve::EaseInEaseOut);
    controller
        .timeline_mut()
        .key_priority_blend(1.0, 3.0, secs(1.0), TransitionCurve::Linear);
    let nth = controller.add_callback(
        "run",
        0.4,
        "added",
        ron::from_str::<ron::Value>("{\"a\": [1, 2.5, \"x\"]}").unwrap(),
    );
    controller.set_callback_every_nth(nth, 2);
    controller
        .queue_mut()
        .set_fallback(QueueFallback::Clip("idle".into()));
    for _ in 0..7 {
        advance(&mut controller, &clips, 1.0 / 30.0);
    }
    controller.cross_fade("run", Duration::from_millis(700));
    for _ in 0..7 {
        advance(&mut controller, &clips, 1.0 / 30.0);
    }
    controller.queue_mut().extend(["once", "step"]);
    controller
}

#[test]
fn a_clone_without_timeline_copies_tracks_and_time_but_not_scheduled_changes() {
    let controller = busy();
    assert!(controller.scheduled_changes().count() > 0);
    let copy = controller.clone_without_timeline();
    assert_eq!(copy.scheduled_changes().count(), 0);
    assert_eq!(copy.time(), controller.time());
    assert_eq!(copy.current(), Some("run"));
    // The fade was made of scheduled changes: it is over.
    assert_eq!(mix(&copy, &clips())[1], ("run".into(), 1.0));
    assert_eq!(copy.tracks().count(), 3);
    // One prepared controller serves many characters, which do not know each other.
    let (mut a, b) = (copy.clone(), copy.clone());
    advance(&mut a, &clips(), 1.0);
    assert_eq!(b, copy);
    assert_ne!(a, b);
}

#[test]
fn a_restored_controller_replays_bit_for_bit() {
    let clips = clips();
    let mut controller = busy();
    let snapshot = controller.clone();
    let play = |controller: &mut AnimationController| {
        let mut story = Vec::new();
        for i in 0..300_u32 {
            if i == 100 {
                controller.cross_fade("swing", Duration::from_millis(300));
            }
            story.push(advance(controller, &clips, f64::from(i % 7) * 0.0123));
        }
        story
    };
    let first = play(&mut controller);
    let end = controller.clone();
    let before = controller.clone();
    controller.restore(&snapshot);
    assert_ne!(controller, before);
    // All but the ids of tracks added from here on, for those of the first time are not given out again.
    let plain = |story: &[Vec<PlaybackEvent>]| -> Vec<(Vec<String>, Vec<u64>)> {
        let times =
            |events: &[PlaybackEvent]| events.iter().map(|event| event.time().to_bits()).collect();
        story
            .iter()
            .map(|events| (words(events, &clips), times(events)))
            .collect()
    };
    let state = |controller: &AnimationController| -> Vec<(String, u64, u32)> {
        let bits =
            |track: &AnimationTrack| (track.unwrapped_position().to_bits(), track.weight.to_bits());
        controller
            .tracks()
            .map(|track| (track.clip().to_owned(), bits(track).0, bits(track).1))
            .collect()
    };
    assert_eq!(plain(&play(&mut controller)), plain(&first));
    assert_eq!(
        (state(&controller), controller.time().to_bits()),
        (state(&end), end.time().to_bits())
    );
    // In another controller, the ids too.
    let mut other = AnimationController::playing("idle");
    other.restore(&snapshot);
    assert_eq!(play(&mut other), first);
    assert_eq!(other, end);
}

#[test]
fn a_saved_state_survives_a_file_bit_for_bit() {
    let clips = clips();
    let controller = busy();
    let text = ron::ser::to_string_pretty(&controller, Default::default()).unwrap();
    let mut read: AnimationController = ron::from_str(&text).unwrap();
    assert_eq!(read, controller);
    let mut copy = AnimationController::default();
    copy.restore(&ron::from_str(&ron::to_string(&controller).unwrap()).unwrap());
    let mut original = controller;
    for _ in 0..200 {
        let expected = advance(&mut original, &clips, 1.0 / 60.0);
        assert_eq!(advance(&mut read, &clips, 1.0 / 60.0), expected);
        assert_eq!(advance(&mut copy, &clips, 1.0 / 60.0), expected);
    }
    assert!(read == original && copy == original);
}

#[test]
fn a_state_written_by_hand_fills_in_defaults_and_survives_nonsense() {
    let text = r#"(tracks: (list: [(clip: "walk", enabled: true, position: (NaN, inf), weight: NaN), (clip: "run", enabled: true)]))"#;
    // A position is one number or two.
    let other = text.replace("(NaN, inf)", "NaN");
    let mut controller: AnimationController = ron::from_str(text)
        .or_else(|_| ron::from_str(&other))
        .unwrap();
    let clips = clips();
    assert_eq!(fired(&mut controller, &clips, 0.5), ["left", "left"]);
    assert_eq!(mix(&controller, &clips), [("run".into(), 1.0)]);
    assert_eq!(controller.priority_blend, 0.5);
}
