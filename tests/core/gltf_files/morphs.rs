//! Morph targets: shapes, names, weights at rest and in animations.

use super::{
    NO_NORMALS,
    file::{File, SHORT, cube, even_times},
    formula::{Reference, error, error_of_clip},
    import, import_with_warnings, open,
};
use crate::messages::{assert_message, assert_messages};
use bevy_marionette::{
    import::{ImportLimits, ImportSettings, Imported, Manifest, open_manifest, open_model},
    internals::{
        import::{open_clips, to_glb},
        model::MorphDelta,
        pose::{ClipLayer, Evaluate, MorphScratch, MorphVertices},
    },
    model::{Model, PlaybackMode},
};
use fastrand::Rng;
use glam::Vec3;
use serde_json::{Value, json};

/// The most that morphed vertices may differ from the specification's, as a share of the model's size.
const BOUND: f64 = 1e-5;

fn vector(random: &mut Rng, size: f32) -> [f32; 3] {
    [0; 3].map(|_| (random.f32() * 2.0 - 1.0) * size)
}

/// Adds a cube with random targets to the scene; returns its node.
fn add_cube(file: &mut File, targets: usize, names: Option<&[&str]>, random: &mut Rng) -> usize {
    let (positions, triangles) = cube(Vec3::from(vector(random, 1.0)), 0.5);
    let corners: Vec<[u16; 1]> = triangles.iter().map(|&v| [v]).collect();
    let normals: Vec<[f32; 3]> = positions
        .iter()
        .map(|_| Vec3::from(vector(random, 1.0)).normalize().to_array())
        .collect();
    let attributes =
        json!({ "POSITION": file.floats(&positions), "NORMAL": file.floats(&normals) });
    let deltas =
        |random: &mut Rng| -> Vec<[f32; 3]> { (0..8).map(|_| vector(random, 0.3)).collect() };
    let targets: Vec<Value> = (0..targets)
        .map(|_| json!({ "POSITION": file.floats(&deltas(random)), "NORMAL": file.floats(&deltas(random)) }))
        .collect();
    let indices = file.shorts(&corners);
    let mut mesh = json!({ "primitives": [{ "attributes": attributes, "indices": indices, "targets": targets }] });
    if let Some(names) = names {
        mesh["extras"] = json!({ "targetNames": names });
    }
    let mesh = file.push("meshes", mesh);
    let node = file.node(
        json!({ "mesh": mesh, "name": format!("cube{mesh}"), "translation": vector(random, 1.0) }),
    );
    file.root(node);
    node
}

fn names(imported: &Imported) -> Vec<&str> {
    imported
        .model
        .skeleton
        .morphs()
        .names()
        .iter()
        .map(|name| &**name)
        .collect()
}

fn weights(random: &mut Rng, count: usize) -> Vec<[f32; 1]> {
    (0..count).map(|_| [random.f32() * 1.5 - 0.25]).collect()
}

#[test]
fn targets_move_vertices_as_the_specification_says_whatever_is_between_keys() {
    let mut random = Rng::with_seed(1);
    for between in ["LINEAR", "STEP", "CUBICSPLINE"] {
        let mut file = File::new();
        let node = add_cube(&mut file, 3, None, &mut random);
        file.json["meshes"][0]["weights"] = json!([0.5, 0.0, 0.25]);
        let times = [0.1, 0.25, 0.3, 1.0, 1.5];
        let per_key = if between == "CUBICSPLINE" { 9 } else { 3 };
        let values = weights(&mut random, times.len() * per_key);
        file.channel("talk", node, "weights", between, &times, &values);
        let (imported, reference) = import(&file, &[]);
        assert_eq!(names(&imported), ["cube0.0", "cube0.1", "cube0.2"]);
        assert_eq!(imported.model.skeleton.morphs().rest(), [0.5, 0.0, 0.25]);
        assert!(error(&reference, &imported, None, None, 0.0) < 1e-6);
        let worst = error_of_clip(&reference, &imported, "talk");
        assert!(worst < BOUND, "{between}: {worst:.1e}");
        let clip = &imported.model.clips[0];
        assert_eq!((clip.timing.duration, clip.animates_morphs()), (1.5, true));
        assert!(!clip.animates(0));
    }
}

