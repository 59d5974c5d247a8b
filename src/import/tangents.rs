//! Fills in missing tangents with MikkTSpace.

use super::normals::usable;
use crate::model::SkinPart;
use bevy_mikktspace::{Geometry, TangentSpace, generate_tangents};
use glam::{Vec2, Vec3, Vec4};
use std::collections::HashMap;

/// Triangles around one vertex that have a say in tangents. MikkTSpace recurses from one to the next and compares
/// each with all others, which a file must not be able to abuse.
const MOST_AROUND_A_VERTEX: u32 = 64;

/// Computes the tangents that are missing and normalizes the others. Returns how many were missing.
///
/// A tangent is missing if it is zero, not finite or along the normal; a list of the wrong length
/// is missing as a whole. The others become unit vectors with a `w` of ±1. Positions, unit normals,
/// texture coordinates and triangles must be final. Vertices whose triangles mirror the texture
/// against each other are duplicated, one copy for each sign: `part` may grow at the end.
///
/// The bitangent `w · normal × tangent` points against V, as Bevy expects where V points down.
pub(super) fn complete_tangents(part: &mut SkinPart) -> usize {
    if part.tangents.len() != part.positions.len() {
        part.tangents = vec![Vec4::ZERO; part.positions.len()];
    }
    let mut missing = Vec::new();
    for (vertex, (tangent, normal)) in part.tangents.iter_mut().zip(&part.normals).enumerate() {
        let w = if tangent.w < 0.0 { -1.0 } else { 1.0 };
        match usable(tangent.truncate()).filter(|t| t.cross(*normal).length_squared() > 1e-4) {
            Some(unit) => *tangent = unit.extend(w),
            None => missing.push(vertex),
        }
    }
    if !missing.is_empty() {
        compute_tangents(part, &missing);
    }
    missing.len()
}

fn compute_tangents(part: &mut SkinPart, missing: &[usize]) {
    let mut corners = Corners::new(part);
    // Its error type has no values.
    let Ok(()) = generate_tangents(&mut corners) else { return };
    let Corners { faces, tangents, .. } = corners;
    // Per vertex, the sum over its corners of either sign.
    let mut sums = vec![[Vec3::ZERO; 2]; part.positions.len()];
    for (&face, tangents) in faces.iter().zip(&tangents) {
        for (&vertex, tangent) in part.triangles[face].iter().zip(tangents) {
            sums[vertex as usize][usize::from(tangent.w < 0.0)] += tangent.truncate();
        }
    }
    let mut mirrored_copy = vec![None; part.positions.len()];
    for &vertex in missing {
        let normal = part.normals[vertex];
        let in_plane = |v: Vec3| usable(v - normal * normal.dot(v));
        let [plain, mirrored] = sums[vertex].map(in_plane);
        part.tangents[vertex] = match (plain, mirrored) {
            (Some(plain), _) => plain.extend(1.0),
            (None, Some(mirrored)) => mirrored.extend(-1.0),
            (None, None) => normal.any_orthonormal_vector().extend(1.0),
        };
        if let (Some(_), Some(mirrored)) = (plain, mirrored) {
            mirrored_copy[vertex] = Some(duplicate(part, vertex, mirrored.extend(-1.0)));
        }
    }
    for (&face, tangents) in faces.iter().zip(&tangents) {
        for (vertex, tangent) in part.triangles[face].iter_mut().zip(tangents) {
            if let Some(copy) = mirrored_copy[*vertex as usize].filter(|_| tangent.w < 0.0) {
                *vertex = copy;
            }
        }
    }
}

/// Adds a copy of a vertex with another tangent and returns its index.
fn duplicate(part: &mut SkinPart, vertex: usize, tangent: Vec4) -> u32 {
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

/// A part as MikkTSpace sees it.
struct Corners<'a> {
    part: &'a SkinPart,
    /// The triangles that count, none of them degenerate.
    faces: Vec<usize>,
    /// The tangents at the corners of each of `faces`; zero where there is none.
    tangents: Vec<[Vec4; 3]>,
}

impl<'a> Corners<'a> {
    fn new(part: &'a SkinPart) -> Self {
        let mut uses: HashMap<[u32; 8], u32> = HashMap::new();
        let mut counts = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(|vertex| part.positions[vertex as usize]);
            a != b
                && b != c
                && c != a
                && triangle.iter().all(|&vertex| {
                    let uses = uses.entry(key(part, vertex as usize)).or_default();
                    *uses += 1;
                    *uses <= MOST_AROUND_A_VERTEX
                })
        };
        let faces: Vec<usize> = (0..part.triangles.len()).filter(|&face| counts(&part.triangles[face])).collect();
        Self { part, tangents: vec![[Vec4::ZERO; 3]; faces.len()], faces }
    }

    fn vertex(&self, face: usize, corner: usize) -> usize {
        self.part.triangles[self.faces[face]][corner] as usize
    }
}

fn tex_coord(part: &SkinPart, vertex: usize) -> Vec2 {
    part.tex_coords.get(vertex).copied().unwrap_or_default()
}

