//! The Rewind tab: going back in time, and what played as curves over it.

use super::{
    folds::Folds,
    inspected::InspectedItem,
    keyboard::FollowFocus,
    style::{ACCENT, AXES, accent},
    tab::{Tab, TabContext},
    widgets,
};
use crate::{
    asset::Character,
    controller::PlaybackEvent,
    model::JointIndex,
    recorder::{CurveRow, Curves, Recorded, Recording},
};
use bevy::prelude::Query;
use bevy_egui::egui::{self, Color32, Label, Rangef, RichText, Sense, Ui};
use egui_plot::{
    AxisHints, GridInput, HoverPosition, Line, MarkerShape, Plot, PlotPoints, PlotResponse, PlotUi,
    Points, VLine, uniform_grid_spacer,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

#[derive(Default)]
pub(super) struct RewindTab {
    curves: Curves,
    /// Text that shown events contain.
    pub(super) filter: String,
    /// The seconds of the last time that are shown; all of them if `None`.
    pub(super) seconds: Option<f64>,
    /// The plots and names of the curves that are hidden by their legends.
    pub(super) hidden: BTreeSet<(String, String)>,
}

/// Frames that curves catch up with at a time.
const FRAMES_AT_ONCE: u64 = 600;
/// Marks that are drawn at most.
const MOST_MARKS: usize = 2000;
/// Morph targets whose weights are drawn at most.
const MOST_MORPHS: usize = 8;
/// The heights of the plots.
const MARKS: f32 = 52.0;
const CURVES: f32 = 96.0;
/// The width of the numbers beside them.
const AXIS_WIDTH: f32 = 30.0;

impl Tab for RewindTab {
    fn show(&mut self, ui: &mut Ui, context: &mut TabContext) {
        let TabContext {
            item,
            character,
            recording,
            recorded,
            folds,
            joint,
            ghosts,
            ..
        } = context;
        let recording = recording.as_mut().map(|recording| &mut ***recording);
        show(
            ui, self, folds, *joint, ghosts, character, item, recording, recorded,
        );
    }
}

fn show(
    ui: &mut Ui,
    state: &mut RewindTab,
    folds: &mut Folds,
    joint: Option<JointIndex>,
    ghosts: &mut bool,
    character: &Character,
    item: &InspectedItem,
    recording: Option<&mut Recording>,
    recorded: &Query<&Recorded>,
) {
    let Some(recording) = recording else {
        ui.weak("Nothing is recorded.");
        ui.weak("Add `RecorderPlugin` beside `MarionettePlugins`.");
        return;
    };
    let range = recording.frames();
    if range.is_empty() {
        ui.weak("Nothing has been recorded yet.");
        return;
    }
    transport(ui, recording, ghosts, &range);
    let Ok(recorded) = recorded.get(item.entity) else {
        return;
    };
    // Long recordings are caught up with over several frames, so that opening the tab doesn't stall the
    // app.
    if state.curves.follow(
        (item.entity, recorded),
        recording.frame_list(),
        character,
        joint,
        FRAMES_AT_ONCE,
    ) {
        // Without input, egui wouldn't draw again, and the curves would stop half-way.
        ui.ctx().request_repaint();
    }
    ui.horizontal(|ui| {
        ui.weak("show")
            .on_hover_text("How much of what was recorded the plots show");
        for (title, seconds) in [("5 s", Some(5.0)), ("30 s", Some(30.0)), ("all", None)] {
            ui.selectable_value(&mut state.seconds, seconds, title);
        }
        ui.add(
            egui::TextEdit::singleline(&mut state.filter)
                .hint_text("filter events")
                .desired_width(f32::INFINITY),
        );
    });
    let last = recording.time_of(range.end - 1).unwrap_or_default();
    let first = recording.time_of(range.start).unwrap_or_default();
    let shown = recording.shown().and_then(|frame| recording.time_of(frame));
    let begin = match state.seconds {
        // The shown frame stays in view.
        Some(seconds) => (last - seconds)
            .max(first)
            .min(shown.map_or(last, |shown| shown - seconds * 0.1)),
        None => first,
    };
    let axis = TimeAxis {
        begin,
        end: (begin + state.seconds.unwrap_or(last - begin))
            .min(last)
            .max(begin + 0.1),
        shown,
    };
    let marks = marks(state, character, &axis);
    let RewindTab { curves, hidden, .. } = state;
    let rows = || {
        curves
            .rows()
            .filter(|row| (axis.begin..=axis.end).contains(&row.time))
    };
    egui::ScrollArea::vertical()
        .id_salt("curves")
        .auto_shrink([false, false])
        .follow(ui, |ui| {
            let mut to = None;
            // The pointer is over one plot at most.
            let jump = |to: &mut Option<f64>, response: Option<f64>| *to = response.or(*to);
            jump(&mut to, show_marks(ui, &axis, &marks));
            jump(
                &mut to,
                show_curves(ui, folds, &axis, ["weights"; 2], weights(rows()), hidden),
            );
            jump(
                &mut to,
                show_curves(
                    ui,
                    folds,
                    &axis,
                    ["parameters"; 2],
                    parameters(rows()),
                    hidden,
                ),
            );
            jump(
                &mut to,
                show_curves(ui, folds, &axis, ["root speed"; 2], speed(rows()), hidden),
            );
            let morphs = morphs(rows(), character.skeleton.morphs().names());
            jump(
                &mut to,
                show_curves(ui, folds, &axis, ["morph weights"; 2], morphs, hidden),
            );
            if let Some(joint) =
                joint.filter(|&joint| usize::from(joint) < character.skeleton.len())
            {
                let title = format!(
                    "{}, degrees",
                    character.skeleton.names()[usize::from(joint)]
                );
                jump(
                    &mut to,
                    show_curves(ui, folds, &axis, ["joint", &title], angles(rows()), hidden),
                );
            } else {
                ui.weak("Select a joint in the Joints tab to see its angles.");
            }
            // Plots are drawn over time, in which frames aren't evenly spaced.
            if let Some(frame) = to.and_then(|time| recording.frame_at(time)) {
                recording.show(frame);
            }
            ui.add_space(4.0);
            list(ui, &marks, recording);
        });
}

/// Shows the buttons and the slider.
fn transport(ui: &mut Ui, recording: &mut Recording, ghosts: &mut bool, range: &Range<u64>) {
    let (shown, last) = (recording.shown(), range.end - 1);
    let at = shown.unwrap_or(last);
    let time = |frame: u64| recording.time_of(frame).unwrap_or_default();
    let (ago, length) = (time(last) - time(at), time(last) - time(range.start));
    let mut to = None;
    ui.horizontal(|ui| {
        if shown.is_none() {
            if ui
                .button("Stop here")
                .on_hover_text("Stops time, to look at the past")
                .clicked()
            {
                to = Some(last);
            }
        } else {
            if ui
                .button("Back to the present")
                .on_hover_text("Everything goes on as if nothing had been shown")
                .clicked()
            {
                recording.show_present();
            }
            let hint =
                "Drops what came after, and plays on. The rest of the game is not turned back.";
            if ui.button("Continue here").on_hover_text(hint).clicked() {
                recording.continue_here();
            }
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let kilobytes = recording.bytes_used() as f64 / 1024.0;
            let size = if kilobytes < 1000.0 {
                format!("{kilobytes:.0} kB")
            } else {
                format!("{:.1} MB", kilobytes / 1024.0)
            };
            ui.weak(format!("{length:.0} s, {size}"))
                .on_hover_text("What is kept of all characters");
        });
    });
    ui.horizontal(|ui| {
        for (title, frames, hint) in [
            ("⏪", -10_i64, "10 frames back"),
            ("◀", -1, "One frame back (left arrow on the slider)"),
        ] {
            if ui.button(title).on_hover_text(hint).clicked() {
                to = Some(at.saturating_add_signed(frames));
            }
        }
        for (title, frames, hint) in [
            ("▶", 1, "One frame ahead (right arrow on the slider)"),
            ("⏩", 10, "10 frames ahead"),
        ] {
            if ui
                .add_enabled(at < last, egui::Button::new(title))
                .on_hover_text(hint)
                .clicked()
            {
                to = Some(at + frames);
            }
        }
        let label = if shown.is_some() {
            format!("{ago:.3} s ago")
        } else {
            "present".into()
        };
        let label = RichText::new(label).monospace();
        ui.add_sized(
            [110.0, 18.0],
            egui::Label::new(if shown.is_some() {
                label.color(ACCENT)
            } else {
                label
            }),
        );
        ui.weak(format!("frame {at}"));
        ui.checkbox(ghosts, "ghosts")
            .on_hover_text("Draws skeletons of the present while the past is shown");
    });
    let mut frame = at;
    // The slider takes the rest of the row. egui's default width would leave most of it empty.
    ui.spacing_mut().slider_width = ui.available_width() - 4.0;
    let slider = widgets::slider(&mut frame, range.start..=last)
        .show_value(false)
        .step_by(1.0);
    if ui.add_enabled(last > range.start, slider).changed() {
        to = Some(frame);
    }
    if let Some(frame) = to {
        recording.show(frame);
    }
}

