//! Loaders for [`Character`]s and [`ClipAsset`]s.

use super::{
    Character, CharacterAssetLabel, ClipAsset,
    build::{Prepared, Sink, assemble_character},
    files::{Files, Most, OUTSIDE, beside, read_within},
    images::SupportedFormats,
    textures::{Decoding, ImageBytes, TextureKey, Textures, image_settings},
};
use crate::{
    format::{Diagnostic, FormatError, md5},
    import::{
        BakedCharacter, ClipEntry, FileKind, Images, ImportLimits, ImportSettings, Imported,
        Manifest, OnImages, TextureMap, clip_from_md5, files_beside, open_manifest_and_tell,
        skeleton_of_anim, texture_folders, texture_places,
    },
    model::Material,
};
use bevy::{
    asset::{AssetLoader, AssetPath, LoadContext, RenderAssetUsages, io::Reader},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// Loads files as [`Character`]s.
#[derive(TypePath)]
pub struct CharacterLoader {
    pub(super) files: Files,
    pub(super) formats: SupportedFormats,
}

/// Settings for loading a character. Manifests have clips and import settings of their own and ignore those set here,
/// except for the limits.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{asset::{CharacterLoaderSettings, TextureMode}, prelude::*};
/// # fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
/// let settings = |settings: &mut CharacterLoaderSettings| {
///     settings.import.scale = 0.0254;
///     settings.clips = vec!["walk.md5anim".into()];
///     settings.textures = TextureMode::LoadAsTheyAre;
/// };
/// let character = assets.load_builder().with_settings(settings).load("soldier.md5mesh");
/// commands.spawn((SkinnedCharacter(character), AnimationController::playing("walk")));
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CharacterLoaderSettings {
    /// Scale, handedness and up axis of a bare model, and limits for all files.
    pub import: ImportSettings,
    /// Largest error of a bare model's clips at the skin, in model units after scaling: clips are quantized
    /// to save memory. `None` keeps them lossless. See [`Manifest::clip_error`].
    pub clip_error: Option<f32>,
    /// Clip files for a bare model, relative to it or absolute: `.md5anim`, or models with a single clip. Each clip is named
    /// after its file, without the extension.
    pub clips: Vec<String>,
    /// The way in which textures are loaded.
    pub textures: TextureMode,
    /// The worlds that keep meshes. CPU-side uses such as picking need the main world.
    pub meshes: RenderAssetUsages,
}

/// The way in which a character's textures are loaded.
///
/// In apps that cannot load images, such as servers with `MinimalPlugins`, characters have no textures,
/// whatever the mode.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{asset::{CharacterLoaderSettings, TextureMode}, prelude::*};
/// # fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
/// // A preview in plain colors.
/// let settings = |settings: &mut CharacterLoaderSettings| settings.textures = TextureMode::Ignore;
/// let preview = assets.load_builder().with_settings(settings).load("knight.glb");
/// commands.spawn(SkinnedCharacter(preview));
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextureMode {
    /// Loads the textures in the model's file, where it names them, or beside it, and generates mip levels for formats without
    /// them (`.tga`, `.png`, `.jpg`, `.bmp`, `.webp`), so that they don't shimmer at a distance. Textures with generated levels
    /// and those in the model's file belong to the character and are labeled [`CharacterAssetLabel::Texture`]. Their `.meta`
    /// files are not read.
    #[default]
    Load,
    /// Loads the textures in the model's file or beside it without changes. Characters that use the same image file
    /// share one asset.
    LoadAsTheyAre,
    /// Loads no textures.
    Ignore,
}

impl AssetLoader for CharacterLoader {
    type Asset = Character;
    type Settings = CharacterLoaderSettings;
    type Error = FormatError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        settings: &CharacterLoaderSettings,
        context: &mut LoadContext<'_>,
    ) -> Result<Character, FormatError> {
        let limits = &settings.import.limits;
        let (name, path) = (name_of(context), context.path().clone());
        let source = read_within(&name, reader, limits).await?;
        // Counts as one that is being loaded until it is dropped.
        let _loading = self.files.progress.begin();
        limits.check_size(&name, source.len() as u64)?;
        // Without an image loader, as on a server, every texture would be an error.
        let images = self
            .files
            .server
            .get_asset_loader_with_asset_type::<Image>()
            .await;
        let mode = if images.is_ok() {
            settings.textures
        } else {
            TextureMode::Ignore
        };
        let (wants_mips, formats) = (mode == TextureMode::Load, self.formats.get());
        // Images in the model's file are decoded while the rest of it is imported.
        let mut decoding = Decoding::default();
        let begin = |materials: &[Material], images: &Images, decoding: &mut Decoding| {
            if mode != TextureMode::Ignore {
                let mut textures = Textures::in_file(materials, images);
                let own = textures.own(materials, wants_mips);
                textures.decode(own, Vec::new(), formats, decoding);
            }
        };
        // Bevy keeps the name of a file that it has processed.
        let is_baked =
            FileKind::of_name(&name) == Some(FileKind::Baked) || BakedCharacter::is_baked(&source);
        let (manifest, mut imported) = if is_baked {
            let (baked, apart) = BakedCharacter::read_apart(&name, &source, limits)?;
            let (manifest, imported) = baked.into_imported();
            let source = Arc::new(source);
            let part = |(image, place)| (image, ImageBytes::Part(source.clone(), place));
            decoding.apart = apart.into_iter().map(part).collect();
            begin(&imported.model.materials, &imported.images, &mut decoding);
            // The file is dropped when the last image is made.
            decoding.apart.clear();
            (manifest, imported)
        } else {
            let sources = self.files.sources(&name, &path, source, settings, context);
            let sources = sources.await?;
            sources.import(&name, limits, &mut |materials, images| {
                begin(materials, images, &mut decoding);
            })?
        };

        let model_path = beside(&path, &manifest.model);
        let mut textures = Textures::default();
        if mode != TextureMode::Ignore {
            // Names in glTF are exact, unless they only make sense on the artist's machine.
            let are_exact = FileKind::of_name(&manifest.model) == Some(FileKind::Gltf);
            let (files, is_complete) = if is_baked && Textures::all_in_file(&imported) {
                (Vec::new(), true)
            } else if !manifest.textures.is_empty() {
                (manifest.textures.clone(), true)
            } else if are_exact && holds_textures(&imported) {
                // So the folder, which may be large, is none of its concern.
                (Vec::new(), true)
            } else {
                let materials = &imported.model.materials;
                let (folders, places) = (
                    texture_folders(materials),
                    texture_places(materials, are_exact),
                );
                self.files
                    .textures(&model_path, folders, places, limits)
                    .await
            };
            // A manifest may have been written before such folders were searched.
            let is_deep =
                |name: &str| !manifest.textures.is_empty() && name.matches('/').count() > 1;
            let may_exist = |name: &str| !is_complete || is_deep(name);
            textures = Textures::resolve(&mut imported, &manifest.model, files, may_exist);
        }
        // Only now, because warnings about textures are among them.
        report(&imported.warnings);
        let own = textures.own(&imported.model.materials, wants_mips);
        let images = textures.files_of(&own);
        let images = self
            .files
            .read_all(
                &model_path,
                images,
                Most::Together(limits.file_bytes),
                context,
            )
            .await;
        textures.decode(own, images, formats, &mut decoding);
        // While the textures are decoded.
        let avatar = imported.avatar.take();
        let prepared = Prepared::new(imported.model, settings.meshes);
        let own = decoding.finish(&name).await;
        let mut sink = ContextSink {
            context,
            loader: self,
            model_path,
            textures: own
                .into_iter()
                .map(|(key, image)| (key, OwnTexture::Waiting(image.map(Box::new))))
                .collect(),
            used: HashSet::new(),
        };
        let mut character = assemble_character(prepared, &manifest, &textures, &mut sink);
        character.avatar = avatar.map(|avatar| Arc::new(*avatar));
        Ok(character)
    }

    fn extensions(&self) -> &[&str] {
        // `.glb` and `.gltf` are found by the type of asset. Listed here, they would be taken from Bevy's own loader wherever
        // a path has a label.
        &[
            "fbx",
            "m3d",
            "md5mesh",
            "character.ron",
            "character.bin",
            "vrm",
            "vrma",
        ]
    }
}

