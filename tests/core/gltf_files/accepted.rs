//! Files that are valid, or wrong in a way that does no harm.

use super::{
    file::{File, chain, cube, even_times},
    formula::posed,
    open, warnings,
};
use crate::messages::assert_messages;
use bevy_marionette::import::Imported;
use glam::Vec3;
use serde_json::json;

fn case(name: &str) -> Vec<u8> {
    let cases = crate::asset("").parent().unwrap().join("tests/core/cases");
    std::fs::read(cases.join(name)).unwrap()
}

/// A file with clips in which few joints move, and equal accessors are one.
fn gestures(joints: usize, clips: usize, seconds: f32, moving: usize) -> File {
    let mut file = chain(joints, json!({ "name": "Armature" })).file;
    let keys = (seconds * 30.0) as usize + 1;
    let times: Vec<[f32; 1]> = even_times(keys, 30.0).iter().map(|t| [*t]).collect();
    let input = file.floats(&times);
    let rest = [
        file.floats(&vec![[0.0, 1.0, 0.0]; keys]),
        file.floats(&vec![[0.0, 0.0, 0.0, 1.0]; keys]),
        file.floats(&vec![[1.0, 1.0, 1.0]; keys]),
    ];
    for clip in 0..clips {
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        for joint in 0..joints {
            for (path, output) in ["translation", "rotation", "scale"].into_iter().zip(rest) {
                let output = if path == "rotation" && joint < moving {
                    let turn = |key: usize| {
                        let half = (key * (clip + 2 + joint)) as f32 * 0.001;
                        [half.sin(), 0.0, 0.0, half.cos()]
                    };
                    file.floats(&(0..keys).map(turn).collect::<Vec<_>>())
                } else {
                    output
                };
                channels.push(json!({ "sampler": samplers.len(), "target": { "node": joint + 1, "path": path } }));
                samplers.push(json!({ "input": input, "output": output }));
            }
        }
        file.push(
            "animations",
            json!({ "name": format!("clip{clip}"), "samplers": samplers, "channels": channels }),
        );
    }
    file
}

fn read(file: &File) -> Imported {
    open(&file.glb()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn clips_may_share_the_accessors_of_joints_that_stand_still() {
    for (clips, seconds, moving) in [(20, 2.0, 1), (60, 3.0, 2), (200, 3.0, 1)] {
        let imported = read(&gestures(65, clips, seconds, moving));
        assert_eq!(imported.model.clips.len(), clips);
    }
}

#[test]
fn a_small_file_whose_channels_share_one_accessor_doesnt_take_gigabytes() {
    // 4,000 channels of 100,000 keys: 1.6 GB and more from a megabyte.
    let mut file = File::new();
    let (corners, triangles) = cube(Vec3::ZERO, 1.0);
    let indices: Vec<[u16; 1]> = triangles.into_iter().map(|v| [v]).collect();
    let (positions, indices) = (file.floats(&corners), file.shorts(&indices));
    let mesh =
        json!({ "primitives": [{ "attributes": { "POSITION": positions }, "indices": indices }] });
    let mesh = file.push("meshes", mesh);
    let keys = 50_000;
    let times: Vec<[f32; 1]> = (0..keys).map(|at| [at as f32 * 0.01]).collect();
    let turns: Vec<[f32; 4]> = (0..keys)
        .map(|at| {
            let half = at as f32;
            [half.sin(), 0.0, 0.0, half.cos()]
        })
        .collect();
    let (input, output) = (file.floats(&times), file.floats(&turns));
    let mut channels = Vec::new();
    for at in 0..2000 {
        let node = file.node(json!({ "name": format!("n{at}"), "mesh": mesh }));
        file.root(node);
        channels.push(json!({ "sampler": 0, "target": { "node": node, "path": "rotation" } }));
    }
    for at in 0..8 {
        let samplers = json!([{ "input": input, "output": output }]);
        let animation =
            json!({ "name": format!("c{at}"), "samplers": samplers, "channels": channels });
        file.push("animations", animation);
    }
    let source = file.glb();
    // The file has two megabytes.
    let Ok(imported) = open(&source) else { return };
    let bytes: usize = imported.model.clips.iter().map(|clip| clip.bytes()).sum();
    assert!(bytes < 300 * source.len(), "{bytes} of {}", source.len());
}

#[test]
fn a_stride_of_zero_is_none() {
    let mut chain = chain(2, json!({}));
    let expected = read(&chain.file).model;
    for view in chain.file.json["bufferViews"].as_array_mut().unwrap() {
        view["byteStride"] = json!(0);
    }
    let imported = read(&chain.file);
    assert_eq!(imported.model.parts, expected.parts);
    assert_messages("gltf: a stride of zero", warnings(&imported));
    // One that is too small but not zero stays an error.
    chain.file.json["bufferViews"][1]["byteStride"] = json!(4);
    assert!(open(&chain.file.glb()).is_err());
}

#[test]
fn compressed_meshes_may_share_an_accessor() {
    let [shared, apart] = ["shared", "apart"].map(|name| {
        let imported = open(&case(&format!("draco-shared-accessor/indices-{name}.glb"))).unwrap();
        imported.model.parts
    });
    assert_eq!(shared, apart);
    assert_eq!(shared.len(), 2);
}

#[test]
fn a_pointer_may_animate_one_weight() {
    let mut file = File::new();
    let (corners, triangles) = cube(Vec3::ZERO, 1.0);
    let indices: Vec<[u16; 1]> = triangles.into_iter().map(|v| [v]).collect();
    let (positions, indices) = (file.floats(&corners), file.shorts(&indices));
    let targets = Vec3::AXES.map(|axis| json!({ "POSITION": file.floats(&[axis.to_array(); 8]) }));
    let primitive =
        json!({ "attributes": { "POSITION": positions }, "indices": indices, "targets": targets });
    let mesh = file.push(
        "meshes",
        json!({
            "primitives": [primitive], "weights": [0.25, 0.5, 0.75],
            "extras": { "targetNames": ["a", "b", "c"] },
        }),
    );
    let node = file.node(json!({ "name": "face", "mesh": mesh }));
    file.root(node);
    let pointers = [
        format!("/nodes/{node}/weights/2"),
        format!("/meshes/{mesh}/weights/1"),
        "/meshes/0/weights/7".into(),
        "/nodes/0/weights/x".into(),
    ];
    for (at, pointer) in pointers.iter().enumerate() {
        file.channel(
            "talk",
            node,
            "weights",
            "LINEAR",
            &[0.0, 1.0],
            &[[0.0_f32], [1.0]],
        );
        file.json["animations"][0]["channels"][at]["target"] = json!({
            "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": pointer } },
        });
    }
    let imported = read(&file);
    let clip = &imported.model.clips[0];
    let (vertex, place) = posed(&imported, Some(clip), 0.5)[0];
    let moved = place * Vec3::new(-1.0, 1.0, -1.0) - Vec3::from(corners[vertex]);
    assert!(moved.distance(Vec3::new(0.25, 0.5, 0.5)) < 1e-5, "{moved}");
}
