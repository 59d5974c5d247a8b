//! Materials and their textures.

use super::{
    glb::{Glb, short},
    stem,
};
use crate::{import::TextureMap, model::Material};
use serde_json::{Value, json};

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
    images: Vec<Value>,
    uses_ior: bool,
}

impl Materials {
    /// Adds a material after those added before.
    pub(super) fn add(
        &mut self,
        material: &Material,
        glb: &mut Glb,
        texture: &mut impl FnMut(&Material, TextureMap) -> Option<GlbTexture>,
    ) {
        let unit = |number: f32| if number.is_finite() { number.clamp(0.0, 1.0) } else { 1.0 };
        let mut out = json!({
            "name": material.name,
            "pbrMetallicRoughness": {
                "baseColorFactor": short(material.base_color.map(unit)),
                "metallicFactor": 0.0,
                "roughnessFactor": short([unit(material.roughness)])[0],
            },
            "doubleSided": material.double_sided,
        });
        let mut extras = json!({});
        for (key, value) in [("type_name", &material.type_name), ("specular_map", &material.specular_map)] {
            if let Some(value) = value {
                extras[key] = value.as_str().into();
            }
        }
        let mut use_of = |map, name: &Option<String>, key: &str| {
            let Some(found) = texture(material, map) else {
                // Its name comes back, should the file turn up.
                if let Some(name) = name {
                    extras[key] = name.as_str().into();
                }
                return None;
            };
            let name =
                name.as_deref().map_or_else(|| format!("{} {map:?}", material.name), |name| stem(name).to_owned());
            Some(json!({ "index": self.texture(found, &name, glb) }))
        };
        if let Some(used) = use_of(TextureMap::BaseColor, &material.base_color_map, "base_color_map") {
            out["pbrMetallicRoughness"]["baseColorTexture"] = used;
        }
        match use_of(TextureMap::Normal, &material.normal_map, "normal_map") {
            Some(used) => out["normalTexture"] = used,
            None if material.normal_map_green_down => extras["normal_map_green_down"] = true.into(),
            None => {}
        }
        if let Some(cutoff) = material.alpha_cutoff {
            out["alphaMode"] = "MASK".into();
            out["alphaCutoff"] = short([unit(cutoff)])[0].clone();
        }
        // The default index of refraction, 1.5, is a reflectance of one half.
        if material.reflectance != 0.5 {
            out["extensions"] = json!({ "KHR_materials_ior": { "ior": short([ior(unit(material.reflectance))])[0] } });
            self.uses_ior = true;
        }
        if extras != json!({}) {
            out["extras"] = json!({ "marionette": extras });
        }
        self.list.push(out);
    }

    fn texture(&mut self, found: GlbTexture, name: &str, glb: &mut Glb) -> usize {
        let (mime, bytes) = match &found {
            GlbTexture::Png(bytes) => ("image/png", bytes),
            GlbTexture::Jpeg(bytes) => ("image/jpeg", bytes),
            GlbTexture::File(file) => {
                return self.image(json!({ "uri": uri(file) }), |image, new| image["uri"] == new["uri"]);
            }
        };
        let view_of = |image: &Value| image["bufferView"].as_u64().map(|view| view as usize);
        let known =
            self.images.iter().position(|image| view_of(image).is_some_and(|view| glb.view(view) == &bytes[..]));
        if let Some(known) = known {
            return known;
        }
        glb.extend(bytes);
        let view = glb.end_view(None);
        self.image(json!({ "name": name, "mimeType": mime, "bufferView": view }), |_, _| false)
    }

    /// Returns the texture of an image, which is added unless there is an equal one.
    fn image(&mut self, image: Value, same: fn(&Value, &Value) -> bool) -> usize {
        if let Some(known) = self.images.iter().position(|other| other.get("uri").is_some() && same(other, &image)) {
            return known;
        }
        self.textures.push(json!({ "sampler": 0, "source": self.images.len() }));
        self.images.push(image);
        self.images.len() - 1
    }

    /// Puts the lists in the document.
    pub(super) fn finish(self, document: &mut Value) {
        if self.uses_ior {
            document["extensionsUsed"] = json!(["KHR_materials_ior"]);
        }
        if !self.images.is_empty() {
            // Trilinear filtering, repeated.
            document["samplers"] = json!([{ "magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 10497 }]);
        }
        for (key, list) in [("materials", self.list), ("textures", self.textures), ("images", self.images)] {
            if !list.is_empty() {
                document[key] = list.into();
            }
        }
    }
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
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
