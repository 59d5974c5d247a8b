use super::*;
use crate::model::{ClipFrames, ClipTiming, Joint, JointTransform, SkeletalClip, Tolerance};
use crate::pose::{
    Mask,
    simd::{Backend, with_backend},
    stream,
};
use fastrand::Rng;
use glam::{Quat, Vec3, Vec3A};
use std::ops::Range;

/// More than are unpacked at once.
const JOINTS: usize = 22;

fn transform(random: &mut Rng, scaled: bool) -> JointTransform {
    let mut vector = |size: f32| Vec3::from_array([0; 3].map(|_| (random.f32() - 0.5) * size));
    JointTransform {
        translation: vector(2.0),
        rotation: Quat::from_vec4((vector(2.0) + Vec3::X * 0.1).extend(vector(2.0).x)).normalize(),
        scale: Vec3::ONE + vector(if scaled { 1.0 } else { 0.0 }),
    }
}

fn skeleton(random: &mut Rng, scaled: bool) -> Skeleton {
    let joint = |i: usize| Joint {
        name: i.to_string().into(),
        parent: (i > 0 && random.u8(..5) > 0).then(|| random.usize(..i) as u16),
        rest: transform(random, scaled),
        inverse_bind: transform(random, true).to_affine(),
    };
    Skeleton::new((0..JOINTS).map(joint).collect()).unwrap()
}

/// A clip of one to four frames, in some of whose rows of joints nothing moves, for the joints with a bit in `animated`.
fn clip(random: &mut Rng, skeleton: &Skeleton, scaled: bool, animated: u32) -> SkeletalClip {
    let still = (0..JOINTS)
        .map(|_| transform(random, scaled))
        .collect::<Vec<_>>();
    let (moved, turned) = (random.u8(..), random.u8(..));
    let mut transforms = Vec::new();
    for _ in 0..random.usize(1..=4) {
        for (joint, still) in still.iter().enumerate() {
            let now = transform(random, scaled);
            transforms.push(JointTransform {
                translation: if moved >> (joint / 4) & 1 == 1 {
                    now.translation
                } else {
                    still.translation
                },
                rotation: if turned >> (joint / 4) & 1 == 1 {
                    now.rotation
                } else {
                    still.rotation
                },
                scale: now.scale,
            });
        }
    }
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated: (0..JOINTS)
            .map(|joint| animated >> joint & 1 == 1)
            .collect(),
        transforms,
    };
    let clip = SkeletalClip::new(ClipTiming::new("clip", 1.0), &frames)
        .unwrap()
        .bind(skeleton);
    if random.bool() {
        clip
    } else {
        // Too little for numbers, as much as they can hold, a few bits, and nothing but the rest pose.
        let mut tolerance = || [1e-9, 3e-5, 1e-3, 0.1, 9.0][random.usize(..5)];
        let tolerances: Vec<_> = (0..JOINTS)
            .map(|_| Tolerance {
                translation: tolerance(),
                rotation: tolerance(),
                scale: tolerance(),
            })
            .collect();
        clip.quantized(skeleton, &tolerances)
    }
}

fn bits(matrices: &[Vec4]) -> Vec<u32> {
    matrices
        .iter()
        .flat_map(|column| column.to_array())
        .map(f32::to_bits)
        .collect()
}

/// A part, and its palettes: at an offset to a cache line, with room between them that must stay as it is.
struct Part {
    remap: Vec<u16>,
    combined: CombinedJoints,
    offset: usize,
    expected: Vec<Vec4>,
    written: Vec<Vec4>,
}

impl Part {
    fn new(random: &mut Rng) -> Self {
        let remap: Vec<_> = (0..random.usize(..12))
            .map(|_| random.u16(..JOINTS as u16))
            .collect();
        let mut combined = CombinedJoints::new();
        if random.u8(..4) == 0 && !remap.is_empty() {
            combined.push([(0, 0.5), (remap.len() as u16 - 1, 0.5)]);
        }
        let blank = vec![Vec4::NAN; 4 + PoseBatch::MOST * 4 * (remap.len() + combined.len() + 1)];
        Self {
            remap,
            combined,
            offset: random.usize(..4),
            expected: blank.clone(),
            written: blank,
        }
    }

    fn places(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (offset, length) = (self.offset, 4 * (self.remap.len() + self.combined.len()));
        (0..PoseBatch::MOST)
            .map(move |lane| offset + lane * (length + 4))
            .map(move |at| at..at + length)
    }

