//! Limbs that reach for goals, and turn smoothly when goals come, go or jump.

use super::{Ik, IkScratch, TurnSpeeds};
use crate::{
    model::{JointIndex, Skeleton},
    pose::{PoseMut, simd},
    rig::feet::{angle, turn_toward},
};
use glam::Quat;
use serde::{Deserialize, Serialize};

/// A limb that reaches for a goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalAction {
    /// The limb and its target, in the character's space.
    pub ik: Ik,
    /// Speed limit of the limb's joints, as a multiple of the fastest they turn in any clip; at least 1. With
    /// [`f32::INFINITY`], the limb is at its target at once.
    pub turn_limit: f32,
}

impl GoalAction {
    /// The turn limit of goals that don't name one.
    pub const TURN_LIMIT: f32 = 1.4;

    /// Creates a goal of a limb, with the usual turn limit.
    pub const fn new(ik: Ik) -> Self {
        Self {
            ik,
            turn_limit: Self::TURN_LIMIT,
        }
    }

    /// Calls `turned` with each joint that the limb turns.
    fn each_joint(&self, skeleton: &Skeleton, mut turned: impl FnMut(JointIndex)) {
        match &self.ik {
            Ik::TwoBone(limb) if limb.weight > 0.0 => {
                let tip = limb.tip_rotation.map(|_| limb.tip);
                [Some(limb.root), Some(limb.mid), tip]
                    .into_iter()
                    .flatten()
                    .for_each(turned);
            }
            Ik::Chain(chain) if chain.weight > 0.0 && usize::from(chain.tip) < skeleton.len() => {
                skeleton
                    .ancestors(chain.tip)
                    .take(usize::from(chain.bones))
                    .for_each(&mut turned);
                chain
                    .tip_rotation
                    .into_iter()
                    .for_each(|_| turned(chain.tip));
            }
            Ik::TwoBone(_) | Ik::Chain(_) => {}
        }
    }
}

/// Rotations of the joints of limbs with goals in the last frame. Empty while there are no goals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct GoalState {
    joints: Vec<GoalJoint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
struct GoalJoint {
    joint: JointIndex,
    /// The limit of the last goal that turned the joint. It also applies while the joint turns
    /// back.
    turn_limit: f32,
    /// Rotations relative to the parent: as shown, and before the goals.
    shown: Quat,
    animated: Quat,
    /// `true` if it was shown exactly where its goal, or without one, its clips put it.
    is_there: bool,
}

/// The working memory of [`GoalState::run`].
#[derive(Debug, Default)]
pub(super) struct GoalScratch {
    ik: IkScratch,
    animated: Vec<Quat>,
}

/// Inputs of limbs for one frame, besides their goals.
#[derive(Clone, Copy, Debug)]
pub(super) struct GoalFrame<'a> {
    /// Seconds since the last frame.
    pub(super) dt: f32,
    /// `true` if limbs reach their goals at once.
    pub(super) teleported: bool,
    pub(super) turn_speeds: Option<&'a TurnSpeeds>,
}

impl GoalState {
    /// Returns `true` if a limb is on its way to its goal, or back to the clips.
    pub fn is_turning(&self) -> bool {
        self.joints.iter().any(|joint| !joint.is_there)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.joints.capacity() * size_of::<GoalJoint>()
    }

    /// Makes limbs reach for their goals, and those without one return to the animated pose, which `pose` must be.
    /// Matrices are not updated.
    pub(super) fn run(
        &mut self,
        goals: &[GoalAction],
        frame: GoalFrame,
        scratch: &mut GoalScratch,
        pose: &mut PoseMut,
    ) {
        if goals.is_empty() && self.joints.is_empty() {
            return;
        }
        simd::dispatch!(_wide => self.run_inlined(goals, frame, scratch, pose));
    }

    #[inline(always)]
    fn run_inlined(
        &mut self,
        goals: &[GoalAction],
        frame: GoalFrame,
        scratch: &mut GoalScratch,
        pose: &mut PoseMut,
    ) {
        let known = self.remember(goals, pose);
        let GoalScratch { ik, animated } = scratch;
        // Read before any goal is solved. Of two goals that share a joint, the second would otherwise take
        // the first one's result for that of the clips.
        animated.clear();
        animated.extend(self.joints.iter().map(|joint| pose.rotation(joint.joint)));
        for goal in goals {
            goal.ik.solve(ik, pose);
        }
        let mut is_any_free = false;
        for (index, (joint, &animated)) in self.joints.iter_mut().zip(&*animated).enumerate() {
            let wanted = pose.rotation(joint.joint);
            let shown = joint.turn(wanted, animated, index < known, &frame);
            if shown != wanted {
                pose.set_rotation(joint.joint, shown);
                pose.update_later(joint.joint);
            }
            // Only joints that are back at their clips can be forgotten. Mostly there are none to search
            // for.
            is_any_free |= joint.is_there && wanted == animated;
        }
        if is_any_free {
            self.joints
                .retain(|joint| !(joint.is_there && joint.shown == joint.animated));
        }
    }

    /// Adds the joints that goals turn from this frame on. Returns the number of joints that were
    /// turned before.
    fn remember(&mut self, goals: &[GoalAction], pose: &PoseMut) -> usize {
        // States come from files, too.
        self.joints
            .retain(|joint| usize::from(joint.joint) < pose.skeleton.len());
        let known = self.joints.len();
        // Mostly, the joints are the same as in the last frame.
        let mut next = 0;
        for goal in goals {
            goal.each_joint(pose.skeleton, |joint| {
                let is_next = self
                    .joints
                    .get(next)
                    .is_some_and(|known| known.joint == joint);
                let at = if is_next {
                    Some(next)
                } else {
                    self.joints.iter().position(|known| known.joint == joint)
                };
                if let Some(at) = at {
                    self.joints[at].turn_limit = goal.turn_limit;
                    next = at + 1;
                } else if usize::from(joint) < pose.skeleton.len() {
                    let now = pose.rotation(joint);
                    let turn_limit = goal.turn_limit;
                    self.joints.push(GoalJoint {
                        joint,
                        turn_limit,
                        shown: now,
                        animated: now,
                        is_there: true,
                    });
                    next = self.joints.len();
                }
            });
        }
        known
    }
}

impl GoalJoint {
    /// Returns the rotation to show. `was_turned` is `true` if goals turned the joint in the last
    /// frame.
    #[inline(always)]
    fn turn(&mut self, wanted: Quat, animated: Quat, was_turned: bool, frame: &GoalFrame) -> Quat {
        let shown = if frame.teleported {
            wanted
        } else if frame.dt > 0.0 {
            let limit = self.turn_limit.max(1.0);
            let most = frame
                .turn_speeds
                .map_or(TurnSpeeds::SLOWEST, |speeds| speeds.of(self.joint))
                * frame.dt;
            if was_turned {
                // Joints that turn faster than ever, such as in a clip at double speed, aren't held back.
                let beside = || (limit - 1.0) * most + angle(self.animated, animated);
                turn_toward(self.shown, wanted, limit * most, beside)
            } else {
                // The clips may have turned it as fast as they can in this frame.
                turn_toward(animated, wanted, (limit - 1.0) * most, || 0.0)
            }
        } else if self.is_there {
            // While time stands still, as in an editor, limbs follow goals that are dragged.
            wanted
        } else {
            self.shown
        };
        // Nothing that isn't finite may stay in the state, where it would spread to later frames.
        self.shown = if shown.is_finite() { shown } else { wanted };
        self.animated = animated;
        self.is_there = self.shown == wanted;
        self.shown
    }
}
