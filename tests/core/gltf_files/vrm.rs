//! VRM: what its extensions say of roles, expressions, springs, and the rest, in both versions; and clips of `.vrma` files.

use super::{
    file::{File, chain, cube, random_turn},
    warnings,
};
use crate::messages::assert_messages;
use bevy_marionette::{
    import::{ImportLimits, ImportSettings, Imported, Manifest, open_manifest, open_model},
    internals::{
        import::{ColliderShape, open_clips},
        model::{Role, Roles},
        pose::{ClipLayer, Evaluate, MorphScratch, PoseMut, Scratch},
        rig::{
            LookAction, RigAction, RigJoints, RigScratch, SpringAction, SpringFrame, SpringScratch,
            SpringState,
        },
    },
    model::{Expression, ExpressionOverride, MorphIndex, SkeletalClip, Skeleton},
    rig::{ConstraintKind, RigState},
};
use fastrand::Rng;
use glam::{DQuat, DVec3, Quat, Vec3};
use serde_json::{Value, json};
use std::{borrow::Cow, time::Duration};

pub(super) fn case(name: &str) -> Vec<u8> {
    let cases = crate::asset("").parent().unwrap().join("tests/core/cases");
    std::fs::read(cases.join("vrm").join(name)).unwrap()
}

pub(super) fn open(bytes: &[u8]) -> Imported {
    let opened = open_model("hero.vrm", bytes, &ImportSettings::default());
    opened.unwrap_or_else(|error| panic!("{error}"))
}

fn shown(imported: &Imported, name: &str) -> Vec<(MorphIndex, f32)> {
    imported.model.skeleton.morphs().expression(name)
}

#[test]
fn expressions_are_those_of_the_file_whatever_its_targets_are_called() {
    for file in ["vrm0.vrm", "vrm1.vrm"] {
        let vrm = open(&case(file));
        assert_eq!(warnings(&vrm).len(), 0, "{:?}", vrm.warnings);
        // Targets are called `A`, `mth_open`, `lid_down`, and `brow`.
        for name in ["aa", "viseme_aa", "AA", "jawOpen"] {
            assert_eq!(shown(&vrm, name), [(1, 1.0)], "{file}: {name}");
        }
        for name in ["blink", "Blink", "eyesClosed"] {
            assert_eq!(shown(&vrm, name), [(2, 1.0)], "{file}: {name}");
        }
        for name in ["happy", "joy", "Joy", "smile"] {
            assert_eq!(shown(&vrm, name), [(0, 0.5), (3, 1.0)], "{file}: {name}");
        }
        assert_eq!(shown(&vrm, "Wink heart"), [(2, 0.3)]);
        // A target's own name still is the target.
        assert_eq!(shown(&vrm, "brow"), [(3, 1.0)]);
        let own = vrm.model.skeleton.morphs().own_expressions();
        assert_eq!(own.len(), 4);
    }
    let find = |imported: &Imported, name: &str| -> Expression {
        let own = imported.model.skeleton.morphs().own_expressions();
        own.iter().find(|one| &*one.name == name).unwrap().clone()
    };
    let one = open(&case("vrm1.vrm"));
    assert!(find(&one, "blink").is_binary && !find(&one, "aa").is_binary);
    assert_eq!(find(&one, "happy").blink, ExpressionOverride::Block);
    assert_eq!(find(&one, "happy").mouth, ExpressionOverride::None);
    // In version 0, an expression has a name beside its preset.
    let zero = open(&case("vrm0.vrm"));
    assert_eq!(shown(&zero, "A"), [(1, 1.0)]);
    assert_eq!(&*find(&zero, "happy").alias, "Joy");
}

/// Files without a plain look beside the toon's are drawn in their colors.
#[test]
fn a_toon_material_is_no_mirror() {
    let (mut file, _) = hero(1);
    let toon = json!({ "VRMC_materials_mtoon": { "specVersion": "1.0", "shadeColorFactor": [0.5, 0.4, 0.3] } });
    file.json["materials"][0] = json!({
        "name": "skin", "extensions": toon, "alphaMode": "MASK", "alphaCutoff": 0.3, "doubleSided": true,
        "pbrMetallicRoughness": { "baseColorFactor": [1, 0.5, 0.25, 1] },
    });
    for mesh in file.json["meshes"].as_array_mut().unwrap() {
        mesh["primitives"][0]["material"] = json!(0);
    }
    let imported = open(&file.glb());
    let skin = &imported.model.materials[0];
    assert_eq!(
        (skin.metallic, skin.roughness, skin.unlit),
        (0.0, 1.0, false)
    );
    assert_eq!((skin.alpha_cutoff, skin.double_sided), (Some(0.3), true));
    assert_eq!(skin.base_color, [1.0, 0.5, 0.25, 1.0]);
}

#[test]
fn an_expression_without_morph_targets_is_known() {
    let (mut file, _) = hero(1);
    let custom = &mut file.json["extensions"]["VRMC_vrm"]["expressions"]["custom"];
    custom["Blush"]["morphTargetBinds"] = json!([]);
    let meshes = file.json["meshes"].as_array_mut().unwrap();
    for primitive in meshes
        .iter_mut()
        .flat_map(|m| m["primitives"].as_array_mut().unwrap())
    {
        primitive.as_object_mut().unwrap().remove("targets");
    }
    let imported = open(&file.glb());
    let morphs = imported.model.skeleton.morphs();
    assert!(morphs.is_empty() && morphs.is_known_expression("Blush"));
    assert_eq!(morphs.own_expressions()[0].colors.len(), 1);
}

