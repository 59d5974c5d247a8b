//! Scout's body and clothes as layers of solids.

use super::super::{
    field::{Clip, Field, Layer, Solid},
    rig::Rig,
    solids::{ROUND, between, block, carved, cone, egg, shell, solids, tilted},
};
use super::skeleton::{FINGERS, HEAD_GROWTH, HEAD_PIVOT, HandAxes, SIDES, finger_tip, hand_axes};
use glam::DVec3;

/// Regions of Scout's surface.
pub mod part {
    pub const FACE: u8 = 0;
    pub const HAND: u8 = 1;
    pub const HAIR: u8 = 2;
    pub const JACKET: u8 = 3;
    pub const SCARF: u8 = 4;
    pub const TROUSERS: u8 = 5;
    pub const BOOT: u8 = 6;
    pub const BELT: u8 = 7;
    pub const STRAP: u8 = 8;
    pub const PACK: u8 = 9;
    pub const ROLL: u8 = 10;
    pub const CUFF: u8 = 11;
    pub const KNEE: u8 = 12;
    pub const SOLE: u8 = 13;
    pub const EYE_HOLE: u8 = 14;
    pub const MOUTH_HOLE: u8 = 15;
    pub const EYE: u8 = 16;
    pub const MOUTH_INSIDE: u8 = 17;
    pub const TEETH: u8 = 18;
}

/// A box around Scout, with room to spare.
pub const LOW: DVec3 = DVec3::new(-0.85, -0.1, -0.45);
pub const HIGH: DVec3 = DVec3::new(0.85, 1.95, 0.45);

/// All layers. Shells refer to an earlier layer by index.
pub fn field(rig: &Rig) -> Field {
    let mut layers = vec![
        head(rig),
        hands(rig),
        trousers(rig), // 2
        jacket(rig),   // 3
        sleeves(rig),  // 4
        boots(rig),    // 5
        scarf(rig),
        hair(rig),
        pack(rig),
        roll(rig),
        pouches(rig),
    ];
    layers.push(shell(part::BELT, 3, 0.010, between(DVec3::Y, 0.985, 1.03)));
    for (side, s) in SIDES {
        // Straps over the shoulders, converging toward the belt.
        let lean = DVec3::new(s, 0.12, 0.0).normalize();
        let mut clips = between(lean, 0.232, 0.268);
        clips.push(Clip {
            normal: DVec3::NEG_Y,
            offset: -1.01,
        });
        clips.push(Clip {
            normal: DVec3::Y,
            offset: 1.46,
        });
        layers.push(shell(part::STRAP, 3, 0.009, clips));
        let wrist = rig.at(&format!("hand.{side}"));
        let along = (wrist - rig.at(&format!("forearm.{side}"))).normalize();
        let at = wrist.dot(along);
        layers.push(shell(
            part::CUFF,
            4,
            0.006,
            between(along, at - 0.085, at - 0.012),
        ));
    }
    layers.push(shell(part::BOOT, 5, 0.008, between(DVec3::Y, 0.315, 0.362)));
    layers.push(shell(part::SOLE, 5, 0.006, between(DVec3::Y, -1.0, 0.026)));
    layers.push(knees(rig));
    // Cut everything off at the floor.
    for layer in &mut layers {
        layer.clips.push(Clip {
            normal: DVec3::NEG_Y,
            offset: 0.0,
        });
    }
    Field::new(layers, LOW, HIGH).with_decals(super::face::holes())
}

