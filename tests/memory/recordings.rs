//! Recordings that describe more than they hold: every list of a sound one, repeated until the file is large, and little files
//! whose replay would take years. Each is refused or takes a bounded multiple of what it may.

use super::peak;
use bevy_marionette::{
    controller::{AnimationController, AnimationTrack, PlaybackEvent},
    internals::{
        model::RootPath,
        record::{ClipTable, Frames, NotedPart, PartNote, RecordedCharacter, Tape, TapeMoment},
        rig::{FeetAction, FootPlan, GoalAction, Ik, LookAction, LookChain, RigAction, TwoBoneIk},
    },
    model::{
        BlendSpace, BlendSync, ClipFrames, ClipTiming, Joint, JointTransform, RootDelta,
        SkeletalClip, Skeleton,
    },
    pose::JointOverride,
    record::{Difference, RecordingError, RecordingFile},
    rig::{GroundHit, RigState},
};
use ciborium::Value;
use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use glam::{Affine3A, DVec3, Quat, Vec3};
use std::{fs, path::Path, sync::Arc};

/// What a file may take.
const MOST: u64 = 1 << 19;

fn clip(name: &str, length: f64, keys: usize) -> Arc<SkeletalClip> {
    let frames = ClipFrames {
        joints: ["root".into()].into(),
        animated: vec![],
        transforms: vec![JointTransform::IDENTITY],
    };
    let mut clip = SkeletalClip::new(ClipTiming::new(name, length), &frames).unwrap();
    for _ in 0..keys {
        clip.timing.add_callback(0.0, "", ());
    }
    clip.set_root_path(RootPath::steady(length, RootDelta::new(DVec3::NEG_Z, 0.2)).map(Arc::new));
    Arc::new(clip)
}

fn moment(frame: u64) -> TapeMoment {
    TapeMoment {
        frame,
        step: frame,
        is_change: true,
        is_carried: false,
    }
}

fn frames(count: u64, dt: f64) -> Frames {
    let mut frames = Frames::starting_at(0);
    for frame in 0..count {
        frames.add_step(dt);
        frames.end_frame(frame as f64 * dt);
    }
    frames
}

fn character(tape: Tape, events: Vec<(u64, PlaybackEvent)>) -> RecordedCharacter {
    RecordedCharacter {
        name: String::new(),
        asset: None,
        clips: 0,
        tape,
        events,
    }
}

/// A recording with an element in each of its lists, most of them as small as can be.
fn whole() -> RecordingFile {
    let mut idle = ClipTiming::new("idle", 1.0);
    idle.add_range(0.1, 0.5, "", vec![vec![()]]);
    let clips = [clip("", 0.5, 2), clip("idle", 1.0, 1)];
    let spaces = [
        BlendSpace::line("", [("", 0.0), ("idle", 1.0)])
            .unwrap()
            .synced(BlendSync::Keys(vec!["".into()])),
        BlendSpace::plane(
            "s",
            [("", (0.0, 0.0)), ("idle", (1.0, 0.0)), ("idle", (0.0, 1.0))],
        )
        .unwrap(),
    ];
    let table = ClipTable::new(&clips, &[], &spaces.map(Arc::new), [], 0);
    let empty = ClipTable::new(&[], &[], &[], [], 0);
    let joint = |parent| Joint {
        name: "".into(),
        parent,
        rest: JointTransform::new(Vec3::Y, Quat::IDENTITY),
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new(vec![joint(None), joint(Some(0)), joint(Some(1))]).unwrap();
    let look = LookChain::new(&skeleton, &[(1, 1.0)], &[2], Vec3::Z, Vec3::Y).map(Arc::new);
    let mut controller = AnimationController::playing("idle");
    controller.add_track(AnimationTrack::default());
    controller.add_track(AnimationTrack::blend_space("s"));
    controller.queue_mut().extend(["", ""]);
    controller.add_callback("", 0.1, "", ());
    controller.add_callback_range(
        "idle",
        0.0,
        0.9,
        "",
        vec![((), ())].into_iter().map(|_| 1).collect::<Vec<_>>(),
    );
    let track = controller.tracks().next().unwrap().id();
    controller.timeline_mut().key_enabled(track, true, 100.0);
    let mut events = Vec::new();
    let mut tape = Tape::starting_at(0);
    controller.advance(0.1, &table, &mut Vec::new()).unwrap();
    tape.note_state(moment(0), &controller, Some(&RigState::default()));
    tape.note_state(moment(1), &AnimationController::default(), None);
    for frame in 0..2 {
        tape.note_transform(frame, JointTransform::IDENTITY);
        tape.note_overrides(frame, &[JointOverride::local(0, JointTransform::IDENTITY)]);
        tape.note_parent(frame, None);
        let part = |part| PartNote {
            part,
            hidden: false,
            material: Some(String::new()),
        };
        tape.note_parts(
            frame,
            vec![
                part(NotedPart::Index(0)),
                part(NotedPart::Name(String::new())),
            ],
        );
        if frame > 0 {
            continue;
        }
        let hit = Some(GroundHit {
            point: Vec3::ZERO,
            normal: Vec3::Y,
        });
        tape.note_action(
            frame,
            RigAction {
                look: Some(LookAction {
                    chain: look.clone(),
                    ..LookAction::default()
                }),
                goals: vec![GoalAction::new(Ik::TwoBone(TwoBoneIk::new(
                    [0, 1, 2],
                    Vec3::ONE,
                )))],
                feet: Some(FeetAction {
                    weight: 1.0,
                    plans: vec![FootPlan::default(); 2],
                    ground: vec![[None; 3], [hit; 3]],
                }),
                ..RigAction::default()
            },
        );
    }
    controller.advance(1.0, &table, &mut events).unwrap();
    let callback = events
        .iter()
        .position(|event| matches!(event, PlaybackEvent::Callback(_)))
        .unwrap();
    let events = [events[0].clone(), events[callback].clone()]
        .map(|event| (1, event))
        .to_vec();
    let characters = vec![
        character(tape, events),
        character(Tape::starting_at(0), vec![]),
    ];
    RecordingFile {
        frames: frames(5, 0.1),
        clips: vec![table, empty],
        characters,
    }
}

fn bytes_of(file: &RecordingFile) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.write(&mut bytes).unwrap();
    bytes
}

