//! Joints that follow others: twist bones that take a share of a hand's roll, and what points at something.

use super::math::{arc, direction};
use crate::{
    model::{JointIndex, Skeleton},
    numbers::{clamp_weight, unit},
    pose::PoseMut,
    trig::{atan2, sin_cos_f32},
};
use glam::{Quat, Vec3, Vec3A};
use serde::{Deserialize, Serialize};

/// The way in which a joint follows another. Rotations are relative to those at rest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum ConstraintKind {
    /// It takes over the turn around one of its axes: `Roll((1, 0, 0))`.
    Roll(Vec3),
    /// One of its axes points at the other joint: `Aim((0, 1, 0))`.
    Aim(Vec3),
    /// It takes over the turn.
    Rotation,
}

/// A joint that follows another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointConstraint {
    /// The joint that turns.
    pub joint: JointIndex,
    /// The joint that it follows.
    pub source: JointIndex,
    /// The way in which it does.
    pub kind: ConstraintKind,
    /// The share of the turn, 0..=1.
    pub weight: f32,
}

/// The joints of a skeleton that follow others, each after those it depends on.
///
/// The math is that of VRM's extension `VRMC_node_constraint`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraints {
    /// With the rotations at rest of the joint and of its source.
    ordered: Vec<(JointConstraint, [Quat; 2])>,
    /// Joints that would depend on themselves.
    circular: Vec<JointIndex>,
}

/// A step of finding the order: what a joint's rotation depends on, or its place.
#[derive(Clone, Copy, PartialEq)]
enum Visit {
    Not,
    Begun,
    Done,
}

impl Constraints {
    /// Sorts constraints. Of several for a joint, the first counts. Those with a joint that the skeleton doesn't have, or with an
    /// axis of no length, are left out. So is one of those that depend on each other in a circle.
    pub fn new(skeleton: &Skeleton, all: &[JointConstraint]) -> Self {
        let mut of_joint: Vec<Option<JointConstraint>> = vec![None; skeleton.len()];
        for one in all {
            let is_known = usize::from(one.source) < skeleton.len() && one.kind.is_known();
            let slot = of_joint.get_mut(usize::from(one.joint));
            if let Some(slot) = slot.filter(|slot| slot.is_none() && is_known) {
                *slot = Some(*one);
            }
        }
        let rest = |joint: JointIndex| skeleton.rest_of(joint).rotation;
        let mut sorted = Self::default();
        // Two for each joint, its rotation and its place: a hand may turn the forearm that it hangs from, but not by its place.
        let mut visits = vec![Visit::Not; 2 * skeleton.len()];
        let mut path = Vec::new();
        for joint in skeleton.joints() {
            let start = 2 * usize::from(joint);
            if of_joint[start / 2].is_none() || visits[start] != Visit::Not {
                continue;
            }
            visits[start] = Visit::Begun;
            path.push((start, 0));
            while let Some((part, next)) = path.last_mut() {
                let (part, step) = (*part, std::mem::replace(next, *next + 1));
                let needed = match needs(part, skeleton, &of_joint).get(step) {
                    Some(needed) => *needed,
                    None => {
                        visits[part] = Visit::Done;
                        path.pop();
                        let made = of_joint[part / 2].filter(|_| part % 2 == 0);
                        let made = made.map(|one| (one, [one.joint, one.source].map(rest)));
                        sorted.ordered.extend(made);
                        continue;
                    }
                };
                match needed.map(|needed| (needed, visits[needed])) {
                    Some((needed, Visit::Not)) => {
                        visits[needed] = Visit::Begun;
                        path.push((needed, 0));
                    }
                    Some((_, Visit::Begun)) => {
                        let mut turned = path.iter().rev().filter(|(part, _)| part % 2 == 0);
                        // Only constraints can close a circle.
                        let last = turned.find_map(|(part, _)| of_joint[part / 2].take());
                        sorted.circular.extend(last.map(|one| one.joint));
                    }
                    _ => {}
                }
            }
        }
        sorted
    }

    /// Returns `true` if no joint follows another.
    pub fn is_empty(&self) -> bool {
        self.ordered.is_empty()
    }

    /// Returns the joints that stay as they are, because they would depend on themselves.
    pub fn circular(&self) -> &[JointIndex] {
        &self.circular
    }

    /// Returns the joints that turn, in the order in which they do.
    pub fn joints(&self) -> impl ExactSizeIterator<Item = JointIndex> {
        self.ordered.iter().map(|(one, _)| one.joint)
    }

    /// Turns the joints. Their matrices, and those below them, are out of date afterwards.
    ///
    /// # Panics
    /// If the pose is of another skeleton.
    pub fn solve(&self, pose: &mut PoseMut) {
        for (one, [rest, source_rest]) in &self.ordered {
            let target = match one.kind {
                ConstraintKind::Rotation => {
                    *rest * (source_rest.conjugate() * pose.rotation(one.source))
                }
                ConstraintKind::Roll(axis) => {
                    let turn = pose.rotation(one.source) * source_rest.conjugate();
                    // As the joint sees it.
                    let turn = rest.conjugate() * turn * *rest;
                    let axis = Vec3A::from(axis);
                    *rest * arc(turn * axis, axis) * turn
                }
                ConstraintKind::Aim(axis) => {
                    pose.update_joints([one.joint, one.source]);
                    let above = pose.rotation_above(one.joint);
                    let way = pose.position(one.source) - pose.position(one.joint);
                    let turn = arc(above * (*rest * Vec3A::from(axis)), way.into());
                    above.conjugate() * turn * above * *rest
                }
            };
            let turn = share(rest.conjugate() * target, clamp_weight(one.weight));
            pose.set_rotation(one.joint, unit(*rest * turn));
            pose.update_later(one.joint);
        }
    }
}

impl ConstraintKind {
    /// Returns `true` if its axis has a direction.
    fn is_known(&self) -> bool {
        match self {
            Self::Roll(axis) | Self::Aim(axis) => direction((*axis).into()).is_some(),
            Self::Rotation => true,
        }
    }
}

/// What a joint's rotation (at an even place) or its position in the model (at an odd one) depends on.
fn needs(
    part: usize,
    skeleton: &Skeleton,
    of_joint: &[Option<JointConstraint>],
) -> [Option<usize>; 2] {
    let [rotation, place] = [0, 1].map(|kind| move |at: JointIndex| 2 * usize::from(at) + kind);
    if part % 2 == 1 {
        let parent = skeleton.parents()[part / 2];
        return [parent.map(rotation), parent.map(place)];
    }
    match of_joint[part / 2] {
        None => [None; 2],
        Some(JointConstraint {
            joint,
            source,
            kind: ConstraintKind::Aim(_),
            ..
        }) => [Some(place(source)), Some(place(joint))],
        Some(one) => [Some(rotation(one.source)), None],
    }
}

/// The share `weight` of a rotation, at a steady speed.
fn share(turn: Quat, weight: f32) -> Quat {
    if weight == 1.0 {
        return turn;
    }
    let turn = if turn.w < 0.0 { -turn } else { turn };
    let vector = Vec3A::from_vec4(turn.into());
    let sine = vector.length();
    let (part, w) = sin_cos_f32(weight * atan2(sine, turn.w));
    let factor = if sine > 1e-6 { part / sine } else { weight };
    Quat::from_vec4((vector * factor).extend(w))
}
