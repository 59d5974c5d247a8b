//! Layers that stand together, against their rule in double precision: over random skeletons, clips that move some of the
//! joints, masks, weights, bases, blend spaces and overriding ones.

use super::programs;
use bevy_marionette::controller::{BlendMode, TrackPriority};
use bevy_marionette::model::{
    ClipFrames, ClipTiming, Joint, JointTransform, SkeletalClip, Skeleton,
};
use bevy_marionette::{
    internals::pose::{ClipLayer, Evaluate, Mix, Scratch},
    pose::Mask,
};
use fastrand::Rng;
use glam::{Affine3A, DQuat, DVec3, Quat, Vec3};

#[derive(Clone, Copy)]
struct Pose {
    translation: DVec3,
    rotation: DQuat,
    scale: DVec3,
}

impl Pose {
    fn of(t: JointTransform) -> Self {
        let rotation = t.rotation.as_dquat().normalize();
        Self {
            translation: t.translation.as_dvec3(),
            rotation,
            scale: t.scale.as_dvec3(),
        }
    }

    /// The mean by weight. All rotations lie within one hemisphere of each other.
    fn mean(parts: &[(f64, Self)]) -> Self {
        let total: f64 = parts.iter().map(|part| part.0).sum();
        let toward = parts[0].1.rotation;
        let mut sum = Self {
            translation: DVec3::ZERO,
            rotation: DQuat::from_array([0.0; 4]),
            scale: DVec3::ZERO,
        };
        for (weight, pose) in parts {
            sum.translation += pose.translation * (weight / total);
            sum.scale += pose.scale * (weight / total);
            let sign = if toward.dot(pose.rotation) < 0.0 {
                -1.0
            } else {
                1.0
            };
            sum.rotation += pose.rotation * (weight / total * sign);
        }
        Self {
            rotation: sum.rotation.normalize(),
            ..sum
        }
    }
}

struct Scene {
    skeleton: Skeleton,
    clips: Vec<SkeletalClip>,
    masks: Vec<Mask>,
    parts: Vec<Part>,
    blend: f32,
}

/// A layer of a scene.
#[derive(Clone, Copy)]
struct Part {
    clip: usize,
    weight: f32,
    mask: Option<usize>,
    set: u32,
    base: bool,
    high: bool,
    overrides: bool,
}

fn transform(random: &mut Rng, size: f32) -> JointTransform {
    let mut number = |size: f32| (random.f32() * 2.0 - 1.0) * size;
    let rotation = Quat::from_xyzw(number(size), number(size), number(size), 1.0).normalize();
    let translation = Vec3::new(number(0.2), number(0.2), number(0.2));
    let scale = Vec3::ONE + Vec3::new(number(0.3), number(0.3), number(0.3));
    JointTransform {
        translation,
        rotation: if number(1.0) < 0.0 {
            -rotation
        } else {
            rotation
        },
        scale,
    }
}

impl Scene {
    fn random(random: &mut Rng) -> Self {
        let joints = random.usize(1..10);
        let joint = |i: usize, random: &mut Rng| Joint {
            name: format!("j{i}").into(),
            parent: i.checked_sub(1).map(|parent| parent as u16),
            rest: transform(random, 0.2),
            inverse_bind: Affine3A::IDENTITY,
        };
        let skeleton = Skeleton::new((0..joints).map(|i| joint(i, random)).collect()).unwrap();
        let clips = (0..5).map(|_| {
            let most = random.u8(1..6);
            let frames = ClipFrames {
                joints: skeleton.names().clone(),
                animated: (0..joints).map(|_| random.u8(..5) < most).collect(),
                transforms: (0..joints).map(|_| transform(random, 0.2)).collect(),
            };
            SkeletalClip::new(ClipTiming::new("clip", 1.0), &frames).unwrap()
        });
        let clips = clips.collect();
        let masks = (0..2).map(|_| {
            Mask::from_weights(
                (0..joints).map(|_| [0.0, 1.0, random.f32() * 0.9 + 0.1][random.usize(..3)]),
            )
        });
        let masks = masks.collect();
        let mut parts: Vec<Part> = Vec::new();
        let part = |random: &mut Rng| Part {
            clip: random.usize(..5),
            weight: random.f32(),
            mask: (random.u8(..4) == 0).then(|| random.usize(..2)),
            set: 0,
            base: false,
            high: false,
            overrides: false,
        };
        for set in 1..random.u32(2..6) {
            let (kind, mask) = (random.u8(..6), part(random).mask);
            // A blend space's clips are next to each other, and share the track's weight.
            let count = if kind < 4 { random.usize(1..4) } else { 1 };
            let shares: Vec<f32> = (0..count).map(|_| random.f32() + 0.01).collect();
            let (whole, total) = (random.f32() * 0.9 + 0.1, shares.iter().sum::<f32>());
            for share in shares {
                let part = Part {
                    set,
                    mask,
                    weight: whole * share / total,
                    ..part(random)
                };
                let part = Part {
                    high: kind == 1 || kind == 4,
                    overrides: kind == 2 || kind == 5,
                    ..part
                };
                parts.push(if kind > 3 {
                    Part { set: 0, ..part }
                } else {
                    part
                });
            }
            // The tracks of the base come between others.
            let count = if random.bool() { random.usize(1..4) } else { 0 };
            parts.extend((0..count).map(|_| Part {
                base: true,
                ..part(random)
            }));
        }
        let whole: f32 = parts
            .iter()
            .filter(|part| part.base)
            .map(|part| part.weight)
            .sum();
        if random.bool() && whole > 0.0 {
            parts
                .iter_mut()
                .filter(|part| part.base)
                .for_each(|part| part.weight /= whole);
        }
        Self {
            skeleton,
            clips,
            masks,
            parts,
            blend: random.f32(),
        }
    }

