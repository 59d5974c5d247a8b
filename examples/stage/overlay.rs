//! Text and shapes over the scene, painted with egui.
//!
//! The inspector brings egui along anyway, so the examples don't need to build Bevy's UI.

use super::Bare;
use bevy::{
    ecs::{schedule::SingleThreadedExecutor, system::SystemParam},
    prelude::*,
};
use bevy_egui::{
    EguiContexts, EguiGlobalSettings, EguiPlugin, EguiPrimaryContextPass,
    egui::{self, Align2, Color32, FontId, Painter, Rect},
};

/// When to paint, in `EguiPrimaryContextPass`.
#[derive(SystemSet, Clone, Debug, PartialEq, Eq, Hash)]
pub enum OverlaySystems {
    /// The caption and the help text.
    Text,
    /// What examples paint.
    Examples,
    /// Measures how much of the picture text covers.
    Measure,
}

/// Paints over the scene.
#[derive(SystemParam)]
pub struct Overlay<'w, 's> {
    contexts: EguiContexts<'w, 's>,
    bare: Res<'w, Bare>,
}

impl Overlay<'_, '_> {
    /// Returns the egui context, or `None` if all text is hidden.
    pub fn context(&mut self) -> Option<egui::Context> {
        if self.bare.0 {
            None
        } else {
            self.contexts.ctx_mut().ok().cloned()
        }
    }

    /// Returns a painter below all of egui's windows, or `None` if all text is hidden.
    pub fn painter(&mut self) -> Option<Painter> {
        self.context()
            .map(|context| context.layer_painter(egui::LayerId::background()))
    }
}

/// Distance of text from the picture's edges.
pub const MARGIN: egui::Vec2 = egui::vec2(14.0, 12.0);

/// Paints text with a shadow, wrapped to `width`, and returns its area. `anchor` is the corner of the text that is `at` a
/// point.
pub fn text(
    painter: &Painter,
    at: egui::Pos2,
    anchor: Align2,
    text: &str,
    size: f32,
    width: f32,
) -> Rect {
    let galley = painter.layout(
        text.to_owned(),
        FontId::monospace(size),
        Color32::WHITE,
        width,
    );
    let area = anchor.anchor_size(at, galley.size());
    let shadow = Color32::from_black_alpha(180);
    painter.galley_with_override_text_color(
        area.min + egui::vec2(1.0, 1.0),
        galley.clone(),
        shadow,
    );
    painter.galley(area.min, galley, Color32::WHITE);
    area
}

pub(super) struct OverlayPlugin;

impl Plugin for OverlayPlugin {
    fn build(&self, app: &mut App) {
        // Wine's Direct3D and WebGL2 lack texture arrays, which only pay off with many textures.
        app.add_plugins(EguiPlugin {
            bindless_mode_array_size: None,
        });
        // The stage's camera has the context, also if an example adds a camera of its own.
        app.world_mut()
            .resource_mut::<EguiGlobalSettings>()
            .auto_create_primary_context = false;
        use OverlaySystems::{Examples, Measure, Text};
        app.configure_sets(EguiPrimaryContextPass, (Text, Examples, Measure).chain());
        // These systems are small, and must not wait for the thread that they run on: the crowd runs `PostUpdate` on a compute
        // thread, of which there may be only one.
        app.edit_schedule(EguiPrimaryContextPass, |schedule| {
            schedule.set_executor(SingleThreadedExecutor::new());
        });
    }
}
