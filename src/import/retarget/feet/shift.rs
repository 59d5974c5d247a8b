//! The ways of feet over the ground: those that stand stay where they are, and others pass from one place to the next.

use super::{
    super::{Retarget, body::smoothstep},
    Feet, LegFrame,
};
use glam::Vec3;

/// Heights, in leg lengths, up to which a foot moves over the ground as the source's does, and from which it doesn't.
const GLIDES: [f32; 2] = [0.05, 0.2];
/// How many times as fast a foot no longer needs to go as far as the source's.
const FAST: f32 = 4.0;

impl Feet<'_> {
    /// Returns the distance by which the ankle must move over the ground, in each frame.
    pub(super) fn shifts(&self, leg: usize, planted: &[bool]) -> Vec<Vec3> {
        let frames = self.times.len();
        let mut out = vec![Vec3::ZERO; frames];
        // A loop's last frame is its first.
        let count = if self.period.is_some() {
            frames.saturating_sub(1).max(1)
        } else {
            frames
        };
        let first = (planted[..count].iter().position(|planted| *planted)).unwrap_or(0);
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
        if runs.is_empty() {
            // A foot that never stands begins where it is.
            runs.push(0..1);
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
