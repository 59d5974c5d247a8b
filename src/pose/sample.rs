//! Sampling: reading a clip at a time.
//!
//! A time falls between two adjacent frames: found by a multiplication if frames are evenly spaced, and
//! by a binary search if not. Translations and scales are interpolated linearly,
//! rotations by nlerp; a clip keeps neighboring quaternions in one hemisphere, so no sign is tested.

use super::packed::{PackedTransforms, Quats4, Vectors4};
use super::simd::{
    Simd,
    numbers::{ChannelVectors, Moments},
};
use super::unpack::Channels;
use crate::model::{
    ChannelSlot, JointTransform, NEVER_AT_REST, PackedNumbers, RowTracks, SkeletalClip, SoaQuat,
    SoaTransform, SoaVec3, WeightTracks,
};
use glam::Vec4;

/// The two frames around a time, and the position between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameSpan {
    /// The frame at or before the time.
    pub first: usize,
    /// The next frame; equal to `first` in a clip of one frame.
    pub second: usize,
    /// Position between the two, 0..=1.
    pub fraction: f32,
}

impl FrameSpan {
    /// Finds the frames around `time` seconds into `clip`. The time is clamped to `0..=duration`; NaN counts as 0.
    #[inline]
    pub fn new(clip: &SkeletalClip, time: f64) -> Self {
        if let Some(times) = clip.frame_times() {
            return Self::among(times, time);
        }
        Self::even(clip.frame_count(), clip.timing.duration, time)
    }

    /// The frames around `time` among evenly spaced frames.
    #[inline(always)]
    fn even(count: usize, length: f64, time: f64) -> Self {
        let last = count - 1;
        // NaN is not greater than 0.
        let progress = if time > 0.0 && length > 0.0 {
            time.min(length) / length
        } else {
            0.0
        };
        // By way of 32 bits, which a processor converts in one instruction; no clip has more frames.
        let place = progress * f64::from(last as u32);
        // The last frame is the second of a span, at fraction 1: every span is two frames that are
        // adjacent in memory.
        let first = (place as u32).min((last as u32).saturating_sub(1));
        let fraction = (place - f64::from(first)) as f32;
        Self {
            first: first as usize,
            second: (first as usize + 1).min(last),
            fraction,
        }
    }

    /// The frames around `time` among frames at `times`, at least two, from 0 on.
    #[inline(never)]
    fn among(times: &[f64], time: f64) -> Self {
        let last = times.len() - 1;
        let second = match time {
            time if time >= times[last] => {
                return Self {
                    first: last - 1,
                    second: last,
                    fraction: 1.0,
                };
            }
            time if time > 0.0 => times.partition_point(|&frame| frame < time),
            // NaN, too.
            _ => {
                return Self {
                    first: 0,
                    second: 1,
                    fraction: 0.0,
                };
            }
        };
        // The first is earlier than `time` and the second is not, so they are some time apart.
        let (from, to) = (times[second - 1], times[second]);
        Self {
            first: second - 1,
            second,
            fraction: ((time - from) / (to - from)) as f32,
        }
    }

    /// The moment between both frames, for unpacking.
    #[inline(always)]
    fn moment<'a>(&self, packed: &'a PackedNumbers) -> Moments<'a, 1> {
        let mut moments = Moments::new(packed);
        moments.set(0, [self.first, self.second], self.fraction);
        moments
    }

    /// Returns one joint of `clip` at this time; the identity for a joint that the clip does not animate.
    ///
    /// # Panics
    /// If the joint or a frame is out of range.
    pub fn transform(&self, clip: &SkeletalClip, joint: usize) -> JointTransform {
        let (a, b) = (
            clip.transform_at(joint, self.first),
            clip.transform_at(joint, self.second),
        );
        JointTransform {
            translation: a.translation + (b.translation - a.translation) * self.fraction,
            rotation: (a.rotation + (b.rotation - a.rotation) * self.fraction).normalize(),
            scale: a.scale + (b.scale - a.scale) * self.fraction,
        }
    }
}

/// A clip at a time, ready to be sampled row by row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SamplePoint<'a, T = RowTracks> {
    pub(crate) rows: &'a [T],
    /// The part of its weight by which a pose reaches each joint; empty for a clip.
    pub(crate) reach: &'a [Vec4],
    constants: &'a [Vec4],
    rest: &'a [SoaTransform],
    samples: FramePair<'a, Vec4>,
    packed: &'a PackedNumbers,
    moment: Moments<'a, 1>,
    /// What [`Self::unpack`] has read.
    unpacked: &'a [[ChannelVectors; 1]],
    fraction: Vec4,
}