/// The axis that all plots share.
struct TimeAxis {
    begin: f64,
    end: f64,
    /// The shown part of the past.
    shown: Option<f64>,
}

/// Something that happened.
struct Mark {
    frame: u64,
    time: f64,
    words: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Callback,
    Track,
    Trouble,
}

fn marks(state: &RewindTab, character: &Character, axis: &TimeAxis) -> Vec<Mark> {
    let filter = state.filter.trim().to_lowercase();
    let rows = state
        .curves
        .rows()
        .rev()
        .filter(|row| (axis.begin..=axis.end).contains(&row.time));
    let events = rows.flat_map(|row| row.events.iter().rev().map(move |event| (row, event)));
    // Described before they are filtered, because the filter searches the words that are shown.
    let mark = |(row, event): (&CurveRow, &PlaybackEvent)| {
        let (words, kind) = (event.describe(character), Kind::of(event));
        let is_shown = words.to_lowercase().contains(&filter);
        is_shown.then_some(Mark {
            frame: row.frame,
            time: row.time,
            words,
            kind,
        })
    };
    // The newest are kept, since the rows come newest first.
    let mut marks: Vec<Mark> = events.filter_map(mark).take(MOST_MARKS).collect();
    marks.reverse();
    marks
}

impl Kind {
    fn of(event: &PlaybackEvent) -> Self {
        match event {
            PlaybackEvent::Callback(_) => Self::Callback,
            PlaybackEvent::Started { .. }
            | PlaybackEvent::Looped { .. }
            | PlaybackEvent::Finished { .. }
            | PlaybackEvent::CrossFadeFinished { .. }
            | PlaybackEvent::StateEntered { .. } => Self::Track,
            _ => Self::Trouble,
        }
    }

