//! Retargeting: clips of one humanoid for another, with other proportions, names and rest pose.
//!
//! Joints are matched by their [roles](Roles). The rest poses are reconciled first: limbs of the
//! target are turned, for the computation only, to point where the source's do at rest, so that a T
//! pose and an A pose mean the same. In each frame, every joint of the target then turns from there
//! as its counterpart does from rest, in model space: limbs point where the source's point,
//! whatever the joints' axes. Bones keep their lengths. The hips travel and rise by the ratio of
//! the legs' lengths.
//!
//! If a limb's bones have other shares of its length, feet and hands would then be elsewhere. So
//! [`TwoBoneIk`](crate::rig::TwoBoneIk) puts them in their places: hands as far from the shoulders
//! as the source's, by the ratio of the arms' lengths, and feet on the ground, without sliding.
//! Knees and elbows stay on their side.
//!
//! Poses at rest are those in which skins were bound, wherever the nodes of a file stand. See `rest.rs` for files that have no skin.
//!
//! If nothing has to be corrected, nothing changes. A joint in the same place below a joint that is
//! the same gets the whole transform of its counterpart, even without a role. Between two bodies
//! that only differ in their joints' names and axes, and in size, clips keep their frames, and
//! every joint is where it was, in proportion.
//!
//! Other joints without a role, such as those that only twist, and sockets, are left alone: the
//! clip does not animate them, so they stay at rest and move with their parents.

mod body;
mod clip;
mod feet;
mod limbs;
mod rest;
mod same;
mod t_pose;

use super::ImportLimits;
use crate::{
    format::Diagnostic,
    import::names::listed,
    model::{ClipError, JointIndex, Role, Roles, Side, SkeletalClip, Skeleton},
};
use body::Body;
pub(super) use clip::retarget_frames;
use glam::{Affine3A, Quat, Vec3};
pub(super) use rest::with_rest;
use same::SameJoint;
use serde::Serialize;

/// Makes clips of one humanoid play on another.
///
/// ```
/// # use bevy_marionette::{import::ImportLimits, internals::{import::{Retarget, RetargetError}, model::Roles}};
/// # use bevy_marionette::model::{SkeletalClip, Skeleton};
/// # fn retargeted(knight: &Skeleton, walk: &SkeletalClip, scout: &Skeleton) -> Result<SkeletalClip, RetargetError> {
/// let retarget = Retarget::new(knight, &Roles::infer(knight), scout, &Roles::infer(scout))?;
/// retarget.run(walk, &ImportLimits::default())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Retarget<'a> {
    source: &'a Skeleton,
    target: &'a Skeleton,
    report: RetargetReport,
    /// Per joint of the target, the joints that it follows.
    drives: Vec<Option<Drive>>,
    from: Body,
    to: Body,
    /// Rotates the source's model space to the target's.
    turn: Quat,
    /// The length of the target's legs relative to the source's.
    ratio: f32,
    /// The share of the sliding of the source's own feet that is removed, 0..=1: nothing if legs
    /// have the same proportions.
    lock: f32,
    /// All joints that follow another are the same there, or in the same pose at rest.
    is_same: bool,
    /// What clips that move the hips add to their translation.
    travel: Vec3,
}

/// The joints that a joint of the target follows.
#[derive(Clone, Copy, Debug)]
struct Drive {
    /// The joints of the source, and the share of the second.
    from: [JointIndex; 2],
    share: f32,
    /// Turns the target's rest pose to that of the source, in model space.
    align: Quat,
    /// The conversion from a joint that is the same in both bodies.
    same: Option<SameJoint>,
}

impl Drive {
    /// Follows one joint.
    fn of(from: JointIndex) -> Self {
        Self {
            from: [from; 2],
            share: 0.0,
            align: Quat::IDENTITY,
            same: None,
        }
    }
}