    fn layers(&self) -> Vec<ClipLayer<'_>> {
        let layer = |part: &Part| ClipLayer {
            weight: part.weight,
            set: part.set,
            mask: part.mask.map(|mask| &self.masks[mask]),
            priority: if part.high {
                TrackPriority::High
            } else {
                TrackPriority::Low
            },
            mode: if part.overrides {
                BlendMode::Override
            } else {
                BlendMode::Blend
            },
            base: part.base,
            ..ClipLayer::new(&self.clips[part.clip], 0.0)
        };
        self.parts.iter().map(layer).collect()
    }

    fn rest(&self, joint: usize) -> Pose {
        Pose::of(self.skeleton.rest_of(joint as u16))
    }

    /// The part's weight at a joint, and its pose if it moves the joint.
    fn at(&self, part: &Part, joint: usize) -> (f64, Option<Pose>) {
        let mask = part
            .mask
            .map_or(1.0, |mask| f64::from(self.masks[mask].get(joint)));
        let clip = &self.clips[part.clip];
        (
            f64::from(part.weight) * mask,
            clip.animates(joint)
                .then(|| Pose::of(clip.transform_at(joint, 0))),
        )
    }

    /// A group's mean and weight at a joint, as far as it reaches it.
    fn group(&self, high: bool, joint: usize) -> Option<(f64, Pose)> {
        let ours: Vec<&Part> = self
            .parts
            .iter()
            .filter(|part| part.high == high && !part.overrides)
            .collect();
        let moving = |part: &Part| {
            let (weight, pose) = self.at(part, joint);
            if pose.is_some() { weight } else { 0.0 }
        };
        let total: f64 = ours.iter().map(|part| moving(part)).sum();
        if total <= 0.0 {
            return None;
        }
        let mut parts = Vec::new();
        let mut done = vec![false; ours.len()];
        for first in 0..ours.len() {
            if done[first] {
                continue;
            }
            let together = |at: &usize| {
                let (a, b) = (ours[first], ours[*at]);
                *at == first
                    || (a.base && b.base)
                    || (!a.base && !b.base && a.set != 0 && a.set == b.set)
            };
            let set: Vec<usize> = (0..ours.len()).filter(together).collect();
            set.iter().for_each(|at| done[*at] = true);
            let moved: f64 = set.iter().map(|at| moving(ours[*at])).sum();
            // Clips that don't move the joint, and what a base lacks.
            let mut resting: f64 = set
                .iter()
                .map(|at| self.at(ours[*at], joint).0 - moving(ours[*at]))
                .sum();
            if ours[first].base {
                let whole: f64 = set.iter().map(|at| f64::from(ours[*at].weight)).sum();
                resting = whole.max(1.0) - moved;
            } else if ours[first].set == 0 {
                resting = 0.0;
            }
            let resting = resting.max(0.0);
            let scale = if moved > 0.0 {
                moved / (moved + resting)
            } else {
                0.0
            };
            parts.push((resting * scale, self.rest(joint)));
            for at in set {
                parts.extend(
                    self.at(ours[at], joint)
                        .1
                        .map(|pose| (self.at(ours[at], joint).0 * scale, pose)),
                );
            }
        }
        Some((total.min(1.0), Pose::mean(&parts)))
    }

    fn pose(&self, joint: usize) -> Pose {
        let blend = f64::from(self.blend);
        let mut pose = match (self.group(false, joint), self.group(true, joint)) {
            (Some((l, low)), Some((h, high))) => Pose::mean(&[
                (l * (1.0 - blend * h), low),
                (h * (1.0 - (1.0 - blend) * l), high),
            ]),
            (Some((_, only)), None) | (None, Some((_, only))) => only,
            (None, None) => self.rest(joint),
        };
        let mut at = 0;
        while at < self.parts.len() {
            let part = self.parts[at];
            let together = |other: &&Part| {
                part.overrides && other.overrides && part.set != 0 && other.set == part.set
            };
            let count = self.parts[at..].iter().take_while(together).count().max(1);
            if part.overrides {
                let set = self.parts[at..at + count]
                    .iter()
                    .map(|part| self.at(part, joint));
                let over: Vec<_> = set
                    .filter_map(|(weight, pose)| Some((weight, pose?)))
                    .collect();
                let whole: f64 = over.iter().map(|(weight, _)| weight).sum();
                let below = (1.0 - whole, pose);
                pose = Pose::mean(&[&[below], &over[..]].concat());
            }
            at += count;
        }
        pose
    }
}

