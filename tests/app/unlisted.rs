//! Characters from sources that cannot list folders, as on the web.

#[cfg(feature = "gltf")]
use super::gltf::{glb, split};
use super::{
    loading::{load_images, textured, tga, write},
    support::*,
};
use bevy::{
    asset::io::{
        AssetReader, AssetReaderError, AssetSourceBuilder, ErasedAssetReader, PathStream, Reader,
        file::FileAssetReader,
    },
    prelude::*,
};
use bevy_marionette::{
    asset::{Character, LoadProgress},
    internals::{
        format::{m3d, md5},
        import::{to_m3d, to_md5_mesh},
    },
};
use futures_lite::future::yield_now;
use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Reads files, but lists no folders, and remembers what it was asked for.
struct Unlisted {
    files: FileAssetReader,
    asked: Arc<Mutex<Vec<String>>>,
    /// Delivers no image or buffer before it was asked for this many.
    together: usize,
}

fn is_awaited(file: &str) -> bool {
    ["tga", "png", "bin"].iter().any(|end| file.ends_with(end))
}

impl AssetReader for Unlisted {
    async fn read<'a>(&'a self, path: &'a Path) -> Result<impl Reader + 'a, AssetReaderError> {
        let file = path.to_string_lossy().into_owned();
        let waits = is_awaited(&file);
        self.asked.lock().unwrap().push(file);
        let begin = Instant::now();
        while waits
            && self
                .asked
                .lock()
                .unwrap()
                .iter()
                .filter(|file| is_awaited(file))
                .count()
                < self.together
        {
            if begin.elapsed() > Duration::from_secs(10) {
                return Err(AssetReaderError::NotFound(path.to_owned()));
            }
            yield_now().await;
        }
        AssetReader::read(&self.files, path).await
    }

    async fn read_meta<'a>(&'a self, path: &'a Path) -> Result<impl Reader + 'a, AssetReaderError> {
        AssetReader::read_meta(&self.files, path).await
    }

    async fn read_directory<'a>(
        &'a self,
        path: &'a Path,
    ) -> Result<Box<PathStream>, AssetReaderError> {
        Err(AssetReaderError::NotFound(path.to_owned()))
    }

    async fn is_directory<'a>(&'a self, path: &'a Path) -> Result<bool, AssetReaderError> {
        Err(AssetReaderError::NotFound(path.to_owned()))
    }
}

/// Loads a character from such a source. Returns whether its material has a base color and a normal map, and the images
/// and buffers that were asked for.
fn load(folder: &TempDir, file: &str) -> ([bool; 2], Vec<String>) {
    let (maps, asked, _) = load_together(folder, file, 0);
    (maps, asked)
}

/// As [`load`], from a source that delivers images and buffers only together. Also returns how far the app says it is loaded.
fn load_together(
    folder: &TempDir,
    file: &str,
    together: usize,
) -> ([bool; 2], Vec<String>, LoadProgress) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (root, log) = (folder.path().to_owned(), asked.clone());
    let source = move || -> Box<dyn ErasedAssetReader> {
        Box::new(Unlisted {
            files: FileAssetReader::new(&root),
            asked: log.clone(),
            together,
        })
    };
    let mut app = TestApp::with_source("web", AssetSourceBuilder::new(source));
    load_images(&mut app);
    let handle: Handle<Character> = app.server().load(format!("web://{file}"));
    app.wait_for(&handle);
    let material = app.asset(&handle).unwrap().parts[0].material.clone();
    let material = app.asset(&material).unwrap();
    let maps = [
        material.base_color_texture.is_some(),
        material.normal_map_texture.is_some(),
    ];
    let mut asked = asked.lock().unwrap().clone();
    asked.retain(|file| is_awaited(file));
    (maps, asked, app.world().resource::<LoadProgress>().clone())
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "skin.tga", tga(2, 2));
    write(folder.path(), "skin_nmap.tga", tga(2, 2));
    folder
}

#[test]
fn textures_are_found_by_asking_for_one_name_after_another() {
    for base in ["skin.tga", "art\\skin.tga", "skin"] {
        let folder = folder();
        write(
            folder.path(),
            "chain.m3d",
            m3d::write(&to_m3d(&textured(base, ""))),
        );
        let (maps, asked) = load(&folder, "chain.m3d");
        assert_eq!(maps, [true, true], "{base}: {asked:?}");
    }
}

