//! Which files a manifest may read, and how much of them.

use super::{
    loading::{MANIFEST, folder, load_images, textured, tga, write},
    messages::{assert_message, assert_messages},
    support::*,
};
use bevy::{
    asset::{AssetPlugin, LoadState, UnapprovedPathMode},
    image::{CompressedImageFormats, ImageLoader},
    prelude::*,
};
use bevy_marionette::{
    asset::{Character, CharacterLoaderSettings, TextureMode},
    internals::{format::m3d, import::to_m3d},
};
use std::fs;
use tempfile::TempDir;

/// An asset folder, `inside`, beside another one with models and clips.
fn two_folders() -> TempDir {
    let outside = folder();
    fs::create_dir(outside.path().join("inside")).unwrap();
    fs::copy(
        outside.path().join("chain.md5mesh"),
        outside.path().join("inside/chain.md5mesh"),
    )
    .unwrap();
    outside
}

fn app(folder: &TempDir, unapproved_path_mode: UnapprovedPathMode) -> TestApp {
    TestApp::with_assets(AssetPlugin {
        unapproved_path_mode,
        ..asset_folder(&folder.path().join("inside"))
    })
}

fn clip_names(app: &TestApp, handle: &Handle<Character>) -> Vec<String> {
    app.asset(handle)
        .unwrap()
        .clip_names()
        .map(|name| name.to_string())
        .collect()
}

#[test]
fn a_manifest_leaves_the_asset_folder_only_if_the_app_allows_it() {
    let folder = two_folders();
    let absolute = folder.path().join("chain.md5mesh");
    let inside = folder.path().join("inside");
    write(&inside, "up.character.ron", "(model: \"../chain.md5mesh\")");
    write(
        &inside,
        "round.character.ron",
        "(model: \"x/../../chain.md5mesh\")",
    );
    write(
        &inside,
        "root.character.ron",
        format!("(model: {absolute:?})"),
    );
    write(
        &inside,
        "clip.character.ron",
        "(model: \"chain.md5mesh\", clips: {\"away\": (file: \"../walk.md5anim\")})",
    );
    for mode in [UnapprovedPathMode::Forbid, UnapprovedPathMode::Deny] {
        let mut app = app(&folder, mode);
        for manifest in [
            "up.character.ron",
            "round.character.ron",
            "root.character.ron",
        ] {
            let handle = app.server().load(manifest);
            let message = app.wait_for_failure(&handle);
            let message = message.replace(absolute.to_str().unwrap(), "elsewhere/chain.md5mesh");
            assert_message(&format!("outside the asset folder: {manifest}"), message);
        }
        let handle = app.server().load("clip.character.ron");
        app.wait_for(&handle);
        assert!(!clip_names(&app, &handle).contains(&"away".to_owned()));
    }
    assert_messages("a clip outside the asset folder", logged("clip `away`"));
    let mut app = app(&folder, UnapprovedPathMode::Allow);
    for manifest in [
        "up.character.ron",
        "root.character.ron",
        "clip.character.ron",
    ] {
        let handle = app.server().load(manifest);
        app.wait_for(&handle);
        assert_eq!(
            clip_names(&app, &handle).contains(&"away".to_owned()),
            manifest.starts_with("clip")
        );
    }
}

#[test]
fn textures_leave_the_asset_folder_only_if_the_app_allows_it() {
    let folder = two_folders();
    let inside = folder.path().join("inside");
    write(folder.path(), "hide.tga", tga(2, 2));
    write(
        &inside,
        "chain.m3d",
        m3d::write(&to_m3d(&textured("../hide.tga", ""))),
    );
    write(
        &inside,
        "up.character.ron",
        "(model: \"chain.m3d\", textures: [\"../hide.tga\"])",
    );
    let modes = || {
        [
            UnapprovedPathMode::Forbid,
            UnapprovedPathMode::Deny,
            UnapprovedPathMode::Allow,
        ]
    };
    for textures in [TextureMode::Load, TextureMode::LoadAsTheyAre] {
        for mode in modes() {
            let is_allowed = matches!(mode, UnapprovedPathMode::Allow);
            let mut app = app(&folder, mode);
            load_images(&mut app);
            let settings =
                move |settings: &mut CharacterLoaderSettings| settings.textures = textures;
            let load = app.server().load_builder().with_settings(settings);
            let handle: Handle<Character> = load.load("up.character.ron");
            app.wait_for(&handle);
            let material = app
                .asset(&app.asset(&handle).unwrap().parts[0].material)
                .unwrap();
            assert_eq!(
                material.base_color_texture.is_some(),
                is_allowed,
                "allowed: {is_allowed}, {textures:?}"
            );
        }
    }
    let said = said("`../hide.tga`");
    assert_eq!(said.len(), 4, "{said:?}");
    assert_messages("a texture outside the asset folder", said);
}

