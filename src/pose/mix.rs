//! The blend kernel: samples all playing clips and blends them into one local pose.
//!
//! 1. The blended layers of each priority are averaged by weight, joint by joint.
//! 2. The two averages are mixed by the priority blend. A joint that only one priority reaches takes
//!    that one, and a joint that none reaches keeps its rest pose.
//! 3. Additive and overriding layers are applied on top, in order.
//!
//! Translations and scales are weighted means. Rotations are summed in the hemisphere of the running
//! sum and normalized once (n-way nlerp). The order of two layers never matters, nor that of more as
//! long as their rotations fit into one hemisphere (each within 180° of each other); beyond that no
//! mean is independent of order.
//!
//! All of this happens row by row (four joints at a time), so no pose in between is written to memory.

use super::mask::Mask;
use super::packed::{PackedTransforms, Quats4, Vectors4};
use super::sample::SamplePoint;
use super::simd::{self, Simd};
use super::soa::{sqrt, toward};
use super::{clamp_weight, recycle};
use crate::controller::{BlendMode, TrackPriority};
use crate::model::{SkeletalClip, SoaQuat, SoaTransform};
use glam::Vec4;

/// A playing clip: one layer of a [`Mix`].
#[derive(Clone, Copy, Debug)]
pub struct ClipLayer<'a> {
    /// The clip, bound to the skeleton. The layer does not reach joints the clip does not animate.
    pub clip: &'a SkeletalClip,
    /// Seconds into the clip, clamped to `0..=duration`; NaN counts as 0.
    pub time: f64,
    /// Weight, ≥ 0 and finite. Relative to the others of the same priority for blended layers, up to
    /// [`Self::MAX_ADDITIVE_WEIGHT`] for additive ones and up to 1 for overriding ones. The layer is
    /// left out if the weight is 0 or NaN.
    pub weight: f32,
    /// Weight per joint; `None` is 1 everywhere. The layer does not reach joints missing from the mask.
    pub mask: Option<&'a Mask>,
    /// The group a blended layer is averaged in. Additive and overriding layers ignore it.
    pub priority: TrackPriority,
    /// How the layer is combined with the others.
    ///
    /// An additive layer with weight `w` changes each joint to `t + w·Δt`, `r · Δrʷ`, `s · (1 + w(Δs − 1))`,
    /// so its difference turns the joint in the joint's own space. `Δrʷ` is nlerp from the identity along
    /// the shorter arc; beyond `w` = 1 it continues about the same axis, ever more slowly.
    /// An overriding layer replaces the pose below it by its weight.
    pub mode: BlendMode,
}

impl<'a> ClipLayer<'a> {
    /// The largest weight of an additive layer; larger ones are clamped to it, so that poses stay finite.
    pub const MAX_ADDITIVE_WEIGHT: f32 = 16.0;

    /// A clip at a time, blended with weight 1 and low priority.
    pub fn new(clip: &'a SkeletalClip, time: f64) -> Self {
        Self { clip, time, weight: 1.0, mask: None, priority: TrackPriority::Low, mode: BlendMode::Blend }
    }
}

/// Samples and blends all layers into one local pose.
///
/// First come the blended layers, by priority as D3DX does it; then the additive and overriding
/// layers, in the order of `layers`.
#[derive(Clone, Copy, Debug)]
pub struct Mix<'a> {
    /// The playing clips.
    pub layers: &'a [ClipLayer<'a>],
    /// Share of the high-priority layers where both priorities reach a joint, 0..=1.
    pub priority_blend: f32,
    /// The skeleton's rest pose, used for joints that no layer reaches.
    pub rest: &'a [SoaTransform],
    /// `true` if all scales of `rest` are one. If this holds for the clips too, scales cost nothing.
    pub unit_scale: bool,
}

/// Working memory of [`Mix`]. Keep it between runs: it allocates only when it meets more layers than before.
#[derive(Debug, Default)]
pub struct MixScratch {
    active: Vec<Active<'static>>,
}

impl<'a> Mix<'a> {
    /// Writes the blended local pose to `out`, as many rows as `rest` has.
    ///
    /// # Panics
    /// If `out` is shorter than `rest`. In debug builds also if a clip has a different number of rows;
    /// release builds leave such a clip out.
    pub fn run(&self, scratch: &mut MixScratch, out: &mut [SoaTransform]) {
        let out = &mut out[..self.rest.len()];
        let mut active = recycle(std::mem::take(&mut scratch.active));
        let (low, high) = self.prepare(&mut active);
        let (mut scale, mut partial) = (!self.unit_scale, false);
        for ClipLayer { clip, mask, .. } in self.layers {
            scale |= !clip.unit_scale();
            partial |= mask.is_some() || !clip.animates_all();
        }
        let groups = Groups { low: &active[..low], high: &active[low..high], overlays: &active[high..] };
        match (scale, partial) {
            (false, false) => self.pose::<false, false>(groups, out),
            (false, true) => self.pose::<false, true>(groups, out),
            (true, false) => self.pose::<true, false>(groups, out),
            (true, true) => self.pose::<true, true>(groups, out),
        }
        scratch.active = recycle(active);
    }

