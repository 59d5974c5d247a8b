//! glTF 2.0 as its specification has it: what must hold in a file, and where a skinned vertex is.

use glam::{DMat4, DQuat, DVec3, DVec4};
use serde_json::Value;

/// A binary glTF file with one buffer.
pub struct Gltf {
    pub json: Value,
    binary: Vec<u8>,
}

fn index(value: &Value) -> usize {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("not an index: {value}")) as usize
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value)
        .iter()
        .map(|number| number.as_f64().unwrap())
        .collect()
}

impl Gltf {
    pub fn read(file: &[u8]) -> Self {
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!(
            (&file[..4], word(4), word(8)),
            (&b"glTF"[..], 2, file.len())
        );
        let (json, at) = (&file[20..20 + word(12)], 20 + word(12));
        assert_eq!((&file[16..20], at % 4), (&b"JSON"[..], 0));
        let binary = if at < file.len() {
            assert_eq!(
                (&file[at + 4..at + 8], word(at) % 4, at + 8 + word(at)),
                (&b"BIN\0"[..], 0, file.len())
            );
            file[at + 8..].to_vec()
        } else {
            Vec::new()
        };
        Self {
            json: serde_json::from_slice(json).unwrap(),
            binary,
        }
    }

    pub fn view(&self, view: usize) -> &[u8] {
        let view = &self.json["bufferViews"][view];
        &self.binary[index(&view["byteOffset"])..][..index(&view["byteLength"])]
    }