fn head(rig: &Rig) -> Layer {
    let (head, neck) = (rig.find("head"), rig.find("neck"));
    let v = DVec3::new;
    let mut list = vec![
        egg(head, v(0.0, 1.652, 0.004), v(0.104, 0.122, 0.116)),
        egg(head, v(0.0, 1.585, -0.026), v(0.083, 0.078, 0.086)),
        cone(
            head,
            v(0.0, 1.527, -0.072),
            0.027,
            v(0.0, 1.535, -0.06),
            0.034,
            ROUND,
        ),
        cone(
            head,
            v(0.0, 1.622, -0.113),
            0.010,
            v(0.0, 1.593, -0.126),
            0.0145,
            ROUND,
        ),
        cone(
            neck,
            v(0.0, 1.38, 0.02),
            0.062,
            v(0.0, 1.54, 0.01),
            0.056,
            ROUND,
        ),
        // Lips, a soft ridge.
        egg(head, v(0.0, 1.557, -0.098), v(0.03, 0.012, 0.016)),
    ];
    for (_, s) in SIDES {
        list.push(egg(
            head,
            v(0.054 * s, 1.592, -0.066),
            v(0.034, 0.034, 0.034),
        ));
        // The jaw, so that the cheeks cast no shadow on it.
        list.push(egg(
            head,
            v(0.034 * s, 1.555, -0.058),
            v(0.031, 0.032, 0.034),
        ));
        list.push(cone(
            head,
            v(0.024 * s, 1.661, -0.104),
            0.013,
            v(0.066 * s, 1.658, -0.084),
            0.012,
            ROUND,
        ));
        list.push(carved(egg(
            head,
            v(0.044 * s, 1.631, -0.122),
            v(0.030, 0.020, 0.022),
        )));
        list.push(tilted(
            egg(head, v(0.103 * s, 1.605, 0.010), v(0.012, 0.031, 0.020)),
            DVec3::Y,
            -24.0 * s,
        ));
    }
    grow(&mut list, neck);
    solids(part::FACE, 0.032, 0.006, list)
}

/// Scales the life-size design, except the solids of bone `except`.
fn grow(list: &mut [Solid], except: usize) {
    for solid in list.iter_mut().filter(|s| s.bone != except) {
        solid.shape = solid.shape.grown(HEAD_PIVOT, HEAD_GROWTH);
    }
}

fn hands(rig: &Rig) -> Layer {
    let mut list = Vec::new();
    for (side, s) in SIDES {
        let bone = |n: &str| rig.find(&format!("{n}.{side}"));
        let HandAxes { along, palm, thumb } = hand_axes(s);
        let wrist = rig.at(&format!("hand.{side}"));
        let hand = bone("hand");
        let forearm = rig.at(&format!("forearm.{side}"));
        list.push(cone(
            bone("forearm_twist"),
            wrist.lerp(forearm, 0.3),
            0.034,
            wrist,
            0.028,
            ROUND,
        ));
        // The palm: three rays from the wrist to the knuckles, and the ball of the thumb.
        for (finger, _, _, _) in FINGERS {
            let knuckle = rig.at(&format!("{finger}.1.{side}"));
            let base = wrist + along * 0.012 + thumb * (knuckle - wrist).dot(thumb) * 0.45;
            list.push(cone(
                hand,
                base,
                0.0215,
                knuckle - along * 0.008,
                0.0165,
                ROUND,
            ));
        }
        let ball = wrist + along * 0.032 + thumb * 0.022 + palm * 0.014;
        list.push(cone(
            hand,
            ball,
            0.02,
            rig.at(&format!("thumb.2.{side}")),
            0.0155,
            ROUND,
        ));
        for (finger, _, _, _) in FINGERS {
            let joints = [1, 2, 3].map(|i| bone_of(rig, finger, i, side));
            let at = joints.map(|j| rig.joints[j].position);
            let tip = finger_tip(rig, finger, side);
            list.push(cone(joints[0], at[0], 0.0145, at[1], 0.0132, ROUND));
            list.push(cone(joints[1], at[1], 0.0132, at[2], 0.0124, ROUND));
            list.push(cone(
                joints[2],
                at[2],
                0.0124,
                tip - (tip - at[2]).normalize() * 0.011,
                0.0108,
                ROUND,
            ));
        }
        let at = [1, 2, 3].map(|i| rig.joints[bone_of(rig, "thumb", i, side)].position);
        let tip = finger_tip(rig, "thumb", side);
        list.push(cone(bone("thumb.1"), at[0], 0.019, at[1], 0.0165, ROUND));
        list.push(cone(bone("thumb.2"), at[1], 0.0162, at[2], 0.0148, ROUND));
        list.push(cone(
            bone("thumb.3"),
            at[2],
            0.0148,
            tip - (tip - at[2]).normalize() * 0.01,
            0.0122,
            ROUND,
        ));
    }
    solids(part::HAND, 0.009, 0.005, list)
}

fn bone_of(rig: &Rig, finger: &str, i: usize, side: &str) -> usize {
    rig.find(&format!("{finger}.{i}.{side}"))
}

