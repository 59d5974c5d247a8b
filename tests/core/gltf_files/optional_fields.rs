//! What a character doesn't need, and what the specification doesn't require: files without it, or with rubbish in its place,
//! look and move as before.

use super::{
    BOUND,
    file::{Chain, File, chain, cube, even_times},
    formula::{Reference, posed},
    open, warnings,
};
use crate::messages::{assert_message, assert_messages};
use bevy_marionette::{
    format::Diagnostic,
    import::{ImportSettings, Imported, open_model},
};
use fastrand::Rng;
use glam::{DVec3, Mat4, Vec3};
use serde_json::{Value, json};

/// A character with everything that the schema has a place for.
fn everything() -> File {
    let rng = &mut Rng::with_seed(21);
    let armature = json!({
        "name": "Armature", "rotation": [0.0, 0.6, 0.0, 0.8], "scale": [1.0, 1.0, 1.0],
        "translation": [0.0, 0.5, 0.0], "extras": { "rig": 1 }, "extensions": { "XY_rig": { "a": [1, 2] } },
    });
    let Chain {
        mut file,
        joints,
        mesh_node,
        ..
    } = chain(4, armature);
    let mut turns = Chain {
        file,
        armature: 0,
        joints: joints.clone(),
        mesh_node,
    };
    turns.turns("wave", &even_times(5, 4.0), 1.0, rng);
    file = turns.file;
    file.channel(
        "wave",
        joints[2],
        "translation",
        "STEP",
        &[0.0, 0.5],
        &[[0.0, 1.0, 0.0], [0.0, 0.75, 0.1]],
    );
    let (corners, triangles) = cube(Vec3::Y, 0.2);
    let positions = file.floats(&corners);
    let hat_normals = file.floats(&[[0.0f32, 1.0, 0.0]; 8]);
    let hat_coords = file.floats(&[[0.25f32, 0.5]; 8]);
    let colors = file.floats(&[[1.0f32, 0.5, 0.25, 1.0]; 8]);
    let indices = file.shorts(&triangles.iter().map(|&v| [v]).collect::<Vec<_>>());
    let morph = file.floats(&[[0.0f32, 0.125, 0.0]; 8]);
    let hat = file.push(
        "meshes",
        json!({
            "name": "hat", "weights": [0.0], "extras": { "made": "by hand" }, "extensions": { "XY_mesh": {} },
            "primitives": [{
                "attributes": {
                    "POSITION": positions, "NORMAL": hat_normals, "TEXCOORD_0": hat_coords, "COLOR_0": colors,
                    "_TEMPERATURE": hat_coords,
                },
                "indices": indices, "mode": 4, "material": 0, "targets": [{ "POSITION": morph }],
                "extras": {}, "extensions": { "KHR_materials_variants": { "mappings": [] } },
            }],
        }),
    );
    let hat = file.node(json!({
        "name": "hat", "mesh": hat, "matrix": Mat4::from_translation(Vec3::Y * 0.5).to_cols_array(), "weights": [0.0],
    }));
    file.json["nodes"][joints[3]]["children"] = json!([hat]);
    file.json["nodes"][joints[1]]["extras"] = json!({ "deform": true });
    let mesh = &mut file.json["meshes"][0];
    mesh["name"] = "body".into();
    mesh["primitives"][0]["mode"] = 4.into();
    mesh["primitives"][0]["material"] = 1.into();
    file.json["skins"][0]["name"] = "skin".into();
    file.json["skins"][0]["skeleton"] = joints[0].into();
    file.json["skins"][0]["extras"] = json!([1]);

    // A camera that is animated, beside the character.
    let camera = file.node(json!({ "name": "Camera", "camera": 0, "translation": [0, 1, 5] }));
    let lamp = file
        .node(json!({ "name": "Lamp", "extensions": { "KHR_lights_punctual": { "light": 0 } } }));
    file.node(json!({ "name": "Camera.001", "camera": 1 }));
    file.root(camera);
    file.root(lamp);
    file.channel(
        "wave",
        camera,
        "translation",
        "LINEAR",
        &[0.0, 0.5],
        &[[0.0, 1.0, 5.0], [0.0, 2.0, 5.0]],
    );
    file.json["cameras"] = json!([
        { "type": "perspective", "name": "front",
          "perspective": { "yfov": 0.7, "znear": 0.1, "zfar": 100.0, "aspectRatio": 1.5, "extras": {} } },
        { "type": "orthographic", "orthographic": { "xmag": 1, "ymag": 1, "zfar": 10, "znear": 0 } },
    ]);
    file.json["extensions"] = json!({
        "KHR_lights_punctual": { "lights": [{ "type": "spot", "spot": { "outerConeAngle": 1 }, "color": [1, 1, 1] }] },
        "KHR_materials_variants": { "variants": [{ "name": "red" }] },
    });
    file.json["extensionsUsed"] = json!(["KHR_lights_punctual", "KHR_texture_transform", "XY_rig"]);
    file.json["extras"] = json!({ "anything": null });

    // Textures: in a buffer view, in a data URI, in a file.
    let png = file.view(b"\x89PNG\r\n\x1a\n....", None);
    file.json["images"] = json!([
        { "bufferView": png, "mimeType": "image/png", "name": "in the file" },
        { "uri": "data:image/png;base64,iVBORw0KGgo=", "name": "in the text", "extras": {} },
        { "uri": "beside.png" },
    ]);
    file.json["samplers"] = json!([{ "magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 33071, "name": "smooth" }]);
    file.json["textures"] = json!([
        { "source": 0, "sampler": 0, "name": "base" },
        { "source": 1, "extensions": { "EXT_texture_webp": { "source": 1 } } },
        { "source": 2, "sampler": 0 },
    ]);
    file.json["materials"] = json!([
        {
            "name": "felt", "alphaMode": "MASK", "alphaCutoff": 0.25, "doubleSided": true,
            "emissiveFactor": [0, 0.5, 0], "emissiveTexture": { "index": 2 },
            "normalTexture": { "index": 1, "scale": 0.5, "texCoord": 0 },
            "occlusionTexture": { "index": 2, "strength": 0.5, "extensions": { "KHR_texture_transform": {} } },
            "pbrMetallicRoughness": {
                "baseColorFactor": [1, 1, 1, 0.5], "metallicFactor": 0, "roughnessFactor": 0.5, "extras": {},
                "baseColorTexture": { "index": 0, "texCoord": 0,
                    "extensions": { "KHR_texture_transform": { "offset": [0, 1], "rotation": 1, "scale": [2, 2] } } },
                "metallicRoughnessTexture": { "index": 0 },
            },
            "extensions": {
                "KHR_materials_ior": { "ior": 1.4 }, "KHR_materials_specular": { "specularFactor": 0.5 },
                "KHR_materials_emissive_strength": { "emissiveStrength": 2 }, "KHR_materials_unlit": {},
            },
            "extras": { "marionette": { "type_name": "Skinned" } },
        },
        { "name": "skin" },
    ]);

    // Everything that has a default, with its default.
    for accessor in file.json["accessors"].as_array_mut().unwrap() {
        accessor["byteOffset"] = 0.into();
        accessor["normalized"] = false.into();
        accessor["name"] = "some numbers".into();
        accessor["min"] = json!([0]);
        accessor["max"] = json!([1]);
        accessor["extras"] = json!({});
    }
    for view in file.json["bufferViews"].as_array_mut().unwrap() {
        view["name"] = "some bytes".into();
        view["target"] = 34962.into();
        view["extras"] = json!({});
        view["extensions"] = json!({ "XY_view": {} });
    }
    file.json["buffers"][0]["name"] = "all bytes".into();
    file.json["buffers"][0]["extras"] = json!({});
    let animation = &mut file.json["animations"][0];
    animation["extras"] = json!({ "fps": 24 });
    animation["extensions"] = json!({ "XY_animation": 1 });
    animation["channels"][0]["extras"] = json!({});
    animation["channels"][0]["target"]["extras"] = json!({});
    animation["samplers"][0]["extras"] = json!({});
    file.push(
        "scenes",
        json!({ "name": "Scene.001", "nodes": [], "extras": {}, "extensions": {} }),
    );
    file.json["scenes"][0]["name"] = "Scene".into();
    file.json["asset"] = json!({
        "version": "2.0", "minVersion": "2.0", "generator": "by hand", "copyright": "none", "extras": {},
        "extensions": {},
    });
    file
}

/// Fields that a character doesn't need, as pointers in which `*` stands for any step, and the last may end in one: all that
/// is optional in the schema without being about shape or motion. Each may be missing, and may hold anything.
const NEEDLESS: &[&str] = &[
    "accessors/*/extensions",
    "accessors/*/extras",
    "accessors/*/max",
    "accessors/*/min",
    "accessors/*/name",
    "animations/*/channels/*/extensions",
    "animations/*/channels/*/extras",
    "animations/*/channels/*/target/extras",
    "animations/*/extensions",
    "animations/*/extras",
    "animations/*/name",
    "animations/*/samplers/*/extensions",
    "animations/*/samplers/*/extras",
    "asset/copyright",
    "asset/extensions",
    "asset/extras",
    "asset/generator",
    "bufferViews/*/extensions",
    "bufferViews/*/extras",
    "bufferViews/*/name",
    "bufferViews/*/target",
    "buffers/*/extensions",
    "buffers/*/extras",
    "buffers/*/name",
    "cameras*",
    "extensions*",
    "extensionsUsed*",
    "extras*",
    "images*",
    "materials*",
    "meshes/*/extensions",
    "meshes/*/extras",
    "meshes/*/name",
    "meshes/*/primitives/*/attributes/_TEMPERATURE",
    "meshes/*/primitives/*/extensions*",
    "meshes/*/primitives/*/extras",
    "meshes/*/primitives/*/material",
    "meshes/*/weights*",
    "nodes/*/camera",
    "nodes/*/extensions*",
    "nodes/*/extras*",
    "nodes/*/name",
    "samplers*",
    "scenes/*/extensions",
    "scenes/*/extras",
    "scenes/*/name",
    "skins/*/extensions",
    "skins/*/extras*",
    "skins/*/name",
    "skins/*/skeleton",
    "textures*",
];

/// Fields with a default, where they have it in [`everything`]. Each may be missing or `null`.
const DEFAULTS: &[&str] = &[
    "accessors/*/byteOffset",
    "accessors/*/normalized",
    "asset/minVersion",
    "meshes/*/primitives/*/mode",
    "nodes/0/scale",
    "scene",
    "scenes/1/nodes",
];

/// Values of every type.
fn rubbish() -> [Value; 13] {
    [
        json!(null),
        json!(true),
        json!(-1),
        json!(0.5),
        json!(7),
        json!(u64::MAX),
        json!(-1e300),
        json!(""),
        json!("LINEAR"),
        json!([]),
        json!([null, "x", 3]),
        json!({}),
        json!({ "index": {}, "source": "x", "uri": 1, "name": [] }),
    ]
}

/// Returns the warnings that [`everything`] doesn't have.
fn unusual(warnings: &[Diagnostic]) -> Vec<&Diagnostic> {
    let usual = open(&everything().glb()).unwrap().warnings;
    let unusual = warnings.iter().filter(|w| !usual.contains(w));
    unusual.collect()
}

fn fits(pattern: &str, pointer: &str) -> bool {
    let (exact, is_open) = pattern
        .strip_suffix('*')
        .map_or((pattern, false), |stem| (stem, true));
    let (mut wanted, mut given) = (
        exact.trim_end_matches('/').split('/'),
        pointer[1..].split('/'),
    );
    loop {
        match (wanted.next(), given.next()) {
            (None, rest) => return rest.is_none() || is_open,
            (Some(_), None) => return false,
            (Some(wanted), Some(given)) if wanted != "*" && wanted != given => return false,
            _ => {}
        }
    }
}

fn pointers(value: &Value, path: &str, out: &mut Vec<String>) {
    let mut below = |key: &str, value: &Value| {
        let path = format!("{path}/{key}");
        pointers(value, &path, out);
        out.push(path);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| below(key, value)),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(at, value)| below(&at.to_string(), value)),
        _ => {}
    }
}

/// Where each of the patterns leads in a document.
fn matches(document: &Value, patterns: &[&str]) -> Vec<String> {
    let mut all = Vec::new();
    pointers(document, "", &mut all);
    for pattern in patterns
        .iter()
        .filter(|pattern| !pattern.ends_with("/extensions"))
    {
        assert!(
            all.iter().any(|pointer| fits(pattern, pointer)),
            "nothing is at {pattern}"
        );
    }
    all.retain(|pointer| patterns.iter().any(|pattern| fits(pattern, pointer)));
    all
}

/// Removes a value, unless it is in a list, where the others would get other numbers.
fn remove(document: &mut Value, pointer: &str) {
    let (above, key) = pointer.rsplit_once('/').unwrap();
    if let Some(map) = document.pointer_mut(above).and_then(Value::as_object_mut) {
        map.remove(key);
    }
}

fn replace(document: &mut Value, pointer: &str, value: Value) {
    if let Some(place) = document.pointer_mut(pointer) {
        *place = value;
    }
}

/// The poses of a character by the formulas of the specification.
struct Expected {
    poses: Vec<(Option<f64>, Vec<DVec3>)>,
    size: f64,
}

impl Expected {
    fn of(file: &File) -> Self {
        let reference = Reference::new(file.json.clone(), file.bin.clone());
        let at = |time: Option<f64>| {
            (
                time,
                reference.vertices(time.map(|_| 0), time.unwrap_or_default()),
            )
        };
        let poses: Vec<_> = [None, Some(0.0), Some(0.3), Some(0.61), Some(0.99)]
            .map(at)
            .into();
        let low = poses[0].1.iter().copied().fold(DVec3::INFINITY, DVec3::min);
        let high = poses[0]
            .1
            .iter()
            .copied()
            .fold(DVec3::NEG_INFINITY, DVec3::max);
        Self {
            poses,
            size: low.distance(high),
        }
    }

    /// The largest distance between an imported vertex and where it should be, as a share of the model's size.
    fn error(&self, imported: &Imported) -> f64 {
        let mut worst = 0f64;
        for (time, expected) in &self.poses {
            let clip = time.map(|_| &imported.model.clips[0]);
            for (source, got) in posed(imported, clip, time.unwrap_or_default()) {
                let expected = expected[source] * DVec3::new(-1.0, 1.0, -1.0);
                worst = worst.max(got.as_dvec3().distance(expected));
            }
        }
        worst / self.size
    }

    /// Checks that a variant looks and moves as it should, and returns by how much it is off.
    fn check(&self, file: &File, what: &str) -> f64 {
        let imported = open(&file.glb()).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(
            !imported.model.clips.is_empty(),
            "{what}: no clip; {:?}",
            imported.warnings
        );
        let error = self.error(&imported);
        assert!(error < BOUND, "{what}: off by {error}");
        error
    }
}

#[test]
fn every_field_that_a_character_doesnt_need_may_be_missing_or_hold_anything() {
    let file = everything();
    let expected = Expected::of(&file);
    let mut worst = expected.check(&file, "as it is");
    let mut count = 0;
    for pointer in matches(&file.json, NEEDLESS) {
        let mut variant = file.clone();
        remove(&mut variant.json, &pointer);
        worst = worst.max(expected.check(&variant, &format!("without {pointer}")));
        for value in rubbish() {
            let what = format!("{pointer}: {value}");
            replace(&mut variant.json, &pointer, value.clone());
            if variant.json.pointer(&pointer).is_none() {
                variant = file.clone();
                replace(&mut variant.json, &pointer, value);
            }
            worst = worst.max(expected.check(&variant, &what));
            count += 1;
        }
    }
    for pointer in matches(&file.json, DEFAULTS) {
        let mut variant = file.clone();
        replace(&mut variant.json, &pointer, Value::Null);
        worst = worst.max(expected.check(&variant, &format!("{pointer}: null")));
        remove(&mut variant.json, &pointer);
        worst = worst.max(expected.check(&variant, &format!("without {pointer}")));
        count += 2;
    }
    assert!(count > 2000, "{count}");
    println!("{count} variants, off by {worst:.1e} at most");
}

/// Several of these at once, with whole numbers that are written as `2.0`, and JSON that is padded in every way.
#[test]
fn files_with_many_oddities_look_and_move_as_before() {
    let rng = &mut Rng::with_seed(33);
    let file = everything();
    let expected = Expected::of(&file);
    let (needless, defaults) = (matches(&file.json, NEEDLESS), matches(&file.json, DEFAULTS));
    let mut worst = 0f64;
    for at in 0..count(400) {
        let mut variant = file.clone();
        for _ in 0..rng.usize(1..30) {
            let pointer = &needless[rng.usize(..needless.len())];
            match rng.u8(..3) {
                0 => remove(&mut variant.json, pointer),
                _ => replace(
                    &mut variant.json,
                    pointer,
                    rubbish()[rng.usize(..13)].clone(),
                ),
            }
        }
        for _ in 0..rng.usize(..30) {
            remove(&mut variant.json, &defaults[rng.usize(..defaults.len())]);
        }
        if rng.bool() {
            let mut all = Vec::new();
            pointers(&variant.json, "", &mut all);
            for pointer in all.iter().filter(|_| rng.u8(..4) == 0) {
                if let Some(whole) = variant
                    .json
                    .pointer(pointer)
                    .and_then(Value::as_u64)
                    .filter(|n| *n < 1 << 50)
                {
                    replace(&mut variant.json, pointer, json!(whole as f64));
                }
            }
        }
        worst = worst.max(expected.check(&variant, &format!("variant {at}: {}", variant.json)));
        let padded = variant.glb_padded(rng.usize(..5), b" \0\n\t"[rng.usize(..4)]);
        let imported =
            open(&padded).unwrap_or_else(|error| panic!("variant {at}, padded: {error}"));
        worst = worst.max(expected.error(&imported));
        let mut text = variant.gltf_with_data();
        text.extend((0..rng.usize(..5)).map(|_| b"\0\0 \n"[rng.usize(..4)]));
        let imported = open_model("f.gltf", &text, &ImportSettings::default());
        worst = worst.max(
            expected
                .error(&imported.unwrap_or_else(|error| panic!("variant {at}, as text: {error}"))),
        );
    }
    assert!(worst < BOUND, "{worst}");
    println!("off by {worst:.1e} at most");
}

/// `MARIONETTE_FILES` asks for that many files in place of the usual.
fn count(usual: usize) -> usize {
    std::env::var("MARIONETTE_FILES")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(usual)
}

#[test]
fn accessors_without_a_buffer_view_are_zeros() {
    let rng = &mut Rng::with_seed(3);
    let mut worst = 0f64;
    for _ in 0..count(100) {
        let mut chain = chain(4, json!({}));
        let times = even_times(rng.usize(2..6), 4.0);
        chain.turns("wave", &times, 1.0, rng);
        let moves: Vec<[f32; 3]> = times
            .iter()
            .map(|_| std::array::from_fn(|_| rng.f32()))
            .collect();
        let joint = chain.joints[rng.usize(..4)];
        chain.file.channel(
            "wave",
            joint,
            "translation",
            ["LINEAR", "STEP"][rng.usize(..2)],
            &times,
            &moves,
        );
        let samplers = chain.file.json["animations"][0]["samplers"]
            .as_array()
            .unwrap();
        let moves = samplers.last().unwrap()["output"].as_u64().unwrap() as usize;
        let joints = chain.file.json["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"]
            .as_u64()
            .unwrap();
        let zeros = [moves, joints as usize];
        for accessor in zeros.into_iter().take(rng.usize(1..3)) {
            let accessor = &mut chain.file.json["accessors"][accessor];
            accessor.as_object_mut().unwrap().remove("bufferView");
            if rng.bool() {
                accessor["byteOffset"] = 0.into();
            }
        }
        worst =
            worst.max(Expected::of(&chain.file).check(&chain.file, &chain.file.json.to_string()));
    }
    println!("off by {worst:.1e} at most");
}

/// Channels of materials, cameras and lights, with and without a node, and of extensions that nobody knows.
#[test]
fn channels_that_move_no_joint_leave_the_others_alone() {
    let file = everything();
    let expected = Expected::of(&file);
    let targets = [
        json!({ "path": "translation" }),
        json!({ "path": "pointer" }),
        json!({ "path": "pointer", "node": null }),
        json!({ "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": "/materials/0/alphaCutoff" } } }),
        json!({ "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": "/nodes/2/weights" } } }),
        json!({ "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": 5 } } }),
        json!({ "path": "pointer", "extensions": 5 }),
        json!({ "path": 5, "node": 1 }),
        json!({ "path": null, "node": 1 }),
        json!({ "node": 1 }),
        json!({ "path": "sheen", "node": 1 }),
        json!({}),
    ];
    for target in &targets {
        for sampler in [0, 1, 4] {
            for required in [json!(null), json!(["KHR_animation_pointer"])] {
                let mut variant = file.clone();
                variant.json["extensionsRequired"] = required;
                let channels = variant.json["animations"][0]["channels"]
                    .as_array_mut()
                    .unwrap();
                channels.insert(0, json!({ "sampler": sampler, "target": target }));
                expected.check(&variant, &target.to_string());
            }
        }
    }
}

