//! Writing files, but never over an input.

use crate::read;
use bevy_marionette::format::Diagnostic;
use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// Returns an error if `path` is one of `inputs`, whatever links lead there.
pub fn check<'a>(
    path: &Path,
    mut inputs: impl Iterator<Item = &'a PathBuf>,
) -> Result<(), Diagnostic> {
    match inputs.find(|input| is_same_file(path, input)) {
        Some(input) => Err(error(
            path,
            format!("would overwrite the input `{}`", input.display()),
        )
        .with_hint("choose another file with --output")),
        None => Ok(()),
    }
}

/// A file to write.
pub struct NewFile {
    /// The file to write.
    pub path: PathBuf,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// Returns those of `files` that are not there yet with the same contents.
///
/// # Errors
/// A file that is one of `inputs` or in the list twice with different contents, or, without `force`, that exists with other
/// contents.
pub fn missing(
    files: Vec<NewFile>,
    inputs: &[&PathBuf],
    force: bool,
) -> Result<Vec<NewFile>, Diagnostic> {
    let mut contents: HashMap<&Path, &[u8]> = HashMap::new();
    for file in &files {
        let other = contents.insert(&file.path, &file.bytes);
        if other.is_some_and(|other| *other != file.bytes) {
            let hint = "rename one of them: they are copied to one directory";
            let message = "several files of this name would be written".to_owned();
            return Err(error(&file.path, message).with_hint(hint));
        }
    }
    let mut missing = Vec::new();
    for file in files {
        if has_contents(&file.path, &file.bytes) {
            continue;
        }
        check(&file.path, inputs.iter().copied())?;
        if !force && fs::symlink_metadata(&file.path).is_ok() {
            let hint = "overwrite it with --force, or choose another place";
            return Err(error(&file.path, "exists already".to_owned()).with_hint(hint));
        }
        missing.push(file);
    }
    Ok(missing)
}

fn has_contents(path: &Path, bytes: &[u8]) -> bool {
    let is_as_long = fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() == bytes.len() as u64);
    is_as_long && fs::read(path).is_ok_and(|old| old == bytes)
}

/// Creates files, and the folders they are in.
pub fn create_all(files: &[NewFile]) -> Result<(), Diagnostic> {
    for NewFile { path, bytes } in files {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|cause| cannot_write(folder, &cause))?;
        }
        create(path, |out| out.write_all(bytes))?;
    }
    Ok(())
}

/// Creates or overwrites a file.
pub fn create(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Diagnostic> {
    let write = || {
        let mut out = BufWriter::with_capacity(1 << 16, File::create(path)?);
        content(&mut out)?;
        out.flush()
    };
    write().map_err(|cause| cannot_write(path, &cause))
}

/// Returns `true` if both paths lead to one file.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (fs::metadata(a), fs::metadata(b)) {
        use std::os::unix::fs::MetadataExt;
        return (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    fs::canonicalize(a).is_ok_and(|a| fs::canonicalize(b).is_ok_and(|b| a == b))
}

fn cannot_write(path: &Path, cause: &io::Error) -> Diagnostic {
    error(path, format!("cannot be written: {}", read::reason(cause)))
}

fn error(path: &Path, message: String) -> Diagnostic {
    Diagnostic::error(&path.to_string_lossy(), message)
}
