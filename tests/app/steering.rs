//! Characters that are steered, with the manifest that `marionette import` wrote for Scout.

use super::support::*;
use bevy::prelude::*;
use bevy_marionette::{character::ModelPose, controller::Go, prelude::*};
use std::path::Path;

const FRAME: f64 = 1.0 / 60.0;

fn hero(steering: Steering) -> (TestApp, Entity) {
    let mut app = TestApp::with_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets"));
    let handle = app.server().load("scout/scout_hero.character.ron");
    app.wait_for(&handle);
    let entity = app.spawn_with(&handle, AnimationController::default());
    // With overrides, so that its pose is there to be read.
    let parts = (steering, PoseOverrides::default());
    app.world().entity_mut(entity).insert(parts);
    app.update(0.0);
    (app, entity)
}

fn place(app: &mut TestApp, entity: Entity) -> Transform {
    *app.world().get::<Transform>(entity).unwrap()
}

fn steer(app: &mut TestApp, entity: Entity, velocity: Vec3) {
    app.world().get_mut::<Steering>(entity).unwrap().velocity = velocity;
}

#[test]
fn a_hero_goes_where_it_is_steered_and_jumps_on() {
    let (mut app, entity) = hero(Steering::default());
    assert_eq!(app.controller(entity).state(), Some("ground"));
    steer(&mut app, entity, Vec3::new(2.4, 0.0, 0.0));
    (0..60).for_each(|_| app.update(FRAME));
    let start = place(&mut app, entity);
    assert!((start.rotation * Vec3::NEG_Z).abs_diff_eq(Vec3::X, 1e-4));
    let parameters = app.controller(entity).current_track().unwrap().parameters();
    assert!((parameters.x - 2.4).abs() < 1e-5, "{parameters:?}");

    assert_eq!(app.controller(entity).go("jump"), Ok(Go::Entered));
    (0..30).for_each(|_| app.update(FRAME));
    assert_eq!(app.controller(entity).state(), Some("jump"));
    (0..90).for_each(|_| app.update(FRAME));
    assert_eq!(app.controller(entity).state(), Some("ground"));
    let moved = place(&mut app, entity).translation - start.translation;
    assert!(moved.abs_diff_eq(Vec3::X * 4.8, 1e-3), "{moved}");

    steer(&mut app, entity, Vec3::ZERO);
    (0..60).for_each(|_| app.update(FRAME));
    let end = place(&mut app, entity);
    app.update(FRAME);
    assert_eq!(place(&mut app, entity), end, "it stands");
}

#[test]
fn feet_on_the_ground_hardly_slide_at_the_speeds_that_were_measured() {
    for speed in [1.2, 2.4, 3.8_f32] {
        let (mut app, entity) = hero(Steering::default());
        steer(&mut app, entity, Vec3::NEG_Z * speed);
        (0..90).for_each(|_| app.update(FRAME));
        let handle = app
            .world()
            .get::<SkinnedCharacter>(entity)
            .unwrap()
            .0
            .clone();
        let skeleton = &app.asset(&handle).unwrap().skeleton;
        let joints = ["toes.L", "toes.R"].map(|name| usize::from(skeleton.joint(name).unwrap()));
        let toes = |app: &mut TestApp| {
            let at = place(app, entity);
            let pose = &app.world().get::<ModelPose>(entity).unwrap().joints;
            joints.map(|joint| at.transform_point(pose[joint].translation.into()))
        };
        let mut slides: Vec<f32> = Vec::new();
        let mut before = toes(&mut app);
        for _ in 0..120 {
            app.update(FRAME);
            let after = toes(&mut app);
            let lowest = usize::from(after[1].y < after[0].y);
            slides.push((after[lowest] - before[lowest]).with_y(0.0).length());
            before = after;
        }
        // The lower foot stands for about half of a walk's time, and for less of a run's.
        slides.sort_by(f32::total_cmp);
        let slide = slides[slides.len() / 4] / (speed * FRAME as f32);
        assert!(
            slide < 0.15,
            "at {speed} m/s, a standing foot moves by {slide} of the way"
        );
    }
}

#[test]
fn what_a_physics_engine_moves_is_only_told_how_fast_it_goes() {
    let (mut app, entity) = hero(Steering::report());
    steer(&mut app, entity, Vec3::NEG_Z * 1.2);
    (0..3).for_each(|_| app.update(FRAME));
    assert_eq!(place(&mut app, entity), Transform::default());
    let parameters = app.controller(entity).current_track().unwrap().parameters();
    assert!((parameters.x - 1.2).abs() < 1e-6, "{parameters:?}");
}
