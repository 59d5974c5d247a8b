//! Goals: limbs by name, so that a game only has to place what they reach for.

use crate::rig::{Limb, PoleAngle};
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
    /// How the limb faces its pole, in degrees: `Bend(0)` or Blender's pole angle, `Blender(-90)`.
    #[serde(default)]
    pub pole_angle: PoleAngle,
    /// Whether the tip takes the goal's rotation.
    #[serde(default)]
    pub rotate_tip: bool,
}

impl GoalEntry {
    /// The pole angle in radians.
    pub fn pole_angle(&self) -> PoleAngle {
        match self.pole_angle {
            PoleAngle::Bend(degrees) => PoleAngle::Bend(degrees.to_radians()),
            PoleAngle::Blender(degrees) => PoleAngle::Blender(degrees.to_radians()),
        }
    }

    pub(super) fn is_finite(&self) -> bool {
        let (PoleAngle::Bend(angle) | PoleAngle::Blender(angle)) = self.pole_angle;
        angle.is_finite()
    }
}
