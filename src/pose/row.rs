//! The rows that the blend kernel mixes: the transforms of four joints, or the weights of four morph targets.

use super::mask::Mask;
use super::packed::{PackedTransforms, Quats4};
use super::rotations::Rotations;
use super::sample::SamplePoint;
use super::simd::Simd;
use crate::model::{
    ChannelSlot, RowTracks, SkeletalClip, SoaQuat, SoaTransform, WeightTracks, lanes_of,
};
use glam::Vec4;
use std::fmt::Debug;

/// The bits of a row whose joints a clip all moves.
pub(super) const ALL_OF_ROW: u8 = 0b1111;

/// A row of a pose, as it is in memory.
pub(super) trait Row: Copy + Debug + 'static {
    /// The place of a row's values in a clip.
    type Tracks: Copy + Debug + 'static;
    /// The row in registers. If not `SCALE`, all scales are one.
    type Packed<S: Simd, const SCALE: bool>: PackedRow<S, Self>;

    /// The row that changes nothing: identities, or weights of 0.
    const NEUTRAL: Self;
    /// `false` if a row has no scales, and [`Self::Packed`] doesn't depend on `SCALE`.
    const HAS_SCALE: bool;

    /// Returns `true` if a clip is bound to a skeleton with this number of rows.
    fn fits(clip: &SkeletalClip, rows: usize) -> bool;
    fn animates_all(clip: &SkeletalClip) -> bool;
    fn moves_the_same(a: &SkeletalClip, b: &SkeletalClip) -> bool;
    fn unit_scale(clip: &SkeletalClip) -> bool;
    /// 1 in the lanes that a clip moves, 0 in the others.
    fn reach(clip: &SkeletalClip, row: usize) -> Vec4;
    fn mask(mask: &Mask) -> &[Vec4];

    /// Returns the sample point of a clip at a time in seconds.
    fn point(clip: &SkeletalClip, time: f64) -> SamplePoint<'_, Self::Tracks>;
    fn sample<S: Simd, const SCALE: bool>(
        point: &SamplePoint<Self::Tracks>,
        s: S,
        row: usize,
    ) -> Self::Packed<S, SCALE>;

    /// The part of a layer's weight that reaches each joint, apart from its mask.
    #[inline(always)]
    fn animated(point: &SamplePoint<Self::Tracks>, row: usize) -> Vec4 {
        let reach = point.reach.get(row).copied();
        reach.unwrap_or_else(|| lanes_of(Self::moved(point, row)))
    }

    /// Like [`Self::sample`], with the rest pose for joints that the clip doesn't move.
    #[inline(always)]
    fn sample_or_rest<S: Simd, const SCALE: bool>(
        point: &SamplePoint<Self::Tracks>,
        s: S,
        row: usize,
        rest: &Self,
    ) -> Self::Packed<S, SCALE> {
        let (moved, sample) = (Self::moved(point, row), Self::sample(point, s, row));
        if moved == ALL_OF_ROW {
            sample
        } else {
            sample.or(s, lanes_of(moved), Self::Packed::read(s, rest))
        }
    }

    /// `self` in the lanes where `condition` > 0, `other` in the rest.
    fn or(self, condition: Vec4, other: &Self) -> Self;
    fn difference_to(&self, reference: &Self) -> Self;
    /// Normalizes what has to be of unit length, after all means have been computed.
    fn normalize<S: Simd>(s: S, rows: &mut [Self]);
    /// A bit for each joint of a row that a clip moves.
    fn moved(point: &SamplePoint<Self::Tracks>, row: usize) -> u8;
    /// Appends the row's vectors, as constants of a clip.
    fn store(self, constants: &mut Vec<Vec4>) -> Self::Tracks;
}

/// A row of a pose in registers.
pub(super) trait PackedRow<S: Simd, R>: Copy {
    fn read(s: S, row: &R) -> Self;
    fn to_row(self, s: S) -> R;
    fn times(self, s: S, weight: Vec4) -> Self;
    /// The square of the length that rotations of a sum are scaled to.
    fn square(self, s: S) -> Vec4;
    /// The mean of two by weights that sum to one, and the square for [`Self::plus`].
    fn mix(self, s: S, weight: Vec4, other: Self, other_weight: Vec4) -> (Self, Vec4);
    /// Adds another row to a sum, with its rotations scaled to the root of `square` and turned into
    /// the sum's hemisphere.
    fn plus(self, s: S, other: Self, weight: Vec4, square: Vec4) -> Self;
    fn normalized(self, s: S) -> Self;
    /// `self` with the differences `delta` added, by a weight ≥ 0.
    fn plus_difference(self, s: S, delta: Self, weight: Vec4) -> Self;
    /// `self` in the lanes where `condition` > 0, `other` in the rest.
    fn or(self, s: S, condition: Vec4, other: Self) -> Self;
}

