//! Morph weights in poses: the same rules as for joints, at the same times.

#[path = "morphs/life.rs"]
mod life;
#[path = "morphs/reference.rs"]
mod reference;

use bevy_marionette::{
    controller::{AnimationController, BlendMode, Clips, TrackPriority, Transition},
    internals::controller::SwitchLayer,
};
use bevy_marionette::{
    internals::model::{MorphDelta, MorphFrames, MorphTarget},
    model::{
        ClipFrames, ClipTiming, Influences, Joint, JointTransform, Morphs, SkeletalClip, Skeleton,
        SkinPart,
    },
};
use bevy_marionette::{
    internals::pose::{
        BlendReach, ClipLayer, Compress, Evaluate, Inertia, InertiaScratch, MorphOverride,
        MorphScratch, MorphVertices, PartBounds, Scratch,
    },
    pose::Mask,
};
use fastrand::Rng;
use glam::{Affine3A, Quat, Vec3};

const MORPHS: usize = 13;

/// As many joints as morph targets, with the weights at rest as translations along x.
fn skeleton(random: &mut Rng) -> Skeleton {
    let rest: Vec<f32> = (0..MORPHS).map(|_| random.f32()).collect();
    let joint = |i: usize| Joint {
        name: format!("j{i}").into(),
        parent: None,
        rest: JointTransform::new(Vec3::X * rest[i], Quat::IDENTITY),
        inverse_bind: Affine3A::IDENTITY,
    };
    let morphs = (0..MORPHS).map(|i| (format!("m{i}").into(), rest[i]));
    Skeleton::new((0..MORPHS).map(joint).collect())
        .unwrap()
        .with_morphs(Morphs::new(morphs))
}

fn names(skeleton: &Skeleton) -> std::sync::Arc<[std::sync::Arc<str>]> {
    skeleton.morphs().names().into()
}

/// A clip whose joints move along x as its weights do.
fn clip(skeleton: &Skeleton, random: &mut Rng) -> SkeletalClip {
    let whole = random.bool();
    let frames = 1 + random.usize(..4);
    let animated: Vec<bool> = (0..MORPHS).map(|_| whole || random.u8(..3) > 0).collect();
    let weights: Vec<f32> = (0..frames * MORPHS)
        .map(|_| random.f32() * 2.0 - 0.5)
        .collect();
    let transform = |&weight: &f32| JointTransform::new(Vec3::X * weight, Quat::IDENTITY);
    let joints = ClipFrames {
        joints: skeleton.names().clone(),
        animated: animated.clone(),
        transforms: weights.iter().map(transform).collect(),
    };
    let times: Vec<f64> = match random.bool() {
        true if frames > 2 => (0..frames)
            .map(|i| (i as f64 / (frames - 1) as f64).powi(2))
            .collect(),
        _ => Vec::new(),
    };
    let timing = ClipTiming::new("clip", 1.0);
    let clip = match &times[..] {
        [] => SkeletalClip::new(timing, &joints),
        times => SkeletalClip::at_times(timing, &joints, times),
    };
    let morphs = MorphFrames {
        names: names(skeleton),
        animated,
        weights,
        times,
    };
    let mut clip = clip.unwrap().with_morphs(&morphs).unwrap();
    clip.additive = random.u8(..4) == 0;
    clip
}

fn layers<'a>(
    clips: &'a [SkeletalClip],
    masks: &'a [Mask],
    random: &mut Rng,
) -> Vec<ClipLayer<'a>> {
    use BlendMode::{Additive, Blend, Override};
    let layer = |clip: &'a SkeletalClip, random: &mut Rng| ClipLayer {
        weight: [random.f32(), 1.0, 0.0][random.usize(..3)],
        mask: masks.get(random.usize(..2 * masks.len())),
        priority: [TrackPriority::Low, TrackPriority::High][random.usize(..2)],
        mode: [Blend, Blend, Blend, Additive, Override][random.usize(..5)],
        set: random.u32(..3),
        base: random.bool(),
        ..ClipLayer::new(clip, random.f64() * 1.2 - 0.1)
    };
    clips[..random.usize(..=clips.len())]
        .iter()
        .map(|clip| layer(clip, random))
        .collect()
}

