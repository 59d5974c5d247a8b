//! Scout's clips.

use super::super::{
    gait::{FootPlace, Gait, under_limits},
    maths::{eased, hermite, smoothstep, wave},
    motion::{Motion, RATE},
    rig::Pose,
};
use super::body::{Arm, Body, EASY_ARM};
use bevy_marionette::model::Playback;
use glam::DVec3;

/// Walking: 1.2 m/s.
pub const WALK: Gait = Gait {
    cycle: 32.0 / RATE,
    speed: 1.2,
    duty: 0.62,
    ahead: 0.335,
    inwards: 0.045,
    follow: 1.0,
    stance_pitch: &[(0.0, 22.0), (0.16, 0.0), (0.58, 0.0), (1.0, -42.0)],
    swing_pitch: &[(0.0, -42.0), (0.18, -52.0), (0.60, 4.0), (0.88, 24.0), (1.0, 22.0)],
    lift: &[(0.0, 0.0), (0.42, 0.055), (0.70, 0.035), (1.0, 0.0)],
};

/// Jogging: 2.4 m/s.
pub const JOG: Gait = Gait {
    cycle: 22.0 / RATE,
    speed: 2.4,
    duty: 0.36,
    ahead: 0.21,
    inwards: 0.065,
    follow: 1.0,
    stance_pitch: &[(0.0, 10.0), (0.18, 0.0), (0.45, 0.0), (1.0, -52.0)],
    swing_pitch: &[(0.0, -52.0), (0.25, -92.0), (0.55, -45.0), (0.85, 12.0), (1.0, 10.0)],
    lift: &[(0.0, 0.0), (0.26, 0.30), (0.58, 0.24), (1.0, 0.0)],
};

/// Footfalls within a gait's cycle: left, right.
pub const FOOTFALLS: [f64; 2] = [0.25, 0.75];

const SOFT_KNEES: f64 = -0.0025;

/// All clips.
pub fn all(body: &Body) -> Vec<Motion> {
    vec![idle(body), walk(body), jog(body), wave_hand(body), jump(body), point(body), turn_left(body)]
}

/// Standing easily, the base of the clips that stay on the spot.
struct Stand {
    shift: DVec3,
    hips: DVec3,
    back: DVec3,
    look: DVec3,
    arms: [Arm; 2],
    feet: [FootPlace; 2],
    hair: DVec3,
    scarf: DVec3,
}

