//! The formulas of the glTF 2.0 specification, in `f64`, from the JSON up: sharing nothing with the importer.

use bevy_marionette::{
    import::Imported,
    internals::pose::{
        ClipLayer, Evaluate, MorphScratch, MorphVertices, Palette, Scratch, SkinVertices,
    },
    model::SkeletalClip,
};
use glam::{Affine3A, DMat4, DQuat, DVec3, DVec4, Mat4, Vec3};
use serde_json::Value;
use std::{fs, path::Path};

/// A `.glb` as it is.
pub struct Reference {
    json: Value,
    bin: Vec<u8>,
    parents: Vec<Option<usize>>,
}

impl Reference {
    pub fn new(json: Value, bin: Vec<u8>) -> Self {
        let mut parents = vec![None; json["nodes"].as_array().unwrap().len()];
        for (node, contents) in json["nodes"].as_array().unwrap().iter().enumerate() {
            for child in contents["children"].as_array().into_iter().flatten() {
                parents[index(child)] = Some(node);
            }
        }
        Self { json, bin, parents }
    }

    /// A `.glb`, or a `.gltf` with its buffer in a file beside it.
    pub fn of_file(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        if path.extension().is_some_and(|extension| extension == "glb") {
            return Self::of_glb(&bytes);
        }
        let json: Value = serde_json::from_slice(&bytes).unwrap();
        let buffer = json["buffers"][0]["uri"].as_str().unwrap();
        let bin = fs::read(path.with_file_name(buffer)).unwrap();
        Self::new(json, bin)
    }

