//! The input that clips are made from.

use crate::model::JointTransform;
use std::sync::Arc;

/// A clip's transforms, frame by frame: the input of [`SkeletalClip::new`](super::SkeletalClip::new).
///
/// ```
/// # use bevy_marionette::model::{ClipFrames, ClipTiming, JointTransform, SkeletalClip};
/// # use glam::{Quat, Vec3};
/// let up = |y| JointTransform::new(Vec3::Y * y, Quat::IDENTITY);
/// let frames = ClipFrames {
///     joints: ["lift".into()].into(),
///     transforms: vec![up(0.0), up(1.0), up(0.0)],
///     ..ClipFrames::default()
/// };
/// let clip = SkeletalClip::new(ClipTiming::new("bob", 2.0), &frames)?;
/// assert_eq!(clip.frame_count(), 3);
/// # Ok::<(), bevy_marionette::model::ClipError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ClipFrames {
    /// Joint names, one for each transform of a frame.
    pub joints: Arc<[Arc<str>]>,
    /// Per joint, `true` if the clip moves it; the transforms of other joints are ignored. If
    /// empty, all joints move.
    pub animated: Vec<bool>,
    /// At least one frame of `joints.len()` transforms relative to the parents.
    pub transforms: Vec<JointTransform>,
}

impl ClipFrames {
    /// Converts the frames to differences from the first one.
    pub(crate) fn subtract_first(&mut self) {
        let joints = self.joints.len();
        let first: Vec<JointTransform> = self.transforms.iter().take(joints).copied().collect();
        for (i, transform) in self.transforms.iter_mut().enumerate() {
            *transform = transform.difference_to(&first[i % joints]);
        }
    }
}

/// An error in making a [`SkeletalClip`](super::SkeletalClip) from frames.
///
/// ```
/// # use bevy_marionette::model::{ClipError, ClipFrames, ClipTiming, JointTransform, SkeletalClip};
/// // Two joints, but three transforms.
/// let frames = ClipFrames {
///     joints: ["hip".into(), "knee".into()].into(),
///     transforms: vec![JointTransform::IDENTITY; 3],
///     ..ClipFrames::default()
/// };
/// let error = SkeletalClip::new(ClipTiming::new("kick", 0.5), &frames).unwrap_err();
/// assert!(matches!(error, ClipError::NotWholeFrames { transforms: 3, joints: 2, .. }));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClipError {
    /// There is no frame, or the number of transforms is not a multiple of the number of joints.
    #[error(
        "clip `{clip}` has {transforms} transforms for {joints} joints: not a whole number of frames"
    )]
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
    /// There is no frame of weights, or their number is not a multiple of the number of morph targets.
    #[error(
        "clip `{clip}` has {weights} weights for {morphs} morph targets: not a whole number of frames"
    )]
    NotWholeWeights {
        /// Name of the clip.
        clip: Arc<str>,
        /// Number of weights given.
        weights: usize,
        /// Number of morph targets given.
        morphs: usize,
    },
    /// A weight of a morph target is not finite.
    #[error("clip `{clip}`, frame {frame}, morph target `{morph}`: a weight that is not finite")]
    WeightNotFinite {
        /// Name of the clip.
        clip: Arc<str>,
        /// Index of the frame.
        frame: usize,
        /// Name of the morph target.
        morph: Arc<str>,
    },
    /// The duration is negative or not finite.
    #[error("clip `{clip}` has a duration of {duration} s, expected a finite number, 0 or more")]
    BadDuration {
        /// Name of the clip.
        clip: Arc<str>,
        /// The duration in seconds.
        duration: f64,
    },
    /// The times of the frames do not run from 0 to the duration, decrease, or are not one for each frame.
    #[error(
        "clip `{clip}`: it needs a time for each of its {frames} frames, from 0 to {duration} s, never decreasing"
    )]
    BadTimes {
        /// Name of the clip.
        clip: Arc<str>,
        /// Number of frames.
        frames: usize,
        /// The clip's duration in seconds.
        duration: f64,
    },
    /// The clip carries the skin farther than single precision can compute.
    #[error("clip `{clip}`: {reason}")]
    TooFar {
        /// Name of the clip.
        clip: Arc<str>,
        /// The joint that goes too far, and by how much.
        reason: String,
    },
}
