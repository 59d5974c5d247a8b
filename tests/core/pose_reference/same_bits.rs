//! The same bits on one thread and on many, in every build.

use super::*;

// ---- the same bits -------------------------------------------------------------------------------

/// A character made of small whole numbers, so that no library function enters: 61 joints, four
/// clips, a mask, three layers of one priority and one of the other, an additive and an overriding layer.
fn palette_of(step: u32) -> Vec<Mat4> {
    let number = |i: u32| ((i.wrapping_mul(2_654_435_761) >> 16) % 201) as f32 / 100.0 - 1.0;
    let vector = |i: u32| Vec3::new(number(i), number(i + 1), number(i + 2));
    let transform = |i: u32, scale: f32| JointTransform {
        translation: vector(i) * 0.2,
        rotation: Quat::from_xyzw(
            number(i + 3),
            number(i + 4),
            number(i + 5),
            number(i + 9) * 2.0,
        )
        .normalize(),
        scale: Vec3::ONE + vector(i + 6) * scale,
    };
    let joint = |i: u32| Joint {
        name: format!("{i}").into(),
        parent: i
            .checked_sub(1)
            .map(|last| if i.is_multiple_of(5) { last / 2 } else { last } as JointIndex),
        rest: transform(i * 17, 0.1),
        inverse_bind: transform(i * 31, 0.0).to_affine(),
    };
    let skeleton = Skeleton::new((0..61).map(joint).collect()).unwrap();
    let clip = |seed: u32| {
        let transforms = (0..61 * 4)
            .map(|i| transform(seed * 10_007 + i * 13, 0.1))
            .collect();
        let animated = (0..61).map(|i| !(i + seed).is_multiple_of(7)).collect();
        let frames = ClipFrames {
            joints: skeleton.names().clone(),
            animated,
            transforms,
        };
        SkeletalClip::new(ClipTiming::new("clip", 2.0), &frames).unwrap()
    };
    let clips = [1, 2, 3, 4].map(clip);
    let mask = Mask::from_roots(&skeleton, &[9], 3);
    let time = f64::from(step) * 0.0625;
    let layer = |clip: usize, weight| ClipLayer {
        weight,
        ..ClipLayer::new(&clips[clip], time)
    };
    let layers = [
        layer(0, 0.6),
        ClipLayer {
            mask: Some(&mask),
            ..layer(1, 0.3)
        },
        layer(3, 0.45),
        ClipLayer {
            priority: TrackPriority::High,
            mask: Some(&mask),
            ..layer(2, 1.0)
        },
        ClipLayer {
            mode: BlendMode::Additive,
            ..layer(3, 0.25)
        },
        ClipLayer {
            mode: BlendMode::Override,
            mask: Some(&mask),
            ..layer(1, 0.5)
        },
    ];
    let mut scratch = Scratch::default();
    Evaluate {
        priority_blend: 0.375,
        ..Evaluate::new(&skeleton, &layers)
    }
    .run(&mut scratch);
    let mut palette = vec![Mat4::NAN; 61];
    let remap: Vec<JointIndex> = (0..61).collect();
    let world = transform(99, 0.0).to_affine();
    let (model, inverse_bind) = (scratch.model(), skeleton.inverse_bind());
    Palette {
        world,
        model,
        inverse_bind,
        remap: &remap,
        combined: &CombinedJoints::new(),
    }
    .run(&mut palette);
    palette
}

/// FNV-1a over the bits of a palette.
fn hash(palette: &[Mat4]) -> u64 {
    let bits = palette
        .iter()
        .flat_map(|matrix| matrix.to_cols_array())
        .flat_map(|x| x.to_bits().to_le_bytes());
    bits.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// `.ci/run` asks it without optimization too, where everything inlined takes room of its own.
#[test]
fn a_pose_fits_half_the_stack_of_a_thread() {
    let alone = std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(|| palette_of(3))
        .unwrap();
    assert_eq!(hash(&alone.join().unwrap()), hash(&palette_of(3)));
}

#[test]
fn one_thread_or_many_the_same_bits() {
    let alone: Vec<u64> = (0..32).map(|step| hash(&palette_of(step))).collect();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(|| {
                (0..32)
                    .map(|step| hash(&palette_of(step)))
                    .collect::<Vec<_>>()
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), alone);
    }
}

/// Optimized or not, with AVX and FMA or without, this year or next. The order in which a dot product is
/// summed is glam's choice for each architecture.
#[test]
#[cfg(target_arch = "x86_64")]
fn every_build_gives_the_same_bits() {
    let all: Vec<Mat4> = (0..32).flat_map(palette_of).collect();
    assert!(all.iter().all(|matrix| matrix.is_finite()));
    assert_eq!(hash(&all), 427_776_539_456_652_700);
}
