//! What acts on a pose after its clips: limbs that reach for goals, heads that look at something,
//! tails that swing.
//!
//! Solvers take a [`PoseMut`](crate::pose::PoseMut) and targets in model space. They only rotate joints and never
//! stretch a bone. Below a parent with non-uniform or mirroring scale, a rotation in model space is not a rotation of
//! the joint; the tip then only moves toward its target.
//!
//! | solver | makes |
//! | --- | --- |
//! | [`TwoBoneIk`] | an arm or a leg reach for a target |
//! | [`ChainIk`] | a tail, a spine or a tentacle reach for a target |
//! | [`LookChain`] | a chain of joints turn toward a target, each by its share |
//! | [`Springs`] | hair, ears, tails and scarves swing |

mod chain;
mod colliders;
mod ik;
mod limb;
mod look_at;
mod math;
mod springs;
mod state;
mod two_bone;
mod wind;

pub use chain::{ChainIk, IkScratch};
pub use colliders::Collider;
pub use ik::Ik;
pub use limb::{Limb, LimbError, LimbJoints};
pub use look_at::{LookChain, LookState};
pub use springs::{SpringChain, SpringFrame, SpringScratch, SpringSettings, SpringState, Springs};
pub use state::RigState;
pub use two_bone::{PoleAngle, TwoBoneIk};
pub use wind::Wind;
