//! Entities carried by joints.

use super::{components::ModelPose, hierarchy::upward, names::name_of};
use crate::asset::Socket;
use bevy::{
    ecs::{
        entity::Entities, lifecycle::HookContext, name::NameOrEntity, template::FromTemplate,
        world::DeferredWorld,
    },
    prelude::*,
};
use glam::Affine3A;

/// Attaches an entity to a joint of a character.
///
/// The entity becomes a child of the character, and its `Transform` follows the socket before transforms are
/// propagated, so it is never a frame late. Its world matrix is `character · joint · socket · offset`. (Shear,
/// which rotated joints below non-uniformly scaled ones have, cannot be expressed by a `Transform` and is lost.)
///
/// * Its socket and offset are in [`AtSocket`], which can be changed at any time.
/// * To hand it to another character, insert the component again.
/// * To drop it where it is, use [`detach_in_place`](DetachExt::detach_in_place). Removing its parent is not
///   enough: it is made a child again as long as it has this component.
/// * Like any child, it is despawned with the character.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{character::DetachExt, prelude::*};
/// # fn arm(mut commands: Commands, character: Entity, sword: Handle<Mesh>) {
/// let sword = commands.spawn((
///     AttachedTo(character),
///     AtSocket::new("right_hand").offset(Transform::from_xyz(0.0, 0.1, 0.0)),
///     Mesh3d(sword),
/// )).id();
/// // Later:
/// commands.entity(sword).detach_in_place();
/// # }
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Reflect, FromTemplate)]
#[reflect(Component, Clone, PartialEq)]
#[component(on_insert = adopt_at_once)]
#[relationship(relationship_target = Attachments)]
#[require(AtSocket, Transform, Visibility, ResolvedSocket)]
pub struct AttachedTo(#[entities] pub Entity);

/// The socket or joint at which an entity that is [`AttachedTo`] a character is held, and the
/// entity's offset there.
///
/// Without a name, the entity is held at the character's own place.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_marionette::prelude::*;
/// # #[derive(Component)]
/// # struct Sword;
/// fn sheathe(mut sword: Single<&mut AtSocket, With<Sword>>) {
///     sword.socket = "back".into();
///     sword.offset.rotation = Quat::from_rotation_z(0.6);
/// }
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Clone, Default, PartialEq)]
pub struct AtSocket {
    /// Name of a socket from the manifest, or of a joint.
    pub socket: String,
    /// Transform of the entity in the socket's space.
    pub offset: Transform,
}

/// On a character: the entities attached to its joints. Maintained by [`AttachedTo`].
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::character::{Attachments, DetachExt};
/// fn drop_everything(fallen: Entity, holders: &Query<&Attachments>, commands: &mut Commands) {
///     for thing in holders.get(fallen).iter().flat_map(|held| held.iter()) {
///         commands.entity(thing).detach_in_place();
///     }
/// }
/// ```
#[derive(Component, Debug, Default, Reflect)]
#[reflect(Component, Default)]
#[relationship_target(relationship = AttachedTo)]
#[require(ModelPose)]
pub struct Attachments(Vec<Entity>);

/// A socket's name, looked up in one version of a character's asset.
#[derive(Component, Clone, Debug, Default)]
pub(super) struct ResolvedSocket {
    /// 0 until the first look-up; no asset has that version.
    pub(super) version: u64,
    pub(super) name: String,
    pub(super) place: Option<SocketPlace>,
}

/// The place of a socket.
#[derive(Clone, Copy, Debug)]
pub(super) enum SocketPlace {
    Character,
    Socket(Socket),
}

impl ResolvedSocket {
    /// Returns the place of the attached entity in its character's space, given the joints.
    pub(super) fn place(&self, at: &AtSocket, joints: &[Affine3A]) -> Option<Affine3A> {
        let offset = at.offset.compute_affine();
        match self.place? {
            SocketPlace::Character => Some(offset),
            SocketPlace::Socket(socket) => {
                Some(*joints.get(usize::from(socket.joint))? * socket.offset * offset)
            }
        }
    }
}

impl AtSocket {
    /// Holds the entity at a socket or joint of its character.
    pub fn new(socket: impl Into<String>) -> Self {
        Self {
            socket: socket.into(),
            offset: Transform::IDENTITY,
        }
    }

    /// Sets the transform in the socket's space.
    pub fn offset(self, offset: Transform) -> Self {
        Self { offset, ..self }
    }
}

/// Detaching entities from joints.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::character::DetachExt;
/// # fn drop_it(mut commands: Commands, sword: Entity) {
/// commands.entity(sword).detach_in_place();
/// # }
/// ```
pub trait DetachExt {
    /// Removes [`AttachedTo`] and the parent, and sets the `Transform` so that the entity stays where it is.
    ///
    /// Does nothing if the entity is not attached.
    fn detach_in_place(&mut self) -> &mut Self;
}

impl DetachExt for EntityWorldMut<'_> {
    fn detach_in_place(&mut self) -> &mut Self {
        if self.contains::<AttachedTo>() {
            self.remove::<(AttachedTo, AtSocket, ResolvedSocket)>()
                .remove_parent_in_place();
        }
        self
    }
}

impl DetachExt for EntityCommands<'_> {
    fn detach_in_place(&mut self) -> &mut Self {
        self.queue(|mut entity: EntityWorldMut| {
            entity.detach_in_place();
        })
    }
}

/// Makes an attached entity a child at once, so that one that is handed over survives if its previous holder is
/// despawned right after.
fn adopt_at_once(mut world: DeferredWorld, inserted: HookContext) {
    // A hook has no queries, so a system does the work when commands are applied.
    world.commands().queue(move |world: &mut World| {
        if let Err(error) = world.run_system_cached_with(adopt, inserted.entity) {
            warn!("cannot attach {}: {error}", inserted.entity);
        }
    });
}

fn adopt(
    In(entity): In<Entity>,
    attached: Query<(&AttachedTo, Option<&ChildOf>)>,
    parents: Query<&ChildOf>,
    links: Query<&AttachedTo>,
    names: Query<NameOrEntity>,
    entities: &Entities,
    mut commands: Commands,
) {
    let Ok((&AttachedTo(character), parent)) = attached.get(entity) else {
        return;
    };
    if entities.contains_spawned(character) {
        become_child(
            &mut commands,
            entity,
            character,
            parent,
            &parents,
            &links,
            &names,
        );
    }
}

/// Parents an entity to the character it is attached to, unless the character hangs from the entity.
pub(super) fn become_child(
    commands: &mut Commands,
    entity: Entity,
    character: Entity,
    parent: Option<&ChildOf>,
    parents: &Query<&ChildOf>,
    links: &Query<&AttachedTo>,
    names: &Query<NameOrEntity>,
) {
    if parent.is_some_and(|parent| parent.parent() == character) {
        return;
    }
    // Attached entities count as children: they are about to be.
    let parent_of = |entity| {
        let holder = links.get(entity).ok().map(|attached| attached.0);
        holder.or_else(|| parents.get(entity).ok().map(ChildOf::parent))
    };
    if upward(character, parent_of).any(|above| above == entity) {
        let [attached, holder] = [entity, character].map(|entity| name_of(names, entity));
        warn!("cannot attach {attached} to {holder}, which hangs from it; `AttachedTo` is removed");
        commands.entity(entity).try_remove::<AttachedTo>();
    } else {
        commands.entity(entity).try_insert(ChildOf(character));
    }
}

pub(super) fn transform_of(affine: Affine3A) -> Transform {
    let (scale, rotation, translation) = affine.to_scale_rotation_translation();
    Transform {
        translation,
        rotation,
        scale,
    }
}
