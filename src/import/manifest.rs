//! `.character.ron` manifests: a model with clips from other files, names, masks, sockets and callback keys.

mod blend_space;
mod callbacks;
mod check;
mod constraints;
mod edit;
mod embedded;
mod entries;
mod feet;
mod goals;
mod look_at;
mod messages;
mod places;
mod retarget;
mod rig;
mod root_motion;
mod scene;
mod springs;
mod states;

pub(crate) use blend_space::bind_blend_space;
pub use blend_space::{BlendPlace, BlendSpaceEntry};
pub use callbacks::CallbackEntry;
pub use constraints::ConstraintEntry;
#[cfg(feature = "bevy")]
pub(crate) use constraints::resolve_constraints;
pub use embedded::EmbeddedManifest;
pub use entries::{ClipEntry, MaskEntry, SocketEntry};
pub use feet::{FeetEntry, LegEntry};
pub use goals::GoalEntry;
pub use look_at::{GazeEntry, LookAtEntry};
pub use retarget::RetargetEntry;
pub use rig::RigEntries;
pub use root_motion::{ClipRootMotion, RootMotionEntry};
pub use scene::SceneEntry;
#[cfg(feature = "bevy")]
pub(crate) use springs::resolve_springs;
pub use springs::{ColliderEntry, SpringEntry};

use super::{Hand, ImportSettings, UpAxis};
use crate::{
    format::{Diagnostic, FormatError, TextKind, line_and_column, refuse_foreign, without_bom},
    model::{SkeletalClip, Skeleton, State, StateLayer, distinct},
    rig::{Feet, PlantRange, Plants},
};
use messages::{NESTING, misread};
use ron::extensions::Extensions;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

/// A character manifest, `.character.ron`. Only `model` is required; unknown fields are errors.
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
    /// The model's file, `.glb`, `.gltf`, `.fbx`, `.m3d` or `.md5mesh`, relative to the manifest.
    pub model: String,
    /// Scale of the model and its clips. 0.0254 for a model in inches.
    #[serde(default = "one")]
    pub scale: f32,
    /// The model's handedness.
    #[serde(default)]
    pub hand: Hand,
    /// The model's up axis.
    #[serde(default)]
    pub up: UpAxis,
    /// The scene of a glTF file that is read, by its name or number: `scene: "Knight"`, or `scene: 1` for the second. `None` for the
    /// file's own choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scene: Option<SceneEntry>,
    /// Keeps all levels of detail of meshes; see [`ImportSettings::all_lods`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_lods: bool,
    /// Flips texture coordinates vertically; see [`ImportSettings::flip_v`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flip_v: bool,
    /// Largest error of the skin where vertices have more than four joints; see [`ImportSettings::skin_error`].
    #[serde(default = "skin_error", skip_serializing_if = "is_skin_error")]
    pub skin_error: f32,
    /// Most palette entries of a part; see [`ImportSettings::max_palette`].
    #[serde(default = "max_palette", skip_serializing_if = "is_max_palette")]
    pub max_palette: u16,
    /// Compresses the clips with an error of at most this distance at the skin, in model units after scaling. They take a fraction
    /// of the memory, and posing a crowd takes a tenth to a third longer. `None` keeps them lossless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip_error: Option<f32>,
    /// Takes movements of the root out of the clips, to carry the character; `None` takes out nothing. Clips stay in place
    /// in any case: to carry the character, add a `RootMotion` component to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_motion: Option<RootMotionEntry>,
    /// Names for the model's joints in file order, for formats without names. May be shorter than the skeleton.
    #[serde(default)]
    pub joint_names: Vec<String>,
    /// Joints that must not move the skin, such as the targets and poles of limbs, besides those that the model's file
    /// marks. One `*` in a name stands for anything: `"ik.*"`, `"*_ctrl"`.
    ///
    /// They stay in the skeleton, and clips move them. Their weights are taken off the skin: a vertex follows its other
    /// joints, or if it has none, the nearest joint above that is not a control joint. A part that only a single joint
    /// moves is attached to that joint and stays with it.
    ///
    /// A glTF file marks a control joint with `"deform": false` in the `extras` of its node. In Blender, that is a custom
    /// property of the bone, exported with *Include › Custom Properties*. This sets it for an armature:
    ///
    /// ```python
    /// for bone in bpy.context.object.data.bones: bone["deform"] = bone.use_deform
    /// ```
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub control_joints: Vec<String>,
    /// Parts to merge, listed under the name of the part that they become. One `*` in a name stands for anything:
    /// `merge: { "body": ["Knight_*"] }`.
    ///
    /// Each part of a character is an entity with a palette and a draw call of its own. Characters with a dozen parts, which are
    /// common in asset stores, take more than twice the time of those with one. Don't merge parts that the game hides, repaints,
    /// or picks by name, nor faces with morph targets, nor parts that are seen through each other. Parts of static models stay
    /// apart.
    ///
    /// Materials that differ in nothing but color become a white one, and the colors become those of the vertices. Alpha and colors
    /// above 1 stay in the material. Parts whose materials differ otherwise stay apart: they become one part for each, such as
    /// `body.skin` and `body.cloth`. Materials that no part uses anymore are dropped, which moves the indices of those after
    /// them. A merged part with more joints than [`max_palette`](Self::max_palette) is split like any other.
    #[serde(
        default,
        deserialize_with = "distinct",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub merge: BTreeMap<String, Vec<String>>,
    /// Pairs of joints on the left and right, where their names don't tell: `[("arm_1", "arm_2")]`. Names such as `hand.L`,
    /// `LeftHand` and `hand_l` do; see [`Skeleton::other_side`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<(String, String)>,
    /// Files of textures, relative to the model. If empty, those in the model's folder and its subfolders. The web cannot
    /// list folders: there, without this list, each texture is asked for under one name after another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub textures: Vec<String>,
    /// Clips by name. The model's own clips are kept; an entry with the same name changes one.
    #[serde(default, deserialize_with = "distinct")]
    pub clips: BTreeMap<String, ClipEntry>,
    /// Clips that are blended by parameters such as speed and turn, by name.
    #[serde(
        default,
        deserialize_with = "distinct",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub blend_spaces: BTreeMap<String, BlendSpaceEntry>,
    /// States of the character, by name: the clips that play in each, and the ways from one to another. See
    /// [`State`].
    #[serde(
        default,
        deserialize_with = "distinct",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub states: BTreeMap<String, State>,
    /// States of parts of the body, on top of [`states`](Self::states), by name. Where their masks overlap, the last name
    /// in alphabetical order is on top.
    #[serde(
        default,
        deserialize_with = "distinct",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub layers: BTreeMap<String, StateLayer>,
    /// Per-joint masks by name.
    #[serde(default, deserialize_with = "distinct")]
    pub masks: BTreeMap<String, MaskEntry>,
    /// Places to attach things to, by name.
    #[serde(default, deserialize_with = "distinct")]
    pub sockets: BTreeMap<String, SocketEntry>,
    /// Limbs that can reach for goals, by name.
    #[serde(
        default,
        deserialize_with = "distinct",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub goals: BTreeMap<String, GoalEntry>,
    /// The joints that turn toward what the character looks at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_at: Option<LookAtEntry>,
    /// Joints that follow others, such as twist bones. They turn after everything but springs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<ConstraintEntry>,
    /// Joints that swing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub springs: Vec<SpringEntry>,
    /// Shapes that springs stay outside of, by name.
    #[serde(
        default,
        deserialize_with = "distinct",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub colliders: BTreeMap<String, ColliderEntry>,
    /// The legs that adapt to uneven ground.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feet: Option<FeetEntry>,
    /// The text that it was read from, for the places of what turns out to be wrong later.
    #[serde(skip)]
    #[doc(hidden)]
    pub text: ManifestText,
}

