//! The common part of the parsers: a lexer, a reporter, and recovery after errors.

use super::{Lexer, Reporter, Unexpected};
use std::borrow::Cow;

/// The hint for a file that ends too early.
pub(crate) const CUT_OFF: &str = "the file may be cut off: export or download it again";

/// A parser's position and findings. A parser continues after an error, so that one run names every fault of a
/// file, up to [`MAX_ERRORS`](super::FormatError::MAX_ERRORS).
pub(super) struct Reader<'a, S> {
    pub lexer: Lexer<'a>,
    pub report: Reporter<'a>,
    /// State that one format adds.
    pub state: S,
}

impl<'a, S> Reader<'a, S> {
    /// Makes a reader at the start of what `lexer` reads; `file` is its name in reports.
    pub fn new(file: &str, lexer: Lexer<'a>, state: S) -> Self {
        Self {
            report: Reporter::new(file, lexer.source()),
            lexer,
            state,
        }
    }

    /// Returns the source from here on.
    pub fn rest(&self) -> &'a [u8] {
        &self.lexer.source()[self.lexer.offset()..]
    }

    /// Reports the token that broke off the item that began at `since`, and skips the rest of its
    /// line. A token at the start of a later line is not skipped: it was the line before that ended
    /// early, and the token may be right.
    #[cold]
    pub fn recover(&mut self, since: usize, unexpected: &Unexpected, context: impl Into<String>) {
        let (source, at) = (self.lexer.source(), unexpected.offset);
        let item = source.get(since..at).unwrap_or_default();
        let line = item
            .iter()
            .rposition(|&b| b == b'\n')
            .map(|end| &item[end..]);
        let ended_early = line.is_some_and(|line| line.trim_ascii().is_empty());
        self.lexer.seek(at);
        if !ended_early {
            self.lexer.skip_line();
        }
        let at_end = at >= source.trim_ascii_end().len();
        // An error at the end is usually a consequence of the one before.
        if at_end && self.report.failed() {
            return;
        }
        let error = self.report.error(at, unexpected.to_string());
        error.context = context.into();
        error.hint = match (at_end, ended_early) {
            (true, _) => CUT_OFF.into(),
            (false, true) => "the line before it may have ended too early".into(),
            (false, false) => String::new(),
        };
    }

    /// Reports that something other than `expected` comes next, and skips its line.
    pub fn unexpected_here(
        &mut self,
        expected: impl Into<Cow<'static, str>>,
        context: impl Into<String>,
    ) {
        let unexpected = self.lexer.unexpected(expected);
        self.recover(unexpected.offset, &unexpected, context);
    }
}
