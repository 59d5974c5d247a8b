//! egui's context, made when something first wants to be shown: each costs a pass in every frame.

use super::{DrawSkeleton, Inspector};
use bevy::prelude::*;
use bevy_egui::PrimaryEguiContext;
use std::cmp::Reverse;

/// The context is the panel's alone.
#[derive(Resource)]
pub(super) struct Own;

/// Puts the context on the camera that draws the scene, once the panel is open or names are to be written.
pub(super) fn provide(
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
    if let Some((camera, ..)) =
        active.max_by_key(|(entity, camera, draws_3d)| (*draws_3d, Reverse(camera.order), Reverse(entity.index_u32())))
    {
        commands.entity(camera).insert(PrimaryEguiContext);
    }
}
