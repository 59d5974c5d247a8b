//! Recordings, played again: the same states and events in every frame, from memory and from files.

use crate::messages::assert_message;
use bevy_marionette::{
    controller::{AnimationController, AnimationTrack, Clips, PlaybackEvent, TransitionCurve},
    internals::{
        model::{RootPath, StateLayers},
        pose::PoseMut,
        record::{ClipTable, Frames, RecordedCharacter, Replay, Tape, TapeMoment},
        rig::{Feet, FeetAction, LegJoints, RigAction, RigJoints, RigScratch},
    },
    model::{
        BlendSpace, ClipFrames, ClipTiming, Joint, JointTransform, RootDelta, SkeletalClip,
        Skeleton,
    },
    record::{Difference, RecordingError, RecordingFile},
    rig::RigState,
};
use fastrand::Rng;
use glam::{Affine3A, DVec3, Quat, Vec3};
use std::{sync::Arc, time::Duration};

const NAMES: [&str; 4] = ["idle", "walk", "jog", "wave"];

/// Clips with keys and root motion, and a blend space of them.
fn clips(first_key: f64) -> ClipTable {
    let clip = |(index, name): (usize, &&str)| {
        let frames = ClipFrames {
            joints: ["root".into()].into(),
            animated: vec![],
            transforms: vec![JointTransform::IDENTITY],
        };
        let mut clip =
            SkeletalClip::new(ClipTiming::new(*name, 0.7 + 0.2 * index as f64), &frames).unwrap();
        clip.timing.add_callback(first_key, "step", "left");
        clip.timing.add_range(0.3, 0.45, "swing", 3);
        let ahead = RootDelta::new(DVec3::new(0.1, 0.0, -(index as f64)), 0.2 * index as f64);
        clip.set_root_path(RootPath::steady(clip.timing.duration, ahead).map(Arc::new));
        Arc::new(clip)
    };
    let space =
        BlendSpace::line("locomotion", [("idle", 0.0), ("walk", 1.4), ("jog", 3.2)]).unwrap();
    let clips: Vec<_> = NAMES.iter().enumerate().map(clip).collect();
    ClipTable::new(
        &clips,
        &[],
        &[Arc::new(space.smoothed(0.4).unwrap())],
        [],
        0,
    )
    .with_states(Some(Arc::new(states())))
}

/// States with a speed that the game sets, and a layer in step with them.
fn states() -> StateLayers {
    let options =
        ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    let main = r#"{
        "ground": (plays: "locomotion", start: true),
        "wave": (plays: "wave", speed: "pace", from: ["ground"], then: "ground", fade: 0.1),
    }"#;
    let layers = r#"{
        "arms": (mask: "", sync: Body, states: { "wave": (plays: "jog") }),
    }"#;
    let (main, layers) = (options.from_str(main), options.from_str(layers));
    StateLayers::new(&main.unwrap(), &layers.unwrap()).unwrap()
}

/// Does what a game does to a character with [`states`]. Returns whether it did anything.
fn play_states(controller: &mut AnimationController, rng: &mut Rng) -> bool {
    match rng.u32(..60) {
        0..3 => drop(controller.go(["ground", "wave"][rng.usize(..2)])),
        3..6 => controller.set_state_speed("pace", rng.f64() * 2.0).unwrap(),
        6..12 => controller.set_parameters(rng.f64() * 4.0),
        _ => return false,
    }
    true
}

/// Does what a game does to a controller. Returns whether it did anything.
fn interfere(controller: &mut AnimationController, rng: &mut Rng) -> bool {
    let name = NAMES[rng.usize(..NAMES.len())];
    match rng.u32(..60) {
        0 => {
            controller.play(name);
        }
        1 => {
            controller.cross_fade(name, Duration::from_millis(rng.u64(..400)));
        }
        2 => {
            controller.cross_fade("locomotion", Duration::from_millis(150));
        }
        3 => {
            controller.queue_mut().extend([name, "wave"]);
        }
        4 => {
            controller.add_track(
                AnimationTrack::new(name)
                    .weight(rng.f32())
                    .speed(rng.f64() * 2.0 - 0.5),
            );
        }
        5 => controller.time_scale = rng.f64() * 2.0,
        6 => controller.priority_blend = rng.f32(),
        7 => {
            controller.add_callback(name, rng.f64(), "added", ());
        }
        8..20 => controller.set_parameters(rng.f64() * 4.0),
        20 => {
            let ids: Vec<_> = controller.tracks().map(AnimationTrack::id).collect();
            ids.first().and_then(|id| controller.remove_track(*id));
        }
        _ => return false,
    }
    true
}

