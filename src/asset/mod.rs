//! What lives on disk: the [`Character`] asset, its loaders and their labelled sub-assets.

mod build;
mod character;
mod label;
mod loader;
mod material;
mod mesh;
mod siblings;

pub use build::build_character;
pub use character::{Character, CharacterPart, ClipAsset, SkeletonAsset, Socket};
pub use label::CharacterAssetLabel;
pub use loader::{
    CharacterLoader, CharacterLoaderError, CharacterLoaderSettings, ClipLoader, ClipLoaderSettings, TextureMode,
};

use bevy::{asset::AssetApp, prelude::*};

/// Registers [`Character`], [`ClipAsset`] and [`SkeletonAsset`] and the loaders of their files.
pub struct CharacterAssetPlugin;

impl Plugin for CharacterAssetPlugin {
    fn build(&self, app: &mut App) {
        app.init_asset::<Character>()
            .init_asset::<ClipAsset>()
            .init_asset::<SkeletonAsset>()
            .init_asset_loader::<CharacterLoader>()
            .init_asset_loader::<ClipLoader>();
    }
}
