//! Springs and what they stay outside of. Changes apply to all instances of the character.

use super::super::{folds::Folds, inspected::InspectedItem, widgets};
use crate::{
    character::SpringBones,
    import::{ColliderEntry, RigEntries, SpringEntry},
};
use bevy::prelude::*;
use bevy_egui::egui::{self, Ui};

/// Shows the springs and colliders of `rig`, which may be changed.
pub(super) fn show(
    ui: &mut Ui,
    folds: &mut Folds,
    rig: &mut RigEntries,
    item: &mut InspectedItem,
    commands: &mut Commands,
) {
    ui.strong("Springs");
    if rig.springs.is_empty() {
        ui.weak("The manifest has no springs.");
        return;
    }
    let before = item.springs.as_deref().copied();
    let mut weight = before.map_or(0.0, |springs| springs.weight);
    ui.horizontal(|ui| {
        ui.weak("weight");
        ui.add(widgets::slider(&mut weight, 0.0..=1.0).fixed_decimals(2));
    });
    if weight != before.map_or(0.0, |springs| springs.weight) {
        match &mut item.springs {
            Some(springs) => springs.weight = weight,
            None => {
                commands
                    .entity(item.entity)
                    .try_insert(SpringBones { weight });
            }
        }
    }
    for (index, entry) in rig.springs.iter_mut().enumerate() {
        let title = format!(
            "springs at {}",
            widgets::shortened(&entry.joints.join(", "), 36)
        );
        folds.named_section(ui, &format!("springs {index}"), &title, false, |ui| {
            spring(ui, index, entry)
        });
    }
    for (name, entry) in &mut rig.colliders {
        let title = format!(
            "collider {} on {}",
            widgets::shortened(name, 18),
            widgets::shortened(&entry.joint, 18)
        );
        folds.named_section(ui, &format!("collider {name}"), &title, false, |ui| {
            collider(ui, name, entry)
        });
    }
}

fn spring(ui: &mut Ui, index: usize, entry: &mut SpringEntry) {
    egui::Grid::new(("spring", index))
        .num_columns(4)
        .spacing([8.0, 4.0])
        .show(ui, |ui| {
            let number =
                |ui: &mut Ui, label: &str, value: &mut f32, least: f32, most: f32, suffix: &str| {
                    ui.weak(label);
                    // Small numbers change slowly.
                    let speed = (0.01 * f64::from(value.abs())).max(0.002);
                    ui.add(
                        egui::DragValue::new(value)
                            .range(least..=most)
                            .suffix(suffix)
                            .speed(speed)
                            .max_decimals(3),
                    );
                };
            number(ui, "frequency", &mut entry.frequency, 0.0, 60.0, " Hz");
            number(ui, "damping", &mut entry.damping, 0.0, 100.0, "");
            ui.end_row();
            number(ui, "gravity", &mut entry.gravity, -1e3, 1e3, "");
            number(ui, "drag", &mut entry.drag, 0.0, 1e3, " /s");
            ui.end_row();
            number(ui, "radius", &mut entry.radius, 0.0, f32::MAX, "");
            number(ui, "max angle", &mut entry.max_angle, 0.0, 180.0, "°");
            ui.end_row();
        });
}

fn collider(ui: &mut Ui, name: &str, entry: &mut ColliderEntry) {
    egui::Grid::new(("collider", name))
        .num_columns(2)
        .spacing([8.0, 4.0])
        .show(ui, |ui| {
            ui.weak("radius");
            ui.add(
                egui::DragValue::new(&mut entry.radius)
                    .range(1e-4..=f32::MAX)
                    .speed(0.002)
                    .max_decimals(4),
            );
            ui.end_row();
            ui.weak("center");
            widgets::drag_vec(ui, &mut entry.center, 0.002, 3);
            ui.end_row();
            if let Some(end) = &mut entry.end {
                ui.weak("end");
                widgets::drag_vec(ui, end, 0.002, 3);
                ui.end_row();
            }
        });
}
