//! Tangents after MikkTSpace, where a file has none of use.

use super::{
    firsts::Firsts,
    lanes::{self, BLOCK, Lanes, Vectors, gather},
    normals::{arc_cosine, usable},
};
use crate::model::SkinPart;
use glam::{DVec2, DVec3, Vec2, Vec3, Vec4};

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
        let missing: Vec<u32> = (0..part.positions.len() as u32).collect();
        compute_tangents(part, &missing);
        return missing.len();
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
    let all_missing = missing.len() == part.positions.len();
    let is_missing = |v: &u32| part.tangents[*v as usize] == Vec4::ZERO;
    let is_wanted = |&face: &u32| all_missing || part.triangles[face as usize].iter().any(is_missing);
    let faces: Vec<u32> = (0..part.triangles.len() as u32).filter(is_wanted).collect();
    let twin = first_equal(part);
    // Per vertex and side of the picture, the sum over its corners.
    let mut sums = vec![[Vec3::ZERO; 2]; part.positions.len()];
    let mut is_mirrored = vec![false; faces.len()];
    let mut block = Block::NOTHING;
    for (faces, is_mirrored) in faces.chunks(BLOCK).zip(is_mirrored.chunks_mut(BLOCK)) {
        block.run(part, faces);
        for (lane, &face) in faces.iter().enumerate() {
            is_mirrored[lane] = block.is_mirrored[lane];
            for (corner, &vertex) in part.triangles[face as usize].iter().enumerate() {
                sums[twin[vertex as usize] as usize][usize::from(is_mirrored[lane])] += block.shares[corner].get(lane);
            }
        }
    }
    let mut mirrored_twin = Vec::new();
    for &vertex in missing {
        let at = vertex as usize;
        let normal = part.normals[at];
        let in_plane = |v: Vec3| Some(v - normal * normal.dot(v)).filter(|_| v != Vec3::ZERO).and_then(usable);
        let [plain, mirrored] = sums[twin[at] as usize];
        let (plain, mirrored) = (in_plane(plain), in_plane(mirrored));
        part.tangents[at] = match (plain, mirrored) {
            (Some(plain), _) => plain.extend(1.0),
            (None, Some(mirrored)) => mirrored.extend(-1.0),
            (None, None) => any_tangent(normal),
        };
        if let (Some(_), Some(mirrored)) = (plain, mirrored) {
            mirrored_twin.resize(twin.len(), u32::MAX);
            mirrored_twin[at] = double(part, at, mirrored.extend(-1.0));
        }
    }
    if mirrored_twin.is_empty() {
        return;
    }
    for (&face, _) in faces.iter().zip(&is_mirrored).filter(|(_, mirrored)| **mirrored) {
        for vertex in &mut part.triangles[face as usize] {
            let twin = Some(mirrored_twin[*vertex as usize]).filter(|&twin| twin != u32::MAX);
            *vertex = twin.unwrap_or(*vertex);
        }
    }
}

/// Triangles and what each of their corners adds to the tangent of its vertex.
struct Block {
    positions: [Vectors<f32>; 3],
    normals: [Vectors<f32>; 3],
    /// By corner and axis.
    tex_coords: [[Lanes<f32>; 2]; 3],
    edges: [Vectors<f64>; 3],
    along: Vectors<f64>,
    shares: [Vectors<f32>; 3],
    /// Whether the picture is mirrored on the triangle.
    is_mirrored: Lanes<bool>,
}

impl Block {
    const NOTHING: Self = Self {
        positions: [Vectors::<f32>::ZERO; 3],
        normals: [Vectors::<f32>::ZERO; 3],
        tex_coords: [[[0.0; BLOCK]; 2]; 3],
        edges: [Vectors::<f64>::ZERO; 3],
        along: Vectors::<f64>::ZERO,
        shares: [Vectors::<f32>::ZERO; 3],
        is_mirrored: [false; BLOCK],
    };

    /// For the triangles of `part` with the indices `faces`, up to [`BLOCK`] of them.
    fn run(&mut self, part: &SkinPart, faces: &[u32]) {
        let Self { positions, normals, tex_coords, edges, along, shares, is_mirrored } = self;
        let triangles = || faces.iter().map(|&face| part.triangles[face as usize]);
        gather(positions, &part.positions, triangles());
        gather(normals, &part.normals, triangles());
        for (lane, triangle) in triangles().enumerate() {
            for ([u, v], vertex) in tex_coords.iter_mut().zip(triangle) {
                (u[lane], v[lane]) = part.tex_coords.get(vertex as usize).copied().unwrap_or(Vec2::ZERO).into();
            }
        }
        lanes::edges(positions, edges);
        along_u(edges, tex_coords, along, is_mirrored);
        let [ab, bc, ca] = &*edges;
        for (corner, from, to) in [(0, ca, ab), (1, ab, bc), (2, bc, ca)] {
            add_shares(&mut shares[corner], along, &normals[corner], from, to);
        }
    }
}

