//! What is refused, in which words; and files that were damaged or made to do harm.

use super::{
    file::{Chain, File, chain, even_times},
    open,
};
use crate::fuzz::checks;
use bevy_marionette::import::{ImportSettings, Limits, open_model};
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
    let cases: &[(String, Value, &str, &str)] = &[
        (
            format!("nodes[{third}].children"),
            json!([first]),
            "two parents",
            "children[0]",
        ),
        (
            format!("nodes[{second}].children"),
            json!([99]),
            "node 99 is out of range",
            "children[0]",
        ),
        (
            format!("nodes[{first}].translation"),
            json!([1e39, 0, 0]),
            "not finite",
            &format!("nodes[{first}]"),
        ),
        ("scene".into(), json!(4), "scene 4 is out of range", "scene"),
        (
            format!("nodes[{}].mesh", chain.mesh_node),
            json!(7),
            "mesh 7 is out of range",
            ".mesh",
        ),
        (
            format!("nodes[{}].skin", chain.mesh_node),
            json!(7),
            "skin 7 is out of range",
            ".skin",
        ),
        (
            "skins[0].joints[1]".into(),
            json!(400),
            "node 400 is out of range",
            "skins[0].joints[1]",
        ),
        (
            "skins[0].joints".into(),
            json!([]),
            "the skin has no joints",
            "skins[0]",
        ),
        (
            "skins[0].inverseBindMatrices".into(),
            json!(1),
            "has the type Vec3",
            "skins[0].inverseBindMatrices",
        ),
        (
            "meshes[0].primitives[0].attributes.POSITION".into(),
            json!(77),
            "accessor 77 is out of range",
            "attributes.POSITION",
        ),
        (
            "meshes[0].primitives[0].indices".into(),
            json!(1),
            "has the type",
            "meshes[0].primitives[0].indices",
        ),
        (
            "meshes[0].primitives[0].mode".into(),
            json!(9),
            "unknown kind of primitive",
            "primitives[0].mode",
        ),
        (
            "accessors[1].count".into(),
            json!(1u64 << 60),
            "used too often",
            "attributes.POSITION",
        ),
        (
            "accessors[1].count".into(),
            json!(25),
            "goes past the end",
            "attributes.POSITION",
        ),
        (
            "accessors[1].byteOffset".into(),
            json!(u64::MAX),
            "goes past the end",
            "attributes.POSITION",
        ),
        (
            "accessors[1].bufferView".into(),
            json!(55),
            "buffer view 55 is out of range",
            "attributes.POSITION",
        ),
        (
            "accessors[1].componentType".into(),
            json!(1),
            "unknown type",
            "attributes.POSITION",
        ),
        (
            "bufferViews[1].byteStride".into(),
            json!(4),
            "every 4 bytes",
            "attributes.POSITION",
        ),
        (
            "bufferViews[1].byteOffset".into(),
            json!(1 << 20),
            "past the end of buffer 0",
            "attributes.POSITION",
        ),
        (
            "bufferViews[1].buffer".into(),
            json!(3),
            "has no data",
            "attributes.POSITION",
        ),
        (
            "accessors[3].count".into(),
            json!(4),
            "4 elements for 24 vertices",
            "attributes.WEIGHTS_0",
        ),
        (
            "buffers[0].byteLength".into(),
            json!(1 << 20),
            "says 1048576 bytes",
            "buffers[0]",
        ),
        (
            "animations[0].channels[2].target.node".into(),
            json!(70),
            "node 70 is out of range",
            "animations[0].channels[2]",
        ),
        (
            "animations[0].channels[1].sampler".into(),
            json!(70),
            "sampler 70 is out of range",
            "animations[0].channels[1]",
        ),
        (
            "asset.version".into(),
            json!("1.0"),
            "only version 2",
            "asset.version",
        ),
        (
            "extensionsRequired".into(),
            json!(["KHR_materials_unlit", "XY_new"]),
            "`XY_new`",
            "extensionsRequired[1]",
        ),
        (
            "scenes".into(),
            json!([{ "nodes": [] }]),
            "no mesh and no animation",
            "",
        ),
    ];
    for (path, value, words, place) in cases {
        let mut file = chain.file.clone();
        let pointer = list(path);
        match file.json.pointer_mut(&pointer) {
            Some(slot) => *slot = value.clone(),
            None => {
                let (parent, key) = pointer.rsplit_once('/').unwrap();
                file.json.pointer_mut(parent).unwrap()[key] = value.clone();
            }
        }
        if *words == "no mesh and no animation" {
            file.json["animations"] = json!([]);
            file.json["skins"] = json!([]);
            file.json["nodes"][chain.mesh_node] = json!({});
        }
        let error = error(&file);
        assert!(
            error.contains(words) && error.contains(place) && error.contains("hint:"),
            "{path}: {error}"
        );
    }
    let mut ring = chain.file.clone();
    ring.json["nodes"][third]["children"] = json!([chain.armature]);
    assert!(error(&ring).contains("among its own ancestors"));
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
    let said = error(&file);
    assert!(
        said.contains("buffer view 1 cannot be decompressed: missing field"),
        "{said}"
    );
}

