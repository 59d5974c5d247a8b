//! Clips that are added and removed while characters play.

use super::{messages::assert_messages, support::*};
use bevy::{camera::primitives::Aabb, ecs::system::RunSystemOnce, prelude::*};
use bevy_marionette::{
    asset::{AddClipError, Character},
    character::WornBy,
    controller::AnimationTrack,
    model::{ClipFrames, JointTransform, PlaybackMode, SkeletalClip},
    prelude::*,
};
use std::{collections::BTreeSet, sync::Arc, time::Duration};

/// A loop of one second in which the hand moves along X at a speed.
fn reaching(name: &str, speed: f32) -> SkeletalClip {
    let frame = |t: f32| {
        [0.0, 1.0, 1.0]
            .map(|y| JointTransform::new(Vec3::Y * y, Quat::IDENTITY))
            .map(|mut joint| {
                joint.translation.x = if joint.translation.y > 0.0 {
                    0.5 * speed * t
                } else {
                    0.0
                };
                joint
            })
    };
    let joints = ["root", "elbow", "hand"].map(Arc::<str>::from).into();
    let frames = ClipFrames {
        joints,
        animated: vec![],
        transforms: [frame(0.0), frame(1.0)].concat(),
    };
    SkeletalClip::new(
        timing(name, 1.0, PlaybackMode::Loop, &[(0.5, name)]),
        &frames,
    )
    .unwrap()
}

fn add(
    app: &mut TestApp,
    handle: &Handle<Character>,
    clip: &SkeletalClip,
) -> Result<(), AddClipError> {
    app.world()
        .resource_mut::<Assets<Character>>()
        .get_mut(handle)
        .unwrap()
        .add_clip(clip)
}

fn remove(app: &mut TestApp, handle: &Handle<Character>, name: &str) -> bool {
    app.world()
        .resource_mut::<Assets<Character>>()
        .get_mut(handle)
        .unwrap()
        .remove_clip(name)
        .is_some()
}

fn hand(app: &mut TestApp, entity: Entity) -> Vec3 {
    let ask =
        move |poses: CharacterPoses| poses.joint_transform(entity, "hand").unwrap().translation();
    app.world().run_system_once(ask).unwrap()
}

fn aabb(app: &mut TestApp, entity: Entity) -> Aabb {
    let part = app.parts(entity)[0];
    *app.world().get(part).unwrap()
}

/// Checks that the culling box contains every vertex of the posed part.
#[track_caller]
fn assert_boxed(app: &mut TestApp, entity: Entity) {
    let ask = move |poses: CharacterPoses| poses.palette(entity, 0).unwrap();
    let palette = app.world().run_system_once(ask).unwrap();
    let aabb = aabb(app, entity);
    let part = strip("strip", 0);
    for (position, influences) in part.positions.iter().zip(&part.influences) {
        let place = palette[usize::from(influences.palette[0])].transform_point3(*position);
        let out = (Vec3::from(aabb.center) - place).abs() - Vec3::from(aabb.half_extents);
        assert!(
            out.max_element() < 1e-4,
            "{place} is {out} outside of {aabb:?}"
        );
    }
}

#[test]
fn a_clip_added_at_run_time_is_played_by_name_within_its_box() {
    let (mut app, handle, entity) = TestApp::playing("walk");
    app.update(0.3);
    let (parts, ready) = (
        app.parts(entity),
        app.world().resource::<Heard>().ready.len(),
    );
    add(&mut app, &handle, &reaching("reach", 20.0)).unwrap();
    // What plays goes on, also in the frame in which the clip is added.
    assert!((hand(&mut app, entity).x - 0.3).abs() < 1e-5);
    app.update(0.3);
    assert!((hand(&mut app, entity).x - 0.6).abs() < 1e-5);
    app.words(None);
    app.controller(entity)
        .cross_fade("reach", Duration::from_millis(500));
    for _ in 0..6 {
        app.update(0.15);
        assert_boxed(&mut app, entity);
    }
    assert!((hand(&mut app, entity).x - 18.0).abs() < 1e-4);
    assert!(app.words(None).contains(&"reach".to_owned()));
    // The parts are those from before.
    assert_eq!(
        (
            app.parts(entity),
            app.world().resource::<Heard>().ready.len()
        ),
        (parts, ready)
    );
}

