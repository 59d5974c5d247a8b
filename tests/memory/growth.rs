//! The work of reading a file grows with what is in it, not with its square: twice as much takes about twice as long. Counted
//! as the memory that is asked for in all, so that it doesn't depend on the machine: each pose that is looked at takes some.

use super::asked_for;
use bevy_marionette::import::{ImportSettings, open_model};
use serde_json::{Value, json};
use std::fmt::Write;

/// Returns the work of reading a file.
fn work(name: &str, bytes: &[u8]) -> u64 {
    asked_for(|| {
        let imported = open_model(name, bytes, &ImportSettings::default()).unwrap();
        assert!(!imported.model.clips.is_empty());
    })
}

/// Compares the work for a number of things with that for twice as many.
#[track_caller]
fn assert_linear(what: &str, counts: [usize; 3], name: &str, file: impl Fn(usize) -> Vec<u8>) {
    let work = |count| work(name, &file(count));
    for count in counts {
        let (few, many) = (work(count), work(2 * count));
        println!("{what}: {few} for {count}, and {many} for twice as many");
        assert!(
            few > 100 * count as u64 && many * 10 <= few * 23,
            "{what}: {few} for {count}, and {many} for twice as many"
        );
    }
}

/// What a made file animates.
#[derive(Clone, Copy)]
struct Rig {
    joints: usize,
    targets: usize,
    clips: usize,
    keys: usize,
    /// Joints have keys at times of their own.
    apart: bool,
}

const RIG: Rig = Rig {
    joints: 10,
    targets: 0,
    clips: 1,
    keys: 3,
    apart: false,
};

impl Rig {
    /// Seconds of a key.
    fn time(&self, key: usize, channel: usize) -> f64 {
        let share = if self.apart {
            channel as f64 / 7919.0
        } else {
            0.0
        };
        0.1 * (key as f64 + share.fract())
    }

    /// Something that differs from key to key and from channel to channel.
    fn value(key: usize, channel: usize) -> f64 {
        (0.37 * key as f64 + 0.21 * channel as f64).sin()
    }
}

/// The numbers of a glTF file's accessors, and these.
#[derive(Default)]
struct Numbers {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Numbers {
    fn floats<const N: usize>(&mut self, rows: impl Iterator<Item = [f64; N]>) -> usize {
        let kind = [("SCALAR", 1), ("VEC3", 3), ("VEC4", 4)]
            .iter()
            .find(|kind| kind.1 == N)
            .unwrap()
            .0;
        let (begin, mut count) = (self.bytes.len(), 0);
        for row in rows {
            count += 1;
            let numbers = row.iter().flat_map(|number| (*number as f32).to_le_bytes());
            self.bytes.extend(numbers);
        }
        self.view(begin, kind, 5126, count)
    }

