use super::*;

use glam::{Quat, Vec3};

#[test]
fn of_several_keys_at_one_time_the_first_and_the_last_count() {
    let key = |x: f32| JointTransform::new(Vec3::X * x, Quat::IDENTITY);
    let mut curve = Curve::default();
    for (time, x) in [
        (0.0, 0.0),
        (1.0, 1.0),
        (1.0, 2.0),
        (1.0, 3.0),
        (2.0, 4.0),
        (2.0, 4.0),
    ] {
        curve.push(time, key(x));
    }
    let at = |time, after_step| {
        curve
            .sample(Moment { time, after_step }, &mut 0)
            .translation
            .x
    };
    assert_eq!(
        [
            at(0.5, false),
            at(1.0, false),
            at(1.0, true),
            at(1.5, false)
        ],
        [0.5, 1.0, 3.0, 3.5]
    );
    assert_eq!(
        [
            at(-1.0, false),
            at(2.0, false),
            at(2.0, true),
            at(9.0, false)
        ],
        [0.0, 4.0, 4.0, 4.0]
    );
    assert_eq!((curve.len(), moments(&[curve], 0.0).len()), (4, 4));
}
