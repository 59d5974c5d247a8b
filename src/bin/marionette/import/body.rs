//! Body parts by the names of joints: proposals for masks and sockets.

use super::words::snake;
use bevy_marionette::{
    import::{MaskEntry, SocketEntry},
    model::{JointIndex, Skeleton},
};
use glam::Vec3;
use std::collections::BTreeMap;

/// Proposes masks by name: `upper_body`, `legs`, `head`, `left_arm`, `right_arm` and `tail`, those
/// of them that the skeleton has.
pub fn masks(skeleton: &Skeleton) -> BTreeMap<String, MaskEntry> {
    let body = Body::new(skeleton);
    let mut masks = BTreeMap::new();
    let mut add = |name: &str, roots: Vec<JointIndex>, falloff: u32| {
        let roots: Vec<String> = roots
            .into_iter()
            .map(|joint| skeleton.name(joint).to_string())
            .collect();
        // Masks find joints by name.
        if !roots.is_empty() && roots.iter().all(|root| !root.is_empty()) {
            masks.insert(
                name.to_owned(),
                MaskEntry {
                    roots,
                    falloff,
                    ..MaskEntry::default()
                },
            );
        }
    };
    let legs = body.topmost(|j| j.part == Some(Part::Leg));
    if let Some((root, falloff)) = body.upper_body(&legs) {
        add("upper_body", vec![root], falloff);
    }
    if legs.len() > 1 {
        add("legs", legs, 0);
    }
    let neck = body.topmost(|j| j.part == Some(Part::Neck));
    let head = if neck.is_empty() {
        body.topmost(|j| j.part == Some(Part::Head))
    } else {
        neck
    };
    if head.len() == 1 {
        add("head", head, 1);
    }
    for (name, side) in [("left_arm", Side::Left), ("right_arm", Side::Right)] {
        let arm = body
            .topmost(|j| matches!(j.part, Some(Part::Arm | Part::Hand)) && j.side == Some(side));
        if arm.len() == 1 {
            add(name, arm, 1);
        }
    }
    let tail = body.topmost(|j| j.part == Some(Part::Tail));
    if tail.len() == 1 {
        add("tail", tail, 1);
    }
    masks
}

/// Proposes sockets: `right_hand` and `left_hand`.
pub fn sockets(skeleton: &Skeleton) -> BTreeMap<String, SocketEntry> {
    let body = Body::new(skeleton);
    let hand = |side: Side| {
        let grip = body.topmost(|j| j.part == Some(Part::Grip) && j.side == Some(side));
        let hand = body.topmost(|j| j.part == Some(Part::Hand) && j.side == Some(side));
        [grip, hand]
            .into_iter()
            .find(|joints| joints.len() == 1)
            .map(|joints| joints[0])
    };
    let sockets = [("left_hand", Side::Left), ("right_hand", Side::Right)].map(|(name, side)| {
        let joint = skeleton.name(hand(side)?).to_string();
        let (translation, euler_degrees) = (Vec3::ZERO, Vec3::ZERO);
        Some((
            name.to_owned(),
            SocketEntry {
                joint,
                translation,
                euler_degrees,
                scale: 1.0,
            },
        ))
    });
    sockets.into_iter().flatten().collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Neck,
    Head,
    Arm,
    Hand,
    Grip,
    Leg,
    Tail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Role {
    part: Option<Part>,
    side: Option<Side>,
}

/// Words of rigs that say nothing about a joint.
const NOISE: [&str; 14] = [
    "mixamorig",
    "armature",
    "bip",
    "bip01",
    "bip001",
    "def",
    "org",
    "rig",
    "bone",
    "joint",
    "jnt",
    "valve",
    "b",
    "skel",
];

impl Role {
    /// `mixamorig:LeftForeArm`, `Bip01 L Thigh`, `upper_arm.R` and `lupleg` are all understood.
    fn of_name(name: &str) -> Self {
        let name = snake(name);
        let words: Vec<&str> = name
            .split('_')
            .filter(|word| !NOISE.contains(word))
            .collect();
        let mut side = words.iter().find_map(|word| match *word {
            "l" | "left" => Some(Side::Left),
            "r" | "right" => Some(Side::Right),
            _ => None,
        });
        let joined: String = words
            .iter()
            .copied()
            .filter(|word| !["l", "r", "left", "right"].contains(word))
            .collect();
        let mut part = Self::part(&joined);
        // Doom's rigs put the side before the part: `lupleg`.
        if side.is_none() {
            let sided = [
                ("left", Side::Left),
                ("right", Side::Right),
                ("l", Side::Left),
                ("r", Side::Right),
            ];
            let found = sided.into_iter().find_map(|(prefix, side)| {
                let rest = joined.strip_prefix(prefix)?;
                Some((Self::part_at_start(rest)?, side))
            });
            if let Some((found, found_side)) = found {
                (part, side) = (Some(found), Some(found_side));
            }
        }
        Self { part, side }
    }

    fn part(name: &str) -> Option<Part> {
        // Things that are worn or carried are named after where they are.
        const NOT_BODY: [&str; 9] = [
            "ik", "pole", "target", "headtop", "hair", "cape", "cloth", "belt", "control",
        ];
        // `spike` contains `ik`.
        if NOT_BODY.iter().any(|word| name.contains(word)) && !name.contains("spike") {
            return None;
        }
        WORDS
            .iter()
            .find(|(word, _)| name.contains(word))
            .map(|(_, part)| *part)
    }

    fn part_at_start(name: &str) -> Option<Part> {
        WORDS
            .iter()
            .find(|(word, _)| name.starts_with(word))
            .map(|(_, part)| *part)
    }
}

/// Words in joints' names, the most specific ones first.
const WORDS: [(&str, Part); 29] = [
    ("grip", Part::Grip),
    ("weapon", Part::Grip),
    ("handslot", Part::Grip),
    ("finger", Part::Hand),
    ("thumb", Part::Hand),
    ("hand", Part::Hand),
    ("wrist", Part::Hand),
    ("palm", Part::Hand),
    ("clavicle", Part::Arm),
    ("shoulder", Part::Arm),
    ("collar", Part::Arm),
    ("forearm", Part::Arm),
    ("uparm", Part::Arm),
    ("loarm", Part::Arm),
    ("arm", Part::Arm),
    ("elbow", Part::Arm),
    ("thigh", Part::Leg),
    ("upleg", Part::Leg),
    ("loleg", Part::Leg),
    ("leg", Part::Leg),
    ("shin", Part::Leg),
    ("calf", Part::Leg),
    ("knee", Part::Leg),
    ("foot", Part::Leg),
    ("ankle", Part::Leg),
    ("toe", Part::Leg),
    ("neck", Part::Neck),
    ("head", Part::Head),
    ("tail", Part::Tail),
];

struct Body<'a> {
    skeleton: &'a Skeleton,
    roles: Vec<Role>,
}

