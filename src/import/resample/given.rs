//! Frames at given times: those that a file's keys were once made from.

use super::{
    Budget,
    curve::{Curve, Moment, moments},
    measure::{checks, worst_apart},
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
    for (joint, curve) in curves
        .iter()
        .enumerate()
        .filter(|(_, curve)| !curve.is_empty())
    {
        let mut at = 0;
        for (frame, &time) in frames.chunks_exact_mut(joints).zip(times) {
            frame[joint] = curve.sample(
                Moment {
                    time,
                    after_step: true,
                },
                &mut at,
            );
        }
    }
    let end = times[times.len() - 1];
    let checks = checks(&moments(curves, end), times);
    let apart = worst_apart(curves, skin, times, &frames, &checks, skin.bound());
    // Nor is it NaN.
    (0.0..=skin.bound()).contains(&apart).then(|| {
        budget.spent += frames.len();
        frames
    })
}
