//! Characters from files of all kinds, written here by the crate's own writers.

use super::{
    messages::{assert_message, assert_messages},
    support::*,
};
use bevy::{
    asset::{LoadState, prelude::AssetChanged},
    image::{CompressedImageFormats, ImageLoader},
    prelude::*,
};
use bevy_marionette::{
    asset::{
        Character, CharacterAssetLabel, CharacterLoaderSettings, CharacterPart, CharactersLoaded,
        ClipAsset, TextureMode,
    },
    character::CharacterFailed,
    internals::{
        format::{m3d, md5},
        import::{to_m3d, to_md5_anim, to_md5_mesh},
    },
    model::{Material, Model, PlaybackMode},
    prelude::*,
};
use std::{fs, path::Path, sync::Arc};
use tempfile::TempDir;

pub fn write(folder: &Path, file: &str, bytes: impl AsRef<[u8]>) {
    fs::write(folder.join(file), bytes).unwrap();
}

/// The chain in two parts of different materials, with maps as named.
pub fn textured(base_color: &str, normal: &str) -> Model {
    let map = |name: &str| (!name.is_empty()).then(|| name.to_owned());
    let mut model = chain(&clips());
    model.parts.push(strip("second", 1));
    model.materials = vec![
        Material {
            name: "skin".into(),
            base_color_map: map(base_color),
            normal_map: map(normal),
            ..Material::default()
        },
        Material {
            name: "cloth".into(),
            base_color: [0.5, 0.25, 0.125, 1.0],
            ..Material::default()
        },
    ];
    model
}

/// A folder with `chain.m3d`, `chain.md5mesh`, `walk.md5anim` and `idle.md5anim`.
pub fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let model = textured("", "");
    write(folder.path(), "chain.m3d", m3d::write(&to_m3d(&model)));
    write(
        folder.path(),
        "chain.md5mesh",
        md5::write_mesh(&to_md5_mesh(&model)),
    );
    for clip in model
        .clips
        .iter()
        .filter(|clip| ["walk", "idle"].contains(&&*clip.timing.name))
    {
        let anim = to_md5_anim(clip, &model.skeleton);
        write(
            folder.path(),
            &format!("{}.md5anim", clip.timing.name),
            md5::write_anim(&anim),
        );
    }
    folder
}

pub const MANIFEST: &str = r#"(
    model: "chain.md5mesh",
    clips: {
        "walk": (file: "walk.md5anim", playback: PingPong, callbacks: [
            (time: 0.25, name: "footstep", data: "left"),
        ]),
        "stroll": (file: "idle.md5anim"),
    },
    masks: { "arm": (roots: ["elbow"]) },
    sockets: { "grip": (joint: "hand", translation: (0, 0.5, 0)) },
)"#;

/// An image of one color that any TGA loader reads.
pub fn tga(width: u8, height: u8) -> Vec<u8> {
    let mut file = vec![
        0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, width, 0, height, 0, 32, 8,
    ];
    file.extend([10, 20, 30, 255].repeat(usize::from(width) * usize::from(height)));
    file
}

/// Lets an app load images, as Bevy's own plugins do.
pub fn load_images(app: &mut TestApp) {
    app.app
        .register_asset_loader(ImageLoader::new(CompressedImageFormats::NONE));
}

