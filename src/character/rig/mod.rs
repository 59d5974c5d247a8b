//! The rig acts: what changes a pose after its clips, in the same frame.
//!
//! A character has a rig as soon as it has a [`RigState`], which [`IkGoal`], [`LookAt`], [`FootPlacement`] and springs in
//! its manifest bring along. Its clips and [`PoseOverrides`](super::PoseOverrides) are evaluated in
//! [`EvaluateEarly`](super::CharacterSystems::EvaluateEarly), what is attached to other characters is put in place, and
//! then, in [`SolveRigs`](super::CharacterSystems::SolveRigs):
//!
//! 1. heads turn toward what the character looks at ([`LookAt`]),
//! 2. limbs reach for their goals ([`IkGoal`]), in the order in which the goals were added,
//! 3. legs and hips adapt to the ground ([`FootPlacement`]), which the game is asked for in
//!    [`ProbeGround`](super::CharacterSystems::ProbeGround),
//! 4. hair, ears and tails swing ([`SpringBones`]).
//!
//! A character whose goals hang from the joints of another with a rig is solved after it. Where two wait for each
//! other, the first sees the other's clips without its rig.
//!
//! Rigs are solved in every frame, in view or not. Characters without one pay nothing.

mod feet;
mod goal;
mod ground;
mod look_at;
mod places;
mod pose;
mod replay;
mod solve;
mod springs;

pub use feet::{FootPlacement, GroundProbe};
pub use goal::{GoalLimb, IkGoal, IkGoals, IkLimb, IkWeight};
pub use ground::Ground;
pub use look_at::{LookAt, LookTarget};
pub use springs::{SpringBones, SpringGravity};

pub(super) use feet::place_rays;
pub(super) use goal::{fade_weights, resolve_goals};
pub(super) use ground::probe_meshes;
pub(super) use look_at::resolve_looks;
pub(super) use pose::{RigPose, pose_clips};
pub(crate) use replay::RigReplay;
pub(super) use solve::{attach, solve};
pub(super) use springs::add_springs;

#[cfg(doc)]
use crate::rig::RigState;
