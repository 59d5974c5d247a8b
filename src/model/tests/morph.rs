use super::*;

fn morphs(names: &[&str]) -> Morphs {
    Morphs::new(names.iter().map(|&name| (name.into(), 0.0)))
}

#[test]
fn weights_are_in_rows_of_four_and_numbers_that_are_none_count_as_zero() {
    let named = ["a", "b", "c", "d", "e"].map(Arc::from).into_iter();
    let morphs = Morphs::new(named.zip([0.5, f32::NAN, -1.0, 2.0, 0.25]));
    assert_eq!((morphs.len(), morphs.rows()), (5, 2));
    assert_eq!(morphs.rest(), [0.5, 0.0, -1.0, 2.0, 0.25]);
    assert_eq!(morphs.rest_rows()[1], Vec4::X * 0.25);
    assert_eq!((morphs.morph("d"), morphs.morph("f")), (Some(3), None));
    assert!(Morphs::NONE.rest().is_empty());
}

#[test]
fn left_and_right_are_told_by_names_and_mutual() {
    let sides = |names: &[&str]| morphs(names).other_sides();
    assert_eq!(
        sides(&["eyeBlinkLeft", "jawOpen", "eyeBlinkRight"]),
        [2, 1, 0]
    );
    assert_eq!(
        sides(&["smile_L", "Fcl_EYE_Close_R", "smile_R", "Fcl_EYE_Close_L"]),
        [2, 3, 0, 1]
    );
    // Two that are left have one right between them.
    assert_eq!(sides(&["blink.L", "blink.L", "blink.R"]), [2, 1, 0]);
}

#[test]
fn only_vertices_that_move_are_stored() {
    let moved = |x: f32| MorphDelta {
        position: Vec3::X * x,
        ..Default::default()
    };
    let turned = MorphDelta {
        normal: Vec3::Y,
        ..Default::default()
    };
    let target = MorphTarget::new(3, [moved(0.0), moved(1.0), moved(0.0), turned]);
    assert_eq!(target.vertices, [1, 3]);
    assert_eq!(target.positions, [Vec3::X, Vec3::ZERO]);
    assert_eq!(target.normals, [Vec3::ZERO, Vec3::Y]);
    assert!(target.tangents.is_empty());
    assert_eq!(
        [0, 1, 3, 9].map(|v| target.delta(v)),
        [moved(0.0), moved(1.0), turned, moved(0.0)]
    );
    assert!(target.iter().eq([(1, moved(1.0)), (3, turned)]));
    assert_eq!(target.bytes(), 2 * 4 + 4 * 12);
}
