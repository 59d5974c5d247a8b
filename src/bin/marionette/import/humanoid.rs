//! What a humanoid's joints are good for: feet that adapt to the ground, a head that looks, and hands that reach.

use super::rigs::is_humanoid;
use bevy_marionette::{
    import::{FeetEntry, GoalEntry, LegEntry, LookAtEntry},
    internals::model::{Role, Roles, Side},
    model::{JointIndex, Skeleton},
    rig::Limb,
};
use std::collections::BTreeMap;

/// The joints of a humanoid that manifests can name.
pub struct Humanoid<'a> {
    skeleton: &'a Skeleton,
    roles: Roles,
}

impl<'a> Humanoid<'a> {
    /// Returns `None` if the skeleton isn't a humanoid's.
    pub fn new(skeleton: &'a Skeleton) -> Option<Self> {
        let roles = Roles::infer(skeleton);
        is_humanoid(skeleton, &roles).then_some(Self { skeleton, roles })
    }

    /// The hips, and both legs below them.
    pub fn feet(&self) -> Option<FeetEntry> {
        let legs = [Side::Left, Side::Right].map(|side| {
            let leg = LegEntry::new(self.name(Role::Thigh(side))?, self.name(Role::Foot(side))?);
            Some(match self.name(Role::Toes(side)) {
                Some(toe) => leg.toe(toe),
                None => leg,
            })
        });
        let [left, right] = legs;
        Some(FeetEntry::new(self.name(Role::Hips)?, [left?, right?]))
    }

    /// The head, the neck, and the upper end of the spine, which share a turn: what is above turns more.
    pub fn look_at(&self) -> Option<LookAtEntry> {
        let chain = |role: fn(u8) -> Role| {
            let joints = (0..=u8::MAX).map_while(move |at| self.roles.joint(role(at)));
            joints.collect::<Vec<_>>()
        };
        let [spine, neck] = [chain(Role::Spine), chain(Role::Neck)];
        let chest = &spine[spine.len().saturating_sub(2)..];
        let groups: [(&[JointIndex], f32); 3] = [
            (chest, 0.25),
            (&neck, 0.3),
            (&[self.roles.joint(Role::Head)?], 0.45),
        ];
        let joints = groups.into_iter().flat_map(|(joints, share)| {
            let each = share / joints.len() as f32;
            joints.iter().map(move |&joint| (joint, each))
        });
        let total: f32 = joints.clone().map(|(_, share)| share).sum();
        let joints = joints.map(|(joint, share)| {
            // Two digits are what a person would write.
            let share = (100.0 * share / total).round() / 100.0;
            Some((self.named(joint)?, share))
        });
        let entry = LookAtEntry::new(joints.collect::<Option<Vec<_>>>()?);
        entry.resolve(self.skeleton).map(|_| entry)
    }

    /// Both arms, which reach for goals.
    pub fn goals(&self) -> BTreeMap<String, GoalEntry> {
        let arm = |(name, side): (&str, Side)| {
            let [root, mid, tip] = [Role::UpperArm(side), Role::Forearm(side), Role::Hand(side)]
                .map(|role| self.name(role));
            let mut limb = Limb::two_bone(root?, tip?);
            // Twist joints can lie between the elbow and its neighbors: then the middle isn't the elbow.
            if let Limb::TwoBone { mid: elbow, .. } = &mut limb {
                *elbow = mid;
            }
            limb.resolve(self.skeleton).ok()?;
            Some((name.to_owned(), GoalEntry::new(limb)))
        };
        let arms = [("left_hand", Side::Left), ("right_hand", Side::Right)];
        arms.into_iter().filter_map(arm).collect()
    }

    fn name(&self, role: Role) -> Option<String> {
        self.named(self.roles.joint(role)?)
    }

    /// Returns a joint's name, if the manifest can find the joint by it.
    fn named(&self, joint: JointIndex) -> Option<String> {
        let name = self.skeleton.name(joint);
        (self.skeleton.joint(name) == Some(joint)).then(|| name.to_string())
    }
}
