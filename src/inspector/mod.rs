//! The inspector: a panel that shows how a character works inside, and skeletons drawn in the view.
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy_marionette::{inspector::MarionetteInspectorPlugin, prelude::*};
//! App::new()
//!     .add_plugins(DefaultPlugins)
//!     .add_plugins((MarionettePlugins::default(), MarionetteInspectorPlugin))
//!     .run();
//! ```
//!
//! Press F1 to open or close the panel. While it is open, click a character in the view to select it, together with the
//! joint under the pointer. The nearest vertex is marked, and the Joints tab shows its weights. While the Rig tab is open,
//! drag goals, poles, look-at targets and colliders in the view.
//!
//! | tab | what it's for |
//! | --- | --- |
//! | Joints | browse the joint tree and transforms; see the weights of the clicked vertex; pose joints by hand, mirror overrides, copy them as RON |
//! | Rig | add goals, fade their weights; choose what the character looks at; tune limits, feet, springs and colliders; save all of it to the manifest, or copy it as lines |
//! | Tracks | edit tracks while they play; drag the point of a blend space; see the queue and scheduled changes; pause, step, slow motion |
//! | States | see the machine of a character's states: where it is, where it can go now, and where it was; click a state to go there |
//! | Timeline | scrub clips; add, drag, save and copy callback keys; see which events fired |
//! | Rewind | stop time and go back, with ghosts of the present; see weights, parameters, speed and joint angles as curves, and what happened when |
//! | Explain | find out how much each track contributes to a joint |
//! | Faces | move morph targets by hand, show one alone, and see which track contributes what |
//! | Drawing | show bones, axes, names, sockets and culling boxes; show weights on the skin |
//! | Parts | see each part's triangles, joints and material; show and hide parts |
//! | Cost | see sizes and evaluation times, and how many poses are culled or shared |
//!
//! # By keyboard
//!
//! | keys | what they do |
//! | --- | --- |
//! | F1 | open and close the panel ([`Inspector::key`]) |
//! | Tab, Shift+Tab | go to the next or previous control; the first one gives the panel the keyboard |
//! | arrow keys | go to the control in that direction |
//! | Space, Enter | press a button, open a list, type a number |
//! | Page Down, Page Up | next and previous tab, while the panel has the keyboard |
//! | arrow keys on a slider | change it; on the Rewind tab's slider, frame by frame |
//! | up, down on a character or joint | select the next or previous one |
//! | left, right on a joint | fold and unfold it, or go to its parent or child |
//! | arrow keys on a timeline | left and right move the playhead, or the selected callback key, by 10 ms; up and down select a key |
//! | arrow keys on a blend space | move its point |
//! | Escape | give the keyboard back to the game |
//!
//! # From code
//!
//! - Open the panel, or choose its tab, character, and joint: [`Inspector`].
//! - Find the panel as it was in the last run: [`InspectorMemoryPlugin`].
//! - Keep your own input systems from reacting to clicks and keys meant for the panel: the run conditions
//!   [`inspector_wants_pointer`] and [`inspector_wants_keys`].
//! - Draw skeletons without a panel: [`DrawSkeletonPlugin`] and [`DrawSkeleton`].
//!
//! # Cost
//!
//! While the panel is closed, only a system that checks the key runs, plus the drawing of any [`DrawSkeleton`]. When it is
//! first opened, it turns on animation events as messages, which its event log reads.
//!
//! The panel uses bevy_egui's primary context. If your app adds `EguiPlugin` itself, before this plugin, that is your
//! app's context. Otherwise the context is created when the panel is first opened, on the camera that draws the scene.

mod area;
mod blend_map;
mod callback_edit;
mod character_list;
mod click;
mod clipboard;
mod context;
mod cost;
mod draw_skeleton;
mod drawing_tab;
mod event_log;
mod explain;
mod faces;
mod folds;
mod ghosts;
mod gizmos;
mod influences;
mod inspected;
mod joint_names;
mod joints;
mod keyboard;
mod lent_pose;
mod memory;
mod mirror;
mod override_edit;
mod panel;
mod parts;
mod rewind;
mod rig;
mod save;
mod states;
mod style;
mod tab;
mod timeline;
mod tracks;
mod tree;
mod vertex;
mod weights;
mod widgets;

