//! Assets that change while their characters play.

use super::{
    loading::{MANIFEST, folder, textured, write},
    support::*,
};
use bevy::{asset::AssetId, prelude::*};
use bevy_marionette::{
    asset::{Character, CharacterAssetLabel, CharacterLoaderSettings, ClipAsset},
    internals::{format::m3d, import::to_m3d},
    model::{PlaybackMode, Skeleton},
    prelude::*,
};
use std::sync::Arc;
use tempfile::TempDir;

/// A character from a manifest, playing `walk` at 0.3 s.
fn playing(folder: &TempDir) -> (TestApp, Handle<Character>, Entity) {
    write(folder.path(), "one.character.ron", MANIFEST);
    let mut app = TestApp::with_files(folder.path());
    let handle: Handle<Character> = app.server().load("one.character.ron");
    let entity = app.spawn(&handle, "walk");
    app.wait_for(&handle);
    app.update(0.3);
    assert_eq!(app.parts(entity).len(), 2);
    app.words(None);
    (app, handle, entity)
}

/// Distinguishes versions of a character: every load creates another skeleton.
fn version(app: &TestApp, handle: &Handle<Character>) -> Arc<Skeleton> {
    app.asset(handle).unwrap().skeleton.clone()
}

fn reload(app: &mut TestApp, handle: &Handle<Character>, path: &'static str) {
    let before = version(app, handle);
    app.server().reload(path);
    app.wait("a reload", |app| {
        !Arc::ptr_eq(&version(app, handle), &before)
    });
}

#[test]
fn a_rewritten_manifest_keeps_the_position_and_the_controller_goes_on() {
    let folder = folder();
    let (mut app, handle, entity) = playing(&folder);
    let before = app.parts(entity);
    write(
        folder.path(),
        "one.character.ron",
        MANIFEST.replace("footstep", "tap").replace("0.25", "0.5"),
    );
    reload(&mut app, &handle, "one.character.ron");
    assert!((app.clip_time(entity) - 0.3).abs() < 1e-6);
    assert!(before.iter().all(|&part| !app.is_alive(part)));
    assert_eq!(app.parts(entity).len(), 2);
    assert_eq!(app.world().resource::<Heard>().ready, [entity, entity]);
    app.update(0.3);
    assert!((app.clip_time(entity) - 0.6).abs() < 1e-6);
    assert_eq!(app.words(Some(entity)), ["tap"]);
}

#[cfg(feature = "gltf")]
#[test]
fn parts_are_merged_and_apart_again_as_the_manifest_says() {
    let mut model = textured("", "");
    model.parts.push(strip("third", 0));
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "chain.glb", super::gltf::glb(&model));
    let apart = "(model: \"chain.glb\")";
    let merged = "(model: \"chain.glb\", merge: { \"body\": [\"strip\", \"third\"] })";
    write(folder.path(), "one.character.ron", merged);
    let mut app = TestApp::with_files(folder.path());
    let handle: Handle<Character> = app.server().load("one.character.ron");
    let entity = app.spawn(&handle, "walk");
    let hidden = bevy_marionette::character::PartOverrides::default().hide("body");
    app.world().entity_mut(entity).insert(hidden);
    app.wait_for(&handle);
    let names = |app: &TestApp| -> Vec<String> {
        let parts = app.asset(&handle).unwrap().parts.iter();
        parts.map(|part| part.name.to_string()).collect()
    };
    let shown = |app: &mut TestApp| -> Vec<bool> {
        app.update(0.1);
        let parts = app.parts(entity).into_iter();
        parts
            .map(|part| app.world().get::<Visibility>(part) != Some(&Visibility::Hidden))
            .collect()
    };
    assert_eq!(names(&app), ["body", "second"]);
    assert_eq!(shown(&mut app), [false, true]);
    let before = app.parts(entity);

    write(folder.path(), "one.character.ron", apart);
    reload(&mut app, &handle, "one.character.ron");
    assert_eq!(names(&app), ["strip", "second", "third"]);
    assert_eq!(shown(&mut app), [true; 3]);
    assert!(before.iter().all(|&part| !app.is_alive(part)));

    write(folder.path(), "one.character.ron", merged);
    reload(&mut app, &handle, "one.character.ron");
    assert_eq!(names(&app), ["body", "second"]);
    assert_eq!(shown(&mut app), [false, true], "by its name, as before");
}

