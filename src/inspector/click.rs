//! Selects the clicked character, joint and vertex in the view.

use super::{
    Inspector,
    area::PanelArea,
    vertex::{ClickedVertex, PartVertex},
};
use crate::{
    asset::Character,
    character::{CharacterRayCast, CharacterRayHit, SkinnedCharacter},
};
use bevy::{
    ecs::system::SystemParam,
    input::{ButtonState, mouse::MouseButtonInput},
    prelude::*,
    window::PrimaryWindow,
};
use bevy_egui::{PrimaryEguiContext, input::EguiWantsInput};

/// Pointer position, and the press that may become a click.
#[derive(Default)]
pub(super) struct Pointer {
    position: Option<Vec2>,
    /// Position at which the button went down, until the pointer moves too far for a click.
    pressed: Option<Vec2>,
}

/// Characters that can be clicked.
#[derive(SystemParam)]
pub(super) struct Skin<'w, 's> {
    ray_cast: CharacterRayCast<'w, 's>,
    characters: Query<'w, 's, &'static SkinnedCharacter>,
    assets: Res<'w, Assets<Character>>,
    meshes: Res<'w, Assets<Mesh>>,
}

impl Skin<'_, '_> {
    fn vertex(&self, hit: &CharacterRayHit) -> Option<PartVertex> {
        let handle = self.characters.get(hit.character).ok()?;
        PartVertex::of_hit(hit, self.assets.get(handle.id())?, &self.meshes)
    }
}

/// Moving the pressed pointer farther than this, in logical pixels, is a drag.
const DRAG_DISTANCE: f32 = 4.0;

pub(super) fn select(
    mut pointer: Local<Pointer>,
    mut moves: MessageReader<CursorMoved>,
    mut buttons: MessageReader<MouseButtonInput>,
    window: Query<(Entity, &Window), With<PrimaryWindow>>,
    panel: Res<PanelArea>,
    wants: Option<Res<EguiWantsInput>>,
    cameras: Query<(&Camera, &GlobalTransform), With<PrimaryEguiContext>>,
    skin: Skin,
    mut inspector: ResMut<Inspector>,
    mut clicked: ResMut<ClickedVertex>,
) {
    let Ok((window, Window { resolution, .. })) = window.single() else {
        return;
    };
    for moved in moves.read().filter(|moved| moved.window == window) {
        pointer.position = Some(moved.position);
        if pointer
            .pressed
            .is_some_and(|pressed| pressed.distance(moved.position) > DRAG_DISTANCE)
        {
            pointer.pressed = None;
        }
    }
    let is_in_use = wants.is_some_and(|wants| wants.wants_any_pointer_input());
    // The panel's rectangle is in physical pixels, positions of the pointer are in logical ones.
    let is_free = |at: &Vec2| !is_in_use && !panel.0.contains(*at * resolution.scale_factor());
    for input in buttons
        .read()
        .filter(|input| input.window == window && input.button == MouseButton::Left)
    {
        if input.state == ButtonState::Pressed {
            pointer.pressed = pointer.position.filter(is_free);
            continue;
        }
        // A press on the panel, or one that became a drag, is no click.
        let Some(position) = pointer.pressed.take() else {
            continue;
        };
        let Ok((camera, from)) = cameras.single() else {
            continue;
        };
        let Ok(ray) = camera.viewport_to_world(from, position) else {
            continue;
        };
        let hit = skin.ray_cast.pick(ray);
        // A click beside the characters clears it.
        clicked.set_if_neq(ClickedVertex(hit.as_ref().and_then(|hit| skin.vertex(hit))));
        let Some(hit) = hit else { continue };
        let character = Some(hit.character);
        let joint = hit.joint.or(inspector.joint);
        inspector.set_if_neq(Inspector {
            character,
            joint,
            ..inspector.clone()
        });
    }
}