#[test]
fn a_node_s_weights_go_before_those_of_its_mesh() {
    let mut random = Rng::with_seed(2);
    let mut file = File::new();
    let node = add_cube(&mut file, 2, Some(&["a", "b"]), &mut random);
    file.json["meshes"][0]["weights"] = json!([1.0, 1.0]);
    file.json["nodes"][node]["weights"] = json!([0.0, 0.75]);
    let (imported, reference) = import(&file, &[]);
    assert_eq!(imported.model.skeleton.morphs().rest(), [0.0, 0.75]);
    assert!(error(&reference, &imported, None, None, 0.0) < 1e-6);
}

#[test]
fn sparse_and_quantized_targets_are_read() {
    let mut random = Rng::with_seed(3);
    let mut file = File::new();
    add_cube(&mut file, 3, None, &mut random);
    // Without a view: only two vertices move.
    let indices = file.view(&[1, 6], None);
    let rows: Vec<u8> = [vector(&mut random, 0.5), vector(&mut random, 0.5)]
        .as_flattened()
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect();
    let values = file.view(&rows, None);
    let sparse = file.push("accessors", json!({
        "componentType": 5126, "count": 8, "type": "VEC3",
        "sparse": { "count": 2, "indices": { "bufferView": indices, "componentType": 5121 }, "values": { "bufferView": values } },
    }));
    let shorts: Vec<u8> = (0..24)
        .flat_map(|_| (random.i16(..)).to_le_bytes())
        .collect();
    let quantized = file.accessor("VEC3", SHORT, 8, &shorts);
    file.json["accessors"][quantized]["normalized"] = true.into();
    let targets = &mut file.json["meshes"][0]["primitives"][0]["targets"];
    targets[0] = json!({ "POSITION": sparse });
    targets[1]["POSITION"] = quantized.into();
    file.json["meshes"][0]["weights"] = json!([0.5, 0.125, 1.0]);
    file.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    let (imported, reference) = import(&file, &[]);
    assert!(error(&reference, &imported, None, None, 0.0) < 1e-6);
    let sparse = &imported.model.parts[0].morphs[0];
    assert!(
        sparse
            .positions
            .iter()
            .filter(|delta| **delta != Vec3::ZERO)
            .count()
            == 2
    );
}

#[test]
fn meshes_share_targets_by_name_unless_the_file_moves_them_apart() {
    let mut random = Rng::with_seed(4);
    let mut file = File::new();
    let face = add_cube(&mut file, 3, Some(&["jaw", "smile", "blink"]), &mut random);
    let teeth = add_cube(&mut file, 2, Some(&["smile", "jaw"]), &mut random);
    let tongue = add_cube(&mut file, 1, Some(&["jaw"]), &mut random);
    let times = even_times(4, 10.0);
    let jaw = weights(&mut random, 4);
    let with = |others: usize, place: usize, random: &mut Rng| -> Vec<[f32; 1]> {
        jaw.iter()
            .flat_map(|jaw| {
                (0..others)
                    .map(|at| if at == place { *jaw } else { [random.f32()] })
                    .collect::<Vec<_>>()
            })
            .collect()
    };
    let values = with(3, 0, &mut random);
    file.channel("talk", face, "weights", "LINEAR", &times, &values);
    // The teeth's smile has weights of its own.
    let values = with(2, 1, &mut random);
    file.channel("talk", teeth, "weights", "LINEAR", &times, &values);
    file.channel("talk", tongue, "weights", "LINEAR", &times, &jaw);
    let (imported, reference) =
        import_with_warnings(&file, "gltf: morph targets that share a name");
    let found = names(&imported);
    assert_eq!(found.len(), 4, "{found:?}");
    assert_eq!(found[..3], ["jaw", "smile", "blink"]);
    let jaws = imported
        .model
        .parts
        .iter()
        .filter(|part| part.morphs.iter().any(|target| target.morph == 0));
    assert_eq!(jaws.count(), 3);
    assert!(error_of_clip(&reference, &imported, "talk") < BOUND);
}