#[test]
fn a_rewritten_clip_file_reloads_the_character_that_uses_it() {
    let folder = folder();
    let (mut app, handle, entity) = playing(&folder);
    // `idle`, which takes four seconds, is the walk now.
    std::fs::copy(
        folder.path().join("idle.md5anim"),
        folder.path().join("walk.md5anim"),
    )
    .unwrap();
    reload(&mut app, &handle, "one.character.ron");
    assert!(
        (app.asset(&handle)
            .unwrap()
            .clip("walk")
            .unwrap()
            .timing
            .duration
            - 4.0)
            .abs()
            < 1e-3
    );
    app.update(1.5);
    assert!((app.clip_time(entity) - 1.8).abs() < 1e-3);
    assert!(app.words(Some(entity)).is_empty());
}

#[test]
fn a_clip_that_is_gone_stops_and_goes_on_when_it_is_back() {
    let folder = folder();
    let (mut app, handle, entity) = playing(&folder);
    write(
        folder.path(),
        "one.character.ron",
        MANIFEST.replace("\"walk\"", "\"ramble\""),
    );
    reload(&mut app, &handle, "one.character.ron");
    for _ in 0..5 {
        app.update(0.1);
    }
    assert_eq!(app.parts(entity).len(), 2);
    write(folder.path(), "one.character.ron", MANIFEST);
    reload(&mut app, &handle, "one.character.ron");
    app.update(0.1);
    assert!(
        (app.clip_time(entity) - 0.4).abs() < 1e-6,
        "{}",
        app.clip_time(entity)
    );
}

#[test]
fn a_broken_reload_keeps_the_last_good_version_and_says_so() {
    let folder = folder();
    let (mut app, handle, entity) = playing(&folder);
    let (before, parts) = (version(&app, &handle), app.parts(entity));
    write(
        folder.path(),
        "one.character.ron",
        "(\n    model: \"chain.md5mesh\",\n    half_written_fie",
    );
    app.server().reload("one.character.ron");
    // Bevy retries a failed reload once if meshes and clips of the asset exist, and logs both failures.
    app.wait("the failure", |_| logged("one.character.ron:3:").len() == 2);
    app.update(0.3);
    assert!(Arc::ptr_eq(&version(&app, &handle), &before));
    assert_eq!(app.parts(entity), parts);
    assert!((app.clip_time(entity) - 0.6).abs() < 1e-6);
    (0..5).for_each(|_| app.update(0.1));
    assert_eq!(
        logged("one.character.ron:3:").len(),
        2,
        "said by either try, and not once a frame"
    );
    // A second character still gets its parts, and a valid file is loaded again.
    let other = app.spawn(&handle, "walk");
    app.update(0.1);
    assert_eq!(app.parts(other).len(), 2);
    write(folder.path(), "one.character.ron", MANIFEST);
    reload(&mut app, &handle, "one.character.ron");
    assert_eq!((app.parts(entity).len(), app.parts(other).len()), (2, 2));
}