#[test]
fn the_box_of_a_blend_makes_room_for_a_clip_that_plays_already() {
    let (mut app, handle, entity) = TestApp::playing("walk");
    // The names wait for their clip.
    app.controller(entity)
        .add_track(AnimationTrack::new("later"));
    app.update(0.1);
    add(&mut app, &handle, &reaching("later", -30.0)).unwrap();
    for _ in 0..8 {
        app.update(0.1);
        assert_boxed(&mut app, entity);
    }
    assert!(hand(&mut app, entity).x < -8.0);
    assert!(remove(&mut app, &handle, "later"));
    app.update(0.1);
    assert_boxed(&mut app, entity);
    assert!(aabb(&mut app, entity).half_extents.x < 8.0);
}

#[test]
fn the_box_follows_a_clip_that_is_replaced_in_one_frame() {
    let (mut app, handle, entity) = TestApp::playing("reach");
    add(&mut app, &handle, &reaching("reach", 1.0)).unwrap();
    app.update(0.3);
    assert_boxed(&mut app, entity);
    assert!(remove(&mut app, &handle, "reach"));
    add(&mut app, &handle, &reaching("reach", 20.0)).unwrap();
    app.update(0.3);
    assert!((hand(&mut app, entity).x - 12.0).abs() < 1e-4);
    assert_boxed(&mut app, entity);
}

#[test]
fn boxes_over_clips_follow_clips_and_parts_that_come_and_go() {
    let (mut app, handle, _) = TestApp::playing("walk");
    let boxes = |app: &mut TestApp, name: &str| {
        let character = app.world().resource::<Assets<Character>>().get(&handle);
        let character = character.unwrap();
        let clip = character.clip_names().position(|known| **known == *name)?;
        Some(character.clip_bounds(clip)?.to_vec())
    };
    let walk = boxes(&mut app, "walk").unwrap();
    add(&mut app, &handle, &reaching("later", 40.0)).unwrap();
    let later = boxes(&mut app, "later").unwrap();
    assert!(later[0].max().x > 19.0, "{later:?}");
    assert!(walk[0].max().x < 19.0, "{walk:?}");
    // Those of later clips move up.
    assert!(remove(&mut app, &handle, "walk"));
    assert_eq!(boxes(&mut app, "walk"), None);
    assert_eq!(boxes(&mut app, "later").unwrap(), later);
    let mut assets = app.world().resource_mut::<Assets<Character>>();
    assets.get_mut(&handle).unwrap().parts.remove(0);
    app.update(0.1);
    assert_eq!(boxes(&mut app, "later").unwrap(), later[1..]);
}

#[test]
fn boxes_follow_the_clips_again_after_overrides_and_after_a_body_wore_the_character() {
    for plugin in [
        MarionettePlugins::default(),
        MarionettePlugins::new(FixedUpdate),
    ] {
        let mut app = TestApp::with_plugin(plugin);
        app.world()
            .resource_mut::<Time<Fixed>>()
            .set_timestep_seconds(0.05);
        let handle = app.add(chain(&clips()), &manifest());
        add(&mut app, &handle, &reaching("reach", 20.0)).unwrap();
        let [body, entity] = ["idle", "walk"].map(|clip| app.spawn(&handle, clip));
        app.update(0.1);
        let of_walk = aabb(&mut app, entity);
        assert_boxed(&mut app, entity);
        for _ in 0..2 {
            let mut overrides = PoseOverrides::default();
            overrides.set(1, JointTransform::new(Vec3::X * 30.0, Quat::IDENTITY));
            app.world().entity_mut(entity).insert(overrides);
            app.update(0.1);
            assert_ne!(aabb(&mut app, entity), of_walk);
            assert_boxed(&mut app, entity);
            app.world().entity_mut(entity).remove::<PoseOverrides>();
            app.update(0.1);
            assert_eq!(aabb(&mut app, entity), of_walk);

            app.world().entity_mut(entity).insert(WornBy(body));
            app.update(0.1);
            assert_ne!(aabb(&mut app, entity), of_walk);
            app.world().entity_mut(entity).remove::<(WornBy, ChildOf)>();
            app.update(0.1);
            assert_eq!(aabb(&mut app, entity), of_walk);
        }
        // A clip begins to play in the next fixed step.
        app.controller(entity).play("reach");
        for dt in [0.001, 0.1] {
            app.update(dt);
            assert_boxed(&mut app, entity);
        }
        assert_ne!(aabb(&mut app, entity), of_walk);
    }
}

