//! The pose jobs against a plain reference in double precision, over random skeletons, clips,
//! weights and masks; and what must hold for every input: finite poses, unit rotations, the same
//! result for scaled weights and reordered layers, the same bits in every run.

mod blend_rules;
mod same_bits;

use bevy_marionette::controller::{BlendMode, TrackPriority};
use bevy_marionette::{
    internals::model::{CombinedJoints, SoaTransform},
    model::{
        ClipFrames, ClipTiming, Influences, Joint, JointIndex, JointTransform, SkeletalClip,
        Skeleton, SkinPart,
    },
};
use bevy_marionette::{
    internals::pose::{ClipLayer, Evaluate, Mix, MixScratch, Palette, Scratch, SkinVertices},
    pose::Mask,
};
use glam::{Affine3A, DAffine3, DQuat, DVec3, Mat4, Quat, Vec3, Vec3A};
use proptest::prelude::*;

// Largest errors allowed, for characters about as large as 1 and turns of under a radian between
// layers. An f32 has a relative error of 6e-8 an operation.
const TRANSLATION: f64 = 1e-6;
const ROTATION: f64 = 1e-6;
const SCALE: f64 = 1e-6;
/// For matrices, of a chain of up to 12 joints.
const MATRIX: f64 = 1e-5;

// ---- the reference -------------------------------------------------------------------------------

#[derive(Clone, Copy, Debug)]
struct Reference {
    translation: DVec3,
    rotation: DQuat,
    scale: DVec3,
}

impl Reference {
    fn of(t: JointTransform) -> Self {
        let rotation = t.rotation.as_dquat().normalize();
        Self {
            translation: t.translation.as_dvec3(),
            rotation,
            scale: t.scale.as_dvec3(),
        }
    }

