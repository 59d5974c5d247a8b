//! Joints that are the same in both bodies: they hang from joints that follow each other, in the same place.
//!
//! Such a joint moves here as it does in the source, whatever the joints' axes: the whole transform
//! is carried over, scales included. If all joints are the same, retargeting changes nothing but
//! axes and size.

use super::{Drive, Retarget, body::Body, body::unit};
use crate::model::{JointIndex, JointTransform, Roles, Skeleton};
use glam::{Mat3, Quat, Vec3};

/// The conversion of the transform of a source's joint, relative to its parent, to that of the
/// target's.
#[derive(Clone, Copy, Debug)]
pub(super) struct SameJoint {
    /// From the axes of the source's parent to those of the target's.
    above: Quat,
    /// From the target's own axes to the source's.
    own: Quat,
    /// The same for translations, with the ratio of the bodies' sizes.
    shift: Mat3,
    /// The source's axis for each of the target's.
    axes: [usize; 3],
    source_rest: JointTransform,
    target_rest: JointTransform,
}

/// The largest distance of a joint from its place in the source, as a share of its distance from
/// its parent and of the body's size. Exporters' rounding errors are smaller.
const SAME: [f32; 2] = [2e-4, 4e-6];
/// The same for an angle in radians.
const SAME_TURN: f32 = 1e-3;
/// Joints nearer to their parents than this share of the body's size are told apart by their names alone.
const APART: f32 = 1e-3;

/// Most children of a joint that are compared.
const MOST: usize = 256;

impl SameJoint {
    /// Carries the turns of a joint over to one that stands in the same pose at rest, given the rotations of both and of what
    /// they hang from. It stays in its place.
    pub(super) fn turned(
        [source_above, source_own]: [Quat; 2],
        [target_above, target_own]: [Quat; 2],
        source_rest: JointTransform,
        target_rest: JointTransform,
    ) -> Self {
        Self {
            above: unit(target_above.conjugate() * source_above),
            own: unit(source_own.conjugate() * target_own),
            shift: Mat3::ZERO,
            axes: [0, 1, 2],
            source_rest,
            target_rest,
        }
    }

    /// The same for a joint that travels.
    pub(super) fn shifted(self, shift: Mat3) -> Self {
        Self { shift, ..self }
    }

    pub(super) fn carry(&self, source: &JointTransform) -> JointTransform {
        // A scale that changes is carried over as a factor of the rest scale.
        let ratio = source.scale / self.source_rest.scale;
        let [x, y, z] = self.axes.map(|axis| ratio[axis]);
        let scale = self.target_rest.scale * Vec3::new(x, y, z);
        JointTransform {
            translation: self.target_rest.translation
                + self.shift * (source.translation - self.source_rest.translation),
            rotation: unit(self.above * source.rotation * self.own),
            scale: if scale.is_finite() {
                scale
            } else {
                self.target_rest.scale
            },
        }
    }
}

