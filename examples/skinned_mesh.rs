//! One character that plays one clip.
//!
//! The starting point for everything else. A port of the skinned soldier in Luna's book (in its chapter on character
//! animation): like there, the model is an `.m3d`, which contains its own clips.
//!
//! ```text
//! cargo run --example skinned_mesh
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::prelude::*;
use stage::{Caption, Orbit, StageArgs, View};

const HELP: &str =
    "drag, arrows: orbit   wheel: zoom   space: pause   minus, plus: speed   R: reverse";

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(0.86, "");
    stage::app("skinned_mesh", &args, HELP)
        .insert_resource(View(Orbit {
            target: Vec3::Y * 0.87,
            distance: 4.2,
            yaw: 0.72,
            pitch: 0.1,
        }))
        .add_systems(Startup, spawn)
        .add_systems(Update, (keys, caption))
        .run();
}

/// All it takes: an asset and the name of a clip.
fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    // An `.md5mesh`, or a `.character.ron` that combines files, loads the same way.
    commands.spawn((
        SkinnedCharacter(assets.load("scout/scout.m3d")),
        AnimationController::playing("walk"),
    ));
}

fn keys(keys: Res<ButtonInput<KeyCode>>, mut controller: Single<&mut AnimationController>) {
    if keys.just_pressed(KeyCode::Space) {
        let paused = controller.paused;
        controller.paused = !paused;
    }
    let speed = controller.speed();
    if keys.just_pressed(KeyCode::Minus) {
        controller.set_speed(speed / 1.25);
    }
    if keys.just_pressed(KeyCode::Equal) {
        controller.set_speed(speed * 1.25);
    }
    if keys.just_pressed(KeyCode::KeyR) {
        controller.set_speed(-speed);
    }
}

fn caption(controller: Single<&AnimationController>, mut caption: ResMut<Caption>) {
    let clip = controller.current().unwrap_or("nothing");
    let at = controller
        .current_track()
        .map(|track| track.position())
        .unwrap_or_default();
    caption.set(format!(
        "{clip}   {at:.2} s   speed {:.2}",
        controller.speed()
    ));
}
