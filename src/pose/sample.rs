//! Sampling: a clip at a time, as a local pose.
//!
//! A time is two adjacent frames. Translations and scales go straight between them, rotations by
//! nlerp; a clip keeps neighbouring quaternions in one hemisphere, so no sign is looked at.

use super::product::{self, Product};
use super::row::{Row, Turns, Vectors};
use crate::model::{ChannelSlot, NumberRange, RowTracks, SkeletalClip, SoaTransform};
use glam::Vec4;

/// Reads a clip at a time into a local pose.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The clip, bound to the skeleton of `rest`.
    pub clip: &'a SkeletalClip,
    /// Seconds into the clip; clamped to `0..=duration`, and 0 where it is not a number.
    pub time: f64,
    /// The skeleton's rest pose, taken by joints that the clip does not move.
    pub rest: &'a [SoaTransform],
}

impl Sample<'_> {
    /// Writes the clip's local pose to `out`, as many rows as `rest` has.
    ///
    /// # Panics
    /// If `out` is shorter than `rest`; in debug builds also if the clip has another number of rows.
    pub fn run(&self, out: &mut [SoaTransform]) {
        debug_assert_eq!(self.clip.rows().len(), self.rest.len(), "the clip is not bound to this skeleton");
        product::dispatch!(self.run_with(&mut out[..self.rest.len()]));
    }

    #[inline(always)]
    fn run_with<P: Product>(&self, p: P, out: &mut [SoaTransform]) {
        let moment = Moment::new(self.clip, self.time);
        for (row, (out, rest)) in out.iter_mut().zip(self.rest).enumerate() {
            *out = *rest;
            if let Some(tracks) = moment.rows.get(row) {
                let pose = moment.row::<P, true>(p, tracks).normalized(p);
                *out = pose.transform(p).or(tracks.animated.cmpgt(Vec4::ZERO), rest);
            }
        }
    }
}

/// The two frames around a time, and the way between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameSpan {
    /// The frame at or before the time.
    pub first: usize,
    /// The next frame; `first` itself in a clip of one frame.
    pub second: usize,
    /// Way from the first to the second, 0..=1.
    pub fraction: f32,
}

impl FrameSpan {
    /// The frames around `time` seconds into `clip`, clamped as in [`Sample::time`].
    #[inline]
    pub fn new(clip: &SkeletalClip, time: f64) -> Self {
        let last = clip.frame_count() - 1;
        let length = clip.timing.duration;
        // What is not a number is not greater than 0.
        let share = if time > 0.0 && length > 0.0 { time.min(length) / length } else { 0.0 };
        // By way of 32 bits, which a processor converts at once; a clip has no more frames.
        let place = share * f64::from(last as u32);
        let first = (place as u32).min((last as u32).saturating_sub(1));
        let fraction = (place - f64::from(first)) as f32;
        Self { first: first as usize, second: (first as usize + 1).min(last), fraction }
    }
}

/// A clip held at a time: what sampling a row needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    pub(crate) rows: &'a [RowTracks],
    constants: &'a [Vec4],
    samples: Neighbours<'a, Vec4>,
    numbers: Neighbours<'a, [u16; 4]>,
    ranges: &'a [NumberRange],
    fraction: Vec4,
}

/// Two frames that follow each other in memory, or one that stands for both.
#[derive(Clone, Copy, Debug)]
struct Neighbours<'a, T> {
    both: &'a [T],
    /// From a vector of the first to that of the second.
    apart: u32,
}

impl<'a, T> Neighbours<'a, T> {
    #[inline]
    fn new(both: &'a [T], same: bool) -> Self {
        Self { both, apart: if same { 0 } else { both.len() as u32 / 2 } }
    }

    /// `N` vectors from `at` on, in the first and in the second frame. A clip's slots lie within its frames,
    /// by its construction: one look at both is enough.
    #[inline(always)]
    fn chunks<const N: usize>(&self, at: u32) -> (&'a [T; N], &'a [T; N]) {
        let from_to = &self.both[at as usize..at as usize + self.apart as usize + N];
        match (from_to.first_chunk(), from_to.last_chunk()) {
            (Some(first), Some(second)) => (first, second),
            _ => unreachable!("it holds at least N"),
        }
    }
}

impl<'a> Moment<'a> {
    // Inlined always: else what was just written in halves is read as a whole to be copied, and waits.
    #[inline(always)]
    pub(crate) fn new(clip: &'a SkeletalClip, time: f64) -> Self {
        let FrameSpan { first, second, fraction } = FrameSpan::new(clip, time);
        let same = first == second;
        Self {
            rows: clip.rows(),
            constants: clip.constants(),
            samples: Neighbours::new(clip.frames(first, second), same),
            numbers: Neighbours::new(clip.frames_of_numbers(first, second), same),
            ranges: clip.ranges(),
            fraction: Vec4::splat(fraction),
        }
    }

    /// Four joints. Rotations are not normalised: of a length between √½ and 1, since neighbours lie in
    /// one hemisphere.
    #[inline(always)]
    pub(crate) fn row<P: Product, const SCALE: bool>(&self, p: P, tracks: &RowTracks) -> Row<P, SCALE> {
        Row {
            translation: self.vectors(p, tracks.translation),
            rotation: self.turns(p, tracks.rotation),
            scale: if SCALE { self.vectors(p, tracks.scale) } else { Vectors::one(p) },
        }
    }