    fn color(self, ui: &Ui) -> Color32 {
        match self {
            Self::Callback => accent(ui.visuals()),
            Self::Track => AXES[2],
            Self::Trouble => ui.visuals().error_fg_color,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Callback => "callbacks",
            Self::Track => "tracks",
            Self::Trouble => "warnings",
        }
    }
}

fn plot<'a>(axis: &TimeAxis, id: &str, height: f32) -> Plot<'a> {
    // The time axis is set by the buttons. Dragging goes to a frame, and scrolling belongs to the list
    // around the plots.
    Plot::new(id.to_owned())
        .height(height)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_drag(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .include_x(axis.begin)
        .include_x(axis.end)
        .set_margin_fraction(egui::vec2(0.0, 0.1))
        .y_axis_min_width(AXIS_WIDTH)
}

/// Shows the frame that is shown, and returns the time under the pointer while it is pressed.
fn finish(ui: &mut PlotUi, axis: &TimeAxis, color: Color32) -> Option<f64> {
    ui.set_plot_bounds_x(axis.begin..=axis.end);
    if let Some(shown) = axis.shown {
        ui.vline(
            VLine::new("", shown)
                .color(color)
                .width(1.5)
                .allow_hover(false),
        );
    }
    ui.pointer_coordinate().map(|point| point.x)
}

fn pressed(response: &PlotResponse<Option<f64>>) -> Option<f64> {
    let is_pressed = response.response.dragged() || response.response.clicked();
    response.inner.filter(|_| is_pressed)
}

/// Shows marks on the time axis, and returns the time to jump to.
fn show_marks(ui: &mut Ui, axis: &TimeAxis, marks: &[Mark]) -> Option<f64> {
    let color = ui.visuals().strong_text_color();
    let colors = [Kind::Callback, Kind::Track, Kind::Trouble].map(|kind| (kind, kind.color(ui)));
    let near = |time: f64| {
        marks
            .iter()
            .min_by(|a, b| (a.time - time).abs().total_cmp(&(b.time - time).abs()))
    };
    let reach = (axis.end - axis.begin) * 0.01;
    let words = |time: f64| near(time).filter(|mark| (mark.time - time).abs() < reach);
    let response = plot(axis, "marks", MARKS)
        .show_grid([true, false])
        .auto_bounds([false, false])
        .default_y_bounds(-0.7, 2.7)
        // Without numbers, and as wide as those of the curves.
        .y_axis_formatter(|_, _| String::new())
        .label_formatter(|at| {
            let (HoverPosition::NearDataPoint { position, .. }
            | HoverPosition::Elsewhere { position }) = at;
            let mark = words(position.x)?;
            Some(format!(
                "{}\n{:.3} s, frame {}",
                mark.words, mark.time, mark.frame
            ))
        })
        .show(ui, |ui| {
            for (row, (kind, color)) in colors.into_iter().rev().enumerate() {
                let points: Vec<_> = marks
                    .iter()
                    .filter(|mark| mark.kind == kind)
                    .map(|mark| [mark.time, row as f64])
                    .collect();
                let shape = if kind == Kind::Callback {
                    MarkerShape::Diamond
                } else {
                    MarkerShape::Circle
                };
                ui.points(
                    Points::new(kind.title(), points)
                        .color(color)
                        .radius(3.0)
                        .shape(shape),
                );
            }
            finish(ui, axis, color)
        });
    // A click near a mark goes to the mark.
    pressed(&response).map(|time| {
        words(time)
            .filter(|_| response.response.clicked())
            .map_or(time, |mark| mark.time)
    })
}

/// Shows named curves, and returns the time to jump to.
fn show_curves(
    ui: &mut Ui,
    folds: &mut Folds,
    axis: &TimeAxis,
    [name, title]: [&str; 2],
    curves: BTreeMap<String, Vec<[f64; 2]>>,
    hidden: &mut BTreeSet<(String, String)>,
) -> Option<f64> {
    if curves.is_empty() {
        return None;
    }
    let color = ui.visuals().strong_text_color();
    let mut to = None;
    folds.named_section(ui, name, title, true, |ui| {
        legend(ui, name, curves.keys(), hidden);
        let id = ui.make_persistent_id(("curves", name));
        let plot = plot(axis, title, CURVES)
            .id(id)
            .include_y(0.0)
            .auto_bounds([false, true]);
        // egui's own steps are powers of ten: too few for low plots.
        let steps = |grid: GridInput| {
            let step = round_step((grid.bounds.1 - grid.bounds.0) / 5.0);
            [0.2 * step, step, 10.0 * step]
        };
        let numbers = AxisHints::new_y()
            .min_thickness(AXIS_WIDTH)
            .label_spacing(Rangef::new(12.0, 16.0))
            // Rounded, since steps of 0.1 add up to numbers like 0.30000000000000004. Adding 0 turns −0
            // into 0.
            .formatter(|mark, _| ((mark.value * 1e6).round() / 1e6 + 0.0).to_string());
        let plot = plot
            .y_grid_spacer(uniform_grid_spacer(steps))
            .custom_y_axes(vec![numbers]);
        let response = plot.show(ui, |ui| {
            for (index, (curve, points)) in curves.into_iter().enumerate() {
                if !hidden.contains(&(name.to_owned(), curve.clone())) {
                    ui.line(
                        Line::new(curve, PlotPoints::from(points))
                            .color(line_color(index))
                            .width(1.5),
                    );
                }
            }
            finish(ui, axis, color)
        });
        to = pressed(&response);
    });
    to
}

/// Shows the names of curves in their colors. A click hides a curve or shows it again.
///
/// It is above the plot, because a plot of this height has no room for egui_plot's legend beside its curves.
fn legend<'a>(
    ui: &mut Ui,
    plot: &str,
    names: impl Iterator<Item = &'a String>,
    hidden: &mut BTreeSet<(String, String)>,
) {
    ui.horizontal_wrapped(|ui| {
        for (index, name) in names.enumerate() {
            let curve = (plot.to_owned(), name.clone());
            let text = if hidden.contains(&curve) {
                RichText::new(name).weak().strikethrough()
            } else {
                RichText::new(name).color(line_color(index))
            };
            let label = ui.add(Label::new(text).sense(Sense::click()));
            if label.on_hover_text("click: hide or show").clicked() && !hidden.remove(&curve) {
                hidden.insert(curve);
            }
        }
    });
}

