//! Look-at: the target, the joints that turn, and their limits.

use super::{
    super::{inspected::InspectedItem, keyboard::Choose, widgets},
    params::RigParams,
};
use crate::{
    asset::Character,
    character::{LookAt, LookTarget},
    import::LookAtEntry,
    model::{JointIndex, Skeleton},
    rig::{LookChain, RigState},
};
use bevy::prelude::*;
use bevy_egui::egui::{self, Ui};
use glam::Affine3A;
use std::{borrow::Cow, sync::Arc};

/// Returns the joints that turn: those of the component, or of the manifest.
pub(super) fn chain_of<'a>(look: &LookAt, character: &'a Character) -> Option<Cow<'a, LookChain>> {
    match &look.joints {
        Some(joints) => joints.resolve(&character.skeleton).map(Cow::Owned),
        None => character
            .look_at
            .as_ref()
            .map(|chain| Cow::Borrowed(Arc::as_ref(chain))),
    }
}

/// Shows what the character looks at. `joints` are its joints in the world.
pub(super) fn show(
    ui: &mut Ui,
    selected: Option<JointIndex>,
    character: &Character,
    item: &mut InspectedItem,
    joints: &[Affine3A],
    params: &RigParams,
    commands: &mut Commands,
) {
    let before = item.look.as_deref().cloned().unwrap_or_default();
    let mut look = before.clone();
    ui.strong("Look at");
    match look
        .joints
        // Changes by hand start from the entry of the manifest.
        .clone()
        .or_else(|| character.rig().look_at.clone())
    {
        None => without_joints(ui, selected, &character.skeleton, &mut look),
        Some(mut entry) => {
            egui::Grid::new("look")
                .num_columns(2)
                .spacing([8.0, 4.0])
                .show(ui, |ui| {
                    ui.spacing_mut().slider_width = 150.0;
                    ui.weak("target");
                    target(ui, &mut look, character, item, joints, params);
                    ui.end_row();
                    if let LookTarget::Point(point) = &mut look.target {
                        ui.weak("point");
                        widgets::drag_vec(ui, point, 0.01, 3);
                        ui.end_row();
                    }
                    ui.weak("weight");
                    ui.add(widgets::slider(&mut look.weight, 0.0..=1.0).fixed_decimals(2));
                    ui.end_row();
                    ui.weak("turned");
                    ui.label(turned(item.rig.map_or(Vec2::ZERO, RigState::look_turn)));
                    ui.end_row();
                    if limits(ui, &mut entry) {
                        look.joints = Some(entry);
                    }
                });
            if look.joints.is_some() && character.rig().look_at.is_some() {
                let button = ui
                    .button("As in the manifest")
                    .on_hover_text("Undo changes to joints, limits and speed");
                if button.clicked() {
                    look.joints = None;
                }
            }
        }
    }
    if look == before {
        return;
    }
    match &mut item.look {
        Some(present) => **present = look,
        None => {
            commands.entity(item.entity).try_insert(look);
        }
    }
}

/// Offers the selected joint to a character without joints that turn.
fn without_joints(
    ui: &mut Ui,
    selected: Option<JointIndex>,
    skeleton: &Skeleton,
    look: &mut LookAt,
) {
    ui.weak("The manifest has no look_at.");
    let Some(joint) = selected else {
        ui.weak("Select the head to let it turn.");
        return;
    };
    let name = |joint: JointIndex| skeleton.name(joint).to_string();
    if ui
        .button("Turn the selected joint")
        .on_hover_text("Turns it, and its parent a little")
        .clicked()
    {
        let parent = skeleton.parents()[usize::from(joint)];
        let parent = parent.map(|parent| (name(parent), 0.3));
        look.joints = Some(LookAtEntry::new(
            parent.into_iter().chain([(name(joint), 0.7)]),
        ));
    }
}

