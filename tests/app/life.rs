//! Characters come, change, pause and go.

use super::support::*;
use bevy::{mesh::skinning::SkinnedMesh, prelude::*};
use bevy_marionette::{
    asset::CharacterPart,
    character::{CharacterParts, ModelPose, PartOf, PoseOverrides},
    controller::Track,
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
        assert_eq!(app.world().get::<PartOf>(part), Some(&PartOf { character: entity, part: index }));
        assert_eq!(app.world().get::<ChildOf>(part).map(ChildOf::parent), Some(entity));
        assert_eq!(app.world().get::<SkinnedMesh>(part).unwrap().joints.len(), 3);
        let mesh = app.world().get::<Mesh3d>(part).unwrap().0.clone();
        assert_eq!(app.asset(&mesh).unwrap().count_vertices(), 6);
    }
    let names: Vec<_> = parts.iter().map(|&part| app.app.world().get::<Name>(part).unwrap().to_string()).collect();
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
    app.world().resource_mut::<Assets<Character>>().insert(&handle, character).unwrap();
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
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.spawn(&handle, "walk");
    let child = app.world().spawn(ChildOf(entity)).id();
    app.update(0.3);
    app.world().entity_mut(entity).remove::<SkinnedCharacter>();
    app.update(0.3);
    assert!(app.parts(entity).is_empty());
    assert!(app.is_alive(child), "children that are no parts stay");
    app.world().entity_mut(entity).insert(SkinnedCharacter(handle.clone()));
    app.update(0.3);
    assert_eq!(app.parts(entity).len(), 1);
    assert!((app.clip_time(entity) - 0.6).abs() < 1e-9, "time off the stage does not count");
    // Off and on within one frame.
    let before = app.parts(entity);
    app.world().entity_mut(entity).remove::<SkinnedCharacter>().insert(SkinnedCharacter(handle));
    app.update(0.1);
    assert!(!app.is_alive(before[0]));
    assert_eq!(app.world().query::<&PartOf>().iter(app.app.world()).count(), 1);
}

#[test]
fn all_components_taken_off_at_once_leave_no_parts_behind() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.spawn(&handle, "walk");
    app.update(0.1);
    app.world().entity_mut(entity).remove_with_requires::<SkinnedCharacter>();
    app.update(0.1);
    assert_eq!(app.world().query::<&PartOf>().iter(app.app.world()).count(), 0);
}

#[test]
fn the_asset_taken_away_takes_the_parts_along() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.spawn(&handle, "walk");
    app.update(0.1);
    let character = app.world().resource_mut::<Assets<Character>>().remove(&handle).unwrap();
    app.update(0.1);
    assert!(app.parts(entity).is_empty());
    app.world().resource_mut::<Assets<Character>>().insert(&handle, character).unwrap();
    app.update(0.1);
    assert_eq!(app.parts(entity).len(), 1);
}

#[test]
fn reparented_it_keeps_parts_and_clock_and_stands_under_the_new_parent() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.spawn(&handle, "walk");
    app.update(0.3);
    let parts = app.parts(entity);
    let parent = app.world().spawn(Transform::from_xyz(4.0, 0.0, 0.0)).id();
    app.world().entity_mut(entity).insert(ChildOf(parent));
    app.update(0.3);
    assert_eq!(app.parts(entity), parts);
    assert!((app.clip_time(entity) - 0.6).abs() < 1e-9);
    assert_eq!(app.world().get::<GlobalTransform>(parts[0]).unwrap().translation(), Vec3::X * 4.0);
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
    assert_eq!(app.world().query::<&PartOf>().iter(app.app.world()).count(), 0);
}

#[test]
fn parts_despawned_by_hand_do_no_harm() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.spawn(&handle, "walk");
    app.update(0.3);
    app.world().entity_mut(entity).despawn_related::<Children>();
    app.update(0.3);
    app.world().get_mut::<SkinnedCharacter>(entity).unwrap().set_changed();
    app.update(0.3);
    assert_eq!(app.parts(entity).len(), 1);
    assert!(app.is_alive(app.parts(entity)[0]));
}

