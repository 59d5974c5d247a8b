//! Clips: uniformly sampled joint transforms, four joints to a row.
//!
//! Sampling a clip reads two adjacent frames. Channels that never change are stored once, and
//! neighboring quaternions lie in one hemisphere, so sampling needs no sign test.

use super::{ClipTiming, JointTransform, Skeleton};
use glam::{Quat, Vec3, Vec4};
use std::{collections::HashMap, iter, ops::Range, sync::Arc};

/// A clip's transforms, frame by frame: the input of [`SkeletalClip::new`].
#[derive(Clone, Debug, Default)]
pub struct ClipFrames {
    /// Joint names, one for each transform of a frame.
    pub joints: Arc<[Arc<str>]>,
    /// Per joint, whether the clip moves it; the transforms of other joints are ignored. If empty, all joints move.
    pub animated: Vec<bool>,
    /// At least one frame of `joints.len()` transforms relative to the parents.
    pub transforms: Vec<JointTransform>,
}

/// Why frames do not make a [`SkeletalClip`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClipError {
    /// There is no frame, or the number of transforms is not a multiple of the number of joints.
    #[error("clip `{clip}` has {transforms} transforms for {joints} joints: not a whole number of frames")]
    NotWholeFrames {
        /// Name of the clip.
        clip: Arc<str>,
        /// Number of transforms given.
        transforms: usize,
        /// Number of joints given.
        joints: usize,
    },
    /// A transform contains a number that is not finite.
    #[error("clip `{clip}`, frame {frame}, joint `{joint}`: a transform that is not finite")]
    NotFinite {
        /// Name of the clip.
        clip: Arc<str>,
        /// Index of the frame.
        frame: usize,
        /// Name of the joint.
        joint: Arc<str>,
    },
    /// The duration is negative or not finite.
    #[error("clip `{clip}` has a duration of {duration} s")]
    BadDuration {
        /// Name of the clip.
        clip: Arc<str>,
        /// The duration in seconds.
        duration: f64,
    },
}

/// Where a channel (translation, rotation or scale) of four joints is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChannelSlot {
    /// The same in every frame: index of its first vector among the constants.
    Constant(u32),
    /// Index of its first vector within each frame.
    Sampled(u32),
    /// Index of its first vector of 16-bit numbers within each frame, and of the vectors' ranges.
    Quantized(u32),
}

/// What the 16-bit numbers of four joints stand for: `low + number · step`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NumberRange {
    /// The value of 0.
    pub(crate) low: Vec4,
    /// The distance from one number to the next.
    pub(crate) step: Vec4,
}

/// What a clip lost by being made smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quantization {
    /// [`SkeletalClip::bytes`] of the original clip.
    pub bytes_before: usize,
    /// Largest distance measured between the skin under this clip and under the original, in model units.
    pub error: f32,
}

/// The channels of four joints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RowTracks {
    /// 1 in the lanes of joints the clip moves, 0 in the others.
    pub(crate) animated: Vec4,
    /// Three vectors: x, y, z of four joints.
    pub(crate) translation: ChannelSlot,
    /// Four vectors: x, y, z, w of four joints.
    pub(crate) rotation: ChannelSlot,
    /// Three vectors: x, y, z of four joints.
    pub(crate) scale: ChannelSlot,
}

/// A clip for the joints of a skeleton, sampled at equal steps of time.
///
/// A clip whose [joint names](Self::joints) are those of a skeleton, in its order, fits that
/// skeleton as it is; [`Self::bind`] makes it fit any other. Clones share the transforms.
#[derive(Clone, Debug, PartialEq)]
pub struct SkeletalClip {
    /// Name, length, playback and callback keys.
    pub timing: ClipTiming,
    /// Whether the clip holds differences to add to another pose.
    pub additive: bool,
    joints: Arc<[Arc<str>]>,
    frame_count: usize,
    rows: Arc<[RowTracks]>,
    constants: Arc<[Vec4]>,
    samples: Arc<[Vec4]>,
    stride: usize,
    numbers: Arc<[[u16; 4]]>,
    ranges: Arc<[NumberRange]>,
    quantization: Option<Quantization>,
    unit_scale: bool,
    animates_all: bool,
}

