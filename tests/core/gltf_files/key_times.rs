//! How long clips last, and what happens at the times of their keys.

use super::{
    BOUND, NO_NORMALS,
    file::{File, chain, even_times, random_turn},
    formula::{Reference, error},
    import, import_with_warnings, open, variants, warnings,
};
use crate::messages::assert_messages;
use fastrand::Rng;
use glam::{Quat, Vec3};
use serde_json::json;

#[test]
fn a_clip_lasts_to_its_last_key_of_any_channel() {
    for seed in variants(60) {
        let rng = &mut Rng::with_seed(seed);
        let mut chain = chain(3, json!({}));
        chain.turns("talk", &[0.0, 0.5, 1.0], 0.8, rng);
        let stranger = chain.file.node(json!({ "name": "Camera" }));
        chain.file.root(stranger);
        let mut longest = 1.0_f32;
        for _ in 0..rng.usize(1..4) {
            let end = 0.5 + 4.0 * rng.f32();
            longest = longest.max(end);
            let times = [0.0, end];
            match rng.u8(..5) {
                0 => chain.file.channel(
                    "talk",
                    stranger,
                    "translation",
                    "LINEAR",
                    &times,
                    &[[0.0; 3], [1.0; 3]],
                ),
                1 => chain.file.channel(
                    "talk",
                    chain.mesh_node,
                    "weights",
                    "STEP",
                    &times,
                    &[[0.0], [1.0]],
                ),
                2 => chain.file.channel(
                    "talk",
                    stranger,
                    "pointer",
                    "LINEAR",
                    &times,
                    &[[0.0; 3], [1.0; 3]],
                ),
                // The same target twice.
                3 => chain.file.channel(
                    "talk",
                    chain.joints[1],
                    "rotation",
                    "LINEAR",
                    &times,
                    &[[0.0, 0.0, 0.0, 1.0]; 2],
                ),
                // Values are missing.
                _ => chain.file.channel(
                    "talk",
                    chain.joints[1],
                    "scale",
                    "CUBICSPLINE",
                    &times,
                    &[[1.0; 3]; 2],
                ),
            }
        }
        let imported = open(&chain.file.glb()).unwrap();
        let clip = &imported.model.clips[0];
        assert_eq!(clip.timing.duration, f64::from(longest), "{seed}");
        let mut joints_only = chain.file.clone();
        joints_only.json["animations"][0]["channels"]
            .as_array_mut()
            .unwrap()
            .truncate(3);
        let reference = Reference::new(joints_only.json, joints_only.bin);
        for time in [
            0.0,
            0.3,
            0.99,
            1.0,
            0.5 + 0.5 * f64::from(longest),
            f64::from(longest),
        ] {
            let error = error(&reference, &imported, Some(0), Some(clip), time);
            assert!(error < BOUND, "{seed} at {time}: {error}");
        }
    }
}

#[test]
fn numbers_that_are_no_times_make_no_clip_longer() {
    let mut chain = chain(3, json!({}));
    chain.turns("talk", &[0.0, 1.0], 0.8, &mut Rng::with_seed(1));
    let camera = chain.file.node(json!({ "name": "Camera" }));
    let times = [f32::NAN, -2.0, f32::INFINITY];
    chain.file.channel(
        "talk",
        camera,
        "translation",
        "LINEAR",
        &times,
        &[[0.0; 3]; 3],
    );
    let (imported, _) = import_with_warnings(&chain.file, "gltf: a channel of a camera");
    assert_eq!(imported.model.clips[0].timing.duration, 1.0);
}

#[test]
fn two_keys_at_one_time_are_a_jump() {
    let turned = |degrees: f32| Quat::from_rotation_z(degrees.to_radians()).to_array();
    let mut chain = chain(3, json!({}));
    let turns = [0.0, 10.0, 80.0, 90.0].map(turned);
    chain.file.channel(
        "jump",
        chain.joints[1],
        "rotation",
        "LINEAR",
        &[0.0, 1.0, 1.0, 2.0],
        &turns,
    );
    let (imported, _) = import(&chain.file, &[NO_NORMALS]);
    let (skeleton, clip) = (&imported.model.skeleton, &imported.model.clips[0]);
    for (time, degrees) in [
        (0.5, 5.0),
        (1.0_f64.next_down().next_down(), 10.0),
        (1.0, 80.0),
        (1.5, 85.0),
        (2.0, 90.0),
    ] {
        let mut scratch = bevy_marionette::internals::pose::Scratch::default();
        let layers = [bevy_marionette::internals::pose::ClipLayer::new(clip, time)];
        bevy_marionette::internals::pose::Evaluate::new(skeleton, &layers).run(&mut scratch);
        let got = scratch
            .joint(1)
            .unwrap()
            .rotation
            .angle_between(Quat::IDENTITY)
            .to_degrees();
        assert!(
            (got - degrees).abs() < 0.1,
            "at {time}: {got}° instead of {degrees}°"
        );
    }
}

