//! What a file says in place of a manifest, in its `extras`.

use super::{
    file::{Chain, chain},
    open, warnings,
};
use crate::messages::{assert_message, assert_messages};
use bevy_marionette::{
    format::Diagnostic,
    import::{ImportLimits, ImportSettings, Imported, Manifest, open_manifest, open_model},
    internals::import::to_glb,
    model::PlaybackMode,
};
use glam::{EulerRot, Quat, Vec3};
use serde_json::{Value, json};
use std::borrow::Cow;

/// A chain of four joints that turns, and travels by two meters in a second, below an armature.
fn walker(armature: Value) -> Chain {
    let mut chain = chain(4, armature);
    let (root, tip) = (chain.joints[0], chain.joints[3]);
    let turns = [Quat::IDENTITY, Quat::from_rotation_z(0.5)].map(|turn| turn.to_array());
    let places = [[0.0, 0.25, 0.0], [0.0, 0.25, 2.0]];
    let (file, times) = (&mut chain.file, [0.0, 1.0]);
    file.channel("walk", tip, "rotation", "LINEAR", &times, &turns);
    file.channel("walk", root, "translation", "LINEAR", &times, &places);
    chain
}

/// Adds an empty node to the node of a joint.
fn empty(chain: &mut Chain, joint: usize, node: Value) -> usize {
    let node = chain.file.node(node);
    let children = &mut chain.file.json["nodes"][chain.joints[joint]]["children"];
    match children.as_array_mut() {
        Some(children) => children.push(node.into()),
        None => *children = json!([node]),
    }
    node
}

fn assembled(chain: &Chain, manifest: &Manifest) -> Imported {
    let glb = chain.file.glb();
    let read = |_: &str| Ok(Cow::Borrowed(&glb[..]));
    open_manifest("f", manifest, &ImportLimits::default(), read).unwrap()
}

#[test]
fn a_clip_says_what_carries_the_character() {
    let mut chain = walker(json!({ "name": "Armature" }));
    let extras = json!({
        "playback": "PingPong", "root_motion": { "steady": true },
        "callbacks": [{ "time": 0.5, "name": "footstep", "data": "left" }],
    });
    chain.file.json["animations"][0]["extras"] = json!({ "marionette": extras });
    let bare = Manifest::of_model("f.glb");
    let imported = assembled(&chain, &bare);
    assert_eq!(warnings(&imported), [] as [&Diagnostic; 0]);
    let clip = &imported.model.clips[0];
    assert_eq!(clip.timing.playback, PlaybackMode::PingPong);
    assert_eq!(&*clip.timing.callbacks[0].name, "footstep");
    let moves = clip.root_path().expect("root motion").total();
    assert!(
        moves.translation().distance(Vec3::new(0.0, 0.0, -2.0)) < 1e-5,
        "{moves:?}"
    );
    // The file alone, and a manifest that has it otherwise.
    assert!(
        open(&chain.file.glb()).unwrap().model.clips[0]
            .root_path()
            .is_none()
    );
    let text =
        b"(model: \"f.glb\", clips: {\"walk\": (root_motion: (ground: false, turn: false))})";
    let other = assembled(&chain, &Manifest::parse("f", text).unwrap());
    assert!(other.model.clips[0].root_path().is_none());

    chain.file.json["animations"][0]["extras"] = json!({ "marionette": { "ground_speed": 1.5 } });
    let imported = assembled(&chain, &bare);
    let path = imported.model.clips[0]
        .root_path()
        .expect("a speed")
        .total();
    assert!((path.translation().z + 1.5).abs() < 1e-6, "{path:?}");
}

#[test]
fn a_clip_may_have_as_many_callbacks_as_the_limit_and_no_more() {
    let mut chain = walker(json!({ "name": "Armature" }));
    let key = json!({ "time": 0.5, "name": "footstep" });
    let range = json!({ "time": 0.5, "until": 0.75, "name": "swing" });
    let extras = json!({ "callbacks": [key, key, range] });
    chain.file.json["animations"][0]["extras"] = json!({ "marionette": extras });
    let opened = |callbacks| {
        let mut settings = ImportSettings::default();
        settings.limits.callbacks = callbacks;
        open_model("f.glb", &chain.file.glb(), &settings)
    };
    assert_eq!(opened(3).unwrap().model.clips[0].timing.callbacks.len(), 3);
    assert_message("gltf: limit of callbacks", opened(2).unwrap_err());
    assert_eq!(ImportLimits::default().callbacks, 1 << 14);
}

