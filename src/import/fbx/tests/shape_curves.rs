use super::*;

#[test]
fn shapes_take_turns_as_the_weight_goes_past_them() {
    let between = Between::of(vec![-1.0, 0.5, 1.0]);
    let shares = |weight: f64| [0, 1, 2].map(|shape| between.shares(weight, shape));
    for (weight, expected) in [
        (0.0, [0.0, 0.0, 0.0]),
        (0.25, [0.0, 0.5, 0.0]),
        (0.75, [0.0, 0.5, 0.5]),
        (1.0, [0.0, 0.0, 1.0]),
        (1.5, [0.0, -1.0, 2.0]),
        (-0.25, [0.25, 0.0, 0.0]),
        (-2.0, [2.0, 0.0, 0.0]),
    ] {
        assert_eq!(shares(weight), expected, "{weight}");
    }
    // The only one goes on to the other side.
    assert_eq!(Between::of(vec![1.0]).shares(-0.5, 0), -0.5);
    assert_eq!(Between::of(vec![-0.5]).shares(0.5, 0), -1.0);
    assert_eq!(Between::of(vec![0.0]).shares(0.5, 0), 0.0);
}

#[test]
fn curves_are_met_with_their_steps_and_where_another_shape_takes_over() {
    let between = Between::of(vec![0.5, 1.0]);
    let weight = |t: f64| match t {
        t if t < 3.0 => (t - 2.0) * (t - 2.0) * (3.0 - 2.0 * (t - 2.0)),
        _ => 0.25,
    };
    let curves = read(&[2.0, 3.0, 4.0], weight, &between, &mut 10_000).unwrap();
    for i in 0..200 {
        let time = f64::from(i) * 0.01 + 0.001;
        for (shape, curve) in curves.iter().enumerate() {
            let expected = between.shares(weight(2.0 + time), shape);
            let off = (curve.at(time, true) - expected).abs();
            assert!(off < 1e-4, "{time} {shape}: {off}");
        }
    }
    // Past the first shape and back: the piece in between begins and ends at the corner.
    let bump = |t: f64| 0.45 + 0.4 * t * (1.0 - t);
    let curves = read(&[0.0, 1.0], bump, &between, &mut 10_000).unwrap();
    for i in 0..=100 {
        let time = f64::from(i) * 0.01;
        for (shape, curve) in curves.iter().enumerate() {
            let off = curve.at(time, true) - between.shares(bump(time), shape);
            assert!(off.abs() < 1e-4, "{time} {shape}: {off}");
        }
    }
    // Straight lines stay so.
    let one = Between::of(vec![1.0]);
    let lines = read(&[0.0, 1.0, 2.0], |t| t / 2.0, &one, &mut 100).unwrap();
    assert_is_line(&lines[0], [0.0, 1.0, 2.0], [0.0, 0.5, 1.0]);
    let lines = read(&[0.0, 1.0], |t| t, &between, &mut 100).unwrap();
    assert_is_line(&lines[0], [0.0, 0.5, 1.0], [0.0, 1.0, 0.0]);
    assert!(read(&[0.0, 1.0], |t| t, &between, &mut 5).is_none());
}

fn assert_is_line(curve: &WeightCurve, times: [f64; 3], values: [f64; 3]) {
    assert_eq!(curve.between, keys::Between::Linear);
    for (list, expected) in [(&curve.times, times), (&curve.values, values)] {
        assert_eq!(list.len(), 3);
        let is_near = |(a, b): (&f64, f64)| (a - b).abs() < 1e-9;
        assert!(list.iter().zip(expected).all(is_near), "{list:?}");
    }
}
