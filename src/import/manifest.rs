//! `.character.ron`: what joins a model with clips from other files, names, masks, sockets and callbacks.

use super::{Hand, ImportSettings, UpAxis};
use crate::{
    format::{Diagnostic, FormatError, line_and_column},
    model::PlaybackMode,
    spelling::did_you_mean,
};
use glam::{EulerRot, Quat, Vec3};
use ron::{error::SpannedError, extensions::Extensions};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A character manifest. Unknown fields are refused; only `model` is required.
///
/// ```ron
/// (
///     model: "scout.md5mesh",
///     scale: 0.0254,
///     clips: {
///         "walk": (file: "walk.md5anim", callbacks: [(time: 0.30, name: "footstep", data: "left")]),
///         "jump": (file: "jump.md5anim", playback: Once),
///     },
///     masks: { "upper_body": (roots: ["spine"], falloff: 2) },
///     sockets: { "right_hand": (joint: "hand.R", translation: (0, 0.02, 0)) },
/// )
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The model's file, `.m3d` or `.md5mesh`, relative to the manifest.
    pub model: String,
    /// Factor on every length of the model and its clips.
    #[serde(default = "one")]
    pub scale: f32,
    /// The model's hand.
    #[serde(default)]
    pub hand: Hand,
    /// The model's up axis.
    #[serde(default)]
    pub up: UpAxis,
    /// Largest distance, in model units after scaling, by which a clip may put the skin elsewhere for the
    /// sake of its size: clips are then quantised ([`Compress`](crate::pose::Compress)). `None` keeps them lossless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip_error: Option<f32>,
    /// Names for the model's joints in file order, for formats that have none. May be shorter than the skeleton.
    #[serde(default)]
    pub joint_names: Vec<String>,
    /// Clips by the name they get. The model's own clips are kept; an entry of the same name refines one.
    #[serde(default)]
    pub clips: BTreeMap<String, ClipEntry>,
    /// Per-joint masks by name.
    #[serde(default)]
    pub masks: BTreeMap<String, MaskEntry>,
    /// Places where things are carried, by name.
    #[serde(default)]
    pub sockets: BTreeMap<String, SocketEntry>,
}

/// A clip of a [`Manifest`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClipEntry {
    /// The clip's file, `.md5anim` or another model; `None` for a clip of the model itself.
    pub file: Option<String>,
    /// The clip's name inside its file, where it differs from the entry's and the file holds several.
    pub clip: Option<String>,
    /// What happens at the end; `None` keeps what the file says (a loop).
    pub playback: Option<PlaybackMode>,
    /// Whether the clip holds differences to its first frame; `None` keeps what the file says.
    pub additive: Option<bool>,
    /// Callback keys.
    pub callbacks: Vec<CallbackEntry>,
}

/// A callback key of a [`ClipEntry`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallbackEntry {
    /// Seconds from the clip's start.
    pub time: f64,
    /// Name for the listeners.
    pub name: String,
    /// Any RON value.
    #[serde(default = "unit")]
    pub data: ron::Value,
}

/// A mask of a [`Manifest`]: full strength at the roots and all below them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MaskEntry {
    /// Joints that the mask begins at.
    pub roots: Vec<String>,
    /// Joints above each root over which the mask fades out; see [`Mask::from_roots`](crate::pose::Mask::from_roots).
    pub falloff: u32,
}

/// A socket of a [`Manifest`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SocketEntry {
    /// The joint that carries.
    pub joint: String,
    /// Offset in the joint's space, in model units after scaling.
    #[serde(default)]
    pub translation: Vec3,
    /// Turn in the joint's space: degrees about Y, then X, then Z, written `(x, y, z)`.
    #[serde(default)]
    pub euler_degrees: Vec3,
    /// Scale of what is carried.
    #[serde(default = "one")]
    pub scale: f32,
}

impl SocketEntry {
    /// The turn as a quaternion.
    pub fn rotation(&self) -> Quat {
        let Vec3 { x, y, z } = self.euler_degrees;
        Quat::from_euler(EulerRot::YXZ, y.to_radians(), x.to_radians(), z.to_radians())
    }
}

fn one() -> f32 {
    1.0
}

fn unit() -> ron::Value {
    ron::Value::Unit
}

