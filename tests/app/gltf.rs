//! Characters from `.glb` and `.gltf` files, written here by the crate's own writer.

use super::{
    loading::{load_images, textured, write},
    messages::assert_message,
    support::*,
};
use bevy::{
    asset::{AssetLoader, LoadContext, io::Reader},
    image::{ImageAddressMode, ImageFilterMode, ImageSampler},
    math::Affine2,
    prelude::*,
};
use bevy_marionette::{
    asset::{Character, CharacterAssetLabel, CharacterLoaderSettings, TextureMode},
    internals::{
        import::{GlbTexture, TextureMap, to_glb},
        model::{Maps, Sampler, TextureFilter, TextureWrap, UvTransform},
    },
    model::{Model, PlaybackMode},
    prelude::*,
};
use serde_json::{Value, json};
use std::{convert::Infallible, fs, io::Cursor, sync::Arc};

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let pixels = image::RgbaImage::from_fn(width, height, |x, y| {
        image::Rgba([x as u8 * 9, y as u8 * 9, 200, 255])
    });
    pixels.write_to(&mut file, image::ImageFormat::Png).unwrap();
    file.into_inner()
}

/// The textured chain with all maps that a material can have.
pub fn model() -> Model {
    let mut model = textured("skin.png", "bumps.png");
    let skin = &mut model.materials[0];
    skin.metallic = 0.75;
    skin.roughness = 0.5;
    skin.emissive = [2.0, 1.0, 0.0];
    skin.double_sided = true;
    skin.alpha_cutoff = Some(0.25);
    skin.metallic_roughness_map = Some("orm.png".into());
    skin.occlusion_map = Some("orm.png".into());
    skin.emissive_map = Some("radiance.png".into());
    skin.uv_transform = UvTransform {
        offset: [0.5, 0.25],
        rotation: 0.5,
        scale: [2.0, 3.0],
    };
    skin.samplers = Maps::all(Sampler {
        wrap_u: TextureWrap::Clamp,
        magnify: TextureFilter::Nearest,
        ..Sampler::default()
    });
    let cloth = &mut model.materials[1];
    (cloth.alpha_blend, cloth.unlit) = (true, true);
    model
}

/// With the images of the maps inside, 8 texels wide and as high as their names are long.
pub fn glb(model: &Model) -> Vec<u8> {
    let texture = |material: &bevy_marionette::model::Material, map: TextureMap| {
        map.of(material)
            .map(|name| GlbTexture::Png(png(8, name.len() as u32)))
    };
    to_glb("chain.glb", model, None, texture).unwrap().value
}

/// Takes a `.glb` apart.
pub fn split(glb: &[u8]) -> (Value, Vec<u8>) {
    let size = |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().unwrap()) as usize;
    let json = 20..20 + size(12);
    let blob = json.end + 8..json.end + 8 + size(json.end);
    (
        serde_json::from_slice(&glb[json]).unwrap(),
        glb[blob].to_vec(),
    )
}

fn material(app: &TestApp, handle: &Handle<Character>, part: usize) -> StandardMaterial {
    app.asset(&app.asset(handle).unwrap().parts[part].material)
        .unwrap()
        .clone()
}

