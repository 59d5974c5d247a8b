//! The weight view in the Drawing tab, with a color legend.

use super::inspected::InspectedItem;
use crate::{
    asset::Character,
    character::{WeightView, influence_count_color, weight_color},
    model::JointIndex,
};
use bevy::prelude::*;
use bevy_egui::egui::{self, Color32, Ui};

#[derive(Default)]
pub(super) struct WeightsState {
    /// The joint selected in the last frame.
    joint: Option<JointIndex>,
}

impl WeightsState {
    /// Switches a view of one joint's weights to the newly selected joint.
    pub(super) fn follow(&mut self, joint: Option<JointIndex>, item: &mut InspectedItem) {
        let is_new = self.joint != joint;
        self.joint = joint;
        if let (true, Some(joint), Some(view)) = (is_new, joint, &mut item.view)
            && matches!(**view, WeightView::Joint(_))
        {
            view.set_if_neq(WeightView::Joint(joint));
        }
    }
}

pub(super) fn show(
    ui: &mut Ui,
    joint: Option<JointIndex>,
    character: &Character,
    item: &mut InspectedItem,
    commands: &mut Commands,
) {
    let before = item.view.as_deref().copied();
    let mut view = before;
    let shown = match before {
        Some(WeightView::Joint(joint)) => Some(joint),
        _ => joint,
    };
    ui.horizontal(|ui| {
        ui.weak("weights");
        ui.selectable_value(&mut view, None, "off");
        let of_joint = WeightView::Joint(shown.unwrap_or_default());
        ui.add_enabled_ui(shown.is_some(), |ui| {
            let choice = ui.selectable_value(&mut view, Some(of_joint), "selected joint");
            choice.on_disabled_hover_text("Select a joint first");
        });
        ui.selectable_value(
            &mut view,
            Some(WeightView::InfluenceCount),
            "influence count",
        );
    });
    match view {
        Some(WeightView::Joint(joint)) => {
            let name = character
                .skeleton
                .names()
                .get(usize::from(joint))
                .map_or("no such joint", |name| name);
            ui.horizontal(|ui| {
                ui.label(name);
                ui.weak("0");
                let (bar, _) =
                    ui.allocate_exact_size(egui::vec2(160.0, 10.0), egui::Sense::hover());
                // egui fills a rectangle with one color, so narrow ones make the gradient.
                const STEPS: usize = 80;
                let step = bar.width() / STEPS as f32;
                for i in 0..STEPS {
                    let left = bar.left() + i as f32 * step;
                    let slice = egui::Rect::from_min_size(
                        egui::pos2(left, bar.top()),
                        egui::vec2(step, bar.height()),
                    );
                    ui.painter().rect_filled(
                        slice,
                        0.0,
                        color32(weight_color(i as f32 / (STEPS - 1) as f32)),
                    );
                }
                ui.weak("1");
            });
        }
        Some(WeightView::InfluenceCount) => {
            ui.horizontal(|ui| {
                for (count, label) in ["0", "1", "2", "3", "4", "more"].into_iter().enumerate() {
                    let (square, _) =
                        ui.allocate_exact_size(egui::vec2(10.0, 10.0), egui::Sense::hover());
                    ui.painter()
                        .rect_filled(square, 2.0, color32(influence_count_color(count)));
                    ui.weak(label);
                }
            });
        }
        None => {}
    }
    // An equal value written through `Mut` would still count as a change.
    if view == before {
        return;
    }
    match (view, &mut item.view) {
        (Some(view), Some(present)) => **present = view,
        (Some(view), None) => {
            commands.entity(item.entity).insert(view);
        }
        (None, _) => {
            commands.entity(item.entity).remove::<WeightView>();
        }
    }
}

fn color32(color: Color) -> Color32 {
    let color = color.to_srgba().to_u8_array_no_alpha();
    Color32::from_rgb(color[0], color[1], color[2])
}
