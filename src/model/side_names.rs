//! Left and right in names.

use std::{borrow::Cow, ops::Range};

/// A side of the character, as it sees itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The character's left.
    Left,
    /// The character's right.
    Right,
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
    for [left, right] in SIDE_SIGNS {
        match (name.contains(left), name.contains(right)) {
            (true, false) => names.push(name.replace(left, &right.to_string())),
            (false, true) => names.push(name.replace(right, &left.to_string())),
            _ => {}
        }
    }
    // A side is most often at the end of the name.
    for word in words(name).into_iter().rev() {
        let others = other_words(&name[word.clone()]);
        names
            .extend(others.map(|other| [&name[..word.start], &*other, &name[word.end..]].concat()));
    }
    // `larm`, also behind a prefix.
    for Range { start, .. } in words(name) {
        if let Some(other) = name[start..].chars().next().and_then(other_letter) {
            names.push(format!("{}{other}{}", &name[..start], &name[start + 1..]));
        }
    }
    names
}

/// Words for sides, besides `left` and `right`.
const SIDE_WORDS: [[&str; 2]; 5] = [
    ["l", "r"],
    ["lf", "rt"],
    ["lt", "rt"],
    ["lft", "rgt"],
    ["lh", "rh"],
];

/// The sides as Japanese names begin, or end.
const SIDE_SIGNS: [[char; 2]; 1] = [['左', '右']];

/// The words for the other side, in capitals or not as the given one.
fn other_words(word: &str) -> impl Iterator<Item = String> {
    let lower = word.to_lowercase();
    let others = SIDE_WORDS
        .iter()
        .filter_map(move |[left, right]| match &*lower {
            word if word == *left => Some(*right),
            word if word == *right => Some(*left),
            _ => None,
        });
    let mut letters = word.chars().map(char::is_uppercase);
    let (first, all) = (
        letters.next() == Some(true),
        letters.all(|is_upper| is_upper),
    );
    others.map(move |other| match other.split_at(1) {
        _ if first && all => other.to_uppercase(),
        (start, rest) if first => start.to_uppercase() + rest,
        _ => other.to_owned(),
    })
}

/// The side that a word in lower case means.
pub(super) fn side_of(word: &str) -> Option<Side> {
    match word {
        "left" => Some(Side::Left),
        "right" => Some(Side::Right),
        word => {
            let is = |at: usize| SIDE_WORDS.iter().any(|pair| pair[at] == word);
            if is(0) {
                Some(Side::Left)
            } else {
                is(1).then_some(Side::Right)
            }
        }
    }
}

/// Removes the sign of a side from a name's start or end: `左腕` is the left `腕`.
pub(super) fn without_side(name: String) -> (String, Option<Side>) {
    let found = SIDE_SIGNS
        .iter()
        .flatten()
        .zip([Side::Left, Side::Right].iter().cycle())
        .find_map(|(sign, side)| {
            let rest = name
                .strip_prefix(*sign)
                .or_else(|| name.strip_suffix(*sign))?;
            Some((rest.to_owned(), Some(*side)))
        });
    found.unwrap_or((name, None))
}

pub(super) fn other_letter(letter: char) -> Option<char> {
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
        let is_next_lower = letters
            .get(at + 1)
            .is_some_and(|(_, next)| next.is_lowercase());
        let starts = before.is_none_or(|before| {
            kind(before) != kind(letter)
                || letter.is_uppercase() && (before.is_lowercase() || is_next_lower)
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
pub(super) fn swapped_words(text: &str) -> Cow<'_, str> {
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
                let before = text[..word.start]
                    .chars()
                    .next_back()
                    .is_some_and(char::is_alphanumeric);
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
    if done == 0 {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(out + &text[done..])
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
            ("CC_Base_L_Thigh", "CC_Base_R_Thigh"),
            ("ValveBiped.Bip01_L_UpperArm", "ValveBiped.Bip01_R_UpperArm"),
            ("bip_upperArm_L", "bip_upperArm_R"),
            ("thigh_stretch.l", "thigh_stretch.r"),
            ("lThighBend", "rThighBend"),
            ("Genesis8Female:lShldrBend", "Genesis8Female:rShldrBend"),
            ("Armature_LThigh", "Armature_RThigh"),
            ("handL_01", "handR_01"),
            ("hero:lclavicle", "hero:rclavicle"),
            ("Anim_Attachment_LH", "Anim_Attachment_RH"),
            ("lf_arm", "rt_arm"),
            ("左足首", "右足首"),
            ("右ひざ", "左ひざ"),
            ("足ＩＫ.L", "足ＩＫ.R"),
        ] {
            assert_eq!(
                mirrored_names(name).first().map(String::as_str),
                Some(other),
                "{name}"
            );
        }
        assert!(mirrored_names("spine").is_empty());
        assert!(mirrored_names("head").is_empty());
    }

    #[test]
    fn texts_are_cut_into_words() {
        let cut = |text: &'static str| {
            words(text)
                .into_iter()
                .map(|word| &text[word])
                .collect::<Vec<_>>()
        };
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
