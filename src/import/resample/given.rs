//! Frames at given times: those that a file's keys were once made from.

use super::{
    Budget,
    curve::{Curve, Moment, moments},
    measure::sample_and_measure,
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
    if times.is_empty() || times.len() > budget.frames(curves.len()) {
        return None;
    }
    let at = |&time: &f64| Moment {
        time,
        after_step: true,
    };
    let frames: Vec<Moment> = times.iter().map(at).collect();
    let moments = moments(curves, times[times.len() - 1]);
    let bound = skin.bound();
    let (transforms, error) = sample_and_measure(curves, &moments, &frames, skin, |_| false, bound);
    // Nor is it NaN.
    (0.0..=bound).contains(&error).then(|| {
        budget.spent += transforms.len();
        transforms
    })
}
