//! The panel itself: the character list, the tabs, and what they share.

use super::{
    DrawSkeleton, InspectedCharacter, Inspector, InspectorTab, character_list, click, clipboard,
    context, cost, draw_skeleton::HighlightedJoint, drawing_tab, event_log, explain, faces, folds,
    joints, keyboard, parts, rewind, rig, style, timeline, tracks, vertex, weights,
};
use crate::{
    asset::Character,
    character::{
        CharacterParts, Expressions, FootPlacement, GroundProbe, IkGoals, LookAt, ModelPose,
        MorphPose, PartOverrides, PoseCounts, PoseOverrides, SkinnedCharacter, SpringBones,
        WeightView,
    },
    controller::AnimationController,
    model::JointIndex,
    recorder::{Recorded, Recording},
    rig::RigState,
};
use bevy::{
    camera::visibility::ViewVisibility,
    ecs::{query::QueryData, system::SystemParam},
    prelude::*,
};
use bevy_egui::{EguiContexts, egui};

/// What each tab remembers between frames.
#[derive(Resource, Default)]
pub(super) struct PanelState {
    list: character_list::ListState,
    pub(super) joints: joints::JointsState,
    rig: rig::RigTabState,
    tracks: tracks::TracksState,
    timeline: timeline::TimelineState,
    pub(super) rewind: rewind::RewindState,
    cost: cost::CostState,
    faces: faces::FacesState,
    copied: clipboard::CopyNote,
    weights: weights::WeightsState,
    pub(super) folds: folds::Folds,
    rect: Option<egui::Rect>,
}

impl PanelState {
    /// Returns where the panel was last shown.
    pub(super) fn rect(&self) -> egui::Rect {
        self.rect.unwrap_or(egui::Rect::NOTHING)
    }
}

/// A character, with everything the panel reads or changes.
#[derive(QueryData)]
#[query_data(mutable)]
pub(super) struct Inspected {
    pub(super) entity: Entity,
    pub(super) name: Option<&'static Name>,
    pub(super) handle: &'static SkinnedCharacter,
    pub(super) parts: &'static CharacterParts,
    pub(super) pose: Option<&'static ModelPose>,
    pub(super) controller: &'static mut AnimationController,
    pub(super) overrides: Option<&'static mut PoseOverrides>,
    pub(super) morphs: Option<&'static MorphPose>,
    pub(super) expressions: Option<&'static mut Expressions>,
    pub(super) draw: Option<&'static mut DrawSkeleton>,
    pub(super) view: Option<&'static mut WeightView>,
    pub(super) part_overrides: Option<&'static mut PartOverrides>,
    pub(super) goals: Option<&'static IkGoals>,
    pub(super) look: Option<&'static mut LookAt>,
    pub(super) rig: Option<&'static RigState>,
    pub(super) feet: Option<&'static mut FootPlacement>,
    pub(super) probe: Option<&'static GroundProbe>,
    pub(super) springs: Option<&'static mut SpringBones>,
}

impl InspectedItem<'_, '_> {
    /// Returns the current pose in model space; empty before the first one.
    pub(super) fn joints(&self) -> &[glam::Affine3A] {
        self.pose.map_or(&[], |pose| &pose.joints)
    }
}

/// Everything else the panel reads.
#[derive(SystemParam)]
pub(super) struct PanelParams<'w, 's> {
    assets: Res<'w, Assets<Character>>,
    meshes: Option<Res<'w, Assets<Mesh>>>,
    visible: Query<'w, 's, &'static ViewVisibility>,
    real_time: Res<'w, Time<Real>>,
    virtual_time: Option<ResMut<'w, Time<Virtual>>>,
    poses: Res<'w, PoseCounts>,
    log: Res<'w, event_log::EventLog>,
    clicked: Res<'w, vertex::ClickedVertex>,
    area: ResMut<'w, click::PanelArea>,
    recording: Option<ResMut<'w, Recording>>,
    recorded: Query<'w, 's, &'static Recorded>,
    own_context: Option<Res<'w, context::OwnContext>>,
    rig: rig::RigParams<'w, 's>,
    commands: Commands<'w, 's>,
}

