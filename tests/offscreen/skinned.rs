//! Skinning on the CPU, in plain arithmetic.

use bevy::{mesh::VertexAttributeValues, prelude::*};

/// Returns the mesh in world space.
pub fn skinned(mesh: &Mesh, palette: &[Mat4]) -> Mesh {
    let Some(VertexAttributeValues::Uint16x4(slots)) = mesh.attribute(Mesh::ATTRIBUTE_JOINT_INDEX)
    else {
        panic!("joint indices")
    };
    let Some(VertexAttributeValues::Float32x4(weights)) =
        mesh.attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT)
    else {
        panic!("joint weights")
    };
    let sum = |slots: &[u16; 4], weights: &[f32; 4]| {
        (0..4).fold(Mat4::ZERO, |sum, k| {
            sum + palette[usize::from(slots[k])] * weights[k]
        })
    };
    let matrices: Vec<Mat4> = slots
        .iter()
        .zip(weights)
        .map(|(slots, weights)| sum(slots, weights))
        .collect();
    let mut out = mesh.clone();
    out.remove_attribute(Mesh::ATTRIBUTE_JOINT_INDEX);
    out.remove_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT);
    if let Some(VertexAttributeValues::Float32x3(positions)) =
        out.attribute_mut(Mesh::ATTRIBUTE_POSITION)
    {
        for (position, matrix) in positions.iter_mut().zip(&matrices) {
            *position = matrix.transform_point3(Vec3::from(*position)).into();
        }
    }
    if let Some(VertexAttributeValues::Float32x3(normals)) =
        out.attribute_mut(Mesh::ATTRIBUTE_NORMAL)
    {
        for (normal, matrix) in normals.iter_mut().zip(&matrices) {
            let across = bevy::math::Mat3::from_mat4(*matrix).inverse().transpose();
            *normal = (across * Vec3::from(*normal)).normalize().into();
        }
    }
    if let Some(VertexAttributeValues::Float32x4(tangents)) =
        out.attribute_mut(Mesh::ATTRIBUTE_TANGENT)
    {
        for (tangent, matrix) in tangents.iter_mut().zip(&matrices) {
            let [x, y, z, sign] = *tangent;
            let along = matrix.transform_vector3(Vec3::new(x, y, z)).normalize();
            *tangent = along.extend(sign).into();
        }
    }
    out
}