/// The ten vectors of four joints: translation x y z, rotation x y z w, scale x y z.
type RowVectors = [Vec4; 10];

const IDENTITY: RowVectors = {
    let (zero, one) = (Vec4::ZERO, Vec4::ONE);
    [zero, zero, zero, zero, zero, zero, one, one, one, one]
};

impl SkeletalClip {
    /// Creates a clip that runs through `frames` in `timing.duration` seconds, first and last included.
    ///
    /// # Errors
    /// The frames are not whole, or a number is not finite.
    pub fn new(timing: ClipTiming, frames: &ClipFrames) -> Result<Self, ClipError> {
        Self::subdivided(timing, frames, 1)
    }

    /// Like [`Self::new`], with each frame cut into `steps`, at least one, along the arcs between rotations.
    pub(crate) fn subdivided(timing: ClipTiming, frames: &ClipFrames, steps: usize) -> Result<Self, ClipError> {
        let name = || timing.name.clone();
        let joints = frames.joints.len();
        let transforms = frames.transforms.len();
        if (joints == 0 && transforms > 0) || (joints > 0 && (transforms == 0 || !transforms.is_multiple_of(joints))) {
            return Err(ClipError::NotWholeFrames { clip: name(), transforms, joints });
        }
        if !timing.duration.is_finite() || timing.duration < 0.0 {
            return Err(ClipError::BadDuration { clip: name(), duration: timing.duration });
        }
        let animated = |joint: usize| frames.animated.get(joint).copied().unwrap_or(frames.animated.is_empty());
        if let Some(bad) = (0..transforms).find(|&i| animated(i % joints) && !frames.transforms[i].is_finite()) {
            let joint = frames.joints[bad % joints].clone();
            return Err(ClipError::NotFinite { clip: name(), frame: bad / joints, joint });
        }

        let given = transforms.checked_div(joints).unwrap_or(1);
        let frame_count = (given - 1) * steps + 1;
        let transform = |joint: usize, frame: usize| {
            let (at, step) = (frame / steps * joints + joint, frame % steps);
            match step {
                0 => frames.transforms[at],
                step => frames.transforms[at].between(&frames.transforms[at + joints], step as f32 / steps as f32),
            }
        };
        // The frames of four joints. Made twice, so that they never all take memory at once.
        let mut column = vec![IDENTITY; frame_count];
        let fill = |row: usize, column: &mut [RowVectors]| {
            column.fill(IDENTITY);
            for joint in (row * 4..joints.min(row * 4 + 4)).filter(|&joint| animated(joint)) {
                let mut before = None;
                for (frame, vectors) in column.iter_mut().enumerate() {
                    let JointTransform { translation: t, rotation, scale: s } = transform(joint, frame);
                    let r = unit_near(rotation, before);
                    before = Some(r);
                    for (vector, value) in vectors.iter_mut().zip([t.x, t.y, t.z, r.x, r.y, r.z, r.w, s.x, s.y, s.z]) {
                        vector[joint % 4] = value;
                    }
                }
            }
        };

        // First where every channel lives, then the samples: a frame is one run of memory.
        let row_count = joints.div_ceil(4);
        let (mut rows, mut constants, mut sampled) = (Vec::with_capacity(row_count), Vec::new(), Vec::new());
        let (mut stride, mut unit_scale) = (0, true);
        for row in 0..row_count {
            fill(row, &mut column);
            unit_scale &= column.iter().all(|vectors| vectors[7..] == IDENTITY[7..]);
            let mut slot = |channel: Range<usize>| {
                let count = channel.len();
                if column.iter().all(|vectors| vectors[channel.clone()] == column[0][channel.clone()]) {
                    constants.extend_from_slice(&column[0][channel]);
                    return ChannelSlot::Constant((constants.len() - count) as u32);
                }
                sampled.push((row, stride, channel));
                stride += count;
                ChannelSlot::Sampled((stride - count) as u32)
            };
            let (translation, rotation, scale) = (slot(0..3), slot(3..7), slot(7..10));
            let lane = |lane: usize| {
                let joint = row * 4 + lane;
                if joint < joints && animated(joint) { 1.0 } else { 0.0 }
            };
            let animated = Vec4::new(lane(0), lane(1), lane(2), lane(3));
            rows.push(RowTracks { animated, translation, rotation, scale });
        }
        // Collected into place: a `Vec` would be copied.
        let mut samples: Arc<[Vec4]> = iter::repeat_n(Vec4::ZERO, stride * frame_count).collect();
        let frames_out = Arc::make_mut(&mut samples);
        for channels in sampled.chunk_by(|a, b| a.0 == b.0) {
            fill(channels[0].0, &mut column);
            for (frame, vectors) in frames_out.chunks_exact_mut(stride).zip(&column) {
                for (_, at, channel) in channels {
                    frame[*at..at + channel.len()].copy_from_slice(&vectors[channel.clone()]);
                }
            }
        }
        Ok(Self {
            timing,
            additive: false,
            joints: frames.joints.clone(),
            frame_count,
            rows: rows.into(),
            constants: constants.into(),
            samples,
            stride,
            numbers: Arc::default(),
            ranges: Arc::default(),
            quantization: None,
            animates_all: (0..joints).all(animated),
            unit_scale,
        })
    }

