//! Retargeted clips of files whose nodes stand in a pose, and retargeting to models whose nodes do.
//!
//! Both bodies are the same but for names and the joints' axes, so joints have to be where the formula puts those of the source.

use super::clip_files::{Channel, Clip, Node, Rig, Style, assemble};
use bevy_marionette::{
    import::Imported,
    internals::pose::{ClipLayer, Evaluate, Scratch},
};
use fastrand::Rng;
use glam::{DQuat, DVec3, EulerRot, Quat, Vec3, Vec4};

/// Mixamo's name, Unreal's, the parent, and the place at rest, facing +Z in a T pose; left and middle.
const BODY: [(&str, &str, &str, [f32; 3]); 13] = [
    ("Hips", "pelvis", "", [0.0, 1.0, 0.0]),
    ("Spine", "spine_01", "Hips", [0.0, 1.2, -0.01]),
    ("Spine2", "spine_03", "Spine", [0.0, 1.4, 0.0]),
    ("Neck", "neck_01", "Spine2", [0.0, 1.55, 0.0]),
    ("Head", "head", "Neck", [0.0, 1.65, 0.02]),
    ("LeftShoulder", "clavicle_l", "Spine2", [0.05, 1.5, 0.0]),
    ("LeftArm", "upperarm_l", "LeftShoulder", [0.2, 1.5, 0.0]),
    ("LeftForeArm", "lowerarm_l", "LeftArm", [0.45, 1.5, -0.02]),
    ("LeftHand", "hand_l", "LeftForeArm", [0.7, 1.5, 0.0]),
    ("LeftUpLeg", "thigh_l", "Hips", [0.1, 0.95, 0.0]),
    ("LeftLeg", "calf_l", "LeftUpLeg", [0.1, 0.5, 0.01]),
    ("LeftFoot", "foot_l", "LeftLeg", [0.1, 0.1, -0.02]),
    ("LeftToeBase", "ball_l", "LeftFoot", [0.1, 0.02, 0.12]),
];

/// The body with names of one kind, and axes of its joints' own, or the model's.
fn body(mixamo: bool, turned: bool, rng: &mut Rng) -> Rig {
    let mut joints: Vec<(String, String, Vec3)> = Vec::new();
    let name = |own: &str| {
        let found = BODY.iter().find(|(name, ..)| *name == own);
        found.map_or(String::new(), |(mixamo_name, other, ..)| {
            (if mixamo { *mixamo_name } else { *other }).to_owned()
        })
    };
    for (own, _, parent, place) in &BODY {
        joints.push((name(own), name(parent), Vec3::from(*place)));
    }
    let right = |name: &str| match name.strip_suffix("_l") {
        Some(name) => format!("{name}_r"),
        None => name.replace("Left", "Right"),
    };
    for (own, _, parent, [x, y, z]) in BODY.iter().filter(|(own, ..)| own.starts_with("Left")) {
        joints.push((
            right(&name(own)),
            right(&name(parent)),
            Vec3::new(-x, *y, *z),
        ));
    }
    let mut rig = Rig {
        names: joints.iter().map(|joint| joint.0.clone()).collect(),
        ..Rig::default()
    };
    let mut axes: Vec<Quat> = Vec::new();
    for (at, (_, parent, place)) in joints.iter().enumerate() {
        let turn = if turned {
            random_turn(rng, 3.0)
        } else {
            Quat::IDENTITY
        };
        let parent = rig.names[..at].iter().position(|name| name == parent);
        let (above, from) = parent.map_or((Quat::IDENTITY, Vec3::ZERO), |parent| {
            (axes[parent], joints[parent].2)
        });
        let inverse = above.conjugate();
        rig.parents.push(parent);
        rig.rest.push(Node {
            translation: inverse * (place - from),
            rotation: inverse * turn,
            scale: Vec3::ONE,
        });
        axes.push(turn);
    }
    rig
}

fn random_turn(rng: &mut Rng, most: f32) -> Quat {
    let mut angle = || (rng.f32() * 2.0 - 1.0) * most;
    Quat::from_euler(EulerRot::XYZ, angle(), angle(), angle())
}

