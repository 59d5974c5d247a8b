//! Scout, the humanoid.

pub mod adventure;
pub mod body;
pub mod face;
pub mod moves;
pub mod paint;
pub mod rest;
pub mod shape;
pub mod skeleton;

use super::{
    character::{Character, MaterialPlan, Plan, goal, mask, socket},
    contour::Lattice,
    gait::Gait,
    rig::Rig,
    weights::Bend,
};
use bevy_marionette::{
    import::{
        BlendPlace, BlendSpaceEntry, ColliderEntry, FeetEntry, LegEntry, LookAtEntry, SpringEntry,
    },
    rig::Limb,
};
use glam::{DVec3, Vec3};
use shape::part;

/// Scout's five materials. Skin and jacket have the most detail.
const MATERIALS: [MaterialPlan; 5] = [
    MaterialPlan {
        name: "skin",
        size: 512,
        roughness: 0.62,
        reflectance: 0.35,
    },
    MaterialPlan {
        name: "hair",
        size: 256,
        roughness: 0.55,
        reflectance: 0.45,
    },
    MaterialPlan {
        name: "jacket",
        size: 512,
        roughness: 0.85,
        reflectance: 0.30,
    },
    MaterialPlan {
        name: "trousers",
        size: 256,
        roughness: 0.88,
        reflectance: 0.30,
    },
    MaterialPlan {
        name: "leather",
        size: 512,
        roughness: 0.58,
        reflectance: 0.45,
    },
];

/// Builds Scout.
pub fn character() -> Character {
    let rig = skeleton::rig();
    let field = shape::field(&rig);
    let size_at = sizes(&rig);
    let lattice = Lattice {
        low: DVec3::new(-1.4, -0.25, -1.4),
        finest: 0.0022,
        levels: 11,
    };
    let body = body::Body::new(rig.clone());
    let bend = |joint: usize| bend(&rig, joint);
    // Keeps the ponytail outside of her head.
    let skull = ColliderEntry {
        kind: Default::default(),
        joint: "head".into(),
        center: Vec3::Y * 0.13,
        end: None,
        radius: 0.11,
    };
    Character::build(Plan {
        name: "scout",
        rig: &rig,
        field: &field,
        lattice: &lattice,
        size_at: &size_at,
        bend: &bend,
        spread: 4,
        influences: 4,
        materials: &MATERIALS,
        material: &material,
        detail: &|p| match p {
            part::FACE => 1.5,
            part::EYE => 2.4,
            _ => 1.0,
        },
        fronts: &[(part::FACE, DVec3::NEG_Z)],
        paint: &paint::ScoutPaint,
        face: Some(&face::ScoutFace),
        motions: moves::all(&body),
        masks: vec![
            // Fades toward the hips, which follow the legs.
            ("upper_body", mask(&["upper_chest"], 2)),
            ("legs", mask(&["thigh.L", "thigh.R"], 0)),
            ("arm.R", mask(&["clavicle.R"], 2)),
            ("arm.L", mask(&["clavicle.L"], 2)),
            ("head", mask(&["neck"], 1)),
        ],
        sockets: vec![
            ("right_hand", socket("grip.R", Vec3::ZERO)),
            ("left_hand", socket("grip.L", Vec3::ZERO)),
            ("head", socket("head", Vec3::new(0.0, 0.27, 0.0))),
            ("back", socket("pack", Vec3::new(0.0, 0.0, 0.13))),
        ],
        goals: vec![
            ("left_hand", goal(Limb::two_bone("upper_arm.L", "hand.L"))),
            ("right_hand", goal(Limb::two_bone("upper_arm.R", "hand.R"))),
            ("left_foot", goal(Limb::two_bone("thigh.L", "foot.L"))),
            ("right_foot", goal(Limb::two_bone("thigh.R", "foot.R"))),
        ],
        look_at: LookAtEntry::new([
            ("chest", 0.1),
            ("upper_chest", 0.15),
            ("neck", 0.3),
            ("head", 0.45),
        ]),
        feet: FeetEntry::new(
            "hips",
            ["L", "R"].map(|s| {
                LegEntry::new(format!("thigh.{s}"), format!("foot.{s}")).toe(format!("toes.{s}"))
            }),
        ),
        mirrored: vec![("walk_right", "walk_left"), ("jog_right", "jog_left")],
        borrowed: vec![("cheer", "../mannequin/mannequin.glb")],
        blend_spaces: vec![("locomotion", locomotion())],
        springs: vec![
            SpringEntry {
                damping: 0.3,
                radius: 0.03,
                max_angle: 50.0,
                colliders: vec!["skull".into()],
                ..SpringEntry::new(["hair.1"])
            },
            SpringEntry {
                frequency: 1.5,
                damping: 0.3,
                max_angle: 40.0,
                ..SpringEntry::new(["scarf.1"])
            },
        ],
        colliders: vec![("skull", skull)],
        m3d: true,
    })
}

