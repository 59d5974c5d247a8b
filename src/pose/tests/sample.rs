use super::*;
use crate::model::{ClipFrames, ClipTiming, JointTransform, SoaTransform};
use crate::pose::{ClipLayer, Mix, MixScratch};
use glam::{Quat, Vec3};

/// Joint 0 turns 0 → 1 → −1 rad about z in two seconds, joint 1 holds still, joint 2 is not animated.
fn clip() -> SkeletalClip {
    let turn = |angle: f32| JointTransform::new(Vec3::X * angle, Quat::from_rotation_z(angle));
    let hold = JointTransform::new(Vec3::Y, Quat::from_rotation_x(0.5));
    let frames = ClipFrames {
        joints: ["a", "b", "c"].into_iter().map(Into::into).collect(),
        animated: vec![true, true, false],
        transforms: [0.0, 1.0, -1.0]
            .iter()
            .flat_map(|&a| [turn(a), hold, JointTransform::IDENTITY])
            .collect(),
    };
    SkeletalClip::new(ClipTiming::new("turn", 2.0), &frames).unwrap()
}

fn sample(time: f64) -> SoaTransform {
    let rest = SoaTransform::rows(&[JointTransform::new(Vec3::Z, Quat::IDENTITY); 3]);
    let mut out = [SoaTransform::IDENTITY];
    let (clip, mut scratch) = (clip(), MixScratch::default());
    let layers = [ClipLayer::new(&clip, time)];
    Mix {
        layers: &layers,
        priority_blend: 0.5,
        rest: &rest,
        unit_scale: true,
    }
    .run(&mut scratch, &mut out);
    let single = FrameSpan::new(&clip, time).transform(&clip, 0);
    assert!(
        out[0]
            .get(0)
            .translation
            .abs_diff_eq(single.translation, 1e-6)
    );
    assert!(out[0].get(0).rotation.abs_diff_eq(single.rotation, 1e-6));
    out[0]
}

#[test]
fn frames_are_exact_and_times_between_are_interpolated() {
    for (time, angle) in [
        (0.0, 0.0_f32),
        (0.5, 0.5),
        (1.0, 1.0),
        (1.5, 0.0),
        (2.0, -1.0),
    ] {
        let joint = sample(time).get(0);
        assert!((joint.translation.x - angle).abs() < 1e-6);
        assert!(
            joint.rotation.angle_between(Quat::from_rotation_z(angle)) < 1e-3,
            "{time} {joint:?}"
        );
    }
}

#[test]
fn times_outside_the_clip_hold_its_ends_and_nan_is_the_start() {
    for (time, like) in [
        (-1.0, 0.0),
        (f64::NEG_INFINITY, 0.0),
        (f64::NAN, 0.0),
        (3.0, 2.0),
        (f64::INFINITY, 2.0),
    ] {
        assert_eq!(sample(time), sample(like), "{time}");
    }
}

#[test]
fn joints_the_clip_does_not_animate_keep_their_rest_pose() {
    assert_eq!(
        sample(0.7).get(2),
        JointTransform::new(Vec3::Z, Quat::IDENTITY)
    );
    assert_eq!(sample(0.7).get(3), JointTransform::IDENTITY);
}

#[test]
fn frames_at_their_own_times_are_found_and_steps_change_at_once() {
    let frames = clip().to_frames();
    let timed = |duration: f64, times: &[f64]| {
        SkeletalClip::at_times(ClipTiming::new("step", duration), &frames, times)
    };
    let step = timed(600.0, &[0.0, 0.001, 600.0]).unwrap();
    let at = |clip: &SkeletalClip, time: f64| {
        FrameSpan::new(clip, time).transform(clip, 0).translation.x
    };
    for (time, x) in [
        (-1.0, 0.0),
        (f64::NAN, 0.0),
        (0.0005, 0.5),
        (0.001, 1.0),
        (300.0005, 0.0),
        (1e9, -1.0),
    ] {
        assert!(
            (at(&step, time) - x).abs() < 1e-6,
            "{time}: {}",
            at(&step, time)
        );
    }
    let step = timed(1.0, &[0.0, 1.0, 1.0]).unwrap();
    let seen = [0.5, 1.0_f64.next_down(), 1.0].map(|time| at(&step, time));
    assert!(
        seen[0] == 0.5 && (seen[1] - 1.0).abs() < 1e-6 && seen[2] == -1.0,
        "{seen:?}"
    );
    let step = timed(1.0, &[0.0, 0.0, 1.0]).unwrap();
    let seen = [0.0, 0.0_f64.next_up(), 0.5].map(|time| at(&step, time));
    assert_eq!(seen, [0.0, 1.0, 0.0]);
    let shown =
        |clip: &SkeletalClip| [0, 1, 2].map(|frame| at(clip, clip.time_showing(frame)).round());
    assert_eq!(shown(&step), [0.0, 1.0, -1.0]);
    assert_eq!(
        shown(&timed(0.5, &[0.0, 0.5, 0.5]).unwrap()),
        [0.0, 1.0, -1.0]
    );
    for times in [
        &[0.0, 1.0][..],
        &[0.0, 0.5, 0.9],
        &[0.1, 0.5, 1.0],
        &[0.0, f64::NAN, 1.0],
    ] {
        assert!(timed(1.0, times).is_err(), "{times:?}");
    }
}

#[test]
fn a_clip_without_length_is_its_single_pose() {
    let mut frames = clip().to_frames();
    frames.transforms.truncate(3);
    for duration in [0.0, f64::MIN_POSITIVE, 1.0] {
        let still = SkeletalClip::new(ClipTiming::new("still", duration), &frames).unwrap();
        for time in [0.0, 1.0, f64::INFINITY, f64::NAN] {
            assert_eq!(
                FrameSpan::new(&still, time),
                FrameSpan {
                    first: 0,
                    second: 0,
                    fraction: 0.0
                }
            );
        }
    }
}

#[test]
fn clips_of_no_or_hardly_any_length_stay_within_their_frames() {
    for duration in [0.0, 1e-320] {
        let clip =
            SkeletalClip::new(ClipTiming::new("short", duration), &clip().to_frames()).unwrap();
        for time in [0.0, duration, 1.0, f64::INFINITY, f64::NAN] {
            let span = FrameSpan::new(&clip, time);
            assert!(
                (0.0..=1.0).contains(&span.fraction) && span.second <= 2,
                "{duration} {time} {span:?}"
            );
        }
    }
}
