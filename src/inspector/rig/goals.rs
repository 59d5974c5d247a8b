//! The list of goals: weights, poles and how far the limbs are from them.

use super::{
    super::{inspected::InspectedItem, keyboard::Choose, widgets},
    PlacedLimb, entry_of,
    params::{RigParams, SpawnedByPanel},
};
use crate::{
    asset::Character,
    character::{GoalLimb, IkGoal, IkLimb, IkWeight},
    import::GoalEntry,
    model::{JointIndex, Skeleton},
    rig::{GoalAction, Limb, PoleAngle},
};
use bevy::prelude::*;
use bevy_egui::egui::{self, RichText, Ui};
use glam::Affine3A;
use std::time::Duration;

pub(super) struct GoalsState {
    /// The limb that a goal is added for.
    limb: Option<GoalLimb>,
    /// The joint that was last selected.
    selected: Option<JointIndex>,
    /// Seconds that fades take.
    fade: f32,
}

impl Default for GoalsState {
    fn default() -> Self {
        Self {
            limb: None,
            selected: None,
            fade: 0.5,
        }
    }
}

/// A change to a goal that spawns or despawns entities.
enum Action {
    AddPole,
    RemovePole,
    Remove,
}

/// Shows the goals. `joints` are the character's joints in the world.
pub(super) fn show(
    ui: &mut Ui,
    state: &mut GoalsState,
    selected: Option<JointIndex>,
    character: &Character,
    item: &InspectedItem,
    joints: &[Affine3A],
    params: &mut RigParams,
    commands: &mut Commands,
) {
    let goals: Vec<Entity> = item
        .goals
        .into_iter()
        .flat_map(|goals| goals.iter())
        .collect();
    ui.horizontal(|ui| {
        ui.strong("Goals");
        ui.weak(goals.len().to_string());
        ui.weak("fade");
        let fade = egui::DragValue::new(&mut state.fade)
            .range(0.0..=10.0)
            .speed(0.01)
            .suffix(" s")
            .fixed_decimals(2);
        ui.add(fade);
    });
    add(
        ui,
        state,
        selected,
        character,
        item.entity,
        joints,
        commands,
    );
    for entity in goals {
        let Ok((mut goal, mut weight)) = params.goals.get_mut(entity) else {
            continue;
        };
        let limb = PlacedLimb::of(&goal, character, joints);
        let place = params
            .places
            .get(entity)
            .ok()
            .map(GlobalTransform::translation);
        let left = limb
            .as_ref()
            .zip(place)
            .map(|(limb, goal)| reach(limb, goal));
        // The game may have despawned a pole.
        let name = |entity| {
            params
                .names
                .get(entity)
                .map_or_else(|_| "despawned".into(), |name| name.to_string())
        };
        let names = [Some(entity), goal.pole].map(|entity| entity.map(name));
        let (entry, frame) = (entry_of(&goal, character), egui::Frame::group(ui.style()));
        let action = ui.push_id(entity, |ui| {
            frame.show(ui, |ui| {
                one_goal(ui, state.fade, &mut goal, entry, &mut weight, names, left)
            })
        });
        // The panel despawns only what it has spawned.
        let was_spawned = |entity: &Entity| params.spawned.contains(*entity);
        match action.inner.inner {
            None => {}
            Some(Action::AddPole) => {
                let Some(limb) = limb else { continue };
                let name = Name::new(format!("{} pole", title(&goal.limb)));
                let pole = commands
                    .spawn((
                        name,
                        SpawnedByPanel,
                        Transform::from_translation(pole_place(&limb)),
                    ))
                    .id();
                goal.pole = Some(pole);
            }
            Some(Action::RemovePole) => {
                if let Some(pole) = goal.pole.take().filter(was_spawned) {
                    commands.entity(pole).try_despawn();
                }
            }
            Some(Action::Remove) => {
                if let Some(pole) = goal.pole.filter(was_spawned) {
                    commands.entity(pole).try_despawn();
                }
                if was_spawned(&entity) {
                    commands.entity(entity).try_despawn();
                } else {
                    // The app's own entity, such as a door handle, stays.
                    commands
                        .entity(entity)
                        .try_remove::<(IkGoal, IkLimb, IkWeight)>();
                }
            }
        }
    }
}

