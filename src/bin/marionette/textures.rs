//! Finds the texture files of a model's materials.

use crate::convert::or_here;
use bevy_marionette::{
    format::Diagnostic,
    internals::import::{
        NamedFile, TextureFiles, TextureMap, missing_textures, texture_candidates, texture_folders,
    },
    model::Material,
};
use serde::Serialize;
use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path},
};

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
        _ => (listed.iter())
            .filter_map(|file| NamedFile::of(file)?.path())
            .filter(|file| goes_through_no_link(folder, file) && folder.join(file).is_file())
            .collect(),
    };
    let files = TextureFiles::new(embedded.iter().map(|&name| name.to_owned()).chain(files));
    materials
        .iter()
        .map(|material| maps(material, &files))
        .collect()
}

/// Returns the place of a texture in a folder that it is copied to: the same as in the model's folder. What is outside of that
/// goes beside the model, where it is found by its file name.
pub fn place(name: &str) -> &str {
    match NamedFile::of(name) {
        Some(NamedFile::Below(_)) => name,
        _ => name.rsplit('/').next().unwrap_or_default(),
    }
}

/// Returns `true` if a file is in a folder, whatever links lead there.
pub fn is_within(folder: &Path, name: &str) -> bool {
    let real = |path: &Path| fs::canonicalize(or_here(path));
    real(&folder.join(name))
        .is_ok_and(|file| real(folder).is_ok_and(|folder| file.starts_with(folder)))
}

/// Returns `false` for a file that only a link leads to from a folder: out of the folder itself, or from a path out of it, as all
/// of `/proc` does. What is there may be private, and a link comes with the model, too.
fn goes_through_no_link(folder: &Path, name: &str) -> bool {
    if !name.starts_with("../") {
        return is_within(folder, name);
    }
    let Ok(mut path) = fs::canonicalize(or_here(folder)) else {
        return false;
    };
    Path::new(name).components().all(|step| {
        match step {
            // Without links above, this is where the system goes, too.
            Component::ParentDir => drop(path.pop()),
            step => path.push(step),
        }
        !path.is_symlink()
    })
}

/// Renames the maps of materials whose textures are copied to another place than they have in the model's folder.
pub fn rename_maps(materials: &mut [Material], textures: &[Vec<TextureUse>]) {
    for (material, textures) in materials.iter_mut().zip(textures) {
        for map in TextureMap::ALL {
            let used = textures.iter().find(|used| used.role == map.name());
            let found = used.and_then(|used| used.found.as_deref());
            if let (Some(found), Some(name)) = (found, map.of_mut(material))
                && place(found) != found
            {
                *name = place(found).to_owned();
            }
        }
    }
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
    let folder = or_here(folder);
    let (below, files): (Vec<_>, Vec<_>) = list(folder).partition(|(_, is_folder)| *is_folder);
    let files = files.into_iter().map(|(name, _)| name);
    let mut files: Vec<String> = files
        .filter(|file| goes_through_no_link(folder, file))
        .collect();
    // Folders that are named come first, because there may be any number of others.
    for within in texture_folders(materials)
        .into_iter()
        .filter(|within| goes_through_no_link(folder, &format!("{within}/")))
        .chain(below.into_iter().map(|(name, _)| name))
    {
        let inside = list(&folder.join(&within)).filter(|(_, is_folder)| !is_folder);
        let inside = inside.map(|(name, _)| format!("{within}/{name}"));
        files.extend(inside.filter(|file| goes_through_no_link(folder, file)));
        if files.len() >= MOST {
            break;
        }
    }
    files
}

#[cfg(test)]
#[path = "tests/textures.rs"]
mod tests;
