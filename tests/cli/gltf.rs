//! Every command on a `.gltf` with its buffer in a file beside it.

use super::support::{folder, marionette};
use crate::messages::assert_message;
use std::fs;
use tempfile::TempDir;

/// A triangle on a node that moves two units along +Z in a second.
const TRIANGLE: &str = r#"{
    "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }],
    "nodes": [{ "name": "sail", "mesh": 0 }],
    "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "material": 0 }] }],
    "materials": [{ "name": "cloth", "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }],
    "textures": [{ "source": 0 }], "images": [{ "uri": "data:image/png;base64,iVBORw0KGgo=", "name": "stripes" }],
    "animations": [{ "name": "drift", "samplers": [{ "input": 1, "output": 2 }],
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }] }],
    "buffers": [{ "uri": "data/sail.bin", "byteLength": 68 }],
    "bufferViews": [{ "buffer": 0, "byteLength": 68 }],
    "accessors": [
        { "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" },
        { "bufferView": 0, "byteOffset": 36, "componentType": 5126, "count": 2, "type": "SCALAR" },
        { "bufferView": 0, "byteOffset": 44, "componentType": 5126, "count": 2, "type": "VEC3" }
    ]
}"#;

fn sail() -> TempDir {
    let folder = folder(&[("models/sail.gltf", TRIANGLE.to_owned())]);
    let numbers = [
        0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0,
    ];
    let bytes: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    fs::create_dir(folder.path().join("models/data")).unwrap();
    fs::write(folder.path().join("models/data/sail.bin"), bytes).unwrap();
    folder
}

#[test]
fn a_gltf_is_inspected_validated_and_posed() {
    let folder = sail();
    let run = marionette(&folder, &["inspect", "models/sail.gltf"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_message("inspect: a .gltf", run.stdout);
    let run = marionette(&folder, &["inspect", "--json", "models/sail.gltf"]);
    assert!(run.stdout.contains("\"kind\": \"gltf\""), "{}", run.stdout);
    let run = marionette(&folder, &["validate", "models"]);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    let stdout = run.stdout.replace("models\\", "models/");
    assert_message("validate: a folder with a .gltf", stdout);
    // glTF faces +Z, and the OBJ −Z.
    let run = marionette(
        &folder,
        &[
            "pose",
            "models/sail.gltf",
            "--clip",
            "drift",
            "--time",
            "0.5",
            "-o",
            "-",
        ],
    );
    let vertices: Vec<&str> = run
        .stdout
        .lines()
        .filter(|line| line.starts_with("v "))
        .collect();
    let numbers = |line: &str| {
        line.split(' ')
            .skip(1)
            .map(|n| n.parse::<f32>().unwrap())
            .collect::<Vec<_>>()
    };
    let vertices: Vec<Vec<f32>> = vertices.into_iter().map(numbers).collect();
    assert_eq!(
        vertices,
        [[0.0, 0.0, -1.0], [-1.0, 0.0, -1.0], [0.0, 1.0, -1.0]],
        "{}",
        run.stdout
    );
}

#[test]
fn textures_are_found_where_their_paths_lead_and_else_by_name() {
    let folder = sail();
    fs::create_dir(folder.path().join("textures")).unwrap();
    for file in [
        "textures/stripes.png",
        "models/stripes.png",
        "models/two stripes.png",
    ] {
        fs::write(folder.path().join(file), "").unwrap();
    }
    for (uri, found) in [
        ("../textures/stripes.png", "../textures/stripes.png"),
        ("../textures/Stripes.png?v=2", "../textures/stripes.png"),
        ("..\\\\textures\\\\stripes.png", "../textures/stripes.png"),
        ("./data/../stripes.png", "stripes.png"),
        ("../art/stripes.png", "stripes.png"),
        ("/art/stripes.png", "stripes.png"),
        ("C:\\\\art\\\\stripes.png", "stripes.png"),
        ("file:///C:/art/two%20stripes.png", "two stripes.png"),
        ("https://example.com/stripes.png", "stripes.png"),
        ("100% stripes.png", ""),
    ] {
        let text = TRIANGLE.replace("data:image/png;base64,iVBORw0KGgo=", uri);
        fs::write(folder.path().join("models/sail.gltf"), text).unwrap();
        let run = marionette(&folder, &["inspect", "--json", "models/sail.gltf"]);
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let got = json[0]["model"]["materials"][0]["textures"][0]["found"].as_str();
        assert_eq!(got.unwrap_or_default(), found, "{uri}: {}", run.stdout);
        let run = marionette(&folder, &["validate", "models/sail.gltf"]);
        let name = match found {
            "" => "validate: a texture that is not found",
            _ => "validate: a texture that is found",
        };
        assert_message(name, run.stdout);
    }
}

#[test]
fn a_missing_buffer_and_one_outside_the_folder_are_errors_at_their_place() {
    let folder = sail();
    fs::remove_file(folder.path().join("models/data/sail.bin")).unwrap();
    let run = marionette(&folder, &["validate", "models/sail.gltf"]);
    assert_eq!(run.code, Some(1));
    assert_message("validate: a buffer that is missing", run.stdout);
    let outside = TRIANGLE.replace("data/sail.bin", "../sail.bin");
    fs::write(folder.path().join("models/sail.gltf"), outside).unwrap();
    fs::write(folder.path().join("sail.bin"), [0; 68]).unwrap();
    let run = marionette(&folder, &["validate", "models/sail.gltf"]);
    assert_message("validate: a buffer outside the folder", run.stdout);
}

#[test]
fn a_manifest_takes_a_gltf_and_its_clips() {
    let folder = sail();
    let manifest = "(model: \"models/sail.gltf\", scale: 2, clips: {\"away\": (file: \"models/sail.gltf\", clip: \"drift\", playback: Once)})";
    fs::write(folder.path().join("boat.character.ron"), manifest).unwrap();
    let args = [
        "pose",
        "boat.character.ron",
        "--clip",
        "away",
        "--time",
        "9",
        "-o",
        "-",
    ];
    let run = marionette(&folder, &args);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stdout.lines().any(|line| line.starts_with("v -2 0 -4")),
        "{}",
        run.stdout
    );
}
