//! Polygons → triangles and vertices.

use super::scene::point;
use crate::{
    import::{
        axes::Basis,
        scene::{Repairs, sound_color, sound_tex_coord},
    },
    model::SkinPart,
};
use glam::{Vec2, Vec3, Vec4};
use std::collections::HashMap;
use ufbx::{Mesh, MeshPart, VertexVec2};

/// Corners of a polygon that is cut where its shape says. What has more is no polygon that an artist made.
const MOST_CORNERS: u32 = 4096;

/// A vertex's place, normal, texture coordinates and color, to the bit.
type Key = [u32; 10];

/// Reads the part of a mesh that one material covers, in the mesh's own space but in Bevy's axes. Its first vertex is one of the
/// whole file's. `uv_set` names the set of texture coordinates that its material uses, if not the first.
pub(super) fn read(
    mesh: &Mesh,
    part: &MeshPart,
    first_vertex: u32,
    uv_set: Option<&str>,
    basis: &Basis,
    repairs: &mut Repairs,
) -> SkinPart {
    let uv = uv_set.and_then(|name| mesh.uv_sets.iter().find(|set| &*set.name == name));
    let mut reader = CornerReader {
        mesh,
        uv: uv.map_or(&mesh.vertex_uv, |set| &set.vertex_uv),
        first_vertex,
        basis,
        known: HashMap::new(),
        part: SkinPart::default(),
    };
    for corners in corners(mesh, part).as_chunks::<3>().0 {
        let triangle = corners.map(|corner| reader.vertex(corner as usize, repairs));
        // Triangles without an area have no normal.
        if let [Some(a), Some(b), Some(c)] = triangle
            && a != b
            && b != c
            && c != a
        {
            reader.part.triangles.push([a, b, c]);
        }
    }
    reader.part
}

/// Reads the vertices of a part.
struct CornerReader<'a> {
    mesh: &'a Mesh,
    uv: &'a VertexVec2,
    first_vertex: u32,
    basis: &'a Basis,
    known: HashMap<Key, u32>,
    part: SkinPart,
}

impl CornerReader<'_> {
    /// Returns the vertex at a corner, which others may share.
    fn vertex(&mut self, corner: usize, repairs: &mut Repairs) -> Option<u32> {
        let Self { mesh, uv, part, .. } = self;
        let vertex = *mesh.vertex_indices.get(corner)?;
        let normal = &mesh.vertex_normal;
        let normal = value(&normal.indices, &normal.values, corner).map_or(Vec3::ZERO, point);
        let tex_coord = value(&uv.indices, &uv.values, corner);
        // V points up in FBX.
        let tex_coord =
            tex_coord.map_or(Vec2::ZERO, |uv| Vec2::new(uv.x as f32, 1.0 - uv.y as f32));
        let colors = &mesh.vertex_color;
        let color = value(&colors.indices, &colors.values, corner).map_or(Vec4::ONE, |color| {
            let [r, g, b] = [color.x, color.y, color.z].map(|x| to_linear(x as f32));
            Vec4::new(r, g, b, color.w as f32)
        });
        // FBX stores values by corner. Corners with the same values become one vertex.
        let mut key: Key = [vertex; 10];
        let numbers = normal.to_array().into_iter().chain(tex_coord.to_array());
        for (slot, number) in key[1..].iter_mut().zip(numbers.chain(color.to_array())) {
            *slot = number.to_bits();
        }
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let position = self.basis.point(point(mesh.vertices.get(vertex as usize)?));
        let new = part.positions.len() as u32;
        self.known.insert(key, new);
        let vertex = self.first_vertex + vertex;
        part.source_vertices.push(vertex);
        part.positions.push(repairs.position(position, vertex));
        part.normals.push(self.basis.direction(normal));
        part.tex_coords.push(sound_tex_coord(tex_coord));
        if colors.exists {
            part.colors.push(sound_color(color));
        }
        Some(new)
    }
}

/// The corners of a part's triangles, three for each.
fn corners(mesh: &Mesh, part: &MeshPart) -> Vec<u32> {
    let (mut out, mut cut) = (Vec::new(), Vec::new());
    for face in part.face_indices.iter() {
        let Some(&face) = mesh.faces.get(*face as usize) else {
            continue;
        };
        let first = face.index_begin;
        match face.num_indices {
            0..3 => {}
            3 => out.extend([first, first + 1, first + 2]),
            4..=MOST_CORNERS => {
                cut.resize((face.num_indices as usize - 2) * 3, 0);
                let triangles = ufbx::triangulate_face(&mut cut, mesh, face) as usize;
                out.extend_from_slice(&cut[..triangles * 3]);
            }
            // A fan takes time in proportion to the corners, which cutting ears doesn't.
            count => out.extend((2..count).flat_map(|at| [first, first + at - 1, first + at])),
        }
    }
    out
}

fn value<'a, T>(indices: &[u32], values: &'a [T], corner: usize) -> Option<&'a T> {
    values.get(*indices.get(corner)? as usize)
}

/// Colors of vertices are in sRGB, as Blender and Maya write them.
fn to_linear(x: f32) -> f32 {
    if x <= 0.04045 {
        x / 12.92
    } else {
        ((x + 0.055) / 1.055).powf(2.4)
    }
}
