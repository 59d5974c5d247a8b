//! What users of Bevy expect of a plugin: any order, parts that can be left out, errors that say what to add, and names
//! that leave room for theirs.

use super::{
    messages::{assert_message, assert_messages},
    support::*,
};
use bevy::{
    app::PluginGroupBuilder,
    ecs::reflect::{ReflectComponent, ReflectResource},
    prelude::*,
    reflect::TypeRegistry,
    time::TimeUpdateStrategy,
};
use bevy_marionette::{
    character::{
        AnimationEventPlugin, CharacterParts, CharacterRigPlugin, CrowdPlugin, DressingPlugin,
        LookAt, ModelPose, RootMotionPlugin, WeightView, WornBy,
    },
    prelude::*,
    recorder::{RecorderPlugin, Recording},
};
use std::{panic, time::Duration};

fn bevys() -> (MinimalPluginsAndClock, AssetPlugin, TransformPlugin) {
    let nowhere = asset_folder(std::path::Path::new("no such folder"));
    (MinimalPluginsAndClock, nowhere, TransformPlugin)
}

struct MinimalPluginsAndClock;

impl Plugin for MinimalPluginsAndClock {
    fn build(&self, app: &mut App) {
        app.add_plugins(MinimalPlugins)
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
                50,
            )));
    }
}

/// Finishes building an app, and spawns a character that walks.
fn walk(app: &mut App) -> Entity {
    app.finish();
    app.cleanup();
    let handle = add_chain(app);
    let world = app.world_mut();
    world
        .spawn((
            SkinnedCharacter(handle),
            AnimationController::playing("walk"),
        ))
        .id()
}

#[test]
fn plugins_can_be_added_in_any_order() {
    for order in 0..4 {
        let mut app = App::new();
        match order {
            0 => app.add_plugins((bevys(), MarionettePlugins::default(), RecorderPlugin)),
            1 => app.add_plugins((RecorderPlugin, MarionettePlugins::default(), bevys())),
            2 => app.add_plugins((MarionettePlugins::default(), bevys(), RecorderPlugin)),
            _ => app.add_plugins((bevys(), RecorderPlugin, MarionettePlugins::default())),
        };
        let entity = walk(&mut app);
        (0..5).for_each(|_| app.update());
        let world = app.world();
        let parts = world.get::<CharacterParts>(entity).unwrap();
        assert_eq!(parts.entities.len(), 1, "order {order}");
        let time = world.get::<AnimationController>(entity).unwrap().time();
        assert!(time > 0.15, "order {order}: {time}");
        let frames = world.resource::<Recording>().frames();
        assert!(frames.count() >= 4, "order {order}");
    }
}

#[test]
fn a_missing_plugin_is_an_error_that_says_what_to_add() {
    let mut app = App::new();
    app.add_plugins((bevys(), RecorderPlugin, TestLog));
    app.finish();
    assert_messages("a recorder without characters", logged("`RecorderPlugin`"));

    let without = |add: fn(&mut App)| {
        let message = panic::catch_unwind(|| {
            let mut app = App::new();
            add(&mut app);
            app.finish();
        })
        .unwrap_err();
        let text = message.downcast_ref::<&str>().map(|text| text.to_string());
        text.or_else(|| message.downcast_ref::<String>().cloned())
            .unwrap()
    };
    let no_assets = without(|app| {
        app.add_plugins((MinimalPlugins, MarionettePlugins::default()));
    });
    assert_message("no assets", no_assets);
    let no_clock = without(|app| {
        app.add_plugins((AssetPlugin::default(), MarionettePlugins::default()));
    });
    assert_message("no clock", no_clock);
}

/// Listens to the log, as [`TestApp`] does.
struct TestLog;

impl Plugin for TestLog {
    fn build(&self, _: &mut App) {
        drop(TestApp::new());
    }
}

#[test]
fn each_concern_can_be_left_out() {
    let group = || MarionettePlugins::default().build();
    let without: [(&str, fn(PluginGroupBuilder) -> PluginGroupBuilder); 6] = [
        ("nothing", |group| group),
        ("events", |group| group.disable::<AnimationEventPlugin>()),
        ("root motion", |group| group.disable::<RootMotionPlugin>()),
        ("dressing", |group| group.disable::<DressingPlugin>()),
        ("rigs", |group| group.disable::<CharacterRigPlugin>()),
        ("crowds", |group| group.disable::<CrowdPlugin>()),
    ];
    for (what, leave_out) in without {
        let mut app = App::new();
        app.add_plugins((bevys(), leave_out(group())))
            .init_resource::<Heard>()
            .add_observer(|_: On<AnimationCallback>, mut heard: ResMut<Heard>| {
                heard.ready.push(Entity::PLACEHOLDER);
            });
        let body = walk(&mut app);
        let world = app.world_mut();
        let handle = world.get::<SkinnedCharacter>(body).unwrap().clone();
        let held = world.spawn((AttachedTo(body), AtSocket::new("hand"))).id();
        world.spawn((handle, WornBy(body)));
        // It needs its pose in every frame whether rigs act or not.
        world.entity_mut(body).insert((
            RootMotion::default(),
            PartOverrides::default().hide(0),
            WeightView::InfluenceCount,
            LookAt::default(),
        ));
        (0..30).for_each(|_| app.update());

        let world = app.world();
        let heard = world.resource::<Heard>().ready.len();
        assert_eq!(heard > 0, what != "events", "{what}: {heard}");
        let pose = world.get::<ModelPose>(body).unwrap();
        let hand = pose.joints[2].translation;
        assert!(hand.x > 0.1, "{what}: the body is posed, {hand}");
        let place = world.get::<Transform>(held).unwrap().translation;
        let is_held = place.distance(hand.into()) < 1e-4;
        assert_eq!(is_held, what != "dressing", "{what}: {place} {hand}");
        let part = world.get::<CharacterParts>(body).unwrap().entities[0];
        let visibility = world.get::<Visibility>(part).unwrap();
        let is_hidden = *visibility == Visibility::Hidden;
        assert_eq!(is_hidden, what != "dressing", "{what}");
    }
}

