//! The Hound's clips on the spot: standing easily, and sitting down.

use super::super::{
    gait::FootPlace,
    maths::{eased, wave},
    motion::{Motion, RATE},
    rig::Pose,
};
use super::body::{Body, Carriage, Trunk};
use bevy_marionette::model::Playback;
use glam::DVec3;

/// Data of the footsteps, in the order of the legs.
pub const PAW_NAMES: [&str; 4] = ["left fore", "right fore", "left hind", "right hind"];

/// Standing easily, the base of the clips on the spot.
pub struct Stand {
    pub trunk: Trunk,
    pub carriage: Carriage,
    pub paws: [FootPlace; 4],
}

impl Stand {
    pub fn new(body: &Body) -> Self {
        let trunk = Trunk { shift: DVec3::Y * -0.004, ..Trunk::default() };
        Self { trunk, carriage: Carriage::default(), paws: body.paws.map(|p| p.rolled(DVec3::ZERO, 0.0, 0.0)) }
    }

    pub fn pose(&self, body: &Body) -> Pose {
        let mut pose = body.rig.rest();
        body.trunk(&mut pose, &self.trunk);
        body.carry(&mut pose, &self.carriage);
        for leg in 0..4 {
            body.paw(&mut pose, leg, &self.paws[leg]);
        }
        pose
    }
}

pub fn idle(body: &Body) -> Motion {
    let seconds = 4.0;
    // Slow enough for half the rate.
    let rate = RATE / 2.0;
    Motion::at_rate("idle", rate, (seconds * rate) as usize, Playback::Loop, |time| {
        let t = time / seconds;
        let mut stand = Stand::new(body);
        let breath = wave(2.0 * t);
        let shift = wave(t);
        stand.trunk.shift += DVec3::new(0.014 * shift, -0.003 * shift * shift + 0.0015 * breath, 0.006 * wave(t + 0.2));
        stand.trunk.roll = 0.8 * shift;
        stand.trunk.bend = 2.0 * wave(t + 0.15);
        stand.trunk.arch = 0.8 * breath;
        stand.trunk.breath = breath;
        let look = eased(&[(0.0, 0.0), (0.9, 0.0), (1.35, 1.0), (2.5, 1.0), (3.1, 0.0)], time);
        stand.carriage = Carriage {
            neck: 1.2 * breath - 1.5 * look,
            nod: 1.0 * wave(2.0 * t - 0.2) + 2.0 * look,
            turn: 2.0 * wave(t) + 20.0 * look,
            tilt: 6.0 * look,
            jaw: 1.5 + 1.5 * wave(2.0 * t + 0.1),
            ears: [
                4.0 + 2.0 * wave(2.0 * t) - 6.0 * look,
                4.0 + 2.0 * wave(2.0 * t)
                    + 22.0 * eased(&[(0.3, 0.0), (0.42, 1.0), (0.55, 0.1), (0.66, 0.7), (0.85, 0.0)], time)
                    - 4.0 * look,
            ],
            flare: 2.0 - 3.0 * look,
            tail: 2.0 * breath + 7.0 * look,
            curl: 4.0 * wave(t - 0.1) + 8.0 * look,
            wag: 5.0 * wave(2.0 * t - 0.1) + 5.0 * look * wave(time * 2.0),
            whip: 10.0 * wave(2.0 * t - 0.3) + 9.0 * look * wave(time * 2.0 - 0.2),
            swing: [1.5 * wave(2.0 * t - 0.3), 2.5 * wave(t - 0.1) + 1.0 * wave(2.0 * t)],
        };
        stand.pose(body)
    })
}

/// Sits down: the forefeet come back a step each, the rump sinks, the body settles.
pub fn sit(body: &Body) -> Motion {
    let seconds = 3.0;
    // When each forefoot leaves and falls, and how far back it goes.
    let steps = [(0.34, 0.60, 0.085), (0.70, 0.96, 0.115)];
    let motion = Motion::new("sit", (seconds * RATE) as usize, Playback::Once, |time| {
        let mut stand = Stand::new(body);
        // Sinks past the end and comes back a little.
        let down = eased(&[(0.10, 0.0), (1.20, 1.03), (1.50, 0.985), (1.80, 1.0)], time);
        let settle = eased(&[(1.15, 0.0), (1.32, 1.0), (1.62, -0.35), (1.95, 0.12), (2.25, 0.0)], time);
        let breath = wave((time - 1.9).max(0.0) / 1.1) * eased(&[(1.9, 0.0), (2.3, 1.0), (2.6, 1.0), (3.0, 0.0)], time);
        stand.trunk = Trunk {
            shift: DVec3::new(0.0, -0.215 * down - 0.006 * settle, 0.055 * down),
            pitch: 41.0 * down - 1.6 * settle,
            arch: 26.0 * down + 3.0 * settle,
            breath: breath - 0.8 * settle,
            ..Trunk::default()
        };
        for (leg, (lift, fall, back)) in steps.into_iter().enumerate() {
            let t = ((time - lift) / (fall - lift)).clamp(0.0, 1.0);
            let moved = back * t * t * (3.0 - 2.0 * t);
            let pitch = eased(&[(lift, 0.0), (lift + 0.10, -38.0), (fall - 0.04, -4.0), (fall, 0.0)], time);
            let mut place = body.paws[leg].rolled(DVec3::Z * moved, 0.0, pitch);
            place.ankle.y += 0.03 * 16.0 * t * t * (1.0 - t) * (1.0 - t);
            stand.paws[leg] = place;
        }
        // The hocks come down behind the toes.
        for leg in 2..4 {
            stand.paws[leg] = body.paws[leg].rolled(DVec3::ZERO, 0.0, 62.0 * down);
        }
        let wag = eased(&[(1.5, 0.0), (1.8, 1.0), (2.5, 0.8), (2.95, 0.0)], time);
        stand.carriage = Carriage {
            neck: 8.0 * down + 2.0 * settle,
            nod: -3.0 * down * (1.0 - down) * 4.0 + 4.0 * down - 2.5 * settle,
            tilt: 7.0 * eased(&[(1.7, 0.0), (2.0, 1.0), (2.6, 1.0), (2.95, 0.25)], time),
            turn: 5.0 * eased(&[(1.7, 0.0), (2.0, 1.0), (2.6, 1.0), (2.95, 0.25)], time),
            jaw: 3.0 * down,
            ears: [1.0, 1.15].map(|k| k * (14.0 * settle + 5.0 * down * (1.0 - down) * 4.0)),
            tail: 24.0 * down,
            curl: 14.0 * down,
            wag: 16.0 * down + 14.0 * wag * wave(time * 2.2),
            whip: 26.0 * down + 18.0 * wag * wave(time * 2.2 - 0.2),
            swing: [
                eased(&[(0.3, 0.0), (0.9, -7.0), (1.25, 9.0), (1.6, -5.0), (1.95, 3.0), (2.3, -1.0), (2.6, 0.0)], time),
                0.0,
            ],
            ..Carriage::default()
        };
        stand.pose(body)
    });
    let motion = motion.calling(steps[0].1, "footstep", Some(PAW_NAMES[0]));
    motion.calling(steps[1].1, "footstep", Some(PAW_NAMES[1])).calling(1.25, "sit", None)
}
