//! Blending: several local poses into one.
//!
//! Translations and scales are weighted means. Rotations are summed in the hemisphere of the running
//! sum and normalised once (n-way nlerp). The order of two layers never matters, and of more it does
//! not as long as a joint's rotations can be given signs that put all of them in one hemisphere
//! (each within 180° of each other); beyond that "between" has no meaning that is free of order.

use super::product::{self, Product};
use super::row::Row;
use crate::model::SoaTransform;
use glam::{BVec4A, Vec4};

/// Mixes the layers' poses by weight, joint by joint.
///
/// Weights need not sum to one: each joint is normalised over the layers that reach it.
/// A joint that none reaches takes the rest pose.
#[derive(Clone, Copy, Debug)]
pub struct Blend<'a> {
    /// Poses to mix, each `rest.len()` rows long.
    pub layers: &'a [PoseLayer<'a>],
    /// The skeleton's rest pose; its length is the number of rows blended.
    pub rest: &'a [SoaTransform],
}

/// One layer of a [`Blend`].
#[derive(Clone, Copy, Debug)]
pub struct PoseLayer<'a> {
    /// The pose; as in any, rotations are of unit length.
    pub pose: &'a [SoaTransform],
    /// Share of this layer before normalisation, ≥ 0 and finite. 0 takes it out, and so does a weight
    /// out of that range.
    pub weight: f32,
    /// Share per joint in 0..=1, four joints to a row; `None` is 1 everywhere.
    pub mask: Option<&'a [Vec4]>,
}

impl Blend<'_> {
    /// Writes the mixed local pose to `out`.
    ///
    /// # Panics
    /// If `out`, a pose or a mask is shorter than `rest`.
    pub fn run(&self, out: &mut [SoaTransform]) {
        product::dispatch!(self.run_with(&mut out[..self.rest.len()]));
    }

    #[inline(always)]
    fn run_with<P: Product>(&self, p: P, out: &mut [SoaTransform]) {
        match Group::new(self.layers) {
            group if group.unit == 0.0 => out.copy_from_slice(self.rest),
            group if group.masked => group.run::<P, true>(p, self.rest, out),
            group => group.run::<P, false>(p, self.rest, out),
        }
    }
}

/// Mixes a low and a high group of layers: phases one to three of the D3DX blend.
///
/// Each group is a [`Blend`]; where both reach a joint the two are mixed by `priority_blend`, where
/// one reaches it that one is taken, and where none does the joint rests.
#[derive(Clone, Copy, Debug)]
pub struct PriorityBlend<'a> {
    /// Layers of low priority.
    pub low: &'a [PoseLayer<'a>],
    /// Layers of high priority.
    pub high: &'a [PoseLayer<'a>],
    /// Share of the high group: 0 is all low, 1 all high.
    pub priority_blend: f32,
    /// The skeleton's rest pose; its length is the number of rows blended.
    pub rest: &'a [SoaTransform],
}

impl PriorityBlend<'_> {
    /// Writes the mixed local pose to `out`.
    ///
    /// # Panics
    /// If `out`, a pose or a mask is shorter than `rest`.
    pub fn run(&self, out: &mut [SoaTransform]) {
        product::dispatch!(self.run_with(&mut out[..self.rest.len()]));
    }

    #[inline(always)]
    fn run_with<P: Product>(&self, p: P, out: &mut [SoaTransform]) {
        let share = Vec4::splat(share(self.priority_blend));
        let (low, high) = (Group::new(self.low), Group::new(self.high));
        for (row, (out, rest)) in out.iter_mut().zip(self.rest).enumerate() {
            let (low, high) = (low.mean::<P, true>(p, row), high.mean::<P, true>(p, row));
            *out = low.mix::<true>(p, high, share).normalized(p).transform::<true>(p, rest);
        }
    }
}

/// Layers, and what their weights are relative to.
struct Group<'a> {
    layers: &'a [PoseLayer<'a>],
    masked: bool,
    /// The largest weight; 0 where no layer counts.
    unit: f32,
    /// Makes weights come to one where there are no masks.
    scale: f32,
}

