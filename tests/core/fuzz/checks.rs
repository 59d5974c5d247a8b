//! What must hold for any bytes whatever: shared by the fuzz targets (`fuzz/`) and the test that
//! replays what they found worth keeping.
//!
//! Each check panics where a promise is broken: a parser that panics, a report that points past the
//! file, a model with an index out of range, a number that is not finite.

use super::{blocks::Random, choices::Choices};
#[cfg(any(feature = "fbx", feature = "gltf"))]
use bevy_marionette::import::open_model;
use bevy_marionette::{
    controller::{
        AnimationController, AnimationTrack, BlendMode, TrackPriority, Transition, TransitionCurve,
    },
    format::{Diagnostic, FormatError, Severity},
    import::{BakedCharacter, ImportLimits, ImportSettings, Manifest, open_manifest},
    internals::{
        format::{m3d, md5},
        import::{clip_from_md5, from_m3d, from_md5, skeleton_of_anim},
        model::RootPath,
        pose::{
            ClipLayer, Evaluate, MorphScratch, MorphVertices, Palette, PartBounds, PoseMut,
            Scratch, SkinVertices,
        },
        record::{ClipTable, Frames, RecordedCharacter, Replay, Tape, TapeMoment},
        rig::{
            ChainIk, Feet, Ik, IkScratch, LegJoints, LookChain, RigAction, RigJoints, RigScratch,
            SpringChain, Springs, TwoBoneIk,
        },
    },
    model::{
        BlendPoint, BlendSpace, BlendSync, ClipFrames, ClipTiming, Joint, JointTransform, Model,
        PlaybackMode, RootDelta, SkeletalClip, Skeleton,
    },
    pose::{JointOverride, JointSpace, Mask},
    record::{RecordingError, RecordingFile},
    rig::{PoleAngle, RigState},
};
use flate2::{Compression, write::ZlibEncoder};
use glam::{Affine3A, DVec3, Mat4, Quat, Vec3};
use std::{
    io::Write,
    sync::{Arc, LazyLock},
    time::Duration,
};

/// Any bytes as what is compressed in a `.rec`.
pub fn recording_file(source: &[u8]) -> Result<RecordingFile, RecordingError> {
    let mut file = format!("bevy_marionette recording {}\n", RecordingFile::VERSION).into_bytes();
    let mut to = ZlibEncoder::new(&mut file, Compression::fast());
    to.write_all(source)
        .and_then(|()| to.finish().map(drop))
        .expect("memory can be written to");
    RecordingFile::read_within(&file[..], 1 << 22)
}

