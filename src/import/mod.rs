//! Importing: from the contents of a file to a model, and back for the writers.

// Shared by the formats.
mod avatar;
mod axes;
mod by_role;
mod check_names;
mod check_sides;
mod combine;
mod control;
mod donor;
mod donors;
mod edits;
mod find_clip;
mod firsts;
#[cfg(any(feature = "fbx", feature = "gltf"))]
mod image_names;
mod influences;
#[cfg_attr(not(any(feature = "fbx", feature = "gltf")), allow(dead_code))]
mod keys;
mod limits;
#[cfg(any(feature = "fbx", feature = "gltf"))]
mod lods;
mod losses;
mod matching;
mod merge;
mod mips;
#[cfg(any(feature = "fbx", feature = "gltf"))]
mod morph_normals;
mod named_file;
mod names;
#[cfg(any(feature = "fbx", feature = "gltf"))]
mod nodes;
mod normals;
mod report;
mod resample;
mod retarget;
mod root_motion;
mod scene;
#[cfg(any(feature = "fbx", feature = "gltf"))]
mod shared_morphs;
mod speech;
mod split;
mod subframes;
mod tangents;
#[cfg_attr(not(any(feature = "fbx", feature = "gltf")), allow(dead_code))]
mod weights;
mod weld;
mod winding;

mod assemble;
mod baked;
#[cfg(all(feature = "fbx", not(target_arch = "wasm32")))]
mod fbx;
#[cfg(feature = "gltf")]
mod gltf;
mod m3d;
mod manifest;
mod md5;
mod open;
mod textures;
mod wanted;

pub use assemble::open_manifest;
#[cfg(feature = "bevy")]
pub(crate) use assemble::open_manifest_and_tell;
pub use avatar::{Avatar, AvatarMeta};
pub use baked::BakedCharacter;
pub(crate) use internals::*;
pub use limits::ImportLimits;
pub(crate) use manifest::bind_blend_space;
pub use manifest::{
    BlendPlace, BlendSpaceEntry, CallbackEntry, ClipEntry, ClipRootMotion, ColliderEntry,
    ConstraintEntry, FeetEntry, GazeEntry, GoalEntry, LegEntry, LookAtEntry, Manifest, MaskEntry,
    RetargetEntry, RigEntries, RootMotionEntry, SceneEntry, SocketEntry, SpringEntry,
};
pub use open::{FileKind, open_model};
pub(crate) use retarget::RetargetReport;
#[cfg(feature = "bevy")]
pub(crate) use {
    manifest::{resolve_constraints, resolve_springs},
    mips::{Content, add_mips, texels_of_all},
    root_motion::root_joint,
};
#[cfg(feature = "bevy")]
pub(crate) use {matching::match_joints, textures::is_relative_path};

use crate::format::{Diagnostic, m3d::Dialect};
use crate::model::{Material, Model, Reach, SkinPart};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

/// What the crate and its tools use, but no app: see [`crate::internals`].
pub(crate) mod internals {
    #[cfg(all(feature = "fbx", not(target_arch = "wasm32")))]
    pub use crate::import::fbx::from_fbx;
    #[cfg(feature = "gltf")]
    pub use crate::import::gltf::{GlbTexture, from_gltf, to_glb};
    pub use crate::import::{
        avatar::{
            AvatarCollider, AvatarConstraint, AvatarLookAt, AvatarSpring, AvatarSpringJoint,
            ColliderShape, RangeMap,
        },
        baked::Texels,
        losses::{WriteFormat, losses},
        m3d::{from_m3d, to_m3d},
        manifest::EmbeddedManifest,
        md5::{clip_from_md5, from_md5, skeleton_of_anim, to_md5_anim, to_md5_mesh},
        merge::alike_but_for_color,
        named_file::NamedFile,
        names::listed,
        open::{files_beside, open_clips, open_clips_with, open_model_with},
        resample::CLIP_ERROR,
        retarget::{Retarget, RetargetError},
        textures::{
            MaterialTextures, TextureFiles, TextureMap, missing_textures, texture_candidates,
            texture_folders, texture_places,
        },
    };
}

/// Handedness of a file's coordinates.
///
/// ```ron
/// (
///     model: "soldier.m3d",
///     hand: Left,
/// )
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum Hand {
    /// Detected per file from winding and normals for `.m3d`; MD5, glTF, and FBX are right-handed.
    #[default]
    Auto,
    /// Left-handed, as in Direct3D: z is negated on import (y with [`UpAxis::Z`]).
    Left,
    /// Right-handed.
    Right,
}

/// The axis that points up in a file.
///
/// ```ron
/// (
///     model: "robot.glb",
///     up: Z,
/// )
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum UpAxis {
    /// The format's convention: Y for `.m3d`; Y, with +Z forward, for glTF and FBX; Z, with +X forward, for MD5.
    #[default]
    Auto,
    /// Y is up; axes are kept.
    Y,
    /// Z is up and +X forward: `(x, y, z) → (−y, z, −x)`, or `(y, z, −x)` for left-handed data.
    Z,
}

