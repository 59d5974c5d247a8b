//! Means of clips: eight characters that play the same clips, each at its own time and with its own weights.
//!
//! The place of each channel is then looked up only once for all of them, and constant channels are
//! read only once. Clips are sampled one character after the other, four joints at a time, and
//! blended with a character in each lane. All operations are those of [`Mix`](crate::pose::Mix), in
//! the same order.

use super::{
    PoseBatch,
    lanes::{Joints, Lanes},
};
use crate::controller::BlendMode;
use crate::model::{
    ChannelSlot, PackedNumbers, RowTracks, SkeletalClip, SoaQuat, SoaTransform, SoaVec3,
};
use crate::pose::{
    ClipLayer, Evaluate, FrameSpan,
    blend::{inverse, reached},
    joint_weights::{Common, JointWeights},
    mix::{lacks_weight, share},
    packed::{Quats4, Vectors4},
    row::ALL_OF_ROW,
    sample::{FramePair, chunk},
    simd::{
        Simd,
        numbers::{ChannelVectors, Moments},
    },
    unpack::Channels,
};
use glam::Vec4;
use std::{ops::Range, ptr};

/// A clip that eight characters play.
#[derive(Debug)]
pub(super) struct MeanClip<'a> {
    rows: &'a [RowTracks],
    constants: &'a [Vec4],
    rest: &'a [SoaTransform],
    moves_all: bool,
    samples: FramePair<'a, Vec4>,
    packed: &'a PackedNumbers,
    /// The moments of all characters, if the clip is compressed.
    moments: Moments<'a, { PoseBatch::MOST }>,
    /// The frame that each character is at.
    times: [FrameTime; PoseBatch::MOST],
    /// The place of its channels among all that are unpacked.
    unpacked: usize,
    /// Sums to one over the clips.
    weight: Lanes,
    /// The same at joints that only some of the clips move, for each set of clips: one bit per clip.
    weights: [Lanes; 1 << MOST_OF_MOVING],
    /// `true` if a clip has no weight at joints that it doesn't move, rather than the rest pose in its place.
    of_moving: bool,
}

/// The most clips whose weights depend on which of them move a joint.
const MOST_OF_MOVING: usize = 3;

/// The start of a frame in the list of samples, and the position between it and the next frame.
#[derive(Clone, Copy, Debug, Default)]
struct FrameTime {
    sample: u32,
    fraction: f32,
}

/// The vectors of a channel of compressed clips, for each character.
pub(super) type UnpackedChannel = [ChannelVectors; PoseBatch::MOST];

/// Vectors or quaternions for each character: `N` numbers of four joints.
type Numbers<S, const N: usize> = [[<S as Simd>::Pair; 4]; N];

/// Returns `true` if a pose is nothing but the mean of its layers, without scales and with the same weights at all joints.
pub(super) fn is_mean(pose: &Evaluate) -> bool {
    let Evaluate {
        skeleton,
        layers,
        inertia,
        ..
    } = *pose;
    let [first, ..] = layers else { return false };
    // A single layer with a mask or a scale needs the general kernel.
    let counts = |layer: &ClipLayer| {
        layer.mask.is_none()
            && layer.priority == first.priority
            && layer.effective_mode() == BlendMode::Blend
            && layer.weight > 0.0
            && layer.weight < f32::INFINITY
            && layer.clip.unit_scale()
            && layer.clip.rows().len() == skeleton.rows()
    };
    inertia.is_none()
        && skeleton.unit_scale()
        && layers.iter().all(counts)
        && match joint_weights(layers) {
            JointWeights::Same => true,
            JointWeights::OfMoving => layers.len() <= MOST_OF_MOVING,
            JointWeights::Other => false,
        }
        && !lacks_weight(layers.iter())
}

fn joint_weights(layers: &[ClipLayer]) -> JointWeights {
    // The usual case takes no further look.
    if layers.iter().all(|layer| layer.clip.animates_all()) {
        JointWeights::Same
    } else {
        Common::of::<SoaTransform>(layers).joint_weights()
    }
}

