//! The blend kernel: samples all playing clips and blends them into one local pose, or into morph weights.
//!
//! 1. The blended layers of each priority are averaged by weight, joint by joint. Layers may form a
//!    set, as the clips of the base or of a blend space do: where only some of its clips move a
//!    joint, the rest pose replaces the others.
//! 2. The two averages are mixed by the priority blend. A priority whose weights sum to less than one at
//!    a joint counts by that much, so it fades in and out without a jump. A joint that only one
//!    priority reaches takes that one, and a joint that none reaches keeps its rest pose.
//! 3. Additive and overriding layers are applied on top, in order.
//!
//! Translations and scales are weighted means. Rotations are summed in the hemisphere of the running
//! sum and normalized once (n-way nlerp). The order of two layers never matters, nor that of more as
//! long as their rotations fit into one hemisphere (each within 180° of each other); beyond that no
//! mean is independent of order.
//!
//! All of this happens row by row (four joints at a time), so no pose in between is written to memory.

use super::blend::{
    Active, BASE, Kind, Mean, SetShare, high_share, inverse, reached, replace_by_set, sets,
    total_weight,
};
use super::joint_weights::{Common, JointWeights, set_of};
use super::layer::ClipLayer;
use super::recycle;
use super::row::Row;
use super::sample::SamplePoint;
use super::simd::{self, Simd, numbers::ChannelVectors};
use crate::controller::{BlendMode, TrackPriority};
use crate::model::{SkeletalClip, SoaTransform};
use crate::numbers::clamp_weight;
use glam::Vec4;
use std::mem;

/// Samples and blends all layers into one local pose.
///
/// First come the blended layers, by priority as D3DX does it; then the additive and overriding
/// layers, in the order of `layers`.
#[derive(Clone, Copy, Debug)]
pub struct Mix<'a> {
    /// The playing clips.
    pub layers: &'a [ClipLayer<'a>],
    /// Share of the high-priority layers where both priorities reach a joint with a total weight of one or
    /// more, 0..=1. A priority with less counts by that much.
    pub priority_blend: f32,
    /// The skeleton's rest pose, used for joints that no layer reaches.
    pub rest: &'a [SoaTransform],
    /// `true` if all scales of `rest` are one. If this holds for the clips too, scales cost nothing.
    pub unit_scale: bool,
}

/// Working memory of [`Mix`]. Keep it between runs: it allocates only when it meets more layers than before.
#[derive(Debug, Default)]
pub struct MixScratch {
    pub(super) active: ActiveList<SoaTransform>,
}

/// Memory for the active layers.
#[derive(Debug)]
pub(super) struct ActiveList<R: Row> {
    layers: Vec<Active<'static, R>>,
    /// What compressed clips have been unpacked to.
    unpacked: Vec<[ChannelVectors; 1]>,
}

impl<R: Row> Default for ActiveList<R> {
    fn default() -> Self {
        Self {
            layers: Vec::new(),
            unpacked: Vec::new(),
        }
    }
}

/// The layers to mix.
#[derive(Clone, Copy)]
pub(super) enum Take<'a, R: Row> {
    All,
    /// The layers of the base.
    Base,
    /// All layers but those of the base, for which this pose stands in.
    OnBase(&'a BasePose<R>),
}

/// A pose that represents the layers of the base: a clip without frames.
#[derive(Clone, Debug)]
pub(super) struct BasePose<R: Row> {
    /// The pose of joints that no layer reaches.
    pose: Vec<R>,
    /// The part of each joint's weight that the base reaches.
    reach: Vec<Vec4>,
    /// The place of each joint's transform in `constants`.
    rows: Vec<R::Tracks>,
    constants: Vec<Vec4>,
    weight: f32,
}

impl<R: Row> Default for BasePose<R> {
    fn default() -> Self {
        Self {
            pose: Vec::new(),
            reach: Vec::new(),
            rows: Vec::new(),
            constants: Vec::new(),
            weight: 0.0,
        }
    }
}