impl<'a> Body<'a> {
    fn new(skeleton: &'a Skeleton) -> Self {
        Self {
            skeleton,
            roles: skeleton
                .names()
                .iter()
                .map(|name| Role::of_name(name))
                .collect(),
        }
    }

    fn parent(&self, joint: JointIndex) -> Option<JointIndex> {
        self.skeleton.parents()[usize::from(joint)]
    }

    /// A joint, its parent, and so on to the root.
    fn upward(&self, joint: JointIndex) -> impl Iterator<Item = JointIndex> {
        std::iter::successors(Some(joint), |&joint| self.parent(joint))
    }

    /// The joints of a kind that have no ancestor of that kind.
    fn topmost(&self, is: impl Fn(&Role) -> bool) -> Vec<JointIndex> {
        // Parents come first.
        let mut below = vec![false; self.skeleton.len()];
        let mut out = Vec::new();
        for joint in self.skeleton.joints() {
            let inside = self
                .parent(joint)
                .is_some_and(|parent| below[usize::from(parent)]);
            let own = is(&self.roles[usize::from(joint)]);
            below[usize::from(joint)] = inside || own;
            if own && !inside {
                out.push(joint);
            }
        }
        out
    }

    /// The joint that carries both arms, and how many joints below it carry no leg: the mask fades out over them.
    fn upper_body(&self, legs: &[JointIndex]) -> Option<(JointIndex, u32)> {
        let arm = |side| {
            let arms = self.topmost(|j| {
                matches!(j.part, Some(Part::Arm | Part::Hand)) && j.side == Some(side)
            });
            arms.first().copied()
        };
        let (left, right) = (arm(Side::Left)?, arm(Side::Right)?);
        let above: Vec<JointIndex> = self.upward(left).skip(1).collect();
        let chest = self
            .upward(right)
            .skip(1)
            .find(|joint| above.contains(joint))?;
        let carries_a_leg =
            |joint: JointIndex| legs.iter().any(|&leg| self.upward(leg).any(|j| j == joint));
        if legs.is_empty() || carries_a_leg(chest) {
            return None;
        }
        let spine = self
            .upward(chest)
            .skip(1)
            .take_while(|&joint| !carries_a_leg(joint))
            .count();
        Some((chest, spine.min(3) as u32))
    }
}

#[cfg(test)]
#[path = "tests/body.rs"]
mod tests;
