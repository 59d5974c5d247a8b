//! Morph weights of a clip: rows of four, like joints, with frames of their own.
//!
//! The keys of a face are at other times than those of its joints, so neither is resampled for the other's sake.

use super::{
    ChannelSlot, ClipError, PackedNumbers, SkeletalClip,
    numbers::{Fitted, NumberFormat, NumberWriter},
};
use crate::model::{MorphIndex, Morphs};
use glam::Vec4;
use std::sync::Arc;

/// The weights of a clip's morph targets, frame by frame: the input of [`SkeletalClip::with_morphs`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MorphFrames {
    /// Names of the morph targets, one for each weight of a frame.
    pub names: Arc<[Arc<str>]>,
    /// `true` for each morph target that the clip moves; the weights of others are ignored. If empty, all move.
    pub animated: Vec<bool>,
    /// At least one frame of `names.len()` weights.
    pub weights: Vec<f32>,
    /// Seconds of each frame from 0 to the clip's duration, in order; empty if they are evenly spaced. Two frames at one
    /// time are a step, as in [`SkeletalClip::at_times`].
    pub times: Vec<f64>,
}

impl MorphFrames {
    /// Converts weights to differences from those of a pose.
    pub(crate) fn subtract(&mut self, pose: &[f32]) {
        for (weight, pose) in self.weights.iter_mut().zip(pose.iter().cycle()) {
            *weight -= pose;
        }
    }

    /// Puts the targets in the order of `morphs`, matched by name.
    pub(crate) fn bind(&mut self, morphs: &Morphs) {
        // Clips of the model's own file have the same targets.
        if self.names.is_empty() || *self.names == *morphs.names() {
            return;
        }
        let given = std::mem::take(self);
        let find = |name: &Arc<str>| given.names.iter().position(|n| n == name);
        let source: Vec<Option<usize>> = morphs.names().iter().map(find).collect();
        *self = Self {
            names: morphs.names().into(),
            animated: source
                .iter()
                .map(|s| s.is_some_and(|at| given.animated[at]))
                .collect(),
            weights: given
                .weights
                .chunks_exact(given.names.len())
                .flat_map(|frame| source.iter().map(move |s| s.map_or(0.0, |at| frame[at])))
                .collect(),
            times: given.times,
        };
    }

    /// Gives each morph target the weights of the one on the other side.
    pub(crate) fn mirror(&mut self, morphs: &Morphs) {
        let sides = morphs.other_sides();
        if self.names.is_empty() || sides.len() != self.names.len() {
            return;
        }
        let other = |at: usize| usize::from(sides[at]);
        for frame in self.weights.chunks_exact_mut(sides.len()) {
            // Pairs are mutual.
            (0..sides.len())
                .filter(|&at| at < other(at))
                .for_each(|at| frame.swap(at, other(at)));
        }
        if !self.animated.is_empty() {
            (0..sides.len())
                .filter(|&at| at < other(at))
                .for_each(|at| self.animated.swap(at, other(at)));
        }
    }
}

/// The weights of four morph targets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WeightTracks {
    /// A bit for each target that the clip moves, and for each lane after the last target.
    pub(crate) moved: u8,
    /// One vector.
    pub(crate) weights: ChannelSlot,
}

/// Curves of the morph weights that a clip moves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MorphCurves {
    pub(crate) names: Arc<[Arc<str>]>,
    pub(crate) frame_count: usize,
    /// Seconds of each frame; empty if they are evenly spaced.
    pub(crate) times: Vec<f64>,
    pub(crate) rows: Vec<WeightTracks>,
    pub(crate) constants: Vec<Vec4>,
    pub(crate) samples: Vec<Vec4>,
    pub(crate) stride: usize,
    pub(crate) numbers: Arc<PackedNumbers>,
    pub(crate) animates_all: bool,
}

impl SkeletalClip {
    /// Returns the clip with weights of morph targets, in place of those that it has. No names take them away.
    ///
    /// # Errors
    /// The frames are not whole, a weight is not finite, or the times are not as described.
    #[doc(hidden)]
    pub fn with_morphs(self, frames: &MorphFrames) -> Result<Self, ClipError> {
        let morphs = MorphCurves::new(&self.timing.name, self.timing.duration, frames)?;
        Ok(Self {
            morphs: morphs.map(Arc::new),
            ..self
        })
    }

    /// The same clip with smaller weights; see [`MorphCurves::quantized`].
    pub(crate) fn with_curves(self, morphs: Option<MorphCurves>) -> Self {
        Self {
            morphs: morphs.map(Arc::new),
            ..self
        }
    }

