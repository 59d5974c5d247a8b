//! Retargeted clips in manifests.

use crate::messages::{assert_message, assert_messages};
use bevy_marionette::{
    format::FormatError,
    import::{ImportLimits, Imported, Manifest, open_manifest},
};
use std::{borrow::Cow, collections::HashMap, fs};

/// Opens a manifest of Scout, whose soldier is Scout again, with Mixamo's names for joints.
fn open(clips: &str, soldier: impl Fn(String) -> String) -> Imported {
    open_within(&ImportLimits::default(), clips, soldier).unwrap()
}

fn open_within(
    limits: &ImportLimits,
    clips: &str,
    soldier: impl Fn(String) -> String,
) -> Result<Imported, FormatError> {
    let folder = crate::asset("scout");
    let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
    let (mesh, walk) = (read("scout.md5mesh"), read("walk.md5anim"));
    let files: HashMap<&str, String> = HashMap::from([
        ("soldier.md5mesh", soldier(mesh.clone())),
        ("walk.md5anim", soldier(walk.clone())),
        ("own.md5anim", walk),
        ("scout.md5mesh", mesh),
    ]);
    let text = format!("(model: \"scout.md5mesh\", clips: {{{clips}}})");
    let manifest = Manifest::parse("a.character.ron", text.as_bytes()).unwrap();
    for file in manifest.clip_files() {
        assert!(files.contains_key(file) || file == "none.glb", "{file}");
    }
    open_manifest("a.character.ron", &manifest, limits, |file| {
        files
            .get(file)
            .map(|text| Cow::Owned(text.clone().into_bytes()))
            .ok_or_else(|| "no such file".to_owned())
    })
}

fn as_mixamo(text: String) -> String {
    let mut text = text;
    let pairs = [
        ("hips", "Hips"),
        ("spine", "Spine"),
        ("chest", "Spine1"),
        ("upper_chest", "Spine2"),
        ("neck", "Neck"),
        ("head", "Head"),
    ];
    for (own, other) in pairs {
        text = text.replace(&format!("\"{own}\""), &format!("\"mixamorig:{other}\""));
    }
    let sided = [
        ("clavicle", "Shoulder"),
        ("upper_arm", "Arm"),
        ("forearm", "ForeArm"),
        ("hand", "Hand"),
        ("index.1", "HandIndex1"),
        ("ring.1", "HandRing1"),
        ("middle.1", "HandMiddle1"),
        ("thigh", "UpLeg"),
        ("shin", "Leg"),
        ("foot", "Foot"),
        ("toes", "ToeBase"),
    ];
    for (own, other) in sided {
        for (letter, side) in [("L", "Left"), ("R", "Right")] {
            text = text.replace(
                &format!("\"{own}.{letter}\""),
                &format!("\"mixamorig:{side}{other}\""),
            );
        }
    }
    text
}

#[test]
fn a_clip_of_another_skeleton_is_retargeted_when_the_character_is_loaded() {
    let imported = open(
        "\"march\": (file: \"walk.md5anim\", retarget: (skeleton: \"soldier.md5mesh\"), root_motion: (steady: true)),
         \"walk\": (file: \"own.md5anim\", root_motion: (steady: true)),
         \"limp\": (mirror: \"march\")",
        as_mixamo,
    );
    let clip = |name: &str| {
        imported
            .model
            .clips
            .iter()
            .find(|clip| &*clip.timing.name == name)
            .unwrap()
    };
    let (march, walk) = (clip("march"), clip("walk"));
    let speed = |name: &str| clip(name).root_path().unwrap().ground_speed();
    assert!(
        (speed("march") - speed("walk")).abs() < 1e-3
            && (speed("limp") - speed("march")).abs() < 1e-9
    );
    for joint in ["upper_arm.R", "forearm.L", "head"]
        .map(|name| imported.model.skeleton.joint(name).unwrap())
    {
        for frame in 0..walk.frame_count() {
            let [a, b] =
                [walk, march].map(|clip| clip.transform_at(usize::from(joint), frame).rotation);
            assert!(a.angle_between(b) < 0.01, "{frame}");
        }
    }
    let report = &imported.report.retargets["march"];
    assert!(
        report
            .mapped
            .contains(&["thigh.L", "thigh.L", "mixamorig:LeftUpLeg"].map(str::to_owned))
    );
    assert!((report.ratio - 1.0).abs() < 1e-5, "{}", report.ratio);
    assert_eq!(imported.warnings, []);
}

#[test]
fn what_is_wrong_is_said_to_artists() {
    let cases = [
        ("no skeleton", "(file: \"walk.md5anim\", retarget: true)"),
        ("no file", "(file: \"none.glb\", retarget: true)"),
        (
            "an unknown role",
            "(file: \"walk.md5anim\", retarget: (skeleton: \"soldier.md5mesh\", roles: {\"hip\": \"hips\"}))",
        ),
        (
            "an unknown joint",
            "(file: \"walk.md5anim\", retarget: (skeleton: \"soldier.md5mesh\", source_roles: {\"hips\": \"mixamorig:Hps\"}))",
        ),
        (
            "no hips",
            "(file: \"walk.md5anim\", retarget: (skeleton: \"soldier.md5mesh\", roles: {\"hips\": \"\"}))",
        ),
    ];
    for (what, entry) in cases {
        let imported = open(&format!("\"march\": {entry}"), as_mixamo);
        assert_messages(&format!("retarget: {what}"), &imported.warnings);
        assert!(imported.warnings.iter().all(|warning| warning.column > 34));
    }
    // Without an arm, a clip still plays, and a warning says what is missing.
    let imported = open(
        "\"march\": (file: \"walk.md5anim\", retarget: (skeleton: \"soldier.md5mesh\"))",
        |text| as_mixamo(text).replace("mixamorig:LeftForeArm", "thing"),
    );
    assert_eq!(imported.model.clips.len(), 1);
    assert_messages("retarget: a forearm is missing", &imported.warnings);
    // Said once for all clips of a file.
    let imported = open(
        "\"march\": (file: \"walk.md5anim\", retarget: (skeleton: \"soldier.md5mesh\")),
         \"parade\": (file: \"walk.md5anim\", retarget: (skeleton: \"soldier.md5mesh\"))",
        |text| as_mixamo(text).replace("mixamorig:LeftForeArm", "thing"),
    );
    assert_eq!(imported.warnings.len(), 1);
}

#[test]
fn a_limit_on_all_clips_together_points_to_the_one_that_exceeds_it() {
    let clips = r#"
        "own": (file: "own.md5anim"),
        "march": (file: "walk.md5anim", retarget: (skeleton: "soldier.md5mesh")),
        "limp": (mirror: "own"),
        "turn": (mirror: "march"),
    "#;
    for (name, most) in [("clips", 1), ("clips", 3), ("total_bytes", 30_000)] {
        let mut limits = ImportLimits::default();
        assert!(limits.set(name, most));
        let error = open_within(&limits, clips, as_mixamo).unwrap_err();
        assert_message(&format!("manifest: limit of {most} {name}"), error);
    }
}
