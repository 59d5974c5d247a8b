//! Control joints: flagged in the file or in a manifest, they move, but not the skin.

use super::{
    BOUND,
    file::{Chain, chain, even_times},
    formula::{Reference, error_of_clip},
    open, warnings,
};
use crate::messages::assert_messages;
use bevy_marionette::{
    import::{ImportLimits, Imported, Manifest, open_manifest},
    internals::import::{WriteFormat, losses, to_glb},
};
use fastrand::Rng;
use serde_json::{Value, json};
use std::borrow::Cow;

/// A chain of five joints with a clip, whose nodes have these `deform` in their extras.
fn flagged(deform: [Value; 5]) -> Chain {
    let mut chain = chain(5, json!({ "name": "Armature" }));
    for (joint, deform) in chain.joints.clone().into_iter().zip(deform) {
        if !deform.is_null() {
            chain.file.json["nodes"][joint]["extras"] = json!({ "deform": deform, "other": [1] });
        }
    }
    chain.turns("walk", &even_times(9, 8.0), 1.0, &mut Rng::with_seed(8));
    chain
}

/// The same without flags, and with the weights that an artist would paint for it.
fn painted(control: &[usize]) -> Reference {
    let mut chain = flagged(Default::default());
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    for (at, corner) in (0..5_usize).flat_map(|at| (0..8).map(move |corner| (at, corner))) {
        let other = if corner & 2 > 0 {
            (at + 1).min(4)
        } else {
            at.saturating_sub(1)
        };
        let shares = [(at, 0.75), (other, 0.25)].map(|(joint, share)| {
            let is_control = control.contains(&joint);
            (joint, if is_control { 0.0 } else { share })
        });
        let sum: f32 = shares.iter().map(|(_, share)| share).sum();
        // The nearest one below.
        let stand_in = (0..at).rev().find(|joint| !control.contains(joint));
        let shares = if sum > 0.0 {
            shares
        } else {
            [(stand_in.unwrap(), 1.0), (0, 0.0)]
        };
        joints.push([shares[0].0 as u8, shares[1].0 as u8, 0, 0]);
        let sum: f32 = shares.iter().map(|(_, share)| share).sum();
        weights.push([shares[0].1 / sum, shares[1].1 / sum, 0.0, 0.0]);
    }
    let (joints, weights) = (chain.file.bytes(&joints), chain.file.floats(&weights));
    let attributes = &mut chain.file.json["meshes"][0]["primitives"][0]["attributes"];
    (attributes["JOINTS_0"], attributes["WEIGHTS_0"]) = (joints.into(), weights.into());
    Reference::new(chain.file.json, chain.file.bin)
}

fn control(imported: &Imported) -> Vec<u16> {
    imported.model.skeleton.control_joints().collect()
}

#[test]
fn nodes_that_say_deform_false_move_no_skin() {
    let chain = flagged([json!(true), json!("no"), json!(false), json!(0), json!({})]);
    let imported = open(&chain.file.glb()).unwrap();
    assert_eq!(control(&imported), [2, 3]);
    assert_eq!(imported.model.parts[0].palette, [0, 1, 4]);
    let error = error_of_clip(&painted(&[2, 3]), &imported, "walk");
    assert!(error < BOUND, "{error}");
    // They move: the joint above them turned by itself would not bend the chain like this.
    assert!(imported.model.clips[0].animates(2) && imported.model.clips[0].animates(3));
    // Half a cube has 18 corners of triangles. Four halves also follow other joints; the upper half of 2 and the lower one of 3
    // don't.
    assert_messages("gltf: weights of control joints", warnings(&imported));
}

