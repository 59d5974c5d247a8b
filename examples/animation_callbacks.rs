//! Animation callbacks: footsteps leave marks, and the camera turns twice per cycle.
//!
//! A port of the D3DX callback sample, in which the camera turns by 90 degrees halfway through the clip and at its end.
//! Those callbacks are added in code; the footsteps are in the manifest. `add_callback_type` turns both into types of this
//! example's own, and observers receive each exactly once, whatever the frame rate.
//!
//! ```text
//! cargo run --example animation_callbacks
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::{
    character::{AppCharacterExt, Callback},
    controller::{CallbackTime, Transition},
    prelude::*,
};
use serde::Deserialize;
use stage::{Caption, Orbit, StageArgs, View};
use std::{
    f32::consts::{FRAC_PI_2, TAU},
    time::Duration,
};

const HELP: &str = "space: walk, jog   T: camera turns on, off   C: clear marks   drag, arrows: orbit   wheel: zoom";

/// Radius of Scout's circle in meters.
const RADIUS: f32 = 1.25;
/// Playback speed, slow enough to see each turn of the camera.
const SPEED: f64 = 0.5;
/// Number of marks kept on the ground.
const MARKS: usize = 60;

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(10.2, "");
    stage::app("animation_callbacks", &args, HELP)
        .insert_resource(View(Orbit {
            target: Vec3::Y * 0.6,
            distance: 5.6,
            yaw: -2.5,
            pitch: 0.5,
        }))
        .init_resource::<Received>()
        .add_systems(Startup, spawn)
        .add_systems(Update, (keys, walk_in_a_circle, turn_camera, caption))
        .add_callback_type::<TurnCamera>("turn_camera")
        .add_observer(turn_by_a_quarter)
        .add_callback_type::<Footstep>("footstep")
        .add_observer(leave_mark)
        .run();
}

/// The callback `footstep`. Its data is `"left"` or `"right"`.
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Footstep {
    Left,
    Right,
}

/// The callback `turn_camera`. Its data is an angle in degrees.
#[derive(Deserialize)]
struct TurnCamera(f32);

/// Counts of the callbacks received.
#[derive(Resource)]
struct Received {
    steps: [usize; 2],
    turns: usize,
    /// Whether the camera reacts to its callbacks.
    turning: bool,
    /// Angle in radians the camera has left to turn.
    remaining: f32,
}

impl Default for Received {
    fn default() -> Self {
        Self {
            steps: [0; 2],
            turns: 0,
            turning: true,
            remaining: 0.0,
        }
    }
}

/// Follows a foot: 0 is left, 1 is right.
#[derive(Component)]
struct Foot(usize);

#[derive(Component)]
struct Mark;

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    let mut controller = AnimationController::playing("walk");
    controller.time_scale = SPEED;
    for clip in ["walk", "jog"] {
        for time in [CallbackTime::Fraction(0.5), CallbackTime::End] {
            controller.add_callback(clip, time, "turn_camera", 90.0_f32);
        }
    }
    let scout = commands
        .spawn((
            SkinnedCharacter(assets.load("scout/scout.character.ron")),
            controller,
        ))
        .id();
    for (foot, joint) in ["foot.L", "foot.R"].into_iter().enumerate() {
        commands.spawn((Foot(foot), AttachedTo(scout), AtSocket::new(joint)));
    }
}

fn turn_by_a_quarter(turn: On<Callback<TurnCamera>>, mut received: ResMut<Received>) {
    if received.turning {
        received.turns += 1;
        received.remaining += turn.data.0.to_radians();
    }
}

fn leave_mark(
    step: On<Callback<Footstep>>,
    mut commands: Commands,
    mut received: ResMut<Received>,
    feet: Query<(&Foot, &GlobalTransform)>,
    scout: Single<&Transform, With<SkinnedCharacter>>,
    marks: Query<Entity, With<Mark>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let foot = step.data as usize;
    received.steps[foot] += 1;
    let Some((_, place)) = feet.iter().find(|(side, _)| side.0 == foot) else {
        return;
    };
    let sole = place.translation().with_y(0.004) + scout.forward() * 0.06;
    let color = [Color::srgb(0.95, 0.62, 0.20), Color::srgb(0.25, 0.70, 0.95)][foot];
    commands.spawn((
        Mark,
        Mesh3d(meshes.add(Capsule2d::new(0.05, 0.17))),
        MeshMaterial3d(materials.add(StandardMaterial {
            perceptual_roughness: 1.0,
            ..color.into()
        })),
        Transform::from_translation(sole)
            .with_rotation(scout.rotation * Quat::from_rotation_x(-FRAC_PI_2)),
    ));
    if marks.iter().count() >= MARKS {
        // Remove the oldest.
        if let Some(oldest) = marks.iter().min() {
            commands.entity(oldest).despawn();
        }
    }
}

/// Moves Scout at the speed of the clip, so that the feet don't slide.
fn walk_in_a_circle(
    time: Res<Time>,
    mut angle: Local<f32>,
    mut scout: Single<(&mut Transform, &AnimationController)>,
) {
    let (transform, controller) = &mut *scout;
    let pace = if controller.current() == Some("jog") {
        2.4
    } else {
        1.2
    } * controller.time_scale as f32;
    *angle = (*angle + pace / RADIUS * time.delta_secs()) % TAU;
    let out = Quat::from_rotation_y(*angle) * Vec3::X;
    **transform = Transform::from_translation(out * RADIUS).looking_to(Vec3::Y.cross(out), Vec3::Y);
}

fn turn_camera(time: Res<Time>, mut received: ResMut<Received>, mut orbit: Single<&mut Orbit>) {
    if received.remaining > 1e-4 {
        let turn = received.remaining * (1.0 - (-9.0 * time.delta_secs()).exp());
        received.remaining -= turn;
        orbit.yaw += turn;
    }
}

fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    mut commands: Commands,
    mut received: ResMut<Received>,
    mut controller: Single<&mut AnimationController>,
    marks: Query<Entity, With<Mark>>,
) {
    if keys.just_pressed(KeyCode::Space) {
        let next = if controller.current() == Some("walk") {
            "jog"
        } else {
            "walk"
        };
        controller.play_with(
            next,
            Transition::fade(Duration::from_millis(250)).in_phase(),
        );
    }
    if keys.just_pressed(KeyCode::KeyT) {
        received.turning = !received.turning;
    }
    if keys.just_pressed(KeyCode::KeyC) {
        for mark in &marks {
            commands.entity(mark).despawn();
        }
    }
}

fn caption(received: Res<Received>, mut caption: ResMut<Caption>) {
    let Received {
        steps: [left, right],
        turns,
        turning,
        ..
    } = *received;
    let turning = if turning { "" } else { "  (off)" };
    caption.set(format!(
        "steps: {left} left, {right} right\ncamera turns: {turns}{turning}"
    ));
}
