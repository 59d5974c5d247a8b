//! The Hound's 37 joints, hips first. Faces −Z; right is +X.

use super::super::rig::Rig;
use glam::DVec3;

/// The legs: fore before hind, left before right. Each has a name suffix and the sign of x.
pub const LEGS: [Leg; 4] = [
    Leg {
        fore: true,
        side: "L",
        sign: -1.0,
    },
    Leg {
        fore: true,
        side: "R",
        sign: 1.0,
    },
    Leg {
        fore: false,
        side: "L",
        sign: -1.0,
    },
    Leg {
        fore: false,
        side: "R",
        sign: 1.0,
    },
];
/// The sides of the body: name suffix and the sign of x.
pub const SIDES: [(&str, f64); 2] = [("L", -1.0), ("R", 1.0)];

/// One of the four legs.
#[derive(Clone, Copy)]
pub struct Leg {
    pub fore: bool,
    pub side: &'static str,
    pub sign: f64,
}

impl Leg {
    /// Upper bone, lower bone, the long bone of the foot, toes.
    pub fn joints(self, rig: &Rig) -> [usize; 4] {
        let names = if self.fore {
            ["upper_arm", "forearm", "hand", "fingers"]
        } else {
            ["thigh", "shin", "foot", "toes"]
        };
        names.map(|n| rig.find(&format!("{n}.{}", self.side)))
    }
}

/// Positions of the tail's joints, and its tip.
pub const TAIL: [(f64, f64); 6] = [
    (0.655, 0.352),
    (0.590, 0.432),
    (0.518, 0.482),
    (0.462, 0.545),
    (0.446, 0.628),
    (0.482, 0.715),
];

/// The right ear's root and tip, at design size.
const EAR: [DVec3; 2] = [
    DVec3::new(0.041, 0.968, -0.405),
    DVec3::new(0.070, 1.065, -0.392),
];

/// The head is designed with its neck joint at [`DRAWN`], then scaled by [`HEAD_GROWTH`] and moved to the neck's end.
const DRAWN: DVec3 = DVec3::new(0.0, 0.925, -0.392);
pub const HEAD_PIVOT: DVec3 = DVec3::new(0.0, 0.882, -0.395);
pub const HEAD_GROWTH: f64 = 1.18;

/// Maps a point from the head's design to the scaled head.
pub fn grown(p: DVec3) -> DVec3 {
    HEAD_PIVOT + (p - DRAWN) * HEAD_GROWTH
}

/// Maps a point of the scaled head back to the design.
pub fn drawn(p: DVec3) -> DVec3 {
    DRAWN + (p - HEAD_PIVOT) / HEAD_GROWTH
}

/// Builds the rig, standing.
pub fn rig() -> Rig {
    let mut rig = Rig::default();
    let v = DVec3::new;
    let mid = |y: f64, z: f64| v(0.0, y, z);
    let hips = rig.add("hips", None, mid(0.668, 0.265), mid(0.690, 0.19));
    let spine = rig.add("spine.1", Some(hips), mid(0.690, 0.190), mid(0.700, 0.05));
    let middle = rig.add(
        "spine.2",
        Some(spine),
        mid(0.700, 0.050),
        mid(0.690, -0.085),
    );
    let chest = rig.add("chest", Some(middle), mid(0.690, -0.085), mid(0.690, -0.24));
    // Moves as the chest breathes.
    rig.add("ribs", Some(chest), mid(0.640, -0.02), mid(0.45, -0.12));
    let neck = rig.add(
        "neck.1",
        Some(chest),
        mid(0.685, -0.240),
        mid(0.785, -0.330),
    );
    let upper = rig.add("neck.2", Some(neck), mid(0.785, -0.330), HEAD_PIVOT);
    let head = rig.add("head", Some(upper), HEAD_PIVOT, grown(mid(0.885, -0.66)));
    rig.add(
        "jaw",
        Some(head),
        grown(mid(0.896, -0.445)),
        grown(mid(0.866, -0.61)),
    );
    // Held in the teeth, always upright.
    let teeth = grown(mid(0.872, -0.598));
    rig.add("lantern", Some(head), teeth, teeth + DVec3::Y);
    for (side, s) in SIDES {
        let [base, tip] = EAR.map(|p| grown(p * v(s, 1.0, 1.0)));
        let ear = rig.add(&format!("ear.1.{side}"), Some(head), base, tip);
        rig.add(
            &format!("ear.2.{side}"),
            Some(ear),
            base.lerp(tip, 0.58),
            tip,
        );
    }
    let mut parent = hips;
    for i in 0..5 {
        let [(y, z), (tip_y, tip_z)] = [TAIL[i], TAIL[i + 1]];
        parent = rig.add(
            &format!("tail.{}", i + 1),
            Some(parent),
            mid(y, z),
            mid(tip_y, tip_z),
        );
    }
    for (side, s) in SIDES {
        let name = |n: &str| format!("{n}.{side}");
        let m = |x: f64, y: f64, z: f64| v(x * s, y, z);
        let (shoulder, elbow, wrist) = (
            m(0.088, 0.540, -0.285),
            m(0.092, 0.412, -0.165),
            m(0.088, 0.165, -0.185),
        );
        let scapula = rig.add(
            &name("scapula"),
            Some(chest),
            m(0.045, 0.715, -0.150),
            shoulder,
        );
        let upper_arm = rig.add(&name("upper_arm"), Some(scapula), shoulder, elbow);
        let forearm = rig.add(&name("forearm"), Some(upper_arm), elbow, wrist);
        let hand = rig.add(&name("hand"), Some(forearm), wrist, m(0.088, 0.040, -0.215));
        rig.add(
            &name("fingers"),
            Some(hand),
            m(0.088, 0.040, -0.215),
            m(0.090, 0.024, -0.285),
        );
        let (hip, knee, hock) = (
            m(0.075, 0.622, 0.298),
            m(0.102, 0.425, 0.195),
            m(0.086, 0.208, 0.392),
        );
        let thigh = rig.add(&name("thigh"), Some(hips), hip, knee);
        let shin = rig.add(&name("shin"), Some(thigh), knee, hock);
        let foot = rig.add(&name("foot"), Some(shin), hock, m(0.086, 0.040, 0.350));
        rig.add(
            &name("toes"),
            Some(foot),
            m(0.086, 0.040, 0.350),
            m(0.088, 0.024, 0.280),
        );
    }
    rig
}
