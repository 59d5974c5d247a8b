//! What lives on disk: the [`Character`] asset, its loaders and their labelled sub-assets.

mod build;
mod character;
mod label;
mod loader;
mod material;
mod mesh;
mod mips;
mod siblings;
mod textures;

pub use build::build_character;
pub(crate) use build::next_version;
pub use character::{Character, CharacterPart, ClipAsset, SkeletonAsset, Socket};
pub use label::CharacterAssetLabel;
pub use loader::{
    CharacterLoader, CharacterLoaderError, CharacterLoaderSettings, ClipLoader, ClipLoaderSettings, TextureMode,
};

use bevy::{
    asset::{AssetApp, ReflectHandle},
    prelude::*,
};

/// Registers [`Character`], its sub-assets and the loaders of their files.
///
/// Where nothing is drawn, as on a server, the plugins that bring meshes, materials and images are not
/// there; their asset types then are registered here, so that characters load all the same.
pub struct CharacterAssetPlugin;

impl Plugin for CharacterAssetPlugin {
    fn build(&self, app: &mut App) {
        init_if_missing::<Mesh>(app);
        init_if_missing::<Image>(app);
        init_if_missing::<StandardMaterial>(app);
        app.init_asset::<Character>()
            .init_asset::<CharacterPart>()
            .init_asset::<ClipAsset>()
            .init_asset::<SkeletonAsset>()
            // So that scenes can be saved: a handle is written as its path.
            .register_type_data::<Handle<Character>, ReflectHandle>()
            .init_asset_loader::<CharacterLoader>()
            .init_asset_loader::<ClipLoader>();
    }
}

fn init_if_missing<A: Asset>(app: &mut App) {
    if !app.world().contains_resource::<Assets<A>>() {
        app.init_asset::<A>();
    }
}