#[test]
fn a_glb_comes_with_its_materials_textures_clips_and_callbacks() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "chain.glb", glb(&model()));
    let mut app = TestApp::with_files(folder.path());
    load_images(&mut app);
    let handle: Handle<Character> = app.server().load("chain.glb");
    app.wait_for(&handle);
    app.wait("all loads", |app| {
        app.server().is_loaded_with_dependencies(&handle)
    });

    let skin = material(&app, &handle, 0);
    assert_eq!(
        (skin.metallic, skin.perceptual_roughness, skin.double_sided),
        (0.75, 0.5, true)
    );
    assert_eq!(
        (skin.emissive, skin.alpha_mode),
        (LinearRgba::rgb(2.0, 1.0, 0.0), AlphaMode::Mask(0.25))
    );
    assert!(!skin.flip_normal_map_y && !skin.unlit && skin.cull_mode.is_none());
    // As Bevy's own loader converts the transform: counterclockwise in the image is clockwise in V down.
    let uv = Affine2::from_scale_angle_translation(Vec2::new(2.0, 3.0), -0.5, Vec2::new(0.5, 0.25));
    assert_eq!(skin.uv_transform, uv);
    let cloth = material(&app, &handle, 1);
    assert_eq!(
        (cloth.alpha_mode, cloth.unlit, cloth.uv_transform),
        (AlphaMode::Blend, true, Affine2::IDENTITY)
    );
    assert!(cloth.base_color_texture.is_none());

    assert_eq!(skin.metallic_roughness_texture, skin.occlusion_texture);
    for (texture, is_srgb, name) in [
        (&skin.base_color_texture, true, "skin.png"),
        (&skin.normal_map_texture, false, "bumps.png"),
        (&skin.metallic_roughness_texture, false, "orm.png"),
        (&skin.emissive_texture, true, "radiance.png"),
    ] {
        let texture = texture.as_ref().unwrap();
        assert_eq!(
            texture.path().unwrap().to_string(),
            format!("chain.glb#Texture/{name}")
        );
        let image = app.asset(texture).unwrap();
        let descriptor = &image.texture_descriptor;
        assert_eq!(image.size(), UVec2::new(8, name.len() as u32));
        assert_eq!(
            (descriptor.format.is_srgb(), descriptor.mip_level_count),
            (is_srgb, 4),
            "{name}"
        );
        let ImageSampler::Descriptor(sampler) = &image.sampler else {
            panic!("{name}")
        };
        assert_eq!(
            (sampler.address_mode_u, sampler.mag_filter),
            (ImageAddressMode::ClampToEdge, ImageFilterMode::Nearest)
        );
        assert_eq!(
            (sampler.address_mode_v, sampler.min_filter),
            (ImageAddressMode::Repeat, ImageFilterMode::Linear)
        );
    }

    let character = app.asset(&handle).unwrap();
    assert_eq!(
        (
            character.skeleton.len(),
            character.parts.len(),
            character.clips.len()
        ),
        (3, 2, 5)
    );
    let mesh = app.asset(&character.parts[0].mesh).unwrap();
    assert!(
        mesh.contains_attribute(Mesh::ATTRIBUTE_TANGENT)
            && !mesh.contains_attribute(Mesh::ATTRIBUTE_COLOR)
    );
    let entity = app.spawn(&handle, "walk");
    app.update(0.8);
    assert_eq!(app.words(Some(entity)), ["started", "left", "right"]);
}

#[test]
fn vertex_colors_are_part_of_the_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = textured("", "");
    model.parts[0].colors = vec![Vec4::new(0.25, 0.5, 1.0, 1.0); model.parts[0].positions.len()];
    write(folder.path(), "painted.glb", glb(&model));
    let mut app = TestApp::with_files(folder.path());
    let handle: Handle<Character> = app.server().load("painted.glb");
    app.wait_for(&handle);
    let parts = app.asset(&handle).unwrap().parts.clone();
    let colored = [0, 1].map(|part| {
        app.asset(&parts[part].mesh)
            .unwrap()
            .contains_attribute(Mesh::ATTRIBUTE_COLOR)
    });
    assert_eq!(colored, [true, false]);
}

#[test]
fn a_gltf_takes_buffers_and_images_from_files_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("art/from/blender");
    fs::create_dir_all(&deep).unwrap();
    write(&deep, "my skin.png", png(4, 4));
    let texture = |material: &bevy_marionette::model::Material, map: TextureMap| {
        (map.of(material)? == "skin.png")
            .then(|| GlbTexture::File("art/from/blender/my skin.png".into()))
    };
    let (mut json, blob) = split(
        &to_glb("chain.glb", &textured("skin.png", ""), None, texture)
            .unwrap()
            .value,
    );
    json["buffers"][0]["uri"] = json!("art/chain%20data.bin");
    write(folder.path(), "chain.gltf", json.to_string());
    write(folder.path(), "art/chain data.bin", &blob);
    write(
        folder.path(),
        "chain.character.ron",
        "(model: \"chain.gltf\", scale: 2.0)",
    );
    for (path, height) in [("chain.gltf", 2.0), ("chain.character.ron", 4.0)] {
        let mut app = TestApp::with_files(folder.path());
        load_images(&mut app);
        let handle: Handle<Character> = app.server().load(path);
        app.wait_for(&handle);
        let texture = material(&app, &handle, 0).base_color_texture.unwrap();
        app.wait("the texture", |app| app.asset(&texture).is_some());
        assert_eq!(
            app.asset(&texture)
                .unwrap()
                .texture_descriptor
                .mip_level_count,
            3
        );
        let character = app.asset(&handle).unwrap();
        assert!((character.rest_bounds().unwrap().max().y - height).abs() < 1e-5);
    }

    fs::remove_file(folder.path().join("art/chain data.bin")).unwrap();
    let mut app = TestApp::with_files(folder.path());
    let handle = app.server().load("chain.gltf");
    let message = app.wait_for_failure(&handle);
    assert!(message.contains("`art/chain data.bin`"), "{message}");
}

