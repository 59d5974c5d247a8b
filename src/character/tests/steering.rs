use super::*;

#[test]
fn a_character_speeds_up_and_turns_no_faster_than_it_may() {
    let mut steering = Steering {
        velocity: Vec3::new(3.0, 7.0, 0.0),
        acceleration: 6.0,
        turn_speed: 1.0,
        ..Steering::default()
    };
    let mut rotation = Quat::IDENTITY;
    for _ in 0..25 {
        steering.accelerate(0.01);
        rotation = Quat::from_rotation_y(steering.turn(rotation, 0.01)) * rotation;
    }
    assert!(steering.current.abs_diff_eq(Vec3::new(1.5, 0.0, 0.0), 1e-5));
    // To the right, so clockwise as seen from above. It stood for the first step.
    assert!(rotation.angle_between(Quat::from_rotation_y(-0.25)) < 0.011);
    for _ in 0..400 {
        steering.accelerate(0.01);
        rotation = Quat::from_rotation_y(steering.turn(rotation, 0.01)) * rotation;
    }
    assert_eq!(steering.current, Vec3::new(3.0, 0.0, 0.0));
    assert!((rotation * Vec3::NEG_Z).abs_diff_eq(Vec3::X, 1e-4));
}

#[test]
fn parameters_are_the_velocity_as_the_character_sees_it() {
    let steering = Steering {
        current: Vec3::new(-4.0, 0.0, 0.0),
        ..Steering::default()
    };
    // Faces −X, at half its size.
    let transform =
        Transform::from_rotation(Quat::from_rotation_y(0.5 * PI)).with_scale(Vec3::splat(0.5));
    let near = |a: Option<BlendPoint>, x: f64, y: f64| {
        let a = a.unwrap();
        assert!((a.x - x).abs() < 1e-5 && (a.y - y).abs() < 1e-5, "{a:?}");
    };
    near(steering.parameters(&transform, 2), 0.0, 8.0);
    near(steering.parameters(&transform, 1), 8.0, 0.0);
    let back = Transform::from_rotation(Quat::from_rotation_y(-0.5 * PI));
    near(steering.parameters(&back, 1), -4.0, 0.0);
    near(steering.parameters(&Transform::IDENTITY, 2), -4.0, 0.0);
    assert_eq!(
        steering.parameters(&Transform::from_scale(Vec3::ZERO), 2),
        None
    );
}

#[test]
fn a_direction_that_is_none_turns_nobody() {
    for facing in [Some(Vec3::ZERO), Some(Vec3::Y), Some(Vec3::NAN), None] {
        let steering = Steering {
            facing,
            ..Steering::default()
        };
        assert_eq!(steering.turn(Quat::IDENTITY, 1.0), 0.0, "{facing:?}");
    }
    let mut lost = Steering {
        velocity: Vec3::NAN,
        ..Steering::default()
    };
    lost.accelerate(1.0);
    assert_eq!(lost.current, Vec3::ZERO);
    let wanted = Vec3::X;
    for (acceleration, current) in [(f32::NAN, Vec3::Z), (-1.0, Vec3::Z), (1.0, Vec3::NAN)] {
        let mut steering = Steering {
            velocity: wanted,
            acceleration,
            current,
            ..Steering::default()
        };
        steering.accelerate(0.5);
        let expected = if current.is_finite() {
            current
        } else {
            wanted * 0.5
        };
        assert_eq!(steering.current, expected, "{acceleration}");
    }
}