/// Shows the panel.
pub(super) fn show(
    mut contexts: EguiContexts,
    mut inspector: ResMut<Inspector>,
    mut inspected: ResMut<InspectedCharacter>,
    mut state: ResMut<PanelState>,
    mut highlighted: ResMut<HighlightedJoint>,
    mut shown_rig: ResMut<rig::ShownRig>,
    mut params: PanelParams,
    mut characters: Query<Inspected>,
) {
    // There may be no camera yet, or several contexts.
    let Ok(ctx) = contexts.ctx_mut() else { return };
    let ctx = ctx.clone();
    if params.own_context.is_some() {
        style::thicken_light_text(&ctx);
    }
    let state = &mut *state;
    if inspected
        .0
        .is_none_or(|entity| !characters.contains(entity))
    {
        let first = characters
            .iter()
            .map(|item| item.entity)
            .min_by_key(|entity| entity.index_u32());
        inspected.set_if_neq(InspectedCharacter(first));
    }
    let (mut highlight, mut shows_rig) = (None, None);
    let mut viewport = egui::Ui::new(
        ctx.clone(),
        "marionette_inspector".into(),
        egui::UiBuilder::new()
            .layer_id(egui::LayerId::background())
            .max_rect(ctx.viewport_rect()),
    );
    let panel = egui::Panel::right("marionette_inspector_panel")
        .default_size(420.0)
        .size_range(330.0..=640.0)
        .show(&mut viewport, |ui| {
            style::apply_style(ui);
            ui.add_space(4.0);
            character_list::show(
                ui,
                &mut state.list,
                &mut inspected,
                &params.assets,
                characters.iter(),
            );
            ui.separator();
            let Some(mut item) = inspected
                .0
                .and_then(|entity| characters.get_mut(entity).ok())
            else {
                ui.weak("No characters in the scene.");
                return;
            };
            let assets = &params.assets;
            let Some(character) = assets.get(item.handle.id()) else {
                ui.weak("Loading…");
                return;
            };
            if item.pose.is_none() {
                params
                    .commands
                    .entity(item.entity)
                    .try_insert(ModelPose::default());
            }
            state.weights.follow(inspector.joint, &mut item);
            tabs(ui, &mut inspector);
            ui.separator();
            match inspector.tab {
                InspectorTab::Joints => {
                    let meshes = params.meshes.as_deref();
                    let mut joint = inspector.joint;
                    let (state, folds, commands) =
                        (&mut state.joints, &mut state.folds, &mut params.commands);
                    state.clicked = params
                        .clicked
                        .0
                        .filter(|clicked| clicked.character == item.entity);
                    let hovered = joints::show(
                        ui, state, folds, &mut joint, character, meshes, &mut item, commands,
                    );
                    highlight = hovered.or(joint).map(|joint| (item.entity, joint));
                    select(&mut inspector, joint);
                }
                InspectorTab::Rig => {
                    let (state, folds, commands) =
                        (&mut state.rig, &mut state.folds, &mut params.commands);
                    rig::show(
                        ui,
                        state,
                        folds,
                        inspector.joint,
                        character,
                        &mut item,
                        &mut params.rig,
                        commands,
                    );
                    highlight = inspector.joint.map(|joint| (item.entity, joint));
                    shows_rig = Some(item.entity);
                }
                InspectorTab::Tracks => {
                    let time = params.virtual_time.as_deref_mut();
                    tracks::show(
                        ui,
                        &mut state.tracks,
                        character,
                        &mut item,
                        time,
                        &mut params.commands,
                    );
                }
                InspectorTab::Timeline => {
                    let now = params.real_time.elapsed_secs_f64();
                    let (log, commands) = ((&*params.log, now), &mut params.commands);
                    timeline::show(ui, &mut state.timeline, character, &mut item, log, commands);
                }
                InspectorTab::Rewind => {
                    let (joint, recording) = (inspector.joint, params.recording.as_deref_mut());
                    let mut ghosts = inspector.ghosts;
                    let (state, folds, recorded) =
                        (&mut state.rewind, &mut state.folds, &params.recorded);
                    rewind::show(
                        ui,
                        state,
                        folds,
                        joint,
                        &mut ghosts,
                        character,
                        &item,
                        recording,
                        recorded,
                    );
                    if inspector.ghosts != ghosts {
                        inspector.ghosts = ghosts;
                    }
                }
                InspectorTab::Explain => {
                    let mut joint = inspector.joint;
                    let explained = explain::show(ui, &mut joint, character, &item);
                    highlight = explained.map(|joint| (item.entity, joint));
                    select(&mut inspector, joint);
                }
                InspectorTab::Faces => {
                    let (state, commands) = (&mut state.faces, &mut params.commands);
                    faces::show(ui, state, character, &mut item, commands);
                }
                InspectorTab::Drawing => {
                    drawing_tab::show(ui, character, &mut item, &mut params.commands);
                    ui.separator();
                    weights::show(
                        ui,
                        inspector.joint,
                        character,
                        &mut item,
                        &mut params.commands,
                    );
                }
                InspectorTab::Parts => {
                    parts::show(
                        ui,
                        character,
                        params.meshes.as_deref(),
                        &mut item,
                        &mut params.commands,
                    );
                }
                InspectorTab::Cost => {
                    let (meshes, poses) = (params.meshes.as_deref(), *params.poses);
                    let inputs = cost::CostInputs {
                        assets,
                        meshes,
                        visible: &params.visible,
                        poses,
                    };
                    cost::show_one(ui, &mut state.cost, character, &item, &inputs);
                    ui.separator();
                    cost::show_all(ui, &mut state.cost, &inputs, characters.iter());
                }
            }
        });
    let egui::Rect { min, max } = panel.response.rect * ctx.pixels_per_point();
    params
        .area
        .set_if_neq(click::PanelArea(Rect::new(min.x, min.y, max.x, max.y)));
    state.copied.show(&ctx, panel.response.rect);
    highlighted.set_if_neq(HighlightedJoint(highlight));
    shown_rig.set_if_neq(rig::ShownRig(shows_rig));
    state.rect = Some(panel.response.rect);
}

/// Sets the selected joint without triggering change detection needlessly.
fn select(inspector: &mut ResMut<Inspector>, joint: Option<JointIndex>) {
    if inspector.joint != joint {
        inspector.joint = joint;
    }
}

/// Shows the tab bar.
fn tabs(ui: &mut egui::Ui, inspector: &mut ResMut<Inspector>) {
    let is_turned = keyboard::turn_pages(ui, inspector);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 1.0;
        ui.spacing_mut().button_padding.x = 3.0;
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        for tab in InspectorTab::ALL {
            let label = ui.selectable_label(inspector.tab == tab, tab.title());
            if label.clicked() && inspector.tab != tab {
                inspector.tab = tab;
            }
            if is_turned && inspector.tab == tab {
                label.request_focus();
            }
        }
    });
}
