//! Chains of any number of bones.

use super::math::{across, arc, arc_about, at_distance, direction, part, turn_tip};
use crate::{model::JointIndex, numbers::clamp_weight, pose::PoseMut};
use glam::{Quat, Vec3, Vec3A};
use serde::{Deserialize, Serialize};

/// Makes a chain of any number of bones reach for a target.
///
/// FABRIK gives the chain its shape. The remaining distance to the target is closed by
/// straightening or folding the chain a little, so targets within reach are reached after any
/// number of passes, to within 0.02 % of the chain's length. A target near the root may be too near
/// for a chain with one long bone; its tip then is as near as its bones allow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct ChainIk {
    /// The joint that reaches the target.
    pub tip: JointIndex,
    /// The number of bones, that is of joints above the tip that rotate (fewer if the skeleton ends before).
    pub bones: u16,
    /// The target in model space. If it is out of reach, the chain points straight at it.
    pub target: Vec3,
    /// The point in model space that the chain bends toward; `None` keeps the bend of the pose.
    pub pole: Option<Vec3>,
    /// The tip's rotation in model space; `None` if it keeps its rotation relative to its parent.
    pub tip_rotation: Option<Quat>,
    /// Share of each rotation that is applied, 0..=1.
    pub weight: f32,
    /// The largest number of passes along the chain, 4 by default and at least 1. More of them spread the bend more evenly.
    pub iterations: u16,
}

/// Working memory of [`ChainIk`].
#[derive(Debug, Default)]
pub struct IkScratch {
    joints: Vec<JointIndex>,
    lengths: Vec<f32>,
    points: Vec<Vec3A>,
}

impl ChainIk {
    /// Creates a chain of `bones` bones that reaches for `target` with a weight of 1.
    pub const fn new(tip: JointIndex, bones: u16, target: Vec3) -> Self {
        Self {
            tip,
            bones,
            target,
            pole: None,
            tip_rotation: None,
            weight: 1.0,
            iterations: 4,
        }
    }

    /// Rotates the chain's joints.
    ///
    /// Returns `false`, leaving the pose as it is, if there is no such chain, the target is not finite, the chain has
    /// no length, or the weight is 0.
    ///
    /// # Panics
    /// If the pose is too short for its skeleton.
    pub fn run(&self, scratch: &mut IkScratch, pose: &mut PoseMut) -> bool {
        let is_solved = self.solve(scratch, pose);
        pose.update();
        is_solved
    }

    /// As [`Self::run`], without updating the matrices.
    pub(super) fn solve(&self, scratch: &mut IkScratch, pose: &mut PoseMut) -> bool {
        let weight = clamp_weight(self.weight);
        if weight == 0.0 || !self.target.is_finite() || usize::from(self.tip) >= pose.skeleton.len()
        {
            return false;
        }
        let IkScratch {
            joints,
            lengths,
            points,
        } = scratch;
        joints.clear();
        joints.push(self.tip);
        joints.extend(
            pose.skeleton
                .ancestors(self.tip)
                .take(usize::from(self.bones)),
        );
        joints.reverse();
        pose.update_joints([self.tip]);
        points.clear();
        points.extend(
            joints
                .iter()
                .map(|&joint| pose.model[usize::from(joint)].translation),
        );
        lengths.clear();
        lengths.extend(points.windows(2).map(|pair| pair[0].distance(pair[1])));
        let reach: f32 = lengths.iter().sum();
        if reach.is_nan() || reach <= 0.0 || !reach.is_finite() || !points[0].is_finite() {
            return false;
        }

        self.place(points, lengths, reach);
        // The combined turn of the bones so far.
        let mut turned = Quat::IDENTITY;
        for (bone, pair) in joints.windows(2).enumerate() {
            let [from, to] =
                [pair[0], pair[1]].map(|joint| pose.model[usize::from(joint)].translation);
            let turn = arc(
                to - from,
                turned.conjugate() * (points[bone + 1] - points[bone]),
            );
            pose.turn(pair[0], part(turn, weight));
            turned = (turned * turn).normalize();
        }
        turn_tip(pose, self.tip, self.tip_rotation, weight);
        pose.update_later(joints[0]);
        true
    }

