//! Means of clips that eight characters play.
//!
//! Constant channels are read only once for all of them. Clips are sampled one character after the other, four joints at a time,
//! and blended with a character in each lane. All operations are those of [`Mix`](crate::pose::Mix), in the same order.

use super::{
    PoseBatch,
    clips::{MOST_OF_MOVING, MeanClip, NO_CLIPS, UnpackedChannel},
    lanes::Joints,
};
use crate::model::{ChannelSlot, SoaQuat, SoaTransform, SoaVec3};
use crate::pose::{
    packed::{Quats4, Vectors4},
    rotations::Rotations,
    row::ALL_OF_ROW,
    sample::chunk,
    simd::{Simd, numbers::ChannelVectors},
};
use glam::Vec4;

/// Vectors or quaternions for each character: `N` numbers of four joints.
type Numbers<S, const N: usize> = [[<S as Simd>::Pair; 4]; N];

impl<S: Simd> Joints<S, false> {
    /// The mean of some clips, with the rest pose in place of those that don't move a joint. If not `PARTIAL`, all do.
    #[inline(always)]
    pub(super) fn mean<const PARTIAL: bool>(
        s: S,
        clips: &[MeanClip],
        unpacked: &[UnpackedChannel],
        rest: &[SoaTransform],
        row: usize,
    ) -> Self {
        let rest = &rest[row];
        let moving = moving_clips::<PARTIAL>(clips, row);
        // Rotations come first, so that their long chain of operations overlaps with the
        // translations.
        let rotation = mean_rotations::<_, PARTIAL>(s, clips, unpacked, rest, row, moving);
        let rotation = normalized(s, rotation);
        Self {
            translation: mean_translations::<_, PARTIAL>(s, clips, unpacked, rest, row, moving),
            rotation,
            scale: [[s.both(Vec4::ONE); 4]; 3],
        }
    }
}

#[inline(always)]
fn mean_translations<S: Simd, const PARTIAL: bool>(
    s: S,
    clips: &[MeanClip],
    unpacked: &[UnpackedChannel],
    rest: &SoaTransform,
    row: usize,
    moving: Moving,
) -> Numbers<S, 3> {
    let (first, others) = clips.split_first().expect(NO_CLIPS);
    let mut sum = first.translations::<_, PARTIAL>(s, unpacked, rest, row);
    // One loop, also for the second clip: each place that samples compiles all of it.
    for (index, clip) in others.iter().enumerate() {
        let (weight, next) = (
            clip.weights::<_, PARTIAL>(s, moving),
            clip.translations::<_, PARTIAL>(s, unpacked, rest, row),
        );
        if index == 0 {
            let first_weight = first.weights::<_, PARTIAL>(s, moving);
            // One product and one fused sum, as in `PackedTransforms::mix`, so that both kernels round alike.
            for i in 0..3 {
                for joint in 0..4 {
                    let first = s.mul(sum[i][joint], first_weight[joint]);
                    sum[i][joint] = s.fma(next[i][joint], weight[joint], first);
                }
            }
        } else {
            for i in 0..3 {
                for joint in 0..4 {
                    sum[i][joint] = s.fma(next[i][joint], weight[joint], sum[i][joint]);
                }
            }
        }
    }
    let SoaVec3 { x, y, z } = rest.translation;
    or_rest_of_unmoved::<_, _, PARTIAL>(s, sum, first, moving, &[x, y, z])
}

#[inline(always)]
fn mean_rotations<S: Simd, const PARTIAL: bool>(
    s: S,
    clips: &[MeanClip],
    unpacked: &[UnpackedChannel],
    rest: &SoaTransform,
    row: usize,
    moving: Moving,
) -> Numbers<S, 4> {
    let (first, others) = clips.split_first().expect(NO_CLIPS);
    let mut sum = first.rotations::<_, PARTIAL>(s, unpacked, rest, row);
    let mut squares = [s.both(Vec4::ZERO); 4];
    for (index, clip) in others.iter().enumerate() {
        let (weight, next) = (
            clip.weights::<_, PARTIAL>(s, moving),
            clip.rotations::<_, PARTIAL>(s, unpacked, rest, row),
        );
        if index == 0 {
            let first_weight = first.weights::<_, PARTIAL>(s, moving);
            for joint in 0..4 {
                let (first_weight, weight) = (first_weight[joint], weight[joint]);
                let (a, b) = (
                    Rotation::<S>::of(&sum, joint),
                    Rotation::<S>::of(&next, joint),
                );
                let (mean, square) = a.mix(s, first_weight, b, weight);
                mean.put(&mut sum, joint);
                squares[joint] = square;
            }
        } else {
            for joint in 0..4 {
                let (a, b) = (
                    Rotation::<S>::of(&sum, joint),
                    Rotation::<S>::of(&next, joint),
                );
                let sum_of_both = a.with(s, b, weight[joint], squares[joint]);
                sum_of_both.put(&mut sum, joint);
            }
        }
    }
    let SoaQuat { x, y, z, w } = rest.rotation;
    or_rest_of_unmoved::<_, _, PARTIAL>(s, sum, first, moving, &[x, y, z, w])
}