/// The files of a character.
pub(super) struct Sources {
    manifest: Manifest,
    files: HashMap<String, Result<Vec<u8>, String>>,
}

impl Files {
    /// Reads the files that a character is made of.
    pub(super) async fn sources(
        &self,
        name: &str,
        path: &AssetPath<'_>,
        source: Vec<u8>,
        settings: &CharacterLoaderSettings,
        context: &mut LoadContext<'_>,
    ) -> Result<Sources, FormatError> {
        let limits = &settings.import.limits;
        let mut files: HashMap<String, Result<Vec<u8>, String>> = HashMap::new();
        // A bare model becomes a manifest that only names it, so that there is one way of loading.
        let manifest = if FileKind::of_name(name) == Some(FileKind::Manifest) {
            Manifest::parse(name, &source)?
        } else {
            let own = name.rsplit('/').next().unwrap_or(name).to_owned();
            let manifest = bare_manifest(&own, settings);
            files.insert(own, Ok(source));
            manifest
        };
        let mut named: Vec<String> = std::iter::once(manifest.model.as_str())
            .chain(manifest.clip_files())
            .map(str::to_owned)
            .collect();
        // Clips may share a file, which is read once.
        named.sort_unstable();
        named.dedup();
        // The model's own source is there already if there is no manifest.
        let unread = named
            .iter()
            .filter(|file| !files.contains_key(*file))
            .cloned()
            .collect();
        files.extend(
            self.read_all(path, unread, Most::Each(limits.file_bytes), context)
                .await,
        );
        // Files that other files name, such as the buffers of a `.gltf`, are only known now.
        for file in named {
            let Some(Ok(source)) = files.get(&file) else {
                continue;
            };
            let beside = files_beside(&file, source)
                .into_iter()
                .filter(|file| !files.contains_key(file))
                .collect();
            files.extend(
                self.read_all(path, beside, Most::Together(limits.file_bytes), context)
                    .await,
            );
        }
        Ok(Sources { manifest, files })
    }
}

