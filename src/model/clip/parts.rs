//! A clip from finished channels, and what they reach: for importers that know which channels change.

use super::{ChannelSlot, RowTracks, SkeletalClip};
use crate::model::ClipTiming;
use glam::Vec4;
use std::sync::Arc;

/// A clip's channels as a [`SkeletalClip`] keeps them.
#[derive(Debug)]
pub(crate) struct ClipParts {
    /// Joint names, four to a row.
    pub(crate) joints: Arc<[Arc<str>]>,
    /// At least one.
    pub(crate) frame_count: usize,
    /// Slots are [`ChannelSlot::Constant`] or [`ChannelSlot::Sampled`].
    pub(crate) rows: Vec<RowTracks>,
    /// Finite; the identity in lanes that the clip does not move, and past the last joint.
    pub(crate) constants: Vec<Vec4>,
    /// Frame by frame, likewise. Rotations need not be of unit length yet, but nearly.
    pub(crate) samples: Vec<Vec4>,
}

impl ClipParts {
    /// Vectors of one frame.
    pub(crate) fn stride(&self) -> usize {
        self.samples.len() / self.frame_count.max(1)
    }

    /// Brings the rotations to unit length, each in the hemisphere of the frame before it.
    pub(crate) fn unite_rotations(&mut self) {
        let stride = self.stride();
        let mut places = Vec::new();
        for row in &self.rows {
            match row.rotation {
                ChannelSlot::Constant(at) => make_unit(&mut self.constants[at as usize..][..4], None),
                ChannelSlot::Sampled(at) => places.push(at as usize),
                ChannelSlot::Quantised(_) => {}
            }
        }
        // Frame by frame, as they lie in memory: row by row, each would wait for its own frame before.
        for frame in 0..if places.is_empty() { 0 } else { self.frame_count } {
            let (before, frame) = self.samples.split_at_mut(frame * stride);
            let before = before.rchunks_exact(stride).next();
            for &at in &places {
                make_unit(&mut frame[at..][..4], before.map(|before| &before[at..][..4]));
            }
        }
    }

    /// Whether some channel that is sampled is the same in every frame after all.
    pub(crate) fn has_still_samples(&self) -> bool {
        let stride = self.stride();
        let still = |slot: ChannelSlot, count: usize| match slot {
            ChannelSlot::Sampled(at) => {
                let of_frame = |frame: usize| &self.samples[frame * stride + at as usize..][..count];
                (1..self.frame_count).all(|frame| of_frame(frame) == of_frame(0))
            }
            _ => false,
        };
        self.rows.iter().any(|row| still(row.translation, 3) || still(row.rotation, 4) || still(row.scale, 3))
    }

    /// The clip.
    pub(crate) fn into_clip(self, timing: ClipTiming) -> SkeletalClip {
        let joints = self.joints.len();
        let lanes = |row: usize| (0..4).filter(move |lane| row * 4 + lane < joints);
        let moves = |(row, tracks): (usize, &RowTracks)| lanes(row).all(|lane| tracks.animated[lane] > 0.0);
        let unit = |tracks: &RowTracks| match tracks.scale {
            ChannelSlot::Constant(at) => self.constants[at as usize..][..3] == [Vec4::ONE; 3],
            _ => false,
        };
        SkeletalClip {
            timing,
            additive: false,
            animates_all: self.rows.iter().enumerate().all(moves),
            unit_scale: self.rows.iter().all(unit),
            stride: self.stride(),
            joints: self.joints,
            frame_count: self.frame_count,
            rows: self.rows,
            constants: self.constants,
            samples: self.samples,
            numbers: Vec::new(),
            ranges: Vec::new(),
            quantisation: None,
        }
    }
}

/// Brings four rotations to unit length, each in the hemisphere of the one before it.
#[inline]
fn make_unit(rotations: &mut [Vec4], before: Option<&[Vec4]>) {
    let q = [rotations[0], rotations[1], rotations[2], rotations[3]];
    let squares = dot(q, q);
    let length = Vec4::new(squares.x.sqrt(), squares.y.sqrt(), squares.z.sqrt(), squares.w.sqrt());
    let mut unit = [q[0] / length, q[1] / length, q[2] / length, q[3] / length];
    if let Some(before) = before {
        let turned = dot([before[0], before[1], before[2], before[3]], unit).cmplt(Vec4::ZERO);
        unit.iter_mut().for_each(|v| *v = Vec4::select(turned, -*v, *v));
    }
    rotations.copy_from_slice(&unit);
}

/// Four scalar products, summed in the order in which glam's `Quat` does.
#[inline]
pub(crate) fn dot(a: [Vec4; 4], b: [Vec4; 4]) -> Vec4 {
    (a[0] * b[0] + a[2] * b[2]) + (a[1] * b[1] + a[3] * b[3])
}

impl SkeletalClip {
    /// Per joint, the longest translation and the largest scale, by amount, of any frame.
    pub(crate) fn largest(&self) -> Vec<(f64, f64)> {
        let mut largest = vec![(0.0_f64, 0.0_f64); self.joints.len()];
        for (row, lanes) in self.rows.iter().zip(largest.chunks_mut(4)) {
            // In f64: squares of what f32 can hold are beyond it.
            self.each_of(row.translation, |[x, y, z]| {
                let (x, y, z) = (x.as_dvec4(), y.as_dvec4(), z.as_dvec4());
                let squares = x * x + y * y + z * z;
                lanes.iter_mut().zip(squares.to_array()).for_each(|(lane, square)| lane.0 = lane.0.max(square));
            });
            lanes.iter_mut().for_each(|lane| lane.0 = lane.0.sqrt());
            self.each_of(row.scale, |[x, y, z]| {
                let scales = x.abs().max(y.abs()).max(z.abs()).as_dvec4();
                lanes.iter_mut().zip(scales.to_array()).for_each(|(lane, scale)| lane.1 = lane.1.max(scale));
            });
        }
        largest
    }

    /// The different values of a channel of three vectors.
    fn each_of(&self, slot: ChannelSlot, mut each: impl FnMut([Vec4; 3])) {
        match slot {
            ChannelSlot::Constant(at) => {
                let at = at as usize;
                each([self.constants[at], self.constants[at + 1], self.constants[at + 2]]);
            }
            ChannelSlot::Sampled(at) => (0..self.frame_count).for_each(|frame| {
                let frame = &self.frame(frame)[at as usize..];
                each([frame[0], frame[1], frame[2]]);
            }),
            ChannelSlot::Quantised(at) => (0..self.frame_count).for_each(|frame| {
                let (numbers, ranges) = (&self.numbers(frame)[at as usize..], &self.ranges[at as usize..]);
                each([0, 1, 2].map(|i| Vec4::from_array(numbers[i].map(f32::from)) * ranges[i].step + ranges[i].low));
            }),
        }
    }
}
