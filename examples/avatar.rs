//! An avatar: Nib, a `.vrm` file, greets with a `.vrma`, looks at the camera, and reacts to keys.
//!
//! Which joint is what, expressions, eyes, springs of ears and tail, and twist bones all come from the file. The manifest only
//! adds clips: one for any avatar, and one of a figure with other bones.
//!
//! ```text
//! cargo run --example avatar
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::{
    asset::Character,
    character::{Expressions, IdleEyes, LookAt},
    controller::{AnimationTrack, BlendMode},
    model::Viseme,
    prelude::*,
};
use stage::{Caption, Orbit, StageArgs, View, bar};
use std::time::Duration;

const HELP: &str = "1: happy   2: surprised   3: blush   4: wink   0: neutral   space: speak   C: cheer\n\
                    drag, arrows: orbit   wheel: zoom";

/// Keys with the expressions that they show. `surprised` stops speech, as its artist decided.
const SHOWN: [(KeyCode, &[&str]); 5] = [
    (KeyCode::Digit0, &[]),
    (KeyCode::Digit1, &["happy"]),
    (KeyCode::Digit2, &["surprised"]),
    (KeyCode::Digit3, &["blush"]),
    (KeyCode::Digit4, &["happy", "blinkLeft"]),
];

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(0.4, "");
    stage::app("avatar", &args, HELP)
        .insert_resource(View(Orbit {
            target: Vec3::new(0.0, 0.75, 0.0),
            distance: 2.4,
            yaw: -0.4,
            pitch: 0.08,
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
        SkinnedCharacter(assets.load("nib/nib.character.ron")),
        AnimationController::playing("greet"),
        Expressions::default(),
        IdleEyes::new(1),
    ));
}

/// Gives the avatar its sentence and its camera, once both are there.
fn learn(
    mut commands: Commands,
    mut ready: MessageReader<AssetEvent<Character>>,
    mut assets: ResMut<Assets<Character>>,
    camera: Query<Entity, With<Camera3d>>,
    nib: Single<(Entity, &SkinnedCharacter)>,
) {
    let (entity, handle) = *nib;
    let is_ready = |event: &AssetEvent<Character>| event.is_added(handle.id());
    if !ready.read().any(is_ready) {
        return;
    }
    let spoken = ["aa", "ee", "oh", "ih", "ou", "aa", "sil"];
    let spoken = (1..)
        .zip(spoken)
        .map(|(at, shape)| Viseme::new(0.18 * f64::from(at), shape, 0.9));
    if let Some(mut character) = assets.get_mut(handle.id())
        && let Err(error) = character.add_speech("sentence", &spoken.collect::<Vec<_>>())
    {
        error!("{error}");
    }
    if let Ok(camera) = camera.single() {
        // The file's eyes look. Its head stays as its clips have it.
        commands.entity(entity).insert(LookAt::entity(camera));
    }
}

fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    nib: Single<(&mut AnimationController, &mut Expressions)>,
) {
    let (mut controller, mut face) = nib.into_inner();
    let time = Duration::from_millis(200);
    for (key, names) in SHOWN {
        if keys.just_pressed(key) {
            face.release_all(time);
            names.iter().for_each(|name| face.fade_to(name, 1.0, time));
        }
    }
    if keys.just_pressed(KeyCode::Space) {
        let sentence = AnimationTrack::new("sentence").blend(BlendMode::Override);
        controller.play_over(sentence, Duration::ZERO, Duration::from_millis(100));
    }
    if keys.just_pressed(KeyCode::KeyC) {
        let next = match controller.is_playing("cheer") {
            true => "greet",
            false => "cheer",
        };
        controller.cross_fade(next, Duration::from_millis(300));
    }
}

fn caption(
    nib: Single<(&SkinnedCharacter, &AnimationController, &Expressions)>,
    assets: Res<Assets<Character>>,
    mut caption: ResMut<Caption>,
) {
    let (handle, controller, face) = *nib;
    let Some(character) = assets.get(handle.id()) else {
        return;
    };
    let plays = if controller.is_playing("cheer") {
        "cheer"
    } else {
        "greet"
    };
    let known = character.skeleton.morphs().own_expressions().len();
    let head = format!("plays {plays}, knows {known} expressions");
    let shown = face
        .iter()
        .map(|(name, weight)| format!("{name:>10}  {} {weight:.2}", bar(weight)));
    caption.set(
        [head]
            .into_iter()
            .chain(shown)
            .collect::<Vec<_>>()
            .join("\n"),
    );
}
