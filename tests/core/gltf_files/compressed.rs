//! Compressed files, which are what they were made from.
//!
//! The files in `compressed` are parts of the sample dog, `plain.glb`, by other programs: gltfpack 1.3, gltf-transform 4.5 with
//! Draco's own encoder, and meshoptimizer's own encoder with every filter.

use super::{
    file::{File, chain},
    open,
};
use crate::messages::assert_message;
use bevy_marionette::{import::Imported, model::SkinPart};
use glam::{Mat4, Vec2, Vec3, Vec4};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::PathBuf};

fn load(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(file!()).with_extension("");
    let path = folder.join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn import(name: &str) -> Imported {
    open(&load(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A corner of a triangle.
struct Corner {
    position: Vec3,
    normal: Vec3,
    tex_coord: Vec2,
    color: Option<Vec4>,
    weights: BTreeMap<String, f32>,
}

impl Corner {
    fn of(imported: &Imported, part: &SkinPart, vertex: u32) -> Self {
        let vertex = vertex as usize;
        let skeleton = &imported.model.skeleton;
        let (mut weights, mut matrix) = (BTreeMap::new(), Mat4::ZERO);
        for (slot, weight) in part.joint_weights(vertex) {
            let joint = part.palette[slot];
            let at = usize::from(joint);
            let moved = skeleton.rest_model()[at] * skeleton.inverse_bind()[at];
            matrix += Mat4::from(moved) * weight;
            let name = imported.model.skeleton.name(joint).to_string();
            *weights.entry(name).or_default() += weight;
        }
        Self {
            // Where it is at rest: positions may be stored in another space.
            position: matrix.transform_point3(part.positions[vertex]),
            normal: matrix.transform_vector3(part.normals[vertex]).normalize(),
            tex_coord: part.tex_coords[vertex],
            color: part.colors.get(vertex).copied(),
            weights,
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        let weight = |of: &Self, joint: &str| of.weights.get(joint).copied().unwrap_or_default();
        let joints = self.weights.keys().chain(other.weights.keys());
        self.position.distance(other.position) < 1e-3
            && self.normal.distance(other.normal) < 0.03
            && self.tex_coord.distance(other.tex_coord) < 1e-3
            && joints
                .into_iter()
                .all(|joint| (weight(self, joint) - weight(other, joint)).abs() < 0.02)
    }
}

fn triangles(imported: &Imported) -> Vec<[Corner; 3]> {
    let of_part = |part: &SkinPart| -> Vec<[Corner; 3]> {
        let corner = |vertex| Corner::of(imported, part, vertex);
        part.triangles
            .iter()
            .map(|triangle| triangle.map(corner))
            .collect()
    };
    imported.model.parts.iter().flat_map(of_part).collect()
}

/// Checks that a file has the triangles of `plain.glb`, with all that belongs to their corners.
fn is_like_plain(name: &str) {
    let plain = import("plain.glb");
    let size = plain.model.parts[0]
        .positions
        .iter()
        .fold(0f32, |size, p| size.max(p.length()));
    assert!((0.3..3.0).contains(&size), "{size}");
    let (plain, made) = (triangles(&plain), triangles(&import(name)));
    assert!(plain.len() > 600);
    let same = |a: &[Corner; 3], b: &[Corner; 3]| {
        (0..3).any(|turn| (0..3).all(|at| a[at].is_like(&b[(at + turn) % 3])))
    };
    let missing = plain
        .iter()
        .filter(|a| !made.iter().any(|b| same(a, b)))
        .count();
    let new = made
        .iter()
        .filter(|a| !plain.iter().any(|b| same(a, b)))
        .count();
    // Very small triangles may become edges.
    let few = plain.len() / 100;
    assert!(
        missing <= few && new <= few,
        "{name}: of {} triangles, {missing} are missing, and of {}, {new} are new",
        plain.len(),
        made.len()
    );
}

#[test]
fn draco_meshes_of_both_kinds_and_all_predictions_are_what_they_were_made_from() {
    for name in [
        "draco.glb",
        "draco-slow.glb",
        "draco-fast.glb",
        "draco-sequential.glb",
    ] {
        is_like_plain(name);
    }
}

#[test]
fn views_of_meshoptimizer_are_what_they_were_made_from() {
    for name in ["gltfpack.glb", "meshopt-ext.glb", "meshopt-khr.glb"] {
        is_like_plain(name);
    }
}

/// Colors were made of texture coordinates.
#[test]
fn the_color_filter_gives_colors_back() {
    for name in ["meshopt-ext.glb", "meshopt-khr.glb"] {
        let mut count = 0;
        for corner in triangles(&import(name)).into_iter().flatten() {
            let Vec2 { x: u, y: v } = corner.tex_coord;
            let expected = Vec4::new(u, v, 1.0 - u, 0.5 + 0.5 * v);
            if expected.clamp(Vec4::ZERO, Vec4::ONE) == expected {
                assert!(corner.color.unwrap().abs_diff_eq(expected, 0.01), "{name}");
                count += 1;
            }
        }
        assert!(count > 1000, "{count}");
    }
}

/// Changes the JSON of a file.
fn edited(name: &str, edit: impl FnOnce(&mut Value)) -> Vec<u8> {
    let glb = load(name);
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let mut file = File {
        json: serde_json::from_slice(&glb[20..20 + length]).unwrap(),
        bin: glb[28 + length..].to_vec(),
    };
    edit(&mut file.json);
    file.glb()
}

#[test]
fn what_is_wrong_with_compressed_data_is_said() {
    let view = |json: &Value| -> usize {
        let views = json["bufferViews"].as_array().unwrap();
        views
            .iter()
            .position(|view| !view["extensions"].is_null())
            .unwrap()
    };
    let meshopt = |field: &str, value: Value| {
        edited("meshopt-ext.glb", |json| {
            let view = view(json);
            json["bufferViews"][view]["extensions"]["EXT_meshopt_compression"][field] = value;
        })
    };
    let draco = |value: Value| {
        edited("draco.glb", |json| {
            let primitive = &mut json["meshes"][0]["primitives"][0];
            primitive["extensions"]["KHR_draco_mesh_compression"] = value;
        })
    };
    let attributes = json!({ "POSITION": 9 });
    for (what, file) in [
        ("an unknown mode", meshopt("mode", json!("TRIANGLE"))),
        ("an unknown filter", meshopt("filter", json!("SQUARE"))),
        ("a stride of 3", meshopt("byteStride", json!(3))),
        ("too many elements", meshopt("count", json!(1u64 << 40))),
        ("cut data", meshopt("byteLength", json!(7))),
        ("data past the end", meshopt("byteOffset", json!(1 << 30))),
        ("Draco without fields", draco(json!({}))),
        (
            "Draco data that is none",
            draco(json!({ "bufferView": 0, "attributes": attributes })),
        ),
        (
            "Draco data out of range",
            draco(json!({ "bufferView": 99, "attributes": attributes })),
        ),
    ] {
        let error = open(&file).err().unwrap_or_else(|| panic!("{what}"));
        assert_message(&format!("gltf: compressed, {what}"), error);
    }
    let without_indices = edited("draco.glb", |json| {
        json["meshes"][0]["primitives"][0]["indices"] = Value::Null;
    });
    let error = open(&without_indices).err().unwrap();
    assert_message("gltf: compressed, Draco without indices", error);
}

#[test]
fn data_that_is_there_in_full_needs_no_decompression() {
    let mut chain = chain(3, json!({}));
    let plain = open(&chain.file.glb()).unwrap();
    let view = chain.file.view(b"not compressed at all", None);
    let primitive = &mut chain.file.json["meshes"][0]["primitives"][0];
    primitive["extensions"] = json!({ "KHR_draco_mesh_compression": {
        "bufferView": view, "attributes": { "POSITION": 0 },
    } });
    chain.file.json["extensionsUsed"] = json!(["KHR_draco_mesh_compression"]);
    let with_fallback = open(&chain.file.glb());
    let has_all = chain.file.json["meshes"][0]["primitives"][0]["indices"].is_u64();
    if has_all {
        assert_eq!(with_fallback.unwrap().model.parts, plain.model.parts);
    } else {
        assert!(with_fallback.is_ok());
    }
    // Where Draco is required, what else there is doesn't count.
    chain.file.json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    assert!(open(&chain.file.glb()).is_err());
}

/// The most that two imports differ by; words if it is more than numbers.
fn difference(a: &Imported, b: &Imported) -> Result<f32, String> {
    let [a, b] = [&a.model, &b.model];
    if a.parts.len() != b.parts.len() {
        return Err(format!("{} and {} parts", a.parts.len(), b.parts.len()));
    }
    let mut worst = 0f32;
    for (a, b) in a.parts.iter().zip(&b.parts) {
        if a.triangles.len() != b.triangles.len() {
            return Err(format!("the triangles of `{}`", a.name));
        }
        // Vertices may be numbered in another way.
        let corners = a
            .triangles
            .as_flattened()
            .iter()
            .zip(b.triangles.as_flattened());
        for (&a_vertex, &b_vertex) in corners {
            let (v, w) = (a_vertex as usize, b_vertex as usize);
            worst = worst
                .max(a.positions[v].distance(b.positions[w]))
                .max(a.normals[v].distance(b.normals[w]))
                .max(a.tex_coords[v].distance(b.tex_coords[w]));
        }
    }
    if a.skeleton.names() != b.skeleton.names() || a.clips.len() != b.clips.len() {
        return Err("the skeletons or clips".into());
    }
    for (a, b) in a
        .clips
        .iter()
        .zip(&b.clips)
        .filter(|(a, b)| a.frame_count() == b.frame_count())
    {
        for frame in 0..a.frame_count() {
            for joint in 0..a.joints().len() {
                let [a, b] = [a, b].map(|clip| clip.transform_at(joint, frame));
                let turn = 1.0 - a.rotation.dot(b.rotation).abs();
                worst = worst.max(a.translation.distance(b.translation)).max(turn);
            }
        }
    }
    Ok(worst)
}

/// `MARIONETTE_GLTF_TWINS` names a folder of compressed `NAME.glb`, each with its `NAME.unpacked.glb` by another program.
#[test]
fn real_files_are_what_other_programs_decompress() {
    let Some(folder) = std::env::var_os("MARIONETTE_GLTF_TWINS") else {
        return;
    };
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.to_string_lossy().ends_with(".unpacked.glb"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    let (mut failed, count) = (Vec::new(), files.len());
    for twin in files {
        let path = twin.to_string_lossy().replace(".unpacked", "");
        let [a, b] = [PathBuf::from(&path), twin].map(|path| open(&fs::read(path).unwrap()));
        let wrong = match (a, b) {
            (Ok(a), Ok(b)) => match difference(&a, &b) {
                Ok(difference) if difference < 1e-4 => continue,
                Ok(difference) => format!("{difference}"),
                Err(what) => what,
            },
            (Err(error), _) => format!("refused: {error}"),
            (_, Err(error)) => format!("the twin is refused: {error}"),
        };
        failed.push(format!("{path}: {wrong}"));
    }
    println!(
        "{} of {count} files equal their twins",
        count - failed.len()
    );
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