    /// Returns how much each of [`Self::layers`] contributes to the pose of a joint, in their order.
    ///
    /// For blended and overriding layers that is a part of the whole, and what is missing to 1 is the
    /// rest pose; for additive layers it is the weight their differences are added with.
    /// Meant for display: it allocates.
    pub fn shares(&self, joint: usize) -> Vec<f32> {
        let mut shares = vec![0.0; self.layers.len()];
        if joint / 4 >= self.rest.len() {
            return shares;
        }
        let mut active = Vec::new();
        let (low, high) = self.prepare(&mut active);
        let weight = |layer: &Active| layer.weight(joint / 4);
        let total = |group: &[Active]| group.iter().fold(Vec4::ZERO, |sum, layer| sum + weight(layer));
        let totals = [total(&active[..low]), total(&active[low..high])];
        let reached = totals.map(|total| reached(total)[joint % 4] > 0.0);
        let blend = clamp_weight(self.priority_blend);
        let parts = if reached == [true; 2] { [1.0 - blend, blend] } else { reached.map(|reached| f32::from(reached)) };
        for (place, layer) in active.iter().enumerate() {
            let own = weight(layer)[joint % 4];
            if place >= high && !layer.additive {
                shares.iter_mut().for_each(|below| *below *= 1.0 - own);
            }
            let group = usize::from(place >= low);
            shares[layer.index] =
                if place < high { own * inverse(totals[group])[joint % 4] * parts[group] } else { own };
        }
        shares
    }

    /// Collects the layers that count, in the order low, high, overlays; returns where the low and the
    /// high ones end.
    #[inline]
    fn prepare(&self, active: &mut Vec<Active<'a>>) -> (usize, usize) {
        let (mut largest, mut overlays) = ([0.0; 2], false);
        for ClipLayer { clip, weight, priority, mode, .. } in self.layers {
            debug_assert_eq!(clip.rows().len(), self.rest.len(), "the clip is not bound to this skeleton");
            let largest = &mut largest[*priority as usize];
            match mode {
                BlendMode::Blend if *weight > *largest && *weight < f32::INFINITY => *largest = *weight,
                BlendMode::Blend => {}
                BlendMode::Additive | BlendMode::Override => overlays = true,
            }
        }
        let low = self.prepare_group(TrackPriority::Low, largest[0], active);
        let high = self.prepare_group(TrackPriority::High, largest[1], active);
        if overlays {
            for (index, layer) in self.layers.iter().enumerate() {
                let weight = match layer.mode {
                    BlendMode::Blend => continue,
                    BlendMode::Additive if layer.weight > 0.0 => layer.weight.min(ClipLayer::MAX_ADDITIVE_WEIGHT),
                    BlendMode::Additive | BlendMode::Override => clamp_weight(layer.weight),
                };
                self.prepare_layer(index, layer, weight, active);
            }
        }
        (low, high)
    }

    /// Appends a group's layers with weights that sum to one; returns where they end.
    #[inline]
    fn prepare_group(&self, priority: TrackPriority, largest: f32, active: &mut Vec<Active<'a>>) -> usize {
        let first = active.len();
        if largest == 0.0 {
            return first;
        }
        let mut total = 0.0;
        for (index, layer) in self.layers.iter().enumerate() {
            // Relative to the largest first, so that no sum over- or underflows.
            let usable = layer.weight > 0.0 && layer.weight <= largest;
            let joins = usable && layer.mode == BlendMode::Blend && layer.priority == priority;
            if joins && self.prepare_layer(index, layer, layer.weight / largest, active) {
                total += layer.weight / largest;
            }
        }
        let scale = Vec4::splat(1.0 / total);
        active[first..].iter_mut().for_each(|layer| layer.weight *= scale);
        active.len()
    }

