//! Materials: a label and a value per line; in DX10 files bare texture names.

use super::{
    label,
    reader::{Reader, item},
    state::Counted,
};
use crate::format::{Unexpected, m3d::M3dMaterial};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Name,
    Diffuse,
    Fresnel0,
    Roughness,
    SpecularPower,
    Specular,
    Ambient,
    Reflectivity,
    AlphaClip,
    Effect,
    DiffuseMap,
    NormalMap,
    SpecularMap,
}

/// The books' labels first, then those of other exporters.
const LABELS: &[(&str, Key)] = &[
    ("Name", Key::Name),
    ("Diffuse", Key::Diffuse),
    ("Fresnel0", Key::Fresnel0),
    ("Roughness", Key::Roughness),
    ("SpecPower", Key::SpecularPower),
    ("Specular", Key::Specular),
    ("Ambient", Key::Ambient),
    ("Reflectivity", Key::Reflectivity),
    ("AlphaClip", Key::AlphaClip),
    ("MaterialTypeName", Key::Effect),
    ("Effect", Key::Effect),
    ("DiffuseMap", Key::DiffuseMap),
    ("NormalMap", Key::NormalMap),
    ("SpecularMap", Key::SpecularMap),
    ("MaterialName", Key::Name),
    ("FresnelR0", Key::Fresnel0),
    ("SpecularPower", Key::SpecularPower),
    ("Reflect", Key::Reflectivity),
    ("AlbedoMap", Key::DiffuseMap),
];

/// The material being read and the keys it has.
#[derive(Default)]
struct Open {
    material: M3dMaterial,
    keys: u16,
    /// Bare texture names read (DX10).
    textures: u8,
}

impl Open {
    /// Records that the material has `key`. Returns `false` if it had it before.
    fn add(&mut self, key: Key) -> bool {
        let bit = 1 << key as u16;
        let new = self.keys & bit == 0;
        self.keys |= bit;
        new
    }

    fn is_empty(&self) -> bool {
        self.keys == 0 && self.textures == 0
    }
}

/// Reads labeled materials. A material ends where a label comes again.
pub(super) fn read(reader: &mut Reader<'_>, materials: &mut Vec<M3dMaterial>) {
    let (mut open, mut too_many) = (Open::default(), false);
    while !reader.at_section_end() {
        let offset = reader.lexer.offset();
        let label = reader.lexer.label();
        let Some(key) = label::find(LABELS, label) else {
            // Errors in materials are no reason to refuse a model.
            let meant = label::nearest(label, LABELS.iter().map(|&(name, _)| name));
            reader.lexer.seek(offset);
            if label.is_empty() {
                let context = context(reader, materials);
                reader.unexpected_here("a label", context);
            } else {
                reader.ignored_label("Materials", meant);
            }
            continue;
        };
        if !open.add(key) {
            // The label comes again, so this is the next material.
            let full = std::mem::take(&mut open).material;
            open.add(key);
            // Further materials are still read, so that the sections after them are found.
            if materials.len() < MOST {
                materials.push(full);
            } else if !too_many {
                too_many = true;
                reader.report.warning(
                    offset,
                    format!("more than {MOST} materials; the rest are left out"),
                );
            }
        }
        match key {
            Key::Fresnel0 | Key::Roughness | Key::Name => reader.state.signs.dx12 = true,
            Key::Ambient | Key::Specular | Key::SpecularPower => reader.state.signs.dx11 = true,
            _ => {}
        }
        if let Err(unexpected) = value(reader, key, &mut open.material) {
            let context = context(reader, materials);
            reader.recover(offset, &unexpected, context);
        }
    }
    if !open.is_empty() && materials.len() < MOST {
        materials.push(open.material);
    }
}

/// Most materials that are kept: a material takes forty times the memory of its shortest label, and no model
/// needs so many.
const MOST: usize = 1 << 12;

/// Reads a DX10 `Subsets` section: diffuse, specular and normal map on a bare line each, then
/// `Reflectivity 0 0 0`.
pub(super) fn read_bare(reader: &mut Reader<'_>, materials: &mut Vec<M3dMaterial>) {
    reader.state.signs.bare_textures = true;
    let mut open = Open::default();
    while !reader.at_section_end() {
        let offset = reader.lexer.offset();
        let key = label::find(LABELS, reader.lexer.label());
        if let Some(key) = key {
            open.add(key);
            if let Err(unexpected) = value(reader, key, &mut open.material) {
                let context = context(reader, materials);
                reader.recover(offset, &unexpected, context);
            }
            continue;
        }
        // Textures come first: a fourth one, or one behind a label, is the next material's.
        if open.textures == 3 || open.keys != 0 {
            materials.push(std::mem::take(&mut open).material);
        }
        reader.lexer.seek(offset);
        let texture = text(reader);
        match open.textures {
            0 => open.material.diffuse_map = texture,
            1 => open.material.specular_map = texture,
            _ => open.material.normal_map = texture,
        }
        open.textures += 1;
    }
    if !open.is_empty() {
        materials.push(open.material);
    }
}

fn context(reader: &Reader<'_>, materials: &[M3dMaterial]) -> String {
    item(
        "material",
        materials.len(),
        reader.state.header.count(Counted::Materials),
        "Materials",
    )
}

fn value(reader: &mut Reader<'_>, key: Key, material: &mut M3dMaterial) -> Result<(), Unexpected> {
    match key {
        Key::Name => material.name = text(reader),
        Key::Effect => material.effect = text(reader),
        Key::DiffuseMap => material.diffuse_map = text(reader),
        Key::NormalMap => material.normal_map = text(reader),
        Key::SpecularMap => material.specular_map = text(reader),
        Key::Diffuse => material.diffuse = color(reader)?,
        Key::Fresnel0 => material.fresnel0 = Some(color(reader)?),
        Key::Specular => material.specular = Some(color(reader)?),
        Key::Ambient => material.ambient = Some(color(reader)?),
        Key::Reflectivity => material.reflectivity = Some(color(reader)?),
        Key::Roughness => material.roughness = Some(reader.numbers::<1>(1)?.0[0]),
        Key::SpecularPower => material.specular_power = Some(reader.numbers::<1>(1)?.0[0]),
        Key::AlphaClip => {
            material.alpha_clip = if reader.lexer.eat_word(b"true") {
                true
            } else if reader.lexer.eat_word(b"false") {
                false
            } else {
                reader.numbers::<1>(1)?.0[0] != 0.0
            }
        }
    }
    Ok(())
}

/// Three numbers; a fourth, alpha, is not used.
fn color(reader: &mut Reader<'_>) -> Result<[f32; 3], Unexpected> {
    let ([r, g, b, _], _) = reader.numbers::<4>(3)?;
    Ok([r, g, b])
}

/// Returns the rest of the line; `None` if it is empty, or one of the words that exporters write for nothing.
fn text(reader: &mut Reader<'_>) -> Option<String> {
    let offset = reader.lexer.offset();
    let text = reader.lexer.rest_of_line();
    if matches!(text, b"" | b"-" | b"None" | b"none" | b"NULL") {
        return None;
    }
    Some(reader.text(offset, text))
}
