//! glTF files made in code.

use fastrand::Rng;
use glam::{EulerRot, Mat4, Quat, Vec3};
use serde_json::{Value, json};

/// A glTF file with one buffer.
#[derive(Clone)]
pub struct File {
    pub json: Value,
    pub bin: Vec<u8>,
}

pub const BYTE: u32 = 5120;
pub const UNSIGNED_BYTE: u32 = 5121;
pub const SHORT: u32 = 5122;
pub const UNSIGNED_SHORT: u32 = 5123;
pub const UNSIGNED_INT: u32 = 5125;
pub const FLOAT: u32 = 5126;

impl File {
    pub fn new() -> Self {
        let json = json!({
            "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [] }], "nodes": [], "meshes": [],
            "accessors": [], "bufferViews": [], "buffers": [{ "byteLength": 0 }],
        });
        Self {
            json,
            bin: Vec::new(),
        }
    }

    /// Adds an object to a list of the document and returns its index.
    pub fn push(&mut self, list: &str, value: Value) -> usize {
        if self.json[list].is_null() {
            self.json[list] = json!([]);
        }
        let list = self.json[list].as_array_mut().unwrap();
        list.push(value);
        list.len() - 1
    }

    pub fn view(&mut self, bytes: &[u8], stride: Option<usize>) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let mut view =
            json!({ "buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len() });
        if let Some(stride) = stride {
            view["byteStride"] = stride.into();
        }
        self.bin.extend_from_slice(bytes);
        self.json["buffers"][0]["byteLength"] = self.bin.len().into();
        self.push("bufferViews", view)
    }

    /// Adds an accessor of `count` elements of the bytes.
    pub fn accessor(&mut self, kind: &str, component: u32, count: usize, bytes: &[u8]) -> usize {
        let view = self.view(bytes, None);
        let accessor =
            json!({ "bufferView": view, "componentType": component, "count": count, "type": kind });
        self.push("accessors", accessor)
    }

    pub fn floats<const N: usize>(&mut self, rows: &[[f32; N]]) -> usize {
        let bytes: Vec<u8> = rows
            .as_flattened()
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect();
        self.accessor(kind_of(N), FLOAT, rows.len(), &bytes)
    }

    pub fn bytes<const N: usize>(&mut self, rows: &[[u8; N]]) -> usize {
        self.accessor(kind_of(N), UNSIGNED_BYTE, rows.len(), rows.as_flattened())
    }

    pub fn shorts<const N: usize>(&mut self, rows: &[[u16; N]]) -> usize {
        let bytes: Vec<u8> = rows
            .as_flattened()
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect();
        self.accessor(kind_of(N), UNSIGNED_SHORT, rows.len(), &bytes)
    }

    pub fn node(&mut self, node: Value) -> usize {
        self.push("nodes", node)
    }

    /// Adds a node to the scene.
    pub fn root(&mut self, node: usize) {
        self.json["scenes"][0]["nodes"]
            .as_array_mut()
            .unwrap()
            .push(node.into());
    }

    pub fn skin(&mut self, joints: &[usize], inverse_binds: &[Mat4]) -> usize {
        let rows: Vec<[f32; 16]> = inverse_binds.iter().map(Mat4::to_cols_array).collect();
        let matrices = self.floats(&rows);
        self.push(
            "skins",
            json!({ "joints": joints, "inverseBindMatrices": matrices }),
        )
    }

    /// Adds a channel to the animation called `name`, which is made if there is none.
    pub fn channel<const N: usize>(
        &mut self,
        name: &str,
        node: usize,
        path: &str,
        between: &str,
        times: &[f32],
        values: &[[f32; N]],
    ) {
        let times: Vec<[f32; 1]> = times.iter().map(|&time| [time]).collect();
        let (input, output) = (self.floats(&times), self.floats(values));
        let known = self.json["animations"]
            .as_array()
            .and_then(|all| all.iter().position(|a| a["name"] == name));
        let at = known.unwrap_or_else(|| {
            self.push(
                "animations",
                json!({ "name": name, "channels": [], "samplers": [] }),
            )
        });
        let animation = &mut self.json["animations"][at];
        let samplers = animation["samplers"].as_array_mut().unwrap();
        samplers.push(json!({ "input": input, "output": output, "interpolation": between }));
        let channel =
            json!({ "sampler": samplers.len() - 1, "target": { "node": node, "path": path } });
        animation["channels"].as_array_mut().unwrap().push(channel);
    }

    /// The file as a `.glb`.
    pub fn glb(&self) -> Vec<u8> {
        self.glb_padded(0, b' ')
    }

    /// The file as a `.glb` whose JSON is padded with so many times four of these bytes, and to a multiple of four.
    pub fn glb_padded(&self, fours: usize, padding: u8) -> Vec<u8> {
        let mut json = self.json.to_string().into_bytes();
        json.resize(json.len().next_multiple_of(4) + fours * 4, padding);
        let mut bin = self.bin.clone();
        bin.resize(bin.len().next_multiple_of(4), 0);
        let mut out = b"glTF\x02\0\0\0".to_vec();
        let chunks = [(json, b"JSON"), (bin, b"BIN\0")];
        let length: usize = chunks.iter().map(|(chunk, _)| chunk.len() + 8).sum();
        out.extend_from_slice(&(length as u32 + 12).to_le_bytes());
        for (chunk, kind) in chunks {
            out.extend_from_slice(&(chunk.len() as u32).to_le_bytes());
            out.extend_from_slice(kind);
            out.extend_from_slice(&chunk);
        }
        out
    }

    /// The file as a `.gltf` whose buffer is at `uri`.
    pub fn gltf(&self, uri: &str) -> Vec<u8> {
        let mut json = self.json.clone();
        json["buffers"][0]["uri"] = uri.into();
        serde_json::to_vec_pretty(&json).unwrap()
    }

    /// The file as a `.gltf` that contains its buffer.
    pub fn gltf_with_data(&self) -> Vec<u8> {
        self.gltf(&format!(
            "data:application/octet-stream;base64,{}",
            base64(&self.bin)
        ))
    }
}

fn kind_of(components: usize) -> &'static str {
    match components {
        1 => "SCALAR",
        2 => "VEC2",
        3 => "VEC3",
        4 => "VEC4",
        _ => "MAT4",
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let three = [
            chunk[0],
            *chunk.get(1).unwrap_or(&0),
            *chunk.get(2).unwrap_or(&0),
        ];
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for digit in 0..4 {
            let used = digit <= chunk.len();
            out.push(if used {
                char::from(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63])
            } else {
                '='
            });
        }
    }
    out
}