#[test]
fn targets_without_normals_get_those_of_the_shape_they_make() {
    let mut random = Rng::with_seed(5);
    let mut file = File::new();
    add_cube(&mut file, 1, None, &mut random);
    let target = &mut file.json["meshes"][0]["primitives"][0]["targets"][0];
    target.as_object_mut().unwrap().remove("NORMAL");
    let (imported, _) = import(&file, &[]);
    assert!(!imported.model.parts[0].morphs[0].normals.is_empty());
    // Without normals at all, they are flat: exactly those of the moved triangles.
    let attributes = &mut file.json["meshes"][0]["primitives"][0]["attributes"];
    attributes.as_object_mut().unwrap().remove("NORMAL");
    let (imported, _) = import(&file, &[NO_NORMALS]);
    let part = &imported.model.parts[0];
    assert_eq!(part.positions.len(), 36);
    let shape = MorphVertices {
        part,
        weights: &[1.0],
    };
    let (mut positions, mut normals) = (part.positions.clone(), part.normals.clone());
    shape.positions(&mut positions);
    shape.normals(&mut normals);
    for triangle in &part.triangles {
        let [a, b, c] = triangle.map(|vertex| positions[vertex as usize]);
        let normal = (b - a).cross(c - a).normalize();
        for vertex in triangle {
            assert!(normals[*vertex as usize].distance(normal) < 1e-5);
        }
    }
}

#[test]
fn a_written_model_has_its_targets_and_weights_again() {
    let mut random = Rng::with_seed(6);
    let mut file = File::new();
    let face = add_cube(&mut file, 3, Some(&["jaw", "smile", "blink"]), &mut random);
    let teeth = add_cube(&mut file, 1, Some(&["jaw"]), &mut random);
    file.json["meshes"][0]["weights"] = json!([0.0, 0.5, 0.0]);
    let times = [0.0, 0.3, 0.35, 1.0];
    let jaw = weights(&mut random, 4);
    let values: Vec<[f32; 1]> = jaw
        .iter()
        .flat_map(|jaw| [*jaw, [0.5], [random.f32()]])
        .collect();
    file.channel("talk", face, "weights", "LINEAR", &times, &values);
    file.channel("talk", teeth, "weights", "LINEAR", &times, &jaw);
    let jumps = weights(&mut random, 12);
    file.channel("blink", face, "weights", "STEP", &times, &jumps);
    let jaws: Vec<[f32; 1]> = jumps.iter().step_by(3).copied().collect();
    file.channel("blink", teeth, "weights", "STEP", &times, &jaws);
    let (mut imported, _) = import(&file, &[]);
    assert_eq!(names(&imported), ["jaw", "smile", "blink"]);
    // A clip of differences, too.
    let mut additive = imported.model.clips[0]
        .to_additive(&imported.model.skeleton)
        .unwrap();
    additive.timing.name = "more".into();
    imported.model.clips.push(additive);
    let written = to_glb("f.glb", &imported.model, None, |_, _| None).unwrap();
    assert!(written.warnings.is_empty(), "{:?}", written.warnings);
    let again = open(&written.value).unwrap();
    assert_eq!(names(&again), names(&imported));
    assert_eq!(
        again.model.skeleton.morphs(),
        imported.model.skeleton.morphs()
    );
    let (ours, theirs) = (&imported.model, &again.model);
    for (ours, theirs) in ours.parts.iter().zip(&theirs.parts) {
        for (ours, theirs) in ours.morphs.iter().zip(&theirs.morphs) {
            assert_eq!(
                (ours.morph, &ours.vertices),
                (theirs.morph, &theirs.vertices)
            );
            for ((_, a), (_, b)) in ours.iter().zip(theirs.iter()) {
                assert!(
                    a.position.distance(b.position) < 1e-6 && a.normal.distance(b.normal) < 1e-6
                );
            }
        }
    }
    let shown = |model: &Model, clip: usize, time: f64| {
        let layers = [ClipLayer::new(&model.clips[clip], time)];
        let mut scratch = MorphScratch::default();
        let job = Evaluate::new(&model.skeleton, &layers);
        job.run_morphs(&mut scratch).unwrap().to_vec()
    };
    for clip in 0..3 {
        assert_eq!(ours.clips[clip].timing.name, theirs.clips[clip].timing.name);
        assert_eq!(ours.clips[clip].additive, theirs.clips[clip].additive);
        assert_eq!(
            ours.clips[clip].morph_frames().animated,
            theirs.clips[clip].morph_frames().animated
        );
        for time in [0.0, 0.1, 0.299, 0.31, 0.36, 0.7, 1.0] {
            let (ours, theirs) = (shown(ours, clip, time), shown(theirs, clip, time));
            for (a, b) in ours.iter().zip(&theirs) {
                assert!((a - b).abs() < 1e-5, "{clip} {time}: {ours:?} {theirs:?}");
            }
        }
    }
    // And by the formulas.
    let reference = Reference::of_glb(&written.value);
    assert!(error_of_clip(&reference, &again, "talk") < BOUND);
}

