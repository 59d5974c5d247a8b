//! Clips of every kind, at keys and between them.

use super::{
    BOUND, NO_NORMALS,
    file::{chain, even_times, random_turn},
    formula::{error, error_of_clip},
    import, import_with_warnings,
};
use fastrand::Rng;
use serde_json::{Value, json};

#[test]
fn linear_keys_on_a_grid_are_posed_as_the_specification_says() {
    for seed in 0..3 {
        let rng = &mut Rng::with_seed(seed);
        let mut chain = chain(6, json!({ "name": "Armature" }));
        chain.turns("wave", &even_times(25, 24.0), 1.2, rng);
        let times = even_times(13, 12.0);
        let lengths: Vec<[f32; 3]> = times
            .iter()
            .map(|_| [0.2 * rng.f32(), 1.0 + 0.3 * rng.f32(), 0.0])
            .collect();
        chain.file.channel(
            "wave",
            chain.joints[2],
            "translation",
            "LINEAR",
            &times,
            &lengths,
        );
        let scales: Vec<[f32; 3]> = times
            .iter()
            .map(|_| [0.5 + rng.f32(), 0.5 + rng.f32(), 0.5 + rng.f32()])
            .collect();
        chain
            .file
            .channel("wave", chain.joints[3], "scale", "LINEAR", &times, &scales);
        let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
        let error = error_of_clip(&reference, &imported, "wave");
        assert!(error < BOUND, "{error}");
        let clip = &imported.model.clips[0];
        assert!((0..6).all(|joint| clip.animates(joint)) && !clip.unit_scale());
    }
}

#[test]
fn sparse_and_odd_keys_of_every_interpolation_stay_within_the_bound() {
    let rng = &mut Rng::with_seed(3);
    let mut chain = chain(5, json!({ "name": "Armature", "scale": [2.0, 2.0, 2.0] }));
    chain.turns("wide", &[0.0, 0.5, 1.0, 2.0], 1.5, rng);
    chain.turns("odd", &[0.0, 0.337, 0.521, 1.234], 0.6, rng);
    for joint in chain.joints.clone() {
        let times = even_times(4, 2.0);
        let mut rows: Vec<[f32; 4]> = Vec::new();
        let mut lengths: Vec<[f32; 3]> = Vec::new();
        for _ in &times {
            let tangent = |rng: &mut Rng| std::array::from_fn(|_| 2.0 * rng.f32() - 1.0);
            rows.extend([tangent(rng), random_turn(rng, 0.8).to_array(), tangent(rng)]);
            let tangent = |rng: &mut Rng| std::array::from_fn(|_| 2.0 * rng.f32() - 1.0);
            lengths.extend([tangent(rng), [0.0, 1.0, 0.3 * rng.f32()], tangent(rng)]);
        }
        chain
            .file
            .channel("spline", joint, "rotation", "CUBICSPLINE", &times, &rows);
        chain.file.channel(
            "spline",
            joint,
            "translation",
            "CUBICSPLINE",
            &times,
            &lengths,
        );
        let odd = [0.1, 0.3141, 1.7];
        chain.file.channel(
            "odd spline",
            joint,
            "rotation",
            "CUBICSPLINE",
            &odd,
            &rows[..9],
        );
    }
    let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
    for name in ["wide", "odd", "spline", "odd spline"] {
        let clip = imported
            .model
            .clips
            .iter()
            .find(|clip| &*clip.timing.name == name)
            .unwrap();
        assert!(
            clip.frame_count() < 5000,
            "{name}: {} frames",
            clip.frame_count()
        );
        let worst = error_of_clip(&reference, &imported, name);
        assert!(worst < BOUND, "{name}: {worst}");
        // At the keys, and right between frames.
        for time in reference.key_times(reference.animation(name)) {
            assert!(
                clip.frame_times().is_none_or(|times| times.contains(&time)),
                "{name}: no frame at {time}"
            );
        }
        for frame in 1..clip.frame_count() {
            let time = 0.5 * (clip.frame_time(frame - 1) + clip.frame_time(frame));
            let error = error(
                &reference,
                &imported,
                Some(reference.animation(name)),
                Some(clip),
                time,
            );
            assert!(error < BOUND, "{name} at {time}: {error}");
        }
    }
}