    /// Names of the joints.
    pub fn joints(&self) -> &Arc<[Arc<str>]> {
        &self.joints
    }

    /// Number of frames, at least one.
    pub fn frame_count(&self) -> usize {
        self.frame_count
    }

    /// Frames per second; 0 for a clip of one frame or no length.
    pub fn frame_rate(&self) -> f64 {
        if self.timing.duration > 0.0 { (self.frame_count - 1) as f64 / self.timing.duration } else { 0.0 }
    }

    /// Where the channels of each four joints are stored.
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

    /// Numbers of one frame's quantized channels. Panics if `frame` is out of range.
    pub(crate) fn numbers(&self, frame: usize) -> &[[u16; 4]] {
        self.frames_of_numbers(frame, frame)
    }

    /// The same for a run of frames, `last` included.
    #[inline]
    pub(crate) fn frames_of_numbers(&self, first: usize, last: usize) -> &[[u16; 4]] {
        let stride = self.ranges.len();
        if stride == 0 { &[] } else { &self.numbers[first * stride..(last + 1) * stride] }
    }

    /// Ranges of the vectors of [`Self::numbers`].
    pub(crate) fn ranges(&self) -> &[NumberRange] {
        &self.ranges
    }

    /// What the clip lost by being made smaller; `None` if it is lossless.
    pub fn quantization(&self) -> Option<Quantization> {
        self.quantization
    }

