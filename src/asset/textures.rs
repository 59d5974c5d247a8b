//! Textures of characters: the files or embedded images that they are, and how they are loaded.

use super::{
    images::{Claims, decode},
    mips::with_mips,
};
use crate::{
    import::{
        Content, FileKind, Images, Imported, MaterialTextures, TextureFiles, TextureMap,
        is_relative_path, missing_textures,
    },
    model::{Material, MipFilter, Sampler, TextureFilter, TextureWrap},
};
use bevy::{
    image::{
        CompressedImageFormats, ImageAddressMode, ImageFilterMode, ImageLoaderSettings,
        ImageSampler, ImageSamplerDescriptor,
    },
    prelude::*,
    tasks::{AsyncComputeTaskPool, Task},
};
use std::{
    collections::{BTreeSet, HashMap},
    ops::{Deref, Range},
    sync::Arc,
};

/// The textures of each material.
#[derive(Default)]
pub(super) struct Textures {
    materials: Vec<[Option<TextureKey>; TextureMap::ALL.len()]>,
    /// The contents of the embedded images, by name.
    embedded: Images,
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
    /// Finds the textures of all materials among the images in the model's file and the files
    /// beside it. Adds a warning for those missing. `may_exist` returns `true` if there may be a
    /// file at a path that is not in `files`.
    pub(super) fn resolve(
        imported: &mut Imported,
        model: &str,
        files: Vec<String>,
        may_exist: impl Fn(&str) -> bool,
    ) -> Self {
        let images = std::mem::take(&mut imported.images);
        let materials = &imported.model.materials;
        // In glTF, relative paths are exact, even to files that are not listed.
        let are_exact = FileKind::of_name(model) == Some(FileKind::Gltf);
        let names = materials
            .iter()
            .flat_map(|material| TextureMap::ALL.map(|map| map.of(material)))
            .flatten();
        let unlisted = names
            .filter(|name| are_exact && is_relative_path(name) && may_exist(name))
            .map(str::to_owned);
        let (textures, found) = Self::find(materials, &images, unlisted.chain(files));
        let maps = || {
            TextureMap::ALL
                .into_iter()
                // Specular maps aren't drawn, so a missing one isn't missed.
                .filter(|map| *map != TextureMap::Specular)
        };
        let missing = materials.iter().zip(&found).flat_map(|(material, found)| {
            maps()
                .filter(move |map| found.get(*map).is_none())
                .map(move |map| map.of(material))
        });
        imported
            .warnings
            .extend(missing_textures(model, missing.flatten()));
        textures
    }

    /// Finds the textures that are in the model's own file.
    pub(super) fn in_file(materials: &[Material], images: &Images) -> Self {
        Self::find(materials, images, std::iter::empty()).0
    }

    /// Returns `true` if all textures of a model are in its own file, as those of baked characters are.
    pub(super) fn all_in_file(imported: &Imported) -> bool {
        let materials = &imported.model.materials;
        let (_, found) = Self::find(materials, &imported.images, std::iter::empty());
        let drawn = |map: &TextureMap| *map != TextureMap::Specular;
        materials.iter().zip(&found).all(|(material, found)| {
            let mut maps = TextureMap::ALL.into_iter().filter(drawn);
            maps.all(|map| map.of(material).is_none() || found.get(map).is_some())
        })
    }

    /// Finds the textures of materials among the images in their file, and others.
    fn find(
        materials: &[Material],
        images: &Images,
        others: impl Iterator<Item = String>,
    ) -> (Self, Vec<MaterialTextures>) {
        let embedded = images.keys().cloned();
        let known = TextureFiles::new(embedded.chain(others));
        let found: Vec<_> = materials
            .iter()
            .map(|material| known.resolve_material(material))
            .collect();
        let key_of = |found: &MaterialTextures, sampler: Sampler, map: TextureMap| {
            let file = found
                .get(map)
                .filter(|_| map != TextureMap::Specular)?
                .to_owned();
            Some(TextureKey {
                file,
                is_srgb: map.is_color(),
                sampler,
            })
        };
        let textures = Self {
            materials: materials
                .iter()
                .zip(&found)
                .map(|(material, found)| {
                    TextureMap::ALL.map(|map| key_of(found, *map.pick(&material.samplers), map))
                })
                .collect(),
            embedded: images.clone(),
        };
        (textures, found)
    }

    /// Returns a material's texture.
    pub(super) fn get(&self, material: usize, map: TextureMap) -> Option<&TextureKey> {
        self.materials.get(material)?[map as usize].as_ref()
    }

    /// Returns the files of textures that aren't embedded, each once.
    pub(super) fn files_of(&self, textures: &[OwnImage]) -> Vec<String> {
        let files = textures
            .iter()
            .map(|own| &own.key.file)
            .filter(|file| !self.embedded.contains_key(*file));
        files
            .cloned()
            .collect::<BTreeSet<String>>()
            .into_iter()
            .collect()
    }

    /// Returns the files of all textures that aren't embedded, each once.
    pub(super) fn files(&self) -> Vec<String> {
        let keys = self.materials.iter().flatten().flatten();
        let files = keys
            .map(|key| &key.file)
            .filter(|file| !self.embedded.contains_key(*file));
        let files: BTreeSet<String> = files.cloned().collect();
        files.into_iter().collect()
    }