impl Manifest {
    /// A manifest that says nothing but the model's name.
    pub fn of_model(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            scale: 1.0,
            hand: Hand::default(),
            up: UpAxis::default(),
            clip_error: None,
            joint_names: Vec::new(),
            clips: BTreeMap::new(),
            masks: BTreeMap::new(),
            sockets: BTreeMap::new(),
        }
    }

    /// Reads a manifest. `file` is its name for reports.
    pub fn parse(file: &str, source: &[u8]) -> Result<Self, FormatError> {
        if source.trim_ascii().is_empty() {
            let hint = "a manifest holds at least (model: \"character.md5mesh\")";
            return Err(FormatError::one(Diagnostic::error(file, "the file is empty").with_hint(hint)));
        }
        let manifest: Self =
            options().from_bytes(source).map_err(|error| FormatError::one(misread(file, source, &error)))?;
        let mut diagnostics = Vec::new();
        if !(manifest.scale.is_finite() && manifest.scale > 0.0) {
            let error = Diagnostic::error(file, format!("scale is {}, expected more than 0", manifest.scale));
            diagnostics.push(place_of(source, "scale", error));
        }
        if let Some(error) = manifest.clip_error.filter(|error| !(error.is_finite() && *error > 0.0)) {
            diagnostics.push(Diagnostic::error(file, format!("clip_error is {error}, expected more than 0")));
        }
        for (name, clip) in &manifest.clips {
            for key in clip.callbacks.iter().filter(|key| !key.time.is_finite() || key.time < 0.0) {
                let message = format!("callback `{}` is at {} s, expected 0 or more", key.name, key.time);
                let error = Diagnostic::error(file, message).with_context(format!("clip `{name}`"));
                diagnostics.push(place_of(source, &format!("\"{name}\""), error));
            }
        }
        for (name, socket) in &manifest.sockets {
            let finite = socket.translation.is_finite() && socket.euler_degrees.is_finite() && socket.scale.is_finite();
            if !finite {
                let error = Diagnostic::error(file, format!("socket `{name}` holds a number that is not finite"));
                diagnostics.push(place_of(source, &format!("\"{name}\""), error));
            }
        }
        if diagnostics.is_empty() { Ok(manifest) } else { Err(FormatError { diagnostics }) }
    }

    /// The manifest as text that [`Self::parse`] reads back.
    pub fn to_ron(&self) -> Result<String, ron::Error> {
        options().to_string_pretty(self, ron::ser::PrettyConfig::default())
    }

    /// The settings for importing the model and its clips, with the default limits.
    pub fn settings(&self) -> ImportSettings {
        ImportSettings { scale: self.scale, hand: self.hand, up: self.up, ..ImportSettings::default() }
    }

    /// Every file the manifest names besides the model, each once, in order of name.
    pub fn clip_files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = self.clips.values().filter_map(|clip| clip.file.as_deref()).collect();
        files.sort_unstable();
        files.dedup();
        files
    }
}

/// How deep lists and structs may lie in one another.
const NESTING: usize = 64;

fn options() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME).with_recursion_limit(NESTING)
}

/// The error at the first line on which `word` stands by itself; where it stands twice it may be another.
fn place_of(source: &[u8], word: &str, error: Diagnostic) -> Diagnostic {
    let at = source.windows(word.len()).position(|piece| piece == word.as_bytes());
    match at {
        Some(at) => {
            let (line, column) = line_and_column(source, at);
            error.at(source, line, column)
        }
        None => error,
    }
}

/// What RON's parser found, in the words of this crate's other reports.
fn misread(file: &str, source: &[u8], error: &SpannedError) -> Diagnostic {
    let (message, mut hint) = explain(&error.code, source);
    let at = error.span.start;
    let diagnostic = Diagnostic::error(file, message).at(source, at.line as u32, at.col as u32);
    // RON says what it misses, not that there is nothing more.
    let (end_line, end_column) = line_and_column(source, source.trim_ascii_end().len());
    let at_end = (error.span.end.line, error.span.end.col) >= (end_line as usize, end_column as usize);
    if at_end && !matches!(error.code, ron::Error::MissingStructField { .. } | ron::Error::TrailingCharacters) {
        hint = "the file seems to be cut short, or a bracket is not closed".into();
    }
    if hint.is_empty() { diagnostic } else { diagnostic.with_hint(hint) }
}

