//! Labels: compared the way exporters write them, which is freely.

/// The letters and digits of a label in lower case: `#Tex-Coords:` and `texcoords` are one.
fn letters(label: &[u8]) -> impl Iterator<Item = u8> {
    label.iter().filter(|b| b.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase)
}

/// Whether two labels are the same but for case, `#`, `:`, `-`, `_` and the like.
pub(super) fn same(label: &[u8], name: &str) -> bool {
    letters(label).eq(letters(name.as_bytes()))
}

/// What `label` stands for in a table of names.
pub(super) fn find<T: Copy>(table: &[(&'static str, T)], label: &[u8]) -> Option<T> {
    table.iter().find(|(name, _)| same(label, name)).map(|&(_, value)| value)
}

/// What follows `prefix` in `label`, case aside: `<7>:` of `BoneOffset<7>:`.
pub(super) fn after<'a>(label: &'a [u8], prefix: &str) -> Option<&'a [u8]> {
    let (start, rest) = label.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix.as_bytes()).then_some(rest)
}

/// The number in what follows a prefix: 7 for `<7>:`. `None` where a name stands.
pub(super) fn index(rest: &[u8]) -> Option<u32> {
    let digits = rest.trim_ascii().strip_suffix(b":").unwrap_or(rest);
    let digits = digits.strip_prefix(b"<").and_then(|d| d.strip_suffix(b">")).unwrap_or(digits);
    let digits = std::str::from_utf8(digits).ok()?;
    // A sign would parse, too.
    if digits.starts_with(|c: char| c.is_ascii_digit()) { digits.parse().ok() } else { None }
}

/// The name that `label` was probably meant to be.
///
/// Hands slip within a word: the first letter must be right, and a label that only goes on where a
/// name ends (`Tex-Coords2`, `TangentV`) is another label.
pub(super) fn nearest(label: &[u8], names: impl IntoIterator<Item = &'static str>) -> Option<&'static str> {
    let (label, length) = short(label)?;
    let label = &label[..length];
    let allowed = if length <= 4 { 1 } else { 2 };
    let mut best = None;
    for name in names {
        let Some((letters, length)) = short(name.as_bytes()) else { continue };
        let letters = &letters[..length];
        let alike = letters.first() == label.first() && !label.starts_with(letters);
        if !alike || letters.len().abs_diff(label.len()) > allowed {
            continue;
        }
        let distance = distance(label, letters);
        // Short names lie near to each other: at least half of one must be right.
        let close = distance <= allowed && 2 * distance <= letters.len().min(label.len());
        if close && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

/// The most letters of a label that can be misspelt.
const LONGEST: usize = 24;

/// The letters of a label and how many they are, if it is not too long.
fn short(label: &[u8]) -> Option<([u8; LONGEST], usize)> {
    let (mut out, mut length) = ([0; LONGEST], 0);
    for letter in letters(label) {
        *out.get_mut(length)? = letter;
        length += 1;
    }
    Some((out, length))
}

/// Letters to insert, delete or replace to make one of the other.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: [usize; LONGEST + 1] = std::array::from_fn(|i| i);
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replace = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_the_same_whatever_their_case_and_marks() {
        assert!(same(b"#Tex-Coords:", "TexCoords"));
        assert!(same(b"SUBSET_TABLE", "SubsetTable"));
        assert!(!same(b"Tex:", "TexCoords"));
    }

    #[test]
    fn a_bone_is_found_in_its_label_and_a_name_is_none() {
        let of = |label: &[u8]| after(label, "BoneOffset").and_then(index);
        assert_eq!(of(b"BoneOffset12"), Some(12));
        assert_eq!(of(b"boneoffset<12>:"), Some(12));
        assert_eq!(of(b"BoneOffset3:"), Some(3));
        for none in [&b"BoneOffset"[..], b"BoneOffset<Spine>", b"BoneOffset-1", b"BoneOffset99999999999", b"Bone"] {
            assert_eq!(of(none), None);
        }
    }

    #[test]
    fn slips_of_the_pen_are_seen_and_other_words_are_not() {
        let names = ["Position", "Normal", "Tangent", "Pos", "P"];
        assert_eq!(nearest(b"Postion:", names), Some("Position"));
        assert_eq!(nearest(b"Nromal:", names), Some("Normal"));
        for other in [&b"Color:"[..], b"Binormal:", b"TangentV:", b"Normal2:", b"Position", b"::", b""] {
            assert_eq!(nearest(other, names), None);
        }
        assert_eq!(nearest(b"C:", names), None);
        assert_eq!(nearest(&[b'x'; 100_000], names), None);
    }
}
