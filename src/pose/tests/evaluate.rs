use super::*;
use crate::model::{ClipFrames, ClipTiming, Joint, SkeletalClip};
use glam::{Quat, Vec3};

fn skeleton(joints: usize) -> Skeleton {
    let joint = |i: usize| Joint {
        name: format!("joint {i}").into(),
        parent: i.checked_sub(1).map(|p| p as u16),
        rest: JointTransform::new(Vec3::Y, Quat::from_rotation_x(0.2)),
        inverse_bind: Affine3A::IDENTITY,
    };
    Skeleton::new((0..joints).map(joint).collect()).unwrap()
}

fn bend(skeleton: &Skeleton) -> SkeletalClip {
    let frame = |angle: f32| {
        vec![JointTransform::new(Vec3::Y, Quat::from_rotation_z(angle)); skeleton.len()]
    };
    let transforms = [frame(0.0), frame(0.5)].concat();
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: vec![],
        transforms,
    };
    SkeletalClip::new(ClipTiming::new("bend", 1.0), &frames).unwrap()
}

#[test]
fn without_clips_the_rest_pose_is_shown() {
    let (skeleton, mut scratch) = (skeleton(6), Scratch::default());
    Evaluate::new(&skeleton, &[]).run(&mut scratch);
    assert_eq!(scratch.local(), skeleton.rest());
    for (ours, rest) in scratch.model().iter().zip(skeleton.rest_model()) {
        assert!(ours.abs_diff_eq(*rest, 1e-6));
    }
}

#[test]
fn overrides_apply_on_top_of_clips() {
    let skeleton = skeleton(6);
    let clip = bend(&skeleton);
    let overrides = [JointOverride::local(
        1,
        JointTransform::new(Vec3::new(0.0, 1.0, 1.0), Quat::IDENTITY),
    )];
    let mut scratch = Scratch::default();
    let layers = [ClipLayer::new(&clip, 0.5)];
    Evaluate {
        overrides: &overrides,
        ..Evaluate::new(&skeleton, &layers)
    }
    .run(&mut scratch);
    assert_eq!(scratch.joint(1), Some(overrides[0].transform));
    assert!(
        scratch
            .joint(0)
            .unwrap()
            .rotation
            .abs_diff_eq(Quat::from_rotation_z(0.25), 1e-5)
    );
}

#[test]
fn one_scratch_serves_characters_of_any_size_and_keeps_its_memory() {
    let (large, small) = (skeleton(9), skeleton(2));
    let (of_large, of_small) = (bend(&large), bend(&small));
    let mut scratch = Scratch::default();
    let mut run = |skeleton: &Skeleton, clip: &SkeletalClip| {
        Evaluate::new(skeleton, &[ClipLayer::new(clip, 0.3)]).run(&mut scratch);
        assert_eq!(
            (scratch.local.len(), scratch.model.len()),
            (skeleton.rows(), skeleton.len())
        );
        (scratch.local.as_ptr(), scratch.model.as_ptr())
    };
    let warm = run(&large, &of_large);
    assert_eq!([run(&small, &of_small), run(&large, &of_large)], [warm; 2]);
    assert_eq!(scratch.joint(9), None);
    Evaluate::new(&Skeleton::default(), &[]).run(&mut scratch);
    assert!(scratch.local().is_empty() && scratch.model().is_empty());
}
