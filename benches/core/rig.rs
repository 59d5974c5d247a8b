//! What a rig costs on Scout, her pose of two clips included: each ability alone, and all that she uses at once.
//!
//! "Terrain and locomotion" is a frame of a character on its way: her blend space or plain clips, root motion, and all of her
//! rig but the arms. "All of it" is her own rig, as her manifest has it: she walks up a hill, looks at something and holds something with both
//! hands, while her hair and scarf swing. Every figure is for one character on one thread.

mod locomotion;

use bevy_marionette::{
    import::{ImportLimits, LookAtEntry, Manifest, open_manifest},
    internals::{
        pose::{ClipLayer, Evaluate, Scratch},
        rig::{
            ChainIk, Collider, GoalAction, Ik, LimbJoints, LookAction, RigAction, RigJoints,
            RigScratch, SpringAction, SpringChain, SpringSettings, Springs, TurnSpeeds, TwoBoneIk,
        },
    },
    model::{Model, Skeleton},
    rig::{GroundHit, Limb, RigState},
};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use glam::{Affine3A, Vec3};
use locomotion::{Part, Walker};
use std::{borrow::Cow, hint::black_box, path::Path, time::Duration};

fn scout() -> (Model, Manifest) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/scout");
    let read = |file: &str| std::fs::read(folder.join(file)).map_err(|error| error.to_string());
    let source = read("scout.character.ron").expect("the sample character");
    let manifest = Manifest::parse("scout.character.ron", &source).expect("a manifest");
    let opened = open_manifest(
        "scout.character.ron",
        &manifest,
        &ImportLimits::default(),
        |file| read(file).map(Cow::Owned),
    );
    (opened.expect("a character").model, manifest)
}

fn rig(criterion: &mut Criterion) {
    let (model, manifest) = scout();
    let skeleton = &model.skeleton;
    let clip = |name: &str| {
        model
            .clips
            .iter()
            .find(|clip| &*clip.timing.name == name)
            .expect("a clip of Scout's")
    };
    let clips = [clip("walk"), clip("jog")];
    let limb = |side: &str| {
        let limb = Limb::two_bone(format!("upper_arm.{side}"), format!("hand.{side}"));
        match limb.resolve(skeleton).expect("an arm") {
            LimbJoints::TwoBone(joints) => joints,
            LimbJoints::Chain { .. } => unreachable!("it has two bones"),
        }
    };
    let arms = [limb("L"), limb("R")];
    let look = manifest
        .look_at
        .clone()
        .unwrap_or_else(|| LookAtEntry::new([("upper_chest", 0.2), ("neck", 0.3), ("head", 0.5)]))
        .resolve(skeleton)
        .expect("a chain");

    let springs = [
        springs(skeleton, 0),
        springs(skeleton, 4),
        manifest.resolve_springs(skeleton),
    ];
    let feet = manifest
        .feet
        .as_ref()
        .and_then(|feet| feet.resolve(skeleton, &model.parts))
        .expect("Scout's feet");
    let plants = clips.map(|clip| manifest.plants(&feet, skeleton, clip));
    let speeds = TurnSpeeds::new(skeleton, &model.clips);

    let mut group = criterion.benchmark_group("rig, Scout");
    let mut run = |name: &str, abilities: &[Ability]| {
        let mut joints = RigJoints {
            look: Some(&look),
            feet: Some(&feet),
            turn_speeds: Some(&speeds),
            ..RigJoints::default()
        };
        let (mut action, mut state) = (RigAction::default(), RigState::default());
        let (mut scratch, mut memory) = (Scratch::default(), RigScratch::default());
        let mut frame = 0_u32;
        group.bench_function(name, |b| {
            b.iter(|| {
                // As a display does it: about 60 frames per second.
                frame = (frame + 1) % 600;
                action.dt = Duration::from_micros(15_800 + u64::from(frame % 7) * 300);
                let time = f64::from(frame) / 60.0;
                let layers = clips.map(|clip| ClipLayer::new(clip, time));
                let mut pose = Evaluate::new(skeleton, &layers).run_local(&mut scratch);
                let before = if abilities.is_empty() {
                    RigJoints::default()
                } else {
                    joints
                };
                before.update(&mut pose);
                // A hill that she walks up.
                action.world =
                    Affine3A::from_translation(Vec3::new(0.0, 0.3 * time as f32, -(time as f32)));
                let sway = Vec3::new(0.2, 0.1, 0.3) * (time as f32).sin();
                action.goals.clear();
                for ability in abilities {
                    match *ability {
                        Ability::Look => {
                            let target = Some(Vec3::new(1.0, 1.5, -2.0) + sway);
                            action.look = Some(LookAction {
                                target,
                                weight: 1.0,
                                chain: None,
                            });
                        }
                        Ability::Arms => {
                            action.goals.extend(arms.into_iter().zip([-0.3, 0.3]).map(
                                |(arm, side)| {
                                    let target = Vec3::new(side, 1.2, -0.4) + sway;
                                    let pole = Some(Vec3::new(3.0 * side, 0.5, 0.5));
                                    GoalAction::new(Ik::TwoBone(TwoBoneIk {
                                        pole,
                                        ..TwoBoneIk::new(arm, target)
                                    }))
                                },
                            ));
                        }
                        Ability::Tail => {
                            let target = Vec3::new(0.4, 1.3, 0.0) + sway;
                            action.goals.push(GoalAction::new(Ik::Chain(ChainIk::new(
                                arms[0][2], 4, target,
                            ))));
                        }
                        Ability::Springs(which) => {
                            joints.springs = Some(&springs[which]);
                            let gravity = Vec3::NEG_Y * 9.81;
                            action.springs = Some(SpringAction {
                                weight: 1.0,
                                wind: Vec3::X,
                                gravity,
                            });
                        }
                        Ability::Feet => {
                            let stand = action.feet.get_or_insert_default();
                            stand.weight = 1.0;
                            stand.plans.clear();
                            stand
                                .plans
                                .extend([0, 1].map(|leg| plants[0].plan(leg, time % 1.066)));
                            stand.ground.clear();
                            // Asking for the ground costs nothing here.
                            stand.ground.extend((0..2).map(|leg| {
                                let rays = feet.rays(
                                    leg,
                                    &stand.plans[leg],
                                    &action.world,
                                    &state.feet,
                                    pose.model,
                                );
                                let height = |origin: Vec3| origin.with_y(-0.3 * origin.z);
                                let normal = Vec3::new(0.0, 1.0, 0.3);
                                rays.map(|ray| {
                                    ray.map(|ray| GroundHit {
                                        point: height(ray.origin),
                                        normal,
                                    })
                                })
                            }));
                        }
                    }
                }
                if !abilities.is_empty() {
                    action.run(&joints, &mut state, &mut memory, &mut pose);
                }
                pose.update();
                black_box(scratch.model());
            });
        });
    };
    run("two clips alone", &[]);
    run("look-at, three joints", &[Ability::Look]);
    run("two arms with poles", &[Ability::Arms]);
    run("a chain of four bones", &[Ability::Tail]);
    run("springs: 10 joints", &[Ability::Springs(0)]);
    run("springs: 10 joints, 4 colliders", &[Ability::Springs(1)]);
    run(
        "springs: her own, 4 joints, 1 collider",
        &[Ability::Springs(2)],
    );
    run("two feet on a hill", &[Ability::Feet]);
    run("look-at and two arms", &[Ability::Look, Ability::Arms]);
    run(
        "all of it",
        &[
            Ability::Look,
            Ability::Arms,
            Ability::Feet,
            Ability::Springs(2),
        ],
    );
    run(
        "all of it, with 10 joints, 4 colliders",
        &[
            Ability::Look,
            Ability::Arms,
            Ability::Feet,
            Ability::Springs(1),
        ],
    );
}

