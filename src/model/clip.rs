//! Clips: uniformly sampled joint transforms in structure-of-arrays rows.
//!
//! A time is two adjacent frames. Channels that never change are stored once, and neighbouring
//! quaternions are kept in one hemisphere, so sampling needs no sign test.

mod parts;

pub(crate) use parts::{ClipParts, dot};

use super::{ClipTiming, JointTransform, Skeleton, SoaTransform};
use glam::{Quat, Vec4};
use std::{collections::HashMap, sync::Arc};

/// A clip's transforms, joint by joint and frame by frame: what [`SkeletalClip::new`] is made from.
#[derive(Clone, Debug, Default)]
pub struct ClipFrames {
    /// Joint names, one for each transform of a frame.
    pub joints: Arc<[Arc<str>]>,
    /// Whether the clip moves the joint; the others' transforms are not looked at. Empty: it moves all.
    pub animated: Vec<bool>,
    /// Frames, each `joints.len()` transforms relative to the parents; at least one frame.
    pub transforms: Vec<JointTransform>,
}

/// Why frames do not make a [`SkeletalClip`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClipError {
    /// No frame, or a number of transforms that is no multiple of the number of joints.
    #[error("clip `{clip}` has {transforms} transforms for {joints} joints: not a whole number of frames")]
    NotWholeFrames {
        /// The clip's name.
        clip: Arc<str>,
        /// Transforms given.
        transforms: usize,
        /// Joints given.
        joints: usize,
    },
    /// A number that is not finite.
    #[error("clip `{clip}`, frame {frame}, joint `{joint}`: a transform that is not finite")]
    NotFinite {
        /// The clip's name.
        clip: Arc<str>,
        /// The frame.
        frame: usize,
        /// The joint's name.
        joint: Arc<str>,
    },
    /// A duration that is negative or not finite.
    #[error("clip `{clip}` has a duration of {duration} s")]
    BadDuration {
        /// The clip's name.
        clip: Arc<str>,
        /// Seconds.
        duration: f64,
    },
}

/// Where a channel (translation, rotation or scale) of four joints is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelSlot {
    /// The same in every frame: index of its first vector among the constants.
    Constant(u32),
    /// Index of its first vector within each frame.
    Sampled(u32),
    /// Index of its first vector of 16-bit numbers within each frame, and of the vectors' ranges.
    Quantised(u32),
}

/// The lowest value of four joints' numbers, and what a step of one adds to it: `low + number · step`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberRange {
    /// The value of 0.
    pub low: Vec4,
    /// The distance from one number to the next.
    pub step: Vec4,
}

/// What a clip gave up for its size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quantisation {
    /// [`SkeletalClip::bytes`] of the clip it was made from.
    pub bytes_before: usize,
    /// Largest distance measured between the skin as this clip and as the one before moves it, in model units.
    pub error: f32,
}

/// The channels of four joints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowTracks {
    /// 1 in the lanes of joints the clip moves, 0 in the others.
    pub animated: Vec4,
    /// Three vectors: x, y, z of four joints.
    pub translation: ChannelSlot,
    /// Four vectors: x, y, z, w of four joints.
    pub rotation: ChannelSlot,
    /// Three vectors: x, y, z of four joints.
    pub scale: ChannelSlot,
}

/// A clip for the joints of a skeleton, sampled at equal steps of time.
///
/// Rows follow the order of [`Self::joints`]. A clip whose names are those of a skeleton, in its
/// order, fits that skeleton as it is; [`Self::bind`] makes it fit any other.
#[derive(Clone, Debug, PartialEq)]
pub struct SkeletalClip {
    /// Name, length, playback and callback keys.
    pub timing: ClipTiming,
    /// Whether the clip holds differences to be added to another pose.
    pub additive: bool,
    joints: Arc<[Arc<str>]>,
    frame_count: usize,
    rows: Vec<RowTracks>,
    constants: Vec<Vec4>,
    samples: Vec<Vec4>,
    stride: usize,
    numbers: Vec<[u16; 4]>,
    ranges: Vec<NumberRange>,
    quantisation: Option<Quantisation>,
    unit_scale: bool,
    animates_all: bool,
}

