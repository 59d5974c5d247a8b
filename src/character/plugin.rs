//! The plugin that is the core of playing characters.

use super::{
    CharacterSystems, PoseCounts, Steering, advance, bounds, dirty_palettes::DirtyPalettes,
    evaluate, mesh_swap, morphs, pose_state, sharing::SharedPoses, spawn, steering, systems,
};
use crate::asset::CharacterAssetPlugin;
use bevy::{ecs::schedule::InternedScheduleLabel, prelude::*};

/// Plays characters: spawns their parts, advances their controllers and poses them.
///
/// Part of [`MarionettePlugins`](crate::MarionettePlugins), beside the plugins for optional
/// features.
///
/// Skipping a system costs next to nothing. Running one that finds nothing to do costs
/// microseconds, because Bevy hands it to a thread nonetheless. So each has a condition where it is
/// added.
pub(crate) struct CharacterPlugin {
    schedule: InternedScheduleLabel,
}

impl CharacterPlugin {
    /// Advances controllers in a schedule.
    pub(crate) fn new(schedule: InternedScheduleLabel) -> Self {
        Self { schedule }
    }

    /// Returns the schedule in which an app's controllers advance. `None` if no plugin that plays characters was added yet.
    pub(crate) fn schedule_in(app: &App) -> Option<InternedScheduleLabel> {
        let plugins = app.get_added_plugins::<Self>();
        Some(plugins.first()?.schedule)
    }
}

impl Plugin for CharacterPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<CharacterAssetPlugin>() {
            app.add_plugins(CharacterAssetPlugin);
        }
        app.register_type::<PoseCounts>()
            .init_resource::<PoseCounts>()
            .init_resource::<pose_state::FrameNumber>()
            .init_resource::<pose_state::EventPlaces>()
            .init_resource::<SharedPoses>()
            .init_resource::<DirtyPalettes>();
        systems::configure(app, self.schedule);
        app.add_plugins((
            spawn::plugin,
            bounds::plugin,
            evaluate::plugin,
            mesh_swap::plugin,
            morphs::plugin,
        ));
        advance::build(app, self.schedule);
        app.register_type::<Steering>().add_systems(
            self.schedule,
            steering::steer
                .before(CharacterSystems::Advance)
                .run_if(any_with_component::<Steering>),
        );
    }

    fn finish(&self, app: &mut App) {
        // Without a clock, controllers would never advance, and nothing would say why.
        assert!(
            app.world().contains_resource::<Time>(),
            "`MarionettePlugins` needs a clock: add `DefaultPlugins`, `MinimalPlugins` or Bevy's `TimePlugin`"
        );
    }
}
