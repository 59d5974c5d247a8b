//! `switch`: what becomes of the clips, and what is recorded of them.

use super::support::*;
use crate::messages::assert_message;
use bevy_marionette::model::PlaybackMode;
use bevy_marionette::{
    controller::{AnimationController, AnimationTrack, Transition, TransitionCurve},
    internals::controller::Switch,
};

fn only(controller: &AnimationController) -> &Switch {
    let mut all = controller.switches();
    let switch = all.next().expect("a switch");
    assert!(all.next().is_none());
    switch
}

fn playing(clip: &str, seconds: f64) -> AnimationController {
    let mut controller = AnimationController::playing(clip);
    advance(&mut controller, &clips(), seconds);
    controller
}

#[test]
fn a_switch_starts_the_new_clip_at_once_and_ends_the_old_one_with_its_callbacks() {
    let clips = clips();
    let mut controller = playing("walk", 0.25);
    let track = controller.play_with("run", Transition::switch(secs(0.5)));
    let events = advance(&mut controller, &clips, 0.5);
    // `walk` would have fired at 0.5.
    assert_eq!(words(&events, &clips), ["run started", "left"]);
    assert_eq!(mix(&controller, &clips), [("run".to_owned(), 1.0)]);
    assert_eq!(
        (
            controller.current_track().map(|track| track.id()),
            controller.tracks().count()
        ),
        (Some(track), 1)
    );
    assert!(controller.layers(&clips[..]).all(|layer| layer.base));
}

#[test]
fn a_switch_is_recorded_while_its_difference_dies_out() {
    let clips = clips();
    let mut controller = playing("walk", 0.25);
    controller.set_speed(2.0);
    controller.play_with("run", Transition::switch(secs(0.5)));
    assert_eq!(controller.switches().count(), 0, "it has yet to begin");
    advance(&mut controller, &clips, 0.0);
    let switch = only(&controller).clone();
    assert_eq!((switch.begin(), switch.duration()), (0.25, 0.5));
    let [from] = switch.from() else {
        panic!("{switch:?}")
    };
    assert_eq!(
        (
            &*from.clip,
            from.time,
            from.rate,
            from.weight,
            from.weight_rate
        ),
        ("walk", 0.25, 2.0, 1.0, 0.0)
    );
    assert_eq!(
        (
            &*switch.to()[0].clip,
            switch.to()[0].time,
            switch.to()[0].rate
        ),
        ("run", 0.0, 2.0)
    );
    assert_eq!(
        (
            switch.remaining(0.25),
            switch.remaining(0.75),
            switch.remaining(9.0)
        ),
        (1.0, 0.0, 0.0)
    );
    advance(&mut controller, &clips, 0.25);
    assert_eq!(only(&controller), &switch);
    // Time is moved with its begin.
    controller.timeline_mut().reset_time();
    assert_eq!(only(&controller).begin(), -0.25);
    advance(&mut controller, &clips, 0.25);
    assert_eq!(controller.switches().count(), 0);
    assert!(
        !ron::to_string(&controller).unwrap().contains("switches:["),
        "nothing of it stays"
    );
}

#[test]
fn the_rates_recorded_are_those_of_the_place_in_the_clip() {
    let clips = clips();
    for (clip, speed, seconds, time, rate) in [
        ("step", 1.0, 2.25, 0.25, 1.0),
        ("step", -2.0, 0.25, 0.5, -2.0),
        ("once", 1.0, 0.25, 0.25, 1.0),
        ("once", 1.0, 2.0, 1.0, 0.0),
        ("swing", 1.0, 0.25, 0.25, 1.0),
        ("swing", 1.0, 1.25, 0.75, -1.0),
        ("pose", 1.0, 1.0, 0.0, 1.0),
    ] {
        let mut controller = AnimationController::default();
        controller.set_speed(speed);
        controller.play(clip);
        advance(&mut controller, &clips, seconds);
        controller.play_with("idle", Transition::switch(secs(0.2)));
        advance(&mut controller, &clips, 0.0);
        let from = &only(&controller).from()[0];
        assert_eq!(
            (from.time, from.rate),
            (time, rate),
            "{clip} at {speed} after {seconds}"
        );
    }
    // A track that waits has no rate, and one whose weight changes has that of its weight.
    let mut controller = playing("walk", 0.25);
    controller.cross_fade("run", secs(1.0));
    advance(&mut controller, &clips, 0.25);
    let walk = controller.tracks().next().unwrap().id();
    controller.track_mut(walk).unwrap().paused = true;
    controller.play_with("idle", Transition::switch(secs(0.2)));
    advance(&mut controller, &clips, 0.0);
    let from: Vec<_> = only(&controller)
        .from()
        .iter()
        .map(|from| (&*from.clip, from.rate, from.weight, from.weight_rate))
        .collect();
    assert_eq!(from, [("walk", 0.0, 0.75, -1.0), ("run", 1.0, 0.25, 1.0)]);
}