    fn accessor(&self, accessor: usize) -> Vec<Vec<f64>> {
        let accessor = &self.json["accessors"][accessor];
        let width = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            "MAT4" => 16,
            other => panic!("{other}"),
        };
        let count = index(&accessor["count"]);
        let kind = index(&accessor["componentType"]);
        let mut rows = match accessor.get("bufferView") {
            Some(_) => self.rows(accessor, kind, count, width),
            None => vec![vec![0.0; width]; count],
        };
        if let Some(sparse) = accessor.get("sparse") {
            let changed = index(&sparse["count"]);
            let places = &sparse["indices"];
            let places = self.rows(places, index(&places["componentType"]), changed, 1);
            let values = self.rows(&sparse["values"], kind, changed, width);
            assert!(places.is_sorted_by(|a, b| a[0] < b[0]));
            for (place, value) in places.iter().zip(values) {
                rows[place[0] as usize] = value;
            }
        }
        rows
    }

    /// Numbers at a place in a buffer view.
    fn rows(&self, place: &Value, kind: usize, count: usize, width: usize) -> Vec<Vec<f64>> {
        let size = [1, 2, 4, 4][[5121, 5123, 5125, 5126]
            .iter()
            .position(|t| kind == *t)
            .unwrap()];
        let begin = place.get("byteOffset").map_or(0, index);
        let bytes = &self.view(index(&place["bufferView"]))[begin..][..count * width * size];
        let number = |bytes: &[u8]| match (bytes, kind) {
            (&[byte], _) => f64::from(byte),
            (&[a, b], _) => f64::from(u16::from_le_bytes([a, b])),
            (&[a, b, c, d], 5125) => f64::from(u32::from_le_bytes([a, b, c, d])),
            (&[a, b, c, d], _) => f64::from(f32::from_le_bytes([a, b, c, d])),
            _ => unreachable!(),
        };
        bytes
            .chunks(width * size)
            .map(|row| row.chunks(size).map(number).collect())
            .collect()
    }

    pub fn animations(&self) -> Vec<&str> {
        list(&self.json["animations"])
            .iter()
            .map(|animation| animation["name"].as_str().unwrap())
            .collect()
    }

    /// The last key's time.
    pub fn duration(&self, animation: usize) -> f64 {
        let samplers = list(&self.json["animations"][animation]["samplers"]).iter();
        let last = |sampler: &Value| self.accessor(index(&sampler["input"])).last().unwrap()[0];
        samplers.map(last).fold(0.0, f64::max)
    }

    /// The positions of each mesh at a time of an animation, or at rest.
    pub fn posed(&self, animation: Option<usize>, time: f64) -> Vec<Vec<DVec3>> {
        let nodes = list(&self.json["nodes"]);
        let mut local: Vec<(DVec3, DQuat, DVec3)> = nodes
            .iter()
            .map(|node| {
                let vector = |key: &str, otherwise: DVec3| {
                    node.get(key)
                        .map_or(otherwise, |value| DVec3::from_slice(&numbers(value)))
                };
                let rotation = node
                    .get("rotation")
                    .map_or(DQuat::IDENTITY, |q| DQuat::from_slice(&numbers(q)));
                (
                    vector("translation", DVec3::ZERO),
                    rotation,
                    vector("scale", DVec3::ONE),
                )
            })
            .collect();
        if let Some(animation) = animation {
            let animation = &self.json["animations"][animation];
            for channel in list(&animation["channels"]) {
                let sampler = &animation["samplers"][index(&channel["sampler"])];
                let times: Vec<f64> = self
                    .accessor(index(&sampler["input"]))
                    .into_iter()
                    .flatten()
                    .collect();
                let values = self.accessor(index(&sampler["output"]));
                let next = times.partition_point(|&key| key <= time);
                let (from, to) = (next.saturating_sub(1), next.min(times.len() - 1));
                let share = if to > from {
                    (time - times[from]) / (times[to] - times[from])
                } else {
                    0.0
                };
                let (translation, rotation, scale) = &mut local[index(&channel["target"]["node"])];
                let lerp =
                    || DVec3::from_slice(&values[from]).lerp(DVec3::from_slice(&values[to]), share);
                match channel["target"]["path"].as_str().unwrap() {
                    "translation" => *translation = lerp(),
                    "scale" => *scale = lerp(),
                    "rotation" => {
                        *rotation = slerp(
                            DQuat::from_slice(&values[from]),
                            DQuat::from_slice(&values[to]),
                            share,
                        );
                    }
                    other => panic!("{other}"),
                }
            }
        }
        let mut parent = vec![None; nodes.len()];
        for (at, node) in nodes.iter().enumerate() {
            list(&node["children"])
                .iter()
                .for_each(|child| parent[index(child)] = Some(at));
        }
        let global = |node: usize| {
            let mut matrix = DMat4::IDENTITY;
            let mut at = Some(node);
            while let Some(node) = at {
                let (translation, rotation, scale) = local[node];
                matrix = DMat4::from_scale_rotation_translation(
                    scale,
                    rotation.normalize(),
                    translation,
                ) * matrix;
                at = parent[node];
            }
            matrix
        };
        let mesh = |at: usize| {
            let mesh = &self.json["meshes"][index(&nodes[at]["mesh"])];
            let attributes = &mesh["primitives"][0]["attributes"];
            let points = self.accessor(index(&attributes["POSITION"]));
            let points = points
                .iter()
                .map(|point| DVec3::from_slice(point).extend(1.0));
            let Some(skin) = nodes[at].get("skin") else {
                let matrix = global(at);
                return points.map(|point| (matrix * point).truncate()).collect();
            };
            let skin = &self.json["skins"][index(skin)];
            let inverse_bind = self.accessor(index(&skin["inverseBindMatrices"]));
            let joint = |(joint, inverse): (&Value, &Vec<f64>)| {
                global(index(joint)) * DMat4::from_cols_slice(inverse)
            };
            let matrices: Vec<DMat4> = list(&skin["joints"])
                .iter()
                .zip(&inverse_bind)
                .map(joint)
                .collect();
            let mut sums = vec![DVec4::ZERO; points.len()];
            for set in 0.. {
                let Some(joints) = attributes.get(format!("JOINTS_{set}")) else {
                    break;
                };
                let weights = self.accessor(index(&attributes[format!("WEIGHTS_{set}")]));
                let joints = self.accessor(index(joints));
                for (vertex, point) in points.clone().enumerate() {
                    for (joint, weight) in joints[vertex].iter().zip(&weights[vertex]) {
                        sums[vertex] += matrices[*joint as usize] * point * *weight;
                    }
                }
            }
            sums.into_iter().map(DVec4::truncate).collect()
        };
        (0..nodes.len())
            .filter(|&node| nodes[node].get("mesh").is_some())
            .map(mesh)
            .collect()
    }

    /// Panics where the file breaks the specification.
    pub fn check(&self) {
        let json = &self.json;
        assert_eq!(json["asset"]["version"], "2.0");
        if !self.binary.is_empty() {
            let length = index(&json["buffers"][0]["byteLength"]);
            assert!((self.binary.len() - 3..=self.binary.len()).contains(&length));
        }
        for key in [
            "nodes",
            "meshes",
            "skins",
            "animations",
            "accessors",
            "materials",
            "images",
            "extensionsUsed",
        ] {
            assert!(
                json.get(key)
                    .is_none_or(|list| !list.as_array().unwrap().is_empty()),
                "{key} is empty"
            );
        }
        for (at, accessor) in list(&json["accessors"]).iter().enumerate() {
            let rows = self.accessor(at);
            assert!(!rows.is_empty() && rows.iter().flatten().all(|number| number.is_finite()));
            if accessor.get("bufferView").is_some() {
                let view = &json["bufferViews"][index(&accessor["bufferView"])];
                let whole = [5125, 5126].iter().any(|t| accessor["componentType"] == *t);
                let begin = index(&view["byteOffset"]) + index(&accessor["byteOffset"]);
                assert_eq!(begin % if whole { 4 } else { 1 }, 0);
            }
            for (bound, of) in [("min", f64::min as fn(f64, f64) -> f64), ("max", f64::max)] {
                let Some(stated) = accessor.get(bound) else {
                    continue;
                };
                let fold = |column: usize| rows.iter().map(|row| row[column]).reduce(of).unwrap();
                let stated: Vec<f64> = numbers(stated)
                    .iter()
                    .map(|number| f64::from(*number as f32))
                    .collect();
                assert_eq!(stated, (0..rows[0].len()).map(fold).collect::<Vec<_>>());
            }
        }
        self.check_nodes();
        for skin in list(&json["skins"]) {
            let inverse_bind = self.accessor(index(&skin["inverseBindMatrices"]));
            assert_eq!(inverse_bind.len(), list(&skin["joints"]).len());
            assert!(
                inverse_bind
                    .iter()
                    .all(|m| [m[3], m[7], m[11], m[15]] == [0.0, 0.0, 0.0, 1.0])
            );
        }
        for mesh in list(&json["meshes"]) {
            self.check_primitive(&mesh["primitives"][0]);
        }
        for animation in list(&json["animations"]) {
            self.check_animation(animation);
        }
    }

    fn check_nodes(&self) {
        let nodes = list(&self.json["nodes"]);
        let mut parents = vec![0; nodes.len()];
        for node in nodes {
            list(&node["children"])
                .iter()
                .for_each(|child| parents[index(child)] += 1);
            if let Some(rotation) = node.get("rotation") {
                assert!(
                    (DVec4::from_slice(&numbers(rotation)).length() - 1.0).abs() < 1e-5,
                    "{node}"
                );
            }
        }
        list(&self.json["scenes"][0]["nodes"])
            .iter()
            .for_each(|root| parents[index(root)] += 1);
        assert!(
            parents.iter().all(|&count| count == 1),
            "every node has one parent or is a root: {parents:?}"
        );
    }

    fn check_primitive(&self, primitive: &Value) {
        let attributes = &primitive["attributes"];
        let attribute = |name: &str| {
            attributes
                .get(name)
                .map(|accessor| self.accessor(index(accessor)))
        };
        let count = attribute("POSITION").unwrap().len();
        let position = &self.json["accessors"][index(&attributes["POSITION"])];
        assert!(position.get("min").is_some() && position.get("max").is_some());
        for name in ["NORMAL", "TANGENT"] {
            for row in attribute(name).into_iter().flatten() {
                assert!(
                    (DVec3::from_slice(&row).length() - 1.0).abs() < 1e-4,
                    "{name} {row:?}"
                );
                assert!(row.get(3).is_none_or(|sign| sign.abs() == 1.0));
            }
        }
        let mut sums = vec![0.0; count];
        let mut sets = 0;
        while let Some((joints, weights)) =
            attribute(&format!("JOINTS_{sets}")).zip(attribute(&format!("WEIGHTS_{sets}")))
        {
            assert_eq!((joints.len(), weights.len()), (count, count));
            let most = list(&self.json["skins"][0]["joints"]).len() as f64;
            assert!(joints.iter().flatten().all(|joint| *joint < most));
            assert!(weights.iter().flatten().all(|weight| *weight >= 0.0));
            let mut unused = joints.iter().flatten().zip(weights.iter().flatten());
            assert!(unused.all(|(joint, weight)| *weight > 0.0 || *joint == 0.0));
            sums.iter_mut()
                .zip(&weights)
                .for_each(|(sum, row)| *sum += row.iter().sum::<f64>());
            sets += 1;
        }
        assert!(sets == 0 || sums.iter().all(|sum| (sum - 1.0).abs() < 1e-5));
        for name in ["NORMAL", "TANGENT", "TEXCOORD_0"] {
            assert!(
                attribute(name).is_none_or(|rows| rows.len() == count),
                "{name}"
            );
        }
        let indices = self.accessor(index(&primitive["indices"]));
        assert!(
            indices.len().is_multiple_of(3)
                && indices.iter().all(|corner| (corner[0] as usize) < count)
        );
        let restart =
            if self.json["accessors"][index(&primitive["indices"])]["componentType"] == 5123 {
                65535.0
            } else {
                4294967295.0
            };
        assert!(indices.iter().all(|corner| corner[0] < restart));
    }

    fn check_animation(&self, animation: &Value) {
        let mut targets: Vec<(usize, &str)> = Vec::new();
        for channel in list(&animation["channels"]) {
            let sampler = &animation["samplers"][index(&channel["sampler"])];
            let times: Vec<f64> = self
                .accessor(index(&sampler["input"]))
                .into_iter()
                .flatten()
                .collect();
            assert!(
                times[0] >= 0.0 && times.is_sorted_by(|a, b| a < b),
                "{times:?}"
            );
            let input = &self.json["accessors"][index(&sampler["input"])];
            assert!(input.get("min").is_some() && input.get("max").is_some());
            let values = self.accessor(index(&sampler["output"]));
            assert_eq!(values.len(), times.len());
            let path = channel["target"]["path"].as_str().unwrap();
            if path == "rotation" {
                let unit = |row: &Vec<f64>| (DVec4::from_slice(row).length() - 1.0).abs() < 1e-5;
                assert!(values.iter().all(unit));
                let near = |pair: &[Vec<f64>]| {
                    DVec4::from_slice(&pair[0]).dot(DVec4::from_slice(&pair[1])) > 0.0
                };
                assert!(values.windows(2).all(near), "neighbors have one sign");
            }
            targets.push((index(&channel["target"]["node"]), path));
        }
        let count = targets.len();
        targets.sort_unstable();
        targets.dedup();
        assert_eq!((targets.len(), count > 0), (count, true));
    }
}

/// Spherical interpolation along the shorter arc.
fn slerp(from: DQuat, to: DQuat, share: f64) -> DQuat {
    let (from, to) = (from.normalize(), to.normalize());
    let dot = from.dot(to);
    let (to, dot) = if dot < 0.0 { (-to, -dot) } else { (to, dot) };
    let angle = dot.min(1.0).acos();
    if angle < 1e-9 {
        return from;
    }
    (from * ((1.0 - share) * angle).sin() + to * (share * angle).sin()) * (1.0 / angle.sin())
}
