//! What a file hides is not drawn: nodes that aren't visible, and all levels of detail but the finest.

use super::{
    file::{File, chain, cube},
    formula::posed,
    open, warnings,
};
use crate::messages::{assert_message, assert_messages};
use bevy_marionette::import::{ImportLimits, Imported, Manifest, open_manifest};
use glam::Vec3;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Adds a mesh of a cube of this half size.
fn mesh(file: &mut File, half: f32) -> usize {
    let (corners, triangles) = cube(Vec3::ZERO, half);
    let normals: Vec<[f32; 3]> = corners
        .iter()
        .map(|&c| Vec3::from(c).normalize().to_array())
        .collect();
    let indices: Vec<[u16; 1]> = triangles.into_iter().map(|v| [v]).collect();
    let (positions, normals) = (file.floats(&corners), file.floats(&normals));
    let indices = file.shorts(&indices);
    let attributes = json!({ "POSITION": positions, "NORMAL": normals });
    file.push(
        "meshes",
        json!({ "primitives": [{ "attributes": attributes, "indices": indices }] }),
    )
}

/// A file with a cube at each of these nodes, which are children of those given, or of the scene.
fn cubes(nodes: &[(&str, Option<usize>, Value)]) -> File {
    let mut file = File::new();
    for (at, (name, parent, extra)) in nodes.iter().enumerate() {
        let mesh = mesh(&mut file, 0.5 + at as f32);
        let mut node = json!({ "name": name, "mesh": mesh });
        for (key, value) in extra.as_object().into_iter().flatten() {
            node[key] = value.clone();
        }
        let node = file.node(node);
        match parent {
            Some(parent) => {
                let parent = &mut file.json["nodes"][*parent];
                if parent["children"].is_null() {
                    parent["children"] = json!([]);
                }
                parent["children"].as_array_mut().unwrap().push(node.into());
            }
            None => file.root(node),
        }
    }
    file
}

fn visible(is_visible: bool) -> Value {
    json!({ "extensions": { "KHR_node_visibility": { "visible": is_visible } } })
}

/// Adds a channel of `KHR_animation_pointer` with steps.
fn animate(file: &mut File, clip: &str, pointer: &str, times: &[f32], values: &[u8]) {
    file.channel(
        clip,
        0,
        "pointer",
        "STEP",
        times,
        &vec![[0.0_f32]; times.len()],
    );
    let rows: Vec<[u8; 1]> = values.iter().map(|&value| [value]).collect();
    let output = file.bytes(&rows);
    let animations = file.json["animations"].as_array_mut().unwrap();
    let animation = animations.iter_mut().find(|a| a["name"] == clip).unwrap();
    let samplers = animation["samplers"].as_array_mut().unwrap();
    samplers.last_mut().unwrap()["output"] = output.into();
    let channels = animation["channels"].as_array_mut().unwrap();
    channels.last_mut().unwrap()["target"] = json!({ "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": pointer } } });
}

fn shown(node: usize) -> String {
    format!("/nodes/{node}/extensions/KHR_node_visibility/visible")
}

fn parts(imported: &Imported) -> Vec<&str> {
    let parts = imported.model.parts.iter();
    parts.map(|part| part.name.as_ref()).collect()
}

