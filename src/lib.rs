//! Skinned characters for Bevy.

pub mod controller;
pub mod format;
pub mod import;
pub mod model;
pub mod pose;
