use super::*;
use crate::model::{ClipFrames, ClipTiming, Joint, JointTransform, Skeleton, Tolerance};
use crate::pose::Mask;
use crate::pose::simd::portably;
use fastrand::Rng;
use glam::{Affine3A, Quat, Vec3};

const JOINTS: usize = 13;

fn pose(random: &mut Rng, scaled: bool) -> Vec<JointTransform> {
    let mut vector = |size: f32| Vec3::from_array([0; 3].map(|_| (random.f32() - 0.5) * size));
    let joint = |_| JointTransform {
        translation: vector(2.0),
        rotation: Quat::from_vec4((vector(2.0) + Vec3::X * 0.1).extend(vector(2.0).x)).normalize(),
        scale: Vec3::ONE + vector(if scaled { 1.0 } else { 0.0 }),
    };
    (0..JOINTS).map(joint).collect()
}

fn clip(random: &mut Rng, scaled: bool) -> SkeletalClip {
    let whole = random.bool();
    let frames = ClipFrames {
        joints: (0..JOINTS).map(|joint| joint.to_string().into()).collect(),
        animated: (0..JOINTS).map(|_| whole || random.u8(..4) > 0).collect(),
        transforms: (0..3).flat_map(|_| pose(random, scaled)).collect(),
    };
    let mut clip = SkeletalClip::new(ClipTiming::new("clip", 1.0), &frames).unwrap();
    clip.additive = random.u8(..4) == 0;
    clip
}

fn bits(pose: &[SoaTransform]) -> Vec<u32> {
    let lanes = pose.iter().flat_map(|row| (0..4).map(|lane| row.get(lane)));
    let vectors = lanes.flat_map(|joint| {
        [
            joint.translation.extend(0.0),
            joint.rotation.into(),
            joint.scale.extend(0.0),
        ]
    });
    vectors
        .flat_map(|vector| vector.to_array())
        .map(f32::to_bits)
        .collect()
}

#[test]
fn wide_and_portable_code_give_the_same_bits() {
    let mut random = Rng::with_seed(4);
    for round in 0..if cfg!(miri) { 8 } else { 400 } {
        let scaled = round % 2 == 0;
        let rest = SoaTransform::rows(&pose(&mut random, scaled));
        let clips = [0; 5].map(|_| clip(&mut random, scaled));
        let weights = (0..JOINTS).map(|_| [0.0, 1.0, random.f32()][random.usize(..3)]);
        let mask = Mask::from_weights(weights.collect::<Vec<_>>());
        let masks = random.bool();
        let mut layers: Vec<ClipLayer> = Vec::new();
        for clip in &clips[..random.usize(..=5)] {
            use BlendMode::{Additive, Blend, Override};
            layers.push(ClipLayer {
                weight: random.f32(),
                mask: (masks && random.bool()).then_some(&mask),
                priority: if random.u8(..3) == 0 {
                    TrackPriority::High
                } else {
                    TrackPriority::Low
                },
                mode: [Blend, Blend, Blend, Additive, Override][random.usize(..5)],
                set: random.u32(..3),
                base: random.bool(),
                ..ClipLayer::new(clip, random.f64())
            });
        }
        let run = || {
            let mut out = rest.clone();
            Mix {
                layers: &layers,
                priority_blend: 0.3,
                rest: &rest,
                unit_scale: !scaled,
            }
            .run(&mut MixScratch::default(), &mut out);
            bits(&out)
        };
        assert_eq!(run(), portably(run), "round {round}");
    }
}

#[test]
fn warm_scratch_keeps_its_memory() {
    let mut random = Rng::with_seed(1);
    let rest = pose(&mut random, false);
    let joint = |(index, rest): (usize, &JointTransform)| Joint {
        name: index.to_string().into(),
        parent: None,
        rest: *rest,
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new(rest.iter().enumerate().map(joint).collect()).unwrap();
    let tolerance = Tolerance {
        translation: 1e-3,
        rotation: 1e-3,
        scale: 1e-3,
    };
    // Compressed clips are unpacked to memory of their own.
    let a = clip(&mut random, false).quantized(&skeleton, &[tolerance; JOINTS]);
    let rest = SoaTransform::rows(&rest);
    let mut out = rest.clone();
    let layers = [ClipLayer::new(&a, 0.3); 6];
    let mut scratch = MixScratch::default();
    let mut run = |count: usize, scratch: &mut MixScratch| {
        Mix {
            layers: &layers[..count],
            priority_blend: 0.5,
            rest: &rest,
            unit_scale: true,
        }
        .run(scratch, &mut out);
        let ActiveList { layers, unpacked } = &scratch.active;
        let lists = (layers.as_ptr(), unpacked.as_ptr());
        (lists, layers.capacity(), unpacked.capacity())
    };
    let warm = run(6, &mut scratch);
    assert!(warm.1 >= 6 && warm.2 > 0, "{warm:?}");
    for count in [6, 1, 0, 3, 6] {
        assert_eq!(run(count, &mut scratch), warm);
    }
}
