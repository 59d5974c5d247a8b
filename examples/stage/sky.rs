//! A sky dome, and its ambient light.

use super::HORIZON;
use bevy::{
    light::{EnvironmentMapLight, NotShadowCaster, NotShadowReceiver},
    mesh::VertexAttributeValues,
    prelude::*,
};
use std::f32::consts::FRAC_PI_2;

const ZENITH: Color = Color::srgb(0.10, 0.155, 0.235);

/// The dome, which follows the camera.
#[derive(Component)]
pub struct Sky;

pub(super) fn dome(
    meshes: &mut Assets<Mesh>,
    materials: &mut Assets<StandardMaterial>,
) -> impl Bundle {
    // Rotate the poles from Z to Y, so that the rings are level.
    let mut mesh = Sphere::new(1.0)
        .mesh()
        .uv(24, 48)
        .rotated_by(Quat::from_rotation_x(-FRAC_PI_2));
    if let Some(VertexAttributeValues::Float32x3(positions)) =
        mesh.attribute(Mesh::ATTRIBUTE_POSITION)
    {
        let color = |&[_, y, _]: &[f32; 3]| {
            // Most of the gradient is near the horizon, where cameras look.
            let share = (y * 2.4).clamp(0.0, 1.0).powf(0.7);
            HORIZON
                .to_linear()
                .mix(&ZENITH.to_linear(), share)
                .to_f32_array()
        };
        let colors: Vec<_> = positions.iter().map(color).collect();
        mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, colors);
    }
    let material = StandardMaterial {
        unlit: true,
        fog_enabled: false,
        cull_mode: None,
        ..default()
    };
    (
        Sky,
        Mesh3d(meshes.add(mesh)),
        MeshMaterial3d(materials.add(material)),
        NotShadowCaster,
        NotShadowReceiver,
    )
}

/// Ambient light: cool from above, pale from the horizon, warm from the ground.
pub(super) fn light(images: &mut Assets<Image>) -> EnvironmentMapLight {
    EnvironmentMapLight::hemispherical_gradient(
        images,
        Color::srgb(0.80, 0.87, 1.0),
        Color::srgb(0.66, 0.67, 0.68),
        Color::srgb(0.42, 0.36, 0.32),
    )
}

/// Startup system that turns day into dusk.
pub fn nightfall(
    mut lights: Query<&mut DirectionalLight>,
    mut camera: Single<(&mut EnvironmentMapLight, &mut DistanceFog)>,
    dome: Single<&MeshMaterial3d<StandardMaterial>, With<Sky>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    const REMAINING: f32 = 0.16;
    let darken = |color: Color| Color::from(color.to_linear() * REMAINING).with_alpha(1.0);
    for mut light in &mut lights {
        light.illuminance *= REMAINING;
    }
    let (around, fog) = &mut *camera;
    around.intensity *= REMAINING;
    fog.color = darken(fog.color);
    if let Some(mut material) = materials.get_mut(dome.id()) {
        material.base_color = darken(material.base_color);
    }
}
