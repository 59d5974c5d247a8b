//! The tabs' common interface.

use super::{
    event_log::EventLog, folds::Folds, inspected::InspectedItem, rig::RigParams, vertex::PartVertex,
};
use crate::{
    asset::Character,
    character::PoseCounts,
    model::JointIndex,
    recorder::{Recorded, Recording},
};
use bevy::{camera::visibility::ViewVisibility, prelude::*};
use bevy_egui::egui::Ui;

/// A tab of the panel, with what it remembers between frames.
pub(super) trait Tab {
    /// Shows the tab.
    fn show(&mut self, ui: &mut Ui, context: &mut TabContext);
}

/// The character in the panel, and what tabs read and change besides it.
pub(super) struct TabContext<'a, 'q, 'w, 's> {
    pub(super) item: InspectedItem<'a, 'q>,
    pub(super) character: &'a Character,
    pub(super) meshes: Option<&'a Assets<Mesh>>,
    pub(super) visible: &'a Query<'w, 's, &'static ViewVisibility>,
    pub(super) poses: PoseCounts,
    pub(super) virtual_time: Option<&'a mut ResMut<'w, Time<Virtual>>>,
    /// Seconds since the app began.
    pub(super) now: f64,
    pub(super) log: &'a EventLog,
    /// The vertex of this character that was clicked.
    pub(super) clicked: Option<PartVertex>,
    pub(super) recording: Option<&'a mut ResMut<'w, Recording>>,
    pub(super) recorded: &'a Query<'w, 's, &'static Recorded>,
    pub(super) rig: &'a mut RigParams<'w, 's>,
    pub(super) commands: &'a mut Commands<'w, 's>,
    pub(super) folds: &'a mut Folds,
    /// The selected joint. Tabs may select another.
    pub(super) joint: Option<JointIndex>,
    /// `true` to draw skeletons of the present while the past is shown.
    pub(super) ghosts: bool,
    /// The joint to highlight in the view, set by the tab.
    pub(super) highlight: Option<JointIndex>,
    /// `true` to draw the rig in the view, where it can be dragged; set by the tab.
    pub(super) shows_rig: bool,
}
