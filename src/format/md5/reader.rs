//! What the two MD5 parsers share: the version line, keywords, runs of numbered items, recovery.
//!
//! A parser goes on after an error from the next line, so that one run names every fault of a file,
//! up to [`Reporter::MAX_ERRORS`]; what it returns then is never looked at, and items that could not
//! be read stand in as defaults to keep the numbering.

use crate::{
    format::{FormatError, Lexer, Parsed, Reporter, TokenKind, Unexpected},
    spelling::did_you_mean,
};

/// Which of the two files the caller asked for.
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
            Self::Mesh => &["MD5Version", "commandline", "numJoints", "numMeshes", "joints", "mesh"],
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
const VERSION_6: [&str; 6] = ["numBones", "bone", "numChannels", "channel", "bindpos", "bindmat"];

/// The parser gives up; the error that made it is already noted.
#[derive(Debug)]
pub(super) struct Stop;

/// A lexer, a reporter, and the way they work together.
pub(super) struct Reader<'a> {
    pub lexer: Lexer<'a>,
    kind: Kind,
    reporter: Reporter<'a>,
    recovered_at: Option<usize>,
}

impl<'a> Reader<'a> {
    pub fn new(file: &str, source: &'a [u8], kind: Kind) -> Self {
        Self { lexer: Lexer::with_comments(source), kind, reporter: Reporter::new(file, source), recovered_at: None }
    }

    /// The parser's answer.
    pub fn finish<T>(self, value: T) -> Result<Parsed<T>, FormatError> {
        self.reporter.finish(value)
    }

    /// Whether an error was noted.
    pub fn failed(&self) -> bool {
        self.reporter.failed()
    }

    /// Notes an error; `Stop` once there are enough of them.
    #[cold]
    pub fn error(
        &mut self,
        offset: usize,
        message: impl Into<String>,
        context: impl Into<String>,
        hint: impl Into<String>,
    ) -> Result<(), Stop> {
        let diagnostic = self.reporter.error(offset, message);
        (diagnostic.context, diagnostic.hint) = (context.into(), hint.into());
        if self.reporter.is_full() { Err(Stop) } else { Ok(()) }
    }

    /// Reports a warning.
    #[cold]
    pub fn warn(&mut self, offset: usize, message: impl Into<String>, context: impl Into<String>) {
        self.reporter.warning(offset, message).context = context.into();
    }

    /// Notes an error that ends the parse.
    #[cold]
    pub fn fatal(&mut self, offset: usize, message: impl Into<String>, hint: impl Into<String>) -> Stop {
        let _ = self.error(offset, message, "", hint);
        Stop
    }

    /// Notes what did not fit and goes to where reading can go on: the offending token if it opens a
    /// line (the line before ended early), else the line after it.
    ///
    /// A place is reported once; met there again, its line is skipped, so every call but the first
    /// moves on.
    #[cold]
    pub fn recover(&mut self, unexpected: &Unexpected, context: impl Into<String>) -> Result<(), Stop> {
        let source = self.lexer.source();
        let again = self.recovered_at.replace(unexpected.offset) == Some(unexpected.offset);
        let at_end = unexpected.offset >= source.len();
        let line = source[..unexpected.offset].rsplit(|&b| b == b'\n').next().unwrap_or(&[]);
        self.lexer.seek(unexpected.offset);
        let opens_line = line.trim_ascii().is_empty();
        if again || !opens_line {
            self.lexer.skip_line();
        }
        if again || (at_end && self.failed()) {
            return Ok(());
        }
        let hint = match at_end {
            true => "the file seems to be cut short",
            false if opens_line && unexpected.expected != "a number or `}`" => {
                "the line before it may have ended too early"
            }
            false => "",
        };
        self.error(unexpected.offset, unexpected.to_string(), context, hint)
    }

