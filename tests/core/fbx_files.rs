//! FBX through its public face: files made in code, and posed against the library's own evaluation.

mod clips;
mod exporters;
mod file;
mod real;
mod reference;
mod refusals;
mod scenes;
mod shapes;

use crate::messages::{assert_messages, is_like};
use bevy_marionette::{
    format::FormatError,
    import::{ImportSettings, Imported, open_model},
};
use reference::Reference;

fn open(fbx: &[u8]) -> Result<Imported, FormatError> {
    open_model("f.fbx", fbx, &ImportSettings::default())
}

/// Imports a file that has nothing to warn about, apart from warnings like these, which are named as in `messages.txt`.
fn import(fbx: &str, expected: &[&str]) -> (Imported, Reference) {
    let imported = open(fbx.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
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
    (imported, Reference::new(fbx.as_bytes()))
}

/// Imports a file that is warned about as `messages.txt` has it under a name.
fn import_with_warnings(fbx: &str, name: &str) -> (Imported, Reference) {
    let imported = open(fbx.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_messages(name, &imported.warnings);
    (imported, Reference::new(fbx.as_bytes()))
}

/// The most that posed vertices and joints may differ from the library's, as a share of the model's size.
const BOUND: f64 = 1e-4;