#[test]
fn clip_files_move_targets_by_name_and_say_what_the_model_lacks() {
    let mut random = Rng::with_seed(7);
    let mut file = File::new();
    add_cube(&mut file, 2, Some(&["jaw", "smile"]), &mut random);
    let (model, _) = import(&file, &[]);
    let mut other = File::new();
    let node = add_cube(&mut other, 3, Some(&["brow", "smile", "jaw"]), &mut random);
    let values: Vec<[f32; 1]> = [0.0, 0.25, 1.0, 1.0, 0.75, 0.0].map(|w| [w]).to_vec();
    other.channel("talk", node, "weights", "LINEAR", &[0.0, 2.0], &values);
    let settings = ImportSettings::default();
    let clips = open_clips(
        "talk.glb",
        "talk",
        &other.glb(),
        &model.model.skeleton,
        &settings,
    )
    .unwrap();
    assert_messages(
        "gltf: a clip file with a shape that the model lacks",
        &clips.warnings,
    );
    let layers = [ClipLayer::new(&clips.value[0], 1.0)];
    let mut scratch = MorphScratch::default();
    let job = Evaluate::new(&model.model.skeleton, &layers);
    assert_eq!(job.run_morphs(&mut scratch).unwrap(), [0.5, 0.5]);
}

#[test]
fn broken_targets_and_channels_are_refused_or_left_out() {
    let mut random = Rng::with_seed(8);
    let file = || {
        let mut file = File::new();
        let node = add_cube(&mut file, 2, Some(&["a", "b"]), &mut Rng::with_seed(8));
        (file, node)
    };
    let refused = |file: &File| open(&file.glb()).unwrap_err();
    // A target of too few vertices, and one out of range.
    let (mut few, _) = file();
    let rows = few.floats(&[[0.0; 3]; 3]);
    few.json["meshes"][0]["primitives"][0]["targets"][0]["POSITION"] = rows.into();
    assert_message("gltf: a morph target of too few vertices", refused(&few));
    few.json["meshes"][0]["primitives"][0]["targets"][0]["POSITION"] = 999.into();
    assert_message("gltf: a morph target out of range", refused(&few));
    // Not finite: it stays where it is.
    let (mut broken, _) = file();
    let rows = broken.floats(&[[f32::NAN, 0.0, 1e30]; 8]);
    broken.json["meshes"][0]["primitives"][0]["targets"][0] = json!({ "POSITION": rows });
    let (imported, _) = import_with_warnings(&broken, "gltf: a morph target that is not finite");
    assert!(
        imported.model.parts[0]
            .morphs
            .iter()
            .all(|target| target.morph != 0)
    );
    // Too few weights, and weights of a node without targets.
    let (mut channels, node) = file();
    channels.channel(
        "few",
        node,
        "weights",
        "LINEAR",
        &[0.0, 1.0],
        &weights(&mut random, 3),
    );
    let stranger = channels.node(json!({}));
    channels.root(stranger);
    channels.channel(
        "none",
        stranger,
        "weights",
        "LINEAR",
        &[0.0, 1.0],
        &weights(&mut random, 2),
    );
    let (imported, _) = import_with_warnings(&channels, "gltf: odd channels of weights");
    assert!(imported.model.clips.is_empty());
    // Keys in disorder, and weights that are not numbers.
    let (mut disorder, node) = file();
    let values = [[0.0], [0.0], [f32::NAN], [0.0], [1.0], [1.0], [0.5], [0.5]];
    disorder.channel(
        "talk",
        node,
        "weights",
        "LINEAR",
        &[0.0, 0.5, 1.0, 0.75],
        &values,
    );
    let (imported, _) = import_with_warnings(&disorder, "gltf: weights in disorder");
    assert_eq!(imported.model.clips[0].morph_frame_count(), 2);
    // Limits.
    let limits = |limits: ImportLimits| {
        let settings = ImportSettings {
            limits,
            ..ImportSettings::default()
        };
        open_model("f.glb", &file().0.glb(), &settings).unwrap_err()
    };
    let morphs = ImportLimits {
        morphs: 1,
        ..ImportLimits::default()
    };
    assert_message("gltf: limit of morphs", limits(morphs));
    let morph_vertices = ImportLimits {
        morph_vertices: 15,
        ..ImportLimits::default()
    };
    assert_message("gltf: limit of morph_vertices", limits(morph_vertices));
    assert_eq!(MorphDelta::default().position, Vec3::ZERO);
}

