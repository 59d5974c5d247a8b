use super::*;
use crate::import::{CallbackEntry, ClipRootMotion, RootMotionEntry, open_model};
use crate::messages::{assert_message, assert_messages};
use crate::model::{ClipFrames, ClipTiming, PlaybackMode};
#[cfg(feature = "gltf")]
use crate::{import::internals::to_glb, model::Reach};
use glam::Vec3;

const MESH: &str = "MD5Version 10\ncommandline \"\"\nnumJoints 2\nnumMeshes 1\n\
    joints {\n\"root\" -1 ( 0 0 0 ) ( 0 0 0 )\n\"tip\" 0 ( 0 0 1 ) ( 0 0 0 )\n}\n\
    mesh {\nshader \"\"\nnumverts 3\nvert 0 ( 0 0 ) 0 1\nvert 1 ( 1 0 ) 1 1\nvert 2 ( 0 1 ) 2 1\n\
    numtris 1\ntri 0 0 1 2\n\
    numweights 3\nweight 0 0 1 ( 0 0 0 )\nweight 1 0 1 ( 1 0 0 )\nweight 2 1 1 ( 0 1 0 )\n}\n";

const ANIM: &str = "MD5Version 10\ncommandline \"\"\nnumFrames 3\nnumJoints 2\nframeRate 24\n\
    numAnimatedComponents 1\nhierarchy {\n\"root\" -1 4 0\n\"tip\" 0 0 0\n}\n\
    baseframe {\n( 0 0 0 ) ( 0 0 0 )\n( 0 0 1 ) ( 0 0 0 )\n}\n\
    frame 0 {\n0\n}\nframe 1 {\n1\n}\nframe 2 {\n3\n}\n";

fn open(
    manifest: &Manifest,
    limits: &ImportLimits,
    anim: &str,
    reads: &mut usize,
) -> Result<Imported, FormatError> {
    open_manifest("a.character.ron", manifest, limits, |file| {
        *reads += 1;
        Ok(Cow::Owned(if file == "a.md5mesh" {
            MESH.into()
        } else {
            anim.as_bytes().to_vec()
        }))
    })
}

fn many_clips(count: usize, entry: &ClipEntry) -> Manifest {
    let clips = (0..count).map(|i| (format!("clip{i}"), entry.clone()));
    Manifest {
        clips: clips.collect(),
        ..Manifest::of_model("a.md5mesh")
    }
}

#[test]
fn a_file_that_four_thousand_entries_name_is_parsed_once_and_its_clips_share_their_frames() {
    let entry = ClipEntry {
        file: Some("a.md5anim".into()),
        ..ClipEntry::default()
    };
    let (mut reads, limits) = (
        0,
        ImportLimits {
            total_bytes: 4096,
            ..ImportLimits::default()
        },
    );
    let manifest = many_clips(4000, &entry);
    let clips = open(&manifest, &limits, ANIM, &mut reads)
        .unwrap()
        .model
        .clips;
    assert_eq!((clips.len(), reads), (4000, 2));
    assert!(
        clips
            .iter()
            .all(|clip| clip.frames_key() == clips[0].frames_key())
    );
    let compressed = Manifest {
        clip_error: Some(0.01),
        ..manifest
    };
    let clips = open(&compressed, &limits, ANIM, &mut reads)
        .unwrap()
        .model
        .clips;
    assert!(
        clips
            .iter()
            .all(|clip| clip.frames_key() == clips[0].frames_key())
    );

    // Differences are frames of their own, and these are too many.
    let additive = many_clips(
        4000,
        &ClipEntry {
            additive: Some(true),
            ..entry
        },
    );
    let error = open(&additive, &limits, ANIM, &mut reads).unwrap_err();
    assert_message("manifest: limit of total_bytes", error);
}

