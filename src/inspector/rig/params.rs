//! Entities of the world that rigs aim at.

use crate::character::{IkLimb, IkWeight};
use bevy::{
    ecs::{name::NameOrEntity, system::SystemParam},
    prelude::*,
};

/// On goals and poles that the panel spawned; it despawns them when they are removed.
#[derive(Component)]
pub(super) struct SpawnedByPanel;

/// Goals, and the entities that they and characters aim at, as the tab reads and changes them.
#[derive(SystemParam)]
pub(in super::super) struct RigParams<'w, 's> {
    pub(super) goals: Query<'w, 's, (&'static mut IkLimb, &'static mut IkWeight)>,
    pub(super) places: Query<'w, 's, &'static GlobalTransform>,
    pub(super) names: Query<'w, 's, NameOrEntity>,
    pub(super) named: Query<'w, 's, (Entity, &'static Name), With<GlobalTransform>>,
    pub(super) spawned: Query<'w, 's, (), With<SpawnedByPanel>>,
}
