//! Scout's own hair and scarf at different frame rates, as she walks and turns.

use bevy_marionette::{
    import::{Manifest, open_manifest},
    internals::{
        pose::{ClipLayer, Evaluate, Scratch},
        rig::{SpringFrame, SpringScratch, SpringState, Springs},
    },
    model::{JointIndex, Model},
};
use fastrand::Rng;
use glam::{Affine3A, Quat, Vec3};

/// Scout, with springs that a change of her manifest makes.
fn scout(change: impl FnOnce(&mut Manifest)) -> (Model, Springs) {
    let read = |file: &str| std::fs::read(crate::asset("scout").join(file));
    let mut manifest =
        Manifest::parse("scout.character.ron", &read("scout.character.ron").unwrap()).unwrap();
    change(&mut manifest);
    let read = |file: &str| {
        read(file)
            .map(Into::into)
            .map_err(|error| error.to_string())
    };
    let opened =
        open_manifest("scout.character.ron", &manifest, &Default::default(), read).unwrap();
    let springs = manifest.resolve_springs(&opened.model.skeleton);
    (opened.model, springs)
}

/// A bone that swings: its joint, where it ends in the joint's space, and its length.
struct Bone {
    joint: usize,
    end: Vec3,
    length: f32,
}

fn bones(model: &Model) -> Vec<Bone> {
    let skeleton = &model.skeleton;
    let joint = |name: &str| usize::from(skeleton.joint(name).unwrap());
    let place = |joint: usize| Vec3::from(skeleton.rest_model()[joint].translation);
    let bones = [("hair.1", "hair.2"), ("scarf.1", "scarf.2")].map(|(first, last)| {
        let (first, last) = (joint(first), joint(last));
        // The last bone is as long as the one before it, and continues in its direction.
        let length = place(first).distance(place(last));
        let beyond = 2.0 * place(last) - place(first);
        [(first, place(last)), (last, beyond)].map(|(joint, end)| Bone {
            joint,
            end: skeleton.rest_model()[joint].inverse().transform_point3(end),
            length,
        })
    });
    bones.into_iter().flatten().collect()
}

/// Where she is: she walks in curves, stops, and turns on the spot.
fn world(t: f64) -> Affine3A {
    let yaw = 1.2 * (1.3 * t).sin() + 0.6 * (2.9 * t).sin();
    let place = Vec3::new(
        1.5 * (0.8 * t).sin() as f32,
        0.0,
        -2.0 * (0.5 * t).cos() as f32,
    );
    Affine3A::from_rotation_translation(Quat::from_rotation_y(yaw as f32), place)
}

/// Every sixth of a second: the ends of the bones in model space. The frames of each are asked for.
struct Path {
    ends: Vec<Vec<Vec3>>,
    /// For how much of the time the hair touches the skull, and the scarf is at its limit.
    touching: f32,
    limited: f32,
}

