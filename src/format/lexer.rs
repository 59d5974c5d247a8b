//! One lexer for every text format: bytes in, borrowed tokens out.
//!
//! Model files are numbers, megabytes of them, so numbers have their own path: [`Lexer::f32`] reads
//! digits straight from the bytes and rounds once. Words, quoted strings and punctuation serve the
//! rest. Nothing is allocated, and line numbers are counted only when something is reported.

mod number;
mod words;

use std::{borrow::Cow, fmt};

pub(super) use words::{Word, Words};

/// A position in a byte slice, with the means to step over what stands there.
///
/// White space separates; `//` starts a comment to the end of the line when the lexer was made with
/// [`Lexer::with_comments`].
#[derive(Clone)]
pub struct Lexer<'a> {
    source: &'a [u8],
    at: usize,
    comments: bool,
}

/// A token and where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// Byte offset of its first character.
    pub offset: usize,
    /// What it is.
    pub kind: TokenKind<'a>,
}

/// What a [`Token`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind<'a> {
    /// A run of bytes up to white space, a brace, a parenthesis or a quote; numbers are words too.
    Word(&'a [u8]),
    /// The inside of a pair of double quotes, as written: no format here has escapes.
    Quoted(&'a [u8]),
    /// One of `{`, `}`, `(`, `)`.
    Punctuation(u8),
    /// The end of the file.
    End,
}

/// A token that did not fit. `Display`: ``expected a number, found `{` ``.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unexpected {
    /// Byte offset of the token.
    pub offset: usize,
    /// What would have fitted.
    pub expected: Cow<'static, str>,
    /// The token as a reader would quote it.
    pub found: String,
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
            let text: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
            if bytes.len() > LONGEST { text + "…" } else { text }
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
    byte <= b' '
}

const fn ends_word(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b'{' | b'}' | b'(' | b')' | b'"')
}

impl<'a> Lexer<'a> {
    /// A lexer at the start of `source`; `//` is nothing special. A byte order mark is skipped.
    pub fn new(source: &'a [u8]) -> Self {
        let at = if source.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self { source, at, comments: false }
    }

    /// A lexer that takes `//` to the end of the line as white space.
    pub fn with_comments(source: &'a [u8]) -> Self {
        Self { comments: true, ..Self::new(source) }
    }