#[test]
fn of_keys_at_one_time_the_last_counts_from_then_on_in_every_interpolation() {
    for seed in variants(150) {
        let rng = &mut Rng::with_seed(seed);
        let mut chain = chain(3, json!({}));
        let mut moments: Vec<f64> = Vec::new();
        for channel in 0..rng.usize(1..4) {
            // Up to three at the first time, in between, and at the last.
            let mut times: Vec<f32> = Vec::new();
            let first = if rng.bool() { 0.0 } else { 0.25 };
            for key in 0..4 {
                let time = if key == 3 {
                    2.0
                } else {
                    first + 0.5 * key as f32
                };
                times.extend(std::iter::repeat_n(time, rng.usize(1..4)));
            }
            moments.extend(times.iter().map(|&time| f64::from(time)));
            let between = *rng.choice(&["LINEAR", "STEP", "CUBICSPLINE"]).unwrap();
            let count = times.len() * if between == "CUBICSPLINE" { 3 } else { 1 };
            let joint = chain.joints[channel];
            if rng.bool() {
                let turns: Vec<[f32; 4]> = (0..count)
                    .map(|_| random_turn(rng, 1.0).to_array())
                    .collect();
                chain
                    .file
                    .channel("jump", joint, "rotation", between, &times, &turns);
            } else {
                let path = if rng.bool() { "translation" } else { "scale" };
                let rows: Vec<[f32; 3]> = (0..count)
                    .map(|_| std::array::from_fn(|_| 0.5 + rng.f32()))
                    .collect();
                chain
                    .file
                    .channel("jump", joint, path, between, &times, &rows);
            }
        }
        let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
        let clip = &imported.model.clips[0];
        assert_eq!(clip.timing.duration, 2.0);
        moments.retain(|&moment| moment > 0.0);
        let before = moments.iter().map(|moment| moment - 1e-9);
        let times = before
            .chain([0.0, 2.0])
            .chain(moments.iter().copied())
            .chain((0..60).map(|_| 2.0 * rng.f64()));
        for time in times {
            let error = error(&reference, &imported, Some(0), Some(clip), time);
            // What splines are off by is estimated.
            assert!(error < 1.5 * BOUND, "{seed} at {time}: {error}");
        }
    }
}

/// Chains in which each joint has keys at times of its own, and each of them is a random turn away from the one before, or
/// from a smooth movement.
fn scattered(chains: usize, keys: usize, between: &str, smooth: bool, rng: &mut Rng) -> File {
    let mut chain = chain(6, json!({}));
    for at in 0..chains {
        let joint = chain
            .file
            .node(json!({ "name": format!("s{at}"), "translation": [0.1, 0.1, 0.0] }));
        let parent = if at % 5 == 0 {
            chain.joints[5]
        } else {
            joint - 1
        };
        let children = chain.file.json["nodes"][parent]["children"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        chain.file.json["nodes"][parent]["children"] =
            children.into_iter().chain([json!(joint)]).collect();
        let mut time = 0.0;
        let mut times: Vec<f32> = Vec::new();
        for _ in 0..keys {
            time += 0.2 + 0.8 * rng.f32();
            times.push(time);
        }
        times.iter_mut().for_each(|t| *t *= 5.0 / time);
        let turn = |time: f32| Quat::from_rotation_z(0.3 * (2.0 * time + at as f32).sin());
        let turns: Vec<[f32; 4]> = times
            .iter()
            .map(|&time| {
                if smooth {
                    turn(time)
                } else {
                    random_turn(rng, 0.1)
                }
                .to_array()
            })
            .collect();
        chain
            .file
            .channel("dance", joint, "rotation", between, &times, &turns);
    }
    chain.file
}

#[test]
fn a_clip_with_keys_at_times_of_their_own_is_sampled_as_closely_as_it_says() {
    let rng = &mut Rng::with_seed(1);
    for (between, smooth) in [("LINEAR", true), ("LINEAR", false), ("STEP", false)] {
        let mut file = scattered(200, 30, between, smooth, rng);
        // Twice, so that one doesn't take the other's share.
        let mut again = file.json["animations"][0].clone();
        again["name"] = json!("again");
        file.push("animations", again);
        let imported = open(&file.glb()).unwrap();
        let reference = Reference::new(file.json.clone(), file.bin.clone());
        assert_eq!(
            imported.model.clips.len(),
            2,
            "{between}: {:?}",
            imported.warnings
        );
        let mut transforms = 0;
        for clip in &imported.model.clips {
            let name = &*clip.timing.name;
            let joints = imported.model.skeleton.len();
            assert!((clip.timing.duration - 5.0).abs() < 1e-5);
            transforms += clip.frame_count() * joints;
            let said = warnings(&imported);
            let said = said.iter().map(|warning| &*warning.message);
            let said = said.filter(|said| said.contains(&format!("`{name}`")));
            let said: Vec<&str> = said.collect();
            let inexact = said.iter().find(|said| said.contains(" % "));
            assert_eq!(inexact.is_some(), !smooth, "{between}: {said:?}");
            if !smooth {
                assert_messages(
                    &format!("gltf: {between} keys of `{name}` at many times"),
                    &said,
                );
            }
            // Each chain of five turns around its first joint, at the end of a body that stands still.
            let share = inexact.map_or(BOUND, |said| {
                let words: Vec<&str> = said.split(' ').collect();
                let at = words.iter().position(|word| *word == "%").unwrap();
                words[at - 1].parse::<f64>().unwrap() / 100.0 + 1e-5
            });
            if between == "STEP" {
                continue;
            }
            let error = worst_of_joints(&reference, &imported, name, &file);
            assert!(
                error <= 1.1 * share,
                "{between} {smooth}: off by {error}, said {share}"
            );
        }
        // A step counts as two keys.
        assert!(
            transforms <= 128 * 2 * 12000,
            "{between}: {transforms} transforms"
        );
    }
}

/// The largest distance of a joint from where the specification puts it, as a share of the size of the model.
fn worst_of_joints(
    reference: &Reference,
    imported: &bevy_marionette::import::Imported,
    name: &str,
    file: &File,
) -> f64 {
    let model = &imported.model;
    let clip = model
        .clips
        .iter()
        .find(|clip| &*clip.timing.name == name)
        .unwrap();
    let at_rest: Vec<Vec3> = model
        .skeleton
        .rest_model()
        .iter()
        .map(|joint| joint.translation.into())
        .collect();
    let (low, high) = at_rest
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), p| {
            (a.min(*p), b.max(*p))
        });
    let mut worst = 0.0_f64;
    for at in 0..25 {
        let time = 5.0 * (f64::from(at) + 0.377) / 25.0;
        let mut scratch = bevy_marionette::internals::pose::Scratch::default();
        let layers = [bevy_marionette::internals::pose::ClipLayer::new(clip, time)];
        bevy_marionette::internals::pose::Evaluate::new(&model.skeleton, &layers).run(&mut scratch);
        for (node, contents) in file.json["nodes"].as_array().unwrap().iter().enumerate() {
            let Some(joint) = model
                .skeleton
                .joint(contents["name"].as_str().unwrap_or_default())
            else {
                continue;
            };
            let expected = reference.global(node, Some(0), time).w_axis.truncate()
                * glam::DVec3::new(-1.0, 1.0, -1.0);
            let got = glam::Vec3::from(scratch.model()[usize::from(joint)].translation).as_dvec3();
            worst = worst.max(got.distance(expected));
        }
    }
    worst / f64::from((high - low).length())
}

