//! The panel by keyboard: what egui doesn't do by itself.
//!
//! egui moves the focus with Tab and the arrow keys, and presses what has it with Space and Enter.

use super::{Inspector, InspectorTab};
use bevy::prelude::ResMut;
use bevy_egui::egui::{
    self, ComboBox, EventFilter, Id, Key, Modifiers, Response, ScrollArea, Stroke, StrokeKind, Ui,
};

/// Lets Page Up and Page Down choose the tab while anything of the panel has the focus. Returns `true` if they did.
pub(super) fn turn_pages(ui: &Ui, inspector: &mut ResMut<Inspector>) -> bool {
    if ui.memory(|memory| memory.focused()).is_none() {
        return false;
    }
    let pressed = |key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
    let count = InspectorTab::ALL.len();
    let by = pressed(Key::PageDown) + (count - 1) * pressed(Key::PageUp);
    if by == 0 {
        return false;
    }
    let now = InspectorTab::ALL
        .iter()
        .position(|tab| *tab == inspector.tab)
        .unwrap_or_default();
    inspector.tab = InspectorTab::ALL[(now + by) % count];
    true
}

/// Gives the arrow keys to a painted control while it has the focus, and marks it. Returns how often they were pressed:
/// to the right and down.
pub(super) fn arrows(ui: &Ui, response: &Response) -> Option<[i32; 2]> {
    if !response.has_focus() {
        return None;
    }
    let filter = EventFilter {
        horizontal_arrows: true,
        vertical_arrows: true,
        ..EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let ring = Stroke::new(1.5, ui.visuals().selection.stroke.color);
    ui.painter()
        .rect_stroke(response.rect, 3.0, ring, StrokeKind::Inside);
    let pressed =
        |key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key)) as i32;
    let by = [
        pressed(Key::ArrowRight) - pressed(Key::ArrowLeft),
        pressed(Key::ArrowDown) - pressed(Key::ArrowUp),
    ];
    (by != [0, 0]).then_some(by)
}

/// Moves an index into a list of so many.
pub(super) fn stepped(index: usize, by: i32, count: usize) -> usize {
    index
        .saturating_add_signed(by as isize)
        .min(count.saturating_sub(1))
}

/// Areas that scroll to what has just got the focus.
pub(super) trait FollowFocus {
    fn follow(self, ui: &mut Ui, contents: impl FnOnce(&mut Ui));
}

impl FollowFocus for ScrollArea {
    fn follow(self, ui: &mut Ui, contents: impl FnOnce(&mut Ui)) {
        self.show(ui, |ui| {
            let before = controls(ui);
            contents(ui);
            let gained = |memory: &egui::Memory| {
                memory
                    .focused()
                    .filter(|id| !memory.had_focus_last_frame(*id))
            };
            let Some(focused) = ui.memory(gained) else {
                return;
            };
            // Only what is in this area.
            let is_within = place(ui, focused)
                .is_some_and(|(_, order)| (before..controls(ui)).contains(&order));
            // Not by `read_response`: it takes the focus from a field that a button which is just being pressed gave it to.
            let widget = ui
                .ctx()
                .viewport(|viewport| viewport.this_pass.widgets.get(focused).copied());
            if let Some(widget) = widget.filter(|_| is_within) {
                ui.scroll_to_rect_animation(
                    widget.rect,
                    None,
                    egui::style::ScrollAnimation::none(),
                );
            }
        });
    }
}

/// Returns the number of controls of the layer so far.
fn controls(ui: &Ui) -> usize {
    ui.ctx()
        .viewport(|viewport| viewport.this_pass.widgets.get_layer(ui.layer_id()).count())
}

fn place(ui: &Ui, id: Id) -> Option<(egui::LayerId, usize)> {
    let place = ui
        .ctx()
        .viewport(|viewport| viewport.this_pass.widgets.order(id));
    place.filter(|(layer, _)| *layer == ui.layer_id())
}

/// Lists of choices that close when one is chosen by keyboard, too.
pub(super) trait Choose {
    fn choose(self, ui: &mut Ui, contents: impl FnOnce(&mut Ui));
}

impl Choose for ComboBox {
    fn choose(self, ui: &mut Ui, contents: impl FnOnce(&mut Ui)) {
        let shown = self.show_ui(ui, |ui| {
            contents(ui);
            let focused = ui
                .memory(|memory| memory.focused())
                .filter(|id| place(ui, *id).is_some());
            let is_chosen = focused
                .and_then(|id| ui.ctx().read_response(id))
                .is_some_and(|choice| choice.clicked());
            // egui closes it for the pointer.
            let is_by_key = is_chosen && !ui.input(|input| input.pointer.any_click());
            if is_by_key {
                ui.close();
            }
            is_by_key
        });
        if shown.inner == Some(true) {
            shown.response.request_focus();
        }
    }
}
