//! Materials and images.

use super::{
    accessors::Accessors,
    buffers, extras,
    json::{Index, Whole},
    looks::{self, Reader},
};
use crate::{
    format::FormatError,
    import::{
        image_names::ImageNames,
        names::{self, UniqueNames, named},
        report::Report,
    },
    model::{Maps, Material, MipFilter, Sampler, TextureFilter, TextureWrap, UvTransform},
    plural::counted,
};
use std::{collections::BTreeMap, sync::Arc};

/// The materials of a file, in its order.
#[derive(Default)]
pub(super) struct FileMaterials {
    pub(super) list: Vec<Material>,
    /// The contents of the file about each material that the model has no place for.
    pub(super) in_file: Vec<FileMaterial>,
    /// The images that are in the file itself. Maps refer to them by name.
    pub(super) images: BTreeMap<String, Arc<[u8]>>,
}

/// The contents of a file about a material that the model has no place for.
pub(super) struct FileMaterial {
    pub(super) name: Option<String>,
    /// The sources of the texture coordinates of its maps: the first set and, if there is one, the
    /// second.
    pub(super) tex_coords: [Option<TexCoords>; 2],
}

/// A set of the file's texture coordinates, and their transform.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct TexCoords {
    pub(super) set: u32,
    pub(super) transform: UvTransform,
}

/// The division of a material's maps between two sets of texture coordinates, and one transform of
/// both.
struct Layout {
    tex_coords: [Option<TexCoords>; 2],
    sets: Maps<u8>,
    transform: UvTransform,
    /// The first map, whose sampler serves maps that are added later.
    first: Option<Map>,
    /// `true` if a map needs a third set.
    has_others: bool,
}

impl Layout {
    fn of(maps: &Maps<Option<Map>>) -> Self {
        let source =
            |map: &Option<Map>| map.map(|Map { set, transform, .. }| TexCoords { set, transform });
        // Tangents go with the normal map, and are made of the first set.
        let mut tex_coords = [source(&maps.normal), None];
        let mut has_others = false;
        let others = [
            &maps.base_color,
            &maps.metallic_roughness,
            &maps.occlusion,
            &maps.emissive,
        ];
        for source in others.into_iter().filter_map(source) {
            match &mut tex_coords {
                [Some(known), _] | [_, Some(known)] if *known == source => {}
                [free @ None, _] | [Some(_), free @ None] => *free = Some(source),
                _ => has_others = true,
            }
        }
        let set = |map: &Option<Map>| {
            let second = source(map).filter(|map| Some(*map) == tex_coords[1]);
            u8::from(second.is_some())
        };
        let sets = Maps {
            base_color: set(&maps.base_color),
            normal: set(&maps.normal),
            metallic_roughness: set(&maps.metallic_roughness),
            occlusion: set(&maps.occlusion),
            emissive: set(&maps.emissive),
        };
        let [first, second] = tex_coords.map(|source| source.unwrap_or_default().transform);
        // Different transforms become part of the coordinates, as a material has one for all maps.
        let mut transform = UvTransform::default();
        if tex_coords[1].is_none() || first == second {
            transform = first;
            for source in tex_coords.iter_mut().flatten() {
                source.transform = UvTransform::default();
            }
        }
        Self {
            tex_coords,
            sets,
            transform,
            first: [maps.base_color, maps.normal]
                .into_iter()
                .chain([maps.metallic_roughness, maps.occlusion, maps.emissive])
                .find_map(|map| map),
            has_others,
        }
    }
}

/// A texture of the file.
struct Texture {
    /// The name of its image.
    image: Option<String>,
    sampler: Sampler,
}

