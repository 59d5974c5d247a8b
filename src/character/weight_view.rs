//! Skins colored by their weights.

use crate::{asset::CharacterPart, model::JointIndex};
use bevy::{mesh::VertexAttributeValues, prelude::*};

/// Shows the skinning weights of a character instead of its materials, as it moves.
///
/// An optional component of a character. Needs the meshes in the main world, where they are unless
/// [`CharacterLoaderSettings::meshes`](crate::asset::CharacterLoaderSettings::meshes) says otherwise.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::{asset::Character, character::WeightView};
/// # fn show(mut commands: Commands, hero: Entity, character: &Character) {
/// if let Some(hand) = character.joint("hand.R") {
///     commands.entity(hero).insert(WeightView::Joint(hand));
/// }
/// # }
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, PartialEq)]
pub enum WeightView {
    /// The weight of one joint, in the colors of Blender's weight paint mode: blue is 0, red is 1.
    Joint(JointIndex),
    /// The number of joints that move each vertex: gray for none, then blue, green, yellow, red, and magenta for five or
    /// more.
    InfluenceCount,
}

/// Returns the color of a weight in 0..=1: blue, cyan, green, yellow, red, as in Blender's weight paint mode.
pub fn weight_color(weight: f32) -> Color {
    let weight = if weight.is_finite() {
        weight.clamp(0.0, 1.0)
    } else {
        0.0
    };
    // Pure blue would be too dark to see the shape.
    const STOPS: [Vec3; 5] = [
        Vec3::new(0.16, 0.28, 0.85),
        Vec3::new(0.0, 0.775, 0.775),
        Vec3::new(0.0, 0.85, 0.0),
        Vec3::new(0.925, 0.925, 0.0),
        Vec3::new(1.0, 0.0, 0.0),
    ];
    let quarter = weight * 4.0;
    let from = (quarter as usize).min(3);
    let [red, green, blue] = STOPS[from]
        .lerp(STOPS[from + 1], quarter - from as f32)
        .to_array();
    Color::srgb(red, green, blue)
}

/// Returns the color of a number of influences: gray for none, then blue, green, yellow, red, and magenta for five or
/// more.
pub fn influence_count_color(count: usize) -> Color {
    match count {
        0 => Color::srgb(0.4, 0.4, 0.4),
        1 => Color::srgb(0.2, 0.35, 0.9),
        2 => Color::srgb(0.25, 0.75, 0.3),
        3 => Color::srgb(0.95, 0.85, 0.2),
        4 => Color::srgb(0.9, 0.2, 0.15),
        _ => Color::srgb(0.85, 0.2, 0.8),
    }
}

/// A linear color for each vertex.
pub(super) fn vertex_colors(part: &CharacterPart, view: WeightView, mesh: &Mesh) -> Vec<[f32; 4]> {
    let joints = match mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_INDEX) {
        Ok(VertexAttributeValues::Uint16x4(joints)) => &joints[..],
        _ => &[],
    };
    let weights = match mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT) {
        Ok(VertexAttributeValues::Float32x4(weights)) => &weights[..],
        _ => &[],
    };
    let normals = match mesh.try_attribute(Mesh::ATTRIBUTE_NORMAL) {
        Ok(VertexAttributeValues::Float32x3(normals)) => &normals[..],
        _ => &[],
    };
    let slot = match view {
        // A part without the joint shows weight 0 everywhere.
        WeightView::Joint(joint) => part.palette.iter().position(|&j| j == joint),
        WeightView::InfluenceCount => None,
    };
    (0..mesh.count_vertices())
        .map(|vertex| {
            let joints = joints.get(vertex).copied().unwrap_or_default();
            let weights = weights.get(vertex).copied().unwrap_or_default();
            let mut all = part.joint_weights(joints, weights);
            let color = match view {
                WeightView::Joint(_) => weight_color(
                    all.find(|(at, _)| Some(*at) == slot)
                        .map_or(0.0, |(_, w)| w),
                ),
                WeightView::InfluenceCount => influence_count_color(all.count()),
            };
            let shade = normals
                .get(vertex)
                .map_or(1.0, |normal| shade(Vec3::from(*normal)));
            // Vertex colors are linear, and the shading is meant for linear light.
            let color = color.to_linear();
            [
                color.red * shade,
                color.green * shade,
                color.blue * shade,
                1.0,
            ]
        })
        .collect()
}

/// Painted-on shading, by a light above and in front in the bind pose, so that the shape remains visible.
///
/// Characters look along −Z.
fn shade(normal: Vec3) -> f32 {
    const LIGHT: Vec3 = Vec3::new(0.48, 0.64, -0.6);
    0.64 + 0.36 * normal.dot(LIGHT).clamp(-1.0, 1.0)
}

#[cfg(test)]
#[path = "tests/weight_view.rs"]
mod tests;
