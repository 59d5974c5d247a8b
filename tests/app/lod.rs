//! Characters leave out what is too small on screen to be seen, and nothing else.

use super::{crowd::*, support::*};
use bevy::prelude::*;
use bevy_marionette::{
    asset::Character,
    character::{AnimationLod, IkLimb, ModelPose, PoseCounts},
    import::{GoalEntry, Manifest},
    model::Model,
    prelude::*,
    recorder::{RecorderPlugin, Recording},
    rig::Limb,
};

/// An app in which everything is in view of a camera at the origin that looks along −Z. Its picture is as high at a distance
/// as twice that distance.
fn watched() -> TestApp {
    let mut app = seen();
    spawn_camera(&mut app);
    app
}

fn spawn_camera(app: &mut TestApp) {
    let lens = PerspectiveProjection {
        fov: std::f32::consts::FRAC_PI_2,
        ..default()
    };
    app.world().spawn((
        Camera::default(),
        Projection::Perspective(lens),
        GlobalTransform::default(),
    ));
}

fn spawn_at(app: &mut TestApp, handle: &Handle<Character>, clip: &str, distance: f32) -> Entity {
    let entity = app.spawn(handle, clip);
    app.world().entity_mut(entity).insert((
        AnimationLod::default(),
        Transform::from_xyz(0.0, -1.0, -distance),
    ));
    entity
}

/// Some 2.3 m high, so it is a tenth of the picture at 11 m.
const FAR: f32 = 1000.0;
const NEAR: f32 = 3.0;

#[test]
fn small_characters_take_turns_those_nearby_do_not_and_no_event_is_late() {
    let run = |distance: f32| {
        let mut app = watched();
        let handle = app.add(turning(), &manifest());
        for _ in 0..64 {
            spawn_at(&mut app, &handle, "walk", distance);
        }
        let mut history = Vec::new();
        for _ in 0..60 {
            app.update(1.0 / 60.0);
            history.push((counts(&app), app.words(None)));
        }
        history
    };
    let (near, far) = (run(NEAR), run(FAR));
    for frame in 0..60 {
        assert_eq!(near[frame].1, far[frame].1, "events of frame {frame}");
    }
    for (near, _) in &near[10..] {
        let all = PoseCounts {
            in_view: 64,
            evaluated: 64,
            ..default()
        };
        assert_eq!(*near, all);
    }
    for frames in far[10..].windows(4) {
        let posed: Vec<usize> = frames.iter().map(|(count, _)| count.evaluated).collect();
        assert_eq!(posed.iter().sum::<usize>(), 64, "each once: {posed:?}");
        assert!(posed.iter().all(|&posed| posed < 32), "in turns: {posed:?}");
        let held = frames.iter().map(|(count, _)| count.held);
        assert!(held.eq(posed.iter().map(|posed| 64 - posed)));
    }
}

#[test]
fn a_pose_is_drawn_at_once_when_the_character_has_moved_far_enough_to_be_seen() {
    let mut app = watched();
    let handle = app.add(turning(), &manifest());
    let entity = spawn_at(&mut app, &handle, "walk", FAR);
    let posed = |app: &mut TestApp, step: f32| -> usize {
        let frames = (0..40).map(|_| {
            let mut place = app.world().get_mut::<Transform>(entity).unwrap();
            place.translation.x += step;
            app.update(1.0 / 60.0);
            counts(app).evaluated
        });
        frames.sum()
    };
    posed(&mut app, 0.0);
    assert_eq!(posed(&mut app, 0.0), 10);
    assert_eq!(posed(&mut app, 1e-3), 10);
    assert_eq!(posed(&mut app, 1.0), 40);
    // Other things do not wait, either.
    app.world().entity_mut(entity).remove::<AnimationLod>();
    assert_eq!(posed(&mut app, 0.0), 40);
}

#[test]
fn a_character_that_moved_and_stopped_while_it_was_held_is_drawn_where_it_is() {
    let mut app = watched();
    let handle = app.add(turning(), &manifest());
    let entity = spawn_at(&mut app, &handle, "walk", FAR);
    app.world().entity_mut(entity).remove::<ModelPose>();
    (0..20).for_each(|_| app.update(1.0 / 60.0));
    app.controller(entity).paused = true;
    (0..20).for_each(|_| app.update(1.0 / 60.0));
    for _ in 0..4 {
        let mut place = app.world().get_mut::<Transform>(entity).unwrap();
        place.translation.x += 1e-3;
        let drawn: usize = (0..4)
            .map(|_| {
                app.update(1.0 / 60.0);
                counts(&app).evaluated
            })
            .sum();
        assert_eq!(drawn, 1);
        // Off the beat, so that each of the frames is the one in which it moves.
        app.update(1.0 / 60.0);
    }
}

