//! Legs jog while the upper body waves.
//!
//! Retells partial animation as d3dx programs do it, with two controllers on halves of a skeleton: here one
//! track with a mask lies over another. The mask `upper_body` is in the manifest: all from the upper chest on,
//! and less of the two joints before it, so that the waist does not break; the hips stay the legs' own.
//!
//! ```text
//! cargo run --example partial_body
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::prelude::*;
use clap::Parser;
use stage::{Caption, Orbit, StageArgs, View};

const HELP: &str = "M: next mask   L: legs walk, jog, stand   U: upper track waves, points   space: track on, off\n\
                    drag, arrows: orbit   wheel: zoom";

/// Masks of the manifest, and none.
const MASKS: [Option<&str>; 4] = [Some("upper_body"), Some("arm.R"), Some("head"), None];
const BASE: [&str; 3] = ["jog", "walk", "idle"];
const UPPER: [&str; 2] = ["wave", "point"];

fn main() {
    let args = StageArgs::parse().showing(0.86, "");
    stage::app("partial_body", &args, HELP)
        .insert_resource(View(Orbit { target: Vec3::Y * 0.95, distance: 4.0, yaw: -0.85, pitch: 0.08 }))
        .add_systems(Startup, spawn)
        .add_systems(Update, (keys, caption).chain())
        .run();
}

/// The track on top.
#[derive(Component)]
struct Upper(TrackId);

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    let mut controller = AnimationController::playing("jog");
    // Override replaces what lies below, as far as the mask reaches.
    let upper = AnimationTrack::new("wave").blend(BlendMode::Override).mask("upper_body");
    let upper = controller.add_track(upper);
    commands.spawn((SkinnedCharacter(assets.load("scout/scout.character.ron")), controller, Upper(upper)));
}

/// The one after the present one, round and round.
fn after<T: Copy, const N: usize>(all: [T; N], is_now: impl Fn(T) -> bool) -> T {
    let now = all.iter().position(|&item| is_now(item)).unwrap_or(N - 1);
    all[(now + 1) % N]
}

fn keys(keys: Res<ButtonInput<KeyCode>>, mut scout: Single<(&Upper, &mut AnimationController)>) {
    let (Upper(upper), controller) = &mut *scout;
    if keys.just_pressed(KeyCode::KeyL) {
        let next = after(BASE, |clip| controller.current() == Some(clip));
        controller.cross_fade(next, std::time::Duration::from_millis(250));
    }
    let Some(track) = controller.track_mut(*upper) else { return };
    if keys.just_pressed(KeyCode::KeyM) {
        track.mask = after(MASKS, |mask| track.mask.as_deref() == mask).map(Into::into);
    }
    if keys.just_pressed(KeyCode::KeyU) {
        track.set_clip(after(UPPER, |clip| track.clip() == clip));
    }
    if keys.just_pressed(KeyCode::Space) {
        track.enabled = !track.enabled;
    }
}

fn caption(scout: Single<(&Upper, &AnimationController)>, mut caption: ResMut<Caption>) {
    let (&Upper(upper), controller) = *scout;
    let Some(track) = controller.track(upper) else { return };
    let below = controller.current().unwrap_or("nothing");
    let mask = track.mask.as_deref().unwrap_or("none: it covers everything");
    let off = if track.enabled { "" } else { "  (off)" };
    caption.say(format!("   over  {}{off}\n   mask  {mask}\n  below  {below}", track.clip()));
}
