//! A character's textures: which files they are, and how they are loaded.

use super::mips::{Content, with_mips};
use crate::{
    format::Diagnostic,
    import::{Imported, MaterialTextures, TextureFiles},
    model::Material,
};
use bevy::{
    asset::{AssetPath, LoadContext},
    image::{ImageAddressMode, ImageLoaderSettings, ImageSampler, ImageSamplerDescriptor},
    prelude::*,
    tasks::AsyncComputeTaskPool,
};
use std::collections::HashMap;

/// The texture files that were found, per material.
#[derive(Default)]
pub(super) struct Textures(Vec<MaterialTextures>);

impl Textures {
    /// Finds the materials' maps among the files beside the model; one warning names those not found.
    pub(super) fn resolve(imported: &mut Imported, model: &str, files: Vec<String>) -> Self {
        let files = TextureFiles::new(files);
        let materials = &imported.model.materials;
        let found: Vec<_> = materials.iter().map(|material| files.resolve_material(material)).collect();
        let mut missing: Vec<&str> = Vec::new();
        for (material, found) in materials.iter().zip(&found) {
            let maps = [(&material.base_color_map, &found.base_color), (&material.normal_map, &found.normal)];
            missing.extend(maps.iter().filter(|(_, file)| file.is_none()).filter_map(|(name, _)| name.as_deref()));
        }
        missing.sort_unstable();
        missing.dedup();
        if !missing.is_empty() {
            let message = format!("no texture file beside the model for {}; drawn plain", missing.join(", "));
            imported.warnings.push(Diagnostic::warning(model, message));
        }
        Self(found)
    }

    /// The files of a material's maps.
    pub(super) fn of(&self, material: usize) -> MaterialTextures {
        self.0.get(material).cloned().unwrap_or_default()
    }

    /// Loads those of the textures that carry no mip levels of their own, and makes the levels.
    ///
    /// A file that cannot be read is left out here: its ordinary load will say what is wrong with it.
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
        let (mut ready, mut at_work) = (HashMap::new(), Vec::new());
        for (key, content) in wanted {
            let load = context.load_builder().with_settings(image_settings(key.is_srgb));
            let Ok(image) = load.load_value::<Image>(path_of(&key.file)).await else { continue };
            let image = image.take();
            // One is read while the levels of another are made.
            match AsyncComputeTaskPool::try_get() {
                Some(pool) => at_work.push((key, pool.spawn(async move { with_mips(image, content) }))),
                None => _ = ready.insert(key, with_mips(image, content)),
            }
        }
        for (key, image) in at_work {
            ready.insert(key, image.await);
        }
        ready
    }
}

/// A texture file in one of its uses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct TextureKey {
    /// Relative to the model's folder.
    pub(super) file: String,
    /// Whether it holds colours.
    pub(super) is_srgb: bool,
}

/// Whether a file's format has no room for mip levels.
fn has_no_mips(file: &str) -> bool {
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["tga", "png", "jpg", "jpeg", "bmp"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// How a character's textures are read: repeated, filtered within and between levels.
///
/// Not along a slant (anisotropy), though it would be sharper there: llvmpipe then reads texels of quite another
/// place where two levels meet (seen with Mesa 22.3), as bright specks all over a small figure.
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
