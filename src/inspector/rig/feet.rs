//! Feet on the ground: where they stand, and how far they adapt.

use super::super::{inspected::InspectedItem, widgets};
use crate::{asset::Character, character::FootPlacement, import::RigEntries};
use bevy::prelude::*;
use bevy_egui::egui::{self, Ui};

/// Shows the feet and their limits in `rig`, which may be changed.
pub(super) fn show(
    ui: &mut Ui,
    rig: &mut RigEntries,
    character: &Character,
    item: &mut InspectedItem,
    commands: &mut Commands,
) {
    ui.strong("Feet");
    let (Some(entry), Some(feet)) = (&mut rig.feet, &character.feet) else {
        ui.weak("The manifest has no feet.");
        return;
    };
    let Some(placement) = &mut item.feet else {
        if ui
            .button("Adapt to the ground")
            .on_hover_text("Adds FootPlacement")
            .clicked()
        {
            commands
                .entity(item.entity)
                .try_insert(FootPlacement::default());
        }
        return;
    };
    ui.horizontal(|ui| {
        ui.weak("weight");
        let mut weight = placement.weight;
        if ui
            .add(widgets::slider(&mut weight, 0.0..=1.0).fixed_decimals(2))
            .changed()
        {
            placement.weight = weight;
        }
    });
    egui::Grid::new("feet")
        .num_columns(2)
        .spacing([8.0, 4.0])
        .show(ui, |ui| {
            for leg in 0..feet.len() {
                let Some([.., tip]) = feet.joints(leg) else {
                    continue;
                };
                ui.weak(widgets::shortened(character.skeleton.name(tip), 18));
                let on_ground = item
                    .probe
                    .is_some_and(|probe| probe.hits().any(|(of, _)| of == leg));
                let is_locked = item.rig.is_some_and(|rig| rig.feet.is_locked(leg));
                ui.label(match (is_locked, on_ground) {
                    (true, _) => "locked to the ground",
                    (false, true) => "follows its clip over the ground",
                    (false, false) => "no ground in reach",
                });
                ui.end_row();
            }
            let limit = |ui: &mut Ui, label: &str, hint: &str, value: &mut f32, least: f32| {
                ui.weak(label).on_hover_text(hint);
                ui.add(
                    egui::DragValue::new(value)
                        .range(least..=10.0)
                        .speed(0.005)
                        .fixed_decimals(2),
                );
                ui.end_row();
            };
            let limits = &mut entry.limits;
            limit(
                ui,
                "height",
                "How far feet are raised and lowered, in leg lengths",
                &mut limits.height,
                0.0,
            );
            limit(
                ui,
                "slope",
                "The steepest ground that feet tilt to, as rise over run",
                &mut limits.slope,
                0.0,
            );
            limit(
                ui,
                "stride",
                "How far a locked foot may be from its clip, in leg lengths",
                &mut limits.stride,
                0.0,
            );
            limit(
                ui,
                "turn",
                "How fast joints may turn, as a multiple of the clips' fastest",
                &mut limits.turn,
                1.0,
            );
        });
}
