//! A crowd that shares one asset, each character with its own clip, time and speed.
//!
//! A port of the crowd in the DirectX SDK's MultiAnimation sample. Meshes, skeleton and clips are loaded once; each instance
//! only adds a handle, a controller and its joint matrices.
//!
//! ```text
//! cargo run --example many_instances -- --count 600
//! ```

mod stage;

use bevy::{
    diagnostic::{DiagnosticsStore, FrameTimeDiagnosticsPlugin},
    prelude::*,
};
use bevy_marionette::{asset::Character, controller::AnimationTrack, prelude::*};
use clap::Parser;
use stage::{Caption, Orbit, Stage, StageArgs, View};

const HELP: &str = "plus, minus: 20 more, fewer   space: pause   drag, arrows: orbit   wheel: zoom";

/// Shows a crowd of characters that share one asset.
#[derive(Parser, Resource)]
struct Args {
    /// Initial number of characters [default: 300, or 30 headless]
    #[arg(long)]
    count: Option<usize>,
    #[command(flatten)]
    stage: StageArgs,
}

pub fn main() {
    let args: Args = stage::arguments();
    let stage = args.stage.clone().with_headless_defaults(1.0, "");
    let mut app = stage::app("many_instances", &stage, HELP);
    let pictured = app.world().resource::<Stage>().headless;
    let count = args.count.unwrap_or(if pictured { 30 } else { 300 });
    app.insert_resource(Wanted(count))
        .insert_resource(View(Orbit {
            target: Vec3::new(0.0, 0.5, 1.2),
            distance: 11.0,
            yaw: -0.5,
            pitch: 0.32,
        }))
        .add_plugins(FrameTimeDiagnosticsPlugin::default())
        .add_systems(Update, (keys, crowd, caption).chain())
        .run();
}

/// Desired number of characters.
#[derive(Resource)]
struct Wanted(usize);

/// Spawns and despawns characters to match the desired number.
fn crowd(
    mut commands: Commands,
    wanted: Res<Wanted>,
    assets: Res<AssetServer>,
    mut all: Local<Vec<Entity>>,
    mut rng: Local<Option<fastrand::Rng>>,
) {
    // The same crowd every time; `usize` would make another one on the web, where it has 32 bits.
    let rng = rng.get_or_insert_with(|| fastrand::Rng::with_seed(7));
    while all.len() > wanted.0 {
        if let Some(last) = all.pop() {
            commands.entity(last).despawn();
        }
    }
    while all.len() < wanted.0 {
        let clip = ["walk", "walk", "walk", "jog", "idle", "wave"][rng.u64(..6) as usize];
        let track = AnimationTrack::new(clip)
            .starting_at(rng.f64() * 3.0)
            .speed(0.75 + 0.5 * rng.f64());
        let mut controller = AnimationController::default();
        controller.add_track(track);
        let jitter = Vec3::new(rng.f32() - 0.5, 0.0, rng.f32() - 0.5) * 0.5;
        let turn = Quat::from_rotation_y((rng.f32() - 0.5) * 0.5);
        let scout = commands.spawn((
            // Loading the same path again returns the same asset.
            SkinnedCharacter(assets.load("scout/scout.character.ron")),
            controller,
            Transform::from_translation(place(all.len()) + jitter).with_rotation(turn),
        ));
        all.push(scout.id());
    }
}

/// Position of the n-th character: a sunflower spiral, which is even and has no rows.
fn place(n: usize) -> Vec3 {
    let (radius, angle) = (0.72 * (n as f32).sqrt(), n as f32 * 2.399_963);
    Vec3::new(radius * angle.cos(), 0.0, radius * angle.sin())
}

fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    mut wanted: ResMut<Wanted>,
    mut time: ResMut<Time<Virtual>>,
) {
    if keys.just_pressed(KeyCode::Equal) {
        wanted.0 += 20;
    }
    if keys.just_pressed(KeyCode::Minus) {
        wanted.0 = wanted.0.saturating_sub(20);
    }
    if keys.just_pressed(KeyCode::Space) {
        if time.is_paused() {
            time.unpause()
        } else {
            time.pause()
        }
    }
}

fn caption(
    wanted: Res<Wanted>,
    stage: Res<Stage>,
    assets: Res<Assets<Character>>,
    diagnostics: Res<DiagnosticsStore>,
    mut caption: ResMut<Caption>,
) {
    let mut text = format!("{} characters, {} asset", wanted.0, assets.len());
    let frame = diagnostics
        .get(&FrameTimeDiagnosticsPlugin::FRAME_TIME)
        .and_then(|time| time.smoothed());
    if let (Some(milliseconds), false) = (frame, stage.headless) {
        text += &format!("   {milliseconds:.1} ms per frame");
    }
    caption.set(text);
}
