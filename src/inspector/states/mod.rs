//! The States tab: the machines of a character as graphs, where it is in them, and where it was lately.

mod history;
mod layout;

use super::{
    keyboard::FollowFocus,
    style::{ACCENT, AXES, accent, bar_background},
    tab::{Tab, TabContext},
    widgets::shortened,
};
use crate::{
    controller::{AnimationController, Go, StateView},
    model::{MachineLayer, MachineState, Opening, StateLayers, StateMachine, Successor},
};
use bevy::prelude::Entity;
use bevy_egui::egui::{
    self, Align2, Color32, FontId, Galley, Pos2, Rect, Response, RichText, Sense, Shape, Stroke,
    StrokeKind, Ui, Vec2, vec2,
};
use history::Entered;
use layout::{Arrow, Layout};
use std::sync::Arc;

/// The States tab.
#[derive(Default)]
pub(super) struct StatesTab {
    /// The machines, and how they are laid out.
    layouts: Option<(Arc<StateLayers>, Vec<Layout>)>,
    /// Result of the last click: the character, the message, and `true` if the state was refused.
    said: Option<(Entity, String, bool)>,
    /// States entered before a frame of the past, for one character and one frame.
    past: Option<(Entity, u64, Vec<Entered>)>,
}

/// Letters of a name in the graph.
const LETTERS: usize = 14;
const NAME: f32 = 13.0;
const NOTE: f32 = 9.5;

impl Tab for StatesTab {
    fn show(&mut self, ui: &mut Ui, context: &mut TabContext) {
        let Some(states) = context.item.controller.states().machines().cloned() else {
            ui.weak("This character has no states.");
            ui.weak("Add `states` to its manifest.");
            return;
        };
        egui::ScrollArea::vertical()
            .id_salt("states")
            .auto_shrink([false, false])
            .follow(ui, |ui| self.show_machines(ui, context, &states));
    }
}

impl StatesTab {
    fn show_machines(&mut self, ui: &mut Ui, context: &mut TabContext, states: &Arc<StateLayers>) {
        let entity = context.item.entity;
        let shown = context.recording.as_ref().and_then(|past| past.shown());
        if shown.is_some() {
            let text =
                "The past is shown. Go back to the present in the Rewind tab to change states.";
            ui.add(egui::Label::new(RichText::new(text).color(accent(ui.visuals()))).wrap());
        }
        // Carried out after the loop, so that all machines are drawn in the same state.
        let mut asked = None;
        for (at, layer) in states.layers().iter().enumerate() {
            let Some(view) = context.item.controller.state_view(at) else {
                continue;
            };
            if at > 0 {
                ui.separator();
            }
            title(ui, layer, &view, &context.item.controller);
            let layout = &self.layouts(states)[at];
            let clicked = graph(ui, layer, layout, &view, shown.is_none());
            asked = clicked.map(|to| (at, to)).or(asked);
        }
        if let Some((at, to)) = asked {
            let layer = &states.layers()[at];
            let (name, state) = (&layer.name, &layer.machine.states()[to].name);
            let answer = context.item.controller.go((name, state));
            let (words, is_refused) = match answer {
                Ok(Go::Entered) => (format!("{state}: entered"), false),
                Ok(Go::Waits) => (format!("{state}: as soon as possible"), false),
                Ok(Go::Stays) => (format!("{state}: already there"), false),
                Err(error) => (error.to_string(), true),
            };
            self.said = Some((entity, words, is_refused));
        }
        // A message about another character would be misread.
        let said = self.said.as_ref().filter(|(of, ..)| *of == entity);
        let (words, color) = match said {
            Some((_, words, true)) => (words.as_str(), ui.visuals().error_fg_color),
            Some((_, words, false)) => (words.as_str(), ui.visuals().text_color()),
            None => ("Click a state to go there.", ui.visuals().weak_text_color()),
        };
        ui.add(egui::Label::new(RichText::new(words).color(color)).wrap());
        ui.separator();
        ui.strong(format!("The last {} seconds", history::SECONDS));
        let now = context.item.controller.time();
        let entered = match shown {
            None => history::logged(context.log, now),
            Some(frame) => self.past(context, frame).to_vec(),
        };
        for (at, layer) in states.layers().iter().enumerate() {
            if let Some(view) = context.item.controller.state_view(at) {
                let state = &layer.machine.states()[view.state].name;
                history::strip(ui, &layer.name, state, &entered, now);
            }
        }
        history::list(ui, &entered, now);
    }

    fn layouts(&mut self, states: &Arc<StateLayers>) -> &[Layout] {
        if self
            .layouts
            .as_ref()
            .is_none_or(|(of, _)| !Arc::ptr_eq(of, states))
        {
            let layouts = states.layers().iter();
            let layouts = layouts.map(|layer| Layout::of(&layer.machine)).collect();
            self.layouts = Some((states.clone(), layouts));
        }
        self.layouts.as_ref().map_or(&[], |(_, layouts)| layouts)
    }

