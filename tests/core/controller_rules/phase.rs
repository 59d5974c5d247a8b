//! Fades in phase and sync groups.

use super::support::*;
use bevy_marionette::controller::{AnimationController, AnimationTrack};
use bevy_marionette::model::PlaybackMode;

#[test]
fn a_fade_in_phase_into_a_one_shot_after_many_rounds_starts_within_it() {
    let clips = clips();
    let mut controller = AnimationController::playing("walk");
    advance(&mut controller, &clips, 10.5);
    controller.cross_fade_in_phase("once", secs(0.5));
    let story = words(&advance(&mut controller, &clips, 0.25), &clips);
    assert_eq!(story, ["once started"]);
    assert_close(controller.current_position().unwrap(), 0.375);
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
    controller.cross_fade_in_phase("walk", secs(0.5));
    let story = words(&advance(&mut controller, &clips, 0.125), &clips);
    assert!(!story.iter().any(|word| word == "walk started"), "{story:?}");
    assert_close(controller.current_position().unwrap(), walk + 0.125);
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
        controller.cross_fade_in_phase("swing", secs(1.5));
        controller.queue_mut().push("loop");
        let mut story = Vec::new();
        for _ in 0..steps {
            let events = advance(&mut controller, &clips, 4.0 / f64::from(steps));
            story.extend(words(&events, &clips).into_iter().zip(events.iter().map(|e| (e.time() * 1e6).round())));
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
    controller.scrub_to(0.75);
    assert_eq!(fired(&mut controller, &clips, 0.0), ["half"]);
    let track = controller.current_track().unwrap();
    assert_close(position(&controller, track), 60.75);
    // On the way back of a ping-pong clip.
    controller.play("swing");
    advance(&mut controller, &clips, 3.5);
    controller.scrub_to(0.125);
    assert_eq!(fired(&mut controller, &clips, 0.0), ["pass"]);
    let track = controller.current_track().unwrap();
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
