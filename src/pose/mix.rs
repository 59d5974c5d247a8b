//! Clips straight to one local pose: sampling and blending in one pass.
//!
//! The same result as [`Sample`](super::Sample) for each clip, then
//! [`PriorityBlend`](super::PriorityBlend), then [`Add`](super::Add) and
//! [`Override`](super::Override), but row by row, so that no pose in between is written to memory.

use super::blend::{self, Mean, larger, relative, share};
use super::mask::Mask;
use super::overlay::{self, additive_weight};
use super::product::{self, Product};
use super::row::{Row, Turns};
use super::sample::Moment;
use super::soa::sqrt;
use crate::controller::{BlendMode, TrackPriority};
use crate::model::{SkeletalClip, SoaQuat, SoaTransform};
use glam::{BVec4A, Vec4};

/// A clip that plays: one layer of a [`Mix`].
#[derive(Clone, Copy, Debug)]
pub struct ClipLayer<'a> {
    /// The clip, bound to the skeleton. Joints it does not move are out of the layer's reach.
    pub clip: &'a SkeletalClip,
    /// Seconds into the clip; clamped to `0..=duration`, and 0 where it is not a number.
    pub time: f64,
    /// Share, ≥ 0 and finite. Blended layers take it relative to the others of their priority;
    /// additive ones up to [`Add::MAX_WEIGHT`](super::Add::MAX_WEIGHT), overriding ones up to 1.
    /// 0 and what is not a number take the layer out.
    pub weight: f32,
    /// Share per joint; `None` is 1 everywhere. Joints a mask does not have are out of reach.
    pub mask: Option<&'a Mask>,
    /// The group the layer is blended in; additive and overriding layers have none.
    pub priority: TrackPriority,
    /// How the layer joins the others.
    pub mode: BlendMode,
}

impl<'a> ClipLayer<'a> {
    /// A clip at a time, blended with weight 1 and low priority.
    pub fn new(clip: &'a SkeletalClip, time: f64) -> Self {
        Self { clip, time, weight: 1.0, mask: None, priority: TrackPriority::Low, mode: BlendMode::Blend }
    }
}

/// Samples and blends all layers into one local pose.
///
/// First the blended layers of low priority, those of high priority, and both groups by the priority
/// blend, as [`PriorityBlend`](super::PriorityBlend) does. Over that the additive and overriding
/// layers, in the order in which they come.
#[derive(Clone, Copy, Debug)]
pub struct Mix<'a> {
    /// What plays.
    pub layers: &'a [ClipLayer<'a>],
    /// Share of the high group: 0 is all low, 1 all high.
    pub priority_blend: f32,
    /// The skeleton's rest pose, for joints that no layer reaches.
    pub rest: &'a [SoaTransform],
    /// Whether every scale of `rest` is one. With clips of which the same is true, scale costs nothing.
    pub unit_scale: bool,
}

/// Memory that [`Mix`] works in; kept between runs, it allocates nothing once it has held as many layers.
#[derive(Debug, Default)]
pub struct MixScratch {
    active: Vec<Active<'static>>,
}

/// A layer that counts: held at its time, with its share.
#[derive(Clone, Copy, Debug)]
struct Active<'a> {
    moment: Moment<'a>,
    mask: Option<&'a [Vec4]>,
    weight: Vec4,
    additive: bool,
}

impl Active<'_> {
    /// A row at its time, rotations not normalised.
    #[inline(always)]
    fn row<P: Product, const SCALE: bool>(&self, p: P, row: usize) -> Row<P, SCALE> {
        self.moment.row(p, &self.moment.rows[row])
    }

    /// The share of a row's joints.
    #[inline(always)]
    fn weight(&self, row: usize) -> Vec4 {
        let weight = self.weight * self.moment.rows[row].animated;
        self.mask.map_or(weight, |mask| weight * mask.get(row).copied().unwrap_or(Vec4::ZERO))
    }

    /// Lays the layer over a pose.
    fn lay_over<const SCALE: bool>(&self, pose: &mut [SoaTransform]) {
        product::dispatch!(self.lay_over_with::<SCALE>(pose));
    }

    #[inline(always)]
    fn lay_over_with<P: Product, const SCALE: bool>(&self, p: P, pose: &mut [SoaTransform]) {
        for (row, pose) in pose.iter_mut().enumerate() {
            let over = self.row::<P, SCALE>(p, row);
            *pose = match self.additive {
                true => overlay::add(p, pose, over, self.weight(row)),
                false => overlay::replace(p, pose, over, self.weight(row)),
            };
        }
    }
}