/// Rounds up to 1, 2 or 5 times a power of ten.
fn round_step(step: f64) -> f64 {
    let power = 10.0_f64.powf(step.max(1e-9).log10().floor());
    let round = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|times| times * power >= step);
    round.unwrap_or(10.0) * power
}

/// Colors that can be told apart on dark and on light ground.
fn line_color(index: usize) -> Color32 {
    let [x, y, z] = AXES;
    let more = [
        ACCENT,
        Color32::from_rgb(170, 110, 220),
        Color32::from_rgb(60, 170, 180),
        Color32::from_gray(140),
    ];
    [z, more[0], y, x, more[1], more[2], more[3]][index % 7]
}

fn weights<'r>(rows: impl Iterator<Item = &'r CurveRow>) -> BTreeMap<String, Vec<[f64; 2]>> {
    let mut curves = BTreeMap::<String, Vec<[f64; 2]>>::new();
    for row in rows {
        for track in &row.tracks {
            let points = curves
                .entry(format!("{} {}", track.clip, track.id.0))
                .or_default();
            points.push([row.time, f64::from(track.weight)]);
        }
    }
    curves
}

fn parameters<'r>(rows: impl Iterator<Item = &'r CurveRow>) -> BTreeMap<String, Vec<[f64; 2]>> {
    let mut curves = BTreeMap::<String, Vec<[f64; 2]>>::new();
    for row in rows {
        let Some(point) = row.parameters else {
            continue;
        };
        for (name, value) in [("x", point.x), ("y", point.y)] {
            curves
                .entry(name.into())
                .or_default()
                .push([row.time, value]);
        }
    }
    // A space with one parameter leaves the other at 0.
    curves.retain(|_, points| points.iter().any(|point| point[1] != 0.0));
    curves
}

