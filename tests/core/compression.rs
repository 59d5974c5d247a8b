//! Clips made smaller: within the error asked for, wherever the skin is looked at.

use crate::drawn::drawn;
use bevy_marionette::import::{ImportLimits, Manifest, open_manifest};
use bevy_marionette::internals::pose::{ClipLayer, Compress, Evaluate, Scratch};
use bevy_marionette::model::{
    ClipFrames, ClipTiming, Influences, Joint, JointIndex, JointTransform, SkeletalClip, Skeleton,
    SkinPart,
};
use glam::{Affine3A, Quat, Vec3};
use std::borrow::Cow;

struct Character {
    skeleton: Skeleton,
    part: SkinPart,
}

fn vector(random: &mut fastrand::Rng) -> Vec3 {
    Vec3::from_array([0; 3].map(|_| random.f32() * 2.0 - 1.0))
}

fn character(random: &mut fastrand::Rng) -> Character {
    let joints = random.usize(1..14);
    let make = |i: usize, random: &mut fastrand::Rng| Joint {
        name: format!("{i}").into(),
        parent: (i > 0).then(|| random.usize(..i) as JointIndex),
        rest: JointTransform::new(vector(random) * 0.3, Quat::from_scaled_axis(vector(random))),
        inverse_bind: Affine3A::from_rotation_translation(
            Quat::from_scaled_axis(vector(random)),
            vector(random),
        ),
    };
    let skeleton = Skeleton::new((0..joints).map(|i| make(i, random)).collect()).unwrap();
    let influences = |random: &mut fastrand::Rng| {
        let share = random.f32();
        let palette = [
            random.usize(..joints) as u16,
            random.usize(..joints) as u16,
            0,
            0,
        ];
        Influences {
            palette,
            weights: [share, 1.0 - share, 0.0, 0.0],
        }
    };
    let part = SkinPart {
        positions: (0..60).map(|_| vector(random)).collect(),
        influences: (0..60).map(|_| influences(random)).collect(),
        palette: (0..joints as JointIndex).collect(),
        ..SkinPart::default()
    };
    Character { skeleton, part }
}

/// A clip of smooth swings, sampled finely; some joints move, some are scaled, some are left alone.
fn clip(random: &mut fastrand::Rng, skeleton: &Skeleton) -> SkeletalClip {
    let frames = random.usize(2..80);
    let axes: Vec<(Vec3, f32, u32)> = (0..skeleton.len())
        .map(|_| (vector(random), random.f32() * 6.0, random.u32(..4)))
        .collect();
    let transforms = (0..frames * skeleton.len()).map(|i| {
        let (frame, joint) = (i / skeleton.len(), i % skeleton.len());
        let (axis, phase, kind) = axes[joint];
        let swing = (frame as f32 * 0.1 + phase).sin();
        let rest = skeleton.rest_of(joint as u16);
        JointTransform {
            translation: rest.translation
                + if kind == 1 {
                    axis * swing * 0.1
                } else {
                    Vec3::ZERO
                },
            rotation: rest.rotation * Quat::from_scaled_axis(axis * swing * 0.6),
            scale: Vec3::ONE
                + if kind == 2 {
                    axis * swing * 0.2
                } else {
                    Vec3::ZERO
                },
        }
    });
    let (transforms, animated) = (
        transforms.collect(),
        axes.iter().map(|axis| axis.2 < 3).collect(),
    );
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated,
        transforms,
    };
    SkeletalClip::new(ClipTiming::new("swing", 2.0), &frames).unwrap()
}

fn skin(Character { skeleton, part }: &Character, clip: &SkeletalClip, time: f64) -> Vec<Vec3> {
    let mut scratch = Scratch::default();
    Evaluate::new(skeleton, &[ClipLayer::new(clip, time)]).run(&mut scratch);
    drawn(skeleton, part, scratch.model())
}

#[test]
fn no_vertex_of_a_random_clip_is_farther_off_than_allowed_at_any_time() {
    let mut random = fastrand::Rng::with_seed(9);
    let (mut made_smaller, mut least_ratio) = (0, f64::INFINITY);
    for _ in 0..60 {
        let character = character(&mut random);
        let clip = clip(&mut random, &character.skeleton);
        let allowed = [0.02, 0.002, 0.0005][random.usize(..3)];
        let small = Compress::new(
            &character.skeleton,
            std::slice::from_ref(&character.part),
            allowed,
        )
        .run(&clip);
        let Some(quantization) = small.quantization() else {
            assert_eq!(small, clip);
            continue;
        };
        made_smaller += 1;
        assert!(quantization.error <= allowed && quantization.bytes_before == clip.bytes());
        assert!(small.bytes() < clip.bytes());
        if clip.frame_count() > 40 {
            least_ratio = least_ratio.min(clip.bytes() as f64 / small.bytes() as f64);
        }
        for _ in 0..100 {
            let time = random.f64() * 2.0;
            for (exact, got) in skin(&character, &clip, time)
                .into_iter()
                .zip(skin(&character, &small, time))
            {
                // The measure looks at four moments of each frame, not at all.
                assert!(
                    exact.distance(got) <= allowed * 1.1 + 1e-5,
                    "{} of {allowed}",
                    exact.distance(got)
                );
            }
        }
    }
    assert!(made_smaller > 40, "{made_smaller}");
    assert!(least_ratio > 1.5, "{least_ratio}");
}