/// The conversion of a file's coordinates to Bevy's: right-handed, Y up, forward −Z.
///
/// ```
/// # use bevy_marionette::import::ImportSettings;
/// // For old phones: four joints per vertex, and few matrices per part.
/// let settings = ImportSettings {
///     skin_error: 1.0,
///     max_palette: 64,
///     ..ImportSettings::default()
/// };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
#[serde(default, deny_unknown_fields)]
pub struct ImportSettings {
    /// Scale factor for all lengths, finite and above 0. Use 0.0254 for a model in inches.
    pub scale: f32,
    /// Handedness of the file.
    pub hand: Hand,
    /// Up axis of the file.
    pub up: UpAxis,
    /// Flips texture coordinates vertically: `v` becomes `1 - v`. For files whose textures come out upside down.
    pub flip_v: bool,
    /// Largest error of the skin where vertices have more than four joints, as a share of the model's size.
    ///
    /// It is the share of a vertex's weight that may follow other joints than in the file. The vertex is off by at most
    /// this share of the distance between the places where its joints and those others put it, which is less than the
    /// model's size unless a pose tears its joints apart. The default, 1e-5, is as good as exact; 1 keeps the four largest joints
    /// and drops all others.
    pub skin_error: f32,
    /// Most entries of a part's palette, joints and combined joints together.
    ///
    /// A part with more joints is split. If its combined joints don't fit, the vertices with the largest errors get
    /// theirs, and a warning reports the rest. The default, 256, is what devices without storage buffers can draw. Each
    /// entry costs a matrix per character. Less than 12 counts as 12.
    pub max_palette: u16,
    /// Takes the keys of clips from other glTF and FBX files as they are, as for the model's own nodes.
    /// Otherwise, clips of an armature that is turned, or in another unit, are corrected by the
    /// transforms above the joints and by inverse bind matrices; without the latter, only if all
    /// joints agree, and the topmost joint's keys do, too.
    pub as_is: bool,
    /// Keeps all levels of detail of meshes, such as `body_LOD0` and `body_LOD1`, as parts that are drawn on top of each other.
    /// Otherwise, only the finest are kept. For glTF and FBX.
    pub all_lods: bool,
    /// The most that the file may contain.
    pub limits: ImportLimits,
}

impl Default for ImportSettings {
    fn default() -> Self {
        Self {
            scale: 1.0,
            hand: Hand::Auto,
            up: UpAxis::Auto,
            flip_v: false,
            skin_error: 1e-5,
            max_palette: SkinPart::MAX_PALETTE as u16,
            as_is: false,
            all_lods: false,
            limits: ImportLimits::default(),
        }
    }
}

/// An imported model, with warnings and figures about how it was made.
///
/// ```no_run
/// # use bevy_marionette::import::{ImportSettings, open_model};
/// # fn f() -> Result<(), Box<dyn std::error::Error>> {
/// let knight = open_model("knight.glb", &std::fs::read("knight.glb")?, &ImportSettings::default())?;
/// for (name, image) in &knight.images {
///     println!("{name}: {} bytes", image.len());
/// }
/// assert!(knight.warnings.is_empty(), "{}", knight.warnings[0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// The model, in Bevy's axes.
    pub model: Model,
    /// Warnings, one per cause.
    pub warnings: Vec<Diagnostic>,
    /// Statistics for listings.
    #[doc(hidden)]
    pub report: ImportReport,
    /// Images that the file contains, usually PNG or JPEG, by the names by which its materials refer to them, such as
    /// `skin.png`.
    pub images: BTreeMap<String, Arc<[u8]>>,
    /// The entries of a manifest that the file holds.
    #[doc(hidden)]
    pub embedded: EmbeddedManifest,
    /// What a VRM file says of its character; `None` for other files.
    pub avatar: Option<Box<Avatar>>,
    /// The clips are for any humanoid, by the roles of joints and the names of expressions: they are a `.vrma` file's.
    pub(crate) clips_are_for_any: bool,
    /// The distances to which joints carry the skin, at rest and in all clips.
    pub(crate) reach: Reach,
    /// Per clip of the file, and per joint, of which properties it has keys: translation, rotation and scale. Empty for formats
    /// whose clips have keys of all.
    pub(crate) keyed: Vec<Vec<[bool; 3]>>,
}

/// The images in a model's file, by name.
pub(crate) type Images = BTreeMap<String, Arc<[u8]>>;

/// Receives a model's materials and images before meshes and clips are imported, so that images decode in parallel.
pub(crate) type OnImages<'a> = &'a mut dyn FnMut(&[Material], &Images);

/// Statistics of an import.
#[doc(hidden)]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportReport {
    /// The exporter that wrote the file; `None` for formats without dialects.
    pub dialect: Option<Dialect>,
    /// Vertices in the file, whether or not a part uses them.
    pub vertices: usize,
    /// Triangles in the file, whether or not a part uses them.
    pub triangles: usize,
    /// Number of vertices by their number of influences in the file: `[0, 1, 2, 3, 4, more]`.
    pub influences: [usize; 6],
    /// Palette entries that were added for vertices with more than four influences.
    pub combined_joints: usize,
    /// Largest share of a vertex's weight that follows other joints than in the file.
    /// See [`ImportSettings::skin_error`].
    pub skin_error: f32,
    /// Largest distance, in model units after scaling, between a vertex and where the file's own weights
    /// put it, in any pose. 0 for formats that store one position per vertex.
    pub bind_residual: f32,
    /// `bind_residual` relative to the diagonal of the model's bounding box.
    pub bind_residual_relative: f32,
    /// `true` if the bind pose was recovered because the skin was not bound in the pose of the
    /// file's joints.
    pub bind_recovered: bool,
    /// `true` if the file was imported as right-handed.
    pub right_handed: bool,
    /// The matches of joints of retargeted clips, by the clips' names in the manifest.
    pub retargets: BTreeMap<String, RetargetReport>,
}

impl ImportReport {
    /// Counts the combined joints of parts whose palettes were made anew.
    fn count_combined_joints(&mut self, parts: &[SkinPart]) {
        let counts = parts.iter().map(|part| part.combined_joints.len());
        self.combined_joints = counts.sum();
    }
}
