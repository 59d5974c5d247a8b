//! Roles of joints, such as hips, upper arm or toes.
//!
//! Roles are inferred from names, in the schemes that are common for humanoids, and checked against
//! the hierarchy: a forearm hangs from an upper arm. The spine and the neck are all joints between
//! the hips, the arms and the head.

mod inference;
mod names;

use self::inference::Inference;
use super::{JointIndex, Side, Skeleton};
use crate::spelling::did_you_mean;
use std::{collections::BTreeMap, fmt, str::FromStr};

/// The role of a joint in a humanoid body.
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
const FINGERS: [Finger; 5] = [
    Finger::Thumb,
    Finger::Index,
    Finger::Middle,
    Finger::Ring,
    Finger::Little,
];

impl Role {
    /// All roles.
    fn all() -> impl Iterator<Item = Self> {
        let numbers = 0..CHAIN_JOINTS as u8;
        let sided = SIDES.into_iter().flat_map(|side| {
            let fingers = FINGERS.into_iter().flat_map(move |finger| {
                (0..FINGER_JOINTS as u8).map(move |joint| Self::Finger(side, finger, joint))
            });
            let arm = [
                Self::Clavicle(side),
                Self::UpperArm(side),
                Self::Forearm(side),
                Self::Hand(side),
            ];
            let leg = [
                Self::Thigh(side),
                Self::Shin(side),
                Self::Foot(side),
                Self::Toes(side),
            ];
            arm.into_iter().chain(leg).chain(fingers)
        });
        let middle = [Self::Root, Self::Hips, Self::Head].into_iter();
        middle
            .chain(numbers.clone().map(Self::Spine))
            .chain(numbers.map(Self::Neck))
            .chain(sided)
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

/// An error in a table of roles for a skeleton.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RoleError {
    /// There is no such role.
    #[error("no role is called `{role}`; {hint}")]
    UnknownRole {
        /// The name given.
        role: String,
        /// The nearest name, or an example.
        hint: String,
    },
    /// There is no such joint.
    #[error("there is no joint `{joint}` for the role `{role}`; {hint}")]
    UnknownJoint {
        /// The role.
        role: String,
        /// The joint's name as given.
        joint: String,
        /// The nearest name, or a way to list all names.
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
        short
            .or_else(|| known().find(|(_, name)| name == text).map(|(role, _)| role))
            .ok_or_else(|| {
                let names: Vec<String> = known().map(|(_, name)| name).collect();
                let hint = did_you_mean(text, names.iter().map(String::as_str));
                let hint = hint.unwrap_or_else(|| {
                    "roles are called `hips`, `spine.1`, `upper_arm.L` and so on".to_owned()
                });
                RoleError::UnknownRole {
                    role: text.to_owned(),
                    hint,
                }
            })
    }
}

/// The roles of a skeleton's joints. No joint has two.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roles {
    joints: BTreeMap<Role, JointIndex>,
}

impl Roles {
    /// Infers roles from the joints' names and hierarchy. Knows the names of Mixamo, Rigify,
    /// Auto-Rig Pro, Unreal, 3ds Max's Biped, Source, Character Creator, Daz Genesis, Poser, BVH
    /// files, MikuMikuDance, KayKit, Quaternius, VRM and similar ones. A prefix that most names of
    /// a skeleton share, such as `Armature_`, doesn't matter.
    ///
    /// Where the model's file says which joint is what, as VRM files do, names have no say: see [`Skeleton::roles`].
    pub fn infer(skeleton: &Skeleton) -> Self {
        Self::new(skeleton, BTreeMap::new())
    }

    /// Returns the roles that the model's file gives, or `None` if it gives none.
    pub(crate) fn of_file(skeleton: &Skeleton) -> Option<Self> {
        let roles = skeleton.roles().iter();
        // Eyes and the jaw have roles in files, but none in bodies.
        let known = roles.filter_map(|(role, joint)| Some((role.parse().ok()?, *joint)));
        let joints: BTreeMap<Role, JointIndex> = known.collect();
        (!joints.is_empty()).then_some(Self { joints })
    }

    /// Infers roles as [`infer`](Self::infer) does, except for those of `table`, whose joints are given by name:
    /// `("hips", "pelvis")`. An empty name gives a role to no joint.
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
                let hint =
                    hint.unwrap_or_else(|| "`marionette inspect` lists the joints".to_owned());
                return Err(RoleError::UnknownJoint {
                    role: role.to_owned(),
                    joint: joint.to_owned(),
                    hint,
                });
            }
            given.insert(role.parse()?, found);
        }
        Ok(Self::new(skeleton, given))
    }

    fn new(skeleton: &Skeleton, given: BTreeMap<Role, Option<JointIndex>>) -> Self {
        let mut joints = match Self::of_file(skeleton) {
            Some(roles) => roles.joints,
            None => Inference::new(skeleton, &given).run(),
        };
        let pinned: Vec<JointIndex> = given.values().filter_map(|joint| *joint).collect();
        // A given joint loses any other role that its name suggests.
        joints.retain(|role, joint| !given.contains_key(role) && !pinned.contains(joint));
        joints.extend(
            given
                .into_iter()
                .filter_map(|(role, joint)| Some((role, joint?))),
        );
        Self { joints }
    }

    /// Returns the joint with a role.
    pub fn joint(&self, role: Role) -> Option<JointIndex> {
        self.joints.get(&role).copied()
    }

    /// Returns the role of a joint.
    pub fn role(&self, joint: JointIndex) -> Option<Role> {
        self.iter()
            .find(|&(_, other)| other == joint)
            .map(|(role, _)| role)
    }

    /// Returns all roles that joints have.
    pub fn iter(&self) -> impl Iterator<Item = (Role, JointIndex)> + '_ {
        self.joints.iter().map(|(&role, &joint)| (role, joint))
    }

    /// Returns the number of joints with a role.
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// Returns `true` if no joint has a role.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }
}

#[cfg(test)]
#[path = "tests/roles.rs"]
pub(super) mod tests;
