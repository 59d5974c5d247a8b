//! Reading `.m3d`.

use super::M3d;
use crate::format::{FormatError, Parsed};

/// Reads an `.m3d` file. `file` is its name for reports.
pub fn parse(_file: &str, _source: &[u8]) -> Result<Parsed<M3d>, FormatError> {
    todo!()
}
