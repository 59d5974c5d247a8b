//! Mirroring: finding a joint's counterpart on the other side, and mirroring a pose override to it.

use crate::{
    model::{JointIndex, JointTransform, MirrorPlane, RestFrame, Sides, Skeleton},
    pose::{JointOverride, JointSpace},
};
use glam::{Quat, Vec3};

/// Finds a joint's counterpart on the other side; see [`Skeleton::other_side`].
pub fn mirror_joint(skeleton: &Skeleton, joint: JointIndex) -> Option<JointIndex> {
    skeleton.other_side(joint)
}

/// Mirrors an override to the joint on the other side; `None` if there is no such joint.
///
/// The change from the rest pose is reflected in the plane between the two sides, so the orientation of the joints' own
/// axes doesn't matter. Scale is copied axis by axis.
pub fn mirror_override(skeleton: &Skeleton, given: &JointOverride) -> Option<JointOverride> {
    let to = mirror_joint(skeleton, given.joint)?;
    Mirror::new(skeleton).mirrored(given, to)
}

/// Mirrors a whole pose: overrides change sides, and those of joints without a counterpart are mirrored in place.
///
/// Each is mirrored like with [`mirror_override`]; mirroring a pose twice gives the pose again. Overrides that cannot be
/// mirrored, because a joint's scale is zero, are left out.
pub fn mirror_pose(skeleton: &Skeleton, pose: &[JointOverride]) -> Vec<JointOverride> {
    let mirror = Mirror::new(skeleton);
    let within = pose
        .iter()
        .filter(|given| usize::from(given.joint) < skeleton.len());
    let other = |joint| mirror_joint(skeleton, joint).unwrap_or(joint);
    within
        .filter_map(|given| mirror.mirrored(given, other(given.joint)))
        .collect()
}

struct Mirror<'a> {
    skeleton: &'a Skeleton,
    plane: MirrorPlane,
    frames: Vec<RestFrame>,
}

impl<'a> Mirror<'a> {
    fn new(skeleton: &'a Skeleton) -> Self {
        Self {
            skeleton,
            plane: Sides::new(skeleton).plane(),
            frames: RestFrame::all(skeleton),
        }
    }

    /// Mirrors an override of one joint to another, or in place. Both joints are within the skeleton.
    fn mirrored(&self, given: &JointOverride, to: JointIndex) -> Option<JointOverride> {
        let Self {
            skeleton,
            plane,
            frames,
        } = self;
        let own = |joint: JointIndex| &frames[usize::from(joint)];
        let above = |joint: JointIndex| {
            skeleton.parents()[usize::from(joint)].map_or(&RestFrame::IDENTITY, own)
        };
        let carry_turn =
            |turn: Quat, from, to| plane.carry_turn(turn.as_dquat(), from, to).as_quat();
        let carry_shift =
            |shift: Vec3, from, to| plane.carry_shift(shift.as_dvec3(), from, to).as_vec3();
        let transform = match given.space {
            JointSpace::Parent => {
                let (from_rest, to_rest) = (skeleton.rest_of(given.joint), skeleton.rest_of(to));
                let (from, into) = (above(given.joint), above(to));
                // The change from rest in the parent's space, whose axes differ from side to side.
                let turn = given.transform.rotation * from_rest.rotation.inverse();
                let shift = given.transform.translation - from_rest.translation;
                let ratio = given.transform.difference_to(&from_rest).scale;
                JointTransform {
                    translation: to_rest.translation + carry_shift(shift, from, into),
                    rotation: carry_turn(turn, from, into) * to_rest.rotation,
                    scale: to_rest.scale * ratio,
                }
            }
            JointSpace::Joint => {
                let (from, into) = (own(given.joint), own(to));
                JointTransform {
                    translation: carry_shift(given.transform.translation, from, into),
                    rotation: carry_turn(given.transform.rotation, from, into),
                    scale: given.transform.scale,
                }
            }
            JointSpace::Model => {
                let place = |joint: JointIndex| {
                    Vec3::from(skeleton.rest_model()[usize::from(joint)].translation).as_dvec3()
                };
                // Model space is the space of the mirror plane, so nothing needs to be carried into other
                // axes.
                let turn =
                    given.transform.rotation.as_dquat() * own(given.joint).rotation.conjugate();
                let shift = given.transform.translation.as_dvec3() - place(given.joint);
                JointTransform {
                    translation: (place(to) + plane.reflect(shift)).as_vec3(),
                    rotation: (plane.reflect_turn(turn) * own(to).rotation).as_quat(),
                    scale: given.transform.scale,
                }
            }
        };
        // Products of rounded quaternions drift from unit length.
        let transform = JointTransform {
            rotation: transform.rotation.normalize(),
            ..transform
        };
        transform.is_finite().then_some(JointOverride {
            joint: to,
            transform,
            ..*given
        })
    }
}

#[cfg(test)]
#[path = "tests/mirror.rs"]
mod tests;
