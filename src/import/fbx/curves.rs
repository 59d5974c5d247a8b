//! Movement of joints: the file's curves, read at as many points as it takes to know them between two keys.
//!
//! A node's transform at a time is computed by the library, from Euler angles on splines, in layers, around pivots. That is slow, and
//! what makes frames of it asks often. So each stretch from one key to the next is read at evenly spaced points, and cubics through
//! four of them stand for it. A cubic curve of a translation is met exactly; everything else gets as many points as it takes.

use crate::{
    import::{nodes::Local, resample::Curve},
    model::JointTransform,
};
use glam::{DQuat, DVec3, DVec4};

/// Tolerance of a cubic halfway between its points, as a share of the model's size, in radians, and as a factor. At the tips of
/// a body, the error that comes of it is still far below [`CLIP_ERROR`](crate::import::CLIP_ERROR).
const OFF: f64 = 1e-6;

/// Pieces that a stretch is cut into at most.
const MOST_PIECES: usize = 64;

/// Cubics that a stretch may need, within [`NEARLY`], to be measured well by what makes frames of it, which looks at so many pieces
/// of it.
const MEASURED: usize = 4;

/// Tolerance of these cubics: a tenth of the clip's.
const NEARLY: f64 = crate::import::CLIP_ERROR as f64 / 10.0;

/// A stretch from one key to the next.
struct Stretch {
    from: f64,
    to: f64,
    /// Its points: three for each piece, and one at the end.
    points: Vec<Local>,
}

/// Reads how a joint moves. `times` are those of its keys, from the beginning of the clip to its end; `at` returns where the joint is
/// at a time. `size` is the model's. `budget` is how many points may still be read. `None` if it is used up.
pub(super) fn read(
    times: &[f64],
    mut at: impl FnMut(f64) -> Local,
    size: f64,
    budget: &mut usize,
) -> Option<Curve> {
    let begin = *times.first()?;
    let mut stretches: Vec<Stretch> = Vec::with_capacity(times.len());
    for pair in times.windows(2) {
        let Some(inside) = between_keys([pair[0], pair[1]]) else {
            continue;
        };
        // Neighbors in one hemisphere, so that cubics don't go the long way around.
        let follow = |last: &Local, next: &mut Local| {
            if last.rotation.dot(next.rotation) < 0.0 {
                next.rotation = -next.rotation;
            }
        };
        let is_met = |corners: [&Local; 4], t: f64, point: &Local| {
            is_near(&cubic(corners, t), point, size, OFF)
        };
        let points = read_evenly(inside, &mut at, follow, is_met, budget)?;
        let pieces = points.len() / 6;
        let points: Vec<Local> = points.into_iter().step_by(2).collect();
        // What bends sharply somewhere gets keys of its own: sampling looks at a few points between two keys only.
        let parts = parts(&points, size);
        let each = 3 * pieces / parts;
        let [begin, length] = [pair[0] - begin, pair[1] - pair[0]];
        let place = |part: usize| begin + length * (part as f64 / parts as f64);
        stretches.extend((0..parts).map(|part| Stretch {
            from: place(part),
            to: place(part + 1),
            points: points[part * each..=(part + 1) * each].to_vec(),
        }));
    }
    let mut curve = Curve::with_capacity(stretches.len() + 1);
    let Some(first) = stretches.first() else {
        curve.push(0.0, at(begin).to_transform());
        return Some(curve);
    };
    curve.push(0.0, first.points[0].to_transform());
    for (stretch, next) in stretches
        .iter()
        .zip(stretches.iter().skip(1).map(Some).chain([None]))
    {
        let end = &stretch.points[stretch.points.len() - 1];
        curve.push(stretch.to, end.to_transform());
        // A gap between stretches is a step: two keys at one time.
        if let Some(next) = next
            && !is_near(end, &next.points[0], size, OFF)
        {
            curve.push(stretch.to, next.points[0].to_transform());
        }
    }
    let is_line = |stretch: &Stretch| {
        let last = stretch.points.len() - 1;
        let (from, to) = (&stretch.points[0], &stretch.points[last]);
        let chord = |at: usize| {
            is_near(
                &line(from, to, at as f64 / last as f64),
                &stretch.points[at],
                size,
                OFF,
            )
        };
        (1..last).all(chord)
    };
    // For straight stretches, the keys are enough.
    if !stretches.iter().all(is_line) {
        curve.spline = Some(Box::new(move |time| sample(&stretches, time)));
    }
    Some(curve)
}

fn sample(stretches: &[Stretch], time: f64) -> JointTransform {
    // The stretch that ends at or after the time.
    let at = stretches.partition_point(|stretch| stretch.to < time);
    let Stretch { from, to, points } = &stretches[at.min(stretches.len() - 1)];
    let pieces = (points.len() - 1) / 3;
    let place = ((time - from) / (to - from)).clamp(0.0, 1.0) * pieces as f64;
    let piece = (place as usize).min(pieces - 1);
    let point = |i: usize| &points[3 * piece + i];
    cubic(
        [point(0), point(1), point(2), point(3)],
        place - piece as f64,
    )
    .to_transform()
}

/// Returns the first and the last time between two keys, to which a step at one of them doesn't belong. `None` if these are as good as
/// at the same time, so that what is between them is a step.
pub(super) fn between_keys([from, to]: [f64; 2]) -> Option<[f64; 2]> {
    /// Seconds; some ticks of the files' clock. Where keys are repeated, their times are rounded, and by the library in another way.
    const APART: f64 = 1e-10;
    let rounding = 8.0 * f64::EPSILON * from.abs().max(to.abs());
    let apart = APART.max(rounding);
    let inside = [from + apart, to - apart];
    (inside[0] < inside[1]).then_some(inside)
}

