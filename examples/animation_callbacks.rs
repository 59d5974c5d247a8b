//! Clips that call back: the camera turns, and feet leave marks.
//!
//! Retells d3dx's callback sample, in which the camera turns by 90 degrees at half of the clip and at its
//! end; those keys are added here in code. The footsteps come from the manifest. Both are heard by
//! observers, exactly once each, whatever the frame rate.
//!
//! ```text
//! cargo run --example animation_callbacks
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::{controller::CallbackTime, prelude::*};
use clap::Parser;
use stage::{Caption, Orbit, StageArgs, View};
use std::f32::consts::{FRAC_PI_2, TAU};

const HELP: &str = "space: walk, jog   T: camera turns on, off   C: wipe the marks   drag, arrows: orbit   wheel: zoom";

/// Radius of the circle that Scout goes in, in meters.
const RADIUS: f32 = 1.25;
/// Marks that stay on the ground.
const MARKS: usize = 60;

fn main() {
    let args = StageArgs::parse().showing(5.1, "");
    stage::app("animation_callbacks", &args, HELP)
        .insert_resource(View(Orbit { target: Vec3::Y * 0.6, distance: 5.6, yaw: -2.5, pitch: 0.5 }))
        .init_resource::<Heard>()
        .add_systems(Startup, spawn)
        .add_systems(Update, (keys, walk_in_a_circle, turn_camera, caption))
        .add_observer(turn_by_a_quarter)
        .add_observer(leave_mark)
        .run();
}

/// What has been heard.
#[derive(Resource)]
struct Heard {
    steps: [usize; 2],
    turns: usize,
    /// Whether the camera follows its callback.
    turning: bool,
    /// Radians that the camera has yet to turn.
    to_go: f32,
}

impl Default for Heard {
    fn default() -> Self {
        Self { steps: [0; 2], turns: 0, turning: true, to_go: 0.0 }
    }
}

/// Rides on a foot. 0 is left, 1 is right.
#[derive(Component)]
struct Foot(usize);

#[derive(Component)]
struct Mark;

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    let mut controller = AnimationController::playing("walk");
    for time in [CallbackTime::Fraction(0.5), CallbackTime::End] {
        let turn = controller.add_callback("walk", time, "turn_camera", 90.0_f32.into());
        // A walk's cycle is short. Every fourth time leaves something to see between the turns.
        controller.set_every_nth(turn, 4);
    }
    let scout = commands.spawn((SkinnedCharacter(assets.load("scout/scout.character.ron")), controller)).id();
    for (foot, joint) in ["foot.L", "foot.R"].into_iter().enumerate() {
        commands.spawn((Foot(foot), AttachedTo::new(scout, joint)));
    }
}

fn turn_by_a_quarter(callback: On<AnimationCallback>, mut heard: ResMut<Heard>) {
    if callback.name == "turn_camera" && heard.turning {
        // The data may be any type of your own that serde can read.
        let degrees: f32 = callback.data_as().unwrap_or_default();
        heard.turns += 1;
        heard.to_go += degrees.to_radians();
    }
}

fn leave_mark(
    step: On<AnimationCallback>,
    mut commands: Commands,
    mut heard: ResMut<Heard>,
    feet: Query<(&Foot, &GlobalTransform)>,
    scout: Single<&Transform, With<SkinnedCharacter>>,
    marks: Query<Entity, With<Mark>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    if step.name != "footstep" {
        return;
    }
    let foot = usize::from(step.data_as::<String>().is_ok_and(|side| side == "right"));
    heard.steps[foot] += 1;
    let Some((_, place)) = feet.iter().find(|(side, _)| side.0 == foot) else { return };
    let sole = place.translation().with_y(0.004) + scout.forward() * 0.06;
    let color = [Color::srgb(0.95, 0.62, 0.20), Color::srgb(0.25, 0.70, 0.95)][foot];
    commands.spawn((
        Mark,
        Mesh3d(meshes.add(Capsule2d::new(0.05, 0.17))),
        MeshMaterial3d(materials.add(StandardMaterial { perceptual_roughness: 1.0, ..color.into() })),
        Transform::from_translation(sole).with_rotation(scout.rotation * Quat::from_rotation_x(-FRAC_PI_2)),
    ));
    if marks.iter().count() >= MARKS {
        // The oldest has the lowest place in the table.
        marks.iter().min().into_iter().for_each(|oldest| commands.entity(oldest).despawn());
    }
}

/// The clips stay on the spot; at this pace the feet do not slide.
fn walk_in_a_circle(time: Res<Time>, mut angle: Local<f32>, mut scout: Single<(&mut Transform, &AnimationController)>) {
    let (transform, controller) = &mut *scout;
    let pace = if controller.current() == Some("jog") { 2.4 } else { 1.2 };
    *angle = (*angle + pace / RADIUS * time.delta_secs()) % TAU;
    let out = Quat::from_rotation_y(*angle) * Vec3::X;
    **transform = Transform::from_translation(out * RADIUS).looking_to(Vec3::Y.cross(out), Vec3::Y);
}

fn turn_camera(time: Res<Time>, mut heard: ResMut<Heard>, mut orbit: Single<&mut Orbit>) {
    if heard.to_go > 1e-4 {
        let turn = heard.to_go * (1.0 - (-9.0 * time.delta_secs()).exp());
        heard.to_go -= turn;
        orbit.yaw += turn;
    }
}

fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    mut commands: Commands,
    mut heard: ResMut<Heard>,
    mut controller: Single<&mut AnimationController>,
    marks: Query<Entity, With<Mark>>,
) {
    if keys.just_pressed(KeyCode::Space) {
        let next = if controller.current() == Some("walk") { "jog" } else { "walk" };
        controller.cross_fade_in_phase(next, std::time::Duration::from_millis(250));
    }
    if keys.just_pressed(KeyCode::KeyT) {
        heard.turning = !heard.turning;
    }
    if keys.just_pressed(KeyCode::KeyC) {
        marks.iter().for_each(|mark| commands.entity(mark).despawn());
    }
}

fn caption(heard: Res<Heard>, mut caption: ResMut<Caption>) {
    let Heard { steps: [left, right], turns, turning, .. } = *heard;
    let turning = if turning { "" } else { "  (off)" };
    caption.say(format!("steps: {left} left, {right} right\ncamera turns: {turns}{turning}"));
}
