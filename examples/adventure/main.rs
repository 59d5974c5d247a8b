//! A small third-person game: Scout walks, runs, jumps a gap, kicks a practice post that hits back, and waves.
//!
//! This file decides *what* she does, by name: `controller.go("kick")`. *How* is in the `states` of her manifest,
//! `assets/adventure/scout_adventure.character.ron`: which clip plays, by which transition, and when a state may be left. On
//! the ground, her clips carry her; in the air, gravity does. Hound comes along, in `hound.rs`.
//!
//! To start a game from it, copy all three files. Put `DefaultPlugins` and `MarionettePlugins::default()` in place of the stage,
//! which adds a window, light and a camera, and leave out `demo`, which plays while nobody touches the keys.
//!
//! ```text
//! cargo run --example adventure
//! cargo run --example adventure --features bevy/bevy_gilrs     # gamepads, too; needs libudev-dev on Linux
//! ```

mod demo;
mod hound;
#[path = "../stage/mod.rs"]
mod stage;

use bevy::prelude::*;
use bevy_marionette::{
    character::{GroundProbe, StateEntered, Teleported},
    controller::CallbackKind,
    prelude::*,
    recorder::{RecorderPlugin, Recording},
    rig::GroundHit,
};
use stage::{Caption, Orbit, PlaceCamera, StageArgs, View};
use std::f32::consts::{FRAC_PI_2, PI};

const HELP: &str = "WASD: walk   Shift: run   Space: jump   F: kick   E: wave   H: get hurt   R: look back in time\n\
                    drag, arrows: look around   F1: inspector   or a gamepad: sticks, South, West, North";

/// Meters per second.
const WALK: f32 = 1.3;
const RUN: f32 = 3.8;
const JUMP: f32 = 5.6;
/// Meters per second squared.
const ACCELERATION: f32 = 7.0;
/// A fall that ends faster than this ends in a crouch.
const HARD_LANDING: f32 = 6.3;
/// Meters per second squared: more than on Earth, so that jumps are snappy.
const GRAVITY: f32 = 16.0;
/// Meters: how high a step she takes without jumping, and her radius.
const STEP: f32 = 0.32;
const RADIUS: f32 = 0.28;

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(4.6, "");
    let mut app = App::new();
    stage::set_up(&mut app, "adventure", &args, HELP);
    // F1 shows her states, and what happened in the last minutes. While you look back, ghosts are where the present is.
    #[cfg(feature = "inspector")]
    {
        use bevy_marionette::inspector::{Inspector, InspectorTab};
        app.add_plugins(MarionetteInspectorPlugin)
            .insert_resource(Inspector {
                tab: InspectorTab::States,
                ghosts: true,
                ..default()
            });
    }
    app.add_plugins(RecorderPlugin)
        .insert_resource(View(Orbit {
            target: START + Vec3::Y,
            distance: 5.2,
            yaw: 2.25,
            pitch: 0.2,
        }))
        .init_resource::<Controls>()
        .add_systems(Startup, spawn)
        .add_systems(
            Update,
            (
                look_back,
                (read_input, demo::play, decide, swing_posts)
                    .chain()
                    .run_if(is_present),
                caption,
            )
                .chain(),
        )
        .add_systems(
            PostUpdate,
            (
                // Her clips have advanced, and nothing has been posed yet.
                (travel, hound::accompany)
                    .chain()
                    .after(CharacterSystems::Callbacks)
                    .before(CharacterSystems::EvaluateEarly),
                follow.after(travel).before(PlaceCamera),
                feel_ground.in_set(CharacterSystems::ProbeGround),
            ),
        )
        .add_observer(enter)
        .add_observer(strike)
        .run();
}

// ---- The course: blocks on a level ground ----

const START: Vec3 = Vec3::new(0.0, 0.0, 1.6);
/// Where she is put when she has fallen on the coals.
const BEFORE_GAP: Vec3 = Vec3::new(0.0, 1.02, -5.2);
const FLAG: Vec3 = Vec3::new(0.9, 0.0, -16.6);
const POSTS: [Vec3; 2] = [Vec3::new(0.35, 1.02, -10.9), Vec3::new(3.0, 0.0, -4.6)];
const COALS: Block = Block::new([-1.4, 1.4], [-8.2, -6.6], 0.02);

/// A box from the ground to its top.
#[derive(Clone, Copy)]
struct Block {
    x: [f32; 2],
    z: [f32; 2],
    top: f32,
}

impl Block {
    const fn new(x: [f32; 2], z: [f32; 2], top: f32) -> Self {
        Self { x, z, top }
    }