#[test]
fn an_m3d_is_a_character_by_itself_and_its_parts_have_labels() {
    let folder = folder();
    let mut app = TestApp::with_files(folder.path());
    let handle: Handle<Character> = app.server().load("chain.m3d");
    app.wait_for(&handle);
    let character = app.asset(&handle).unwrap().clone();
    assert_eq!(
        (
            character.skeleton.len(),
            character.parts.len(),
            character.clips.len()
        ),
        (3, 2, 5)
    );
    let label = |label: CharacterAssetLabel| label.from_asset("chain.m3d");
    let server = app.server().clone();
    for (index, part) in character.parts.iter().enumerate() {
        assert_eq!(part.material_type.as_deref(), Some("Skinned"));
        assert_eq!(
            server
                .load::<Mesh>(label(CharacterAssetLabel::Mesh(index)))
                .id(),
            part.mesh.id()
        );
        assert_eq!(
            server
                .load::<StandardMaterial>(label(CharacterAssetLabel::Material(index)))
                .id(),
            part.material.id()
        );
        let by_name: Handle<CharacterPart> =
            server.load(label(CharacterAssetLabel::Part(part.name.clone())));
        assert_eq!(app.asset(&by_name).unwrap().mesh, part.mesh);
        assert!(app.asset(&part.mesh).is_some());
    }
    let cloth = app
        .asset(&character.parts[1].material)
        .unwrap()
        .base_color
        .to_linear();
    assert!(
        (cloth.red - 0.5).abs() < 1e-3 && (cloth.blue - 0.125).abs() < 1e-3,
        "{cloth:?}"
    );
    let clip: Handle<ClipAsset> = server.load(label(CharacterAssetLabel::Clip("walk".into())));
    assert_eq!(app.asset(&clip).unwrap().timing.duration, 1.0);
    let entity = app.spawn(&handle, "walk");
    app.update(0.5);
    assert_eq!(app.parts(entity).len(), 2);
    assert_eq!(app.words(None), ["started"]);
}

#[test]
fn a_label_can_be_asked_for_before_the_character_is() {
    let folder = folder();
    let mut app = TestApp::with_files(folder.path());
    let mesh: Handle<Mesh> = app
        .server()
        .load(CharacterAssetLabel::Mesh(1).from_asset("chain.m3d"));
    app.wait_for(&mesh);
    let clip: Handle<ClipAsset> = app
        .server()
        .load(CharacterAssetLabel::Clip("jump".into()).from_asset("chain.m3d"));
    app.wait_for(&clip);
    let handle: Handle<Character> = app.server().load("chain.m3d");
    app.wait_for(&handle);
    app.wait("all loads", |app| {
        app.server().is_loaded_with_dependencies(&handle)
    });
    assert_eq!(app.asset(&handle).unwrap().parts[1].mesh, mesh);
}

#[test]
fn a_manifest_joins_model_clips_masks_sockets_and_callbacks() {
    let folder = folder();
    write(folder.path(), "one.character.ron", MANIFEST);
    let mut app = TestApp::with_files(folder.path());
    let handle: Handle<Character> = app.server().load("one.character.ron");
    app.wait_for(&handle);
    let character = app.asset(&handle).unwrap();
    let names: Vec<_> = character
        .clip_names()
        .map(|name| name.to_string())
        .collect();
    assert_eq!(names, ["stroll", "walk"]);
    assert_eq!(
        character.clip("walk").unwrap().timing.playback,
        PlaybackMode::PingPong
    );
    assert_eq!(
        character.masks["arm"].iter().take(3).collect::<Vec<_>>(),
        [0.0, 1.0, 1.0]
    );
    assert_eq!(character.sockets["grip"].joint, 2);
    assert_eq!(character.socket("hand").unwrap().joint, 2);
    let entity = app.spawn(&handle, "walk");
    app.update(2.0);
    assert_eq!(
        app.words(Some(entity))
            .iter()
            .filter(|w| *w == "footstep")
            .count(),
        2
    );
}

#[test]
fn a_bare_md5mesh_takes_its_clips_and_scale_from_the_settings() {
    let folder = folder();
    let mut app = TestApp::with_files(folder.path());
    let load = |app: &TestApp, scale: f32, path: &'static str| -> Handle<Character> {
        let settings = move |settings: &mut CharacterLoaderSettings| {
            settings.import.scale = scale;
            settings.clips = vec!["walk.md5anim".into(), "idle.md5anim".into()];
        };
        app.server()
            .load_builder()
            .with_settings(settings)
            .load(path)
    };
    let handle = load(&app, 2.0, "chain.md5mesh");
    app.wait_for(&handle);
    let character = app.asset(&handle).unwrap();
    assert_eq!(
        character
            .clip_names()
            .map(|n| n.to_string())
            .collect::<Vec<_>>(),
        ["idle", "walk"]
    );
    let height = character.rest_bounds().unwrap().max().y;
    assert!((height - 4.0).abs() < 1e-4, "{height}");
    let elbow = character.skeleton.rest_model()[1].translation;
    assert!((elbow.y - 2.0).abs() < 1e-4, "{elbow}");
}