#[test]
fn a_switch_is_safe_to_call_every_frame_and_from_nothing_it_is_a_cut() {
    let clips = clips();
    let mut controller = AnimationController::default();
    let track = controller.play_with("walk", Transition::switch(secs(0.3)));
    for _ in 0..5 {
        advance(&mut controller, &clips, 0.1);
        assert_eq!(
            controller.play_with("walk", Transition::switch(secs(0.3))),
            track
        );
    }
    assert_eq!(
        (controller.switches().count(), position(&controller, track)),
        (0, 0.5)
    );
    let run = controller.play_with("run", Transition::switch(secs(0.5)));
    for _ in 0..3 {
        advance(&mut controller, &clips, 0.125);
        assert_eq!(
            controller.play_with("run", Transition::switch(secs(0.5))),
            run
        );
    }
    assert_eq!(
        (only(&controller).begin(), position(&controller, run)),
        (0.5, 0.375)
    );
    // Without a duration, it is a cut, too.
    controller.play_with("walk", Transition::switch(secs(0.0)));
    advance(&mut controller, &clips, 0.1);
    assert_eq!(controller.switches().count(), 0);
}

#[test]
fn an_unknown_clip_ends_nothing() {
    let clips = clips();
    let mut controller = playing("walk", 0.25);
    controller.play_with("wlak", Transition::switch(secs(0.3)));
    assert_eq!(
        words(&advance(&mut controller, &clips, 0.5), &clips),
        ["wlak unknown", "left"]
    );
    assert_eq!(
        (controller.switches().count(), controller.is_playing("walk")),
        (0, true)
    );
}

#[test]
fn a_switch_in_the_middle_of_a_fade_takes_both_clips_and_their_fade_with_it() {
    let clips = clips();
    let mut controller = playing("walk", 0.25);
    controller.cross_fade("run", secs(0.5));
    advance(&mut controller, &clips, 0.125);
    // To the clip that is coming: it continues, without the other.
    let run = controller.play_with("run", Transition::switch(secs(0.25)));
    let events = advance(&mut controller, &clips, 0.125);
    assert_eq!(mix(&controller, &clips), [("run".to_owned(), 1.0)]);
    assert_eq!(position(&controller, run), 0.25);
    assert_eq!(only(&controller).from().len(), 2);
    assert_eq!(only(&controller).to()[0].time, 0.125);
    assert!(!words(&events, &clips).contains(&"run faded in".to_owned()));
    assert!(controller.scheduled_changes().next().is_none());
    // And a fade away from it leaves what is dying out alone.
    controller.cross_fade("idle", secs(0.25));
    advance(&mut controller, &clips, 0.0625);
    assert_eq!(
        (controller.switches().count(), controller.tracks().count()),
        (1, 2)
    );
}

#[test]
fn switches_add_up_until_there_are_eight_and_then_cross_fade() {
    let clips = clips();
    let mut controller = playing("walk", 0.25);
    for round in 0..8 {
        controller.play_with(["run", "walk"][round % 2], Transition::switch(secs(4.0)));
        advance(&mut controller, &clips, 0.125);
        assert_eq!(
            (controller.switches().count(), controller.tracks().count()),
            (round + 1, 1)
        );
    }
    controller.play_with("idle", Transition::switch(secs(0.5)));
    advance(&mut controller, &clips, 0.25);
    assert_eq!(controller.switches().count(), 8);
    assert_eq!(
        mix(&controller, &clips),
        [("walk".to_owned(), 0.5), ("idle".to_owned(), 0.5)]
    );
    advance(&mut controller, &clips, 2.75);
    assert_eq!(controller.switches().count(), 7);
}

#[test]
fn cuts_end_what_is_dying_out_and_the_queue_does_not() {
    let clips = clips();
    let switched = || {
        let mut controller = playing("walk", 0.25);
        controller.play_with("once", Transition::switch(secs(2.0)));
        advance(&mut controller, &clips, 0.5);
        controller
    };
    let mut controller = switched();
    controller.queue_mut().push("run");
    advance(&mut controller, &clips, 1.0);
    assert_eq!(
        (controller.current(), controller.switches().count()),
        (Some("run"), 1)
    );
    controller.play("idle");
    advance(&mut controller, &clips, 0.0);
    assert_eq!(controller.switches().count(), 0);
    let mut controller = switched();
    controller.fade_out(secs(0.0));
    assert_eq!(controller.switches().count(), 0);
    assert_eq!(switched().clone_without_timeline().switches().count(), 0);
}