impl Stand {
    fn new(body: &Body) -> Self {
        let feet = body.feet.map(|f| f.rolled(DVec3::ZERO, 0.0, 0.0));
        let zero = DVec3::ZERO;
        let shift = DVec3::Y * SOFT_KNEES;
        Self { shift, hips: zero, back: zero, look: zero, arms: [EASY_ARM; 2], feet, hair: zero, scarf: zero }
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

    fn pose(&self, body: &Body) -> Pose {
        let mut pose = body.rig.rest();
        body.hips(&mut pose, self.shift, self.hips);
        body.back(&mut pose, self.back);
        body.look(&mut pose, self.look);
        for side in 0..2 {
            body.arm(&mut pose, side, &self.arms[side]);
            body.foot(&mut pose, side, &self.feet[side]);
        }
        body.trail(&mut pose, [self.hair, self.hair * 1.4], [self.scarf, self.scarf * 1.4]);
        pose
    }
}

fn idle(body: &Body) -> Motion {
    let seconds = 4.0;
    Motion::new("idle", (seconds * RATE) as usize, Playback::Loop, |time| {
        let t = time / seconds;
        let mut stand = Stand::new(body).breathe(wave(2.0 * t));
        // The weight goes from one leg to the other and the shoulders answer.
        let shift = wave(t);
        stand.shift += DVec3::new(0.026 * shift, -0.0065 * shift * shift, 0.006 * wave(2.0 * t + 0.1));
        stand.hips = DVec3::new(0.0, 2.2 * wave(t + 0.05), 2.6 * shift);
        stand.back += DVec3::new(-1.0, -1.4 * wave(t + 0.05), -3.6 * shift);
        stand.look += DVec3::new(-1.5 * wave(2.0 * t + 0.35), 7.0 * wave(t + 0.30) + 2.0 * wave(2.0 * t), -1.5 * shift);
        for (arm, s) in stand.arms.iter_mut().zip([-1.0, 1.0]) {
            arm.swing += 1.6 * wave(t + 0.1 * s) + 0.8 * wave(2.0 * t - 0.1);
            arm.elbow += 2.5 * wave(2.0 * t - 0.12);
            arm.curl += 3.0 * wave(t + 0.2 * s);
            arm.out -= 1.5 * shift * s;
        }
        stand.hair = DVec3::new(2.0 * wave(2.0 * t - 0.15), 0.0, -3.0 * wave(t - 0.1));
        stand.scarf = DVec3::new(2.5 * wave(2.0 * t - 0.2), 0.0, -2.5 * wave(t - 0.15));
        stand.pose(body)
    })
}

/// How the body goes along with the legs.
struct Style {
    /// Degrees: lean of hips and back (forward negative), turn of hips, of shoulders against them, roll.
    lean: f64,
    yaw: f64,
    counter: f64,
    roll: f64,
    /// Metres: sway to the standing leg; wanted height and its rise and fall, highest at `crest` turns.
    sway: f64,
    height: f64,
    bob: f64,
    crest: f64,
    arm: Arm,
    /// Degrees: arm swing and what it adds to the elbow in front.
    swing: f64,
    pump: f64,
    hair: [f64; 2],
    scarf: [f64; 2],
}

fn stepping(body: &Body, name: &'static str, gait: &Gait, style: &Style) -> Motion {
    let steps = (gait.cycle * RATE).round() as usize;
    // Turns since the footfall of a side.
    let since = |t: f64, side: usize| t - FOOTFALLS[side];
    let upper = |t: f64, height: f64| {
        let mut pose = body.rig.rest();
        let right = since(t, 1); // the right foot is foremost at 0
        let over = wave(right + 0.25 - 0.5 * gait.duty); // 1 when the right leg carries
        let forward = wave(right + 0.25);
        body.hips(
            &mut pose,
            DVec3::new(style.sway * over, height, 0.0),
            DVec3::new(style.lean * 0.35, style.yaw * forward, style.roll * over),
        );
        let nod = 1.2 * wave(2.0 * t + 0.1);
        body.back(
            &mut pose,
            DVec3::new(style.lean * 0.65 + nod, -(style.yaw + style.counter) * forward, -1.4 * style.roll * over),
        );
        body.look(
            &mut pose,
            DVec3::new(style.lean * 0.12 + 0.4 * nod, -0.12 * style.counter * forward, -0.1 * style.roll * over),
        );
        for (side, s) in [(0, -1.0), (1, 1.0)] {
            // An arm goes forward with the other leg.
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
                DVec3::new(-a[0] - a[1] * wave(2.0 * t - 0.05 - lag), 0.0, 0.5 * a[1] * wave(right - 0.15 - lag))
            })
        };
        body.trail(&mut pose, swing(style.hair, 0.12), swing(style.scarf, 0.14));
        pose
    };
    // First without a height, to learn how high the hips may be; then with it.
    let at = |i: usize| i as f64 / steps as f64;
    let limits: Vec<f64> = (0..steps)
        .map(|i| {
            let pose = upper(at(i), 0.0);
            let limit = |side| body.height_limit(&pose, side, &gait.foot(&body.feet[side], since(at(i), side)));
            limit(0).min(limit(1))
        })
        .collect();
    let wanted: Vec<f64> =
        (0..steps).map(|i| style.height + style.bob * wave(2.0 * (at(i) - style.crest) + 0.25)).collect();
    let heights = under_limits(&wanted, &limits, 3);
    let mut motion = Motion::new(name, steps, Playback::Loop, |time| {
        let i = (time * RATE).round() as usize % steps;
        let mut pose = upper(at(i), heights[i]);
        for side in 0..2 {
            body.foot(&mut pose, side, &gait.foot(&body.feet[side], since(at(i), side)));
        }
        pose
    });
    for (footfall, side) in FOOTFALLS.into_iter().zip(["left", "right"]) {
        motion = motion.calling(footfall * gait.cycle, "footstep", Some(side));
    }
    motion
}

