//! The Timeline tab: each track's clip as a bar with its callback keys, and a log of events.

use super::{
    callback_edit::{self, Edge, KeyEdit, callbacks_ron},
    event_log::{EventLog, Kind},
    inspected::InspectedItem,
    keyboard::{self, FollowFocus},
    style::{accent, bar_background},
    tab::{Tab, TabContext},
    tracks, widgets,
};
use crate::{
    asset::Character,
    controller::{AnimationTrack, Clips},
    model::{BoundBlendSpace, CallbackKey, ClipTiming},
};
use bevy::prelude::Commands;
use bevy_egui::egui::{
    self, Align2, Color32, CursorIcon, FontId, Pos2, Rect, RichText, Shape, Stroke, Ui, pos2, vec2,
};
use std::sync::Arc;

#[derive(Default)]
pub(super) struct TimelineTab {
    /// Dragging the playhead fires the callbacks it passes.
    fire: bool,
    /// The selected key.
    edit: Option<KeyEdit>,
    /// The clip whose keys are to be saved.
    save: Option<Arc<str>>,
}

/// Seconds for which a marker glows after firing.
const FLASH: f64 = 0.45;
/// Seconds that an arrow key moves the playhead or a key by.
const STEP: f64 = 0.01;
/// Rows of key names under a bar.
const LINES: usize = 3;
const LINE: f32 = 14.0;
const BAR: f32 = 22.0;
/// Height of the upper part of the bar, where markers are dragged. Below it the playhead is.
const HANDLES: f32 = 10.0;

impl Tab for TimelineTab {
    fn show(&mut self, ui: &mut Ui, context: &mut TabContext) {
        let TabContext {
            item,
            character,
            log,
            now,
            commands,
            ..
        } = context;
        show(ui, self, character, item, (*log, *now), commands);
    }
}

fn show(
    ui: &mut Ui,
    state: &mut TimelineTab,
    character: &Character,
    item: &mut InspectedItem,
    (log, now): (&EventLog, f64),
    commands: &mut Commands,
) {
    ui.horizontal(|ui| {
        tracks::transport(ui, item, commands);
        ui.checkbox(&mut state.fire, "scrub fires callbacks");
    });
    let controller = &mut item.controller;
    if controller.tracks().next().is_none() {
        ui.weak("No tracks. Start a clip in the Tracks tab.");
    }
    let mut edited = None;
    egui::ScrollArea::vertical()
        .id_salt("bars")
        .max_height(ui.available_height() * 0.55)
        .follow(ui, |ui| {
            tracks::edit_tracks(controller, |track| {
                let timing = character
                    .index_of(track.clip())
                    .and_then(|clip| character.timing(clip));
                ui.push_id(track.id(), |ui| {
                    match (timing, character.bound_space(track.clip())) {
                        (Some(timing), _) => {
                            // Only one key can be edited, so at most one track returns a timing.
                            edited = one_track(ui, state, track, timing, log, now).or(edited.take())
                        }
                        (None, Some(space)) => {
                            one_space(ui, state.fire, track, space, character, log, now)
                        }
                        (None, None) => {
                            ui.weak(format!(
                                "track {}: no clip or blend space `{}`",
                                track.id().0,
                                track.clip()
                            ));
                        }
                    }
                });
                ui.add_space(2.0);
            });
        });
    if let Some(clip) = state.save.take() {
        callback_edit::save_keys(commands, item.handle.id(), &clip);
    }
    // Applied after the loop, because the bars are drawn from the asset that it changes.
    if let Some(timing) = edited {
        callback_edit::apply(commands, item.handle.id(), timing);
    }
    ui.separator();
    show_log(ui, log, now);
}

