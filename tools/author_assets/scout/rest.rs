//! Scout's stationary clips: idle, wave, jump, point and turn.

use super::super::{
    gait::FootPlace,
    maths::{eased, hermite, smoothstep, turn, wave},
    motion::{Motion, RATE},
    rig::Pose,
};
use super::body::{Arm, Body, EASY_ARM};
use bevy_marionette::model::PlaybackMode;
use glam::DVec3;

pub(super) const SOFT_KNEES: f64 = -0.0025;

/// Standing relaxed, the base of the stationary clips.
pub(super) struct Stand {
    pub shift: DVec3,
    pub hips: DVec3,
    pub back: DVec3,
    pub look: DVec3,
    pub arms: [Arm; 2],
    pub feet: [FootPlace; 2],
    pub hair: DVec3,
    pub scarf: DVec3,
}

impl Stand {
    pub fn new(body: &Body) -> Self {
        let feet = body.feet.map(|f| f.rolled(DVec3::ZERO, 0.0, 0.0));
        let zero = DVec3::ZERO;
        let shift = DVec3::Y * SOFT_KNEES;
        Self {
            shift,
            hips: zero,
            back: zero,
            look: zero,
            arms: [EASY_ARM; 2],
            feet,
            hair: zero,
            scarf: zero,
        }
    }

    /// Adds `breath` in −1..1 to chest and shoulders.
    fn breathe(mut self, breath: f64) -> Self {
        self.back.x += 1.3 * breath;
        self.look.x -= 0.4 * breath;
        for arm in &mut self.arms {
            arm.shrug += 1.6 * breath;
            arm.out += 1.0 * breath;
        }
        self
    }

    pub fn pose(&self, body: &Body) -> Pose {
        let mut pose = body.rig.rest();
        body.hips(&mut pose, self.shift, self.hips);
        body.back(&mut pose, self.back);
        body.look(&mut pose, self.look);
        for side in 0..2 {
            body.arm(&mut pose, side, &self.arms[side]);
            body.foot(&mut pose, side, &self.feet[side]);
        }
        body.trail(
            &mut pose,
            [self.hair, self.hair * 1.4],
            [self.scarf, self.scarf * 1.4],
        );
        pose
    }
}

pub fn idle(body: &Body) -> Motion {
    let seconds = 4.0;
    Motion::new(
        "idle",
        (seconds * RATE) as usize,
        PlaybackMode::Loop,
        |time| {
            let t = time / seconds;
            let mut stand = Stand::new(body).breathe(wave(2.0 * t));
            // The weight shifts from one leg to the other, and the shoulders follow.
            let shift = wave(t);
            stand.shift += DVec3::new(
                0.026 * shift,
                -0.0065 * shift * shift,
                0.006 * wave(2.0 * t + 0.1),
            );
            stand.hips = DVec3::new(0.0, 2.2 * wave(t + 0.05), 2.6 * shift);
            stand.back += DVec3::new(-1.0, -1.4 * wave(t + 0.05), -3.6 * shift);
            stand.look += DVec3::new(
                -1.5 * wave(2.0 * t + 0.35),
                7.0 * wave(t + 0.30) + 2.0 * wave(2.0 * t),
                -1.5 * shift,
            );
            for (arm, s) in stand.arms.iter_mut().zip([-1.0, 1.0]) {
                arm.swing += 1.6 * wave(t + 0.1 * s) + 0.8 * wave(2.0 * t - 0.1);
                arm.elbow += 2.5 * wave(2.0 * t - 0.12);
                arm.curl += 3.0 * wave(t + 0.2 * s);
                arm.out -= 1.5 * shift * s;
            }
            stand.hair = DVec3::new(2.0 * wave(2.0 * t - 0.15), 0.0, -3.0 * wave(t - 0.1));
            stand.scarf = DVec3::new(2.5 * wave(2.0 * t - 0.2), 0.0, -2.5 * wave(t - 0.15));
            stand.pose(body)
        },
    )
}

