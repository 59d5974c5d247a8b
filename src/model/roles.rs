//! Roles of joints: which one is the hips, an upper arm, a toe.
//!
//! Roles are told by names, in the schemes that are common for humanoids, and checked against the hierarchy: a forearm
//! hangs from an upper arm. The spine and the neck are whatever lies between the hips, the arms and the head.

use super::{JointIndex, Side, Skeleton, words};
use crate::spelling::did_you_mean;
use std::{collections::BTreeMap, fmt, str::FromStr};

/// What a joint is in a humanoid body.
///
/// As text: `root`, `hips`, `spine.1` (the lowest), `neck.1`, `head`, `clavicle.L`, `upper_arm.L`, `forearm.L`, `hand.L`,
/// `thumb.1.L`, `index.1.L`, `middle.1.L`, `ring.1.L`, `little.1.L`, `thigh.L`, `shin.L`, `foot.L`, `toes.L`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The joint at the top of the hierarchy, if it is not the hips.
    Root,
    /// The joint that carries the spine and the legs.
    Hips,
    /// A joint of the spine, from 0 at the hips.
    Spine(u8),
    /// A joint of the neck, from 0 at the chest.
    Neck(u8),
    /// The head.
    Head,
    /// The collarbone.
    Clavicle(Side),
    /// The arm from the shoulder to the elbow.
    UpperArm(Side),
    /// The arm from the elbow to the wrist.
    Forearm(Side),
    /// The hand.
    Hand(Side),
    /// A joint of a finger, from 0 at the hand.
    Finger(Side, Finger, u8),
    /// The leg from the hip to the knee.
    Thigh(Side),
    /// The leg from the knee to the ankle.
    Shin(Side),
    /// The foot.
    Foot(Side),
    /// The toes, which start at the ball of the foot.
    Toes(Side),
}

/// A finger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Finger {
    /// The thumb.
    Thumb,
    /// The index finger.
    Index,
    /// The middle finger.
    Middle,
    /// The ring finger.
    Ring,
    /// The little finger.
    Little,
}

/// Joints of a finger, and of a spine or neck, that have roles.
const FINGER_JOINTS: usize = 3;
const CHAIN_JOINTS: usize = 24;

const SIDES: [Side; 2] = [Side::Left, Side::Right];
const FINGERS: [Finger; 5] = [Finger::Thumb, Finger::Index, Finger::Middle, Finger::Ring, Finger::Little];

impl Role {
    /// All roles.
    fn all() -> impl Iterator<Item = Self> {
        let numbers = 0..CHAIN_JOINTS as u8;
        let sided = SIDES.into_iter().flat_map(|side| {
            let fingers = FINGERS
                .into_iter()
                .flat_map(move |finger| (0..FINGER_JOINTS as u8).map(move |joint| Self::Finger(side, finger, joint)));
            let arm = [Self::Clavicle(side), Self::UpperArm(side), Self::Forearm(side), Self::Hand(side)];
            let leg = [Self::Thigh(side), Self::Shin(side), Self::Foot(side), Self::Toes(side)];
            arm.into_iter().chain(leg).chain(fingers)
        });
        let middle = [Self::Root, Self::Hips, Self::Head].into_iter();
        middle.chain(numbers.clone().map(Self::Spine)).chain(numbers.map(Self::Neck)).chain(sided)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |side: Side| if side == Side::Left { 'L' } else { 'R' };
        let (name, side) = match *self {
            Self::Root => return out.write_str("root"),
            Self::Hips => return out.write_str("hips"),
            Self::Head => return out.write_str("head"),
            Self::Spine(at) => return write!(out, "spine.{}", u16::from(at) + 1),
            Self::Neck(at) => return write!(out, "neck.{}", u16::from(at) + 1),
            Self::Finger(side, finger, at) => {
                let name = match finger {
                    Finger::Thumb => "thumb",
                    Finger::Index => "index",
                    Finger::Middle => "middle",
                    Finger::Ring => "ring",
                    Finger::Little => "little",
                };
                return write!(out, "{name}.{}.{}", u16::from(at) + 1, letter(side));
            }
            Self::Clavicle(side) => ("clavicle", side),
            Self::UpperArm(side) => ("upper_arm", side),
            Self::Forearm(side) => ("forearm", side),
            Self::Hand(side) => ("hand", side),
            Self::Thigh(side) => ("thigh", side),
            Self::Shin(side) => ("shin", side),
            Self::Foot(side) => ("foot", side),
            Self::Toes(side) => ("toes", side),
        };
        write!(out, "{name}.{}", letter(side))
    }
}