/// Equal for vertices that MikkTSpace takes for one.
fn key(part: &SkinPart, vertex: usize) -> [u32; 8] {
    let ([x, y, z], [l, m, n]) = (part.positions[vertex].to_array(), part.normals[vertex].to_array());
    let [u, v] = tex_coord(part, vertex).to_array();
    // Both zeros become one.
    [x, y, z, l, m, n, u, v].map(|number| (number + 0.0).to_bits())
}

impl Geometry for Corners<'_> {
    fn num_faces(&self) -> usize {
        self.faces.len()
    }

    fn num_vertices_of_face(&self, _face: usize) -> usize {
        3
    }

    fn position(&self, face: usize, corner: usize) -> [f32; 3] {
        self.part.positions[self.vertex(face, corner)].into()
    }

    fn normal(&self, face: usize, corner: usize) -> [f32; 3] {
        self.part.normals[self.vertex(face, corner)].into()
    }

    fn tex_coord(&self, face: usize, corner: usize) -> [f32; 2] {
        tex_coord(self.part, self.vertex(face, corner)).into()
    }

    fn set_tangent(&mut self, space: Option<TangentSpace>, face: usize, corner: usize) {
        let Some([x, y, z, w]) = space.map(|space| space.tangent_encoded()) else { return };
        // MikkTSpace's bitangent points along V, Bevy's against it.
        let tangent = Vec4::new(x, y, z, -w);
        if tangent.is_finite() {
            self.tangents[face][corner] = tangent;
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
    fn a_vertex_between_mirrored_halves_is_duplicated() {
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
    fn without_texture_coordinates_tangents_are_still_unit_vectors_perpendicular_to_the_normal() {
        let mut part = quad();
        part.tex_coords = vec![Vec2::ZERO; 4];
        complete_tangents(&mut part);
        for (tangent, normal) in part.tangents.iter().zip(&part.normals) {
            assert!(tangent.truncate().is_normalized() && tangent.truncate().dot(*normal).abs() < 1e-6);
            assert_eq!(tangent.w.abs(), 1.0);
        }
    }

    #[test]
    fn corners_keep_the_tangents_that_mikktspace_gives_them() {
        let mut random = fastrand::Rng::with_seed(2);
        // A bumpy sheet whose left half shows the right half's picture, with some vertices doubled.
        const SIDE: u32 = 24;
        let mut part = SkinPart::default();
        for i in 0..SIDE * SIDE {
            let (x, z) = ((i % SIDE) as f32, (i / SIDE) as f32);
            part.positions.push(Vec3::new(x, random.f32() * 0.8, z));
            part.normals.push(Vec3::new(random.f32() - 0.5, 2.0, random.f32() - 0.5).normalize());
            let u = (x - (SIDE / 2) as f32).abs() * 0.1 + random.f32() * 0.02;
            part.tex_coords.push(Vec2::new(u, z * 0.1 + random.f32() * 0.02));
        }
        for x in 0..SIDE - 1 {
            for z in 0..SIDE - 1 {
                let at = z * SIDE + x;
                part.triangles.extend([[at, at + SIDE, at + 1], [at + 1, at + SIDE, at + SIDE + 1]]);
            }
        }
        for doubled in 0..40 {
            let (from, to) = (doubled * 7, part.positions.len() as u32);
            part.positions.push(part.positions[from as usize]);
            part.normals.push(part.normals[from as usize]);
            part.tex_coords.push(part.tex_coords[from as usize]);
            let mut uses = part.triangles.as_flattened_mut().iter_mut().filter(|v| **v == from);
            uses.next().into_iter().for_each(|vertex| *vertex = to);
        }
        let original = part.clone();
        let mut reference = Corners::new(&original);
        generate_tangents(&mut reference).unwrap();
        complete_tangents(&mut part);
        assert!(part.positions.len() > original.positions.len(), "the mirror line is duplicated");
        let ours = part.triangles.as_flattened().iter().map(|&v| part.tangents[v as usize]);
        let mut off = 0;
        let corners = reference.tangents.as_flattened();
        for (ours, corner) in ours.zip(corners) {
            assert_eq!(ours.w, corner.w);
            // Where triangles of one vertex share no edge, the reference may give each its own.
            off += usize::from(!ours.abs_diff_eq(*corner, 1e-3));
        }
        assert!(off * 50 < corners.len(), "{off} of {}", corners.len());
    }

    #[test]
    fn a_hundred_thousand_triangles_around_one_vertex_and_as_many_equal_ones_take_no_stack_and_no_minute() {
        let rim = |i: u32| Vec2::from_angle(i as f32 * 6e-5);
        const COUNT: u32 = 100_000;
        let mut part = SkinPart {
            positions: (0..COUNT).map(|i| rim(i).extend(0.0)).chain([Vec3::ZERO]).collect(),
            normals: vec![Vec3::Z; COUNT as usize + 1],
            tex_coords: (0..COUNT).map(rim).chain([Vec2::ZERO]).collect(),
            triangles: (1..COUNT).map(|i| [COUNT, i - 1, i]).collect(),
            ..SkinPart::default()
        };
        part.triangles.extend(std::iter::repeat_n([COUNT, 0, 1], 100_000));
        part.triangles.extend(std::iter::repeat_n([0, 0, 1], 100_000));
        assert_eq!(complete_tangents(&mut part), COUNT as usize + 1);
        assert!(part.tangents.iter().all(|tangent| tangent.truncate().is_normalized()));
    }
}
