//! Inertialization: a pose that is carried over a switch from some clips to others.
//!
//! At the switch, each joint's difference between the old clips and the new ones has a size and a
//! speed. From then on it is added to the new clips, and decays along a polynomial that starts with
//! that size and speed and ends at 0 with speed, acceleration and jerk 0:
//!
//! ```text
//! x(s) = (1 − s)⁴ · (x₀ + (4·x₀ + T·v₀)·s)        s = t / T in 0..=1
//! ```
//!
//! The idea is David Bollo's ("Inertialization: High-Performance Animation Transitions in Gears of War", GDC 2018), and the
//! polynomial is his with the end's jerk set to 0, written as a product. Three things differ. Vectors decay as they are,
//! not their lengths alone, so that velocities across the difference are kept, too. A velocity away from the new clip is
//! kept as well: the difference then grows a little before it shrinks. And switches add up: each has an offset of its own,
//! made from its clips alone, so that an offset never depends on what was shown, nor on when.
//!
//! Differences of rotations are modified Rodrigues parameters, `axis · tan(angle / 4)`: regular up to a whole turn, and a
//! rotation again without trigonometry, so poses have the same bits on every processor.

use super::{
    ClipLayer,
    mix::{ActiveList, BasePose, MixRows, Take},
    recycle,
    row::Row,
};
use crate::controller::{BlendMode, Switch, SwitchLayer, TrackPriority};
use crate::model::{JointTransform, Skeleton, SoaQuat, SoaTransform, SoaVec3};
use glam::{Quat, Vec3, Vec4};
use std::mem;

/// The offsets of a character's switches, made from [`AnimationController::switches`] and the
/// clips.
///
/// It can be made again at any time, so it need not be saved. [`Evaluate::inertia`](super::Evaluate::inertia) adds it to
/// the layers of the [base](ClipLayer::base).
///
/// [`AnimationController::switches`]: crate::controller::AnimationController::switches
#[derive(Clone, Debug, Default)]
pub struct Inertia {
    /// The offsets of the current switches, the oldest first, followed by unused ones that are kept
    /// for their memory.
    offsets: Vec<Offset>,
    count: usize,
}

/// An [`Inertia`] at a moment.
#[derive(Clone, Copy, Debug)]
pub struct InertiaAt<'a> {
    offsets: &'a [Offset],
    /// In seconds of the controller's time.
    time: f64,
}

/// Working memory of [`Inertia::follow`]. One serves any number of characters.
#[derive(Debug, Default)]
pub struct InertiaScratch {
    layers: Vec<ClipLayer<'static>>,
    joints: Samples<SoaTransform>,
    weights: Samples<Vec4>,
}

/// Poses before and after a switch, each at two times, and the memory to mix them.
#[derive(Debug)]
struct Samples<R: Row> {
    active: ActiveList<R>,
    poses: [Vec<R>; 4],
}

impl<R: Row> Default for Samples<R> {
    fn default() -> Self {
        Self {
            active: ActiveList::default(),
            poses: [(); 4].map(|()| Vec::new()),
        }
    }
}

/// Memory to add an inertia to some of a pose's layers.
#[derive(Debug)]
pub(super) struct BaseScratch<R: Row> {
    pose: Vec<R>,
    base: BasePose<R>,
}

impl<R: Row> Default for BaseScratch<R> {
    fn default() -> Self {
        Self {
            pose: Vec::new(),
            base: BasePose::default(),
        }
    }
}

/// Seconds over which velocities are measured.
const STEP: f64 = 1.0 / 128.0;

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

impl Inertia {
    /// Creates an inertia without offsets.
    pub const fn new() -> Self {
        Self {
            offsets: Vec::new(),
            count: 0,
        }
    }

    /// Follows the switches of a controller, the oldest first: makes an offset for each that is new. Returns `true` if there
    /// is a new one, or one less.
    ///
    /// `layer` looks up a clip, bound to the skeleton, and a mask, with the weight and time of the layer it is given.
    /// After a change of the skeleton or of clips, [`clear`](Self::clear) it first. Costs four blends for each new switch,
    /// and nothing but a comparison for the others. Allocates only for the first switches of a character.
    pub fn follow<'s, 'c>(
        &mut self,
        switches: impl Iterator<Item = &'s Switch> + Clone,
        skeleton: &Skeleton,
        layer: impl Fn(&SwitchLayer) -> Option<ClipLayer<'c>>,
        scratch: &mut InertiaScratch,
    ) -> bool {
        let before = self.count;
        // Move the offsets that exist already to the front, in the order of the switches.
        let mut known = 0;
        for switch in switches.clone() {
            if let Some(at) = self.offsets[known..]
                .iter()
                .position(|offset| offset.of == *switch)
            {
                self.offsets[known..=known + at].rotate_right(1);
                known += 1;
            }
        }
        self.count = 0;
        let mut changed = false;
        for switch in switches {
            let at = self.count;
            if at >= known || self.offsets[at].of != *switch {
                // Reuse the memory of an offset that is no longer current.
                let spare = if self.offsets.len() > known {
                    self.offsets.pop()
                } else {
                    None
                };
                let mut offset = spare.unwrap_or_default();
                offset.make(switch, skeleton, &layer, scratch);
                self.offsets.insert(at, offset);
                (known, changed) = (known + 1, true);
            }
            self.count += 1;
        }
        changed || before != self.count
    }

