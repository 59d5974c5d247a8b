//! Baked characters: they are what importing gives, bit for bit, and nothing else is read.

use crate::{asset, fuzz::checks, messages::assert_message};
use bevy_marionette::{
    format::{Diagnostic, FormatError},
    import::{BakedCharacter, FileKind, ImportLimits, Imported, Manifest, open_manifest},
    internals::import::Texels,
    model::Model,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// All files in a folder and below it, in order.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files_below(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

/// A file's manifest, or one that only names it.
fn manifest_of(path: &Path) -> Option<Manifest> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let folder = path.parent()?.file_name()?.to_string_lossy();
    let in_corpus = ["gltf", "fbx", "m3d", "md5mesh"]
        .iter()
        .any(|kind| *kind == folder);
    let name = match &*folder {
        "gltf" => "corpus.glb".to_owned(),
        _ if in_corpus => format!("corpus.{folder}"),
        _ => name,
    };
    match FileKind::of_name(&name)? {
        FileKind::Manifest => Manifest::parse(&name, &fs::read(path).unwrap()).ok(),
        FileKind::Md5Anim | FileKind::Baked => None,
        _ => Some(Manifest::of_model(name)),
    }
}

fn import(path: &Path, manifest: &Manifest) -> Result<Imported, FormatError> {
    let folder = path.parent().unwrap();
    let read = |file: &str| match fs::read(folder.join(file)) {
        // Files of the corpus have no extension.
        _ if file.starts_with("corpus.") => Ok(fs::read(path).unwrap().into()),
        Ok(bytes) => Ok(bytes.into()),
        Err(error) => Err(error.to_string()),
    };
    open_manifest("file", manifest, &ImportLimits::default(), read)
}

/// Bakes what was imported, and compares everything.
#[track_caller]
fn bake(path: &Path, manifest: &Manifest, imported: Imported) -> Vec<u8> {
    let baked = BakedCharacter::new(manifest, imported);
    let bytes = baked.to_bytes("baked");
    let bytes = bytes.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let read = BakedCharacter::read("baked", &bytes, &ImportLimits::default());
    let read = read.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let Model {
        skeleton,
        parts,
        materials,
        clips,
    } = &read.model;
    assert!(*skeleton == baked.model.skeleton, "{}", path.display());
    assert!(*parts == baked.model.parts, "{}", path.display());
    assert!(*materials == baked.model.materials, "{}", path.display());
    assert!(*clips == baked.model.clips, "{}", path.display());
    assert!(read.images == baked.images, "{}", path.display());
    let ron = |manifest: &Manifest| manifest.to_ron().unwrap();
    assert_eq!(ron(&read.manifest), ron(&baked.manifest));
    // Zeros can be equal and differ in their sign.
    assert!(read.to_bytes("again").unwrap() == bytes);
    bytes
}

#[test]
fn baked_characters_are_what_importing_gives_bit_for_bit() {
    let tests = Path::new(file!()).parent().unwrap();
    let folders = [asset(""), tests.join("cases"), tests.join("fuzz/corpus")];
    let files = folders.iter().flat_map(|folder| files_below(folder));
    let (mut baked, mut compressed) = (0, 0);
    for path in files {
        let Some(mut manifest) = manifest_of(&path) else {
            continue;
        };
        for error in [None, Some(1e-3)] {
            manifest.clip_error = manifest.clip_error.or(error);
            // Those of the corpus are mostly broken.
            let Ok(imported) = import(&path, &manifest) else {
                break;
            };
            bake(&path, &manifest, imported);
            baked += 1;
            compressed += usize::from(error.is_some());
        }
    }
    assert!(baked > 100 && compressed > 50, "{baked}, {compressed}");
}

