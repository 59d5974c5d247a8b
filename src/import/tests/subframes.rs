use super::*;
use crate::model::{ClipTiming, JointTransform, SkeletalClip};
use glam::{Quat, Vec3};

fn turning(degrees: f32) -> ClipFrames {
    let at = |f: usize| {
        JointTransform::new(
            Vec3::X * f as f32,
            Quat::from_rotation_z((degrees * f as f32).to_radians()),
        )
    };
    ClipFrames {
        joints: ["a".into()].into(),
        animated: vec![],
        transforms: (0..5).map(at).collect(),
    }
}

#[test]
fn slow_rotations_are_kept_and_fast_ones_follow_the_arc() {
    assert_eq!(steps(&turning(12.0)), 1);
    let fast = turning(30.0);
    assert_eq!(steps(&fast), 3);
    let clip = SkeletalClip::subdivided(ClipTiming::new("fast", 1.0), &fast, 3).unwrap();
    assert_eq!(clip.frame_count(), 13);
    let exact = |(frame, transform): (usize, &JointTransform)| {
        let got = clip.transform_at(0, frame * 3);
        got.translation == transform.translation
            && got.rotation.dot(transform.rotation).abs() > 1.0 - 1e-6
    };
    assert!(fast.transforms.iter().enumerate().all(exact));
    let third = clip.transform_at(0, 4);
    assert!(
        third
            .rotation
            .abs_diff_eq(Quat::from_rotation_z(40_f32.to_radians()), 1e-6)
    );
    assert!((third.translation.x - 4.0 / 3.0).abs() < 1e-6);
}

#[test]
fn the_number_of_frames_is_limited_for_jumps() {
    assert_eq!(steps(&turning(170.0)), MOST);
}

#[test]
fn no_joints_and_single_frames_are_left_alone() {
    assert_eq!(steps(&ClipFrames::default()), 1);
    let mut one = turning(90.0);
    one.transforms.truncate(1);
    assert_eq!(steps(&one), 1);
}