/// Shows one goal; `names` are those of its entity and its pole, `left` is how far its limb is from it.
fn one_goal(
    ui: &mut Ui,
    fade: f32,
    goal: &mut Mut<IkLimb>,
    entry: Option<GoalEntry>,
    weight: &mut Mut<IkWeight>,
    names: [Option<String>; 2],
    left: Option<String>,
) -> Option<Action> {
    let [name, pole] = names;
    let mut action = None;
    ui.horizontal(|ui| {
        let limb = title(&goal.limb);
        ui.label(RichText::new(widgets::shortened(limb, 18)).strong())
            .on_hover_text(limb);
        let name = name.unwrap_or_default();
        ui.weak(widgets::shortened(&name, 22).into_owned())
            .on_hover_text(&name);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if ui.button("remove").clicked() {
                action = Some(Action::Remove);
            }
        });
    });
    let Some(entry) = entry else {
        ui.weak("The manifest has no such goal.");
        return action;
    };
    egui::Grid::new("goal")
        .num_columns(2)
        .spacing([8.0, 4.0])
        .show(ui, |ui| {
            ui.spacing_mut().slider_width = 120.0;
            ui.weak("weight");
            ui.horizontal(|ui| {
                let mut now = weight.weight;
                let slider = ui.add(widgets::slider(&mut now, 0.0..=1.0).fixed_decimals(2));
                if slider.changed() {
                    **weight = IkWeight::new(now);
                }
            });
            ui.end_row();
            ui.weak("fade");
            ui.horizontal(|ui| {
                for (title, to) in [("fade in", 1.0), ("fade out", 0.0)] {
                    if ui.button(title).clicked() {
                        weight.fade_to(to, Duration::from_secs_f32(fade));
                    }
                }
            });
            ui.end_row();
            ui.weak("tip");
            ui.horizontal(|ui| {
                let mut rotates = entry.rotate_tip;
                if ui
                    .checkbox(&mut rotates, "rotates")
                    .on_hover_text("The tip takes the goal's rotation")
                    .changed()
                {
                    goal.rotate_tip = Some(rotates);
                }
                ui.label(left.unwrap_or_else(|| "no such limb".to_owned()));
            });
            ui.end_row();
            ui.weak("turns").on_hover_text(
                "How fast its joints turn at most when the goal comes, goes or jumps",
            );
            if let Some(limit) = ui.horizontal(|ui| turn_limit(ui, entry.turn_limit)).inner {
                goal.turn_limit = Some(limit);
            }
            ui.end_row();
            ui.weak("pole");
            ui.horizontal(|ui| match pole {
                Some(pole) => {
                    widgets::name_cell(ui, &pole, 24);
                    if ui.button("remove pole").clicked() {
                        action = Some(Action::RemovePole);
                    }
                }
                None => {
                    if ui
                        .button("add pole")
                        .on_hover_text("Add an entity that the limb bends toward")
                        .clicked()
                    {
                        action = Some(Action::AddPole);
                    }
                }
            });
            ui.end_row();
            if goal.pole.is_some() && matches!(entry.limb, Limb::TwoBone { .. }) {
                ui.weak("pole angle");
                if let Some(angle) = pole_angle(ui, entry.pole_angle) {
                    goal.pole_angle = Some(angle);
                }
                ui.end_row();
            }
        });
    action
}

/// Shows a turn limit. Returns it if it changed.
fn turn_limit(ui: &mut Ui, limit: f32) -> Option<f32> {
    let mut is_limited = limit.is_finite();
    if ui.checkbox(&mut is_limited, "at most").changed() {
        return Some(if is_limited {
            GoalAction::TURN_LIMIT
        } else {
            f32::INFINITY
        });
    }
    let mut changed = limit;
    if is_limited {
        // Below 1, the limb couldn't even follow its clips.
        let drag = egui::DragValue::new(&mut changed)
            .range(1.0..=10.0)
            .speed(0.01);
        ui.add(drag.suffix(" x the clips").max_decimals(2));
    }
    (changed != limit).then_some(changed)
}

/// Shows a pole angle, given in degrees. Returns it in radians if it changed.
fn pole_angle(ui: &mut Ui, angle: PoleAngle) -> Option<PoleAngle> {
    let (mut is_blenders, mut degrees) = match angle {
        PoleAngle::Bend(degrees) => (false, degrees),
        PoleAngle::Blender(degrees) => (true, degrees),
    };
    let before = (is_blenders, degrees);
    ui.horizontal(|ui| {
        ui.selectable_value(&mut is_blenders, false, "bend")
            .on_hover_text("Turned away from bending at the pole");
        ui.selectable_value(&mut is_blenders, true, "Blender")
            .on_hover_text("As in Blender's IK constraint");
        ui.add(
            egui::DragValue::new(&mut degrees)
                .range(-180.0..=180.0)
                .speed(0.5)
                .suffix("°")
                .max_decimals(1),
        );
    });
    let angle = if is_blenders {
        PoleAngle::Blender
    } else {
        PoleAngle::Bend
    };
    ((is_blenders, degrees) != before).then(|| angle(degrees.to_radians()))
}