    /// Begins to decode textures: all that are embedded or in `files`. Those whose files cannot be read are left out: Bevy then
    /// loads them as usual, and reports the error.
    pub(super) fn decode(
        &mut self,
        textures: Vec<OwnImage>,
        files: Vec<(String, Result<Vec<u8>, String>)>,
        formats: CompressedImageFormats,
        decoding: &mut Decoding,
    ) {
        let files: HashMap<String, Arc<[u8]>> = files
            .into_iter()
            .filter_map(|(file, bytes)| Some((file, bytes.ok()?.into())))
            .collect();
        // Not needed again.
        let embedded = std::mem::take(&mut self.embedded);
        for own in textures {
            let embedded = embedded.get(&own.key.file);
            if let Some(bytes) = embedded.or(files.get(&own.key.file)) {
                decoding.begin(own, bytes, embedded.is_some(), formats);
            }
        }
    }

    /// Lists the textures that belong to the character, each once: the embedded images and, if mip levels are wanted, those in
    /// files of formats without them.
    pub(super) fn own(&self, materials: &[Material], wants_mips: bool) -> Vec<OwnImage> {
        let mut own: Vec<OwnImage> = Vec::new();
        for (material, keys) in materials.iter().zip(&self.materials) {
            for (map, key) in TextureMap::ALL.into_iter().zip(keys) {
                let Some(key) = key else { continue };
                let has_mips = wants_mips
                    && key.sampler.mip_levels != MipFilter::Off
                    && has_no_mips(&key.file);
                let is_own = has_mips || self.embedded.contains_key(&key.file);
                if !is_own || own.iter().any(|known| known.key == *key) {
                    continue;
                }
                own.push(OwnImage {
                    key: key.clone(),
                    content: Content::of(map, material),
                    has_mips,
                });
            }
        }
        own
    }
}

/// A texture that belongs to the character.
#[derive(Clone, PartialEq)]
pub(super) struct OwnImage {
    key: TextureKey,
    content: Content,
    /// `true` if mip levels are made for it.
    has_mips: bool,
}

/// Textures that are being decoded on other threads.
#[derive(Default)]
pub(super) struct Decoding {
    textures: Vec<Pending>,
    claims: Claims,
    /// Embedded images that are parts of larger files.
    pub(super) apart: HashMap<String, ImageBytes>,
}

/// The bytes of an image, on whichever thread it is decoded.
#[derive(Clone)]
pub(super) enum ImageBytes {
    Whole(Arc<[u8]>),
    /// A part of a file.
    Part(Arc<Vec<u8>>, Range<usize>),
}

impl Deref for ImageBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Whole(bytes) => bytes,
            Self::Part(file, place) => &file[place.clone()],
        }
    }
}

impl Decoding {
    /// Begins to decode a texture, unless that has begun already.
    fn begin(
        &mut self,
        own: OwnImage,
        bytes: &Arc<[u8]>,
        is_embedded: bool,
        formats: CompressedImageFormats,
    ) {
        if self.textures.iter().any(|known| known.own == own) {
            return;
        }
        let apart = self.apart.get(&own.key.file).cloned();
        let bytes = apart.unwrap_or_else(|| ImageBytes::Whole(bytes.clone()));
        // Before decoding: a small file can claim to be huge.
        let image = match self.claims.add(&own.key.file, &bytes) {
            Err(error) => Job::Done(Box::new(Err(error))),
            Ok(()) => {
                let (key, has_mips) = (own.key.clone(), own.has_mips);
                spawn(move || {
                    let TextureKey {
                        file,
                        is_srgb,
                        sampler,
                    } = &key;
                    let sampler = sampler_of(sampler);
                    decode(file, &bytes, formats, *is_srgb, sampler, has_mips)
                })
            }
        };
        self.textures.push(Pending {
            own,
            is_embedded,
            image,
        });
    }

    /// Returns the textures. `None` for an embedded image that cannot be decoded, with a warning.
    pub(super) async fn finish(self, character: &str) -> HashMap<TextureKey, Option<Image>> {
        // Awaited in the order in which they were spawned. Later ones go on meanwhile.
        let mut ready = HashMap::new();
        for Pending {
            own:
                OwnImage {
                    key,
                    content,
                    has_mips,
                },
            is_embedded,
            image,
        } in self.textures
        {
            let image = match image {
                Job::Task(task) => task.await,
                Job::Done(image) => *image,
            };
            match image {
                Ok(mut image) => {
                    // Only now, because this thread can help: decoding is done on the others.
                    if has_mips {
                        image = with_mips(image, content);
                    }
                    ready.insert(key, Some(image));
                }
                Err(error) if is_embedded => {
                    warn!(
                        "{character}: cannot read the embedded texture `{}`: {error}",
                        key.file
                    );
                    ready.insert(key, None);
                }
                Err(_) => {}
            }
        }
        ready
    }
}

/// A texture that is being decoded.
struct Pending {
    own: OwnImage,
    /// `true` if it is in the model's own file.
    is_embedded: bool,
    image: Job,
}

enum Job {
    Task(Task<Result<Image, String>>),
    /// Without threads.
    Done(Box<Result<Image, String>>),
}

fn spawn(make: impl FnOnce() -> Result<Image, String> + Send + 'static) -> Job {
    match AsyncComputeTaskPool::try_get() {
        Some(pool) => Job::Task(pool.spawn(async move { make() })),
        None => Job::Done(Box::new(make())),
    }
}

/// Returns `true` for the formats that cannot store mip levels.
fn has_no_mips(file: &str) -> bool {
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["tga", "png", "jpg", "jpeg", "bmp", "webp"]
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known))
}

/// Returns the settings for loading a texture.
pub(super) fn image_settings(
    key: &TextureKey,
) -> impl Fn(&mut ImageLoaderSettings) + Send + Sync + 'static {
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
