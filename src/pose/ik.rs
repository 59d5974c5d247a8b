//! Inverse kinematics: rotates joints so that a tip reaches a target.
//!
//! No component and no part of the plugin sets IK targets yet: the solvers are for code that calls
//! [`Evaluate`](super::Evaluate) or [`Ik::run`] itself.
//!
//! Solvers only rotate joints, they never stretch a bone. They read positions from the model matrices
//! and write rotations to the local pose. Below a parent with non-uniform or mirroring scale, a rotation in
//! model space is not a rotation of the joint; the tip then only moves toward its target.

use super::adjust::unit;
use super::{LocalToModel, clamp_weight};
use crate::model::{JointIndex, Skeleton, SoaTransform};
use glam::{Affine3A, Quat, Vec3};
use serde::{Deserialize, Serialize};

/// Makes a limb of two bones, such as an arm or a leg, reach for a target. Solved exactly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct TwoBoneIk {
    /// The first joint of the limb: shoulder or hip.
    pub root: JointIndex,
    /// The joint that bends: elbow or knee; a descendant of `root`.
    pub mid: JointIndex,
    /// The joint that reaches the target: hand or foot; a descendant of `mid`.
    pub tip: JointIndex,
    /// The target in model space. If it is out of reach, the limb points straight at it.
    pub target: Vec3,
    /// The point in model space the limb bends toward. If `None`, or on the line to the target, the
    /// limb keeps bending the way it does in the pose.
    pub pole: Option<Vec3>,
    /// How much of each rotation is applied, 0..=1.
    pub weight: f32,
}

/// Makes a chain of any number of bones reach for a target. Solved by FABRIK.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct ChainIk {
    /// The joint that reaches the target.
    pub tip: JointIndex,
    /// The number of bones, that is of joints above the tip that rotate (fewer if the skeleton ends before).
    pub bones: u16,
    /// The target in model space. If it is out of reach, the chain points straight at it.
    pub target: Vec3,
    /// The point in model space the chain bends toward; `None` keeps the way it bends in the pose.
    pub pole: Option<Vec3>,
    /// How much of each rotation is applied, 0..=1.
    pub weight: f32,
    /// The largest number of passes along the chain. 16 are usually enough; a chain that has to turn around
    /// needs more.
    pub iterations: u16,
    /// The distance to the target, in model units, at which it counts as reached.
    pub tolerance: f32,
}

/// An IK target, for either solver.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub enum Ik {
    /// A limb of two bones.
    TwoBone(TwoBoneIk),
    /// A chain of any number of bones.
    Chain(ChainIk),
}

/// Working memory of the solvers.
#[derive(Debug, Default)]
pub struct IkScratch {
    joints: Vec<JointIndex>,
    lengths: Vec<f32>,
    points: Vec<Vec3>,
}

impl Ik {
    /// Rotates joints in `local` and updates `model`, which must hold its matrices.
    ///
    /// Returns `false`, leaving the pose as it is, if the joints do not form a chain, the target is not
    /// finite, a bone has no length, or the weight is 0.
    ///
    /// # Panics
    /// If `local` or `model` is too short for the skeleton.
    pub fn run(
        &self,
        skeleton: &Skeleton,
        scratch: &mut IkScratch,
        local: &mut [SoaTransform],
        model: &mut [Affine3A],
    ) -> bool {
        let mut pose = Pose { skeleton, local, model };
        match self {
            Self::TwoBone(limb) => limb.solve(&mut pose),
            Self::Chain(chain) => chain.solve(scratch, &mut pose),
        }
    }
}

