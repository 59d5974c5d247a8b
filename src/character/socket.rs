//! Things carried by joints.

use super::{CharacterParts, ModelPose, SkinnedCharacter, redraw::Poses};
use crate::{
    asset::{Character, Socket},
    pose::{Palette, Scratch},
};
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
///     AttachedTo::new(character, "right_hand").at(Transform::from_xyz(0.0, 0.1, 0.0)),
///     Mesh3d(sword),
/// ));
/// # }
/// ```
#[derive(Component, Clone, Debug, PartialEq)]
#[relationship(relationship_target = Attachments)]
#[require(Transform, Visibility, ResolvedSocket)]
pub struct AttachedTo {
    /// The character.
    #[relationship]
    pub character: Entity,
    /// A socket of the manifest, or the name of a joint.
    pub socket: String,
    /// Where the entity sits in the socket's space.
    pub offset: Transform,
}

/// On a character: the entities its joints carry. Kept by [`AttachedTo`].
#[derive(Component, Debug, Default)]
#[relationship_target(relationship = AttachedTo)]
#[require(ModelPose)]
pub struct Attachments(Vec<Entity>);

/// What a socket's name meant in one version of a character's asset.
#[derive(Component, Clone, Debug, Default)]
pub(super) struct ResolvedSocket {
    /// 0 before the first look; no asset has that version.
    version: u64,
    socket: Option<Socket>,
}

impl AttachedTo {
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
    inserted: On<Insert, AttachedTo>,
    carried: Query<&AttachedTo>,
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
    mut carried: Query<(Entity, Ref<AttachedTo>, &mut ResolvedSocket, &mut Transform, Option<&ChildOf>)>,
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
/// Poses follow what plays in `PostUpdate`; before that the answer is the frame before's. A character that
/// keeps a [`ModelPose`](super::ModelPose) answers with that, which out of view is the last pose seen. For any
/// other the pose is worked out anew with each question, which takes about a microsecond.
#[derive(SystemParam)]
pub struct CharacterPoses<'w, 's> {
    poses: Poses<'w, 's>,
}

impl CharacterPoses<'_, '_> {
    /// World transform of a socket or joint; `None` while the asset is not there, or without such a joint.
    pub fn joint_transform(&self, character: Entity, socket_or_joint: &str) -> Option<GlobalTransform> {
        let of_joint = |character: &Character, world: &Affine3A, joints: &[Affine3A]| {
            let socket = character.socket(socket_or_joint)?;
            Some(*world * *joints.get(usize::from(socket.joint))? * socket.offset)
        };
        Some(self.poses.with(character, &mut Scratch::default(), of_joint)??.into())
    }

    /// Every joint's matrix, joint → the character's space; `None` while the asset is not there.
    pub fn pose(&self, character: Entity) -> Option<Vec<Affine3A>> {
        self.poses.with(character, &mut Scratch::default(), |_, _, joints| joints.to_vec())
    }

    /// The skinning matrices of a part, as the GPU gets them: for a skin that is bent on the CPU. `None` while
    /// the asset is not there, or without such a part.
    pub fn palette(&self, character: Entity, part: usize) -> Option<Vec<Mat4>> {
        self.poses.with_drawn(character, &mut Scratch::default(), |character, &world, model| {
            let (remap, inverse_bind) = (&character.parts.get(part)?.palette, character.skeleton.inverse_bind());
            let mut out = vec![Mat4::IDENTITY; remap.len()];
            Palette { world, model, inverse_bind, remap }.run(&mut out);
            Some(out)
        })?
    }
}
