//! Blending: several local poses into one.
//!
//! Translations and scales are weighted means. Rotations are summed in the hemisphere of the running
//! sum and normalised once (n-way nlerp). The order of two layers never matters, and of more it does
//! not as long as a joint's rotations can be given signs that put all of them in one hemisphere
//! (each within 180° of each other); beyond that "between" has no meaning that is free of order.

use super::soa::{sign, sqrt};
use crate::model::{SoaQuat, SoaTransform, SoaVec3};
use glam::{BVec4A, Vec4};

/// Mixes the layers' poses by weight, joint by joint.
///
/// Weights need not sum to one: each joint is normalised over the layers that reach it.
/// A joint that none reaches takes the rest pose.
#[derive(Clone, Copy, Debug)]
pub struct Blend<'a> {
    /// Poses to mix, each `rest.len()` rows long.
    pub layers: &'a [Layer<'a>],
    /// The skeleton's rest pose; its length is the number of rows blended.
    pub rest: &'a [SoaTransform],
}

/// One layer of a [`Blend`].
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    /// The pose.
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
        let unit = unit_weight(self.layers.iter().map(|layer| layer.weight));
        for (row, (out, rest)) in out[..self.rest.len()].iter_mut().zip(self.rest).enumerate() {
            *out = mean(self.layers, unit, row, rest).pose;
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
    pub low: &'a [Layer<'a>],
    /// Layers of high priority.
    pub high: &'a [Layer<'a>],
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
        let share = Vec4::splat(share(self.priority_blend));
        let [low, high] = [self.low, self.high].map(|g| unit_weight(g.iter().map(|layer| layer.weight)));
        for (row, (out, rest)) in out[..self.rest.len()].iter_mut().zip(self.rest).enumerate() {
            let (low, high) = (mean(self.low, low, row, rest), mean(self.high, high, row, rest));
            *out = Mean::mix::<true>(low, high, share, rest);
        }
    }
}

/// The mean of four joints of the layers, with weights relative to `unit`.
#[inline(always)]
fn mean(layers: &[Layer], unit: f32, row: usize, rest: &SoaTransform) -> Mean {
    let mut sum = Sum::ZERO;
    for layer in layers {
        let weight = Vec4::splat(relative(layer.weight, unit));
        let weight = layer.mask.map_or(weight, |mask| weight * mask[row]);
        let pose = &layer.pose[row];
        let flip = sum.flip(pose);
        sum.add::<true>(pose, weight, flip);
    }
    sum.finish::<true, true>(rest)
}

/// Joints whose layers come to less than this share of the group's largest weight count as not reached.
pub(crate) const REACHED: f32 = 1e-30;

/// The largest usable weight: what weights are taken relative to, so that scaling all of them by a
/// constant changes nothing and no sum overflows. 0 where no layer counts.
pub(crate) fn unit_weight(weights: impl Iterator<Item = f32>) -> f32 {
    weights.fold(0.0, larger)
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

/// The running weighted sum of four joints' transforms.
///
/// Its functions take `SCALE`: where it is false, all scales are one and none is summed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    translation: SoaVec3,
    rotation: SoaQuat,
    scale: SoaVec3,
    weight: Vec4,
}

/// The mean of four joints, and which of them were reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mean {
    pub(crate) pose: SoaTransform,
    reached: BVec4A,
}

impl Sum {
    pub(crate) const ZERO: Self =
        Self { translation: SoaVec3::ZERO, rotation: SoaQuat::ZERO, scale: SoaVec3::ZERO, weight: Vec4::ZERO };

    /// Four joints alone; as [`Self::add`] to nothing.
    #[inline(always)]
    pub(crate) fn first<const SCALE: bool>(row: &SoaTransform, weight: Vec4) -> Self {
        Self {
            translation: row.translation.scaled(weight),
            rotation: row.rotation.scaled(weight / sqrt(row.rotation.dot(row.rotation))),
            scale: if SCALE { row.scale.scaled(weight) } else { SoaVec3::ONE },
            weight,
        }
    }

    /// 1 in the lanes whose rotation lies in the hemisphere of the sum, −1 in the others.
    #[inline(always)]
    pub(crate) fn flip(&self, row: &SoaTransform) -> Vec4 {
        sign(self.rotation.dot(row.rotation))
    }

    /// Adds four joints; `weight` ≥ 0, rotations of any length from √½ to 1, `flip` as told by [`Self::flip`].
    #[inline(always)]
    pub(crate) fn add<const SCALE: bool>(&mut self, row: &SoaTransform, weight: Vec4, flip: Vec4) {
        self.translation = self.translation.add_scaled(row.translation, weight);
        // Normalised by way of the weight, which saves a multiplication for each component.
        let length = sqrt(row.rotation.dot(row.rotation));
        self.rotation = self.rotation.add_scaled(row.rotation, (weight / length) * flip);
        if SCALE {
            self.scale = self.scale.add_scaled(row.scale, weight);
        }
        self.weight += weight;
    }

