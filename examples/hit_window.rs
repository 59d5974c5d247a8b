//! A hit window: Scout kicks a ball, which flies only if her foot meets it while the window is open.
//!
//! Her manifest gives the clip `kick` a key with an end, `(time: 0.32, until: 0.46, name: "hit")`. An observer hears of both
//! with the time at which they were, between two frames, and asks where her foot was then. So the foot's way through the
//! window is the same at any frame rate: press 1 to 3 and compare.
//!
//! ```text
//! cargo run --example hit_window
//! ```

mod stage;

use bevy::{
    prelude::*,
    winit::{UpdateMode, WinitSettings},
};
use bevy_marionette::{
    controller::{CallbackKind, Transition},
    prelude::*,
};
use stage::{Caption, Orbit, StageArgs, View};
use std::time::Duration;

const HELP: &str =
    "1, 2, 3: full speed, 20, 8 frames per second   F: kick   drag, arrows: orbit   wheel: zoom";

const FOOT: &str = "toes.R";
/// Where the ball lies on its stand, and its radius and that of a foot, in meters.
const BALL: Vec3 = Vec3::new(0.0, 0.95, -0.75);
const BALL_RADIUS: f32 = 0.16;
const FOOT_RADIUS: f32 = 0.06;
/// Seconds between kicks that nobody asks for.
const PAUSE: f32 = 2.2;

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(0.42, "");
    stage::app("hit_window", &args, HELP)
        .insert_resource(View(Orbit {
            target: Vec3::new(0.0, 0.8, -0.3),
            distance: 4.4,
            yaw: 1.15,
            pitch: 0.12,
        }))
        .init_resource::<Way>()
        .add_systems(Startup, (spawn, draw_in_front))
        .add_systems(Update, (choose_rate, kick, fly, draw, caption))
        // In the pose of this frame.
        .add_systems(PostUpdate, follow_foot.after(TransformSystems::Propagate))
        .add_observer(open_or_close)
        .run();
}

/// The way of the foot through the window.
#[derive(Resource, Default)]
struct Way {
    points: Vec<Vec3>,
    is_open: bool,
    hits: usize,
}

#[derive(Component)]
struct Ball {
    velocity: Vec3,
    since: Option<f32>,
}

fn spawn(
    mut commands: Commands,
    assets: Res<AssetServer>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.spawn((
        SkinnedCharacter(assets.load("adventure/scout_adventure.character.ron")),
        AnimationController::playing("idle"),
    ));
    commands.spawn((
        Ball {
            velocity: Vec3::ZERO,
            since: None,
        },
        Mesh3d(meshes.add(Sphere::new(BALL_RADIUS))),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb(0.85, 0.35, 0.15),
            perceptual_roughness: 0.5,
            ..default()
        })),
        Transform::from_translation(BALL),
    ));
    let height = BALL.y - BALL_RADIUS;
    commands.spawn((
        Mesh3d(meshes.add(Cylinder::new(0.025, height))),
        MeshMaterial3d(materials.add(Color::srgb(0.35, 0.33, 0.32))),
        Transform::from_xyz(BALL.x, height / 2.0, BALL.z),
    ));
}

/// Draws the way of the foot over the foot itself.
fn draw_in_front(mut store: ResMut<GizmoConfigStore>) {
    let (config, _) = store.config_mut::<DefaultGizmoConfigGroup>();
    config.depth_bias = -1.0;
    config.line.width = 4.0;
}

/// Runs fewer frames per second, to show that it makes no difference.
fn choose_rate(keys: Res<ButtonInput<KeyCode>>, mut commands: Commands) {
    for (key, mode) in [
        (KeyCode::Digit1, UpdateMode::Continuous),
        (KeyCode::Digit2, slow(20.0)),
        (KeyCode::Digit3, slow(8.0)),
    ] {
        if keys.just_pressed(key) {
            commands.insert_resource(WinitSettings {
                focused_mode: mode,
                unfocused_mode: mode,
            });
        }
    }
}

