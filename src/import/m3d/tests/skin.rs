use super::*;
use crate::messages::assert_messages;
use crate::{
    format::Checked,
    import::{
        Hand, ImportSettings, Imported, from_m3d, normals::smooth_normals, winding::tests::cube,
    },
};

/// A cube with texture coordinates on its sides, as left-handed data: the cross product of a
/// triangle's sides points outward.
fn cube_file() -> M3d {
    let (positions, triangles) = cube();
    let normals = smooth_normals(&positions, &triangles);
    let vertex = |(position, normal): (&Vec3, &Vec3)| M3dVertex {
        position: position.to_array(),
        normal: normal.to_array(),
        tangent: normal.any_orthonormal_vector().extend(1.0).to_array(),
        tex_coord: [position.x + 0.3 * position.y, position.z - 0.7 * position.y],
        ..M3dVertex::default()
    };
    M3d {
        vertices: positions.iter().zip(&normals).map(vertex).collect(),
        triangles,
        ..M3d::default()
    }
}

fn import(m3d: &M3d) -> Imported {
    let imported = from_m3d(
        "cube.m3d",
        &Checked::new(m3d.clone()).unwrap(),
        &ImportSettings::default(),
    )
    .unwrap();
    for part in &imported.model.parts {
        // Right-handed, seen from outside: what Bevy draws.
        assert_eq!(winding::outwardness(&part.positions, &part.triangles), 1.0);
        assert_eq!(
            winding::facing(&part.positions, &part.normals, &part.triangles).against_normals,
            0
        );
    }
    imported
}

#[test]
fn handedness_is_detected_from_normals_and_mixed_triangles_are_flipped() {
    let left = cube_file();
    let mut right = left.clone();
    right.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    let mut mixed = right.clone();
    mixed.triangles[3].swap(1, 2);
    for (m3d, right_handed, z, warnings) in [
        (left, false, -1.0, 0),
        (right, true, 1.0, 0),
        (mixed, true, 1.0, 1),
    ] {
        let imported = import(&m3d);
        assert_eq!(
            (imported.report.right_handed, imported.warnings.len()),
            (right_handed, warnings)
        );
        assert_eq!(
            imported.model.parts[0].positions[0],
            Vec3::from(m3d.vertices[0].position) * Vec3::new(1.0, 1.0, z)
        );
    }
}

#[test]
fn without_normals_the_volume_determines_the_outside() {
    for turned in [false, true] {
        for hand in [Hand::Auto, Hand::Left, Hand::Right] {
            let mut m3d = cube_file();
            m3d.vertices.iter_mut().for_each(|v| v.normal = [0.0; 3]);
            if turned {
                m3d.triangles.iter_mut().for_each(|t| t.swap(1, 2));
            }
            let m3d = Checked::new(m3d).unwrap();
            let imported = from_m3d(
                "f",
                &m3d,
                &ImportSettings {
                    hand,
                    ..ImportSettings::default()
                },
            )
            .unwrap();
            let part = &imported.model.parts[0];
            assert_eq!(winding::outwardness(&part.positions, &part.triangles), 1.0);
            assert!(
                part.positions
                    .iter()
                    .zip(&part.normals)
                    .all(|(p, n)| n.dot(p.normalize()) > 0.99)
            );
        }
    }
}

#[test]
fn faces_beyond_a_subsets_vertices_are_used_and_those_of_no_subset_are_reported() {
    let mut m3d = cube_file();
    let subset = |id, vertex_count, face_start, face_count| M3dSubset {
        id,
        vertex_start: 0,
        vertex_count,
        face_start,
        face_count,
    };
    m3d.subsets = vec![subset(0, 2, 0, 4), subset(9, 8, 4, 7)];
    let imported = from_m3d(
        "cube.m3d",
        &Checked::new(m3d).unwrap(),
        &ImportSettings::default(),
    )
    .unwrap();
    let parts = &imported.model.parts;
    assert_eq!((parts[0].triangles.len(), parts[1].triangles.len()), (4, 7));
    assert!(parts[0].positions.len() == 8 && parts[0].source_vertices.is_sorted());
    assert_messages("m3d: a triangle of no subset", &imported.warnings);
}

#[test]
fn tangent_signs_follow_the_texture_if_missing_or_inverted() {
    // Sides that all show the picture the right way round.
    let mut m3d = cube_file();
    m3d.vertices = m3d
        .triangles
        .as_flattened()
        .iter()
        .map(|&v| m3d.vertices[v as usize])
        .collect();
    for (at, triangle) in m3d.triangles.iter_mut().enumerate() {
        *triangle = [0, 1, 2].map(|corner| 3 * at as u32 + corner);
        for (&v, tex_coord) in triangle.iter().zip([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]) {
            m3d.vertices[v as usize].tex_coord = tex_coord;
        }
    }
    let signs = |w: f32| {
        let mut m3d = m3d.clone();
        m3d.vertices.iter_mut().for_each(|v| v.tangent[3] = w);
        import(&m3d).model.parts[0]
            .tangents
            .iter()
            .map(|t| t.w)
            .collect::<Vec<_>>()
    };
    // In left-handed data (b − a) × (c − a) is outward and U × V goes with it: Luna writes +1.
    assert_eq!(signs(1.0), [1.0; 36]);
    assert_eq!(signs(0.0), signs(1.0));
    assert_eq!(signs(-1.0), signs(1.0));
}