/// A recorded character, with its controller and events as they were at the end of each frame.
struct Take {
    frames: Frames,
    tape: Tape,
    states: Vec<AnimationController>,
    events: Vec<(u64, PlaybackEvent)>,
}

const FIRST: u64 = 100;

fn record(seed: u64, count: u64, clips: &ClipTable) -> Take {
    let mut rng = Rng::with_seed(seed);
    let mut controller = AnimationController::playing("walk");
    let mut interfere = interfere as fn(&mut _, &mut _) -> bool;
    if seed % 3 == 2 {
        controller = AnimationController::default();
        controller.set_states(clips.states().unwrap(), 0);
        interfere = play_states;
    }
    let mut take = Take {
        frames: Frames::starting_at(FIRST),
        tape: Tape::starting_at(FIRST),
        states: vec![],
        events: vec![],
    };
    let mut is_carried = false;
    for frame in FIRST..FIRST + count {
        let mut is_change = interfere(&mut controller, &mut rng);
        if rng.u32(..200) == 0 {
            is_carried = !is_carried;
            is_change = true;
        }
        // As in a fixed schedule: several advances in a frame, or none.
        for nth in 0..[1, 1, 1, 0, 2][rng.usize(..5)] {
            let moment = TapeMoment {
                frame,
                step: take.frames.next_step(),
                is_change,
                is_carried,
            };
            if is_change || take.frames.next_step() == 0 || nth == 0 && frame % 50 == 0 {
                take.tape.note_state(moment, &controller, None);
            }
            let dt = rng.f64() * 0.05;
            take.frames.add_step(dt);
            let mut events = Vec::new();
            match is_carried {
                true => drop(
                    controller
                        .advance_with_root_motion(dt, clips, &mut events)
                        .unwrap(),
                ),
                false => controller.advance(dt, clips, &mut events).unwrap(),
            }
            take.events
                .extend(events.into_iter().map(|event| (frame, event)));
            is_change = interfere(&mut controller, &mut rng);
        }
        if is_change {
            let moment = TapeMoment {
                frame,
                step: take.frames.next_step(),
                is_change,
                is_carried,
            };
            take.tape.note_state(moment, &controller, None);
        }
        take.frames.end_frame(frame as f64 / 60.0);
        take.states.push(controller.clone());
    }
    take
}

#[test]
fn every_frame_is_reached_exactly_from_any_other() {
    let clips = clips(0.2);
    for seed in 0..20 {
        let mut take = record(seed, 600, &clips);
        // Some of it is forgotten, at both ends.
        let (mut first, mut last) = (FIRST, FIRST + 599);
        if seed % 2 == 1 {
            (first, last) = (FIRST + 130, FIRST + 480);
            take.frames.drop_before(first);
            take.tape.drop_before(first);
            take.frames.drop_after(last);
            take.tape.drop_after(last);
        }
        let range = take.tape.range(&take.frames);
        assert!(
            range.start <= first + 50 && range.end == last + 1,
            "{range:?}"
        );
        for frame in range.step_by(7) {
            let mut replay = Replay::to(&take.tape, &take.frames, frame).unwrap();
            while replay.frame() <= frame {
                assert!(replay.play_frame(&clips, &mut Vec::new()));
            }
            assert!(
                *replay.controller() == take.states[(frame - FIRST) as usize],
                "seed {seed}, frame {frame}"
            );
        }
    }
}

fn file(take: &Take, clips: &ClipTable) -> RecordingFile {
    let (tape, events) = (take.tape.clone(), take.events.clone());
    let character = RecordedCharacter {
        name: "Scout".into(),
        asset: None,
        clips: 0,
        tape,
        events,
    };
    RecordingFile {
        frames: take.frames.clone(),
        clips: vec![clips.clone()],
        characters: vec![character],
    }
}

fn through_bytes(file: &RecordingFile) -> RecordingFile {
    let mut bytes = Vec::new();
    file.write(&mut bytes).unwrap();
    RecordingFile::read(&bytes[..]).unwrap()
}