    /// Appends a layer; returns `false` if it does not count.
    #[inline]
    fn prepare_layer(&self, index: usize, layer: &ClipLayer<'a>, weight: f32, active: &mut Vec<Active<'a>>) -> bool {
        let counts = weight > 0.0 && layer.clip.rows().len() == self.rest.len();
        if counts {
            active.push(Active {
                point: SamplePoint::new(layer.clip, layer.time),
                mask: layer.mask.map(Mask::rows),
                weight: Vec4::splat(weight),
                additive: layer.mode == BlendMode::Additive,
                index,
            });
        }
        counts
    }

    /// `SCALE` is false if all scales are one, `PARTIAL` if every layer reaches every joint.
    fn pose<const SCALE: bool, const PARTIAL: bool>(&self, groups: Groups, out: &mut [SoaTransform]) {
        match (groups.low, groups.high) {
            ([], []) => out.copy_from_slice(self.rest),
            // The other group's mean is the result.
            ([], group) | (group, []) => {
                simd::dispatch!(s => self.blend_one_group::<_, SCALE, PARTIAL>(s, group, out));
            }
            (low, high) => {
                simd::dispatch!(s => self.blend_both_groups::<_, SCALE, PARTIAL>(s, low, high, out));
            }
        }
        for layer in groups.overlays {
            simd::dispatch!(s => layer.apply::<_, SCALE>(s, out));
        }
    }

    #[inline(always)]
    fn blend_one_group<S: Simd, const SCALE: bool, const PARTIAL: bool>(
        &self,
        s: S,
        group: &[Active],
        out: &mut [SoaTransform],
    ) {
        for (row, (out, rest)) in out.iter_mut().zip(self.rest).enumerate() {
            *out = Mean::<S, SCALE>::new::<PARTIAL>(s, group, row).to_row::<PARTIAL>(s, rest);
        }
        normalize(s, out);
    }

    #[inline(always)]
    fn blend_both_groups<S: Simd, const SCALE: bool, const PARTIAL: bool>(
        &self,
        s: S,
        low: &[Active],
        high: &[Active],
        out: &mut [SoaTransform],
    ) {
        let blend = Vec4::splat(clamp_weight(self.priority_blend));
        for (row, (out, rest)) in out.iter_mut().zip(self.rest).enumerate() {
            let low = Mean::<S, SCALE>::new::<PARTIAL>(s, low, row);
            let high = Mean::<S, SCALE>::new::<PARTIAL>(s, high, row);
            *out = low.mix::<PARTIAL>(s, high, blend).to_row::<PARTIAL>(s, rest);
        }
        normalize(s, out);
    }
}

/// The layers that count.
#[derive(Clone, Copy)]
struct Groups<'a> {
    low: &'a [Active<'a>],
    high: &'a [Active<'a>],
    overlays: &'a [Active<'a>],
}

/// A layer that counts, at its time.
#[derive(Clone, Copy, Debug)]
struct Active<'a> {
    point: SamplePoint<'a>,
    mask: Option<&'a [Vec4]>,
    weight: Vec4,
    additive: bool,
    /// Place among the layers of the [`Mix`].
    index: usize,
}

impl Active<'_> {
    /// The layer's weight for each joint of a row.
    #[inline(always)]
    fn weight(&self, row: usize) -> Vec4 {
        let weight = self.weight * self.point.rows[row].animated;
        self.mask.map_or(weight, |mask| weight * mask.get(row).copied().unwrap_or(Vec4::ZERO))
    }

    /// Applies an overlay to a pose.
    #[inline(always)]
    fn apply<S: Simd, const SCALE: bool>(&self, s: S, pose: &mut [SoaTransform]) {
        for (row, pose) in pose.iter_mut().enumerate() {
            let (over, weight) = (self.point.row::<S, SCALE>(s, row), self.weight(row));
            *pose = match self.additive {
                true => add(s, pose, over, weight),
                false => replace(s, pose, over, weight),
            };
        }
    }
}

/// The mean of a group for four joints. Rotations have any length, but are not 0 where reached.
#[derive(Clone, Copy)]
struct Mean<S: Simd, const SCALE: bool> {
    pose: PackedTransforms<S, SCALE>,
    /// Greater than 0 for the joints that a layer reaches.
    reached: Vec4,
}

