//! Joints whose names are not unique: clips of other files find them by what they hang from.
//!
//! Right is what the same clip does in one file with the model, computed here in `f64` from what was written.

use crate::messages::assert_messages;
use bevy_marionette::{
    import::{ImportSettings, Imported, open_model},
    internals::{
        format::{Checked, md5},
        import::{
            WriteFormat, clip_from_md5, from_md5, losses, open_clips, to_md5_anim, to_md5_mesh,
        },
        pose::{ClipLayer, Evaluate, Scratch},
    },
    model::{JointIndex, SkeletalClip, Skeleton},
};
use fastrand::Rng;
use glam::{DAffine3, DQuat, DVec3};
use serde_json::{Value, json};
use std::fs;

/// A tree of joints with few names, parents first, and how each moves.
struct Tree {
    names: Vec<&'static str>,
    parents: Vec<Option<usize>>,
    places: Vec<DVec3>,
    rests: Vec<DQuat>,
    /// The rotation at the start and at the end of the clip.
    turns: Vec<[DQuat; 2]>,
}

const NAMES: [&str; 4] = ["bone", "tip", "joint", "bone.001"];

fn any_turn(random: &mut Rng) -> DQuat {
    let axis = DVec3::new(random.f64() - 0.5, random.f64() - 0.5, random.f64() - 0.5)
        .normalize_or(DVec3::X);
    // In `f32`, as the file has it.
    DQuat::from_axis_angle(axis, random.f64() * 2.0 - 1.0)
        .as_quat()
        .as_dquat()
}

impl Tree {
    fn new(random: &mut Rng) -> Self {
        let mut tree = Self {
            names: Vec::new(),
            parents: Vec::new(),
            places: Vec::new(),
            rests: Vec::new(),
            turns: Vec::new(),
        };
        for joint in 0..random.usize(2..20) {
            let parent = (joint > 0).then(|| random.usize(joint.saturating_sub(4)..joint));
            // Siblings have different names: otherwise nothing but their order tells them apart.
            let siblings = |name: &str, tree: &Self| {
                (0..joint).any(|other| tree.parents[other] == parent && tree.names[other] == name)
            };
            let name = (0..20)
                .map(|_| NAMES[random.usize(..4)])
                .find(|name| !siblings(name, &tree));
            let Some(name) = name else { break };
            tree.names.push(name);
            tree.parents.push(parent);
            let mut at = || f64::from(random.f32() * 2.0 - 1.0);
            tree.places.push(DVec3::new(at(), at(), at()));
            tree.rests.push(any_turn(random));
            let start = any_turn(random);
            tree.turns.push(
                [start, start * DQuat::from_rotation_x(0.2)].map(|turn| turn.as_quat().as_dquat()),
            );
        }
        tree
    }

    /// The joints in model space at the start or the end, facing −Z as everything here; `moves` are those that the clip moves.
    fn pose(&self, end: usize, moves: &[bool]) -> Vec<DAffine3> {
        let mut out: Vec<DAffine3> = Vec::new();
        for (joint, &moves) in moves.iter().enumerate() {
            let turn = if moves {
                self.turns[joint][end]
            } else {
                self.rests[joint]
            };
            let local = DAffine3::from_rotation_translation(turn.normalize(), self.places[joint]);
            let half_turn = DAffine3::from_rotation_y(std::f64::consts::PI);
            out.push(self.parents[joint].map_or(half_turn, |parent| out[parent]) * local);
        }
        out
    }

