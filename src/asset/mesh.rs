//! Conversion of skin parts to meshes.

use crate::model::{MorphIndex, SkinPart};
use bevy::{
    asset::RenderAssetUsages,
    mesh::{Indices, Mesh, PrimitiveTopology, VertexAttributeValues, morph::MorphAttributes},
};

/// Makes the mesh of a part: positions, normals, tangents, texture coordinates, colors if the part has
/// any, and, if it is skinned, joint indices and weights. Its morph targets are `morphs`, in this order.
pub fn mesh_of(part: &SkinPart, morphs: &[MorphIndex], usages: RenderAssetUsages) -> Mesh {
    let mut mesh = Mesh::new(PrimitiveTopology::TriangleList, usages);
    let vec3s = |list: &[glam::Vec3]| {
        VertexAttributeValues::Float32x3(list.iter().map(|v| v.to_array()).collect())
    };
    mesh.insert_attribute(Mesh::ATTRIBUTE_POSITION, vec3s(&part.positions));
    mesh.insert_attribute(Mesh::ATTRIBUTE_NORMAL, vec3s(&part.normals));
    if part.tangents.len() == part.positions.len() {
        let tangents = part.tangents.iter().map(|t| t.to_array()).collect();
        mesh.insert_attribute(
            Mesh::ATTRIBUTE_TANGENT,
            VertexAttributeValues::Float32x4(tangents),
        );
    }
    let vec2s = |list: &[glam::Vec2]| {
        VertexAttributeValues::Float32x2(list.iter().map(|v| v.to_array()).collect())
    };
    mesh.insert_attribute(Mesh::ATTRIBUTE_UV_0, vec2s(&part.tex_coords));
    if !part.second_tex_coords.is_empty() {
        mesh.insert_attribute(Mesh::ATTRIBUTE_UV_1, vec2s(&part.second_tex_coords));
    }
    if !part.colors.is_empty() {
        let colors = part.colors.iter().map(|c| c.to_array()).collect();
        mesh.insert_attribute(
            Mesh::ATTRIBUTE_COLOR,
            VertexAttributeValues::Float32x4(colors),
        );
    }
    // Without influences, Bevy draws the part like any other mesh.
    if !part.influences.is_empty() {
        let palette = part.influences.iter().map(|i| i.palette).collect();
        let weights = part.influences.iter().map(|i| i.weights).collect();
        mesh.insert_attribute(
            Mesh::ATTRIBUTE_JOINT_INDEX,
            VertexAttributeValues::Uint16x4(palette),
        );
        mesh.insert_attribute(
            Mesh::ATTRIBUTE_JOINT_WEIGHT,
            VertexAttributeValues::Float32x4(weights),
        );
    }
    let indices = part.triangles.as_flattened();
    // Half the size, for all but the largest parts.
    mesh.insert_indices(if part.positions.len() <= usize::from(u16::MAX) {
        Indices::U16(indices.iter().map(|&i| i as u16).collect())
    } else {
        Indices::U32(indices.to_vec())
    });
    if !morphs.is_empty() {
        mesh.set_morph_targets(targets_of(part, morphs));
    }
    mesh
}

/// The changes of every vertex, target by target.
fn targets_of(part: &SkinPart, morphs: &[MorphIndex]) -> Vec<MorphAttributes> {
    let vertices = part.positions.len();
    let mut out = vec![MorphAttributes::default(); morphs.len() * vertices];
    // A target that the part lacks leaves zeros.
    for (morph, out) in morphs.iter().zip(out.chunks_exact_mut(vertices.max(1))) {
        let target = part.morphs.iter().find(|target| target.morph == *morph);
        for (vertex, delta) in target.into_iter().flat_map(|target| target.iter()) {
            if let Some(out) = out.get_mut(vertex) {
                *out = MorphAttributes::new(delta.position, delta.normal, delta.tangent);
            }
        }
    }
    out
}
