//! The space a character's skin occupies, for placing the floor and the camera.

use bevy::{math::Affine3A, mesh::VertexAttributeValues, prelude::*};
use bevy_marionette::{
    asset::Character,
    model::SkeletalClip,
    pose::{ClipLayer, Evaluate, Palette, Scratch},
    prelude::*,
};

/// Returns the positions of all vertices at twelve times of a clip, or at rest; of the joints if there is no skin.
pub fn outline(
    character: &Character,
    clip: Option<&SkeletalClip>,
    meshes: &Assets<Mesh>,
) -> Vec<Vec3> {
    const TIMES: u32 = 12;
    let mut scratch = Scratch::default();
    let mut points = Vec::new();
    for step in 0..if clip.is_some() { TIMES } else { 1 } {
        let layer = clip.map(|clip| {
            ClipLayer::new(
                clip,
                clip.timing.duration * f64::from(step) / f64::from(TIMES),
            )
        });
        Evaluate::new(&character.skeleton, layer.as_slice()).run(&mut scratch);
        if character.parts.is_empty() {
            points.extend(
                scratch
                    .model()
                    .iter()
                    .map(|joint| Vec3::from(joint.translation)),
            );
        }
        for part in &character.parts {
            let Some(mesh) = meshes.get(&part.mesh) else {
                continue;
            };
            let positions = mesh
                .attribute(Mesh::ATTRIBUTE_POSITION)
                .and_then(VertexAttributeValues::as_float3);
            let positions = positions.into_iter().flatten().copied().map(Vec3::from);
            if let (
                Some(VertexAttributeValues::Uint16x4(slots)),
                Some(VertexAttributeValues::Float32x4(weights)),
            ) = (
                mesh.attribute(Mesh::ATTRIBUTE_JOINT_INDEX),
                mesh.attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT),
            ) {
                let mut palette = vec![Mat4::IDENTITY; part.palette_len()];
                let (model, inverse_bind) = (scratch.model(), character.skeleton.inverse_bind());
                let (remap, combined) = (&part.palette, &part.combined_joints);
                Palette {
                    world: Affine3A::IDENTITY,
                    model,
                    inverse_bind,
                    remap,
                    combined,
                }
                .run(&mut palette);
                points.extend(positions.zip(slots.iter().zip(weights)).map(
                    |(position, (slots, weights))| {
                        let moved = |k: usize| {
                            weights[k] * palette[usize::from(slots[k])].transform_point3(position)
                        };
                        (0..4).map(moved).sum::<Vec3>()
                    },
                ));
            } else {
                points.extend(positions);
            }
        }
    }
    points
}

/// Returns the bounding box of points, or of the origin if there are none.
pub fn around(points: &[Vec3]) -> (Vec3, Vec3) {
    let by = |pick: fn(Vec3, Vec3) -> Vec3| points.iter().copied().reduce(pick).unwrap_or_default();
    (by(Vec3::min), by(Vec3::max))
}
