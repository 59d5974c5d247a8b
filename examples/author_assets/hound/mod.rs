//! The Hound, a quadruped.

pub mod body;
pub mod head;
pub mod moves;
pub mod paint;
pub mod rest;
pub mod shape;
pub mod skeleton;

use super::{
    character::{Character, MaterialPlan, Plan, mask, socket},
    contour::Lattice,
    rig::Rig,
    weights::Bend,
};
use glam::{DVec3, Vec3};
use shape::part;
use skeleton::drawn;

/// The Hound's materials, one mesh each.
const MATERIALS: [MaterialPlan; 5] = [
    MaterialPlan { name: "coat", size: 512, roughness: 0.72, reflectance: 0.35 },
    MaterialPlan { name: "head", size: 512, roughness: 0.70, reflectance: 0.35 },
    MaterialPlan { name: "eyes", size: 64, roughness: 0.12, reflectance: 0.60 },
    MaterialPlan { name: "horn", size: 64, roughness: 0.35, reflectance: 0.50 },
    MaterialPlan { name: "tack", size: 256, roughness: 0.70, reflectance: 0.40 },
];

/// Space is cut this finely.
pub const LATTICE: Lattice = Lattice { low: DVec3::new(-0.96, -0.30, -0.96), finest: 0.0055, levels: 9 };

/// Everything about the Hound that the writers need.
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
        influences: 6,
        materials: &MATERIALS,
        material: &material,
        detail: &|_| 1.0,
        paint: &paint::HoundPaint,
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
            ("mouth", socket("jaw", Vec3::new(0.0, 0.13, 0.03))),
            ("back", socket("spine.2", Vec3::ZERO)),
        ],
        m3d: false,
    })
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

/// Sides of the mesh's cells: smallest at the face, small at head, paws and legs, larger on the trunk.
pub fn size_at(p: DVec3) -> f64 {
    let face = drawn(p);
    let side = DVec3::new(p.x.abs(), face.y, face.z);
    if side.distance(head::EYE_AT) < 0.026 || (face.z < -0.628 && face.y < 0.93) {
        return 0.0055;
    }
    let head = p.y > 0.83 && p.z < -0.36;
    let ring = p.distance(DVec3::new(0.0, 0.655, -0.372)) < 0.045;
    let leg = p.y < 0.34 || (p.y < 0.45 && p.z.abs() > 0.15);
    let tail = p.z > 0.38;
    if head || ring || leg || tail { 0.011 } else { 0.022 }
}

pub fn bend(rig: &Rig, joint: usize) -> Option<Bend> {
    let name = rig.joints[joint].name.as_str();
    let (stem, _) = name.rsplit_once('.').filter(|(_, side)| matches!(*side, "L" | "R")).unwrap_or((name, ""));
    let bend = |width: f64, across: DVec3| Some(Bend { width, across });
    match stem {
        "spine.1" | "spine.2" | "chest" => bend(0.075, DVec3::NEG_Z),
        "ribs" => bend(0.060, DVec3::NEG_Y),
        "neck.1" => bend(0.055, DVec3::new(0.0, 0.6, -0.8)),
        "neck.2" => bend(0.050, DVec3::ZERO),
        "head" => bend(0.030, DVec3::new(0.0, 0.6, -0.8)),
        "jaw" => bend(0.018, DVec3::NEG_Z),
        "ear.1" => bend(0.018, DVec3::ZERO),
        "ear.2" => bend(0.025, DVec3::ZERO),
        "tail.1" => bend(0.045, DVec3::ZERO),
        "scapula" => bend(0.060, DVec3::NEG_Y),
        "upper_arm" => bend(0.050, DVec3::NEG_Y),
        "forearm" => bend(0.036, DVec3::ZERO),
        "hand" => bend(0.024, DVec3::ZERO),
        "fingers" => bend(0.018, DVec3::new(0.0, -0.4, -0.9)),
        "thigh" => bend(0.070, DVec3::NEG_Y),
        "shin" => bend(0.045, DVec3::ZERO),
        "foot" => bend(0.024, DVec3::ZERO),
        "toes" => bend(0.018, DVec3::new(0.0, -0.4, -0.9)),
        _ if stem.starts_with("tail") => bend(0.040, DVec3::ZERO),
        _ => None,
    }
}
