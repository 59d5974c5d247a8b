//! Checks that the sample characters in `assets/` are the output of `tools/author_assets`.

#[path = "../tools/author_assets/author.rs"]
mod author_assets;

use bevy_marionette::import::{ImportSettings, open_model};
use glam::Vec3;
use std::{collections::BTreeSet, fs, path::Path};

/// Tolerance on processors that sum vectors in a different order than x86-64.
const OTHER_PROCESSORS: f64 = 2.1e-3;

#[test]
fn the_files_in_assets_are_the_output_of_the_generator() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let mut expected = BTreeSet::new();
    let mut folders = BTreeSet::new();
    for (path, bytes) in author_assets::all() {
        let found =
            fs::read(root.join(&path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(
            same(&found, &bytes),
            "{}: differs; run `cargo run --example author_assets`",
            path.display()
        );
        folders.extend(path.parent().map(Path::to_path_buf));
        expected.insert(path);
    }
    for folder in folders {
        for entry in fs::read_dir(root.join(&folder)).expect("the folder can be read") {
            let path = folder.join(entry.expect("the entry can be read").file_name());
            // `marionette import` writes it; a test of the command line compares it.
            let is_imported = path.ends_with("scout_hero.character.ron");
            assert!(
                expected.contains(&path) || is_imported,
                "{} is not written by the generator",
                path.display()
            );
        }
    }
}

/// Compares byte for byte on x86-64; elsewhere word by word, with a tolerance for numbers.
fn same(found: &[u8], expected: &[u8]) -> bool {
    // The glTF exporter uses the platform's sine and arccosine.
    if found != expected && expected.starts_with(b"glTF") {
        return same_model(found, expected);
    }
    if cfg!(target_arch = "x86_64") || found == expected {
        return found == expected;
    }
    let (Ok(found), Ok(expected)) = (str::from_utf8(found), str::from_utf8(expected)) else {
        return false;
    };
    let close = |(a, b): (&str, &str)| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= OTHER_PROCESSORS,
        _ => a == b,
    };
    found.split_whitespace().count() == expected.split_whitespace().count()
        && found
            .split_whitespace()
            .zip(expected.split_whitespace())
            .all(close)
}

fn same_model(found: &[u8], expected: &[u8]) -> bool {
    let open = |source| {
        open_model("pup.glb", source, &ImportSettings::default()).expect("the file is read")
    };
    let (found, expected) = (open(found), open(expected));
    let near = |(a, b): (&Vec3, &Vec3)| a.abs_diff_eq(*b, OTHER_PROCESSORS as f32);
    let (a, b) = (&found.model, &expected.model);
    found.images == expected.images
        && a.materials == b.materials
        && a.skeleton.names() == b.skeleton.names()
        && a.parts.len() == b.parts.len()
        && a.parts.iter().zip(&b.parts).all(|(a, b)| {
            a.triangles == b.triangles
                && a.palette == b.palette
                && a.positions.iter().zip(&b.positions).all(near)
        })
        && a.clips.len() == b.clips.len()
        && a.clips.iter().zip(&b.clips).all(|(a, b)| {
            let same = (&a.timing, a.frame_count()) == (&b.timing, b.frame_count());
            let near = |joint, frame| {
                let [a, b] = [a, b].map(|clip| clip.transform_at(joint, frame));
                near((&a.translation, &b.translation)) && a.rotation.dot(b.rotation).abs() > 0.9999
            };
            same && (0..a.frame_count())
                .all(|frame| (0..a.joints().len()).all(|joint| near(joint, frame)))
        })
}
