//! `marionette replay`: recordings made here, played again.

use super::support::{folder, marionette};
use crate::messages::assert_message;
use bevy_marionette::{
    controller::AnimationController,
    internals::record::{ClipTable, Frames, RecordedCharacter, Tape, TapeMoment},
    model::{ClipFrames, ClipTiming, JointTransform, SkeletalClip},
    record::RecordingFile,
};
use std::{fs::File, path::Path, sync::Arc};

/// Clips of one joint with a footstep.
fn clips(step: f64) -> ClipTable {
    let clip = |name: &str| {
        let frames = ClipFrames {
            joints: ["root".into()].into(),
            animated: vec![],
            transforms: vec![JointTransform::IDENTITY],
        };
        let mut clip = SkeletalClip::new(ClipTiming::new(name, 1.0), &frames).unwrap();
        clip.timing.add_callback(step, "footstep", ());
        Arc::new(clip)
    };
    ClipTable::new(&[clip("walk"), clip("run")], &[], &[], [], 0)
}

/// Records two seconds of a walk that turns into a run, and writes them with these clips.
fn write(to: &Path, with: ClipTable) {
    let clips = clips(0.25);
    let (mut frames, mut tape) = (Frames::starting_at(10), Tape::starting_at(10));
    let (mut controller, mut all) = (AnimationController::playing("walk"), Vec::new());
    for frame in 10..130 {
        if frame == 70 {
            controller.play("run");
        }
        if frame == 10 || frame == 70 {
            let moment = TapeMoment {
                frame,
                step: frames.next_step(),
                is_change: true,
                is_carried: false,
            };
            tape.note_state(moment, &controller, None);
        }
        let mut events = Vec::new();
        frames.add_step(1.0 / 60.0);
        controller.advance(1.0 / 60.0, &clips, &mut events).unwrap();
        all.extend(events.into_iter().map(|event| (frame, event)));
        frames.end_frame((frame - 9) as f64 / 60.0);
    }
    let scout = RecordedCharacter {
        name: "Scout".into(),
        asset: Some("scout.character.ron".into()),
        clips: 0,
        tape,
        events: all,
    };
    let recording = RecordingFile {
        frames,
        clips: vec![with],
        characters: vec![scout],
    };
    recording.write(File::create(to).unwrap()).unwrap();
}

#[test]
fn replay_prints_what_happens_and_finds_it_the_same() {
    let folder = folder(&[]);
    write(&folder.path().join("bug.rec"), clips(0.25));
    let run = marionette(&folder, &["replay", "bug.rec"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_message("replay: the same as recorded", run.stdout);

    let some = marionette(&folder, &["replay", "bug.rec", "--event", "(run"]);
    assert_eq!(
        some.stdout.matches("footstep").count(),
        1,
        "{}",
        some.stdout
    );
    let nobody = marionette(&folder, &["replay", "bug.rec", "--character", "Hound"]);
    assert!(!nobody.stdout.contains("footstep") && nobody.code == Some(0));
    let quiet = marionette(&folder, &["replay", "-q", "bug.rec"]);
    assert_message("replay: the same as recorded, quiet", quiet.stdout);
}

#[test]
fn replay_says_where_something_else_happens() {
    let folder = folder(&[]);
    write(&folder.path().join("bug.rec"), clips(0.5));
    let run = marionette(&folder, &["replay", "-q", "bug.rec"]);
    assert_eq!(run.code, Some(1));
    assert_message("replay: something else happens", run.stdout);
}

#[test]
fn replay_refuses_what_is_no_recording() {
    let folder = folder(&[(
        "notes.rec",
        "MD5Version 10, which is no recording".to_owned(),
    )]);
    let run = marionette(&folder, &["replay", "notes.rec"]);
    assert_eq!(run.code, Some(1));
    assert_message("replay: no recording", run.stderr);
    assert_eq!(
        marionette(&folder, &["replay", "missing.rec"]).code,
        Some(1)
    );
}
