//! Saved states that no controller in memory ever has.

use super::support::*;
use crate::messages::assert_message;
use bevy_marionette::controller::{AnimationController, AnimationTrack, TransitionCurve};

fn text() -> String {
    let (mut controller, track) = with_track(AnimationTrack::new("walk"));
    controller
        .timeline_mut()
        .key_weight(track, 0.0, 0.0, secs(5.0), TransitionCurve::Linear);
    let nth = controller.add_callback("walk", 0.5, "nth", ());
    controller.set_callback_every_nth(nth, 3);
    advance(&mut controller, &clips(), 0.25);
    ron::to_string(&controller).unwrap()
}

#[test]
fn a_corrupt_save_is_refused_in_words() {
    let good = text();
    assert!(ron::from_str::<AnimationController>(&good).is_ok());
    for (from, to) in [
        ("end:5000000000", "end:-1"),
        ("from:1.0", "from:inf"),
        ("every:3,passed:0", "every:3,passed:4294967295"),
        ("every:3,passed:0", "every:0,passed:0"),
        ("last_id:3", "last_id:18446744073709551615"),
        ("last_id:3", "last_id:1"),
        ("length:2.0", "length:inf"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from} is not in {good}");
        let error = ron::from_str::<AnimationController>(&bad).unwrap_err();
        assert_message(&format!("saved controller: {to}"), error.code);
    }
}

#[test]
fn a_track_id_is_not_given_out_again_after_a_restore() {
    let mut controller = AnimationController::playing("walk");
    let snapshot = controller.clone();
    let lost = controller.add_track(AnimationTrack::new("run"));
    controller.restore(&snapshot);
    let other = controller.add_track(AnimationTrack::new("run"));
    assert_ne!(lost, other);
    assert!(controller.track(lost).is_none());
}
