//! Blend spaces, switches and ranges in an app, with Scout's own manifest.

use super::support::*;
use bevy::prelude::*;
use bevy_marionette::{
    character::ModelPose,
    controller::{CallbackKind, Transition},
    prelude::*,
    rig::RigState,
};
use glam::Affine3A;
use std::{collections::BTreeSet, path::Path, time::Duration};

const FRAME: f64 = 1.0 / 60.0;

/// Scout, on whom a clip or blend space plays.
fn scout(playing: &str) -> (TestApp, Entity) {
    let mut app = TestApp::with_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets"));
    let handle = app.server().load("scout/scout.character.ron");
    app.wait_for(&handle);
    let entity = app.spawn(&handle, playing);
    app.world().entity_mut(entity).insert(RootMotion::default());
    app.update(0.0);
    (app, entity)
}

fn place(app: &mut TestApp, entity: Entity) -> Transform {
    *app.world().get::<Transform>(entity).unwrap()
}

/// The largest distance that a joint moves between two poses.
fn largest_step(before: &[Affine3A], after: &[Affine3A]) -> f32 {
    before
        .iter()
        .zip(after)
        .map(|(a, b)| a.translation.distance(b.translation))
        .fold(0.0, f32::max)
}

/// Runs frames, and returns the largest distance that a joint moved within the character in one of them.
fn fastest(app: &mut TestApp, entity: Entity, frames: usize) -> f32 {
    let joints = |app: &mut TestApp| app.world().get::<ModelPose>(entity).unwrap().joints.clone();
    let mut before = joints(app);
    let mut fastest = 0.0_f32;
    for _ in 0..frames {
        app.update(FRAME);
        let after = joints(app);
        fastest = fastest.max(largest_step(&before, &after));
        before = after;
    }
    fastest
}

#[test]
fn parameters_set_the_speed_and_the_turn_of_a_character() {
    for (turn, speed) in [
        (0.0, 0.0),
        (0.0, 1.2),
        (0.0, 2.0),
        (0.0, 2.4),
        (40.0, 1.2),
        (-40.0, 2.4),
    ] {
        let (mut app, entity) = scout("locomotion");
        app.controller(entity).set_parameters((turn, speed));
        // Until the smoothed parameters are there.
        (0..60).for_each(|_| app.update(FRAME));
        let start = place(&mut app, entity);
        (0..240).for_each(|_| app.update(FRAME));
        let end = place(&mut app, entity);
        // On the spot, a turn is nothing that the space has a clip for.
        let radians = 4.0 * (turn as f32).to_radians();
        // A walk of so many meters, along a curve.
        let chord = if turn == 0.0 {
            4.0 * speed as f32
        } else {
            2.0 * 4.0 * speed as f32 / radians.abs() * (0.5 * radians).abs().sin()
        };
        let walked = start.translation.distance(end.translation);
        assert!(
            (walked - chord).abs() < 0.1 + 0.05 * chord,
            "({turn}, {speed}): {walked} m, not {chord}"
        );
        let turned = start.rotation.angle_between(end.rotation);
        let off = (turned.cos() - radians.cos()).abs();
        assert!(
            off < 0.15,
            "({turn}, {speed}): turned by {turned}, not {radians}"
        );
    }
}

#[test]
fn footsteps_come_once_each_while_parameters_move() {
    let (mut app, entity) = scout("locomotion");
    app.controller(entity).set_parameters((0.0, 1.2));
    (0..60).for_each(|_| app.update(FRAME));
    app.words(None);
    for frame in 0..600 {
        let t = f64::from(frame) / 600.0;
        app.controller(entity)
            .set_parameters((40.0 * (9.0 * t).sin(), 1.2 + 1.2 * t));
        app.update(FRAME);
    }
    let heard = std::mem::take(&mut app.world().resource_mut::<Heard>().observed);
    let clips: BTreeSet<_> = heard.iter().map(|fact| fact.clip.clone()).collect();
    assert!(clips.len() > 3, "{clips:?}");
    let steps = heard.iter().filter(|fact| fact.word == "footstep").count();
    // Cycles take 1.07 s when walking, and 0.73 s when jogging, with two steps in each. Clips in phase report the same
    // step: as many events as clips with weight, at most four.
    assert!((18..=4 * 28).contains(&steps), "{steps}");
}