/// The text that a [`Manifest`] was read from; empty if there is none.
///
/// It doesn't count in comparisons: the same manifest may be written in many ways.
#[derive(Clone, Debug, Default)]
pub struct ManifestText(Arc<[u8]>);

impl PartialEq for ManifestText {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

fn one() -> f32 {
    1.0
}

fn skin_error() -> f32 {
    ImportSettings::default().skin_error
}

fn is_skin_error(error: &f32) -> bool {
    *error == skin_error()
}

fn max_palette() -> u16 {
    ImportSettings::default().max_palette
}

fn is_max_palette(most: &u16) -> bool {
    *most == max_palette()
}

impl Manifest {
    /// Creates a manifest that only names a model.
    pub fn of_model(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            scale: 1.0,
            hand: Hand::default(),
            up: UpAxis::default(),
            scene: None,
            all_lods: false,
            flip_v: false,
            skin_error: skin_error(),
            max_palette: max_palette(),
            clip_error: None,
            root_motion: None,
            joint_names: Vec::new(),
            control_joints: Vec::new(),
            merge: BTreeMap::new(),
            sides: Vec::new(),
            textures: Vec::new(),
            clips: BTreeMap::new(),
            blend_spaces: BTreeMap::new(),
            states: BTreeMap::new(),
            layers: BTreeMap::new(),
            masks: BTreeMap::new(),
            sockets: BTreeMap::new(),
            goals: BTreeMap::new(),
            look_at: None,
            constraints: Vec::new(),
            springs: Vec::new(),
            colliders: BTreeMap::new(),
            feet: None,
            text: ManifestText::default(),
        }
    }

    /// Returns the manifest with other settings of how the model is read. [`as_is`](ImportSettings::as_is) and
    /// [`limits`](ImportSettings::limits) are not among them: clips have the one, and whoever opens files has the other.
    pub fn with_settings(self, settings: &ImportSettings) -> Self {
        let ImportSettings {
            scale,
            hand,
            up,
            flip_v,
            skin_error,
            max_palette,
            all_lods,
            as_is: _,
            limits: _,
        } = *settings;
        Self {
            scale,
            hand,
            up,
            flip_v,
            skin_error,
            max_palette,
            all_lods,
            ..self
        }
    }

