//! Editing a clip's callback keys, and copying them as lines of a manifest.
//!
//! Edits change the loaded asset, so every character that uses it fires the new keys immediately. They are lost when
//! the file is reloaded; to keep them, save them, or paste the copied lines into the manifest.

use super::{save, style::accent};
use crate::{
    asset::{Character, CharacterAssetLabel, ClipAsset},
    controller::TrackId,
    model::{CallbackKey, ClipTiming},
};
use bevy::prelude::*;
use bevy_egui::egui::{self, Ui};
use std::sync::Arc;

/// Formats a clip's callback keys for its entry in a manifest: `callbacks: [(time: …, name: …), …],`.
pub fn callbacks_ron(timing: &ClipTiming) -> String {
    format!("callbacks: {},\n", keys_ron(&timing.callbacks))
}

/// Formats callback keys as a list.
fn keys_ron(keys: &[CallbackKey]) -> String {
    let mut text = String::from("[\n");
    for CallbackKey {
        time,
        until,
        name,
        data,
    } in keys
    {
        // RON can write any name, so nothing is ever left out here.
        let Ok(name) = ron::to_string(&**name) else {
            continue;
        };
        let data = match data_text(data) {
            text if text.is_empty() => text,
            text => format!(", data: {text}"),
        };
        let until = until
            .map(|until| format!(", until: {until:?}"))
            .unwrap_or_default();
        text.push_str(&format!(
            "    (time: {time:?}{until}, name: {name}{data}),\n"
        ));
    }
    text.push(']');
    text
}

/// Returns the list that a clip's entry in a manifest needs for its keys to be `now`; `None` for no list. `loaded` are those that the
/// clip had when it was loaded, of which the entry gave `listed`, and the rest is in the clip's own file.
///
/// # Errors
/// A key of the clip's own file is gone: manifests only add keys.
fn keys_to_save(
    now: &[CallbackKey],
    loaded: &[CallbackKey],
    listed: &[CallbackKey],
) -> Result<Option<String>, String> {
    let mut own = loaded.to_vec();
    for key in listed {
        if let Some(at) = own.iter().position(|own| own == key) {
            own.remove(at);
        }
    }
    let mut added = now.to_vec();
    for key in &own {
        let Some(at) = added.iter().position(|added| added == key) else {
            return Err(format!(
                "the key `{}` at {:.3} s is in the clip's own file: change it there, since a manifest only adds keys",
                key.name, key.time
            ));
        };
        added.remove(at);
    }
    Ok((!added.is_empty()).then(|| keys_ron(&added)))
}

/// Saves the callback keys of a clip that its own file doesn't have.
pub(super) fn save_keys(commands: &mut Commands, character: AssetId<Character>, clip: &str) {
    let clip = clip.to_owned();
    save::save(commands, character, move |world, path, manifest| {
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
        let text = keys_to_save(&now.timing.callbacks, &loaded.0.timing.callbacks, &listed)?;
        let path = ["clips", &clip, "callbacks"].map(str::to_owned);
        Ok(vec![(path.to_vec(), text)])
    });
}

/// Formats callback data as RON; empty if there is none.
fn data_text(data: &ron::Value) -> String {
    if *data == ron::Value::Unit {
        String::new()
    } else {
        ron::to_string(data).unwrap_or_default()
    }
}

/// An end of a callback key: those that are no ranges have only a begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    Begin,
    End,
}

/// Seconds that a key lasts when it becomes a range.
const NEW_RANGE: f64 = 0.1;

/// The callback key being edited.
pub(super) struct KeyEdit {
    /// The track in whose bar it was selected; other tracks may play the same clip.
    pub(super) track: TrackId,
    clip: Arc<str>,
    /// Index among the clip's keys.
    pub(super) index: usize,
    /// Data as typed, which may not be valid RON yet.
    data: String,
    /// The marker that is being dragged.
    pub(super) dragged: Option<Edge>,
    /// It was just added, so its name gets the focus.
    fresh: bool,
}

impl KeyEdit {
    /// Starts editing a key; returns `None` if there is no such key.
    pub(super) fn new(track: TrackId, timing: &ClipTiming, index: usize) -> Option<Self> {
        let data = data_text(&timing.callbacks.get(index)?.data);
        Some(Self {
            track,
            clip: timing.name.clone(),
            index,
            data,
            dragged: None,
            fresh: false,
        })
    }

    /// Adds a key and starts editing it.
    pub(super) fn add(track: TrackId, timing: &mut ClipTiming, time: f64) -> Option<Self> {
        let at = timing.add_callback(rounded(time), "key", ron::Value::Unit);
        Some(Self {
            fresh: true,
            ..Self::new(track, timing, at)?
        })
    }

    /// Returns `true` if the key belongs to this clip on this track and still exists.
    pub(super) fn is_of(&self, track: TrackId, timing: &ClipTiming) -> bool {
        self.track == track && self.clip == timing.name && self.index < timing.callbacks.len()
    }

