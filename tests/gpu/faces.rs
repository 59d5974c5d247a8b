//! Faces: the morph weights that the GPU reads.

use super::{
    arm::arm,
    harness::Harness,
    offscreen::character::{asset, parts},
};
use bevy::prelude::*;
use bevy_marionette::{
    character::{Expressions, IdleEyes},
    internals::{
        model::{MorphDelta, MorphFrames, MorphTarget},
        pose::{ClipLayer, Evaluate, MorphOverride, MorphScratch},
    },
    model::{Model, Morphs},
    prelude::*,
};
use fastrand::Rng;
use std::sync::Arc;

const NAMES: [&str; 6] = ["happy", "aa", "sad", "oh", "ee", "angry"];

/// The arm, as a face: the lower part has all targets and the upper one every other. `bend` moves four of them, and `reach`
/// none.
fn face() -> Model {
    let names: Arc<[Arc<str>]> = NAMES.map(Arc::from).into();
    let mut model = arm();
    let morphs = names.iter().map(|name| (name.clone(), 0.0));
    model.skeleton = model.skeleton.with_morphs(Morphs::new(morphs));
    for (at, part) in model.parts.iter_mut().enumerate() {
        let target = |morph: u16| {
            let moved = MorphDelta {
                position: Vec3::new(0.1, 0.05 * f32::from(morph), 0.0),
                ..MorphDelta::default()
            };
            MorphTarget::new(morph, vec![moved; part.positions.len()])
        };
        part.morphs = (0..6).step_by(at + 1).map(target).collect();
    }
    let mut random = Rng::with_seed(1);
    let frames = MorphFrames {
        names,
        animated: vec![false, true, true, true, true, false],
        weights: (0..10 * 6).map(|_| random.f32()).collect(),
        times: vec![],
    };
    model.clips[0] = model.clips[0].clone().with_morphs(&frames).unwrap();
    model
}

/// The weights of a character's morph targets, computed from its controller.
fn expected(world: &World, entity: Entity, overrides: &[MorphOverride]) -> Vec<f32> {
    let character = asset(world, entity);
    let controller = world.get::<AnimationController>(entity).unwrap();
    let layers: Vec<ClipLayer> = controller
        .layers(character)
        .map(|layer| ClipLayer {
            weight: layer.weight,
            base: layer.base,
            ..ClipLayer::new(&character.clips[layer.clip], layer.time)
        })
        .collect();
    let job = Evaluate {
        priority_blend: controller.priority_blend,
        morph_overrides: overrides,
        ..Evaluate::new(&character.skeleton, &layers)
    };
    let mut scratch = MorphScratch::default();
    let weights = job.run_morphs(&mut scratch);
    weights
        .unwrap_or(character.skeleton.morphs().rest())
        .to_vec()
}

#[test]
fn the_gpu_reads_the_weights_that_the_cpu_computes_bit_for_bit() {
    let mut harness = Harness::new();
    let asset_of_all = harness.add(face());
    let spawn = |harness: &mut Harness, at: u16, clip: &str| {
        let mut controller = AnimationController::playing(clip);
        controller.set_speed(0.5 + f64::from(at) * 0.3);
        let place = Transform::from_xyz(f32::from(at) - 2.0, 0.0, 0.0);
        let character = SkinnedCharacter(asset_of_all.clone());
        harness.world().spawn((character, controller, place)).id()
    };
    let mut entities: Vec<Entity> = (0..5)
        .map(|at| spawn(&mut harness, at, if at == 3 { "reach" } else { "bend" }))
        .collect();
    let mut face = Expressions::default();
    face.set("angry", 0.75);
    harness.world().entity_mut(entities[1]).insert(face);
    let angry = [MorphOverride::set(5, 0.75)];
    (0..6).for_each(|_| harness.update());
    let bits = |weights: &[f32]| weights.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
    let mut compared = 0;
    let mut before: Vec<(Entity, Vec<f32>)> = Vec::new();
    for frame in 0..30 {
        harness.update();
        if frame == 12 {
            // One leaves, and another takes its place, which the GPU knows some frames later.
            harness.world().despawn(entities.remove(0));
            entities.push(spawn(&mut harness, 2, "bend"));
            (0..4).for_each(|_| harness.update());
            before.clear();
        }
        let mut now = Vec::new();
        for &entity in &entities {
            let by_hand = harness.world().get::<Expressions>(entity).is_some();
            let overrides = if by_hand { &angry[..] } else { &[] };
            let weights = expected(harness.world(), entity, overrides);
            for (at, part) in parts(harness.world(), entity).into_iter().enumerate() {
                let order = asset(harness.world(), entity).parts[at].morphs.clone();
                let whole: Vec<f32> = order.iter().map(|&m| weights[usize::from(m)]).collect();
                let [read, previous] = harness.buffers.weights(part).expect("a face");
                // The list ends after the last that is in use.
                let rest = &whole[read.len()..];
                assert!(
                    rest.iter().all(|weight| *weight == 0.0),
                    "{whole:?} {read:?}"
                );
                assert_eq!(bits(&read), bits(&whole[..read.len()]), "frame {frame}");
                if let Some(last) = before.iter().find(|(of, _)| *of == part) {
                    assert_eq!(bits(&previous), bits(&last.1[..previous.len()]));
                    assert_eq!(previous.len(), read.len());
                }
                compared += read.len();
                now.push((part, read));
            }
        }
        before = now;
    }
    assert!(compared > 500, "{compared}");
    // A face at rest has no list, whatever the others do.
    let still = parts(harness.world(), entities[2])[0];
    assert_eq!(harness.buffers.weights(still), Some([vec![], vec![]]));
}

#[test]
fn eyes_that_come_into_view_are_drawn_as_they_are() {
    let mut model = face();
    let names = ["blink", "aa", "sad", "oh", "ee", "angry"];
    let morphs = names.map(|name| (Arc::from(name), 0.0));
    model.skeleton = model.skeleton.with_morphs(Morphs::new(morphs));
    let mut harness = Harness::new();
    let entity = harness.spawn(model, "reach", Transform::default());
    harness.world().entity_mut(entity).insert(IdleEyes::new(4));
    (0..6).for_each(|_| harness.update());
    harness
        .world()
        .entity_mut(entity)
        .insert(Visibility::Hidden);
    let mut blinks = 0;
    while blinks < 3 {
        harness.update();
        let closed = harness.world().get::<IdleEyes>(entity).unwrap().closed();
        if closed < 0.5 {
            continue;
        }
        blinks += 1;
        // Into view while nothing moves.
        harness.world().resource_mut::<Time<Virtual>>().pause();
        harness
            .world()
            .entity_mut(entity)
            .insert(Visibility::Inherited);
        // In that very frame.
        harness.update();
        let part = parts(harness.world(), entity)[0];
        let at = asset(harness.world(), entity).parts[0]
            .morphs
            .iter()
            .position(|&morph| morph == 0)
            .unwrap();
        let [read, _] = harness.buffers.weights(part).unwrap();
        assert_eq!(read[at].to_bits(), closed.to_bits());
        harness
            .world()
            .entity_mut(entity)
            .insert(Visibility::Hidden);
        harness.world().resource_mut::<Time<Virtual>>().unpause();
        (0..30).for_each(|_| harness.update());
    }
}
