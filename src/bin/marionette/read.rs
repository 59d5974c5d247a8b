//! Reading files: regular files only, and never more than the limits allow.

use bevy_marionette::{
    format::Diagnostic,
    import::{FileKind, ImportLimits},
};
use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

/// Reads a regular file of at most [`ImportLimits::file_bytes`].
///
/// Whatever the file system says about the length, at most one byte more than the limit is read.
pub fn read(path: &Path, limits: &ImportLimits) -> Result<Vec<u8>, Diagnostic> {
    check(path, limits)?;
    let mut source = Vec::new();
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let read = file
        .take(limits.file_bytes.saturating_add(1))
        .read_to_end(&mut source);
    read.map_err(|error| unreadable(path, &error))?;
    check_size(path, source.len() as u64, limits)?;
    Ok(source)
}

/// Returns the length of a file that [`read`] would accept.
pub fn check(path: &Path, limits: &ImportLimits) -> Result<u64, Diagnostic> {
    let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if metadata.is_dir() {
        let message = "expected a file, found a directory".to_owned();
        let hint = "name a file in it; `marionette validate` takes directories";
        return Err(error(path, message).with_hint(hint));
    }
    // Devices have no end, and opening a pipe waits for its other side.
    if !metadata.is_file() {
        return Err(error(path, "not a regular file".to_owned())
            .with_hint("devices, pipes and sockets are not read"));
    }
    check_size(path, metadata.len(), limits)?;
    Ok(metadata.len())
}

/// Describes an error of the operating system without its number.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "is a directory".to_owned(),
        _ => error.to_string(),
    }
}

fn check_size(path: &Path, bytes: u64, limits: &ImportLimits) -> Result<(), Diagnostic> {
    limits
        .check_size(&path.to_string_lossy(), bytes)
        .map_err(|mut error| error.diagnostics.remove(0))
}

fn error(path: &Path, message: String) -> Diagnostic {
    Diagnostic::error(&path.to_string_lossy(), message)
}

fn unreadable(path: &Path, cause: &io::Error) -> Diagnostic {
    if cause.kind() != io::ErrorKind::NotFound {
        return error(path, format!("cannot be read: {}", reason(cause)));
    }
    if let Ok(target) = fs::read_link(path) {
        return error(path, format!("dangling link to `{}`", target.display()));
    }
    let error = error(path, "no such file".to_owned());
    match nearest(path) {
        Some(near) => error.with_hint(format!("did you mean `{near}`?")),
        None => error,
    }
}

/// The most missing files that are compared with the existing ones, for which a folder must be
/// read.
const MOST_COMPARED: usize = 64;
static COMPARED: AtomicUsize = AtomicUsize::new(0);

/// Finds a file in the same folder whose name differs in case or in its extension only.
fn nearest(path: &Path) -> Option<String> {
    if COMPARED.fetch_add(1, Ordering::Relaxed) >= MOST_COMPARED {
        return None;
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let lower = |name: &std::ffi::OsStr| name.to_string_lossy().to_lowercase();
    let (name, stem) = (lower(path.file_name()?), lower(path.file_stem()?));
    let files = fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| PathBuf::from(entry.file_name()));
    let likeness = |file: &PathBuf| {
        (
            lower(file.as_os_str()) == name,
            file.file_stem().map(lower).as_ref() == Some(&stem),
        )
    };
    let similar = |file: &PathBuf| likeness(file) != (false, false);
    let known = |file: &PathBuf| FileKind::of_name(&file.to_string_lossy()).is_some();
    // Of equals the first by name: a system lists files in any order.
    let best = files
        .filter(|file| known(file) && similar(file))
        .max_by_key(|file| (likeness(file), std::cmp::Reverse(file.clone())));
    best.map(|file| file.to_string_lossy().into_owned())
}
