//! A posed model as an OBJ file.

use bevy_marionette::{
    model::{Model, SkinPart},
    pose::Palette,
};
use glam::{Affine3A, Mat3, Mat4, Vec2, Vec3, Vec4};
use std::io::{self, Write};

/// A model's vertices in a pose, in the order of its file.
pub struct Posed {
    vertices: Vec<Vertex>,
}

#[derive(Clone, Copy)]
struct Vertex {
    position: Vec3,
    normal: Vec3,
    tex_coord: Vec2,
    in_part: bool,
}

impl Vertex {
    /// What stands for a vertex that no part has.
    const LOOSE: Self = Self { position: Vec3::ZERO, normal: Vec3::Y, tex_coord: Vec2::ZERO, in_part: false };
}

impl Posed {
    /// The vertices of `model`, whose file has `count`, with its joints at `joints` in model space.
    pub fn new(model: &Model, count: usize, joints: &[Affine3A]) -> Self {
        let named = model.parts.iter().flat_map(|part| &part.source_vertices).map(|&at| at as usize + 1);
        let count = named.max().unwrap_or(0).max(count);
        let mut vertices = vec![Vertex::LOOSE; count];
        for part in &model.parts {
            let mut palette = vec![Mat4::IDENTITY; part.palette.len()];
            let inverse_bind = model.skeleton.inverse_bind();
            Palette { world: Affine3A::IDENTITY, model: joints, inverse_bind, remap: &part.palette }.run(&mut palette);
            for (at, &source) in part.source_vertices.iter().enumerate() {
                let vertex = &mut vertices[source as usize];
                // Copies of a vertex, in other parts or at seams of the texture, are all in one place.
                if !vertex.in_part {
                    *vertex = skin(part, at, &palette);
                }
            }
        }
        Self { vertices }
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Number of vertices that no part has.
    pub fn loose(&self) -> usize {
        self.vertices.iter().filter(|vertex| !vertex.in_part).count()
    }

    /// Writes the OBJ: `v`, `vn`, `vt` in the file's order, and the parts' `f`.
    pub fn write(&self, out: &mut impl Write, model: &Model, title: &str) -> io::Result<()> {
        writeln!(out, "# {}", line(title))?;
        writeln!(
            out,
            "# Right-handed, Y up, forward -Z; vertices in the file's order, by the same index for v, vt and vn"
        )?;
        for Vertex { position: Vec3 { x, y, z }, .. } in &self.vertices {
            writeln!(out, "v {x} {y} {z}")?;
        }
        for Vertex { normal: Vec3 { x, y, z }, .. } in &self.vertices {
            writeln!(out, "vn {x} {y} {z}")?;
        }
        for Vertex { tex_coord: Vec2 { x, y }, .. } in &self.vertices {
            writeln!(out, "vt {x} {}", 1.0 - y)?;
        }
        for part in &model.parts {
            writeln!(out, "g {}", line(&part.name))?;
            if let Some(material) = model.materials.get(part.material) {
                writeln!(out, "usemtl {}", line(&material.name))?;
            }
            for triangle in &part.triangles {
                // OBJ counts from one.
                let [a, b, c] = triangle.map(|vertex| part.source_vertices[vertex as usize] + 1);
                writeln!(out, "f {a}/{a}/{a} {b}/{b}/{b} {c}/{c}/{c}")?;
            }
        }
        Ok(())
    }
}

/// A vertex moved as Bevy's vertex shader does it (`skinning.wgsl`): the palette's matrices are mixed by
/// weight, and the mix moves position and, by its inverse transpose, normal.
fn skin(part: &SkinPart, at: usize, palette: &[Mat4]) -> Vertex {
    let (position, normal, tex_coord) = (part.positions[at], part.normals[at], part.tex_coords[at]);
    let Some(influences) = part.influences.get(at) else {
        return Vertex { position, normal, tex_coord, in_part: true };
    };
    let mut mix = Mat4::ZERO;
    for (&slot, &weight) in influences.palette.iter().zip(&influences.weights) {
        mix += palette.get(usize::from(slot)).copied().unwrap_or(Mat4::ZERO) * weight;
    }
    let position = Vec4::from((position, 1.0));
    let linear = Mat3::from_mat4(mix);
    Vertex { position: (mix * position).truncate(), normal: turned(&linear, normal), tex_coord, in_part: true }
}

/// A normal by the inverse transpose of a matrix, up to a positive factor: by its cofactors, which exist
/// for every matrix.
fn turned(linear: &Mat3, normal: Vec3) -> Vec3 {
    let Mat3 { x_axis: x, y_axis: y, z_axis: z } = *linear;
    let cofactors = Mat3::from_cols(y.cross(z), z.cross(x), x.cross(y));
    let mirrored = if x.dot(y.cross(z)) < 0.0 { -1.0 } else { 1.0 };
    (cofactors * normal * mirrored).try_normalize().unwrap_or(normal)
}

/// A name on one line.
fn line(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.trim().is_empty() { "unnamed".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Quat;

    #[test]
    fn normals_stay_square_to_surfaces_that_are_stretched_and_mirrored() {
        let along = [Vec3::new(1.0, -1.0, 0.0), Vec3::Z];
        let normal = Vec3::new(1.0, 1.0, 0.0).normalize();
        for scale in [Vec3::new(2.0, 1.0, 1.0), Vec3::new(-2.0, 1.0, 1.0), Vec3::new(2.0, 0.5, 3.0)] {
            let linear = Mat3::from_quat(Quat::from_rotation_x(0.7)) * Mat3::from_diagonal(scale);
            let turned = turned(&linear, normal);
            assert!(along.iter().all(|along| (linear * *along).dot(turned).abs() < 1e-6));
            assert!((linear * normal).dot(turned) > 0.0, "it points to the same side");
            assert!((turned.length() - 1.0).abs() < 1e-6);
        }
        assert_eq!(turned(&Mat3::ZERO, Vec3::Y), Vec3::Y);
    }
}
