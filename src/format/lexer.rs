//! One lexer for every text format: bytes in, borrowed tokens out.
//!
//! Nothing is allocated, and line numbers are counted only when something is reported.

mod number;

use super::without_bom;
use std::{borrow::Cow, fmt};

/// A position in a byte slice, and methods to read what comes next.
///
/// White space separates words. In a lexer made with [`Lexer::with_comments`], `//` starts a comment to
/// the end of the line, and `/*` one to the next `*/`, as in Doom 3.
#[derive(Clone)]
pub(crate) struct Lexer<'a> {
    source: &'a [u8],
    at: usize,
    comments: bool,
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// Byte offset of its first character.
    pub(crate) offset: usize,
    /// Kind of token.
    pub(crate) kind: TokenKind<'a>,
}

/// Kind of a [`Token`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind<'a> {
    /// The bytes up to white space, a brace, a parenthesis or a quote; numbers are words too.
    Word(&'a [u8]),
    /// The text between double quotes, as written: no format here has escapes.
    Quoted(&'a [u8]),
    /// One of `{`, `}`, `(`, `)`.
    Punctuation(u8),
    /// The end of the file.
    End,
}

/// A token that does not fit. `Display`: ``expected a number, found `{` ``.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unexpected {
    /// Byte offset of the token.
    pub(crate) offset: usize,
    /// Description of what was expected.
    pub(crate) expected: Cow<'static, str>,
    /// The token as it is quoted in a message.
    pub(crate) found: String,
}

impl fmt::Display for Unexpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

impl fmt::Display for TokenKind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 40;
        let quote = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST)]);
            let text: String = text
                .chars()
                .map(|c| if c.is_control() { '\u{fffd}' } else { c })
                .collect();
            if bytes.len() > LONGEST {
                text + "…"
            } else {
                text
            }
        };
        match self {
            Self::Word(word) => write!(f, "`{}`", quote(word)),
            Self::Quoted(text) => write!(f, "\"{}\"", quote(text)),
            Self::Punctuation(byte) => write!(f, "`{}`", *byte as char),
            Self::End => f.write_str("the end of the file"),
        }
    }
}

const fn is_space(byte: u8) -> bool {
    // Control characters, too, as in Doom 3's `idLexer`.
    byte <= b' '
}

const fn ends_word(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b'{' | b'}' | b'(' | b')' | b'"')
}

impl<'a> Lexer<'a> {
    /// Makes a lexer at the start of `source`, after a byte order mark if it has one. It has no
    /// comments: `//` and `/*` are part of words.
    pub(crate) fn new(source: &'a [u8]) -> Self {
        Self {
            source,
            at: source.len() - without_bom(source).len(),
            comments: false,
        }
    }

    /// Makes a lexer that skips comments.
    pub(crate) fn with_comments(source: &'a [u8]) -> Self {
        Self {
            comments: true,
            ..Self::new(source)
        }
    }