#[test]
fn keys_at_frames_are_placed_by_the_clips_frame_rate_or_by_the_one_that_is_given() {
    let keys = |frame_rate| {
        let frames = CallbackEntry {
            time: None,
            frames: Some((0.5, 1.0)),
            ..CallbackEntry::new(0.0, "range")
        };
        let frame = CallbackEntry {
            time: None,
            frame: Some(1.0),
            ..CallbackEntry::new(0.0, "key")
        };
        let callbacks = vec![frames, frame];
        ClipEntry {
            file: Some("a.md5anim".into()),
            callbacks,
            frame_rate,
            ..ClipEntry::default()
        }
    };
    let placed = |frame_rate: Option<f64>| {
        let manifest = many_clips(1, &keys(frame_rate));
        let clip = open(&manifest, &ImportLimits::default(), ANIM, &mut 0)
            .unwrap()
            .model
            .clips
            .remove(0);
        let rate = frame_rate.or(clip.frame_rate()).unwrap();
        let frame = |time: f64| (time * rate * 1e6).round() * 1e-6;
        let places = clip
            .timing
            .callbacks
            .iter()
            .map(|key| (frame(key.time), key.until.map(frame)));
        places.collect::<Vec<_>>()
    };
    assert_eq!(placed(None), [(0.5, Some(1.0)), (1.0, None)]);
    assert_eq!(placed(Some(2400.0)), [(0.5, Some(1.0)), (1.0, None)]);

    let still = SkeletalClip::new(ClipTiming::new("still", 1.0), &ClipFrames::default()).unwrap();
    let manifest = many_clips(1, &keys(None));
    let error = refine(
        "a.character.ron",
        &manifest,
        "still",
        &keys(None),
        still.clone(),
        &mut Vec::new(),
    )
    .unwrap_err();
    assert_message("manifest: a key at a frame of a still clip", error);
    // A range that reaches past the end is cut there.
    let (entry, mut warnings) = (keys(Some(0.5)), Vec::new());
    let clip = refine(
        "a.character.ron",
        &manifest,
        "still",
        &entry,
        still,
        &mut warnings,
    )
    .unwrap();
    assert_eq!(
        (
            clip.timing.callbacks[0].time,
            clip.timing.callbacks[0].until,
            warnings.len()
        ),
        (1.0, Some(1.0), 1)
    );
}

#[test]
fn frames_of_a_file_keep_their_numbers_where_fast_turns_get_more_of_them() {
    // The root turns by 60° from one frame to the next.
    let anim = ANIM.replace("-1 4 0", "-1 32 0").replace(
        "frame 1 {\n1\n}\nframe 2 {\n3\n}",
        "frame 1 {\n0.5\n}\nframe 2 {\n0\n}",
    );
    let key = CallbackEntry {
        time: None,
        frame: Some(1.0),
        ..CallbackEntry::new(0.0, "key")
    };
    let whole = ClipEntry {
        file: Some("a.md5anim".into()),
        callbacks: vec![key],
        ..ClipEntry::default()
    };
    let second = ClipEntry {
        frames: Some((1.0, 2.0)),
        callbacks: Vec::new(),
        ..whole.clone()
    };
    let manifest = Manifest {
        clips: [("second".to_owned(), second), ("whole".to_owned(), whole)].into(),
        ..Manifest::of_model("a.md5mesh")
    };
    let opened = open(&manifest, &ImportLimits::default(), &anim, &mut 0).unwrap();
    let [second, whole] = &opened.model.clips[..] else {
        panic!("two clips");
    };
    assert_eq!((whole.frame_count(), whole.frame_rate()), (9, Some(24.0)));
    assert_eq!(whole.timing.callbacks[0].time, 1.0 / 24.0);
    assert_eq!(
        (second.frame_count(), second.timing.duration),
        (5, 1.0 / 24.0)
    );
    assert_eq!(
        second.transform_at(0, 4).rotation,
        whole.transform_at(0, 8).rotation
    );
}

