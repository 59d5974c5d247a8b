//! Real files, where there are any: `MARIONETTE_GLTF_FILES` names a folder of `.glb` files.

use super::{
    BOUND,
    formula::{Reference, error, error_of_clip},
    open,
};
use std::{fs, path::PathBuf};

#[test]
fn real_files_are_posed_as_the_specification_says() {
    let Some(folder) = std::env::var_os("MARIONETTE_GLTF_FILES") else {
        return;
    };
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|e| e == "glb"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    let mut failed = Vec::new();
    for path in files {
        let glb = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let imported = match open(&glb) {
            Ok(imported) => imported,
            Err(error) => {
                println!("{name}: refused: {}", error.diagnostics[0].message);
                continue;
            }
        };
        let reference = Reference::of_glb(&glb);
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
            "{name}: {} joints, {} parts, {count} clips, rest {rest:.1e}, worst {worst:.1e}; scale of one: {}, {}; {warnings:?}",
            model.skeleton.len(),
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
