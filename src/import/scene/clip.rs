//! What a file says of an animation, and the clips that come of all of them.

#[cfg(feature = "gltf")]
use crate::import::resample::Frames;
use crate::{
    import::{ClipEntry, resample::Curve, weights::WeightCurve},
    model::{CallbackKey, MorphIndex, SkeletalClip},
};
use std::collections::BTreeMap;

/// An animation of a file.
#[derive(Default)]
pub(in crate::import) struct SceneClip {
    /// Its place in the file, for warnings.
    pub(in crate::import) place: String,
    /// Its name, which others may have, too.
    pub(in crate::import) name: String,
    /// One per joint of the model; those without keys don't move.
    pub(in crate::import) curves: Vec<Curve>,
    /// Of which properties each joint has keys; see [`Imported::keyed`](crate::import::Imported).
    pub(in crate::import) keyed: Vec<[bool; 3]>,
    /// The weights of morph targets that it moves.
    pub(in crate::import) weights: BTreeMap<MorphIndex, WeightCurve>,
    /// The number of keys in the file, by which its memory is limited. The curves may have more.
    pub(in crate::import) keys: usize,
    /// The time up to which the clip lasts at least, though its keys may end before.
    pub(in crate::import) end: f64,
    /// The exact length, if steps are to come out as in glTF: at their very time, the later frame counts.
    pub(in crate::import) duration: Option<f64>,
    /// The frames that the keys were made from.
    #[cfg(feature = "gltf")]
    pub(in crate::import) frames: Option<Frames>,
    /// `true` for differences, which the file has added to the rest pose.
    pub(in crate::import) is_additive: bool,
    pub(in crate::import) callbacks: Vec<CallbackKey>,
    /// The clip's entry, as a manifest would have it.
    pub(in crate::import) entry: ClipEntry,
}

/// The clips of a file.
#[derive(Default)]
pub(in crate::import) struct FileClips {
    pub(in crate::import) list: Vec<SkeletalClip>,
    /// Per clip, and per joint, of which properties it has keys.
    pub(in crate::import) keyed: Vec<Vec<[bool; 3]>>,
    /// What the file says of them as a manifest would, by name.
    pub(in crate::import) entries: BTreeMap<String, ClipEntry>,
}
