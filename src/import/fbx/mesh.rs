//! Polygons → triangles and vertices.

use super::scene::point;
use crate::{import::axes::Basis, model::is_near};
use glam::{Vec2, Vec3, Vec4};
use std::collections::HashMap;
use ufbx::{Mesh, MeshPart, VertexVec2};

/// Corners of a polygon that is cut where its shape says. What has more is no polygon that an artist made.
const MOST_CORNERS: u32 = 4096;

/// The part of a node's mesh that one material covers, in the mesh's own space but in Bevy's axes.
#[derive(Default)]
pub(super) struct Draft {
    /// Index of the part of the mesh.
    pub(super) part: usize,
    /// Per vertex, the vertex of the file.
    pub(super) vertices: Vec<u32>,
    pub(super) positions: Vec<Vec3>,
    /// Unit vectors, except for broken ones.
    pub(super) normals: Vec<Vec3>,
    pub(super) tex_coords: Vec<Vec2>,
    /// Linear RGBA. Empty if the mesh has none.
    pub(super) colors: Vec<Vec4>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// Vertices of the file without a usable position, which were put at the origin.
    pub(super) misplaced: Vec<u32>,
}

/// A vertex's place, normal, texture coordinates and color, to the bit.
type Key = [u32; 10];

impl Draft {
    /// Reads a part of a mesh. `uv_set` names the set of texture coordinates that its material uses, if not the first.
    pub(super) fn read(mesh: &Mesh, part: usize, uv_set: Option<&str>, basis: &Basis) -> Self {
        let mut out = Self {
            part,
            ..Self::default()
        };
        let Some(contents) = mesh.material_parts.get(part) else {
            return out;
        };
        let uv = uv_set.and_then(|name| mesh.uv_sets.iter().find(|set| &*set.name == name));
        let uv = uv.map_or(&mesh.vertex_uv, |set| &set.vertex_uv);
        let mut known: HashMap<Key, u32> = HashMap::new();
        for corner in corners(mesh, contents).as_chunks::<3>().0 {
            let triangle =
                corner.map(|corner| out.vertex(mesh, uv, corner as usize, basis, &mut known));
            // Triangles without an area have no normal.
            if let [Some(a), Some(b), Some(c)] = triangle
                && a != b
                && b != c
                && c != a
            {
                out.triangles.push([a, b, c]);
            }
        }
        out
    }

    /// Returns the vertex at a corner, which others may share.
    fn vertex(
        &mut self,
        mesh: &Mesh,
        uv: &VertexVec2,
        corner: usize,
        basis: &Basis,
        known: &mut HashMap<Key, u32>,
    ) -> Option<u32> {
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
        if let Some(known) = known.get(&key) {
            return Some(*known);
        }
        let position = basis.point(point(mesh.vertices.get(vertex as usize)?));
        let is_sound = is_near(position);
        if !is_sound {
            self.misplaced.push(vertex);
        }
        let new = self.positions.len() as u32;
        known.insert(key, new);
        self.vertices.push(vertex);
        self.positions
            .push(if is_sound { position } else { Vec3::ZERO });
        self.normals.push(basis.direction(normal));
        self.tex_coords.push(if tex_coord.is_finite() {
            tex_coord
        } else {
            Vec2::ZERO
        });
        if colors.exists {
            self.colors.push(if color.is_finite() {
                color.clamp(Vec4::ZERO, Vec4::ONE)
            } else {
                Vec4::ONE
            });
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