    /// The mean; the rest pose for joints that nothing reached. Where not `PARTIAL`, the weights of
    /// every joint sum to one.
    #[inline(always)]
    pub(crate) fn finish<const SCALE: bool, const PARTIAL: bool>(&self, rest: &SoaTransform) -> Mean {
        let mut mean = self.finish_unnormalized::<SCALE, PARTIAL>(rest);
        let rotation = mean.pose.rotation.normalized();
        // A joint that rests keeps the bits of the rest pose.
        mean.pose.rotation = if PARTIAL { rotation.or(mean.reached, rest.rotation) } else { rotation };
        mean
    }

    /// Like [`Self::finish`], with rotations of a length that is neither 0 nor more than about 1.
    #[inline(always)]
    pub(crate) fn finish_unnormalized<const SCALE: bool, const PARTIAL: bool>(&self, rest: &SoaTransform) -> Mean {
        let Self { translation, rotation, scale, weight } = *self;
        if !PARTIAL {
            let scale = if SCALE { scale } else { SoaVec3::ONE };
            return Mean { pose: SoaTransform { translation, rotation, scale }, reached: BVec4A::TRUE };
        }
        let reached = weight.cmpgt(Vec4::splat(REACHED));
        // Lanes that are not reached divide by a harmless number. The rotation is divided too: the
        // square of its length must not underflow.
        let inverse = Vec4::ONE / weight.max(Vec4::splat(REACHED));
        let mean = SoaTransform {
            translation: translation.scaled(inverse),
            rotation: rotation.scaled(inverse),
            scale: if SCALE { scale.scaled(inverse) } else { SoaVec3::ONE },
        };
        Mean { pose: if reached.all() { mean } else { mean.or(reached, rest) }, reached }
    }
}

impl Mean {
    /// Two groups' means by the priority blend; `share` in 0..=1.
    #[inline(always)]
    pub(crate) fn mix<const PARTIAL: bool>(low: Self, high: Self, share: Vec4, rest: &SoaTransform) -> SoaTransform {
        if !PARTIAL || (low.reached & high.reached).all() {
            return low.pose.mix(high.pose, share);
        }
        let share = Vec4::select(low.reached, Vec4::select(high.reached, share, Vec4::ZERO), Vec4::ONE);
        low.pose.mix(high.pose, share).or(low.reached | high.reached, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JointTransform;
    use glam::{Quat, Vec3};

    fn row(x: f32, angle: f32) -> [SoaTransform; 1] {
        let mut row = SoaTransform::IDENTITY;
        for lane in 0..4 {
            let turned = JointTransform::new(Vec3::X * x, Quat::from_rotation_z(angle));
            row.set(lane, JointTransform { scale: Vec3::splat(1.0 + x), ..turned });
        }
        [row]
    }

    fn layer(pose: &[SoaTransform], weight: f32) -> Layer<'_> {
        Layer { pose, weight, mask: None }
    }

    fn blend(layers: &[Layer], rest: &[SoaTransform]) -> SoaTransform {
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
        b[0].rotation = b[0].rotation.scaled(Vec4::NEG_ONE);
        let out = blend(&[layer(&a, 1.0), layer(&b, 1.0)], &rest).get(1).rotation;
        assert!(out.dot(Quat::from_rotation_z(0.3)).abs() > 1.0 - 1e-6, "{out}");
    }

    #[test]
    fn rule_2_a_joint_is_normalised_over_the_layers_that_reach_it() {
        let (a, b, rest) = (row(1.0, 0.1), row(2.0, 0.5), row(9.0, 2.0));
        let mask = [Vec4::new(1.0, 0.0, 0.5, 0.0)];
        let masked = Layer { mask: Some(&mask), ..layer(&b, 1.0) };
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

    fn priority(low: &[Layer], high: &[Layer], priority_blend: f32, rest: &[SoaTransform]) -> SoaTransform {
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
        let masked = [Layer { mask: Some(&mask), ..layer(&b, 1.0) }];
        let out = priority(&[layer(&a, 1.0)], &masked, 1.0, &rest);
        assert!(near(out.get(0), b[0].get(0)) && near(out.get(1), a[0].get(1)));
        let out = priority(&masked, &[layer(&a, 1.0)], 0.0, &rest);
        assert!(near(out.get(0), b[0].get(0)) && near(out.get(1), a[0].get(1)));
        let out = priority(&masked, &[layer(&a, 0.0)], 1.0, &rest);
        assert!(near(out.get(0), b[0].get(0)));
        assert_eq!(out.get(1), rest[0].get(1));
    }
}