    /// Moves the points toward the target. Keeps the distances between them and the first in place.
    fn place(&self, points: &mut [Vec3A], lengths: &[f32], reach: f32) {
        let (root, target, last) = (points[0], Vec3A::from(self.target), points.len() - 1);
        let to_target = target - root;
        let Some(along) = direction(to_target).or(direction(points[last] - root)) else {
            return;
        };
        if to_target.length() >= reach {
            let mut place = root;
            for (point, length) in points[1..].iter_mut().zip(lengths) {
                place += along * *length;
                *point = place;
            }
            return;
        }
        // A straight chain would only slide along its line, so push it off, toward the pole.
        let bend = points[1..last]
            .iter()
            .map(|&p| (p - root).reject_from_normalized(along).length())
            .fold(0.0, f32::max);
        let pole = self
            .pole
            .filter(|pole| pole.is_finite())
            .and_then(|pole| across(Vec3A::from(pole) - root, along));
        if bend <= 1e-3 * reach {
            let push = pole.unwrap_or_else(|| along.any_orthonormal_vector()) * (0.01 * reach);
            points[1..last].iter_mut().for_each(|point| *point += push);
        }
        // FABRIK: backward from the target, then forward from the root (Aristidou and Lasenby,
        // "FABRIK: A fast, iterative solver for the Inverse Kinematics problem", 2011).
        for _ in 0..self.iterations.max(1) {
            points[last] = target;
            for i in (0..last).rev() {
                points[i] = at_distance(points[i + 1], points[i], lengths[i]);
            }
            points[0] = root;
            for i in 0..last {
                points[i + 1] = at_distance(points[i], points[i + 1], lengths[i]);
            }
            if points[last].distance(target) <= 1e-3 * reach {
                break;
            }
        }
        // FABRIK only comes near the target. These two steps close the gap.
        fit(points, lengths, to_target.length(), along);
        aim(points, target);
        // Rotating the chain about the line to its tip bends it toward the pole without moving the tip.
        let Some(axis) = direction(points[last] - root) else {
            return;
        };
        let belly: Vec3A = points[1..last]
            .iter()
            .map(|&point| (point - root).reject_from_normalized(axis))
            .sum();
        let pole = self
            .pole
            .filter(|pole| pole.is_finite())
            .and_then(|pole| across(Vec3A::from(pole) - root, axis));
        if let (Some(belly), Some(pole)) = (
            direction(belly).filter(|_| belly.length() > 1e-4 * reach),
            pole,
        ) {
            let turn = arc_about(axis, belly, pole);
            points[1..last]
                .iter_mut()
                .for_each(|point| *point = root + turn * (*point - root));
        }
    }
}

/// Rotates the chain about its root so that its tip points at the target.
fn aim(points: &mut [Vec3A], target: Vec3A) {
    let (root, tip) = (points[0], points[points.len() - 1]);
    let turn = arc(tip - root, target - root);
    points[1..]
        .iter_mut()
        .for_each(|point| *point = root + turn * (*point - root));
}

/// The most joints at which a chain is folded.
const MOST_FOLDS: usize = 16;

/// Straightens or folds a chain until its tip is at a distance from its root.
fn fit(points: &mut [Vec3A], lengths: &[f32], distance: f32, along: Vec3A) {
    if points[points.len() - 1].distance(points[0]) < distance && straighten(points, distance) {
        return;
    }
    for _ in 0..MOST_FOLDS {
        match fold(points, distance) {
            Folded::ToDistance => return,
            // From there, the next fold begins with no turn at all, so nothing jumps where a target gets nearer.
            Folded::Flat => {}
            Folded::NotNearer => break,
        }
    }
    roll_up(points, lengths, distance, along);
}

/// Result of folding a chain at a joint.
enum Folded {
    ToDistance,
    /// The joint is folded flat: the tip is as near as a fold there brings it, but not near enough.
    Flat,
    NotNearer,
}

/// Folds a chain at one joint until its tip is at a distance from its root, or as near as that gets it.
fn fold(points: &mut [Vec3A], distance: f32) -> Folded {
    let last = points.len() - 1;
    let (root, tip) = (points[0], points[last]);
    // Folded flat, the parts on both sides of a joint are apart by their difference. The joint with the most similar ones moves
    // least.
    let apart = |i: usize| {
        (
            i,
            (points[i].distance(root) - points[i].distance(tip)).abs(),
        )
    };
    let Some((pivot, apart)) = (1..last).map(apart).min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Folded::NotNearer;
    };
    let at = points[pivot];
    let (Some(to_root), Some(to_tip)) = (direction(root - at), direction(tip - at)) else {
        return Folded::NotNearer;
    };
    if apart > distance && apart >= 0.999 * tip.distance(root) {
        return Folded::NotNearer;
    }
    let side = across(to_tip, to_root).unwrap_or_else(|| to_root.any_orthonormal_vector());
    let turn = arc(
        to_tip,
        corner(at.distance(root), at.distance(tip), distance, to_root, side),
    );
    points[pivot + 1..]
        .iter_mut()
        .for_each(|point| *point = at + turn * (*point - at));
    if apart > distance {
        Folded::Flat
    } else {
        Folded::ToDistance
    }
}

