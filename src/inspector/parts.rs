//! The Parts tab: triangles, joints, material and visibility of each part.

use super::{
    inspected::InspectedItem,
    keyboard::FollowFocus,
    tab::{Tab, TabContext},
    widgets,
};
use crate::{asset::Character, character::PartOverrides};
use bevy::prelude::*;
use bevy_egui::egui::{self, RichText, Ui};

/// The Parts tab.
pub(super) struct PartsTab;

impl Tab for PartsTab {
    fn show(&mut self, ui: &mut Ui, context: &mut TabContext) {
        let TabContext {
            item,
            character,
            meshes,
            commands,
            ..
        } = context;
        show(ui, character, *meshes, item, commands);
    }
}

fn show(
    ui: &mut Ui,
    character: &Character,
    meshes: Option<&Assets<Mesh>>,
    item: &mut InspectedItem,
    commands: &mut Commands,
) {
    if character.parts.is_empty() {
        ui.weak("This character has no parts.");
        return;
    }
    let mut toggled = None;
    egui::ScrollArea::both().id_salt("parts").follow(ui, |ui| {
        egui::Grid::new("parts")
            .num_columns(4)
            .striped(true)
            .spacing([14.0, 4.0])
            .show(ui, |ui| {
                widgets::cell(ui, RichText::new("part (visible)").weak());
                widgets::right_cell(ui, RichText::new("triangles").weak());
                widgets::right_cell(ui, RichText::new("joints").weak());
                widgets::cell(ui, RichText::new("material").weak());
                ui.end_row();
                for (index, part) in character.parts.iter().enumerate() {
                    let hidden = item
                        .part_overrides
                        .as_ref()
                        .is_some_and(|all| all.hides(character, index));
                    let mut shown = !hidden;
                    if ui.checkbox(&mut shown, &part.name).changed() {
                        toggled = Some((index, !shown));
                    }
                    let count = meshes
                        .and_then(|meshes| meshes.get(&part.mesh)?.try_indices().ok())
                        .map(|i| i.len() / 3);
                    let count = count.map_or("GPU only".into(), widgets::grouped);
                    widgets::right_cell(ui, RichText::new(count).monospace());
                    widgets::right_cell(
                        ui,
                        RichText::new(super::cost::joint_count(part)).monospace(),
                    );
                    // A loaded material's label, such as `Material0`.
                    let label = part
                        .material
                        .path()
                        .and_then(|path| path.label())
                        .unwrap_or("created in code");
                    widgets::cell(ui, label);
                    ui.end_row();
                }
            });
        if let Some(all) = item.part_overrides.as_ref().filter(|all| !all.is_empty()) {
            ui.add_space(4.0);
            let count = (0..character.parts.len())
                .filter(|&part| all.hides(character, part))
                .count();
            ui.weak(format!("{count} of {} hidden", character.parts.len()));
        }
    });
    let Some((index, hidden)) = toggled else {
        return;
    };
    let change = |all: &mut PartOverrides| {
        // It may have been hidden by name or by index.
        all.set_hidden(character.parts[index].name.as_str(), false);
        all.set_hidden(index, hidden);
    };
    match &mut item.part_overrides {
        Some(present) => change(present),
        None => {
            let mut all = PartOverrides::default();
            change(&mut all);
            commands.entity(item.entity).insert(all);
        }
    }
}
