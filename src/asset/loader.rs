//! The loaders: bytes in, a [`Character`] or a [`ClipAsset`] out.

use super::{
    Character, CharacterAssetLabel, ClipAsset,
    build::{Sink, assemble_character},
    siblings::files_beside,
    textures::{TextureKey, Textures, image_settings},
};
use crate::{
    format::{Diagnostic, FormatError, md5},
    import::{ClipEntry, FileKind, ImportSettings, Limits, Manifest, assemble, clip_from_md5, skeleton_of_anim},
};
use bevy::{
    asset::{AssetLoader, AssetPath, AssetServer, LoadContext, RenderAssetUsages, io::Reader},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// Loads `.m3d`, `.md5mesh` and `.character.ron` as [`Character`]s.
#[derive(TypePath)]
pub struct CharacterLoader {
    server: AssetServer,
}

impl FromWorld for CharacterLoader {
    fn from_world(world: &mut World) -> Self {
        Self { server: world.resource::<AssetServer>().clone() }
    }
}

/// How a character is loaded. A manifest brings its own scale, hand and axis; these then do not count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CharacterLoaderSettings {
    /// Scale, hand and up axis of a bare model.
    pub import: ImportSettings,
    /// Largest distance, in model units after scaling, by which a bare model's clips may put the skin
    /// elsewhere for the sake of their size; `None` keeps them lossless. See [`Manifest::clip_error`].
    pub clip_error: Option<f32>,
    /// Clip files for a bare model, relative to it (or absolute); each clip is called by its file's stem.
    pub clips: Vec<String>,
    /// Whether textures are looked for and loaded.
    pub textures: TextureMode,
    /// Where the meshes are kept. Picking and other readers on the CPU need the main world.
    pub meshes: RenderAssetUsages,
}

/// Whether a character's textures are loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextureMode {
    /// Looked for beside the model, and loaded. Those of formats without mip levels (`.tga`, `.png`, `.jpg`,
    /// `.bmp`) are given them, so that they do not shimmer at a distance; such a texture is the character's own,
    /// with the label [`CharacterAssetLabel::Texture`].
    #[default]
    Load,
    /// Looked for and loaded as they are: an image file that several characters use is one asset for all.
    LoadAsTheyAre,
    /// Left out: plain materials.
    Ignore,
}

/// Why a character or clip could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CharacterLoaderError {
    /// The file itself could not be read.
    #[error("cannot read the file: {0}")]
    Io(#[from] std::io::Error),
    /// The file, or the model a manifest names, is at fault; the message says where and how.
    #[error("{0}")]
    Format(#[from] FormatError),
}

impl AssetLoader for CharacterLoader {
    type Asset = Character;
    type Settings = CharacterLoaderSettings;
    type Error = CharacterLoaderError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        settings: &CharacterLoaderSettings,
        context: &mut LoadContext<'_>,
    ) -> Result<Character, CharacterLoaderError> {
        let limits = &settings.import.limits;
        let source = read_within(reader, limits).await?;
        let name = context.path().path().to_string_lossy().replace('\\', "/");
        let own = name.rsplit('/').next().unwrap_or(&name).to_owned();
        let mut files = HashMap::new();
        let manifest = if FileKind::of_name(&name) == Some(FileKind::Manifest) {
            limits.check_size(&name, source.len() as u64)?;
            Manifest::parse(&name, &source)?
        } else {
            files.insert(own.clone(), Ok(source));
            bare_manifest(&own, settings)
        };
        for file in std::iter::once(manifest.model.as_str()).chain(manifest.clip_files()) {
            if !files.contains_key(file) {
                let path = beside(context.path(), file);
                let bytes = context.read_asset_bytes(path).await.map_err(|error| error.to_string());
                files.insert(file.to_owned(), bytes);
            }
        }
        let read = |file: &str| match files.get(file) {
            Some(Ok(bytes)) => Ok(Cow::Borrowed(&bytes[..])),
            Some(Err(error)) => Err(error.clone()),
            None => Err("it was not read".to_owned()),
        };
        let mut imported = assemble(&name, &manifest, limits, read)?;
        drop(files);

        let model_path = beside(context.path(), &manifest.model);
        let found = match settings.textures {
            TextureMode::Load | TextureMode::LoadAsTheyAre => files_beside(&self.server, &model_path).await,
            TextureMode::Ignore => Vec::new(),
        };
        let textures = match settings.textures {
            TextureMode::Load | TextureMode::LoadAsTheyAre => Textures::resolve(&mut imported, &manifest.model, found),
            TextureMode::Ignore => Textures::default(),
        };
        report(&imported.warnings);
        let mipped = match settings.textures {
            TextureMode::Load => {
                let path_of = |file: &str| beside(&model_path, file);
                textures.load_with_mips(&imported.model.materials, context, path_of).await
            }
            TextureMode::LoadAsTheyAre | TextureMode::Ignore => HashMap::new(),
        };
        let mut sink = ContextSink {
            context,
            server: &self.server,
            beside: model_path,
            mipped: mipped.into_iter().map(|(key, image)| (key, Mipped::Waiting(Box::new(image)))).collect(),
            used: HashSet::new(),
        };
        Ok(assemble_character(imported, &manifest, &textures, settings.meshes, &mut sink))
    }

    fn extensions(&self) -> &[&str] {
        &["m3d", "md5mesh", "character.ron"]
    }
}

/// The file, or a little more of it than the limit allows: what is beyond is never in memory.
async fn read_within(reader: &mut dyn Reader, limits: &Limits) -> Result<Vec<u8>, std::io::Error> {
    use futures_lite::AsyncReadExt;
    let mut source = Vec::new();
    reader.take(limits.file_bytes.saturating_add(1)).read_to_end(&mut source).await?;
    Ok(source)
}

