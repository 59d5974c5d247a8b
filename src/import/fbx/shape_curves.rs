//! Curves of the weights of blend shapes: those of a channel, and what follows for each of its shapes.
//!
//! As for joints, each stretch from one key to the next is read at evenly spaced points, and cubics stand for it.

use super::curves::{between_keys, cubic_weights, read_evenly};
use crate::import::{keys, weights::WeightCurve};
use ufbx::BlendChannel;

/// The most that a cubic may be off.
const OFF: f64 = 1e-5;

/// The weights at which the shapes of a channel show, in ascending order.
pub(super) struct Between {
    targets: Vec<f64>,
    /// The number of those below 0.
    below: usize,
}

impl Between {
    pub(super) fn new(channel: &BlendChannel) -> Self {
        Self::of(
            channel
                .keyframes
                .iter()
                .map(|key| key.target_weight)
                .collect(),
        )
    }

    fn of(targets: Vec<f64>) -> Self {
        let below = targets.partition_point(|target| *target < 0.0);
        Self { targets, below }
    }

    /// The shapes that a weight is between; `None` is the mesh itself, at 0. Beyond the last shape of a side, or without one on that
    /// side, the nearest pair goes on.
    fn pair(&self, weight: f64) -> [Option<usize>; 2] {
        let (below, above) = self.targets.split_at(self.below);
        // The shapes of the weight's side, away from 0.
        let (count, passed) = if weight > 0.0 {
            let passed = above.partition_point(|target| *target <= weight);
            (above.len(), passed)
        } else {
            let passed = below.len() - below.partition_point(|target| *target < weight);
            (below.len(), passed)
        };
        let shape = |at: usize| match weight > 0.0 {
            true => self.below + at,
            false => self.below - 1 - at,
        };
        if count == 0 {
            let nearest = if weight > 0.0 {
                self.below.checked_sub(1)
            } else {
                (self.below < self.targets.len()).then_some(self.below)
            };
            return [nearest, None];
        }
        let next = passed.min(count - 1);
        [next.checked_sub(1).map(shape), Some(shape(next))]
    }

    /// Returns the factor and the summand by which a shape's weight follows from that of its channel near a weight.
    fn line(&self, near: f64, shape: usize) -> [f64; 2] {
        let [from, to] = self.pair(near);
        let target = |at: Option<usize>| at.map_or(0.0, |at| self.targets[at]);
        let length = target(to) - target(from);
        if length == 0.0 {
            return [0.0, 0.0];
        }
        let share = [1.0 / length, -target(from) / length];
        if to == Some(shape) {
            share
        } else if from == Some(shape) {
            [-share[0], 1.0 - share[1]]
        } else {
            [0.0, 0.0]
        }
    }

    /// The weight of a shape at a weight of its channel.
    pub(super) fn shares(&self, weight: f64, shape: usize) -> f64 {
        let [factor, offset] = self.line(weight, shape);
        factor * weight + offset
    }

    /// The weights at which another pair of shapes begins to count, in ascending order.
    fn corners(&self) -> Vec<f64> {
        let (below, above) = self.targets.split_at(self.below);
        let mut corners = below.get(1..).unwrap_or_default().to_vec();
        if !below.is_empty() && !above.is_empty() {
            corners.push(0.0);
        }
        corners.extend_from_slice(&above[..above.len().saturating_sub(1)]);
        corners
    }
}

/// A cubic from one time to another: values and rates at both ends.
#[derive(Clone, Copy)]
struct Piece {
    times: [f64; 2],
    values: [f64; 2],
    rates: [f64; 2],
}

impl Piece {
    /// The coefficients of the cubic, over 0..=1.
    fn coefficients(&self) -> [f64; 4] {
        let length = self.times[1] - self.times[0];
        let [leaving, arriving] = self.rates.map(|rate| rate * length);
        let rise = self.values[1] - self.values[0];
        [
            self.values[0],
            leaving,
            3.0 * rise - 2.0 * leaving - arriving,
            leaving + arriving - 2.0 * rise,
        ]
    }

    /// Cuts it where it passes one of `corners`, which ascend.
    fn cut(&self, corners: &[f64], out: &mut Vec<Self>) {
        let [a, b, c, d] = self.coefficients();
        let value = |t: f64| a + t * (b + t * (c + t * d));
        let rate = |t: f64| b + t * (2.0 * c + t * 3.0 * d);
        // Between these places, it only rises or only falls.
        let turns = roots(b, 2.0 * c, 3.0 * d);
        let mut places = vec![0.0];
        places.extend(turns.into_iter().filter(|t| 0.0 < *t && *t < 1.0));
        places.push(1.0);
        let mut cuts = Vec::new();
        for pair in places.windows(2) {
            let [from, to] = [pair[0], pair[1]];
            let [low, high] = match [value(from), value(to)] {
                [a, b] if a <= b => [a, b],
                [a, b] => [b, a],
            };
            let first = corners.partition_point(|corner| *corner < low);
            for corner in corners[first..].iter().take_while(|c| **c <= high) {
                let is_above = |t: f64| value(t) >= *corner;
                let (mut before, mut after) = (from, to);
                if is_above(before) == is_above(after) {
                    continue;
                }
                for _ in 0..50 {
                    let middle = (before + after) / 2.0;
                    if is_above(middle) == is_above(from) {
                        before = middle;
                    } else {
                        after = middle;
                    }
                }
                cuts.push(after);
            }
        }
        cuts.sort_unstable_by(f64::total_cmp);
        let length = self.times[1] - self.times[0];
        let mut left = *self;
        for cut in cuts {
            let time = self.times[0] + length * cut;
            // What is shorter than this is rounding.
            if time - left.times[0] < 1e-9 * length || self.times[1] - time < 1e-9 * length {
                continue;
            }
            let (value, rate) = (value(cut), rate(cut) / length);
            out.push(Self {
                times: [left.times[0], time],
                values: [left.values[0], value],
                rates: [left.rates[0], rate],
            });
            [left.times[0], left.values[0], left.rates[0]] = [time, value, rate];
        }
        out.push(left);
    }

