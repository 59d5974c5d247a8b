//! Materials and images.

use crate::{
    import::{
        image_names::ImageNames,
        names::{UniqueNames, named},
        report::Report,
    },
    model::{Maps, Material, Sampler, TextureWrap, UvTransform},
};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};
use ufbx::{MaterialMap, Scene, ShaderType, Texture, WrapMode};

/// The materials of a file, in its order.
#[derive(Default)]
pub(super) struct FileMaterials {
    pub(super) list: Vec<Material>,
    /// Per material, the set of texture coordinates of its maps, if it is named.
    uv_sets: Vec<Option<String>>,
    /// The images that are in the file itself. Maps refer to them by name.
    pub(super) images: BTreeMap<String, Arc<[u8]>>,
}

/// Images by what the file calls them.
#[derive(Default)]
struct Images {
    names: ImageNames,
    /// Per texture that has contents, the name of its image.
    of_contents: HashMap<(usize, usize), String>,
    list: BTreeMap<String, Arc<[u8]>>,
}

/// Reads one material after another.
#[derive(Default)]
struct Reader {
    images: Images,
    /// Materials, and what of them is not read.
    left_out: Vec<String>,
    /// Materials with maps of heights.
    bumps: Vec<String>,
}

impl FileMaterials {
    pub(super) fn read(scene: &Scene, report: &mut Report) -> Self {
        let mut out = Self::default();
        let (mut reader, mut names) = (Reader::default(), UniqueNames::default());
        for (at, material) in scene.materials.into_iter().enumerate() {
            let name = named([Some(material.element.name.trim())], "material", at);
            let uv_set = first_texture(material).map(|texture| texture.uv_set.to_string());
            out.uv_sets.push(uv_set.filter(|name| !name.is_empty()));
            out.list.push(reader.material(material, names.add(name)));
        }
        reader.tell(report);
        out.images = reader.images.list;
        out
    }

    /// The set of texture coordinates that a material's maps use, if the file names it.
    pub(super) fn uv_set(&self, material: usize) -> Option<&str> {
        self.uv_sets.get(material)?.as_deref()
    }
}

impl Reader {
    fn map(&mut self, map: &MaterialMap) -> Option<String> {
        texture(map).and_then(|texture| self.images.name(texture))
    }

    fn material(&mut self, material: &ufbx::Material, name: String) -> Material {
        let (pbr, fbx) = (&material.pbr, &material.fbx);
        let base_color_map = self
            .map(&pbr.base_color)
            .or_else(|| self.map(&fbx.diffuse_color));
        let mut base_color = match base_texture(material) {
            // A texture takes the place of the color.
            Some(_) => [1.0; 4],
            None => {
                let factor = number(&pbr.base_factor).unwrap_or(1.0);
                let [r, g, b] = color(&pbr.base_color).unwrap_or([1.0; 3]);
                [r * factor, g * factor, b * factor, 1.0]
            }
        };
        let opacity = opacity(material).filter(|opacity| *opacity < 0.999);
        let [cutout, of_color] = [opacity_texture(material), base_texture(material)];
        // What nobody would see is taken for what exporters write of opaque materials.
        let is_see_through = cutout.is_none() && opacity.is_some_and(|opacity| opacity > 1e-3);
        if is_see_through {
            base_color[3] = opacity.unwrap_or(1.0);
        }
        let is_cut = cutout
            .zip(of_color)
            .is_some_and(|(a, b)| self.images.are_same(a, b));
        if cutout.is_some() && !is_cut {
            self.left_out.push(format!("{name} (opacity)"));
        }
        let normal_map = self.normal_map(material, &name);
        let (metallic_roughness_map, roughness, metallic) =
            self.metallic_roughness(material, &name);
        let emission = number(&pbr.emission_factor).unwrap_or(1.0);
        let emissive_map = self.map(&pbr.emission_color);
        let emissive = match (&emissive_map, color(&pbr.emission_color)) {
            (Some(_), _) => [emission; 3],
            (None, Some(emissive)) => emissive.map(|x| x * emission),
            (None, None) => [0.0; 3],
        };
        let first = first_texture(material);
        Material {
            name,
            base_color,
            base_color_map,
            normal_map,
            specular_map: self.map(&fbx.specular_color),
            roughness: roughness.clamp(0.0, 1.0),
            metallic,
            metallic_roughness_map,
            occlusion_map: self.map(&pbr.ambient_occlusion),
            emissive,
            emissive_map,
            alpha_cutoff: is_cut.then_some(0.5),
            alpha_blend: is_see_through,
            double_sided: material.features.double_sided.enabled,
            unlit: material.features.unlit.enabled,
            uv_transform: first.map(uv_transform).unwrap_or_default(),
            samplers: Maps::all(first.map(sampler).unwrap_or_default()),
            ..Material::default()
        }
    }

