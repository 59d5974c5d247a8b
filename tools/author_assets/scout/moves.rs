//! Scout's locomotion clips: walk and jog. The others are in [`super::rest`].

use super::super::{
    gait::{Gait, under_limits},
    maths::wave,
    motion::{Motion, RATE},
};
use super::{
    body::{Arm, Body, EASY_ARM},
    rest,
};
use bevy_marionette::model::PlaybackMode;
use glam::DVec3;

/// Walk at 1.2 m/s.
pub const WALK: Gait = Gait {
    cycle: 32.0 / RATE,
    speed: 1.2,
    curve: 0.0,
    duty: 0.62,
    ahead: 0.335,
    inward: 0.045,
    follow: 1.0,
    stance_pitch: &[(0.0, 22.0), (0.16, 0.0), (0.58, 0.0), (1.0, -42.0)],
    swing_pitch: &[
        (0.0, -42.0),
        (0.18, -52.0),
        (0.60, 4.0),
        (0.88, 24.0),
        (1.0, 22.0),
    ],
    lift: &[(0.0, 0.0), (0.42, 0.055), (0.70, 0.035), (1.0, 0.0)],
};

/// Jog at 2.4 m/s.
pub const JOG: Gait = Gait {
    cycle: 22.0 / RATE,
    speed: 2.4,
    curve: 0.0,
    duty: 0.36,
    ahead: 0.21,
    inward: 0.065,
    follow: 1.0,
    stance_pitch: &[(0.0, 10.0), (0.18, 0.0), (0.45, 0.0), (1.0, -52.0)],
    swing_pitch: &[
        (0.0, -52.0),
        (0.25, -92.0),
        (0.55, -45.0),
        (0.85, 12.0),
        (1.0, 10.0),
    ],
    lift: &[(0.0, 0.0), (0.26, 0.30), (0.58, 0.24), (1.0, 0.0)],
};

/// Walk along a circle of 1 m, to the left.
pub const WALK_LEFT: Gait = Gait { curve: 1.0, ..WALK };

/// Jog along a circle of 1.8 m, to the left.
pub const JOG_LEFT: Gait = Gait {
    curve: 1.0 / 1.8,
    ..JOG
};

/// Phases at which the feet land: left, right.
pub const FOOTFALLS: [f64; 2] = [0.25, 0.75];

/// All clips.
pub fn all(body: &Body) -> Vec<Motion> {
    vec![
        rest::idle(body),
        walk(body),
        walk_left(body),
        jog(body),
        jog_left(body),
        rest::wave_hand(body),
        rest::jump(body),
        rest::point(body),
        rest::turn_left(body),
    ]
}

/// How the body moves with the legs.
pub(super) struct Style {
    /// Degrees: lean of hips and back (forward negative), yaw of the hips, of the shoulders against them, and roll.
    pub lean: f64,
    pub yaw: f64,
    pub counter: f64,
    pub roll: f64,
    /// Degrees: lean to the left, and how far the head looks there.
    pub bank: f64,
    pub glance: f64,
    /// Meters: sway to the standing leg; desired height and its amplitude, highest at phase `crest`.
    pub sway: f64,
    pub height: f64,
    pub bob: f64,
    pub crest: f64,
    pub arm: Arm,
    /// Degrees: arm swing, and how much it bends the elbow in front.
    pub swing: f64,
    pub pump: f64,
    pub hair: [f64; 2],
    pub scarf: [f64; 2],
}

