//! The states that a character was in lately.

use super::super::{
    event_log::{EventLog, Kind},
    style::bar_background,
    widgets::shortened,
};
use crate::{
    asset::Character,
    controller::{AnimationName, PlaybackEvent},
    record::{Frames, Replay, Tape},
};
use bevy_egui::egui::{Align2, FontId, Rect, RichText, Sense, Stroke, StrokeKind, Ui, pos2, vec2};

/// Length of the history that the tab shows, in seconds.
pub(super) const SECONDS: f64 = 10.0;
/// Lines of the list.
const LINES: usize = 8;

/// A state that was entered.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entered {
    pub(super) layer: Option<AnimationName>,
    pub(super) state: AnimationName,
    pub(super) from: Option<AnimationName>,
    /// On the controller's clock.
    pub(super) time: f64,
}

/// Returns the states entered before `now`, newest first, as far as the log goes back.
pub(super) fn logged(log: &EventLog, now: f64) -> Vec<Entered> {
    let mut entered: Vec<Entered> = Vec::new();
    for entry in &log.entries {
        let Kind::State { layer, from } = &entry.kind else {
            continue;
        };
        // After a rewind, the log still has what came to nothing.
        let after = entered.last().map_or(now, |last| last.time);
        if entry.time <= after {
            entered.push(Entered {
                layer: layer.clone(),
                state: entry.clip.clone(),
                from: from.clone(),
                time: entry.time,
            });
        }
    }
    entered
}

/// Returns the states entered in the last seconds before a frame of the past, newest first.
pub(super) fn recorded(
    tape: &Tape,
    frames: &Frames,
    frame: u64,
    character: &Character,
) -> Vec<Entered> {
    let begin = frames
        .time(frame)
        .and_then(|time| frames.at(time - SECONDS))
        .map(|begin| begin.max(tape.range(frames).start));
    let Some(mut replay) = begin.and_then(|begin| Replay::to(tape, frames, begin)) else {
        return Vec::new();
    };
    let mut events = Vec::new();
    while replay.frame() <= frame && replay.play_frame(character, &mut events) {}
    let entered = events.into_iter().filter_map(|event| match event {
        PlaybackEvent::StateEntered {
            layer,
            state,
            from,
            time,
        } => Some(Entered {
            layer,
            state,
            from,
            time,
        }),
        _ => None,
    });
    let mut entered: Vec<_> = entered.collect();
    entered.reverse();
    entered
}

/// Shows the states of a layer as a strip that ends now.
pub(super) fn strip(ui: &mut Ui, layer: &str, state: &str, entered: &[Entered], now: f64) {
    let size = vec2(ui.available_width(), 22.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let x = |time: f64| {
        let share = ((time - now) / SECONDS + 1.0).clamp(0.0, 1.0);
        rect.left() + rect.width() * share as f32
    };
    let visuals = ui.visuals();
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 3.0, bar_background(visuals));
    let (mut name, mut end, mut hovered) = (Some(state.to_owned()), now, None);
    let mut segment = |name: &str, begin: f64, end: f64| {
        let part = Rect::from_x_y_ranges(x(begin)..=x(end), rect.y_range()).shrink2(vec2(0.5, 2.0));
        if part.width() <= 0.0 {
            return;
        }
        let is_now = end >= now;
        let fill = if is_now {
            visuals.selection.bg_fill
        } else {
            visuals.widgets.inactive.bg_fill
        };
        painter.rect(
            part,
            2.0,
            fill,
            Stroke::new(1.0, visuals.widgets.noninteractive.bg_stroke.color),
            StrokeKind::Inside,
        );
        let letters = (part.width() / 7.0) as usize;
        if letters >= 3 {
            let color = if is_now {
                visuals.strong_text_color()
            } else {
                visuals.text_color()
            };
            ui.painter_at(part).text(
                part.center(),
                Align2::CENTER_CENTER,
                shortened(name, letters),
                FontId::proportional(11.0),
                color,
            );
        }
        if response
            .hover_pos()
            .is_some_and(|at| part.x_range().contains(at.x))
        {
            hovered = Some(format!("{name}, {:.2} s", end - begin));
        }
    };
    for entered in entered
        .iter()
        .filter(|entered| entered.layer.as_deref().unwrap_or_default() == layer)
    {
        segment(&entered.state, entered.time, end);
        end = entered.time;
        name = entered.from.as_deref().map(str::to_owned);
        if end < now - SECONDS {
            break;
        }
    }
    if let Some(name) = name.filter(|_| end > now - SECONDS) {
        segment(&name, now - SECONDS, end);
    }
    let ticks = (1..SECONDS as usize).map(|tick| x(now - tick as f64));
    for tick in ticks {
        let color = visuals.weak_text_color().gamma_multiply(0.4);
        painter.line_segment(
            [pos2(tick, rect.bottom() - 3.0), pos2(tick, rect.bottom())],
            Stroke::new(1.0, color),
        );
    }
    if let Some(hovered) = hovered {
        response.on_hover_text(hovered);
    }
}

/// Lists what was entered last, newest first.
pub(super) fn list(ui: &mut Ui, entered: &[Entered], now: f64) {
    let recent = entered
        .iter()
        .take_while(|entered| entered.time > now - SECONDS);
    let mut is_empty = true;
    for entered in recent.take(LINES) {
        is_empty = false;
        ui.horizontal(|ui| {
            let time = format!("{:>9.3}", entered.time);
            ui.label(RichText::new(time).monospace().weak());
            if let Some(layer) = &entered.layer {
                ui.label(RichText::new(format!("{layer}:")).weak());
            }
            ui.label(&*entered.state);
            if let Some(from) = &entered.from {
                ui.label(RichText::new(format!("from {from}")).weak());
            }
        });
    }
    if is_empty {
        ui.weak("No state was entered.");
    }
}
