//! From what a file says to a model, and back for the writers.

// Shared by the formats.
mod axes;
mod influences;
mod limits;
mod names;
mod normals;
mod reach;
mod split;
mod subframes;
mod tangents;
mod weld;
mod winding;

mod m3d;
mod manifest;
mod md5;
mod open;
mod textures;

pub use limits::Limits;
pub use m3d::{CLIP_ERROR, CLIP_ERROR_AT_ODD_KEYS, from_m3d, to_m3d};
pub use manifest::{CallbackEntry, ClipEntry, Manifest, MaskEntry, SocketEntry};
pub use md5::{clip_from_md5, from_md5, to_md5_anim, to_md5_mesh};
pub use open::{FileKind, open_clips, open_manifest, open_model, skeleton_of_anim};
pub use textures::{MaterialTextures, TextureFiles, TextureMap, texture_candidates};

use crate::format::{Diagnostic, m3d::Dialect};
use crate::model::{Model, SkinPart};
use serde::{Deserialize, Serialize};

/// The hand of a file's coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum Hand {
    /// Decided per file: by the winding against the normals for `.m3d`; MD5 is right-handed.
    #[default]
    Auto,
    /// Left-handed, Direct3D's custom: z (with [`UpAxis::Z`], y) is negated on the way in.
    Left,
    /// Right-handed.
    Right,
}

/// The axis that points up in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum UpAxis {
    /// The format's custom: Y for `.m3d`; Z for MD5, with +X forward.
    #[default]
    Auto,
    /// Y is up; axes stay.
    Y,
    /// Z is up and +X forward: `(x, y, z) → (−y, z, −x)`, or `(y, z, −x)` for left-handed data.
    Z,
}

/// How a file's numbers become Bevy's: right-handed, Y up, forward −Z.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
#[serde(default, deny_unknown_fields)]
pub struct ImportSettings {
    /// Factor on every length; finite and more than 0. 0.0254 for a model in inches.
    pub scale: f32,
    /// The file's hand.
    pub hand: Hand,
    /// The file's up axis.
    pub up: UpAxis,
    /// Flips texture coordinates vertically: `v` becomes `1 - v`. For files whose textures come out upside down.
    pub flip_v: bool,
    /// The most that the file may hold.
    pub limits: Limits,
}

impl Default for ImportSettings {
    fn default() -> Self {
        Self { scale: 1.0, hand: Hand::Auto, up: UpAxis::Auto, flip_v: false, limits: Limits::default() }
    }
}

/// Flips texture coordinates vertically. Bitangents keep pointing along V.
fn flip_tex_coords(parts: &mut [SkinPart]) {
    for part in parts {
        part.tex_coords.iter_mut().for_each(|tex_coord| tex_coord.y = 1.0 - tex_coord.y);
        part.tangents.iter_mut().for_each(|tangent| tangent.w = -tangent.w);
    }
}

/// An imported model, with warnings and figures about how it was made.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// The model, in Bevy's axes.
    pub model: Model,
    /// Warnings, once per cause.
    pub warnings: Vec<Diagnostic>,
    /// Figures for listings.
    pub report: ImportReport,
    /// How far the joints carry the skin, at rest and in all clips.
    pub(crate) reach: reach::Reach,
}

/// Figures about an import.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportReport {
    /// Which exporter wrote the file; `None` for formats without dialects.
    pub dialect: Option<Dialect>,
    /// Vertices in the file, whether or not a part uses them.
    pub vertices: usize,
    /// Triangles in the file, whether or not a part uses them.
    pub triangles: usize,
    /// Vertices by their number of influences in the file: `[0, 1, 2, 3, 4, more]`.
    pub influences: [usize; 6],
    /// Largest share of a vertex's weight lost by keeping four influences.
    pub largest_weight_dropped: f32,
    /// Largest distance, in model units after scaling, by which any pose can part a bound vertex
    /// from where the file's own weights put it. 0 for formats that store one position per vertex.
    pub bind_residual: f32,
    /// `bind_residual` over the diagonal of the model's box.
    pub bind_residual_relative: f32,
    /// Whether the file's joints were not the pose its skin was bound in, so that it was recovered.
    pub bind_recovered: bool,
    /// The hand that was used.
    pub right_handed: bool,
}