#[test]
fn root_motion_is_taken_out_once_for_clips_that_share_their_frames() {
    // The root goes 3 m ahead in 1/12 s.
    let anim = ANIM.replace("-1 4 0", "-1 1 0");
    let entry = ClipEntry {
        file: Some("a.md5anim".into()),
        ..ClipEntry::default()
    };
    let on = Manifest {
        root_motion: Some(RootMotionEntry::default()),
        ..many_clips(3, &entry)
    };
    let mut own = on.clone();
    let off = ClipRootMotion {
        ground: Some(false),
        turn: Some(false),
        ..ClipRootMotion::default()
    };
    own.clips.get_mut("clip1").unwrap().root_motion = Some(off);
    own.clips.get_mut("clip2").unwrap().ground_speed = Some(-2.0);
    for clip_error in [None, Some(0.01)] {
        let own = Manifest {
            clip_error,
            ..own.clone()
        };
        let clips = open(&own, &ImportLimits::default(), &anim, &mut 0)
            .unwrap()
            .model
            .clips;
        let ends = |clip: usize| {
            clips[clip]
                .transform_at(0, clips[clip].frame_count() - 1)
                .translation
        };
        assert!(
            ends(0).distance(Vec3::ZERO) < 1e-6 && ends(1).distance(Vec3::NEG_Z * 3.0) < 1e-3,
            "{}",
            ends(1)
        );
        assert_eq!(clips[0].frames_key(), clips[2].frames_key());
        let totals: Vec<_> = clips
            .iter()
            .map(|clip| clip.root_path().map(|path| path.total().translation()))
            .collect();
        let near = |a: Option<Vec3>, b: Vec3| a.is_some_and(|a| a.distance(b) < 1e-6);
        assert!(
            near(totals[0], Vec3::NEG_Z * 3.0) && near(totals[2], Vec3::Z / 6.0),
            "{totals:?}"
        );
        assert_eq!(totals[1], None);
    }
    let off = open(
        &many_clips(1, &entry),
        &ImportLimits::default(),
        &anim,
        &mut 0,
    )
    .unwrap()
    .model
    .clips;
    assert_eq!(off[0].root_path(), None);
}

#[test]
fn a_mirror_image_has_what_its_original_has_on_the_other_side() {
    let anim = ANIM.replace("-1 4 0", "-1 1 0");
    let text = "(model: \"a.md5mesh\", root_motion: (), sides: [(\"root\", \"tip\"), (\"tip\", \"toe\")], clips: {
            \"a\": (mirror: \"left\", callbacks: [(time: 0, name: \"own\", data: \"left\")], playback: PingPong),
            \"fast\": (mirror: \"left\", ground_speed: 5),
            \"left\": (file: \"a.md5anim\", playback: Once, callbacks: [(time: 0.05, name: \"step\", data: \"left\")]),
            \"of none\": (mirror: \"lift\"),
            \"of a\": (mirror: \"a\"),
        })";
    let manifest = Manifest::parse("a", text.as_bytes()).unwrap();
    let imported = open(&manifest, &ImportLimits::default(), &anim, &mut 0).unwrap();
    let clip = |name: &str| {
        imported
            .model
            .clips
            .iter()
            .find(|clip| &*clip.timing.name == name)
            .unwrap()
    };
    let (a, left) = (clip("a"), clip("left"));
    assert_eq!(
        (a.timing.playback, a.timing.duration),
        (PlaybackMode::PingPong, left.timing.duration)
    );
    let keys: Vec<String> = a
        .timing
        .callbacks
        .iter()
        .map(|k| format!("{} {}", k.name, ron::to_string(&k.data).unwrap()))
        .collect();
    assert_eq!(keys, ["own \"left\"", "step \"right\""]);
    // The joints are above each other, so the plane is level and the way ahead stays.
    assert!(
        a.root_path()
            .unwrap()
            .total()
            .translation()
            .distance(Vec3::NEG_Z * 3.0)
            < 1e-6
    );
    assert!((clip("fast").root_path().unwrap().ground_speed() - 5.0).abs() < 1e-6);
    assert_eq!(imported.model.clips.len(), 3);
    assert_messages("manifest: odd mirror images", &imported.warnings);
}

