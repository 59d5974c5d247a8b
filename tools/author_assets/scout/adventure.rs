//! Scout's clips for the example `adventure`, in a file of their own: run, leap, fall, land, kick and hurt.

use super::{
    super::{
        gait::{FootPlace, Gait},
        maths::{eased, smoothstep, turn, wave},
        motion::{Motion, RATE},
    },
    body::{Arm, Body, EASY_ARM},
    moves::{JOG, Style, jogging, stepping},
    rest::{SOFT_KNEES, Stand},
    skeleton,
};
use bevy_marionette::{
    internals::import::to_glb,
    model::{Model, PlaybackMode},
};
use glam::DVec3;
use std::path::PathBuf;

/// Run at 3.8 m/s.
pub const RUN: Gait = Gait {
    cycle: 20.0 / RATE,
    speed: 3.8,
    duty: 0.25,
    ahead: 0.22,
    inward: 0.075,
    stance_pitch: &[(0.0, 6.0), (0.2, 0.0), (0.4, 0.0), (1.0, -58.0)],
    swing_pitch: &[
        (0.0, -58.0),
        (0.25, -108.0),
        (0.55, -55.0),
        (0.85, 8.0),
        (1.0, 6.0),
    ],
    lift: &[(0.0, 0.0), (0.28, 0.38), (0.58, 0.30), (1.0, 0.0)],
    ..JOG
};

/// Returns the file with all clips, and its path below `assets/`.
pub fn file() -> (PathBuf, Vec<u8>) {
    let body = Body::new(skeleton::rig());
    let model = Model {
        skeleton: body.rig.skeleton().expect("joints are finite"),
        clips: all(&body)
            .iter()
            .map(|motion| motion.clip(&body.rig).expect("poses are finite"))
            .collect(),
        ..Model::default()
    };
    let name = "scout_moves.glb";
    let glb = to_glb(name, &model, None, |_, _| None).expect("the clips are finite");
    (PathBuf::from("scout").join(name), glb.value)
}

/// All clips.
pub fn all(body: &Body) -> Vec<Motion> {
    vec![
        run(body),
        leap(body),
        fall(body),
        land(body),
        kick(body),
        hurt(body),
    ]
}

fn run(body: &Body) -> Motion {
    let arm = Arm {
        swing: -2.0,
        elbow: 96.0,
        ..jogging().arm
    };
    let style = Style {
        lean: -18.0,
        yaw: 11.0,
        counter: 15.0,
        bob: 0.042,
        height: -0.055,
        arm,
        swing: 46.0,
        pump: 14.0,
        hair: [26.0, 12.0],
        scarf: [36.0, 12.0],
        ..jogging()
    };
    stepping(body, "run", &RUN, &style)
}

/// Off the ground: a knee up, the other leg behind. The game lifts her, so the clip has no height.
fn leap(body: &Body) -> Motion {
    let seconds = 0.5;
    once("leap", seconds, |time| {
        let mut stand = Stand::new(body);
        let up = eased(&[(0.0, 0.0), (0.2, 1.0)], time);
        let open = eased(&[(0.28, 0.0), (seconds, 1.0)], time);
        stand.shift = DVec3::new(0.0, 0.05 - 0.03 * up, -0.02 * up);
        stand.hips = DVec3::new(-4.0 - 6.0 * up, -9.0 * up, 3.0 * up);
        stand.back = DVec3::new(7.0 - 11.0 * up, 14.0 * up, -3.0 * up);
        stand.look = DVec3::new(9.0 - 12.0 * up, 0.0, 0.0);
        let high = Arm {
            swing: 112.0,
            out: 22.0,
            elbow: 46.0,
            shrug: 10.0,
            curl: 20.0,
            ..EASY_ARM
        };
        let behind = Arm {
            swing: -44.0,
            out: 34.0,
            elbow: 42.0,
            curl: 36.0,
            ..EASY_ARM
        };
        let wide = falling_arm(0.0);
        stand.arms = [high, behind].map(|arm| {
            EASY_ARM
                .mixed(arm, 0.35 + 0.65 * up)
                .mixed(wide, 0.55 * open)
        });
        let push = |side: usize| body.feet[side].rolled(DVec3::ZERO, 0.0, -48.0);
        let lifted = [
            air(body, 0, DVec3::new(0.0, 0.24, 0.34), -78.0),
            air(body, 1, DVec3::new(0.0, 0.40, -0.26), -26.0),
        ];
        let falling = falling_feet(body, 0.0);
        stand.feet = [0, 1].map(|side| {
            mixed(
                mixed(push(side), lifted[side], up),
                falling[side],
                0.45 * open,
            )
        });
        let drag = eased(&[(0.0, -20.0), (0.3, 8.0), (seconds, 26.0)], time);
        (stand.hair, stand.scarf) = (DVec3::X * -drag, DVec3::X * -drag);
        stand.pose(body)
    })
}

