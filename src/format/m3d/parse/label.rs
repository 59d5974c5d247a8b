//! Labels, compared loosely: exporters spell them in many ways.

use crate::spelling;

/// The letters and digits of a label in lower case: `#Tex-Coords:` is `texcoords`.
fn letters(label: &[u8]) -> impl Iterator<Item = u8> {
    label
        .iter()
        .filter(|b| b.is_ascii_alphanumeric())
        .map(u8::to_ascii_lowercase)
}

/// Returns `true` if two labels have the same letters and digits, ignoring case.
pub(super) fn same(label: &[u8], name: &str) -> bool {
    letters(label).eq(letters(name.as_bytes()))
}

/// Returns the value of `label` in a table of names.
pub(super) fn find<T: Copy>(table: &[(&'static str, T)], label: &[u8]) -> Option<T> {
    table
        .iter()
        .find(|(name, _)| same(label, name))
        .map(|&(_, value)| value)
}

/// Returns what follows `prefix` in `label`, ignoring case: `<7>:` of `BoneOffset<7>:`.
pub(super) fn after<'a>(label: &'a [u8], prefix: &str) -> Option<&'a [u8]> {
    let (start, rest) = label.split_at_checked(prefix.len())?;
    start
        .eq_ignore_ascii_case(prefix.as_bytes())
        .then_some(rest)
}

/// Returns the number in what follows a prefix: 7 for `<7>:`. `None` for a name.
pub(super) fn index(rest: &[u8]) -> Option<u32> {
    let digits = rest.trim_ascii().strip_suffix(b":").unwrap_or(rest);
    let digits = digits
        .strip_prefix(b"<")
        .and_then(|d| d.strip_suffix(b">"))
        .unwrap_or(digits);
    let digits = std::str::from_utf8(digits).ok()?;
    // A sign would parse, too.
    if digits.starts_with(|c: char| c.is_ascii_digit()) {
        digits.parse().ok()
    } else {
        None
    }
}

/// Returns the name that `label` probably means.
///
/// The first letter of a misspelled label is right, and a label that continues where a name ends
/// (`Tex-Coords2`, `TangentV`) is another label.
pub(super) fn nearest(
    label: &[u8],
    names: impl IntoIterator<Item = &'static str>,
) -> Option<&'static str> {
    let word = String::from_utf8_lossy(label);
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let alike = |name: &&str| {
        let mut label = letters(label);
        let mut name = letters(name.as_bytes());
        let first = name.next();
        first == label.next() && name.any(|letter| label.next() != Some(letter))
    };
    spelling::nearest(word, names.into_iter().filter(alike))
}

#[cfg(test)]
#[path = "tests/label.rs"]
mod tests;
