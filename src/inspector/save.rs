//! Saving what was tuned to the character's manifest, and taking it back.
//!
//! Only the entries that differ are written; everything else in the file stays as it is, comments included. The file belongs to
//! its author: if it has changed since, nothing is undone.
//!
//! See decision 067.

use super::{callback_edit, rig::lines};
use crate::{
    asset::{Character, CharacterAssetLabel, ClipAsset},
    import::{FileKind, Manifest, RigEntries},
    model::CallbackKey,
};
use bevy::{
    asset::{AssetPath, io::AssetSource},
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

/// Saves the goals, look-at, feet, springs, and colliders of a character.
pub(super) fn save_rig(commands: &mut Commands, character: AssetId<Character>, rig: RigEntries) {
    save(commands, character, move |world, _, manifest| {
        let now = world.resource::<Assets<Character>>().get(character);
        let now = now.ok_or("the character is no longer there")?;
        Ok(lines::changed_entries(manifest, now.loaded_rig(), &rig))
    });
}

/// Saves the callback keys of a clip that its own file doesn't have.
pub(super) fn save_keys(commands: &mut Commands, character: AssetId<Character>, clip: &str) {
    let clip = clip.to_owned();
    save(commands, character, move |world, path, manifest| {
        let characters = world.resource::<Assets<Character>>();
        let now = characters.get(character).and_then(|now| now.clip(&clip));
        // The clip's own asset keeps the keys that were loaded.
        let label = CharacterAssetLabel::Clip(clip.clone()).to_string();
        let server = world.resource::<AssetServer>();
        let handle = server.get_handle::<ClipAsset>(path.clone().with_label(label));
        let loaded = handle.and_then(|handle| world.resource::<Assets<ClipAsset>>().get(&handle));
        let (Some(now), Some(loaded)) = (now, loaded) else {
            return Err(format!("the clip `{clip}` is no longer there"));
        };
        let entry = manifest.clips.get(&clip).cloned().unwrap_or_default();
        let rate = entry.frame_rate.or(now.frame_rate());
        let listed = entry.callbacks.iter().filter_map(|key| {
            let (time, until) = key.place(rate)?;
            let (name, data) = (key.name.as_str().into(), key.data.clone().into());
            Some(CallbackKey {
                time,
                until,
                name,
                data,
            })
        });
        let listed: Vec<CallbackKey> = listed.collect();
        let text = callback_edit::keys_to_save(
            &now.timing.callbacks,
            &loaded.0.timing.callbacks,
            &listed,
        )?;
        let path = ["clips", &clip, "callbacks"].map(str::to_owned);
        Ok(vec![(path.to_vec(), text)])
    });
}

/// Changes entries in the manifest that a character was loaded from.
fn save(
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

fn write(server: &AssetServer, path: &AssetPath, text: &str) -> Result<(), String> {
    let writer = source(server, path)?
        .writer()
        .map_err(|error| error.to_string())?;
    let written = block_on(writer.write_bytes(path.path(), text.as_bytes()));
    written.map_err(|error| error.to_string())?;
    if !server.watching_for_changes() {
        server.reload(path.clone());
    }
    Ok(())
}
