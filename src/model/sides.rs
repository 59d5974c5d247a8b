//! Left and right: which joints are each other's mirror image, and what names a side.

use super::{CallbackData, CallbackKey, JointIndex, Skeleton};
use glam::{DMat3, DQuat, DVec3};
use std::{borrow::Cow, collections::HashMap, ops::Range};

/// A side of the character, as it sees itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The character's left.
    Left,
    /// The character's right.
    Right,
}

/// Which joints are each other's mirror image, and the plane between them.
#[derive(Clone, Debug)]
pub(crate) struct Sides {
    /// Each joint's counterpart; itself if it has none. Always mutual.
    other: Vec<JointIndex>,
    plane: MirrorPlane,
}

impl Sides {
    pub(crate) fn new(skeleton: &Skeleton) -> Self {
        let mut by_name: HashMap<&str, JointIndex> = HashMap::new();
        for (joint, name) in skeleton.joints().zip(skeleton.names().iter()) {
            by_name.entry(name).or_insert(joint);
        }
        let other = |joint| skeleton.other_side_with(joint, |name| by_name.get(name).copied()).unwrap_or(joint);
        let found: Vec<JointIndex> = skeleton.joints().map(other).collect();
        let mutual = |(joint, &other): (usize, &JointIndex)| {
            if usize::from(found[usize::from(other)]) == joint { other } else { joint as JointIndex }
        };
        let other: Vec<JointIndex> = found.iter().enumerate().map(mutual).collect();
        let plane = MirrorPlane::between_sides(skeleton, &other);
        Self { other, plane }
    }

    /// The joint on the other side; the joint itself if it is in the middle.
    pub(crate) fn other(&self, joint: JointIndex) -> JointIndex {
        self.other[usize::from(joint)]
    }

    pub(crate) fn plane(&self) -> MirrorPlane {
        self.plane
    }
}

/// The directions of a mirror plane, which is perpendicular to one of the model's axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MirrorPlane {
    axis: usize,
}

impl MirrorPlane {
    /// The plane perpendicular to an axis: 0 to 2 for x to z.
    pub(crate) fn across(axis: usize) -> Self {
        Self { axis }
    }

    /// Picks the axis along which pairs of joints are farthest apart; x if there are no pairs.
    fn between_sides(skeleton: &Skeleton, other: &[JointIndex]) -> Self {
        let rest = skeleton.rest_model();
        let pairs = rest.iter().zip(other).map(|(joint, &other)| (joint, &rest[usize::from(other)]));
        let apart: DVec3 = pairs.map(|(a, b)| (a.translation - b.translation).abs().as_dvec3()).sum();
        Self::across(if apart.x >= apart.y && apart.x >= apart.z { 0 } else { 1 + usize::from(apart.z > apart.y) })
    }

    pub(crate) fn axis(self) -> usize {
        self.axis
    }

    /// Reflects a direction.
    pub(crate) fn reflect(self, mut v: DVec3) -> DVec3 {
        v[self.axis] = -v[self.axis];
        v
    }

    /// Reflects a rotation. Its axis is a pseudovector: the part along the normal stays, the rest flips.
    pub(crate) fn reflect_turn(self, turn: DQuat) -> DQuat {
        let axis = self.reflect(-DVec3::new(turn.x, turn.y, turn.z));
        DQuat::from_xyzw(axis.x, axis.y, axis.z, turn.w)
    }

    /// Reflects a rotation in one frame to a rotation in another.
    pub(crate) fn carry_turn(self, turn: DQuat, from: &RestFrame, to: &RestFrame) -> DQuat {
        let in_model = from.rotation * turn * from.rotation.conjugate();
        (to.rotation.conjugate() * self.reflect_turn(in_model) * to.rotation).normalize()
    }

    /// Reflects a direction in one frame to a direction in another.
    pub(crate) fn carry_shift(self, shift: DVec3, from: &RestFrame, to: &RestFrame) -> DVec3 {
        to.matrix.inverse() * self.reflect(from.matrix * shift)
    }

