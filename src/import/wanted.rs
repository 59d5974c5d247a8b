//! The part of a file that is read.

use super::SceneEntry;

/// The part of a file that is wanted.
#[derive(Clone, Copy, Default)]
pub(super) struct Wanted<'a> {
    /// The scene of a glTF file; `None` for the file's own choice.
    #[cfg_attr(
        not(feature = "gltf"),
        expect(dead_code, reason = "only glTF has scenes")
    )]
    pub(super) scene: Option<&'a SceneEntry>,
    /// In a file that only holds clips, decides by its name whether a node above those that move is a joint, or something
    /// like an armature, whose transform is baked in.
    #[cfg_attr(
        not(any(feature = "gltf", feature = "fbx")),
        expect(dead_code, reason = "other files have no such nodes")
    )]
    pub(super) is_joint: Option<&'a dyn Fn(&str) -> bool>,
}
