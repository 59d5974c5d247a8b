//! The Hound's body as layers of solids: one coat from nose to tail, and the tack on it.

// The length 0.318 m is not meant to be 1/π.
#![allow(clippy::approx_constant)]

use super::super::{
    field::{Clip, Field, Layer},
    rig::Rig,
    solids::{ROUND, between, cone, egg, shell, solids, tilted},
};
use super::{
    head,
    skeleton::{LEGS, SIDES, TAIL},
};
use glam::DVec3;

/// Regions of the Hound's surface.
pub mod part {
    pub const COAT: u8 = 0;
    pub const FACE: u8 = 1;
    pub const EAR: u8 = 2;
    pub const EYE: u8 = 3;
    pub const NOSE: u8 = 4;
    pub const CLAW: u8 = 5;
    pub const KERCHIEF: u8 = 6;
    pub const COLLAR: u8 = 7;
    pub const GIRTH: u8 = 8;
    pub const TAG: u8 = 9;
}

/// A box around the Hound, with room to spare.
pub const LOW: DVec3 = DVec3::new(-0.25, -0.1, -0.80);
pub const HIGH: DVec3 = DVec3::new(0.25, 1.25, 0.85);

/// All layers. Shells refer to the trunk, which comes first.
pub fn field(rig: &Rig) -> Field {
    let mut layers = vec![
        trunk(rig),
        legs(rig),
        paws(rig),
        tail(rig),
        head::skull(rig),
        head::ears(rig),
        head::eyes(rig),
        head::lids(rig, 1.0),
        head::lids(rig, -1.0),
        head::nose(rig),
        claws(rig),
        girth(),
    ];
    layers.extend(kerchief(rig));
    layers.extend(collar(rig));
    for layer in &mut layers {
        layer.clips.push(Clip {
            normal: DVec3::NEG_Y,
            offset: 0.0,
        });
    }
    Field::new(layers, LOW, HIGH)
}

/// Trunk, neck and the tops of the legs: thick and softly blended.
fn trunk(rig: &Rig) -> Layer {
    let bone = |n: &str| rig.find(n);
    let v = |y: f64, z: f64| DVec3::new(0.0, y, z);
    let deep = |x: f64| DVec3::new(x, 1.0, 1.0);
    let mut list = vec![
        // The rib cage, deep behind the elbows.
        tilted(
            egg(
                bone("chest"),
                v(0.552, -0.135),
                DVec3::new(0.110, 0.172, 0.172),
            ),
            DVec3::X,
            8.0,
        ),
        tilted(
            egg(
                bone("ribs"),
                v(0.486, -0.115),
                DVec3::new(0.076, 0.122, 0.152),
            ),
            DVec3::X,
            10.0,
        ),
        tilted(
            egg(
                bone("spine.2"),
                v(0.585, 0.005),
                DVec3::new(0.102, 0.122, 0.150),
            ),
            DVec3::X,
            15.0,
        ),
        egg(
            bone("chest"),
            v(0.540, -0.272),
            DVec3::new(0.060, 0.090, 0.058),
        ),
        // Withers and back.
        cone(
            bone("chest"),
            v(0.664, -0.180),
            0.058,
            v(0.668, -0.05),
            0.054,
            ROUND,
        ),
        cone(
            bone("spine.2"),
            v(0.660, -0.04),
            0.064,
            v(0.664, 0.07),
            0.062,
            ROUND,
        ),
        // The tucked waist.
        cone(
            bone("spine.1"),
            v(0.636, 0.07),
            0.084,
            v(0.648, 0.185),
            0.066,
            deep(0.86),
        ),
        tilted(
            egg(
                bone("hips"),
                v(0.634, 0.265),
                DVec3::new(0.082, 0.078, 0.122),
            ),
            DVec3::X,
            -14.0,
        ),
        // The neck, arched.
        cone(
            bone("neck.1"),
            v(0.632, -0.226),
            0.088,
            v(0.735, -0.300),
            0.070,
            deep(0.80),
        ),
        cone(
            bone("neck.1"),
            v(0.725, -0.290),
            0.071,
            v(0.790, -0.342),
            0.061,
            deep(0.84),
        ),
        cone(
            bone("neck.2"),
            v(0.790, -0.340),
            0.061,
            v(0.872, -0.402),
            0.055,
            deep(0.90),
        ),
    ];
    for (_, s) in SIDES {
        // The hip bones.
        list.push(egg(
            bone("hips"),
            DVec3::new(0.046 * s, 0.668, 0.225),
            DVec3::new(0.032, 0.028, 0.050),
        ));
    }
    for leg in LEGS {
        let s = leg.sign;
        let m = |x: f64, y: f64, z: f64| DVec3::new(x * s, y, z);
        let [upper, ..] = leg.joints(rig);
        if leg.fore {
            let scapula = rig.find(&format!("scapula.{}", leg.side));
            let flat = DVec3::new(0.82, 1.0, 1.0);
            // Shoulder blade, shoulder, and the muscle between them.
            list.push(cone(
                scapula,
                m(0.054, 0.655, -0.168),
                0.046,
                m(0.074, 0.555, -0.258),
                0.047,
                flat,
            ));
            list.push(cone(
                upper,
                m(0.078, 0.540, -0.258),
                0.045,
                m(0.088, 0.430, -0.176),
                0.036,
                flat,
            ));
            list.push(egg(
                upper,
                m(0.080, 0.515, -0.185),
                DVec3::new(0.036, 0.080, 0.056),
            ));
        } else {
            let flat = DVec3::new(0.58, 1.0, 1.0);
            list.push(cone(
                upper,
                m(0.064, 0.605, 0.288),
                0.092,
                m(0.092, 0.475, 0.226),
                0.062,
                flat,
            ));
            list.push(cone(
                upper,
                m(0.060, 0.580, 0.345),
                0.062,
                m(0.090, 0.460, 0.290),
                0.038,
                flat,
            ));
        }
    }
    solids(part::COAT, 0.042, 0.02, list)
}

