//! glTF through its public face: files made in code, and posed against the formulas of the specification.

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
mod without_vertices;

use bevy_marionette::{
    format::FormatError,
    import::{ImportSettings, Imported, open_model},
};
use file::File;
use formula::Reference;

fn open(glb: &[u8]) -> Result<Imported, FormatError> {
    open_model("f.glb", glb, &ImportSettings::default())
}

/// Imports a file that has nothing to warn about, apart from warnings with one of these words.
fn import(file: &File, expected: &[&str]) -> (Imported, Reference) {
    let imported = open(&file.glb()).unwrap_or_else(|error| panic!("{error}"));
    for warning in &imported.warnings {
        assert!(
            expected.iter().any(|words| warning.message.contains(words)),
            "{warning}"
        );
    }
    for words in expected {
        assert!(
            imported.warnings.iter().any(|w| w.message.contains(words)),
            "{words}: {:?}",
            imported.warnings
        );
    }
    (
        imported,
        Reference::new(file.json.clone(), file.bin.clone()),
    )
}

/// How many variants a test tries: `few`, or what `MARIONETTE_GLTF_VARIANTS` says, for long runs.
fn variants(few: u64) -> std::ops::Range<u64> {
    let many = std::env::var("MARIONETTE_GLTF_VARIANTS")
        .ok()
        .and_then(|many| many.parse().ok());
    0..many.unwrap_or(few)
}

/// What files made here without normals are warned about.
const NO_NORMALS: &str = "no normals";

/// The most that posed vertices may differ from the specification's, as a share of the model's size.
const BOUND: f64 = 1e-4;
