//! Files that are refused, or load with less than they claim.

use super::{
    clips::random_rig,
    file::{After, File},
    open,
};
use crate::messages::assert_message;
use bevy_marionette::{
    format::FormatError,
    import::{ImportLimits, ImportSettings, open_model},
    internals::import::open_clips,
};

fn refused(source: &[u8]) -> FormatError {
    match open(source) {
        Ok(_) => panic!("{:?} was read", String::from_utf8_lossy(source)),
        Err(error) => error,
    }
}

#[test]
fn what_is_no_fbx_file_is_said() {
    for (source, what) in [
        (&b""[..], "an empty file"),
        (b"glTF\x02\0\0\0", "a binary glTF file"),
        (b"MD5Version 10\n", "an MD5 file"),
        (
            b"version https://git-lfs.github.com/spec/v1\n",
            "a file that Git LFS has yet to fetch",
        ),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "a PNG image"),
        (b"Kaydara FBX Binary  \0\x1a\0\xe8\x1c\0\0", "a cut file"),
        (b"some text\n", "some text"),
    ] {
        assert_message(&format!("fbx: {what}"), refused(source));
    }
}

#[test]
fn a_scene_without_a_character_is_refused() {
    let mut file = File::default();
    file.node("camera", "Camera", 0, &[]);
    assert_message(
        "fbx: a scene without a character",
        refused(file.text().as_bytes()),
    );
}

#[test]
fn limits_are_named() {
    let file = random_rig(&mut fastrand::Rng::with_seed(5)).text();
    for (name, most) in [
        ("joints", 1),
        ("vertices", 2),
        ("triangles", 1),
        ("file_bytes", 100),
    ] {
        let mut settings = ImportSettings::default();
        assert!(settings.limits.set(name, most));
        match open_model("f.fbx", file.as_bytes(), &settings) {
            Ok(imported) => assert!(
                name == "joints" && imported.model.skeleton.len() <= 1,
                "{name}"
            ),
            Err(error) => assert_message(&format!("fbx: limit of {name}"), error),
        }
    }
    let settings = ImportSettings {
        limits: ImportLimits::NONE,
        ..ImportSettings::default()
    };
    assert!(open_model("f.fbx", file.as_bytes(), &settings).is_ok());
}

#[test]
fn instances_of_a_mesh_count() {
    let mut file = File::default();
    let node = file.node("first", "Mesh", 0, &[]);
    let points: Vec<[f64; 3]> = (0..100)
        .map(|i| [f64::from(i), f64::from(i % 7), 0.0])
        .collect();
    let face: Vec<i32> = (0..100).collect();
    let mesh = file.mesh(node, &points, &[&face], "");
    for at in 0..50 {
        let node = file.node(&format!("copy{at}"), "Mesh", 0, &[]);
        file.connect(mesh, node);
    }
    let mut settings = ImportSettings::default();
    assert!(settings.limits.set("vertices", 5000));
    let error = open_model("f.fbx", file.text().as_bytes(), &settings).unwrap_err();
    assert_message("fbx: limit of vertices, with instances", error);
}

#[test]
fn many_layers_over_a_curve_that_repeats_cost_little() {
    let mut file = File::default();
    let node = file.node("joint", "LimbNode", 0, &[]);
    let (stack, base) = file.stack("spin", [0.0, 1.0]);
    let turn = |end| [(0.0, 0.0, After::Linear), (end, 80.0, After::Linear)];
    let forever = "Post-Extrapolation: {\nType: 82\nRepetition: -1\n}\n";
    file.animate(base, node, "Lcl Rotation", &[("X", &turn(1e-5))], forever);
    for _ in 0..100 {
        let layer = file.layer(stack, 100.0, true);
        file.animate(layer, node, "Lcl Rotation", &[("Y", &turn(1.0))], "");
    }
    let imported = open(file.text().as_bytes()).unwrap();
    assert!(imported.model.clips.is_empty());
}

#[test]
fn many_hidden_nodes_in_many_stacks_cost_little() {
    let mut file = File::default();
    for at in 0..4000 {
        let scale = [("Lcl Scaling", [1e-3; 3])];
        file.node(&format!("joint{at}"), "Null", 0, &scale);
        file.stack(&format!("clip{at}"), [0.0, 1.0]);
    }
    assert!(open(file.text().as_bytes()).is_err());
}

#[test]
fn cut_off_and_damaged_files_never_panic() {
    for seed in 0..6 {
        let mut random = fastrand::Rng::with_seed(seed);
        let text = random_rig(&mut random).text().into_bytes();
        for _ in 0..60 {
            let mut bytes = text.clone();
            if random.bool() {
                bytes.truncate(random.usize(0..bytes.len()));
            }
            for _ in 0..random.usize(0..20) {
                if !bytes.is_empty() {
                    let at = random.usize(0..bytes.len());
                    bytes[at] = random.u8(..);
                }
            }
            // Whatever comes of it, it comes to an end.
            let _ = open(&bytes);
        }
    }
}

#[test]
fn numbers_without_end_are_refused_or_replaced() {
    let text = random_rig(&mut fastrand::Rng::with_seed(1)).text();
    for (from, to) in [
        ("\"A\",", "\"A\",1e300,"),
        ("\"A\",", "\"A\",nan,"),
        ("a: ", "a: 1e38,"),
        ("KeyValueFloat: *", "KeyValueFloat: *9"),
    ] {
        let _ = open(text.replace(from, to).as_bytes());
    }
}

#[test]
fn clips_of_another_skeleton_are_refused_by_name() {
    let mut rig = File::default();
    let root = rig.node("joint0", "LimbNode", 0, &[]);
    let (_, layer) = rig.stack("walk", [0.0, 1.0]);
    let keys = [(0.0, 0.0, After::Linear), (1.0, 80.0, After::Linear)];
    rig.animate(layer, root, "Lcl Rotation", &[("X", &keys)], "");
    let ours = open(rig.text().as_bytes()).unwrap().model.skeleton;
    let settings = ImportSettings::default();
    let clips = open_clips("walk.fbx", "walk", rig.text().as_bytes(), &ours, &settings).unwrap();
    assert_eq!(clips.value.len(), 1);
    let other = rig.text().replace("joint", "limb");
    let error = open_clips("walk.fbx", "walk", other.as_bytes(), &ours, &settings).unwrap_err();
    assert!(error.to_string().starts_with("walk.fbx: error"), "{error}");
}