    pub fn of_glb(glb: &[u8]) -> Self {
        let number = |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().unwrap()) as usize;
        let json = number(12);
        let bin = if glb.len() > 20 + json {
            glb[28 + json..].to_vec()
        } else {
            Vec::new()
        };
        Self::new(serde_json::from_slice(&glb[20..20 + json]).unwrap(), bin)
    }

    /// The elements of an accessor.
    fn rows(&self, accessor: &Value) -> Vec<Vec<f64>> {
        let accessor = &self.json["accessors"][index(accessor)];
        let width = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let component = accessor["componentType"].as_u64().unwrap();
        let size = match component {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            _ => 4,
        };
        let read = |view: &Value, offset: &Value, stride: Option<usize>, row: usize| -> Vec<f64> {
            let view = &self.json["bufferViews"][index(view)];
            let stride = stride
                .or(view["byteStride"].as_u64().map(|s| s as usize))
                .unwrap_or(width * size);
            let start = number(&view["byteOffset"]) + number(offset) + row * stride;
            let number = |i: usize| {
                let b = &self.bin[start + i * size..][..size];
                let (value, most) = match component {
                    5120 => (f64::from(b[0] as i8), 127.0),
                    5121 => (f64::from(b[0]), 255.0),
                    5122 => (f64::from(i16::from_le_bytes([b[0], b[1]])), 32767.0),
                    5123 => (f64::from(u16::from_le_bytes([b[0], b[1]])), 65535.0),
                    5125 => (f64::from(u32::from_le_bytes(b.try_into().unwrap())), 1.0),
                    _ => (f64::from(f32::from_le_bytes(b.try_into().unwrap())), 1.0),
                };
                if accessor["normalized"] == true {
                    (value / most).max(-1.0)
                } else {
                    value
                }
            };
            (0..width).map(number).collect()
        };
        let count = index(&accessor["count"]);
        let mut rows: Vec<Vec<f64>> = (0..count)
            .map(|row| match &accessor["bufferView"] {
                Value::Null => vec![0.0; width],
                view => read(view, &accessor["byteOffset"], None, row),
            })
            .collect();
        let sparse = &accessor["sparse"];
        for at in 0..number(&sparse["count"]) {
            let view = &self.json["bufferViews"][index(&sparse["indices"]["bufferView"])];
            let start = number(&view["byteOffset"]) + number(&sparse["indices"]["byteOffset"]);
            let row = match sparse["indices"]["componentType"].as_u64().unwrap() {
                5121 => usize::from(self.bin[start + at]),
                5123 => usize::from(u16::from_le_bytes(
                    self.bin[start + at * 2..][..2].try_into().unwrap(),
                )),
                _ => {
                    u32::from_le_bytes(self.bin[start + at * 4..][..4].try_into().unwrap()) as usize
                }
            };
            rows[row] = read(
                &sparse["values"]["bufferView"],
                &sparse["values"]["byteOffset"],
                Some(width * size),
                at,
            );
        }
        rows
    }

    /// The transform of a node relative to its parent, at a time of an animation.
    fn local(&self, node: usize, animation: Option<usize>, time: f64) -> DMat4 {
        let contents = &self.json["nodes"][node];
        if let Some(matrix) = contents["matrix"].as_array() {
            return DMat4::from_cols_array(&std::array::from_fn(|i| {
                f64::from(matrix[i].as_f64().unwrap() as f32)
            }));
        }
        let given = |key: &str, otherwise: DVec4| {
            contents[key].as_array().map_or(otherwise, |numbers| {
                let number = |i: usize| {
                    numbers
                        .get(i)
                        .map_or(0.0, |n| f64::from(n.as_f64().unwrap() as f32))
                };
                DVec4::new(number(0), number(1), number(2), number(3))
            })
        };
        let mut translation = given("translation", DVec4::ZERO);
        let mut rotation = given("rotation", DVec4::W);
        let mut scale = given("scale", DVec4::ONE);
        if let Some(animation) = animation {
            let animation = &self.json["animations"][animation];
            // The importer takes the first of several channels with one target.
            for channel in animation["channels"].as_array().unwrap().iter().rev() {
                if channel["target"]["node"].as_u64() == Some(node as u64) {
                    let sampler = &animation["samplers"][index(&channel["sampler"])];
                    let path = channel["target"]["path"].as_str().unwrap();
                    let slot = match path {
                        "translation" => &mut translation,
                        "rotation" => &mut rotation,
                        "scale" => &mut scale,
                        _ => continue,
                    };
                    *slot = self.sampled(sampler, path == "rotation", time);
                }
            }
        }
        let rotation = DQuat::from_vec4(rotation).normalize();
        DMat4::from_scale_rotation_translation(scale.truncate(), rotation, translation.truncate())
    }

    /// Appendix C of the specification. Of two keys at one time, which it doesn't allow, the second counts from that time on.
    fn sampled(&self, sampler: &Value, is_rotation: bool, time: f64) -> DVec4 {
        let times: Vec<f64> = self
            .rows(&sampler["input"])
            .into_iter()
            .map(|row| row[0])
            .collect();
        let rows = self.rows(&sampler["output"]);
        let vector = |row: usize| {
            let row = &rows[row];
            DVec4::new(row[0], row[1], row[2], row.get(3).copied().unwrap_or(0.0))
        };
        let spline = sampler["interpolation"] == "CUBICSPLINE";
        let value = |key: usize| vector(if spline { key * 3 + 1 } else { key });
        let last = times.len() - 1;
        let out = if time < times[0] {
            value(0)
        } else if time >= times[last] {
            value(last)
        } else {
            let k = times.iter().rposition(|&key| key <= time).unwrap();
            let length = times[k + 1] - times[k];
            let t = (time - times[k]) / length;
            if sampler["interpolation"] == "STEP" {
                value(k)
            } else if spline {
                let (t2, t3) = (t * t, t * t * t);
                value(k) * (2.0 * t3 - 3.0 * t2 + 1.0)
                    + vector(k * 3 + 2) * (length * (t3 - 2.0 * t2 + t))
                    + value(k + 1) * (-2.0 * t3 + 3.0 * t2)
                    + vector(k * 3 + 3) * (length * (t3 - t2))
            } else if is_rotation {
                let (from, mut to) = (value(k).normalize(), value(k + 1).normalize());
                let mut cosine = from.dot(to);
                if cosine < 0.0 {
                    (to, cosine) = (-to, -cosine);
                }
                let angle = cosine.min(1.0).acos();
                match angle < 1e-9 {
                    true => from,
                    false => {
                        (from * ((1.0 - t) * angle).sin() + to * (t * angle).sin()) / angle.sin()
                    }
                }
            } else {
                value(k) * (1.0 - t) + value(k + 1) * t
            }
        };
        if is_rotation { out.normalize() } else { out }
    }

    /// The transform of a node in the scene, at a time of an animation.
    pub fn global(&self, node: usize, animation: Option<usize>, time: f64) -> DMat4 {
        let local = self.local(node, animation, time);
        self.parents[node].map_or(local, |parent| self.global(parent, animation, time) * local)
    }

    fn in_scene(&self, node: usize) -> bool {
        let roots = self.json["scenes"][number(&self.json["scene"])]["nodes"]
            .as_array()
            .unwrap();
        roots.iter().any(|root| index(root) == node)
            || self.parents[node].is_some_and(|parent| self.in_scene(parent))
    }

    /// The weights of a node's morph targets.
    pub fn weights(&self, node: usize, animation: Option<usize>, time: f64) -> Vec<f64> {
        let contents = &self.json["nodes"][node];
        let mesh = &self.json["meshes"][index(&contents["mesh"])];
        let count = mesh["primitives"]
            .as_array()
            .unwrap()
            .iter()
            .map(|primitive| primitive["targets"].as_array().map_or(0, Vec::len))
            .max()
            .unwrap_or(0);
        let animation = animation.map(|animation| &self.json["animations"][animation]);
        let channels = animation.and_then(|animation| animation["channels"].as_array());
        let channel = channels.into_iter().flatten().find(|channel| {
            let target = &channel["target"];
            target["node"].as_u64() == Some(node as u64) && target["path"] == "weights"
        });
        let Some(channel) = channel else {
            let given = [&contents["weights"], &mesh["weights"]];
            let given = given.into_iter().find_map(Value::as_array);
            let weight = |at: usize| {
                let weight = given.and_then(|given| given.get(at));
                weight.map_or(0.0, |weight| f64::from(weight.as_f64().unwrap() as f32))
            };
            return (0..count).map(weight).collect();
        };
        let sampler = &animation.unwrap()["samplers"][index(&channel["sampler"])];
        let column = |rows: Vec<Vec<f64>>| rows.into_iter().map(|row| row[0]).collect::<Vec<_>>();
        let times = column(self.rows(&sampler["input"]));
        let values = column(self.rows(&sampler["output"]));
        let spline = sampler["interpolation"] == "CUBICSPLINE";
        let at = |target: usize| {
            let of = |key: usize, part: usize| match spline {
                true => values[(key * 3 + part) * count + target],
                false => values[key * count + target],
            };
            let value = |key: usize| of(key, 1);
            let last = times.len() - 1;
            if time <= times[0] {
                return value(0);
            }
            if time >= times[last] {
                return value(last);
            }
            let k = times.iter().rposition(|&key| key <= time).unwrap();
            let length = times[k + 1] - times[k];
            let t = (time - times[k]) / length;
            if sampler["interpolation"] == "STEP" {
                value(k)
            } else if spline {
                let (t2, t3) = (t * t, t * t * t);
                value(k) * (2.0 * t3 - 3.0 * t2 + 1.0)
                    + of(k, 2) * (length * (t3 - 2.0 * t2 + t))
                    + value(k + 1) * (-2.0 * t3 + 3.0 * t2)
                    + of(k + 1, 0) * (length * (t3 - t2))
            } else {
                value(k) * (1.0 - t) + value(k + 1) * t
            }
        };
        (0..count).map(at).collect()
    }

    /// All vertices of the scene at a time of an animation, node by node and primitive by primitive.
    pub fn vertices(&self, animation: Option<usize>, time: f64) -> Vec<DVec3> {
        let mut out = Vec::new();
        for (node, contents) in self.json["nodes"].as_array().unwrap().iter().enumerate() {
            if contents["mesh"].is_null() || !self.in_scene(node) {
                continue;
            }
            let matrices: Vec<DMat4> = match &contents["skin"] {
                Value::Null => vec![self.global(node, animation, time)],
                skin => {
                    let skin = &self.json["skins"][index(skin)];
                    let inverse_binds = (!skin["inverseBindMatrices"].is_null())
                        .then(|| self.rows(&skin["inverseBindMatrices"]));
                    let joints = skin["joints"].as_array().unwrap().iter().enumerate();
                    let matrix = |(at, joint): (usize, &Value)| {
                        let inverse_bind = inverse_binds
                            .as_ref()
                            .map_or(DMat4::IDENTITY, |rows| DMat4::from_cols_slice(&rows[at]));
                        self.global(index(joint), animation, time) * inverse_bind
                    };
                    joints.map(matrix).collect()
                }
            };
            for primitive in self.json["meshes"][index(&contents["mesh"])]["primitives"]
                .as_array()
                .unwrap()
            {
                let attributes = &primitive["attributes"];
                let sets: Vec<[Vec<Vec<f64>>; 2]> = (0..)
                    .map_while(|set| {
                        let (joints, weights) = (
                            &attributes[format!("JOINTS_{set}")],
                            &attributes[format!("WEIGHTS_{set}")],
                        );
                        (!joints.is_null() && !contents["skin"].is_null())
                            .then(|| [self.rows(joints), self.rows(weights)])
                    })
                    .collect();
                let mut positions: Vec<DVec3> = self
                    .rows(&attributes["POSITION"])
                    .iter()
                    .map(|row| DVec3::from_slice(row))
                    .collect();
                let weights = self.weights(node, animation, time);
                let targets = primitive["targets"].as_array().into_iter().flatten();
                for (target, weight) in targets.zip(weights) {
                    if target["POSITION"].is_null() {
                        continue;
                    }
                    for (position, delta) in
                        positions.iter_mut().zip(self.rows(&target["POSITION"]))
                    {
                        *position += DVec3::from_slice(&delta) * weight;
                    }
                }
                for (at, position) in positions.into_iter().enumerate() {
                    let (mut moved, mut total) = (DVec3::ZERO, 0.0);
                    for [joints, weights] in &sets {
                        for (joint, weight) in joints[at]
                            .iter()
                            .zip(&weights[at])
                            .filter(|(_, weight)| **weight > 0.0)
                        {
                            moved += matrices[*joint as usize].transform_point3(position) * *weight;
                            total += weight;
                        }
                    }
                    out.push(if sets.is_empty() {
                        matrices[0].transform_point3(position)
                    } else {
                        moved / total
                    });
                }
            }
        }
        out
    }

    pub fn animation(&self, name: &str) -> usize {
        self.json["animations"]
            .as_array()
            .unwrap()
            .iter()
            .position(|a| a["name"] == name)
            .unwrap()
    }

    /// Times of the animation's keys.
    pub fn key_times(&self, animation: usize) -> Vec<f64> {
        let samplers = self.json["animations"][animation]["samplers"]
            .as_array()
            .unwrap();
        let mut times: Vec<f64> = samplers
            .iter()
            .flat_map(|s| self.rows(&s["input"]))
            .map(|row| row[0])
            .collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }
}