    /// Returns the states entered before a frame of the past. They are looked up once per frame that is shown.
    fn past(&mut self, context: &TabContext, frame: u64) -> &[Entered] {
        let entity = context.item.entity;
        let is_known = |(of, at, _): &(Entity, u64, _)| (*of, *at) == (entity, frame);
        if !self.past.as_ref().is_some_and(is_known) {
            let entered = context
                .recorded
                .get(entity)
                .ok()
                .zip(context.recording.as_ref())
                .map(|(recorded, recording)| {
                    let frames = recording.frame_list();
                    history::recorded(recorded.tape(), frames, frame, context.character)
                });
            self.past = Some((entity, frame, entered.unwrap_or_default()));
        }
        self.past.as_ref().map_or(&[], |(.., entered)| entered)
    }
}

/// Says where the character is.
fn title(ui: &mut Ui, layer: &MachineLayer, view: &StateView, controller: &AnimationController) {
    let states = layer.machine.states();
    let state = &states[view.state];
    ui.horizontal_wrapped(|ui| {
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        match &layer.mask {
            Some(mask) => {
                ui.strong(&*layer.name);
                ui.weak(format!("over {mask}"));
            }
            None => {
                ui.strong("whole body");
            }
        }
        ui.label(&*state.name);
        ui.label(RichText::new(format!("{:.2} s", view.seconds)).monospace());
        if let Some(to) = view.destination.and_then(|to| states.get(to)) {
            let text = format!("going to {}{}", to.name, waits_for(state));
            ui.colored_label(accent(ui.visuals()), text);
        } else if let Some(track) = view.track.and_then(|track| controller.track(track)) {
            ui.weak(format!("plays {}", track.clip()));
        }
    });
}

/// Describes the condition under which a character can leave a state.
fn waits_for(state: &MachineState) -> String {
    match &state.exit {
        Opening::Key(key) => format!(", from `{key}` on"),
        Opening::End => ", at the end".into(),
        Opening::Anytime | Opening::Never => String::new(),
    }
}

/// Draws a machine. Returns the state that was clicked.
fn graph(
    ui: &mut Ui,
    layer: &MachineLayer,
    layout: &Layout,
    view: &StateView,
    is_present: bool,
) -> Option<usize> {
    let machine = &layer.machine;
    let names: Vec<Arc<Galley>> = machine
        .states()
        .iter()
        .map(|state| {
            ui.painter().layout_no_wrap(
                shortened(&state.name, LETTERS).into_owned(),
                FontId::proportional(NAME),
                Color32::PLACEHOLDER,
            )
        })
        .collect();
    let size = |name: &Galley| vec2((name.size().x + 18.0).max(48.0), 24.0);
    let widest = names.iter().map(|name| size(name).x).fold(0.0, f32::max);
    let width = ui.available_width();
    // The ring leaves room for the widest name on both sides.
    let (places, height) = layout.places(width, widest / 2.0 + 2.0);
    let (area, _) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
    let rects: Vec<Rect> = places
        .iter()
        .zip(&names)
        .map(|(place, name)| Rect::from_center_size(area.min + place.to_vec2(), size(name)))
        .collect();
    let responses: Vec<Response> = rects
        .iter()
        .enumerate()
        .map(|(state, rect)| node_response(ui, layer, state, *rect, is_present))
        .collect();
    let hovered = responses
        .iter()
        // Hovering shows a state's ways, and so does reaching it by keyboard.
        .position(|response| response.hovered() || response.has_focus());
    // Those that matter now are drawn last.
    let mut arrows = layout.arrows.clone();
    let rank = |arrow: &Arrow| (arrow.from == view.state, Some(arrow.from) == hovered);
    arrows.sort_by_key(rank);
    for arrow in &arrows {
        let points = layout::curve(rects[arrow.from], rects[arrow.to], area.center());
        draw_arrow(ui, machine, view, hovered, arrow, points);
    }
    let mut clicked = None;
    for (state, response) in responses.into_iter().enumerate() {
        draw_node(
            ui,
            machine,
            view,
            state,
            &rects[state],
            &names[state],
            &response,
            rects[state].center().y > area.center().y + 1.0,
        );
        if response.clicked() && is_present {
            clicked = Some(state);
        }
    }
    clicked
}