    fn normal_map(&mut self, material: &ufbx::Material, name: &str) -> Option<String> {
        let (pbr, fbx) = (&material.pbr, &material.fbx);
        let normal_map = self
            .map(&pbr.normal_map)
            .or_else(|| self.map(&fbx.normal_map));
        if normal_map.is_some() {
            return normal_map;
        }
        let bump = self.map(&fbx.bump)?;
        // Many exporters put normal maps where heights belong.
        if bump.to_ascii_lowercase().contains("norm") {
            return Some(bump);
        }
        self.bumps.push(name.to_owned());
        None
    }

    /// The map of roughness and metalness, and the factors of both.
    fn metallic_roughness(
        &mut self,
        material: &ufbx::Material,
        name: &str,
    ) -> (Option<String>, f32, f32) {
        let pbr = &material.pbr;
        let metallic = number(&pbr.metalness).unwrap_or(0.0).clamp(0.0, 1.0);
        let is_gloss = material.features.roughness_as_glossiness.enabled;
        let roughness = match number(&pbr.roughness) {
            Some(gloss) if is_gloss => 1.0 - gloss,
            Some(roughness) => roughness,
            None => Material::default().roughness,
        };
        match [self.map(&pbr.roughness), self.map(&pbr.metalness)] {
            // One image has both, in green and blue.
            [Some(a), Some(b)] if a == b && !is_gloss => (Some(a), 1.0, 1.0),
            [None, None] => (None, roughness, metallic),
            _ => {
                self.left_out
                    .push(format!("{name} (roughness or metalness)"));
                (None, roughness, metallic)
            }
        }
    }

    fn tell(&self, report: &mut Report) {
        for (names, what, hint) in [
            (
                &self.left_out,
                "maps of materials that are in an image of their own are not read",
                "put roughness in green and metalness in blue of one image, and opacity in the alpha of the base color",
            ),
            (
                &self.bumps,
                "materials have bump maps, which are not read",
                "make normal maps of them",
            ),
        ] {
            report.warn_of("", what, names, hint);
        }
    }
}

impl Images {
    /// Returns `true` if two textures show the same image. Exporters write one texture for each map, and may embed its image twice.
    fn are_same(&mut self, a: &Texture, b: &Texture) -> bool {
        let [a, b] = [a, b].map(|texture| self.name(texture));
        let contents = |name: &Option<String>| name.as_ref().and_then(|name| self.list.get(name));
        a.is_some() && (a == b || contents(&a).is_some() && contents(&a) == contents(&b))
    }

    /// Returns the name of a texture's file, or of its image in the file, which is taken out.
    fn name(&mut self, texture: &Texture) -> Option<String> {
        let in_video = texture.video.as_ref().map(|video| &video.content);
        let contents = [Some(&texture.content), in_video]
            .into_iter()
            .flatten()
            .find(|contents| !contents.is_empty());
        let path = [
            &texture.relative_filename,
            &texture.filename,
            &texture.absolute_filename,
        ];
        let path = path.into_iter().find(|path| !path.trim().is_empty());
        let Some(contents) = contents else {
            return path.map(|path| path.to_string());
        };
        let key = (contents.as_ptr() as usize, contents.len());
        if let Some(known) = self.of_contents.get(&key) {
            return Some(known.clone());
        }
        let file = path.map_or("", |path| path.rsplit(['/', '\\']).next().unwrap_or(path));
        // TGA files have no signature.
        let name = self.names.add(file, self.list.len(), contents, "tga");
        self.list.insert(name.clone(), contents[..].into());
        self.of_contents.insert(key, name.clone());
        Some(name)
    }
}