    fn middle(&self) -> f64 {
        let [a, b, c, d] = self.coefficients();
        a + 0.5 * (b + 0.5 * (c + 0.5 * d))
    }
}

/// Returns the roots of `a + b t + c t²` in ascending order.
fn roots(a: f64, b: f64, c: f64) -> Vec<f64> {
    let square = b * b - 4.0 * a * c;
    if square < 0.0 {
        return Vec::new();
    }
    // The form without cancellation.
    let q = -0.5 * (b + square.sqrt().copysign(b));
    let mut roots: Vec<f64> = [q / c, a / q]
        .into_iter()
        .filter(|root| root.is_finite())
        .collect();
    roots.sort_unstable_by(f64::total_cmp);
    roots
}

/// Reads the weights of a channel's shapes. `times` are those of its keys, from the beginning of the clip to its end; `at` returns the
/// channel's weight at a time. `budget` is how many points may still be read. `None` if it is used up.
pub(super) fn read(
    times: &[f64],
    at: impl Fn(f64) -> f64,
    between: &Between,
    budget: &mut usize,
) -> Option<Vec<WeightCurve>> {
    let at = |time| {
        let weight = at(time);
        // Weights beyond this are not meant.
        if weight.abs() <= 1e6 { weight } else { 0.0 }
    };
    let begin = *times.first()?;
    let mut pieces = Vec::new();
    for pair in times.windows(2) {
        let Some(inside) = between_keys([pair[0], pair[1]]) else {
            continue;
        };
        let is_met = |corners: [&f64; 4], t: f64, point: &f64| {
            let weighted = corners.iter().zip(cubic_weights(t));
            let cubic: f64 = weighted.map(|(corner, weight)| *corner * weight).sum();
            (cubic - point).abs() <= OFF
        };
        let points = read_evenly(inside, at, |_, _| (), is_met, budget)?;
        let count = points.len() / 6;
        let length = (pair[1] - pair[0]) / count as f64;
        pieces.extend((0..count).map(|piece| {
            let [a, b, c, d] = [0, 2, 4, 6].map(|sixth| points[6 * piece + sixth]);
            let start = pair[0] - begin + length * piece as f64;
            Piece {
                times: [start, start + length],
                values: [a, d],
                rates: [
                    (-11.0 * a + 18.0 * b - 9.0 * c + 2.0 * d) / (2.0 * length),
                    (-2.0 * a + 9.0 * b - 18.0 * c + 11.0 * d) / (2.0 * length),
                ],
            }
        }));
    }
    let shapes = between.targets.len();
    if pieces.is_empty() {
        let weight = at(begin);
        let still = |shape| WeightCurve {
            times: vec![0.0],
            values: vec![between.shares(weight, shape)],
            between: keys::Between::Linear,
        };
        return Some((0..shapes).map(still).collect());
    }
    let corners = between.corners();
    *budget = budget.checked_sub(pieces.len().saturating_mul(corners.len()))?;
    if !corners.is_empty() {
        let mut cut = Vec::with_capacity(pieces.len());
        pieces
            .iter()
            .for_each(|piece| piece.cut(&corners, &mut cut));
        pieces = cut;
    }
    // Each shape has a key at every one.
    *budget = budget.checked_sub(pieces.len().saturating_mul(shapes))?;
    Some(
        (0..shapes)
            .map(|shape| curve(&pieces, between, shape))
            .collect(),
    )
}

/// The weight of one shape.
fn curve(pieces: &[Piece], between: &Between, shape: usize) -> WeightCurve {
    let is_line = |piece: &Piece| {
        let length = piece.times[1] - piece.times[0];
        let chord = piece.values[1] - piece.values[0];
        let bends = piece.rates.map(|rate| (rate * length - chord).abs());
        bends.into_iter().all(|bend| bend <= OFF)
    };
    let is_straight = pieces.iter().all(is_line);
    let mut out = WeightCurve {
        times: Vec::new(),
        values: Vec::new(),
        between: if is_straight {
            keys::Between::Linear
        } else {
            keys::Between::Cubic
        },
    };
    let mut push = |time: f64, [before, value, after]: [f64; 3]| {
        out.times.push(time);
        match is_straight {
            true => out.values.push(value),
            false => out.values.extend([before, value, after]),
        }
    };
    // The value and rate at which the last piece ended.
    let mut last: Option<[f64; 2]> = None;
    for piece in pieces {
        let [factor, offset] = between.line(piece.middle(), shape);
        let values = piece.values.map(|value| factor * value + offset);
        let rates = piece.rates.map(|rate| factor * rate);
        match last {
            Some([value, rate]) if (value - values[0]).abs() <= OFF => {
                push(piece.times[0], [rate, value, rates[0]]);
            }
            Some([value, rate]) => {
                push(piece.times[0], [rate, value, 0.0]);
                push(piece.times[0], [0.0, values[0], rates[0]]);
            }
            None => push(piece.times[0], [0.0, values[0], rates[0]]),
        }
        last = Some([values[1], rates[1]]);
    }
    if let (Some([value, rate]), Some(piece)) = (last, pieces.last()) {
        push(piece.times[1], [rate, value, 0.0]);
    }
    out
}

#[cfg(test)]
#[path = "tests/shape_curves.rs"]
mod tests;