#[test]
fn an_unknown_root_is_an_error_that_lists_the_joints() {
    let joint = |name: &str| {
        let entry = RootMotionEntry {
            joint: Some(name.into()),
            ..RootMotionEntry::default()
        };
        Manifest {
            root_motion: Some(entry),
            ..Manifest::of_model("a.md5mesh")
        }
    };
    assert!(open(&joint("tip"), &ImportLimits::default(), ANIM, &mut 0).is_ok());
    for name in ["hips", "rot"] {
        let error = open(&joint(name), &ImportLimits::default(), ANIM, &mut 0).unwrap_err();
        assert_message(&format!("manifest: root motion of the joint {name}"), error);
    }
}

#[test]
fn a_negative_frame_rate_plays_the_frames_backward_at_that_speed() {
    let manifest = many_clips(
        1,
        &ClipEntry {
            file: Some("a.md5anim".into()),
            ..ClipEntry::default()
        },
    );
    let play = |anim: &str| {
        open(&manifest, &ImportLimits::default(), anim, &mut 0)
            .unwrap()
            .model
            .clips
            .remove(0)
    };
    let (forward, backward) = (
        play(ANIM),
        play(&ANIM.replace("frameRate 24", "frameRate -12")),
    );
    assert_eq!(
        (forward.timing.duration, backward.timing.duration),
        (2.0 / 24.0, 2.0 / 12.0)
    );
    for frame in 0..3 {
        assert_eq!(
            backward.transform_at(0, frame),
            forward.transform_at(0, 2 - frame)
        );
    }
    assert_eq!(forward.transform_at(0, 2).translation, Vec3::Y * 3.0);
}

#[test]
fn several_clips_are_cut_from_one() {
    let text = "(model: \"a.md5mesh\", clips: {
            \"start\": (file: \"a.md5anim\", frames: (0, 1)),
            \"middle\": (file: \"a.md5anim\", frames: (12, 24), frame_rate: 288),
            \"end\": (file: \"a.md5anim\", seconds: (0.0416666, 9), callbacks: [(frame: 1, name: \"step\")]),
            \"late\": (file: \"a.md5anim\", seconds: (1, 2)),
        })";
    let manifest = Manifest::parse("a", text.as_bytes()).unwrap();
    let imported = open(&manifest, &ImportLimits::default(), ANIM, &mut 0).unwrap();
    let ends = |name: &str| {
        let clip = imported
            .model
            .clips
            .iter()
            .find(|clip| &*clip.timing.name == name);
        let clip = clip.unwrap();
        let last = clip.frame_count() - 1;
        [0, last].map(|frame| clip.transform_at(0, frame).translation.y)
    };
    assert_eq!([ends("start"), ends("middle")], [[0.0, 1.0], [1.0, 3.0]]);
    assert!((ends("end")[0] - 1.0).abs() < 1e-4 && ends("end")[1] == 3.0);
    assert_eq!(imported.model.clips.len(), 3);
    assert_messages("manifest: takes past the end of a clip", &imported.warnings);
    for range in [
        "frames: (2, 1)",
        "seconds: (-1, 1)",
        "frames: (0, 1), seconds: (0, 1)",
        "frames: (NaN, 1)",
    ] {
        let text = format!("(model: \"a\", clips: {{\"w\": (file: \"a.md5anim\", {range})}})");
        assert!(Manifest::parse("a", text.as_bytes()).is_err(), "{range}");
    }
}

