//! Attached entities are where their joints are, in the same frame.

use super::{messages::assert_messages, support::*};
use bevy::prelude::*;
use bevy_marionette::{
    asset::Character,
    character::{Attachments, DetachExt, ModelPose, PoseOverrides},
    controller::AnimationTrack,
    import::{Manifest, SocketEntry},
    model::{ClipFrames, ClipTiming, JointTransform, Model, PlaybackMode, SkeletalClip},
    prelude::*,
};
use glam::{Affine3A, EulerRot};
use std::time::Duration;

fn with_socket() -> Manifest {
    let mut manifest = manifest();
    let socket = SocketEntry {
        joint: "hand".into(),
        translation: Vec3::new(0.1, 0.2, -0.3),
        euler_degrees: Vec3::new(30.0, -70.0, 10.0),
        scale: 0.5,
    };
    manifest.sockets.insert("grip".into(), socket);
    manifest
}

fn socket_offset() -> Affine3A {
    let turn = Quat::from_euler(
        EulerRot::YXZ,
        -70_f32.to_radians(),
        30_f32.to_radians(),
        10_f32.to_radians(),
    );
    Affine3A::from_scale_rotation_translation(Vec3::splat(0.5), turn, Vec3::new(0.1, 0.2, -0.3))
}

#[track_caller]
fn assert_near(a: Affine3A, b: Affine3A) {
    let scale = b.translation.abs().max_element().max(1.0);
    assert!(a.abs_diff_eq(b, 1e-5 * scale), "{a:?}\n{b:?}");
}

fn world_of(app: &mut TestApp, entity: Entity) -> Affine3A {
    app.world().get::<GlobalTransform>(entity).unwrap().affine()
}

fn random_turn(random: &mut fastrand::Rng) -> Quat {
    let mut share = || random.f32() * 2.0 - 1.0;
    Quat::from_xyzw(share(), share(), share(), share() + 1e-3).normalize()
}

fn random_place(random: &mut fastrand::Rng, reach: f32) -> Vec3 {
    let mut share = || (random.f32() * 2.0 - 1.0) * reach;
    Vec3::new(share(), share(), share())
}

/// The chain, with two clips of random poses.
fn restless(random: &mut fastrand::Rng) -> Model {
    let mut model = chain(&[]);
    for name in ["one", "two"] {
        let transforms = (0..3 * 16)
            .map(|_| JointTransform::new(random_place(random, 2.0), random_turn(random)))
            .collect();
        let frames = ClipFrames {
            joints: model.skeleton.names().clone(),
            animated: vec![],
            transforms,
        };
        let timing = ClipTiming {
            playback: PlaybackMode::Loop,
            ..ClipTiming::new(name, 2.0)
        };
        model
            .clips
            .push(SkeletalClip::new(timing, &frames).unwrap());
    }
    model
}

#[test]
fn a_carried_entity_is_at_its_joint_in_the_same_frame_during_cross_fades_too() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut app = TestApp::new();
    let handle = app.add(restless(&mut random), &with_socket());
    let mount = app.world().spawn(Transform::default()).id();
    let entity = app.spawn(&handle, "one");
    app.world().entity_mut(entity).insert(ChildOf(mount));
    let offset = Transform::from_xyz(0.3, -0.2, 0.1)
        .with_rotation(random_turn(&mut random))
        .with_scale(Vec3::splat(1.5));
    let by_socket = app
        .world()
        .spawn((AttachedTo(entity), AtSocket::new("grip").offset(offset)))
        .id();
    let by_joint = app
        .world()
        .spawn((AttachedTo(entity), AtSocket::new("elbow")))
        .id();
    let mut last = Affine3A::ZERO;
    for frame in 0..300 {
        // Everything above it moves too, after the previous frame's systems.
        let place = Transform::from_translation(random_place(&mut random, 10.0))
            .with_rotation(random_turn(&mut random));
        app.world()
            .entity_mut(mount)
            .insert(place.with_scale(Vec3::splat(0.5 + random.f32())));
        app.world().entity_mut(entity).insert(
            Transform::from_translation(random_place(&mut random, 3.0))
                .with_rotation(random_turn(&mut random)),
        );
        if frame % 40 == 20 {
            let to = if frame % 80 == 20 { "two" } else { "one" };
            app.controller(entity)
                .cross_fade(to, Duration::from_millis(400));
        }
        app.update(0.003 + 0.04 * random.f64());
        let character = world_of(&mut app, entity);
        let pose = app.world().get::<ModelPose>(entity).unwrap().clone();
        assert_near(
            world_of(&mut app, by_socket),
            character * pose.joints[2] * socket_offset() * offset.compute_affine(),
        );
        assert_near(world_of(&mut app, by_joint), character * pose.joints[1]);
        assert_ne!(pose.joints[2], last, "the pose is of this frame");
        last = pose.joints[2];
    }
}

