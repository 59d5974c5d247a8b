use super::*;
use crate::model::{Joint, Skeleton};
use glam::{Affine3A, Quat, Vec3};

fn names(names: &[&str]) -> Arc<[Arc<str>]> {
    names.iter().map(|&n| Arc::from(n)).collect()
}

fn two_joints() -> SkeletalClip {
    let moving = |x: f32| JointTransform::new(Vec3::X * x, Quat::from_rotation_z(x));
    let still = JointTransform::new(Vec3::Y, -Quat::IDENTITY);
    let frames = ClipFrames {
        joints: names(&["a", "b"]),
        animated: vec![],
        transforms: vec![moving(0.0), still, moving(1.0), still, moving(2.0), still],
    };
    SkeletalClip::new(ClipTiming::new("walk", 1.0), &frames).unwrap()
}

#[test]
fn constant_channels_are_stored_once_and_frames_read_back() {
    let clip = two_joints();
    assert_eq!((clip.frame_count(), clip.frame_rate()), (3, Some(2.0)));
    assert!(matches!(clip.rows()[0].scale, ChannelSlot::Constant(_)));
    assert_eq!(clip.frame(1).len(), 7);
    assert_eq!(clip.transform_at(0, 2).translation, Vec3::X * 2.0);
    assert_eq!(clip.transform_at(1, 2).translation, Vec3::Y);
    assert!(clip.unit_scale());
}

#[test]
fn a_single_scaled_joint_is_noticed_and_one_that_is_not_moved_is_not() {
    let mut frames = two_joints().to_frames();
    frames.transforms[3].scale.y = 1.001;
    assert!(
        !SkeletalClip::new(ClipTiming::new("walk", 1.0), &frames)
            .unwrap()
            .unit_scale()
    );
    frames.animated = vec![true, false];
    assert!(
        SkeletalClip::new(ClipTiming::new("walk", 1.0), &frames)
            .unwrap()
            .unit_scale()
    );
}

#[test]
fn binding_follows_names_not_places() {
    let joint = |name: &str| Joint {
        name: name.into(),
        parent: None,
        rest: JointTransform::IDENTITY,
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new(vec![joint("b"), joint("c"), joint("a"), joint("a")]).unwrap();
    let bound = two_joints().bind(&skeleton);
    assert_eq!(
        [0, 1, 2, 3].map(|j| bound.animates(j)),
        [true, false, true, false]
    );
    assert_eq!(bound.transform_at(2, 1), two_joints().transform_at(0, 1));
    assert_eq!(bound.transform_at(0, 1), two_joints().transform_at(1, 1));
}

#[test]
fn frames_that_are_not_whole_or_not_finite_are_rejected() {
    let mut frames = two_joints().to_frames();
    frames.transforms[3].scale.x = f32::NAN;
    let error = SkeletalClip::new(ClipTiming::new("walk", 1.0), &frames).unwrap_err();
    assert_eq!(
        error,
        ClipError::NotFinite {
            clip: "walk".into(),
            frame: 1,
            joint: "b".into()
        }
    );
    frames.transforms.pop();
    assert!(matches!(
        SkeletalClip::new(ClipTiming::new("walk", 1.0), &frames),
        Err(ClipError::NotWholeFrames { .. })
    ));
}
