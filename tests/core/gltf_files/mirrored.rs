//! Armatures and bones that are mirrored by a scale below 0: posed as the specification says, and solved as what they look like.

use super::{
    BOUND, NO_NORMALS,
    file::{Chain, chain, even_times, random_turn},
    formula::{Reference, error_of_clip, posed},
    import, import_with_warnings, open, variants,
};
use bevy_marionette::{
    import::{ImportLimits, Imported, Manifest, open_manifest},
    internals::{
        pose::{ClipLayer, Evaluate, Scratch},
        rig::{
            ChainIk, IkScratch, LookChain, LookState, SpringChain, SpringFrame, SpringScratch,
            SpringSettings, SpringState, Springs, TwoBoneIk,
        },
    },
    model::{JointIndex, Model, SkeletalClip, SkinPart},
};
use fastrand::Rng;
use glam::{Affine3A, DVec3, Mat3, Mat4, Quat, Vec3, Vec3A};
use serde_json::json;
use std::borrow::Cow;

fn random_signs(rng: &mut Rng) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| if rng.bool() { -1.0 } else { 1.0 }))
}

/// A chain whose armature, nodes above it, and joints are turned, scaled, and mirrored at random. Its last joint may be scaled
/// unevenly.
fn mirrored_chain(rng: &mut Rng, length: usize) -> Chain {
    let size = |rng: &mut Rng| *rng.choice(&[1.0_f32, 0.01, 2.5]).unwrap();
    let node = |rng: &mut Rng| {
        let scale = random_signs(rng) * size(rng);
        let matrix = Mat4::from_scale_rotation_translation(
            scale,
            random_turn(rng, 2.0),
            Vec3::new(0.1, 0.2, 0.3),
        );
        match rng.bool() {
            true => json!({ "name": "Armature", "matrix": matrix.to_cols_array() }),
            false => {
                json!({ "name": "Armature", "scale": scale.to_array(), "rotation": random_turn(rng, 2.0).to_array() })
            }
        }
    };
    let armature = node(rng);
    let mut chain = chain(length, armature);
    if rng.bool() {
        let above = node(rng);
        let above = chain.file.node(above);
        chain.file.json["nodes"][above]["children"] = json!([chain.armature]);
        chain.file.json["scenes"][0]["nodes"][0] = above.into();
    }
    for (at, &joint) in chain.joints.iter().enumerate() {
        let node = &mut chain.file.json["nodes"][joint];
        node["rotation"] = json!(random_turn(rng, 0.5).to_array());
        if rng.u8(..3) == 0 {
            let uneven = if at + 1 == length {
                Vec3::new(1.0, 1.5, 0.7)
            } else {
                Vec3::ONE
            };
            node["scale"] = json!((random_signs(rng) * uneven).to_array());
        }
    }
    chain
}

/// The rest pose's scale of a joint.
fn scale_of(chain: &Chain, joint: usize) -> Vec3 {
    let scale = &chain.file.json["nodes"][joint]["scale"];
    scale.as_array().map_or(Vec3::ONE, |scale| {
        Vec3::from_array(std::array::from_fn(|i| scale[i].as_f64().unwrap() as f32))
    })
}

/// The diagonal of the box around some places.
fn extent(places: impl Iterator<Item = Vec3>) -> f64 {
    let (low, high) = places.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), p| {
        (a.min(p), b.max(p))
    });
    f64::from((high - low).length())
}

/// The size of a model: of its joints and its skin.
fn size(model: &Model) -> f64 {
    let joints = model
        .skeleton
        .rest_model()
        .iter()
        .map(|joint| joint.translation.into());
    extent(joints.chain(model.parts.iter().flat_map(|part| &part.positions).copied()))
}

fn pose(imported: &Imported, clip: Option<&SkeletalClip>, time: f64) -> Scratch {
    let layers: Vec<ClipLayer> = clip.iter().map(|clip| ClipLayer::new(clip, time)).collect();
    let mut scratch = Scratch::default();
    Evaluate::new(&imported.model.skeleton, &layers).run(&mut scratch);
    scratch
}

