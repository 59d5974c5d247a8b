//! Normals of shapes that morph targets make: of those without any, and of flat shading.

use super::{
    normals::{corner_normals, unit},
    weld::Places,
};
#[cfg(feature = "gltf")]
use crate::model::SkinPart;
use crate::model::{MorphDelta, MorphTarget};
use glam::{DVec3, Vec3};
use std::collections::{BTreeMap, HashMap};

/// Gives each triangle vertices of its own, with the triangle's normal; +Y for degenerate ones. Tangents are dropped. Morph
/// targets turn the normals to those of the triangles that they move.
#[cfg(feature = "gltf")]
pub(super) fn shade_flat(part: &mut SkinPart) {
    fn spread<T: Copy>(list: &mut Vec<T>, corners: &[u32]) {
        if !list.is_empty() {
            *list = corners
                .iter()
                .map(|&vertex| list[vertex as usize])
                .collect();
        }
    }
    let corners = part.triangles.as_flattened();
    let fans = if part.morphs.is_empty() {
        None
    } else {
        Some(Fans::new(part.positions.len(), &part.triangles))
    };
    let mut morphs = std::mem::take(&mut part.morphs);
    for target in &mut morphs {
        let moved = fans.as_ref().map_or(Vec::new(), |fans| fans.moved(target));
        let corner = |at: u32| {
            let position = target.delta(corners[at as usize] as usize).position;
            let delta = MorphDelta {
                position,
                ..MorphDelta::default()
            };
            (at, delta)
        };
        let moved = moved.iter().flat_map(|at| [3 * at, 3 * at + 1, 3 * at + 2]);
        *target = MorphTarget::of_vertices(target.morph, moved.map(corner).collect::<Vec<_>>());
    }
    spread(&mut part.positions, corners);
    spread(&mut part.tex_coords, corners);
    spread(&mut part.second_tex_coords, corners);
    spread(&mut part.colors, corners);
    spread(&mut part.influences, corners);
    spread(&mut part.source_vertices, corners);
    part.tangents.clear();
    part.triangles = (0..part.triangles.len() as u32)
        .map(|at| [3 * at, 3 * at + 1, 3 * at + 2])
        .collect();
    let normal = |[a, b, c]: &[Vec3; 3]| {
        let normal = unit((*b - *a).as_dvec3().cross((*c - *a).as_dvec3()), 0.0);
        [normal.map_or(Vec3::Y, |normal| normal.as_vec3()); 3]
    };
    part.normals = part
        .positions
        .as_chunks()
        .0
        .iter()
        .flat_map(normal)
        .collect();
    for target in &mut morphs {
        let mut deltas: Vec<(u32, MorphDelta)> =
            target.iter().map(|(v, d)| (v as u32, d)).collect();
        // A triangle is there with all its corners, or not at all.
        for triangle in deltas.as_chunks_mut::<3>().0 {
            let before = part.normals[triangle[0].0 as usize];
            let moved =
                triangle.map(|(vertex, delta)| part.positions[vertex as usize] + delta.position);
            let after = normal(&moved)[0];
            triangle
                .iter_mut()
                .for_each(|(_, delta)| delta.normal = after - before);
        }
        *target = MorphTarget::of_vertices(target.morph, deltas);
    }
    part.morphs = morphs;
}

/// Returns the number of triangles that [`shade_flat`] looks at for morph targets.
#[cfg(feature = "gltf")]
pub(super) fn flat_work(part: &SkinPart) -> u64 {
    if part.morphs.is_empty() {
        return 0;
    }
    let fans = Fans::new(part.positions.len(), &part.triangles);
    part.morphs.iter().map(|target| fans.work(target)).sum()
}

/// The triangles around each vertex.
struct Fans {
    /// By vertex, the place in `triangles` at which its own begin.
    starts: Vec<u32>,
    triangles: Vec<u32>,
}