#[test]
fn steps_are_exact_at_every_time() {
    let rng = &mut Rng::with_seed(5);
    let mut chain = chain(4, json!({}));
    let (times, odd) = ([0.0, 0.25, 0.5, 1.0], [0.0, 0.2345, 0.7081, 1.0]);
    for (name, steps) in [("grid", times), ("odd", odd)] {
        let turns: Vec<[f32; 4]> = steps
            .iter()
            .map(|_| random_turn(rng, 2.0).to_array())
            .collect();
        chain
            .file
            .channel(name, chain.joints[1], "rotation", "STEP", &steps, &turns);
        let lengths = steps.map(|time| [time, 1.0, 0.0]);
        chain.file.channel(
            name,
            chain.joints[2],
            "translation",
            "STEP",
            &steps,
            &lengths,
        );
        let turns: Vec<[f32; 4]> = times
            .iter()
            .map(|_| random_turn(rng, 0.3).to_array())
            .collect();
        chain
            .file
            .channel(name, chain.joints[0], "rotation", "LINEAR", &times, &turns);
    }
    let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
    for (name, steps) in [("grid", times), ("odd", odd)] {
        let clip = imported
            .model
            .clips
            .iter()
            .find(|clip| &*clip.timing.name == name)
            .unwrap();
        assert!(clip.frame_count() < 40, "{name}: {}", clip.frame_count());
        let frames = clip.frame_times().unwrap();
        assert_eq!(
            frames.windows(2).filter(|pair| pair[0] == pair[1]).count(),
            3,
            "{name}: {frames:?}"
        );
        let steps = steps.map(f64::from);
        let around = steps
            .into_iter()
            .flat_map(|step| [step.next_down(), step, step.next_up()]);
        // At its very end, a loop starts over.
        let times = around
            .chain((0..50).map(|at| f64::from(at) / 50.0))
            .filter(|time| (0.0..1.0).contains(time));
        for time in times {
            let error = error(
                &reference,
                &imported,
                Some(reference.animation(name)),
                Some(clip),
                time,
            );
            assert!(error < BOUND, "{name} at {time}: {error}");
        }
    }
}

#[test]
fn frames_that_extras_claim_are_believed_only_if_the_keys_agree() {
    let rng = &mut Rng::with_seed(6);
    let mut chain = chain(4, json!({}));
    chain.turns("walk", &even_times(9, 8.0), 0.2, rng);
    let frames_of = |claimed: Value, message: Option<&str>| {
        let mut file = chain.file.clone();
        file.json["animations"][0]["extras"] =
            json!({ "marionette": { "duration": 1.0, "frames": claimed } });
        let (imported, reference) = match message {
            Some(name) => import_with_warnings(&file, name),
            None => import(&file, &[NO_NORMALS]),
        };
        let error = error_of_clip(&reference, &imported, "walk");
        assert!(error < BOUND, "{error}");
        let clip = &imported.model.clips[0];
        (clip.frame_count(), clip.frame_times().map(<[f64]>::to_vec))
    };
    let frames = |claimed: Value| frames_of(claimed, None);
    let (count, times) = frames(json!(null));
    assert!(count >= 9 && count % 8 == 1 && times.is_none());
    for lie in [
        json!(1),
        json!(3),
        json!(u64::MAX),
        json!([0.0, 0.5, 1.0]),
        json!([0.0, 1e300]),
        json!([]),
    ] {
        assert_eq!(frames(lie.clone()), (count, None), "{lie}");
    }
    for lie in [json!([0.0, 0.5, 0.25, 1.0]), json!([0.5, 1.0])] {
        assert_eq!(frames(lie.clone()), (count, None), "{lie}");
    }
    for nonsense in [json!(-1), json!("9"), json!([null])] {
        let found = frames_of(
            nonsense.clone(),
            Some(&format!("gltf: {nonsense} as frames")),
        );
        assert_eq!(found, (count, None), "{nonsense}");
    }
    assert_eq!(frames(json!(25)), (25, None));
    let mut odd: Vec<f64> = (0..=32)
        .flat_map(|at| [f64::from(at * at) / 1024.0, f64::from(at) / 32.0])
        .collect();
    odd.sort_by(f64::total_cmp);
    odd.dedup();
    assert_eq!(frames(json!(odd)), (odd.len(), Some(odd)));
}

#[test]
fn quaternions_of_either_sign_take_the_short_way() {
    let rng = &mut Rng::with_seed(8);
    let mut chain = chain(3, json!({}));
    let times = even_times(9, 8.0);
    let turns: Vec<[f32; 4]> = times
        .iter()
        .map(|_| {
            let turn = random_turn(rng, 1.0);
            if rng.bool() { -turn } else { turn }.to_array()
        })
        .collect();
    chain.file.channel(
        "flip",
        chain.joints[1],
        "rotation",
        "LINEAR",
        &times,
        &turns,
    );
    let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
    let error = error_of_clip(&reference, &imported, "flip");
    assert!(error < BOUND, "{error}");
}

