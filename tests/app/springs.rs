//! Characters with springs in their manifest swing by themselves.

use super::support::*;
use bevy::prelude::*;
use bevy_marionette::{
    character::{ModelPose, PoseSharing, SpringBones, SpringGravity, Teleported},
    import::{Manifest, SpringEntry},
    model::Model,
    rig::{RigState, Wind},
};

/// The chain, whose root swings.
fn swinging() -> (Model, Manifest) {
    let mut model = chain(&[timing(
        "rest",
        1.0,
        bevy_marionette::model::PlaybackMode::Loop,
        &[],
    )]);
    model.clips.clear();
    let springs = vec![SpringEntry {
        drag: 1.0,
        ..SpringEntry::new(["root"])
    }];
    (
        model,
        Manifest {
            springs,
            ..manifest()
        },
    )
}

fn with_springs() -> (TestApp, Entity) {
    let mut app = TestApp::new();
    let (model, manifest) = swinging();
    let handle = app.add(model, &manifest);
    let entity = app.spawn(&handle, "");
    app.update(0.0);
    app.update(0.0);
    (app, entity)
}

const TIP: usize = 2;

/// The tip's place in the character's space.
fn tip(app: &mut TestApp, entity: Entity) -> Vec3 {
    app.world().get::<ModelPose>(entity).unwrap().joints[TIP]
        .translation
        .into()
}

fn put(app: &mut TestApp, entity: Entity, at: Vec3) {
    app.world()
        .get_mut::<Transform>(entity)
        .unwrap()
        .translation = at;
}

#[test]
fn a_character_that_moves_swings_and_comes_to_rest() {
    let (mut app, entity) = with_springs();
    let rest = tip(&mut app, entity);
    put(&mut app, entity, Vec3::X * 0.3);
    let mut most = 0.0_f32;
    for _ in 0..600 {
        app.update(1.0 / 60.0);
        most = most.max(tip(&mut app, entity).distance(rest));
    }
    assert!(most > 0.1, "{most}");
    assert!(tip(&mut app, entity).distance(rest) < 1e-3);
}

#[test]
fn wind_and_gravity_bend_springs() {
    for (wind, gravity, toward) in [
        (Vec3::X * 9.0, Vec3::ZERO, Vec3::X),
        (Vec3::ZERO, Vec3::Z * 9.0, Vec3::Z),
    ] {
        let mut app = TestApp::new();
        let (model, mut manifest) = swinging();
        manifest.springs[0].gravity = 1.0;
        let handle = app.add(model, &manifest);
        app.world().insert_resource(Wind {
            velocity: wind,
            gusts: 0.0,
            ..Wind::default()
        });
        app.world().insert_resource(SpringGravity(gravity));
        let entity = app.spawn(&handle, "");
        (0..300).for_each(|_| app.update(1.0 / 60.0));
        let bent = tip(&mut app, entity);
        assert!(bent.dot(toward) > 0.02, "{bent}");
    }
}

#[test]
fn a_weight_of_zero_from_the_start_costs_no_rig_and_a_later_one_brings_it() {
    let mut app = TestApp::new();
    let (model, manifest) = swinging();
    let handle = app.add(model, &manifest);
    let entity = app.spawn(&handle, "");
    app.world()
        .entity_mut(entity)
        .insert(SpringBones { weight: 0.0 });
    let plain = app.add(
        swinging().0,
        &Manifest {
            springs: vec![],
            ..manifest
        },
    );
    let other = app.spawn(&plain, "");
    (0..3).for_each(|_| app.update(0.01));
    for entity in [entity, other] {
        assert!(app.world().get::<RigState>(entity).is_none());
    }
    assert!(app.world().get::<SpringBones>(other).is_none());
    app.world().get_mut::<SpringBones>(entity).unwrap().weight = 1.0;
    (0..3).for_each(|_| app.update(0.01));
    assert!(app.world().get::<RigState>(entity).is_some());
}

#[test]
fn a_teleported_character_takes_its_springs_along() {
    let (mut app, entity) = with_springs();
    let rest = tip(&mut app, entity);
    app.update(0.01);
    put(&mut app, entity, Vec3::X * 5.0);
    app.world().entity_mut(entity).insert(Teleported);
    for _ in 0..20 {
        app.update(0.01);
        assert!(tip(&mut app, entity).distance(rest) < 1e-3);
    }
}

#[test]
fn a_restored_state_swings_on_with_the_same_bits() {
    let (mut app, entity) = with_springs();
    let run = |app: &mut TestApp| {
        let poses = (0..40).map(|i| {
            put(app, entity, Vec3::X * (i as f32 * 0.3).sin());
            app.update(0.013);
            app.world().get::<ModelPose>(entity).unwrap().joints.clone()
        });
        poses.collect::<Vec<_>>()
    };
    run(&mut app);
    let saved = ron::to_string(app.world().get::<RigState>(entity).unwrap()).unwrap();
    let first = run(&mut app);
    *app.world().get_mut::<RigState>(entity).unwrap() = ron::from_str(&saved).unwrap();
    assert_eq!(run(&mut app), first);
    let still = app.world().get::<RigState>(entity).unwrap().clone();
    app.update(0.0);
    assert_eq!(
        app.world().get::<RigState>(entity).unwrap(),
        &still,
        "paused"
    );
}

#[test]
fn springs_swing_as_soon_as_poses_are_not_shared_anymore() {
    let mut app = TestApp::new();
    app.world().insert_resource(PoseSharing::Lossless);
    let (model, manifest) = swinging();
    let handle = app.add(model, &manifest);
    let entity = app.spawn(&handle, "");
    (0..3).for_each(|_| app.update(0.01));
    assert!(app.world().get::<RigState>(entity).is_none());
    app.world().insert_resource(PoseSharing::Off);
    (0..2).for_each(|_| app.update(0.01));
    assert!(app.world().get::<RigState>(entity).is_some());
}
