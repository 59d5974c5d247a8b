//! Entities carried by joints.

use super::{
    components::{CharacterParts, ModelPose, SkinnedCharacter},
    hierarchy::upward,
    names::{available, name_of},
    rig::RigPose,
};
use crate::{
    asset::{Character, Socket},
    rig::RigState,
};
use bevy::{
    ecs::{entity::Entities, lifecycle::HookContext, name::NameOrEntity, world::DeferredWorld},
    prelude::*,
};
use glam::Affine3A;

/// Attaches an entity to a joint of a character.
///
/// The entity becomes a child of the character, and its `Transform` follows the socket before transforms are
/// propagated, so it is never a frame late. Its world matrix is `character · joint · socket · offset`. (Shear,
/// which rotated joints below non-uniformly scaled ones have, cannot be expressed by a `Transform` and is lost.)
///
/// * To move it to another socket or character, or within its socket, insert the component again.
/// * To drop it where it is, use [`detach_in_place`](DetachExt::detach_in_place). Removing its parent is not
///   enough: it is made a child again as long as it has this component.
/// * Like any child, it is despawned with the character.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::prelude::*;
/// # fn arm(mut commands: Commands, character: Entity, sword: Handle<Mesh>) {
/// let sword = commands.spawn((
///     AttachedTo::new(character, "right_hand").at(Transform::from_xyz(0.0, 0.1, 0.0)),
///     Mesh3d(sword),
/// )).id();
/// // Later:
/// commands.entity(sword).detach_in_place();
/// # }
/// ```
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, PartialEq)]
#[component(on_insert = adopt_at_once)]
#[relationship(relationship_target = Attachments)]
#[require(Transform, Visibility, ResolvedSocket)]
pub struct AttachedTo {
    /// The character.
    #[relationship]
    #[entities]
    pub character: Entity,
    /// Name of a socket from the manifest, or of a joint.
    pub socket: String,
    /// Transform of the entity in the socket's space.
    pub offset: Transform,
}

/// On a character: the entities attached to its joints. Maintained by [`AttachedTo`].
#[derive(Component, Debug, Default, Reflect)]
#[reflect(Component, Default)]
#[relationship_target(relationship = AttachedTo)]
#[require(ModelPose)]
pub struct Attachments(Vec<Entity>);

/// What a socket's name means in one version of a character's asset.
#[derive(Component, Clone, Debug, Default)]
pub(super) struct ResolvedSocket {
    /// 0 until the first look-up; no asset has that version.
    version: u64,
    socket: Option<Socket>,
}

impl ResolvedSocket {
    /// The place of what is attached in its character's space, given the joints.
    pub(super) fn place(&self, attached: &AttachedTo, joints: &[Affine3A]) -> Option<Affine3A> {
        let Socket { joint, offset } = self.socket?;
        Some(*joints.get(usize::from(joint))? * offset * attached.offset.compute_affine())
    }
}

impl AttachedTo {
    /// Attaches to a socket or joint of `character`.
    pub fn new(character: Entity, socket: impl Into<String>) -> Self {
        Self { character, socket: socket.into(), offset: Transform::IDENTITY }
    }

    /// Sets the transform in the socket's space.
    pub fn at(self, offset: Transform) -> Self {
        Self { offset, ..self }
    }
}

/// Detaching entities from joints.
pub trait DetachExt {
    /// Removes [`AttachedTo`] and the parent, and sets the `Transform` so that the entity stays where it is.
    ///
    /// Does nothing if the entity is not attached.
    fn detach_in_place(&mut self) -> &mut Self;
}

impl DetachExt for EntityWorldMut<'_> {
    fn detach_in_place(&mut self) -> &mut Self {
        if self.contains::<AttachedTo>() {
            self.remove::<(AttachedTo, ResolvedSocket)>().remove_parent_in_place();
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
    let Ok((attached, parent)) = attached.get(entity) else { return };
    if entities.contains_spawned(attached.character) {
        become_child(&mut commands, entity, attached.character, parent, &parents, &links, &names);
    }
}

/// Parents an entity to the character it is attached to, unless the character hangs from the entity.
fn become_child(
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
    // Attached entities are about to be children.
    let parent_of = |entity| {
        let holder = links.get(entity).ok().map(|attached| attached.character);
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

/// Sets the transforms of attached entities from the poses; those of rigs before they are solved.
pub(super) fn attach(
    mut commands: Commands,
    assets: Res<Assets<Character>>,
    characters: Query<(&SkinnedCharacter, &CharacterParts, &ModelPose, Option<&RigPose>, Has<RigState>)>,
    mut attached: Query<(Entity, Ref<AttachedTo>, &mut ResolvedSocket, &mut Transform, Option<&ChildOf>)>,
    parents: Query<&ChildOf>,
    links: Query<&AttachedTo>,
    names: Query<NameOrEntity>,
) {
    for (entity, attached, mut resolved, mut transform, parent) in &mut attached {
        become_child(&mut commands, entity, attached.character, parent, &parents, &links, &names);
        if attached.is_changed() {
            *resolved = ResolvedSocket::default();
        }
        let Ok((handle, parts, pose, rig, is_rigged)) = characters.get(attached.character) else { continue };
        let Some(version) = parts.version else { continue };
        if resolved.version != version {
            let Some(character) = assets.get(handle.id()) else { continue };
            let socket = character.socket(&attached.socket);
            if socket.is_none() {
                warn_missing(character, &attached, &names);
            }
            *resolved = ResolvedSocket { version, socket };
        }
        let joints = rig.filter(|_| is_rigged).map_or(&pose.joints[..], RigPose::joints);
        if let Some(place) = resolved.place(&attached, joints) {
            transform.set_if_neq(transform_of(place));
        }
    }
}

pub(super) fn transform_of(affine: Affine3A) -> Transform {
    let (scale, rotation, translation) = affine.to_scale_rotation_translation();
    Transform { translation, rotation, scale }
}

fn warn_missing(
    character: &Character,
    AttachedTo { character: entity, socket, .. }: &AttachedTo,
    names: &Query<NameOrEntity>,
) {
    let hint = match character.skeleton.nearest_name(socket) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("sockets {}", available(character.sockets.keys())),
    };
    let who = name_of(names, *entity);
    warn!("cannot attach to `{socket}` of {who}: no such socket or joint; {hint}");
}
