use super::*;

#[test]
fn arcs_between_keys_stay_near_the_chord_and_keep_their_sign() {
    let mut random = fastrand::Rng::with_seed(5);
    for turn in [0.01, 0.1, 0.15, 0.2, 0.4, 1.0, 2.0, 3.0] {
        let rotations = [
            Quat::from_rotation_y(0.5),
            Quat::from_rotation_y(0.5 + turn),
        ];
        let (times, keys) = with_chords(&[1.0, 2.0], &[rotations[0], -rotations[1]]);
        let mut largest = 0.0_f32;
        for _ in 0..500 {
            let share = random.f32();
            let chord = rotations[0].lerp(rotations[1], share);
            let at = times
                .partition_point(|&key| key <= 1.0 + share)
                .clamp(1, keys.len() - 1);
            assert!(keys[at - 1].dot(keys[at]) > 0.0);
            let arc = keys[at - 1].slerp(
                keys[at],
                (1.0 + share - times[at - 1]) / (times[at] - times[at - 1]),
            );
            largest = largest.max((chord - arc).length().min((chord + arc).length()) * 2.0);
        }
        assert!(
            largest < 1.1 * TURN_ERROR + 2e-6,
            "{turn}: {} keys, {largest}",
            keys.len()
        );
    }
}

#[test]
fn keys_are_not_added_where_single_precision_has_no_time_for_them() {
    let start = 1e7_f32;
    let (times, keys) = with_chords(
        &[start, start + 1.0],
        &[Quat::IDENTITY, Quat::from_rotation_x(3.0)],
    );
    assert_eq!((times, keys.len()), (vec![start, start + 1.0], 2));
}
