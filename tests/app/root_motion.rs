//! Characters that are carried by their clips.

use super::support::*;
use bevy::prelude::*;
use bevy_marionette::{
    internals::model::RootPath,
    model::{Model, PlaybackMode, RootDelta},
    prelude::*,
};
use glam::DVec3;
use std::sync::Arc;

/// 1.5 m ahead and a turn in a second.
fn path() -> RootPath {
    RootPath::steady(1.0, RootDelta::new(DVec3::new(0.2, 0.0, -1.5), 0.7)).unwrap()
}

fn walking() -> Model {
    let mut model = chain(&clips());
    model.clips[0].set_root_path(Some(Arc::new(path())));
    model
}

fn start() -> Transform {
    Transform::from_xyz(3.0, 0.5, -2.0)
        .with_rotation(Quat::from_rotation_y(1.0))
        .with_scale(Vec3::splat(2.0))
}

/// A character at [`start`] that walks, with and without root motion.
fn walker(mut app: TestApp, motion: Option<RootMotion>) -> (TestApp, Entity) {
    let handle = app.add(walking(), &manifest());
    let entity = app.spawn(&handle, "walk");
    app.world().entity_mut(entity).insert(start());
    if let Some(motion) = motion {
        app.world().entity_mut(entity).insert(motion);
    }
    (app, entity)
}

fn place(app: &mut TestApp, entity: Entity) -> Transform {
    *app.world().get::<Transform>(entity).unwrap()
}

/// Where the walk so far should have carried the character.
fn expected(app: &mut TestApp, entity: Entity) -> Transform {
    let controller = app.controller(entity);
    let walked = controller.tracks().next().unwrap().unwrapped_position();
    assert!(walked > 0.0);
    start() * Transform::from(path().between(PlaybackMode::Loop, 0.0, walked))
}

#[track_caller]
fn assert_near(a: Transform, b: Transform) {
    assert!(
        a.compute_affine().abs_diff_eq(b.compute_affine(), 1e-4),
        "{a:?} is not {b:?}"
    );
}

#[test]
fn a_walk_carries_its_character_in_frames_of_any_length() {
    for frames in [&[0.1; 30][..], &[0.01, 0.4, 0.033, 2.0, 0.2], &[600.0]] {
        let (mut app, entity) = walker(TestApp::new(), Some(RootMotion::default()));
        frames.iter().for_each(|dt| app.update(*dt));
        assert_near(place(&mut app, entity), expected(&mut app, entity));
    }
    let (mut app, entity) = walker(TestApp::new(), None);
    app.update(0.5);
    assert_eq!(place(&mut app, entity), start());
}

#[test]
fn a_movement_that_is_only_reported_leaves_the_character_where_it_is() {
    let (mut app, entity) = walker(TestApp::new(), Some(RootMotion::report()));
    let mut sum = RootDelta::IDENTITY;
    for _ in 0..20 {
        app.update(0.07);
        sum = sum.then(app.world().get::<RootMotion>(entity).unwrap().delta);
    }
    assert_eq!(place(&mut app, entity), start());
    assert_near(start() * Transform::from(sum), expected(&mut app, entity));
}

#[test]
fn a_paused_character_stands_still_and_a_reversed_one_walks_back() {
    let (mut app, entity) = walker(TestApp::new(), Some(RootMotion::default()));
    app.update(0.8);
    let there = place(&mut app, entity);
    app.controller(entity).paused = true;
    app.update(1.0);
    assert_eq!(place(&mut app, entity), there);
    assert!(
        app.world()
            .get::<RootMotion>(entity)
            .unwrap()
            .delta
            .is_identity()
    );
    app.controller(entity).paused = false;
    app.controller(entity).set_speed(-1.0);
    app.update(0.3);
    app.update(0.5);
    assert_near(place(&mut app, entity), start());
}

#[test]
fn fixed_steps_each_move_the_character() {
    let app = TestApp::with_plugin(MarionettePlugins::new(FixedUpdate));
    let (mut app, entity) = walker(app, Some(RootMotion::default()));
    app.world().init_resource::<Steps>();
    // What is shown lags behind.
    app.app.add_systems(
        FixedLast,
        |characters: Query<&Transform, With<RootMotion>>, mut steps: ResMut<Steps>| {
            let place = characters.single().unwrap();
            steps.0.push(place.translation);
        },
    );
    for _ in 0..20 {
        app.update(0.09);
    }
    let there = expected(&mut app, entity).translation;
    let steps = &app.world().resource::<Steps>().0;
    assert_eq!(steps.len(), 115);
    assert!(
        steps[114].distance(there) < 1e-4,
        "{} is not {there}",
        steps[114]
    );
}

#[test]
fn a_character_that_is_rolled_back_goes_the_same_way_to_the_bit() {
    let (mut app, entity) = walker(TestApp::new(), Some(RootMotion::default()));
    app.update(0.4);
    let saved = (app.controller(entity).clone(), place(&mut app, entity));
    let motion = app.world().get::<RootMotion>(entity).unwrap().clone();
    let go = |app: &mut TestApp| -> Vec<Transform> {
        let frame = |i: i32| {
            app.update(0.01 + 0.003 * f64::from(i % 5));
            place(app, entity)
        };
        (0..50).map(frame).collect()
    };
    let first = go(&mut app);
    app.controller(entity).restore(&saved.0);
    app.world().entity_mut(entity).insert((saved.1, motion));
    assert_eq!(go(&mut app), first);
}

#[derive(Resource, Default)]
struct Steps(Vec<Vec3>);

#[test]
fn a_callback_finds_its_joint_where_the_character_was_then() {
    let steps = |dt: f64| {
        let (mut app, _) = walker(TestApp::new(), Some(RootMotion::default()));
        app.world().init_resource::<Steps>();
        app.app.add_observer(
            |step: On<AnimationCallback>, poses: CharacterPoses, mut steps: ResMut<Steps>| {
                steps.0.push(
                    poses
                        .joint_transform_at(&step, "hand")
                        .unwrap()
                        .translation(),
                );
            },
        );
        (0..(4.0 / dt) as usize).for_each(|_| app.update(dt));
        std::mem::take(&mut app.world().resource_mut::<Steps>().0)
    };
    let (often, seldom) = (steps(0.01), steps(0.4));
    assert!(
        often.len() >= 7 && often.len() == seldom.len(),
        "{} {}",
        often.len(),
        seldom.len()
    );
    for (a, b) in often.iter().zip(&seldom) {
        assert!(a.distance(*b) < 1e-3, "{a} is not {b}");
    }
}

#[test]
fn a_character_stands_still_while_its_next_asset_loads_and_without_a_controller() {
    let (mut app, entity) = walker(TestApp::new(), Some(RootMotion::default()));
    app.update(0.4);
    let there = place(&mut app, entity);
    assert_ne!(there, start());
    let walking = app.world().get::<SkinnedCharacter>(entity).unwrap().clone();
    let never = SkinnedCharacter(app.server().load("never.glb"));
    app.world().entity_mut(entity).insert(never);
    (0..3).for_each(|_| app.update(0.1));
    assert_eq!(place(&mut app, entity), there);
    app.world().entity_mut(entity).insert(walking);
    app.update(0.1);
    let on = place(&mut app, entity);
    assert_ne!(on, there);
    app.world()
        .entity_mut(entity)
        .remove::<AnimationController>();
    (0..3).for_each(|_| app.update(0.1));
    assert_eq!(place(&mut app, entity), on);
}