#[test]
fn a_pointer_to_a_nodes_transform_animates_the_node() {
    let file = everything();
    let expected = Expected::of(&file);
    let mut variant = file.clone();
    variant.json["extensionsUsed"] = json!(["KHR_animation_pointer"]);
    for channel in variant.json["animations"][0]["channels"]
        .as_array_mut()
        .unwrap()
    {
        let target = &channel["target"];
        let pointer = format!(
            "/nodes/{}/{}",
            target["node"],
            target["path"].as_str().unwrap()
        );
        channel["target"] = json!({ "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": pointer } } });
    }
    expected.check(&variant, "pointers to nodes");
}

#[test]
fn an_unknown_interpolation_leaves_out_its_channel_whatever_its_type() {
    for interpolation in [
        json!("BEZIER"),
        json!(1),
        json!([]),
        json!({ "type": "LINEAR" }),
        json!(true),
    ] {
        let mut file = everything();
        file.json["animations"][0]["samplers"][4]["interpolation"] = interpolation.clone();
        let imported = open(&file.glb()).unwrap_or_else(|error| panic!("{interpolation}: {error}"));
        assert_messages("gltf: unknown interpolation", unusual(&imported.warnings));
        file.json["animations"][0]["channels"]
            .as_array_mut()
            .unwrap()
            .remove(4);
        assert!(
            Expected::of(&file).error(&imported) < BOUND,
            "{interpolation}"
        );
    }
}

