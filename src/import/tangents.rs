//! Fills in missing tangents, following MikkTSpace.
//!
//! The `bevy_mikktspace` crate is the reference in the tests, but not for files: it recurses from triangle to triangle
//! around a vertex, compares each with all others there, and needs a kilobyte per vertex.

use super::{
    firsts::Firsts,
    normals::{arc_cosine, cosine, usable},
};
use crate::model::SkinPart;
use glam::{DVec2, DVec3, Vec2, Vec3, Vec4};

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
    let first = first_equal(part);
    // Per vertex, the sum over its corners of either sign.
    let mut sums = vec![[Vec3::ZERO; 2]; part.positions.len()];
    for triangle in &part.triangles {
        let [a, b, c] = triangle.map(|vertex| part.positions[vertex as usize].as_dvec3());
        let edges = [a - c, b - a, c - b, a - c];
        let (along_u, mirrored) = along_u(part, triangle, b - a, c - a);
        let mut corners = [(0.0, DVec3::ZERO); 3];
        for (corner, &vertex) in triangle.iter().enumerate() {
            let normal = part.normals[vertex as usize].as_dvec3();
            let in_plane = |v: DVec3| v - normal * normal.dot(v);
            let (from, to) = (in_plane(edges[corner]), in_plane(edges[corner + 1]));
            corners[corner] = (cosine(-from, to), in_plane(along_u).normalize_or_zero());
        }
        // In a loop of its own, which takes a third less time: of a longer one, a processor sees too little ahead to
        // work while it waits for square roots.
        for (&vertex, (cosine, tangent)) in triangle.iter().zip(corners) {
            let share = (tangent * arc_cosine(cosine)).as_vec3();
            if share.is_finite() {
                sums[first[vertex as usize] as usize][usize::from(mirrored)] += share;
            }
        }
    }
    let mut mirrored_copy = vec![None; part.positions.len()];
    for &vertex in missing {
        let normal = part.normals[vertex];
        let in_plane = |v: Vec3| usable(v - normal * normal.dot(v));
        let [plain, mirrored] = sums[first[vertex] as usize];
        let (plain, mirrored) = (in_plane(plain), in_plane(mirrored));
        part.tangents[vertex] = match (plain, mirrored) {
            (Some(plain), _) => plain.extend(1.0),
            (None, Some(mirrored)) => mirrored.extend(-1.0),
            (None, None) => normal.any_orthonormal_vector().extend(1.0),
        };
        if let (Some(_), Some(mirrored)) = (plain, mirrored) {
            mirrored_copy[vertex] = Some(duplicate(part, vertex, mirrored.extend(-1.0)));
        }
    }
    // Triangles that mirror the texture get the copies. Only the sign of the mapping is wanted
    // here, so the edges don't matter.
    for face in 0..part.triangles.len() {
        let triangle = part.triangles[face];
        if triangle.iter().any(|&vertex| {
            mirrored_copy
                .get(vertex as usize)
                .is_some_and(Option::is_some)
        }) && along_u(part, &triangle, DVec3::ZERO, DVec3::ZERO).1
        {
            part.triangles[face] =
                triangle.map(|vertex| mirrored_copy[vertex as usize].unwrap_or(vertex));
        }
    }
}

/// The direction, of any length, in which U grows along a triangle with the edges `ab` and `ac`, and whether the
/// picture is mirrored on it.
fn along_u(part: &SkinPart, triangle: &[u32; 3], ab: DVec3, ac: DVec3) -> (DVec3, bool) {
    let [s, t, u] = triangle.map(|vertex| tex_coord(part, vertex as usize).as_dvec2());
    let (st, su): (DVec2, DVec2) = (t - s, u - s);
    let area = st.perp_dot(su);
    // V points down the picture, so its area is negative where it is not mirrored.
    let sign = if area == 0.0 { 0.0 } else { area.signum() };
    ((ab * su.y - ac * st.y) * sign, area > 0.0)
}