impl Sources {
    /// Imports the character.
    pub(super) fn import(
        self,
        name: &str,
        limits: &ImportLimits,
        on_images: OnImages,
    ) -> Result<(Manifest, Imported), FormatError> {
        let Self { manifest, files } = self;
        let read = |file: &str| match files.get(file) {
            Some(Ok(bytes)) => Ok(Cow::Borrowed(&bytes[..])),
            Some(Err(error)) => Err(error.clone()),
            None => Err("no such file".to_owned()),
        };
        let imported = open_manifest_and_tell(name, &manifest, limits, read, on_images)?;
        let manifest = manifest.with_embedded(&imported.embedded).into_owned();
        Ok((manifest, imported))
    }
}

/// Returns the path of the asset being loaded, with forward slashes.
pub(super) fn name_of(context: &LoadContext<'_>) -> String {
    context.path().path().to_string_lossy().replace('\\', "/")
}

fn bare_manifest(model: &str, settings: &CharacterLoaderSettings) -> Manifest {
    let mut manifest = Manifest {
        clip_error: settings.clip_error,
        ..Manifest::of_model(model).with_settings(&settings.import)
    };
    for file in &settings.clips {
        let stem = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
        manifest.clips.insert(
            stem.to_owned(),
            ClipEntry {
                file: Some(file.clone()),
                as_is: settings.import.as_is,
                ..ClipEntry::default()
            },
        );
    }
    manifest
}

/// Returns `true` if all textures of a model are in its own file.
fn holds_textures(imported: &Imported) -> bool {
    let materials = imported.model.materials.iter();
    let names = materials.flat_map(|material| TextureMap::ALL.map(|map| map.of(material)));
    let mut names = names.flatten();
    names.all(|name| imported.images.contains_key(name))
}

/// Logs the first warnings and how many more there are.
pub(super) fn report(warnings: &[Diagnostic]) {
    const SHOWN: usize = 8;
    for warning in warnings.iter().take(SHOWN) {
        warn!("{warning}");
    }
    if let Some(next) = warnings.get(SHOWN) {
        warn!(
            "{}: {} more warnings; run `marionette validate` to see them all",
            next.file,
            warnings.len() - SHOWN
        );
    }
}

/// Adds sub-assets to the character being loaded, with labels.
struct ContextSink<'c, 'l> {
    context: &'c mut LoadContext<'l>,
    loader: &'c CharacterLoader,
    model_path: AssetPath<'static>,
    /// Textures that belong to the character.
    textures: HashMap<TextureKey, OwnTexture>,
    /// Labels used in this load. The context also has those of the previous load, and those that
    /// were requested in advance.
    used: HashSet<String>,
}