#[test]
fn labels_keep_their_meaning_over_reloads() {
    let folder = folder();
    let mut app = TestApp::with_files(folder.path());
    let handle: Handle<Character> = app.server().load("chain.m3d");
    app.wait_for(&handle);
    let mesh = app.asset(&handle).unwrap().parts[0].mesh.clone();
    let clip: Handle<ClipAsset> = app
        .server()
        .load(CharacterAssetLabel::Clip("walk".into()).from_asset("chain.m3d"));
    let ids = |app: &TestApp| -> Vec<AssetId<Mesh>> {
        app.asset(&handle)
            .unwrap()
            .parts
            .iter()
            .map(|part| part.mesh.id())
            .collect()
    };
    let before = ids(&app);
    for round in 1..4 {
        let mut model = textured("", "");
        model.parts[0].positions[0].x = -0.5 - round as f32;
        model.clips[0].timing.duration = 1.0 + f64::from(round);
        write(folder.path(), "chain.m3d", m3d::write(&to_m3d(&model)));
        reload(&mut app, &handle, "chain.m3d");
        assert_eq!(ids(&app), before);
        app.wait("the new mesh", |app| {
            let positions = app
                .asset(&mesh)
                .unwrap()
                .attribute(Mesh::ATTRIBUTE_POSITION)
                .unwrap()
                .as_float3()
                .unwrap();
            positions
                .iter()
                .any(|p| (p[0] + 0.5 + round as f32).abs() < 1e-5)
        });
        assert!((app.asset(&clip).unwrap().timing.duration - 1.0 - f64::from(round)).abs() < 1e-5);
    }
}

#[test]
fn a_reload_keeps_the_settings_of_the_load() {
    let folder = folder();
    let mut app = TestApp::with_files(folder.path());
    let settings = |settings: &mut CharacterLoaderSettings| settings.import.scale = 3.0;
    let handle: Handle<Character> = app
        .server()
        .load_builder()
        .with_settings(settings)
        .load("chain.m3d");
    app.wait_for(&handle);
    reload(&mut app, &handle, "chain.m3d");
    let height = app.asset(&handle).unwrap().rest_bounds().unwrap().max().y;
    assert!((height - 6.0).abs() < 1e-4, "{height}");
}

#[test]
fn an_asset_replaced_in_code_is_followed_in_the_same_frame() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let entities = [app.spawn(&handle, "walk"), app.spawn(&handle, "swing")];
    app.update(0.6);
    let before = app.parts(entities[0]);
    app.words(None);
    let mut model = chain(&[clips(), vec![timing("new", 1.0, PlaybackMode::Loop, &[])]].concat());
    model.parts.push(strip("second", 0));
    let character = build(app.world(), model, &manifest());
    app.world()
        .resource_mut::<Assets<Character>>()
        .insert(&handle, character)
        .unwrap();
    app.update(0.2);
    assert!(!app.is_alive(before[0]));
    assert!(entities.iter().all(|&entity| app.parts(entity).len() == 2));
    assert!((app.clip_time(entities[0]) - 0.8).abs() < 1e-9);
    assert_eq!(app.words(Some(entities[0])), ["right"]);
    app.controller(entities[0]).play("new");
    app.update(0.1);
    assert_eq!(app.words(Some(entities[0])), ["started"]);
}

#[test]
fn fewer_joints_after_a_reload_are_no_trouble_for_what_is_carried() {
    let (mut app, handle, entity) = TestApp::playing("walk");
    let carried = app
        .world()
        .spawn((AttachedTo(entity), AtSocket::new("hand")))
        .id();
    app.update(0.1);
    let mut small = chain(&[]);
    let root = bevy_marionette::model::Joint {
        name: "root".into(),
        parent: None,
        rest: bevy_marionette::model::JointTransform::IDENTITY,
        inverse_bind: glam::Affine3A::IDENTITY,
    };
    small.skeleton = bevy_marionette::model::Skeleton::new(vec![root]).unwrap();
    small.parts[0].palette = vec![0];
    small.parts[0]
        .influences
        .iter_mut()
        .for_each(|i| i.palette = [0; 4]);
    let character = build(app.world(), small, &manifest());
    app.world()
        .resource_mut::<Assets<Character>>()
        .insert(&handle, character)
        .unwrap();
    for _ in 0..3 {
        app.update(0.1);
    }
    assert_eq!(app.parts(entity).len(), 1);
    assert!(app.is_alive(carried));
}
