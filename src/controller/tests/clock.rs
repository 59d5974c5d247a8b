use super::*;

#[test]
fn many_small_steps_are_the_large_one_at_any_scale() {
    let mut random = fastrand::Rng::with_seed(1);
    for round in 0..2000 {
        let scale = [1.0, 0.9, 0.5, 1.0 / 3.0, 2.5, 1e-9, 123.456, random.f64()][round % 8];
        let mut many = Clock::default();
        let (whole, mut sum) = (many, 0_u64);
        for _ in 0..random.usize(1..60) {
            let bits = random.u32(1..40);
            let nanos = random.u64(..1 << bits);
            sum += nanos;
            many = many.after(nanos as f64 / 1e9, scale);
        }
        assert_eq!(whole.after(sum as f64 / 1e9, scale), many, "{scale}");
    }
}

#[test]
fn parts_of_nanoseconds_are_carried() {
    for parts in [3, 7, 60, 144, 240, 1000, 36_000] {
        let mut clock = Clock::default();
        (0..parts).for_each(|_| clock = clock.after(10.0 / f64::from(parts), 1.0));
        assert_eq!(clock.now.secs(), 10.0, "{parts}");
    }
}

#[test]
fn the_clock_stops_at_its_end_and_never_runs_back() {
    for scale in [1.0, 0.5, 1e30, f64::MAX] {
        let mut clock = Clock::default();
        for seconds in [1.0, 1e10, 1e308, f64::MAX, 1.0] {
            let next = clock.after(seconds, scale);
            assert!(next.now >= clock.now);
            clock = next;
        }
        assert_eq!(clock.now, Nanos::MAX);
    }
    let stopped = Clock::default();
    assert_eq!(stopped.after(1e308, 0.0), stopped);
}

#[test]
fn moments_are_rounded_once_and_found() {
    let (moment, rest) = Nanos::from_secs(0.3).after(2.6);
    assert_eq!(
        (moment, Nanos::from_secs(f64::NAN)),
        (Nanos(300_000_003), Nanos::ZERO)
    );
    assert!((rest + 0.4).abs() < 1e-12);
    assert_eq!(Nanos::from_secs(0.3).secs(), 0.3);
    assert_eq!(
        Nanos::first(Nanos(-5), Nanos(1000), |at| at >= Nanos(17)),
        Nanos(17)
    );
    assert_eq!(Nanos::first(Nanos(3), Nanos(9), |_| false), Nanos(9));
    assert_eq!(Nanos::from(Duration::MAX), Nanos::MAX);
}

#[test]
fn moments_further_apart_than_numbers_are_searched_too() {
    let [low, high] = [-5e18 as i64, 5e18 as i64].map(Nanos);
    for first in [low.0 + 1, -3, 0, 7, high.0] {
        assert_eq!(Nanos::first(low, high, |moment| moment.0 >= first).0, first);
    }
    let end = Nanos(i64::MAX);
    assert_eq!(Nanos::first(Nanos(i64::MIN), end, |_| false), end);
    assert_eq!(Nanos::first(high, low, |_| true), low);
}
