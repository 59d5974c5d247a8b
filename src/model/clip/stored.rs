//! Clips as files keep them: as they are in memory, without what follows from the rest.

use super::{
    ChannelSlot, MorphCurves, NumberFormat, PackedNumbers, Quantization, RowTracks, SkeletalClip,
    WeightTracks,
    numbers::{BEHIND, MOST_BITS, WINDOW_BITS, step},
};
use crate::model::{ClipTiming, Morphs, RootPath, Skeleton};
use glam::Vec4;
use std::sync::Arc;

/// The contents of a [`SkeletalClip`].
#[derive(Clone, Debug)]
pub(crate) struct ClipParts {
    pub(crate) timing: ClipTiming,
    pub(crate) additive: bool,
    pub(crate) root_path: Option<Arc<RootPath>>,
    pub(crate) rate: Option<f64>,
    pub(crate) quantization: Option<Quantization>,
    pub(crate) transforms: ClipTransforms,
    pub(crate) morphs: Option<Arc<MorphCurves>>,
}

/// The part that clips can share.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClipTransforms {
    pub(crate) frame_count: usize,
    pub(crate) times: Arc<[f64]>,
    pub(crate) rows: Arc<[RowTracks]>,
    pub(crate) constants: Arc<[Vec4]>,
    pub(crate) samples: Arc<[Vec4]>,
    pub(crate) stride: usize,
    pub(crate) numbers: Arc<PackedNumbers>,
}

impl SkeletalClip {
    pub(crate) fn parts(&self) -> ClipParts {
        ClipParts {
            timing: self.timing.clone(),
            additive: self.additive,
            root_path: self.root_path.clone(),
            rate: self.rate,
            quantization: self.quantization,
            transforms: ClipTransforms {
                frame_count: self.frame_count,
                times: self.times.clone(),
                rows: self.rows.clone(),
                constants: self.constants.clone(),
                samples: self.samples.clone(),
                stride: self.stride,
                numbers: self.numbers.clone(),
            },
            morphs: self.morphs.clone(),
        }
    }

    /// Returns `true` if [`Self::from_parts`] makes the same clip of its parts.
    pub(crate) fn is_whole_with(&self, skeleton: &Skeleton) -> bool {
        self.fits(skeleton) && (self.rest.is_empty() || self.rest == *skeleton.shared_rest())
    }

    /// # Errors
    /// Something is out of range, or doesn't fit together.
    pub(crate) fn from_parts(parts: ClipParts, skeleton: &Skeleton) -> Result<Self, &'static str> {
        let transforms = parts.transforms;
        let duration = parts.timing.duration;
        // Shorter ones have a frame rate that isn't finite.
        let is_time = duration == 0.0 || duration >= 1e-100;
        if !(duration.is_finite() && is_time) {
            return Err("its duration is not a time");
        }
        let is_rate = |rate: f64| rate.is_finite() && rate > 0.0;
        if !parts.rate.is_none_or(is_rate) {
            return Err("its frame rate is not a number above 0");
        }
        check_callbacks(&parts.timing)?;
        transforms.check(duration, skeleton)?;
        if let Some(curves) = &parts.morphs {
            curves.check(duration)?;
            if *curves.names != *skeleton.morphs().names() {
                return Err("it moves morph targets that aren't there");
            }
        }
        let rows = &transforms.rows;
        let mut moved = vec![0; skeleton.len().div_ceil(64)];
        let moves = |joint: usize| rows[joint / 4].moved >> (joint % 4) & 1 == 1;
        (0..skeleton.len())
            .filter(|&joint| moves(joint))
            .for_each(|joint| moved[joint / 64] |= 1 << (joint % 64));
        let is_at_rest = |row: &RowTracks| {
            [row.translation, row.rotation, row.scale].contains(&ChannelSlot::Rest)
        };
        let unit_scale = |(row, rest): (&RowTracks, &super::SoaTransform)| match row.scale {
            ChannelSlot::Constant(at) => transforms.constants[at as usize..][..3] == [Vec4::ONE; 3],
            ChannelSlot::Rest => [rest.scale.x, rest.scale.y, rest.scale.z] == [Vec4::ONE; 3],
            ChannelSlot::Sampled(_) | ChannelSlot::Packed(_) => false,
        };
        Ok(Self {
            timing: parts.timing,
            additive: parts.additive,
            joints: skeleton.names().clone(),
            root_path: parts.root_path,
            frame_count: transforms.frame_count,
            rate: parts.rate,
            stride: transforms.stride,
            rest: match rows.iter().any(is_at_rest) {
                true => skeleton.shared_rest().clone(),
                false => Arc::default(),
            },
            quantization: parts.quantization,
            unit_scale: rows.iter().zip(skeleton.rest()).all(unit_scale),
            animates_all: (0..skeleton.len()).all(moves),
            moved: moved.into(),
            morphs: parts.morphs,
            times: transforms.times,
            rows: transforms.rows,
            constants: transforms.constants,
            samples: transforms.samples,
            numbers: transforms.numbers,
        })
    }
}

