//! Tangents after MikkTSpace, where a file has none of use.

use super::normals::usable;
use crate::model::SkinPart;
use glam::{Vec2, Vec3, Vec4};

/// Computes the tangents that are missing and brings the others into shape; the number of missing.
///
/// A tangent is missing if it is zero, not finite or along the normal; a list of the wrong length
/// is missing as a whole. The others become unit vectors with a `w` of ±1. Positions, unit normals,
/// texture coordinates and triangles must be final. Vertices whose triangles mirror the texture
/// against each other are doubled, each half with its own sign: `part` may grow at the end.
///
/// The bitangent `w · normal × tangent` points against V, Bevy's custom for V down.
pub(super) fn complete_tangents(part: &mut SkinPart) -> usize {
    if part.tangents.len() != part.positions.len() {
        part.tangents = vec![Vec4::ZERO; part.positions.len()];
    }
    let mut missing = Vec::new();
    for (vertex, (tangent, normal)) in part.tangents.iter_mut().zip(&part.normals).enumerate() {
        let w = if tangent.w < 0.0 { -1.0 } else { 1.0 };
        match usable(tangent.truncate()).filter(|t| t.cross(*normal).length_squared() > 1e-4) {
            Some(unit) => *tangent = unit.extend(w),
            None => {
                *tangent = Vec4::ZERO;
                missing.push(vertex as u32);
            }
        }
    }
    if !missing.is_empty() {
        compute_tangents(part, &missing);
    }
    missing.len()
}

fn compute_tangents(part: &mut SkinPart, missing: &[u32]) {
    let is_missing = |v: &u32| part.tangents[*v as usize] == Vec4::ZERO;
    let faces = (0..part.triangles.len()).filter(|&t| part.triangles[t].iter().any(is_missing)).collect();
    let mut job = MikkTSpace { part, faces, corners: Vec::new() };
    job.corners = vec![Vec4::ZERO; job.faces.len() * 3];
    match bevy_mikktspace::generate_tangents(&mut job) {
        Ok(()) => {}
        // An enum without variants as of 1.0; the fallback below serves should it gain one.
        Err(_) => job.corners.fill(Vec4::ZERO),
    }
    let MikkTSpace { faces, corners, .. } = job;

    // Per vertex and sign of w, the sum over its corners.
    let mut sums = vec![[Vec3::ZERO; 2]; part.positions.len()];
    for (&face, corners) in faces.iter().zip(corners.chunks_exact(3)) {
        for (&vertex, corner) in part.triangles[face].iter().zip(corners) {
            sums[vertex as usize][usize::from(corner.w < 0.0)] += corner.truncate();
        }
    }
    let mut mirrored_twin = vec![u32::MAX; part.positions.len()];
    for &vertex in missing {
        let at = vertex as usize;
        let normal = part.normals[at];
        let in_plane = |v: Vec3| usable(v - normal * normal.dot(v));
        let [plain, mirrored] = sums[at].map(in_plane);
        part.tangents[at] = match (plain, mirrored) {
            (Some(plain), _) => plain.extend(1.0),
            (None, Some(mirrored)) => mirrored.extend(-1.0),
            (None, None) => any_tangent(normal),
        };
        if let (Some(_), Some(mirrored)) = (plain, mirrored) {
            mirrored_twin[at] = double(part, at, mirrored.extend(-1.0));
        }
    }
    for (&face, corners) in faces.iter().zip(corners.chunks_exact(3)) {
        for (vertex, corner) in part.triangles[face].iter_mut().zip(corners) {
            let twin = mirrored_twin[*vertex as usize];
            if corner.w < 0.0 && twin != u32::MAX {
                *vertex = twin;
            }
        }
    }
}

/// Adds a copy of a vertex with another tangent; its index.
fn double(part: &mut SkinPart, vertex: usize, tangent: Vec4) -> u32 {
    part.positions.push(part.positions[vertex]);
    part.normals.push(part.normals[vertex]);
    part.tangents.push(tangent);
    part.tex_coords.push(part.tex_coords[vertex]);
    if let Some(influences) = part.influences.get(vertex).copied() {
        part.influences.push(influences);
    }
    if let Some(source) = part.source_vertices.get(vertex).copied() {
        part.source_vertices.push(source);
    }
    part.positions.len() as u32 - 1
}

/// Some unit tangent for a vertex whose texture coordinates say nothing.
fn any_tangent(normal: Vec3) -> Vec4 {
    normal.any_orthonormal_vector().extend(1.0)
}

