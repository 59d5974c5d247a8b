//! What a moving playhead passes: callback keys, loops and the end, each exactly once.
//!
//! Positions are unwrapped: they continue through the rounds of a loop. A key of the clip is thus a series of
//! fixed numbers on the line of positions, `k + n·P` for a loop of length P, and what is passed is found by
//! comparing these numbers with the two ends of a sweep:
//!
//! ```text
//! loop of length P, one key at k
//! position   0     k          P    P+k        2P   2P+k       3P
//!            ├─────●──────────┼─────●──────────┼─────●─────────┤
//! sweeps     [──── frame 1 ────](── frame 2 ──](──── frame 3 ────]
//! passed           key       loop  key         loop  key       loop
//! ```
//!
//! Adjacent sweeps share their ends bit for bit, so nothing can fall between them or fire twice. There is no
//! epsilon: numbers are compared on a grid of about a nanosecond, on which numbers that differ only by rounding
//! are equal.
//!
//! Numbers that mean the same place are computed by the same expression: the end of round n and the start of
//! round n + 1 are both `(n + 1)·P`, and no key of round n lies beyond it.

use super::compensated::tick;
use crate::model::PlaybackMode;

/// Returns a position for comparison: on the grid, unless the clip is too short for it.
#[inline]
pub(super) fn place(length: f64, position: f64) -> f64 {
    if length < 1e-3 && length > 0.0 {
        position
    } else {
        tick(position)
    }
}

/// Clamps a position to a clip that plays once.
#[inline]
pub(crate) fn held(length: f64, position: f64) -> f64 {
    if place(length, position) <= 0.0 {
        0.0
    } else if place(length, position) >= place(length, length) {
        length
    } else {
        position
    }
}

/// Returns the place in a clip, in `0..=length`, of an unwrapped position. Equals
/// [`ClipTiming::periodic`](crate::model::ClipTiming::periodic), for any playback.
#[inline]
pub(crate) fn periodic(playback: PlaybackMode, length: f64, position: f64) -> f64 {
    let has_length = length > 0.0 && length.is_finite();
    if !has_length || !position.is_finite() {
        return 0.0;
    }
    match playback {
        PlaybackMode::Loop => remainder(position, length),
        PlaybackMode::Once => position.clamp(0.0, length),
        PlaybackMode::PingPong => {
            let turn = remainder(position, 2.0 * length);
            if turn <= length {
                turn
            } else {
                2.0 * length - turn
            }
        }
    }
}

/// Returns `position.rem_euclid(period)`, without the slow `fmod` unless there are very many rounds.
#[inline]
fn remainder(position: f64, period: f64) -> f64 {
    if 0.0 <= position && position < period {
        return position;
    }
    let rounds = position / period;
    // Few enough rounds that the products below are exact; a period large enough that nothing underflows.
    if !(1.0..1e6).contains(&rounds) || period < 1e-100 {
        return position.rem_euclid(period);
    }
    let n = rounds as u32 as f64;
    // The period's upper 26 bits and the rest: their products with n have no rounding error, and neither have
    // the differences, which are multiples of the period's last bit and hardly larger than the period.
    let high = f64::from_bits(period.to_bits() & !((1 << 27) - 1));
    let rest = (position - n * high) - n * (period - high);
    // The quotient may have been rounded up to the next whole number.
    if rest < 0.0 { rest + period } else { rest }
}

/// Returns the round of a position: the last that starts at or before it.
pub(super) fn round_of(length: f64, period: f64, position: f64) -> f64 {
    let n = (position / period).floor();
    let at = place(length, position);
    // The quotient or the position may have been rounded into an adjacent round.
    if place(length, n * period) > at {
        n - 1.0
    } else if place(length, (n + 1.0) * period) <= at {
        n + 1.0
    } else {
        n
    }
}

/// Returns the position at which the present round ends, in the direction of play.
pub(crate) fn round_end(playback: PlaybackMode, length: f64, position: f64, forward: bool) -> f64 {
    let period = match playback {
        PlaybackMode::Once => return if forward { length } else { 0.0 },
        PlaybackMode::Loop => length,
        PlaybackMode::PingPong => 2.0 * length,
    };
    if period <= 0.0 {
        return position;
    }
    let n = round_of(length, period, position);
    if forward {
        (n + 1.0) * period
    } else if place(length, n * period) == place(length, position) {
        (n - 1.0) * period
    } else {
        n * period
    }
}

/// Returns the position at which the present round starts; 0 for a clip that plays once. A position that differs from
/// a round's end only by rounding is in the next round.
pub(crate) fn round_start(playback: PlaybackMode, length: f64, position: f64) -> f64 {
    let period = match playback {
        PlaybackMode::Loop => length,
        PlaybackMode::PingPong => 2.0 * length,
        PlaybackMode::Once => 0.0,
    };
    if period > 0.0 {
        round_of(length, period, position) * period
    } else {
        0.0
    }
}

