//! Textures of characters: which files or embedded images they are, and how they are loaded.

use super::{
    images::decode,
    mips::{Content, with_mips},
};
use crate::{
    import::{EmbeddedImage, FileKind, Imported, MaterialTextures, TextureFiles, TextureMap, missing_textures},
    model::{Material, MipFilter, Sampler, TextureFilter, TextureWrap},
};
use bevy::{
    asset::{AssetPath, LoadContext},
    image::{
        CompressedImageFormats, ImageAddressMode, ImageFilterMode, ImageLoaderSettings, ImageSampler,
        ImageSamplerDescriptor,
    },
    prelude::*,
    tasks::{AsyncComputeTaskPool, Task},
};
use std::{collections::HashMap, sync::Arc};

/// The textures of each material.
#[derive(Default)]
pub(super) struct Textures {
    materials: Vec<[Option<TextureKey>; TextureMap::ALL.len()]>,
    /// The contents of the embedded images, by name.
    embedded: HashMap<String, Arc<Vec<u8>>>,
}

/// A texture and how it is used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct TextureKey {
    /// A file, relative to the model's folder, or the name of an image in the model's own file.
    pub(super) file: String,
    /// `true` for colors.
    pub(super) is_srgb: bool,
    sampler: Sampler,
}

impl Textures {
    /// Finds the textures of all materials among the images in the model's file and the files beside it. Adds a warning for
    /// those missing.
    pub(super) fn resolve(imported: &mut Imported, model: &str, files: Vec<String>) -> Self {
        let images = std::mem::take(&mut imported.images);
        let materials = &imported.model.materials;
        // In glTF, names are exact paths, even to files that are not listed: too deep down, or on the web.
        let is_exact = FileKind::of_name(model) == Some(FileKind::Gltf);
        let names = materials.iter().flat_map(|material| TextureMap::ALL.map(|map| map.of(material))).flatten();
        let is_unlisted = |name: &&str| files.is_empty() || name.matches('/').count() > 1;
        let unlisted = names.filter(|name| is_exact && is_unlisted(name)).map(str::to_owned);
        let embedded = images.iter().map(|image| image.name.clone());
        let known = TextureFiles::new(embedded.chain(unlisted).chain(files.iter().cloned()));
        let found: Vec<_> = materials.iter().map(|material| known.resolve_material(material)).collect();

        let maps = || TextureMap::ALL.into_iter().filter(|map| *map != TextureMap::Specular);
        let missing = materials.iter().zip(&found).flat_map(|(material, found)| {
            maps().filter(move |map| found.get(*map).is_none()).map(move |map| map.of(material))
        });
        imported.warnings.extend(missing_textures(model, missing.flatten()));
        let key_of = |found: &MaterialTextures, sampler: Sampler, map: TextureMap| {
            let file = found.get(map).filter(|_| map != TextureMap::Specular)?.to_owned();
            Some(TextureKey { file, is_srgb: map.is_color(), sampler })
        };
        Self {
            materials: materials
                .iter()
                .zip(&found)
                .map(|(material, found)| TextureMap::ALL.map(|map| key_of(found, material.sampler, map)))
                .collect(),
            embedded: images.into_iter().map(|EmbeddedImage { name, bytes }| (name, Arc::new(bytes))).collect(),
        }
    }

    /// Returns a material's texture.
    pub(super) fn get(&self, material: usize, map: TextureMap) -> Option<&TextureKey> {
        self.materials.get(material)?[map as usize].as_ref()
    }

