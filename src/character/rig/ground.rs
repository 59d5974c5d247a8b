//! Meshes that feet stand on.

use super::{feet::GroundProbe, places::Places};
use crate::rig::{GroundHit, GroundMesh, GroundRay};
use bevy::{
    mesh::{Indices, PrimitiveTopology, VertexAttributeValues},
    platform::collections::HashMap,
    prelude::*,
};

/// Marks an entity with a `Mesh3d` as ground for the feet of characters with a
/// [`FootPlacement`](super::FootPlacement).
///
/// A mesh is sorted once, when it is first needed or after it changed; a ray then takes about a microsecond. Meshes that
/// are only on the GPU, or not made of a list of triangles, are no ground.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_marionette::character::Ground;
/// # fn build(mut commands: Commands, hill: Handle<Mesh>, grass: Handle<StandardMaterial>) {
/// commands.spawn((Mesh3d(hill), MeshMaterial3d(grass), Ground));
/// # }
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Default, PartialEq)]
#[require(Transform)]
pub struct Ground;

/// Answers the rays of all probes with the meshes marked as [`Ground`].
pub(in crate::character) fn probe_meshes(
    meshes: Res<Assets<Mesh>>,
    grounds: Query<(Entity, &Mesh3d), With<Ground>>,
    places: Places,
    mut changes: MessageReader<AssetEvent<Mesh>>,
    mut sorted: Local<HashMap<AssetId<Mesh>, GroundMesh>>,
    mut probes: Query<&mut GroundProbe>,
) {
    for change in changes.read() {
        if let AssetEvent::Modified { id }
        | AssetEvent::Removed { id }
        | AssetEvent::Unused { id } = change
        {
            // Sorted again only when a ray needs it.
            sorted.remove(id);
        }
    }
    if grounds.is_empty() || probes.iter().all(|probe| probe.rays().next().is_none()) {
        return;
    }
    // Before the loop over probes, which runs in parallel.
    for (_, Mesh3d(handle)) in &grounds {
        if !sorted.contains_key(&handle.id())
            && let Some(mesh) = meshes.get(handle)
        {
            sorted.insert(handle.id(), GroundMesh::new(triangles(mesh)));
        }
    }
    let placed = grounds.iter().filter_map(|(entity, Mesh3d(handle))| {
        Some((
            places.world_of(entity, |_| None)?,
            sorted.get(&handle.id())?,
        ))
    });
    for (world, mesh) in placed {
        let hit = |ray: &GroundRay| -> Option<GroundHit> { mesh.cast(&world, ray) };
        probes
            // Answers don't depend on the order of meshes: the nearest hit counts.
            .par_iter_mut()
            .for_each(|mut probe| probe.bypass_change_detection().answer(hit));
    }
}

/// The triangles of a mesh; none if it has no list of them.
fn triangles(mesh: &Mesh) -> Vec<[Vec3; 3]> {
    let Ok(VertexAttributeValues::Float32x3(positions)) =
        mesh.try_attribute(Mesh::ATTRIBUTE_POSITION)
    else {
        return Vec::new();
    };
    // Strips and lines can't be stood on.
    if mesh.primitive_topology() != PrimitiveTopology::TriangleList {
        return Vec::new();
    }
    let corner = |index: usize| positions.get(index).copied().map(Vec3::from);
    let triangle = |[a, b, c]: [usize; 3]| Some([corner(a)?, corner(b)?, corner(c)?]);
    let indices: Vec<usize> = match mesh.try_indices() {
        Ok(Indices::U16(list)) => list.iter().map(|&index| usize::from(index)).collect(),
        Ok(Indices::U32(list)) => list.iter().map(|&index| index as usize).collect(),
        Err(_) => (0..positions.len()).collect(),
    };
    indices
        .as_chunks::<3>()
        .0
        .iter()
        .filter_map(|&corners| triangle(corners))
        .collect()
}
