//! From the phase of a blend space to the time of a clip.
//!
//! The first clip that has marks sets the phase: it is the fraction of that clip's length. Every other clip is stretched
//! between its own marks so that each is passed with its match:
//!
//! ```text
//! phase   0    0.2           0.7      1          walk: left foot at 0.2 s, right at 0.7 s of 1 s
//!         ├─────L─────────────R───────┤
//!               ╲              ╲
//! run     ├──────L──────────────R─────┤          left at 0.15 s, right at 0.45 s of 0.6 s
//! ```

use crate::model::floor;

/// A mark of a clip: its time in seconds, and a label that marks of the same kind share.
pub(super) type Mark = (f64, usize);

/// The largest factor between a clip's speed from one mark to the next and an even speed. Marks
/// farther off are no match.
const MOST_STRETCH: f64 = 4.0;

/// The times of a clip at the phases of a blend space. Without knots, they are fractions of its length.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Warp {
    /// In order, as unwrapped positions: at phase 0 the clip is in its first loop.
    knots: Box<[Knot]>,
}

/// A clip's time at a phase in `0..1`, and the seconds of clip per phase from there to the next
/// knot.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Knot {
    phase: f64,
    time: f64,
    slope: f64,
}

/// A phase after a knot: the knot's loop, and the phase from the start of that loop.
#[derive(Clone, Copy)]
struct Found {
    knot: usize,
    round: f64,
    at: f64,
}

/// An unwrapped phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phase {
    pub(super) whole: f64,
    /// The loop, and the phase in it, in `0..=1`.
    round: f64,
    at: f64,
}

impl Phase {
    #[inline]
    pub(crate) fn new(whole: f64) -> Self {
        let round = floor(whole);
        Self {
            whole,
            round,
            at: whole - round,
        }
    }
}

impl Warp {
    /// Matches the marks of a clip with those of the clip that sets the phase. Both lists are in order of time.
    ///
    /// If the clips differ in their marks, only those of what `reference` has first are matched, and if they don't
    /// match either, none.
    pub(super) fn matching(
        reference: &[Mark],
        whole: f64,
        marks: &[Mark],
        length: f64,
        once: bool,
    ) -> Self {
        let fit = |reference: &[Mark], marks: &[Mark]| {
            let phases: Vec<Mark> = reference
                .iter()
                .map(|(time, label)| (time / whole, *label))
                .collect();
            if once {
                fit_once(&phases, marks, length)
            } else {
                fit_loop(&phases, marks, length)
            }
        };
        let of_first = |marks: &[Mark]| -> Vec<Mark> {
            let first = reference.first().map(|mark| mark.1);
            marks
                .iter()
                .filter(|mark| Some(mark.1) == first)
                .copied()
                .collect()
        };
        let found = fit(reference, marks).or_else(|| fit(&of_first(reference), &of_first(marks)));
        found.unwrap_or_default()
    }

    /// A warp through phases and times, of which there is at least one.
    fn through(points: &[(f64, f64)], length: f64) -> Self {
        // The last knot leads to the first one of the next loop.
        let after = points
            .iter()
            .skip(1)
            .copied()
            .chain([(points[0].0 + 1.0, points[0].1 + length)]);
        let knot = |(from, to): (&(f64, f64), (f64, f64))| Knot {
            phase: from.0,
            time: from.1,
            slope: (to.1 - from.1) / (to.0 - from.0),
        };
        Self {
            knots: points.iter().zip(after).map(knot).collect(),
        }
    }

    /// The clip's unwrapped position at a phase.
    pub(super) fn place(&self, phase: f64, length: f64) -> f64 {
        let phase = Phase::new(phase);
        self.find(phase)
            .map_or(phase.whole * length, |found| self.place_of(found, length))
    }

    /// The place in the clip of a loop at a phase, and the seconds of clip per phase there.
    #[inline]
    pub(super) fn place_in_loop(&self, phase: Phase, length: f64) -> (f64, f64) {
        let Some(found) = self.find(phase) else {
            return (phase.at * length, length);
        };
        // In the first loop, the second, or the third.
        let mut place = self.place_of(
            Found {
                round: 0.0,
                ..found
            },
            length,
        );
        for _ in 0..2 {
            place -= if place >= length { length } else { 0.0 };
        }
        (place, self.knots[found.knot].slope)
    }

    /// The position at a phase, and the seconds of clip per phase there.
    pub(super) fn place_and_slope(&self, phase: Phase, length: f64) -> (f64, f64) {
        let of = |found: Found| (self.place_of(found, length), self.knots[found.knot].slope);
        self.find(phase).map_or((phase.whole * length, length), of)
    }

    /// The unwrapped phase at the clip's unwrapped position.
    pub(super) fn phase(&self, place: f64, length: f64) -> f64 {
        let Some(first) = self.knots.first() else {
            return place / length;
        };
        let round = ((place - first.time) / length).floor();
        let at = place - round * length;
        let Knot { phase, time, slope } = self.knots[self.last(|knot| knot.time <= at)];
        round + (phase + (at - time) / slope)
    }