#[derive(Clone, Copy)]
enum Ability {
    Look,
    Arms,
    Tail,
    Springs(usize),
    Feet,
}

/// Ten joints that swing: hair, scarf and six of the fingers, whose ends stay outside of so many colliders.
fn springs(skeleton: &Skeleton, colliders: usize) -> Springs {
    let joint = |name: &str| skeleton.joint(name).expect("one of Scout's joints");
    let around = ["head", "neck", "upper_chest", "chest"].map(|name| {
        let end = Some(Vec3::new(0.0, 0.1, 0.0));
        Collider {
            kind: Default::default(),
            joint: joint(name),
            center: Vec3::ZERO,
            end,
            radius: 0.1,
        }
    });
    let settings = SpringSettings {
        radius: 0.02,
        gravity: 0.2,
        ..SpringSettings::default()
    };
    let chains = ["hair.1", "scarf.1", "index.1.L", "index.1.R"].map(|root| {
        let colliders = (0..colliders as u16).collect();
        SpringChain {
            root: joint(root),
            settings,
            colliders,
        }
    });
    Springs::new(skeleton, &chains, &around[..colliders])
}

/// What a character on its way costs, part by part, each with those before it.
fn on_the_way(criterion: &mut Criterion) {
    let (model, manifest) = scout();
    let mut group = criterion.benchmark_group("terrain and locomotion, Scout");
    for (name, plays, steers) in [
        ("two clips", &["walk", "jog"][..], false),
        ("blend space", &["locomotion"], false),
        ("blend space, steered", &["locomotion"], true),
    ] {
        for (parts, part) in [
            ("controller", Part::Controller),
            ("and root motion", Part::RootMotion),
            ("and pose", Part::Pose),
            ("and look-at, feet, springs", Part::Rig),
        ] {
            let (mut walker, mut scratch) = (
                Walker::new(model.clone(), &manifest, plays, steers),
                Scratch::default(),
            );
            group.bench_function(BenchmarkId::new(name, parts), |b| {
                b.iter(|| walker.frame(&mut scratch, part))
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .warm_up_time(std::time::Duration::from_millis(200))
        .measurement_time(std::time::Duration::from_millis(600));
    targets = rig, on_the_way
}
criterion_main!(benches);