/// A clip in which the body lies, crouches or leans, and moves everything. In its first frame, limbs are only swung, not twisted.
fn clip(rig: &Rig, rng: &mut Rng) -> Clip {
    let mut channels = Vec::new();
    let times: Vec<f32> = (0..4).map(|at| at as f32 * 0.5).collect();
    for (joint, rest) in rig.rest.iter().enumerate() {
        let along = (0..rig.rest.len()).find(|other| rig.parents[*other] == Some(joint));
        let along = along.map_or(Vec3::Y, |below| rest.rotation * rig.rest[below].translation);
        let key = |rng: &mut Rng, at: usize| {
            let turn = match joint {
                0 => {
                    Quat::from_rotation_x([-1.57, 0.35, 1.4, 0.6][at])
                        * Quat::from_rotation_y(rng_angle(rng))
                }
                _ if at == 0 => {
                    Quat::from_axis_angle(along.any_orthonormal_vector(), 0.4 * rng_angle(rng))
                }
                _ => random_turn(rng, 0.25),
            };
            Vec4::from(turn * rest.rotation)
        };
        let values = (0..4).map(|at| key(rng, at)).collect();
        channels.push(Channel {
            joint,
            path: "rotation",
            between: "LINEAR",
            times: times.clone(),
            values,
        });
    }
    // Heads, hands and toes have nothing below that would tell how they were turned.
    let is_tip = |joint: usize| !rig.parents.contains(&Some(joint));
    for channel in channels.iter_mut().filter(|channel| is_tip(channel.joint)) {
        channel.values[0] = Vec4::from(rig.rest[channel.joint].rotation);
    }
    let low = (0..4)
        .map(|_| (Vec3::Y * (0.6 + 0.4 * rng.f32())).extend(0.0))
        .collect();
    channels.push(Channel {
        joint: 0,
        path: "translation",
        between: "LINEAR",
        times,
        values: low,
    });
    Clip {
        name: "act".to_owned(),
        channels,
    }
}

fn rng_angle(rng: &mut Rng) -> f32 {
    rng.f32() * 2.0 - 1.0
}

/// Where a body's joints are at a key, in Bevy's axes.
fn places(rig: &Rig, clip: &Clip, key: usize) -> Vec<DVec3> {
    let pose = rig.at_key(clip, |_| key);
    let mut out: Vec<(DVec3, DQuat)> = Vec::new();
    for (parent, node) in rig.parents.iter().zip(&pose) {
        let (from, above) = parent.map_or((DVec3::ZERO, DQuat::IDENTITY), |parent| out[parent]);
        let [x, y, z, w] = node.rotation.to_array().map(f64::from);
        let place = from + above * node.translation.as_dvec3();
        out.push((
            place,
            (above * DQuat::from_xyzw(x, y, z, w).normalize()).normalize(),
        ));
    }
    out.into_iter()
        .map(|(place, _)| place * DVec3::new(-1.0, 1.0, -1.0))
        .collect()
}

/// The largest distance of the model's joints from those of the source, in its clip's keys.
fn off(imported: &Imported, source: &Rig, clip: &Clip) -> f64 {
    let made = imported
        .model
        .clips
        .iter()
        .find(|clip| &*clip.timing.name == "act");
    let made = made.unwrap_or_else(|| panic!("{:?}", imported.warnings));
    let mut scratch = Scratch::default();
    let mut worst = 0f64;
    for key in 0..4 {
        let time = (key as f64 * 0.5).min(1.5 - 1e-6);
        Evaluate::new(&imported.model.skeleton, &[ClipLayer::new(made, time)]).run(&mut scratch);
        for (got, expected) in scratch.model().iter().zip(places(source, clip, key)) {
            worst = worst.max(Vec3::from(got.translation).as_dvec3().distance(expected));
        }
    }
    worst
}

/// How much more than with nodes at rest.
const BOUND: f64 = 5e-3;

fn count() -> u64 {
    std::env::var("MARIONETTE_CLIP_FILES")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(40)
}

#[test]
fn retargeted_bodies_lie_and_crouch_wherever_the_nodes_of_both_files_stand() {
    let (mut worst, mut usual) = (0f64, 0f64);
    for seed in 0..count() {
        let rng = &mut Rng::with_seed(seed);
        let model = body(true, rng.bool(), rng);
        let source = body(false, rng.bool(), rng);
        let clip = [self::clip(&source, rng)];
        let plain = Style {
            armature: Node::IDENTITY,
            skin: true,
            from_scene: true,
        };
        let first = source.at_key(&clip[0], |_| 0);
        let own = self::clip(&model, rng);
        let crouched = model.at_key(&own, |_| 1);
        let run = |stand: &[Node], pose: &[Node], skin: bool| {
            let model = model.file(stand, &plain, &[]).glb();
            let file = source.file(pose, &Style { skin, ..plain }, &clip).glb();
            off(
                &assemble(&model, &file, ", retarget: true"),
                &source,
                &clip[0],
            )
        };
        let rest = run(&model.rest, &source.rest, true);
        usual = usual.max(rest);
        for (stand, pose, skin) in [
            (&model.rest, &source.rest, false),
            (&model.rest, &first, true),
            (&model.rest, &first, false),
            (&crouched, &source.rest, true),
            (&crouched, &first, true),
            (&crouched, &first, false),
        ] {
            let off = run(stand, pose, skin);
            worst = worst.max(off);
            let posed = [stand == &crouched, pose == &first];
            assert!(
                off < rest + BOUND,
                "seed {seed}: off by {off}, at rest {rest}; {posed:?}, skin {skin}"
            );
        }
    }
    println!("off by {worst:.3} at most, by {usual:.3} with nodes at rest");
}
