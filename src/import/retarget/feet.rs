//! The places of a retargeted clip's feet.
//!
//! A foot that only followed the source's rotations would slide, because legs and feet have other
//! proportions. So while a foot of the source is in contact with the ground, the target's is moved
//! such that the point it stands on, heel or ball, stays where it is, or moves with the ground if
//! the clip runs on the spot. The sliding of the source's own feet is removed as well, unless legs
//! are of the same proportions: then they move as the source's do. A flat foot that turns does so
//! about the point that moves less in the source. Between two contacts, the foot passes smoothly
//! from one correction to the next, while the source's moves fast. Where that is slow and near the ground, the foot moves as
//! it does, in proportion. The height above the ground is that of the source, in
//! proportion, as long as the foot is near it. A foot that doesn't stand lies on the ground as thick as it is.
//!
//! Legs are never stretched more than the source's, or nearly straight, because a knee snaps if
//! they are. For feet that stand, the hips are lowered. Other feet stay behind.

mod contact;
mod drop;
mod shift;

use super::{
    Retarget,
    body::{Body, Leg, smoothstep},
};
use crate::{
    model::{PlaybackMode, SkeletalClip},
    rig::{self, LegJoints, Plants},
};
use glam::{Quat, Vec3};

/// A leg in one frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct LegFrame {
    /// The start of the target's thigh, its ankle, and the rotation of its foot.
    pub(super) thigh: Vec3,
    pub(super) ankle: Vec3,
    pub(super) rotation: Quat,
    /// Heel and ball of the source, in the target's model space, and its ankle.
    pub(super) source: [Vec3; 2],
    pub(super) source_ankle: Vec3,
}

/// The legs in all frames.
pub(super) struct Feet<'a> {
    map: &'a Retarget<'a>,
    plants: Plants,
    /// Length of the clip in seconds if it loops.
    period: Option<f64>,
    times: Vec<f64>,
    legs: [Vec<LegFrame>; 2],
    targets: [Leg; 2],
    /// The thickness of a foot around its ankle, as a share of the ankle's height.
    thickness: f32,
}

/// The places of the ankles in a frame, and the distance by which the hips must be lowered for
/// that.
pub(super) struct Goals {
    pub(super) legs: [Vec3; 2],
    pub(super) drop: f32,
}

/// Heights, in leg lengths, up to which a foot is at its height above the ground, and from which it follows the leg alone.
const NEAR_GROUND: [f32; 2] = [0.1, 0.6];
/// The largest thickness of a foot around its ankle, as a share of the ankle's height. Feet that lie on their back or side are on
/// the ground with it. Those that stand aren't, even on a heel that is turned by 35°.
const THICK: f32 = 0.8;
/// The largest stretch of a leg, in lengths of a leg.
const STRETCHED: f32 = 0.98;

impl<'a> Feet<'a> {
    /// `None` if one of the bodies has no legs.
    pub(super) fn new(map: &'a Retarget<'a>, clip: &SkeletalClip) -> Option<Self> {
        let (sources, targets) = (map.from.legs?, map.to.legs?);
        let legs = sources.map(|leg| {
            let [root, mid, tip] = leg.joints;
            LegJoints {
                root,
                mid: Some(mid),
                tip,
                toe: leg.toes,
                heel: None,
            }
        });
        let source = map.source.in_bind_pose();
        let plants = rig::Feet::new(&source, map.from.hips, &legs, map.from.up)
            .map(|feet| Plants::detect(&feet, &source, clip))
            .unwrap_or_default();
        let period = (clip.timing.playback == PlaybackMode::Loop).then_some(clip.timing.duration);
        Some(Self {
            map,
            plants,
            period,
            times: Vec::new(),
            legs: Default::default(),
            targets,
            thickness: THICK,
        })
    }

    /// Adds a frame.
    pub(super) fn push(&mut self, time: f64, leg: impl Fn(usize) -> Option<LegFrame>) {
        if let (Some(left), Some(right)) = (leg(0), leg(1)) {
            let Retarget { from, to, .. } = self.map;
            for leg in [left, right] {
                // Nothing is thicker than the ankle is high at any time.
                let height = (to.up.dot(leg.source_ankle) - from.floor) / from.ankle;
                self.thickness = self.thickness.min(height.max(0.0));
            }
            self.times.push(time);
            self.legs[0].push(left);
            self.legs[1].push(right);
        }
    }

    /// Returns the goals of the ankles in each frame.
    pub(super) fn goals(&self) -> Vec<Goals> {
        let up = self.map.to.up;
        let planted = [0, 1].map(|leg| self.planted(leg));
        let shifts = [0, 1].map(|leg| self.shifts(leg, &planted[leg]));
        let goal = |leg: usize, frame: usize| {
            let ankle = self.legs[leg][frame].ankle + shifts[leg][frame];
            ankle + up * self.lift(leg, frame)
        };
        let goals: Vec<[Vec3; 2]> = (0..self.times.len())
            .map(|frame| [0, 1].map(|leg| goal(leg, frame)))
            .collect();
        let drops = self.drops(&goals, &planted);
        let goals = goals
            .into_iter()
            .zip(drops)
            .enumerate()
            .map(|(frame, (legs, drop))| {
                // The hips are only lowered for feet that stand. Others get as near as they can.
                let legs = [0, 1].map(|leg| {
                    let thigh = self.legs[leg][frame].thigh - up * drop;
                    let way = legs[leg] - thigh;
                    if planted[leg][frame] {
                        legs[leg]
                    } else {
                        thigh + way.clamp_length_max(self.reach(leg, frame))
                    }
                });
                Goals { legs, drop }
            });
        goals.collect()
    }

    /// Returns the largest distance that a leg may reach: nearly straight, or as straight as the
    /// source's.
    fn reach(&self, leg: usize, frame: usize) -> f32 {
        let LegFrame { thigh, ankle, .. } = self.legs[leg][frame];
        (self.targets[leg].length * STRETCHED).max(thigh.distance(ankle))
    }

    /// Returns the distance by which a foot must rise to be as high as the source's.
    fn lift(&self, leg: usize, frame: usize) -> f32 {
        let Retarget { to, ratio, .. } = self.map;
        let LegFrame {
            ankle, rotation, ..
        } = self.legs[leg][frame];
        let height = self.height(leg, frame);
        let contacts = self.targets[leg].contacts;
        let own = self.lowest(
            to,
            contacts.map(|contact| ankle + rotation * contact),
            ankle,
        );
        (ratio * height - own) * self.nearness(height, NEAR_GROUND)
    }

    /// Returns the influence of the ground on a foot at a height above the source's ground, 0..=1.
    fn nearness(&self, height: f32, [near, far]: [f32; 2]) -> f32 {
        1.0 - smoothstep((height / self.map.from.size - near) / (far - near))
    }

    /// Returns the height of a foot of the source above the ground.
    fn height(&self, leg: usize, frame: usize) -> f32 {
        let frame = self.legs[leg][frame];
        self.lowest(&self.map.from, frame.source, frame.source_ankle)
    }

    /// Returns the height of a foot of a body above the ground: of heel, ball, or what is around the ankle.
    fn lowest(&self, body: &Body, contacts: [Vec3; 2], ankle: Vec3) -> f32 {
        let up = self.map.to.up;
        let [heel, ball] = contacts.map(|contact| up.dot(contact));
        let around = up.dot(ankle) - self.thickness * body.ankle;
        heel.min(ball).min(around) - body.floor
    }
}
