//! Posed characters for `bevy_picking`.

use crate::character::CharacterRayCast;
use bevy::{
    picking::{
        PickingSystems,
        backend::{HitData, PointerHits, ray::RayMap},
    },
    prelude::*,
};

/// A backend for `bevy_picking`: pointers hit characters where they are posed.
///
/// What is hit is the part's entity; events bubble up to the character, and
/// [`HitData::extra_as`] gives the [`CharacterRayHit`](crate::character::CharacterRayHit) with its joint.
/// A character with a [`Pickable`] that is not hoverable is passed over. Bevy's own mesh backend, where it
/// is added too, also hits the parts, but as they were modeled.
pub struct CharacterPickingPlugin;

impl Plugin for CharacterPickingPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(PreUpdate, hit_characters.in_set(PickingSystems::Backend).run_if(resource_exists::<RayMap>));
    }
}

fn hit_characters(
    rays: Res<RayMap>,
    pick: CharacterRayCast,
    cameras: Query<&Camera>,
    pickables: Query<&Pickable>,
    mut hits: MessageWriter<PointerHits>,
) {
    for (id, ray) in rays.iter() {
        let Ok(camera) = cameras.get(id.camera) else { continue };
        let hoverable = |entity| pickables.get(entity).ok().is_none_or(|pickable| pickable.is_hoverable);
        if let Some(hit) = pick.pick_where(*ray, hoverable) {
            let data = HitData::new_with_extra(id.camera, hit.distance, Some(hit.point), None, hit);
            hits.write(PointerHits::new(id.pointer, vec![(hit.entity, data)], camera.order as f32));
        }
    }
}
