use crate::format::{FormatError, Parsed};

/// `line:column: message (context)` of each error.
pub(super) fn errors<T: std::fmt::Debug>(result: Result<Parsed<T>, FormatError>) -> Vec<String> {
    let error = result.expect_err("a file with errors");
    error
        .errors()
        .map(|d| format!("{}:{}: {} ({})", d.line, d.column, d.message, d.context))
        .collect()
}

/// `line: message` of each warning.
pub(super) fn warnings<T>(result: Result<Parsed<T>, FormatError>) -> Vec<String> {
    let parsed = result.unwrap_or_else(|e| panic!("{e}"));
    parsed
        .warnings
        .iter()
        .map(|d| format!("{}: {}", d.line, d.message))
        .collect()
}