impl<S: Simd, const SCALE: bool> Mean<S, SCALE> {
    /// Of a group of at least one layer.
    #[inline(always)]
    fn new<const PARTIAL: bool>(s: S, group: &[Active], row: usize) -> Self {
        let (a, b, others) = match group {
            [a, b, others @ ..] => (a, b, others),
            [layer] => {
                let reached = if PARTIAL { reached(layer.weight(row)) } else { Vec4::ONE };
                return Self { pose: layer.point.row(s, row), reached };
            }
            [] => unreachable!("empty groups are left out"),
        };
        let (mut a_weight, mut b_weight) = (a.weight, b.weight);
        let (mut scale, mut reached) = (Vec4::ONE, Vec4::ONE);
        if PARTIAL {
            (a_weight, b_weight) = (a.weight(row), b.weight(row));
            let mut total = a_weight + b_weight;
            for layer in others {
                total += layer.weight(row);
            }
            (scale, reached) = (inverse(total), self::reached(total));
            (a_weight, b_weight) = (a_weight * scale, b_weight * scale);
        }
        // The first two share a square root. Each further layer needs its own, to match the length of the sum.
        let (mut pose, square) = a.point.row::<S, SCALE>(s, row).mix(s, a_weight, b.point.row(s, row), b_weight);
        for layer in others {
            let next = layer.point.row::<S, SCALE>(s, row);
            let weight = if PARTIAL { layer.weight(row) * scale } else { layer.weight };
            let turn = weight * sqrt(square / next.rotation.dot(s, next.rotation));
            pose = pose.plus(s, next, weight, toward(turn, pose.rotation.dot(s, next.rotation)));
        }
        Self { pose, reached }
    }

    /// Both groups by the priority blend; where only one reaches a joint, that one.
    #[inline(always)]
    fn mix<const PARTIAL: bool>(self, s: S, high: Self, blend: Vec4) -> Self {
        let (low, both) = (self, self.reached.min(high.reached));
        let (mean, _) = low.pose.mix(s, Vec4::ONE - blend, high.pose, blend);
        if !PARTIAL || both.cmpgt(Vec4::ZERO).all() {
            return Self { pose: mean, reached: both };
        }
        let pose = mean.or(s, both, low.pose.or(s, low.reached, high.pose));
        Self { pose, reached: low.reached.max(high.reached) }
    }

    /// The rest pose for the joints that are not reached.
    #[inline(always)]
    fn to_row<const PARTIAL: bool>(self, s: S, rest: &SoaTransform) -> SoaTransform {
        let row = self.pose.to_row(s);
        if PARTIAL && !self.reached.cmpgt(Vec4::ZERO).all() { row.or(self.reached, rest) } else { row }
    }
}

/// A joint whose layers sum to no more than this part of a group's weight counts as not reached.
const REACHED: f32 = 1e-30;

/// Greater than 0 for the joints reached by layers whose weights sum to `total`.
#[inline(always)]
fn reached(total: Vec4) -> Vec4 {
    total - Vec4::splat(REACHED)
}

/// The factor that makes weights with the sum `total` sum to one; any number where nothing is reached.
#[inline(always)]
fn inverse(total: Vec4) -> Vec4 {
    Vec4::ONE / total.max(Vec4::splat(REACHED))
}

/// Normalizes every rotation. In a pass of its own, since a row's square root and division end a long chain of
/// dependent operations: here those of many rows overlap.
#[inline(always)]
fn normalize<S: Simd>(s: S, pose: &mut [SoaTransform]) {
    for row in pose {
        let SoaQuat { x, y, z, w } = row.rotation;
        row.rotation = Quats4::read(s, &[x, y, z, w]).normalized(s).to_soa(s);
    }
}

/// `pose` with the differences `delta` added, by a weight ≥ 0 per joint.
#[inline(always)]
fn add<S: Simd, const SCALE: bool>(
    s: S,
    pose: &SoaTransform,
    delta: PackedTransforms<S, SCALE>,
    weight: Vec4,
) -> SoaTransform {
    let pose = PackedTransforms::<S, SCALE>::read(s, pose);
    // 1 − w + w · Δr/|Δr|, times |Δr|. Never zero: its real part is at least 1 − w, and only reaches 0 when
    // x, y, z remain.
    let length = sqrt(delta.rotation.dot(s, delta.rotation));
    let SoaQuat { x, y, z, w } = delta.rotation.to_soa(s);
    let turn = toward(weight, w);
    let turn = SoaQuat { x: x * turn, y: y * turn, z: z * turn, w: w * turn + (Vec4::ONE - weight) * length };
    let SoaQuat { x, y, z, w } = pose.rotation.to_soa(s).mul(turn);
    PackedTransforms::<S, SCALE> {
        translation: pose.translation.plus(s, delta.translation, weight),
        rotation: Quats4::read(s, &[x, y, z, w]).normalized(s),
        scale: match SCALE {
            true => pose.scale.mul(s, Vectors4::one(s).lerp(s, delta.scale, weight)),
            false => pose.scale,
        },
    }
    .to_row(s)
}