#[test]
fn the_joint_is_where_its_clip_has_it_at_this_very_frame() {
    let (mut app, _, entity) = TestApp::playing_by(&with_socket(), "idle");
    let carried = app
        .world()
        .spawn((AttachedTo(entity), AtSocket::new("hand")))
        .id();
    let mut seconds = 0.0;
    for dt in [0.1, 0.3, 0.013, 1.7, 0.25] {
        app.update(dt);
        seconds += dt as f32;
        let expected = Vec3::new(seconds, 2.0, 0.5 * seconds);
        assert_near(
            world_of(&mut app, carried),
            Affine3A::from_translation(expected),
        );
    }
}

#[test]
fn asking_for_a_joint_gives_the_same_as_carrying() {
    #[derive(Resource, Default)]
    struct Asked(Vec<Option<GlobalTransform>>);
    let mut app = TestApp::new();
    app.world().init_resource::<Asked>();
    let handle = app.add(chain(&clips()), &with_socket());
    let entity = app.spawn(&handle, "walk");
    let carried = app
        .world()
        .spawn((AttachedTo(entity), AtSocket::new("grip")))
        .id();
    app.app.add_systems(
        Last,
        move |joints: CharacterPoses, mut asked: ResMut<Asked>| {
            asked.0 = ["grip", "hand", "tail"]
                .map(|name| joints.joint_transform(entity, name))
                .into();
        },
    );
    app.world()
        .entity_mut(entity)
        .insert(Transform::from_xyz(1.0, 2.0, 3.0).with_rotation(Quat::from_rotation_y(1.0)));
    app.update(0.4);
    let asked = app.world().resource::<Asked>().0.clone();
    assert_near(asked[0].unwrap().affine(), world_of(&mut app, carried));
    assert!(asked[1].is_some() && asked[2].is_none());
}

#[test]
fn an_override_of_the_joint_moves_what_it_carries_at_once() {
    let (mut app, _, entity) = TestApp::playing_by(&with_socket(), "walk");
    let carried = app
        .world()
        .spawn((AttachedTo(entity), AtSocket::new("hand")))
        .id();
    let mut overrides = PoseOverrides::default();
    overrides.set(
        1,
        JointTransform::new(Vec3::new(5.0, 0.0, 0.0), Quat::IDENTITY),
    );
    overrides.set(
        2,
        JointTransform::new(Vec3::new(0.0, 1.0, 0.0), Quat::IDENTITY),
    );
    app.world().entity_mut(entity).insert(overrides);
    app.update(0.1);
    assert_near(
        world_of(&mut app, carried),
        Affine3A::from_translation(Vec3::new(5.0, 1.0, 0.0)),
    );
}

