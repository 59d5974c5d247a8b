//! The link between a character and a recorder: the actions to record, and those to replay.

use crate::rig::{RigAction, RigState};
use bevy::prelude::*;

/// On characters that are recorded.
#[derive(Component, Debug, Default)]
pub(crate) struct TapeHead {
    /// The action of the rig in this frame.
    pub(crate) action: Option<Box<RigAction>>,
    /// A state from which the rig acts in every frame, and the action that replaces its own.
    pub(crate) shown: Option<Box<(RigState, RigAction)>>,
}
