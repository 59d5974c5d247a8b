//! Ray casts against posed characters, compared with brute force in double precision, anywhere in the world.

use super::support::*;
use bevy::{camera::primitives::Aabb, ecs::system::RunSystemOnce, prelude::*};
use bevy_marionette::{
    asset::Character,
    character::{
        CharacterParts, CharacterRayCast, CharacterRayHit, ModelPose, PartOverrides, PoseOverrides,
    },
    import::{ImportSettings, open_model},
    model::{Influences, Model, SkinPart},
};
use glam::{DAffine3, DVec3};

/// Returns the nearest hit on any part, computed in double precision: (distance, part, joint weights).
struct BruteForce {
    /// Per part: posed vertices and triangles.
    parts: Vec<(Vec<DVec3>, Vec<[u32; 3]>)>,
}

impl BruteForce {
    fn new(model: &Model, pose: &[Affine], world: DAffine3) -> Self {
        let inverse_bind = model.skeleton.inverse_bind();
        let parts = model.parts.iter().map(|part| {
            let vertex = |i: usize| {
                let position = part.positions[i].as_dvec3();
                part.joint_weights(i)
                    .fold(DVec3::ZERO, |sum, (slot, weight)| {
                        let joint = usize::from(part.palette[slot]);
                        let skinning = world * double(pose[joint]) * double(inverse_bind[joint]);
                        sum + skinning.transform_point3(position) * f64::from(weight)
                    })
            };
            (
                (0..part.positions.len()).map(vertex).collect(),
                part.triangles.clone(),
            )
        });
        Self {
            parts: parts.collect(),
        }
    }

    fn nearest(&self, origin: DVec3, direction: DVec3) -> Option<(f64, usize)> {
        let mut nearest: Option<(f64, usize)> = None;
        for (part, (vertices, triangles)) in self.parts.iter().enumerate() {
            for corners in triangles {
                let [a, b, c] = corners.map(|i| vertices[i as usize]);
                // Intersect the plane, then check the side of each edge.
                let normal = (b - a).cross(c - a);
                let distance = (a - origin).dot(normal) / direction.dot(normal);
                let point = origin + direction * distance;
                let inside = [(a, b), (b, c), (c, a)]
                    .iter()
                    .all(|(from, to)| (*to - *from).cross(point - *from).dot(normal) >= 0.0);
                if inside && distance >= 0.0 && nearest.is_none_or(|(best, _)| distance < best) {
                    nearest = Some((distance, part));
                }
            }
        }
        nearest
    }
}

type Affine = glam::Affine3A;

fn double(a: Affine) -> DAffine3 {
    let column = |c: glam::Vec3A| c.as_dvec3();
    DAffine3::from_cols(
        column(a.matrix3.x_axis),
        column(a.matrix3.y_axis),
        column(a.matrix3.z_axis),
        column(a.translation),
    )
}

fn pick(app: &mut TestApp, ray: Ray3d) -> Option<CharacterRayHit> {
    app.world()
        .run_system_once(move |pick: CharacterRayCast| pick.pick(ray))
        .unwrap()
}

fn random_direction(random: &mut fastrand::Rng) -> Vec3 {
    loop {
        let v = Vec3::from(std::array::from_fn(|_| random.f32() * 2.0 - 1.0));
        if (0.1..1.0).contains(&v.length()) {
            return v.normalize();
        }
    }
}

/// The `.m3d`, which contains the clips, with the joint names of the `.md5mesh`.
fn scout() -> Model {
    let [mut model, named] = ["scout.m3d", "scout.md5mesh"].map(|file| {
        let source = std::fs::read(format!(
            "{}/assets/scout/{file}",
            env!("CARGO_MANIFEST_DIR")
        ))
        .unwrap();
        open_model(file, &source, &ImportSettings::default())
            .unwrap()
            .model
    });
    model.skeleton = model
        .skeleton
        .with_names(named.skeleton.names().iter().cloned());
    model
}