/// The match of joints when clips are retargeted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RetargetReport {
    /// Joints that follow another: their role, their name, and the name of the source's joint.
    pub mapped: Vec<[String; 3]>,
    /// Roles of the source that no joint of the target has. The motion of their joints is lost.
    pub lost: Vec<String>,
    /// Roles of the target that no joint of the source has. Their joints stay at rest.
    pub at_rest: Vec<String>,
    /// Joints without a role that follow the one in the same place of the same joint: their name, and the source's.
    pub same: Vec<[String; 2]>,
    /// Joints of the target without a role, which stay at rest.
    pub unmapped: Vec<String>,
    /// The length of the target's legs relative to the source's. Lengths are multiplied by it.
    pub ratio: f32,
}

/// An error in retargeting a clip.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RetargetError {
    /// One of the skeletons has no hips.
    #[error(
        "cannot tell which joint of the {whose} is the hips (it has {joints}); name it in `{field}`: `{{\"hips\": \"pelvis\"}}`"
    )]
    NoHips {
        /// The model or the clip's skeleton.
        whose: &'static str,
        /// The first joints' names.
        joints: String,
        /// The field of a manifest that can name it.
        field: &'static str,
    },
    /// The clip would take too much memory.
    #[error(
        "clip `{clip}` would have {frames} frames of {joints} joints, more than the limit `clip_bytes` allows; shorten it, or raise the limit"
    )]
    TooLarge {
        /// Name of the clip.
        clip: String,
        /// Number of frames.
        frames: usize,
        /// Number of joints.
        joints: usize,
    },
    /// The frames make no clip.
    #[error(transparent)]
    Clip(#[from] ClipError),
}

impl<'a> Retarget<'a> {
    /// Matches the joints of two skeletons.
    ///
    /// # Errors
    /// One of the skeletons has no hips.
    pub fn new(
        source: &'a Skeleton,
        source_roles: &Roles,
        target: &'a Skeleton,
        target_roles: &Roles,
    ) -> Result<Self, RetargetError> {
        let no_hips = |whose, skeleton: &Skeleton, field| RetargetError::NoHips {
            whose,
            joints: listed(skeleton.names().iter().map(|name| &**name)),
            field,
        };
        let from = Body::new(source, source_roles)
            .ok_or_else(|| no_hips("clip's skeleton", source, "source_roles"))?;
        let to =
            Body::new(target, target_roles).ok_or_else(|| no_hips("model", target, "roles"))?;
        let turn = body::turn(&from, &to);
        let ratio = to.size / from.size;
        let lock = body::unlike_legs(&from, &to);
        let mut retarget = Self {
            source,
            target,
            report: RetargetReport {
                ratio,
                ..RetargetReport::default()
            },
            drives: vec![None; target.len()],
            from,
            to,
            turn,
            ratio,
            lock,
            is_same: false,
            travel: Vec3::ZERO,
        };
        retarget.map(source_roles, target_roles);
        Ok(retarget)
    }

    /// Returns the match of joints.
    pub fn report(&self) -> &RetargetReport {
        &self.report
    }

    /// Returns a clip of the source, matched by joint names, for the target. It keeps its name, timing and callback keys.
    ///
    /// If the bodies only differ in their joints' names and axes, and in size, the result is exact: the same frames, in
    /// proportion.
    ///
    /// Otherwise, frames are at most 1/60 s apart. At those times, the spine and the head turn exactly as those of the source do.
    /// So do limbs if both bones have the same share of their length as there. If not, hands and feet take precedence: hands
    /// are where they are in the source in proportion, seen from the shoulder, and feet that stand don't slide. On legs of the same
    /// proportions, they slide as in the source. Of clips that animate only parts of limbs, and of additive ones, joints are
    /// turned, and no more.
    ///
    /// # Errors
    /// The clip is too large for `limits`, or so far off that its numbers are not finite.
    pub fn run(
        &self,
        clip: &SkeletalClip,
        limits: &ImportLimits,
    ) -> Result<SkeletalClip, RetargetError> {
        Ok(retarget_frames(self, clip, limits)?.build()?)
    }