/// `pose` replaced by `other`, by a weight in 0..=1 per joint.
#[inline(always)]
fn replace<S: Simd, const SCALE: bool>(
    s: S,
    pose: &SoaTransform,
    other: PackedTransforms<S, SCALE>,
    weight: Vec4,
) -> SoaTransform {
    let (mut mean, _) = PackedTransforms::read(s, pose).mix(s, Vec4::ONE - weight, other, weight);
    mean.rotation = mean.rotation.normalized(s);
    // A joint that is not reached keeps its bits.
    mean.to_row(s).or(weight, pose)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ClipFrames, ClipTiming, JointTransform};
    use crate::pose::simd::portably;
    use fastrand::Rng;
    use glam::{Quat, Vec3};

    const JOINTS: usize = 13;

    fn pose(random: &mut Rng, scaled: bool) -> Vec<JointTransform> {
        let mut vector = |size: f32| Vec3::from_array([0; 3].map(|_| (random.f32() - 0.5) * size));
        let joint = |_| JointTransform {
            translation: vector(2.0),
            rotation: Quat::from_vec4((vector(2.0) + Vec3::X * 0.1).extend(vector(2.0).x)).normalize(),
            scale: Vec3::ONE + vector(if scaled { 1.0 } else { 0.0 }),
        };
        (0..JOINTS).map(joint).collect()
    }

    fn clip(random: &mut Rng, scaled: bool) -> SkeletalClip {
        let whole = random.bool();
        let frames = ClipFrames {
            joints: (0..JOINTS).map(|joint| joint.to_string().into()).collect(),
            animated: (0..JOINTS).map(|_| whole || random.u8(..4) > 0).collect(),
            transforms: (0..3).flat_map(|_| pose(random, scaled)).collect(),
        };
        SkeletalClip::new(ClipTiming::new("clip", 1.0), &frames).unwrap()
    }

    fn bits(pose: &[SoaTransform]) -> Vec<u32> {
        let lanes = pose.iter().flat_map(|row| (0..4).map(|lane| row.get(lane)));
        let vectors =
            lanes.flat_map(|joint| [joint.translation.extend(0.0), joint.rotation.into(), joint.scale.extend(0.0)]);
        vectors.flat_map(|vector| vector.to_array()).map(f32::to_bits).collect()
    }

    #[test]
    fn wide_and_portable_code_give_the_same_bits() {
        let mut random = Rng::with_seed(4);
        for round in 0..if cfg!(miri) { 8 } else { 400 } {
            let scaled = round % 2 == 0;
            let rest = SoaTransform::rows(&pose(&mut random, scaled));
            let clips = [0; 5].map(|_| clip(&mut random, scaled));
            let weights = (0..JOINTS).map(|_| [0.0, 1.0, random.f32()][random.usize(..3)]);
            let mask = Mask::from_weights(weights.collect::<Vec<_>>());
            let masks = random.bool();
            let mut layers: Vec<ClipLayer> = Vec::new();
            for clip in &clips[..random.usize(..=5)] {
                use BlendMode::{Additive, Blend, Override};
                layers.push(ClipLayer {
                    weight: random.f32(),
                    mask: (masks && random.bool()).then_some(&mask),
                    priority: if random.u8(..3) == 0 { TrackPriority::High } else { TrackPriority::Low },
                    mode: [Blend, Blend, Blend, Additive, Override][random.usize(..5)],
                    ..ClipLayer::new(clip, random.f64())
                });
            }
            let run = || {
                let mut out = rest.clone();
                Mix { layers: &layers, priority_blend: 0.3, rest: &rest, unit_scale: !scaled }
                    .run(&mut MixScratch::default(), &mut out);
                bits(&out)
            };
            assert_eq!(run(), portably(run), "round {round}");
        }
    }

    #[test]
    fn warm_scratch_keeps_its_memory() {
        let mut random = Rng::with_seed(1);
        let a = clip(&mut random, false);
        let rest = SoaTransform::rows(&pose(&mut random, false));
        let mut out = rest.clone();
        let layers = [ClipLayer::new(&a, 0.3); 6];
        let mut scratch = MixScratch::default();
        let mut run = |count: usize, scratch: &mut MixScratch| {
            Mix { layers: &layers[..count], priority_blend: 0.5, rest: &rest, unit_scale: true }.run(scratch, &mut out);
            (scratch.active.as_ptr(), scratch.active.capacity())
        };
        let warm = run(6, &mut scratch);
        assert!(warm.1 >= 6);
        for count in [6, 1, 0, 3, 6] {
            assert_eq!(run(count, &mut scratch), warm);
        }
    }
}
