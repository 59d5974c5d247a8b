//! MD5 → model, and model → MD5.
//!
//! An MD5 vertex has no position of its own: it is `Σ bias · (joint · weight.position)`, a weighted mean of points
//! in the spaces of joints. A [`Model`](crate::model::Model) stores one position per vertex, in the bind pose. The
//! two agree in every pose only if all weights of a vertex give the same point in the bind pose. If that is not the
//! pose of the file's joints, [`bind`] recovers it.
//!
//! Everything is computed in `f64` and in the file's axes ([`rigid`]). The conversion to Bevy's axes comes last.
//!
//! What becomes of what is read is decided in `import/scene`: see decision 064.

mod bind;
mod clip;
mod export;
mod fit;
mod mesh;
mod rigid;

pub use clip::{clip_from_md5, skeleton_of_anim};
pub use export::{to_md5_anim, to_md5_mesh};
pub use mesh::from_md5;

use super::names::listed;
