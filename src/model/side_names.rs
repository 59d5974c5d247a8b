//! Left and right in names.

use std::{borrow::Cow, ops::Range};

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
