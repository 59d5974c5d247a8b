//! Each track's clip as a bar with its callback keys, and what fired.

use super::{
    InspectedItem,
    log::{EventLog, Kind},
    numbers::ACCENT,
    tracks,
};
use crate::{
    asset::Character,
    controller::{Clips, Track},
    model::ClipTiming,
};
use bevy_egui::egui::{self, Align2, Color32, FontId, Rect, RichText, Stroke, Ui, pos2, vec2};

#[derive(Default)]
pub(super) struct TimelineState {
    /// Whether dragging the playhead fires the keys on the way.
    fire: bool,
}

/// Seconds for which a mark glows after it fired.
const FLASH: f64 = 0.45;
/// Lines of names under a bar.
const LINES: usize = 3;
const LINE: f32 = 13.0;
const BAR: f32 = 22.0;

pub(super) fn show(
    ui: &mut Ui,
    state: &mut TimelineState,
    character: &Character,
    item: &mut InspectedItem,
    log: &EventLog,
    now: f64,
) {
    let controller = &mut *item.controller;
    ui.horizontal(|ui| {
        let paused = controller.is_paused();
        if ui.button(if paused { "Play" } else { "Pause" }).clicked() {
            controller.set_paused(!paused);
        }
        ui.monospace(format!("{:>9.3} s", controller.time()));
        ui.checkbox(&mut state.fire, "scrubbing fires keys");
    });
    if controller.tracks().next().is_none() {
        ui.weak("Nothing plays. Choose a clip under Tracks.");
    }
    egui::ScrollArea::vertical().id_salt("bars").max_height(ui.available_height() * 0.55).show(ui, |ui| {
        for track in controller.tracks_mut() {
            let Some(timing) = character.index_of(track.clip()).and_then(|clip| character.timing(clip)) else {
                ui.weak(format!("track {}: no clip `{}`", track.id().0, track.clip()));
                continue;
            };
            ui.horizontal(|ui| {
                let name = RichText::new(&*timing.name).strong();
                ui.label(if track.enabled { name } else { name.weak() });
                ui.weak(format!("track {}", track.id().0));
                ui.weak(format!("{:.3} of {:.3} s", track.time(), timing.duration));
            });
            if let Some(to) = bar(ui, track, timing, log, now) {
                tracks::move_to(track, to, state.fire);
            }
            ui.add_space(2.0);
        }
    });
    ui.separator();
    show_log(ui, log, now);
}

