//! Faces: the morph weights that the GPU reads, and pictures beside those of Bevy's own loader.

use super::{
    arm::arm,
    gltf_file::File,
    harness::Harness,
    offscreen::{
        character::{asset, parts},
        picture::{differences, lit},
    },
};
use bevy::{gltf::Gltf, prelude::*};
use bevy_marionette::{
    asset::Character,
    character::{Expressions, IdleEyes},
    model::{Model, MorphDelta, MorphFrames, MorphTarget, Morphs},
    pose::{ClipLayer, Evaluate, MorphOverride, MorphScratch},
    prelude::*,
};
use fastrand::Rng;
use image::RgbaImage;
use serde_json::{Value, json};
use std::{f32::consts::PI, path::Path, sync::Arc, time::Duration};

const NAMES: [&str; 6] = ["happy", "aa", "sad", "oh", "ee", "angry"];

/// The arm, as a face: the lower part has all targets and the upper one every other. `bend` moves four of them, and `reach`
/// none.
fn face() -> Model {
    let names: Arc<[Arc<str>]> = NAMES.map(Arc::from).into();
    let mut model = arm();
    let morphs = names.iter().map(|name| (name.clone(), 0.0));
    model.skeleton = model.skeleton.with_morphs(Morphs::new(morphs));
    for (at, part) in model.parts.iter_mut().enumerate() {
        let target = |morph: u16| {
            let moved = MorphDelta {
                position: Vec3::new(0.1, 0.05 * f32::from(morph), 0.0),
                ..MorphDelta::default()
            };
            MorphTarget::new(morph, vec![moved; part.positions.len()])
        };
        part.morphs = (0..6).step_by(at + 1).map(target).collect();
    }
    let mut random = Rng::with_seed(1);
    let frames = MorphFrames {
        names,
        animated: vec![false, true, true, true, true, false],
        weights: (0..10 * 6).map(|_| random.f32()).collect(),
        times: vec![],
    };
    model.clips[0] = model.clips[0].clone().with_morphs(&frames).unwrap();
    model
}

/// The weights of a character's morph targets, computed from its controller.
fn expected(world: &World, entity: Entity, overrides: &[MorphOverride]) -> Vec<f32> {
    let character = asset(world, entity);
    let controller = world.get::<AnimationController>(entity).unwrap();
    let layers: Vec<ClipLayer> = controller
        .layers(character)
        .map(|layer| ClipLayer {
            weight: layer.weight,
            base: layer.base,
            ..ClipLayer::new(&character.clips[layer.clip], layer.time)
        })
        .collect();
    let job = Evaluate {
        priority_blend: controller.priority_blend(),
        morph_overrides: overrides,
        ..Evaluate::new(&character.skeleton, &layers)
    };
    let mut scratch = MorphScratch::default();
    let weights = job.run_morphs(&mut scratch);
    weights
        .unwrap_or(character.skeleton.morphs().rest())
        .to_vec()
}

#[test]
fn the_gpu_reads_the_weights_that_the_cpu_computes_bit_for_bit() {
    let mut harness = Harness::new();
    let asset_of_all = harness.add(face());
    let spawn = |harness: &mut Harness, at: u16, clip: &str| {
        let mut controller = AnimationController::playing(clip);
        controller.set_speed(0.5 + f64::from(at) * 0.3);
        let place = Transform::from_xyz(f32::from(at) - 2.0, 0.0, 0.0);
        let character = SkinnedCharacter(asset_of_all.clone());
        harness.world().spawn((character, controller, place)).id()
    };
    let mut entities: Vec<Entity> = (0..5)
        .map(|at| spawn(&mut harness, at, if at == 3 { "reach" } else { "bend" }))
        .collect();
    let mut face = Expressions::default();
    face.set("angry", 0.75);
    harness.world().entity_mut(entities[1]).insert(face);
    let angry = [MorphOverride::set(5, 0.75)];
    (0..6).for_each(|_| harness.update());
    let bits = |weights: &[f32]| weights.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
    let mut compared = 0;
    let mut before: Vec<(Entity, Vec<f32>)> = Vec::new();
    for frame in 0..30 {
        harness.update();
        if frame == 12 {
            // One leaves, and another takes its place, which the GPU knows some frames later.
            harness.world().despawn(entities.remove(0));
            entities.push(spawn(&mut harness, 2, "bend"));
            (0..4).for_each(|_| harness.update());
            before.clear();
        }
        let mut now = Vec::new();
        for &entity in &entities {
            let by_hand = harness.world().get::<Expressions>(entity).is_some();
            let overrides = if by_hand { &angry[..] } else { &[] };
            let weights = expected(harness.world(), entity, overrides);
            for (at, part) in parts(harness.world(), entity).into_iter().enumerate() {
                let order = asset(harness.world(), entity).parts[at].morphs.clone();
                let whole: Vec<f32> = order.iter().map(|&m| weights[usize::from(m)]).collect();
                let [read, previous] = harness.buffers.weights(part).expect("a face");
                // The list ends after the last that is in use.
                let rest = &whole[read.len()..];
                assert!(
                    rest.iter().all(|weight| *weight == 0.0),
                    "{whole:?} {read:?}"
                );
                assert_eq!(bits(&read), bits(&whole[..read.len()]), "frame {frame}");
                if let Some(last) = before.iter().find(|(of, _)| *of == part) {
                    assert_eq!(bits(&previous), bits(&last.1[..previous.len()]));
                    assert_eq!(previous.len(), read.len());
                }
                compared += read.len();
                now.push((part, read));
            }
        }
        before = now;
    }
    assert!(compared > 1000, "{compared}");
    // A face at rest has no list, whatever the others do.
    let still = parts(harness.world(), entities[2])[0];
    assert_eq!(harness.buffers.weights(still), Some([vec![], vec![]]));
}

