//! Culling boxes: posed vertices never leave them.

use crate::drawn::drawn;
use bevy_marionette::controller::{BlendMode, TrackPriority};
use bevy_marionette::{
    internals::model::{BoundingBox, CombinedJoints},
    model::{
        ClipFrames, ClipTiming, Influences, Joint, JointTransform, SkeletalClip, Skeleton, SkinPart,
    },
};
use bevy_marionette::{
    internals::pose::{BlendReach, ClipLayer, Evaluate, PartBounds, Scratch},
    pose::Mask,
};
use fastrand::Rng;
use glam::{Affine3A, Quat, Vec3};

fn number(random: &mut Rng) -> f32 {
    random.f32() * 2.0 - 1.0
}

fn vector(random: &mut Rng) -> Vec3 {
    Vec3::from_array([0; 3].map(|_| number(random)))
}

fn transform(random: &mut Rng, base: JointTransform, much: f32) -> JointTransform {
    JointTransform {
        translation: base.translation + vector(random) * 0.1 * much,
        rotation: (base.rotation * Quat::from_scaled_axis(vector(random) * much)).normalize(),
        scale: base.scale + vector(random) * 0.1 * much,
    }
}

fn character(random: &mut Rng) -> (Skeleton, SkinPart) {
    let mut joints: Vec<Joint> = Vec::new();
    for i in 0..random.usize(1..12) {
        let rest = transform(
            random,
            JointTransform {
                scale: Vec3::ONE,
                ..JointTransform::IDENTITY
            },
            1.0,
        );
        let inverse_bind = transform(random, JointTransform::IDENTITY, 1.0).to_affine();
        let parent = (i > 0).then(|| random.u16(0..i as u16));
        joints.push(Joint {
            name: format!("{i}").into(),
            parent,
            rest,
            inverse_bind,
        });
    }
    let count = joints.len() as u16;
    let influences = |random: &mut Rng| {
        let share = random.f32();
        Influences {
            palette: [random.u16(0..count), random.u16(0..count + 2), 0, 0],
            weights: [share, 1.0 - share, 0.0, 0.0],
        }
    };
    let mut combined_joints = CombinedJoints::new();
    for _ in 0..2 {
        let share = random.f32();
        combined_joints.push([
            (random.u16(0..count), share),
            (random.u16(0..count), 1.0 - share),
        ]);
    }
    let part = SkinPart {
        positions: (0..40).map(|_| vector(random)).collect(),
        influences: (0..40).map(|_| influences(random)).collect(),
        palette: (0..count).collect(),
        combined_joints,
        ..SkinPart::default()
    };
    (Skeleton::new(joints).unwrap(), part)
}

fn clip(random: &mut Rng, skeleton: &Skeleton, much: f32) -> SkeletalClip {
    let rest: Vec<_> = skeleton
        .joints()
        .map(|joint| skeleton.rest_of(joint))
        .collect();
    let transforms = (0..random.usize(1..5))
        .flat_map(|_| rest.clone())
        .map(|t| transform(random, t, much))
        .collect();
    let animated = (0..skeleton.len()).map(|_| random.u32(0..5) > 0).collect();
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated,
        transforms,
    };
    SkeletalClip::new(ClipTiming::new("clip", 1.0), &frames).unwrap()
}

fn positions(
    skeleton: &Skeleton,
    part: &SkinPart,
    layers: &[ClipLayer],
    blend: f32,
) -> (Vec<Vec3>, Vec<Affine3A>) {
    let mut scratch = Scratch::default();
    Evaluate {
        priority_blend: blend,
        ..Evaluate::new(skeleton, layers)
    }
    .run(&mut scratch);
    let joints = scratch.model();
    (drawn(skeleton, part, joints), joints.to_vec())
}

/// A joint at the origin and a part that follows it.
fn rigid_part(positions: Vec<Vec3>) -> (Skeleton, SkinPart) {
    let joint = Joint {
        name: "a".into(),
        parent: None,
        rest: JointTransform::IDENTITY,
        inverse_bind: Affine3A::IDENTITY,
    };
    let influences = vec![
        Influences {
            palette: [0; 4],
            weights: [1.0, 0.0, 0.0, 0.0]
        };
        positions.len()
    ];
    let part = SkinPart {
        positions,
        influences,
        palette: vec![0],
        ..SkinPart::default()
    };
    (Skeleton::new(vec![joint]).unwrap(), part)
}

#[test]
fn no_vertex_leaves_the_box_of_its_pose() {
    let mut random = Rng::with_seed(1);
    for _ in 0..200 {
        let (skeleton, part) = character(&mut random);
        let clip = clip(&mut random, &skeleton, 2.0);
        let (positions, model) = positions(&skeleton, &part, &[ClipLayer::new(&clip, 0.3)], 0.5);
        let BoundingBox { min, max } = PartBounds::new(&skeleton, &part).posed(&model).unwrap();
        let bounds = BoundingBox {
            min: min - 1e-5,
            max: max + 1e-5,
        };
        assert!(positions.iter().all(|p| bounds.contains(*p)));
    }
}