impl FileMaterials {
    pub(super) fn read(accessors: &Accessors, report: &mut Report) -> Result<Self, FormatError> {
        let (mut out, mut reader) = (Self::default(), Reader::default());
        let textures = out.textures(accessors, &mut reader, report)?;
        let root = accessors.root;
        let mut unique = UniqueNames::default();
        let mut crowded = Vec::new();
        for (at, material) in reader
            .list::<looks::Material>(&root.materials, "materials")
            .into_iter()
            .enumerate()
        {
            let place = &format!("materials[{at}]");
            let pbr: looks::MetallicRoughness = reader.object(
                &material.pbr_metallic_roughness,
                place,
                "pbrMetallicRoughness",
            );
            let extensions: looks::MaterialExtensions =
                reader.object(&material.extensions, place, "extensions");
            let mut map = |info: &_, field: &str| {
                let info = reader.value::<looks::TextureInfo>(info, place, field)?;
                Map::read(&info, &mut reader, &format!("{place}.{field}"))
            };
            let base = map(
                &pbr.base_color_texture,
                "pbrMetallicRoughness.baseColorTexture",
            );
            let metallic_roughness = map(
                &pbr.metallic_roughness_texture,
                "pbrMetallicRoughness.metallicRoughnessTexture",
            );
            let emissive_map = map(&material.emissive_texture, "emissiveTexture");
            let normal = map(&material.normal_texture, "normalTexture");
            let occlusion = map(&material.occlusion_texture, "occlusionTexture");
            let maps = Maps {
                base_color: base,
                normal,
                metallic_roughness,
                occlusion,
                emissive: emissive_map,
            };
            let layout = Layout::of(&maps);
            if layout.has_others {
                crowded.push(at);
            }
            let sampler_of = |map: &Map| Some(textures.get(map.texture)?.sampler);
            let usual = layout
                .first
                .as_ref()
                .and_then(sampler_of)
                .unwrap_or_default();
            let sampler = |map: &Option<Map>| map.as_ref().and_then(sampler_of).unwrap_or(usual);
            let image = |map: &Option<Map>| textures.get(map.as_ref()?.texture)?.image.clone();
            let given: Option<String> = reader.value(&material.name, place, "name");
            let given = given.filter(|name| names::given(name).is_some());
            let extras = extras::of_material(&material.extras, place, report);
            // A factor that isn't finite has no effect, like 1.
            let positive = |factor: f32| {
                if factor.is_finite() {
                    factor.max(0.0)
                } else {
                    1.0
                }
            };
            let unit = |factor: f32| positive(factor).min(1.0);
            let alpha_mode: Option<String> = reader.value(&material.alpha_mode, place, "alphaMode");
            let cutoff = reader
                .value(&material.alpha_cutoff, place, "alphaCutoff")
                .unwrap_or(0.5);
            let emissive = reader
                .value(&material.emissive_factor, place, "emissiveFactor")
                .unwrap_or([0.0f32; 3]);
            let strength: looks::EmissiveStrength =
                reader.object(&extensions.emissive_strength, place, "extensions");
            let strength = reader
                .value(
                    &strength.emissive_strength,
                    place,
                    "extensions.emissiveStrength",
                )
                .map_or(1.0, positive);
            let place_of_pbr = &format!("{place}.pbrMetallicRoughness");
            let mut factor =
                |raw: &_, field: &str| reader.value(raw, place_of_pbr, field).map_or(1.0, unit);
            let roughness = factor(&pbr.roughness_factor, "roughnessFactor");
            let metallic = factor(&pbr.metallic_factor, "metallicFactor");
            // What looks like a drawing isn't a mirror, which glTF's defaults are.
            let (roughness, metallic) = match extensions.is_toon {
                true => (1.0, 0.0),
                false => (roughness, metallic),
            };
            let base_color: [f32; 4] = reader
                .value(&pbr.base_color_factor, place_of_pbr, "baseColorFactor")
                .unwrap_or([1.0; 4]);
            out.list.push(Material {
                name: unique.add(named([given.as_deref()], "material", at)),
                type_name: extras.type_name,
                base_color: base_color.map(positive),
                // Maps in the file go before those that only the extras name.
                base_color_map: image(&maps.base_color).or(extras.base_color_map),
                normal_map: image(&maps.normal).or(extras.normal_map),
                // Normal maps in the file have green up, as glTF says.
                normal_map_green_down: extras.normal_map_green_down && maps.normal.is_none(),
                specular_map: extras.specular_map,
                roughness,
                reflectance: reflectance(&extensions, &mut reader, place),
                metallic,
                metallic_roughness_map: image(&maps.metallic_roughness)
                    .or(extras.metallic_roughness_map),
                occlusion_map: image(&maps.occlusion).or(extras.occlusion_map),
                // The product of two finite factors may overflow.
                emissive: emissive.map(|factor| (positive(factor) * strength).min(f32::MAX)),
                emissive_map: image(&maps.emissive).or(extras.emissive_map),
                alpha_cutoff: (alpha_mode.as_deref() == Some("MASK")).then_some(cutoff),
                alpha_blend: alpha_mode.as_deref() == Some("BLEND"),
                double_sided: reader
                    .value(&material.double_sided, place, "doubleSided")
                    .unwrap_or(false),
                unlit: extensions.is_unlit,
                uv_transform: layout.transform,
                tex_coord_sets: layout.sets,
                samplers: Maps {
                    base_color: sampler(&maps.base_color),
                    normal: sampler(&maps.normal),
                    metallic_roughness: sampler(&maps.metallic_roughness),
                    occlusion: sampler(&maps.occlusion),
                    emissive: sampler(&maps.emissive),
                },
            });
            out.in_file.push(FileMaterial {
                name: given,
                tex_coords: layout.tex_coords,
            });
        }
        reader.tell(report);
        if let Some(first) = crowded.first() {
            let message = format!(
                "the maps of {} need more than two sets of texture coordinates, or of their transforms",
                counted(crowded.len(), "material")
            );
            let hint = "the other maps use those of the normal map, or else of the base color map";
            report.warn(&format!("materials[{first}]"), message, hint);
        }
        let left_out: Vec<_> = root
            .extensions_used
            .iter()
            .filter(|name| LEFT_OUT.contains(&&***name))
            .collect();
        if !left_out.is_empty() {
            let names: Vec<String> = left_out
                .into_iter()
                .map(|name| format!("`{name}`"))
                .collect();
            let message = format!(
                "materials use extensions that are not read: {}",
                names.join(", ")
            );
            report.warn("extensionsUsed", message, "they are drawn without");
        }
        Ok(out)
    }