    /// For each axis of one frame, the axis of the other that it is the image of. Axes that are nobody's image, because
    /// the frames are turned against each other by odd angles, are taken one by one.
    pub(crate) fn axes(self, from: &RestFrame, to: &RestFrame) -> [usize; 3] {
        let mut out = [0, 1, 2];
        for (at, axis) in DVec3::AXES.into_iter().enumerate() {
            let image = from.rotation.conjugate() * self.reflect(to.rotation * axis);
            // Beyond this, the same is true the other way around.
            match image.abs().to_array().iter().position(|share| *share > 0.7072) {
                Some(found) => out[at] = found,
                None => return [0, 1, 2],
            }
        }
        out
    }
}

/// A joint's frame in the rest pose, in model space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RestFrame {
    pub(crate) matrix: DMat3,
    pub(crate) rotation: DQuat,
}

impl RestFrame {
    pub(crate) const IDENTITY: Self = Self { matrix: DMat3::IDENTITY, rotation: DQuat::IDENTITY };

    /// The frames of all joints.
    pub(crate) fn all(skeleton: &Skeleton) -> Vec<Self> {
        let mut out: Vec<Self> = Vec::with_capacity(skeleton.len());
        for joint in skeleton.joints() {
            let rest = skeleton.rest_of(joint);
            let own = rest.rotation.as_dquat();
            let own = if own.length_squared() > 1e-12 { own.normalize() } else { DQuat::IDENTITY };
            let parent = skeleton.parents()[usize::from(joint)].map_or(Self::IDENTITY, |p| out[usize::from(p)]);
            out.push(Self {
                matrix: parent.matrix * DMat3::from_quat(own) * DMat3::from_diagonal(rest.scale.as_dvec3()),
                rotation: (parent.rotation * own).normalize(),
            });
        }
        out
    }
}

/// Returns candidate names for the other side, most reliable first.
pub(super) fn mirrored_names(name: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (left, right) in [("Left", "Right"), ("left", "right"), ("LEFT", "RIGHT")] {
        match (name.contains(left), name.contains(right)) {
            (true, false) => names.push(name.replace(left, right)),
            (false, true) => names.push(name.replace(right, left)),
            _ => {}
        }
    }
    let letters: Vec<char> = name.chars().collect();
    let with = |at: usize, other: char| -> String {
        letters.iter().enumerate().map(|(i, &letter)| if i == at { other } else { letter }).collect()
    };
    let separates = |letter: Option<&char>| letter.is_none_or(|letter| matches!(letter, '.' | '_' | '-' | ' ' | ':'));
    let sides = || letters.iter().enumerate().filter_map(|(at, &letter)| Some((at, other_letter(letter)?)));
    // A side is most often at the end of the name.
    for (at, other) in sides().rev() {
        if separates(at.checked_sub(1).and_then(|before| letters.get(before))) && separates(letters.get(at + 1)) {
            names.push(with(at, other));
        }
    }
    if let Some((at, other)) = sides().next_back()
        && at > 0
        && at + 1 == letters.len()
        && other.is_uppercase()
        && letters[at - 1].is_lowercase()
    {
        names.push(with(at, other));
    }
    if let Some((0, other)) = sides().next() {
        names.push(with(0, other));
    }
    names
}

fn other_letter(letter: char) -> Option<char> {
    match letter {
        'l' => Some('r'),
        'r' => Some('l'),
        'L' => Some('R'),
        'R' => Some('L'),
        _ => None,
    }
}

/// The words of a name: runs of letters, cut where a capital starts a new word, and runs of digits.
pub(crate) fn words(text: &str) -> Vec<Range<usize>> {
    let letters: Vec<(usize, char)> = text.char_indices().collect();
    let kind = |letter: char| (letter.is_alphabetic(), letter.is_ascii_digit());
    let mut out: Vec<Range<usize>> = Vec::new();
    for (at, &(start, letter)) in letters.iter().enumerate() {
        if kind(letter) == (false, false) {
            continue;
        }
        let before = at.checked_sub(1).map(|before| letters[before].1);
        // `upperArm`, and the `A` of `IKArm`.
        let is_next_lower = letters.get(at + 1).is_some_and(|(_, next)| next.is_lowercase());
        let starts = before.is_none_or(|before| {
            kind(before) != kind(letter) || letter.is_uppercase() && (before.is_lowercase() || is_next_lower)
        });
        let end = start + letter.len_utf8();
        match out.last_mut().filter(|_| !starts) {
            Some(last) => last.end = end,
            None => out.push(start..end),
        }
    }
    out
}

