use super::*;

#[test]
fn the_missing_w_is_not_positive_and_what_is_written_reads_back() {
    let sixty = DQuat::from_rotation_z(1.0);
    for rotation in [sixty, -sixty] {
        let [position, orientation] = Rigid {
            rotation,
            translation: DVec3::X,
        }
        .to_md5();
        let read = Rigid::from_md5(position, orientation);
        assert!(read.rotation.w < 0.0);
        assert!(read.rotation.dot(sixty).abs() > 1.0 - 1e-12);
        assert_eq!(read.translation, DVec3::X);
    }
    // Longer than unit length.
    let over = Rigid::from_md5([0.0; 3], [0.6, 0.8, 0.01]);
    assert!(over.rotation.is_normalized() && over.rotation.w == 0.0);
}

#[test]
fn half_turns_are_written_so_that_the_missing_w_is_close() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut worst: f64 = 0.0;
    for i in 0..2000 {
        let [x, y, z] = [(); 3].map(|()| random.f64() - 0.5);
        let w = if i % 2 == 0 {
            0.0
        } else {
            -0.05 * random.f64()
        };
        let rotation = DQuat::from_xyzw(x, y, z, w).normalize();
        let [position, orientation] = Rigid {
            rotation,
            translation: DVec3::ZERO,
        }
        .to_md5();
        worst = worst.max(
            Rigid::from_md5(position, orientation)
                .rotation
                .angle_between(rotation),
        );
    }
    assert!(worst < 1e-4, "{worst}");
    let half = DQuat::from_xyzw(0.5f64.sqrt(), 0.5f64.sqrt(), 0.0, 0.0);
    let [_, orientation] = Rigid {
        rotation: half,
        translation: DVec3::ZERO,
    }
    .to_md5();
    assert!(
        Rigid::from_md5([0.0; 3], orientation).rotation.w > -1e-6,
        "{orientation:?}"
    );
}

#[test]
fn the_inverse_undoes_a_product() {
    let a = Rigid::from_md5([1.0, 2.0, 3.0], [0.1, -0.2, 0.3]);
    let b = Rigid::from_md5([-4.0, 0.0, 1.0], [0.5, 0.5, 0.5]);
    let point = DVec3::new(0.3, -7.0, 2.0);
    let there = a.after(&b).apply(point);
    assert!((there - a.apply(b.apply(point))).length() < 1e-12);
    assert!((a.after(&b).inverse().apply(there) - point).length() < 1e-12);
}