#[test]
fn control_joints_come_back_from_our_own_glb_and_the_skin_stays_clean() {
    let imported = open(
        &flagged([
            Value::Null,
            Value::Null,
            json!(false),
            json!(0.0),
            Value::Null,
        ])
        .file
        .glb(),
    )
    .unwrap();
    let glb = to_glb("hero.glb", &imported.model, None, |_, _| None)
        .unwrap()
        .value;
    let back = open(&glb).unwrap();
    assert_eq!((control(&back), warnings(&back)), (vec![2, 3], vec![]));
    assert_eq!(back.model.parts[0].palette, imported.model.parts[0].palette);
    assert_eq!(
        back.model.parts[0].influences,
        imported.model.parts[0].influences
    );
    let lost = |format| losses("out", &imported.model, None, format);
    assert_eq!(lost(WriteFormat::Glb), []);
    assert_messages("losses: control joints, as m3d", lost(WriteFormat::M3d));
    assert_messages("losses: control joints, as md5", lost(WriteFormat::Md5));
}

#[test]
fn copies_of_control_joints_are_control_joints() {
    let mut chain = flagged([
        Value::Null,
        Value::Null,
        json!(false),
        Value::Null,
        Value::Null,
    ]);
    // A second skin that was bound in another pose, for which each joint but the first gets a copy.
    let turned = (0..5).map(|at| {
        let bound = glam::Mat4::from_translation(glam::Vec3::Y * -(0.25 + at as f32));
        bound * glam::Mat4::from_rotation_z(0.1 * at as f32)
    });
    let joints = chain.joints.clone();
    let skin = chain.file.skin(&joints, &turned.collect::<Vec<_>>());
    let node = chain
        .file
        .node(json!({ "name": "coat", "mesh": 0, "skin": skin }));
    chain.file.root(node);
    let imported = open(&chain.file.glb()).unwrap();
    let skeleton = &imported.model.skeleton;
    let names: Vec<&str> = skeleton
        .control_joints()
        .map(|joint| &**skeleton.name(joint))
        .collect();
    assert!(
        skeleton.len() > 5
            && names.len() == 2
            && names[0] == "j2"
            && names[1].starts_with("j2.bind"),
        "{names:?}"
    );
    let is_clean = |palette: &[u16]| palette.iter().all(|&joint| !skeleton.is_control(joint));
    assert!(
        imported
            .model
            .parts
            .iter()
            .all(|part| is_clean(&part.palette))
    );
}

#[test]
fn a_manifest_names_control_joints_and_is_told_which_are_missing() {
    let text = "(model: \"hero.glb\", control_joints: [\"j2\", \"j3*\", \"jj4\", \"ik.*\"])";
    let manifest = Manifest::parse("hero.character.ron", text.as_bytes()).unwrap();
    let again = Manifest::parse("again", manifest.to_ron().unwrap().as_bytes());
    assert_eq!(again.as_ref(), Ok(&manifest));
    let glb = flagged(Default::default()).file.glb();
    let read = |_: &str| Ok(Cow::Borrowed(&glb[..]));
    let imported = open_manifest(
        "hero.character.ron",
        &manifest,
        &ImportLimits::default(),
        read,
    )
    .unwrap();
    assert_eq!(control(&imported), [2, 3]);
    let error = error_of_clip(&painted(&[2, 3]), &imported, "walk");
    assert!(error < BOUND, "{error}");
    assert_messages(
        "gltf: control joints of a manifest, two of them missing",
        warnings(&imported),
    );

    // Names that the manifest gives are what counts, and the file's own flags stay.
    let manifest = Manifest {
        joint_names: vec!["hips".into()],
        control_joints: vec!["hips".into()],
        ..Manifest::of_model("hero.glb")
    };
    let glb = flagged([
        Value::Null,
        Value::Null,
        Value::Null,
        Value::Null,
        json!(false),
    ])
    .file
    .glb();
    let read = |_: &str| Ok(Cow::Borrowed(&glb[..]));
    let imported = open_manifest(
        "hero.character.ron",
        &manifest,
        &ImportLimits::default(),
        read,
    )
    .unwrap();
    assert_eq!(control(&imported), [0, 4]);
    assert_messages(
        "gltf: vertices that only have weights of a control joint",
        warnings(&imported),
    );
}
