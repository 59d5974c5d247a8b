use super::*;

#[test]
fn functions_of_angles_agree_with_those_of_the_platform() {
    for i in 0..=1000 {
        let x = i as f32 * 0.001;
        assert!(
            (decay(x * 20.0) - (-20.0 * x).exp()).abs() < 2e-6 + 3e-4 * (-20.0 * x).exp(),
            "{x}"
        );
        assert!(
            (arc_sine(x.sin()) - x).abs() < 1e-2 * x.powi(8) + 2e-6,
            "{x}"
        );
        assert!(
            rotation(Vec3A::Y, x * 2.0).abs_diff_eq(Quat::from_rotation_y(x * 2.0), 1e-6),
            "{x}"
        );
        let turned = Quat::from_rotation_x(3.0 * x);
        assert!(
            (angle(Quat::IDENTITY, -turned) - 3.0 * x).abs() < 3e-3 * x + 2e-6,
            "{x}"
        );
        let part = turn_toward(Quat::IDENTITY, Quat::from_rotation_x(3.0), 0.0, || x);
        assert!(part.abs_diff_eq(Quat::from_rotation_x(x), 1e-5), "{x}");
    }
}

#[test]
fn a_spring_comes_to_the_same_in_one_step_and_in_many() {
    let start = Spring {
        value: 0.2,
        velocity: 3.0,
    };
    let (mut one, mut many) = (start, start);
    one.toward(0.5, Step::new(9.0, 0.3));
    (0..30).for_each(|_| many.toward(0.5, Step::new(9.0, 0.01)));
    assert!((one.value - many.value).abs() < 1e-5 && (one.velocity - many.velocity).abs() < 1e-4);
    one.settle(Step::new(9.0, 1e9));
    assert!(
        one.value.abs() < 1e-9 && one.velocity.abs() < 1e-9,
        "{one:?}"
    );
}
