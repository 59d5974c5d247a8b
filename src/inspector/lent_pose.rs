//! The pose of the character that the panel shows. An ordinary character's pose is stored nowhere, so the panel adds a
//! [`ModelPose`] to read, and takes it back when it shows another character or nothing.

use super::Inspector;
use crate::character::ModelPose;
use bevy::{
    ecs::{
        component::{ComponentId, ComponentInfo, Components},
        lifecycle::HookContext,
        world::DeferredWorld,
    },
    prelude::*,
};

/// On a character that has its [`ModelPose`] from the panel.
#[derive(Component)]
pub(super) struct LentPose;

/// Gives a character a pose.
pub(super) fn lend(character: Entity, commands: &mut Commands) {
    let mut character = commands.entity(character);
    // The mark comes later: a pose that is inserted on top of it is the game's.
    character.try_insert(ModelPose::default());
    character.try_insert(LentPose);
}

/// Notices when a game inserts a pose itself. By a hook, because observers of insertion are written otherwise in Bevy 0.20.
pub(super) fn watch(world: &mut World) {
    world
        .register_component_hooks::<ModelPose>()
        .on_insert(leave_to_game);
}

/// Leaves the pose to a game that inserts one itself.
fn leave_to_game(mut world: DeferredWorld, inserted: HookContext) {
    if world.get::<LentPose>(inserted.entity).is_some() {
        let mut commands = world.commands();
        commands.entity(inserted.entity).try_remove::<LentPose>();
    }
}

/// Takes poses back from characters that the panel doesn't show any more, unless another component requires them.
pub(super) fn take_back(
    inspector: Res<Inspector>,
    components: &Components,
    lent: Query<EntityRef, With<LentPose>>,
    mut commands: Commands,
) {
    let shown = inspector.character.filter(|_| inspector.open);
    let pose = components.component_id::<ModelPose>();
    for character in lent.iter().filter(|lent| Some(lent.id()) != shown) {
        let requires_pose = |component: &ComponentId| {
            let required = components
                .get_info(*component)
                .map(ComponentInfo::required_components);
            required.is_some_and(|required| required.iter_ids().any(|id| Some(id) == pose))
        };
        let is_required = character.archetype().components().iter().any(requires_pose);
        let mut character = commands.entity(character.id());
        character.try_remove::<LentPose>();
        if !is_required {
            character.try_remove::<ModelPose>();
        }
    }
}
