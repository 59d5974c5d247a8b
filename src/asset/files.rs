//! The files that an asset names, or that are in its folder.

use super::LoadProgress;
use crate::{
    format::{Diagnostic, FormatError},
    import::ImportLimits,
};
use bevy::{
    asset::{
        Asset, AssetLoader, AssetPath, AssetPlugin, AssetServer, AssetServerMode, LoadContext,
        UnapprovedPathMode,
        io::{AssetSource, AssetSourceId, Reader, VecReader},
        meta::{AssetActionMinimal, AssetMetaMinimal},
    },
    prelude::*,
};
use futures_lite::{AsyncReadExt, StreamExt};
use futures_util::future::join_all;
use std::{
    collections::HashSet,
    convert::Infallible,
    path::{Component, Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// Reads files on behalf of an asset that is being loaded.
#[derive(Clone)]
pub(super) struct Files {
    pub(super) server: AssetServer,
    pub(super) progress: LoadProgress,
    unapproved: UnapprovedPathMode,
    /// Files are read as they are in the app's sources, also where the app loads processed ones.
    is_baking: bool,
    /// The app's asset folder, unless assets come from somewhere else.
    root: Option<PathBuf>,
}

impl Files {
    pub(super) fn new(app: &App) -> Self {
        let plugin = app.get_added_plugins::<AssetPlugin>().into_iter().next();
        #[cfg(not(any(target_arch = "wasm32", target_os = "android")))]
        let root = plugin.map(|plugin| {
            bevy::asset::io::file::FileAssetReader::new(&plugin.file_path)
                .root_path()
                .clone()
        });
        #[cfg(any(target_arch = "wasm32", target_os = "android"))]
        let root = None;
        Self {
            server: app.world().resource::<AssetServer>().clone(),
            progress: app.world().resource::<LoadProgress>().clone(),
            unapproved: plugin
                .map(|plugin| &plugin.unapproved_path_mode)
                .cloned()
                .unwrap_or_default(),
            is_baking: false,
            root,
        }
    }

    /// Reads files for a character that is being baked.
    pub(super) fn for_baking(self) -> Self {
        Self {
            is_baking: true,
            ..self
        }
    }

    /// Reads files named relative to `asset` on behalf of the asset being loaded, which is reloaded
    /// when one of them changes. They are read side by side: over HTTP, one after another would
    /// take long.
    ///
    /// The app's [`UnapprovedPathMode`] applies.
    pub(super) async fn read_all(
        &self,
        asset: &AssetPath<'_>,
        files: Vec<String>,
        most: Most,
        context: &mut LoadContext<'_>,
    ) -> Vec<(String, Result<Vec<u8>, String>)> {
        self.progress.add_files(files.len());
        let (Most::Each(limit) | Most::Together(limit)) = most;
        let shared = Room::new(limit);
        let reads = files.into_iter().map(async |file| {
            let bytes = match most {
                Most::Each(_) => self.bytes(asset, &file, &Room::new(limit)).await,
                Most::Together(_) => match self.bytes(asset, &file, &shared).await {
                    // Once there is no room left, any of them may be cut off.
                    Ok(_) if shared.is_used_up() => Err(too_much(limit)),
                    read => read,
                },
            };
            self.progress.add_read();
            (file, bytes)
        });
        let read = join_all(reads).await;
        for (file, bytes) in &read {
            if bytes.is_err() {
                continue;
            }
            if self.is_baking {
                let path = beside(asset, file);
                if self.is_processed(&path).await {
                    // For its hash, by which Bevy knows when to process the character again.
                    _ = context.read_asset_bytes(path).await;
                }
            } else {
                // There is nothing left to load, but only loads count as dependencies.
                let nothing = &mut VecReader::new(Vec::new());
                let builder = context.load_builder();
                _ = builder
                    .load_value_from_reader::<Dependency>(beside(asset, file), nothing)
                    .await;
            }
        }
        read
    }

    /// Returns `true` if Bevy's processor handles a file, or copies it. It never says that it has left out another one, so
    /// waiting for that would take forever.
    async fn is_processed(&self, path: &AssetPath<'_>) -> bool {
        let Ok(source) = self.server.get_source(path.source()) else {
            return false;
        };
        let meta = source.reader().read_meta_bytes(path.path()).await;
        let meta = meta.ok().and_then(|meta| {
            let meta = ron::de::from_bytes::<AssetMetaMinimal>(&meta);
            Some(meta.ok()?.asset)
        });
        match meta {
            Some(action) => !matches!(action, AssetActionMinimal::Ignore),
            None => self.server.get_path_asset_loader(path).await.is_ok(),
        }
    }

    async fn bytes(
        &self,
        asset: &AssetPath<'_>,
        file: &str,
        room: &Room,
    ) -> Result<Vec<u8>, String> {
        let path = beside(asset, file);
        if !self.permits(asset, &path) {
            return Err(OUTSIDE.to_owned());
        }
        self.check_regular(&path)?;
        let source = self
            .server
            .get_source(path.source())
            .map_err(|error| error.to_string())?;
        let reader = match self.server.mode() {
            AssetServerMode::Processed if !self.is_baking => source
                .processed_reader()
                .map_err(|error| error.to_string())?,
            _ => source.reader(),
        };
        let mut reader = reader
            .read(path.path())
            .await
            .map_err(|error| error.to_string())?;
        room.read(&mut *reader)
            .await
            .map_err(|error| error.to_string())
    }

    /// Returns `true` if an asset may name a path: one in the asset folder or, if the asset itself was
    /// loaded from outside by [`override_unapproved`](bevy::asset::LoadBuilder::override_unapproved), in its own.
    pub(super) fn permits(&self, asset: &AssetPath<'_>, path: &AssetPath<'_>) -> bool {
        let folder = asset.path().parent().unwrap_or(Path::new(""));
        let inside = |rest: &Path| {
            rest.components()
                .all(|component| component != Component::ParentDir)
        };
        match self.unapproved {
            _ if !path.is_unapproved() => true,
            UnapprovedPathMode::Allow => true,
            UnapprovedPathMode::Deny => {
                asset.is_unapproved() && path.path().strip_prefix(folder).is_ok_and(inside)
            }
            UnapprovedPathMode::Forbid => false,
        }
    }

    /// Refuses devices, which have no end, and pipes, which block the thread that opens them.
    fn check_regular(&self, path: &AssetPath<'_>) -> Result<(), String> {
        let Some(root) = self
            .root
            .as_ref()
            .filter(|_| *path.source() == AssetSourceId::Default)
        else {
            return Ok(());
        };
        match std::fs::metadata(root.join(path.path())) {
            Ok(metadata) if !metadata.is_file() => Err("it is not a regular file".to_owned()),
            // A custom source may have files that are not on disk.
            _ => Ok(()),
        }
    }

    /// Finds the files that the names of a model's textures may refer to, relative to the model's
    /// folder and with forward slashes: all in its folder, the direct subfolders, and `folders`,
    /// or, if the source cannot list folders (the web), the first that exists of the places where
    /// each texture may be. The flag is `true` if these are all files there.
    pub(super) async fn textures(
        &self,
        model: &AssetPath<'_>,
        folders: Vec<String>,
        places: impl IntoIterator<Item = Vec<String>>,
        limits: &ImportLimits,
    ) -> (Vec<String>, bool) {
        let listed = self.list(model, folders).await;
        if !listed.is_empty() {
            return (listed, true);
        }
        let places: HashSet<Vec<String>> = places.into_iter().collect();
        let finds = places.into_iter().map(async |candidates| {
            for file in candidates {
                if self
                    .bytes(model, &file, &Room::new(limits.file_bytes))
                    .await
                    .is_ok()
                {
                    return Some(file);
                }
            }
            None
        });
        (join_all(finds).await.into_iter().flatten().collect(), false)
    }

    /// Lists the files in the folder of `asset`, in its direct subfolders, and in those of the
    /// folders named relative to it where the asset may name files. Empty if the source cannot list
    /// folders.
    async fn list(&self, asset: &AssetPath<'_>, named: Vec<String>) -> Vec<String> {
        let source: AssetSourceId<'static> = asset.source().clone_owned();
        // Bevy's reader for the web logs an error when asked.
        if cfg!(target_arch = "wasm32") && source == AssetSourceId::Default {
            return Vec::new();
        }
        let Ok(source) = self.server.get_source(source) else {
            return Vec::new();
        };
        let folder = asset
            .path()
            .parent()
            .map(Path::to_path_buf)
            .unwrap_or_default();
        let (mut found, mut folders) = (Vec::new(), vec![folder.clone()]);
        for name in named {
            let path = beside(asset, &name);
            let is_inside = path.path().is_absolute() || !path.path().starts_with("..");
            if is_inside && self.permits(asset, &path) {
                let inside = list(source, path.path()).await.into_iter();
                let names = inside
                    .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
                found.extend(names.map(|file| format!("{name}/{file}")));
            }
        }
        let most = found.len() + MOST;
        for _level in 0..2 {
            let mut below = Vec::new();
            for listed in folders.drain(..) {
                for path in list(source, &listed).await {
                    if found.len() >= most {
                        return found;
                    }
                    if path.extension().is_none() {
                        below.push(path);
                    } else {
                        let relative = path.strip_prefix(&folder).unwrap_or(&path);
                        found.push(relative.to_string_lossy().replace('\\', "/"));
                    }
                }
            }
            folders = below;
        }
        found
    }
}

/// The reason for not reading a file that an asset names.
pub(super) const OUTSIDE: &str =
    "it is outside the asset folder (see `AssetPlugin::unapproved_path_mode`)";

/// Most files listed: a model in a home folder must not list the whole disk.
const MOST: usize = 4096;

async fn list(source: &AssetSource, folder: &Path) -> Vec<PathBuf> {
    // Bevy's file reader panics when asked to list a folder outside its root.
    if folder.is_absolute() {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        return entries.map(|entry| entry.path()).take(MOST).collect();
    }
    match source.reader().read_directory(folder).await {
        Ok(entries) => entries.take(MOST).collect().await,
        Err(_) => Vec::new(),
    }
}

/// Returns the path of a file named relative to the asset at `path`.
pub(super) fn beside(path: &AssetPath<'_>, file: &str) -> AssetPath<'static> {
    let folder = path.path().parent().unwrap_or(Path::new(""));
    let path_of_file = without_detours(&folder.join(file.replace('\\', "/")));
    AssetPath::from_path_buf(path_of_file).with_source(path.source().clone_owned())
}

/// Removes `a/..` from a path, so that each file has one path. `..` at its start stays.
fn without_detours(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(out.components().next_back(), Some(Component::Normal(_))) =>
            {
                out.pop();
            }
            component => out.push(component),
        }
    }
    out
}

/// The most bytes that are read of files.
#[derive(Clone, Copy, Debug)]
pub(super) enum Most {
    /// Of each. One more is read, which shows that there are more.
    Each(u64),
    /// Of all of them, or some count as files that cannot be read.
    Together(u64),
}

/// The reason for not reading a file, and in a second line what to do.
fn too_much(most: u64) -> String {
    format!(
        "with it, more than {most} bytes would be read\nif that is intended, raise the limit `file_bytes`"
    )
}

/// The number of bytes that may still be read.
struct Room(AtomicU64);

impl Room {
    /// Room for one more byte than a limit.
    fn new(limit: u64) -> Self {
        Self(AtomicU64::new(limit.saturating_add(1)))
    }

    fn is_used_up(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// Reads to the end, or as much as there is room for. Files that are read side by side may each
    /// exceed it by a chunk.
    async fn read(&self, reader: &mut dyn Reader) -> Result<Vec<u8>, std::io::Error> {
        const CHUNK: usize = 1 << 16;
        let (mut source, mut filled) = (Vec::new(), 0);
        loop {
            // Each byte is cleared once: `read_to_end` would clear all that is allocated beyond the end, chunk by chunk.
            if filled == source.len() {
                let left = usize::try_from(self.0.load(Ordering::Relaxed)).unwrap_or(CHUNK);
                source.resize(filled + left.min(CHUNK), 0);
            }
            let read = reader.read(&mut source[filled..]).await?;
            if read == 0 {
                source.truncate(filled);
                return Ok(source);
            }
            filled += read;
            let left = |left: u64| Some(left.saturating_sub(read as u64));
            _ = self
                .0
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
        }
    }
}

/// Reads a loader's file to the end, but no more than one byte beyond the limit.
pub(super) async fn read_within(
    file: &str,
    reader: &mut dyn Reader,
    limits: &ImportLimits,
) -> Result<Vec<u8>, FormatError> {
    let source = Room::new(limits.file_bytes).read(reader).await;
    source.map_err(|error| {
        let message = format!("cannot read the file: {error}");
        FormatError::one(Diagnostic::error(file, message))
    })
}

/// Stands for a file that a loader has read by itself.
#[derive(Asset, TypePath)]
pub(super) struct Dependency;

#[derive(Default, TypePath)]
pub(super) struct DependencyLoader;

impl AssetLoader for DependencyLoader {
    type Asset = Dependency;
    type Settings = ();
    type Error = Infallible;

    async fn load(
        &self,
        _: &mut dyn Reader,
        _: &(),
        _: &mut LoadContext<'_>,
    ) -> Result<Dependency, Infallible> {
        Ok(Dependency)
    }
}