#[test]
fn a_manifest_that_lists_its_textures_asks_for_no_others() {
    let folder = folder();
    write(
        folder.path(),
        "chain.m3d",
        m3d::write(&to_m3d(&textured("skin", ""))),
    );
    write(
        folder.path(),
        "a.character.ron",
        r#"(model: "chain.m3d", textures: ["skin.tga", "skin_nmap.tga"])"#,
    );
    let (maps, asked) = load(&folder, "a.character.ron");
    assert_eq!(maps, [true, true]);
    assert!(
        asked
            .iter()
            .all(|file| file == "skin.tga" || file == "skin_nmap.tga"),
        "{asked:?}"
    );
}

#[test]
fn a_texture_named_outside_the_asset_folder_is_said_and_never_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let inside = tempfile::tempdir_in(folder.path()).unwrap();
    fs::create_dir(inside.path().join("art")).unwrap();
    let secret = folder.path().join("secret.tga");
    let absolute = secret.to_string_lossy().into_owned();
    write(folder.path(), "secret.tga", tga(2, 2));
    let names = [
        "../secret.tga",
        "art/../../secret.tga",
        "..\\secret.tga",
        "art\\..\\..\\secret.tga",
        "%2e%2e/secret.tga",
        "..%2fsecret.tga",
        "%2e%2e%5csecret.tga",
        ".. /secret.tga",
        "file:///secret.tga",
        "C:\\secret.tga",
        &*absolute,
    ];
    for (at, name) in names.into_iter().enumerate() {
        let model = textured(name, "");
        #[cfg_attr(
            not(feature = "gltf"),
            expect(unused_mut, reason = "there is one format less")
        )]
        let mut files = vec![
            ("m3d", m3d::write(&to_m3d(&model)).into_bytes()),
            (
                "md5mesh",
                md5::write_mesh(&to_md5_mesh(&model)).into_bytes(),
            ),
        ];
        #[cfg(feature = "gltf")]
        {
            let (mut json, _) = split(&glb(&textured("skin", "")));
            json["images"][0] = serde_json::json!({ "uri": name.replace(' ', "%20") });
            json["buffers"][0]["uri"] = "chain.bin".into();
            let (_, blob) = split(&glb(&textured("skin", "")));
            write(inside.path(), "chain.bin", blob);
            files.push(("gltf", json.to_string().into_bytes()));
        }
        for (format, bytes) in files {
            let file = format!("secretive{at}.{format}");
            write(inside.path(), &file, bytes);
            // From a source that lists no folders, and from one that does.
            let (maps, asked) = load(&inside, &file);
            assert_eq!(maps, [false, false], "{file} {name}");
            let leads_out = |asked: &&String| {
                let asked = asked.replace('\\', "/").replace("%2e", ".");
                asked.contains("../") || asked.starts_with('/') || asked.contains(':')
            };
            assert_eq!(asked.iter().find(leads_out), None, "{file} {name}");
            let mut app = TestApp::with_files(inside.path());
            load_images(&mut app);
            let handle: Handle<Character> = app.server().load(file.clone());
            app.wait_for(&handle);
            let material = app.asset(&handle).unwrap().parts[0].material.clone();
            let map = app.asset(&material).unwrap().base_color_texture.clone();
            assert!(map.is_none(), "{file} {name}");
            assert!(!said(&file).is_empty(), "{file} {name}");
        }
    }
}

#[test]
fn textures_are_read_side_by_side_and_counted() {
    let folder = folder();
    write(
        folder.path(),
        "chain.m3d",
        m3d::write(&to_m3d(&textured("skin", ""))),
    );
    write(
        folder.path(),
        "a.character.ron",
        r#"(model: "chain.m3d", textures: ["skin.tga", "skin_nmap.tga"])"#,
    );
    let (maps, asked, progress) = load_together(&folder, "a.character.ron", 2);
    assert_eq!((maps, asked.len()), ([true, true], 2));
    // The manifest, the model and two textures.
    assert_eq!((progress.read(), progress.files()), (4, 4));
    assert_eq!((progress.characters(), progress.fraction()), (0, 1.0));
}

#[cfg(feature = "gltf")]
#[test]
fn buffers_are_read_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let (mut json, blob) = split(&glb(&textured("", "")));
    json["buffers"][0]["uri"] = "a.bin".into();
    json["buffers"]
        .as_array_mut()
        .unwrap()
        .push(serde_json::json!({ "uri": "b.bin", "byteLength": blob.len() }));
    // Only buffers that are used are read.
    json["bufferViews"][0]["buffer"] = 1.into();
    write(folder.path(), "chain.gltf", json.to_string());
    write(folder.path(), "a.bin", &blob);
    write(folder.path(), "b.bin", &blob);
    let (_, mut asked, _) = load_together(&folder, "chain.gltf", 2);
    asked.sort();
    assert_eq!(asked, ["a.bin", "b.bin"]);
}
