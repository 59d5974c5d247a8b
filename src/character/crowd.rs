//! The plugin for crowds.

use super::{
    CharacterSystems,
    lod::{self, AnimationLod},
    sharing::{self, PoseSharing},
};
use bevy::prelude::*;

/// Makes crowds cheaper: [`PoseSharing`] and [`AnimationLod`].
///
/// Part of [`MarionettePlugins`](crate::MarionettePlugins).
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::{AnimationLod, PoseSharing}, prelude::*};
/// App::new()
///     .add_plugins((DefaultPlugins, MarionettePlugins::default()))
///     .insert_resource(PoseSharing::Lossless)
///     .register_required_components::<SkinnedCharacter, AnimationLod>();
/// ```
pub struct CrowdPlugin;

impl Plugin for CrowdPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<PoseSharing>()
            .register_type::<AnimationLod>()
            .init_resource::<PoseSharing>()
            .add_systems(
                PostUpdate,
                (
                    lod::choose
                        .run_if(any_with_component::<AnimationLod>)
                        .in_set(CharacterSystems::ChooseDetail),
                    sharing::share
                        .run_if(not(resource_equals(PoseSharing::Off)))
                        .in_set(CharacterSystems::SharePoses),
                ),
            );
    }
}
