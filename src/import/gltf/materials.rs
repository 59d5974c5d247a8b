//! Materials and images.

use super::{accessors::Accessors, buffers, extras, report::Report};
use crate::{
    format::FormatError,
    import::{EmbeddedImage, names::UniqueNames},
    model::Material,
};
use gltf::json::{
    Image, Index, Value,
    material::{self, AlphaMode},
    texture::Texture,
    validation::Checked,
};
use std::collections::HashMap;

/// The materials of a file, in its order.
#[derive(Default)]
pub(super) struct Materials {
    pub(super) list: Vec<Material>,
    /// Per material, the set of texture coordinates of its base color map, or else of its normal map.
    pub(super) tex_coord_sets: Vec<u32>,
    /// The images that are in the file itself. Maps refer to them by name.
    pub(super) images: Vec<EmbeddedImage>,
}

impl Materials {
    pub(super) fn read(accessors: &Accessors, report: &mut Report) -> Result<Self, FormatError> {
        let mut out = Self::default();
        let images = out.images(accessors, report)?;
        let root = accessors.root;
        let map = |texture: Index<Texture>| images.get(&image_of(root.textures.get(texture.value())?)?)?.clone();
        let mut names = UniqueNames::default();
        let mut transformed = Vec::new();
        for (at, material) in root.materials.iter().enumerate() {
            let pbr = &material.pbr_metallic_roughness;
            let (base, normal) = (pbr.base_color_texture.as_ref(), material.normal_texture.as_ref());
            let transform = base.and_then(|base| base.extensions.as_ref()?.others.get("KHR_texture_transform"));
            if transform.is_some_and(moves) {
                transformed.push(at);
            }
            let given = material.name.clone().filter(|name| !name.trim().is_empty());
            let extras = extras::of_material(&material.extras);
            let cutoff = material.alpha_cutoff.map_or(0.5, |cutoff| cutoff.0);
            out.list.push(Material {
                name: names.add(given.unwrap_or_else(|| format!("material{at}"))),
                type_name: extras.type_name,
                base_color: pbr
                    .base_color_factor
                    .0
                    .map(|factor| if factor.is_finite() { factor.max(0.0) } else { 1.0 }),
                base_color_map: base.and_then(|base| map(base.index)).or(extras.base_color_map),
                normal_map: normal.and_then(|normal| map(normal.index)).or(extras.normal_map),
                normal_map_green_down: extras.normal_map_green_down && normal.is_none(),
                specular_map: extras.specular_map,
                roughness: Some(pbr.roughness_factor.0).filter(|r| r.is_finite()).map_or(1.0, |r| r.clamp(0.0, 1.0)),
                reflectance: reflectance(material),
                alpha_cutoff: (material.alpha_mode == Checked::Valid(AlphaMode::Mask)).then_some(cutoff),
                double_sided: material.double_sided,
            });
            let set = base.map(|base| base.tex_coord).or(normal.map(|normal| normal.tex_coord));
            let moved_set = transform.and_then(|transform| transform.get("texCoord")?.as_u64());
            out.tex_coord_sets.push(moved_set.map_or(set.unwrap_or_default(), |set| set as u32));
        }
        if let Some(first) = transformed.first() {
            let message = format!("{} materials move, turn or scale their textures", transformed.len());
            report.warn(
                &format!("materials[{first}]"),
                message,
                "that was left out: apply it to the texture coordinates",
            );
        }
        Ok(out)
    }

    /// Takes the images out of the file. Returns the name of each image that has one.
    fn images(
        &mut self,
        accessors: &Accessors,
        report: &mut Report,
    ) -> Result<HashMap<usize, Option<String>>, FormatError> {
        let mut out = HashMap::new();
        let mut names = UniqueNames::default();
        for (at, image) in accessors.root.images.iter().enumerate() {
            let place = format!("images[{at}]");
            let bytes = match (&image.uri, image.buffer_view) {
                (Some(uri), _) if buffers::is_data(uri) => buffers::decode_data(uri),
                (Some(uri), _) => {
                    let file = buffers::file_beside(uri);
                    if let Err(reason) = file {
                        report.warn(&place, format!("the image is `{uri}`, {reason}"), "put it beside the model");
                    }
                    out.insert(at, file.ok());
                    continue;
                }
                (None, Some(view)) => accessors.view(view.value()).ok().map(|(bytes, _)| bytes.to_vec()),
                (None, None) => None,
            };
            let Some(bytes) = bytes else {
                report.warn(&place, "the image has no data", "it was left out");
                continue;
            };
            accessors.charge(report, &place, bytes.len() as u64)?;
            let name = names.add(file_name(image, at, &bytes));
            self.images.push(EmbeddedImage { name: name.clone(), bytes });
            out.insert(at, Some(name));
        }
        Ok(out)
    }
}

/// The image of a texture, which extensions for other formats give as an alternative.
fn image_of(texture: &Texture) -> Option<usize> {
    let own = texture.source.value();
    if own != u32::MAX as usize {
        return Some(own);
    }
    let others = &texture.extensions.as_ref()?.others;
    others.values().find_map(|extension| extension.get("source")?.as_u64()).map(|image| image as usize)
}

/// A file name for an image in a file: its own, or a number, with the extension of its format.
fn file_name(image: &Image, at: usize, bytes: &[u8]) -> String {
    let name = image.name.clone().filter(|name| !name.trim().is_empty()).unwrap_or_else(|| format!("image{at}"));
    let name: String =
        name.chars().map(|c| if c.is_control() || "/\\:<>\"|?*".contains(c) { '_' } else { c }).collect();
    let extension = match bytes {
        [0x89, b'P', b'N', b'G', ..] => "png",
        [0xff, 0xd8, 0xff, ..] => "jpg",
        [b'R', b'I', b'F', b'F', ..] => "webp",
        [0xab, b'K', b'T', b'X', ..] => "ktx2",
        [b'D', b'D', b'S', b' ', ..] => "dds",
        _ if image.mime_type.as_ref().is_some_and(|mime| mime.0 == "image/jpeg") => "jpg",
        _ => "png",
    };
    let stem = match name.rsplit_once('.') {
        Some((stem, old))
            if ["png", "jpg", "jpeg", "webp", "ktx2", "dds", "tga"].contains(&&*old.to_ascii_lowercase()) =>
        {
            stem
        }
        _ => &name,
    };
    format!("{stem}.{extension}")
}

/// Reflectance in Bevy's sense, of the index of refraction if the material has one: F0 is ((n − 1) / (n + 1))².
fn reflectance(material: &material::Material) -> f32 {
    let ior = || material.extensions.as_ref()?.others.get("KHR_materials_ior")?.get("ior")?.as_f64();
    ior().map_or(0.5, |n| (((n - 1.0) / (n + 1.0)).abs() / 0.4).clamp(0.0, 1.0) as f32)
}

/// Returns `true` if a `KHR_texture_transform` is another than the identity.
fn moves(transform: &Value) -> bool {
    let numbers = |key: &str| -> Vec<f64> {
        transform.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let rotation = transform.get("rotation").and_then(Value::as_f64).unwrap_or_default();
    rotation != 0.0 || numbers("offset").iter().any(|n| *n != 0.0) || numbers("scale").iter().any(|n| *n != 1.0)
}
