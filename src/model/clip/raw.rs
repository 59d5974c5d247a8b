//! Clips that are still being edited.

use super::{ClipError, ClipFrames, MorphFrames, SkeletalClip, build::even_rate, frame_time};
use crate::model::{ClipTiming, JointTransform, RootPath, Skeleton};
use std::{
    collections::{HashMap, VecDeque},
    mem,
    sync::Arc,
};

/// A clip before it is built: whole transforms, which edits change in place.
///
/// The channels of a [`SkeletalClip`] are packed for sampling, so one is taken apart once for all edits, and built once.
#[derive(Clone, Debug)]
pub(crate) struct RawClip {
    pub(crate) timing: ClipTiming,
    pub(crate) additive: bool,
    pub(crate) root_path: Option<Arc<RootPath>>,
    pub(crate) frames: ClipFrames,
    /// Seconds of each frame; empty if they are evenly spaced.
    pub(crate) times: Vec<f64>,
    /// See [`SkeletalClip::frame_rate`].
    pub(crate) rate: Option<f64>,
    /// Weights of morph targets, which have frames of their own. Without names, the clip moves none.
    pub(crate) morphs: MorphFrames,
}

impl SkeletalClip {
    /// Takes the clip apart.
    pub(crate) fn to_raw(&self) -> RawClip {
        RawClip {
            additive: self.additive,
            root_path: self.root_path.clone(),
            morphs: self.morph_frames(),
            rate: self.rate,
            ..RawClip::new(self.timing.clone(), self.to_frames(), self.times.to_vec())
        }
    }
}

impl RawClip {
    /// A clip that moves no morph targets.
    pub(crate) fn new(timing: ClipTiming, frames: ClipFrames, times: Vec<f64>) -> Self {
        let mut raw = Self {
            timing,
            additive: false,
            root_path: None,
            frames,
            times,
            rate: None,
            morphs: MorphFrames::default(),
        };
        if raw.times.is_empty() {
            raw.rate = even_rate(raw.frame_count(), raw.timing.duration);
        }
        raw
    }

    /// Builds the clip.
    ///
    /// # Errors
    /// As for [`SkeletalClip::at_times`] and [`SkeletalClip::with_morphs`].
    pub(crate) fn build(self) -> Result<SkeletalClip, ClipError> {
        let clip = match &self.times[..] {
            [] => SkeletalClip::new(self.timing, &self.frames)?,
            times => SkeletalClip::at_times(self.timing, &self.frames, times)?,
        };
        let clip = SkeletalClip {
            additive: self.additive,
            root_path: self.root_path,
            rate: self.rate,
            ..clip
        };
        clip.with_morphs(&self.morphs)
    }

    /// Returns the number of frames, at least one.
    pub(crate) fn frame_count(&self) -> usize {
        let joints = self.frames.joints.len();
        self.frames
            .transforms
            .len()
            .checked_div(joints)
            .unwrap_or(1)
    }

    /// Returns the seconds from the start to a frame.
    pub(crate) fn frame_time(&self, frame: usize) -> f64 {
        frame_time(&self.times, self.frame_count(), self.timing.duration, frame)
    }

    /// Converts the clip to differences from its first frame.
    pub(crate) fn subtract_first(&mut self) {
        (self.additive, self.root_path) = (true, None);
        self.frames.subtract_first();
        let first: Vec<f32> = self.morphs.weights[..self.morphs.names.len()].into();
        self.morphs.subtract(&first);
    }

    /// Puts joints and morph targets in the order of `skeleton`, as [`SkeletalClip::bind`] does.
    pub(crate) fn bind(&mut self, skeleton: &Skeleton) {
        self.morphs.bind(skeleton.morphs());
        if self.frames.joints == *skeleton.names() {
            return;
        }
        let frame_count = self.frame_count();
        let given = mem::take(&mut self.frames);
        // The joints of each name, and how many of them the skeleton has.
        let mut by_name: HashMap<&str, (VecDeque<usize>, usize)> = HashMap::new();
        for (joint, name) in given.joints.iter().enumerate() {
            by_name.entry(name).or_default().0.push_back(joint);
        }
        for name in skeleton.names().iter() {
            by_name.entry(name).or_default().1 += 1;
        }
        by_name
            .values_mut()
            .filter(|(joints, count)| joints.len() != *count)
            .for_each(|(joints, _)| joints.truncate(1));
        // Taken out when found, so that a second joint of the same name stays still.
        let mut take = |name: &Arc<str>| by_name.get_mut(&**name)?.0.pop_front();
        let source: Vec<Option<usize>> = skeleton.names().iter().map(&mut take).collect();
        let count = given.joints.len();
        self.frames = ClipFrames {
            joints: skeleton.names().clone(),
            animated: source
                .iter()
                .map(|s| s.is_some_and(|joint| given.animated[joint]))
                .collect(),
            transforms: (0..frame_count)
                .flat_map(|frame| source.iter().map(move |s| (frame, *s)))
                .map(|(frame, s)| {
                    s.map_or(JointTransform::IDENTITY, |joint| {
                        given.transforms[frame * count + joint]
                    })
                })
                .collect(),
        };
        if skeleton.is_empty() {
            // No transforms, so a single frame.
            self.times.clear();
        }
    }
}
