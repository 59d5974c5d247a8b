//! FBX through its public face: files made in code, and posed against the library's own evaluation.

mod clips;
mod file;
mod real;
mod reference;
mod refusals;
mod scenes;
mod shapes;

use bevy_marionette::{
    format::FormatError,
    import::{ImportSettings, Imported, open_model},
};
use reference::Reference;

fn open(fbx: &[u8]) -> Result<Imported, FormatError> {
    open_model("f.fbx", fbx, &ImportSettings::default())
}

/// Imports a file that has nothing to warn about, apart from warnings with one of these words.
fn import(fbx: &str, expected: &[&str]) -> (Imported, Reference) {
    let imported = open(fbx.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
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
    (imported, Reference::new(fbx.as_bytes()))
}

/// The most that posed vertices and joints may differ from the library's, as a share of the model's size.
const BOUND: f64 = 1e-4;
