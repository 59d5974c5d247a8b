//! Callback keys being edited: added, moved, renamed, deleted, and written as lines of a manifest.
//!
//! An edit changes the asset, so every character made from it fires the new keys at once. It is gone when
//! the file is loaded again: the manifest is where keys are kept.

use super::numbers::accent;
use crate::{
    asset::Character,
    controller::TrackId,
    model::{CallbackKey, ClipTiming},
};
use bevy::prelude::*;
use bevy_egui::egui::{self, Ui};
use std::sync::Arc;

/// A clip's callback keys as a manifest's clip entry holds them: `callbacks: [(time: …, name: …), …],`.
pub fn callbacks_ron(timing: &ClipTiming) -> String {
    let mut text = String::from("callbacks: [\n");
    for CallbackKey { time, name, data } in &timing.callbacks {
        let Ok(name) = ron::to_string(&**name) else { continue };
        let data = match data_text(data) {
            text if text.is_empty() => text,
            text => format!(", data: {text}"),
        };
        text.push_str(&format!("    (time: {time:?}, name: {name}{data}),\n"));
    }
    text.push_str("],\n");
    text
}

/// Data as RON; nothing for a key that has nothing to say.
fn data_text(data: &ron::Value) -> String {
    if *data == ron::Value::Unit { String::new() } else { ron::to_string(data).unwrap_or_default() }
}

/// The key that is edited.
pub(super) struct KeyEdit {
    /// The track in whose bar it was chosen; another one may play the same clip.
    pub(super) track: TrackId,
    clip: Arc<str>,
    /// Index among the clip's keys.
    pub(super) index: usize,
    /// Data as typed, RON or not yet.
    data: String,
    /// Whether its mark is being dragged.
    pub(super) dragged: bool,
    /// Whether the name is to be typed next.
    fresh: bool,
}

impl KeyEdit {
    /// Begins to edit a key; `None` if there is no such key.
    pub(super) fn new(track: TrackId, timing: &ClipTiming, index: usize) -> Option<Self> {
        let data = data_text(&timing.callbacks.get(index)?.data);
        Some(Self { track, clip: timing.name.clone(), index, data, dragged: false, fresh: false })
    }

    /// Adds a key and begins to edit it.
    pub(super) fn add(track: TrackId, timing: &mut ClipTiming, time: f64) -> Option<Self> {
        let at = timing.add_callback(rounded(time), "key", ron::Value::Unit);
        Some(Self { fresh: true, ..Self::new(track, timing, at)? })
    }

    /// Whether it is a key of this clip on this track, and still there.
    pub(super) fn is_of(&self, track: TrackId, timing: &ClipTiming) -> bool {
        self.track == track && self.clip == timing.name && self.index < timing.callbacks.len()
    }

    /// Moves the key, to a whole millisecond.
    pub(super) fn move_to(&mut self, timing: &mut ClipTiming, time: f64) {
        if let Some(index) = timing.move_callback(self.index, rounded(time)) {
            self.index = index;
        }
    }

    /// The key's name, time and data to be changed. Whether it is still to be edited.
    pub(super) fn show(&mut self, ui: &mut Ui, timing: &mut ClipTiming) -> bool {
        let mut keep = true;
        ui.horizontal(|ui| {
            let Some(key) = timing.callbacks.get_mut(self.index) else { return };
            let mut name = key.name.to_string();
            let field = ui.add(egui::TextEdit::singleline(&mut name).hint_text("name").desired_width(92.0));
            if std::mem::take(&mut self.fresh) {
                field.request_focus();
                select_all(ui, field.id, key.name.chars().count());
            }
            if field.changed() {
                key.name = name.into();
            }
            ui.weak("data");
            let color = read_data(&self.data).is_err().then(|| accent(ui.visuals()));
            let field = egui::TextEdit::singleline(&mut self.data).hint_text("RON").desired_width(80.0);
            let field = ui.add(field.text_color_opt(color));
            match read_data(&self.data) {
                Ok(data) if field.changed() => key.data = data,
                Ok(_) => {}
                Err(error) => {
                    field.on_hover_text(error.to_string());
                }
            }
            let mut time = key.time;
            let drag = egui::DragValue::new(&mut time).range(0.0..=timing.duration).speed(0.002);
            let moved = ui.add(drag.fixed_decimals(3).suffix(" s")).changed();
            if ui.button("delete").clicked() {
                timing.callbacks.remove(self.index);
                keep = false;
            } else if moved {
                self.move_to(timing, time);
            }
        });
        keep
    }
}

