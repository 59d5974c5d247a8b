//! The file formats: the contents of files as they are, without interpretation.
//!
//! Each format has a plain struct for its contents, a parser that reports [`Diagnostic`]s, and a writer whose
//! output parses back to the same struct. Parsers return [`Checked`] documents, whose indices are all in range.
//! [`crate::import`] makes models of them.

mod checked;
mod diagnostic;
mod lexer;
pub(crate) mod m3d;
pub(crate) mod md5;
mod reader;
mod sniff;

pub(crate) use diagnostic::line_and_column;
pub use diagnostic::{Diagnostic, FormatError, Parsed, Severity};
pub(crate) use internals::*;
pub(crate) use sniff::{TextKind, refuse_foreign, without_bom};

use diagnostic::Reporter;
use lexer::{Lexer, Token, TokenKind, Unexpected};

/// What the crate and its tools use, but no app: see [`crate::internals`].
pub(crate) mod internals {
    pub use crate::format::checked::{Checked, Document, DocumentError};
}