    /// Returns the names of the morph targets in the order of the clip's weights; empty if it moves none.
    pub fn morphs(&self) -> &[Arc<str>] {
        self.morphs.as_ref().map_or(&[], |morphs| &morphs.names)
    }

    /// Returns `true` if the clip moves a morph target.
    #[inline]
    pub fn animates_morphs(&self) -> bool {
        self.morphs.is_some()
    }

    /// Returns `true` if the clip moves this morph target.
    pub fn animates_morph(&self, morph: MorphIndex) -> bool {
        let (morph, known) = (usize::from(morph), self.morphs());
        let row = self.morphs.as_ref().and_then(|m| m.rows.get(morph / 4));
        row.is_some_and(|row| morph < known.len() && row.moved >> (morph % 4) & 1 == 1)
    }

    /// Returns the number of frames of the clip's weights, which have frames of their own; 0 if it moves none.
    pub fn morph_frame_count(&self) -> usize {
        self.morphs.as_ref().map_or(0, |morphs| morphs.frame_count)
    }

    /// Returns the weights this clip was made from; empty if it moves none.
    #[doc(hidden)]
    pub fn morph_frames(&self) -> MorphFrames {
        self.morphs
            .as_ref()
            .map_or_else(MorphFrames::default, |morphs| morphs.to_frames())
    }

    /// Returns the curves of morph weights, if the clip moves any.
    #[inline]
    pub(crate) fn morph_curves(&self) -> Option<&MorphCurves> {
        self.morphs.as_deref()
    }
}

/// A skeleton's morph targets have weights at rest, but a clip stores those that it moves.
pub(crate) const NEVER_AT_REST: &str = "weights are stored";

impl MorphCurves {
    /// `None` if nothing moves.
    pub(super) fn new(
        clip: &Arc<str>,
        duration: f64,
        frames: &MorphFrames,
    ) -> Result<Option<Self>, ClipError> {
        let count = frames.names.len();
        let weights = frames.weights.len();
        if count == 0 {
            return Ok(None);
        }
        if weights == 0 || !weights.is_multiple_of(count) {
            return Err(ClipError::NotWholeWeights {
                clip: clip.clone(),
                weights,
                morphs: count,
            });
        }
        let frame_count = weights / count;
        let times = &frames.times;
        let ordered = times.len() == frame_count
            && times[0] == 0.0
            && times[frame_count - 1] == duration
            && times.is_sorted();
        if !times.is_empty() && !ordered {
            return Err(ClipError::BadTimes {
                clip: clip.clone(),
                frames: frame_count,
                duration,
            });
        }
        let animated = |at: usize| {
            let given = frames.animated.get(at).copied();
            given.unwrap_or(frames.animated.is_empty())
        };
        if !(0..count).any(animated) {
            return Ok(None);
        }
        let at = |morph: usize, frame: usize| frames.weights[frame * count + morph];
        let (mut rows, mut constants, mut sampled) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..count.div_ceil(4) {
            let members = || (row * 4..count.min(row * 4 + 4)).filter(|&at| animated(at));
            // Lanes after the last target count as moved, as those after the last joint do.
            let after = count.max(row * 4)..row * 4 + 4;
            let mut moved = after.fold(0, |moved, lane| moved | 1 << (lane % 4));
            let mut first = Vec4::ZERO;
            let mut is_constant = true;
            for morph in members() {
                moved |= 1 << (morph % 4);
                first[morph % 4] = at(morph, 0);
                for frame in 0..frame_count {
                    if !at(morph, frame).is_finite() {
                        return Err(ClipError::WeightNotFinite {
                            clip: clip.clone(),
                            frame,
                            morph: frames.names[morph].clone(),
                        });
                    }
                    is_constant &= at(morph, frame) == first[morph % 4];
                }
            }
            // A constant row takes one vector, rather than one per frame.
            let weights = if is_constant {
                constants.push(first);
                ChannelSlot::Constant(constants.len() as u32 - 1)
            } else {
                sampled.push(row);
                ChannelSlot::Sampled(sampled.len() as u32 - 1)
            };
            rows.push(WeightTracks { moved, weights });
        }
        let mut samples = Vec::with_capacity(sampled.len() * frame_count);
        for frame in 0..frame_count {
            for &row in &sampled {
                let mut vector = Vec4::ZERO;
                for morph in (row * 4..count.min(row * 4 + 4)).filter(|&at| animated(at)) {
                    vector[morph % 4] = at(morph, frame);
                }
                samples.push(vector);
            }
        }
        Ok(Some(Self {
            names: frames.names.clone(),
            frame_count,
            times: if frame_count > 1 {
                times.clone()
            } else {
                Vec::new()
            },
            rows,
            constants,
            samples,
            stride: sampled.len(),
            numbers: Arc::default(),
            animates_all: (0..count).all(animated),
        }))
    }

