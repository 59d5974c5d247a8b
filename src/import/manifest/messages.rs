//! Error messages about manifests, in words for artists.

use crate::{
    format::{Diagnostic, line_and_column},
    spelling::did_you_mean,
};
use ron::error::SpannedError;

/// The deepest nesting of lists and structs.
pub(super) const NESTING: usize = 64;

/// Converts an error of RON's parser to a diagnostic like this crate's others.
pub(super) fn misread(file: &str, source: &[u8], error: &SpannedError) -> Diagnostic {
    let (message, mut hint) = explain(&error.code, source);
    let at = error.span.start;
    let diagnostic = Diagnostic::error(file, message).at(source, at.line as u32, at.col as u32);
    // RON reports what is missing, but not that the file ended.
    let (end_line, end_column) = line_and_column(source, source.trim_ascii_end().len());
    let at_end =
        (error.span.end.line, error.span.end.col) >= (end_line as usize, end_column as usize);
    // A missing field is found at the end of a struct, which may be that of the file.
    if at_end
        && !matches!(
            error.code,
            ron::Error::MissingStructField { .. } | ron::Error::TrailingCharacters
        )
    {
        hint = "the file seems to be truncated, or a bracket is not closed".into();
    }
    if hint.is_empty() {
        diagnostic
    } else {
        diagnostic.with_hint(hint)
    }
}

fn explain(error: &ron::Error, source: &[u8]) -> (String, String) {
    use ron::Error;
    let did_you_mean = |found: &str, known: &'static [&'static str]| {
        did_you_mean(found, known.iter().copied()).unwrap_or_else(|| {
            format!(
                "there are {}",
                known
                    .iter()
                    .map(|name| format!("`{name}`"))
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        })
    };
    match error {
        Error::NoSuchStructField {
            expected, found, ..
        } => (
            format!("unknown field `{found}`"),
            did_you_mean(found, expected),
        ),
        Error::NoSuchEnumVariant {
            expected, found, ..
        } => (
            format!("unknown value `{found}`"),
            did_you_mean(found, expected),
        ),
        Error::MissingStructField { field, .. } => {
            let hint = match *field {
                "model" => {
                    "every manifest names a model: `model: \"character.md5mesh\"`".to_owned()
                }
                field => format!("add `{field}: …`"),
            };
            (format!("missing field `{field}`"), hint)
        }
        Error::DuplicateStructField { field, .. } => {
            (format!("duplicate field `{field}`"), String::new())
        }
        Error::ExpectedNamedStructLike(_) | Error::ExpectedStructLike
            if source.trim_ascii_start().starts_with(b"{") =>
        {
            let hint = "a manifest is RON, not JSON: `(model: \"character.md5mesh\")`, names without quotes";
            ("expected `(`, found `{`".to_owned(), hint.to_owned())
        }
        Error::ExpectedNamedStructLike(_) | Error::ExpectedStructLike => {
            ("expected `(`".to_owned(), String::new())
        }
        Error::ExpectedComma => (
            "expected `,` or a closing bracket".to_owned(),
            "a comma may be missing before this".to_owned(),
        ),
        Error::ExpectedFloat | Error::ExpectedInteger => {
            ("expected a number".to_owned(), String::new())
        }
        Error::ExpectedString => ("expected text in double quotes".to_owned(), String::new()),
        Error::ExceededRecursionLimit => (
            format!("brackets are nested more than {NESTING} deep"),
            String::new(),
        ),
        // RON's messages begin with a capital letter, and ours don't.
        other => {
            let text = other.to_string();
            let mut letters = text.chars();
            let first = letters
                .next()
                .map(|c| c.to_lowercase().to_string())
                .unwrap_or_default();
            (first + letters.as_str(), String::new())
        }
    }
}
