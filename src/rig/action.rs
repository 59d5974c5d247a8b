//! The inputs of a rig for one frame, as plain data.

use super::{
    Constraints, Feet, FeetFrame, FootPlan, GoalAction, GroundHit, LookChain, RigState,
    SpringFrame, SpringScratch, Springs, TurnSpeeds,
    goals::{GoalFrame, GoalScratch},
};
use crate::pose::PoseMut;
use glam::{Affine3A, Vec3};
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};

/// All inputs of a rig in a frame, besides its joints, its state and its pose.
///
/// The same actions in the same order change the same state identically, bit for bit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RigAction {
    /// The time since the last action. Zero while paused.
    pub dt: Duration,
    /// The character's world transform.
    pub world: Affine3A,
    /// `true` if the character just appeared, or was moved without passing through the space between.
    pub teleported: bool,
    /// Target of the head, if the character looks at anything.
    pub look: Option<LookAction>,
    /// Goals of limbs, in the order in which they are solved.
    pub goals: Vec<GoalAction>,
    /// The ground under the feet; `None` if they don't adapt to it.
    pub feet: Option<FeetAction>,
    /// Inputs of the springs; `None` if they don't swing.
    pub springs: Option<SpringAction>,
}

/// Target of a head.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LookAction {
    /// A point in the character's space; `None` turns the head back.
    pub target: Option<Vec3>,
    /// Share of the turn that is made, 0..=1.
    pub weight: f32,
    /// The joints that turn instead of the character's own.
    #[serde(default, with = "shared")]
    pub chain: Option<Arc<LookChain>>,
}

/// Serialization of a shared chain by value, without serde's feature `rc`.
mod shared {
    use super::{Arc, LookChain};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        chain: &Option<Arc<LookChain>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        chain.as_deref().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Arc<LookChain>>, D::Error> {
        Ok(Option::deserialize(from)?.map(Arc::new))
    }
}

/// The ground under a character's feet. The lists are in the order of the legs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FeetAction {
    /// Share of the change that is made, 0..=1.
    pub weight: f32,
    /// Plan of the clips for each foot.
    pub plans: Vec<FootPlan>,
    /// Ground that the rays of each foot hit.
    pub ground: Vec<[Option<GroundHit>; 3]>,
}

/// Inputs of springs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpringAction {
    /// The share of their rotation that joints get, 0..=1.
    pub weight: f32,
    /// The wind's velocity at the character, in world space.
    pub wind: Vec3,
    /// The gravity, in world space.
    pub gravity: Vec3,
}

/// The joints that a rig acts on: those that a character has.
#[derive(Clone, Copy, Debug, Default)]
pub struct RigJoints<'a> {
    /// The joints that turn toward what the character looks at.
    pub look: Option<&'a LookChain>,
    /// The legs.
    pub feet: Option<&'a Feet>,
    /// The joints that follow others.
    pub constraints: Option<&'a Constraints>,
    /// The joints that swing.
    pub springs: Option<&'a Springs>,
    /// Speeds at which the clips turn the joints; `None` if there are no clips.
    pub turn_speeds: Option<&'a TurnSpeeds>,
}

/// The working memory of [`RigAction::run`].
#[derive(Debug, Default)]
pub struct RigScratch {
    goals: GoalScratch,
    springs: SpringScratch,
}

impl RigJoints<'_> {
    /// Brings those matrices of a pose up to date that the solvers read, all at once. Do this before [`Feet::rays`], and
    /// before [`RigAction::run`].
    pub fn update(&self, pose: &mut PoseMut) {
        let head = self.look.map(LookChain::head);
        pose.update_joints(
            head.into_iter()
                .chain(self.feet.into_iter().flat_map(Feet::tips)),
        );
    }
}

impl RigAction {
    /// Acts on a pose: the head turns, then limbs reach, then feet adapt, then joints follow others, then springs swing.
    pub fn run(
        &self,
        joints: &RigJoints,
        state: &mut RigState,
        scratch: &mut RigScratch,
        pose: &mut PoseMut,
    ) {
        let dt = self.dt.as_secs_f32();
        // The head goes first: it may turn the spine, from which hands reach for their goals.
        if let Some(look) = &self.look
            && let Some(chain) = look
                .chain
                .as_deref()
                .filter(|chain| chain.fits(pose.skeleton))
                .or(joints.look)
        {
            chain.solve(&mut state.look, look.target, look.weight, dt, pose);
        }
        let turn_speeds = joints.turn_speeds;
        let frame = GoalFrame {
            dt,
            teleported: self.teleported,
            turn_speeds,
        };
        state
            .goals
            .run(&self.goals, frame, &mut scratch.goals, pose);
        // Feet are placed anew at the other end, instead of being dragged there.
        if self.teleported {
            state.feet.clear();
        }
        match (&self.feet, joints.feet) {
            (
                Some(FeetAction {
                    weight,
                    plans,
                    ground,
                }),
                Some(feet),
            ) => {
                let frame = FeetFrame {
                    world: self.world,
                    dt,
                    weight: *weight,
                    plans,
                    ground,
                    turn_speeds,
                };
                feet.solve(&frame, &mut state.feet, pose);
            }
            _ => state.feet.clear(),
        }
        if let Some(constraints) = joints.constraints {
            constraints.solve(pose);
        }
        match (self.springs, joints.springs) {
            (
                Some(SpringAction {
                    weight,
                    wind,
                    gravity,
                }),
                Some(springs),
            ) => {
                let frame = SpringFrame {
                    dt: self.dt.as_secs_f64(),
                    world: self.world,
                    wind,
                    gravity,
                    teleported: self.teleported,
                    weight,
                };
                // Springs come last, since they swing from whatever the others have moved.
                springs.run(&frame, &mut state.springs, &mut scratch.springs, pose);
            }
            // They start over at the character's next place.
            _ => state.springs.reset(),
        }
        // Once for all solvers, because most of them move the same joints.
        pose.update();
    }
}

#[cfg(test)]
#[path = "tests/action.rs"]
mod tests;