/// Why a table of roles does not fit a skeleton.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RoleError {
    /// There is no such role.
    #[error("no role is called `{role}`; {hint}")]
    UnknownRole {
        /// The name given.
        role: String,
        /// What to do.
        hint: String,
    },
    /// There is no such joint.
    #[error("role `{role}`: there is no joint `{joint}`; {hint}")]
    UnknownJoint {
        /// The role.
        role: String,
        /// The joint's name as given.
        joint: String,
        /// What to do.
        hint: String,
    },
}

impl FromStr for Role {
    type Err = RoleError;

    fn from_str(text: &str) -> Result<Self, RoleError> {
        let known = || Self::all().map(|role| (role, role.to_string()));
        let short = match text {
            "spine" => Some(Self::Spine(0)),
            "neck" => Some(Self::Neck(0)),
            _ => None,
        };
        short.or_else(|| known().find(|(_, name)| name == text).map(|(role, _)| role)).ok_or_else(|| {
            let names: Vec<String> = known().map(|(_, name)| name).collect();
            let hint = did_you_mean(text, names.iter().map(String::as_str));
            let hint = hint.unwrap_or_else(|| "roles are called `hips`, `spine.1`, `upper_arm.L` and so on".to_owned());
            RoleError::UnknownRole { role: text.to_owned(), hint }
        })
    }
}

/// The roles of a skeleton's joints. No joint has two.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roles {
    joints: BTreeMap<Role, JointIndex>,
}

impl Roles {
    /// Tells roles by the joints' names and hierarchy. Knows the names of Mixamo, Rigify, Unreal, 3ds Max's Biped, KayKit,
    /// Quaternius, VRM and similar ones.
    pub fn infer(skeleton: &Skeleton) -> Self {
        Self::new(skeleton, BTreeMap::new())
    }

    /// The same, with joints given for some roles, by name: `("hips", "pelvis")`. An empty name gives a role to no joint.
    ///
    /// # Errors
    /// There is no such role or joint.
    pub fn with_table<'t>(
        skeleton: &Skeleton,
        table: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> Result<Self, RoleError> {
        let mut given = BTreeMap::new();
        for (role, joint) in table {
            let found = skeleton.joint(joint);
            if found.is_none() && !joint.is_empty() {
                let hint = did_you_mean(joint, skeleton.names().iter().map(|name| &**name));
                let hint = hint.unwrap_or_else(|| "`marionette inspect` lists the joints".to_owned());
                return Err(RoleError::UnknownJoint { role: role.to_owned(), joint: joint.to_owned(), hint });
            }
            given.insert(role.parse()?, found);
        }
        Ok(Self::new(skeleton, given))
    }

    fn new(skeleton: &Skeleton, given: BTreeMap<Role, Option<JointIndex>>) -> Self {
        let mut joints = Inference::new(skeleton, &given).run();
        let pinned: Vec<JointIndex> = given.values().filter_map(|joint| *joint).collect();
        joints.retain(|role, joint| !given.contains_key(role) && !pinned.contains(joint));
        joints.extend(given.into_iter().filter_map(|(role, joint)| Some((role, joint?))));
        Self { joints }
    }

    /// The joint with a role.
    pub fn joint(&self, role: Role) -> Option<JointIndex> {
        self.joints.get(&role).copied()
    }

