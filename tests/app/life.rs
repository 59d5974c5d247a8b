//! Characters are spawned, changed and despawned, and so are their parts.

use super::{messages::assert_messages, support::*};
use bevy::{mesh::skinning::SkinnedMesh, prelude::*};
use bevy_marionette::{
    asset::{Character, CharacterPart},
    character::{CharacterParts, ModelPose, PartOf, PoseOverrides},
    controller::AnimationTrack,
    model::{Model, Skeleton, SkinPart},
    prelude::*,
};

#[test]
fn parts_are_there_in_the_frame_the_character_is_spawned() {
    let mut app = TestApp::new();
    let mut model = chain(&clips());
    model.parts.push(strip("second", 0));
    let handle = app.add(model, &manifest());
    let entity = app.spawn(&handle, "walk");
    app.update(0.1);
    let parts = app.parts(entity);
    assert_eq!(parts.len(), 2);
    assert_eq!(app.world().resource::<Heard>().ready, [entity]);
    for (index, &part) in parts.iter().enumerate() {
        assert_eq!(
            app.world().get::<PartOf>(part),
            Some(&PartOf {
                character: entity,
                part: index
            })
        );
        assert_eq!(
            app.world().get::<ChildOf>(part).map(ChildOf::parent),
            Some(entity)
        );
        assert_eq!(
            app.world().get::<SkinnedMesh>(part).unwrap().joints.len(),
            3
        );
        let mesh = app.world().get::<Mesh3d>(part).unwrap().0.clone();
        assert_eq!(app.asset(&mesh).unwrap().count_vertices(), 6);
    }
    let names: Vec<_> = parts
        .iter()
        .map(|&part| app.app.world().get::<Name>(part).unwrap().to_string())
        .collect();
    assert_eq!(names, ["strip", "second"]);
}

#[test]
fn parts_follow_when_the_asset_comes_later_and_nothing_is_missed() {
    let mut app = TestApp::new();
    let handle = app.world().resource::<Assets<Character>>().reserve_handle();
    let entity = app.spawn(&handle, "walk");
    for _ in 0..5 {
        app.update(0.5);
    }
    assert!(app.parts(entity).is_empty() && app.words(None).is_empty());
    let character = build(app.world(), chain(&clips()), &manifest());
    app.world()
        .resource_mut::<Assets<Character>>()
        .insert(&handle, character)
        .unwrap();
    app.update(0.5);
    assert_eq!(app.parts(entity).len(), 1);
    assert_eq!(app.words(None), ["started", "left"]);
}

#[test]
fn a_handle_swapped_in_the_middle_of_a_clip_changes_the_body_and_the_clip_goes_on() {
    let mut app = TestApp::new();
    let one = app.add(chain(&clips()), &manifest());
    let mut model = chain(&clips()[..1]);
    model.parts.push(strip("second", 0));
    let other = app.add(model, &manifest());
    let entity = app.spawn(&one, "walk");
    app.update(0.6);
    let before = app.parts(entity);
    app.words(None);
    app.world().get_mut::<SkinnedCharacter>(entity).unwrap().0 = other;
    app.update(0.2);
    assert!(before.iter().all(|&part| !app.is_alive(part)));
    assert_eq!(app.parts(entity).len(), 2);
    assert!((app.clip_time(entity) - 0.8).abs() < 1e-9);
    assert_eq!(app.words(Some(entity)), ["right"]);
}

#[test]
fn swapped_for_one_that_loads_still_it_has_no_parts_and_waits() {
    let mut app = TestApp::new();
    let one = app.add(chain(&clips()), &manifest());
    let entity = app.spawn(&one, "walk");
    app.update(0.6);
    let later = app.world().resource::<Assets<Character>>().reserve_handle();
    app.world().get_mut::<SkinnedCharacter>(entity).unwrap().0 = later;
    app.update(0.2);
    assert!(app.parts(entity).is_empty());
    assert!((app.clip_time(entity) - 0.6).abs() < 1e-9);
    app.world().get_mut::<SkinnedCharacter>(entity).unwrap().0 = one;
    app.update(0.2);
    assert_eq!(app.parts(entity).len(), 1);
    assert!((app.clip_time(entity) - 0.8).abs() < 1e-9);
}

