//! The difference between the clips before and after a switch, and how it decays.

use super::sampler::{InertiaScratch, STEP, Sampler};
use crate::controller::{Switch, SwitchLayer};
use crate::model::{JointTransform, Skeleton, SoaQuat, SoaTransform, SoaVec3};
use crate::pose::{ClipLayer, recycle, row::Row};
use glam::{Quat, Vec3, Vec4};
use std::mem;

/// The largest value of `s·(1 − s)⁴`, reached at s = 1/5: how far a speed alone carries a joint,
/// for a duration of 1.
const EXCURSION: f32 = 0.08192;

/// The part of the duration that a difference takes at least, however fast it shrinks by itself.
const SHORTEST: f32 = 0.25;

/// The farthest that a speed alone may carry a joint: in sizes of the skeleton for translations, in
/// tangents of a quarter of the angle for rotations (half a radian), and in scales. The limit is
/// for clips with steps, whose speed at a step means nothing.
const FARTHEST: [f32; 3] = [0.25, 0.125, 0.5];

/// The same for weights of morph targets.
const FARTHEST_WEIGHT: f32 = 0.25;

/// Differences and speeds up to these values count as rounding errors. In the units of
/// [`FARTHEST`].
const NOTHING: [f32; 2] = [1e-6, 1e-4];

/// The remaining difference between the clips of one switch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offset {
    pub(super) of: Switch,
    /// Only rows that have a difference.
    moves: Vec<Decay>,
    turns: Vec<Decay>,
    scales: Vec<Decay>,
    /// The part of each joint's weight that the old clips reach, minus the part that the new ones
    /// reach, by row.
    reach: Vec<(usize, Vec4)>,
    /// The same for morph weights, stored in the x components.
    weights: Vec<Decay>,
    weight_reach: Vec<(usize, Vec4)>,
}

/// Rows that are carried over a switch.
pub(crate) trait Carried: Row {
    /// Adds an offset at an age to a pose.
    fn add(offset: &Offset, age: f32, pose: &mut [Self]);
    /// Returns the old clips' reach minus that of the new ones, by row.
    fn reach_changes(offset: &Offset) -> &[(usize, Vec4)];
}

impl Carried for SoaTransform {
    fn add(offset: &Offset, age: f32, pose: &mut [Self]) {
        offset.add_to(age, pose);
    }

    fn reach_changes(offset: &Offset) -> &[(usize, Vec4)] {
        &offset.reach
    }
}

impl Carried for Vec4 {
    fn add(offset: &Offset, age: f32, pose: &mut [Self]) {
        for decay in &offset.weights {
            if let Some(row) = pose.get_mut(decay.row) {
                *row += decay.at(age).x;
            }
        }
    }

    fn reach_changes(offset: &Offset) -> &[(usize, Vec4)] {
        &offset.weight_reach
    }
}

/// The differences of four joints: `(1 − s)⁴ · (first + second · s)`.
#[derive(Clone, Copy, Debug)]
struct Decay {
    row: usize,
    first: SoaVec3,
    second: SoaVec3,
    /// 1 / T.
    rate: Vec4,
}

impl Decay {
    const NONE: Self = Self {
        row: 0,
        first: SoaVec3::splat(Vec3::ZERO),
        second: SoaVec3::splat(Vec3::ZERO),
        rate: Vec4::ONE,
    };

    /// Sets a joint's difference and speed, and how long the difference may last, in seconds.
    /// `unit` is the unit of differences, and `most` the farthest that a speed may carry the joint,
    /// in units.
    ///
    /// Returns `false` if there is nothing but rounding errors.
    fn set(
        &mut self,
        lane: usize,
        difference: Vec3,
        speed: Vec3,
        duration: f32,
        (unit, most): (f32, f32),
    ) -> bool {
        let (size, pace) = (difference.length(), speed.length());
        if !(size + pace).is_finite() || (size <= NOTHING[0] * unit && pace <= NOTHING[1] * unit) {
            return false;
        }
        let mut time = duration;
        // The factor `x₀ + (4·x₀ + T·v₀)·s` doesn't change its sign if T ≤ 5·|x₀| / |v₀|. With a
        // longer time, the difference would overshoot the new clip and come back.
        let toward = -difference.dot(speed);
        if toward > 0.0 {
            time = time
                .min(5.0 * size * size / toward)
                .max(SHORTEST * duration);
        }
        // A speed alone carries the joint by `EXCURSION · pace · time` at most.
        time = time
            .min(most * unit / (EXCURSION * pace).max(f32::MIN_POSITIVE))
            .max(1e-6);
        // The coefficients of the polynomial at the head of `inertia.rs`.
        self.first.set(lane, difference);
        self.second.set(lane, 4.0 * difference + speed * time);
        self.rate[lane] = 1.0 / time;
        true
    }

