//! The `marionette` program as a user runs it: on files written here, judged by what it prints, how it
//! exits, and, for `pose`, by the formats' own formulas reckoned here in double precision.

mod arm;
mod bake;
mod bar;
mod convert;
mod files;
#[cfg(feature = "gltf")]
mod gltf;
mod import;
mod inspect;
#[path = "../../src/tests/messages.rs"]
mod messages;
mod pose;
mod replay;
mod support;
mod usage;
mod validate;
