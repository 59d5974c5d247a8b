//! Clips: sampled joint transforms, four joints to a row.
//!
//! Sampling a clip reads two adjacent frames. Channels that never change are stored once, and
//! neighboring quaternions lie in one hemisphere, so sampling needs no sign test. Frames are evenly
//! spaced, unless they were given times of their own.

mod build;
mod cut;
mod frames;
mod morphs;
mod numbers;
mod quantize;
mod raw;
mod stored;

pub use frames::{ClipError, ClipFrames};
pub use morphs::MorphFrames;
pub(crate) use morphs::{MorphCurves, NEVER_AT_REST, WeightTracks};
#[cfg(target_arch = "x86_64")]
pub(crate) use numbers::SixteenNumbers;
pub(crate) use numbers::{FrameShares, NumberFormat, PackedNumbers, STEP_BASE, STEP_SHIFT, number};
pub(crate) use quantize::Tolerance;
pub(crate) use raw::RawClip;
pub(crate) use stored::{ClipParts, ClipTransforms};

use super::{ClipTiming, JointTransform, RootPath, SoaQuat, SoaTransform, SoaVec3};
use glam::Vec4;
use std::sync::Arc;

/// The place of a stored channel (translation, rotation or scale) of four joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChannelSlot {
    /// The same in every frame: index of its first vector among the constants.
    Constant(u32),
    /// Index of its first vector within each frame.
    Sampled(u32),
    /// Index of its format among those of [`PackedNumbers`].
    Packed(u32),
    /// As in the skeleton's rest pose.
    Rest,
}

/// The channels of four joints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RowTracks {
    /// A bit for each joint that the clip moves, and for each lane after the last joint.
    pub(crate) moved: u8,
    /// Three vectors: x, y, z of four joints.
    pub(crate) translation: ChannelSlot,
    /// Four vectors: x, y, z, w of four joints.
    pub(crate) rotation: ChannelSlot,
    /// Three vectors: x, y, z of four joints.
    pub(crate) scale: ChannelSlot,
}

/// Returns 1 in the lanes of bits that are set, and 0 in the others.
#[inline(always)]
pub(crate) fn lanes_of(bits: u8) -> Vec4 {
    const LANES: [Vec4; 16] = {
        let mut lanes = [Vec4::ZERO; 16];
        let mut bits = 0;
        while bits < 16 {
            let [x, y, z, w] = [bits & 1, bits >> 1 & 1, bits >> 2 & 1, bits >> 3];
            lanes[bits] = Vec4::new(x as f32, y as f32, z as f32, w as f32);
            bits += 1;
        }
        lanes
    };
    LANES[usize::from(bits % 16)]
}

/// Returns the seconds from the start of a clip to a frame. Without `times`, frames are evenly spaced.
fn frame_time(times: &[f64], frame_count: usize, duration: f64, frame: usize) -> f64 {
    let even = || duration * frame as f64 / frame_count.saturating_sub(1).max(1) as f64;
    times.get(frame).copied().unwrap_or_else(even)
}

/// A clip for the joints of a skeleton, as a row of frames.
///
/// A clip whose [joint names](Self::joints) are those of a skeleton, in its order, fits that
/// skeleton as it is; [`Self::bind`] makes it fit any other. Clones share the transforms.
#[derive(Clone, Debug, PartialEq)]
pub struct SkeletalClip {
    /// Name, length, playback and callback keys.
    pub timing: ClipTiming,
    /// `true` if the clip holds differences to add to another pose.
    pub additive: bool,
    joints: Arc<[Arc<str>]>,
    root_path: Option<Arc<RootPath>>,
    frame_count: usize,
    /// Seconds of each frame; empty if they are evenly spaced.
    times: Arc<[f64]>,
    rate: Option<f64>,
    rows: Arc<[RowTracks]>,
    constants: Arc<[Vec4]>,
    samples: Arc<[Vec4]>,
    stride: usize,
    numbers: Arc<PackedNumbers>,
    /// The rest pose of the skeleton; empty if no channel is stored as [`ChannelSlot::Rest`].
    rest: Arc<[SoaTransform]>,
    quantization: Option<Quantization>,
    unit_scale: bool,
    animates_all: bool,
    /// A bit for each joint that the clip moves.
    moved: Arc<[u64]>,
    /// The curves of morph weights; `None` if the clip moves none.
    morphs: Option<Arc<MorphCurves>>,
}

