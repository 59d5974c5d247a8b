//! Nouns and verbs that go with a number, for messages.

use std::borrow::Cow;

/// The noun for a number of things: `joint` for 1, `joints` for others.
pub fn plural(number: usize, noun: &str) -> Cow<'_, str> {
    if number == 1 {
        return noun.into();
    }
    if let Some(stem) = noun.strip_suffix("ex").or(noun.strip_suffix("ix")) {
        return format!("{stem}ices").into();
    }
    let end = if noun.ends_with("sh") { "es" } else { "s" };
    format!("{noun}{end}").into()
}

/// A number with its noun: `1 joint`, `2 joints`.
pub fn counted(number: usize, noun: &str) -> String {
    format!("{number} {}", plural(number, noun))
}

/// The end of a message about an index out of range: `there is 1 joint`, `there are 2 joints`.
pub fn there_are(number: usize, noun: &str) -> String {
    let are = if number == 1 { "is" } else { "are" };
    format!("there {are} {}", counted(number, noun))
}

/// The verb after a number of things.
pub fn have(number: usize) -> &'static str {
    if number == 1 { "has" } else { "have" }
}

#[cfg(test)]
#[path = "tests/plural.rs"]
mod tests;
