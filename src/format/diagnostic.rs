//! Errors and warnings that point into a file, as a compiler's do.

use std::{
    fmt::{self, Write},
    sync::Arc,
};

/// Severity of a [`Diagnostic`].
///
/// ```
/// # use bevy_marionette::format::{FormatError, Severity};
/// fn summary(error: &FormatError) -> String {
///     let count = |severity| error.diagnostics.iter().filter(|report| report.severity == severity).count();
///     format!("{} errors, {} warnings", count(Severity::Error), count(Severity::Warning))
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file can be used; something in it was ignored, repaired or guessed.
    Warning,
    /// The file cannot be used.
    Error,
}

/// An error or warning about a file.
///
/// `Display` prints the whole report: `file:line:column`, the message, the line with a caret below it, and the
/// hint.
///
/// Reports about a game's own files can look like those about characters:
///
/// ```
/// # use bevy_marionette::format::Diagnostic;
/// let source = b"quest: find the sord";
/// let report = Diagnostic::error("quests.txt", "no item is called `sord`")
///     .at(source, 1, 17)
///     .with_hint("did you mean `sword`?");
/// assert_eq!(report.to_string(), "\
/// quests.txt:1:17: error: no item is called `sord`
/// 1 | quest: find the sord
///   |                 ^
///   hint: did you mean `sword`?");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// The file's name as the caller gave it.
    pub file: Arc<str>,
    /// Line, from 1; 0 if the report is about the file as a whole.
    pub line: u32,
    /// Column in characters, from 1; 0 if the report is about a whole line.
    pub column: u32,
    /// Description of the problem, in one sentence without a period.
    pub message: String,
    /// The section and item being read, such as `vertex 812 of 13748 in Vertices`; may be empty.
    pub context: String,
    /// The line of the file, shortened around the column if it is long; may be empty.
    pub source_line: String,
    /// Position of the caret in `source_line`, in characters from 0.
    pub caret: u32,
    /// Advice on what to do about it; may be empty.
    pub hint: String,
}

impl Diagnostic {
    /// Makes a report about `file` as a whole.
    pub fn of_file(severity: Severity, file: &str, message: impl Into<String>) -> Self {
        Self {
            severity,
            file: file.into(),
            line: 0,
            column: 0,
            message: message.into(),
            context: String::new(),
            source_line: String::new(),
            caret: 0,
            hint: String::new(),
        }
    }

    /// Makes a warning about `file` as a whole.
    pub fn warning(file: &str, message: impl Into<String>) -> Self {
        Self::of_file(Severity::Warning, file, message)
    }

    /// Makes an error about `file` as a whole.
    pub fn error(file: &str, message: impl Into<String>) -> Self {
        Self::of_file(Severity::Error, file, message)
    }

    /// Points the report at a line and column of `source`, both from 1, and quotes the line.
    pub fn at(mut self, source: &[u8], line: u32, column: u32) -> Self {
        (self.line, self.column) = (line, column);
        (self.source_line, self.caret) = quote_line(source, line, column);
        self
    }

    /// Adds a hint: what to do about it.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Adds a hint, if what to do is known.
    pub(crate) fn with_any_hint(self, hint: Option<impl Into<String>>) -> Self {
        match hint {
            Some(hint) => self.with_hint(hint),
            None => self,
        }
    }

    /// Adds the section and item being read.
    pub fn with_context(mut self, context: impl Into<String>) -> Self {
        self.context = context.into();
        self
    }
}

/// Longest piece of a source line quoted in a report, in characters.
const QUOTE: usize = 100;

fn quote_line(source: &[u8], line: u32, column: u32) -> (String, u32) {
    let Some(bytes) = source
        .split(|&b| b == b'\n')
        .nth(line.saturating_sub(1) as usize)
    else {
        return (String::new(), 0);
    };
    let mut characters = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| starts_character(**byte));
    let at = characters
        .nth(column.saturating_sub(1) as usize)
        .map_or(bytes.len(), |(at, _)| at);
    quote_around(bytes, at)
}