#[test]
fn thousands_of_targets_with_channels_or_primitives_as_many_cost_little() {
    let file = |targets: usize, channels: usize, [primitives, nodes]: [usize; 2]| {
        let mut file = File::new();
        let node = add_cube(&mut file, 0, None, &mut Rng::with_seed(8));
        let given = &mut file.json["meshes"][0]["primitives"];
        given[0]["targets"] = vec![json!({}); targets].into();
        let empty = json!({ "attributes": {}, "mode": 0 });
        given.as_array_mut().unwrap().resize(primitives, empty);
        for _ in 1..nodes {
            let copy = file.json["nodes"][node].clone();
            let copy = file.node(copy);
            file.root(copy);
        }
        let none = file.floats::<1>(&[]);
        let target = json!({ "node": node, "path": "weights" });
        file.push(
            "animations",
            json!({
                "samplers": [{ "input": none, "output": none }],
                "channels": vec![json!({ "sampler": 0, "target": target }); channels],
            }),
        );
        file.glb()
    };
    // Channels without keys leave their target to the next one.
    assert!(open(&file(4000, 25_000, [1, 1])).is_ok());
    assert!(open(&file(4000, 1, [25_000, 100])).is_err());
    let error = open(&file(30_000, 15_000, [1, 1])).unwrap_err();
    assert_message("gltf: limit of morphs, with channels", error);
}

#[test]
fn speech_in_a_manifest_is_a_clip_of_the_shapes_that_the_model_has() {
    let mut random = Rng::with_seed(30);
    let mut file = File::new();
    add_cube(&mut file, 3, Some(&["blink", "jawOpen", "oh"]), &mut random);
    let glb = file.glb();
    let read = |_: &str| Ok((&glb[..]).into());
    let open = |clips: &str, limits: &ImportLimits| {
        let text = format!("(model: \"face.glb\", clips: {{ {clips} }})");
        let manifest = Manifest::parse("face", text.as_bytes()).unwrap();
        assert_eq!(
            Manifest::parse("again", manifest.to_ron().unwrap().as_bytes()).as_ref(),
            Ok(&manifest)
        );
        open_manifest("face", &manifest, limits, read).unwrap()
    };
    let text = r#""hello": (
        speech: [(0.5, "sil", 1), (0.25, "oh", 0.5), (0.125, "jawOpen", 1)],
        callbacks: [(time: 0.25, name: "said")],
    )"#;
    let imported = open(text, &ImportLimits::default());
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    let clip = &imported.model.clips[0];
    let timing = &clip.timing;
    assert_eq!((&*timing.name, timing.duration), ("hello", 0.5));
    assert_eq!(timing.playback, PlaybackMode::Once);
    assert_eq!(&*timing.callbacks[0].name, "said");
    let weights = |time: f64| {
        let layers = [ClipLayer::new(clip, time)];
        let job = Evaluate::new(&imported.model.skeleton, &layers);
        job.run_morphs(&mut MorphScratch::default())
            .unwrap()
            .to_vec()
    };
    for (time, expected) in [
        (0.0, [0.0, 0.0, 0.0]),
        (0.125, [0.0, 1.0, 0.0]),
        (0.1875, [0.0, 0.5, 0.25]),
        (0.25, [0.0, 0.0, 0.5]),
        (0.375, [0.0, 0.0, 0.25]),
        (9.0, [0.0, 0.0, 0.0]),
    ] {
        assert_eq!(weights(time), expected, "{time}");
    }
    let odd = r#""odd": (speech: [(0, "jawOpn", 1)])"#;
    let odd = open(odd, &ImportLimits::default()).warnings;
    assert_messages("speech: a shape that the model lacks", odd);
    let small = ImportLimits {
        clip_bytes: 20,
        ..ImportLimits::default()
    };
    let long = r#""long": (speech: [(0, "aa", 1), (1, "oh", 1)])"#;
    assert_messages("speech: limit of clip_bytes", open(long, &small).warnings);
    for wrong in [
        "speech: []",
        "speech: [(-1, \"aa\", 1)]",
        "speech: [(0, \"aa\", inf)]",
        "speech: [(0, \"aa\", 1)], file: \"a.glb\"",
        "speech: [(0, \"aa\", 1)], mirror: \"other\"",
    ] {
        let text = format!("(model: \"face.glb\", clips: {{ \"hello\": ({wrong}) }})");
        let error = Manifest::parse("face", text.as_bytes()).unwrap_err();
        assert_message(&format!("manifest: {wrong}"), error);
    }
}

