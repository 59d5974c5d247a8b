//! The inspector: a panel that shows characters from the inside, and drawn skeletons.
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy_marionette::{inspector::MarionetteInspectorPlugin, prelude::*};
//! App::new()
//!     .add_plugins(DefaultPlugins.set(render_plugin()))
//!     .add_plugins((MarionettePlugins, MarionetteInspectorPlugin))
//!     .run();
//! ```
//!
//! F1 opens and closes it, or set [`Inspector::open`]. While it is closed none of its systems run but
//! the one that looks at the key, and the drawing of skeletons where one is asked for.
//!
//! It stands on bevy_egui's primary context. Where you add `EguiPlugin` yourself, before this plugin, that is
//! yours; else there is none until the panel is first opened, and then it is on the camera that draws the scene.
//!
//! | tab | shows |
//! | --- | --- |
//! | Joints | the tree; a joint's transforms and bind; posing by hand, mirrored, copied as RON |
//! | Tracks | every track, live and editable; the queue; timed events; pause, step, slow motion |
//! | Timeline | each track's clip with its callback keys, added and dragged, copied as RON; what fired |
//! | Explain | which track gave what to a joint |
//! | Drawing | bones, axes, names, links, sockets and boxes in the view; weights on the skin |
//! | Parts | each part's triangles, joints and material, and whether it is shown |
//! | Cost | joints, parts, palettes, the time of evaluations; what is culled and shared |
//!
//! While it is open, a click on a character in the view chooses it, and the joint under the pointer.
//!
//! Hide the panel's input from your own systems by [`inspector_wants_pointer`] and
//! [`inspector_wants_keys`]. [`DrawSkeleton`] works without the panel.

mod click;
mod clipboard;
mod context;
mod cost;
mod draw;
mod drawing;
mod explain;
mod hand;
mod joints;
mod keys;
mod list;
mod log;
mod mirror;
mod names;
mod numbers;
mod parts;
mod picking;
mod timeline;
mod tracks;
mod tree;
mod weights;

pub use draw::{BoneShape, DrawSkeleton, DrawSkeletonPlugin, SkeletonGizmos};
pub use hand::overrides_ron;
pub use keys::callbacks_ron;
pub use mirror::{mirror_joint, mirror_override};
pub use picking::CharacterPickingPlugin;

use crate::{
    asset::Character,
    character::{
        CharacterParts, CharacterSystems, ModelPose, PartOverrides, PoseCounts, PoseOverrides, SkinnedCharacter,
        WeightView,
    },
    controller::AnimationController,
    model::JointIndex,
};
use bevy::{
    camera::visibility::ViewVisibility,
    ecs::{query::QueryData, system::SystemParam},
    prelude::*,
};
use bevy_egui::{
    EguiContexts, EguiGlobalSettings, EguiPlugin, EguiPostUpdateSet, EguiPreUpdateSet, EguiPrimaryContextPass, egui,
    input::EguiWantsInput,
};
use draw::HoveredJoint;

/// Adds the panel, and [`DrawSkeletonPlugin`]. Add it after Bevy's plugins; brings `EguiPlugin` along. If you show
/// something by egui yourself, add that first: it then makes its context as ever, not only for an open panel.
#[derive(Default)]
pub struct MarionetteInspectorPlugin;

/// Whether the panel is open, and the key that opens and closes it.
#[derive(Resource, Clone, Debug, PartialEq, Eq)]
pub struct Inspector {
    /// Whether it is open. While it is not, nothing of it runs.
    pub open: bool,
    /// Opens and closes it; F1 to begin with.
    pub key: Option<KeyCode>,
    /// The tab in front.
    pub tab: InspectorTab,
    /// The joint shown; one that the character lacks is none.
    pub joint: Option<JointIndex>,
}

/// A tab of the panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InspectorTab {
    /// The joint tree, and posing by hand.
    #[default]
    Joints,
    /// Tracks, queue and timed events.
    Tracks,
    /// Callback keys and what fired.
    Timeline,
    /// Which track gave what to a joint.
    Explain,
    /// What is drawn in the view, and weights on the skin.
    Drawing,
    /// The parts, to be hidden one by one.
    Parts,
    /// Sizes and times.
    Cost,
}

impl InspectorTab {
    /// All tabs in order.
    pub const ALL: [Self; 7] =
        [Self::Joints, Self::Tracks, Self::Timeline, Self::Explain, Self::Drawing, Self::Parts, Self::Cost];

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Joints => "Joints",
            Self::Tracks => "Tracks",
            Self::Timeline => "Timeline",
            Self::Explain => "Explain",
            Self::Drawing => "Drawing",
            Self::Parts => "Parts",
            Self::Cost => "Cost",
        }
    }
}

impl Default for Inspector {
    fn default() -> Self {
        Self { open: false, key: Some(KeyCode::F1), tab: InspectorTab::default(), joint: None }
    }
}