impl TwoBoneIk {
    fn solve(&self, pose: &mut Pose) -> bool {
        let weight = clamp_weight(self.weight);
        if weight == 0.0
            || !self.target.is_finite()
            || !pose.descends(self.mid, self.root)
            || !pose.descends(self.tip, self.mid)
        {
            return false;
        }
        let [a, b, c] = [self.root, self.mid, self.tip].map(|joint| pose.position(joint));
        let (upper, lower) = (b - a, c - b);
        let (l1, l2) = (upper.length(), lower.length());
        let reach = l1 + l2;
        if !reach.is_finite() || l1 <= 1e-6 * reach || l2 <= 1e-6 * reach {
            return false;
        }
        let to_target = self.target - a;
        let along = direction(to_target).or(direction(c - a)).unwrap_or(upper / l1);
        // Within what the limb can reach, folded or straight.
        let distance = to_target.length().min(reach).max((l1 - l2).abs()).max(1e-6 * reach);

        let now = across(b - a, along);
        let bend = self.pole.filter(|pole| pole.is_finite()).and_then(|pole| across(pole - a, along)).or(now);
        let bend = bend.unwrap_or_else(|| along.any_orthonormal_vector());
        // The angle at the root, by the law of cosines.
        let cos = ((l1 * l1 + distance * distance - l2 * l2) / (2.0 * l1 * distance)).clamp(-1.0, 1.0);
        let sin = (1.0 - cos * cos).max(0.0).sqrt();
        let new_upper = (along * cos + bend * sin) * l1;
        let new_lower = along * distance - new_upper;

        let mut first = arc(upper, new_upper);
        // The limb's plane rotates with it, so that the middle joint keeps bending about its own hinge.
        let hinge = direction(upper.cross(lower)).filter(|_| upper.cross(lower).length() > 1e-3 * l1 * l2);
        if let (Some(hinge), Some(new_hinge)) = (hinge, direction(new_upper.cross(new_lower)).filter(|_| sin > 1e-3)) {
            first = (arc_about(new_upper / l1, first * hinge, new_hinge) * first).normalize();
        }
        let second = arc(first * lower, new_lower);

        let before = pose.rotation_above(self.root);
        let above_mid = pose.rotation_above(self.mid);
        let (first, second) = (part(first, weight), part(second, weight));
        pose.turn(self.root, before, first);
        // In model space, the joint above the middle one has been rotated by `first`.
        pose.turn(self.mid, (first * above_mid).normalize(), second);
        pose.update_from(self.root);
        true
    }
}

impl ChainIk {
    fn solve(&self, scratch: &mut IkScratch, pose: &mut Pose) -> bool {
        let weight = clamp_weight(self.weight);
        if weight == 0.0 || !self.target.is_finite() || usize::from(self.tip) >= pose.skeleton.len() {
            return false;
        }
        let IkScratch { joints, lengths, points } = scratch;
        joints.clear();
        let parent = |joint: &JointIndex| pose.skeleton.parents()[usize::from(*joint)];
        joints.extend(std::iter::successors(Some(self.tip), parent).take(usize::from(self.bones) + 1));
        joints.reverse();
        points.clear();
        points.extend(joints.iter().map(|&joint| pose.position(joint)));
        lengths.clear();
        lengths.extend(points.windows(2).map(|pair| pair[0].distance(pair[1])));
        let reach: f32 = lengths.iter().sum();
        if reach.is_nan() || reach <= 0.0 || !reach.is_finite() || !points[0].is_finite() {
            return false;
        }

        self.place(points, lengths, reach);
        let mut above = pose.rotation_above(joints[0]);
        // The rotation this bone inherits from those above, in model space.
        let mut turned = Quat::IDENTITY;
        for (bone, pair) in joints.windows(2).enumerate() {
            let now = turned * (pose.position(pair[1]) - pose.position(pair[0]));
            let turn = part(arc(now, points[bone + 1] - points[bone]), weight);
            pose.turn(pair[0], above, turn);
            turned = (turn * turned).normalize();
            above = (above * pose.rotation(pair[0])).normalize();
        }
        pose.update_from(joints[0]);
        true
    }