impl Fans {
    fn new(vertices: usize, triangles: &[[u32; 3]]) -> Self {
        let mut starts = vec![0; vertices + 1];
        for &vertex in triangles.as_flattened() {
            starts[vertex as usize + 1] += 1;
        }
        for vertex in 0..vertices {
            starts[vertex + 1] += starts[vertex];
        }
        let (mut ends, mut list) = (starts.clone(), vec![0; triangles.len() * 3]);
        for (at, triangle) in (0..).zip(triangles) {
            for &vertex in triangle {
                let end = &mut ends[vertex as usize];
                list[*end as usize] = at;
                *end += 1;
            }
        }
        Self {
            starts,
            triangles: list,
        }
    }

    fn around(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        &self.triangles[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }

    /// The triangles that a target moves, in order.
    fn moved(&self, target: &MorphTarget) -> Vec<u32> {
        let around = |&vertex: &u32| self.around(vertex).iter().copied();
        let mut moved: Vec<u32> = target.vertices.iter().flat_map(around).collect();
        moved.sort_unstable();
        moved.dedup();
        moved
    }

    /// Returns the number of triangles to look at for a target.
    fn work(&self, target: &MorphTarget) -> u64 {
        let around = |&vertex: &u32| self.around(vertex).len() as u64;
        target.vertices.iter().map(around).sum()
    }
}

/// Smooth normals of a mesh, to find how morph targets change them.
pub(super) struct SmoothNormals {
    places: Places,
    /// The vertices at each place.
    members: HashMap<u32, Vec<u32>>,
    /// The sum of a place's triangles, weighted by angle.
    sums: Vec<DVec3>,
    fans: Fans,
}

impl SmoothNormals {
    pub(super) fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let places = Places::new(positions);
        let mut sums = vec![DVec3::ZERO; places.count];
        for triangle in triangles {
            let corners = triangle.map(|vertex| positions[vertex as usize].as_dvec3());
            for (vertex, normal) in triangle.iter().zip(corner_normals(corners)) {
                sums[places.of_vertex[*vertex as usize] as usize] += normal;
            }
        }
        let mut members: HashMap<u32, Vec<u32>> = HashMap::new();
        for (vertex, &place) in (0..).zip(&places.of_vertex) {
            members.entry(place).or_default().push(vertex);
        }
        let fans = Fans::new(positions.len(), triangles);
        Self {
            places,
            members,
            sums,
            fans,
        }
    }

    /// Returns the number of triangles that [`Self::complete`] looks at.
    pub(super) fn work(&self, target: &MorphTarget) -> u64 {
        self.fans.work(target)
    }

    /// Computes the changes of normals of a target that has none: from the smooth normals of the mesh to those of the mesh that
    /// it moves. Vertices next to those that move are added to it.
    pub(super) fn complete(
        &self,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        target: &mut MorphTarget,
    ) {
        let mut deltas: BTreeMap<u32, MorphDelta> = target
            .iter()
            .map(|(vertex, delta)| (vertex as u32, delta))
            .collect();
        let mut changes: BTreeMap<u32, DVec3> = BTreeMap::new();
        for triangle in self.fans.moved(target) {
            let triangle = triangles[triangle as usize];
            let at = |vertex: u32| positions[vertex as usize].as_dvec3();
            let moved = |vertex: u32| {
                let delta = deltas
                    .get(&vertex)
                    .map_or(Vec3::ZERO, |delta| delta.position);
                at(vertex) + delta.as_dvec3()
            };
            let before = corner_normals(triangle.map(at));
            let after = corner_normals(triangle.map(moved));
            for ((vertex, before), after) in triangle.iter().zip(before).zip(after) {
                let place = self.places.of_vertex[*vertex as usize];
                *changes.entry(place).or_default() += after - before;
            }
        }
        for (place, change) in changes {
            let before = self.sums[place as usize];
            let (Some(from), Some(to)) = (unit(before, 1e-6), unit(before + change, 1e-6)) else {
                continue;
            };
            for &vertex in &self.members[&place] {
                deltas.entry(vertex).or_default().normal = (to - from).as_vec3();
            }
        }
        *target = MorphTarget::of_vertices(target.morph, deltas);
    }
}