fn run(scene: &Scene, layers: &[ClipLayer]) -> Scratch {
    let mut scratch = Scratch::default();
    Evaluate {
        priority_blend: scene.blend,
        ..Evaluate::new(&scene.skeleton, layers)
    }
    .run(&mut scratch);
    scratch
}

fn apart(ours: JointTransform, pose: Pose) -> f64 {
    let rotation = ours.rotation.as_dquat();
    let turned = (rotation - pose.rotation)
        .length()
        .min((rotation + pose.rotation).length());
    let moved = ours.translation.as_dvec3().distance(pose.translation);
    turned
        .max(moved)
        .max(ours.scale.as_dvec3().distance(pose.scale))
}

#[test]
fn layers_that_stand_together_blend_by_their_rule() {
    let mut random = Rng::with_seed(10);
    let (mut most, mut joints) = (0.0_f64, 0);
    for round in 0..programs(4000) {
        let scene = Scene::random(&mut random);
        let layers = scene.layers();
        let scratch = run(&scene, &layers);
        for joint in 0..scene.skeleton.len() {
            let off = apart(scratch.joint(joint).unwrap(), scene.pose(joint));
            assert!(off < 2e-6, "scene {round}, joint {joint}: off by {off:e}");
            (most, joints) = (most.max(off), joints + 1);
        }
    }
    println!("{joints} joints, off by {most:e} at most");
}

#[test]
fn the_shares_of_layers_and_rest_make_up_the_pose() {
    let mut random = Rng::with_seed(11);
    for _ in 0..programs(1000) {
        let scene = Scene::random(&mut random);
        let layers = scene.layers();
        let rest = scene.skeleton.rest();
        let mix = Mix {
            layers: &layers,
            priority_blend: scene.blend,
            rest,
            unit_scale: scene.skeleton.unit_scale(),
        };
        for joint in 0..scene.skeleton.len() {
            let shares = mix.shares(joint);
            let whole: f64 = shares.iter().map(|share| f64::from(*share)).sum();
            assert!((-1e-6..1.0 + 1e-6).contains(&whole), "{shares:?}");
            let mut sum = scene.rest(joint).translation * (1.0 - whole);
            for (part, share) in scene.parts.iter().zip(shares) {
                let pose = scene.at(part, joint).1;
                assert!(pose.is_some() || share == 0.0);
                sum += pose.map_or(DVec3::ZERO, |pose| pose.translation * f64::from(share));
            }
            assert!(sum.distance(scene.pose(joint).translation) < 2e-6);
        }
    }
}

#[test]
fn the_order_of_an_overriding_spaces_points_changes_no_pose() {
    let mut random = Rng::with_seed(12);
    let mut permuted = 0;
    for _ in 0..programs(3000) {
        let scene = Scene::random(&mut random);
        let mut other = Scene {
            parts: scene.parts.clone(),
            ..Scene {
                clips: scene.clips.clone(),
                ..Scene::random(&mut random)
            }
        };
        (other.skeleton, other.masks, other.blend) =
            (scene.skeleton.clone(), scene.masks.clone(), scene.blend);
        for set in other
            .parts
            .chunk_by_mut(|a, b| a.set != 0 && a.set == b.set && !a.base && !b.base)
        {
            permuted += usize::from(set.len() > 1 && set[0].overrides);
            random.shuffle(set);
        }
        let [a, b] = [&scene, &other].map(|scene| run(scene, &scene.layers()));
        for joint in 0..scene.skeleton.len() {
            assert!(apart(a.joint(joint).unwrap(), Pose::of(b.joint(joint).unwrap())) < 1e-6);
        }
    }
    assert!(permuted > 300, "{permuted}");
}

#[test]
fn a_layer_that_leaves_a_set_takes_its_pose_along_bit_by_bit() {
    let mut random = Rng::with_seed(13);
    for _ in 0..programs(3000) {
        let mut scene = Scene::random(&mut random);
        let stands_with = |part: &Part| {
            let others = scene
                .parts
                .iter()
                .filter(|other| !other.base && part.set > 0 && other.set == part.set);
            part.base || others.count() > 1
        };
        let sets: Vec<usize> = (0..scene.parts.len())
            .filter(|at| stands_with(&scene.parts[*at]))
            .collect();
        let Some(&leaving) = sets.get(random.usize(..sets.len().max(1))) else {
            continue;
        };
        scene.parts[leaving].weight = 1e-5;
        let before = run(&scene, &scene.layers());
        scene.parts.remove(leaving);
        let after = run(&scene, &scene.layers());
        for joint in 0..scene.skeleton.len() {
            let jump = apart(
                before.joint(joint).unwrap(),
                Pose::of(after.joint(joint).unwrap()),
            );
            // Poses are up to 1 apart, and a weight counts by what it is of the group's.
            assert!(jump < 0.02, "{jump}");
        }
    }
}