fn path((model, springs): &(Model, Springs), mut frames: impl FnMut() -> Vec<f64>) -> Path {
    const PERIOD: f64 = 1.0 / 6.0;
    let skeleton = &model.skeleton;
    let clip = model
        .clips
        .iter()
        .find(|clip| &*clip.timing.name == "walk")
        .unwrap()
        .bind(skeleton);
    let bones = bones(model);
    let (mut pose, mut state, mut memory) = (
        Scratch::default(),
        SpringState::default(),
        SpringScratch::default(),
    );
    let (mut ends, mut touching, mut limited, mut seen) = (Vec::new(), 0, 0, 0);
    let mut frame = |t: f64, dt: f64| {
        Evaluate::new(skeleton, &[ClipLayer::new(&clip, t % clip.timing.duration)]).run(&mut pose);
        let mut pose = pose.pose_mut(skeleton);
        let animated = bones
            .iter()
            .map(|bone| pose.rotation(bone.joint as JointIndex))
            .collect::<Vec<_>>();
        let frame = SpringFrame {
            dt,
            world: world(t),
            ..SpringFrame::default()
        };
        springs.run(&frame, &mut state, &mut memory, &mut pose);
        let ends = bones
            .iter()
            .map(|bone| pose.model[bone.joint].transform_point3(bone.end))
            .collect::<Vec<_>>();
        let skull = springs.colliders()[0];
        let center = pose.model[usize::from(skull.joint)].transform_point3(skull.center);
        let touches = ends[..2]
            .iter()
            .any(|end| end.distance(center) < skull.radius + 0.031);
        let turned = |bone: usize| {
            pose.rotation(bones[bone].joint as JointIndex)
                .angle_between(animated[bone])
        };
        (ends, touches, turned(2).max(turned(3)) > 0.69)
    };
    // So that frames end within steps.
    const FIRST: f64 = 0.0103;
    frame(0.0, 0.0);
    frame(FIRST, FIRST);
    for period in 0..120 {
        let (frames, mut t) = (frames(), 0.0);
        let sum = frames.iter().sum::<f64>();
        for (i, share) in frames.iter().map(|frame| PERIOD * frame / sum).enumerate() {
            t += share;
            let (at, touches, limit) = frame(FIRST + f64::from(period) * PERIOD + t, share);
            // Every rate begins to move in a frame of its own length; that is forgotten after a while.
            if period >= 12 {
                (touching, limited, seen) = (
                    touching + i32::from(touches),
                    limited + i32::from(limit),
                    seen + 1,
                );
                if i + 1 == frames.len() {
                    ends.push(at);
                }
            }
        }
    }
    Path {
        ends,
        touching: touching as f32 / seen as f32,
        limited: limited as f32 / seen as f32,
    }
}

#[test]
fn scouts_hair_and_scarf_follow_the_same_path_at_any_frame_rate() {
    let cases: [(&str, fn(&mut Manifest)); 3] = [
        ("her own", |_| ()),
        ("softer", |manifest| {
            manifest
                .springs
                .iter_mut()
                .for_each(|spring| spring.frequency *= 0.6)
        }),
        // Her hair touches it for a third of the time.
        ("a larger skull", |manifest| {
            manifest.colliders.get_mut("skull").unwrap().radius = 0.19
        }),
    ];
    let mut over = Vec::new();
    for (name, change) in cases {
        let scout = scout(change);
        let lengths: Vec<f32> = bones(&scout.0).iter().map(|bone| bone.length).collect();
        let reference = path(&scout, || vec![1.0; 160]);
        println!(
            "{name}: touching {:.2}, limited {:.2}",
            reference.touching, reference.limited
        );
        assert!(
            reference.limited > 0.03 && (reference.touching > 0.2) == (name == "a larger skull"),
            "{name}"
        );
        let mut random = Rng::with_seed(5);
        for rate in ["30", "60", "144", "irregular"] {
            let found = path(&scout, || match rate {
                "irregular" => (0..10).map(|_| 0.004 + 0.026 * random.f64()).collect(),
                even => vec![1.0; even.parse::<usize>().unwrap() / 6],
            });
            let off = |(a, b): (&Vec<Vec3>, &Vec<Vec3>)| {
                let off = |((a, b), length): ((&Vec3, &Vec3), &f32)| a.distance(*b) / length;
                a.iter().zip(b).zip(&lengths).map(off).fold(0.0, f32::max)
            };
            let mut all: Vec<f32> = found.ends.iter().zip(&reference.ends).map(off).collect();
            all.sort_by(f32::total_cmp);
            let (median, most) = (all[all.len() / 2], all[all.len() - 1]);
            println!(
                "{name} at {rate}: off by {:.2} % of a bone, {:.2} % at most",
                median * 100.0,
                most * 100.0
            );
            // Frames end between steps, and her clip has corners that they cut.
            if most > 0.015 || median > 0.01 {
                over.push((name, rate, most));
            }
        }
    }
    assert!(over.is_empty(), "{over:?}");
}