/// Returns the part of a line around `at`, and the position of `at` in it: model files have lines of many
/// kilobytes.
fn quote_around(line: &[u8], at: usize) -> (String, u32) {
    let at = at.min(line.len());
    let from = at.saturating_sub(QUOTE / 2);
    let to = line.len().min(from + QUOTE);
    let clean = |b: &[u8]| -> String {
        // Control characters would break the line with the caret below.
        String::from_utf8_lossy(b)
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect()
    };
    let caret = clean(&line[from..at]).chars().count() as u32;
    // Trimmed at the end only: the caret counts from the start of the line.
    (clean(&line[from..to]).trim_end().to_owned(), caret)
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Printable(&self.file))?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
            if self.column > 0 {
                write!(f, ":{}", self.column)?;
            }
        }
        let word = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, ": {word}: {}", Printable(&self.message))?;
        if !self.context.is_empty() {
            write!(f, " ({})", Printable(&self.context))?;
        }
        if !self.source_line.is_empty() {
            let number = self.line.to_string();
            let pad = " ".repeat(number.len());
            write!(f, "\n{number} | {}", Printable(&self.source_line))?;
            write!(f, "\n{pad} | {}^", " ".repeat(self.caret as usize))?;
        }
        if !self.hint.is_empty() {
            write!(f, "\n  hint: {}", Printable(&self.hint))?;
        }
        Ok(())
    }
}

/// Text that may quote a file. Control characters, which a terminal would obey, are shown as `�`; of a very long
/// text only the two ends are shown.
struct Printable<'a>(&'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 800;
        let write = |text: &str, f: &mut fmt::Formatter<'_>| {
            text.chars().try_for_each(|c| {
                f.write_char(if c.is_control() {
                    char::REPLACEMENT_CHARACTER
                } else {
                    c
                })
            })
        };
        if self.0.len() <= MOST {
            // Both ends are kept, because the middle of a long name tells the least.
            return write(self.0, f);
        }
        write(&self.0[..self.0.floor_char_boundary(MOST / 2)], f)?;
        f.write_str(" … ")?;
        write(
            &self.0[self.0.ceil_char_boundary(self.0.len() - MOST / 2)..],
            f,
        )
    }
}

/// An error that makes a file unusable: at least one error, with the warnings found before it.
///
/// ```
/// # use bevy_marionette::import::Manifest;
/// let error = Manifest::parse("hero.character.ron", b"(modle: \"hero.glb\")").unwrap_err();
/// for report in error.errors() {
///     // An editor marks the place.
///     assert_eq!((report.line, report.column), (1, 2));
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// Errors and warnings in file order; at least one is an error.
    pub diagnostics: Vec<Diagnostic>,
}

impl FormatError {
    /// Most errors reported for one file. A parser stops after that many.
    pub const MAX_ERRORS: usize = 20;
    /// Most warnings reported for one file. If there are more, the last one counts those that are
    /// not listed.
    pub const MAX_WARNINGS: usize = 50;

    /// Makes an error of one diagnostic.
    pub fn one(diagnostic: Diagnostic) -> Self {
        Self {
            diagnostics: vec![diagnostic],
        }
    }

    /// Returns the errors among the diagnostics.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Error)
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.diagnostics.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for FormatError {}

/// A document that was read from a file, with the warnings about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed<T> {
    /// The file's contents.
    pub value: T,
    /// Warnings in file order.
    pub warnings: Vec<Diagnostic>,
}

/// Collects a parser's errors and warnings, up to a limit each.
pub(crate) struct Reporter<'a> {
    file: Arc<str>,
    source: &'a [u8],
    diagnostics: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    /// Used for reports beyond the limits, because callers may still add to them.
    overflow: Diagnostic,
}

impl<'a> Reporter<'a> {
    /// Makes a reporter for `source`, called `file` in the reports.
    pub(crate) fn new(file: &str, source: &'a [u8]) -> Self {
        let overflow = Diagnostic::warning(file, "");
        Self {
            file: overflow.file.clone(),
            source,
            diagnostics: Vec::new(),
            errors: 0,
            warnings: 0,
            overflow,
        }
    }