#[test]
fn no_vertex_ever_leaves_the_box_of_its_clip() {
    let mut random = Rng::with_seed(2);
    for round in 0..90 {
        let (skeleton, part) = character(&mut random);
        let much = random.f32() * 2.0;
        let clip = clip(&mut random, &skeleton, much);
        let clip = if round % 3 == 0 {
            clip.to_additive(&skeleton).unwrap()
        } else {
            clip
        };
        let bounds = PartBounds::new(&skeleton, &part)
            .over_clip(&skeleton, &clip)
            .unwrap();
        for step in 0..=100 {
            let (positions, _) = positions(
                &skeleton,
                &part,
                &[ClipLayer::new(&clip, step as f64 / 100.0)],
                0.5,
            );
            assert!(
                positions.iter().all(|p| bounds.contains(*p)),
                "{step} {bounds:?}"
            );
        }
    }
}

#[test]
fn no_vertex_ever_leaves_the_box_of_a_clip_with_steps() {
    let mut random = Rng::with_seed(6);
    for round in 0..60 {
        let (skeleton, part) = character(&mut random);
        let even = clip(&mut random, &skeleton, 2.0);
        let mut times: Vec<f64> = (0..even.frame_count())
            .map(|_| f64::from(random.u8(..4)) / 3.0)
            .collect();
        times.sort_by(f64::total_cmp);
        let last = times.len() - 1;
        times[0] = 0.0;
        times[last] = if last > 0 { 1.0 } else { continue };
        let mut clip =
            SkeletalClip::at_times(even.timing.clone(), &even.to_frames(), &times).unwrap();
        if round % 3 == 0 {
            clip = clip.to_additive(&skeleton).unwrap();
        }
        let bounds = PartBounds::new(&skeleton, &part)
            .over_clip(&skeleton, &clip)
            .unwrap();
        let near = |time: &f64| [time.next_down(), *time, time.next_up()];
        for time in (0..=50)
            .map(|step| f64::from(step) / 50.0)
            .chain(times.iter().flat_map(near))
        {
            let (positions, _) = positions(&skeleton, &part, &[ClipLayer::new(&clip, time)], 0.5);
            assert!(
                positions.iter().all(|p| bounds.contains(*p)),
                "{time} {times:?} {bounds:?}"
            );
        }
    }
}

#[test]
fn a_jump_without_a_way_between_its_ends_needs_no_box_around_the_way() {
    let (skeleton, part) = rigid_part(vec![Vec3::X]);
    let turn = |angle| JointTransform {
        rotation: Quat::from_rotation_z(angle),
        ..JointTransform::IDENTITY
    };
    let transforms = vec![turn(-1.5), turn(-1.5), turn(1.5), turn(1.5)];
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: vec![],
        transforms,
    };
    let clip = SkeletalClip::at_times(ClipTiming::new("jump", 1.0), &frames, &[0.0, 0.5, 0.5, 1.0])
        .unwrap();
    let BoundingBox { max, .. } = PartBounds::new(&skeleton, &part)
        .over_clip(&skeleton, &clip)
        .unwrap();
    assert!(max.x < 0.08 && max.y < 1.001, "{max}");
}

#[test]
fn between_frames_the_box_is_not_much_larger_than_it_must_be() {
    let (skeleton, part) = rigid_part(vec![Vec3::X]);
    // From −0.1 to 0.1 rad about z: the arc goes 1 − cos 0.1 = 0.005 beyond its chord.
    let turn = |angle| JointTransform {
        rotation: Quat::from_rotation_z(angle),
        ..JointTransform::IDENTITY
    };
    let transforms = vec![turn(-0.1), turn(0.1)];
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: vec![],
        transforms,
    };
    let clip = SkeletalClip::new(ClipTiming::new("arc", 1.0), &frames).unwrap();
    let BoundingBox { max, .. } = PartBounds::new(&skeleton, &part)
        .over_clip(&skeleton, &clip)
        .unwrap();
    assert!(max.x >= 1.0 && max.x < 1.002, "{max}");
    assert!(
        max.y >= 0.1_f32.sin() && max.y < 0.1_f32.sin() + 0.007,
        "{max}"
    );
}

#[test]
fn no_vertex_ever_leaves_the_box_of_any_blend() {
    let mut random = Rng::with_seed(3);
    for _ in 0..100 {
        let (skeleton, part) = character(&mut random);
        let bounds = PartBounds::new(&skeleton, &part);
        let clips: Vec<_> = (0..4).map(|_| clip(&mut random, &skeleton, 2.0)).collect();
        let reach = bounds.within(&BlendReach::new(&skeleton, &clips)).unwrap();
        for _ in 0..20 {
            let mask =
                |random: &mut Rng| Mask::from_weights((0..skeleton.len()).map(|_| random.f32()));
            let masks: Vec<_> = (0..4).map(|_| mask(&mut random)).collect();
            let layer = |(clip, mask)| ClipLayer {
                mask: random.bool().then_some(mask),
                weight: random.f32(),
                priority: if random.bool() {
                    TrackPriority::Low
                } else {
                    TrackPriority::High
                },
                ..ClipLayer::new(clip, random.f64())
            };
            let layers: Vec<_> = clips.iter().zip(&masks).map(layer).collect();
            let (positions, _) = positions(&skeleton, &part, &layers, random.f32());
            assert!(positions.iter().all(|p| reach.contains(*p)));
        }
        let BoundingBox { min, max } = bounds.over_clip(&skeleton, &clips[0]).unwrap();
        assert!(reach.contains(min) && reach.contains(max));
    }
}

