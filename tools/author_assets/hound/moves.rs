//! The Hound's locomotion clips: walk and gallop. The others are in [`super::rest`].

use super::super::{
    gait::Gait,
    maths::wave,
    motion::{Motion, RATE},
    rig::Pose,
};
use super::{
    body::{Body, Carriage, Trunk},
    rest,
    skeleton::LEGS,
};
use bevy_marionette::model::PlaybackMode;
use glam::DVec3;

/// Gaits of the fore and hind legs, and the phase at which each leg lands, in the order of [`LEGS`].
pub struct Gaits {
    pub fore: Gait,
    pub hind: Gait,
    pub falls: [f64; 4],
    /// Frames per second.
    pub rate: f64,
}

impl Gaits {
    /// Returns the gait of a leg.
    pub fn of(&self, leg: usize) -> &Gait {
        if LEGS[leg].fore {
            &self.fore
        } else {
            &self.hind
        }
    }
}

const WALKING: Gait = Gait {
    cycle: 26.0 / RATE,
    speed: 0.95,
    curve: 0.0,
    duty: 0.64,
    ahead: 0.26,
    inward: 0.022,
    follow: 1.0,
    stance_pitch: &[],
    swing_pitch: &[],
    lift: &[],
};

/// Walk at 0.95 m/s: left hind, left fore, right hind, right fore, a quarter of a cycle apart.
pub const WALK: Gaits = Gaits {
    fore: Gait {
        ahead: 0.248,
        stance_pitch: &[(0.0, 10.0), (0.12, 2.0), (0.60, -8.0), (1.0, -50.0)],
        swing_pitch: &[
            (0.0, -50.0),
            (0.28, -96.0),
            (0.62, -52.0),
            (0.90, 12.0),
            (1.0, 10.0),
        ],
        lift: &[(0.0, 0.0), (0.30, 0.068), (0.62, 0.048), (1.0, 0.0)],
        ..WALKING
    },
    hind: Gait {
        ahead: 0.285,
        stance_pitch: &[(0.0, 14.0), (0.25, 4.0), (0.60, -6.0), (1.0, -46.0)],
        swing_pitch: &[
            (0.0, -46.0),
            (0.25, -66.0),
            (0.60, -34.0),
            (0.92, 14.0),
            (1.0, 14.0),
        ],
        lift: &[(0.0, 0.0), (0.28, 0.055), (0.66, 0.036), (1.0, 0.0)],
        ..WALKING
    },
    falls: [0.25, 0.75, 0.0, 0.5],
    rate: 60.0,
};

const GALLOPING: Gait = Gait {
    cycle: 26.0 / 60.0,
    speed: 6.4,
    curve: 0.0,
    duty: 0.19,
    ahead: 0.30,
    inward: 0.05,
    follow: 0.35,
    stance_pitch: &[],
    swing_pitch: &[],
    lift: &[],
};

/// Rotary gallop at 6.4 m/s: left hind, right hind, extended flight, right fore, left fore, gathered flight.
pub const GALLOP: Gaits = Gaits {
    fore: Gait {
        ahead: 0.282,
        stance_pitch: &[(0.0, 22.0), (0.25, 10.0), (0.60, -8.0), (1.0, -60.0)],
        swing_pitch: &[
            (0.0, -60.0),
            (0.18, -125.0),
            (0.45, -130.0),
            (0.68, -40.0),
            (0.90, 20.0),
            (1.0, 22.0),
        ],
        lift: &[(0.0, 0.0), (0.30, 0.125), (0.68, 0.19), (1.0, 0.0)],
        ..GALLOPING
    },
    hind: Gait {
        ahead: 0.36,
        stance_pitch: &[(0.0, 22.0), (0.3, 8.0), (0.6, -10.0), (1.0, -58.0)],
        swing_pitch: &[
            (0.0, -58.0),
            (0.20, -96.0),
            (0.45, -84.0),
            (0.75, -10.0),
            (0.94, 24.0),
            (1.0, 22.0),
        ],
        lift: &[
            (0.0, 0.0),
            (0.28, 0.14),
            (0.60, 0.085),
            (0.82, 0.055),
            (1.0, 0.0),
        ],
        ..GALLOPING
    },
    falls: [15.0 / 26.0, 12.0 / 26.0, 0.0, 3.0 / 26.0],
    rate: 120.0,
};

/// All clips.
pub fn all(body: &Body) -> Vec<Motion> {
    vec![rest::idle(body), walk(body), gallop(body), rest::sit(body)]
}

