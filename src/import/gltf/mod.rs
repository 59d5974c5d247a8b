//! Model → glTF.

mod export;

pub use export::{GlbTexture, to_glb};