fn speed<'r>(rows: impl Iterator<Item = &'r CurveRow>) -> BTreeMap<String, Vec<[f64; 2]>> {
    let points: Vec<_> = rows.map(|row| [row.time, row.ground_speed]).collect();
    // A straight line at 0 would only take room.
    let moves = points.iter().any(|point| point[1] > 0.0);
    if moves {
        BTreeMap::from([("m/s".into(), points)])
    } else {
        BTreeMap::new()
    }
}

/// The weights of the morph targets that change the most.
fn morphs<'r>(
    rows: impl Iterator<Item = &'r CurveRow> + Clone,
    names: &[Arc<str>],
) -> BTreeMap<String, Vec<[f64; 2]>> {
    let mut ranges = vec![[f32::MAX, f32::MIN]; names.len()];
    for row in rows.clone() {
        for ([low, high], &weight) in ranges.iter_mut().zip(&row.morphs) {
            (*low, *high) = (low.min(weight), high.max(weight));
        }
    }
    let moved = |&at: &usize| ranges[at][1] - ranges[at][0];
    let mut shown: Vec<usize> = (0..names.len()).filter(|at| moved(at) > 0.0).collect();
    // Faces have dozens of targets, most of which don't move.
    shown.sort_by(|a, b| moved(b).total_cmp(&moved(a)));
    let curve = |&at: &usize| {
        let points = rows.clone().filter_map(|row| {
            let weight = row.morphs.get(at)?;
            Some([row.time, f64::from(*weight)])
        });
        (names[at].to_string(), points.collect())
    };
    shown.iter().take(MOST_MORPHS).map(curve).collect()
}

fn angles<'r>(rows: impl Iterator<Item = &'r CurveRow>) -> BTreeMap<String, Vec<[f64; 2]>> {
    let mut curves = BTreeMap::<String, Vec<[f64; 2]>>::new();
    for row in rows {
        let Some(joint) = row.joint else { continue };
        for (name, angle) in ["x", "y", "z"]
            .into_iter()
            .zip(widgets::degrees(joint.rotation))
        {
            curves
                .entry(name.into())
                .or_default()
                .push([row.time, f64::from(angle)]);
        }
    }
    curves
}

/// Lists what happened around the shown frame; a click shows its frame.
fn list(ui: &mut Ui, marks: &[Mark], recording: &mut Recording) {
    const LINES: usize = 12;
    // In the present, the list ends with the newest events.
    let now = recording.shown().unwrap_or(u64::MAX);
    let after = marks.partition_point(|mark| mark.frame <= now);
    // Two thirds of the lines are for events before the shown frame.
    let first = after
        .saturating_sub(LINES - LINES / 3)
        .min(marks.len().saturating_sub(LINES));
    for mark in marks.iter().skip(first).take(LINES) {
        let text = RichText::new(format!("{:>9.3} s  {}", mark.time, mark.words)).monospace();
        let color = mark.kind.color(ui);
        let is_now = mark.frame == now;
        let line = ui.selectable_label(
            is_now,
            if is_now {
                text.strong()
            } else {
                text.color(color)
            },
        );
        if line
            .on_hover_text(format!("Show frame {}", mark.frame))
            .clicked()
        {
            recording.show(mark.frame);
        }
    }
    if marks.is_empty() {
        ui.weak("No events.");
    }
}

#[cfg(test)]
#[path = "tests/rewind.rs"]
mod tests;