    #[inline]
    fn at(&self, age: f32) -> SoaVec3 {
        // The offset is over at s = 1, and 0 from then on.
        let s = (self.rate * age).min(Vec4::ONE);
        let rest = Vec4::ONE - s;
        let square = rest * rest;
        let first = square * square;
        let second = first * s;
        let at = |a: Vec4, b: Vec4| a * first + b * second;
        let (a, b) = (self.first, self.second);
        SoaVec3 {
            x: at(a.x, b.x),
            y: at(a.y, b.y),
            z: at(a.z, b.z),
        }
    }
}

impl Offset {
    /// Returns `true` if all scales stay one if they were.
    pub(super) fn keeps_scale(&self) -> bool {
        self.scales.is_empty()
    }

    /// Returns `true` if it moves morph weights.
    pub(super) fn moves_morphs(&self) -> bool {
        !self.weights.is_empty() || !self.weight_reach.is_empty()
    }

    pub(super) fn age(&self, time: f64) -> f32 {
        (time - self.of.begin()).max(0.0) as f32
    }

    fn add_to(&self, age: f32, pose: &mut [SoaTransform]) {
        let plus = |a: &mut SoaVec3, b: SoaVec3| {
            *a = SoaVec3 {
                x: a.x + b.x,
                y: a.y + b.y,
                z: a.z + b.z,
            };
        };
        for decay in &self.moves {
            if let Some(row) = pose.get_mut(decay.row) {
                plus(&mut row.translation, decay.at(age));
            }
        }
        for decay in &self.turns {
            if let Some(row) = pose.get_mut(decay.row) {
                // On the right: the difference was measured in the joint's own space.
                row.rotation = row.rotation.mul(turn(decay.at(age)));
            }
        }
        for decay in &self.scales {
            if let Some(row) = pose.get_mut(decay.row) {
                plus(&mut row.scale, decay.at(age));
            }
        }
    }

    pub(super) fn make<'c>(
        &mut self,
        of: &Switch,
        skeleton: &Skeleton,
        layer: impl Fn(&SwitchLayer) -> Option<ClipLayer<'c>>,
        scratch: &mut InertiaScratch,
    ) {
        let Self {
            of: ours,
            moves,
            turns,
            scales,
            reach,
            weights,
            weight_reach,
        } = self;
        ours.clone_from(of);
        for list in [&mut *moves, turns, scales, weights] {
            list.clear();
        }
        reach.clear();
        weight_reach.clear();
        let InertiaScratch {
            layers: memory,
            joints,
            weights: of_weights,
        } = scratch;
        // The list borrows from clips of this call. Recycling keeps its memory without their lifetime.
        let mut layers: Vec<ClipLayer<'c>> = recycle(mem::take(memory));
        let mut sampler = Sampler {
            skeleton,
            layer: &layer,
            layers: &mut layers,
        };
        // Finite in single precision, too.
        let duration = of.duration().min(1e9) as f32;
        let (rest, unit_scale) = (skeleton.rest(), skeleton.unit_scale());
        if let Some(steps) = sampler.sample_all(of, rest, unit_scale, joints, reach) {
            self.carry_joints(skeleton, &joints.poses, steps, duration);
        }
        let morphs = skeleton.morphs().rest_rows();
        if !morphs.is_empty() && sampler.moves_morphs(of) {
            let (weights, reach) = (&mut self.weights, &mut self.weight_reach);
            if let Some(steps) = sampler.sample_all(of, morphs, true, of_weights, reach) {
                carry_weights(&of_weights.poses, steps, duration, weights);
            }
        }
        *memory = recycle(layers);
    }

    /// Finds the differences of joints, given their poses before and after a switch, each at two
    /// times, a step apart.
    fn carry_joints(
        &mut self,
        skeleton: &Skeleton,
        [old, old_next, new, new_next]: &[Vec<SoaTransform>; 4],
        [old_step, new_step]: [f64; 2],
        duration: f32,
    ) {
        let Self {
            moves,
            turns,
            scales,
            ..
        } = self;
        let size = extent(skeleton);
        // Translations are measured in sizes of the skeleton, so that one limit fits a mouse and a giant.
        let units = [(size, FARTHEST[0]), (1.0, FARTHEST[1]), (1.0, FARTHEST[2])];
        for row in 0..skeleton.rows() {
            let mut decays = [Decay { row, ..Decay::NONE }; 3];
            let mut some = [false; 3];
            for lane in 0..4 {
                let [old, old_next, new, new_next] =
                    [old, old_next, new, new_next].map(|pose| pose[row].get(lane));
                let gone = change(old, old_next, old_step);
                let coming = change(new, new_next, new_step);
                let apart = (new.rotation.conjugate() * old.rotation).normalize();
                let next =
                    // The difference a step later, if both sides keep their speeds.
                    (new.rotation * coming.rotation).conjugate() * (old.rotation * gone.rotation);
                // Both in one hemisphere, because a quaternion and its negative have different
                // parameters.
                let apart = if apart.w < 0.0 { -apart } else { apart };
                let next = if next.dot(apart) < 0.0 { -next } else { next };
                let (first, second) = (parameters(apart), parameters(next));
                let differences = [
                    (
                        old.translation - new.translation,
                        gone.translation - coming.translation,
                    ),
                    (first, second - first),
                    (old.scale - new.scale, gone.scale - coming.scale),
                ];
                let kinds = decays.iter_mut().zip(&mut some).zip(differences).zip(units);
                for (((decay, some), (difference, change)), unit) in kinds {
                    *some |= decay.set(lane, difference, change * PER_SECOND, duration, unit);
                }
            }
            for (list, (decay, some)) in [&mut *moves, &mut *turns, &mut *scales]
                .into_iter()
                .zip(decays.into_iter().zip(some))
            {
                list.extend(some.then_some(decay));
            }
        }
    }
}