    /// Writes the palettes of a batch, but for those that are `missing`.
    fn write(&mut self, batch: &mut PoseBatch, skeleton: &Skeleton, missing: u8, streamed: bool) {
        self.written.fill(Vec4::NAN);
        let places: Vec<_> = self.places().collect();
        let Self {
            remap,
            combined,
            written,
            ..
        } = self;
        let mut out: [&mut [Mat4]; PoseBatch::MOST] = Default::default();
        let (mut rest, mut at) = (&mut written[..], 0);
        for (lane, place) in places.into_iter().enumerate() {
            let (palette, after) = rest[place.start - at..].split_at_mut(place.len());
            (rest, at) = (after, place.end);
            if lane < batch.len() && missing >> lane & 1 == 0 {
                out[lane] = bytemuck::cast_slice_mut(palette);
            }
        }
        if streamed {
            stream(|stream| {
                let mut out = out;
                batch.stream(skeleton, remap, combined, &mut out, stream);
            });
        } else {
            batch.write(skeleton, remap, combined, &mut out);
        }
    }
}

#[test]
fn a_batch_gives_the_same_bits_as_its_characters_one_by_one() {
    let mut random = Rng::with_seed(7);
    // Of the same clips, and all others: whose clips move every joint, whose clips leave joints to the rest pose, and whose clips
    // have weights of their own at each joint.
    let mut batches = [[0; 2]; 3];
    for round in 0..if cfg!(miri) { 4 } else { 4000 } {
        let same_clips = random.bool().then(|| random.usize(1..=4));
        let (scaled, plain) = (random.u8(..4) == 0, same_clips.is_some() || random.bool());
        let skeleton = skeleton(&mut random, scaled);
        // All joints, the same ones for all clips, or others for each.
        let (joints, is_base) = (random.u8(..4).min(2), random.u8(..3) == 0);
        let common = random.u32(..);
        // A character with scales among others without.
        let clips = [0; 4].map(|_| {
            let scaled = !plain && random.bool();
            let animated = [u32::MAX, common, random.u32(..)][usize::from(joints)];
            clip(&mut random, &skeleton, scaled, animated)
        });
        let mask = Mask::from_weights((0..JOINTS).map(|_| random.f32()).collect::<Vec<_>>());
        let mut parts = [0; 2].map(|_| Part::new(&mut random));
        let missing = random.u8(..);
        let mut batch = PoseBatch::default();
        for lane in 0..random.usize(..=PoseBatch::MOST) {
            // Now and then, one character's clips are on other tracks than those of the others.
            let is_base = is_base ^ (random.u8(..32) == 0);
            let mut layers = clips.each_ref().map(|clip| ClipLayer {
                weight: random.f32(),
                mask: (!plain && random.u8(..3) == 0).then_some(&mask),
                base: is_base,
                ..ClipLayer::new(clip, random.f64())
            });
            let count = same_clips.unwrap_or_else(|| random.usize(usize::from(plain)..=4));
            let layers = &mut layers[..count];
            // What a base lacks of a whole weight is the rest pose's.
            if is_base && plain {
                let total: f32 = layers.iter().map(|layer| layer.weight).sum();
                layers.iter_mut().for_each(|layer| layer.weight /= total);
            }
            let job = Evaluate::new(&skeleton, layers);
            let world = Affine3A {
                translation: Vec3A::splat(lane as f32),
                ..transform(&mut random, scaled).to_affine()
            };
            batch.add(&job, &world);
            if missing >> lane & 1 == 1 {
                continue;
            }
            let mut scratch = Scratch::default();
            let (root, world) = split_world(&world);
            job.run_clips(Some(&root), &mut scratch);
            let (model, inverse_bind) = (scratch.model(), skeleton.inverse_bind());
            for part in &mut parts {
                let place = part.places().nth(lane).unwrap();
                let Part {
                    remap,
                    combined,
                    expected,
                    ..
                } = part;
                Palette {
                    world,
                    model,
                    inverse_bind,
                    remap,
                    combined,
                }
                .run(bytemuck::cast_slice_mut(&mut expected[place]));
            }
        }
        if batch.len() >= WORTH_A_BATCH {
            let kind = match joints {
                0 => 0,
                2 if !is_base && same_clips != Some(1) => 2,
                _ => 1,
            };
            batches[kind][usize::from(batch.find_clips())] += 1;
        }
        for (streamed, backend) in [false, true]
            .into_iter()
            .flat_map(|streamed| Backend::ALL.map(|b| (streamed, b)))
        {
            batch.solved = 0;
            // What the second part needs of joints that the first has not.
            for part in &mut parts {
                with_backend(backend, || {
                    part.write(&mut batch, &skeleton, missing, streamed)
                });
                let what = format!(
                    "round {round}, {} characters, {streamed}, {backend:?}",
                    batch.len()
                );
                assert_eq!(bits(&part.written), bits(&part.expected), "{what}");
            }
        }
    }
    assert!(
        batches.as_flattened().iter().all(|&count| count > 20) || cfg!(miri),
        "{batches:?} batches were tried"
    );
}