/// A bit for each clip that moves a joint, for the four joints of a row.
type Moving = [u8; 4];

#[inline(always)]
fn moving_clips<const PARTIAL: bool>(clips: &[MeanClip], row: usize) -> Moving {
    let mut moving = [0; 4];
    if PARTIAL {
        // Of more clips, all weights are the same.
        for (index, clip) in clips.iter().take(MOST_OF_MOVING).enumerate() {
            let moved = clip.rows[row].moved;
            for (joint, moving) in moving.iter_mut().enumerate() {
                *moving |= (moved >> joint & 1) << index;
            }
        }
    }
    moving
}

/// Puts the rest pose in place of joints that no clip moves.
#[inline(always)]
fn or_rest_of_unmoved<S: Simd, const N: usize, const PARTIAL: bool>(
    s: S,
    numbers: Numbers<S, N>,
    first: &MeanClip,
    moving: Moving,
    rest: &[Vec4; N],
) -> Numbers<S, N> {
    if !PARTIAL || !first.of_moving {
        return numbers;
    }
    let moved = (0..4).fold(0, |moved, joint| {
        moved | u8::from(moving[joint] != 0) << joint
    });
    or_rest::<_, _, PARTIAL>(s, numbers, moved, rest)
}

impl MeanClip<'_> {
    /// The clip's weight at each of four joints.
    #[inline(always)]
    fn weights<S: Simd, const PARTIAL: bool>(&self, s: S, moving: Moving) -> [S::Pair; 4] {
        if !PARTIAL {
            return [s.load(&self.weight.0); 4];
        }
        let mut weights = [s.both(Vec4::ZERO); 4];
        for joint in 0..4 {
            let moving = usize::from(moving[joint]) % self.weights.len();
            weights[joint] = s.load(&self.weights[moving].0);
        }
        weights
    }

    /// A bit for each joint of a row that needs no rest pose in its place: where the clip moves it, or has no weight.
    #[inline(always)]
    fn filled(&self, row: usize) -> u8 {
        if self.of_moving {
            ALL_OF_ROW
        } else {
            self.rows[row].moved
        }
    }

    #[inline(always)]
    fn translations<S: Simd, const PARTIAL: bool>(
        &self,
        s: S,
        unpacked: &[UnpackedChannel],
        rest: &SoaTransform,
        row: usize,
    ) -> Numbers<S, 3> {
        let numbers = match self.rows[row].translation {
            ChannelSlot::Constant(at) => same_for_all(s, chunk(self.constants, at)),
            ChannelSlot::Sampled(at) => vectors(
                s,
                &self.times,
                #[inline(always)]
                |time| {
                    self.samples
                        .vectors(s, time.sample + at, Vec4::splat(time.fraction))
                },
            ),
            ChannelSlot::Packed(at) => vectors(
                s,
                &unpacked[self.unpacked + self.packed.quats.len() + at as usize],
                #[inline(always)]
                |&ChannelVectors([x, y, z, _])| Vectors4::read(s, &[x, y, z]),
            ),
            ChannelSlot::Rest => {
                let SoaVec3 { x, y, z } = self.rest[row].translation;
                same_for_all(s, &[x, y, z])
            }
        };
        let SoaVec3 { x, y, z } = rest.translation;
        or_rest::<_, _, PARTIAL>(s, numbers, self.filled(row), &[x, y, z])
    }

    #[inline(always)]
    fn rotations<S: Simd, const PARTIAL: bool>(
        &self,
        s: S,
        unpacked: &[UnpackedChannel],
        rest: &SoaTransform,
        row: usize,
    ) -> Numbers<S, 4> {
        let numbers = match self.rows[row].rotation {
            ChannelSlot::Constant(at) => same_for_all(s, chunk(self.constants, at)),
            ChannelSlot::Sampled(at) => quats(
                s,
                &self.times,
                #[inline(always)]
                |time| {
                    self.samples
                        .quats(s, time.sample + at, Vec4::splat(time.fraction))
                },
            ),
            ChannelSlot::Packed(at) => quats(
                s,
                &unpacked[self.unpacked + at as usize],
                #[inline(always)]
                |ChannelVectors(rows)| Quats4::read(s, rows),
            ),
            ChannelSlot::Rest => {
                let SoaQuat { x, y, z, w } = self.rest[row].rotation;
                same_for_all(s, &[x, y, z, w])
            }
        };
        let SoaQuat { x, y, z, w } = rest.rotation;
        or_rest::<_, _, PARTIAL>(s, numbers, self.filled(row), &[x, y, z, w])
    }
}

/// Puts the rest pose in place of joints without a bit in `moved`. If not `PARTIAL`, all have one.
#[inline(always)]
fn or_rest<S: Simd, const N: usize, const PARTIAL: bool>(
    s: S,
    mut numbers: Numbers<S, N>,
    moved: u8,
    rest: &[Vec4; N],
) -> Numbers<S, N> {
    if PARTIAL && moved != ALL_OF_ROW {
        for joint in 0..4 {
            if moved >> joint & 1 == 0 {
                for i in 0..N {
                    numbers[i][joint] = s.both(Vec4::splat(rest[i][joint]));
                }
            }
        }
    }
    numbers
}

