//! Helpers of the two MD5 parsers: the version line, keywords, blocks.
//!
//! If a parser reports an error, its result is not used. Items that could not be read are replaced
//! by defaults, so that those after them keep their numbers.

use crate::{
    format::{Lexer, Token, TokenKind, Unexpected, reader},
    spelling::did_you_mean,
};

/// A reader of an MD5 file.
pub(super) type Reader<'a> = reader::Reader<'a, Kind>;

/// The file that the caller asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Mesh,
    Anim,
}

impl Kind {
    fn extension(self) -> &'static str {
        match self {
            Self::Mesh => ".md5mesh",
            Self::Anim => ".md5anim",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Mesh => Self::Anim,
            Self::Anim => Self::Mesh,
        }
    }

    /// The words that open a line at the top of the file.
    fn keywords(self) -> &'static [&'static str] {
        match self {
            Self::Mesh => &[
                "MD5Version",
                "commandline",
                "numJoints",
                "numMeshes",
                "joints",
                "mesh",
            ],
            Self::Anim => &[
                "MD5Version",
                "commandline",
                "numFrames",
                "numJoints",
                "frameRate",
                "numAnimatedComponents",
                "hierarchy",
                "bounds",
                "baseframe",
                "frame",
            ],
        }
    }
}

/// The words of version 6, an unfinished format of Doom 3's early builds.
const VERSION_6: [&str; 6] = [
    "numBones",
    "bone",
    "numChannels",
    "channel",
    "bindpos",
    "bindmat",
];

/// Ends the parse. The error that caused it is already reported.
#[derive(Debug)]
pub(super) struct Stop;

impl<'a> Reader<'a> {
    /// Makes a reader at the start of `source`; `file` is its name in reports.
    pub fn of(file: &str, source: &'a [u8], kind: Kind) -> Self {
        Self::new(file, Lexer::with_comments(source), kind)
    }

    /// Stops once there are enough errors.
    pub fn stop_if_full(&self) -> Result<(), Stop> {
        if self.report.is_full() {
            Err(Stop)
        } else {
            Ok(())
        }
    }

    /// Reports an error; `Stop` once there are enough of them.
    #[cold]
    pub fn error(
        &mut self,
        offset: usize,
        message: impl Into<String>,
        context: impl Into<String>,
        hint: impl Into<String>,
    ) -> Result<(), Stop> {
        let diagnostic = self.report.error(offset, message);
        (diagnostic.context, diagnostic.hint) = (context.into(), hint.into());
        self.stop_if_full()
    }

    /// Reports a warning.
    #[cold]
    pub fn warn(&mut self, offset: usize, message: impl Into<String>, context: impl Into<String>) {
        self.report.warning(offset, message).context = context.into();
    }

