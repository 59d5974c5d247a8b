//! Things carried by joints.

use super::{CharacterParts, ModelPose, SkinnedCharacter};
use crate::asset::{Character, Socket};
use bevy::{
    ecs::{entity::Entities, system::SystemParam},
    prelude::*,
};
use glam::Affine3A;

/// Put on any entity: a joint of a character carries it.
///
/// The entity becomes a child of the character, and its `Transform` follows the socket before transforms
/// are propagated, so it is never a frame late: its world matrix is `character · joint · socket · offset`.
/// (A shear, which turned joints under unevenly scaled ones have, does not fit into a `Transform` and is lost.)
/// To hang it elsewhere or move it in its socket, insert the component anew.
/// Like any child it goes with the character when that is despawned; removing this component lets it stay
/// where it is, as a plain child.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::prelude::*;
/// # fn arm(mut commands: Commands, character: Entity, sword: Handle<Mesh>) {
/// commands.spawn((
///     SocketOf::new(character, "right_hand").at(Transform::from_xyz(0.0, 0.1, 0.0)),
///     Mesh3d(sword),
/// ));
/// # }
/// ```
#[derive(Component, Clone, Debug, PartialEq)]
#[relationship(relationship_target = Carries)]
#[require(Transform, Visibility, ResolvedSocket)]
pub struct SocketOf {
    /// The character.
    #[relationship]
    pub character: Entity,
    /// A socket of the manifest, or the name of a joint.
    pub socket: String,
    /// Where the entity sits in the socket's space.
    pub offset: Transform,
}

/// On a character: the entities its joints carry. Kept by [`SocketOf`].
#[derive(Component, Debug, Default)]
#[relationship_target(relationship = SocketOf)]
pub struct Carries(Vec<Entity>);

/// What a socket's name meant in one version of a character's asset.
#[derive(Component, Clone, Debug, Default)]
pub(super) struct ResolvedSocket {
    /// 0 before the first look; no asset has that version.
    version: u64,
    socket: Option<Socket>,
}

impl SocketOf {
    /// Carried by a socket or joint of `character`.
    pub fn new(character: Entity, socket: impl Into<String>) -> Self {
        Self { character, socket: socket.into(), offset: Transform::IDENTITY }
    }

    /// At a place in the socket's space.
    pub fn at(self, offset: Transform) -> Self {
        Self { offset, ..self }
    }
}

/// Makes what is carried a child at once: one that changes hands outlives a holder who goes right after.
pub(super) fn adopt(
    inserted: On<Insert, SocketOf>,
    carried: Query<&SocketOf>,
    entities: &Entities,
    mut commands: Commands,
) {
    if let Ok(socket_of) = carried.get(inserted.entity)
        && entities.contains_spawned(socket_of.character)
    {
        commands.entity(inserted.entity).try_insert(ChildOf(socket_of.character));
    }
}

pub(super) fn attach(
    mut commands: Commands,
    assets: Res<Assets<Character>>,
    characters: Query<(&SkinnedCharacter, &CharacterParts, &ModelPose)>,
    mut carried: Query<(Entity, Ref<SocketOf>, &mut ResolvedSocket, &mut Transform, Option<&ChildOf>)>,
) {
    for (entity, socket_of, mut resolved, mut transform, parent) in &mut carried {
        if parent.is_none_or(|parent| parent.parent() != socket_of.character) {
            commands.entity(entity).try_insert(ChildOf(socket_of.character));
        }
        if socket_of.is_changed() {
            *resolved = ResolvedSocket::default();
        }
        let Ok((handle, parts, pose)) = characters.get(socket_of.character) else { continue };
        let Some(version) = parts.version else { continue };
        if resolved.version != version {
            let Some(character) = assets.get(handle.id()) else { continue };
            let socket = character.socket(&socket_of.socket);
            if socket.is_none() {
                warn_missing(character, &socket_of.socket);
            }
            *resolved = ResolvedSocket { version, socket };
        }
        let socket = resolved.socket;
        if let Some(socket) = socket
            && let Some(joint) = pose.joint(socket.joint)
        {
            let place = *joint * socket.offset * socket_of.offset.compute_affine();
            transform.set_if_neq(transform_of(place));
        }
    }
}

fn transform_of(affine: Affine3A) -> Transform {
    let (scale, rotation, translation) = affine.to_scale_rotation_translation();
    Transform { translation, rotation, scale }
}

fn warn_missing(character: &Character, name: &str) {
    let near = character.skeleton.nearest_name(name);
    let hint = near.map(|near| format!(": did you mean `{near}`?")).unwrap_or_else(|| {
        let sockets: Vec<_> = character.sockets.keys().map(|s| format!("`{s}`")).collect();
        if sockets.is_empty() { String::new() } else { format!("; its sockets are {}", sockets.join(", ")) }
    });
    warn!("the character has no socket or joint `{name}`{hint}");
}

/// System parameter that answers where a character's joints are.
///
/// Poses are evaluated in `PostUpdate`; before that, and for characters out of view, the answer is the
/// last pose seen.
#[derive(SystemParam)]
pub struct JointTransforms<'w, 's> {
    assets: Res<'w, Assets<Character>>,
    characters: Query<'w, 's, (&'static SkinnedCharacter, &'static ModelPose, &'static GlobalTransform)>,
}

impl JointTransforms<'_, '_> {
    /// World transform of a socket or joint; `None` while the asset is not there, or without such a joint.
    pub fn joint_transform(&self, character: Entity, socket_or_joint: &str) -> Option<GlobalTransform> {
        let (handle, pose, world) = self.characters.get(character).ok()?;
        let socket = self.assets.get(handle.id())?.socket(socket_or_joint)?;
        let place = world.affine() * *pose.joint(socket.joint)? * socket.offset;
        Some(place.into())
    }
}
