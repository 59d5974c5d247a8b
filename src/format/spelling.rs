//! The word that a misspelt one was meant to be.

/// The one of `known` that `word` is a slip of the fingers away from: a letter in three at most.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // Words of files gone wrong can be as long as the file.
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return None;
    }
    let wanted = word.to_lowercase();
    let allowed = (word.chars().count() / 3).max(1);
    let near = known.into_iter().filter(|known| known.len() <= LONGEST);
    let near = near.map(|known| (distance(&wanted, &known.to_lowercase()), known));
    near.min_by_key(|(distance, _)| *distance).filter(|(distance, _)| *distance <= allowed).map(|(_, known)| known)
}

/// Letters to insert, drop, change or swap with the next to get from `a` to `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut last: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut next = vec![i + 1];
        for j in 0..b.len() {
            let mut least = (row[j] + usize::from(a[i] != b[j])).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(last[j - 1] + 1);
            }
            next.push(least);
        }
        last = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_near_and_other_words_are_not() {
        let known = ["file", "clip", "playback", "callbacks", "hand.R"];
        assert_eq!(nearest("calbacks", known), Some("callbacks"));
        assert_eq!(nearest("hnad.r", known), Some("hand.R"));
        assert_eq!(nearest("flie", known), Some("file"));
        assert_eq!(nearest("weight", known), None);
        assert_eq!(nearest(&"x".repeat(100_000), known), None);
    }
}