/// The first line, and what is compressed.
fn taken_apart(file: &RecordingFile) -> (Vec<u8>, Value) {
    let bytes = bytes_of(file);
    let line = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let form = ciborium::from_reader(ZlibDecoder::new(&bytes[line..])).unwrap();
    (bytes[..line].to_vec(), form)
}

fn put_together(header: &[u8], form: &Value) -> Vec<u8> {
    let mut bytes = header.to_vec();
    let mut to = ZlibEncoder::new(&mut bytes, Compression::fast());
    ciborium::into_writer(form, &mut to).unwrap();
    to.finish().unwrap();
    bytes
}

fn encoded(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    bytes
}

/// Makes the list, text or table of this number so large. Returns its path, and counts down to it.
fn multiply(value: &mut Value, which: &mut usize, bytes: usize) -> Option<String> {
    let mut is_this = || {
        let this = *which == 0;
        *which = which.wrapping_sub(1);
        this
    };
    match value {
        // Vectors and matrices are of one length.
        Value::Array(all)
            if [3, 4, 9, 12, 16].contains(&all.len()) && all.iter().all(Value::is_float) =>
        {
            None
        }
        Value::Array(all) if !all.is_empty() && is_this() => {
            let least = all
                .iter()
                .min_by_key(|value| encoded(value).len())
                .cloned()?;
            let count = bytes / encoded(&least).len();
            *all = vec![least; count];
            Some(format!("[{count}]"))
        }
        Value::Text(text) if is_this() => {
            *text = "x".repeat(bytes);
            Some(" as a text".into())
        }
        Value::Map(all) if is_this() => {
            // Unknown fields are skipped; names of masks are not.
            let value = all.last().map_or(Value::Null, |last| last.1.clone());
            let count = bytes / (8 + encoded(&value).len());
            all.extend((0..count).map(|i| (Value::Text(format!("{i:06}")), value.clone())));
            Some(format!("{{{count}}}"))
        }
        Value::Array(all) => {
            let at = |(i, value): (usize, &mut Value)| {
                Some(format!("[{i}]{}", multiply(value, which, bytes)?))
            };
            all.iter_mut().enumerate().find_map(at)
        }
        Value::Map(all) => all.iter_mut().find_map(|(name, value)| {
            let path = multiply(value, which, bytes)?;
            Some(format!(".{}{path}", name.as_text().unwrap_or("?")))
        }),
        // The state of a controller, which is parsed by itself.
        Value::Bytes(blob) => {
            let mut state: Value = ciborium::from_reader(&blob[..]).ok()?;
            let path = multiply(&mut state, which, bytes.min((1 << 18) - blob.len() - 999))?;
            *blob = encoded(&state);
            Some(format!("!{path}"))
        }
        _ => None,
    }
}