/// Seconds to a speed per second.
const PER_SECOND: f32 = 1.0 / STEP as f32;

/// Finds the differences of morph weights.
fn carry_weights(
    [old, old_next, new, new_next]: &[Vec<Vec4>; 4],
    [old_step, new_step]: [f64; 2],
    duration: f32,
    out: &mut Vec<Decay>,
) {
    let pace = |at: Vec4, other: Vec4, step: f64| if step > 0.0 { other - at } else { at - other };
    for row in 0..old.len() {
        let difference = old[row] - new[row];
        let gone = pace(old[row], old_next[row], old_step);
        let change = gone - pace(new[row], new_next[row], new_step);
        let mut decay = Decay { row, ..Decay::NONE };
        let mut some = false;
        for lane in 0..4 {
            let (difference, change) = (Vec3::X * difference[lane], Vec3::X * change[lane]);
            let unit = (1.0, FARTHEST_WEIGHT);
            some |= decay.set(lane, difference, change * PER_SECOND, duration, unit);
        }
        out.extend(some.then_some(decay));
    }
}

/// Returns the change of a transform over one step forward. `other` is the transform a step away
/// from `at`, forward or backward by the sign of `step`.
fn change(at: JointTransform, other: JointTransform, step: f64) -> JointTransform {
    let (from, to) = if step > 0.0 { (at, other) } else { (other, at) };
    JointTransform {
        translation: to.translation - from.translation,
        rotation: from.rotation.conjugate() * to.rotation,
        scale: to.scale - from.scale,
    }
}

/// Returns the modified Rodrigues parameters of a unit quaternion. They are singular at w = −1.
fn parameters(q: Quat) -> Vec3 {
    q.xyz() / (1.0 + q.w)
}

/// Returns the rotations with the given modified Rodrigues parameters.
#[inline]
fn turn(SoaVec3 { x, y, z }: SoaVec3) -> SoaQuat {
    let square = x * x + y * y + z * z;
    let scale = Vec4::ONE / (Vec4::ONE + square);
    let twice = scale + scale;
    SoaQuat {
        x: x * twice,
        y: y * twice,
        z: z * twice,
        w: (Vec4::ONE - square) * scale,
    }
}

/// Returns the size of a skeleton at rest: the largest distance of a joint from the first one, or 1
/// if there is none.
fn extent(skeleton: &Skeleton) -> f32 {
    let mut joints = skeleton.rest_model().iter().map(|joint| joint.translation);
    let Some(first) = joints.next() else {
        return 1.0;
    };
    let farthest = joints
        .map(|joint| joint.distance(first))
        .filter(|distance| distance.is_finite())
        .fold(0.0, f32::max);
    if farthest > 0.0 { farthest } else { 1.0 }
}