#[test]
fn mirrored_skeletons_are_posed_as_the_specification_says_and_no_joint_mirrors() {
    for seed in variants(60) {
        let rng = &mut Rng::with_seed(seed);
        let mut chain = mirrored_chain(rng, 5);
        let times = even_times(5, 4.0);
        chain.turns("wave", &times, 0.8, rng);
        let row = |rng: &mut Rng| [rng.f32(), 1.0, rng.f32()];
        let between = *rng.choice(&["LINEAR", "STEP", "CUBICSPLINE"]).unwrap();
        let count = if between == "CUBICSPLINE" { 15 } else { 5 };
        let places: Vec<[f32; 3]> = (0..count).map(|_| row(rng)).collect();
        chain.file.channel(
            "wave",
            chain.joints[1],
            "translation",
            between,
            &times,
            &places,
        );
        let turns: Vec<[f32; 4]> = (0..15)
            .map(|at| {
                let tangent = random_turn(rng, 0.5).to_array();
                if at % 3 == 1 {
                    random_turn(rng, 0.5).to_array()
                } else {
                    tangent
                }
            })
            .collect();
        chain.file.channel(
            "bend",
            chain.joints[2],
            "rotation",
            "CUBICSPLINE",
            &times,
            &turns,
        );
        for &joint in &chain.joints.clone()[2..] {
            // Of the same signs as at rest.
            let scales: Vec<[f32; 3]> = times
                .iter()
                .map(|_| (scale_of(&chain, joint) * (0.5 + rng.f32())).to_array())
                .collect();
            chain
                .file
                .channel("wave", joint, "scale", "LINEAR", &times, &scales);
        }
        let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
        for clip in &imported.model.clips {
            let error = error_of_clip(&reference, &imported, &clip.timing.name);
            // That is a share of the size of the skin at rest, which such mirrors may fold up. The bound is one of the size of
            // joints and skin, and what splines are off by is estimated.
            let at_rest = reference
                .vertices(None, 0.0)
                .into_iter()
                .map(|at| at.as_vec3());
            let error = error * extent(at_rest) / size(&imported.model);
            assert!(error < 2.0 * BOUND, "{seed}: {error}");
            for time in [0.0, 0.3, 0.7] {
                let scratch = pose(&imported, Some(clip), time);
                let mirrors = |joint: &Affine3A| joint.matrix3.determinant() <= 0.0;
                assert!(
                    !scratch.model().iter().any(mirrors),
                    "{seed} at {time}: {:?}",
                    scratch.model()
                );
            }
        }
        // Triangles face outward, where the mesh is bound in the rest pose or mirrored as a whole.
        if chain
            .joints
            .iter()
            .all(|&joint| scale_of(&chain, joint).cmpgt(Vec3::ZERO).all())
        {
            let volume = |part: &SkinPart| -> f64 {
                let place = |v: u32| (part.positions[v as usize] - part.positions[0]).as_dvec3();
                let corners = part.triangles.iter().map(|triangle| triangle.map(place));
                corners.map(|[a, b, c]| a.dot(b.cross(c))).sum()
            };
            assert!(
                imported.model.parts.iter().all(|part| volume(part) > 0.0),
                "{seed}: inside out"
            );
        }
    }
}

/// A chain that is mirrored at random, at rest or bent by its clip, as imported.
fn bent(rng: &mut Rng, length: usize) -> Imported {
    let mut chain = mirrored_chain(rng, length);
    chain.turns("bend", &[0.0, 1.0], 0.6, rng);
    import(&chain.file, &[NO_NORMALS]).0
}

