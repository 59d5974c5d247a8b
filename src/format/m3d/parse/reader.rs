//! Helpers of the readers of all sections: section lines, numbers as they are written, labels.

use super::{label, notes::Cause, state::State};
use crate::format::{Lexer, TokenKind, Unexpected, reader};
use std::borrow::Cow;

/// A reader of an `.m3d`.
pub(super) type Reader<'a> = reader::Reader<'a, State<'a>>;

/// A line that opens a section: `***Vertices***`, `---Subset_Table-`.
#[derive(Clone, Copy)]
pub(super) struct Banner<'a> {
    pub(super) offset: usize,
    /// The text between the stars or dashes.
    pub(super) name: &'a [u8],
    pub(super) dashes: bool,
}

impl<'a> Reader<'a> {
    /// Makes a reader at the start of `source`; `file` is its name in reports.
    pub(super) fn of(file: &str, source: &'a [u8]) -> Self {
        Self::new(file, Lexer::new(source), State::default())
    }

    /// Returns `true` if a section line or the end comes next, or there are enough errors.
    pub(super) fn at_section_end(&mut self) -> bool {
        match self.lexer.peek_byte() {
            None | Some(b'*') => true,
            // One dash opens a number, three never do.
            Some(b'-') => self.rest().starts_with(b"---"),
            Some(_) => self.report.is_full(),
        }
    }