/// Returns the unwrapped position of a place in the clip in the same round as another position, and on the same way
/// of a ping-pong clip.
pub(crate) fn in_same_round(playback: PlaybackMode, length: f64, position: f64, place: f64) -> f64 {
    let place = place.clamp(0.0, length);
    if place.is_nan() {
        return place;
    }
    let start = round_start(playback, length, position);
    let returns = playback == PlaybackMode::PingPong && position - start > length;
    if returns {
        start + 2.0 * length - place
    } else {
        start + place
    }
}

/// Something passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Passed<K> {
    /// A callback key.
    Key(K),
    /// The start of a round of a loop, or of a there-and-back of a ping-pong clip.
    Round,
    /// The end of a clip that plays once.
    End,
}

/// A move of the playhead in one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlayheadSweep {
    /// Length of the clip, finite and ≥ 0.
    pub(super) length: f64,
    pub(super) playback: PlaybackMode,
    /// Unwrapped positions, finite. `to` belongs to the sweep; `from` does so only if it is the first.
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) forward: bool,
    /// Whether the track begins here: keys right at `from` are passed too.
    pub(super) first: bool,
}

impl PlayheadSweep {
    /// Calls `sink` for everything passed, in order, with its unwrapped position, until it returns `false`.
    ///
    /// `keys` yields times in `0..=length` in ascending order, from either end.
    pub(super) fn pass<K, I>(self, keys: I, mut sink: impl FnMut(Passed<K>, f64) -> bool)
    where
        I: Iterator<Item = (f64, K)> + DoubleEndedIterator + Clone,
    {
        let (from, to) = (self.place(self.from), self.place(self.to));
        let still = if self.forward { from >= to } else { from <= to };
        if still && !self.first {
            return;
        }
        if self.playback == PlaybackMode::Once {
            self.once(keys, &mut sink);
        } else if self.length <= 0.0 {
            // A single pose has no rounds; its keys fire as it begins.
            if self.first {
                let _ = keys
                    .into_iter()
                    .all(|(_, key)| sink(Passed::Key(key), self.from));
            }
        } else if self.playback == PlaybackMode::Loop {
            self.rounds(keys, &mut sink, self.length, Self::loop_round);
        } else {
            self.rounds(keys, &mut sink, 2.0 * self.length, Self::there_and_back);
        }
    }

    /// A quick test that nothing is passed: `true` only if the sweep lies within one round of a loop, and neither its ends
    /// nor any of the keys, whose times are `times`, are near.
    #[inline]
    pub(super) fn is_plain(&self, mut times: impl Iterator<Item = f64>) -> bool {
        self.stretch()
            .is_some_and(|[low, high]| times.all(|time| time < low || time > high))
    }

    /// The part of the clip that the sweep goes through, and a bit more at both ends, if it lies within one round of a
    /// loop. A key anywhere else is not passed.
    #[inline]
    pub(super) fn stretch(&self) -> Option<[f64; 2]> {
        // More than rounding to the grid, and at so few seconds in the arithmetic, can make up for.
        const NEAR: f64 = 1e-6;
        let Self {
            length, from, to, ..
        } = *self;
        if self.playback != PlaybackMode::Loop || self.first || !(0.0..1e6).contains(&from) {
            return None;
        }
        let base = (from / length) as u32 as f64 * length;
        let (first, last) = if from < to { (from, to) } else { (to, from) };
        let (low, high) = (first - base - NEAR, last - base + NEAR);
        (low > 0.0 && high < length).then_some([low, high])
    }

    /// Returns `true` if nothing is passed.
    #[inline]
    pub(super) fn passes_nothing<K, I>(self, keys: I) -> bool
    where
        I: Iterator<Item = (f64, K)> + DoubleEndedIterator + Clone,
    {
        let mut nothing = true;
        self.pass(keys, |_, _| {
            nothing = false;
            false
        });
        nothing
    }

    /// Returns `true` if a key is passed.
    pub(super) fn passes_a_key<K, I>(self, keys: I) -> bool
    where
        I: Iterator<Item = (f64, K)> + DoubleEndedIterator + Clone,
    {
        let mut found = false;
        self.pass(keys, |passed, _| {
            found = matches!(passed, Passed::Key(_));
            !found
        });
        found
    }

    fn place(&self, position: f64) -> f64 {
        place(self.length, position)
    }

    /// Returns `true` if a position lies on the sweep.
    fn has(&self, position: f64) -> bool {
        let [from, at, to] = [self.from, position, self.to].map(|position| self.place(position));
        let (after, upto) = if self.forward {
            (at > from, at <= to)
        } else {
            (at < from, at >= to)
        };
        upto && (after || (self.first && at == from))
    }

    fn once<K>(
        self,
        keys: impl DoubleEndedIterator<Item = (f64, K)>,
        sink: &mut impl FnMut(Passed<K>, f64) -> bool,
    ) {
        let mut pass = |(time, key): (f64, K)| !self.has(time) || sink(Passed::Key(key), time);
        let mut keys = keys;
        let goes_on = if self.forward {
            keys.all(&mut pass)
        } else {
            keys.rev().all(&mut pass)
        };
        let end = if self.forward { self.length } else { 0.0 };
        let is_there = |position: f64| {
            let (at, end) = (self.place(position), self.place(end));
            if self.forward { at >= end } else { at <= end }
        };
        let (arrived, was_there) = (is_there(self.to), is_there(self.from));
        if goes_on && arrived && (!was_there || self.first) {
            sink(Passed::End, end);
        }
    }