#[test]
fn rotations_in_16_and_8_bits_are_shares() {
    let rng = &mut Rng::with_seed(9);
    let mut chain = chain(3, json!({}));
    let times = even_times(9, 8.0);
    let turns: Vec<[f32; 4]> = times
        .iter()
        .map(|_| random_turn(rng, 1.0).to_array())
        .collect();
    chain.file.channel(
        "short",
        chain.joints[1],
        "rotation",
        "LINEAR",
        &times,
        &turns,
    );
    chain.file.channel(
        "byte",
        chain.joints[1],
        "rotation",
        "LINEAR",
        &times,
        &turns,
    );
    let shorts: Vec<u8> = turns
        .as_flattened()
        .iter()
        .flat_map(|c| ((c * 32767.0).round() as i16).to_le_bytes())
        .collect();
    let bytes: Vec<u8> = turns
        .as_flattened()
        .iter()
        .map(|c| (c * 127.0).round() as i8 as u8)
        .collect();
    let file = &mut chain.file;
    let shorts = file.accessor("VEC4", super::file::SHORT, times.len(), &shorts);
    let bytes = file.accessor("VEC4", super::file::BYTE, times.len(), &bytes);
    for (animation, accessor) in [(0, shorts), (1, bytes)] {
        file.json["accessors"][accessor]["normalized"] = true.into();
        file.json["animations"][animation]["samplers"][0]["output"] = accessor.into();
    }
    let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
    for name in ["short", "byte"] {
        let error = error_of_clip(&reference, &imported, name);
        assert!(error < BOUND, "{name}: {error}");
    }
}

#[test]
fn a_clip_of_one_key_is_a_pose_and_one_that_starts_late_holds_its_first_key() {
    let rng = &mut Rng::with_seed(4);
    let mut chain = chain(3, json!({}));
    chain.turns("pose", &[0.0], 1.0, rng);
    chain.turns("late", &[1.0, 1.5, 2.0], 1.0, rng);
    let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
    let [pose, late] = &imported.model.clips[..] else {
        panic!()
    };
    assert_eq!((pose.frame_count(), pose.timing.duration), (1, 0.0));
    assert!(error(&reference, &imported, Some(0), Some(pose), 0.0) < BOUND);
    for time in [0.0, 0.5, 1.25] {
        assert!(error(&reference, &imported, Some(1), Some(late), time) < BOUND);
    }
}

#[test]
fn clips_are_named_numbered_or_said_to_be_empty() {
    let rng = &mut Rng::with_seed(4);
    let mut chain = chain(3, json!({}));
    chain.turns("walk", &[0.0, 1.0], 1.0, rng);
    let clip = chain.file.json["animations"][0].clone();
    for name in [json!("walk"), json!(""), json!(null), json!("Armature|run")] {
        let mut clip = clip.clone();
        clip["name"] = name;
        chain.file.push("animations", clip);
    }
    let mut empty = json!({ "name": "nothing", "channels": [], "samplers": [] });
    chain.file.push("animations", empty.clone());
    let mut weights = clip.clone();
    weights["channels"] =
        json!([{ "sampler": 0, "target": { "node": chain.mesh_node, "path": "weights" } }]);
    weights["name"] = json!("smile");
    chain.file.push("animations", weights);
    empty["name"] = json!(null);
    let (imported, _) = import_with_warnings(&chain.file, "gltf: odd clips");
    let names: Vec<&str> = imported
        .model
        .clips
        .iter()
        .map(|clip| &*clip.timing.name)
        .collect();
    assert_eq!(names, ["walk", "walk.2", "clip2", "clip3", "Armature|run"]);
}

#[test]
fn channels_that_cannot_be_used_are_named_by_their_place() {
    let rng = &mut Rng::with_seed(4);
    let mut chain = chain(3, json!({}));
    chain.turns("walk", &[0.0, 0.5, 0.25, 1.0], 1.0, rng);
    let target = json!({ "node": chain.joints[0], "path": "rotation" });
    let again = json!({ "sampler": 1, "target": target });
    chain.file.json["animations"][0]["channels"]
        .as_array_mut()
        .unwrap()
        .push(again);
    chain.file.json["animations"][0]["samplers"][2]["interpolation"] = json!("CUBICSPLINE");
    let camera = chain.file.node(json!({ "name": "Camera" }));
    chain.file.root(camera);
    chain.file.channel(
        "walk",
        camera,
        "translation",
        "LINEAR",
        &[0.0, 1.0],
        &[[0.0; 3], [1.0; 3]],
    );
    let (imported, _) = import_with_warnings(&chain.file, "gltf: odd channels");
    let clip = &imported.model.clips[0];
    assert_eq!(
        [0, 1, 2].map(|joint| clip.animates(joint)),
        [true, true, false]
    );
}
