//! The Drawing tab: what [`DrawSkeleton`] draws in the view, and weights on the skin.

use super::{
    BoneShape, DrawSkeleton,
    inspected::InspectedItem,
    tab::{Tab, TabContext},
    weights::{self, WeightsState},
};
use crate::asset::Character;
use bevy::prelude::*;
use bevy_egui::egui::{self, Ui};

/// The Drawing tab.
#[derive(Default)]
pub(super) struct DrawingTab {
    pub(super) weights: WeightsState,
}

impl Tab for DrawingTab {
    fn show(&mut self, ui: &mut Ui, context: &mut TabContext) {
        let TabContext {
            item,
            character,
            joint,
            commands,
            ..
        } = context;
        show(ui, character, item, commands);
        ui.separator();
        weights::show(ui, *joint, character, item, commands);
    }
}

fn show(ui: &mut Ui, character: &Character, item: &mut InspectedItem, commands: &mut Commands) {
    let before = item.draw.as_deref().copied().unwrap_or(DrawSkeleton::NONE);
    let mut draw = before;
    ui.horizontal(|ui| {
        ui.weak("bones");
        for (shape, title) in [
            (BoneShape::None, "none"),
            (BoneShape::Lines, "lines"),
            (BoneShape::Octahedra, "octahedra"),
        ] {
            ui.selectable_value(&mut draw.bones, shape, title);
        }
    });
    ui.checkbox(&mut draw.axes, "joint axes");
    ui.checkbox(&mut draw.names, "joint names");
    ui.checkbox(&mut draw.links, "parent links");
    let count = character.skeleton.control_joints().len();
    if count > 0 {
        let mut shown = !draw.hide_control_joints;
        ui.checkbox(&mut shown, format!("control joints ({count})"));
        draw.hide_control_joints = !shown;
    }
    let count = character.sockets.len();
    ui.add_enabled(
        count > 0,
        egui::Checkbox::new(&mut draw.sockets, format!("sockets ({count})")),
    );
    let count = character.parts.len();
    ui.checkbox(&mut draw.bounds, format!("culling boxes ({count})"));
    ui.checkbox(&mut draw.rig, "goals, look-at, colliders");
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
