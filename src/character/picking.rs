//! A backend of `bevy_picking` for posed characters.

use super::ray_cast::CharacterRayCast;
use bevy::{
    picking::{
        PickingSystems,
        backend::{HitData, PointerHits, ray::RayMap},
    },
    prelude::*,
};

/// A picking backend: pointer events hit characters where they are posed.
///
/// Add it beside Bevy's picking plugins, in any order. (Bevy's own `MeshPickingPlugin` also hits the parts of characters, but
/// in their bind pose.)
///
/// The target is the part's entity, and events bubble up to the character. [`HitData::extra_as`] returns the
/// [`CharacterRayHit`](super::CharacterRayHit) with its joint. Characters with a [`Pickable`] that is not
/// hoverable are ignored.
///
/// ```
/// # use bevy::{picking::backend::HitData, prelude::*};
/// # use bevy_marionette::character::CharacterRayHit;
/// // Call it with the event's `hit` from an observer on the character: of `Pointer<Click>`, or in Bevy 0.20 of
/// // `PointerClick`.
/// fn clicked(hit: &HitData) {
///     let hit = hit.extra_as::<CharacterRayHit>();
///     info!("clicked on {:?}", hit.and_then(|hit| hit.joint_name.as_deref()));
/// }
/// ```
pub struct CharacterPickingPlugin;

impl Plugin for CharacterPickingPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            PreUpdate,
            hit_characters
                .in_set(PickingSystems::Backend)
                .run_if(resource_exists::<RayMap>),
        );
    }

    fn finish(&self, app: &mut App) {
        if !app.world().contains_resource::<RayMap>() {
            error!(
                "`CharacterPickingPlugin` finds nothing: add `DefaultPlugins` with Bevy's feature `bevy_picking`, or \
                 `PickingPlugin` and `InputPlugin`"
            );
        }
    }
}

fn hit_characters(
    rays: Res<RayMap>,
    ray_cast: CharacterRayCast,
    cameras: Query<&Camera>,
    pickables: Query<&Pickable>,
    mut hits: MessageWriter<PointerHits>,
) {
    for (id, ray) in rays.iter() {
        let Ok(camera) = cameras.get(id.camera) else {
            continue;
        };
        let hoverable = |entity| {
            pickables
                .get(entity)
                .ok()
                .is_none_or(|pickable| pickable.is_hoverable)
        };
        if let Some(hit) = ray_cast.pick_where(*ray, hoverable) {
            let entity = hit.entity;
            let data = HitData::new_with_extra(id.camera, hit.distance, Some(hit.point), None, hit);
            hits.write(PointerHits::new(
                id.pointer,
                vec![(entity, data)],
                camera.order as f32,
            ));
        }
    }
}