impl<R: Row> BasePose<R> {
    /// Fills the pose: `reach` is 0..=1 per joint of a row, `weight` is that of all layers of the base.
    pub(super) fn fill(&mut self, pose: &[R], weight: f32, reach: impl Fn(usize) -> Vec4) {
        self.weight = weight;
        self.pose.clear();
        self.pose.extend_from_slice(pose);
        self.reach.clear();
        self.rows.clear();
        self.constants.clear();
        for (row, pose) in pose.iter().enumerate() {
            self.reach.push(reach(row));
            self.rows.push(pose.store(&mut self.constants));
        }
    }
}

impl<'a> Mix<'a> {
    /// Writes the blended local pose to `out`, which must have as many rows as `rest`.
    ///
    /// # Panics
    /// If `out` is shorter than `rest`. In debug builds also if a clip has a different number of rows;
    /// release builds leave such a clip out.
    pub fn run(&self, scratch: &mut MixScratch, out: &mut [SoaTransform]) {
        self.rows().run(Take::All, &mut scratch.active, out);
    }

    /// Returns how much each of [`Self::layers`] contributes to the pose of a joint, in their order.
    ///
    /// For blended and overriding layers that is a part of the whole, and what they lack of 1 is
    /// the rest pose; for additive layers it is the weight their differences are added with. Meant
    /// for display: it allocates.
    pub fn shares(&self, joint: usize) -> Vec<f32> {
        self.rows().shares(joint)
    }

    #[inline(always)]
    pub(super) fn rows(&self) -> MixRows<'_, 'a, SoaTransform> {
        MixRows {
            layers: self.layers,
            priority_blend: self.priority_blend,
            rest: self.rest,
            unit_scale: self.unit_scale,
        }
    }
}

/// A [`Mix`] of joints or of morph weights.
#[derive(Clone, Copy)]
pub(super) struct MixRows<'l, 'a, R> {
    pub(super) layers: &'l [ClipLayer<'a>],
    pub(super) priority_blend: f32,
    pub(super) rest: &'l [R],
    /// `true` if all scales of `rest` are one.
    pub(super) unit_scale: bool,
}