#[test]
fn without_nodes_in_the_default_scene_the_first_scene_with_a_character_is_read() {
    let file = everything();
    let expected = Expected::of(&file);
    for empty in [
        json!({ "name": "Empty", "nodes": [] }),
        json!({ "name": "Empty" }),
        json!({}),
        json!({ "nodes": null }),
    ] {
        let mut variant = file.clone();
        let scenes = variant.json["scenes"].as_array_mut().unwrap();
        scenes.insert(0, empty.clone());
        expected.check(&variant, &empty.to_string());
        let warnings = open(&variant.glb()).unwrap().warnings;
        assert_messages("gltf: an empty default scene", unusual(&warnings));
        // It is the second scene that counts here.
        variant.json["scene"] = 1.into();
        let warnings = open(&variant.glb()).unwrap().warnings;
        assert!(unusual(&warnings).is_empty(), "{empty}: {warnings:?}");
    }
}

#[test]
fn wrong_values_in_materials_are_named_with_their_place() {
    let mut file = everything();
    file.json["materials"][0]["alphaCutoff"] = "0.25".into();
    file.json["textures"][0]["source"] = json!([]);
    let warnings = open(&file.glb()).unwrap().warnings;
    assert_messages("gltf: wrong values in materials", unusual(&warnings));
    // And the rest of the material is as it says.
    let material = &open(&file.glb()).unwrap().model.materials[0];
    assert_eq!(
        (material.alpha_cutoff, material.double_sided, material.unlit),
        (Some(0.5), true, true)
    );
}