#[test]
fn overrides_taken_away_while_time_stands_still_give_the_joints_back() {
    let (mut app, _, entity) = TestApp::playing_by(&with_socket(), "walk");
    let carried = app
        .world()
        .spawn((AttachedTo(entity), AtSocket::new("hand")))
        .id();
    app.update(0.1);
    let played = world_of(&mut app, carried);
    let mut overrides = PoseOverrides::default();
    overrides.set(
        1,
        JointTransform::new(Vec3::new(5.0, 0.0, 0.0), Quat::IDENTITY),
    );
    app.world().entity_mut(entity).insert(overrides);
    app.update(0.0);
    assert!((world_of(&mut app, carried).translation - played.translation).length() > 1.0);
    app.world().entity_mut(entity).remove::<PoseOverrides>();
    app.update(0.0);
    assert_near(world_of(&mut app, carried), played);
}

#[test]
fn a_socket_or_joint_that_is_not_there_is_said_once() {
    let (mut app, _, entity) = TestApp::playing_by(&with_socket(), "walk");
    app.world().entity_mut(entity).insert(Name::new("Scout"));
    let carried = app
        .world()
        .spawn((
            AttachedTo(entity),
            AtSocket::new("elbov"),
            Transform::from_xyz(1.0, 0.0, 0.0),
        ))
        .id();
    for _ in 0..5 {
        app.update(0.1);
    }
    assert_messages("a socket that is not there", logged("`elbov`"));
    assert_near(
        world_of(&mut app, carried),
        Affine3A::from_translation(Vec3::X),
    );
    // The correct name, a moment later.
    app.world().get_mut::<AtSocket>(carried).unwrap().socket = "elbow".into();
    app.update(0.1);
    assert_near(
        world_of(&mut app, carried),
        Affine3A::from_translation(Vec3::Y),
    );
}

#[test]
fn a_held_entity_is_moved_by_changing_its_socket() {
    let (mut app, _, entity) = TestApp::playing_by(&with_socket(), "pose");
    // Without a name, it is where the character is.
    let place = Transform::from_xyz(3.0, 0.0, 1.0).with_rotation(Quat::from_rotation_y(1.0));
    app.world().entity_mut(entity).insert(place);
    let held = app.world().spawn(AttachedTo(entity)).id();
    app.update(0.0);
    assert_near(world_of(&mut app, held), place.compute_affine());
    let pose = app.world().get::<ModelPose>(entity).unwrap().joints.clone();
    app.world().get_mut::<AtSocket>(held).unwrap().socket = "hand".into();
    app.update(0.0);
    assert_near(world_of(&mut app, held), place.compute_affine() * pose[2]);
    for turn in 0..4 {
        let offset = Transform::from_rotation(Quat::from_rotation_z(turn as f32))
            .with_scale(Vec3::splat(2.0));
        app.world().get_mut::<AtSocket>(held).unwrap().offset = offset;
        app.update(0.0);
        assert_near(
            world_of(&mut app, held),
            place.compute_affine() * pose[2] * offset.compute_affine(),
        );
    }
    assert_eq!(
        app.world()
            .get::<Attachments>(entity)
            .unwrap()
            .iter()
            .collect::<Vec<_>>(),
        [held]
    );
}

#[test]
fn what_is_carried_goes_with_the_character_and_stays_when_let_go() {
    let (mut app, _, entity) = TestApp::playing_by(&with_socket(), "walk");
    let carried = app
        .world()
        .spawn((AttachedTo(entity), AtSocket::new("hand")))
        .id();
    let let_go = app
        .world()
        .spawn((AttachedTo(entity), AtSocket::new("hand")))
        .id();
    app.update(0.1);
    app.world()
        .entity_mut(let_go)
        .remove::<(AttachedTo, ChildOf)>();
    app.update(0.1);
    assert!(app.world().get::<Attachments>(entity).is_some());
    app.world().entity_mut(entity).despawn();
    app.update(0.1);
    assert!(!app.is_alive(carried));
    assert!(app.is_alive(let_go));
}

