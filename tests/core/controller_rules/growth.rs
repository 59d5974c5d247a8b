//! The work of an advance grows with what there is, not with its square. Counted, so that it doesn't depend on the machine.

use bevy_marionette::controller::{AnimationController, AnimationTrack};
use bevy_marionette::model::ClipTiming;
use std::time::Duration;

/// Compares the work for a number of things with that for twice as many.
#[track_caller]
fn assert_linear(work: impl Fn(u32) -> u64) {
    for count in [50, 100, 200] {
        let (few, many) = (work(count), work(2 * count));
        assert!(
            few >= u64::from(count) && many * 10 <= few * 23,
            "{few} for {count}, and {many} for twice as many"
        );
    }
}

fn advance(controller: &mut AnimationController, clips: &[ClipTiming], dt: f64) {
    controller.callback_limit = 1_000_000;
    controller.advance(dt, clips, &mut Vec::new()).unwrap();
}

#[test]
fn the_work_of_queued_clips_grows_with_their_number() {
    let clips = ["a", "b"].map(|name| ClipTiming::new(name, 1.0));
    assert_linear(|count| {
        let mut controller = AnimationController::playing("a");
        for at in 0..count {
            controller.queue_mut().push(["a", "b"][at as usize % 2]);
        }
        advance(&mut controller, &clips, f64::from(count + 1));
        assert!(controller.queue().is_empty());
        controller.work_done()
    });
}

#[test]
fn the_work_of_open_ranges_grows_with_their_number() {
    assert_linear(|count| {
        let mut clip = ClipTiming::new("a", 10.0);
        for at in 0..count {
            clip.add_range(1.0, 9.0, format!("range {at}"), ());
        }
        let clips = [clip];
        let mut controller = AnimationController::playing("a");
        let track = controller.current_track().unwrap().id();
        advance(&mut controller, &clips, 2.0);
        let before = controller.work_done();
        // The game sets something in each frame, and each time, all of them are looked at.
        for _ in 0..10 {
            controller.track_mut(track).unwrap().speed *= 0.9;
            advance(&mut controller, &clips, 0.01);
        }
        controller.work_done() - before
    });
}

/// Adds tracks whose weights change, and returns the work of ten frames in each of which the game sets something.
fn work_of_tracks(count: u32, sync: Option<u32>) -> u64 {
    let clips = [ClipTiming::new("a", 10.0)];
    let mut controller = AnimationController::default();
    for at in 0..count {
        let mut track = AnimationTrack::new("a").weight(at as f32 / count as f32);
        track.sync = sync;
        let id = controller.add_track(track);
        let seconds = Duration::from_secs(100);
        controller.timeline_mut().fade(id, 1.0, seconds);
    }
    advance(&mut controller, &clips, 1.0);
    let before = controller.work_done();
    for _ in 0..10 {
        controller.tracks_mut().next().unwrap().speed *= 0.9;
        advance(&mut controller, &clips, 0.01);
    }
    controller.work_done() - before
}

#[test]
fn the_work_of_tracks_grows_with_their_number() {
    assert_linear(|count| work_of_tracks(count, None));
}

#[test]
fn the_work_of_a_sync_group_grows_with_the_number_of_its_members() {
    assert_linear(|count| work_of_tracks(count, Some(1)));
}