    /// Moves the points toward the target. Keeps the distances between them and the first in place.
    fn place(&self, points: &mut [Vec3], lengths: &[f32], reach: f32) {
        let root = points[0];
        let last = points.len() - 1;
        let to_target = self.target - root;
        let Some(along) = direction(to_target).or(direction(points[last] - root)) else { return };
        if to_target.length() >= reach {
            let mut place = root;
            for (point, length) in points[1..].iter_mut().zip(lengths) {
                place += along * *length;
                *point = place;
            }
            return;
        }
        // A straight chain would only slide along its line, so push it off, toward the pole.
        let bend =
            points[1..last].iter().map(|p| (p - root).reject_from_normalized(along).length()).fold(0.0, f32::max);
        let pole = self.pole.filter(|pole| pole.is_finite()).and_then(|pole| across(pole - root, along));
        if bend <= 1e-3 * reach {
            let push = pole.unwrap_or_else(|| along.any_orthonormal_vector()) * (0.01 * reach);
            points[1..last].iter_mut().for_each(|point| *point += push);
        }
        let tolerance = self.tolerance.max(1e-6 * reach);
        for _ in 0..self.iterations {
            points[last] = self.target;
            for i in (0..last).rev() {
                points[i] = at_distance(points[i + 1], points[i], lengths[i]);
            }
            points[0] = root;
            for i in 0..last {
                points[i + 1] = at_distance(points[i], points[i + 1], lengths[i]);
            }
            if points[last].distance(self.target) <= tolerance {
                break;
            }
        }
        // Rotating the chain about the line to its tip bends it toward the pole without moving the tip.
        let Some(axis) = direction(points[last] - root) else { return };
        let belly: Vec3 = points[1..last].iter().map(|point| (point - root).reject_from_normalized(axis)).sum();
        let pole = self.pole.filter(|pole| pole.is_finite()).and_then(|pole| across(pole - root, axis));
        if let (Some(belly), Some(pole)) = (direction(belly).filter(|_| belly.length() > 1e-4 * reach), pole) {
            let turn = arc_about(axis, belly, pole);
            points[1..last].iter_mut().for_each(|point| *point = root + turn * (*point - root));
        }
    }
}

/// A pose as local transforms and as matrices.
struct Pose<'a> {
    skeleton: &'a Skeleton,
    local: &'a mut [SoaTransform],
    model: &'a mut [Affine3A],
}

impl Pose<'_> {
    fn position(&self, joint: JointIndex) -> Vec3 {
        self.model[usize::from(joint)].translation.into()
    }

    fn rotation(&self, joint: JointIndex) -> Quat {
        let joint = usize::from(joint);
        self.local[joint / 4].rotation.get(joint % 4)
    }

    /// The product of the rotations of a joint's ancestors.
    fn rotation_above(&self, joint: JointIndex) -> Quat {
        let parent = |joint: JointIndex| self.skeleton.parents()[usize::from(joint)];
        let above = std::iter::successors(parent(joint), |&above| parent(above));
        unit(above.fold(Quat::IDENTITY, |below, above| self.rotation(above) * below))
    }

    /// Returns `true` if `joint` is a descendant of `above`.
    fn descends(&self, joint: JointIndex, above: JointIndex) -> bool {
        let parent = |joint: JointIndex| self.skeleton.parents().get(usize::from(joint)).copied().flatten();
        // Parents come first, so joints before `above` cannot be its descendants.
        std::iter::successors(parent(joint), |&joint| parent(joint)).take_while(|&j| j >= above).any(|j| j == above)
    }

    /// Rotates a joint by `turn` in model space; `above` is the product of the rotations of its ancestors.
    fn turn(&mut self, joint: JointIndex, above: Quat, turn: Quat) {
        let turned = above.conjugate() * turn * above * self.rotation(joint);
        let joint = usize::from(joint);
        self.local[joint / 4].rotation.set(joint % 4, unit(turned));
    }

    fn update_from(&mut self, joint: JointIndex) {
        LocalToModel { parents: self.skeleton.parents(), local: self.local, root: None, unit_scale: false }
            .run_from(usize::from(joint), self.model);
    }
}

/// The direction of `v`; `None` if it is too short to have one.
fn direction(v: Vec3) -> Option<Vec3> {
    let largest = v.abs().max_element();
    (largest > 1e-12 && largest.is_finite()).then(|| (v / largest).normalize())
}

/// The direction of `v` perpendicular to a unit vector; `None` if they are parallel.
fn across(v: Vec3, along: Vec3) -> Option<Vec3> {
    let v = direction(v)?;
    let rejected = v - along * v.dot(along);
    if rejected.length() > 1e-4 { direction(rejected) } else { None }
}

/// The shortest rotation from one direction to another; the identity if either has no direction.
fn arc(from: Vec3, to: Vec3) -> Quat {
    match (direction(from), direction(to)) {
        (Some(from), Some(to)) => Quat::from_rotation_arc(from, to),
        _ => Quat::IDENTITY,
    }
}

/// The rotation about a unit axis that takes `from` to `to`, both projected onto the plane of rotation.
fn arc_about(axis: Vec3, from: Vec3, to: Vec3) -> Quat {
    let (Some(from), Some(to)) = (across(from, axis), across(to, axis)) else { return Quat::IDENTITY };
    // Half the angle, without trigonometric functions.
    let half = Quat::from_xyzw(0.0, 0.0, 0.0, 1.0 + from.dot(to));
    let turn = from.cross(to).dot(axis);
    let q = Quat::from_xyzw(axis.x * turn, axis.y * turn, axis.z * turn, half.w);
    if q.length_squared() > 1e-12 { q.normalize() } else { Quat::from_xyzw(axis.x, axis.y, axis.z, 0.0) }
}

