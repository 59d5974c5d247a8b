//! Rigs act in the same frame, whatever their goals hang from.

use super::{messages::assert_messages, support::*};
use bevy::{camera::primitives::Aabb, ecs::system::RunSystemOnce, prelude::*};
use bevy_marionette::{
    character::{
        CharacterPoses, CharacterRigPlugin, GoalLimb, IkGoals, IkLimb, IkWeight, LookAt, ModelPose,
        Teleported,
    },
    import::{GoalEntry, LookAtEntry, Manifest},
    model::Model,
    prelude::*,
    rig::{Limb, RigState},
};
use glam::Affine3A;
use std::time::Duration;

/// The chain with bones that stay a meter long, and a goal for its hand.
fn arm() -> (Model, Manifest) {
    let mut model = chain(&[timing(
        "rest",
        1.0,
        bevy_marionette::model::PlaybackMode::Loop,
        &[],
    )]);
    model.clips.clear();
    let mut manifest = manifest();
    let limb = Limb::two_bone("root", "hand");
    manifest.goals.insert("reach".into(), GoalEntry::new(limb));
    manifest.look_at = Some(LookAtEntry {
        speed: f32::INFINITY,
        ..LookAtEntry::new([("root", 0.5), ("elbow", 0.5)])
    });
    (model, manifest)
}

fn with_arms<const N: usize>() -> (TestApp, [Entity; N]) {
    let mut app = TestApp::new();
    let (model, manifest) = arm();
    let handle = app.add(model, &manifest);
    let arms = std::array::from_fn(|_| app.spawn(&handle, ""));
    app.update(0.0);
    (app, arms)
}

/// A joint's place in the world as it is drawn: after everything has run.
fn place_of(app: &mut TestApp, character: Entity, joint: usize) -> Vec3 {
    let world = app
        .world()
        .get::<GlobalTransform>(character)
        .unwrap()
        .affine();
    let pose = app.world().get::<ModelPose>(character).unwrap();
    (world * pose.joints[joint]).translation.into()
}

fn goal_at(app: &mut TestApp, goal: Entity) -> Vec3 {
    app.world()
        .get::<GlobalTransform>(goal)
        .unwrap()
        .translation()
}

const ELBOW: usize = 1;
const HAND: usize = 2;

fn random_place(random: &mut fastrand::Rng) -> Transform {
    let mut share = || random.f32() * 2.0 - 1.0;
    let rotation = Quat::from_xyzw(share(), share(), share(), share() + 1e-3).normalize();
    Transform {
        translation: Vec3::new(share(), share(), share()),
        rotation,
        scale: Vec3::splat(1.5 + share()),
    }
}

#[test]
fn hands_are_at_their_goals_in_the_frame_in_which_both_moved() {
    let (mut app, [character]) = with_arms();
    let mut random = fastrand::Rng::with_seed(11);
    let mount = app.world().spawn(Transform::default()).id();
    app.world().entity_mut(character).insert(ChildOf(mount));
    let stand = app.world().spawn(Transform::default()).id();
    let pole = app.world().spawn(Transform::default()).id();
    // They are thrown about, farther in each frame than an arm can turn.
    let goal = (
        IkGoal(character),
        IkLimb::named("reach")
            .pole(pole)
            .rotate_tip(true)
            .turn_limit(f32::INFINITY),
    );
    let goal = app.world().spawn((goal, ChildOf(stand))).id();
    for frame in 0..200 {
        for entity in [mount, stand, character, pole] {
            *app.world().get_mut::<Transform>(entity).unwrap() = random_place(&mut random);
        }
        // Within reach of the character, wherever it is now.
        let place = |app: &mut TestApp, entity| {
            app.world()
                .get::<Transform>(entity)
                .unwrap()
                .compute_affine()
        };
        let world = place(&mut app, mount) * place(&mut app, character);
        let offset = Vec3::from_array([0; 3].map(|_| random.f32() * 2.0 - 1.0));
        let target = place(&mut app, stand).inverse() * world * Affine3A::from_translation(offset);
        *app.world().get_mut::<Transform>(goal).unwrap() = Transform::from_matrix(target.into());
        app.update(0.01);
        let scale = world.to_scale_rotation_translation().0.x;
        let (hand, goal) = (place_of(&mut app, character, HAND), goal_at(&mut app, goal));
        assert!(
            hand.distance(goal) < 2e-4 * scale,
            "frame {frame}: {hand} {goal}"
        );
        let elbow = place_of(&mut app, character, 1);
        let pole = goal_at(&mut app, pole);
        let root = place_of(&mut app, character, 0);
        let side = |point: Vec3| (point - root).reject_from(goal - root).normalize_or_zero();
        assert!(
            side(elbow).dot(side(pole)) > 0.99,
            "frame {frame}: the elbow faces the pole"
        );
    }
}