fn walk(body: &Body) -> Motion {
    let arm = Arm { swing: -1.0, out: 11.0, elbow: 20.0, twist: 16.0, curl: 34.0, ..EASY_ARM };
    let style = Style {
        lean: -5.0,
        yaw: 7.0,
        counter: 8.0,
        roll: 3.2,
        sway: 0.026,
        height: -0.012,
        bob: 0.014,
        crest: 0.06,
        arm,
        swing: 24.0,
        pump: 9.0,
        hair: [4.0, 6.0],
        scarf: [6.0, 6.0],
    };
    stepping(body, "walk", &WALK, &style)
}

fn jog(body: &Body) -> Motion {
    let arm =
        Arm { swing: -6.0, out: 14.0, roll: -14.0, elbow: 82.0, curl: 72.0, point: 0.0, spread: -5.0, ..EASY_ARM };
    let style = Style {
        lean: -13.0,
        yaw: 9.0,
        counter: 13.0,
        roll: 3.6,
        sway: 0.014,
        height: -0.045,
        bob: 0.038,
        crest: 0.20,
        arm,
        swing: 38.0,
        pump: 16.0,
        hair: [18.0, 14.0],
        scarf: [26.0, 12.0],
    };
    stepping(body, "jog", &JOG, &style)
}

fn wave_hand(body: &Body) -> Motion {
    let seconds = 2.4;
    Motion::new("wave", (seconds * RATE) as usize, Playback::Loop, |time| {
        let t = time / seconds;
        let mut stand = Stand::new(body).breathe(0.6 * wave(t));
        let up = eased(&[(0.0, 0.0), (0.50, 1.0), (1.85, 1.0), (2.4, 0.0)], time);
        // Three swings while the hand is up.
        let swing = eased(&[(0.35, 0.0), (0.60, 1.0), (1.70, 1.0), (2.05, 0.0)], time) * wave((time - 0.45) / 0.45);
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
    })
}

