//! The Hound's controls for animating: crouch, arch, sway, look, wag, stand.

use super::super::{
    gait::{FootPlace, FootShape},
    maths::{mix_turn, turn},
    rig::{Pose, Rig},
};
use super::skeleton::{LEGS, SIDES};
use glam::{DQuat, DVec3};

/// Pose of the trunk, in degrees; the legs are placed afterwards.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trunk {
    /// Offset of the middle of the back, in meters.
    pub shift: DVec3,
    /// Pitch of the whole trunk: head up (+).
    pub pitch: f64,
    /// Yaw of the whole trunk, left (+), and roll, right side up (+).
    pub yaw: f64,
    pub roll: f64,
    /// Arch of the back: rounded (+) or hollow (−), from hips to withers.
    pub arch: f64,
    /// Bend of the back to the left (+): hips and chest turn toward each other.
    pub bend: f64,
    /// Twist of the chest against the hips: right side of the chest up (+).
    pub twist: f64,
    /// Breathing, −1..1.
    pub breath: f64,
}

/// Pose of head, ears and tail, in degrees.
#[derive(Clone, Copy, Debug, Default)]
pub struct Carriage {
    /// Neck raised (+) from rest, in model space.
    pub neck: f64,
    /// The head, in model space: nose up (+), turned left (+), tilted right side up (+).
    pub nod: f64,
    pub turn: f64,
    pub tilt: f64,
    /// Mouth opening.
    pub jaw: f64,
    /// Ears laid back (+), and turned outward (+): left, right.
    pub ears: [f64; 2],
    pub flare: f64,
    /// The tail raised (+) at its root, curled up (+) along its length, and wagged to the right (+).
    pub tail: f64,
    pub curl: f64,
    pub wag: f64,
    /// How much the tail keeps its model-space rotation when the hips turn, 0..1.
    pub level: f64,
    /// How much the wag bends the tail along its length.
    pub whip: f64,
    /// The lantern's swing from the vertical: forward (+) and right (+).
    pub swing: [f64; 2],
}

/// The rig, with its joints looked up.
pub struct Body {
    pub rig: Rig,
    /// The paws at rest, in the order of [`LEGS`].
    pub paws: [FootShape; 4],
    pub legs: [[usize; 4]; 4],
    spine: [usize; 3],
    neck: [usize; 2],
    head: usize,
    scapula: [usize; 2],
}

impl Body {
    pub fn new(rig: Rig) -> Self {
        let legs = LEGS.map(|leg| leg.joints(&rig));
        let at = |j: usize| rig.joints[j].position;
        let paws = legs.map(|[_, _, foot, toes]| FootShape {
            ankle: at(foot),
            ball: at(toes),
            heel: None,
        });
        let spine = ["spine.1", "spine.2", "chest"].map(|n| rig.find(n));
        let neck = ["neck.1", "neck.2"].map(|n| rig.find(n));
        let scapula = SIDES.map(|(side, _)| rig.find(&format!("scapula.{side}")));
        Self {
            paws,
            legs,
            spine,
            neck,
            head: rig.find("head"),
            scapula,
            rig,
        }
    }

    /// Poses hips and back.
    pub fn trunk(&self, pose: &mut Pose, t: &Trunk) {
        // The middle of the back keeps the trunk's rotation; hips and chest bend away from it equally.
        let half = euler(DVec3::new(t.arch * 0.5, -t.bend * 0.5, -t.twist * 0.5));
        pose.turns[0] = (euler(DVec3::new(t.pitch, t.yaw, t.roll)) * half).normalize();
        let third = DVec3::new(-t.arch, t.bend, t.twist) / 3.0;
        for joint in self.spine {
            pose.turns[joint] = euler(third);
        }
        pose.turns[self.rig.find("ribs")] = turn(DVec3::X, 1.8 * t.breath);
        pose.shift = DVec3::ZERO;
        let middle = self.spine[1];
        let moved = self.rig.model(pose)[middle].0 - self.rig.joints[middle].position;
        pose.shift = t.shift - moved;
    }

