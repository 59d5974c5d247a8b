//! Baking characters for apps that load processed assets.

use super::{
    CharacterLoaderSettings, TextureMode,
    files::{Files, Most, beside, read_within},
    images::texels_of,
    loader::{CharacterLoader, name_of, report},
    textures::Textures,
};
use crate::{
    format::FormatError,
    import::{BakedCharacter, FileKind, Imported, Manifest, texture_folders, texture_places},
};
use bevy::{
    asset::{
        AssetLoader, AssetPath, LoadContext,
        io::{Reader, Writer},
        processor::{AssetProcessor, LoadTransformAndSave},
        saver::{AssetSaver, SavedAsset},
        transformer::IdentityAssetTransformer,
    },
    prelude::*,
};
use futures_lite::AsyncWriteExt;

/// Bakes characters when Bevy processes assets: those with a manifest, and others whose `.meta` file asks for it.
pub type CharacterProcessor = LoadTransformAndSave<
    SourceCharacterLoader,
    IdentityAssetTransformer<SourceCharacter>,
    CharacterSaver,
>;

/// Lets the app's asset processor bake characters, if it has one.
pub(super) fn set_up(app: &mut App, files: Files) {
    if !app.world().contains_resource::<AssetProcessor>() {
        return;
    }
    let files = files.for_baking();
    app.register_asset_loader(SourceCharacterLoader { files })
        .register_asset_processor::<CharacterProcessor>(CharacterSaver.into())
        // Models may be parts of characters, and `.glb` files anything at all.
        .set_default_asset_processor::<CharacterProcessor>("character.ron");
}

/// A character that is ready to be baked.
#[derive(Asset, TypePath)]
pub struct SourceCharacter {
    /// The character.
    pub baked: BakedCharacter,
    /// The settings with which it will be loaded.
    pub settings: CharacterLoaderSettings,
}

/// Imports characters to bake them, with their textures.
#[derive(TypePath)]
pub struct SourceCharacterLoader {
    files: Files,
}

impl AssetLoader for SourceCharacterLoader {
    type Asset = SourceCharacter;
    type Settings = CharacterLoaderSettings;
    type Error = FormatError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        settings: &CharacterLoaderSettings,
        context: &mut LoadContext<'_>,
    ) -> Result<SourceCharacter, FormatError> {
        let limits = &settings.import.limits;
        let (name, path) = (name_of(context), context.path().clone());
        let source = read_within(&name, reader, limits).await?;
        limits.check_size(&name, source.len() as u64)?;
        let sources = self.files.sources(&name, &path, source, settings, context);
        let sources = sources.await?;
        let (manifest, mut imported) = sources.import(&name, limits, &mut |_, _| ())?;
        if settings.textures == TextureMode::Load {
            self.add_textures(&path, &manifest, &mut imported, settings, context)
                .await;
        }
        report(&imported.warnings);
        let mut baked = BakedCharacter::new(&manifest, imported);
        if settings.textures == TextureMode::Load {
            baked.decode_images(texels_of);
        }
        let settings = settings.clone();
        Ok(SourceCharacter { baked, settings })
    }
}

impl SourceCharacterLoader {
    /// Adds the textures in files of their own.
    async fn add_textures(
        &self,
        path: &AssetPath<'_>,
        manifest: &Manifest,
        imported: &mut Imported,
        settings: &CharacterLoaderSettings,
        context: &mut LoadContext<'_>,
    ) {
        let (limits, materials) = (&settings.import.limits, &imported.model.materials);
        let model_path = beside(path, &manifest.model);
        let are_exact = FileKind::of_name(&manifest.model) == Some(FileKind::Gltf);
        let files = match &manifest.textures[..] {
            [] => {
                let (folders, places) = (
                    texture_folders(materials),
                    texture_places(materials, are_exact),
                );
                let found = self.files.textures(&model_path, folders, places, limits);
                found.await.0
            }
            listed => listed.to_vec(),
        };
        let images = imported.images.clone();
        let textures = Textures::resolve(imported, &manifest.model, files, |_| false);
        imported.images = images;
        let most = Most::Together(limits.file_bytes);
        let read = self
            .files
            .read_all(&model_path, textures.files(), most, context)
            .await;
        for (file, bytes) in read {
            match bytes {
                Ok(bytes) => drop(imported.images.insert(file, bytes.into())),
                Err(error) => warn!("{path}: the texture `{file}` is not baked: {error}"),
            }
        }
    }
}

/// Writes characters as baked files.
#[derive(Clone, Copy, Debug, Default, TypePath)]
pub struct CharacterSaver;

impl AssetSaver for CharacterSaver {
    type Asset = SourceCharacter;
    type Settings = ();
    type OutputLoader = CharacterLoader;
    type Error = BevyError;

    async fn save(
        &self,
        writer: &mut Writer,
        asset: SavedAsset<'_, '_, SourceCharacter>,
        _: &(),
        path: AssetPath<'_>,
    ) -> Result<CharacterLoaderSettings, BevyError> {
        let bytes = asset.baked.to_bytes(&path.to_string())?;
        writer.write_all(&bytes).await?;
        Ok(asset.settings.clone())
    }
}