#[test]
fn every_list_of_a_recording_repeated_millions_of_times_takes_bounded_memory() {
    let (header, mut form) = taken_apart(&whole());
    assert!(
        RecordingFile::read_within(&put_together(&header, &form)[..], MOST).unwrap() == whole()
    );
    // What only real feet have.
    fn add_landings(value: &mut Value) {
        let Value::Map(all) = value else {
            return if let Value::Array(all) = value {
                all.iter_mut().for_each(add_landings)
            };
        };
        for (name, value) in all {
            match name.as_text() {
                Some("landings") => {
                    *value = Value::Array(vec![Value::Array(vec![0.25.into(), 0.into()])])
                }
                Some("masks") => *value = Value::Map(vec![("arm".into(), 0.5.into())]),
                _ => add_landings(value),
            }
        }
    }
    add_landings(&mut form);
    RecordingFile::read_within(&put_together(&header, &form)[..], MOST).unwrap();

    let (mut worst, mut kinds, mut refused, mut over) = (0, 0, 0, Vec::new());
    let mut read = |number: usize, bytes: usize| {
        let mut hostile = form.clone();
        let Some(path) = multiply(&mut hostile, &mut { number }, bytes) else {
            return false;
        };
        let file = put_together(&header, &hostile);
        drop(hostile);
        kinds += 1;
        let used = peak(|| match RecordingFile::read_within(&file[..], MOST) {
            Ok(recording) => recording.check_within(1 << 12).for_each(drop),
            Err(RecordingError::TooLarge(_)) | Err(RecordingError::Damaged(_)) => refused += 1,
            Err(error) => panic!("{path}: {error}"),
        });
        worst = worst.max(used);
        if used > 6 * MOST as usize {
            over.push(format!("{path}: {} bytes take {used}", file.len()));
        }
        true
    };
    let count = (0..)
        .take_while(|number| read(*number, MOST as usize * 3 / 4))
        .count();
    // Also such as are so large that reading them ends halfway.
    (0..count)
        .step_by(40)
        .for_each(|number| assert!(read(number, MOST as usize * 8)));
    println!(
        "{kinds} files, {refused} refused; at most {:.1} times what they may take",
        worst as f64 / MOST as f64
    );
    assert!(
        kinds > 100 && refused > kinds / 4 && over.is_empty(),
        "{kinds} {refused} {over:#?}"
    );
}

/// What a number, a text or a list becomes.
fn changed(value: &mut Value, random: &mut fastrand::Rng) {
    let numbers = [
        0,
        1,
        -1,
        255,
        1 << 16,
        1 << 31,
        1 << 32,
        1 << 53,
        i64::MAX,
        i64::MIN,
    ];
    let floats = [
        0.0,
        -0.0,
        1e-9,
        5e-324,
        0.5,
        1e6,
        1e12,
        1e300,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
    ];
    match value {
        Value::Integer(number) => {
            let now = i64::try_from(*number).unwrap_or(0);
            *number = match random.u8(..4) {
                0 => now.wrapping_add(1).into(),
                1 => now.wrapping_mul(1 << random.u8(1..40)).into(),
                2 => u64::MAX.into(),
                _ => numbers[random.usize(..numbers.len())].into(),
            };
        }
        Value::Float(number) => {
            *number = match random.u8(..4) {
                0 => -*number,
                1 => *number * 10.0_f64.powi(random.i32(-12..12)),
                _ => floats[random.usize(..floats.len())],
            };
        }
        Value::Bool(flag) => *flag = !*flag,
        Value::Text(text) => {
            *text = ["", "idle", "s", "none", "\u{1}"][random.usize(..5)].into();
        }
        Value::Array(all) if !all.is_empty() => match random.u8(..5) {
            0 => all.clear(),
            1 => drop(all.pop()),
            2 => random.shuffle(all),
            _ => {
                let one = random.choice(all.iter()).cloned().into_iter();
                let bytes: Vec<Value> = one.collect();
                let count = random.usize(1..20_000) / encoded(&bytes[0]).len().max(1);
                let at = random.usize(..=all.len());
                all.splice(at..at, bytes.into_iter().cycle().take(count));
            }
        },
        Value::Map(all) if !all.is_empty() => {
            let (one, other) = (random.usize(..all.len()), random.usize(..all.len()));
            match random.u8(..3) {
                0 => drop(all.remove(one)),
                1 => all[one].1 = all[other].1.clone(),
                _ => all.push(all[one].clone()),
            }
        }
        Value::Bytes(blob) => blob.truncate(random.usize(..=blob.len())),
        other => {
            *other = [Value::Null, 1.into(), 0.5.into(), true.into()][random.usize(..4)].clone()
        }
    }
}

