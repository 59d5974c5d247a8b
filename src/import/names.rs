//! Names that must be unique.

use std::collections::HashSet;

/// Gives the later of two equal names a number: `x`, `x.1`, `x.2`; how many were changed.
pub(super) fn make_unique<'a>(names: impl IntoIterator<Item = &'a mut String>) -> usize {
    let mut taken: HashSet<String> = HashSet::new();
    let mut changed = 0;
    for name in names {
        if taken.contains(name.as_str()) {
            changed += 1;
            // Counting on from the number of names taken ends at once even for a thousand equal names.
            let free = (changed..).map(|n| format!("{name}.{n}")).find(|n| !taken.contains(n));
            *name = free.unwrap_or_default();
        }
        taken.insert(name.clone());
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_names_are_numbered_past_those_taken() {
        let mut names = ["a", "a", "b", "a.1", "a"].map(String::from);
        assert_eq!(make_unique(&mut names), 3);
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), 5);
        assert_eq!(names[0..3], ["a", "a.1", "b"]);
    }
}
