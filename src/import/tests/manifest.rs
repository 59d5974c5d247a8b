use super::{check::MOST_ERRORS, *};
use crate::messages::assert_message;
use glam::Vec3;

/// Asserts that a manifest is the same after it has been written and parsed.
#[track_caller]
pub(super) fn assert_round_trip(manifest: &Manifest) {
    assert_eq!(
        Manifest::parse("again", manifest.to_ron().unwrap().as_bytes()).as_ref(),
        Ok(manifest)
    );
}

#[test]
fn settings_of_a_manifest_are_those_that_it_was_given() {
    let settings = ImportSettings {
        scale: 0.5,
        hand: Hand::Left,
        up: UpAxis::Z,
        all_lods: true,
        flip_v: true,
        skin_error: 0.25,
        max_palette: 64,
        ..ImportSettings::default()
    };
    let manifest = Manifest::of_model("a.glb").with_settings(&settings);
    assert_eq!(manifest.settings(), settings);
}

#[test]
fn the_documented_manifest_is_valid() {
    let text = r#"(
            model: "scout.md5mesh",
            scale: 0.0254,
            clips: { "walk": (file: "walk.md5anim", playback: Loop, callbacks: [(time: 0.30, name: "footstep", data: "left")]) },
            masks: { "upper_body": (roots: ["spine"], falloff: 2) },
            sockets: { "right_hand": (joint: "hand.R", translation: (0, 0.02, 0)) },
        )"#;
    let manifest = Manifest::parse("scout.character.ron", text.as_bytes()).unwrap();
    assert_eq!(
        manifest.clips["walk"].callbacks[0].data,
        ron::Value::String("left".into())
    );
    assert_eq!(
        manifest.sockets["right_hand"].translation,
        Vec3::new(0.0, 0.02, 0.0)
    );
    assert_round_trip(&manifest);
}

#[test]
fn root_motion_is_off_unless_asked_for_and_a_clip_changes_what_it_names() {
    let parse = |text: &str| Manifest::parse("a", text.as_bytes());
    assert_eq!(parse("(model: \"a\")").unwrap().root_motion, None);
    let text = "(model: \"a\", root_motion: (joint: \"hips\", steady: true), \
        clips: {\"a\": (root_motion: (turn: false), ground_speed: -1.5)})";
    let manifest = parse(text).unwrap();
    let entry = RootMotionEntry {
        joint: Some("hips".into()),
        steady: true,
        ..RootMotionEntry::default()
    };
    assert_eq!(manifest.root_motion, Some(entry));
    let clip = ClipRootMotion {
        turn: Some(false),
        ..ClipRootMotion::default()
    };
    assert_eq!(
        (
            manifest.clips["a"].root_motion,
            manifest.clips["a"].ground_speed
        ),
        (Some(clip), Some(-1.5))
    );
    assert_eq!(parse(&manifest.to_ron().unwrap()), Ok(manifest));
    let error = parse("(model: \"a\", root_motion: (yaw: true))").unwrap_err();
    assert_message("manifest: root motion with yaw", error);
}

#[test]
fn a_mirrored_clip_has_no_file_of_its_own() {
    let parse = |text: &str| Manifest::parse("a", text.as_bytes());
    let text = "(model: \"a\", sides: [(\"a\", \"b\")], clips: {\"right\": (mirror: \"left\", playback: Once)})";
    let manifest = parse(text).unwrap();
    assert_eq!(
        (
            manifest.clips["right"].mirror.as_deref(),
            manifest.sides.len()
        ),
        (Some("left"), 1)
    );
    assert_eq!(parse(&manifest.to_ron().unwrap()), Ok(manifest));
    for field in [
        "file: \"a.md5anim\"",
        "clip: \"a\"",
        "additive: true",
        "root_motion: ()",
    ] {
        let text = format!("(model: \"a\",\nclips: {{\n\"right\": (mirror: \"left\", {field})}})");
        let error = parse(&text).unwrap_err();
        assert_message(&format!("manifest: a mirror image with {field}"), error);
    }
}