/// Reads four vectors of each character.
#[inline(always)]
fn vectors<S: Simd, T>(
    s: S,
    lanes: &[T; PoseBatch::MOST],
    read: impl Fn(&T) -> Vectors4<S>,
) -> Numbers<S, 3> {
    each(
        s,
        lanes,
        #[inline(always)]
        |a, b| {
            let (a, b) = (read(a), read(b));
            let [x, y] = s.halves(a.xy, b.xy);
            [x, y, s.pair(a.z, b.z)]
        },
    )
}

/// Reads four quaternions of each character.
#[inline(always)]
fn quats<S: Simd, T>(
    s: S,
    lanes: &[T; PoseBatch::MOST],
    read: impl Fn(&T) -> Quats4<S>,
) -> Numbers<S, 4> {
    each(
        s,
        lanes,
        #[inline(always)]
        |a, b| {
            let (a, b) = (read(a), read(b));
            let ([x, y], [z, w]) = (s.halves(a.xy, b.xy), s.halves(a.zw, b.zw));
            [x, y, z, w]
        },
    )
}

/// Reads for all characters, two at a time, whose numbers share a pair.
#[inline(always)]
fn each<S: Simd, T, const N: usize>(
    s: S,
    [a, b, c, d, e, f, g, h]: &[T; PoseBatch::MOST],
    read: impl Fn(&T, &T) -> [S::Pair; N],
) -> Numbers<S, N> {
    // Not a loop, which would go through memory.
    let [ae, bf, cg, dh] = [read(a, e), read(b, f), read(c, g), read(d, h)];
    let mut out = [[s.both(Vec4::ZERO); 4]; N];
    for i in 0..N {
        out[i] = s.transposed([ae[i], bf[i], cg[i], dh[i]]);
    }
    out
}

/// Vectors or quaternions of four joints that all characters share.
#[inline(always)]
fn same_for_all<S: Simd, const N: usize>(s: S, rows: &[Vec4; N]) -> Numbers<S, N> {
    let mut out = [[s.both(Vec4::ZERO); 4]; N];
    for number in 0..N {
        for joint in 0..4 {
            out[number][joint] = s.both(Vec4::splat(rows[number][joint]));
        }
    }
    out
}

/// Scaled to unit length.
#[inline(always)]
fn normalized<S: Simd>(s: S, mut quats: Numbers<S, 4>) -> Numbers<S, 4> {
    for joint in 0..4 {
        let rotation = Rotation::<S>::of(&quats, joint).normalized(s);
        rotation.put(&mut quats, joint);
    }
    quats
}

/// The rotation of one joint of each character.
#[derive(Clone, Copy)]
struct Rotation<S: Simd>([S::Pair; 4]);

impl<S: Simd> Rotation<S> {
    #[inline(always)]
    fn of([x, y, z, w]: &Numbers<S, 4>, joint: usize) -> Self {
        Self([x[joint], y[joint], z[joint], w[joint]])
    }

    #[inline(always)]
    fn put(self, quats: &mut Numbers<S, 4>, joint: usize) {
        for (numbers, number) in quats.iter_mut().zip(self.0) {
            numbers[joint] = number;
        }
    }
}

impl<S: Simd> Rotations<S> for Rotation<S> {
    type Number = S::Pair;

    #[inline(always)]
    fn dot(self, s: S, other: Self) -> S::Pair {
        let ([x, y, z, w], [a, b, c, d]) = (self.0, other.0);
        s.add(s.fma(z, c, s.mul(x, a)), s.fma(w, d, s.mul(y, b)))
    }

    #[inline(always)]
    fn times(mut self, s: S, factor: S::Pair) -> Self {
        for i in 0..4 {
            self.0[i] = s.mul(self.0[i], factor);
        }
        self
    }

    #[inline(always)]
    fn plus(mut self, s: S, other: Self, factor: S::Pair) -> Self {
        for i in 0..4 {
            self.0[i] = s.fma(other.0[i], factor, self.0[i]);
        }
        self
    }

    #[inline(always)]
    fn one(s: S) -> S::Pair {
        s.both(Vec4::ONE)
    }

    #[inline(always)]
    fn product(s: S, a: S::Pair, b: S::Pair) -> S::Pair {
        s.mul(a, b)
    }

    #[inline(always)]
    fn ratio(s: S, a: S::Pair, b: S::Pair) -> S::Pair {
        s.div(a, b)
    }

    #[inline(always)]
    fn root(s: S, a: S::Pair) -> S::Pair {
        s.sqrt(a)
    }

    #[inline(always)]
    fn toward(s: S, weight: S::Pair, dot: S::Pair) -> S::Pair {
        s.with_signs(weight, s.add(dot, s.both(Vec4::ZERO)))
    }
}