fn node_response(
    ui: &Ui,
    layer: &MachineLayer,
    state: usize,
    rect: Rect,
    is_present: bool,
) -> Response {
    let of = &layer.machine.states()[state];
    let sense = if is_present {
        Sense::click()
    } else {
        Sense::hover()
    };
    let response = ui.interact(rect, ui.id().with((&*layer.name, &*of.name)), sense);
    response
        // Nodes are painted by hand, so screen readers wouldn't know their names.
        .widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, is_present, &*of.name));
    let plays = match of.plays.len() {
        0 => "plays nothing".to_owned(),
        _ => format!("plays {}", of.plays.join(" or ")),
    };
    let exit = match &of.exit {
        Opening::Anytime => "may be left at any time".to_owned(),
        Opening::Key(key) => format!("may be left from `{key}` on"),
        Opening::End => "may be left at its end".to_owned(),
        Opening::Never => "is never left".to_owned(),
    };
    response.on_hover_text(format!("{}\n{plays}\n{exit}", of.name))
}

/// The color of ways that can be taken now.
fn open_color() -> Color32 {
    AXES[1]
}

fn draw_arrow(
    ui: &Ui,
    machine: &StateMachine,
    view: &StateView,
    hovered: Option<usize>,
    arrow: &Arrow,
    points: Vec<Pos2>,
) {
    let visuals = ui.visuals();
    let is_here = arrow.from == view.state;
    let is_next = is_here
        && view
            .destination
            .is_some_and(|to| machine.step(view.state, to) == Some(arrow.to));
    let is_hovered = hovered.is_some_and(|state| arrow.from == state || arrow.to == state);
    let (color, wide) = match () {
        () if is_next => (ACCENT, 2.0),
        () if is_here && view.open.contains(&arrow.to) => (open_color(), 1.8),
        () if is_here || is_hovered => (visuals.text_color(), 1.3),
        () => (visuals.weak_text_color().gamma_multiply(0.55), 1.0),
    };
    let stroke = Stroke::new(wide, color);
    let [.., before, tip] = points[..] else {
        return;
    };
    let ahead = (tip - before).normalized();
    let side = ahead.rot90();
    let head = vec![
        tip + ahead * 2.0,
        tip - ahead * 6.0 + side * 3.6,
        tip - ahead * 6.0 - side * 3.6,
    ];
    // Dashed arrows are states that follow by themselves, which the game can't choose.
    if arrow.is_way {
        ui.painter().add(Shape::line(points, stroke));
    } else {
        let dashes = Shape::dashed_line(&points, stroke, 5.0, 3.5);
        ui.painter().extend(dashes);
    }
    ui.painter()
        .add(Shape::convex_polygon(head, color, Stroke::NONE));
}

fn draw_node(
    ui: &Ui,
    machine: &StateMachine,
    view: &StateView,
    state: usize,
    rect: &Rect,
    name: &Arc<Galley>,
    response: &Response,
    is_low: bool,
) {
    let (visuals, painter) = (ui.visuals(), ui.painter());
    let is_here = state == view.state;
    let (fill, text) = if is_here {
        (ACCENT, Color32::BLACK)
    } else {
        (bar_background(visuals), visuals.text_color())
    };
    let stroke = match () {
        () if view.destination == Some(state) => Stroke::new(2.5, ACCENT),
        () if view.open.contains(&state) => Stroke::new(1.8, open_color()),
        () if response.hovered() || response.has_focus() => {
            Stroke::new(1.5, visuals.strong_text_color())
        }
        () => Stroke::new(1.0, visuals.weak_text_color().gamma_multiply(0.7)),
    };
    painter.rect(*rect, 8.0, fill, stroke, StrokeKind::Inside);
    painter.galley_with_override_text_color(rect.center() - name.size() / 2.0, name.clone(), text);
    if response.has_focus() {
        let ring = Stroke::new(1.5, visuals.selection.stroke.color);
        painter.rect_stroke(rect.expand(3.0), 9.0, ring, StrokeKind::Outside);
    }
    let is_from_any = machine.states().iter().any(|from| {
        from.ways
            .iter()
            .any(|way| way.to == state && way.interrupts)
    });
    let then_back = machine.states()[state].then == Some(Successor::Back);
    let notes = [
        (state == machine.start(), "start"),
        (is_from_any, "from any"),
        (then_back, "then back"),
    ];
    let notes: Vec<&str> = notes
        .into_iter()
        .filter_map(|(holds, note)| holds.then_some(note))
        .collect();
    // On the outside, where no arrows are.
    let (at, align) = if is_low {
        (rect.center_bottom() + Vec2::Y, Align2::CENTER_TOP)
    } else {
        (rect.center_top() - Vec2::Y, Align2::CENTER_BOTTOM)
    };
    if !notes.is_empty() {
        let text = painter.layout_no_wrap(
            notes.join(", "),
            FontId::proportional(NOTE),
            visuals.weak_text_color(),
        );
        // A note may be wider than its state, but it stays within the panel.
        let room = painter.clip_rect();
        let mut place = align.anchor_size(at, text.size()).min;
        place.x = place.x.min(room.right() - text.size().x).max(room.left());
        painter.galley(place, text, visuals.weak_text_color());
    }
}
