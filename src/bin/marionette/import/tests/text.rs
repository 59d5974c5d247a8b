use super::*;
use bevy_marionette::{
    import::{BlendSpaceEntry, ClipRootMotion, FeetEntry, GoalEntry, LookAtEntry, RetargetEntry},
    model::PlaybackMode,
};

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
        textures: vec!["maps/skin.png".into(), "a\\b".into()],
        clips: [
            (
                "walk".to_owned(),
                ClipEntry {
                    ground_speed: Some(1.25),
                    callbacks: vec![
                        CallbackEntry::new(0.3, "foot"),
                        CallbackEntry {
                            data: Value::String("l".into()),
                            ..CallbackEntry::new(0.7, "foot")
                        },
                    ],
                    ..ClipEntry::default()
                },
            ),
            (
                "run".to_owned(),
                ClipEntry {
                    root_motion: Some(ClipRootMotion {
                        ground: Some(true),
                        ..ClipRootMotion::default()
                    }),
                    ..ClipEntry::default()
                },
            ),
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
        ..hero("hero.md5mesh")
    };
    let text = of_manifest(
        &manifest,
        &Notes {
            clips: [("walk", "ends\nas it begins")].into(),
            ..Notes::default()
        },
    );
    assert!(
        text.contains(
            "        // It ends as it begins.\n        \"walk\": (ground_speed: 1.25, callbacks: ["
        ),
        "{text}"
    );
    assert_eq!(
        Manifest::parse("hero.character.ron", text.as_bytes()).unwrap(),
        manifest,
        "{text}"
    );
    let least = Manifest::of_model("a.m3d");
    assert_eq!(
        Manifest::parse("a", of_manifest(&least, &Notes::default()).as_bytes()),
        Ok(least)
    );
}

/// What a humanoid gets.
fn hero(model: &str) -> Manifest {
    let points = [
        ("idle", BlendPlace::Plane(0.0, 0.0)),
        ("walk", BlendPlace::Plane(-0.5, 1.2)),
    ];
    let space = BlendSpaceEntry {
        points: points
            .map(|(clip, place)| (clip.to_owned(), place))
            .to_vec(),
        sync: BlendSync::Keys(vec!["foot\"step".into()]),
        ..BlendSpaceEntry::default()
    };
    let several = State {
        plays: vec!["a".into(), "b\n".into()],
        ..State::default()
    };
    let states = [
        ("ground", State::playing("locomotion").start()),
        (
            "jump",
            State::playing("leap")
                .from(["ground", "hurt"])
                .then(Then::State("ground".into())),
        ),
        ("hurt", several.clone().from_any().then(Then::Back)),
        ("death", several.from_any().exit(Exit::Never)),
    ];
    let arm = Limb::TwoBone {
        root: "arm.L".into(),
        mid: Some("elbow".into()),
        tip: "hand\\".into(),
    };
    Manifest {
        root_motion: Some(RootMotionEntry {
            joint: Some("hips".into()),
            ground: false,
            turn: false,
            steady: true,
            ..RootMotionEntry::default()
        }),
        blend_spaces: [("locomotion".to_owned(), space)].into(),
        states: states.map(|(name, state)| (name.to_owned(), state)).into(),
        goals: [
            ("left_hand".to_owned(), GoalEntry::new(arm)),
            (
                "tail".to_owned(),
                GoalEntry::new(Limb::chain("tail.1", "tail.5")),
            ),
        ]
        .into(),
        look_at: Some(LookAtEntry::new([("neck", 0.25), ("head", 0.75)])),
        feet: Some(FeetEntry::new(
            "hips",
            [
                LegEntry::new("thigh.L", "foot.L"),
                LegEntry::new("thigh.R", "foot.R").toe("toe.R"),
            ],
        )),
        ..Manifest::of_model(model)
    }
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
    let text = of_manifest(
        &manifest,
        &Notes {
            mergeable: Some(&parts),
            ..Notes::default()
        },
    );
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
