use super::*;
use crate::messages::assert_message;
use crate::model::{ClipError, ClipFrames, ClipTiming, Joint};
use glam::Quat;

fn chain(joints: u16, scale: f32) -> Skeleton {
    let joint = |i: u16| Joint {
        name: format!("{i}").into(),
        parent: i.checked_sub(1),
        rest: JointTransform {
            scale: Vec3::splat(scale),
            ..JointTransform::new(Vec3::Y, Quat::IDENTITY)
        },
        inverse_bind: Affine3A::IDENTITY,
    };
    Skeleton::new((0..joints).map(joint).collect()).unwrap()
}

fn stretch(skeleton: &Skeleton, only: usize, scale: f32) -> SkeletalClip {
    let mut transforms: Vec<JointTransform> =
        skeleton.joints().map(|j| skeleton.rest_of(j)).collect();
    transforms[only].scale.x = scale;
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: vec![],
        transforms,
    };
    SkeletalClip::new(ClipTiming::new("stretch", 1.0), &frames).unwrap()
}

#[test]
fn scales_that_multiply_beyond_all_measure_are_refused_by_the_joint_that_is_too_much() {
    assert!(Reach::new(&chain(400, 1.0)).is_ok());
    let message = Reach::new(&chain(30, 10.0)).err().unwrap();
    assert_message("reach: scales at rest", message);
}

#[test]
fn clips_are_measured_together_for_they_may_be_blended() {
    let skeleton = chain(3, 1.0);
    let mut reach = Reach::new(&skeleton).unwrap();
    reach
        .admit(&skeleton, &stretch(&skeleton, 0, -1e12))
        .unwrap();
    assert!(
        reach
            .admit(&skeleton, &stretch(&skeleton, 2, 1e12))
            .is_err()
    );
    // What was refused is not counted.
    reach.admit(&skeleton, &stretch(&skeleton, 2, 1e3)).unwrap();
    let mut additive = stretch(&skeleton, 1, 1e12);
    additive.additive = true;
    assert!(reach.admit(&skeleton, &additive).is_err());
}

#[test]
fn differences_come_on_top_of_clips_that_are_included_later() {
    let skeleton = chain(1, 1.0);
    let pose = stretch(&skeleton, 0, 1e12);
    let mut additive = pose.clone();
    additive.additive = true;
    for [first, second] in [[&pose, &additive], [&additive, &pose]] {
        let mut reach = Reach::new(&skeleton).unwrap();
        reach.admit(&skeleton, first).unwrap();
        assert!(reach.admit(&skeleton, second).is_err());
    }
}

#[test]
fn differences_that_no_skin_can_follow_are_refused() {
    let skeleton = chain(3, 1.0);
    let grow = |from: f32| {
        let scaled = |scale: f32| JointTransform {
            scale: Vec3::splat(scale),
            ..JointTransform::IDENTITY
        };
        let transforms = vec![scaled(from); 3]
            .into_iter()
            .chain(vec![scaled(1.0); 3])
            .collect();
        let frames = ClipFrames {
            joints: skeleton.names().clone(),
            animated: vec![],
            transforms,
        };
        SkeletalClip::new(ClipTiming::new("grow", 1.0), &frames).unwrap()
    };
    let additive = grow(0.01).to_additive(&skeleton).unwrap();
    assert!(
        additive.additive
            && additive
                .transform_at(2, 1)
                .scale
                .abs_diff_eq(Vec3::splat(100.0), 1e-3)
    );
    // Three joints in a chain grow by 10²⁴ together.
    let error = grow(1e-8).to_additive(&skeleton).unwrap_err();
    assert!(matches!(error, ClipError::TooFar { .. }), "{error}");
    assert_message("reach: scales of a clip", error);
}

#[test]
fn numbers_whose_squares_no_f32_holds_are_measured_all_the_same() {
    assert!(is_near(Vec3::splat(1e17)) && !is_near(Vec3::X * 1e30) && !is_near(Vec3::NAN));
}
