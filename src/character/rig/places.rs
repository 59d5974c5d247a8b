//! The places of entities in the world, computed before transforms are propagated.

use super::super::{
    attachments::{AtSocket, AttachedTo, ResolvedSocket},
    hierarchy::upward,
};
use bevy::{ecs::system::SystemParam, prelude::*};
use glam::Affine3A;

/// The places of entities after transforms are propagated.
#[derive(SystemParam)]
pub(in crate::character) struct Places<'w, 's> {
    transforms: Query<'w, 's, (&'static Transform, Option<&'static ChildOf>)>,
    attached: Query<
        'w,
        's,
        (
            &'static AttachedTo,
            &'static AtSocket,
            &'static ResolvedSocket,
        ),
    >,
}

impl Places<'_, '_> {
    /// An entity's place in the world. `pose_of` gives the joints of characters whose attachments are not in place yet.
    pub(super) fn world_of<'p>(
        &self,
        entity: Entity,
        pose_of: impl Fn(Entity) -> Option<&'p [Affine3A]>,
    ) -> Option<Affine3A> {
        self.transforms.get(entity).ok()?;
        let world = self
            .upward(entity)
            .fold(Affine3A::IDENTITY, |world, entity| {
                match self.at_joint(entity, &pose_of) {
                    Some(place) => place * world,
                    None => self
                        .transforms
                        .get(entity)
                        .map_or(world, |(transform, _)| transform.compute_affine() * world),
                }
            });
        world.is_finite().then_some(world)
    }

    /// An entity and everything above it, bottom up.
    pub(super) fn upward(&self, entity: Entity) -> impl Iterator<Item = Entity> {
        upward(entity, |entity| {
            self.transforms.get(entity).ok()?.1.map(ChildOf::parent)
        })
    }

    fn at_joint<'p>(
        &self,
        entity: Entity,
        pose_of: impl Fn(Entity) -> Option<&'p [Affine3A]>,
    ) -> Option<Affine3A> {
        let (attached, at, socket) = self.attached.get(entity).ok()?;
        socket.place(at, pose_of(attached.0)?)
    }
}
