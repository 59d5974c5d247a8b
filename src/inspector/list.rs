//! The list of characters, and which one is shown.

use super::{InspectedCharacter, InspectedReadOnlyItem, numbers::grouped};
use crate::asset::Character;
use bevy::prelude::*;
use bevy_egui::egui::{self, RichText, Ui};

#[derive(Default)]
pub(super) struct ListState {
    search: String,
    /// The character last scrolled to, or chosen here.
    seen: Option<Entity>,
}

/// Rows in sight.
const ROWS: usize = 4;

/// Whether a character is found by `search`, in lower case: in its name, or its entity as written.
fn is_found(name: Option<&str>, entity: Entity, search: &str) -> bool {
    search.is_empty()
        || name.is_some_and(|name| name.to_lowercase().contains(search))
        || entity.to_string().contains(search)
}

pub(super) fn show<'w, 's>(
    ui: &mut Ui,
    state: &mut ListState,
    inspected: &mut ResMut<InspectedCharacter>,
    assets: &Assets<Character>,
    characters: impl Iterator<Item = InspectedReadOnlyItem<'w, 's>>,
) {
    let mut all: Vec<(Entity, Option<&Name>, bool)> =
        characters.map(|item| (item.entity, item.name, assets.contains(item.handle.id()))).collect();
    // As they came: entities themselves are in no such order.
    all.sort_unstable_by_key(|&(entity, ..)| entity.index_u32());
    let count = all.len();
    ui.horizontal(|ui| {
        ui.strong("Characters");
        let search = egui::TextEdit::singleline(&mut state.search).hint_text("search").desired_width(150.0);
        ui.add(search);
        if !state.search.is_empty() && ui.button("clear").clicked() {
            state.search.clear();
        }
        let search = state.search.trim().to_lowercase();
        if !search.is_empty() {
            all.retain(|(entity, name, _)| is_found(name.map(Name::as_str), *entity, &search));
        }
        ui.weak(if all.len() == count {
            grouped(count)
        } else {
            format!("{} of {}", grouped(all.len()), grouped(count))
        });
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), egui::global_theme_preference_switch);
    });
    // Only rows in sight are laid out: a thousand cost what ten do.
    let height = ui.text_style_height(&egui::TextStyle::Button) + 2.0 * ui.spacing().button_padding.y;
    let step = height + ui.spacing().item_spacing.y;
    let mut area = egui::ScrollArea::vertical()
        .id_salt("characters")
        .max_height(all.len().clamp(1, ROWS) as f32 * step)
        .auto_shrink([false, true]);
    if state.seen != inspected.0 {
        // Chosen elsewhere: in the view, or by code.
        state.seen = inspected.0;
        if let Some(row) = all.iter().position(|&(entity, ..)| Some(entity) == inspected.0) {
            area = area.vertical_scroll_offset(row.saturating_sub(1) as f32 * step);
        }
    }
    area.show_rows(ui, height, all.len(), |ui, range| {
        for &(entity, name, loaded) in &all[range] {
            let label = match name {
                Some(name) => format!("{name}  ({entity})"),
                None => format!("{entity}"),
            };
            let label = if loaded { RichText::new(label) } else { RichText::new(format!("{label}, loading")).weak() };
            if ui.selectable_label(inspected.0 == Some(entity), label).clicked() {
                inspected.0 = Some(entity);
                state.seen = Some(entity);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_found_by_part_of_its_name_or_its_entity() {
        let entity = Entity::from_raw_u32(42).unwrap();
        assert!(is_found(None, entity, ""));
        assert!(is_found(Some("Old Guard"), entity, "gua"));
        assert!(is_found(Some("Old Guard"), entity, &entity.to_string()));
        assert!(!is_found(Some("Old Guard"), entity, "young"));
        assert!(!is_found(None, entity, "guard"));
    }
}
