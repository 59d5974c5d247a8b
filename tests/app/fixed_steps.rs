//! Characters that advance in fixed steps, shown by displays of other rates.

use super::support::*;
use bevy::prelude::*;
use bevy_marionette::{
    character::{ModelPose, Teleported},
    internals::model::RootPath,
    model::{Model, RootDelta},
    prelude::*,
    recorder::{RecorderPlugin, Recording},
};
use glam::DVec3;
use std::{sync::Arc, time::Duration};

/// Meters per second at which the walk carries.
const SPEED: f32 = 1.5;

fn walking() -> Model {
    let mut model = chain(&clips());
    let ahead = RootDelta::new(DVec3::NEG_Z * f64::from(SPEED), 0.0);
    let path = RootPath::steady(1.0, ahead).unwrap();
    model.clips[0].set_root_path(Some(Arc::new(path)));
    model
}

/// A character that walks in steps of a 64th of a second.
fn walker(motion: RootMotion) -> (TestApp, Entity) {
    let mut app = TestApp::with_plugin(MarionettePlugins::new(FixedUpdate));
    let handle = app.add(walking(), &manifest());
    let entity = app.spawn(&handle, "walk");
    // Poses that nobody sees are stored only if they can be overridden.
    app.world()
        .entity_mut(entity)
        .insert((motion, PoseOverrides::default()));
    // Two steps, so that there is something to show between.
    app.update(2.0 / 64.0);
    (app, entity)
}

fn place(app: &mut TestApp, entity: Entity) -> Vec3 {
    app.world().get::<Transform>(entity).unwrap().translation
}

/// Where a joint is in the character's space, in the pose that is shown.
fn hand(app: &mut TestApp, entity: Entity) -> Vec3 {
    let joints = &app.world().get::<ModelPose>(entity).unwrap().joints;
    joints[2].translation.into()
}

/// The largest and the least distance between what is shown in adjacent frames.
fn strides(of: impl Iterator<Item = Vec3>) -> [f32; 2] {
    let all: Vec<_> = of.collect();
    let each = || all.windows(2).map(|pair| pair[0].distance(pair[1]));
    [each().fold(0.0, f32::max), each().fold(f32::MAX, f32::min)]
}

#[test]
fn root_motion_moves_as_far_in_each_frame_of_a_display() {
    for rate in [50.0, 60.0, 144.0, 240.0] {
        let (mut app, entity) = walker(RootMotion::default());
        let [most, least] = strides((0..100).map(|_| {
            app.update(1.0 / rate);
            place(&mut app, entity)
        }));
        let expected = SPEED / rate as f32;
        assert!(
            most < expected * 1.001 && least > expected * 0.999,
            "{least} to {most} m a frame at {rate} Hz, not {expected}"
        );
    }
}

#[test]
fn poses_change_as_much_in_each_frame_of_a_display() {
    for rate in [60.0, 144.0] {
        let shown = |plugin: MarionettePlugins| {
            let mut app = TestApp::with_plugin(plugin);
            let handle = app.add(walking(), &manifest());
            let entity = app.spawn(&handle, "swing");
            app.world()
                .entity_mut(entity)
                .insert(PoseOverrides::default());
            app.update(2.0 / 64.0);
            let mut all = Vec::new();
            for _ in 0..60 {
                app.update(1.0 / rate);
                all.push(hand(&mut app, entity));
            }
            all
        };
        let fixed = shown(MarionettePlugins::new(FixedUpdate));
        let smooth = shown(MarionettePlugins::default());
        // The same path, a step later.
        let [most, _] = strides(fixed.iter().copied());
        let [expected, _] = strides(smooth.iter().copied());
        assert!(expected > 0.001, "nothing moves");
        assert!(
            most < expected * 1.05,
            "{most} m in a frame at {rate} Hz, not {expected}"
        );
    }
}

#[test]
fn fades_go_on_between_steps() {
    let (mut app, entity) = walker(RootMotion::report());
    app.controller(entity)
        .cross_fade("swing", Duration::from_millis(250));
    // So that nothing but weights changes.
    for (track, at) in app.controller(entity).tracks_mut().zip([0.2, 0.8]) {
        track.seek(at);
        track.speed = 0.0;
    }
    app.update(2.0 / 64.0);
    let mut hands = Vec::new();
    for _ in 0..30 {
        app.update(1.0 / 256.0);
        hands.push(hand(&mut app, entity));
    }
    let still = hands.windows(2).filter(|pair| pair[0] == pair[1]);
    assert_eq!(still.count(), 0);
}

#[derive(Resource, Default)]
struct Seen(Vec<(Vec3, Vec3)>);

#[test]
fn systems_of_fixed_steps_see_each_step_as_it_is() {
    let seen = |rate: f64, motion: fn() -> RootMotion| {
        let (mut app, _) = walker(motion());
        app.world().init_resource::<Seen>();
        app.app.add_systems(
            FixedUpdate,
            (|characters: Query<(Entity, &Transform), With<AnimationController>>,
              poses: CharacterPoses,
              mut seen: ResMut<Seen>| {
                for (entity, transform) in &characters {
                    let hand = poses.pose(entity).unwrap()[2].translation;
                    seen.0.push((transform.translation, hand.into()));
                }
            })
            .before(CharacterSystems::Advance),
        );
        for _ in 0..(rate * 0.5) as usize {
            app.update(1.0 / rate);
        }
        let mut seen = std::mem::take(&mut app.world().resource_mut::<Seen>().0);
        seen.truncate(25);
        assert_eq!(seen.len(), 25);
        seen
    };
    // However often the display asks, to the bit.
    assert_eq!(
        seen(64.0, RootMotion::default),
        seen(144.0, RootMotion::default)
    );
    assert_eq!(
        seen(64.0, RootMotion::report),
        seen(50.0, RootMotion::report)
    );
}