/// Adds a copy of a vertex with another tangent and returns its index.
fn duplicate(part: &mut SkinPart, vertex: usize, tangent: Vec4) -> u32 {
    part.positions.push(part.positions[vertex]);
    part.normals.push(part.normals[vertex]);
    part.tangents.push(tangent);
    part.tex_coords.push(part.tex_coords[vertex]);
    if let Some(tex_coord) = part.second_tex_coords.get(vertex).copied() {
        part.second_tex_coords.push(tex_coord);
    }
    if let Some(color) = part.colors.get(vertex).copied() {
        part.colors.push(color);
    }
    if let Some(influences) = part.influences.get(vertex).copied() {
        part.influences.push(influences);
    }
    if let Some(source) = part.source_vertices.get(vertex).copied() {
        part.source_vertices.push(source);
    }
    let copy = part.positions.len() as u32 - 1;
    for target in &mut part.morphs {
        if let Ok(at) = target.vertices.binary_search(&(vertex as u32)) {
            target.vertices.push(copy);
            for list in [
                &mut target.positions,
                &mut target.normals,
                &mut target.tangents,
            ] {
                list.extend(list.get(at).copied());
            }
        }
    }
    copy
}

/// Per vertex, the first one with the same position, normal and texture coordinate.
fn first_equal(part: &SkinPart) -> Vec<u32> {
    let key = |vertex: u32| {
        let vertex = vertex as usize;
        let ([x, y, z], [l, m, n]) = (
            part.positions[vertex].to_array(),
            part.normals[vertex].to_array(),
        );
        let [u, v] = tex_coord(part, vertex).to_array();
        // Both zeros become one.
        let pair =
            |a: f32, b: f32| u64::from((a + 0.0).to_bits()) << 32 | u64::from((b + 0.0).to_bits());
        [pair(x, y), pair(z, l), pair(m, n), pair(u, v)]
    };
    let mut firsts = Firsts::new(part.positions.len());
    let first = |vertex: u32| {
        let own = key(vertex);
        firsts.first(own, vertex, |other| key(other) == own)
    };
    (0..part.positions.len() as u32).map(first).collect()
}

