//! Benchmark: cost of the panel in the main world, open and closed, with a thousand characters.
//!
//! ```text
//! cargo test --test inspector cost -- --ignored --nocapture
//! ```

use super::harness::Harness;
use bevy::{input::keyboard::Key, prelude::*};
use bevy_egui::{EguiPlugin, EguiPrimaryContextPass, egui};
use bevy_marionette::{
    inspector::{Inspector, MarionetteInspectorPlugin},
    prelude::*,
};
use std::time::Instant;

const CHARACTERS: usize = 1000;
const ROUNDS: usize = 40;
/// Frames measured in a row.
const FRAMES: usize = 8;

/// Measures some frames, in microseconds.
fn time(harness: &mut Harness, times: &mut Vec<f64>) {
    for _ in 0..FRAMES {
        let begin = Instant::now();
        harness.app.update();
        times.push(begin.elapsed().as_secs_f64() * 1e6);
    }
}

fn crowd(more: impl FnOnce(&mut App)) -> Harness {
    let mut harness = Harness::bare(more);
    let handle = harness.get::<SkinnedCharacter>().unwrap().clone();
    for at in 0..CHARACTERS {
        let place = Transform::from_xyz((at % 40) as f32 * 0.1 - 2.0, 0.0, -((at / 40) as f32));
        let name = Name::new(format!("Guard {at}"));
        harness.app.world_mut().spawn((
            name,
            handle.clone(),
            AnimationController::playing("wave"),
            place,
        ));
    }
    harness.frames(60);
    harness
}

#[test]
#[ignore = "benchmark: needs an idle machine"]
fn cost_of_the_panel_with_a_thousand_characters() {
    // The variants take turns, so that background load affects all of them alike.
    let none = crowd(|_| ());
    let egui = crowd(|app| {
        // egui panics if its schedule doesn't exist, and only a system creates it.
        app.add_plugins(EguiPlugin::default())
            .add_systems(EguiPrimaryContextPass, || ());
    });
    let panel = |app: &mut App| {
        app.add_plugins(MarionetteInspectorPlugin);
    };
    let closed = crowd(panel);
    let mut closed_again = crowd(panel);
    for open in [true, false] {
        closed_again
            .app
            .world_mut()
            .resource_mut::<Inspector>()
            .open = open;
        closed_again.frames(5);
    }
    let mut open = crowd(panel);
    open.app.world_mut().resource_mut::<Inspector>().open = true;
    let mut searching = crowd(panel);
    searching.app.world_mut().resource_mut::<Inspector>().open = true;
    searching.frames(3);
    // The search field is at the top, right of the title.
    searching.drag(egui::pos2(1280.0 - 400.0 + 100.0, 16.0), egui::Vec2::ZERO);
    searching.key(KeyCode::KeyG, Key::Character("g".into()));
    let mut apps = [
        ("without egui", none),
        ("egui alone", egui),
        ("never opened", closed),
        ("closed again", closed_again),
        ("Joints open", open),
        ("searching", searching),
    ];
    let mut times: [Vec<f64>; 6] = Default::default();
    for _ in 0..ROUNDS {
        for ((_, app), times) in apps.iter_mut().zip(&mut times) {
            // Warm the caches up again first.
            app.app.update();
            time(app, times);
        }
    }
    for ((name, _), times) in apps.iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        println!(
            "{name}: median {:.0} µs per frame, 10th percentile {:.0} µs",
            times[times.len() / 2],
            times[times.len() / 10]
        );
    }
}