fn index(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap_or_default() as usize
}

/// The imported vertices as the engine moves them, each with its index in the file.
pub fn posed(imported: &Imported, clip: Option<&SkeletalClip>, time: f64) -> Vec<(usize, Vec3)> {
    let model = &imported.model;
    let layers: Vec<ClipLayer> = clip.iter().map(|clip| ClipLayer::new(clip, time)).collect();
    let mut scratch = Scratch::default();
    let (job, mut morphs) = (
        Evaluate::new(&model.skeleton, &layers),
        MorphScratch::default(),
    );
    job.run(&mut scratch);
    let weights = job.run_morphs(&mut morphs);
    let weights = weights.unwrap_or(model.skeleton.morphs().rest());
    let mut out = Vec::new();
    for part in &model.parts {
        let mut shaped = part.clone();
        MorphVertices { part, weights }.positions(&mut shaped.positions);
        let mut palette = vec![Mat4::IDENTITY; part.palette_len()];
        let inverse_bind = model.skeleton.inverse_bind();
        Palette {
            world: Affine3A::IDENTITY,
            model: scratch.model(),
            inverse_bind,
            remap: &part.palette,
            combined: &part.combined_joints,
        }
        .run(&mut palette);
        let mut positions = vec![Vec3::ZERO; part.positions.len()];
        SkinVertices {
            part: &shaped,
            palette: &palette,
        }
        .positions(&mut positions);
        out.extend(
            part.source_vertices
                .iter()
                .map(|&source| source as usize)
                .zip(positions),
        );
    }
    out
}