/// A mesh with morph targets of these names, at a node of its own.
fn face(file: &mut File, targets: &[&str]) -> (usize, usize) {
    let (corners, _) = cube(Vec3::Y, 0.5);
    let attributes = json!({ "POSITION": file.floats(&corners) });
    let all: Vec<Value> = (0..targets.len())
        .map(|at| {
            let moved: Vec<[f32; 3]> = corners.iter().map(|_| [0.0, 0.1, at as f32]).collect();
            json!({ "POSITION": file.floats(&moved) })
        })
        .collect();
    let primitive = json!({ "attributes": attributes, "targets": all });
    let mesh = json!({ "primitives": [primitive], "extras": { "targetNames": targets } });
    let mesh = file.push("meshes", mesh);
    let node = file.node(json!({ "mesh": mesh, "name": format!("face{mesh}") }));
    file.root(node);
    (mesh, node)
}

/// A body of a chain of joints with a face, and the extensions of a version.
fn hero(version: u32) -> (File, Vec<usize>) {
    let mut chain = chain(5, json!({ "name": "Armature" }));
    let joints = chain.joints.clone();
    let file = &mut chain.file;
    let (mesh, node) = face(file, &["A", "open"]);
    file.push("materials", json!({ "name": "skin" }));
    let extension = match version {
        0 => json!({ "VRM": {
            "specVersion": "0.0",
            "meta": {
                "title": "Hero", "author": "somebody", "licenseName": "CC_BY", "commercialUssageName": "Allow",
                "otherLicenseUrl": "https://example.org",
            },
            "humanoid": { "humanBones": [
                { "bone": "hips", "node": joints[0] }, { "bone": "spine", "node": joints[1] },
                { "bone": "head", "node": joints[2] }, { "bone": "leftThumbProximal", "node": joints[3] },
            ] },
            "firstPerson": {
                "firstPersonBone": joints[2], "firstPersonBoneOffset": { "x": 0.0, "y": 0.1, "z": 0.25 },
                "lookAtTypeName": "BlendShape",
                "lookAtHorizontalOuter": { "xRange": 60.0, "yRange": 0.75 },
                "meshAnnotations": [{ "mesh": mesh, "firstPersonFlag": "ThirdPersonOnly" }],
            },
            "blendShapeMaster": { "blendShapeGroups": [
                { "name": "Blush", "presetName": "unknown", "binds": [{ "mesh": mesh, "index": 1, "weight": 40 }],
                  "materialValues": [
                    { "materialName": "skin", "propertyName": "_Color", "targetValue": [1, 0.5, 0.5, 1] },
                    { "materialName": "skin", "propertyName": "_MainTex_ST", "targetValue": [1, 1, 0.5, 0.25] },
                  ] },
            ] },
            "secondaryAnimation": {
                "colliderGroups": [
                    { "node": joints[1], "colliders": [{ "offset": { "x": 0.1, "y": 0.2, "z": 0.3 }, "radius": 0.4 }] },
                ],
                "boneGroups": [{
                    "comment": "tail", "stiffiness": 2.0, "gravityPower": 0.5, "gravityDir": { "x": 0, "y": -1, "z": 0 },
                    "dragForce": 0.25, "center": -1, "hitRadius": 0.02, "bones": [joints[3]], "colliderGroups": [0],
                }],
            },
        } }),
        _ => json!({
            "VRMC_vrm": {
                "specVersion": "1.0",
                "meta": {
                    "name": "Hero", "authors": ["somebody", "another"], "licenseUrl": "https://vrm.dev/licenses/1.0/",
                    "commercialUsage": "corporation", "allowRedistribution": true,
                },
                "humanoid": { "humanBones": {
                    "hips": { "node": joints[0] }, "spine": { "node": joints[1] }, "head": { "node": joints[2] },
                    "leftThumbMetacarpal": { "node": joints[3] },
                } },
                "firstPerson": { "meshAnnotations": [{ "node": node, "type": "thirdPersonOnly" }] },
                "lookAt": {
                    "offsetFromHeadBone": [0.0, 0.1, 0.25], "type": "expression",
                    "rangeMapHorizontalOuter": { "inputMaxValue": 60.0, "outputScale": 0.75 },
                },
                "expressions": { "custom": { "Blush": {
                    "morphTargetBinds": [{ "node": node, "index": 1, "weight": 0.4 }],
                    "materialColorBinds": [{ "material": 0, "type": "color", "targetValue": [1, 0.5, 0.5, 1] }],
                    "textureTransformBinds": [{ "material": 0, "scale": [1, 1], "offset": [0.5, -0.25] }],
                } } },
            },
            "VRMC_springBone": {
                "specVersion": "1.0",
                "colliders": [
                    { "node": joints[1], "shape": { "sphere": { "offset": [0.1, 0.2, 0.3], "radius": 0.4 } } },
                    { "node": joints[1], "shape": { "capsule": { "offset": [0, 0, 0], "tail": [0, 1, 0], "radius": 0.1 } } },
                    { "node": joints[1], "shape": { "sphere": { "offset": [0, -10000, 0], "radius": 0 } },
                      "extensions": { "VRMC_springBone_extended_collider": {
                        "specVersion": "1.0", "shape": { "plane": { "offset": [0, 1, 0], "normal": [0, 0, 1] } } } } },
                ],
                "colliderGroups": [{ "name": "body", "colliders": [0, 1] }, { "colliders": [2] }],
                "springs": [{
                    "name": "tail", "center": joints[0], "colliderGroups": [0, 1],
                    "joints": [
                        { "node": joints[3], "stiffness": 2.0, "gravityPower": 0.5, "dragForce": 0.25, "hitRadius": 0.02 },
                        { "node": joints[4] },
                    ],
                }],
            },
        }),
    };
    let names: Vec<&String> = extension.as_object().unwrap().keys().collect();
    file.json["extensionsUsed"] = json!(names);
    file.json["extensions"] = extension.clone();
    file.json["nodes"][joints[4]]["extensions"] = json!({ "VRMC_node_constraint": {
        "specVersion": "1.0", "constraint": { "roll": { "source": joints[2], "rollAxis": "X", "weight": 0.5 } } } });
    (chain.file, joints)
}

