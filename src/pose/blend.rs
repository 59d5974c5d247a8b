//! The arithmetic of a blend, four joints or morph targets at a time: means of layers, and overlays on a pose.

use super::row::{PackedRow, Row};
use super::sample::SamplePoint;
use super::simd::Simd;
use glam::Vec4;

/// A layer that counts, at its time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Active<'a, R: Row> {
    pub(super) point: SamplePoint<'a, R::Tracks>,
    pub(super) mask: Option<&'a [Vec4]>,
    pub(super) weight: Vec4,
    /// Adjacent layers with the same number form a set, unless it is 0.
    pub(super) set: u32,
    pub(super) kind: Kind,
    /// Place among the layers of the [`Mix`].
    pub(super) index: usize,
}

/// The way a layer changes the pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Blend,
    Override,
    /// Adds the clip, which holds differences.
    Difference,
    /// Adds the difference of the clip to the rest pose.
    DifferenceToRest,
}

impl Kind {
    /// Returns `true` if it adds differences, whatever the pose is.
    pub(super) fn adds(self) -> bool {
        matches!(self, Self::Difference | Self::DifferenceToRest)
    }
}

impl<R: Row> Active<'_, R> {
    /// The layer's weight for each joint of a row.
    #[inline(always)]
    pub(super) fn weight(&self, row: usize) -> Vec4 {
        let weight = self.weight * R::animated(&self.point, row);
        self.mask.map_or(weight, |mask| {
            weight * mask.get(row).copied().unwrap_or(Vec4::ZERO)
        })
    }

    /// The layer's weight for each joint of a row, as if its clip moved every joint. The mask still
    /// applies.
    #[inline(always)]
    fn weight_of_all(&self, row: usize) -> Vec4 {
        self.mask.map_or(self.weight, |mask| {
            self.weight * mask.get(row).copied().unwrap_or(Vec4::ZERO)
        })
    }

    /// The row of the layer's clip. If not `PARTIAL`, `rest` stands in for joints that it doesn't move.
    #[inline(always)]
    fn sample<S: Simd, const SCALE: bool, const PARTIAL: bool>(
        &self,
        s: S,
        row: usize,
        rest: &R,
    ) -> R::Packed<S, SCALE> {
        if PARTIAL {
            R::sample(&self.point, s, row)
        } else {
            R::sample_or_rest(&self.point, s, row, rest)
        }
    }

    /// Applies an overlay to a pose.
    #[inline(always)]
    pub(super) fn apply<S: Simd, const SCALE: bool>(&self, s: S, rest: &[R], pose: &mut [R]) {
        for (row, (pose, rest)) in pose.iter_mut().zip(rest).enumerate() {
            let over = R::sample::<S, SCALE>(&self.point, s, row);
            let weight = self.weight(row);
            *pose = match self.kind {
                Kind::Blend | Kind::Override => replace::<R, S, SCALE>(s, pose, over, weight),
                Kind::Difference => add::<R, S, SCALE>(s, pose, over, weight),
                Kind::DifferenceToRest => {
                    let difference = over.to_row(s).difference_to(rest);
                    add::<R, S, SCALE>(s, pose, PackedRow::read(s, &difference), weight)
                }
            };
        }
    }
}

/// The base's number as a set.
pub(super) const BASE: u32 = u32::MAX;

/// Splits layers into sets; a layer with the number 0 is a set of its own, and so is one that adds differences.
pub(super) fn sets<'l, 'a, R: Row>(
    layers: &'l [Active<'a, R>],
) -> impl Iterator<Item = &'l [Active<'a, R>]> {
    layers.chunk_by(|a, b| a.set != 0 && a.set == b.set && !a.kind.adds() && !b.kind.adds())
}

/// The sum of layers' weights for each joint of a row.
#[inline(always)]
pub(super) fn total_weight<R: Row>(layers: &[Active<R>], row: usize) -> Vec4 {
    layers
        .iter()
        .fold(Vec4::ZERO, |total, layer| total + layer.weight(row))
}

/// The split of a set's weight between its clips that move a joint and the rest pose.
pub(super) struct SetShare {
    /// The part of their weights that is left to the clips.
    pub(super) clips: Vec4,
    /// The weight of the rest pose.
    rest: Vec4,
}

