//! A face: Scout says a sentence, looks at the camera, and reacts to keys.
//!
//! The sentence is a list of visemes, shapes of the mouth at times, such as lip-sync tools write it; it plays like any clip.
//! Expressions are set by name with the `Expressions` component, and `IdleEyes` blinks.
//!
//! ```text
//! cargo run --example faces
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::{
    asset::Character,
    character::{Expressions, IdleEyes, LookAt, MorphPose},
    controller::{AnimationTrack, BlendMode},
    model::Viseme,
    prelude::*,
};
use stage::{Caption, Orbit, StageArgs, View, bar};
use std::time::Duration;

const HELP: &str = "1: smile   2: surprise   3: wink   0: neutral   space: say it again   C: look at the camera\n\
                    drag, arrows: orbit   wheel: zoom";

/// What Scout says, and when and how she shapes her mouth for it.
const SENTENCE: &str = "Hello! I'm Scout. Nice to see you.";
const SPOKEN: &[(f64, &str, f32)] = &[
    (0.05, "sil", 1.0),
    (0.14, "ee", 0.8),
    (0.24, "ih", 0.6),
    (0.40, "oh", 0.9),
    (0.55, "ou", 0.6),
    (0.75, "sil", 1.0),
    (0.95, "aa", 0.8),
    (1.06, "ee", 0.4),
    (1.16, "mm", 1.0),
    (1.26, "ih", 0.7),
    (1.38, "aa", 0.6),
    (1.48, "ou", 0.9),
    (1.60, "ih", 0.5),
    (1.75, "sil", 1.0),
    (2.00, "ih", 0.5),
    (2.10, "aa", 0.7),
    (2.22, "ee", 0.6),
    (2.34, "ou", 0.7),
    (2.46, "ee", 0.9),
    (2.60, "ih", 0.6),
    (2.72, "ou", 1.0),
    (2.95, "sil", 1.0),
];

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(0.4, "");
    stage::app("faces", &args, HELP)
        .insert_resource(View(Orbit {
            target: Vec3::new(0.0, 1.60, 0.0),
            distance: 1.35,
            yaw: -0.35,
            pitch: 0.06,
        }))
        .add_systems(Startup, spawn)
        .add_systems(
            Update,
            (learn, keys.run_if(stage::has_keys), caption).chain(),
        )
        .run();
}

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn((
        SkinnedCharacter(assets.load("scout/scout.character.ron")),
        AnimationController::playing("idle"),
        Expressions::default(),
        IdleEyes::new(1),
    ));
}

/// Gives the character its sentence and its camera, once both are there.
fn learn(
    mut commands: Commands,
    mut ready: MessageReader<AssetEvent<Character>>,
    mut assets: ResMut<Assets<Character>>,
    camera: Query<Entity, With<Camera3d>>,
    mut scout: Single<(Entity, &SkinnedCharacter, &mut AnimationController)>,
) {
    let (entity, handle, controller) = &mut *scout;
    let is_ready = |event: &AssetEvent<Character>| event.is_added(handle.id());
    if !ready.read().any(is_ready) {
        return;
    }
    let spoken: Vec<Viseme> = SPOKEN
        .iter()
        .map(|&(time, shape, weight)| Viseme::new(time, shape, weight))
        .collect();
    if let Some(mut character) = assets.get_mut(handle.id())
        && let Err(error) = character.add_speech("sentence", &spoken)
    {
        error!("{error}");
    }
    if let Ok(camera) = camera.single() {
        commands.entity(*entity).insert(LookAt::entity(camera));
    }
    speak(controller);
}

/// Says the sentence over what plays.
fn speak(controller: &mut AnimationController) {
    let sentence = AnimationTrack::new("sentence").blend(BlendMode::Override);
    controller.play_over(sentence, Duration::ZERO, Duration::from_millis(100));
}

fn keys(
    mut commands: Commands,
    keys: Res<ButtonInput<KeyCode>>,
    camera: Query<Entity, With<Camera3d>>,
    mut scout: Single<(
        Entity,
        &mut AnimationController,
        &mut Expressions,
        Option<&LookAt>,
    )>,
) {
    let (entity, controller, face, look) = &mut *scout;
    let pressed = |key| keys.just_pressed(key);
    let time = Duration::from_millis(200);
    let mut show = |shown: &[&str]| {
        for name in ["smile", "surprise", "blink.L"] {
            if shown.contains(&name) {
                face.fade_to(name, 1.0, time);
            } else {
                face.release(name, time);
            }
        }
    };
    if pressed(KeyCode::Digit1) {
        show(&["smile"]);
    } else if pressed(KeyCode::Digit2) {
        show(&["surprise"]);
    } else if pressed(KeyCode::Digit3) {
        show(&["smile", "blink.L"]);
    } else if pressed(KeyCode::Digit0) {
        show(&[]);
    }
    if pressed(KeyCode::Space) {
        speak(controller);
    }
    if pressed(KeyCode::KeyC) {
        match (look, camera.single()) {
            (None, Ok(camera)) => commands.entity(*entity).insert(LookAt::entity(camera)),
            _ => commands.entity(*entity).remove::<LookAt>(),
        };
    }
}

fn caption(
    scout: Single<(&SkinnedCharacter, &AnimationController, Option<&MorphPose>)>,
    assets: Res<Assets<Character>>,
    mut caption: ResMut<Caption>,
) {
    let (handle, controller, face) = &*scout;
    let (Some(character), Some(face)) = (assets.get(handle.id()), face) else {
        return;
    };
    let says = controller.is_playing("sentence");
    let names = character.skeleton.morphs().names().iter();
    let shown = names
        .zip(&face.weights)
        .filter(|(_, weight)| weight.abs() > 0.005)
        .map(|(name, weight)| format!("{name:>10}  {} {weight:.2}", bar(*weight)));
    let said = if says { SENTENCE } else { "" };
    let lines: Vec<String> = [said.to_owned()].into_iter().chain(shown).collect();
    caption.set(lines.join("\n"));
}