#[test]
fn an_additive_clip_keeps_within_the_error_over_the_pose_it_was_measured_on() {
    let mut random = fastrand::Rng::with_seed(11);
    let (mut made_smaller, mut farthest) = (0, 0.0_f32);
    for _ in 0..40 {
        let character = character(&mut random);
        let clip = clip(&mut random, &character.skeleton)
            .to_additive(&character.skeleton)
            .unwrap();
        let allowed = [0.02, 0.002, 0.0005][random.usize(..3)];
        let small = Compress::new(
            &character.skeleton,
            std::slice::from_ref(&character.part),
            allowed,
        )
        .run(&clip);
        let Some(quantization) = small.quantization() else {
            continue;
        };
        made_smaller += 1;
        assert!(small.additive && quantization.error <= allowed && small.bytes() < clip.bytes());
        for _ in 0..50 {
            let time = random.f64() * 2.0;
            for (exact, got) in skin(&character, &clip, time)
                .into_iter()
                .zip(skin(&character, &small, time))
            {
                assert!(
                    exact.distance(got) <= allowed * 1.1 + 1e-5,
                    "{} of {allowed}",
                    exact.distance(got)
                );
            }
        }
        // Differences that did nothing would be within any error.
        let (start, middle) = (skin(&character, &clip, 0.0), skin(&character, &clip, 1.0));
        farthest = start
            .iter()
            .zip(&middle)
            .map(|(a, b)| a.distance(*b))
            .fold(farthest, f32::max);
    }
    assert!(
        made_smaller > 20 && farthest > 0.1,
        "{made_smaller}, {farthest}"
    );
}

#[test]
fn what_cannot_be_smaller_stays_as_it_is() {
    let mut random = fastrand::Rng::with_seed(4);
    let character = character(&mut random);
    let clip = clip(&mut random, &character.skeleton);
    let compress = |error| {
        Compress::new(
            &character.skeleton,
            std::slice::from_ref(&character.part),
            error,
        )
    };
    assert_eq!(compress(0.0).run(&clip), clip);
    assert_eq!(compress(f32::NAN).run(&clip), clip);
    let small = compress(0.01).run(&clip);
    assert_eq!(
        compress(0.01).run(&small),
        small,
        "a second time nothing is lost"
    );
    let other = Skeleton::new(Vec::new()).unwrap();
    assert_eq!(Compress::new(&other, &[], 0.01).run(&clip), clip);
}

/// A chain of joints of which only the last one turns, up and down by less than the rest moves.
fn chain(joints: usize, turn: f32) -> (Skeleton, SkeletalClip) {
    let make = |i: usize| Joint {
        name: format!("{i}").into(),
        parent: i.checked_sub(1).map(|parent| parent as JointIndex),
        rest: JointTransform::new(Vec3::X * 0.1, Quat::from_rotation_z(0.05)),
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new((0..joints).map(make).collect()).unwrap();
    let transforms = (0..31 * joints).map(|i| {
        let (frame, joint) = (i / joints, i % joints);
        let mut now = skeleton.rest_of(joint as JointIndex);
        // What exporters write for a joint that stands still.
        now.translation += Vec3::splat((i as f32).sin() * 1e-7);
        now.scale += Vec3::splat((i as f32).cos() * 1e-7);
        if joint + 1 == joints {
            now.rotation *= Quat::from_rotation_y((frame as f32 * 0.2).sin() * turn);
        }
        now
    });
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: Vec::new(),
        transforms: transforms.collect(),
    };
    let clip = SkeletalClip::new(ClipTiming::new("nod", 1.0), &frames).unwrap();
    (skeleton, clip)
}

#[test]
fn joints_at_rest_take_next_to_no_memory_and_are_no_longer_scaled() {
    let bytes = [8, 208].map(|joints| {
        let (skeleton, clip) = chain(joints, 0.5);
        let small = Compress::new(&skeleton, &[], 0.001).run(&clip);
        assert!(!clip.unit_scale() && small.unit_scale());
        assert!(small.quantization().is_some());
        small.bytes()
    });
    assert!(bytes[1] - bytes[0] <= 200 * 8, "{bytes:?}");
}

#[test]
fn a_joint_with_a_longer_reach_takes_more_bits() {
    let bytes = [1.0, 30.0].map(|length| {
        let (skeleton, clip) = chain(8, 0.5);
        let part = SkinPart {
            positions: vec![Vec3::X * length],
            influences: vec![Influences {
                palette: [0; 4],
                weights: [1.0, 0.0, 0.0, 0.0],
            }],
            palette: vec![7],
            ..SkinPart::default()
        };
        // The same frames in both, so that only bits can differ.
        let small = Compress::new(&skeleton, &[part], 0.002).run(&clip);
        assert!(small.quantization().unwrap().error <= 0.002);
        small.bytes() as f64 / small.frame_count() as f64
    });
    assert!(bytes[0] < bytes[1], "{bytes:?}");
}