impl SkeletalClip {
    /// A clip that runs through `frames` in `timing.duration` seconds, first and last included.
    pub fn new(timing: ClipTiming, frames: &ClipFrames) -> Result<Self, ClipError> {
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

        let frame_count = transforms.checked_div(joints).unwrap_or(1);
        let row_count = joints.div_ceil(4);
        let mut dense = vec![SoaTransform::IDENTITY; frame_count * row_count];
        for joint in (0..joints).filter(|&j| animated(j)) {
            let mut before: Option<Quat> = None;
            for frame in 0..frame_count {
                let mut transform = frames.transforms[frame * joints + joint];
                transform.rotation = unit_near(transform.rotation, before);
                before = Some(transform.rotation);
                dense[frame * row_count + joint / 4].set(joint % 4, transform);
            }
        }

        let mut clip = Self {
            timing,
            additive: false,
            joints: frames.joints.clone(),
            frame_count,
            rows: Vec::with_capacity(row_count),
            constants: Vec::new(),
            samples: Vec::new(),
            stride: 0,
            numbers: Vec::new(),
            ranges: Vec::new(),
            quantisation: None,
            animates_all: (0..joints).all(animated),
            unit_scale: dense.iter().all(|row| row.scale == SoaTransform::IDENTITY.scale),
        };
        // First where every channel lives, then the samples frame by frame: a frame is one run of memory.
        let mut sampled: Vec<(usize, usize, usize)> = Vec::new(); // row, first vector, count
        for row in 0..row_count {
            let column = |f: usize| vectors(&dense[f * row_count + row]);
            let mut slot = |first: usize, count: usize| {
                let range = first..first + count;
                if (1..frame_count).all(|f| column(f)[range.clone()] == column(0)[range.clone()]) {
                    clip.constants.extend_from_slice(&column(0)[range]);
                    ChannelSlot::Constant((clip.constants.len() - count) as u32)
                } else {
                    sampled.push((row, first, count));
                    clip.stride += count;
                    ChannelSlot::Sampled((clip.stride - count) as u32)
                }
            };
            let (translation, rotation, scale) = (slot(0, 3), slot(3, 4), slot(7, 3));
            let lane = |l: usize| if row * 4 + l < joints && animated(row * 4 + l) { 1.0 } else { 0.0 };
            let animated = Vec4::new(lane(0), lane(1), lane(2), lane(3));
            clip.rows.push(RowTracks { animated, translation, rotation, scale });
        }
        if clip.stride > 0 {
            clip.samples.reserve_exact(clip.stride * frame_count);
            for frame in 0..frame_count {
                for &(row, first, count) in &sampled {
                    clip.samples.extend_from_slice(&vectors(&dense[frame * row_count + row])[first..first + count]);
                }
            }
        }
        Ok(clip)
    }

    /// Names of the joints, in the order of the rows' lanes.
    pub fn joints(&self) -> &Arc<[Arc<str>]> {
        &self.joints
    }

    /// Number of frames, at least one.
    pub fn frame_count(&self) -> usize {
        self.frame_count
    }

    /// Frames a second; 0 for a clip of one frame or no length.
    pub fn frame_rate(&self) -> f64 {
        if self.timing.duration > 0.0 { (self.frame_count - 1) as f64 / self.timing.duration } else { 0.0 }
    }

    /// Where the channels of each four joints are kept.
    pub fn rows(&self) -> &[RowTracks] {
        &self.rows
    }

    /// Vectors of the channels that never change.
    pub fn constants(&self) -> &[Vec4] {
        &self.constants
    }

    /// Vectors of one frame's changing channels.
    ///
    /// # Panics
    /// If `frame` is out of range.
    pub fn frame(&self, frame: usize) -> &[Vec4] {
        self.frames(frame, frame)
    }