/// Shows the limbs that can get a goal, and adds one where the limb's tip is.
fn add(
    ui: &mut Ui,
    state: &mut GoalsState,
    selected: Option<JointIndex>,
    character: &Character,
    entity: Entity,
    joints: &[Affine3A],
    commands: &mut Commands,
) {
    let skeleton = &character.skeleton;
    let above = selected
        // Any limb that ends at the selected joint can get a goal, even if the manifest has no name for
        // it.
        .and_then(|joint| limb_above(skeleton, joint))
        .map(GoalLimb::Joints);
    let choices: Vec<GoalLimb> = above
        .into_iter()
        .chain(
            character
                .rig()
                .goals
                .keys()
                .map(|name| GoalLimb::Named(name.clone())),
        )
        .collect();
    // A joint that is selected comes first.
    let is_new = std::mem::replace(&mut state.selected, selected) != selected;
    let chosen = state
        .limb
        .take()
        .filter(|limb| !is_new && choices.contains(limb));
    let Some(mut limb) = chosen.or_else(|| choices.first().cloned()) else {
        ui.weak("Select a hand or a foot to add a goal for it.");
        return;
    };
    ui.horizontal(|ui| {
        ui.weak("limb");
        let shown = title(&limb).to_owned();
        egui::ComboBox::from_id_salt("limb")
            .width(190.0)
            .selected_text(shown)
            .truncate()
            .choose(ui, |ui| {
                for choice in &choices {
                    let text = match choice {
                        GoalLimb::Named(name) => name.clone(),
                        GoalLimb::Joints(_) => format!("{} (selected joint)", title(choice)),
                    };
                    ui.selectable_value(&mut limb, choice.clone(), text);
                }
            });
        if ui.button("Add goal").clicked() {
            let goal = IkLimb::from(limb.clone());
            if let Some(placed) = PlacedLimb::of(&goal, character, joints) {
                // At the tip's place and rotation, so that the pose doesn't change until the goal is
                // dragged.
                let (_, rotation, at) = placed.tip.to_scale_rotation_translation();
                let name = Name::new(format!("{} goal", title(&limb)));
                let goal = (IkGoal(entity), goal);
                commands.spawn((
                    name,
                    SpawnedByPanel,
                    goal,
                    Transform::from_translation(at).with_rotation(rotation),
                ));
            }
        }
    });
    state.limb = Some(limb);
}

/// Returns the limb of two bones that ends at a joint. Joints that only twist, and those in the same place, don't bend.
fn limb_above(skeleton: &Skeleton, tip: JointIndex) -> Option<Limb> {
    let place = |joint: JointIndex| skeleton.rest_model()[usize::from(joint)].translation;
    let mut limb = vec![tip];
    for joint in skeleton.ancestors(tip) {
        let name = skeleton.name(joint).to_lowercase();
        let is_apart = place(joint).distance_squared(place(limb[limb.len() - 1])) > 1e-12;
        if is_apart && !name.contains("twist") && !name.contains("roll") {
            limb.push(joint);
        }
    }
    let [tip, mid, root, ..] = limb[..] else {
        return None;
    };
    let name = |joint| skeleton.name(joint).to_string();
    Some(Limb::TwoBone {
        root: name(root),
        mid: Some(name(mid)),
        tip: name(tip),
    })
}

/// Returns the manifest's name of a limb, or its tip's.
pub(super) fn title(limb: &GoalLimb) -> &str {
    match limb {
        GoalLimb::Named(name) => name,
        GoalLimb::Joints(Limb::TwoBone { tip, .. } | Limb::Chain { tip, .. }) => tip,
    }
}

/// Describes how far a limb is from its goal.
fn reach(limb: &PlacedLimb, goal: Vec3) -> String {
    let left = limb.tip().distance(goal);
    let beyond = limb.root.distance(goal) - limb.reach;
    // Less than a thousandth of the limb's length isn't visible.
    if beyond > 1e-3 * limb.reach {
        format!("{beyond:.3} out of reach")
    } else if left <= 1e-3 * limb.reach {
        "reached".to_owned()
    } else {
        format!("{left:.3} away")
    }
}

/// Returns the place for a pole that leaves a limb bent as it is.
fn pole_place(limb: &PlacedLimb) -> Vec3 {
    let along = (limb.tip() - limb.root).normalize_or(Vec3::Y);
    let bend = (limb.middle - limb.root).reject_from_normalized(along);
    // A straight limb has no bend to keep. Any side will do.
    let side = if bend.length() > 1e-3 * limb.reach {
        bend.normalize()
    } else {
        along.any_orthonormal_vector()
    };
    // As far out as the limb is long, so that small movements of the pole don't flip it.
    limb.middle + side * limb.reach
}

#[cfg(test)]
#[path = "tests/goals.rs"]
mod tests;