#[test]
fn nodes_that_are_sockets_are_not_joints() {
    for (scale, turn) in [(1.0, 0.0), (100.0, 0.5), (0.01, -2.0)] {
        let size = 1.0 / scale;
        let turned = Quat::from_rotation_x(turn);
        let mut chain = walker(
            json!({ "name": "Armature", "scale": [scale, scale, scale], "rotation": turned.to_array() }),
        );
        for &joint in &chain.joints.clone() {
            let node = &mut chain.file.json["nodes"][joint];
            let y = node["translation"][1].as_f64().unwrap();
            node["translation"] = json!([0.0, y * size, 0.0]);
        }
        let rotation = Quat::from_euler(EulerRot::YXZ, 0.3, 0.2, 0.1);
        let mut node = json!({
            "name": "Empty", "translation": [0.1 * size, 0.2 * size, 0.3 * size],
            "rotation": rotation.to_array(), "scale": [size, size, size],
            "extras": { "marionette": { "socket": "right_hand" } },
        });
        empty(&mut chain, 3, node.clone());
        // One that is moved stays a joint.
        node["extras"]["marionette"]["socket"] = "moved".into();
        node["name"] = "Moved".into();
        let moved = empty(&mut chain, 3, node);
        let channel = json!({ "sampler": 0, "target": { "node": moved, "path": "rotation" } });
        let channels = &mut chain.file.json["animations"][0]["channels"];
        channels.as_array_mut().unwrap().push(channel);

        let imported = open(&chain.file.glb()).unwrap();
        assert_eq!(warnings(&imported), [] as [&Diagnostic; 0], "{scale}");
        let skeleton = &imported.model.skeleton;
        assert!(skeleton.joint("Empty").is_none() && skeleton.joint("Moved").is_some());
        let socket = &imported.embedded.sockets["right_hand"];
        assert_eq!(socket.joint, "j3");
        assert!((socket.scale - 1.0).abs() < 1e-5, "{socket:?}");
        // Half a turn around Y from glTF's axes.
        let at = Vec3::new(-0.1, 0.2, -0.3);
        assert!(socket.translation.distance(at) < 1e-5, "{socket:?}");
        let half = Quat::from_rotation_y(std::f32::consts::PI);
        let expected = half * rotation * half.inverse();
        assert!(
            socket.rotation().angle_between(expected) < 1e-3,
            "{socket:?}"
        );
        let moved = &imported.embedded.sockets["moved"];
        assert_eq!((&*moved.joint, moved.translation), ("Moved", Vec3::ZERO));
    }
}

#[test]
fn a_scene_has_the_entries_of_a_manifest() {
    let mut chain = walker(json!({ "name": "Armature" }));
    let extras = json!({
        "masks": { "top": { "roots": ["j2"], "joints": ["j0"], "falloff": 1 } },
        "blend_spaces": { "go": { "points": [["walk", 1.0], ["walk", [2.0]]] } },
        "goals": { "tip": { "limb": { "Chain": { "root": "j1", "tip": "j3" } } } },
        "a_later_version": 7,
    });
    chain.file.json["scenes"][0]["extras"] = json!({ "marionette": extras });
    let odd = open(&chain.file.glb()).unwrap();
    assert!(odd.embedded.blend_spaces.is_empty());
    assert!(odd.embedded.masks.contains_key("top"));
    assert_messages("gltf: extras of a scene that are odd", warnings(&odd));
    chain.file.json["scenes"][0]["extras"]["marionette"]["blend_spaces"] =
        json!({ "go": { "points": [["walk", 1.0]] } });
    let imported = open(&chain.file.glb()).unwrap();
    assert_eq!(warnings(&imported), [] as [&Diagnostic; 0]);
    let mask = imported.embedded.masks["top"].mask(&imported.model.skeleton);
    assert_eq!(mask.iter().collect::<Vec<_>>(), [1.0, 0.5, 1.0, 1.0]);
    assert_eq!(imported.embedded.goals.len(), 1);
}

#[test]
fn the_scene_that_is_read_has_the_entries() {
    let mut chain = walker(json!({}));
    let scenes = chain.file.json["scenes"].as_array_mut().unwrap();
    let masks = |joint: &str| json!({ "marionette": { "masks": { "a": { "joints": [joint] } } } });
    scenes[0]["extras"] = masks("j1");
    scenes.insert(0, json!({ "nodes": [], "extras": masks("j2") }));
    let imported = open(&chain.file.glb()).unwrap();
    assert_eq!(imported.embedded.masks["a"].joints, ["j1"]);
}

