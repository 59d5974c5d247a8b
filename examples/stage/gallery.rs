//! The characters in `assets/`.

use bevy::asset::io::file::FileAssetReader;
use std::{fs, path::PathBuf};

/// A character that comes with this repository, or that was put into its folder.
#[derive(Clone, Debug)]
pub struct Exhibit {
    /// Its name for people.
    pub title: String,
    /// Its manifest as the asset server knows it.
    pub asset: String,
    /// Its manifest on disk.
    pub file: PathBuf,
}

/// Every manifest in the folders of `assets/`, the shortest names first.
pub fn gallery() -> Vec<Exhibit> {
    let root = FileAssetReader::get_base_path().join("assets");
    let mut found = Vec::new();
    for folder in fs::read_dir(&root).into_iter().flatten().flatten() {
        for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            let Some(stem) = name.strip_suffix(".character.ron") else { continue };
            let asset = format!("{}/{name}", folder.file_name().to_string_lossy());
            found.push(Exhibit { title: title(stem), asset, file: file.path() });
        }
    }
    found.sort_by(|a, b| (a.title.len(), &a.title).cmp(&(b.title.len(), &b.title)));
    found
}

/// `scout_m3d` is "Scout (m3d)".
fn title(stem: &str) -> String {
    let (name, kind) = stem.split_once('_').map_or((stem, None), |(name, kind)| (name, Some(kind)));
    let mut letters = name.chars();
    let name = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>();
    kind.map_or(name.clone(), |kind| format!("{name} ({})", kind.replace('_', " ")))
}