    /// The same frames with every sampled channel in 16-bit numbers between its smallest and its largest
    /// value, joint by joint and component by component.
    pub(crate) fn quantized(&self, quantization: Quantization) -> Self {
        // Per vector of the new frames, where it is in the old ones.
        let (mut kept, mut packed, mut ranges) = (Vec::new(), Vec::new(), Vec::new());
        let mut slot = |slot: ChannelSlot, count: u32| {
            let ChannelSlot::Sampled(at) = slot else { return slot };
            let of_channel: Vec<NumberRange> = (at..at + count).map(|at| self.range_of(at as usize)).collect();
            // A range beyond f32 cannot be cut into steps.
            if of_channel.iter().all(|range| range.step.is_finite()) {
                packed.extend(at..at + count);
                ranges.extend(of_channel);
                ChannelSlot::Quantized(packed.len() as u32 - count)
            } else {
                kept.extend(at..at + count);
                ChannelSlot::Sampled(kept.len() as u32 - count)
            }
        };
        let mut rows = Vec::with_capacity(self.rows.len());
        for row in &*self.rows {
            let (translation, rotation) = (slot(row.translation, 3), slot(row.rotation, 4));
            rows.push(RowTracks { translation, rotation, scale: slot(row.scale, 3), ..*row });
        }
        let mut samples = Vec::with_capacity(kept.len() * self.frame_count);
        let mut numbers = Vec::with_capacity(packed.len() * self.frame_count);
        for frame in (0..self.frame_count).map(|frame| self.frame(frame)) {
            samples.extend(kept.iter().map(|&at| frame[at as usize]));
            numbers.extend(packed.iter().zip(&ranges).map(|(&at, NumberRange { low, step })| {
                // 0 / 0 for what does not change becomes 0.
                ((frame[at as usize] - *low) / *step).to_array().map(|number| number.round() as u16)
            }));
        }
        Self {
            stride: kept.len(),
            quantization: Some(quantization),
            rows: rows.into(),
            samples: samples.into(),
            numbers: numbers.into(),
            ranges: ranges.into(),
            ..self.clone()
        }
    }

    fn range_of(&self, at: usize) -> NumberRange {
        let values = || (0..self.frame_count).map(|frame| self.frame(frame)[at]);
        let low = values().fold(Vec4::MAX, Vec4::min);
        let high = values().fold(Vec4::MIN, Vec4::max);
        NumberRange { low, step: (high - low) / f32::from(u16::MAX) }
    }

    /// Returns `true` if the clip moves every joint.
    pub fn animates_all(&self) -> bool {
        self.animates_all
    }

    /// Returns `true` if every scale of every frame is exactly one.
    pub fn unit_scale(&self) -> bool {
        self.unit_scale
    }

    /// Bytes of transform data. Clones share it.
    pub fn bytes(&self) -> usize {
        let numbers = size_of_val(&self.numbers[..]) + size_of_val(&self.ranges[..]);
        size_of_val(&self.constants[..]) + size_of_val(&self.samples[..]) + numbers + size_of_val(&self.rows[..])
    }

    /// Returns `true` if the clip moves a joint.
    pub fn animates(&self, joint: usize) -> bool {
        self.rows.get(joint / 4).is_some_and(|row| row.animated[joint % 4] > 0.0)
    }

    /// A joint's transform at a frame; the identity for joints that the clip does not move.
    ///
    /// # Panics
    /// If `joint` or `frame` is out of range.
    pub fn transform_at(&self, joint: usize, frame: usize) -> JointTransform {
        assert!(frame < self.frame_count);
        let (row, lane) = (&self.rows[joint / 4], joint % 4);
        let read = |slot: ChannelSlot, i: usize| self.vector(slot, i, frame)[lane];
        let vec3 = |slot| Vec3::new(read(slot, 0), read(slot, 1), read(slot, 2));
        let r = row.rotation;
        let rotation = Quat::from_xyzw(read(r, 0), read(r, 1), read(r, 2), read(r, 3));
        JointTransform {
            translation: vec3(row.translation),
            rotation: if matches!(r, ChannelSlot::Quantized(_)) { rotation.normalize() } else { rotation },
            scale: vec3(row.scale),
        }
    }

    /// The `i`-th vector of a channel at a frame.
    fn vector(&self, slot: ChannelSlot, i: usize, frame: usize) -> Vec4 {
        match slot {
            ChannelSlot::Constant(at) => self.constants[at as usize + i],
            ChannelSlot::Sampled(at) => self.frame(frame)[at as usize + i],
            ChannelSlot::Quantized(at) => {
                let (at, NumberRange { low, step }) = (at as usize + i, self.ranges[at as usize + i]);
                Vec4::from_array(self.numbers(frame)[at].map(f32::from)) * step + low
            }
        }
    }

