//! Finds the file that a texture's name refers to.
//!
//! Models name textures as they were on the artist's machine: without an extension, in a different case, with
//! backslashes, with an absolute path, or through a material that implies the file. This module only deals with names; the
//! caller lists the folders.

use super::named_file::NamedFile;
use crate::{
    format::Diagnostic,
    model::{Maps, Material},
};
use std::collections::HashMap;

/// Extensions to try if a name has none, or if there is no file with its own.
const EXTENSIONS: [&str; 5] = ["tga", "dds", "png", "jpg", "jpeg"];

/// A map of a material.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextureMap {
    /// Base color. Doom's variant ends in `_d`.
    BaseColor,
    /// Tangent-space normals. Doom's variant ends in `_local`.
    Normal,
    /// Specular color. Doom's variant ends in `_s`. It is not drawn.
    Specular,
    /// Roughness and metallic.
    MetallicRoughness,
    /// Occlusion of ambient light.
    Occlusion,
    /// Emitted light.
    Emissive,
}

impl TextureMap {
    /// All maps.
    pub const ALL: [Self; 6] = [
        Self::BaseColor,
        Self::Normal,
        Self::Specular,
        Self::MetallicRoughness,
        Self::Occlusion,
        Self::Emissive,
    ];

    /// Returns its name, such as `base_color`.
    pub fn name(self) -> &'static str {
        match self {
            Self::BaseColor => "base_color",
            Self::Normal => "normal",
            Self::Specular => "specular",
            Self::MetallicRoughness => "metallic_roughness",
            Self::Occlusion => "occlusion",
            Self::Emissive => "emissive",
        }
    }

    /// Returns `true` for maps of colors, which are in sRGB.
    pub fn is_color(self) -> bool {
        matches!(self, Self::BaseColor | Self::Specular | Self::Emissive)
    }

    /// Returns the entry for this map. Specular maps share that of the base color map.
    pub fn pick<T>(self, maps: &Maps<T>) -> &T {
        match self {
            Self::BaseColor | Self::Specular => &maps.base_color,
            Self::Normal => &maps.normal,
            Self::MetallicRoughness => &maps.metallic_roughness,
            Self::Occlusion => &maps.occlusion,
            Self::Emissive => &maps.emissive,
        }
    }

    /// Returns the name of this map in a material.
    pub fn of(self, material: &Material) -> Option<&str> {
        let map = match self {
            Self::BaseColor => &material.base_color_map,
            Self::Normal => &material.normal_map,
            Self::Specular => &material.specular_map,
            Self::MetallicRoughness => &material.metallic_roughness_map,
            Self::Occlusion => &material.occlusion_map,
            Self::Emissive => &material.emissive_map,
        };
        map.as_deref()
    }

    /// Returns the name of this map in a material, to change it.
    pub fn of_mut(self, material: &mut Material) -> &mut Option<String> {
        match self {
            Self::BaseColor => &mut material.base_color_map,
            Self::Normal => &mut material.normal_map,
            Self::Specular => &mut material.specular_map,
            Self::MetallicRoughness => &mut material.metallic_roughness_map,
            Self::Occlusion => &mut material.occlusion_map,
            Self::Emissive => &mut material.emissive_map,
        }
    }
}

/// The files beside a model, and those in the [folders that its materials name](texture_folders). Look-ups ignore case.
#[derive(Clone, Debug, Default)]
pub struct TextureFiles {
    /// Lowercase name → the actual names.
    names: HashMap<String, Vec<String>>,
}

/// The files of a material's maps, relative to the model's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaterialTextures([Option<String>; TextureMap::ALL.len()]);

impl MaterialTextures {
    /// Returns the file of a map.
    pub fn get(&self, map: TextureMap) -> Option<&str> {
        self.0[map as usize].as_deref()
    }
}

/// Returns a warning that lists the names of textures that no file was found for; `None` if there are none.
pub fn missing_textures<'a>(
    model: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<Diagnostic> {
    const SHOWN: usize = 6;
    let mut names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.sort_unstable();
    names.dedup();
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    names.extend((more > 0).then(|| format!("{more} more")));
    let message = || format!("texture not found: {}", names.join(", "));
    (!names.is_empty()).then(|| {
        Diagnostic::warning(model, message()).with_hint("textures belong beside the model")
    })
}