#[test]
fn paused_time_stands_still_and_goes_on_without_a_jump() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.spawn(&handle, "walk");
    app.update(0.2);
    app.words(None);
    app.world().resource_mut::<Time<Virtual>>().pause();
    for _ in 0..10 {
        app.update(1.0);
    }
    assert!(app.words(None).is_empty());
    assert_eq!(app.clip_time(entity), 0.2);
    app.world().resource_mut::<Time<Virtual>>().unpause();
    app.world().resource_mut::<Time<Virtual>>().set_relative_speed(0.5);
    app.update(0.2);
    assert!((app.clip_time(entity) - 0.3).abs() < 1e-6);
    assert_eq!(app.words(None), ["left"]);
}

#[test]
fn a_frame_of_minutes_fires_all_there_was_and_leaves_the_clip_where_it_belongs() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.spawn(&handle, "walk");
    app.update(300.25);
    let words = app.words(Some(entity));
    let count = |word: &str| words.iter().filter(|w| *w == word).count();
    assert_eq!((count("left"), count("right"), count("looped")), (301, 300, 300));
    assert!((app.clip_time(entity) - 0.25).abs() < 1e-6);
}

#[test]
fn the_flood_of_a_frame_of_hours_is_bounded_and_said_once() {
    let mut app = TestApp::new();
    let keys = timing("flooding clip", 0.01, bevy_marionette::model::Playback::Loop, &[(0.005, "drop")]);
    let handle = app.add(chain(&[keys]), &manifest());
    let entity = app.spawn(&handle, "flooding clip");
    for _ in 0..3 {
        app.update(3600.0);
        let words = app.words(Some(entity));
        assert!(words.len() <= 2 * AnimationController::DEFAULT_CALLBACK_LIMIT + 1, "{}", words.len());
    }
    assert_eq!(logged("flooding clip").len(), 1);
}

#[test]
fn a_static_model_has_parts_without_joints() {
    let mut app = TestApp::new();
    let mut part = strip("rock", 0);
    part.influences.clear();
    part.palette.clear();
    let model = Model { skeleton: Skeleton::default(), parts: vec![part], ..chain(&[]) };
    let handle = app.add(model, &manifest());
    let entity = app.spawn(&handle, "walk");
    app.update(0.1);
    let parts = app.parts(entity);
    assert!(app.world().get::<SkinnedMesh>(parts[0]).is_none());
    let mesh = app.world().get::<Mesh3d>(parts[0]).unwrap().0.clone();
    let mesh = app.asset(&mesh).unwrap();
    assert!(
        !mesh.contains_attribute(Mesh::ATTRIBUTE_JOINT_INDEX) && !mesh.contains_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT)
    );
    let bounds = app.asset(&handle).unwrap().rest_bounds().unwrap();
    assert_eq!((bounds.min(), bounds.max()), (Vec3::new(-0.5, 0.0, 0.0).into(), Vec3::new(0.5, 2.0, 0.0).into()));
}

#[test]
fn no_joints_no_clips_no_vertices_no_parts_are_all_fine() {
    let empty = SkinPart { name: "empty".into(), ..SkinPart::default() };
    let models = [
        Model { skeleton: Skeleton::default(), parts: vec![], materials: vec![], clips: vec![] },
        Model { parts: vec![empty.clone()], materials: vec![], ..chain(&clips()) },
        Model { parts: vec![SkinPart { palette: vec![0, 1], ..empty }], ..chain(&[]) },
    ];
    let mut app = TestApp::new();
    let mut characters = Vec::new();
    for model in models {
        let parts = model.parts.len();
        let handle = app.add(model, &manifest());
        let entity = app.spawn(&handle, "walk");
        app.world().spawn(SocketOf::new(entity, "hand"));
        characters.push((entity, parts));
    }
    for _ in 0..3 {
        app.update(0.1);
    }
    for (entity, parts) in characters {
        assert_eq!(app.parts(entity).len(), parts);
        assert!(app.world().get::<ModelPose>(entity).unwrap().joints.iter().all(|joint| joint.is_finite()));
    }
}

#[test]
fn a_controller_that_is_replaced_starts_anew() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.spawn(&handle, "walk");
    app.update(0.6);
    app.words(None);
    app.world().entity_mut(entity).insert(AnimationController::playing("jump"));
    app.update(0.1);
    assert_eq!(app.words(None), ["started", "off"]);
    app.world().entity_mut(entity).remove::<AnimationController>();
    app.update(0.1);
    assert_eq!(app.parts(entity).len(), 1);
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
fn time_that_passes_is_no_change_of_the_controller() {
    #[derive(Resource, Default)]
    struct Changes(usize);
    let mut app = TestApp::new();
    app.world().init_resource::<Changes>();
    app.app.add_systems(Last, |changed: Query<(), Changed<AnimationController>>, mut changes: ResMut<Changes>| {
        changes.0 += changed.iter().count();
    });
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.spawn(&handle, "walk");
    (0..5).for_each(|_| app.update(0.1));
    assert_eq!(app.world().resource::<Changes>().0, 1);
    app.controller(entity).set_speed(2.0);
    (0..5).for_each(|_| app.update(0.1));
    assert_eq!(app.world().resource::<Changes>().0, 2);
}