impl Retarget<'_> {
    /// Marks the joints that are the same, and lets those without a role follow each other.
    pub(super) fn find_same(&mut self, source_roles: &Roles, target_roles: &Roles) {
        let mut is_free = vec![true; self.source.len()];
        source_roles
            .iter()
            .for_each(|(_, joint)| is_free[usize::from(joint)] = false);
        let mut has_role = vec![false; self.target.len()];
        target_roles
            .iter()
            .for_each(|(_, joint)| has_role[usize::from(joint)] = true);
        let mut children: Vec<Vec<JointIndex>> = vec![Vec::new(); self.source.len() + 1];
        let above = |joint: JointIndex| self.source.parents()[usize::from(joint)];
        // Roots are at 0, and the children of joint n at n + 1.
        for joint in self.source.joints() {
            children[above(joint).map_or(0, |parent| usize::from(parent) + 1)].push(joint);
        }
        // In the poses in which skins were bound, wherever the nodes of the files are.
        let (source, target) = (self.source.in_bind_pose(), self.target.in_bind_pose());
        let bound = [&*source, &*target];
        for joint in self.target.joints() {
            let at = usize::from(joint);
            let parent = self.target.parents()[at];
            // The joint that the parent follows, if it does so exactly: one joint, without a turn
            // of its own.
            let above = match parent {
                None => None,
                Some(parent) => {
                    match self.drives[usize::from(parent)].and_then(|drive| drive.exact()) {
                        Some(from) => Some(from),
                        None => continue,
                    }
                }
            };
            match self.drives[at] {
                Some(drive) => {
                    let same = drive
                        .exact()
                        .and_then(|from| self.same(bound, from, joint, above));
                    self.drives[at] = Some(Drive { same, ..drive });
                }
                None if has_role[at] => {}
                None => {
                    let candidates = &children[above.map_or(0, |above| usize::from(above) + 1)];
                    // Models with thousands of joints in one place would take time with the square of
                    // their number.
                    let candidates = &candidates[..candidates.len().min(MOST)];
                    let found = self.namesake(
                        candidates
                            .iter()
                            .copied()
                            .filter(|joint| is_free[usize::from(*joint)]),
                        joint,
                    );
                    let same =
                        found.and_then(|from| Some((from, self.same(bound, from, joint, above)?)));
                    if let Some((from, same)) = same {
                        // One joint can't be followed by two that have no role.
                        is_free[usize::from(from)] = false;
                        self.drives[at] = Some(Drive {
                            same: Some(same),
                            ..Drive::of(from)
                        });
                    }
                }
            }
        }
        let is_same = |joint: JointIndex| match self.drives[usize::from(joint)] {
            Some(drive) => {
                // The hips travel with the body, so only their place at rest must be the same.
                drive.same.is_some() || joint == self.to.hips && self.stands_alike(&drive)
            }
            None => true,
        };
        self.is_same = self.target.joints().all(is_same);
    }

    /// Returns `true` if the hips, which follow others in model space, are in the same place there.
    /// Above them may be joints that the other body lacks.
    fn stands_alike(&self, hips: &Drive) -> bool {
        let mut above = self.target.ancestors(self.to.hips);
        let [from, to] = [self.from.hips, self.to.hips].map(usize::from);
        let there = self.ratio * (self.turn * self.from.places[from]);
        let is_at = self.is_near(self.to.places[to], there, self.to.hips);
        is_at
            && hips.exact() == Some(self.from.hips)
            && above.all(|joint| self.drives[usize::from(joint)].is_none())
    }

    /// Returns how one joint follows another, if both are in the same place on their parents, which
    /// follow each other.
    fn same(
        &self,
        [source, target]: [&Skeleton; 2],
        from: JointIndex,
        to: JointIndex,
        above: Option<JointIndex>,
    ) -> Option<SameJoint> {
        let [from_at, to_at] = [from, to].map(usize::from);
        if source.parents()[from_at] != above || !self.is_at(from, to) {
            return None;
        }
        let parent = target.parents()[to_at];
        let rotation = |body: &Body, joint: Option<JointIndex>| {
            joint.map_or(Quat::IDENTITY, |joint| body.rotations[usize::from(joint)])
        };
        let matrix = |skeleton: &Skeleton, joint: Option<JointIndex>| {
            joint.map_or(Mat3::IDENTITY, |joint| {
                skeleton.rest_model()[usize::from(joint)].matrix3.into()
            })
        };
        let own = (self.turn * self.from.rotations[from_at]).conjugate() * self.to.rotations[to_at];
        let there = matrix(target, parent);
        let shift =
            // By matrices rather than rotations, because parents may be scaled.
            there.inverse() * Mat3::from_quat(self.turn) * (self.ratio * matrix(source, above));
        let (source_rest, target_rest) = (source.rest_of(from), target.rest_of(to));
        let is_sound = shift.is_finite() && source_rest.scale.cmpgt(Vec3::splat(1e-6)).all();
        is_sound.then(|| SameJoint {
            above: unit(
                rotation(&self.to, parent).conjugate() * self.turn * rotation(&self.from, above),
            ),
            own: unit(own),
            shift,
            axes: axes(own),
            source_rest,
            target_rest,
        })
    }

    /// The joint that is in the same place as one of the target: the one of the same name, or else the only one.
    fn namesake(
        &self,
        candidates: impl Iterator<Item = JointIndex>,
        to: JointIndex,
    ) -> Option<JointIndex> {
        let at: Vec<JointIndex> = candidates.filter(|from| self.is_at(*from, to)).collect();
        let name = self.target.name(to);
        let named = at.iter().find(|from| self.source.name(**from) == name);
        // Joints on top of each other can't be told apart by their place.
        let is_apart = self.offset(&self.to, self.target, to).length() > APART * self.to.size;
        named
            .or_else(|| at.first().filter(|_| at.len() == 1 && is_apart))
            .copied()
    }

    fn is_at(&self, from: JointIndex, to: JointIndex) -> bool {
        let there = self.ratio * (self.turn * self.offset(&self.from, self.source, from));
        self.is_near(self.offset(&self.to, self.target, to), there, to)
    }

    fn is_near(&self, here: Vec3, there: Vec3, joint: JointIndex) -> bool {
        let extent = self.to.places[usize::from(joint)].length() + self.to.size;
        let [share, size] = SAME;
        // False for NaN.
        here.distance(there) <= share * here.length() + size * extent
    }

    /// The way from a joint's parent to the joint at rest, in model space.
    fn offset(&self, body: &Body, skeleton: &Skeleton, joint: JointIndex) -> Vec3 {
        let joint = usize::from(joint);
        let parent =
            skeleton.parents()[joint].map_or(Vec3::ZERO, |parent| body.places[usize::from(parent)]);
        body.places[joint] - parent
    }
}

impl Drive {
    /// Returns the joint that is followed, if it is a single one, without a turn of its own.
    fn exact(&self) -> Option<JointIndex> {
        // The cosine of half the angle, for small angles.
        let is_turned = self.align.w.abs() < 1.0 - 0.125 * SAME_TURN * SAME_TURN;
        (self.share == 0.0 && !is_turned).then_some(self.from[0])
    }
}

/// Returns, for each axis before a rotation, the one that it comes nearest to. If two come nearest
/// to the same one, axes are taken one by one.
fn axes(turn: Quat) -> [usize; 3] {
    let found = Vec3::AXES.map(|axis| (turn * axis).abs().max_position());
    let [x, y, z] = found;
    if x == y || y == z || z == x {
        [0, 1, 2]
    } else {
        found
    }
}
