//! Clips, masks and sockets of a manifest.

#[cfg(doc)]
use super::Manifest;
use super::{CallbackEntry, ClipRootMotion, RetargetEntry, distinct, one, retarget};
#[cfg(doc)]
use crate::model::SkeletalClip;
use crate::{
    import::control::is_meant,
    model::{JointIndex, PlaybackMode, Skeleton},
    pose::Mask,
};
use glam::{EulerRot, Quat, Vec3};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

/// A clip of a [`Manifest`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClipEntry {
    /// The clip's file, `.md5anim` or another model; `None` for a clip of the model itself.
    pub file: Option<String>,
    /// The clip's name inside its file, if it differs from the entry's and the file contains several. A prefix such as
    /// `Armature|` can be left out.
    pub clip: Option<String>,
    /// The part of the clip that this is, from one frame to another, both included: `clip: "all", frames: (0, 40)`. Frames
    /// count from 0, in `frame_rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<(f64, f64)>,
    /// The part of the clip that this is, from one time to another, in seconds: `clip: "all", seconds: (1.5, 2.75)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<(f64, f64)>,
    /// Another clip of the manifest or the model, of which this is the mirror image: left and right are swapped in its pose,
    /// root motion, callback keys and plants; see [`SkeletalClip::mirrored`]. Only `playback`, `ground_speed`, `callbacks` and
    /// `plants` can be given with it; they are for the mirrored clip, and callbacks are added to those that it has.
    ///
    /// ```ron
    /// clips: {
    ///     "turn_left": (file: "turn_left.md5anim"),
    ///     "turn_right": (mirror: "turn_left"),
    /// }
    /// ```
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mirror: Option<String>,
    /// The character's speech, as times in seconds, shapes of the mouth, and weights: `[(0.10, "ee", 0.6), (0.35, "sil", 1)]`. A
    /// shape is a morph target, one of Oculus' visemes, or another name that the model has something for; see
    /// [`Morphs::expression`](crate::model::Morphs::expression). The clip moves nothing else, and is played once by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speech: Option<Vec<(f64, String, f32)>>,
    /// Makes a clip of another humanoid one of this character; `true` where names tell which joint is what.
    #[serde(
        deserialize_with = "retarget::switch",
        skip_serializing_if = "Option::is_none"
    )]
    pub retarget: Option<RetargetEntry>,
    /// Takes the keys of another glTF file as they are, without putting right an armature that is turned or in another unit; see
    /// [`ImportSettings::as_is`](crate::import::ImportSettings::as_is).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub as_is: bool,
    /// Behavior at the end of the clip; `None` keeps the file's mode (a loop).
    pub playback: Option<PlaybackMode>,
    /// `true` makes the clip one of differences from its first frame; `None` keeps the file's setting.
    pub additive: Option<bool>,
    /// Differences from the character's [`root_motion`](Manifest::root_motion). Without one there, root motion is on for this
    /// clip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_motion: Option<ClipRootMotion>,
    /// Speed at which the clip carries the character forward, in model units per second after scaling; negative for backward.
    /// For clips that walk on the spot. Replaces the movement of a clip that travels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ground_speed: Option<f32>,
    /// Callback keys.
    pub callbacks: Vec<CallbackEntry>,
    /// Frames per second in which callback keys and `frames` count; `None` for the clip's own, if its frames are evenly spaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_rate: Option<f64>,
    /// Times at which feet are planted, as `(start, end)` in seconds, by the feet's joints: `{"foot.L": [(0.1, 0.5)]}`. For
    /// feet that are not listed, they are found in the motion.
    #[serde(
        deserialize_with = "distinct",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub plants: BTreeMap<String, Vec<(f64, f64)>>,
}

/// A mask of a [`Manifest`]: full weight at the roots and all joints below them, at single joints, and at some morph targets.
///
/// ```ron
/// masks: {
///     "upper_body": (roots: ["spine"], falloff: 2),
///     "right_arm": (roots: ["shoulder.R"], joints: ["chest"]),
///     "face": (joints: ["jaw"], morphs: ["*"]),
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MaskEntry {
    /// Joints that the mask starts at.
    pub roots: Vec<String>,
    /// Joints that are in the mask by themselves, without those below.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joints: Vec<String>,
    /// Number of joints above each root over which the mask fades out; see [`Mask::from_roots`](crate::pose::Mask::from_roots).
    pub falloff: u32,
    /// Morph targets that are in the mask. One `*` in a name stands for anything: `["*"]` is the whole face. Without any, the
    /// mask leaves the face alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub morphs: Vec<String>,
}