/// A frame only when its time has come, whatever the pointer does.
fn slow(frames_per_second: f64) -> UpdateMode {
    UpdateMode::Reactive {
        wait: Duration::from_secs_f64(1.0 / frames_per_second),
        react_to_device_events: false,
        react_to_user_events: false,
        react_to_window_events: false,
    }
}

/// Kicks when F is pressed, or after a while.
fn kick(
    keys: Res<ButtonInput<KeyCode>>,
    time: Res<Time>,
    mut since: Local<Option<f32>>,
    mut scout: Single<&mut AnimationController>,
) {
    let now = time.elapsed_secs();
    let is_due = since.is_none_or(|since| now - since > PAUSE);
    if scout.is_playing("kick") {
        if scout
            .current_track()
            .is_some_and(|track| track.position() > 1.0)
        {
            scout.play_with("idle", Transition::fade(Duration::from_millis(250)));
        }
    } else if (is_due || keys.just_pressed(KeyCode::KeyF)) && scout.current().is_some() {
        *since = Some(now);
        scout.play_with("kick", Transition::switch(Duration::from_millis(120)));
    }
}

/// Begins the foot's way where it was when the window opened, and ends it where it was when the window closed.
fn open_or_close(
    event: On<AnimationCallback>,
    poses: CharacterPoses,
    mut way: ResMut<Way>,
    mut ball: Single<(&mut Ball, &Transform)>,
) {
    if event.name != "hit" {
        return;
    }
    let Some(foot) = poses.joint_transform_at(&event, FOOT) else {
        return;
    };
    match event.kind {
        CallbackKind::Begin => {
            way.points.clear();
            way.is_open = true;
        }
        CallbackKind::End => way.is_open = false,
        CallbackKind::Key => return,
    }
    way.go_on(foot.translation(), &mut ball);
}

/// Adds a point of the foot's way for each frame in which the window is open.
fn follow_foot(
    poses: CharacterPoses,
    scout: Single<Entity, With<AnimationController>>,
    mut way: ResMut<Way>,
    mut ball: Single<(&mut Ball, &Transform)>,
) {
    if way.is_open
        && let Some(foot) = poses.joint_transform(*scout, FOOT)
    {
        way.go_on(foot.translation(), &mut ball);
    }
}

impl Way {
    /// Moves the foot to a point, and kicks what is on the way.
    fn go_on(&mut self, to: Vec3, (ball, place): &mut (Mut<Ball>, &Transform)) {
        let from = self.points.last().copied().unwrap_or(to);
        self.points.push(to);
        let segment = Segment3d::new(from, to);
        let nearest = segment.closest_point(place.translation);
        let is_met = nearest.distance(place.translation) < BALL_RADIUS + FOOT_RADIUS;
        if is_met && ball.since.is_none() {
            self.hits += 1;
            ball.since = Some(0.0);
            ball.velocity = Vec3::new(0.0, 3.2, -5.0);
        }
    }
}

/// The ball flies, and comes back.
fn fly(time: Res<Time>, ball: Single<(&mut Ball, &mut Transform)>) {
    let (mut ball, mut place) = ball.into_inner();
    let Some(since) = &mut ball.since else { return };
    let dt = time.delta_secs();
    *since += dt;
    if *since > 1.4 {
        (ball.since, place.translation) = (None, BALL);
        return;
    }
    place.translation += ball.velocity * dt;
    ball.velocity.y -= 9.81 * dt;
    if place.translation.y < BALL_RADIUS {
        place.translation.y = BALL_RADIUS;
        ball.velocity *= Vec3::new(0.7, -0.5, 0.7);
    }
}

fn draw(way: Res<Way>, mut gizmos: Gizmos) {
    let color = if way.is_open {
        Color::srgb(1.0, 0.8, 0.2)
    } else {
        Color::srgb(0.6, 0.6, 0.6)
    };
    gizmos.linestrip(way.points.iter().copied(), color);
    for &point in &way.points {
        gizmos.sphere(point, FOOT_RADIUS * 0.4, color);
    }
}

fn caption(way: Res<Way>, mut caption: ResMut<Caption>) {
    let window = if way.is_open { "open" } else { "closed" };
    caption.set(format!("window: {window}   hits: {}", way.hits));
}
