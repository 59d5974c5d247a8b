//! Goals: limbs by name, so that a game only has to place what they reach for.

use crate::rig::{GoalAction, Limb, PoleAngle};
use serde::{Deserialize, Serialize};

/// A limb of a [`Manifest`](super::Manifest) that can reach for a goal.
///
/// ```ron
/// goals: {
///     "left_hand": (limb: TwoBone(root: "upper_arm.L", tip: "hand.L"), rotate_tip: true),
///     "tail": (limb: Chain(root: "tail.1", tip: "tail.5")),
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoalEntry {
    /// The joints.
    pub limb: Limb,
    /// Angle at which the limb faces its pole, in degrees: `Bend(0)` or Blender's pole angle, `Blender(-90)`.
    #[serde(default)]
    pub pole_angle: PoleAngle,
    /// If `true`, the tip takes the goal's rotation.
    #[serde(default)]
    pub rotate_tip: bool,
    /// Turn limit of the limb's joints when the goal comes, goes, or jumps, as a multiple of the fastest they turn
    /// in any clip; 1.4 by default, at least 1. With `inf`, the limb reaches goals at once.
    #[serde(default = "usual_turn_limit")]
    pub turn_limit: f32,
}

fn usual_turn_limit() -> f32 {
    GoalAction::TURN_LIMIT
}

impl GoalEntry {
    /// Creates a goal of a limb, with the default of every other field.
    pub fn new(limb: Limb) -> Self {
        let (pole_angle, turn_limit) = (PoleAngle::default(), usual_turn_limit());
        Self {
            limb,
            pole_angle,
            rotate_tip: false,
            turn_limit,
        }
    }

    /// Returns the pole angle in radians.
    pub fn pole_angle(&self) -> PoleAngle {
        match self.pole_angle {
            PoleAngle::Bend(degrees) => PoleAngle::Bend(degrees.to_radians()),
            PoleAngle::Blender(degrees) => PoleAngle::Blender(degrees.to_radians()),
        }
    }

    /// Returns the first mistake.
    pub(super) fn misstatement(&self) -> Option<String> {
        let (PoleAngle::Bend(angle) | PoleAngle::Blender(angle)) = self.pole_angle;
        if !angle.is_finite() {
            return Some(format!("has a pole angle of {angle}, expected degrees"));
        }
        let is_fast_enough = self.turn_limit >= 1.0;
        (!is_fast_enough).then(|| {
            let limit = self.turn_limit;
            format!("has a turn limit of {limit}, expected 1, the speed of its clips, or more")
        })
    }
}

#[cfg(test)]
#[path = "tests/goals.rs"]
mod tests;