/// In the air: arms paddle for balance, legs reach for the ground.
fn fall(body: &Body) -> Motion {
    let seconds = 0.8;
    Motion::new(
        "fall",
        (seconds * RATE) as usize,
        PlaybackMode::Loop,
        |time| {
            let t = time / seconds;
            let mut stand = Stand::new(body);
            stand.shift = DVec3::new(0.0, 0.01 * wave(t), 0.02);
            stand.hips = DVec3::new(-8.0 + 1.5 * wave(t), 4.0 * wave(t + 0.1), 2.0 * wave(t));
            stand.back = DVec3::new(
                -5.0 + 2.0 * wave(t + 0.2),
                -6.0 * wave(t + 0.1),
                -3.0 * wave(t),
            );
            stand.look = DVec3::new(-17.0 + 2.0 * wave(t + 0.3), 3.0 * wave(t), 0.0);
            stand.arms = [falling_arm(t), falling_arm(t + 0.5)];
            stand.feet = falling_feet(body, t);
            stand.hair = DVec3::new(-34.0 - 5.0 * wave(2.0 * t), 0.0, 4.0 * wave(t));
            stand.scarf = DVec3::new(-38.0 - 6.0 * wave(2.0 * t + 0.2), 0.0, 5.0 * wave(t + 0.1));
            stand.pose(body)
        },
    )
}

fn falling_arm(t: f64) -> Arm {
    Arm {
        swing: 14.0 + 20.0 * wave(t),
        out: 72.0 + 12.0 * wave(t + 0.25),
        elbow: 34.0 - 8.0 * wave(t + 0.25),
        twist: 20.0,
        shrug: 9.0,
        curl: 10.0,
        point: 0.5,
        spread: 7.0,
        ..EASY_ARM
    }
}

fn falling_feet(body: &Body, t: f64) -> [FootPlace; 2] {
    [(0, 0.0, 0.16, 0.14), (1, 0.5, -0.15, 0.24)].map(|(side, lag, behind, up)| {
        let paddle = wave(t + lag);
        let shift = DVec3::new(
            0.0,
            up + 0.03 * paddle,
            behind + 0.05 * wave(t + lag + 0.25),
        );
        air(body, side, shift, -34.0 - 8.0 * paddle)
    })
}

/// Lands in a crouch, and rises. From `recover` on, she may run.
fn land(body: &Body) -> Motion {
    let motion = once("land", 0.6, |time| {
        let mut stand = Stand::new(body);
        let height = eased(
            &[
                (0.0, -0.04),
                (0.12, -0.27),
                (0.16, -0.27),
                (0.54, SOFT_KNEES),
            ],
            time,
        );
        let crouch = ((SOFT_KNEES - height) / 0.27).max(0.0);
        stand.shift = DVec3::new(0.0, height, 0.07 * crouch);
        stand.hips.x = -24.0 * crouch;
        stand.back.x = -20.0 * crouch;
        stand.look.x = eased(&[(0.0, -14.0), (0.16, -4.0), (0.4, 2.0), (0.58, 0.0)], time);
        let low = Arm {
            swing: 22.0,
            out: 40.0,
            elbow: 44.0,
            curl: 22.0,
            ..EASY_ARM
        };
        let arm = falling_arm(0.0).mixed(low, eased(&[(0.0, 0.1), (0.16, 1.0)], time));
        let arm = arm.mixed(EASY_ARM, eased(&[(0.18, 0.0), (0.58, 1.0)], time));
        stand.arms = [arm; 2];
        let drag = eased(&[(0.0, 36.0), (0.18, -18.0), (0.36, 7.0), (0.6, 0.0)], time);
        (stand.hair, stand.scarf) = (DVec3::X * -drag, DVec3::X * -drag);
        stand.pose(body)
    });
    motion.calling(0.2, "recover", None)
}