    /// Returns warnings for an artist about the match, of a manifest `file` that names the file `clips`.
    pub(super) fn warnings(&self, file: &str, clips: &str) -> Vec<Diagnostic> {
        let RetargetReport { lost, at_rest, .. } = &self.report;
        // Fingers, toes and clavicles are missing more often than not, so they cause no warning.
        let matter = |role: &&String| {
            [
                "head",
                "upper_arm",
                "forearm",
                "hand",
                "thigh",
                "shin",
                "foot",
            ]
            .iter()
            .any(|part| role.starts_with(part))
        };
        let mut out = Vec::new();
        let mut warn = |roles: &[String], what: &str, field: &str| {
            let roles: Vec<&str> = roles.iter().filter(matter).map(String::as_str).collect();
            if !roles.is_empty() {
                let warning = Diagnostic::warning(file, format!("{what}: {}", listed(roles)))
                    .with_context(format!("clips of `{clips}`"));
                out.push(warning.with_hint(format!(
                    "if there is a joint for it, name it in `{field}` of `retarget`"
                )));
            }
        };
        warn(
            lost,
            "the model has no joint for what the clip moves",
            "roles",
        );
        warn(
            at_rest,
            "the clip's skeleton has no joint for parts of the model, which stay at rest",
            "source_roles",
        );
        out
    }

    fn map(&mut self, source_roles: &Roles, target_roles: &Roles) {
        let chain = |roles: &Roles, role: fn(u8) -> Role| -> Vec<JointIndex> {
            (0..=u8::MAX)
                .map_while(|at| roles.joint(role(at)))
                .collect()
        };
        let [spine, neck] =
            [Role::Spine as fn(u8) -> Role, Role::Neck].map(|role| chain(source_roles, role));
        let [spine_length, neck_length] =
            [Role::Spine as fn(u8) -> Role, Role::Neck].map(|role| chain(target_roles, role).len());
        let hips = source_roles.joint(Role::Hips);
        let head = source_roles.joint(Role::Head);
        // Without a spine, the neck starts from the hips.
        let chest = spine.last().copied().or(hips);
        // The joint that a chain starts from, its own joints, and the one that it leads to.
        let spine: Vec<JointIndex> = hips.into_iter().chain(spine).collect();
        let neck: Vec<JointIndex> = chest.into_iter().chain(neck).chain(head).collect();
        // A joint of a chain of another length turns by as much as the source does at the same share of the way.
        let along = |chain: &[JointIndex], at: u8, steps: usize| -> Option<Drive> {
            let last = chain.len().checked_sub(1).filter(|last| *last > 0)?;
            let place = (f32::from(at) + 1.0) * last as f32 / steps as f32;
            let below = (place as usize).min(last);
            let share = place - below as f32;
            let next = if share > 0.0 {
                chain[(below + 1).min(last)]
            } else {
                chain[below]
            };
            Some(Drive {
                from: [chain[below], next],
                share,
                ..Drive::of(next)
            })
        };
        for (role, joint) in target_roles.iter() {
            let same = |role| source_roles.joint(role).map(Drive::of);
            let drive = match role {
                Role::Spine(at) => along(&spine, at, spine_length),
                Role::Neck(at) => along(
                    &neck,
                    at,
                    neck_length + usize::from(target_roles.joint(Role::Head).is_some()),
                ),
                role => same(role),
            };
            match drive {
                Some(drive) => {
                    // The report names the joint that has the larger share.
                    let from = drive.from[usize::from(drive.share > 0.5)];
                    let names = [self.target.name(joint), self.source.name(from)]
                        .map(|name| name.to_string());
                    let [own, other] = names;
                    self.report.mapped.push([role.to_string(), own, other]);
                    self.drives[usize::from(joint)] = Some(drive);
                }
                None => self.report.at_rest.push(role.to_string()),
            }
        }
        // After all joints are matched, because a bone needs the joint at its other end, too.
        self.align(source_roles, target_roles);
        self.find_same(source_roles, target_roles);
        let drive = |joint: JointIndex| self.drives[usize::from(joint)];
        let is_chain = |role: &Role| matches!(role, Role::Spine(_) | Role::Neck(_));
        let lost = source_roles
            .iter()
            .map(|(role, _)| role)
            .filter(|role| target_roles.joint(*role).is_none());
        self.report.lost = lost
            // Another joint of the chain has taken over the turn of one that is missing.
            .filter(|role| !is_chain(role))
            .map(|role| role.to_string())
            .collect();
        let without_role = || {
            self.target
                .joints()
                .filter(|&joint| target_roles.role(joint).is_none())
        };
        let unmapped = without_role().filter(|&joint| drive(joint).is_none());
        self.report.unmapped = unmapped
            .map(|joint| self.target.name(joint).to_string())
            .collect();
        let names = |joint: JointIndex| {
            Some([
                self.target.name(joint),
                self.source.name(drive(joint)?.from[0]),
            ])
        };
        let same = without_role().filter_map(names);
        self.report.same = same
            .map(|names| names.map(|name| name.to_string()))
            .collect();
    }