#[test]
fn both_versions_give_the_same_description() {
    let read = |version| open(&hero(version).0.glb());
    let [zero, one] = [0, 1].map(read);
    for (imported, version) in [(&zero, "0.0"), (&one, "1.0")] {
        match version {
            "0.0" => assert_eq!(warnings(imported).len(), 0),
            _ => assert_messages("vrm: what has no effect", warnings(imported)),
        }
        let avatar = imported.avatar.as_ref().unwrap();
        assert_eq!(avatar.version, version);
        assert_eq!(avatar.meta.name, "Hero");
        assert_eq!(avatar.meta.authors[0], "somebody");
        let bones: Vec<(&str, usize)> = avatar.bones.iter().map(|(b, at)| (*b, *at)).collect();
        let wanted = [
            ("head", 2),
            ("hips", 0),
            ("leftThumbMetacarpal", 3),
            ("spine", 1),
        ];
        assert_eq!(bones, wanted);
        let look_at = avatar.look_at.as_ref().unwrap();
        assert!(look_at.by_expressions);
        assert_eq!(
            (look_at.ranges[1].input, look_at.ranges[1].output),
            (60.0, 0.75)
        );
        // Ahead is −Z.
        assert!(
            look_at.offset.abs_diff_eq(Vec3::new(0.0, 0.1, -0.25), 1e-6),
            "{look_at:?}"
        );
        assert_eq!(avatar.first_person[0].1, "thirdPersonOnly");
        // By the name of the part, whichever of its materials it has.
        let part = &*avatar.first_person[0].0;
        assert!(imported.model.parts.iter().any(|other| other.name == part));
        let views = [part, &format!("{part}.skin"), "j0"].map(|part| avatar.view_of(part));
        assert_eq!(views, ["thirdPersonOnly", "thirdPersonOnly", "auto"]);
        let spring = &avatar.springs[0];
        assert_eq!((&*spring.name, spring.joints[0].joint), ("tail", 3));
        assert_eq!(spring.joints[0].stiffness, 2.0);
        assert_eq!(spring.joints[0].drag, 0.25);
        assert_eq!(spring.joints[0].radius, 0.02);
        assert!(spring.joints[0].gravity.abs_diff_eq(Vec3::Y * -0.5, 1e-6));
        let ColliderShape::Sphere {
            center,
            radius,
            inside: false,
        } = avatar.colliders[0].shape
        else {
            panic!("{:?}", avatar.colliders);
        };
        // Version 0 has Unity's axes, and faces the other way.
        let x = if version == "0.0" { 0.1 } else { -0.1 };
        assert!(
            center.abs_diff_eq(Vec3::new(x, 0.2, -0.3), 1e-6),
            "{center}"
        );
        assert_eq!((avatar.colliders[0].joint, radius), (1, 0.4));
        let constraint = &avatar.constraints[0];
        assert_eq!(
            (constraint.joint, constraint.source, constraint.weight),
            (4, 2, 0.5)
        );
        assert!(matches!(constraint.kind, ConstraintKind::Roll(axis) if axis.abs() == Vec3::X));
        let blush = &imported.model.skeleton.morphs().own_expressions()[0];
        assert_eq!((&*blush.name, &*blush.morphs), ("Blush", &[(1, 0.4)][..]));
        assert_eq!(&*blush.colors[0].material, "skin");
        assert_eq!(&*blush.colors[0].property, "color");
        assert_eq!(blush.textures[0].offset.to_array(), [0.5, -0.25]);
    }
    let avatar = zero.avatar.as_ref().unwrap();
    assert_eq!(avatar.meta.license, "CC_BY");
    assert!(avatar.springs[0].is_whole && avatar.springs[0].center.is_none());
    let avatar = one.avatar.as_ref().unwrap();
    assert_eq!(avatar.meta.license, "https://vrm.dev/licenses/1.0/");
    let terms = &avatar.meta.terms;
    assert!(
        terms.contains(&("commercialUsage", "corporation".to_owned())),
        "{terms:?}"
    );
    assert!(
        terms.contains(&("modification", "prohibited".to_owned())),
        "{terms:?}"
    );
    let spring = &avatar.springs[0];
    assert!(!spring.is_whole && spring.joints.len() == 2 && spring.center == Some(0));
    assert_eq!(spring.colliders, [0, 1, 2]);
    assert!(matches!(
        avatar.colliders[1].shape,
        ColliderShape::Capsule { .. }
    ));
    let ColliderShape::Plane { normal, .. } = avatar.colliders[2].shape else {
        panic!("{:?}", avatar.colliders);
    };
    assert_eq!(normal, Vec3::NEG_Z);
}

#[test]
fn a_mistake_takes_nothing_else_with_it() {
    let (mut file, joints) = hero(1);
    let extensions = &mut file.json["extensions"];
    let vrm = &mut extensions["VRMC_vrm"];
    vrm["humanoid"]["humanBones"]["neck"] = json!({ "node": 99 });
    vrm["humanoid"]["humanBones"]["tail"] = json!({ "node": 1 });
    vrm["humanoid"]["humanBones"]["chest"] = json!({ "node": joints[1] });
    vrm["humanoid"]["humanBones"]["jaw"] = json!(7);
    vrm["meta"] = json!([]);
    let blush = &mut vrm["expressions"]["custom"]["Blush"];
    let binds = blush["morphTargetBinds"].as_array_mut().unwrap();
    binds.push(json!({ "node": joints[0], "index": 0 }));
    binds.push(json!({ "node": 99, "index": 0 }));
    binds.push(json!({ "node": binds[0]["node"], "index": 2 }));
    blush["materialColorBinds"][0]["material"] = json!(3);
    let springs = &mut extensions["VRMC_springBone"];
    springs["colliders"][1]["shape"] = json!({});
    springs["springs"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "joints": [{ "node": -1 }] }));
    springs["springs"]
        .as_array_mut()
        .unwrap()
        .push(json!("all"));
    file.json["nodes"][joints[4]]["extensions"]["VRMC_node_constraint"]["constraint"]["roll"]["rollAxis"] =
        json!("W");
    let imported = open(&file.glb());
    assert_messages("vrm: mistakes", warnings(&imported));
    let avatar = imported.avatar.as_ref().unwrap();
    assert_eq!(
        (
            avatar.bones.len(),
            avatar.springs.len(),
            avatar.colliders.len()
        ),
        (4, 1, 2)
    );
    assert_eq!(shown(&imported, "Blush"), [(1, 0.4)]);
    assert_eq!(avatar.springs[0].colliders, [0, 1]);
    // Nothing of it can be read.
    file.json["extensions"] = json!({ "VRMC_vrm": "none", "VRMC_springBone": [1] });
    let imported = open(&file.glb());
    assert_messages("vrm: no extension", warnings(&imported));
    assert!(imported.avatar.is_none());
}