#[test]
fn without_a_camera_nothing_is_left_out() {
    let mut app = seen();
    let handle = app.add(turning(), &manifest());
    let _ = spawn_at(&mut app, &handle, "walk", FAR);
    (0..10).for_each(|_| app.update(1.0 / 60.0));
    assert_eq!(counts(&app).held, 0);
}

/// The turning chain as an arm that reaches.
fn arm() -> (Model, Manifest) {
    let mut manifest = manifest();
    let limb = Limb::two_bone("root", "hand");
    manifest.goals.insert("reach".into(), GoalEntry::new(limb));
    (turning(), manifest)
}

#[test]
fn a_rig_that_is_too_small_to_be_seen_rests_and_acts_again_when_it_comes_near() {
    let mut app = watched();
    let (model, manifest) = arm();
    let handle = app.add(model, &manifest);
    let entity = spawn_at(&mut app, &handle, "walk", NEAR);
    let goal = Vec3::new(1.0, 0.5, 0.0);
    app.world().spawn((
        IkGoal(entity),
        IkLimb::named("reach").turn_limit(f32::INFINITY),
        Transform::from_translation(goal),
        ChildOf(entity),
    ));
    let sword = app
        .world()
        .spawn((AttachedTo(entity), AtSocket::new("hand")))
        .id();
    let reach = |app: &mut TestApp, distance: f32| {
        let mut place = app.world().get_mut::<Transform>(entity).unwrap();
        place.translation.z = -distance;
        (0..6).for_each(|_| app.update(1.0 / 60.0));
        let hand = Vec3::from(pose(app, entity)[2].translation);
        let held = app.world().get::<Transform>(sword).unwrap().translation;
        assert!(hand.distance(held) < 1e-5, "at {distance}: {hand} {held}");
        hand.distance(goal)
    };
    assert!(reach(&mut app, NEAR) < 1e-3);
    assert!(reach(&mut app, FAR) > 0.3);
    let time = app.clip_time(entity);
    let clip = pose_at(&app, &handle, "walk", time);
    assert_eq!(bits(&pose(&app, entity)), bits(&clip), "the clips' own");
    assert!(reach(&mut app, NEAR) < 1e-3);
    // In between, it is on its way.
    let between = [17.0, 15.5, 14.0].map(|distance| reach(&mut app, distance));
    assert!(between.is_sorted_by(|a, b| a > b), "{between:?}");
    assert!(between[0] > 1e-3 && between[2] > 1e-3, "{between:?}");
}

#[test]
fn the_past_is_shown_in_the_detail_that_it_had() {
    let mut app = watched();
    app.app.add_plugins(RecorderPlugin);
    let (model, manifest) = arm();
    let handle = app.add(model, &manifest);
    let entity = spawn_at(&mut app, &handle, "walk", NEAR);
    app.world().spawn((
        IkGoal(entity),
        IkLimb::named("reach").turn_limit(f32::INFINITY),
        Transform::from_xyz(1.0, 0.5, 0.0),
        ChildOf(entity),
    ));
    // Away, until it doesn't reach anymore, and back.
    let mut seen = Vec::new();
    for frame in 0..120 {
        let away = 1.0 - (frame as f32 / 60.0 - 1.0).abs();
        let mut place = app.world().get_mut::<Transform>(entity).unwrap();
        place.translation.z = -(NEAR + 30.0 * away);
        app.update(1.0 / 60.0);
        let shown = app.world().resource::<Recording>().frames().end - 1;
        seen.push((shown, bits(&pose(&app, entity))));
    }
    for (frame, expected) in seen.iter().rev().step_by(7) {
        app.world().resource_mut::<Recording>().show(*frame);
        (0..2).for_each(|_| app.update(1.0 / 60.0));
        assert_eq!(bits(&pose(&app, entity)), *expected, "frame {frame}");
    }
}

#[test]
fn a_resting_rig_is_not_posed_out_of_view_and_its_boxes_are_those_of_the_clips() {
    use bevy::camera::primitives::Aabb;
    let mut app = TestApp::new();
    spawn_camera(&mut app);
    let (model, manifest) = arm();
    let handle = app.add(model, &manifest);
    let [plain, rigged] = [0, 1].map(|_| spawn_at(&mut app, &handle, "walk", FAR));
    app.world().spawn((IkGoal(rigged), IkLimb::named("reach")));
    (0..10).for_each(|_| app.update(1.0 / 60.0));
    assert_eq!(counts(&app), PoseCounts::default());
    let [a, b] = [plain, rigged].map(|entity| {
        let part = app.parts(entity)[0];
        *app.world().get::<Aabb>(part).unwrap()
    });
    assert_eq!(a, b);
}
