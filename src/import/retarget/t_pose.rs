//! Bodies that stand in the same T pose at rest, as VRM says of its characters and of the clips for them.
//!
//! Nothing has to be reconciled: each joint turns from its rest pose as the one of the same role does, in model space, and the
//! hips travel in proportion to their height. So the result is that of VRM's own programs, where feet may slide. The turn of a
//! joint that the target lacks goes to those below it.

use super::{Drive, Retarget, RetargetError, body::Body, same::SameJoint};
use crate::model::{JointIndex, JointTransform, Role, Roles, SkeletalClip, Skeleton};
use glam::{Affine3A, Mat3, Quat, Vec3};

impl<'a> Retarget<'a> {
    /// Matches the joints of two skeletons that stand in the same T pose at rest.
    ///
    /// # Errors
    /// One of the skeletons has no hips.
    pub(in crate::import) fn of_t_poses(
        source: &'a Skeleton,
        source_roles: &Roles,
        target: &'a Skeleton,
        target_roles: &Roles,
    ) -> Result<Self, RetargetError> {
        let mut map = Self::new(source, source_roles, target, target_roles)?;
        let body = |skeleton: &Skeleton, roles| Body::new(&skeleton.clone().bound_at_rest(), roles);
        if let (Some(from), Some(to)) = (body(source, source_roles), body(target, target_roles)) {
            (map.from, map.to) = (from, to);
        }
        let (hips, their_hips) = (map.to.hips, map.from.hips);
        let height = |body: &Body, hips: JointIndex| body.places[usize::from(hips)].y;
        let ratio = height(&map.to, hips) / height(&map.from, their_hips);
        if ratio > 1e-3 && ratio < 1e3 {
            map.ratio = ratio;
        }
        (map.turn, map.is_same) = (Quat::IDENTITY, true);
        map.report.ratio = map.ratio;
        map.drives.fill(None);
        for (role, joint) in target_roles.iter() {
            let Some(from) = source_roles.joint(role) else {
                continue;
            };
            let same = map.turned(from, joint);
            let above = nearest(target, joint, |above| {
                target_roles
                    .role(above)
                    .filter(|role| source_roles.joint(*role).is_some())
            });
            let is_below = above == nearest(source, from, |above| source_roles.role(above));
            map.drives[usize::from(joint)] = Some(Drive {
                same: is_below.then_some(same),
                ..Drive::of(from)
            });
        }
        map.carry_hips();
        Ok(map)
    }

    /// How a joint takes over the turn of another.
    fn turned(&self, from: JointIndex, to: JointIndex) -> SameJoint {
        let rotations = |skeleton: &Skeleton, body: &Body, joint: JointIndex| {
            let above = skeleton.parents()[usize::from(joint)];
            let above = above.map_or(Quat::IDENTITY, |above| body.rotations[usize::from(above)]);
            [above, body.rotations[usize::from(joint)]]
        };
        SameJoint::turned(
            rotations(self.source, &self.from, from),
            rotations(self.target, &self.to, to),
            self.source.rest_of(from),
            self.target.rest_of(to),
        )
    }

    /// Lets the hips travel: where the source's are in its model space, in proportion.
    fn carry_hips(&mut self) {
        let (from, to) = (self.from.hips, self.to.hips);
        let above = |skeleton: &Skeleton, joint: JointIndex| {
            let parent = skeleton.parents()[usize::from(joint)];
            parent.map_or(Affine3A::IDENTITY, |parent| {
                skeleton.rest_model()[usize::from(parent)]
            })
        };
        let (over, under) = (above(self.source, from), above(self.target, to).inverse());
        let shift = Mat3::from(under.matrix3) * self.ratio * Mat3::from(over.matrix3);
        let place = over.transform_point3(self.source.rest_of(from).translation);
        let place = under.transform_point3(self.ratio * place);
        let travel = place - self.target.rest_of(to).translation;
        if !(shift.is_finite() && travel.is_finite()) {
            return;
        }
        self.travel = travel;
        let turned = self.turned(from, to);
        if let Some(drive) = &mut self.drives[usize::from(to)] {
            drive.same = Some(turned.shifted(shift));
        }
    }

    /// Returns `true` if each joint moves as its source does, relative to the joint above.
    pub(super) fn is_joint_by_joint(&self) -> bool {
        let hips = usize::from(self.to.hips);
        let mut drives = self.drives.iter().enumerate();
        drives.all(|(joint, drive)| joint == hips || drive.is_none_or(|drive| drive.same.is_some()))
    }

    /// Takes the hips of a clip that moves them to where it puts them. In others, they stay where the target has them at rest.
    pub(super) fn travel(&self, clip: &SkeletalClip, transforms: &mut [JointTransform]) {
        if self.travel == Vec3::ZERO || clip.additive {
            return;
        }
        let hips = usize::from(self.from.hips);
        let rest = self.source.rest_of(self.from.hips).translation;
        let is_moved = |frame| clip.transform_at(hips, frame).translation != rest;
        if !(clip.animates(hips) && (0..clip.frame_count()).any(is_moved)) {
            return;
        }
        let at = usize::from(self.to.hips);
        for frame in transforms.chunks_mut(self.target.len().max(1)) {
            frame[at].translation += self.travel;
        }
    }
}

/// Returns the role of the nearest joint above that has one.
fn nearest(
    skeleton: &Skeleton,
    joint: JointIndex,
    role: impl Fn(JointIndex) -> Option<Role>,
) -> Option<Role> {
    skeleton.ancestors(joint).find_map(role)
}
