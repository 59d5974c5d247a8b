//! Nib: a small avatar in a `.vrm`, and a clip for any avatar in a `.vrma`.
//!
//! It is made of ellipsoids, each of which follows one joint. The extensions are added to what the exporter writes.

use super::{
    maths::{sin_cos, turn, wave},
    motion::{Motion, RATE},
    rig::{Pose, Rig, round},
};
use bevy_marionette::{
    internals::{
        import::to_glb,
        model::{MorphDelta, MorphTarget},
    },
    model::{Influences, Material, Model, Morphs, PlaybackMode, SkinPart},
};
use glam::{DVec3, Vec3};
use serde_json::{Value, json};
use std::{f64::consts::PI, path::PathBuf};

/// VRM's names of bones, with those of the joints.
const BONES: [(&str, &str); 17] = [
    ("hips", "hips"),
    ("spine", "spine"),
    ("chest", "chest"),
    ("neck", "neck"),
    ("head", "head"),
    ("leftUpperArm", "upper_arm.L"),
    ("leftLowerArm", "forearm.L"),
    ("leftHand", "hand.L"),
    ("rightUpperArm", "upper_arm.R"),
    ("rightLowerArm", "forearm.R"),
    ("rightHand", "hand.R"),
    ("leftUpperLeg", "thigh.L"),
    ("leftLowerLeg", "shin.L"),
    ("leftFoot", "foot.L"),
    ("rightUpperLeg", "thigh.R"),
    ("rightLowerLeg", "shin.R"),
    ("rightFoot", "foot.R"),
];

/// Morph targets, which are called what expressions are.
const SHAPES: [&str; 9] = [
    "blinkLeft",
    "blinkRight",
    "happy",
    "surprised",
    "aa",
    "ih",
    "ou",
    "ee",
    "oh",
];

const EYE: f64 = 0.042;

/// Returns its files, with their paths below `assets/`.
pub fn files() -> Vec<(PathBuf, Vec<u8>)> {
    let rig = rig();
    let morphs = Morphs::new(SHAPES.iter().map(|&name| (name.into(), 0.0)));
    let skeleton = rig
        .skeleton()
        .expect("joints are finite, and parents come first");
    let model = Model {
        skeleton: skeleton.clone().with_morphs(morphs),
        parts: parts(&rig),
        materials: materials(),
        ..Model::default()
    };
    let mut clip = greet(&rig)
        .clip(&rig)
        .expect("poses are complete and finite");
    clip.timing.playback = PlaybackMode::Loop;
    let motion = Model {
        skeleton,
        clips: vec![clip],
        ..Model::default()
    };
    let glb = |model: &Model, edit: fn(&mut Value)| {
        let glb =
            to_glb("nib.glb", model, None, |_, _| None).expect("the model is finite and small");
        with_extensions(&glb.value, edit)
    };
    let manifest = "(\n    model: \"nib.vrm\",\n    clips: {\n        \"greet\": (file: \"greet.vrma\"),\n        \
                    // Roles of joints tell whose arm is whose.\n        \
                    \"cheer\": (file: \"../mannequin/mannequin.glb\", retarget: true),\n    },\n)\n";
    vec![
        (PathBuf::from("nib/nib.vrm"), glb(&model, avatar)),
        (PathBuf::from("nib/greet.vrma"), glb(&motion, animation)),
        (PathBuf::from("nib/nib.character.ron"), manifest.into()),
    ]
}

