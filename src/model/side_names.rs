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
#[path = "tests/side_names.rs"]
mod tests;