    /// Returns how far a place is inside, in meters; negative outside.
    fn inside(&self, at: Vec3) -> f32 {
        let across = (at.x - self.x[0]).min(self.x[1] - at.x);
        across.min(at.z - self.z[0]).min(self.z[1] - at.z)
    }
}

/// Six steps up to a platform, a gap, another platform, and crates beside the way.
fn course() -> Vec<Block> {
    let step = |i: i32| {
        let front = -1.0 - 0.36 * i as f32;
        Block::new([-1.4, 1.4], [front - 0.36, front], 0.17 * (i + 1) as f32)
    };
    let mut blocks: Vec<Block> = (0..6).map(step).collect();
    blocks.extend([
        Block::new([-1.4, 1.4], [-6.6, -3.16], 1.02),
        Block::new([-1.4, 1.4], [-13.2, -8.2], 1.02),
        Block::new([1.9, 2.8], [-2.6, -1.7], 0.9),
        Block::new([-2.9, -2.1], [-11.6, -10.8], 0.8),
    ]);
    blocks
}

/// Returns the height of the ground for feet at `at`: what is above by more than a step is a wall.
fn ground(blocks: &[Block], at: Vec3) -> f32 {
    let below = |block: &&Block| block.inside(at) >= 0.0 && block.top <= at.y + STEP;
    let tops = blocks.iter().filter(below).map(|block| block.top);
    tops.fold(0.0, f32::max)
}

/// Returns a place outside of walls.
fn pushed_out(blocks: &[Block], mut at: Vec3) -> Vec3 {
    for block in blocks {
        if block.top > at.y + STEP && block.inside(at) > -RADIUS {
            let ways = [
                Vec3::new(block.x[0] - RADIUS - at.x, 0.0, 0.0),
                Vec3::new(block.x[1] + RADIUS - at.x, 0.0, 0.0),
                Vec3::new(0.0, 0.0, block.z[0] - RADIUS - at.z),
                Vec3::new(0.0, 0.0, block.z[1] + RADIUS - at.z),
            ];
            at += ways
                .into_iter()
                .min_by(|a, b| a.length().total_cmp(&b.length()))
                .unwrap_or_default();
        }
    }
    for post in POSTS {
        let way = (at - post).with_y(0.0);
        let inside = RADIUS + 0.17 - way.length();
        if inside > 0.0 && (at.y - post.y).abs() < 1.5 {
            at += way.normalize_or(Vec3::Z) * inside;
        }
    }
    at
}

// ---- Scout ----

/// What the player wants in this frame.
#[derive(Resource, Default)]
struct Controls {
    /// Direction over the ground, and speed in meters per second.
    walk: Vec3,
    /// The state to go to, and whether to wave.
    action: Option<&'static str>,
    wave: bool,
    /// `true` once somebody plays.
    has_player: bool,
}

#[derive(Component, Default)]
struct Scout {
    /// Meters per second: what her clips are asked for, and how she moves.
    pace: f32,
    velocity: Vec3,
    /// `false` in the air.
    stands: bool,
    /// She fell on the coals.
    is_burnt: bool,
}

/// A practice post. Kicked, its arms go around, and hit whoever is in their way.
#[derive(Component, Default)]
struct Post {
    /// Radians: where its arms are, where they were at the kick, and how far it leans.
    turn: f32,
    turn_at_kick: f32,
    lean: f32,
    /// Radians per second.
    turns_by: f32,
    leans_by: f32,
    away: Vec3,
}

#[derive(Resource)]
struct Course(Vec<Block>);

