//! The way to the GPU: skinning matrices for Bevy's renderer, and the choice of the graphics API.

mod backend;
mod crowd;
mod morphs;
mod order;
mod palette;

pub use backend::render_plugin;
pub(crate) use palette::PalettePlugin;