#[test]
fn hand_and_up_axis_of_the_settings_turn_the_model() {
    let folder = folder();
    let mut app = TestApp::with_files(folder.path());
    let settings = |settings: &mut CharacterLoaderSettings| {
        settings.import.hand = bevy_marionette::import::Hand::Right;
        settings.import.up = bevy_marionette::import::UpAxis::Z;
    };
    let handle: Handle<Character> = app
        .server()
        .load_builder()
        .with_settings(settings)
        .load("chain.m3d");
    app.wait_for(&handle);
    // (x, y, z) → (−y, z, −x): what was up lies along −X.
    let elbow = app.asset(&handle).unwrap().skeleton.rest_model()[1].translation;
    assert!(elbow.abs_diff_eq(glam::Vec3A::NEG_X, 1e-5), "{elbow}");
}

#[test]
fn an_md5anim_is_a_clip_by_itself() {
    let folder = folder();
    let mut app = TestApp::with_files(folder.path());
    let handle: Handle<ClipAsset> = app.server().load("walk.md5anim");
    app.wait_for(&handle);
    let clip = app.asset(&handle).unwrap();
    assert_eq!((&*clip.timing.name, clip.joints().len()), ("walk", 3));
    assert!(
        (clip.timing.duration - 1.0).abs() < 1e-3,
        "{}",
        clip.timing.duration
    );
}

#[test]
fn an_unknown_field_fails_the_load_with_file_line_and_column() {
    let folder = folder();
    write(
        folder.path(),
        "typo.character.ron",
        "(\n    model: \"chain.m3d\",\n    scael: 2.0,\n)",
    );
    let mut app = TestApp::with_files(folder.path());
    let handle = app.server().load("typo.character.ron");
    let entity = app.spawn(&handle, "walk");
    let message = app.wait_for_failure(&handle);
    assert!(
        message.contains("typo.character.ron:3:") && message.contains("scael"),
        "{message}"
    );
    assert!(app.parts(entity).is_empty());
}

#[test]
fn a_broken_model_fails_the_load_with_file_line_and_column() {
    let folder = folder();
    let text = fs::read_to_string(folder.path().join("chain.m3d")).unwrap();
    let at = text.find("Position:").unwrap();
    write(folder.path(), "cut.m3d", &text[..at + 12]);
    write(folder.path(), "cut.character.ron", "(model: \"cut.m3d\")");
    write(folder.path(), "none.character.ron", "(model: \"none.m3d\")");
    let mut app = TestApp::with_files(folder.path());
    for name in ["cut.m3d", "cut.character.ron"] {
        let handle = app.server().load(name);
        let message = app.wait_for_failure(&handle);
        let line = text[..at].lines().count() + 1;
        assert!(message.contains(&format!("cut.m3d:{line}:")), "{message}");
    }
    let handle = app.server().load("none.character.ron");
    let message = app.wait_for_failure(&handle);
    assert!(message.contains("none.m3d"), "{message}");
}

