//! Changes of a manifest's text.

use crate::asset;
use bevy_marionette::import::{CallbackEntry, LookAtEntry, Manifest};
use fastrand::Rng;
use std::fs;

/// Texts as people write them.
const ODD: [&str; 6] = [
    "(model: \"a.glb\")",
    "(model: \"a.glb\",)",
    "// one, two\n(\n  model: \"a.glb\" // its model, with a comma\n)\n",
    "#![enable(implicit_some)]\nManifest(model: \"a.glb\", clips: {})",
    "(\r\n\tmodel: \"a.glb\",\r\n\tclips: {\r\n\t\t\"walk\": (),\r\n\t},\r\n)\r\n",
    "(model: \"a.glb\", clips: {\"walk\": (callbacks: [(time: 1, name: \"a, b\") /* c, d */]), /* e */ \"run\": (file: \"x\")},\n look_at: (joints: [(\"head\", 1)]))",
];

fn texts() -> Vec<String> {
    let samples = [
        "scout/scout",
        "scout/scout_hero",
        "hound/hound",
        "adventure/scout_adventure",
        "pup/pup",
    ];
    let samples =
        samples.map(|name| fs::read_to_string(asset(&format!("{name}.character.ron"))).unwrap());
    ODD.map(str::to_owned).into_iter().chain(samples).collect()
}

fn parse(text: &str) -> Manifest {
    Manifest::parse("a.character.ron", text.as_bytes())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn edited(text: &str, path: &[&str], value: Option<&str>) -> String {
    Manifest::edited("a.character.ron", text, path, value)
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Whether `short` is `long` with something left out.
fn is_within(short: &str, long: &str) -> bool {
    let mut rest = long.chars();
    short.chars().all(|wanted| rest.any(|c| c == wanted))
}

#[test]
fn an_entry_changes_and_everything_else_stays_as_it_is() {
    let mut random = Rng::with_seed(5);
    for text in texts() {
        for _ in 0..60 {
            let before = parse(&text);
            let mut expected = before.clone();
            let clips: Vec<&String> = before.clips.keys().collect();
            let clip = match random.choice(&clips) {
                Some(clip) if random.bool() => (*clip).clone(),
                _ => "new \"clip\"".to_owned(),
            };
            let time = f64::from(random.u8(..)) / 8.0;
            let (path, value) = match random.u8(..4) {
                0 => {
                    expected.clips.entry(clip.clone()).or_default().callbacks =
                        vec![CallbackEntry::new(time, "step")];
                    (
                        vec!["clips", &clip, "callbacks"],
                        format!("[\n    (time: {time:?}, name: \"step\"),\n]"),
                    )
                }
                1 => {
                    expected.clips.entry(clip.clone()).or_default().ground_speed =
                        Some(time as f32);
                    (vec!["clips", &clip, "ground_speed"], format!("{time:?}"))
                }
                2 => {
                    expected.look_at = Some(LookAtEntry::new([("neck", time as f32)]));
                    (vec!["look_at"], format!("(joints: [(\"neck\", {time:?})])"))
                }
                _ => {
                    expected.scale = 0.5 + time as f32;
                    (vec!["scale"], format!("{:?}", 0.5 + time))
                }
            };
            let after = edited(&text, &path, Some(&value));
            assert_eq!(parse(&after), expected, "{path:?}\n{after}");
            // Once more, and it is the same.
            assert_eq!(edited(&after, &path, Some(&value)), after);
            // What was said in comments is still said, and where nothing was replaced, all of it.
            let comments = |text: &str| text.matches("/*").count() + text.matches("//").count();
            let replaces_comment = text == ODD[5] && path.last() == Some(&"callbacks");
            assert!(
                comments(&after) == comments(&text) || replaces_comment,
                "{after}"
            );
            let without = edited(&after, &path, None);
            if edited(&text, &path, None) == text {
                assert!(is_within(&text, &after), "{after}");
            }
            assert_eq!(
                after.matches('\r').count(),
                after.matches('\n').count() * usize::from(text.contains('\r'))
            );
            parse(&without);
        }
    }
}

#[test]
fn entries_are_added_in_the_style_of_the_text() {
    let cases: [(&str, &[&str], &str, &str); 6] = [
        (ODD[0], &["scale"], "2", "(model: \"a.glb\", scale: 2)"),
        (ODD[1], &["scale"], "2", "(model: \"a.glb\", scale: 2)"),
        (
            ODD[2],
            &["scale"],
            "2",
            "// one, two\n(\n  model: \"a.glb\", // its model, with a comma\n  scale: 2,\n)\n",
        ),
        (
            ODD[3],
            &["clips", "walk", "ground_speed"],
            "1.5",
            "#![enable(implicit_some)]\nManifest(model: \"a.glb\", clips: {\"walk\": (ground_speed: 1.5)})",
        ),
        (
            ODD[4],
            &["clips", "run", "callbacks"],
            "[\n    (time: 1, name: \"a\"),\n]",
            "(\r\n\tmodel: \"a.glb\",\r\n\tclips: {\r\n\t\t\"walk\": (),\r\n\t\t\"run\": (\r\n\t\t    callbacks: [\r\n\t\t        (time: 1, name: \"a\"),\r\n\t\t    ],\r\n\t\t),\r\n\t},\r\n)\r\n",
        ),
        (
            ODD[4],
            &["masks", "arm"],
            "(roots: [\"arm\"])",
            "(\r\n\tmodel: \"a.glb\",\r\n\tclips: {\r\n\t\t\"walk\": (),\r\n\t},\r\n\tmasks: {\r\n\t    \"arm\": (roots: [\"arm\"]),\r\n\t},\r\n)\r\n",
        ),
    ];
    for (text, path, value, expected) in cases {
        assert_eq!(edited(text, path, Some(value)), expected);
    }
}

#[test]
fn a_removed_entry_takes_its_line_and_its_comma_along() {
    for (text, path, expected) in [
        (
            "(\n    model: \"a\",\n    scale: 2, // big\n    up: Z\n)",
            &["up"][..],
            "(\n    model: \"a\",\n    scale: 2, // big\n)",
        ),
        (
            "(model: \"a\", scale: 2, up: Z)",
            &["scale"],
            "(model: \"a\", up: Z)",
        ),
        ("(model: \"a\", scale: 2)", &["scale"], "(model: \"a\")"),
        (
            "(model: \"a\", clips: {\"x\": (), \"y\": ()})",
            &["clips", "y"],
            "(model: \"a\", clips: {\"x\": ()})",
        ),
        ("(model: \"a\")", &["clips", "y"], "(model: \"a\")"),
    ] {
        assert_eq!(edited(text, path, None), expected);
    }
}

#[test]
fn what_would_be_no_manifest_is_an_error_and_changes_nothing() {
    for (text, path, value) in [
        ("(model: \"a\"", &["scale"][..], "2"),
        ("(model: \"a\")", &["scale"], "2)"),
        ("(model: \"a\")", &["scales"], "2"),
        ("(model: \"a\")", &["scale", "x"], "2"),
        ("(model: \"a\", scale: 2)", &["scale", "x"], "2"),
        (
            "(model: \"a\", look_at: Some((joints: [(\"a\", 1)])))",
            &["look_at", "yaw"],
            "2",
        ),
    ] {
        assert!(
            Manifest::edited("a", text, path, Some(value)).is_err(),
            "{text} {path:?}"
        );
    }
}
