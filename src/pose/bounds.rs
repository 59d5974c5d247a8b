//! Bounding boxes for culling, without posing a vertex.
//!
//! Every vertex is a mean of points that lie in the boxes of its joints
//! ([`SkinPart::joint_boxes`]), so a part is within the union of those boxes, moved by their
//! joints. That gives the box of a pose, and the box of a clip as the union over its frames.
//!
//! Between two frames a point does not move in a straight line and may leave the boxes of both. How
//! far is bounded by its acceleration: a path over a unit of time whose second derivative is at
//! most `a` stays within `a/8` of the line between its ends (the error of linear interpolation).
//! The derivatives of a point under a chain of joints follow from those of each joint by the
//! product rule. Morph targets enlarge the boxes by their motion at any time of the clip. For nlerp
//! between two unit quaternions an angle φ apart, with `D = 1 − 2t(1 − t)(1 − cos φ)`, the half
//! angle has the derivatives `sin φ / D` and `2 sin φ (1 − cos φ)(1 − 2t) / D²`, and `D ≥ (1 + cos
//! φ) / 2`.

use super::{ClipLayer, Evaluate, Scratch};
use crate::model::{
    BoundingBox, JointIndex, JointReach, JointTransform, Reach, SkeletalClip, Skeleton, SkinPart,
};
use glam::{Affine3A, Vec3, Vec3A, Vec4};
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

/// Scales a box of moves by a weight.
fn weighted(moves: BoundingBox, weight: f32) -> BoundingBox {
    let (a, b) = (moves.min * weight, moves.max * weight);
    // A negative weight swaps the corners.
    BoundingBox {
        min: a.min(b),
        max: a.max(b),
    }
}

/// The box of sums of points in two boxes.
fn sum(a: BoundingBox, b: BoundingBox) -> BoundingBox {
    BoundingBox {
        min: a.min + b.min,
        max: a.max + b.max,
    }
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
        let carries = carriers(&parts, skeleton);
        let mut paths: Vec<Path> = vec![Path::default(); skeleton.len()];
        // The paths of joints that stand still, relative to their parents.
        let mut still: Vec<Option<Path>> = vec![None; skeleton.len()];
        let mut local = vec![JointTransform::IDENTITY; skeleton.len()];
        // Per part: the box of the frame before, and the union so far.
        let mut boxes: Vec<(Option<BoundingBox>, Option<BoundingBox>)> =
            vec![(None, None); parts.len()];
        for frame in 0..clip.frame_count() {
            Evaluate::new(skeleton, &[ClipLayer::new(clip, clip.time_showing(frame))])
                .run_clips(None, &mut scratch);
            // Two frames at the same time are a step: nothing passes through the space between
            // them.
            let moves = frame > 0 && clip.frame_time(frame - 1) < clip.frame_time(frame);
            for (joint, before) in local
                .iter_mut()
                .enumerate()
                .filter(|(joint, _)| carries[*joint])
            {
                let now = scratch.joint(joint).unwrap_or(*before);
                let path = || Path::from(Motion::new(before, &now));
                let path = if now == *before {
                    *still[joint].get_or_insert_with(path)
                } else {
                    still[joint] = None;
                    path()
                };
                // Parents come first.
                let parent = skeleton.parents()[joint];
                paths[joint] =
                    parent.map_or(path, |parent| path.under(&paths[usize::from(parent)]));
                *before = now;
            }
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
                // The lines from the frame before lie in the union of both boxes.
                let margin = Vec3::splat(margin(part, &paths));
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
        let range = |morph: usize| reach.weights.get(morph).copied().unwrap_or_default();
        let shaped = self.with_moves(|moves, morph| {
            let [least, most] = range(morph);
            weighted(moves, least).union(weighted(moves, most))
        });
        shaped.reach(reach).filter(BoundingBox::is_finite)
    }

    /// The joints that move the part, each with the box of the vertices it moves, in the joint's bind space.
    pub(super) fn joints(&self) -> impl Iterator<Item = (usize, BoundingBox)> {
        self.boxes.iter().copied()
    }

    fn reach(
        &self,
        BlendReach {
            reach: Reach { joints, .. },
            parents,
            roots,
            ..
        }: &BlendReach,
    ) -> Option<BoundingBox> {
        let reached = |&(mut joint, bounds): &(usize, BoundingBox)| {
            // From the vertex up to the root: each ancestor scales everything below it, and adds
            // its own translation.
            let mut radius = farthest(bounds);
            while let Some(parent) = parents[joint] {
                radius = radius * joints[joint].scale + joints[joint].distance;
                joint = usize::from(parent);
            }
            Some(grown(
                roots[joint]?,
                Vec3::splat((radius * joints[joint].scale * 1.00001) as f32),
            ))
        };
        let all = self.boxes.iter().filter_map(reached);
        all.reduce(BoundingBox::union)
    }
}

