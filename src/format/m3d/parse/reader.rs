//! What every section's reader stands on: the lexer, the report, and numbers as they are written.

use super::{
    header::Header,
    label,
    notes::{Cause, Notes},
};
use crate::format::{Lexer, Reporter, TokenKind, Unexpected, m3d::Dialect};
use std::borrow::Cow;

/// The state of a parse.
pub(super) struct Reader<'a> {
    pub(super) lexer: Lexer<'a>,
    pub(super) report: Reporter<'a>,
    pub(super) notes: Notes<'a>,
    pub(super) header: Header,
    pub(super) signs: Signs,
}

/// Marks of the dialects, collected on the way.
#[derive(Default)]
pub(super) struct Signs {
    /// Section lines of dashes, counts without `#`.
    pub(super) dashes: bool,
    /// A header that is not called m3d, or labels that no book has.
    pub(super) home_made: bool,
    /// Materials as bare texture names.
    pub(super) bare_textures: bool,
    /// Material labels that only the DX12 book has.
    pub(super) dx12: bool,
    /// Material labels that only the DX11 book has.
    pub(super) dx11: bool,
}

impl Signs {
    /// The dialect the marks speak for; those of geometry before those of materials.
    pub(super) fn dialect(&self) -> Dialect {
        match self {
            Self { bare_textures: true, .. } => Dialect::Dx10,
            Self { dashes: true, .. } => Dialect::Imm,
            Self { home_made: true, .. } => Dialect::Other,
            Self { dx11: true, dx12: false, .. } => Dialect::Dx11,
            _ => Dialect::Dx12,
        }
    }
}