    fn matrix(self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// Weighted mean: straight, and n-way nlerp in the hemisphere of the running sum.
    fn mean(parts: &[(f64, Self)]) -> Self {
        let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
        let mut sum = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        for (weight, part) in parts {
            let sign = if sum.dot(part.rotation) < 0.0 {
                -1.0
            } else {
                1.0
            };
            sum += part.rotation * (weight * sign);
        }
        let mean =
            |value: fn(&Self) -> DVec3| parts.iter().map(|(w, p)| value(p) * (*w / total)).sum();
        Self {
            translation: mean(|p| p.translation),
            rotation: sum.normalize(),
            scale: mean(|p| p.scale),
        }
    }

    fn sample(clip: &SkeletalClip, joint: usize, time: f64) -> Self {
        let last = clip.frame_count() - 1;
        let length = clip.timing.duration;
        let place = if length > 0.0 {
            time.clamp(0.0, length) / length * last as f64
        } else {
            0.0
        };
        let first = (place.floor() as usize).min(last);
        let second = (first + 1).min(last);
        let (a, b) = (
            Self::of(clip.transform_at(joint, first)),
            Self::of(clip.transform_at(joint, second)),
        );
        let t = place - first as f64;
        Self {
            translation: a.translation.lerp(b.translation, t),
            rotation: (a.rotation * (1.0 - t) + b.rotation * t).normalize(),
            scale: a.scale.lerp(b.scale, t),
        }
    }

    /// Rule 2 of the D3DX blend for one joint, then additive and overriding layers.
    fn mix(skeleton: &Skeleton, layers: &[ClipLayer], blend: f64, joint: usize) -> Self {
        let share = |layer: &ClipLayer| {
            let mask = layer.mask.map_or(1.0, |mask| f64::from(mask.get(joint)));
            if layer.clip.animates(joint) {
                f64::from(layer.weight) * mask
            } else {
                0.0
            }
        };
        // The mean, and how much of its part of the priority blend it takes up.
        let group = |priority| {
            let in_group = |l: &&ClipLayer| {
                l.mode == BlendMode::Blend && l.priority == priority && share(l) > 0.0
            };
            let part = |l: &ClipLayer| (share(l), Self::sample(l.clip, joint, l.time));
            let parts: Vec<_> = layers.iter().filter(in_group).map(part).collect();
            let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
            (!parts.is_empty()).then(|| (total.min(1.0), Self::mean(&parts)))
        };
        let mut pose = match (group(TrackPriority::Low), group(TrackPriority::High)) {
            (Some((l, low)), Some((h, high))) => Self::mean(&[
                (l * (1.0 - blend * h), low),
                (h * (1.0 - (1.0 - blend) * l), high),
            ]),
            (Some((_, only)), None) | (None, Some((_, only))) => only,
            (None, None) => Self::of(skeleton.rest_of(joint as u16)),
        };
        for layer in layers {
            let (weight, mut over) = (share(layer), Self::sample(layer.clip, joint, layer.time));
            if layer.mode == BlendMode::Additive {
                if !layer.clip.additive {
                    let rest = Self::of(skeleton.rest_of(joint as JointIndex));
                    over.translation -= rest.translation;
                    over.rotation = rest.rotation.inverse() * over.rotation;
                    over.scale /= rest.scale;
                }
                let short = if over.rotation.w < 0.0 {
                    -over.rotation
                } else {
                    over.rotation
                };
                let turn = (DQuat::IDENTITY * (1.0 - weight) + short * weight).normalize();
                pose.translation += over.translation * weight;
                pose.rotation *= turn;
                pose.scale *= DVec3::ONE + (over.scale - DVec3::ONE) * weight;
            } else if layer.mode == BlendMode::Override && weight > 0.0 {
                let weight = weight.min(1.0);
                pose = Self::mean(&[(1.0 - weight, pose), (weight, over)]);
            }
        }
        pose
    }

    fn model(skeleton: &Skeleton, local: &[Self]) -> Vec<DAffine3> {
        let mut model: Vec<DAffine3> = Vec::new();
        for (joint, parent) in skeleton.parents().iter().enumerate() {
            let above = parent.map_or(DAffine3::IDENTITY, |parent| model[usize::from(parent)]);
            model.push(above * local[joint].matrix());
        }
        model
    }
}

fn assert_near(
    ours: JointTransform,
    reference: Reference,
    slack: f64,
) -> Result<(), TestCaseError> {
    let rotation = ours.rotation.as_dquat();
    let turned = (rotation - reference.rotation)
        .length()
        .min((rotation + reference.rotation).length());
    let moved = ours.translation.as_dvec3().distance(reference.translation);
    let scaled = ours.scale.as_dvec3().distance(reference.scale);
    prop_assert!(
        moved <= TRANSLATION * slack,
        "translation off by {moved:e}: {ours:?} {reference:?}"
    );
    prop_assert!(
        turned <= ROTATION * slack,
        "rotation off by {turned:e}: {ours:?} {reference:?}"
    );
    prop_assert!(
        scaled <= SCALE * slack,
        "scale off by {scaled:e}: {ours:?} {reference:?}"
    );
    Ok(())
}

// ---- random scenes -------------------------------------------------------------------------------

/// A skeleton, clips for it and layers that play them.
#[derive(Debug)]
struct Scene {
    skeleton: Skeleton,
    clips: Vec<SkeletalClip>,
    masks: Vec<Mask>,
    tracks: Vec<AnimationTrack>,
    blend: f32,
}

#[derive(Clone, Debug)]
struct AnimationTrack {
    clip: usize,
    time: f64,
    weight: f32,
    mask: Option<usize>,
    priority: TrackPriority,
    mode: BlendMode,
}

impl Scene {
    fn layers(&self) -> Vec<ClipLayer<'_>> {
        let layer = |t: &AnimationTrack| ClipLayer {
            clip: &self.clips[t.clip],
            time: t.time,
            weight: t.weight,
            set: 0,
            mask: t.mask.map(|mask| &self.masks[mask]),
            priority: t.priority,
            mode: t.mode,
            base: false,
        };
        self.tracks.iter().map(layer).collect()
    }

    fn evaluate(&self, layers: &[ClipLayer]) -> Scratch {
        let mut scratch = Scratch::default();
        Evaluate {
            priority_blend: self.blend,
            ..Evaluate::new(&self.skeleton, layers)
        }
        .run(&mut scratch);
        scratch
    }

    fn pose(&self, layers: &[ClipLayer]) -> Vec<JointTransform> {
        let scratch = self.evaluate(layers);
        (0..self.skeleton.len())
            .map(|joint| scratch.joint(joint).unwrap())
            .collect()
    }
}

/// How wild a scene is.
#[derive(Clone, Copy, Debug)]
struct Ranges {
    /// Largest turn of a clip from the rest pose, as the length of the added x, y, z of its quaternion.
    turn: f32,
    scaled: bool,
    modes: bool,
}