/// The space that a skeleton's joints can reach in any blend of its clips, whatever the weights,
/// masks and times.
///
/// Covers blended and overriding layers, and the additive ones given to [`Self::with_additive`], but
/// neither IK nor joint overrides.
#[derive(Clone, Debug)]
pub struct BlendReach {
    reach: Reach,
    parents: Vec<Option<JointIndex>>,
    /// The box of each root's positions.
    roots: Vec<Option<BoundingBox>>,
    /// The largest change that each clip makes to each joint at weight 1: a distance and a change
    /// of scale. Empty for a clip that is not bound to the skeleton.
    differences: Vec<Vec<JointReach>>,
    /// The least and the largest weight of each morph target.
    weights: Vec<[f32; 2]>,
    /// The least and the largest change that each clip makes to each weight.
    weight_changes: Vec<Vec<[f32; 2]>>,
}

impl BlendReach {
    /// Computes the reach of the rest pose and `clips`. Clips that are not bound to the skeleton are ignored.
    pub fn new<'c>(skeleton: &Skeleton, clips: impl IntoIterator<Item = &'c SkeletalClip>) -> Self {
        let parents = skeleton.parents();
        let mut reach = Reach::of_rest(skeleton);
        let mut roots: Vec<Option<BoundingBox>> = vec![None; parents.len()];
        let mut place = |joint: usize, translation: Vec3| {
            if parents[joint].is_none() {
                let at = BoundingBox::point(translation);
                roots[joint] = Some(roots[joint].map_or(at, |bounds| bounds.union(at)));
            }
        };
        skeleton
            .joints()
            .for_each(|joint| place(joint.into(), skeleton.rest_of(joint).translation));
        let rest = skeleton.morphs().rest();
        let mut weights: Vec<[f32; 2]> = rest.iter().map(|&rest| [rest; 2]).collect();
        let mut weight_changes = Vec::new();
        let (mut differences, widen) = (Vec::new(), |[least, most]: &mut [f32; 2], to: f32| {
            (*least, *most) = (least.min(to), most.max(to));
        });
        for clip in clips {
            let frames = clip.morph_frames();
            let mut changes = vec![[0.0; 2]; rest.len()];
            if frames.names.len() == rest.len() {
                for (at, &weight) in frames.weights.iter().enumerate() {
                    let morph = at % rest.len();
                    match (frames.animated[morph], clip.additive) {
                        (false, _) => {}
                        (true, true) => widen(&mut changes[morph], weight),
                        (true, false) => {
                            widen(&mut weights[morph], weight);
                            widen(&mut changes[morph], weight - rest[morph]);
                        }
                    }
                }
            }
            weight_changes.push(changes);
            let mut of_clip = Vec::new();
            if clip.rows().len() == skeleton.rows() {
                if clip.additive {
                    of_clip = clip.largest(|_, shift| shift, |_, ratio| ratio.map(|r| r - 1.0));
                } else {
                    reach.include(clip);
                    for joint in (0..parents.len())
                        .filter(|&joint| parents[joint].is_none() && clip.animates(joint))
                    {
                        (0..clip.frame_count()).for_each(|frame| {
                            place(joint, clip.transform_at(joint, frame).translation)
                        });
                    }
                    // Any clip can be added, so those that hold poses count by their difference to the rest pose, too.
                    of_clip = clip.largest(
                        |row, [x, y, z]| {
                            let rest = skeleton.rest()[row].translation;
                            [x - rest.x, y - rest.y, z - rest.z]
                        },
                        |row, [x, y, z]| {
                            let rest = skeleton.rest()[row].scale;
                            [x / rest.x, y / rest.y, z / rest.z].map(|ratio| {
                                // Where there is no ratio, nothing changes.
                                Vec4::select(ratio.is_finite_mask(), ratio, Vec4::ONE) - 1.0
                            })
                        },
                    );
                }
                of_clip.resize(parents.len(), JointReach::default());
            }
            differences.push(of_clip);
        }
        Self {
            reach,
            parents: parents.to_vec(),
            roots,
            differences,
            weights,
            weight_changes,
        }
    }

    /// Returns the reach with additive layers on top: for each layer the index of its clip, in the order given to
    /// [`Self::new`], and its largest weight. Unknown indices are ignored.
    pub fn with_additive(&self, layers: impl IntoIterator<Item = (usize, f32)>) -> Self {
        let Self {
            mut reach,
            parents,
            mut roots,
            differences,
            mut weights,
            weight_changes,
        } = self.clone();
        for (clip, weight) in layers {
            let weight: f64 = if weight > 0.0 {
                weight.min(ClipLayer::MAX_ADDITIVE_WEIGHT).into()
            } else {
                0.0
            };
            let changes = weight_changes.get(clip).into_iter().flatten();
            for ([least, most], [less, more]) in weights.iter_mut().zip(changes) {
                *least += less * weight as f32;
                *most += more * weight as f32;
            }
            for (joint, added) in differences.get(clip).into_iter().flatten().enumerate() {
                let JointReach { distance, scale } = &mut reach.joints[joint];
                let shift: f64 = weight * added.distance;
                *distance += shift;
                *scale *= 1.0 + weight * added.scale;
                roots[joint] =
                    roots[joint].map(|root| grown(root, Vec3::splat((shift * 1.00001) as f32)));
            }
        }
        Self {
            reach,
            parents,
            roots,
            differences,
            weights,
            weight_changes,
        }
    }
}