pub fn wave_hand(body: &Body) -> Motion {
    let seconds = 2.4;
    Motion::new(
        "wave",
        (seconds * RATE) as usize,
        PlaybackMode::Loop,
        |time| {
            let t = time / seconds;
            let mut stand = Stand::new(body).breathe(0.6 * wave(t));
            let up = eased(&[(0.0, 0.0), (0.50, 1.0), (1.85, 1.0), (2.4, 0.0)], time);
            // Three swings while the hand is up.
            let swing = eased(&[(0.35, 0.0), (0.60, 1.0), (1.70, 1.0), (2.05, 0.0)], time)
                * wave((time - 0.45) / 0.45);
            let raised = Arm {
                swing: 8.0,
                out: 80.0,
                roll: 88.0,
                elbow: 84.0,
                twist: 14.0,
                wrist: -6.0,
                shrug: 12.0,
                curl: 4.0,
                point: 0.5,
                spread: 7.0,
            };
            let mut arm = stand.arms[1].mixed(raised, up);
            arm.elbow += 24.0 * swing;
            arm.wrist += 12.0 * wave((time - 0.55) / 0.45) * up * up;
            arm.out += 3.0 * swing;
            stand.arms[1] = arm;
            stand.shift += DVec3::new(-0.022 * up, -0.004 * up, 0.0);
            stand.hips = DVec3::new(0.0, -2.0 * up, -2.0 * up);
            stand.back += DVec3::new(-1.0, -4.0 * up, 6.0 * up + 0.8 * swing);
            stand.look += DVec3::new(2.5 * up, 3.0 * up, -5.0 * up);
            stand.hair = DVec3::new(0.0, 0.0, 5.0 * up + 3.0 * swing);
            stand.scarf = DVec3::new(0.0, 0.0, 3.0 * up + 1.5 * swing);
            stand.pose(body)
        },
    )
}

pub fn jump(body: &Body) -> Motion {
    let (low, leave, land, sunk, end) = (0.36, 0.52, 0.98, 1.14, 1.6);
    let tiptoe = 0.055;
    let gravity = 9.81;
    let launch = gravity * (land - leave) / 2.0;
    let motion = Motion::new("jump", (end * RATE) as usize, PlaybackMode::Once, |time| {
        let mut stand = Stand::new(body);
        let up = |y: f64| DVec3::Y * y;
        let height = if time < low {
            eased(&[(0.02, SOFT_KNEES), (low, -0.26)], time)
        } else if time < leave {
            let span = leave - low;
            hermite(
                up(-0.26),
                up(0.0),
                up(tiptoe),
                up(launch * span),
                (time - low) / span,
            )
            .y
        } else if time < land {
            let t = time - leave;
            tiptoe + launch * t - 0.5 * gravity * t * t
        } else if time < sunk {
            let span = sunk - land;
            hermite(
                up(tiptoe),
                up(-launch * span),
                up(-0.21),
                up(0.0),
                (time - land) / span,
            )
            .y
        } else {
            eased(&[(sunk, -0.21), (end - 0.06, SOFT_KNEES)], time)
        };
        let crouch = ((SOFT_KNEES - height) / 0.25).max(0.0);
        stand.shift = DVec3::new(0.0, height, 0.05 * crouch);
        let lean = eased(
            &[
                (0.0, 0.0),
                (low - 0.07, -21.0),
                (leave + 0.06, 3.0),
                (0.75, -6.0),
                (land, -4.0),
                (sunk, -22.0),
                (end - 0.05, 0.0),
            ],
            time,
        );
        stand.hips.x = lean * 0.9;
        stand.back.x = lean * 0.7 + eased(&[(low, 0.0), (leave, 6.0), (land, 0.0)], time);
        stand.look.x = eased(
            &[
                (0.0, 0.0),
                (low, 2.0),
                (leave, 8.0),
                (0.8, -8.0),
                (sunk, -6.0),
                (end - 0.1, 0.0),
            ],
            time,
        );

        let back = Arm {
            swing: -34.0,
            out: 20.0,
            elbow: 26.0,
            curl: 45.0,
            ..EASY_ARM
        };
        let high = Arm {
            swing: 98.0,
            out: 24.0,
            elbow: 34.0,
            shrug: 10.0,
            curl: 26.0,
            ..EASY_ARM
        };
        let wide = Arm {
            swing: 30.0,
            out: 46.0,
            elbow: 38.0,
            curl: 14.0,
            ..EASY_ARM
        };
        let mut arm = EASY_ARM.mixed(back, eased(&[(0.02, 0.0), (0.24, 1.0)], time));
        arm = arm.mixed(high, eased(&[(0.25, 0.0), (leave + 0.22, 1.0)], time));
        arm = arm.mixed(
            wide,
            eased(&[(leave + 0.22, 0.0), (land + 0.06, 1.0)], time),
        );
        arm = arm.mixed(EASY_ARM, eased(&[(sunk, 0.0), (end - 0.02, 1.0)], time));
        stand.arms = [arm; 2];

        let pitch = eased(
            &[
                (0.40, 0.0),
                (leave, -50.0),
                (0.66, -58.0),
                (land - 0.06, -26.0),
                (land, -24.0),
                (land + 0.1, 0.0),
            ],
            time,
        );
        stand.feet = body.feet.map(|shape| {
            let mut place = shape.rolled(DVec3::ZERO, 0.0, pitch);
            if time > leave && time < land {
                // The feet follow the hips, drawn up in the air.
                let t = (time - leave) / (land - leave);
                place.ankle.y += (height - tiptoe) + 0.62 * t * t * (1.0 - t) * (1.0 - t) * 4.0;
                place.ankle.z += 0.10 * smoothstep(0.0, 0.4, t) * smoothstep(1.0, 0.6, t);
                place.toes = place.turn;
            }
            place
        });
        let drag = eased(
            &[
                (low, 0.0),
                (leave, -16.0),
                (0.80, 34.0),
                (land, 40.0),
                (sunk + 0.04, -14.0),
                (1.38, 5.0),
                (end, 0.0),
            ],
            time,
        );
        stand.hair = DVec3::X * -drag;
        stand.scarf = DVec3::X * -drag;
        stand.pose(body)
    });
    motion
        .calling(leave, "jump", None)
        .calling(land, "land", None)
}