#[cfg(feature = "gltf")]
#[test]
fn clips_of_another_file_are_made_once_for_all_entries_that_change_them_alike() {
    // The root goes 3 m ahead.
    let anim = ANIM.replace("-1 4 0", "-1 1 0");
    let entry = ClipEntry {
        file: Some("a.md5anim".into()),
        ..ClipEntry::default()
    };
    let made = open(
        &many_clips(1, &entry),
        &ImportLimits::default(),
        &anim,
        &mut 0,
    );
    let glb = to_glb("a.glb", &made.unwrap().model, None, |_, _| None);
    let glb = glb.unwrap().value;
    let text = "(model: \"a.md5mesh\", clips: {
            \"a\": (file: \"a.glb\"),
            \"b\": (file: \"a.glb\", playback: Once),
            \"c\": (file: \"a.glb\", root_motion: ()),
            \"d\": (file: \"a.glb\", root_motion: (), ground_speed: 2),
            \"e\": (file: \"a.glb\", root_motion: (), seconds: (0, 0.05)),
        })";
    let manifest = Manifest::parse("a", text.as_bytes()).unwrap();
    let read = |file: &str| {
        Ok(Cow::Borrowed(match file {
            "a.glb" => &*glb,
            _ => MESH.as_bytes(),
        }))
    };
    let imported = open_manifest("a", &manifest, &ImportLimits::default(), read).unwrap();
    let clips = imported.model.clips;
    let keys: Vec<usize> = clips.iter().map(SkeletalClip::frames_key).collect();
    assert_eq!(clips.len(), 5, "{:?}", imported.warnings);
    assert!(keys[0] == keys[1] && keys[2] == keys[3]);
    assert!(keys[0] != keys[2] && keys[2] != keys[4]);
    assert_eq!(clips[1].timing.playback, PlaybackMode::Once);
    let ends = |clip: usize| clips[clip].transform_at(0, clips[clip].frame_count() - 1);
    assert!(ends(0).translation.length() > 1.0 && ends(2).translation.length() < 1e-6);
}

#[cfg(feature = "gltf")]
#[test]
fn a_clip_without_an_entry_counts_once_toward_how_far_joints_go() {
    let entry = ClipEntry {
        file: Some("a.md5anim".into()),
        additive: Some(true),
        ..ClipEntry::default()
    };
    let additive = open(
        &many_clips(1, &entry),
        &ImportLimits::default(),
        ANIM,
        &mut 0,
    );
    let model = additive.unwrap().model;
    let glb = to_glb("a.glb", &model, None, |_, _| None).unwrap().value;
    let alone = open_model("a.glb", &glb, &ImportSettings::default()).unwrap();
    assert!(alone.model.clips[0].additive);
    assert_ne!(alone.reach, Reach::of_rest(&alone.model.skeleton));
    for root_motion in [None, Some(RootMotionEntry::default())] {
        let manifest = Manifest {
            root_motion,
            ..Manifest::of_model("a.glb")
        };
        let read = |_: &str| Ok(Cow::Borrowed(&*glb));
        let imported = open_manifest("a", &manifest, &ImportLimits::default(), read).unwrap();
        assert_eq!(imported.reach, alone.reach);
    }
}

#[test]
fn joints_that_share_a_name_are_warned_about() {
    let manifest = Manifest {
        joint_names: vec!["a".into(), "a".into()],
        ..Manifest::of_model("a.md5mesh")
    };
    let imported = open(&manifest, &ImportLimits::default(), ANIM, &mut 0).unwrap();
    assert_messages(
        "manifest: names that several joints share",
        &imported.warnings,
    );
    let many = Manifest {
        joint_names: ["a", "b", "c", "d", "e"].map(Into::into).into(),
        ..manifest
    };
    let imported = open(&many, &ImportLimits::default(), ANIM, &mut 0).unwrap();
    assert_messages("manifest: more names than joints", &imported.warnings);
    let twice = MESH.replace("\"tip\"", "\"root\"");
    let warnings = open_model("a.md5mesh", twice.as_bytes(), &ImportSettings::default())
        .unwrap()
        .warnings;
    assert_messages("md5: joints that share a name", &warnings);
}