/// The effect of compressing a clip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quantization {
    /// [`SkeletalClip::bytes`] of the original clip.
    pub bytes_before: usize,
    /// Largest distance measured between the skin under this clip and under the original, in model units.
    pub error: f32,
}

impl SkeletalClip {
    /// Returns the names of the joints.
    pub fn joints(&self) -> &Arc<[Arc<str>]> {
        &self.joints
    }

    /// Returns the movement of the character by the clip, if it has root motion: the part that was
    /// extracted from its pose. See
    /// [`Manifest::root_motion`](crate::import::Manifest::root_motion).
    #[doc(hidden)]
    pub fn root_path(&self) -> Option<&Arc<RootPath>> {
        self.root_path.as_ref()
    }

    /// Sets the movement of the character by the clip. The pose stays as it is.
    #[doc(hidden)]
    pub fn set_root_path(&mut self, path: Option<Arc<RootPath>>) {
        self.root_path = path;
    }

    /// Returns the number of frames, at least one.
    pub fn frame_count(&self) -> usize {
        self.frame_count
    }

    /// Returns the frames per second in which an artist counts: those of the clip's file, although the clip may have frames
    /// between them. `None` if the file's frames are not evenly spaced, or if there is only one.
    pub fn frame_rate(&self) -> Option<f64> {
        self.rate
    }

    /// Returns the seconds from the start to each frame, or `None` if frames are evenly spaced. Two equal times are a
    /// step.
    #[inline]
    pub fn frame_times(&self) -> Option<&[f64]> {
        if self.times.is_empty() {
            None
        } else {
            Some(&self.times)
        }
    }

    /// Returns the seconds from the start to a frame.
    pub fn frame_time(&self, frame: usize) -> f64 {
        frame_time(&self.times, self.frame_count, self.timing.duration, frame)
    }

    /// Returns a time at which sampling shows nothing but this frame: its own, or next to a step
    /// the closest one on its side.
    pub(crate) fn time_showing(&self, frame: usize) -> f64 {
        let time = self.frame_time(frame);
        let at_end = time == self.timing.duration;
        let steps_to = |other: usize| self.times.get(other) == Some(&time);
        if !at_end && frame > 0 && steps_to(frame - 1) {
            time.next_up()
        } else if at_end && steps_to(frame + 1) {
            time.next_down()
        } else {
            time
        }
    }

    /// Returns the places of the channels of each four joints.
    pub(crate) fn rows(&self) -> &[RowTracks] {
        &self.rows
    }

    /// Vectors of the channels that never change.
    pub(crate) fn constants(&self) -> &[Vec4] {
        &self.constants
    }

    /// Vectors of one frame's sampled channels. Panics if `frame` is out of range.
    pub(crate) fn frame(&self, frame: usize) -> &[Vec4] {
        self.frames(frame, frame)
    }

    /// The same for a run of frames, `last` included.
    #[inline]
    pub(crate) fn frames(&self, first: usize, last: usize) -> &[Vec4] {
        &self.samples[first * self.stride..(last + 1) * self.stride]
    }

    /// Numbers of the compressed channels.
    #[inline]
    pub(crate) fn numbers(&self) -> &PackedNumbers {
        &self.numbers
    }

    /// The rest pose, for channels that are as in it.
    #[inline]
    pub(crate) fn rest(&self) -> &[SoaTransform] {
        &self.rest
    }

    /// Returns the effect of compressing the clip; `None` if it is not compressed.
    #[doc(hidden)]
    pub fn quantization(&self) -> Option<Quantization> {
        self.quantization
    }

    /// Returns `true` if the clip moves every joint.
    pub fn animates_all(&self) -> bool {
        self.animates_all
    }

    /// Returns `true` if another clip for the same skeleton moves the same joints.
    #[inline]
    pub(crate) fn moves_the_same_joints(&self, other: &Self) -> bool {
        (self.animates_all && other.animates_all) || self.moved == other.moved
    }

    /// Returns `true` if every scale of every frame is exactly one.
    pub fn unit_scale(&self) -> bool {
        self.unit_scale
    }

