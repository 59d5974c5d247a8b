//! Errors and warnings whose place is a path in the file, such as `animations[3].channels[12]`.

use super::names::listed;
use crate::format::{Diagnostic, FormatError};

/// Collects the warnings about a file.
pub(super) struct Report<'a> {
    pub(super) file: &'a str,
    warnings: Vec<Diagnostic>,
    left_out: usize,
}

impl<'a> Report<'a> {
    pub(super) fn new(file: &'a str) -> Self {
        Self {
            file,
            warnings: Vec::new(),
            left_out: 0,
        }
    }

    /// Adds a warning. An empty place means the file as a whole. Warnings beyond
    /// [`FormatError::MAX_WARNINGS`] are only counted.
    pub(super) fn warn(&mut self, place: &str, message: impl Into<String>, hint: &str) {
        self.extend([Diagnostic::warning(self.file, message)
            .with_context(place)
            .with_hint(hint)]);
    }

    /// Adds a warning about some things, which it lists by name, unless there are none.
    pub(super) fn warn_of<N: AsRef<str>>(
        &mut self,
        place: &str,
        what: &str,
        names: impl IntoIterator<Item = N>,
        hint: &str,
    ) {
        let names: Vec<N> = names.into_iter().collect();
        if !names.is_empty() {
            let names = listed(names.iter().map(AsRef::as_ref));
            self.warn(place, format!("{what}: {names}"), hint);
        }
    }

    pub(super) fn extend(&mut self, warnings: impl IntoIterator<Item = Diagnostic>) {
        for warning in warnings {
            if self.warnings.len() + 1 < FormatError::MAX_WARNINGS {
                self.warnings.push(warning);
            } else {
                self.left_out += 1;
            }
        }
    }

    /// Adds the warnings of another report on the same file.
    #[cfg(feature = "gltf")]
    pub(super) fn append(&mut self, other: Self) {
        self.extend(other.warnings);
        self.left_out += other.left_out;
    }

    /// Makes an error.
    pub(super) fn error(&self, place: &str, message: impl Into<String>, hint: &str) -> FormatError {
        FormatError::one(
            Diagnostic::error(self.file, message)
                .with_context(place)
                .with_hint(hint),
        )
    }

    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        if self.left_out > 0 {
            let message = format!("{} more warnings are not listed", self.left_out);
            self.warnings.push(Diagnostic::warning(self.file, message));
        }
        self.warnings
    }
}
