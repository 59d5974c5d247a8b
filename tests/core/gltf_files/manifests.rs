//! Manifests that name glTF files: clips of one file on the skeleton of another.

use super::{
    NO_NORMALS,
    file::{Chain, chain, even_times},
    formula::posed,
};
use crate::messages::{assert_message, assert_messages, is_like};
use bevy_marionette::{
    format::Diagnostic,
    import::{ImportLimits, Imported, Manifest, open_manifest},
    model::PlaybackMode,
};
use fastrand::Rng;
use glam::{Quat, Vec3};
use serde_json::json;
use std::borrow::Cow;

const TURNED: f32 = -std::f32::consts::FRAC_PI_2;

/// A hero without clips, and a dancer with the same joints.
fn hero() -> Chain {
    chain(5, json!({ "name": "Armature" }))
}

fn dancer(armature: serde_json::Value) -> Chain {
    let mut chain = chain(5, armature);
    chain.turns(
        "mixamo.com",
        &even_times(9, 8.0),
        0.8,
        &mut Rng::with_seed(1),
    );
    let lengths: Vec<[f32; 3]> = (0..9).map(|at| [0.1 * at as f32, 0.25, 0.0]).collect();
    chain.file.channel(
        "mixamo.com",
        chain.joints[0],
        "translation",
        "LINEAR",
        &even_times(9, 8.0),
        &lengths,
    );
    // So that frames are not evenly spaced.
    let lengths = [1.0, 1.2, 0.9].map(|length| [0.0, length, 0.0]);
    chain.file.channel(
        "mixamo.com",
        chain.joints[3],
        "translation",
        "STEP",
        &[0.0, 0.33, 0.71],
        &lengths,
    );
    chain
}

fn assemble(hero: &Chain, dancer: &Chain, manifest: &str) -> Imported {
    let manifest = Manifest::parse("hero.character.ron", manifest.as_bytes()).unwrap();
    let (hero, dancer) = (hero.file.glb(), dancer.file.glb());
    let read = |file: &str| match file {
        "hero.glb" => Ok(Cow::Borrowed(&hero[..])),
        "dance.glb" => Ok(Cow::Borrowed(&dancer[..])),
        _ => Err("no such file".to_owned()),
    };
    open_manifest(
        "hero.character.ron",
        &manifest,
        &ImportLimits::default(),
        read,
    )
    .unwrap_or_else(|error| panic!("{error}"))
}

const DANCE: &str =
    "(model: \"hero.glb\", clips: {\"dance\": (file: \"dance.glb\", clip: \"mixamo.com\")})";

/// The hero dances like a hero who had the clip from the start. Returns the warnings about the clip's file.
fn dances_like_itself(dancer: &Chain) -> Vec<Diagnostic> {
    let imported = assemble(&hero(), dancer, DANCE);
    let own = super::open(&self::dancer(json!({ "name": "Armature" })).file.glb()).unwrap();
    let clip = imported
        .model
        .clips
        .iter()
        .find(|clip| &*clip.timing.name == "dance")
        .expect("the clip fits");
    for time in [0.0, 0.21, 0.5, 0.93] {
        let got = posed(&imported, Some(clip), time);
        let expected = posed(&own, Some(&own.model.clips[0]), time);
        for ((_, got), (_, expected)) in got.iter().zip(expected) {
            assert!(
                got.distance(expected) < 1e-3,
                "at {time}: {got} instead of {expected}"
            );
        }
    }
    let warnings = imported
        .warnings
        .iter()
        .filter(|w| &*w.file == "dance.glb" && !is_like(NO_NORMALS, w));
    warnings.cloned().collect()
}

#[test]
fn a_clip_of_another_file_is_matched_by_the_joints_names() {
    assert_eq!(
        dances_like_itself(&dancer(json!({ "name": "Armature" }))),
        []
    );
    // In any order, with joints that the hero lacks.
    let mut other = dancer(json!({ "name": "Armature" }));
    let hat = other.file.node(json!({ "name": "hat" }));
    other.file.json["nodes"][other.joints[4]]["children"] = json!([hat]);
    other.file.channel(
        "mixamo.com",
        hat,
        "rotation",
        "LINEAR",
        &[0.0, 1.0],
        &[[0.0, 0.0, 0.0, 1.0]; 2],
    );
    assert_messages(
        "gltf: a clip file with a joint that the model lacks",
        dances_like_itself(&other),
    );
}

