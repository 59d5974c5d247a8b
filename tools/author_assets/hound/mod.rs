//! The Hound, a quadruped.

pub mod body;
pub mod head;
pub mod moves;
pub mod paint;
pub mod rest;
pub mod shape;
pub mod skeleton;

use super::{
    character::{Character, MaterialPlan, Plan, goal, mask, socket},
    contour::Lattice,
    rig::Rig,
    weights::Bend,
};
use bevy_marionette::{
    import::{FeetEntry, LegEntry, LookAtEntry, SocketEntry, SpringEntry},
    rig::Limb,
};
use glam::{DVec3, Vec3};
use shape::part;
use skeleton::{LEGS, Leg, drawn};

/// The Hound's materials, one mesh each.
const MATERIALS: [MaterialPlan; 5] = [
    MaterialPlan {
        name: "coat",
        size: 512,
        roughness: 0.72,
        reflectance: 0.35,
    },
    MaterialPlan {
        name: "head",
        size: 512,
        roughness: 0.70,
        reflectance: 0.35,
    },
    MaterialPlan {
        name: "eyes",
        size: 64,
        roughness: 0.12,
        reflectance: 0.60,
    },
    MaterialPlan {
        name: "horn",
        size: 64,
        roughness: 0.35,
        reflectance: 0.50,
    },
    MaterialPlan {
        name: "tack",
        size: 256,
        roughness: 0.70,
        reflectance: 0.40,
    },
];

/// Weight smoothing passes: the skin over shoulders and haunches is loose.
pub const SPREAD: usize = 8;

/// Size of the finest cells, in meters.
pub const LATTICE: Lattice = Lattice {
    low: DVec3::new(-1.1, -0.35, -1.1),
    finest: 0.0064,
    levels: 9,
};

/// Builds the Hound.
pub fn character() -> Character {
    let rig = skeleton::rig();
    let field = shape::field(&rig);
    let body = body::Body::new(rig.clone());
    Character::build(Plan {
        name: "hound",
        rig: &rig,
        field: &field,
        lattice: &LATTICE,
        size_at: &size_at,
        bend: &|joint| bend(&rig, joint),
        spread: SPREAD,
        influences: 6,
        materials: &MATERIALS,
        material: &material,
        detail: &|_| 1.0,
        fronts: &[],
        paint: &paint::HoundPaint,
        face: None,
        motions: moves::all(&body),
        masks: vec![
            ("head", mask(&["neck.1"], 1)),
            ("forehand", mask(&["chest"], 2)),
            ("hindlegs", mask(&["thigh.L", "thigh.R"], 0)),
            ("tail", mask(&["tail.1"], 1)),
            ("ears", mask(&["ear.1.L", "ear.1.R"], 0)),
        ],
        sockets: vec![
            ("lantern", socket("lantern", Vec3::ZERO)),
            // Upright at the end of the withers bone, which lies along the back.
            (
                "back",
                SocketEntry {
                    euler_degrees: Vec3::X * 90.0,
                    ..socket("spine.2", Vec3::Z * 0.02)
                },
            ),
        ],
        goals: vec![
            (
                "left_forepaw",
                goal(Limb::two_bone("upper_arm.L", "hand.L")),
            ),
            (
                "right_forepaw",
                goal(Limb::two_bone("upper_arm.R", "hand.R")),
            ),
            ("tail", goal(Limb::chain("tail.1", "tail.5"))),
        ],
        look_at: LookAtEntry::new([("neck.1", 0.3), ("neck.2", 0.3), ("head", 0.4)]),
        feet: FeetEntry::new("hips", LEGS.map(leg)),
        mirrored: vec![],
        borrowed: vec![],
        blend_spaces: vec![],
        springs: vec![
            SpringEntry {
                frequency: 3.5,
                damping: 0.25,
                max_angle: 45.0,
                ..SpringEntry::new(["ear.1.L", "ear.1.R"])
            },
            SpringEntry {
                frequency: 2.5,
                damping: 0.35,
                max_angle: 40.0,
                ..SpringEntry::new(["tail.1"])
            },
        ],
        colliders: vec![],
        m3d: false,
    })
}

fn leg(leg: Leg) -> LegEntry {
    let names = if leg.fore {
        ["upper_arm", "hand", "fingers"]
    } else {
        ["thigh", "foot", "toes"]
    };
    let [root, tip, toe] = names.map(|name| format!("{name}.{}", leg.side));
    LegEntry::new(root, tip).toe(toe)
}

pub fn material(p: u8) -> usize {
    match p {
        part::COAT => 0,
        part::FACE | part::EAR => 1,
        part::EYE => 2,
        part::NOSE | part::CLAW => 3,
        _ => 4,
    }
}

/// Cell size: smallest at eyes, ears and nose, small at head and legs, larger on the trunk.
pub fn size_at(p: DVec3) -> f64 {
    let face = drawn(p);
    let side = DVec3::new(p.x.abs(), face.y, face.z);
    let eye = side.distance(head::EYE_AT) < 0.027;
    let ear = face.y > 0.985 && side.z < -0.36;
    let nose = face.z < -0.618 && face.y < 0.93 && face.y > 0.85;
    if eye || ear || nose {
        return LATTICE.finest;
    }
    let head = p.y > 0.83 && p.z < -0.36;
    let cloth = p.distance(DVec3::new(0.0, 0.69, -0.33)) < 0.11;
    let leg = p.y < 0.34 || (p.y < 0.45 && p.z.abs() > 0.15);
    let tail = p.z > 0.38;
    LATTICE.finest
        * if head || cloth || leg || tail {
            2.0
        } else {
            4.0
        }
}

pub fn bend(rig: &Rig, joint: usize) -> Option<Bend> {
    let (bend, limb) = (Bend::shared, Bend::of_a_limb);
    match rig.stem(joint) {
        "spine.1" | "spine.2" | "chest" => bend(0.075, DVec3::NEG_Z),
        "ribs" => bend(0.060, DVec3::NEG_Y),
        "neck.1" => bend(0.085, DVec3::new(0.0, 0.6, -0.8)),
        "neck.2" => bend(0.050, DVec3::ZERO),
        "head" => bend(0.030, DVec3::new(0.0, 0.6, -0.8)),
        "jaw" => limb(0.018, DVec3::NEG_Z),
        "ear.1" => limb(0.018, DVec3::ZERO),
        "ear.2" => bend(0.025, DVec3::ZERO),
        "tail.1" => limb(0.045, DVec3::ZERO),
        "scapula" => limb(0.080, DVec3::new(0.0, -0.8, -0.6)),
        "upper_arm" => bend(0.050, DVec3::NEG_Y),
        "forearm" => bend(0.036, DVec3::ZERO),
        "hand" => bend(0.024, DVec3::ZERO),
        "fingers" => bend(0.018, DVec3::new(0.0, -0.4, -0.9)),
        "thigh" => limb(0.085, DVec3::new(0.0, -0.98, -0.2)),
        "shin" => bend(0.045, DVec3::ZERO),
        "foot" => bend(0.024, DVec3::ZERO),
        "toes" => bend(0.018, DVec3::new(0.0, -0.4, -0.9)),
        stem if stem.starts_with("tail") => bend(0.040, DVec3::ZERO),
        _ => None,
    }
}
