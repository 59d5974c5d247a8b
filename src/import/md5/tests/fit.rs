use super::*;

fn random_vector(random: &mut fastrand::Rng) -> DVec3 {
    DVec3::new(random.f64(), random.f64(), random.f64()) * 2.0 - 1.0
}

fn random_joint(random: &mut fastrand::Rng) -> Rigid {
    let rotation = DQuat::from_axis_angle(random_vector(random).normalize(), 3.0 * random.f64());
    Rigid {
        rotation,
        translation: random_vector(random),
    }
}

#[test]
fn a_joint_is_fitted_exactly_to_points_that_agree() {
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..100 {
        let truth = random_joint(&mut random);
        let mut fit = Fit::NOTHING;
        for _ in 0..10 {
            let point = random_vector(&mut random);
            fit.add(random.f64() + 0.1, point, truth.apply(point));
        }
        let mut joint = random_joint(&mut random);
        fit.solve(&mut joint, 1.0);
        assert!(
            joint.rotation.dot(truth.rotation).abs() > 1.0 - 1e-9,
            "{joint:?} {truth:?}"
        );
        assert!((joint.translation - truth.translation).length() < 1e-6);
    }
}

#[test]
fn outliers_have_no_say_in_a_consensus() {
    let mut random = fastrand::Rng::with_seed(6);
    for _ in 0..50 {
        let truth = random_joint(&mut random);
        let mut pairs: Vec<_> = (0..40)
            .map(|_| random_vector(&mut random))
            .map(|p| (p, truth.apply(p)))
            .collect();
        pairs.extend((0..8).map(|_| {
            (
                random_vector(&mut random) * 5.0,
                random_vector(&mut random) * 5.0,
            )
        }));
        let mut joint = random_joint(&mut random);
        fit_by_consensus(&mut joint, &pairs, 10.0, 0.01);
        assert!(
            (joint.translation - truth.translation).length() < 1e-6,
            "{joint:?} {truth:?}"
        );
    }
}

#[test]
fn one_point_or_none_leaves_the_rotation_alone() {
    let mut random = fastrand::Rng::with_seed(7);
    let present = random_joint(&mut random);
    let mut joint = present;
    fit_by_consensus(&mut joint, &[], 1.0, 0.1);
    assert_eq!(joint, present);
    fit_by_consensus(&mut joint, &[(DVec3::X, DVec3::ONE)], 1.0, 0.1);
    assert!(joint.rotation.dot(present.rotation).abs() > 1.0 - 1e-9);
    assert!((joint.apply(DVec3::X) - DVec3::ONE).length() < 1e-9);
}
