//! Pictures of morphing meshes, beside those of Bevy's own loader.

use super::{
    gltf_file::File,
    harness::Harness,
    offscreen::picture::{differences, lit},
};
use bevy::{gltf::Gltf, prelude::*};
use bevy_marionette::{asset::Character, prelude::*};
use fastrand::Rng;
use image::RgbaImage;
use serde_json::{Value, json};
use std::{f32::consts::PI, path::Path, time::Duration};

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
    let positions = file.floats(&rows(&|p| p * 0.8));
    // Bevy's loader requires them.
    file.json["accessors"][positions]["min"] = json!([-0.8, -0.8, -0.8]);
    file.json["accessors"][positions]["max"] = json!([0.8, 0.8, 0.8]);
    let attributes = json!({
        "POSITION": positions,
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
    // No spline: between keys, bevy_animation 0.19 takes the tangent of the second key for its value, and at keys it panics. The
    // tests of the core compare splines with the specification's formula.
    for (name, between) in [("linear", "LINEAR"), ("step", "STEP")] {
        let weights: Vec<[f32; 1]> = (0..9).map(|_| [random.f32()]).collect();
        file.channel(name, node, "weights", between, &[0.0, 0.5, 1.0], &weights);
    }
    file
}

/// Loads a file that may be anywhere.
fn load<A: Asset>(harness: &mut Harness, path: &Path) -> Handle<A> {
    let server = harness.world().resource::<AssetServer>().clone();
    let handle = server.load::<A>(path.to_owned());
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
            controller.current_track_mut().unwrap().seek(time);
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
    let moments: Vec<(&str, f64)> = ["linear", "step"]
        .into_iter()
        .flat_map(|clip| [0.0, 0.2, 0.5, 0.85].map(|time| (clip, time)))
        .collect();
    let [ours, theirs] = [true, false].map(|is_ours| pictures(&path, &moments, is_ours));
    for (at, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        let moment = at.checked_sub(1).map(|at| moments[at]);
        assert!(lit(ours) > 3000, "{} pixels of {moment:?}", lit(ours));
        let apart = differences(ours, theirs).max().unwrap();
        assert!(apart <= 2, "{moment:?}: {apart} steps apart");
    }
    // Weights show.
    for moved in &ours[1..] {
        assert!(differences(&ours[0], moved).any(|apart| apart > 20));
    }
}
