//! What is hidden at a tiny scale at rest has its shape when a clip shows it.

use super::{
    file::{File, chain, cube, random_turn},
    formula::{Reference, posed},
    open, variants,
};
use bevy_marionette::import::{ImportLimits, Imported, Manifest, open_manifest};
use fastrand::Rng;
use glam::{DVec3, Mat4, Vec3};
use serde_json::json;
use std::borrow::Cow;

/// Scales that hide, some of them not quite.
const SCALES: [f32; 13] = [
    0.0, 1e-30, 1e-20, 1e-12, 1e-9, 1e-7, 9e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.3,
];

/// The largest distance between posed vertices and the specification's, as a share of the size of the shape at `shown`.
fn error(imported: &Imported, reference: &Reference, times: &[f64], shown: f64) -> f64 {
    let clip = imported
        .model
        .clips
        .iter()
        .find(|clip| &*clip.timing.name == "grow")
        .unwrap();
    let at_size = reference.vertices(Some(0), shown);
    let low = at_size.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = at_size
        .iter()
        .copied()
        .fold(DVec3::NEG_INFINITY, DVec3::max);
    let mut worst = 0.0_f64;
    for &time in times {
        let expected = reference.vertices(Some(0), time);
        for (vertex, got) in posed(imported, Some(clip), time) {
            let expected = expected[vertex] * DVec3::new(-1.0, 1.0, -1.0);
            worst = worst.max(got.as_dvec3().distance(expected));
        }
    }
    worst / low.distance(high)
}

const TIMES: [f64; 6] = [0.0, 0.001, 0.25, 0.5, 0.9, 0.999];

/// Adds keys from one scale to another. Returns how far the clip may be off: by hardly anything, or, as splines are sampled, by a
/// share of the distances between joints, too.
fn grow(file: &mut File, node: usize, from: Vec3, to: Vec3, rng: &mut Rng) -> f64 {
    let kind = rng.u8(..3);
    match kind {
        0 => file.channel(
            "grow",
            node,
            "scale",
            "LINEAR",
            &[0.0, 1.0],
            &[from, to].map(|v| v.to_array()),
        ),
        1 => file.channel(
            "grow",
            node,
            "scale",
            "STEP",
            &[0.0, 0.5, 1.0],
            &[from, to, to].map(|v| v.to_array()),
        ),
        _ => {
            let rows =
                [Vec3::ZERO, from, Vec3::ZERO, Vec3::ZERO, to, Vec3::ZERO].map(|v| v.to_array());
            file.channel("grow", node, "scale", "CUBICSPLINE", &[0.0, 1.0], &rows);
        }
    }
    if kind == 2 { 3e-4 } else { 5e-5 }
}

/// A scale at which something is hidden, perhaps along one axis only, and perhaps mirrored.
fn hiding(rng: &mut Rng) -> Vec3 {
    let scale = Vec3::splat(*rng.choice(&SCALES).unwrap());
    match rng.u8(..4) {
        0 => scale.with_x(1.0),
        1 => scale.with_y(1.0).with_z(1.0),
        _ => scale,
    }
}

#[test]
fn a_skin_that_rests_at_a_tiny_scale_has_its_shape_when_shown() {
    let mut worst = 0.0_f64;
    for seed in variants(300) {
        let rng = &mut Rng::with_seed(seed);
        let mut chain = chain(
            4,
            json!({ "translation": [1.0, 2.0, 3.0], "rotation": random_turn(rng, 2.0).to_array() }),
        );
        let joint = chain.joints[rng.usize(..3)];
        let (rest, shown) = (
            hiding(rng),
            Vec3::splat(*rng.choice(&[1.0, 1.0, 0.5, 1.3]).unwrap()),
        );
        let node = &mut chain.file.json["nodes"][joint];
        node["scale"] = json!(rest.to_array());
        node["translation"] = json!([1.0, 2.0, 3.0]);
        node["rotation"] = json!(random_turn(rng, 1.0).to_array());
        let most = grow(&mut chain.file, joint, rest, shown, rng);
        let imported = open(&chain.file.glb()).unwrap();
        let reference = Reference::new(chain.file.json.clone(), chain.file.bin.clone());
        let error = error(&imported, &reference, &TIMES, 1.0);
        assert!(
            error < most,
            "{seed}: {rest} on {joint}: off by {error} of the size"
        );
        worst = worst.max(error);
    }
    println!("off by at most {worst:.1e} of the size");
}

