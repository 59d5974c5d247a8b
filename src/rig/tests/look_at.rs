use super::*;
use crate::model::{Joint, JointTransform};
use glam::Mat3;

/// Hips, spine, neck, head and two eyes, upright, with joint axes of their own.
fn skeleton() -> Skeleton {
    let rest = [
        JointTransform::new(Vec3::Y, Quat::from_rotation_y(0.3)),
        JointTransform::new(Vec3::new(0.0, 0.3, 0.02), Quat::from_rotation_x(0.2)),
        JointTransform::new(Vec3::Y * 0.3, Quat::from_rotation_z(1.2)),
        JointTransform::new(Vec3::X * 0.1, Quat::from_rotation_x(-1.0)),
        JointTransform::new(Vec3::new(0.02, 0.05, 0.08), Quat::from_rotation_y(0.7)),
        JointTransform::new(Vec3::new(-0.03, 0.05, 0.08), Quat::from_rotation_y(-0.4)),
    ];
    let joint = |(i, rest): (usize, &JointTransform)| Joint {
        name: "".into(),
        parent: i.checked_sub(1).map(|above| above.min(3) as JointIndex),
        rest: *rest,
        inverse_bind: Affine3A::IDENTITY,
    };
    Skeleton::new(rest.iter().enumerate().map(joint).collect()).unwrap()
}

fn look(skeleton: &Skeleton) -> LookChain {
    LookChain::new(
        skeleton,
        &[(1, 0.3), (2, 0.3), (3, 0.6)],
        &[4, 5],
        Vec3::Z,
        Vec3::Y,
    )
    .unwrap()
}

struct Seen {
    /// The position and facing of head and eyes.
    head: [Vec3; 2],
    eyes: [[Vec3; 2]; 2],
    turns: [f32; 3],
}

fn run(
    skeleton: &Skeleton,
    look: &LookChain,
    state: &mut LookState,
    target: Option<Vec3>,
    dt: f32,
) -> Seen {
    let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
    let mut pose = PoseMut::new(skeleton, &mut local, &mut model);
    look.run(state, target, 1.0, dt, &mut pose);
    let facing = |joint: JointIndex| {
        let rest =
            Mat3::from(skeleton.rest_model()[usize::from(joint)].matrix3).inverse() * Vec3::Z;
        [
            pose.position(joint),
            Mat3::from(pose.model[usize::from(joint)].matrix3) * rest,
        ]
    };
    let turns = [1, 2, 3].map(|joint| {
        pose.rotation(joint)
            .angle_between(skeleton.rest_of(joint).rotation)
    });
    Seen {
        head: facing(3),
        eyes: [4, 5].map(facing),
        turns,
    }
}

fn angle([place, facing]: [Vec3; 2], target: Vec3) -> f32 {
    // More exact for small angles than the arc cosine.
    facing
        .normalize()
        .cross((target - place).normalize())
        .length()
}

#[test]
fn head_and_eyes_look_exactly_at_what_is_within_the_limits() {
    let (skeleton, mut random) = (skeleton(), fastrand::Rng::with_seed(5));
    let look = LookChain {
        speed: f32::INFINITY,
        ..look(&skeleton)
    };
    for _ in 0..1000 {
        let (yaw, pitch) = ((random.f32() - 0.5) * 2.4, (random.f32() - 0.5) * 1.4);
        let toward = Quat::from_rotation_y(yaw) * Quat::from_rotation_x(pitch) * Vec3::Z;
        let target = Vec3::Y * 1.7 + toward * (1.0 + 9.0 * random.f32());
        let seen = run(
            &skeleton,
            &look,
            &mut LookState::default(),
            Some(target),
            0.01,
        );
        // A hundredth of a degree for the head.
        assert!(angle(seen.head, target) < 2e-3, "{target}");
        assert!(
            seen.eyes.iter().all(|eye| angle(*eye, target) < 1e-5),
            "{target}"
        );
        assert!(seen.head[1].dot(target - seen.head[0]) > 0.0);
        let [spine, neck, head] = seen.turns;
        assert!(
            (spine - neck).abs() < 0.02 + 0.05 * spine
                && (head - 2.0 * neck).abs() < 0.03 + 0.1 * head
        );
    }
}

