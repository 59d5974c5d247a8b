//! Bounding boxes for culling, without posing a vertex.
//!
//! Every vertex is a mean of points that lie in the boxes of its joints ([`SkinPart::joint_boxes`]), so a part is within the union
//! of those boxes, moved by their joints. That gives the box of a pose, and the box of a clip as the union over its frames.
//!
//! Between two frames, points leave those boxes; [`motion`] says how far. Morph targets enlarge the boxes by their moves at any
//! time of the clip. [`reach`] has a box around all blends of clips, which is larger, but needs no poses.

mod boxes;
mod motion;
mod reach;

pub use reach::BlendReach;

use super::{ClipLayer, Evaluate, Scratch};
use crate::model::{BoundingBox, SkeletalClip, Skeleton, SkinPart};
use boxes::{Centered, farthest, grown, intersection, sum, union, weighted};
use glam::{Affine3A, Vec3};
use motion::Motions;
use std::{
    borrow::{Borrow, Cow},
    collections::BTreeMap,
};

/// The boxes of the vertices each joint of a part moves, in the joint's bind space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartBounds {
    /// Joints of the skeleton, each with its box.
    boxes: Vec<(usize, BoundingBox)>,
    morphs: Vec<MorphBounds>,
}

/// The boxes by which a morph target moves the vertices of joints, at weight 1.
#[derive(Clone, Debug, PartialEq)]
struct MorphBounds {
    morph: usize,
    /// Indices into the list of boxes, with the box of moves.
    moves: Vec<(usize, BoundingBox)>,
}

/// More steps than this are not worth a tighter box.
const MOST_STEPS: usize = 1 << 26;

impl PartBounds {
    /// Computes the boxes of a part's joints.
    pub fn new(skeleton: &Skeleton, part: &SkinPart) -> Self {
        let boxes = part.joint_boxes(skeleton.inverse_bind());
        let joints = part
            .palette
            .iter()
            .map(|&joint| usize::from(joint))
            .zip(boxes);
        let boxes = joints
            .filter_map(|(joint, bounds)| Some((joint, bounds?)))
            .filter(|(j, _)| *j < skeleton.len());
        let boxes: Vec<_> = boxes.collect();
        let mut places = vec![None; skeleton.len()];
        for (at, (joint, _)) in boxes.iter().enumerate() {
            places[*joint] = Some(at);
        }
        let morphs = part.morphs.iter().map(|target| {
            let mut moves: BTreeMap<usize, BoundingBox> = BTreeMap::new();
            for (vertex, delta) in target.iter().filter(|(v, _)| *v < part.positions.len()) {
                for (slot, _) in part.joint_weights(vertex) {
                    let joint = usize::from(part.palette[slot]);
                    let Some(at) = places.get(joint).copied().flatten() else {
                        continue;
                    };
                    let matrix = skeleton.inverse_bind()[joint];
                    let moved = BoundingBox::point(matrix.transform_vector3(delta.position));
                    let all = moves.entry(at).or_insert(BoundingBox::point(Vec3::ZERO));
                    *all = all.union(moved);
                }
            }
            MorphBounds {
                morph: target.morph.into(),
                moves: moves.into_iter().collect(),
            }
        });
        Self {
            morphs: morphs.filter(|morph| !morph.moves.is_empty()).collect(),
            boxes,
        }
    }

    /// Returns the bounds of the part as these morph weights shape it, one for each name of the skeleton's
    /// [`Morphs`](crate::model::Morphs). Those of [`Self::new`] are of the basic shape.
    pub fn with_weights(&self, weights: &[f32]) -> Self {
        let weight = |morph: usize| weights.get(morph).copied().unwrap_or(0.0);
        self.with_moves(|moves, morph| weighted(moves, weight(morph)))
    }

