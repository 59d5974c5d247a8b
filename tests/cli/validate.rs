//! `marionette validate`, and what it says of the sample characters.

use super::{
    arm::md5_mesh,
    support::{characters, folder, marionette},
};
use crate::messages::assert_message;
use serde_json::Value;
use std::{fs, path::Path};

#[test]
fn validate_exits_with_1_on_errors_alone() {
    let folder = characters();
    let good = marionette(&folder, &["validate", "reach.md5anim"]);
    assert_eq!(good.code, Some(0));
    assert_message("validate: a file that is ok", good.stdout);

    let warned = marionette(&folder, &["validate", "bar.m3d"]);
    assert_eq!(warned.code, Some(0));
    assert_message("validate: a file with a warning", warned.stdout);
    assert_eq!(
        marionette(&folder, &["validate", "--deny-warnings", "bar.m3d"]).code,
        Some(1)
    );

    let bad = marionette(&folder, &["validate", "bar.m3d", "broken/bad.md5mesh"]);
    assert_eq!(bad.code, Some(1));
    assert_message("validate: a file with an error", bad.stdout);
}

#[test]
fn validate_searches_directories() {
    let folder = characters();
    fs::write(folder.path().join("notes.txt"), "not a model").unwrap();
    let run = marionette(&folder, &["validate", "."]);
    assert_eq!(run.code, Some(1));
    let found = run.stdout.lines().last().unwrap();
    assert_message("validate: a folder", found);
    assert!(!run.stdout.contains("notes.txt"));
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let run = marionette(&folder, &["validate", "empty"]);
    assert_eq!(run.code, Some(0));
    assert_message("validate: an empty folder", run.stdout);
}

#[test]
fn validate_names_files_it_cannot_read_or_does_not_know() {
    let folder = characters();
    fs::write(folder.path().join("notes.txt"), "not a model").unwrap();
    for file in ["gone.m3d", "arm.m3d", "notes.txt"] {
        let run = marionette(&folder, &["validate", file]);
        assert_eq!(run.code, Some(1));
        assert_message(&format!("validate: {file}"), run.stdout);
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
    assert_message("validate: a clip of other joints", run.stdout);
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
    let said = |code: i32, manifest: &str| {
        let run = marionette(&folder, &["validate", &format!("who/{manifest}")]);
        assert_eq!(run.code, Some(code));
        // Windows's own separator.
        run.stdout.replace("who\\", "who/")
    };
    let broken = said(1, "arm.character.ron");
    assert_message("validate: a manifest of a broken model", broken);
    let typo = said(1, "typo.character.ron");
    assert_message("validate: a manifest with a misspelled field", typo);
    let lost = said(1, "lost.character.ron");
    assert_message("validate: a manifest of a lost model", lost);

    // A lost clip is a warning.
    fs::write(folder.path().join("who/arm.md5mesh"), md5_mesh()).unwrap();
    let lost = said(0, "arm.character.ron");
    assert_message("validate: a manifest of a lost clip", lost);
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
    assert_eq!(
        (run.code, count("clip `c")),
        (Some(0), 300),
        "{}",
        run.stdout
    );
    // One more is about the model's textures.
    let sum = run.stdout.lines().last().unwrap();
    assert_message("validate: a manifest of 300 lost clips", sum);
    let first = run.stdout.lines().find(|line| line.contains("`0.m3d`"));
    assert_message("validate: the first of 300 lost clips", first.unwrap());
    let hints = count(".md5anim`");
    assert!((1..100).contains(&hints), "{}", run.stdout);
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
