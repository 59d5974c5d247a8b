use super::*;
use crate::model::{ClipFrames, ClipTiming, JointTransform, SkeletalClip};
use glam::{Quat, Vec3};

fn part_of(clip: &SkeletalClip, from: f64, to: f64) -> Result<SkeletalClip, ClipError> {
    let mut raw = clip.to_raw();
    raw.cut(from, to)?;
    raw.build()
}

#[test]
fn morph_weights_are_cut_at_the_same_times() {
    let frames = MorphFrames {
        names: ["smile".into()].into(),
        weights: vec![0.0, 1.0, 0.5],
        times: vec![0.0, 1.0, 2.0],
        ..MorphFrames::default()
    };
    let mut part = frames.clone();
    part.cut(0.5, 1.5, 2.0);
    assert_eq!(
        (part.weights, part.times),
        (vec![0.5, 1.0, 0.75], vec![0.0, 0.5, 1.0])
    );
    // Evenly spaced frames, and a part that is a single moment.
    let mut part = MorphFrames {
        times: Vec::new(),
        ..frames
    };
    part.cut(1.5, 1.5, 2.0);
    assert_eq!((part.weights, part.times), (vec![0.75], vec![0.0]));
}

/// A joint that moves by one each second, with a frame at each of the times.
fn moving(times: &[f64], is_even: bool) -> SkeletalClip {
    let at = |&time: &f64| JointTransform::new(Vec3::X * time as f32, Quat::IDENTITY);
    let frames = ClipFrames {
        joints: ["a".into()].into(),
        animated: vec![],
        transforms: times.iter().map(at).collect(),
    };
    let mut timing = ClipTiming::new("all", *times.last().unwrap());
    for time in [0.0, 1.0, 2.5] {
        timing.add_callback(time, "step", ());
    }
    if is_even {
        SkeletalClip::new(timing, &frames).unwrap()
    } else {
        SkeletalClip::at_times(timing, &frames, times).unwrap()
    }
}

fn places(clip: &SkeletalClip) -> Vec<(f64, f32)> {
    let frame = |at| (clip.frame_time(at), clip.transform_at(0, at).translation.x);
    (0..clip.frame_count()).map(frame).collect()
}

#[test]
fn a_part_between_frames_stays_evenly_spaced_and_keeps_its_callbacks() {
    let clip = moving(&[0.0, 1.0, 2.0, 3.0, 4.0], true);
    let part = part_of(&clip, 1.0, 3.0).unwrap();
    assert_eq!(part.frame_times(), None);
    assert_eq!(places(&part), [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]);
    let keys: Vec<f64> = part.timing.callbacks.iter().map(|key| key.time).collect();
    assert_eq!(keys, [0.0, 1.5]);
    assert_eq!(part_of(&clip, 0.0, 4.0).unwrap(), clip);
    assert_eq!(places(&part_of(&clip, 2.0, 2.0).unwrap()), [(0.0, 2.0)]);
}

#[test]
fn a_part_that_begins_between_frames_gets_frames_at_its_ends() {
    for is_even in [true, false] {
        let clip = moving(&[0.0, 1.0, 2.0, 3.0], is_even);
        let part = part_of(&clip, 0.5, 2.25).unwrap();
        let expected = [(0.0, 0.5), (0.5, 1.0), (1.5, 2.0), (1.75, 2.25)];
        assert_eq!(places(&part), expected);
    }
}

#[test]
fn a_part_begins_behind_a_step_and_ends_in_front_of_one() {
    let mut clip = moving(&[0.0, 1.0, 1.0, 2.0, 2.0, 3.0], false);
    let mut frames = clip.to_frames();
    for (frame, transform) in frames.transforms.iter_mut().enumerate() {
        transform.translation = Vec3::X * frame as f32;
    }
    clip =
        SkeletalClip::at_times(clip.timing.clone(), &frames, clip.frame_times().unwrap()).unwrap();
    assert_eq!(
        places(&part_of(&clip, 1.0, 2.0).unwrap()),
        [(0.0, 2.0), (1.0, 3.0)]
    );
}

#[test]
fn times_outside_the_clip_are_refused() {
    let clip = moving(&[0.0, 1.0], true);
    for (from, to) in [(-1.0, 1.0), (0.0, 1.5), (0.6, 0.5), (f64::NAN, 1.0)] {
        assert!(part_of(&clip, from, to).is_err(), "{from} to {to}");
    }
}