    /// Like [`Self::frame`], from one frame to another: one after the other.
    #[inline]
    pub(crate) fn frames(&self, first: usize, last: usize) -> &[Vec4] {
        &self.samples[first * self.stride..(last + 1) * self.stride]
    }

    /// Vectors of one frame's changing channels where they are quantised; their [`Self::ranges`] say what
    /// they stand for.
    ///
    /// # Panics
    /// If `frame` is out of range.
    pub fn numbers(&self, frame: usize) -> &[[u16; 4]] {
        self.frames_of_numbers(frame, frame)
    }

    /// Like [`Self::numbers`], from one frame to another.
    #[inline]
    pub(crate) fn frames_of_numbers(&self, first: usize, last: usize) -> &[[u16; 4]] {
        let stride = self.ranges.len();
        if stride == 0 { &[] } else { &self.numbers[first * stride..(last + 1) * stride] }
    }

    /// Ranges of the vectors of [`Self::numbers`].
    pub fn ranges(&self) -> &[NumberRange] {
        &self.ranges
    }

    /// What the clip gave up for its size; `None` if it is lossless.
    pub fn quantisation(&self) -> Option<Quantisation> {
        self.quantisation
    }

    /// The same frames with every changing channel in 16-bit numbers between its least and its largest
    /// value, joint by joint and component by component.
    pub(crate) fn quantised(&self, quantisation: Quantisation) -> Self {
        // Per vector of the new frames, where it is in the old ones.
        let (mut kept, mut packed, mut ranges) = (Vec::new(), Vec::new(), Vec::new());
        let mut slot = |slot: ChannelSlot, count: u32| {
            let ChannelSlot::Sampled(at) = slot else { return slot };
            let of_channel: Vec<NumberRange> = (at..at + count).map(|at| self.range_of(at as usize)).collect();
            // A range beyond the numbers of f32 cannot be cut in steps.
            if of_channel.iter().all(|range| range.step.is_finite()) {
                packed.extend(at..at + count);
                ranges.extend(of_channel);
                ChannelSlot::Quantised(packed.len() as u32 - count)
            } else {
                kept.extend(at..at + count);
                ChannelSlot::Sampled(kept.len() as u32 - count)
            }
        };
        let mut rows = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let (translation, rotation) = (slot(row.translation, 3), slot(row.rotation, 4));
            rows.push(RowTracks { translation, rotation, scale: slot(row.scale, 3), ..*row });
        }
        let (mut samples, mut numbers) = (Vec::new(), Vec::new());
        samples.reserve_exact(kept.len() * self.frame_count);
        numbers.reserve_exact(packed.len() * self.frame_count);
        for frame in (0..self.frame_count).map(|frame| self.frame(frame)) {
            samples.extend(kept.iter().map(|&at| frame[at as usize]));
            numbers.extend(packed.iter().zip(&ranges).map(|(&at, NumberRange { low, step })| {
                // 0 / 0 for what does not change becomes 0.
                ((frame[at as usize] - *low) / *step).to_array().map(|number| number.round() as u16)
            }));
        }
        Self {
            timing: self.timing.clone(),
            joints: self.joints.clone(),
            constants: self.constants.clone(),
            stride: kept.len(),
            quantisation: Some(quantisation),
            rows,
            samples,
            numbers,
            ranges,
            ..*self
        }
    }

    fn range_of(&self, at: usize) -> NumberRange {
        let values = || (0..self.frame_count).map(|frame| self.frame(frame)[at]);
        let low = values().fold(Vec4::MAX, Vec4::min);
        let high = values().fold(Vec4::MIN, Vec4::max);
        NumberRange { low, step: (high - low) / f32::from(u16::MAX) }
    }

    /// Whether the clip moves every joint.
    pub fn animates_all(&self) -> bool {
        self.animates_all
    }

    /// Whether no joint is ever scaled: every scale of every frame is exactly one.
    pub fn unit_scale(&self) -> bool {
        self.unit_scale
    }

    /// Bytes of transform data.
    pub fn bytes(&self) -> usize {
        let numbers = size_of_val(&self.numbers[..]) + size_of_val(&self.ranges[..]);
        size_of_val(&self.constants[..]) + size_of_val(&self.samples[..]) + numbers + size_of_val(&self.rows[..])
    }

    /// Whether the clip moves a joint.
    pub fn animates(&self, joint: usize) -> bool {
        self.rows.get(joint / 4).is_some_and(|row| row.animated[joint % 4] > 0.0)
    }

    /// A joint's transform at a frame; the identity for joints the clip does not move.
    ///
    /// # Panics
    /// If `joint` or `frame` is out of range.
    pub fn transform_at(&self, joint: usize, frame: usize) -> JointTransform {
        assert!(frame < self.frame_count);
        let row = &self.rows[joint / 4];
        let lane = joint % 4;
        let read = |slot: ChannelSlot, i: usize| match slot {
            ChannelSlot::Constant(at) => self.constants[at as usize + i][lane],
            ChannelSlot::Sampled(at) => self.frame(frame)[at as usize + i][lane],
            ChannelSlot::Quantised(at) => {
                let (at, NumberRange { low, step }) = (at as usize + i, self.ranges[at as usize + i]);
                f32::from(self.numbers(frame)[at][lane]) * step[lane] + low[lane]
            }
        };
        let vec3 = |slot| glam::Vec3::new(read(slot, 0), read(slot, 1), read(slot, 2));
        let r = row.rotation;
        let rotation = Quat::from_xyzw(read(r, 0), read(r, 1), read(r, 2), read(r, 3));
        JointTransform {
            translation: vec3(row.translation),
            rotation: if matches!(r, ChannelSlot::Quantised(_)) { rotation.normalize() } else { rotation },
            scale: vec3(row.scale),
        }
    }

    /// The frames this clip was made from (rotations normalised and in one hemisphere).
    pub fn to_frames(&self) -> ClipFrames {
        let joints = self.joints.len();
        ClipFrames {
            joints: self.joints.clone(),
            animated: (0..joints).map(|j| self.animates(j)).collect(),
            transforms: (0..self.frame_count * joints).map(|i| self.transform_at(i % joints, i / joints)).collect(),
        }
    }

    /// Gives the joints new names, one for each; a list of another length is ignored.
    pub fn rename_joints(&mut self, names: Arc<[Arc<str>]>) {
        if names.len() == self.joints.len() {
            self.joints = names;
        }
    }

    /// The clip as differences to its first frame: translation `t − t₀`, rotation `q₀⁻¹ · q`, scale `s / s₀`.
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
    /// Joints of the skeleton that the clip lacks are left unanimated. Where a name occurs twice in
    /// the clip the first wins; where it occurs twice in the skeleton the first takes it.
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
            Err(_) => Self { rows: Vec::new(), joints: skeleton.names().clone(), ..self.clone() },
        }
    }
}

/// A row's ten vectors: translation x y z, rotation x y z w, scale x y z.
fn vectors(row: &SoaTransform) -> [Vec4; 10] {
    let SoaTransform { translation: t, rotation: r, scale: s } = row;
    [t.x, t.y, t.z, r.x, r.y, r.z, r.w, s.x, s.y, s.z]
}

/// The unit quaternion of `q`, in the hemisphere of `before`; the identity for a zero quaternion.
fn unit_near(q: Quat, before: Option<Quat>) -> Quat {
    let unit = if q.length_squared() > 1e-12 { q.normalize() } else { before.unwrap_or(Quat::IDENTITY) };
    if before.is_some_and(|b| b.dot(unit) < 0.0) { -unit } else { unit }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Joint;
    use glam::{Affine3A, Vec3};

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
    fn frames_that_are_not_whole_or_not_finite_are_refused() {
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
