//! The Hound's stationary clips: idle and sit.

use super::super::{
    gait::FootPlace,
    maths::{eased, wave},
    motion::{Motion, RATE},
    rig::Pose,
};
use super::body::{Body, Carriage, Trunk};
use bevy_marionette::model::PlaybackMode;
use glam::DVec3;

/// Callback data of footsteps, in the order of the legs.
pub const PAW_NAMES: [&str; 4] = ["left fore", "right fore", "left hind", "right hind"];

/// Standing relaxed, the base of the stationary clips.
pub struct Stand {
    pub trunk: Trunk,
    pub carriage: Carriage,
    pub paws: [FootPlace; 4],
    /// Offset of the hips, and how much it replaces the trunk's own shift.
    pub seat: (DVec3, f64),
}

impl Stand {
    pub fn new(body: &Body) -> Self {
        let trunk = Trunk {
            shift: DVec3::Y * -0.004,
            ..Trunk::default()
        };
        Self {
            trunk,
            carriage: Carriage::default(),
            paws: body.paws.map(|p| p.rolled(DVec3::ZERO, 0.0, 0.0)),
            seat: (DVec3::ZERO, 0.0),
        }
    }

    pub fn pose(&self, body: &Body) -> Pose {
        let mut pose = body.rig.rest();
        body.trunk(&mut pose, &self.trunk);
        pose.shift = pose.shift.lerp(self.seat.0, self.seat.1);
        body.carry(&mut pose, &self.carriage);
        for leg in 0..4 {
            body.paw(&mut pose, leg, &self.paws[leg]);
        }
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
            let mut stand = Stand::new(body);
            let breath = wave(2.0 * t);
            let shift = wave(t);
            stand.trunk.shift += DVec3::new(
                0.014 * shift,
                -0.003 * shift * shift + 0.0015 * breath,
                0.006 * wave(t + 0.2),
            );
            stand.trunk.roll = 0.8 * shift;
            stand.trunk.bend = 2.0 * wave(t + 0.15);
            stand.trunk.arch = 0.8 * breath;
            stand.trunk.breath = breath;
            let look = eased(
                &[(0.0, 0.0), (0.9, 0.0), (1.35, 1.0), (2.5, 1.0), (3.1, 0.0)],
                time,
            );
            stand.carriage = Carriage {
                neck: 1.2 * breath - 1.5 * look,
                nod: 1.0 * wave(2.0 * t - 0.2) + 2.0 * look,
                turn: 2.0 * wave(t) + 20.0 * look,
                tilt: 6.0 * look,
                jaw: 1.5 + 1.5 * wave(2.0 * t + 0.1),
                ears: [
                    4.0 + 2.0 * wave(2.0 * t) - 6.0 * look,
                    4.0 + 2.0 * wave(2.0 * t)
                        + 22.0
                            * eased(
                                &[
                                    (0.3, 0.0),
                                    (0.42, 1.0),
                                    (0.55, 0.1),
                                    (0.66, 0.7),
                                    (0.85, 0.0),
                                ],
                                time,
                            )
                        - 4.0 * look,
                ],
                flare: 2.0 - 3.0 * look,
                tail: 2.0 * breath + 7.0 * look,
                curl: 4.0 * wave(t - 0.1) + 8.0 * look,
                wag: 5.0 * wave(2.0 * t - 0.1) + 5.0 * look * wave(time * 2.0),
                whip: 10.0 * wave(2.0 * t - 0.3) + 9.0 * look * wave(time * 2.0 - 0.2),
                level: 0.0,
                swing: [
                    1.5 * wave(2.0 * t - 0.3),
                    2.5 * wave(t - 0.1) + 1.0 * wave(2.0 * t),
                ],
            };
            stand.pose(body)
        },
    )
}

/// A paw's step while sitting down: when it lifts and lands, and how far back it goes.
const SHUFFLE: [(f64, f64, f64); 4] = [
    (0.66, 0.90, 0.150),
    (0.94, 1.16, 0.150),
    (0.12, 0.38, -0.165),
    (0.40, 0.66, -0.165),
];