#[test]
fn a_broken_clip_file_costs_that_clip_only_and_is_said() {
    let folder = folder();
    write(
        folder.path(),
        "bad_stride.md5anim",
        "MD5Version 10\ncommandline \"\"\nnumFrames x\n",
    );
    let text = r#"(model: "chain.md5mesh", clips: {
        "walk": (file: "walk.md5anim"),
        "bad": (file: "bad_stride.md5anim"),
        "gone": (file: "gone_stride.md5anim"),
    })"#;
    write(folder.path(), "some.character.ron", text);
    let mut app = TestApp::with_files(folder.path());
    let handle: Handle<Character> = app.server().load("some.character.ron");
    app.wait_for(&handle);
    let names: Vec<_> = app
        .asset(&handle)
        .unwrap()
        .clip_names()
        .map(|n| n.to_string())
        .collect();
    assert_eq!(names, ["walk"]);
    let said = logged("bad_stride.md5anim:3:");
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(logged("gone_stride.md5anim").len(), 1);
    let entity = app.spawn(&handle, "walk");
    app.update(0.1);
    assert_eq!(app.parts(entity).len(), 2);
}

#[test]
fn a_texture_that_is_not_there_leaves_a_plain_material_and_one_warning() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "bare.m3d",
        m3d::write(&to_m3d(&textured(
            "hide_and_seek.dds",
            "hide_and_seek_nmap.dds",
        ))),
    );
    let mut app = TestApp::with_files(folder.path());
    load_images(&mut app);
    let handle: Handle<Character> = app.server().load("bare.m3d");
    app.wait_for(&handle);
    let material = app
        .asset(&app.asset(&handle).unwrap().parts[0].material)
        .unwrap();
    assert!(material.base_color_texture.is_none() && material.normal_map_texture.is_none());
    let said = logged("hide_and_seek");
    assert_eq!(said.len(), 1, "{said:?}");
    let entity = app.spawn(&handle, "walk");
    app.update(0.1);
    assert_eq!(app.parts(entity).len(), 2);
}

#[test]
fn a_texture_that_cannot_be_read_costs_only_itself() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "torn.m3d",
        m3d::write(&to_m3d(&textured("torn_hide.tga", ""))),
    );
    write(folder.path(), "torn_hide.tga", b"no picture");
    // The texture may fail before the character is there or after: many tries meet both.
    for _ in 0..10 {
        let mut app = TestApp::with_files(folder.path());
        load_images(&mut app);
        let handle: Handle<Character> = app.server().load("torn.m3d");
        let entity = app.spawn(&handle, "walk");
        app.wait_for(&handle);
        app.update(0.1);
        assert_eq!(app.parts(entity).len(), 2);
        let material = app.asset(&handle).unwrap().parts[0].material.clone();
        app.wait("a plain material", |app| {
            app.asset(&material).unwrap().base_color_texture.is_none()
        });
    }
    let said = said("torn_hide.tga");
    assert_eq!(said.len(), 10, "{said:?}");
    said.iter()
        .for_each(|said| assert_message("a texture that cannot be read", said));
}

#[test]
fn a_texture_is_found_whatever_its_case_and_kept_when_it_loads() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "good.m3d",
        m3d::write(&to_m3d(&textured("Hide.TGA", ""))),
    );
    write(folder.path(), "hide.tga", tga(1, 1));
    let mut app = TestApp::with_files(folder.path());
    load_images(&mut app);
    let handle: Handle<Character> = app.server().load("good.m3d");
    app.wait_for(&handle);
    let material = app.asset(&handle).unwrap().parts[0].material.clone();
    let map = app
        .asset(&material)
        .unwrap()
        .base_color_texture
        .clone()
        .unwrap();
    app.wait("the texture", |app| {
        !matches!(app.server().load_state(&map), LoadState::Loading)
    });
    (0..3).for_each(|_| app.update(0.1));
    assert_eq!(
        app.asset(&material).unwrap().base_color_texture.as_ref(),
        Some(&map)
    );
    assert_eq!(app.asset(&map).unwrap().size(), UVec2::ONE);
    // A bad save keeps the last good picture.
    write(folder.path(), "hide.tga", b"half a picture");
    let before = app.asset(&handle).unwrap().skeleton.clone();
    app.server().reload("good.m3d");
    app.wait("another version", |app| {
        !Arc::ptr_eq(&app.asset(&handle).unwrap().skeleton, &before)
    });
    (0..3).for_each(|_| app.update(0.1));
    assert_eq!(
        app.asset(&material).unwrap().base_color_texture.as_ref(),
        Some(&map)
    );
    assert_eq!(app.asset(&map).unwrap().size(), UVec2::ONE);
    let said = said("hide.tga").into_iter();
    assert_messages(
        "a texture that cannot be read any longer",
        said.filter(|said| said.starts_with("hide.tga")),
    );
    // A good one replaces it, under the same handle.
    write(folder.path(), "hide.tga", tga(2, 2));
    app.server().reload("good.m3d");
    app.wait("the new picture", |app| {
        app.asset(&map).unwrap().size() == UVec2::splat(2)
    });
}

