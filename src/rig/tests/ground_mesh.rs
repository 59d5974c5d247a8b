use super::*;
use glam::Quat;

fn triangles(random: &mut fastrand::Rng, count: usize) -> Vec<[Vec3; 3]> {
    let mut vector = |size: f32| Vec3::from_array([0; 3].map(|_| (random.f32() - 0.5) * size));
    let mut triangle = || {
        let at = vector(10.0);
        [at, at + vector(2.0), at + vector(2.0)]
    };
    (0..count).map(|_| triangle()).collect()
}

#[test]
fn a_ray_hits_the_nearest_of_all_triangles() {
    let mut random = fastrand::Rng::with_seed(2);
    for count in [0, 1, 4, 5, 100, 1000] {
        let all = triangles(&mut random, count);
        let mesh = GroundMesh::new(all.iter().copied());
        let mut hits = 0;
        for _ in 0..300 {
            let mut number = |size: f32| (random.f32() - 0.5) * size;
            let turn = Quat::from_rotation_x(number(1.0)) * Quat::from_rotation_y(number(6.0));
            let world = Affine3A::from_scale_rotation_translation(
                Vec3::splat(2.0),
                turn,
                Vec3::X * number(2.0),
            );
            let origin = Vec3::new(number(10.0), 8.0, number(10.0));
            let ray = GroundRay {
                origin,
                direction: Vec3::NEG_Y,
                length: 20.0,
            };
            let found = mesh.cast(&world, &ray);
            let corners = all
                .iter()
                .map(|t| t.map(|corner| world.transform_point3(corner)));
            let each = corners.filter_map(|t| meet(&t, origin, Vec3::NEG_Y));
            let nearest = each
                .filter(|hit| hit.0 <= 20.0)
                .min_by(|a, b| a.0.total_cmp(&b.0));
            assert_eq!(found.is_some(), nearest.is_some());
            if let (Some(found), Some(nearest)) = (found, nearest) {
                hits += 1;
                assert!((found.point.y - (8.0 - nearest.0)).abs() < 1e-3);
                assert!(found.normal.dot(nearest.1.normalize()) > 0.999 && found.normal.y > 0.0);
            }
        }
        assert!(count < 100 || hits > 10, "{count}: {hits}");
    }
}

#[test]
fn odd_triangles_and_places_hit_nothing() {
    let odd = [
        [Vec3::NAN; 3],
        [Vec3::INFINITY; 3],
        [Vec3::ZERO; 3],
        [Vec3::X; 3],
    ];
    let mesh = GroundMesh::new(odd);
    let ray = GroundRay {
        origin: Vec3::Y,
        direction: Vec3::NEG_Y,
        length: 5.0,
    };
    assert_eq!(mesh.cast(&Affine3A::IDENTITY, &ray), None);
    let flat = GroundMesh::new([[
        Vec3::new(-1.0, 0.0, 1.0),
        Vec3::new(1.0, 0.0, 1.0),
        Vec3::new(0.0, 0.0, -2.0),
    ]]);
    assert!(flat.cast(&Affine3A::IDENTITY, &ray).is_some());
    assert_eq!(flat.cast(&Affine3A::from_scale(Vec3::ZERO), &ray), None);
    assert_eq!(
        flat.cast(&Affine3A::IDENTITY, &GroundRay { length: 0.5, ..ray }),
        None
    );
    assert_eq!(
        flat.cast(
            &Affine3A::IDENTITY,
            &GroundRay {
                origin: Vec3::NAN,
                ..ray
            }
        ),
        None
    );
}