    /// Reports an error at `offset` bytes into the source. Returns it for context and hint.
    ///
    /// Errors beyond [`FormatError::MAX_ERRORS`], which a parser may meet before it stops, are not kept.
    pub(crate) fn error(&mut self, offset: usize, message: impl Into<String>) -> &mut Diagnostic {
        self.errors += 1;
        // Callers add context and hints to what they get, so they get something.
        if self.errors > FormatError::MAX_ERRORS {
            return &mut self.overflow;
        }
        self.push(Severity::Error, offset, message.into())
    }

    /// Reports a warning at `offset` bytes into the source. Returns it for context and hint.
    ///
    /// Warnings beyond [`FormatError::MAX_WARNINGS`] are counted without looking up their lines, so a million
    /// of them cost little more than fifty.
    pub(crate) fn warning(&mut self, offset: usize, message: impl Into<String>) -> &mut Diagnostic {
        self.warnings += 1;
        if self.warnings > FormatError::MAX_WARNINGS {
            return &mut self.overflow;
        }
        self.push(Severity::Warning, offset, message.into())
    }

    /// Returns `true` if the parser should give up.
    pub(crate) fn is_full(&self) -> bool {
        self.errors >= FormatError::MAX_ERRORS
    }

    /// Returns `true` if an error was reported.
    pub(crate) fn failed(&self) -> bool {
        self.errors > 0
    }

    /// Returns the number of errors so far.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    /// Returns `value` with the warnings, or every report if one is an error.
    pub(crate) fn finish<T>(self, value: T) -> Result<Parsed<T>, FormatError> {
        if self.errors > 0 {
            Err(self.fail())
        } else {
            Ok(Parsed {
                value,
                warnings: self.in_file_order(),
            })
        }
    }

    /// Returns every report as an error. Call it after reporting one.
    pub(crate) fn fail(self) -> FormatError {
        debug_assert!(self.errors > 0);
        FormatError {
            diagnostics: self.in_file_order(),
        }
    }

    fn in_file_order(mut self) -> Vec<Diagnostic> {
        // One warning makes room for the summary.
        if self.warnings > FormatError::MAX_WARNINGS
            && let Some(last) = self
                .diagnostics
                .iter()
                .rposition(|d| d.severity == Severity::Warning)
        {
            self.diagnostics.remove(last);
            let left_out = self.warnings - FormatError::MAX_WARNINGS + 1;
            let mut summary =
                Diagnostic::warning("", format!("{left_out} more warnings are not listed"));
            summary.file = self.file.clone();
            self.diagnostics.push(summary);
        }
        // Reports about the whole file come last.
        self.diagnostics
            .sort_by_key(|d| (d.line == 0, d.line, d.column));
        self.diagnostics
    }

    fn push(&mut self, severity: Severity, offset: usize, message: String) -> &mut Diagnostic {
        let mut diagnostic = Diagnostic {
            file: self.file.clone(),
            ..Diagnostic::of_file(severity, "", message)
        };
        (diagnostic.line, diagnostic.column) = line_and_column(self.source, offset);
        let offset = offset.min(self.source.len());
        let start = line_start(self.source, offset);
        let line = self.source[start..]
            .split(|&b| b == b'\n')
            .next()
            .unwrap_or_default();
        (diagnostic.source_line, diagnostic.caret) = quote_around(line, offset - start);
        self.diagnostics.push(diagnostic);
        self.diagnostics
            .last_mut()
            .expect("pushed on the line above")
    }
}

/// Returns line and column, from 1 and in characters, of a byte offset. Both are counted only when something is
/// reported.
pub(crate) fn line_and_column(source: &[u8], offset: usize) -> (u32, u32) {
    let before = &source[..offset.min(source.len())];
    let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
    let column = 1 + before[line_start(source, before.len())..]
        .iter()
        .filter(|&&b| starts_character(b))
        .count();
    (line as u32, column as u32)
}

/// Returns the offset of the line that contains a byte offset.
fn line_start(source: &[u8], offset: usize) -> usize {
    source[..offset]
        .iter()
        .rposition(|&b| b == b'\n')
        .map_or(0, |end| end + 1)
}

/// Returns `true` unless a byte continues a character of UTF-8.
fn starts_character(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

#[cfg(test)]
#[path = "tests/diagnostic.rs"]
mod tests;
