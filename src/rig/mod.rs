//! Solvers that act on a pose after its clips: limbs that reach for goals, heads that look at something, feet that
//! stand on uneven ground, joints that follow others, tails that swing.
//!
//! They only rotate joints and never stretch a bone. Below a parent with non-uniform scale, a rotation in model space is
//! not a rotation of the joint; the tip then only moves toward its target. Below a joint that mirrors, solvers turn joints
//! the wrong way. Importers make skeletons without such joints of any file, but a clip can mirror a joint, and so can a
//! skeleton made in code.
//!
//! Characters have rigs by their manifest, and goals by components. This module holds what both are described with, the
//! [`RigState`] that a character keeps from frame to frame, and the [`Wind`].

mod action;
mod chain;
mod colliders;
mod constraints;
mod feet;
mod goals;
mod ground_mesh;
mod ik;
mod limb;
mod look_at;
mod math;
mod plants;
mod springs;
mod state;
mod turn_speeds;
mod two_bone;
mod wind;

pub use colliders::ColliderKind;
pub use constraints::ConstraintKind;
pub use feet::{FeetLimits, GroundHit, GroundRay};
pub(crate) use goals::GoalState;
pub(crate) use internals::*;
pub use limb::Limb;
pub use state::RigState;
pub use two_bone::PoleAngle;
pub use wind::Wind;

/// The solvers, which take a [`PoseMut`](crate::pose::PoseMut) and targets in model space.
///
/// | solver | makes |
/// | --- | --- |
/// | [`TwoBoneIk`] | an arm or a leg reach for a target |
/// | [`ChainIk`] | a tail, a spine or a tentacle reach for a target |
/// | [`LookChain`] | a chain of joints turn toward a target, each by its share |
/// | [`Feet`] | legs and hips adapt to uneven ground; [`Plants`] are the foot contacts of a clip, [`GroundMesh`] is ground made of triangles |
/// | [`Constraints`] | joints follow others, such as twist bones a hand |
/// | [`Springs`] | hair, ears, tails and scarves swing |
///
/// [`RigAction`] is all of it for one frame. In it, limbs with goals and legs turn no faster than by a multiple of the
/// character's [`TurnSpeeds`].
pub(crate) mod internals {
    pub use crate::rig::{
        action::{FeetAction, LookAction, RigAction, RigJoints, RigScratch, SpringAction},
        chain::{ChainIk, IkScratch},
        colliders::Collider,
        constraints::{Constraints, JointConstraint},
        feet::{Feet, FeetFrame, FeetState, FootPlan, Landing, LegJoints},
        goals::GoalAction,
        ground_mesh::GroundMesh,
        ik::Ik,
        limb::LimbJoints,
        look_at::{Gaze, LookChain, LookState},
        plants::{PlantRange, Plants},
        springs::{SpringChain, SpringFrame, SpringScratch, SpringSettings, SpringState, Springs},
        turn_speeds::TurnSpeeds,
        two_bone::TwoBoneIk,
    };
}