#[test]
fn the_usual_prefixes_are_forgiven_and_said() {
    for prefix in ["mixamorig:", "mixamorig", "Armature|"] {
        let mut other = dancer(json!({ "name": "Armature" }));
        for joint in other.joints.clone() {
            let name = other.file.json["nodes"][joint]["name"]
                .as_str()
                .unwrap()
                .to_owned();
            other.file.json["nodes"][joint]["name"] = json!(format!("{prefix}{name}"));
        }
        assert_messages(
            &format!("gltf: a clip file with {prefix} before names"),
            dances_like_itself(&other),
        );
    }
}

#[test]
fn an_armature_of_another_size_or_turned_is_put_right_and_said() {
    let turned = Quat::from_rotation_x(TURNED).to_array();
    let half = Quat::from_rotation_y(std::f32::consts::PI).to_array();
    for (what, armature) in [
        ("scaled", json!({ "scale": [100.0, 100.0, 100.0] })),
        ("turned", json!({ "rotation": turned })),
        (
            "turned and scaled",
            json!({ "rotation": turned, "scale": [0.01, 0.01, 0.01] }),
        ),
        ("turned around", json!({ "rotation": half })),
    ] {
        let mut named = armature;
        named["name"] = json!("Armature");
        assert_messages(
            &format!("gltf: a clip file with an armature that is {what}"),
            dances_like_itself(&dancer(named)),
        );
    }
}

#[test]
fn keys_are_taken_as_they_are_only_from_other_files() {
    for entry in [
        "as_is: true",
        "as_is: true, file: \"dance.glb\", retarget: true",
    ] {
        let text = format!("(model: \"hero.glb\", clips: {{\"dance\": ({entry})}})");
        let error = Manifest::parse("hero.character.ron", text.as_bytes()).unwrap_err();
        assert_message(&format!("manifest: a clip with {entry}"), error);
    }
}

#[test]
fn a_joint_with_another_parent_keeps_its_place() {
    // The armature's own node is animated there, and so is a joint above the hips.
    let mut other = dancer(json!({ "name": "Armature" }));
    let times = even_times(9, 8.0);
    let still = vec![[0.0, 0.0, 0.0, 1.0]; 9];
    other.file.channel(
        "mixamo.com",
        other.armature,
        "rotation",
        "LINEAR",
        &times,
        &still,
    );
    assert_messages(
        "gltf: a clip file that moves its armature",
        dances_like_itself(&other),
    );
}

#[test]
fn a_file_for_other_joints_is_said_and_left_out() {
    let mut other = dancer(json!({ "name": "Armature" }));
    for (at, joint) in other.joints.clone().into_iter().enumerate() {
        other.file.json["nodes"][joint]["name"] = json!(format!("bone{at}"));
    }
    let imported = assemble(&hero(), &other, DANCE);
    assert!(imported.model.clips.is_empty());
    assert_messages(
        "gltf: a clip file for other joints",
        super::warnings(&imported),
    );
}

#[test]
fn clips_of_the_model_can_be_named_without_their_armature() {
    let mut hero = hero();
    hero.turns(
        "Armature|walk",
        &even_times(9, 8.0),
        0.8,
        &mut Rng::with_seed(1),
    );
    let manifest = "(model: \"hero.glb\", clips: {\"walk\": (playback: Once), \"stroll\": (file: \"dance.glb\", clip: \"walk\")})";
    let imported = assemble(&hero, &hero, manifest);
    let names: Vec<&str> = imported
        .model
        .clips
        .iter()
        .map(|clip| &*clip.timing.name)
        .collect();
    assert_eq!(names, ["stroll", "walk"], "{:?}", imported.warnings);
    assert_eq!(imported.model.clips[1].timing.playback, PlaybackMode::Once);
    let scaled = assemble(&hero, &hero, "(model: \"hero.glb\", scale: 0.5)");
    assert!((scaled.model.skeleton.rest_of(1).translation - Vec3::Y * 0.5).length() < 1e-6);
}