/// A front kick with the right foot, and a step forward.
fn kick(body: &Body) -> Motion {
    let far = 0.40;
    once("kick", 1.0, |time| {
        let mut stand = Stand::new(body);
        let key = |keys: &[(f64, f64)]| eased(keys, time);
        // Hips over the left foot, thrust forward by the kick, then between both feet.
        stand.shift = DVec3::new(
            key(&[
                (0.0, 0.0),
                (0.18, -0.07),
                (0.54, -0.07),
                (0.72, 0.02),
                (0.96, 0.0),
            ]),
            key(&[
                (0.0, SOFT_KNEES),
                (0.14, -0.05),
                (0.34, 0.0),
                (0.5, -0.01),
                (0.7, -0.07),
                (0.96, SOFT_KNEES),
            ]),
            key(&[
                (0.0, 0.0),
                (0.14, 0.03),
                (0.36, -0.12),
                (0.5, -0.10),
                (0.72, -0.6 * far),
                (0.96, -far),
            ]),
        );
        let thrust = key(&[(0.24, 0.0), (0.34, 1.0), (0.46, 1.0), (0.62, 0.0)]);
        let coil = key(&[(0.0, 0.0), (0.15, 1.0), (0.32, 0.0)]);
        stand.hips = DVec3::new(
            13.0 * thrust - 4.0 * coil,
            26.0 * thrust - 10.0 * coil,
            5.0 * thrust,
        );
        stand.back = DVec3::new(
            3.0 * thrust - 8.0 * coil + key(&[(0.5, 0.0), (0.7, -9.0), (0.96, 0.0)]),
            -16.0 * thrust - 8.0 * coil,
            -4.0 * thrust,
        );
        stand.look = DVec3::new(-2.0, 2.0 * thrust, 0.0);
        let fist = Arm {
            curl: 82.0,
            point: 0.0,
            spread: -6.0,
            ..EASY_ARM
        };
        let guard = Arm {
            swing: 42.0,
            out: 18.0,
            roll: -14.0,
            elbow: 112.0,
            ..fist
        };
        let flung = Arm {
            swing: -38.0,
            out: 38.0,
            elbow: 48.0,
            ..fist
        };
        let ready = key(&[(0.0, 0.0), (0.14, 1.0), (0.62, 1.0), (0.96, 0.0)]);
        let arm = EASY_ARM.mixed(guard, ready);
        stand.arms = [arm, arm.mixed(flung, thrust)];
        stand.feet[0] = step(body, 0, 0.72, 0.92, -far, time);
        stand.feet[1] = swung(
            body,
            &[
                (0.10, 0.0, DVec3::ZERO, 0.0),
                (0.25, 0.0, DVec3::new(-0.02, 0.46, -0.20), -8.0),
                (0.35, 0.0, DVec3::new(-0.08, 0.76, -0.86), 62.0),
                (0.44, 0.0, DVec3::new(-0.08, 0.75, -0.85), 62.0),
                (0.56, 0.0, DVec3::new(-0.02, 0.34, -0.42), 12.0),
                (0.70, 0.0, DVec3::new(0.0, 0.0, -far), 0.0),
            ],
            time,
        );
        let drag = key(&[
            (0.1, 0.0),
            (0.3, 14.0),
            (0.42, -12.0),
            (0.6, 8.0),
            (0.9, 0.0),
        ]);
        (stand.hair, stand.scarf) = (DVec3::X * drag, DVec3::X * drag);
        stand.pose(body)
    })
}

/// Staggers a step back.
fn hurt(body: &Body) -> Motion {
    let far = 0.30;
    once("hurt", 0.7, |time| {
        let mut stand = Stand::new(body);
        let key = |keys: &[(f64, f64)]| eased(keys, time);
        stand.shift = DVec3::new(
            key(&[(0.0, 0.0), (0.15, -0.04), (0.35, 0.03), (0.66, 0.0)]),
            key(&[
                (0.0, SOFT_KNEES),
                (0.1, -0.03),
                (0.28, -0.10),
                (0.66, SOFT_KNEES),
            ]),
            key(&[(0.0, 0.0), (0.22, 0.65 * far), (0.5, far)]),
        );
        stand.hips = DVec3::new(
            key(&[(0.0, 0.0), (0.1, 9.0), (0.27, -15.0), (0.66, 0.0)]),
            key(&[(0.0, 0.0), (0.12, -14.0), (0.66, 0.0)]),
            0.0,
        );
        stand.back = DVec3::new(
            key(&[(0.0, 0.0), (0.1, 18.0), (0.27, -26.0), (0.66, 0.0)]),
            key(&[(0.0, 0.0), (0.12, -16.0), (0.34, -6.0), (0.66, 0.0)]),
            key(&[(0.0, 0.0), (0.12, 6.0), (0.3, 0.0)]),
        );
        stand.look = DVec3::new(
            key(&[(0.0, 0.0), (0.09, 26.0), (0.27, -22.0), (0.64, 0.0)]),
            key(&[(0.0, 0.0), (0.12, 12.0), (0.5, 0.0)]),
            0.0,
        );
        let flung = Arm {
            swing: 34.0,
            out: 58.0,
            elbow: 40.0,
            shrug: 8.0,
            curl: 12.0,
            spread: 6.0,
            ..EASY_ARM
        };
        let hold = Arm {
            swing: 34.0,
            out: 4.0,
            roll: 22.0,
            elbow: 92.0,
            curl: 44.0,
            ..EASY_ARM
        };
        let thrown = key(&[(0.0, 0.0), (0.1, 1.0)]);
        let held = key(&[(0.12, 0.0), (0.28, 1.0)]);
        let eases = key(&[(0.38, 0.0), (0.68, 1.0)]);
        let arm = EASY_ARM.mixed(flung, thrown);
        stand.arms = [hold, hold].map(|hold| arm.mixed(hold, held).mixed(EASY_ARM, eases));
        stand.feet = [
            step(body, 0, 0.30, 0.48, far, time),
            step(body, 1, 0.03, 0.20, far, time),
        ];
        let drag = key(&[
            (0.0, 0.0),
            (0.1, 22.0),
            (0.28, -16.0),
            (0.5, 6.0),
            (0.7, 0.0),
        ]);
        (stand.hair, stand.scarf) = (DVec3::X * drag, DVec3::X * drag);
        stand.pose(body)
    })
}

