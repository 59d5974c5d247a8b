use super::*;
use bevy_marionette::{import::RetargetEntry, model::PlaybackMode};

#[test]
fn the_text_is_the_manifest() {
    let entry = |file: &str, playback| ClipEntry {
        file: Some(file.into()),
        playback,
        ..ClipEntry::default()
    };
    let socket = SocketEntry {
        joint: "hand \"R\"".into(),
        translation: Vec3::new(0.5, -1e-7, 3.0),
        euler_degrees: Vec3::Y * 90.0,
        scale: 0.25,
    };
    let manifest = Manifest {
        scale: 0.0254,
        hand: Hand::Left,
        up: UpAxis::Z,
        all_lods: true,
        flip_v: true,
        skin_error: 0.25,
        max_palette: 12,
        clips: [
            ("walk".to_owned(), ClipEntry::default()),
            (
                "dance".to_owned(),
                ClipEntry {
                    retarget: Some(RetargetEntry::default()),
                    ..entry("dance.glb", None)
                },
            ),
            (
                "jump\n".to_owned(),
                ClipEntry {
                    as_is: true,
                    ..entry("a\\b.md5anim", Some(PlaybackMode::Once))
                },
            ),
        ]
        .into(),
        masks: [(
            "head".to_owned(),
            MaskEntry {
                roots: vec!["neck".into(), "é".into()],
                falloff: 2,
                morphs: vec!["eye*".into()],
                ..MaskEntry::default()
            },
        )]
        .into(),
        sockets: [("hand".to_owned(), socket)].into(),
        ..Manifest::of_model("hero.md5mesh")
    };
    let text = of_manifest(&manifest, &[("walk", "ends\nas it begins")].into(), None);
    assert!(
        text.contains("        // It ends as it begins.\n        \"walk\": (),\n"),
        "{text}"
    );
    assert_eq!(
        Manifest::parse("hero.character.ron", text.as_bytes()).unwrap(),
        manifest,
        "{text}"
    );
    let least = Manifest::of_model("a.m3d");
    assert_eq!(
        Manifest::parse("a", of_manifest(&least, &BTreeMap::new(), None).as_bytes()),
        Ok(least)
    );
}

#[test]
fn parts_to_merge_are_proposed_in_a_comment() {
    let manifest = Manifest::of_model("hero.glb");
    let names = ["Arm", "\"Leg\"\n// x"];
    let parts = Mergeable {
        names: names.to_vec(),
        group: "body_".to_owned(),
        merged: 1,
    };
    let text = of_manifest(&manifest, &BTreeMap::new(), Some(&parts));
    assert_eq!(Manifest::parse("a", text.as_bytes()).unwrap(), manifest);
    // Taken at its word.
    let (before, proposed) = text.split_once("    // merge: {").unwrap();
    let proposed = proposed.replace("\n    // ", "\n    ");
    let text = format!("{before}    merge: {{{proposed}");
    let merge = [("body_".to_owned(), names.map(str::to_owned).to_vec())].into();
    assert_eq!(
        Manifest::parse("a", text.as_bytes()).unwrap(),
        Manifest { merge, ..manifest },
        "{text}"
    );
}