impl Inspector {
    /// An open panel, with the usual key.
    pub fn opened() -> Self {
        Self { open: true, ..Self::default() }
    }
}

/// The character that the panel shows; the first there is while it is `None`.
///
/// Set it, and [`Inspector::joint`], to show another one: the list and the tree scroll there.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Deref, DerefMut)]
pub struct InspectedCharacter(pub Option<Entity>);

/// Run condition: the pointer is over the panel, or drags something in it.
pub fn inspector_wants_pointer(wants: Option<Res<EguiWantsInput>>) -> bool {
    wants.is_some_and(|wants| wants.wants_any_pointer_input())
}

/// Run condition: text is being typed in the panel.
pub fn inspector_wants_keys(wants: Option<Res<EguiWantsInput>>) -> bool {
    wants.is_some_and(|wants| wants.wants_any_keyboard_input())
}

impl Plugin for MarionetteInspectorPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<EguiPlugin>() {
            app.add_plugins(EguiPlugin::default());
            app.world_mut().resource_mut::<EguiGlobalSettings>().auto_create_primary_context = false;
            app.insert_resource(context::Own);
            app.add_systems(PreUpdate, context::provide.before(EguiPreUpdateSet::InitContexts));
        }
        if !app.is_plugin_added::<DrawSkeletonPlugin>() {
            app.add_plugins(DrawSkeletonPlugin);
        }
        app.init_resource::<Inspector>()
            .init_resource::<InspectedCharacter>()
            .init_resource::<HoveredJoint>()
            .insert_resource(draw::NamesElsewhere)
            .init_resource::<log::EventLog>()
            .init_resource::<State>()
            .add_systems(PreUpdate, toggle.after(bevy::input::InputSystems))
            // The panel sees the poses of its own frame, and what it changes shows in the next.
            .configure_sets(PostUpdate, EguiPostUpdateSet::EndPass.after(CharacterSystems::EvaluateLate))
            .add_systems(
                PostUpdate,
                (
                    tracks::end_step.run_if(resource_exists::<tracks::Stepping>).after(CharacterSystems::Advance),
                    log::collect.run_if(is_open).after(CharacterSystems::Callbacks),
                )
                    .before(EguiPostUpdateSet::EndPass),
            )
            .add_systems(PostUpdate, clipboard::hand_over.run_if(is_open).after(EguiPostUpdateSet::ProcessOutput))
            .add_systems(PostUpdate, click::choose.run_if(is_open).after(CharacterSystems::EvaluateLate))
            .add_systems(
                EguiPrimaryContextPass,
                (names::write.run_if(any_with_component::<DrawSkeleton>), panel.run_if(is_open)).chain(),
            );
    }
}

fn is_open(inspector: Res<Inspector>) -> bool {
    inspector.open
}

fn toggle(
    keys: Option<Res<ButtonInput<KeyCode>>>,
    mut inspector: ResMut<Inspector>,
    mut hovered: ResMut<HoveredJoint>,
) {
    let pressed = inspector.key.is_some_and(|key| keys.is_some_and(|keys| keys.just_pressed(key)));
    if pressed {
        inspector.open = !inspector.open;
    }
    if !inspector.open {
        hovered.set_if_neq(HoveredJoint(None));
    }
}

/// What the panel remembers of itself.
#[derive(Resource, Default)]
struct State {
    list: list::ListState,
    joints: joints::JointsState,
    tracks: tracks::TracksState,
    timeline: timeline::TimelineState,
    cost: cost::CostState,
    copied: clipboard::CopyNote,
    weights: weights::WeightsState,
}

/// All of a character that the panel reads or changes.
#[derive(QueryData)]
#[query_data(mutable)]
struct Inspected {
    entity: Entity,
    name: Option<&'static Name>,
    handle: &'static SkinnedCharacter,
    parts: &'static CharacterParts,
    pose: Option<&'static ModelPose>,
    world: &'static GlobalTransform,
    controller: &'static mut AnimationController,
    overrides: Option<&'static mut PoseOverrides>,
    draw: Option<&'static mut DrawSkeleton>,
    view: Option<&'static mut WeightView>,
    part_overrides: Option<&'static mut PartOverrides>,
}

impl InspectedItem<'_, '_> {
    /// The pose it keeps; empty before there is one.
    fn joints(&self) -> &[glam::Affine3A] {
        self.pose.map_or(&[], |pose| &pose.joints)
    }
}

/// The rest of the world, as far as the panel looks.
#[derive(SystemParam)]
struct Surroundings<'w, 's> {
    assets: Res<'w, Assets<Character>>,
    meshes: Option<Res<'w, Assets<Mesh>>>,
    visible: Query<'w, 's, &'static ViewVisibility>,
    real_time: Res<'w, Time<Real>>,
    virtual_time: Option<ResMut<'w, Time<Virtual>>>,
    poses: Res<'w, PoseCounts>,
    log: Res<'w, log::EventLog>,
    own_context: Option<Res<'w, context::Own>>,
    commands: Commands<'w, 's>,
}