/// Reads the stretch from one time to another at evenly spaced points, until cubics meet it. There are six for each piece, and one at
/// the end: cubics go through every second of them, and are compared with the others by `is_met`. `follow` adapts a point to the
/// one before. `None` if the budget is used up.
pub(super) fn read_evenly<T>(
    [from, to]: [f64; 2],
    mut at: impl FnMut(f64) -> T,
    follow: impl Fn(&T, &mut T),
    is_met: impl Fn([&T; 4], f64, &T) -> bool,
    budget: &mut usize,
) -> Option<Vec<T>> {
    let mut pieces = 1;
    let mut known = Vec::new();
    loop {
        let count = 6 * pieces + 1;
        // Counted before they are read, which takes most of the time.
        *budget = budget.checked_sub(count - known.len())?;
        let mut points: Vec<T> = Vec::with_capacity(count);
        // Every second one was read with half as many pieces.
        let mut before = std::mem::take(&mut known).into_iter();
        for point in 0..count {
            let read = (point % 2 == 0).then(|| before.next()).flatten();
            let share = point as f64 / (count - 1) as f64;
            let mut next = read.unwrap_or_else(|| at(from + (to - from) * share));
            if let Some(last) = points.last() {
                follow(last, &mut next);
            }
            points.push(next);
        }
        // One in the middle wouldn't do: an S-curve crosses its cubic there.
        let is_met = |piece: usize| {
            let point = |sixth: usize| &points[6 * piece + sixth];
            let corners = [0, 2, 4, 6].map(point);
            [1, 3, 5]
                .into_iter()
                .all(|sixth| is_met(corners, sixth as f64 / 6.0, point(sixth)))
        };
        if pieces == MOST_PIECES || (0..pieces).all(is_met) {
            return Some(points);
        }
        pieces *= 2;
        known = points;
    }
}

/// Returns the weights of four points at 0, 1/3, 2/3 and 1 in the cubic through them.
pub(super) fn cubic_weights(t: f64) -> [f64; 4] {
    let x = 3.0 * t;
    [
        (1.0 - x) * (2.0 - x) * (3.0 - x) / 6.0,
        x * (2.0 - x) * (3.0 - x) / 2.0,
        x * (x - 1.0) * (3.0 - x) / 2.0,
        x * (x - 1.0) * (x - 2.0) / 6.0,
    ]
}

/// The cubic through four points at 0, 1/3, 2/3 and 1.
fn cubic(points: [&Local; 4], t: f64) -> Local {
    let weights = cubic_weights(t);
    let vector = |of: fn(&Local) -> DVec3| -> DVec3 {
        points
            .iter()
            .zip(weights)
            .map(|(point, weight)| of(point) * weight)
            .sum()
    };
    let rotation: DVec4 = points
        .iter()
        .zip(weights)
        .map(|(point, weight)| DVec4::from(point.rotation) * weight)
        .sum();
    Local {
        translation: vector(|point| point.translation),
        rotation: DQuat::from_vec4(rotation.try_normalize().unwrap_or(DVec4::W)),
        scale: vector(|point| point.scale),
    }
}

/// Returns into how many stretches to divide one with these points, so that each is measured well. Its points are closer together
/// than that takes: between them, the clip's error would add up with theirs.
fn parts(points: &[Local], size: f64) -> usize {
    let pieces = points.len() / 3;
    let are_met = |cubics: usize| {
        let apart = pieces / cubics;
        points
            .windows(3 * apart + 1)
            .step_by(3 * apart)
            .all(|piece| {
                let corners = [0, 1, 2, 3].map(|corner| &piece[corner * apart]);
                let is_met = |at: usize| {
                    let cubic = cubic(corners, at as f64 / (3 * apart) as f64);
                    is_near(&cubic, &piece[at], size, NEARLY)
                };
                (0..piece.len()).all(is_met)
            })
    };
    // Both are powers of two.
    let cubics = std::iter::successors(Some(1), |cubics| Some(2 * cubics));
    let mut cubics = cubics.take_while(|cubics| *cubics < pieces);
    cubics
        .find(|cubics| are_met(*cubics))
        .unwrap_or(pieces)
        .div_ceil(MEASURED)
}

/// Interpolates between two keys as a clip does between its frames.
fn line(from: &Local, to: &Local, t: f64) -> Local {
    Local {
        translation: from.translation.lerp(to.translation, t),
        rotation: from.rotation.slerp(to.rotation, t),
        scale: from.scale.lerp(to.scale, t),
    }
}

/// Returns `true` if two transforms put everything below a joint in the same places. Differences that single precision can't
/// store don't count.
fn is_near(a: &Local, b: &Local, size: f64, off: f64) -> bool {
    let off = off.max(f64::from(f32::EPSILON));
    let turned = (DVec4::from(a.rotation) - DVec4::from(b.rotation))
        .length()
        .min((DVec4::from(a.rotation) + DVec4::from(b.rotation)).length());
    let largest = a.translation.abs().max(b.translation.abs()).max_element();
    // `<=`, so that NaN is near to nothing but costs no pieces.
    (a.translation - b.translation).length() <= off * size.max(largest)
        && turned <= off
        && (a.scale - b.scale).abs().max_element() <= off * a.scale.abs().max_element().max(1.0)
}

#[cfg(test)]
#[path = "tests/curves.rs"]
mod tests;
