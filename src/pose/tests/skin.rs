use super::*;

fn part() -> SkinPart {
    let influence = |weights: [f32; 4]| Influences {
        palette: [0, 1, 0, 0],
        weights,
    };
    SkinPart {
        positions: vec![Vec3::X, Vec3::Y, Vec3::Z],
        normals: vec![Vec3::X, Vec3::Y, Vec3::new(0.0, 0.6, 0.8)],
        influences: [
            [1.0, 0.0, 0.0, 0.0],
            [0.5, 0.5, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
        ]
        .map(influence)
        .to_vec(),
        ..SkinPart::default()
    }
}

fn skinned(part: &SkinPart, palette: &[Mat4]) -> (Vec<Vec3>, Vec<Vec3>) {
    let (mut positions, mut normals) = (part.positions.clone(), part.normals.clone());
    let job = SkinVertices { part, palette };
    job.positions(&mut positions);
    job.normals(&mut normals);
    (positions, normals)
}

#[test]
fn vertices_follow_their_joints_by_weight() {
    let palette = [
        Mat4::from_translation(Vec3::X),
        Mat4::from_translation(Vec3::new(0.0, 4.0, 2.0)),
    ];
    let (positions, normals) = skinned(&part(), &palette);
    assert_eq!(
        positions,
        [
            Vec3::X * 2.0,
            Vec3::new(0.5, 3.0, 1.0),
            Vec3::new(0.0, 4.0, 3.0)
        ]
    );
    assert!(
        normals
            .iter()
            .zip(part().normals)
            .all(|(a, b)| a.abs_diff_eq(b, 1e-6))
    );
}

#[test]
fn normals_stay_perpendicular_to_a_scaled_or_mirrored_skin() {
    for scale in [
        Vec3::new(1.0, 3.0, 0.5),
        Vec3::new(-1.0, 1.0, 1.0),
        Vec3::new(-2.0, -1.0, -1.0),
    ] {
        let matrix = Mat4::from_rotation_z(0.7) * Mat4::from_scale(scale);
        let (_, normals) = skinned(&part(), &[matrix; 2]);
        let surface =
            [Vec3::X, Vec3::new(0.0, -0.8, 0.6)].map(|edge| matrix.transform_vector3(edge));
        assert!(surface.iter().all(|edge| edge.dot(normals[2]).abs() < 1e-5));
        assert!(
            matrix.transform_vector3(part().normals[2]).dot(normals[2]) > 0.0,
            "still pointing outwards: {scale}"
        );
    }
}

#[test]
fn flattened_skin_missing_palette_entries_and_missing_influences_are_fine() {
    let (positions, normals) = skinned(&part(), &[Mat4::ZERO, Mat4::ZERO]);
    assert!(positions.iter().all(|p| *p == Vec3::ZERO) && normals == part().normals);
    let (positions, _) = skinned(&part(), &[]);
    assert_eq!(positions, part().positions);
    let still = SkinPart {
        influences: vec![],
        ..part()
    };
    assert_eq!(
        skinned(&still, &[Mat4::from_rotation_x(1.0)]).0,
        part().positions
    );
}

#[test]
fn normals_keep_their_length_and_direction_under_scales_of_any_size() {
    let part = part();
    let turn = Mat4::from_rotation_x(0.7);
    let (_, expected) = skinned(&part, &[turn, turn]);
    for scale in [1e-25, 1e-12, 1e-7, 1.0, 1e7, 1e12, 1e25] {
        let scaled = turn * Mat4::from_scale(Vec3::splat(scale));
        let (_, normals) = skinned(&part, &[scaled, scaled]);
        for (normal, expected) in normals.iter().zip(&expected) {
            assert!(
                normal.abs_diff_eq(*expected, 1e-6),
                "{scale:e}: {normal} for {expected}"
            );
        }
    }
}