#[test]
fn a_hand_rests_on_the_shoulder_of_another_that_is_moved_by_its_own_goal() {
    let (mut app, [first, second, third]) = with_arms();
    for (entity, x) in [(first, 1.0), (second, 1.5), (third, 2.0)] {
        app.world()
            .entity_mut(entity)
            .insert(Transform::from_xyz(x, 0.0, 0.0));
    }
    // Each reaches for the hand of the next; the last for a ball that is thrown about.
    let reach = |arm| {
        (
            IkGoal(arm),
            IkLimb::named("reach").turn_limit(f32::INFINITY),
        )
    };
    let ball = app
        .world()
        .spawn((reach(third), Transform::from_xyz(2.0, 1.0, 0.0)))
        .id();
    let on_third = app
        .world()
        .spawn((AttachedTo(third), AtSocket::new("hand"), reach(second)))
        .id();
    let on_second = app
        .world()
        .spawn((AttachedTo(second), AtSocket::new("hand"), reach(first)))
        .id();
    for step in 0..50 {
        let angle = step as f32 * 0.7;
        let place = Vec3::new(2.0 + 0.4 * angle.sin(), 0.5, 0.8 * angle.cos());
        app.world().get_mut::<Transform>(ball).unwrap().translation = place;
        app.update(0.01);
        let ball = goal_at(&mut app, ball);
        for (character, goal) in [
            (third, None),
            (second, Some(on_third)),
            (first, Some(on_second)),
        ] {
            let hand = place_of(&mut app, character, HAND);
            let target = goal.map_or(ball, |goal| goal_at(&mut app, goal));
            assert!(
                target.distance(ball) < 1e-4,
                "step {step}: all of them are at the ball"
            );
            assert!(hand.distance(target) < 1e-3, "step {step}: {hand} {target}");
        }
    }
}

#[test]
fn characters_that_hold_on_to_each_other_and_goals_on_themselves_do_not_hang() {
    let (mut app, [one, other, alone]) = with_arms();
    app.world()
        .entity_mut(other)
        .insert(Transform::from_xyz(1.0, 0.0, 0.0));
    app.world().spawn((
        AttachedTo(one),
        AtSocket::new("elbow"),
        IkGoal(other),
        IkLimb::named("reach"),
    ));
    app.world().spawn((
        AttachedTo(other),
        AtSocket::new("elbow"),
        IkGoal(one),
        IkLimb::named("reach"),
    ));
    let own = (
        AttachedTo(alone),
        AtSocket::new("elbow").offset(Transform::from_xyz(0.0, 0.2, 0.3)),
    );
    app.world()
        .spawn((own, IkGoal(alone), IkLimb::named("reach")));
    for _ in 0..100 {
        app.update(0.01);
    }
    for character in [one, other, alone] {
        assert!(place_of(&mut app, character, HAND).is_finite());
    }
    // Its own elbow is where the clips put it: a meter up.
    let hand = place_of(&mut app, alone, HAND);
    assert!(hand.distance(Vec3::new(0.0, 1.2, 0.3)) < 1e-3, "{hand}");
}

