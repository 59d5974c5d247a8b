//! Fades in phase and sync groups.

use super::support::*;
use bevy_marionette::controller::{
    AnimationController, AnimationTrack, PlaybackEvent, Transition, TransitionCurve,
};
use bevy_marionette::model::PlaybackMode;

#[test]
fn a_fade_in_phase_into_a_one_shot_after_many_rounds_starts_within_it() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    advance(&mut controller, &clips, 10.5);
    controller.play_with("once", Transition::fade(secs(0.5)).in_phase());
    let story = words(&advance(&mut controller, &clips, 0.25), &clips);
    assert_eq!(story, ["once started"]);
    assert_close(controller.current_track().unwrap().position(), 0.375);
    let story = words(&advance(&mut controller, &clips, 0.5), &clips);
    assert_eq!(story[..2], ["middle", "once faded in"]);
    assert!(!story.contains(&"once finished".to_owned()));
}

#[test]
fn a_fade_in_phase_takes_up_a_clip_that_is_still_fading_out_where_it_is() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    advance(&mut controller, &clips, 0.75);
    controller.cross_fade("run", secs(0.5));
    advance(&mut controller, &clips, 0.25);
    let walk = controller.tracks().next().unwrap().position();
    controller.play_with("walk", Transition::fade(secs(0.5)).in_phase());
    let story = words(&advance(&mut controller, &clips, 0.125), &clips);
    assert!(
        !story.iter().any(|word| word == "walk started"),
        "{story:?}"
    );
    assert_close(controller.current_track().unwrap().position(), walk + 0.125);
}

#[test]
fn the_end_of_a_clip_whose_leader_is_held_at_its_own_does_not_depend_on_the_frame_rate() {
    let clips = [
        clip("once", 1.0, PlaybackMode::Once, &[]),
        clip("swing", 1.0, PlaybackMode::PingPong, &[]),
        clip("loop", 1.0, PlaybackMode::Loop, &[]),
    ];
    let run = |steps: u32| {
        let mut controller = AnimationController::playing("once");
        advance(&mut controller, &clips, 0.5);
        controller.play_with("swing", Transition::fade(secs(1.5)).in_phase());
        controller.queue_mut().push("loop");
        let mut story = Vec::new();
        for _ in 0..steps {
            let events = advance(&mut controller, &clips, 4.0 / f64::from(steps));
            story.extend(
                words(&events, &clips)
                    .into_iter()
                    .zip(events.iter().map(|e| (e.time() * 1e6).round())),
            );
        }
        story
    };
    assert!(run(1).iter().any(|(word, _)| word == "loop started"));
    for steps in [2, 7, 64, 500] {
        assert_eq!(run(steps), run(1), "{steps} steps");
    }
}

#[test]
fn scrubbing_stays_in_the_round_and_takes_the_sync_group_along() {
    let clips = clips();
    let mut controller = AnimationController::playing("step");
    advance(&mut controller, &clips, 60.25);
    controller.current_track_mut().unwrap().scrub_to(0.75);
    assert_eq!(fired(&mut controller, &clips, 0.0), ["half"]);
    let track = controller.current_track().unwrap().id();
    assert_close(position(&controller, track), 60.75);
    // On the way back of a ping-pong clip.
    controller.play("swing");
    advance(&mut controller, &clips, 3.5);
    controller.current_track_mut().unwrap().scrub_to(0.125);
    assert_eq!(fired(&mut controller, &clips, 0.0), ["pass"]);
    let track = controller.current_track().unwrap().id();
    assert_close(position(&controller, track), 3.875);
    // A leader with its follower, and a follower with its leader.
    for scrubbed in [0, 1] {
        let (mut controller, walk) = with_track(AnimationTrack::new("walk").sync(1));
        let run = controller.add_track(AnimationTrack::new("run").sync(1));
        advance(&mut controller, &clips, 8.25);
        let (track, place) = [(walk, 1.0), (run, 0.5)][scrubbed];
        controller.track_mut(track).unwrap().scrub_to(place);
        assert_eq!(fired(&mut controller, &clips, 0.0), ["left", "left"]);
        assert_close(position(&controller, walk), 9.0);
        assert_close(position(&controller, run), 4.5);
    }
}

const CURVES: [TransitionCurve; 2] = [TransitionCurve::Linear, TransitionCurve::EaseInEaseOut];

