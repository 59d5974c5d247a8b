//! A lantern and a sword, attached to the character's hands.
//!
//! [`AttachedTo`] makes any entity with a transform follow a joint or a socket, without a frame of lag. The sockets are
//! defined in the manifest. D3DX programs do this by multiplying matrices by hand.
//!
//! ```text
//! cargo run --example attachments
//! ```

mod stage;

use bevy::prelude::*;
use bevy_marionette::{
    controller::{AnimationTrack, BlendMode},
    prelude::*,
};
use stage::{Caption, Orbit, StageArgs, View};
use std::time::Duration;

const HELP: &str = "X: sheathe, draw the sword   L: lantern on, off   N: next clip   drag, arrows: orbit   wheel: zoom";

const CLIPS: [&str; 4] = ["walk", "jog", "idle", "jump"];

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(0.3, "");
    stage::app("attachments", &args, HELP)
        .insert_resource(View(Orbit {
            target: Vec3::Y * 0.95,
            distance: 4.0,
            yaw: 0.8,
            pitch: 0.1,
        }))
        .add_systems(Startup, spawn)
        // In the dark, the lantern shows.
        .add_systems(PostStartup, stage::nightfall)
        .add_systems(Update, (draw_or_sheathe, light, next_clip, hang, caption))
        .run();
}

#[derive(Component)]
struct Sword {
    in_hand: bool,
}

impl Sword {
    /// In the hand, the blade points along the thumb; on the back, it hangs diagonally.
    fn socket(&self) -> AtSocket {
        if self.in_hand {
            AtSocket::new("right_hand")
        } else {
            let diagonal = Quat::from_rotation_z(2.5);
            AtSocket::new("back")
                .offset(Transform::from_xyz(0.22, 0.36, 0.06).with_rotation(diagonal))
        }
    }
}

/// Stays upright, whatever the hand does.
#[derive(Component)]
struct Hanging;

fn spawn(
    mut commands: Commands,
    assets: Res<AssetServer>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mut controller = AnimationController::playing("walk");
    // Each arm holds a still from another clip, over whatever is playing.
    for (mask, clip, time) in [("arm.R", "point", 1.1), ("arm.L", "jog", 0.45)] {
        let hold = AnimationTrack::new(clip).starting_at(time).speed(0.0);
        controller.add_track(hold.blend(BlendMode::Override).mask(mask));
    }
    let scout = commands
        .spawn((
            SkinnedCharacter(assets.load("scout/scout.character.ron")),
            controller,
        ))
        .id();

    let metal = |color, roughness| StandardMaterial {
        base_color: color,
        metallic: 0.85,
        perceptual_roughness: roughness,
        ..default()
    };
    let steel = materials.add(metal(Color::srgb(0.80, 0.83, 0.88), 0.28));
    let brass = materials.add(metal(Color::srgb(0.80, 0.58, 0.25), 0.38));
    let leather = materials.add(StandardMaterial {
        base_color: Color::srgb(0.20, 0.11, 0.07),
        ..default()
    });
    // The grip is at the origin; the blade points up.
    let sword = Sword { in_hand: true };
    commands.spawn((
        AttachedTo(scout),
        sword.socket(),
        sword,
        children![
            (
                Mesh3d(meshes.add(Cylinder::new(0.016, 0.17))),
                MeshMaterial3d(leather)
            ),
            (
                Mesh3d(meshes.add(Sphere::new(0.026))),
                MeshMaterial3d(brass.clone()),
                Transform::from_xyz(0.0, -0.095, 0.0)
            ),
            (
                Mesh3d(meshes.add(Cuboid::new(0.17, 0.024, 0.036))),
                MeshMaterial3d(brass.clone()),
                Transform::from_xyz(0.0, 0.09, 0.0),
            ),
            (
                Mesh3d(meshes.add(Extrusion::new(blade(), 0.010))),
                MeshMaterial3d(steel),
                Transform::from_xyz(0.0, 0.10, 0.0),
            ),
        ],
    ));

    // The socket holds the ring, from which the lantern hangs.
    commands.spawn((
        AttachedTo(scout),
        AtSocket::new("left_hand"),
        children![(Hanging, stage::lantern(&mut meshes, &mut materials))],
    ));
}

/// The outline of a tapering blade, 0.72 m long.
fn blade() -> ConvexPolygon {
    let half = [(0.024, 0.0), (0.017, 0.60), (0.0, 0.72)];
    let right = half.iter().map(|&(x, y)| Vec2::new(x, y));
    let left = half[..2].iter().rev().map(|&(x, y)| Vec2::new(-x, y));
    ConvexPolygon::new(right.chain(left)).expect("the outline is convex")
}

/// Cancels the rotation of the hand.
fn hang(
    mut lanterns: Query<(&mut Transform, &ChildOf), With<Hanging>>,
    sockets: Query<&GlobalTransform>,
) {
    for (mut transform, socket) in &mut lanterns {
        if let Ok(socket) = sockets.get(socket.parent()) {
            transform.rotation = socket.rotation().inverse();
        }
    }
}

fn draw_or_sheathe(
    keys: Res<ButtonInput<KeyCode>>,
    mut sword: Single<(&mut Sword, &mut AtSocket)>,
) {
    if keys.just_pressed(KeyCode::KeyX) {
        let (sword, socket) = &mut *sword;
        sword.in_hand = !sword.in_hand;
        **socket = sword.socket();
    }
}

fn light(keys: Res<ButtonInput<KeyCode>>, mut lamp: Single<&mut Visibility, With<PointLight>>) {
    if keys.just_pressed(KeyCode::KeyL) {
        lamp.toggle_inherited_hidden();
    }
}

fn next_clip(keys: Res<ButtonInput<KeyCode>>, mut controller: Single<&mut AnimationController>) {
    if keys.just_pressed(KeyCode::KeyN) {
        let now = CLIPS
            .iter()
            .position(|&clip| controller.current() == Some(clip))
            .unwrap_or(0);
        controller.cross_fade(CLIPS[(now + 1) % CLIPS.len()], Duration::from_millis(250));
    }
}

fn caption(sockets: Query<&AtSocket>, mut caption: ResMut<Caption>) {
    let mut names: Vec<_> = sockets.iter().map(|socket| &*socket.socket).collect();
    names.sort_unstable();
    caption.set(format!("sockets in use: {}", names.join(", ")));
}