#[test]
fn weights_fade_softly_and_a_despawned_goal_lets_go() {
    let (mut app, [character]) = with_arms();
    let at_rest = place_of(&mut app, character, HAND);
    let goal = app
        .world()
        .spawn((
            IkGoal(character),
            IkLimb::named("reach"),
            Transform::from_xyz(1.0, 0.5, 0.0),
        ))
        .id();
    app.world().entity_mut(goal).insert(IkWeight::new(0.0));
    app.update(0.1);
    assert!(place_of(&mut app, character, HAND).distance(at_rest) < 1e-5);
    app.world()
        .get_mut::<IkWeight>(goal)
        .unwrap()
        .fade_to(1.0, Duration::from_secs(1));
    let mut last = at_rest;
    for _ in 0..100 {
        app.update(0.01);
        let hand = place_of(&mut app, character, HAND);
        assert!(hand.distance(last) < 0.06, "{hand}");
        last = hand;
    }
    app.update(0.01);
    let there = place_of(&mut app, character, HAND);
    assert!(there.distance(Vec3::new(1.0, 0.5, 0.0)) < 2e-4, "{there}");
    app.world().despawn(goal);
    app.update(0.01);
    assert!(
        place_of(&mut app, character, HAND).distance(there) < 0.1,
        "it lets go smoothly"
    );
    (0..100).for_each(|_| app.update(0.01));
    assert!(place_of(&mut app, character, HAND).distance(at_rest) < 1e-5);
    assert!(
        app.world()
            .get::<IkGoals>(character)
            .is_none_or(|goals| goals.is_empty())
    );
    assert_eq!(
        app.world().get::<RigState>(character).unwrap(),
        &RigState::default()
    );
}

#[test]
fn how_a_limb_reaches_can_be_changed_while_it_does() {
    let (mut app, [character]) = with_arms();
    let nobody = IkLimb::named("no such limb").turn_limit(f32::INFINITY);
    let goal = app
        .world()
        .spawn((
            IkGoal(character),
            nobody,
            Transform::from_xyz(1.0, 0.5, 0.0),
        ))
        .id();
    app.update(0.1);
    let at_rest = place_of(&mut app, character, HAND);
    app.world().get_mut::<IkLimb>(goal).unwrap().limb = GoalLimb::Named("reach".into());
    app.update(0.1);
    let there = place_of(&mut app, character, HAND);
    assert!(
        there.distance(at_rest) > 0.1 && there.distance(Vec3::new(1.0, 0.5, 0.0)) < 2e-4,
        "{there}"
    );
    // The elbow goes to either side, and the hand stays.
    let elbows = [Vec3::new(0.0, 0.5, 5.0), Vec3::new(0.0, 0.5, -5.0)].map(|place| {
        let pole = app.world().spawn(Transform::from_translation(place)).id();
        app.world().get_mut::<IkLimb>(goal).unwrap().pole = Some(pole);
        app.update(0.1);
        assert!(place_of(&mut app, character, HAND).distance(there) < 1e-3);
        place_of(&mut app, character, ELBOW)
    });
    assert!(elbows[0].z > 0.1 && elbows[1].z < -0.1, "{elbows:?}");
    assert_eq!(
        app.world()
            .get::<IkGoals>(character)
            .unwrap()
            .iter()
            .collect::<Vec<_>>(),
        [goal]
    );
}

