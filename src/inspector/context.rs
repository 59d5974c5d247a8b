//! Creates the egui context on first use: a context costs a render pass every frame.

use super::{DrawSkeleton, Inspector};
use bevy::prelude::*;
use bevy_egui::PrimaryEguiContext;
use std::cmp::Reverse;

/// Present if the panel created its egui context and doesn't share it with the app.
#[derive(Resource)]
pub(super) struct OwnContext;

/// Adds the context to the camera that draws the scene, once the panel is open or joint names are shown.
pub(super) fn create(
    mut commands: Commands,
    inspector: Res<Inspector>,
    drawn: Query<&DrawSkeleton>,
    contexts: Query<(), With<PrimaryEguiContext>>,
    cameras: Query<(Entity, &Camera, Has<Camera3d>)>,
) {
    let wanted = inspector.open || drawn.iter().any(|drawn| drawn.names);
    if !wanted || !contexts.is_empty() {
        return;
    }
    let active = cameras.iter().filter(|(_, camera, _)| camera.is_active);
    if let Some((camera, ..)) = active.max_by_key(|(entity, camera, draws_3d)| {
        (
            *draws_3d,
            Reverse(camera.order),
            Reverse(entity.index_u32()),
        )
    }) {
        commands.entity(camera).insert(PrimaryEguiContext);
    }
}