#[test]
fn detached_in_place_it_stays_there_and_outlives_the_character() {
    let (mut app, _, entity) = TestApp::playing_by(&with_socket(), "walk");
    app.world()
        .entity_mut(entity)
        .insert(Transform::from_xyz(3.0, 0.0, 1.0).with_scale(Vec3::splat(2.0)));
    let [by_world, by_command] = [(); 2].map(|()| {
        app.world()
            .spawn((AttachedTo(entity), AtSocket::new("grip")))
            .id()
    });
    app.update(0.3);
    let place = world_of(&mut app, by_world);
    app.world().entity_mut(by_world).detach_in_place();
    app.world().commands().entity(by_command).detach_in_place();
    for _ in 0..4 {
        app.update(0.1);
        for carried in [by_world, by_command] {
            assert_near(world_of(&mut app, carried), place);
            assert!(app.world().get::<ChildOf>(carried).is_none());
        }
    }
    app.world().entity_mut(entity).despawn();
    app.update(0.1);
    assert!(app.is_alive(by_world) && app.is_alive(by_command));
    // What is not attached keeps its parent.
    let parent = app.world().spawn(Transform::default()).id();
    app.world()
        .entity_mut(by_world)
        .insert(ChildOf(parent))
        .detach_in_place();
    assert!(app.world().get::<ChildOf>(by_world).is_some());
}

#[test]
fn what_a_character_hangs_from_cannot_be_attached_to_it() {
    let (mut app, _, entity) = TestApp::playing("walk");
    let raft = app
        .world()
        .spawn((Name::new("ring raft"), Transform::default()))
        .id();
    app.world()
        .entity_mut(entity)
        .insert((Name::new("ring sailor"), ChildOf(raft)));
    app.update(0.1);
    app.world()
        .entity_mut(raft)
        .insert((AttachedTo(entity), AtSocket::new("hand")));
    (0..3).for_each(|_| app.update(0.1));
    assert!(
        app.world().get::<AttachedTo>(raft).is_none() && app.world().get::<ChildOf>(raft).is_none()
    );
    assert_messages("attached to what hangs from it", logged("ring raft"));
}

#[test]
fn despawning_what_is_carried_leaves_the_character_as_it_was() {
    let (mut app, _, entity) = TestApp::playing_by(&with_socket(), "walk");
    let carried = app
        .world()
        .spawn((AttachedTo(entity), AtSocket::new("hand")))
        .id();
    app.update(0.1);
    app.world().entity_mut(carried).despawn();
    app.update(0.1);
    assert!(
        app.world()
            .get::<Attachments>(entity)
            .is_none_or(|carries| carries.iter().count() == 0)
    );
    assert_eq!(app.parts(entity).len(), 1);
}

#[test]
fn what_is_carried_changes_hands_even_to_a_character_that_is_still_loading() {
    let (mut app, handle, one) = TestApp::playing_by(&with_socket(), "idle");
    let other = app.spawn(&Handle::default(), "idle");
    app.world()
        .entity_mut(other)
        .insert(Transform::from_xyz(10.0, 0.0, 0.0));
    let carried = app
        .world()
        .spawn((AttachedTo(one), AtSocket::new("hand")))
        .id();
    app.update(1.0);
    assert_near(
        world_of(&mut app, carried),
        Affine3A::from_translation(Vec3::new(1.0, 2.0, 0.5)),
    );
    app.world()
        .entity_mut(carried)
        .insert((AttachedTo(other), AtSocket::new("elbow")));
    app.update(1.0);
    app.world()
        .entity_mut(other)
        .insert(SkinnedCharacter(handle.clone()));
    app.update(1.0);
    assert_near(
        world_of(&mut app, carried),
        Affine3A::from_translation(Vec3::new(10.0, 1.0, 0.0)),
    );
}