fn trousers(rig: &Rig) -> Layer {
    let v = DVec3::new;
    let hips = rig.find("hips");
    let mut list = vec![egg(hips, v(0.0, 0.915, 0.006), v(0.145, 0.115, 0.116))];
    for (side, s) in SIDES {
        let (thigh, shin) = (
            rig.find(&format!("thigh.{side}")),
            rig.find(&format!("shin.{side}")),
        );
        let m = |x: f64, y: f64, z: f64| v(x * s, y, z);
        list.push(cone(
            thigh,
            m(0.083, 0.87, 0.008),
            0.089,
            m(0.103, 0.52, -0.004),
            0.066,
            ROUND,
        ));
        list.push(cone(
            shin,
            m(0.104, 0.48, -0.002),
            0.065,
            m(0.110, 0.30, 0.014),
            0.064,
            ROUND,
        ));
        // Calf and the bagging over the boot.
        list.push(egg(shin, m(0.108, 0.38, 0.022), v(0.068, 0.07, 0.066)));
    }
    let mut layer = solids(part::TROUSERS, 0.03, 0.005, list);
    // They end inside the boots.
    layer.clips.push(Clip {
        normal: DVec3::NEG_Y,
        offset: -0.335,
    });
    layer
}

fn jacket(rig: &Rig) -> Layer {
    let v = DVec3::new;
    let bone = |n: &str| rig.find(n);
    let flat = v(1.0, 1.0, 0.74);
    let mut list = vec![
        cone(
            bone("upper_chest"),
            v(0.0, 1.315, 0.012),
            0.148,
            v(0.0, 1.24, 0.006),
            0.148,
            flat,
        ),
        cone(
            bone("chest"),
            v(0.0, 1.22, 0.006),
            0.142,
            v(0.0, 1.11, 0.004),
            0.128,
            v(1.0, 1.0, 0.76),
        ),
        cone(
            bone("spine"),
            v(0.0, 1.11, 0.004),
            0.128,
            v(0.0, 1.02, 0.004),
            0.132,
            v(1.0, 1.0, 0.79),
        ),
        cone(
            bone("hips"),
            v(0.0, 1.0, 0.005),
            0.134,
            v(0.0, 0.86, 0.010),
            0.196,
            v(1.0, 1.0, 0.76),
        ),
        cone(
            bone("upper_chest"),
            v(0.0, 1.40, 0.014),
            0.075,
            v(0.0, 1.35, 0.014),
            0.09,
            ROUND,
        ),
    ];
    for (side, s) in SIDES {
        let m = |x: f64, y: f64, z: f64| v(x * s, y, z);
        let clavicle = rig.find(&format!("clavicle.{side}"));
        list.push(cone(
            clavicle,
            m(0.05, 1.372, 0.012),
            0.066,
            m(0.150, 1.372, 0.012),
            0.068,
            ROUND,
        ));
        // Chest and shoulder blade.
        list.push(egg(
            bone("upper_chest"),
            m(0.065, 1.29, -0.052),
            v(0.078, 0.075, 0.055),
        ));
        list.push(egg(
            bone("upper_chest"),
            m(0.075, 1.31, 0.075),
            v(0.07, 0.085, 0.05),
        ));
    }
    let mut layer = solids(part::JACKET, 0.05, 0.03, list);
    layer.clips.push(Clip {
        normal: DVec3::NEG_Y,
        offset: -0.850,
    });
    layer
}

