//! Bevy's pointers on posed characters.

use super::harness::Harness;
use bevy::{picking::prelude::*, prelude::*};
use bevy_egui::egui;
use bevy_marionette::{
    character::{CharacterParts, CharacterRayHit, PoseOverrides},
    inspector::CharacterPickingPlugin,
    model::JointTransform,
};

/// What the character heard: the part the event began at, the joint, and the place in the world.
#[derive(Resource, Default)]
struct Clicks(Vec<(Entity, Option<u16>, Vec3)>);

/// The character with its left arm lifted: its skin is a triangle of (0, 1), (1.5, 2) and (1, 4), which was
/// modelled with corners at (0, 1), (1.5, 1) and (1, 2).
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
            let picked = hit.extra_as::<CharacterRayHit>().expect("the backend tells what it hit");
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
fn a_click_of_bevys_pointer_hits_the_skin_where_it_is_posed_and_reaches_the_character() {
    let mut harness = lifted();
    let part = harness.get::<CharacterParts>().unwrap().entities[0];
    let place = Vec3::new(0.9, 3.2, 0.0);
    let [(entity, joint, point)] = click_at(&mut harness, place)[..] else { panic!("one click") };
    assert_eq!((entity, joint), (part, Some(1)));
    assert!(point.distance(place) < 0.02, "{point}");
    // Where the skin was modelled there is none any more.
    assert_eq!(click_at(&mut harness, Vec3::new(1.0, 1.2, 0.0)), []);
}

#[test]
fn who_is_not_to_be_picked_lets_the_pointer_through_to_the_next() {
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