/// Sitting down: hind feet forward and forefeet back, one step each, then the rump sinks and the body settles.
pub fn sit(body: &Body) -> Motion {
    let seconds = 3.2;
    let motion = Motion::new(
        "sit",
        (seconds * RATE) as usize,
        PlaybackMode::Once,
        |time| {
            let mut stand = Stand::new(body);
            // Overshoots, then settles.
            let down = eased(
                &[
                    (0.10, 0.0),
                    (0.55, 0.25),
                    (1.28, 1.02),
                    (1.55, 0.985),
                    (1.85, 1.0),
                ],
                time,
            );
            let settle = eased(
                &[
                    (1.20, 0.0),
                    (1.38, 1.0),
                    (1.68, -0.35),
                    (2.0, 0.12),
                    (2.3, 0.0),
                ],
                time,
            );
            let breath = wave((time - 1.9).max(0.0) / 1.3);
            let busy = down * (1.0 - down).max(0.0) * 4.0;
            stand.trunk = Trunk {
                pitch: 50.0 * down - 1.6 * settle,
                arch: 14.0 * down + 3.0 * settle,
                ..Trunk::default()
            };
            stand.trunk.breath = breath - 0.8 * settle;
            stand.seat = (
                DVec3::new(0.0, -0.434 * down - 0.004 * settle, 0.035 * down),
                1.0,
            );
            for (leg, (lift, fall, back)) in SHUFFLE.into_iter().enumerate() {
                let t = ((time - lift) / (fall - lift)).clamp(0.0, 1.0);
                let moved = DVec3::Z * (back * t * t * (3.0 - 2.0 * t));
                let up = DVec3::Y * (0.03 * 16.0 * t * t * (1.0 - t) * (1.0 - t));
                let swing = eased(
                    &[
                        (lift, 0.0),
                        (lift + 0.10, -34.0),
                        (fall - 0.04, -4.0),
                        (fall, 0.0),
                    ],
                    time,
                );
                // The hocks come down behind the toes.
                let heel = if leg < 2 {
                    0.0
                } else {
                    74.0 * eased(&[(0.30, 0.0), (1.25, 1.0)], time)
                };
                let mut place = body.paws[leg].rolled(moved, 0.0, swing + heel);
                place.ankle += up;
                stand.paws[leg] = place;
            }
            let wag = eased(&[(1.5, 0.0), (1.8, 1.0), (2.6, 0.8), (3.1, 0.0)], time);
            let tilt = eased(&[(1.8, 0.0), (2.1, 1.0), (2.7, 1.0), (3.1, 0.3)], time);
            let ears = 14.0 * settle + 6.0 * busy;
            stand.carriage = Carriage {
                // Upright like the chest, or the kerchief would be crushed.
                neck: 34.0 * down + 2.0 * settle - 4.0 * busy,
                nod: -4.0 * busy + 3.0 * down - 2.5 * settle,
                tilt: 7.0 * tilt,
                turn: 5.0 * tilt,
                jaw: 1.0 * down,
                ears: [ears, 1.15 * ears],
                tail: 16.0 * down,
                curl: 17.0 * down,
                wag: 14.0 * down + 13.0 * wag * wave(time * 2.2),
                whip: 24.0 * down + 16.0 * wag * wave(time * 2.2 - 0.2),
                level: down.min(1.0),
                swing: [
                    eased(
                        &[
                            (0.3, 0.0),
                            (0.9, -7.0),
                            (1.3, 9.0),
                            (1.65, -5.0),
                            (2.0, 3.0),
                            (2.35, -1.0),
                            (2.7, 0.0),
                        ],
                        time,
                    ),
                    0.0,
                ],
                ..Carriage::default()
            };
            stand.pose(body)
        },
    );
    motion
        .stepping((0..4).map(|leg| (SHUFFLE[leg].1, PAW_NAMES[leg])))
        .calling(1.28, "sit", None)
}

#[cfg(test)]
mod tests {
    use super::super::skeleton::rig;
    use super::*;

    /// Positions of the toes, in the order of the legs.
    fn toes(body: &Body, pose: &Pose) -> [DVec3; 4] {
        let model = body.rig.model(pose);
        body.legs.map(|leg| model[leg[3]].0)
    }

    #[test]
    fn paws_stay_where_they_stand() {
        let body = Body::new(rig());
        for frame in &idle(&body).frames {
            for (paw, at) in body.paws.iter().zip(toes(&body, frame)) {
                assert!(at.distance(paw.ball) < 1e-3, "{at}");
            }
        }
        let sit = sit(&body);
        for (i, pair) in sit.frames.windows(2).enumerate() {
            let (from, to) = (i as f64 / sit.rate, (i + 1) as f64 / sit.rate);
            let [before, after] = [&pair[0], &pair[1]].map(|pose| toes(&body, pose));
            for leg in 0..4 {
                let stands = to <= SHUFFLE[leg].0 || from >= SHUFFLE[leg].1;
                let moved = before[leg].distance(after[leg]);
                assert!(
                    !stands || moved < 1e-3,
                    "frame {i}, {}: {moved} m",
                    PAW_NAMES[leg]
                );
            }
        }
    }

    #[test]
    fn the_sit_ends_low_and_still() {
        let body = Body::new(rig());
        let sit = sit(&body);
        let hips = |pose: &Pose| body.rig.model(pose)[0].0;
        let n = sit.frames.len();
        assert!(hips(&sit.frames[n - 1]).y < 0.30 && hips(&sit.frames[0]).y > 0.60);
        // It overshoots, then settles.
        let deepest = sit
            .frames
            .iter()
            .map(|f| hips(f).y)
            .fold(f64::MAX, f64::min);
        assert!(hips(&sit.frames[n - 1]).y - deepest > 2e-3);
        assert!(hips(&sit.frames[n - 1]).distance(hips(&sit.frames[n - 6])) < 1e-3);
    }
}