/// Builds a gait's loop; `hold` returns trunk and carriage at a fraction of the cycle.
fn stepping(
    body: &Body,
    name: &'static str,
    gaits: &Gaits,
    hold: &dyn Fn(f64) -> (Trunk, Carriage),
) -> Motion {
    let cycle = gaits.fore.cycle;
    let steps = (cycle * gaits.rate).round() as usize;
    let motion = Motion::at_rate(name, gaits.rate, steps, PlaybackMode::Loop, |time| {
        let t = time / cycle;
        let mut pose: Pose = body.rig.rest();
        let (trunk, carriage) = hold(t);
        body.trunk(&mut pose, &trunk);
        body.carry(&mut pose, &carriage);
        for leg in 0..4 {
            body.paw(
                &mut pose,
                leg,
                &gaits.of(leg).foot(&body.paws[leg], t - gaits.falls[leg]),
            );
        }
        pose
    });
    let motion = motion.traveling(gaits.fore.speed, 0.0);
    motion.stepping((0..4).map(|leg| (gaits.falls[leg] * cycle, rest::PAW_NAMES[leg])))
}

pub fn walk(body: &Body) -> Motion {
    stepping(body, "walk", &WALK, &|t| {
        // The hips follow the hind legs; the shoulders follow the fore legs a quarter later.
        let hind = wave(t + 0.25 - 0.32); // the left hind leg carries
        let fore = wave(t - 0.32);
        let trunk = Trunk {
            shift: DVec3::new(
                -0.007 * (hind + fore),
                -0.0155 + 0.006 * wave(2.0 * t - 0.30),
                0.004 * wave(2.0 * t),
            ),
            pitch: -0.6 + 0.9 * wave(2.0 * t + 0.05),
            yaw: 0.8 * wave(t + 0.12),
            roll: -1.1 * (hind + fore),
            arch: 1.5 + 1.8 * wave(2.0 * t + 0.20),
            bend: 5.0 * wave(t - 0.02),
            twist: -2.4 * (fore - hind),
            breath: 0.6 * wave(t + 0.4),
        };
        let carriage = Carriage {
            neck: -7.0 + 2.6 * wave(2.0 * t - 0.12),
            nod: -3.0 - 1.6 * wave(2.0 * t - 0.22),
            turn: 2.2 * wave(t - 0.05),
            tilt: 1.2 * wave(t + 0.2),
            jaw: 2.0,
            ears: [0.0, 0.03].map(|lag| 9.0 + 5.0 * wave(2.0 * t - 0.30 - lag)),
            flare: 3.0,
            tail: 10.0 + 2.5 * wave(2.0 * t - 0.2),
            curl: 8.0 + 6.0 * wave(2.0 * t - 0.42),
            wag: 9.0 * wave(t - 0.05),
            whip: 16.0 * wave(t - 0.22),
            level: 0.0,
            swing: [7.0 * wave(2.0 * t - 0.35), 6.0 * wave(t - 0.2)],
        };
        (trunk, carriage)
    })
}

pub fn gallop(body: &Body) -> Motion {
    stepping(body, "gallop", &GALLOP, &|t| {
        // Extended at 0.37, gathered at 0.87.
        let gathered = wave(t - 0.87 + 0.25);
        let trunk = Trunk {
            shift: DVec3::new(0.0, -0.036 + 0.022 * wave(2.0 * (t - 0.33) + 0.25), -0.012),
            pitch: 5.0 * wave(t + 0.11) - 1.5,
            yaw: 0.0,
            roll: 2.0 * wave(t + 0.1),
            arch: 4.0 + 25.0 * gathered,
            bend: 3.0 * wave(t + 0.2),
            twist: 3.0 * wave(t - 0.1),
            breath: gathered,
        };
        let carriage = Carriage {
            neck: -36.0 + 7.0 * wave(t - 0.02),
            nod: -5.0 + 3.0 * wave(t - 0.20),
            turn: 0.0,
            tilt: 1.5 * wave(t + 0.1),
            jaw: 2.0 + 1.0 * gathered,
            ears: [0.0, 0.04].map(|lag| 74.0 + 14.0 * wave(t - 0.25 - lag)),
            flare: 8.0,
            tail: 26.0 + 14.0 * wave(t - 0.42),
            curl: -22.0 + 26.0 * wave(t - 0.62),
            wag: 3.0 * wave(t),
            whip: 8.0 * wave(t - 0.2),
            level: 0.0,
            swing: [-34.0 + 22.0 * wave(t - 0.30), 5.0 * wave(t)],
        };
        (trunk, carriage)
    })
}

#[cfg(test)]
mod tests {
    use super::super::{
        super::gait::{Footing, assert_feet_stand},
        skeleton::rig,
    };
    use super::*;

    /// Heights of the four toe joints above rest, per frame.
    fn heights(body: &Body, motion: &Motion) -> Vec<[f64; 4]> {
        let toes = body.legs.map(|leg| leg[3]);
        let of = |pose: &Pose| {
            let model = body.rig.model(pose);
            toes.map(|j| model[j].0.y - body.rig.joints[j].position.y)
        };
        motion.frames.iter().map(of).collect()
    }