#[test]
fn weights_are_blended_bit_for_bit_as_translations_are() {
    let mut random = Rng::with_seed(3);
    let (mut scratch, mut morphs) = (Scratch::default(), MorphScratch::default());
    let mut moved = 0;
    for _ in 0..3000 {
        let skeleton = skeleton(&mut random);
        let clips = [0; 5].map(|_| clip(&skeleton, &mut random));
        let weights: Vec<f32> = (0..MORPHS)
            .map(|_| [0.0, 1.0, random.f32()][random.usize(..3)])
            .collect();
        let masks = [Mask::from_weights(weights.clone()).with_morphs(weights)];
        let layers = layers(&clips, &masks, &mut random);
        let job = Evaluate {
            priority_blend: random.f32(),
            ..Evaluate::new(&skeleton, &layers)
        };
        job.run(&mut scratch);
        let weights = job.run_morphs(&mut morphs);
        moved += usize::from(weights.is_some());
        let weights = weights.unwrap_or(skeleton.morphs().rest());
        assert_eq!(weights.len(), MORPHS);
        for (joint, &weight) in weights.iter().enumerate() {
            let x = scratch.joint(joint).unwrap().translation.x;
            assert_eq!(
                x.to_bits(),
                weight.to_bits(),
                "{joint}: {x} {weight} {layers:?}"
            );
        }
        let shares = |joint| {
            bevy_marionette::internals::pose::Mix {
                layers: &layers,
                priority_blend: job.priority_blend,
                rest: skeleton.rest(),
                unit_scale: true,
            }
            .shares(joint)
        };
        assert_eq!(job.morph_shares(5), shares(5));
    }
    assert!(moved > 1000, "{moved}");
}

#[test]
fn nothing_is_computed_for_a_face_that_no_clip_moves() {
    let mut random = Rng::with_seed(4);
    let skeleton = skeleton(&mut random);
    let still = clip(&skeleton, &mut random)
        .with_morphs(&MorphFrames::default())
        .unwrap();
    let talking = clip(&skeleton, &mut random);
    let mut scratch = MorphScratch::default();
    let layers = [
        ClipLayer::new(&still, 0.5),
        ClipLayer {
            weight: 0.0,
            ..ClipLayer::new(&talking, 0.5)
        },
    ];
    let mut job = Evaluate::new(&skeleton, &layers);
    assert_eq!(job.run_morphs(&mut scratch), None);
    let overrides = [
        MorphOverride::set(2, 0.75),
        MorphOverride {
            weight: 0.5,
            ..MorphOverride::add(2, 0.5)
        },
        MorphOverride::set(MORPHS as u16, 1.0),
        MorphOverride::set(3, f32::NAN),
        MorphOverride {
            weight: 0.25,
            ..MorphOverride::set(4, 1.0)
        },
    ];
    job.morph_overrides = &overrides;
    let rest = skeleton.morphs().rest();
    let weights = job.run_morphs(&mut scratch).unwrap();
    assert_eq!(
        (weights[2], weights[3], weights[0]),
        (1.0, rest[3], rest[0])
    );
    assert!((weights[4] - (rest[4] * 0.75 + 0.25)).abs() < 1e-6);
    job.morph_overrides = &overrides[2..4];
    assert_eq!(job.run_morphs(&mut scratch), None);
    let bare = Skeleton::new(vec![]).unwrap();
    assert_eq!(Evaluate::new(&bare, &[]).run_morphs(&mut scratch), None);
}

#[test]
fn mirrored_clips_swap_left_and_right_and_mirrored_twice_they_are_the_same() {
    let names = [
        "smile_L", "jaw", "smile_R", "blink.L", "blink.R", "browLeft",
    ];
    let morphs = Morphs::new(names.map(|name| (name.into(), 0.0)));
    let skeleton = Skeleton::new(vec![]).unwrap().with_morphs(morphs);
    let mut random = Rng::with_seed(5);
    let frames = MorphFrames {
        names: names.iter().map(|&name| name.into()).collect(),
        animated: vec![true, true, false, true, true, true],
        weights: (0..18).map(|_| random.f32()).collect(),
        times: vec![0.0, 0.125, 1.0],
    };
    let clip = SkeletalClip::new(ClipTiming::new("talk", 1.0), &ClipFrames::default());
    let clip = clip.unwrap().with_morphs(&frames).unwrap();
    let mirrored = clip.mirrored(&skeleton).unwrap();
    assert_eq!(
        mirrored.morph_frames().animated,
        [false, true, true, true, true, true]
    );
    for (frame, given) in mirrored
        .morph_frames()
        .weights
        .chunks(6)
        .zip(frames.weights.chunks(6))
    {
        assert_eq!(
            frame,
            [0.0, given[1], given[0], given[4], given[3], given[5]]
        );
    }
    let twice = mirrored.mirrored(&skeleton).unwrap();
    assert_eq!(twice.morph_frames(), clip.morph_frames());
}

