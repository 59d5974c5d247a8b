//! Weights of morph targets over time: from the keys of a file to the frames of a clip.
//!
//! There is a frame at the time of each key of any target, two where one steps, and more where a spline leaves its chord too
//! far. Between frames, weights are interpolated linearly, so everything but splines is exact.

use super::{
    CLIP_ERROR,
    keys::{Between, KeyTrack, Piece},
};
use crate::model::{Model, MorphFrames, MorphIndex, size_at_rest};
use std::collections::BTreeMap;

/// The weight of a morph target over time.
pub(super) type WeightCurve = KeyTrack<f64>;

impl WeightCurve {
    /// Returns the weight at a time, before or after a step right there.
    pub(super) fn at(&self, time: f64, after_step: bool) -> f64 {
        let line = |from, to, t| from + (to - from) * t;
        self.sample(self.next(time, after_step), time, after_step, line)
    }
}

/// Returns the largest second derivative of a curve between two times with no key between them.
fn bend(curve: &WeightCurve, begin: f64, end: f64) -> f64 {
    let next = curve.next(begin, true);
    if curve.between != Between::Cubic || next == 0 || next == curve.times.len() {
        return 0.0;
    }
    let Piece {
        length,
        values: [from, to],
        rates,
    } = curve.piece(next);
    let [leaving, arriving] = rates.map(|rate| rate * length);
    // It changes evenly, so it is largest at an end.
    let at = |time: f64| {
        let t = (time - curve.times[next - 1]) / length;
        let bend =
            (12.0 * t - 6.0) * (from - to) + (6.0 * t - 4.0) * leaving + (6.0 * t - 2.0) * arriving;
        (bend / (length * length)).abs()
    };
    at(begin).max(at(end))
}

/// Weights that are stored as a row of four, or that a few keys may become: so that a small file cannot take much memory.
const FEW_ROWS: usize = 1 << 16;
const ROWS_PER_KEY: usize = 8;
const MOST_ROWS: usize = 1 << 22;

/// Error of splines, as a part of what joints may be off.
const SPLINE_ERROR: f64 = 0.05;

/// The sizes by which errors of weights are measured.
pub(super) struct MorphSizes {
    /// The farthest that each morph target moves a vertex at weight 1.
    reach: Vec<f64>,
    size: f64,
}

impl MorphSizes {
    pub(super) fn new(model: &Model) -> Self {
        let mut reach = vec![0.0_f64; model.skeleton.morphs().len()];
        for target in model.parts.iter().flat_map(|part| &part.morphs) {
            let farthest = target
                .positions
                .iter()
                .map(|delta| delta.as_dvec3().length());
            if let Some(reach) = reach.get_mut(usize::from(target.morph)) {
                *reach = farthest.fold(*reach, f64::max);
            }
        }
        Self {
            // Looks at every vertex, and most models have no morph targets.
            size: if reach.is_empty() {
                0.0
            } else {
                size_at_rest(&model.skeleton, &model.parts)
            },
            reach,
        }
    }

    /// Returns the largest error that a weight may have.
    fn bound(&self, morph: MorphIndex) -> f64 {
        let reach = self.reach.get(usize::from(morph)).copied().unwrap_or(0.0);
        let share = SPLINE_ERROR * f64::from(CLIP_ERROR) * self.size / reach;
        // Nothing is known of a target without vertices.
        if share.is_finite() && share > 0.0 {
            share.clamp(1e-7, 1e-3)
        } else {
            1e-4
        }
    }
}

/// Frames made from curves.
pub(super) struct WeightFrames {
    pub(super) frames: MorphFrames,
    /// The number of different times of keys, if there is no frame at each.
    pub(super) thinned: Option<usize>,
}

/// The moment that a frame shows.
struct Moment {
    /// Time in the clip. At a step, the later frame counts, as in glTF, so both frames are a hair ahead of it.
    shown: f64,
    /// Time at which the curves are read, before or after a step right there.
    time: f64,
    after_step: bool,
}

impl Moment {
    fn at(time: f64) -> Self {
        Self {
            shown: time,
            time,
            after_step: true,
        }
    }
}

