use super::*;
use crate::model::{ClipTiming, Joint};
use fastrand::Rng;

const ALL: Channels = Channels {
    ground: true,
    height: true,
    turn: true,
    steady: false,
};

/// stand 0 → hips 1 → spine 2, and a target 3 beside them, all turned and shifted at rest.
fn skeleton(random: &mut Rng) -> Skeleton {
    let joint = |(at, parent): (usize, Option<u16>)| Joint {
        name: ["stand", "hips", "spine", "target"][at].into(),
        parent,
        rest: transform(random, 3.0),
        inverse_bind: Affine3A::IDENTITY,
    };
    Skeleton::new(
        [None, Some(0), Some(1), None]
            .into_iter()
            .enumerate()
            .map(joint)
            .collect(),
    )
    .unwrap()
}

fn transform(random: &mut Rng, angle: f32) -> JointTransform {
    let mut number = || random.f32() - 0.5;
    let axis = Vec3::new(number(), number(), number() + 0.1).normalize();
    JointTransform::new(
        Vec3::new(number(), number(), number()),
        Quat::from_axis_angle(axis, angle * number()),
    )
}

/// A walk of ten frames on a curve, in which `moves` is moved about; the others turn on the spot.
fn walk(random: &mut Rng, skeleton: &Skeleton, moves: usize, animated: [bool; 4]) -> SkeletalClip {
    let mut transforms = Vec::new();
    for frame in 0..10 {
        for joint in 0..4_u16 {
            let mut local = skeleton.rest_of(joint);
            local.rotation = (transform(random, 0.2).rotation * local.rotation).normalize();
            if usize::from(joint) == moves {
                let way = frame as f32 * 0.3;
                let turn = Quat::from_rotation_y(way * 0.4);
                local.translation =
                    turn * local.translation + Vec3::new(0.2 * way, 0.1 * way, -way);
                local.rotation = turn * local.rotation;
            }
            transforms.push(local);
        }
    }
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: animated.into(),
        transforms,
    };
    SkeletalClip::new(ClipTiming::new("walk", 0.9), &frames).unwrap()
}

/// The clip in place.
fn in_place(
    clip: &SkeletalClip,
    joint: usize,
    channels: Channels,
    skeleton: &Skeleton,
) -> SkeletalClip {
    let mut raw = clip.to_raw();
    assert!(put_in_place(&mut raw, joint, channels, skeleton));
    raw.build().unwrap()
}

/// The joints in model space.
fn model(clip: &SkeletalClip, frame: usize, skeleton: &Skeleton) -> Vec<Affine3A> {
    let mut out: Vec<Affine3A> = Vec::new();
    for joint in 0..skeleton.len() {
        let rest = skeleton.rest_of(joint as JointIndex);
        let local = if clip.animates(joint) {
            clip.transform_at(joint, frame)
        } else {
            rest
        };
        let parent =
            skeleton.parents()[joint].map_or(Affine3A::IDENTITY, |parent| out[usize::from(parent)]);
        out.push(parent * local.to_affine());
    }
    out
}

fn affine(delta: RootDelta) -> Affine3A {
    Affine3A::from_rotation_translation(delta.rotation(), delta.translation())
}

#[test]
fn the_pose_in_place_and_the_way_are_the_clip_as_it_was() {
    let mut random = Rng::with_seed(1);
    for round in 0..60 {
        let skeleton = skeleton(&mut random);
        // The root moves, or the hips under a root that stays behind.
        let (joint, animated) = [(0, [true; 4]), (1, [false, true, true, true])][round % 2];
        let clip = walk(&mut random, &skeleton, joint, animated);
        let channels = Channels {
            steady: round % 3 == 0,
            height: round % 5 > 0,
            ..ALL
        };
        let found = in_place(&clip, joint, channels, &skeleton);
        let path = found.root_path().expect("it travels");
        for frame in 0..10 {
            let carried = affine(path.at(found.frame_time(frame)));
            let [before, after] = [&clip, &found].map(|clip| model(clip, frame, &skeleton));
            for moved in (0..4).filter(|&moved| clip.animates(moved)) {
                let there = carried * after[moved];
                assert!(
                    there.abs_diff_eq(before[moved], 1e-4),
                    "{round} {frame} {moved}"
                );
            }
        }
    }
}