    /// Takes a section line, if one comes next.
    pub(super) fn banner(&mut self) -> Option<Banner<'a>> {
        let mark = self.lexer.peek_byte()?;
        if !(mark == b'*' || self.rest().starts_with(b"---")) {
            return None;
        }
        let offset = self.lexer.offset();
        let mut name = self.lexer.rest_of_line();
        // Exporters put any number of marks and blanks around the name.
        while let [b'*' | b'-' | b' ' | b'\t', rest @ ..]
        | [rest @ .., b'*' | b'-' | b' ' | b'\t'] = name
        {
            name = rest;
        }
        Some(Banner {
            offset,
            name,
            dashes: mark == b'-',
        })
    }

    /// Skips to the next section line.
    pub(super) fn skip_section(&mut self) {
        while !self.at_section_end() {
            self.lexer.skip_line();
        }
    }

    /// Returns `true` if a number comes next, finite or not.
    pub(super) fn at_number(&mut self) -> bool {
        self.lexer.skip_space();
        match *self.rest() {
            [b'0'..=b'9', ..] | [b'+' | b'-' | b'.', b'0'..=b'9', ..] | [b'+' | b'-', b'.', ..] => {
                true
            }
            _ => self.not_finite().is_some(),
        }
    }

    /// Returns the length of a word for a number that is not finite: `nan`, `-inf`, `-1.#IND`, `nan(ind)`, as C
    /// libraries print them, or one too large.
    fn not_finite(&self) -> Option<usize> {
        let rest = self.rest();
        let length = rest
            .iter()
            .position(|b| b.is_ascii_whitespace())
            .unwrap_or(rest.len());
        let word = rest[..length].strip_prefix(b"-").unwrap_or(&rest[..length]);
        let printed = [&b"1.#IN"[..], b"1.#QNAN", b"1.#SNAN", b"nan("]
            .iter()
            .any(|p| {
                word.get(..p.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(p))
            });
        let parsed = || std::str::from_utf8(word).ok()?.parse::<f32>().ok();
        (printed || parsed().is_some_and(|value| !value.is_finite())).then_some(length)
    }

    /// Takes a number. One that is not finite is read as 0, with a warning.
    #[inline]
    pub(super) fn number(&mut self) -> Result<f32, Unexpected> {
        self.lexer
            .f32()
            .or_else(|unexpected| self.repaired_number(unexpected))
    }

    #[cold]
    fn repaired_number(&mut self, unexpected: Unexpected) -> Result<f32, Unexpected> {
        self.lexer.skip_space();
        let length = self.not_finite().ok_or(unexpected)?;
        let offset = self.lexer.offset();
        self.state.notes.add(Cause::NotFinite, offset, || {
            "a number is not finite; it is read as 0".into()
        });
        self.lexer.seek(offset + length);
        Ok(0.0)
    }

    /// Takes `least` to `N` numbers; more are ignored with a warning.
    pub(super) fn numbers<const N: usize>(
        &mut self,
        least: usize,
    ) -> Result<([f32; N], usize), Unexpected> {
        let (mut values, mut count) = ([0.0; N], 0);
        // The numbers that must be there are read in any case, so that a missing one is an error.
        while count < N && (count < least || self.at_number()) {
            values[count] = self.number()?;
            count += 1;
        }
        if self.at_number() {
            self.skip_extra_numbers(self.lexer.offset());
        }
        Ok((values, count))
    }

    /// Skips the numbers that a label has too many, with a warning. Its values begin at `since`.
    pub(super) fn skip_extra_numbers(&mut self, since: usize) {
        self.state.notes.add(Cause::ExtraNumbers, since, || {
            "there are more numbers than the label takes; the last are ignored".into()
        });
        while self.at_number() {
            let length = self.rest().iter().position(u8::is_ascii_whitespace);
            // By words rather than by numbers, because what follows may not be finite.
            self.lexer
                .seek(length.map_or(usize::MAX, |length| self.lexer.offset() + length));
        }
    }

    /// Takes a whole number. −1 and what does not fit a `u32` become `u32::MAX`, which indexes nothing.
    pub(super) fn index(&mut self) -> Result<u32, Unexpected> {
        self.lexer.u32().or_else(|_| self.odd_index())
    }

    #[cold]
    fn odd_index(&mut self) -> Result<u32, Unexpected> {
        let TokenKind::Word(word) = self.lexer.peek().kind else {
            return Err(self.lexer.unexpected("a whole number"));
        };
        // A word of digits is meant as an index, however large.
        let digits = word.strip_prefix(b"-").unwrap_or(word);
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(self.lexer.unexpected("a whole number"));
        }
        self.lexer.next_token();
        let value = std::str::from_utf8(word)
            .ok()
            .and_then(|text| text.parse().ok());
        Ok(value.unwrap_or(u32::MAX))
    }

    /// Skips a line whose label is unknown in `section`: an error if it is probably misspelled, else a warning.
    pub(super) fn unknown_label(
        &mut self,
        names: impl IntoIterator<Item = &'static str>,
        section: &str,
        context: impl Into<String>,
    ) {
        let number = self.at_number();
        let offset = self.lexer.offset();
        // A number where a label should be isn't misspelled.
        let label = self.lexer.label();
        if number || label.is_empty() {
            self.lexer.seek(offset);
            return self.unexpected_here("a label", context);
        }
        // A misspelled label would silently lose its data, so it is an error.
        if let Some(name) = label::nearest(label, names) {
            let error = self
                .report
                .error(offset, format!("unknown label {}", quote(label)));
            error.context = context.into();
            error.hint = format!("did you mean `{name}`?");
            self.lexer.skip_line();
        } else {
            self.lexer.seek(offset);
            self.ignored_label(section, None);
        }
    }

    /// Skips a line whose label is unknown in `section`, with a warning.
    pub(super) fn ignored_label(&mut self, section: &str, meant: Option<&str>) {
        let offset = self.lexer.offset();
        let label = self.lexer.label();
        self.state.notes.unknown_label(label, offset, || {
            let meant = meant
                .map(|name| format!("; did you mean `{name}`?"))
                .unwrap_or_default();
            format!(
                "{section} has no label {}; its line is ignored{meant}",
                quote(label)
            )
        });
        self.lexer.skip_line();
    }

    /// Returns the text of a name at `offset`, with a warning if it is not UTF-8.
    pub(super) fn text(&mut self, offset: usize, text: &[u8]) -> String {
        let text = String::from_utf8_lossy(text);
        if matches!(text, Cow::Owned(_)) {
            self.state.notes.add(Cause::NotUtf8, offset, || {
                "a name is not UTF-8; letters that cannot be read became `\u{fffd}`".into()
            });
        }
        text.into_owned()
    }
}

/// Quotes a piece of the file for a message.
pub(super) fn quote(text: &[u8]) -> String {
    TokenKind::Word(text).to_string()
}

/// `vertex 812 of 13748 in Vertices`; `index` counts from 0.
pub(super) fn item(what: &str, index: usize, of: Option<u32>, section: &str) -> String {
    match of {
        Some(count) if (index as u64) < u64::from(count) => {
            format!("{what} {} of {count} in {section}", index + 1)
        }
        _ => format!("{what} {} in {section}", index + 1),
    }
}