/// The chosen faces of a part, for the MikkTSpace algorithm.
struct MikkTSpace<'a> {
    part: &'a SkinPart,
    faces: Vec<usize>,
    corners: Vec<Vec4>,
}

impl MikkTSpace<'_> {
    fn vertex(&self, face: usize, corner: usize) -> usize {
        self.part.triangles[self.faces[face]][corner] as usize
    }
}

impl bevy_mikktspace::Geometry for MikkTSpace<'_> {
    fn num_faces(&self) -> usize {
        self.faces.len()
    }

    fn num_vertices_of_face(&self, _face: usize) -> usize {
        3
    }

    fn position(&self, face: usize, vert: usize) -> [f32; 3] {
        self.part.positions[self.vertex(face, vert)].into()
    }

    fn normal(&self, face: usize, vert: usize) -> [f32; 3] {
        self.part.normals[self.vertex(face, vert)].into()
    }

    fn tex_coord(&self, face: usize, vert: usize) -> [f32; 2] {
        self.part.tex_coords.get(self.vertex(face, vert)).copied().unwrap_or(Vec2::ZERO).into()
    }

    fn set_tangent(&mut self, space: Option<bevy_mikktspace::TangentSpace>, face: usize, vert: usize) {
        let Some(space) = space else { return };
        let [x, y, z, w] = space.tangent_encoded();
        // MikkTSpace's bitangent points along V, Bevy's against it.
        let tangent = Vec4::new(x, y, z, -w);
        if tangent.is_finite() {
            self.corners[face * 3 + vert] = tangent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quad() -> SkinPart {
        SkinPart {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y],
            normals: vec![Vec3::Z; 4],
            // V down: the upper edge has v = 0.
            tex_coords: vec![Vec2::Y, Vec2::ONE, Vec2::X, Vec2::ZERO],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            source_vertices: vec![0, 1, 2, 3],
            ..SkinPart::default()
        }
    }

    #[test]
    fn the_tangent_points_along_u_and_the_bitangent_up_the_picture() {
        let mut part = quad();
        assert_eq!(complete_tangents(&mut part), 4);
        for (tangent, normal) in part.tangents.iter().zip(&part.normals) {
            assert!((tangent.truncate() - Vec3::X).length() < 1e-6);
            assert!((tangent.w * normal.cross(tangent.truncate()) - Vec3::Y).length() < 1e-6);
        }
    }

    #[test]
    fn only_missing_tangents_are_computed() {
        let mut part = quad();
        let given = Vec4::new(0.0, 1.0, 0.0, -1.0);
        part.tangents = vec![given * 3.0, Vec4::ZERO, Vec4::new(0.0, 0.0, 1.0, 1.0), Vec4::NAN];
        assert_eq!(complete_tangents(&mut part), 3);
        assert_eq!(part.tangents[0], given);
        assert!(part.tangents[1..].iter().all(|t| (*t - Vec4::new(1.0, 0.0, 0.0, 1.0)).length() < 1e-6));
    }

    #[test]
    fn a_vertex_between_mirrored_halves_is_doubled() {
        // The left half shows the right half's picture, mirrored at the line x = 0.
        let mut part = quad();
        part.positions.extend([Vec3::NEG_X, Vec3::new(-1.0, 1.0, 0.0)]);
        part.normals.extend([Vec3::Z; 2]);
        part.tex_coords.extend([Vec2::ONE, Vec2::X]);
        part.triangles.extend([[4, 0, 3], [4, 3, 5]]);
        part.source_vertices.extend([4, 5]);
        complete_tangents(&mut part);
        assert_eq!(part.source_vertices, [0, 1, 2, 3, 4, 5, 0, 3]);
        for triangle in &part.triangles {
            let [a, b, c] = triangle.map(|v| part.tangents[v as usize]);
            assert!(a.w == b.w && b.w == c.w);
            let side = triangle.iter().map(|&v| part.positions[v as usize].x).sum::<f32>();
            assert_eq!(a.x.signum(), side.signum());
        }
    }

    #[test]
    fn without_texture_coordinates_tangents_are_still_unit_and_square_to_the_normal() {
        let mut part = quad();
        part.tex_coords = vec![Vec2::ZERO; 4];
        complete_tangents(&mut part);
        for (tangent, normal) in part.tangents.iter().zip(&part.normals) {
            assert!(tangent.truncate().is_normalized() && tangent.truncate().dot(*normal).abs() < 1e-6);
            assert_eq!(tangent.w.abs(), 1.0);
        }
    }
}