    /// Returns the whole source.
    pub(crate) fn source(&self) -> &'a [u8] {
        self.source
    }

    /// Returns the byte offset of the next unread byte.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// Moves to a byte offset, or to the end if that is beyond it.
    pub(crate) fn seek(&mut self, offset: usize) {
        self.at = offset.min(self.source.len());
    }

    /// Returns the number of bytes not yet read.
    pub(crate) fn remaining(&self) -> usize {
        self.source.len() - self.at
    }

    /// Skips white space, line ends and comments.
    #[inline]
    pub(crate) fn skip_space(&mut self) {
        let mut at = self.at;
        while self.source.get(at).is_some_and(|&b| is_space(b)) {
            at += 1;
        }
        self.at = at;
        if self.comments && self.source.get(at) == Some(&b'/') {
            *self = self.clone().behind_comments();
        }
    }

    /// Takes the lexer by value: comments are rare, and a lexer that is never referred to stays in
    /// registers.
    #[cold]
    fn behind_comments(mut self) -> Self {
        while self.starts_comment(self.at) {
            self.skip_comment();
            while self.source.get(self.at).is_some_and(|&b| is_space(b)) {
                self.at += 1;
            }
        }
        self
    }

    /// Skips the comment that starts right here. Returns `false` if it is never closed, and so
    /// continues to the end.
    fn skip_comment(&mut self) -> bool {
        if self.source[self.at..].starts_with(b"//") {
            self.skip_line();
            return true;
        }
        // The star that opens a comment may close it, too: Doom 3 looks for a slash behind a star.
        let inside = &self.source[self.at + 1..];
        let end = inside.windows(2).position(|two| two == b"*/");
        self.at = end.map_or(self.source.len(), |end| self.at + 1 + end + 2);
        end.is_some()
    }

    /// Returns the offset of a comment that is never closed, if there is one.
    #[cold]
    pub(crate) fn unclosed_comment(&self) -> Option<usize> {
        let mut lexer = Self {
            at: 0,
            ..self.clone()
        };
        while lexer.remaining() > 0 {
            let at = lexer.at;
            if lexer.starts_comment(at) {
                if !lexer.skip_comment() {
                    return Some(at);
                }
            } else if is_space(lexer.source[at]) {
                lexer.at += 1;
            } else {
                lexer.next_token();
            }
        }
        None
    }

    /// Returns `true` if a comment starts at an offset.
    #[cold]
    fn starts_comment(&self, at: usize) -> bool {
        self.comments && matches!(self.source.get(at..at + 2), Some(b"//" | b"/*"))
    }

    /// Returns `true` if a comment comes next, without white space before it.
    pub(crate) fn comes_comment(&self) -> bool {
        self.starts_comment(self.at)
    }

    /// Skips the rest of the line and its end.
    pub(crate) fn skip_line(&mut self) {
        match self.source[self.at..].iter().position(|&b| b == b'\n') {
            Some(end) => self.at += end + 1,
            None => self.at = self.source.len(),
        }
    }

    /// Takes the rest of the line, and returns it without the white space around it. The lexer stops in front of
    /// the line's end.
    pub(crate) fn rest_of_line(&mut self) -> &'a [u8] {
        let rest = &self.source[self.at..];
        let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        self.at += end;
        rest[..end].trim_ascii()
    }

    /// Takes the next token.
    #[inline]
    pub(crate) fn next_token(&mut self) -> Token<'a> {
        self.skip_space();
        let offset = self.at;
        let rest = &self.source[offset..];
        let kind = match rest.first() {
            None => TokenKind::End,
            Some(&byte @ (b'{' | b'}' | b'(' | b')')) => {
                self.at += 1;
                TokenKind::Punctuation(byte)
            }
            Some(b'"') => {
                // A quote that never closes ends with its line: the lines after it may still be sound.
                let inside = &rest[1..];
                let length = inside
                    .iter()
                    .position(|&b| b == b'"' || b == b'\n')
                    .unwrap_or(inside.len());
                let closed = inside.get(length) == Some(&b'"');
                self.at += 1 + length + usize::from(closed);
                TokenKind::Quoted(if closed {
                    &inside[..length]
                } else {
                    inside[..length].trim_ascii_end()
                })
            }
            Some(_) => {
                let length = rest
                    .iter()
                    .position(|&b| ends_word(b))
                    .unwrap_or(rest.len());
                self.at += length;
                TokenKind::Word(&rest[..length])
            }
        };
        Token { offset, kind }
    }

    /// Returns the next token without taking it.
    pub(crate) fn peek(&self) -> Token<'a> {
        self.clone().next_token()
    }

    /// Skips white space, and returns `true` at the end of the source.
    #[inline]
    pub(crate) fn at_end(&mut self) -> bool {
        self.skip_space();
        self.at == self.source.len()
    }

    /// Takes the next bytes if they are `text`, without looking at what follows them.
    #[inline]
    pub(crate) fn eat_text(&mut self, text: &[u8]) -> bool {
        self.skip_space();
        let fits = self.source[self.at..].starts_with(text);
        self.at += if fits { text.len() } else { 0 };
        fits
    }

    /// Returns the next byte that is not white space without taking it; `None` at the end.
    #[inline]
    pub(crate) fn peek_byte(&mut self) -> Option<u8> {
        self.skip_space();
        self.source.get(self.at).copied()
    }

    /// Takes a label: a word that also ends behind a colon, which is part of it. Returns an empty label in front
    /// of a brace, a parenthesis, a quote or the end.
    pub(crate) fn label(&mut self) -> &'a [u8] {
        self.skip_space();
        let rest = &self.source[self.at..];
        let end = rest
            .iter()
            .position(|&b| ends_word(b) || b == b':')
            .unwrap_or(rest.len());
        let end = end + usize::from(rest.get(end) == Some(&b':'));
        self.at += end;
        &rest[..end]
    }

    /// Takes the next word if it is exactly `word`.
    #[inline]
    pub(crate) fn eat_word(&mut self, word: &[u8]) -> bool {
        self.skip_space();
        let rest = &self.source[self.at..];
        let fits = rest.starts_with(word) && rest.get(word.len()).is_none_or(|&b| ends_word(b));
        if fits {
            self.at += word.len();
        }
        fits
    }

    /// Takes the next character if it is `byte`.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        self.skip_space();
        // A branch, unlike arithmetic, can be predicted: the processor need not wait for the byte.
        if self.source.get(self.at) != Some(&byte) {
            return false;
        }
        self.at += 1;
        true
    }

    /// Takes `byte`, or returns what comes instead.
    #[inline]
    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), Unexpected> {
        if self.eat(byte) {
            Ok(())
        } else {
            Err(self.clone().not_byte(byte))
        }
    }

    #[cold]
    fn not_byte(self, byte: u8) -> Unexpected {
        self.unexpected(format!("`{}`", byte as char))
    }

    /// Returns the error for the next token, which is not taken.
    #[inline]
    pub(crate) fn unexpected(&self, expected: impl Into<Cow<'static, str>>) -> Unexpected {
        self.clone().not(expected.into())
    }

    #[cold]
    fn not(mut self, expected: Cow<'static, str>) -> Unexpected {
        let token = self.next_token();
        Unexpected {
            offset: token.offset,
            expected,
            found: token.kind.to_string(),
        }
    }

    /// Takes a string as Doom 3 does: in double or single quotes, which end on their line, or a word that is not a number.
    pub(crate) fn string(&mut self) -> Result<&'a [u8], Unexpected> {
        let before = self.at;
        let token = self.next_token();
        match token.kind {
            TokenKind::Quoted(text) => return Ok(text),
            TokenKind::Word([b'\'', ..]) => {
                let inside = &self.source[token.offset + 1..];
                let end = inside.iter().position(|&b| b == b'\'' || b == b'\n');
                if let Some(end) = end.filter(|&end| inside[end] == b'\'') {
                    self.at = token.offset + 1 + end + 1;
                    return Ok(&inside[..end]);
                }
            }
            TokenKind::Word(word) if word[0].is_ascii_alphabetic() || word[0] == b'_' => {
                return Ok(word);
            }
            _ => {}
        }
        self.at = before;
        Err(self.unexpected("a quoted string"))
    }

    /// Takes a quoted string.
    #[cfg(test)]
    pub(crate) fn quoted(&mut self) -> Result<&'a [u8], Unexpected> {
        let before = self.at;
        match self.next_token().kind {
            TokenKind::Quoted(text) => Ok(text),
            _ => {
                self.at = before;
                Err(self.unexpected("a quoted string"))
            }
        }
    }
}

#[cfg(test)]
#[path = "tests/lexer.rs"]
mod tests;
