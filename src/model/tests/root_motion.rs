use super::*;
use glam::DQuat;
use std::f64::consts::{FRAC_PI_2, TAU};

fn random_delta(random: &mut fastrand::Rng, turn: f64) -> RootDelta {
    let mut number = || random.f64() * 2.0 - 1.0;
    RootDelta::new(DVec3::new(number(), number(), number()), turn * number())
}

#[track_caller]
pub(super) fn assert_near(a: RootDelta, b: RootDelta, tolerance: f64) {
    let far = a
        .translation
        .distance(b.translation)
        .max((a.turn - b.turn).abs());
    assert!(far <= tolerance, "{a:?} is not {b:?}");
}

#[test]
fn a_turn_is_to_the_left_as_in_bevy() {
    let there = turned(DVec3::NEG_Z, FRAC_PI_2);
    assert!(there.distance(DVec3::NEG_X) < 1e-15);
    assert!(there.distance(DQuat::from_rotation_y(FRAC_PI_2) * DVec3::NEG_Z) < 1e-15);
    let rotation = RootDelta::new(DVec3::ZERO, 0.3).rotation();
    assert!(rotation.abs_diff_eq(Quat::from_rotation_y(0.3), 1e-7));
}

#[test]
fn movements_compose_like_transforms_and_there_and_back_is_nothing() {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..1000 {
        let [a, b] = [0; 2].map(|_| random_delta(&mut random, 9.0));
        let both = a.then(b);
        let place = DQuat::from_rotation_y(a.turn) * b.translation + a.translation;
        assert!(both.translation.distance(place) < 1e-14 && both.turn == a.turn + b.turn);
        assert_near(a.then(a.inverse()), RootDelta::IDENTITY, 1e-14);
        assert_near(a.inverse().then(both), b, 1e-14);
    }
}

#[test]
fn repeated_is_one_after_the_other() {
    let mut random = fastrand::Rng::with_seed(2);
    for turn in [0.0, 1e-12, 1e-5, 0.5, 3.0, TAU, 20.0] {
        let one = RootDelta {
            turn,
            ..random_delta(&mut random, 0.0)
        };
        let mut sum = RootDelta::IDENTITY;
        for times in 0..500 {
            // The sum is the one that rounds: its heading is off by more each time.
            assert_near(one.repeated(f64::from(times)), sum, 1e-7);
            assert_near(one.repeated(f64::from(-times)), sum.inverse(), 1e-7);
            sum = sum.then(one);
        }
    }
    let straight = RootDelta::new(DVec3::NEG_Z * 1.25, 0.0);
    assert_eq!(straight.repeated(1e12).translation, DVec3::NEG_Z * 1.25e12);
}

#[test]
fn an_arc_ends_where_the_movement_does_and_divides_evenly() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..1000 {
        let delta = random_delta(&mut random, 3.0);
        let arc = Twist::between(delta);
        assert_near(arc.movement(), delta, 1e-14);
        let at = random.f64();
        assert_near(
            arc.scaled(at)
                .movement()
                .then(arc.scaled(1.0 - at).movement()),
            delta,
            1e-14,
        );
    }
}
