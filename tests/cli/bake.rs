//! `marionette bake`.

use super::support::{Run, characters, marionette, picture};
use crate::messages::assert_message;
use bevy_marionette::import::{BakedCharacter, ImportLimits};
use std::fs;
use tempfile::TempDir;

fn bake(folder: &TempDir, args: &[&str]) -> Run {
    let run = marionette(folder, &[&["bake"], args].concat());
    assert_eq!(run.stdout, "");
    run
}

/// What was said, without the size of the file, in which each digit counts.
fn said(run: &Run) -> String {
    let said = run.stderr.trim_end();
    match said.rsplit_once(" (") {
        Some((before, _)) => before.replace('\\', "/"),
        None => said.to_owned(),
    }
}

fn read(folder: &TempDir, name: &str) -> BakedCharacter {
    let bytes = fs::read(folder.path().join(name)).unwrap();
    BakedCharacter::read(name, &bytes, &ImportLimits::default()).unwrap()
}

#[test]
fn a_character_is_baked_beside_its_manifest() {
    let folder = characters();
    let run = bake(&folder, &["arm.character.ron"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_message("bake: a manifest", said(&run));
    let baked = read(&folder, "arm.character.bin");
    assert_eq!(baked.manifest.model, "arm.md5mesh");
    assert!(baked.manifest.sockets.contains_key("palm"));
    assert_eq!(&*baked.model.clips[0].timing.name, "stretch");
    // Other commands read it as they read the manifest.
    let posed = |file: &str| {
        let args = [
            "pose", file, "--clip", "stretch", "--time", "0.1", "-o", "-",
        ];
        let run = marionette(&folder, &args);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let lines = run.stdout.lines().filter(|line| line.starts_with("v "));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(posed("arm.character.bin"), posed("arm.character.ron"));
    let run = marionette(&folder, &["validate", "arm.character.bin"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let again = fs::read(folder.path().join("arm.character.bin")).unwrap();
    assert_eq!(bake(&folder, &["arm.character.ron"]).code, Some(0));
    let bytes = fs::read(folder.path().join("arm.character.bin")).unwrap();
    assert!(bytes == again, "the same every time");
}

#[test]
fn textures_in_files_are_baked_too_unless_they_shall_stay_there() {
    let folder = characters();
    for skin in ["skin0.png", "skin2.png"] {
        fs::write(folder.path().join(skin), picture(200)).unwrap();
    }
    fs::create_dir(folder.path().join("out")).unwrap();
    let run = bake(&folder, &["arm.md5mesh", "-o", "out/arm.character.bin"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let baked = read(&folder, "out/arm.character.bin");
    // Two levels of four and one texel.
    let image = &baked.images["skin0.png"];
    assert!(
        image.ends_with(&[200, 200, 200, 255].repeat(5)),
        "{image:?}"
    );
    let run = bake(&folder, &["arm.md5mesh", "--keep-images"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(
        *read(&folder, "arm.character.bin").images["skin0.png"],
        picture(200)
    );
    let run = bake(&folder, &["arm.md5mesh", "--link-textures"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(read(&folder, "arm.character.bin").images.is_empty());
    let run = bake(
        &folder,
        &[
            "arm.md5mesh",
            "--link-textures",
            "-o",
            "out/arm.character.bin",
        ],
    );
    assert_eq!(run.code, Some(1));
    assert_message("bake: linked from elsewhere", run.stderr);
}

#[test]
fn a_baked_character_is_the_end_of_its_way() {
    let folder = characters();
    assert_eq!(bake(&folder, &["arm.character.ron"]).code, Some(0));
    let run = bake(&folder, &["arm.character.bin"]);
    assert_eq!(run.code, Some(1));
    assert_message("bake: baked already", run.stderr);
    let run = marionette(&folder, &["convert", "arm.character.bin", "-o", "arm.glb"]);
    assert_eq!(run.code, Some(1));
    let run = bake(&folder, &["arm.character.ron", "-o", "arm.glb"]);
    assert_eq!(run.code, Some(2));
    assert_eq!(bake(&folder, &["broken/bad.md5mesh"]).code, Some(1));
    assert!(!folder.path().join("broken/bad.character.bin").exists());
}