impl<'a> Group<'a> {
    fn new(layers: &'a [PoseLayer<'a>]) -> Self {
        let unit = layers.iter().fold(0.0, |unit, layer| larger(unit, layer.weight));
        let total: f32 = layers.iter().map(|layer| relative(layer.weight, unit)).sum();
        Self { layers, masked: layers.iter().any(|layer| layer.mask.is_some()), unit, scale: 1.0 / total }
    }

    /// The mean of all joints, where a layer counts.
    #[inline(always)]
    fn run<P: Product, const PARTIAL: bool>(&self, p: P, rest: &[SoaTransform], out: &mut [SoaTransform]) {
        for (row, (out, rest)) in out.iter_mut().zip(rest).enumerate() {
            *out = self.mean::<P, PARTIAL>(p, row).normalized(p).transform::<PARTIAL>(p, rest);
        }
    }

    /// The mean of four joints, rotations not normalised.
    #[inline(always)]
    fn mean<P: Product, const PARTIAL: bool>(&self, p: P, row: usize) -> Mean<P, true> {
        let (mut scale, mut reached) = (Vec4::splat(self.scale), BVec4A::TRUE);
        if PARTIAL {
            let mut total = Vec4::ZERO;
            for layer in self.layers {
                total += self.weight(layer, row);
            }
            (scale, reached) = (inverse(total), self::reached(total));
        }
        let Some((first, others)) = self.layers.split_first() else {
            return Mean { row: Row::zero(p), reached: BVec4A::FALSE };
        };
        let share = self.weight(first, row) * scale;
        let mut sum = Row::read(p, &first.pose[row]).weighted(p, share, share);
        for layer in others {
            let (next, share) = (Row::read(p, &layer.pose[row]), self.weight(layer, row) * scale);
            sum = sum.plus_turned(p, next, share, share);
        }
        Mean { row: sum, reached }
    }

    #[inline(always)]
    fn weight(&self, layer: &PoseLayer, row: usize) -> Vec4 {
        let weight = Vec4::splat(relative(layer.weight, self.unit));
        layer.mask.map_or(weight, |mask| weight * mask[row])
    }
}

/// Joints whose layers come to less than this share of the group's largest weight count as not reached.
const REACHED: f32 = 1e-30;

/// Which joints are reached by layers whose weights come to `total`.
#[inline(always)]
pub(crate) fn reached(total: Vec4) -> BVec4A {
    total.cmpgt(Vec4::splat(REACHED))
}

/// What weights that come to `total` are multiplied by to be shares; a harmless number where nothing is reached.
#[inline(always)]
pub(crate) fn inverse(total: Vec4) -> Vec4 {
    Vec4::ONE / total.max(Vec4::splat(REACHED))
}

/// The larger of a finite number ≥ 0 and a weight, if that is usable.
pub(crate) fn larger(unit: f32, weight: f32) -> f32 {
    if weight > unit && weight < f32::INFINITY { weight } else { unit }
}

/// A weight relative to the largest, 0..=1.
pub(crate) fn relative(weight: f32, unit: f32) -> f32 {
    if weight > 0.0 && weight <= unit { weight / unit } else { 0.0 }
}