pub fn point(body: &Body) -> Motion {
    let seconds = 2.4;
    Motion::new(
        "point",
        (seconds * RATE) as usize,
        PlaybackMode::Once,
        |time| {
            let mut stand = Stand::new(body).breathe(0.5 * wave(time / seconds));
            let up = eased(&[(0.10, 0.0), (0.62, 1.0), (1.65, 1.0), (2.35, 0.0)], time);
            // Overshoots, settles, and repeats for emphasis.
            let push = eased(
                &[
                    (0.35, 0.0),
                    (0.62, 1.0),
                    (0.85, 0.0),
                    (1.15, 0.0),
                    (1.30, 0.7),
                    (1.50, 0.0),
                ],
                time,
            );
            let pointing = Arm {
                swing: 84.0,
                out: -2.0,
                roll: -4.0,
                elbow: 7.0,
                twist: -38.0,
                wrist: -4.0,
                shrug: 4.0,
                curl: 74.0,
                point: 1.0,
                spread: -3.0,
            };
            let mut arm = stand.arms[1].mixed(pointing, up);
            arm.swing += 4.0 * push;
            arm.elbow += 26.0 * up * (1.0 - up) * 4.0 * 0.6 - 4.0 * push;
            stand.arms[1] = arm;
            // The other hand goes to the hip.
            let akimbo = Arm {
                swing: 3.0,
                out: 46.0,
                roll: -78.0,
                elbow: 88.0,
                twist: 10.0,
                wrist: -14.0,
                curl: 46.0,
                point: 0.0,
                ..EASY_ARM
            };
            stand.arms[0] = stand.arms[0].mixed(
                akimbo,
                eased(&[(0.0, 0.0), (0.55, 1.0), (1.75, 1.0), (2.4, 0.0)], time),
            );
            stand.shift += DVec3::new(0.018 * up, -0.014 * up, -0.035 * up - 0.008 * push);
            stand.hips = DVec3::new(-1.5 * up, 5.0 * up, 1.5 * up);
            stand.back += DVec3::new(-2.5 * up - 1.5 * push, 11.0 * up + 2.0 * push, -up);
            stand.look += DVec3::new(1.0 * up, 2.0 * up, 0.0);
            stand.hair = DVec3::new(-6.0 * push, 0.0, -3.0 * up);
            stand.scarf = DVec3::new(-5.0 * push, 0.0, -2.0 * up);
            stand.pose(body)
        },
    )
}