#[test]
fn damaged_containers_are_named() {
    let glb = walker().file.glb();
    let said = |bytes: &[u8]| open(bytes).unwrap_err().to_string();
    assert!(said(&glb[..10]).contains("ends in its header"));
    assert!(said(&glb[..glb.len() - 5]).contains("the header says"));
    assert!(said(b"glTF\x01\0\0\0\x0c\0\0\0").contains("version 1"));
    assert!(said(b"glTF\x02\0\0\0\x0c\0\0\0").contains("no JSON chunk"));
    assert!(said(b"").contains("the file is empty"));
    assert!(said(b"\x89PNG\r\n\x1a\n").contains("PNG image"));
    assert!(said(b"Kaydara FBX Binary  \0").contains("binary FBX"));
    assert!(said(b"MD5Version 10\n").contains("MD5"));
    let text = |text: &str| {
        open_model("f.gltf", text.as_bytes(), &ImportSettings::default())
            .unwrap_err()
            .to_string()
    };
    let error = text("{ \"asset\": {\"version\": \"2.0\"},\n  \"nodes\": [{\"mesh\": -1}] }");
    assert!(
        error.starts_with("f.gltf:2:") && error.contains("the JSON cannot be read"),
        "{error}"
    );
    assert!(text("{ \"asset\": {\"version\": \"2.0\"}, ").contains("cut off"));
    let mut wrong = glb.clone();
    wrong[20] = b'!';
    assert!(said(&wrong).contains("of the JSON chunk"));
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
        let error = open_model("f.glb", &file.glb(), &settings)
            .unwrap_err()
            .to_string();
        assert!(error.contains(&format!("`{name}`")), "{name}: {error}");
    }
    let mut settings = ImportSettings::default();
    settings.limits = Limits {
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
    assert!(error.to_string().contains("`file_bytes`"), "{error}");
}

#[test]
fn small_files_that_claim_to_be_huge_are_refused_quickly() {
    // Zeros without data.
    let mut file = walker().file;
    file.json["accessors"][1] = json!({ "count": 4_000_000, "componentType": 5126, "type": "VEC3",
        "sparse": { "count": 0, "indices": { "bufferView": 0, "componentType": 5125 }, "values": { "bufferView": 0 } } });
    let said = error(&file);
    assert!(
        said.contains("used too often") || said.contains("no data"),
        "{said}"
    );
    // The same mesh a hundred thousand times.
    let mut file = walker().file;
    let primitive = file.json["meshes"][0]["primitives"][0].clone();
    file.json["meshes"][0]["primitives"] = vec![primitive; 60_000].into();
    let node = file.json["nodes"][4].clone();
    for _ in 0..100 {
        let node = file.node(node.clone());
        file.root(node);
    }
    assert!(error(&file).contains("used too often"));
    // Objects of two bytes.
    let mut text = b"{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{}".to_vec();
    text.extend(b",{}".repeat(1 << 20));
    text.extend(b"]}");
    let error = open_model("f.gltf", &text, &ImportSettings::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("objects"), "{error}");
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