#[test]
fn textures_get_mip_levels_once_for_all_materials_that_share_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = textured("hide.tga", "bumps.tga");
    model.materials[1].base_color_map = Some("HIDE.tga".into());
    write(folder.path(), "mipped.m3d", m3d::write(&to_m3d(&model)));
    write(folder.path(), "hide.tga", tga(16, 4));
    write(folder.path(), "bumps.tga", tga(8, 8));
    let mut app = TestApp::with_files(folder.path());
    load_images(&mut app);
    let handle: Handle<Character> = app.server().load("mipped.m3d");
    app.wait_for(&handle);
    let parts = app.asset(&handle).unwrap().parts.clone();
    let [skin, cloth] = [0, 1].map(|part| app.asset(&parts[part].material).unwrap().clone());
    let (hide, bumps) = (
        skin.base_color_texture.unwrap(),
        skin.normal_map_texture.unwrap(),
    );
    assert_eq!(cloth.base_color_texture.as_ref(), Some(&hide));
    assert_eq!(
        app.asset(&hide).unwrap().texture_descriptor.mip_level_count,
        5
    );
    assert!(
        app.asset(&hide)
            .unwrap()
            .texture_descriptor
            .format
            .is_srgb()
    );
    assert_eq!(
        app.asset(&bumps)
            .unwrap()
            .texture_descriptor
            .mip_level_count,
        4
    );
    assert!(
        !app.asset(&bumps)
            .unwrap()
            .texture_descriptor
            .format
            .is_srgb()
    );
    let path = hide.path().unwrap().to_string();
    assert_eq!(path, "mipped.m3d#Texture/hide.tga");

    let settings =
        |settings: &mut CharacterLoaderSettings| settings.textures = TextureMode::LoadAsTheyAre;
    let mut app = TestApp::with_files(folder.path());
    load_images(&mut app);
    let handle: Handle<Character> = app
        .server()
        .load_builder()
        .with_settings(settings)
        .load("mipped.m3d");
    app.wait_for(&handle);
    let material = app.asset(&handle).unwrap().parts[0].material.clone();
    let hide = app
        .asset(&material)
        .unwrap()
        .base_color_texture
        .clone()
        .unwrap();
    app.wait("the texture", |app| app.asset(&hide).is_some());
    assert_eq!(
        app.asset(&hide).unwrap().texture_descriptor.mip_level_count,
        1
    );
    assert_eq!(hide.path().unwrap().to_string(), "hide.tga");
}

#[test]
fn textures_that_are_too_large_together_are_loaded_without_mip_levels() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "mipped.m3d",
        m3d::write(&to_m3d(&textured("hide.tga", "bumps.tga"))),
    );
    let picture = tga(128, 128);
    write(folder.path(), "hide.tga", &picture);
    write(folder.path(), "bumps.tga", &picture);
    let limit = 2 * picture.len() as u64;
    for (limit, expected) in [(limit, true), (limit - 1, false)] {
        let mut app = TestApp::with_files(folder.path());
        load_images(&mut app);
        let settings =
            move |settings: &mut CharacterLoaderSettings| settings.import.limits.file_bytes = limit;
        let handle: Handle<Character> = app
            .server()
            .load_builder()
            .with_settings(settings)
            .load("mipped.m3d");
        app.wait_for(&handle);
        let skin = app
            .asset(&app.asset(&handle).unwrap().parts[0].material.clone())
            .unwrap()
            .clone();
        let textures = [
            skin.base_color_texture.unwrap(),
            skin.normal_map_texture.unwrap(),
        ];
        app.wait("the textures", |app| {
            textures.iter().all(|texture| app.asset(texture).is_some())
        });
        let have_levels = |texture: &Handle<Image>| {
            app.asset(texture)
                .unwrap()
                .texture_descriptor
                .mip_level_count
                == 8
        };
        assert_eq!(textures.iter().all(have_levels), expected, "{limit}");
    }
}