#[test]
fn a_root_in_place_stays_over_its_spot_and_faces_the_same_way() {
    let mut random = Rng::with_seed(2);
    let skeleton = skeleton(&mut random);
    let clip = walk(&mut random, &skeleton, 0, [true; 4]);
    let found = in_place(&clip, 0, ALL, &skeleton);
    let start = found.transform_at(0, 0);
    for frame in 0..10 {
        let root = found.transform_at(0, frame);
        assert!(root.translation.distance(start.translation) < 1e-5);
        let yaw = yaw_of((root.rotation * start.rotation.inverse()).as_dquat());
        assert!(yaw.abs() < 1e-5, "{yaw}");
    }
    // Without the turn, the way is in the axes of the first frame.
    let straight = in_place(
        &clip,
        0,
        Channels {
            turn: false,
            height: false,
            ..ALL
        },
        &skeleton,
    );
    let way = straight.root_path().unwrap().total();
    let moved = clip.transform_at(0, 9).translation - clip.transform_at(0, 0).translation;
    assert!(way.turn == 0.0 && way.translation().distance(Vec3::new(moved.x, 0.0, moved.z)) < 1e-6);
    assert!(
        (straight.transform_at(0, 9).translation.y - clip.transform_at(0, 9).translation.y).abs()
            < 1e-6
    );
}

#[test]
fn joints_at_rest_and_clips_that_stay_are_left_as_they_are() {
    let mut random = Rng::with_seed(3);
    let skeleton = skeleton(&mut random);
    let clip = walk(&mut random, &skeleton, 0, [true, true, true, false]);
    let found = in_place(&clip, 0, ALL, &skeleton);
    assert!(!found.animates(3));
    // The stand does not move, whatever the target does.
    let clip = walk(&mut random, &skeleton, 3, [false, true, true, true]);
    let mut raw = clip.to_raw();
    assert!(!put_in_place(&mut raw, 0, ALL, &skeleton));
    assert_eq!(raw.build().unwrap(), clip);
}

#[test]
fn more_than_a_whole_turn_is_counted() {
    let skeleton = skeleton(&mut Rng::with_seed(4));
    let turn =
        |frame: usize| JointTransform::new(Vec3::ZERO, Quat::from_rotation_y(frame as f32 * 0.5));
    let transforms = (0..41).flat_map(|frame| [turn(frame); 4]).collect();
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: vec![],
        transforms,
    };
    let clip = SkeletalClip::new(ClipTiming::new("spin", 4.0), &frames).unwrap();
    for steady in [false, true] {
        let found = in_place(&clip, 0, Channels { steady, ..ALL }, &skeleton);
        assert!((found.root_path().unwrap().total().turn - 20.0).abs() < 1e-4);
    }
}

#[test]
fn what_is_steady_keeps_its_sway() {
    let skeleton = skeleton(&mut Rng::with_seed(5));
    let sway = |frame: usize| (frame as f32 * std::f32::consts::FRAC_PI_4).sin() * 0.1;
    let hips = |frame: usize| {
        JointTransform::new(
            Vec3::new(sway(frame), 1.0, frame as f32 * -0.2),
            Quat::from_rotation_y(sway(frame)),
        )
    };
    let rest = |joint: u16| skeleton.rest_of(joint);
    let transforms = (0..9)
        .flat_map(|frame| [hips(frame), rest(1), rest(2), rest(3)])
        .collect();
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: vec![],
        transforms,
    };
    let clip = SkeletalClip::new(ClipTiming::new("walk", 1.0), &frames).unwrap();
    let found = in_place(
        &clip,
        0,
        Channels {
            steady: true,
            ..ALL
        },
        &skeleton,
    );
    assert!((found.root_path().unwrap().ground_speed() - 1.6).abs() < 1e-5);
    for frame in 0..9 {
        let expected = JointTransform {
            translation: Vec3::new(sway(frame), 1.0, 0.0),
            ..hips(frame)
        };
        let root = found.transform_at(0, frame);
        assert!(root.translation.distance(expected.translation) < 1e-5);
        assert!(root.rotation.angle_between(expected.rotation) < 1e-3);
    }
}