    /// The role of a joint.
    pub fn role(&self, joint: JointIndex) -> Option<Role> {
        self.iter().find(|&(_, other)| other == joint).map(|(role, _)| role)
    }

    /// All roles that joints have.
    pub fn iter(&self) -> impl Iterator<Item = (Role, JointIndex)> + '_ {
        self.joints.iter().map(|(&role, &joint)| (role, joint))
    }

    /// Number of joints with a role.
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// Returns `true` if no joint has a role.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }
}

/// What a name alone tells. Some words mean one thing in one scheme, and another in the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Hips,
    Spine,
    Neck,
    Head,
    /// Clavicle, or upper arm if nothing else is one.
    Shoulder,
    Clavicle,
    UpperArm,
    Forearm,
    Hand,
    Finger(Finger),
    /// Shin if something else is a thigh.
    Leg,
    Thigh,
    Shin,
    Foot,
    Toes,
}

/// Words that don't say what a joint is.
const NOISE: [&str; 16] = [
    "def",
    "bip",
    "bone",
    "bn",
    "b",
    "j",
    "c",
    "jnt",
    "joint",
    "sk",
    "skel",
    "rig",
    "armature",
    "mixamorig",
    "valvebiped",
    "character",
];
/// Words of joints that control or extend others.
const OTHERS: [&str; 26] = [
    "ik",
    "fk",
    "pole",
    "target",
    "ctrl",
    "control",
    "mch",
    "org",
    "vis",
    "twist",
    "roll",
    "end",
    "nub",
    "tip",
    "top",
    "slot",
    "socket",
    "holder",
    "helper",
    "goal",
    "metacarpal",
    "meta",
    "tweak",
    "attach",
    "weapon",
    "prop",
];

/// What a name says: the part, its side, and how sure that is: less is surer.
fn read(name: &str) -> Option<(Part, Option<Side>, u32)> {
    let name = name.rsplit([':', '|']).next().unwrap_or(name);
    let (mut key, mut number, mut side, mut rank) = (String::new(), None, None, 0);
    for word in words(name) {
        let word = name[word].to_lowercase();
        match word.as_str() {
            "left" | "l" => side = Some(Side::Left),
            "right" | "r" => side = Some(Side::Right),
            word if NOISE.contains(&word) => {}
            word if OTHERS.contains(&word) => return None,
            word if word.starts_with(|c: char| c.is_ascii_digit()) => number = Some(word.to_owned()),
            word => key += word,
        }
    }
    let mut part = part_of(&key, side.is_some(), number.as_deref());
    if part.is_none() && side.is_none() {
        let ends = [("left", Side::Left), ("right", Side::Right), ("l", Side::Left), ("r", Side::Right)];
        (part, side) = ends.into_iter().find_map(|(end, side)| {
            let rest = key.strip_prefix(end).or_else(|| key.strip_suffix(end).filter(|_| end.len() > 1))?;
            Some((Some(part_of(rest, true, number.as_deref())?), Some(side)))
        })?;
    }
    let part = part?;
    // `upper_arm.L.001` is a piece of `upper_arm.L`, and a wrist only stands in for a hand.
    rank += u32::from(number.is_some()) + 2 * u32::from(key.contains("wrist"));
    Some((part, side, rank))
}

