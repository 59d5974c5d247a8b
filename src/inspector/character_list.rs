//! The list of characters at the top of the panel.

use super::{Inspector, inspected::InspectedReadOnlyItem, keyboard, widgets::grouped};
use crate::asset::Character;
use bevy::prelude::*;
use bevy_egui::egui::{self, RichText, Ui};

#[derive(Default)]
pub(super) struct ListState {
    search: String,
    /// The character last scrolled to or clicked.
    revealed: Option<Entity>,
    /// The character whose row gets the focus when it is shown.
    focused: Option<Entity>,
}

/// Rows shown without scrolling.
const ROWS: usize = 4;

/// Returns `true` if a character's name or entity contains `search`, which is in lower case.
fn matches(name: Option<&str>, entity: Entity, search: &str) -> bool {
    search.is_empty()
        || name.is_some_and(|name| name.to_lowercase().contains(search))
        || entity.to_string().contains(search)
}

pub(super) fn show<'w, 's>(
    ui: &mut Ui,
    state: &mut ListState,
    inspector: &mut ResMut<Inspector>,
    assets: &Assets<Character>,
    characters: impl Iterator<Item = InspectedReadOnlyItem<'w, 's>>,
) {
    let mut all: Vec<(Entity, Option<&Name>, bool)> = characters
        .map(|item| (item.entity, item.name, assets.contains(item.handle.id())))
        .collect();
    // In spawn order, which is not the order of `Entity`.
    all.sort_unstable_by_key(|&(entity, ..)| entity.index_u32());
    let count = all.len();
    ui.horizontal(|ui| {
        ui.strong("Characters");
        let search = egui::TextEdit::singleline(&mut state.search)
            .hint_text("search")
            .desired_width(150.0);
        ui.add(search);
        if !state.search.is_empty() && ui.button("clear").clicked() {
            state.search.clear();
        }
        let search = state.search.trim().to_lowercase();
        if !search.is_empty() {
            all.retain(|(entity, name, _)| matches(name.map(Name::as_str), *entity, &search));
        }
        ui.weak(if all.len() == count {
            grouped(count)
        } else {
            format!("{} of {}", grouped(all.len()), grouped(count))
        });
        ui.with_layout(
            egui::Layout::right_to_left(egui::Align::Center),
            egui::global_theme_preference_switch,
        );
    });
    // Only visible rows are laid out, so a thousand characters cost no more than ten.
    let height =
        ui.text_style_height(&egui::TextStyle::Button) + 2.0 * ui.spacing().button_padding.y;
    let step = height + ui.spacing().item_spacing.y;
    let mut area = egui::ScrollArea::vertical()
        .id_salt("characters")
        .max_height(all.len().clamp(1, ROWS) as f32 * step)
        .auto_shrink([false, true]);
    if state.revealed != inspector.character {
        // Selected elsewhere, by a click in the view or by code.
        state.revealed = inspector.character;
        if let Some(row) = all
            .iter()
            .position(|&(entity, ..)| Some(entity) == inspector.character)
        {
            area = area.vertical_scroll_offset(row.saturating_sub(1) as f32 * step);
        }
    }
    area.show_rows(ui, height, all.len(), |ui, range| {
        for at in range {
            let (entity, name, loaded) = all[at];
            let label = match name {
                Some(name) => format!("{name}  ({entity})"),
                None => format!("{entity}"),
            };
            let label = if loaded {
                RichText::new(label)
            } else {
                RichText::new(format!("{label} (loading)")).weak()
            };
            let row = ui.selectable_label(inspector.character == Some(entity), label);
            if row.clicked() {
                inspector.character = Some(entity);
                state.revealed = Some(entity);
            }
            if state.focused == Some(entity) {
                state.focused = None;
                row.request_focus();
            }
            if let Some([_, down]) = keyboard::arrows(ui, &row) {
                let next = all[keyboard::stepped(at, down, all.len())].0;
                (inspector.character, state.focused) = (Some(next), Some(next));
            }
        }
    });
}

#[cfg(test)]
#[path = "tests/character_list.rs"]
mod tests;
