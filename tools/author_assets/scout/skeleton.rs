//! Scout's 53 joints, hips first. Faces −Z; right is +X.

use super::super::rig::Rig;
use glam::DVec3;

/// The sides of the body: name suffix and the sign of x.
pub const SIDES: [(&str, f64); 2] = [("L", -1.0), ("R", 1.0)];
/// Fingers: position across the palm (thumb side positive), spread in degrees, and length.
pub const FINGERS: [(&str, f64, f64, f64); 3] = [
    ("index", 0.029, 8.0, 0.088),
    ("middle", 0.0, 0.0, 0.098),
    ("ring", -0.029, -9.0, 0.086),
];

/// A hand's axes at rest: along the fingers, out of the palm, toward the thumb.
pub struct HandAxes {
    pub along: DVec3,
    pub palm: DVec3,
    pub thumb: DVec3,
}

/// The axes of the hand on the side of sign `s`.
pub fn hand_axes(s: f64) -> HandAxes {
    let along = DVec3::new(0.68 * s, -0.72, -0.12).normalize();
    let thumb = DVec3::NEG_Z.reject_from_normalized(along).normalize();
    HandAxes {
        along,
        palm: thumb.cross(along) * s,
        thumb,
    }
}

/// The head is designed at life size and scaled about this point by [`HEAD_GROWTH`].
pub const HEAD_PIVOT: DVec3 = DVec3::new(0.0, 1.49, 0.01);
pub const HEAD_GROWTH: f64 = 1.12;

/// Maps a point from the head's design to the scaled head.
pub fn grown(p: DVec3) -> DVec3 {
    HEAD_PIVOT + (p - HEAD_PIVOT) * HEAD_GROWTH
}

/// Builds the rig, standing with its arms half lowered.
pub fn rig() -> Rig {
    let mut rig = Rig::default();
    let v = DVec3::new;
    let hips = rig.add("hips", None, v(0.0, 0.93, 0.0), v(0.0, 1.0, 0.0));
    let spine = rig.add(
        "spine",
        Some(hips),
        v(0.0, 1.02, 0.004),
        v(0.0, 1.14, 0.008),
    );
    let chest = rig.add(
        "chest",
        Some(spine),
        v(0.0, 1.14, 0.008),
        v(0.0, 1.26, 0.012),
    );
    let upper = rig.add(
        "upper_chest",
        Some(chest),
        v(0.0, 1.26, 0.012),
        v(0.0, 1.42, 0.018),
    );
    let neck = rig.add(
        "neck",
        Some(upper),
        v(0.0, 1.425, 0.018),
        v(0.0, 1.50, 0.006),
    );
    let head = rig.add(
        "head",
        Some(neck),
        v(0.0, 1.505, 0.006),
        v(0.0, 1.78, 0.006),
    );
    let tail = rig.add(
        "hair.1",
        Some(head),
        grown(v(0.0, 1.705, 0.125)),
        grown(v(0.0, 1.64, 0.195)),
    );
    rig.add(
        "hair.2",
        Some(tail),
        grown(v(0.0, 1.635, 0.2)),
        grown(v(0.0, 1.53, 0.215)),
    );
    rig.add("pack", Some(upper), v(0.0, 1.25, 0.11), v(0.0, 1.38, 0.13));
    let scarf = rig.add(
        "scarf.1",
        Some(upper),
        v(-0.085, 1.40, 0.085),
        v(-0.160, 1.31, 0.150),
    );
    rig.add(
        "scarf.2",
        Some(scarf),
        v(-0.166, 1.30, 0.156),
        v(-0.19, 1.13, 0.2),
    );
    for (side, s) in SIDES {
        let name = |n: &str| format!("{n}.{side}");
        let m = |x: f64, y: f64, z: f64| v(x * s, y, z);
        let (shoulder, elbow, wrist) = (
            m(0.168, 1.385, 0.012),
            m(0.352, 1.192, 0.026),
            m(0.515, 1.022, -0.006),
        );
        let clavicle = rig.add(
            &name("clavicle"),
            Some(upper),
            m(0.03, 1.385, 0.005),
            shoulder,
        );
        let arm = rig.add(&name("upper_arm"), Some(clavicle), shoulder, elbow);
        let forearm = rig.add(&name("forearm"), Some(arm), elbow, wrist);
        let twist = rig.add(
            &name("forearm_twist"),
            Some(forearm),
            elbow.lerp(wrist, 0.55),
            wrist,
        );
        let HandAxes { along, palm, thumb } = hand_axes(s);
        let hand = rig.add(&name("hand"), Some(twist), wrist, wrist + along);
        rig.add(
            &name("grip"),
            Some(hand),
            wrist + along * 0.09 + palm * 0.035,
            wrist + along * 0.09 + palm * 0.035 + thumb,
        );
        for (finger, across, spread, length) in FINGERS {
            let way = super::super::maths::turn(palm * -s, spread) * along;
            let mut at = wrist + along * (0.098 - across.abs() * 0.25) + thumb * across;
            let mut parent = hand;
            for (i, share) in [0.42, 0.31, 0.27].into_iter().enumerate() {
                let tip = at + way * (length * share);
                parent = rig.add(&format!("{finger}.{}.{side}", i + 1), Some(parent), at, tip);
                at = tip;
            }
        }
        let mut at = wrist + along * 0.022 + thumb * 0.03 + palm * 0.006;
        let way = (along * 0.66 + thumb * 0.7 + palm * 0.32).normalize();
        let mut parent = hand;
        for (i, length) in [0.042, 0.036, 0.032].into_iter().enumerate() {
            let tip = at + way * length;
            parent = rig.add(&format!("thumb.{}.{side}", i + 1), Some(parent), at, tip);
            at = tip;
        }
        let (hip, knee, ankle) = (
            m(0.092, 0.90, 0.0),
            m(0.104, 0.495, -0.012),
            m(0.114, 0.098, 0.018),
        );
        let thigh = rig.add(&name("thigh"), Some(hips), hip, knee);
        let shin = rig.add(&name("shin"), Some(thigh), knee, ankle);
        let foot = rig.add(&name("foot"), Some(shin), ankle, m(0.126, 0.03, -0.105));
        rig.add(
            &name("toes"),
            Some(foot),
            m(0.126, 0.03, -0.105),
            m(0.132, 0.03, -0.19),
        );
    }
    rig
}

/// Returns the end of a finger's last bone.
pub fn finger_tip(rig: &Rig, finger: &str, side: &str) -> DVec3 {
    let (a, b) = (
        rig.at(&format!("{finger}.2.{side}")),
        rig.at(&format!("{finger}.3.{side}")),
    );
    b + (b - a) * 0.8
}
