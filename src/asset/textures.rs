//! Textures of characters: which files they are, and how they are loaded.

use super::mips::{Content, with_mips};
use crate::{
    import::{Imported, MaterialTextures, TextureFiles, missing_textures},
    model::Material,
};
use bevy::{
    asset::{AssetPath, LoadContext},
    image::{ImageAddressMode, ImageLoaderSettings, ImageSampler, ImageSamplerDescriptor},
    prelude::*,
    tasks::AsyncComputeTaskPool,
};
use std::collections::HashMap;

/// The texture files of each material.
#[derive(Default)]
pub(super) struct Textures(Vec<MaterialTextures>);

impl Textures {
    /// Finds the textures of all materials among the files beside the model. Adds a warning for those missing.
    pub(super) fn resolve(imported: &mut Imported, model: &str, files: Vec<String>) -> Self {
        let files = TextureFiles::new(files);
        let materials = &imported.model.materials;
        let found: Vec<_> = materials.iter().map(|material| files.resolve_material(material)).collect();
        let maps = materials.iter().zip(&found).flat_map(|(material, found)| {
            [(&material.base_color_map, &found.base_color), (&material.normal_map, &found.normal)]
        });
        let missing = maps.filter(|(_, file)| file.is_none()).filter_map(|(name, _)| name.as_deref());
        imported.warnings.extend(missing_textures(model, missing));
        Self(found)
    }

    /// Returns the texture files of a material.
    pub(super) fn of(&self, material: usize) -> MaterialTextures {
        self.0.get(material).cloned().unwrap_or_default()
    }

    /// Loads the textures whose formats have no mip levels, and generates the levels.
    ///
    /// Skips files that cannot be read: loading them as usual reports what is wrong.
    pub(super) async fn load_with_mips(
        &self,
        materials: &[Material],
        context: &mut LoadContext<'_>,
        path_of: impl Fn(&str) -> AssetPath<'static>,
    ) -> HashMap<TextureKey, Image> {
        let mut wanted: Vec<(TextureKey, Content)> = Vec::new();
        for (material, found) in materials.iter().zip(&self.0) {
            let color = Content::Color { cutoff: material.alpha_cutoff };
            let maps = [(&found.base_color, true, color), (&found.normal, false, Content::Normals)];
            for (file, is_srgb, content) in maps {
                let Some(file) = file.clone().filter(|file| has_no_mips(file)) else { continue };
                let key = TextureKey { file, is_srgb };
                if wanted.iter().all(|(known, _)| *known != key) {
                    wanted.push((key, content));
                }
            }
        }
        let (mut ready, mut pending) = (HashMap::new(), Vec::new());
        for (key, content) in wanted {
            let load = context.load_builder().with_settings(image_settings(key.is_srgb));
            let Ok(image) = load.load_value::<Image>(path_of(&key.file)).await else { continue };
            let image = image.take();
            // Generates the levels of one texture while the next is read.
            match AsyncComputeTaskPool::try_get() {
                Some(pool) => pending.push((key, pool.spawn(async move { with_mips(image, content) }))),
                None => _ = ready.insert(key, with_mips(image, content)),
            }
        }
        for (key, image) in pending {
            ready.insert(key, image.await);
        }
        ready
    }
}

/// A texture file and how it is used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct TextureKey {
    /// Relative to the model's folder.
    pub(super) file: String,
    /// `true` for colors.
    pub(super) is_srgb: bool,
}

/// Returns `true` for formats that cannot store mip levels.
fn has_no_mips(file: &str) -> bool {
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["tga", "png", "jpg", "jpeg", "bmp"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Returns the settings for loading a texture: repeated, with trilinear filtering.
///
/// Anisotropic filtering would look sharper, but where two mip levels meet, llvmpipe (Mesa 22.3) then samples
/// texels far away, which show as bright specks all over small figures.
pub(super) fn image_settings(is_srgb: bool) -> impl Fn(&mut ImageLoaderSettings) + Send + Sync + 'static {
    move |settings| {
        settings.is_srgb = is_srgb;
        settings.sampler = ImageSampler::Descriptor(ImageSamplerDescriptor {
            address_mode_u: ImageAddressMode::Repeat,
            address_mode_v: ImageAddressMode::Repeat,
            ..ImageSamplerDescriptor::linear()
        });
    }
}