/// A line that opens a section: `***Vertices***`, `---Subset_Table-`.
#[derive(Clone, Copy)]
pub(super) struct Banner<'a> {
    pub(super) offset: usize,
    /// What stands between the stars or dashes.
    pub(super) name: &'a [u8],
    pub(super) dashes: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &str, source: &'a [u8]) -> Self {
        Self {
            lexer: Lexer::new(source),
            report: Reporter::new(file, source),
            notes: Notes::default(),
            header: Header::default(),
            signs: Signs::default(),
        }
    }

    /// Whether a section line or the end comes next, or there have been enough errors.
    pub(super) fn at_section_end(&mut self) -> bool {
        match self.lexer.peek_byte() {
            None | Some(b'*') => true,
            // One dash opens a number, three never do.
            Some(b'-') => self.rest().starts_with(b"---"),
            Some(_) => self.report.is_full(),
        }
    }

    /// Takes a section line.
    pub(super) fn banner(&mut self) -> Option<Banner<'a>> {
        let mark = self.lexer.peek_byte()?;
        if !(mark == b'*' || self.rest().starts_with(b"---")) {
            return None;
        }
        let offset = self.lexer.offset();
        let mut name = self.lexer.rest_of_line();
        while let [b'*' | b'-' | b' ' | b'\t', rest @ ..] | [rest @ .., b'*' | b'-' | b' ' | b'\t'] = name {
            name = rest;
        }
        Some(Banner { offset, name, dashes: mark == b'-' })
    }

    /// Steps to the next section line.
    pub(super) fn skip_section(&mut self) {
        while !self.at_section_end() {
            self.lexer.skip_line();
        }
    }

    fn rest(&self) -> &'a [u8] {
        &self.lexer.source()[self.lexer.offset()..]
    }

    /// Whether a number comes next, finite or not.
    pub(super) fn at_number(&mut self) -> bool {
        self.lexer.skip_space();
        match *self.rest() {
            [b'0'..=b'9', ..] | [b'+' | b'-' | b'.', b'0'..=b'9', ..] | [b'+' | b'-', b'.', ..] => true,
            _ => self.not_finite().is_some(),
        }
    }

    /// The length of a word for something that is no finite number: `nan`, `-inf`, `-1.#IND`,
    /// `nan(ind)` as C libraries print them, or a number too large.
    fn not_finite(&self) -> Option<usize> {
        let rest = self.rest();
        let length = rest.iter().position(|b| b.is_ascii_whitespace()).unwrap_or(rest.len());
        let word = rest[..length].strip_prefix(b"-").unwrap_or(&rest[..length]);
        let printed = [&b"1.#IN"[..], b"1.#QNAN", b"1.#SNAN", b"nan("]
            .iter()
            .any(|p| word.get(..p.len()).is_some_and(|start| start.eq_ignore_ascii_case(p)));
        let parsed = || std::str::from_utf8(word).ok()?.parse::<f32>().ok();
        (printed || parsed().is_some_and(|value| !value.is_finite())).then_some(length)
    }

    /// Takes a number; one that is not finite is 0, with a warning.
    #[inline]
    pub(super) fn number(&mut self) -> Result<f32, Unexpected> {
        self.lexer.f32().or_else(|unexpected| self.repaired_number(unexpected))
    }

    #[cold]
    fn repaired_number(&mut self, unexpected: Unexpected) -> Result<f32, Unexpected> {
        self.lexer.skip_space();
        let length = self.not_finite().ok_or(unexpected)?;
        let offset = self.lexer.offset();
        self.notes.add(Cause::NotFinite, offset, || "a number is not finite and was read as 0".into());
        self.lexer.seek(offset + length);
        Ok(0.0)
    }

    /// Takes between `least` and `N` numbers; those beyond are ignored with a warning.
    pub(super) fn numbers<const N: usize>(&mut self, least: usize) -> Result<([f32; N], usize), Unexpected> {
        let (mut values, mut count) = ([0.0; N], 0);
        while count < N && (count < least || self.at_number()) {
            values[count] = self.number()?;
            count += 1;
        }
        if self.at_number() {
            self.skip_extra_numbers(self.lexer.offset());
        }
        Ok((values, count))
    }

    /// Notes that a label, the values of which began at `since`, has too many, and steps over them.
    pub(super) fn skip_extra_numbers(&mut self, since: usize) {
        self.notes.add(Cause::ExtraNumbers, since, || {
            "there are more numbers than the label takes; the last were ignored".into()
        });
        while self.at_number() {
            let length = self.rest().iter().position(u8::is_ascii_whitespace);
            self.lexer.seek(length.map_or(usize::MAX, |length| self.lexer.offset() + length));
        }
    }

    /// Takes a whole number; −1 and what no `u32` holds become `u32::MAX`, which indexes nothing.
    pub(super) fn index(&mut self) -> Result<u32, Unexpected> {
        match self.lexer.plain_u32() {
            Some(value) => Ok(value),
            None => self.odd_index(),
        }
    }

    #[cold]
    fn odd_index(&mut self) -> Result<u32, Unexpected> {
        let TokenKind::Word(word) = self.lexer.peek().kind else {
            return Err(self.lexer.unexpected("a whole number"));
        };
        let digits = word.strip_prefix(b"-").unwrap_or(word);
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(self.lexer.unexpected("a whole number"));
        }
        self.lexer.next_token();
        let value = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
        Ok(value.unwrap_or(u32::MAX))
    }

    /// Notes what was found instead of what was expected by the item that began at `since`, and
    /// steps over the rest of the line: unless the culprit opens another, and may be right there.
    pub(super) fn unexpected(&mut self, since: usize, unexpected: Unexpected, context: impl Into<String>) {
        let source = self.lexer.source();
        let error = self.report.error(unexpected.offset, unexpected.to_string());
        error.context = context.into();
        let before = source.get(since..unexpected.offset).unwrap_or_default();
        let on_its_line = before.rsplit(|&b| b == b'\n').next().unwrap_or(before);
        if unexpected.offset >= source.trim_ascii_end().len() {
            error.hint = "the file may be cut off".into();
        } else if on_its_line.len() < before.len() && on_its_line.trim_ascii().is_empty() {
            error.hint = "the line before it may have ended too early".into();
        }
        self.lexer.seek(unexpected.offset);
        if !before.contains(&b'\n') {
            self.lexer.skip_line();
        }
    }

    /// Notes that something else than `expected` comes next, and steps over its line.
    pub(super) fn unexpected_here(&mut self, expected: impl Into<Cow<'static, str>>, context: impl Into<String>) {
        let unexpected = self.lexer.unexpected(expected);
        self.unexpected(unexpected.offset, unexpected, context);
    }

    /// Steps over a line whose label means nothing in `section`: an error where it is probably a
    /// misspelt one, a warning where it is something else.
    pub(super) fn unknown_label(
        &mut self,
        names: impl IntoIterator<Item = &'static str>,
        section: &str,
        context: impl Into<String>,
    ) {
        let number = self.at_number();
        let offset = self.lexer.offset();
        let label = self.lexer.label();
        if number || label.is_empty() {
            self.lexer.seek(offset);
            return self.unexpected_here("a label", context);
        }
        if let Some(name) = label::nearest(label, names) {
            let error = self.report.error(offset, format!("unknown label {}", quote(label)));
            error.context = context.into();
            error.hint = format!("did you mean `{name}`?");
            self.lexer.skip_line();
        } else {
            self.lexer.seek(offset);
            self.ignored_label(section, None);
        }
    }

    /// Steps over a line whose label means nothing in `section`, with a warning.
    pub(super) fn ignored_label(&mut self, section: &str, meant: Option<&str>) {
        let offset = self.lexer.offset();
        let label = self.lexer.label();
        self.notes.unknown_label(label, offset, || {
            let meant = meant.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            format!("{section} knows no label {}; its line was ignored{meant}", quote(label))
        });
        self.lexer.skip_line();
    }

    /// The text of a name that stands at `offset`, with a warning if it is no UTF-8.
    pub(super) fn text(&mut self, offset: usize, text: &[u8]) -> String {
        let text = String::from_utf8_lossy(text);
        if matches!(text, Cow::Owned(_)) {
            self.notes.add(Cause::NotUtf8, offset, || {
                "a name is not in UTF-8; letters that could not be read became `\u{fffd}`".into()
            });
        }
        text.into_owned()
    }
}

/// A piece of the file as a reader would quote it.
pub(super) fn quote(text: &[u8]) -> String {
    TokenKind::Word(text).to_string()
}

/// `vertex 812 of 13748 in Vertices`; `index` counts from 0.
pub(super) fn item(what: &str, index: usize, of: Option<u32>, section: &str) -> String {
    match of {
        Some(count) if (index as u64) < u64::from(count) => format!("{what} {} of {count} in {section}", index + 1),
        _ => format!("{what} {} in {section}", index + 1),
    }
}