#[test]
fn springs_swing_as_in_vrm_at_its_usual_rate() {
    for version in [0, 1] {
        let (mut file, joints) = hero(version);
        // Bones are a meter long. A unit is not.
        let settings = ImportSettings {
            scale: 0.5,
            ..ImportSettings::default()
        };
        let imported = open_model("hero.vrm", &file.glb(), &settings).unwrap();
        let springs = &imported.embedded.springs;
        let near = |a: f32, b: f32| assert!((a - b).abs() < 1e-3 * b.abs(), "{version}: {a} {b}");
        let (tail, end) = (&springs[0], &springs[1]);
        assert_eq!((&*tail.joints[0], &*end.joints[0]), ("j3", "j4"));
        // A step adds a 30th of the bone's length, and loses a quarter. Its solutions go with the powers of complex numbers.
        let (added, kept) = (2.0 / 60.0, 0.75_f32);
        let (real, square) = (0.5 * (1.0 + kept) / (1.0 + added), kept / (1.0 + added));
        let imaginary = (square - real * real).sqrt();
        let (growth, turn) = (60.0 * 0.5 * square.ln(), 60.0 * imaginary.atan2(real));
        let rate = growth.hypot(turn);
        near(tail.frequency, rate / std::f32::consts::TAU);
        near(tail.drag + 2.0 * tail.damping * rate, -2.0 * growth);
        // What is carried along by a meter per second stays behind by a quarter of a step's way, over the share that is added.
        near(tail.drag / (rate * rate), 0.25 / (60.0 * added));
        // As strong as stiffness, as VRM has both.
        near(tail.gravity * 9.81 / (rate * rate), 0.5 / 2.0);
        near(tail.radius, 0.01);
        // The last joint of a chain swings in version 0 only.
        assert_eq!(end.max_angle, if version == 0 { 180.0 } else { 0.0 });
        let colliders = &imported.embedded.colliders;
        let names: Vec<&str> = colliders.keys().map(String::as_str).collect();
        assert_eq!(tail.colliders, names);
        assert_eq!(names.len(), if version == 0 { 1 } else { 3 });
        near(colliders["j1.0"].radius, 0.2);
        // What the file says itself in place of a manifest goes before.
        file.json["scenes"][0]["extras"] =
            json!({ "marionette": { "springs": [{ "joints": ["j4"] }] } });
        let springs = open(&file.glb()).embedded.springs;
        assert_eq!((springs.len(), &*springs[0].joints[0]), (1, "j4"));
        assert_eq!(joints.len(), 5);
    }
}

