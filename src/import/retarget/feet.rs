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
/// The same for a foot that moves over the ground as the source's does.
const GLIDES: [f32; 2] = [0.05, 0.2];
/// The largest thickness of a foot around its ankle, as a share of the ankle's height. Feet that lie on their back or side are on
/// the ground with it. Those that stand aren't, even on a heel that is turned by 35°.
const THICK: f32 = 0.8;
/// The largest stretch of a leg, and the largest distance by which the hips may be lowered, in
/// lengths of a leg.
const STRETCHED: f32 = 0.98;
const MOST_DROP: f32 = 0.25;
/// Legs that are too long by this much only are so by rounding.
const REACHED: f32 = 1.0 + 1e-5;
/// Seconds over which the hips are lowered.
const DROP_TIME: f64 = 0.1;

/// Height in leg lengths up to which a foot may stand, and the speed, in leg lengths per second and as a share of the ground's speed,
/// at which it may slide. The same as for [`Plants`].
const LOW: f32 = 0.03;
const SLOW: [f32; 2] = [0.25, 0.2];
/// How many times as fast a foot no longer needs to go as far as the source's.
const FAST: f32 = 4.0;
/// Seconds for which a foot stands, at least.
const SHORTEST: f64 = 0.05;

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

    /// Returns the distance by which the ankle must move over the ground, in each frame.
    fn shifts(&self, leg: usize, planted: &[bool]) -> Vec<Vec3> {
        let frames = self.times.len();
        let mut out = vec![Vec3::ZERO; frames];
        // A loop's last frame is its first.
        let count = if self.period.is_some() {
            frames.saturating_sub(1).max(1)
        } else {
            frames
        };
        let Some(first) = planted[..count].iter().position(|planted| *planted) else {
            return out;
        };
        let lifted =
            (0..count).find(|&frame| planted[frame] && !planted[(frame + count - 1) % count]);
        let cyclic = self.period.is_some() && frames > 1;
        let start = if cyclic {
            lifted.unwrap_or(first)
        } else {
            first
        };
        // Runs of frames in contact, from the start on. In a clip that loops, they may go around
        // its end.
        let order: Vec<usize> = if cyclic {
            (0..count).map(|i| (start + i) % count).collect()
        } else {
            (start..count).collect()
        };
        let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
        for (at, _) in order
            .iter()
            .enumerate()
            .filter(|(_, frame)| planted[**frame])
        {
            match runs.last_mut() {
                Some(run) if run.end == at => run.end += 1,
                _ => runs.push(at..at + 1),
            }
        }
        for run in &runs {
            // Each frame adds the slip since the frame before, so the point of contact stays where
            // it was in the first.
            let mut shift = Vec3::ZERO;
            for at in run.clone().skip(1) {
                shift += self.slide(leg, order[at - 1], self.map.lock);
                out[order[at]] = shift;
            }
            if cyclic && run.len() == count {
                // In contact all the time: the drift of one loop is spread over all of its frames.
                let drift = shift + self.slide(leg, order[count - 1], self.map.lock);
                run.clone()
                    .for_each(|at| out[order[at]] -= drift * (at as f32 / count as f32));
            }
            // Around the middle of them, the largest correction is as small as possible.
            let middle = middle(run.clone().map(|at| out[order[at]]));
            run.clone().for_each(|at| out[order[at]] -= middle);
        }
        // Between two contacts, a foot moves as the source's does, in proportion, where it is near the ground. What it is off by
        // at the next contact is made up for where the source's moves fast, so that no foot slides that hardly moves there.
        let fill = |out: &mut Vec<Vec3>, from: usize, to: usize, next: usize| {
            let (mut shift, mut gone) = (out[order[from - 1]], 0.0);
            let mut shares = Vec::with_capacity(to + 1 - from);
            for at in from..=to {
                let frame = order[at - 1];
                shift += self.glide(leg, frame);
                gone += self.source_way(leg, frame);
                shares.push(gone);
                if at < to {
                    out[order[at]] = shift;
                }
            }
            let off = out[order[next]] - shift;
            for at in from..to {
                out[order[at]] += off * smoothstep(shares[at - from] / gone.max(1e-20));
            }
        };
        for pair in runs.windows(2) {
            fill(&mut out, pair[0].end, pair[1].start, pair[1].start);
        }
        let end = runs.last().map_or(0, |run| run.end);
        if cyclic {
            fill(&mut out, end, count, 0);
            out[frames - 1] = out[0];
        } else {
            for frame in (0..start).rev() {
                out[frame] = out[frame + 1] - self.glide(leg, frame);
            }
            for frame in start + end..count {
                out[frame] = out[frame - 1] + self.glide(leg, frame - 1);
            }
        }
        out
    }

    /// Returns the distance by which a foot that doesn't stand must move from a frame to the next to go as far as the source's,
    /// as long as that is near the ground and slow. Where it is fast, the way would add up to more than the leg can reach.
    fn glide(&self, leg: usize, frame: usize) -> Vec3 {
        let times = self.speed(leg, frame) / self.slow();
        let slowness = 1.0 - smoothstep((times - 1.0) / (FAST - 1.0));
        self.slide(leg, frame, 0.0) * self.nearness(self.height(leg, frame), GLIDES) * slowness
    }

    /// Returns the speed of a foot of the source over the ground, from a frame to the next.
    fn speed(&self, leg: usize, frame: usize) -> f32 {
        let next = (frame + 1).min(self.times.len() - 1);
        let seconds = (self.times[next] - self.times[frame]) as f32;
        let ground = self.map.turn * self.plants.ground_velocity * seconds;
        let [now, next] = [frame, next].map(|frame| self.legs[leg][frame].source);
        let ways = [0, 1].map(|contact| (next[contact] - now[contact] - ground).length());
        ways[0].min(ways[1]) / seconds.max(1e-6)
    }

    /// Returns the speed over the ground up to which a foot of the source may stand.
    fn slow(&self) -> f32 {
        SLOW[0] * self.map.from.size + SLOW[1] * self.plants.ground_velocity.length()
    }

    /// Returns the way of a foot of the source from a frame to the next.
    fn source_way(&self, leg: usize, frame: usize) -> f32 {
        let next = (frame + 1).min(self.times.len() - 1);
        let [now, next] = [frame, next].map(|frame| self.legs[leg][frame].source);
        let ways = [0, 1].map(|contact| next[contact].distance(now[contact]));
        ways[0].min(ways[1])
    }

    /// Returns the distance by which the point that a foot stands on would slip from a frame to the
    /// next, over the ground, if it should go the source's way, or by the share `lock` that of the ground.
    fn slide(&self, leg: usize, frame: usize, lock: f32) -> Vec3 {
        let Retarget {
            to, from, ratio, ..
        } = self.map;
        let [now, next] =
            [frame, frame + 1].map(|frame| self.legs[leg][frame.min(self.times.len() - 1)]);
        let time = |frame: usize| self.times[frame.min(self.times.len() - 1)];
        let ground =
            self.map.turn * self.plants.ground_velocity * (time(frame + 1) - time(frame)) as f32;
        let level = |v: Vec3| v - to.up * v.dot(to.up);
        let height = |contact: usize| to.up.dot(now.source[contact] + next.source[contact]) * 0.5;
        // A flat foot turns about the point that moves less.
        let [heel, ball] =
            [0, 1].map(|at| level(next.source[at] - now.source[at] - ground).length_squared());
        let (lower, slower) = (
            (height(0) - height(1)) / (0.02 * from.size),
            (heel - ball) / (heel + ball).max(1e-20),
        );
        let flat = 1.0 - smoothstep(lower.abs());
        let ball = smoothstep(0.5 + 0.5 * (lower.clamp(-1.0, 1.0) * (1.0 - flat) + slower * flat));
        let [heel_offset, ball_offset] = self.targets[leg].contacts;
        let own =
            |frame: LegFrame| frame.ankle + frame.rotation * heel_offset.lerp(ball_offset, ball);
        let source = |frame: LegFrame| frame.source[0].lerp(frame.source[1], ball);
        let way = (source(next) - source(now)).lerp(ground, lock) * *ratio;
        let slip = way - (own(next) - own(now));
        level(slip)
    }

    /// Returns, per frame, `true` if a foot is in contact at any time between the frames before and
    /// after it: a foot that stands still from one frame to the next must do so in both.
    fn planted(&self, leg: usize) -> Vec<bool> {
        if self.times.is_empty() {
            return Vec::new();
        }
        let ranges = self.plants.ranges(leg);
        let last = self.times.len() - 1;
        let is_planted = |frame: usize| {
            let after = self.times[(frame + 1).min(last)];
            let before = match (frame.checked_sub(1), self.period) {
                (Some(before), _) => self.times[before],
                (None, Some(period)) => self.times[last.saturating_sub(1)] - period,
                (None, None) => 0.0,
            };
            let within = |shift: f64| {
                ranges
                    .iter()
                    .any(|range| range.start < after + shift && before + shift < range.end)
            };
            within(0.0)
                || self
                    .period
                    .is_some_and(|period| within(period) || within(-period))
        };
        let stands = self.standing(leg);
        let mut planted: Vec<bool> = (0..=last)
            .map(|frame| is_planted(frame) || stands[frame])
            .collect();
        if self.period.is_some() {
            // A loop's last frame is its first.
            let either = planted[0] || planted[last];
            (planted[0], planted[last]) = (either, either);
        }
        planted
    }

    /// Returns, per frame, `true` if heel or ball are low and slow for a while before or after it.
    /// [`Plants`] are more exact, but take ankles as high as those of stocky figures for hocks,
    /// whose heels never stand.
    fn standing(&self, leg: usize) -> Vec<bool> {
        let (up, size) = (self.map.to.up, self.map.from.size);
        let heights = self
            .legs
            .iter()
            .flatten()
            .flat_map(|leg| leg.source)
            .map(|contact| up.dot(contact));
        let lowest = heights.fold(f32::INFINITY, f32::min) - self.map.from.floor;
        // Feet that sink into the ground at times don't lower it for others.
        let floor = self.map.from.floor + lowest.clamp(0.0, 0.05 * size);
        let ground = self.map.turn * self.plants.ground_velocity;
        let slow = self.slow();
        let stands = |frame: usize| {
            let [now, next] = [frame, frame + 1].map(|frame| self.legs[leg][frame].source);
            let seconds = (self.times[frame + 1] - self.times[frame]) as f32;
            (0..2).any(|contact| {
                let way = next[contact] - now[contact] - ground * seconds;
                let slid = (way - up * way.dot(up)).length();
                up.dot(now[contact]) - floor < LOW * size && slid < slow * seconds
            })
        };
        let mut out = vec![false; self.times.len()];
        let mut start = None;
        for frame in 0..self.times.len() {
            let goes_on = frame + 1 < self.times.len() && stands(frame);
            let first = *start.get_or_insert(frame);
            if !goes_on {
                if self.times[frame] - self.times[first] >= SHORTEST {
                    out[first..=frame].fill(true);
                }
                start = None;
            }
        }
        out
    }

    /// Returns the distance by which the hips must be lowered for the legs to reach, in each frame.
    fn drops(&self, goals: &[[Vec3; 2]], planted: &[Vec<bool>; 2]) -> Vec<f32> {
        let up = self.map.to.up;
        let needed = |leg: usize, frame: usize, goal: Vec3| {
            if !planted[leg][frame] {
                return 0.0;
            }
            let length = self.reach(leg, frame);
            let way = self.legs[leg][frame].thigh - goal;
            if way.length() <= length * REACHED {
                return 0.0;
            }
            let height = way.dot(up);
            let across = (way - up * height).length_squared();
            let reach = (length * length - across).max(0.0).sqrt();
            (height - reach).clamp(0.0, MOST_DROP * length)
        };
        let exact: Vec<f32> = goals
            .iter()
            .enumerate()
            .map(|(frame, goals)| needed(0, frame, goals[0]).max(needed(1, frame, goals[1])))
            .collect();
        if exact.iter().all(|drop| *drop == 0.0) {
            return exact;
        }
        // The largest drop around each frame, and the mean of these around it: smooth, and nowhere
        // too small.
        let frames = exact.len();
        let step = self
            .times
            .last()
            .map_or(0.0, |end| end / frames.max(2) as f64);
        let reach = if step > 0.0 {
            ((DROP_TIME / step).ceil() as usize).clamp(1, 30)
        } else {
            0
        };
        let count = if self.period.is_some() {
            frames.saturating_sub(1).max(1)
        } else {
            frames
        };
        let around = |drops: &[f32], frame: usize| -> Vec<f32> {
            let at = |offset: usize| {
                let frame = frame + offset;
                match self.period {
                    Some(_) => (frame + count * reach - reach) % count,
                    None => frame.saturating_sub(reach).min(frames - 1),
                }
            };
            (0..=2 * reach).map(|offset| drops[at(offset)]).collect()
        };
        let most: Vec<f32> = (0..frames)
            .map(|frame| around(&exact, frame).into_iter().fold(0.0, f32::max))
            .collect();
        (0..frames)
            .map(|frame| around(&most, frame).iter().sum::<f32>() / (2 * reach + 1) as f32)
            .collect()
    }
}

/// Returns the center of the smallest sphere around points, by Bădoiu and Clarkson's steps to the farthest of them.
fn middle(points: impl Iterator<Item = Vec3> + Clone) -> Vec3 {
    let mut middle = points.clone().next().unwrap_or_default();
    for step in 2..34 {
        let farthest = points.clone().max_by(|a, b| {
            a.distance_squared(middle)
                .total_cmp(&b.distance_squared(middle))
        });
        middle += farthest.map_or(Vec3::ZERO, |point| (point - middle) / step as f32);
    }
    middle
}
