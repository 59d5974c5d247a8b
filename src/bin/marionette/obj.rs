//! Posed models as OBJ files.

use bevy_marionette::{
    internals::pose::{MorphVertices, Palette, SkinVertices},
    model::Model,
};
use glam::{Affine3A, Mat4, Vec2, Vec3};
use std::io::{self, Write};

/// The vertices of a posed model, in the order of its file.
pub struct Posed {
    vertices: Vec<Vertex>,
}

#[derive(Clone, Copy)]
struct Vertex {
    position: Vec3,
    normal: Vec3,
    tex_coord: Vec2,
    /// `false` for a vertex that no part uses.
    in_part: bool,
}

impl Posed {
    /// Poses `model`, whose file has `count` vertices, with its joints at `joints` in model space and with these weights of
    /// its morph targets.
    pub fn new(model: &Model, count: usize, joints: &[Affine3A], weights: &[f32]) -> Self {
        let sources = model.parts.iter().flat_map(|part| &part.source_vertices);
        let count = sources
            .map(|&source| source as usize + 1)
            .max()
            .unwrap_or(0)
            .max(count);
        let unused = Vertex {
            position: Vec3::ZERO,
            normal: Vec3::Y,
            tex_coord: Vec2::ZERO,
            in_part: false,
        };
        let mut vertices = vec![unused; count];
        for part in &model.parts {
            let mut palette = vec![Mat4::IDENTITY; part.palette_len()];
            let inverse_bind = model.skeleton.inverse_bind();
            let (remap, combined) = (&part.palette, &part.combined_joints);
            Palette {
                world: Affine3A::IDENTITY,
                model: joints,
                inverse_bind,
                remap,
                combined,
            }
            .run(&mut palette);
            let mut shaped = part.clone();
            let morphs = MorphVertices { part, weights };
            morphs.positions(&mut shaped.positions);
            morphs.normals(&mut shaped.normals);
            let skin = SkinVertices {
                part: &shaped,
                palette: &palette,
            };
            let (mut positions, mut normals) = (part.positions.clone(), part.normals.clone());
            skin.positions(&mut positions);
            skin.normals(&mut normals);
            // Copies of a vertex, in other parts or at texture seams, all lie in the same place.
            for (at, &source) in part.source_vertices.iter().enumerate() {
                let (position, normal, tex_coord) =
                    (positions[at], normals[at], part.tex_coords[at]);
                let vertex = &mut vertices[source as usize];
                if !vertex.in_part {
                    *vertex = Vertex {
                        position,
                        normal,
                        tex_coord,
                        in_part: true,
                    };
                }
            }
        }
        Self { vertices }
    }

    /// Returns the positions of the vertices in a part.
    pub fn positions(&self) -> impl Iterator<Item = Vec3> {
        self.vertices
            .iter()
            .filter(|vertex| vertex.in_part)
            .map(|vertex| vertex.position)
    }

    /// Returns the number of vertices.
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Returns the number of vertices that no part uses.
    pub fn unused(&self) -> usize {
        self.vertices
            .iter()
            .filter(|vertex| !vertex.in_part)
            .count()
    }

    /// Writes `v`, `vn` and `vt` in the order of the file, then the faces of each part.
    pub fn write(&self, out: &mut impl Write, model: &Model, title: &str) -> io::Result<()> {
        writeln!(out, "# {}", line(title))?;
        writeln!(
            out,
            "# Right-handed, Y up, -Z forward; vertices in file order, one index for v, vt and vn"
        )?;
        for Vertex {
            position: Vec3 { x, y, z },
            ..
        } in &self.vertices
        {
            writeln!(out, "v {x} {y} {z}")?;
        }
        for Vertex {
            normal: Vec3 { x, y, z },
            ..
        } in &self.vertices
        {
            writeln!(out, "vn {x} {y} {z}")?;
        }
        for Vertex {
            tex_coord: Vec2 { x, y },
            ..
        } in &self.vertices
        {
            writeln!(out, "vt {x} {}", 1.0 - y)?;
        }
        for part in &model.parts {
            writeln!(out, "g {}", line(&part.name))?;
            if let Some(material) = model.materials.get(part.material) {
                writeln!(out, "usemtl {}", line(&material.name))?;
            }
            for triangle in &part.triangles {
                // OBJ counts from 1.
                let [a, b, c] = triangle.map(|vertex| part.source_vertices[vertex as usize] + 1);
                writeln!(out, "f {a}/{a}/{a} {b}/{b}/{b} {c}/{c}/{c}")?;
            }
        }
        Ok(())
    }
}

/// Fits a name on one line.
fn line(text: &str) -> String {
    let text = text.replace(char::is_control, " ");
    if text.trim().is_empty() {
        "unnamed".to_owned()
    } else {
        text
    }
}
