//! Hips that are lowered, for legs that are too short to reach the ground.

use super::Feet;
use glam::Vec3;

/// The largest distance by which the hips may be lowered, in lengths of a leg.
const MOST_DROP: f32 = 0.25;
/// Legs that are too long by this much only are so by rounding.
const REACHED: f32 = 1.0 + 1e-5;
/// Seconds over which the hips are lowered.
const DROP_TIME: f64 = 0.1;

impl Feet<'_> {
    /// Returns the distance by which the hips must be lowered for the legs to reach, in each frame.
    pub(super) fn drops(&self, goals: &[[Vec3; 2]], planted: &[Vec<bool>; 2]) -> Vec<f32> {
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