/// Shows a track, its bar and the key being edited; returns the clip's timing if a key changed.
fn one_track(
    ui: &mut Ui,
    state: &mut TimelineTab,
    track: &mut AnimationTrack,
    timing: &ClipTiming,
    log: &EventLog,
    now: f64,
) -> Option<ClipTiming> {
    // The keys are edited in a copy, and the asset is only touched if they differ in the end.
    let mut changed = timing.clone();
    ui.horizontal(|ui| {
        let name = RichText::new(widgets::shortened(&timing.name, 18)).strong();
        let name = if track.enabled { name } else { name.weak() };
        let name = ui.add(egui::Label::new(name).extend());
        name.on_hover_text(format!("{}, track {}", timing.name, track.id().0));
        ui.weak(format!(
            "{:.3} of {:.3} s",
            track.position(),
            timing.duration
        ));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let copy = ui.add_enabled(!timing.callbacks.is_empty(), egui::Button::new("Copy keys"));
            if copy
                .on_hover_text("Copy as lines for this clip in the manifest")
                .clicked()
            {
                ui.copy_text(callbacks_ron(timing));
            }
            let save = ui.button("Save keys");
            if save
                .on_hover_text("Write the keys of this clip to the manifest's file")
                .clicked()
            {
                state.save = Some(timing.name.clone());
            }
            if ui
                .button("Add key")
                .on_hover_text("Add a callback key at the playhead")
                .clicked()
            {
                state.edit = KeyEdit::add(track.id(), &mut changed, track.position());
            }
        });
    });
    let bar = Bar::place(ui, timing);
    let selected = state
        .edit
        .as_ref()
        .filter(|edit| edit.is_of(track.id(), timing))
        .map(|edit| edit.index);
    // The log has no indices of keys, which change with edits. Name and time tell keys apart.
    let fired = |key: usize| {
        let key = &timing.callbacks[key];
        log.last_fired(track.id(), &timing.name, &key.name, key.time)
    };
    bar.paint(ui, selected, track.position(), timing, fired, now);
    if let Some(to) = bar.respond(ui, state, track, timing, &mut changed) {
        tracks::move_to(track, to, state.fire);
    }
    if let Some(edit) = state
        .edit
        .as_mut()
        .filter(|edit| edit.is_of(track.id(), &changed))
        && !edit.show(ui, &mut changed)
    {
        state.edit = None;
    }
    (changed != *timing).then_some(changed)
}

/// Shows a track that plays a blend space: a bar of one cycle, with the keys of all clips that have a weight.
fn one_space(
    ui: &mut Ui,
    fire: bool,
    track: &mut AnimationTrack,
    space: &BoundBlendSpace,
    character: &Character,
    log: &EventLog,
    now: f64,
) {
    let weights: Vec<(&str, f64)> = space.weights(track.smoothed_parameters()).collect();
    ui.horizontal(|ui| {
        let name = RichText::new(widgets::shortened(space.name(), 18)).strong();
        let name =
            ui.add(egui::Label::new(if track.enabled { name } else { name.weak() }).extend());
        name.on_hover_text(format!("{}, track {}", space.name(), track.id().0));
        ui.weak(format!("phase {:.3}", track.position()));
        let clips: Vec<String> = weights
            .iter()
            .map(|(clip, weight)| format!("{clip} {:.0} %", weight * 100.0))
            .collect();
        ui.weak(clips.join(", "));
    });
    let clips = weights
        .iter()
        .filter_map(|(clip, _)| Some(&character.clip(clip)?.timing));
    let mut keys: Vec<(&ClipTiming, &CallbackKey, CallbackKey)> = clips
        .flat_map(|clip| {
            clip.callbacks
                .iter()
                .filter_map(move |key| Some((clip, key, by_phase(space, clip, key)?)))
        })
        .collect();
    // A bar places names from left to right.
    keys.sort_by(|(.., a), (.., b)| a.time.total_cmp(&b.time));
    // Bars draw clips, so the space becomes a clip of one cycle with all keys.
    let mut timing = ClipTiming::new(space.name().clone(), 1.0);
    timing.callbacks = keys.iter().map(|(.., key)| key.clone()).collect();
    let bar = Bar::place(ui, &timing);
    let fired = |key: usize| {
        let (clip, key, _) = keys[key];
        log.last_fired(track.id(), &clip.name, &key.name, key.time)
    };
    bar.paint(ui, None, track.position(), &timing, fired, now);
    // Keys are edited where their clip plays alone.
    let response = &bar.response;
    let to = match keyboard::arrows(ui, response) {
        Some([right, _]) => Some(track.position() + f64::from(right) * STEP),
        None => response
            .interact_pointer_pos()
            .map(|pointer| bar.time_at(pointer.x)),
    };
    if let Some(to) = to {
        tracks::move_to(track, to.clamp(0.0, 1.0), fire);
    }
}

/// A key of a clip in a blend space as one on the bar of the space, from phase 0 to 1.
fn by_phase(space: &BoundBlendSpace, clip: &ClipTiming, key: &CallbackKey) -> Option<CallbackKey> {
    let time = space.phase_of(&clip.name, key.time)?;
    // A range that goes on in the next cycle is drawn up to the end of this one.
    let until = key
        .until
        .and_then(|until| space.phase_of(&clip.name, until));
    let until = until.map(|until| if until < time { 1.0 } else { until });
    Some(CallbackKey {
        time,
        until,
        name: format!("{} ({})", key.name, clip.name).into(),
        data: key.data.clone(),
    })
}

