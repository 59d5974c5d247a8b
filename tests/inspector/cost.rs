//! What the panel costs the main world, open and closed, beside a thousand characters.
//!
//! ```text
//! cargo test --test inspector cost -- --ignored --nocapture
//! ```

use super::harness::Harness;
use bevy::{input::keyboard::Key, prelude::*};
use bevy_egui::{EguiPlugin, egui};
use bevy_marionette::{
    inspector::{Inspector, MarionetteInspectorPlugin},
    prelude::*,
};
use std::time::Instant;

const CHARACTERS: usize = 1000;
const FRAMES: usize = 200;
const ROUNDS: usize = 3;

/// Microseconds of a frame: half of the frames took less.
fn median(harness: &mut Harness) -> f64 {
    let mut times: Vec<f64> = (0..FRAMES)
        .map(|_| {
            let begin = Instant::now();
            harness.app.update();
            begin.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[FRAMES / 2]
}

fn crowd(more: impl FnOnce(&mut App)) -> Harness {
    let mut harness = Harness::bare(more);
    let handle = harness.get::<SkinnedCharacter>().unwrap().clone();
    for at in 0..CHARACTERS {
        let place = Transform::from_xyz((at % 40) as f32 * 0.1 - 2.0, 0.0, -((at / 40) as f32));
        let name = Name::new(format!("Guard {at}"));
        harness.app.world_mut().spawn((name, handle.clone(), AnimationController::playing("wave"), place));
    }
    harness.frames(60);
    harness
}

#[test]
#[ignore = "a measurement: it needs the machine to itself"]
fn cost_of_the_panel_beside_a_thousand_characters() {
    // One after another, and again: what the machine does meanwhile meets all alike.
    let mut none = crowd(|_| ());
    let mut egui = crowd(|app| {
        app.add_plugins(EguiPlugin::default());
    });
    let panel = |app: &mut App| {
        app.add_plugins(MarionetteInspectorPlugin);
    };
    let mut closed = crowd(panel);
    let mut closed_again = crowd(panel);
    for open in [true, false] {
        closed_again.app.world_mut().resource_mut::<Inspector>().open = open;
        closed_again.frames(5);
    }
    let mut open = crowd(panel);
    open.app.world_mut().resource_mut::<Inspector>().open = true;
    let mut searching = crowd(panel);
    searching.app.world_mut().resource_mut::<Inspector>().open = true;
    searching.frames(3);
    // The field for the search is at the top, right of its title.
    searching.drag(egui::pos2(1280.0 - 400.0 + 100.0, 16.0), egui::Vec2::ZERO);
    searching.key(KeyCode::KeyG, Key::Character("g".into()));
    for round in 1..=ROUNDS {
        let all = [&mut none, &mut egui, &mut closed, &mut closed_again, &mut open, &mut searching].map(median);
        let [none, egui, closed, closed_again, open, searching] = all;
        println!(
            "round {round}: without egui {none:.0} µs a frame, egui alone {egui:.0}, never opened {closed:.0}, \
             closed again {closed_again:.0}, Joints open {open:.0}, searching {searching:.0}"
        );
    }
}
