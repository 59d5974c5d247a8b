//! "Did you mean …?": the known word that a misspelled one is closest to.

/// Longest word that is compared, in bytes: in a damaged file a word can be as long as the file.
const LONGEST: usize = 64;

/// Characters that end a folder or a prefix of a name, as in `fight/hit`, `Armature|hit`, and `mixamorig:Hips`.
const ENDS_FOLDER: [char; 3] = ['/', '|', ':'];

/// Returns the word of `known` closest to `word`, ignoring case, if few enough letters differ.
///
/// One letter in three may be inserted, dropped, changed or swapped with its neighbor (one in a
/// shorter word), and at least half of both words must agree. Folders that only one of the two has count as one letter:
/// `hit` may mean `fight/hit`.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    let near = known
        .into_iter()
        .filter(|known| known.len() <= LONGEST)
        .filter_map(|known| Some((distance(&word, &known.to_lowercase())?, known)));
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// Returns how far two words are apart, if few enough letters differ.
fn distance(word: &str, known: &str) -> Option<usize> {
    let (inner, other) = (without_folders(word, known), without_folders(known, word));
    let folders = usize::from((inner, other) != (word, known));
    let length = inner.chars().count();
    let allowed = (length / 3)
        .max(1)
        .min(length.min(other.chars().count()) / 2);
    let distance = strsim::osa_distance(inner, other);
    // Without the folders, short words are easily alike: they have to be the same.
    let is_near = distance == 0 || distance <= allowed && (folders == 0 || length > 3);
    // What is misspelled is further away than what only lacks a folder.
    (is_near && length > 0).then_some(2 * distance + folders)
}

/// Returns a name without its outer folders, if it has more of them than another.
fn without_folders<'n>(name: &'n str, other: &str) -> &'n str {
    let ends = |name: &str| name.matches(ENDS_FOLDER).count();
    let more = ends(name).saturating_sub(ends(other));
    match more {
        0 => name,
        more => name.splitn(more + 1, ENDS_FOLDER).last().unwrap_or(name),
    }
}

/// Returns a hint, such as ``did you mean `weight`?``, if one of `known` is close to `word`.
pub fn did_you_mean<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<String> {
    nearest(word, known).map(meant)
}

/// Returns the hint about a word that was probably meant.
pub(crate) fn meant(known: &str) -> String {
    format!("did you mean `{known}`?")
}

#[cfg(test)]
#[path = "tests/spelling.rs"]
mod tests;