impl<'a, R: Row> MixRows<'_, 'a, R> {
    /// Mixes some of the layers.
    #[inline]
    pub(super) fn run(&self, take: Take<R>, memory: &mut ActiveList<R>, out: &mut [R]) {
        let out = &mut out[..self.rest.len()];
        // The list borrows from the clips. Recycling keeps its memory between runs without their
        // lifetime.
        let ActiveList { layers, unpacked } = memory;
        let mut active = recycle(mem::take(layers));
        let ends = self.prepare(take, &mut active);
        unpack_clips(&mut active, unpacked);
        let (on_base, unreached) = match take {
            Take::OnBase(base) => (true, &base.pose[..]),
            _ => (false, self.rest),
        };
        // A base pose may have scales and may reach joints only in part, so it takes the general
        // path.
        let mut scale = !self.unit_scale || on_base;
        for ClipLayer { clip, .. } in self.layers {
            scale |= !R::unit_scale(clip);
        }
        let groups = Groups::new(&active, ends);
        let partial = on_base
            || match [groups.low, groups.high].map(|group| group.layers.is_empty()) {
                // Where a group doesn't move a joint, the other one counts, not the rest pose.
                [false, false] => ends.iter().any(|end| end.lacks_joints),
                _ => ends.iter().any(|end| end.needs_shares),
            };
        // Each combination is a kernel of its own: most characters have neither scales nor masks,
        // and pay for neither.
        // The constant comes first, so that rows without scales have half as many kernels.
        if R::HAS_SCALE && scale {
            self.pose::<true>(&groups, partial, unreached, out);
        } else {
            self.pose::<false>(&groups, partial, unreached, out);
        }
        *layers = recycle(active);
    }

    /// See [`Mix::shares`].
    pub(super) fn shares(&self, joint: usize) -> Vec<f32> {
        let mut shares = vec![0.0; self.layers.len()];
        if joint / 4 >= self.rest.len() {
            return shares;
        }
        let mut active = Vec::new();
        let ends = self.prepare(Take::All, &mut active);
        let Groups {
            low,
            high,
            overlays,
        } = Groups::new(&active, ends);
        let (row, lane) = (joint / 4, joint % 4);
        // The kernel keeps no totals, so they are summed here once more.
        let [low_total, high_total] = [low, high].map(|group| total_weight(group.layers, row));
        let blend = Vec4::splat(clamp_weight(self.priority_blend));
        let high_share = match [low_total, high_total].map(|total| reached(total)[lane] > 0.0) {
            [true, true] => {
                high_share(low_total * low.weight, high_total * high.weight, blend)[lane]
            }
            [_, high_alone] => f32::from(high_alone),
        };
        for (group, total, share) in [
            (low, low_total, 1.0 - high_share),
            (high, high_total, high_share),
        ] {
            for set in sets(group.layers) {
                let clips = SetShare::new(set, group.missing, row).clips;
                for layer in set {
                    shares[layer.index] =
                        (layer.weight(row) * clips * inverse(total))[lane] * share;
                }
            }
        }
        for set in sets(overlays) {
            let total = total_weight(set, row)[lane];
            // An overriding set hides everything below it by its total weight.
            if set[0].kind == Kind::Override {
                shares
                    .iter_mut()
                    .for_each(|below| *below *= 1.0 - total.min(1.0));
            }
            for layer in set {
                shares[layer.index] =
                    layer.weight(row)[lane] / if set.len() > 1 { total.max(1.0) } else { 1.0 };
            }
        }
        shares
    }

    /// Collects the layers that count, in the order low, high, overlays; returns where the low and
    /// the high ones end, and facts about them.
    #[inline]
    fn prepare<'b>(&self, take: Take<'b, R>, active: &mut Vec<Active<'b, R>>) -> [GroupEnd; 2]
    where
        'a: 'b,
    {
        let (layers, rows) = (self.layers, self.rest.len());
        let low = prepare_group(layers, rows, TrackPriority::Low, take, active);
        let is_low = |layer: &ClipLayer| {
            layer.priority == TrackPriority::Low && layer.effective_mode() == BlendMode::Blend
        };
        // The usual case: the other groups are empty, and their loops are skipped.
        if self.layers.iter().all(is_low) {
            return [
                low,
                GroupEnd {
                    end: low.end,
                    ..GroupEnd::default()
                },
            ];
        }
        let groups = [
            low,
            prepare_group(layers, rows, TrackPriority::High, take, active),
        ];
        if matches!(take, Take::Base) {
            return groups;
        }
        for (index, layer) in self.layers.iter().enumerate() {
            let (kind, most) = match (layer.effective_mode(), layer.clip.additive) {
                (BlendMode::Blend, _) => continue,
                (BlendMode::Override, _) => (Kind::Override, 1.0),
                (BlendMode::Additive, true) => (Kind::Difference, ClipLayer::MAX_ADDITIVE_WEIGHT),
                (BlendMode::Additive, false) => {
                    (Kind::DifferenceToRest, ClipLayer::MAX_ADDITIVE_WEIGHT)
                }
            };
            // `clamp_weight` maps NaN to 0, which `f32::clamp` would pass on.
            let weight = clamp_weight(layer.weight / most) * most;
            prepare_layer(index, layer, rows, weight, kind, layer.set, active);
        }
        // In a set, differences are added to what the others show together.
        let overlays = &mut active[groups[1].end..];
        overlays
            .chunk_by_mut(|a, b| a.set != 0 && a.set == b.set)
            .for_each(|set| set.sort_unstable_by_key(|layer| (layer.kind.adds(), layer.index)));
        groups
    }

    /// `SCALE` and `partial` are false if all scales are one and if every layer reaches every joint, by its clip or by the rest
    /// pose in its place.
    /// `unreached` shows where no blended layer reaches.
    fn pose<const SCALE: bool>(
        &self,
        groups: &Groups<R>,
        partial: bool,
        unreached: &[R],
        out: &mut [R],
    ) {
        if partial {
            self.blend::<SCALE, true>(groups, unreached, out);
        } else {
            self.blend::<SCALE, false>(groups, unreached, out);
        }
        // Each overlay works on the result of those before it.
        for set in sets(groups.overlays) {
            match set {
                [layer] => simd::dispatch!(s => layer.apply::<_, SCALE>(s, self.rest, out)),
                set => simd::dispatch!(s => replace_by_set::<R, _, SCALE>(s, set, out)),
            }
        }
    }

    /// Blends the layers of both priorities.
    fn blend<const SCALE: bool, const PARTIAL: bool>(
        &self,
        Groups { low, high, .. }: &Groups<R>,
        unreached: &[R],
        out: &mut [R],
    ) {
        match (low.layers, high.layers) {
            ([], []) => out.copy_from_slice(unreached),
            // The other group's mean is the result. One place for both: each compiles the kernel anew.
            ([], _) | (_, []) => {
                let group = if low.layers.is_empty() { high } else { low };
                simd::dispatch!(s => self.blend_one_group::<_, SCALE, PARTIAL>(s, group, unreached, out))
            }
            _ => {
                simd::dispatch!(s => self.blend_both_groups::<_, SCALE, PARTIAL>(s, low, high, unreached, out))
            }
        }
    }

    #[inline(always)]
    fn blend_one_group<S: Simd, const SCALE: bool, const PARTIAL: bool>(
        &self,
        s: S,
        group: &Group<R>,
        unreached: &[R],
        out: &mut [R],
    ) {
        let layers = group.layers;
        // With a length known to the compiler, code for more layers is left out.
        match layers {
            _ if PARTIAL && group.uneven => {
                for (row, out) in out.iter_mut().enumerate() {
                    let mean = Mean::<R, S, SCALE>::of_sets(
                        s,
                        layers,
                        group.missing,
                        row,
                        &self.rest[row],
                    );
                    *out = mean.to_row::<PARTIAL>(s, &unreached[row]);
                }
            }
            [_] => blend_rows::<R, S, SCALE, PARTIAL>(s, &layers[..1], unreached, out),
            [_, _] => blend_rows::<R, S, SCALE, PARTIAL>(s, &layers[..2], unreached, out),
            _ => blend_rows::<R, S, SCALE, PARTIAL>(s, layers, unreached, out),
        }
        R::normalize(s, out);
    }

    #[inline(always)]
    fn blend_both_groups<S: Simd, const SCALE: bool, const PARTIAL: bool>(
        &self,
        s: S,
        low: &Group<R>,
        high: &Group<R>,
        unreached: &[R],
        out: &mut [R],
    ) {
        let blend = Vec4::splat(clamp_weight(self.priority_blend));
        for (row, (out, unreached)) in out.iter_mut().zip(unreached).enumerate() {
            let low_mean = self.mean::<S, SCALE, PARTIAL>(s, low, row);
            let high_mean = self.mean::<S, SCALE, PARTIAL>(s, high, row);
            let share = high_share(
                low_mean.total * low.weight,
                high_mean.total * high.weight,
                blend,
            );
            *out = low_mean
                .mix::<PARTIAL>(s, high_mean, share)
                .to_row::<PARTIAL>(s, unreached);
        }
        R::normalize(s, out);
    }

    #[inline(always)]
    fn mean<S: Simd, const SCALE: bool, const PARTIAL: bool>(
        &self,
        s: S,
        group: &Group<R>,
        row: usize,
    ) -> Mean<R, S, SCALE> {
        let rest = &self.rest[row];
        if PARTIAL && group.uneven {
            Mean::of_sets(s, group.layers, group.missing, row, rest)
        } else {
            Mean::new::<PARTIAL>(s, group.layers, row, rest)
        }
    }
}

