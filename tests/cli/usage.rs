//! The command line itself: usage, help, pipes.

use super::support::{characters, marionette};
use serde_json::Value;
use std::{
    fs,
    process::{Command, Stdio},
};

#[test]
fn wrong_usage_exits_with_2_and_touches_nothing() {
    let folder = characters();
    let model = fs::read(folder.path().join("bar.m3d")).unwrap();
    for args in [
        &[][..],
        &["inspect"],
        &["validate"],
        &["explain", "bar.m3d"],
        &["pose", "bar.m3d", "-o", "out.obj"],
        &["pose", "bar.m3d", "--time", "0"],
        &["pose", "bar.m3d", "--time", "soon", "-o", "out.obj"],
        &["pose", "bar.m3d", "--time", "nan", "-o", "out.obj"],
        &[
            "pose", "bar.m3d", "--bind", "--clip", "Sway", "-o", "out.obj",
        ],
        &[
            "pose", "bar.m3d", "--time", "0", "--scale", "0", "-o", "out.obj",
        ],
        &[
            "pose", "bar.m3d", "--time", "0", "--hand", "both", "-o", "out.obj",
        ],
        &["pose", "bar.m3d", "--time", "0", "-o", "bar.m3d"],
        &["convert", "bar.m3d"],
        &["convert", "bar.m3d", "-o", "out.obj"],
        &["import", "bar.m3d"],
    ] {
        let run = marionette(&folder, args);
        assert_eq!(run.code, Some(2), "{args:?}: {}{}", run.stdout, run.stderr);
    }
    assert!(!folder.path().join("out.obj").exists());
    assert_eq!(fs::read(folder.path().join("bar.m3d")).unwrap(), model);
}

#[test]
fn help_has_examples_and_the_jsons_fields() {
    let folder = characters();
    for verb in ["inspect", "validate", "pose", "convert", "import", "bake"] {
        let run = marionette(&folder, &[verb, "--help"]);
        assert_eq!(run.code, Some(0));
        assert!(
            run.stdout
                .contains(&format!("Examples:\n  marionette {verb} ")),
            "{}",
            run.stdout
        );
    }
    // Every field there is is documented.
    let help = marionette(&folder, &["inspect", "--help"]).stdout;
    let run = marionette(
        &folder,
        &[
            "inspect",
            "--json",
            "bar.m3d",
            "arm.character.ron",
            "arm.md5mesh",
            "reach.md5anim",
        ],
    );
    let mut fields = Vec::new();
    keys(&serde_json::from_str(&run.stdout).unwrap(), &mut fields);
    assert!(fields.len() > 40, "{fields:?}");
    for field in fields {
        // Names in a manifest, and the structs of its masks and sockets, are the manifest's own.
        let own = [
            "all",
            "palm",
            "roots",
            "falloff",
            "joint",
            "translation",
            "euler_degrees",
        ];
        assert!(
            help.contains(&field) || own.contains(&field.as_str()),
            "{field}"
        );
    }
}

fn keys(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| keys(item, out)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            out.push(key.clone());
            keys(value, out);
        }),
        _ => {}
    }
}

#[test]
fn a_reader_that_stops_listening_is_no_error() {
    let folder = characters();
    for args in [
        &["inspect", "--json", "bar.m3d"][..],
        &["pose", "bar.m3d", "--time", "0", "-o", "-"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_marionette"))
            .current_dir(folder.path())
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{args:?}: {said}");
        assert!(
            !said.to_lowercase().contains("pipe") && !said.contains("panicked"),
            "{said}"
        );
    }
}

#[test]
fn colors_are_for_terminals_and_for_those_who_ask() {
    let folder = characters();
    let run = |name: &str, value: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marionette"));
        let output = command
            .current_dir(folder.path())
            .args(["validate", "bar.m3d"])
            .env(name, value)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let (plain, colored) = (run("NO_COLOR", "1"), run("CLICOLOR_FORCE", "1"));
    assert!(
        colored.contains("\x1b[33m") && !plain.contains('\x1b'),
        "{colored}"
    );
    assert_eq!(anstream::adapter::strip_str(&colored).to_string(), plain);
}
