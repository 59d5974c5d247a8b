//! What a rig does in a frame, as plain data.

use super::{
    Feet, FeetFrame, FootPlan, GoalAction, GroundHit, LookChain, RigState, SpringFrame, SpringScratch, Springs,
    TurnSpeeds,
    goals::{GoalFrame, GoalScratch},
};
use crate::pose::PoseMut;
use glam::{Affine3A, Vec3};
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};

/// All that a rig acts by in a frame, besides its joints, its state and its pose.
///
/// The same actions, one after the other, take the same state through the same bits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RigAction {
    /// The time since the last action. Zero while paused.
    pub dt: Duration,
    /// The character's world transform.
    pub world: Affine3A,
    /// Whether the character just appeared, or was moved without passing through the space between.
    pub teleported: bool,
    /// What the head turns toward, if the character looks at anything.
    pub look: Option<LookAction>,
    /// What limbs reach for, in the order in which they act.
    pub goals: Vec<GoalAction>,
    /// The ground under the feet; `None` if they don't adapt to it.
    pub feet: Option<FeetAction>,
    /// What acts on the springs; `None` if they don't swing.
    pub springs: Option<SpringAction>,
}

/// What a head turns toward.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LookAction {
    /// A point in the character's space; `None` turns back.
    pub target: Option<Vec3>,
    /// How far it turns, 0..=1.
    pub weight: f32,
    /// The joints that turn instead of the character's own.
    #[serde(default, with = "shared")]
    pub chain: Option<Arc<LookChain>>,
}

/// serde's own support of `Arc` is a feature.
mod shared {
    use super::{Arc, LookChain};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(chain: &Option<Arc<LookChain>>, to: S) -> Result<S::Ok, S::Error> {
        chain.as_deref().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Arc<LookChain>>, D::Error> {
        Ok(Option::deserialize(from)?.map(Arc::new))
    }
}

/// The ground under a character's feet. The lists are in the order of the legs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FeetAction {
    /// How much of the change is made, 0..=1.
    pub weight: f32,
    /// What the clips do with each foot.
    pub plans: Vec<FootPlan>,
    /// What the rays of each foot hit.
    pub ground: Vec<[Option<GroundHit>; 3]>,
}

/// What acts on springs.
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
    /// The joints that swing.
    pub springs: Option<&'a Springs>,
    /// How fast the clips turn the joints; `None` if there are no clips.
    pub turn_speeds: Option<&'a TurnSpeeds>,
}

/// The working memory of [`RigAction::run`].
#[derive(Debug, Default)]
pub struct RigScratch {
    goals: GoalScratch,
    springs: SpringScratch,
}

impl RigAction {
    /// Acts on a pose: the head turns, then limbs reach, then feet adapt, then springs swing.
    pub fn run(&self, joints: &RigJoints, state: &mut RigState, scratch: &mut RigScratch, pose: &mut PoseMut) {
        let dt = self.dt.as_secs_f32();
        if let Some(look) = &self.look
            && let Some(chain) = look.chain.as_deref().filter(|chain| chain.fits(pose.skeleton)).or(joints.look)
        {
            chain.solve(&mut state.look, look.target, look.weight, dt, pose);
        }
        let turn_speeds = joints.turn_speeds;
        let frame = GoalFrame { dt, teleported: self.teleported, turn_speeds };
        state.goals.run(&self.goals, frame, &mut scratch.goals, pose);
        pose.update();
        if self.teleported {
            state.feet.clear();
        }
        match (&self.feet, joints.feet) {
            (Some(FeetAction { weight, plans, ground }), Some(feet)) => {
                let frame = FeetFrame { world: self.world, dt, weight: *weight, plans, ground, turn_speeds };
                feet.run(&frame, &mut state.feet, pose);
            }
            _ => state.feet.clear(),
        }
        if let Some(SpringAction { weight, wind, gravity }) = self.springs
            && let Some(springs) = joints.springs
        {
            let Self { world, teleported, .. } = *self;
            let frame = SpringFrame { dt: self.dt.as_secs_f64(), world, wind, gravity, teleported, weight };
            springs.run(&frame, &mut state.springs, &mut scratch.springs, pose);
        }
    }
}