fn part_of(key: &str, has_side: bool, number: Option<&str>) -> Option<Part> {
    const FINGER_NAMES: [(&str, Finger); 8] = [
        ("thumb", Finger::Thumb),
        ("index", Finger::Index),
        ("middle", Finger::Middle),
        ("mid", Finger::Middle),
        ("ring", Finger::Ring),
        ("pinky", Finger::Little),
        ("little", Finger::Little),
        ("pinkie", Finger::Little),
    ];
    Some(match key {
        "hip" | "hips" | "pelvis" if !has_side || key == "hips" => Part::Hips,
        "hip" | "thigh" | "upleg" | "upperleg" | "legupper" | "femur" => Part::Thigh,
        "leg" => Part::Leg,
        "shin" | "calf" | "lowerleg" | "lowleg" | "loleg" | "leglower" | "knee" => Part::Shin,
        "foot" | "ankle" => Part::Foot,
        "toe" | "toes" | "toebase" | "ball" => Part::Toes,
        "clavicle" | "collar" | "collarbone" => Part::Clavicle,
        "shoulder" => Part::Shoulder,
        "arm" | "upperarm" | "uparm" | "armupper" | "bicep" => Part::UpperArm,
        "forearm" | "lowerarm" | "lowarm" | "loarm" | "armlower" | "elbow" => Part::Forearm,
        "hand" | "palm" | "fist" | "wrist" => Part::Hand,
        "spine" | "chest" | "upperchest" | "torso" | "abdomen" | "waist" | "stomach" | "belly" => Part::Spine,
        "neck" => Part::Neck,
        "head" => Part::Head,
        // As 3ds Max's Biped counts: `Finger0` and `Finger01` are the thumb.
        "finger" => {
            let first = number?.chars().next()?.to_digit(10)?;
            Part::Finger(*FINGERS.get(first as usize)?)
        }
        _ => {
            let rest = ["hand", "finger", "f"].iter().find_map(|start| key.strip_prefix(start)).unwrap_or(key);
            let named = |name: &str| FINGER_NAMES.into_iter().find(|(known, _)| *known == name);
            let (_, finger) = named(rest).or_else(|| named(key)).or_else(|| named(rest.strip_suffix("finger")?))?;
            Part::Finger(finger)
        }
    })
}

/// Finds the roles of one skeleton.
struct Inference<'a> {
    skeleton: &'a Skeleton,
    given: &'a BTreeMap<Role, Option<JointIndex>>,
    /// The joints that names suggest for a part, surest first.
    named: BTreeMap<(Part, Option<Side>), Vec<(u32, JointIndex)>>,
    found: BTreeMap<Role, JointIndex>,
}

impl<'a> Inference<'a> {
    fn new(skeleton: &'a Skeleton, given: &'a BTreeMap<Role, Option<JointIndex>>) -> Self {
        let mut named: BTreeMap<_, Vec<(u32, JointIndex)>> = BTreeMap::new();
        for joint in skeleton.joints().filter(|&joint| !skeleton.is_control(joint)) {
            if let Some((part, side, rank)) = read(skeleton.name(joint)) {
                named.entry((part, side)).or_default().push((rank, joint));
            }
        }
        named.values_mut().for_each(|joints| joints.sort_unstable());
        Self { skeleton, given, named, found: BTreeMap::new() }
    }

    fn run(mut self) -> BTreeMap<Role, JointIndex> {
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
        self.given.get(&role).copied().unwrap_or_else(|| self.found.get(&role).copied())
    }

    /// Gives a role to the surest joint of some parts, below another joint if that is given.
    fn find(&mut self, role: Role, parts: &[Part], side: Option<Side>, below: Option<JointIndex>) {
        if self.given.contains_key(&role) {
            return;
        }
        let fits = |joint: JointIndex| below.is_none_or(|below| self.skeleton.descends(joint, below));
        let joints = |part: &Part| self.named.get(&(*part, side)).map_or(&[][..], |joints| joints);
        let found = parts.iter().find_map(|part| joints(part).iter().find(|(_, joint)| fits(*joint)));
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
        self.find(Role::Thigh(side), &[Part::Thigh, Part::Leg], Some(side), None);
        self.find_below(Role::Shin(side), &[Part::Shin, Part::Leg], side, Role::Thigh(side));
        self.find_below(Role::Foot(side), &[Part::Foot], side, Role::Shin(side));
        self.find_below(Role::Toes(side), &[Part::Toes], side, Role::Foot(side));
    }

