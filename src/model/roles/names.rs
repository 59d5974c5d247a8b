//! Reading a joint's role from its name.

use super::{FINGERS, Finger};
use crate::model::{
    Side, Skeleton,
    side_names::{side_of, without_side, words},
};
use std::collections::HashMap;

/// The part of the body that a name alone suggests. Some words mean one thing in one scheme, and
/// another in the next.
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

/// Words that say nothing about the part of the body.
const NOISE: [&str; 22] = [
    "def",
    "j",
    "c",
    "cc",
    "bip",
    "bone",
    "bn",
    "jnt",
    "joint",
    "sk",
    "skel",
    "rig",
    "armature",
    "mixamorig",
    "valve",
    "biped",
    "valvebiped",
    "character",
    // Auto-Rig Pro's bones that stretch, and those of Daz that bend but don't twist.
    "stretch",
    "bend",
    "rl",
    "metarig",
];
/// Words of joints that control or extend others.
const OTHERS: [&str; 28] = [
    "ik",
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
    "ref",
    "share",
    "corrective",
];

/// The meaning of a name: the part, its side, and a rank, which is lower for a surer reading.
pub(super) type Reading = (Part, Option<Side>, u32);

/// Reads the names of a skeleton, joint by joint.
pub(super) fn read_all(skeleton: &Skeleton) -> Vec<Option<Reading>> {
    let prefix = Prefix::of(skeleton);
    skeleton
        .names()
        .iter()
        .map(|name| read(prefix.cut(name)))
        .collect()
}

/// Words that most names of a skeleton begin with, such as `CC_Base_` or `Armature_`.
struct Prefix(Vec<String>);

impl Prefix {
    /// The share of the names that begin with it, in percent, and the least number of them.
    const MOST: usize = 60;
    const LEAST: usize = 5;
    /// The most words of it.
    const LONGEST: usize = 4;

    fn of(skeleton: &Skeleton) -> Self {
        let names: Vec<Vec<String>> = skeleton
            .names()
            .iter()
            .map(|name| {
                let name = without_namespace(name);
                words(name)
                    .into_iter()
                    .take(Self::LONGEST + 1)
                    .map(|word| name[word].to_lowercase())
                    .collect()
            })
            .collect();
        let mut prefix: Vec<String> = Vec::new();
        loop {
            let mut counts: HashMap<&str, usize> = HashMap::new();
            let begin = names.iter().filter(|name| name.starts_with(&prefix));
            for word in begin.filter_map(|name| name.get(prefix.len())) {
                *counts.entry(word).or_default() += 1;
            }
            let most = counts
                .into_iter()
                .max_by_key(|&(word, count)| (count, std::cmp::Reverse(word)));
            let is_said =
                |word: &str| side_of(word).is_some() || part_of(word, true, Some("0")).is_some();
            match most {
                Some((word, count))
                    if prefix.len() < Self::LONGEST
                        && count >= Self::LEAST
                        && count * 100 >= names.len() * Self::MOST
                        && !is_said(word) =>
                {
                    prefix.push(word.to_owned());
                }
                _ => return Self(prefix),
            }
        }
    }

    /// The name behind the prefix.
    fn cut<'n>(&self, name: &'n str) -> &'n str {
        let name = without_namespace(name);
        let words = words(name);
        let begins = self
            .0
            .iter()
            .zip(&words)
            .all(|(word, own)| *word == name[own.clone()].to_lowercase());
        match words.get(self.0.len()) {
            Some(first) if begins => &name[first.start..],
            _ => name,
        }
    }
}

/// Returns the name without the prefixes of FBX and Maya: `mixamorig:`, `Armature|`.
fn without_namespace(name: &str) -> &str {
    name.rsplit([':', '|']).next().unwrap_or(name)
}

fn read(name: &str) -> Option<Reading> {
    let (mut key, mut number, mut side, mut rank) = (String::new(), None, None, 0);
    let words = words(name);
    for (at, word) in words.iter().enumerate() {
        let word = name[word.clone()].to_lowercase();
        let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        let is_last = words[at + 1..]
            .iter()
            .all(|later| is_number(&name[later.clone()]));
        match word.as_str() {
            word if side_of(word).is_some() => side = side_of(word),
            // The deforming joint is the better one.
            "fk" => rank += 4,
            // So is the one that isn't a controller of Auto-Rig Pro.
            "c" if at == 0 => rank += 2,
            "b" if at == 0 => {}
            // Auto-Rig Pro's middle.
            "x" if is_last => {}
            "base" if at == 1 && key.is_empty() => {}
            word if NOISE.contains(&word) => {}
            // What Character Creator calls twists of the neck are its joints.
            "twist" if key == "neck" => {}
            word if OTHERS.contains(&word) => return None,
            word if is_number(word) => {
                // The first one behind the part counts.
                if !key.is_empty() && number.is_none() {
                    number = Some(word.to_owned());
                }
            }
            word => key += word,
        }
    }
    if side.is_none() {
        (key, side) = without_side(key);
    }
    let mut found = part_of(&key, side.is_some(), number.as_deref());
    if found.is_none() && side.is_none() {
        // Whole words first: `left` begins with `l`, too.
        let ends = [
            ("left", Side::Left),
            ("right", Side::Right),
            ("l", Side::Left),
            ("r", Side::Right),
        ];
        (found, side) = ends.into_iter().find_map(|(end, side)| {
            let rest = key
                .strip_prefix(end)
                .or_else(|| key.strip_suffix(end).filter(|_| end.len() > 1))?;
            Some((Some(part_of(rest, true, number.as_deref())?), Some(side)))
        })?;
    }
    let (part, doubt) = found?;
    // `upper_arm.L.001` is a piece of `upper_arm.L`.
    rank += 2 * doubt + u32::from(number.is_some());
    Some((part, side, rank))
}

