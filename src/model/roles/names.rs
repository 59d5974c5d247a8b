//! What the name of a joint tells of its role.

use super::{FINGERS, Finger};
use crate::model::{Side, side_names::words};

/// What a name alone tells. Some words mean one thing in one scheme, and another in the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
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
pub(super) fn read(name: &str) -> Option<(Part, Option<Side>, u32)> {
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