#[test]
fn limits_and_speed_hold_and_a_head_behind_keeps_its_side() {
    let skeleton = skeleton();
    let (look, mut state) = (look(&skeleton), LookState::default());
    let mut last = 0.0;
    for step in 0..600 {
        // Around the character, twice.
        let angle = step as f32 * 0.021;
        let target = Vec3::new(angle.sin() * 4.0, 1.7, angle.cos() * 4.0);
        let seen = run(&skeleton, &look, &mut state, Some(target), 1.0 / 60.0);
        let yaw = seen.head[1].x.atan2(seen.head[1].z);
        assert!(
            yaw.abs() < look.yaw_limit + 1e-3 && (yaw - last).abs() < look.speed / 60.0 + 1e-3,
            "{step}: {yaw}"
        );
        last = yaw;
    }
    let behind = |x: f32| Some(Vec3::new(x, 1.7, -5.0));
    let mut settle = |x| {
        (0..60)
            .map(|_| run(&skeleton, &look, &mut state, behind(x), 0.1))
            .last()
            .unwrap()
    };
    let right = settle(4.0).head[1].x;
    assert!(right > 0.9, "{right}");
    assert!(
        (settle(-1.0).head[1].x - right).abs() < 1e-2,
        "it keeps its side"
    );
    assert!(settle(-4.0).head[1].x < -0.9);
}

#[test]
fn without_a_target_the_joints_turn_back_and_cost_nothing() {
    let skeleton = skeleton();
    let (look, mut state) = (look(&skeleton), LookState::default());
    run(
        &skeleton,
        &look,
        &mut state,
        Some(Vec3::new(3.0, 2.0, 1.0)),
        1.0,
    );
    assert!(state.turn.x > 0.5);
    run(&skeleton, &look, &mut state, None, 0.05);
    let between = state;
    assert!(between.turn.x > 0.1);
    run(&skeleton, &look, &mut state, None, 0.0);
    assert_eq!(state, between, "time stands still");
    let seen = run(&skeleton, &look, &mut state, None, 1.0);
    assert_eq!((state, seen.turns), (LookState::default(), [0.0; 3]));
}

#[test]
fn odd_chains_are_refused_and_odd_targets_ignored() {
    let skeleton = skeleton();
    let new = |joints: &[(JointIndex, f32)], eyes: &[JointIndex], forward| {
        LookChain::new(&skeleton, joints, eyes, forward, Vec3::Y)
    };
    assert!(new(&[], &[], Vec3::Z).is_none() && new(&[(3, 0.0)], &[], Vec3::Z).is_none());
    assert!(
        new(&[(3, 1.0), (2, 1.0)], &[], Vec3::Z).is_none()
            && new(&[(3, 1.0)], &[2], Vec3::Z).is_none()
    );
    assert!(new(&[(3, 1.0)], &[], Vec3::Y).is_none() && new(&[(99, 1.0)], &[], Vec3::Z).is_none());
    let look = LookChain {
        speed: f32::NAN,
        ..new(&[(0, 1.0), (3, 1.0)], &[4], Vec3::Z).unwrap()
    };
    let head = skeleton.rest_model()[3].translation.into();
    for target in [
        Vec3::NAN,
        Vec3::INFINITY,
        Vec3::MAX,
        head,
        head + Vec3::Y * 1e-30,
        -Vec3::Z,
    ] {
        for dt in [0.0, 0.1, f32::INFINITY, f32::NAN, -1.0] {
            let mut state = LookState::default();
            let seen = run(&skeleton, &look, &mut state, Some(target), dt);
            assert!(
                state.turn.is_finite()
                    && seen.head[1].is_finite()
                    && seen.eyes.iter().all(|eye| eye[1].is_finite()),
                "{target}"
            );
        }
    }
}

#[test]
fn a_turn_that_is_no_number_is_forgotten() {
    let skeleton = skeleton();
    let look = look(&skeleton);
    let target = Some(Vec3::new(0.3, 1.7, 3.0));
    let [mut broken, mut fresh] = [f32::NAN, 0.0].map(|turn| LookState {
        turn: Vec2::splat(turn),
        ..LookState::default()
    });
    for _ in 0..3 {
        let [broken, fresh] =
            [&mut broken, &mut fresh].map(|state| run(&skeleton, &look, state, target, 0.01));
        assert_eq!(broken.head, fresh.head);
    }
}