/// Fills the list with the clips that all characters play, and makes room for unpacking them. Returns `false` if they don't play
/// the same, or no clips.
///
/// Lanes without a character repeat the first.
pub(super) fn find_clips<'a, 'l>(
    characters: usize,
    layers_of: impl Fn(usize) -> &'l [ClipLayer<'a>],
    clips: &mut Vec<MeanClip<'a>>,
    unpacked: &mut Vec<UnpackedChannel>,
) -> bool
where
    'a: 'l,
{
    clips.clear();
    let first = layers_of(0);
    let same = |lane| {
        let layers: &[ClipLayer] = layers_of(lane);
        // Clips are compared by address: equal copies are rare, and comparing contents would cost
        // more than it saves.
        layers.len() == first.len()
            && layers
                .iter()
                .zip(first)
                .all(|(a, b)| ptr::eq(a.clip, b.clip))
    };
    if first.is_empty() || !(1..characters).all(same) {
        return false;
    }
    // In double precision, no sum of weights over- or underflows.
    let mut totals = [0.0; PoseBatch::MOST];
    for (lane, total) in totals.iter_mut().enumerate() {
        let lane = if lane < characters { lane } else { 0 };
        layers_of(lane)
            .iter()
            .for_each(|layer| *total += f64::from(layer.weight));
    }
    let mut end = 0;
    for (index, layer) in first.iter().enumerate() {
        let mut clip = MeanClip::new(layer.clip);
        let channels = clip.packed.channels();
        for (lane, total) in totals.iter().enumerate() {
            let layer = &layers_of(if lane < characters { lane } else { 0 })[index];
            let span = FrameSpan::new(layer.clip, layer.time);
            clip.times[lane] = clip.time(&span);
            if channels > 0 {
                let frames = [span.first, span.second];
                clip.moments.set(lane, frames, span.fraction);
            }
            clip.weight.0[lane / 4][lane % 4] = share(layer.weight, *total);
        }
        clip.unpacked = end;
        end += channels;
        clips.push(clip);
    }
    // All is overwritten, so memory only grows.
    if unpacked.len() < end {
        unpacked.resize(end, Default::default());
    }
    if clips.iter().all(MeanClip::moves_all) {
        return true;
    }
    // The same clips can be layers of the base for one character, and tracks beside each other for the next.
    let weights = joint_weights(first);
    let same = |lane| joint_weights(layers_of(lane)) == weights;
    let found = (1..characters).all(same) && weigh_joints(clips, weights);
    if !found {
        // An empty list says so when the next part asks.
        clips.clear();
    }
    found
}

/// Finds the weights of clips at joints that only some of them move, as [`Mix`](crate::pose::Mix) does. Returns `false` if a
/// character's clips weigh so little there that the joint counts as not moved.
fn weigh_joints(clips: &mut [MeanClip], weights: JointWeights) -> bool {
    if weights == JointWeights::Same {
        for clip in clips {
            clip.weights = [clip.weight; 1 << MOST_OF_MOVING];
        }
        return true;
    }
    for moving in 1..1 << clips.len() {
        for half in 0..2 {
            let weight = |index: usize, clip: &MeanClip| {
                clip.weight.0[half] * f32::from(moving >> index & 1 == 1)
            };
            let weights = clips
                .iter()
                .enumerate()
                .map(|(index, clip)| weight(index, clip));
            let total = weights.reduce(|sum, next| sum + next).expect(NO_CLIPS);
            if !reached(total).cmpgt(Vec4::ZERO).all() {
                return false;
            }
            for (index, clip) in clips.iter_mut().enumerate() {
                clip.weights[moving].0[half] = weight(index, clip) * inverse(total);
                clip.of_moving = true;
            }
        }
    }
    true
}

/// The rows that are unpacked at a time: few enough to be still in the nearest cache when they are blended.
const ROWS_AT_ONCE: usize = 4;

/// Unpacks the next rows of compressed clips, from `first` on. Returns the first row that isn't unpacked, as far as any has to be.
#[inline(never)]
pub(super) fn unpack_rows(
    clips: &[MeanClip],
    unpacked: &mut [UnpackedChannel],
    first: usize,
) -> usize {
    let mut next = usize::MAX;
    for clip in clips {
        let count = clip.packed.channels();
        if count > 0 {
            next = first + ROWS_AT_ONCE;
            let rows = &clip.rows[first..next.min(clip.rows.len())];
            let channels = Channels {
                quats: packed_channels(rows.iter().map(|row| row.rotation)),
                vectors: packed_channels(rows.iter().map(|row| row.translation)),
                ..Channels::default()
            };
            let out = &mut unpacked[clip.unpacked..][..count];
            channels.unpack(clip.packed, &clip.moments, out);
        }
    }
    next
}