/// The fraction `weight` of a rotation, by nlerp from the identity.
fn part(turn: Quat, weight: f32) -> Quat {
    let turn = if turn.w < 0.0 { -turn } else { turn };
    unit(Quat::IDENTITY * (1.0 - weight) + turn * weight)
}

/// The point at the distance `length` from `from`, in the direction of `toward`.
fn at_distance(from: Vec3, toward: Vec3, length: f32) -> Vec3 {
    from + direction(toward - from).unwrap_or(Vec3::X) * length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Joint, JointTransform};

    /// A chain of bones of length 1 along y from (0, 1, 0), each bent by `bend` about x.
    fn chain(bones: usize, bend: f32) -> Skeleton {
        let joint = |i: usize| Joint {
            name: "".into(),
            parent: i.checked_sub(1).map(|p| p as JointIndex),
            rest: JointTransform::new(Vec3::Y, Quat::from_rotation_x(if i == 0 { 0.3 } else { bend })),
            inverse_bind: Affine3A::IDENTITY,
        };
        Skeleton::new((0..=bones).map(joint).collect()).unwrap()
    }

    fn run(skeleton: &Skeleton, ik: Ik) -> (bool, Vec<Vec3>) {
        let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
        let done = ik.run(skeleton, &mut IkScratch::default(), &mut local, &mut model);
        for joint in 0..skeleton.len() {
            let transform = local[joint / 4].get(joint % 4);
            assert!(transform.is_finite() && (transform.rotation.length() - 1.0).abs() < 1e-5, "{transform:?}");
            assert_eq!(transform.translation, skeleton.rest_of(joint as u16).translation, "no bone was stretched");
        }
        (done, model.iter().map(|m| m.translation.into()).collect())
    }

    fn limb(target: Vec3) -> TwoBoneIk {
        TwoBoneIk { root: 0, mid: 1, tip: 2, target, pole: None, weight: 1.0 }
    }

    const SHOULDER: Vec3 = Vec3::Y;

    fn targets() -> impl Iterator<Item = Vec3> {
        let mut random = fastrand::Rng::with_seed(7);
        std::iter::repeat_with(move || Vec3::from_array([0; 3].map(|_| random.f32() * 2.0 - 1.0))).take(500)
    }

    #[test]
    fn two_bones_reach_every_target_within_reach_and_bend_towards_the_pole() {
        for bend in [0.0, 0.5, -0.5, 3.0] {
            for offset in targets() {
                let target = SHOULDER + offset;
                let pole = SHOULDER + offset.any_orthonormal_vector() * 5.0 + offset;
                let (done, at) = run(&chain(2, bend), Ik::TwoBone(TwoBoneIk { pole: Some(pole), ..limb(target) }));
                assert!(done && at[2].distance(target) < 1e-4, "{bend} {target} {at:?}");
                let elbow = (at[1] - SHOULDER).reject_from(offset);
                assert!(elbow.normalize().dot((pole - SHOULDER).reject_from(offset).normalize()) > 0.999);
            }
        }
    }

    #[test]
    fn a_hinge_keeps_bending_about_its_own_axis() {
        for offset in targets() {
            let skeleton = chain(2, 0.5);
            let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
            let pole = Some(SHOULDER + offset.any_orthonormal_vector() * 9.0);
            Ik::TwoBone(TwoBoneIk { pole, ..limb(SHOULDER + offset) }).run(
                &skeleton,
                &mut IkScratch::default(),
                &mut local,
                &mut model,
            );
            let bend = local[0].get(1).rotation;
            assert!(bend.y.abs() < 1e-3 && bend.z.abs() < 1e-3, "{bend}");
        }
    }

    #[test]
    fn out_of_reach_a_limb_points_straight_at_the_target() {
        for target in [Vec3::new(9.0, 4.0, 0.0), SHOULDER + Vec3::NEG_Z * 2.0, Vec3::X * 1e20] {
            let along = direction(target - SHOULDER).unwrap();
            let chain_ik = Ik::Chain(ChainIk { bones: 2, ..tail(2, target) });
            for ik in [Ik::TwoBone(limb(target)), chain_ik] {
                let (_, at) = run(&chain(2, 0.5), ik);
                assert!(at[2].distance(SHOULDER + along * 2.0) < 3e-3, "{at:?}");
            }
        }
    }

    #[test]
    fn no_target_pole_or_pose_gives_nan() {
        let tips = run(&chain(4, 0.0), Ik::Chain(ChainIk { weight: 0.0, ..tail(4, Vec3::ZERO) })).1;
        let odd = [SHOULDER, Vec3::NAN, Vec3::INFINITY, Vec3::MAX, tips[2], tips[4], SHOULDER + Vec3::splat(1e-30)];
        for target in odd {
            for pole in odd.map(Some).into_iter().chain([None]) {
                for bend in [0.0, 1.0, std::f32::consts::PI] {
                    for weight in [0.0, 0.5, 1.0, f32::NAN] {
                        run(&chain(4, bend), Ik::TwoBone(TwoBoneIk { pole, weight, ..limb(target) }));
                        run(&chain(4, bend), Ik::Chain(ChainIk { pole, weight, ..tail(4, target) }));
                    }
                }
            }
        }
    }

    #[test]
    fn bones_of_no_length_and_joints_that_do_not_form_a_chain_leave_the_pose() {
        let still =
            Joint { name: "".into(), parent: None, rest: JointTransform::IDENTITY, inverse_bind: Affine3A::IDENTITY };
        let below = |parent| Joint { parent: Some(parent), ..still.clone() };
        let dot = Skeleton::new(vec![still.clone(), below(0), below(1)]).unwrap();
        assert!(!run(&dot, Ik::TwoBone(limb(Vec3::X))).0);
        assert!(!run(&dot, Ik::Chain(tail(2, Vec3::X))).0);
        let arm = chain(2, 0.5);
        assert!(!run(&arm, Ik::TwoBone(TwoBoneIk { root: 1, mid: 0, tip: 2, ..limb(Vec3::X) })).0);
        assert!(!run(&arm, Ik::TwoBone(TwoBoneIk { tip: 77, ..limb(Vec3::X) })).0);
        assert!(!run(&arm, Ik::Chain(tail(77, Vec3::X))).0);
        assert!(!run(&arm, Ik::Chain(ChainIk { bones: 0, ..tail(2, Vec3::X) })).0);
    }

    fn tail(tip: JointIndex, target: Vec3) -> ChainIk {
        ChainIk { tip, bones: tip, target, pole: None, weight: 1.0, iterations: 32, tolerance: 1e-4 }
    }

    #[test]
    fn a_chain_reaches_targets_within_reach_from_straight_and_bent() {
        for bend in [0.0, 0.4] {
            let far = targets().map(|offset| offset * 2.0).filter(|offset| offset.length() > 0.3);
            let misses = far.map(|offset| SHOULDER + offset).map(|target| {
                let (done, at) = run(&chain(4, bend), Ik::Chain(tail(4, target)));
                assert!(done);
                at[4].distance(target)
            });
            let (close, wide): (Vec<_>, Vec<_>) = misses.partition(|&miss| miss < 1e-2);
            assert!(wide.len() * 50 < close.len() && wide.iter().all(|&miss| miss < 0.1), "{wide:?}");
        }
    }

    #[test]
    fn a_chain_bends_towards_its_pole() {
        let target = SHOULDER + Vec3::X * 3.0;
        for pole in [Vec3::Z, Vec3::NEG_Z, Vec3::NEG_Y] {
            let (_, at) = run(&chain(4, 0.4), Ik::Chain(ChainIk { pole: Some(SHOULDER + pole), ..tail(4, target) }));
            let belly: Vec3 = at[1..4].iter().map(|p| (p - SHOULDER).reject_from(Vec3::X)).sum();
            assert!(belly.normalize().dot(pole) > 0.99, "{belly}");
        }
    }

    #[test]
    fn half_a_weight_ends_between() {
        let target = SHOULDER + Vec3::new(1.0, 0.5, -0.7);
        let rest = chain(2, 0.5).rest_model()[2].translation;
        let (_, at) = run(&chain(2, 0.5), Ik::TwoBone(TwoBoneIk { weight: 0.5, ..limb(target) }));
        let whole = target.distance(rest.into());
        assert!(at[2].distance(target) < 0.8 * whole && at[2].distance(rest.into()) < 0.8 * whole);
    }
}
