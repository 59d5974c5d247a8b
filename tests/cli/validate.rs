//! `marionette validate`, and what it says of the sample characters.

use super::{
    arm::md5_mesh,
    support::{characters, folder, marionette},
};
use serde_json::Value;
use std::{fs, path::Path};

#[test]
fn validate_exits_with_1_on_errors_alone() {
    let folder = characters();
    let good = marionette(&folder, &["validate", "reach.md5anim"]);
    assert_eq!(
        (good.code, good.stdout.as_str()),
        (Some(0), "reach.md5anim: ok\n\n1 file: 1 ok\n")
    );

    let warned = marionette(&folder, &["validate", "bar.m3d"]);
    assert_eq!(warned.code, Some(0));
    assert!(
        warned.stdout.contains("1 usable with warnings (1 warning)"),
        "{}",
        warned.stdout
    );
    assert_eq!(
        marionette(&folder, &["validate", "--deny-warnings", "bar.m3d"]).code,
        Some(1)
    );

    let bad = marionette(&folder, &["validate", "bar.m3d", "broken/bad.md5mesh"]);
    assert_eq!(bad.code, Some(1));
    let line = 1 + md5_mesh()
        .lines()
        .position(|line| line.contains("numverts 4"))
        .unwrap();
    assert!(
        bad.stdout
            .contains(&format!("broken/bad.md5mesh:{line}:11: error: ")),
        "{}",
        bad.stdout
    );
    assert!(
        bad.stdout.contains("numverts many\n"),
        "the line at fault is quoted: {}",
        bad.stdout
    );
    assert!(
        bad.stdout
            .ends_with("2 files: 1 usable with warnings, 1 unusable (1 error, 1 warning)\n"),
        "{}",
        bad.stdout
    );
}