#[test]
fn what_a_character_needs_is_refused_with_its_place_if_it_is_of_the_wrong_type() {
    for (pointer, value) in [
        ("/nodes/2/children", json!("x")),
        ("/nodes/2/children/0", json!(-1)),
        ("/nodes/0/rotation", json!([0, 0, 1])),
        ("/skins/0/joints", json!(5)),
        ("/meshes/0/primitives/0/indices", json!([])),
        ("/animations/0/channels/1/sampler", json!(0.5)),
        ("/animations/0/samplers/0", json!({})),
        ("/accessors/1/count", json!("x")),
        ("/bufferViews/1", json!({})),
        ("/nodes", json!({ "a": {} })),
        ("/asset/minVersion", json!(1.0)),
    ] {
        let mut file = everything();
        *file.json.pointer_mut(pointer).unwrap() = value.clone();
        let error = open(&file.glb())
            .err()
            .unwrap_or_else(|| panic!("{pointer}: {value} was imported"));
        assert_message(&format!("gltf: {pointer} = {value}"), error);
    }
}

#[test]
fn what_is_wrong_with_what_nothing_uses_is_let_be() {
    let file = everything();
    let expected = Expected::of(&file);
    let mut variant = file.clone();
    for list in ["accessors", "bufferViews"] {
        variant.push(list, json!({}));
        variant.push(
            list,
            json!({ "count": [], "buffer": "x", "bufferView": -5, "componentType": {}, "type": 1 }),
        );
    }
    variant.json["asset"]["version"] = 2.0.into();
    variant.json["asset"]
        .as_object_mut()
        .unwrap()
        .remove("minVersion");
    expected.check(&variant, "unused accessors and buffer views");
}