    fn view(&mut self, begin: usize, kind: &str, component: u32, count: usize) -> usize {
        let length = self.bytes.len() - begin;
        self.views
            .push(json!({ "buffer": 0, "byteOffset": begin, "byteLength": length }));
        self.accessors.push(json!({
            "bufferView": self.views.len() - 1, "componentType": component, "count": count, "type": kind,
        }));
        self.accessors.len() - 1
    }
}

fn glb(rig: Rig) -> Vec<u8> {
    let mut numbers = Numbers::default();
    let nodes = (0..rig.joints).map(|joint| {
        let below: Vec<usize> = (2 * joint + 1..=2 * joint + 2)
            .filter(|below| *below < rig.joints)
            .collect();
        let mut node = json!({ "name": format!("j{joint}"), "translation": [0.0, 0.1, 0.0] });
        if !below.is_empty() {
            node["children"] = below.into();
        }
        node
    });
    let mut nodes: Vec<Value> = nodes.collect();
    let vertices = 3 * rig.joints;
    let places = || (0..vertices).map(|v| [0, 1, 2].map(|axis| Rig::value(v, axis)));
    let positions = numbers.floats(places());
    let weights = numbers.floats((0..vertices).map(|_| [1.0, 0.0, 0.0, 0.0]));
    let begin = numbers.bytes.len();
    for vertex in 0..vertices {
        let joints = [(vertex / 3) as u16, 0, 0, 0];
        numbers
            .bytes
            .extend(joints.iter().flat_map(|j| j.to_le_bytes()));
    }
    let joints = numbers.view(begin, "VEC4", 5123, vertices);
    let targets: Vec<Value> = (0..rig.targets)
        .map(|_| json!({ "POSITION": numbers.floats(places().take(vertices)) }))
        .collect();
    let mut primitive = json!({
        "attributes": { "POSITION": positions, "NORMAL": positions, "JOINTS_0": joints, "WEIGHTS_0": weights },
    });
    if rig.targets > 0 {
        primitive["targets"] = targets.into();
    }
    nodes.push(json!({ "mesh": 0, "skin": 0 }));
    let mut animations = Vec::new();
    for clip in 0..rig.clips {
        let (mut channels, mut samplers) = (Vec::new(), Vec::new());
        let mut add = |node: usize, path: &str, input: usize, output: usize| {
            samplers.push(json!({ "input": input, "output": output }));
            let target = json!({ "node": node, "path": path });
            channels.push(json!({ "sampler": samplers.len() - 1, "target": target }));
        };
        for joint in 0..rig.joints {
            let times = (0..rig.keys).map(|key| [rig.time(key, joint)]);
            let values = (0..rig.keys).map(|key| {
                let (sin, cos) = (0.5 * Rig::value(key, joint)).sin_cos();
                [sin, 0.0, 0.0, cos]
            });
            let (times, values) = (numbers.floats(times), numbers.floats(values));
            add(joint, "rotation", times, values);
        }
        if rig.targets > 0 {
            let times = numbers.floats((0..rig.keys).map(|key| [rig.time(key, 0)]));
            let values = (0..rig.keys * rig.targets).map(|at| [Rig::value(at, clip)]);
            let values = numbers.floats(values);
            add(rig.joints, "weights", times, values);
        }
        animations.push(
            json!({ "name": format!("c{clip}"), "channels": channels, "samplers": samplers }),
        );
    }
    let joints: Vec<usize> = (0..rig.joints).collect();
    let json = json!({
        "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0, rig.joints] }], "nodes": nodes,
        "skins": [{ "joints": joints }], "meshes": [{ "primitives": [primitive] }], "animations": animations,
        "accessors": numbers.accessors, "bufferViews": numbers.views,
        "buffers": [{ "byteLength": numbers.bytes.len() }],
    });
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut out = b"glTF\x02\0\0\0".to_vec();
    let length = 12 + 8 + text.len() + 8 + numbers.bytes.len();
    out.extend((length as u32).to_le_bytes());
    for (chunk, kind) in [(text, b"JSON"), (numbers.bytes, b"BIN\0")] {
        out.extend((chunk.len() as u32).to_le_bytes());
        out.extend(kind);
        out.extend(chunk);
    }
    out
}

/// The same as an FBX file, whose keys are cubic. Each joint has a mesh, and the first one's has the blend shapes.
fn fbx(rig: Rig) -> Vec<u8> {
    let (mut objects, mut connections) = (String::new(), String::new());
    let mut next = 1000;
    let mut object = |class: &str, prefix: &str, name: &str, kind: &str, contents: &str| -> usize {
        next += 1;
        writeln!(
            objects,
            "{class}: {next}, \"{prefix}::{name}\", \"{kind}\" {{\n{contents}\n}}"
        )
        .unwrap();
        next
    };
    let mut connect = |child: usize, parent: usize, property: &str| {
        let (kind, property) = match property {
            "" => ("OO", String::new()),
            property => ("OP", format!(",\"{property}\"")),
        };
        writeln!(connections, "C: \"{kind}\",{child},{parent}{property}").unwrap();
    };
    let place =
        "Properties70: {\nP: \"Lcl Translation\", \"Lcl Translation\", \"\", \"A\",0,1,0\n}";
    let tetrahedron = "Vertices: *12 { a: 0,0,0,1,0,0,0,1,0,0,0,1 }\nPolygonVertexIndex: *12 { a: 0,2,-2,0,1,-4,1,2,-4,2,0,-4 }";
    let (mut nodes, mut channels) = (Vec::new(), Vec::new());
    for joint in 0..rig.joints {
        let node = object("Model", "Model", &format!("j{joint}"), "Mesh", place);
        let above = if joint == 0 {
            0
        } else {
            nodes[(joint - 1) / 2]
        };
        connect(node, above, "");
        nodes.push(node);
        let mesh = object("Geometry", "Geometry", "", "Mesh", tetrahedron);
        connect(mesh, node, "");
        for shape in 0..if joint == 0 { rig.targets } else { 0 } {
            let deformer = object("Deformer", "Deformer", "", "BlendShape", "Version: 100");
            connect(deformer, mesh, "");
            let full = "Version: 100\nDeformPercent: 0\nFullWeights: *1 { a: 100 }";
            let channel = object(
                "Deformer",
                "SubDeformer",
                &format!("s{shape}"),
                "BlendShapeChannel",
                full,
            );
            connect(channel, deformer, "");
            let moved = "Version: 100\nIndexes: *1 { a: 1 }\nVertices: *3 { a: 0.1,0,0 }\nNormals: *3 { a: 0,0,0 }";
            let shape = object("Geometry", "Geometry", "", "Shape", moved);
            connect(shape, channel, "");
            channels.push(channel);
        }
    }
    let ticks = |seconds: f64| (seconds * 46_186_158_000.0).round();
    let list = |name: &str, numbers: Vec<f64>| {
        let text: Vec<String> = numbers.iter().map(f64::to_string).collect();
        format!("{name}: *{} {{ a: {} }}\n", numbers.len(), text.join(","))
    };
    for clip in 0..rig.clips {
        let stack = object("AnimationStack", "AnimStack", &format!("c{clip}"), "", "");
        let layer = object("AnimationLayer", "AnimLayer", "", "", "");
        connect(layer, stack, "");
        let joints = nodes.iter().map(|node| (*node, "Lcl Rotation", "d|X"));
        let shapes = channels
            .iter()
            .map(|channel| (*channel, "DeformPercent", "d|DeformPercent"));
        for (at, (element, property, axis)) in joints.chain(shapes).enumerate() {
            let node = object("AnimationCurveNode", "AnimCurveNode", "", "", "");
            connect(node, layer, "");
            connect(node, element, property);
            let keys = || 0..rig.keys;
            // Slopes, in single precision, bit by bit.
            let slopes = keys().flat_map(|key| {
                let slope = 30.0 * Rig::value(key, at + 1);
                [f64::from((slope as f32).to_bits().cast_signed()); 2]
                    .into_iter()
                    .chain([0.0; 2])
            });
            let contents = [
                "KeyVer: 4008\n".to_owned(),
                list(
                    "KeyTime",
                    keys().map(|key| ticks(rig.time(key, at))).collect(),
                ),
                list(
                    "KeyValueFloat",
                    keys().map(|key| 20.0 * Rig::value(key, at)).collect(),
                ),
                list(
                    "KeyAttrFlags",
                    keys().map(|_| f64::from(8 | 0x400)).collect(),
                ),
                list("KeyAttrDataFloat", slopes.collect()),
                list("KeyAttrRefCount", keys().map(|_| 1.0).collect()),
            ];
            let curve = object("AnimationCurve", "AnimCurve", "", "", &contents.concat());
            connect(curve, node, axis);
        }
    }
    let head = "; FBX 7.4.0 project file\nFBXHeaderExtension: {\nFBXHeaderVersion: 1003\nFBXVersion: 7400\n}\n";
    format!("{head}Objects: {{\n{objects}}}\nConnections: {{\n{connections}}}\n").into_bytes()
}

type Make = fn(Rig) -> Vec<u8>;

const FORMATS: [(&str, Make); 2] = [("a.glb", glb), ("a.fbx", fbx)];

#[test]
fn the_work_of_animation_channels_grows_with_their_number() {
    for (name, make) in FORMATS {
        let joints = |joints| make(Rig { joints, ..RIG });
        assert_linear("joints", [25, 50, 100], name, joints);
        let keys = |keys| make(Rig { keys, ..RIG });
        assert_linear("keys", [25, 50, 100], name, keys);
        let clips = |clips| make(Rig { clips, ..RIG });
        assert_linear("clips", [25, 50, 100], name, clips);
    }
}

#[test]
fn the_work_of_morph_targets_grows_with_their_number() {
    for (name, make) in FORMATS {
        let targets = |targets| make(Rig { targets, ..RIG });
        assert_linear("targets", [25, 50, 100], name, targets);
        let rig = Rig { targets: 10, ..RIG };
        let keys = |keys| make(Rig { keys, ..rig });
        assert_linear("keys of targets", [25, 50, 100], name, keys);
        let clips = |clips| make(Rig { clips, ..rig });
        assert_linear("clips of targets", [25, 50, 100], name, clips);
    }
}

/// A frame holds all joints, so keys at times of their own multiply with the joints, up to 128 transforms for each key. From there
/// on, the work grows as the keys do.
#[test]
fn the_work_of_joints_with_sparse_keys_of_their_own_is_bounded_for_each_key() {
    for (name, make) in FORMATS {
        let mut worst = 0;
        for joints in [50, 100, 200, 400] {
            let rig = Rig {
                joints,
                apart: true,
                ..RIG
            };
            let work = work(name, &make(rig)) / (joints * rig.keys) as u64;
            println!("{name}: {work} for each key of {joints} joints");
            worst = worst.max(work);
        }
        assert!(worst < 1 << 20, "{worst}");
        let keys = |keys| {
            make(Rig {
                keys,
                apart: true,
                ..RIG
            })
        };
        assert_linear("keys apart", [25, 50, 100], name, keys);
        let clips = |clips| {
            make(Rig {
                clips,
                apart: true,
                ..RIG
            })
        };
        assert_linear("clips apart", [25, 50, 100], name, clips);
    }
}
