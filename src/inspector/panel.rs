//! The panel itself: the character list, the tabs, and what they share.

use super::{
    Inspector, InspectorTab,
    area::PanelArea,
    character_list, clipboard,
    context::OwnContext,
    cost::CostTab,
    draw_skeleton::HighlightedJoint,
    drawing_tab::DrawingTab,
    event_log::EventLog,
    explain::ExplainTab,
    faces::FacesTab,
    folds::Folds,
    inspected::Inspected,
    joints::JointsTab,
    keyboard, lent_pose,
    parts::PartsTab,
    rewind::RewindTab,
    rig::{RigParams, RigTab, ShownRig},
    save::Saves,
    states::StatesTab,
    style,
    tab::{Tab, TabContext},
    timeline::TimelineTab,
    tracks::TracksTab,
    vertex::ClickedVertex,
};
use crate::{
    asset::Character,
    character::PoseCounts,
    recorder::{Recorded, Recording},
};
use bevy::{camera::visibility::ViewVisibility, ecs::system::SystemParam, prelude::*};
use bevy_egui::{EguiContexts, egui};

/// The tabs, and what the panel remembers between frames.
#[derive(Resource, Default)]
pub(super) struct PanelState {
    list: character_list::ListState,
    pub(super) joints: JointsTab,
    rig: RigTab,
    tracks: TracksTab,
    states: StatesTab,
    timeline: TimelineTab,
    pub(super) rewind: RewindTab,
    drawing: DrawingTab,
    cost: CostTab,
    faces: FacesTab,
    copied: clipboard::CopyNote,
    pub(super) folds: Folds,
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
    log: Res<'w, EventLog>,
    clicked: Res<'w, ClickedVertex>,
    area: ResMut<'w, PanelArea>,
    recording: Option<ResMut<'w, Recording>>,
    recorded: Query<'w, 's, &'static Recorded>,
    own_context: Option<Res<'w, OwnContext>>,
    rig: RigParams<'w, 's>,
    saves: Res<'w, Saves>,
    commands: Commands<'w, 's>,
}

/// Shows the panel.
pub(super) fn show(
    mut contexts: EguiContexts,
    mut inspector: ResMut<Inspector>,
    mut state: ResMut<PanelState>,
    mut highlighted: ResMut<HighlightedJoint>,
    mut shown_rig: ResMut<ShownRig>,
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
    if inspector
        .character
        .is_none_or(|entity| !characters.contains(entity))
    {
        // By index, so that the choice is the same in each run.
        let first = characters
            .iter()
            .map(|item| item.entity)
            .min_by_key(|entity| entity.index_u32());
        if inspector.character != first {
            inspector.character = first;
        }
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
                &mut inspector,
                &params.assets,
                characters.iter(),
            );
            params.saves.show(ui, &mut params.commands);
            ui.separator();
            // Only this tab needs it, and it goes through all characters.
            if inspector.tab == InspectorTab::Cost {
                state
                    .cost
                    .survey(&params.assets, &params.visible, characters.iter());
            }
            let Some(mut item) = inspector
                .character
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
                lent_pose::lend(item.entity, &mut params.commands);
            }
            state.drawing.weights.follow(inspector.joint, &mut item);
            tabs(ui, &mut inspector);
            ui.separator();
            let mut context = TabContext {
                character,
                meshes: params.meshes.as_deref(),
                visible: &params.visible,
                poses: *params.poses,
                virtual_time: params.virtual_time.as_mut(),
                now: params.real_time.elapsed_secs_f64(),
                log: &params.log,
                clicked: params
                    .clicked
                    .0
                    .filter(|clicked| clicked.character == item.entity),
                recording: params.recording.as_mut(),
                recorded: &params.recorded,
                rig: &mut params.rig,
                commands: &mut params.commands,
                folds: &mut state.folds,
                joint: inspector.joint,
                ghosts: inspector.ghosts,
                highlight: None,
                shows_rig: false,
                item,
            };
            let tab: &mut dyn Tab = match inspector.tab {
                InspectorTab::Joints => &mut state.joints,
                InspectorTab::Rig => &mut state.rig,
                InspectorTab::Tracks => &mut state.tracks,
                InspectorTab::States => &mut state.states,
                InspectorTab::Timeline => &mut state.timeline,
                InspectorTab::Rewind => &mut state.rewind,
                InspectorTab::Explain => &mut ExplainTab,
                InspectorTab::Faces => &mut state.faces,
                InspectorTab::Drawing => &mut state.drawing,
                InspectorTab::Parts => &mut PartsTab,
                InspectorTab::Cost => &mut state.cost,
            };
            tab.show(ui, &mut context);
            let entity = context.item.entity;
            highlight = context.highlight.map(|joint| (entity, joint));
            shows_rig = context.shows_rig.then_some(entity);
            let (joint, ghosts) = (context.joint, context.ghosts);
            // Only a change is a change.
            if (inspector.joint, inspector.ghosts) != (joint, ghosts) {
                (inspector.joint, inspector.ghosts) = (joint, ghosts);
            }
        });
    let egui::Rect { min, max } = panel.response.rect * ctx.pixels_per_point();
    params
        .area
        .set_if_neq(PanelArea(Rect::new(min.x, min.y, max.x, max.y)));
    state.copied.show(&ctx, panel.response.rect);
    highlighted.set_if_neq(HighlightedJoint(highlight));
    shown_rig.set_if_neq(ShownRig(shows_rig));
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
