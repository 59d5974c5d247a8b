//! Characters whose hair, ears and tails swing.

use super::super::{
    components::{CharacterParts, SkinnedCharacter},
    sharing::PoseSharing,
    worn::WornBy,
};
use crate::{asset::Character, rig::RigState};
use bevy::prelude::*;

/// The weight of a character's springs.
///
/// Characters get it with their parts if their manifest has [`springs`](crate::import::Manifest::springs), unless
/// [`PoseSharing`] is on: springs need a pose of their own in every frame. With this component, they have springs then,
/// too. Spawn a character with a weight of 0 to have it without springs and without their cost:
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{asset::Character, character::SpringBones, prelude::*};
/// # fn spawn(mut commands: Commands, hound: Handle<Character>) {
/// commands.spawn((SkinnedCharacter(hound), SpringBones { weight: 0.0 }));
/// # }
/// ```
///
/// [`Wind`](crate::rig::Wind) and [`SpringGravity`] act on the springs of all characters. Their
/// state is in [`RigState`]. A character with [`Teleported`](super::super::Teleported)
/// takes its springs along.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Default, PartialEq)]
pub struct SpringBones {
    /// The share of the swing that joints show, 0..=1. At 0, springs that swing keep swinging unseen, at full cost, so that they
    /// can be faded in again.
    pub weight: f32,
}

impl Default for SpringBones {
    fn default() -> Self {
        Self { weight: 1.0 }
    }
}

/// The gravity that acts on springs, in world units per second squared. The default is 9.81 m/s², downward.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::character::SpringGravity;
/// # let mut app = App::new();
/// // On the moon.
/// app.insert_resource(SpringGravity(Vec3::NEG_Y * 1.62));
/// ```
#[derive(Resource, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Resource, Clone, Default, PartialEq)]
pub struct SpringGravity(pub Vec3);

impl Default for SpringGravity {
    fn default() -> Self {
        Self(Vec3::new(0.0, -9.81, 0.0))
    }
}

/// Gives a rig to characters whose asset has springs, or joints that follow others.
///
/// Only runs in frames in which there are asset events, new parts, changed springs, or sharing is switched.
pub(in crate::character) fn add_springs(
    mut commands: Commands,
    mut events: MessageReader<AssetEvent<Character>>,
    assets: Res<Assets<Character>>,
    sharing: Option<Res<PoseSharing>>,
    characters: Query<
        (
            Entity,
            &SkinnedCharacter,
            Ref<CharacterParts>,
            Option<Ref<SpringBones>>,
        ),
        (Without<RigState>, Without<WornBy>),
    >,
    rigged: Query<
        (Entity, &SkinnedCharacter, Ref<CharacterParts>),
        (With<RigState>, Without<SpringBones>, Without<WornBy>),
    >,
) {
    // Read even if nothing comes of them, so that they don't count again in the next frame.
    let any =
        events.read().count() > 0 || sharing.as_ref().is_some_and(|sharing| sharing.is_changed());
    let is_off = sharing.is_none_or(|sharing| *sharing == PoseSharing::Off);
    let has = |handle: &SkinnedCharacter, springs: bool| {
        let asset = assets.get(handle.id());
        asset.is_some_and(|of| match springs {
            true => of.springs.is_some(),
            false => of.constraints.is_some(),
        })
    };
    for (entity, handle, parts, springs) in &characters {
        if !any
            && !parts.is_changed()
            && !springs.as_ref().is_some_and(|springs| springs.is_changed())
        {
            continue;
        }
        let is_wanted = match springs {
            Some(springs) => springs.weight > 0.0,
            None => is_off,
        };
        if is_wanted && has(handle, true) {
            commands
                .entity(entity)
                .try_insert(RigState::default())
                // A weight that the game chose stays.
                .try_insert_if_new(SpringBones::default());
        } else if is_off && has(handle, false) {
            commands.entity(entity).try_insert(RigState::default());
        }
    }
    for (entity, handle, parts) in &rigged {
        // A character may have got its rig from a goal before its asset loaded.
        if (any || parts.is_changed()) && has(handle, true) {
            commands
                .entity(entity)
                .try_insert_if_new(SpringBones::default());
        }
    }
}
