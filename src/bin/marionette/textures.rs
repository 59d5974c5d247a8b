//! Which texture files a model's materials find beside it.

use bevy_marionette::{
    format::Diagnostic,
    import::{TextureFiles, TextureMap, texture_candidates},
    model::Material,
};
use serde::Serialize;
use std::{fs, path::Path};

/// A map that a material names, and the file that answers to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TextureUse {
    /// `base_color`, `normal` or `specular`.
    pub role: &'static str,
    /// As the file has it; `None` for a normal map found by its likeness to the base colour map's name.
    pub written: Option<String>,
    /// The file, relative to the model's folder and with forward slashes.
    pub found: Option<String>,
}

/// Per material, the maps it names or that lie beside them.
pub fn resolve(materials: &[Material], folder: &Path) -> Vec<Vec<TextureUse>> {
    let files = TextureFiles::new(files_below(folder));
    materials.iter().map(|material| maps(material, &files)).collect()
}

/// The warning that names the maps that were not found. Specular maps are not drawn and not missed.
pub fn missing(file: &str, textures: &[Vec<TextureUse>]) -> Option<Diagnostic> {
    let lost = textures.iter().flatten().filter(|map| map.found.is_none() && map.role != "specular");
    let mut names: Vec<String> = lost.filter_map(|map| Some(format!("`{}`", map.written.as_ref()?))).collect();
    names.sort();
    names.dedup();
    const FEW: usize = 6;
    let more = names.len().saturating_sub(FEW);
    names.truncate(FEW);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    (!names.is_empty()).then(|| {
        let message = format!("no texture file beside the model for {}; drawn plain", names.join(", "));
        Diagnostic::warning(file, message)
    })
}

fn maps(material: &Material, files: &TextureFiles) -> Vec<TextureUse> {
    let found = files.resolve_material(material);
    [
        ("base_color", &material.base_color_map, found.base_color, TextureMap::BaseColor),
        ("normal", &material.normal_map, found.normal, TextureMap::Normal),
        ("specular", &material.specular_map, found.specular, TextureMap::Specular),
    ]
    .into_iter()
    .map(|(role, written, found, map)| {
        // `<default>` and its like mean no file.
        let written = written.clone().filter(|name| !texture_candidates(name, map).is_empty());
        TextureUse { role, written, found }
    })
    .filter(|map| map.written.is_some() || map.found.is_some())
    .collect()
}

/// The files in a folder and in its folders one level down, relative to it: where textures are looked for.
fn files_below(folder: &Path) -> Vec<String> {
    // A model in a home folder must not list the whole disk.
    const MOST: usize = 4096;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut files = Vec::new();
    let mut folders = Vec::new();
    let mut list = |folder: &Path, prefix: &str, folders: Option<&mut Vec<String>>| {
        let mut folders = folders;
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if files.len() >= MOST {
                return;
            }
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            match (entry.file_type().is_ok_and(|kind| kind.is_dir()), &mut folders) {
                (true, Some(folders)) => folders.push(name),
                (true, None) => {}
                (false, _) => files.push(name),
            }
        }
    };
    list(folder, "", Some(&mut folders));
    folders.sort_unstable();
    for below in folders {
        list(&folder.join(&below), &format!("{below}/"), None);
    }
    // The system lists files in any order; answers should not depend on it.
    files.sort_unstable();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_found_beside_the_model_and_one_level_down_and_the_others_are_named_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("textures")).unwrap();
        for file in ["Skin.PNG", "textures/cloth.tga"] {
            fs::write(folder.path().join(file), b"").unwrap();
        }
        let material = |map: &str| Material { base_color_map: Some(map.into()), ..Material::default() };
        let materials = [material("skin.png"), material("textures\\cloth"), material("hair.dds"), material("hair.dds")];
        let textures = resolve(&materials, folder.path());
        let found: Vec<_> = textures.iter().map(|maps| maps[0].found.as_deref()).collect();
        assert_eq!(found, [Some("Skin.PNG"), Some("textures/cloth.tga"), None, None]);
        let warning = missing("a.m3d", &textures).unwrap();
        assert_eq!(warning.message.matches("`hair.dds`").count(), 1);
        assert_eq!(missing("a.m3d", &textures[..2]), None);
    }
}
