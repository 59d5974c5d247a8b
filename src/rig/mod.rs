//! What acts on a pose after its clips: limbs that reach for goals, heads that look at something, feet that
//! stand on uneven ground.
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
//! | [`Feet`] | legs and hips adapt to uneven ground; [`Plants`] tell when a clip plants the feet, [`GroundMesh`] is ground made of triangles |

mod chain;
mod feet;
mod ground_mesh;
mod ik;
mod limb;
mod look_at;
mod math;
mod plants;
mod state;
mod two_bone;

pub use chain::{ChainIk, IkScratch};
pub use feet::{Feet, FeetFrame, FeetLimits, FeetState, GroundHit, GroundRay, LegJoints};
pub use ground_mesh::GroundMesh;
pub use ik::Ik;
pub use limb::{Limb, LimbError, LimbJoints};
pub use look_at::{LookChain, LookState};
pub use plants::{FootPlan, Landing, PlantRange, Plants};
pub use state::RigState;
pub use two_bone::{PoleAngle, TwoBoneIk};