/// Swaps the sides that a text names as whole words: `left` and `right`, and `l` and `r` where they stand alone.
fn swapped_words(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    let letter_at = |at: usize| text[at..].chars().next().is_some_and(char::is_alphanumeric);
    for word in words(text) {
        let swapped = match &text[word.clone()] {
            "left" => "right",
            "right" => "left",
            "Left" => "Right",
            "Right" => "Left",
            "LEFT" => "RIGHT",
            "RIGHT" => "LEFT",
            one if one.len() == 1 => {
                let before = text[..word.start].chars().next_back().is_some_and(char::is_alphanumeric);
                match one {
                    _ if before || letter_at(word.end) => continue,
                    "l" => "r",
                    "r" => "l",
                    "L" => "R",
                    "R" => "L",
                    _ => continue,
                }
            }
            _ => continue,
        };
        out += &text[done..word.start];
        out += swapped;
        done = word.end;
    }
    if done == 0 { Cow::Borrowed(text) } else { Cow::Owned(out + &text[done..]) }
}

/// Swaps the sides in a callback's name and data: joints by their names, and words such as `left` elsewhere.
pub(super) fn mirrored_callback(skeleton: &Skeleton, key: &CallbackKey) -> CallbackKey {
    let name = mirrored_text(skeleton, &key.name);
    CallbackKey {
        time: key.time,
        until: key.until,
        name: name.into(),
        data: CallbackData::from(mirrored_value(skeleton, &key.data)),
    }
}

fn mirrored_text<'a>(skeleton: &Skeleton, text: &'a str) -> Cow<'a, str> {
    match skeleton.joint(text).and_then(|joint| skeleton.other_side(joint)) {
        Some(other) => Cow::Owned(skeleton.name(other).to_string()),
        None => swapped_words(text),
    }
}

fn mirrored_value(skeleton: &Skeleton, value: &ron::Value) -> ron::Value {
    use ron::Value;
    let mirrored = |value: &Value| mirrored_value(skeleton, value);
    match value {
        Value::String(text) => Value::String(mirrored_text(skeleton, text).into_owned()),
        Value::Char(letter) => Value::Char(other_letter(*letter).unwrap_or(*letter)),
        Value::Seq(values) => Value::Seq(values.iter().map(mirrored).collect()),
        Value::Option(Some(value)) => Value::Option(Some(Box::new(mirrored(value)))),
        Value::Map(map) => Value::Map(map.iter().map(|(key, value)| (mirrored(key), mirrored(value))).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_naming_schemes_for_sides_are_recognized() {
        for (name, other) in [
            ("hand.L", "hand.R"),
            ("hand_l", "hand_r"),
            ("L_Hand", "R_Hand"),
            ("mixamorig:LeftArm", "mixamorig:RightArm"),
            ("rightfoot", "leftfoot"),
            ("Bip01 L Thigh", "Bip01 R Thigh"),
            ("upper_arm.R.001", "upper_arm.L.001"),
            ("handL", "handR"),
            ("luparm", "ruparm"),
        ] {
            assert_eq!(mirrored_names(name).first().map(String::as_str), Some(other), "{name}");
        }
        assert!(mirrored_names("spine").is_empty());
        assert!(mirrored_names("head").is_empty());
    }

    #[test]
    fn texts_are_cut_into_words() {
        let cut = |text: &'static str| words(text).into_iter().map(|word| &text[word]).collect::<Vec<_>>();
        assert_eq!(cut("LeftForeArm"), ["Left", "Fore", "Arm"]);
        assert_eq!(cut("upperarm_twist_01.l"), ["upperarm", "twist", "01", "l"]);
        assert_eq!(cut("IKArm2L"), ["IK", "Arm", "2", "L"]);
        assert_eq!(cut("Größe:Übung"), ["Größe", "Übung"]);
        assert!(cut("").is_empty() && cut(" .. ").is_empty());
    }

    #[test]
    fn only_whole_words_name_a_side() {
        for (text, swapped) in [
            ("left", "right"),
            ("footstep_LEFT", "footstep_RIGHT"),
            ("stepRight", "stepLeft"),
            ("L", "R"),
            ("foot.r", "foot.l"),
            ("left or right", "right or left"),
        ] {
            assert_eq!(swapped_words(text), swapped);
            assert_eq!(swapped_words(swapped), text);
        }
        for text in ["bright", "leftover", "upright", "loud", "R2D2", "", "later"] {
            assert_eq!(swapped_words(text), text);
        }
    }
}