    /// Forgets all offsets.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Returns `true` if there is no offset.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the offsets as they are at a moment of the controller's time.
    pub fn at(&self, time: f64) -> InertiaAt<'_> {
        InertiaAt {
            offsets: &self.offsets[..self.count],
            time,
        }
    }
}

impl InertiaAt<'_> {
    /// Returns `true` if all scales stay one if they were.
    pub(super) fn keeps_scale(&self) -> bool {
        self.offsets.iter().all(|offset| offset.scales.is_empty())
    }

    /// Returns `true` if an offset moves morph weights.
    pub(super) fn moves_morphs(&self) -> bool {
        let moves = |offset: &Offset| !offset.weights.is_empty() || !offset.weight_reach.is_empty();
        self.offsets.iter().any(moves)
    }

    /// Mixes the layers, with the offsets added to those of the base.
    pub(super) fn run<R: Carried>(
        &self,
        mix: &MixRows<R>,
        scratch: &mut BaseScratch<R>,
        memory: &mut ActiveList<R>,
        out: &mut [R],
    ) {
        let in_base = |layer: &ClipLayer| layer.base && layer.effective_mode() == BlendMode::Blend;
        // Nothing lies on top of the base, so the offsets go straight onto the result.
        if mix.layers.iter().all(in_base) {
            mix.run(Take::All, memory, out);
            return self.add_to(out);
        }
        // Other layers lie on top of the base. So it is mixed alone first, and the result stands in
        // for its layers.
        let BaseScratch { pose, base } = scratch;
        pose.resize(mix.rest.len(), R::NEUTRAL);
        mix.run(Take::Base, memory, pose);
        self.add_to(pose);
        let counts = |layer: &&ClipLayer| {
            in_base(layer) && layer.weight > 0.0 && layer.weight < f32::INFINITY
        };
        let layers = || mix.layers.iter().filter(counts);
        // Finite weights may sum to infinity, by which nothing can be divided.
        let weight = layers()
            .map(|layer| layer.weight)
            .sum::<f32>()
            .min(f32::MAX);
        base.fill(pose, weight, |row| {
            self.reach::<R>(row, reach::<R>(layers(), weight, row))
        });
        mix.run(Take::OnBase(base), memory, out);
    }

    fn add_to<R: Carried>(&self, pose: &mut [R]) {
        // The latest first: each is a difference to a pose that has the later ones.
        for offset in self.offsets.iter().rev() {
            R::add(offset, offset.age(self.time), pose);
        }
    }

    /// Returns the part of a row's joints that the base reaches, given the part that its current
    /// clips reach.
    fn reach<R: Carried>(&self, row: usize, reach: Vec4) -> Vec4 {
        let sum = self.offsets.iter().fold(reach, |sum, offset| {
            let changes = R::reach_changes(offset);
            let found = changes.binary_search_by_key(&row, |(row, _)| *row).ok();
            found.map_or(sum, |at| {
                sum + changes[at].1 * offset.of.remaining(self.time)
            })
        });
        sum.clamp(Vec4::ZERO, Vec4::ONE)
    }
}

/// The part of the layers' weight that reaches a row's joints.
fn reach<'a, R: Row>(
    layers: impl Iterator<Item = &'a ClipLayer<'a>>,
    weight: f32,
    row: usize,
) -> Vec4 {
    layers.fold(Vec4::ZERO, |sum, layer| {
        let animated = R::reach(layer.clip, row);
        let mask = layer.mask.map_or(Vec4::ONE, |mask| {
            R::mask(mask).get(row).copied().unwrap_or(Vec4::ZERO)
        });
        sum + animated * mask * (layer.weight / weight)
    })
}