#[test]
fn goals_within_reach_are_reached_below_any_mirror() {
    let mut worst = 0.0_f32;
    for seed in variants(200) {
        let rng = &mut Rng::with_seed(seed);
        let imported = bent(rng, 4);
        let skeleton = &imported.model.skeleton;
        let joint = |name: &str| skeleton.joint(name).unwrap();
        let mut scratch = pose(&imported, Some(&imported.model.clips[0]), rng.f64());
        let mut pose = scratch.pose_mut(skeleton);
        let [root, mid, tip] = ["j1", "j2", "j3"].map(|name| pose.position(joint(name)));
        let (upper, lower) = (root.distance(mid), mid.distance(tip));
        let way = random_turn(rng, 3.0) * Vec3::Y;
        let reach = (upper - lower).abs()
            + (upper + lower - (upper - lower).abs()) * (0.15 + 0.7 * rng.f32());
        let target = root + way * reach;
        if rng.bool() {
            let limb = TwoBoneIk::new(["j1", "j2", "j3"].map(joint), target);
            let pole = rng
                .bool()
                .then(|| root + random_turn(rng, 3.0) * Vec3::X * upper);
            assert!(TwoBoneIk { pole, ..limb }.run(&mut pose), "{seed}");
        } else {
            let chain = ChainIk {
                iterations: 200,
                ..ChainIk::new(joint("j3"), 2, target)
            };
            assert!(chain.run(&mut IkScratch::default(), &mut pose), "{seed}");
        }
        let off = pose.position(joint("j3")).distance(target) / (upper + lower);
        assert!(off < 2e-3, "{seed}: off by {off} of the limb's length");
        worst = worst.max(off);
    }
    println!("goals are missed by at most {worst:.1e} of the limb's length");
}

#[test]
fn heads_below_any_mirror_look_at_their_target() {
    let mut worst = 0.0_f32;
    for seed in variants(200) {
        let rng = &mut Rng::with_seed(seed);
        let imported = bent(rng, 4);
        let skeleton = &imported.model.skeleton;
        let joint = |name: &str| skeleton.joint(name).unwrap();
        let turn = random_turn(rng, 3.0);
        let (forward, up) = (turn * Vec3::NEG_Z, turn * Vec3::Y);
        let Some(mut look) = LookChain::new(
            skeleton,
            &[(joint("j2"), 0.4), (joint("j3"), 0.6)],
            &[],
            forward,
            up,
        ) else {
            continue;
        };
        [look.yaw_limit, look.pitch_limit, look.speed] = [std::f32::consts::PI, 1.5, 1e3];
        // At rest, the head faces `forward`.
        let head = usize::from(look.head());
        let facing = skeleton.rest_model()[head].matrix3.inverse() * Vec3A::from(forward);
        let mut scratch = pose(&imported, Some(&imported.model.clips[0]), rng.f64());
        let size = skeleton
            .rest_model()
            .iter()
            .map(|m| m.translation.length())
            .fold(0.0, f32::max);
        let mut state = LookState::default();
        let target = {
            let now = scratch.model()[head];
            let facing = Vec3::from((now.matrix3 * facing).normalize());
            Vec3::from(now.translation) + Quat::from_rotation_y(0.4) * facing * 50.0 * size
        };
        let mut pose = scratch.pose_mut(skeleton);
        // Straight up and down are beyond the limit.
        let base = usize::from(joint("j1"));
        let above = pose.model[base].matrix3
            * (skeleton.rest_model()[base].matrix3.inverse() * Vec3A::from(up));
        let way = Vec3A::from(target) - pose.model[head].translation;
        if above.normalize().dot(way.normalize()).abs() > 0.95 {
            continue;
        }
        for _ in 0..3 {
            look.run(&mut state, Some(target), 1.0, 0.1, &mut pose);
        }
        let now = pose.model[head];
        let off = (now.matrix3 * facing)
            .angle_between(Vec3A::from(target) - now.translation)
            .to_degrees();
        assert!(off < 0.1, "{seed}: off by {off}°, at {}", state.turn);
        worst = worst.max(off);
    }
    println!("heads look past their target by at most {worst:.1e}°");
}

/// A reflection of the whole as the node above a chain, and as it acts in Bevy's axes.
fn reflection(rng: &mut Rng) -> (serde_json::Value, Mat3) {
    let turn = random_turn(rng, 3.0);
    let axis = *rng
        .choice(&[
            Vec3::new(-1.0, 1.0, 1.0),
            Vec3::new(1.0, 1.0, -1.0),
            Vec3::NEG_ONE,
        ])
        .unwrap();
    // glTF faces +Z.
    let half = Mat3::from_diagonal(Vec3::new(-1.0, 1.0, -1.0));
    let matrix = half * Mat3::from_quat(turn) * Mat3::from_diagonal(axis) * half;
    (
        json!({ "name": "Armature", "scale": axis.to_array(), "rotation": turn.to_array() }),
        matrix,
    )
}

