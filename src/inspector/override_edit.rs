//! Editing pose overrides: their values, mirroring them, and copying them as RON.

use super::{
    keyboard::Choose,
    mirror::{mirror_joint, mirror_override, mirror_pose},
    widgets::{self, EulerEdit},
};
use crate::{
    model::{JointIndex, JointTransform, Skeleton},
    pose::{JointOverride, JointSpace},
};
use bevy_egui::egui::{self, Ui};

/// Formats overrides as a RON list that parses as `Vec<JointOverride>`, with joint names as comments.
pub fn overrides_ron(skeleton: &Skeleton, overrides: &[JointOverride]) -> String {
    let mut text = String::from("[\n");
    for change in overrides {
        let name = skeleton
            .names()
            .get(usize::from(change.joint))
            .map_or("(no such joint)", |name| name);
        // A line break in the name would end the comment.
        let name: String = name
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let Ok(line) = ron::to_string(change) else {
            continue;
        };
        text.push_str(&format!("    // {name}\n    {line},\n"));
    }
    text.push_str("]\n");
    text
}

/// Shows the override of `joint` with its buttons. `local` is the joint's current local transform.
pub(super) fn show(
    ui: &mut Ui,
    euler: &mut EulerEdit,
    skeleton: &Skeleton,
    joint: JointIndex,
    local: JointTransform,
    overrides: &mut Vec<JointOverride>,
) {
    let at = overrides.iter().position(|change| change.joint == joint);
    let mut change = at.map_or(JointOverride::local(joint, local), |at| overrides[at]);
    let mut changed = false;
    // Drag speed follows the bone's length.
    let speed = f64::from(local.translation.length().max(0.05)) * 0.005;
    egui::Grid::new("override")
        .num_columns(2)
        .spacing([8.0, 4.0])
        .show(ui, |ui| {
            ui.weak("rotation");
            let rotation = change.transform.rotation;
            if widgets::drag3(ui, euler.angles(usize::from(joint), rotation), 0.5, "°", 1) {
                change.transform.rotation = euler.rotation();
                changed = true;
            }
            ui.end_row();
            ui.weak("translation");
            changed |= widgets::drag_vec(ui, &mut change.transform.translation, speed, 3);
            ui.end_row();
            ui.weak("scale");
            changed |= widgets::drag_vec(ui, &mut change.transform.scale, 0.005, 3);
            ui.end_row();
            ui.weak("weight");
            ui.horizontal(|ui| {
                changed |= ui
                    .add(widgets::slider(&mut change.weight, 0.0..=1.0).fixed_decimals(2))
                    .changed();
                changed |= space(ui, &mut change, local);
            });
            ui.end_row();
        });
    if changed {
        match at {
            Some(at) => overrides[at] = change,
            None => overrides.push(change),
        }
    }
    ui.horizontal(|ui| {
        if ui
            .add_enabled(at.is_some(), egui::Button::new("Reset"))
            .clicked()
        {
            overrides.retain(|change| change.joint != joint);
        }
        if ui
            .add_enabled(!overrides.is_empty(), egui::Button::new("Reset all"))
            .clicked()
        {
            overrides.clear();
        }
        let other = mirror_joint(skeleton, joint);
        let mirror = ui.add_enabled(other.is_some() && at.is_some(), egui::Button::new("Mirror"));
        let mirror = match other.and_then(|other| skeleton.names().get(usize::from(other))) {
            Some(name) => mirror.on_hover_text(format!("Copy to {name}, mirrored")),
            None => {
                mirror.on_disabled_hover_text("No joint with a matching name on the other side")
            }
        };
        if mirror.clicked()
            && let Some(mirrored) = overrides
                .iter()
                .find(|c| c.joint == joint)
                .and_then(|c| mirror_override(skeleton, c))
        {
            overrides.retain(|change| change.joint != mirrored.joint);
            overrides.push(mirrored);
        }
        let all = ui.add_enabled(!overrides.is_empty(), egui::Button::new("Mirror all"));
        if all
            .on_hover_text("Swap left and right of the whole pose")
            .clicked()
        {
            *overrides = mirror_pose(skeleton, overrides);
        }
        if ui
            .add_enabled(!overrides.is_empty(), egui::Button::new("Copy RON"))
            .clicked()
        {
            ui.copy_text(overrides_ron(skeleton, overrides));
        }
    });
}

/// Shows the override's space; returns `true` if it changed, which resets the override to have no effect.
fn space(ui: &mut Ui, change: &mut JointOverride, local: JointTransform) -> bool {
    let title = |space| match space {
        JointSpace::Parent => "parent",
        JointSpace::Model => "model",
        JointSpace::Joint => "offset",
    };
    let before = change.space;
    egui::ComboBox::from_id_salt("space")
        .width(84.0)
        .selected_text(title(before))
        .choose(ui, |ui| {
            // Not model space: the values edited here are relative to the parent, so the joint would jump.
            for space in [JointSpace::Parent, JointSpace::Joint] {
                ui.selectable_value(&mut change.space, space, title(space));
            }
        });
    if change.space == before {
        return false;
    }
    change.transform = if change.space == JointSpace::Parent {
        local
    } else {
        JointTransform::IDENTITY
    };
    true
}

#[cfg(test)]
#[path = "tests/override_edit.rs"]
mod tests;
