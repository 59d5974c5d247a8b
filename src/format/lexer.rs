//! One lexer for every text format: bytes in, borrowed tokens out.
//!
//! Model files are numbers, megabytes of them, so numbers have their own path: [`Lexer::f32`] reads
//! digits straight from the bytes and rounds once. Words, quoted strings and punctuation serve the
//! rest. Nothing is allocated, and line numbers are counted only when something is reported.

mod number;

use number::{leading_digits, plain_f32};
use std::{borrow::Cow, fmt};

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
            self.skip_comments();
        }
    }

    /// Steps over comments and the white space behind them.
    #[inline(never)]
    fn skip_comments(&mut self) {
        while self.source[self.at..].starts_with(b"//") {
            self.skip_line();
            while self.source.get(self.at).is_some_and(|&b| is_space(b)) {
                self.at += 1;
            }
        }
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
        if self.eat(byte) { Ok(()) } else { Err(self.unexpected(format!("`{}`", byte as char))) }
    }

    /// The error for the next token, which is left in place.
    #[cold]
    pub fn unexpected(&self, expected: impl Into<Cow<'static, str>>) -> Unexpected {
        let token = self.peek();
        Unexpected { offset: token.offset, expected: expected.into(), found: token.kind.to_string() }
    }

    /// Takes a finite number.
    ///
    /// Correctly rounded, as `str::parse` would. A word that is no number, NaN and infinities, and
    /// numbers that overflow an `f32` are refused, and the lexer stays before them.
    #[inline]
    pub fn f32(&mut self) -> Result<f32, Unexpected> {
        match self.plain_f32() {
            Some(value) => Ok(value),
            None => self.slow_f32(),
        }
    }

    /// Takes a number if it is one of the usual kind, such as `-0.9983482` or `1.25E-07`.
    ///
    /// `None` says nothing about the number: [`Lexer::f32`] may still read it. The lexer then
    /// stands at the next word.
    #[inline]
    pub fn plain_f32(&mut self) -> Option<f32> {
        self.skip_space();
        let (value, length) = plain_f32(&self.source[self.at..])?;
        self.at += length;
        Some(value)
    }

    /// `N` numbers in a row.
    #[inline]
    pub fn f32s<const N: usize>(&mut self) -> Result<[f32; N], Unexpected> {
        let mut out = [0.0; N];
        for value in &mut out {
            *value = self.f32()?;
        }
        Ok(out)
    }

    #[cold]
    fn slow_f32(&mut self) -> Result<f32, Unexpected> {
        let token = self.peek();
        if let TokenKind::Word(word) = token.kind
            && let Ok(text) = std::str::from_utf8(word)
            && let Ok(value) = text.parse::<f32>()
            && value.is_finite()
        {
            self.at = token.offset + word.len();
            return Ok(value);
        }
        Err(self.unexpected("a number"))
    }

    /// Takes a whole number of 0 or more.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, Unexpected> {
        match self.plain_u32() {
            Some(value) => Ok(value),
            None => self.slow_u32(),
        }
    }

    /// Takes a whole number of up to eight digits. `None` says nothing about longer ones; the lexer
    /// then stands at the next word.
    #[inline]
    pub fn plain_u32(&mut self) -> Option<u32> {
        self.skip_space();
        let (value, count) = leading_digits(self.source[self.at..].first_chunk()?);
        let whole = count > 0 && self.source.get(self.at + count).is_some_and(|&b| ends_word(b));
        if !whole {
            return None;
        }
        self.at += count;
        Some(value as u32)
    }

    #[cold]
    fn slow_u32(&mut self) -> Result<u32, Unexpected> {
        self.skip_space();
        let (start, mut value) = (self.at, 0u64);
        let mut at = start;
        while let Some(digit) = self.source.get(at).filter(|b| b.is_ascii_digit()) {
            value = value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            at += 1;
        }
        if at == start || self.source.get(at).is_some_and(|&b| !ends_word(b)) || value > u64::from(u32::MAX) {
            return Err(self.unexpected("a whole number"));
        }
        self.at = at;
        Ok(value as u32)
    }

    /// Takes a whole number.
    pub fn i32(&mut self) -> Result<i32, Unexpected> {
        self.skip_space();
        let start = self.at;
        let negative = self.source.get(start) == Some(&b'-');
        self.at += usize::from(negative);
        // The sign belongs to the digit after it: `- 1` is two words.
        let touching = !negative || self.source.get(self.at).is_some_and(u8::is_ascii_digit);
        let value = if touching { self.u32().ok() } else { None };
        let value = value.map(i64::from).map(|v| if negative { -v } else { v });
        match value.and_then(|v| i32::try_from(v).ok()) {
            Some(value) => Ok(value),
            None => {
                self.at = start;
                Err(self.unexpected("a whole number"))
            }
        }
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

    /// Reads `text` both as a document's last word and as one of many: two paths.
    fn f32_of(text: &str) -> Option<f32> {
        let last = Lexer::new(text.as_bytes()).f32().ok();
        let among = format!("{text} and then some more words");
        assert_eq!(last.map(f32::to_bits), Lexer::new(among.as_bytes()).f32().ok().map(f32::to_bits), "{text}");
        last
    }

    #[test]
    fn numbers_are_read_as_the_standard_library_reads_them() {
        let written = [
            "0",
            "-0",
            "1",
            "-1.5",
            "+2",
            ".5",
            "5.",
            "1e3",
            "1E-07",
            "-3.7e-17",
            "0.03756343",
            "37.46099",
            "1e-45",
            "3.4028235e38",
            "16777217",
            "0.1",
            "123456789012345678901234567890",
            "1.00000017881393421514957253748434595763683319091796875001",
            "9007199254740993",
            "1e22",
            "1e-22",
            "4.7019774e-38",
            "1.1754944e-38",
            "1.1754942e-38",
        ];
        for text in written {
            assert_eq!(f32_of(text).map(f32::to_bits), Some(text.parse::<f32>().unwrap().to_bits()), "{text}");
        }
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..100_000 {
            let value = f32::from_bits(random.u32(..));
            if value.is_finite() {
                for text in
                    [format!("{value}"), format!("{value:e}"), format!("{value:.6}"), format!("{:.9}", value.fract())]
                {
                    assert_eq!(f32_of(&text), text.parse::<f32>().ok(), "{text}");
                }
            }
        }
    }

    #[test]
    fn numbers_next_to_the_middle_between_two_neighbours_go_the_right_way() {
        let mut random = fastrand::Rng::with_seed(8);
        for _ in 0..100_000 {
            let below = f32::from_bits(random.u32(0x2000_0000..0x6000_0000));
            let middle = (f64::from(below) + f64::from(below.next_up())) / 2.0;
            for value in [middle.next_down(), middle, middle.next_up()] {
                for text in
                    [format!("{value}"), format!("{value:.9e}"), format!("{value:.16e}"), format!("{value:.17E}")]
                {
                    assert_eq!(f32_of(&text), text.parse::<f32>().ok(), "{text}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_finite_number_is_refused_and_left_in_place() {
        for text in ["nan", "inf", "-", "e5", "1e", "1e400", "1x", "--1", "", "{", "0x10", "1.2.3"] {
            let mut lexer = Lexer::new(text.as_bytes());
            let error = lexer.f32().expect_err(text);
            assert_eq!((error.offset, lexer.offset()), (0, 0), "{text}");
        }
    }

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
    fn whole_numbers_do_not_wrap() {
        assert_eq!(Lexer::new(b"4294967295").u32(), Ok(u32::MAX));
        assert!(Lexer::new(b"4294967296").u32().is_err());
        assert!(Lexer::new(b"99999999999999999999999").u32().is_err());
        assert_eq!(Lexer::new(b"-2147483648 ").i32(), Ok(i32::MIN));
        assert!(Lexer::new(b"- 1").i32().is_err());
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