impl TextureFiles {
    /// Creates it from paths relative to the model's folder, with either kind of slash. Those that aren't relative are left
    /// out.
    pub fn new(files: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut names: HashMap<String, Vec<String>> = HashMap::new();
        for file in files.into_iter().map(Into::into) {
            let path = match NamedFile::of(&file) {
                // Such as `a:b.png`, which only some systems have.
                Some(NamedFile::Foreign(name)) => (name == file).then_some(name),
                named => named.and_then(NamedFile::path),
            };
            if let Some(path) = path {
                // Lowercase, because names from Windows may differ in case from the files.
                let key = path.trim().to_lowercase();
                names.entry(key).or_default().push(path);
            }
        }
        Self { names }
    }

    /// Returns the file called `name`. If two files differ only in case, an exact match wins.
    fn find(&self, name: &str) -> Option<&str> {
        let found = self.names.get(&name.to_lowercase())?;
        found
            .iter()
            .find(|file| file.trim() == name)
            .or(found.first())
            .map(String::as_str)
    }

    /// Returns the file of a map, given its name in the model. See [`texture_candidates`].
    pub fn resolve(&self, written: &str, map: TextureMap) -> Option<&str> {
        texture_candidates(written, map)
            .iter()
            .find_map(|name| self.find(name))
    }

    /// Returns the files of a material's maps. If there is no file for the normal or specular map, the one that
    /// belongs to the base color map is used: `foo_local` or `foo_nmap`, and `foo_s`.
    pub fn resolve_material(&self, material: &Material) -> MaterialTextures {
        let base = material.base_color_map.as_deref().unwrap_or_default();
        MaterialTextures(TextureMap::ALL.map(|map| {
            let own = map
                .of(material)
                .and_then(|written| self.resolve(written, map));
            own.or_else(|| {
                companions(base, map)
                    .iter()
                    .find_map(|name| self.find(name))
            })
            .map(str::to_owned)
        }))
    }
}

/// Returns the paths that a name in a model may refer to, relative to the model's folder, the most likely first.
///
/// 1. the name itself, with forward slashes;
/// 2. the name with each of the usual extensions, added or replacing its own;
/// 3. the file name without its folder, likewise (absolute paths have only these candidates);
/// 4. the names of Doom's materials for `map`: `foo_d`, `foo_local`, `foo_s`.
///
/// Returns nothing for names that are not files: an empty name or `<default>`.
pub fn texture_candidates(written: &str, map: TextureMap) -> Vec<String> {
    let mut out = Vec::new();
    for place in places(written) {
        add_with_extensions(&mut out, &place);
    }
    add_companions(&mut out, written, map);
    out
}

/// Returns the folders that the names of textures lead to, relative to the model's folder, each
/// once: those further away than its direct subfolders, such as `../textures`. If folders can be
/// listed, list these, too, if they are accessible.
pub fn texture_folders(materials: &[Material]) -> Vec<String> {
    // A file may name any number of folders that don't exist.
    const MOST: usize = 64;
    let names = materials
        .iter()
        .flat_map(|material| TextureMap::ALL.map(|map| map.of(material)))
        .flatten();
    let mut folders: Vec<String> = Vec::new();
    for name in names {
        let path = named(name).and_then(NamedFile::path);
        let Some((folder, _)) = path.as_deref().and_then(|path| path.rsplit_once('/')) else {
            continue;
        };
        // A folder with a dot in its name may be taken for a file.
        let is_far = folder.contains(['/', '.']);
        if is_far && folders.len() < MOST && !folders.iter().any(|known| known == folder) {
            folders.push(folder.to_owned());
        }
    }
    folders
}

