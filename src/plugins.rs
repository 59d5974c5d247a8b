//! The plugin group.

use crate::{asset::CharacterAssetPlugin, character::CharacterPlugin, render::PalettePlugin};
use bevy::app::{PluginGroup, PluginGroupBuilder};

/// Everything: assets, playing characters, and their way to the GPU. Add it after Bevy's plugins.
pub struct MarionettePlugins;

impl PluginGroup for MarionettePlugins {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>().add(CharacterAssetPlugin).add(CharacterPlugin).add(PalettePlugin)
    }
}