    /// Goes through the rounds of a periodic clip.
    fn rounds<K, I, S>(
        self,
        keys: I,
        sink: &mut S,
        period: f64,
        round: impl Fn(&Self, I, &mut S, [f64; 3]) -> bool,
    ) where
        I: Iterator<Item = (f64, K)> + DoubleEndedIterator + Clone,
        S: FnMut(Passed<K>, f64) -> bool,
    {
        let (from, to) = (self.place(self.from), self.place(self.to));
        let mut n = round_of(self.length, period, self.from);
        if !self.forward && self.place(n * period) == from {
            // A clip that begins at its start fires the keys there, in whichever direction it leaves.
            let at_start = self.first && n == 0.0 && self.playback == PlaybackMode::Loop;
            if at_start
                && !keys
                    .clone()
                    .all(|(time, key)| time > 0.0 || sink(Passed::Key(key), 0.0))
            {
                return;
            }
            n -= 1.0;
        }
        loop {
            let [base, end] = [n * period, (n + 1.0) * period];
            let beyond = if self.forward {
                self.place(base) > to
            } else {
                self.place(end) < to
            };
            // Past 2⁵³ rounds the next one is the same number, and nothing can be told apart.
            let stuck = n + 1.0 == n || n - 1.0 == n || !base.is_finite() || !end.is_finite();
            if beyond || stuck {
                return;
            }
            let starts =
                |s: &mut S| self.place(base) == from || !self.has(base) || s(Passed::Round, base);
            let middle = (2.0 * n + 1.0) * (0.5 * period);
            // A round begins before its keys, and backwards after them.
            if self.forward && !starts(sink) {
                return;
            }
            if !round(&self, keys.clone(), sink, [base, middle, end]) {
                return;
            }
            if !self.forward && !starts(sink) {
                return;
            }
            n += if self.forward { 1.0 } else { -1.0 };
        }
    }

    /// Passes the keys of one round of a loop: `base + k`.
    fn loop_round<K>(
        &self,
        keys: impl DoubleEndedIterator<Item = (f64, K)>,
        sink: &mut impl FnMut(Passed<K>, f64) -> bool,
        [base, _, end]: [f64; 3],
    ) -> bool {
        let mut pass = |(time, key): (f64, K)| {
            let at_end = time >= self.length;
            let at = if at_end { end } else { (base + time).min(end) };
            !self.has(at) || sink(Passed::Key(key), at)
        };
        let mut keys = keys;
        if self.forward {
            keys.all(&mut pass)
        } else {
            keys.rev().all(&mut pass)
        }
    }

    /// Passes the keys of one turn of a ping-pong clip: `base + k` on the way there, `end − k` on the way back,
    /// and those at either end of the clip once.
    fn there_and_back<K, I>(
        &self,
        keys: I,
        sink: &mut impl FnMut(Passed<K>, f64) -> bool,
        [base, middle, end]: [f64; 3],
    ) -> bool
    where
        I: Iterator<Item = (f64, K)> + DoubleEndedIterator + Clone,
    {
        let length = self.length;
        let there = |time: f64| {
            if time >= length {
                middle
            } else {
                (base + time).min(middle)
            }
        };
        let back = |time: f64| (end - time).clamp(middle, end);
        let inner = |time: f64| time > 0.0 && time < length;
        let mut pass = |at: f64, key: K| !self.has(at) || sink(Passed::Key(key), at);
        if self.forward {
            keys.clone().all(|(time, key)| pass(there(time), key))
                && keys
                    .rev()
                    .all(|(time, key)| !inner(time) || pass(back(time), key))
        } else {
            // Keys at the clip's start belong to the turn that begins there, which a first sweep back never enters.
            let begins = self.first && self.place(self.from) == self.place(end);
            keys.clone()
                .all(|(time, key)| !(begins && time <= 0.0) || pass(end, key))
                && keys
                    .clone()
                    .all(|(time, key)| !inner(time) || pass(back(time), key))
                && keys.rev().all(|(time, key)| pass(there(time), key))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remainder_is_that_of_a_euclidean_division_to_the_bit() {
        let mut random = fastrand::Rng::with_seed(5);
        for i in 0..200_000 {
            let period = (random.f64() + 0.01) * 10.0_f64.powi(random.i32(-4..4));
            let rounds = [
                random.f64() * 3.0,
                random.f64() * 2e6,
                f64::from(random.u32(..2000)),
                -random.f64() * 9.0,
            ];
            let near = [0, 1, -1][random.usize(..3)];
            let position = rounds[random.usize(..4)] * period;
            let position = f64::from_bits((position.to_bits() as i64 + near) as u64);
            let expected = position.rem_euclid(period);
            assert_eq!(
                remainder(position, period).to_bits(),
                expected.to_bits(),
                "{i}: {position} in {period}"
            );
        }
    }
}