fn check_callbacks(timing: &ClipTiming) -> Result<(), &'static str> {
    let within = |from: f64, time: f64| from <= time && time <= timing.duration;
    let sound = timing.callbacks.is_sorted_by(|a, b| a.time <= b.time)
        && timing.callbacks.iter().all(|key| {
            within(0.0, key.time) && key.until.is_none_or(|until| within(key.time, until))
        });
    if sound {
        Ok(())
    } else {
        Err("its callback keys are not within it, in order")
    }
}

/// Returns an error unless there is one time for each frame, from 0 to the duration, in order, or none at all.
fn check_times(times: &[f64], frames: usize, duration: f64) -> Result<(), &'static str> {
    let sound = match times {
        [] => frames > 0,
        [first, .., last] => {
            times.len() == frames && *first == 0.0 && *last == duration && times.is_sorted()
        }
        [_] => false,
    };
    if sound {
        Ok(())
    } else {
        Err("its frames are not from its start to its end, in order")
    }
}

const OUT_OF_RANGE: &str = "it has a channel whose values aren't there";

/// The longest component of a rotation, which has been rounded.
const MOST_OF_ROTATION: f32 = 1.001;

/// The longest component that the bits of a compressed rotation can say. Bits say more than is used.
const MOST_PACKED: f32 = 100.0;

/// The least length of the sum of two rotations that follow each other.
const LEAST_SUM: f32 = 0.2;

impl NumberFormat<4> {
    /// The least and the largest number of a lane that its bits can say.
    fn range(&self, vector: usize, lane: usize) -> [f32; 2] {
        let (low, step) = (self.low(vector, lane), step(self.steps[vector][lane]));
        let numbers = match u32::from(self.widths()[vector][lane]) {
            MOST_BITS => [-32768.0, 32767.0],
            width => [0.0, ((1 << width) - 1) as f32],
        };
        numbers.map(|number| low + number * step)
    }

    /// Returns `true` if no rotation is so long that its square overflows.
    fn is_never_long(&self) -> bool {
        let is_near = |[least, most]: [f32; 2]| least > -MOST_PACKED && most < MOST_PACKED;
        (0..4).all(|lane| (0..4).all(|vector| is_near(self.range(vector, lane))))
    }

    /// Returns `true` if each rotation has a component that is far from 0 on the same side in every frame, as nearly all have.
    fn is_never_short(&self) -> bool {
        let is_far = |[least, most]: [f32; 2]| least > LEAST_SUM || most < -LEAST_SUM;
        (0..4).all(|lane| (0..4).any(|vector| is_far(self.range(vector, lane))))
    }
}

impl ClipTransforms {
    /// Returns `true` if something in it takes a byte or more for each frame.
    pub(crate) fn has_frames(&self) -> bool {
        self.stride > 0 || self.numbers.stride > 0 || !self.times.is_empty()
    }

    fn check(&self, duration: f64, skeleton: &Skeleton) -> Result<(), &'static str> {
        check_times(&self.times, self.frame_count, duration)?;
        if self.rows.len() != skeleton.rows() {
            return Err("it is for another number of joints");
        }
        self.numbers.check(self.frame_count)?;
        if Some(self.samples.len()) != self.stride.checked_mul(self.frame_count) {
            return Err("it has not as many values as frames");
        }
        // Frame by frame, as they lie in memory.
        let mut longest = vec![Vec4::ZERO; self.stride];
        for frame in self.samples.chunks_exact(self.stride.max(1)) {
            let all = longest.iter_mut().zip(frame);
            all.for_each(|(most, value)| *most = most.max(value.abs()));
        }
        let joints = skeleton.len();
        for (at, row) in self.rows.iter().enumerate() {
            // Lanes after the last joint count as moved.
            let after = (joints.min(at * 4 + 4) - at * 4..4).fold(0, |bits, lane| bits | 1 << lane);
            if row.moved > 0b1111 || row.moved & after != after {
                return Err("it moves joints that aren't there");
            }
            self.check_channel(row.translation, 3, self.numbers.vectors.len())?;
            self.check_channel(row.rotation, 4, self.numbers.quats.len())?;
            self.check_channel(row.scale, 3, self.numbers.vectors.len())?;
            let is_short = |all: &[Vec4]| {
                let component = |v: &Vec4| v.abs().max_element() <= MOST_OF_ROTATION;
                all.iter().all(component)
            };
            let sound = match row.rotation {
                ChannelSlot::Constant(at) => is_short(&self.constants[at as usize..][..4]),
                ChannelSlot::Sampled(at) => is_short(&longest[at as usize..][..4]),
                ChannelSlot::Packed(_) | ChannelSlot::Rest => true,
            };
            if !sound {
                return Err("a rotation is longer than one");
            }
            if !self.has_directions(row.rotation) {
                return Err("a rotation has no direction");
            }
        }
        Ok(())
    }

    /// Returns `true` if no rotation of a row is so short, in a frame or between two, that nothing is left of it to normalize.
    fn has_directions(&self, slot: ChannelSlot) -> bool {
        let four = |from: &[Vec4], at: u32| std::array::from_fn(|i| from[at as usize + i]);
        let is_long = |a: [Vec4; 4], b: [Vec4; 4]| {
            let squares = (0..4).map(|i| (a[i] + b[i]) * (a[i] + b[i]));
            squares.sum::<Vec4>().min_element() >= LEAST_SUM * LEAST_SUM
        };
        let all_long = |mut frames: Box<dyn Iterator<Item = [Vec4; 4]> + '_>| {
            let mut before = frames.next().unwrap_or([Vec4::ONE; 4]);
            is_long(before, before)
                && frames.all(|next| {
                    is_long(next, next) && is_long(std::mem::replace(&mut before, next), next)
                })
        };
        match slot {
            ChannelSlot::Rest => true,
            ChannelSlot::Constant(at) => {
                all_long(Box::new(std::iter::once(four(&self.constants, at))))
            }
            ChannelSlot::Sampled(at) => {
                let frames = self.samples.chunks_exact(self.stride);
                all_long(Box::new(frames.map(|frame| four(frame, at))))
            }
            ChannelSlot::Packed(at) => {
                let format = &self.numbers.quats[at as usize];
                let frames = (0..self.frame_count).map(|frame| self.numbers.read(format, frame));
                format.is_never_long() && (format.is_never_short() || all_long(Box::new(frames)))
            }
        }
    }

    fn check_channel(
        &self,
        slot: ChannelSlot,
        vectors: usize,
        packed: usize,
    ) -> Result<(), &'static str> {
        let sound = match slot {
            ChannelSlot::Constant(at) => at as usize + vectors <= self.constants.len(),
            ChannelSlot::Sampled(at) => at as usize + vectors <= self.stride,
            ChannelSlot::Packed(at) => (at as usize) < packed,
            ChannelSlot::Rest => true,
        };
        if sound { Ok(()) } else { Err(OUT_OF_RANGE) }
    }
}

