//! What a rig keeps from frame to frame.

use super::{FeetState, GoalState, LookState, SpringState};
#[cfg(feature = "bevy")]
use bevy::{ecs::reflect::ReflectComponent, reflect::prelude::ReflectDefault};
use serde::{Deserialize, Serialize};

/// All that a character's rig keeps from frame to frame.
///
/// Everything else follows from the controller, the transforms and `dt`. Store it along with a
/// [`ControllerSnapshot`](crate::controller::ControllerSnapshot) to return to a moment exactly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "bevy",
    derive(bevy::prelude::Component, bevy::reflect::Reflect)
)]
#[cfg_attr(feature = "bevy", reflect(Component, Clone, Default, PartialEq))]
#[serde(default)]
pub struct RigState {
    /// How far the character has turned toward what it looks at.
    pub look: LookState,
    /// How limbs with goals are turned.
    pub goals: GoalState,
    /// Where its springs are.
    pub springs: SpringState,
    /// Where the feet are locked, and how far they and the hips have adapted to the ground.
    pub feet: FeetState,
}