#[test]
fn sockets_follow_a_character_whose_asset_changes() {
    let mut app = TestApp::new();
    let handle = app.add(chain(&clips()), &with_socket());
    let mut controller = AnimationController::default();
    controller.add_track(AnimationTrack::new("pose"));
    let entity = app.spawn_with(&handle, controller);
    let carried = app
        .world()
        .spawn((AttachedTo(entity), AtSocket::new("grip")))
        .id();
    app.update(0.1);
    let mut manifest = with_socket();
    manifest.sockets.get_mut("grip").unwrap().joint = "root".into();
    let character = build(app.world(), chain(&clips()), &manifest);
    app.world()
        .resource_mut::<Assets<Character>>()
        .insert(&handle, character)
        .unwrap();
    app.update(0.1);
    assert_near(world_of(&mut app, carried), socket_offset());
}

#[test]
fn a_mirrored_or_squeezed_character_carries_as_exactly() {
    let mut random = fastrand::Rng::with_seed(19);
    let mut app = TestApp::new();
    let handle = app.add(restless(&mut random), &with_socket());
    let entity = app.spawn(&handle, "one");
    let offset = Transform::from_xyz(0.3, -0.2, 0.1).with_scale(Vec3::new(1.0, -1.0, 1.0));
    let carried = app
        .world()
        .spawn((AttachedTo(entity), AtSocket::new("grip").offset(offset)))
        .id();
    for scale in [
        Vec3::new(-1.0, 1.0, 1.0),
        Vec3::new(-1.0, -2.0, -0.5),
        Vec3::new(3.0, 0.2, 1.0),
    ] {
        for _ in 0..20 {
            let place = Transform::from_translation(random_place(&mut random, 10.0));
            let place = place
                .with_rotation(random_turn(&mut random))
                .with_scale(scale);
            app.world().entity_mut(entity).insert(place);
            app.update(0.05 * random.f64());
            let hand = app.world().get::<ModelPose>(entity).unwrap().joints[2];
            let expected =
                place.compute_affine() * hand * socket_offset() * offset.compute_affine();
            assert_near(world_of(&mut app, carried), expected);
        }
    }
}

#[test]
fn the_body_is_swapped_in_the_middle_of_a_clip_and_the_sword_is_in_the_new_hand_at_once() {
    let mut app = TestApp::new();
    let slim = app.add(chain(&clips()), &with_socket());
    // The other character has its joints in another order, and no such socket.
    let mut model = chain(&clips());
    model.skeleton = model
        .skeleton
        .with_names(["hand", "grip", "root"].map(Into::into));
    let stout = app.add(model, &manifest());
    let entity = app.spawn(&slim, "idle");
    let carried = app
        .world()
        .spawn((AttachedTo(entity), AtSocket::new("grip")))
        .id();
    app.update(0.5);
    let hand = Affine3A::from_translation(Vec3::new(0.5, 2.0, 0.25));
    assert_near(world_of(&mut app, carried), hand * socket_offset());
    app.world()
        .entity_mut(entity)
        .insert(SkinnedCharacter(stout));
    app.update(0.5);
    assert_near(
        world_of(&mut app, carried),
        Affine3A::from_translation(Vec3::Y),
    );
    app.world()
        .entity_mut(entity)
        .insert(SkinnedCharacter(slim));
    app.update(0.5);
    let hand = Affine3A::from_translation(Vec3::new(1.5, 2.0, 0.75));
    assert_near(world_of(&mut app, carried), hand * socket_offset());
}

#[test]
fn let_go_without_being_taken_away_it_stays_where_it_was_on_the_character() {
    let (mut app, _, entity) = TestApp::playing_by(&with_socket(), "idle");
    let carried = app
        .world()
        .spawn((AttachedTo(entity), AtSocket::new("hand")))
        .id();
    app.update(1.0);
    app.world().entity_mut(carried).remove::<AttachedTo>();
    app.world()
        .entity_mut(entity)
        .insert(Transform::from_xyz(0.0, 10.0, 0.0));
    app.update(1.0);
    assert_near(
        world_of(&mut app, carried),
        Affine3A::from_translation(Vec3::new(1.0, 12.0, 0.5)),
    );
    assert!(
        app.world()
            .get::<Attachments>(entity)
            .is_none_or(|carries| carries.iter().count() == 0)
    );
}