#[test]
fn textures_can_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "server.m3d",
        m3d::write(&to_m3d(&textured("server_side.tga", ""))),
    );
    write(folder.path(), "server_side.tga", b"no picture");
    let mut app = TestApp::with_files(folder.path());
    load_images(&mut app);
    let settings = |settings: &mut CharacterLoaderSettings| settings.textures = TextureMode::Ignore;
    let handle: Handle<Character> = app
        .server()
        .load_builder()
        .with_settings(settings)
        .load("server.m3d");
    app.wait_for(&handle);
    app.wait("all loads", |app| {
        app.server().is_loaded_with_dependencies(&handle)
    });
    assert!(logged("server_side").is_empty());
}

#[test]
fn an_app_that_cannot_load_images_leaves_textures_out_without_a_word() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "headless.m3d",
        m3d::write(&to_m3d(&textured("headless_hide.tga", "headless_nmap.dds"))),
    );
    write(folder.path(), "headless_hide.tga", tga(1, 1));
    let mut app = TestApp::with_files(folder.path());
    let handle: Handle<Character> = app.server().load("headless.m3d");
    app.wait_for(&handle);
    app.wait("all loads", |app| {
        app.server().is_loaded_with_dependencies(&handle)
    });
    assert_eq!(logged("headless"), [""; 0]);
}

#[test]
fn parts_of_one_name_have_labels_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = textured("", "");
    model.parts[1].name = "strip".into();
    write(
        folder.path(),
        "twins.md5mesh",
        md5::write_mesh(&to_md5_mesh(&model)),
    );
    let mut app = TestApp::with_files(folder.path());
    let handle: Handle<Character> = app.server().load("twins.md5mesh");
    app.wait_for(&handle);
    let parts = &app.asset(&handle).unwrap().parts;
    assert_ne!(parts[0].name, parts[1].name);
    assert_ne!(parts[0].mesh, parts[1].mesh);
}

#[test]
fn an_asset_that_fails_is_reported_to_each_of_its_characters_once() {
    #[derive(Resource, Default)]
    struct Failed(Vec<(Entity, String)>);
    let folder = folder();
    write(folder.path(), "reported.character.ron", "(model: 3)");
    let mut app = TestApp::with_files(folder.path());
    app.world().init_resource::<Failed>();
    app.app.add_message::<CharacterFailed>().add_observer(
        |event: On<CharacterFailed>, mut failed: ResMut<Failed>| {
            failed.0.push((event.entity, own_words(&event.error)));
        },
    );
    let handle: Handle<Character> = app.server().load("reported.character.ron");
    let waiting = [(); 2].map(|()| app.spawn(&handle, "walk"));
    let other = app.spawn(&Handle::default(), "walk");
    let text = app.wait_for_failure(&handle);
    // One that comes too late hears of it too.
    let late = app.spawn(&handle, "walk");
    (0..3).for_each(|_| app.update(0.1));
    let failed = &app.world().resource::<Failed>().0;
    let mut heard: Vec<Entity> = failed.iter().map(|(entity, _)| *entity).collect();
    heard.sort();
    let mut expected = vec![waiting[0], waiting[1], late];
    expected.sort();
    assert_eq!(heard, expected);
    assert!(
        failed
            .iter()
            .all(|(_, error)| *error == text && error.contains("reported.character.ron")),
        "{failed:?}"
    );
    assert!(app.is_alive(other));
    assert_eq!(app.world().resource::<Heard>().ready, []);
}

