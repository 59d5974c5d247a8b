use super::*;

#[test]
fn a_movement_follows_rotation_scale_and_mirror() {
    let ahead = RootDelta::new(DVec3::new(0.0, 0.0, -1.0), 0.5);
    for scale in [
        Vec3::ONE,
        Vec3::splat(2.5),
        Vec3::new(-1.0, 1.0, 1.0),
        Vec3::new(-1.0, 1.0, -1.0),
    ] {
        let before = Transform {
            translation: Vec3::new(3.0, 1.0, 2.0),
            rotation: Quat::from_rotation_y(1.0),
            scale,
        };
        let mut after = before;
        RootMotion {
            delta: ahead,
            ..RootMotion::default()
        }
        .apply(&mut after);
        let expected = before.compute_affine() * Transform::from(ahead).compute_affine();
        assert!(
            after.compute_affine().abs_diff_eq(expected, 1e-5),
            "{scale}"
        );
    }
}

#[test]
fn what_rounding_loses_comes_later() {
    let mut transform = Transform::from_xyz(0.0, 0.0, 4000.0);
    let mut motion = RootMotion {
        delta: RootDelta::new(DVec3::Z * 1e-4, 0.0),
        ..RootMotion::default()
    };
    (0..100_000).for_each(|_| motion.apply(&mut transform));
    assert!(
        (transform.translation.z - 4010.0).abs() < 1e-3,
        "{}",
        transform.translation.z
    );
}