pub use draw_skeleton::{BoneShape, DrawSkeleton};
pub use gizmos::SkeletonGizmos;
pub use memory::InspectorMemoryPlugin;

use crate::{
    character::{CharacterPlugin, CharacterSystems},
    model::JointIndex,
};
use bevy::{gizmos::GizmoPlugin, prelude::*};
use bevy_egui::{
    EguiGlobalSettings, EguiPlugin, EguiPostUpdateSet, EguiPreUpdateSet, EguiPrimaryContextPass,
    input::EguiWantsInput,
};
use draw_skeleton::{EguiDrawsNames, HighlightedJoint};
use vertex::ClickedVertex;

/// Adds the inspector panel and [`DrawSkeletonPlugin`].
///
/// Add it after Bevy's plugins. It adds `EguiPlugin` if the app hasn't; if you use egui yourself, add `EguiPlugin`
/// before this plugin.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::prelude::*;
/// App::new().add_plugins((DefaultPlugins, MarionettePlugins::default(), MarionetteInspectorPlugin));
/// ```
#[derive(Default)]
pub struct MarionetteInspectorPlugin;

/// State of the inspector panel: whether it is open, and what it shows.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{inspector::{Inspector, InspectorTab}, prelude::*};
/// fn inspect(mut inspector: ResMut<Inspector>, hero: Single<Entity, With<SkinnedCharacter>>) {
///     inspector.open = true;
///     inspector.tab = InspectorTab::Tracks;
///     inspector.character = Some(*hero);
/// }
/// ```
#[derive(Resource, Clone, Debug, PartialEq, Eq, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq)]
pub struct Inspector {
    /// Shows the panel if `true`. While it is closed, its systems don't run.
    pub open: bool,
    /// Key that opens and closes the panel. Default: F1.
    pub key: Option<KeyCode>,
    /// The selected tab.
    pub tab: InspectorTab,
    /// The character that is shown; `None` picks the first one. The panel scrolls to it and to the joint.
    pub character: Option<Entity>,
    /// The selected joint. Ignored if the character has no joint of that index.
    pub joint: Option<JointIndex>,
    /// Draws skeletons of the present while the past is shown, by the Rewind tab or by
    /// [`Recording::show`](crate::recorder::Recording::show).
    pub ghosts: bool,
}

impl Default for Inspector {
    fn default() -> Self {
        Self {
            open: false,
            key: Some(KeyCode::F1),
            tab: InspectorTab::default(),
            character: None,
            joint: None,
            ghosts: false,
        }
    }
}

impl Inspector {
    /// Creates the state of an open panel.
    pub fn opened() -> Self {
        Self {
            open: true,
            ..Self::default()
        }
    }
}

/// A tab of the inspector panel.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::inspector::{Inspector, InspectorTab};
/// /// Goes through the tabs by a key of the game's own.
/// fn next_tab(keys: Res<ButtonInput<KeyCode>>, mut inspector: ResMut<Inspector>) {
///     if keys.just_pressed(KeyCode::F2) {
///         let mut tabs = InspectorTab::ALL.into_iter().cycle();
///         tabs.find(|tab| *tab == inspector.tab);
///         inspector.tab = tabs.next().unwrap_or_default();
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub enum InspectorTab {
    /// The joint tree, joint transforms and pose overrides.
    #[default]
    Joints,
    /// Goals that limbs reach for, what the character looks at, its feet and its springs.
    Rig,
    /// Tracks, the queue and scheduled changes.
    Tracks,
    /// States, and the ways between them.
    States,
    /// Callback keys and the event log.
    Timeline,
    /// The past: frame by frame, and as curves over time.
    Rewind,
    /// The contribution of each track to a joint.
    Explain,
    /// Morph targets and expressions.
    Faces,
    /// Bones, boxes, and more in the view, and weights on the skin.
    Drawing,
    /// Sizes, materials and visibility of the parts.
    Parts,
    /// Sizes and evaluation times.
    Cost,
}