/// Selects a field's text, so that typing replaces it.
fn select_all(ui: &Ui, field: egui::Id, letters: usize) {
    let mut state = egui::TextEdit::load_state(ui.ctx(), field).unwrap_or_default();
    let all = egui::text::CCursorRange::two(egui::text::CCursor::new(0), egui::text::CCursor::new(letters));
    state.cursor.set_char_range(Some(all));
    state.store(ui.ctx(), field);
}

/// Data as typed; nothing is the unit.
fn read_data(text: &str) -> Result<ron::Value, ron::error::SpannedError> {
    if text.trim().is_empty() { Ok(ron::Value::Unit) } else { ron::from_str(text) }
}

/// Milliseconds are as fine as anybody hears, and read well in a file.
fn rounded(time: f64) -> f64 {
    (time * 1000.0).round() / 1000.0
}

/// Gives a character's clip of that name other keys.
pub(super) fn put(commands: &mut Commands, character: AssetId<Character>, timing: ClipTiming) {
    commands.queue(move |world: &mut World| {
        let Some(mut assets) = world.get_resource_mut::<Assets<Character>>() else { return };
        let Some(mut character) = assets.get_mut(character) else { return };
        if let Some(clip) = character.clips.iter_mut().find(|clip| clip.timing.name == timing.name) {
            // The clip by its own label keeps the keys of the file.
            Arc::make_mut(clip).timing = timing;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Manifest;

    #[test]
    fn the_copied_lines_are_a_manifests_and_bring_the_same_keys_back() {
        let mut timing = ClipTiming::new("walk", 1.0);
        let data = |text: &str| ron::from_str(text).unwrap();
        timing.add_callback(0.1, "step", data("\"left\""));
        timing.add_callback(0.2, "odd \"name\"\n", ron::Value::Unit);
        timing.add_callback(1.0 / 3.0, "hit", data("{\"strength\": 2.5, \"by\": [1, -2]}"));
        timing.add_callback(1.0, "end", data("true"));
        let lines = callbacks_ron(&timing);
        let text = format!("(model: \"a.md5mesh\", clips: {{ \"walk\": (file: \"walk.md5anim\", {lines}) }})");
        let manifest = Manifest::parse("a.character.ron", text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut back = ClipTiming::new("walk", 1.0);
        for key in &manifest.clips["walk"].callbacks {
            back.add_callback(key.time, key.name.as_str(), key.data.clone());
        }
        assert_eq!(back, timing, "{lines}");
        assert_eq!(callbacks_ron(&ClipTiming::new("idle", 1.0)), "callbacks: [\n],\n");
    }

    #[test]
    fn a_key_is_added_at_the_playhead_and_followed_past_the_others() {
        let mut timing = ClipTiming::new("walk", 1.0);
        timing.add_callback(0.5, "key", ron::Value::Unit);
        let track = TrackId::default();
        let mut edit = KeyEdit::add(track, &mut timing, 0.2504).unwrap();
        assert_eq!((edit.index, timing.callbacks[0].time), (0, 0.25));
        edit.move_to(&mut timing, 2.0);
        assert_eq!((edit.index, timing.callbacks[1].time), (1, 1.0));
        assert!(edit.is_of(track, &timing));
        timing.callbacks.clear();
        assert!(!edit.is_of(track, &timing));
        let end = KeyEdit::add(track, &mut ClipTiming::new("odd", 1.0 / 3.0), 1.0 / 3.0).unwrap();
        assert_eq!(end.index, 0);
    }
}
