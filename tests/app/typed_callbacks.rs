//! Callbacks as types of the game's own.

use super::{messages::assert_messages, support::*};
use bevy::{platform::collections::HashMap, prelude::*};
use bevy_marionette::{
    asset::Character,
    character::{AppCharacterExt, Callback},
    controller::CallbackKind,
    model::{ClipTiming, PlaybackMode},
    prelude::*,
};
use serde::Deserialize;

#[derive(Deserialize, Clone, Debug, PartialEq)]
struct Footstep {
    side: String,
    loudness: f32,
}

#[derive(Deserialize, Debug, PartialEq)]
struct Swing;

#[derive(Resource, Default)]
struct Steps(Vec<(Entity, Footstep, f64)>);

#[derive(Resource, Default)]
struct Swings(Vec<(CallbackKind, f64)>);

fn step(side: &str, loudness: f32) -> ron::Value {
    ron::from_str(&format!(
        "{{\"side\": \"{side}\", \"loudness\": {loudness:?}}}"
    ))
    .unwrap()
}

/// An app without the observers of [`TestApp`], which receive every callback.
fn app(clips: &[ClipTiming]) -> (App, Entity) {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin::default(),
        TransformPlugin,
        MarionettePlugins::default(),
    ));
    app.insert_resource(bevy::time::TimeUpdateStrategy::ManualDuration(
        std::time::Duration::from_millis(250),
    ));
    app.init_resource::<Steps>().init_resource::<Swings>();
    app.add_observer(|step: On<Callback<Footstep>>, mut steps: ResMut<Steps>| {
        steps
            .0
            .push((step.entity, step.data.clone(), step.callback.time));
        assert_eq!(step.side, step.data.side, "it dereferences to the data");
    });
    let character = build(app.world_mut(), chain(clips), &manifest());
    let handle = app
        .world_mut()
        .resource_mut::<Assets<Character>>()
        .add(character);
    let entity = app
        .world_mut()
        .spawn((
            SkinnedCharacter(handle),
            AnimationController::playing("walk"),
        ))
        .id();
    (app, entity)
}

fn walk(keys: &[(f64, &str, ron::Value)]) -> ClipTiming {
    let mut timing = timing("walk", 1.0, PlaybackMode::Loop, &[]);
    for (time, name, data) in keys {
        timing.add_callback(*time, *name, data.clone());
    }
    timing
}

#[test]
fn a_callback_arrives_as_a_type_of_the_games_own_on_its_character() {
    let clip = walk(&[
        (0.25, "footstep", step("left", 0.5)),
        (0.75, "footstep", step("right", 1.0)),
    ]);
    let (mut app, entity) = app(&[clip]);
    app.add_callback_type::<Footstep>("footstep");
    let mine = app.world_mut().spawn_empty().id();
    app.world_mut().entity_mut(entity).observe(
        move |_: On<Callback<Footstep>>, mut commands: Commands| {
            commands.entity(mine).insert(Name::new("received"));
        },
    );
    (0..5).for_each(|_| app.update());
    let steps = &app.world().resource::<Steps>().0;
    let of = |side: &str, loudness| Footstep {
        side: side.into(),
        loudness,
    };
    assert_eq!(
        steps[..],
        [
            (entity, of("left", 0.5), 0.25),
            (entity, of("right", 1.0), 0.75)
        ]
    );
    assert!(
        app.world().get::<Name>(mine).is_some(),
        "observers of the entity receive it"
    );
}

#[test]
fn a_range_arrives_when_it_begins_and_when_it_ends() {
    let mut clip = walk(&[]);
    clip.add_range(0.2, 0.6, "swing", ());
    let (mut app, _) = app(&[clip]);
    app.add_callback_type::<Swing>("swing");
    app.add_observer(|swing: On<Callback<Swing>>, mut swings: ResMut<Swings>| {
        swings.0.push((swing.callback.kind, swing.callback.time));
    });
    (0..5).for_each(|_| app.update());
    assert_eq!(
        app.world().resource::<Swings>().0,
        [(CallbackKind::Begin, 0.2), (CallbackKind::End, 0.6)]
    );
}

#[test]
fn two_types_may_have_one_name() {
    let (mut app, _) = app(&[walk(&[(0.25, "both", step("left", 0.5))])]);
    app.add_callback_type::<Footstep>("both")
        .add_callback_type::<HashMap<String, ron::Value>>("both");
    #[derive(Resource)]
    struct Fields(usize);
    app.insert_resource(Fields(0));
    app.add_observer(
        |all: On<Callback<HashMap<String, ron::Value>>>, mut fields: ResMut<Fields>| {
            fields.0 = all.len()
        },
    );
    (0..3).for_each(|_| app.update());
    assert_eq!(
        (
            app.world().resource::<Steps>().0.len(),
            app.world().resource::<Fields>().0
        ),
        (1, 2)
    );
}

#[test]
fn data_of_another_shape_and_names_that_nobody_added_are_said_once() {
    // The log is heard by all tests of this file.
    drop(TestApp::new());
    let clip = walk(&[
        (0.2, "footstep_of_another_shape", ron::Value::Bool(true)),
        (0.4, "footstep_nobody_added", ron::Value::Unit),
    ]);
    let (mut app, entity) = app(&[clip]);
    app.world_mut()
        .entity_mut(entity)
        .insert(Name::new("Scout"));
    app.add_callback_type::<Footstep>("footstep_of_another_shape");
    (0..13).for_each(|_| app.update());
    assert!(app.world().resource::<Steps>().0.is_empty());
    let said = logged("`footstep_of_another_shape`");
    assert_eq!(said.len(), 2, "{said:?}");
    assert_messages("data of another shape, and a name that nobody added", said);
}

#[test]
fn a_name_that_an_observer_may_take_is_not_warned_of() {
    drop(TestApp::new());
    let (mut app, _) = app(&[walk(&[(0.2, "taken_by_an_observer", ron::Value::Unit)])]);
    app.add_callback_type::<Footstep>("footstep");
    app.add_observer(|_: On<AnimationCallback>| {});
    (0..5).for_each(|_| app.update());
    assert!(logged("taken_by_an_observer").is_empty());
}