#[test]
fn eyes_that_come_into_view_are_drawn_as_they_are() {
    let mut model = face();
    let names = ["blink", "aa", "sad", "oh", "ee", "angry"];
    let morphs = names.map(|name| (Arc::from(name), 0.0));
    model.skeleton = model.skeleton.with_morphs(Morphs::new(morphs));
    let mut harness = Harness::new();
    let entity = harness.spawn(model, "reach", Transform::default());
    harness.world().entity_mut(entity).insert(IdleEyes::new(4));
    (0..6).for_each(|_| harness.update());
    harness
        .world()
        .entity_mut(entity)
        .insert(Visibility::Hidden);
    let mut blinks = 0;
    while blinks < 3 {
        harness.update();
        let closed = harness.world().get::<IdleEyes>(entity).unwrap().closed();
        if closed < 0.5 {
            continue;
        }
        blinks += 1;
        // Into view while nothing moves.
        harness.world().resource_mut::<Time<Virtual>>().pause();
        harness
            .world()
            .entity_mut(entity)
            .insert(Visibility::Inherited);
        (0..5).for_each(|_| harness.update());
        let part = parts(harness.world(), entity)[0];
        let at = asset(harness.world(), entity).parts[0]
            .morphs
            .iter()
            .position(|&morph| morph == 0)
            .unwrap();
        let [read, _] = harness.buffers.weights(part).unwrap();
        assert_eq!(read[at].to_bits(), closed.to_bits());
        harness
            .world()
            .entity_mut(entity)
            .insert(Visibility::Hidden);
        harness.world().resource_mut::<Time<Virtual>>().unpause();
        (0..30).for_each(|_| harness.update());
    }
}

// ---- beside Bevy's loader --------------------------------------------------------------------------

/// A ball of two materials with three targets that change its shape and normals, at rest with weights, and a clip for each
/// way to go from key to key.
fn ball() -> File {
    const RINGS: u16 = 24;
    const SIDES: u16 = 32;
    let mut file = File::new();
    let at = |ring: u16, side: u16| {
        let (up, around) = (
            PI * f32::from(ring) / f32::from(RINGS),
            2.0 * PI * f32::from(side) / f32::from(SIDES),
        );
        Vec3::new(up.sin() * around.cos(), up.cos(), up.sin() * around.sin())
    };
    let points: Vec<Vec3> = (0..=RINGS)
        .flat_map(|ring| (0..=SIDES).map(move |side| at(ring, side)))
        .collect();
    let mut corners: [Vec<[u16; 1]>; 2] = default();
    for ring in 0..RINGS {
        for side in 0..SIDES {
            let first = ring * (SIDES + 1) + side;
            let (below, list) = (first + SIDES + 1, &mut corners[usize::from(ring % 6 < 3)]);
            list.extend([first, first + 1, below, below, first + 1, below + 1].map(|v| [v]));
        }
    }
    let rows = |of: &dyn Fn(Vec3) -> Vec3| -> Vec<[f32; 3]> {
        points.iter().map(|&point| of(point).to_array()).collect()
    };
    let attributes = json!({
        "POSITION": file.floats(&rows(&|p| p * 0.8)),
        "NORMAL": file.floats(&rows(&|p| p)),
    });
    let moves: [&dyn Fn(Vec3) -> Vec3; 3] = [
        &|p: Vec3| Vec3::X * (3.0 * p.y).sin() * 0.4,
        &|p: Vec3| p * (5.0 * p.x).cos() * 0.3,
        &|p: Vec3| Vec3::new(0.0, p.y.abs() * 0.6, -0.5 * p.z),
    ];
    let targets: Vec<Value> = moves
        .iter()
        .map(|moved| {
            let turned = |p: Vec3| moved(p).cross(Vec3::new(0.3, -1.0, 0.5)) * 0.8;
            json!({
                "POSITION": file.floats(&rows(*moved)),
                "NORMAL": file.floats(&rows(&turned)),
            })
        })
        .collect();
    for (color, corners) in [[0.8, 0.5, 0.3, 1.0], [0.2, 0.4, 0.7, 1.0]]
        .iter()
        .zip(&corners)
    {
        let surface = json!({
            "baseColorFactor": color, "metallicFactor": 0.0, "roughnessFactor": 0.6,
        });
        let material = file.push("materials", json!({ "pbrMetallicRoughness": surface }));
        let primitive = json!({
            "attributes": attributes.clone(), "indices": file.shorts(corners),
            "targets": targets.clone(), "material": material,
        });
        if file.json["meshes"].as_array().is_some_and(Vec::is_empty) {
            file.push(
                "meshes",
                json!({ "primitives": [], "weights": [0.25, 0.0, 0.5] }),
            );
        }
        let primitives = file.json["meshes"][0]["primitives"].as_array_mut();
        primitives.unwrap().push(primitive);
    }
    let node = file.node(json!({ "name": "ball", "mesh": 0, "translation": [0.0, 1.0, 0.0] }));
    file.root(node);
    let mut random = Rng::with_seed(6);
    for (name, between, values) in [
        ("linear", "LINEAR", 3),
        ("step", "STEP", 3),
        ("spline", "CUBICSPLINE", 9),
    ] {
        let weights: Vec<[f32; 1]> = (0..3 * values).map(|_| [random.f32()]).collect();
        file.channel(name, node, "weights", between, &[0.0, 0.5, 1.0], &weights);
    }
    file
}