#[test]
fn springs_in_a_mirror_swing_like_the_mirror_image_of_the_plain_ones() {
    let mut worst = 0.0_f32;
    for seed in variants(40) {
        let rng = &mut Rng::with_seed(seed);
        let (armature, mirror) = reflection(rng);
        let turns: Vec<Quat> = (0..5).map(|_| random_turn(rng, 0.6)).collect();
        let open = |armature| {
            let mut chain = chain(5, armature);
            for (&joint, turn) in chain.joints.iter().zip(&turns) {
                chain.file.json["nodes"][joint]["rotation"] = json!(turn.to_array());
            }
            open(&chain.file.glb()).unwrap()
        };
        let [plain, mirrored] = [json!({ "name": "Armature" }), armature].map(open);
        let swing = |imported: &Imported, gravity: Vec3, wind: Vec3| -> Vec<Vec3> {
            let skeleton = &imported.model.skeleton;
            let settings = SpringSettings {
                frequency: 1.0,
                gravity: 1.0,
                ..SpringSettings::default()
            };
            let root = skeleton.joint("j1").unwrap();
            let springs = Springs::new(
                skeleton,
                &[SpringChain {
                    root,
                    settings,
                    colliders: vec![],
                }],
                &[],
            );
            let (mut state, mut scratch) = (SpringState::default(), SpringScratch::default());
            let mut tips = Vec::new();
            for frame in 0..60 {
                let mut pose = pose(imported, None, 0.0);
                let wind = wind * (frame as f32 * 0.1).sin();
                let frame = SpringFrame {
                    dt: 1.0 / 60.0,
                    gravity,
                    wind,
                    ..SpringFrame::default()
                };
                springs.run(
                    &frame,
                    &mut state,
                    &mut scratch,
                    &mut pose.pose_mut(skeleton),
                );
                tips.push(Vec3::from(
                    pose.model()[usize::from(skeleton.joint("j4").unwrap())].translation,
                ));
            }
            tips
        };
        let (gravity, wind) = (Vec3::new(0.5, -9.8, 1.0), Vec3::X * 10.0);
        let expected = swing(&plain, gravity, wind);
        let got = swing(&mirrored, mirror * gravity, mirror * wind);
        assert!(
            expected.iter().any(|tip| tip.distance(expected[0]) > 0.02),
            "{seed}: it swings"
        );
        for (got, expected) in got.iter().zip(expected) {
            let apart = got.distance(mirror * expected);
            assert!(
                apart < 2e-3,
                "{seed}: {got} instead of {}",
                mirror * expected
            );
            worst = worst.max(apart);
        }
    }
    println!("springs differ from their mirror image by at most {worst:.1e} m");
}