fn once(
    name: &'static str,
    seconds: f64,
    pose: impl FnMut(f64) -> super::super::rig::Pose,
) -> Motion {
    Motion::new(
        name,
        (seconds * RATE).round() as usize,
        PlaybackMode::Once,
        pose,
    )
}

/// A foot off the ground, moved from its rest position, with the toes in line.
fn air(body: &Body, side: usize, shift: DVec3, pitch: f64) -> FootPlace {
    let foot = turn(DVec3::X, pitch);
    FootPlace {
        ankle: body.feet[side].ankle + shift,
        turn: foot,
        toes: foot,
    }
}

/// A foot that steps forward (−) or back by some meters, between two times.
fn step(body: &Body, side: usize, lift: f64, down: f64, by: f64, time: f64) -> FootPlace {
    let t = ((time - lift) / (down - lift)).clamp(0.0, 1.0);
    let shift = DVec3::Z * (by * smoothstep(0.0, 1.0, t));
    let pitch = eased(
        &[(lift - 0.05, 0.0), (lift + 0.05, -24.0), (down, 0.0)],
        time,
    );
    let mut place = body.feet[side].rolled(shift, 0.0, pitch);
    place.ankle.y += 0.07 * 16.0 * t * t * (1.0 - t) * (1.0 - t);
    place
}

/// The right foot through places: time, yaw, how far from rest, and pitch.
fn swung(body: &Body, keys: &[(f64, f64, DVec3, f64)], time: f64) -> FootPlace {
    let along = |of: &dyn Fn(&(f64, f64, DVec3, f64)) -> f64| {
        let keys: Vec<_> = keys.iter().map(|key| (key.0, of(key))).collect();
        eased(&keys, time)
    };
    let shift = DVec3::new(
        along(&|key| key.2.x),
        along(&|key| key.2.y),
        along(&|key| key.2.z),
    );
    air(body, 1, shift, along(&|key| key.3))
}

fn mixed(a: FootPlace, b: FootPlace, t: f64) -> FootPlace {
    use super::super::maths::mix_turn;
    FootPlace {
        ankle: a.ankle.lerp(b.ankle, t),
        turn: mix_turn(a.turn, b.turn, t),
        toes: mix_turn(a.toes, b.toes, t),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            super::gait::{Footing, assert_feet_stand},
            moves::FOOTFALLS,
        },
        *,
    };

    #[test]
    fn running_feet_move_with_the_floor() {
        let body = Body::new(skeleton::rig());
        let foot = |side: usize| Footing {
            gait: RUN,
            shape: body.feet[side],
            joints: ["foot", "toes"]
                .map(|name| body.rig.find(&format!("{name}.{}", ["L", "R"][side]))),
            falls: FOOTFALLS[side],
        };
        assert_feet_stand(&[0, 1].map(foot), &body.rig, &run(&body), 0.12);
    }

    #[test]
    fn nothing_jumps_between_frames() {
        let body = Body::new(skeleton::rig());
        // 14 m/s: the kicking foot.
        all(&body)
            .iter()
            .for_each(|motion| motion.assert_smooth(&body.rig, 14.0));
    }
}