#[test]
fn rules_in_fixed_update_get_each_callback_once_from_controllers_that_advance_every_frame() {
    #[derive(Resource, Default)]
    struct Read(Vec<(String, f64)>);
    let (mut app, _, entity) = TestApp::playing("walk");
    app.app
        .init_resource::<Read>()
        .add_message::<AnimationCallback>()
        .add_systems(
            FixedUpdate,
            |mut read: ResMut<Read>, mut callbacks: MessageReader<AnimationCallback>| {
                let facts = callbacks.read().map(|it| (it.name.to_string(), it.time));
                read.0.extend(facts);
            },
        );
    app.world()
        .resource_mut::<Time<Fixed>>()
        .set_timestep_seconds(0.25);
    // Frames with no fixed step, with one, and with several.
    for dt in [0.1, 0.1, 0.1, 0.6, 0.05, 0.9, 0.3, 0.2, 0.25, 0.25] {
        app.update(dt);
    }
    let read = std::mem::take(&mut app.world().resource_mut::<Read>().0);
    let passed: Vec<String> = app
        .words(Some(entity))
        .into_iter()
        .filter(|word| ["left", "right"].contains(&&**word))
        .collect();
    let names: Vec<String> = read.iter().map(|(name, _)| name.clone()).collect();
    // The last frame's are read in the next fixed step.
    assert!(passed.starts_with(&names), "{passed:?} {names:?}");
    assert!(names.len() + 1 >= passed.len(), "{passed:?} {names:?}");
    assert!(read.is_sorted_by(|a, b| a.1 < b.1), "{read:?}");
}

#[test]
fn every_component_is_registered_without_bevys_automatic_registration() {
    let mut app = App::new();
    // What Bevy's feature `reflect_auto_register` found, which an app may not have.
    let found = {
        let registry = app.world().resource::<AppTypeRegistry>();
        std::mem::replace(&mut *registry.write(), TypeRegistry::new())
    };
    app.add_plugins((bevys(), MarionettePlugins::default(), RecorderPlugin));
    app.finish();
    let registry = app.world().resource::<AppTypeRegistry>().read();
    let ours: Vec<_> = found
        .iter()
        .filter(|known| known.contains::<ReflectComponent>() || known.contains::<ReflectResource>())
        .filter(|known| {
            let path = known.type_info().type_path();
            // The inspector registers its own.
            path.starts_with("bevy_marionette::") && !path.contains("::inspector::")
        })
        .collect();
    let missing: Vec<&str> = ours
        .iter()
        .filter(|known| !registry.contains(known.type_id()))
        .map(|known| known.type_info().type_path())
        .collect();
    assert!(missing.is_empty(), "not registered: {missing:?}");
    assert!(ours.len() >= 25, "{}", ours.len());
}

mod names {
    /// What a game, or another plugin's prelude, may have.
    mod game {
        pub struct Callback;
        pub struct Character;
        pub struct Ground;
        pub struct Limb;
        pub struct LookAt;
        pub struct Recording;
        pub struct Wind;
        pub struct TrackId;
        pub fn render_plugin() {}
    }

    mod of_both {
        use super::game::*;
        #[allow(unused_imports)]
        use bevy_marionette::prelude::*;

        /// Compiles only if none of them is in both.
        #[expect(dead_code, reason = "that it compiles is the test")]
        fn take(
            _: (
                Callback,
                Character,
                Ground,
                Limb,
                LookAt,
                Recording,
                Wind,
                TrackId,
            ),
        ) {
            render_plugin();
        }
    }

    #[test]
    fn the_prelude_has_at_most_twenty_names() {
        let lib = include_str!("../../src/lib.rs");
        let prelude = lib.split("pub mod prelude {").nth(1).unwrap();
        let prelude = prelude.split("\n}").next().unwrap();
        let names: Vec<&str> = prelude
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.starts_with(char::is_uppercase))
            .collect();
        assert!(
            (15..=20).contains(&names.len()),
            "{}: {names:?}",
            names.len()
        );
    }
}
