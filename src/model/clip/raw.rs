//! Clips that are still being edited.

use super::{ClipError, ClipFrames, MorphCurves, MorphFrames, SkeletalClip, frame_time};
use crate::model::{ClipTiming, RootPath};
use std::sync::Arc;

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
    morphs: Option<Arc<MorphCurves>>,
}

impl SkeletalClip {
    /// Takes the clip apart.
    pub(crate) fn to_raw(&self) -> RawClip {
        RawClip {
            additive: self.additive,
            root_path: self.root_path.clone(),
            morphs: self.morphs.clone(),
            ..RawClip::new(self.timing.clone(), self.to_frames(), self.times.to_vec())
        }
    }
}

impl RawClip {
    /// A clip that moves no morph targets.
    pub(crate) fn new(timing: ClipTiming, frames: ClipFrames, times: Vec<f64>) -> Self {
        Self {
            timing,
            additive: false,
            root_path: None,
            frames,
            times,
            morphs: None,
        }
    }

    /// Builds the clip.
    ///
    /// # Errors
    /// As for [`SkeletalClip::at_times`].
    pub(crate) fn build(self) -> Result<SkeletalClip, ClipError> {
        let clip = match &self.times[..] {
            [] => SkeletalClip::new(self.timing, &self.frames)?,
            times => SkeletalClip::at_times(self.timing, &self.frames, times)?,
        };
        Ok(SkeletalClip {
            additive: self.additive,
            root_path: self.root_path,
            morphs: self.morphs,
            ..clip
        })
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
    ///
    /// # Errors
    /// A difference of weights is not finite.
    pub(crate) fn subtract_first(&mut self) -> Result<(), ClipError> {
        (self.additive, self.root_path) = (true, None);
        self.frames.subtract_first();
        self.edit_morphs(MorphFrames::subtract_first)
    }

    /// Sets the weights of morph targets, which have frames of their own.
    ///
    /// # Errors
    /// As for [`SkeletalClip::with_morphs`].
    pub(crate) fn set_morphs(&mut self, frames: &MorphFrames) -> Result<(), ClipError> {
        let curves = MorphCurves::new(&self.timing.name, self.timing.duration, frames)?;
        self.morphs = curves.map(Arc::new);
        Ok(())
    }

    pub(crate) fn edit_morphs(
        &mut self,
        edit: impl FnOnce(&mut MorphFrames),
    ) -> Result<(), ClipError> {
        let Some(curves) = &self.morphs else {
            return Ok(());
        };
        let mut frames = curves.to_frames();
        edit(&mut frames);
        self.set_morphs(&frames)
    }
}
