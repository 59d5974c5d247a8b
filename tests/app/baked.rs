//! Baked characters: read from files, and made by Bevy's asset processor.

use super::{
    loading::{MANIFEST, folder, load_images, textured, tga, write},
    messages::assert_message,
    support::*,
};
use bevy::{
    asset::processor::{AssetProcessor, FileTransactionLogFactory},
    prelude::*,
};
use bevy_marionette::{
    asset::{Character, CharacterAssetLabel},
    import::{BakedCharacter, ImportLimits, Manifest, open_manifest},
    internals::{format::m3d, import::to_m3d},
    prelude::*,
};
use std::{fs, path::Path};

/// Bakes a character of a folder beside it.
fn bake(folder: &Path, name: &str, images: &[&str]) {
    let manifest = Manifest::parse(name, &fs::read(folder.join(name)).unwrap()).unwrap();
    let read = |file: &str| match fs::read(folder.join(file)) {
        Ok(bytes) => Ok(bytes.into()),
        Err(error) => Err(error.to_string()),
    };
    let imported = open_manifest(name, &manifest, &ImportLimits::default(), read).unwrap();
    let mut baked = BakedCharacter::new(&manifest, imported);
    for image in images {
        let bytes = fs::read(folder.join(image)).unwrap();
        baked.images.insert((*image).to_owned(), bytes.into());
    }
    baked.decode_images(|_, bytes| {
        // As `tga` writes it: red comes last, and 18 bytes first.
        let [width, height] = [bytes[12], bytes[14]].map(u32::from);
        let texels = bytes[18..].as_chunks::<4>().0;
        Some((
            [width, height],
            texels
                .iter()
                .flat_map(|[b, g, r, a]| [*r, *g, *b, *a])
                .collect(),
        ))
    });
    let bytes = baked.to_bytes(name).unwrap();
    write(folder, &name.replace(".ron", ".bin"), bytes);
}

/// Asserts that two characters are the same, with their meshes.
fn assert_same(app: &TestApp, [a, b]: [&Handle<Character>; 2]) {
    let [a, b] = [a, b].map(|handle| app.asset(handle).unwrap());
    assert!(a.skeleton == b.skeleton && a.clips == b.clips);
    assert_eq!(a.sockets.len(), b.sockets.len());
    assert_eq!(a.masks.len(), b.masks.len());
    assert_eq!(a.parts.len(), b.parts.len());
    for (a, b) in a.parts.iter().zip(&b.parts) {
        assert_eq!(a.name, b.name);
        assert_eq!(a.palette, b.palette);
        assert_eq!(a.rest_bounds, b.rest_bounds);
        let [mesh, other] = [a, b].map(|part| app.asset(&part.mesh).unwrap());
        assert!(mesh == other);
    }
}

#[test]
fn a_baked_character_is_loaded_as_its_manifest_is() {
    let folder = folder();
    write(folder.path(), "one.character.ron", MANIFEST);
    bake(folder.path(), "one.character.ron", &[]);
    let mut app = TestApp::with_files(folder.path());
    let baked: Handle<Character> = app.server().load("one.character.bin");
    let source: Handle<Character> = app.server().load("one.character.ron");
    app.wait_for(&baked);
    app.wait_for(&source);
    assert_same(&app, [&baked, &source]);
    let entity = app.spawn(&baked, "walk");
    app.update(0.3);
    assert_eq!(app.words(Some(entity)), ["started", "footstep"]);
}

