//! The checks of the tests, for the fuzz targets.

#[path = "../tests/core/fuzz/checks.rs"]
pub mod checks;
#[path = "../tests/core/fuzz/choices.rs"]
pub mod choices;