#[test]
fn a_file_plays_the_same_events() {
    let clips = clips(0.2);
    for seed in 0..10 {
        let take = record(seed, 600, &clips);
        let read = through_bytes(&file(&take, &clips));
        let checked: Vec<_> = read.check().collect();
        assert_eq!(checked[0].difference, None, "seed {seed}");
        // Numbers in data may have another width after they were in a file.
        let told = |events: &[(u64, PlaybackEvent)]| -> Vec<_> {
            events
                .iter()
                .map(|(frame, event)| (*frame, event.time().to_bits(), event.track()))
                .collect()
        };
        assert!(take.events.len() > 50, "{}", take.events.len());
        assert!(
            told(&checked[0].events) == told(&take.events),
            "seed {seed}"
        );
    }
}

#[test]
fn the_first_difference_is_found() {
    let take = record(3, 300, &clips(0.2));
    // The game's clips have changed since.
    let read = through_bytes(&file(&take, &clips(0.25)));
    let difference = read.check().next().unwrap().difference.unwrap();
    let Difference::Event {
        frame,
        recorded,
        replayed,
    } = &difference
    else {
        panic!("{difference:?}")
    };
    assert!(
        *frame < FIRST + 60 && recorded != replayed,
        "{difference:?}"
    );
}

#[test]
fn what_is_no_recording_is_refused_and_nothing_panics() {
    let refusal = |bytes: &[u8]| RecordingFile::read(bytes).unwrap_err();
    for other in [&b""[..], b"MD5Version 10\nsomething else altogether"] {
        assert!(matches!(refusal(other), RecordingError::Header));
    }
    assert_message("recording: something else", refusal(b""));
    let other_version = refusal(b"bevy_marionette recording 7\nxxxx");
    assert!(matches!(&other_version, RecordingError::Version(version) if version == "7"));
    assert_message("recording: another version", other_version);
    let clips = clips(0.2);
    let mut bytes = Vec::new();
    file(&record(1, 60, &clips), &clips)
        .write(&mut bytes)
        .unwrap();
    let mut rng = Rng::with_seed(1);
    for _ in 0..3000 {
        let mut mutated = bytes.clone();
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(28..mutated.len());
            mutated[at] = rng.u8(..);
        }
        mutated.truncate(if rng.bool() {
            mutated.len()
        } else {
            rng.usize(..mutated.len())
        });
        if let Ok(file) = RecordingFile::read(&mutated[..]) {
            file.check().for_each(drop);
        }
    }
}

#[test]
fn a_small_file_does_not_take_much_memory() {
    let clips = clips(0.2);
    let (mut tape, mut controller) = (Tape::starting_at(0), AnimationController::default());
    for _ in 0..200 {
        controller.add_track(AnimationTrack::new(""));
    }
    let mut frames = Frames::starting_at(0);
    for frame in 0..100 {
        let moment = TapeMoment {
            frame,
            step: frame,
            is_change: true,
            is_carried: false,
        };
        tape.note_state(moment, &controller, None);
        frames.add_step(0.0);
        frames.end_frame(0.0);
    }
    let bomb = RecordedCharacter {
        name: "bomb".into(),
        asset: None,
        clips: 0,
        tape,
        events: vec![],
    };
    let mut bytes = Vec::new();
    RecordingFile {
        frames,
        clips: vec![clips],
        characters: vec![bomb],
    }
    .write(&mut bytes)
    .unwrap();
    assert!(bytes.len() < 1 << 18, "{}", bytes.len());
    let read = |most: u64| RecordingFile::read_within(&bytes[..], most);
    assert!(read(64 << 20).is_ok());
    // It takes 2 MB when it is decompressed, and 5 MB in memory.
    for most in [1 << 20, 3 << 20] {
        let refusal = read(most).unwrap_err();
        assert!(matches!(refusal, RecordingError::TooLarge(megabytes) if megabytes == most >> 20));
        assert_message(&format!("recording: limit of {} MB", most >> 20), refusal);
    }
}

#[test]
fn a_clip_table_knows_what_the_clips_know() {
    let table = clips(0.2);
    let names = (0..).map_while(|clip| Some(&*table.timing(clip)?.name));
    assert!(names.eq(NAMES));
    assert_eq!(table.index_of("jog"), Some(2));
    assert_eq!(
        table
            .timing(1)
            .map(|timing: &ClipTiming| timing.callbacks.len()),
        Some(2)
    );
    assert!(table.root_path(2).is_some() && table.reaches_root(2) && !table.is_additive(2));
    assert_eq!(table.blend_spaces().len(), 1);
}