/// A short figure in a T pose with long ears and a tail.
fn rig() -> Rig {
    let mut rig = Rig::default();
    let v = DVec3::new;
    let mut add =
        |name: &str, parent: Option<usize>, at: DVec3, tip: DVec3| rig.add(name, parent, at, tip);
    let hips = add("hips", None, v(0.0, 0.50, 0.0), v(0.0, 0.60, 0.0));
    let spine = add("spine", Some(hips), v(0.0, 0.60, 0.0), v(0.0, 0.68, 0.0));
    let chest = add("chest", Some(spine), v(0.0, 0.68, 0.0), v(0.0, 0.80, 0.0));
    let neck = add("neck", Some(chest), v(0.0, 0.80, 0.0), v(0.0, 0.85, 0.0));
    let head = add("head", Some(neck), v(0.0, 0.85, 0.0), v(0.0, 1.20, 0.0));
    let tail = [
        v(0.0, 0.52, 0.10),
        v(0.0, 0.53, 0.19),
        v(0.0, 0.57, 0.27),
        v(0.0, 0.63, 0.33),
    ];
    chain(&mut add, hips, "tail", "", &tail);
    for (side, s) in [("L", -1.0), ("R", 1.0)] {
        let m = |x: f64, y: f64, z: f64| v(x * s, y, z);
        let name = |n: &str| format!("{n}.{side}");
        let (shoulder, elbow, wrist) =
            (m(0.12, 0.76, 0.0), m(0.27, 0.76, 0.005), m(0.41, 0.76, 0.0));
        let arm = add(&name("upper_arm"), Some(chest), shoulder, elbow);
        let forearm = add(&name("forearm"), Some(arm), elbow, wrist);
        add(
            &name("forearm_twist"),
            Some(forearm),
            m(0.34, 0.76, 0.0025),
            wrist,
        );
        add(&name("hand"), Some(forearm), wrist, m(0.49, 0.76, 0.0));
        let (hip, knee, ankle) = (
            m(0.07, 0.48, 0.0),
            m(0.07, 0.27, -0.005),
            m(0.07, 0.06, 0.005),
        );
        let thigh = add(&name("thigh"), Some(hips), hip, knee);
        let shin = add(&name("shin"), Some(thigh), knee, ankle);
        add(&name("foot"), Some(shin), ankle, m(0.07, 0.03, -0.10));
        add(
            &name("eye"),
            Some(head),
            m(0.075, 1.02, -0.135),
            m(0.075, 1.02, -0.3),
        );
        let ear = [
            m(0.10, 1.16, 0.02),
            m(0.16, 1.24, 0.03),
            m(0.23, 1.23, 0.04),
            m(0.28, 1.14, 0.05),
        ];
        chain(&mut add, head, "ear", &format!(".{side}"), &ear);
    }
    rig
}

/// Adds joints at points, each below the one before it.
fn chain(
    add: &mut impl FnMut(&str, Option<usize>, DVec3, DVec3) -> usize,
    mut parent: usize,
    name: &str,
    side: &str,
    points: &[DVec3; 4],
) {
    for (i, at) in points.iter().enumerate() {
        let tip = points
            .get(i + 1)
            .copied()
            .unwrap_or_else(|| *at * 2.0 - points[i - 1]);
        parent = add(&format!("{name}.{}{side}", i + 1), Some(parent), *at, tip);
    }
}

fn materials() -> Vec<Material> {
    let material = |name: &str, [r, g, b]: [f32; 3], roughness: f32| Material {
        name: name.into(),
        base_color: [r, g, b, 1.0],
        roughness,
        ..Material::default()
    };
    vec![
        material("fur", [0.80, 0.55, 0.36], 0.9),
        material("suit", [0.05, 0.30, 0.36], 0.8),
        material("white", [0.95, 0.94, 0.90], 0.35),
        material("black", [0.02, 0.015, 0.02], 0.3),
        material("cheeks", [0.78, 0.42, 0.30], 0.9),
    ]
}

/// Where a point of the unit sphere is while a morph target is shown in full.
type Moved = fn(&str, DVec3) -> DVec3;

/// A mesh that grows by ellipsoids.
#[derive(Default)]
struct Shape {
    part: SkinPart,
    deltas: Vec<[DVec3; SHAPES.len()]>,
}

impl Shape {
    fn new(name: &str, material: usize) -> Self {
        let part = SkinPart {
            name: name.into(),
            material,
            ..SkinPart::default()
        };
        Self {
            part,
            ..Self::default()
        }
    }

    fn add(&mut self, rig: &Rig, joint: &str, center: DVec3, radii: DVec3) {
        self.add_cap(rig.find(joint), center, radii, 180.0, |_, unit| unit);
    }

    /// Adds an ellipsoid from its top to an angle in degrees.
    fn add_cap(&mut self, joint: usize, center: DVec3, radii: DVec3, cap: f64, moved: Moved) {
        let (rings, sides) = (7_u32, 10_u32);
        let known = self
            .part
            .palette
            .iter()
            .position(|at| usize::from(*at) == joint);
        let slot = known.unwrap_or_else(|| {
            self.part.palette.push(joint as u16);
            self.part.palette.len() - 1
        });
        let first = self.part.positions.len() as u32;
        for ring in 0..=rings {
            for side in 0..sides {
                let (sin, cos) = sin_cos(cap.to_radians() * f64::from(ring) / f64::from(rings));
                let (x, z) = sin_cos(2.0 * PI * f64::from(side) / f64::from(sides));
                let unit = DVec3::new(sin * x, cos, sin * z);
                self.part.positions.push(round(center + unit * radii, 1e-5));
                self.part
                    .normals
                    .push(round((unit / radii).normalize(), 1e-4));
                let mut influences = Influences::default();
                (influences.palette[0], influences.weights[0]) = (slot as u16, 1.0);
                self.part.influences.push(influences);
                self.deltas
                    .push(SHAPES.map(|name| (moved(name, unit) - unit) * radii));
            }
        }
        for ring in 0..rings {
            for side in 0..sides {
                let at = |ring: u32, side: u32| first + ring * sides + side % sides;
                let [a, b] =
                    [0, 1].map(|right| [at(ring, side + right), at(ring + 1, side + right)]);
                if ring > 0 {
                    self.part.triangles.push([a[0], b[1], b[0]]);
                }
                if cap < 180.0 || ring + 1 < rings {
                    self.part.triangles.push([a[0], a[1], b[1]]);
                }
            }
        }
    }