#[test]
fn a_map_that_cannot_be_loaded_costs_only_itself_whichever_it_is() {
    let maps = |skin: &StandardMaterial| {
        [
            skin.base_color_texture.clone(),
            skin.normal_map_texture.clone(),
            skin.metallic_roughness_texture.clone(),
            skin.occlusion_texture.clone(),
            skin.emissive_texture.clone(),
        ]
    };
    // Each map in turn is torn, or of a format that the app has no loader for, which is what Bevy's default features are
    // for JPEG.
    for (lost, map) in TextureMap::ALL
        .into_iter()
        .filter(|map| *map != TextureMap::Specular)
        .enumerate()
    {
        for (kind, mode) in [
            ("png", TextureMode::Load),
            ("jpg", TextureMode::Load),
            ("png", TextureMode::LoadAsTheyAre),
            ("jpg", TextureMode::LoadAsTheyAre),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let file = |of: TextureMap| format!("{of:?}.{}", if of == map { kind } else { "png" });
            let texture = |material: &bevy_marionette::model::Material, map: TextureMap| {
                map.of(material).map(|_| GlbTexture::File(file(map)))
            };
            let mut model = model();
            model.materials[0].occlusion_map = Some("occlusion.png".into());
            let (mut json, blob) =
                split(&to_glb("chain.glb", &model, None, texture).unwrap().value);
            json["buffers"][0]["uri"] = json!("chain.bin");
            write(folder.path(), "chain.gltf", json.to_string());
            write(folder.path(), "chain.bin", &blob);
            for of in TextureMap::ALL {
                write(
                    folder.path(),
                    &file(of),
                    if of == map {
                        b"no picture".to_vec()
                    } else {
                        png(4, 4)
                    },
                );
            }
            let mut app = TestApp::with_files(folder.path());
            load_images(&mut app);
            let settings = move |settings: &mut CharacterLoaderSettings| settings.textures = mode;
            let handle: Handle<Character> = app
                .server()
                .load_builder()
                .with_settings(settings)
                .load("chain.gltf");
            app.wait_for(&handle);
            app.wait("the others", |app| {
                let maps = maps(&material(app, &handle, 0));
                (0..5).all(|at| match &maps[at] {
                    Some(image) => at != lost && app.asset(image).is_some(),
                    None => at == lost,
                })
            });
        }
    }
}

#[test]
fn a_manifest_takes_model_and_clips_from_glb_files() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "hero.glb",
        glb(&Model {
            clips: vec![],
            ..model()
        }),
    );
    // As from Mixamo: joints have a prefix, and the file's one clip a name of no use.
    let mut dance = chain(&[timing(
        "mixamo.com",
        1.0,
        PlaybackMode::Once,
        &[(0.5, "clap")],
    )]);
    let joints = dance
        .skeleton
        .names()
        .iter()
        .map(|name| format!("mixamorig:{name}").into())
        .collect::<Vec<Arc<str>>>();
    dance.skeleton = dance.skeleton.with_names(joints.clone());
    dance
        .clips
        .iter_mut()
        .for_each(|clip| clip.rename_joints(joints.clone().into()));
    write(
        folder.path(),
        "dance.glb",
        glb(&Model {
            parts: vec![],
            materials: vec![],
            ..dance
        }),
    );
    let manifest =
        r#"(model: "hero.glb", clips: { "dance": (file: "dance.glb", playback: Loop) })"#;
    write(folder.path(), "hero.character.ron", manifest);
    let mut app = TestApp::with_files(folder.path());
    load_images(&mut app);
    let handle: Handle<Character> = app.server().load("hero.character.ron");
    app.wait_for(&handle);
    let names: Vec<_> = app
        .asset(&handle)
        .unwrap()
        .clip_names()
        .map(|name| name.to_string())
        .collect();
    assert_eq!(names, ["dance"]);
    let texture = material(&app, &handle, 0).base_color_texture.unwrap();
    assert_eq!(
        texture.path().unwrap().to_string(),
        "hero.character.ron#Texture/skin.png"
    );
    let entity = app.spawn(&handle, "dance");
    app.update(1.75);
    assert_eq!(
        app.words(Some(entity)),
        ["started", "clap", "looped", "clap"]
    );
}