    /// Makes the textures that belong to the character: the embedded images, and, if mip levels are wanted, those in files of
    /// formats without them. `None` for an embedded image that cannot be decoded, with a warning.
    ///
    /// Skips files that cannot be read: loading them as usual reports what is wrong.
    pub(super) async fn load_own(
        &mut self,
        materials: &[Material],
        wants_mips: bool,
        formats: CompressedImageFormats,
        context: &mut LoadContext<'_>,
        path_of: impl Fn(&str) -> AssetPath<'static>,
    ) -> HashMap<TextureKey, Option<Image>> {
        let mut wanted: Vec<(TextureKey, Content)> = Vec::new();
        for (material, keys) in materials.iter().zip(&self.materials) {
            for (map, key) in TextureMap::ALL.into_iter().zip(keys) {
                let Some(key) = key else { continue };
                if wanted.iter().all(|(known, _)| known != key) {
                    let content = match map {
                        TextureMap::BaseColor => Content::Color { cutoff: material.alpha_cutoff },
                        TextureMap::Normal => Content::Normals,
                        _ if key.is_srgb => Content::Color { cutoff: None },
                        _ => Content::Data,
                    };
                    wanted.push((key.clone(), content));
                }
            }
        }
        let mut pending: Vec<(TextureKey, Pending)> = Vec::new();
        for (key, content) in wanted {
            let mips = wants_mips && key.sampler.mip_levels != MipFilter::Off && has_no_mips(&key.file);
            let finish = move |image: Image| if mips { with_mips(image, content) } else { image };
            if let Some(bytes) = self.embedded.get(&key.file) {
                let (bytes, used) = (bytes.clone(), key.clone());
                pending.push((
                    key,
                    spawn(move || {
                        let sampler = sampler_of(&used.sampler);
                        decode(&used.file, &bytes, formats, used.is_srgb, sampler).map(finish)
                    }),
                ));
            } else if mips {
                let load = context.load_builder().with_settings(image_settings(&key));
                let Ok(image) = load.load_value::<Image>(path_of(&key.file)).await else { continue };
                let image = image.take();
                // Generates the levels of one texture while the next is read.
                pending.push((key, spawn(move || Ok(finish(image)))));
            }
        }
        let mut ready = HashMap::new();
        for (key, image) in pending {
            let image = match image {
                Pending::Task(task) => task.await,
                Pending::Done(image) => *image,
            };
            if let Err(error) = &image {
                warn!("{}: cannot read the embedded texture `{}`: {error}", context.path(), key.file);
            }
            ready.insert(key, image.ok());
        }
        self.embedded.clear();
        ready
    }
}

/// A texture in the making.
enum Pending {
    Task(Task<Result<Image, String>>),
    /// Without threads.
    Done(Box<Result<Image, String>>),
}

fn spawn(make: impl FnOnce() -> Result<Image, String> + Send + 'static) -> Pending {
    match AsyncComputeTaskPool::try_get() {
        Some(pool) => Pending::Task(pool.spawn(async move { make() })),
        None => Pending::Done(Box::new(make())),
    }
}

/// Returns `true` for formats that cannot store mip levels.
fn has_no_mips(file: &str) -> bool {
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["tga", "png", "jpg", "jpeg", "bmp", "webp"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Returns the settings for loading a texture.
pub(super) fn image_settings(key: &TextureKey) -> impl Fn(&mut ImageLoaderSettings) + Send + Sync + 'static {
    let (is_srgb, sampler) = (key.is_srgb, sampler_of(&key.sampler));
    move |settings| {
        settings.is_srgb = is_srgb;
        settings.sampler = sampler.clone();
    }
}

/// Converts a sampler. Anisotropic filtering would look sharper, but where two mip levels meet, llvmpipe (Mesa 22.3) then samples
/// texels far away, which show as bright specks all over small figures.
fn sampler_of(sampler: &Sampler) -> ImageSampler {
    let wrap = |wrap| match wrap {
        TextureWrap::Repeat => ImageAddressMode::Repeat,
        TextureWrap::Mirror => ImageAddressMode::MirrorRepeat,
        TextureWrap::Clamp => ImageAddressMode::ClampToEdge,
    };
    let filter = |filter| match filter {
        TextureFilter::Nearest => ImageFilterMode::Nearest,
        TextureFilter::Linear => ImageFilterMode::Linear,
    };
    ImageSampler::Descriptor(ImageSamplerDescriptor {
        address_mode_u: wrap(sampler.wrap_u),
        address_mode_v: wrap(sampler.wrap_v),
        mag_filter: filter(sampler.magnify),
        min_filter: filter(sampler.minify),
        mipmap_filter: match sampler.mip_levels {
            MipFilter::Linear => ImageFilterMode::Linear,
            MipFilter::Off | MipFilter::Nearest => ImageFilterMode::Nearest,
        },
        ..ImageSamplerDescriptor::linear()
    })
}