#[test]
fn despawned_its_parts_go_and_the_others_play_on() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let (one, other) = (app.spawn(&handle, "walk"), app.spawn(&handle, "walk"));
    app.update(0.1);
    let parts = app.parts(one);
    app.world().entity_mut(one).despawn();
    app.update(1.0);
    assert!(parts.iter().all(|&part| !app.is_alive(part)));
    assert!(app.words(Some(one)).len() <= 1);
    assert_eq!(app.parts(other).len(), 1);
    let count = app.world().query::<&PartOf>().iter(app.app.world()).count();
    assert_eq!(count, 1);
}

#[test]
fn taken_off_its_entity_the_parts_go_and_put_on_again_they_come() {
    let (mut app, handle, entity) = TestApp::playing("walk");
    let child = app.world().spawn(ChildOf(entity)).id();
    app.update(0.3);
    app.world().entity_mut(entity).remove::<SkinnedCharacter>();
    app.update(0.3);
    assert!(app.parts(entity).is_empty());
    assert!(app.is_alive(child), "children that are no parts stay");
    app.world()
        .entity_mut(entity)
        .insert(SkinnedCharacter(handle.clone()));
    app.update(0.3);
    assert_eq!(app.parts(entity).len(), 1);
    assert!(
        (app.clip_time(entity) - 0.6).abs() < 1e-9,
        "time off the stage does not count"
    );
    // Removed and added within one frame.
    let before = app.parts(entity);
    app.world()
        .entity_mut(entity)
        .remove::<SkinnedCharacter>()
        .insert(SkinnedCharacter(handle));
    app.update(0.1);
    assert!(!app.is_alive(before[0]));
    assert_eq!(
        app.world().query::<&PartOf>().iter(app.app.world()).count(),
        1
    );
}

#[test]
fn all_components_taken_off_at_once_leave_no_parts_behind() {
    let (mut app, _, entity) = TestApp::playing("walk");
    app.update(0.1);
    app.world()
        .entity_mut(entity)
        .remove_with_requires::<SkinnedCharacter>();
    app.update(0.1);
    assert_eq!(
        app.world().query::<&PartOf>().iter(app.app.world()).count(),
        0
    );
}

#[test]
fn the_asset_taken_away_takes_the_parts_along() {
    let (mut app, handle, entity) = TestApp::playing("walk");
    app.update(0.1);
    let character = app
        .world()
        .resource_mut::<Assets<Character>>()
        .remove(&handle)
        .unwrap();
    app.update(0.1);
    assert!(app.parts(entity).is_empty());
    app.world()
        .resource_mut::<Assets<Character>>()
        .insert(&handle, character)
        .unwrap();
    app.update(0.1);
    assert_eq!(app.parts(entity).len(), 1);
}

#[test]
fn reparented_it_keeps_parts_and_clock_and_stands_under_the_new_parent() {
    let (mut app, _, entity) = TestApp::playing("walk");
    app.update(0.3);
    let parts = app.parts(entity);
    let parent = app.world().spawn(Transform::from_xyz(4.0, 0.0, 0.0)).id();
    app.world().entity_mut(entity).insert(ChildOf(parent));
    app.update(0.3);
    assert_eq!(app.parts(entity), parts);
    assert!((app.clip_time(entity) - 0.6).abs() < 1e-9);
    assert_eq!(
        app.world()
            .get::<GlobalTransform>(parts[0])
            .unwrap()
            .translation(),
        Vec3::X * 4.0
    );
}

#[test]
fn two_characters_may_share_one_parent() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let parent = app.world().spawn(Transform::default()).id();
    let pair = [app.spawn(&handle, "walk"), app.spawn(&handle, "swing")];
    for entity in pair {
        app.world().entity_mut(entity).insert(ChildOf(parent));
    }
    app.update(0.3);
    assert!(pair.iter().all(|&entity| app.parts(entity).len() == 1));
    assert_ne!(app.parts(pair[0]), app.parts(pair[1]));
    app.world().entity_mut(parent).despawn();
    app.update(0.3);
    assert_eq!(
        app.world().query::<&PartOf>().iter(app.app.world()).count(),
        0
    );
}