#[test]
fn embedded_textures_follow_the_texture_mode() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "chain.glb", glb(&model()));
    for (mode, levels) in [
        (TextureMode::Load, Some(4)),
        (TextureMode::LoadAsTheyAre, Some(1)),
        (TextureMode::Ignore, None),
    ] {
        let mut app = TestApp::with_files(folder.path());
        load_images(&mut app);
        let settings = move |settings: &mut CharacterLoaderSettings| settings.textures = mode;
        let handle: Handle<Character> = app
            .server()
            .load_builder()
            .with_settings(settings)
            .load("chain.glb");
        app.wait_for(&handle);
        let skin = material(&app, &handle, 0);
        let found = skin
            .base_color_texture
            .map(|map| app.asset(&map).unwrap().texture_descriptor.mip_level_count);
        assert_eq!(
            (found, skin.emissive_texture.is_some()),
            (levels, levels.is_some()),
            "{mode:?}"
        );
    }
    // As on a server.
    let mut app = TestApp::with_files(folder.path());
    let handle: Handle<Character> = app.server().load("chain.glb");
    app.wait_for(&handle);
    assert!(material(&app, &handle, 0).base_color_texture.is_none());
}

#[test]
fn a_glb_that_holds_its_textures_gets_no_others_from_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "chain.glb", glb(&textured("skin.png", "")));
    // Belongs to a file called `skin.png`, for formats that only name one map.
    write(folder.path(), "skin_nmap.png", png(4, 4));
    let mut app = TestApp::with_files(folder.path());
    load_images(&mut app);
    let handle: Handle<Character> = app.server().load("chain.glb");
    app.wait_for(&handle);
    let skin = material(&app, &handle, 0);
    assert!(skin.base_color_texture.is_some() && skin.normal_map_texture.is_none());
}

#[test]
fn a_broken_glb_fails_the_load_and_a_broken_image_costs_only_itself() {
    let folder = tempfile::tempdir().unwrap();
    let whole = glb(&model());
    write(folder.path(), "cut.glb", &whole[..whole.len() / 2]);
    write(
        folder.path(),
        "odd.gltf",
        "{ \"asset\": { \"version\": \"2.0\" },\n  \"nodes\": 3 }",
    );
    let spoiled = |_: &_, map| {
        (map == TextureMap::BaseColor).then(|| GlbTexture::Png(b"\x89PNG no picture".to_vec()))
    };
    let spoiled = to_glb(
        "spoiled.glb",
        &textured("spoiled_skin.png", ""),
        None,
        spoiled,
    )
    .unwrap()
    .value;
    write(folder.path(), "spoiled.glb", spoiled);
    let mut app = TestApp::with_files(folder.path());
    load_images(&mut app);
    for file in ["cut.glb", "odd.gltf"] {
        let handle = app.server().load(file);
        assert_message(file, app.wait_for_failure(&handle));
    }
    let handle: Handle<Character> = app.server().load("spoiled.glb");
    app.wait_for(&handle);
    assert!(material(&app, &handle, 0).base_color_texture.is_none());
    assert_eq!(logged("`spoiled_skin.png`").len(), 1);
}