impl MorphCurves {
    /// Returns `true` if something in it takes a byte or more for each frame.
    pub(crate) fn has_frames(&self) -> bool {
        self.stride > 0 || self.numbers.stride > 0 || !self.times.is_empty()
    }

    fn check(&self, duration: f64) -> Result<(), &'static str> {
        check_times(&self.times, self.frame_count, duration)?;
        self.numbers.check(self.frame_count)?;
        if self.rows.len() != self.names.len().div_ceil(4)
            || Some(self.samples.len()) != self.stride.checked_mul(self.frame_count)
        {
            return Err("it has not as many weights as morph targets");
        }
        let is_sound = |tracks: &WeightTracks| {
            tracks.moved <= 0b1111
                && match tracks.weights {
                    ChannelSlot::Constant(at) => (at as usize) < self.constants.len(),
                    ChannelSlot::Sampled(at) => (at as usize) < self.stride,
                    ChannelSlot::Packed(at) => (at as usize) < self.numbers.weights.len(),
                    ChannelSlot::Rest => false,
                }
        };
        if !self.rows.iter().all(is_sound) {
            return Err(OUT_OF_RANGE);
        }
        let is_small = |v: &Vec4| v.abs().max_element() <= Morphs::MOST_WEIGHT;
        let is_packed_small =
            |format: &NumberFormat<1>| format.unit.abs() <= Morphs::MOST_WEIGHT / 32768.0;
        if (self.constants.iter().all(is_small) && self.samples.iter().all(is_small))
            && self.numbers.weights.iter().all(is_packed_small)
        {
            Ok(())
        } else {
            Err("a weight is implausibly large")
        }
    }
}

impl PackedNumbers {
    fn check(&self, frame_count: usize) -> Result<(), &'static str> {
        let bytes = self.stride.checked_mul(frame_count);
        let bytes = match self.stride {
            0 => bytes,
            _ => bytes.and_then(|bytes| bytes.checked_add(BEHIND)),
        };
        let fits = (self.vectors.iter().all(|format| self.holds(format)))
            && self.quats.iter().all(|format| self.holds(format))
            && self.weights.iter().all(|format| self.holds(format));
        // Nothing is behind frames without numbers.
        let is_empty = self.stride == 0 && self.channels() > 0;
        if bytes == Some(self.frames.len()) && fits && !is_empty {
            Ok(())
        } else {
            Err("it has numbers that are outside of its frames")
        }
    }

    /// Returns `true` if all numbers of a channel lie in a frame, and can be read as they are.
    fn holds<const N: usize>(&self, format: &NumberFormat<N>) -> bool {
        let (byte, mut before) = (format.start / 8 * 8, format.start % 8);
        let mut window = 0;
        for (vector, ends) in format.ends.iter().enumerate() {
            // Two vectors are read from a window.
            if vector % 2 == 0 {
                window = before / 8 * 8;
            }
            for end in ends.map(u32::from) {
                if end < before || end - before > MOST_BITS || end - window > WINDOW_BITS {
                    return false;
                }
                before = end;
            }
        }
        // The lowest number there can be is finite, too.
        let unit = format.unit * f32::from(i16::MIN);
        unit.is_finite() && byte as usize + before as usize <= self.stride.saturating_mul(8)
    }
}
