//! `bevy_marionette`, with the controller of `agenda`.

pub use bevy_marionette::{agenda as controller, controller as original, *};
