//! Clips that follow each other: a queue that may go round, and a clip to stand still with.
//!
//! Retells the animation queue of Richards' d3dx skinned-mesh code: each queued clip plays one round, a
//! looped queue puts it at the end again, and when nothing is left the still clip comes on.
//!
//! ```text
//! cargo run --example clip_queue
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::prelude::*;
use clap::Parser;
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

fn main() {
    let args = StageArgs::parse().showing(2.24, "4@1");
    stage::app("clip_queue", &args, HELP)
        .insert_resource(View(Orbit { target: Vec3::Y * 1.1, distance: 4.4, yaw: 0.6, pitch: 0.08 }))
        .init_resource::<History>()
        .add_systems(Startup, spawn)
        .add_systems(Update, (keys, caption).chain())
        .add_observer(remember)
        .run();
}

/// Whether the queue goes round, and what has been played.
#[derive(Resource, Default)]
struct History {
    looped: bool,
    played: Vec<String>,
}

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    let mut controller = AnimationController::default();
    controller.queue(["jog", "jog", "jump", "wave", "point"]);
    controller.set_queue_fade(Duration::from_millis(150));
    controller.set_still("idle");
    commands.spawn((SkinnedCharacter(assets.load("scout/scout.character.ron")), controller));
}

fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    mut history: ResMut<History>,
    mut controller: Single<&mut AnimationController>,
) {
    for (key, clip) in CLIPS {
        if keys.just_pressed(key) {
            controller.queue([clip]);
        }
    }
    if keys.just_pressed(KeyCode::KeyL) {
        history.looped = !history.looped;
        controller.loop_queue(history.looped);
    }
    if keys.just_pressed(KeyCode::KeyC) {
        controller.clear_queue();
    }
    if keys.just_pressed(KeyCode::KeyS) {
        controller.stop();
    }
}

fn remember(started: On<AnimationStarted>, mut history: ResMut<History>) {
    history.played.push(started.clip.to_string());
    let surplus = history.played.len().saturating_sub(8);
    history.played.drain(..surplus);
}

fn caption(history: Res<History>, controller: Single<&AnimationController>, mut caption: ResMut<Caption>) {
    let list = |names: Vec<&str>| if names.is_empty() { "-".into() } else { names.join(", ") };
    let played = history.played.iter().rev().skip(1).rev().map(|name| &**name).collect();
    let at = controller.current_position().unwrap_or_default();
    caption.say(format!(
        " played  {}\n    now  {}  {at:.2} s\n   next  {}\n   then  {}",
        list(played),
        controller.current().unwrap_or("nothing"),
        list(controller.queued().collect()),
        if history.looped { "the queue again" } else { "idle" },
    ));
}
