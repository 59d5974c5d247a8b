//! Frames at given times: those that a file's keys were once made from.

use super::{
    Budget, MOST_TRANSFORMS,
    curve::{Curve, Moment, moments},
    skin::Skin,
};
use crate::model::JointTransform;

/// Makes frames of `curves` at times that increase from 0 on. Returns `None` if the clip would then be off by more than
/// [`CLIP_ERROR`](super::CLIP_ERROR), or the frames don't fit into the budget.
pub(in crate::import) fn sample_at(
    curves: &[Curve],
    skin: &Skin,
    times: &[f64],
    budget: &mut Budget,
) -> Option<Vec<JointTransform>> {
    let joints = curves.len();
    if times.is_empty() || times.len() > budget.frames(joints) {
        return None;
    }
    let mut frames = vec![JointTransform::IDENTITY; times.len() * joints];
    for (joint, curve) in curves.iter().enumerate().filter(|(_, curve)| !curve.is_empty()) {
        let mut at = 0;
        for (frame, &time) in frames.chunks_exact_mut(joints).zip(times) {
            frame[joint] = curve.sample(Moment { time, after_step: true }, &mut at);
        }
    }

    // At all keys, and where nlerp is worst: the extremes of t·(1 − t)·(1 − 2t), and the middle. Frames as close as single
    // precision allows are a step.
    let is_span = |pair: &&[f64]| pair[1] as f32 > (pair[0] as f32).next_up();
    let within = |pair: &[f64]| [0.2113, 0.5, 0.7887].map(|share| pair[0] + (pair[1] - pair[0]) * share);
    let keys = moments(curves).into_iter().map(|moment| moment.time);
    let mut checks: Vec<f64> = keys.chain(times.windows(2).filter(is_span).flat_map(within)).collect();
    checks.sort_unstable_by(f64::total_cmp);
    // All of any realistic clip; every n-th of longer ones.
    let stride = (checks.len() * joints).div_ceil(MOST_TRANSFORMS / 4).max(1);
    let (mut second, mut at) = (0, vec![0; joints]);
    for &time in checks.iter().step_by(stride) {
        while second + 1 < times.len() && times[second] < time {
            second += 1;
        }
        let first = second.saturating_sub(1);
        let span = times[second] - times[first];
        let share = if span > 0.0 { ((time - times[first]) / span).clamp(0.0, 1.0) as f32 } else { 0.0 };
        let given = |joint: usize| {
            let [from, to] = [first, second].map(|frame| frames[frame * joints + joint]);
            JointTransform {
                translation: from.translation.lerp(to.translation, share),
                rotation: from.rotation.lerp(to.rotation, share),
                scale: from.scale.lerp(to.scale, share),
            }
        };
        let moment = Moment { time, after_step: true };
        let meant = skin.pose(curves, |joint| curves[joint].sample(moment, &mut at[joint]));
        let apart = skin.apart(&meant, &skin.pose(curves, given));
        // Neither is NaN.
        if !(0.0..=skin.bound()).contains(&apart) {
            return None;
        }
    }
    budget.spent += frames.len();
    Some(frames)
}
