//! How far a part of the skin reaches: boxes for culling, without posing a vertex.
//!
//! Every vertex is a mean of points that lie in the boxes of its joints
//! ([`SkinPart::joint_boxes`]), so a part lies within the box around those boxes, moved by their
//! joints. That gives the box of a pose, and the box of a clip as the union over its frames.
//!
//! Between two frames a point does not go straight, and may leave the boxes at both. How far is
//! bounded by its acceleration: a path over a unit of time whose second derivative is at most `a`
//! stays within `a/8` of the line between its ends (linear interpolation's error). The derivatives
//! of a point under a chain of joints follow by the product rule from those of each joint, and for
//! nlerp between two unit quaternions an angle φ apart these are known: with
//! `D = 1 − 2t(1 − t)(1 − cos φ)` the half angle has the derivatives `sin φ / D` and
//! `2 sin φ (1 − cos φ)(1 − 2t) / D²`, and `D ≥ (1 + cos φ) / 2`.

use super::{ClipLayer, Evaluate, Scratch};
use crate::model::{BoundingBox, JointIndex, JointTransform, SkeletalClip, Skeleton, SkinPart};
use glam::{Affine3A, Vec3A};

/// The boxes of the vertices each joint moves, in the joint's bind space.
///
/// Boxes are given in the space of the matrices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartBounds {
    /// Joints of the skeleton, each with its box.
    boxes: Vec<(usize, Bounds)>,
}

impl PartBounds {
    /// The boxes of a part's joints.
    pub fn new(skeleton: &Skeleton, part: &SkinPart) -> Self {
        let boxes = part.joint_boxes(skeleton.inverse_bind());
        let boxes = part.palette.iter().zip(boxes).filter_map(|(&joint, corners)| {
            let BoundingBox { min, max } = corners?;
            let joint = Some(usize::from(joint)).filter(|&joint| joint < skeleton.len())?;
            Some((joint, Bounds { min: min.into(), max: max.into() }))
        });
        Self { boxes: boxes.collect() }
    }

    /// The box of the part in a pose given as matrices of the joints; `None` for a part that no joint
    /// moves, or a box that is not finite. Joints without a matrix are passed over.
    pub fn posed(&self, model: &[Affine3A]) -> Option<BoundingBox> {
        self.posed_bounds(model).and_then(Bounds::corners)
    }

    /// The box in model space, conservative, of the part at every moment of a clip that plays alone, at
    /// full weight and without a mask.
    ///
    /// Meant for load time: it poses every frame. `None` as for [`Self::posed`], and for a clip that is
    /// not bound to the skeleton.
    pub fn over_clip(&self, skeleton: &Skeleton, clip: &SkeletalClip) -> Option<BoundingBox> {
        Self::each_over_clip(std::slice::from_ref(self), skeleton, clip).pop().flatten()
    }

    /// [`Self::over_clip`] of each of `parts`, posing every frame once for all.
    pub fn each_over_clip(parts: &[Self], skeleton: &Skeleton, clip: &SkeletalClip) -> Vec<Option<BoundingBox>> {
        if clip.rows().len() != skeleton.rows() {
            return vec![None; parts.len()];
        }
        let mut scratch = Scratch::default();
        let mut motions = vec![Motion::default(); skeleton.len()];
        let last = clip.frame_count() - 1;
        // Per part, the frame before and all so far.
        let mut boxes: Vec<(Option<Bounds>, Option<Bounds>)> = vec![(None, None); parts.len()];
        for frame in 0..=last {
            let time = if last > 0 { clip.timing.duration * frame as f64 / last as f64 } else { 0.0 };
            Evaluate::new(skeleton, &[ClipLayer::new(clip, time)]).run_clips(None, &mut scratch);
            if frame > 0 {
                motions.iter_mut().enumerate().for_each(|(joint, m)| *m = Motion::new(skeleton, clip, joint, frame));
            }
            for (part, (before, all)) in parts.iter().zip(&mut boxes) {
                let Some(mut now) = part.posed_bounds(scratch.model()) else { continue };
                // Matrices and what they move are rounded: a little more than they say.
                now = now.grown(now.max.abs().max(now.min.abs()).max_element() * 1e-5);
                // The lines from the frame before lie in the box around both.
                let since = before.map_or(now, |before| now.union(before).grown(part.margin(skeleton, &motions)));
                *all = Some(all.map_or(since, |all| all.union(since)));
                *before = Some(now);
            }
        }
        // Between frames far apart the margin can come to more than the joints can reach.
        let reach = Reach::new(skeleton, [clip]);
        let within = |(part, (_, all)): (&Self, (_, Option<Bounds>))| all?.intersection(part.reach(&reach)?).corners();
        parts.iter().zip(boxes).map(within).collect()
    }

