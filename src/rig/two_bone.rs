//! Limbs of two bones, solved exactly.

use super::math::{across, arc, arc_about, direction, part, turn_tip};
use crate::{
    model::JointIndex,
    pose::{PoseMut, clamp_weight},
};
use glam::{Quat, Vec3};
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
    /// The point in model space the limb bends toward. If `None`, or on the line to the target, the
    /// limb keeps bending the way it does in the pose.
    pub pole: Option<Vec3>,
    /// How the limb faces the pole.
    pub pole_angle: PoleAngle,
    /// The tip's rotation in model space; `None` if it keeps its rotation relative to its parent.
    pub tip_rotation: Option<Quat>,
    /// How much of each rotation is applied, 0..=1.
    pub weight: f32,
}

/// What of a limb faces its pole, in radians.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum PoleAngle {
    /// The limb bends toward the pole, turned by this angle about the line from its root to its target. 0 bends
    /// exactly toward the pole, whatever the axes of the joints.
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
    /// A limb of three joints that reaches for `target` with a weight of 1.
    pub const fn new([root, mid, tip]: [JointIndex; 3], target: Vec3) -> Self {
        let (pole, pole_angle) = (None, PoleAngle::Bend(0.0));
        Self { root, mid, tip, target, pole, pole_angle, tip_rotation: None, weight: 1.0 }
    }

    /// Rotates the limb's joints.
    ///
    /// Returns `false`, leaving the pose as it is, if the joints do not form a chain, the target is not
    /// finite, a bone has no length, or the weight is 0.
    ///
    /// # Panics
    /// If the pose is too short for its skeleton.
    pub fn run(&self, pose: &mut PoseMut) -> bool {
        let weight = clamp_weight(self.weight);
        if weight == 0.0
            || !self.target.is_finite()
            || !pose.skeleton.descends(self.mid, self.root)
            || !pose.skeleton.descends(self.tip, self.mid)
        {
            return false;
        }
        let [a, b, c] = [self.root, self.mid, self.tip].map(|joint| pose.position(joint));
        let (upper, lower) = (b - a, c - b);
        let (l1, l2) = (upper.length(), lower.length());
        let reach = l1 + l2;
        if !reach.is_finite() || l1 <= 1e-6 * reach || l2 <= 1e-6 * reach {
            return false;
        }
        let to_target = self.target - a;
        let along = direction(to_target).or(direction(c - a)).unwrap_or(upper / l1);
        // Within what the limb can reach, folded or straight.
        let distance = to_target.length().min(reach).max((l1 - l2).abs()).max(1e-6 * reach);
        // The angle at the root, by the law of cosines.
        let cos = ((l1 * l1 + distance * distance - l2 * l2) / (2.0 * l1 * distance)).clamp(-1.0, 1.0);
        let sin = (1.0 - cos * cos).max(0.0).sqrt();

        let hinge = direction(upper.cross(lower)).filter(|_| upper.cross(lower).length() > 1e-3 * l1 * l2);
        // The rotations of both bones for the side that the limb bends to.
        let solve = |bend: Vec3| {
            let new_upper = (along * cos + bend * sin) * l1;
            let new_lower = along * distance - new_upper;
            let mut first = arc(upper, new_upper);
            // The limb's plane rotates with it, so that the middle joint keeps bending about its own hinge.
            let new_hinge = direction(new_upper.cross(new_lower)).filter(|_| sin > 1e-3);
            if let (Some(hinge), Some(new_hinge)) = (hinge, new_hinge) {
                first = (arc_about(new_upper / l1, first * hinge, new_hinge) * first).normalize();
            }
            (first, new_lower)
        };
        let above = pose.rotation_above(self.root);
        let above_mid = match pose.skeleton.parents()[usize::from(self.mid)] {
            Some(parent) if parent != self.root => {
                above * pose.rotation(self.root) * pose.rotation_below(self.root, parent)
            }
            _ => above * pose.rotation(self.root),
        };
        let pole = self.pole.filter(|pole| pole.is_finite()).and_then(|pole| across(pole - a, along));
        let now = across(upper, along);
        let bend = match (pole, self.pole_angle) {
            (None, _) => now,
            (Some(pole), PoleAngle::Bend(angle)) if angle == 0.0 || !angle.is_finite() => Some(pole),
            (Some(pole), PoleAngle::Bend(angle)) => Some(Quat::from_axis_angle(along, angle) * pole),
            (Some(pole), PoleAngle::Blender(angle)) => {
                // As in Blender, the limb is turned from where its tip is, and then folded or stretched.
                let side = if angle.is_finite() { Vec3::new(angle.cos(), 0.0, angle.sin()) } else { Vec3::X };
                let from = direction(c - a).unwrap_or(along);
                let side = across(above * pose.rotation(self.root) * side, from);
                side.zip(across(upper, from))
                    .map(|(side, bend)| pole * bend.dot(side) + along.cross(pole) * bend.dot(from.cross(side)))
            }
        };
        let (first, new_lower) = solve(bend.unwrap_or_else(|| along.any_orthonormal_vector()));
        let second = arc(first * lower, new_lower);

        let (first, second) = (part(first, weight), part(second, weight));
        pose.turn(self.root, above, first);
        // In model space, the joint above the middle one has been rotated by `first`.
        pose.turn(self.mid, (first * above_mid).normalize(), second);
        turn_tip(pose, self.tip, self.tip_rotation, weight);
        pose.update_from(self.root);
        true
    }
}
