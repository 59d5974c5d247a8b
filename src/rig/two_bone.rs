//! Limbs of two bones, solved exactly.

use super::math::{across, direction, fold, part, turn_tip};
use crate::{
    model::JointIndex,
    numbers::clamp_weight,
    pose::{PoseMut, simd},
    trig::sin_cos_f32,
};
use glam::{Quat, Vec3, Vec3A};
use serde::{Deserialize, Serialize};

/// Makes a limb of two bones, such as an arm or a leg, reach for a target.
///
/// Between `root`, `mid` and `tip` there may be other joints, such as those that only twist; they keep their pose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct TwoBoneIk {
    /// The first joint of the limb: shoulder or hip.
    pub root: JointIndex,
    /// The joint that bends: elbow or knee; a descendant of `root`.
    pub mid: JointIndex,
    /// The joint that reaches the target: hand or foot; a descendant of `mid`.
    pub tip: JointIndex,
    /// The target in model space. If it is out of reach, the limb points straight at it.
    pub target: Vec3,
    /// The point in model space that the limb bends toward. If it is `None`, or on the line to the
    /// target, the limb keeps the bend of the pose.
    pub pole: Option<Vec3>,
    /// Angle at which the limb faces the pole.
    pub pole_angle: PoleAngle,
    /// The tip's rotation in model space; `None` if it keeps its rotation relative to its parent.
    pub tip_rotation: Option<Quat>,
    /// Share of each rotation that is applied, 0..=1.
    pub weight: f32,
}

/// Side of a limb that faces its pole, as an angle in radians.
///
/// In a manifest, it is in degrees:
///
/// ```ron
/// goals: {
///     "left_foot": (limb: TwoBone(root: "thigh.L", tip: "foot.L"), pole_angle: Blender(-90)),
///     // The elbow points a little to the outside.
///     "left_hand": (limb: TwoBone(root: "upper_arm.L", tip: "hand.L"), pole_angle: Bend(15)),
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum PoleAngle {
    /// The limb bends toward the pole, turned by this angle about the line from its root to its target. 0 bends
    /// exactly toward the pole. The joints' own axes don't matter.
    Bend(f32),
    /// The pole angle of Blender's IK constraint: before the limb is folded, the root joint's `x·cos(angle) +
    /// z·sin(angle)` faces the pole. For joints with the axes of Blender's bones, `y` along the bone, such as those of
    /// its glTF exports.
    Blender(f32),
}

impl Default for PoleAngle {
    fn default() -> Self {
        Self::Bend(0.0)
    }
}

impl TwoBoneIk {
    /// Creates a limb of three joints that reaches for `target` with a weight of 1.
    pub const fn new([root, mid, tip]: [JointIndex; 3], target: Vec3) -> Self {
        let (pole, pole_angle) = (None, PoleAngle::Bend(0.0));
        Self {
            root,
            mid,
            tip,
            target,
            pole,
            pole_angle,
            tip_rotation: None,
            weight: 1.0,
        }
    }

    /// Rotates the limb's joints.
    ///
    /// Returns `false`, leaving the pose as it is, if the joints do not form a chain, the target is not
    /// finite, a bone has no length, or the weight is 0.
    ///
    /// # Panics
    /// If the pose is too short for its skeleton.
    pub fn run(&self, pose: &mut PoseMut) -> bool {
        let is_solved = self.solve(pose);
        pose.update();
        is_solved
    }

    /// As [`Self::run`], without updating the matrices.
    pub(super) fn solve(&self, pose: &mut PoseMut) -> bool {
        simd::dispatch!(_wide => self.solve_inlined(pose))
    }

    #[inline(always)]
    fn solve_inlined(&self, pose: &mut PoseMut) -> bool {
        let weight = clamp_weight(self.weight);
        if weight == 0.0
            || !self.target.is_finite()
            || !pose.skeleton.descends(self.mid, self.root)
            || !pose.skeleton.descends(self.tip, self.mid)
        {
            return false;
        }
        pose.update_joints([self.tip]);
        let [a, b, c] =
            [self.root, self.mid, self.tip].map(|joint| pose.model[usize::from(joint)].translation);
        let (upper, lower) = (b - a, c - b);
        let (l1, l2) = (upper.length(), lower.length());
        let reach = l1 + l2;
        // With a shorter bone, the law of cosines would divide by almost nothing.
        if !reach.is_finite() || l1 <= 1e-6 * reach || l2 <= 1e-6 * reach {
            return false;
        }
        let to_target = Vec3A::from(self.target) - a;
        let bones = [upper * (1.0 / l1), lower * (1.0 / l2)];
        let along = match direction(to_target) {
            Some(along) => along,
            None => direction(c - a).unwrap_or(bones[0]),
        };
        let pole = match self.pole {
            Some(pole) if pole.is_finite() => across(Vec3A::from(pole) - a, along),
            _ => None,
        };
        // The direction in which the limb bends, across the line to the target.
        let bend = match (pole, self.pole_angle) {
            (None, _) => across(upper, along),
            (Some(pole), PoleAngle::Bend(angle)) if angle == 0.0 || !angle.is_finite() => {
                Some(pole)
            }
            (Some(pole), PoleAngle::Bend(angle)) => {
                let (sin, cos) = sin_cos_f32(angle);
                Some(pole * cos + along.cross(pole) * sin)
            }
            (Some(pole), PoleAngle::Blender(angle)) => {
                // As in Blender, the limb is turned from where its tip is, and then folded or stretched.
                let (sin, cos) = if angle.is_finite() {
                    sin_cos_f32(angle)
                } else {
                    (0.0, 1.0)
                };
                let from = direction(c - a).unwrap_or(along);
                let side = pose.model[usize::from(self.root)]
                    .transform_vector3a(Vec3A::new(cos, 0.0, sin));
                let side = across(side, from);
                // The turn about the line that takes `side` to the pole, applied to the bend.
                side.zip(across(upper, from)).map(|(side, bend)| {
                    pole * bend.dot(side) + along.cross(pole) * bend.dot(from.cross(side))
                })
            }
        };
        let side = match bend {
            Some(side) => side,
            None => {
                // A limb that points at its target, or away from it, keeps its plane.
                let hinge = direction(bones[0].cross(bones[1]));
                let side = hinge.and_then(|hinge| across(along.cross(hinge), along));
                side.unwrap_or_else(|| along.any_orthonormal_vector())
            }
        };
        let [first, second] = fold(bones, [l1, l2], along, to_target.length(), side);
        pose.turn(self.root, part(first, weight));
        pose.turn(self.mid, part(second, weight));
        turn_tip(pose, self.tip, self.tip_rotation, weight);
        pose.update_later(self.root);
        true
    }
}
