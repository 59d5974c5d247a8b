//! The frames in which feet stand.

use super::Feet;

/// Height in leg lengths up to which a foot may stand, and the speed, in leg lengths per second and as a share of the ground's speed,
/// at which it may slide. The same as for [`Plants`](crate::rig::Plants).
const LOW: f32 = 0.03;
const SLOW: [f32; 2] = [0.25, 0.2];
/// Seconds for which a foot stands, at least.
const SHORTEST: f64 = 0.05;

impl Feet<'_> {
    /// Returns, per frame, `true` if a foot is in contact at any time between the frames before and
    /// after it: a foot that stands still from one frame to the next must do so in both.
    pub(super) fn planted(&self, leg: usize) -> Vec<bool> {
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
    /// [`Plants`](crate::rig::Plants) are more exact, but take ankles as high as those of stocky figures for hocks,
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

    /// Returns the speed over the ground up to which a foot of the source may stand.
    pub(super) fn slow(&self) -> f32 {
        SLOW[0] * self.map.from.size + SLOW[1] * self.plants.ground_velocity.length()
    }
}
