//! Which files lie beside a model: textures are found among them, whatever case they were written in.

use bevy::asset::{AssetPath, AssetServer, io::AssetSourceId};
use futures_lite::StreamExt;
use std::path::{Path, PathBuf};

/// The files in the folder of `beside`, and in its folders one level down, relative to that folder and
/// with forward slashes. Empty where a source cannot list folders (the web).
pub(super) async fn files_beside(server: &AssetServer, beside: &AssetPath<'_>) -> Vec<String> {
    let source: AssetSourceId<'static> = beside.source().clone_owned();
    let Ok(source) = server.get_source(source) else { return Vec::new() };
    let folder = beside.path().parent().map(Path::to_path_buf).unwrap_or_default();
    let mut found = Vec::new();
    let mut folders = vec![folder.clone()];
    let mut depth = 0;
    // A model in a home folder must not list the whole disk.
    const MOST: usize = 4096;
    while depth < 2 && !folders.is_empty() {
        let mut below = Vec::new();
        for listed in folders.drain(..) {
            let Ok(mut entries) = source.reader().read_directory(&listed).await else { continue };
            while let Some(path) = entries.next().await {
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
        depth += 1;
    }
    found
}

fn relative(folder: &Path, path: &Path) -> String {
    let path: PathBuf = path.strip_prefix(folder).map(Path::to_path_buf).unwrap_or_else(|_| path.to_path_buf());
    path.to_string_lossy().replace('\\', "/")
}