/// A file with a large cube, and below it a small one without a skin at a tiny scale.
fn prop(rest: Vec3, rng: &mut Rng) -> (File, usize) {
    let mut file = File::new();
    let mesh = |file: &mut File, half: f32| {
        let (corners, triangles) = cube(Vec3::new(0.1, 0.2, 0.0), half);
        let corners: Vec<[f32; 3]> = corners;
        let indices: Vec<[u16; 1]> = triangles.into_iter().map(|v| [v]).collect();
        let (positions, indices) = (file.floats(&corners), file.shorts(&indices));
        file.push("meshes", json!({ "primitives": [{ "attributes": { "POSITION": positions }, "indices": indices }] }))
    };
    let (body, small) = (mesh(&mut file, 1.0), mesh(&mut file, 0.2));
    let hidden = file.node(json!({
        "name": "prop", "mesh": small, "translation": [1.0, 2.0, 3.0], "scale": rest.to_array(),
        "rotation": random_turn(rng, 2.0).to_array(),
    }));
    let above = file.node(json!({ "name": "body", "mesh": body, "children": [hidden] }));
    file.root(above);
    (file, hidden)
}

#[test]
fn a_mesh_without_a_skin_that_rests_at_a_tiny_scale_has_its_shape_when_shown() {
    let mut worst = 0.0_f64;
    for seed in variants(300) {
        let rng = &mut Rng::with_seed(seed);
        let rest = hiding(rng);
        let (mut file, hidden) = prop(rest, rng);
        let most = grow(&mut file, hidden, rest, Vec3::ONE, rng);
        let imported = open(&file.glb()).unwrap();
        let reference = Reference::new(file.json.clone(), file.bin.clone());
        let error = error(&imported, &reference, &TIMES, 1.0);
        assert!(error < most, "{seed}: {rest}: off by {error} of the size");
        worst = worst.max(error);
    }
    println!("off by at most {worst:.1e} of the size");
}

#[test]
fn what_only_the_clip_of_another_file_shows_has_its_shape_too() {
    let rng = &mut Rng::with_seed(1);
    for rest in [0.0, 1e-20, 1e-9, 1e-7, 1e-5] {
        let (file, _) = prop(Vec3::splat(rest), rng);
        let mut clips = File::new();
        let prop = clips.node(json!({ "name": "prop", "translation": [1.0, 2.0, 3.0] }));
        let body = clips.node(json!({ "name": "body", "children": [prop] }));
        clips.root(body);
        // Values relative to those at rest would tell nothing about a rest of 0.
        clips.channel("grow", prop, "scale", "LINEAR", &[0.0, 1.0], &[[1.0; 3]; 2]);
        let (file, clips) = (file.glb(), clips.glb());
        let manifest = "(model: \"m.glb\", clips: {\"grow\": (file: \"c.glb\")})";
        let manifest = Manifest::parse("m.character.ron", manifest.as_bytes()).unwrap();
        let read = |name: &str| {
            Ok(Cow::Borrowed(if name == "m.glb" {
                &file[..]
            } else {
                &clips[..]
            }))
        };
        let imported =
            open_manifest("m.character.ron", &manifest, &ImportLimits::default(), read).unwrap();
        let part = imported
            .model
            .parts
            .iter()
            .find(|part| &*part.name == "prop")
            .unwrap();
        let mut places = part.positions.clone();
        places.sort_by(|a, b| {
            a.x.total_cmp(&b.x)
                .then(a.y.total_cmp(&b.y))
                .then(a.z.total_cmp(&b.z))
        });
        places.dedup();
        assert_eq!(
            places.len(),
            8,
            "{rest}: the cube has its corners: {places:?}"
        );
    }
}

#[test]
fn the_unit_of_a_file_hides_nothing() {
    // In tenths of a millimeter, with a factor on the armature: stored where the rest pose puts it.
    let mut file = File::new();
    let (corners, triangles) = cube(Vec3::new(0.0, 1e4, 0.0), 1e4);
    let indices: Vec<[u16; 1]> = triangles.into_iter().map(|v| [v]).collect();
    let attributes = json!({
        "POSITION": file.floats(&corners), "JOINTS_0": file.bytes(&[[0_u8; 4]; 8]),
        "WEIGHTS_0": file.floats(&[[1.0_f32, 0.0, 0.0, 0.0]; 8]),
    });
    let indices = file.shorts(&indices);
    let mesh = file.push(
        "meshes",
        json!({ "primitives": [{ "attributes": attributes, "indices": indices }] }),
    );
    let joint = file.node(json!({ "name": "hips", "translation": [0.0, 1e4, 0.0] }));
    let armature =
        file.node(json!({ "name": "Armature", "scale": [1e-4, 1e-4, 1e-4], "children": [joint] }));
    let skin = file.skin(&[joint], &[Mat4::from_translation(Vec3::Y * -1e4)]);
    let body = file.node(json!({ "name": "body", "mesh": mesh, "skin": skin }));
    file.root(armature);
    file.root(body);
    let imported = open(&file.glb()).unwrap();
    let (low, high) = imported.model.parts[0]
        .positions
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| {
            (low.min(*p), high.max(*p))
        });
    assert!(
        (low - Vec3::new(-1.0, 0.0, -1.0)).length() < 1e-5
            && (high - Vec3::new(1.0, 2.0, 1.0)).length() < 1e-5
    );
}
