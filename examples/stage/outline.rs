//! The space a character's skin occupies, for placing the floor and the camera.

use bevy::{math::Affine3A, mesh::VertexAttributeValues, prelude::*};
use bevy_marionette::{asset::Character, model::SkeletalClip};

/// Returns the positions of all vertices at twelve times of a clip, or at rest; of the joints if there is no skin.
pub fn outline(
    character: &Character,
    clip: Option<&SkeletalClip>,
    meshes: &Assets<Mesh>,
) -> Vec<Vec3> {
    const TIMES: u32 = 12;
    let skeleton = &character.skeleton;
    let poses: Vec<Vec<Affine3A>> = match clip {
        Some(clip) => (0..TIMES)
            .map(|step| clip.timing.duration * f64::from(step) / f64::from(TIMES))
            .map(|time| clip.pose_at(skeleton, time))
            .collect(),
        None => vec![skeleton.rest_model().to_vec()],
    };
    let mut points = Vec::new();
    for pose in poses {
        if character.parts.is_empty() {
            points.extend(pose.iter().map(|joint| Vec3::from(joint.translation)));
        }
        let skinning: Vec<Affine3A> = pose
            .iter()
            .zip(skeleton.inverse_bind())
            .map(|(joint, inverse_bind)| *joint * *inverse_bind)
            .collect();
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
                points.extend(positions.zip(slots.iter().zip(weights)).map(
                    |(position, (slots, weights))| -> Vec3 {
                        let moved = |(entry, weight): (usize, f32)| {
                            let joint = usize::from(part.palette[entry]);
                            weight * skinning[joint].transform_point3(position)
                        };
                        part.joint_weights(*slots, *weights).map(moved).sum()
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