    /// The bounds for any weights that a clip shows, alone and at full weight.
    fn over_weights(&self, skeleton: &Skeleton, clip: &SkeletalClip) -> Cow<'_, Self> {
        let rest = skeleton.morphs().rest();
        if self.morphs.is_empty() || (rest.iter().all(|w| *w == 0.0) && !clip.animates_morphs()) {
            return Cow::Borrowed(self);
        }
        let frames = clip.morph_frames();
        let count = frames.names.len();
        if count != rest.len() {
            return Cow::Owned(self.with_weights(rest));
        }
        let weight = |morph: usize, frame: usize| {
            let shown = frames.weights[frame * count + morph];
            match (frames.animated[morph], clip.additive) {
                (false, _) => rest[morph],
                (true, false) => shown,
                (true, true) => rest[morph] + shown,
            }
        };
        let frame_count = clip.morph_frame_count();
        let steps: usize = self.morphs.iter().map(|morph| morph.moves.len()).sum();
        if steps.saturating_mul(frame_count) > MOST_STEPS {
            // Too many steps to do it exactly, so each target's moves over all frames are added, as
            // if any combination occurred.
            return Cow::Owned(self.with_moves(|moves, morph| {
                let all = (0..frame_count).map(|frame| weighted(moves, weight(morph, frame)));
                all.reduce(BoundingBox::union).unwrap_or(moves)
            }));
        }
        // Between two frames, weights are between theirs.
        let mut all: Option<Self> = None;
        for frame in 0..frame_count {
            let now = self.with_moves(|moves, morph| weighted(moves, weight(morph, frame)));
            match &mut all {
                None => all = Some(now),
                Some(all) => {
                    for ((_, all), (_, now)) in all.boxes.iter_mut().zip(now.boxes) {
                        *all = all.union(now);
                    }
                }
            }
        }
        all.map_or(Cow::Borrowed(self), Cow::Owned)
    }

    /// Returns the bounds enlarged by the motion of each morph target.
    fn with_moves(&self, of: impl Fn(BoundingBox, usize) -> BoundingBox) -> Self {
        let mut boxes = self.boxes.clone();
        for MorphBounds { morph, moves } in &self.morphs {
            for &(at, moves) in moves {
                boxes[at].1 = sum(boxes[at].1, of(moves, *morph));
            }
        }
        Self {
            boxes,
            morphs: Vec::new(),
        }
    }

    /// Returns the box of the part in a pose, given as the joints' matrices and in their space.
    ///
    /// `None` if no joint moves the part or the box is not finite. Joints without a matrix are ignored.
    pub fn posed(&self, model: &[Affine3A]) -> Option<BoundingBox> {
        let moved = |(joint, bounds): &(usize, BoundingBox)| {
            Some(Centered::new(bounds).transformed(model.get(*joint)?))
        };
        union(self.boxes.iter().filter_map(moved)).filter(BoundingBox::is_finite)
    }

    /// Returns a box in model space that contains the part at every time of a clip that plays
    /// alone, at full weight and without a mask; an additive clip on top of the rest pose.
    ///
    /// Poses every frame, so it belongs to load time. `None` as for [`Self::posed`], and if the clip is
    /// not bound to the skeleton.
    pub fn over_clip(&self, skeleton: &Skeleton, clip: &SkeletalClip) -> Option<BoundingBox> {
        Self::each_over_clip(std::slice::from_ref(self), skeleton, clip)
            .pop()
            .flatten()
    }

    /// Returns roughly how many steps of a dozen nanoseconds [`Self::each_over_clip`] takes.
    pub fn steps_over_clip(
        parts: &[impl Borrow<Self>],
        skeleton: &Skeleton,
        clip: &SkeletalClip,
    ) -> usize {
        let parts = || parts.iter().map(Borrow::borrow);
        let boxes = parts().map(|part: &Self| part.boxes.len()).sum::<usize>();
        let of_frame = 2 * skeleton.len() + boxes;
        let morphing = parts().filter(|part| !part.morphs.is_empty());
        let of_morphs = morphing.map(|part| {
            let moves = part.morphs.iter().map(|morph| morph.moves.len());
            part.boxes.len() + moves.sum::<usize>()
        });
        let posing = clip.frame_count().saturating_mul(of_frame);
        let morphing = clip.morph_frame_count().saturating_mul(of_morphs.sum());
        posing.saturating_add(morphing)
    }

    /// Returns [`Self::over_clip`] of each of `parts`, posing every frame once.
    pub fn each_over_clip(
        parts: &[impl Borrow<Self>],
        skeleton: &Skeleton,
        clip: &SkeletalClip,
    ) -> Vec<Option<BoundingBox>> {
        if clip.rows().len() != skeleton.rows() {
            return vec![None; parts.len()];
        }
        let parts: Vec<_> = parts
            .iter()
            .map(|part| part.borrow().over_weights(skeleton, clip))
            .collect();
        // What is the same in all frames.
        let prepared = |(joint, bounds): &(usize, BoundingBox)| {
            (*joint, Centered::new(bounds), farthest(*bounds))
        };
        let centered: Vec<Vec<(usize, Centered, f64)>> = parts
            .iter()
            .map(|part| part.boxes.iter().map(prepared).collect())
            .collect();
        let mut scratch = Scratch::default();
        let mut motions = Motions::new(skeleton, parts.iter().flat_map(|part| part.joints()));
        // Per part: the box of the frame before, and the union so far.
        let mut boxes: Vec<(Option<BoundingBox>, Option<BoundingBox>)> =
            vec![(None, None); parts.len()];
        for frame in 0..clip.frame_count() {
            Evaluate::new(skeleton, &[ClipLayer::new(clip, clip.time_showing(frame))])
                .run_clips(None, &mut scratch);
            motions.follow(skeleton, &scratch);
            // Two frames at the same time are a step: nothing passes through the space between
            // them.
            let moves = frame > 0 && clip.frame_time(frame - 1) < clip.frame_time(frame);
            for (part, (before, all)) in centered.iter().zip(&mut boxes) {
                let moved = |(joint, bounds, _): &(usize, Centered, f64)| {
                    Some(bounds.transformed(scratch.model().get(*joint)?))
                };
                let Some(mut now) = union(part.iter().filter_map(moved)) else {
                    continue;
                };
                // A little larger, since matrices and products are rounded.
                now = grown(
                    now,
                    Vec3::splat(now.max.abs().max(now.min.abs()).max_element() * 1e-5),
                );
                // Straight lines from the frame before lie in the union of both boxes. Points leave them by the margin.
                let margin = part
                    .iter()
                    .map(|&(joint, _, farthest)| motions.margin(joint, farthest));
                let margin = Vec3::splat(margin.fold(0.0, f64::max) as f32);
                let since = before
                    .filter(|_| moves)
                    .map_or(now, |before| grown(now.union(before), margin));
                *all = Some(all.map_or(since, |all| all.union(since)));
                *before = Some(now);
            }
        }
        // Between frames far apart the margin can exceed what the joints can reach.
        let reach =
            BlendReach::new(skeleton, [clip]).with_additive(clip.additive.then_some((0, 1.0)));
        let within = |(part, (_, all)): (Cow<Self>, (_, Option<BoundingBox>))| {
            Some(intersection(all?, part.reach(&reach)?)).filter(BoundingBox::is_finite)
        };
        parts.into_iter().zip(boxes).map(within).collect()
    }

    /// Returns a box in model space that contains the part in every pose within `reach`: a generous box,
    /// of the balls that the chains of joints can reach around their root. `None` as for [`Self::posed`].
    pub fn within(&self, reach: &BlendReach) -> Option<BoundingBox> {
        let shaped = self.with_moves(|moves, morph| {
            let [least, most] = reach.weights(morph);
            weighted(moves, least).union(weighted(moves, most))
        });
        shaped.reach(reach).filter(BoundingBox::is_finite)
    }

    /// The joints that move the part, each with the box of the vertices it moves, in the joint's bind space.
    pub(super) fn joints(&self) -> impl Iterator<Item = (usize, BoundingBox)> {
        self.boxes.iter().copied()
    }

    fn reach(&self, reach: &BlendReach) -> Option<BoundingBox> {
        let reached = self
            .joints()
            .filter_map(|(joint, bounds)| reach.around(joint, farthest(bounds)));
        reached.reduce(BoundingBox::union)
    }
}
