use super::super::winding::tests::cube;
use super::*;

#[test]
fn the_arc_cosine_is_that_of_the_library_to_the_last_digits() {
    for i in -100_000..=100_000 {
        let x = f64::from(i) / 100_000.0;
        assert!(
            (arc_cosine(x) - x.acos()).abs() <= 2.0 * f64::EPSILON * x.acos(),
            "{x}"
        );
    }
    assert!(arc_cosine(f64::NAN).is_nan());
}

#[test]
fn doubled_vertices_share_the_normal_of_their_place() {
    let (positions, triangles) = cube();
    // Every triangle with corners of its own, a hair off.
    let loose: Vec<Vec3> = triangles
        .iter()
        .flatten()
        .map(|&v| positions[v as usize] * (1.0 + 1e-7))
        .collect();
    let apart: Vec<[u32; 3]> = (0..triangles.len() as u32)
        .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
        .collect();
    let normals = smooth_normals(&loose, &apart);
    for (normal, position) in normals.iter().zip(&loose) {
        // Angle weights make a cube's corners point straight out however its sides are cut.
        assert!(
            normal.dot(position.normalize()) > 0.999_999,
            "{normal} at {position}"
        );
    }
}

#[test]
fn the_two_sides_of_a_sheet_keep_a_normal_each() {
    let square = [Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Z, Vec3::Z];
    let positions = [square, square].concat();
    let normals = smooth_normals(&positions, &[[0, 2, 1], [0, 3, 2], [4, 5, 6], [4, 6, 7]]);
    assert_eq!(normals, [[Vec3::Y; 4], [Vec3::NEG_Y; 4]].concat());
}

#[test]
fn rounding_errors_of_normals_that_cancel_out_are_not_a_normal() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..20 {
        let mut corner =
            |x: f32, y: f32| Vec3::new(x + 0.2 * random.f32(), y + 0.2 * random.f32(), 0.0);
        let square = [
            corner(0.0, 0.0),
            corner(1.0, 0.0),
            corner(1.0, 1.0),
            corner(0.0, 1.0),
        ];
        // The back is cut along the other diagonal.
        let normals = smooth_normals(&square, &[[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]]);
        assert_eq!(normals, [Vec3::Y; 4]);
    }
}

#[test]
fn size_does_not_matter_and_hopeless_triangles_give_a_unit_normal() {
    for size in [1e-30, 1e-12, 1.0, 1e30] {
        let (positions, triangles) = cube();
        let positions: Vec<_> = positions.iter().map(|p| *p * size).collect();
        let normals = smooth_normals(&positions, &triangles);
        assert!(
            normals
                .iter()
                .zip(cube().0)
                .all(|(n, p)| n.dot(p.normalize()) > 0.999),
            "{size}: {normals:?}"
        );
    }
    let hopeless = [Vec3::ZERO, Vec3::X, Vec3::X * 2.0, Vec3::MAX, Vec3::MIN];
    for normal in smooth_normals(&hopeless, &[[0, 1, 2], [0, 0, 1], [3, 4, 0]]) {
        assert!(normal.is_normalized());
    }
}

#[test]
fn broken_normals_are_computed_and_long_ones_shortened() {
    let (positions, triangles) = cube();
    let sound = smooth_normals(&positions, &triangles);
    let mut normals = sound.clone();
    normals[0] = Vec3::ZERO;
    normals[1] = Vec3::NAN;
    normals[2] *= 40.0;
    let repaired = repair_normals(&positions, &triangles, &mut normals);
    assert_eq!(repaired, (vec![0, 1], 1));
    assert!(
        normals
            .iter()
            .zip(&sound)
            .all(|(a, b)| (*a - *b).length() < 1e-6)
    );
}
