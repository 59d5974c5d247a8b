//! `.m3d` → model, and model → `.m3d`.

use super::{ImportSettings, Imported};
use crate::{
    format::{FormatError, m3d::M3d},
    model::Model,
};

/// Makes a model of an `.m3d` file; `file` is its name for reports.
pub fn from_m3d(_file: &str, _m3d: &M3d, _settings: &ImportSettings) -> Result<Imported, FormatError> {
    todo!()
}

/// The model as an `.m3d` file, right-handed and Y up.
pub fn to_m3d(_model: &Model) -> M3d {
    todo!()
}