/// A box without ends around each joint of the chain.
fn boxes() -> Model {
    let mut model = chain(&clips());
    model.parts.clear();
    for (joint, name) in ["root box", "elbow box", "hand box"]
        .into_iter()
        .enumerate()
    {
        let mut part = SkinPart {
            name: name.into(),
            palette: vec![joint as u16],
            ..SkinPart::default()
        };
        for ring in 0..2_u32 {
            for corner in 0..4_u32 {
                let angle = std::f32::consts::FRAC_PI_2 * (corner as f32 + 0.5);
                let (y, out) = (
                    joint as f32 + ring as f32 * 0.8,
                    Vec3::new(angle.cos(), 0.0, angle.sin()),
                );
                part.positions.push(out * 0.3 + Vec3::Y * y);
                part.normals.push(out);
                part.tangents.push(Vec4::new(0.0, 1.0, 0.0, 1.0));
                part.tex_coords.push(Vec2::ZERO);
                part.influences.push(Influences {
                    palette: [0; 4],
                    weights: [1.0, 0.0, 0.0, 0.0],
                });
                let (low, next) = (corner, (corner + 1) % 4);
                if ring > 0 {
                    part.triangles
                        .extend([[low, low + 4, next + 4], [low, next + 4, next]]);
                }
            }
        }
        part.source_vertices = (0..8).collect();
        model.parts.push(part);
    }
    model
}