#[test]
fn textures_of_a_baked_character_have_the_texels_and_mip_levels_of_their_files() {
    let folder = folder();
    write(
        folder.path(),
        "skin.m3d",
        m3d::write(&to_m3d(&textured("skin.tga", "bumps.tga"))),
    );
    write(folder.path(), "skin.tga", tga(8, 4));
    write(folder.path(), "bumps.tga", tga(2, 2));
    write(
        folder.path(),
        "skin.character.ron",
        r#"(model: "skin.m3d")"#,
    );
    bake(
        folder.path(),
        "skin.character.ron",
        &["skin.tga", "bumps.tga"],
    );
    let mut app = TestApp::with_files(folder.path());
    load_images(&mut app);
    let files = ["skin.character.ron", "skin.character.bin"];
    let handles: [Handle<Character>; 2] = files.map(|file| app.server().load(file));
    handles.iter().for_each(|handle| app.wait_for(handle));
    assert_same(&app, [&handles[0], &handles[1]]);
    let [source, baked] = handles.map(|handle| {
        let character = app.asset(&handle).unwrap();
        let material = app.asset(&character.parts[0].material).unwrap();
        let maps = [&material.base_color_texture, &material.normal_map_texture];
        maps.map(|map| app.asset(map.as_ref().unwrap()).unwrap().clone())
    });
    for (source, baked) in source.iter().zip(&baked) {
        assert!(source.texture_descriptor.mip_level_count > 1);
        assert_eq!(source.texture_descriptor, baked.texture_descriptor);
        assert!(source.data == baked.data);
        assert_eq!(
            format!("{:?}", source.sampler),
            format!("{:?}", baked.sampler)
        );
    }
}

#[test]
fn a_file_that_is_not_baked_or_damaged_fails_the_load() {
    let folder = folder();
    write(folder.path(), "one.character.ron", MANIFEST);
    write(folder.path(), "text.character.bin", MANIFEST);
    bake(folder.path(), "one.character.ron", &[]);
    let mut bytes = fs::read(folder.path().join("one.character.bin")).unwrap();
    bytes.truncate(bytes.len() - 1);
    write(folder.path(), "half.character.bin", bytes);
    let mut app = TestApp::with_files(folder.path());
    for file in ["text.character.bin", "half.character.bin"] {
        let handle: Handle<Character> = app.server().load(file);
        let error = app.wait_for_failure(&handle);
        assert_message(&format!("baked: {file}"), error);
    }
}

#[test]
fn bevys_asset_processor_bakes_characters() {
    let (folder, processed) = (folder(), tempfile::tempdir().unwrap());
    write(
        folder.path(),
        "skin.m3d",
        m3d::write(&to_m3d(&textured("skin.tga", ""))),
    );
    write(folder.path(), "skin.tga", tga(8, 4));
    write(
        folder.path(),
        "skin.character.ron",
        r#"(model: "skin.m3d")"#,
    );
    let app = |mode, use_processor| {
        let assets = AssetPlugin {
            mode,
            use_asset_processor_override: Some(use_processor),
            processed_file_path: processed.path().to_str().unwrap().to_owned(),
            ..asset_folder(folder.path())
        };
        let mut app = App::new();
        app.add_plugins((
            MinimalPlugins,
            assets,
            TransformPlugin,
            MarionettePlugins::default(),
        ));
        // Else its log would be in the working directory.
        if let Some(processor) = app.world().get_resource::<AssetProcessor>() {
            let file_path = processed.path().join("log");
            let log = processor
                .data()
                .set_log_factory(Box::new(FileTransactionLogFactory { file_path }));
            log.expect("the processor hasn't started");
        }
        let mut app = TestApp { app };
        // Before the processor starts, which leaves out files without a loader.
        load_images(&mut app);
        app.update(0.0);
        app
    };
    let load = |app: &mut TestApp| {
        let handle: Handle<Character> = app.server().load("skin.character.ron");
        app.wait_for(&handle);
        let label = CharacterAssetLabel::Texture("skin.tga".to_owned());
        let texture: Handle<Image> = app.server().load(label.from_asset("skin.character.ron"));
        app.wait_for(&texture);
        let texture = app.asset(&texture).unwrap();
        assert_eq!(texture.texture_descriptor.mip_level_count, 4);
        let character = app.asset(&handle).unwrap();
        (
            character.skeleton.clone(),
            character.clips.clone(),
            texture.data.clone(),
        )
    };
    let source = load(&mut app(AssetMode::Unprocessed, false));
    let during = load(&mut app(AssetMode::Processed, true));
    let bytes = fs::read(processed.path().join("skin.character.ron")).unwrap();
    assert!(BakedCharacter::is_baked(&bytes));
    // As in a release, whose files are those that were processed.
    let release = load(&mut app(AssetMode::Processed, false));
    assert!(source == during && source == release);
}