fn tex_coord(part: &SkinPart, vertex: usize) -> Vec2 {
    part.tex_coords.get(vertex).copied().unwrap_or_default()
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
        part.tangents = vec![
            given * 3.0,
            Vec4::ZERO,
            Vec4::new(0.0, 0.0, 1.0, 1.0),
            Vec4::NAN,
        ];
        assert_eq!(complete_tangents(&mut part), 3);
        assert_eq!(part.tangents[0], given);
        assert!(
            part.tangents[1..]
                .iter()
                .all(|t| (*t - Vec4::new(1.0, 0.0, 0.0, 1.0)).length() < 1e-6)
        );
    }

    #[test]
    fn a_vertex_between_mirrored_halves_is_duplicated() {
        // The left half shows the right half's picture, mirrored at the line x = 0.
        let mut part = quad();
        part.positions
            .extend([Vec3::NEG_X, Vec3::new(-1.0, 1.0, 0.0)]);
        part.normals.extend([Vec3::Z; 2]);
        part.tex_coords.extend([Vec2::ONE, Vec2::X]);
        part.triangles.extend([[4, 0, 3], [4, 3, 5]]);
        part.source_vertices.extend([4, 5]);
        complete_tangents(&mut part);
        assert_eq!(part.source_vertices, [0, 1, 2, 3, 4, 5, 0, 3]);
        for triangle in &part.triangles {
            let [a, b, c] = triangle.map(|v| part.tangents[v as usize]);
            assert!(a.w == b.w && b.w == c.w);
            let side = triangle
                .iter()
                .map(|&v| part.positions[v as usize].x)
                .sum::<f32>();
            assert_eq!(a.x.signum(), side.signum());
        }
    }

    #[test]
    fn without_texture_coordinates_tangents_are_still_unit_vectors_perpendicular_to_the_normal() {
        let mut part = quad();
        part.tex_coords = vec![Vec2::ZERO; 4];
        complete_tangents(&mut part);
        for (tangent, normal) in part.tangents.iter().zip(&part.normals) {
            assert!(
                tangent.truncate().is_normalized() && tangent.truncate().dot(*normal).abs() < 1e-6
            );
            assert_eq!(tangent.w.abs(), 1.0);
        }
    }

    /// The reference implementation.
    struct MikkTSpace<'a> {
        part: &'a SkinPart,
        corners: Vec<Vec4>,
    }

    impl MikkTSpace<'_> {
        fn vertex(&self, face: usize, corner: usize) -> usize {
            self.part.triangles[face][corner] as usize
        }
    }

    impl bevy_mikktspace::Geometry for MikkTSpace<'_> {
        fn num_faces(&self) -> usize {
            self.part.triangles.len()
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
            self.part
                .tex_coords
                .get(self.vertex(face, vert))
                .copied()
                .unwrap_or(Vec2::ZERO)
                .into()
        }

        fn set_tangent(
            &mut self,
            space: Option<bevy_mikktspace::TangentSpace>,
            face: usize,
            vert: usize,
        ) {
            let Some(space) = space else { return };
            let [x, y, z, w] = space.tangent_encoded();
            // MikkTSpace's bitangent points along V, Bevy's against it.
            let tangent = Vec4::new(x, y, z, -w);
            if tangent.is_finite() {
                self.corners[face * 3 + vert] = tangent;
            }
        }
    }

    #[test]
    fn tangents_are_those_of_the_reference_implementation() {
        let mut random = fastrand::Rng::with_seed(2);
        // A bumpy sheet whose left half shows the right half's picture, with some vertices doubled.
        const SIDE: u32 = 24;
        let mut part = SkinPart::default();
        for i in 0..SIDE * SIDE {
            let (x, z) = ((i % SIDE) as f32, (i / SIDE) as f32);
            part.positions.push(Vec3::new(x, random.f32() * 0.8, z));
            part.normals
                .push(Vec3::new(random.f32() - 0.5, 2.0, random.f32() - 0.5).normalize());
            let u = (x - (SIDE / 2) as f32).abs() * 0.1 + random.f32() * 0.02;
            part.tex_coords
                .push(Vec2::new(u, z * 0.1 + random.f32() * 0.02));
        }
        for x in 0..SIDE - 1 {
            for z in 0..SIDE - 1 {
                let at = z * SIDE + x;
                part.triangles
                    .extend([[at, at + SIDE, at + 1], [at + 1, at + SIDE, at + SIDE + 1]]);
            }
        }
        for doubled in 0..40 {
            let (from, to) = (doubled * 7, part.positions.len() as u32);
            part.positions.push(part.positions[from as usize]);
            part.normals.push(part.normals[from as usize]);
            part.tex_coords.push(part.tex_coords[from as usize]);
            let mut uses = part
                .triangles
                .as_flattened_mut()
                .iter_mut()
                .filter(|v| **v == from);
            uses.next().into_iter().for_each(|vertex| *vertex = to);
        }
        let original = part.clone();
        let mut reference = MikkTSpace {
            part: &original,
            corners: vec![Vec4::ZERO; part.triangles.len() * 3],
        };
        bevy_mikktspace::generate_tangents(&mut reference).unwrap();
        complete_tangents(&mut part);
        assert!(
            part.positions.len() > original.positions.len(),
            "the mirror line is duplicated"
        );
        let ours = part
            .triangles
            .as_flattened()
            .iter()
            .map(|&v| part.tangents[v as usize]);
        let mut off = 0;
        let corners = reference.corners;
        for (ours, corner) in ours.zip(&corners) {
            assert_eq!(ours.w, corner.w);
            // Where triangles of one vertex share no edge, the reference may give each its own.
            off += usize::from(!ours.abs_diff_eq(*corner, 1e-3));
        }
        assert!(off * 50 < corners.len(), "{off} of {}", corners.len());
    }

    #[test]
    fn a_hundred_thousand_triangles_around_one_vertex_and_as_many_equal_ones_take_no_stack_and_no_minute()
     {
        let rim = |i: u32| Vec2::from_angle(i as f32 * 6e-5);
        const COUNT: u32 = 100_000;
        let mut part = SkinPart {
            positions: (0..COUNT)
                .map(|i| rim(i).extend(0.0))
                .chain([Vec3::ZERO])
                .collect(),
            normals: vec![Vec3::Z; COUNT as usize + 1],
            tex_coords: (0..COUNT).map(rim).chain([Vec2::ZERO]).collect(),
            triangles: (1..COUNT).map(|i| [COUNT, i - 1, i]).collect(),
            ..SkinPart::default()
        };
        part.triangles
            .extend(std::iter::repeat_n([COUNT, 0, 1], 100_000));
        part.triangles
            .extend(std::iter::repeat_n([0, 0, 1], 100_000));
        assert_eq!(complete_tangents(&mut part), COUNT as usize + 1);
        assert!(
            part.tangents
                .iter()
                .all(|tangent| tangent.truncate().is_normalized())
        );
    }
}