/// The image that a map uses: that of the first layer, if there are several.
fn texture(map: &MaterialMap) -> Option<&Texture> {
    let texture = map.texture.as_deref()?;
    if !map.texture_enabled {
        return None;
    }
    let leaf = texture.file_textures.into_iter().next();
    Some(leaf.unwrap_or(texture))
}

fn base_texture(material: &ufbx::Material) -> Option<&Texture> {
    texture(&material.pbr.base_color).or_else(|| texture(&material.fbx.diffuse_color))
}

/// The texture of a material's opacity: its shader's, or the one that makes lambert and phong transparent.
fn opacity_texture(material: &ufbx::Material) -> Option<&Texture> {
    let (pbr, fbx) = (&material.pbr, &material.fbx);
    texture(&pbr.opacity)
        .or_else(|| texture(&fbx.transparency_color))
        .or_else(|| texture(&fbx.transparency_factor))
}

/// A material's opacity. Lambert and phong have a transparency instead, which is the product of a factor and a color.
fn opacity(material: &ufbx::Material) -> Option<f32> {
    let (pbr, fbx) = (&material.pbr, &material.fbx);
    let is_classic = matches!(
        material.shader_type,
        ShaderType::Unknown | ShaderType::FbxLambert | ShaderType::FbxPhong
    );
    if pbr.opacity.has_value || !is_classic {
        return number(&pbr.opacity);
    }
    // What the FBX SDK computes of both. Some exporters write a color that isn't meant for it, so this counts first.
    let own = material.element.props.props.into_iter();
    let own = own.filter(|prop| &*prop.name == "Opacity");
    let mut own = own.map(|prop| prop.value_vec4.x as f32);
    if let Some(opacity) = own.find(|opacity| 0.0 < *opacity && *opacity < 1.0) {
        return Some(opacity);
    }
    // Exporters that only write a factor leave the color black, and a color alone counts in full.
    let factor = number(&fbx.transparency_factor).unwrap_or(1.0);
    let color = color(&fbx.transparency_color).map(|[r, g, b]| (r + g + b) / 3.0);
    let is_partial = 0.0 < factor && factor < 1.0;
    let transparency = match color {
        Some(0.0) | None if is_partial => factor,
        color => factor * color.unwrap_or(0.0),
    };
    Some((1.0 - transparency).clamp(0.0, 1.0))
}

/// The texture by which all maps of a material are placed.
fn first_texture(material: &ufbx::Material) -> Option<&Texture> {
    base_texture(material).or_else(|| texture(&material.pbr.normal_map))
}

fn number(map: &MaterialMap) -> Option<f32> {
    let number = map.value_vec4.x as f32;
    (map.has_value && number.is_finite()).then_some(number)
}

fn color(map: &MaterialMap) -> Option<[f32; 3]> {
    let v = &map.value_vec4;
    let color = [v.x, v.y, v.z].map(|x| (x as f32).max(0.0));
    (map.has_value && color.iter().all(|x| x.is_finite())).then_some(color)
}

fn sampler(texture: &Texture) -> Sampler {
    let wrap = |mode: WrapMode| match mode {
        WrapMode::Repeat => TextureWrap::Repeat,
        WrapMode::Clamp => TextureWrap::Clamp,
    };
    Sampler {
        wrap_u: wrap(texture.wrap_u),
        wrap_v: wrap(texture.wrap_v),
        ..Sampler::default()
    }
}

/// A texture's transform, from coordinates whose V points up to those whose V points down.
fn uv_transform(texture: &Texture) -> UvTransform {
    if !texture.has_uv_transform {
        return UvTransform::default();
    }
    let m = &texture.uv_to_texture;
    let [a, b, c, d] = [m.m00, -m.m01, -m.m10, m.m11];
    let offset = [m.m03 + m.m01, 1.0 - m.m13 - m.m11];
    let width = a.hypot(c);
    // Rotated by the angle of the first column, which KHR_texture_transform counts the other way.
    let (sin, cos) = (-c / width, a / width);
    let height = sin * b + cos * d;
    let out = UvTransform {
        offset: offset.map(|x| x as f32),
        rotation: sin.atan2(cos) as f32,
        scale: [width as f32, height as f32],
    };
    let numbers = [out.offset, out.scale];
    let is_sound = numbers
        .as_flattened()
        .iter()
        .chain([&out.rotation])
        .all(|x| x.is_finite());
    if is_sound {
        out
    } else {
        UvTransform::default()
    }
}