fn spawn(
    mut commands: Commands,
    assets: Res<AssetServer>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.spawn((
        Scout {
            stands: true,
            ..default()
        },
        SkinnedCharacter(assets.load("adventure/scout_adventure.character.ron")),
        // Moved by this file, as far as her clips say.
        RootMotion::report(),
        FootPlacement::default(),
        Transform::from_translation(START),
    ));
    commands.spawn(hound::bundle(&assets, START));
    let mut paint = |color: Color| {
        materials.add(StandardMaterial {
            base_color: color,
            perceptual_roughness: 0.9,
            ..default()
        })
    };
    let stone = [0.50, 0.62].map(|shade| paint(Color::srgb(shade, shade * 0.98, shade * 0.93)));
    let wood = paint(Color::srgb(0.55, 0.38, 0.22));
    let red = paint(Color::srgb(0.78, 0.16, 0.12));
    let coal = materials.add(StandardMaterial {
        base_color: Color::srgb(0.10, 0.06, 0.05),
        emissive: LinearRgba::rgb(1.6, 0.30, 0.05),
        ..default()
    });
    let blocks = course();
    let mut build = |block: &Block, material: &Handle<StandardMaterial>| {
        let Block { x, z, top } = *block;
        let size = Vec3::new(x[1] - x[0], top, z[1] - z[0]);
        commands.spawn((
            Mesh3d(meshes.add(Cuboid::from_size(size))),
            MeshMaterial3d(material.clone()),
            Transform::from_xyz((x[0] + x[1]) / 2.0, top / 2.0, (z[0] + z[1]) / 2.0),
        ));
    };
    for (at, block) in blocks.iter().enumerate() {
        build(block, if at < 8 { &stone[at % 2] } else { &wood });
    }
    build(&COALS, &coal);
    commands.insert_resource(Course(blocks));
    for place in POSTS {
        let arm = meshes.add(Capsule3d::new(0.05, 0.62));
        let at_side = |x: f32, y: f32| {
            Transform::from_xyz(x, y, 0.0).with_rotation(Quat::from_rotation_z(FRAC_PI_2))
        };
        commands.spawn((
            Post::default(),
            Transform::from_translation(place),
            Visibility::default(),
            children![
                (
                    Mesh3d(meshes.add(Cylinder::new(0.13, 1.5))),
                    MeshMaterial3d(wood.clone()),
                    Transform::from_xyz(0.0, 0.75, 0.0),
                ),
                (
                    Mesh3d(meshes.add(Cylinder::new(0.165, 0.4))),
                    MeshMaterial3d(red.clone()),
                    Transform::from_xyz(0.0, 0.85, 0.0),
                ),
                (
                    Mesh3d(arm.clone()),
                    MeshMaterial3d(wood.clone()),
                    at_side(0.45, 1.3)
                ),
                (
                    Mesh3d(arm),
                    MeshMaterial3d(wood.clone()),
                    at_side(-0.45, 1.2)
                ),
            ],
        ));
    }
    commands.spawn((
        Transform::from_translation(FLAG),
        Visibility::default(),
        children![
            (
                Mesh3d(meshes.add(Cylinder::new(0.03, 2.6))),
                MeshMaterial3d(wood),
                Transform::from_xyz(0.0, 1.3, 0.0),
            ),
            (
                Mesh3d(meshes.add(Cuboid::new(0.02, 0.45, 0.7))),
                MeshMaterial3d(red),
                Transform::from_xyz(0.0, 2.35, -0.37),
            ),
        ],
    ));
}

fn read_input(
    keys: Res<ButtonInput<KeyCode>>,
    gamepads: Query<&Gamepad>,
    camera: Single<&Orbit>,
    mut controls: ResMut<Controls>,
) {
    let held = |key| f32::from(keys.pressed(key));
    let pressed = |key, button| {
        keys.just_pressed(key) || gamepads.iter().any(|gamepad| gamepad.just_pressed(button))
    };
    let keyboard = Vec2::new(
        held(KeyCode::KeyD) - held(KeyCode::KeyA),
        held(KeyCode::KeyW) - held(KeyCode::KeyS),
    );
    let runs = keys.pressed(KeyCode::ShiftLeft);
    let stick = gamepads.iter().map(Gamepad::left_stick);
    let stick = stick.fold(Vec2::ZERO, |sum, stick| sum + stick);
    let wish = if stick.length() > 0.15 {
        stick.clamp_length_max(1.0) * RUN
    } else {
        keyboard.normalize_or_zero() * if runs { RUN } else { WALK }
    };
    // Ahead is where the camera looks.
    let ahead = Quat::from_rotation_y(camera.yaw + PI);
    controls.walk = ahead * Vec3::new(wish.x, 0.0, -wish.y);
    controls.action = match () {
        () if pressed(KeyCode::Space, GamepadButton::South) => Some("jump"),
        () if pressed(KeyCode::KeyF, GamepadButton::West) => Some("kick"),
        () if pressed(KeyCode::KeyH, GamepadButton::East) => Some("hurt"),
        () => None,
    };
    controls.wave = pressed(KeyCode::KeyE, GamepadButton::North);
    controls.has_player |= wish != Vec2::ZERO || controls.action.is_some() || controls.wave;
}