#[test]
fn a_character_loaded_from_outside_on_purpose_brings_what_lies_beside_it() {
    let folder = two_folders();
    let mut model = textured("outside_hide.tga", "");
    model.clips.clear();
    write(folder.path(), "dressed.m3d", m3d::write(&to_m3d(&model)));
    write(folder.path(), "outside_hide.tga", b"no picture");
    let manifest = "(model: \"dressed.m3d\", joint_names: [\"root\", \"elbow\", \"hand\"], clips: {
        \"walk\": (file: \"walk.md5anim\"),
        \"up\": (file: \"../walk.md5anim\"),
    })";
    write(folder.path(), "own.character.ron", manifest);
    let mut app = app(&folder, UnapprovedPathMode::Deny);
    app.app
        .register_asset_loader(ImageLoader::new(CompressedImageFormats::NONE));
    let path = folder.path().join("own.character.ron");
    let load = |app: &TestApp| {
        app.server()
            .load_builder()
            .override_unapproved()
            .load(path.clone())
    };
    let handle: Handle<Character> = load(&app);
    app.wait_for(&handle);
    assert_eq!(clip_names(&app, &handle), ["walk"]);
    let map = app
        .asset(&app.asset(&handle).unwrap().parts[0].material)
        .unwrap()
        .base_color_texture
        .clone();
    if let Some(map) = map {
        app.wait("the texture", |app| {
            !matches!(app.server().load_state(&map), LoadState::Loading)
        });
    }
    assert_eq!(logged("outside_hide.tga is unapproved"), [""; 0]);
    let own = folder.path().to_str().unwrap();
    let said = logged("clip `up`").into_iter();
    assert_messages(
        "a clip outside a folder that is outside",
        said.map(|said| said.replace(own, "elsewhere")),
    );
}

#[test]
fn a_limit_on_file_sizes_holds_for_files_that_a_manifest_names() {
    let folder = folder();
    write(folder.path(), "one.character.ron", MANIFEST);
    let size = |name: &str| fs::metadata(folder.path().join(name)).unwrap().len();
    let (model, clip) = (
        size("chain.md5mesh"),
        size("walk.md5anim").max(size("idle.md5anim")),
    );
    assert!(model > clip);
    for (limit, loads) in [(model - 1, false), (model, true)] {
        let mut app = TestApp::with_files(folder.path());
        let settings =
            move |settings: &mut CharacterLoaderSettings| settings.import.limits.file_bytes = limit;
        let handle: Handle<Character> = app
            .server()
            .load_builder()
            .with_settings(settings)
            .load("one.character.ron");
        if loads {
            app.wait_for(&handle);
        } else {
            let message = app.wait_for_failure(&handle);
            assert!(message.contains("`file_bytes`"), "{message}");
        }
    }
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_not_read() {
    let folder = folder();
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("endless.md5anim")).unwrap();
    let pipe = folder.path().join("pipe.md5anim");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(pipe)
            .status()
            .unwrap()
            .success()
    );
    let manifest = "(model: \"chain.m3d\", clips: {
        \"endless\": (file: \"endless.md5anim\"), \"pipe\": (file: \"pipe.md5anim\"), \"null\": (file: \"/dev/null\"),
    })";
    write(folder.path(), "odd.character.ron", manifest);
    let unapproved_path_mode = UnapprovedPathMode::Allow;
    let mut app = TestApp::with_assets(AssetPlugin {
        unapproved_path_mode,
        ..asset_folder(folder.path())
    });
    let handle: Handle<Character> = app.server().load("odd.character.ron");
    app.wait_for(&handle);
    for name in ["endless.md5anim", "pipe.md5anim", "/dev/null"] {
        assert_messages(
            &format!("not a regular file: {name}"),
            logged(&format!("`{name}`")),
        );
    }
}

#[test]
fn a_character_is_reloaded_when_a_file_that_its_manifest_names_changes() {
    let folder = folder();
    write(folder.path(), "one.character.ron", MANIFEST);
    let watched = AssetPlugin {
        watch_for_changes_override: Some(true),
        ..asset_folder(folder.path())
    };
    let mut app = TestApp::with_assets(watched);
    let handle: Handle<Character> = app.server().load("one.character.ron");
    app.wait_for(&handle);
    let duration = |app: &TestApp| {
        app.asset(&handle)
            .unwrap()
            .clip("walk")
            .unwrap()
            .timing
            .duration
    };
    assert!((duration(&app) - 1.0).abs() < 1e-3);
    // `idle` lasts four seconds, and now is the walk.
    fs::copy(
        folder.path().join("idle.md5anim"),
        folder.path().join("walk.md5anim"),
    )
    .unwrap();
    app.wait("a reload", |app| (duration(app) - 4.0).abs() < 1e-3);
}
