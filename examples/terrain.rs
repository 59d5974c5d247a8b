//! Scout and Hound walk over stairs and slopes.
//!
//! Their clips carry them ([`RootMotion`]), so feet don't slide; [`FootPlacement`] puts each foot on the ground that a
//! ray finds under it; their heads follow the lantern ([`LookAt`]); ears, tail, hair and scarf swing in the [`Wind`]. The
//! example only steers: it turns each character along the path and keeps it at the height of the ground.
//!
//! ```text
//! cargo run --example terrain
//! ```

mod stage;

use bevy::{
    asset::RenderAssetUsages,
    light::NotShadowCaster,
    mesh::{Indices, PrimitiveTopology},
    prelude::*,
};
use bevy_marionette::{
    character::{Ground, LookAt, LookTarget},
    prelude::*,
    rig::Wind,
};
use stage::{Caption, Orbit, StageArgs, View};
use std::{
    f32::consts::{FRAC_PI_2, TAU},
    time::Duration,
};

const HELP: &str = "F: feet   L: look   W: wind   J: jog, walk   N: whom to follow\n\
                    drag, arrows: orbit   wheel: zoom";

/// In meters per second.
const BREEZE: Vec3 = Vec3::new(3.5, 0.0, 1.5);

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(3.4, "");
    stage::app("terrain", &args, HELP)
        .insert_resource(View(Orbit {
            target: Vec3::Y,
            distance: 4.6,
            yaw: 0.0,
            pitch: 0.16,
        }))
        .init_resource::<Followed>()
        .insert_resource(Wind {
            velocity: BREEZE,
            ..default()
        })
        .add_systems(Startup, spawn)
        .add_systems(Update, (keys, steer, fly, follow, caption).chain())
        .run();
}

/// A walker and the radius of its circle.
#[derive(Component)]
struct Walker {
    radius: f32,
    name: &'static str,
    /// Its clips for walking and for hurrying.
    gaits: [&'static str; 2],
}

/// The index of the walker that the camera follows.
#[derive(Resource, Default)]
struct Followed(usize);

#[derive(Component)]
struct Lamp;

fn spawn(
    mut commands: Commands,
    assets: Res<AssetServer>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let stone = materials.add(StandardMaterial {
        base_color: Color::srgb(0.52, 0.51, 0.49),
        perceptual_roughness: 0.95,
        ..default()
    });
    // The slope faces away from the light, so its own shadow would be nothing but stripes.
    commands.spawn((
        Mesh3d(meshes.add(course())),
        MeshMaterial3d(stone),
        Ground,
        NotShadowCaster,
    ));
    let lamp = commands
        .spawn((Lamp, stage::lantern(&mut meshes, &mut materials)))
        .id();
    let walkers = [
        (
            Walker {
                radius: 4.5,
                name: "Scout",
                gaits: ["walk", "jog"],
            },
            "scout/scout.character.ron",
            0.42,
        ),
        (
            Walker {
                radius: 5.7,
                name: "Hound",
                gaits: ["walk", "gallop"],
            },
            "hound/hound.character.ron",
            0.30,
        ),
    ];
    for (walker, file, turn) in walkers {
        let place = at(turn * TAU, walker.radius);
        commands.spawn((
            SkinnedCharacter(assets.load(file)),
            AnimationController::playing(walker.gaits[0]),
            RootMotion::default(),
            FootPlacement::default(),
            LookAt::entity(lamp),
            Transform::from_translation(place),
            walker,
        ));
    }
}

/// The height of the course at a share of the way around: stairs, a landing, a slope and a level stretch.
fn height(turn: f32) -> f32 {
    const STEPS: f32 = 9.0;
    const RISE: f32 = 0.16;
    match turn.rem_euclid(1.0) {
        t if t < 0.40 => 0.0,
        t if t < 0.58 => ((t - 0.40) / 0.18 * STEPS).ceil().min(STEPS) * RISE,
        t if t < 0.66 => STEPS * RISE,
        t if t < 0.94 => STEPS * RISE * (0.94 - t) / 0.28,
        _ => 0.0,
    }
}

/// A place on the course, at an angle and a radius.
fn at(angle: f32, radius: f32) -> Vec3 {
    Vec3::new(
        radius * angle.cos(),
        height(angle / TAU),
        -radius * angle.sin(),
    )
}

/// The course as a mesh: a ring of treads with a riser wherever the height jumps, and skirts on both sides.
fn course() -> Mesh {
    const PARTS: usize = 720;
    const RADII: [f32; 2] = [3.7, 6.6];
    let (mut positions, mut colors) = (Vec::<Vec3>::new(), Vec::<[f32; 4]>::new());
    let mut quad = |corners: [Vec3; 4], shade: f32| {
        positions.extend([0, 1, 2, 0, 2, 3].map(|corner| corners[corner]));
        colors.extend([[shade, shade, shade, 1.0]; 6]);
    };
    let around = |i: usize| i as f32 / PARTS as f32;
    let point = |turn: f32, radius: f32, y: f32| {
        let (sin, cos) = (turn * TAU).sin_cos();
        Vec3::new(radius * cos, y, -radius * sin)
    };
    let (mut before, mut is_odd) = (height(around(0) - 1e-4), false);
    for i in 0..PARTS {
        let (from, to) = (around(i), around(i + 1));
        let (y0, y1) = (height(from + 1e-4), height(to - 1e-4));
        let [inner, outer] = RADII;
        if (y0 - before).abs() > 1e-3 {
            is_odd = !is_odd;
            let [below, above] =
                [before, y0].map(|y| [inner, outer].map(|radius| point(from, radius, y)));
            quad([below[0], below[1], above[1], above[0]], 0.3);
        }
        before = y1;
        if y0.max(y1) <= 0.0 {
            continue;
        }
        // Treads alternate in color, so that they can be told apart from above.
        let tread = if is_odd { 0.55 } else { 1.0 };
        quad(
            [
                point(from, inner, y0),
                point(from, outer, y0),
                point(to, outer, y1),
                point(to, inner, y1),
            ],
            tread,
        );
        quad(
            [
                point(from, outer, y0),
                point(from, outer, 0.0),
                point(to, outer, 0.0),
                point(to, outer, y1),
            ],
            0.7,
        );
        quad(
            [
                point(to, inner, y1),
                point(to, inner, 0.0),
                point(from, inner, 0.0),
                point(from, inner, y0),
            ],
            0.7,
        );
    }
    let indices = Indices::U32((0..positions.len() as u32).collect());
    Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
    .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, colors)
    .with_inserted_indices(indices)
    .with_duplicated_vertices()
    .with_computed_flat_normals()
}

