use super::*;
use glam::{Quat, Vec3};

#[test]
fn mirrored_characters_turn_the_other_way_in_model_space() {
    for scale in [
        Vec3::ONE,
        Vec3::splat(2.0),
        Vec3::new(-1.0, 1.0, 1.0),
        Vec3::new(2.0, 2.0, -2.0),
    ] {
        let space = |turn: f32| {
            let rotation = Quat::from_rotation_y(turn);
            let world = Affine3A::from_scale_rotation_translation(scale, rotation, Vec3::ONE);
            Space::new(&world, Vec3A::Y).unwrap()
        };
        let (before, after) = (space(0.5), space(0.8));
        // A direction that stays where it is in the world.
        let ahead = Vec3A::new(0.3, 0.0, -1.0);
        let turned = after.turned(before.heading(), after.heading());
        let kept = Quat::from_rotation_y(-turned) * before.to_model(ahead);
        assert!(kept.abs_diff_eq(after.to_model(ahead), 1e-5), "{scale}");
    }
}
