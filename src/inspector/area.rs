//! The part of the window that the panel covers.

use super::Inspector;
use bevy::{ecs::system::SystemParam, prelude::*, window::PrimaryWindow};
use bevy_egui::{egui, input::EguiWantsInput};

/// The panel's rectangle in the window, in physical pixels. egui doesn't count panels as its areas.
// Public, because a public run condition reads it.
#[derive(Resource, Default, PartialEq)]
pub struct PanelArea(pub(super) Rect);

impl PanelArea {
    /// Returns the rectangle in egui's points.
    pub(super) fn in_points(&self, ctx: &egui::Context) -> egui::Rect {
        let Rect { min, max } = self.0;
        egui::Rect::from_min_max(egui::pos2(min.x, min.y), egui::pos2(max.x, max.y))
            / ctx.pixels_per_point()
    }
}

/// Parameters of [`inspector_wants_pointer`](super::inspector_wants_pointer).
#[derive(SystemParam)]
pub struct PointerInput<'w, 's> {
    pub(super) inspector: Option<Res<'w, Inspector>>,
    pub(super) egui: Option<Res<'w, EguiWantsInput>>,
    pub(super) panel: Option<Res<'w, PanelArea>>,
    pub(super) window: Query<'w, 's, &'static Window, With<PrimaryWindow>>,
}
