//! Characters in scenes: saved through the type registry, and spawned again.

use super::{
    loading::{MANIFEST, folder, write},
    support::*,
};
use bevy::{
    ecs::entity::EntityHashMap,
    prelude::*,
    world_serialization::{DynamicWorld, DynamicWorldBuilder, serde::WorldDeserializer},
};
use bevy_marionette::{
    asset::Character,
    character::{AnimationLod, Attachments, ModelPose, PartOf, Wears, WornBy},
    model::JointTransform,
    prelude::*,
};
use serde::de::DeserializeSeed;
use tempfile::TempDir;

/// An app with a character at 0.3 s of its walk, at x = 5.
fn stage(folder: &TempDir) -> (TestApp, Entity) {
    write(folder.path(), "one.character.ron", MANIFEST);
    let mut app = TestApp::with_files(folder.path());
    let handle: Handle<Character> = app.server().load("one.character.ron");
    let entity = app.spawn(&handle, "walk");
    app.world()
        .entity_mut(entity)
        .insert(Transform::from_xyz(5.0, 0.0, 0.0));
    app.wait_for(&handle);
    app.update(0.3);
    assert_eq!(app.parts(entity).len(), 2);
    (app, entity)
}

/// Returns the scene as text.
fn save(
    app: &mut TestApp,
    builder: impl FnOnce(DynamicWorldBuilder<'_>) -> DynamicWorldBuilder<'_>,
) -> String {
    let registry = app.world().resource::<AppTypeRegistry>().clone();
    let registry = registry.read();
    let scene = builder(DynamicWorldBuilder::from_world(app.app.world(), &registry)).build();
    scene.serialize(&registry).unwrap()
}

/// Spawns a scene's text in another app. Returns the app and the characters in it.
fn load(folder: &TempDir, text: &str) -> (TestApp, Vec<Entity>) {
    let mut app = TestApp::with_files(folder.path());
    let registry = app.world().resource::<AppTypeRegistry>().clone();
    let mut server = app.server().clone();
    let scene: DynamicWorld = {
        let registry = registry.read();
        let seed = WorldDeserializer {
            type_registry: &registry,
            load_from_path: &mut server,
        };
        seed.deserialize(&mut ron::Deserializer::from_str(text).unwrap())
            .unwrap()
    };
    scene
        .write_to_world(app.world(), &mut EntityHashMap::default())
        .unwrap();
    let world = app.world();
    let characters: Vec<Entity> = world
        .query_filtered::<Entity, With<SkinnedCharacter>>()
        .iter(world)
        .collect();
    let handle = world
        .get::<SkinnedCharacter>(characters[0])
        .unwrap()
        .0
        .clone();
    app.wait_for(&handle);
    app.update(0.0);
    (app, characters)
}

#[test]
fn a_saved_character_is_loaded_from_its_path_and_plays_on_from_where_it_was() {
    let folder = folder();
    let (mut app, entity) = stage(&folder);
    let text = save(&mut app, |scene| {
        scene
            .deny_all()
            .allow_component::<SkinnedCharacter>()
            .allow_component::<AnimationController>()
            .allow_component::<Transform>()
            .extract_entity(entity)
    });
    assert!(text.contains("one.character.ron"), "{text}");
    let (mut app, characters) = load(&folder, &text);
    let [entity] = characters[..] else {
        panic!("{characters:?}")
    };
    assert_eq!(app.parts(entity).len(), 2);
    assert!(
        (app.clip_time(entity) - 0.3).abs() < 1e-6,
        "{}",
        app.clip_time(entity)
    );
    app.update(0.3);
    assert!((app.clip_time(entity) - 0.6).abs() < 1e-6);
    assert_eq!(
        app.world()
            .get::<GlobalTransform>(entity)
            .unwrap()
            .translation(),
        Vec3::X * 5.0
    );
    // It passed 0.25 s before it was saved, and doesn't report that again.
    assert_eq!(app.words(Some(entity)), [""; 0]);
}

#[test]
fn a_scene_saved_with_all_its_entities_has_every_part_once() {
    let folder = folder();
    let (mut app, _) = stage(&folder);
    let world = app.world();
    let all: Vec<Entity> = world
        .query_filtered::<Entity, Or<(With<SkinnedCharacter>, With<PartOf>)>>()
        .iter(world)
        .collect();
    assert_eq!(all.len(), 3);
    let text = save(&mut app, |scene| {
        scene.deny_all_resources().extract_entities(all.into_iter())
    });
    let (mut app, characters) = load(&folder, &text);
    let [entity] = characters[..] else {
        panic!("{characters:?}")
    };
    app.update(0.1);
    let world = app.world();
    let drawn: Vec<Entity> = world
        .query_filtered::<Entity, With<Mesh3d>>()
        .iter(world)
        .collect();
    assert_eq!(drawn.len(), 2);
    let mut parts = app.parts(entity);
    parts.sort();
    let mut drawn = drawn;
    drawn.sort();
    assert_eq!(drawn, parts);
}

#[test]
fn a_saved_scene_keeps_what_is_carried_worn_and_overridden() {
    let folder = folder();
    let (mut app, body) = stage(&folder);
    let handle = app.world().get::<SkinnedCharacter>(body).unwrap().clone();
    let offset = Transform::from_xyz(0.1, 0.2, 0.3).with_rotation(Quat::from_rotation_x(0.4));
    let sword = app
        .world()
        .spawn((AttachedTo(body), AtSocket::new("grip").offset(offset)))
        .id();
    let cloak = app.world().spawn((handle, WornBy(body))).id();
    let mut overrides = PoseOverrides::default();
    overrides.set(1, JointTransform::new(Vec3::X, Quat::from_rotation_z(0.5)));
    let parts = PartOverrides::default().hide(0);
    app.world().entity_mut(body).insert((
        overrides.clone(),
        parts.clone(),
        AnimationLod {
            springs: 0.5,
            ..AnimationLod::default()
        },
    ));
    app.update(0.1);
    let place = *app.world().get::<GlobalTransform>(sword).unwrap();
    let pose = app.world().get::<ModelPose>(cloak).unwrap().joints.clone();
    let world = app.world();
    let mut all = world
        .query_filtered::<Entity, Or<(With<SkinnedCharacter>, With<PartOf>, With<AttachedTo>)>>();
    let all: Vec<Entity> = all.iter(world).collect();
    let text = save(&mut app, |scene| {
        scene.deny_all_resources().extract_entities(all.into_iter())
    });

    let (mut app, characters) = load(&folder, &text);
    assert_eq!(characters.len(), 2);
    app.update(0.0);
    let world = app.world();
    let (sword, &AttachedTo(body), at, global) = world
        .query::<(Entity, &AttachedTo, &AtSocket, &GlobalTransform)>()
        .single(world)
        .expect("one sword");
    assert_eq!(at, &AtSocket::new("grip").offset(offset));
    assert!(
        global.affine().abs_diff_eq(place.affine(), 1e-5),
        "{global:?} {place:?}"
    );
    assert_eq!(world.get::<ChildOf>(sword).unwrap().parent(), body);
    assert_eq!(
        world
            .get::<Attachments>(body)
            .unwrap()
            .iter()
            .collect::<Vec<_>>(),
        [sword]
    );
    let (cloak, worn) = world
        .query::<(Entity, &WornBy)>()
        .single(world)
        .expect("one cloak");
    assert_eq!(worn, &WornBy(body));
    assert_eq!(
        world.get::<Wears>(body).unwrap().iter().collect::<Vec<_>>(),
        [cloak]
    );
    assert_eq!(world.get::<ModelPose>(cloak).unwrap().joints, pose);
    assert_eq!(world.get::<PoseOverrides>(body), Some(&overrides));
    assert_eq!(world.get::<PartOverrides>(body), Some(&parts));
    assert_eq!(
        world.get::<AnimationLod>(body),
        Some(&AnimationLod {
            springs: 0.5,
            ..AnimationLod::default()
        })
    );
    let first = app.parts(body)[0];
    assert_eq!(
        app.world().get::<Visibility>(first),
        Some(&Visibility::Hidden)
    );
    // Saved again, it is the same scene, and it contains no pose.
    assert!(!text.contains("matrix3"), "{text}");
}