// ---- switches --------------------------------------------------------------------------------------

struct Cast {
    skeleton: Skeleton,
    clips: Vec<SkeletalClip>,
}

/// `still` moves no weights, `smile` holds the first at 1, `talk` swings.
fn cast() -> Cast {
    let morphs = Morphs::new((0..5).map(|i| (format!("m{i}").into(), 0.0)));
    let joint = Joint {
        name: "root".into(),
        parent: None,
        rest: JointTransform::IDENTITY,
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new(vec![joint]).unwrap().with_morphs(morphs);
    let joints = ClipFrames {
        joints: skeleton.names().clone(),
        animated: vec![],
        transforms: vec![JointTransform::IDENTITY; 2],
    };
    let clip = |name: &str, weight: Option<fn(f32) -> f32>| {
        let clip = SkeletalClip::new(ClipTiming::new(name, 1.0), &joints).unwrap();
        let Some(weight) = weight else { return clip };
        let weights = (0..=240).flat_map(|frame| {
            let time = frame as f32 / 240.0;
            [weight(time), 0.5 * weight(time), 0.0, 0.25, 0.0]
        });
        clip.with_morphs(&MorphFrames {
            names: skeleton.morphs().names().into(),
            animated: vec![true, true, false, true, false],
            weights: weights.collect(),
            times: vec![],
        })
        .unwrap()
    };
    let clips = vec![
        clip("still", None),
        clip("smile", Some(|_| 1.0)),
        clip(
            "talk",
            Some(|time| 0.5 - 0.5 * (time * std::f32::consts::TAU).cos()),
        ),
    ];
    Cast { skeleton, clips }
}

impl Clips for Cast {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.clips
            .iter()
            .position(|clip| &*clip.timing.name == name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        Some(&self.clips.get(index)?.timing)
    }
}

#[derive(Default)]
struct Puppet {
    controller: AnimationController,
    inertia: Inertia,
    memory: InertiaScratch,
    scratch: MorphScratch,
}

impl Puppet {
    fn advance(&mut self, cast: &Cast, dt: f64) {
        self.controller.advance(dt, cast, &mut Vec::new()).unwrap();
    }

    fn weights(&mut self, cast: &Cast) -> Vec<f32> {
        let layers: Vec<_> = self
            .controller
            .layers(cast)
            .map(|layer| layer.with(&cast.clips[layer.clip], None))
            .collect();
        let find = |layer: &SwitchLayer| {
            let clip = &cast.clips[cast.index_of(&layer.clip)?];
            Some(ClipLayer {
                weight: layer.weight,
                ..ClipLayer::new(clip, layer.time)
            })
        };
        self.inertia.follow(
            self.controller.switches(),
            &cast.skeleton,
            find,
            &mut self.memory,
        );
        let job = Evaluate {
            priority_blend: self.controller.priority_blend,
            inertia: Some(self.inertia.at(self.controller.time())),
            ..Evaluate::new(&cast.skeleton, &layers)
        };
        let weights = job.run_morphs(&mut self.scratch);
        weights.unwrap_or(cast.skeleton.morphs().rest()).to_vec()
    }
}

#[test]
fn weights_are_carried_over_switches_without_a_jump_and_reach_the_new_clip() {
    let cast = cast();
    for (from, to) in [
        ("smile", "still"),
        ("still", "smile"),
        ("talk", "smile"),
        ("smile", "talk"),
        ("talk", "still"),
    ] {
        let mut puppet = Puppet {
            controller: AnimationController::playing(from),
            ..Puppet::default()
        };
        puppet.advance(&cast, 0.3);
        let mut before = puppet.weights(&cast);
        puppet.controller.play_with(
            to,
            Transition::switch(std::time::Duration::from_millis(300)),
        );
        let step = 1.0 / 960.0;
        for _ in 0..480 {
            puppet.advance(&cast, step);
            let now = puppet.weights(&cast);
            for (morph, (before, now)) in before.iter().zip(&now).enumerate() {
                // The fastest that any clip or decay is.
                assert!(
                    (before - now).abs() < 0.03,
                    "{from} to {to}: {morph}: {before} {now}"
                );
            }
            before = now;
        }
        let mut other = Puppet {
            controller: puppet.controller.clone(),
            ..Puppet::default()
        };
        assert_eq!(
            other.weights(&cast),
            before,
            "the offsets can be made again"
        );
        let expected = |name| match name {
            "still" => 0.0,
            "smile" => 1.0,
            _ => before[0],
        };
        assert_eq!(before[0], expected(to), "{from} to {to}");
    }
}

#[test]
fn weights_do_not_depend_on_how_time_was_cut() {
    let cast = cast();
    let mut random = Rng::with_seed(6);
    for _ in 0..100 {
        let mut whole = Puppet {
            controller: AnimationController::playing("talk"),
            ..Puppet::default()
        };
        whole.advance(&cast, 0.25);
        whole.controller.play_with(
            "smile",
            Transition::switch(std::time::Duration::from_millis(400)),
        );
        let mut cut = Puppet {
            controller: whole.controller.clone(),
            ..Puppet::default()
        };
        let pieces = 1 + random.usize(..7);
        // Halves are exact.
        let length = random.u32(1..32) as f64 / 64.0;
        whole.advance(&cast, length * pieces as f64);
        for _ in 0..pieces {
            cut.advance(&cast, length);
            cut.weights(&cast);
        }
        let bits = |weights: Vec<f32>| weights.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(whole.weights(&cast)), bits(cut.weights(&cast)));
        let saved = whole.controller.clone();
        let mut back = Puppet::default();
        back.controller.restore(&saved);
        assert_eq!(
            bits(back.weights(&cast)),
            bits(whole.weights(&cast)),
            "a snapshot has it all"
        );
    }
}