    /// The weight of a target at a frame; 0 for one that the clip does not move.
    pub(crate) fn weight_at(&self, morph: usize, frame: usize) -> f32 {
        let lane = morph % 4;
        match self.rows[morph / 4].weights {
            ChannelSlot::Constant(at) => self.constants[at as usize][lane],
            ChannelSlot::Sampled(at) => self.samples[frame * self.stride + at as usize][lane],
            ChannelSlot::Packed(at) => {
                self.numbers.read(&self.numbers.weights[at as usize], frame)[0][lane]
            }
            ChannelSlot::Rest => unreachable!("{NEVER_AT_REST}"),
        }
    }

    /// The same weights in numbers that are off by about `tolerances` at most, one for each target. Rows that need more than
    /// a number holds stay as they are.
    pub(crate) fn quantized(&self, tolerances: &[f32]) -> Self {
        let (mut formats, mut writer) = (Vec::new(), NumberWriter::default());
        let (mut constants, mut kept) = (self.constants.clone(), Vec::new());
        let mut rows = self.rows.clone();
        let frames =
            || (0..self.frame_count).map(|f| &self.samples[f * self.stride..][..self.stride]);
        for (row, tracks) in rows.iter_mut().enumerate() {
            let ChannelSlot::Sampled(at) = tracks.weights else {
                continue;
            };
            let values = || frames().map(|frame| frame[at as usize]);
            let low = values().fold(Vec4::MAX, Vec4::min);
            let high = values().fold(Vec4::MIN, Vec4::max);
            let tolerance = std::array::from_fn(|lane| {
                tolerances.get(row * 4 + lane).copied().unwrap_or_default()
            });
            let tolerance = Vec4::from_array(tolerance);
            let fitted = NumberFormat::fit([low], [high], [tolerance], [Vec4::NAN]);
            tracks.weights = match fitted {
                Some(Fitted::Still([weights])) => {
                    constants.push(weights);
                    ChannelSlot::Constant(constants.len() as u32 - 1)
                }
                Some(Fitted::Numbers(mut format)) => {
                    writer.add(&mut format, at as usize);
                    formats.push(format);
                    ChannelSlot::Packed(formats.len() as u32 - 1)
                }
                None => {
                    kept.push(at as usize);
                    ChannelSlot::Sampled(kept.len() as u32 - 1)
                }
            };
        }
        let samples = frames().flat_map(|frame| kept.iter().map(|&at| frame[at]));
        Self {
            rows,
            constants,
            samples: samples.collect(),
            stride: kept.len(),
            numbers: Arc::new(PackedNumbers {
                weights: formats,
                ..writer.finish(frames())
            }),
            ..self.clone()
        }
    }

    /// The farthest that each target's weight is from that of `other`, which has the same frames.
    pub(crate) fn farthest_from(&self, other: &Self) -> Vec<f32> {
        let farthest = |morph: usize| {
            (0..self.frame_count)
                .map(|frame| (self.weight_at(morph, frame) - other.weight_at(morph, frame)).abs())
                .fold(0.0, f32::max)
        };
        (0..self.names.len()).map(farthest).collect()
    }

    pub(super) fn to_frames(&self) -> MorphFrames {
        let count = self.names.len();
        MorphFrames {
            names: self.names.clone(),
            animated: (0..count)
                .map(|at| self.rows[at / 4].moved >> (at % 4) & 1 == 1)
                .collect(),
            weights: (0..self.frame_count * count)
                .map(|i| self.weight_at(i % count, i / count))
                .collect(),
            times: self.times.clone(),
        }
    }

    /// Bytes of the weights.
    pub(super) fn bytes(&self) -> usize {
        let tables = size_of_val(&self.rows[..]) + size_of_val(&self.times[..]);
        let vectors = size_of_val(&self.constants[..]) + size_of_val(&self.samples[..]);
        tables + self.numbers.bytes() + vectors
    }
}

#[cfg(test)]
#[path = "tests/morphs.rs"]
mod tests;
