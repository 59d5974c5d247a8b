use super::*;

fn at(x: f64, angle: f64) -> Local {
    Local {
        translation: DVec3::X * x,
        rotation: DQuat::from_rotation_y(angle),
        scale: DVec3::ONE,
    }
}

#[test]
fn a_cubic_is_met_exactly_and_a_line_needs_no_spline() {
    let x = |t: f64| 1.0 - 2.0 * t + 3.0 * t * t - 0.7 * t * t * t;
    let mut budget = 1000;
    let curve = read(&[2.0, 5.0], |t| at(x(t), 0.3), 1.0, &mut budget).unwrap();
    assert_eq!(curve.len(), 2);
    let spline = curve.spline.as_ref().unwrap();
    for t in [0.1, 0.7, 1.9, 2.95] {
        assert!((f64::from(spline(t).translation.x) - x(2.0 + t)).abs() < 1e-5);
    }
    let curve = read(&[2.0, 5.0], |t| at(t, 0.3 * t), 1.0, &mut budget).unwrap();
    assert!(curve.spline.is_none());
}

#[test]
fn steps_are_kept_and_a_fast_turn_gets_more_points() {
    let step = |t: f64| at(if t < 1.0 { 0.0 } else { 2.0 }, 0.0);
    let curve = read(&[0.0, 1.0, 2.0], step, 1.0, &mut 1000).unwrap();
    assert_eq!(curve.len(), 4);
    let turn = |t: f64| at(0.0, (3.0 * t).sin() * 2.5);
    let curve = read(&[0.0, 2.0], turn, 1.0, &mut 10_000).unwrap();
    let spline = curve.spline.as_ref().unwrap();
    for i in 1..200 {
        let t = f64::from(i) / 100.0;
        // From the chord, which is accurate for small angles, unlike the cosine.
        let [a, b] = [spline(t).rotation.as_dquat(), turn(t).rotation].map(DVec4::from);
        let off = 2.0 * (a - b).length().min((a + b).length());
        assert!(off < 2e-5, "{t}: {off}");
    }
}

#[test]
fn a_budget_ends_the_reading() {
    assert!(read(&[0.0, 1.0], |t| at(t * t, 0.0), 1.0, &mut 6).is_none());
}