/// Layout of a track's bar, with the markers and names of its keys.
struct Bar {
    response: egui::Response,
    /// The bar without the names under it.
    rect: Rect,
    duration: f64,
    marks: Vec<Mark>,
}

/// Position of a key.
struct Mark {
    x: f32,
    /// X of a range's end.
    end: Option<f32>,
    /// The place of its name, if there is room for it.
    name: Option<Rect>,
}

impl Bar {
    /// Allocates the bar, with as many rows below it as the key names need.
    fn place(ui: &mut Ui, timing: &ClipTiming) -> Self {
        // A marker at either end reaches beyond the bar.
        let width = ui.available_width() - 8.0;
        let fraction = |time: f64| {
            if timing.duration > 0.0 {
                (time / timing.duration) as f32
            } else {
                0.0
            }
        };
        let mut rows = NameRows::default();
        let placed: Vec<_> = timing
            .callbacks
            .iter()
            .map(|key| {
                let size = ui
                    .painter()
                    .layout_no_wrap(key.name.to_string(), font(), Color32::WHITE)
                    .size();
                let x = fraction(key.time) * width;
                // Near the end, a name moves left, so that it isn't cut off.
                let left = x.min(width - size.x).max(0.0);
                let row = rows.place(left, size.x);
                let name = row.map(|row| {
                    Rect::from_min_size(pos2(left, BAR + 2.0 + LINE * row as f32), size)
                });
                Mark {
                    x,
                    end: key.until.map(|until| fraction(until) * width),
                    name,
                }
            })
            .collect();
        let height = BAR + LINE * rows.used() as f32 + 4.0;
        let (area, response) =
            ui.allocate_exact_size(vec2(width + 8.0, height), egui::Sense::click_and_drag());
        // The markers were laid out before the place of the bar was known.
        let from = area.min.to_vec2() + vec2(4.0, 0.0);
        let moved = |Mark { x, end, name }| Mark {
            x: x + from.x,
            end: end.map(|end| end + from.x),
            name: name.map(|name| name.translate(from)),
        };
        let marks = placed.into_iter().map(moved).collect();
        let rect = Rect::from_min_size(area.min + vec2(4.0, 0.0), vec2(width, BAR));
        Self {
            response,
            rect,
            duration: timing.duration,
            marks,
        }
    }

    fn x_of(&self, time: f64) -> f32 {
        let fraction = if self.duration > 0.0 {
            (time / self.duration) as f32
        } else {
            0.0
        };
        self.rect.left() + fraction * self.rect.width()
    }

    fn time_at(&self, x: f32) -> f64 {
        f64::from(((x - self.rect.left()) / self.rect.width()).clamp(0.0, 1.0)) * self.duration
    }

    /// Returns the key whose marker or name is at a point, and which of its ends; the nearest of several.
    fn key_at(&self, at: Pos2) -> Option<(usize, Edge)> {
        let is_on = |mark: &Mark| mark.name.is_some_and(|name| name.contains(at));
        let on_name = self
            .marks
            .iter()
            .position(is_on)
            .map(|key| (key, Edge::Begin));
        let begins = self
            .marks
            .iter()
            .enumerate()
            .map(|(key, mark)| (key, Edge::Begin, mark.x));
        let ends = self
            .marks
            .iter()
            .enumerate()
            .filter_map(|(key, mark)| Some((key, Edge::End, mark.end?)));
        let near = begins
            .chain(ends)
            .map(|(key, edge, x)| (key, edge, (x - at.x).abs()));
        // The lower part of the bar belongs to the playhead, even where a marker is.
        let near = near.filter(|&(_, _, off)| off < 6.0 && at.y < self.rect.top() + HANDLES);
        near.min_by(|a, b| a.2.total_cmp(&b.2))
            .map(|(key, edge, _)| (key, edge))
            .or(on_name)
    }