pub(super) fn stepping(body: &Body, name: &'static str, gait: &Gait, style: &Style) -> Motion {
    let steps = (gait.cycle * RATE).round() as usize;
    // Phase since a side's footfall.
    let since = |t: f64, side: usize| t - FOOTFALLS[side];
    let upper = |t: f64, height: f64| {
        let mut pose = body.rig.rest();
        let right = since(t, 1); // the right foot is foremost at 0
        let over = wave(right + 0.25 - 0.5 * gait.duty); // 1 when the right leg carries
        let forward = wave(right + 0.25);
        body.hips(
            &mut pose,
            DVec3::new(style.sway * over, height, 0.0),
            DVec3::new(
                style.lean * 0.35,
                style.yaw * forward,
                style.roll * over + 0.3 * style.bank,
            ),
        );
        let nod = 1.2 * wave(2.0 * t + 0.1);
        body.back(
            &mut pose,
            DVec3::new(
                style.lean * 0.65 + nod,
                -(style.yaw + style.counter) * forward + 0.3 * style.glance,
                -1.4 * style.roll * over + 0.7 * style.bank,
            ),
        );
        body.look(
            &mut pose,
            DVec3::new(
                style.lean * 0.12 + 0.4 * nod,
                -0.12 * style.counter * forward + style.glance,
                -0.1 * style.roll * over + 0.4 * style.bank,
            ),
        );
        for (side, s) in [(0, -1.0), (1, 1.0)] {
            // An arm swings forward with the opposite leg.
            let ahead = -forward * s;
            let late = -wave(right + 0.25 - 0.06) * s;
            let mut arm = style.arm;
            arm.swing += style.swing * ahead;
            arm.elbow += style.pump * late;
            arm.out += 2.0 * late.abs();
            arm.roll -= 6.0 * ahead;
            arm.shrug += 1.2 * wave(2.0 * t + 0.2);
            body.arm(&mut pose, side, &arm);
        }
        let swing = |a: [f64; 2], lag: f64| {
            [0.0, lag].map(|lag| {
                DVec3::new(
                    -a[0] - a[1] * wave(2.0 * t - 0.05 - lag),
                    0.0,
                    0.5 * a[1] * wave(right - 0.15 - lag),
                )
            })
        };
        body.trail(&mut pose, swing(style.hair, 0.12), swing(style.scarf, 0.14));
        pose
    };
    // A first pass finds how high the hips may be, a second one uses that.
    let at = |i: usize| i as f64 / steps as f64;
    let limits: Vec<f64> = (0..steps)
        .map(|i| {
            let pose = upper(at(i), 0.0);
            let limit = |side| {
                body.height_limit(
                    &pose,
                    side,
                    &gait.foot(&body.feet[side], since(at(i), side)),
                )
            };
            limit(0).min(limit(1))
        })
        .collect();
    let wanted: Vec<f64> = (0..steps)
        .map(|i| style.height + style.bob * wave(2.0 * (at(i) - style.crest) + 0.25))
        .collect();
    let heights = under_limits(&wanted, &limits, 3);
    let motion = Motion::new(name, steps, PlaybackMode::Loop, |time| {
        let i = (time * RATE).round() as usize % steps;
        let mut pose = upper(at(i), heights[i]);
        for side in 0..2 {
            body.foot(
                &mut pose,
                side,
                &gait.foot(&body.feet[side], since(at(i), side)),
            );
        }
        pose
    });
    let motion = motion.traveling(gait.speed, gait.curve);
    motion.stepping(
        FOOTFALLS
            .map(|footfall| footfall * gait.cycle)
            .into_iter()
            .zip(["left", "right"]),
    )
}

fn walk(body: &Body) -> Motion {
    stepping(body, "walk", &WALK, &walking())
}

fn walk_left(body: &Body) -> Motion {
    stepping(
        body,
        "walk_left",
        &WALK_LEFT,
        &Style {
            bank: 5.0,
            glance: 22.0,
            ..walking()
        },
    )
}

fn walking() -> Style {
    let arm = Arm {
        swing: -1.0,
        out: 11.0,
        elbow: 20.0,
        twist: 16.0,
        curl: 34.0,
        ..EASY_ARM
    };
    Style {
        lean: -5.0,
        yaw: 7.0,
        counter: 8.0,
        roll: 3.2,
        bank: 0.0,
        glance: 0.0,
        sway: 0.026,
        height: -0.012,
        bob: 0.014,
        crest: 0.06,
        arm,
        swing: 24.0,
        pump: 9.0,
        hair: [4.0, 6.0],
        scarf: [6.0, 6.0],
    }
}

fn jog(body: &Body) -> Motion {
    stepping(body, "jog", &JOG, &jogging())
}

fn jog_left(body: &Body) -> Motion {
    stepping(
        body,
        "jog_left",
        &JOG_LEFT,
        &Style {
            bank: 10.0,
            glance: 24.0,
            ..jogging()
        },
    )
}

pub(super) fn jogging() -> Style {
    let arm = Arm {
        swing: -6.0,
        out: 14.0,
        roll: -14.0,
        elbow: 82.0,
        curl: 72.0,
        point: 0.0,
        spread: -5.0,
        ..EASY_ARM
    };
    Style {
        lean: -13.0,
        yaw: 9.0,
        counter: 13.0,
        roll: 3.6,
        bank: 0.0,
        glance: 0.0,
        sway: 0.014,
        height: -0.045,
        bob: 0.038,
        crest: 0.20,
        arm,
        swing: 38.0,
        pump: 16.0,
        hair: [18.0, 14.0],
        scarf: [26.0, 12.0],
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        super::gait::{Footing, assert_feet_stand},
        skeleton::rig,
    };
    use super::*;

    #[test]
    fn standing_feet_move_with_the_floor() {
        let body = Body::new(rig());
        let gaits = [
            (WALK, walk(&body)),
            (WALK_LEFT, walk_left(&body)),
            (JOG, jog(&body)),
            (JOG_LEFT, jog_left(&body)),
        ];
        for (gait, motion) in gaits {
            let foot = |side: usize| {
                let joints =
                    ["foot", "toes"].map(|n| body.rig.find(&format!("{n}.{}", ["L", "R"][side])));
                Footing {
                    gait,
                    shape: body.feet[side],
                    joints,
                    falls: FOOTFALLS[side],
                }
            };
            assert_feet_stand(&[0, 1].map(foot), &body.rig, &motion, 0.10);
        }
    }

    #[test]
    fn loops_end_as_they_begin_and_nothing_jumps_between_frames() {
        let body = Body::new(rig());
        // 9 m/s: a hand thrown up in the jump.
        all(&body)
            .iter()
            .for_each(|motion| motion.assert_smooth(&body.rig, 9.0));
    }
}