/// The largest distance between imported vertices and the specification's, as a share of the diagonal of its box.
pub fn error(
    reference: &Reference,
    imported: &Imported,
    animation: Option<usize>,
    clip: Option<&SkeletalClip>,
    time: f64,
) -> f64 {
    let expected = reference.vertices(animation, time);
    let at_rest = reference.vertices(None, 0.0);
    let low = at_rest.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = at_rest
        .iter()
        .copied()
        .fold(DVec3::NEG_INFINITY, DVec3::max);
    let mut worst = 0f64;
    for (source, got) in posed(imported, clip, time) {
        // glTF faces +Z.
        let expected = expected[source] * DVec3::new(-1.0, 1.0, -1.0);
        worst = worst.max(got.as_dvec3().distance(expected));
    }
    worst / low.distance(high)
}

/// The largest [`error`] of a clip at its keys and between them.
pub fn error_of_clip(reference: &Reference, imported: &Imported, name: &str) -> f64 {
    let animation = reference.animation(name);
    let clip = imported
        .model
        .clips
        .iter()
        .find(|clip| &*clip.timing.name == name)
        .unwrap();
    let keys = reference.key_times(animation);
    let last = *keys.last().unwrap();
    assert!(
        (clip.timing.duration - last).abs() < 1e-5,
        "{} s, expected {last}",
        clip.timing.duration
    );
    let between = (0..=31).map(|i| last * f64::from(i) / 31.0);
    let stride = keys.len().div_ceil(40);
    let times = keys.iter().copied().step_by(stride).chain(between);
    // At its very end, a loop starts over.
    times
        .map(|time| {
            error(
                reference,
                imported,
                Some(animation),
                Some(clip),
                time.min(last - 1e-6).max(0.0),
            )
        })
        .fold(0.0, f64::max)
}
