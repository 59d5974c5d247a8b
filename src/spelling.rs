//! "Did you mean …?": the known word that a misspelled one is closest to.

/// Longest word that is compared, in bytes: in a damaged file a word can be as long as the file.
const LONGEST: usize = 64;

/// Returns the word of `known` closest to `word`, ignoring case, if few enough letters differ.
///
/// One letter in three may be inserted, dropped, changed or swapped with its neighbor (one in a
/// shorter word), and at least half of both words must agree.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    let length = word.chars().count();
    let allowed = |known: &str| {
        (length / 3)
            .max(1)
            .min(length.min(known.chars().count()) / 2)
    };
    let near = known
        .into_iter()
        .filter(|known| known.len() <= LONGEST)
        .map(|known| {
            let lower = known.to_lowercase();
            (strsim::osa_distance(&word, &lower), allowed(&lower), known)
        });
    let near = near.filter(|(distance, allowed, _)| distance <= allowed);
    near.min_by_key(|(distance, ..)| *distance)
        .map(|(.., known)| known)
}

/// Returns a hint, such as ``did you mean `weight`?``, if one of `known` is close to `word`.
pub(crate) fn did_you_mean<'k>(
    word: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> Option<String> {
    nearest(word, known).map(meant)
}

/// Returns the hint about a word that was probably meant.
pub(crate) fn meant(known: &str) -> String {
    format!("did you mean `{known}`?")
}

#[cfg(test)]
#[path = "tests/spelling.rs"]
mod tests;