    fn paint(
        &self,
        ui: &Ui,
        selected: Option<usize>,
        position: f64,
        timing: &ClipTiming,
        fired: impl Fn(usize) -> Option<f64>,
        now: f64,
    ) {
        let painter = ui.painter().with_clip_rect(self.response.rect);
        let visuals = ui.visuals();
        painter.rect_filled(self.rect, 3.0, bar_background(visuals));
        let at = self.x_of(position);
        let played = Rect::from_min_max(self.rect.min, pos2(at, self.rect.bottom()));
        painter.rect_filled(
            played,
            3.0,
            visuals.widgets.inactive.bg_fill.gamma_multiply(0.6),
        );
        for (index, (key, &Mark { x, end, name })) in
            timing.callbacks.iter().zip(&self.marks).enumerate()
        {
            let glow = fired(index).map_or(0.0, |seen| 1.0 - ((now - seen) / FLASH).clamp(0.0, 1.0))
                as f32;
            // The glow fades over several frames, which egui wouldn't draw by itself.
            if glow > 0.0 {
                ui.ctx().request_repaint();
            }
            let plain = if selected == Some(index) {
                visuals.selection.bg_fill
            } else {
                visuals.text_color()
            };
            let color = plain.lerp_to_gamma(accent(visuals), glow);
            if let (Some(end), Some(until)) = (end, key.until) {
                let is_inside = (key.time..=until).contains(&position);
                let band = Rect::from_min_max(
                    pos2(x, self.rect.top() + HANDLES),
                    pos2(end, self.rect.bottom()),
                );
                painter.rect_filled(
                    band,
                    0.0,
                    accent(visuals).gamma_multiply(if is_inside { 0.6 } else { 0.25 }),
                );
                painter.vline(end, self.rect.y_range(), Stroke::new(1.5, color));
                let (top, side) = (self.rect.top(), 4.5);
                let handle = vec![
                    pos2(end, top),
                    pos2(end, top + HANDLES),
                    pos2(end - side, top),
                ];
                painter.add(Shape::convex_polygon(handle, color, Stroke::NONE));
            }
            painter.vline(x, self.rect.y_range(), Stroke::new(1.5 + 2.0 * glow, color));
            let (side, top) = (4.5 + 2.0 * glow, self.rect.top());
            // A pentagon, to be told from the flag at a range's end.
            let handle = [
                pos2(x - side, top),
                pos2(x + side, top),
                pos2(x + side, top + 4.0),
                pos2(x, top + HANDLES),
            ];
            let handle = [&handle[..], &[pos2(x - side, top + 4.0)]].concat();
            painter.add(Shape::convex_polygon(handle, color, Stroke::NONE));
            if let Some(name) = name {
                if selected == Some(index) {
                    painter.rect_filled(
                        name.expand2(vec2(3.0, 0.0)),
                        3.0,
                        visuals.selection.bg_fill,
                    );
                }
                let plain = if selected == Some(index) {
                    visuals.selection.stroke.color
                } else {
                    visuals.weak_text_color()
                };
                let color = plain.lerp_to_gamma(accent(visuals), glow);
                painter.text(name.min, Align2::LEFT_TOP, &*key.name, font(), color);
            }
        }
        painter.vline(
            at,
            self.rect.y_range(),
            Stroke::new(2.0, visuals.strong_text_color()),
        );
    }

    /// Lets the pointer select and drag keys; returns the time if it moves the playhead.
    fn respond(
        &self,
        ui: &Ui,
        state: &mut TimelineTab,
        track: &AnimationTrack,
        timing: &ClipTiming,
        changed: &mut ClipTiming,
    ) -> Option<f64> {
        let response = &self.response;
        if let Some(by) = keyboard::arrows(ui, response) {
            return self.step(state, track, timing, changed, by);
        }
        let hovered = response.hover_pos().and_then(|at| self.key_at(at));
        if hovered.is_some() {
            ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal);
        }
        if let Some(key) = hovered.and_then(|(key, _)| timing.callbacks.get(key))
            && !response.dragged()
        {
            let text = match key.until {
                None => format!("{}  at {:.3} s", key.name, key.time),
                Some(until) => format!("{}  from {:.3} to {until:.3} s", key.name, key.time),
            };
            response.clone().on_hover_text(text);
        }
        // Where the button went down, because a drag is only recognized after the pointer has moved.
        let pressed = if response.drag_started() || response.clicked() {
            ui.input(|input| input.pointer.press_origin())
                .or(response.interact_pointer_pos())
        } else {
            None
        };
        if let Some(at) = pressed {
            let selected = state
                .edit
                .as_mut()
                .filter(|edit| edit.is_of(track.id(), timing));
            match (self.key_at(at), selected) {
                // Clicking the selected key deselects it.
                (Some((key, _)), Some(edit)) if edit.index == key && response.clicked() => {
                    state.edit = None
                }
                (Some((key, edge)), Some(edit)) if edit.index == key => edit.dragged = Some(edge),
                (Some((key, edge)), _) => {
                    state.edit = KeyEdit::new(track.id(), timing, key);
                    if let Some(edit) = &mut state.edit {
                        edit.dragged = response.drag_started().then_some(edge);
                    }
                }
                (None, Some(edit)) => edit.dragged = None,
                (None, None) => {}
            }
            // A press on a key leaves the playhead where it is.
            if self.key_at(at).is_some() {
                return None;
            }
        }
        let pointer = response
            .interact_pointer_pos()
            .filter(|_| response.dragged() || response.clicked())?;
        let to = self.time_at(pointer.x);
        let edit = state
            .edit
            .as_mut()
            .filter(|edit| edit.is_of(track.id(), timing));
        let Some((edit, edge)) = edit.and_then(|edit| edit.dragged.map(|edge| (edit, edge))) else {
            return Some(to);
        };
        edit.move_to(changed, edge, to);
        None
    }
}