fn explain(error: &ron::Error, source: &[u8]) -> (String, String) {
    use ron::Error;
    let did_you_mean = |found: &str, known: &'static [&'static str]| {
        did_you_mean(found, known.iter().copied()).unwrap_or_else(|| {
            format!("there are {}", known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
        })
    };
    match error {
        Error::NoSuchStructField { expected, found, .. } => {
            (format!("unknown field `{found}`"), did_you_mean(found, expected))
        }
        Error::NoSuchEnumVariant { expected, found, .. } => {
            (format!("unknown value `{found}`"), did_you_mean(found, expected))
        }
        Error::MissingStructField { field, .. } => {
            let hint = match *field {
                "model" => "a manifest names its model: `model: \"character.md5mesh\"`".to_owned(),
                field => format!("add `{field}: …`"),
            };
            (format!("the field `{field}` is missing"), hint)
        }
        Error::DuplicateStructField { field, .. } => (format!("the field `{field}` is given twice"), String::new()),
        Error::ExpectedNamedStructLike(_) | Error::ExpectedStructLike
            if source.trim_ascii_start().starts_with(b"{") =>
        {
            let hint = "a manifest is RON, not JSON: `(model: \"character.md5mesh\")`, names without quotes";
            ("expected `(`, found `{`".to_owned(), hint.to_owned())
        }
        Error::ExpectedNamedStructLike(_) | Error::ExpectedStructLike => ("expected `(`".to_owned(), String::new()),
        Error::ExpectedComma => {
            ("expected `,` or a closing bracket".to_owned(), "a comma may be missing before this".to_owned())
        }
        Error::ExpectedFloat | Error::ExpectedInteger => ("expected a number".to_owned(), String::new()),
        Error::ExpectedString => ("expected a text in double quotes".to_owned(), String::new()),
        Error::ExceededRecursionLimit => {
            (format!("brackets lie more than {NESTING} deep in one another"), String::new())
        }
        other => {
            let text = other.to_string();
            let mut letters = text.chars();
            let first = letters.next().map(|c| c.to_lowercase().to_string()).unwrap_or_default();
            (first + letters.as_str(), String::new())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_manifest_is_read() {
        let text = r#"(
            model: "scout.md5mesh",
            scale: 0.0254,
            clips: { "walk": (file: "walk.md5anim", playback: Loop, callbacks: [(time: 0.30, name: "footstep", data: "left")]) },
            masks: { "upper_body": (roots: ["spine"], falloff: 2) },
            sockets: { "right_hand": (joint: "hand.R", translation: (0, 0.02, 0)) },
        )"#;
        let manifest = Manifest::parse("scout.character.ron", text.as_bytes()).unwrap();
        assert_eq!(manifest.clips["walk"].callbacks[0].data, ron::Value::String("left".into()));
        assert_eq!(manifest.sockets["right_hand"].translation, Vec3::new(0.0, 0.02, 0.0));
        assert_eq!(Manifest::parse("again", manifest.to_ron().unwrap().as_bytes()), Ok(manifest));
    }

    #[test]
    fn an_unknown_field_is_refused_with_its_place() {
        let error = Manifest::parse("a.character.ron", b"(\n  model: \"a.m3d\",\n  scael: 2.0,\n)").unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("a.character.ron:3:"), "{text}");
        assert!(text.contains("unknown field `scael`") && text.contains("did you mean `scale`?"), "{text}");
    }

    #[test]
    fn what_is_wrong_is_said_in_words_for_the_artist() {
        let cases = [
            ("{ \"model\": \"a.m3d\" }", "expected `(`, found `{`", "RON, not JSON"),
            ("(model: \"a.m3d\", clips: {\"w\": (playback: Lop)})", "unknown value `Lop`", "did you mean `Loop`?"),
            ("(model: \"a.m3d\"\n scale: 2)", "expected `,`", "a comma may be missing"),
            ("(scale: 2)", "the field `model` is missing", "a manifest names its model"),
            ("(model: \"a.m3d\", clips: {\"w\": (fi", "unknown field `fi`", "cut short"),
            ("(model: \"a.m3d\",\n scale: 0)", "a:2:2: error: scale is 0", ""),
        ];
        for (text, message, hint) in cases {
            let error = Manifest::parse("a", text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(message) && error.contains(hint), "{error}");
        }
        let deep = format!(
            "(model: \"a\", clips: {{\"w\": (callbacks: [(time: 0, name: \"n\", data: {}1{})])}})",
            "[".repeat(99),
            "]".repeat(99)
        );
        assert!(Manifest::parse("a", deep.as_bytes()).unwrap_err().to_string().contains("more than 64 deep"));
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        for text in [
            "(model: \"a\", scale: 0)",
            "(model: \"a\", scale: NaN)",
            "(model: \"a\", clip_error: 0)",
            "(model: \"a\", clips: {\"x\": (callbacks: [(time: -1, name: \"n\")])})",
            "(model: \"a\", sockets: {\"x\": (joint: \"j\", translation: (inf, 0, 0))})",
        ] {
            assert!(Manifest::parse("a", text.as_bytes()).is_err(), "{text}");
        }
    }
}
