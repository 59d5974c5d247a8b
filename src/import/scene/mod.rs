//! What becomes of a file's contents, whichever format they are in.
//!
//! Importers read a file and hand over what it says, checked: indices are valid, and axes are Bevy's. Every decision that
//! doesn't depend on the format is made here, once. Which repairs there are and how warnings word them is in `repairs.rs`, how
//! meshes become parts in `parts.rs`, and how parts and joints become a model in `model.rs`.
//!
//! See decision 064.

mod clip;
mod clips;
mod model;
mod parts;
mod repairs;
mod sampler;

pub(super) use clip::{FileClips, SceneClip};
pub(super) use clips::Clips;
#[cfg(feature = "gltf")]
pub(super) use clips::{MOST_NAMES, Mirrored, add_names};
pub(super) use model::Bare;
#[cfg(any(feature = "fbx", feature = "gltf"))]
pub(super) use parts::sound_color;
pub(super) use parts::{Parts, default_material, sound_tex_coord};
pub(super) use repairs::Oddity;
#[cfg(feature = "fbx")]
pub(super) use repairs::Repairs;