#[test]
fn scenes_with_characters_by_component_alone_get_what_they_need() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.world().spawn(SkinnedCharacter(handle.clone())).id();
    app.update(0.1);
    assert!(app.world().get::<AnimationController>(entity).is_some_and(|c| c.tracks().count() == 0));
    assert!(app.world().get::<CharacterParts>(entity).is_some());
    app.controller(entity).add_track(Track::new("walk"));
    app.update(0.3);
    assert_eq!(app.words(None), ["started", "left"]);
    let part: &CharacterPart = &app.asset(&handle).unwrap().parts[0];
    assert_eq!(part.name, "strip");
}

#[test]
fn beside_all_of_bevys_plugins_the_systems_find_an_order() {
    use bevy::{
        log::LogPlugin,
        render::{RenderPlugin, settings::WgpuSettings},
        winit::WinitPlugin,
    };
    let mut app = App::new();
    let no_gpu = WgpuSettings { backends: None, ..default() };
    app.add_plugins(
        DefaultPlugins
            .set(WindowPlugin { primary_window: None, ..default() })
            .set(RenderPlugin { render_creation: no_gpu.into(), ..default() })
            .disable::<WinitPlugin>()
            .disable::<LogPlugin>(),
    );
    app.add_plugins(MarionettePlugins);
    app.finish();
    app.cleanup();
    let character = build(app.world_mut(), chain(&clips()), &manifest());
    let handle = app.world_mut().resource_mut::<Assets<Character>>().add(character);
    let entity = app.world_mut().spawn((SkinnedCharacter(handle), AnimationController::playing("walk"))).id();
    (0..3).for_each(|_| app.update());
    assert_eq!(app.world().get::<CharacterParts>(entity).unwrap().entities.len(), 1);
}

#[test]
fn disabled_it_stands_still_keeps_its_parts_and_goes_on_when_enabled() {
    use bevy::ecs::entity_disabling::Disabled;
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.spawn(&handle, "walk");
    app.update(0.3);
    let parts = app.parts(entity);
    app.world().entity_mut(entity).insert(Disabled);
    // Others come and go meanwhile.
    let other = app.spawn(&handle, "walk");
    app.update(0.3);
    app.world().entity_mut(other).remove_with_requires::<SkinnedCharacter>();
    app.update(0.3);
    assert!(parts.iter().all(|&part| app.is_alive(part)));
    app.world().entity_mut(entity).remove::<Disabled>();
    app.update(0.1);
    assert_eq!(app.parts(entity), parts);
    assert!((app.clip_time(entity) - 0.4).abs() < 1e-9);
}

#[test]
fn the_last_character_gone_and_the_handle_dropped_nothing_of_the_asset_is_left() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.spawn(&handle, "walk");
    drop(handle);
    (0..3).for_each(|_| app.update(0.1));
    assert_eq!(app.parts(entity).len(), 1, "in use it stays");
    let held = |app: &TestApp| {
        let world = app.app.world();
        let [meshes, materials] =
            [world.resource::<Assets<Mesh>>().len(), world.resource::<Assets<StandardMaterial>>().len()];
        [world.resource::<Assets<Character>>().len(), meshes, materials]
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
        app.world().entity_mut(entity).insert((ChildOf(parent), PoseOverrides::default()));
        let carried = app.world().spawn(SocketOf::new(entity, "hand")).id();
        (0..3).for_each(|_| app.update(0.1));
        assert!(app.world().get::<ModelPose>(entity).unwrap().joints.iter().all(|joint| joint.is_finite()));
        assert!(app.world().get::<Transform>(carried).unwrap().is_finite());
        assert!(app.world().get::<GlobalTransform>(carried).unwrap().affine().is_finite());
        assert!((app.clip_time(entity) - 0.3).abs() < 1e-9);
    }
}