/// Clamped to 0..=1; 0 for what is not a number.
pub(crate) fn share(value: f32) -> f32 {
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

/// The mean of four joints, and which of them were reached. Rotations may have any length, but for 0 where reached.
#[derive(Clone, Copy)]
pub(crate) struct Mean<P: Product, const SCALE: bool> {
    pub(crate) row: Row<P, SCALE>,
    pub(crate) reached: BVec4A,
}

impl<P: Product, const SCALE: bool> Mean<P, SCALE> {
    /// Two groups' means by the priority blend, with `share` of `high` in 0..=1. Where one alone reaches a
    /// joint, it is taken.
    #[inline(always)]
    pub(crate) fn mix<const PARTIAL: bool>(self, p: P, high: Self, share: Vec4) -> Self {
        let (low, both) = (self, self.reached & high.reached);
        let (mean, _) = low.row.mix(p, Vec4::ONE - share, high.row, share);
        if !PARTIAL || both.all() {
            return Self { row: mean, reached: both };
        }
        let row = mean.or(p, both, low.row.or(p, low.reached, high.row));
        Self { row, reached: low.reached | high.reached }
    }

    #[inline(always)]
    pub(crate) fn normalized(self, p: P) -> Self {
        Self { row: self.row.normalized(p), ..self }
    }

    /// With the rest pose of joints that nothing reached.
    #[inline(always)]
    pub(crate) fn transform<const PARTIAL: bool>(self, p: P, rest: &SoaTransform) -> SoaTransform {
        let mean = self.row.transform(p);
        if PARTIAL && !self.reached.all() { mean.or(self.reached, rest) } else { mean }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JointTransform, SoaQuat};
    use glam::{Quat, Vec3};

    fn row(x: f32, angle: f32) -> [SoaTransform; 1] {
        let mut row = SoaTransform::IDENTITY;
        for lane in 0..4 {
            let turned = JointTransform::new(Vec3::X * x, Quat::from_rotation_z(angle));
            row.set(lane, JointTransform { scale: Vec3::splat(1.0 + x), ..turned });
        }
        [row]
    }

    fn layer(pose: &[SoaTransform], weight: f32) -> PoseLayer<'_> {
        PoseLayer { pose, weight, mask: None }
    }

    fn blend(layers: &[PoseLayer], rest: &[SoaTransform]) -> SoaTransform {
        let mut out = [SoaTransform::IDENTITY];
        Blend { layers, rest }.run(&mut out);
        out[0]
    }

    fn near(a: JointTransform, b: JointTransform) -> bool {
        (a.translation - b.translation).length() < 1e-5
            && (a.scale - b.scale).length() < 1e-5
            && a.rotation.dot(b.rotation).abs() > 1.0 - 1e-6
    }

    #[test]
    fn rule_3_positions_are_means_and_rotations_n_way_nlerp() {
        let (a, b, rest) = (row(0.0, 0.0), row(2.0, 1.0), row(9.0, 2.0));
        let out = blend(&[layer(&a, 3.0), layer(&b, 1.0)], &rest);
        let rotation = (Quat::from_rotation_z(0.0) * 0.75 + Quat::from_rotation_z(1.0) * 0.25).normalize();
        let mean = JointTransform { translation: Vec3::X * 0.5, rotation, scale: Vec3::splat(1.5) };
        assert!(near(out.get(0), mean), "{out:?}");
    }

    #[test]
    fn a_quaternion_in_the_other_hemisphere_is_the_same_rotation() {
        let (a, mut b, rest) = (row(0.0, 0.2), row(0.0, 0.4), row(0.0, 0.0));
        let SoaQuat { x, y, z, w } = b[0].rotation;
        b[0].rotation = SoaQuat { x: -x, y: -y, z: -z, w: -w };
        let out = blend(&[layer(&a, 1.0), layer(&b, 1.0)], &rest).get(1).rotation;
        assert!(out.dot(Quat::from_rotation_z(0.3)).abs() > 1.0 - 1e-6, "{out}");
    }

    #[test]
    fn rule_2_a_joint_is_normalised_over_the_layers_that_reach_it() {
        let (a, b, rest) = (row(1.0, 0.1), row(2.0, 0.5), row(9.0, 2.0));
        let mask = [Vec4::new(1.0, 0.0, 0.5, 0.0)];
        let masked = PoseLayer { mask: Some(&mask), ..layer(&b, 1.0) };
        let out = blend(&[layer(&a, 1.0), masked], &rest);
        assert!(near(out.get(1), a[0].get(1)));
        assert!((out.get(0).translation.x - 1.5).abs() < 1e-6);
        assert!((out.get(2).translation.x - 4.0 / 3.0).abs() < 1e-6);
        let out = blend(&[masked], &rest);
        assert!(near(out.get(2), b[0].get(2)), "alone, half a share is all");
        assert_eq!(out.get(3), rest[0].get(3));
    }

    #[test]
    fn nothing_to_blend_is_the_rest_pose() {
        let (a, rest) = (row(1.0, 0.1), row(9.0, 2.0));
        for layers in
            [&[][..], &[layer(&a, 0.0)], &[layer(&a, f32::NAN)], &[layer(&a, f32::INFINITY)], &[layer(&a, -1.0)]]
        {
            assert_eq!(blend(layers, &rest), rest[0]);
        }
    }

    #[test]
    fn weights_from_the_smallest_to_the_largest_number_give_the_same_mean() {
        let (a, b, rest) = (row(1.0, 0.1), row(2.0, 0.5), row(9.0, 2.0));
        let expected = blend(&[layer(&a, 0.5), layer(&b, 1.0)], &rest);
        for weight in [f32::MIN_POSITIVE, 1e-20, 1e20, f32::MAX] {
            let out = blend(&[layer(&a, weight * 0.5), layer(&b, weight)], &rest);
            assert!(near(out.get(0), expected.get(0)), "{weight}");
        }
        let out = blend(&[layer(&a, f32::MAX), layer(&b, f32::MIN_POSITIVE)], &rest);
        assert!(near(out.get(0), a[0].get(0)));
    }

    fn priority(low: &[PoseLayer], high: &[PoseLayer], priority_blend: f32, rest: &[SoaTransform]) -> SoaTransform {
        let mut out = [SoaTransform::IDENTITY];
        PriorityBlend { low, high, priority_blend, rest }.run(&mut out);
        out[0]
    }

    #[test]
    fn rule_2_the_groups_are_mixed_by_the_priority_blend() {
        let (a, b, rest) = (row(1.0, 0.0), row(2.0, 1.0), row(9.0, 2.0));
        let (low, high) = ([layer(&a, 5.0)], [layer(&b, 0.01)]);
        for (share, x) in [(0.0, 1.0), (0.5, 1.5), (1.0, 2.0), (7.0, 2.0), (f32::NAN, 1.0)] {
            let out = priority(&low, &high, share, &rest).get(0);
            assert!((out.translation.x - x).abs() < 1e-6, "{share} {out:?}");
        }
    }

    #[test]
    fn rule_2_an_empty_priority_group_leaves_the_other_alone() {
        let (a, b, rest) = (row(1.0, 0.0), row(2.0, 1.0), row(9.0, 2.0));
        let mask = [Vec4::new(1.0, 0.0, 0.0, 0.0)];
        let masked = [PoseLayer { mask: Some(&mask), ..layer(&b, 1.0) }];
        let out = priority(&[layer(&a, 1.0)], &masked, 1.0, &rest);
        assert!(near(out.get(0), b[0].get(0)) && near(out.get(1), a[0].get(1)));
        let out = priority(&masked, &[layer(&a, 1.0)], 0.0, &rest);
        assert!(near(out.get(0), b[0].get(0)) && near(out.get(1), a[0].get(1)));
        let out = priority(&masked, &[layer(&a, 0.0)], 1.0, &rest);
        assert!(near(out.get(0), b[0].get(0)));
        assert_eq!(out.get(1), rest[0].get(1));
    }
}
