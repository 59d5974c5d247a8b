//! Root motion in manifests.

use serde::{Deserialize, Serialize};

/// Movements of the root that are extracted from a character's clips, to carry the character instead.
///
/// Clips are in place afterwards. The movement is relative to a clip's first frame; what isn't taken out stays in the pose.
///
/// ```ron
/// (
///     model: "scout.md5mesh",
///     root_motion: (steady: true),
///     clips: {
///         "walk": (file: "walk.md5anim"),
///         "climb": (file: "climb.md5anim", playback: Once, root_motion: (height: true)),
///         "march": (file: "march.md5anim", ground_speed: 1.1),
///     },
/// )
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RootMotionEntry {
    /// The joint that travels; `None` is the skeleton's first root. Name the hips if the root stays behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint: Option<String>,
    /// If `true`, extracts the movement over the ground.
    pub ground: bool,
    /// If `true`, extracts the movement up and down.
    pub height: bool,
    /// If `true`, extracts the turn about the up axis.
    pub turn: bool,
    /// If `true`, extracts only the mean movement from the first frame to the last, so that the sway and bob around it
    /// stay in the pose: for joints that do more than travel, such as hips.
    pub steady: bool,
}

impl Default for RootMotionEntry {
    /// Takes out the movement over the ground and the turn.
    fn default() -> Self {
        Self {
            joint: None,
            ground: true,
            height: false,
            turn: true,
            steady: false,
        }
    }
}

/// Differences of a clip from its character's [`RootMotionEntry`]; `None` is the same. To leave a clip as it is, use
/// `(ground: false, height: false, turn: false)`.
///
/// ```ron
/// root_motion: (),
/// clips: {
///     // Also carries the character up.
///     "climb": (file: "climb.glb", root_motion: (height: true)),
///     // Turns on the spot.
///     "look_back": (file: "look_back.glb", root_motion: (ground: false, turn: true)),
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClipRootMotion {
    /// See [`RootMotionEntry::ground`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ground: Option<bool>,
    /// See [`RootMotionEntry::height`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<bool>,
    /// See [`RootMotionEntry::turn`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<bool>,
    /// See [`RootMotionEntry::steady`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady: Option<bool>,
}
