//! Bugs of bevy_animation 0.19.1 that this crate doesn't have.

use super::support::*;
use bevy::prelude::*;
use bevy_marionette::{
    controller::AnimationTrack, import::MaskEntry, model::PlaybackMode, prelude::*,
};
use std::time::Duration;

#[test]
fn a_character_without_an_asset_does_not_mute_those_after_it() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let missing = app.server().load("not there.m3d");
    let unnamed = Handle::default();
    let first = app.spawn(&handle, "walk");
    let without: Vec<_> = [&missing, &unnamed].map(|h| app.spawn(h, "walk")).into();
    let last = app.spawn(&handle, "walk");
    for _ in 0..3 {
        app.update(1.0);
        for entity in [first, last] {
            assert_eq!(
                app.world()
                    .resource::<Heard>()
                    .observed
                    .iter()
                    .filter(|f| f.entity == entity && f.word == "left")
                    .count(),
                1
            );
        }
        assert!(without.iter().all(|e| {
            app.world()
                .resource::<Heard>()
                .observed
                .iter()
                .all(|f| f.entity != *e)
        }));
        app.words(None);
    }
}

#[test]
fn a_character_with_an_unknown_clip_says_so_once_and_mutes_nobody() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    app.spawn(&handle, "moonwalk");
    let last = app.spawn(&handle, "walk");
    for _ in 0..10 {
        app.update(0.5);
    }
    assert_eq!(
        app.words(Some(last))
            .iter()
            .filter(|w| *w == "left")
            .count(),
        5
    );
    let said = logged("moonwalk");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        clips()
            .iter()
            .all(|clip| said[0].contains(&format!("`{}`", clip.name))),
        "{said:?}"
    );
}

#[test]
fn many_wraps_in_one_frame_fire_every_event() {
    let (mut app, _, entity) = TestApp::playing("walk");
    app.update(5.5);
    let words = app.words(Some(entity));
    let count = |word: &str| words.iter().filter(|w| *w == word).count();
    assert_eq!((count("looped"), count("left"), count("right")), (5, 6, 5));
    assert_eq!(words[..5], ["started", "left", "right", "looped", "left"]);
}

#[test]
fn a_finished_clip_stays_at_its_end() {
    let (mut app, _, entity) = TestApp::playing("jump");
    for _ in 0..5 {
        app.update(10.0);
        assert_eq!(app.clip_time(entity), 0.5);
        assert!(app.controller(entity).is_finished());
    }
    assert_eq!(
        app.words(Some(entity)),
        ["started", "off", "land", "finished"]
    );
    // It runs backward from there at once: there is no overshoot to undo.
    app.controller(entity).current_track_mut().unwrap().speed *= -1.0;
    app.update(0.2);
    assert!((app.clip_time(entity) - 0.3).abs() < 1e-9);
}

#[test]
fn a_transition_of_no_duration_is_a_cut() {
    let (mut app, _, entity) = TestApp::playing("walk");
    app.update(0.1);
    app.controller(entity).cross_fade("idle", Duration::ZERO);
    app.update(0.1);
    let controller = app.controller(entity);
    assert!(
        controller
            .tracks()
            .all(|track| track.weight.is_finite() && track.unwrapped_position().is_finite())
    );
    assert_eq!(controller.current(), Some("idle"));
    let playing: Vec<_> = controller
        .tracks()
        .filter(|t| t.enabled && t.weight > 0.0)
        .map(|t| t.clip().to_owned())
        .collect();
    assert_eq!(playing, ["idle"]);
    assert!((app.clip_time(entity) - 0.1).abs() < 1e-9);
}

#[test]
fn a_clip_of_no_length_leaves_no_nan() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    for speed in [1.0, -1.0, 0.0] {
        let mut controller = AnimationController::default();
        controller.add_track(AnimationTrack::new("pose").speed(speed));
        controller.add_track(
            AnimationTrack::new("pose")
                .speed(speed)
                .playback(PlaybackMode::PingPong),
        );
        controller.add_track(
            AnimationTrack::new("pose")
                .speed(speed)
                .playback(PlaybackMode::Once),
        );
        let entity = app.spawn_with(&handle, controller);
        for dt in [0.0, 0.1, 100.0] {
            app.update(dt);
            assert!(
                app.controller(entity)
                    .tracks()
                    .all(|t| t.position() == 0.0 && t.unwrapped_position().is_finite())
            );
        }
    }
}

#[test]
fn ping_pong_turns_at_both_ends_and_fires_both_ways() {
    let (mut app, _, entity) = TestApp::playing("swing");
    app.update(0.6);
    app.update(0.6);
    assert!((app.clip_time(entity) - 0.8).abs() < 1e-9);
    app.update(1.0);
    assert!((app.clip_time(entity) - 0.2).abs() < 1e-9);
    let words = app.words(Some(entity));
    assert_eq!(
        words.iter().filter(|w| *w == "pass").count(),
        2,
        "{words:?}"
    );
    app.update(0.1);
    assert_eq!(app.words(Some(entity)), ["pass"]);
}

#[test]
fn scrubbing_while_paused_fires_what_lies_between() {
    let (mut app, _, entity) = TestApp::playing("walk");
    app.update(0.1);
    app.words(None);
    let mut controller = app.controller(entity);
    controller.paused = true;
    controller.current_track_mut().unwrap().scrub_to(0.8);
    app.update(0.1);
    assert_eq!(app.words(Some(entity)), ["left", "right"]);
    assert!((app.clip_time(entity) - 0.8).abs() < 1e-9);
    app.controller(entity)
        .current_track_mut()
        .unwrap()
        .seek(0.2);
    app.update(0.1);
    assert!(app.words(Some(entity)).is_empty());
}

#[test]
fn masks_have_shares_between_none_and_all() {
    let mut app = TestApp::new();
    let mut manifest = manifest();
    manifest.masks.insert(
        "soft".into(),
        MaskEntry {
            roots: vec!["hand".into()],
            falloff: 2,
            ..MaskEntry::default()
        },
    );
    let handle = app.add(chain(&clips()), &manifest);
    let mask = &app.asset(&handle).unwrap().masks["soft"];
    let shares: Vec<f32> = (0..3).map(|joint| mask.get(joint)).collect();
    assert!(
        shares[0] > 0.0 && shares[0] < shares[1] && shares[1] < shares[2] && shares[2] == 1.0,
        "{shares:?}"
    );
}
