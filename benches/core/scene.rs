//! Characters to measure: skeletons and clips made from seeds.

use bevy_marionette::model::{
    ClipFrames, ClipTiming, Joint, JointIndex, JointTransform, SkeletalClip, Skeleton, SkinPart,
};
use fastrand::Rng;
use glam::{EulerRot, Quat, Vec3};

/// A branching skeleton: limbs of four joints, each hanging from an earlier joint. Some ten to fifteen
/// joints from the root to the farthest tip, as in a person with fingers.
pub fn skeleton(joints: usize) -> Skeleton {
    let mut random = Rng::with_seed(joints as u64);
    let mut made: Vec<Joint> = Vec::new();
    for i in 0..joints {
        let parent = i
            .checked_sub(1)
            .map(|last| if i % 4 == 0 { random.usize(..i) } else { last });
        made.push(Joint {
            name: format!("joint {i}").into(),
            parent: parent.map(|p| p as JointIndex),
            rest: JointTransform::new(point(&mut random) * 0.2, turn(&mut random, 1.0)),
            inverse_bind: JointTransform::new(point(&mut random), turn(&mut random, 1.0))
                .to_affine(),
        });
    }
    Skeleton::new(made).expect("parents come first")
}

/// A clip of two seconds at 30 frames a second: every joint turns, the first also moves, none is scaled.
pub fn clip(skeleton: &Skeleton, seed: u64) -> SkeletalClip {
    clip_of(skeleton, seed, |joint| joint == 0)
}

/// The same, with the joints that `moves` picks also moving.
pub fn clip_of(skeleton: &Skeleton, seed: u64, moves: impl Fn(usize) -> bool) -> SkeletalClip {
    const FRAMES: usize = 61;
    let mut random = Rng::with_seed(seed);
    let joints = skeleton.len();
    let axes: Vec<(Vec3, f32)> = (0..joints)
        .map(|_| (point(&mut random).normalize(), random.f32() * 6.0))
        .collect();
    let transforms = (0..FRAMES * joints)
        .map(|i| {
            let (frame, joint) = (i / joints, i % joints);
            let (axis, phase) = axes[joint];
            let swing = (frame as f32 * 0.2 + phase).sin();
            let rest = skeleton.rest_of(joint as u16);
            let shift = if moves(joint) {
                axis * swing * 0.1
            } else {
                Vec3::ZERO
            };
            JointTransform::new(
                rest.translation + shift,
                rest.rotation * Quat::from_axis_angle(axis, swing * 0.5),
            )
        })
        .collect();
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: vec![],
        transforms,
    };
    SkeletalClip::new(ClipTiming::new(format!("clip {seed}"), 2.0), &frames)
        .expect("finite and whole")
}

/// A part whose palette is every joint.
pub fn part(skeleton: &Skeleton) -> SkinPart {
    SkinPart {
        palette: (0..skeleton.len() as JointIndex).collect(),
        ..SkinPart::default()
    }
}

fn point(random: &mut Rng) -> Vec3 {
    Vec3::from_array([0; 3].map(|_| random.f32() * 2.0 - 1.0))
}

fn turn(random: &mut Rng, most: f32) -> Quat {
    let [x, y, z] = [0; 3].map(|_| (random.f32() * 2.0 - 1.0) * most);
    Quat::from_euler(EulerRot::XYZ, x, y, z)
}