impl<'a> Mix<'a> {
    /// Writes the mixed local pose to `out`, as many rows as `rest` has.
    ///
    /// # Panics
    /// If `out` is shorter than `rest`; in debug builds also if a clip has another number of rows,
    /// which otherwise is left out.
    pub fn run(&self, scratch: &mut MixScratch, out: &mut [SoaTransform]) {
        let out = &mut out[..self.rest.len()];
        let mut active: Vec<Active<'a>> = std::mem::take(&mut scratch.active);
        let (mut scale, mut partial, mut units, mut overlays) = (!self.unit_scale, false, [0.0; 2], false);
        for ClipLayer { clip, mask, weight, priority, mode, .. } in self.layers {
            debug_assert_eq!(clip.rows().len(), self.rest.len(), "the clip is not bound to this skeleton");
            scale |= !clip.unit_scale();
            partial |= mask.is_some() || !clip.animates_all();
            match mode {
                BlendMode::Blend => units[*priority as usize] = larger(units[*priority as usize], *weight),
                BlendMode::Additive | BlendMode::Override => overlays = true,
            }
        }
        let low = self.prepare_group(TrackPriority::Low, units[0], &mut active);
        let high = self.prepare_group(TrackPriority::High, units[1], &mut active);
        if overlays {
            self.prepare_overlays(&mut active);
        }

        let groups = Groups { layers: &active, low, high };
        match (scale, partial) {
            (false, false) => self.pose::<false, false>(&groups, out),
            (false, true) => self.pose::<false, true>(&groups, out),
            (true, false) => self.pose::<true, false>(&groups, out),
            (true, true) => self.pose::<true, true>(&groups, out),
        }
        scratch.active = emptied(active);
    }

    /// Appends a group's layers, with weights that come to one; returns where they end.
    #[inline]
    fn prepare_group(&self, priority: TrackPriority, unit: f32, active: &mut Vec<Active<'a>>) -> usize {
        let first = active.len();
        if unit == 0.0 {
            return first;
        }
        let mut total = 0.0;
        for layer in self.layers {
            let weight = relative(layer.weight, unit);
            let joins = layer.mode == BlendMode::Blend && layer.priority == priority;
            if joins && self.prepare(layer, weight, active) {
                total += weight;
            }
        }
        let scale = Vec4::splat(1.0 / total);
        active[first..].iter_mut().for_each(|layer| layer.weight *= scale);
        active.len()
    }

    fn prepare_overlays(&self, active: &mut Vec<Active<'a>>) {
        for layer in self.layers {
            match layer.mode {
                BlendMode::Blend => false,
                BlendMode::Additive => self.prepare(layer, additive_weight(layer.weight), active),
                BlendMode::Override => self.prepare(layer, share(layer.weight), active),
            };
        }
    }

    /// Appends a layer, if it counts.
    #[inline]
    fn prepare(&self, layer: &ClipLayer<'a>, weight: f32, active: &mut Vec<Active<'a>>) -> bool {
        let counts = weight > 0.0 && layer.clip.rows().len() == self.rest.len();
        if counts {
            active.push(Active {
                moment: Moment::new(layer.clip, layer.time),
                mask: layer.mask.map(Mask::rows),
                weight: Vec4::splat(weight),
                additive: layer.mode == BlendMode::Additive,
            });
        }
        counts
    }

    /// `SCALE` is false where every scale is one, `PARTIAL` where every layer reaches every joint.
    fn pose<const SCALE: bool, const PARTIAL: bool>(&self, groups: &Groups, out: &mut [SoaTransform]) {
        let (low, high, overlays) = groups.split();
        match (low, high) {
            ([], []) => out.copy_from_slice(self.rest),
            // A group without layers is left out as a whole: the other's means are the result.
            ([], group) | (group, []) => match group.len() {
                1 => self.one_group::<SCALE, PARTIAL, 1>(group, out),
                2 => self.one_group::<SCALE, PARTIAL, 2>(group, out),
                _ => self.one_group::<SCALE, PARTIAL, MANY>(group, out),
            },
            (low, high) => self.two_groups::<SCALE, PARTIAL>(low, high, out),
        }
        for layer in overlays {
            layer.lay_over::<SCALE>(out);
        }
    }