/// The remaining difference between the clips of one switch.
#[derive(Clone, Debug, Default)]
pub(super) struct Offset {
    of: Switch,
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
pub(super) trait Carried: Row {
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
        // The coefficients of the polynomial at the head of this file.
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
    fn age(&self, time: f64) -> f32 {
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

    fn make<'c>(
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

/// Poses of the clips of a switch.
struct Sampler<'a, 'c, L> {
    skeleton: &'a Skeleton,
    layer: &'a L,
    layers: &'a mut Vec<ClipLayer<'c>>,
}

impl<'c, L: Fn(&SwitchLayer) -> Option<ClipLayer<'c>>> Sampler<'_, 'c, L> {
    /// Returns `true` if a clip before or after the switch moves morph targets.
    fn moves_morphs(&self, of: &Switch) -> bool {
        let mut layers = of.from().iter().chain(of.to());
        layers.any(|layer| (self.layer)(layer).is_some_and(|found| found.clip.animates_morphs()))
    }

    /// Poses the old and the new clips at the switch, each also a step away, and returns the steps
    /// in seconds. Appends the old clips' reach minus that of the new ones to `reaches`, by row.
    /// `None` if either side has no clips to pose.
    fn sample_all<R: Row>(
        &mut self,
        of: &Switch,
        rest: &[R],
        unit_scale: bool,
        Samples { active, poses }: &mut Samples<R>,
        reaches: &mut Vec<(usize, Vec4)>,
    ) -> Option<[f64; 2]> {
        for pose in poses.iter_mut() {
            pose.resize(rest.len(), R::NEUTRAL);
        }
        let [old, old_next, new, new_next] = poses;
        let mut rows = (rest, unit_scale, active);
        let old_step = self.sample(of.from(), -STEP, &mut rows, old, old_next);
        self.reach::<R>(rest.len(), |row, reach| reaches.push((row, reach)));
        let new_step = self.sample(of.to(), STEP, &mut rows, new, new_next);
        // The old clips' rows are in the list already, in the same order.
        let mut old = reaches.iter_mut();
        self.reach::<R>(rest.len(), |_, reach| {
            if let Some((_, old)) = old.next() {
                *old -= reach;
            }
        });
        reaches.retain(|(_, difference)| *difference != Vec4::ZERO);
        Some([old_step?, new_step?])
    }

    /// Poses clips at the switch, and at a step before or after it: the one given unless a clip begins or ends there.
    /// Returns the step.
    fn sample<R: Row>(
        &mut self,
        of: &[SwitchLayer],
        step: f64,
        rows: &mut (&[R], bool, &mut ActiveList<R>),
        pose: &mut [R],
        next: &mut [R],
    ) -> Option<f64> {
        self.collect(of, 0.0);
        if self.layers.is_empty() {
            return None;
        }
        // Times are clamped to the clip, so a step beyond its end would measure too low a speed.
        let within = |step: f64| {
            of.iter()
                .filter_map(|layer| Some((layer, (self.layer)(layer)?)))
                .all(|(layer, found)| {
                    (0.0..=found.clip.timing.duration).contains(&(layer.time + layer.rate * step))
                })
        };
        let step = if within(step) || !within(-step) {
            step
        } else {
            -step
        };
        self.run(rows, pose);
        self.collect(of, step);
        self.run(rows, next);
        // `Self::reach` reads the layers, so they must be those at the switch again.
        self.collect(of, 0.0);
        Some(step)
    }

    fn collect(&mut self, of: &[SwitchLayer], step: f64) {
        self.layers.clear();
        for layer in of {
            let Some(found) = (self.layer)(layer) else {
                continue;
            };
            let (time, weight) = (
                layer.time + layer.rate * step,
                layer.weight + layer.weight_rate * step as f32,
            );
            // Differences aren't a pose that could be carried over.
            let fits = found.clip.rows().len() == self.skeleton.rows() && !found.clip.additive;
            // A fade must not make a layer vanish within the step, or the two poses would be of
            // different clips.
            let weight = weight.max(layer.weight * 1e-3);
            let layer = ClipLayer {
                time,
                weight,
                mode: BlendMode::Blend,
                priority: TrackPriority::Low,
                base: true,
                ..found
            };
            self.layers.extend(fits.then_some(layer));
        }
    }

    fn run<R: Row>(
        &self,
        (rest, unit_scale, active): &mut (&[R], bool, &mut ActiveList<R>),
        out: &mut [R],
    ) {
        MixRows {
            layers: self.layers,
            priority_blend: 0.0,
            rest,
            unit_scale: *unit_scale,
        }
        .run(Take::All, active, out);
    }

    /// Calls `each` with every row and the part of its weight that the clips reach.
    fn reach<R: Row>(&self, rows: usize, mut each: impl FnMut(usize, Vec4)) {
        let weight: f32 = self.layers.iter().map(|layer| layer.weight).sum();
        (0..rows).for_each(|row| each(row, reach::<R>(self.layers.iter(), weight, row)));
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
