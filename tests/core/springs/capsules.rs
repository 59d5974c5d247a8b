//! Ends of bones against capsules, measured in 64 bits: no end is inside where any direction of its bone would be outside.

use super::*;
use glam::DVec3;

/// The distance of a point from a segment.
fn distance(point: DVec3, [a, b]: [DVec3; 2]) -> f64 {
    let way = b - a;
    let along = if way.length_squared() > 0.0 {
        (point - a).dot(way) / way.length_squared()
    } else {
        0.0
    };
    point.distance(a + way * along.clamp(0.0, 1.0))
}

/// The largest distance from a segment at which a bone's end can be, about.
fn farthest(joint: DVec3, length: f64, segment: [DVec3; 2]) -> f64 {
    // Evenly over a sphere.
    let at = |i: u32| {
        let (y, turn) = (
            1.0 - (f64::from(i) + 0.5) / 150.0,
            2.399_963_229_728_653 * f64::from(i),
        );
        let flat = (1.0 - y * y).sqrt();
        joint + DVec3::new(flat * turn.cos(), y, flat * turn.sin()) * length
    };
    (0..300)
        .map(|i| distance(at(i), segment))
        .fold(0.0, f64::max)
}

fn vector(rng: &mut Rng, size: f32) -> Vec3 {
    Vec3::new(rng.f32() - 0.5, rng.f32() - 0.5, rng.f32() - 0.5) * (2.0 * size)
}

#[test]
fn no_end_is_inside_a_capsule_that_it_can_leave() {
    let long = std::env::var("MARIONETTE_CAPSULES")
        .ok()
        .and_then(|count| count.parse().ok());
    let count: u64 = long.unwrap_or(3000);
    let (mut worst, mut touched, mut measured, mut deep) = (0.0_f64, 0, 0, Vec::new());
    for seed in 0..count {
        let mut rng = Rng::with_seed(seed);
        let length = 0.05 + 0.3 * rng.f32();
        let joint = |parent, place| Joint {
            name: "".into(),
            parent,
            rest: JointTransform::new(place, Quat::IDENTITY),
            inverse_bind: Affine3A::IDENTITY,
        };
        let (hinge, bone) = (
            vector(&mut rng, 0.2),
            vector(&mut rng, 1.0).normalize_or(Vec3::Y) * length,
        );
        let joints = vec![
            joint(None, Vec3::Y),
            joint(Some(0), hinge),
            joint(Some(1), bone),
        ];
        let skeleton = Skeleton::new(joints).unwrap();
        // Often nearly along the bone, where its end slides along the capsule.
        let radius = 0.02 + 0.15 * rng.f32();
        let middle = hinge + bone * rng.f32() + vector(&mut rng, radius);
        let half = match rng.u8(..3) {
            0 => vector(&mut rng, 0.3),
            1 => bone * (0.2 + rng.f32()) + vector(&mut rng, 0.03),
            _ => vector(&mut rng, 1.0) * 0.05,
        };
        let collider = Collider {
            kind: Default::default(),
            joint: 0,
            center: middle - half,
            end: Some(middle + half),
            radius,
        };
        let settings = SpringSettings {
            frequency: 4.0 * rng.f32(),
            gravity: rng.f32(),
            damping: 0.1 + rng.f32(),
            drag: rng.f32(),
            radius: 0.03 * rng.f32(),
            ..SpringSettings::default()
        };
        let springs = Springs::new(
            &skeleton,
            &[SpringChain {
                root: 1,
                settings,
                colliders: vec![0],
            }],
            &[collider],
        );
        let (mut state, mut scratch) = (SpringState::default(), SpringScratch::default());
        let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
        for frame in 0..8 {
            local.copy_from_slice(skeleton.rest());
            local[0].rotation.set(
                0,
                Quat::from_rotation_x(0.3 * frame as f32) * Quat::from_rotation_z(rng.f32() * 0.2),
            );
            let mut pose = PoseMut::from_local(&skeleton, &mut local, &mut model);
            let world = world(vector(&mut rng, 0.1), rng.f32());
            let wind = vector(&mut rng, 5.0);
            springs.run(
                &SpringFrame {
                    dt: 0.02,
                    world,
                    wind,
                    ..SpringFrame::default()
                },
                &mut state,
                &mut scratch,
                &mut pose,
            );
            let place = |point: Vec3| {
                (model[0].matrix3.as_dmat3() * point.as_dvec3()) + model[0].translation.as_dvec3()
            };
            let segment = [place(collider.center), place(middle + half)];
            let [hinge, end] = [1, 2].map(|joint: usize| model[joint].translation.as_dvec3());
            let reach = f64::from(radius) + f64::from(settings.radius);
            let length = hinge.distance(end);
            if farthest(hinge, length, segment) < 1.001 * reach {
                continue;
            }
            let depth = (reach - distance(end, segment)) / (reach + length);
            (measured, touched) = (measured + 1, touched + u32::from(depth > -1e-4));
            worst = worst.max(depth);
            if depth > 1e-5 {
                deep.push((seed, frame, depth));
            }
        }
    }
    println!("{measured} poses, {touched} at the capsule, the deepest end {worst:.1e} inside");
    assert!(
        touched * 10 > measured && deep.is_empty(),
        "{} ends are inside: {:?}",
        deep.len(),
        &deep[..deep.len().min(9)]
    );
}