// ---- vertices --------------------------------------------------------------------------------------

fn face(random: &mut Rng, skeleton: &Skeleton) -> SkinPart {
    let mut vector = |size: f32| Vec3::from_array([0; 3].map(|_| (random.f32() - 0.5) * size));
    let positions: Vec<Vec3> = (0..40).map(|_| vector(2.0)).collect();
    let normals: Vec<Vec3> = (0..40)
        .map(|_| (vector(1.0) + Vec3::Y * 0.01).normalize())
        .collect();
    let target = |morph: usize| {
        let deltas: Vec<MorphDelta> = (0..40)
            .map(|vertex| {
                if !(vertex + morph).is_multiple_of(3) {
                    return MorphDelta::default();
                }
                MorphDelta {
                    position: vector(0.2),
                    normal: vector(0.2),
                    tangent: vector(0.2),
                }
            })
            .collect();
        MorphTarget::new(morph as u16, deltas)
    };
    let morphs = (0..skeleton.morphs().len()).map(target).collect();
    SkinPart {
        tangents: normals
            .iter()
            .map(|n| n.any_orthonormal_vector().extend(-1.0))
            .collect(),
        positions,
        normals,
        morphs,
        influences: vec![
            Influences {
                palette: [0, 1, 0, 0],
                weights: [0.5, 0.5, 0.0, 0.0],
            };
            40
        ],
        palette: vec![0, 1],
        ..SkinPart::default()
    }
}

#[test]
fn vertices_move_by_the_weighted_sum_of_all_targets() {
    let mut random = Rng::with_seed(8);
    let skeleton = skeleton(&mut random);
    let part = face(&mut random, &skeleton);
    let weights: Vec<f32> = (0..MORPHS)
        .map(|i| {
            if i % 4 == 0 {
                0.0
            } else {
                random.f32() * 2.0 - 0.5
            }
        })
        .collect();
    let job = MorphVertices {
        part: &part,
        weights: &weights,
    };
    let (mut positions, mut normals, mut tangents) = (
        part.positions.clone(),
        part.normals.clone(),
        part.tangents.clone(),
    );
    job.positions(&mut positions);
    job.normals(&mut normals);
    job.tangents(&mut tangents);
    for vertex in 0..40 {
        let sum = |of: fn(MorphDelta) -> Vec3| -> glam::DVec3 {
            let moved = part.morphs.iter().map(|target| {
                of(target.delta(vertex)).as_dvec3() * f64::from(weights[usize::from(target.morph)])
            });
            moved.sum()
        };
        let position = part.positions[vertex].as_dvec3() + sum(|d| d.position);
        assert!(positions[vertex].as_dvec3().distance(position) < 1e-6);
        let normal = (part.normals[vertex].as_dvec3() + sum(|d| d.normal)).normalize();
        assert!(normals[vertex].as_dvec3().distance(normal) < 1e-6);
        let tangent = part.tangents[vertex];
        let moved = (tangent.truncate().as_dvec3() + sum(|d| d.tangent)).normalize();
        assert!(tangents[vertex].truncate().as_dvec3().distance(moved) < 1e-6);
        assert_eq!(tangents[vertex].w, tangent.w);
    }
    assert!(job.moves());
    assert!(
        !MorphVertices {
            part: &part,
            weights: &[]
        }
        .moves()
    );
}