fn read(file: &File) -> Imported {
    open(&file.glb()).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns `true` if a part has a size in a clip at a time.
fn is_seen(imported: &Imported, clip: Option<&str>, time: f64, part: &str) -> bool {
    let of_name = |name| {
        let clips = &imported.model.clips;
        clips
            .iter()
            .find(|clip| &*clip.timing.name == name)
            .unwrap()
    };
    let mut alone = imported.clone();
    alone.model.parts.retain(|other| &*other.name == part);
    let places = posed(&alone, clip.map(of_name), time);
    let (low, high) = places.iter().fold(
        (Vec3::INFINITY, Vec3::NEG_INFINITY),
        |(low, high), (_, p)| (low.min(*p), high.max(*p)),
    );
    let size = low.distance(high);
    assert!(
        !(1e-6..=0.5).contains(&size),
        "{part} is {size} large at {time}"
    );
    size > 0.5
}

#[test]
fn a_node_that_is_not_visible_and_all_below_it_are_left_out() {
    let mut file = cubes(&[
        ("body", None, visible(true)),
        ("hat", Some(0), visible(false)),
        ("feather", Some(1), json!({})),
        ("belt", Some(0), json!({})),
    ]);
    file.json["extensionsRequired"] = json!(["KHR_node_visibility"]);
    let imported = read(&file);
    assert_eq!(parts(&imported), ["body", "belt"]);
    assert_messages("gltf: hidden nodes", warnings(&imported));
}

#[test]
fn a_skin_below_hidden_joints_is_drawn_and_one_below_a_hidden_node_is_not() {
    let mut chain = chain(3, json!({ "name": "Armature" }));
    chain.file.json["nodes"][chain.joints[1]]["extensions"] = visible(false)["extensions"].clone();
    assert_eq!(parts(&read(&chain.file)), ["body"]);
    let skin = chain.file.json["nodes"][chain.mesh_node].clone();
    let coat = chain
        .file
        .node(json!({ "name": "coat", "mesh": skin["mesh"], "skin": skin["skin"] }));
    let mut closet = visible(false);
    closet["children"] = json!([coat]);
    let closet = chain.file.node(closet);
    chain.file.root(closet);
    assert_eq!(parts(&read(&chain.file)), ["body"]);
}

#[test]
fn a_file_in_which_everything_is_hidden_is_loaded() {
    let file = cubes(&[("a", None, visible(false)), ("b", Some(0), json!({}))]);
    assert_eq!(parts(&read(&file)), ["a", "b"]);
}

#[test]
fn clips_show_and_hide_nodes_and_all_below_them() {
    let mut file = cubes(&[
        ("body", None, json!({})),
        ("sword", Some(0), visible(false)),
        ("gem", Some(1), json!({ "translation": [0, 3, 0] })),
        ("shield", Some(0), json!({ "scale": [2, 2, 2] })),
        ("hidden", Some(0), visible(false)),
    ]);
    animate(&mut file, "draw", &shown(1), &[0.0, 0.5, 1.0], &[0, 1, 1]);
    animate(&mut file, "draw", &shown(3), &[0.0, 0.25], &[1, 0]);
    file.channel(
        "grow",
        0,
        "translation",
        "LINEAR",
        &[0.0, 1.0],
        &[[0.0_f32; 3], [1.0; 3]],
    );
    file.channel(
        "grow",
        1,
        "scale",
        "LINEAR",
        &[0.0, 1.0],
        &[[1.0_f32; 3], [2.0; 3]],
    );
    file.channel(
        "idle",
        0,
        "translation",
        "LINEAR",
        &[0.0, 1.0],
        &[[0.0_f32; 3], [1.0, 0.0, 0.0]],
    );
    let imported = read(&file);
    assert_eq!(parts(&imported), ["body", "sword", "gem", "shield"]);
    let at = |clip, time| {
        ["body", "sword", "gem", "shield"].map(|part| is_seen(&imported, clip, time, part))
    };
    assert_eq!(at(None, 0.0), [true, false, false, true]);
    assert_eq!(at(Some("idle"), 0.5), [true, false, false, true]);
    assert_eq!(at(Some("grow"), 0.5), [true, false, false, true]);
    assert_eq!(at(Some("draw"), 0.0), [true, false, false, true]);
    assert_eq!(at(Some("draw"), 0.3), [true, false, false, false]);
    assert_eq!(at(Some("draw"), 0.49), [true, false, false, false]);
    assert_eq!(at(Some("draw"), 0.51), [true, true, true, false]);
}

#[test]
fn a_skin_whose_visibility_is_animated_is_named() {
    let mut chain = chain(3, json!({ "name": "Armature" }));
    let node = chain.mesh_node;
    animate(&mut chain.file, "blink", &shown(node), &[0.0, 0.5], &[1, 0]);
    let imported = read(&chain.file);
    assert_eq!(parts(&imported), ["body"]);
    let name = "gltf: animated visibility of a skin";
    assert_messages(name, warnings(&imported));
}

#[test]
fn visibility_that_cannot_be_read_doesnt_refuse_a_file() {
    for odd in [
        json!(4),
        json!({ "visible": "no" }),
        json!([]),
        json!({}),
        json!(null),
    ] {
        let file = cubes(&[(
            "a",
            None,
            json!({ "extensions": { "KHR_node_visibility": odd } }),
        )]);
        assert_eq!(parts(&read(&file)), ["a"]);
    }
    let mut file = cubes(&[("a", None, json!({}))]);
    animate(
        &mut file,
        "odd",
        "/nodes/0/extensions/KHR_node_visibility",
        &[0.0, 0.5],
        &[1, 0],
    );
    file.channel(
        "move",
        0,
        "translation",
        "LINEAR",
        &[0.0, 1.0],
        &[[0.0_f32; 3], [1.0; 3]],
    );
    assert_eq!(read(&file).model.clips.len(), 1);
}

#[test]
fn only_the_finest_level_of_detail_is_drawn() {
    let lists: &[(&[&str], &[&str])] = &[
        (&["body_LOD0", "body_LOD1", "body_LOD2"], &["body_LOD0"]),
        (
            &["body_LOD2", "body_LOD1", "hair_LOD1"],
            &["body_LOD1", "hair_LOD1"],
        ),
        (&["LOD0_Body", "LOD1_Body", "Body"], &["LOD0_Body", "Body"]),
        (&["body.lod-1", "body lod 2"], &["body.lod-1"]),
        (&["body_lod_0", "Body_LOD_1"], &["body_lod_0"]),
        (&["BodyLOD0", "BodyLOD1.001"], &["BodyLOD0"]),
        (&["body_LOD1"], &["body_LOD1"]),
        (
            &["explod1", "explod0", "lodge1", "lodge0"],
            &["explod1", "explod0", "lodge1", "lodge0"],
        ),
        (
            &["a_LOD0", "a_LOD0.001", "a_LOD1"],
            &["a_LOD0", "a_LOD0.001"],
        ),
        (
            &["a_LOD99999999999999999999", "a_LOD0"],
            &["a_LOD99999999999999999999", "a_LOD0"],
        ),
    ];
    for (names, kept) in lists {
        let nodes: Vec<_> = names.iter().map(|name| (*name, None, json!({}))).collect();
        assert_eq!(parts(&read(&cubes(&nodes))), *kept, "{names:?}");
    }
    let imported = read(&cubes(&[
        ("body_LOD0", None, json!({})),
        ("body_LOD1", None, json!({})),
    ]));
    let name = "gltf: levels of detail";
    assert_messages(name, warnings(&imported));
}

#[test]
fn levels_of_detail_may_be_groups() {
    let mut file = File::new();
    for level in 0..3 {
        let mesh = mesh(&mut file, 1.0);
        let head = file.node(json!({ "name": format!("head{level}"), "mesh": mesh }));
        let group = file.node(json!({ "name": format!("LOD{level}"), "children": [head] }));
        file.root(group);
    }
    assert_eq!(parts(&read(&file)), ["head0"]);
}

#[test]
fn levels_of_detail_that_a_node_lists_are_left_out() {
    let lod = |ids: Value| json!({ "extensions": { "MSFT_lod": { "ids": ids } } });
    let file = |first: Value, second: Value| {
        let mut file = cubes(&[
            ("fine", None, lod(first)),
            ("coarse", None, lod(second)),
            ("button", Some(1), json!({})),
        ]);
        file.json["extensionsRequired"] = json!(["MSFT_lod"]);
        file
    };
    assert_eq!(parts(&read(&file(json!([1]), json!([])))), ["fine"]);
    // Nodes that list each other, themselves, what is above them, or nothing that exists.
    assert_eq!(parts(&read(&file(json!([1]), json!([0])))), ["fine"]);
    assert_eq!(
        parts(&read(&file(json!([0, 99]), json!([])))),
        ["fine", "coarse", "button"]
    );
    assert_eq!(
        parts(&read(&file(json!("1"), json!([-1])))),
        ["fine", "coarse", "button"]
    );
    let mut odd = file(json!([]), json!([]));
    odd.json["nodes"][2]["extensions"] = lod(json!([1]))["extensions"].clone();
    assert_eq!(parts(&read(&odd)), ["fine", "coarse", "button"]);
}

#[test]
fn a_manifest_keeps_all_levels_of_detail() {
    let glb = cubes(&[("b_LOD0", None, json!({})), ("b_LOD1", None, json!({}))]).glb();
    let manifest = "(model: \"m.glb\", all_lods: true)";
    let manifest = Manifest::parse("m.character.ron", manifest.as_bytes()).unwrap();
    let read = |_: &str| Ok(Cow::Borrowed(&glb[..]));
    let imported =
        open_manifest("m.character.ron", &manifest, &ImportLimits::default(), read).unwrap();
    assert_eq!(parts(&imported), ["b_LOD0", "b_LOD1"]);
}

#[test]
fn a_manifest_chooses_the_scene() {
    let mut file = cubes(&[("a", None, json!({})), ("b", None, json!({}))]);
    file.json["scenes"] =
        json!([{ "name": "first", "nodes": [0] }, { "nodes": [1] }, { "nodes": [] }]);
    let glb = file.glb();
    let with = |scene: &str| {
        let manifest = format!("(model: \"m.glb\", scene: {scene})");
        let manifest = Manifest::parse("m.character.ron", manifest.as_bytes()).unwrap();
        let read = |_: &str| Ok(Cow::Borrowed(&glb[..]));
        let imported = open_manifest("m.character.ron", &manifest, &ImportLimits::default(), read);
        imported.map(|imported| parts(&imported).join(", "))
    };
    assert_eq!(with("\"first\"").unwrap(), "a");
    assert_eq!(with("0").unwrap(), "a");
    assert_eq!(with("1").unwrap(), "b");
    for wrong in ["\"frist\"", "3", "\"\""] {
        let error = with(wrong).unwrap_err();
        assert_message(&format!("gltf: scene {wrong}"), error);
    }
}

#[test]
fn a_small_file_in_which_one_switch_hides_thousands_of_meshes_is_refused() {
    let mut file = cubes(&[("top", None, json!({}))]);
    let children: Vec<usize> = (0..2000).map(|_| file.node(json!({ "mesh": 0 }))).collect();
    file.json["nodes"][0]["children"] = json!(children);
    let times: Vec<f32> = (0..20_000).map(|at| at as f32).collect();
    let values: Vec<u8> = (0..20_000).map(|at| (at % 2) as u8).collect();
    animate(&mut file, "blink", &shown(0), &times, &values);
    // With a mesh of its own, one joint would hide all others.
    file.json["nodes"][0]
        .as_object_mut()
        .unwrap()
        .remove("mesh");
    assert_message(
        "gltf: one switch of many meshes",
        open(&file.glb()).unwrap_err(),
    );
}