    fn finish(mut self) -> SkinPart {
        for (at, _) in SHAPES.iter().enumerate() {
            let deltas = self.deltas.iter().map(|moves| MorphDelta {
                position: round(moves[at], 1e-5),
                normal: Vec3::ZERO,
                tangent: Vec3::ZERO,
            });
            let target = MorphTarget::new(at as u16, deltas);
            self.part
                .morphs
                .extend(Some(target).filter(|target| !target.vertices.is_empty()));
        }
        self.part
    }
}

/// The mouth's shapes.
fn mouth(name: &str, unit: DVec3) -> DVec3 {
    let (wide, high) = match name {
        "aa" => (0.9, 5.0),
        "ih" => (1.2, 2.2),
        "ou" => (0.5, 3.0),
        "ee" => (1.35, 1.6),
        "oh" => (0.7, 4.5),
        "surprised" => (0.6, 4.0),
        "happy" => return unit * DVec3::new(1.3, 1.5, 1.0) + DVec3::Y * (3.0 * unit.x * unit.x),
        _ => (1.0, 1.0),
    };
    unit * DVec3::new(wide, high, 1.0)
}

/// Three times as far from the top of an eye.
fn closed(unit: DVec3) -> DVec3 {
    let (square, cos) = (1.0 - unit.y * unit.y, unit.y);
    let wide = 3.0 - 4.0 * square;
    DVec3::new(unit.x * wide, cos * (4.0 * cos * cos - 3.0), unit.z * wide)
}

fn parts(rig: &Rig) -> Vec<SkinPart> {
    let v = DVec3::new;
    let [mut fur, mut suit, mut white, mut black, mut cheeks] = [
        ("fur", 0),
        ("suit", 1),
        ("eyes", 2),
        ("pupils", 3),
        ("cheeks", 4),
    ]
    .map(|(name, material)| Shape::new(name, material));
    let (mut lids, mut lips) = (Shape::new("lids", 0), Shape::new("mouth", 3));
    fur.add(rig, "head", v(0.0, 1.02, 0.0), v(0.19, 0.17, 0.16));
    fur.add(rig, "neck", v(0.0, 0.82, 0.0), v(0.045, 0.05, 0.045));
    suit.add(rig, "hips", v(0.0, 0.53, 0.0), v(0.11, 0.09, 0.09));
    suit.add(rig, "spine", v(0.0, 0.62, 0.0), v(0.105, 0.08, 0.085));
    suit.add(rig, "chest", v(0.0, 0.72, 0.0), v(0.12, 0.10, 0.09));
    let ball = |radius: f64| DVec3::splat(radius);
    for (i, radius) in [0.045, 0.05, 0.055].iter().enumerate() {
        let [from, to] = [i + 1, i + 2].map(|i| rig.at(&format!("tail.{i}")));
        fur.add(
            rig,
            &format!("tail.{}", i + 1),
            from.midpoint(to),
            ball(*radius),
        );
    }
    let mouth_at = v(0.0, 0.935, -0.139);
    lips.add_cap(
        rig.find("head"),
        mouth_at,
        v(0.035, 0.006, 0.012),
        180.0,
        mouth,
    );
    for (side, s) in [("L", -1.0), ("R", 1.0)] {
        let m = |x: f64, y: f64, z: f64| v(x * s, y, z);
        let name = |n: &str| format!("{n}.{side}");
        suit.add(
            rig,
            &name("upper_arm"),
            m(0.195, 0.76, 0.0),
            v(0.09, 0.042, 0.042),
        );
        fur.add(
            rig,
            &name("forearm"),
            m(0.31, 0.76, 0.0),
            v(0.06, 0.036, 0.036),
        );
        fur.add(
            rig,
            &name("forearm_twist"),
            m(0.375, 0.76, 0.0),
            v(0.05, 0.034, 0.03),
        );
        fur.add(
            rig,
            &name("hand"),
            m(0.45, 0.76, 0.0),
            v(0.045, 0.026, 0.04),
        );
        suit.add(
            rig,
            &name("thigh"),
            m(0.07, 0.375, 0.0),
            v(0.055, 0.12, 0.055),
        );
        suit.add(
            rig,
            &name("shin"),
            m(0.07, 0.165, 0.0),
            v(0.045, 0.115, 0.045),
        );
        black.add(
            rig,
            &name("foot"),
            m(0.07, 0.03, -0.04),
            v(0.05, 0.032, 0.085),
        );
        cheeks.add(rig, "head", m(0.115, 0.955, -0.11), v(0.03, 0.02, 0.015));
        for i in 1..4 {
            let [from, to] = [i, i + 1].map(|i| rig.at(&name(&format!("ear.{i}"))));
            fur.add(
                rig,
                &name(&format!("ear.{i}")),
                from.midpoint(to),
                ball(0.058 - 0.006 * i as f64),
            );
        }
        let eye = rig.at(&name("eye"));
        white.add(rig, &name("eye"), eye, ball(EYE));
        black.add(
            rig,
            &name("eye"),
            eye - DVec3::Z * 0.034,
            v(0.02, 0.024, 0.014),
        );
        let blink: Moved = match side {
            "L" => |name, unit| {
                if name == "blinkLeft" {
                    closed(unit)
                } else {
                    unit
                }
            },
            _ => |name, unit| {
                if name == "blinkRight" {
                    closed(unit)
                } else {
                    unit
                }
            },
        };
        lids.add_cap(rig.find("head"), eye, ball(1.2 * EYE), 35.0, blink);
    }
    let all = [fur, suit, white, black, cheeks, lids, lips];
    all.into_iter().map(Shape::finish).collect()
}

