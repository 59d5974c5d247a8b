//! Real files, where there are any: `MARIONETTE_GLTF_FILES` names a folder of `.glb` files, and of folders with `.gltf` files.

use super::{
    BOUND,
    formula::{Reference, error, error_of_clip},
};
use bevy_marionette::{import::ImportSettings, internals::import::open_model_with};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The glTF files in a folder and the folders in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
    let is_gltf = |path: &PathBuf| path.extension().is_some_and(|e| e == "glb" || e == "gltf");
    let below = folders.iter().flat_map(|folder| self::files(folder));
    files.into_iter().filter(is_gltf).chain(below).collect()
}

#[test]
fn real_files_are_posed_as_the_specification_says() {
    let Some(folder) = std::env::var_os("MARIONETTE_GLTF_FILES") else {
        return;
    };
    let mut files = files(Path::new(&folder));
    files.sort();
    assert!(!files.is_empty());
    let mut failed = Vec::new();
    for path in files {
        let glb = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let beside = |file: &str| {
            let read = fs::read(path.with_file_name(file));
            read.map(Into::into).map_err(|error| error.to_string())
        };
        let imported = match open_model_with(&name, &glb, &ImportSettings::default(), beside) {
            Ok(imported) => imported,
            Err(error) => {
                println!("{name}: refused: {}", error.diagnostics[0].message);
                continue;
            }
        };
        let reference = Reference::of_file(&path);
        let model = &imported.model;
        let rest = error(&reference, &imported, None, None, 0.0);
        let mut worst = rest;
        let count = model.clips.len();
        for clip in [0, count / 2, count.saturating_sub(1)]
            .into_iter()
            .filter_map(|at| model.clips.get(at))
        {
            let error = error_of_clip(&reference, &imported, &clip.timing.name);
            println!(
                "{name}: {}: {error:.1e}, {} frames",
                clip.timing.name,
                clip.frame_count()
            );
            worst = worst.max(error);
        }
        let warnings: Vec<&str> = imported.warnings.iter().map(|w| &*w.message).collect();
        println!(
            "{name}: {} joints, {} morph targets, {} parts, {count} clips, rest {rest:.1e}, worst {worst:.1e}; scale of one: {}, {}; {warnings:?}",
            model.skeleton.len(),
            model.skeleton.morphs().len(),
            model.parts.len(),
            model.skeleton.unit_scale(),
            model.clips.iter().filter(|clip| clip.unit_scale()).count(),
        );
        if worst >= BOUND {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}