/// Returns, per joint, `true` if it moves a vertex of a part, or a joint below does.
fn carriers(parts: &[Cow<PartBounds>], skeleton: &Skeleton) -> Vec<bool> {
    let mut carries = vec![false; skeleton.len()];
    for (joint, _) in parts.iter().flat_map(|part| &part.boxes) {
        carries[*joint] = true;
    }
    // Children come first.
    for joint in (0..skeleton.len()).rev() {
        if let Some(parent) = skeleton.parents()[joint] {
            carries[usize::from(parent)] |= carries[joint];
        }
    }
    carries
}

/// Returns the box that two overlapping boxes share, or the first one if they fail to overlap
/// because of rounding.
fn intersection(a: BoundingBox, b: BoundingBox) -> BoundingBox {
    let both = BoundingBox {
        min: a.min.max(b.min),
        max: a.max.min(b.max),
    };
    if both.min.cmple(both.max).all() {
        both
    } else {
        a
    }
}

fn grown(BoundingBox { min, max }: BoundingBox, margin: Vec3) -> BoundingBox {
    BoundingBox {
        min: min - margin,
        max: max + margin,
    }
}

/// A box, as it is transformed.
#[derive(Clone, Copy)]
struct Centered {
    center: Vec3A,
    /// Half of its size.
    half: Vec3A,
}

impl Centered {
    fn new(BoundingBox { min, max }: &BoundingBox) -> Self {
        let (min, max) = (Vec3A::from(*min), Vec3A::from(*max));
        Self {
            // Corners are halved before they are added, since a sum of large ones may overflow.
            center: min * 0.5 + max * 0.5,
            half: (max - min) * 0.5,
        }
    }

    /// Returns the smallest and the largest corner of the box around the transformed box.
    fn transformed(&self, matrix: &Affine3A) -> [Vec3A; 2] {
        // By center and half extents, as in Arvo, "Transforming Axis-Aligned Bounding Boxes" (Graphics
        // Gems, 1990).
        let center = matrix.transform_point3a(self.center);
        let m = &matrix.matrix3;
        let half = m.x_axis.abs() * self.half.x
            + m.y_axis.abs() * self.half.y
            + m.z_axis.abs() * self.half.z;
        [center - half, center + half]
    }
}