/// Plays some time in equal steps, and returns what happened and when, to a microsecond.
fn story(
    controller: &mut AnimationController,
    seconds: f64,
    steps: u32,
) -> Vec<(String, u64, f64)> {
    let mut events: Vec<PlaybackEvent> = Vec::new();
    for _ in 0..steps {
        events.extend(advance(controller, &clips(), seconds / f64::from(steps)));
    }
    let words = words(&events, &clips());
    let place = |event: &PlaybackEvent| {
        (
            event.track().map_or(0, track_number),
            (event.time() * 1e6).round(),
        )
    };
    words
        .into_iter()
        .zip(events.iter().map(place))
        .map(|(word, (track, time))| (word, track, time))
        .collect()
}

fn track_number(id: bevy_marionette::controller::TrackId) -> u64 {
    ron::to_string(&id)
        .unwrap()
        .trim_matches(|c: char| !c.is_ascii_digit())
        .parse()
        .unwrap()
}

#[test]
fn the_heaviest_track_of_a_sync_group_leads_it() {
    let clips = clips();
    let (mut controller, walk) = with_track(AnimationTrack::new("walk").sync(1).weight(0.0));
    let run = controller.add_track(AnimationTrack::new("run").sync(1).weight(0.5));
    advance(&mut controller, &clips, 0.75);
    assert_close(position(&controller, run), 0.75);
    assert_close(position(&controller, walk), 1.5);
    // Weights set by hand change the pace from there on, not the place.
    controller.track_mut(walk).unwrap().weight = 1.0;
    advance(&mut controller, &clips, 0.5);
    assert_close(position(&controller, walk), 2.0);
    assert_close(position(&controller, run), 1.0);
    // Of equals, the one that leads goes on; without weights at all, too.
    for weight in [0.5, 0.0] {
        controller
            .tracks_mut()
            .for_each(|track| track.weight = weight);
        let before = position(&controller, walk);
        advance(&mut controller, &clips, 0.5);
        assert_close(position(&controller, walk), before + 0.5);
    }
}

#[test]
fn the_lead_changes_where_the_weights_cross_at_any_frame_rate() {
    let begin = |curve| {
        let (mut controller, walk) = with_track(AnimationTrack::new("walk").sync(1));
        let run = controller.add_track(AnimationTrack::new("run").sync(1).weight(0.0));
        controller
            .timeline_mut()
            .key_weight(walk, 0.0, 0.0, secs(1.0), curve);
        controller
            .timeline_mut()
            .key_weight(run, 1.0, 0.0, secs(1.0), curve);
        (controller, walk, run)
    };
    for curve in CURVES {
        let (mut whole, walk, run) = begin(curve);
        let expected = story(&mut whole, 2.0, 1);
        // Half a second at the walk's pace, a quarter of its length, and then at the run's.
        assert_close(position(&whole, walk), 2.0 * (0.25 + 1.5));
        assert_close(position(&whole, run), 0.25 + 1.5);
        assert!(expected.len() > 8);
        for steps in [2, 3, 7, 240, 1000] {
            let (mut cut, ..) = begin(curve);
            assert_eq!(story(&mut cut, 2.0, steps), expected, "{steps} steps");
            for track in [walk, run] {
                assert_eq!(
                    position(&cut, track),
                    position(&whole, track),
                    "{steps} steps"
                );
            }
        }
    }
}