/// A quarter turn to the left in two steps. The clip ends turned.
pub fn turn_left(body: &Body) -> Motion {
    let steps = [(0.20, 0.56), (0.66, 1.04)];
    let motion = Motion::new("turn", (1.4 * RATE) as usize, PlaybackMode::Once, |time| {
        let mut stand = Stand::new(body);
        let yaw = 90.0 * eased(&[(0.14, 0.0), (0.62, 0.52), (1.20, 1.0)], time);
        let head = 90.0 * eased(&[(0.0, 0.0), (0.42, 0.62), (0.95, 1.0)], time);
        let shoulders = 90.0 * eased(&[(0.06, 0.0), (0.56, 0.56), (1.10, 1.0)], time);
        let heading = turn(DVec3::Y, yaw);
        // Weight on the standing foot: right first, then left.
        let over = eased(
            &[
                (0.04, 0.0),
                (0.24, 0.8),
                (0.54, 0.7),
                (0.72, -0.8),
                (1.0, -0.7),
                (1.3, 0.0),
            ],
            time,
        );
        let dip = eased(
            &[
                (0.0, 0.0),
                (0.26, 1.0),
                (0.44, 0.4),
                (0.60, 1.0),
                (0.84, 0.4),
                (1.06, 0.9),
                (1.36, 0.0),
            ],
            time,
        );
        stand.shift =
            heading * DVec3::new(0.045 * over, 0.0, 0.0) + DVec3::Y * (SOFT_KNEES - 0.024 * dip);
        stand.hips = DVec3::new(-1.5 * dip, yaw, 2.4 * over);
        stand.back = DVec3::new(-2.0 * dip, shoulders - yaw, -3.0 * over);
        stand.look = DVec3::new(-2.0 * dip, head, 0.0);
        for (side, s) in [(0, -1.0), (1, 1.0)] {
            let swing = eased(&[(0.05, 0.0), (0.40, 1.0), (0.85, -0.7), (1.3, 0.0)], time);
            stand.arms[side].swing += 11.0 * swing * s;
            stand.arms[side].out += 5.0 * dip;
            stand.arms[side].elbow += 8.0 * swing.abs();
            let (lift, down) = steps[side];
            let t = ((time - lift) / (down - lift)).clamp(0.0, 1.0);
            let turned = 90.0 * smoothstep(0.0, 1.0, t);
            let pitch = eased(
                &[
                    (lift - 0.06, 0.0),
                    (lift + 0.05, -24.0),
                    (down - 0.12, -4.0),
                    (down - 0.04, 5.0),
                    (down + 0.04, 0.0),
                ],
                time,
            );
            let mut place = body.feet[side].rolled(DVec3::ZERO, turned, pitch);
            place.ankle.y += 0.095 * 16.0 * t * t * (1.0 - t) * (1.0 - t);
            stand.feet[side] = place;
        }
        let trail = eased(
            &[
                (0.10, 0.0),
                (0.40, 1.0),
                (0.9, 0.8),
                (1.12, -0.5),
                (1.36, 0.0),
            ],
            time,
        );
        stand.hair = DVec3::new(0.0, -12.0 * trail, 10.0 * trail);
        stand.scarf = DVec3::new(-4.0 * trail, -10.0 * trail, 8.0 * trail);
        stand.pose(body)
    });
    motion.stepping([(steps[0].1, "left"), (steps[1].1, "right")])
}

#[cfg(test)]
mod tests {
    use super::super::skeleton::rig;
    use super::*;

    #[test]
    fn feet_on_the_spot_stay_where_they_are() {
        let body = Body::new(rig());
        for motion in [idle(&body), wave_hand(&body), point(&body)] {
            for frame in &motion.frames {
                let model = body.rig.model(frame);
                for (side, name) in ["L", "R"].into_iter().enumerate() {
                    let at = model[body.rig.find(&format!("foot.{name}"))].0;
                    assert!(
                        at.distance(body.feet[side].ankle) < 1e-3,
                        "{}: {at}",
                        motion.name
                    );
                }
            }
        }
    }
}