fn jump(body: &Body) -> Motion {
    let (low, leave, land, sunk, end) = (0.36, 0.52, 0.98, 1.14, 1.6);
    let tiptoe = 0.055;
    let gravity = 9.81;
    let launch = gravity * (land - leave) / 2.0;
    let motion = Motion::new("jump", (end * RATE) as usize, Playback::Once, |time| {
        let mut stand = Stand::new(body);
        let up = |y: f64| DVec3::Y * y;
        let height = if time < low {
            eased(&[(0.02, SOFT_KNEES), (low, -0.26)], time)
        } else if time < leave {
            let span = leave - low;
            hermite(up(-0.26), up(0.0), up(tiptoe), up(launch * span), (time - low) / span).y
        } else if time < land {
            let t = time - leave;
            tiptoe + launch * t - 0.5 * gravity * t * t
        } else if time < sunk {
            let span = sunk - land;
            hermite(up(tiptoe), up(-launch * span), up(-0.21), up(0.0), (time - land) / span).y
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
        stand.look.x =
            eased(&[(0.0, 0.0), (low, 2.0), (leave, 8.0), (0.8, -8.0), (sunk, -6.0), (end - 0.1, 0.0)], time);

        let back = Arm { swing: -34.0, out: 20.0, elbow: 26.0, curl: 45.0, ..EASY_ARM };
        let high = Arm { swing: 98.0, out: 24.0, elbow: 34.0, shrug: 10.0, curl: 26.0, ..EASY_ARM };
        let wide = Arm { swing: 30.0, out: 46.0, elbow: 38.0, curl: 14.0, ..EASY_ARM };
        let mut arm = EASY_ARM.mixed(back, eased(&[(0.02, 0.0), (0.24, 1.0)], time));
        arm = arm.mixed(high, eased(&[(0.25, 0.0), (leave + 0.22, 1.0)], time));
        arm = arm.mixed(wide, eased(&[(leave + 0.22, 0.0), (land + 0.06, 1.0)], time));
        arm = arm.mixed(EASY_ARM, eased(&[(sunk, 0.0), (end - 0.02, 1.0)], time));
        stand.arms = [arm; 2];

        let pitch = eased(
            &[(0.40, 0.0), (leave, -50.0), (0.66, -58.0), (land - 0.06, -26.0), (land, -24.0), (land + 0.1, 0.0)],
            time,
        );
        stand.feet = body.feet.map(|shape| {
            let mut place = shape.rolled(DVec3::ZERO, 0.0, pitch);
            if time > leave && time < land {
                // Feet go with the hips, and are drawn up on the way.
                let t = (time - leave) / (land - leave);
                place.ankle.y += (height - tiptoe) + 0.62 * t * t * (1.0 - t) * (1.0 - t) * 4.0;
                place.ankle.z += 0.10 * smoothstep(0.0, 0.4, t) * smoothstep(1.0, 0.6, t);
                place.toes = place.turn;
            }
            place
        });
        let drag = eased(
            &[(low, 0.0), (leave, -16.0), (0.80, 34.0), (land, 40.0), (sunk + 0.04, -14.0), (1.38, 5.0), (end, 0.0)],
            time,
        );
        stand.hair = DVec3::X * -drag;
        stand.scarf = DVec3::X * -drag;
        stand.pose(body)
    });
    motion.calling(leave, "jump", None).calling(land, "land", None)
}

fn point(body: &Body) -> Motion {
    let seconds = 2.4;
    Motion::new("point", (seconds * RATE) as usize, Playback::Once, |time| {
        let mut stand = Stand::new(body).breathe(0.5 * wave(time / seconds));
        let up = eased(&[(0.10, 0.0), (0.62, 1.0), (1.65, 1.0), (2.35, 0.0)], time);
        // A little too far, then settled; once more for emphasis.
        let push = eased(&[(0.35, 0.0), (0.62, 1.0), (0.85, 0.0), (1.15, 0.0), (1.30, 0.7), (1.50, 0.0)], time);
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
        stand.arms[0] = stand.arms[0].mixed(akimbo, eased(&[(0.0, 0.0), (0.55, 1.0), (1.75, 1.0), (2.4, 0.0)], time));
        stand.shift += DVec3::new(0.018 * up, -0.014 * up, -0.035 * up - 0.008 * push);
        stand.hips = DVec3::new(-1.5 * up, 5.0 * up, 1.5 * up);
        stand.back += DVec3::new(-2.5 * up - 1.5 * push, 11.0 * up + 2.0 * push, -up);
        stand.look += DVec3::new(1.0 * up, 2.0 * up, 0.0);
        stand.hair = DVec3::new(-6.0 * push, 0.0, -3.0 * up);
        stand.scarf = DVec3::new(-5.0 * push, 0.0, -2.0 * up);
        stand.pose(body)
    })
}

/// A quarter turn to the left on the spot, in two steps; the clip ends turned.
fn turn_left(body: &Body) -> Motion {
    let steps = [(0.20, 0.56), (0.66, 1.04)];
    let motion = Motion::new("turn", (1.4 * RATE) as usize, Playback::Once, |time| {
        let mut stand = Stand::new(body);
        let yaw = 90.0 * eased(&[(0.14, 0.0), (0.62, 0.52), (1.20, 1.0)], time);
        let head = 90.0 * eased(&[(0.0, 0.0), (0.42, 0.62), (0.95, 1.0)], time);
        let shoulders = 90.0 * eased(&[(0.06, 0.0), (0.56, 0.56), (1.10, 1.0)], time);
        let heading = super::super::maths::turn(DVec3::Y, yaw);
        // Weight on the standing foot: right first, then left.
        let over = eased(&[(0.04, 0.0), (0.24, 0.8), (0.54, 0.7), (0.72, -0.8), (1.0, -0.7), (1.3, 0.0)], time);
        let dip =
            eased(&[(0.0, 0.0), (0.26, 1.0), (0.44, 0.4), (0.60, 1.0), (0.84, 0.4), (1.06, 0.9), (1.36, 0.0)], time);
        stand.shift = heading * DVec3::new(0.045 * over, 0.0, 0.0) + DVec3::Y * (SOFT_KNEES - 0.024 * dip);
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
        let trail = eased(&[(0.10, 0.0), (0.40, 1.0), (0.9, 0.8), (1.12, -0.5), (1.36, 0.0)], time);
        stand.hair = DVec3::new(0.0, -12.0 * trail, 10.0 * trail);
        stand.scarf = DVec3::new(-4.0 * trail, -10.0 * trail, 8.0 * trail);
        stand.pose(body)
    });
    motion.calling(steps[0].1, "footstep", Some("left")).calling(steps[1].1, "footstep", Some("right"))
}

#[cfg(test)]
mod tests {
    use super::super::{super::gait, skeleton::rig};
    use super::*;

    /// How far the feet slide in all of one stance at worst, metres; see [`gait::slide`].
    fn slide(gait: &Gait, motion: &Motion, body: &Body, between: usize) -> f64 {
        let side = |side: usize| {
            let joints = ["foot", "toes"].map(|n| body.rig.find(&format!("{n}.{}", ["L", "R"][side])));
            gait::slide(gait, FOOTFALLS[side], &body.feet[side], joints, &body.rig, motion, between)
        };
        side(0).max(side(1))
    }

    #[test]
    fn standing_feet_move_with_the_floor() {
        let body = Body::new(rig());
        for (gait, motion) in [(WALK, walk(&body)), (JOG, jog(&body))] {
            for between in [0, 3] {
                let share = slide(&gait, &motion, &body, between) / gait.stride();
                println!("{}, {between} between: slides {:.3} % of {:.3} m", motion.name, share * 100.0, gait.stride());
                assert!(share < 0.02, "{}: {share}", motion.name);
            }
            let faster = Gait { speed: gait.speed * 1.10, ..gait };
            assert!(slide(&faster, &motion, &body, 0) > 0.02 * gait.stride(), "a floor 10 % faster goes unnoticed");
        }
    }

    #[test]
    fn feet_on_the_spot_stay_where_they_are() {
        let body = Body::new(rig());
        for motion in [idle(&body), wave_hand(&body), point(&body)] {
            for frame in &motion.frames {
                let model = body.rig.model(frame);
                for (side, name) in ["L", "R"].into_iter().enumerate() {
                    let at = model[body.rig.find(&format!("foot.{name}"))].0;
                    assert!(at.distance(body.feet[side].ankle) < 1e-3, "{}: {at}", motion.name);
                }
            }
        }
    }

    #[test]
    fn loops_end_as_they_begin_and_nothing_jumps_between_frames() {
        let body = Body::new(rig());
        for motion in all(&body) {
            let (first, last) = (&motion.frames[0], &motion.frames[motion.frames.len() - 1]);
            if motion.playback == Playback::Loop {
                assert_eq!(first.turns, last.turns, "{}", motion.name);
            }
            let mut worst = (0.0, 0, "");
            for (i, pair) in motion.frames.windows(2).enumerate() {
                let model = [body.rig.model(&pair[0]), body.rig.model(&pair[1])];
                for (j, (a, b)) in model[0].iter().zip(&model[1]).enumerate() {
                    if a.0.distance(b.0) > worst.0 {
                        worst = (a.0.distance(b.0), i, &body.rig.joints[j].name);
                    }
                }
            }
            // 9 m/s: a hand flung up in a jump.
            let (moved, frame, joint) = worst;
            assert!(moved * motion.rate < 9.0, "{} frame {frame}, {joint}: {moved} m", motion.name);
        }
    }
}