#[test]
fn a_character_far_from_the_origin_keeps_within_the_error() {
    let mut random = fastrand::Rng::with_seed(21);
    for distance in [10.0, 1000.0] {
        let character = character(&mut random);
        let mut frames = clip(&mut random, &character.skeleton).to_frames();
        let joints = character.skeleton.len();
        frames.animated.clear();
        frames
            .transforms
            .iter_mut()
            .step_by(joints)
            .for_each(|root| root.translation += Vec3::new(distance, 0.0, -distance));
        let clip = SkeletalClip::new(ClipTiming::new("away", 2.0), &frames).unwrap();
        let small = Compress::new(
            &character.skeleton,
            std::slice::from_ref(&character.part),
            0.002,
        )
        .run(&clip);
        assert!(small.quantization().is_some() && small.bytes() < clip.bytes());
        for _ in 0..100 {
            let time = random.f64() * 2.0;
            let pairs = skin(&character, &clip, time)
                .into_iter()
                .zip(skin(&character, &small, time));
            for (exact, got) in pairs {
                // At 1000 m, single precision rounds to 0.06 mm.
                assert!(exact.distance(got) <= 0.002 * 1.1 + 1e-4);
            }
        }
    }
}

#[test]
fn a_quantized_clip_reads_the_same_frame_by_frame_and_in_time() {
    let mut random = fastrand::Rng::with_seed(5);
    let character = character(&mut random);
    let skeleton = &character.skeleton;
    let clip = clip(&mut random, skeleton);
    let small = Compress::new(skeleton, std::slice::from_ref(&character.part), 0.01).run(&clip);
    assert!(small.quantization().is_some());
    let last = small.frame_count() - 1;
    let mut scratch = Scratch::default();
    for frame in 0..=last {
        let time = small.timing.duration * frame as f64 / last as f64;
        Evaluate::new(skeleton, &[ClipLayer::new(&small, time)]).run(&mut scratch);
        for joint in (0..skeleton.len()).filter(|&joint| small.animates(joint)) {
            let (a, b) = (
                scratch.joint(joint).unwrap(),
                small.transform_at(joint, frame),
            );
            assert!(
                a.translation.abs_diff_eq(b.translation, 1e-5)
                    && a.scale.abs_diff_eq(b.scale, 1e-5)
            );
            assert!(a.rotation.abs_diff_eq(b.rotation, 1e-5), "{a:?} {b:?}");
        }
    }
}

#[test]
fn scouts_clips_take_less_than_a_fourth_of_the_memory_within_half_a_millimeter() {
    let file = |name: &str| -> Result<Cow<'static, [u8]>, String> {
        Ok(Cow::Borrowed(match name {
            "scout.md5mesh" => include_bytes!("../../assets/scout/scout.md5mesh").as_slice(),
            "idle.md5anim" => include_bytes!("../../assets/scout/idle.md5anim"),
            "walk.md5anim" => include_bytes!("../../assets/scout/walk.md5anim"),
            "jog.md5anim" => include_bytes!("../../assets/scout/jog.md5anim"),
            "jump.md5anim" => include_bytes!("../../assets/scout/jump.md5anim"),
            "turn.md5anim" => include_bytes!("../../assets/scout/turn.md5anim"),
            "scout.glb" => include_bytes!("../../assets/scout/scout.glb"),
            "point.md5anim" => include_bytes!("../../assets/scout/point.md5anim"),
            "wave.md5anim" => include_bytes!("../../assets/scout/wave.md5anim"),
            other => return Err(format!("no {other}")),
        }))
    };
    let source = include_bytes!("../../assets/scout/scout.character.ron");
    let manifest = Manifest::parse("scout.character.ron", source).unwrap();
    let lossless = open_manifest("scout", &manifest, &ImportLimits::default(), file).unwrap();
    assert!(
        lossless
            .model
            .clips
            .iter()
            .all(|clip| clip.quantization().is_none()),
        "the default"
    );
    let small = open_manifest(
        "scout",
        &Manifest {
            clip_error: Some(0.0005),
            ..manifest
        },
        &ImportLimits::default(),
        file,
    )
    .unwrap();
    assert_eq!(small.model.clips.len(), lossless.model.clips.len());
    for (clip, before) in small.model.clips.iter().zip(&lossless.model.clips) {
        let quantization = clip
            .quantization()
            .unwrap_or_else(|| panic!("{}", clip.timing.name));
        assert!(quantization.error <= 0.0005 && quantization.bytes_before == before.bytes());
        let ratio = before.bytes() as f64 / clip.bytes() as f64;
        println!(
            "{}: {ratio:.2} : 1, {:.2e}",
            clip.timing.name, quantization.error
        );
        assert!(ratio > 4.0, "{}: {ratio}", clip.timing.name);
    }
}
