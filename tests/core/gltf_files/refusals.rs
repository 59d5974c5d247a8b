//! What is refused, in which words; and files that were damaged or made to do harm.

use super::{
    file::{Chain, File, chain, even_times},
    open,
};
use crate::{fuzz::checks, messages::assert_message};
use bevy_marionette::import::{ImportLimits, ImportSettings, open_model};
use fastrand::Rng;
use serde_json::{Value, json};

fn walker() -> Chain {
    let mut chain = chain(3, json!({ "name": "Armature" }));
    chain.turns("walk", &even_times(5, 4.0), 1.0, &mut Rng::with_seed(6));
    chain
}

fn error(file: &File) -> String {
    open(&file.glb()).err().map_or_else(
        || panic!("{} was imported", file.json),
        |error| error.to_string(),
    )
}

#[test]
fn each_contradiction_is_an_error_at_its_place() {
    let chain = walker();
    let [first, second, third] = chain.joints[..] else {
        panic!()
    };
    let list = |path: &str| format!("/{}", path.replace(['.', '['], "/").replace(']', ""));
    let cases: &[(String, Value)] = &[
        (format!("nodes[{third}].children"), json!([first])),
        (format!("nodes[{second}].children"), json!([99])),
        (format!("nodes[{first}].translation"), json!([1e39, 0, 0])),
        ("scene".into(), json!(4)),
        (format!("nodes[{}].mesh", chain.mesh_node), json!(7)),
        (format!("nodes[{}].skin", chain.mesh_node), json!(7)),
        ("skins[0].joints[1]".into(), json!(400)),
        ("skins[0].joints".into(), json!([])),
        ("skins[0].inverseBindMatrices".into(), json!(1)),
        (
            "meshes[0].primitives[0].attributes.POSITION".into(),
            json!(77),
        ),
        ("meshes[0].primitives[0].indices".into(), json!(1)),
        ("meshes[0].primitives[0].mode".into(), json!(9)),
        ("accessors[1].count".into(), json!(1u64 << 60)),
        ("accessors[1].count".into(), json!(25)),
        ("accessors[1].byteOffset".into(), json!(u64::MAX)),
        ("accessors[1].bufferView".into(), json!(55)),
        ("accessors[1].componentType".into(), json!(1)),
        ("bufferViews[1].byteStride".into(), json!(4)),
        ("bufferViews[1].byteOffset".into(), json!(1 << 20)),
        ("bufferViews[1].buffer".into(), json!(3)),
        ("accessors[3].count".into(), json!(4)),
        ("buffers[0].byteLength".into(), json!(1 << 20)),
        ("animations[0].channels[2].target.node".into(), json!(70)),
        ("animations[0].channels[1].sampler".into(), json!(70)),
        ("asset.version".into(), json!("1.0")),
        (
            "extensionsRequired".into(),
            json!(["KHR_materials_unlit", "XY_new"]),
        ),
        ("scenes".into(), json!([{ "nodes": [] }])),
    ];
    for (path, value) in cases {
        let mut file = chain.file.clone();
        let pointer = list(path);
        match file.json.pointer_mut(&pointer) {
            Some(slot) => *slot = value.clone(),
            None => {
                let (parent, key) = pointer.rsplit_once('/').unwrap();
                file.json.pointer_mut(parent).unwrap()[key] = value.clone();
            }
        }
        if path == "scenes" {
            file.json["animations"] = json!([]);
            file.json["skins"] = json!([]);
            file.json["nodes"][chain.mesh_node] = json!({});
        }
        assert_message(&format!("gltf: {path} = {value}"), error(&file));
    }
    let mut ring = chain.file.clone();
    ring.json["nodes"][third]["children"] = json!([chain.armature]);
    assert_message("gltf: nodes in a ring", error(&ring));
}

#[test]
fn a_view_that_is_only_there_compressed_says_what_is_wrong_with_that() {
    let mut file = walker().file;
    let fallback = file.push(
        "buffers",
        json!({ "byteLength": 1000, "extensions": { "EXT_meshopt_compression": { "fallback": true } } }),
    );
    file.json["bufferViews"][1]["buffer"] = fallback.into();
    file.json["bufferViews"][1]["extensions"] = json!({ "EXT_meshopt_compression": {} });
    assert_message("gltf: EXT_meshopt_compression without fields", error(&file));
}