impl Row for SoaTransform {
    type Tracks = RowTracks;
    type Packed<S: Simd, const SCALE: bool> = PackedTransforms<S, SCALE>;

    const NEUTRAL: Self = Self::IDENTITY;
    const HAS_SCALE: bool = true;

    #[inline(always)]
    fn fits(clip: &SkeletalClip, rows: usize) -> bool {
        clip.rows().len() == rows
    }

    #[inline(always)]
    fn animates_all(clip: &SkeletalClip) -> bool {
        clip.animates_all()
    }

    #[inline(always)]
    fn moves_the_same(a: &SkeletalClip, b: &SkeletalClip) -> bool {
        a.moves_the_same_joints(b)
    }

    #[inline(always)]
    fn unit_scale(clip: &SkeletalClip) -> bool {
        clip.unit_scale()
    }

    fn reach(clip: &SkeletalClip, row: usize) -> Vec4 {
        clip.rows()
            .get(row)
            .map_or(Vec4::ZERO, |row| lanes_of(row.moved))
    }

    #[inline(always)]
    fn mask(mask: &Mask) -> &[Vec4] {
        mask.rows()
    }

    #[inline(always)]
    fn point(clip: &SkeletalClip, time: f64) -> SamplePoint<'_> {
        SamplePoint::new(clip, time)
    }

    #[inline(always)]
    fn moved(point: &SamplePoint, row: usize) -> u8 {
        point.rows[row].moved
    }

    #[inline(always)]
    fn sample<S: Simd, const SCALE: bool>(
        point: &SamplePoint,
        s: S,
        row: usize,
    ) -> PackedTransforms<S, SCALE> {
        point.row(s, row)
    }

    #[inline(always)]
    fn or(self, condition: Vec4, other: &Self) -> Self {
        self.or(condition, other)
    }

    #[inline(always)]
    fn difference_to(&self, reference: &Self) -> Self {
        self.difference_to(reference)
    }

    /// Runs as a pass of its own, since a row's square root and division end a long chain of
    /// dependent operations. Here, those of many rows overlap.
    #[inline(always)]
    fn normalize<S: Simd>(s: S, rows: &mut [Self]) {
        for row in rows {
            let SoaQuat { x, y, z, w } = row.rotation;
            row.rotation = Quats4::read(s, &[x, y, z, w]).normalized(s).to_soa(s);
        }
    }

    fn store(self, constants: &mut Vec<Vec4>) -> RowTracks {
        let (t, r, s) = (self.translation, self.rotation, self.scale);
        let at = constants.len() as u32;
        constants.extend([t.x, t.y, t.z, r.x, r.y, r.z, r.w, s.x, s.y, s.z]);
        RowTracks {
            moved: 0b1111,
            translation: ChannelSlot::Constant(at),
            rotation: ChannelSlot::Constant(at + 3),
            scale: ChannelSlot::Constant(at + 7),
        }
    }
}

impl<S: Simd, const SCALE: bool> PackedRow<S, SoaTransform> for PackedTransforms<S, SCALE> {
    #[inline(always)]
    fn read(s: S, row: &SoaTransform) -> Self {
        Self::read(s, row)
    }

    #[inline(always)]
    fn to_row(self, s: S) -> SoaTransform {
        self.to_row(s)
    }

    #[inline(always)]
    fn times(self, s: S, weight: Vec4) -> Self {
        Self {
            translation: self.translation.times(s, weight),
            rotation: self.rotation.times(s, weight),
            scale: if SCALE {
                self.scale.times(s, weight)
            } else {
                self.scale
            },
        }
    }

    #[inline(always)]
    fn square(self, s: S) -> Vec4 {
        self.rotation.dot(s, self.rotation)
    }

    #[inline(always)]
    fn mix(self, s: S, weight: Vec4, other: Self, other_weight: Vec4) -> (Self, Vec4) {
        self.mix(s, weight, other, other_weight)
    }

    #[inline(always)]
    fn plus(self, s: S, other: Self, weight: Vec4, square: Vec4) -> Self {
        self.plus(s, other, weight, square)
    }

    #[inline(always)]
    fn normalized(self, s: S) -> Self {
        Self {
            rotation: self.rotation.normalized(s),
            ..self
        }
    }

    #[inline(always)]
    fn plus_difference(self, s: S, delta: Self, weight: Vec4) -> Self {
        self.plus_difference(s, delta, weight)
    }