/// Every kind of mistake in a manifest, each with a mark in front of the place that it is reported at.
const MISTAKES: [&str; 41] = [
    "^scale: -1",
    "^clip_error: -1",
    "^skin_error: -1",
    "^joint_names: [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\"]",
    "^joint_names: [\"a\", \"a\"]",
    "control_joints: [^\"x\"]",
    "merge: {\"all\": [^\"x\"]}",
    "sides: [(\"j1\", ^\"x\")]",
    "root_motion: (^joint: \"x\")",
    "clips: {\"a\": (clip: \"mixamo.com\", ^ground_speed: inf)}",
    "clips: {\"a\": (clip: \"mixamo.com\", ^frame_rate: -1)}",
    "clips: {\"a\": (clip: \"mixamo.com\", ^callbacks: [(time: -1, name: \"x\")])}",
    "clips: {\"a\": (clip: \"mixamo.com\", ^callbacks: [(time: 99, name: \"x\")])}",
    "clips: {^\"a\": (clip: \"mixamo.com\", seconds: (5, 2))}",
    "clips: {^\"a\": (clip: \"mixamo.com\", seconds: (90, 99))}",
    "clips: {^\"a\": (clip: \"mixamo.com\", seconds: (0.1, 99))}",
    "clips: {^\"a\": (clip: \"mixamo.com\", frames: (0, 2))}",
    "clips: {^\"a\": (clip: \"mixamo.com\", retarget: true)}",
    "clips: {^\"a\": (clip: \"x\")}",
    "clips: {^\"a\": (file: \"gone.glb\")}",
    "clips: {^\"a\": (mirror: \"x\")}",
    "clips: {\"a\": (clip: \"mixamo.com\", plants: {^\"x\": [(0, 1)]})}",
    "clips: {\"a\": (clip: \"mixamo.com\", plants: {^\"x\": [(1, 0)]})}",
    "clips: {^\"a\": (speech: [(0, \"aa\", 1)])}",
    "blend_spaces: {\"b\": (points: [(\"mixamo.com\", 0), (^\"x\", 1)])}",
    "blend_spaces: {^\"mixamo.com\": (points: [(\"mixamo.com\", 0)])}",
    "blend_spaces: {^\"b\": (points: [])}",
    "masks: {\"m\": (roots: [\"j1\", ^\"x\"])}",
    "masks: {\"m\": (joints: [^\"x\"])}",
    "masks: {\"m\": (morphs: [^\"x\"])}",
    "sockets: {\"s\": (joint: ^\"x\")}",
    "sockets: {^\"s\": (joint: \"j1\", scale: inf)}",
    "goals: {\"g\": (limb: Chain(root: \"j1\", tip: ^\"x\"))}",
    "goals: {\"g\": (^limb: Chain(root: \"j3\", tip: \"j1\"))}",
    "goals: {^\"g\": (limb: Chain(root: \"j1\", tip: \"j3\"), turn_limit: 0)}",
    "look_at: (joints: [(\"j1\", 1), (^\"x\", 1)])",
    "^look_at: (joints: [(\"j1\", -1)])",
    "springs: [(joints: [\"j1\"]), (joints: [^\"x\"])]",
    "springs: [(joints: [\"j1\"], colliders: [^\"x\"])]",
    "springs: [(joints: [\"j1\"]), (joints: [^\"j2\"], damping: -1)]",
    "colliders: {\"c\": (joint: ^\"x\", radius: 1)}",
];

#[test]
fn every_finding_about_a_manifest_has_its_place() {
    let glb = dancer(json!({ "name": "Armature" })).file.glb();
    for (at, marked) in MISTAKES.iter().enumerate() {
        let text = format!(
            "(\n    model: \"f.glb\",\n    {}\n)",
            marked.replace('^', "")
        );
        let column = 5 + marked.find('^').unwrap() as u32;
        let read = |file: &str| match file {
            "f.glb" => Ok(Cow::Borrowed(&glb[..])),
            _ => Err("no such file".to_owned()),
        };
        let found = Manifest::parse("m", text.as_bytes())
            .and_then(|manifest| open_manifest("m", &manifest, &ImportLimits::default(), read));
        let found = match found {
            Ok(imported) => imported.warnings,
            Err(error) => error.diagnostics,
        };
        let of_manifest: Vec<_> = found.iter().filter(|d| &*d.file == "m").collect();
        assert!(
            !of_manifest.is_empty(),
            "{at}: {marked}: nothing is found: {found:?}"
        );
        for finding in of_manifest {
            assert_eq!(
                (finding.line, finding.column),
                (3, column),
                "{marked}: {finding}"
            );
        }
    }
}