/// Turns each walker along its circle, and keeps it at the height of the ground. Its clip does the walking.
fn steer(time: Res<Time>, mut walkers: Query<(&Walker, &mut Transform)>) {
    for (walker, mut transform) in &mut walkers {
        let Vec3 { x, z, .. } = transform.translation;
        let (angle, radius) = ((-z).atan2(x), x.hypot(z));
        // Ahead is −Z, counterclockwise; off the path, it is a little inward or outward.
        let off = ((radius - walker.radius) * 0.8).clamp(-0.5, 0.5);
        let wanted = Quat::from_rotation_y(angle + off);
        transform
            .rotation
            .smooth_nudge(&wanted, 6.0, time.delta_secs());
        transform.translation.y = height(angle / TAU);
    }
}

/// Flies the lantern ahead of Scout, from side to side.
fn fly(
    time: Res<Time>,
    walkers: Query<(&Walker, &Transform), Without<Lamp>>,
    mut lamp: Single<&mut Transform, With<Lamp>>,
) {
    let Some((_, scout)) = walkers.iter().find(|(walker, _)| walker.name == "Scout") else {
        return;
    };
    let Vec3 { x, z, .. } = scout.translation;
    let angle = (-z).atan2(x) + 0.45;
    let t = time.elapsed_secs();
    let place = at(angle, 5.1 + 1.2 * (0.9 * t).sin()) + Vec3::Y * (1.9 + 0.25 * (1.7 * t).sin());
    lamp.translation
        .smooth_nudge(&place, 3.0, time.delta_secs());
}

fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    mut walkers: Query<(
        Entity,
        &Walker,
        &mut AnimationController,
        &mut LookAt,
        Has<FootPlacement>,
    )>,
    lamp: Single<Entity, With<Lamp>>,
    mut followed: ResMut<Followed>,
    mut wind: ResMut<Wind>,
    mut commands: Commands,
) {
    for (entity, walker, mut controller, mut look, has_feet) in &mut walkers {
        if keys.just_pressed(KeyCode::KeyF) {
            if has_feet {
                commands.entity(entity).remove::<FootPlacement>();
            } else {
                commands.entity(entity).insert(FootPlacement::default());
            }
        }
        if keys.just_pressed(KeyCode::KeyL) {
            look.target = match look.target {
                LookTarget::Nothing => LookTarget::Entity(*lamp),
                _ => LookTarget::Nothing,
            };
        }
        if keys.just_pressed(KeyCode::KeyJ) {
            let [walk, hurry] = walker.gaits;
            let next = if controller.current() == Some(walk) {
                hurry
            } else {
                walk
            };
            controller.cross_fade(next, Duration::from_millis(300));
        }
    }
    if keys.just_pressed(KeyCode::KeyN) {
        followed.0 += 1;
    }
    if keys.just_pressed(KeyCode::KeyW) {
        wind.velocity = if wind.velocity == Vec3::ZERO {
            BREEZE
        } else {
            Vec3::ZERO
        };
    }
}

/// Keeps the camera on a walker, outside of the course.
fn follow(
    walkers: Query<(&Walker, &Transform)>,
    followed: Res<Followed>,
    mut last: Local<Option<f32>>,
    mut cameras: Query<&mut Orbit>,
) {
    let name = ["Scout", "Hound"][followed.0 % 2];
    let Some((_, walker)) = walkers.iter().find(|(walker, _)| walker.name == name) else {
        return;
    };
    let angle = (-walker.translation.z).atan2(walker.translation.x);
    // From the side and a little from the front at first; then it stays where you drag it.
    for mut camera in &mut cameras {
        camera.target = walker.translation + Vec3::Y * 0.8;
        camera.yaw = last.map_or(angle - FRAC_PI_2 + 0.5, |last| camera.yaw + angle - last);
        *last = Some(angle);
    }
}

fn caption(
    walkers: Query<(&Walker, &Transform, &AnimationController)>,
    mut caption: ResMut<Caption>,
) {
    let lines = walkers.iter().map(|(walker, transform, controller)| {
        let clip = controller.current().unwrap_or("nothing");
        format!(
            "{}  {clip}  {:.2} m up",
            walker.name, transform.translation.y
        )
    });
    let mut lines: Vec<_> = lines.collect();
    // Queries find characters in the order in which they were loaded, which varies.
    lines.sort();
    caption.set(lines.join("\n"));
}