/// The box of a stack of layers, whose clips are given by their indices.
fn stack_box(
    bounds: &PartBounds,
    reach: &BlendReach,
    layers: &[(usize, ClipLayer)],
) -> BoundingBox {
    let additive = layers
        .iter()
        .filter(|(_, layer)| layer.effective_mode() == BlendMode::Additive);
    bounds
        .within(&reach.with_additive(additive.map(|(clip, layer)| (*clip, layer.weight))))
        .unwrap()
}

#[test]
fn no_vertex_ever_leaves_the_box_of_any_stack_of_layers() {
    let mut random = Rng::with_seed(5);
    for _ in 0..100 {
        let (skeleton, part) = character(&mut random);
        let bounds = PartBounds::new(&skeleton, &part);
        let mut clips: Vec<_> = (0..4).map(|_| clip(&mut random, &skeleton, 2.0)).collect();
        clips[2..]
            .iter_mut()
            .for_each(|clip| *clip = clip.to_additive(&skeleton).unwrap());
        let reach = BlendReach::new(&skeleton, &clips);
        let mask = Mask::from_weights((0..skeleton.len()).map(|_| random.f32()));
        for _ in 0..20 {
            let layer = |random: &mut Rng| {
                let index = random.usize(..clips.len());
                let layer = ClipLayer {
                    mask: random.bool().then_some(&mask),
                    weight: random.f32() * 3.0,
                    priority: if random.bool() {
                        TrackPriority::Low
                    } else {
                        TrackPriority::High
                    },
                    mode: [BlendMode::Blend, BlendMode::Additive, BlendMode::Override]
                        [random.usize(..3)],
                    ..ClipLayer::new(&clips[index], random.f64())
                };
                (index, layer)
            };
            let stack: Vec<_> = (0..random.usize(..7)).map(|_| layer(&mut random)).collect();
            let layers: Vec<_> = stack.iter().map(|(_, layer)| *layer).collect();
            let bounds = stack_box(&bounds, &reach, &stack);
            let (positions, _) = positions(&skeleton, &part, &layers, random.f32());
            assert!(
                positions.iter().all(|p| bounds.contains(*p)),
                "{bounds:?} {positions:?}"
            );
        }
    }
}

#[test]
fn a_jump_and_an_additive_hop_add_up() {
    let (skeleton, part) = rigid_part(vec![Vec3::ZERO, Vec3::Y]);
    let up = |y: f32| {
        let transforms = [0.0, y]
            .map(|y| JointTransform::new(Vec3::Y * y, Quat::IDENTITY))
            .to_vec();
        let frames = ClipFrames {
            joints: skeleton.names().clone(),
            animated: vec![],
            transforms,
        };
        SkeletalClip::new(ClipTiming::new("up", 1.0), &frames).unwrap()
    };
    let clips = [up(2.0), up(2.0).to_additive(&skeleton).unwrap()];
    let stack = [0, 1].map(|clip| (clip, ClipLayer::new(&clips[clip], 1.0)));
    let bounds = stack_box(
        &PartBounds::new(&skeleton, &part),
        &BlendReach::new(&skeleton, &clips),
        &stack,
    );
    let (positions, _) = positions(&skeleton, &part, &stack.map(|(_, layer)| layer), 0.5);
    assert_eq!(positions, [Vec3::Y * 4.0, Vec3::Y * 5.0]);
    assert!(positions.iter().all(|p| bounds.contains(*p)), "{bounds:?}");
    assert!(
        bounds.max.y < 5.001,
        "no larger than needed along the jump: {bounds:?}"
    );
}

#[test]
fn parts_without_joints_and_clips_of_others_have_no_box() {
    let mut random = Rng::with_seed(4);
    let (skeleton, part) = character(&mut random);
    let clip = clip(&mut random, &skeleton, 1.0);
    let nothing = PartBounds::new(&skeleton, &SkinPart::default());
    assert_eq!(nothing.over_clip(&skeleton, &clip), None);
    assert_eq!(nothing.within(&BlendReach::new(&skeleton, [&clip])), None);
    assert_eq!(nothing.posed(skeleton.rest_model()), None);
    let none = PartBounds::new(&Skeleton::default(), &part);
    assert_eq!(none.over_clip(&Skeleton::default(), &clip), None);
}