#[test]
fn retargeting_is_a_switch_or_has_fields() {
    let parse = |retarget: &str| {
        let text = format!(
            "(model: \"a\", clips: {{\n\"w\": (file: \"b.md5anim\", retarget: {retarget})}})"
        );
        Manifest::parse("a", text.as_bytes())
    };
    let plain = Some(RetargetEntry::default());
    for (text, expected) in [
        ("true", plain.clone()),
        ("()", plain.clone()),
        ("Some(true)", plain),
        ("false", None),
    ] {
        assert_eq!(parse(text).unwrap().clips["w"].retarget, expected, "{text}");
    }
    let full = "(skeleton: \"b.md5mesh\", roles: {\"hips\": \"pelvis\"}, source_roles: {\"toes.L\": \"\"})";
    let manifest = parse(full).unwrap();
    let entry = manifest.clips["w"].retarget.as_ref().unwrap();
    assert_eq!(
        (&*entry.roles["hips"], &*entry.source_roles["toes.L"]),
        ("pelvis", "")
    );
    assert_eq!(manifest.clip_files(), ["b.md5anim", "b.md5mesh"]);
    for manifest in [manifest, parse("true").unwrap()] {
        assert_round_trip(&manifest);
    }
    for odd in ["(rolls: {})", "7"] {
        let error = parse(odd).unwrap_err();
        assert_message(&format!("manifest: {odd} as retarget"), error);
    }
    let alone = b"(model: \"a\", clips: {\"w\": (retarget: true)})";
    let error = Manifest::parse("a", alone).unwrap_err();
    assert_message("manifest: retarget without a file", error);
}

#[test]
fn a_byte_order_mark_is_skipped_and_other_encodings_are_named() {
    assert!(Manifest::parse("a", b"\xef\xbb\xbf(model: \"a.m3d\")").is_ok());
    let error = Manifest::parse("a", b"\xff\xfe(\0m\0").unwrap_err();
    assert_message("manifest: UTF-16", error);
    let error = Manifest::parse("a", b"(\r model: \"a.m3d\"\r)").unwrap_err();
    assert_message("manifest: line ends of old Macs", error);
}

#[test]
fn an_unknown_field_is_an_error_with_its_place() {
    let error = Manifest::parse(
        "a.character.ron",
        b"(\n  model: \"a.m3d\",\n  scael: 2.0,\n)",
    )
    .unwrap_err();
    assert_message("manifest: a misspelled field", error);
}

#[test]
fn errors_are_written_for_artists() {
    let cases = [
        ("JSON", "{ \"model\": \"a.m3d\" }"),
        (
            "a misspelled value",
            "(model: \"a.m3d\", clips: {\"w\": (playback: Lop)})",
        ),
        ("a missing comma", "(model: \"a.m3d\"\n scale: 2)"),
        ("no model", "(scale: 2)"),
        ("cut", "(model: \"a.m3d\", clips: {\"w\": (fi"),
        ("a scale of 0", "(model: \"a.m3d\",\n scale: 0)"),
    ];
    for (what, text) in cases {
        let error = Manifest::parse("a", text.as_bytes()).unwrap_err();
        assert_message(&format!("manifest: {what}"), error);
    }
    let deep = format!(
        "(model: \"a\", clips: {{\"w\": (callbacks: [(time: 0, name: \"n\", data: {}1{})])}})",
        "[".repeat(99),
        "]".repeat(99)
    );
    let error = Manifest::parse("a", deep.as_bytes()).unwrap_err();
    assert_message("manifest: data that is too deep", error);
}

#[test]
fn a_key_given_twice_is_an_error_at_its_place() {
    let text = "(model: \"a\", clips: {\n  \"walk\": (),\n  \"walk\": (playback: Once),\n})";
    let error = Manifest::parse("a", text.as_bytes()).unwrap_err();
    assert_message("manifest: a key that is given twice", error);
}

#[test]
fn many_errors_are_reported_up_to_a_limit() {
    let clips: String = (0..5000)
        .map(|i| format!("\"{i}\": (callbacks: [(time: -1, name: \"n\")]), "))
        .collect();
    let error = Manifest::parse(
        "a",
        format!("(model: \"a\", clips: {{{clips}}})").as_bytes(),
    )
    .unwrap_err();
    assert_eq!(error.diagnostics.len(), MOST_ERRORS);
}

#[test]
fn invalid_numbers_are_errors() {
    for text in [
        "(model: \"a\", scale: 0)",
        "(model: \"a\", scale: NaN)",
        "(model: \"a\", clip_error: 0)",
        "(model: \"a\", skin_error: -1)",
        "(model: \"a\", skin_error: NaN)",
        "(model: \"a\", clips: {\"x\": (callbacks: [(time: -1, name: \"n\")])})",
        "(model: \"a\", clips: {\"x\": (ground_speed: NaN)})",
        "(model: \"a\", clips: {\"x\": (ground_speed: -inf)})",
        "(model: \"a\", sockets: {\"x\": (joint: \"j\", translation: (inf, 0, 0))})",
    ] {
        assert!(Manifest::parse("a", text.as_bytes()).is_err(), "{text}");
    }
}
