//! The plugin for what characters wear and hold, and how their parts look.

use super::{attach, part_overrides, worn};
use bevy::prelude::*;

/// Attaches entities to joints ([`AttachedTo`](super::AttachedTo)), dresses characters in others
/// ([`WornBy`](super::WornBy)), and hides parts or changes their materials ([`PartOverrides`](super::PartOverrides),
/// [`WeightView`](super::WeightView)).
///
/// Part of [`MarionettePlugins`](crate::MarionettePlugins).
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::DressingPlugin, prelude::*};
/// // On a server, armor is a number.
/// App::new().add_plugins((
///     MinimalPlugins,
///     AssetPlugin::default(),
///     TransformPlugin,
///     MarionettePlugins::default().build().disable::<DressingPlugin>(),
/// ));
/// ```
pub struct DressingPlugin;

impl Plugin for DressingPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins((attach::plugin, worn::plugin, part_overrides::plugin));
    }
}
