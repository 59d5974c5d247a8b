//! Selects the clicked character and joint in the view.

use super::{InspectedCharacter, Inspector};
use crate::character::CharacterRayCast;
use bevy::{
    input::{ButtonState, mouse::MouseButtonInput},
    prelude::*,
    window::PrimaryWindow,
};
use bevy_egui::{PrimaryEguiContext, input::EguiWantsInput};

/// Pointer position, and the press that may become a click.
#[derive(Default)]
pub(super) struct Pointer {
    position: Option<Vec2>,
    /// Where the button went down, until the pointer moves too far for a click.
    pressed: Option<Vec2>,
}

/// Moving the pressed pointer farther than this, in logical pixels, is a drag.
const DRAG_DISTANCE: f32 = 4.0;

pub(super) fn select(
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
        pointer.position = Some(moved.position);
        if pointer.pressed.is_some_and(|pressed| pressed.distance(moved.position) > DRAG_DISTANCE) {
            pointer.pressed = None;
        }
    }
    let over_panel = wants.is_some_and(|wants| wants.wants_any_pointer_input());
    for input in buttons.read().filter(|input| input.window == window && input.button == MouseButton::Left) {
        if input.state == ButtonState::Pressed {
            pointer.pressed = pointer.position.filter(|_| !over_panel);
            continue;
        }
        let Some(position) = pointer.pressed.take() else { continue };
        let Ok((camera, from)) = cameras.single() else { continue };
        let Ok(ray) = camera.viewport_to_world(from, position) else { continue };
        let Some(hit) = pick.pick(ray) else { continue };
        inspected.set_if_neq(InspectedCharacter(Some(hit.character)));
        if hit.joint.is_some() && inspector.joint != hit.joint {
            inspector.joint = hit.joint;
        }
    }
}
