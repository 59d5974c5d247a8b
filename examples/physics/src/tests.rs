//! The demo, without a window and a renderer.

use super::*;
use bevy::{log::LogPlugin, mesh::MeshPlugin, time::TimeUpdateStrategy};
use std::time::Duration;

/// Plays the demo for so many seconds at a frame rate, and returns the highest place of her feet, the farthest, and how
/// far the crates were moved.
fn demo(seconds: f32, rate: f32) -> (f32, f32, Vec<f32>) {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        LogPlugin::default(),
        AssetPlugin {
            file_path: "../../assets".into(),
            ..default()
        },
        TransformPlugin,
        MeshPlugin,
        MarionettePlugins::default(),
        game,
    ))
    .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
    app.finish();
    app.cleanup();
    let mut scouts = app
        .world_mut()
        .query::<(&Transform, &Scout, &AnimationController)>();
    let mut waited = 0;
    while scouts
        .single(app.world())
        .is_ok_and(|(_, _, controller)| controller.state().is_none())
        || waited == 0
    {
        waited += 1;
        assert!(waited < 5_000, "she doesn't load");
        app.update();
        std::thread::sleep(Duration::from_millis(2));
    }
    let step = Duration::from_secs_f32(1.0 / rate);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(step));
    let (mut highest, mut farthest) = (0.0_f32, 0.0_f32);
    let mut crates = app.world_mut().query::<(&yard::Crate, &Transform)>();
    // The demo puts them back.
    let mut moved = vec![0.0_f32; crates.iter(app.world()).count()];
    for _ in 0..(seconds * rate) as usize {
        app.update();
        let (place, ..) = scouts.single(app.world()).unwrap();
        let at = place.translation;
        assert!(
            at.is_finite() && at.y > -0.05,
            "she falls through the ground: {at}"
        );
        (highest, farthest) = (highest.max(at.y), farthest.min(at.z));
        for (moved, (built, now)) in moved.iter_mut().zip(crates.iter(app.world())) {
            *moved = moved.max(built.0.distance(now.translation));
        }
    }
    (highest, farthest, moved)
}

#[test]
fn she_climbs_the_stairs_kicks_the_wall_and_walks_through() {
    for rate in [60.0, 144.0, 25.0] {
        let (highest, farthest, moved) = demo(14.0, rate);
        println!(
            "{rate} frames per second: {highest:.3} m high, {farthest:.2} m far, crates {moved:.2?}"
        );
        assert!((1.0..1.6).contains(&highest), "{highest}");
        assert!(farthest < yard::WALL.z - 2.0, "{farthest}");
        let flew = moved.iter().filter(|moved| **moved > 0.5).count();
        assert!(flew >= 5, "{moved:?}");
    }
}