/// Two frames that are adjacent in memory, or one frame that is both. Others may follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct FramePair<'a, T> {
    frames: &'a [T],
    /// Distance from a vector of the first frame to the same vector of the second.
    stride: u32,
}

impl<'a, T> FramePair<'a, T> {
    /// `count` frames, where the second of a pair follows the first unless there is only one.
    #[inline]
    pub(super) fn new(frames: &'a [T], count: usize) -> Self {
        Self {
            frames,
            stride: if count > 1 {
                (frames.len() / count) as u32
            } else {
                0
            },
        }
    }

    /// Distance from a frame to the next; 0 if there is none.
    pub(super) fn stride(&self) -> u32 {
        self.stride
    }

    /// `N` vectors from `at` on, and the same vectors of the next frame. A clip's constructor keeps slots
    /// within its frames, so one bounds check covers both.
    #[inline(always)]
    fn chunks<const N: usize>(&self, at: u32) -> (&'a [T; N], &'a [T; N]) {
        let range = &self.frames[at as usize..at as usize + self.stride as usize + N];
        match (range.first_chunk(), range.last_chunk()) {
            (Some(first), Some(second)) => (first, second),
            _ => unreachable!("it holds at least N"),
        }
    }
}

impl FramePair<'_, Vec4> {
    #[inline(always)]
    pub(super) fn vectors<S: Simd>(&self, s: S, at: u32, fraction: Vec4) -> Vectors4<S> {
        let (first, second) = self.chunks(at);
        Vectors4::read(s, first).lerp(s, Vectors4::read(s, second), fraction)
    }

    #[inline(always)]
    pub(super) fn quats<S: Simd>(&self, s: S, at: u32, fraction: Vec4) -> Quats4<S> {
        let (first, second) = self.chunks(at);
        Quats4::read(s, first).lerp(s, Quats4::read(s, second), fraction)
    }
}

impl<'a> SamplePoint<'a> {
    // Always inlined: otherwise copying the result stalls on the halves that were just written.
    #[inline(always)]
    pub(crate) fn new(clip: &'a SkeletalClip, time: f64) -> Self {
        let span = FrameSpan::new(clip, time);
        let FrameSpan { first, second, .. } = span;
        let count = second - first + 1;
        Self {
            rows: clip.rows(),
            reach: &[],
            constants: clip.constants(),
            rest: clip.rest(),
            samples: FramePair::new(clip.frames(first, second), count),
            packed: clip.numbers(),
            moment: span.moment(clip.numbers()),
            unpacked: &[],
            fraction: Vec4::splat(span.fraction),
        }
    }

    /// Four joints. Rotations are not normalized: their length is between √½ and 1, since neighbors lie
    /// in one hemisphere.
    #[inline(always)]
    pub(crate) fn row<S: Simd, const SCALE: bool>(
        &self,
        s: S,
        row: usize,
    ) -> PackedTransforms<S, SCALE> {
        let tracks = &self.rows[row];
        PackedTransforms {
            translation: match tracks.translation {
                ChannelSlot::Rest => read_vectors(s, &self.rest[row].translation),
                slot => self.vectors(s, slot),
            },
            rotation: match tracks.rotation {
                ChannelSlot::Constant(at) => Quats4::read(s, chunk(self.constants, at)),
                ChannelSlot::Sampled(at) => self.samples.quats(s, at, self.fraction),
                ChannelSlot::Packed(at) => Quats4::read(s, &self.unpacked[at as usize][0].0),
                ChannelSlot::Rest => read_quats(s, &self.rest[row].rotation),
            },
            scale: match tracks.scale {
                _ if !SCALE => Vectors4::one(s),
                ChannelSlot::Rest => read_vectors(s, &self.rest[row].scale),
                slot => self.vectors(s, slot),
            },
        }
    }

