//! The upper body waves while the legs keep jogging.
//!
//! D3DX programs do this with two controllers, each driving half of the skeleton. Here, [`AnimationController::play_over`]
//! plays a track with a mask over another track, fading it in and out. The mask `upper_body` is defined in the manifest:
//! everything from the upper chest up, with a falloff over the two joints below it so that the waist bends smoothly.
//!
//! ```text
//! cargo run --example partial_body
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::{
    controller::{AnimationTrack, BlendMode, TrackId},
    model::PlaybackMode,
    prelude::*,
};
use stage::{Caption, Orbit, StageArgs, View};
use std::time::Duration;

const HELP: &str = "M: next mask   L: next clip for the legs   U: next overlay clip   space: overlay on, off\n\
                    drag, arrows: orbit   wheel: zoom";

/// Masks in the manifest, and no mask.
const MASKS: [Option<&str>; 4] = [Some("upper_body"), Some("arm.R"), Some("head"), None];
const BASE: [&str; 3] = ["jog", "walk", "idle"];
const OVERLAYS: [&str; 2] = ["wave", "point"];
const FADE: Duration = Duration::from_millis(250);

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(0.86, "");
    stage::app("partial_body", &args, HELP)
        .insert_resource(View(Orbit {
            target: Vec3::Y * 0.95,
            distance: 4.0,
            yaw: -0.85,
            pitch: 0.08,
        }))
        .add_systems(Startup, spawn)
        .add_systems(Update, (keys, caption).chain())
        .run();
}

/// What plays over the legs' clip.
#[derive(Component)]
struct Overlay {
    clip: &'static str,
    mask: Option<&'static str>,
    /// Its latest track, which the controller removes after fading it out.
    track: TrackId,
}

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    let mut controller = AnimationController::playing("jog");
    let track = play_over(&mut controller, "wave", Some("upper_body"));
    commands.spawn((
        SkinnedCharacter(assets.load("scout/scout.character.ron")),
        controller,
        Overlay {
            clip: "wave",
            mask: Some("upper_body"),
            track,
        },
    ));
}

/// `wave` loops until it is faded out; `point` is played once, and fades out by itself.
fn play_over(controller: &mut AnimationController, clip: &str, mask: Option<&str>) -> TrackId {
    // `Override` replaces the tracks below it wherever the mask applies.
    let mut track = AnimationTrack::new(clip).blend(BlendMode::Override);
    if clip == "wave" {
        track = track.playback(PlaybackMode::Loop);
    }
    track.mask = mask.map(Into::into);
    controller.play_over(track, FADE, FADE)
}

/// Returns the item after the current one, wrapping around.
fn next<T: Copy, const N: usize>(items: [T; N], is_current: impl Fn(T) -> bool) -> T {
    let current = items
        .iter()
        .position(|&item| is_current(item))
        .unwrap_or(N - 1);
    items[(current + 1) % N]
}

fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    mut scout: Single<(&mut Overlay, &mut AnimationController)>,
) {
    let (overlay, controller) = &mut *scout;
    if keys.just_pressed(KeyCode::KeyL) {
        let clip = next(BASE, |clip| controller.current() == Some(clip));
        controller.cross_fade(clip, FADE);
    }
    if keys.just_pressed(KeyCode::KeyM) {
        overlay.mask = next(MASKS, |mask| overlay.mask == mask);
        if let Some(track) = controller.track_mut(overlay.track) {
            track.mask = overlay.mask.map(Into::into);
        }
    }
    if keys.just_pressed(KeyCode::KeyU) {
        overlay.clip = next(OVERLAYS, |clip| overlay.clip == clip);
        controller.timeline_mut().fade_out(overlay.track, FADE);
        overlay.track = play_over(controller, overlay.clip, overlay.mask);
    }
    if keys.just_pressed(KeyCode::Space) {
        if controller.track(overlay.track).is_some() {
            controller.timeline_mut().fade_out(overlay.track, FADE);
        } else {
            overlay.track = play_over(controller, overlay.clip, overlay.mask);
        }
    }
}

fn caption(scout: Single<(&Overlay, &AnimationController)>, mut caption: ResMut<Caption>) {
    let (overlay, controller) = *scout;
    let base = controller.current().unwrap_or("nothing");
    let mask = overlay.mask.unwrap_or("none (whole body)");
    let off = if controller.track(overlay.track).is_some() {
        ""
    } else {
        "  (off)"
    };
    caption.set(format!(
        "overlay  {}{off}\n   mask  {mask}\n   base  {base}",
        overlay.clip
    ));
}
