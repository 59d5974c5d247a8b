//! Resamples channels to frames at equal distances, within [`CLIP_ERROR`] of the specification's formulas, or within
//! [`CLIP_ERROR_AT_ODD_KEYS`] in the instant of keys that lie on no grid.

use super::{
    curves::{Between, Motion},
    levers::{Levers, grid},
};
use crate::{import::CLIP_ERROR, model::JointTransform};

/// Frames made from channels.
pub(super) struct Sampled {
    /// Frame by frame, one transform per joint; identity for joints that don't move.
    pub(super) transforms: Vec<JointTransform>,
    /// Seconds from the first frame to the last.
    pub(super) duration: f64,
    /// Largest distance of a skin vertex from its place according to the file, in model units.
    pub(super) error: f32,
    /// Whether the error is within the one asked for.
    pub(super) within_bound: bool,
}

/// The error of a clip whose keys lie on no grid, as a share of the model's size. It is that large only in the instant
/// of a key, where the path has a corner that frames cut off.
const CLIP_ERROR_AT_ODD_KEYS: f32 = 5e-4;

/// Most transforms that a clip gets to reach the requested error (42 MB). It gets more only if its keys lie on more
/// frames than that.
pub(super) const MAX_TRANSFORMS: usize = 1 << 20;

/// Transforms that all clips of a file together are given to meet the error bound (168 MB).
const FILE_BUDGET: usize = 1 << 22;

/// Most transforms per key of the file, so that a small file cannot request a lot of memory.
const MAX_TRANSFORMS_PER_KEY: usize = 512;

/// Transforms that the clips of a file may be made of beyond those that their keys pay for.
pub(super) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(FILE_BUDGET)
    }
}

/// Transforms that each key of a clip is good for, whatever was spent before.
const TRANSFORMS_PER_KEY: usize = 64;

/// Resamples the motions of a skeleton's joints.
///
/// `exactly` is the length, if it is known better than in single precision, and the number of frames that the keys were
/// made from. Returns `None` if the frames would take
/// far more memory than the keys.
pub(super) fn resample(
    motions: &[Motion],
    levers: &Levers,
    exactly: (Option<f64>, Option<usize>),
    budget: &mut Budget,
) -> Option<Sampled> {
    let joints = motions.len();
    let mut times: Vec<f64> = Vec::new();
    let mut keys = 0;
    let (mut splines, mut steps) = (false, false);
    for channel in motions.iter().flat_map(Motion::channels) {
        keys += channel.values.len();
        splines |= channel.between == Between::Cubic && channel.times.len() > 1;
        steps |= channel.between == Between::Step && channel.times.len() > 1;
        // Usually all channels have the same times.
        if !times.starts_with(&channel.times) {
            times.extend(&channel.times);
            times.sort_unstable_by(f64::total_cmp);
            times.dedup();
        }
    }
    let last = times.last().map_or(0.0, |last| last.max(0.0));
    let duration = exactly.0.filter(|exact| (exact - last).abs() <= 1e-6 * last.max(1.0)).unwrap_or(last);
    let paid = keys.saturating_mul(TRANSFORMS_PER_KEY);
    let refined = MAX_TRANSFORMS.min(MAX_TRANSFORMS_PER_KEY.saturating_mul(keys)).min(budget.0);
    let most = paid.max(refined) / joints.max(1);
    let frames = |motions: &[Motion], count: usize, time: &dyn Fn(usize) -> f64| {
        let mut out = vec![JointTransform::IDENTITY; count * joints];
        for (joint, motion) in motions.iter().enumerate().filter(|(_, motion)| !motion.is_still()) {
            (0..count).for_each(|frame| out[frame * joints + joint] = motion.at(time(frame)));
        }
        out
    };
    if duration <= 0.0 || times.len() < 2 {
        // A single pose, held for as long as the file says.
        budget.0 = budget.0.checked_sub(joints).or((joints <= paid).then_some(0))?;
        let transforms = frames(motions, 1, &|_| last);
        return Some(Sampled { transforms, duration, error: 0.0, within_bound: true });
    }

    // In units of steps of the grid, every key is at a whole number.
    let on_grid = grid(&times, duration, most.max(2));
    let (motions, times, length, mut count) = match on_grid {
        Some(steps) => {
            let snap = |time: f64| (time * steps as f64 / duration).round();
            let motions: Vec<Motion> = motions.iter().map(|motion| motion.retimed(snap)).collect();
            (motions, times.iter().map(|&time| snap(time)).collect(), steps as f64, steps)
        }
        None => (motions.to_vec(), times, duration, ((duration * 60.0).ceil() as usize).max(1)),
    };
    // The frames that the keys themselves need.
    if count + 1 > most {
        return None;
    }
    let grid_steps = count;
    let bound = if on_grid.is_some() { CLIP_ERROR } else { CLIP_ERROR_AT_ODD_KEYS } * levers.size();
    // Keys between the frames they were made from only serve readers that follow arcs.
    if let Some(steps) = exactly.1.and_then(|frames| frames.checked_sub(1)).filter(|steps| (1..=count).contains(steps))
    {
        let transforms = frames(&motions, steps + 1, &|at| length * at as f64 / steps as f64);
        let error = levers.measured_error(&motions, &transforms, &times, length);
        // Another program may have changed the keys.
        if error <= bound {
            budget.0 = budget.0.saturating_sub(transforms.len());
            return Some(Sampled { transforms, duration, error, within_bound: true });
        }
    }
    let mut before = f32::INFINITY;
    loop {
        let frame = length / count as f64;
        let motions: Vec<Motion> = motions.iter().map(|motion| motion.with_steps_on_frames(frame)).collect();
        let transforms = frames(&motions, count + 1, &|at| length * at as f64 / count as f64);
        let exact_at_keys = on_grid.is_some() && !splines && !steps;
        let error = match exact_at_keys {
            true => levers.nlerp_error(&transforms),
            false => levers.measured_error(&motions, &transforms, &times, length),
        };
        // More frames don't help if keys jump.
        let helps = error < 0.8 * before;
        let wanted = match on_grid {
            // Only multiples of the grid keep its keys. The errors of arcs and splines decrease with the third power of the
            // step or better, those of splines that bend with the second.
            Some(_) => {
                let power = if splines { 1.0 / 2.0 } else { 1.0 / 3.0 };
                let cuts = ((error / bound).powf(power) * 1.05).ceil().clamp(2.0, 64.0) as usize;
                count.saturating_mul(cuts)
            }
            None => (count as f32 * (error / bound * 1.1).clamp(1.5, 8.0)) as usize,
        };
        let next = match on_grid {
            Some(_) => wanted.min((most - 1) / grid_steps * grid_steps),
            None => wanted.min(most - 1),
        };
        if error <= bound || next <= count || !helps {
            budget.0 = budget.0.saturating_sub(transforms.len());
            return Some(Sampled { transforms, duration, error, within_bound: error <= bound });
        }
        before = error;
        count = next;
    }
}
