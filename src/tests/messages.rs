//! Snapshots of messages, for tests. A test names the message that it expects. What the message says is in `messages.txt`, in
//! one place per set of tests, so that words can be improved without touching tests.
//!
//! With `MARIONETTE_UPDATE_MESSAGES=1`, tests write what they got to `messages.txt` instead. To drop messages that no test
//! names any longer, delete the file first. Tests that use [`is_like`] fail until the messages they name are written, so run
//! them once more.
//!
//! The tests in `tests` include this file, too.

#![allow(dead_code, reason = "not all tests use all of it")]

use std::{
    collections::BTreeMap,
    fmt::{Display, Write},
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

const UPDATE: &str = "MARIONETTE_UPDATE_MESSAGES";
const HEADING: &str = "\
What the tests expect messages to say, by the names that the tests give them. Written by the tests themselves:
see CONTRIBUTING.md.
";
/// What an entry begins with. Its name follows.
const MARK: &str = "== ";

/// Asserts that a message is the one of this name in `messages.txt`, to the letter.
#[track_caller]
pub fn assert_message(name: &str, message: impl Display) {
    let message = message.to_string();
    let message = message.trim_end_matches('\n');
    if let Err(problem) = Snapshots::lock().compare(name, message) {
        panic!("{problem}");
    }
}

/// Asserts that these are all the messages of the entry, in this order.
#[track_caller]
pub fn assert_messages<M: Display>(name: &str, messages: impl IntoIterator<Item = M>) {
    let messages: Vec<String> = messages.into_iter().map(|m| m.to_string()).collect();
    assert!(!messages.is_empty(), "{name}: there are no messages");
    assert_message(name, messages.join("\n"));
}

/// Returns `true` if a message says the same as one of the entry of this name in `messages.txt`, about any names and numbers,
/// at any place in a file.
///
/// Another test must compare the entry to the letter.
#[track_caller]
pub fn is_like(name: &str, message: impl Display) -> bool {
    let entry = Snapshots::lock().entries.get(name).cloned();
    let entry =
        entry.unwrap_or_else(|| panic!("{name}: no such message; set {UPDATE}=1 to add it"));
    let kind_of_message = kind(&message.to_string());
    let is_start = |(at, line): &(usize, &str)| *at == 0 || severity(line).is_some();
    let mut starts = entry.lines().enumerate().filter(is_start);
    starts.any(|(_, line)| kind(line) == kind_of_message)
}

/// Returns what follows the severity in the first line of a diagnostic.
fn severity(line: &str) -> Option<&str> {
    let words = [": warning: ", ": error: "];
    words.iter().find_map(|word| Some(line.split_once(word)?.1))
}

/// Strips a message of everything that depends on the file: its place, its context, and the names and numbers in it.
fn kind(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let line = severity(line).unwrap_or(line);
    // The context.
    let line = match line.strip_suffix(')').and_then(|_| line.rsplit_once(" (")) {
        Some((said, _)) => said,
        None => line,
    };
    let mut kind = String::new();
    for (at, piece) in line.split('`').enumerate() {
        let is_name = at % 2 == 1;
        let is_list = piece == ", " && kind.ends_with('`');
        if is_name && !kind.ends_with('`') {
            kind.push('`');
        } else if !is_name && !is_list {
            let mut was_digit = false;
            for c in piece.chars() {
                if !c.is_ascii_digit() {
                    kind.push(c);
                } else if !was_digit {
                    kind.push('0');
                }
                was_digit = c.is_ascii_digit();
            }
        }
    }
    kind
}

#[derive(Default)]
struct Snapshots {
    /// What the file holds.
    entries: BTreeMap<String, String>,
    /// What the tests of this run got.
    got: BTreeMap<String, String>,
}

impl Snapshots {
    /// Tests run in parallel, so they take turns.
    fn lock() -> MutexGuard<'static, Self> {
        static ALL: OnceLock<Mutex<Snapshots>> = OnceLock::new();
        let all = ALL.get_or_init(|| {
            let text = fs::read_to_string(path()).unwrap_or_default();
            Mutex::new(Self {
                entries: parse(&text),
                got: BTreeMap::new(),
            })
        });
        all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn compare(&mut self, name: &str, message: &str) -> Result<(), String> {
        assert!(
            !name.contains('\n') && !message.lines().any(|line| line.starts_with(MARK)),
            "{name}: cannot be told from an entry of `messages.txt`:\n{message}"
        );
        let before = self.got.insert(name.to_owned(), message.to_owned());
        if let Some(other) = before.filter(|other| other != message) {
            return Err(format!(
                "two messages are named `{name}`:\n{other}\nand\n{message}"
            ));
        }
        let expected = self.entries.get(name);
        if expected.is_some_and(|expected| expected == message) {
            return Ok(());
        }
        if std::env::var_os(UPDATE).is_some() {
            self.entries.insert(name.to_owned(), message.to_owned());
            return fs::write(path(), print(&self.entries)).map_err(|error| error.to_string());
        }
        Err(match expected {
            Some(expected) => format!(
                "{name}: expected\n{expected}\nbut got\n{message}\n\nSet {UPDATE}=1 to accept it."
            ),
            None => format!("{name}: no such message; set {UPDATE}=1 to add\n{message}"),
        })
    }
}

/// Returns the path of the file of these tests.
fn path() -> PathBuf {
    let folder = match env!("CARGO_CRATE_NAME") {
        "bevy_marionette" => Path::new("src/tests").to_owned(),
        tests => Path::new("tests").join(tests),
    };
    // Tests of the core also belong to a package below the repository's root.
    let mut roots = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let folder = roots.find_map(|root| Some(root.join(&folder)).filter(|folder| folder.is_dir()));
    folder
        .expect("the tests are where they were built")
        .join("messages.txt")
}

fn parse(text: &str) -> BTreeMap<String, String> {
    let mut entries: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix(MARK) {
            entries.push((name.to_owned(), String::new()));
        } else if let Some((_, message)) = entries.last_mut() {
            message.push_str(line);
            message.push('\n');
        }
    }
    let trim =
        |(name, message): (String, String)| (name, message.trim_end_matches('\n').to_owned());
    entries.into_iter().map(trim).collect()
}

fn print(entries: &BTreeMap<String, String>) -> String {
    let mut text = HEADING.to_owned();
    for (name, message) in entries {
        write!(text, "\n{MARK}{name}\n{message}\n").expect("strings grow");
    }
    text
}

mod tests {
    use super::*;

    #[test]
    fn entries_are_read_as_they_were_written() {
        let entries = [("b", "one"), ("a", "two lines\n  | ^\n\nand a third")];
        let entries = entries
            .map(|(name, message)| (name.to_owned(), message.to_owned()))
            .into();
        let text = print(&entries);
        assert_eq!(parse(&text), entries);
        assert_eq!(parse(&text.replace('\n', "\r\n")), entries);
    }

    #[test]
    fn messages_are_alike_whatever_they_are_about() {
        let message = "a.glb:3:1: warning: 12 joints move nothing: `a`, `b` (nodes[3])\n3 | x\n";
        assert_eq!(kind(message), "0 joints move nothing: `");
        assert_eq!(kind("2 joints move nothing: `c`"), kind(message));
        assert_ne!(kind("2 joints move too much: `c`"), kind(message));
    }
}