fn sleeves(rig: &Rig) -> Layer {
    let mut list = Vec::new();
    for (side, _) in SIDES {
        let bone = |n: &str| rig.find(&format!("{n}.{side}"));
        let at = |n: &str| rig.at(&format!("{n}.{side}"));
        let (shoulder, elbow, wrist) = (at("upper_arm"), at("forearm"), at("hand"));
        let along = (elbow - shoulder).normalize();
        list.push(cone(
            bone("upper_arm"),
            shoulder + along * 0.005,
            0.07,
            elbow - along * 0.01,
            0.053,
            ROUND,
        ));
        list.push(cone(
            bone("forearm"),
            elbow,
            0.053,
            elbow.lerp(wrist, 0.5),
            0.052,
            ROUND,
        ));
        let along = (wrist - elbow).normalize();
        let mut end = cone(
            bone("forearm_twist"),
            elbow.lerp(wrist, 0.5),
            0.052,
            wrist - along * 0.03,
            0.041,
            ROUND,
        );
        end.bone = bone("forearm_twist");
        list.push(end);
    }
    let mut layer = solids(part::JACKET, 0.03, 0.045, list);
    for (side, s) in SIDES {
        // Cut at the wrist. The plane is beyond the other arm.
        let (elbow, wrist) = (
            rig.at(&format!("forearm.{side}")),
            rig.at(&format!("hand.{side}")),
        );
        let along = DVec3::new(s * (wrist - elbow).x.abs(), (wrist - elbow).y, 0.0).normalize();
        layer.clips.push(Clip {
            normal: along,
            offset: wrist.dot(along) - 0.014,
        });
    }
    layer
}

fn boots(rig: &Rig) -> Layer {
    let v = DVec3::new;
    let mut list = Vec::new();
    for (side, s) in SIDES {
        let bone = |n: &str| rig.find(&format!("{n}.{side}"));
        let m = |x: f64, y: f64, z: f64| v(x * s, y, z);
        list.push(cone(
            bone("shin"),
            m(0.109, 0.37, 0.016),
            0.071,
            m(0.112, 0.20, 0.020),
            0.059,
            ROUND,
        ));
        list.push(cone(
            bone("shin"),
            m(0.112, 0.20, 0.020),
            0.059,
            m(0.114, 0.13, 0.022),
            0.056,
            ROUND,
        ));
        list.push(cone(
            bone("foot"),
            m(0.115, 0.10, 0.024),
            0.055,
            m(0.115, 0.052, 0.040),
            0.054,
            ROUND,
        ));
        list.push(cone(
            bone("foot"),
            m(0.116, 0.06, 0.030),
            0.052,
            m(0.124, 0.046, -0.085),
            0.052,
            v(1.0, 0.95, 1.0),
        ));
        list.push(egg(
            bone("toes"),
            m(0.127, 0.044, -0.128),
            v(0.055, 0.046, 0.072),
        ));
    }
    let mut layer = solids(part::BOOT, 0.03, 0.005, list);
    layer.clips.push(Clip {
        normal: DVec3::Y,
        offset: 0.362,
    });
    layer
}

fn scarf(rig: &Rig) -> Layer {
    let v = DVec3::new;
    let (neck, upper) = (rig.find("neck"), rig.find("upper_chest"));
    let mut list = Vec::new();
    // Two wraps around the neck, the lower one wider and lower in front.
    for (ring, radius, height, width) in [(upper, 0.083, 1.412, 0.038), (neck, 0.072, 1.452, 0.033)]
    {
        let point = |i: i32| {
            let (s, c) = super::super::maths::sin_cos(f64::from(i) * std::f64::consts::TAU / 10.0);
            v(s * radius * 1.08, height + c * 0.022, 0.012 + c * radius)
        };
        list.extend((0..10).map(|i| cone(ring, point(i), width, point(i + 1), width, ROUND)));
    }
    list.push(cone(
        upper,
        v(-0.035, 1.395, -0.088),
        0.034,
        v(-0.05, 1.34, -0.105),
        0.028,
        ROUND,
    ));
    let (one, two) = (rig.at("scarf.1"), rig.at("scarf.2"));
    let end = v(-0.196, 1.10, 0.205);
    let flat = v(1.0, 1.0, 1.0);
    list.push(cone(rig.find("scarf.1"), one, 0.030, two, 0.027, flat));
    list.push(cone(
        rig.find("scarf.2"),
        two,
        0.027,
        end,
        0.034,
        v(0.55, 1.0, 1.0),
    ));
    solids(part::SCARF, 0.016, 0.010, list)
}

