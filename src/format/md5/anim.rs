//! Reading `.md5anim`.

use super::Md5Anim;
use crate::format::{FormatError, Parsed};

/// Reads an `.md5anim` file. `file` is its name for reports.
pub fn parse_anim(_file: &str, _source: &[u8]) -> Result<Parsed<Md5Anim>, FormatError> {
    todo!()
}