#[test]
fn weights_of_a_mesh_without_vertices_dont_make_a_model() {
    let file = File {
        json: json!({
            "asset": { "version": "2.0" },
            "scenes": [{ "nodes": [0] }],
            "nodes": [{ "mesh": 0, "skin": 0 }],
            "skins": [{ "joints": [] }],
            "meshes": [{ "primitives": [{ "attributes": {}, "targets": [{}] }] }],
            "accessors": [{ "componentType": 5126, "count": 1, "type": "SCALAR" }],
            "animations": [{
                "samplers": [{ "input": 0, "output": 0 }],
                "channels": [{ "sampler": 0, "target": { "node": 0, "path": "weights" } }],
            }],
        }),
        bin: Vec::new(),
    };
    assert_message("gltf: weights of a mesh without vertices", error(&file));
}

#[test]
fn damaged_containers_are_named() {
    let glb = walker().file.glb();
    let said = |bytes: &[u8]| open(bytes).unwrap_err().to_string();
    for (what, bytes) in [
        ("a cut header", &glb[..10]),
        ("cut chunks", &glb[..glb.len() - 5]),
        ("version 1", b"glTF\x01\0\0\0\x0c\0\0\0"),
        ("no JSON chunk", b"glTF\x02\0\0\0\x0c\0\0\0"),
        ("an empty file", b""),
        ("a PNG image", b"\x89PNG\r\n\x1a\n"),
        ("a binary FBX file", b"Kaydara FBX Binary  \0"),
        ("an MD5 file", b"MD5Version 10\n"),
    ] {
        assert_message(&format!("gltf: {what}"), said(bytes));
    }
    let text = |text: &str| {
        open_model("f.gltf", text.as_bytes(), &ImportSettings::default())
            .unwrap_err()
            .to_string()
    };
    let error = text("{ \"asset\": {\"version\": \"2.0\"},\n  \"nodes\": [{\"mesh\": -1}] }");
    assert_message("gltf: a negative mesh", error);
    let cut = text("{ \"asset\": {\"version\": \"2.0\"}, ");
    assert_message("gltf: cut JSON", cut);
    let mut wrong = glb.clone();
    wrong[20] = b'!';
    assert_message("gltf: JSON that starts with !", said(&wrong));
}

#[test]
fn limits_apply_before_memory_is_taken() {
    let file = walker().file;
    for (name, most) in [
        ("joints", 2),
        ("vertices", 20),
        ("triangles", 10),
        ("influences", 3),
        ("clips", 0),
        ("clip_seconds", 0),
        ("file_bytes", 99),
    ] {
        let mut settings = ImportSettings::default();
        assert!(settings.limits.set(name, most));
        let error = open_model("f.glb", &file.glb(), &settings).unwrap_err();
        assert_message(&format!("gltf: limit of {name}"), error);
    }
    let mut settings = ImportSettings::default();
    settings.limits = ImportLimits {
        file_bytes: 100 + file.gltf("b.bin").len() as u64,
        ..settings.limits
    };
    let read = |_: &str| Ok(std::borrow::Cow::Owned(vec![0; 1 << 20]));
    let error = bevy_marionette::internals::import::open_model_with(
        "f.gltf",
        &file.gltf("b.bin"),
        &settings,
        read,
    )
    .unwrap_err();
    assert_message("gltf: limit of file_bytes, with a buffer in a file", error);
}

#[test]
fn small_files_that_claim_to_be_huge_are_refused_quickly() {
    // Zeros without data.
    let mut file = walker().file;
    file.json["accessors"][1] = json!({ "count": 4_000_000, "componentType": 5126, "type": "VEC3",
        "sparse": { "count": 0, "indices": { "bufferView": 0, "componentType": 5125 }, "values": { "bufferView": 0 } } });
    assert_message("gltf: zeros without data", error(&file));
    // The same mesh a hundred thousand times.
    let mut file = walker().file;
    let primitive = file.json["meshes"][0]["primitives"][0].clone();
    file.json["meshes"][0]["primitives"] = vec![primitive; 60_000].into();
    let node = file.json["nodes"][4].clone();
    for _ in 0..100 {
        let node = file.node(node.clone());
        file.root(node);
    }
    assert_message("gltf: a mesh many times", error(&file));
    // Objects of two bytes.
    let mut text = b"{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{}".to_vec();
    text.extend(b",{}".repeat(1 << 20));
    text.extend(b"]}");
    let error = open_model("f.gltf", &text, &ImportSettings::default()).unwrap_err();
    assert_message("gltf: a million empty nodes", error);
    // A long chain of nodes, one below the other.
    let mut file = File::new();
    for at in 0..60_000 {
        file.node(json!({ "children": [at + 1], "camera": 12, "name": "a node with a long name" }));
    }
    file.node(json!({}));
    file.root(0);
    assert!(open(&file.glb()).is_err());
}