/// Returns the places of each of the textures of some materials, for use where folders cannot be listed: the most likely
/// first, without those that no file can have. Of the maps that belong to a base color map, but that no material names,
/// only those with its extension.
///
/// With `are_exact`, names that are relative paths are left out: they are not in doubt.
pub fn texture_places(materials: &[Material], are_exact: bool) -> Vec<Vec<String>> {
    let has_extension = |name: &String| {
        let known = |(_, extension): (&str, &str)| {
            EXTENSIONS
                .iter()
                .any(|known| extension.eq_ignore_ascii_case(known))
        };
        name.rsplit_once('.').is_some_and(known)
    };
    let mut out = Vec::new();
    for material in materials {
        for map in TextureMap::ALL
            .into_iter()
            .filter(|map| *map != TextureMap::Specular)
        {
            let names = match (map.of(material), &material.base_color_map) {
                (Some(written), _) if are_exact && is_relative_path(written) => continue,
                (None, _) if are_exact => continue,
                (Some(written), _) => texture_candidates(written, map)
                    .into_iter()
                    .filter(has_extension)
                    .collect(),
                // Each guess costs a request where folders can't be listed, so only the likeliest
                // extension is tried.
                (None, Some(base)) => {
                    let extension = base.rsplit_once('.').map_or("", |(_, extension)| extension);
                    companions(base, map)
                        .into_iter()
                        .filter(|name| name.ends_with(extension))
                        .collect()
                }
                (None, None) => Vec::new(),
            };
            out.extend((!names.is_empty()).then_some(names));
        }
    }
    out
}

/// Returns the paths of a map that may belong to a base color map, for a material that names no
/// others.
fn companions(base: &str, map: TextureMap) -> Vec<String> {
    let mut out = Vec::new();
    add_companions(&mut out, base, map);
    out
}

fn add_companions(out: &mut Vec<String>, written: &str, map: TextureMap) {
    let suffixes: &[&str] = match map {
        TextureMap::BaseColor => &["_d"],
        TextureMap::Normal => &["_local", "_nmap"],
        TextureMap::Specular => &["_s"],
        _ => &[],
    };
    for place in places(written) {
        let stem = stem(&place);
        // `foo_d` already has a suffix: the other maps are named after `foo`.
        let bare = stem
            .strip_suffix("_d")
            .or(stem.strip_suffix("_D"))
            .filter(|bare| !file_name(bare).is_empty());
        for name in [Some(stem), bare].into_iter().flatten() {
            for suffix in suffixes {
                add_with_extensions(out, &format!("{name}{suffix}"));
            }
        }
    }
}

/// Returns the places where a file may be: at its path, and beside the model.
fn places(written: &str) -> Vec<String> {
    match named(written) {
        Some(NamedFile::Below(path) | NamedFile::Above(path)) => {
            let alone = file_name(&path).to_owned();
            let is_alone = alone == path;
            std::iter::once(path)
                .chain((!is_alone).then_some(alone))
                .collect()
        }
        Some(NamedFile::Foreign(name)) => vec![name],
        None => Vec::new(),
    }
}

/// Reads the name of a texture. Names such as `<default>` mean no file.
fn named(written: &str) -> Option<NamedFile> {
    let written = written.trim();
    NamedFile::of(written).filter(|_| !written.starts_with('<'))
}

/// Returns `true` for a name that leads to a file relative to the model's folder.
pub(crate) fn is_relative_path(written: &str) -> bool {
    named(written).and_then(NamedFile::path).is_some()
}

fn add_with_extensions(out: &mut Vec<String>, name: &str) {
    let mut add = |name: String| {
        if !out.contains(&name) {
            out.push(name);
        }
    };
    add(name.to_owned());
    // A dot may be part of the name (`head.v2`), so try adding the extension before replacing it.
    for extension in EXTENSIONS {
        add(format!("{name}.{extension}"));
    }
    let stem = stem(name);
    if stem.len() < name.len() {
        for extension in EXTENSIONS {
            add(format!("{stem}.{extension}"));
        }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Returns the path without its extension. A name such as `.tga` has none.
fn stem(path: &str) -> &str {
    match file_name(path).rfind('.') {
        Some(dot) if dot > 0 => &path[..path.len() - file_name(path).len() + dot],
        _ => path,
    }
}

#[cfg(test)]
#[path = "tests/textures.rs"]
mod tests;