fn panel(
    mut contexts: EguiContexts,
    mut inspector: ResMut<Inspector>,
    mut inspected: ResMut<InspectedCharacter>,
    mut state: ResMut<State>,
    mut hovered: ResMut<HoveredJoint>,
    mut around: Surroundings,
    mut characters: Query<Inspected>,
) {
    // No camera yet, or more than one context of its own: nothing to stand on.
    let Ok(ctx) = contexts.ctx_mut() else { return };
    let ctx = ctx.clone();
    if around.own_context.is_some() {
        numbers::thicken(&ctx);
    }
    let state = &mut *state;
    if inspected.0.is_none_or(|entity| !characters.contains(entity)) {
        let first = characters.iter().map(|item| item.entity).min_by_key(|entity| entity.index_u32());
        inspected.set_if_neq(InspectedCharacter(first));
    }
    let mut now_hovered = None;
    let mut viewport = egui::Ui::new(
        ctx.clone(),
        "marionette_inspector".into(),
        egui::UiBuilder::new().layer_id(egui::LayerId::background()).max_rect(ctx.viewport_rect()),
    );
    let panel = egui::Panel::right("marionette_inspector_panel").default_size(400.0).size_range(330.0..=640.0).show(
        &mut viewport,
        |ui| {
            numbers::calm(ui);
            ui.add_space(4.0);
            list::show(ui, &mut state.list, &mut inspected, &around.assets, characters.iter());
            ui.separator();
            let Some(mut item) = inspected.0.and_then(|entity| characters.get_mut(entity).ok()) else {
                ui.weak("There is no character.");
                return;
            };
            let assets = &around.assets;
            let Some(character) = assets.get(item.handle.id()) else {
                ui.weak("Its asset is not loaded yet.");
                return;
            };
            if item.pose.is_none() {
                around.commands.entity(item.entity).try_insert(ModelPose::default());
            }
            state.weights.follow(inspector.joint, &mut item);
            tabs(ui, &mut inspector);
            ui.separator();
            match inspector.tab {
                InspectorTab::Joints => {
                    let meshes = around.meshes.as_deref();
                    let mut joint = inspector.joint;
                    let (state, commands) = (&mut state.joints, &mut around.commands);
                    let hover = joints::show(ui, state, &mut joint, character, meshes, &mut item, commands);
                    now_hovered = hover.or(joint).map(|joint| (item.entity, joint));
                    choose(&mut inspector, joint);
                }
                InspectorTab::Tracks => {
                    let time = around.virtual_time.as_deref_mut();
                    tracks::show(ui, &mut state.tracks, character, &mut item, time, &mut around.commands);
                }
                InspectorTab::Timeline => {
                    let now = around.real_time.elapsed_secs_f64();
                    let (log, commands) = ((&*around.log, now), &mut around.commands);
                    timeline::show(ui, &mut state.timeline, character, &mut item, log, commands);
                }
                InspectorTab::Explain => {
                    let mut joint = inspector.joint;
                    let hover = explain::show(ui, &mut joint, character, &item);
                    now_hovered = hover.map(|joint| (item.entity, joint));
                    choose(&mut inspector, joint);
                }
                InspectorTab::Drawing => {
                    drawing::show(ui, character, &mut item, &mut around.commands);
                    ui.separator();
                    weights::show(ui, inspector.joint, character, &mut item, &mut around.commands);
                }
                InspectorTab::Parts => {
                    parts::show(ui, character, around.meshes.as_deref(), &mut item, &mut around.commands);
                }
                InspectorTab::Cost => {
                    let (meshes, poses) = (around.meshes.as_deref(), *around.poses);
                    let sights = cost::Sights { assets, meshes, visible: &around.visible, poses };
                    cost::show_one(ui, &mut state.cost, character, &item, &sights);
                    ui.separator();
                    cost::show_all(ui, &mut state.cost, &sights, characters.iter());
                }
            }
        },
    );
    state.copied.show(&ctx, panel.response.rect);
    hovered.set_if_neq(HoveredJoint(now_hovered));
}

fn choose(inspector: &mut ResMut<Inspector>, joint: Option<JointIndex>) {
    if inspector.joint != joint {
        inspector.joint = joint;
    }
}

fn tabs(ui: &mut egui::Ui, inspector: &mut ResMut<Inspector>) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for tab in InspectorTab::ALL {
            if ui.selectable_label(inspector.tab == tab, tab.title()).clicked() && inspector.tab != tab {
                inspector.tab = tab;
            }
        }
    });
}