/// Changes the value of this number, counting down to it.
fn change(value: &mut Value, which: &mut usize, random: &mut fastrand::Rng) -> bool {
    if *which == 0 {
        changed(value, random);
        return true;
    }
    *which -= 1;
    match value {
        Value::Array(all) => all.iter_mut().any(|value| change(value, which, random)),
        Value::Map(all) => all
            .iter_mut()
            .any(|(_, value)| change(value, which, random)),
        // The state of a controller, which is parsed by itself.
        Value::Bytes(blob) => {
            ciborium::from_reader::<Value, _>(&blob[..]).is_ok_and(|mut state| {
                let is_changed = change(&mut state, which, random);
                *blob = encoded(&state);
                is_changed
            })
        }
        _ => false,
    }
}

/// The number of values that can be changed.
fn values(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(values).sum(),
        Value::Map(all) => all.iter().map(|(_, value)| values(value)).sum(),
        Value::Bytes(blob) => ciborium::from_reader(&blob[..]).map_or(0, |state| values(&state)),
        _ => 0,
    }
}

/// Files of up to 100 kB, all of whose bytes are sound but for what they say.
#[test]
fn recordings_changed_field_by_field_take_bounded_memory_and_work() {
    let variants: u64 = std::env::var("MARIONETTE_RECORDING_VARIANTS")
        .map_or(300, |count| count.parse().expect("expected a number"));
    let (header, form) = taken_apart(&whole());
    let mut forms = vec![form];
    // Larger ones, of whole characters.
    let mut roots = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let corpus = roots
        .find_map(|root| fs::read_dir(root.join("tests/core/fuzz/corpus/recording")).ok())
        .expect("the corpus is in the repository");
    let mut files: Vec<_> = corpus.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read_form = |path| ciborium::from_reader::<Value, _>(&fs::read(path).unwrap()[..]).ok();
    forms.extend(files.into_iter().filter_map(read_form));
    assert!(forms.len() > 3);
    let counts: Vec<usize> = forms.iter().map(values).collect();
    let (mut read, mut most, mut slowest) = (0, 0, (0.0, 0));
    for seed in 0..variants {
        let mut random = fastrand::Rng::with_seed(seed);
        let one = if random.bool() {
            0
        } else {
            random.usize(..forms.len())
        };
        let mut hostile = forms[one].clone();
        for _ in 0..random.usize(1..5) {
            change(&mut hostile, &mut random.usize(..counts[one]), &mut random);
        }
        let file = put_together(&header, &hostile);
        drop(hostile);
        if file.len() > 100_000 {
            continue;
        }
        let start = std::time::Instant::now();
        let used = peak(|| {
            if let Ok(recording) = RecordingFile::read(&file[..]) {
                read += 1;
                recording.check().for_each(drop);
            }
        });
        // For whoever looks at it: it depends on the machine.
        let seconds = start.elapsed().as_secs_f64();
        if seconds > slowest.0 {
            slowest = (seconds, seed);
        }
        most = most.max(used);
        assert!(used < 20 << 20, "{seed}: {} bytes take {used}", file.len());
    }
    println!("{variants} variants, {read} read; up to {most} bytes, and {slowest:?} seconds");
    assert!(read * 5 > variants, "{read} of {variants}");
}

/// The work that a file may take in these tests: a few milliseconds.
const WORK: u64 = 1 << 18;

/// Checks a recording within [`WORK`]. Returns the events, the frames that were compared, and if that was all of them.
fn checked(file: &RecordingFile) -> (usize, u64, bool) {
    let read = RecordingFile::read(&bytes_of(file)[..]).unwrap();
    let (mut events, mut compared, mut whole) = (0, 0, true);
    let used = peak(|| {
        for checked in read.check_within(WORK) {
            let range = checked.character.tape.range(&read.frames);
            let end = match checked.difference {
                Some(Difference::TooLong { frame }) => {
                    whole = false;
                    frame
                }
                _ => range.end,
            };
            compared += end.saturating_sub(range.start);
            events += checked.events.len();
        }
    });
    assert!(used < 1 << 29, "{used} bytes");
    (events, compared, whole)
}

