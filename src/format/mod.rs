//! What a file says, and nothing more.
//!
//! One [`Lexer`] over bytes serves every text format; each format has a plain struct for its
//! contents, a parser that answers with [`Diagnostic`]s, and a writer whose output parses back to
//! the same struct. Axes, hands, skeletons and meshes are the concern of [`crate::import`].

mod checked;
mod diagnostic;
mod lexer;
pub mod m3d;
pub mod md5;

pub use checked::{Checked, Document, DocumentError};
pub(crate) use diagnostic::line_and_column;
pub use diagnostic::{Diagnostic, FormatError, Parsed, Reporter, Severity};
pub use lexer::{Lexer, Token, TokenKind, Unexpected};
