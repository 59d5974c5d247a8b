//! The roles that names and hierarchy suggest.

use super::{
    CHAIN_JOINTS, FINGER_JOINTS, FINGERS, Role, SIDES,
    names::{Part, Reading, read_all},
};
use crate::model::{JointIndex, Side, Skeleton};
use std::collections::BTreeMap;

/// Finds the roles of one skeleton.
pub(super) struct Inference<'a> {
    skeleton: &'a Skeleton,
    given: &'a BTreeMap<Role, Option<JointIndex>>,
    /// The reading of each joint's name.
    readings: Vec<Option<Reading>>,
    /// The joints that names suggest for a part, surest first.
    named: BTreeMap<(Part, Option<Side>), Vec<(u32, JointIndex)>>,
    found: BTreeMap<Role, JointIndex>,
}

impl<'a> Inference<'a> {
    pub(super) fn new(
        skeleton: &'a Skeleton,
        given: &'a BTreeMap<Role, Option<JointIndex>>,
    ) -> Self {
        let readings = read_all(skeleton);
        let mut named: BTreeMap<_, Vec<(u32, JointIndex)>> = BTreeMap::new();
        for joint in skeleton
            .joints()
            .filter(|&joint| !skeleton.is_control(joint))
        {
            if let Some((part, side, rank)) = readings[usize::from(joint)] {
                named.entry((part, side)).or_default().push((rank, joint));
            }
        }
        // Among joints of the same rank, parents come first.
        named.values_mut().for_each(|joints| joints.sort_unstable());
        Self {
            skeleton,
            given,
            readings,
            named,
            found: BTreeMap::new(),
        }
    }

    pub(super) fn run(mut self) -> BTreeMap<Role, JointIndex> {
        // Limbs first: the trunk is found by the joints that they hang from.
        for side in SIDES {
            self.leg(side);
            self.arm(side);
        }
        self.trunk();
        for side in SIDES {
            self.fingers(side);
        }
        self.found
    }

    /// The joint of a role so far.
    fn joint(&self, role: Role) -> Option<JointIndex> {
        self.given
            .get(&role)
            .copied()
            .unwrap_or_else(|| self.found.get(&role).copied())
    }

    /// Gives a role to the surest joint of some parts, below another joint if that is given.
    fn find(&mut self, role: Role, parts: &[Part], side: Option<Side>, below: Option<JointIndex>) {
        if self.given.contains_key(&role) {
            return;
        }
        let fits =
            |joint: JointIndex| below.is_none_or(|below| self.skeleton.descends(joint, below));
        let joints = |part: &Part| {
            self.named
                .get(&(*part, side))
                .map_or(&[][..], |joints| joints)
        };
        let found = parts
            .iter()
            .find_map(|part| joints(part).iter().find(|(_, joint)| fits(*joint)));
        if let Some(&(_, joint)) = found {
            self.found.insert(role, joint);
        }
    }

    /// Gives a role to a joint below the one of another role, and to none if that has no joint.
    fn find_below(&mut self, role: Role, parts: &[Part], side: Side, above: Role) {
        if let Some(above) = self.joint(above) {
            self.find(role, parts, Some(side), Some(above));
        }
    }

    fn leg(&mut self, side: Side) {
        self.find(
            Role::Thigh(side),
            &[Part::Thigh, Part::Leg],
            Some(side),
            None,
        );
        self.find_below(
            Role::Shin(side),
            &[Part::Shin, Part::Leg],
            side,
            Role::Thigh(side),
        );
        self.find_below(Role::Foot(side), &[Part::Foot], side, Role::Shin(side));
        self.find_below(Role::Toes(side), &[Part::Toes], side, Role::Foot(side));
        // Some rigs call the toes feet, and the feet ankles.
        let toes = Role::Toes(side);
        if let (Some(foot), None) = (self.found.get(&Role::Foot(side)).copied(), self.joint(toes))
            && !self.given.contains_key(&toes)
            && let mut feet = self
                .named
                .get(&(Part::Foot, Some(side)))
                .into_iter()
                .flatten()
            && let Some(&(_, ankle)) = feet.find(|(_, ankle)| self.skeleton.descends(foot, *ankle))
            && self
                .joint(Role::Shin(side))
                .is_some_and(|shin| self.skeleton.descends(ankle, shin))
        {
            self.found.extend([(Role::Foot(side), ankle), (toes, foot)]);
        }
    }

    fn arm(&mut self, side: Side) {
        self.find(
            Role::UpperArm(side),
            &[Part::UpperArm, Part::Shoulder],
            Some(side),
            None,
        );
        self.find_below(
            Role::Forearm(side),
            &[Part::Forearm],
            side,
            Role::UpperArm(side),
        );
        self.find_below(Role::Hand(side), &[Part::Hand], side, Role::Forearm(side));
        let Some(arm) = self.joint(Role::UpperArm(side)) else {
            return;
        };
        self.find(
            Role::Clavicle(side),
            &[Part::Clavicle, Part::Shoulder],
            Some(side),
            None,
        );
        // An arm hangs from its clavicle. A joint beside it is something else.
        if self
            .found
            .get(&Role::Clavicle(side))
            .is_some_and(|&joint| !self.skeleton.descends(arm, joint))
        {
            self.found.remove(&Role::Clavicle(side));
        }
    }