#[test]
fn a_switch_in_phase_keeps_the_foot() {
    let clips = clips();
    let mut controller = playing("walk", 2.5);
    let run = controller.play_with("run", Transition::switch(secs(0.25)).in_phase());
    advance(&mut controller, &clips, 0.125);
    assert_eq!(
        (position(&controller, run), controller.tracks().count()),
        (0.375, 1)
    );
    assert_eq!(
        (
            only(&controller).to()[0].time,
            only(&controller).to()[0].rate
        ),
        (0.25, 1.0)
    );
    assert_eq!(controller.track(run).unwrap().sync, None);
}

#[test]
fn a_weight_below_one_beside_other_tracks_rises_and_does_not_jump() {
    let clips = clips();
    let mut controller = playing("walk", 0.25);
    controller.add_track(AnimationTrack::new("idle"));
    controller.fade_out(secs(0.5));
    advance(&mut controller, &clips, 0.25);
    let run = controller.play_with("run", Transition::switch(secs(0.5)));
    advance(&mut controller, &clips, 0.0);
    assert_eq!(weight(&controller, run), 0.5);
    advance(&mut controller, &clips, 0.25);
    assert_eq!(weight(&controller, run), 0.75);
    advance(&mut controller, &clips, 0.5);
    assert_eq!(weight(&controller, run), 1.0);
    // Alone, a weight makes no difference.
    let mut controller = playing("walk", 0.25);
    controller.fade_out(secs(0.5));
    advance(&mut controller, &clips, 0.25);
    let run = controller.play_with("run", Transition::switch(secs(0.5)));
    advance(&mut controller, &clips, 0.0);
    assert_eq!(
        (
            weight(&controller, run),
            controller.scheduled_changes().next().is_none()
        ),
        (1.0, true)
    );
}

#[test]
fn tracks_of_the_user_are_no_part_of_a_switch() {
    let clips = clips();
    let mut controller = playing("walk", 0.25);
    controller.add_track(AnimationTrack::new("idle").weight(0.5));
    controller.play_with("run", Transition::switch(secs(0.5)));
    advance(&mut controller, &clips, 0.1);
    assert_eq!(only(&controller).from().len(), 1);
    let base: Vec<_> = controller
        .layers(&clips[..])
        .map(|layer| layer.base)
        .collect();
    assert_eq!(base, [false, true]);
}

#[test]
fn a_saved_switch_continues_bit_for_bit_and_one_that_is_corrupt_is_refused() {
    let clips = clips();
    let mut controller = playing("swing", 1.3);
    controller.play_with(
        "run",
        Transition::fade(secs(0.7)).along(TransitionCurve::EaseInEaseOut),
    );
    advance(&mut controller, &clips, 0.3);
    controller.play_with("idle", Transition::switch(secs(0.6)));
    advance(&mut controller, &clips, 0.1);
    let text = ron::to_string(&controller).unwrap();
    let mut again: AnimationController = ron::from_str(&text).unwrap();
    for controller in [&mut controller, &mut again] {
        advance(controller, &clips, 0.1);
    }
    assert_eq!(only(&controller), only(&again));
    for (from, to) in [
        ("duration:0.6", "duration:0.0"),
        ("rate:-1.0", "rate:inf"),
        ("weight_rate:", "weight_rate:NaN,"),
    ] {
        let bad = if to.ends_with(',') {
            let (head, tail) = text.split_once(from).unwrap();
            let (_, tail) = tail.split_once(',').unwrap();
            format!("{head}{to}{tail}")
        } else {
            text.replacen(from, to, 1)
        };
        assert_ne!(bad, text, "{from} is not in {text}");
        let error = ron::from_str::<AnimationController>(&bad).unwrap_err();
        assert_message(&format!("saved switch: {to}"), error.code);
    }
    // A save of before there were switches.
    assert!(
        !ron::to_string(&playing("walk", 0.1))
            .unwrap()
            .contains("switches:[")
    );
}

#[test]
fn what_is_recorded_does_not_depend_on_how_time_was_cut() {
    let clips = clips();
    let run = |cut: u32| {
        let mut controller = AnimationController::playing("walk");
        let pass = |controller: &mut AnimationController, seconds: f64| {
            (0..cut).for_each(|_| drop(advance(controller, &clips, seconds / f64::from(cut))));
        };
        pass(&mut controller, 3.125);
        controller.cross_fade("swing", secs(0.8));
        pass(&mut controller, 0.3125);
        controller.play_with("run", Transition::switch(secs(2.0)));
        pass(&mut controller, 0.75);
        controller.play_with("step", Transition::switch(secs(2.0)).in_phase());
        pass(&mut controller, 0.1875);
        let switches: Vec<Switch> = controller.switches().cloned().collect();
        switches
    };
    let whole = run(1);
    assert_eq!((whole.len(), whole[0].from().len()), (2, 2));
    for cut in [2, 4, 16, 64] {
        assert_eq!(run(cut), whole, "{cut} steps");
    }
    assert_eq!(clips[4].playback, PlaybackMode::PingPong);
}