    /// The next position beyond another at which the slope may change.
    pub(super) fn next_bend(&self, place: f64, length: f64, forward: bool) -> Option<f64> {
        let start = self.place(0.0, length);
        let (round, near) = (((place - start) / length).floor(), length * 1e-9);
        // Knots may be outside of the clip's own loop, so the neighboring loops count, too.
        let bends = [-1.0, 0.0, 1.0].into_iter().flat_map(|more| {
            self.knots
                .iter()
                .map(move |knot| knot.time + (round + more) * length)
        });
        match forward {
            true => bends
                .filter(|bend| *bend > place + near)
                .min_by(f64::total_cmp),
            false => bends
                .filter(|bend| *bend < place - near)
                .max_by(f64::total_cmp),
        }
    }

    /// The knot before a phase, if there are knots.
    #[inline]
    fn find(
        &self,
        Phase {
            mut round, mut at, ..
        }: Phase,
    ) -> Option<Found> {
        if at < self.knots.first()?.phase {
            (round, at) = (round - 1.0, at + 1.0);
        }
        Some(Found {
            knot: self.last(|knot| knot.phase <= at),
            round,
            at,
        })
    }

    #[inline]
    fn place_of(&self, Found { knot, round, at }: Found, length: f64) -> f64 {
        let Knot { phase, time, slope } = self.knots[knot];
        round * length + (time + (at - phase) * slope)
    }

    /// Returns the last knot for which `is_before` is true, or the first knot. It must be true of
    /// all knots before that one.
    #[inline]
    fn last(&self, is_before: impl Fn(&Knot) -> bool) -> usize {
        // There are few, and a search from the end is fastest.
        self.knots.iter().rposition(is_before).unwrap_or(0)
    }
}

/// Matches marks in a circle, starting at any of the clip's marks.
fn fit_loop(phases: &[Mark], marks: &[Mark], length: f64) -> Option<Warp> {
    let count = phases.len();
    if count == 0 || marks.len() != count {
        return None;
    }
    // Every rotation of the marks is tried, and the one that stretches the clip least is taken.
    let turned = (0..count).filter_map(|turn| {
        let place = |at: usize| {
            let (time, label) = marks[(turn + at) % count];
            (time + if turn + at >= count { length } else { 0.0 }, label)
        };
        let knots: Option<Vec<(f64, f64)>> = (0..count)
            .map(|at| (phases[at].1 == place(at).1).then(|| (phases[at].0, place(at).0)))
            .collect();
        let (knots, stretch) = stretched(knots?, length)?;
        Some((stretch, knots))
    });
    let (_, mut knots) = turned.min_by(|a, b| a.0.total_cmp(&b.0))?;
    // Moved by whole loops, so that the clip is in its first one at phase 0.
    let rounds = (Warp::through(&knots, length).place(0.0, length) / length).floor();
    knots.iter_mut().for_each(|knot| knot.1 -= rounds * length);
    Some(Warp::through(&knots, length))
}

/// Matches marks in order; both clips start and end together.
fn fit_once(phases: &[Mark], marks: &[Mark], length: f64) -> Option<Warp> {
    let matches = phases.len() == marks.len() && phases.iter().zip(marks).all(|(a, b)| a.1 == b.1);
    if phases.is_empty() || !matches {
        return None;
    }
    let inner = phases
        .iter()
        .zip(marks)
        .map(|(phase, mark)| (phase.0, mark.0));
    // Marks at the very ends would double the knots there.
    let inner = inner
        .filter(|(phase, time)| (*phase, *time) != (0.0, 0.0) && (*phase, *time) != (1.0, length));
    let knots = std::iter::once((0.0, 0.0)).chain(inner).collect();
    Some(Warp::through(&stretched(knots, length)?.0, length))
}

/// Returns knots with the largest factor by which they stretch the clip. `None` if that is too
/// large, or if they don't rise.
fn stretched(knots: Vec<(f64, f64)>, length: f64) -> Option<(Vec<(f64, f64)>, f64)> {
    let first = *knots.first()?;
    let after = knots
        .iter()
        .copied()
        .skip(1)
        .chain([(first.0 + 1.0, first.1 + length)]);
    let stretches = knots.iter().zip(after).map(|(from, to)| {
        let slope = (to.1 - from.1) / (to.0 - from.0) / length;
        if slope > 0.0 {
            slope.max(slope.recip())
        } else {
            f64::INFINITY
        }
    });
    // Not `max`, which ignores NaN.
    let most = stretches.fold(
        1.0,
        |most: f64, stretch| if stretch > most { stretch } else { most },
    );
    let in_range = knots.iter().all(|knot| (0.0..1.0).contains(&knot.0));
    (in_range && most <= MOST_STRETCH).then_some((knots, most))
}

#[cfg(test)]
#[path = "tests/warp.rs"]
mod tests;