/// Returns the box around boxes with these corners; `None` if there are none.
fn union(boxes: impl Iterator<Item = [Vec3A; 2]>) -> Option<BoundingBox> {
    let [min, max] = boxes.reduce(|[min, max], [low, high]| [min.min(low), max.max(high)])?;
    Some(BoundingBox {
        min: min.into(),
        max: max.into(),
    })
}

/// Returns an upper bound on how far any point of a part leaves the line between its positions at two
/// frames; see the head of this file. Its boxes come with the distances of their farthest corners.
fn margin(boxes: &[(usize, Centered, f64)], paths: &[Path]) -> f32 {
    let accelerations = boxes
        .iter()
        .map(|&(joint, _, farthest)| paths[joint].acceleration_of(farthest));
    (accelerations.fold(0.0, f64::max) / 8.0) as f32
}

/// The distance from the origin to the farthest corner.
fn farthest(BoundingBox { min, max }: BoundingBox) -> f64 {
    f64::from(min.abs().max(max.abs()).length())
}

/// Upper bounds on how a joint moves between two frames, with the time between them as the unit.
#[derive(Clone, Copy, Debug, Default)]
struct Motion {
    distance: f64,
    shift: f64,
    turn: f64,
    turn_change: f64,
    scale: f64,
    scale_change: f64,
}

impl Motion {
    /// The motion from one frame to the next.
    fn new(a: &JointTransform, b: &JointTransform) -> Self {
        // The sine and cosine of the angle between the quaternions. They are interpolated in one hemisphere.
        let dot = a.rotation.dot(b.rotation);
        let sin = f64::from((b.rotation - a.rotation * dot).length());
        let cos = f64::from(dot.abs()).min(1.0);
        let least = (1.0 + cos) / 2.0;
        Self {
            distance: f64::from(a.translation.length().max(b.translation.length())),
            shift: f64::from(a.translation.distance(b.translation)),
            // Twice the derivatives of the half angle.
            turn: 2.0 * sin / least,
            turn_change: 4.0 * sin * (1.0 - cos) / (least * least),
            scale: f64::from(a.scale.abs().max(b.scale.abs()).max_element()),
            scale_change: f64::from((a.scale - b.scale).abs().max_element()),
        }
    }
}

/// Upper bounds on how a point that is fixed to a joint moves in model space, as functions of its distance `d` from the joint:
/// its own distance is `scale · d + distance`, its speed `turn · d + speed`, its acceleration `bend · d + acceleration`.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    scale: f64,
    turn: f64,
    bend: f64,
    distance: f64,
    speed: f64,
    acceleration: f64,
}

/// The path in the space of the joint's parent: `T + R · S · p`, by the product rule. About a fixed axis, `|R'| = ω` and
/// `|R''| ≤ ω' + ω²`; translation and scale are linear, so their second derivatives are 0.
impl From<Motion> for Path {
    fn from(joint: Motion) -> Self {
        let turn_squared = joint.turn_change + joint.turn * joint.turn;
        Self {
            scale: joint.scale,
            turn: joint.scale_change + joint.turn * joint.scale,
            bend: 2.0 * joint.turn * joint.scale_change + turn_squared * joint.scale,
            distance: joint.distance,
            speed: joint.shift,
            acceleration: 0.0,
        }
    }
}

impl Path {
    /// The path in the space that `parent` is in. The second derivative of a product is `f''·g + 2·f'·g' + f·g''`.
    fn under(self, parent: &Self) -> Self {
        Self {
            scale: parent.scale * self.scale,
            turn: parent.scale * self.turn + parent.turn * self.scale,
            bend: parent.scale * self.bend
                + 2.0 * parent.turn * self.turn
                + parent.bend * self.scale,
            distance: parent.scale * self.distance + parent.distance,
            speed: parent.scale * self.speed + parent.turn * self.distance + parent.speed,
            acceleration: parent.scale * self.acceleration
                + 2.0 * parent.turn * self.speed
                + parent.bend * self.distance
                + parent.acceleration,
        }
    }

    /// The largest acceleration of a point at this distance from the joint.
    fn acceleration_of(&self, distance: f64) -> f64 {
        self.bend * distance + self.acceleration
    }
}