    /// A file with the joints that are in `order`, by index: with a skin, with a clip, or with both.
    fn glb(&self, order: &[usize], skin: bool, moves: Option<&[bool]>) -> Vec<u8> {
        let mut bytes: Vec<u8> = Vec::new();
        let (mut views, mut accessors) = (Vec::new(), Vec::new());
        let mut accessor = |data: &[f32], kind: &str, count: usize| -> usize {
            let start = bytes.len();
            data.iter()
                .for_each(|number| bytes.extend(number.to_le_bytes()));
            views.push(json!({ "buffer": 0, "byteOffset": start, "byteLength": data.len() * 4 }));
            let mut entry = json!({ "bufferView": views.len() - 1, "componentType": 5126, "count": count, "type": kind });
            if kind == "SCALAR" {
                (entry["min"], entry["max"]) = (json!([data[0]]), json!([data[count - 1]]));
            }
            accessors.push(entry);
            accessors.len() - 1
        };
        let node_of = |joint: usize| order.iter().position(|other| *other == joint);
        let mut nodes: Vec<Value> = order
            .iter()
            .map(|&joint| {
                let children: Vec<usize> = (0..self.names.len())
                    .filter(|child| self.parents[*child] == Some(joint))
                    .filter_map(node_of)
                    .collect();
                let mut node = json!({
                    "name": self.names[joint],
                    "translation": self.places[joint].as_vec3().to_array(),
                    "rotation": self.rests[joint].as_quat().to_array(),
                });
                if !children.is_empty() {
                    node["children"] = json!(children);
                }
                node
            })
            .collect();
        let is_root =
            |joint: &usize| self.parents[*joint].is_none_or(|parent| node_of(parent).is_none());
        let mut roots: Vec<usize> = order
            .iter()
            .copied()
            .filter(is_root)
            .filter_map(node_of)
            .collect();
        let mut root = json!({ "asset": { "version": "2.0" }, "scene": 0 });
        if skin {
            let position = accessor(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0], "VEC3", 3);
            let joints = accessor(&[0.0; 12], "VEC4", 3);
            let weights = accessor(
                &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
                "VEC4",
                3,
            );
            roots.push(nodes.len());
            nodes.push(json!({ "name": "body", "mesh": 0, "skin": 0 }));
            let all: Vec<usize> = (0..order.len()).collect();
            root["skins"] = json!([{ "joints": all }]);
            let attributes =
                json!({ "POSITION": position, "JOINTS_0": joints, "WEIGHTS_0": weights });
            root["meshes"] = json!([{ "primitives": [{ "attributes": attributes }] }]);
        }
        if let Some(moves) = moves {
            let times = accessor(&[0.0, 1.0], "SCALAR", 2);
            let (mut channels, mut samplers) = (Vec::new(), Vec::new());
            for (node, &joint) in order.iter().enumerate().filter(|(_, joint)| moves[**joint]) {
                let turns: Vec<f32> = self.turns[joint]
                    .iter()
                    .flat_map(|turn| turn.as_quat().to_array())
                    .collect();
                let output = accessor(&turns, "VEC4", 2);
                samplers.push(json!({ "input": times, "output": output }));
                let target = json!({ "node": node, "path": "rotation" });
                channels.push(json!({ "sampler": samplers.len() - 1, "target": target }));
            }
            root["animations"] =
                json!([{ "name": "move", "channels": channels, "samplers": samplers }]);
        }
        // `JOINTS_0` must be integers: all zeros in any type.
        if skin {
            accessors[1]["componentType"] = json!(5123);
        }
        root["nodes"] = json!(nodes);
        root["scenes"] = json!([{ "nodes": roots }]);
        root["buffers"] = json!([{ "byteLength": bytes.len() }]);
        root["bufferViews"] = json!(views);
        root["accessors"] = json!(accessors);
        let mut text = root.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut out = b"glTF".to_vec();
        let total = 12 + 8 + text.len() + 8 + bytes.len();
        for number in [2, total as u32, text.len() as u32, 0x4E4F_534A] {
            out.extend(number.to_le_bytes());
        }
        out.extend(text);
        out.extend((bytes.len() as u32).to_le_bytes());
        out.extend(0x004E_4942_u32.to_le_bytes());
        out.extend(bytes);
        out
    }
}

fn open(bytes: &[u8]) -> Imported {
    open_model("a.glb", bytes, &ImportSettings::default()).unwrap()
}

/// Where the joints of a skeleton are at a time of a clip.
fn places(skeleton: &Skeleton, clip: &SkeletalClip, time: f64) -> Vec<DVec3> {
    let mut scratch = Scratch::default();
    Evaluate::new(skeleton, &[ClipLayer::new(clip, time)]).run(&mut scratch);
    scratch
        .model()
        .iter()
        .map(|joint| glam::Vec3::from(joint.translation).as_dvec3())
        .collect()
}

/// Which of the tree's joints each joint of a skeleton is: the one at its place at rest.
fn joints_of(tree: &Tree, skeleton: &Skeleton) -> Vec<usize> {
    let rest = tree.pose(0, &vec![false; tree.names.len()]);
    let nearest = |joint: JointIndex| {
        let at = glam::Vec3::from(skeleton.rest_model()[usize::from(joint)].translation).as_dvec3();
        let off = |joint: &usize| rest[*joint].translation.distance(at);
        (0..rest.len())
            .min_by(|a, b| off(a).total_cmp(&off(b)))
            .unwrap()
    };
    skeleton.joints().map(nearest).collect()
}

/// How far a clip puts a skeleton's joints, which are these of the tree, from where they should be.
fn off(
    tree: &Tree,
    moves: &[bool],
    skeleton: &Skeleton,
    joints: &[usize],
    clip: &SkeletalClip,
) -> f64 {
    let mut worst = 0.0_f64;
    for end in [0, 1] {
        let expected = tree.pose(end, moves);
        for (found, joint) in places(skeleton, clip, end as f64).iter().zip(joints) {
            worst = worst.max(found.distance(expected[*joint].translation));
        }
    }
    worst
}

