//! Materials and their textures.

use super::glb::{Glb, short, stem};
use crate::{
    import::TextureMap,
    model::{Material, MipFilter, Sampler, TextureFilter, TextureWrap, UvTransform},
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A texture for [`to_glb`](super::to_glb).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GlbTexture {
    /// The bytes of a PNG file, to be embedded.
    Png(Vec<u8>),
    /// The bytes of a JPEG file, to be embedded.
    Jpeg(Vec<u8>),
    /// A file to refer to, relative to the `.glb` and with forward slashes. Few programs read formats other than PNG and
    /// JPEG.
    File(String),
}

/// The lists that materials refer to.
#[derive(Debug, Default)]
pub(super) struct Materials {
    list: Vec<Value>,
    textures: Vec<Value>,
    samplers: Vec<Value>,
    images: Vec<Value>,
    extensions: BTreeSet<&'static str>,
}

impl Materials {
    /// Adds a material after those added before.
    pub(super) fn add(
        &mut self,
        material: &Material,
        glb: &mut Glb,
        texture: &mut impl FnMut(&Material, TextureMap) -> Option<GlbTexture>,
    ) {
        let unit = |number: f32| {
            if number.is_finite() {
                number.clamp(0.0, 1.0)
            } else {
                1.0
            }
        };
        let one = |number: f32| short([number])[0].clone();
        let mut out = json!({
            "name": material.name,
            "pbrMetallicRoughness": {
                "baseColorFactor": short(material.base_color.map(unit)),
                "metallicFactor": one(unit(material.metallic)),
                "roughnessFactor": one(unit(material.roughness)),
            },
            "doubleSided": material.double_sided,
        });
        let mut extras = json!({});
        for (key, value) in [
            ("type_name", &material.type_name),
            ("specular_map", &material.specular_map),
        ] {
            if let Some(value) = value {
                extras[key] = value.as_str().into();
            }
        }
        let mut use_of = |map: TextureMap| {
            let name = map.of(material);
            let Some(found) = texture(material, map) else {
                // The name is kept, in case the file is found when the `.glb` is read.
                if let Some(name) = name {
                    extras[format!("{}_map", map.name())] = name.into();
                }
                return None;
            };
            let name = name.map_or_else(
                || format!("{} {map:?}", material.name),
                |name| stem(name).to_owned(),
            );
            let sampler = map.pick(&material.samplers);
            let mut out = json!({ "index": self.texture(found, &name, sampler, glb) });
            match *map.pick(&material.tex_coord_sets) {
                0 => {}
                set => out["texCoord"] = set.into(),
            }
            if let Some(transform) = transform(&material.uv_transform) {
                out["extensions"] = json!({ "KHR_texture_transform": transform });
                self.extensions.insert("KHR_texture_transform");
            }
            Some(out)
        };
        if let Some(used) = use_of(TextureMap::BaseColor) {
            out["pbrMetallicRoughness"]["baseColorTexture"] = used;
        }
        if let Some(used) = use_of(TextureMap::MetallicRoughness) {
            out["pbrMetallicRoughness"]["metallicRoughnessTexture"] = used;
        }
        let normal = use_of(TextureMap::Normal);
        for (key, used) in [
            ("occlusionTexture", use_of(TextureMap::Occlusion)),
            ("emissiveTexture", use_of(TextureMap::Emissive)),
        ] {
            out.as_object_mut()
                .into_iter()
                .for_each(|out| out.extend(used.clone().map(|used| (key.into(), used))));
        }
        match normal {
            Some(used) => out["normalTexture"] = used,
            None if material.normal_map_green_down => extras["normal_map_green_down"] = true.into(),
            None => {}
        }
        if let Some(cutoff) = material.alpha_cutoff {
            out["alphaMode"] = "MASK".into();
            out["alphaCutoff"] = one(unit(cutoff));
        } else if material.alpha_blend {
            out["alphaMode"] = "BLEND".into();
        }
        let mut extensions = Vec::new();
        let emissive = material.emissive.map(|factor| {
            if factor.is_finite() {
                factor.max(0.0)
            } else {
                0.0
            }
        });
        let strength = emissive.into_iter().fold(1.0, f32::max);
        if emissive != [0.0; 3] {
            out["emissiveFactor"] = short(emissive.map(|factor| factor / strength));
        }
        if strength > 1.0 {
            extensions.push((
                "KHR_materials_emissive_strength",
                json!({ "emissiveStrength": one(strength) }),
            ));
        }
        // The default index of refraction, 1.5, is a reflectance of one half.
        if material.reflectance != 0.5 {
            extensions.push((
                "KHR_materials_ior",
                json!({ "ior": one(ior(unit(material.reflectance))) }),
            ));
        }
        if material.unlit {
            extensions.push(("KHR_materials_unlit", json!({})));
        }
        for (name, extension) in extensions {
            out["extensions"][name] = extension;
            self.extensions.insert(name);
        }
        if extras != json!({}) {
            out["extras"] = json!({ "marionette": extras });
        }
        self.list.push(out);
    }

    fn texture(
        &mut self,
        found: GlbTexture,
        name: &str,
        sampler: &Sampler,
        glb: &mut Glb,
    ) -> usize {
        let source = self.image(found, name, glb);
        let sampler = position_or_push(&mut self.samplers, sampler_of(sampler));
        position_or_push(
            &mut self.textures,
            json!({ "sampler": sampler, "source": source }),
        )
    }

    fn image(&mut self, found: GlbTexture, name: &str, glb: &mut Glb) -> usize {
        let (mime, bytes) = match &found {
            GlbTexture::Png(bytes) => ("image/png", bytes),
            GlbTexture::Jpeg(bytes) => ("image/jpeg", bytes),
            GlbTexture::File(file) => {
                return position_or_push(&mut self.images, json!({ "uri": uri(file) }));
            }
        };
        let view_of = |image: &Value| image["bufferView"].as_u64().map(|view| view as usize);
        let known = self
            .images
            .iter()
            .position(|image| view_of(image).is_some_and(|view| glb.view(view) == &bytes[..]));
        if let Some(known) = known {
            return known;
        }
        glb.extend(bytes);
        let view = glb.end_view(None);
        self.images
            .push(json!({ "name": name, "mimeType": mime, "bufferView": view }));
        self.images.len() - 1
    }

    /// Puts the lists in the document.
    pub(super) fn finish(self, document: &mut Value) {
        if !self.extensions.is_empty() {
            document["extensionsUsed"] = json!(self.extensions);
        }
        for (key, list) in [
            ("materials", self.list),
            ("textures", self.textures),
            ("samplers", self.samplers),
            ("images", self.images),
        ] {
            if !list.is_empty() {
                document[key] = list.into();
            }
        }
    }
}

/// Returns the index of a value, which is added unless there is an equal one.
fn position_or_push(list: &mut Vec<Value>, value: Value) -> usize {
    list.iter()
        .position(|other| *other == value)
        .unwrap_or_else(|| {
            list.push(value);
            list.len() - 1
        })
}

fn sampler_of(sampler: &Sampler) -> Value {
    let wrap = |wrap| match wrap {
        TextureWrap::Repeat => 10497,
        TextureWrap::Mirror => 33648,
        TextureWrap::Clamp => 33071,
    };
    let filter = |filter| match filter {
        TextureFilter::Nearest => 9728,
        TextureFilter::Linear => 9729,
    };
    let minify = match (sampler.minify, sampler.mip_levels) {
        (minify, MipFilter::Off) => filter(minify),
        (TextureFilter::Nearest, MipFilter::Nearest) => 9984,
        (TextureFilter::Linear, MipFilter::Nearest) => 9985,
        (TextureFilter::Nearest, MipFilter::Linear) => 9986,
        (TextureFilter::Linear, MipFilter::Linear) => 9987,
    };
    json!({
        "magFilter": filter(sampler.magnify), "minFilter": minify,
        "wrapS": wrap(sampler.wrap_u), "wrapT": wrap(sampler.wrap_v),
    })
}

fn transform(transform: &UvTransform) -> Option<Value> {
    let UvTransform {
        offset,
        rotation,
        scale,
    } = *transform;
    let is_finite = [offset, [rotation, 0.0], scale]
        .as_flattened()
        .iter()
        .all(|number| number.is_finite());
    (is_finite && *transform != UvTransform::default())
        .then(|| json!({ "offset": short(offset), "rotation": short([rotation])[0], "scale": short(scale) }))
}

/// The index of refraction of a reflectance in Bevy's sense: F0 is 0.16 · reflectance², and ((n − 1) / (n + 1))².
fn ior(reflectance: f32) -> f32 {
    let root = 0.4 * reflectance;
    (1.0 + root) / (1.0 - root)
}

/// Escapes a path for a URI.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                out.push(char::from(byte))
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