#[test]
fn a_recording_of_many_frames_and_characters_is_compared_as_far_as_work_goes() {
    let table = ClipTable::new(&[clip("idle", 1.0, 1)], &[], &[], [], 0);
    let mut tape = Tape::starting_at(0);
    tape.note_state(moment(0), &AnimationController::playing("idle"), None);
    let file = |count: u64, characters: usize| RecordingFile {
        frames: frames(count, 0.001),
        clips: vec![table.clone()],
        characters: vec![character(tape.clone(), vec![]); characters],
    };
    let (events, compared, whole) = checked(&file(100, 20));
    assert!(whole && compared == 2000 && events > 0);
    // Half a megabyte that would take a day.
    let (events, compared, whole) = checked(&file(20_000, 5000));
    assert!(
        !whole && compared <= WORK && compared > WORK / 8 && events as u64 <= WORK / 64,
        "{compared} {events}"
    );
}

#[test]
fn advances_that_pass_billions_of_keys_end() {
    let keyed = ClipTable::new(&[clip("idle", 1e-9, 3)], &[], &[], [], 0);
    let silent = |controller: &mut AnimationController| {
        controller.callback_limit = usize::MAX;
        controller.callback_threshold = 1.0;
        let track = controller.add_track(AnimationTrack::new("idle").weight(0.0).speed(1e300));
        assert!(controller.track(track).is_some());
    };
    let loud = |controller: &mut AnimationController| {
        controller.callback_limit = usize::MAX;
        controller.add_track(AnimationTrack::new("idle").speed(1e9));
    };
    let ranges = |controller: &mut AnimationController| {
        controller.callback_limit = usize::MAX;
        controller.add_callback_range("idle", 0.0, 0.5e-9, "", ());
        controller.add_track(AnimationTrack::new("idle").speed(1e6));
    };
    let many = |controller: &mut AnimationController| {
        for i in 0..300 {
            let track = controller.add_track(AnimationTrack::new("idle").sync(i % 3).weight(0.0));
            controller
                .timeline_mut()
                .key_enabled(track, i % 2 == 0, f64::from(i) * 0.01);
        }
    };
    let kinds: [&dyn Fn(&mut AnimationController); 4] = [&silent, &loud, &ranges, &many];
    for (index, kind) in kinds.into_iter().enumerate() {
        let mut controller = AnimationController::default();
        kind(&mut controller);
        let mut tape = Tape::starting_at(0);
        tape.note_state(moment(0), &controller, None);
        let file = RecordingFile {
            frames: frames(500, 3000.0),
            clips: vec![keyed.clone()],
            characters: vec![character(tape, vec![]); 3],
        };
        let (events, compared, whole) = checked(&file);
        println!("kind {index}: {events} events in {compared} of 1500 frames");
        assert!(
            !whole && events <= 3 << 20,
            "kind {index}: {events} events in {compared} frames"
        );
    }
}

#[test]
fn what_is_too_much_in_words() {
    let refused = |file: &RecordingFile| {
        RecordingFile::read(&bytes_of(file)[..])
            .unwrap_err()
            .to_string()
    };
    let with = |clips: ClipTable, controller: &AnimationController| {
        let mut tape = Tape::starting_at(0);
        tape.note_state(moment(0), controller, None);
        RecordingFile {
            frames: frames(1, 0.1),
            clips: vec![clips],
            characters: vec![character(tape, vec![])],
        }
    };
    let idle = AnimationController::playing("idle");
    let many_keys = ClipTable::new(
        &[clip("idle", 1.0, ClipTable::MOST_KEYS + 1)],
        &[],
        &[],
        [],
        0,
    );
    assert!(refused(&with(many_keys, &idle)).contains("callback keys, expected at most 16384"));
    let space = |i: usize| Arc::new(BlendSpace::line(format!("{i}"), [("idle", 0.0)]).unwrap());
    let spaces: Vec<_> = (0..=ClipTable::MOST_SPACES).map(space).collect();
    let many_spaces = ClipTable::new(&[clip("idle", 1.0, 0)], &[], &spaces, [], 0);
    assert!(refused(&with(many_spaces, &idle)).contains("257 blend spaces, expected at most 256"));
    let mut much_to_play = AnimationController::playing("idle");
    much_to_play
        .queue_mut()
        .extend(std::iter::repeat_n("idle", 2049));
    let table = ClipTable::new(&[clip("idle", 1.0, 0)], &[], &[], [], 0);
    assert!(refused(&with(table, &much_to_play)).contains("more than 2048 tracks"));
}