#[test]
fn a_clip_removed_while_it_plays_leaves_the_rest_pose_and_says_so_once() {
    let (mut app, handle, entity) = TestApp::playing("walk");
    let other = app.spawn(&handle, "swing");
    app.world()
        .entity_mut(entity)
        .insert(Name::new("Forgetful"));
    app.update(0.3);
    let saved = app.controller(other).clone();
    // `walk` is the first: every other clip moves up.
    assert!(remove(&mut app, &handle, "walk") && !remove(&mut app, &handle, "walk"));
    app.words(None);
    for _ in 0..4 {
        app.update(0.1);
        assert_eq!(hand(&mut app, entity), Vec3::Y * 2.0);
    }
    assert_messages("a clip that is gone", logged("Forgetful"));
    assert!((app.clip_time(other) - 0.7).abs() < 1e-6 && app.words(Some(entity)).is_empty());
    assert!((hand(&mut app, other).x - 0.7).abs() < 1e-5);
    // Saved states hold names, so they mean the same clips as before.
    app.controller(other).restore(&saved);
    app.update(0.2);
    assert_eq!(app.controller(other).current(), Some("swing"));
    assert!((hand(&mut app, other).x - 0.5).abs() < 1e-5);
    // Back again, it goes on where it was.
    add(&mut app, &handle, &reaching("walk", 2.0)).unwrap();
    app.update(0.1);
    assert!((app.clip_time(entity) - 0.4).abs() < 1e-6);
    assert!((hand(&mut app, entity).x - 0.8).abs() < 1e-5);
}

#[test]
fn a_clip_that_does_not_fit_is_refused() {
    let (mut app, handle, _) = TestApp::playing("walk");
    app.update(0.1);
    let taken = add(&mut app, &handle, &reaching("walk", 1.0));
    assert_eq!(taken, Err(AddClipError::NameTaken("walk".into())));
    let joints = ["tentacle"].map(Arc::<str>::from).into();
    let frames = ClipFrames {
        joints,
        animated: vec![],
        transforms: vec![JointTransform::IDENTITY],
    };
    let strange = SkeletalClip::new(timing("curl", 1.0, PlaybackMode::Loop, &[]), &frames).unwrap();
    assert_eq!(
        add(&mut app, &handle, &strange),
        Err(AddClipError::OtherJoints("curl".into()))
    );
    assert_eq!(app.asset(&handle).unwrap().clips.len(), clips().len());
}

#[test]
fn no_character_ever_plays_another_clip_than_the_one_it_was_told_to() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut app = TestApp::new();
    let handle = app.add(chain(&[]), &manifest());
    let name = |clip: usize| format!("c{clip}");
    let mut there = BTreeSet::new();
    let characters: Vec<(Entity, usize)> = (0..5)
        .map(|clip| (app.spawn(&handle, &name(clip)), clip))
        .collect();
    for _ in 0..300 {
        let clip = random.usize(..8);
        if there.remove(&clip) {
            assert!(remove(&mut app, &handle, &name(clip)));
        } else {
            there.insert(clip);
            add(&mut app, &handle, &reaching(&name(clip), clip as f32 + 1.0)).unwrap();
        }
        // Before anything is looked up again: its own pose, or at rest.
        for &(entity, clip) in &characters {
            let place = app.clip_time(entity) as f32 * (clip as f32 + 1.0);
            let hand = hand(&mut app, entity);
            assert!(
                hand.x == 0.0 || (hand.x - place).abs() < 1e-4,
                "{hand} instead of {place}, playing {clip}"
            );
        }
        app.update(f64::from(random.u8(..30)) * 0.01);
        for &(entity, clip) in &characters {
            let place = if there.contains(&clip) {
                app.clip_time(entity) as f32 * (clip as f32 + 1.0)
            } else {
                0.0
            };
            let hand = hand(&mut app, entity);
            assert!(
                (hand.x - place).abs() < 1e-4,
                "{hand} instead of {place}, playing {clip} of {there:?}"
            );
            assert_boxed(&mut app, entity);
        }
    }
}
