use super::super::tests::assert_near;
use super::*;
use fastrand::Rng;

const MODES: [PlaybackMode; 3] = [
    PlaybackMode::Loop,
    PlaybackMode::Once,
    PlaybackMode::PingPong,
];

fn path(random: &mut Rng, turn: f64) -> RootPath {
    let frames = random.usize(2..9);
    let mut times: Vec<f64> = (0..frames)
        .map(|i| i as f64 * 0.25 + random.f64() * 0.2)
        .collect();
    times[0] = 0.0;
    let mut place = RootDelta::IDENTITY;
    let mut number = || random.f64() - 0.5;
    let places: Vec<RootDelta> = (0..frames)
        .map(|_| {
            place = place.then(RootDelta::new(
                DVec3::new(number(), number(), number() - 1.0),
                number() * turn,
            ));
            place
        })
        .collect();
    RootPath::new(&times, &places).unwrap()
}

#[test]
fn a_path_goes_through_its_frames_and_starts_at_the_first() {
    let places =
        [(3.0, 0.5), (4.0, 0.7), (6.0, -0.2)].map(|(x, turn)| RootDelta::new(DVec3::X * x, turn));
    let path = RootPath::new(&[0.0, 0.25, 1.0], &places).unwrap();
    let from_first = |i: usize| places[0].inverse().then(places[i]);
    assert_eq!(path.at(0.0), RootDelta::IDENTITY);
    assert_near(path.at(0.25), from_first(1), 1e-15);
    assert_near(path.at(9.0), from_first(2), 1e-15);
    assert_eq!(
        (path.at(-1.0), path.at(f64::NAN)),
        (RootDelta::IDENTITY, RootDelta::IDENTITY)
    );
    assert_eq!(
        (path.total(), path.duration(), path.turns()),
        (path.at(1.0), 1.0, true)
    );
}

#[test]
fn the_way_from_place_to_place_is_that_of_any_number_of_steps() {
    let mut random = Rng::with_seed(4);
    for round in 0..600 {
        let path = path(&mut random, [0.0, 1.0][round % 2]);
        let playback = MODES[round % 3];
        let mut at = (random.f64() - 0.5) * 10.0;
        let (from, mut sum) = (at, RootDelta::IDENTITY);
        for _ in 0..100 {
            let to = at + (random.f64() - 0.45) * [0.1, 3.0][random.usize(..2)];
            sum = sum.then(path.between(playback, at, to));
            at = to;
        }
        assert_near(sum, path.between(playback, from, at), 1e-10);
        assert_near(path.between(playback, at, from), sum.inverse(), 1e-10);
    }
}

#[test]
fn a_loop_goes_on_a_ping_pong_clip_comes_back_and_one_that_plays_once_stays() {
    let path = path(&mut Rng::with_seed(5), 1.0);
    let length = path.duration();
    let [thrice, once, back] = MODES.map(|playback| path.between(playback, 0.0, 3.0 * length));
    assert_near(
        thrice,
        path.total().then(path.total()).then(path.total()),
        1e-12,
    );
    assert_near(once, path.total(), 1e-12);
    assert_near(back, path.total(), 1e-12);
    assert_near(
        path.between(PlaybackMode::PingPong, 0.0, 4e6 * length),
        RootDelta::IDENTITY,
        1e-6,
    );
}

#[test]
fn knots_are_found_in_order_both_ways() {
    let mut random = Rng::with_seed(6);
    for round in 0..300 {
        let (path, playback) = (path(&mut random, 0.5), MODES[round % 3]);
        let forward = random.bool();
        let mut at = (random.f64() - 0.5) * 8.0;
        for _ in 0..40 {
            let Some(knot) = path.next_knot(playback, at, forward) else {
                assert_eq!(playback, PlaybackMode::Once);
                break;
            };
            assert!(if forward { knot > at } else { knot < at }, "{knot} {at}");
            // Up to there, the speed does not change.
            let middle = at + (knot - at) * random.f64();
            let [whole, part] =
                [knot, middle].map(|to| Twist::between(path.between(playback, at, to)));
            let part = part.scaled((knot - at) / (middle - at));
            let held = playback == PlaybackMode::Once && !(0.0..path.duration()).contains(&at);
            assert!(
                held || part.ahead.distance(whole.ahead) < 1e-6 * (1.0 + whole.ahead.length()),
                "{playback:?}"
            );
            at = knot;
        }
    }
}

#[test]
fn a_steady_path_ends_where_it_should_however_far_it_turns() {
    for turn in [0.0, -1.5, 3.0, 6.3, -40.0] {
        let total = RootDelta::new(DVec3::new(1.0, 0.5, -2.0), turn);
        let path = RootPath::steady(0.8, total).unwrap();
        assert_near(path.at(0.8), total, 1e-15);
        let half = path.at(0.4);
        assert!(
            (half.turn - 0.5 * turn).abs() < 1e-12 && (half.translation.y - 0.25).abs() < 1e-12
        );
    }
    let straight = RootPath::steady(2.0, RootDelta::new(DVec3::new(3.0, 9.0, -4.0), 0.0)).unwrap();
    assert!((straight.ground_speed() - 2.5).abs() < 1e-15 && !straight.turns());
}

#[test]
fn a_step_is_part_of_the_way() {
    let place = |z: f64| RootDelta::new(DVec3::Z * z, 0.0);
    for (times, at) in [
        ([0.0, 0.5, 0.5, 1.0], 0.5),
        ([0.0, 0.0, 0.5, 1.0], 0.0),
        ([0.0, 0.5, 1.0, 1.0], 1.0),
    ] {
        let path = RootPath::new(&times, &[0.0, 1.0, 2.0, 3.0].map(place)).unwrap();
        assert_eq!(path.total(), place(3.0), "at {at}");
        let speeds = path.knots.iter().map(|knot| knot.rate.ahead.length());
        assert!(speeds.fold(0.0, f64::max) < 2e4);
    }
}

#[test]
fn what_does_not_move_or_makes_no_sense_is_no_path() {
    let place = |z: f64| RootDelta::new(DVec3::Z * z, 0.0);
    for (times, places) in [
        (&[0.0, 1.0][..], &[place(1.0), place(1.0)][..]),
        (&[0.0, 1.0], &[place(0.0)]),
        (&[0.0], &[place(0.0)]),
        (&[], &[]),
        (&[0.0, 0.0], &[place(0.0), place(1.0)]),
        (&[0.0, 1.0], &[place(0.0), place(f64::NAN)]),
        (&[0.0, 1.0], &[place(0.0), place(f64::INFINITY)]),
        (&[0.0, f64::NAN], &[place(0.0), place(1.0)]),
        (&[1.0, 0.0], &[place(0.0), place(1.0)]),
        (&[0.0, 1e-9], &[place(0.0), place(1.0)]),
    ] {
        let odd = RootPath::new(times, places);
        assert_eq!(odd, None, "{times:?} {places:?}");
    }
    assert_eq!(RootPath::steady(1.0, RootDelta::IDENTITY), None);
    let huge = RootPath::steady(1.0, place(1e18)).unwrap();
    for playback in MODES {
        assert!(huge.between(playback, -f64::MAX, f64::MAX).is_finite());
    }
}
