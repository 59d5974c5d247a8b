//! Evenly spaced frames, for keys at more times than there may be frames.

use super::{
    Budget, Sampled, Thinned,
    curve::{Curve, Moment},
    measure::sample_and_measure,
    skin::Skin,
};

/// The number of frames to try first. It is doubled with each further try.
const FEWEST: usize = 16;

/// Makes frames of `curves`, which have keys at these moments: as few as keep the skin within
/// [`CLIP_ERROR`](super::CLIP_ERROR), or as many as the budget allows. Steps remain steps unless there are too many of them.
/// `None` if the budget doesn't suffice for two frames.
pub(super) fn sample_evenly(
    curves: &[Curve],
    moments: &[Moment],
    skin: &Skin,
    budget: &mut Budget,
) -> Option<Sampled> {
    let most = budget.share(curves.iter().map(Curve::len).sum(), curves.len());
    sample_up_to([FEWEST, most], f64::INFINITY, curves, moments, skin, budget)
}

/// The same with a number of frames from `fewest` to `most`, which lead the skin no farther than `bound` from its place, or else are
/// `None`.
pub(super) fn sample_up_to(
    [fewest, most]: [usize; 2],
    bound: f64,
    curves: &[Curve],
    moments: &[Moment],
    skin: &Skin,
    budget: &mut Budget,
) -> Option<Sampled> {
    let duration = moments[moments.len() - 1].time;
    let steps: Vec<f64> = moments
        .iter()
        .filter(|moment| moment.after_step)
        .map(|moment| moment.time)
        .collect();
    let keeps_steps = steps.len() <= most / 8;
    if !keeps_steps && bound < f64::INFINITY {
        return None;
    }
    let kept = if keeps_steps { &steps[..] } else { &[] };
    let most = most
        .checked_sub(2 * kept.len())
        .filter(|most| *most >= 2 && duration > 0.0)?;
    // Steps that become ramps are to be as short as possible.
    let mut count = if keeps_steps {
        fewest.clamp(2, most)
    } else {
        most
    };
    loop {
        let step = duration / (count - 1) as f64;
        let frames = frames(count, duration, kept);
        // At a step there are two poses, and where it has become a ramp, neither is near.
        let ramp = if keeps_steps { 0.0 } else { step };
        let is_step = |time: f64| {
            let near = steps.partition_point(|&step| step < time - ramp);
            steps.get(near).is_some_and(|&step| step <= time + ramp)
        };
        let limit = if count < most { skin.bound() } else { bound };
        let (transforms, error) =
            sample_and_measure(curves, moments, &frames, skin, is_step, limit);
        if error <= limit || (count == most && bound == f64::INFINITY) {
            budget.spent += transforms.len();
            let times = frames.iter().filter(|_| !kept.is_empty());
            let thinned = Some(Thinned {
                moments: moments.len() - steps.len(),
                ramp,
            });
            return Some(Sampled {
                transforms,
                times: times.map(|frame| frame.time).collect(),
                duration,
                error,
                thinned,
            });
        }
        if count == most {
            return None;
        }
        // Frames at the keys of one joint stay there, and others come between them.
        count = (2 * count - usize::from(bound.is_finite())).min(most);
    }
}

/// Evenly spaced moments, and both sides of the steps.
fn frames(count: usize, duration: f64, steps: &[f64]) -> Vec<Moment> {
    let last = (count - 1) as f64;
    let even = (0..count).map(|at| {
        if at + 1 < count {
            duration * at as f64 / last
        } else {
            duration
        }
    });
    let is_step = |time: f64| steps.binary_search_by(|step| step.total_cmp(&time)).is_ok();
    let even = even.filter(|&time| !is_step(time)).map(|time| Moment {
        time,
        after_step: false,
    });
    let sides = |&time: &f64| [false, true].map(|after_step| Moment { time, after_step });
    let mut frames: Vec<Moment> = even.chain(steps.iter().flat_map(sides)).collect();
    frames.sort_unstable_by(|a, b| {
        a.time
            .total_cmp(&b.time)
            .then(a.after_step.cmp(&b.after_step))
    });
    frames
}
