//! The plugin group.

use crate::{asset::CharacterAssetPlugin, character::CharacterPlugin, render::PalettePlugin};
use bevy::{
    app::{PluginGroup, PluginGroupBuilder},
    ecs::schedule::ScheduleLabel,
};

/// All plugins that an app with characters needs. Add it after Bevy's plugins.
///
/// * [`CharacterAssetPlugin`] loads characters.
/// * [`CharacterPlugin`] plays them.
/// * [`PalettePlugin`] draws them.
///
/// The inspector and picking have plugins of their own, which are added beside it.
#[derive(Default)]
pub struct MarionettePlugins;

impl MarionettePlugins {
    /// The plugins, with controllers advancing in a schedule other than `PostUpdate`; see
    /// [`CharacterPlugin::new`].
    ///
    /// ```no_run
    /// # use bevy::prelude::*;
    /// # use bevy_marionette::prelude::*;
    /// App::new().add_plugins((DefaultPlugins, MarionettePlugins::new(FixedUpdate)));
    /// ```
    #[expect(
        clippy::new_ret_no_self,
        reason = "a plugin group is added as its builder"
    )]
    pub fn new(schedule: impl ScheduleLabel) -> PluginGroupBuilder {
        Self.set(CharacterPlugin::new(schedule))
    }
}

impl PluginGroup for MarionettePlugins {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>()
            .add(CharacterAssetPlugin)
            .add(CharacterPlugin::default())
            .add(PalettePlugin)
    }
}