    /// The value, or `None` after [`Self::recover`].
    pub fn take<T>(
        &mut self,
        result: Result<T, Unexpected>,
        context: impl FnOnce() -> String,
    ) -> Result<Option<T>, Stop> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(unexpected) => self.recover(&unexpected, context()).map(|()| None),
        }
    }

    /// Reads `MD5Version 10`, or says what the file is instead.
    pub fn version(&mut self) -> Result<(), Stop> {
        let token = self.lexer.next_token();
        let starts = format!("an {} starts with `MD5Version 10`", self.kind.extension());
        match token.kind {
            TokenKind::End => return Err(self.fatal(0, "the file is empty", starts)),
            TokenKind::Word(word) if word.eq_ignore_ascii_case(b"MD5Version") => {}
            found => {
                let hint = self.foreign().map(str::to_owned).unwrap_or_else(|| match found {
                    TokenKind::Word(word) => hint(word, &["MD5Version"]).unwrap_or(starts),
                    _ => starts,
                });
                return Err(self.fatal(token.offset, format!("expected `MD5Version 10`, found {found}"), hint));
            }
        }
        let at = self.lexer.peek().offset;
        match self.lexer.u32() {
            Ok(10) => Ok(()),
            Ok(6) => Err(self.version_6(at)),
            Ok(version) => Err(self.fatal(at, format!("MD5 version {version} is not supported"), "only version 10 is")),
            Err(unexpected) => {
                Err(self.fatal(unexpected.offset, unexpected.to_string(), "only version 10 is supported"))
            }
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

    /// Says what a file is that does not even start like an MD5.
    fn foreign(&self) -> Option<&'static str> {
        let source = self.lexer.source();
        let head = &source[..source.len().min(512)];
        if head.starts_with(b"***") || head.starts_with(b"---") {
            Some("this looks like a text `.m3d`")
        } else if head.starts_with(b"3DMO") || head.starts_with(b"3dmodel ") {
            Some("this is a Model 3D file")
        } else if head.starts_with(b"IDP3") || head.starts_with(b"IDP2") {
            Some("this is an MD2 or MD3 file")
        } else if head.contains(&0) {
            Some("this is a binary file; MD5 is text")
        } else {
            None
        }
    }

    /// A word that opens no line here: an error where it is a known word misspelt or a file of
    /// another kind, else a warning, and its line is skipped.
    #[cold]
    pub fn unknown(&mut self, offset: usize, found: TokenKind<'a>, known: &[&str], context: &str) -> Result<(), Stop> {
        let TokenKind::Word(word) = found else {
            let list = known.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ");
            let expected = Unexpected { offset, expected: format!("one of {list}").into(), found: found.to_string() };
            return self.recover(&expected, context);
        };
        if VERSION_6.iter().any(|v| v.as_bytes().eq_ignore_ascii_case(word)) {
            return Err(self.version_6(offset));
        }
        let theirs = self.kind.other();
        let of_other = |k: &&&str| k.as_bytes().eq_ignore_ascii_case(word) && !self.kind.keywords().contains(k);
        if context.is_empty() && theirs.keywords().iter().any(|k| of_other(&k)) {
            let message = format!("this is an {}, not an {}", theirs.extension(), self.kind.extension());
            let hint = match self.kind {
                Kind::Mesh => "it holds a clip: call it .md5anim, and load the .md5mesh that it was made with",
                Kind::Anim => "it holds a model: call it .md5mesh",
            };
            return Err(self.fatal(offset, message, hint));
        }
        self.lexer.skip_line();
        if let Some(hint) = hint(word, known) {
            return self.error(offset, format!("unknown keyword {found}"), context, hint);
        }
        if word.first().is_some_and(u8::is_ascii_alphabetic) {
            self.warn(offset, format!("unknown keyword {found}; its line is skipped"), context);
            return Ok(());
        }
        self.error(offset, format!("expected a keyword, found {found}"), context, "")
    }

    /// [`Self::unknown`] at the top of the file.
    pub fn unknown_at_top(&mut self, offset: usize, found: TokenKind<'a>) -> Result<(), Stop> {
        self.unknown(offset, found, self.kind.keywords(), "")
    }

    /// Reads the rest of a `commandline` line. Quotes inside the quotes become apostrophes.
    pub fn command_line(&mut self) -> Result<String, Stop> {
        let Some(text) = self.quoted("commandline")? else { return Ok(String::new()) };
        // A quote that touches what follows it did not close the string.
        let mut ahead = self.lexer.clone();
        let touches = ahead.source().get(ahead.offset()).is_some_and(|b| !b.is_ascii_whitespace());
        let rest = ahead.rest_of_line();
        match rest.iter().rposition(|&b| b == b'"') {
            Some(last) if touches => {
                self.lexer.seek(ahead.offset());
                Ok(text + "'" + &String::from_utf8_lossy(&rest[..last]).replace('"', "'"))
            }
            _ => Ok(text),
        }
    }

    /// Reads a quoted string.
    pub fn quoted(&mut self, context: &str) -> Result<Option<String>, Stop> {
        let result = self.lexer.quoted();
        Ok(self.take(result, || context.into())?.map(|text| String::from_utf8_lossy(text).into_owned()))
    }

    /// Reads the number after a header's keyword.
    pub fn count(&mut self, context: &str) -> Result<Option<u32>, Stop> {
        let result = self.lexer.u32();
        self.take(result, || context.into())
    }

    /// Takes the brace that opens a block.
    pub fn open(&mut self, context: &str) -> Result<bool, Stop> {
        let result = self.lexer.expect(b'{');
        Ok(self.take(result, || context.into())?.is_some())
    }

    /// Takes the brace that closes a block, if it stands here; an error at the end of the file.
    pub fn close(&mut self, context: &str) -> Result<bool, Stop> {
        if self.lexer.eat(b'}') {
            return Ok(true);
        }
        if self.lexer.remaining() == 0 {
            let unexpected = self.lexer.unexpected("`}`");
            self.recover(&unexpected, context)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Whether a second document starts at the word just met; it is left unread, with a warning.
    pub fn second_document(&mut self, offset: usize, word: &[u8]) -> bool {
        let second = word.eq_ignore_ascii_case(b"MD5Version");
        if second {
            self.warn(offset, "a second document starts here; only the first is used", "");
        }
        second
    }
}

/// The keyword that `word` probably means.
fn hint(word: &[u8], known: &[&str]) -> Option<String> {
    did_you_mean(&String::from_utf8_lossy(word), known.iter().copied())
}

/// Items that carry their own number, such as `vert 12 …`.
///
/// Numbers in a row, as nearly every file has them, cost one comparison each; others are sorted at
/// the end. Nothing is allocated for a number that the file only claims.
pub(super) struct Run<T> {
    items: Vec<T>,
    /// Where the item's number stands in the file, and the number; only once one was out of order.
    order: Option<Vec<(u32, usize)>>,
    /// Offset of the first item's number.
    pub start: usize,
    /// What the file's header said.
    pub declared: Option<u32>,
    broken: bool,
}

impl<T: Copy + Default> Run<T> {
    pub fn new() -> Self {
        Self { items: Vec::new(), order: None, start: 0, declared: None, broken: false }
    }

    /// Number of items read so far.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Makes room for as many items as the header declares, up to `most`.
    pub fn reserve(&mut self, most: usize) {
        self.items.reserve_exact((self.declared.unwrap_or(0) as usize).min(most).saturating_sub(self.items.len()));
    }

    /// Adds the item called `number`, which stands at `offset`.
    #[inline]
    pub fn push(&mut self, number: u32, offset: usize, item: T) {
        if self.items.is_empty() {
            self.start = offset;
        }
        if self.order.is_some() || number as usize != self.items.len() {
            self.push_out_of_order(number, offset);
        }
        self.items.push(item);
    }

    #[cold]
    fn push_out_of_order(&mut self, number: u32, offset: usize) {
        let so_far = self.items.len() as u32;
        // Offsets of those in order are not known and never asked for: only strays are reported.
        self.order.get_or_insert_with(|| (0..so_far).map(|n| (n, 0)).collect()).push((number, offset));
    }

    /// Stands in for an item that could not be read.
    #[cold]
    pub fn push_broken(&mut self) {
        self.broken = true;
        let number = self.items.len() as u32;
        if let Some(order) = &mut self.order {
            order.push((number, 0));
        }
        self.items.push(T::default());
    }

    /// The items by number. Gaps and numbers beyond the count are errors, repetitions and a false
    /// count warnings. `None` if the items cannot be referred to.
    pub fn finish(self, reader: &mut Reader, noun: &str, header: &str, context: &str) -> Result<Option<Vec<T>>, Stop> {
        let Self { mut items, order, start, declared, broken } = self;
        if broken {
            return Ok(None);
        }
        if let Some(order) = order {
            let mut by_number: Vec<usize> = (0..order.len()).collect();
            by_number.sort_by_key(|&i| order[i].0);
            by_number.dedup_by(|b, a| {
                let same = order[*a].0 == order[*b].0;
                if same {
                    let (number, offset) = order[*b];
                    reader.warn(
                        offset.max(order[*a].1),
                        format!("{noun} {number} is given twice; the first is used"),
                        context,
                    );
                }
                same
            });
            let gap = by_number.iter().enumerate().find(|&(n, &i)| order[i].0 as usize != n);
            if let Some((expected, &behind)) = gap {
                let beyond = |&&i: &&usize| declared.is_some_and(|count| order[i].0 >= count);
                let stray = by_number.iter().find(beyond).copied().unwrap_or(behind);
                let (number, offset) = order[stray];
                let offset = if offset > 0 { offset } else { start };
                let message = match declared {
                    Some(count) if number >= count => format!("{noun} {number} is out of range: `{header}` is {count}"),
                    _ => format!("{noun} {number} is given, but {noun} {expected} is missing"),
                };
                reader.error(offset, message, context, "")?;
                return Ok(None);
            }
            items = by_number.iter().map(|&i| items[i]).collect();
        }
        if let Some(declared) = declared.filter(|&d| d as usize != items.len()) {
            let message = format!("`{header}` is {declared}, but {} follow", items.len());
            reader.warn(start, message, context);
        }
        Ok(Some(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelled_keyword_is_an_error_and_another_word_is_not() {
        assert_eq!(hint(b"numvert", &["numtris", "numverts"]).as_deref(), Some("did you mean `numverts`?"));
        assert_eq!(hint(b"MESH", &["mesh"]).as_deref(), Some("did you mean `mesh`?"));
        assert_eq!(hint(b"wieght", &["vert", "weight"]).as_deref(), Some("did you mean `weight`?"));
        assert_eq!(hint(b"material", &["vert", "mesh"]), None);
    }

    #[test]
    fn numbered_items_are_sorted_and_gaps_are_errors() {
        let run = |numbers: &[u32]| {
            let mut reader = Reader::new("f", b"x", Kind::Mesh);
            let mut run = Run::new();
            for &n in numbers {
                run.push(n, 0, n);
            }
            let items = run.finish(&mut reader, "vert", "numverts", "").unwrap();
            (items, reader.finish(()).map_or(0, |parsed| parsed.warnings.len()))
        };
        assert_eq!(run(&[0, 1, 2]), (Some(vec![0, 1, 2]), 0));
        assert_eq!(run(&[2, 0, 1]), (Some(vec![0, 1, 2]), 0));
        assert_eq!(run(&[0, 1, 1]), (Some(vec![0, 1]), 1));
        assert_eq!(run(&[0, 2]), (None, 0));
        assert_eq!(run(&[u32::MAX]), (None, 0));
    }
}
