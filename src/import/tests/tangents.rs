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