    /// A group of so many `LAYERS`: for one and two of them what only more need is left out by the compiler.
    fn one_group<const SCALE: bool, const PARTIAL: bool, const LAYERS: usize>(
        &self,
        group: &[Active],
        out: &mut [SoaTransform],
    ) {
        product::dispatch!(self.one_group_with::<SCALE, PARTIAL, LAYERS>(group, out));
    }

    #[inline(always)]
    fn one_group_with<P: Product, const SCALE: bool, const PARTIAL: bool, const LAYERS: usize>(
        &self,
        p: P,
        group: &[Active],
        out: &mut [SoaTransform],
    ) {
        let group = if LAYERS == MANY { group } else { &group[..LAYERS] };
        // Loops, not closures: only what is inlined is compiled for the vectors of `P`.
        for (row, (out, rest)) in out.iter_mut().zip(self.rest).enumerate() {
            *out = mean::<P, SCALE, PARTIAL>(p, group, row).transform::<PARTIAL>(p, rest);
        }
        normalize(p, out);
    }

    fn two_groups<const SCALE: bool, const PARTIAL: bool>(
        &self,
        low: &[Active],
        high: &[Active],
        out: &mut [SoaTransform],
    ) {
        product::dispatch!(self.two_groups_with::<SCALE, PARTIAL>(low, high, out));
    }

    #[inline(always)]
    fn two_groups_with<P: Product, const SCALE: bool, const PARTIAL: bool>(
        &self,
        p: P,
        low: &[Active],
        high: &[Active],
        out: &mut [SoaTransform],
    ) {
        let share = Vec4::splat(share(self.priority_blend));
        for (row, (out, rest)) in out.iter_mut().zip(self.rest).enumerate() {
            let low = mean::<P, SCALE, PARTIAL>(p, low, row);
            let high = mean::<P, SCALE, PARTIAL>(p, high, row);
            *out = low.mix::<PARTIAL>(p, high, share).transform::<PARTIAL>(p, rest);
        }
        normalize(p, out);
    }
}

/// For [`Mix::one_group`]: any number of layers.
const MANY: usize = usize::MAX;

/// The layers that count, in the order low, high, overlays.
struct Groups<'a> {
    layers: &'a [Active<'a>],
    low: usize,
    high: usize,
}

impl<'a> Groups<'a> {
    fn split(&self) -> (&'a [Active<'a>], &'a [Active<'a>], &'a [Active<'a>]) {
        (&self.layers[..self.low], &self.layers[self.low..self.high], &self.layers[self.high..])
    }
}

/// The mean of four joints of a group of at least one layer, rotations not normalised.
#[inline(always)]
fn mean<P: Product, const SCALE: bool, const PARTIAL: bool>(p: P, group: &[Active], row: usize) -> Mean<P, SCALE> {
    let (a, b, others) = match group {
        [a, b, others @ ..] => (a, b, others),
        [layer] => {
            let reached = if PARTIAL { blend::reached(layer.weight(row)) } else { BVec4A::TRUE };
            return Mean { row: layer.row(p, row), reached };
        }
        [] => unreachable!("a group without layers is left out"),
    };
    let (mut a_share, mut b_share) = (a.weight, b.weight);
    let (mut inverse, mut reached) = (Vec4::ONE, BVec4A::TRUE);
    if PARTIAL {
        (a_share, b_share) = (a.weight(row), b.weight(row));
        let mut total = a_share + b_share;
        for layer in others {
            total += layer.weight(row);
        }
        (inverse, reached) = (blend::inverse(total), blend::reached(total));
        (a_share, b_share) = (a_share * inverse, b_share * inverse);
    }
    // The first two share a root; each further layer has its own, and is made as long as those are in the sum.
    let (mut sum, square) = a.row(p, row).mix(p, a_share, b.row(p, row), b_share);
    for layer in others {
        let next = layer.row(p, row);
        let share = if PARTIAL { layer.weight(row) * inverse } else { layer.weight };
        let turn = share * sqrt(square / next.rotation.dot(p, next.rotation));
        sum = sum.plus_turned(p, next, share, turn);
    }
    Mean { row: sum, reached }
}

/// Makes every rotation one of unit length. In a pass of its own, for a row's root and division are the end
/// of a long chain of dependent operations: here those of many rows overlap.
#[inline(always)]
fn normalize<P: Product>(p: P, pose: &mut [SoaTransform]) {
    for row in pose {
        let SoaQuat { x, y, z, w } = row.rotation;
        row.rotation = Turns::read(p, &[x, y, z, w]).normalized(p).quat(p);
    }
}