#[test]
fn two_keys_a_year_apart_cost_little() {
    let mut chain = chain(3, json!({}));
    chain.turns("wait", &[0.0, 0.001, 80_000.0], 1.0, &mut Rng::with_seed(6));
    match open(&chain.file.glb()) {
        Ok(imported) => assert!(
            imported
                .model
                .clips
                .iter()
                .map(|clip| clip.bytes())
                .sum::<usize>()
                < 64 << 20
        ),
        Err(error) => panic!("{error}"),
    }
}

/// Replaces a value somewhere in a document by one that doesn't belong there.
fn corrupt(document: &mut Value, rng: &mut Rng) {
    fn paths(value: &Value, path: String, out: &mut Vec<String>) {
        match value {
            Value::Object(map) => map
                .iter()
                .for_each(|(key, value)| paths(value, format!("{path}/{key}"), out)),
            Value::Array(list) => list
                .iter()
                .enumerate()
                .for_each(|(at, value)| paths(value, format!("{path}/{at}"), out)),
            _ => {}
        }
        out.push(path);
    }
    let mut all = Vec::new();
    paths(document, String::new(), &mut all);
    let (path, other) = (&all[rng.usize(..all.len())], &all[rng.usize(..all.len())]);
    let odd = [
        json!(0),
        json!(1),
        json!(2),
        json!(3),
        json!(-1),
        json!(255),
        json!(65536),
        json!(4294967295u32),
        json!(u64::MAX),
        json!(1e39),
        json!(1e30),
        json!(-1e18),
        json!(1e-30),
        json!(0.1),
        json!(null),
        json!(true),
        json!(""),
        json!([]),
        json!({}),
        json!("CUBICSPLINE"),
        json!("STEP"),
        json!("scale"),
        json!("VEC4"),
        json!(5121),
        json!(5123),
        json!(5125),
        json!(5126),
        json!([0.0, 0.0, 0.0]),
        json!([1e20, -1.0, 1.0]),
        json!([0.0, 0.0, 0.0, 0.0]),
    ];
    let new = if rng.u8(..4) == 0 {
        document.pointer(other).unwrap().clone()
    } else {
        odd[rng.usize(..odd.len())].clone()
    };
    // Copies of copies grow.
    if new.to_string().len() < 4000 {
        *document.pointer_mut(path).unwrap() = new;
    }
}

#[test]
fn documents_with_values_that_dont_belong_there_never_break_a_promise() {
    let rng = &mut Rng::with_seed(12);
    for _ in 0..300 {
        let mut file = walker().file;
        for _ in 0..rng.usize(1..5) {
            corrupt(&mut file.json, rng);
        }
        checks::gltf(&file.glb());
    }
}

#[test]
fn damaged_files_never_break_a_promise() {
    let rng = &mut Rng::with_seed(11);
    let chain = walker();
    let (binary, text) = (chain.file.glb(), chain.file.gltf_with_data());
    for _ in 0..400 {
        let mut bytes = if rng.bool() {
            binary.clone()
        } else {
            text.clone()
        };
        for _ in 0..rng.usize(1..6) {
            let at = rng.usize(..bytes.len());
            match rng.u8(..4) {
                0 => bytes[at] = rng.u8(..),
                1 => bytes[at] = b"0123456789-[]{},\""[rng.usize(..17)],
                2 => bytes.truncate(at.max(40)),
                _ => {
                    let from = rng.usize(..bytes.len());
                    bytes[at] = bytes[from];
                }
            }
        }
        checks::gltf(&bytes);
    }
}