pub fn random_turn(rng: &mut Rng, most: f32) -> Quat {
    let mut angle = || (rng.f32() * 2.0 - 1.0) * most;
    Quat::from_euler(EulerRot::XYZ, angle(), angle(), angle())
}

/// The corners of a box around `center`, and its triangles, counterclockwise from outside.
pub fn cube(center: Vec3, half: f32) -> (Vec<[f32; 3]>, Vec<u16>) {
    let corner = |i: u32| {
        let side = |bit: u32| if i >> bit & 1 == 0 { -half } else { half };
        (center + Vec3::new(side(0), side(1), side(2))).to_array()
    };
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let triangles = quads
        .iter()
        .flat_map(|&[a, b, c, d]| [a, b, c, a, c, d])
        .collect();
    ((0..8).map(corner).collect(), triangles)
}

/// A chain of joints, each a unit above its parent at rest, with a cube around each that hangs half on the joint above.
pub struct Chain {
    pub file: File,
    pub armature: usize,
    pub joints: Vec<usize>,
    pub mesh_node: usize,
}

/// Makes a [`Chain`]. `armature` is the node above, without children.
pub fn chain(length: usize, armature: Value) -> Chain {
    let mut file = File::new();
    let armature = file.node(armature);
    file.root(armature);
    let mut joints: Vec<usize> = Vec::new();
    for at in 0..length {
        let height = if at == 0 { 0.25 } else { 1.0 };
        let joint =
            file.node(json!({ "name": format!("j{at}"), "translation": [0.0, height, 0.0] }));
        let parent = joints.last().copied().unwrap_or(armature);
        file.json["nodes"][parent]["children"] = json!([joint]);
        joints.push(joint);
    }
    let below: Vec<Mat4> = (0..length)
        .map(|at| Mat4::from_translation(Vec3::Y * -(0.25 + at as f32)))
        .collect();
    let skin = file.skin(&joints, &below);
    let (mut positions, mut influences, mut weights, mut triangles) =
        (vec![], vec![], vec![], vec![]);
    for at in 0..length {
        let (corners, faces) = cube(Vec3::Y * (0.75 + at as f32), 0.4);
        triangles.extend(faces.iter().map(|v| v + positions.len() as u16));
        for corner in corners {
            let above = if corner[1] > 0.75 + at as f32 {
                (at + 1).min(length - 1)
            } else {
                at.saturating_sub(1)
            };
            positions.push(corner);
            influences.push([at as u8, above as u8, 0, 0]);
            weights.push([0.75, 0.25, 0.0, 0.0]);
        }
    }
    let corners: Vec<[u16; 1]> = triangles.into_iter().map(|v| [v]).collect();
    let attributes = json!({
        "POSITION": file.floats(&positions), "JOINTS_0": file.bytes(&influences), "WEIGHTS_0": file.floats(&weights),
    });
    let indices = file.shorts(&corners);
    let mesh = file.push(
        "meshes",
        json!({ "primitives": [{ "attributes": attributes, "indices": indices }] }),
    );
    let mesh_node = file.node(json!({ "name": "body", "mesh": mesh, "skin": skin }));
    file.root(mesh_node);
    Chain {
        file,
        armature,
        joints,
        mesh_node,
    }
}

impl Chain {
    /// Adds a clip of random turns of all joints, with linear keys at these times.
    pub fn turns(&mut self, name: &str, times: &[f32], most: f32, rng: &mut Rng) {
        for &joint in &self.joints.clone() {
            let turns: Vec<[f32; 4]> = times
                .iter()
                .map(|_| random_turn(rng, most).to_array())
                .collect();
            self.file
                .channel(name, joint, "rotation", "LINEAR", times, &turns);
        }
    }
}

pub fn even_times(count: usize, rate: f32) -> Vec<f32> {
    (0..count).map(|at| at as f32 / rate).collect()
}
