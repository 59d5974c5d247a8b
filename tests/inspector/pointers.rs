//! Picking posed characters with Bevy's pointers.

use super::harness::Harness;
use bevy::{picking::hover::HoverMap, prelude::*};
use bevy_marionette::{
    character::{CharacterParts, CharacterPickingPlugin, CharacterRayHit, PoseOverrides},
    model::JointTransform,
};

/// A character whose left arm is lifted: its skin, modeled as a triangle at (0, 1), (1.5, 1) and (1, 2), is posed to
/// (0, 1), (1.5, 2) and (1, 4).
fn lifted() -> Harness {
    let mut harness = Harness::with(|app| {
        app.add_plugins(CharacterPickingPlugin);
    });
    harness.controller().fade_out(std::time::Duration::ZERO);
    let mut overrides = PoseOverrides::default();
    overrides.set(
        1,
        JointTransform::new(Vec3::new(1.0, 2.0, 0.0), Quat::IDENTITY),
    );
    let character = harness.character;
    harness
        .app
        .world_mut()
        .entity_mut(character)
        .insert(overrides);
    harness.frames(3);
    harness
}

/// What is under the pointer: the part hit, the joint, and the position in the world.
///
/// The events that Bevy makes of it have other names in each version.
fn under_pointer(harness: &mut Harness, place: Vec3) -> Vec<(Entity, Option<u16>, Vec3)> {
    let at = harness.in_view(place);
    harness.point(at);
    harness.frames(2);
    let hovered = harness.app.world().resource::<HoverMap>();
    let hits = hovered
        .values()
        .flat_map(|entities| entities.iter())
        .filter_map(|(&entity, hit)| {
            let picked = hit.extra_as::<CharacterRayHit>()?;
            assert_eq!((entity, hit.position), (picked.entity, Some(picked.point)));
            Some((picked.entity, picked.joint, picked.point))
        });
    hits.collect()
}

#[test]
fn pointers_hit_the_posed_skin() {
    let mut harness = lifted();
    let part = harness.get::<CharacterParts>().unwrap().entities[0];
    let place = Vec3::new(0.9, 3.2, 0.0);
    let [(entity, joint, point)] = under_pointer(&mut harness, place)[..] else {
        panic!("one hit")
    };
    assert_eq!((entity, joint), (part, Some(1)));
    assert!(point.distance(place) < 0.02, "{point}");
    // The skin is no longer where it was modeled.
    assert_eq!(under_pointer(&mut harness, Vec3::new(1.0, 1.2, 0.0)), []);
}

#[test]
fn characters_that_are_not_hoverable_or_hidden_are_ignored() {
    let mut harness = lifted();
    let character = harness.character;
    harness
        .app
        .world_mut()
        .entity_mut(character)
        .insert(Pickable::IGNORE);
    harness.frames(1);
    assert_eq!(under_pointer(&mut harness, Vec3::new(0.9, 3.2, 0.0)), []);
    harness
        .app
        .world_mut()
        .entity_mut(character)
        .remove::<Pickable>();
    harness.frames(1);
    assert_eq!(
        under_pointer(&mut harness, Vec3::new(0.9, 3.2, 0.0)).len(),
        1
    );
    harness
        .app
        .world_mut()
        .entity_mut(character)
        .insert(Visibility::Hidden);
    harness.frames(1);
    assert_eq!(under_pointer(&mut harness, Vec3::new(0.9, 3.2, 0.0)), []);
}