#[test]
fn parts_despawned_by_hand_do_no_harm() {
    let (mut app, _, entity) = TestApp::playing("walk");
    app.update(0.3);
    app.world().entity_mut(entity).despawn_related::<Children>();
    app.update(0.3);
    app.world()
        .get_mut::<SkinnedCharacter>(entity)
        .unwrap()
        .set_changed();
    app.update(0.3);
    assert_eq!(app.parts(entity).len(), 1);
    assert!(app.is_alive(app.parts(entity)[0]));
}

#[test]
fn a_static_model_has_parts_without_joints() {
    let mut app = TestApp::new();
    let mut part = strip("rock", 0);
    part.influences.clear();
    part.palette.clear();
    let model = Model {
        skeleton: Skeleton::default(),
        parts: vec![part],
        ..chain(&[])
    };
    let handle = app.add(model, &manifest());
    let entity = app.spawn(&handle, "walk");
    app.update(0.1);
    let parts = app.parts(entity);
    assert!(app.world().get::<SkinnedMesh>(parts[0]).is_none());
    let mesh = app.world().get::<Mesh3d>(parts[0]).unwrap().0.clone();
    let mesh = app.asset(&mesh).unwrap();
    assert!(
        !mesh.contains_attribute(Mesh::ATTRIBUTE_JOINT_INDEX)
            && !mesh.contains_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT)
    );
    let bounds = app.asset(&handle).unwrap().rest_bounds().unwrap();
    assert_eq!(
        (bounds.min(), bounds.max()),
        (
            Vec3::new(-0.5, 0.0, 0.0).into(),
            Vec3::new(0.5, 2.0, 0.0).into()
        )
    );
}

#[test]
fn no_joints_no_clips_no_vertices_no_parts_are_all_fine() {
    let empty = SkinPart {
        name: "empty".into(),
        ..SkinPart::default()
    };
    let models = [
        Model {
            skeleton: Skeleton::default(),
            parts: vec![],
            materials: vec![],
            clips: vec![],
        },
        Model {
            parts: vec![empty.clone()],
            materials: vec![],
            ..chain(&clips())
        },
        Model {
            parts: vec![SkinPart {
                palette: vec![0, 1],
                ..empty
            }],
            ..chain(&[])
        },
    ];
    let mut app = TestApp::new();
    let mut characters = Vec::new();
    for model in models {
        let parts = model.parts.len();
        let handle = app.add(model, &manifest());
        let entity = app.spawn(&handle, "walk");
        app.world()
            .spawn((AttachedTo(entity), AtSocket::new("hand")));
        characters.push((entity, parts));
    }
    for _ in 0..3 {
        app.update(0.1);
    }
    for (entity, parts) in characters {
        assert_eq!(app.parts(entity).len(), parts);
        assert!(
            app.world()
                .get::<ModelPose>(entity)
                .unwrap()
                .joints
                .iter()
                .all(|joint| joint.is_finite())
        );
    }
}

#[test]
fn a_model_that_was_never_loaded_brings_down_nothing_when_its_entity_goes() {
    let mut app = TestApp::new();
    let handle = app.server().load("not here either.m3d");
    let entity = app.spawn(&handle, "walk");
    app.wait_for_failure(&handle);
    app.update(0.1);
    assert!(app.parts(entity).is_empty());
    app.world().entity_mut(entity).despawn();
    app.update(0.1);
}

#[test]
fn scenes_with_characters_by_component_alone_get_what_they_need() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.world().spawn(SkinnedCharacter(handle.clone())).id();
    app.update(0.1);
    assert!(
        app.world()
            .get::<AnimationController>(entity)
            .is_some_and(|c| c.tracks().count() == 0)
    );
    assert!(app.world().get::<CharacterParts>(entity).is_some());
    app.controller(entity)
        .add_track(AnimationTrack::new("walk"));
    app.update(0.3);
    assert_eq!(app.words(None), ["started", "left"]);
    let part: &CharacterPart = &app.asset(&handle).unwrap().parts[0];
    assert_eq!(part.name, "strip");
}

