//! State of a rig from frame to frame.

use super::{FeetState, GoalState, LookState, SpringState};
#[cfg(feature = "bevy")]
use bevy::{ecs::reflect::ReflectComponent, reflect::prelude::ReflectDefault};
use glam::Vec2;
use serde::{Deserialize, Serialize};

/// All that a character's rig keeps from frame to frame.
///
/// Everything else follows from the controller, the transforms and `dt`. Store it along with a
/// clone of the controller to return to a moment exactly.
///
/// ```
/// # use bevy_marionette::{controller::AnimationController, rig::RigState};
/// /// A moment of a character, for rollback.
/// struct Moment(AnimationController, RigState);
///
/// fn roll_back(controller: &mut AnimationController, rig: &mut RigState, to: &Moment) {
///     controller.restore(&to.0);
///     rig.clone_from(&to.1);
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "bevy",
    derive(bevy::prelude::Component, bevy::reflect::Reflect)
)]
#[cfg_attr(feature = "bevy", reflect(Component, Clone, Default, PartialEq))]
#[serde(default)]
pub struct RigState {
    /// Turn of the character toward its look-at target.
    #[doc(hidden)]
    pub look: LookState,
    /// Rotations of limbs with goals.
    #[doc(hidden)]
    pub goals: GoalState,
    /// Positions and velocities of its springs.
    #[doc(hidden)]
    pub springs: SpringState,
    /// Locks of the feet, and offsets by which they and the hips have adapted to the ground.
    #[doc(hidden)]
    pub feet: FeetState,
}

impl RigState {
    /// Returns how far the character is turned toward its look-at target: the yaw to the left and the pitch up that are added
    /// to the pose, in radians.
    pub fn look_turn(&self) -> Vec2 {
        self.look.turn
    }
}