/// Shows a choice of nothing, a point, and all named entities.
fn target(
    ui: &mut Ui,
    look: &mut LookAt,
    character: &Character,
    item: &InspectedItem,
    joints: &[Affine3A],
    params: &RigParams,
) {
    let shown = match look.target {
        LookTarget::Nothing => "nothing".to_owned(),
        LookTarget::Point(_) => "a point".to_owned(),
        LookTarget::Entity(entity) => params
            .names
            .get(entity)
            .map_or_else(|_| "despawned".to_owned(), |name| name.to_string()),
    };
    egui::ComboBox::from_id_salt("look target")
        .width(190.0)
        .selected_text(shown)
        .truncate()
        .choose(ui, |ui| {
            if ui
                .selectable_label(look.target == LookTarget::Nothing, "nothing")
                .clicked()
            {
                look.target = LookTarget::Nothing;
            }
            let is_point = matches!(look.target, LookTarget::Point(_));
            if ui.selectable_label(is_point, "a point").clicked() && !is_point {
                look.target = LookTarget::Point(point_ahead(look, character, item, joints, params));
            }
            let mut named: Vec<(Entity, &Name)> = params
                .named
                .iter()
                .filter(|(entity, _)| *entity != item.entity)
                .collect();
            // In a stable order. The query's order changes when entities do.
            named.sort_unstable_by_key(|(entity, name)| (name.as_str(), entity.index_u32()));
            for (entity, name) in named {
                ui.selectable_value(&mut look.target, LookTarget::Entity(entity), name.as_str());
            }
        });
}

/// Returns a point in front of the head, as far away as the head is above the ground.
fn point_ahead(
    look: &LookAt,
    character: &Character,
    item: &InspectedItem,
    joints: &[Affine3A],
    params: &RigParams,
) -> Vec3 {
    let world = params.places.get(item.entity).copied().unwrap_or_default();
    let ahead = || {
        let chain = chain_of(look, character)?;
        let head = Vec3::from(joints.get(usize::from(chain.head()))?.translation);
        let forward = chain.direction(Vec2::ZERO, &character.skeleton, item.joints());
        let forward = world
            .affine()
            .transform_vector3(forward)
            .normalize_or_zero();
        Some(head + forward * head.distance(world.translation()).max(0.1))
    };
    ahead().unwrap_or_else(|| world.translation())
}

/// Shows the share of each joint, the limits and the speed; returns `true` if one changed.
fn limits(ui: &mut Ui, entry: &mut LookAtEntry) -> bool {
    let before = entry.clone();
    for (name, weight) in &mut entry.joints {
        ui.weak(&**name);
        ui.add(
            egui::DragValue::new(weight)
                .range(0.0..=10.0)
                .speed(0.005)
                .fixed_decimals(2),
        );
        ui.end_row();
    }
    let slider = |ui: &mut Ui, label: &str, value: &mut f32, most: f32, suffix: &str| {
        ui.weak(label);
        // Only what is edited is limited: a manifest may say `inf`.
        let slider = widgets::slider(value, 0.0..=most);
        ui.add(slider.suffix(suffix).fixed_decimals(0));
        ui.end_row();
    };
    slider(ui, "yaw", &mut entry.yaw, 180.0, "°");
    slider(ui, "pitch", &mut entry.pitch, 90.0, "°");
    if !entry.eyes.is_empty() {
        slider(ui, "eyes", &mut entry.eye, 90.0, "°");
    }
    slider(ui, "speed", &mut entry.speed, 1080.0, "°/s");
    *entry != before
}

/// Describes a turn by its yaw and pitch in radians.
fn turned(turn: Vec2) -> String {
    let [yaw, pitch] = turn.to_array().map(f32::to_degrees);
    let side = |angle: f32, [positive, negative]: [&str; 2]| {
        format!(
            "{:.1}° {}",
            angle.abs(),
            if angle < 0.0 { negative } else { positive }
        )
    };
    format!(
        "{}, {}",
        side(yaw, ["left", "right"]),
        side(pitch, ["up", "down"])
    )
}

#[cfg(test)]
#[path = "tests/look.rs"]
mod tests;
