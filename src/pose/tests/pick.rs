use super::*;

/// Two triangles at right angles: one goes with the first joint, the other with the second.
const POSITIONS: [[f32; 3]; 4] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
];
const INDICES: [u16; 6] = [0, 1, 2, 0, 2, 3];

fn pick<'a>(joints: &'a [[u16; 4]], weights: &'a [[f32; 4]], palette: &'a [Mat4]) -> PickSkin<'a> {
    PickSkin {
        origin: Vec3::new(0.2, 0.2, 5.0),
        direction: Vec3::NEG_Z,
        positions: &POSITIONS,
        joints,
        weights,
        indices: TriangleIndices::U16(&INDICES),
        palette,
        remap: &[7, 9],
        combined: &NONE,
        place: Mat4::IDENTITY,
    }
}

static NONE: CombinedJoints = CombinedJoints::new();
const FULL: [f32; 4] = [1.0, 0.0, 0.0, 0.0];

#[test]
fn a_hit_has_a_distance_a_triangle_and_a_joint() {
    let joints = [[0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]];
    let palette = [Mat4::from_translation(Vec3::Z); 2];
    let hit = pick(&joints, &[FULL; 4], &palette)
        .run(&mut Vec::new())
        .unwrap();
    assert_eq!((hit.distance, hit.triangle, hit.joint), (4.0, 0, Some(7)));
    let near = |a: f32, b: f32| (a - b).abs() < 1e-6;
    assert!(
        hit.barycentrics
            .into_iter()
            .zip([0.6, 0.2, 0.2])
            .all(|(a, b)| near(a, b)),
        "{hit:?}"
    );
    // Close to the corner that the other joint moves, that one has more.
    let near_corner = PickSkin {
        origin: Vec3::new(0.7, 0.1, 5.0),
        ..pick(&joints, &[FULL; 4], &palette)
    };
    assert_eq!(near_corner.run(&mut Vec::new()).unwrap().joint, Some(9));
    let behind = PickSkin {
        direction: Vec3::Z,
        ..near_corner
    };
    assert_eq!(behind.run(&mut Vec::new()), None);
}

#[test]
fn a_part_without_joints_is_moved_by_its_place() {
    let part = PickSkin {
        place: Mat4::from_translation(Vec3::NEG_Z),
        ..pick(&[], &[], &[])
    };
    let hit = part.run(&mut Vec::new()).unwrap();
    assert_eq!((hit.distance, hit.joint), (6.0, None));
}

#[test]
fn nonsense_neither_hits_nor_panics() {
    let joints = [[300, 0, 0, 0]; 4];
    for palette in [vec![], vec![Mat4::NAN; 301], vec![Mat4::ZERO; 301]] {
        let flat = pick(&joints, &[FULL; 4], &palette);
        let hit = flat.run(&mut Vec::new());
        assert!(hit.is_none() != palette.is_empty() && hit.is_none_or(|hit| hit.joint.is_none()));
        for direction in [Vec3::ZERO, Vec3::NAN, Vec3::INFINITY] {
            assert_eq!(PickSkin { direction, ..flat }.run(&mut Vec::new()), None);
        }
        let far = [0_u32, 1, 9, 2, 3, u32::MAX, 1];
        assert_eq!(
            PickSkin {
                indices: TriangleIndices::U32(&far),
                ..flat
            }
            .run(&mut Vec::new()),
            None
        );
    }
}

#[test]
fn a_ray_meets_a_box_when_a_point_of_it_lies_within() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut place =
        |reach: f32| Vec3::from(std::array::from_fn(|_| (random.f32() * 2.0 - 1.0) * reach));
    let (mut met, mut missed) = (0, 0);
    for _ in 0..20_000 {
        let (origin, direction, a, b) = (place(4.0), place(1.0), place(2.0), place(2.0));
        let (low, high) = (a.min(b), a.max(b));
        let says = ray_enters_box(
            origin,
            direction,
            BoundingBox {
                min: low,
                max: high,
            },
        )
        .is_some();
        let inside = |step: i32| {
            let point = origin + direction * (step as f32 * 0.02);
            point.cmpge(low).all() && point.cmple(high).all()
        };
        let is_met = (0..2000).any(inside);
        assert!(says || !is_met, "a box the ray meets is never missed");
        met += usize::from(is_met);
        missed += usize::from(!says);
    }
    assert!(met > 300 && missed > 1000, "{met} {missed}");
    let unit = BoundingBox {
        min: Vec3::ZERO,
        max: Vec3::ONE,
    };
    assert_eq!(
        ray_enters_box(Vec3::splat(0.5), Vec3::X, unit),
        Some(0.0),
        "from within"
    );
    let along_an_edge = ray_enters_box(Vec3::new(-1.0, 0.0, 0.0), Vec3::X, unit).unwrap();
    assert!((along_an_edge - 1.0).abs() < 1e-4, "{along_an_edge}");
    let twice_as_fast = ray_enters_box(Vec3::new(-1.0, 0.5, 0.5), Vec3::X * 2.0, unit).unwrap();
    assert!((twice_as_fast - 0.5).abs() < 1e-4, "{twice_as_fast}");
    assert_eq!(
        ray_enters_box(Vec3::new(-1.0, 2.0, 0.0), Vec3::X, unit),
        None
    );
    assert_eq!(
        ray_enters_box(Vec3::new(-1.0, 0.5, 0.5), Vec3::NEG_X, unit),
        None,
        "behind"
    );
}

#[test]
fn a_hit_names_the_largest_joint_even_if_it_is_part_of_a_combined_one() {
    let mut combined = CombinedJoints::default();
    combined.push([(0, 0.2), (1, 0.8)]);
    let (joints, weights) = ([[0, 2, 0, 0]; 4], [[0.4, 0.6, 0.0, 0.0]; 4]);
    let part = PickSkin {
        combined: &combined,
        ..pick(&joints, &weights, &[Mat4::IDENTITY; 3])
    };
    // 0.52 of the first joint, 0.48 of the second.
    assert_eq!(part.run(&mut Vec::new()).unwrap().joint, Some(7));
    let weights = [[0.3, 0.7, 0.0, 0.0]; 4];
    let part = PickSkin {
        weights: &weights,
        ..part
    };
    assert_eq!(part.run(&mut Vec::new()).unwrap().joint, Some(9));
}