#[inline(always)]
fn blend_rows<R: Row, S: Simd, const SCALE: bool, const PARTIAL: bool>(
    s: S,
    group: &[Active<R>],
    unreached: &[R],
    out: &mut [R],
) {
    for (row, (out, unreached)) in out.iter_mut().zip(unreached).enumerate() {
        *out = Mean::<R, S, SCALE>::new::<PARTIAL>(s, group, row, unreached)
            .to_row::<PARTIAL>(s, unreached);
    }
}

/// Unpacks compressed clips.
fn unpack_clips<'a, R: Row>(
    active: &mut [Active<'a, R>],
    memory: &'a mut Vec<[ChannelVectors; 1]>,
) {
    let channels = active.iter().map(|layer| layer.point.packed_channels());
    let channels = channels.sum();
    // All is overwritten, so memory only grows.
    if memory.len() < channels {
        memory.resize(channels, Default::default());
    }
    let mut memory = &mut memory[..];
    for layer in active {
        let channels = layer.point.packed_channels();
        if channels > 0 {
            let (own, others) = memory.split_at_mut(channels);
            layer.point.unpack(own);
            memory = others;
        }
    }
}

/// The end of a group's layers in the list of all layers, and facts about the group.
#[derive(Clone, Copy, Default)]
struct GroupEnd {
    end: usize,
    /// Their total weight.
    weight: f32,
    uneven: bool,
    missing: f32,
    /// `true` if some layer doesn't reach every joint.
    lacks_joints: bool,
    /// `true` if joints differ in the weights of the layers, or in that of the rest pose.
    needs_shares: bool,
}