/// Casts rays at a posed character in many places and compares. Returns the number of hits and misses.
fn compare(
    app: &mut TestApp,
    model: &Model,
    entity: Entity,
    rays: usize,
    seed: u64,
) -> (usize, usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut hits, mut misses) = (0, 0);
    let scales = [
        Vec3::ONE,
        Vec3::new(-1.0, 1.0, 1.0),
        Vec3::new(0.4, 2.0, 1.3),
        Vec3::splat(-3.0),
        Vec3::splat(0.01),
    ];
    for scale in scales {
        let turn = Quat::from_axis_angle(random_direction(&mut random), random.f32() * 6.0);
        let place =
            Transform::from_translation(random_direction(&mut random) * 20.0).with_rotation(turn);
        app.world()
            .entity_mut(entity)
            .insert(place.with_scale(scale));
        app.update(0.05 + random.f64());
        let world = app.world().get::<GlobalTransform>(entity).unwrap().affine();
        let pose = app.world().get::<ModelPose>(entity).unwrap().joints.clone();
        let brute = BruteForce::new(model, &pose, double(world));
        let vertices: Vec<DVec3> = brute
            .parts
            .iter()
            .flat_map(|(vertices, _)| vertices.iter().copied())
            .collect();
        let size = f64::from(scale.abs().max_element());
        for _ in 0..rays {
            // Past a vertex, so that about half the rays hit.
            let near = vertices[random.usize(..vertices.len())].as_vec3();
            let past = near + random_direction(&mut random) * 0.1 * random.f32() * size as f32;
            let direction = random_direction(&mut random);
            let ray = Ray3d::new(
                past - direction * 4.0 * size as f32,
                Dir3::new(direction).unwrap(),
            );
            let expected = brute.nearest(ray.origin.as_dvec3(), ray.direction.as_dvec3());
            let found = pick(app, ray);
            // At 20 units from the origin, single precision resolves 2e-6.
            let near = |a: f64, b: f64| (a - b).abs() < 2e-5 * (20.0 + 4.0 * size);
            match (expected, &found) {
                (Some((distance, part)), Some(hit)) => {
                    hits += 1;
                    // A ray along a seam or through an edge may hit either triangle, and grazing rays amplify rounding.
                    if near(distance, f64::from(hit.distance)) {
                        assert_eq!(hit.character, entity);
                        assert!(hit.part == part || brute.parts.len() > 1);
                        assert!(hit.point.distance(ray.get_point(hit.distance)) == 0.0);
                        assert!((hit.barycentrics.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                        let (vertices, triangles) = &brute.parts[hit.part];
                        let corners = triangles[hit.triangle].map(|i| vertices[i as usize]);
                        let point = (0..3)
                            .map(|k| corners[k] * f64::from(hit.barycentrics[k]))
                            .sum::<DVec3>();
                        assert!(
                            point.distance(hit.point.as_dvec3()) < 1e-4 * (20.0 + 4.0 * size),
                            "{hit:?}"
                        );
                        continue;
                    }
                }
                (None, None) => {
                    misses += 1;
                    continue;
                }
                _ => {}
            }
            // Differences must be rounding at an edge: both agree if the ray is moved a little.
            let aside = (0..8).any(|_| {
                let origin =
                    ray.origin + random_direction(&mut random) * (1e-4 * (1.0 + size as f32));
                let expected = brute.nearest(origin.as_dvec3(), ray.direction.as_dvec3());
                let again = found.as_ref().map(|hit| f64::from(hit.distance));
                match (expected, again) {
                    (None, None) => true,
                    (Some((a, _)), Some(b)) => (a - b).abs() < 1e-2 * (1.0 + size),
                    _ => false,
                }
            });
            assert!(aside, "{ray:?}: expected {expected:?}, found {found:?}");
        }
    }
    (hits, misses)
}

#[test]
fn rays_hit_what_brute_force_in_double_precision_hits() {
    for (model, clip, rays) in [(boxes(), "walk", 200), (scout(), "jog", 24)] {
        let mut app = TestApp::new();
        let handle = app.add(model.clone(), &manifest());
        let entity = app.spawn(&handle, clip);
        // Nothing is ever in view here.
        app.world()
            .entity_mut(entity)
            .insert(PoseOverrides::default());
        let (hits, misses) = compare(&mut app, &model, entity, rays, 11);
        assert!(
            hits > rays && misses > rays / 4,
            "{hits} hits, {misses} misses"
        );
    }
}

#[test]
fn a_hit_on_a_limb_names_a_joint_of_that_limb() {
    let mut app = TestApp::new();
    let model = scout();
    let skeleton = model.skeleton.clone();
    let handle = app.add(model, &manifest());
    let entity = app.spawn(&handle, "wave");
    app.world()
        .entity_mut(entity)
        .insert(PoseOverrides::default());
    app.update(0.8);
    for (from, to) in [
        ("upper_arm.L", "forearm.L"),
        ("forearm.R", "hand.R"),
        ("shin.L", "foot.L"),
        ("thigh.R", "shin.R"),
    ] {
        let [a, b] = [from, to].map(|name| {
            let joint = skeleton
                .joint(name)
                .unwrap_or_else(|| panic!("no `{name}` among {:?}", skeleton.names()));
            Vec3::from(
                app.world().get::<ModelPose>(entity).unwrap().joints[usize::from(joint)]
                    .translation,
            )
        });
        let middle = a.midpoint(b);
        // From all sides of the bone.
        let along = (b - a).normalize();
        for side in 0..8 {
            let out =
                Quat::from_axis_angle(along, side as f32 * 0.785) * along.any_orthonormal_vector();
            let hit = pick(
                &mut app,
                Ray3d::new(middle + out * 0.12, Dir3::new(-out).unwrap()),
            )
            .expect("skin");
            let joint = skeleton.name(hit.joint.unwrap());
            assert_eq!(hit.joint_name.as_ref(), Some(joint));
            assert!(joint.starts_with(from) || **joint == *to, "{from}: {joint}");
        }
    }
}

#[test]
fn the_nearest_of_several_is_picked_and_what_is_hidden_lets_the_ray_through() {
    let mut app = TestApp::new();
    let handle = app.add(boxes(), &manifest());
    let [near, far, nowhere] = [2.0, -2.0, 4.0].map(|z| {
        let entity = app.spawn(&handle, "pose");
        app.world()
            .entity_mut(entity)
            .insert(Transform::from_xyz(0.0, 0.0, z));
        entity
    });
    app.world().get_mut::<Transform>(nowhere).unwrap().scale = Vec3::ZERO;
    app.update(0.0);
    let ray = Ray3d::new(Vec3::new(0.05, 1.4, 10.0), Dir3::NEG_Z);
    let hit = pick(&mut app, ray).unwrap();
    assert_eq!((hit.character, hit.part, hit.joint), (near, 1, Some(1)));
    assert_eq!(
        hit.entity,
        app.world().get::<CharacterParts>(near).unwrap().entities[1]
    );
    let but_near = move |pick: CharacterRayCast| pick.pick_where(ray, |entity| entity != near);
    assert_eq!(
        app.world()
            .run_system_once(but_near)
            .unwrap()
            .unwrap()
            .character,
        far
    );
    app.world()
        .entity_mut(near)
        .insert(PartOverrides::default().hide("elbow box"));
    app.update(0.0);
    assert_eq!(pick(&mut app, ray).unwrap().character, far);
    app.world().entity_mut(far).insert(Visibility::Hidden);
    app.update(0.0);
    assert_eq!(pick(&mut app, ray), None);
}

#[test]
fn a_static_part_is_picked_where_its_character_stands() {
    let mut app = TestApp::new();
    let mut model = boxes();
    for part in &mut model.parts {
        part.palette.clear();
        part.influences.clear();
    }
    let character = build(app.world(), model, &manifest());
    let handle = app
        .world()
        .resource_mut::<Assets<Character>>()
        .add(character);
    let entity = app.spawn(&handle, "pose");
    app.world()
        .entity_mut(entity)
        .insert(Transform::from_xyz(7.0, 0.0, 0.0));
    app.update(0.0);
    let hit = pick(&mut app, Ray3d::new(Vec3::new(7.05, 2.4, 5.0), Dir3::NEG_Z)).unwrap();
    assert_eq!((hit.part, hit.joint), (2, None));
    assert!((hit.distance - 4.78787).abs() < 1e-3, "{hit:?}");
}

/// A crowd that stores no poses, each character somewhere else in a clip of its own.
fn crowd(app: &mut TestApp, count: usize, random: &mut fastrand::Rng) -> Vec<Entity> {
    let handle = app.add(boxes(), &manifest());
    let crowd: Vec<Entity> = (0..count)
        .map(|_| {
            let clip = ["walk", "swing", "idle", "pose"][random.usize(..4)];
            let entity = app.spawn(&handle, clip);
            let place = Transform::from_translation(random_direction(random) * random.f32() * 6.0)
                .with_rotation(Quat::from_rotation_y(random.f32() * 6.0))
                .with_scale(Vec3::splat(0.5 + random.f32()));
            app.world()
                .entity_mut(entity)
                .remove::<ModelPose>()
                .insert(place);
            app.update(random.f64() * 0.3);
            entity
        })
        .collect();
    app.update(0.1);
    crowd
}

#[test]
fn the_nearest_of_a_crowd_is_what_it_is_when_each_is_asked_alone() {
    let random = &mut fastrand::Rng::with_seed(5);
    let mut app = TestApp::new();
    let crowd = crowd(&mut app, 60, random);
    let mut hits = 0;
    for _ in 0..200 {
        let from = random_direction(random) * 12.0;
        let to = random_direction(random) * 5.0;
        let ray = Ray3d::new(from, Dir3::new(to - from).unwrap());
        let nearest = crowd.iter().filter_map(|&one| {
            let alone = move |pick: CharacterRayCast| pick.pick_where(ray, |entity| entity == one);
            app.world().run_system_once(alone).unwrap()
        });
        let expected = nearest.min_by(|a, b| a.distance.total_cmp(&b.distance));
        hits += usize::from(expected.is_some());
        assert_eq!(pick(&mut app, ray), expected);
    }
    assert!(hits > 50, "{hits}");
}

#[test]
fn only_characters_whose_culling_boxes_meet_the_ray_are_posed() {
    let mut app = TestApp::new();
    let handle = app.add(boxes(), &manifest());
    let entity = app.spawn(&handle, "pose");
    app.world().entity_mut(entity).remove::<ModelPose>();
    app.update(0.0);
    let ray = Ray3d::new(Vec3::new(0.05, 1.4, 10.0), Dir3::NEG_Z);
    assert_eq!(pick(&mut app, ray).unwrap().character, entity);
    // Nobody could tell that a character wasn't posed, but for a box that is not where the character is.
    let parts = app.parts(entity);
    for &part in &parts {
        app.world().get_mut::<Aabb>(part).unwrap().center.x += 50.0;
    }
    assert_eq!(pick(&mut app, ray), None);
    // Other clips, other boxes.
    app.controller(entity).play("idle");
    app.update(0.1);
    assert_eq!(pick(&mut app, ray).unwrap().character, entity);
    // One that stores its pose needs no boxes.
    app.world()
        .entity_mut(entity)
        .insert(PoseOverrides::default());
    app.update(0.1);
    for &part in &parts {
        app.world().get_mut::<Aabb>(part).unwrap().center.x += 50.0;
    }
    assert_eq!(pick(&mut app, ray).unwrap().character, entity);
}