#[test]
fn a_transform_that_the_game_sets_applies_at_once() {
    let (mut app, entity) = walker(RootMotion::default());
    app.update(1.0 / 100.0);
    let there = Vec3::new(0.0, 0.0, 50.0);
    app.world()
        .entity_mut(entity)
        .insert(Transform::from_translation(there));
    app.update(1.0 / 1000.0);
    assert!(place(&mut app, entity).distance(there) < 0.03);
    // And from there it goes on.
    for _ in 0..10 {
        app.update(1.0 / 64.0);
    }
    let walked = place(&mut app, entity).distance(there);
    assert!(
        (walked - SPEED * 10.0 / 64.0).abs() < SPEED * 1.5 / 64.0,
        "{walked}"
    );
}

#[test]
fn a_character_that_is_teleported_in_a_step_is_not_seen_on_the_way() {
    let (mut app, entity) = walker(RootMotion::default());
    let far = Vec3::new(0.0, 0.0, 50.0);
    app.app.add_systems(
        FixedUpdate,
        (move |mut commands: Commands,
               mut done: Local<bool>,
               mut characters: Query<(Entity, &mut Transform), With<AnimationController>>| {
            if std::mem::replace(&mut done, true) {
                return;
            }
            for (entity, mut transform) in &mut characters {
                transform.translation = far;
                commands.entity(entity).insert(Teleported);
            }
        })
        .after(CharacterSystems::RootMotion),
    );
    for _ in 0..10 {
        app.update(1.0 / 256.0);
        let at = place(&mut app, entity);
        assert!(at.z < 1.0 || at.z > 49.0, "{at}");
    }
}

#[test]
fn without_interpolation_a_character_is_where_its_last_step_has_taken_it() {
    let (mut app, entity) = walker(RootMotion::default());
    app.update(0.5 / 64.0);
    let shown = place(&mut app, entity).length();
    let stepped = SPEED * 2.0 / 64.0;
    // Two steps are done, and the display is halfway between them.
    assert!((shown - stepped * 0.75).abs() < 1e-5, "{shown}");
}

#[test]
fn the_recorder_shows_what_was_shown() {
    let mut app = TestApp::with_plugin(MarionettePlugins::new(FixedUpdate));
    app.app.add_plugins(RecorderPlugin);
    let handle = app.add(walking(), &manifest());
    let entity = app.spawn(&handle, "walk");
    app.world()
        .entity_mut(entity)
        .insert((RootMotion::default(), PoseOverrides::default()));
    let mut shown = Vec::new();
    for _ in 0..40 {
        app.update(1.0 / 144.0);
        let frame = app.world().resource::<Recording>().frames().end - 1;
        shown.push((frame, place(&mut app, entity), hand(&mut app, entity)));
    }
    let present = shown[39];
    for (frame, there, pose) in shown.iter().copied().skip(8).step_by(7) {
        app.world().resource_mut::<Recording>().show(frame);
        app.update(1.0 / 144.0);
        app.update(1.0 / 144.0);
        assert_eq!(
            (place(&mut app, entity), hand(&mut app, entity)),
            (there, pose)
        );
    }
    app.world().resource_mut::<Recording>().show_present();
    app.update(0.0);
    app.update(0.0);
    assert_eq!(
        (place(&mut app, entity), hand(&mut app, entity)),
        (present.1, present.2)
    );
    // It goes on as if nothing had been shown.
    app.update(1.0 / 144.0);
    let stride = place(&mut app, entity).distance(present.1);
    assert!((stride - SPEED / 144.0).abs() < 1e-4, "{stride}");
}

#[derive(Resource, Default)]
struct Taken {
    way: Vec3,
    times: usize,
}

#[test]
fn fixed_steps_take_each_movement_once() {
    for rate in [40.0, 60.0, 144.0] {
        let mut app = TestApp::new();
        let handle = app.add(walking(), &manifest());
        let entity = app.spawn(&handle, "walk");
        app.world().entity_mut(entity).insert(RootMotion::report());
        app.world().init_resource::<Taken>();
        let take = |mut motions: Query<&mut RootMotion>, mut taken: ResMut<Taken>| {
            for mut motion in &mut motions {
                taken.way += motion.take().translation();
                taken.times += 1;
            }
        };
        app.world()
            .resource_mut::<Schedules>()
            .add_systems(FixedUpdate, take);
        app.update(0.0);
        let frames = (4.0 * rate) as usize;
        (0..frames).for_each(|_| app.update(1.0 / rate));
        let Taken { way, times } = *app.world().resource::<Taken>();
        // What is left has come since the last step, which a frame runs before it moves.
        assert!((250..=257).contains(&times), "{times} steps at {rate} Hz");
        let expected = 4.0 * SPEED;
        let waits = SPEED * (1.0 / 64.0 + 1.0 / rate as f32) + 1e-4;
        assert!(
            -way.z <= expected + 1e-4 && -way.z >= expected - waits,
            "{way} at {rate} Hz"
        );
        let rest = app.world().get_mut::<RootMotion>(entity).unwrap().take();
        assert!(
            (expected + way.z + rest.translation().z).abs() < 1e-4,
            "{way} and {rest:?} at {rate} Hz"
        );
    }
}
