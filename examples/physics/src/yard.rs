//! The course: stairs to a platform, a ramp down, and crates.

use avian3d::prelude::*;
use bevy::prelude::*;

pub const START: Vec3 = Vec3::new(0.0, 0.0, 1.8);
/// Where the wall of crates stands, and how it is built.
pub const WALL: Vec3 = Vec3::new(0.0, 0.0, -10.4);
const ROWS: [usize; 4] = [5, 4, 3, 2];
/// Meters, and kilograms per cubic meter: light boxes of cardboard.
const SIDE: f32 = 0.42;
const DENSITY: f32 = 40.0;

/// A box that physics moves, and where it was built.
#[derive(Component)]
pub struct Crate(pub Vec3);

/// A box that stays where it is.
#[derive(Component)]
pub struct Block(Vec3);

/// Builds the world as avian sees it.
pub fn build(mut commands: Commands) {
    let mut block = |size: Vec3, place: Transform| {
        commands.spawn((
            Block(size),
            RigidBody::Static,
            Collider::cuboid(size.x, size.y, size.z),
            place,
        ));
    };
    block(
        Vec3::new(40.0, 1.0, 40.0),
        Transform::from_xyz(0.0, -0.5, 0.0),
    );
    for step in 0..6 {
        let (top, front) = (0.17 * (step + 1) as f32, -0.36 * step as f32);
        block(
            Vec3::new(2.8, top, 0.36),
            Transform::from_xyz(0.0, top / 2.0, front - 0.18),
        );
    }
    block(
        Vec3::new(2.8, 1.02, 2.4),
        Transform::from_xyz(0.0, 0.51, -3.36),
    );
    // From the platform's far edge down to the ground.
    let (high, low) = (Vec3::new(0.0, 1.02, -4.56), Vec3::new(0.0, 0.0, -7.4));
    let thick = 0.12;
    let tilt = Transform::from_translation(high.midpoint(low)).looking_to(low - high, Vec3::Y);
    block(
        Vec3::new(2.8, thick, high.distance(low)),
        tilt.with_translation(tilt.translation - tilt.up() * (thick / 2.0)),
    );
    let mut put = |at: Vec3| {
        commands.spawn((
            Crate(at),
            RigidBody::Dynamic,
            Collider::cuboid(SIDE, SIDE, SIDE),
            ColliderDensity(DENSITY),
            Friction::new(0.5),
            Transform::from_translation(at),
        ));
    };
    for (row, &count) in ROWS.iter().enumerate() {
        for column in 0..count {
            let x = (column as f32 - (count - 1) as f32 / 2.0) * (SIDE + 0.02);
            put(WALL + Vec3::new(x, (row as f32 + 0.5) * SIDE, 0.0));
        }
    }
    // A few on the platform, in her way.
    for (x, z) in [(-0.1, -3.3), (0.42, -3.9)] {
        put(Vec3::new(x, 1.02 + SIDE / 2.0, z));
    }
}

/// Gives everything a look.
pub fn paint(
    mut commands: Commands,
    blocks: Query<(Entity, &Block)>,
    crates: Query<Entity, With<Crate>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mut paint = |color: Color| {
        materials.add(StandardMaterial {
            base_color: color,
            perceptual_roughness: 0.9,
            ..default()
        })
    };
    let stone = [0.50, 0.62].map(|shade| paint(Color::srgb(shade, shade * 0.98, shade * 0.93)));
    // The stage draws the ground, the first of them.
    for (at, (entity, block)) in blocks.iter().enumerate().skip(1) {
        commands.entity(entity).insert((
            Mesh3d(meshes.add(Cuboid::from_size(block.0))),
            MeshMaterial3d(stone[at % 2].clone()),
        ));
    }
    let cardboard =
        [0.0, 0.06, 0.12].map(|shade| paint(Color::srgb(0.66 - shade, 0.48 - shade, 0.30 - shade)));
    let cube = meshes.add(Cuboid::from_length(SIDE));
    for (at, entity) in crates.iter().enumerate() {
        commands.entity(entity).insert((
            Mesh3d(cube.clone()),
            MeshMaterial3d(cardboard[at * 7 % 5 % 3].clone()),
        ));
    }
}