impl Bar {
    /// Lets the arrow keys move the playhead, or the selected key: up and down select one. Returns the time if it is the playhead.
    fn step(
        &self,
        state: &mut TimelineTab,
        track: &AnimationTrack,
        timing: &ClipTiming,
        changed: &mut ClipTiming,
        [right, down]: [i32; 2],
    ) -> Option<f64> {
        let edit = state
            .edit
            .as_mut()
            .filter(|edit| edit.is_of(track.id(), timing));
        if down != 0 {
            let count = timing.callbacks.len();
            let next = match edit {
                Some(edit) => edit.index.checked_add_signed(down as isize),
                None => Some(if down > 0 { 0 } else { count.saturating_sub(1) }),
            };
            state.edit = next.and_then(|key| KeyEdit::new(track.id(), timing, key));
            return None;
        }
        let by = f64::from(right) * STEP;
        match edit {
            Some(edit) => {
                edit.move_to(
                    changed,
                    Edge::Begin,
                    (timing.callbacks[edit.index].time + by).clamp(0.0, self.duration),
                );
                None
            }
            None => Some((timing.periodic(track.position()) + by).clamp(0.0, self.duration)),
        }
    }
}

fn font() -> FontId {
    FontId::proportional(12.0)
}

/// Assigns key names to rows so that they don't overlap.
#[derive(Default)]
struct NameRows {
    ends: [f32; LINES],
    used: usize,
}

impl NameRows {
    /// Returns the first row with room for a name, or `None`. Call it with names from left to right.
    fn place(&mut self, left: f32, width: f32) -> Option<usize> {
        let free = |row: &usize| *row >= self.used || self.ends[*row] + 6.0 <= left;
        // Rows beyond those in use are free, so names move to a new row only where they have to.
        let row = (0..LINES).find(free)?;
        self.ends[row] = left + width;
        self.used = self.used.max(row + 1);
        Some(row)
    }

    fn used(&self) -> usize {
        self.used
    }
}

fn show_log(ui: &mut Ui, log: &EventLog, now: f64) {
    ui.horizontal(|ui| {
        ui.strong("Events");
        ui.weak(if log.entries.is_empty() {
            "none yet".into()
        } else {
            format!("last {}", log.entries.len())
        });
    });
    let height = ui.text_style_height(&egui::TextStyle::Monospace) + 2.0;
    egui::ScrollArea::vertical()
        .id_salt("log")
        .auto_shrink([false, false])
        .show_rows(ui, height, log.entries.len(), |ui, range| {
            for entry in log.entries.range(range) {
                let (what, data) = match &entry.kind {
                    Kind::Callback {
                        name,
                        kind,
                        at,
                        data,
                    } => (
                        format!("{}  at {at:.3} s", kind.describe(name)),
                        data.as_str(),
                    ),
                    Kind::Started => ("started".into(), ""),
                    Kind::Looped => ("looped".into(), ""),
                    Kind::Finished => ("finished".into(), ""),
                    Kind::Faded => ("cross-fade finished".into(), ""),
                    Kind::State { layer, from } => {
                        let layer = layer.as_ref().map(|layer| format!(" on {layer}"));
                        let from = from.as_ref().map(|from| format!(" from {from}"));
                        let [layer, from] = [layer, from].map(Option::unwrap_or_default);
                        (format!("state entered{layer}{from}"), "")
                    }
                };
                let fresh = now - entry.seen < FLASH;
                ui.horizontal(|ui| {
                    ui.label(
                        RichText::new(format!("{:>9.3}", entry.time))
                            .monospace()
                            .weak(),
                    );
                    ui.label(RichText::new(format!("{}:", entry.clip)).weak());
                    let what = RichText::new(what);
                    let is_callback = matches!(entry.kind, Kind::Callback { .. });
                    ui.label(if fresh && is_callback {
                        what.color(accent(ui.visuals()))
                    } else {
                        what
                    });
                    ui.label(RichText::new(data).weak().monospace());
                });
            }
        });
}

#[cfg(test)]
#[path = "tests/timeline.rs"]
mod tests;