/// Legs below elbow and stifle: bone and sinew.
fn legs(rig: &Rig) -> Layer {
    let mut list = Vec::new();
    for leg in LEGS {
        let s = leg.sign;
        let m = |x: f64, y: f64, z: f64| DVec3::new(x * s, y, z);
        let [upper, lower, foot, _] = leg.joints(rig);
        let flat = DVec3::new(0.85, 1.0, 1.0);
        if leg.fore {
            list.extend([
                cone(
                    upper,
                    m(0.088, 0.450, -0.188),
                    0.040,
                    m(0.091, 0.415, -0.168),
                    0.038,
                    flat,
                ),
                // The point of the elbow and the forearm, muscular above and lean below.
                cone(
                    lower,
                    m(0.091, 0.428, -0.142),
                    0.018,
                    m(0.091, 0.395, -0.158),
                    0.028,
                    ROUND,
                ),
                cone(
                    lower,
                    m(0.092, 0.395, -0.170),
                    0.038,
                    m(0.090, 0.275, -0.177),
                    0.0255,
                    flat,
                ),
                cone(
                    lower,
                    m(0.090, 0.280, -0.176),
                    0.0255,
                    m(0.088, 0.180, -0.184),
                    0.0215,
                    ROUND,
                ),
                // The wrist, its pad behind, the pastern.
                egg(
                    foot,
                    m(0.088, 0.163, -0.187),
                    DVec3::new(0.0245, 0.030, 0.0245),
                ),
                egg(
                    foot,
                    m(0.090, 0.138, -0.163),
                    DVec3::new(0.0095, 0.012, 0.010),
                ),
                cone(
                    foot,
                    m(0.088, 0.160, -0.186),
                    0.0210,
                    m(0.088, 0.060, -0.208),
                    0.0205,
                    ROUND,
                ),
            ]);
        } else {
            list.extend([
                cone(
                    upper,
                    m(0.094, 0.490, 0.228),
                    0.060,
                    m(0.101, 0.432, 0.208),
                    0.046,
                    DVec3::new(0.74, 1.0, 1.0),
                ),
                // Shin with the calf behind it, then bone and tendon.
                cone(
                    lower,
                    m(0.101, 0.424, 0.206),
                    0.045,
                    m(0.094, 0.315, 0.296),
                    0.030,
                    flat,
                ),
                cone(
                    lower,
                    m(0.097, 0.405, 0.262),
                    0.038,
                    m(0.093, 0.315, 0.318),
                    0.022,
                    flat,
                ),
                cone(
                    lower,
                    m(0.094, 0.315, 0.298),
                    0.026,
                    m(0.087, 0.220, 0.384),
                    0.0185,
                    ROUND,
                ),
                cone(
                    lower,
                    m(0.093, 0.325, 0.318),
                    0.014,
                    m(0.087, 0.238, 0.404),
                    0.012,
                    ROUND,
                ),
                // The point of the hock.
                egg(
                    foot,
                    m(0.086, 0.216, 0.399),
                    DVec3::new(0.019, 0.029, 0.022),
                ),
                cone(
                    foot,
                    m(0.086, 0.205, 0.391),
                    0.0215,
                    m(0.086, 0.060, 0.356),
                    0.0190,
                    ROUND,
                ),
            ]);
        }
    }
    solids(part::COAT, 0.016, 0.034, list)
}

/// Four toes and their pads around the ball of every foot.
fn paws(rig: &Rig) -> Layer {
    let mut list = Vec::new();
    for leg in LEGS {
        let [_, _, foot, toes] = leg.joints(rig);
        let (ball, k) = (rig.joints[toes].position, if leg.fore { 1.0 } else { 0.94 });
        let at = |x: f64, y: f64, z: f64| ball + DVec3::new(x * leg.sign, y, z) * k;
        list.push(cone(
            foot,
            at(0.0, 0.020, 0.004),
            0.0215 * k,
            at(0.0, -0.014, -0.002),
            0.0240 * k,
            ROUND,
        ));
        for (x, z) in TOES {
            let knuckle = at(x * 0.92, 0.0, z * 0.66);
            list.push(cone(
                toes,
                at(x * 0.5, 0.0, -0.008),
                0.0165 * k,
                knuckle,
                0.0165 * k,
                ROUND,
            ));
            list.push(cone(
                toes,
                knuckle,
                0.0165 * k,
                at(x, -0.023, z),
                0.0150 * k,
                ROUND,
            ));
        }
    }
    solids(part::COAT, 0.006, 0.012, list)
}

