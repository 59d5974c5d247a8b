//! Culling boxes of a character's parts over each of its clips.
//!
//! Finding them poses every frame of a clip. For all clips of a character, that was up to a quarter of what loading it takes,
//! and only the boxes of clips that play alone are used. So they are found when their clip first does. Only those of long clips
//! are found while loading, because a frame would miss the time.

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

/// Clips are long if it takes longer to find their boxes.
const LONG: Duration = Duration::from_millis(1);

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
        let joints = self.figure.skeleton.len();
        let estimate = |of: &OfClip| about(of.clip.frame_count().saturating_mul(joints), 40);
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
