//! A click in the view chooses the character under the pointer, and its joint.

use super::{InspectedCharacter, Inspector};
use crate::character::CharacterRayCast;
use bevy::{
    input::{ButtonState, mouse::MouseButtonInput},
    prelude::*,
    window::PrimaryWindow,
};
use bevy_egui::{PrimaryEguiContext, input::EguiWantsInput};

/// Where the pointer is, and the press that may become a click.
#[derive(Default)]
pub(super) struct Pointer {
    at: Option<Vec2>,
    /// Where the button went down, until the pointer strays.
    pressed: Option<Vec2>,
}

/// A pointer that moves farther with its button down, in logical pixels, drags: it turns the camera, say.
const STRAY: f32 = 4.0;

pub(super) fn choose(
    mut pointer: Local<Pointer>,
    mut moves: MessageReader<CursorMoved>,
    mut buttons: MessageReader<MouseButtonInput>,
    window: Query<Entity, With<PrimaryWindow>>,
    wants: Option<Res<EguiWantsInput>>,
    cameras: Query<(&Camera, &GlobalTransform), With<PrimaryEguiContext>>,
    pick: CharacterRayCast,
    mut inspector: ResMut<Inspector>,
    mut inspected: ResMut<InspectedCharacter>,
) {
    let Ok(window) = window.single() else { return };
    for moved in moves.read().filter(|moved| moved.window == window) {
        pointer.at = Some(moved.position);
        if pointer.pressed.is_some_and(|pressed| pressed.distance(moved.position) > STRAY) {
            pointer.pressed = None;
        }
    }
    let is_panels = wants.is_some_and(|wants| wants.wants_any_pointer_input());
    for input in buttons.read().filter(|input| input.window == window && input.button == MouseButton::Left) {
        if input.state == ButtonState::Pressed {
            pointer.pressed = pointer.at.filter(|_| !is_panels);
            continue;
        }
        let Some(at) = pointer.pressed.take() else { continue };
        let Ok((camera, from)) = cameras.single() else { continue };
        let Ok(ray) = camera.viewport_to_world(from, at) else { continue };
        let Some(hit) = pick.pick(ray) else { continue };
        inspected.set_if_neq(InspectedCharacter(Some(hit.character)));
        if hit.joint.is_some() && inspector.joint != hit.joint {
            inspector.joint = hit.joint;
        }
    }
}