    /// Vectors that the clip stores.
    #[inline(always)]
    fn vectors<S: Simd>(&self, s: S, slot: ChannelSlot) -> Vectors4<S> {
        match slot {
            ChannelSlot::Constant(at) => Vectors4::read(s, chunk(self.constants, at)),
            ChannelSlot::Sampled(at) => self.samples.vectors(s, at, self.fraction),
            ChannelSlot::Packed(at) => {
                let [ChannelVectors([x, y, z, _])] =
                    self.unpacked[self.packed.quats.len() + at as usize];
                Vectors4::read(s, &[x, y, z])
            }
            ChannelSlot::Rest => unreachable!("the rest pose has them"),
        }
    }
}

impl<'a, T> SamplePoint<'a, T> {
    /// The number of channels to unpack.
    #[inline(always)]
    pub(super) fn packed_channels(&self) -> usize {
        self.packed.channels()
    }

    /// Reads the channels that are stored as numbers of a few bits into `memory`, which has a place for each.
    pub(super) fn unpack(&mut self, memory: &'a mut [[ChannelVectors; 1]]) {
        Channels::all(self.packed).unpack(self.packed, &self.moment, memory);
        self.unpacked = memory;
    }

    /// A pose instead of a clip: `rows` point to `constants`, and count by `reach`.
    pub(crate) fn of_pose(rows: &'a [T], constants: &'a [Vec4], reach: &'a [Vec4]) -> Self {
        Self {
            rows,
            reach,
            constants,
            rest: &[],
            samples: FramePair::new(&[], 1),
            packed: const { &PackedNumbers::NONE },
            moment: Moments::of_frames(&[], 0),
            unpacked: &[],
            fraction: Vec4::ZERO,
        }
    }
}

impl<'a> SamplePoint<'a, WeightTracks> {
    /// The weights of a clip at a time; without rows if it moves none.
    #[inline(always)]
    pub(crate) fn of_weights(clip: &'a SkeletalClip, time: f64) -> Self {
        let Some(curves) = clip.morph_curves() else {
            return Self::of_pose(&[], &[], &[]);
        };
        let span = match &curves.times[..] {
            [] => FrameSpan::even(curves.frame_count, clip.timing.duration, time),
            times => FrameSpan::among(times, time),
        };
        let FrameSpan { first, second, .. } = span;
        // A clip of one frame has no second one. `FramePair` then takes the first for both.
        let (count, stride) = (second - first + 1, curves.stride);
        // Both frames in one slice, as `FramePair` expects them.
        let samples = &curves.samples[first * stride..(second + 1) * stride];
        Self {
            rows: &curves.rows,
            reach: &[],
            constants: &curves.constants,
            rest: &[],
            samples: FramePair::new(samples, count),
            packed: &curves.numbers,
            moment: span.moment(&curves.numbers),
            unpacked: &[],
            fraction: Vec4::splat(span.fraction),
        }
    }

    /// Four weights; 0 for targets that the clip doesn't move.
    #[inline(always)]
    pub(crate) fn weights<S: Simd>(&self, s: S, row: usize) -> Vec4 {
        let Some(tracks) = self.rows.get(row) else {
            return Vec4::ZERO;
        };
        match tracks.weights {
            ChannelSlot::Constant(at) => chunk::<_, 1>(self.constants, at)[0],
            ChannelSlot::Sampled(at) => {
                let ([first], [second]) = self.samples.chunks(at);
                s.fma_row(*second - *first, self.fraction, *first)
            }
            ChannelSlot::Packed(at) => self.unpacked[at as usize][0].0[0],
            ChannelSlot::Rest => unreachable!("{NEVER_AT_REST}"),
        }
    }
}

#[inline(always)]
pub(super) fn read_vectors<S: Simd>(s: S, &SoaVec3 { x, y, z }: &SoaVec3) -> Vectors4<S> {
    Vectors4::read(s, &[x, y, z])
}

#[inline(always)]
pub(super) fn read_quats<S: Simd>(s: S, &SoaQuat { x, y, z, w }: &SoaQuat) -> Quats4<S> {
    Quats4::read(s, &[x, y, z, w])
}

/// `N` vectors from `at` on, which a clip's constructor keeps within its vectors.
#[inline(always)]
pub(super) fn chunk<T, const N: usize>(vectors: &[T], at: u32) -> &[T; N] {
    match vectors[at as usize..at as usize + N].first_chunk() {
        Some(chunk) => chunk,
        None => panic!("a channel lies outside its clip"),
    }
}

#[cfg(test)]
#[path = "tests/sample.rs"]
mod tests;