/// Loads a file that may be anywhere.
fn load<A: Asset>(harness: &mut Harness, path: &Path) -> Handle<A> {
    let server = harness.world().resource::<AssetServer>().clone();
    let load = server.load_builder().override_unapproved();
    let handle = load.load::<A>(path.to_owned());
    for _ in 0..1000 {
        harness.update();
        if server.is_loaded_with_dependencies(&handle) {
            return handle;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{}: {:?}", path.display(), server.load_state(&handle));
}

/// Pictures of the file at rest, and of its clips at some times.
fn pictures(path: &Path, moments: &[(&str, f64)], is_ours: bool) -> Vec<RgbaImage> {
    let mut harness = Harness::new();
    let show: Box<dyn Fn(&mut Harness, &str, f64)> = if is_ours {
        let character: Handle<Character> = load(&mut harness, path);
        // Characters look the other way.
        let place = Transform::from_rotation(Quat::from_rotation_y(PI));
        let character = (SkinnedCharacter(character), place);
        let entity = harness.world().spawn(character).id();
        Box::new(move |harness: &mut Harness, clip: &str, time: f64| {
            let mut controller = harness
                .world()
                .get_mut::<AnimationController>(entity)
                .unwrap();
            controller.play(clip);
            controller.set_speed(0.0);
            controller.seek(time);
        })
    } else {
        let file: Handle<Gltf> = load(&mut harness, path);
        let files = harness.world().resource::<Assets<Gltf>>();
        let (scene, clips) = {
            let file = files.get(&file).unwrap();
            (file.scenes[0].clone(), file.named_animations.clone())
        };
        harness.world().spawn(WorldAssetRoot(scene));
        Box::new(move |harness: &mut Harness, clip: &str, time: f64| {
            let (graph, node) = AnimationGraph::from_clip(clips[clip].clone());
            let world = harness.world();
            let graph = world.resource_mut::<Assets<AnimationGraph>>().add(graph);
            let mut players = world.query::<(Entity, &mut AnimationPlayer)>();
            let (entity, mut player) = players.single_mut(world).unwrap();
            player.stop_all();
            player.play(node).seek_to(time as f32).pause();
            world.entity_mut(entity).insert(AnimationGraphHandle(graph));
        })
    };
    let mut out = vec![harness.picture()];
    for &(clip, time) in moments {
        show(&mut harness, clip, time);
        out.push(harness.picture());
    }
    out
}

#[test]
fn morphing_meshes_look_as_with_bevys_own_loader_at_rest_at_keys_and_between() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ball.glb");
    std::fs::write(&path, ball().glb()).unwrap();
    let times = [0.0, 0.2, 0.5, 0.85];
    let clips = ["linear", "step", "spline"];
    let moments: Vec<(&str, f64)> = clips
        .into_iter()
        .flat_map(|clip| times.map(|time| (clip, time)))
        .collect();
    let [ours, theirs] = [true, false].map(|is_ours| pictures(&path, &moments, is_ours));
    for (at, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        let moment = at.checked_sub(1).map(|at| moments[at]);
        assert!(lit(ours) > 5000, "{} pixels of {moment:?}", lit(ours));
        let apart = differences(ours, theirs).max().unwrap();
        assert!(apart <= 2, "{moment:?}: {apart} steps apart");
    }
    // Weights show.
    for moved in &ours[1..] {
        assert!(differences(&ours[0], moved).any(|apart| apart > 20));
    }
}