/// The direction of a triangle's side `b` from where it meets side `a`, which points along `to`, opposite to side `c`.
fn corner(a: f32, b: f32, c: f32, to: Vec3A, side: Vec3A) -> Vec3A {
    // The square of the sine of half the angle, which unlike the cosine is exact for small ones.
    let half = (((c - (a - b)) * (c + (a - b))) / (4.0 * a * b)).clamp(0.0, 1.0);
    to * (1.0 - 2.0 * half) + side * (2.0 * (half * (1.0 - half)).sqrt())
}

/// Lays a chain out as a polygon of up to three straight parts, with its tip at a distance from its
/// root, or as near to that as its bones allow: the last resort if passes don't converge.
fn roll_up(points: &mut [Vec3A], lengths: &[f32], distance: f32, along: Vec3A) {
    let whole: f32 = lengths.iter().sum();
    let longest = lengths.iter().copied().fold(0.0, f32::max);
    // The tip can't get nearer than the longest bone minus all others.
    let distance = distance.max(2.0 * longest - whole);
    let half = 0.5 * (whole + distance);
    // No part is longer than all others together, so the polygon closes. The middle part is a single bone, or none.
    let (mut first, mut middle) = (0.0, lengths.len());
    for (bone, length) in lengths.iter().enumerate() {
        if first + length > half {
            middle = bone;
            break;
        }
        first += length;
    }
    let second = lengths.get(middle).copied().unwrap_or(0.0);
    let third = (whole - first - second).max(0.0);
    // The end of the second part: as far from the root as both triangles allow.
    let far = (first + second).min(distance + third);
    let plane = points[1..]
        .iter()
        .find_map(|&point| across(point - points[0], along));
    let side = plane.unwrap_or_else(|| along.any_orthonormal_vector());
    // The direction of that end, and, on its other side, that of the first part.
    let counts = |length: f32| length > 1e-6 * whole;
    let out = if counts(distance) && counts(far) {
        corner(distance, far, third, along, side)
    } else {
        side
    };
    let beside = across(side, out).unwrap_or(-along);
    let up = if counts(first) && counts(far) {
        corner(far, first, second, out, beside)
    } else {
        out
    };
    let (root, end) = (points[0], points[0] + out * far);
    let (turn, tip) = (root + up * first, root + along * distance);
    let ways = [
        up,
        direction(end - turn).unwrap_or(out),
        direction(tip - end).unwrap_or(along),
    ];
    for (bone, length) in lengths.iter().enumerate() {
        let way = ways[usize::from(bone >= middle) + usize::from(bone > middle)];
        points[bone + 1] = points[bone] + way * *length;
    }
}

/// Turns every bone toward the line from root to tip, by the same share, until the tip is at the distance. Returns `false` if it is
/// farther, where a bone that points straight back turns around at once.
fn straighten(points: &mut [Vec3A], distance: f32) -> bool {
    let last = points.len() - 1;
    let Some(along) = direction(points[last] - points[0]) else {
        return false;
    };
    let turned = |bone: Vec3A, share: f32| {
        let length = bone.length();
        direction(bone.lerp(along * length, share)).unwrap_or(along) * length
    };
    let reach = |share: f32| {
        points
            .windows(2)
            .map(|pair| turned(pair[1] - pair[0], share))
            .sum::<Vec3A>()
            .length()
    };
    // The reach grows with the share. False position, with the weight of an end that stays halved (Illinois).
    let (mut low, mut high) = (0.0, 1.0);
    let (mut below, mut above) = (reach(low) - distance, reach(high) - distance);
    let (mut share, mut is_there) = (high, false);
    for _ in 0..40 {
        share = if above - below > 0.0 {
            low - below * (high - low) / (above - below)
        } else {
            high
        };
        let miss = reach(share) - distance;
        if miss.abs() <= 1e-6 * distance {
            is_there = true;
            break;
        }
        if miss < 0.0 {
            (low, below, above) = (share, miss, 0.5 * above);
        } else {
            (high, above, below) = (share, miss, 0.5 * below);
        }
    }
    if !is_there {
        share = high;
    }
    let mut joint = points[0];
    for i in 0..last {
        let bone = points[i + 1] - std::mem::replace(&mut joint, points[i + 1]);
        points[i + 1] = points[i] + turned(bone, share);
    }
    is_there
}