const TAME: Ranges = Ranges {
    turn: 0.25,
    scaled: true,
    modes: true,
};

fn vector(size: f32) -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(-size..=size).prop_map(Vec3::from_array)
}

/// A rotation near none, of either sign.
fn turn(size: f32) -> impl Strategy<Value = Quat> {
    (vector(size), any::<bool>()).prop_map(|(v, negative)| {
        let q = Quat::from_xyzw(v.x, v.y, v.z, 1.0).normalize();
        if negative { -q } else { q }
    })
}

fn transform(size: f32, turned: f32, scaled: bool) -> impl Strategy<Value = JointTransform> {
    let scale = vector(if scaled { 0.3 } else { 0.0 }).prop_map(|v| Vec3::ONE + v);
    (vector(size), turn(turned), scale).prop_map(|(translation, rotation, scale)| JointTransform {
        translation,
        rotation,
        scale,
    })
}

fn skeleton(scaled: bool) -> impl Strategy<Value = Skeleton> {
    // Scale grows along a chain; the bound on matrices is for characters of moderate size.
    let joint = (
        any::<prop::sample::Index>(),
        transform(0.1, 2.0, scaled),
        transform(0.1, 2.0, false),
    );
    prop::collection::vec(joint, 1..12).prop_map(|joints| {
        let make = |(i, (parent, rest, bind)): (
            usize,
            (prop::sample::Index, JointTransform, JointTransform),
        )| Joint {
            name: format!("joint {i}").into(),
            parent: (i > 0).then(|| parent.index(i) as JointIndex),
            rest,
            inverse_bind: bind.to_affine(),
        };
        Skeleton::new(joints.into_iter().enumerate().map(make).collect()).unwrap()
    })
}

fn clip(skeleton: Skeleton, ranges: Ranges) -> impl Strategy<Value = SkeletalClip> {
    let joints = skeleton.len();
    let frame = prop::collection::vec(transform(0.1, ranges.turn, ranges.scaled), joints);
    // Joints that keep still are stored once.
    let kinds = prop::collection::vec(0..4_u8, joints);
    (prop::collection::vec(frame, 1..5), kinds, 0.0..3.0_f64).prop_map(
        move |(frames, kinds, duration)| {
            let first = frames[0].clone();
            let place = |joint: usize, change: &JointTransform| {
                let change = if kinds[joint] == 1 {
                    &first[joint]
                } else {
                    change
                };
                let rest = skeleton.rest_of(joint as u16);
                JointTransform {
                    translation: rest.translation + change.translation,
                    rotation: rest.rotation * change.rotation,
                    scale: rest.scale * change.scale,
                }
            };
            let place_frame = |frame: &Vec<JointTransform>| {
                frame
                    .iter()
                    .enumerate()
                    .map(|(joint, change)| place(joint, change))
                    .collect::<Vec<_>>()
            };
            let transforms = frames.iter().flat_map(place_frame).collect();
            let animated = kinds.iter().map(|&kind| kind != 0).collect();
            let frames = ClipFrames {
                joints: skeleton.names().clone(),
                animated,
                transforms,
            };
            SkeletalClip::new(ClipTiming::new("clip", duration), &frames).unwrap()
        },
    )
}

fn mask(joints: usize) -> impl Strategy<Value = Mask> {
    let share = prop_oneof![Just(0.0_f32), Just(1.0_f32), 0.01..=1.0_f32];
    prop::collection::vec(share, joints).prop_map(Mask::from_weights)
}

fn track(clips: usize, modes: bool) -> impl Strategy<Value = AnimationTrack> {
    let priority = prop_oneof![Just(TrackPriority::Low), Just(TrackPriority::High)];
    let overlay = if modes { 1 } else { 0 };
    let mode = prop_oneof![
        4 => Just(BlendMode::Blend),
        overlay => Just(BlendMode::Additive),
        overlay => Just(BlendMode::Override),
    ];
    let weight = prop_oneof![1 => Just(0.0_f32), 6 => 0.01..=1.0_f32];
    (
        0..clips,
        -0.5..3.5_f64,
        weight,
        prop::option::of(0..3_usize),
        priority,
        mode,
    )
        .prop_map(
            |(clip, time, weight, mask, priority, mode)| AnimationTrack {
                clip,
                time,
                weight,
                mask,
                priority,
                mode,
            },
        )
}

