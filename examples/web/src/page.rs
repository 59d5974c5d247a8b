//! The link to the page: its address, its console, and files dropped on it.
//!
//! `page.js` defines the object `marionette` that the functions below call.

use bevy::{
    asset::io::{
        AssetSourceBuilder,
        memory::{Dir, MemoryAssetReader},
    },
    prelude::*,
};
use std::{
    path::{Path, PathBuf},
    sync::{LazyLock, Mutex},
};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = marionette, js_name = example)]
    fn js_example() -> String;
    #[wasm_bindgen(js_namespace = marionette, js_name = arguments)]
    fn js_arguments() -> Vec<String>;
    /// Prints a line to the console.
    #[wasm_bindgen(js_namespace = marionette)]
    pub fn print(line: &str);
    /// Shows the caption's text to screen readers.
    #[wasm_bindgen(js_namespace = marionette)]
    pub fn caption(text: &str);
    /// Hands over a file that a program of its own would write.
    #[wasm_bindgen(js_namespace = marionette)]
    pub fn save(name: &str, bytes: &[u8]);
    /// Shows buttons for the keys in an example's help text, on devices without a keyboard.
    #[wasm_bindgen(js_namespace = marionette)]
    fn help(text: &str);
    #[wasm_bindgen(js_namespace = marionette, js_name = fail)]
    fn js_fail(reason: &str);
}

/// Returns the example's name in the page's address.
pub fn example() -> String {
    js_example()
}

/// Returns the arguments in the page's address, as a program would get them.
pub fn arguments() -> Vec<String> {
    let mut arguments = js_arguments();
    arguments.insert(0, js_example());
    arguments
}

/// Shows why the example cannot go on, and stops it.
pub fn fail(reason: &str) -> ! {
    js_fail(reason);
    wasm_bindgen::throw_str(reason)
}

/// Returns the asset paths of the sample characters.
pub fn manifests() -> Vec<String> {
    include_str!(concat!(env!("OUT_DIR"), "/manifests.txt"))
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Files dropped on the page: all of them, as a folder, and the ones the app has yet to hear of.
static FOLDER: LazyLock<Dir> = LazyLock::new(Dir::default);
static NEW: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Takes files dropped together, so that a model finds its clips and textures.
#[wasm_bindgen]
pub fn drop_files(names: Vec<String>, contents: Vec<js_sys::Uint8Array>) {
    for (name, bytes) in names.iter().zip(&contents) {
        FOLDER.insert_asset(Path::new(name), bytes.to_vec());
    }
    let paths = names
        .iter()
        .map(|name| PathBuf::from(format!("dropped://{name}")));
    NEW.lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .extend(paths);
}

/// Adds the asset source of dropped files, and tells the page which keys the example has.
pub fn prepare(app: &mut App, keys: &str) {
    help(keys);
    let reader = || {
        Box::new(MemoryAssetReader {
            root: FOLDER.clone(),
        }) as Box<_>
    };
    app.register_asset_source("dropped", AssetSourceBuilder::new(reader));
    app.add_systems(PreUpdate, announce_files);
}

fn announce_files(
    windows: Query<Entity, With<Window>>,
    mut dropped: MessageWriter<FileDragAndDrop>,
) {
    let Ok(window) = windows.single() else { return };
    for path_buf in NEW
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .drain(..)
    {
        dropped.write(FileDragAndDrop::DroppedFile { window, path_buf });
    }
}
