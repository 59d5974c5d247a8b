//! A loading screen: a bar that fills while files arrive, and a game that begins when everything is there.
//!
//! [`LoadProgress`] counts the characters, their clips, textures and buffers. [`CharactersLoaded`] is triggered once all of
//! them have arrived, or have failed.
//!
//! ```text
//! cargo run --example loading_screen
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::{
    asset::{CharactersLoaded, LoadProgress},
    character::CharacterFailed,
    prelude::*,
};
use stage::{Caption, Orbit, StageArgs, View, bar};

const HELP: &str = "R: load everything again   drag, arrows: orbit   wheel: zoom";

/// The characters of this game: file, clip and place.
const CHARACTERS: [(&str, &str, Vec3); 3] = [
    (
        "scout/scout.character.ron",
        "wave",
        Vec3::new(-0.45, 0.0, 0.0),
    ),
    (
        "hound/hound.character.ron",
        "idle",
        Vec3::new(0.7, 0.0, 0.25),
    ),
    ("pup/pup.glb", "idle", Vec3::new(0.1, 0.0, -0.5)),
];

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(0.7, "");
    stage::app("loading_screen", &args, HELP)
        .insert_resource(View(Orbit {
            target: Vec3::new(0.1, 0.75, 0.0),
            distance: 4.2,
            yaw: 0.25,
            pitch: 0.12,
        }))
        .init_resource::<Loading>()
        .add_systems(Startup, load)
        .add_systems(Update, (reload, show).chain())
        .add_observer(begin)
        .add_observer(count_failure)
        .run();
}

/// What the loading screen knows.
#[derive(Resource, Default)]
struct Loading {
    is_done: bool,
    failures: usize,
}

/// Spawns everything hidden. A character that appeared before the others would give the loading away.
fn load(mut commands: Commands, assets: Res<AssetServer>) {
    for (file, clip, place) in CHARACTERS {
        commands.spawn((
            SkinnedCharacter(assets.load(file)),
            AnimationController::playing(clip),
            Transform::from_translation(place),
            Visibility::Hidden,
        ));
    }
}

/// Begins the game.
fn begin(
    _: On<CharactersLoaded>,
    mut loading: ResMut<Loading>,
    mut characters: Query<&mut Visibility, With<SkinnedCharacter>>,
) {
    loading.is_done = true;
    for mut visibility in &mut characters {
        *visibility = Visibility::Inherited;
    }
}

/// A file that cannot be loaded doesn't hold up the game. What went wrong is in the log, too.
fn count_failure(failed: On<CharacterFailed>, mut loading: ResMut<Loading>) {
    debug!("not loaded: {}", failed.error);
    loading.failures += 1;
}

fn reload(
    keys: Res<ButtonInput<KeyCode>>,
    mut loading: ResMut<Loading>,
    mut commands: Commands,
    characters: Query<Entity, With<SkinnedCharacter>>,
    assets: Res<AssetServer>,
) {
    if keys.just_pressed(KeyCode::KeyR) {
        *loading = Loading::default();
        for entity in &characters {
            commands.entity(entity).despawn();
        }
        load(commands, assets);
    }
}

fn show(progress: Res<LoadProgress>, loading: Res<Loading>, mut caption: ResMut<Caption>) {
    let bar = bar(progress.fraction());
    caption.set(if loading.is_done {
        let loaded = CHARACTERS.len() - loading.failures;
        format!("loaded  {bar}\n{loaded} of {} characters", CHARACTERS.len())
    } else {
        format!(
            "loading {bar}\n{} of {} files",
            progress.read(),
            progress.files()
        )
    });
}