fn scene(ranges: Ranges) -> impl Strategy<Value = Scene> {
    (any::<bool>(), Just(ranges)).prop_flat_map(|(scaled, ranges)| {
        let ranges = Ranges {
            scaled: ranges.scaled && scaled,
            ..ranges
        };
        skeleton(ranges.scaled).prop_flat_map(move |skeleton| {
            let clips = prop::collection::vec(clip(skeleton.clone(), ranges), 3);
            let masks = prop::collection::vec(mask(skeleton.len()), 3);
            let tracks = prop::collection::vec(track(3, ranges.modes), 0..6);
            (Just(skeleton), clips, masks, tracks, 0.0..=1.0_f32).prop_map(
                |(skeleton, clips, masks, tracks, blend)| Scene {
                    skeleton,
                    clips,
                    masks,
                    tracks,
                    blend,
                },
            )
        })
    })
}

// ---- against the reference -----------------------------------------------------------------------

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn poses_matrices_palettes_and_vertices_are_those_of_the_reference(
        scene in scene(TAME),
        points in prop::collection::vec(vector(1.0), 8),
    ) {
        let (skeleton, layers) = (&scene.skeleton, scene.layers());
        let scratch = scene.evaluate(&layers);
        let joints = skeleton.len();
        let reference: Vec<_> =
            (0..joints).map(|joint| Reference::mix(skeleton, &layers, f64::from(scene.blend), joint)).collect();
        for (joint, reference) in reference.iter().enumerate() {
            assert_near(scratch.joint(joint).unwrap(), *reference, 1.0)?;
        }
        // Scales multiply along a chain, and errors with them.
        let model = Reference::model(skeleton, &reference);
        let size = |m: &DAffine3| m.matrix3.to_cols_array().iter().fold(1.0_f64, |most, x| most.max(x.abs()));
        for (ours, reference) in scratch.model().iter().zip(&model) {
            let ours = ours.as_daffine3();
            prop_assert!(ours.abs_diff_eq(*reference, MATRIX * size(reference)), "{ours:?} {reference:?}");
        }

        let half_turn = Quat::from_xyzw(0.6, 0.0, 0.8, 0.0);
        let world = Affine3A::from_scale_rotation_translation(Vec3::splat(1.5), half_turn, Vec3::ONE);
        let palette: Vec<JointIndex> = (0..joints as JointIndex).rev().collect();
        let influences = |i: usize| Influences {
            palette: [i % joints, (i + 1) % joints, 0, 0].map(|slot| slot as u16),
            weights: [0.75, 0.25, 0.0, 0.0],
        };
        let part = SkinPart {
            influences: (0..points.len()).map(influences).collect(),
            positions: points,
            palette,
            ..SkinPart::default()
        };
        let inverse_bind = skeleton.inverse_bind();
        let posed = |world: Affine3A, scratch: &Scratch| {
            let mut matrices = vec![Mat4::NAN; joints];
            let (model, remap, combined) = (scratch.model(), &part.palette, &part.combined_joints);
            Palette { world, model, inverse_bind, remap, combined }.run(&mut matrices);
            let mut positions = vec![Vec3::NAN; part.positions.len()];
            SkinVertices { part: &part, palette: &matrices }.positions(&mut positions);
            positions
        };
        // As for a character whose pose is only drawn: its roots rotated and scaled, then its palette moved.
        let mut drawn = Scratch::default();
        let root = Affine3A { translation: Vec3A::ZERO, ..world };
        Evaluate { priority_blend: scene.blend, ..Evaluate::new(skeleton, &layers) }.run_clips(Some(&root), &mut drawn);
        let both = posed(world, &scratch).into_iter().zip(posed(Affine3A::from_translation(Vec3::ONE), &drawn));
        for ((position, influences), (ours, drawn)) in part.positions.iter().zip(&part.influences).zip(both) {
            let mut expected = DVec3::ZERO;
            let mut largest = 1.0_f64;
            for (slot, weight) in influences.palette.iter().zip(influences.weights) {
                let joint = usize::from(part.palette[usize::from(*slot)]);
                let point = inverse_bind[joint].as_daffine3().transform_point3(position.as_dvec3());
                let moved = world.as_daffine3().transform_point3(model[joint].transform_point3(point));
                expected += moved * f64::from(weight);
                largest = largest.max(size(&model[joint]));
            }
            for ours in [ours, drawn] {
                prop_assert!(ours.as_dvec3().distance(expected) <= 3.0 * MATRIX * largest, "{ours} {expected}");
            }
        }
    }

    #[test]
    fn weights_of_one_priority_scaled_by_a_constant_change_no_pose(
        scene in scene(Ranges { modes: false, ..TAME }),
        factor in 1e-30..1e30_f32,
    ) {
        let mut layers = scene.layers();
        layers.iter_mut().for_each(|layer| layer.priority = TrackPriority::High);
        let scaled = |factor: f32| -> Vec<ClipLayer> {
            layers.iter().map(|layer| ClipLayer { weight: layer.weight * factor, ..*layer }).collect()
        };
        let pose = scene.pose(&layers);
        for (ours, before) in scene.pose(&scaled(factor)).into_iter().zip(&pose) {
            assert_near(ours, Reference::of(*before), 1.0)?;
        }
        // A power of two loses nothing.
        prop_assert_eq!(scene.pose(&scaled(2.0_f32.powi(40))), pose);
    }

    #[test]
    fn the_order_of_blended_layers_changes_no_pose(
        scene in scene(Ranges { modes: false, ..TAME }),
        turns in 0..6_usize,
    ) {
        let layers = scene.layers();
        let mut reordered = layers.clone();
        reordered.reverse();
        let middle = turns.min(layers.len());
        reordered.rotate_left(middle);
        let pose = scene.pose(&layers);
        for (ours, before) in scene.pose(&reordered).into_iter().zip(&pose) {
            assert_near(ours, Reference::of(*before), 1.0)?;
        }
    }

    #[test]
    fn the_order_of_two_layers_changes_no_pose_however_far_apart(
        a in turn(1e3),
        b in turn(1e3),
        weight in 0.1..10.0_f32,
    ) {
        // Half a turn apart there are two ways between, equally short.
        prop_assume!(a.dot(b).abs() > 1e-5);
        let rest = [SoaTransform::IDENTITY];
        let still = |rotation: Quat| {
            let transforms = vec![JointTransform::new(Vec3::ZERO, rotation)];
            let frames = ClipFrames { joints: ["joint".into()].into(), animated: vec![], transforms };
            SkeletalClip::new(ClipTiming::new("still", 0.0), &frames).unwrap()
        };
        let clips = [still(a), still(b)];
        let [a, b] = [ClipLayer::new(&clips[0], 0.0), ClipLayer { weight, ..ClipLayer::new(&clips[1], 0.0) }];
        let [one, other] = [[a, b], [b, a]].map(|layers| {
            let mut out = rest;
            Mix { layers: &layers, priority_blend: 0.5, rest: &rest, unit_scale: true }
                .run(&mut MixScratch::default(), &mut out);
            out[0].get(0)
        });
        assert_near(one, Reference::of(other), 4.0)?;
    }

    #[test]
    fn poses_are_finite_and_rotations_of_unit_length_whatever_the_weights_and_times(
        scene in scene(Ranges { turn: 1e3, ..TAME }),
        weights in prop::collection::vec(any::<f32>(), 6),
        times in prop::collection::vec(any::<f64>(), 6),
        shares in prop::collection::vec(any::<f32>(), 12),
        blend in any::<f32>(),
    ) {
        let mask = Mask::from_weights(shares.into_iter().take(scene.skeleton.len()));
        let mut layers = scene.layers();
        for (i, layer) in layers.iter_mut().enumerate() {
            (layer.weight, layer.time) = (weights[i], times[i]);
            layer.mask = layer.mask.map(|_| &mask);
        }
        let scene = Scene { blend, ..scene_of(&scene) };
        let scratch = scene.evaluate(&layers);
        for joint in 0..scene.skeleton.len() {
            let transform = scratch.joint(joint).unwrap();
            prop_assert!(transform.is_finite(), "{transform:?}");
            prop_assert!((transform.rotation.length() - 1.0).abs() < 1e-6, "{transform:?}");
        }
        prop_assert!(scratch.model().iter().all(|matrix| matrix.is_finite()));
    }
}

/// The skeleton of a scene alone.
fn scene_of(scene: &Scene) -> Scene {
    Scene {
        skeleton: scene.skeleton.clone(),
        clips: vec![],
        masks: vec![],
        tracks: vec![],
        blend: 0.5,
    }
}
