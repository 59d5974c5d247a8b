//! glTF through its public face: files made in code, and posed against the formulas of the specification.

mod accepted;
mod clip_files;
mod compressed;
mod control_joints;
mod embedded;
mod file;
pub mod formula;
mod hidden;
mod key_times;
mod manifests;
mod merge;
mod mirrored;
mod morphs;
mod optional_fields;
mod poses;
mod real;
mod refusals;
mod retargeted_clip_files;
mod scenes;
mod visibility;
mod vrm;
mod vrm_rigs;
mod without_vertices;

use crate::messages::{assert_messages, is_like};
use bevy_marionette::{
    format::{Diagnostic, FormatError},
    import::{ImportSettings, Imported, open_model},
};
use file::File;
use formula::Reference;

fn open(glb: &[u8]) -> Result<Imported, FormatError> {
    open_model("f.glb", glb, &ImportSettings::default())
}

/// Imports a file that has nothing to warn about, apart from warnings like these, which are named as in `messages.txt`.
fn import(file: &File, expected: &[&str]) -> (Imported, Reference) {
    let imported = open(&file.glb()).unwrap_or_else(|error| panic!("{error}"));
    for warning in &imported.warnings {
        assert!(
            expected.iter().any(|name| is_like(name, warning)),
            "{warning}"
        );
    }
    for name in expected {
        assert!(
            imported.warnings.iter().any(|w| is_like(name, w)),
            "{name}: {:?}",
            imported.warnings
        );
    }
    (
        imported,
        Reference::new(file.json.clone(), file.bin.clone()),
    )
}

/// Imports a file that is warned about as `messages.txt` has it under a name, apart from normals.
fn import_with_warnings(file: &File, name: &str) -> (Imported, Reference) {
    let imported = open(&file.glb()).unwrap_or_else(|error| panic!("{error}"));
    assert_messages(name, warnings(&imported));
    let reference = Reference::new(file.json.clone(), file.bin.clone());
    (imported, reference)
}

/// How many variants a test tries: `few`, or what `MARIONETTE_GLTF_VARIANTS` says, for long runs.
fn variants(few: u64) -> std::ops::Range<u64> {
    let many = std::env::var("MARIONETTE_GLTF_VARIANTS")
        .ok()
        .and_then(|many| many.parse().ok());
    0..many.unwrap_or(few)
}

/// The warning about files made here without normals.
const NO_NORMALS: &str = "gltf: meshes without normals";

#[test]
fn a_mesh_without_normals_is_warned_about() {
    let mut file = file::chain(2, serde_json::json!({})).file;
    let one = open(&file.glb()).unwrap().warnings;
    let twice = file.json["nodes"].as_array().unwrap().last().unwrap();
    let twice = file.node(twice.clone());
    file.root(twice);
    let two = open(&file.glb()).unwrap().warnings;
    assert_messages(NO_NORMALS, one.iter().chain(&two));
}

/// The warnings, except about normals.
fn warnings(imported: &Imported) -> Vec<&Diagnostic> {
    let warnings = imported.warnings.iter();
    warnings.filter(|w| !is_like(NO_NORMALS, w)).collect()
}

/// The most that posed vertices may differ from the specification's, as a share of the model's size.
const BOUND: f64 = 1e-4;