    /// The box in model space of the part in any blend of `clips`, whatever the weights, masks and
    /// times, and in the rest pose; not under additive layers, IK or joints set by hand.
    ///
    /// It is the ball that the chains of joints can reach around their root, wherever the root goes:
    /// generous, but always right. `None` as for [`Self::posed`]; clips that are not bound to the
    /// skeleton are passed over.
    pub fn over_any_blend<'c>(
        &self,
        skeleton: &Skeleton,
        clips: impl IntoIterator<Item = &'c SkeletalClip>,
    ) -> Option<BoundingBox> {
        self.within(&Reach::new(skeleton, clips))
    }

    /// [`Self::over_any_blend`] of the clips that `reach` was made of: for many parts of one character.
    pub fn within(&self, reach: &Reach) -> Option<BoundingBox> {
        self.reach(reach).and_then(Bounds::corners)
    }

    /// The joints that move the part, each with the box around what it moves, in the joint's bind space.
    pub(super) fn joints(&self) -> impl Iterator<Item = (usize, Vec3A, Vec3A)> {
        self.boxes.iter().map(|&(joint, Bounds { min, max })| (joint, min, max))
    }

    fn posed_bounds(&self, model: &[Affine3A]) -> Option<Bounds> {
        let moved = |(joint, bounds): &(usize, Bounds)| Some(bounds.transformed(model.get(*joint)?));
        self.boxes.iter().filter_map(moved).reduce(Bounds::union)
    }

    /// How far any point of the part may leave the line between its places at two frames.
    fn margin(&self, skeleton: &Skeleton, motions: &[Motion]) -> f32 {
        let mut largest = 0.0_f64;
        for &(joint, bounds) in &self.boxes {
            let mut path = Path { distance: bounds.farthest(), speed: 0.0, acceleration: 0.0 };
            let chain = std::iter::successors(Some(joint), |&joint| skeleton.parents()[joint].map(usize::from));
            chain.for_each(|joint| path = path.under(&motions[joint]));
            largest = largest.max(path.acceleration / 8.0);
        }
        largest as f32
    }

    fn reach(&self, reach: &Reach) -> Option<Bounds> {
        let Reach { farthest, parents, roots } = reach;
        let ball = |&(joint, bounds): &(usize, Bounds)| {
            let (mut joint, mut distance) = (joint, bounds.farthest());
            while let Some(parent) = parents[joint] {
                distance = distance * farthest[joint].1 + farthest[joint].0;
                joint = usize::from(parent);
            }
            Some(roots[joint]?.grown((distance * farthest[joint].1 * 1.00001) as f32))
        };
        self.boxes.iter().filter_map(ball).reduce(Bounds::union)
    }
}

/// How far clips and the rest pose can take the joints of a skeleton: what the boxes of its parts over
/// any blend of them have in common.
#[derive(Clone, Debug)]
pub struct Reach {
    /// How far each joint is from its parent and how much it scales, at most.
    farthest: Vec<(f64, f64)>,
    parents: Vec<Option<JointIndex>>,
    /// Where each root goes.
    roots: Vec<Option<Bounds>>,
}