#[test]
fn weights_may_cross_several_times_between_two_events() {
    // Twice over one ramp: an ease dips below a straight line and then rises above it.
    let begin = || {
        let (mut controller, walk) = with_track(AnimationTrack::new("walk").sync(1).weight(0.1));
        let run = controller.add_track(AnimationTrack::new("run").sync(1).weight(0.05));
        controller
            .timeline_mut()
            .key_weight(walk, 0.95, 0.0, secs(1.0), CURVES[1]);
        controller
            .timeline_mut()
            .key_weight(run, 0.8, 0.0, secs(1.0), CURVES[0]);
        (controller, walk)
    };
    let (mut whole, walk) = begin();
    let expected = story(&mut whole, 1.0, 1);
    // By brute force: the pace of whichever is heavier, at the middle of many short steps.
    let steps = 1_000_000;
    let place: f64 = (0..steps)
        .map(|i| {
            let t = (f64::from(i) + 0.5) / f64::from(steps);
            let (walk, run) = (0.1 + 0.85 * CURVES[1].at(t), 0.05 + 0.75 * t);
            if walk > run { 1.0 } else { 2.0 }
        })
        .sum::<f64>()
        / f64::from(steps);
    assert!(
        place > 1.1 && place < 1.9,
        "the lead never changes: {place}"
    );
    assert!(
        (position(&whole, walk) - place).abs() < 1e-5,
        "{} {place}",
        position(&whole, walk)
    );
    for steps in [5, 64, 333] {
        let (mut cut, _) = begin();
        assert_eq!(story(&mut cut, 1.0, steps), expected, "{steps} steps");
        assert_eq!(
            position(&cut, walk),
            position(&whole, walk),
            "{steps} steps"
        );
    }
}

#[test]
fn nothing_jumps_when_a_clip_takes_the_lead_that_has_waited_at_its_end() {
    let clips = clips();
    let (mut controller, walk) = with_track(AnimationTrack::new("walk").sync(1));
    let once = controller.add_track(AnimationTrack::new("once").sync(1).weight(0.5));
    advance(&mut controller, &clips, 7.5);
    let before = position(&controller, walk);
    controller.track_mut(walk).unwrap().weight = 0.25;
    advance(&mut controller, &clips, 0.5);
    // It has nowhere to go, and the others wait for it.
    assert_eq!(
        (position(&controller, walk), position(&controller, once)),
        (before, 1.0)
    );
    controller.track_mut(walk).unwrap().weight = 1.0;
    advance(&mut controller, &clips, 0.5);
    assert_close(position(&controller, walk), before + 0.5);
    assert_eq!(position(&controller, once), 1.0);
}

#[test]
fn a_heavy_track_that_joins_a_sync_group_goes_to_its_phase() {
    let clips = clips();
    let (mut controller, walk) = with_track(AnimationTrack::new("walk").sync(1).weight(0.25));
    advance(&mut controller, &clips, 0.75);
    let run = controller.add_track(AnimationTrack::new("run").sync(1));
    advance(&mut controller, &clips, 0.125);
    assert_close(position(&controller, run), 0.75 / 2.0 + 0.125);
    assert_close(position(&controller, walk), 0.75 + 0.25);
    // Likewise one that was disabled meanwhile, however heavy.
    controller.track_mut(walk).unwrap().enabled = false;
    advance(&mut controller, &clips, 0.25);
    let walking = controller.track_mut(walk).unwrap();
    (walking.enabled, walking.weight) = (true, 2.0);
    advance(&mut controller, &clips, 0.5);
    assert_close(position(&controller, run), 0.75 + 0.25);
    assert_close(position(&controller, walk), 2.0);
}

#[test]
fn a_paused_leader_holds_its_group_and_a_paused_follower_takes_no_lead() {
    let clips = clips();
    let (mut controller, walk) = with_track(AnimationTrack::new("walk").sync(1));
    let run = controller.add_track(AnimationTrack::new("run").sync(1).weight(0.5));
    advance(&mut controller, &clips, 0.5);
    controller.track_mut(walk).unwrap().paused = true;
    advance(&mut controller, &clips, 0.5);
    assert_close(position(&controller, run), 0.25);
    controller.track_mut(run).unwrap().weight = 2.0;
    advance(&mut controller, &clips, 0.5);
    assert_close(position(&controller, run), 0.75);
    controller.track_mut(walk).unwrap().weight = 3.0;
    advance(&mut controller, &clips, 0.5);
    assert_close(position(&controller, run), 1.25);
    assert_close(position(&controller, walk), 0.5);
}

#[test]
fn a_clip_is_on_its_own_after_a_fade_in_phase() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    advance(&mut controller, &clips, 1.0);
    controller.play_with("run", Transition::fade(secs(0.5)).in_phase());
    advance(&mut controller, &clips, 0.5);
    // The outgoing clip's pace for half of the fade, then its own.
    assert_close(
        controller.current_track().unwrap().position(),
        0.5 + 0.125 + 0.25,
    );
    assert_eq!(
        controller
            .tracks()
            .map(|track| track.sync)
            .collect::<Vec<_>>(),
        [None]
    );
}
