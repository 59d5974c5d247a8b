//! Where the floor goes: under the lowest vertex.

use bevy::{mesh::VertexAttributeValues, prelude::*};
use bevy_marionette::{
    model::SkeletalClip,
    pose::{ClipLayer, Evaluate, Scratch},
    prelude::*,
};

/// Height of the lowest vertex of a character over a clip, or at rest.
pub fn lowest_point(character: &Character, clip: Option<&SkeletalClip>, meshes: &Assets<Mesh>) -> f32 {
    const TIMES: u32 = 12;
    let mut scratch = Scratch::default();
    let mut lowest = f32::INFINITY;
    for step in 0..if clip.is_some() { TIMES } else { 1 } {
        let layer = clip.map(|clip| ClipLayer::new(clip, clip.timing.duration * f64::from(step) / f64::from(TIMES)));
        Evaluate::new(&character.skeleton, layer.as_slice()).run(&mut scratch);
        for part in &character.parts {
            let Some(mesh) = meshes.get(&part.mesh) else { continue };
            let skin = |slot: u16| {
                let joint = part.palette.get(usize::from(slot)).map_or(0, |&joint| usize::from(joint));
                scratch.model()[joint] * character.skeleton.inverse_bind()[joint]
            };
            let positions = mesh.attribute(Mesh::ATTRIBUTE_POSITION).and_then(VertexAttributeValues::as_float3);
            let slots = mesh.attribute(Mesh::ATTRIBUTE_JOINT_INDEX);
            let weights = mesh.attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT);
            let skinned = if let (
                Some(VertexAttributeValues::Uint16x4(slots)),
                Some(VertexAttributeValues::Float32x4(weights)),
            ) = (slots, weights)
            {
                Some((slots, weights))
            } else {
                None
            };
            for (i, &position) in positions.into_iter().flatten().enumerate() {
                let position = Vec3::from(position);
                let y = match skinned {
                    Some((slots, weights)) => {
                        (0..4).map(|k| weights[i][k] * skin(slots[i][k]).transform_point3(position).y).sum()
                    }
                    None => position.y,
                };
                lowest = lowest.min(y);
            }
        }
    }
    if lowest.is_finite() { lowest } else { 0.0 }
}