/// The direction in which U grows over each triangle, of any length, and whether the picture is mirrored on
/// it; zero where it has no area in the picture.
fn along_u(
    [ab, _, ca]: &[Vectors<f64>; 3],
    tex_coords: &[[Lanes<f32>; 2]; 3],
    along: &mut Vectors<f64>,
    is_mirrored: &mut Lanes<bool>,
) {
    let mut areas = [0.0; BLOCK];
    let vec2 = |of: &[Lanes<f32>; 2], lane: usize| DVec2::new(f64::from(of[0][lane]), f64::from(of[1][lane]));
    for (lane, stored) in areas.iter_mut().enumerate() {
        let [s, t, u] = [vec2(&tex_coords[0], lane), vec2(&tex_coords[1], lane), vec2(&tex_coords[2], lane)];
        let (to_t, to_u) = (t - s, u - s);
        let area = to_t.perp_dot(to_u);
        let sign = if area > 0.0 { 1.0 } else { -1.0 };
        let direction = (ab.get(lane) * to_u.y + ca.get(lane) * to_t.y) * sign;
        let or_nothing = |x: f64| if area != 0.0 { x } else { 0.0 };
        along.set(lane, DVec3::new(or_nothing(direction.x), or_nothing(direction.y), or_nothing(direction.z)));
        *stored = area;
    }
    // V points down the picture, so the right way round its area is negative.
    is_mirrored.iter_mut().zip(&areas).for_each(|(is_mirrored, area)| *is_mirrored = *area > 0.0);
}

/// What the triangles' corners between the edges `from` and `to` add to the tangents of their vertices: the
/// direction in the plane of the vertex's normal, as long as the corner's angle is wide, seen along the normal.
fn add_shares(
    shares: &mut Vectors<f32>,
    along: &Vectors<f64>,
    normal: &Vectors<f32>,
    from: &Vectors<f64>,
    to: &Vectors<f64>,
) {
    let mut tangents = Vectors::<f64>::ZERO;
    let mut cosines = [0.0; BLOCK];
    for (lane, cosine) in cosines.iter_mut().enumerate() {
        let normal = normal.get(lane).as_dvec3();
        let in_plane = |v: DVec3| v - normal * normal.dot(v);
        let (from, to) = (in_plane(from.get(lane)), in_plane(to.get(lane)));
        *cosine = -from.dot(to) / (from.length_squared() * to.length_squared()).sqrt();
        tangents.set(lane, in_plane(along.get(lane)));
    }
    for (lane, &cosine) in cosines.iter().enumerate() {
        let tangent = tangents.get(lane);
        let share = (tangent * (arc_cosine(cosine) / tangent.length())).as_vec3();
        // Without a branch, or the lanes would part.
        let sound = share.x.is_finite() & share.y.is_finite() & share.z.is_finite();
        let or_nothing = |x: f32| if sound { x } else { 0.0 };
        shares.set(lane, Vec3::new(or_nothing(share.x), or_nothing(share.y), or_nothing(share.z)));
    }
}

/// Per vertex, the first that is equal to it in position, normal and texture coordinate.
fn first_equal(part: &SkinPart) -> Vec<u32> {
    let count = part.positions.len();
    let bits = |v: usize| {
        let tex_coord = part.tex_coords.get(v).copied().unwrap_or(Vec2::ZERO);
        let (p, n) = (part.positions[v], part.normals[v]);
        // Both zeros are one.
        let bits = |x: f32| (x + 0.0).to_bits();
        let [u, v] = [bits(tex_coord.x), bits(tex_coord.y)];
        [bits(p.x), bits(p.y), bits(p.z), bits(n.x), bits(n.y), bits(n.z), u, v]
    };
    // Each pair multiplied by itself, so that none waits for another.
    let hash = |bits: [u32; 8]| {
        const ODD: [u64; 4] =
            [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0xff51_afd7_ed55_8ccd];
        let pair = |i: usize| (u64::from(bits[2 * i]) << 32 | u64::from(bits[2 * i + 1])).wrapping_mul(ODD[i]);
        (pair(0) ^ pair(1).rotate_left(16)) ^ (pair(2).rotate_left(32) ^ pair(3).rotate_left(48))
    };
    let mut firsts = Firsts::new(count);
    let first = |vertex: u32| {
        let own = bits(vertex as usize);
        firsts.first(hash(own), vertex, |other| bits(other as usize) == own)
    };
    (0..count as u32).map(first).collect()
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

    #[test]
    fn tangents_are_those_of_the_reference_implementation() {
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
        let mut reference = MikkTSpace { part: &part.clone(), corners: vec![Vec4::ZERO; part.triangles.len() * 3] };
        assert!(bevy_mikktspace::generate_tangents(&mut reference).is_ok());
        complete_tangents(&mut part);
        let ours = part.triangles.as_flattened().iter().map(|&v| part.tangents[v as usize]);
        let mut off = 0;
        for (ours, corner) in ours.zip(&reference.corners) {
            assert_eq!(ours.w, corner.w);
            // Where triangles of one vertex share no edge, the reference may give each its own.
            off += usize::from(!ours.abs_diff_eq(*corner, 1e-3));
        }
        assert!(off * 50 < reference.corners.len(), "{off} of {}", reference.corners.len());
    }
}
