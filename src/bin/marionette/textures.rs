//! Finds the texture files of a model's materials.

use bevy_marionette::{
    format::Diagnostic,
    internals::import::{
        TextureFiles, TextureMap, missing_textures, texture_candidates, texture_folders,
    },
    model::Material,
};
use serde::Serialize;
use std::{collections::BTreeSet, fs, path::Path};

/// A texture of a material, and its file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TextureUse {
    /// The name of the [`TextureMap`].
    pub role: &'static str,
    /// The name in the model; `None` if the file was found by the name of the base color map.
    pub written: Option<String>,
    /// The file, relative to the model's folder and with forward slashes, or the name of an image in the model's own file.
    pub found: Option<String>,
}

/// Returns the textures of each material: files in `folder` or where their names lead from there, or those of them that a
/// manifest lists, or images that the model's file contains.
pub fn resolve(
    materials: &[Material],
    folder: &Path,
    listed: &[String],
    embedded: &[&str],
) -> Vec<Vec<TextureUse>> {
    let files = match listed {
        [] => files_of(materials, folder),
        _ => listed
            .iter()
            .filter(|file| folder.join(file).is_file())
            .cloned()
            .collect(),
    };
    let files = TextureFiles::new(embedded.iter().map(|&name| name.to_owned()).chain(files));
    materials
        .iter()
        .map(|material| maps(material, &files))
        .collect()
}

/// Returns a warning that lists the textures that were not found, except specular maps, which are not drawn.
pub fn missing(file: &str, textures: &[Vec<TextureUse>]) -> Option<Diagnostic> {
    let missing = textures
        .iter()
        .flatten()
        .filter(|map| map.found.is_none() && map.role != "specular");
    missing_textures(file, missing.filter_map(|map| map.written.as_deref()))
}

/// Warns about textures that an app reads only with certain features of Bevy.
pub fn features(file: &str, textures: &[Vec<TextureUse>]) -> Vec<Diagnostic> {
    let found: BTreeSet<String> = textures
        .iter()
        .flatten()
        .filter_map(|map| map.found.as_deref())
        .map(str::to_ascii_lowercase)
        .collect();
    let formats = [
        (".webp", "WebP", "enable Bevy's feature `webp`"),
        (
            ".ktx2",
            "KTX2",
            "enable Bevy's features `ktx2` and, for Basis Universal, `basis-universal`",
        ),
    ];
    let warnings = formats.into_iter().filter_map(|(extension, name, hint)| {
        let count = found
            .iter()
            .filter(|file| file.ends_with(extension))
            .count();
        let textures = match count {
            0 => return None,
            1 => "a texture is".to_owned(),
            count => format!("{count} textures are"),
        };
        let message = format!("{textures} in {name}, which an app may not read");
        Some(Diagnostic::warning(file, message).with_hint(hint))
    });
    warnings.collect()
}

fn maps(material: &Material, files: &TextureFiles) -> Vec<TextureUse> {
    let found = files.resolve_material(material);
    TextureMap::ALL
        .into_iter()
        .map(|map| {
            // Names such as `<default>` refer to no file.
            let written = map
                .of(material)
                .filter(|name| !texture_candidates(name, map).is_empty());
            let (written, found) = (
                written.map(str::to_owned),
                found.get(map).map(str::to_owned),
            );
            TextureUse {
                role: map.name(),
                written,
                found,
            }
        })
        .filter(|map| map.written.is_some() || map.found.is_some())
        .collect()
}

/// Lists the files in a folder, in its direct subfolders, and in those that the names of textures lead to, relative to it.
fn files_of(materials: &[Material], folder: &Path) -> Vec<String> {
    // A model in a home folder must not list the whole disk.
    const MOST: usize = 4096;
    let list = |folder: &Path| {
        let mut entries: Vec<_> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .take(MOST)
            .collect();
        // The system lists files in any order.
        entries.sort_by_key(fs::DirEntry::file_name);
        entries.into_iter().map(|entry| {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            (entry.file_name().to_string_lossy().into_owned(), is_folder)
        })
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let (below, files): (Vec<_>, Vec<_>) = list(folder).partition(|(_, is_folder)| *is_folder);
    let mut files: Vec<String> = files.into_iter().map(|(name, _)| name).collect();
    // Folders that are named come first, because there may be any number of others.
    for within in texture_folders(materials)
        .into_iter()
        .chain(below.into_iter().map(|(name, _)| name))
    {
        let inside = list(&folder.join(&within)).filter(|(_, is_folder)| !is_folder);
        files.extend(inside.map(|(name, _)| format!("{within}/{name}")));
        if files.len() >= MOST {
            break;
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn material(map: &str) -> Material {
        Material {
            base_color_map: Some(map.into()),
            ..Material::default()
        }
    }

    #[test]
    fn formats_that_need_a_feature_of_bevy_are_named_once() {
        let found = |name: &str| TextureUse {
            role: "base_color",
            written: None,
            found: Some(name.into()),
        };
        let maps = ["a.webp", "b.png", "B.WebP", "a.webp", "c.ktx2"].map(found);
        let warnings = features("f.glb", &[maps.into()]);
        let said: Vec<&str> = warnings.iter().map(|warning| &*warning.message).collect();
        let expected = [
            "2 textures are in WebP, which an app may not read",
            "a texture is in KTX2, which an app may not read",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn maps_are_found_where_their_names_lead_and_else_by_name() {
        let temporary = tempfile::tempdir().unwrap();
        // One level down, so that `../../x.png` is a file in the test's own folder, too.
        let folder = temporary.path().join("game");
        fs::create_dir_all(folder.join("textures")).unwrap();
        fs::create_dir_all(folder.join("models/a/b")).unwrap();
        for file in [
            "models/Skin.PNG",
            "textures/cloth.tga",
            "models/a/b/deep.png",
        ] {
            fs::write(folder.join(file), b"").unwrap();
        }
        let models = folder.join("models");
        let materials = [
            "../textures/cloth.tga",
            "a/b/deep.png",
            "a/../skin.png",
            "../textures/skin.png",
            r"C:\x\skin.png",
            "../../x.png",
        ];
        let materials = materials.map(material);
        let found = resolve(&materials, &models, &[], &[]);
        let found: Vec<_> = found.iter().map(|maps| maps[0].found.as_deref()).collect();
        let skin = Some("Skin.PNG");
        assert_eq!(
            found,
            [
                Some("../textures/cloth.tga"),
                Some("a/b/deep.png"),
                skin,
                skin,
                skin,
                None
            ]
        );
    }

    #[test]
    fn maps_are_found_beside_the_model_and_one_level_down_and_the_others_are_named_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("textures")).unwrap();
        for file in ["Skin.PNG", "textures/cloth.tga"] {
            fs::write(folder.path().join(file), b"").unwrap();
        }
        let materials = [
            material("skin.png"),
            material("textures\\cloth"),
            material("hair.dds"),
            material("hair.dds"),
            material("hat.png"),
        ];
        let textures = resolve(&materials, folder.path(), &[], &["hat.png"]);
        let found: Vec<_> = textures
            .iter()
            .map(|maps| maps[0].found.as_deref())
            .collect();
        assert_eq!(
            found,
            [
                Some("Skin.PNG"),
                Some("textures/cloth.tga"),
                None,
                None,
                Some("hat.png")
            ]
        );
        let warning = missing("a.m3d", &textures).unwrap();
        assert_eq!(warning.message.matches("`hair.dds`").count(), 1);
        assert_eq!(missing("a.m3d", &textures[..2]), None);
    }
}