    /// Poses neck, head, ears, tail and the lantern.
    pub fn carry(&self, pose: &mut Pose, c: &Carriage) {
        let chest = self.rig.model(pose)[self.spine[2]].1;
        // Neck and head keep their model-space rotation, whatever the trunk does.
        let lower = (chest.conjugate() * euler(DVec3::new(c.neck, c.turn * 0.25, 0.0))).normalize();
        let share = mix_turn(DQuat::IDENTITY, lower, 0.75);
        pose.turns[self.neck[0]] = share;
        let upper = (share.conjugate()
            * chest.conjugate()
            * euler(DVec3::new(
                c.neck * 0.8 + c.nod * 0.3,
                c.turn * 0.6,
                c.tilt * 0.4,
            )))
        .normalize();
        pose.turns[self.neck[1]] = upper;
        let above = (chest * share * upper).normalize();
        pose.turns[self.head] =
            (above.conjugate() * euler(DVec3::new(c.nod, c.turn, c.tilt))).normalize();
        pose.turns[self.rig.find("jaw")] = turn(DVec3::X, -c.jaw);
        for ((side, s), back) in SIDES.into_iter().zip(c.ears) {
            for i in 1..=2 {
                pose.turns[self.rig.find(&format!("ear.{i}.{side}"))] =
                    turn(DVec3::Z, -c.flare * s) * turn(DVec3::X, back * 0.5);
            }
        }
        for i in 0..5 {
            let root = if i == 0 { 1.0 } else { 0.0 };
            let lift = -(c.tail * root + c.curl * 0.2);
            let wag = c.wag * root + c.whip * 0.25 * (1.0 - root);
            let held = if i == 0 {
                mix_turn(DQuat::IDENTITY, pose.turns[0].conjugate(), c.level)
            } else {
                DQuat::IDENTITY
            };
            let joint = self.rig.find(&format!("tail.{}", i + 1));
            pose.turns[joint] = (held * turn(DVec3::Y, wag) * turn(DVec3::X, lift)).normalize();
        }
        // The lantern hangs down, whatever the head does.
        let head = self.rig.model(pose)[self.head].1;
        let hang = euler(DVec3::new(c.swing[0], 0.0, c.swing[1]));
        pose.turns[self.rig.find("lantern")] = (head.conjugate() * hang).normalize();
    }

    /// Places a paw; returns how far the leg falls short, in meters.
    pub fn paw(&self, pose: &mut Pose, leg: usize, place: &FootPlace) -> f64 {
        let [upper, lower, foot, toes] = self.legs[leg];
        let fore = LEGS[leg].fore;
        if fore {
            // The shoulder blade follows the leg.
            let chest = self.rig.model(pose)[self.spine[2]];
            let away = chest.1.conjugate() * (place.ankle - chest.0)
                - (self.paws[leg].ankle - self.rig.joints[self.spine[2]].position);
            let swing = (-away.z * 66.0).clamp(-20.0, 20.0);
            pose.turns[self.scapula[leg]] = turn(DVec3::X, swing);
        }
        let model = self.rig.model(pose);
        let carrier = self.rig.joints[upper]
            .parent
            .map_or(DQuat::IDENTITY, |p| model[p].1);
        // Elbows point back, wherever the leg swings; knees point ahead and slightly outward, however the hips tilt.
        let ahead = carrier * DVec3::NEG_Z * DVec3::new(1.0, 0.0, 1.0);
        let outward = carrier * DVec3::X * (LEGS[leg].sign * 0.12);
        let back = (place.ankle - model[upper].0).cross(carrier * DVec3::X);
        let pole = if fore {
            back
        } else {
            ahead.normalize_or(DVec3::NEG_Z) + outward
        };
        let short = self
            .rig
            .reach(pose, [upper, lower, foot], place.ankle, pole, place.turn);
        pose.turns[toes] = (place.turn.conjugate() * place.toes).normalize();
        short
    }
}

/// Degrees about X, then Z, then Y.
pub fn euler(degrees: DVec3) -> DQuat {
    (turn(DVec3::Y, degrees.y) * turn(DVec3::Z, degrees.z) * turn(DVec3::X, degrees.x)).normalize()
}
