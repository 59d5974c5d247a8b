//! Cross-fading from clip to clip.
//!
//! A port of the DirectX SDK's MultiAnimation sample, which starts the new clip on a second track, then fades the old
//! track's weight to 0 and the new one's to 1: over 0.125 s when coming to a stop, over 0.25 s otherwise.
//! [`AnimationController::cross_fade`] does all of that.
//!
//! ```text
//! cargo run --example multi_animation
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::prelude::*;
use stage::{Caption, Orbit, StageArgs, View, bar};
use std::time::Duration;

const CLIPS: [&str; 4] = ["walk", "wave", "jog", "idle"];
const HELP: &str =
    "N, P: next, previous clip   arrows, drag: orbit   wheel: zoom   space: slow motion";

pub fn main() {
    // Headless, take the picture in the middle of a fade.
    let args = stage::arguments::<StageArgs>().with_headless_defaults(1.53, "N@0.3 P@1.4");
    stage::app("multi_animation", &args, HELP)
        .insert_resource(View(Orbit {
            target: Vec3::Y * 0.92,
            distance: 3.5,
            yaw: 0.55,
            pitch: 0.1,
        }))
        .add_systems(Startup, spawn)
        .add_systems(Update, (switch, slow_motion, caption))
        .run();
}

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn((
        SkinnedCharacter(assets.load("scout/scout.character.ron")),
        AnimationController::playing("walk"),
    ));
}

fn switch(keys: Res<ButtonInput<KeyCode>>, mut controller: Single<&mut AnimationController>) {
    let step = if keys.just_pressed(KeyCode::KeyN) {
        1
    } else if keys.just_pressed(KeyCode::KeyP) {
        CLIPS.len() - 1
    } else {
        return;
    };
    let now = CLIPS
        .iter()
        .position(|clip| controller.current() == Some(clip))
        .unwrap_or(0);
    let next = CLIPS[(now + step) % CLIPS.len()];
    let fade = if next == "idle" { 125 } else { 250 };
    controller.cross_fade(next, Duration::from_millis(fade));
}

/// Slows time down, to see the fade.
fn slow_motion(keys: Res<ButtonInput<KeyCode>>, mut time: ResMut<Time<Virtual>>) {
    if keys.just_pressed(KeyCode::Space) {
        let speed = if time.relative_speed() < 1.0 {
            1.0
        } else {
            0.1
        };
        time.set_relative_speed(speed);
    }
}

/// Lists all tracks, including those fading out.
fn caption(controller: Single<&AnimationController>, mut caption: ResMut<Caption>) {
    let mut text = format!("{}\n", controller.current().unwrap_or("loading"));
    for track in controller.tracks() {
        text += &format!(
            "\n{:>8} {} {:.2}",
            track.clip(),
            bar(track.weight),
            track.weight
        );
    }
    caption.set(text);
}