impl Reach {
    /// Of `clips`; those that are not bound to the skeleton are passed over.
    pub fn new<'c>(skeleton: &Skeleton, clips: impl IntoIterator<Item = &'c SkeletalClip>) -> Self {
        let parents = skeleton.parents();
        let mut farthest = vec![(0.0_f64, 0.0_f64); parents.len()];
        let mut roots: Vec<Option<Bounds>> = vec![None; parents.len()];
        let mut see = |joint: usize, transform: JointTransform| {
            let (distance, scale) = &mut farthest[joint];
            *distance = distance.max(f64::from(transform.translation.length()));
            *scale = scale.max(f64::from(transform.scale.abs().max_element()));
            if parents[joint].is_none() {
                let at = Bounds { min: transform.translation.into(), max: transform.translation.into() };
                roots[joint] = Some(roots[joint].map_or(at, |bounds| bounds.union(at)));
            }
        };
        skeleton.joints().for_each(|joint| see(joint.into(), skeleton.rest_of(joint)));
        for clip in clips.into_iter().filter(|clip| clip.rows().len() == skeleton.rows()) {
            for joint in (0..parents.len()).filter(|&joint| clip.animates(joint)) {
                (0..clip.frame_count()).for_each(|frame| see(joint, clip.transform_at(joint, frame)));
            }
        }
        Self { farthest, parents: parents.to_vec(), roots }
    }
}

/// A box with sides along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bounds {
    min: Vec3A,
    max: Vec3A,
}

impl Bounds {
    fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// What lies in both, of two that overlap; of two that by rounding do not, the first.
    fn intersection(self, other: Self) -> Self {
        let both = Self { min: self.min.max(other.min), max: self.max.min(other.max) };
        if both.min.cmple(both.max).all() { both } else { self }
    }

    fn grown(self, margin: f32) -> Self {
        Self { min: self.min - margin, max: self.max + margin }
    }

    /// The box around this one, moved.
    fn transformed(self, matrix: &Affine3A) -> Self {
        let center = matrix.transform_point3a(self.min * 0.5 + self.max * 0.5);
        let half = (self.max - self.min) * 0.5;
        let m = &matrix.matrix3;
        let half = m.x_axis.abs() * half.x + m.y_axis.abs() * half.y + m.z_axis.abs() * half.z;
        Self { min: center - half, max: center + half }
    }

    /// Distance from the origin to the farthest corner.
    fn farthest(&self) -> f64 {
        f64::from(self.min.abs().max(self.max.abs()).length())
    }

    /// The box, if it is finite.
    fn corners(self) -> Option<BoundingBox> {
        let bounds = BoundingBox { min: self.min.into(), max: self.max.into() };
        bounds.is_finite().then_some(bounds)
    }
}

/// How a point moves over a unit of time, at most: in units, units a unit, units a unit squared.
#[derive(Clone, Copy, Debug)]
struct Path {
    distance: f64,
    speed: f64,
    acceleration: f64,
}

/// How a joint moves between two frames, at most, with the time between them as the unit.
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
    /// From the frame before to `frame`.
    fn new(skeleton: &Skeleton, clip: &SkeletalClip, joint: usize, frame: usize) -> Self {
        let [a, b] = match clip.animates(joint) {
            true => [clip.transform_at(joint, frame - 1), clip.transform_at(joint, frame)],
            false => [skeleton.rest_of(joint as JointIndex); 2],
        };
        // From sine and cosine of the angle between the quaternions; neighbours lie in one hemisphere.
        let dot = a.rotation.dot(b.rotation);
        let sin = f64::from((b.rotation - a.rotation * dot).length());
        let cos = f64::from(dot).clamp(0.0, 1.0);
        let least = (1.0 + cos) / 2.0;
        Self {
            distance: f64::from(a.translation.length().max(b.translation.length())),
            shift: f64::from(a.translation.distance(b.translation)),
            // Twice the half angle's derivatives.
            turn: 2.0 * sin / least,
            turn_change: 4.0 * sin * (1.0 - cos) / (least * least),
            scale: f64::from(a.scale.abs().max(b.scale.abs()).max_element()),
            scale_change: f64::from((a.scale - b.scale).abs().max_element()),
        }
    }
}

