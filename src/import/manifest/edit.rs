//! Changes of single entries in a manifest's text. Every other byte stays: comments, order, and spelling are their author's.
//!
//! See decision 067.

use super::{Manifest, places::Reader};
use crate::format::{Diagnostic, FormatError};
use std::ops::Range;

/// The indentation of an entry in what it belongs to.
const STEP: &str = "    ";

impl Manifest {
    /// Returns a manifest's text with another value at a path of field names and map keys, such as
    /// `["clips", "walk", "callbacks"]`. Entries that the text lacks are added, after those that are there. `value` is RON; its
    /// lines are indented to fit. `None` removes the entry, if there is one.
    ///
    /// # Errors
    /// The text is no manifest, or would be none.
    #[doc(hidden)]
    pub fn edited(
        file: &str,
        text: &str,
        path: &[&str],
        value: Option<&str>,
    ) -> Result<String, FormatError> {
        // Places are right only in a text that can be parsed.
        Self::parse(file, text.as_bytes())?;
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let edited = match (Place::find(text, path), value) {
            (Place::Entry { value: at, .. }, Some(value)) => {
                let indent = indent_at(text, at.start);
                let value = indented(value.trim(), indent).replace('\n', newline);
                replaced(text, at, &value)
            }
            (Place::Entry { key, value }, None) => {
                replaced(text, removal(text, key, value.end), "")
            }
            (Place::Inside(list), Some(value)) => {
                let entry = entry(&path[list.depth..], list.depth, value.trim());
                list.with(text, &entry, newline)
            }
            (Place::Inside(_), None) => text.to_owned(),
            (Place::Nowhere, _) => {
                let message = format!("there is no place for `{}` in this text", path.join("/"));
                let error = Diagnostic::error(file, message);
                return Err(FormatError::one(error.with_hint("change it by hand")));
            }
        };
        Self::parse(file, edited.as_bytes())?;
        Ok(edited)
    }
}

/// Where an entry is, or where it belongs.
enum Place {
    /// The start of its key, and its value.
    Entry { key: usize, value: Range<usize> },
    /// The innermost list that is there of those that lead to it.
    Inside(List),
    /// A value on the way is no list.
    Nowhere,
}

/// A struct or map in brackets.
struct List {
    /// The number of path elements that lead here.
    depth: usize,
    /// Between the brackets.
    inside: Range<usize>,
    /// The start of the first entry.
    first: Option<usize>,
    /// The end of the last entry, without its comma.
    last: usize,
}

impl Place {
    fn find(text: &str, path: &[&str]) -> Self {
        let mut reader = Reader::new(text.as_bytes());
        reader.skip_attributes();
        let mut depth = 0;
        'lists: loop {
            let Some(open) = reader.open() else {
                return Self::Nowhere;
            };
            let mut list = List {
                depth,
                inside: open..open,
                first: None,
                last: open,
            };
            loop {
                let place = reader.at_token();
                match reader.peek() {
                    None | Some(b')' | b'}' | b']') => {
                        list.inside.end = place;
                        return Self::Inside(list);
                    }
                    Some(b',') => {
                        reader.skip_byte();
                        continue;
                    }
                    _ => {}
                }
                let Some(key) = reader.key_before_colon() else {
                    return Self::Nowhere;
                };
                let start = reader.at_token();
                if key == path[depth].as_bytes() && depth + 1 < path.len() {
                    depth += 1;
                    continue 'lists;
                }
                reader.skip_value();
                if key == path[depth].as_bytes() {
                    return Self::Entry {
                        key: place,
                        value: start..reader.end(),
                    };
                }
                list.first.get_or_insert(place);
                list.last = reader.end();
            }
        }
    }
}

impl List {
    /// Returns the text with another entry at the end of the list.
    fn with(&self, text: &str, entry: &str, newline: &str) -> String {
        let has_lines = text[self.inside.clone()].contains('\n');
        let outer = indent_at(text, self.inside.start);
        let fresh = format!("{outer}{STEP}");
        let indent = self
            .first
            .map_or(fresh.as_str(), |first| indent_at(text, first));
        // A comma in a comment is none.
        let rest = without_comments(&text[self.last..self.inside.end]);
        let lacks_comma = self.first.is_some() && !rest.contains(',');
        if !has_lines && (self.first.is_some() || self.depth > 0) && !entry.contains('\n') {
            let (at, space) = match self.first {
                None => (self.last, ""),
                Some(_) if lacks_comma => (self.last, ", "),
                Some(_) => (self.inside.end, " "),
            };
            return replaced(text, at..at, &format!("{space}{entry}"));
        }
        // The comma goes before the comment behind the last entry.
        let comma = if lacks_comma { "," } else { "" };
        let text = replaced(text, self.last..self.last, comma);
        let end = self.inside.end + comma.len();
        // Before the line of the closing bracket, if that has one of its own.
        let line = text[..end].rfind('\n').map_or(0, |at| at + 1);
        let closes_alone = has_lines && text[line..end].trim().is_empty();
        let entry = indented(entry, indent);
        let (at, entry) = match closes_alone {
            true => (line, format!("{indent}{entry},\n")),
            false => (end, format!("\n{indent}{entry},\n{outer}")),
        };
        replaced(&text, at..at, &entry.replace('\n', newline))
    }
}

/// Returns an entry with those that lead to it, which aren't there yet. Fields of structs and keys of maps take turns.
fn entry(path: &[&str], depth: usize, value: &str) -> String {
    let key = match depth % 2 {
        0 => path[0].to_owned(),
        _ => ron::to_string(path[0]).unwrap_or_default(),
    };
    let value = match &path[1..] {
        [] => value.to_owned(),
        rest => {
            let (open, close) = if depth.is_multiple_of(2) {
                ('{', '}')
            } else {
                ('(', ')')
            };
            let inner = entry(rest, depth + 1, value);
            if depth == 0 || inner.contains('\n') {
                format!("{open}\n{STEP}{},\n{close}", indented(&inner, STEP))
            } else {
                format!("{open}{inner}{close}")
            }
        }
    };
    format!("{key}: {value}")
}

/// Returns a range of bytes that is an entry with its comma, and its lines if it has them for itself.
fn removal(text: &str, key: usize, end: usize) -> Range<usize> {
    let rest = &text[end..];
    let comma = rest.trim_start().starts_with(',');
    let end = if comma {
        end + rest.find(',').unwrap_or(0) + 1
    } else {
        end
    };
    let line = text[..key].rfind('\n').map_or(0, |at| at + 1);
    let behind = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    if text[line..key].trim().is_empty() && text[end..behind].trim().is_empty() {
        return line..behind;
    }
    if comma {
        let spaces = text[end..].len() - text[end..].trim_start_matches(' ').len();
        return key..end + spaces;
    }
    // The last of a line takes the comma before it along.
    let before = text[..key].trim_end();
    let start = before.strip_suffix(',').map_or(key, str::len);
    start..end
}

/// Returns the blanks at the start of the line of a place.
fn indent_at(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |at| at + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Indents all lines but the first.
fn indented(text: &str, indent: &str) -> String {
    text.replace("\r\n", "\n")
        .replace('\n', &format!("\n{indent}"))
}

fn replaced(text: &str, range: Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..range.start], &text[range.end..])
}

/// Returns what is between tokens without comments.
fn without_comments(text: &str) -> String {
    let mut reader = Reader::new(text.as_bytes());
    let mut out = String::new();
    while reader.at_token() < text.len() {
        out.extend(reader.peek().map(char::from));
        reader.skip_byte();
    }
    out
}