/// A texture that belongs to the character, before and after a material first uses it.
enum OwnTexture {
    /// `None` if it cannot be decoded.
    Waiting(Option<Box<Image>>),
    Added(Option<Handle<Image>>),
}

impl Sink for ContextSink<'_, '_> {
    fn mesh(&mut self, label: CharacterAssetLabel, mesh: Mesh) -> Handle<Mesh> {
        self.add(label, mesh)
    }

    fn material(
        &mut self,
        label: CharacterAssetLabel,
        material: StandardMaterial,
    ) -> Handle<StandardMaterial> {
        self.add(label, material)
    }

    fn other<A: Asset>(&mut self, label: CharacterAssetLabel, asset: A) -> Option<UntypedHandle> {
        Some(self.add(label, asset).untyped())
    }

    fn texture(&mut self, key: &TextureKey) -> Option<Handle<Image>> {
        let handle = match self.textures.remove(key) {
            Some(OwnTexture::Waiting(Some(image))) => {
                Some(self.add(CharacterAssetLabel::Texture(key.file.clone()), *image))
            }
            Some(OwnTexture::Added(handle)) => handle,
            missing => match self.last_good(&key.file) {
                // After a bad save, the last good image stays.
                Some(last) => {
                    warn!(
                        "{}: cannot be read; keeping the texture loaded before",
                        key.file
                    );
                    Some(last)
                }
                None if missing.is_none() => {
                    let path = beside(&self.model_path, &key.file);
                    if self.loader.files.permits(&self.model_path, &path) {
                        let load = self
                            .context
                            .load_builder()
                            .with_settings(image_settings(key));
                        Some(load.override_unapproved().load(path))
                    } else {
                        warn!(
                            "{}: `{}` is not drawn: {OUTSIDE}",
                            self.context.path(),
                            key.file
                        );
                        None
                    }
                }
                None => None,
            },
        };
        // Materials that share a texture share its handle.
        self.textures
            .insert(key.clone(), OwnTexture::Added(handle.clone()));
        handle
    }
}

impl ContextSink<'_, '_> {
    /// Returns the texture that the previous load made of a file, if it still exists.
    fn last_good(&mut self, file: &str) -> Option<Handle<Image>> {
        let label = CharacterAssetLabel::Texture(file.to_owned());
        let server = &self.loader.files.server;
        let last: Handle<Image> =
            server.get_handle(label.from_asset(self.context.path().clone()))?;
        server
            // A handle may exist without its image, which then would never come.
            .is_loaded(&last)
            .then(|| self.context.get_label_handle(label.to_string()))
    }

    fn add<A: Asset>(&mut self, label: CharacterAssetLabel, asset: A) -> Handle<A> {
        let label = label.to_string();
        // Labels come from names in the file, which may not be unique.
        let mut unique = label.clone();
        let mut count = 1;
        while !self.used.insert(unique.clone()) {
            count += 1;
            unique = format!("{label}.{count}");
        }
        match self
            .context
            .labeled_asset_scope(unique, |_| Ok::<_, std::convert::Infallible>(asset))
        {
            Ok(handle) => handle,
            Err(never) => match never {},
        }
    }
}

/// Loads `.md5anim` files as [`ClipAsset`]s, with joints in file order.
#[derive(Default, TypePath)]
pub struct ClipLoader;

impl AssetLoader for ClipLoader {
    type Asset = ClipAsset;
    type Settings = ImportSettings;
    type Error = FormatError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        settings: &ImportSettings,
        context: &mut LoadContext<'_>,
    ) -> Result<ClipAsset, FormatError> {
        let limits = &settings.limits;
        let file = name_of(context);
        let source = read_within(&file, reader, limits).await?;
        limits.check_size(&file, source.len() as u64)?;
        let anim = md5::parse_anim(&file, &source)?;
        let skeleton = skeleton_of_anim(&file, &anim.value, settings)?;
        let stem = context
            .path()
            .path()
            .file_stem()
            .map(|stem| stem.to_string_lossy())
            .unwrap_or_default();
        let clip = clip_from_md5(&file, &stem, &anim.value, &skeleton, settings)?;
        limits.check_clip(&file, &clip.value)?;
        report(&[anim.warnings, clip.warnings].concat());
        Ok(ClipAsset(Arc::new(clip.value)))
    }

    fn extensions(&self) -> &[&str] {
        &["md5anim"]
    }
}
