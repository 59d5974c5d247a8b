//! Names as words.

/// Returns words in lower case with underscores between them: `RunLeft (1)` becomes `run_left_1`.
pub fn snake(name: &str) -> String {
    let mut out = String::new();
    let letters: Vec<char> = name.chars().collect();
    for (at, &letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            if !out.is_empty() && !out.ends_with('_') {
                out.push('_');
            }
            continue;
        }
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1);
        let in_front_of_lower = after.is_some_and(|c| c.is_lowercase());
        // `runLeft`, `Walk2Idle`, and the last letter of `FBXRun`, but not `1H`.
        let starts = before.is_some_and(char::is_lowercase)
            || (before.is_some_and(|c| c.is_uppercase() || c.is_numeric()) && in_front_of_lower);
        if letter.is_uppercase() && starts && !out.ends_with('_') {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out.trim_end_matches('_').to_owned()
}

/// Returns the words of a name in [`snake`] case, without numbers after them.
pub fn words(name: &str) -> impl Iterator<Item = &str> + Clone {
    let words = name.split('_');
    words.map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()))
}