#[test]
fn culling_boxes_hold_what_targets_move_at_every_time_of_a_clip() {
    let mut random = Rng::with_seed(9);
    for _ in 0..60 {
        let skeleton = skeleton(&mut random);
        let part = face(&mut random, &skeleton);
        let clip = clip(&skeleton, &mut random);
        let bounds = PartBounds::new(&skeleton, &part);
        let over = bounds.over_clip(&skeleton, &clip).unwrap();
        let reach =
            BlendReach::new(&skeleton, [&clip]).with_additive(clip.additive.then_some((0, 1.0)));
        let within = bounds.within(&reach).unwrap();
        let (mut scratch, mut memory) = (Scratch::default(), MorphScratch::default());
        let mut positions = part.positions.clone();
        for moment in 0..=50 {
            let layers = [ClipLayer::new(&clip, f64::from(moment) / 50.0)];
            let job = Evaluate::new(&skeleton, &layers);
            job.run(&mut scratch);
            let weights = job.run_morphs(&mut memory).unwrap();
            MorphVertices {
                part: &part,
                weights,
            }
            .positions(&mut positions);
            let posed = bounds.with_weights(weights).posed(scratch.model()).unwrap();
            for position in &positions {
                let [a, b] = [0, 1].map(|joint| scratch.model()[joint].transform_point3(*position));
                let vertex = (a + b) / 2.0;
                for (bounds, name) in [(over, "clip"), (posed, "pose"), (within, "reach")] {
                    let slack = Vec3::splat(1e-5);
                    let fits = vertex.cmpge(bounds.min - slack) & vertex.cmple(bounds.max + slack);
                    assert!(fits.all(), "{name}: {vertex} {bounds:?}");
                }
            }
        }
    }
}

#[test]
fn compressed_weights_are_smaller_and_move_vertices_no_farther_than_allowed() {
    let mut random = Rng::with_seed(10);
    let skeleton = skeleton(&mut random);
    let part = face(&mut random, &skeleton);
    let weights: Vec<f32> = (0..100 * MORPHS).map(|_| random.f32()).collect();
    let clip = SkeletalClip::new(
        ClipTiming::new("talk", 2.0),
        &ClipFrames {
            joints: skeleton.names().clone(),
            animated: vec![false; MORPHS],
            transforms: vec![JointTransform::IDENTITY; 2 * MORPHS],
        },
    );
    let frames = MorphFrames {
        names: names(&skeleton),
        animated: vec![],
        weights,
        times: vec![],
    };
    let clip = clip.unwrap().with_morphs(&frames).unwrap();
    let small = Compress::new(&skeleton, std::slice::from_ref(&part), 1e-3).run(&clip);
    let error = small.quantization().unwrap().error;
    assert!(error > 0.0 && error <= 1e-3);
    assert!(
        small.bytes() < clip.bytes() * 3 / 5,
        "{} {}",
        small.bytes(),
        clip.bytes()
    );
    let mut scratch = [MorphScratch::default(), MorphScratch::default()];
    let mut positions = [part.positions.clone(), part.positions.clone()];
    let mut worst = 0.0_f32;
    for moment in 0..=500 {
        for (at, clip) in [&clip, &small].into_iter().enumerate() {
            let layers = [ClipLayer::new(clip, f64::from(moment) / 250.0)];
            let weights = Evaluate::new(&skeleton, &layers);
            let weights = weights.run_morphs(&mut scratch[at]).unwrap();
            MorphVertices {
                part: &part,
                weights,
            }
            .positions(&mut positions[at]);
        }
        for (a, b) in positions[0].iter().zip(&positions[1]) {
            worst = worst.max(a.distance(*b));
        }
    }
    assert!(worst > 0.0 && worst <= error, "{worst} {error}");
    // Too little is allowed: they stay as they are.
    let exact = Compress::new(&skeleton, &[part], 1e-9).run(&clip);
    assert_eq!(exact.morph_frames(), clip.morph_frames());
}

#[test]
fn clips_of_other_models_move_targets_by_name() {
    let cast = cast();
    let other = Morphs::new(["x", "m1", "m0"].map(|name| (name.into(), 0.25)));
    let skeleton = cast.skeleton.clone().with_morphs(other);
    let clip = cast.clips[2].bind(&skeleton);
    let mut scratch = MorphScratch::default();
    let layers = [ClipLayer::new(&clip, 0.5)];
    let job = Evaluate::new(&skeleton, &layers);
    assert_eq!(job.run_morphs(&mut scratch).unwrap(), [0.25, 0.5, 1.0]);
}