impl Path {
    /// The path as seen from the parent of a joint that moves so: `T + R · S · p`, by the product rule.
    fn under(self, joint: &Motion) -> Self {
        let Self { distance, speed, acceleration } = self;
        // S · p; scale goes straight, so its second derivative is 0.
        let acceleration = joint.scale * acceleration + 2.0 * joint.scale_change * speed;
        let speed = joint.scale * speed + joint.scale_change * distance;
        let distance = joint.scale * distance;
        // R · p: about a fixed axis, |R'| = ω and |R''| ≤ ω' + ω².
        let acceleration =
            acceleration + 2.0 * joint.turn * speed + (joint.turn_change + joint.turn * joint.turn) * distance;
        let speed = speed + joint.turn * distance;
        // T + p; so does translation.
        Self { distance: distance + joint.distance, speed: speed + joint.shift, acceleration }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::TrackPriority;
    use crate::model::{ClipFrames, ClipTiming, Influences, Joint, JointTransform, SkinPart};
    use crate::pose::{ClipLayer, Evaluate, Mask, Palette, Scratch, SkinVertices};
    use fastrand::Rng;
    use glam::{Mat4, Quat, Vec3};

    fn number(random: &mut Rng) -> f32 {
        random.f32() * 2.0 - 1.0
    }

    fn vector(random: &mut Rng) -> Vec3 {
        Vec3::from_array([0; 3].map(|_| number(random)))
    }

    fn transform(random: &mut Rng, base: JointTransform, much: f32) -> JointTransform {
        JointTransform {
            translation: base.translation + vector(random) * 0.1 * much,
            rotation: (base.rotation * Quat::from_scaled_axis(vector(random) * much)).normalize(),
            scale: base.scale + vector(random) * 0.1 * much,
        }
    }

    fn character(random: &mut Rng) -> (Skeleton, SkinPart) {
        let mut joints: Vec<Joint> = Vec::new();
        for i in 0..random.usize(1..12) {
            let rest = transform(random, JointTransform { scale: Vec3::ONE, ..JointTransform::IDENTITY }, 1.0);
            let inverse_bind = transform(random, JointTransform::IDENTITY, 1.0).to_affine();
            let parent = (i > 0).then(|| random.u16(0..i as u16));
            joints.push(Joint { name: format!("{i}").into(), parent, rest, inverse_bind });
        }
        let count = joints.len() as u16;
        let influences = |random: &mut Rng| {
            let share = random.f32();
            Influences {
                palette: [random.u16(0..count), random.u16(0..count), 0, 0],
                weights: [share, 1.0 - share, 0.0, 0.0],
            }
        };
        let part = SkinPart {
            positions: (0..40).map(|_| vector(random)).collect(),
            influences: (0..40).map(|_| influences(random)).collect(),
            palette: (0..count).collect(),
            ..SkinPart::default()
        };
        (Skeleton::new(joints).unwrap(), part)
    }

    fn clip(random: &mut Rng, skeleton: &Skeleton, much: f32) -> SkeletalClip {
        let rest: Vec<_> = skeleton.joints().map(|joint| skeleton.rest_of(joint)).collect();
        let transforms =
            (0..random.usize(1..5)).flat_map(|_| rest.clone()).map(|t| transform(random, t, much)).collect();
        let animated = (0..skeleton.len()).map(|_| random.u32(0..5) > 0).collect();
        let frames = ClipFrames { joints: skeleton.names().clone(), animated, transforms };
        SkeletalClip::new(ClipTiming::new("clip", 1.0), &frames).unwrap()
    }

    fn positions(skeleton: &Skeleton, part: &SkinPart, layers: &[ClipLayer], blend: f32) -> (Vec<Vec3>, Vec<Affine3A>) {
        let mut scratch = Scratch::default();
        Evaluate { priority_blend: blend, ..Evaluate::new(skeleton, layers) }.run(&mut scratch);
        let mut palette = vec![Mat4::IDENTITY; part.palette.len()];
        let (model, inverse_bind) = (scratch.model(), skeleton.inverse_bind());
        Palette { world: Affine3A::IDENTITY, model, inverse_bind, remap: &part.palette }.run(&mut palette);
        let mut positions = part.positions.clone();
        SkinVertices { part, palette: &palette }.positions(&mut positions);
        (positions, scratch.model().to_vec())
    }

    #[test]
    fn no_vertex_leaves_the_box_of_its_pose() {
        let mut random = Rng::with_seed(1);
        for _ in 0..200 {
            let (skeleton, part) = character(&mut random);
            let clip = clip(&mut random, &skeleton, 2.0);
            let (positions, model) = positions(&skeleton, &part, &[ClipLayer::new(&clip, 0.3)], 0.5);
            let BoundingBox { min, max } = PartBounds::new(&skeleton, &part).posed(&model).unwrap();
            let bounds = BoundingBox { min: min - 1e-5, max: max + 1e-5 };
            assert!(positions.iter().all(|p| bounds.contains(*p)));
        }
    }

    #[test]
    fn no_vertex_ever_leaves_the_box_of_its_clip() {
        let mut random = Rng::with_seed(2);
        for _ in 0..60 {
            let (skeleton, part) = character(&mut random);
            let much = random.f32() * 2.0;
            let clip = clip(&mut random, &skeleton, much);
            let bounds = PartBounds::new(&skeleton, &part).over_clip(&skeleton, &clip).unwrap();
            for step in 0..=100 {
                let (positions, _) = positions(&skeleton, &part, &[ClipLayer::new(&clip, step as f64 / 100.0)], 0.5);
                assert!(positions.iter().all(|p| bounds.contains(*p)), "{step} {bounds:?}");
            }
        }
    }

    #[test]
    fn between_frames_the_box_is_not_much_larger_than_it_must_be() {
        let joint =
            Joint { name: "a".into(), parent: None, rest: JointTransform::IDENTITY, inverse_bind: Affine3A::IDENTITY };
        let skeleton = Skeleton::new(vec![joint]).unwrap();
        let part = SkinPart {
            positions: vec![Vec3::X],
            influences: vec![Influences { palette: [0; 4], weights: [1.0, 0.0, 0.0, 0.0] }],
            palette: vec![0],
            ..SkinPart::default()
        };
        // From −0.1 to 0.1 rad about z: the arc goes 1 − cos 0.1 = 0.005 beyond its chord.
        let turn = |angle| JointTransform { rotation: Quat::from_rotation_z(angle), ..JointTransform::IDENTITY };
        let transforms = vec![turn(-0.1), turn(0.1)];
        let frames = ClipFrames { joints: skeleton.names().clone(), animated: vec![], transforms };
        let clip = SkeletalClip::new(ClipTiming::new("arc", 1.0), &frames).unwrap();
        let BoundingBox { max, .. } = PartBounds::new(&skeleton, &part).over_clip(&skeleton, &clip).unwrap();
        assert!(max.x >= 1.0 && max.x < 1.002, "{max}");
        assert!(max.y >= 0.1_f32.sin() && max.y < 0.1_f32.sin() + 0.007, "{max}");
    }

    #[test]
    fn no_vertex_ever_leaves_the_box_of_any_blend() {
        let mut random = Rng::with_seed(3);
        for _ in 0..100 {
            let (skeleton, part) = character(&mut random);
            let bounds = PartBounds::new(&skeleton, &part);
            let clips: Vec<_> = (0..4).map(|_| clip(&mut random, &skeleton, 2.0)).collect();
            let reach = bounds.over_any_blend(&skeleton, &clips).unwrap();
            for _ in 0..20 {
                let mask = |random: &mut Rng| Mask::from_weights((0..skeleton.len()).map(|_| random.f32()));
                let masks: Vec<_> = (0..4).map(|_| mask(&mut random)).collect();
                let layer = |(clip, mask)| ClipLayer {
                    mask: random.bool().then_some(mask),
                    weight: random.f32(),
                    priority: if random.bool() { TrackPriority::Low } else { TrackPriority::High },
                    ..ClipLayer::new(clip, random.f64())
                };
                let layers: Vec<_> = clips.iter().zip(&masks).map(layer).collect();
                let (positions, _) = positions(&skeleton, &part, &layers, random.f32());
                assert!(positions.iter().all(|p| reach.contains(*p)));
            }
            let BoundingBox { min, max } = bounds.over_clip(&skeleton, &clips[0]).unwrap();
            assert!(reach.contains(min) && reach.contains(max));
        }
    }

    #[test]
    fn parts_without_joints_and_clips_of_others_have_no_box() {
        let mut random = Rng::with_seed(4);
        let (skeleton, part) = character(&mut random);
        let clip = clip(&mut random, &skeleton, 1.0);
        let nothing = PartBounds::new(&skeleton, &SkinPart::default());
        assert_eq!(nothing.over_clip(&skeleton, &clip), None);
        assert_eq!(nothing.over_any_blend(&skeleton, [&clip]), None);
        assert_eq!(nothing.posed(skeleton.rest_model()), None);
        let none = PartBounds::new(&Skeleton::default(), &part);
        assert_eq!(none.over_clip(&Skeleton::default(), &clip), None);
    }
}