#[test]
fn an_event_says_when_everything_is_loaded_and_again_when_more_is() {
    #[derive(Resource, Default)]
    struct Loaded(Vec<usize>);
    let folder = folder();
    write(folder.path(), "chain.character.ron", MANIFEST);
    write(folder.path(), "broken.m3d", "nothing");
    let mut app = TestApp::with_files(folder.path());
    app.world().init_resource::<Loaded>();
    let note =
        |_: On<CharactersLoaded>, all: Res<Assets<Character>>, mut loaded: ResMut<Loaded>| {
            loaded.0.push(all.iter().count());
        };
    app.app.add_observer(note);
    let loaded = |app: &TestApp| app.app.world().resource::<Loaded>().0.clone();
    (0..5).for_each(|_| app.update(0.0));
    assert!(loaded(&app).is_empty(), "nothing was asked for");
    let _two: [Handle<Character>; 2] =
        ["chain.m3d", "chain.character.ron"].map(|file| app.server().load(file));
    app.wait("two characters", |app| !loaded(app).is_empty());
    (0..5).for_each(|_| app.update(0.0));
    assert_eq!(loaded(&app), [2], "once, and both are here");
    // One that fails ends the waiting, too.
    let _more: [Handle<Character>; 2] =
        ["chain.md5mesh", "broken.m3d"].map(|file| app.server().load(file));
    app.wait("one more", |app| loaded(app).len() > 1);
    (0..5).for_each(|_| app.update(0.0));
    assert_eq!(loaded(&app), [2, 3]);
}

#[test]
fn a_query_finds_characters_whose_asset_changed() {
    #[derive(Resource, Default)]
    struct Changed(Vec<Entity>);
    let (mut app, handle, entity) = TestApp::playing("walk");
    app.spawn(&handle, "idle");
    let other = app.add(chain(&clips()), &manifest());
    let other = app.world().spawn(SkinnedCharacter::from(other)).id();
    app.world().init_resource::<Changed>();
    app.app.add_systems(
        Last,
        |all: Query<Entity, AssetChanged<SkinnedCharacter>>, mut changed: ResMut<Changed>| {
            changed.0.extend(&all)
        },
    );
    (0..3).for_each(|_| app.update(0.0));
    app.world().resource_mut::<Changed>().0.clear();
    app.world()
        .resource_mut::<Assets<Character>>()
        .get_mut(&handle)
        .unwrap()
        .remove_clip("jump");
    app.update(0.0);
    let changed = &app.world().resource::<Changed>().0;
    assert!(
        changed.len() == 2 && changed.contains(&entity) && !changed.contains(&other),
        "{changed:?}"
    );
}

// ---- processed assets -----------------------------------------------------------------------------

#[test]
fn with_processed_assets_a_manifest_and_its_files_come_from_the_processed_folder() {
    let source = tempfile::tempdir().unwrap();
    let processed = folder();
    write(processed.path(), "one.character.ron", MANIFEST);
    let mut app = TestApp::with_assets(AssetPlugin {
        mode: AssetMode::Processed,
        processed_file_path: processed.path().to_str().unwrap().to_owned(),
        // They have been processed before the game was shipped.
        use_asset_processor_override: Some(false),
        ..asset_folder(source.path())
    });
    let handle: Handle<Character> = app.server().load("one.character.ron");
    app.wait_for(&handle);
    let character = app.asset(&handle).unwrap();
    assert!(character.clip("walk").is_some() && character.clip("stroll").is_some());
    assert!(character.socket("grip").is_some());
    // Nothing of it is in the folder that it was made from.
    let handle: Handle<Character> = app.server().load("two.character.ron");
    write(source.path(), "two.character.ron", MANIFEST);
    assert!(app.wait_for_failure(&handle).contains("two.character.ron"));
}
