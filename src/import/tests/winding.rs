use super::*;

/// A unit cube around the origin with two triangles a side, counter-clockwise from outside.
pub(in crate::import) fn cube() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let corner = |i: u32| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2 & 1) as f32) - 0.5;
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let triangles = quads
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
        .collect();
    ((0..8).map(corner).collect(), triangles)
}

#[test]
fn a_cube_faces_outward_until_it_is_flipped() {
    let (positions, mut triangles) = cube();
    assert_eq!(outwardness(&positions, &triangles), 1.0);
    turn_over(&mut triangles);
    assert_eq!(outwardness(&positions, &triangles), -1.0);
}

#[test]
fn triangles_are_flipped_one_by_one_to_face_with_their_normals() {
    let (positions, sound) = cube();
    let normals: Vec<_> = positions.iter().map(|p| p.normalize()).collect();
    let mut mixed = sound.clone();
    mixed[3].swap(1, 2);
    mixed[7].swap(1, 2);
    assert_eq!(
        facing(&positions, &normals, &mixed),
        Facing {
            with_normals: 10,
            against_normals: 2
        }
    );
    assert_eq!(agree_with_normals(&positions, &normals, &mut mixed), 2);
    assert_eq!(mixed, sound);
}

#[test]
fn flat_empty_and_overflowing_meshes_have_no_outside() {
    let flat = [Vec3::ZERO, Vec3::X, Vec3::Z];
    assert_eq!(outwardness(&flat, &[[0, 1, 2]]), 0.0);
    assert_eq!(outwardness(&[], &[]), 0.0);
    let far = [Vec3::MAX, Vec3::MIN, Vec3::new(f32::MAX, f32::MIN, 0.0)];
    assert!(outwardness(&far, &[[0, 1, 2]]).is_finite());
}