    /// Per joint, the longest translation and the largest scale, by amount, of any frame.
    pub(crate) fn largest(&self) -> Vec<(f64, f64)> {
        let mut largest = vec![(0.0_f64, 0.0_f64); self.joints.len()];
        for (row, lanes) in self.rows.iter().zip(largest.chunks_mut(4)) {
            // The different values of a channel of three vectors. In f64: squares of what f32 holds can be beyond it.
            let values = |slot: ChannelSlot| {
                let frames = if matches!(slot, ChannelSlot::Constant(_)) { 1 } else { self.frame_count };
                (0..frames).map(move |frame| [0, 1, 2].map(|i| self.vector(slot, i, frame).as_dvec4()))
            };
            for [x, y, z] in values(row.translation) {
                let squares = x * x + y * y + z * z;
                lanes.iter_mut().zip(squares.to_array()).for_each(|(lane, square)| lane.0 = lane.0.max(square));
            }
            lanes.iter_mut().for_each(|lane| lane.0 = lane.0.sqrt());
            for [x, y, z] in values(row.scale) {
                let scales = x.abs().max(y.abs()).max(z.abs());
                lanes.iter_mut().zip(scales.to_array()).for_each(|(lane, scale)| lane.1 = lane.1.max(scale));
            }
        }
        largest
    }

    /// Equal for clips that share their transforms.
    pub(crate) fn frames_key(&self) -> usize {
        Arc::as_ptr(&self.rows) as *const RowTracks as usize
    }

    /// The frames this clip was made from, with rotations normalized and in one hemisphere.
    pub fn to_frames(&self) -> ClipFrames {
        let joints = self.joints.len();
        ClipFrames {
            joints: self.joints.clone(),
            animated: (0..joints).map(|j| self.animates(j)).collect(),
            transforms: (0..self.frame_count * joints).map(|i| self.transform_at(i % joints, i / joints)).collect(),
        }
    }

    /// Renames the joints. A list of the wrong length is ignored.
    pub fn rename_joints(&mut self, names: Arc<[Arc<str>]>) {
        if names.len() == self.joints.len() {
            self.joints = names;
        }
    }

    /// Converts the clip to differences to its first frame: translation `t − t₀`, rotation `q₀⁻¹ · q`, scale `s / s₀`.
    pub fn to_additive(&self) -> Self {
        let mut frames = self.to_frames();
        let joints = frames.joints.len();
        let first: Vec<JointTransform> = frames.transforms.iter().take(joints).copied().collect();
        for (i, transform) in frames.transforms.iter_mut().enumerate() {
            *transform = transform.difference_to(&first[i % joints]);
        }
        match Self::new(self.timing.clone(), &frames) {
            Ok(clip) => Self { additive: true, ..clip },
            // Differences of finite transforms are finite, and the frames are whole.
            Err(_) => Self { additive: true, ..self.clone() },
        }
    }

    /// The same clip in the joint order of `skeleton`, matched by name.
    ///
    /// Joints that the clip lacks are not animated. If a name occurs twice, in the clip or in the
    /// skeleton, the first joint of that name counts.
    pub fn bind(&self, skeleton: &Skeleton) -> Self {
        if self.joints == *skeleton.names() {
            return self.clone();
        }
        let mut by_name: HashMap<&str, usize> = HashMap::new();
        for (joint, name) in self.joints.iter().enumerate() {
            by_name.entry(name).or_insert(joint);
        }
        // Taken out when found, so that a second joint of the same name stays still.
        let source: Vec<Option<usize>> = skeleton.names().iter().map(|name| by_name.remove(&**name)).collect();
        let frames = ClipFrames {
            joints: skeleton.names().clone(),
            animated: source.iter().map(|s| s.is_some_and(|j| self.animates(j))).collect(),
            transforms: (0..self.frame_count)
                .flat_map(|frame| source.iter().map(move |s| (frame, *s)))
                .map(|(frame, s)| s.map_or(JointTransform::IDENTITY, |joint| self.transform_at(joint, frame)))
                .collect(),
        };
        match Self::new(self.timing.clone(), &frames) {
            Ok(clip) => Self { additive: self.additive, ..clip },
            // The parts of a valid clip are finite and whole; only an empty skeleton gets here.
            Err(_) => Self { rows: Arc::default(), joints: skeleton.names().clone(), ..self.clone() },
        }
    }
}