#[test]
fn a_model_without_morph_targets_says_nothing() {
    let file = super::file::chain(2, json!({ "name": "Armature" })).file;
    let glb = file.glb();
    let text = r#"(model: "mute.glb", clips: { "hello": (speech: [(0, "aa", 1)]) })"#;
    let manifest = Manifest::parse("mute", text.as_bytes()).unwrap();
    let read = |_: &str| Ok((&glb[..]).into());
    let imported = open_manifest("mute", &manifest, &ImportLimits::default(), read).unwrap();
    assert!(imported.model.clips.is_empty());
    let warning = imported.warnings.last().unwrap();
    assert_message("speech: a model without shapes", warning);
}

/// The targets that a speech moves at its shapes, one shape at each second, with their weights.
fn spoken(targets: &[&str], shapes: &[&str]) -> Vec<String> {
    let mut file = File::new();
    add_cube(
        &mut file,
        targets.len(),
        Some(targets),
        &mut Rng::with_seed(30),
    );
    let glb = file.glb();
    let read = |_: &str| Ok((&glb[..]).into());
    let visemes = shapes.iter().enumerate();
    let visemes: Vec<String> = visemes
        .map(|(at, shape)| format!("({at}, {shape:?}, 1)"))
        .collect();
    let text = format!(
        "(model: \"face.glb\", clips: {{ \"hello\": (speech: [{}]) }})",
        visemes.join(", ")
    );
    let manifest = Manifest::parse("face", text.as_bytes()).unwrap();
    let imported = open_manifest("face", &manifest, &ImportLimits::default(), read).unwrap();
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    let shown = |at: usize| {
        let layers = [ClipLayer::new(&imported.model.clips[0], at as f64)];
        let job = Evaluate::new(&imported.model.skeleton, &layers);
        let mut scratch = MorphScratch::default();
        let weights = job.run_morphs(&mut scratch).unwrap();
        let moved = targets.iter().zip(weights).filter(|(_, w)| **w != 0.0);
        let moved: Vec<String> = moved
            .map(|(name, w)| match *w {
                1.0 => (*name).to_owned(),
                w => format!("{name} {w:.2}"),
            })
            .collect();
        moved.join("+")
    };
    (0..shapes.len()).map(shown).collect()
}

const OCULUS: [&str; 15] = [
    "viseme_sil",
    "viseme_PP",
    "viseme_FF",
    "viseme_TH",
    "viseme_DD",
    "viseme_kk",
    "viseme_CH",
    "viseme_SS",
    "viseme_nn",
    "viseme_RR",
    "viseme_aa",
    "viseme_E",
    "viseme_I",
    "viseme_O",
    "viseme_U",
];
const VRCHAT: [&str; 15] = [
    "vrc.v_sil",
    "vrc.v_pp",
    "vrc.v_ff",
    "vrc.v_th",
    "vrc.v_dd",
    "vrc.v_kk",
    "vrc.v_ch",
    "vrc.v_ss",
    "vrc.v_nn",
    "vrc.v_rr",
    "vrc.v_aa",
    "vrc.v_e",
    "vrc.v_ih",
    "vrc.v_oh",
    "vrc.v_ou",
];
const RHUBARB: [&str; 9] = ["A", "B", "C", "D", "E", "F", "G", "H", "X"];