/// Makes frames of the curves of some morph targets of `model`.
pub(super) fn weight_frames(
    model: &Model,
    sizes: &MorphSizes,
    curves: &BTreeMap<MorphIndex, WeightCurve>,
    duration: f64,
) -> WeightFrames {
    let names = model.skeleton.morphs().names();
    let mut animated = vec![false; names.len()];
    for &morph in curves.keys() {
        animated[usize::from(morph)] = true;
    }
    let keys: usize = curves.values().map(|curve| curve.times.len()).sum();
    let rows = ROWS_PER_KEY
        .saturating_mul(keys)
        .clamp(FEW_ROWS, MOST_ROWS.max(keys / 2));
    let most = (rows / names.len().div_ceil(4).max(1)).max(2);

    let mut times: Vec<f64> = curves
        .values()
        .flat_map(|curve| &curve.times)
        .copied()
        .collect();
    times.retain(|time| (0.0..=duration).contains(time));
    times.extend([0.0, duration]);
    times.sort_unstable_by(f64::total_cmp);
    times.dedup();
    // A key right after the end belongs to it: the clip's length may be more exact than its keys.
    let last_key = |curve: &WeightCurve| curve.times.last().copied().unwrap_or(0.0);
    let end = curves.values().map(last_key).fold(duration, f64::max);
    let mut moments: Vec<Moment> = Vec::with_capacity(times.len());
    // Steps at too many times for a frame at each aren't looked for: that takes a look at every curve at every time.
    let stepped = if times.len() > most { &[] } else { &times[..] };
    for &time in stepped {
        let after = if time < duration { time } else { end };
        let jumps = |curve: &WeightCurve| curve.at(time, false) != curve.at(after, true);
        if time > 0.0 && curves.values().any(jumps) {
            let shown = if time < duration {
                time.next_down()
            } else {
                time
            };
            let moment = |time, after_step| Moment {
                shown,
                time,
                after_step,
            };
            moments.extend([moment(time, false), moment(after, true)]);
        } else {
            moments.push(Moment::at(time));
        }
    }
    let thinned = times.len() > most || moments.len() > most;
    if thinned {
        let even = |frame: usize| duration * frame as f64 / (most - 1) as f64;
        moments = (0..most).map(|frame| Moment::at(even(frame))).collect();
    }
    let cuts = if thinned {
        vec![1; most - 1]
    } else {
        cuts(&moments, sizes, curves, most)
    };
    let mut out = MorphFrames {
        names: names.into(),
        animated,
        weights: Vec::new(),
        times: Vec::new(),
    };
    let mut push = |moment: &Moment| {
        let first = out.weights.len();
        out.weights.resize(first + names.len(), 0.0);
        for (&morph, curve) in curves {
            let weight = curve.at(moment.time, moment.after_step);
            out.weights[first + usize::from(morph)] = weight as f32;
        }
        out.times.push(moment.shown);
    };
    for (at, moment) in moments.iter().enumerate() {
        push(moment);
        let Some(&cuts) = cuts.get(at) else { break };
        let (from, to) = (moment.shown, moments[at + 1].shown);
        for cut in 1..cuts {
            push(&Moment::at(from + (to - from) * cut as f64 / cuts as f64));
        }
    }
    if duration == 0.0 {
        out.weights.truncate(names.len());
        out.times.clear();
    } else if let Some(first) = out.times.first_mut() {
        *first = 0.0;
    }
    if are_even(&out.times, duration) {
        out.times.clear();
    }
    WeightFrames {
        frames: out,
        thinned: thinned.then_some(times.len()),
    }
}

/// Returns the numbers of pieces into which to cut the splines between moments.
fn cuts(
    moments: &[Moment],
    sizes: &MorphSizes,
    curves: &BTreeMap<MorphIndex, WeightCurve>,
    most: usize,
) -> Vec<usize> {
    let error = |pair: &[Moment]| {
        let (begin, end) = (pair[0].time, pair[1].time);
        let length = end - begin;
        let of = |(&morph, curve): (&MorphIndex, &WeightCurve)| {
            bend(curve, begin, end) * length * length / 8.0 / sizes.bound(morph)
        };
        curves.iter().map(of).fold(0.0, f64::max)
    };
    let errors: Vec<f64> = moments.windows(2).map(error).collect();
    let mut looser = 1.0;
    loop {
        let cuts = |error: &f64| ((error / looser).sqrt().ceil() as usize).clamp(1, most);
        let cuts: Vec<usize> = errors.iter().map(cuts).collect();
        if cuts.iter().sum::<usize>() < most || looser > 1e30 {
            return cuts;
        }
        looser *= 4.0;
    }
}

/// Returns `true` if times are evenly spaced, but for rounding: as exact as single precision.
fn are_even(times: &[f64], duration: f64) -> bool {
    let last = times.len().saturating_sub(1);
    let rounding = f64::from(f32::EPSILON) * duration.max(1.0);
    let step = duration / last.max(1) as f64;
    let is_near = |(at, time): (usize, &f64)| (time - step * at as f64).abs() <= rounding;
    last > 0 && step > 50.0 * rounding && times.iter().enumerate().all(is_near)
}

#[cfg(test)]
#[path = "tests/weights.rs"]
mod tests;