/// Waves, blinks, and smiles.
fn greet(rig: &Rig) -> Motion {
    let steps = 48;
    Motion::new("greet", steps, PlaybackMode::Loop, |time| {
        let t = time * RATE / steps as f64;
        let mut pose: Pose = rig.rest();
        let sway = wave(t);
        let mut bend = |name: &str, axis: DVec3, degrees: f64| {
            let joint = rig.find(name);
            pose.turns[joint] = turn(axis, degrees) * pose.turns[joint];
        };
        bend("spine", DVec3::Z, 2.0 * sway);
        bend("chest", DVec3::Y, 4.0 * sway);
        bend("head", DVec3::Z, -6.0 * sway);
        bend("head", DVec3::X, 3.0 * wave(2.0 * t));
        bend("upper_arm.L", DVec3::Z, 68.0 + 2.0 * sway);
        bend("forearm.L", DVec3::Z, 12.0);
        bend("upper_arm.R", DVec3::Z, 20.0);
        bend("forearm.R", DVec3::Z, 55.0 + 18.0 * wave(2.0 * t));
        bend("hand.R", DVec3::X, 30.0 * wave(2.0 * t + 0.25));
        pose
    })
}

/// Changes the JSON of a binary glTF file.
fn with_extensions(glb: &[u8], edit: fn(&mut Value)) -> Vec<u8> {
    let word =
        |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().expect("it has four bytes"));
    let rest = 20 + word(12) as usize;
    let mut json: Value = serde_json::from_slice(&glb[20..rest]).expect("the exporter writes JSON");
    edit(&mut json);
    let mut text = json.to_string();
    text.extend(std::iter::repeat_n(' ', text.len().wrapping_neg() % 4));
    let whole = 20 + text.len() + glb.len() - rest;
    let sizes = [word(0), 2, whole as u32, text.len() as u32, word(16)];
    let head = sizes.iter().flat_map(|size| size.to_le_bytes());
    head.chain(text.bytes())
        .chain(glb[rest..].iter().copied())
        .collect()
}

/// The number of a node.
fn node(json: &Value, name: &str) -> usize {
    let nodes = json["nodes"].as_array().expect("a file has nodes");
    let found = nodes.iter().position(|node| node["name"] == name);
    found.unwrap_or_else(|| panic!("no node `{name}`"))
}

fn human_bones(json: &Value) -> Value {
    let bones = BONES
        .iter()
        .chain(&[("leftEye", "eye.L"), ("rightEye", "eye.R")]);
    let bones =
        bones.map(|(bone, joint)| ((*bone).to_owned(), json!({ "node": node(json, joint) })));
    json!({ "humanBones": Value::Object(bones.collect()) })
}