#[test]
fn the_last_character_gone_and_the_handle_dropped_nothing_of_the_asset_is_left() {
    let (mut app, handle, entity) = TestApp::playing("walk");
    drop(handle);
    (0..3).for_each(|_| app.update(0.1));
    assert_eq!(app.parts(entity).len(), 1, "in use it stays");
    let held = |app: &TestApp| {
        let world = app.app.world();
        let [meshes, materials] = [
            world.resource::<Assets<Mesh>>().len(),
            world.resource::<Assets<StandardMaterial>>().len(),
        ];
        [
            world.resource::<Assets<Character>>().len(),
            meshes,
            materials,
        ]
    };
    let with = held(&app);
    app.world().entity_mut(entity).despawn();
    (0..5).for_each(|_| app.update(0.1));
    assert_eq!(held(&app), [with[0] - 1, with[1] - 1, with[2] - 1]);
}

#[test]
fn under_a_parent_of_no_size_everything_stays_a_number() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    for scale in [Vec3::ZERO, Vec3::new(1.0, 0.0, 1.0), Vec3::splat(1e-30)] {
        let parent = app.world().spawn(Transform::from_scale(scale)).id();
        let entity = app.spawn(&handle, "walk");
        app.world()
            .entity_mut(entity)
            .insert((ChildOf(parent), PoseOverrides::default()));
        let carried = app
            .world()
            .spawn((AttachedTo(entity), AtSocket::new("hand")))
            .id();
        (0..3).for_each(|_| app.update(0.1));
        assert!(
            app.world()
                .get::<ModelPose>(entity)
                .unwrap()
                .joints
                .iter()
                .all(|joint| joint.is_finite())
        );
        assert!(app.world().get::<Transform>(carried).unwrap().is_finite());
        assert!(
            app.world()
                .get::<GlobalTransform>(carried)
                .unwrap()
                .affine()
                .is_finite()
        );
        assert!((app.clip_time(entity) - 0.3).abs() < 1e-9);
    }
}

#[test]
fn a_part_that_was_despawned_or_stripped_under_its_character_is_said_once_each() {
    let mut app = TestApp::new();
    let mut model = chain(&clips());
    model.parts = vec![
        strip("lost one", 0),
        strip("lost two", 0),
        strip("lost three", 0),
    ];
    let handle = app.add(model, &manifest());
    let entity = app.spawn(&handle, "walk");
    app.world()
        .entity_mut(entity)
        .insert(Name::new("who lost parts"));
    app.update(0.1);
    let parts = app.parts(entity);
    app.world().entity_mut(parts[0]).despawn();
    app.world().entity_mut(parts[1]).clear();
    app.world().entity_mut(parts[2]).remove::<Mesh3d>();
    (0..3).for_each(|_| app.update(0.1));
    for part in ["lost one", "lost two", "lost three"] {
        assert_messages(
            &format!("a part that is gone: {part}"),
            logged(&format!("`{part}`")),
        );
    }
    // What goes as it should is not worth a word: another asset, a reload, the end.
    let mut other = chain(&clips());
    other.parts[0].name = "not lost".into();
    let other_handle = app.add(other.clone(), &manifest());
    app.world().get_mut::<SkinnedCharacter>(entity).unwrap().0 = other_handle.clone();
    app.update(0.1);
    let character = build(app.world(), other, &manifest());
    app.world()
        .resource_mut::<Assets<Character>>()
        .insert(&other_handle, character)
        .unwrap();
    app.update(0.1);
    app.world().entity_mut(entity).remove::<SkinnedCharacter>();
    app.update(0.1);
    app.world()
        .entity_mut(entity)
        .insert(SkinnedCharacter(other_handle));
    app.update(0.1);
    assert_eq!(app.parts(entity).len(), 1);
    app.world().entity_mut(entity).despawn();
    app.update(0.1);
    assert_eq!(logged("`not lost`"), [""; 0]);
}