/// Tips of the toes: offset across from the ball, and ahead of it.
const TOES: [(f64, f64); 4] = [
    (-0.033, -0.042),
    (-0.0125, -0.066),
    (0.0125, -0.066),
    (0.033, -0.042),
];

fn claws(rig: &Rig) -> Layer {
    let mut list = Vec::new();
    for leg in LEGS {
        let [_, _, _, toes] = leg.joints(rig);
        let (ball, k) = (rig.joints[toes].position, if leg.fore { 1.0 } else { 0.94 });
        for (x, z) in TOES {
            let at = |y: f64, ahead: f64| ball + DVec3::new(x * leg.sign * 1.02, y, z + ahead) * k;
            list.push(cone(
                toes,
                at(-0.014, -0.010),
                0.0075,
                at(-0.030, -0.023),
                0.0045,
                ROUND,
            ));
        }
    }
    solids(part::CLAW, 0.002, 0.003, list)
}

fn tail(rig: &Rig) -> Layer {
    const THICK: [f64; 6] = [0.032, 0.0255, 0.0215, 0.0190, 0.0165, 0.0105];
    let at = |i: usize| DVec3::new(0.0, TAIL[i].0, TAIL[i].1);
    let root = DVec3::new(0.0, 0.664, 0.318);
    let mut list = vec![cone(
        rig.find("tail.1"),
        root,
        0.040,
        at(0),
        THICK[0],
        ROUND,
    )];
    let piece = |i: usize| {
        cone(
            rig.find(&format!("tail.{}", i + 1)),
            at(i),
            THICK[i],
            at(i + 1),
            THICK[i + 1],
            ROUND,
        )
    };
    list.extend((0..5).map(piece));
    solids(part::COAT, 0.012, 0.03, list)
}

/// A strap around the chest behind the elbows.
fn girth() -> Layer {
    let along = DVec3::new(0.0, 0.16, 1.0).normalize();
    let at = DVec3::new(0.0, 0.55, -0.030).dot(along);
    let mut clips = between(along, at - 0.019, at + 0.019);
    clips.push(Clip {
        normal: DVec3::NEG_Y,
        offset: -0.36,
    });
    shell(part::GIRTH, 0, 0.007, clips)
}

/// Across the neck at its root, and along the kerchief's lower side.
const NECK: DVec3 = DVec3::new(0.0, 0.894, -0.447);
const SLOPE: DVec3 = DVec3::new(0.0, 0.43, -0.90);
/// The kerchief's edge toward the head, along [`NECK`].
const KERCHIEF_TOP: f64 = 0.778;
/// The kerchief's lowest corner, and the slope of its sides.
pub const CORNER: f64 = 0.520;
pub const RISE: f64 = 1.35;

/// A folded kerchief around the neck, with a corner on the chest and a knot on the nape.
fn kerchief(rig: &Rig) -> [Layer; 3] {
    let side = |s: f64| Clip {
        normal: DVec3::new(RISE * s, -1.0, 0.0),
        offset: -CORNER,
    };
    let slope = Clip {
        normal: -SLOPE,
        offset: -0.4945,
    };
    let top = Clip {
        normal: NECK,
        offset: KERCHIEF_TOP,
    };
    let cloth = shell(
        part::KERCHIEF,
        0,
        0.008,
        vec![side(1.0), side(-1.0), slope, top],
    );
    let mut roll = shell(
        part::KERCHIEF,
        0,
        0.0165,
        between(NECK, KERCHIEF_TOP - 0.026, KERCHIEF_TOP + 0.004),
    );
    roll.seam = 0.012;
    let bone = rig.find("neck.1");
    let v = DVec3::new;
    let knot = vec![
        egg(bone, v(0.0, 0.752, -0.220), v(0.019, 0.017, 0.017)),
        cone(
            bone,
            v(0.006, 0.750, -0.212),
            0.009,
            v(0.034, 0.728, -0.168),
            0.0145,
            v(1.0, 0.7, 1.0),
        ),
        cone(
            bone,
            v(-0.006, 0.750, -0.212),
            0.009,
            v(-0.030, 0.722, -0.164),
            0.0140,
            v(1.0, 0.7, 1.0),
        ),
    ];
    [cloth, roll, solids(part::KERCHIEF, 0.008, 0.006, knot)]
}

/// A leather collar above the kerchief, and the tag on it.
fn collar(rig: &Rig) -> [Layer; 2] {
    let band = shell(part::COLLAR, 0, 0.0075, between(NECK, 0.808, 0.834));
    let tag = egg(
        rig.find("neck.1"),
        DVec3::new(0.0, 0.700, -0.382),
        DVec3::new(0.0135, 0.0155, 0.0075),
    );
    [band, solids(part::TAG, 0.002, 0.002, vec![tag])]
}