    #[inline(always)]
    fn vectors<P: Product>(&self, p: P, slot: ChannelSlot) -> Vectors<P> {
        match slot {
            ChannelSlot::Constant(slot) => Vectors::read(p, chunk(self.constants, slot)),
            ChannelSlot::Sampled(slot) => {
                let (first, second) = self.samples.chunks(slot);
                Vectors::read(p, first).lerp(p, Vectors::read(p, second), self.fraction)
            }
            ChannelSlot::Quantised(slot) => Vectors::read(p, &self.unpack(slot)),
        }
    }

    #[inline(always)]
    fn turns<P: Product>(&self, p: P, slot: ChannelSlot) -> Turns<P> {
        match slot {
            ChannelSlot::Constant(slot) => Turns::read(p, chunk(self.constants, slot)),
            ChannelSlot::Sampled(slot) => {
                let (first, second) = self.samples.chunks(slot);
                Turns::read(p, first).lerp(p, Turns::read(p, second), self.fraction)
            }
            ChannelSlot::Quantised(slot) => Turns::read(p, &self.unpack(slot)),
        }
    }
}

impl Moment<'_> {
    /// Quantised vectors: first between the numbers, then from numbers to values.
    #[inline(always)]
    fn unpack<const N: usize>(&self, at: u32) -> [Vec4; N] {
        let (first, second) = self.numbers.chunks::<N>(at);
        let ranges: &[NumberRange; N] = chunk(self.ranges, at);
        let mut out = [Vec4::ZERO; N];
        for (i, out) in out.iter_mut().enumerate() {
            let (first, second) = (floats(first[i]), floats(second[i]));
            *out = (first + (second - first) * self.fraction) * ranges[i].step + ranges[i].low;
        }
        out
    }
}

#[inline(always)]
fn floats([x, y, z, w]: [u16; 4]) -> Vec4 {
    Vec4::new(x.into(), y.into(), z.into(), w.into())
}

/// `N` vectors from `at` on. A clip's slots lie within its vectors, by its construction.
#[inline(always)]
fn chunk<T, const N: usize>(vectors: &[T], at: u32) -> &[T; N] {
    match vectors[at as usize..at as usize + N].first_chunk() {
        Some(chunk) => chunk,
        None => panic!("a channel lies outside its clip"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ClipFrames, ClipTiming, JointTransform};
    use glam::{Quat, Vec3};

    /// Joint 0 turns 0 → 1 → −1 rad about z in two seconds, joint 1 holds, joint 2 is not moved.
    fn clip() -> SkeletalClip {
        let turn = |angle: f32| JointTransform::new(Vec3::X * angle, Quat::from_rotation_z(angle));
        let hold = JointTransform::new(Vec3::Y, Quat::from_rotation_x(0.5));
        let frames = ClipFrames {
            joints: ["a", "b", "c"].into_iter().map(Into::into).collect(),
            animated: vec![true, true, false],
            transforms: [0.0, 1.0, -1.0].iter().flat_map(|&a| [turn(a), hold, JointTransform::IDENTITY]).collect(),
        };
        SkeletalClip::new(ClipTiming::new("turn", 2.0), &frames).unwrap()
    }

    fn sample(time: f64) -> SoaTransform {
        let rest = SoaTransform::rows(&[JointTransform::new(Vec3::Z, Quat::IDENTITY); 3]);
        let mut out = [SoaTransform::IDENTITY];
        Sample { clip: &clip(), time, rest: &rest }.run(&mut out);
        out[0]
    }

    #[test]
    fn frames_are_hit_exactly_and_halves_lie_between() {
        for (time, angle) in [(0.0, 0.0_f32), (0.5, 0.5), (1.0, 1.0), (1.5, 0.0), (2.0, -1.0)] {
            let joint = sample(time).get(0);
            assert!((joint.translation.x - angle).abs() < 1e-6);
            assert!(joint.rotation.angle_between(Quat::from_rotation_z(angle)) < 1e-3, "{time} {joint:?}");
        }
    }

    #[test]
    fn times_outside_the_clip_hold_its_ends_and_no_number_is_the_start() {
        for (time, like) in [(-1.0, 0.0), (f64::NEG_INFINITY, 0.0), (f64::NAN, 0.0), (3.0, 2.0), (f64::INFINITY, 2.0)] {
            assert_eq!(sample(time), sample(like), "{time}");
        }
    }

    #[test]
    fn joints_the_clip_does_not_move_rest() {
        assert_eq!(sample(0.7).get(2), JointTransform::new(Vec3::Z, Quat::IDENTITY));
        assert_eq!(sample(0.7).get(3), JointTransform::IDENTITY);
    }

    #[test]
    fn a_clip_without_length_is_its_single_pose() {
        let mut frames = clip().to_frames();
        frames.transforms.truncate(3);
        for duration in [0.0, f64::MIN_POSITIVE, 1.0] {
            let still = SkeletalClip::new(ClipTiming::new("still", duration), &frames).unwrap();
            for time in [0.0, 1.0, f64::INFINITY, f64::NAN] {
                assert_eq!(FrameSpan::new(&still, time), FrameSpan { first: 0, second: 0, fraction: 0.0 });
            }
        }
    }

    #[test]
    fn a_clip_of_no_length_with_frames_shows_its_first_and_of_hardly_any_stays_finite() {
        for duration in [0.0, 1e-320] {
            let clip = SkeletalClip::new(ClipTiming::new("short", duration), &clip().to_frames()).unwrap();
            for time in [0.0, duration, 1.0, f64::INFINITY, f64::NAN] {
                let span = FrameSpan::new(&clip, time);
                assert!((0.0..=1.0).contains(&span.fraction) && span.second <= 2, "{duration} {time} {span:?}");
            }
        }
    }
}