impl SetShare {
    /// For a row's joints. `missing` is what the base lacks of a whole weight.
    ///
    /// The rest pose stands in for clips that don't move a joint, and for what the base lacks. The
    /// set as a whole weighs no more than its clips that do move the joint, so nothing jumps when
    /// the last of them ends.
    #[inline(always)]
    pub(super) fn new<R: Row>(set: &[Active<R>], missing: f32, row: usize) -> Self {
        let moved = total_weight(set, row);
        // In the base, a masked share is missing weight like any other, so the rest pose takes it.
        // In other sets, a mask only lowers the weight of the set.
        let unmoved = match set[0].set {
            0 => Vec4::ZERO,
            BASE => {
                set.iter()
                    .fold(Vec4::splat(missing), |sum, layer| sum + layer.weight)
                    - moved
            }
            _ => {
                set.iter()
                    .fold(Vec4::ZERO, |sum, layer| sum + layer.weight_of_all(row))
                    - moved
            }
        };
        // Rounding can leave a difference slightly below zero.
        let rest = unmoved.max(Vec4::ZERO);
        // The lower bound makes this 0 rather than NaN where nothing is moved.
        let clips = moved / (moved + rest).max(Vec4::splat(f32::MIN_POSITIVE));
        Self {
            clips,
            rest: rest * clips,
        }
    }
}

/// Replaces a pose by the layers of a set, each by its weight.
///
/// The pose takes part in the sum like a layer, so the order of the layers doesn't matter.
#[inline(always)]
pub(super) fn replace_by_set<R: Row, S: Simd, const SCALE: bool>(
    s: S,
    set: &[Active<R>],
    pose: &mut [R],
) {
    let [first, others @ ..] = set else { return };
    for (row, pose) in pose.iter_mut().enumerate() {
        let total = total_weight(set, row);
        // A sum above one is scaled down to one, and the pose below then gets nothing.
        let scale = Vec4::ONE / total.max(Vec4::ONE);
        let below = R::Packed::<S, SCALE>::read(s, pose);
        let below_weight = (Vec4::ONE - total).max(Vec4::ZERO);
        let (mut mean, square) = below.mix(
            s,
            below_weight,
            R::sample(&first.point, s, row),
            first.weight(row) * scale,
        );
        for layer in others {
            let next = R::sample(&layer.point, s, row);
            mean = mean.plus(s, next, layer.weight(row) * scale, square);
        }
        // A joint that is not reached keeps its bits.
        *pose = mean.normalized(s).to_row(s).or(total, pose);
    }
}

/// The mean of a group for four joints. Rotations have any length, but are not 0 where reached.
#[derive(Clone, Copy)]
pub(super) struct Mean<R: Row, S: Simd, const SCALE: bool> {
    pose: R::Packed<S, SCALE>,
    /// The sum of the weights of layers that reach a joint, as a part of the group's weight.
    pub(super) total: Vec4,
}

impl<R: Row, S: Simd, const SCALE: bool> Mean<R, S, SCALE> {
    /// Of a group of at least one layer. If not `PARTIAL`, `rest` stands in for joints that a clip doesn't move; else the clip has
    /// no weight there.
    #[inline(always)]
    pub(super) fn new<const PARTIAL: bool>(
        s: S,
        group: &[Active<R>],
        row: usize,
        rest: &R,
    ) -> Self {
        let (a, b, others) = match group {
            [a, b, others @ ..] => (a, b, others),
            [layer] => {
                let total = if PARTIAL {
                    layer.weight(row)
                } else {
                    Vec4::ONE
                };
                let pose = layer.sample::<S, SCALE, PARTIAL>(s, row, rest);
                return Self { pose, total };
            }
            [] => unreachable!("empty groups are left out"),
        };
        let (mut a_weight, mut b_weight) = (a.weight, b.weight);
        let (mut scale, mut total) = (Vec4::ONE, Vec4::ONE);
        // Otherwise weights already sum to one, at every joint.
        if PARTIAL {
            (a_weight, b_weight) = (a.weight(row), b.weight(row));
            total = a_weight + b_weight;
            for layer in others {
                total += layer.weight(row);
            }
            scale = inverse(total);
            (a_weight, b_weight) = (a_weight * scale, b_weight * scale);
        }
        // The first two share a square root. Each further layer needs its own, to match the length of the sum.
        let first = a.sample::<S, SCALE, PARTIAL>(s, row, rest);
        let second = b.sample::<S, SCALE, PARTIAL>(s, row, rest);
        let (mut pose, square) = first.mix(s, a_weight, second, b_weight);
        for layer in others {
            let next = layer.sample::<S, SCALE, PARTIAL>(s, row, rest);
            let weight = if PARTIAL {
                layer.weight(row) * scale
            } else {
                layer.weight
            };
            pose = pose.plus(s, next, weight, square);
        }
        Self { pose, total }
    }

