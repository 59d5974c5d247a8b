//! Scout's controls for animating: lean, sway, swing, curl, stand.

use super::super::{
    gait::{FootPlace, FootShape},
    maths::turn,
    rig::{Pose, Rig},
};
use super::skeleton::{FINGERS, SIDES, hand_axes};
use glam::{DQuat, DVec3};

/// Angle in degrees between a resting arm and the body.
const ARM_OUT_AT_REST: f64 = 43.6;

/// Pose of an arm, in degrees. At zero it hangs straight down with the thumb forward.
#[derive(Clone, Copy, Debug)]
pub struct Arm {
    /// Forward (+) or back.
    pub swing: f64,
    /// Away from the body.
    pub out: f64,
    /// Twist of the upper arm: elbow outward and up (+).
    pub roll: f64,
    pub elbow: f64,
    /// Twist of the forearm: palm forward or down.
    pub twist: f64,
    /// Bend of the wrist toward the palm.
    pub wrist: f64,
    /// Shoulder lift.
    pub shrug: f64,
    /// Bend of the fingers at each joint.
    pub curl: f64,
    /// Straightens the index finger: 0 like the others, 1 straight.
    pub point: f64,
    /// Spread of the fingers.
    pub spread: f64,
}

/// Scout standing relaxed.
pub const EASY_ARM: Arm = Arm {
    swing: -5.0,
    out: 12.0,
    roll: -10.0,
    elbow: 20.0,
    twist: 8.0,
    wrist: 4.0,
    shrug: 0.0,
    curl: 26.0,
    point: 0.3,
    spread: -3.0,
};

impl Arm {
    /// Interpolates toward `other`.
    pub fn mixed(self, other: Self, t: f64) -> Self {
        let m = |a: f64, b: f64| a + (b - a) * t;
        Self {
            swing: m(self.swing, other.swing),
            out: m(self.out, other.out),
            roll: m(self.roll, other.roll),
            elbow: m(self.elbow, other.elbow),
            twist: m(self.twist, other.twist),
            wrist: m(self.wrist, other.wrist),
            shrug: m(self.shrug, other.shrug),
            curl: m(self.curl, other.curl),
            point: m(self.point, other.point),
            spread: m(self.spread, other.spread),
        }
    }
}

/// The rig, with its joints looked up.
pub struct Body {
    pub rig: Rig,
    pub spine: [usize; 3],
    pub neck: usize,
    pub head: usize,
    pub feet: [FootShape; 2],
    legs: [[usize; 4]; 2],
}

impl Body {
    pub fn new(rig: Rig) -> Self {
        let feet = SIDES.map(|(side, s)| FootShape {
            ankle: rig.at(&format!("foot.{side}")),
            ball: rig.at(&format!("toes.{side}")),
            heel: Some(DVec3::new(0.115 * s, 0.0, 0.088)),
        });
        let legs = SIDES.map(|(side, _)| {
            ["thigh", "shin", "foot", "toes"].map(|n| rig.find(&format!("{n}.{side}")))
        });
        let spine = ["spine", "chest", "upper_chest"].map(|n| rig.find(n));
        Self {
            spine,
            neck: rig.find("neck"),
            head: rig.find("head"),
            feet,
            legs,
            rig,
        }
    }

    /// Moves and rotates the hips: `turn` is in degrees about X (back +), Y (left +), Z (right hip up +).
    pub fn hips(&self, pose: &mut Pose, shift: DVec3, degrees: DVec3) {
        pose.shift = shift;
        pose.turns[0] = euler(degrees);
    }

    /// Rotates the back, spread over its three joints.
    pub fn back(&self, pose: &mut Pose, degrees: DVec3) {
        for joint in self.spine {
            pose.turns[joint] = euler(degrees / 3.0);
        }
    }

    /// Sets the head's model-space rotation (degrees as for the hips), half of it in the neck.
    pub fn look(&self, pose: &mut Pose, degrees: DVec3) {
        let upper = self.rig.model(pose)[self.spine[2]].1;
        let whole = (upper.conjugate() * euler(degrees)).normalize();
        let half = super::super::maths::mix_turn(DQuat::IDENTITY, whole, 0.45);
        pose.turns[self.neck] = half;
        pose.turns[self.head] = (half.conjugate() * whole).normalize();
    }