fn bare_manifest(model: &str, settings: &CharacterLoaderSettings) -> Manifest {
    let ImportSettings { scale, hand, up, .. } = settings.import;
    let mut manifest = Manifest { scale, hand, up, clip_error: settings.clip_error, ..Manifest::of_model(model) };
    for file in &settings.clips {
        let stem = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
        manifest.clips.insert(stem.to_owned(), ClipEntry { file: Some(file.clone()), ..ClipEntry::default() });
    }
    manifest
}

/// The path of a file named relative to the asset at `path`.
fn beside(path: &AssetPath<'_>, file: &str) -> AssetPath<'static> {
    let folder = path.path().parent().map(std::path::Path::to_path_buf).unwrap_or_default();
    AssetPath::from_path_buf(folder.join(file.replace('\\', "/"))).with_source(path.source().clone_owned())
}

/// Says each warning once, when the asset is loaded; beyond a handful they are only counted.
fn report(warnings: &[Diagnostic]) {
    const SHOWN: usize = 8;
    for warning in warnings.iter().take(SHOWN) {
        warn!("{warning}");
    }
    if warnings.len() > SHOWN {
        let file = &warnings[SHOWN].file;
        warn!("{file}: {} more warnings; `marionette validate` lists them all", warnings.len() - SHOWN);
    }
}

/// Sub-assets become labelled assets of the character being loaded.
struct ContextSink<'c, 'l> {
    context: &'c mut LoadContext<'l>,
    server: &'c AssetServer,
    beside: AssetPath<'static>,
    /// Textures with levels made here.
    mipped: HashMap<TextureKey, Mipped>,
    /// Labels given in this load. The context cannot tell: it also knows those of the load before, and
    /// those that somebody asked for in advance.
    used: HashSet<String>,
}

/// A texture that was given mip levels, until the first material asks for it and after that.
enum Mipped {
    Waiting(Box<Image>),
    Added(Handle<Image>),
}

impl Sink for ContextSink<'_, '_> {
    fn mesh(&mut self, label: CharacterAssetLabel, mesh: Mesh) -> Handle<Mesh> {
        self.add(label, mesh)
    }

    fn material(&mut self, label: CharacterAssetLabel, material: StandardMaterial) -> Handle<StandardMaterial> {
        self.add(label, material)
    }

    fn other<A: Asset>(&mut self, label: CharacterAssetLabel, asset: A) -> Option<UntypedHandle> {
        Some(self.add(label, asset).untyped())
    }

    fn texture(&mut self, file: &str, is_srgb: bool) -> Option<Handle<Image>> {
        let key = TextureKey { file: file.to_owned(), is_srgb };
        let handle = match self.mipped.remove(&key) {
            Some(Mipped::Waiting(image)) => self.add(CharacterAssetLabel::Texture(key.file.clone()), *image),
            Some(Mipped::Added(handle)) => handle,
            None => {
                // A bad save keeps the last good picture.
                if let Some(last) = self.last_good(&key.file) {
                    warn!("{}: cannot be read; the texture that was loaded before stays", key.file);
                    return Some(last);
                }
                let load = self.context.load_builder().with_settings(image_settings(is_srgb));
                return Some(load.load(beside(&self.beside, file)));
            }
        };
        self.mipped.insert(key, Mipped::Added(handle.clone()));
        Some(handle)
    }
}

impl ContextSink<'_, '_> {
    /// The texture of that file with levels made by the load before this one, if that is still there.
    fn last_good(&mut self, file: &str) -> Option<Handle<Image>> {
        let label = CharacterAssetLabel::Texture(file.to_owned());
        let last: Handle<Image> = self.server.get_handle(label.from_asset(self.context.path().clone()))?;
        self.server.is_loaded(&last).then(|| self.context.get_label_handle(label.to_string()))
    }

    fn add<A: Asset>(&mut self, label: CharacterAssetLabel, asset: A) -> Handle<A> {
        let label = label.to_string();
        // Labels come from names in the file, and two may be alike.
        let mut unique = label.clone();
        let mut count = 1;
        while !self.used.insert(unique.clone()) {
            count += 1;
            unique = format!("{label}.{count}");
        }
        match self.context.labeled_asset_scope(unique, |_| Ok::<_, std::convert::Infallible>(asset)) {
            Ok(handle) => handle,
            Err(never) => match never {},
        }
    }
}

/// Loads an `.md5anim` by itself as a [`ClipAsset`], in the order of its own joints.
#[derive(Default, TypePath)]
pub struct ClipLoader;

/// How an `.md5anim` is loaded by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClipLoaderSettings {
    /// Scale, hand and up axis; as for the model it is to play on.
    pub import: ImportSettings,
}

impl AssetLoader for ClipLoader {
    type Asset = ClipAsset;
    type Settings = ClipLoaderSettings;
    type Error = CharacterLoaderError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        settings: &ClipLoaderSettings,
        context: &mut LoadContext<'_>,
    ) -> Result<ClipAsset, CharacterLoaderError> {
        let limits = &settings.import.limits;
        let source = read_within(reader, limits).await?;
        let file = context.path().path().to_string_lossy().replace('\\', "/");
        limits.check_size(&file, source.len() as u64)?;
        let anim = md5::parse_anim(&file, &source)?;
        let skeleton = skeleton_of_anim(&file, &anim.value, &settings.import)?;
        let stem = context.path().path().file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
        let clip = clip_from_md5(&file, &stem, &anim.value, &skeleton, &settings.import)?;
        limits.check_clip(&file, &clip.value)?;
        report(&anim.warnings);
        report(&clip.warnings);
        Ok(ClipAsset(Arc::new(clip.value)))
    }

    fn extensions(&self) -> &[&str] {
        &["md5anim"]
    }
}