#[test]
fn validate_searches_directories() {
    let folder = characters();
    fs::write(folder.path().join("notes.txt"), "not a model").unwrap();
    let run = marionette(&folder, &["validate", "."]);
    assert_eq!(run.code, Some(1));
    assert!(
        run.stdout
            .contains("5 files: 1 ok, 3 usable with warnings, 1 unusable"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("notes.txt"));
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let run = marionette(&folder, &["validate", "empty"]);
    assert!(
        run.code == Some(0)
            && run
                .stdout
                .contains("warning: no .glb, .gltf, .vrm, .fbx, .m3d"),
        "{}",
        run.stdout
    );
}

#[test]
fn validate_names_files_it_cannot_read_or_does_not_know() {
    let folder = characters();
    fs::write(folder.path().join("notes.txt"), "not a model").unwrap();
    for (file, words) in [
        ("gone.m3d", "gone.m3d: error: no such file\n\n"),
        ("arm.m3d", "hint: did you mean `arm.md5mesh`?"),
        ("notes.txt", "unknown kind of file"),
    ] {
        let run = marionette(&folder, &["validate", file]);
        assert!(
            run.code == Some(1) && run.stdout.contains(words),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn validate_checks_an_animation_against_the_model_named_with_it() {
    let folder = characters();
    let run = marionette(&folder, &["validate", "bar.m3d", "reach.md5anim"]);
    assert_eq!(
        run.code,
        Some(1),
        "they have no joint in common: {}",
        run.stdout
    );
    assert!(
        run.stdout.contains("reach.md5anim") && run.stdout.contains("`root`"),
        "{}",
        run.stdout
    );
}

#[test]
fn validate_follows_manifests_and_names_their_files_as_they_lie() {
    let folder = folder(&[
        (
            "who/arm.character.ron",
            "(model: \"arm.md5mesh\", clips: {\"x\": (file: \"gone.md5anim\")})".to_owned(),
        ),
        (
            "who/arm.md5mesh",
            md5_mesh().replace("numverts 4", "numverts many"),
        ),
        (
            "who/typo.character.ron",
            "(\n  model: \"arm.md5mesh\",\n  skale: 2,\n)".to_owned(),
        ),
        ("who/lost.character.ron", "(model: \"lost.m3d\")".to_owned()),
    ]);
    let run = marionette(&folder, &["validate", "who/arm.character.ron"]);
    assert_eq!(run.code, Some(1));
    let path = Path::new("who").join("arm.md5mesh").display().to_string();
    assert!(
        run.stdout.contains(&format!("{path}:")) && run.stdout.contains("many"),
        "{}",
        run.stdout
    );
    let run = marionette(&folder, &["validate", "who/typo.character.ron"]);
    assert!(
        run.code == Some(1) && run.stdout.contains("typo.character.ron:3:"),
        "{}",
        run.stdout
    );
    let run = marionette(&folder, &["validate", "who/lost.character.ron"]);
    assert!(
        run.code == Some(1) && run.stdout.contains("`lost.m3d`: no such file"),
        "{}",
        run.stdout
    );

    fs::write(folder.path().join("who/arm.md5mesh"), md5_mesh()).unwrap();
    let run = marionette(&folder, &["validate", "who/arm.character.ron"]);
    assert!(
        run.code == Some(0) && run.stdout.contains("gone.md5anim"),
        "a lost clip is a warning: {}",
        run.stdout
    );
}

/// Each hint takes reading a folder, which may hold as many files as a manifest names.
#[test]
fn every_missing_file_is_listed_and_the_first_ones_with_a_hint() {
    let folder = folder(&[("arm.md5mesh", md5_mesh())]);
    let clips: String = (0..300)
        .map(|at| format!("\"c{at}\": (file: \"{at}.m3d\"), "))
        .collect();
    fs::write(
        folder.path().join("arm.character.ron"),
        format!("(model: \"arm.md5mesh\", clips: {{{clips}}})"),
    )
    .unwrap();
    for at in 0..300 {
        fs::write(folder.path().join(format!("{at}.md5anim")), "").unwrap();
    }
    let run = marionette(&folder, &["validate", "arm.character.ron"]);
    let count = |words: &str| run.stdout.matches(words).count();
    // One more is about the model's textures.
    assert_eq!(
        (run.code, count("clip `c"), count("301 warnings")),
        (Some(0), 300, 1),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout
            .contains("`0.m3d`: no such file (did you mean `0.md5anim`?)"),
        "{}",
        run.stdout
    );
    assert!((1..100).contains(&count("did you mean")), "{}", run.stdout);
}

#[test]
fn validate_json_counts_what_it_lists() {
    let folder = characters();
    let run = marionette(
        &folder,
        &["validate", "--json", "bar.m3d", "broken/bad.md5mesh"],
    );
    assert_eq!(run.code, Some(1));
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!([&json["errors"], &json["warnings"]], [1, 1]);
    assert_eq!(
        [&json["files"][0]["ok"], &json["files"][1]["ok"]],
        [true, false]
    );
}

#[test]
fn the_sample_characters_have_nothing_to_complain_about() {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let (here, mut looked_at) = (folder(&[]), 0);
    for who in ["scout", "hound"] {
        for file in fs::read_dir(assets.join(who))
            .unwrap()
            .map(|file| file.unwrap().path())
        {
            let name = file.to_str().unwrap();
            if ![".m3d", ".md5mesh", ".md5anim", ".character.ron"]
                .iter()
                .any(|end| name.ends_with(end))
            {
                continue;
            }
            for verb in [&["inspect"][..], &["validate", "--deny-warnings"]] {
                let run = marionette(&here, &[verb, &[name]].concat());
                assert_eq!(run.code, Some(0), "{name}: {}{}", run.stdout, run.stderr);
                assert!(
                    !run.stdout.contains("warning") && run.stderr.is_empty(),
                    "{name}: {}{}",
                    run.stdout,
                    run.stderr
                );
            }
            looked_at += 1;
        }
    }
    assert!(looked_at >= 17, "{looked_at}");
}