/// Adds VRM's extensions to the model.
fn avatar(json: &mut Value) {
    let binds = |names: &[&str]| {
        let mut all = Vec::new();
        for part in ["lids", "mouth"] {
            let node = node(json, part);
            let mesh = &json["meshes"]
                [json["nodes"][node]["mesh"].as_u64().expect("it has a mesh") as usize];
            let targets = mesh["extras"]["targetNames"]
                .as_array()
                .expect("it has targets");
            for (index, _) in targets
                .iter()
                .enumerate()
                .filter(|(_, target)| names.iter().any(|name| *target == name))
            {
                all.push(json!({ "node": node, "index": index, "weight": 1.0 }));
            }
        }
        json!(all)
    };
    let shown = |names: &[&str]| json!({ "morphTargetBinds": binds(names) });
    let red = |value: [f64; 4]| json!([{ "material": 4, "type": "color", "targetValue": value }]);
    let mut preset: serde_json::Map<String, Value> = SHAPES
        .iter()
        .map(|name| ((*name).to_owned(), shown(&[name])))
        .collect();
    preset.insert("blink".into(), shown(&["blinkLeft", "blinkRight"]));
    preset["happy"]["materialColorBinds"] = red([0.9, 0.3, 0.25, 1.0]);
    // Nobody speaks with an open mouth.
    preset["surprised"]["overrideMouth"] = json!("block");
    let blush = json!({ "materialColorBinds": red([0.95, 0.12, 0.15, 1.0]) });
    let range = |most: f64| json!({ "inputMaxValue": 60.0, "outputScale": most });
    let vrm = json!({
        "specVersion": "1.0",
        "meta": {
            "name": "Nib", "version": "1", "authors": ["the authors of bevy_marionette"],
            "licenseUrl": "https://vrm.dev/licenses/1.0/", "avatarPermission": "everyone",
            "commercialUsage": "corporation", "creditNotation": "unnecessary",
            "modification": "allowModificationRedistribution", "allowRedistribution": true,
        },
        "humanoid": human_bones(json),
        "lookAt": {
            "type": "bone", "offsetFromHeadBone": [0.0, 0.17, 0.14],
            "rangeMapHorizontalInner": range(22.0), "rangeMapHorizontalOuter": range(26.0),
            "rangeMapVerticalDown": range(16.0), "rangeMapVerticalUp": range(16.0),
        },
        "firstPerson": { "meshAnnotations": [
            { "node": node(json, "lids"), "type": "thirdPersonOnly" },
            { "node": node(json, "mouth"), "type": "thirdPersonOnly" },
        ] },
        "expressions": { "preset": preset, "custom": { "blush": blush } },
    });
    let spring = |name: &str, side: &str, stiffness: f64, gravity: f64| {
        let joints = (1..=4).map(|i| {
            json!({ "node": node(json, &format!("{name}.{i}{side}")), "stiffness": stiffness, "gravityPower": gravity,
                    "dragForce": 0.25, "hitRadius": 0.04 })
        });
        json!({ "name": format!("{name}{side}"), "joints": joints.collect::<Vec<_>>(), "colliderGroups": [0] })
    };
    let springs = json!({
        "specVersion": "1.0",
        "colliders": [
            { "node": node(json, "head"), "shape": { "sphere": { "offset": [0.0, 0.16, 0.0], "radius": 0.16 } } },
        ],
        "colliderGroups": [{ "name": "head", "colliders": [0] }],
        "springs": [
            spring("ear", ".L", 0.7, 0.1), spring("ear", ".R", 0.7, 0.1), spring("tail", "", 0.6, 0.0),
        ],
    });
    for side in ["L", "R"] {
        let [twist, hand] =
            ["forearm_twist", "hand"].map(|name| node(json, &format!("{name}.{side}")));
        let roll = json!({ "source": hand, "rollAxis": "Y", "weight": 0.5 });
        json["nodes"][twist]["extensions"] = json!({ "VRMC_node_constraint": { "specVersion": "1.0", "constraint": { "roll": roll } } });
    }
    json["extensionsUsed"] = json!(["VRMC_vrm", "VRMC_springBone", "VRMC_node_constraint"]);
    json["extensions"] = json!({ "VRMC_vrm": vrm, "VRMC_springBone": springs });
}

/// Adds VRM's extension for animations to a clip.
fn animation(json: &mut Value) {
    let humanoid = human_bones(json);
    json["extensionsUsed"] = json!(["VRMC_vrm_animation"]);
    json["extensions"] =
        json!({ "VRMC_vrm_animation": { "specVersion": "1.0", "humanoid": humanoid } });
}