    fn arm(&mut self, side: Side) {
        self.find(Role::UpperArm(side), &[Part::UpperArm, Part::Shoulder], Some(side), None);
        self.find_below(Role::Forearm(side), &[Part::Forearm], side, Role::UpperArm(side));
        self.find_below(Role::Hand(side), &[Part::Hand], side, Role::Forearm(side));
        let Some(arm) = self.joint(Role::UpperArm(side)) else { return };
        self.find(Role::Clavicle(side), &[Part::Clavicle, Part::Shoulder], Some(side), None);
        if self.found.get(&Role::Clavicle(side)).is_some_and(|&joint| !self.skeleton.descends(arm, joint)) {
            self.found.remove(&Role::Clavicle(side));
        }
    }

    /// The deepest joint above both, or one of them if it is above the other.
    fn common(&self, a: JointIndex, b: JointIndex) -> Option<JointIndex> {
        let above = |joint| std::iter::once(joint).chain(self.skeleton.ancestors(joint));
        above(a).find(|&joint| joint == b || self.skeleton.descends(b, joint))
    }

    fn common_of(&self, role: fn(Side) -> Role) -> Option<JointIndex> {
        self.common(self.joint(role(Side::Left))?, self.joint(role(Side::Right))?)
    }

    fn trunk(&mut self) {
        let skeleton = self.skeleton;
        let legs: Vec<JointIndex> = SIDES.iter().filter_map(|&side| self.joint(Role::Thigh(side))).collect();
        self.find(Role::Hips, &[Part::Hips], None, None);
        let carries = |hips: JointIndex| legs.iter().all(|&leg| skeleton.descends(leg, hips));
        if self.found.get(&Role::Hips).is_some_and(|&hips| !carries(hips)) {
            self.found.remove(&Role::Hips);
        }
        if self.joint(Role::Hips).is_none()
            && !self.given.contains_key(&Role::Hips)
            && let Some(common) = self.common_of(Role::Thigh).filter(|&joint| carries(joint))
        {
            self.found.insert(Role::Hips, common);
        }
        let Some(hips) = self.joint(Role::Hips) else { return };
        if let Some(root) = skeleton.ancestors(hips).last() {
            self.found.insert(Role::Root, root);
        }
        let chest = self.common_of(Role::Clavicle).or_else(|| self.common_of(Role::UpperArm));
        let chest = chest.filter(|&chest| skeleton.descends(chest, hips));
        self.find(Role::Head, &[Part::Head], None, Some(hips));
        if self.joint(Role::Head).is_none()
            && let Some(chest) = chest
        {
            // Rigify counts vertebrae up to the head.
            let vertebrae = self.named.get(&(Part::Spine, None)).into_iter().flatten().map(|(_, joint)| *joint);
            let last = vertebrae.filter(|&joint| skeleton.descends(joint, chest)).max();
            self.found.extend(last.map(|last| (Role::Head, last)));
        }
        let Some(top) = self.joint(Role::Head).or(chest) else { return };
        let mut path: Vec<JointIndex> = skeleton.ancestors(top).take_while(|&joint| joint != hips).collect();
        path.reverse();
        if self.joint(Role::Head).is_none() {
            path.push(top);
        }
        let is_neck = |joint: &JointIndex| read(skeleton.name(*joint)).is_some_and(|(part, ..)| part == Part::Neck);
        let beyond_chest = |joint: &JointIndex| chest.is_some_and(|chest| skeleton.descends(*joint, chest));
        let cut = path.iter().position(|joint| is_neck(joint) || beyond_chest(joint)).unwrap_or(path.len());
        let (spine, neck) = path.split_at(cut);
        for (at, &joint) in spine.iter().take(CHAIN_JOINTS).enumerate() {
            self.found.insert(Role::Spine(at as u8), joint);
        }
        for (at, &joint) in neck.iter().take(CHAIN_JOINTS).enumerate() {
            self.found.insert(Role::Neck(at as u8), joint);
        }
    }

