use super::*;

fn ramp(from: f64, to: f64, transition: TransitionCurve) -> Ramp {
    Ramp {
        from,
        to,
        begin: Nanos::from_secs(1.0),
        end: Nanos::from_secs(3.0),
        transition,
    }
}

#[test]
fn an_ease_starts_and_ends_slowly() {
    let ease = ramp(0.0, 1.0, TransitionCurve::EaseInEaseOut);
    assert_eq!(
        [0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 9.0].map(|t| ease.at(Nanos::from_secs(t))),
        [0.0, 0.0, 0.15625, 0.5, 0.84375, 1.0, 1.0]
    );
}

#[test]
fn a_slope_is_the_derivative_and_its_roots_are_found() {
    let ease = ramp(0.5, 3.0, TransitionCurve::EaseInEaseOut);
    let [c, b, a] = ease.slope(0.25);
    for s in [0.0, 0.5, 1.5] {
        let rate = (ease.after(0.25 + s + 1e-6) - ease.after(0.25 + s - 1e-6)) / 2e-6;
        assert!((c + b * s + a * s * s - rate).abs() < 1e-6, "{s}");
    }
    // It begins and ends flat.
    let [begin, end] = roots(ease.slope(0.25));
    assert!((begin + 0.25).abs() < 1e-12 && (end - 1.75).abs() < 1e-12);
    assert_eq!(
        roots([2.0, -1.0, 0.0]).map(|root| (root == 2.0, root.is_finite())),
        [(true, true), (false, false)]
    );
    assert!(
        roots([1.0, 0.0, 1.0])
            .iter()
            .chain(&roots([1.0, 0.0, 0.0]))
            .all(|root| !root.is_finite())
    );
    assert_eq!(roots([-1.0, 0.0, 1.0]), [-1.0, 1.0]);
}