fn material(p: u8) -> usize {
    match p {
        part::FACE | part::HAND | part::EYE | part::MOUTH_INSIDE | part::TEETH => 0,
        part::HAIR => 1,
        part::JACKET | part::SCARF => 2,
        part::TROUSERS | part::ROLL => 3,
        _ => 4,
    }
}

/// Gaits by their turn to the left, in degrees per second, and their speed, in meters per second.
fn locomotion() -> BlendSpaceEntry {
    let turn = |gait: &Gait| (gait.curve * gait.speed).to_degrees().round();
    let [walk, jog] = [moves::WALK_LEFT, moves::JOG_LEFT].map(|gait| turn(&gait));
    let (slow, fast) = (moves::WALK.speed, moves::JOG.speed);
    let points = [
        ("idle", 0.0, 0.0),
        ("walk", 0.0, slow),
        ("walk_left", walk, slow),
        ("walk_right", -walk, slow),
        ("jog", 0.0, fast),
        ("jog_left", jog, fast),
        ("jog_right", -jog, fast),
    ];
    let point =
        |(clip, turn, speed): (&str, f64, f64)| (clip.to_owned(), BlendPlace::Plane(turn, speed));
    BlendSpaceEntry {
        points: points.map(point).into(),
        smoothing: 0.4,
        ..BlendSpaceEntry::default()
    }
}

/// Cell size: small at hands and face, large on the back.
fn sizes(rig: &Rig) -> impl Fn(DVec3) -> f64 + use<> {
    let hands = ["hand.L", "hand.R"].map(|n| rig.at(n));
    let fingers = ["middle.2.L", "middle.2.R"].map(|n| rig.at(n));
    move |p: DVec3| {
        let hand = hands
            .iter()
            .zip(&fingers)
            .any(|(h, f)| p.distance(*h) < 0.06 || p.distance(*f) < 0.125);
        if hand {
            return 0.0088;
        }
        if p.z < -0.06 {
            let ((x, y), (mx, my)) = (face::at_eye(p), face::at_mouth(p));
            let eye = x.abs() < 23.0 && y > -16.0 && y < 27.0;
            let mouth = mx.abs() < 27.0 && my.abs() < 8.0;
            if eye || mouth {
                return 0.0022;
            }
            if mx.abs() < 40.0 && my > -34.0 && my < 24.0 {
                return 0.0044;
            }
        }
        if p.y > 1.50 && p.y < 1.72 && p.z < -0.075 && p.x.abs() < 0.085 {
            return 0.0088;
        }
        let head = p.y > 1.49;
        let sleeve = p.x.abs() > 0.17 && p.y > 0.95;
        let small = p.y < 0.16 || p.distance(DVec3::new(0.0, 1.42, 0.0)) < 0.14;
        let belt = (p.y - 0.94).abs() < 0.12 && p.x.abs() < 0.25;
        if head || sleeve || small || belt {
            0.0176
        } else {
            0.0352
        }
    }
}

fn bend(rig: &Rig, joint: usize) -> Option<Bend> {
    let bend = Bend::shared;
    match rig.stem(joint) {
        "spine" | "chest" | "upper_chest" => bend(0.055, DVec3::Y),
        "neck" => bend(0.035, DVec3::Y),
        "head" => bend(0.030, DVec3::new(0.0, 0.8, -0.6)),
        "upper_arm" => bend(0.060, DVec3::ZERO),
        "forearm" => bend(0.045, DVec3::ZERO),
        "forearm_twist" => bend(0.075, DVec3::ZERO),
        "hand" => bend(0.028, DVec3::ZERO),
        "shin" => bend(0.055, DVec3::ZERO),
        "foot" => bend(0.035, DVec3::Y * -1.0),
        "toes" => bend(0.025, DVec3::NEG_Z),
        "hair.1" | "hair.2" | "scarf.1" | "scarf.2" => bend(0.025, DVec3::ZERO),
        stem if stem.ends_with(".2") || stem.ends_with(".3") => bend(0.008, DVec3::ZERO),
        stem if stem.ends_with(".1") => bend(0.009, DVec3::ZERO),
        _ => None,
    }
}
