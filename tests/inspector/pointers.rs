//! Picking posed characters with Bevy's pointers.

use super::harness::Harness;
use bevy::{picking::prelude::*, prelude::*};
use bevy_egui::egui;
use bevy_marionette::{
    character::{CharacterParts, CharacterPickingPlugin, CharacterRayHit, PoseOverrides},
    model::JointTransform,
};

/// Clicks the character received: the part hit, the joint, and the position in the world.
#[derive(Resource, Default)]
struct Clicks(Vec<(Entity, Option<u16>, Vec3)>);

/// A character whose left arm is lifted: its skin, modeled as a triangle at (0, 1), (1.5, 1) and (1, 2), is posed to
/// (0, 1), (1.5, 2) and (1, 4).
fn lifted() -> Harness {
    let mut harness = Harness::with(|app| {
        app.add_plugins(CharacterPickingPlugin).init_resource::<Clicks>();
    });
    harness.controller().stop();
    let mut overrides = PoseOverrides::default();
    overrides.set(1, JointTransform::new(Vec3::new(1.0, 2.0, 0.0), Quat::IDENTITY));
    let character = harness.character;
    harness.app.world_mut().entity_mut(character).insert(overrides).observe(
        |click: On<Pointer<Click>>, mut clicks: ResMut<Clicks>| {
            let hit = &click.event.hit;
            let picked = hit.extra_as::<CharacterRayHit>().expect("the backend adds its hit");
            assert_eq!(hit.position, Some(picked.point));
            clicks.0.push((picked.entity, picked.joint, picked.point));
        },
    );
    harness.frames(3);
    harness
}

fn click_at(harness: &mut Harness, place: Vec3) -> Vec<(Entity, Option<u16>, Vec3)> {
    let at = harness.in_view(place);
    harness.drag(at, egui::Vec2::ZERO);
    std::mem::take(&mut harness.app.world_mut().resource_mut::<Clicks>().0)
}

#[test]
fn a_click_hits_the_posed_skin_and_bubbles_up_to_the_character() {
    let mut harness = lifted();
    let part = harness.get::<CharacterParts>().unwrap().entities[0];
    let place = Vec3::new(0.9, 3.2, 0.0);
    let [(entity, joint, point)] = click_at(&mut harness, place)[..] else { panic!("one click") };
    assert_eq!((entity, joint), (part, Some(1)));
    assert!(point.distance(place) < 0.02, "{point}");
    // The skin is no longer where it was modeled.
    assert_eq!(click_at(&mut harness, Vec3::new(1.0, 1.2, 0.0)), []);
}

#[test]
fn characters_that_are_not_hoverable_or_hidden_are_ignored() {
    let mut harness = lifted();
    let character = harness.character;
    harness.app.world_mut().entity_mut(character).insert(Pickable::IGNORE);
    harness.frames(1);
    assert_eq!(click_at(&mut harness, Vec3::new(0.9, 3.2, 0.0)), []);
    harness.app.world_mut().entity_mut(character).remove::<Pickable>();
    harness.frames(1);
    assert_eq!(click_at(&mut harness, Vec3::new(0.9, 3.2, 0.0)).len(), 1);
    harness.app.world_mut().entity_mut(character).insert(Visibility::Hidden);
    harness.frames(1);
    assert_eq!(click_at(&mut harness, Vec3::new(0.9, 3.2, 0.0)), []);
}
