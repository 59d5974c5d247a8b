//! The errors of frames, relative to the keys from which they were made.

use super::{
    MOST_TRANSFORMS,
    curve::{Curve, Moment, sample},
    skin::Skin,
};
use crate::{model::JointTransform, numbers::worse};

/// Makes frames of `curves`, which have keys at `moments`. Also returns how far they lead the skin from its place according to
/// the keys, at times that aren't skipped. Stops measuring once that is more than `limit`, or NaN.
pub(super) fn sample_and_measure(
    curves: &[Curve],
    moments: &[Moment],
    frames: &[Moment],
    skin: &Skin,
    skips: impl Fn(f64) -> bool,
    limit: f64,
) -> (Vec<JointTransform>, f64) {
    let transforms = sample(curves, frames);
    let times: Vec<f64> = frames.iter().map(|frame| frame.time).collect();
    let mut checks = checks(moments, &times);
    checks.retain(|&time| !skips(time));
    let error = worst_apart(curves, skin, &times, &transforms, &checks, limit);
    (transforms, error)
}

/// The times at which frames are to be compared with keys, in order: at all keys, and where nlerp is worst, the extremes of
/// t·(1 − t)·(1 − 2t), and the middle.
fn checks(moments: &[Moment], frames: &[f64]) -> Vec<f64> {
    // Frames as close as single precision allows are a step.
    let is_span = |pair: &&[f64]| pair[1] as f32 > (pair[0] as f32).next_up();
    let within =
        |pair: &[f64]| [0.2113, 0.5, 0.7887].map(|share| pair[0] + (pair[1] - pair[0]) * share);
    let keys = moments.iter().map(|moment| moment.time);
    let mut checks: Vec<f64> = keys
        .chain(frames.windows(2).filter(is_span).flat_map(within))
        .collect();
    checks.sort_unstable_by(f64::total_cmp);
    checks
}

/// Returns how far frames at `times` are from the skin's place according to its keys, at the worst of the `checks`: all of any
/// realistic clip, and every n-th of longer ones. Ends early once that is more than `limit`, or NaN.
fn worst_apart(
    curves: &[Curve],
    skin: &Skin,
    times: &[f64],
    frames: &[JointTransform],
    checks: &[f64],
    limit: f64,
) -> f64 {
    let joints = curves.len();
    let stride = (checks.len() * joints).div_ceil(MOST_TRANSFORMS / 4).max(1);
    // A clip can have any number of keys, and the time that this takes must not grow with them
    // forever.
    let (mut second, mut at, mut worst) = (0, vec![0; joints], 0.0);
    for &time in checks.iter().step_by(stride) {
        while second + 1 < times.len() && times[second] < time {
            second += 1;
        }
        let first = second.saturating_sub(1);
        let span = times[second] - times[first];
        let share = if span > 0.0 {
            ((time - times[first]) / span).clamp(0.0, 1.0) as f32
        } else {
            0.0
        };
        let given = |joint: usize| {
            let [from, to] = [first, second].map(|frame| frames[frame * joints + joint]);
            JointTransform {
                translation: from.translation.lerp(to.translation, share),
                rotation: from.rotation.lerp(to.rotation, share),
                scale: from.scale.lerp(to.scale, share),
            }
        };
        let moment = Moment {
            time,
            after_step: true,
        };
        let meant = skin.pose(curves, |joint| curves[joint].sample(moment, &mut at[joint]));
        let apart = skin.apart(&meant, &skin.pose(curves, given));
        worst = worse(worst, apart);
        if !(0.0..=limit).contains(&worst) {
            break;
        }
    }
    worst
}