#[test]
fn a_bone_hangs_as_far_down_as_in_vrm() {
    // There, bones come to rest where stiffness and gravity together point.
    for (stiffness, power) in [(1.0, 0.25), (2.0, 1.5)] {
        let (mut file, joints) = hero(1);
        let quarter = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
        file.json["nodes"][joints[0]]["rotation"] = json!(quarter.to_array());
        let spring = &mut file.json["extensions"]["VRMC_springBone"]["springs"][0];
        spring["joints"][0]["stiffness"] = json!(stiffness);
        spring["joints"][0]["gravityPower"] = json!(power);
        spring["colliderGroups"] = json!([]);
        let imported = open(&file.glb());
        let skeleton = &imported.model.skeleton;
        let manifest = Manifest::of_model("hero.vrm");
        let springs = manifest
            .with_embedded(&imported.embedded)
            .resolve_springs(skeleton);
        let (mut state, mut scratch) = (SpringState::default(), SpringScratch::default());
        let [from, to] = [3, 4].map(|at| skeleton.joint(&format!("j{at}")).unwrap());
        let (mut local, mut model) = Default::default();
        for _ in 0..600 {
            (local, model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
            let mut pose = PoseMut::new(skeleton, &mut local, &mut model);
            let frame = SpringFrame {
                dt: 1.0 / 60.0,
                ..SpringFrame::default()
            };
            springs.run(&frame, &mut state, &mut scratch, &mut pose);
        }
        let place = |joint: u16| Vec3::from(model[usize::from(joint)].translation);
        let bone = place(to) - place(from);
        let angle = (-bone.y).atan2(bone.with_y(0.0).length());
        let wanted = f32::atan2(power, stiffness);
        assert!((angle - wanted).abs() < 0.01, "{angle} {wanted}");
        assert!(!local.is_empty());
    }
}

#[test]
fn eyes_of_a_model_with_joints_for_them_look() {
    let (mut file, joints) = hero(1);
    let vrm = &mut file.json["extensions"]["VRMC_vrm"];
    vrm["lookAt"]["type"] = json!("bone");
    vrm["lookAt"]["rangeMapVerticalUp"] = json!({ "inputMaxValue": 30, "outputScale": 12 });
    vrm["lookAt"]["rangeMapHorizontalOuter"] = json!({ "inputMaxValue": 30, "outputScale": 8 });
    vrm["humanoid"]["humanBones"]["leftEye"] = json!({ "node": joints[4] });
    let embedded = open(&file.glb()).embedded;
    let look_at = embedded.look_at.unwrap();
    assert_eq!(look_at.joints, [("j2".to_owned(), 1.0)]);
    assert_eq!((look_at.yaw, look_at.pitch), (0.0, 0.0));
    let gaze = look_at.gaze.unwrap();
    let usual = (90.0, 10.0);
    assert_eq!((gaze.inner, gaze.outer), (usual, (30.0, 8.0)));
    assert_eq!((gaze.down, gaze.up), (usual, (30.0, 12.0)));
    assert_eq!(look_at.eyes, ["j4"]);
}

/// Replaces a value somewhere in JSON.
fn spoil(value: &mut Value, rng: &mut Rng) {
    let odd = [
        json!(null),
        json!(-1),
        json!(1e300),
        json!(4294967296u64),
        json!(0.5),
        json!("x"),
        json!([]),
        json!({}),
        json!([1, 2]),
        json!([[0]]),
        json!(true),
        json!(3),
    ];
    let inner: Vec<&mut Value> = match value {
        Value::Object(all) => all.values_mut().collect(),
        Value::Array(all) => all.iter_mut().collect(),
        _ => Vec::new(),
    };
    if inner.is_empty() || rng.u32(0..6) == 0 {
        *value = odd[rng.usize(0..odd.len())].clone();
        return;
    }
    let at = rng.usize(0..inner.len());
    spoil(inner.into_iter().nth(at).unwrap(), rng);
}

#[test]
fn no_mistake_in_an_extension_is_an_error() {
    for seed in super::variants(150) {
        let mut rng = Rng::with_seed(seed);
        let mut file = match seed % 3 {
            2 => motion(&bodies(&mut rng)[0], &mut rng, true),
            version => hero(version as u32).0,
        };
        for _ in 0..1 + rng.usize(0..4) {
            spoil(&mut file.json["extensions"], &mut rng);
            for node in file.json["nodes"].as_array_mut().unwrap() {
                if node["extensions"].is_object() && rng.bool() {
                    spoil(&mut node["extensions"], &mut rng);
                }
            }
        }
        let imported = open(&file.glb());
        // All of it can be used.
        let manifest = Manifest::of_model("hero.vrm");
        let manifest = manifest.with_embedded(&imported.embedded);
        let skeleton = &imported.model.skeleton;
        let (mut local, mut model) = (skeleton.rest().to_vec(), skeleton.rest_model().to_vec());
        let mut pose = PoseMut::new(skeleton, &mut local, &mut model);
        let look = manifest
            .look_at
            .as_ref()
            .and_then(|entry| entry.resolve(skeleton));
        let (constraints, springs) = (
            manifest.resolve_constraints(skeleton),
            manifest.resolve_springs(skeleton),
        );
        let joints = RigJoints {
            look: look.as_ref(),
            constraints: Some(&constraints),
            springs: Some(&springs),
            ..RigJoints::default()
        };
        let action = RigAction {
            dt: Duration::from_millis(16),
            look: Some(LookAction {
                target: Some(Vec3::ONE),
                weight: 1.0,
                chain: None,
            }),
            springs: Some(SpringAction {
                weight: 1.0,
                gravity: Vec3::NEG_Y,
                ..SpringAction::default()
            }),
            ..RigAction::default()
        };
        let (mut state, mut scratch) = (RigState::default(), RigScratch::default());
        (0..3).for_each(|_| action.run(&joints, &mut state, &mut scratch, &mut pose));
        assert!(model.iter().all(|joint| joint.is_finite()), "{seed}");
    }
}

#[test]
fn the_file_says_which_joint_is_what() {
    let (mut file, joints) = hero(1);
    for (at, name) in ["Head", "Spine", "ENDSITE", "LeftFoot", "RightHand"]
        .iter()
        .enumerate()
    {
        file.json["nodes"][joints[at]]["name"] = json!(name);
    }
    let imported = open(&file.glb());
    let roles = Roles::infer(&imported.model.skeleton);
    let found: Vec<(String, u16)> = roles.iter().map(|(r, at)| (r.to_string(), at)).collect();
    let wanted = [("hips", 0), ("spine.1", 1), ("head", 2), ("thumb.1.L", 3)];
    assert_eq!(found, wanted.map(|(role, at)| (role.to_owned(), at)));
    // A manifest goes before the file.
    let table = [("head", "Spine"), ("spine.1", "")];
    let roles = Roles::with_table(&imported.model.skeleton, table).unwrap();
    assert_eq!(roles.joint(Role::Head), Some(1));
    assert_eq!(
        (roles.joint(Role::Spine(0)), roles.joint(Role::Hips)),
        (None, Some(0))
    );
}

#[test]
fn a_bone_is_a_joint_even_if_nothing_moves_it() {
    let vrma = open_model("bow.vrma", &case("bow.vrma"), &ImportSettings::default()).unwrap();
    assert_eq!(warnings(&vrma).len(), 0, "{:?}", vrma.warnings);
    let roles = Roles::infer(&vrma.model.skeleton);
    assert_eq!(roles.joint(Role::Head), vrma.model.skeleton.joint("b2"));
    assert!(roles.joint(Role::Head).is_some() && roles.len() == 3);
}

#[test]
fn meshes_share_a_target_only_if_expressions_move_both_alike() {
    for both in [false, true] {
        let (mut file, joints) = hero(1);
        let (_, node) = face(&mut file, &["A", "open"]);
        let custom = &mut file.json["extensions"]["VRMC_vrm"]["expressions"]["custom"];
        let binds = custom["Blush"]["morphTargetBinds"].as_array_mut().unwrap();
        if both {
            binds.push(json!({ "node": node, "index": 1, "weight": 0.4 }));
        }
        let imported = open(&file.glb());
        let count = imported.model.skeleton.morphs().len();
        assert_eq!(count, if both { 2 } else { 3 });
        assert_eq!(shown(&imported, "Blush"), [(1, 0.4)]);
        assert!(joints.len() == 5);
    }
}

/// Human bones with their parents and places in a T pose that faces +Z; some are optional.
const BODY: [(&str, &str, [f64; 3]); 14] = [
    ("hips", "", [0.0, 1.0, 0.02]),
    ("spine", "hips", [0.0, 1.15, 0.0]),
    ("chest", "spine", [0.0, 1.3, -0.01]),
    ("neck", "chest", [0.0, 1.5, 0.0]),
    ("head", "neck", [0.0, 1.6, 0.02]),
    ("leftUpperArm", "chest", [0.2, 1.45, 0.0]),
    ("leftLowerArm", "leftUpperArm", [0.45, 1.45, 0.0]),
    ("leftHand", "leftLowerArm", [0.7, 1.45, 0.0]),
    ("rightUpperArm", "chest", [-0.2, 1.45, 0.0]),
    ("rightLowerArm", "rightUpperArm", [-0.45, 1.45, 0.0]),
    ("rightHand", "rightLowerArm", [-0.7, 1.45, 0.0]),
    ("leftUpperLeg", "hips", [0.1, 0.9, 0.0]),
    ("leftLowerLeg", "leftUpperLeg", [0.1, 0.5, 0.0]),
    ("leftFoot", "leftLowerLeg", [0.1, 0.1, 0.0]),
];

/// A body at rest, in glTF's axes: per bone, its name, its parent, and its rotation and place in the scene.
struct Body {
    bones: Vec<(&'static str, Option<usize>, DQuat, DVec3)>,
    version: u32,
}

impl Body {
    /// A body with axes of its joints' own, some meters tall. In version 0, joints have no rotation, and it faces −Z.
    fn new(version: u32, size: f64, without: &[&str], rng: &mut Rng) -> Self {
        let mut bones: Vec<(&str, Option<usize>, DQuat, DVec3)> = Vec::new();
        for (name, parent, place) in BODY.iter().filter(|(name, ..)| !without.contains(name)) {
            let mut parent = *parent;
            let at = loop {
                if let Some(at) = bones.iter().position(|(name, ..)| *name == parent) {
                    break Some(at);
                }
                match BODY.iter().find(|(name, ..)| *name == parent) {
                    Some((_, above, _)) => parent = above,
                    None => break None,
                }
            };
            let [x, y, z] = place.map(|along| along * size);
            let (turn, place) = match version {
                0 => (DQuat::IDENTITY, DVec3::new(-x, y, -z)),
                _ => (random_turn(rng, 3.0).as_dquat(), DVec3::new(x, y, z)),
            };
            bones.push((name, at, turn.normalize(), place));
        }
        Self { bones, version }
    }

    fn local(&self, at: usize) -> (DQuat, DVec3) {
        let (_, parent, turn, place) = self.bones[at];
        let (above, from) = parent.map_or((DQuat::IDENTITY, DVec3::ZERO), |parent| {
            (self.bones[parent].2, self.bones[parent].3)
        });
        (above.conjugate() * turn, above.conjugate() * (place - from))
    }

    /// The nodes, called by their numbers, so that names say nothing.
    fn file(&self) -> (File, Vec<usize>) {
        let mut file = File::new();
        let mut nodes = Vec::new();
        for (at, (_, parent, ..)) in self.bones.iter().enumerate() {
            let (turn, place) = self.local(at);
            let name = format!("{}{at}", if self.version == 2 { "m" } else { "n" });
            let rotation = turn.as_quat().to_array();
            let translation = place.as_vec3().to_array();
            let node = json!({ "name": name, "rotation": rotation, "translation": translation, "children": [] });
            let node = file.node(node);
            match parent {
                Some(parent) => file.json["nodes"][nodes[*parent]]["children"]
                    .as_array_mut()
                    .unwrap()
                    .push(node.into()),
                None => file.root(node),
            }
            nodes.push(node);
        }
        (file, nodes)
    }

    fn bones_json(&self, nodes: &[usize]) -> Value {
        let bones = self.bones.iter().zip(nodes);
        match self.version {
            0 => bones
                .map(|((bone, ..), node)| json!({ "bone": bone, "node": node }))
                .collect(),
            _ => Value::Object(
                bones
                    .map(|((bone, ..), node)| ((*bone).to_owned(), json!({ "node": node })))
                    .collect(),
            ),
        }
    }

    /// The body as a model with a face.
    fn model(&self) -> File {
        let (mut file, nodes) = self.file();
        let (_, node) = face(&mut file, &["A", "open", "lid"]);
        let bones = self.bones_json(&nodes);
        let extension = match self.version {
            0 => json!({ "VRM": { "humanoid": { "humanBones": bones } } }),
            _ => json!({ "VRMC_vrm": { "specVersion": "1.0", "humanoid": { "humanBones": bones },
                "expressions": { "preset": {
                    "aa": { "morphTargetBinds": [{ "node": node, "index": 1, "weight": 0.5 }] },
                    "blink": { "isBinary": true, "morphTargetBinds": [{ "node": node, "index": 2 }] },
                    "happy": { "overrideMouth": "blend", "morphTargetBinds": [{ "node": node, "index": 0 }] },
                    "sad": { "overrideBlink": "block" },
                } } } }),
        };
        file.json["extensions"] = extension;
        file
    }
}

fn bodies(rng: &mut Rng) -> [Body; 2] {
    [
        Body::new(2, 0.5 + rng.f64(), &[], rng),
        Body::new(1, 0.5 + rng.f64(), &[], rng),
    ]
}

const TIMES: [f32; 4] = [0.0, 0.25, 0.5, 1.0];

/// The clip of a body as a `.vrma`: random turns of all bones, and the way of its hips, if it `travels`.
fn motion(body: &Body, rng: &mut Rng, travels: bool) -> File {
    let (mut file, nodes) = body.file();
    for (at, node) in nodes.iter().enumerate() {
        let turns = TIMES.map(|_| {
            let (rest, _) = body.local(at);
            (rest.as_quat() * random_turn(rng, 1.0))
                .normalize()
                .to_array()
        });
        file.channel("act", *node, "rotation", "LINEAR", &TIMES, &turns);
    }
    if travels {
        let (_, rest) = body.local(0);
        let places =
            TIMES.map(|time| (rest.as_vec3() + Vec3::new(time, 0.1 * time, 0.5)).to_array());
        file.channel("act", nodes[0], "translation", "LINEAR", &TIMES, &places);
    }
    file.json["extensions"] = json!({ "VRMC_vrm_animation": {
        "specVersion": "1.0", "humanoid": { "humanBones": body.bones_json(&nodes) } } });
    file
}

/// The local transforms that a clip gives the joints at a time.
fn pose(skeleton: &Skeleton, clip: &SkeletalClip, time: f64) -> Vec<(DQuat, DVec3)> {
    let mut scratch = Scratch::default();
    let layers = [ClipLayer::new(clip, time)];
    Evaluate::new(skeleton, &layers).run_clips(None, &mut scratch);
    let local = |joint: usize| scratch.local()[joint / 4].get(joint % 4);
    (0..skeleton.len())
        .map(local)
        .map(|local| (local.rotation.as_dquat(), local.translation.as_dvec3()))
        .collect()
}

/// The angle between rotations in single precision, in which an arc cosine would be too rough.
pub(super) fn angle(a: DQuat, b: DQuat) -> f64 {
    let apart = |sign: f64| (a - b * sign).length();
    4.0 * (0.5 * apart(1.0).min(apart(-1.0))).asin()
}

/// From the axes of a version's file to Bevy's.
pub(super) fn to_bevy(version: u32, q: DQuat) -> DQuat {
    match version {
        0 => q,
        _ => DQuat::from_xyzw(-q.x, q.y, -q.z, q.w),
    }
}

/// `how_to_transform_human_pose.md`: a pose of A, normalized, and as that of B. Returns the rotations of B's bones, by the
/// number of A's key, in Bevy's axes.
fn transformed(a: &Body, b: &Body, motion: &File, key: usize) -> Vec<Option<DQuat>> {
    let keys = |bone: usize| -> DQuat {
        let animation = &motion.json["animations"][0];
        let sampler = &animation["samplers"][bone];
        let accessor = &motion.json["accessors"][sampler["output"].as_u64().unwrap() as usize];
        let view = &motion.json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let from = view["byteOffset"].as_u64().unwrap() as usize + key * 16;
        let number =
            |at: usize| f32::from_le_bytes(*motion.bin[from + at * 4..].first_chunk().unwrap());
        Quat::from_array([0, 1, 2, 3].map(number))
            .as_dquat()
            .normalize()
    };
    let normalized = |at: usize| {
        let (w, (l, _)) = (a.bones[at].2, a.local(at));
        w * l.conjugate() * keys(at) * w.conjugate()
    };
    let bone = |at: usize| {
        let (name, above, w, _) = b.bones[at];
        let found = a.bones.iter().position(|(other, ..)| *other == name)?;
        // Those between, which B lacks, turn what is below them.
        let above = above.map(|above| b.bones[above].0);
        let mut turn = normalized(found);
        let mut over = a.bones[found].1;
        while let Some(at) = over.filter(|at| Some(a.bones[*at].0) != above) {
            turn = normalized(at) * turn;
            over = a.bones[at].1;
        }
        let (l, _) = b.local(at);
        // Both face ahead, but version 0 along another axis.
        let turn = match (a.version == 0, b.version == 0) {
            (true, true) | (false, false) => turn,
            _ => DQuat::from_xyzw(-turn.x, turn.y, -turn.z, turn.w),
        };
        Some(to_bevy(b.version, l * w.conjugate() * turn * w))
    };
    (0..b.bones.len()).map(bone).collect()
}

/// Opens a model with the clip of another file, in a manifest with this entry.
fn with_clip(model: &[u8], clips: &[u8], entry: &str) -> Imported {
    let text = format!("(model: \"a.vrm\", clips: {{\"act\": (file: \"b.vrma\"{entry})}})");
    let manifest = Manifest::parse("a.character.ron", text.as_bytes()).unwrap();
    let read = |file: &str| Ok(Cow::Borrowed(if file == "a.vrm" { model } else { clips }));
    open_manifest("a.character.ron", &manifest, &ImportLimits::default(), read)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn act(imported: &Imported) -> &SkeletalClip {
    let mut clips = imported.model.clips.iter();
    clips.find(|clip| &*clip.timing.name == "act").unwrap()
}

#[test]
fn clips_for_any_humanoid_turn_joints_as_the_specification_says() {
    for seed in super::variants(12) {
        let mut rng = Rng::with_seed(seed);
        let [a, _] = bodies(&mut rng);
        // What either has without the other makes no difference to the rest.
        let without: &[&str] = match seed % 4 {
            0 | 1 => &[],
            2 => &["chest", "neck"],
            _ => &["spine"],
        };
        let b = Body::new((seed % 2) as u32, 0.5 + rng.f64(), without, &mut rng);
        let clips = motion(&a, &mut rng, seed % 3 != 0);
        let entry = ["", ", retarget: true"][(seed / 2 % 2) as usize];
        let imported = with_clip(&b.model().glb(), &clips.glb(), entry);
        assert_eq!(warnings(&imported).len(), 0, "{:?}", imported.warnings);
        let skeleton = &imported.model.skeleton;
        let joint = |at: usize| usize::from(skeleton.joint(&format!("n{at}")).unwrap());
        for (key, time) in TIMES.iter().enumerate() {
            let wanted = transformed(&a, &b, &clips, key);
            let found = pose(skeleton, act(&imported), f64::from(*time).min(0.9999));
            for (at, wanted) in wanted.iter().enumerate() {
                let Some(wanted) = wanted else { continue };
                let off = angle(found[joint(at)].0, *wanted);
                let bound = if *time == 1.0 { 1e-3 } else { 1e-4 };
                assert!(off < bound, "{seed}, {}: {off} at {time}", b.bones[at].0);
            }
            // Hips are where they are in the source, in proportion to their height.
            let (hips, rest) = (found[joint(0)].1, a.local(0).1);
            let ratio = b.bones[0].3.y / a.bones[0].3.y;
            let place = rest + DVec3::new(f64::from(*time), 0.1 * f64::from(*time), 0.5);
            let wanted = match seed % 3 {
                0 if b.version == 0 => b.bones[0].3,
                0 => b.bones[0].3 * DVec3::new(-1.0, 1.0, -1.0),
                _ => place * ratio * DVec3::new(-1.0, 1.0, -1.0),
            };
            assert!(hips.distance(wanted) < 1e-3, "{seed}: {hips} {wanted}");
        }
    }
}

#[test]
fn the_bow_of_a_case_is_one_of_any_body() {
    let mut rng = Rng::with_seed(1);
    let body = Body::new(1, 1.2, &[], &mut rng);
    let imported = with_clip(&body.model().glb(), &case("bow.vrma"), ", clip: \"bow\"");
    let skeleton = &imported.model.skeleton;
    let (from, to) = (
        pose(skeleton, act(&imported), 0.0),
        pose(skeleton, act(&imported), 0.999999),
    );
    let spine = usize::from(skeleton.joint("n1").unwrap());
    let bow = case("bow.vrma");
    let end: Vec<f32> = bow[bow.len() - 16..]
        .chunks(4)
        .map(|n| f32::from_le_bytes(n.try_into().unwrap()))
        .collect();
    let end = Quat::from_slice(&end).as_dquat();
    let wanted = end.to_axis_angle().1;
    assert!((angle(from[spine].0, to[spine].0) - wanted).abs() < 1e-4);
    // Nobody has asked the others to move.
    for joint in (0..skeleton.len()).filter(|joint| *joint != spine) {
        assert!(!act(&imported).animates(joint), "{joint}");
    }
}

#[test]
fn expressions_of_a_clip_move_what_shows_them_here() {
    let mut rng = Rng::with_seed(5);
    let [a, b] = bodies(&mut rng);
    let mut clips = motion(&a, &mut rng, false);
    let times = [0.0, 1.0];
    let mut preset = serde_json::Map::new();
    for (name, values) in [
        ("aa", [0.0, 1.0]),
        ("blink", [0.0, 1.0]),
        ("happy", [0.0, 0.5]),
        ("angry", [1.0, 1.0]),
    ] {
        let node = clips.node(json!({ "name": name }));
        clips.root(node);
        clips.channel(
            "act",
            node,
            "translation",
            "LINEAR",
            &times,
            &values.map(|x: f32| [x, 0.0, 0.0]),
        );
        preset.insert(name.to_owned(), json!({ "node": node }));
    }
    clips.json["extensions"]["VRMC_vrm_animation"]["expressions"] = json!({ "preset": preset });
    for entry in ["", ", retarget: true"] {
        let imported = with_clip(&b.model().glb(), &clips.glb(), entry);
        assert_messages("vrm: expressions that a model lacks", warnings(&imported));
        let weights = |time: f64| -> Vec<f32> {
            let layers = [ClipLayer::new(act(&imported), time)];
            let evaluate = Evaluate::new(&imported.model.skeleton, &layers);
            evaluate
                .run_morphs(&mut MorphScratch::default())
                .unwrap()
                .to_vec()
        };
        let off = |time: f64, wanted: [f32; 3]| {
            let found = weights(time);
            let off = found.iter().zip(wanted).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0.0, f32::max) < 1e-3, "{time}: {found:?}");
        };
        // `happy` moves `A`, and leaves less of the mouth; `aa` moves `open` by half; `blink` is on or off.
        off(0.0, [0.0, 0.0, 0.0]);
        off(0.49, [0.245, 0.5 * 0.49 * (1.0 - 0.245), 0.0]);
        off(0.51, [0.255, 0.5 * 0.51 * (1.0 - 0.255), 1.0]);
        off(0.999, [0.4995, 0.5 * 0.999 * (1.0 - 0.4995), 1.0]);
    }
}

#[test]
fn a_body_without_hips_is_told_what_to_do() {
    let file = chain(2, json!({})).file;
    let model = open(&file.glb());
    let error = open_clips(
        "bow.vrma",
        "bow",
        &case("bow.vrma"),
        &model.model.skeleton,
        &ImportSettings::default(),
    );
    crate::messages::assert_message("vrm: a clip for a body without hips", error.unwrap_err());
}

/// What three-vrm 3.5.5 makes of `dance.vrma` for two models, with rotations at rest or facing the other way.
#[test]
fn a_clip_is_what_three_vrm_makes_of_it() {
    let text = case("dance.json");
    let all: Value = serde_json::from_slice(&text).unwrap();
    for (model, version) in [("one", 1), ("zero", 0)] {
        let imported = with_clip(&case(&format!("{model}.vrm")), &case("dance.vrma"), "");
        let skeleton = &imported.model.skeleton;
        for moment in all[model].as_array().unwrap() {
            let time = moment["time"].as_f64().unwrap();
            let found = pose(skeleton, act(&imported), time);
            for (name, numbers) in moment["pose"].as_object().unwrap() {
                let joint = usize::from(skeleton.joint(name).unwrap());
                let number = |at: usize| numbers[at].as_f64().unwrap();
                let wanted = DQuat::from_array([0, 1, 2, 3].map(number)).normalize();
                let off = angle(found[joint].0, to_bevy(version, wanted));
                assert!(off < 1e-4, "{model}, {name}: {off} at {time}");
                if numbers.as_array().unwrap().len() > 4 {
                    let sign = if version == 0 { 1.0 } else { -1.0 };
                    let place = DVec3::from_array([4, 5, 6].map(number));
                    let place = place * DVec3::new(sign, 1.0, sign);
                    let off = found[joint].1.distance(place);
                    assert!(off < 1e-4, "{model}, {name}: {off} at {time}");
                }
            }
        }
    }
}
