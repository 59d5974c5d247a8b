//! Reading `.md5mesh`.

use super::Md5Mesh;
use crate::format::{FormatError, Parsed};

/// Reads an `.md5mesh` file. `file` is its name for reports.
pub fn parse_mesh(_file: &str, _source: &[u8]) -> Result<Parsed<Md5Mesh>, FormatError> {
    todo!()
}