    /// The deepest joint above both, or one of them if it is above the other.
    fn common(&self, a: JointIndex, b: JointIndex) -> Option<JointIndex> {
        let above = |joint| std::iter::once(joint).chain(self.skeleton.ancestors(joint));
        above(a).find(|&joint| joint == b || self.skeleton.descends(b, joint))
    }

    fn common_of(&self, role: fn(Side) -> Role) -> Option<JointIndex> {
        self.common(
            self.joint(role(Side::Left))?,
            self.joint(role(Side::Right))?,
        )
    }

    /// Returns the joint that carries the legs and, if any joint carries both, the arms: some rigs
    /// have a pelvis beside the spine.
    fn hips(&self) -> Option<JointIndex> {
        let limbs = |role: fn(Side) -> Role| {
            SIDES
                .iter()
                .filter_map(|&side| self.joint(role(side)))
                .collect::<Vec<_>>()
        };
        let (legs, arms) = (limbs(Role::Thigh), limbs(Role::UpperArm));
        let carries = |hips: JointIndex, limbs: &[JointIndex]| {
            limbs.iter().all(|&limb| self.skeleton.descends(limb, hips))
        };
        // A center is the hips only if it carries legs.
        let most = if legs.is_empty() { 1 } else { u32::MAX };
        let named = self
            .named
            .get(&(Part::Hips, None))
            .map_or(&[][..], |joints| joints);
        let named = || {
            named
                .iter()
                .filter(|(rank, _)| *rank <= most)
                .map(|(_, joint)| *joint)
        };
        let above = || {
            let common = self.common_of(Role::Thigh);
            common.into_iter().chain(
                common
                    .into_iter()
                    .flat_map(|common| self.skeleton.ancestors(common)),
            )
        };
        let both = |joint: &JointIndex| carries(*joint, &legs) && carries(*joint, &arms);
        let only = |joint: &JointIndex| carries(*joint, &legs);
        // Names count more than the hierarchy, and carrying both pairs of limbs more than carrying the
        // legs.
        named()
            .find(both)
            .or_else(|| above().find(both))
            .or_else(|| named().find(only))
            .or_else(|| above().find(only))
    }

    fn trunk(&mut self) {
        let skeleton = self.skeleton;
        if !self.given.contains_key(&Role::Hips)
            && let Some(hips) = self.hips()
        {
            self.found.insert(Role::Hips, hips);
        }
        let Some(hips) = self.joint(Role::Hips) else {
            return;
        };
        if let Some(root) = skeleton.ancestors(hips).last() {
            self.found.insert(Role::Root, root);
        }
        let chest = self
            .common_of(Role::Clavicle)
            .or_else(|| self.common_of(Role::UpperArm));
        let chest = chest.filter(|&chest| skeleton.descends(chest, hips));
        self.find(Role::Head, &[Part::Head], None, Some(hips));
        if self.joint(Role::Head).is_none()
            && let Some(chest) = chest
        {
            // Rigify counts vertebrae up to the head.
            let vertebrae = self
                .named
                .get(&(Part::Spine, None))
                .into_iter()
                .flatten()
                .map(|(_, joint)| *joint);
            let last = vertebrae
                .filter(|&joint| skeleton.descends(joint, chest))
                .max();
            self.found.extend(last.map(|last| (Role::Head, last)));
        }
        let Some(top) = self.joint(Role::Head).or(chest) else {
            return;
        };
        let mut path: Vec<JointIndex> = skeleton
            .ancestors(top)
            .take_while(|&joint| joint != hips)
            .collect();
        path.reverse();
        // Without a head, the topmost joint is part of the spine.
        if self.joint(Role::Head).is_none() {
            path.push(top);
        }
        let reading = |joint: &JointIndex| self.readings[usize::from(*joint)];
        let is_neck =
            |joint: &JointIndex| reading(joint).is_some_and(|(part, ..)| part == Part::Neck);
        let beyond_chest =
            |joint: &JointIndex| chest.is_some_and(|chest| skeleton.descends(*joint, chest));
        let cut = path
            .iter()
            .position(|joint| is_neck(joint) || beyond_chest(joint))
            .unwrap_or(path.len());
        let (spine, neck) = path.split_at(cut);
        for (at, &joint) in spine.iter().take(CHAIN_JOINTS).enumerate() {
            self.found.insert(Role::Spine(at as u8), joint);
        }
        for (at, &joint) in neck.iter().take(CHAIN_JOINTS).enumerate() {
            self.found.insert(Role::Neck(at as u8), joint);
        }
    }

    fn fingers(&mut self, side: Side) {
        let Some(hand) = self.joint(Role::Hand(side)) else {
            return;
        };
        for finger in FINGERS {
            let Some(named) = self.named.get(&(Part::Finger(finger), Some(side))) else {
                continue;
            };
            let mut joints: Vec<JointIndex> = named.iter().map(|(_, joint)| *joint).collect();
            // Parents first, so that each joint hangs from the one before it.
            joints.sort_unstable();
            let mut above = hand;
            let mut at = 0;
            for joint in joints {
                if at < FINGER_JOINTS && self.skeleton.descends(joint, above) {
                    self.found
                        .insert(Role::Finger(side, finger, at as u8), joint);
                    (above, at) = (joint, at + 1);
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "tests/inference.rs"]
mod tests;