#[test]
fn goals_that_are_there_first_are_reached_at_once_and_others_smoothly() {
    let mut app = TestApp::new();
    let (model, manifest) = arm();
    let handle = app.add(model, &manifest);
    app.update(0.01);
    let place = Vec3::new(1.0, 0.5, 0.0);
    let distance = |app: &mut TestApp, character| place_of(app, character, HAND).distance(place);
    let goal = |app: &mut TestApp, goal: (IkGoal, IkLimb)| {
        app.world()
            .spawn((goal, Transform::from_translation(place)))
            .id()
    };
    let first = app.spawn(&handle, "");
    goal(&mut app, (IkGoal(first), IkLimb::named("reach")));
    app.update(0.01);
    assert!(
        distance(&mut app, first) < 2e-4,
        "in the first frame in which the character is seen"
    );

    let [second, third] = [app.spawn(&handle, ""), app.spawn(&handle, "")];
    app.update(0.01);
    goal(&mut app, (IkGoal(second), IkLimb::named("reach")));
    goal(
        &mut app,
        (
            IkGoal(third),
            IkLimb::named("reach").turn_limit(f32::INFINITY),
        ),
    );
    app.update(0.01);
    assert!(distance(&mut app, third) < 2e-4, "without a limit");
    let mut last = distance(&mut app, second);
    assert!(last > 0.5, "{last}");
    for _ in 0..100 {
        app.update(0.01);
        let now = distance(&mut app, second);
        // Two bones of a meter, each of which turns by 2.8 radians per second.
        assert!((last - now).abs() < 0.1, "{last} {now}");
        last = now;
    }
    assert!(last < 2e-4, "{last}");

    // A teleported character takes its arm along.
    let mut transform = app.world().get_mut::<Transform>(second).unwrap();
    *transform = transform.with_rotation(Quat::from_rotation_y(1.0));
    app.world().entity_mut(second).insert(Teleported);
    app.update(0.01);
    assert!(distance(&mut app, second) < 2e-4);
}

#[test]
fn a_character_looks_at_what_moves_and_back_when_it_is_gone() {
    let (mut app, [character]) = with_arms();
    app.world()
        .entity_mut(character)
        .insert(Transform::from_xyz(3.0, 0.0, 1.0).looking_to(Vec3::X, Vec3::Y));
    let lantern = app.world().spawn(Transform::default()).id();
    app.world()
        .entity_mut(character)
        .insert(LookAt::entity(lantern));
    for step in 0..40 {
        let angle = step as f32 * 0.3;
        let place = Vec3::new(6.0, 1.0 + angle.sin(), 1.0 + 2.0 * angle.cos());
        app.world()
            .get_mut::<Transform>(lantern)
            .unwrap()
            .translation = place;
        app.update(0.01);
        let world = app
            .world()
            .get::<GlobalTransform>(character)
            .unwrap()
            .affine();
        let head = world * app.world().get::<ModelPose>(character).unwrap().joints[1];
        let forward = head.transform_vector3(Vec3::NEG_Z).normalize();
        let wanted = (place - Vec3::from(head.translation)).normalize();
        assert!(
            forward.cross(wanted).length() < 2e-3,
            "step {step}: {forward} {wanted}"
        );
    }
    assert_ne!(
        app.world().get::<RigState>(character).unwrap(),
        &RigState::default()
    );
    app.world().despawn(lantern);
    app.update(0.01);
    assert_eq!(
        app.world().get::<RigState>(character).unwrap(),
        &RigState::default()
    );
}

#[test]
fn a_character_looks_again_when_the_joints_named_in_code_are_taken_back() {
    let (mut app, [character]) = with_arms();
    let turned = |app: &mut TestApp| {
        app.update(0.01);
        app.world().get::<RigState>(character).unwrap() != &RigState::default()
    };
    let look = LookAt::point(Vec3::new(6.0, 1.0, 1.0)).joints(LookAtEntry::new([("hnad", 1.0)]));
    app.world().entity_mut(character).insert(look);
    assert!(!turned(&mut app), "it has no such joint");
    app.world().get_mut::<LookAt>(character).unwrap().joints = None;
    assert!(turned(&mut app), "the manifest names joints");
}

#[test]
fn a_restored_state_goes_on_with_the_same_bits() {
    let (mut app, [character]) = with_arms();
    let joints = LookAtEntry {
        speed: 90.0,
        ..LookAtEntry::new([("root", 0.3), ("elbow", 0.7)])
    };
    app.world()
        .entity_mut(character)
        .insert(LookAt::point(Vec3::new(2.0, 3.0, -1.0)).joints(joints));
    let run = |app: &mut TestApp| {
        let poses = (0..30).map(|_| {
            app.update(0.01);
            app.world()
                .get::<ModelPose>(character)
                .unwrap()
                .joints
                .clone()
        });
        poses.collect::<Vec<_>>()
    };
    app.update(0.1);
    let saved = app.world().get::<RigState>(character).unwrap().clone();
    let text = ron::to_string(&saved).unwrap();
    let first = run(&mut app);
    *app.world().get_mut::<RigState>(character).unwrap() = ron::from_str(&text).unwrap();
    assert_eq!(run(&mut app), first);
    assert_ne!(first[0], first[9], "it turns");
    let still = app.world().get::<RigState>(character).unwrap().clone();
    app.update(0.0);
    assert_eq!(
        app.world().get::<RigState>(character).unwrap(),
        &still,
        "paused"
    );
}