impl MaskEntry {
    /// Returns the mask for a skeleton. Joints and morph targets that it lacks have no effect.
    pub fn mask(&self, skeleton: &Skeleton) -> Mask {
        let roots: Vec<JointIndex> = self
            .roots
            .iter()
            .filter_map(|root| skeleton.joint(root))
            .collect();
        let mut mask = Mask::from_roots(skeleton, &roots, self.falloff);
        for joint in self.joints.iter().filter_map(|name| skeleton.joint(name)) {
            mask.set(usize::from(joint), 1.0);
        }
        if self.morphs.is_empty() {
            return mask;
        }
        let is_in = |name: &Arc<str>| self.morphs.iter().any(|entry| is_meant(entry, name));
        let weights = skeleton
            .morphs()
            .names()
            .iter()
            .map(|name| f32::from(u8::from(is_in(name))));
        mask.with_morphs(weights)
    }
}

/// A socket of a [`Manifest`].
///
/// ```ron
/// sockets: {
///     "right_hand": (joint: "hand.R", translation: (0, 0.02, 0), euler_degrees: (90, 0, 0)),
///     "back": (joint: "chest", translation: (0, 0.1, 0.15), scale: 0.8),
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SocketEntry {
    /// The joint.
    pub joint: String,
    /// Offset in the joint's space, in model units after scaling.
    #[serde(default)]
    pub translation: Vec3,
    /// Rotation in the joint's space, as `(x, y, z)` in degrees; applied around Y, then X, then Z.
    #[serde(default)]
    pub euler_degrees: Vec3,
    /// Scale of attached entities.
    #[serde(default = "one")]
    pub scale: f32,
}

impl SocketEntry {
    /// Returns the rotation as a quaternion.
    pub fn rotation(&self) -> Quat {
        let Vec3 { x, y, z } = self.euler_degrees;
        Quat::from_euler(
            EulerRot::YXZ,
            y.to_radians(),
            x.to_radians(),
            z.to_radians(),
        )
    }
}

impl ClipEntry {
    /// Returns the first contradiction between the fields.
    pub(super) fn misstatement(&self) -> Option<String> {
        if self.retarget.is_some() && self.file.is_none() {
            return Some(
                "`retarget` is for clips of another file: add `file`, or leave out `retarget`"
                    .into(),
            );
        }
        if self.as_is && (self.file.is_none() || self.retarget.is_some()) {
            return Some(
                "`as_is` is for clips of another file that are not retargeted: add `file` without `retarget`, or leave out `as_is`".into(),
            );
        }
        if self.frames.is_some() && self.seconds.is_some() {
            return Some(
                "a part of a clip is given in `frames` or in `seconds`: leave out one of them"
                    .into(),
            );
        }
        let part = self.frames.or(self.seconds);
        if let Some((from, to)) = part
            && !(0.0 <= from && from < to && to.is_finite())
        {
            return Some(format!(
                "a part of a clip starts at {from} and ends at {to}, expected 0 or more and an end after the start"
            ));
        }
        if let Some(visemes) = &self.speech {
            let odd = |(time, _, weight): &(f64, String, f32)| {
                !(time.is_finite() && *time >= 0.0 && weight.is_finite())
            };
            if visemes.is_empty() || visemes.iter().any(odd) {
                return Some(
                    "`speech` is a list of times in seconds, shapes and weights: `[(0.1, \"aa\", 1)]`".into(),
                );
            }
            let others = self.others().into_iter();
            let mut others = others.chain([("mirror", self.mirror.is_some())]);
            if let Some((field, _)) = others.find(|(_, is_given)| *is_given) {
                return Some(format!(
                    "`speech` makes a clip of its own: leave out `{field}`, or `speech`"
                ));
            }
        }
        self.mirror.as_ref()?;
        let mut others = self.others().into_iter().chain([
            ("additive", self.additive.is_some()),
            ("root_motion", self.root_motion.is_some()),
        ]);
        let (field, _) = others.find(|(_, is_given)| *is_given)?;
        Some(format!(
            "`mirror` takes everything from another clip: leave out `{field}`, or `mirror`"
        ))
    }

    /// The fields that name a clip or a part of one, and whether they are given.
    fn others(&self) -> [(&'static str, bool); 4] {
        [
            ("file", self.file.is_some()),
            ("clip", self.clip.is_some()),
            ("frames", self.frames.is_some()),
            ("seconds", self.seconds.is_some()),
        ]
    }
}
