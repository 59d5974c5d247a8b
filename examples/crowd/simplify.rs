//! Meshes with fewer triangles, for characters that are drawn small.

use bevy::{
    mesh::{Indices, VertexAttributeValues},
    platform::collections::{HashMap, HashSet},
    prelude::*,
};

/// Merges the vertices in each cell of a grid, and drops the triangles that lose a corner by it, and all morph targets. Cells
/// are given in meters.
pub fn simplified(mesh: &Mesh, cell: f32) -> Option<Mesh> {
    let Some(VertexAttributeValues::Float32x3(positions)) =
        mesh.attribute(Mesh::ATTRIBUTE_POSITION)
    else {
        return None;
    };
    let mut first = HashMap::<[i32; 3], u32>::default();
    let merged: Vec<u32> = (0..)
        .zip(positions)
        .map(|(vertex, at)| {
            let place = at.map(|x| (x / cell).round() as i32);
            *first.entry(place).or_insert(vertex)
        })
        .collect();
    let corners: Vec<u32> = mesh.indices()?.iter().map(|i| merged[i]).collect();
    let mut seen = HashSet::<[u32; 3]>::default();
    let (triangles, _) = corners.as_chunks::<3>();
    let kept = triangles.iter().filter(|&&[a, b, c]| {
        let mut corners = [a, b, c];
        corners.sort_unstable();
        a != b && b != c && c != a && seen.insert(corners)
    });
    let kept = kept.flatten().copied().collect();
    let mut simple = Mesh::new(mesh.primitive_topology(), mesh.asset_usage)
        .with_inserted_indices(Indices::U32(kept));
    for (attribute, values) in mesh.attributes() {
        simple.insert_attribute(*attribute, values.clone());
    }
    Some(simple)
}