    /// The whole source.
    pub fn source(&self) -> &'a [u8] {
        self.source
    }

    /// Byte offset of the next unread byte.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Goes to a byte offset, clamped to the source's end.
    pub fn seek(&mut self, offset: usize) {
        self.at = offset.min(self.source.len());
    }

    /// Bytes not yet read: the most that any count in a header can be true for.
    pub fn remaining(&self) -> usize {
        self.source.len() - self.at
    }

    /// Steps over white space and comments, line ends included.
    #[inline]
    pub fn skip_space(&mut self) {
        let mut at = self.at;
        while self.source.get(at).is_some_and(|&b| is_space(b)) {
            at += 1;
        }
        self.at = at;
        if self.comments && self.source.get(at) == Some(&b'/') {
            self.at = self.clone().after_comments();
        }
    }

    /// The place behind comments and the white space behind them. By value, like all that is rare: a lexer
    /// whose address nobody takes lives in registers.
    #[inline(never)]
    fn after_comments(mut self) -> usize {
        while self.source[self.at..].starts_with(b"//") {
            self.skip_line();
            while self.source.get(self.at).is_some_and(|&b| is_space(b)) {
                self.at += 1;
            }
        }
        self.at
    }

    /// Steps over the rest of the line and its end.
    pub fn skip_line(&mut self) {
        match self.source[self.at..].iter().position(|&b| b == b'\n') {
            Some(end) => self.at += end + 1,
            None => self.at = self.source.len(),
        }
    }

    /// The rest of the line without surrounding white space; the lexer is left at the line's end.
    pub fn rest_of_line(&mut self) -> &'a [u8] {
        let rest = &self.source[self.at..];
        let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        self.at += end;
        rest[..end].trim_ascii()
    }

    /// Whether only blanks stand between here and the end of the line (or file).
    pub fn at_line_end(&self) -> bool {
        for &byte in &self.source[self.at..] {
            match byte {
                b'\n' => return true,
                b if is_space(b) => {}
                b'/' if self.comments && self.source[self.at..].trim_ascii_start().starts_with(b"//") => return true,
                _ => return false,
            }
        }
        true
    }

    /// Takes the next token.
    #[inline]
    pub fn next_token(&mut self) -> Token<'a> {
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
                let length = inside.iter().position(|&b| b == b'"' || b == b'\n').unwrap_or(inside.len());
                let closed = inside.get(length) == Some(&b'"');
                self.at += 1 + length + usize::from(closed);
                TokenKind::Quoted(if closed { &inside[..length] } else { inside[..length].trim_ascii_end() })
            }
            Some(_) => {
                let length = rest.iter().position(|&b| ends_word(b)).unwrap_or(rest.len());
                self.at += length;
                TokenKind::Word(&rest[..length])
            }
        };
        Token { offset, kind }
    }

    /// The next token, left in place.
    pub fn peek(&self) -> Token<'a> {
        self.clone().next_token()
    }

    /// Whether nothing but white space (and comments) is left.
    #[inline]
    pub fn at_end(&mut self) -> bool {
        self.skip_space();
        self.at == self.source.len()
    }

    /// The next bytes, white space skipped, if they are `text`; what follows them does not matter.
    #[inline]
    pub fn eat_text(&mut self, text: &[u8]) -> bool {
        self.skip_space();
        let fits = self.source[self.at..].starts_with(text);
        self.at += if fits { text.len() } else { 0 };
        fits
    }

    /// The next byte that is no white space, left in place; `None` at the end.
    #[inline]
    pub fn peek_byte(&mut self) -> Option<u8> {
        self.skip_space();
        self.source.get(self.at).copied()
    }

    /// Takes a label: a word that may also end behind a colon, which is part of it. Empty where a
    /// brace, a parenthesis, a quote or the end stands.
    pub fn label(&mut self) -> &'a [u8] {
        self.skip_space();
        let rest = &self.source[self.at..];
        let end = rest.iter().position(|&b| ends_word(b) || b == b':').unwrap_or(rest.len());
        let end = end + usize::from(rest.get(end) == Some(&b':'));
        self.at += end;
        &rest[..end]
    }

    /// Takes the next word if it is exactly `word`.
    #[inline]
    pub fn eat_word(&mut self, word: &[u8]) -> bool {
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
    pub fn eat(&mut self, byte: u8) -> bool {
        self.skip_space();
        let fits = self.source.get(self.at) == Some(&byte);
        self.at += usize::from(fits);
        fits
    }

    /// Takes `byte`, or says what stands there instead.
    #[inline]
    pub fn expect(&mut self, byte: u8) -> Result<(), Unexpected> {
        self.skip_space();
        // A branch, which the processor foretells; adding what `eat` answers would wait for the byte.
        if self.source.get(self.at) == Some(&byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.clone().instead_of_byte(byte))
    }

    /// The error for the next token, which is left in place.
    #[inline]
    pub fn unexpected(&self, expected: impl Into<Cow<'static, str>>) -> Unexpected {
        self.clone().instead_of(expected.into())
    }

    #[cold]
    fn instead_of_byte(self, byte: u8) -> Unexpected {
        self.instead_of(format!("`{}`", byte as char).into())
    }

    #[cold]
    fn instead_of(mut self, expected: Cow<'static, str>) -> Unexpected {
        let token = self.next_token();
        Unexpected { offset: token.offset, expected, found: token.kind.to_string() }
    }

    /// Takes a quoted string.
    pub fn quoted(&mut self) -> Result<&'a [u8], Unexpected> {
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
mod tests {
    use super::*;

    #[test]
    fn a_label_ends_behind_its_colon() {
        let mut lexer = Lexer::new(b" Pos:1 #Keyframes: 2 Bone0{ :: (");
        let labels = std::iter::from_fn(|| {
            let label = lexer.label();
            (!label.is_empty() || lexer.eat(b'{')).then_some(label)
        });
        let text: Vec<_> = labels.map(|l| String::from_utf8_lossy(l).into_owned()).collect();
        assert_eq!(text, ["Pos:", "1", "#Keyframes:", "2", "Bone0", "", ":", ":"]);
    }

    #[test]
    fn a_comment_mark_inside_quotes_is_text() {
        let mut lexer = Lexer::with_comments(b"shader \"//bope.tga\" // yes\r\nnext");
        assert!(lexer.eat_word(b"shader"));
        assert_eq!(lexer.quoted(), Ok(&b"//bope.tga"[..]));
        assert!(lexer.at_line_end());
        assert!(lexer.eat_word(b"next"));
        assert_eq!(lexer.next_token().kind, TokenKind::End);
    }

    #[test]
    fn a_quote_that_never_closes_ends_with_its_line() {
        let mut lexer = Lexer::new(b"\"open\r\nnext");
        assert_eq!(lexer.quoted(), Ok(&b"open"[..]));
        assert!(lexer.eat_word(b"next"));
    }
}