#[test]
fn a_switch_starts_at_once_and_moves_no_joint_faster_than_its_clips() {
    let own = |clip| {
        let (mut app, entity) = scout(clip);
        app.update(FRAME);
        fastest(&mut app, entity, 60)
    };
    let usual = own("jog").max(own("idle"));
    let (mut app, entity) = scout("jog");
    (0..33).for_each(|_| app.update(FRAME));
    app.controller(entity)
        .play_with("idle", Transition::switch(Duration::from_millis(400)));
    let switched = fastest(&mut app, entity, 60);
    assert_eq!(app.controller(entity).current(), Some("idle"));
    assert!(
        switched < 1.5 * usual,
        "{switched} m a frame, clips alone {usual}"
    );
    let (mut app, entity) = scout("jog");
    (0..33).for_each(|_| app.update(FRAME));
    app.controller(entity).play("idle");
    let cut = fastest(&mut app, entity, 60);
    assert!(cut > 2.0 * usual, "a cut jumps: {cut} m");
}

#[test]
fn a_snapshot_within_a_switch_goes_on_to_the_same_pose() {
    let (mut app, entity) = scout("locomotion");
    app.controller(entity).set_parameters((20.0, 2.0));
    (0..40).for_each(|_| app.update(FRAME));
    app.controller(entity)
        .play_with("jump", Transition::switch(Duration::from_millis(300)));
    (0..6).for_each(|_| app.update(FRAME));
    // Springs have a state of their own, and lag behind what the root motion does.
    let (saved, rig) = (
        app.controller(entity).clone(),
        app.world().get::<RigState>(entity).unwrap().clone(),
    );
    let start = place(&mut app, entity);
    let first = go_on(&mut app, entity);
    app.controller(entity).restore(&saved);
    app.world()
        .entity_mut(entity)
        .insert((rig, start, GlobalTransform::from(start)));
    let second = go_on(&mut app, entity);
    assert_eq!(first.0, second.0);
    let step = largest_step(&first.1, &second.1);
    assert!(first.1 == second.1, "{step} m apart");
}

/// What comes of 12 frames, still within the switch.
fn go_on(app: &mut TestApp, entity: Entity) -> (AnimationController, Vec<Affine3A>) {
    (0..12).for_each(|_| app.update(FRAME));
    (
        app.controller(entity).clone(),
        app.world().get::<ModelPose>(entity).unwrap().joints.clone(),
    )
}

#[derive(Resource, Default)]
struct Ranges(Vec<(CallbackKind, String)>);

#[test]
fn a_range_that_is_cut_short_ends_before_anything_else_begins() {
    let (mut app, handle, entity) = TestApp::playing("walk");
    app.app.init_resource::<Ranges>();
    app.app
        .add_observer(|event: On<AnimationCallback>, mut ranges: ResMut<Ranges>| {
            ranges.0.push((event.kind, event.name.to_string()));
        });
    let ranges = |app: &mut TestApp| std::mem::take(&mut app.world().resource_mut::<Ranges>().0);
    app.controller(entity)
        .add_callback_range("walk", 0.3, 0.6, "open", ron::Value::Unit);
    app.update(0.4);
    assert_eq!(
        ranges(&mut app),
        [
            (CallbackKind::Key, "left".into()),
            (CallbackKind::Begin, "open".into())
        ]
    );
    assert!(app.controller(entity).range("open").is_some());
    app.controller(entity).play("idle");
    app.update(0.1);
    assert_eq!(ranges(&mut app), [(CallbackKind::End, "open".into())]);
    assert!(app.controller(entity).range("open").is_none());
    // In a step of many loops, each begin has its end.
    app.controller(entity).play("walk");
    app.update(5.0);
    let all = ranges(&mut app);
    let kinds: Vec<_> = all
        .iter()
        .filter(|(_, name)| name == "open")
        .map(|(kind, _)| *kind)
        .collect();
    assert_eq!(kinds, [CallbackKind::Begin, CallbackKind::End].repeat(5));
    drop(handle);
}
