//! Files that are not what they seem: devices, pipes, links, names with control characters.

use super::{
    arm::{md5_anim, md5_mesh},
    support::{characters, folder, marionette},
};
use crate::messages::assert_message;
use std::fs;

#[test]
fn a_limit_holds_for_files_that_a_manifest_names() {
    let folder = characters();
    let size = fs::metadata(folder.path().join("arm.md5mesh"))
        .unwrap()
        .len();
    let run = marionette(
        &folder,
        &[
            "validate",
            "arm.character.ron",
            "--limit",
            &format!("file_bytes={}", size - 1),
        ],
    );
    assert_eq!(run.code, Some(1));
    assert_message("validate: limit of file_bytes in a manifest", run.stdout);
    let limit = format!("file_bytes={}", size.max(md5_anim().len() as u64));
    let run = marionette(
        &folder,
        &["validate", "arm.character.ron", "--limit", &limit],
    );
    assert_eq!(run.code, Some(0), "{}", run.stdout);
}

#[test]
fn a_manifest_may_start_with_a_byte_order_mark_and_utf_16_is_named() {
    let utf_16: Vec<u8> = "\u{feff}(model: \"arm.md5mesh\")"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let folder = folder(&[
        ("arm.md5mesh", md5_mesh()),
        (
            "marked.character.ron",
            "\u{feff}(model: \"arm.md5mesh\")".to_owned(),
        ),
        (
            "typo.character.ron",
            "\u{feff}(\n  model: \"ärm.md5mesh\", skale: 2,\n)".to_owned(),
        ),
    ]);
    fs::write(folder.path().join("wide.character.ron"), utf_16).unwrap();
    let run = marionette(&folder, &["inspect", "marked.character.ron"]);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    let run = marionette(&folder, &["validate", "wide.character.ron"]);
    assert_message("validate: a manifest in UTF-16", run.stdout);
    let run = marionette(&folder, &["validate", "typo.character.ron"]);
    let mut lines = run
        .stdout
        .lines()
        .skip_while(|line| !line.starts_with("2 | "));
    let (quoted, caret) = (lines.next().unwrap(), lines.next().unwrap());
    let place = caret.chars().position(|c| c == '^').unwrap();
    let pointed: String = quoted.chars().skip(place).take(6).collect();
    assert_eq!(
        pointed, "skale:",
        "the caret counts characters:\n{}",
        run.stdout
    );
}