/// Returns the part that a word means, and a penalty if it is only the next best word for it: a
/// wrist stands in for a hand.
fn part_of(key: &str, has_side: bool, number: Option<&str>) -> Option<(Part, u32)> {
    const FINGER_NAMES: [(&str, Finger); 14] = [
        ("thumb", Finger::Thumb),
        ("index", Finger::Index),
        ("middle", Finger::Middle),
        ("mid", Finger::Middle),
        ("ring", Finger::Ring),
        ("pinky", Finger::Little),
        ("little", Finger::Little),
        ("pinkie", Finger::Little),
        ("親指", Finger::Thumb),
        ("人指", Finger::Index),
        ("人差指", Finger::Index),
        ("中指", Finger::Middle),
        ("薬指", Finger::Ring),
        ("小指", Finger::Little),
    ];
    Some(match key {
        "hip" | "hips" | "pelvis" if !has_side || key == "hips" => (Part::Hips, 0),
        "lowerbody" | "下半身" => (Part::Hips, 0),
        "腰" => (Part::Hips, 1),
        "グルーブ" | "groove" => (Part::Hips, 2),
        "センター" | "center" | "centre" | "cog" => (Part::Hips, 3),
        "thigh" | "upleg" | "upperleg" | "legupper" | "upperthigh" => (Part::Thigh, 0),
        "legthigh" | "femur" => (Part::Thigh, 1),
        "hip" => (Part::Thigh, 2),
        "leg" | "足" => (Part::Leg, 0),
        "shin" | "calf" | "lowerleg" | "lowleg" | "loleg" | "leglower" => (Part::Shin, 0),
        "knee" | "tibia" | "legknee" | "ひざ" | "膝" => (Part::Shin, 1),
        "foot" => (Part::Foot, 0),
        "ankle" | "legankle" | "足首" => (Part::Foot, 1),
        "toe" | "toes" | "toebase" | "つま先" => (Part::Toes, 0),
        "ball" | "legtoes" => (Part::Toes, 1),
        "clavicle" | "collar" | "collarbone" | "肩" => (Part::Clavicle, 0),
        "shoulder" => (Part::Shoulder, 0),
        "upperarm" | "uparm" | "armupper" => (Part::UpperArm, 0),
        "arm" | "腕" => (Part::UpperArm, 0),
        "shldr" | "humerus" => (Part::UpperArm, 1),
        "bicep" => (Part::UpperArm, 2),
        "forearm" | "lowerarm" | "lowarm" | "loarm" | "armlower" => (Part::Forearm, 0),
        "elbow" | "radius" | "armelbow" | "ひじ" | "肘" => (Part::Forearm, 1),
        "hand" => (Part::Hand, 0),
        "palm" | "fist" | "wrist" | "armwrist" | "手首" => (Part::Hand, 1),
        "spine" | "chest" | "upperchest" | "torso" | "abdomen" | "waist" | "stomach" | "belly"
        | "thorax" | "upperbody" | "上半身" => (Part::Spine, 0),
        "neck" | "首" => (Part::Neck, 0),
        "head" | "頭" => (Part::Head, 0),
        // As 3ds Max's Biped counts: `Finger0` and `Finger01` are the thumb.
        "finger" => {
            let first = number?.chars().next()?.to_digit(10)?;
            (Part::Finger(*FINGERS.get(first as usize)?), 0)
        }
        _ => {
            let rest = ["hand", "finger", "f"]
                .iter()
                .find_map(|start| key.strip_prefix(start))
                .unwrap_or(key);
            let named = |name: &str| FINGER_NAMES.into_iter().find(|(known, _)| *known == name);
            let (_, finger) = named(rest)
                .or_else(|| named(key))
                .or_else(|| named(rest.strip_suffix("finger")?))?;
            (Part::Finger(finger), 0)
        }
    })
}