#[test]
fn limits_hold_for_a_gltf_and_for_its_files_together() {
    let folder = tempfile::tempdir().unwrap();
    let (mut json, mut blob) = split(&glb(&textured("", "")));
    json["buffers"][0]["uri"] = json!("a.bin");
    let size = json["buffers"][0]["byteLength"].clone();
    json["buffers"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "uri": "b.bin", "byteLength": size }));
    // Only buffers that are used are read.
    json["bufferViews"][0]["buffer"] = json!(1);
    let text = json.to_string();
    // The text alone is within the limit.
    blob.resize(text.len(), 0);
    write(folder.path(), "large.gltf", &text);
    write(folder.path(), "a.bin", &blob);
    write(folder.path(), "b.bin", &blob);
    let mut app = TestApp::with_files(folder.path());
    let mut load = |bytes: usize, joints: u32| {
        let settings = move |settings: &mut CharacterLoaderSettings| {
            (
                settings.import.limits.file_bytes,
                settings.import.limits.joints,
            ) = (bytes as u64, joints);
        };
        let handle: Handle<Character> = app
            .server()
            .load_builder()
            .with_settings(settings)
            .load("large.gltf");
        let mut message = None;
        app.wait("an end", |app| {
            if let bevy::asset::LoadState::Failed(error) = app.server().load_state(&handle) {
                message = Some(error.to_string());
            }
            message.is_some() || app.asset(&handle).is_some()
        });
        drop(handle);
        (0..3).for_each(|_| app.update(0.0));
        message.unwrap_or_default()
    };
    let both = blob.len() * 2;
    assert_eq!(load(both, 3), "");
    let message = load(both - 1, 3);
    assert!(message.contains("`file_bytes`"), "{message}");
    let message = load(both, 2);
    assert!(message.contains("`joints`"), "{message}");
}

/// Stands for Bevy's own glTF loader.
#[derive(TypePath)]
struct OtherLoader;

#[derive(Asset, TypePath)]
struct Other;

#[derive(Asset, TypePath)]
struct OtherPart;

impl AssetLoader for OtherLoader {
    type Asset = Other;
    type Settings = ();
    type Error = Infallible;

    async fn load(
        &self,
        _: &mut dyn Reader,
        _: &(),
        context: &mut LoadContext<'_>,
    ) -> Result<Other, Infallible> {
        context.add_labeled_asset("Scene0", OtherPart);
        Ok(Other)
    }

    fn extensions(&self) -> &[&str] {
        &["glb", "gltf"]
    }
}

#[test]
fn another_loader_of_the_extension_keeps_its_types_its_labels_and_loads_without_a_type() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "chain.glb", glb(&textured("", "")));
    for theirs_first in [true, false] {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, asset_folder(folder.path()), TransformPlugin));
        app.init_asset::<Other>().init_asset::<OtherPart>();
        // As Bevy's plugins do.
        if theirs_first {
            app.preregister_asset_loader::<OtherLoader>(&["glb", "gltf"]);
        }
        app.add_plugins(MarionettePlugins::default());
        app.register_asset_loader(OtherLoader);
        let server = app.world().resource::<AssetServer>().clone();
        let part: Handle<OtherPart> = server.load("chain.glb#Scene0");
        let other: Handle<Other> = server.load("chain.glb");
        let untyped = server.load_builder().load_untyped("chain.glb");
        let ours: Handle<Character> = server.load("chain.glb");
        let entity = app.world_mut().spawn(SkinnedCharacter(ours.clone())).id();
        for _ in 0..4000 {
            app.update();
            std::thread::sleep(std::time::Duration::from_millis(2));
            let all = [
                ours.id().untyped(),
                other.id().untyped(),
                part.id().untyped(),
                untyped.id().untyped(),
            ];
            if all.iter().all(|id| server.is_loaded(*id)) {
                break;
            }
        }
        let world = app.world();
        assert!(
            world.resource::<Assets<Character>>().contains(&ours),
            "{theirs_first}"
        );
        assert!(
            world.resource::<Assets<Other>>().contains(&other),
            "{theirs_first}"
        );
        assert!(
            world.resource::<Assets<OtherPart>>().contains(&part),
            "{theirs_first}"
        );
        let untyped = &world
            .resource::<Assets<bevy::asset::LoadedUntypedAsset>>()
            .get(&untyped)
            .unwrap()
            .handle;
        assert_eq!(untyped.type_id(), std::any::TypeId::of::<Other>());
        // The labels of a character that is loaded are there as well.
        let mesh = world
            .resource::<Assets<Character>>()
            .get(&ours)
            .unwrap()
            .parts[0]
            .mesh
            .clone();
        assert_eq!(
            server
                .load::<Mesh>(CharacterAssetLabel::Mesh(0).from_asset("chain.glb"))
                .id(),
            mesh.id()
        );
        let parts = world
            .get::<bevy_marionette::character::CharacterParts>(entity)
            .unwrap();
        assert_eq!(parts.entities.len(), 2);
    }
}