    fn fingers(&mut self, side: Side) {
        let Some(hand) = self.joint(Role::Hand(side)) else { return };
        for finger in FINGERS {
            let Some(named) = self.named.get(&(Part::Finger(finger), Some(side))) else { continue };
            let mut joints: Vec<JointIndex> = named.iter().map(|(_, joint)| *joint).collect();
            joints.sort_unstable();
            let mut above = hand;
            let mut at = 0;
            for joint in joints {
                if at < FINGER_JOINTS && self.skeleton.descends(joint, above) {
                    self.found.insert(Role::Finger(side, finger, at as u8), joint);
                    (above, at) = (joint, at + 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Joint, JointTransform};
    use glam::Affine3A;

    /// A skeleton of `(name, parent)`; a parent's index, or itself for a root.
    fn skeleton(joints: &[(&str, usize)]) -> Skeleton {
        let joint = |(at, (name, parent)): (usize, &(&str, usize))| Joint {
            name: (*name).into(),
            parent: (*parent != at).then_some(*parent as u16),
            rest: JointTransform::IDENTITY,
            inverse_bind: Affine3A::IDENTITY,
        };
        Skeleton::new(joints.iter().enumerate().map(joint).collect()).unwrap()
    }

    #[track_caller]
    fn check(joints: &[(&str, usize)], expected: &[(&str, &str)]) {
        let skeleton = skeleton(joints);
        let roles = Roles::infer(&skeleton);
        for (role, joint) in expected {
            let found = roles.joint(role.parse().unwrap()).map(|joint| &**skeleton.name(joint));
            assert_eq!(found, Some(*joint), "{role} of {:?}", roles);
        }
        let named: Vec<String> = roles.iter().map(|(role, _)| role.to_string()).collect();
        assert_eq!(roles.len(), expected.len(), "{named:?}");
    }

    #[test]
    fn the_roles_of_mixamo() {
        check(
            &[
                ("mixamorig:Hips", 0),
                ("mixamorig:Spine", 0),
                ("mixamorig:Spine1", 1),
                ("mixamorig:Spine2", 2),
                ("mixamorig:Neck", 3),
                ("mixamorig:Head", 4),
                ("mixamorig:HeadTop_End", 5),
                ("mixamorig:LeftShoulder", 3),
                ("mixamorig:LeftArm", 7),
                ("mixamorig:LeftForeArm", 8),
                ("mixamorig:LeftHand", 9),
                ("mixamorig:LeftHandIndex1", 10),
                ("mixamorig:LeftHandIndex2", 11),
                ("mixamorig:RightShoulder", 3),
                ("mixamorig:RightArm", 13),
                ("mixamorig:LeftUpLeg", 0),
                ("mixamorig:LeftLeg", 15),
                ("mixamorig:LeftFoot", 16),
                ("mixamorig:LeftToeBase", 17),
                ("mixamorig:LeftToe_End", 18),
                ("mixamorig:RightUpLeg", 0),
            ],
            &[
                ("hips", "mixamorig:Hips"),
                ("spine.1", "mixamorig:Spine"),
                ("spine.3", "mixamorig:Spine2"),
                ("spine.2", "mixamorig:Spine1"),
                ("neck.1", "mixamorig:Neck"),
                ("head", "mixamorig:Head"),
                ("clavicle.L", "mixamorig:LeftShoulder"),
                ("upper_arm.L", "mixamorig:LeftArm"),
                ("forearm.L", "mixamorig:LeftForeArm"),
                ("hand.L", "mixamorig:LeftHand"),
                ("index.1.L", "mixamorig:LeftHandIndex1"),
                ("index.2.L", "mixamorig:LeftHandIndex2"),
                ("clavicle.R", "mixamorig:RightShoulder"),
                ("upper_arm.R", "mixamorig:RightArm"),
                ("thigh.L", "mixamorig:LeftUpLeg"),
                ("shin.L", "mixamorig:LeftLeg"),
                ("foot.L", "mixamorig:LeftFoot"),
                ("toes.L", "mixamorig:LeftToeBase"),
                ("thigh.R", "mixamorig:RightUpLeg"),
            ],
        );
    }

    #[test]
    fn the_roles_of_rigify_whose_vertebrae_are_counted_up_to_the_head() {
        check(
            &[
                ("root", 0),
                ("DEF-spine", 0),
                ("DEF-spine.001", 1),
                ("DEF-spine.003", 2),
                ("DEF-spine.004", 3),
                ("DEF-spine.006", 4),
                ("DEF-shoulder.L", 3),
                ("DEF-upper_arm.L", 6),
                ("DEF-upper_arm.L.001", 7),
                ("DEF-forearm.L", 8),
                ("DEF-hand.L", 9),
                ("DEF-f_index.01.L", 10),
                ("DEF-thumb.01.L", 10),
                ("DEF-shoulder.R", 3),
                ("DEF-upper_arm.R", 13),
                ("DEF-thigh.L", 1),
                ("DEF-thigh.R", 1),
                ("MCH-foot.L", 15),
            ],
            &[
                ("root", "root"),
                ("hips", "DEF-spine"),
                ("spine.1", "DEF-spine.001"),
                ("spine.2", "DEF-spine.003"),
                ("neck.1", "DEF-spine.004"),
                ("head", "DEF-spine.006"),
                ("clavicle.L", "DEF-shoulder.L"),
                ("clavicle.R", "DEF-shoulder.R"),
                ("upper_arm.L", "DEF-upper_arm.L"),
                ("upper_arm.R", "DEF-upper_arm.R"),
                ("forearm.L", "DEF-forearm.L"),
                ("hand.L", "DEF-hand.L"),
                ("index.1.L", "DEF-f_index.01.L"),
                ("thumb.1.L", "DEF-thumb.01.L"),
                ("thigh.L", "DEF-thigh.L"),
                ("thigh.R", "DEF-thigh.R"),
            ],
        );
    }

    #[test]
    fn the_roles_of_unreal_biped_kaykit_and_doom() {
        check(
            &[
                ("root", 0),
                ("pelvis", 0),
                ("spine_01", 1),
                ("neck_01", 2),
                ("head", 3),
                ("clavicle_l", 2),
                ("upperarm_l", 5),
                ("upperarm_twist_01_l", 6),
                ("lowerarm_l", 6),
                ("hand_l", 8),
                ("ik_hand_l", 0),
                ("thigh_l", 1),
                ("calf_l", 11),
                ("foot_l", 12),
                ("ball_l", 13),
            ],
            &[
                ("root", "root"),
                ("hips", "pelvis"),
                ("spine.1", "spine_01"),
                ("neck.1", "neck_01"),
                ("head", "head"),
                ("clavicle.L", "clavicle_l"),
                ("upper_arm.L", "upperarm_l"),
                ("forearm.L", "lowerarm_l"),
                ("hand.L", "hand_l"),
                ("thigh.L", "thigh_l"),
                ("shin.L", "calf_l"),
                ("foot.L", "foot_l"),
                ("toes.L", "ball_l"),
            ],
        );
        // Biped hangs the clavicles from the neck.
        check(
            &[
                ("Bip01", 0),
                ("Bip01 Pelvis", 0),
                ("Bip01 Spine", 1),
                ("Bip01 Neck", 2),
                ("Bip01 Head", 3),
                ("Bip01 L Clavicle", 3),
                ("Bip01 L UpperArm", 5),
                ("Bip01 L Forearm", 6),
                ("Bip01 L Hand", 7),
                ("Bip01 L Finger0", 8),
                ("Bip01 L Finger01", 9),
                ("Bip01 L Finger1", 8),
                ("Bip01 R Clavicle", 3),
                ("Bip01 R UpperArm", 12),
                ("Bip01 L Toe0", 1),
            ],
            &[
                ("root", "Bip01"),
                ("hips", "Bip01 Pelvis"),
                ("spine.1", "Bip01 Spine"),
                ("neck.1", "Bip01 Neck"),
                ("head", "Bip01 Head"),
                ("clavicle.L", "Bip01 L Clavicle"),
                ("upper_arm.L", "Bip01 L UpperArm"),
                ("forearm.L", "Bip01 L Forearm"),
                ("hand.L", "Bip01 L Hand"),
                ("thumb.1.L", "Bip01 L Finger0"),
                ("thumb.2.L", "Bip01 L Finger01"),
                ("index.1.L", "Bip01 L Finger1"),
                ("clavicle.R", "Bip01 R Clavicle"),
                ("upper_arm.R", "Bip01 R UpperArm"),
            ],
        );
        check(
            &[
                ("root", 0),
                ("hips", 0),
                ("chest", 1),
                ("upperarm.l", 2),
                ("lowerarm.l", 3),
                ("wrist.l", 4),
                ("hand.l", 5),
                ("handslot.l", 6),
                ("upperleg.l", 1),
                ("lowerleg.l", 8),
                ("kneeIK.l", 0),
                ("control-toe-roll.l", 0),
                ("upperarm.r", 2),
            ],
            &[
                ("root", "root"),
                ("hips", "hips"),
                ("spine.1", "chest"),
                ("upper_arm.L", "upperarm.l"),
                ("forearm.L", "lowerarm.l"),
                ("hand.L", "hand.l"),
                ("thigh.L", "upperleg.l"),
                ("shin.L", "lowerleg.l"),
                ("upper_arm.R", "upperarm.r"),
            ],
        );
        check(
            &[("origin", 0), ("hips", 0), ("lupleg", 1), ("lloleg", 2), ("rupleg", 1), ("luparm", 1), ("lloarm", 5)],
            &[
                ("root", "origin"),
                ("hips", "hips"),
                ("thigh.L", "lupleg"),
                ("shin.L", "lloleg"),
                ("thigh.R", "rupleg"),
                ("upper_arm.L", "luparm"),
                ("forearm.L", "lloarm"),
            ],
        );
    }

    #[test]
    fn a_table_comes_before_names() {
        let skeleton = skeleton(&[("a", 0), ("hips", 0), ("thigh.L", 1), ("thigh.R", 1), ("b", 2), ("foot.L", 4)]);
        let roles = Roles::with_table(&skeleton, [("hips", "a"), ("shin.L", "b"), ("thigh.R", "")]).unwrap();
        let named = |role: &str| roles.joint(role.parse().unwrap()).map(|joint| &**skeleton.name(joint));
        assert_eq!([named("hips"), named("shin.L"), named("foot.L")], [Some("a"), Some("b"), Some("foot.L")]);
        assert_eq!([named("thigh.R"), named("root")], [None; 2]);
        assert_eq!(roles.role(4), Some(Role::Shin(Side::Left)));
        let error = |table| Roles::with_table(&skeleton, [table]).unwrap_err().to_string();
        assert!(error(("hip", "a")).contains("did you mean `hips`?"), "{}", error(("hip", "a")));
        assert!(error(("hips", "hipps")).contains("did you mean `hips`?"), "{}", error(("hips", "hipps")));
    }

    #[test]
    fn roles_are_written_as_they_are_read() {
        for role in Role::all() {
            assert_eq!(role.to_string().parse(), Ok(role));
        }
        assert_eq!("spine".parse(), Ok(Role::Spine(0)));
    }

    #[test]
    fn joints_of_other_bodies_have_few_roles_and_chains_of_thousands_take_no_minute() {
        assert!(Roles::infer(&skeleton(&[("wheel", 0), ("turret", 0)])).is_empty());
        assert!(Roles::infer(&Skeleton::default()).is_empty());
        let names: Vec<String> =
            (0..4096).map(|at| format!("{} {at}", ["hips", "spine", "head", "hand l"][at % 4])).collect();
        let joints: Vec<(&str, usize)> = names.iter().enumerate().map(|(at, n)| (&**n, at.saturating_sub(1))).collect();
        assert!(Roles::infer(&skeleton(&joints)).len() < 100);
    }
}