    /// Reads the textures, and takes the images out of the file.
    fn textures(
        &mut self,
        accessors: &Accessors,
        reader: &mut Reader,
        report: &mut Report,
    ) -> Result<Vec<Texture>, FormatError> {
        let root = accessors.root;
        let images = self.images(accessors, reader, report)?;
        let mut samplers = Vec::new();
        for (at, sampler) in reader
            .list::<looks::Sampler>(&root.samplers, "samplers")
            .into_iter()
            .enumerate()
        {
            samplers.push(convert_sampler(
                &sampler,
                reader,
                &format!("samplers[{at}]"),
            ));
        }
        let mut textures = Vec::new();
        for (at, texture) in reader
            .list::<looks::Texture>(&root.textures, "textures")
            .into_iter()
            .enumerate()
        {
            let place = &format!("textures[{at}]");
            let mut source: Option<Index> = reader.value(&texture.source, place, "source");
            if source.is_none() {
                // Extensions for other formats give an image of theirs.
                let others: looks::TextureExtensions =
                    reader.object(&texture.extensions, place, "extensions");
                source = others.values().find_map(|other| {
                    let other: looks::TextureExtension = reader.object(other, place, "extensions");
                    reader.value(&other.source, place, "extensions")
                });
            }
            let sampler: Option<Index> = reader.value(&texture.sampler, place, "sampler");
            textures.push(Texture {
                image: source.and_then(|source| images.get(source.value())?.clone()),
                sampler: sampler
                    .and_then(|sampler| samplers.get(sampler.value()).copied())
                    .unwrap_or_default(),
            });
        }
        Ok(textures)
    }

    /// Takes the images out of the file. Returns the name of each image that has one.
    fn images(
        &mut self,
        accessors: &Accessors,
        reader: &mut Reader,
        report: &mut Report,
    ) -> Result<Vec<Option<String>>, FormatError> {
        let (mut out, mut etc1s) = (Vec::new(), Vec::new());
        let mut names = ImageNames::default();
        for (at, image) in reader
            .list::<looks::Image>(&accessors.root.images, "images")
            .into_iter()
            .enumerate()
        {
            let place = &format!("images[{at}]");
            let uri: Option<String> = reader.value(&image.uri, place, "uri");
            let view: Option<Index> = reader.value(&image.buffer_view, place, "bufferView");
            let bytes: Option<Arc<[u8]>> = match (&uri, view) {
                (Some(uri), _) if buffers::is_data(uri) => buffers::decode_data(uri).map(Arc::from),
                (Some(uri), _) => {
                    out.push(Some(buffers::path_of(uri)));
                    continue;
                }
                (None, Some(view)) => accessors
                    .view(view.value())
                    .ok()
                    .map(|(bytes, _)| Arc::from(bytes)),
                (None, None) => None,
            };
            let Some(bytes) = bytes else {
                report.warn(place, "the image has no data", "it was left out");
                out.push(None);
                continue;
            };
            accessors.charge(report, place, bytes.len() as u64)?;
            let mime_type: Option<String> = reader.value(&image.mime_type, place, "mimeType");
            let given: Option<String> = reader.value(&image.name, place, "name");
            let otherwise = match mime_type.as_deref() {
                Some("image/jpeg") => "jpg",
                _ => "png",
            };
            let name = names.add(&given.unwrap_or_default(), at, &bytes, otherwise);
            if is_etc1s(&bytes) {
                etc1s.push(name.clone());
            }
            self.images.insert(name.clone(), bytes);
            out.push(Some(name));
        }
        let what = "textures are in KTX2 as ETC1S, which Bevy doesn't read";
        report.warn_of("images", what, etc1s, "encode them as UASTC");
        Ok(out)
    }
}

