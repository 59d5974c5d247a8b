//! Controllers in scenes and saved games.

use super::support::*;
use bevy::{
    prelude::*,
    reflect::{
        TypeRegistry,
        serde::{ReflectDeserializer, ReflectSerializer},
    },
};
use bevy_marionette::{
    asset::Character,
    character::Teleported,
    controller::{AnimationTrack, TrackPriority, TransitionCurve},
    prelude::*,
};
use serde::de::DeserializeSeed;
use std::time::Duration;

/// A controller with everything in progress.
fn busy(app: &mut TestApp, handle: &Handle<Character>) -> Entity {
    let mut controller = AnimationController::playing("walk");
    let swing = controller.add_track(
        AnimationTrack::new("swing")
            .weight(0.4)
            .priority(TrackPriority::High)
            .speed(-0.7),
    );
    controller.timeline_mut().key_weight(
        swing,
        1.0,
        0.9,
        Duration::from_millis(500),
        TransitionCurve::EaseInEaseOut,
    );
    controller.add_callback("idle", 0.6, "bell", ron::Value::Unit);
    let entity = app.spawn_with(handle, controller);
    app.update(0.37);
    app.controller(entity)
        .cross_fade("idle", Duration::from_millis(500));
    app.update(0.2);
    entity
}

fn run(app: &mut TestApp, entity: Entity) -> (Vec<String>, AnimationController) {
    app.words(None);
    for frame in 0..60 {
        app.update(0.01 + 0.001 * f64::from(frame % 7));
    }
    (app.words(Some(entity)), app.controller(entity).clone())
}

#[test]
fn a_restored_controller_replays_the_same_events_and_ends_in_the_same_state() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let entity = busy(&mut app, &handle);
    let snapshot = app.controller(entity).clone();
    let first = run(&mut app, entity);
    assert!(first.0.len() > 2, "{:?}", first.0);
    app.controller(entity).restore(&snapshot);
    assert_eq!(run(&mut app, entity), first);
}

#[test]
fn reflection_saves_the_whole_controller() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let entity = busy(&mut app, &handle);
    let registry = app.world().resource::<AppTypeRegistry>().clone();
    let saved = {
        let registry: &TypeRegistry = &registry.read();
        ron::to_string(&ReflectSerializer::new(
            app.controller(entity).as_reflect(),
            registry,
        ))
        .unwrap()
    };
    let first = run(&mut app, entity);
    {
        let registry: &TypeRegistry = &registry.read();
        let mut reader = ron::Deserializer::from_str(&saved).unwrap();
        let value = ReflectDeserializer::new(registry)
            .deserialize(&mut reader)
            .unwrap();
        let component = registry
            .get_with_type_path(value.reflect_type_path())
            .unwrap()
            .data::<ReflectComponent>()
            .unwrap();
        let entity = &mut app.app.world_mut().entity_mut(entity);
        entity.remove::<AnimationController>();
        component.insert(entity, value.as_partial_reflect(), registry);
    }
    assert_eq!(run(&mut app, entity), first);
}

#[test]
fn serde_saves_the_whole_controller() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let entity = busy(&mut app, &handle);
    let saved = ron::to_string(&*app.controller(entity)).unwrap();
    let first = run(&mut app, entity);
    *app.controller(entity) = ron::from_str(&saved).unwrap();
    assert_eq!(run(&mut app, entity), first);
}

#[test]
fn the_components_of_a_scene_are_registered() {
    let mut app = TestApp::new();
    let registry = app.world().resource::<AppTypeRegistry>().read();
    for id in [
        std::any::TypeId::of::<AnimationController>(),
        std::any::TypeId::of::<SkinnedCharacter>(),
        std::any::TypeId::of::<Teleported>(),
    ] {
        let registration = registry.get(id).unwrap();
        assert!(registration.data::<ReflectComponent>().is_some());
        assert!(
            registration
                .data::<bevy::reflect::prelude::ReflectDefault>()
                .is_some()
        );
    }
}