impl InspectorTab {
    /// All tabs, in the order shown.
    pub const ALL: [Self; 11] = [
        Self::Joints,
        Self::Rig,
        Self::Tracks,
        Self::States,
        Self::Timeline,
        Self::Rewind,
        Self::Explain,
        Self::Faces,
        Self::Drawing,
        Self::Parts,
        Self::Cost,
    ];

    /// Returns the tab's title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Joints => "Joints",
            Self::Rig => "Rig",
            Self::Tracks => "Tracks",
            Self::States => "States",
            Self::Timeline => "Timeline",
            Self::Rewind => "Rewind",
            Self::Explain => "Explain",
            Self::Faces => "Faces",
            Self::Drawing => "Drawing",
            Self::Parts => "Parts",
            Self::Cost => "Cost",
        }
    }
}

/// Run condition: returns `true` while the pointer is over the panel or over a handle of the rig in the view, or drags
/// something there.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::inspector::inspector_wants_pointer;
/// # fn turn_camera() {}
/// App::new().add_systems(Update, turn_camera.run_if(not(inspector_wants_pointer)));
/// ```
pub fn inspector_wants_pointer(
    area::PointerInput {
        inspector,
        egui,
        panel,
        window,
    }: area::PointerInput,
) -> bool {
    let pointer = window
        .single()
        .ok()
        .and_then(Window::physical_cursor_position);
    let is_over =
        |panel: Res<area::PanelArea>| pointer.is_some_and(|pointer| panel.0.contains(pointer));
    let is_open = inspector.is_some_and(|inspector| inspector.open);
    is_open && panel.is_some_and(is_over) || egui.is_some_and(|egui| egui.wants_any_pointer_input())
}

/// Run condition: returns `true` while a control of the panel has the keyboard.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::inspector::inspector_wants_keys;
/// # fn walk() {}
/// App::new().add_systems(Update, walk.run_if(not(inspector_wants_keys)));
/// ```
pub fn inspector_wants_keys(wants: Option<Res<EguiWantsInput>>) -> bool {
    wants.is_some_and(|wants| wants.wants_any_keyboard_input())
}

impl Plugin for MarionetteInspectorPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<EguiPlugin>() {
            app.add_plugins(EguiPlugin::default());
            // `create` makes one when the panel is first opened, on the camera that draws the scene.
            app.world_mut()
                .resource_mut::<EguiGlobalSettings>()
                .auto_create_primary_context = false;
            app.insert_resource(context::OwnContext);
            app.add_systems(
                PreUpdate,
                context::create.before(EguiPreUpdateSet::InitContexts),
            );
        }
        if !app.is_plugin_added::<DrawSkeletonPlugin>() {
            app.add_plugins(DrawSkeletonPlugin);
        }
        lent_pose::watch(app.world_mut());
        app.register_type::<Inspector>()
            .init_resource::<Inspector>()
            .init_resource::<HighlightedJoint>()
            .init_resource::<rig::ShownRig>()
            .insert_resource(EguiDrawsNames)
            .init_resource::<event_log::EventLog>()
            .init_resource::<save::Saves>()
            .init_resource::<panel::PanelState>()
            .init_resource::<ClickedVertex>()
            .init_resource::<area::PanelArea>()
            .add_systems(
                PreUpdate,
                (
                    toggle,
                    lent_pose::take_back.run_if(any_with_component::<lent_pose::LentPose>),
                    event_log::listen.run_if(is_open.and_then(not(event_log::is_listening))),
                )
                    .chain()
                    .after(bevy::input::InputSystems),
            )
            // The panel shows this frame's poses; its changes take effect in the next frame.
            .configure_sets(
                PostUpdate,
                EguiPostUpdateSet::EndPass.after(CharacterSystems::SharePoses),
            )
            .add_systems(
                PostUpdate,
                event_log::collect
                    .run_if(is_open.and_then(event_log::is_listening))
                    .after(CharacterSystems::Callbacks)
                    .before(EguiPostUpdateSet::EndPass),
            )
            .add_systems(
                PostUpdate,
                clipboard::copy_to_clipboard
                    .run_if(is_open)
                    .after(EguiPostUpdateSet::ProcessOutput),
            )
            .add_systems(
                PostUpdate,
                click::select
                    .run_if(is_open)
                    .after(CharacterSystems::SharePoses),
            )
            .add_systems(
                EguiPrimaryContextPass,
                (
                    joint_names::draw.run_if(any_with_component::<DrawSkeleton>),
                    (panel::show, rig::drag).chain().run_if(is_open),
                )
                    .chain(),
            );
    }

    fn finish(&self, app: &mut App) {
        // The plugins may have been added in any order.
        if let Some(schedule) = CharacterPlugin::schedule_in(app) {
            app.add_systems(
                schedule,
                tracks::end_step
                    .run_if(resource_exists::<tracks::Stepping>)
                    .after(CharacterSystems::Advance),
            );
        }
    }
}

