//! Materials and images.

use super::{accessors::Accessors, buffers, extras, report::Report};
use crate::{
    format::FormatError,
    import::{EmbeddedImage, names::UniqueNames},
    model::{Material, MipFilter, Sampler, TextureFilter, TextureWrap, UvTransform},
};
use gltf::json::{
    Image, Index, Root, Value,
    extensions::{self, texture::TextureTransform},
    material::AlphaMode,
    texture::{self, Info, MagFilter, MinFilter, Texture, WrappingMode},
    validation::Checked,
};
use std::collections::HashMap;

/// The materials of a file, in its order.
#[derive(Default)]
pub(super) struct Materials {
    pub(super) list: Vec<Material>,
    /// Per material, the set of texture coordinates of its maps.
    pub(super) tex_coord_sets: Vec<u32>,
    /// The images that are in the file itself. Maps refer to them by name.
    pub(super) images: Vec<EmbeddedImage>,
}

impl Materials {
    pub(super) fn read(accessors: &Accessors, report: &mut Report) -> Result<Self, FormatError> {
        let mut out = Self::default();
        let images = out.images(accessors, report)?;
        let root = accessors.root;
        let map = |texture: Option<&Map>| images.get(&image_of(root.textures.get(texture?.texture)?)?)?.clone();
        let mut names = UniqueNames::default();
        let mut differences = [const { Vec::new() }; 3];
        for (at, material) in root.materials.iter().enumerate() {
            let pbr = &material.pbr_metallic_roughness;
            let extensions = material.extensions.as_ref();
            let base = pbr.base_color_texture.as_ref().map(Map::of_info);
            let metallic_roughness = pbr.metallic_roughness_texture.as_ref().map(Map::of_info);
            let emissive_map = material.emissive_texture.as_ref().map(Map::of_info);
            let normal = material.normal_texture.as_ref().map(|normal| {
                let transform = normal.extensions.as_ref().and_then(|e| e.others.get(TRANSFORM));
                Map::new(normal.index, normal.tex_coord, transform)
            });
            let occlusion = material.occlusion_texture.as_ref().map(|occlusion| {
                let transform = occlusion.extensions.as_ref().and_then(|e| e.others.get(TRANSFORM));
                Map::new(occlusion.index, occlusion.tex_coord, transform)
            });
            // One transform and one sampler serve all maps of a material: those of the first.
            let mut maps = [&base, &normal, &metallic_roughness, &occlusion, &emissive_map].into_iter().flatten();
            let first = maps.next().copied().unwrap_or_default();
            let sampler = first.sampler(root);
            let mut differ = [false; 3];
            for map in maps {
                differ[0] |= map.set != first.set;
                differ[1] |= map.transform != first.transform;
                differ[2] |= map.sampler(root) != sampler;
            }
            differences.iter_mut().zip(differ).filter(|(_, differ)| *differ).for_each(|(list, _)| list.push(at));

            let given = material.name.clone().filter(|name| !name.trim().is_empty());
            let extras = extras::of_material(&material.extras);
            let cutoff = material.alpha_cutoff.map_or(0.5, |cutoff| cutoff.0);
            let positive = |factor: f32| if factor.is_finite() { factor.max(0.0) } else { 1.0 };
            let unit = |factor: f32| positive(factor).min(1.0);
            let strength = extensions.and_then(|e| e.emissive_strength.as_ref());
            let strength = strength.map_or(1.0, |strength| positive(strength.emissive_strength.0));
            out.list.push(Material {
                name: names.add(given.unwrap_or_else(|| format!("material{at}"))),
                type_name: extras.type_name,
                base_color: pbr.base_color_factor.0.map(positive),
                base_color_map: map(base.as_ref()).or(extras.base_color_map),
                normal_map: map(normal.as_ref()).or(extras.normal_map),
                normal_map_green_down: extras.normal_map_green_down && normal.is_none(),
                specular_map: extras.specular_map,
                roughness: unit(pbr.roughness_factor.0),
                reflectance: reflectance(extensions),
                metallic: unit(pbr.metallic_factor.0),
                metallic_roughness_map: map(metallic_roughness.as_ref()).or(extras.metallic_roughness_map),
                occlusion_map: map(occlusion.as_ref()).or(extras.occlusion_map),
                emissive: material.emissive_factor.0.map(|factor| (positive(factor) * strength).min(f32::MAX)),
                emissive_map: map(emissive_map.as_ref()).or(extras.emissive_map),
                alpha_cutoff: (material.alpha_mode == Checked::Valid(AlphaMode::Mask)).then_some(cutoff),
                alpha_blend: material.alpha_mode == Checked::Valid(AlphaMode::Blend),
                double_sided: material.double_sided,
                unlit: extensions.is_some_and(|extensions| extensions.unlit.is_some()),
                uv_transform: first.transform,
                sampler,
            });
            out.tex_coord_sets.push(first.set);
        }
        let what = ["sets of texture coordinates", "texture transforms", "samplers"];
        for (what, materials) in what.into_iter().zip(differences) {
            let Some(first) = materials.first() else { continue };
            let message = format!("{} materials have maps with different {what}", materials.len());
            let hint = "those of the base color map, or else of the normal map, are used for all";
            report.warn(&format!("materials[{first}]"), message, hint);
        }
        let left_out: Vec<_> = root.extensions_used.iter().filter(|name| LEFT_OUT.contains(&&***name)).collect();
        if !left_out.is_empty() {
            let names: Vec<String> = left_out.into_iter().map(|name| format!("`{name}`")).collect();
            let message = format!("materials use extensions that are not read: {}", names.join(", "));
            report.warn("extensionsUsed", message, "they are drawn without");
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

const TRANSFORM: &str = "KHR_texture_transform";

/// Extensions that change how a material looks, other than those that are read.
const LEFT_OUT: [&str; 8] = [
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_iridescence",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_sheen",
    "KHR_materials_transmission",
    "KHR_materials_variants",
    "KHR_materials_volume",
];

/// How a material uses a texture.
#[derive(Clone, Copy, Debug, Default)]
struct Map {
    texture: usize,
    /// The set of texture coordinates.
    set: u32,
    transform: UvTransform,
}

impl Map {
    fn of_info(info: &Info) -> Self {
        let transform = info.extensions.as_ref().and_then(|extensions| extensions.texture_transform.as_ref());
        let transform = transform.cloned().unwrap_or_default();
        let set = transform.tex_coord.unwrap_or(info.tex_coord);
        Self { texture: info.index.value(), set, transform: finite(&transform) }
    }

    /// Of a map whose transform the `gltf` crate leaves as it is.
    fn new(texture: Index<Texture>, set: u32, transform: Option<&Value>) -> Self {
        let transform: Option<TextureTransform> =
            transform.and_then(|transform| gltf::json::deserialize::from_value(transform.clone()).ok());
        let transform = transform.unwrap_or_default();
        Self { texture: texture.value(), set: transform.tex_coord.unwrap_or(set), transform: finite(&transform) }
    }

    fn sampler(&self, root: &Root) -> Sampler {
        let sampler = || root.samplers.get(root.textures.get(self.texture)?.sampler?.value());
        sampler().map(convert_sampler).unwrap_or_default()
    }
}

fn finite(transform: &TextureTransform) -> UvTransform {
    let is_finite = [transform.offset.0, transform.scale.0].as_flattened().iter().all(|number| number.is_finite());
    let TextureTransform { offset, rotation, scale, .. } = transform;
    match is_finite && rotation.0.is_finite() {
        true => UvTransform { offset: offset.0, rotation: rotation.0, scale: scale.0 },
        false => UvTransform::default(),
    }
}

fn convert_sampler(sampler: &texture::Sampler) -> Sampler {
    let wrap = |mode: Checked<WrappingMode>| match mode {
        Checked::Valid(WrappingMode::ClampToEdge) => TextureWrap::Clamp,
        Checked::Valid(WrappingMode::MirroredRepeat) => TextureWrap::Mirror,
        _ => TextureWrap::Repeat,
    };
    let (minify, mip_levels) = match sampler.min_filter {
        Some(Checked::Valid(MinFilter::Nearest)) => (TextureFilter::Nearest, MipFilter::Off),
        Some(Checked::Valid(MinFilter::Linear)) => (TextureFilter::Linear, MipFilter::Off),
        Some(Checked::Valid(MinFilter::NearestMipmapNearest)) => (TextureFilter::Nearest, MipFilter::Nearest),
        Some(Checked::Valid(MinFilter::LinearMipmapNearest)) => (TextureFilter::Linear, MipFilter::Nearest),
        Some(Checked::Valid(MinFilter::NearestMipmapLinear)) => (TextureFilter::Nearest, MipFilter::Linear),
        _ => (TextureFilter::Linear, MipFilter::Linear),
    };
    Sampler {
        wrap_u: wrap(sampler.wrap_s),
        wrap_v: wrap(sampler.wrap_t),
        magnify: match sampler.mag_filter {
            Some(Checked::Valid(MagFilter::Nearest)) => TextureFilter::Nearest,
            _ => TextureFilter::Linear,
        },
        minify,
        mip_levels,
    }
}

/// Reflectance in Bevy's sense: of the index of refraction, F0 is ((n − 1) / (n + 1))², times the specular factor.
fn reflectance(extensions: Option<&extensions::material::Material>) -> f32 {
    let ior = extensions.and_then(|e| e.ior.as_ref()).map_or(1.5, |ior| ior.ior.0);
    let specular = extensions.and_then(|e| e.specular.as_ref()).map_or(1.0, |specular| specular.specular_factor.0);
    // The default, exactly.
    let of_ior = if ior == 1.5 { 0.5 } else { ((ior - 1.0) / (ior + 1.0)).abs() / 0.4 };
    let reflectance = of_ior * specular;
    if reflectance.is_finite() { reflectance.clamp(0.0, 1.0) } else { 0.5 }
}