#[test]
fn names_in_another_encoding_cost_letters_but_not_the_character() {
    let mut file = everything();
    let expected = Expected::of(&file);
    file.json["nodes"][1]["name"] = "J#rgen".into();
    let mut glb = file.glb();
    let at = glb.windows(6).position(|six| six == b"J#rgen").unwrap();
    // ü in Latin-1.
    glb[at + 1] = 0xfc;
    let imported = open(&glb).unwrap();
    assert!(expected.error(&imported) < BOUND);
    assert_messages(
        "gltf: a name that is not UTF-8",
        unusual(&imported.warnings),
    );
    assert_eq!(&**imported.model.skeleton.name(0), "J\u{fffd}rgen");
}

#[test]
fn textures_in_etc1s_are_said_because_bevy_refuses_them() {
    let ktx2 = |scheme: u8| {
        let mut bytes = b"\xabKTX 20\xbb\r\n\x1a\n".to_vec();
        bytes.resize(80, 0);
        bytes[44] = scheme;
        bytes
    };
    let mut chain = chain(2, json!({}));
    let file = &mut chain.file;
    for scheme in [1, 2, 1] {
        let view = file.view(&ktx2(scheme), None);
        let image = json!({ "bufferView": view, "mimeType": "image/ktx2" });
        let image = file.push("images", image);
        let extensions = json!({ "KHR_texture_basisu": { "source": image } });
        file.push("textures", json!({ "extensions": extensions }));
    }
    let imported = open(&file.glb()).unwrap();
    assert_messages("gltf: textures in ETC1S", warnings(&imported));
}
