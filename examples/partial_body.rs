//! The upper body waves while the legs keep jogging.
//!
//! D3DX programs do this with two controllers, each driving half of the skeleton. Here, a track with a mask plays over
//! another track. The mask `upper_body` is defined in the manifest: everything from the upper chest up, with a falloff
//! over the two joints below it so that the waist bends smoothly.
//!
//! ```text
//! cargo run --example partial_body
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::prelude::*;
use clap::Parser;
use stage::{Caption, Orbit, StageArgs, View};
use std::time::Duration;

const HELP: &str = "M: next mask   L: next clip for the legs   U: next overlay clip   space: overlay on, off\n\
                    drag, arrows: orbit   wheel: zoom";

/// Masks in the manifest, and no mask.
const MASKS: [Option<&str>; 4] = [Some("upper_body"), Some("arm.R"), Some("head"), None];
const BASE: [&str; 3] = ["jog", "walk", "idle"];
const UPPER: [&str; 2] = ["wave", "point"];

fn main() {
    let args = StageArgs::parse().with_headless_defaults(0.86, "");
    stage::app("partial_body", &args, HELP)
        .insert_resource(View(Orbit { target: Vec3::Y * 0.95, distance: 4.0, yaw: -0.85, pitch: 0.08 }))
        .add_systems(Startup, spawn)
        .add_systems(Update, (keys, caption).chain())
        .run();
}

/// The overlay track.
#[derive(Component)]
struct Upper(TrackId);

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    let mut controller = AnimationController::playing("jog");
    // `Override` replaces the tracks below it wherever the mask applies.
    let upper = AnimationTrack::new("wave").blend(BlendMode::Override).mask("upper_body");
    let upper = controller.add_track(upper);
    commands.spawn((SkinnedCharacter(assets.load("scout/scout.character.ron")), controller, Upper(upper)));
}

/// Returns the item after the current one, wrapping around.
fn next<T: Copy, const N: usize>(items: [T; N], is_current: impl Fn(T) -> bool) -> T {
    let current = items.iter().position(|&item| is_current(item)).unwrap_or(N - 1);
    items[(current + 1) % N]
}

fn keys(keys: Res<ButtonInput<KeyCode>>, mut scout: Single<(&Upper, &mut AnimationController)>) {
    let (Upper(upper), controller) = &mut *scout;
    if keys.just_pressed(KeyCode::KeyL) {
        let clip = next(BASE, |clip| controller.current() == Some(clip));
        controller.cross_fade(clip, Duration::from_millis(250));
    }
    let Some(track) = controller.track_mut(*upper) else { return };
    if keys.just_pressed(KeyCode::KeyM) {
        track.mask = next(MASKS, |mask| track.mask.as_deref() == mask).map(Into::into);
    }
    if keys.just_pressed(KeyCode::KeyU) {
        track.set_clip(next(UPPER, |clip| track.clip() == clip));
    }
    if keys.just_pressed(KeyCode::Space) {
        track.enabled = !track.enabled;
    }
}

fn caption(scout: Single<(&Upper, &AnimationController)>, mut caption: ResMut<Caption>) {
    let (&Upper(upper), controller) = *scout;
    let Some(track) = controller.track(upper) else { return };
    let base = controller.current().unwrap_or("nothing");
    let mask = track.mask.as_deref().unwrap_or("none (whole body)");
    let off = if track.enabled { "" } else { "  (off)" };
    caption.set(format!("overlay  {}{off}\n   mask  {mask}\n   base  {base}", track.clip()));
}
