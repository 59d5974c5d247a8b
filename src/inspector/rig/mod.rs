//! The Rig tab: goals that limbs reach for, what the character looks at, its feet and springs; drawn in the view and
//! dragged there.
//!
//! | file | shows |
//! | --- | --- |
//! | `goals` | the list of goals, and adding one |
//! | `look` | what the character looks at, and its limits |
//! | `feet` | where the feet stand, and their limits |
//! | `springs` | springs and what they stay outside of |
//! | `lines` | all of it as lines of a manifest |
//! | `draw` | all of it in the view |
//! | `drag` | handles in the view that move them |
//!
//! `params` has the entities that rigs aim at.

mod drag;
mod draw;
mod feet;
mod goals;
mod lines;
mod look;
mod params;
mod springs;

pub(super) use drag::drag;
pub(super) use draw::draw;
use lines::rig_ron;
pub(super) use params::RigParams;

use super::{
    folds::Folds,
    gizmos::in_world,
    inspected::InspectedItem,
    keyboard::FollowFocus,
    override_edit::overrides_ron,
    save,
    tab::{Tab, TabContext},
};
use crate::{
    asset::Character,
    character::{GoalLimb, IkLimb},
    import::{GoalEntry, RigEntries},
    model::{JointIndex, Skeleton},
    rig::{LimbJoints, PoleAngle},
};
use bevy::prelude::*;
use bevy_egui::egui::{self, Ui};
use glam::Affine3A;

/// The character whose rig is drawn and can be dragged, because the tab shows it.
#[derive(Resource, Default, PartialEq)]
pub(super) struct ShownRig(pub(super) Option<Entity>);

/// The Rig tab.
#[derive(Default)]
pub(super) struct RigTab {
    goals: goals::GoalsState,
}

impl Tab for RigTab {
    fn show(&mut self, ui: &mut Ui, context: &mut TabContext) {
        context.highlight = context.joint;
        context.shows_rig = true;
        let TabContext {
            item,
            character,
            folds,
            joint,
            rig,
            commands,
            ..
        } = context;
        show(ui, self, folds, *joint, character, item, rig, commands);
    }
}

fn show(
    ui: &mut Ui,
    state: &mut RigTab,
    folds: &mut Folds,
    selected: Option<JointIndex>,
    character: &Character,
    item: &mut InspectedItem,
    params: &mut RigParams,
    commands: &mut Commands,
) {
    let world = params.places.get(item.entity).copied().unwrap_or_default();
    let joints = item
        .pose
        .and_then(|pose| in_world(character, pose, &world))
        .unwrap_or_default();
    let selected = selected.filter(|&joint| usize::from(joint) < character.skeleton.len());
    egui::ScrollArea::vertical()
        .id_salt("rig")
        .auto_shrink([false, false])
        .follow(ui, |ui| {
            ui.horizontal(|ui| {
                let copy = ui.button("Copy manifest lines").on_hover_text(
                    "Copy goals, look_at, feet, springs and colliders for the manifest",
                );
                let save = ui
                    .button("Save")
                    .on_hover_text("Change what differs in the manifest's file");
                if copy.clicked() || save.clicked() {
                    let shown = item.goals.into_iter().flat_map(|goals| goals.iter());
                    let goals = lines::goal_entries(
                        character,
                        shown.filter_map(|goal| Some(params.goals.get(goal).ok()?.0)),
                    );
                    let look_at = item.look.as_ref().and_then(|look| look.joints.clone());
                    let rig = character.rig().clone();
                    let rig = RigEntries {
                        goals,
                        look_at: look_at.or(rig.look_at),
                        ..rig
                    };
                    if copy.clicked() {
                        ui.copy_text(rig_ron(&rig));
                    } else {
                        save_rig(commands, item.handle.id(), rig);
                    }
                }
                let overrides = item
                    .overrides
                    .as_ref()
                    .filter(|overrides| !overrides.is_empty());
                if let Some(overrides) = overrides
                    && ui.button("Copy overrides").clicked()
                {
                    ui.copy_text(overrides_ron(&character.skeleton, overrides));
                }
            });
            ui.separator();
            goals::show(
                ui,
                &mut state.goals,
                selected,
                character,
                item,
                &joints,
                params,
                commands,
            );
            ui.separator();
            look::show(ui, selected, character, item, &joints, params, commands);
            let mut rig = character.rig().clone();
            ui.separator();
            feet::show(ui, &mut rig, character, item, commands);
            ui.separator();
            springs::show(ui, folds, &mut rig, item, commands);
            if rig != *character.rig() {
                set_rig(item.handle.id(), rig, commands);
            }
        });
}