    #[inline(always)]
    fn or(self, s: S, condition: Vec4, other: Self) -> Self {
        self.or(s, condition, other)
    }
}

/// Weights are always means and sums; none is normalized.
impl Row for Vec4 {
    type Tracks = WeightTracks;
    type Packed<S: Simd, const SCALE: bool> = PackedWeights;

    const NEUTRAL: Self = Self::ZERO;
    const HAS_SCALE: bool = false;

    #[inline(always)]
    fn fits(clip: &SkeletalClip, rows: usize) -> bool {
        // A clip without morph curves always fits: it reaches no target, and the rest weights stand
        // in for it.
        clip.morph_curves().is_none_or(|m| m.rows.len() == rows)
    }

    #[inline(always)]
    fn animates_all(clip: &SkeletalClip) -> bool {
        clip.morph_curves().is_some_and(|m| m.animates_all)
    }

    #[inline(always)]
    fn moves_the_same(a: &SkeletalClip, b: &SkeletalClip) -> bool {
        match (a.morph_curves(), b.morph_curves()) {
            (Some(a), Some(b)) => {
                (a.animates_all && b.animates_all)
                    || a.rows
                        .iter()
                        .map(|row| row.moved)
                        .eq(b.rows.iter().map(|row| row.moved))
            }
            (a, b) => a.is_none() && b.is_none(),
        }
    }

    #[inline(always)]
    fn unit_scale(_: &SkeletalClip) -> bool {
        true
    }

    fn reach(clip: &SkeletalClip, row: usize) -> Vec4 {
        let row = clip.morph_curves().and_then(|m| m.rows.get(row));
        row.map_or(Vec4::ZERO, |row| lanes_of(row.moved))
    }

    #[inline(always)]
    fn mask(mask: &Mask) -> &[Vec4] {
        mask.morph_rows()
    }

    #[inline(always)]
    fn point(clip: &SkeletalClip, time: f64) -> SamplePoint<'_, WeightTracks> {
        SamplePoint::of_weights(clip, time)
    }

    #[inline(always)]
    fn moved(point: &SamplePoint<WeightTracks>, row: usize) -> u8 {
        point.rows.get(row).map_or(0, |row| row.moved)
    }

    #[inline(always)]
    fn sample<S: Simd, const SCALE: bool>(
        point: &SamplePoint<WeightTracks>,
        s: S,
        row: usize,
    ) -> PackedWeights {
        PackedWeights(point.weights(s, row))
    }

    #[inline(always)]
    fn or(self, condition: Vec4, other: &Self) -> Self {
        Vec4::select(condition.cmpgt(Vec4::ZERO), self, *other)
    }

    #[inline(always)]
    fn difference_to(&self, reference: &Self) -> Self {
        *self - *reference
    }

    #[inline(always)]
    fn normalize<S: Simd>(_: S, _: &mut [Self]) {}

    fn store(self, constants: &mut Vec<Vec4>) -> WeightTracks {
        constants.push(self);
        WeightTracks {
            moved: 0b1111,
            weights: ChannelSlot::Constant(constants.len() as u32 - 1),
        }
    }
}

/// The weights of four morph targets.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedWeights(Vec4);

impl<S: Simd> PackedRow<S, Vec4> for PackedWeights {
    #[inline(always)]
    fn read(_: S, row: &Vec4) -> Self {
        Self(*row)
    }

    #[inline(always)]
    fn to_row(self, _: S) -> Vec4 {
        self.0
    }

    #[inline(always)]
    fn times(self, _: S, weight: Vec4) -> Self {
        Self(self.0 * weight)
    }

    #[inline(always)]
    fn square(self, _: S) -> Vec4 {
        Vec4::ZERO
    }

    #[inline(always)]
    fn mix(self, s: S, weight: Vec4, other: Self, other_weight: Vec4) -> (Self, Vec4) {
        (
            Self(s.fma_row(other.0, other_weight, self.0 * weight)),
            Vec4::ZERO,
        )
    }

    #[inline(always)]
    fn plus(self, s: S, other: Self, weight: Vec4, _: Vec4) -> Self {
        Self(s.fma_row(other.0, weight, self.0))
    }

    #[inline(always)]
    fn normalized(self, _: S) -> Self {
        self
    }

    #[inline(always)]
    fn plus_difference(self, s: S, delta: Self, weight: Vec4) -> Self {
        Self(s.fma_row(delta.0, weight, self.0))
    }

    #[inline(always)]
    fn or(self, _: S, condition: Vec4, other: Self) -> Self {
        Self(Row::or(self.0, condition, &other.0))
    }
}