#[test]
fn a_small_file_takes_little_memory_however_its_keys_are_scattered() {
    // Two keys each of a thousand joints, at times of their own, in as many clips as it takes.
    let rng = &mut Rng::with_seed(2);
    let mut file = File::new();
    let mut joints = Vec::new();
    for at in 0..1000 {
        let joint = file.node(json!({ "name": format!("j{at}") }));
        file.root(joint);
        joints.push(joint);
    }
    for clip in 0..40 {
        for &joint in &joints[..40] {
            let times = [rng.f32(), 1.0 + rng.f32()];
            let rows = [[0.0; 3], [1.0, rng.f32(), 0.0]];
            file.channel(
                &format!("c{clip}"),
                joint,
                "translation",
                "LINEAR",
                &times,
                &rows,
            );
        }
    }
    let glb = file.glb();
    let imported = open(&glb).unwrap();
    assert!(!imported.model.clips.is_empty());
    let transforms: usize = imported
        .model
        .clips
        .iter()
        .map(|clip| clip.frame_count() * imported.model.skeleton.len())
        .sum();
    assert!(
        transforms <= (1 << 16) + 128 * 40 * 80,
        "{transforms} transforms of {} bytes",
        glb.len()
    );
}

#[test]
fn few_steps_in_a_scattered_clip_stay_steps() {
    let rng = &mut Rng::with_seed(3);
    let mut file = scattered(200, 30, "LINEAR", true, rng);
    let joint = file.json["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .position(|node| node["name"] == "j3")
        .unwrap();
    let rows: Vec<[f32; 3]> = (0..6).map(|at| [0.0, 1.0 + 0.1 * at as f32, 0.0]).collect();
    file.channel(
        "dance",
        joint,
        "translation",
        "STEP",
        &even_times(6, 1.3),
        &rows,
    );
    let imported = open(&file.glb()).unwrap();
    let reference = Reference::new(file.json.clone(), file.bin.clone());
    let clip = &imported.model.clips[0];
    // Not that steps take time.
    assert_messages("gltf: few steps at many times", warnings(&imported));
    for at in 1..5 {
        let step = f64::from(at as f32 / 1.3);
        for time in [step - 1e-7, step, step + 1e-7] {
            let error = error(&reference, &imported, Some(0), Some(clip), time);
            assert!(error < BOUND, "at {time}: {error}");
        }
    }
}

#[test]
fn skeletons_of_a_hundred_joints_get_a_frame_at_each_key() {
    let rng = &mut Rng::with_seed(4);
    let file = scattered(100, 20, "LINEAR", false, rng);
    let imported = open(&file.glb()).unwrap();
    let reference = Reference::new(file.json.clone(), file.bin.clone());
    let error = worst_of_joints(&reference, &imported, "dance", &file);
    assert!(error < BOUND, "{error}");
}