#[test]
fn a_mask_that_is_not_there_is_said_once_with_the_one_that_was_meant() {
    let mut app = TestApp::new();
    let mut manifest = manifest();
    manifest.masks.insert("upper_body".into(), bevy_marionette::import::MaskEntry::default());
    let handle = app.add(chain(&clips()), &manifest);
    let mut controller = AnimationController::playing("walk");
    controller.add_track(Track::new("swing").mask("upper_bdoy"));
    for _ in 0..2 {
        let entity = app.spawn_with(&handle, controller.clone());
        (0..3).for_each(|_| app.update(0.1));
        app.controller(entity).set_speed(2.0);
        app.update(0.1);
    }
    let said = logged("upper_bdoy");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("did you mean `upper_body`?"), "{said:?}");
}

/// Many characters posed by as many threads as there are, against one thread.
#[test]
fn what_the_apps_threads_pose_is_what_one_thread_poses_to_the_bit() {
    use bevy_marionette::pose::{ClipLayer, Evaluate, Scratch};
    let mut app = TestApp::new();
    let model = chain(&clips());
    let handle = app.add(model.clone(), &manifest());
    let entities: Vec<Entity> = (0..400)
        .map(|i| {
            let mut controller = AnimationController::playing(["walk", "swing", "idle"][i % 3]);
            controller.seek(0.0137 * i as f64);
            let entity = app.spawn_with(&handle, controller);
            app.world().entity_mut(entity).insert(PoseOverrides::default());
            entity
        })
        .collect();
    app.update(0.0);
    app.update(0.0171);
    let mut scratch = Scratch::default();
    for entity in entities {
        let controller = app.controller(entity).clone();
        let character = app.asset(&handle).unwrap();
        let layers: Vec<ClipLayer> = controller
            .layers(character)
            .map(|layer| ClipLayer { weight: layer.weight, ..ClipLayer::new(&character.clips[layer.clip], layer.time) })
            .collect();
        assert_eq!(layers.len(), 1);
        let priority_blend = controller.priority_blend();
        Evaluate { priority_blend, ..Evaluate::new(&model.skeleton, &layers) }.run(&mut scratch);
        let bits = |joints: &[glam::Affine3A]| -> Vec<u32> {
            joints.iter().flat_map(|joint| joint.to_cols_array()).map(f32::to_bits).collect()
        };
        assert_eq!(bits(&app.app.world().get::<ModelPose>(entity).unwrap().joints), bits(scratch.model()));
    }
}

#[test]
fn seen_by_any_camera_in_any_window_it_is_posed() {
    use bevy::{
        camera::RenderTarget,
        log::LogPlugin,
        render::{RenderPlugin, settings::WgpuSettings},
        window::WindowRef,
        winit::WinitPlugin,
    };
    let mut app = App::new();
    let no_gpu = WgpuSettings { backends: None, ..default() };
    app.add_plugins(
        DefaultPlugins
            .set(RenderPlugin { render_creation: no_gpu.into(), ..default() })
            .disable::<WinitPlugin>()
            .disable::<LogPlugin>(),
    );
    app.add_plugins(MarionettePlugins);
    app.finish();
    app.cleanup();
    let second = app.world_mut().spawn(Window::default()).id();
    let handle = {
        let character = build(app.world_mut(), chain(&clips()), &manifest());
        app.world_mut().resource_mut::<Assets<Character>>().add(character)
    };
    let at = |x: f32| Transform::from_xyz(x, 1.0, 5.0);
    // One camera sees the first, one the second, and nobody the third.
    app.world_mut().spawn((Camera3d::default(), at(0.0)));
    let window = RenderTarget::Window(WindowRef::Entity(second));
    app.world_mut().spawn((Camera3d::default(), window, at(1000.0)));
    let characters = [0.0, 1000.0, 2000.0].map(|x| {
        let controller = AnimationController::playing("walk");
        app.world_mut().spawn((SkinnedCharacter(handle.clone()), controller, Transform::from_xyz(x, 0.0, 0.0))).id()
    });
    (0..5).for_each(|_| {
        app.update();
        std::thread::sleep(std::time::Duration::from_millis(20));
    });
    let rest = chain(&clips()).skeleton.rest_model();
    let moved = characters.map(|entity| app.world().get::<ModelPose>(entity).unwrap().joints != rest);
    assert_eq!(moved, [true, true, false]);
}
