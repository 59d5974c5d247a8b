//! A character's clock: paused, far behind, removed and added again.

use super::{messages::assert_messages, support::*};
use bevy::prelude::*;
use bevy_marionette::{controller::AnimationTrack, prelude::*};

#[test]
fn paused_time_stands_still_and_goes_on_without_a_jump() {
    let (mut app, _, entity) = TestApp::playing("walk");
    app.update(0.2);
    app.words(None);
    app.world().resource_mut::<Time<Virtual>>().pause();
    for _ in 0..10 {
        app.update(1.0);
    }
    assert!(app.words(None).is_empty());
    assert_eq!(app.clip_time(entity), 0.2);
    app.world().resource_mut::<Time<Virtual>>().unpause();
    app.world()
        .resource_mut::<Time<Virtual>>()
        .set_relative_speed(0.5);
    app.update(0.2);
    assert!((app.clip_time(entity) - 0.3).abs() < 1e-6);
    assert_eq!(app.words(None), ["left"]);
}

#[test]
fn a_frame_of_minutes_fires_all_there_was_and_leaves_the_clip_where_it_belongs() {
    let (mut app, _, entity) = TestApp::playing("walk");
    app.update(300.25);
    let words = app.words(Some(entity));
    let count = |word: &str| words.iter().filter(|w| *w == word).count();
    assert_eq!(
        (count("left"), count("right"), count("looped")),
        (301, 300, 300)
    );
    assert!((app.clip_time(entity) - 0.25).abs() < 1e-6);
}

#[test]
fn the_flood_of_a_frame_of_hours_is_bounded_and_said_once() {
    let mut app = TestApp::new();
    let keys = timing(
        "flooding clip",
        0.01,
        bevy_marionette::model::PlaybackMode::Loop,
        &[(0.005, "drop")],
    );
    let handle = app.add(chain(&[keys]), &manifest());
    let entity = app.spawn(&handle, "flooding clip");
    app.world().entity_mut(entity).insert(Name::new("Scout"));
    for _ in 0..3 {
        app.update(3600.0);
        let words = app.words(Some(entity));
        assert!(
            words.len() <= 2 * AnimationController::DEFAULT_CALLBACK_LIMIT + 1,
            "{}",
            words.len()
        );
    }
    assert_messages("too many callbacks", logged("flooding clip"));
}

#[test]
fn a_controller_that_is_replaced_starts_anew() {
    let (mut app, _, entity) = TestApp::playing("walk");
    app.update(0.6);
    app.words(None);
    app.world()
        .entity_mut(entity)
        .insert(AnimationController::playing("jump"));
    app.update(0.1);
    assert_eq!(app.words(None), ["started", "off"]);
    app.world()
        .entity_mut(entity)
        .remove::<AnimationController>();
    app.update(0.1);
    assert_eq!(app.parts(entity).len(), 1);
}

#[test]
fn time_that_passes_is_no_change_of_the_controller() {
    #[derive(Resource, Default)]
    struct Changes(usize);
    let mut app = TestApp::new();
    app.world().init_resource::<Changes>();
    app.app.add_systems(
        Last,
        |changed: Query<(), Changed<AnimationController>>, mut changes: ResMut<Changes>| {
            changes.0 += changed.iter().count();
        },
    );
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.spawn(&handle, "walk");
    (0..5).for_each(|_| app.update(0.1));
    assert_eq!(app.world().resource::<Changes>().0, 1);
    app.controller(entity).set_speed(2.0);
    (0..5).for_each(|_| app.update(0.1));
    assert_eq!(app.world().resource::<Changes>().0, 2);
}

#[test]
fn disabled_it_stands_still_keeps_its_parts_and_goes_on_when_enabled() {
    use bevy::ecs::entity_disabling::Disabled;
    let (mut app, handle, entity) = TestApp::playing("walk");
    app.update(0.3);
    let parts = app.parts(entity);
    app.world().entity_mut(entity).insert(Disabled);
    // Others are spawned and despawned meanwhile.
    let other = app.spawn(&handle, "walk");
    app.update(0.3);
    app.world()
        .entity_mut(other)
        .remove_with_requires::<SkinnedCharacter>();
    app.update(0.3);
    assert!(parts.iter().all(|&part| app.is_alive(part)));
    app.world().entity_mut(entity).remove::<Disabled>();
    app.update(0.1);
    assert_eq!(app.parts(entity), parts);
    assert!((app.clip_time(entity) - 0.4).abs() < 1e-9);
}

#[test]
fn a_mask_that_is_not_there_is_said_once_with_the_one_that_was_meant() {
    let mut app = TestApp::new();
    let mut manifest = manifest();
    manifest.masks.insert(
        "upper_body".into(),
        bevy_marionette::import::MaskEntry::default(),
    );
    let handle = app.add(chain(&clips()), &manifest);
    let mut controller = AnimationController::playing("walk");
    controller.add_track(AnimationTrack::new("swing").mask("upper_bdoy"));
    for _ in 0..2 {
        let entity = app.spawn_with(&handle, controller.clone());
        app.world().entity_mut(entity).insert(Name::new("Scout"));
        (0..3).for_each(|_| app.update(0.1));
        app.controller(entity).set_speed(2.0);
        app.update(0.1);
    }
    assert_messages("a mask that is not there", logged("upper_bdoy"));
}
