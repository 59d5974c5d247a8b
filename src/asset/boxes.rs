//! Culling boxes of a character's parts over each of its clips.
//!
//! Finding them poses every frame of a clip. For all clips of a character, that is up to a quarter of what loading it takes, and
//! only the boxes of clips that play alone are used. So a clip's boxes are found when it first does. Long clips are the
//! exception: finding their boxes would delay a frame, so that is done while loading.

use crate::{
    model::{BoundingBox, SkeletalClip, Skeleton},
    parallel::about,
    pose::PartBounds,
};
use bevy::camera::primitives::Aabb;
use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

/// Clips are long if finding their boxes takes longer.
const LONG: Duration = Duration::from_millis(1);

/// Nanoseconds of a step; see [`PartBounds::steps_over_clip`].
const STEP: u64 = 14;

/// The boxes of all clips, in their order.
#[derive(Clone, Debug)]
pub(super) struct ClipBoxes {
    figure: Arc<Figure>,
    clips: Vec<Arc<OfClip>>,
}

/// What clips move.
#[derive(Debug)]
struct Figure {
    skeleton: Arc<Skeleton>,
    bounds: Vec<Arc<PartBounds>>,
    /// The boxes of parts that no joint moves.
    at_rest: Vec<Aabb>,
}

/// The boxes of all parts over a clip.
#[derive(Debug)]
struct OfClip {
    clip: Arc<SkeletalClip>,
    boxes: OnceLock<Box<[Aabb]>>,
}

impl ClipBoxes {
    /// Prepares to find boxes of parts, given with their boxes at rest.
    pub(super) fn new(
        skeleton: &Arc<Skeleton>,
        parts: impl IntoIterator<Item = (Arc<PartBounds>, Aabb)>,
        clips: &[Arc<SkeletalClip>],
    ) -> Self {
        let (bounds, at_rest) = parts.into_iter().unzip();
        let figure = Figure {
            skeleton: skeleton.clone(),
            bounds,
            at_rest,
        };
        let mut boxes = Self {
            figure: Arc::new(figure),
            clips: Vec::new(),
        };
        boxes.follow(clips);
        boxes
    }

    /// Returns `true` if boxes are found for this skeleton and the parts with these bounds.
    pub(super) fn are_of<'b>(
        &self,
        skeleton: &Arc<Skeleton>,
        bounds: impl Iterator<Item = &'b Arc<PartBounds>>,
    ) -> bool {
        let known = self.figure.bounds.iter().map(Arc::as_ptr);
        Arc::ptr_eq(&self.figure.skeleton, skeleton) && known.eq(bounds.map(Arc::as_ptr))
    }

    /// Takes over a list of clips. Boxes of those that were there before are kept.
    pub(super) fn follow(&mut self, clips: &[Arc<SkeletalClip>]) {
        let before = std::mem::take(&mut self.clips);
        let of_clip = |clip: &Arc<SkeletalClip>| {
            let known = before.iter().find(|of| Arc::ptr_eq(&of.clip, clip));
            known.cloned().unwrap_or_else(|| {
                Arc::new(OfClip {
                    clip: clip.clone(),
                    boxes: OnceLock::new(),
                })
            })
        };
        self.clips = clips.iter().map(of_clip).collect();
    }

    /// Returns the boxes of all parts over a clip, and finds them if this is the first time. `None` if the clip at this index
    /// was another one in [`Self::follow`].
    pub(super) fn over(&self, index: usize, clip: &Arc<SkeletalClip>) -> Option<&[Aabb]> {
        let of = self.clips.get(index)?;
        Arc::ptr_eq(&of.clip, clip).then(|| self.find(of))
    }

    /// Returns work that finds the boxes of long clips, and roughly how long all of it takes.
    pub(super) fn long(&self) -> (Vec<impl FnOnce() + Send>, Duration) {
        let Figure {
            skeleton, bounds, ..
        } = &*self.figure;
        let estimate = |of: &OfClip| {
            let steps = PartBounds::steps_over_clip(bounds, skeleton, &of.clip);
            about(steps, STEP)
        };
        let long = self.clips.iter().filter(|of| estimate(of) > LONG);
        let total = long.clone().map(|of| estimate(of)).sum();
        let work = long.map(|of| || _ = self.find(of)).collect();
        (work, total)
    }

    fn find<'b>(&self, of: &'b OfClip) -> &'b [Aabb] {
        let Figure {
            skeleton,
            bounds,
            at_rest,
        } = &*self.figure;
        of.boxes.get_or_init(|| {
            // For all parts at once, because posing the clip takes most of the time.
            let boxes = PartBounds::each_over_clip(bounds, skeleton, &of.clip);
            let boxes = boxes.into_iter().zip(at_rest);
            boxes.map(|(over, &rest)| over.map_or(rest, aabb)).collect()
        })
    }
}

pub(super) fn aabb(bounds: BoundingBox) -> Aabb {
    Aabb::from_min_max(bounds.min, bounds.max)
}