#[test]
fn clips_of_other_files_move_the_joints_that_hang_from_the_same_ones() {
    let rounds = std::env::var("MARIONETTE_JOINT_PATHS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(300);
    let (mut worst, mut doubles) = (0.0_f64, 0);
    for seed in 0..rounds {
        let random = &mut Rng::with_seed(seed);
        let tree = Tree::new(random);
        let count = tree.names.len();
        let mut order: Vec<usize> = (0..count).collect();
        let model = open(&tree.glb(&order, true, None)).model;
        doubles += usize::from(
            model
                .skeleton
                .names()
                .iter()
                .enumerate()
                .any(|(at, n)| model.skeleton.names()[..at].contains(n)),
        );
        // The nodes of the other file come in another order, and leaves may be missing.
        random.shuffle(&mut order);
        for _ in 0..random.usize(..3) {
            let is_leaf = |joint: &usize| {
                !order
                    .iter()
                    .any(|other| tree.parents[*other] == Some(*joint))
            };
            let leaf = order
                .iter()
                .position(|joint| is_leaf(joint) && order.len() > 1);
            leaf.map(|at| order.remove(at));
        }
        let mut moves: Vec<bool> = (0..count)
            .map(|joint| order.contains(&joint) && random.u8(..4) > 0)
            .collect();
        moves[0] = true;
        let clip = tree.glb(&order, random.bool(), Some(&moves));
        let opened = open_clips(
            "clip.glb",
            "clip",
            &clip,
            &model.skeleton,
            &ImportSettings::default(),
        )
        .unwrap();
        let error = off(
            &tree,
            &moves,
            &model.skeleton,
            &joints_of(&tree, &model.skeleton),
            &opened.value[0],
        );
        assert!(
            error < 1e-5,
            "{seed}: {error:e} of {:?} {:?}",
            tree.names,
            tree.parents
        );
        worst = worst.max(error);
    }
    println!("{rounds} pairs of files, {doubles} with names that are not unique: {worst:e}");
    assert!(doubles as u64 > rounds / 2);
}

#[test]
fn md5_files_of_joints_that_share_names_are_posed_as_what_they_were_made_of() {
    let rounds = 200;
    for seed in 0..rounds {
        let random = &mut Rng::with_seed(seed ^ 0x5A);
        let tree = Tree::new(random);
        let order: Vec<usize> = (0..tree.names.len()).collect();
        let moves = vec![true; order.len()];
        let model = open(&tree.glb(&order, true, Some(&moves))).model;
        let settings = ImportSettings::default();
        let mesh = to_md5_mesh(&model);
        let anim = to_md5_anim(&model.clips[0], &model.skeleton);
        let mut names: Vec<&str> = mesh.joints.iter().map(|joint| &*joint.name).collect();
        assert!(
            names
                .iter()
                .zip(&anim.joints)
                .all(|(name, joint)| **name == joint.name)
        );
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), order.len(), "{seed}");
        let back = from_md5("a.md5mesh", &Checked::new(mesh).unwrap(), &settings)
            .unwrap()
            .model
            .skeleton;
        let clip = clip_from_md5(
            "a.md5anim",
            "move",
            &Checked::new(anim.clone()).unwrap(),
            &back,
            &settings,
        )
        .unwrap();
        assert!(
            off(&tree, &moves, &back, &order, &clip.value) < 1e-4,
            "{seed}"
        );
        // What other programs write has the same names in both files, and is matched by index, or by path.
        let mut doubled = to_md5_mesh(&model);
        doubled
            .joints
            .iter_mut()
            .zip(&tree.names)
            .for_each(|(joint, name)| joint.name = (*name).to_owned());
        let mut moved = anim;
        moved
            .joints
            .iter_mut()
            .zip(&tree.names)
            .for_each(|(joint, name)| joint.name = (*name).to_owned());
        let back = from_md5("a.md5mesh", &Checked::new(doubled).unwrap(), &settings)
            .unwrap()
            .model
            .skeleton;
        let clip = clip_from_md5(
            "a.md5anim",
            "move",
            &Checked::new(moved).unwrap(),
            &back,
            &settings,
        )
        .unwrap();
        assert!(
            off(&tree, &moves, &back, &order, &clip.value) < 1e-4,
            "{seed}: by index"
        );
    }
}

/// A case file.
fn case(name: &str) -> Vec<u8> {
    let folder = crate::asset("")
        .parent()
        .unwrap()
        .join("tests/core/cases/duplicate-names");
    fs::read(folder.join(name)).unwrap()
}

#[test]
fn a_chain_of_joints_of_one_name_moves_as_in_one_file() {
    let settings = ImportSettings::default();
    let [model, full] = ["model.glb", "full.glb"]
        .map(|name| open_model(name, &case(name), &settings).unwrap().model);
    let clips = open_clips(
        "clip.glb",
        "clip",
        &case("clip.glb"),
        &model.skeleton,
        &settings,
    )
    .unwrap();
    for time in [0.0, 0.3, 0.7, 1.0] {
        let [found, right] = [(&model, &clips.value[0]), (&full, &full.clips[0])]
            .map(|(model, clip)| places(&model.skeleton, clip, time));
        for (found, right) in found.iter().zip(&right) {
            assert!(
                found.distance(*right) < 2e-4,
                "{time}: {found} is not {right}"
            );
        }
    }
    assert_messages("md5: a clip of joints that share a name", &clips.warnings);
    let lost = losses("a", &full, None, WriteFormat::Md5);
    assert_messages("losses: joints that share a name, as md5", lost);
    let text = md5::write_mesh(&to_md5_mesh(&full));
    assert!(text.contains("\"bone.2\"") && text.contains("\"bone.3\""));
}