/// Two characters that move, rotate, grow and fade. One is despawned in the middle of a fade and of a frame.
#[test]
fn at_despawn_what_changed_hands_is_exact_in_that_very_frame_and_what_did_not_is_gone() {
    #[derive(Resource)]
    struct Handover(Option<(Entity, Entity, Entity)>);
    let mut random = fastrand::Rng::with_seed(23);
    for round in 0..12 {
        let mut app = TestApp::new();
        let handle = app.add(restless(&mut random), &with_socket());
        let [one, other] = ["one", "two"].map(|clip| app.spawn(&handle, clip));
        let offset = Transform::from_translation(random_place(&mut random, 0.5))
            .with_rotation(random_turn(&mut random));
        let sword = app
            .world()
            .spawn((AttachedTo(one), AtSocket::new("grip").offset(offset)))
            .id();
        let belt = app
            .world()
            .spawn((AttachedTo(one), AtSocket::new("elbow")))
            .id();
        let shield = app
            .world()
            .spawn((AttachedTo(other), AtSocket::new("elbow")))
            .id();
        app.world().insert_resource(Handover(None));
        // In one command, as a game would: take the sword from the character that is despawned.
        app.app.add_systems(
            Update,
            |mut handover: ResMut<Handover>, mut commands: Commands| {
                let Some((sword, one, other)) = handover.0.take() else {
                    return;
                };
                commands.entity(sword).insert(AttachedTo(other));
                commands.entity(one).despawn();
            },
        );
        for frame in 0..6 {
            for entity in [one, other]
                .into_iter()
                .filter(|_| frame < 3)
                .chain([other])
            {
                let place = Transform::from_translation(random_place(&mut random, 5.0));
                let place = place
                    .with_rotation(random_turn(&mut random))
                    .with_scale(Vec3::splat(0.5 + random.f32()));
                app.world().entity_mut(entity).insert(place);
            }
            if frame == 1 {
                app.controller(one)
                    .cross_fade("two", Duration::from_millis(300));
                app.controller(other)
                    .cross_fade("one", Duration::from_millis(300));
            }
            let goes = frame == 3;
            app.world().resource_mut::<Handover>().0 = goes.then_some((sword, one, other));
            app.update(0.02 + 0.05 * random.f64());
            let holder = if frame < 3 { one } else { other };
            let place = |app: &mut TestApp, character: Entity, joint: usize| {
                world_of(app, character)
                    * app.world().get::<ModelPose>(character).unwrap().joints[joint]
            };
            let expected = place(&mut app, holder, 2) * socket_offset() * offset.compute_affine();
            assert_near(world_of(&mut app, sword), expected);
            let expected = place(&mut app, other, 1);
            assert_near(world_of(&mut app, shield), expected);
            assert_eq!(
                (app.is_alive(one), app.is_alive(belt)),
                (frame < 3, frame < 3),
                "round {round}, frame {frame}"
            );
        }
        let carried = app
            .world()
            .get::<Attachments>(other)
            .unwrap()
            .iter()
            .count();
        assert_eq!(carried, 2);
    }
}

#[test]
fn carried_by_one_who_is_gone_it_is_carried_by_nobody() {
    let (mut app, _, entity) = TestApp::playing("walk");
    app.world().entity_mut(entity).despawn();
    let carried = app
        .world()
        .spawn((
            AttachedTo(entity),
            AtSocket::new("hand"),
            Transform::from_xyz(3.0, 0.0, 0.0),
        ))
        .id();
    app.update(0.1);
    assert!(app.world().get::<ChildOf>(carried).is_none());
    assert_near(
        world_of(&mut app, carried),
        Affine3A::from_translation(Vec3::X * 3.0),
    );
}
