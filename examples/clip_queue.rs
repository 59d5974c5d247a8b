//! Queued clips: each plays once, then the next one starts.
//!
//! A port of the animation queue in Richards' D3DX skinned mesh code. A looping queue appends each finished clip to its end
//! again. When the queue is empty, the idle clip plays.
//!
//! ```text
//! cargo run --example clip_queue
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::{character::AnimationStarted, prelude::*};
use stage::{Caption, Orbit, StageArgs, View};
use std::time::Duration;

const HELP: &str = "1 - 5: queue jump, wave, point, walk, jog   L: loop the queue   C: clear it   S: stop everything\n\
                    drag, arrows: orbit   wheel: zoom";

const CLIPS: [(KeyCode, &str); 5] = [
    (KeyCode::Digit1, "jump"),
    (KeyCode::Digit2, "wave"),
    (KeyCode::Digit3, "point"),
    (KeyCode::Digit4, "walk"),
    (KeyCode::Digit5, "jog"),
];

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(2.31, "4@1");
    stage::app("clip_queue", &args, HELP)
        .insert_resource(View(Orbit {
            target: Vec3::Y * 1.1,
            distance: 4.3,
            yaw: -0.7,
            pitch: 0.08,
        }))
        .init_resource::<History>()
        .add_systems(Startup, spawn)
        .add_systems(Update, (keys, caption).chain())
        .add_observer(record)
        .run();
}

/// The clips played so far.
#[derive(Resource, Default)]
struct History(Vec<String>);

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    let mut controller = AnimationController::default();
    controller
        .queue_mut()
        .extend(["jog", "jog", "jump", "wave", "point"])
        .set_fade(Duration::from_millis(150))
        .set_idle_clip("idle");
    commands.spawn((
        SkinnedCharacter(assets.load("scout/scout.character.ron")),
        controller,
    ));
}

fn keys(keys: Res<ButtonInput<KeyCode>>, mut controller: Single<&mut AnimationController>) {
    for (key, clip) in CLIPS {
        if keys.just_pressed(key) {
            controller.queue_mut().push(clip);
        }
    }
    if keys.just_pressed(KeyCode::KeyL) {
        let looping = controller.queue().is_looping();
        controller.queue_mut().set_looping(!looping);
    }
    if keys.just_pressed(KeyCode::KeyC) {
        controller.queue_mut().clear();
    }
    if keys.just_pressed(KeyCode::KeyS) {
        controller.fade_out(Duration::ZERO);
    }
}

fn record(started: On<AnimationStarted>, mut history: ResMut<History>) {
    history.0.push(started.clip.to_string());
    let surplus = history.0.len().saturating_sub(8);
    history.0.drain(..surplus);
}

fn caption(
    history: Res<History>,
    controller: Single<&AnimationController>,
    mut caption: ResMut<Caption>,
) {
    let list = |names: Vec<&str>| {
        if names.is_empty() {
            "-".into()
        } else {
            names.join(", ")
        }
    };
    let played = history.0[..history.0.len().saturating_sub(1)]
        .iter()
        .map(String::as_str)
        .collect();
    let at = controller
        .current_track()
        .map(|track| track.position())
        .unwrap_or_default();
    caption.set(format!(
        " played  {}\n    now  {}  {at:.2} s\n   next  {}\n   then  {}",
        list(played),
        controller.current().unwrap_or("nothing"),
        list(controller.queue().iter().collect()),
        if controller.queue().is_looping() {
            "the queue again"
        } else {
            "idle"
        },
    ));
}
