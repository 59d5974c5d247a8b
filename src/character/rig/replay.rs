//! Poses of the past: rigs act again as they did.

use super::super::layers::ActiveLayers;
use crate::{
    asset::Character,
    controller::AnimationController,
    pose::{JointOverride, Scratch},
    rig::{RigAction, RigScratch, RigState},
};

/// Repeats the actions of a rig, one frame after the other.
#[derive(Default)]
pub(crate) struct RigReplay {
    layers: ActiveLayers,
    pose: Scratch,
    rig: RigScratch,
}

impl RigReplay {
    /// Forgets the last character.
    pub(crate) fn start_over(&mut self) {
        self.layers = ActiveLayers::default();
    }

    /// Poses a character by its controller, shown with a lag, and its overrides, and lets its rig act on that, which changes the
    /// rig's state.
    pub(crate) fn pose(
        &mut self,
        character: &Character,
        (controller, lag): (&AnimationController, f64),
        overrides: &[JointOverride],
        rig: Option<(&mut RigState, &RigAction)>,
    ) -> &Scratch {
        self.layers.show(lag, character, controller);
        self.layers
            .evaluate_local(character, overrides, &mut self.pose, |mut pose| {
                if let Some((state, action)) = rig {
                    action.run(&character.rig_joints(), state, &mut self.rig, &mut pose);
                }
                pose.update();
            });
        &self.pose
    }
}