/// Returns `true` for a KTX2 texture whose Basis Universal data is ETC1S, which is always compressed by BasisLZ.
fn is_etc1s(bytes: &[u8]) -> bool {
    const KTX2: &[u8] = b"\xabKTX 20\xbb\r\n\x1a\n";
    const BASIS_LZ: [u8; 4] = 1u32.to_le_bytes();
    bytes.starts_with(KTX2) && bytes.get(44..48) == Some(&BASIS_LZ)
}

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

/// A reference of a material to a texture, checked.
#[derive(Clone, Copy, Debug, Default)]
struct Map {
    texture: usize,
    /// The set of texture coordinates.
    set: u32,
    transform: UvTransform,
}

impl Map {
    /// `None` if it doesn't name a texture.
    fn read(info: &looks::TextureInfo, reader: &mut Reader, place: &str) -> Option<Self> {
        let texture: Index = reader.value(&info.index, place, "index")?;
        let extensions: looks::TextureInfoExtensions =
            reader.object(&info.extensions, place, "extensions");
        let transform: looks::TextureTransform =
            reader.object(&extensions.transform, place, "extensions");
        let place = &format!("{place}.extensions.KHR_texture_transform");
        let mut set = |raw: &_| {
            reader
                .value(raw, place, "texCoord")
                .map(|Whole(set)| set as u32)
        };
        // `texCoord` of the extension replaces that of the texture, as the extension's
        // specification says.
        let set = set(&transform.tex_coord)
            .or_else(|| set(&info.tex_coord))
            .unwrap_or_default();
        let offset = reader
            .value(&transform.offset, place, "offset")
            .unwrap_or([0.0; 2]);
        let rotation = reader
            .value(&transform.rotation, place, "rotation")
            .unwrap_or(0.0);
        let scale = reader
            .value(&transform.scale, place, "scale")
            .unwrap_or([1.0; 2]);
        let is_finite = [offset, scale]
            .as_flattened()
            .iter()
            .chain([&rotation])
            .all(|number: &f32| number.is_finite());
        let transform = if is_finite {
            UvTransform {
                offset,
                rotation,
                scale,
            }
        } else {
            UvTransform::default()
        };
        Some(Self {
            texture: texture.value(),
            set,
            transform,
        })
    }
}

fn convert_sampler(sampler: &looks::Sampler, reader: &mut Reader, place: &str) -> Sampler {
    let mut number =
        |raw: &_, field: &str| reader.value(raw, place, field).map(|Whole(number)| number);
    // The numbers are OpenGL's, as in the specification.
    let wrap = |mode: Option<u64>| match mode {
        Some(33071) => TextureWrap::Clamp,
        Some(33648) => TextureWrap::Mirror,
        _ => TextureWrap::Repeat,
    };
    let (minify, mip_levels) = match number(&sampler.min_filter, "minFilter") {
        Some(9728) => (TextureFilter::Nearest, MipFilter::Off),
        Some(9729) => (TextureFilter::Linear, MipFilter::Off),
        Some(9984) => (TextureFilter::Nearest, MipFilter::Nearest),
        Some(9985) => (TextureFilter::Linear, MipFilter::Nearest),
        Some(9986) => (TextureFilter::Nearest, MipFilter::Linear),
        // 9987, and the choice that the specification leaves open.
        _ => (TextureFilter::Linear, MipFilter::Linear),
    };
    Sampler {
        wrap_u: wrap(number(&sampler.wrap_s, "wrapS")),
        wrap_v: wrap(number(&sampler.wrap_t, "wrapT")),
        magnify: match number(&sampler.mag_filter, "magFilter") {
            Some(9728) => TextureFilter::Nearest,
            _ => TextureFilter::Linear,
        },
        minify,
        mip_levels,
    }
}

/// Reflectance in Bevy's sense: of the index of refraction, F0 is ((n − 1) / (n + 1))², times the specular factor.
fn reflectance(extensions: &looks::MaterialExtensions, reader: &mut Reader, place: &str) -> f32 {
    let refraction: looks::Refraction = reader.object(&extensions.ior, place, "extensions");
    let specular: looks::Specular = reader.object(&extensions.specular, place, "extensions");
    let ior: f32 = reader
        .value(&refraction.ior, place, "extensions.ior")
        .unwrap_or(1.5);
    let specular: f32 = reader
        .value(
            &specular.specular_factor,
            place,
            "extensions.specularFactor",
        )
        .unwrap_or(1.0);
    // The default, exactly.
    let of_ior = if ior == 1.5 {
        0.5
    } else {
        ((ior - 1.0) / (ior + 1.0)).abs() / 0.4
    };
    let reflectance = of_ior * specular;
    if reflectance.is_finite() {
        reflectance.clamp(0.0, 1.0)
    } else {
        0.5
    }
}