/// The same memory, holding nothing and free of the layers' lifetime.
fn emptied(mut active: Vec<Active<'_>>) -> Vec<Active<'static>> {
    active.clear();
    // Collecting what has the same layout reuses the allocation; a test counts on it.
    active.into_iter().map(|_| -> Active<'static> { unreachable!("it was cleared") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ClipFrames, ClipTiming, JointTransform};
    use glam::{Quat, Vec3};

    fn clip(x: f32, animated: [bool; 5]) -> SkeletalClip {
        let pose = |angle: f32| JointTransform::new(Vec3::X * x, Quat::from_rotation_z(angle));
        let frames = ClipFrames {
            joints: ["a", "b", "c", "d", "e"].into_iter().map(Into::into).collect(),
            animated: animated.to_vec(),
            transforms: [vec![pose(x); 5], vec![pose(x + 0.5); 5]].concat(),
        };
        SkeletalClip::new(ClipTiming::new("clip", 1.0), &frames).unwrap()
    }

    fn mix(layers: &[ClipLayer], priority_blend: f32) -> Vec<SoaTransform> {
        let rest = vec![SoaTransform::IDENTITY; 2];
        let mut out = rest.clone();
        Mix { layers, priority_blend, rest: &rest, unit_scale: true }.run(&mut MixScratch::default(), &mut out);
        out
    }

    fn x_of(pose: &[SoaTransform], joint: usize) -> f32 {
        pose[joint / 4].get(joint % 4).translation.x
    }

    #[test]
    fn rule_2_a_joint_a_clip_does_not_move_is_out_of_its_reach() {
        let (all, some) = (clip(1.0, [true; 5]), clip(3.0, [true, false, false, false, true]));
        let out = mix(&[ClipLayer::new(&all, 0.0), ClipLayer::new(&some, 0.0)], 0.5);
        assert_eq!([0, 1, 4].map(|joint| x_of(&out, joint)), [2.0, 1.0, 2.0]);
        let out = mix(&[ClipLayer::new(&some, 0.0)], 0.5);
        assert_eq!([0, 1, 4].map(|joint| x_of(&out, joint)), [3.0, 0.0, 3.0]);
    }

    #[test]
    fn rule_2_low_then_high_then_both_by_the_priority_blend() {
        let (a, b, c) = (clip(1.0, [true; 5]), clip(3.0, [true; 5]), clip(6.0, [false, true, false, false, false]));
        let high = |clip, weight| ClipLayer { priority: TrackPriority::High, weight, ..ClipLayer::new(clip, 0.0) };
        let layers = [ClipLayer::new(&a, 0.0), high(&b, 0.1), ClipLayer::new(&b, 0.0), high(&c, 0.2)];
        let out = mix(&layers, 0.25);
        // Low: 2 everywhere. High: 3, and for joint 1 (0.1 · 3 + 0.2 · 6) / 0.3 = 5.
        assert!((x_of(&out, 0) - 2.25).abs() < 1e-5 && (x_of(&out, 1) - 2.75).abs() < 1e-5);
    }

    #[test]
    fn overlays_come_after_the_blend_in_their_own_order() {
        let (a, b) = (clip(1.0, [true; 5]), clip(3.0, [true, true, true, true, false]));
        let over = ClipLayer { mode: BlendMode::Override, weight: 0.5, ..ClipLayer::new(&b, 0.0) };
        let add = ClipLayer { mode: BlendMode::Additive, weight: 2.0, ..ClipLayer::new(&b, 0.0) };
        let out = mix(&[over, ClipLayer::new(&a, 0.0), add], 0.5);
        assert_eq!([x_of(&out, 0), x_of(&out, 4)], [(1.0 + 3.0) / 2.0 + 6.0, 1.0]);
        let out = mix(&[add, over, ClipLayer::new(&a, 0.0)], 0.5);
        assert_eq!(x_of(&out, 0), (1.0 + 6.0 + 3.0) / 2.0);
    }

    #[test]
    fn a_mask_of_another_length_reaches_only_the_joints_it_has() {
        let a = clip(1.0, [true; 5]);
        let mask = Mask::full(3);
        let out = mix(&[ClipLayer { mask: Some(&mask), ..ClipLayer::new(&a, 0.0) }], 0.5);
        assert_eq!([0, 2, 3, 4].map(|joint| x_of(&out, joint)), [1.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn warm_scratch_keeps_its_memory() {
        let a = clip(1.0, [true; 5]);
        let rest = vec![SoaTransform::IDENTITY; 2];
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
