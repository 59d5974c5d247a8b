//! The way to the GPU: palettes into Bevy's skin buffer, and the choice of backend.

mod backend;
mod palette;

pub use backend::render_plugin;
pub use palette::{ExtractPalettes, PalettePlugin, WritePalettes};
