use super::*;

const LEFT: usize = 0;
const RIGHT: usize = 1;

#[test]
fn marks_are_passed_together_whichever_comes_first() {
    let walk = [(0.2, LEFT), (0.7, RIGHT)];
    for run in [[(0.15, LEFT), (0.45, RIGHT)], [(0.05, RIGHT), (0.4, LEFT)]] {
        let warp = Warp::matching(&walk, 1.0, &run, 0.6, false);
        for (time, label) in run {
            let phase = walk.iter().find(|mark| mark.1 == label).unwrap().0;
            for round in [-2.0, 0.0, 7.0] {
                let place = warp.place(phase + round, 0.6);
                assert!(
                    (place.rem_euclid(0.6) - time).abs() < 1e-12,
                    "{place} {time}"
                );
            }
        }
        assert!((0.0..0.6).contains(&warp.place(0.0, 0.6)));
    }
}

#[test]
fn a_warp_rises_by_a_length_per_round_and_is_undone_by_its_inverse() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut matched = 0;
    for _ in 0..500 {
        let count = random.usize(1..5);
        let mut marks = |length: f64| {
            let mut times: Vec<f64> = (0..count).map(|_| random.f64() * length).collect();
            times.sort_by(f64::total_cmp);
            times
                .into_iter()
                .enumerate()
                .map(|(at, time)| (time, at))
                .collect::<Vec<_>>()
        };
        let (a, b) = (marks(1.0), marks(0.7));
        let warp = Warp::matching(&a, 1.0, &b, 0.7, random.bool());
        matched += usize::from(!warp.knots.is_empty());
        let mut last = warp.place(-1.5, 0.7);
        for step in -149..400 {
            let phase = f64::from(step) * 0.01;
            let place = warp.place(phase, 0.7);
            let before = std::mem::replace(&mut last, place);
            assert!(place > before, "{warp:?}");
            assert!((place - warp.place(phase - 1.0, 0.7) - 0.7).abs() < 1e-12);
            assert!((warp.phase(place, 0.7) - phase).abs() < 1e-12, "{warp:?}");
            let slope = (warp.place(phase + 1e-7, 0.7) - place) / 1e-7;
            let (same, exact) = warp.place_and_slope(Phase::new(phase), 0.7);
            assert_eq!(same, place);
            let (in_loop, _) = warp.place_in_loop(Phase::new(phase), 0.7);
            let rounds = (place - in_loop) / 0.7;
            assert!(
                (0.0..=0.7).contains(&in_loop) && (rounds - rounds.round()).abs() < 1e-12,
                "{warp:?} {phase}"
            );
            let bend = warp
                .next_bend(place, 0.7, true)
                .is_some_and(|bend| bend < place + 1e-6);
            assert!(bend || (exact - slope).abs() < 1e-5);
        }
    }
    assert!(matched > 100, "{matched}");
}

#[test]
fn clips_that_do_not_match_go_by_their_fractions() {
    let walk = [(0.2, LEFT), (0.7, RIGHT)];
    for (other, why) in [
        (&[][..], "no marks"),
        (&[(0.1, 5), (0.6, 6)], "other marks"),
        (
            &[(0.1, LEFT), (0.11, RIGHT)],
            "too far apart, and the left alone",
        ),
    ] {
        let warp = Warp::matching(&walk, 1.0, other, 1.0, false);
        let is_fraction = warp.knots.len() <= 1;
        assert!(is_fraction, "{why}: {warp:?}");
    }
    // Two cycles of a clip have twice as many left feet.
    let twice = [(0.1, LEFT), (0.3, RIGHT), (0.6, LEFT), (0.8, RIGHT)];
    assert_eq!(
        Warp::matching(&walk, 1.0, &twice, 1.0, false),
        Warp::default()
    );
    // A gallop has another order of feet, but a first foot.
    let (trot, gallop) = (
        [(0.1, 0), (0.6, 1), (0.61, 2)],
        [(0.2, 0), (0.3, 2), (0.5, 1)],
    );
    let warp = Warp::matching(&trot, 1.0, &gallop, 1.0, false);
    assert!((warp.place(0.1, 1.0) - 0.2).abs() < 1e-12 && warp.knots.len() == 1);
}

#[test]
fn a_clip_that_plays_once_keeps_its_ends() {
    let warp = Warp::matching(&[(0.4, 0)], 1.0, &[(1.2, 0)], 2.0, true);
    for (phase, place) in [(0.0, 0.0), (0.4, 1.2), (0.7, 1.6), (1.0, 2.0)] {
        assert!((warp.place(phase, 2.0) - place).abs() < 1e-12);
    }
}