    /// The legs in the order they land, and the frames at which they do.
    fn falls(body: &Body, motion: &Motion) -> Vec<(usize, usize)> {
        let heights = heights(body, motion);
        let down = |frame: usize, leg: usize| heights[frame][leg] < 1e-4;
        let frames = 0..heights.len() - 1;
        let before = |i: usize| (i + heights.len() - 2) % (heights.len() - 1);
        let all = frames.flat_map(|i| (0..4).map(move |leg| (leg, i)));
        all.filter(|&(leg, i)| down(i, leg) && !down(before(i), leg))
            .collect()
    }

    #[test]
    fn standing_paws_move_with_the_floor() {
        let body = Body::new(rig());
        for (gaits, motion) in [(WALK, walk(&body)), (GALLOP, gallop(&body))] {
            let foot = |leg: usize| {
                let [_, _, foot, toes] = body.legs[leg];
                Footing {
                    gait: *gaits.of(leg),
                    shape: body.paws[leg],
                    joints: [foot, toes],
                    falls: gaits.falls[leg],
                }
            };
            assert_feet_stand(&[0, 1, 2, 3].map(foot), &body.rig, &motion, 0.15);
        }
    }

    #[test]
    fn the_walk_is_a_lateral_sequence_a_quarter_apart_on_two_to_four_feet() {
        let body = Body::new(rig());
        let motion = walk(&body);
        let falls = falls(&body, &motion);
        // Left hind, left fore, right hind, right fore.
        assert_eq!(falls.iter().map(|f| f.0).collect::<Vec<_>>(), [2, 0, 3, 1]);
        let quarter = (motion.frames.len() - 1) as f64 / 4.0;
        for (i, fall) in falls.iter().enumerate() {
            assert!(
                (fall.1 as f64 - i as f64 * quarter).abs() <= 1.0,
                "{falls:?}"
            );
        }
        for (frame, heights) in heights(&body, &motion).iter().enumerate() {
            let standing = heights.iter().filter(|h| **h < 1e-4).count();
            assert!(
                (2..=4).contains(&standing),
                "frame {frame}: {standing} feet on the floor"
            );
        }
    }

    #[test]
    fn the_gallop_is_rotary_with_two_flights() {
        let body = Body::new(rig());
        let motion = gallop(&body);
        // Left hind, right hind; right fore, left fore.
        assert_eq!(
            falls(&body, &motion)
                .iter()
                .map(|f| f.0)
                .collect::<Vec<_>>(),
            [2, 3, 1, 0]
        );
        let flying: Vec<bool> = heights(&body, &motion)
            .iter()
            .map(|frame| frame.iter().all(|h| *h > 2e-3))
            .collect();
        let flights = flying.windows(2).filter(|w| w[0] && !w[1]).count();
        let share = flying.iter().filter(|f| **f).count() as f64 / flying.len() as f64;
        assert_eq!(flights, 2);
        assert!(
            (0.15..0.55).contains(&share),
            "{share} of the stride in the air"
        );
    }

    #[test]
    fn the_back_bends_in_the_gallop_and_hardly_in_the_walk() {
        let body = Body::new(rig());
        let range = |motion: &Motion| {
            // Distance from hips to withers: short when the back is rounded or hollow.
            let bend = |pose: &Pose| {
                let model = body.rig.model(pose);
                let of = |name: &str| model[body.rig.find(name)].1 * DVec3::NEG_Z;
                let (hips, chest) = (of("hips"), of("chest"));
                hips.cross(chest).x.clamp(-1.0, 1.0).asin().to_degrees()
            };
            let all: Vec<f64> = motion.frames.iter().map(bend).collect();
            all.iter().copied().fold(f64::MIN, f64::max)
                - all.iter().copied().fold(f64::MAX, f64::min)
        };
        let (walking, galloping) = (range(&walk(&body)), range(&gallop(&body)));
        assert!(
            walking < 8.0 && galloping > 40.0,
            "{walking}° and {galloping}°"
        );
    }

    #[test]
    fn every_footfall_calls_back_when_the_paw_comes_down() {
        let body = Body::new(rig());
        for motion in [walk(&body), gallop(&body)] {
            let called: Vec<_> = motion
                .callbacks
                .iter()
                .map(|c| (c.2.unwrap(), c.0 * motion.rate))
                .collect();
            let fell = falls(&body, &motion);
            assert_eq!(called.len(), 4);
            for ((name, at), (leg, frame)) in called.into_iter().zip(fell) {
                assert_eq!(name, rest::PAW_NAMES[leg]);
                assert!(
                    (at - frame as f64).abs() <= 1.0,
                    "{} {name}: called at frame {at}, fell at {frame}",
                    motion.name
                );
            }
        }
    }

    #[test]
    fn loops_end_as_they_begin_and_nothing_jumps_between_frames() {
        let body = Body::new(rig());
        for motion in all(&body) {
            // A paw that swings forward moves at more than twice the speed of the gallop.
            motion.assert_smooth(&body.rig, if motion.name == "gallop" { 18.0 } else { 5.0 });
        }
    }
}
