//! The [`Character`] asset, its loaders and its labeled sub-assets.

mod baking;
mod boxes;
mod build;
mod character;
mod clips;
mod files;
mod images;
mod label;
mod loader;
mod material;
mod mesh;
mod mips;
mod morphs;
mod progress;
mod rig;
mod textures;
mod tints;

pub use baking::{CharacterProcessor, CharacterSaver, SourceCharacter, SourceCharacterLoader};
pub use build::build_character;
pub(crate) use character::next_version;
pub use character::{Character, CharacterPart, ClipAsset, Socket};
pub use clips::AddClipError;
pub use label::CharacterAssetLabel;
pub use loader::{CharacterLoaderSettings, TextureMode};
pub(crate) use material::textures_of;
pub use progress::{CharactersLoaded, LoadProgress};

use bevy::{
    asset::{AssetApp, ReflectHandle},
    image::{CompressedImageFormatSupport, CompressedImageFormats},
    prelude::*,
    render::renderer::RenderDevice,
};
use images::SupportedFormats;
use loader::{CharacterLoader, ClipLoader};

/// Registers [`Character`], its sub-assets and the loaders of their files.
///
/// Meshes, materials and images are registered if no other plugin has done so, so that characters also load
/// where nothing is drawn, such as on a server. Add it before or after all of Bevy's plugins, not between them.
pub(crate) struct CharacterAssetPlugin;

impl Plugin for CharacterAssetPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<LoadProgress>();
        if app.world().contains_resource::<AssetServer>() {
            Self::set_up(app);
        }
    }

    fn finish(&self, app: &mut App) {
        if !app.world().contains_resource::<SupportedFormats>() {
            // Bevy's plugins were added later.
            assert!(
                app.world().contains_resource::<AssetServer>(),
                "`MarionettePlugins` needs an asset server: add `DefaultPlugins`, or `AssetPlugin` beside `MinimalPlugins`"
            );
            Self::set_up(app);
        }
        // Known once there is a renderer.
        let formats = app.world().get_resource::<CompressedImageFormatSupport>();
        let formats = formats.map_or(CompressedImageFormats::NONE, |formats| formats.0);
        app.world().resource::<SupportedFormats>().set(formats);
        if let Some(device) = app.world().get_resource::<RenderDevice>() {
            morphs::limit_to(&device.limits());
        }
    }
}

impl CharacterAssetPlugin {
    fn set_up(app: &mut App) {
        init_if_missing::<Mesh>(app);
        init_if_missing::<Image>(app);
        init_if_missing::<StandardMaterial>(app);
        let files = files::Files::new(app);
        baking::set_up(app, files.clone());
        let formats = SupportedFormats::default();
        app.insert_resource(formats.clone())
            .init_asset::<Character>()
            .init_asset::<CharacterPart>()
            .init_asset::<ClipAsset>()
            // Saves handles in scenes as paths.
            .register_type_data::<Handle<Character>, ReflectHandle>()
            .register_asset_loader(CharacterLoader { files, formats })
            .init_asset_loader::<ClipLoader>()
            .init_asset_loader::<files::DependencyLoader>()
            .add_systems(Last, progress::announce);
    }
}

fn init_if_missing<A: Asset>(app: &mut App) {
    if !app.world().contains_resource::<Assets<A>>() {
        app.init_asset::<A>();
    }
}