    /// Returns the bytes that the transform data takes. Clones share it.
    pub fn bytes(&self) -> usize {
        let numbers = self.numbers.bytes();
        let path = self.root_path.as_ref().map_or(0, |path| path.bytes());
        let morphs = self.morphs.as_ref().map_or(0, |morphs| morphs.bytes());
        let tables = size_of_val(&self.rows[..]) + size_of_val(&self.times[..]) + path + morphs;
        size_of_val(&self.constants[..]) + size_of_val(&self.samples[..]) + numbers + tables
    }

    /// Returns `true` if the clip moves a joint.
    pub fn animates(&self, joint: usize) -> bool {
        let bits = self.moved.get(joint / 64);
        bits.is_some_and(|bits| bits >> (joint % 64) & 1 == 1)
    }

    /// Returns a joint's transform at a frame; the identity for joints that the clip does not move.
    ///
    /// # Panics
    /// If `joint` or `frame` is out of range.
    pub fn transform_at(&self, joint: usize, frame: usize) -> JointTransform {
        assert!(frame < self.frame_count);
        let (row, lane) = (joint / 4, joint % 4);
        let rotation = self.rotations_at(row, frame).get(lane);
        JointTransform {
            translation: self.translations_at(row, frame).get(lane),
            // Components are rounded one by one, so the length is off.
            rotation: if matches!(self.rows[row].rotation, ChannelSlot::Packed(_)) {
                rotation.normalize()
            } else {
                rotation
            },
            scale: self.scales_at(row, frame).get(lane),
        }
    }

    /// The translations of a row's joints at a frame.
    pub(super) fn translations_at(&self, row: usize, frame: usize) -> SoaVec3 {
        self.vectors(self.rows[row].translation, frame)
            .unwrap_or_else(|| self.rest[row].translation)
    }

    /// The rotations of a row's joints at a frame; compressed ones are only nearly of unit length.
    pub(crate) fn rotations_at(&self, row: usize, frame: usize) -> SoaQuat {
        let slot = self.rows[row].rotation;
        let packed = |at| self.numbers.read(&self.numbers.quats[at as usize], frame);
        match self.stored(slot, frame, packed) {
            Some([x, y, z, w]) => SoaQuat { x, y, z, w },
            None => self.rest[row].rotation,
        }
    }

    /// The scales of a row's joints at a frame.
    pub(super) fn scales_at(&self, row: usize, frame: usize) -> SoaVec3 {
        self.vectors(self.rows[row].scale, frame)
            .unwrap_or_else(|| self.rest[row].scale)
    }

    fn vectors(&self, slot: ChannelSlot, frame: usize) -> Option<SoaVec3> {
        let packed = |at| self.numbers.read(&self.numbers.vectors[at as usize], frame);
        let [x, y, z] = self.stored(slot, frame, packed)?;
        Some(SoaVec3 { x, y, z })
    }

    /// The vectors of a channel at a frame; `None` if they are those of the rest pose.
    fn stored<const N: usize>(
        &self,
        slot: ChannelSlot,
        frame: usize,
        packed: impl Fn(u32) -> [Vec4; N],
    ) -> Option<[Vec4; N]> {
        let first = |from: &[Vec4], at: u32| std::array::from_fn(|i| from[at as usize..][..N][i]);
        match slot {
            ChannelSlot::Constant(at) => Some(first(&self.constants, at)),
            ChannelSlot::Sampled(at) => Some(first(self.frame(frame), at)),
            ChannelSlot::Packed(at) => Some(packed(at)),
            ChannelSlot::Rest => None,
        }
    }

    /// Equal for clips that share their transforms.
    pub(crate) fn frames_key(&self) -> usize {
        // The address of shared data identifies it.
        Arc::as_ptr(&self.rows) as *const RowTracks as usize
    }

    /// Returns the frames that this clip was made from, with rotations normalized and in one hemisphere.
    pub fn to_frames(&self) -> ClipFrames {
        let joints = self.joints.len();
        ClipFrames {
            joints: self.joints.clone(),
            animated: (0..joints).map(|j| self.animates(j)).collect(),
            transforms: (0..self.frame_count * joints)
                .map(|i| self.transform_at(i % joints, i / joints))
                .collect(),
        }
    }

    /// Renames the joints. A list of the wrong length is ignored.
    pub fn rename_joints(&mut self, names: Arc<[Arc<str>]>) {
        if names.len() == self.joints.len() {
            self.joints = names;
        }
    }
}

#[cfg(test)]
#[path = "tests/clip.rs"]
mod tests;