#[test]
fn a_mistake_in_extras_takes_nothing_else_with_it() {
    let mut chain = walker(json!({ "name": "Armature" }));
    let extras = json!({
        "masks": { "bad": { "roots": 7 }, "good": { "roots": ["j1"] } },
        "sockets": { "bad": { "joint": "j0", "scale": 1e300 }, "good": { "joint": "j1" } },
        "goals": { "bad": { "limb": null }, "good": { "limb": { "Chain": { "root": "j1", "tip": "j3" } } } },
        "look_at": { "joints": "j1" },
        "springs": [{ "joints": ["j2"] }, { "joints": ["j2"], "frequency": -1.0 }, "hair"],
        "states": { "idle": { "plays": "walk", "start": true } },
        "layers": { "arms": { "mask": "good", "states": { "rest": { "start": true } } } },
        "feet": null,
    });
    chain.file.json["scenes"][0]["extras"] = json!({ "marionette": extras });
    let found = open(&chain.file.glb()).unwrap();
    assert_messages("gltf: extras with mistakes of each kind", warnings(&found));
    let kept = found.embedded;
    assert_eq!(kept.masks.keys().collect::<Vec<_>>(), ["good"]);
    assert_eq!(kept.sockets.keys().collect::<Vec<_>>(), ["good"]);
    assert_eq!(kept.goals.keys().collect::<Vec<_>>(), ["good"]);
    assert_eq!((kept.look_at, kept.springs.len()), (None, 1));
    assert_eq!((kept.states.len(), kept.layers.len()), (1, 1));
    // Those of a clip, too.
    chain.file.json["animations"][0]["extras"] = json!({ "marionette": {
        "playback": "Twice", "callbacks": [{ "name": "x" }, { "name": "y", "time": 0.5 }],
    } });
    let found = open(&chain.file.glb()).unwrap();
    assert_eq!(found.model.clips[0].timing.callbacks.len(), 1);
}

#[test]
fn limits_that_are_none_come_back() {
    let chain = walker(json!({ "name": "Armature" }));
    let text = b"(model: \"a.glb\", masks: {\"m\": (roots: [\"j1\"])},
        look_at: (joints: [(\"j2\", 1)], speed: inf),
        goals: {\"g\": (limb: Chain(root: \"j1\", tip: \"j3\"), turn_limit: inf)})";
    let manifest = Manifest::parse("f", text).unwrap();
    let model = assembled(&chain, &Manifest::of_model("f.glb")).model;
    let written = to_glb("f", &model, Some(&manifest), |_, _| None).unwrap();
    let back = open(&written.value).unwrap();
    assert_eq!(warnings(&back), [] as [&Diagnostic; 0]);
    assert_eq!(back.embedded.goals, manifest.goals);
    assert_eq!(back.embedded.look_at, manifest.look_at);
    assert_eq!(back.embedded.masks, manifest.masks);
}

#[test]
fn mistakes_in_extras_are_said_and_left_out() {
    let mut chain = walker(json!({ "name": "Armature" }));
    let cases: [(&str, Value); 5] = [
        ("animations", json!({ "playback": "Twice" })),
        ("animations", json!({ "callbacks": [{ "name": "x" }] })),
        ("scenes", json!({ "masks": { "a": { "root": [] } } })),
        (
            "scenes",
            json!({ "sockets": { "a": { "joint": "j0", "scale": 1e300 } } }),
        ),
        ("nodes", json!({ "socket": 7 })),
    ];
    for (list, extras) in cases {
        let name = format!("gltf: {list}[0].extras.marionette = {extras}");
        chain.file.json[list][0]["extras"] = json!({ "marionette": extras });
        let found = open(&chain.file.glb()).unwrap();
        assert_messages(&name, warnings(&found));
        // Those of other programs may be anything.
        for other in [json!("x"), json!([1]), json!({ "Marionette": 1 })] {
            chain.file.json[list][0]["extras"] = other;
            assert!(open(&chain.file.glb()).unwrap().warnings.len() < found.warnings.len());
        }
        chain.file.json[list][0]
            .as_object_mut()
            .unwrap()
            .remove("extras");
    }
    // A socket that is on no joint, and two of a name.
    chain.file.json["nodes"][chain.armature]["extras"] = json!({ "marionette": { "socket": "a" } });
    for name in ["b", "c"] {
        let extras = json!({ "marionette": { "socket": "twice" } });
        empty(&mut chain, 1, json!({ "name": name, "extras": extras }));
    }
    let found = open(&chain.file.glb()).unwrap();
    assert_messages("gltf: odd sockets", warnings(&found));
    // A root that isn't there would stop a manifest.
    chain.file.json["scenes"][0]["extras"] =
        json!({ "marionette": { "root_motion": { "joint": "hips" } } });
    let found = assembled(&chain, &Manifest::of_model("f.glb"));
    assert_eq!(found.embedded.root_motion.clone().unwrap().joint, None);
    assert_messages("gltf: root motion of no joint", warnings(&found));
}