#[test]
fn in_a_mirror_the_pose_in_place_moved_by_the_root_motion_is_the_pose_of_the_file() {
    let mut worst = 0.0_f64;
    for seed in variants(60) {
        let rng = &mut Rng::with_seed(seed);
        let axis = *rng
            .choice(&[
                Vec3::new(-1.0, 1.0, 1.0),
                Vec3::new(1.0, 1.0, -1.0),
                Vec3::new(1.0, -1.0, 1.0),
            ])
            .unwrap();
        let turn = Quat::from_rotation_y(rng.f32() * 6.0);
        let mut chain = chain(
            4,
            json!({ "scale": axis.to_array(), "rotation": turn.to_array() }),
        );
        if rng.bool() {
            chain.file.json["nodes"][chain.joints[0]]["scale"] = json!([1.0, 1.0, -1.0]);
        }
        let times = even_times(9, 8.0);
        let around = if rng.bool() { 1.5 } else { -1.5 };
        let turns: Vec<[f32; 4]> = times
            .iter()
            .map(|time| Quat::from_rotation_y(around * time).to_array())
            .collect();
        chain.file.channel(
            "walk",
            chain.joints[0],
            "rotation",
            "LINEAR",
            &times,
            &turns,
        );
        let places: Vec<[f32; 3]> = times
            .iter()
            .map(|time| [0.4 * time, 0.25, 1.3 * time])
            .collect();
        chain.file.channel(
            "walk",
            chain.joints[0],
            "translation",
            "LINEAR",
            &times,
            &places,
        );
        chain.turns("walk", &times, 0.0, rng);
        let glb = chain.file.glb();
        let manifest = "(model: \"m.glb\", root_motion: (joint: \"j0\"))";
        let manifest = Manifest::parse("m.character.ron", manifest.as_bytes()).unwrap();
        let read = |_: &str| Ok(Cow::Borrowed(&glb[..]));
        let imported =
            open_manifest("m.character.ron", &manifest, &ImportLimits::default(), read).unwrap();
        let reference = Reference::of_glb(&glb);
        let clip = &imported.model.clips[0];
        let path = clip.root_path().expect("it travels");
        assert!(path.turns(), "{seed}");
        // At its frames. Between them the path follows arcs, and the pose chords.
        for time in [0.0, 0.125, 0.5, 0.75] {
            let moved = path.at(time);
            let expected = reference.vertices(Some(0), time);
            for (vertex, place) in posed(&imported, Some(clip), time) {
                let place = moved.translation() + moved.rotation() * place;
                let expected = expected[vertex] * DVec3::new(-1.0, 1.0, -1.0);
                let apart = place.as_dvec3().distance(expected);
                assert!(
                    apart < 1e-4,
                    "{seed} at {time}: {place} instead of {expected}"
                );
                worst = worst.max(apart);
            }
        }
    }
    println!("the pose moved by its root motion is off by at most {worst:.1e} m");
}

#[test]
fn a_clip_that_mirrors_what_isnt_mirrored_at_rest_warns_and_names_the_joint() {
    for (rest, keys, warns) in [
        ([1.0, 1.0, 1.0], [-1.0, 1.0, 1.0], true),
        ([-1.0, 1.0, 1.0], [1.0, 1.0, 1.0], true),
        ([-1.0, 1.0, 1.0], [-2.0, 1.0, 1.0], false),
        // Two axes are half a turn.
        ([1.0, 1.0, 1.0], [-1.0, -1.0, 1.0], false),
        // Nothing is there at rest.
        ([0.0, 0.0, 0.0], [-1.0, 1.0, 1.0], false),
    ] {
        let mut chain = chain(3, json!({}));
        chain.file.json["nodes"][chain.joints[1]]["scale"] = json!(rest);
        chain.file.channel(
            "flip",
            chain.joints[1],
            "scale",
            "LINEAR",
            &[0.0, 1.0],
            &[rest, keys],
        );
        let (imported, reference) = if warns {
            import_with_warnings(&chain.file, "gltf: a clip that mirrors a joint")
        } else {
            import(&chain.file, &[NO_NORMALS])
        };
        let error = error_of_clip(&reference, &imported, "flip");
        assert!(error < BOUND, "{error}");
    }
}

/// Joint indices are those of the chain.
#[test]
fn a_joint_that_mirrors_at_rest_keeps_its_name_its_place_and_its_parent() {
    let mut chain = chain(4, json!({ "scale": [-1.0, 1.0, 1.0] }));
    chain.file.json["nodes"][chain.joints[2]]["scale"] = json!([1.0, -1.0, 1.0]);
    let (imported, reference) = import(&chain.file, &[NO_NORMALS]);
    let skeleton = &imported.model.skeleton;
    for (at, &node) in chain.joints.iter().enumerate() {
        let joint = at as JointIndex;
        assert_eq!(&**skeleton.name(joint), format!("j{at}"));
        assert_eq!(skeleton.parents()[at], joint.checked_sub(1));
        assert_eq!(skeleton.rest_of(joint).scale, Vec3::ONE);
        let place =
            reference.global(node, None, 0.0).w_axis.truncate() * DVec3::new(-1.0, 1.0, -1.0);
        assert!(
            Vec3::from(skeleton.rest_model()[at].translation)
                .as_dvec3()
                .distance(place)
                < 1e-6
        );
    }
}
