//! The switches for what is drawn in the view, and the joints' names.

use super::{BoneShape, DrawSkeleton, InspectedItem};
use crate::{asset::Character, character::ModelPose};
use bevy::prelude::*;
use bevy_egui::egui::{self, Ui};

pub(super) fn show(
    ui: &mut Ui,
    names: &mut bool,
    character: &Character,
    item: &mut InspectedItem,
    commands: &mut Commands,
) {
    let before = item.draw.as_deref().copied().unwrap_or(DrawSkeleton::NONE);
    let mut draw = before;
    ui.horizontal(|ui| {
        ui.weak("bones");
        for (shape, title) in
            [(BoneShape::None, "none"), (BoneShape::Lines, "lines"), (BoneShape::Octahedra, "octahedra")]
        {
            ui.selectable_value(&mut draw.bones, shape, title);
        }
    });
    ui.checkbox(&mut draw.axes, "joint axes");
    ui.checkbox(names, "joint names");
    let count = character.sockets.len();
    ui.add_enabled(count > 0, egui::Checkbox::new(&mut draw.sockets, format!("sockets ({count})")));
    let count = character.parts.len();
    ui.checkbox(&mut draw.bounds, format!("culling boxes of the parts ({count})"));
    if draw == before {
        return;
    }
    match &mut item.draw {
        Some(present) => **present = draw,
        None => {
            commands.entity(item.entity).insert(draw);
        }
    }
}

/// Writes each joint's name beside it.
pub(super) fn joint_names(
    ui: &Ui,
    (camera, from): (&Camera, &GlobalTransform),
    character: &Character,
    pose: &ModelPose,
    world: &GlobalTransform,
) {
    let font = egui::FontId::proportional(11.0);
    let scale = camera.target_scaling_factor().unwrap_or(1.0) / ui.ctx().pixels_per_point();
    for (name, joint) in character.skeleton.names().iter().zip(&pose.joints) {
        let at = world.transform_point(joint.translation.into());
        let Ok(at) = camera.world_to_viewport(from, at) else { continue };
        let at = egui::pos2(at.x * scale + 5.0, at.y * scale);
        let under = egui::Color32::from_black_alpha(200);
        ui.painter().text(at + egui::vec2(1.0, 1.0), egui::Align2::LEFT_CENTER, name, font.clone(), under);
        ui.painter().text(at, egui::Align2::LEFT_CENTER, name, font.clone(), egui::Color32::from_gray(235));
    }
}
