use super::*;
use glam::DQuat;

fn random_vector(random: &mut fastrand::Rng) -> DVec3 {
    DVec3::new(random.f64(), random.f64(), random.f64()) * 2.0 - 1.0
}

fn random_rotation(random: &mut fastrand::Rng, angle: f64) -> DQuat {
    DQuat::from_axis_angle(random_vector(random).normalize(), angle * random.f64())
}

/// A chain of joints along X with vertices around it that follow two or three neighbors, bound
/// in a pose that the joints returned beside it do not show: each is turned by up to `angle`.
fn chain(
    joints: usize,
    angle: f64,
    random: &mut fastrand::Rng,
) -> (Weights, Vec<Rigid>, Vec<Option<usize>>) {
    let bound: Vec<Rigid> = (0..joints)
        .map(|j| Rigid {
            rotation: random_rotation(random, 3.0),
            translation: DVec3::X * j as f64,
        })
        .collect();
    let mut weights = Weights::default();
    for _ in 0..joints * 30 {
        let middle = 1 + random.usize(..joints - 2);
        let vertex = DVec3::X * middle as f64 + random_vector(random);
        let of = |joint: usize, share| Weight {
            joint,
            share,
            position: bound[joint].inverse().apply(vertex),
        };
        let few = [of(middle, 0.5), of(middle - 1, 0.3), of(middle + 1, 0.2)];
        weights.push(few.into_iter().take(random.usize(1..=3)), few[0]);
    }
    let mut turned = Rigid::IDENTITY;
    let shown = (0..joints).map(|j| {
        turned = turned.after(&Rigid {
            rotation: random_rotation(random, angle),
            translation: DVec3::X,
        });
        Rigid {
            rotation: turned.rotation * bound[j].rotation,
            translation: turned.translation,
        }
    });
    let shown = shown.collect();
    (
        weights,
        shown,
        (0..joints).map(|j| j.checked_sub(1)).collect(),
    )
}

#[test]
fn joints_that_fit_are_kept() {
    let mut random = fastrand::Rng::with_seed(1);
    let (weights, _, parents) = chain(10, 0.0, &mut random);
    let mut random = fastrand::Rng::with_seed(1);
    let bound: Vec<Rigid> = (0..10)
        .map(|j| Rigid {
            rotation: random_rotation(&mut random, 3.0),
            translation: DVec3::X * j as f64,
        })
        .collect();
    let bind = find(&weights, &bound, &parents, &weights.posed(&bound), 10.0);
    assert!(!bind.recovered && bind.pose == bound && bind.residual < 1e-12);
}

#[test]
fn a_contradicted_pose_is_recovered_to_the_last_digits() {
    for seed in 0..30 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (weights, shown, parents) = chain(12, 1.0, &mut random);
        assert!(Bind::of(&weights, shown.clone(), 12.0).residual > 0.1);
        let bind = find(&weights, &shown, &parents, &weights.posed(&shown), 12.0);
        assert!(
            bind.recovered && bind.residual < 1e-4 * 12.0,
            "{seed}: {bind:?}"
        );
    }
}

#[test]
fn vertices_that_fit_no_pose_do_not_spoil_the_others() {
    for seed in 0..10 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut weights, shown, parents) = chain(12, 1.0, &mut random);
        for _ in 0..3 {
            let mut stray = |joint: usize| Weight {
                joint,
                share: 0.5,
                position: random_vector(&mut random) * 5.0,
            };
            let pair = [stray(3), stray(7)];
            weights.push(pair.into_iter(), pair[0]);
        }
        let bind = find(&weights, &shown, &parents, &weights.posed(&shown), 12.0);
        assert!(bind.recovered && bind.off <= 3, "{seed}: {}", bind.off);
    }
}

#[test]
fn joints_with_a_point_a_line_or_nothing_stay_sound() {
    let bound = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|t| Rigid {
        translation: t,
        ..Rigid::IDENTITY
    });
    let mut weights = Weights::default();
    let of = |joint: usize, vertex: DVec3| Weight {
        joint,
        share: 0.5,
        position: bound[joint].inverse().apply(vertex),
    };
    for vertex in [DVec3::ZERO, DVec3::X, DVec3::X * 2.0] {
        weights.push([of(0, vertex), of(1, vertex)].into_iter(), of(0, vertex));
    }
    weights.push(
        [of(0, DVec3::ONE), of(2, DVec3::ONE)].into_iter(),
        of(0, DVec3::ONE),
    );
    let mut shown = bound;
    shown[1] = Rigid {
        rotation: DQuat::from_rotation_z(1.0),
        translation: DVec3::new(5.0, 0.0, 1.0),
    };
    shown[2].translation.z += 3.0;
    shown[3] = shown[2].after(&Rigid {
        translation: DVec3::X,
        ..Rigid::IDENTITY
    });
    let bind = find(
        &weights,
        &shown,
        &[None, Some(0), Some(0), Some(2)],
        &weights.posed(&shown),
        3.0,
    );
    assert!(bind.recovered && bind.residual < 1e-5, "{bind:?}");
    // The joint without vertices went with its parent.
    let local = bind.pose[2].inverse().after(&bind.pose[3]);
    assert!((local.translation - DVec3::X).length() < 1e-9);
}

#[test]
fn numbers_beyond_reckoning_end_in_the_files_own_joints() {
    let far = |x: f64| Rigid {
        translation: DVec3::splat(x),
        ..Rigid::IDENTITY
    };
    let mut weights = Weights::default();
    let of = |joint, position| Weight {
        joint,
        share: 1.0,
        position: DVec3::splat(position),
    };
    weights.push([of(0, 1e308), of(1, -1e308)].into_iter(), of(0, 0.0));
    let joints = [far(1e308), far(-1e308)];
    let bind = find(
        &weights,
        &joints,
        &[None, None],
        &weights.posed(&joints),
        f64::INFINITY,
    );
    assert_eq!(bind.pose, joints);
}

#[test]
fn weights_of_one_joint_are_merged_and_bad_ones_left_out() {
    let mut weights = Weights::default();
    let of = |joint, share, x| Weight {
        joint,
        share,
        position: DVec3::X * x,
    };
    weights.push(
        [
            of(0, 0.25, 1.0),
            of(1, 0.0, 9.0),
            of(0, 0.75, 5.0),
            of(2, -1.0, 9.0),
        ]
        .into_iter(),
        of(0, 0.0, 0.0),
    );
    weights.push([of(1, 0.0, 9.0)].into_iter(), of(1, 0.0, 9.0));
    let merged: Vec<_> = weights.vertices().map(<[Weight]>::to_vec).collect();
    assert_eq!(merged, [vec![of(0, 1.0, 4.0)], vec![of(1, 1.0, 9.0)]]);
}