/// Weights that sum to one within this much are whole: the difference is rounding.
const WHOLE: f64 = 1.0 - 1e-6;

/// Returns the weight that layers of the base lack of 1, given the sum of their weights.
#[inline]
fn missing(base: f64) -> f64 {
    if base > 0.0 && base < WHOLE {
        1.0 - base
    } else {
        0.0
    }
}

/// Returns `true` if the rest pose takes part in a blend of layers that all move every joint.
pub(super) fn lacks_weight<'a>(layers: impl Iterator<Item = &'a ClipLayer<'a>>) -> bool {
    missing(
        layers
            .filter(|layer| layer.base)
            .map(|layer| f64::from(layer.weight))
            .sum(),
    ) > 0.0
}

/// Appends a group's layers with weights that sum to one.
#[inline]
fn prepare_group<'a, 'b, R: Row>(
    layers: &[ClipLayer<'a>],
    rows: usize,
    priority: TrackPriority,
    take: Take<'b, R>,
    active: &mut Vec<Active<'b, R>>,
) -> GroupEnd
where
    'a: 'b,
{
    let first = active.len();
    // In double precision, no sum of weights over- or underflows.
    let (mut total, mut base_weight) = (0.0, 0.0);
    // The clip before in the same set, and the one before in the base. Comparing neighbors is
    // enough: if each moves the same joints as the one before, all do.
    let (mut in_set, mut in_base): (Option<(u32, &SkeletalClip)>, Option<&SkeletalClip>) =
        (None, None);
    let (mut common, mut uneven) = (Common::new(), false);
    // The base pose joins the low group as one layer, with the weight of all layers that it
    // represents.
    if let (Take::OnBase(base), TrackPriority::Low) = (take, priority)
        && base.weight > 0.0
    {
        total += f64::from(base.weight);
        let point = SamplePoint::of_pose(&base.rows, &base.constants, &base.reach);
        let weight = Vec4::splat(base.weight);
        active.push(Active {
            point,
            mask: None,
            weight,
            set: 0,
            kind: Kind::Blend,
            index: usize::MAX,
        });
    }
    for (index, layer) in layers.iter().enumerate() {
        let taken = match take {
            Take::All => true,
            Take::Base => layer.base,
            Take::OnBase(_) => !layer.base,
        };
        if taken
            && layer.priority == priority
            && layer.effective_mode() == BlendMode::Blend
            && layer.weight < f32::INFINITY
        {
            let set = set_of(layer);
            let weight = f64::from(prepare_layer(
                index,
                layer,
                rows,
                layer.weight,
                Kind::Blend,
                set,
                active,
            ));
            total += weight;
            if weight > 0.0 {
                common.add::<R>(layer);
            }
            if weight > 0.0 && set == BASE {
                base_weight += weight;
                uneven |= layer.mask.is_some();
                uneven |= in_base
                    .replace(layer.clip)
                    .is_some_and(|other| !R::moves_the_same(other, layer.clip));
            } else if weight > 0.0 && set != 0 {
                let other = in_set
                    .replace((set, layer.clip))
                    .filter(|(other, _)| *other == set);
                uneven |= other.is_some_and(|(_, other)| !R::moves_the_same(other, layer.clip));
            }
        }
    }
    // Divided here, once: the kernel then needs no division where every layer reaches every joint.
    for layer in &mut active[first..] {
        layer.weight = Vec4::splat(share(layer.weight.x, total));
    }
    let missing = missing(base_weight);
    uneven |= missing > 0.0;
    if uneven {
        // Other tracks may come between those of the base.
        active[first..].sort_unstable_by_key(|layer| (layer.set == BASE, layer.index));
    }
    let missing = (missing / total) as f32;
    GroupEnd {
        end: active.len(),
        weight: (total as f32).min(f32::MAX),
        uneven,
        missing,
        lacks_joints: common.lacks_joints() || missing > 0.0,
        needs_shares: common.joint_weights() != JointWeights::Same || missing > 0.0,
    }
}

/// Returns a weight's part of the sum of all.
#[inline]
pub(super) fn share(weight: f32, total: f64) -> f32 {
    (f64::from(weight) / total) as f32
}

/// Appends a layer if it counts; returns its weight, or 0 if it doesn't.
#[inline]
fn prepare_layer<'a, 'b, R: Row>(
    index: usize,
    layer: &ClipLayer<'a>,
    rows: usize,
    weight: f32,
    kind: Kind,
    set: u32,
    active: &mut Vec<Active<'b, R>>,
) -> f32
where
    'a: 'b,
{
    let fits = R::fits(layer.clip, rows);
    debug_assert!(fits, "the clip is not bound to this skeleton");
    if !fits || weight.is_nan() || weight <= 0.0 {
        return 0.0;
    }
    let point = R::point(layer.clip, layer.time);
    let mask = layer.mask.map(R::mask);
    active.push(Active {
        point,
        mask,
        weight: Vec4::splat(weight),
        set,
        kind,
        index,
    });
    weight
}

/// The layers that count.
#[derive(Clone, Copy)]
struct Groups<'a, R: Row> {
    low: Group<'a, R>,
    high: Group<'a, R>,
    overlays: &'a [Active<'a, R>],
}

/// The blended layers of a priority.
#[derive(Clone, Copy)]
struct Group<'a, R: Row> {
    /// With weights that sum to one.
    layers: &'a [Active<'a, R>],
    /// Their total weight.
    weight: f32,
    /// `true` if the rest pose takes part: clips of a set move different joints, or the base lacks
    /// weight.
    uneven: bool,
    /// The weight that the base lacks of 1, as a part of the group's weight.
    missing: f32,
}

impl<'a, R: Row> Groups<'a, R> {
    fn new(active: &'a [Active<'a, R>], [low, high]: [GroupEnd; 2]) -> Self {
        let group = |from: usize,
                     GroupEnd {
                         end,
                         weight,
                         uneven,
                         missing,
                         ..
                     }: GroupEnd| Group {
            layers: &active[from..end],
            weight,
            uneven,
            missing,
        };
        Self {
            low: group(0, low),
            high: group(low.end, high),
            overlays: &active[high.end..],
        }
    }
}

#[cfg(test)]
#[path = "tests/mix.rs"]
mod tests;