    /// Of a group in which the rest pose takes part: sets whose clips move different joints, or a base that lacks weight.
    #[inline(always)]
    pub(super) fn of_sets(s: S, group: &[Active<R>], missing: f32, row: usize, rest: &R) -> Self {
        let total = total_weight(group, row);
        let scale = inverse(total);
        let share = |set| SetShare::new::<R>(set, missing, row);
        let rest_weight = sets(group).fold(Vec4::ZERO, |sum, set| sum + share(set).rest) * scale;
        let rest = R::Packed::<S, SCALE>::read(s, rest);
        // The rest pose is the first summand, so the rotations that follow are scaled to its
        // length.
        let square = rest.square(s);
        let mut pose = rest.times(s, rest_weight);
        for set in sets(group) {
            // Computed a second time, since storing the shares of any number of sets would
            // allocate.
            let factor = share(set).clips * scale;
            for layer in set {
                let next = R::sample(&layer.point, s, row);
                pose = pose.plus(s, next, layer.weight(row) * factor, square);
            }
        }
        Self { pose, total }
    }

    /// Both groups by the share of the high one; where only one reaches a joint, that one.
    #[inline(always)]
    pub(super) fn mix<const PARTIAL: bool>(self, s: S, high: Self, high_share: Vec4) -> Self {
        let (low, both) = (self, reached(self.total.min(high.total)));
        let (mean, _) = low
            .pose
            .mix(s, Vec4::ONE - high_share, high.pose, high_share);
        if !PARTIAL || both.cmpgt(Vec4::ZERO).all() {
            return Self {
                pose: mean,
                total: low.total,
            };
        }
        // The rotation of a group that doesn't reach a joint may be zero, and a mean with it could
        // not be normalized. So lanes that only one group reaches take that group's pose as it is.
        let pose = mean.or(s, both, low.pose.or(s, reached(low.total), high.pose));
        Self {
            pose,
            total: low.total.max(high.total),
        }
    }

    /// Returns the row, with `other` for the joints that are not reached.
    #[inline(always)]
    pub(super) fn to_row<const PARTIAL: bool>(self, s: S, other: &R) -> R {
        let row = self.pose.to_row(s);
        let reached = reached(self.total);
        if PARTIAL && !reached.cmpgt(Vec4::ZERO).all() {
            row.or(reached, other)
        } else {
            row
        }
    }
}

/// A joint whose layers sum to no more than this part of a group's weight counts as not reached.
const REACHED: f32 = 1e-30;

/// Greater than 0 for the joints reached by layers whose weights sum to `total`.
#[inline(always)]
pub(super) fn reached(total: Vec4) -> Vec4 {
    total - Vec4::splat(REACHED)
}

/// The share of the high group at joints that both groups reach, given the groups' total weights there.
///
/// It is `blend` where both totals are at least 1. A group with less counts by that much: its share goes to 0
/// with its weight, whatever the blend, and the other's to 1.
#[inline(always)]
pub(super) fn high_share(low: Vec4, high: Vec4, blend: Vec4) -> Vec4 {
    let (low, high) = (low.min(Vec4::ONE), high.min(Vec4::ONE));
    // Each part is the group's weight, less what the other group takes from it. With both at 1, the
    // parts are `1 − blend` and `blend`.
    let low_part = low * (Vec4::ONE - blend * high);
    let high_part = high * (Vec4::ONE - (Vec4::ONE - blend) * low);
    high_part / (low_part + high_part).max(Vec4::splat(f32::MIN_POSITIVE))
}

/// The factor that makes weights with the sum `total` sum to one; any number where nothing is reached.
#[inline(always)]
pub(super) fn inverse(total: Vec4) -> Vec4 {
    Vec4::ONE / total.max(Vec4::splat(REACHED))
}

/// `pose` with the differences `delta` added, by a weight ≥ 0 per joint.
#[inline(always)]
fn add<R: Row, S: Simd, const SCALE: bool>(
    s: S,
    pose: &R,
    delta: R::Packed<S, SCALE>,
    weight: Vec4,
) -> R {
    let pose = R::Packed::<S, SCALE>::read(s, pose);
    pose.plus_difference(s, delta, weight).to_row(s)
}

/// `pose` replaced by `other`, by a weight in 0..=1 per joint.
#[inline(always)]
fn replace<R: Row, S: Simd, const SCALE: bool>(
    s: S,
    pose: &R,
    other: R::Packed<S, SCALE>,
    weight: Vec4,
) -> R {
    let below = R::Packed::<S, SCALE>::read(s, pose);
    let (mean, _) = below.mix(s, Vec4::ONE - weight, other, weight);
    // A joint that is not reached keeps its bits.
    mean.normalized(s).to_row(s).or(weight, pose)
}