/// A rig's state from a damaged file, with a point of the foot that no foot has.
#[test]
fn a_damaged_rig_state_does_not_panic() {
    let joint = |(parent, place)| Joint {
        name: "".into(),
        parent,
        rest: JointTransform::new(place, Quat::IDENTITY),
        inverse_bind: Affine3A::IDENTITY,
    };
    let joints = [
        (None, Vec3::Y),
        (Some(0), Vec3::X * 0.1),
        (Some(1), Vec3::new(0.0, -0.5, 0.1)),
        (Some(2), Vec3::NEG_Y * 0.4),
    ];
    let skeleton = Skeleton::new(joints.map(joint).into()).unwrap();
    let leg = LegJoints {
        root: 1,
        mid: Some(2),
        tip: 3,
        toe: None,
        heel: None,
    };
    let feet = Feet::new(&skeleton, 0, &[leg], Vec3::Y).unwrap();
    let action = RigAction {
        dt: Duration::from_millis(16),
        feet: Some(FeetAction {
            weight: 1.0,
            ..FeetAction::default()
        }),
        ..RigAction::default()
    };
    let act = |state: &mut RigState| {
        let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
        let mut pose = PoseMut::new(&skeleton, &mut local, &mut model);
        action.run(
            &RigJoints {
                feet: Some(&feet),
                ..RigJoints::default()
            },
            state,
            &mut RigScratch::default(),
            &mut pose,
        );
    };
    let mut state = RigState::default();
    act(&mut state);
    let text = ron::to_string(&state).unwrap();
    assert!(text.contains("contact:0"), "{text}");
    let mut damaged: RigState = ron::from_str(&text.replace("contact:0", "contact:200")).unwrap();
    act(&mut damaged);
    act(&mut state);
    assert_eq!(
        ron::to_string(&damaged)
            .unwrap()
            .replace("contact:200", "contact:0"),
        ron::to_string(&state).unwrap()
    );
}

/// A tape of one advance of an hour, in which clips that turn are blended all the while.
fn long_advance() -> (Frames, Tape) {
    let mut controller = AnimationController::playing("walk");
    for index in 0..20 {
        controller.add_track(AnimationTrack::new(NAMES[index % 4]).weight(0.1));
    }
    let ids: Vec<_> = controller.tracks().map(AnimationTrack::id).collect();
    for id in ids {
        controller.timeline_mut().key_weight(
            id,
            0.9,
            0.0,
            Duration::from_secs(3000),
            TransitionCurve::Linear,
        );
    }
    let (mut frames, mut tape) = (Frames::starting_at(0), Tape::starting_at(0));
    let moment = TapeMoment {
        frame: 0,
        step: 0,
        is_change: true,
        is_carried: true,
    };
    tape.note_state(moment, &controller, None);
    frames.add_step(3500.0);
    frames.end_frame(0.0);
    (frames, tape)
}

#[test]
fn an_advance_that_takes_too_much_work_ends_early() {
    let (frames, tape) = long_advance();
    let clips = clips(0.2);
    let play = |work| {
        let mut replay = Replay::from_start(&tape, &frames).unwrap().within(work);
        let is_played = replay.play_frame(&clips, &mut Vec::new());
        (is_played, replay.work_left(), replay.controller().time())
    };
    let (is_played, left, time) = play(1 << 12);
    assert!(!is_played && left == 0 && time < 3500.0, "{left}, {time}");
    let (is_played, _, time) = play(u64::MAX >> 1);
    assert!(is_played && time == 3500.0, "{time}");
}

#[test]
fn a_long_recording_is_compared_to_its_end() {
    let clips = clips(0.2);
    let take = record(3, 6_000, &clips);
    let read = file(&take, &clips);
    assert_eq!(read.check().next().unwrap().difference, None);
    // What it takes grows no faster than what it may take: with a quarter of what a small file may, it is done, too.
    let mut replay = Replay::from_start(&take.tape, &take.frames)
        .unwrap()
        .within(u64::MAX >> 1);
    let mut events = Vec::new();
    while replay.play_frame(&clips, &mut events) {}
    let done = (u64::MAX >> 1) - replay.work_left();
    let (bytes, events) = (take.tape.bytes() as u64, 512 * events.len() as u64);
    assert!(
        done < bytes + events + RecordingFile::MOST_WORK / 4,
        "{done} of {bytes} and {events}"
    );
}
