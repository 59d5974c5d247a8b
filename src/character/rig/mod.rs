//! Rigs: changes to a pose after its clips, in the same frame.
//!
//! A character has a rig as soon as it has a [`RigState`], which [`IkGoal`], [`LookAt`],
//! [`FootPlacement`] and springs in its manifest bring along. Its clips and
//! [`PoseOverrides`](super::PoseOverrides) are evaluated in
//! [`EvaluateEarly`](super::CharacterSystems::EvaluateEarly), things attached to other characters
//! are put in place, and then, in [`SolveRigs`](super::CharacterSystems::SolveRigs):
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

pub(super) use pose::RigPose;
pub(crate) use replay::RigReplay;
pub(super) use solve::attach;

use super::{
    CharacterSystems,
    components::{CharacterParts, ModelPose},
    evaluate,
    pose_state::RigsAct,
    sharing::PoseSharing,
    systems::{EarlyStep, SolveStep, SpawnStep},
};
use crate::{
    asset::Character,
    rig::{RigState, Wind},
};
use bevy::prelude::*;

/// Lets rigs act on poses: [`LookAt`], [`IkGoal`], [`FootPlacement`] and [`SpringBones`].
///
/// Part of [`MarionettePlugins`](crate::MarionettePlugins). Without it, these components have no effect.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::prelude::*;
/// // All characters of this game stand on uneven ground.
/// App::new()
///     .add_plugins((DefaultPlugins, MarionettePlugins::default()))
///     .register_required_components::<SkinnedCharacter, FootPlacement>();
/// ```
pub struct CharacterRigPlugin;

impl Plugin for CharacterRigPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<RigState>()
            .register_type::<IkGoal>()
            .register_type::<IkLimb>()
            .register_type::<IkGoals>()
            .register_type::<IkWeight>()
            .register_type::<LookAt>()
            .register_type::<SpringBones>()
            .register_type::<SpringGravity>()
            .register_type::<Wind>()
            .register_type::<FootPlacement>()
            .register_type::<GroundProbe>()
            .register_type::<Ground>()
            .init_resource::<RigsAct>()
            .init_resource::<Wind>()
            .init_resource::<SpringGravity>();
        app.register_required_components::<RigState, ModelPose>();
        app.register_required_components::<RigState, RigPose>();
        app.add_systems(
            PostUpdate,
            (
                springs::add_springs
                    .run_if(
                        any_match_filter::<Or<(Changed<CharacterParts>, Changed<SpringBones>)>>
                            .or_else(on_message::<AssetEvent<Character>>)
                            .or_else(resource_exists_and_changed::<PoseSharing>),
                    )
                    .in_set(SpawnStep::Looks),
                pose::pose_clips
                    .run_if(any_with_component::<RigState>)
                    .in_set(EarlyStep::Pose)
                    .after(evaluate::early),
                feet::place_rays
                    .run_if(any_with_component::<FootPlacement>)
                    .after(CharacterSystems::Attach)
                    .before(CharacterSystems::ProbeGround),
                ground::probe_meshes
                    .run_if(any_with_component::<Ground>.or_else(on_message::<AssetEvent<Mesh>>))
                    .in_set(CharacterSystems::ProbeGround),
                (
                    goal::fade_weights.run_if(any_with_component::<IkWeight>),
                    goal::resolve_goals.run_if(any_with_component::<IkGoal>),
                    look_at::resolve_looks.run_if(any_with_component::<LookAt>),
                )
                    .in_set(SolveStep::Aim),
                solve::solve
                    .run_if(any_with_component::<RigState>)
                    .in_set(SolveStep::Act),
            ),
        );
    }
}