    /// Reconciles the rest poses.
    fn align(&mut self, source_roles: &Roles, target_roles: &Roles) {
        let pair = |role| Some((source_roles.joint(role)?, target_roles.joint(role)?));
        let (source, target) = (&self.from.places, &self.to.places);
        // The directions of the source's and the target's bone at rest.
        let bone = |from: Role, to: Role| {
            let ((a, a2), (b, b2)) = (pair(from)?, pair(to)?);
            let along = |places: &[Vec3], from: JointIndex, to: JointIndex| {
                places[usize::from(to)] - places[usize::from(from)]
            };
            Some((self.turn * along(source, a, b), along(target, a2, b2)))
        };
        let mut aligned = Vec::new();
        // Turns a bone, starting from the turn of the one above.
        let mut follow = |from: Role, to: Role, above: Quat| {
            let turn = bone(from, to).map_or(above, |(source, target)| {
                body::arc(above * target, source) * above
            });
            aligned.push((from, turn));
            turn
        };
        for side in [Side::Left, Side::Right] {
            let upper = follow(Role::UpperArm(side), Role::Forearm(side), Quat::IDENTITY);
            let lower = follow(Role::Forearm(side), Role::Hand(side), upper);
            let hand = body::hand_turn(side, &bone, lower);
            // A hand with itself: fingers, not the next joint, say how it is turned.
            follow(Role::Hand(side), Role::Hand(side), hand);
            for finger in body::FINGERS {
                let mut above = hand;
                for at in 0..3 {
                    above = follow(
                        Role::Finger(side, finger, at),
                        Role::Finger(side, finger, at + 1),
                        above,
                    );
                }
            }
            let thigh = follow(Role::Thigh(side), Role::Shin(side), Quat::IDENTITY);
            follow(Role::Shin(side), Role::Foot(side), thigh);
            // Soles are flat at rest, so feet only turn about the up axis.
            let up = self.to.up;
            let level = |v: Vec3| v - up * v.dot(up);
            let foot = bone(Role::Foot(side), Role::Toes(side))
                .map_or(Quat::IDENTITY, |(source, target)| {
                    body::arc(level(target), level(source))
                });
            follow(Role::Foot(side), Role::Foot(side), foot);
            follow(Role::Toes(side), Role::Toes(side), foot);
        }
        for (role, turn) in aligned {
            let joint = target_roles.joint(role);
            if let Some(drive) = joint.and_then(|joint| self.drives[usize::from(joint)].as_mut()) {
                drive.align = turn;
            }
        }
    }
}

/// Returns the places of all joints at rest.
fn places(skeleton: &Skeleton) -> Vec<Vec3> {
    skeleton
        .rest_model()
        .iter()
        .map(|joint| joint.translation.into())
        .collect()
}

/// The rotations of joints in model space, from those relative to their parents.
fn rotations(skeleton: &Skeleton, local: impl Fn(JointIndex) -> Quat) -> Vec<Quat> {
    let mut out: Vec<Quat> = Vec::with_capacity(skeleton.len());
    for joint in skeleton.joints() {
        let above = skeleton.parents()[usize::from(joint)]
            .map_or(Quat::IDENTITY, |parent| out[usize::from(parent)]);
        out.push((above * local(joint)).normalize());
    }
    out
}

fn above(model: &[Affine3A], skeleton: &Skeleton, joint: usize) -> Affine3A {
    skeleton.parents()[joint].map_or(Affine3A::IDENTITY, |parent| model[usize::from(parent)])
}