/// The range of channels that are stored as numbers of a few bits.
fn packed_channels(slots: impl Iterator<Item = ChannelSlot>) -> Range<usize> {
    let (mut start, mut end) = (usize::MAX, 0);
    for slot in slots {
        if let ChannelSlot::Packed(at) = slot {
            (start, end) = (start.min(at as usize), end.max(at as usize + 1));
        }
    }
    start.min(end)..end
}

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
                // Both share a square root; see `PackedTransforms::mix`.
                let (aa, bb) = (dot(s, &sum, &sum, joint), dot(s, &next, &next, joint));
                let both = s.mul(aa, bb);
                let turn = s.mul(first_weight[joint], bb);
                let next_turn = s.mul(weight[joint], s.sqrt(both));
                let next_turn = toward(s, next_turn, dot(s, &sum, &next, joint));
                for i in 0..4 {
                    sum[i][joint] = s.fma(next[i][joint], next_turn, s.mul(sum[i][joint], turn));
                }
                squares[joint] = s.mul(both, bb);
            }
        } else {
            for joint in 0..4 {
                // Scales the next rotation as the sum was scaled, so that weights stay in proportion.
                let factor = s.sqrt(s.div(squares[joint], dot(s, &next, &next, joint)));
                let turn = toward(s, s.mul(weight[joint], factor), dot(s, &sum, &next, joint));
                for i in 0..4 {
                    sum[i][joint] = s.fma(next[i][joint], turn, sum[i][joint]);
                }
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

const NO_CLIPS: &str = "a mean has clips";

impl<'a> MeanClip<'a> {
    // All frames, unlike in `SamplePoint`: each character is at another one.
    fn new(clip: &'a SkeletalClip) -> Self {
        let count = clip.frame_count();
        Self {
            rows: clip.rows(),
            constants: clip.constants(),
            rest: clip.rest(),
            moves_all: clip.animates_all(),
            samples: FramePair::new(clip.frames(0, count - 1), count),
            packed: clip.numbers(),
            moments: Moments::new(clip.numbers()),
            times: Default::default(),
            unpacked: 0,
            weight: Lanes::default(),
            weights: Default::default(),
            of_moving: false,
        }
    }

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

    /// A bit for each joint of a row for which the rest pose doesn't stand in. Where a clip has no weight, it needn't.
    #[inline(always)]
    fn reached(&self, row: usize) -> u8 {
        if self.of_moving {
            ALL_OF_ROW
        } else {
            self.rows[row].moved
        }
    }

    /// Returns `true` if the clip moves every joint.
    pub(super) fn moves_all(&self) -> bool {
        self.moves_all
    }

    #[inline(always)]
    fn time(&self, span: &FrameSpan) -> FrameTime {
        FrameTime {
            sample: span.first as u32 * self.samples.stride(),
            fraction: span.fraction,
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
        or_rest::<_, _, PARTIAL>(s, numbers, self.reached(row), &[x, y, z])
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
        or_rest::<_, _, PARTIAL>(s, numbers, self.reached(row), &[x, y, z, w])
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

/// Scaled to unit length, by the operations of [`Quats4::normalized`](crate::pose::packed::Quats4::normalized).
#[inline(always)]
fn normalized<S: Simd>(s: S, mut quats: Numbers<S, 4>) -> Numbers<S, 4> {
    for joint in 0..4 {
        let factor = s.div(s.both(Vec4::ONE), s.sqrt(dot(s, &quats, &quats, joint)));
        for number in &mut quats {
            number[joint] = s.mul(number[joint], factor);
        }
    }
    quats
}

/// The product of [`Quats4::dot`](crate::pose::packed::Quats4::dot).
#[inline(always)]
fn dot<S: Simd>(s: S, a: &Numbers<S, 4>, b: &Numbers<S, 4>, joint: usize) -> S::Pair {
    let xz = s.fma(a[2][joint], b[2][joint], s.mul(a[0][joint], b[0][joint]));
    s.add(
        xz,
        s.fma(a[3][joint], b[3][joint], s.mul(a[1][joint], b[1][joint])),
    )
}

/// [`toward`](crate::pose::soa::toward) in each lane.
#[inline(always)]
fn toward<S: Simd>(s: S, weight: S::Pair, dot: S::Pair) -> S::Pair {
    s.with_signs(weight, s.add(dot, s.both(Vec4::ZERO)))
}
