//! The text formats, and the [`Diagnostic`]s that say what is wrong with a file of any format, and where.
//!
//! To read a file, use [`open_model`](crate::import::open_model).

mod checked;
mod diagnostic;
mod lexer;
pub(crate) mod m3d;
pub(crate) mod md5;
pub(crate) mod reader;
mod sniff;

pub(crate) use diagnostic::line_and_column;
pub use diagnostic::{Diagnostic, FormatError, Severity};
pub(crate) use internals::*;
pub(crate) use sniff::{TextKind, refuse_foreign, without_bom};

use diagnostic::Reporter;
use lexer::{Lexer, Token, TokenKind, Unexpected};

/// The contents of files as they are, without interpretation; [`crate::import`] makes models of them.
///
/// Each format has a plain struct for its contents, a parser that reports [`Diagnostic`]s, and a writer whose output
/// parses back to the same struct. Parsers return [`Checked`] documents, whose indices are all in range.
pub(crate) mod internals {
    pub use crate::format::{
        checked::{Checked, Document},
        diagnostic::Parsed,
    };
}
