//! A lantern: brass, a flame and its light.

use bevy::{light::NotShadowCaster, prelude::*};
use std::f32::consts::FRAC_PI_2;

/// Creates a lantern that hangs below its origin, 0.32 m tall including its ring.
pub fn lantern(
    meshes: &mut Assets<Mesh>,
    materials: &mut Assets<StandardMaterial>,
) -> impl Bundle + use<> {
    let brass = MeshMaterial3d(materials.add(StandardMaterial {
        base_color: Color::srgb(0.80, 0.58, 0.25),
        metallic: 0.85,
        perceptual_roughness: 0.38,
        ..default()
    }));
    let flame = MeshMaterial3d(materials.add(StandardMaterial {
        base_color: Color::BLACK,
        emissive: LinearRgba::rgb(2.4, 0.85, 0.14),
        ..default()
    }));
    let ring = Transform::from_xyz(0.0, -0.05, 0.0).with_rotation(Quat::from_rotation_z(FRAC_PI_2));
    let light = PointLight {
        color: Color::srgb(1.0, 0.68, 0.32),
        intensity: 30_000.0,
        range: 8.0,
        shadow_maps_enabled: true,
        ..default()
    };
    let below = |y: f32| Transform::from_xyz(0.0, -y, 0.0);
    (
        Transform::default(),
        Visibility::default(),
        children![
            (
                Mesh3d(meshes.add(Torus::new(0.050, 0.058))),
                brass.clone(),
                ring
            ),
            (
                Mesh3d(meshes.add(Cone::new(0.075, 0.07))),
                brass.clone(),
                below(0.135)
            ),
            (
                Mesh3d(meshes.add(Cylinder::new(0.070, 0.02))),
                brass,
                below(0.31)
            ),
            (
                Mesh3d(meshes.add(Capsule3d::new(0.045, 0.06))),
                flame,
                NotShadowCaster,
                below(0.235)
            ),
            // The light is inside the flame, which therefore casts no shadow.
            (light, below(0.235)),
        ],
    )
}