#[test]
fn clips_that_share_their_frames_still_do_so_when_they_are_baked() {
    let path = asset("mannequin/mannequin.glb");
    let text = r#"(model: "mannequin.glb", clips: {"a": (clip: "cheer"), "b": (clip: "cheer", playback: Once)})"#;
    let manifest = Manifest::parse("two.character.ron", text.as_bytes()).unwrap();
    let imported = import(&path, &manifest).unwrap();
    let bytes = bake(&path, &manifest, imported);
    let one = r#"(model: "mannequin.glb", clips: {"a": (clip: "cheer")})"#;
    let one = Manifest::parse("one.character.ron", one.as_bytes()).unwrap();
    let alone = bake(&path, &one, import(&path, &one).unwrap());
    assert!(
        bytes.len() < alone.len() + 300,
        "{} {}",
        bytes.len(),
        alone.len()
    );
}

/// Small characters, of which the corpus of fuzzing has the baked files.
fn samples() -> [(&'static str, PathBuf, String); 4] {
    let cases = Path::new(file!()).parent().unwrap().join("cases");
    let full = r#"(model: "pitch_20_full.glb", clip_error: Some(0.001), root_motion: (ground: true),
        clips: {"act": (callbacks: [(time: 0.1, name: "step", data: {"side": "left"}), (time: 0.2, until: 0.3, name: "up")]),
            "other": (clip: "act", additive: true), "mirror": (mirror: "act")},
        masks: {"top": (roots: ["Spine"])}, sockets: {"hat": (joint: "Head")})"#;
    let dance = r#"(model: "vrm1.vrm", clip_error: Some(0.001), clips: {"talk": (speech: [(0.0, "aa", 1), (0.2, "ih", 0.5), (0.4, "aa", 0)])})"#;
    let of = |folder: &str, model: &str| {
        (
            cases.join(folder).join(model),
            format!("(model: {model:?})"),
        )
    };
    let sample = |name, (path, text): (PathBuf, String)| (name, path, text);
    let named = |folder: &str, model: &str, text: &str| (of(folder, model).0, text.to_owned());
    [
        sample("squash.bin", of("clip-file-scale", "full_0.5.glb")),
        sample(
            "everything.bin",
            named("clip-file-at-first-frame", "pitch_20_full.glb", full),
        ),
        sample("vrm0.bin", of("vrm", "vrm0.vrm")),
        sample("talking.bin", named("vrm", "vrm1.vrm", dance)),
    ]
}

/// If this fails because the format has changed, raise `BakedCharacter::VERSION`, and set `MARIONETTE_UPDATE_BAKED=1`.
#[test]
fn the_corpus_has_what_is_baked_in_this_version() {
    let corpus = Path::new(file!())
        .parent()
        .unwrap()
        .join("fuzz/corpus/baked");
    for (name, path, text) in samples() {
        let manifest = Manifest::parse(name, text.as_bytes()).unwrap();
        let imported = import(&path, &manifest).unwrap();
        let left_out = |report: &Diagnostic| report.context.contains("left out");
        assert!(
            !imported.warnings.iter().any(left_out),
            "{:?}",
            imported.warnings
        );
        let bytes = bake(&path, &manifest, imported);
        let file = corpus.join(name);
        if std::env::var_os("MARIONETTE_UPDATE_BAKED").is_some() {
            fs::create_dir_all(&corpus).unwrap();
            fs::write(&file, &bytes).unwrap();
        }
        assert!(fs::read(&file).unwrap() == bytes, "{name}");
    }
}

#[test]
fn files_of_other_versions_and_other_files_are_refused() {
    let (name, path, text) = &samples()[0];
    let manifest = Manifest::parse(name, text.as_bytes()).unwrap();
    let bytes = bake(path, &manifest, import(path, &manifest).unwrap());
    let error = |bytes: &[u8]| {
        BakedCharacter::read("hero.character.bin", bytes, &ImportLimits::default()).unwrap_err()
    };
    assert!(BakedCharacter::is_baked(&bytes) && !BakedCharacter::is_baked(b"marionette"));
    let mut other = bytes.clone();
    other[16] = 200;
    assert_message("baked: version", error(&other));
    assert_message(
        "baked: other file",
        error(b"glTF, more than sixteen bytes of it"),
    );
    assert_message("baked: cut off", error(&bytes[..bytes.len() / 2]));
    assert_message("baked: more", error(&[&bytes[..], b"!"].concat()));
    assert_message("baked: empty", error(b""));
    let limits = ImportLimits {
        joints: 3,
        ..ImportLimits::default()
    };
    let error = BakedCharacter::read("hero.character.bin", &bytes, &limits).unwrap_err();
    assert_message("baked: limit", error);
}