#[test]
fn lengths_beyond_reason_are_printed_for_people() {
    // Two frames, one every 10^30 seconds.
    let slow = md5_anim().replace("frameRate 10", "frameRate 0.000000000000000000000000000001");
    let folder = folder(&[("slow.md5anim", slow), ("arm.md5mesh", md5_mesh())]);
    let run = marionette(&folder, &["inspect", "slow.md5anim"]);
    assert!(
        run.stdout.contains("3.00e30 s") && run.stdout.lines().all(|line| line.len() < 200),
        "{}",
        run.stdout
    );
    let run = marionette(&folder, &["validate", "arm.md5mesh", "slow.md5anim"]);
    assert_message("validate: a clip that is too long", run.stdout);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::{
        os::unix::fs::symlink,
        process::{Child, Command, Stdio},
        time::{Duration, Instant},
    };

    /// Like [`marionette`], but a program that hangs or reads without end fails the test.
    fn within_a_minute(folder: &tempfile::TempDir, args: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marionette"));
        command
            .current_dir(folder.path())
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child: Child = command.spawn().unwrap();
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if start.elapsed() > Duration::from_secs(60) {
                child.kill().unwrap();
                panic!("{args:?} did not end");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let output = child.wait_with_output().unwrap();
        (
            output.status.code(),
            String::from_utf8([output.stdout, output.stderr].concat()).unwrap(),
        )
    }

    #[test]
    fn only_regular_files_are_read() {
        let folder = folder(&[
            ("arm.md5mesh", md5_mesh()),
            (
                "model.character.ron",
                "(model: \"zero.md5mesh\")".to_owned(),
            ),
            (
                "clip.character.ron",
                "(model: \"arm.md5mesh\", clips: {\"x\": (file: \"zero.md5anim\")})".to_owned(),
            ),
        ]);
        let at = |name: &str| folder.path().join(name);
        for name in ["zero.m3d", "zero.md5mesh", "zero.md5anim"] {
            symlink("/dev/zero", at(name)).unwrap();
        }
        fs::create_dir(at("pipes")).unwrap();
        assert!(
            Command::new("mkfifo")
                .arg(at("pipes/pipe.m3d"))
                .status()
                .unwrap()
                .success()
        );
        for (args, code) in [
            (&["inspect", "zero.m3d"][..], 1),
            (&["validate", "zero.md5anim"], 1),
            (&["validate", "model.character.ron"], 1),
            (&["validate", "clip.character.ron"], 0),
            (&["validate", "pipes"], 1),
            (
                &[
                    "pose",
                    "arm.md5mesh",
                    "zero.md5anim",
                    "--time",
                    "0",
                    "-o",
                    "out.obj",
                ],
                1,
            ),
        ] {
            let (found, said) = within_a_minute(&folder, args);
            assert_eq!(found, Some(code), "{args:?}: {said}");
            assert_message(&format!("no regular file: {}", args.join(" ")), said);
        }
    }

    #[test]
    fn a_dangling_link_is_called_one() {
        let folder = characters();
        symlink("gone.m3d", folder.path().join("link.m3d")).unwrap();
        let run = marionette(&folder, &["validate", "link.m3d"]);
        assert_message("validate: a dangling link", run.stdout);
    }

    #[test]
    fn pose_never_overwrites_its_inputs() {
        let folder = characters();
        let at = |name: &str| folder.path().join(name);
        symlink("bar.m3d", at("link.obj")).unwrap();
        fs::hard_link(at("arm.md5mesh"), at("same.obj")).unwrap();
        fs::hard_link(at("reach.md5anim"), at("anim.obj")).unwrap();
        let inputs =
            || ["bar.m3d", "arm.md5mesh", "reach.md5anim"].map(|name| fs::read(at(name)).unwrap());
        let before = inputs();
        for args in [
            &["bar.m3d", "--bind", "-o", "link.obj"][..],
            &["arm.character.ron", "--bind", "-o", "same.obj"],
            &["arm.character.ron", "--bind", "-o", "anim.obj"],
            &[
                "arm.md5mesh",
                "reach.md5anim",
                "--time",
                "0",
                "-o",
                "anim.obj",
            ],
        ] {
            let run = marionette(&folder, &[&["pose"], args].concat());
            assert_eq!(run.code, Some(1), "{args:?}: {}", run.stderr);
            assert_message(&format!("pose {}", args.join(" ")), run.stderr);
        }
        assert!(inputs() == before);
        // Any other file is overwritten, as is usual.
        fs::write(at("old.obj"), "old").unwrap();
        assert_eq!(
            marionette(&folder, &["pose", "bar.m3d", "--bind", "-o", "old.obj"]).code,
            Some(0)
        );
        assert_ne!(fs::read(at("old.obj")).unwrap(), b"old");
    }

    #[test]
    fn names_cannot_control_the_terminal() {
        let evil = "\\u{1b}[31mred\\u{7}";
        let manifest =
            format!("(model: \"arm.md5mesh\", clips: {{\"{evil}\": (file: \"reach.md5anim\")}})");
        let folder = folder(&[
            ("arm.md5mesh", md5_mesh()),
            ("reach.md5anim", md5_anim()),
            ("arm.character.ron", manifest),
            ("\u{1b}[31m.md5anim", md5_anim()),
        ]);
        let name = "\u{1b}[31m.md5anim";
        for args in [
            &["pose", "arm.character.ron", "--time", "0", "-o", "out.obj"][..],
            &[
                "pose",
                "arm.character.ron",
                name,
                "--time",
                "0",
                "--clip",
                "none",
                "-o",
                "out.obj",
            ],
            &["pose", "arm.md5mesh", name, "--time", "0", "-o", "out.obj"],
            &["inspect", "arm.character.ron", name],
            &["validate", "arm.md5mesh", name],
        ] {
            // That there are no escape sequences is checked for every run.
            let run = marionette(&folder, args);
            let control = |c: char| c.is_control() && c != '\n';
            assert!(
                !run.stdout.contains(control) && !run.stderr.contains(control),
                "{args:?}: {}",
                run.stderr
            );
            assert!(
                (run.stdout + &run.stderr).contains("\u{fffd}[31m"),
                "{args:?}"
            );
        }
    }
}
