//! The JSON of materials, textures, samplers and images.
//!
//! It is read value by value. A value of the wrong type is left out and counted, and the others are read: a character with a
//! number in the wrong place of a material is still a character.

use super::json::{Raw, present};
use crate::import::report::Report;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Reads values, and counts those of the wrong type.
#[derive(Default)]
pub(super) struct Reader {
    wrong: usize,
    /// The place of the first.
    first: String,
}

impl Reader {
    /// Reads a value. `None` if there is none, or if it is of the wrong type.
    pub(super) fn value<T: DeserializeOwned>(
        &mut self,
        raw: &Raw,
        place: &str,
        field: &str,
    ) -> Option<T> {
        let raw = raw.as_ref()?;
        serde_json::from_str(raw.get()).unwrap_or_else(|_| {
            self.complain(|| format!("{place}.{field}"));
            None
        })
    }

    /// Reads an object; an empty one if there is none.
    pub(super) fn object<T: DeserializeOwned + Default>(
        &mut self,
        raw: &Raw,
        place: &str,
        field: &str,
    ) -> T {
        self.value(raw, place, field).unwrap_or_default()
    }

    /// Reads a list of objects.
    pub(super) fn list<T: DeserializeOwned + Default>(&mut self, raw: &Raw, name: &str) -> Vec<T> {
        let Some(list) = raw else { return Vec::new() };
        // Each item takes memory, and only the number of objects is limited: see `document.rs`.
        let items: Option<Vec<&RawValue>> = serde_json::from_str(list.get()).ok();
        let Some(items) =
            items.filter(|items| items.iter().all(|item| item.get().starts_with('{')))
        else {
            self.complain(|| name.to_owned());
            return Vec::new();
        };
        let read = |(at, item): (usize, &RawValue)| {
            serde_json::from_str(item.get()).unwrap_or_else(|_| {
                self.complain(|| format!("{name}[{at}]"));
                T::default()
            })
        };
        items.into_iter().enumerate().map(read).collect()
    }

    fn complain(&mut self, place: impl FnOnce() -> String) {
        if self.wrong == 0 {
            self.first = place();
        }
        self.wrong += 1;
    }

    /// Warns about fields of the wrong type.
    pub(super) fn tell(&self, report: &mut Report) {
        let message = match self.wrong {
            0 => return,
            1 => "a value of a material or texture has the wrong type".to_owned(),
            count => format!("{count} values of materials or textures have the wrong type"),
        };
        report.warn(
            &self.first,
            message,
            "defaults were used; check the file with the glTF validator",
        );
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Material {
    pub(super) alpha_cutoff: Raw,
    pub(super) alpha_mode: Raw,
    pub(super) double_sided: Raw,
    pub(super) emissive_factor: Raw,
    pub(super) emissive_texture: Raw,
    pub(super) extensions: Raw,
    pub(super) extras: Raw,
    pub(super) name: Raw,
    pub(super) normal_texture: Raw,
    pub(super) occlusion_texture: Raw,
    pub(super) pbr_metallic_roughness: Raw,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct MetallicRoughness {
    pub(super) base_color_factor: Raw,
    pub(super) base_color_texture: Raw,
    pub(super) metallic_factor: Raw,
    pub(super) metallic_roughness_texture: Raw,
    pub(super) roughness_factor: Raw,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct MaterialExtensions {
    #[serde(rename = "KHR_materials_emissive_strength")]
    pub(super) emissive_strength: Raw,
    #[serde(rename = "KHR_materials_ior")]
    pub(super) ior: Raw,
    #[serde(rename = "KHR_materials_specular")]
    pub(super) specular: Raw,
    #[serde(rename = "KHR_materials_unlit", deserialize_with = "present")]
    pub(super) is_unlit: bool,
    #[serde(rename = "VRMC_materials_mtoon", deserialize_with = "present")]
    pub(super) is_toon: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct EmissiveStrength {
    pub(super) emissive_strength: Raw,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Refraction {
    pub(super) ior: Raw,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Specular {
    pub(super) specular_factor: Raw,
}

/// A reference of a material to a texture.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TextureInfo {
    pub(super) extensions: Raw,
    pub(super) index: Raw,
    pub(super) tex_coord: Raw,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TextureInfoExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub(super) transform: Raw,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TextureTransform {
    pub(super) offset: Raw,
    pub(super) rotation: Raw,
    pub(super) scale: Raw,
    pub(super) tex_coord: Raw,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Texture {
    pub(super) extensions: Raw,
    pub(super) sampler: Raw,
    pub(super) source: Raw,
}

/// The extensions of a texture, of which those for other formats have a source.
pub(super) type TextureExtensions = BTreeMap<String, Raw>;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TextureExtension {
    pub(super) source: Raw,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Sampler {
    pub(super) mag_filter: Raw,
    pub(super) min_filter: Raw,
    pub(super) wrap_s: Raw,
    pub(super) wrap_t: Raw,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Image {
    pub(super) buffer_view: Raw,
    pub(super) mime_type: Raw,
    pub(super) name: Raw,
    pub(super) uri: Raw,
}