    /// Moves the key or its end to `time`, rounded to milliseconds.
    pub(super) fn move_to(&mut self, timing: &mut ClipTiming, edge: Edge, time: f64) {
        match edge {
            // Keys are sorted by time, so moving one may change its index.
            Edge::Begin => {
                self.index = timing
                    .move_callback(self.index, rounded(time))
                    .unwrap_or(self.index)
            }
            Edge::End => self.set_end(timing, Some(rounded(time))),
        }
    }

    fn set_end(&self, timing: &mut ClipTiming, until: Option<f64>) {
        if let Some(key) = timing.callbacks.get_mut(self.index) {
            // A range ends within its clip, and not before it begins.
            key.until = until.map(|until| until.clamp(key.time, timing.duration.max(key.time)));
        }
    }

    /// Shows whether the key is a range, and its end.
    fn show_end(&self, ui: &mut Ui, timing: &mut ClipTiming) {
        let Some((time, until)) = timing
            .callbacks
            .get(self.index)
            .map(|key| (key.time, key.until))
        else {
            return;
        };
        ui.horizontal(|ui| {
            let mut is_range = until.is_some();
            let tick = ui.checkbox(&mut is_range, "lasts until");
            if tick
                .on_hover_text("A range: its begin and its end are reported in pairs")
                .changed()
            {
                self.set_end(timing, is_range.then_some(rounded(time + NEW_RANGE)));
            }
            if let Some(mut until) = until.filter(|_| is_range) {
                let drag = egui::DragValue::new(&mut until)
                    .range(time..=timing.duration)
                    .speed(0.002);
                if ui.add(drag.fixed_decimals(3).suffix(" s")).changed() {
                    self.set_end(timing, Some(rounded(until)));
                }
            }
        });
    }

    /// Shows the key's name, data, time and end; returns `false` if the key was deleted.
    pub(super) fn show(&mut self, ui: &mut Ui, timing: &mut ClipTiming) -> bool {
        let mut keep = true;
        ui.horizontal(|ui| {
            let Some(key) = timing.callbacks.get_mut(self.index) else {
                return;
            };
            let mut name = key.name.to_string();
            let field = ui.add(
                egui::TextEdit::singleline(&mut name)
                    .hint_text("name")
                    .desired_width(92.0),
            );
            // Only when the key is new. Later, the focus belongs to the user.
            if std::mem::take(&mut self.fresh) {
                field.request_focus();
                select_all(ui, field.id, key.name.chars().count());
            }
            if field.changed() {
                key.name = name.into();
            }
            ui.weak("data");
            let color = read_data(&self.data).is_err().then(|| accent(ui.visuals()));
            let field = egui::TextEdit::singleline(&mut self.data)
                .hint_text("RON")
                .desired_width(80.0);
            let field = ui.add(field.text_color_opt(color));
            // Data that can't be parsed yet stays as text, and the key keeps its old data.
            match read_data(&self.data) {
                Ok(data) if field.changed() => key.data = data.into(),
                Ok(_) => {}
                Err(error) => {
                    field.on_hover_text(error.to_string());
                }
            }
            let mut time = key.time;
            let drag = egui::DragValue::new(&mut time)
                .range(0.0..=timing.duration)
                .speed(0.002);
            let moved = ui.add(drag.fixed_decimals(3).suffix(" s")).changed();
            if ui.button("delete").clicked() {
                timing.callbacks.remove(self.index);
                keep = false;
            } else if moved {
                self.move_to(timing, Edge::Begin, time);
            }
        });
        // A deleted key has no end to show.
        keep && {
            self.show_end(ui, timing);
            true
        }
    }
}

/// Selects all text of a field, so that typing replaces it.
fn select_all(ui: &Ui, field: egui::Id, letters: usize) {
    let mut state = egui::TextEdit::load_state(ui.ctx(), field).unwrap_or_default();
    let all = egui::text::CCursorRange::two(
        egui::text::CCursor::new(0),
        egui::text::CCursor::new(letters),
    );
    state.cursor.set_char_range(Some(all));
    state.store(ui.ctx(), field);
}

/// Parses callback data; empty text is the unit value.
fn read_data(text: &str) -> Result<ron::Value, ron::error::SpannedError> {
    if text.trim().is_empty() {
        Ok(ron::Value::Unit)
    } else {
        ron::from_str(text)
    }
}

/// Rounds to milliseconds: precise enough to hear, short enough to read in a file.
fn rounded(time: f64) -> f64 {
    (time * 1000.0).round() / 1000.0
}

/// Replaces the callback keys of the character's clip of that name.
pub(super) fn apply(commands: &mut Commands, character: AssetId<Character>, timing: ClipTiming) {
    commands.queue(move |world: &mut World| {
        let Some(mut assets) = world.get_resource_mut::<Assets<Character>>() else {
            return;
        };
        let Some(mut character) = assets.get_mut(character) else {
            return;
        };
        if let Some(clip) = character
            .clips
            .iter_mut()
            .find(|clip| clip.timing.name == timing.name)
        {
            // Copy on write: the clip's own labeled asset keeps the keys from the file.
            Arc::make_mut(clip).timing = timing;
        }
    });
}

#[cfg(test)]
#[path = "tests/callback_edit.rs"]
mod tests;
