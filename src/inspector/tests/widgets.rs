use super::*;

#[test]
fn angles_are_kept_as_typed_past_the_pole() {
    let mut edit = EulerEdit::default();
    edit.angles(3, Quat::IDENTITY)[1] = 135.0;
    let turned = edit.rotation();
    // Converting would give (180, 45, 180).
    assert_eq!(*edit.angles(3, turned), [0.0, 135.0, 0.0]);
    assert_eq!(
        *edit.angles(3, -turned),
        [0.0, 135.0, 0.0],
        "the other quaternion of the same rotation"
    );
    let other = edit.angles(4, turned);
    assert!(
        (rotation(*other).dot(turned)).abs() > 1.0 - 1e-6,
        "another joint starts from its rotation"
    );
    let followed = edit.angles(4, Quat::from_rotation_x(0.5))[0];
    assert!(
        (followed - 0.5f32.to_degrees()).abs() < 1e-2,
        "the animation is followed"
    );
}

#[test]
fn euler_angles_come_back() {
    for angles in [[10.0, 20.0, 30.0], [-170.0, 80.0, 5.0], [0.0, 0.0, -90.0]] {
        let back = degrees(rotation(angles));
        assert!(
            angles.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-2),
            "{angles:?} {back:?}"
        );
    }
}

#[test]
fn numbers_that_round_to_zero_have_no_sign() {
    assert_eq!(
        [-1e-9, -0.25, 3.0].map(|value| plain(value, 2)),
        ["0.00", "-0.25", "3.00"]
    );
}

#[test]
fn thousands_are_separated() {
    assert_eq!(
        [7, 999, 1000, 1234567].map(grouped),
        ["7", "999", "1,000", "1,234,567"]
    );
}
