//! Which files lie beside a model: textures are found among them, whatever case they were written in.

use bevy::asset::{
    AssetPath, AssetServer,
    io::{AssetSource, AssetSourceId},
};
use futures_lite::StreamExt;
use std::path::{Path, PathBuf};

/// The files in the folder of `beside`, and in its folders one level down, relative to that folder and
/// with forward slashes. Empty where a source cannot list folders (the web).
pub(super) async fn files_beside(server: &AssetServer, beside: &AssetPath<'_>) -> Vec<String> {
    let source: AssetSourceId<'static> = beside.source().clone_owned();
    let Ok(source) = server.get_source(source) else { return Vec::new() };
    let folder = beside.path().parent().map(Path::to_path_buf).unwrap_or_default();
    let (mut found, mut folders) = (Vec::new(), vec![folder.clone()]);
    for _level in 0..2 {
        let mut below = Vec::new();
        for listed in folders.drain(..) {
            for path in list(source, &listed).await {
                if found.len() >= MOST {
                    return found;
                }
                if path.extension().is_none() {
                    below.push(path);
                } else {
                    found.push(relative(&folder, &path));
                }
            }
        }
        folders = below;
    }
    found
}

/// Files looked at, at most: a model in a home folder must not list the whole disk.
const MOST: usize = 4096;

async fn list(source: &AssetSource, folder: &Path) -> Vec<PathBuf> {
    // Bevy's reader of files panics when asked to list a folder outside its root.
    if folder.is_absolute() {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        return entries.map(|entry| entry.path()).take(MOST).collect();
    }
    match source.reader().read_directory(folder).await {
        Ok(entries) => entries.take(MOST).collect().await,
        Err(_) => Vec::new(),
    }
}

fn relative(folder: &Path, path: &Path) -> String {
    let path: PathBuf = path.strip_prefix(folder).map(Path::to_path_buf).unwrap_or_else(|_| path.to_path_buf());
    path.to_string_lossy().replace('\\', "/")
}