fn hair(rig: &Rig) -> Layer {
    let v = DVec3::new;
    let head = rig.find("head");
    let mut list = vec![
        egg(head, v(0.0, 1.668, 0.028), v(0.114, 0.120, 0.112)),
        egg(head, v(0.0, 1.735, -0.018), v(0.094, 0.052, 0.100)),
        egg(head, v(0.0, 1.61, 0.07), v(0.088, 0.085, 0.060)),
        // A swept fringe.
        cone(
            head,
            v(-0.045, 1.752, -0.065),
            0.036,
            v(0.048, 1.728, -0.108),
            0.022,
            ROUND,
        ),
        cone(
            head,
            v(0.04, 1.735, -0.100),
            0.026,
            v(0.094, 1.685, -0.082),
            0.013,
            ROUND,
        ),
        cone(
            head,
            v(-0.055, 1.745, -0.070),
            0.033,
            v(-0.095, 1.69, -0.074),
            0.014,
            ROUND,
        ),
        cone(
            head,
            v(0.0, 1.765, -0.045),
            0.036,
            v(-0.03, 1.79, 0.03),
            0.034,
            ROUND,
        ),
        cone(
            head,
            v(0.05, 1.76, -0.03),
            0.03,
            v(0.03, 1.775, 0.07),
            0.03,
            ROUND,
        ),
    ];
    for (_, s) in SIDES {
        list.push(cone(
            head,
            v(0.103 * s, 1.66, -0.028),
            0.020,
            v(0.101 * s, 1.60, -0.040),
            0.009,
            ROUND,
        ));
    }
    let mut tail = Vec::new();
    let drawn = |name: &str| HEAD_PIVOT + (rig.at(name) - HEAD_PIVOT) / HEAD_GROWTH;
    let (one, two) = (drawn("hair.1"), drawn("hair.2"));
    tail.push(cone(
        rig.find("hair.1"),
        one,
        0.026,
        one.lerp(two, 0.5),
        0.036,
        ROUND,
    ));
    tail.push(cone(
        rig.find("hair.1"),
        one.lerp(two, 0.5),
        0.036,
        two,
        0.038,
        ROUND,
    ));
    tail.push(cone(
        rig.find("hair.2"),
        two,
        0.038,
        v(0.0, 1.555, 0.222),
        0.026,
        ROUND,
    ));
    tail.push(cone(
        rig.find("hair.2"),
        v(0.0, 1.555, 0.222),
        0.026,
        v(0.0, 1.515, 0.212),
        0.008,
        ROUND,
    ));
    list.extend(tail);
    grow(&mut list, usize::MAX);
    solids(part::HAIR, 0.018, 0.005, list)
}

fn pack(rig: &Rig) -> Layer {
    let v = DVec3::new;
    let pack = rig.find("pack");
    let list = vec![
        block(pack, v(0.0, 1.225, 0.162), v(0.105, 0.115, 0.062), 0.03),
        block(pack, v(0.0, 1.30, 0.172), v(0.110, 0.050, 0.064), 0.025),
        block(pack, v(0.0, 1.19, 0.225), v(0.072, 0.052, 0.030), 0.018),
    ];
    solids(part::PACK, 0.008, 0.005, list)
}

fn roll(rig: &Rig) -> Layer {
    let v = DVec3::new;
    let pack = rig.find("pack");
    let list = vec![cone(
        pack,
        v(-0.15, 1.085, 0.160),
        0.046,
        v(0.15, 1.085, 0.160),
        0.046,
        ROUND,
    )];
    let mut layer = solids(part::ROLL, 0.01, 0.005, list);
    layer.clips = between(DVec3::X, -0.155, 0.155);
    layer
}

fn pouches(rig: &Rig) -> Layer {
    let v = DVec3::new;
    let hips = rig.find("hips");
    let list = vec![
        tilted(
            block(hips, v(0.132, 0.955, -0.058), v(0.036, 0.040, 0.028), 0.014),
            DVec3::Y,
            38.0,
        ),
        tilted(
            block(hips, v(-0.150, 0.955, -0.01), v(0.030, 0.044, 0.034), 0.014),
            DVec3::Y,
            -80.0,
        ),
        block(hips, v(0.0, 1.007, -0.112), v(0.026, 0.020, 0.012), 0.006),
    ];
    solids(part::BELT, 0.006, 0.004, list)
}

fn knees(rig: &Rig) -> Layer {
    let list = SIDES.map(|(side, s)| {
        let shin = rig.find(&format!("shin.{side}"));
        egg(
            shin,
            DVec3::new(0.104 * s, 0.492, -0.040),
            DVec3::new(0.050, 0.064, 0.038),
        )
    });
    solids(part::KNEE, 0.004, 0.004, list.to_vec())
}