    /// Poses an arm: side 0 is left, 1 right.
    pub fn arm(&self, pose: &mut Pose, side: usize, arm: &Arm) {
        let (name, s) = SIDES[side];
        let joint = |n: &str| self.rig.find(&format!("{n}.{name}"));
        let (shoulder, elbow) = (
            self.rig.at(&format!("upper_arm.{name}")),
            self.rig.at(&format!("forearm.{name}")),
        );
        let wrist = self.rig.at(&format!("hand.{name}"));
        let (upper, lower) = ((elbow - shoulder).normalize(), (wrist - elbow).normalize());
        pose.turns[joint("clavicle")] = turn(DVec3::Z, s * arm.shrug);
        pose.turns[joint("upper_arm")] = turn(DVec3::X, arm.swing)
            * turn(DVec3::Z, s * (arm.out - ARM_OUT_AT_REST))
            * turn(upper * s, arm.roll);
        pose.turns[joint("forearm")] = turn(upper.cross(DVec3::NEG_Z), arm.elbow);
        // Half of the twist is in the middle of the forearm, half at the wrist.
        pose.turns[joint("forearm_twist")] = turn(lower * s, arm.twist * 0.6);
        let axes = hand_axes(s);
        let curl_axis = axes.along.cross(axes.palm);
        pose.turns[joint("hand")] = turn(curl_axis, arm.wrist) * turn(lower * s, arm.twist * 0.4);
        for (finger, across, _, _) in FINGERS {
            let straight = if finger == "index" {
                1.0 - arm.point
            } else {
                1.0
            };
            let spread = arm.spread * -across.signum() * f64::from(u8::from(across != 0.0)) * s;
            for (i, share) in [0.9, 1.1, 0.8].into_iter().enumerate() {
                let spread = if i == 0 {
                    turn(axes.palm, spread)
                } else {
                    DQuat::IDENTITY
                };
                let extra = if finger == "ring" { 1.12 } else { 1.0 };
                pose.turns[joint(&format!("{finger}.{}", i + 1))] =
                    turn(curl_axis, arm.curl * share * straight * extra) * spread;
            }
        }
        // The thumb folds over the palm, toward the fingers.
        let thumb =
            self.rig.at(&format!("thumb.2.{name}")) - self.rig.at(&format!("thumb.1.{name}"));
        let fold = thumb.cross(axes.along * 0.6 + axes.palm * 0.8 - axes.thumb * 0.1);
        for (i, share) in [0.55, 0.4, 0.5].into_iter().enumerate() {
            pose.turns[joint(&format!("thumb.{}", i + 1))] = turn(fold, arm.curl * share);
        }
    }

    /// Places a foot with the knee above it; returns how far the leg falls short, in meters.
    pub fn foot(&self, pose: &mut Pose, side: usize, place: &FootPlace) -> f64 {
        let [thigh, shin, foot, toes] = self.legs[side];
        // Knees point between the directions of foot and hips, slightly outward.
        let hips = pose.turns[0];
        // Toes may point straight down, so use the foot's side axis for its heading.
        let heading =
            flat(DVec3::Y.cross(place.turn * DVec3::X)) * 0.6 + flat(hips * DVec3::NEG_Z) * 0.4;
        let outward = flat(hips * DVec3::X) * (SIDES[side].1 * 0.10);
        let short = self.rig.reach(
            pose,
            [thigh, shin, foot],
            place.ankle,
            heading + outward,
            place.turn,
        );
        pose.turns[toes] = (place.turn.conjugate() * place.toes).normalize();
        short
    }

    /// Returns the highest position of the hips at which the leg still reaches its target.
    pub fn height_limit(&self, pose: &Pose, side: usize, place: &FootPlace) -> f64 {
        let [thigh, shin, foot, _] = self.legs[side];
        let at = |j: usize| self.rig.joints[j].position;
        let length = (at(thigh).distance(at(shin)) + at(shin).distance(at(foot))) * 0.992;
        let hip = self.rig.model(pose)[thigh].0;
        let way = place.ankle - hip;
        let level = way.x * way.x + way.z * way.z;
        let room = (length * length - level).max(0.0).sqrt();
        pose.shift.y + place.ankle.y + room - hip.y
    }

    /// Swings the ponytail and the end of the scarf: degrees back (+) and right (+).
    pub fn trail(&self, pose: &mut Pose, hair: [DVec3; 2], scarf: [DVec3; 2]) {
        for (name, degrees) in [
            ("hair.1", hair[0]),
            ("hair.2", hair[1]),
            ("scarf.1", scarf[0]),
            ("scarf.2", scarf[1]),
        ] {
            pose.turns[self.rig.find(name)] = euler(degrees);
        }
    }
}

/// Degrees about X, then Z, then Y.
pub fn euler(degrees: DVec3) -> DQuat {
    turn(DVec3::Y, degrees.y) * turn(DVec3::Z, degrees.z) * turn(DVec3::X, degrees.x)
}

fn flat(v: DVec3) -> DVec3 {
    DVec3::new(v.x, 0.0, v.z).normalize_or(DVec3::NEG_Z)
}