    /// Reports an error that ends the parse.
    #[cold]
    pub fn fatal(
        &mut self,
        offset: usize,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Stop {
        let _ = self.error(offset, message, "", hint);
        Stop
    }

    /// Returns what `read` reads, or `None` after an error from which reading can continue.
    pub fn take<T>(
        &mut self,
        read: impl FnOnce(&mut Lexer<'a>) -> Result<T, Unexpected>,
        context: impl FnOnce() -> String,
    ) -> Result<Option<T>, Stop> {
        let since = self.lexer.offset();
        match read(&mut self.lexer) {
            Ok(value) => Ok(Some(value)),
            Err(unexpected) => {
                self.recover(since, &unexpected, context());
                self.stop_if_full().map(|()| None)
            }
        }
    }

    /// Reports a comment that is never closed, if the file has errors: it has swallowed the rest of
    /// it.
    pub fn check_comments(&mut self) {
        if self.report.failed()
            && let Some(at) = self.lexer.unclosed_comment()
        {
            let hint = "close it with `*/`, or begin it with `//`";
            let _ = self.error(at, "a comment that starts here is never closed", "", hint);
        }
    }

    /// Reads `MD5Version 10`, or reports what the file is instead.
    pub fn version(&mut self) -> Result<(), Stop> {
        let token = self.lexer.next_token();
        if !matches!(token.kind, TokenKind::Word(word) if word.eq_ignore_ascii_case(b"MD5Version"))
        {
            let found = token.kind;
            let meant = if let TokenKind::Word(word) = found {
                hint(word, &["MD5Version"])
            } else {
                None
            };
            // A misspelled word is worth a better hint than the version.
            let starts = || format!("an {} starts with `MD5Version 10`", self.state.extension());
            let hint = meant.unwrap_or_else(starts);
            return Err(self.fatal(
                token.offset,
                format!("expected `MD5Version 10`, found {found}"),
                hint,
            ));
        }
        let at = self.lexer.peek().offset;
        match self.lexer.u32() {
            Ok(10) => Ok(()),
            Ok(6) => Err(self.version_6(at)),
            Ok(version) => Err(self.fatal(
                at,
                format!("MD5 version {version} is not supported"),
                "only version 10 is",
            )),
            Err(unexpected) => Err(self.fatal(
                unexpected.offset,
                unexpected.to_string(),
                "only version 10 is supported",
            )),
        }
    }

    #[cold]
    fn version_6(&mut self, at: usize) -> Stop {
        self.fatal(
            at,
            "this is MD5 version 6, an early format that version 10 replaced",
            "export the model again as version 10",
        )
    }

    /// Reports a word that cannot start a line here, and skips its line. It is an error if it is a
    /// misspelled keyword or belongs to another kind of file, otherwise a warning.
    #[cold]
    pub fn unknown(
        &mut self,
        offset: usize,
        found: TokenKind<'a>,
        known: &[&str],
        context: &str,
    ) -> Result<(), Stop> {
        let TokenKind::Word(word) = found else {
            self.lexer.seek(offset);
            let list = known
                .iter()
                .map(|k| format!("`{k}`"))
                .collect::<Vec<_>>()
                .join(", ");
            self.unexpected_here(format!("one of {list}"), context);
            return self.stop_if_full();
        };
        if VERSION_6
            .iter()
            .any(|v| v.as_bytes().eq_ignore_ascii_case(word))
        {
            return Err(self.version_6(offset));
        }
        let (ours, theirs) = (self.state, self.state.other());
        let of_other =
            |k: &&&str| k.as_bytes().eq_ignore_ascii_case(word) && !ours.keywords().contains(k);
        // Only at the top of a file: inside a block, the same word may be anything.
        if context.is_empty() && theirs.keywords().iter().any(|k| of_other(&k)) {
            let message = format!(
                "this is an {}, not an {}",
                theirs.extension(),
                ours.extension()
            );
            let hint = match ours {
                Kind::Mesh => {
                    "it holds a clip: rename it to .md5anim, and load the .md5mesh that it was made with"
                }
                Kind::Anim => "it holds a model: rename it to .md5mesh",
            };
            return Err(self.fatal(offset, message, hint));
        }
        self.lexer.skip_line();
        // A misspelled keyword would silently lose its data, so it is an error.
        if let Some(hint) = hint(word, known) {
            return self.error(offset, format!("unknown keyword {found}"), context, hint);
        }
        // An unknown word is probably an exporter's own extension.
        if word.first().is_some_and(u8::is_ascii_alphabetic) {
            self.warn(
                offset,
                format!("unknown keyword {found}; its line is skipped"),
                context,
            );
            return Ok(());
        }
        self.error(
            offset,
            format!("expected a keyword, found {found}"),
            context,
            "",
        )
    }

    /// Calls [`Self::unknown`] for a word at the top of the file.
    pub fn unknown_at_top(&mut self, offset: usize, found: TokenKind<'a>) -> Result<(), Stop> {
        self.unknown(offset, found, self.state.keywords(), "")
    }

    /// Reads the rest of a `commandline` line. Quotes inside the quotes become apostrophes.
    pub fn command_line(&mut self) -> Result<String, Stop> {
        let (behind, next) = (self.lexer.offset(), self.lexer.peek());
        // The value is not used, so it may be missing. A word on the next line is a keyword.
        if !matches!(
            next.kind,
            TokenKind::Quoted(_) | TokenKind::Word([b'\'', ..])
        ) && self.lexer.source()[behind..next.offset].contains(&b'\n')
        {
            self.warn(
                behind.saturating_sub(1),
                "`commandline` has no value; `\"\"` is assumed",
                "",
            );
            return Ok(String::new());
        }
        let Some(text) = self.quoted("commandline")? else {
            return Ok(String::new());
        };
        if !matches!(next.kind, TokenKind::Quoted(_)) {
            return Ok(text);
        }
        // A quote that touches what follows it did not close the string.
        let mut ahead = self.lexer.clone();
        let touches = !self.lexer.comes_comment()
            && self
                .rest()
                .first()
                .is_some_and(|b| !b.is_ascii_whitespace());
        let rest = ahead.rest_of_line();
        match rest.iter().rposition(|&b| b == b'"') {
            Some(last) if touches => {
                self.lexer.seek(ahead.offset());
                Ok(text + "'" + &String::from_utf8_lossy(&rest[..last]).replace('"', "'"))
            }
            _ => Ok(text),
        }
    }

    /// Reads the string behind a keyword. A word on the next line is another keyword.
    pub fn quoted(&mut self, context: &str) -> Result<Option<String>, Stop> {
        let string = |lexer: &mut Lexer<'a>| match lexer.peek() {
            Token {
                offset,
                kind: TokenKind::Word([first, ..]),
            } if *first != b'\'' && lexer.source()[lexer.offset()..offset].contains(&b'\n') => {
                Err(lexer.unexpected("a quoted string"))
            }
            _ => lexer.string(),
        };
        Ok(self
            .take(string, || context.into())?
            .map(|text| String::from_utf8_lossy(text).into_owned()))
    }

    /// Reads the number after a header's keyword.
    pub fn count(&mut self, context: &str) -> Result<Option<u32>, Stop> {
        self.take(Lexer::u32, || context.into())
    }

    /// Takes the brace that opens a block.
    pub fn open(&mut self, context: &str) -> Result<bool, Stop> {
        Ok(self
            .take(|lexer| lexer.expect(b'{'), || context.into())?
            .is_some())
    }

    /// Takes the brace that closes a block if it comes next. The end of the file closes it too, with an error.
    pub fn close(&mut self, context: &str) -> Result<bool, Stop> {
        if self.lexer.eat(b'}') {
            return Ok(true);
        }
        if self.lexer.remaining() == 0 {
            self.unexpected_here("`}`", context);
            // The block counts as closed, so that there is only one error about it.
            return self.stop_if_full().map(|()| true);
        }
        Ok(false)
    }

    /// Warns that the file continues after the last `item` that it declares.
    pub fn rest_ignored(&mut self, offset: usize, item: &str) {
        self.warn(
            offset,
            format!("the text after the last declared {item} is ignored"),
            "",
        );
    }

    /// Returns `true`, with a warning, if the word just read starts a second document, which is not
    /// read.
    pub fn second_document(&mut self, offset: usize, word: &[u8]) -> bool {
        let second = word.eq_ignore_ascii_case(b"MD5Version");
        if second {
            self.warn(
                offset,
                "a second document starts here; only the first is used",
                "",
            );
        }
        second
    }
}

/// Returns a hint with the keyword that `word` probably means; `None` if none is similar.
fn hint(word: &[u8], known: &[&str]) -> Option<String> {
    did_you_mean(&String::from_utf8_lossy(word), known.iter().copied())
}

/// Reads three numbers in parentheses.
#[inline]
pub(super) fn vector(lexer: &mut Lexer) -> Result<[f32; 3], Unexpected> {
    lexer.expect(b'(')?;
    let vector = lexer.f32s()?;
    lexer.expect(b')')?;
    Ok(vector)
}

/// Reads two vectors in parentheses: a box, or a joint's position and rotation.
pub(super) fn vectors(lexer: &mut Lexer) -> Result<[[f32; 3]; 2], Unexpected> {
    Ok([vector(lexer)?, vector(lexer)?])
}

#[cfg(test)]
#[path = "tests/reader.rs"]
mod tests;