/// Saves the goals, look-at, feet, springs, and colliders of a character.
fn save_rig(commands: &mut Commands, character: AssetId<Character>, rig: RigEntries) {
    save::save(commands, character, move |world, _, manifest| {
        let now = world.resource::<Assets<Character>>().get(character);
        let now = now.ok_or("the character is no longer there")?;
        Ok(lines::changed_entries(manifest, now.loaded_rig(), &rig))
    });
}

/// Changes the rig of a character, once nothing else reads it.
fn set_rig(character: AssetId<Character>, rig: RigEntries, commands: &mut Commands) {
    commands.queue(move |world: &mut World| {
        if let Some(mut character) = world.resource_mut::<Assets<Character>>().get_mut(character) {
            character.set_rig(rig);
        }
    });
}

/// Returns what a goal comes to: the manifest's entry with what the component changes. `None` if there is no such entry.
fn entry_of(goal: &IkLimb, character: &Character) -> Option<GoalEntry> {
    let entry = match &goal.limb {
        GoalLimb::Named(name) => character.rig().goals.get(name)?.clone(),
        GoalLimb::Joints(limb) => GoalEntry::new(limb.clone()),
    };
    Some(GoalEntry {
        pole_angle: goal.pole_angle.map_or(entry.pole_angle, in_degrees),
        rotate_tip: goal.rotate_tip.unwrap_or(entry.rotate_tip),
        turn_limit: goal.turn_limit.unwrap_or(entry.turn_limit),
        ..entry
    })
}

/// Converts an angle in radians to degrees, without digits that only come from the conversion.
fn in_degrees(angle: PoleAngle) -> PoleAngle {
    let degrees = |angle: f32| (angle.to_degrees() * 1e3).round() / 1e3;
    match angle {
        PoleAngle::Bend(angle) => PoleAngle::Bend(degrees(angle)),
        PoleAngle::Blender(angle) => PoleAngle::Blender(degrees(angle)),
    }
}

/// Positions of a limb in the world.
struct PlacedLimb {
    root: Vec3,
    /// The joint that bends, or one in the middle of a chain.
    middle: Vec3,
    tip: Affine3A,
    /// Length of the straight limb.
    reach: f32,
}

impl PlacedLimb {
    fn new(limb: LimbJoints, skeleton: &Skeleton, joints: &[Affine3A]) -> Option<Self> {
        let place = |joint: JointIndex| joints.get(usize::from(joint)).copied();
        let upward = |joint| {
            std::iter::successors(Some(joint), |&joint| skeleton.parents()[usize::from(joint)])
        };
        let chain: Vec<JointIndex> = match limb {
            LimbJoints::TwoBone([root, mid, tip]) => vec![tip, mid, root],
            LimbJoints::Chain { tip, bones } => upward(tip).take(usize::from(bones) + 1).collect(),
        };
        let places = chain
            .iter()
            .map(|&joint| Some(place(joint)?.translation.into()))
            .collect::<Option<Vec<Vec3>>>()?;
        let reach = places
            .windows(2)
            .map(|pair| pair[0].distance(pair[1]))
            .sum();
        Some(Self {
            root: *places.last()?,
            middle: places[places.len() / 2],
            tip: place(chain[0])?,
            reach,
        })
    }

    fn of(goal: &IkLimb, character: &Character, joints: &[Affine3A]) -> Option<Self> {
        let skeleton = &character.skeleton;
        Self::new(
            entry_of(goal, character)?.limb.resolve(skeleton).ok()?,
            skeleton,
            joints,
        )
    }

    fn tip(&self) -> Vec3 {
        self.tip.translation.into()
    }
}