    /// Parses a manifest. `file` is its name in error messages.
    pub fn parse(file: &str, source: &[u8]) -> Result<Self, FormatError> {
        let source = source.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source);
        if source.starts_with(b"\xff\xfe") || source.starts_with(b"\xfe\xff") {
            let error = Diagnostic::error(file, "this text is UTF-16");
            return Err(FormatError::one(error.with_hint("save it as UTF-8")));
        }
        if source.trim_ascii().is_empty() {
            let hint = "a manifest contains at least (model: \"character.md5mesh\")";
            return Err(FormatError::one(
                Diagnostic::error(file, "the file is empty").with_hint(hint),
            ));
        }
        refuse_foreign(file, source, TextKind::Manifest)?;
        let source = without_bom(source);
        let mut manifest: Self = options()
            .from_bytes(source)
            .map_err(|error| FormatError::one(misread(file, source, &error)))?;
        manifest.text = ManifestText(source.into());
        let diagnostics = manifest.misstatements(file);
        if diagnostics.is_empty() {
            Ok(manifest)
        } else {
            Err(FormatError { diagnostics })
        }
    }

    /// Puts a report at the place of what is at the end of a path: names of fields, keys of maps, and at last maybe a text.
    pub(super) fn place(&self, path: &[&str], report: Diagnostic) -> Diagnostic {
        let source = &self.text.0;
        match places::find(source, path) {
            Some(at) => {
                let (line, column) = line_and_column(source, at);
                report.at(source, line, column)
            }
            None => report,
        }
    }

    /// Adds a warning at the place of what is at the end of a path.
    pub(super) fn warn(&self, warnings: &mut Vec<Diagnostic>, path: &[&str], warning: Diagnostic) {
        // Finding a place takes a look at the whole text, and a hostile manifest has many mistakes.
        let warning = match warnings.len() < 4 * FormatError::MAX_WARNINGS {
            true => self.place(path, warning),
            false => warning,
        };
        warnings.push(warning);
    }

    /// Returns the manifest as text that [`Self::parse`] accepts.
    pub fn to_ron(&self) -> Result<String, ron::Error> {
        options().to_string_pretty(self, ron::ser::PrettyConfig::default())
    }

    /// Returns the settings for importing the model and its clips, with the default limits.
    pub fn settings(&self) -> ImportSettings {
        let Self {
            scale,
            hand,
            up,
            flip_v,
            skin_error,
            max_palette,
            all_lods,
            ..
        } = *self;
        ImportSettings {
            scale,
            hand,
            up,
            flip_v,
            skin_error,
            max_palette,
            all_lods,
            ..ImportSettings::default()
        }
    }

    /// Returns the times at which a clip plants the feet: those of its entry, or for feet without any, those that its motion
    /// shows. The clip must be bound to the skeleton.
    #[doc(hidden)]
    pub fn plants(&self, feet: &Feet, skeleton: &Skeleton, clip: &SkeletalClip) -> Plants {
        let Some(entry) = &self.feet else {
            return Plants::default();
        };
        let mut keys = vec![None; feet.len()];
        let given = self.clips.get(&*clip.timing.name);
        // A mirror image has the plants of its original, on the other side, unless it has its own.
        let original = given
            .filter(|entry| entry.plants.is_empty())
            .and_then(|entry| entry.mirror.as_ref());
        let plants = original
            .and_then(|name| self.clips.get(name))
            .or(given)
            .map(|entry| &entry.plants);
        for (foot, ranges) in plants.into_iter().flatten() {
            let other = || {
                skeleton
                    .other_side(skeleton.joint(foot)?)
                    .map(|other| &**skeleton.name(other))
            };
            let foot = original.and_then(|_| other()).unwrap_or(foot);
            if let Some(keys) = entry.leg(foot).and_then(|leg| keys.get_mut(leg)) {
                *keys = Some(
                    ranges
                        .iter()
                        .map(|&(start, end)| PlantRange { start, end })
                        .collect(),
                );
            }
        }
        Plants::keyed(feet, skeleton, clip, &keys)
    }

    /// Returns all files that the manifest names besides the model, without duplicates, sorted by name.
    pub fn clip_files(&self) -> Vec<&str> {
        let files = self.clips.values().flat_map(|clip| {
            let skeleton = clip
                .retarget
                .as_ref()
                .and_then(|retarget| retarget.skeleton.as_deref());
            [clip.file.as_deref(), skeleton]
        });
        let mut files: Vec<&str> = files.flatten().collect();
        files.sort_unstable();
        files.dedup();
        files
    }
}

fn options() -> ron::Options {
    ron::Options::default()
        .with_default_extension(Extensions::IMPLICIT_SOME)
        .with_recursion_limit(NESTING)
}

#[cfg(test)]
#[path = "tests/manifest.rs"]
mod tests;
