//! Characters from glTF: one `.glb` by itself, and a manifest that adds clips from another `.glb`.
//!
//! The large one is `pup.glb`, as Blender and others write it: model, skeleton, textures and two clips in one file. The small one
//! is a manifest, which scales that file and adds clips from another, as you get them from Mixamo and asset stores.
//! `marionette import` writes such manifests.
//!
//! ```text
//! cargo run --example gltf_character
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::{asset::Character, prelude::*};
use stage::{Caption, Orbit, StageArgs, View};
use std::time::Duration;

const HELP: &str = "N: next clip of both   drag, arrows: orbit   wheel: zoom";

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(0.25, "");
    stage::app("gltf_character", &args, HELP)
        .insert_resource(View(Orbit {
            target: Vec3::Y * 0.45,
            distance: 3.6,
            yaw: 0.65,
            pitch: 0.12,
        }))
        .add_systems(Startup, spawn)
        .add_systems(Update, (keys, caption))
        .run();
}

/// Which of the two it is.
#[derive(Component)]
struct Title(&'static str);

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn((
        Title("pup.glb"),
        SkinnedCharacter(assets.load("pup/pup.glb")),
        AnimationController::playing("walk"),
        Transform::from_xyz(-0.55, 0.0, 0.0),
    ));
    commands.spawn((
        Title("pup.character.ron"),
        SkinnedCharacter(assets.load("pup/pup.character.ron")),
        AnimationController::playing("gallop"),
        Transform::from_xyz(0.55, 0.0, -0.15),
    ));
}

fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    assets: Res<Assets<Character>>,
    mut pups: Query<(&SkinnedCharacter, &mut AnimationController)>,
) {
    if !keys.just_pressed(KeyCode::KeyN) {
        return;
    }
    for (handle, mut controller) in &mut pups {
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        let names: Vec<_> = character.clip_names().collect();
        let now = names
            .iter()
            .position(|name| controller.current() == Some(&***name))
            .unwrap_or(0);
        controller.cross_fade(
            names[(now + 1) % names.len()].clone(),
            Duration::from_millis(250),
        );
    }
}

fn caption(
    pups: Query<(&Title, &SkinnedCharacter, &AnimationController)>,
    assets: Res<Assets<Character>>,
    mut caption: ResMut<Caption>,
) {
    let mut lines = Vec::new();
    for (title, handle, controller) in &pups {
        let Some(character) = assets.get(handle.id()) else {
            continue;
        };
        let names: Vec<&str> = character.clip_names().map(|name| &**name).collect();
        lines.push(format!(
            "{}: {} of {}",
            title.0,
            controller.current().unwrap_or("bind pose"),
            names.join(", ")
        ));
    }
    // Queries find characters in the order in which they were loaded, which varies.
    lines.sort();
    caption.set(lines.join("\n"));
}
