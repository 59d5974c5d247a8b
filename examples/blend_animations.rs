//! Blending two clips. Left and right play one clip each; the middle plays the blend.
//!
//! A port of the D3DX blend sample: idle and wave, idle and jog, jog and wave, walk and wave, with weights 0.4 and 0.6, both
//! tracks at high priority. The priority blend, which is the share of the high-priority group, only has an effect if both
//! groups have a track: press F to move the first track to low priority.
//!
//! ```text
//! cargo run --example blend_animations
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::{
    controller::{AnimationTrack, TrackId, TrackPriority},
    prelude::*,
};
use stage::{Caption, Orbit, StageArgs, View, bar};

const HELP: &str = "N, 1 - 4: next pair, pair   Q, A: weight of the first   W, S: weight of the second   E, D: priority blend\n\
                    F: priority of the first   drag, arrows: orbit   wheel: zoom";

/// Scout's `idle` is the sample's "loiter".
const PAIRS: [[&str; 2]; 4] = [
    ["idle", "wave"],
    ["idle", "jog"],
    ["jog", "wave"],
    ["walk", "wave"],
];
const WEIGHTS: [f32; 2] = [0.4, 0.6];

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(1.43, "4@0.1");
    stage::app("blend_animations", &args, HELP)
        .insert_resource(View(Orbit {
            target: Vec3::Y * 1.02,
            distance: 5.0,
            yaw: 0.45,
            pitch: 0.1,
        }))
        .add_systems(Startup, spawn)
        .add_systems(Update, (choose, adjust, caption).chain())
        .run();
}

/// The character in the middle, with its two tracks.
#[derive(Component)]
struct Blend([TrackId; 2]);

/// A character at the side, with the index of the clip it plays.
#[derive(Component)]
struct Alone(usize);

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    let scout = SkinnedCharacter(assets.load("scout/scout.character.ron"));
    let pair = PAIRS[0];
    let mut controller = AnimationController::default();
    let tracks = [0, 1].map(|i| {
        controller.add_track(
            AnimationTrack::new(pair[i])
                .weight(WEIGHTS[i])
                .priority(TrackPriority::High),
        )
    });
    commands.spawn((scout.clone(), controller, Blend(tracks)));
    for (i, x) in [(0, 1.35), (1, -1.35)] {
        let at = Transform::from_xyz(x, 0.0, 0.0);
        commands.spawn((
            scout.clone(),
            AnimationController::playing(pair[i]),
            Alone(i),
            at,
        ));
    }
}

fn choose(
    keys: Res<ButtonInput<KeyCode>>,
    mut pair: Local<usize>,
    mut blend: Single<(&Blend, &mut AnimationController)>,
    mut others: Query<(&Alone, &mut AnimationController), Without<Blend>>,
) {
    let digits = [
        KeyCode::Digit1,
        KeyCode::Digit2,
        KeyCode::Digit3,
        KeyCode::Digit4,
    ];
    if keys.just_pressed(KeyCode::KeyN) {
        *pair = (*pair + 1) % PAIRS.len();
    } else if let Some(digit) = digits.iter().position(|&key| keys.just_pressed(key)) {
        *pair = digit;
    } else {
        return;
    }
    let (Blend(tracks), controller) = &mut *blend;
    for (&track, clip) in tracks.iter().zip(PAIRS[*pair]) {
        if let Some(track) = controller.track_mut(track) {
            track.set_clip(clip);
        }
    }
    for (&Alone(i), mut controller) in &mut others {
        let track = controller.play(PAIRS[*pair][i]);
        if let Some(track) = controller.track_mut(track) {
            track.restart();
        }
    }
}

fn adjust(
    keys: Res<ButtonInput<KeyCode>>,
    time: Res<Time>,
    mut blend: Single<(&Blend, &mut AnimationController)>,
) {
    let (Blend(tracks), controller) = &mut *blend;
    let held = |up, down| {
        (f32::from(keys.pressed(up)) - f32::from(keys.pressed(down))) * 0.6 * time.delta_secs()
    };
    let steps = [
        held(KeyCode::KeyQ, KeyCode::KeyA),
        held(KeyCode::KeyW, KeyCode::KeyS),
    ];
    for (&track, step) in tracks.iter().zip(steps) {
        if let Some(track) = controller.track_mut(track) {
            track.weight = (track.weight + step).clamp(0.0, 1.0);
        }
    }
    let share = controller.priority_blend + held(KeyCode::KeyE, KeyCode::KeyD);
    controller.priority_blend = share;
    if keys.just_pressed(KeyCode::KeyF)
        && let Some(first) = controller.track_mut(tracks[0])
    {
        first.priority = if first.priority == TrackPriority::High {
            TrackPriority::Low
        } else {
            TrackPriority::High
        };
    }
}

fn caption(blend: Single<&AnimationController, With<Blend>>, mut caption: ResMut<Caption>) {
    let mut text = String::new();
    for track in blend.tracks() {
        text += &format!(
            "{:>14} {} {:.2}  {:?}\n",
            track.clip(),
            bar(track.weight),
            track.weight,
            track.priority
        );
    }
    let share = blend.priority_blend;
    // If one group is empty, the priority blend has no effect.
    let counts = blend
        .tracks()
        .any(|track| track.priority == TrackPriority::Low);
    let note = if counts {
        ""
    } else {
        "  (no effect: both tracks are high)"
    };
    caption.set(format!(
        "{text}priority blend {} {share:.2}{note}",
        bar(share)
    ));
}