/// Any bytes as what is compressed in a `.rec`: read within bounds, written, read again, and the start of it played.
pub fn recording(source: &[u8]) {
    let mut recording = match recording_file(source) {
        Ok(recording) => recording,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let written = |recording: &RecordingFile| {
        let mut bytes = Vec::new();
        recording
            .write(&mut bytes)
            .expect("memory can be written to");
        bytes
    };
    let bytes = written(&recording);
    let again = RecordingFile::read(&bytes[..]).unwrap_or_else(|error| panic!("{error}"));
    assert!(written(&again) == bytes);
    let RecordingFile {
        frames,
        clips,
        characters,
    } = &mut recording;
    for character in characters.iter_mut().take(4) {
        let (tape, clips) = (&character.tape, &clips[character.clips]);
        let mut events = Vec::new();
        let mut replay = Replay::from_start(tape, frames);
        while let Some(replay) = replay.as_mut().filter(|_| events.len() < 1000) {
            let steps = frames.steps(replay.frame()).unwrap_or_default();
            let is_short = steps.end - steps.start < 8
                && steps
                    .clone()
                    .all(|step| frames.dt(step).is_some_and(|dt| dt < 0.1));
            if !is_short
                || replay.frame() > frames.range().start + 50
                || !replay.play_frame(clips, &mut events)
            {
                break;
            }
            let action = tape.action(replay.frame() - 1);
            if let Some((action, rig)) = action.zip(replay.parts_mut().1) {
                BIPED.act(action, rig);
            }
        }
        let middle = frames.range().start.midpoint(frames.range().end);
        character.tape.drop_after(middle);
        character.tape.drop_before(middle / 2);
        assert!(character.tape.range(frames).end <= frames.range().end);
    }
}

/// A character with everything that acts on poses.
struct Biped {
    skeleton: Skeleton,
    look: LookChain,
    feet: Feet,
    springs: Springs,
}

static BIPED: LazyLock<Biped> = LazyLock::new(Biped::new);

impl Biped {
    fn new() -> Self {
        // Hips, two legs, spine and head, and a tail.
        let joints = [
            (None, Vec3::Y),
            (Some(0), Vec3::new(0.1, 0.0, 0.0)),
            (Some(1), Vec3::new(0.0, -0.45, 0.05)),
            (Some(2), Vec3::new(0.0, -0.45, -0.05)),
            (Some(0), Vec3::new(-0.1, 0.0, 0.0)),
            (Some(4), Vec3::new(0.0, -0.45, 0.05)),
            (Some(5), Vec3::new(0.0, -0.45, -0.05)),
            (Some(0), Vec3::Y * 0.4),
            (Some(7), Vec3::Y * 0.3),
            (Some(0), Vec3::NEG_Z * 0.2),
            (Some(9), Vec3::NEG_Z * 0.2),
        ];
        let joint = |(parent, place)| Joint {
            name: "".into(),
            parent,
            rest: JointTransform::new(place, Quat::IDENTITY),
            inverse_bind: Affine3A::IDENTITY,
        };
        let skeleton = Skeleton::new(joints.map(joint).into()).expect("parents come first");
        let leg = |root| LegJoints {
            root,
            mid: None,
            tip: root + 2,
            toe: None,
            heel: None,
        };
        let tail = SpringChain {
            root: 9,
            ..SpringChain::default()
        };
        Self {
            look: LookChain::new(&skeleton, &[(7, 0.3), (8, 0.7)], &[], Vec3::Z, Vec3::Y)
                .expect("they form a chain"),
            feet: Feet::new(&skeleton, 0, &[leg(1), leg(4)], Vec3::Y)
                .expect("they are below the hips"),
            springs: Springs::new(&skeleton, &[tail], &[]),
            skeleton,
        }
    }

    fn act(&self, action: &RigAction, state: &mut RigState) {
        let Self {
            skeleton,
            look,
            feet,
            springs,
        } = self;
        let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
        let mut pose = PoseMut::new(skeleton, &mut local, &mut model);
        let joints = RigJoints {
            look: Some(look),
            feet: Some(feet),
            springs: Some(springs),
            ..RigJoints::default()
        };
        action.run(&joints, state, &mut RigScratch::default(), &mut pose);
    }
}

/// Any bytes as an `.m3d`: read, written, read again, imported and posed.
pub fn m3d(source: &[u8]) {
    let parsed = match m3d::parse("f.m3d", source) {
        Ok(parsed) => parsed,
        Err(error) => return is_sound_error(&error, source),
    };
    are_sound_reports(&parsed.warnings, source);
    let text = m3d::write(&parsed.value);
    let again =
        m3d::parse("again.m3d", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    // The writer speaks one dialect; what it wrote once, it writes again.
    assert_eq!(m3d::write(&again.value), text);
    if let Ok(imported) = from_m3d("f.m3d", &parsed.value, &ImportSettings::default()) {
        is_sound(&imported.model);
        poses(
            &imported.model,
            &imported.model.clips,
            &mut Choices::new(&[]),
        );
    }
}

/// Any bytes as an `.md5mesh`: read, written, read again, imported and posed at rest.
pub fn md5mesh(source: &[u8]) {
    let parsed = match md5::parse_mesh("f.md5mesh", source) {
        Ok(parsed) => parsed,
        Err(error) => return is_sound_error(&error, source),
    };
    are_sound_reports(&parsed.warnings, source);
    let text = md5::write_mesh(&parsed.value);
    let again = md5::parse_mesh("again.md5mesh", text.as_bytes())
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(md5::write_mesh(&again.value), text);
    if let Ok(imported) = from_md5("f.md5mesh", &parsed.value, &ImportSettings::default()) {
        is_sound(&imported.model);
        poses(&imported.model, &[], &mut Choices::new(&[]));
    }
}

/// Any bytes as an `.md5anim`: read, written, read again, and posed on a skeleton of its own joints.
pub fn md5anim(source: &[u8]) {
    let parsed = match md5::parse_anim("f.md5anim", source) {
        Ok(parsed) => parsed,
        Err(error) => return is_sound_error(&error, source),
    };
    are_sound_reports(&parsed.warnings, source);
    let text = md5::write_anim(&parsed.value);
    let again = md5::parse_anim("again.md5anim", text.as_bytes())
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(md5::write_anim(&again.value), text);
    let settings = ImportSettings::default();
    let Ok(skeleton) = skeleton_of_anim("f.md5anim", &parsed.value, &settings) else {
        return;
    };
    if let Ok(clip) = clip_from_md5("f.md5anim", "f", &parsed.value, &skeleton, &settings) {
        let model = Model {
            skeleton,
            ..Model::default()
        };
        poses(&model, &[clip.value], &mut Choices::new(&[]));
    }
}

/// Any bytes as a glTF file, binary or text: imported and posed.
#[cfg(feature = "gltf")]
pub fn gltf(source: &[u8]) {
    scene("f.glb", source);
}

/// Any bytes as an FBX file, binary or text: imported and posed.
#[cfg(feature = "fbx")]
pub fn fbx(source: &[u8]) {
    scene("f.fbx", source);
}

#[cfg(any(feature = "fbx", feature = "gltf"))]
fn scene(name: &str, source: &[u8]) {
    match open_model(name, source, &ImportSettings::default()) {
        Ok(imported) => {
            are_sound_reports(&imported.warnings, source);
            is_sound(&imported.model);
            poses(
                &imported.model,
                &imported.model.clips,
                &mut Choices::new(&[]),
            );
        }
        Err(error) => is_sound_error(&error, source),
    }
}

/// Any bytes as a baked character: read, written, read again, and posed.
pub fn baked(source: &[u8]) {
    let baked = match BakedCharacter::read("f.character.bin", source, &ImportLimits::default()) {
        Ok(baked) => baked,
        Err(error) => return is_sound_error(&error, source),
    };
    let written = |baked: &BakedCharacter| {
        let bytes = baked.to_bytes("again");
        bytes.unwrap_or_else(|error| panic!("{error}"))
    };
    let bytes = written(&baked);
    let again = BakedCharacter::read("again", &bytes, &ImportLimits::default());
    let again = again.unwrap_or_else(|error| panic!("{error}"));
    assert!(written(&again) == bytes);
    let BakedCharacter {
        manifest, model, ..
    } = baked;
    // Any number can be asked for.
    if model.parts.iter().any(|part| part.palette_len() > 256) {
        return;
    }
    is_sound(&model);
    poses(&model, &model.clips, &mut Choices::new(&[]));
    plays(&manifest, &model.clips);
}

/// Any bytes as compressed data in a sound glTF file: the first says by what, and for meshoptimizer four more which filter, how
/// large elements are, and how many there are.
#[cfg(feature = "gltf")]
pub fn compressed(source: &[u8]) {
    let Some((&kind, data)) = source.split_first() else {
        return;
    };
    let number = |at: usize| usize::from(data.get(at).copied().unwrap_or_default());
    let (stride, count) = (number(1) % 130 * 2, number(2) | number(3) << 8);
    let accessor = |kind: &str, component: u32| {
        format!(r#"{{"type":"{kind}","componentType":{component},"count":{count}}}"#)
    };
    let (positions, rest) = (accessor("VEC3", 5126), data.get(4..).unwrap_or_default());
    let (data, primitive, accessors, view, extension) = if kind.is_multiple_of(4) {
        let attributes = r#""JOINTS_0":0,"NORMAL":1,"POSITION":2,"TEXCOORD_0":3,"WEIGHTS_0":4"#;
        let primitive = format!(
            r#"{{"attributes":{{{attributes}}},"indices":5,"extensions":{{"KHR_draco_mesh_compression":{{"bufferView":0,
                "attributes":{{{attributes}}}}}}}}}"#
        );
        let all = ["VEC4", "VEC3", "VEC3", "VEC2", "VEC4", "SCALAR"];
        let accessors = all.map(|kind| accessor(kind, if kind == "SCALAR" { 5125 } else { 5126 }));
        let view = format!(r#"{{"buffer":0,"byteLength":{}}}"#, data.len());
        (
            data,
            primitive,
            accessors.join(","),
            view,
            "KHR_draco_mesh_compression",
        )
    } else {
        let mode = ["ATTRIBUTES", "TRIANGLES", "INDICES"][usize::from(kind % 4) - 1];
        let filter = ["NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", "COLOR"][number(0) % 5];
        let (component, indices) = match (mode, stride) {
            ("ATTRIBUTES", _) => (5121, ""),
            (_, 2) => (5123, r#","indices":1"#),
            _ => (5125, r#","indices":1"#),
        };
        let attributes = if indices.is_empty() {
            r#","COLOR_0":1"#
        } else {
            ""
        };
        let primitive = format!(r#"{{"attributes":{{"POSITION":0{attributes}}}{indices}}}"#);
        let kind = if indices.is_empty() { "VEC4" } else { "SCALAR" };
        let accessor = accessor(kind, component).replacen('{', r#"{"bufferView":0,"#, 1);
        let view = format!(
            r#"{{"buffer":1,"byteLength":{},"extensions":{{"EXT_meshopt_compression":{{"buffer":0,"byteLength":{},
                "byteStride":{stride},"count":{count},"mode":"{mode}","filter":"{filter}"}}}}}}"#,
            stride * count,
            rest.len()
        );
        (
            rest,
            primitive,
            format!("{positions},{accessor}"),
            view,
            "EXT_meshopt_compression",
        )
    };
    let mut json = format!(
        r#"{{"asset":{{"version":"2.0"}},"extensionsRequired":["{extension}"],"scene":0,"scenes":[{{"nodes":[0]}}],
            "nodes":[{{"mesh":0}}],"meshes":[{{"primitives":[{primitive}]}}],"accessors":[{accessors}],
            "bufferViews":[{view}],"buffers":[{{"byteLength":{}}},{{"byteLength":0}}]}}"#,
        data.len()
    );
    json += &" ".repeat(json.len().next_multiple_of(4) - json.len());
    let mut glb = b"glTF".to_vec();
    for number in [2, 28 + json.len() + data.len(), json.len()] {
        glb.extend((number as u32).to_le_bytes());
    }
    glb.extend(b"JSON");
    glb.extend(json.bytes());
    glb.extend((data.len() as u32).to_le_bytes());
    glb.extend(b"BIN\0");
    glb.extend(data);
    gltf(&glb);
}

