//! Saving what was tuned to the character's manifest, and taking it back.
//!
//! Only the entries that differ are written; everything else in the file stays as it is, comments included. The file belongs to
//! its author: if it has changed since, nothing is undone.
//!
//! See decision 067.

use crate::{
    asset::Character,
    import::{FileKind, Manifest},
};
use bevy::{
    asset::{
        AssetPath,
        io::{AssetSource, ErasedAssetWriter},
    },
    prelude::*,
    tasks::block_on,
};
use bevy_egui::egui::Ui;
use std::path::Path;

/// What was saved, and what of it was undone.
#[derive(Resource, Default)]
pub(super) struct Saves {
    done: Vec<Save>,
    undone: Vec<Save>,
    /// What became of the last attempt.
    said: String,
}

/// A file before and after.
struct Save {
    path: AssetPath<'static>,
    before: String,
    after: String,
}

/// An entry of a manifest, by field names and map keys, and its text; `None` removes it.
pub(super) type Entry = (Vec<String>, Option<String>);

impl Saves {
    /// Shows what was saved last, with buttons to take it back and to do it again.
    pub(super) fn show(&self, ui: &mut Ui, commands: &mut Commands) {
        if self.said.is_empty() {
            return;
        }
        ui.horizontal_wrapped(|ui| {
            let undo = ui.add_enabled(
                !self.done.is_empty(),
                bevy_egui::egui::Button::new("Undo save"),
            );
            if undo.clicked() {
                commands.queue(|world: &mut World| again(world, Way::Back));
            }
            let redo = ui.add_enabled(
                !self.undone.is_empty(),
                bevy_egui::egui::Button::new("Redo save"),
            );
            if redo.clicked() {
                commands.queue(|world: &mut World| again(world, Way::Forth));
            }
            ui.weak(&self.said);
        });
    }
}

/// Changes entries in the manifest that a character was loaded from.
pub(super) fn save(
    commands: &mut Commands,
    character: AssetId<Character>,
    entries: impl FnOnce(&World, &AssetPath<'static>, &Manifest) -> Result<Vec<Entry>, String>
    + Send
    + 'static,
) {
    commands.queue(move |world: &mut World| {
        let said = try_save(world, character, entries).unwrap_or_else(|error| error);
        world.resource_mut::<Saves>().said = said;
    });
}

fn try_save(
    world: &mut World,
    character: AssetId<Character>,
    entries: impl FnOnce(&World, &AssetPath<'static>, &Manifest) -> Result<Vec<Entry>, String>,
) -> Result<String, String> {
    let server = world.resource::<AssetServer>().clone();
    let path = server.get_path(character).filter(|path| {
        FileKind::of_name(&path.path().to_string_lossy()) == Some(FileKind::Manifest)
    });
    let path = path
        .ok_or("this character has no manifest to save to: write one with `marionette import`")?
        .into_owned();
    // The web can't write files, and waiting for one to be read would block its only thread.
    writer(&server, &path)?;
    let before = read(&server, &path)?;
    let file = path.to_string();
    let told = |error: crate::format::FormatError| error.to_string();
    let manifest = Manifest::parse(&file, before.as_bytes()).map_err(told)?;
    let entries = entries(world, &path, &manifest)?;
    let mut after = before.clone();
    for (at, value) in &entries {
        let at: Vec<&str> = at.iter().map(String::as_str).collect();
        after = Manifest::edited(&file, &after, &at, value.as_deref()).map_err(told)?;
    }
    if after == before {
        return Ok(format!("{file} says so already"));
    }
    write(&server, &path, &after)?;
    let mut saves = world.resource_mut::<Saves>();
    saves.done.push(Save {
        path,
        before,
        after,
    });
    saves.undone.clear();
    Ok(format!("saved to {file}"))
}

#[derive(Clone, Copy)]
enum Way {
    Back,
    Forth,
}

/// Takes the last save back, or does it again.
fn again(world: &mut World, way: Way) {
    let server = world.resource::<AssetServer>().clone();
    let mut saves = world.resource_mut::<Saves>();
    let saves = &mut *saves;
    let (from, to, word) = match way {
        Way::Back => (&mut saves.done, &mut saves.undone, "undone"),
        Way::Forth => (&mut saves.undone, &mut saves.done, "saved again"),
    };
    let Some(save) = from.pop() else {
        return;
    };
    let (expected, wanted) = match way {
        Way::Back => (&save.after, &save.before),
        Way::Forth => (&save.before, &save.after),
    };
    let done = read(&server, &save.path).and_then(|text| match text == *expected {
        true => write(&server, &save.path, wanted),
        false => Err(format!(
            "{} has changed since; nothing was undone",
            save.path
        )),
    });
    saves.said = match done {
        Ok(()) => format!("{word}: {}", save.path),
        Err(error) => error,
    };
    to.push(save);
}

fn source<'a>(server: &'a AssetServer, path: &AssetPath) -> Result<&'a AssetSource, String> {
    server
        .get_source(path.source())
        .map_err(|error| error.to_string())
}

fn read(server: &AssetServer, path: &AssetPath) -> Result<String, String> {
    let place: &Path = path.path();
    let reader = source(server, path)?.reader();
    let bytes = block_on(async {
        let mut bytes = Vec::new();
        let mut reader = reader
            .read(place)
            .await
            .map_err(|error| error.to_string())?;
        reader
            .read_to_end(&mut bytes)
            .await
            .map_err(|error| error.to_string())?;
        Ok::<_, String>(bytes)
    })?;
    String::from_utf8(bytes).map_err(|_| format!("{path} is no UTF-8 text"))
}

fn writer<'a>(
    server: &'a AssetServer,
    path: &AssetPath,
) -> Result<&'a dyn ErasedAssetWriter, String> {
    let writer = source(server, path)?.writer();
    writer.map_err(|error| error.to_string())
}

fn write(server: &AssetServer, path: &AssetPath, text: &str) -> Result<(), String> {
    let written = block_on(writer(server, path)?.write_bytes(path.path(), text.as_bytes()));
    written.map_err(|error| error.to_string())?;
    if !server.watching_for_changes() {
        server.reload(path.clone());
    }
    Ok(())
}