/// The bar of one track; where it was dragged to.
fn bar(ui: &mut Ui, track: &Track, timing: &ClipTiming, log: &EventLog, now: f64) -> Option<f64> {
    let font = FontId::proportional(11.0);
    let width = ui.available_width() - 8.0;
    let mut names = NameRows::default();
    let fraction = |time: f64| if timing.duration > 0.0 { (time / timing.duration) as f32 } else { 0.0 };
    // Names are laid out before there is a place for them: the bar is as high as they need.
    let placed: Vec<_> = timing
        .callbacks
        .iter()
        .map(|key| {
            let size = ui.painter().layout_no_wrap(key.name.to_string(), font.clone(), Color32::WHITE).size();
            let x = fraction(key.time) * width;
            let left = x.min(width - size.x).max(0.0);
            (key, x, left, names.place(left, size.x))
        })
        .collect();
    let height = BAR + LINE * names.used() as f32 + 4.0;
    let (area, response) = ui.allocate_exact_size(vec2(width + 8.0, height), egui::Sense::click_and_drag());
    let painter = ui.painter().with_clip_rect(area);
    let left = area.left() + 4.0;
    let bar = Rect::from_min_size(pos2(left, area.top()), vec2(width, BAR));
    let visuals = ui.visuals();
    painter.rect_filled(bar, 3.0, visuals.extreme_bg_color);
    let at = left + fraction(track.time()) * width;
    let played = Rect::from_min_max(bar.min, pos2(at, bar.bottom()));
    painter.rect_filled(played, 3.0, visuals.widgets.inactive.bg_fill.gamma_multiply(0.6));
    for (key, x, name_left, row) in placed {
        let fired = log.last_fired(track.id(), &timing.name, &key.name, key.time);
        let glow = fired.map_or(0.0, |seen| 1.0 - ((now - seen) / FLASH).clamp(0.0, 1.0)) as f32;
        if glow > 0.0 {
            ui.ctx().request_repaint();
        }
        let color = visuals.text_color().lerp_to_gamma(ACCENT, glow);
        let x = left + x;
        painter.vline(x, bar.y_range(), Stroke::new(1.5 + 2.0 * glow, color));
        painter.circle_filled(pos2(x, bar.top() + 4.0), 3.0 + 2.5 * glow, color);
        if let Some(row) = row {
            let y = bar.bottom() + 2.0 + LINE * row as f32;
            let color = visuals.weak_text_color().lerp_to_gamma(ACCENT, glow);
            painter.text(pos2(left + name_left, y), Align2::LEFT_TOP, &*key.name, font.clone(), color);
        }
    }
    painter.vline(at, bar.y_range(), Stroke::new(2.0, visuals.strong_text_color()));
    let pointer = response.interact_pointer_pos().filter(|_| response.dragged() || response.clicked());
    let to = pointer.map(|pointer| f64::from(((pointer.x - left) / width).clamp(0.0, 1.0)) * timing.duration);
    if let Some(hover) = response.hover_pos() {
        let near = timing.callbacks.iter().filter(|key| (left + fraction(key.time) * width - hover.x).abs() < 5.0);
        let lines: Vec<_> = near.map(|key| format!("{}  at {:.3} s", key.name, key.time)).collect();
        if !lines.is_empty() {
            response.on_hover_text(lines.join("\n"));
        }
    }
    to
}

/// Rows of names that do not run into each other.
#[derive(Default)]
struct NameRows {
    ends: [f32; LINES],
    used: usize,
}

impl NameRows {
    /// The first row with room for a name; `None` where all are taken. Names come from left to right.
    fn place(&mut self, left: f32, width: f32) -> Option<usize> {
        let free = |row: &usize| *row >= self.used || self.ends[*row] + 6.0 <= left;
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
        ui.weak(if log.entries.is_empty() { "none yet".into() } else { format!("the last {}", log.entries.len()) });
    });
    let height = ui.text_style_height(&egui::TextStyle::Monospace) + 2.0;
    egui::ScrollArea::vertical().id_salt("log").auto_shrink([false, false]).show_rows(
        ui,
        height,
        log.entries.len(),
        |ui, range| {
            for entry in log.entries.range(range) {
                let (what, data) = match &entry.kind {
                    Kind::Callback { name, at, data } => (format!("{name}  at {at:.3} s"), data.as_str()),
                    Kind::Started => ("started".into(), ""),
                    Kind::Looped => ("looped".into(), ""),
                    Kind::Finished => ("finished".into(), ""),
                    Kind::Faded => ("cross-fade complete".into(), ""),
                };
                let fresh = now - entry.seen < FLASH;
                ui.horizontal(|ui| {
                    ui.label(RichText::new(format!("{:>9.3}", entry.time)).monospace().weak());
                    ui.label(RichText::new(format!("{}:", entry.clip)).weak());
                    let what = RichText::new(what);
                    let is_callback = matches!(entry.kind, Kind::Callback { .. });
                    ui.label(if fresh && is_callback { what.color(ACCENT) } else { what });
                    ui.label(RichText::new(data).weak().monospace());
                });
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_meet_go_to_the_next_row_and_the_last_ones_are_left_out() {
        let mut rows = NameRows::default();
        let placed = [(0.0, 40.0), (20.0, 40.0), (30.0, 40.0), (40.0, 40.0), (50.0, 40.0), (70.0, 40.0)]
            .map(|(left, width)| rows.place(left, width));
        assert_eq!(placed, [Some(0), Some(1), Some(2), None, Some(0), Some(1)]);
        assert_eq!(rows.used(), 3);
    }
}
