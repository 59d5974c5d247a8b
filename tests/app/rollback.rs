//! Characters that return to snapshots, and what the game hears of that.

use super::support::*;
use bevy::{ecs::system::RunSystemOnce, prelude::*};
use bevy_marionette::{
    character::{AnimationRevoked, Expressions, RollbackEvents, WholeCharacter},
    controller::PlaybackEvent,
    prelude::*,
    record::CharacterSnapshot,
};

/// A character that walks, whose steps are heard once.
fn walker() -> (TestApp, Entity) {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.spawn(&handle, "walk");
    app.world()
        .entity_mut(entity)
        .insert((RollbackEvents::default(), Expressions::default()));
    app.world().init_resource::<Revoked>();
    app.app
        .add_observer(|revoked: On<AnimationRevoked>, mut all: ResMut<Revoked>| {
            all.0.push(match &revoked.event {
                PlaybackEvent::Callback(callback) => callback.name.to_string(),
                PlaybackEvent::Started { .. } => "started".to_owned(),
                other => format!("{other:?}"),
            });
        });
    (app, entity)
}

#[derive(Resource, Default)]
struct Revoked(Vec<String>);

fn revoked(app: &mut TestApp) -> Vec<String> {
    std::mem::take(&mut app.world().resource_mut::<Revoked>().0)
}

fn save(app: &mut TestApp, entity: Entity) -> CharacterSnapshot {
    let take = move |characters: Query<WholeCharacter>| characters.get(entity).unwrap().snapshot();
    app.world().run_system_once(take).unwrap()
}

fn restore(app: &mut TestApp, entity: Entity, snapshot: &CharacterSnapshot) {
    let snapshot = snapshot.clone();
    let put = move |mut characters: Query<WholeCharacter>| {
        characters.get_mut(entity).unwrap().restore(&snapshot);
    };
    app.world().run_system_once(put).unwrap();
}

#[test]
fn what_happens_again_is_not_heard_again() {
    let (mut app, entity) = walker();
    app.update(0.1);
    let saved = save(&mut app, entity);
    app.update(0.4);
    assert_eq!(app.words(Some(entity)), ["started", "left"]);
    let there = save(&mut app, entity);
    // The same, in other steps.
    restore(&mut app, entity, &saved);
    app.update(0.1);
    app.update(0.3);
    assert!(app.words(Some(entity)).is_empty());
    assert!(revoked(&mut app).is_empty());
    assert_eq!(save(&mut app, entity).hash(), there.hash());
    // What is new is heard.
    app.update(0.4);
    assert_eq!(app.words(Some(entity)), ["right"]);
}

#[test]
fn what_does_not_happen_again_is_revoked() {
    let (mut app, entity) = walker();
    app.update(0.2);
    let saved = save(&mut app, entity);
    app.update(0.1);
    assert_eq!(app.words(Some(entity)), ["started", "left"]);
    restore(&mut app, entity, &saved);
    app.controller(entity).play("jump");
    app.update(0.05);
    // It may still happen.
    assert!(revoked(&mut app).is_empty());
    assert_eq!(app.words(Some(entity)), ["started", "off"]);
    app.update(0.05);
    assert_eq!(revoked(&mut app), ["left"]);
    app.update(2.0);
    assert!(revoked(&mut app).is_empty());
}

#[test]
fn a_prediction_may_fail_more_than_once() {
    let (mut app, entity) = walker();
    app.update(0.2);
    let saved = save(&mut app, entity);
    app.update(0.1);
    for _ in 0..3 {
        restore(&mut app, entity, &saved);
        app.update(0.1);
    }
    assert_eq!(app.words(Some(entity)), ["started", "left"]);
    assert!(revoked(&mut app).is_empty());
}

#[test]
fn a_snapshot_holds_expressions_and_root_motion() {
    let (mut app, entity) = walker();
    let walk = RootMotion::report();
    app.world().entity_mut(entity).insert(walk);
    app.update(0.2);
    let saved = save(&mut app, entity);
    let mut expressions = app.world().get_mut::<Expressions>(entity).unwrap();
    expressions.set("smile", 0.75);
    let smiling = save(&mut app, entity);
    assert_ne!(saved, smiling);
    assert_ne!(saved.hash(), smiling.hash());
    restore(&mut app, entity, &saved);
    assert_eq!(save(&mut app, entity), saved);
    restore(&mut app, entity, &smiling);
    assert_eq!(save(&mut app, entity), smiling);
}

#[test]
fn old_events_are_forgotten() {
    let (mut app, entity) = walker();
    for _ in 0..600 {
        app.update(0.1);
    }
    let saved = save(&mut app, entity);
    restore(&mut app, entity, &saved);
    // Nothing of the last minute is in doubt, and nothing is heard twice.
    app.words(None);
    app.update(0.5);
    assert!(revoked(&mut app).is_empty());
    assert!(!app.words(None).is_empty());
}