/// The unit quaternion of `q`, in the hemisphere of `before`; for a zero quaternion, `before` or the identity.
fn unit_near(q: Quat, before: Option<Quat>) -> Quat {
    let unit = if q.length_squared() > 1e-12 { q.normalize() } else { before.unwrap_or(Quat::IDENTITY) };
    if before.is_some_and(|b| b.dot(unit) < 0.0) { -unit } else { unit }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Joint;
    use glam::Affine3A;

    fn names(names: &[&str]) -> Arc<[Arc<str>]> {
        names.iter().map(|&n| Arc::from(n)).collect()
    }

    fn two_joints() -> SkeletalClip {
        let moving = |x: f32| JointTransform::new(Vec3::X * x, Quat::from_rotation_z(x));
        let still = JointTransform::new(Vec3::Y, -Quat::IDENTITY);
        let frames = ClipFrames {
            joints: names(&["a", "b"]),
            animated: vec![],
            transforms: vec![moving(0.0), still, moving(1.0), still, moving(2.0), still],
        };
        SkeletalClip::new(ClipTiming::new("walk", 1.0), &frames).unwrap()
    }

    #[test]
    fn constant_channels_are_stored_once_and_frames_read_back() {
        let clip = two_joints();
        assert_eq!((clip.frame_count(), clip.frame_rate()), (3, 2.0));
        assert!(matches!(clip.rows()[0].scale, ChannelSlot::Constant(_)));
        assert_eq!(clip.frame(1).len(), 7);
        assert_eq!(clip.transform_at(0, 2).translation, Vec3::X * 2.0);
        assert_eq!(clip.transform_at(1, 2).translation, Vec3::Y);
        assert!(clip.unit_scale());
    }

    #[test]
    fn a_single_scaled_joint_is_noticed_and_one_that_is_not_moved_is_not() {
        let mut frames = two_joints().to_frames();
        frames.transforms[3].scale.y = 1.001;
        assert!(!SkeletalClip::new(ClipTiming::new("walk", 1.0), &frames).unwrap().unit_scale());
        frames.animated = vec![true, false];
        assert!(SkeletalClip::new(ClipTiming::new("walk", 1.0), &frames).unwrap().unit_scale());
    }

    #[test]
    fn binding_follows_names_not_places() {
        let joint = |name: &str| Joint {
            name: name.into(),
            parent: None,
            rest: JointTransform::IDENTITY,
            inverse_bind: Affine3A::IDENTITY,
        };
        let skeleton = Skeleton::new(vec![joint("b"), joint("c"), joint("a"), joint("a")]).unwrap();
        let bound = two_joints().bind(&skeleton);
        assert_eq!([0, 1, 2, 3].map(|j| bound.animates(j)), [true, false, true, false]);
        assert_eq!(bound.transform_at(2, 1), two_joints().transform_at(0, 1));
        assert_eq!(bound.transform_at(0, 1), two_joints().transform_at(1, 1));
    }

    #[test]
    fn frames_that_are_not_whole_or_not_finite_are_rejected() {
        let mut frames = two_joints().to_frames();
        frames.transforms[3].scale.x = f32::NAN;
        let error = SkeletalClip::new(ClipTiming::new("walk", 1.0), &frames).unwrap_err();
        assert_eq!(error, ClipError::NotFinite { clip: "walk".into(), frame: 1, joint: "b".into() });
        frames.transforms.pop();
        assert!(matches!(
            SkeletalClip::new(ClipTiming::new("walk", 1.0), &frames),
            Err(ClipError::NotWholeFrames { .. })
        ));
    }
}