/// Decides what Scout does next.
fn decide(
    time: Res<Time>,
    controls: Res<Controls>,
    scout: Single<(&mut Scout, &mut AnimationController, &mut Transform)>,
) -> Result {
    let (mut scout, mut controller, mut transform) = scout.into_inner();
    let dt = time.delta_secs();
    let Some(state) = controller.state().map(str::to_owned) else {
        return Ok(()); // still loading
    };
    if controls.wave {
        controller.go(("arms", "wave"))?;
    }
    // Takes effect at once, or when the present state may be left: the second kick of a combo can be pressed early.
    if let Some(action) = controls.action
        && (scout.stands || action == "hurt")
    {
        controller.go(action)?;
    }
    let wants_to_walk = controls.walk.length() > 0.1;
    let is_waiting = controller.states().destination() != controller.state();
    if wants_to_walk && scout.stands && !is_waiting && state != "ground" && state != "hurt" {
        controller.go("ground")?;
    }
    match state.as_str() {
        "ground" => {
            let change = ACCELERATION * dt;
            scout.pace += (controls.walk.length() - scout.pace).clamp(-change, change);
        }
        "jump" | "fall" if wants_to_walk => {
            let to = controls.walk.with_y(scout.velocity.y);
            scout.velocity.smooth_nudge(&to, 0.8, dt);
        }
        "jump" | "fall" => {}
        _ => scout.pace = 0.0,
    }
    // The blend space `locomotion` takes a speed.
    controller.set_parameters(f64::from(scout.pace));
    // She turns as she walks, and hardly in the air.
    let turns_by = match state.as_str() {
        "ground" => 9.0,
        "jump" | "fall" => 2.0,
        _ => 0.0,
    };
    if wants_to_walk {
        let to = Quat::from_rotation_y((-controls.walk.x).atan2(-controls.walk.z));
        transform.rotation.smooth_nudge(&to, turns_by, dt);
    }
    Ok(())
}

/// A state begins: now, or some moments after it was asked for.
fn enter(
    entered: On<StateEntered>,
    mut scouts: Query<(&mut Scout, &mut Transform)>,
    mut commands: Commands,
) {
    let Ok((mut scout, mut transform)) = scouts.get_mut(entered.entity) else {
        return;
    };
    if entered.state == "jump" {
        scout.velocity.y = JUMP;
        scout.stands = false;
    }
    if entered.state == "ground" && std::mem::take(&mut scout.is_burnt) {
        *transform = Transform::from_translation(BEFORE_GAP);
        scout.velocity = Vec3::ZERO;
        commands.entity(entered.entity).insert(Teleported);
    }
}

/// The physics: her clips carry her over the ground, and gravity through the air.
fn travel(
    time: Res<Time>,
    course: Res<Course>,
    scout: Single<(
        &mut Scout,
        &mut AnimationController,
        &mut Transform,
        &mut FootPlacement,
        &RootMotion,
    )>,
) -> Result {
    let (mut scout, mut controller, mut transform, mut feet, motion) = scout.into_inner();
    let dt = time.delta_secs();
    let Some(state) = controller.state().map(str::to_owned) else {
        return Ok(());
    };
    if dt == 0.0 {
        return Ok(());
    }
    let mut step = transform.rotation * motion.delta.translation();
    if scout.stands {
        scout.velocity = step.with_y(0.0) / dt;
    } else {
        step = (scout.velocity - Vec3::Y * (0.5 * GRAVITY * dt)) * dt;
        scout.velocity.y -= GRAVITY * dt;
    }
    let at = pushed_out(&course.0, transform.translation + step);
    let floor = ground(&course.0, at.with_y(transform.translation.y));
    transform.translation = if scout.stands && at.y - floor <= STEP {
        at.with_y(floor)
    } else if at.y > floor {
        scout.stands = false;
        at
    } else {
        // She lands, and is asked only now what she does then.
        let speed = -scout.velocity.y;
        scout.stands = true;
        if state != "hurt" {
            let goes_on = speed < HARD_LANDING && scout.velocity.with_y(0.0).length() > 1.0;
            controller.go(if goes_on { "ground" } else { "land" })?;
        }
        at.with_y(floor)
    };
    if !scout.stands && !["jump", "fall", "hurt"].contains(&state.as_str()) {
        controller.go("fall")?;
    }
    if scout.stands && COALS.inside(transform.translation) > 0.0 && !scout.is_burnt {
        scout.is_burnt = true;
        controller.go("hurt")?;
    }
    feet.weight
        .smooth_nudge(&if scout.stands { 1.0 } else { 0.0 }, 14.0, dt);
    Ok(())
}

/// Tells the feet where the ground is.
fn feel_ground(course: Res<Course>, mut probes: Query<&mut GroundProbe>) {
    for mut probe in &mut probes {
        probe.answer(|ray| {
            let point = ray.origin.with_y(ground(&course.0, ray.origin));
            Some(GroundHit {
                point,
                normal: Vec3::Y,
            })
        });
    }
}

// ---- Posts ----