#[test]
fn what_hangs_from_a_rig_follows_in_the_same_frame_and_its_pose_can_be_asked_for() {
    let (mut app, [character]) = with_arms();
    let ring = app
        .world()
        .spawn((AttachedTo(character), AtSocket::new("hand")))
        .id();
    let goal = (
        IkGoal(character),
        IkLimb::named("reach").turn_limit(f32::INFINITY),
    );
    let goal = app.world().spawn((goal, Transform::default())).id();
    for step in 0..20 {
        let place = Vec3::new((step as f32).sin(), 0.5, (step as f32).cos());
        app.world().get_mut::<Transform>(goal).unwrap().translation = place;
        app.update(0.01);
        let ring = goal_at(&mut app, ring);
        assert!(ring.distance(place) < 1e-3, "{ring} {place}");
        let asked = app.world().run_system_once(move |poses: CharacterPoses| {
            poses
                .joint_transform(character, "hand")
                .unwrap()
                .translation()
        });
        assert!(asked.unwrap().distance(place) < 1e-3);
    }
    // It stays there in frames in which nothing moves.
    let before = goal_at(&mut app, ring);
    (0..3).for_each(|_| app.update(0.0));
    assert_eq!(goal_at(&mut app, ring), before);
}

#[test]
fn a_weight_that_is_no_number_is_ignored() {
    let mut weight = IkWeight::default();
    weight.fade_to(0.5, Duration::ZERO);
    weight.fade_to(f32::NAN, Duration::from_secs(1));
    weight.fade_to(f32::INFINITY, Duration::ZERO);
    assert_eq!(weight.weight, 0.5);
}

#[test]
fn without_the_plugin_for_rigs_boxes_follow_the_clips() {
    let mut app = TestApp::new();
    app.app = {
        let mut app = App::new();
        app.add_plugins((
            MinimalPlugins,
            AssetPlugin::default(),
            TransformPlugin,
            MarionettePlugins::default()
                .build()
                .disable::<CharacterRigPlugin>(),
        ));
        app
    };
    let handle = app.add(chain(&clips()), &manifest());
    let entity = app.spawn(&handle, "idle");
    app.world()
        .entity_mut(entity)
        .insert((LookAt::default(), ModelPose::default()));
    let end = |app: &mut TestApp| {
        (0..2).for_each(|_| app.app.update());
        let part = app.parts(entity)[0];
        app.world().get::<Aabb>(part).unwrap().max().x
    };
    let still = end(&mut app);
    app.controller(entity).play("walk");
    let walking = end(&mut app);
    // The hand goes four meters far in `idle`, and one in `walk`.
    assert!(still > 3.9 && walking < 2.0, "{still} {walking}");
}

#[test]
fn what_a_manifest_lacks_is_said_once() {
    let (mut app, [character]) = with_arms();
    app.world().entity_mut(character).insert(Name::new("Scout"));
    app.world().spawn((
        IkGoal(character),
        IkLimb::named("raech"),
        Transform::default(),
    ));
    app.world().spawn((
        IkGoal(character),
        IkLimb::two_bone("root", "hnad"),
        Transform::default(),
    ));
    let handle = app.add(chain(&[]), &manifest());
    let blind = app.spawn(&handle, "");
    app.world()
        .entity_mut(blind)
        .insert((LookAt::point(Vec3::ONE), Name::new("the blind one")));
    (0..5).for_each(|_| app.update(0.01));
    assert_messages("a goal that is not there", logged("`raech`"));
    assert_messages("a limb of a joint that is not there", logged("`hnad`"));
    assert_messages("nothing to look with", logged("the blind one"));
}
