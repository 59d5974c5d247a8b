//! `marionette inspect`.

use super::support::{characters, marionette};
use crate::messages::assert_message;
use serde_json::Value;

#[test]
fn inspect_shows_what_is_in_a_model() {
    let folder = characters();
    let run = marionette(&folder, &["inspect", "bar.m3d"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_message("inspect: an .m3d", run.stdout);
}

#[test]
fn inspect_fits_an_animation_to_the_model_named_with_it_and_shows_its_own_joints_when_alone() {
    let folder = characters();
    let alone = marionette(&folder, &["inspect", "reach.md5anim"]).stdout;
    assert_message("inspect: an .md5anim", alone);
    // Whatever the order, and with a model among the files that it does not fit.
    let both = marionette(
        &folder,
        &["inspect", "reach.md5anim", "bar.m3d", "arm.md5mesh"],
    )
    .stdout;
    let about = both
        .split("\n\n")
        .filter(|part| part.contains("reach.md5anim"));
    let about = about.collect::<Vec<_>>().join("\n\n");
    assert_message("inspect: an .md5anim among models", about);
}

#[test]
fn inspect_shows_whose_an_avatar_is_and_what_its_file_says() {
    let folder = characters();
    let vrm = include_bytes!("../core/cases/vrm/vrm1.vrm");
    std::fs::write(folder.path().join("hero.vrm"), vrm).unwrap();
    let run = marionette(&folder, &["inspect", "hero.vrm"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_message("inspect: a .vrm", run.stdout);
}

#[test]
fn inspect_json_is_one_document_with_a_report_per_file() {
    let folder = characters();
    let files = [
        "bar.m3d",
        "broken/bad.md5mesh",
        "arm.character.ron",
        "arm.md5mesh",
        "reach.md5anim",
        "gone.m3d",
    ];
    let run = marionette(&folder, &[&["inspect", "--json"], &files[..]].concat());
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (Some(1), ""),
        "the broken file and the missing one are errors"
    );
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let named: Vec<&str> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["file"].as_str().unwrap())
        .collect();
    assert_eq!(named, files);

    let bar = &json[0];
    assert_eq!(bar["ok"], true);
    let model = &bar["model"];
    assert_eq!([&model["vertices"], &model["triangles"]], [11, 6]);
    assert_eq!(
        (&model["dialect"], &model["right_handed"]),
        (&"dx12".into(), &false.into())
    );
    assert_eq!(model["joints"][2]["parent"], 1);
    assert_eq!(model["parts"][1]["vertices"], 4);
    assert_eq!(model["clips"][0]["name"], "Sway");
    assert_eq!(model["clips"][0]["seconds"], 1.0);
    assert_eq!(model["influences"], serde_json::json!([0, 2, 6, 2, 0, 0]));
    assert_eq!(
        model["materials"][1]["textures"][0]["found"],
        "textures/upper.DDS"
    );
    assert_eq!(model["materials"][0]["textures"][0]["found"], Value::Null);

    let bad = &json[1];
    assert_eq!((&bad["ok"], &bad["model"]), (&false.into(), &Value::Null));
    assert_eq!(bad["diagnostics"][0]["severity"], "error");
    assert!(bad["diagnostics"][0]["line"].as_u64() > Some(0));

    let character = &json[2]["model"];
    assert_eq!(character["clips"][0]["playback"], "once");
    assert_eq!(
        character["clips"][0]["callbacks"][0],
        serde_json::json!({"time": 0.1, "name": "grip", "data": "\"firm\""})
    );
    assert_eq!(character["manifest"]["sockets"]["palm"]["joint"], "hand");
    assert_eq!(character["manifest"]["masks"]["all"]["roots"][0], "root");
    assert_eq!(character["vertices"], 7);

    // Of two models with its joints, the first named has it.
    assert_eq!(json[4]["animation"]["bound_to"], "arm.character.ron");
    assert_eq!(json[4]["animation"]["joints_shared"], 3);
    assert!(json[3]["model"]["bind_residual_relative"].as_f64().unwrap() < 1e-4);
}

#[test]
fn inspect_marks_control_joints_in_the_tree_and_in_json() {
    let folder = characters();
    let manifest = "(model: \"arm.md5mesh\", control_joints: [\"arm\"])";
    std::fs::write(folder.path().join("flagged.character.ron"), manifest).unwrap();
    let shown = marionette(&folder, &["inspect", "flagged.character.ron"]).stdout;
    let parts: Vec<&str> = shown.split("\n\n").collect();
    let tree = parts.iter().find(|part| part.contains("└─ arm")).unwrap();
    assert_message("inspect: the tree with a control joint", tree);
    let warnings = parts[parts.len() - 1];
    assert_message("inspect: warnings about a control joint", warnings);
    let json = marionette(&folder, &["inspect", "--json", "flagged.character.ron"]).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    let joints = json[0]["model"]["joints"].as_array().unwrap();
    assert_eq!(
        joints
            .iter()
            .map(|joint| &joint["control"])
            .collect::<Vec<_>>(),
        [false, true, false]
    );
}