/// The hit window of the kick begins. Posts stand still; for something that moves, test each frame while
/// `controller.range("hit").is_some()`.
fn strike(
    hit: On<AnimationCallback>,
    scouts: Query<&Transform, With<Scout>>,
    mut posts: Query<(&mut Post, &Transform), Without<Scout>>,
) {
    let Ok(scout) = scouts.get(hit.entity) else {
        return;
    };
    if hit.name != "hit" || hit.kind != CallbackKind::Begin {
        return;
    }
    for (mut post, place) in &mut posts {
        let way = place.translation - scout.translation;
        if way.length() < 1.4 && scout.forward().dot(way.normalize_or_zero()) > 0.7 {
            post.leans_by = 4.0;
            post.turns_by = 9.0;
            post.turn_at_kick = post.turn;
            post.away = way.with_y(0.0).normalize_or_zero();
        }
    }
}

/// Posts spring back, and their arms hit.
fn swing_posts(
    time: Res<Time>,
    mut posts: Query<(&mut Post, &mut Transform), Without<Scout>>,
    scout: Single<(&mut AnimationController, &Transform), With<Scout>>,
) -> Result {
    let (mut controller, scout) = scout.into_inner();
    let dt = time.delta_secs();
    for (mut post, mut transform) in &mut posts {
        let acceleration = -90.0 * post.lean - 5.0 * post.leans_by;
        post.leans_by += acceleration * dt;
        post.lean += post.leans_by * dt;
        let before = post.turn;
        post.turn += post.turns_by * dt;
        post.turns_by *= (-1.1 * dt).exp();
        let axis = Vec3::Y.cross(post.away).normalize_or(Vec3::X);
        transform.rotation =
            Quat::from_axis_angle(axis, post.lean) * Quat::from_rotation_y(post.turn);
        // Two arms, half a turn apart. The one that she set off is ahead of her, and the other comes around.
        let way = scout.translation - transform.translation;
        let bearing = (-way.z).atan2(way.x);
        let passes = |turn: f32| ((turn - bearing) / PI).floor();
        let is_late = before - post.turn_at_kick > 0.8 * PI && post.turns_by > 1.0;
        if is_late && passes(before) != passes(post.turn) && way.length() < 1.15 {
            controller.go("hurt")?;
            post.turns_by *= 0.4;
        }
    }
    Ok(())
}

// ---- Camera, text, and time ----

/// Goes back in time while R is held, faster and faster. Let go, and the game is where it was.
fn look_back(
    keys: Res<ButtonInput<KeyCode>>,
    time: Res<Time<Real>>,
    mut recording: ResMut<Recording>,
    mut held: Local<f32>,
) {
    if keys.pressed(KeyCode::KeyR) {
        let frames = recording.frames();
        let last = frames.end.saturating_sub(1);
        let wanted = recording.time_of(last).unwrap_or_default() - f64::from(*held * *held);
        let shown = recording.frame_at(wanted).unwrap_or(frames.start);
        recording.show(shown);
        *held += time.delta_secs();
    } else if keys.just_released(KeyCode::KeyR) {
        *held = 0.0;
        recording.show_present();
    }
}

/// Run condition: the past isn't shown.
fn is_present(recording: Res<Recording>) -> bool {
    recording.shown().is_none()
}

/// Follows Scout. The stage turns the camera by pointer and arrow keys, and this by the right stick.
fn follow(
    time: Res<Time<Real>>,
    scout: Single<&Transform, With<Scout>>,
    gamepads: Query<&Gamepad>,
    mut camera: Single<&mut Orbit>,
) {
    let stick = gamepads.iter().map(Gamepad::right_stick);
    let look = stick.fold(Vec2::ZERO, |sum, stick| sum + stick) * 2.5 * time.delta_secs();
    camera.yaw -= look.x;
    camera.pitch = (camera.pitch - look.y).clamp(0.02, 1.2);
    let target = scout.translation + Vec3::Y * 0.95;
    // Up and down more slowly, so that stairs and jumps don't shake the picture.
    let mut now = camera.target;
    now.smooth_nudge(&target, 6.0, time.delta_secs());
    camera.target = target.with_y(now.y);
}

fn caption(scout: Single<(&Scout, &AnimationController)>, mut caption: ResMut<Caption>) {
    let (scout, controller) = *scout;
    let Some(state) = controller.state() else {
        return;
    };
    let going = match controller.states().destination() {
        Some(destination) if destination != state => format!(", then {destination}"),
        _ => String::new(),
    };
    let arms = controller
        .states()
        .layer("arms")
        .current()
        .unwrap_or_default();
    let speed = scout.velocity.with_y(0.0).length();
    caption.set(format!("{state}{going}\narms: {arms}\n{speed:.1} m/s"));
}