#[test]
fn rhubarbs_letters_are_its_own_shapes_on_every_kind_of_face() {
    let oculus = ["PP", "SS", "E", "aa", "O", "U", "FF", "nn", "sil"];
    assert_eq!(
        spoken(&OCULUS, &RHUBARB),
        oculus.map(|shape| format!("viseme_{shape}"))
    );
    // Without the extended shapes, as Rhubarb writes by default, and in lower case.
    assert_eq!(
        spoken(&OCULUS, &["a", "d", "e", "b", "a"]),
        [
            "viseme_PP",
            "viseme_aa",
            "viseme_O",
            "viseme_SS",
            "viseme_PP"
        ]
    );
    // The first shapes of VRM 0 have names of Rhubarb's, and are others.
    let vrm = ["A", "I", "U", "E", "O"];
    let said = spoken(&vrm, &["X", "A", "D", "E", "A", "X"]);
    assert_eq!(said, ["", "", "A", "O", "", ""]);
    assert_eq!(spoken(&vrm, &["A", "E", "I", "sil"]), ["A", "E", "I", ""]);
    assert_eq!(spoken(&OCULUS, &["A", "E"]), ["viseme_aa", "viseme_E"]);
}

#[test]
fn a_face_made_for_rhubarb_speaks_what_other_tools_write() {
    assert_eq!(spoken(&RHUBARB, &RHUBARB), RHUBARB);
    let visemes = ["viseme_PP", "aa", "E", "oh", "U", "FF", "sil"];
    let letters = ["A", "D", "C", "E", "F", "G", "X"];
    assert_eq!(spoken(&RHUBARB, &visemes), letters);
    let prefixed = RHUBARB.map(|letter| format!("mouth_{letter}"));
    let prefixed = prefixed.each_ref().map(String::as_str);
    assert_eq!(spoken(&prefixed, &RHUBARB), prefixed);
    let all = ["I", "U", "mouth_X", "O", "E", "A", "mouth_A", "mouth_D"];
    assert_eq!(
        spoken(&all, &["sil", "aa", "pp"]),
        ["mouth_X", "A", "mouth_A"]
    );
}

#[test]
fn mouth_shapes_of_each_set_show_on_faces_of_the_others() {
    assert_eq!(spoken(&VRCHAT, &OCULUS), VRCHAT);
    assert_eq!(spoken(&OCULUS, &VRCHAT), OCULUS);
    let mmd = ["あ", "い", "う", "え", "お", "ん"];
    let vrm = ["aa", "ih", "ou", "ee", "oh", "pp"];
    assert_eq!(spoken(&mmd, &vrm), mmd);
    assert_eq!(spoken(&vrm, &mmd), vrm);
    assert_eq!(spoken(&mmd, &["A", "D", "X"]), ["ん", "あ", ""]);
    let ids: Vec<String> = (0..22).map(|id: i32| id.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let shapes = [
        "sil", "aa", "aa", "O", "E", "RR", "I", "U", "O", "aa", "O", "aa", "kk", "RR", "nn", "SS",
        "CH", "TH", "FF", "DD", "kk", "PP",
    ];
    let shapes = shapes.map(|shape| format!("viseme_{shape}"));
    assert_eq!(spoken(&OCULUS, &ids), shapes);
    let named = ids.iter().map(|id| format!("viseme_{id}"));
    let named: Vec<String> = named.collect();
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    assert_eq!(spoken(&OCULUS, &named), shapes);
    let said = spoken(&named, &["sil", "viseme_PP", "U", "CH"]);
    assert_eq!(said, ["viseme_0", "viseme_21", "viseme_7", "viseme_16"]);
    // Numbers of a model's targets are no ids, but what a speech says by number is.
    let numbered = ["0", "1", "2", "aa"];
    assert_eq!(
        spoken(&numbered, &["aa", "oh", "1"]),
        ["aa", "aa 0.40", "1"]
    );
}