/// Any bytes as a manifest: read, written, read again, and joined with a sound model and clip.
pub fn manifest(source: &[u8]) {
    let manifest = match Manifest::parse("f.character.ron", source) {
        Ok(manifest) => manifest,
        Err(error) => return is_sound_error(&error, source),
    };
    let text = manifest
        .to_ron()
        .expect("a manifest that was read can be written");
    let again =
        Manifest::parse("again", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(again.settings(), manifest.settings());
    assert_eq!(
        again.clips.keys().collect::<Vec<_>>(),
        manifest.clips.keys().collect::<Vec<_>>()
    );
    // A callback's data in a written manifest has lost its `Some`s, once.
    assert_eq!(again.to_ron().expect("as above"), text);
    let read = |file: &str| match file {
        name if name.ends_with(".md5mesh") => Ok(MESH.into()),
        name if name.ends_with(".md5anim") => Ok(ANIM.into()),
        _ => Err("no such file".to_owned()),
    };
    match open_manifest("f.character.ron", &manifest, &ImportLimits::default(), read) {
        Ok(imported) => {
            is_sound(&imported.model);
            poses(
                &imported.model,
                &imported.model.clips,
                &mut Choices::new(&[]),
            );
            plays(&manifest, &imported.model.clips);
        }
        Err(error) => assert!(error.errors().count() > 0),
    }
}

/// Plays each clip and blend space of a manifest.
fn plays(manifest: &Manifest, clips: &[SkeletalClip]) {
    let spaces: Vec<_> = manifest.resolve_blend_spaces().collect();
    let choices = &mut Choices::new(&[1, 7, 30, 77, 150, 200, 241, 3]);
    spaces.iter().for_each(|space| weighs(space, choices));
    let clips: Vec<_> = clips.iter().take(4).cloned().map(Arc::new).collect();
    let names = spaces
        .iter()
        .map(|space| space.name())
        .chain(clips.iter().map(|clip| &clip.timing.name));
    let names: Vec<Arc<str>> = names.take(8).cloned().collect();
    let table = ClipTable::new(&clips, &[], &spaces, [], 0);
    for name in names {
        let mut controller = AnimationController::playing(name);
        for parameter in [0.3, 1e300, -1.0] {
            controller.set_parameters((parameter, 0.5));
            controller
                .advance(0.4, &table, &mut Vec::new())
                .expect("it is a step of time");
            assert!(
                controller
                    .layers(&table)
                    .all(|layer| layer.time.is_finite() && layer.weight.is_finite())
            );
        }
    }
}

/// A character made by choice, written, damaged and loaded; then posed by layers, hand and IK.
pub fn character(choices: &[u8]) {
    let choices = &mut Choices::new(choices);
    let settings = ImportSettings {
        scale: choices.pick(&[1.0, 0.0254, 100.0]),
        ..ImportSettings::default()
    };
    if choices.chance() {
        let mut text = m3d::write(&choices.m3d()).into_bytes();
        choices.damage(&mut text);
        let Ok(parsed) = m3d::parse("f.m3d", &text) else {
            return;
        };
        let Ok(imported) = from_m3d("f.m3d", &parsed.value, &settings) else {
            return;
        };
        is_sound(&imported.model);
        poses(&imported.model, &imported.model.clips, choices);
    } else {
        let (mesh, anim) = choices.md5();
        let [mut mesh, mut anim] =
            [md5::write_mesh(&mesh), md5::write_anim(&anim)].map(String::into_bytes);
        choices.damage(&mut mesh);
        choices.damage(&mut anim);
        let Ok(parsed) = md5::parse_mesh("f.md5mesh", &mesh) else {
            return;
        };
        let Ok(imported) = from_md5("f.md5mesh", &parsed.value, &settings) else {
            return;
        };
        is_sound(&imported.model);
        let mut clips = Vec::new();
        if let Ok(anim) = md5::parse_anim("f.md5anim", &anim)
            && let Ok(clip) = clip_from_md5(
                "f.md5anim",
                "f",
                &anim.value,
                &imported.model.skeleton,
                &settings,
            )
        {
            clips.extend(clip.value.to_additive(&imported.model.skeleton));
            clips.push(clip.value);
        }
        poses(&imported.model, &clips, choices);
    }
}

/// Clips, blend spaces and a controller at any numbers: whatever is accepted plays, is asked for its weights, and is the same
/// after RON and after a `.rec`.
pub fn playing(choices: &[u8]) {
    let choices = &mut Choices::new(choices);
    let frames = ClipFrames {
        joints: ["root".into()].into(),
        animated: vec![],
        transforms: vec![JointTransform::IDENTITY],
    };
    let mut clips = Vec::new();
    let count = 1 + choices.below(4);
    for name in &NAMES[..count] {
        let mut timing = ClipTiming::new(*name, choices.wide().abs());
        timing.playback = choices.pick(&[
            PlaybackMode::Loop,
            PlaybackMode::Once,
            PlaybackMode::PingPong,
        ]);
        for _ in 0..choices.below(4) {
            let (begin, end, name) = (choices.wide(), choices.wide(), choices.pick(&NAMES));
            if choices.chance() {
                timing.add_callback(begin, name, end)
            } else {
                timing.add_range(begin, end, name, ())
            };
        }
        let Ok(mut clip) = SkeletalClip::new(timing, &frames) else {
            continue;
        };
        if choices.chance() {
            let ahead = RootDelta::new(DVec3::NEG_Z * choices.wide(), choices.wide());
            clip.set_root_path(RootPath::steady(clip.timing.duration, ahead).map(Arc::new));
        }
        clips.push(Arc::new(clip));
    }
    let mut spaces = Vec::new();
    for name in ["space", "plane", "a"].into_iter().take(choices.below(4)) {
        let points: Vec<_> = (0..choices.below(6))
            .map(|_| {
                (
                    choices.pick(&NAMES),
                    BlendPoint::new(choices.wide(), choices.wide()),
                )
            })
            .collect();
        let made = match choices.chance() {
            true => BlendSpace::plane(name, points),
            false => BlendSpace::line(name, points.into_iter().map(|(clip, at)| (clip, at.x))),
        };
        let sync = choices.pick(&[0, 1, 2]);
        let sync = [
            BlendSync::Feet,
            BlendSync::Fraction,
            BlendSync::Keys(vec!["a".into()]),
        ][sync]
            .clone();
        match made.and_then(|space| space.smoothed(choices.wide())) {
            Ok(space) => spaces.push(Arc::new(space.synced(sync))),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    spaces.iter().for_each(|space| weighs(space, choices));
    let table = ClipTable::new(&clips, &[], &spaces, [], 0);
    let mut controller = AnimationController::default();
    let (mut frames, mut tape, mut events) =
        (Frames::starting_at(0), Tape::starting_at(0), Vec::new());
    for frame in 0..choices.below(12) as u64 {
        command(&mut controller, choices);
        let moment = TapeMoment {
            frame,
            step: frame,
            is_change: true,
            is_carried: choices.chance(),
        };
        tape.note_state(moment, &controller, None);
        let dt = choices.pick(&[0.0, 1.0 / 60.0, 0.1, 0.5, 100.0]);
        let mut out = Vec::new();
        match moment.is_carried {
            true => controller
                .advance_with_root_motion(dt, &table, &mut out)
                .map(|_| ()),
            false => controller.advance(dt, &table, &mut out),
        }
        .expect("it is a step of time");
        frames.add_step(dt);
        frames.end_frame(frame as f64);
        events.extend(out.into_iter().map(|event| (frame, event)));
        for layer in controller.layers(&table) {
            assert!(
                layer.time.is_finite() && layer.weight.is_finite() && layer.weight >= 0.0,
                "{layer:?}"
            );
        }
        controller
            .ranges()
            .for_each(|range| assert!((0.0..=1.0).contains(&range.progress), "{range:?}"));
        let text = ron::to_string(&controller).expect("a controller can be written");
        let again: AnimationController =
            ron::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert!(again == controller, "{text}");
    }
    let character = RecordedCharacter {
        name: "c".into(),
        asset: None,
        clips: 0,
        tape,
        events,
    };
    let recording = RecordingFile {
        frames,
        clips: vec![table],
        characters: vec![character],
    };
    let mut bytes = Vec::new();
    recording
        .write(&mut bytes)
        .expect("memory can be written to");
    let read = RecordingFile::read(&bytes[..]).unwrap_or_else(|error| panic!("{error}"));
    for (ours, theirs) in recording.characters.iter().zip(&read.characters) {
        assert_eq!(ours.events, theirs.events);
        assert!(
            ours.tape == theirs.tape,
            "{:?}\n{:?}",
            ours.tape,
            theirs.tape
        );
    }
    assert!(read == recording, "{:?}\n{:?}", recording.clips, read.clips);
    for checked in read.check() {
        assert_eq!(checked.difference, None);
    }
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Asks a blend space for its weights.
fn weighs(space: &BlendSpace, choices: &mut Choices<'_>) {
    let some: Vec<BlendPoint> = (0..4)
        .map(|_| BlendPoint::new(choices.wide(), choices.wide()))
        .collect();
    for at in space.points().iter().map(|(_, at)| *at).chain(some) {
        assert!(space.nearest(at).is_finite(), "{space:?} {at:?}");
        let weights: Vec<f64> = space.weights(at).map(|(_, weight)| weight).collect();
        let sum: f64 = weights.iter().sum();
        assert!(
            weights.iter().all(|weight| *weight > 0.0) && (sum - 1.0).abs() < 1e-9,
            "{space:?} {at:?} {weights:?}"
        );
    }
}

/// Does what a game does to a controller.
fn command(controller: &mut AnimationController, choices: &mut Choices<'_>) {
    let name = choices.pick(&["a", "b", "c", "space", "plane", "nothing"]);
    let fade = Duration::from_millis(choices.below(600) as u64);
    match choices.below(12) {
        0 => {
            controller.play(name);
        }
        1 => {
            controller.cross_fade(name, fade);
        }
        2 => {
            controller.play_with(name, Transition::switch(fade));
        }
        3 => {
            controller.queue_mut().extend([name, "a"]);
        }
        4 => controller.set_parameters((choices.wide(), choices.wide())),
        // NaN doesn't equal itself, so no state with it would equal the one that was saved.
        5 => {
            controller.time_scale = Some(choices.wide())
                .filter(|to| !to.is_nan())
                .unwrap_or(0.5)
        }
        6 => {
            // NaN, which counts as 0, isn't equal to itself.
            let speed = Some(choices.wide())
                .filter(|speed| !speed.is_nan())
                .unwrap_or(1.0);
            let track = AnimationTrack::new(name)
                .weight(choices.number())
                .speed(speed);
            let id = controller.add_track(
                track
                    .starting_at(choices.wide())
                    .sync(choices.below(2) as u32),
            );
            let (value, start) = (choices.wide(), choices.wide());
            controller.timeline_mut().key_speed(
                id,
                value,
                start,
                fade,
                TransitionCurve::EaseInEaseOut,
            );
            controller.timeline_mut().key_weight(
                id,
                value as f32,
                start,
                fade,
                TransitionCurve::Linear,
            );
        }
        7 => {
            controller.add_callback(name, choices.wide(), "added", Some(7_i64));
        }
        8 => {
            controller.add_callback_range(name, choices.wide(), choices.wide(), "range", ());
        }
        9 => {
            let (seek, to) = (choices.chance(), choices.wide());
            if let Some(track) = controller.tracks_mut().next() {
                if seek {
                    track.seek(to)
                } else {
                    track.scrub(to)
                }
            }
        }
        10 => controller.callback_threshold = choices.number(),
        _ => {}
    }
}

fn is_sound_error(error: &FormatError, source: &[u8]) {
    let errors = error.errors().count();
    assert!(
        (1..=FormatError::MAX_ERRORS).contains(&errors),
        "{errors} errors"
    );
    are_sound_reports(&error.diagnostics, source);
}

/// Every place lies in the file, and the text is fit to be printed.
fn are_sound_reports(diagnostics: &[Diagnostic], source: &[u8]) {
    let errors = diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .count();
    assert!(diagnostics.len() - errors <= FormatError::MAX_WARNINGS);
    let lines = 1 + source.iter().filter(|&&b| b == b'\n').count();
    for diagnostic in diagnostics {
        assert!(!diagnostic.message.is_empty() && !diagnostic.file.is_empty());
        assert!(
            diagnostic.line as usize <= lines,
            "line {} of {lines}",
            diagnostic.line
        );
        assert!(diagnostic.caret as usize <= diagnostic.source_line.chars().count().max(100));
        let text = diagnostic.to_string();
        assert!(
            !text.contains(|c: char| c.is_control() && c != '\n'),
            "{text:?}"
        );
        assert!(text.len() < 5000, "{} bytes: {text}", text.len());
    }
}

/// What the model's documentation promises.
fn is_sound(model: &Model) {
    let Model {
        skeleton,
        parts,
        materials,
        clips,
    } = model;
    let joints = skeleton.len();
    for part in parts {
        let vertices = part.positions.len();
        assert_eq!([part.normals.len(), part.tex_coords.len()], [vertices; 2]);
        assert!(part.material < materials.len() && part.palette_len() <= 256);
        assert!(part.positions.iter().all(|p| p.is_finite()));
        assert!(
            part.normals.iter().all(|n| n.is_normalized()),
            "{:?}",
            part.normals
        );
        assert!(
            part.tangents
                .iter()
                .all(|t| t.truncate().is_normalized() && t.w.abs() == 1.0)
        );
        assert!(part.tex_coords.iter().all(|t| t.is_finite()));
        assert!(
            part.triangles
                .as_flattened()
                .iter()
                .all(|&v| (v as usize) < vertices)
        );
        assert!(
            part.palette
                .iter()
                .all(|&joint| usize::from(joint) < joints)
        );
        assert!(part.influences.is_empty() || part.influences.len() == vertices);
        for shares in part.combined_joints.iter() {
            assert!(
                (shares.iter().map(|(_, share)| share).sum::<f32>() - 1.0).abs() < 1e-5,
                "{shares:?}"
            );
            assert!(
                shares
                    .iter()
                    .all(|&(slot, share)| usize::from(slot) < part.palette.len() && share > 0.0)
            );
        }
        for influences in &part.influences {
            assert!(
                (influences.weights.iter().sum::<f32>() - 1.0).abs() < 1e-5,
                "{influences:?}"
            );
            assert!(
                influences
                    .palette
                    .iter()
                    .all(|&slot| usize::from(slot) < part.palette_len())
            );
        }
    }
    let morphs = skeleton.morphs();
    assert!(morphs.rest().iter().all(|weight| weight.is_finite()));
    for part in parts {
        assert!(part.morphs.is_sorted_by(|a, b| a.morph < b.morph));
        for target in &part.morphs {
            assert!(usize::from(target.morph) < morphs.len() && !target.vertices.is_empty());
            assert!(target.vertices.is_sorted_by(|a, b| a < b));
            assert!((target.vertices[target.vertices.len() - 1] as usize) < part.positions.len());
            assert!(target.positions.len() == target.vertices.len());
            for (_, delta) in target.iter() {
                let all = [delta.position, delta.normal, delta.tangent];
                assert!(all.iter().all(|delta| delta.is_finite()), "{delta:?}");
            }
        }
    }
    for clip in clips {
        assert!(clip.morphs().is_empty() || clip.morphs() == morphs.names());
        assert_eq!(clip.joints().len(), joints);
        assert!(clip.timing.duration.is_finite() && clip.timing.duration >= 0.0);
    }
}

/// Poses a model alone and by layers, and looks at every number that comes out.
fn poses(model: &Model, clips: &[SkeletalClip], choices: &mut Choices<'_>) {
    let skeleton = &model.skeleton;
    let mut scratch = Scratch::default();
    let mut ik_scratch = IkScratch::default();
    let mut morph_scratch = MorphScratch::default();
    let mut pose = |evaluate: Evaluate, goals: &[Ik]| {
        if let Some(weights) = evaluate.run_morphs(&mut morph_scratch) {
            assert!(
                weights.iter().all(|weight| weight.is_finite()),
                "{weights:?}"
            );
            for part in &model.parts {
                let mut positions = part.positions.clone();
                MorphVertices { part, weights }.positions(&mut positions);
                assert!(positions.iter().all(|position| position.is_finite()));
            }
        }
        evaluate.run(&mut scratch);
        for goal in goals {
            goal.run(&mut ik_scratch, &mut scratch.pose_mut(skeleton));
        }
        assert!(
            scratch.model().iter().all(|joint| joint.is_finite()),
            "{:?}",
            scratch.model()
        );
        skins(model, scratch.model());
    };
    pose(Evaluate::new(skeleton, &[]), &[]);
    for clip in clips.iter().take(4) {
        let length = clip.timing.duration;
        for time in [0.0, 0.37 * length, length, -1.0, 1e9] {
            pose(Evaluate::new(skeleton, &[ClipLayer::new(clip, time)]), &[]);
        }
        for part in &model.parts {
            if let Some(bounds) = PartBounds::new(skeleton, part).over_clip(skeleton, clip) {
                assert!(bounds.is_finite() && bounds.min.cmple(bounds.max).all());
            }
        }
    }
    // Layers over layers multiply; what is asked of them is asked of characters of moderate size.
    let moderate =
        |t: JointTransform| t.scale.abs().max_element() <= 4.0 && t.translation.length() < 1e6;
    let mut transforms = clips.iter().flat_map(|clip| clip.to_frames().transforms);
    let rest_is_moderate = skeleton
        .joints()
        .all(|joint| moderate(skeleton.rest_of(joint)));
    if choices.is_empty() || skeleton.is_empty() || !rest_is_moderate || !transforms.all(moderate) {
        return;
    }
    let scaled = !skeleton.unit_scale() || clips.iter().any(|clip| !clip.unit_scale());
    let joint = |choices: &mut Choices<'_>| choices.below(skeleton.len() + 1) as u16;
    let mask = Mask::from_roots(
        skeleton,
        &[joint(choices) % skeleton.len() as u16],
        choices.below(4) as u32,
    );
    let layers: Vec<ClipLayer<'_>> = (0..choices.below(5))
        .filter_map(|_| {
            let mut layer = ClipLayer::new(
                clips.get(choices.below(clips.len().max(1)))?,
                f64::from(choices.number()),
            );
            layer.weight = if scaled {
                choices.number().min(1.0)
            } else {
                choices.number()
            };
            layer.mask = choices.chance().then_some(&mask);
            layer.priority = choices.pick(&[TrackPriority::Low, TrackPriority::High]);
            layer.mode =
                choices.pick(&[BlendMode::Blend, BlendMode::Additive, BlendMode::Override]);
            Some(layer)
        })
        .collect();
    let overrides: Vec<JointOverride> = (0..choices.below(3))
        .map(|_| JointOverride {
            space: choices.pick(&[JointSpace::Parent, JointSpace::Model, JointSpace::Joint]),
            weight: choices.number(),
            ..JointOverride::local(joint(choices), transform(choices))
        })
        .collect();
    let ik: Vec<Ik> = (0..choices.below(3))
        .map(|_| {
            let (target, weight) = (Vec3::from(choices.numbers()), choices.number());
            let pole = choices.chance().then(|| choices.numbers().into());
            if choices.chance() {
                let [root, mid, tip] = [joint(choices), joint(choices), joint(choices)];
                let pole_angle = if choices.chance() {
                    PoleAngle::Bend
                } else {
                    PoleAngle::Blender
                }(choices.number());
                let tip_rotation = choices
                    .chance()
                    .then(|| Quat::from_array(choices.numbers()));
                Ik::TwoBone(TwoBoneIk {
                    root,
                    mid,
                    tip,
                    target,
                    pole,
                    pole_angle,
                    tip_rotation,
                    weight,
                })
            } else {
                let (tip, bones) = (joint(choices), choices.below(9) as u16);
                Ik::Chain(ChainIk {
                    pole,
                    weight,
                    ..ChainIk::new(tip, bones, target)
                })
            }
        })
        .collect();
    let priority_blend = choices.number();
    pose(
        Evaluate {
            priority_blend,
            overrides: &overrides,
            ..Evaluate::new(skeleton, &layers)
        },
        &ik,
    );
}

fn transform(choices: &mut Choices<'_>) -> JointTransform {
    let mut moderate = || Vec3::from(choices.numbers::<3>().map(|x| x.clamp(-8.0, 8.0)));
    let (translation, scale) = (moderate(), moderate());
    JointTransform {
        translation,
        rotation: Quat::from_array(choices.numbers()),
        scale,
    }
}

/// The palettes and vertices of a pose.
fn skins(model: &Model, joints: &[Affine3A]) {
    for part in &model.parts {
        let mut palette = vec![Mat4::NAN; part.palette_len()];
        let inverse_bind = model.skeleton.inverse_bind();
        Palette {
            world: Affine3A::IDENTITY,
            model: joints,
            inverse_bind,
            remap: &part.palette,
            combined: &part.combined_joints,
        }
        .run(&mut palette);
        assert!(
            palette.iter().all(|matrix| matrix.is_finite()),
            "{palette:?}"
        );
        let skin = SkinVertices {
            part,
            palette: &palette,
        };
        let mut out = vec![Vec3::NAN; part.positions.len()];
        skin.positions(&mut out);
        assert!(out.iter().all(|p| p.is_finite()));
        skin.normals(&mut out);
        assert!(out.iter().all(|n| n.is_normalized()), "{out:?}");
        if let Some(bounds) = PartBounds::new(&model.skeleton, part).posed(joints) {
            assert!(bounds.is_finite() && bounds.min.cmple(bounds.max).all());
        }
    }
}

/// A sound mesh and clip for manifests to name.
const MESH: &[u8] = br#"MD5Version 10
commandline ""
numJoints 2
numMeshes 1
joints {
	"root" -1 ( 0 0 0 ) ( 0 0 0 )
	"hand.R" 0 ( 0 0 2 ) ( 0 0 0.5 )
}
mesh {
	shader "skin"
	numverts 3
	vert 0 ( 0 0 ) 0 1
	vert 1 ( 1 0 ) 1 1
	vert 2 ( 0 1 ) 2 2
	numtris 1
	tri 0 0 2 1
	numweights 4
	weight 0 0 1 ( 1 0 0 )
	weight 1 0 1 ( 0 1 0 )
	weight 2 0 0.5 ( 0 0 2 )
	weight 3 1 0.5 ( 0 0 0 )
}
"#;
const ANIM: &[u8] = br#"MD5Version 10
commandline ""
numFrames 2
numJoints 2
frameRate 24
numAnimatedComponents 1
hierarchy {
	"root" -1 4 0
	"hand.R" 0 0 0
}
bounds {
	( 0 0 0 ) ( 1 1 2 )
	( 0 0 0 ) ( 1 1 3 )
}
baseframe {
	( 0 0 0 ) ( 0 0 0 )
	( 0 0 2 ) ( 0 0 0.5 )
}
frame 0 {
	0
}
frame 1 {
	1
}
"#;

/// A file whose bytes, counts, and numbers are changed here and there, or that ends early.
pub fn changed_numbers(source: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut bytes = source.to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes[at] = random.below(256) as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => overwrite(&mut bytes, at, &(random.below(64) as u64).to_le_bytes()),
            3 => {
                let count = u64::MAX >> random.below(64);
                overwrite(&mut bytes, at, &count.to_le_bytes());
            }
            4 => {
                let odd = [f32::NAN, f32::MAX, -0.0, 1e30, -1.0];
                overwrite(&mut bytes, at, &odd[random.below(odd.len())].to_le_bytes());
            }
            _ => {
                // A piece is doubled or left out.
                let end = (at + random.below(40)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                match random.below(2) {
                    0 => drop(bytes.splice(at..at, piece)),
                    _ => drop(bytes.drain(at..end)),
                }
            }
        }
    }
    if random.below(16) == 0 {
        bytes.truncate(random.below(bytes.len()));
    }
    bytes
}

fn overwrite(bytes: &mut [u8], at: usize, with: &[u8]) {
    let places = bytes.iter_mut().skip(at);
    places.zip(with).for_each(|(byte, new)| *byte = *new);
}
