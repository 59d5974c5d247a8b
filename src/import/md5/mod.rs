//! MD5 → model, and model → MD5.
//!
//! An MD5 vertex has no position of its own: it is `Σ bias · (joint · weight.position)`, a mean of
//! points that hang on joints. A [`Model`](crate::model::Model) stores one position per vertex, in
//! a pose where the inverse bind matrices cancel the joints, and the two agree in every pose only if
//! all weights of a vertex name the same point of that pose. Where the file's joints are not that
//! pose, [`bind`] finds it.
//!
//! All of that is reckoned in `f64` and in the file's axes ([`rigid`]); the change to Bevy's axes,
//! which moves components but computes nothing, comes last.

mod bind;
mod clip;
mod export;
mod fit;
mod mesh;
mod rigid;

pub use clip::clip_from_md5;
pub use export::{to_md5_anim, to_md5_mesh};
pub use mesh::from_md5;

use super::names::listed;