/// Draws characters that have a [`DrawSkeleton`]. The inspector adds it; add it yourself if you don't want the panel.
///
/// Needs Bevy's `GizmoPlugin`, in any order.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{inspector::{DrawSkeleton, DrawSkeletonPlugin}, prelude::*};
/// # let mut app = App::new();
/// # app.add_plugins((DefaultPlugins, MarionettePlugins::default()));
/// // The skeletons of all characters, while the game is developed.
/// if cfg!(debug_assertions) {
///     app.add_plugins(DrawSkeletonPlugin)
///         .register_required_components::<SkinnedCharacter, DrawSkeleton>();
/// }
/// ```
pub struct DrawSkeletonPlugin;

impl Plugin for DrawSkeletonPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<DrawSkeleton>();
        // If the plugin comes later, `finish` does it.
        if app.is_plugin_added::<GizmoPlugin>() {
            Self::set_up(app);
        }
    }

    fn finish(&self, app: &mut App) {
        if app.world().contains_resource::<IsSetUp>() {
            return;
        }
        if app.is_plugin_added::<GizmoPlugin>() {
            Self::set_up(app);
        } else {
            error!(
                "`DrawSkeletonPlugin` draws nothing: add `DefaultPlugins` with Bevy's feature `bevy_gizmos`, or `GizmoPlugin`"
            );
        }
    }
}

/// Exists once [`DrawSkeletonPlugin`] is set up.
#[derive(Resource)]
struct IsSetUp;

impl DrawSkeletonPlugin {
    fn set_up(app: &mut App) {
        let line = GizmoLineConfig {
            width: 1.5,
            ..default()
        };
        app.insert_resource(IsSetUp)
            .insert_gizmo_config(
                SkeletonGizmos,
                GizmoConfig {
                    line,
                    // In front of the skin, which would hide the skeleton.
                    depth_bias: -1.0,
                    ..default()
                },
            )
            .init_resource::<HighlightedJoint>()
            .init_resource::<rig::ShownRig>()
            .init_resource::<ClickedVertex>()
            .add_systems(
                PostUpdate,
                (
                    draw_skeleton::draw.run_if(any_with_component::<DrawSkeleton>),
                    draw_skeleton::draw_highlighted
                        .run_if(|highlighted: Res<HighlightedJoint>| highlighted.0.is_some()),
                    rig::draw.run_if(
                        any_with_component::<DrawSkeleton>
                            .or_else(|shown: Res<rig::ShownRig>| shown.0.is_some()),
                    ),
                    ghosts::draw.run_if(ghosts::are_shown),
                    vertex::mark
                        .run_if(|clicked: Res<ClickedVertex>| clicked.0.is_some())
                        .after(click::select),
                )
                    .after(CharacterSystems::SharePoses),
            );
    }
}

fn is_open(inspector: Res<Inspector>) -> bool {
    inspector.open
}

fn toggle(
    keys: Option<Res<ButtonInput<KeyCode>>>,
    mut inspector: ResMut<Inspector>,
    mut highlighted: ResMut<HighlightedJoint>,
    mut shown_rig: ResMut<rig::ShownRig>,
    mut clicked: ResMut<ClickedVertex>,
) {
    if inspector
        .key
        .is_some_and(|key| keys.is_some_and(|keys| keys.just_pressed(key)))
    {
        inspector.open = !inspector.open;
    }
    // While the panel is closed, nothing of it is left in the view.
    if !inspector.open {
        highlighted.set_if_neq(HighlightedJoint(None));
        shown_rig.set_if_neq(rig::ShownRig(None));
        clicked.set_if_neq(ClickedVertex(None));
    }
}
