//! The scene of a file.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A scene of a glTF file.
///
/// ```ron
/// (
///     model: "castle.glb",
///     scene: "Guard",
/// )
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected the name or the number of a scene")]
pub enum SceneEntry {
    /// Its place in the file, from 0.
    Number(u32),
    /// Its name. The first scene of several that share it is meant.
    Name(String),
}

impl fmt::Display for SceneEntry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(out),
            Self::Name(name) => write!(out, "`{name}`"),
        }
    }
}
