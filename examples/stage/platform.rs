//! What differs between a program of its own and a page on the web.
//!
//! On the web, all examples are one program, `examples/web`; its module `page` is the link to the page around it.

use bevy::prelude::*;
use clap::Parser;
use std::{fmt::Display, path::Path};

#[cfg(target_arch = "wasm32")]
use crate::page;

/// Returns the command line's arguments, or those in the page's address.
pub fn arguments<A: Parser>() -> A {
    #[cfg(not(target_arch = "wasm32"))]
    {
        A::parse()
    }
    #[cfg(target_arch = "wasm32")]
    {
        A::try_parse_from(page::arguments()).unwrap_or_else(|error| fail(error))
    }
}

/// Prints a line to standard output, or to the browser's console.
pub fn print(line: impl Display) {
    #[cfg(not(target_arch = "wasm32"))]
    println!("{line}");
    #[cfg(target_arch = "wasm32")]
    page::print(&line.to_string());
}

/// Prints a message to standard error and exits with an error code, or shows it on the page and stops.
pub fn fail(reason: impl Display) -> ! {
    #[cfg(not(target_arch = "wasm32"))]
    {
        eprintln!("{reason}");
        std::process::exit(1)
    }
    #[cfg(target_arch = "wasm32")]
    page::fail(&reason.to_string())
}

/// Writes a file and its folder, or hands it to the page.
pub fn save(file: &Path, bytes: &[u8]) -> Result<(), String> {
    #[cfg(not(target_arch = "wasm32"))]
    {
        let folder = file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let written = folder
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(file, bytes));
        written.map_err(|error| error.to_string())
    }
    #[cfg(target_arch = "wasm32")]
    {
        page::save(&file.to_string_lossy(), bytes);
        Ok(())
    }
}

/// Tells the page what the caption says, for screen readers.
pub(super) fn caption(text: &str) {
    #[cfg(not(target_arch = "wasm32"))]
    let _ = text;
    #[cfg(target_arch = "wasm32")]
    page::caption(text);
}

/// Returns the asset paths of the manifests in the folders of `assets/`.
pub fn manifests() -> Vec<String> {
    #[cfg(not(target_arch = "wasm32"))]
    {
        let entries = |folder: &Path| {
            std::fs::read_dir(folder)
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.path())
        };
        let root = bevy::asset::io::file::FileAssetReader::get_base_path().join("assets");
        let files = entries(&root).flat_map(|folder| entries(&folder).collect::<Vec<_>>());
        let inside = files.filter_map(|file| {
            Some(
                file.strip_prefix(&root)
                    .ok()?
                    .to_string_lossy()
                    .replace('\\', "/"),
            )
        });
        inside
            .filter(|file| file.ends_with(".character.ron"))
            .collect()
    }
    #[cfg(target_arch = "wasm32")]
    page::manifests()
}

/// Adds what only the web needs: files dropped on the page, and buttons in place of keys.
pub(super) fn prepare(app: &mut App, help: &'static str) {
    #[cfg(not(target_arch = "wasm32"))]
    let _ = (app, help);
    #[cfg(target_arch = "wasm32")]
    page::prepare(app, help);
}