#[test]
fn what_would_be_refused_is_not_baked() {
    let (_, path, text) = &samples()[0];
    let manifest = Manifest::parse("manifest", text.as_bytes()).unwrap();
    let baked = BakedCharacter::new(&manifest, import(path, &manifest).unwrap());
    let mut odd = baked.clone();
    odd.model.parts[0].triangles[0][1] = 1 << 30;
    assert_message("bake: triangle", odd.to_bytes("hero.glb").unwrap_err());
    let mut odd = baked.clone();
    odd.model.parts[0].positions[0].x = f32::NAN;
    assert_message("bake: number", odd.to_bytes("hero.glb").unwrap_err());
    let mut odd = baked.clone();
    odd.model.clips[0].rename_joints(
        baked.model.clips[0]
            .joints()
            .iter()
            .rev()
            .cloned()
            .collect(),
    );
    assert_message("bake: clip", odd.to_bytes("hero.glb").unwrap_err());
}

#[test]
fn images_are_decoded_with_their_mip_levels_unless_they_are_used_in_several_ways() {
    let path = asset("pup/pup.glb");
    let manifest = Manifest::of_model("pup.glb");
    let mut baked = BakedCharacter::new(&manifest, import(&path, &manifest).unwrap());
    let before = baked.images.clone();
    let texel = |name: &str| [name.len() as u8, 1, 2, u8::MAX];
    let name = baked.images.keys().next().unwrap().clone();
    // One is of a kind that isn't decoded.
    baked.decode_images(|of, bytes| {
        assert_eq!(bytes, &*before[of]);
        (of != name).then(|| ([4, 2], texel(of).repeat(8)))
    });
    assert_eq!(baked.images[&name], before[&name]);
    assert!(Texels::of(&before[&name]).is_none() && baked.images.len() > 5);
    for (of, image) in baked.images.iter().filter(|(of, _)| **of != name) {
        let texels = Texels::of(image).unwrap();
        assert_eq!((texels.size, texels.levels), ([4, 2], 3));
        assert_eq!(texels.data[..32], texel(of).repeat(8));
        assert_eq!(texels.data.len(), (8 + 2 + 1) * 4);
        assert!(Texels::of(&image[..image.len() - 1]).is_none());
    }
    let bytes = baked.to_bytes("baked").unwrap();
    let read = BakedCharacter::read("baked", &bytes, &ImportLimits::default()).unwrap();
    assert!(read.images == baked.images);
    // Colors and normals have other mip levels.
    let mut odd = BakedCharacter::new(&manifest, import(&path, &manifest).unwrap());
    let material = &mut odd.model.materials[0];
    material.normal_map = material.base_color_map.clone();
    let shared = material.base_color_map.clone().unwrap();
    odd.decode_images(|of, _| Some(([4, 2], texel(of).repeat(8))));
    assert_eq!(odd.images[&shared], before[&shared]);
}

/// `MARIONETTE_BAKED` sets how many times each file is changed.
#[test]
fn baked_files_with_any_bytes_changed_keep_the_promises() {
    let rounds = std::env::var("MARIONETTE_BAKED").ok();
    let rounds: u64 = rounds
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(1000);
    let corpus = Path::new(file!())
        .parent()
        .unwrap()
        .join("fuzz/corpus/baked");
    let mut read = 0;
    for path in files_below(&corpus) {
        let source = fs::read(&path).unwrap();
        for round in 0..rounds {
            let bytes = checks::changed_numbers(&source, round);
            let is_read = BakedCharacter::read("f", &bytes, &ImportLimits::default()).is_ok();
            read += usize::from(is_read);
            if std::panic::catch_unwind(|| checks::baked(&bytes)).is_err() {
                panic!("{} breaks a promise in round {round}", path.display());
            }
        }
    }
    // Some changes make another sound character.
    assert!(read > rounds as usize / 10, "{read}");
}
