//! Frames at given times: those that a file's keys were once made from.

use super::{
    Budget, Sampled,
    curve::{Curve, Moment, moments},
    measure::sample_and_measure,
    skin::Skin,
};
use crate::model::JointTransform;
use serde::Deserialize;

/// The frames of a clip.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected `frames` to be a number, or a list of times in seconds"
)]
pub(in crate::import) enum Frames {
    /// This many, evenly spaced.
    Even(usize),
    /// At these times, in seconds.
    At(Vec<f64>),
}

impl Frames {
    /// Returns the frames that our exporter made the keys from, if the keys still agree with them. Its
    /// keys between frames are left out: they only serve programs that interpolate along arcs.
    pub(in crate::import) fn sample(
        &self,
        duration: f64,
        curves: &[Curve],
        skin: &Skin,
        budget: &mut Budget,
    ) -> Option<Sampled> {
        let (times, frame_times) = match self {
            &Self::Even(count) if (1..=budget.frames(curves.len())).contains(&count) => {
                let time = |frame: usize| duration * frame as f64 / (count - 1).max(1) as f64;
                (Vec::new(), key_times((0..count).map(time)))
            }
            Self::At(times)
                if times.is_sorted()
                    && times.len() > 1
                    && times[0] == 0.0
                    && times.ends_with(&[duration]) =>
            {
                (times.clone(), key_times(times.iter().copied()))
            }
            _ => return None,
        };
        let frame_times: Vec<f64> = frame_times.into_iter().map(f64::from).collect();
        Some(Sampled {
            transforms: sample_at(curves, skin, &frame_times, budget)?,
            times,
            duration,
            error: 0.0,
            thinned: None,
        })
    }
}

/// Returns the times of keys made of frames at these times, which must be in order. They also
/// increase in single precision: a step takes the smallest possible time.
pub(in crate::import) fn key_times(frames: impl Iterator<Item = f64>) -> Vec<f32> {
    let mut times: Vec<f32> = Vec::with_capacity(frames.size_hint().0);
    for time in frames {
        let earliest = times.last().map_or(0.0, |before| before.next_up());
        times.push((time as f32).max(earliest));
    }
    times
}

/// Makes frames of `curves` at times that increase from 0 on. Returns `None` if the clip would then be off by more than
/// [`CLIP_ERROR`](super::CLIP_ERROR), or the frames don't fit into the budget.
fn sample_at(
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
