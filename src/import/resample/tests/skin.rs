use super::*;

#[test]
fn the_bound_on_nlerp_holds_for_every_turn() {
    for degrees in [5.0f32, 30.0, 90.0, 150.0, 179.0] {
        let turn = degrees.to_radians();
        let (from, to) = (Quat::IDENTITY, Quat::from_rotation_y(turn));
        let error = (0..=100).map(|i| {
            angle(
                from.lerp(to, i as f32 / 100.0),
                from.slerp(to, i as f32 / 100.0),
            )
        });
        let worst = error.fold(0.0, f64::max);
        let bound = 0.005 * f64::from(turn).powi(3);
        assert!(worst <= bound + 1e-6, "{degrees}°: {worst} > {bound}");
        assert!(
            degrees < 30.0 || worst > 0.5 * bound,
            "{degrees}°: {bound} is far above {worst}"
        );
    }
}
